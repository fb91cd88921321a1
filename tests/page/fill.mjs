// SPDX-License-Identifier: MIT
/*
 * fill.mjs TEMPLATE DATA.json OUT.html - put data into the page's template, as `unskew report` does
 *
 * For data that no trace gives: hostile names, many clocks, a million messages. The plain answer is a
 * short one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export function fill(template, data) {
	const clocks = data.clocks.clocks;
	const rows = clocks.map((c, i) => `<tr data-clock="${i}"><th scope="row">${escaped(c.name)}</th><td>${escaped(c.quality)}</td></tr>`);
	const answer = `<section id="unskew-answer"><h1>How the clocks ran</h1>
<p class="answer">${clocks.length} clocks of ${escaped(clocks[0]?.name)} and others.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Clocks"><table id="unskew-clocks"><caption>Clocks</caption>
<thead><tr><th scope="col">clock</th><th scope="col">quality</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
	const element = `<script type="application/json" id="unskew-data">${JSON.stringify(data).replace(/</g, '\\u003c')}</script>`;
	return template.replace('@@unskew-title@@', () => 'How the clocks ran')
		.replace('@@unskew-answer@@', () => answer)
		.replace('@@unskew-data@@', () => element);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
	const [template, data, out] = process.argv.slice(2);
	writeFileSync(out, fill(readFileSync(template, 'utf8'), JSON.parse(readFileSync(data, 'utf8'))));
}
