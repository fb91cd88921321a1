// SPDX-License-Identifier: MIT
/*
 * browser.mjs - Chromium for tests and pictures of the page
 *
 * browser(MODULES): a started Chromium, or null with the sentence that says what is missing, so that a
 * test can skip; BROWSER=none in the environment wants none. Pages report every console message, error and request as a complaint.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export async function browser(modules) {
	const from = createRequire(resolve(modules, 'package.json'));
	let playwright, path;
	if (process.env.BROWSER === 'none') {
		console.log('skipped: no browser is wanted');
		return null;
	}
	try {
		playwright = from('playwright-core');
	} catch {
		console.log('skipped: npm could not fetch playwright-core');
		return null;
	}
	try {
		path = execFileSync('sh', ['-c', 'command -v chromium || command -v chromium-browser'], { encoding: 'utf8' }).trim();
	} catch {
		console.log('skipped: there is no chromium');
		return null;
	}
	const root = process.getuid?.() === 0;
	const started = await playwright.chromium.launch({ executablePath: path, args: root ? ['--no-sandbox'] : [] });
	started.axe = () => readFileSync(from.resolve('axe-core/axe.min.js'), 'utf8');
	return started;
}

/* Open html, a text, in a window; complaints fill up while it is used. */
export async function open(chromium, html, folder, { width = 1280, height = 900, scheme = 'light', name = 'page' } = {}) {
	const path = join(folder, `${name}.html`);
	writeFileSync(path, html);
	return openFile(chromium, path, { width, height, scheme });
}

export async function openFile(chromium, path, { width = 1280, height = 900, scheme = 'light' } = {}) {
	const page = await chromium.newPage({ viewport: { width, height }, colorScheme: scheme });
	page.complaints = [];
	page.on('console', (m) => page.complaints.push(`console: ${m.text()}`));
	page.on('pageerror', (e) => page.complaints.push(`error: ${e.stack}`));
	page.on('request', (r) => {
		if (!r.url().startsWith('file:') && !r.url().startsWith('data:')) {
			page.complaints.push(`request: ${r.url()}`);
		}
	});
	await page.goto(pathToFileURL(path).href);
	page.rest = () => page.waitForFunction(() => window.unskew?.resting());
	await page.rest();
	return page;
}
