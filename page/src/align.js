// SPDX-License-Identifier: MIT
/*
 * align.js - set the clock by hand and watch the inversions (Kuenning's way)
 *
 * In    the corridor's view: what offset each message allows
 * Out   one host's line that is dragged against the other's, and how many messages then break causality
 * Why   for teaching, and for doubt: no line does better than the estimate's corridor allows
 */
import { h, s, shown, short } from './dom.js';
import { count, percent, span, spanAmong } from './format.js';
import { diagram, spread } from './sequence.js';

const SHOWN = 24;

export class Align {
	constructor(data, corridor) {
		this.corridor = corridor;
		const button = (text, act) => h('button', { type: 'button', onclick: act }, text);
		this.offset = h('input', { type: 'range', id: 'hand-offset', min: -1000, max: 1000, step: 1, oninput: () => this.slide() });
		this.drift = h('input', { type: 'range', id: 'hand-drift', min: -1000, max: 1000, step: 1, oninput: () => this.slide() });
		this.offsetOut = h('output', { for: 'hand-offset' });
		this.driftOut = h('output', { for: 'hand-drift' });
		this.broken = h('p', { class: 'count', 'aria-live': 'polite', id: 'hand-count' });
		this.detail = h('p', { class: 'lead' });
		this.box = h('figure');
		this.section = h('section', { id: 'align', 'aria-labelledby': 'align-h' },
			h('h2', { id: 'align-h' }, 'By hand'),
			h('p', { class: 'lead' }, 'Move the right line by dragging or with the sliders. The count shows how many messages would then have been received before they were sent; only a line inside the corridor has none.'),
			h('div', { class: 'controls' }, button('One offset, no drift', () => this.start(false)), button('The estimate', () => this.start(true))),
			h('div', { class: 'two' },
				h('div', null,
					h('label', { for: 'hand-offset' }, 'Offset in the middle of the window: ', this.offsetOut), this.offset,
					h('label', { for: 'hand-drift' }, 'Drift: ', this.driftOut), this.drift, this.broken, this.detail),
				this.box));
	}

	follow() {
		const { view } = this.corridor;
		const moved = this.from !== this.corridor.from || this.to !== this.corridor.to;
		this.section.hidden = !view.solid || view.self.epochs.length > 1 || view.pair.corridor;
		if (this.section.hidden) {
			this.view = null;
		} else if (this.view !== view || moved) {
			this.view = view;
			this.from = this.corridor.from;
			this.to = this.corridor.to;
			this.prepare();
			this.start(false);
		}
	}

	/* What each message allows: offset less the estimate's in the middle of the window. */
	prepare() {
		const { view } = this;
		const map = view.self.map(view.self.side, view.origin, view.reference);
		this.middle = Math.round((Math.max(this.from, view.first) + Math.min(this.to, view.last)) / 2);
		const level = map.offset(this.middle);
		this.level = view.self.state(view.origin + BigInt(this.middle)).offset ?? 0n;
		this.points = view.sides.map((side) => ({ floor: side.floor, x: side.x, out: side.out,
			y: side.y.map((y, i) => y + map.offset(side.x[i]) - level) }));
		const near = view.sides.flatMap((side) => Array.from(side.y.filter((_, i) => i % (1 + Math.floor(side.n / 2000)) === 0), Math.abs));
		near.sort((a, b) => a - b);
		this.typical = Math.max(100, near[Math.floor(near.length / 2)] ?? 100);
		const width = Math.max(1, view.last - view.first);
		this.slope = (map.offset(view.last) - map.offset(view.first)) / width;
		this.steep = Math.max(Math.abs(this.slope) * 2, (20 * this.typical) / width);
		this.reach = Math.max(5 * this.typical, Math.abs(this.slope) * width);
		const { picked, of } = spread(view, this.from, this.to, SHOWN);
		this.picked = picked;
		this.of = of;
	}

	start(asEstimate) {
		this.offset.value = 0;
		this.drift.value = asEstimate ? Math.round((this.slope / this.steep) * 1000) : 0;
		this.exact = asEstimate;
		this.draw();
	}

	slide() {
		this.exact = false;
		this.draw();
	}

	line() {
		const shift = (this.offset.value / 1000) * this.reach, slope = (this.drift.value / 1000) * this.steep;
		return (x) => shift + slope * (x - this.middle);
	}

	/* messages, among those held, that this line turns round */
	inversions(line) {
		let broken = 0, of = 0, worst = 0;
		for (const p of this.points) {
			for (let i = 0; i < p.x.length; i++) {
				if (p.out[i]) {
					continue;
				}
				of++;
				const delay = p.floor ? line(p.x[i]) - p.y[i] : p.y[i] - line(p.x[i]);
				if (delay < 0) {
					broken++;
					worst = Math.min(worst, delay);
				}
			}
		}
		return { broken, of, worst };
	}

	draw() {
		const line = this.exact ? this.estimateLine() : this.line();
		const { broken, of, worst } = this.inversions(line);
		this.state = { broken, of };
		const slope = this.exact ? this.slope : (this.drift.value / 1000) * this.steep;
		this.offsetOut.textContent = spanAmong(this.level + BigInt(Math.round(line(this.middle))), this.reach / 10);
		this.driftOut.textContent = `${(-slope * 1e6).toPrecision(3).replace('-', '\u2212')} ppm`;
		this.offset.setAttribute('aria-valuetext', this.offsetOut.textContent);
		this.drift.setAttribute('aria-valuetext', this.driftOut.textContent);
		this.broken.textContent = `${count(broken)} of ${count(of)} received before sent`;
		this.detail.textContent = broken ? `${percent(broken, of)} of the messages that the page holds, over the whole trace; the worst by ${span(-worst)}.` : 'With this line no message on this page is received before it was sent.';
		this.picture(line);
	}

	estimateLine() {
		const map = this.view.self.map(this.view.self.side, this.view.origin, this.view.reference);
		const level = map.offset(this.middle);
		return (x) => map.offset(x) - level;
	}

	picture(line) {
		const { view } = this;
		const place = (m) => this.points[view.sides.indexOf(m.side)].y[m.i];
		/* Equal steps down the page: what is seen is order, not the time between messages. */
		const step = this.typical * 4;
		const arrows = this.picked.map((m, k) => {
			const delay = m.side.floor ? line(m.at) - place(m) : place(m) - line(m.at);
			const [from, to] = m.side.floor ? [0, 1] : [1, 0];
			return { from, to, floor: m.side.floor, t0: k * step, t1: k * step + delay };
		});
		const width = Math.max(290, this.box.clientWidth || 420);
		const n = arrows.length;
		const title = `${n} messages with ${short(view.self.name, 20)} set by hand`;
		const { root, scale } = diagram({ arrows, hosts: [view.peer.name, view.self.name], width, height: 440, title,
			range: [-2 * step, (Math.max(1, n) + 1) * step], clip: true });
		this.scale = scale;
		const grip = s('rect', { class: 'grip', x: width - 104, y: 0, width: 60, height: 440, fill: 'transparent' }, s('title', null, `Drag ${shown(view.self.name)}`));
		grip.addEventListener('pointerdown', (e) => this.drag(e));
		root.append(grip);
		this.box.replaceChildren(root, h('figcaption', null, `${count(n)} of ${count(this.of)} messages in the window, drawn at equal distances; the slope of an arrow is its delay.`));
	}

	drag(e) {
		e.preventDefault();
		const from = e.clientY, began = Number(this.offset.value);
		const move = (to) => {
			this.offset.value = began + ((to.clientY - from) * this.scale * 1000) / this.reach;
			this.slide();
		};
		const end = () => {
			window.removeEventListener('pointermove', move);
			window.removeEventListener('pointerup', end);
			window.removeEventListener('pointercancel', end);
		};
		window.addEventListener('pointermove', move);
		window.addEventListener('pointerup', end);
		window.addEventListener('pointercancel', end);
	}
}
