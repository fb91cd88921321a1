// SPDX-License-Identifier: MIT
/*
 * corridor.js - the section that shows how one clock ran: choice of clock and peer, zoom, numbers
 *
 * The window that is chosen here is the page's: the diagram of messages and the alignment by hand follow it.
 */
import { h, shown, short, table } from './dom.js';
import { between, byName, count, instant, span } from './format.js';
import { counted, lowerBound, pairsOf, peerOf, viewOf } from './data.js';
import { Plot } from './plot.js';

const SLICES = 12;
const ZOOM = 1.6;

function option(value, text, chosen) {
	return h('option', { value, selected: chosen }, short(text, 60));
}

/* The clock's pair on its way to the reference comes first: it is what bounds it. */
function choices(data, clock) {
	const towards = clock.json.path?.[clock.json.path.length - 2];
	return pairsOf(data, clock.name).sort((p, q) =>
		(peerOf(q, clock.name) === towards) - (peerOf(p, clock.name) === towards));
}

export class Corridor {
	constructor(data, changed) {
		this.data = data;
		this.changed = changed;
		this.clocks = data.clocks.filter((c) => pairsOf(data, c.name).length).sort((a, b) => byName(a.name, b.name));
		this.section = h('section', { id: 'corridor', 'aria-labelledby': 'corridor-h' });
		this.build();
		const first = this.clocks.find((c) => c.quality !== 'reference') ?? this.clocks[0];
		this.ready = () => this.choose(first.name);
	}

	build() {
		const button = (text, label, act) => h('button', { type: 'button', onclick: act, 'aria-label': label, title: label }, text);
		const toggle = (key, text) => h('label', null, h('input', { type: 'checkbox', checked: true,
			onchange: (e) => { this.plot.show[key] = e.target.checked; this.draw(); } }), ` ${text}`);
		this.clockBox = h('select', { id: 'clock', onchange: () => this.choose(this.clocks[this.clockBox.value].name) },
			this.clocks.map((c, i) => option(i, c.name)));
		this.peerBox = h('select', { id: 'peer', onchange: () => this.choose(this.self, this.peerBox.value) });
		this.yBox = h('select', { id: 'height', onchange: () => this.scale() },
			option('corridor', 'the corridor'), option('all', 'all messages'));
		this.baseBox = h('select', { id: 'base', onchange: () => this.scale() },
			option('estimate', 'less the estimate'), option('raw', 'as it is'));
		this.legend = h('ul', { class: 'legend' });
		this.paper = h('h3', { class: 'paper' });
		this.remark = h('p', { class: 'note' });
		this.yLabel = h('p', { class: 'axis' });
		this.xLabel = h('p', { class: 'axis end' });
		this.readout = h('p', { class: 'readout', 'aria-live': 'polite' });
		this.box = h('div', { class: 'plot', id: 'plot', tabindex: 0, role: 'application', 'aria-describedby': 'plot-keys',
			onkeydown: (e) => this.key(e) });
		this.numbers = h('details', { class: 'numbers', ontoggle: () => this.listNumbers() },
			h('summary', null, 'The numbers in this view'));
		this.section.append(
			h('h2', { id: 'corridor-h' }, 'How a clock ran'),
			h('p', { class: 'lead' }, 'No message was received before it was sent. So a message from the other clock (\u25b2) rules out all offsets below its point, and one to it (\u25bc) all above. The gap that remains is the corridor; the green band is what the clock model makes of it, and the true offset lies in it at every moment.'),
			h('div', { class: 'controls' },
				h('label', { for: 'clock' }, 'Clock ', this.clockBox), h('label', { for: 'peer' }, 'against ', this.peerBox),
				h('label', { for: 'base' }, 'Offset ', this.baseBox), h('label', { for: 'height' }, 'Height of ', this.yBox)),
			this.paper, this.legend, this.remark, this.yLabel, this.box, this.xLabel,
			h('div', { class: 'controls' },
				h('span', { class: 'buttons', role: 'group', 'aria-label': 'Zoom' },
					button('\u2212', 'Zoom out', () => this.zoom(ZOOM)), button('+', 'Zoom in', () => this.zoom(1 / ZOOM)),
					button('\u2190', 'Earlier', () => this.pan(-0.25)), button('\u2192', 'Later', () => this.pan(0.25)),
					button('Whole trace', 'Show the whole trace', () => this.reset())),
				toggle('band', 'band'), toggle('hull', 'hull'), toggle('out', 'outliers')),
			h('p', { class: 'hint', id: 'plot-keys' }, 'Drag over a part or turn the wheel to zoom; in the plot, the keys + \u2212 \u2190 \u2192 and Home, \u2191 \u2193 for its height.'),
			this.readout, this.numbers);
		this.plot = new Plot(this.box, { onZoom: (a, b) => this.window(a, b), onPoint: (x) => this.point(x) });
		this.wheel();
	}

	/* The wheel zooms where the pointer is, unless it is just scrolling the page past. */
	wheel() {
		let scrolled = -1e9;
		window.addEventListener('scroll', () => { scrolled = performance.now(); }, { passive: true });
		this.plot.u.over.addEventListener('wheel', (e) => {
			if (performance.now() - scrolled < 250 || !e.deltaY) {
				return;
			}
			e.preventDefault();
			const at = this.plot.u.posToVal(e.clientX - this.plot.u.over.getBoundingClientRect().left, 'x');
			const factor = Math.exp(Math.sign(e.deltaY) * Math.min(0.5, Math.abs(e.deltaY) / 300));
			this.zoom(factor, at);
		}, { passive: false });
	}

	choose(self, pairIndex) {
		this.self = self;
		const clock = this.data.clockOf.get(self);
		const pairs = choices(this.data, clock);
		const pair = pairs.find((p) => String(p.index) === String(pairIndex)) ?? pairs[0];
		this.clockBox.value = String(this.clocks.indexOf(clock));
		this.peerBox.replaceChildren(...pairs.map((p) => option(p.index, peerOf(p, self), p === pair)));
		this.view = viewOf(this.data, pair, self);
		this.describe();
		this.reset();
	}

	describe() {
		const { view } = this;
		const peer = short(view.peer.name, 30);
		this.paper.textContent = `${short(view.self.name, 30)} against ${peer}`;
		const item = (mark, kind, text) => h('li', null, h('span', { class: `mark ${kind}`, 'aria-hidden': 'true' }, mark), ` ${text}`);
		this.legend.replaceChildren(
			item('\u25b2', 'floor', `from ${peer}`), item('\u25bc', 'ceiling', `to ${peer}`),
			item('\u2501', 'line', this.lineIs()), item('\u25a0', 'band', 'band'),
			item('\u25cf', 'hull', 'hull'), item('\u2715', 'out', view.pair.contradicted ? 'contradict each other' : 'outliers'),
			...(view.self.disturbed.length ? [item('\u25a0', 'disturbed', 'disturbed: a step or slew; only the skew limit bounds the rate')] : []));
		const coarse = [view.self, view.peer].map((c) => Number(c.json.resolution_ns ?? 1)).reduce((a, b) => Math.max(a, b));
		const least = this.data.answer.model.min_delay;
		this.remark.textContent = [coarse > 1 ? `Stamps have a resolution of ${span(coarse).replace(/\.0+(?=\D)/, '')}: the band reaches that far past the points.` : '',
			least === '0' ? '' : `The band assumes a minimum delay of ${short(least, 60)}; the points are drawn without it.`].join(' ').trim();
		this.remark.hidden = !this.remark.textContent;
		this.box.setAttribute('aria-label', `Corridor of ${shown(view.self.name)} against ${shown(view.peer.name)}; its numbers follow as a table`);
	}

	/* What zero stands for: a clock with one bound has that, one without any a constant. */
	lineIs() {
		const { solid, self, peer } = this.view;
		const sides = { offset: 'estimate', lo: 'lower bound, as there is no upper one', hi: 'upper bound, as there is no lower one' };
		return solid ? (sides[self.side] ?? sides[peer.side]) : 'first message, as there is no estimate';
	}

	scale() {
		this.plot.raw = this.baseBox.value === 'raw';
		this.plot.all = this.yBox.value === 'all';
		this.plot.stretch = 1;
		this.draw();
	}

	reset() {
		const margin = (this.view.last - this.view.first) * 0.01;
		this.plot.stretch = 1;
		this.window(this.view.first - margin, this.view.last + margin);
	}

	/* No deeper than 20 ns, no wider than twice the trace. */
	window(from, to) {
		const { first, last } = this.view;
		const whole = last - first;
		const width = Math.min(Math.max(to - from, 20), Math.max(whole * 1.5, 40));
		const middle = Math.min(Math.max((from + to) / 2, first - whole * 0.1), last + whole * 0.1);
		this.from = middle - width / 2;
		this.to = middle + width / 2;
		this.draw();
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		this.window(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(part) {
		const by = (this.to - this.from) * part;
		this.window(this.from + by, this.to + by);
	}

	key(e) {
		if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		}
		const act = {
			'+': () => this.zoom(1 / ZOOM), '=': () => this.zoom(1 / ZOOM), '-': () => this.zoom(ZOOM),
			ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1), Home: () => this.reset(), 0: () => this.reset(),
			ArrowUp: () => { this.plot.stretch /= 1.5; this.draw(); }, ArrowDown: () => { this.plot.stretch *= 1.5; this.draw(); },
		}[e.key];
		if (act) {
			e.preventDefault();
			act();
		}
	}

	draw() {
		this.plot.set(this.view, this.from, this.to);
		const { plot, view } = this;
		this.yLabel.textContent = plot.raw
			? `${plot.yUnit.name} from ${span(BigInt(Math.round(plot.level)) + view.reference - view.origin)}, the offset at the first message`
			: `${plot.yUnit.name} from the ${this.lineIs()}`;
		this.xLabel.textContent = `${plot.time.unit.name} after ${plot.time.text} on ${short(view.self.name, 30)}`;
		clearTimeout(this.later);
		this.later = setTimeout(() => this.settled(), 120);
	}

	/* What costs more than a frame waits until the window rests. */
	settled() {
		this.later = null;
		this.point(null);
		this.listNumbers();
		this.changed();
	}

	counts() {
		return this.view.sides.map((s) => counted(s, this.from, this.to));
	}

	point(x) {
		if (x !== null) {
			this.readout.textContent = this.momentText(x);
			return;
		}
		const n = this.counts();
		const total = n.reduce((sum, c) => sum + c.total, 0), held = n.reduce((sum, c) => sum + c.held, 0);
		const missing = total > held ? `; the page holds ${count(held)} of them, all extremes included` : '';
		this.readout.textContent = `${span(this.to - this.from)} with ${count(total)} message${total === 1 ? '' : 's'}${missing}.`;
	}

	momentText(x) {
		const { self, origin } = this.view;
		const at = origin + BigInt(Math.round(x));
		const known = self.has('offset') && self.has('lo') && self.has('hi');
		if (!known || self.epochs.length > 1) {
			return instant(at);
		}
		const s = self.state(at);
		return `${instant(at)}: offset ${between(s.offset, s.lo, s.hi)}`;
	}

	listNumbers() {
		if (!this.numbers.open) {
			return;
		}
		const shownRows = this.counts().reduce((n, c) => n + c.held, 0) <= 60 ? this.messageRows() : this.sliceRows();
		this.numbers.replaceChildren(this.numbers.firstChild, table(shownRows));
	}

	messageRows() {
		const rows = [];
		for (const side of this.view.sides) {
			const until = lowerBound(side.x, this.to + 1);
			for (let i = lowerBound(side.x, this.from); i < until; i++) {
				rows.push({ x: side.x[i], cells: [instant(this.view.origin + BigInt(side.x[i])), side.floor ? '\u25b2 from' : '\u25bc to',
					span(this.view.solid ? (side.floor ? -side.y[i] : side.y[i]) : null), side.out[i] ? 'no, outlier' : ''] });
			}
		}
		rows.sort((a, b) => a.x - b.x);
		return { caption: 'Messages in this view', heading: ['Stamp', `${short(this.view.peer.name, 24)}`, 'Delay, corrected', 'Used'],
			right: [2], rows };
	}

	sliceRows() {
		const rows = [];
		const { self, origin, reference } = this.view;
		const maps = this.view.solid && self.has('offset') && self.has('lo') && self.has('hi')
			? ['offset', 'lo', 'hi'].map((side) => self.map(side, origin, reference)) : null;
		for (let k = 0; k < SLICES; k++) {
			const from = this.from + ((this.to - this.from) * k) / SLICES, to = this.from + ((this.to - this.from) * (k + 1)) / SLICES;
			const cell = (side, floor) => {
				const i = lowerBound(side.x, from), j = lowerBound(side.x, to);
				let best = null;
				for (let m = i; m < j; m++) {
					if (!side.out[m] && (best === null || (floor ? side.y[m] > best : side.y[m] < best))) {
						best = side.y[m];
					}
				}
				return best === null ? '-' : span(best);
			};
			const middle = Math.round((from + to) / 2);
			const theta = maps?.[0].offset(middle);
			rows.push([instant(origin + BigInt(Math.round(from))), cell(this.view.floor, true), maps ? span(maps[1].offset(middle) - theta) : '-',
				maps ? span(maps[2].offset(middle) - theta) : '-', cell(this.view.ceiling, false)]);
		}
		return { caption: 'The corridor in this view, from the estimate', right: [1, 2, 3, 4], rows,
			heading: ['From', 'Highest \u25b2', 'Band from', 'to', 'Lowest \u25bc'] };
	}
}
