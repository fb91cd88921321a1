// SPDX-License-Identifier: MIT
/*
 * plot.js - the corridor on uPlot's axes
 *
 * In    a view of a pair (data.js), the window, what to show
 * Out   a canvas; `drawn`: what its columns hold, for those who check
 * Why   points are drawn here and not as uPlot's series: two clouds of different times, thinned per
 *       pixel column so that extremes survive. uPlot brings scales, axes, cursor and selection
 */
import uPlot from 'uplot';
import { STEPS, label, roomy, ticks, timeBase, unitFor } from './axis.js';
import { columns, hull } from './columns.js';
import { lowerBound } from './data.js';
import { short } from './dom.js';

/* Up to so many points each has its own mark; beyond, columns. */
const SINGLE = 700;

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* lo and hi less the estimate at every knot and at the window's ends, or at even moments; relative x */
function bandOf(view, from, to, even = 0) {
	const { self, origin, reference } = view;
	if (!self.has('offset') || !self.has('lo') || !self.has('hi') || !view.solid) {
		return [];
	}
	const pieces = [];
	for (const epoch of self.epochs) {
		const at = ['offset', 'lo', 'hi'].map((side) => self.map(side, origin, reference, epoch));
		const x = at[0].x;
		/* Where epochs overlap, each is drawn only as far as its knots go. */
		const ends = self.epochs.length > 1
			? [Math.max(from, x[0]), Math.min(to, x[x.length - 1])] : [from, to];
		if (ends[0] > ends[1]) {
			continue;
		}
		const inner = [];
		for (let i = lowerBound(x, ends[0]); !even && i < x.length && x[i] <= ends[1]; i++) {
			inner.push(x[i]);
		}
		for (let k = 1; k < even; k++) {
			inner.push(ends[0] + ((ends[1] - ends[0]) * k) / even);
		}
		pieces.push([ends[0], ...inner, ends[1]].map((t) => {
			const theta = at[0].offset(t);
			return { x: t, theta, lo: at[1].offset(t) - theta, hi: at[2].offset(t) - theta };
		}));
	}
	return pieces;
}

export class Plot {
	constructor(box, { onZoom, onPoint }) {
		this.box = box;
		this.show = { band: true, hull: true, out: true };
		this.raw = false;
		this.all = false;
		this.stretch = 1;
		this.onPoint = onPoint;
		this.u = new uPlot({
			width: 300,
			height: 300,
			legend: { show: false },
			padding: [8, 12, 0, 0],
			cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 } },
			scales: { x: { time: false, range: () => [this.from, this.to] }, y: { range: () => this.yRange } },
			series: [{}, { paths: () => null, points: { show: false } }],
			axes: [this.axis(0), this.axis(1)],
			hooks: {
				draw: [() => this.draw()],
				setSelect: [(u) => {
					if (u.select.width > 4) {
						const a = u.posToVal(u.select.left, 'x');
						const b = u.posToVal(u.select.left + u.select.width, 'x');
						u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
						onZoom(a, b);
					}
				}],
				setCursor: [(u) => onPoint(u.cursor.left >= 0 ? u.posToVal(u.cursor.left, 'x') : null)],
			},
		}, [[0, 1], [null, null]], box);
	}

	axis(which) {
		const shape = which
			? { scale: 'y', size: 64, incrs: STEPS,
				splits: (u, i, min, max, step) => ticks(0, min, max, step),
				values: (u, at, i, space, step) => at.map((v) => label(v, this.yUnit, step)) }
			: { scale: 'x', size: 34, space: 72, incrs: STEPS,
				splits: (u, i, min, max, step) => ticks(this.time.base, min, max, step),
				values: (u, at, i, space, step) => at.map((v) => label(v - this.time.base, this.time.unit, step)) };
		return { ...shape, font: '12px system-ui, sans-serif', stroke: () => css('--muted'),
			grid: { stroke: () => css('--grid'), width: 1 }, ticks: { show: false }, border: { show: false } };
	}

	set(view, from, to) {
		this.view = view;
		this.from = from;
		this.to = to;
		this.update();
	}

	/* The offset in whole, less its value at the first message */
	rawOf(side) {
		side.raw ??= { ...side, y: side.y.map((y, i) => y + side.own[i] - side.x[i] - this.level) };
		return side.raw;
	}

	levelOf() {
		const { self, solid, origin, reference, first } = this.view;
		return solid ? self.map(self.side, origin, reference).offset(first) : 0;
	}

	update() {
		const { view } = this;
		const ratio = window.devicePixelRatio || 1;
		const width = Math.max(240, this.box.clientWidth);
		const height = Math.round(Math.min(Math.max(260, width * 0.42), 620));
		const pixels = Math.max(1, Math.round((width - 76) * ratio));
		this.level = this.levelOf();
		this.sides = view.sides.map((s) => (this.raw ? this.rawOf(s) : s));
		this.columns = this.sides.map((s) => columns(s, this.from, this.to, pixels));
		this.band = bandOf(view, this.from, this.to);
		this.yRange = this.rangeOf();
		this.yUnit = unitFor(this.yRange[1] - this.yRange[0]);
		this.time = timeBase(view, this.from, this.to);
		if (this.u.width !== width || this.u.height !== height) {
			this.u.setSize({ width, height });
		}
		this.u.setData([[this.from, this.to], [null, null]], true);
	}

	/*
	 * lo and hi that 19 of 20 moments keep within. Beyond the messages the band opens without end, and
	 * round a jump it is as wide as the jump: neither sets the scale.
	 */
	bandRange() {
		const from = Math.max(this.from, this.view.first), to = Math.min(this.to, this.view.last);
		const inside = from < to ? bandOf(this.view, from, to, 60) : this.band;
		const pick = (values, part) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0;
		const points = inside.flat();
		return [pick(points.map((p) => p.lo), 0.05), pick(points.map((p) => p.hi), 0.95)];
	}

	rangeOf() {
		let lo = 0, hi = 0;
		const inner = [];
		this.columns.forEach((c, k) => {
			const floor = this.sides[k].floor;
			for (let i = 0; i < c.min.length; i++) {
				if (c.min[i] <= c.max[i]) {
					inner.push(floor ? c.max[i] : c.min[i]);
					if (this.all) {
						lo = Math.min(lo, c.min[i]);
						hi = Math.max(hi, c.max[i]);
					}
				}
			}
		});
		if (this.raw && inner.length) {
			lo = hi = inner[0];
			for (const v of inner) {
				lo = Math.min(lo, v);
				hi = Math.max(hi, v);
			}
			const margin = Math.max(1, (hi - lo) * 0.08) * this.stretch;
			return [lo - margin, hi + margin];
		}
		if (!this.all) {
			[lo, hi] = this.corridorRange(inner);
		}
		return [-roomy(Math.max(1, -lo) * this.stretch), roomy(Math.max(1, hi) * this.stretch)];
	}

	/* The band, and on each side at least the nearest message; of few messages, nearly all. */
	corridorRange(inner) {
		const [low, high] = this.bandRange();
		const below = inner.filter((v) => v < 0).sort((a, b) => b - a), above = inner.filter((v) => v >= 0).sort((a, b) => a - b);
		const few = inner.length <= 60 || !this.band.length ? 0.95 : 0;
		const at = (values) => values[Math.floor((values.length - 1) * few)] ?? 0;
		return [Math.min(low * 1.7, at(below) * 1.15), Math.max(high * 1.7, at(above) * 1.15)];
	}

	draw() {
		const { u } = this;
		const { left, top, width, height } = u.bbox;
		const ctx = u.ctx;
		const kx = width / (this.to - this.from), ky = height / (this.yRange[1] - this.yRange[0]);
		const X = (x) => left + (x - this.from) * kx;
		const Y = (y) => Math.min(top + height + 20, Math.max(top - 20, top + (this.yRange[1] - y) * ky));
		ctx.save();
		ctx.beginPath();
		ctx.rect(left, top, width, height);
		ctx.clip();
		const pen = { ctx, X, Y, left, top, width, height, ratio: uPlot.pxRatio };
		this.drawDisturbed(pen);
		this.drawJumps(pen);
		if (this.show.band) {
			this.drawBand(pen);
		}
		const single = this.columns.reduce((n, c) => n + c.n, 0) <= SINGLE;
		this.mode = single ? 'messages' : 'columns';
		this.sides.forEach((side, k) => (single ? this.drawPoints(pen, side, this.columns[k]) : this.drawColumns(pen, side, this.columns[k])));
		if (this.show.hull) {
			this.sides.forEach((side) => this.drawHull(pen, side));
		}
		this.drawEstimate(pen);
		if (this.show.out) {
			this.sides.forEach((side) => this.drawOut(pen, side));
		}
		ctx.restore();
	}

	shift(p) {
		return this.raw ? p.theta - this.level : 0;
	}

	drawBand({ ctx, X, Y }) {
		ctx.fillStyle = css('--band');
		for (const piece of this.band) {
			ctx.beginPath();
			piece.forEach((p, i) => ctx[i ? 'lineTo' : 'moveTo'](X(p.x), Y(p.hi + this.shift(p))));
			for (let i = piece.length - 1; i >= 0; i--) {
				ctx.lineTo(X(piece[i].x), Y(piece[i].lo + this.shift(piece[i])));
			}
			ctx.fill();
		}
	}

	drawEstimate({ ctx, X, Y, ratio }) {
		ctx.strokeStyle = css('--ink');
		ctx.lineWidth = 1.5 * ratio;
		ctx.beginPath();
		const pieces = this.band.length ? this.band : this.view.solid && !this.raw ? [[{ x: this.from }, { x: this.to }]] : [];
		for (const piece of pieces) {
			piece.forEach((p, i) => ctx[i ? 'lineTo' : 'moveTo'](X(p.x), Y(this.shift(p))));
		}
		ctx.stroke();
	}

	drawColumns({ ctx, Y, left, width, ratio }, side, c) {
		const step = width / c.min.length;
		const colour = css(side.floor ? '--floor' : '--ceiling');
		ctx.fillStyle = colour;
		ctx.globalAlpha = 0.28;
		for (let i = 0; i < c.min.length; i++) {
			if (c.min[i] <= c.max[i]) {
				const y = Y(c.max[i]);
				ctx.fillRect(left + i * step, y, Math.max(1, step), Math.max(1, Y(c.min[i]) - y));
			}
		}
		ctx.globalAlpha = 1;
		const dot = 2 * ratio;
		for (let i = 0; i < c.min.length; i++) {
			if (c.min[i] <= c.max[i]) {
				ctx.fillRect(left + i * step - dot / 2, Y(side.floor ? c.max[i] : c.min[i]) - dot / 2, dot, dot);
			}
		}
	}

	/* A floor points up at the line that it holds, a ceiling down. */
	drawPoints({ ctx, X, Y, ratio }, side, c) {
		const r = 4 * ratio, tip = side.floor ? -1 : 1;
		ctx.fillStyle = css(side.floor ? '--floor' : '--ceiling');
		ctx.beginPath();
		for (let i = c.from; i < c.to; i++) {
			if (!side.out[i] && !Number.isNaN(side.y[i])) {
				const x = X(side.x[i]), y = Y(side.y[i]);
				ctx.moveTo(x, y);
				ctx.lineTo(x - r, y - tip * r * 1.7);
				ctx.lineTo(x + r, y - tip * r * 1.7);
				ctx.closePath();
			}
		}
		ctx.fill();
	}

	drawHull({ ctx, X, Y, ratio }, side) {
		side.hull ??= hull(side);
		ctx.strokeStyle = ctx.fillStyle = css(side.floor ? '--floor' : '--ceiling');
		ctx.lineWidth = ratio;
		ctx.globalAlpha = 0.75;
		ctx.beginPath();
		side.hull.forEach((i, k) => ctx[k ? 'lineTo' : 'moveTo'](X(side.x[i]), Y(side.y[i])));
		ctx.stroke();
		ctx.globalAlpha = 1;
		ctx.strokeStyle = css('--paper');
		for (const i of side.hull) {
			if (side.x[i] >= this.from && side.x[i] <= this.to) {
				ctx.beginPath();
				ctx.arc(X(side.x[i]), Y(side.y[i]), 3.5 * ratio, 0, 7);
				ctx.fill();
				ctx.stroke();
			}
		}
	}

	drawOut({ ctx, X, Y, top, height, ratio }, side) {
		ctx.strokeStyle = css('--out');
		ctx.lineWidth = 2 * ratio;
		ctx.beginPath();
		const r = 4 * ratio, until = lowerBound(side.x, this.to + 1);
		for (let i = lowerBound(side.x, this.from); i < until; i++) {
			if (side.out[i] || side.odd[i]) {
				const x = X(side.x[i]), y = Math.min(top + height - r, Math.max(top + r, Y(side.y[i])));
				ctx.moveTo(x - r, y - r);
				ctx.lineTo(x + r, y + r);
				ctx.moveTo(x - r, y + r);
				ctx.lineTo(x + r, y - r);
			}
		}
		ctx.stroke();
	}

	drawDisturbed({ ctx, X, top, height, ratio }) {
		ctx.fillStyle = css('--disturbed');
		for (const d of this.view.self.disturbed) {
			const a = X(Number(d.from - this.view.origin)), b = X(Number(d.to - this.view.origin));
			ctx.fillRect(a, top, Math.max(b - a, ratio), height);
		}
	}

	drawJumps({ ctx, X, top, height, ratio }) {
		for (const jump of this.view.self.json.jumps ?? []) {
			const a = X(Number(BigInt(jump.after_local_ns) - this.view.origin));
			const b = X(Number(BigInt(jump.before_local_ns) - this.view.origin));
			ctx.fillStyle = css('--jump');
			ctx.fillRect(a, top, Math.max(b - a, 3 * ratio), height);
			ctx.fillStyle = css('--muted');
			ctx.font = `${12 * ratio}px system-ui, sans-serif`;
			ctx.textBaseline = 'top';
			ctx.textAlign = 'left';
			const either = jump.or ? ` or ${jump.likely ? 'less likely ' : ''}${short(jump.or, 20)}` : '';
			const whose = jump.of && (either || jump.of !== this.view.self.name) ? ` of ${short(jump.of, 20)}${either}` : '';
			ctx.fillText(jump.kind + whose, Math.max(a, b) + 5 * ratio, top + 4 * ratio);
		}
	}

	/* What the picture holds, column by column, in ns */
	get drawn() {
		return { from: this.from, to: this.to, mode: this.mode, y: [...this.yRange],
			sides: this.sides.map((s, k) => ({ floor: s.floor, from: s.direction.from, n: this.columns[k].n,
				min: [...this.columns[k].min], max: [...this.columns[k].max] })) };
	}
}
