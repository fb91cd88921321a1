// SPDX-License-Identifier: MIT
/*
 * dom.js - elements from plain calls
 *
 * Text always becomes a text node or an attribute's value, never markup: names in traces are hostile.
 */
const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) {
			continue;
		}
		if (name.startsWith('on')) {
			element.addEventListener(name.slice(2), value);
		} else {
			element.setAttribute(name, value === true ? '' : String(value));
		}
	}
	element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
	return element;
}

export function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* Control characters and the marks that turn text round are shown, not obeyed. */
export function shown(name) {
	return String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => {
		const code = c.charCodeAt(0);
		if (code < 0x20) {
			return String.fromCharCode(0x2400 + code);
		}
		return code === 0x7f ? '\u2421' : '\ufffd';
	});
}

export function short(name, most) {
	const letters = [...shown(name)];
	if (letters.length <= most) {
		return letters.join('');
	}
	const tail = Math.floor(most / 3);
	return `${letters.slice(0, most - tail - 1).join('')}\u2026${letters.slice(letters.length - tail).join('')}`;
}

/* A name that may be long: cut in the middle, whole as a title and for those who copy it. */
export function name(text, most = 40) {
	const cut = short(text, most);
	const whole = shown(text);
	return h('span', { class: 'name', title: cut === whole ? null : whole }, cut);
}

/* rows of cells: text or nodes; the first column is the row's heading */
export function table({ caption, heading, rows, right = [], id }) {
	const align = (k) => (right.includes(k) ? 'right' : null);
	return h('div', { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption },
		h('table', { id },
			h('caption', { class: 'unseen' }, caption),
			h('thead', null, h('tr', null, heading.map((text, k) =>
				h('th', { scope: 'col', class: align(k) }, text)))),
			h('tbody', null, rows.map((row) => h('tr', row.attributes ?? null, (row.cells ?? row).map((cell, k) =>
				h(k ? 'td' : 'th', { class: align(k), scope: k ? null : 'row' }, cell)))))));
}
