// SPDX-License-Identifier: MIT
/*
 * sample.mjs - data for the page with the truth beside them
 *
 * In    how many clocks and messages, names, a seed
 * Out   data as `unskew report` embeds them, and every message, also those that the data do not hold
 *
 * Stamps of b come first, those of a follow from b's map by the definition in BigInt, so that the tests
 * know each message's corrected delay without the page's arithmetic.
 */
export function random(seed) {
	let state = (BigInt(seed) * 0x9e3779b97f4a7c15n + 1n) & 0xffffffffffffffffn;
	return () => {
		state ^= (state << 13n) & 0xffffffffffffffffn;
		state ^= state >> 7n;
		state ^= (state << 17n) & 0xffffffffffffffffn;
		return Number(state >> 11n) / 2 ** 53;
	};
}

const floorDiv = (a, b) => (a % b !== 0n && (a < 0n) !== (b < 0n) ? a / b - 1n : a / b);

/* T(x) by the definition; knots {x, offset} in BigInt */
export function correct(knots, x) {
	let i = 0;
	while (i < knots.length - 2 && knots[i + 1].x < x) {
		i++;
	}
	const [k, l] = [knots[i], knots[i + 1]];
	return x + k.offset + floorDiv((l.offset - k.offset) * (x - k.x), l.x - k.x);
}

const EPOCH = 1700000000000000000n;
/* a clock that counts from when its machine was started */
const BOOT = 12345678901234n;

function makeClock(name, path, seconds, rng, start, quality = 'bounded') {
	const reference = quality === 'reference', known = reference || quality === 'bounded';
	const knots = [];
	const n = reference ? 2 : 12;
	let offset = EPOCH - start + (reference ? 0n : BigInt(Math.floor((rng() - 0.5) * 2e9)));
	const rate = reference ? 0 : (rng() - 0.5) * 80;
	for (let i = 0; i < n; i++) {
		const x = start + (BigInt(seconds) * 1000000000n * BigInt(i)) / BigInt(n - 1);
		knots.push({ x, offset });
		offset += BigInt(Math.round((rate + (rng() - 0.5) * 0.05) * (seconds / (n - 1)) * 1000)) * (reference ? 0n : 1n);
	}
	const half = reference ? 0n : 39000n + BigInt(Math.floor(rng() * 2000));
	const json = { name, reference: path[0], quality, path, resolution_ns: '1', drift_ppm: known ? -rate : null, drift_min_ppm: known ? -rate - 0.1 : null,
		drift_max_ppm: known ? -rate + 0.1 : null, half_width_ns: known ? { best: `${half}`, worst: `${half * 3n}`, mean: `${half * 2n}` } : null, jumps: [],
		knots: quality === 'absent' ? [] : knots.map((k) => ({ local_ns: `${k.x}`, offset_ns: known ? `${k.offset}` : null,
			lo_ns: `${k.offset - half}`, hi_ns: known ? `${k.offset + half}` : null })) };
	return { name, json, knots, start };
}

/* Messages of b with the reference a: the corridor at 50 us each side, delays above it exponential */
function makeMessages(b, n, seconds, rng) {
	const y = Float64Array.from({ length: n }, () => Math.floor(rng() * seconds * 1e9)).sort();
	return Array.from(y, (local) => {
		const from = rng() < 0.5 ? 'a' : 'b';
		const delay = Math.floor(50000 - 40000 * Math.log(1 - rng()));
		const at = correct(b.knots, b.start + BigInt(local)) + (from === 'a' ? -1n : 1n) * BigInt(delay);
		return { from, b: local, a: Number(at - EPOCH), delay };
	});
}

const differences = (values) => values.map((v, i) => (i ? v - values[i - 1] : v));

/* Per bucket the messages of smallest and largest delay; bucket 1: all */
function direction(messages, from, bucket) {
	const mine = messages.filter((m) => m.from === from);
	let held = mine, standsFor = null;
	if (bucket > 1) {
		held = [];
		standsFor = [];
		for (let i = 0; i < mine.length;) {
			const key = Math.floor(mine[i].b / bucket);
			let j = i, least = i, most = i;
			for (; j < mine.length && Math.floor(mine[j].b / bucket) === key; j++) {
				least = mine[j].delay < mine[least].delay ? j : least;
				most = mine[j].delay > mine[most].delay ? j : most;
			}
			for (const k of [...new Set([least, most])].sort((p, q) => p - q)) {
				held.push(mine[k]);
				standsFor.push(0);
			}
			standsFor[standsFor.length - (least === most ? 1 : 2)] = j - i;
			i = j;
		}
	}
	const [sent, received] = from === 'a' ? ['a', 'b'] : ['b', 'a'];
	return { from, total: mine.length, held: held.length, sent: differences(held.map((m) => m[sent])), received: differences(held.map((m) => m[received])),
		stands_for: standsFor, sent_epoch: null, received_epoch: null, out: [] };
}

function histogram(values) {
	const sorted = Float64Array.from(values).sort();
	if (!sorted.length) {
		return null;
	}
	const n = sorted.length, low = Math.floor(sorted[0] / 10000) * 10000;
	const bin = Math.max(10000, Math.ceil((sorted[Math.floor(n * 0.99)] - low) / 1e6) * 10000);
	const bins = new Array(100).fill(0);
	let above = 0;
	for (const v of sorted) {
		const k = Math.floor((v - low) / bin);
		if (k < bins.length) {
			bins[k]++;
		} else {
			above++;
		}
	}
	const at = (part) => `${sorted[Math.floor((n - 1) * part)]}`;
	return { count: n, min_ns: at(0), median_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1), low_ns: `${low}`, bin_ns: `${bin}`, fine_ns: '1', bins, above };
}

/* names[0] is the reference; every other clock talks to it, and neighbours to each other by name only */
export function sample({ names, messages, seconds = 600, seed = 1, bucket = 1, qualities = {}, boot = false }) {
	const rng = random(seed);
	const clocks = names.map((name, i) => makeClock(name, i ? [names[0], name] : [name], seconds, rng, boot && i ? BOOT : EPOCH, i ? qualities[name] : 'reference'));
	const all = new Map();
	const pairs = [], answers = [];
	for (const b of clocks.slice(1)) {
		const own = makeMessages(b, Math.ceil(messages / (clocks.length - 1)), seconds, rng);
		all.set(b.name, own);
		const sides = ['a', 'b'].map((from) => direction(own, from, bucket));
		const delays = ['a', 'b'].map((from) => {
			const mine = own.filter((m) => m.from === from);
			return { from, recorded: histogram(mine.map((m) => (from === 'a' ? m.b - m.a : m.a - m.b))), corrected: histogram(mine.map((m) => m.delay)) };
		});
		pairs.push({ a: names[0], b: b.name, a_origin_ns: `${EPOCH}`, b_origin_ns: `${b.start}`, bucket_ns: `${bucket}`, level: 'corrected', level_rate_e12: '0', directions: sides, delays });
		answers.push({ a: names[0], b: b.name, a_to_b: sides[0].total, b_to_a: sides[1].total, quality: b.json.quality, half_width_ns: b.json.half_width_ns?.best ?? null,
			half_width_at_ns: `${EPOCH}`, wander: { assumed_ppm: 0.1, needed_ppm: 0, used_ppm: 0.1 }, outliers: [], contradiction: [] });
	}
	const matched = [...all.values()].reduce((n, m) => n + m.length, 0);
	const data = { unskew_page: 1, version: 'test', command: ['unskew', 'report', ...names.slice(0, 3)], source: 'traces', full: bucket === 1, notes: [], pairs, compare: null, truth: null,
		clocks: { unskew_clocks: 1, model: { name: 'wander', ppm: 0.1, duration_ns: null, max_skew_ppm: 500, min_delay: '0' }, method: 'middle', solve: { name: 'joint', how: 'pairs' },
			traces: names.map((name) => ({ clock: name, path: `${name}.pcap`, kind: 'pcap', events: messages, truncated: false })),
			messages: { matched, unmatched: 3, ambiguous: 0, expired: 0, direction_unknown: 0, outliers: 0 }, islands: [{ reference: names[0], clocks: names }],
			clocks: clocks.map((c) => c.json), pairs: answers, corridors: [], evaluation: {}, notes: [] } };
	return { data, messages: all, clocks };
}
