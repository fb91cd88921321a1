// SPDX-License-Identifier: MIT
/*
 * main.js - the page, from top to bottom
 *
 * In    #unskew-answer, the plain answer and table that `unskew report` writes; #unskew-explained and
 *       #unskew-machines, drawn by it too, if they were asked for; #unskew-data
 * Out   the sections below it; window.unskew, for those who check what is drawn
 */
import { h } from './dom.js';
import { unpack } from './data.js';
import { enliven } from './answer.js';
import { Align } from './align.js';
import { Corridor } from './corridor.js';
import { Delays } from './delays.js';
import { Margins } from './margins.js';
import { Mesh } from './mesh.js';
import { Methods } from './methods.js';
import { Sequence } from './sequence.js';
import { leftOut, settings } from './settings.js';

function themeButton(redraw) {
	const root = document.documentElement;
	const wish = matchMedia('(prefers-color-scheme: dark)'), print = matchMedia('print');
	let chosen = null;
	const button = h('button', { type: 'button', id: 'theme' });
	const apply = () => {
		const theme = print.matches ? 'light' : chosen ?? (wish.matches ? 'dark' : 'light');
		if (root.dataset.theme !== theme) {
			root.dataset.theme = theme;
			redraw();
		}
		button.textContent = theme === 'dark' ? 'Light' : 'Dark';
	};
	button.addEventListener('click', () => {
		chosen = root.dataset.theme === 'dark' ? 'light' : 'dark';
		apply();
	});
	wish.addEventListener('change', apply);
	print.addEventListener('change', () => {
		apply();
		redraw();
	});
	apply();
	return button;
}

function main(text) {
	const data = unpack(JSON.parse(text));
	const body = document.getElementById('main');
	const parts = [];
	const corridor = data.pairs.length ? new Corridor(data, () => parts.forEach((p) => p.follow?.(corridor))) : null;
	const redraw = () => [corridor, ...parts].forEach((p) => p?.view && p.draw?.());
	document.getElementById('top').append(themeButton(redraw));
	if (corridor) {
		const followers = [Delays, Sequence, Align, Methods, Margins].map((Part) => new Part(data, corridor));
		parts.push(...followers);
		body.append(corridor.section);
		corridor.ready();
		body.append(...followers.map((p) => p.section));
	}
	if (data.clocks.length > 1) {
		const mesh = new Mesh(data, corridor);
		parts.push(mesh);
		(corridor?.section ?? body.lastElementChild).after(mesh.section);
		mesh.draw();
	}
	enliven(data, corridor);
	const drawn = ['unskew-explained', 'unskew-machines'].map((id) => document.getElementById(id)).filter(Boolean);
	body.append(...drawn, settings(data), leftOut(data));
	document.getElementById('foot').textContent = `unskew ${data.json.version}. This page holds all that it shows and loads nothing.`;
	let resized;
	window.addEventListener('resize', () => {
		clearTimeout(resized);
		resized = setTimeout(redraw, 60);
	});
	window.unskew = {
		data,
		corridor,
		firstDrawing: performance.now(),
		resting: () => !corridor?.later,
		drawn: () => corridor?.plot.drawn,
		window: (from, to) => corridor.window(from, to),
	};
}

async function inflate(text) {
	const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

const source = document.getElementById('unskew-data');
if (source.type === 'application/json') {
	main(source.textContent);
} else if (window.DecompressionStream) {
	inflate(source.textContent).then(main);
} else {
	document.getElementById('main').append(h('p', {}, 'The pictures of this page are packed: Chromium 80, Firefox 113 and Safari 16.4 and later can unpack them.'));
}
