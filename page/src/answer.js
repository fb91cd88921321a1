// SPDX-License-Identifier: MIT
/*
 * answer.js - the plain answer that `unskew report` wrote, fitted into the page
 *
 * It reads well without script. Here its tables of pairs and delays move to the pictures that they
 * belong to, and a clock's row opens its corridor.
 */
import { h } from './dom.js';

const MANY = 14;

/* The region that holds a table, and the heading before it, taken out of the answer into a fold. */
export function adopt(id, summary) {
	const region = document.getElementById(id)?.closest('.scroll');
	if (!region) {
		return null;
	}
	if (region.previousElementSibling?.tagName === 'H2') {
		region.previousElementSibling.remove();
	}
	const more = region.nextElementSibling?.matches('.more') ? region.nextElementSibling : null;
	region.setAttribute('aria-label', summary);
	setTypes(region);
	return h('details', null, h('summary', null, summary), region, more);
}

/* Units and minus signs as the rest of the page has them; names stay as they are. */
function setTypes(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		if (!node.parentNode.closest('bdi, h1, th[scope="row"]')) {
			node.data = node.data.replace(/(\d) (ns|us|ms|s|ppm)\b/g, (_, digit, unit) => `${digit}\u00a0${unit.replace('us', '\u00b5s')}`)
				.replace(/(^|[\s(])-(?=\d)/g, '$1\u2212').replace(/\u00b1 (?=\d)/g, '\u00b1\u00a0');
		}
	}
}

export function enliven(data, corridor) {
	const answer = document.getElementById('unskew-answer');
	if (!answer) {
		return;
	}
	setTypes(answer);
	const rows = answer.querySelectorAll('#unskew-clocks tr[data-clock]');
	if (rows.length > MANY) {
		answer.querySelector('#unskew-clocks').closest('.scroll').classList.add('long');
	}
	for (const row of rows) {
		const clock = data.clocks[Number(row.dataset.clock)];
		const cell = row.querySelector('th');
		cell.title = cell.textContent;
		if (corridor?.clocks.includes(clock)) {
			const open = () => {
				corridor.choose(clock.name);
				corridor.section.scrollIntoView();
				corridor.box.focus({ preventScroll: true });
			};
			const button = h('button', { type: 'button', class: 'link', onclick: open, title: 'Show its corridor' });
			button.append(...cell.childNodes);
			cell.append(button);
		}
	}
}
