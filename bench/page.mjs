// SPDX-License-Identifier: MIT
/*
 * page.mjs UNSKEW MODULES [MESSAGES] - how large the page of a million messages is, and how fast
 *
 * Out   bytes of the page; from the start of loading until the corridor stands there; frames a second
 *       while zooming from the whole trace to single messages and back, and the slowest frame
 * Why   printed, asserted nowhere: what a machine takes is no property of the code
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browser, openFile } from '../tests/page/browser.mjs';
import { sample } from '../tests/page/sample.mjs';

const [unskew, modules, wanted = '1000000'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'unskew-page-'));

function table(messages) {
	const at = (rel) => 1700000000000000000n + BigInt(rel);
	const rows = messages.map((m) => (m.from === 'a' ? `alpha,beta,${at(m.a)},${at(m.b)}` : `beta,alpha,${at(m.b)},${at(m.a)}`));
	return `sender,receiver,sent_ns,received_ns\n${rows.join('\n')}\n`;
}

/* One window a frame, each drawn before the next is asked for */
function zoom() {
	return new Promise((done) => {
		const { corridor } = window.unskew;
		corridor.reset();
		const { first, last } = corridor.view;
		const middle = first + (last - first) * 0.618, frames = 240, stamps = [];
		let k = 0;
		const step = (now) => {
			stamps.push(now);
			if (k === frames) {
				const gaps = stamps.slice(1).map((t, i) => t - stamps[i]);
				done({ fps: (1000 * gaps.length) / (stamps[frames] - stamps[0]), slowest: Math.max(...gaps) });
				return;
			}
			const part = Math.exp(-14 * Math.abs(Math.sin((Math.PI * k++) / frames)));
			corridor.window(middle - ((last - first) * part) / 2, middle + ((last - first) * part) / 2);
			requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	});
}

try {
	const made = sample({ names: ['alpha', 'beta'], messages: Number(wanted), seconds: 3600, seed: 1 });
	writeFileSync(join(folder, 'messages.csv'), table(made.messages.get('beta')));
	const page = join(folder, 'page.html');
	const began = performance.now();
	execFileSync(unskew, ['report', '--quiet', '--reference', 'alpha', '-o', page, join(folder, 'messages.csv')]);
	console.log(`unskew report of ${wanted} messages: ${((performance.now() - began) / 1000).toFixed(2)} s, ${(statSync(page).size / 1e6).toFixed(2)} MB`);
	const chromium = await browser(modules);
	if (!chromium) {
		process.exit(77);
	}
	for (const width of [1280, 3840]) {
		const tab = await openFile(chromium, page, { width, height: width === 1280 ? 900 : 2160 });
		const first = await tab.evaluate(() => window.unskew.firstDrawing);
		const { fps, slowest } = await tab.evaluate(zoom);
		console.log(`${width} px: first drawing ${Math.round(first)} ms after loading began; zooming ${fps.toFixed(0)} frames a second, the slowest ${Math.round(slowest)} ms`);
		await tab.close();
	}
	await chromium.close();
} finally {
	rmSync(folder, { recursive: true });
}
