// SPDX-License-Identifier: MIT
/*
 * axis.js - ticks and what they are counted from
 *
 * A tick is a difference to a base that is printed exactly beside the plot, so its label is short and
 * whole at every zoom, from days to single nanoseconds.
 */
import { instant } from './format.js';

const S = 1e9;
export const STEPS = [];
for (let e = 0; e < 10; e++) {
	STEPS.push(10 ** e, 2 * 10 ** e, 5 * 10 ** e);
}
STEPS.push(10 * S, 20 * S, 30 * S, 60 * S, 120 * S, 300 * S, 600 * S, 1200 * S, 1800 * S, 3600 * S, 7200 * S,
	10800 * S, 21600 * S, 43200 * S, 86400 * S, 172800 * S, 432000 * S, 864000 * S, 1728000 * S, 4320000 * S);

const UNITS = [[1, 'ns'], [1e3, '\u00b5s'], [1e6, 'ms'], [S, 's'], [60 * S, 'min'], [3600 * S, 'h'], [86400 * S, 'd']];

/* The largest unit that gives the range at least 2 of it; minutes and up only where times are meant. */
export function unitFor(range, times = false) {
	let unit = UNITS[0];
	for (const one of times ? UNITS : UNITS.slice(0, 4)) {
		const least = one[0] > S ? 5 : 2;
		if (range >= least * one[0]) {
			unit = one;
		}
	}
	return { size: unit[0], name: unit[1] };
}

/* Zoomed out, times count from the first message; zoomed in, from a round moment just before the window. */
export function timeBase(view, from, to) {
	const range = to - from;
	const unit = unitFor(range, true);
	if (range >= 5 * S) {
		return { base: view.first, unit, text: instant(view.origin + BigInt(view.first)) };
	}
	const round = 10n ** BigInt(Math.max(0, Math.ceil(Math.log10(range))));
	const at = view.origin + BigInt(Math.floor(from));
	const whole = ((at % round) + round) % round;
	const base = Number(at - whole - view.origin);
	return { base, unit, text: instant(at - whole) };
}

export function ticks(base, from, to, step) {
	const out = [];
	for (let k = Math.ceil((from - base) / step); base + k * step <= to; k++) {
		out.push(base + k * step);
	}
	return out;
}

export function label(value, unit, step) {
	const places = Math.max(0, Math.ceil(Math.log10(unit.size / step) - 1e-9));
	const text = (value / unit.size).toFixed(Math.min(9, places));
	return text.replace(/^-(?=[0.]*$)/, '').replace('-', '\u2212');
}

/* 1, 1.5, 2, 3, 5, 7 times a power of ten: ranges that do not twitch while one zooms */
export function roomy(value) {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
	return power * [1, 1.5, 2, 3, 5, 7, 10].find((m) => m * power >= value);
}
