// SPDX-License-Identifier: MIT
/*
 * test_page.mjs TEMPLATE MODULES FOLDER - the page in Chromium
 *
 * What is drawn is what is there: extremes at every zoom level, against messages whose delays are known
 * without the page. Zoom by wheel, drag, keys and buttons; keyboard alone; axe; hostile names; no request.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { browser, open } from './browser.mjs';
import { fill } from './fill.mjs';
import { sample } from './sample.mjs';

const [templatePath, modules, folder] = process.argv.slice(2);
const template = readFileSync(templatePath, 'utf8');
if (!template) {
	console.log('skipped: the page was not built, as npm could not fetch its parts');
	process.exit(77);
}
mkdirSync(folder, { recursive: true });
const chromium = await browser(modules);
if (!chromium) {
	process.exit(77);
}
const seed = Number(process.env.SEED ?? 1);
let n = 0;

async function test(name, run) {
	const began = performance.now();
	try {
		await run();
		n++;
		console.log(`ok ${name} (${Math.round(performance.now() - began)} ms)`);
	} catch (error) {
		console.log(`not ok ${name} (seed ${seed}): ${error.stack}`);
		process.exitCode = 1;
	}
}

async function withPage(made, options, run) {
	const page = await open(chromium, fill(template, made.data ?? made), folder, options);
	try {
		await run(page);
		assert.deepEqual(page.complaints, []);
	} finally {
		await page.close();
	}
}

const drawn = (page) => page.evaluate(() => window.unskew.drawn());
const zoomTo = (page, from, to) => page.evaluate(([a, b]) => { window.unskew.window(a, b); return window.unskew.drawn(); }, [from, to]);
const width = async (page) => { const d = await drawn(page); return d.to - d.from; };

/* Per column, the smallest and largest of what the page holds; floors are minus their delays. */
function expected(held, d, from, columns) {
	const min = new Array(columns).fill(Infinity), max = new Array(columns).fill(-Infinity);
	for (const m of held) {
		if (m.from === from && m.b >= d.from && m.b <= d.to) {
			const c = Math.min(columns - 1, Math.floor((m.b - d.from) * (columns / (d.to - d.from))));
			const y = from === 'a' ? -m.delay : m.delay;
			min[c] = Math.min(min[c], y);
			max[c] = Math.max(max[c], y);
		}
	}
	return { min, max };
}

const two = sample({ names: ['alpha', 'beta'], messages: 20000, seed });

await test('the drawn extremes are the true ones at every zoom level', () => withPage(two, { name: 'two' }, async (page) => {
	const messages = two.messages.get('beta');
	const whole = 600e9;
	let single = 0;
	for (let part = 1; part > 1e-9; part /= 4) {
		const middle = messages[Math.floor(messages.length * 0.37)].b;
		const d = await zoomTo(page, middle - (whole * part) / 2, middle + (whole * part) / 2);
		for (const side of d.sides) {
			const want = expected(messages, d, side.from, side.min.length);
			assert.deepEqual(side.min, want.min, `smallest of ${side.from} at ${part}`);
			assert.deepEqual(side.max, want.max, `largest of ${side.from} at ${part}`);
		}
		single += d.mode === 'messages' ? 1 : 0;
		assert.ok(d.sides.reduce((sum, s) => sum + s.n, 0) >= 1);
	}
	assert.ok(single > 3, 'single messages are drawn when zoomed in');
}));

await test('a thinned page keeps the true extremes of every bucket', async () => {
	const bucket = 2 ** 28;
	const made = sample({ names: ['alpha', 'beta'], messages: 60000, seed: seed + 1, bucket });
	await withPage(made, { name: 'thin' }, async (page) => {
		const messages = made.messages.get('beta');
		for (const buckets of [2000, 150, 22, 5, 1]) {
			const from = 40 * bucket, to = (40 + buckets) * bucket - 1;
			const d = await zoomTo(page, from, to);
			const inside = messages.filter((m) => m.b >= from && m.b <= to);
			for (const side of d.sides) {
				const delays = inside.filter((m) => m.from === side.from).map((m) => (side.floor ? -m.delay : m.delay));
				assert.equal(Math.min(...side.min), Math.min(...delays));
				assert.equal(Math.max(...side.max), Math.max(...delays));
			}
			if (buckets === 22) {
				await page.rest();
				assert.match(await page.textContent('.readout'), new RegExp(`with ${inside.length.toLocaleString('en-US')} messages; the page holds`));
			}
		}
	});
});

await test('a clock that counts from boot loses no nanosecond', async () => {
	const made = sample({ names: ['wall', 'boot'], messages: 2000, seed: seed + 2, boot: true });
	await withPage(made, { name: 'boot' }, async (page) => {
		const messages = made.messages.get('boot');
		for (const part of [1, 0.01]) {
			const d = await zoomTo(page, 300e9 - 300e9 * part, 300e9 + 300e9 * part);
			for (const side of d.sides) {
				assert.deepEqual(side.max, expected(messages, d, side.from, side.min.length).max);
			}
		}
		await page.rest();
		await page.locator('#messages summary').click();
		await page.locator('#messages details tbody td').first().waitFor();
		const row = await page.locator('#messages details tbody tr').first().locator('td, th').allTextContents();
		const held = messages.map((m) => `${1700000000000000000n + BigInt(m.a)}`.slice(-9)).map((t) => t.replace(/(\d{3})(?=\d)/g, '$1\u2009'));
		assert.ok(held.some((t) => row[1].includes(t) || row[2].includes(t)), row.join(' | '));
	});
});

await test('wheel, drag, keys and buttons zoom', () => withPage(two, { name: 'zoom' }, async (page) => {
	const over = await page.locator('.u-over').boundingBox();
	const whole = await width(page);
	await page.locator('#plot').scrollIntoViewIfNeeded();
	await page.waitForTimeout(300);
	const box = await page.locator('.u-over').boundingBox();
	assert.equal(box.width, over.width);
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	await page.mouse.wheel(0, -240);
	await page.waitForFunction((w) => { const d = window.unskew.drawn(); return d.to - d.from < w; }, whole);
	const wheeled = await width(page);
	await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
	await page.mouse.up();
	const dragged = await width(page);
	assert.ok(Math.abs(dragged / wheeled - 0.25) < 0.02, `a quarter was dragged over, ${dragged / wheeled} is shown`);
	await page.focus('#plot');
	await page.keyboard.press('+');
	assert.ok(await width(page) < dragged);
	await page.keyboard.press('-');
	assert.ok(Math.abs(await width(page) / dragged - 1) < 1e-6);
	const before = await drawn(page);
	await page.keyboard.press('ArrowRight');
	assert.ok((await drawn(page)).from > before.from);
	const tall = (await drawn(page)).y[1];
	await page.keyboard.press('ArrowUp');
	assert.ok((await drawn(page)).y[1] < tall);
	await page.keyboard.press('Home');
	assert.equal(await width(page), whole);
	await page.getByRole('button', { name: 'Zoom in' }).click();
	assert.ok(await width(page) < whole);
	await page.getByRole('button', { name: 'Show the whole trace' }).click();
	assert.equal(await width(page), whole);
	await page.selectOption('#base', 'raw');
	assert.match(await page.textContent('#corridor .axis'), /first message/);
	await page.selectOption('#height', 'all');
	await page.selectOption('#clock', { label: 'alpha' });
	assert.match(await page.getAttribute('#plot', 'aria-label'), /alpha against beta/);
}));

await test('keyboard alone reaches and works everything', () => withPage(two, { name: 'keys' }, async (page) => {
	const controls = await page.evaluate(() => {
		const all = [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')];
		return all.filter((e) => e.checkVisibility()).map((e, i) => { e.dataset.test = i; return i; });
	});
	const met = new Set();
	for (let i = 0; i < controls.length + 5; i++) {
		await page.keyboard.press('Tab');
		const at = await page.evaluate(() => {
			const e = document.activeElement;
			return { id: e.dataset.test, seen: getComputedStyle(e).outlineStyle !== 'none', tag: e.outerHTML.slice(0, 80) };
		});
		if (at.id !== undefined) {
			met.add(Number(at.id));
			assert.ok(at.seen, `focus is visible on ${at.tag}`);
		}
	}
	assert.equal(met.size, controls.length, `not reached: ${controls.filter((c) => !met.has(c))}`);
	await page.focus('#corridor summary');
	await page.keyboard.press('Enter');
	await page.waitForSelector('#corridor details table');
	assert.equal(await page.locator('#corridor details tbody tr').count(), 12);
	await page.focus('#hand-offset');
	const before = await page.textContent('#hand-count');
	for (let i = 0; i < 12; i++) {
		await page.keyboard.press('PageUp');
	}
	assert.notEqual(await page.textContent('#hand-count'), before);
	await page.getByRole('button', { name: 'The estimate' }).focus();
	await page.keyboard.press('Enter');
	assert.match(await page.textContent('#hand-count'), /^0 of 20,000 /);
	await page.focus('#theme');
	await page.keyboard.press('Enter');
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
}));

await test('a line dragged by hand counts its inversions', () => withPage(two, { name: 'hand' }, async (page) => {
	await page.getByRole('button', { name: 'The estimate' }).click();
	await page.locator('.grip').scrollIntoViewIfNeeded();
	const box = await page.locator('.grip').boundingBox();
	await page.mouse.move(box.x + 30, box.y + 200);
	await page.mouse.down();
	await page.mouse.move(box.x + 30, box.y + 320, { steps: 5 });
	await page.mouse.up();
	assert.ok(Number((await page.textContent('#hand-count')).split(' ')[0].replace(',', '')) > 0);
}));

await test('messages are drawn in order once corrected', () => withPage(two, { name: 'order' }, async (page) => {
	await zoomTo(page, 100e9, 101e9);
	await page.rest();
	const titles = await page.locator('#messages h3').allTextContents();
	assert.match(titles[0], /^As recorded: [1-9]/);
	assert.match(titles[1], /^As corrected: 0 of 24 /);
	assert.equal(await page.locator('#messages .controls').isVisible(), false);
	assert.equal(await page.locator('#messages figure').nth(1).locator('g[data-back]').count(), 0);
}));

const many = sample({ names: Array.from({ length: 50 }, (_, i) => `rack${i % 5}-node${String(i).padStart(2, '0')}`), messages: 20000, seed,
	qualities: { 'rack1-node01': 'one-sided', 'rack2-node02': 'absent' } });

await test('with many clocks, messages of all are drawn between their hosts', () => withPage(many, { name: 'all' }, async (page) => {
	await zoomTo(page, 100e9, 130e9);
	await page.rest();
	const hosts = await page.locator('#messages figure').nth(1).locator('line.host').count();
	assert.ok(hosts > 2 && hosts <= 6, `${hosts} hosts`);
	assert.equal(await page.locator('#messages figure').nth(1).locator('g[data-back]').count(), 0);
	await page.uncheck('#messages input');
	assert.equal(await page.locator('#messages figure').nth(1).locator('line.host').count(), 2);
}));

const hostile = ['<script>window.pwned=1</script>', '"><img src=x onerror="window.pwned=1">', `line\nbreak\u0000\u0007\u202etxt.exe`, `${'x'.repeat(4000)}</script><b>`];
await test('hostile names are text', () => withPage(sample({ names: hostile, messages: 300, seed }), { name: 'hostile' }, async (page) => {
	assert.equal(await page.evaluate(() => window.pwned), undefined);
	assert.equal(await page.locator('main img, main b, main script').count(), 0);
	assert.match(await page.textContent('#mesh'), /<script>window/);
	assert.match(await page.textContent('#settings'), /line\u240abreak\u2400\u2407\ufffdtxt/);
	for (const option of await page.locator('#clock option').allTextContents()) {
		assert.ok(option.length <= 60);
	}
	assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
}));

const widths = [360, 768, 1280, 3840];
await test('fifty clocks fit from 360 px to 4K, each named and in reading size', async () => {
	for (const w of widths) {
		await withPage(many, { name: 'many', width: w }, async (page) => {
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), w);
			const rows = await page.locator('#mesh svg text:has(title)').evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom, r.height]));
			assert.equal(rows.length, 50);
			rows.sort((a, b) => a[0] - b[0]);
			rows.forEach(([top, , high], i) => assert.ok(high >= 11 && (i === 0 || top >= rows[i - 1][1] - 1), `row ${i} at ${w} px`));
			await page.selectOption('#clock', { label: 'rack1-node01' });
			await page.rest();
		});
	}
});

const lone = JSON.parse(JSON.stringify(two.data));
lone.pairs = [];
lone.source = 'clocks';
lone.clocks.corridors = [{ a: 'alpha', b: 'beta', bucket_ns: '1', floor: two.messages.get('beta').filter((m) => m.from === 'a').slice(0, 500).map((m) => [`${1700000000000000000n + BigInt(m.b)}`, `${m.a - m.b}`]), ceiling: [] }];
const empty = JSON.parse(JSON.stringify(lone));
empty.clocks.corridors = [];
await test('clocks alone, and no message at all, give a page', async () => {
	await withPage(lone, { name: 'lone' }, async (page) => assert.ok((await drawn(page)).sides.some((s) => s.n === 500)));
	await withPage(empty, { name: 'empty' }, async (page) => assert.equal(await page.locator('#settings').count(), 1));
});

await test('axe finds no violation, light and dark, wide and narrow', async () => {
	const axe = chromium.axe();
	const few = sample({ names: ['alpha', 'beta', 'gamma', 'delta', 'lost'], messages: 400, seed, qualities: { delta: 'one-sided', lost: 'absent' } });
	for (const [made, scheme, w] of [[two, 'light', 1280], [two, 'dark', 1280], [few, 'light', 360]]) {
		await withPage(made, { name: 'axe', width: w, scheme }, async (page) => {
			await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
			await page.rest();
			await page.evaluate(axe);
			const found = await page.evaluate(() => window.axe.run());
			assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((m) => m.html.slice(0, 120)).slice(0, 3).join(' | ')}`), []);
		});
	}
});

await test('printed in dark clothes, it is light and whole', () => withPage(two, { name: 'print', scheme: 'dark' }, async (page) => {
	assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
	await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
	await page.waitForFunction(() => document.documentElement.dataset.theme === 'light');
	assert.ok((await page.pdf()).length > 20000);
}));

await chromium.close();
console.log(`page: ${n} tests passed`);
