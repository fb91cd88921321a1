// SPDX-License-Identifier: MIT
/*
 * sequence.js - messages as arrows between host lines, time running down
 *
 * `diagram` draws arrows whose ends are given; the section shows those of the corridor's window as
 * recorded and as corrected, each on its own scale of time; of the chosen pair, or of all clocks.
 */
import { h, s, short, shown, table } from './dom.js';
import { count, instant, span } from './format.js';
import { STEPS, label, ticks, unitFor } from './axis.js';
import { apart, lowerBound, viewOf } from './data.js';

const MOST = 24, HOSTS = 6, LINES = 200;
const TOP = 44, FOOT = 16;

/* Messages of a view in [from, to] of its clock */
function inside(view, from, to) {
	const found = [];
	for (const side of view.sides) {
		const until = lowerBound(side.x, to + 1);
		for (let i = lowerBound(side.x, from); i < until; i++) {
			if (!side.out[i] && !Number.isNaN(side.y[i])) {
				found.push({ view, side, i, at: side.x[i] });
			}
		}
	}
	return found.sort((a, b) => a.at - b.at);
}

/* Some messages of a window, evenly spread over it */
export function spread(view, from, to, most) {
	const found = inside(view, from, to), of = found.length;
	return { of, picked: of <= most ? found : Array.from({ length: most }, (_, k) => found[Math.floor((k * (of - 1)) / (most - 1))]) };
}

/* Those nearest to a moment, by how many come before and after it */
function around(found, at, most) {
	const next = found.findIndex((m) => m.at >= at);
	const first = Math.max(0, Math.min(found.length - most, (next < 0 ? found.length : next) - (most >> 1)));
	return found.slice(first, first + most);
}

/* Would more than half of them be drawn over their neighbours? */
function crowded(messages) {
	const span = messages.length ? messages[messages.length - 1].at - messages[0].at : 0;
	const close = messages.filter((m, i) => i && m.at - messages[i - 1].at < span / LINES).length;
	return close > messages.length / 2;
}

/* Of equal shares of the time one each, in either direction by turns. */
function evenly(found, most) {
	const first = found[0].at, share = (found[found.length - 1].at - first) / most || 1;
	const slots = [];
	for (const m of found) {
		const slot = Math.min(most - 1, Math.floor((m.at - first) / share));
		(slots[slot] ??= []).push(m);
	}
	return slots.filter(Boolean).reduce((picked, of) => {
		const last = picked[picked.length - 1]?.side;
		return [...picked, of.find((m) => m.side !== last) ?? of[0]];
	}, []);
}

/* The same moment on the reference's time, less `reference`: for every pair that has estimates. */
function insideAll(data, view, from, to) {
	const map = view.self.map(view.self.side, view.origin, view.reference);
	const lo = map.at(from), hi = map.at(to);
	const found = [];
	for (const pair of data.pairs) {
		const other = viewOf(data, pair, pair.b);
		const shift = other.solid && !pair.corridor ? apart(other.reference, view.reference) : null;
		for (const side of shift === null ? [] : other.sides) {
			for (let i = 0; i < side.n; i++) {
				const at = side.own[i] + shift;
				if (at >= lo && at <= hi && !side.out[i]) {
					found.push({ view: other, side, i, at, shift });
				}
			}
		}
	}
	return found.sort((a, b) => a.at - b.at);
}

/* The order of host lines in which arrows cross the fewest others; few hosts, so all orders are tried. */
function lineUp(hosts, messages) {
	const weight = new Map();
	for (const { view } of messages) {
		const key = [hosts.indexOf(view.self.name), hosts.indexOf(view.peer.name)].sort().join();
		weight.set(key, (weight.get(key) ?? 0) + 1);
	}
	let best = null, least = Infinity;
	const place = (order, rest) => {
		if (!rest.length) {
			let cost = 0;
			for (const [key, n] of weight) {
				const [a, b] = key.split(',').map((k) => order.indexOf(Number(k)));
				cost += n * Math.abs(a - b);
			}
			if (cost < least) {
				[best, least] = [order, cost];
			}
		}
		rest.forEach((k) => place([...order, k], rest.filter((one) => one !== k)));
	};
	place([], hosts.map((_, k) => k));
	return best.map((k) => hosts[k]);
}

/* arrows: { from, to, floor, t0, t1 }: indices of hosts, ns from any origin */
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
	const lines = hosts.map((_, k) => left + ((right - left) * k) / (hosts.length - 1));
	const letters = Math.min(17, Math.floor((right - left) / (hosts.length - 1) / 8.5));
	lines.forEach((x, k) => root.append(
		s('line', { class: 'host', x1: x, x2: x, y1: TOP - 8, y2: height - FOOT + 8 }),
		s('text', { x, y: 16, 'text-anchor': 'middle' }, short(hosts[k], letters), s('title', null, shown(hosts[k])))));
	/* A nested drawing cuts off what leaves it. */
	const inner = clip ? s('svg', { x: 0, y: TOP - 8, width, height: height - TOP - FOOT + 16, viewBox: `0 ${TOP - 8} ${width} ${height - TOP - FOOT + 16}`, class: 'cut' }) : root;
	for (const a of arrows) {
		inner.append(arrow(a, [lines[a.from], lines[a.to]], Y));
	}
	if (clip) {
		root.append(inner);
	}
	return { root, Y, room, scale: room / (height - TOP - FOOT) };
}

function arrow({ floor, t0, t1 }, [x0, x1], Y) {
	const back = t1 < t0;
	const y0 = Y(t0), y1 = Y(t1), length = Math.hypot(x1 - x0, y1 - y0) || 1;
	const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
	const tip = `M${x1} ${y1}l${(-9 * ux - 4 * uy).toFixed(1)} ${(-9 * uy + 4 * ux).toFixed(1)}l${(8 * uy).toFixed(1)} ${(-8 * ux).toFixed(1)}Z`;
	const kind = floor ? 'floor' : 'ceiling';
	return s('g', { 'data-back': back ? 1 : null },
		s('path', { class: `${kind} arrow${back ? ' back' : ''}`, d: `M${x0} ${y0.toFixed(1)}L${x1} ${y1.toFixed(1)}` }),
		s('path', { class: kind, d: tip }));
}

/* Sender, receiver and stamps of a message, exactly as recorded */
function recorded({ view, side, i }) {
	const k = side.index ? side.index[i] : i;
	const d = side.direction;
	const [from, to] = side.floor ? [view.peer, view.self] : [view.self, view.peer];
	const [start, end] = side.floor ? [view.peerOrigin, view.origin] : [view.origin, view.peerOrigin];
	return { from: from.name, to: to.name, sent: start + BigInt(d.sent[k]), received: end + BigInt(d.received[k]) };
}

/* On the reference's time, as a number */
function corrected({ side, i, shift = 0 }) {
	const own = side.own[i] + shift, other = own + side.y[i];
	return side.floor ? { t0: other, t1: own } : { t0: own, t1: other };
}

const delayOf = ({ side, i }) => (side.floor ? -side.y[i] : side.y[i]);

export class Sequence {
	constructor(data, corridor) {
		this.data = data;
		this.corridor = corridor;
		this.lead = h('p', { class: 'lead' });
		this.box = h('div', { class: 'two' });
		this.all = h('input', { type: 'checkbox', checked: true, onchange: () => this.draw() });
		this.choice = h('div', { class: 'controls' }, h('label', null, this.all, ' all clocks'));
		this.numbers = h('details', { class: 'numbers', ontoggle: () => this.list() }, h('summary', null, 'These messages as a table'));
		this.section = h('section', { id: 'messages', 'aria-labelledby': 'messages-h' },
			h('h2', { id: 'messages-h' }, 'Messages'), this.lead, this.choice, this.box, this.numbers);
	}

	follow() {
		this.view = this.corridor.view;
		this.section.hidden = this.view.pair.corridor;
		this.draw();
	}

	/* Messages of the window's middle, or of all of it where they come in bursts, and their hosts */
	choose() {
		const { view, corridor, data } = this;
		const many = view.solid && view.self.epochs.length < 2 && data.pairs.length > 1;
		this.choice.hidden = !many;
		const everyone = many && this.all.checked;
		const found = everyone ? insideAll(data, view, corridor.from, corridor.to) : inside(view, corridor.from, corridor.to);
		const map = everyone ? view.self.map(view.self.side, view.origin, view.reference) : null;
		const middle = (corridor.from + corridor.to) / 2, at = map ? map.at(middle) : middle;
		const most = everyone ? MOST * 2 : MOST;
		this.even = found.length > most && crowded(around(found, at, most));
		const some = (messages, n) => (this.even && messages.length ? evenly(messages, n) : around(messages, at, n));
		const near = some(found, most);
		const busy = new Map(everyone ? [[view.self.name, 1e9], [view.peer.name, 1e9]] : []);
		for (const { view: v } of near) {
			for (const c of [v.self.name, v.peer.name]) {
				busy.set(c, (busy.get(c) ?? 0) + 1);
			}
		}
		const hosts = [...busy.keys()].sort((a, b) => busy.get(b) - busy.get(a) || (a < b ? -1 : 1)).slice(0, HOSTS);
		/* Among many clocks few messages are between the same six: others of theirs, from further away. */
		const theirs = ({ view: v }) => hosts.includes(v.self.name) && hosts.includes(v.peer.name);
		this.picked = busy.size > hosts.length ? some(found.filter(theirs), MOST) : near;
		this.hosts = everyone ? lineUp([...hosts].sort(), this.picked) : [view.peer.name, view.self.name];
		this.left = busy.size - hosts.length;
		return everyone ? found.length : Math.max(found.length, corridor.counts().reduce((n, c) => n + c.total, 0));
	}

	draw() {
		const of = this.choose();
		const n = this.picked.length;
		const thin = !this.choice.hidden && this.all.checked && this.data.pairs.some((p) => p.directions.some((d) => d.standsFor));
		this.lead.textContent = n
			? `${count(n)} of the ${count(of)} messages${thin ? ' that the page holds' : ''} in the window chosen above${of > n ? (this.even ? ', spread evenly over it' : ', those at its middle') : ''}${this.left > 0 ? `, between ${HOSTS} of the clocks` : ''}; time runs down. Dashed: received before sent.`
			: 'No message lies in the window chosen above.';
		this.box.replaceChildren(...(n ? [this.panel('recorded'), this.panel('corrected')] : []));
		this.list();
	}

	panel(state) {
		const { view } = this;
		if (state === 'corrected' && !view.solid) {
			return h('figure', null, h('h3', null, 'As corrected'), h('p', { class: 'lead' }, 'Not every clock of this pair has an estimate.'));
		}
		const stamps = this.picked.map(recorded);
		const least = stamps.reduce((min, r) => [min, r.sent, r.received].reduce((a, b) => (b < a ? b : a)), stamps[0].sent);
		const ends = state === 'recorded'
			? stamps.map((r) => ({ t0: Number(r.sent - least), t1: Number(r.received - least) }))
			: this.picked.map(corrected);
		const lo = ends.reduce((min, e) => Math.min(min, e.t0, e.t1), Infinity);
		const back = this.picked.filter((m, k) => (state === 'recorded' ? stamps[k].received < stamps[k].sent : delayOf(m) < 0)).length;
		const arrows = ends.map((e, k) => ({ ...e, floor: this.hosts.indexOf(stamps[k].from) < this.hosts.indexOf(stamps[k].to),
			from: this.hosts.indexOf(stamps[k].from), to: this.hosts.indexOf(stamps[k].to) }));
		const whole = this.section.clientWidth || 900;
		const width = Math.max(290, whole > 744 ? (whole - 40) / 2 : whole);
		const title = `As ${state}: ${back} of ${arrows.length} received before sent`;
		const { root } = diagram({ arrows, hosts: this.hosts, width, height: 420, title, base: lo });
		const origin = state === 'recorded' ? least : view.reference + BigInt(lo);
		return h('figure', null, h('h3', null, title), root, h('figcaption', null, `from ${instant(origin)}${state === 'corrected' ? ' of the reference' : ''}`));
	}

	list() {
		if (!this.numbers.open) {
			return;
		}
		const rows = this.picked.map((m) => {
			const r = recorded(m);
			return [`${short(r.from, 20)} \u2192 ${short(r.to, 20)}`, instant(r.sent), instant(r.received), span(r.received - r.sent), this.view.solid ? span(delayOf(m)) : '-'];
		});
		this.numbers.replaceChildren(this.numbers.firstChild, table({ caption: 'Messages shown', rows, right: [3, 4],
			heading: ['Direction', 'Sent, sender\u2019s clock', 'Received, receiver\u2019s clock', 'Delay, recorded', 'Delay, corrected'] }));
	}
}
