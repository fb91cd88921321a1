// SPDX-License-Identifier: MIT
/* methods.js - the estimators side by side, where `compare` was run */
import { h, short, table } from './dom.js';
import { bound, count, percent, span } from './format.js';

const ns = (text) => (text === null || text === undefined ? null : BigInt(String(text).split('.')[0]));

export class Methods {
	constructor(data, corridor) {
		this.pairs = data.json.compare?.pairs ?? [];
		this.corridor = corridor;
		this.box = h('div');
		this.section = h('section', { id: 'methods', 'aria-labelledby': 'methods-h' },
			h('h2', { id: 'methods-h' }, 'Other estimators'),
			h('p', { class: 'lead' }, 'The same messages, fitted by every estimator. A good line leaves no message received before it was sent. Offsets are at the middle of the trace, less that of the first estimator.'),
			this.box);
	}

	follow() {
		const { view } = this.corridor;
		if (this.view === view) {
			return;
		}
		this.view = view;
		const pair = this.pairs.find((p) => p.a === view.pair.a && p.b === view.pair.b);
		this.section.hidden = !pair;
		if (!pair) {
			return;
		}
		const truth = pair.methods.some((m) => m.error_ns);
		const first = pair.methods.find((m) => !m.failed);
		const rows = pair.methods.map((m) => (m.failed ? [m.name, h('span', { class: 'lead' }, m.failed)] : this.row(m, first, truth)));
		const heading = ['Method', 'Offset', 'Drift, ppm', 'Received before sent', 'Too fast', 'Error bound, mean'];
		const made = table({ caption: `Estimators for ${short(view.pair.a, 24)} and ${short(view.pair.b, 24)}`, rows, right: [1, 2, 3, 4, 5, 6],
			heading: truth ? [...heading, 'Error, rms'] : heading });
		for (const cell of made.querySelectorAll('span.lead')) {
			cell.parentNode.colSpan = heading.length;
			cell.parentNode.className = 'wrap';
		}
		this.box.replaceChildren(made);
	}

	row(m, first, truth) {
		const cells = [m.name, span(ns(first.b_ns) - ns(m.b_ns)), (m.beta_minus_one * 1e6).toFixed(3).replace('-', '\u2212'), count(m.inversions.corrected),
			m.too_fast ? `${count(m.too_fast.count)} (${percent(m.too_fast.percent, 100)})` : '-', bound(m.half_width_ns?.mean)];
		return truth ? [...cells, span(ns(m.error_ns?.rms))] : cells;
	}
}
