// SPDX-License-Identifier: MIT
/*
 * pictures.mjs UNSKEW MODULES RECORDED OUT - the pictures of doc/example.md, from recorded data
 *
 * `make example` runs it; the commands are those that the example shows.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { browser, openFile } from './browser.mjs';

const [unskew, modules, recorded, out] = process.argv.slice(2).map((p) => resolve(p));
const WIDTH = 1100;
const folder = mkdtempSync(join(tmpdir(), 'unskew-example-'));
const report = (name, ...traces) => {
	const page = join(folder, `${name}.html`);
	execFileSync(unskew, ['report', ...traces, '-o', page], { cwd: folder, stdio: 'ignore' });
	return page;
};

function exchanges() {
	const [, ...rows] = readFileSync(join(recorded, 'ptp-lasse/exchanges.csv'), 'utf8').trim().split('\n');
	writeFileSync(join(folder, 'ptp.csv'), ['a,b,t1_ns,t2_ns,t3_ns,t4_ns', ...rows.map((r) => `slave,master,${r}`), ''].join('\n'));
	return join(folder, 'ptp.csv');
}

/* From the top of one element to the foot of another */
async function shoot(page, name, first, last = first) {
	const box = async (selector) => page.locator(selector).first().evaluate((e) => {
		const r = e.getBoundingClientRect();
		return { top: r.top + window.scrollY, bottom: r.bottom + window.scrollY };
	});
	const { top } = await box(first), { bottom } = await box(last);
	await page.screenshot({ path: join(out, `${name}.png`), fullPage: true, clip: { x: 0, y: top - 12, width: WIDTH, height: bottom - top + 24 } });
}

mkdirSync(out, { recursive: true });
const chromium = await browser(modules);
if (!chromium) {
	process.exit(77);
}
try {
	const ptp = await openFile(chromium, report('ptp', exchanges(), '--reference', 'master', '--compare'), { width: WIDTH });
	await shoot(ptp, 'corridor', '#unskew-answer', '#corridor .axis.end');
	await ptp.evaluate(() => window.unskew.corridor.zoom(0.004));
	await ptp.rest();
	await shoot(ptp, 'messages', '#messages h2', '#messages .two');
	await ptp.evaluate(() => window.unskew.corridor.reset());
	await ptp.rest();
	await ptp.locator('#hand-offset').fill('300');
	await shoot(ptp, 'hand', '#align h2', '#align .two');
	const proxy = await openFile(chromium, report('proxy', ...['client', 'proxy_eth1', 'server'].map((n) => join(recorded, `container-proxy/${n}.pcap`))), { width: WIDTH, scheme: 'dark' });
	await proxy.evaluate(() => window.unskew.corridor.choose('server'));
	await proxy.rest();
	await shoot(proxy, 'containers', '#corridor .legend', '#mesh figure');
	await proxy.evaluate(() => {
		const { corridor } = window.unskew;
		const { x } = corridor.view.sides.find((s) => s.floor);
		corridor.window(x[25] - 300e3, x[25] + 300e3);
	});
	await proxy.rest();
	await shoot(proxy, 'request', '#messages h2', '#messages .two');
	await chromium.close();
} finally {
	rmSync(folder, { recursive: true });
}
