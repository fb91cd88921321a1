// SPDX-License-Identifier: MIT
/*
 * columns.js - thin out for drawing so that extremes survive
 *
 * In    x sorted, y, a window [from, to] and a number of pixel columns
 * Out   per column the smallest and largest y and how many points: what is drawn is as wide and as
 *       narrow as what is there
 */
import { lowerBound } from './data.js';

export function columns(side, from, to, width) {
	const min = new Float64Array(width).fill(Infinity), max = new Float64Array(width).fill(-Infinity);
	const { x, y, out } = side;
	const i = lowerBound(x, from), scale = width / (to - from);
	let n = 0, k = i;
	for (; k < x.length && x[k] <= to; k++) {
		const v = y[k];
		if (out[k] || Number.isNaN(v)) {
			continue;
		}
		const c = Math.min(width - 1, Math.floor((x[k] - from) * scale));
		if (v < min[c]) {
			min[c] = v;
		}
		if (v > max[c]) {
			max[c] = v;
		}
		n++;
	}
	return { min, max, n, from: i, to: k };
}

/* Upper hull of floors or lower hull of ceilings, as indices: the points that a straight clock would touch. */
export function hull(side) {
	const turn = side.floor ? 1 : -1;
	const { x, y, out } = side;
	const on = [];
	for (let i = 0; i < x.length; i++) {
		if (out[i] || Number.isNaN(y[i])) {
			continue;
		}
		while (on.length > 1) {
			const a = on[on.length - 2], b = on[on.length - 1];
			const cross = (x[b] - x[a]) * (y[i] - y[a]) - (x[i] - x[a]) * (y[b] - y[a]);
			if (turn * cross < 0) {
				break;
			}
			on.pop();
		}
		on.push(i);
	}
	return on;
}
