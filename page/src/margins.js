// SPDX-License-Identifier: MIT
/*
 * margins.js - half of what each exchange's messages took, over time, those that a filter takes out marked
 *
 * In    the pair's exchanges in compare's JSON: T1, E, and the level at which it is kept
 * Out   Clement's figure 2 and, as a table, what the lines through exchanges say of themselves
 */
import { h, s, short, table } from './dom.js';
import { count, span } from './format.js';
import { STEPS, label, ticks, unitFor } from './axis.js';
import { apart, big } from './exact.js';

const HEIGHT = 220, FOOT = 36, LEFT = 56;
const LEVELS = [90, 95, 99];

function picture(rows, level, width, title) {
	const last = Math.max(...rows.map((r) => r.x), 1);
	const high = 1.05 * Math.max(...rows.map((r) => r.e), 1), low = Math.min(0, ...rows.map((r) => r.e));
	const X = (x) => LEFT + (x / last) * (width - LEFT - 8), Y = (e) => HEIGHT - ((e - low) / (high - low)) * (HEIGHT - 8);
	const root = s('svg', { viewBox: `0 0 ${width} ${HEIGHT + FOOT}`, role: 'img', 'aria-label': title });
	const gapX = STEPS.find((g) => last / g <= width / 90) ?? last, unitX = unitFor(last, true);
	const gapY = STEPS.find((g) => (high - low) / g <= 6) ?? high - low, unitY = unitFor(high);
	for (const v of ticks(0, low, high, gapY)) {
		root.append(s('line', { class: 'rule', x1: LEFT, x2: width, y1: Y(v), y2: Y(v) }),
			s('text', { class: 'quiet', x: LEFT - 6, y: Y(v) + 4, 'text-anchor': 'end' }, label(v, unitY, gapY)));
	}
	for (const v of ticks(0, 0, last, gapX)) {
		root.append(s('text', { class: 'quiet', x: X(v), y: HEIGHT + 19, 'text-anchor': 'middle' }, label(v, unitX, gapX)));
	}
	for (const r of rows) {
		const kept = r.level <= level;
		root.append(s('circle', { cx: X(r.x).toFixed(1), cy: Y(r.e).toFixed(1), r: kept ? 1.8 : 3, class: kept ? 'kept' : 'filtered' }));
	}
	return { root, axis: `Across: ${unitX.name} since the first exchange. Up: margin, ${unitY.name}.` };
}

export class Margins {
	constructor(data, corridor) {
		this.pairs = data.json.compare?.pairs ?? [];
		this.corridor = corridor;
		this.level = 90;
		this.choice = h('select', { id: 'margins-level', onchange: () => {
			this.level = Number(this.choice.value);
			this.draw();
		} }, LEVELS.map((l) => h('option', { value: l }, `${l} %`)));
		this.box = h('figure');
		this.numbers = h('div');
		this.lead = h('p', { class: 'lead' });
		this.section = h('section', { id: 'margins', 'aria-labelledby': 'margins-h' },
			h('h2', { id: 'margins-h' }, 'Exchanges'), this.lead,
			h('div', { class: 'controls' }, h('label', { for: 'margins-level' }, 'Kept at', this.choice)), this.box, this.numbers);
	}

	follow() {
		if (this.view !== this.corridor.view) {
			this.view = this.corridor.view;
			this.draw();
		}
	}

	draw() {
		const { a, b } = this.view.pair;
		const pair = this.pairs.find((p) => p.a === a && p.b === b);
		const said = pair?.exchanges;
		this.section.hidden = !said?.margins.length;
		if (this.section.hidden) {
			return;
		}
		const first = big(said.margins[0][0]);
		const rows = said.margins.map(([t, e, level]) => ({ x: apart(big(t), first), e, level })).filter((r) => r.x !== null);
		const out = rows.filter((r) => r.level > this.level).length;
		const asker = said.began === 'a' ? a : b;
		this.lead.textContent = `A message and the next one back tell the offset, wrong by half of what both took at most: the margin E. Lines through exchanges leave out those whose margin is unusual. ${short(asker, 24)} began ${count(said.all)}${rows.length < said.all ? `, of which the extremes are shown` : ''}; of those shown, the filter of ${this.level} % takes out ${count(out)}, drawn as rings.`;
		const { root, axis } = picture(rows, this.level, Math.max(280, this.box.clientWidth || 720), `Margins of exchanges between ${short(a, 24)} and ${short(b, 24)} over time; ${count(out)} are filtered at ${this.level} %`);
		this.drawn = { shown: rows.length, filtered: out };
		this.box.replaceChildren(root, h('figcaption', null, axis));
		this.numbers.replaceChildren(table({ caption: `Lines through exchanges of ${short(a, 24)} and ${short(b, 24)}`,
			heading: ['Method', 'Exchanges', 'Kept', 'Margin E', 'Residual Er', 'Error of rate, ppm', 'Error of offset'], right: [1, 2, 3, 4, 5, 6],
			rows: pair.methods.filter((m) => m.exchanges).map(({ name, exchanges: x }) => [name, count(x.all), count(x.kept), span(x.margin_ns), span(x.residual_ns),
				x.slope_error === null ? '-' : (x.slope_error * 1e6).toPrecision(3), span(x.intercept_error_ns)]) }));
	}
}
