// SPDX-License-Identifier: MIT
/*
 * build.mjs OUT.html [MODULES] - bundle the page into one file that needs nothing else
 *
 * In    src/page.html with the marks <!--page:style--> and <!--page:script-->, src/*.js, src/*.css;
 *       MODULES is the folder whose node_modules holds esbuild and uPlot (default: this one)
 * Out   OUT.html, where style and script are inlined; `unskew report` fills its three places,
 *       @@unskew-title@@, @@unskew-answer@@ and @@unskew-data@@
 * Why   a report is opened from a mail attachment: no network, no second file
 * Not   the data: they are the report's
 */
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
const modules = resolve(process.argv[3] ?? here);
const esbuild = createRequire(join(modules, 'package.json'))('esbuild');

function bundle(entry) {
	const made = esbuild.buildSync({
		entryPoints: [join(here, 'src', entry)],
		nodePaths: [join(modules, 'node_modules')],
		bundle: true,
		minify: true,
		write: false,
		format: 'iife',
		target: ['chrome100', 'firefox100', 'safari15.4'],
		charset: 'ascii',
		legalComments: 'none',
		logLevel: 'warning',
	});
	const text = made.outputFiles[0].text.trimEnd();
	// Nothing in a bundle may end the element that holds it.
	if (/<\/(script|style)|<!--/i.test(text)) {
		throw new Error(`${entry}: the bundle holds text that would end its element`);
	}
	return text;
}

const licence = readFileSync(join(modules, 'node_modules/uplot/LICENSE'), 'utf8');
const copyright = /copyright.*/i.exec(licence)[0];
const marks = { style: bundle('style.css'), script: `/* uPlot, MIT, ${copyright} */\n${bundle('main.js')}` };
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
	.replace(/<!--page:(\w+)-->/g, (_, what) => marks[what]);
for (const mark of ['title', 'answer', 'data'].map((what) => `@@unskew-${what}@@`)) {
	if (page.split(mark).length !== 2) {
		throw new Error(`the page must hold ${mark} once`);
	}
}
writeFileSync(out, page);
