// SPDX-License-Identifier: MIT
/*
 * format.js - numbers with units, no finer than they are known: rounded as `unskew sync` rounds
 *
 * Nanoseconds come as BigInt, number or decimal string; null is "-".
 */
const SCALES = [['ns', 1n, 0], ['\u00b5s', 1000n, 3], ['ms', 1000000n, 6], ['s', 1000000000n, 9]];
const MINUS = '\u2212';
const abs = (n) => (n < 0n ? -n : n);
const whole = (ns) => (typeof ns === 'bigint' ? ns : BigInt(typeof ns === 'number' ? Math.round(ns) : ns));
const digits = (n) => n.toString().length;
const stepFor = (n, significant) => 10n ** BigInt(Math.max(0, digits(n) - significant));

export function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/* `mode` is one of these; down and up are of the signed value. Returns a multiple of step. */
const GROWS = {
	nearest: (rest, step) => rest >= step - rest,
	away: () => true,
	down: (rest, step, negative) => negative,
	up: (rest, step, negative) => !negative,
};

function sizeOf(ns, step, mode) {
	const n = abs(ns), rest = n % step;
	return n - rest + (rest && GROWS[mode](rest, step, ns < 0n) ? step : 0n);
}

function rounded(ns, beside, step, mode) {
	const n = sizeOf(ns, step, mode);
	const larger = n > beside ? n : beside;
	let s = 0;
	while (s + 1 < SCALES.length && larger >= SCALES[s + 1][1]) {
		s++;
	}
	const [unit, size, most] = SCALES[s];
	const places = most - (digits(step) - 1);
	const sign = ns < 0n && n ? MINUS : '';
	const integer = count(n / size);
	if (places <= 0) {
		return `${sign}${integer}\u00a0${unit}`;
	}
	const part = (n % size) / 10n ** BigInt(most - places);
	return `${sign}${integer}.${part.toString().padStart(places, '0')}\u00a0${unit}`;
}

function anySpan(value, mode) {
	if (value === null || value === undefined) {
		return '-';
	}
	const ns = whole(value);
	const n = abs(ns);
	let step = stepFor(n, 3);
	if (step > 1n && digits(sizeOf(ns, step, mode)) > digits(n)) {
		step *= 10n;
	}
	return rounded(ns, 0n, step, mode);
}

/* three digits, to the nearest */
export const span = (ns) => anySpan(ns, 'nearest');
/* among values that differ by `spread`: fine enough to tell them apart */
export function spanAmong(value, spread) {
	if (value === null || value === undefined) {
		return '-';
	}
	const ns = whole(value), by = abs(whole(spread));
	return !by || abs(ns) / 50n < by ? span(ns) : rounded(ns, by, stepFor(by, 2), 'nearest');
}

/* three digits, never less than it is */
export const bound = (ns) => anySpan(ns, 'away');
/* the signed value is not under that, not over it */
const atLeast = (ns) => anySpan(ns, 'down'), atMost = (ns) => anySpan(ns, 'up');

/* value with the larger of its two margins, to three digits of that; lo and hi lie within what is written */
export function between(value, lo, hi) {
	const v = whole(value);
	const farther = (x) => (x - whole(lo) > whole(hi) - x ? x - whole(lo) : whole(hi) - x);
	const half = farther(v), step = stepFor(half, 3), n = sizeOf(v, step, 'nearest');
	return `${rounded(v, half, step, 'nearest')} \u00b1 ${bound(farther(v < 0n ? -n : n))}`;
}

/* a value as fine as `step` ns makes sense, in the unit that suits it */
export function fine(value, step) {
	const ns = whole(value);
	let s = 1n;
	while (s * 10n <= whole(Math.max(1, Math.floor(step)))) {
		s *= 10n;
	}
	return rounded(ns, 0n, s, 'nearest');
}

export function state({ offset, lo, hi }) {
	if (offset !== null && lo !== null && hi !== null) {
		return between(offset, lo, hi);
	}
	if (lo !== null) {
		return `at least ${atLeast(lo)}`;
	}
	return hi !== null ? `at most ${atMost(hi)}` : '-';
}

const signed = (x, places) => x.toFixed(places).replace(/^-(?=[0.]*$)/, '').replace('-', MINUS);

export function drift(ppm, min, max) {
	if (ppm === null || ppm === undefined) {
		return '-';
	}
	if (min === null || max === null || min === undefined || max === undefined) {
		return Number(ppm.toPrecision(3)).toString().replace('-', MINUS);
	}
	const value = Math.min(max, Math.max(min, ppm));
	const half = (max - min) / 2;
	const places = Math.min(6, Math.max(0, half > 0 ? 1 - Math.floor(Math.log10(half)) : 6));
	const scale = 10 ** places;
	const range = [Math.floor(min * scale) / scale, Math.ceil(max * scale) / scale];
	return `${signed(value, places)} (${range.map((x) => signed(x, places)).join(' to ')})`;
}

const EARLY = 315532800n * 10n ** 9n, LATE = 4102444800n * 10n ** 9n;

/* Digits after the point in groups of three, so that they can be read. */
const grouped = (text) => text.replace(/(\d{3})(?=\d)/g, '$1\u2009');

/* An instant on a clock: UTC where it looks like an epoch, else seconds; both exact. */
export function instant(ns) {
	const sign = ns < 0n ? MINUS : '';
	const n = abs(ns);
	const part = grouped((n % 10n ** 9n).toString().padStart(9, '0'));
	if (ns > EARLY && ns < LATE) {
		const date = new Date(Number(ns / 1000000n)).toISOString();
		return `${date.slice(0, 10)} ${date.slice(11, 19)}.${part} UTC`;
	}
	return `${sign}${count(n / 10n ** 9n)}.${part} s`;
}

export const percent = (part, total) => (total ? `${Number(((100 * part) / total).toPrecision(2))} %` : '-');

/* host2 before host10 */
export const byName = new Intl.Collator('en', { numeric: true }).compare;
