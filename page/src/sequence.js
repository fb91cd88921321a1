// SPDX-License-Identifier: MIT
/*
 * sequence.js - messages as arrows between two host lines, time running down
 *
 * `diagram` draws arrows whose ends are given; the section shows those of the corridor's window as
 * recorded and as corrected, each on its own scale of time.
 */
import { h, s, short, table } from './dom.js';
import { count, instant, span } from './format.js';
import { STEPS, label, ticks, unitFor } from './axis.js';
import { lowerBound } from './data.js';

export const MOST = 24;
const TOP = 44, FOOT = 16;

/* Messages of a window, both ways, in order of time; of too many, those in the middle or evenly spread. */
export function sample(view, from, to, most = MOST, spread = false) {
	const found = [];
	for (const side of view.sides) {
		const until = lowerBound(side.x, to + 1);
		for (let i = lowerBound(side.x, from); i < until; i++) {
			if (!side.out[i]) {
				found.push({ side, i, x: side.x[i] });
			}
		}
	}
	found.sort((a, b) => a.x - b.x);
	const of = found.length;
	if (of <= most) {
		return { picked: found, of };
	}
	if (spread) {
		return { picked: Array.from({ length: most }, (_, k) => found[Math.floor((k * (of - 1)) / (most - 1))]), of };
	}
	const middle = Math.min(of - most, Math.max(0, found.findIndex((m) => m.x >= (from + to) / 2) - (most >> 1)));
	return { picked: found.slice(middle, middle + most), of };
}

/* arrows: { from: 0|1, t0, t1 } in ns from any origin; hosts: two names */
export function diagram({ arrows, hosts, width, height, title, base = 0, range, clip = false }) {
	const lo = range ? range[0] : Math.min(...arrows.flatMap((a) => [a.t0, a.t1])), hi = range ? range[1] : Math.max(...arrows.flatMap((a) => [a.t0, a.t1]));
	const room = Math.max(1, hi - lo);
	const left = 74, right = width - 74;
	const Y = (t) => TOP + ((t - lo) / room) * (height - TOP - FOOT);
	const root = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
	const unit = unitFor(room), gap = STEPS.find((g) => room / g <= 7) ?? room;
	for (const t of ticks(base, lo, hi, gap)) {
		root.append(s('line', { class: 'grid', x1: left, x2: right, y1: Y(t), y2: Y(t) }),
			s('text', { class: 'quiet', x: left - 10, y: Y(t) + 4, 'text-anchor': 'end' }, `${label(t - base, unit, gap)}`));
	}
	root.append(s('text', { class: 'quiet', x: left - 10, y: TOP - 14, 'text-anchor': 'end' }, unit.name));
	[left, right].forEach((x, k) => root.append(
		s('line', { class: 'host', x1: x, x2: x, y1: TOP - 8, y2: height - FOOT + 8 }),
		s('text', { x, y: 16, 'text-anchor': 'middle' }, short(hosts[k], 17))));
	/* A nested drawing cuts off what leaves it. */
	const inner = clip ? s('svg', { x: 0, y: TOP - 8, width, height: height - TOP - FOOT + 16, viewBox: `0 ${TOP - 8} ${width} ${height - TOP - FOOT + 16}`, class: 'cut' }) : root;
	for (const a of arrows) {
		inner.append(arrow(a, a.from ? [right, left] : [left, right], Y));
	}
	if (clip) {
		root.append(inner);
	}
	return { root, Y, room, scale: room / (height - TOP - FOOT) };
}

function arrow({ from, t0, t1 }, [x0, x1], Y) {
	const back = t1 < t0;
	const y0 = Y(t0), y1 = Y(t1), length = Math.hypot(x1 - x0, y1 - y0) || 1;
	const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
	const tip = `M${x1} ${y1}l${(-9 * ux - 4 * uy).toFixed(1)} ${(-9 * uy + 4 * ux).toFixed(1)}l${(8 * uy).toFixed(1)} ${(-8 * ux).toFixed(1)}Z`;
	const kind = from ? 'ceiling' : 'floor';
	return s('g', { 'data-back': back ? 1 : null },
		s('path', { class: `${kind} arrow${back ? ' back' : ''}`, style: null, d: `M${x0} ${y0.toFixed(1)}L${x1} ${y1.toFixed(1)}` }),
		s('path', { class: kind, d: tip }));
}

/* Stamps of a message as recorded, in ns from the peer's origin; host 0 is the peer. */
function recorded(view, { side, i }) {
	const k = side.index ? side.index[i] : i;
	const d = side.direction;
	const gap = Number(view.origin - view.peerOrigin);
	return side.floor ? { from: 0, t0: d.sent[k], t1: d.received[k] + gap } : { from: 1, t0: d.sent[k] + gap, t1: d.received[k] };
}

/* On the reference's time, from the view's origin there. */
function corrected({ side, i }) {
	const own = side.own[i], other = own + side.y[i];
	return side.floor ? { from: 0, t0: other, t1: own } : { from: 1, t0: own, t1: other };
}

export class Sequence {
	constructor(data, corridor) {
		this.corridor = corridor;
		this.lead = h('p', { class: 'lead' });
		this.box = h('div', { class: 'two' });
		this.numbers = h('details', { class: 'numbers', ontoggle: () => this.list() }, h('summary', null, 'These messages as a table'));
		this.section = h('section', { id: 'messages', 'aria-labelledby': 'messages-h' },
			h('h2', { id: 'messages-h' }, 'Messages'), this.lead, this.box, this.numbers);
	}

	follow() {
		this.view = this.corridor.view;
		this.section.hidden = this.view.pair.corridor;
		this.draw();
	}

	draw() {
		const { view, corridor } = this;
		const { picked, of } = sample(view, corridor.from, corridor.to);
		this.picked = picked;
		const total = corridor.counts().reduce((n, c) => n + c.total, 0);
		this.lead.textContent = picked.length
			? `${count(picked.length)} of the ${count(Math.max(total, of))} messages in the window chosen above${of > picked.length ? ', those at its middle' : ''}; time runs down. Dashed: received before it was sent.`
			: 'No message lies in the window chosen above.';
		this.box.replaceChildren(...(picked.length ? ['recorded', 'corrected'].map((state) => this.panel(state)) : []));
		this.list();
	}

	panel(state) {
		const { view } = this;
		if (state === 'corrected' && !view.solid) {
			return h('figure', null, h('h3', null, 'As corrected'), h('p', { class: 'lead' }, 'Not every clock of this pair has an estimate.'));
		}
		const arrows = this.picked.map((m) => (state === 'recorded' ? recorded(view, m) : corrected(m)));
		const lo = Math.min(...arrows.flatMap((a) => [a.t0, a.t1]));
		const back = arrows.filter((a) => a.t1 < a.t0).length;
		const whole = this.section.clientWidth || 900;
		const width = Math.max(290, whole > 744 ? (whole - 40) / 2 : whole);
		const title = `As ${state}: ${back} of ${arrows.length} received before sent`;
		const { root } = diagram({ arrows, hosts: [view.peer.name, view.self.name], width, height: 420, title, base: lo });
		const origin = (state === 'recorded' ? view.peerOrigin : view.reference) + BigInt(lo);
		return h('figure', null, h('h3', null, title), root, h('figcaption', null, `from ${instant(origin)}${state === 'corrected' ? ' of the reference' : ''}`));
	}

	list() {
		if (!this.numbers.open) {
			return;
		}
		const { view } = this;
		const rows = this.picked.map((m) => {
			const r = recorded(view, m);
			const names = [view.peer.name, view.self.name].map((n) => short(n, 20));
			const delay = m.side.floor ? -m.side.y[m.i] : m.side.y[m.i];
			return [`${names[r.from]} \u2192 ${names[1 - r.from]}`, instant(view.peerOrigin + BigInt(r.t0)), instant(view.peerOrigin + BigInt(r.t1)),
				span(r.t1 - r.t0), view.solid ? span(delay) : '-'];
		});
		this.numbers.replaceChildren(this.numbers.firstChild, table({ caption: 'Messages shown', rows, right: [3, 4],
			heading: ['Direction', 'Sent, sender\u2019s clock', 'Received, receiver\u2019s clock', 'Delay, recorded', 'Delay, corrected'] }));
	}
}
