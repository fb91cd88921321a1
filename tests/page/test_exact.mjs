// SPDX-License-Identifier: MIT
/* test_exact.mjs - the page's arithmetic and wording, against BigInt and the words of `unskew sync` */
import assert from 'node:assert/strict';
import { Clock, floorMulDiv } from '../../page/src/exact.js';
import { between, bound, count, drift, instant, span, spanAmong } from '../../page/src/format.js';
import { label, ticks, timeBase, unitFor } from '../../page/src/axis.js';
import { correct, random } from './sample.mjs';

const seed = Number(process.env.SEED ?? 1);
const rng = random(seed);
const any = (bits) => Math.floor(rng() * 2 ** (1 + Math.floor(rng() * bits)));

function exactDiv(a, n, d) {
	const p = BigInt(a) * BigInt(n), q = p / BigInt(d);
	return p % BigInt(d) < 0n ? q - 1n : q;
}

/* Quotients at and beside whole numbers are where doubles go wrong. */
for (let i = 0; i < 40000; i++) {
	const d = 1 + any(52);
	const n = any(52) * (rng() < 0.3 ? -1 : 1);
	const a = Math.floor((any(50) * d) / Math.max(1, Math.abs(n))) * (rng() < 0.5 ? -1 : 1);
	const want = exactDiv(a, n, d);
	if (want < 2n ** 53n && want > -(2n ** 53n)) {
		assert.equal(BigInt(floorMulDiv(a, n, d)), want, `seed ${seed}: floor(${a} * ${n} / ${d})`);
	}
}

/* A clock's map equals the definition at any origin, before, between and behind its knots. */
for (let round = 0; round < 20; round++) {
	let x = 1700000000000000000n + BigInt(any(50)), offset = BigInt(any(52)) - BigInt(any(52));
	const knots = Array.from({ length: 2 + Math.floor(rng() * 30) }, () => {
		const knot = { x, offset };
		const step = BigInt(1 + any(42));
		offset += BigInt(Math.floor((rng() - 0.5) * Number(step) * 1e-4));
		x += step;
		return knot;
	});
	const json = { name: 'c', quality: 'bounded', knots: knots.map((k) => ({ local_ns: `${k.x}`, offset_ns: `${k.offset}`, lo_ns: `${k.offset}`, hi_ns: `${k.offset}` })),
		before: { least_ppm: -1e6, most_ppm: 1e6 }, after: { least_ppm: -1e6, most_ppm: 1e6 } };
	const clock = new Clock(json, 500);
	const local = knots[0].x - BigInt(any(30)), reference = local + knots[0].offset - BigInt(any(30));
	const map = clock.map('offset', local, reference);
	const width = Number(x - local);
	for (let i = 0; i < 500; i++) {
		const at = i < knots.length ? Number(knots[i].x - local) : Math.floor((rng() * 1.2 - 0.1) * width);
		assert.equal(BigInt(map.at(at)), correct(knots, local + BigInt(at)) - reference, `seed ${seed}: stamp ${local + BigInt(at)}`);
	}
}

/* Beyond its knots a band goes on by the slopes that are stated, the estimate cut to these. */
{
	const knots = [[0n, 0n], [1000000n, 500n]].map(([x, o]) => ({ local_ns: `${x}`, offset_ns: `${o}`, lo_ns: `${o - 10n}`, hi_ns: `${o + 10n}` }));
	const slopes = (least_ppm, most_ppm) => ({ least_ppm, most_ppm });
	const clock = new Clock({ name: 'c', quality: 'bounded', knots, before: slopes(100, 200.000001), after: slopes(-3, 600) }, 500);
	const at = (side, x) => clock.map(side, 0n, 0n).offset(x);
	assert.deepEqual(['lo', 'offset', 'hi'].map((side) => at(side, -1000000)), [-211, -201, -90]);
	assert.deepEqual(['lo', 'offset', 'hi'].map((side) => at(side, 2000000)), [487, 1000, 1110]);
	assert.deepEqual(['lo', 'offset', 'hi'].map((side) => at(side, 1000000)), [490, 500, 510]);
	/* Behind the last knot that has a bound, and beyond knots where nothing bounds it, there is none. */
	const open = [...knots, { local_ns: '2000000', offset_ns: '900', lo_ns: '490', hi_ns: null }];
	const partly = new Clock({ name: 'c', quality: 'bounded', knots: open, after: slopes(-1e6, 1e6) }, 500);
	assert.deepEqual(partly.state(1000000n), { offset: 500n, lo: 490n, hi: 510n });
	assert.deepEqual(partly.state(1500000n), { offset: 700n, lo: 490n, hi: null });
	assert.deepEqual(partly.state(2500000n), { offset: 1100n, lo: null, hi: null });
	const plain = new Clock({ name: 'c', quality: 'bounded', knots }, 500);
	assert.deepEqual(['lo', 'hi'].map((side) => plain.map(side, 0n, 0n).offset(-1000)), [-11, 11]);
}

const plain = (text) => text.replaceAll('\u00a0', ' ').replaceAll('\u2212', '-').replaceAll('\u00b5', 'u').replaceAll('\u2009', ' ');
for (const [got, want] of [
	[span(0), '0 ns'], [span(1234), '1.23 us'], [span('-1005999123'), '-1.01 s'], [span(999999), '1.00 ms'], [span(null), '-'],
	[bound(1231), '1.24 us'], [bound(50000), '50.0 us'], [between(-1005999100, -1006052400, -1005945800), '-1.0059991 s ± 53.3 us'],
	[between(-1700, -5500, 2100), '-1.70 us ± 3.80 us'], [between(40000, -163000, 243000), '40 us ± 203 us'],
	[drift(20, 19.725271, 20.271), '20.00 (19.72 to 20.28)'], [drift(0.5, -2.3, 3.4), '0.5 (-2.3 to 3.4)'], [drift(null, null, null), '-'],
	[count(1234567), '1,234,567'], [spanAmong(1006206133, 12000000), '1.006 s'],
	[instant(1700000000123456789n), '2023-11-14 22:13:20.123 456 789 UTC'], [instant(-5n), '-0.000 000 005 s'],
]) {
	assert.equal(plain(got), want);
}

/* Labels stay short and ticks whole from days to nanoseconds; the base is in the window's past, near it. */
const view = { first: 0, last: 864e11, origin: 1700000000123456789n };
for (let range = 20; range < 864e11; range *= 3.7) {
	for (const from of [0, 123456789, 5e13]) {
		const time = timeBase(view, from, from + range);
		const step = [1, 2, 5].map((m) => m * 10 ** Math.ceil(Math.log10(range / 10))).find((g) => range / g <= 8);
		for (const at of ticks(time.base, from, from + range, step)) {
			assert.ok(at >= from && at <= from + range && Number.isInteger(at - time.base));
			assert.ok(label(at - time.base, time.unit, step).length <= 9, `${range}: ${label(at - time.base, time.unit, step)}`);
		}
		assert.ok(unitFor(range).size <= range);
	}
}
console.log('exact: ok');
