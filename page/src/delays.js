// SPDX-License-Identifier: MIT
/*
 * delays.js - one-way delays of the chosen pair, per direction, as recorded and as corrected
 *
 * What is recorded holds the offset of the clocks, so it has an axis of its own; drifting clocks smear it.
 */
import { h, s, short, table } from './dom.js';
import { count, fine, span, spanAmong } from './format.js';
import { adopt } from './answer.js';
import { STEPS, label, ticks, unitFor } from './axis.js';

const HEIGHT = 150, FOOT = 34;

/* Whole bins, joined while they would be narrower than a few pixels. */
function joined(hist, width) {
	const by = Math.max(1, Math.ceil((hist.bins.length * 4) / width));
	const out = [];
	for (let i = 0; i < hist.bins.length; i += by) {
		out.push(hist.bins.slice(i, i + by).reduce((a, b) => a + b, 0));
	}
	return { by, out };
}

function picture(hist, width, kind, title) {
	const low = Number(hist.low_ns), bin = Number(hist.bin_ns);
	const { by, out } = joined(hist, width);
	const top = Math.max(...out, 1), step = bin * by, high = low + step * out.length;
	const X = (v) => ((v - low) / (high - low)) * width, Y = (n) => HEIGHT - (n / top) * (HEIGHT - 8);
	const d = out.map((n, i) => `H${X(low + i * step).toFixed(1)}V${Y(n).toFixed(1)}`).join('');
	const root = s('svg', { viewBox: `0 0 ${width} ${HEIGHT + FOOT}`, role: 'img', 'aria-label': title });
	root.append(s('path', { class: kind, 'fill-opacity': 0.55, 'stroke-width': 1, d: `M0 ${HEIGHT}${d}H${width}V${HEIGHT}Z` }),
		s('line', { class: 'rule', x1: 0, x2: width, y1: HEIGHT, y2: HEIGHT }));
	/* Far from zero, ticks count from the smallest. */
	const far = Math.abs(low) > 20 * (high - low);
	const base = far ? low : 0;
	const unit = unitFor(far ? high - low : Math.max(Math.abs(low), Math.abs(high))), gap = STEPS.find((g) => (high - low) / g <= Math.max(2, width / 90)) ?? high - low;
	for (const v of ticks(base, low, high, gap)) {
		root.append(s('line', { class: 'rule', x1: X(v), x2: X(v), y1: HEIGHT, y2: HEIGHT + 5 }),
			s('text', { class: 'quiet', x: X(v), y: HEIGHT + 19, 'text-anchor': X(v) < 20 ? 'start' : X(v) > width - 20 ? 'end' : 'middle' },
				label(v - base, unit, gap)));
	}
	const axis = `${unit.name}${far ? ` from ${fine(low, bin)}` : ''}${hist.above ? `; ${count(hist.above)} beyond, up to ${span(hist.max_ns)}` : ''}`;
	return { root, axis };
}

export class Delays {
	constructor(data, corridor) {
		this.corridor = corridor;
		this.box = h('div', { class: 'two' });
		this.numbers = h('div');
		this.heading = h('p', { class: 'lead' });
		this.section = h('section', { id: 'delays', 'aria-labelledby': 'delays-h' },
			h('h2', { id: 'delays-h' }, 'Delays'), this.heading, this.box, this.numbers, adopt('unskew-delays', 'All pairs'));
	}

	follow() {
		if (this.view !== this.corridor.view) {
			this.view = this.corridor.view;
			this.draw();
		}
	}

	draw() {
		const { pair } = this.view;
		this.section.hidden = !pair.delays.length;
		const one = (this.section.clientWidth || 900);
		const width = Math.max(260, one > 744 ? (one - 40) / 2 : one);
		const figures = [], rows = [];
		for (const d of pair.delays) {
			const [from, to] = d.from === 'a' ? [pair.a, pair.b] : [pair.b, pair.a];
			const floor = (d.from === 'a') === this.view.selfIsB;
			for (const state of ['recorded', 'corrected']) {
				const hist = d[state];
				if (!hist || !hist.bins.length) {
					continue;
				}
				const title = `${short(from, 24)} \u2192 ${short(to, 24)}, ${state}`;
				const { root, axis } = picture(hist, width, floor ? 'floor' : 'ceiling', `Histogram of delays ${title}; its numbers are in the table below`);
				figures.push(h('figure', null, h('h3', null, title), root, h('figcaption', null, axis)));
				rows.push([`${short(from, 24)} \u2192 ${short(to, 24)}`, state, count(hist.count), ...[hist.min_ns, hist.median_ns, hist.p99_ns, hist.max_ns].map((v) => spanAmong(v, BigInt(hist.p99_ns) - BigInt(hist.min_ns)))]);
			}
		}
		this.heading.textContent = 'One-way delays, received \u2212 sent, by the stamps as recorded and as corrected. A delay below zero violates causality: received before sent.';
		this.box.replaceChildren(...figures);
		this.numbers.replaceChildren(table({ caption: 'Delays in numbers', heading: ['Direction', 'Stamps', 'Messages', 'Smallest', 'Median', '99 % within', 'Largest'],
			right: [2, 3, 4, 5, 6], rows }));
	}
}
