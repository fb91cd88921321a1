// SPDX-License-Identifier: MIT
/*
 * test_report.mjs UNSKEW MODULES FOLDER - what `unskew report` writes, opened in Chromium
 *
 * The page's table says what clocks.json says; its plot draws the extremes of messages.csv, corrected here
 * by the definition in BigInt; and the machine's own clocks what their JSON says. Without a page built in, the test is skipped.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browser, openFile } from './browser.mjs';
import { between, bound, count, drift } from '../../page/src/format.js';
import { correct } from './sample.mjs';

const [unskew, modules, folder] = process.argv.slice(2);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const seed = process.env.SEED ?? '1';
const at = (name) => join(folder, name);
const run = (...words) => execFileSync(unskew, words, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

run('simulate', '--hosts', '3', '--seconds', '120', '--rate', '60', '--seed', seed, '--step', '2@40s:300ms', '--force', '-o', at('traces'));
const traces = [0, 1, 2].map((i) => at(`traces/host${i}.pcap`));
run('sync', ...traces, '--messages', at('used.csv'), '-o', at('clocks.json'), '--force');
writeFileSync(at('own.json'), run('clock', '--seconds', '0.02', '--samples', '500', '--load', '1', '--json'));
run('report', ...traces, '--compare', '--clock', `host0=${at('own.json')}`, '--force', '-o', at('page.html'));
const html = readFileSync(at('page.html'), 'utf8');
if (!html.includes('unskew-data') || !html.includes('id="top"')) {
	console.log('skipped: this build has no page');
	process.exit(77);
}
const chromium = await browser(modules);
if (!chromium) {
	process.exit(77);
}
const clocks = JSON.parse(readFileSync(at('clocks.json'), 'utf8'));
const page = await openFile(chromium, at('page.html'));

/* The whole clocks.json is in the page, but for corridors, which the messages replace. */
const embedded = await page.evaluate(() => JSON.parse(document.getElementById('unskew-data').textContent));
assert.deepEqual({ ...embedded.clocks, corridors: [] }, { ...clocks, corridors: [] });

/* The table: every number anew from clocks.json. */
const knotsOf = (clock, side, sign = 1n) => clock.knots.map((k) => ({ x: BigInt(k.local_ns), offset: sign * BigInt(k[`${side}_ns`]) }));
/* The middle of the stretch between steps with most points of the corridors, else of the longest. No epochs here. */
function middleOf(clock) {
	const stamps = clock.knots.map((k) => BigInt(k.local_ns));
	const points = clocks.corridors.filter((c) => c.b === clock.name).flatMap((c) => [...c.floor, ...c.ceiling]).map((p) => BigInt(p[0]));
	const brackets = clock.jumps.filter((j) => j.kind === 'jump').map((j) => [BigInt(j.after_local_ns), BigInt(j.before_local_ns)]);
	const starts = [stamps[0], ...brackets.map((b) => b[1])], ends = [...brackets.map((b) => b[0]), stamps[stamps.length - 1]];
	const all = starts.map((from, i) => ({ from, span: ends[i] - from, n: points.filter((p) => p >= from && p <= ends[i]).length }));
	const best = all.reduce((a, b) => (b.n > a.n || (b.n === a.n && b.span > a.span) ? b : a));
	return best.from + best.span / 2n;
}
const words = (text) => text.replaceAll('\u00a0', ' ');
const cells = await page.locator('#unskew-clocks tbody tr').evaluateAll((rows) => rows.map((r) => [...r.cells].map((c) => c.innerText)));
assert.equal(cells.length, clocks.clocks.length);
clocks.clocks.forEach((clock, i) => {
	const [name, quality, offset, rate, half, sent, received, path] = cells[i].map(words);
	assert.equal(name, clock.name);
	assert.equal(quality, clock.quality);
	assert.equal(path, clock.path.join(' \u2192 '));
	const of = (one, other) => clocks.pairs.reduce((n, p) => n + (p.a === clock.name ? p[one] : 0) + (p.b === clock.name ? p[other] : 0), 0);
	assert.equal(sent, count(of('a_to_b', 'b_to_a')));
	assert.equal(received, count(of('b_to_a', 'a_to_b')));
	if (clock.quality === 'reference') {
		return;
	}
	const middle = middleOf(clock);
	const less = (side) => correct(knotsOf(clock, side), middle) - middle;
	/* hi rounds up: floor of the negative, negated */
	const up = -(correct(knotsOf(clock, 'hi', -1n), middle) - middle);
	assert.equal(offset, words(between(less('offset'), less('lo'), up)));
	assert.equal(rate, words(drift(clock.drift_ppm, clock.drift_min_ppm, clock.drift_max_ppm)));
	assert.equal(half, words(`${bound(clock.half_width_ns.best)} to ${bound(clock.half_width_ns.worst)}`));
});

/* The pairs, in a fold beside their picture */
const pairs = await page.locator('#mesh details #unskew-pairs tbody tr').evaluateAll((rows) => rows.map((r) => [...r.cells].map((c) => c.textContent)));
assert.deepEqual(pairs.map((r) => r.map(words).slice(0, 6)), clocks.pairs.map((p) => [p.a, p.b, p.quality, count(p.a_to_b), count(p.b_to_a), words(bound(p.half_width_ns))]));

/* The plot, for each clock against each other */
const maps = new Map(clocks.clocks.map((c) => [c.name, knotsOf(c, 'offset')]));
const messages = readFileSync(at('used.csv'), 'utf8').trim().split('\n').slice(1).map((line) => {
	const [from, to, sent, received] = line.split(',');
	const delay = correct(maps.get(to), BigInt(received)) - correct(maps.get(from), BigInt(sent));
	return { from, to, sent: BigInt(sent), received: BigInt(received), delay: Number(delay) };
});
assert.ok(messages.length > 30000);
for (const self of clocks.clocks.map((c) => c.name)) {
	const peers = await page.evaluate((name) => { window.unskew.corridor.choose(name); return [...document.querySelectorAll('#peer option')].map((o) => [o.value, o.textContent]); }, self);
	assert.equal(peers.length, 2);
	for (const [value, peer] of peers) {
		const origin = BigInt(await page.evaluate(([name, v]) => { window.unskew.corridor.choose(name, v); return String(window.unskew.corridor.view.origin); }, [self, value]));
		const whole = await page.evaluate(() => window.unskew.drawn());
		for (const part of [1, 0.1, 0.01, 0.0005]) {
			const middle = (whole.from + whole.to) / 2, half = ((whole.to - whole.from) * part) / 2;
			const d = await page.evaluate(([a, b]) => { window.unskew.window(a, b); return window.unskew.drawn(); }, [middle - half, middle + half]);
			for (const side of d.sides) {
				const inside = messages.filter((m) => {
					const [from, to, stamp] = side.floor ? [peer, self, m.received] : [self, peer, m.sent];
					return m.from === from && m.to === to && Number(stamp - origin) >= d.from && Number(stamp - origin) <= d.to;
				}).map((m) => (side.floor ? 0 - m.delay : m.delay));
				assert.equal(side.n, inside.length);
				assert.equal(Math.min(...side.min), Math.min(...inside), `${self} against ${peer}, ${part}`);
				assert.equal(Math.max(...side.max), Math.max(...inside), `${self} against ${peer}, ${part}`);
			}
		}
	}
}
assert.ok(await page.locator('#methods tbody tr').count() >= 15);

/* Margins of exchanges: as many marks as are listed, rings for those that a level does not keep, and these are the outer ones. */
const chosen = await page.evaluate(() => window.unskew.corridor.view.pair);
const tied = embedded.compare.pairs.find((p) => p.a === chosen.a && p.b === chosen.b).exchanges;
assert.ok(tied.all > 100 && tied.margins.length > 100);
for (const level of [90, 95, 99]) {
	await page.selectOption('#margins-level', String(level));
	const out = tied.margins.filter((m) => m[2] > level).map((m) => m[1]), kept = tied.margins.filter((m) => m[2] <= level).map((m) => m[1]);
	assert.equal(await page.locator('#margins circle.filtered').count(), out.length);
	assert.equal(await page.locator('#margins circle.kept').count(), kept.length);
	const most = Math.max(...kept), least = Math.min(...kept);
	assert.ok(out.every((e) => e > most || e < least));
	/* All are listed: their mean and deviation say who is kept. */
	if (tied.margins.length === tied.all) {
		const all = tied.margins.map((m) => m[1]), mean = all.reduce((a, b) => a + b) / all.length;
		const far = { 90: 1.64, 95: 1.96, 99: 2.58 }[level] * Math.sqrt(all.reduce((a, e) => a + (e - mean) ** 2, 0) / all.length);
		assert.equal(kept.length, all.filter((e) => Math.abs(e - mean) <= far).length);
	}
}
assert.ok(await page.locator('#margins tbody tr').count() >= 5);
assert.deepEqual(page.complaints, []);

/* The machine's own clocks: numbers and heights of bars anew from the JSON that was given. */
const own = JSON.parse(readFileSync(at('own.json'), 'utf8'));
const UNIT = { '%': 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
function says(cell, value) {
	if (value === null) {
		assert.equal(cell, '-');
		return;
	}
	const [number, unit = 'ns'] = cell.replaceAll(',', '').split(' ');
	const last = 10 ** -(number.split('.')[1]?.length ?? 0);
	assert.ok(Math.abs(number - value / UNIT[unit]) <= 0.5000001 * last, `${cell} is ${value}`);
}
const machines = page.locator('#unskew-machines');
assert.equal(await page.evaluate(() => document.querySelector('#unskew-machines').previousElementSibling.id !== 'unskew-answer'), true);
assert.deepEqual(await machines.locator('h3').allInnerTexts(), ['host0']);
const tables = {};
for (const [label, rows] of await machines.locator('.scroll').evaluateAll((all) => all.map((d) => [d.ariaLabel, [...d.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))]))) {
	tables[label.replace(' of host0', '')] = rows;
}
assert.deepEqual(Object.keys(tables), ['Clocks', 'Zero elapsed time', 'Correlations', 'Ticks', 'Clock of two words', 'Messages', 'A word more']);
assert.deepEqual(tables.Clocks.map((r) => r[0]), own.clocks.map((c) => c.name));
own.clocks.forEach((c, i) => [c.read_ns, c.resolution_ns, 100 * c.repeats, c.backwards].forEach((v, k) => says(tables.Clocks[i][1 + k], v)));
own.loads.flatMap((l) => l.zero.map((z) => [l.load, 100 * z.kept / z.runs, z.ns.mean, z.ns.trimmed_mean, z.ns.deviation, z.k, z.k_trimmed, z.k1, z.predicted]))
	.forEach((row, i) => row.forEach((v, k) => says(tables['Zero elapsed time'][i][1 + k], v)));
const sent = own.loads.flatMap((l) => l.messages.map((m) => ({ ...m, load: l.load })));
assert.equal(tables.Messages.length, sent.length);
for (const row of tables.Messages) {
	const m = sent.find((o) => o.channel === row[0] && o.bytes === Number(row[1].replace(',', '')) && o.load === Number(row[2]));
	[m.round_trip_ns.median, m.round_trip_ns.p99, m.one_way_ns.median, m.one_way_ns.p99].forEach((v, k) => says(row[4 + k], v));
}
const bars = await machines.locator('figure', { hasText: 'timer' }).locator('path[fill]').evaluateAll((paths) => paths.map((p) => [...p.getAttribute('d').matchAll(/M\S+ (\d+)V([\d.]+)/g)].map((m) => m[1] - m[2])));
const shares = own.loads.map((l) => l.timer_late_ns.octaves.filter((n) => n).map((n) => n / l.timer_late_ns.count));
const highest = Math.max(...bars.flat()), most = Math.max(...shares.flat());
assert.deepEqual(bars.map((b) => b.length), shares.map((b) => b.length));
bars.forEach((b, i) => b.forEach((height, k) => assert.ok(Math.abs(height / highest - shares[i][k] / most) < 0.002)));
assert.deepEqual(page.complaints, []);

/* Why bounds hold: the picture has the stamps and messages of the words, which are those of sync, within its frame. */
run('simulate', '--hosts', '3', '--topology', 'chain', '--format', 'table', '--seconds', '60', '--rate', '3', '--seed', seed, '--force', '-o', at('chain'));
const chain = ['-r', 'host0', at('chain/messages.csv'), '--explain', 'host2:1700000030s'];
run('report', ...chain, '--force', '-o', at('explained.html'));
const said = run('sync', '-q', ...chain);
const reasons = await openFile(chromium, at('explained.html'));
const figures = reasons.locator('#unskew-explained svg');
assert.equal(await figures.count(), 2);
await reasons.locator('#unskew-explained summary').first().click();
const pres = await reasons.locator('#unskew-explained pre').evaluateAll((all) => all.map((e) => e.textContent));
const headings = await reasons.locator('#unskew-explained h3').allInnerTexts();
assert.equal(headings.map((heading, i) => `${heading}:\n${pres[i]}`).join(''), said);
for (let i = 0; i < 2; i++) {
	const { texts, arrows, inside } = await figures.nth(i).evaluate((svg) => ({
		texts: [...svg.querySelectorAll('text')].map((t) => t.textContent),
		arrows: svg.querySelectorAll('.arrow').length,
		inside: [...svg.querySelectorAll('text')].every((t) => {
			const box = t.getBBox(), frame = svg.viewBox.baseVal;
			return box.x >= 0 && box.y >= 0 && box.x + box.width <= frame.width && box.y + box.height <= frame.height;
		}),
	}));
	assert.equal(arrows, pres[i].match(/ sent a message at /g).length);
	assert.equal(inside, true);
	for (const [, stamp, place] of pres[i].matchAll(/(?:sent a message|received) at (\d+\.\d+) \((.*?) of /g)) {
		assert.ok(texts.some((t) => t.endsWith(stamp)) && texts.includes(place), `${stamp} ${place}: ${texts}`);
	}
}
assert.deepEqual(reasons.complaints, []);

/* Hostile names all the way: through the reader, the plain answer and the data */
const names = ['<script>window.pwned=1</script>', '"><img src=x onerror=window.pwned=1>', `\u202eline\u0007'quote`, `${'x'.repeat(4000)}</script><b>`];
const quoted = names.map((n) => `"${n.replaceAll('"', '""')}"`);
const rows = ['sender,receiver,sent_ns,received_ns'];
for (let i = 0; i < 200; i++) {
	const [k, t] = [1 + (i % 3), 1700000000000000000n + BigInt(i) * 10000000n];
	rows.push(i % 2 ? `${quoted[0]},${quoted[k]},${t},${t + 60000n}` : `${quoted[k]},${quoted[0]},${t},${t + 60000n}`);
}
writeFileSync(at('hostile.csv'), rows.join('\n'));
run('report', at('hostile.csv'), '--clock', `<b>"&'>=${at('own.json')}`, '--clock', `\u202e\u0007=${at('own.json')}`, '--compare', '--force', '-o', at('hostile.html'));
const hostile = await openFile(chromium, at('hostile.html'), { width: 360, scheme: 'dark' });
assert.equal(await hostile.evaluate(() => window.pwned), undefined);
assert.equal(await hostile.locator('main img, main b, main script').count(), 0);
assert.match(await hostile.textContent('#unskew-clocks'), /<script>window\.pwned=1<\/script>/);
assert.equal(await hostile.evaluate(() => document.documentElement.scrollWidth), 360);
assert.deepEqual(hostile.complaints, []);

/* Fifty clocks that all talk: packed, and the same when it is drawn. */
run('simulate', '--hosts', '50', '--seconds', '20', '--rate', '2', '--seed', seed, '--format', 'table', '--force', '-o', at('fifty'));
run('report', at('fifty/messages.csv'), '--force', '-o', at('fifty.html'));
const size = readFileSync(at('fifty.html')).length;
assert.ok(size < 3e6, `the page of fifty clocks has ${size} bytes`);
const fifty = await openFile(chromium, at('fifty.html'));
await fifty.waitForFunction(() => window.unskew);
assert.equal(await fifty.evaluate(() => window.unskew.data.pairs.length), 50 * 49 / 2);
assert.equal(await fifty.locator('#unskew-clocks tbody tr').count(), 50);
assert.deepEqual(fifty.complaints, []);

for (const one of [page, hostile]) {
	await one.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
	await one.evaluate(chromium.axe());
	const found = await one.evaluate(() => window.axe.run());
	assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((m) => m.html.slice(0, 160)).slice(0, 3).join(' | ')}`), []);
}
await chromium.close();
console.log(`report: ${messages.length} messages, ${cells.length} clocks`);
