// SPDX-License-Identifier: MIT
/*
 * mesh.js - who talked to whom, and how well each clock is known
 *
 * A row a clock, in the order of the paths to the reference; an arc a pair, the heavier the narrower its
 * band; a dot for the clock's best half width and a line to its worst, over decades. Rows stay readable with any number
 * of clocks, where a ball of edges does not.
 */
import { adopt } from './answer.js';
import { h, s, shown, short } from './dom.js';
import { bound, byName } from './format.js';

const ROW = 26, TOP = 30;

/* depth first from each reference along the paths, so that a clock stands near what ties it; those without a path last */
function inOrder(clocks) {
	const untied = (c) => !c.json.path?.length;
	const way = (c) => (untied(c) ? [c.name] : c.json.path);
	const along = (p, q) => {
		const i = p.findIndex((name, k) => name !== q[k]);
		return i < 0 || i >= q.length ? p.length - q.length : byName(p[i], q[i]);
	};
	return [...clocks].sort((a, b) => untied(a) - untied(b) || along(way(a), way(b)));
}

const widthOf = (clock, which = 'best') => {
	const w = clock.json.half_width_ns?.[which] ?? null;
	return w === null ? null : Number(w);
};

export class Mesh {
	constructor(data, corridor) {
		this.data = data;
		this.view = true;
		this.corridor = corridor;
		this.rows = inOrder(data.clocks);
		this.box = h('figure');
		this.section = h('section', { id: 'mesh', 'aria-labelledby': 'mesh-h' },
			h('h2', { id: 'mesh-h' }, 'Who exchanged messages, and how tightly that ties them'),
			h('p', { class: 'lead' }, 'An arc is a pair of clocks that exchanged messages: the thicker, the smaller the error bound between them; dashed if all messages went in one direction. The dot of a clock is its smallest error bound (\u00b1), the line ends at its largest; the scale is logarithmic.'),
			this.box, adopt('unskew-pairs', 'The pairs as a table'));
	}

	draw() {
		const width = Math.max(300, this.box.clientWidth || 900);
		const n = this.rows.length;
		const arcs = Math.min(width * 0.3, 30 + n * 9), names = Math.min(260, width * 0.32);
		const at = new Map(this.rows.map((c, i) => [c.name, TOP + i * ROW]));
		const left = arcs + names + 16, bars = width - left - 78;
		const known = this.rows.flatMap((c) => [widthOf(c), widthOf(c, 'worst')]).filter((w) => w > 0);
		const low = Math.floor(Math.log10(Math.min(...known, 1e9))), high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known, 1)) + 1e-9));
		const scale = (w) => ((Math.log10(Math.max(w, 10 ** low)) - low) / (high - low)) * bars;
		const root = s('svg', { viewBox: `0 0 ${width} ${TOP + n * ROW}`, role: 'img',
			'aria-label': `Graph of ${n} clocks and ${this.data.answer.pairs.length} pairs; the table of clocks above says the same in numbers` });
		const every = Math.max(1, Math.ceil((58 * (high - low)) / bars));
		for (let e = low; known.length && e <= high; e += every) {
			const x = left + scale(10 ** e);
			root.append(s('line', { class: 'rule', x1: x, x2: x, y1: TOP - 12, y2: TOP + n * ROW - 10 }),
				s('text', { class: 'quiet', x, y: 10, 'text-anchor': 'middle' }, bound(10 ** e).replace(/\.0+/, '')));
		}
		this.arcs(root, at, arcs);
		this.rows.forEach((c) => this.row(root, c, at.get(c.name), { arcs, names, left, scale }));
		this.box.replaceChildren(root);
	}

	arcs(root, at, room) {
		const { pairs } = this.data.answer;
		const tree = new Set(this.rows.map((c) => (c.json.path ?? []).slice(-2).join('\u0000')));
		const widths = pairs.map((p) => (p.half_width_ns ? Number(p.half_width_ns) : NaN)).filter((w) => w > 0);
		const best = Math.log10(Math.min(...widths)), spread = Math.max(1, Math.log10(Math.max(...widths)) - best);
		/* Many arcs are drawn finer, so that they do not close to a blot. */
		const pen = Math.min(1, 4 / Math.sqrt(pairs.length));
		for (const p of pairs) {
			const a = at.get(p.a), b = at.get(p.b);
			if (a === undefined || b === undefined || !(p.a_to_b + p.b_to_a)) {
				continue;
			}
			const w = Number(p.half_width_ns ?? NaN);
			const on = tree.has(`${p.a}\u0000${p.b}`) || tree.has(`${p.b}\u0000${p.a}`);
			const both = p.a_to_b && p.b_to_a;
			const reach = 8 + (room - 20) * Math.min(1, Math.abs(a - b) / (ROW * Math.max(1, this.rows.length - 1))) ** 0.6;
			root.append(s('path', { class: 'arc', fill: 'none', stroke: on ? 'var(--ink)' : 'var(--muted)', 'stroke-opacity': on ? 0.85 : 0.3,
				'stroke-width': (pen * (w > 0 ? 3 - 2 * ((Math.log10(w) - best) / spread) : 1)).toFixed(2), 'stroke-dasharray': both ? null : '4 3',
				d: `M${room} ${a}C${room - reach * 1.3} ${a} ${room - reach * 1.3} ${b} ${room} ${b}` },
			s('title', null, `${short(p.a, 60)} \u2013 ${short(p.b, 60)}: ${p.half_width_ns ? `\u00b1${bound(p.half_width_ns)}` : p.quality}`)));
		}
	}

	row(root, clock, y, { arcs, names, left, scale }) {
		const w = widthOf(clock);
		const letters = Math.max(8, Math.floor(names / 8));
		root.append(s('circle', { cx: arcs, cy: y, r: clock.quality === 'reference' ? 5.5 : 3.5, fill: 'var(--ink)' }),
			s('text', { x: arcs + 12, y: y + 4.5 }, short(clock.name, letters), s('title', null, shown(clock.name))));
		const text = clock.quality === 'reference' ? 'reference' : w === null || clock.quality !== 'bounded' ? clock.quality : `\u00b1${bound(w)}`;
		const known = clock.quality === 'bounded' && w > 0;
		let x = left;
		if (known) {
			const { worst } = clock.json.half_width_ns;
			x = left + scale(w);
			const end = Math.max(x, left + scale(Number(worst ?? w)));
			root.append(s('line', { x1: x, x2: end, y1: y, y2: y, stroke: 'var(--band-solid)', 'stroke-width': 3 }),
				s('circle', { cx: x, cy: y, r: 5, fill: 'var(--band-solid)' }));
			x = end + 12;
		}
		root.append(s('text', { class: 'quiet', x, y: y + 4.5 }, text));
	}
}
