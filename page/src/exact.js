// SPDX-License-Identifier: MIT
/*
 * exact.js - clock maps in whole nanoseconds
 *
 * In    knots of clocks.json: decimal strings, up to 2^62
 * Out   reference times, lo and hi, as numbers relative to origins that are BigInt
 * Why   a double steps by 256 ns at today's epoch. Differences to an origin stay below 2^53 (104 days),
 *       where doubles are whole; products of two of them are not, so quotients are corrected exactly
 */
const SAFE = 2 ** 53;

/* a b = high + low exactly (Dekker's product over Veltkamp's halves) */
function low(a, b, high) {
	const ca = 134217729 * a, cb = 134217729 * b;
	const ah = ca - (ca - a), bh = cb - (cb - b);
	const al = a - ah, bl = b - bh;
	return al * bl - (high - ah * bh - al * bh - ah * bl);
}

/* floor(a n / d) for whole numbers, d > 0 */
export function floorMulDiv(a, n, d) {
	const p = a * n;
	if (d >= 2 ** 52 || Math.abs(p) >= 2 ** 104 || Math.abs(p / d) >= 2 ** 52) {
		const product = BigInt(a) * BigInt(n), by = BigInt(d);
		const q = product / by;
		return Number(product % by < 0n ? q - 1n : q);
	}
	let q = Math.floor(p / d);
	const qd = q * d;
	/* Both products are close, so every step of this remainder is exact. */
	let r = (p - qd) + (low(a, n, p) - low(q, d, qd));
	for (; r < 0; r += d) {
		q--;
	}
	for (; r >= d; r -= d) {
		q++;
	}
	return q;
}

export const big = (text) => (text === null || text === undefined ? null : BigInt(text));

/* A difference of two BigInt times as a number: null beyond 104 days. */
export function apart(a, b) {
	const d = a - b;
	return d < SAFE && d > -SAFE ? Number(d) : null;
}

/*
 * A clock's map between two origins. T(x) = x + offset(x), lo and hi alike. Beyond the knots lo and hi
 * go on by the slopes that `before` and `after` say, [towards lo, towards hi]; the estimate by its outermost slope, cut to
 * these.
 */
class Map_ {
	constructor(knots, side, local, reference, before, after) {
		const n = knots.length;
		this.x = new Float64Array(n);
		this.c = new Float64Array(n);
		knots.forEach((k, i) => {
			this.x[i] = Number(k.x - local);
			this.c[i] = Number(k[side] + local - reference);
		});
		this.up = side === 'hi';
		this.before = this.slope(side, before, 0, side === 'lo' ? before.most : before.least);
		this.after = this.slope(side, after, n - 2, side === 'lo' ? after.least : after.most);
		this.i = 0;
	}

	/* Of a side; of the estimate the outermost one where it is not cut: null. */
	slope(side, { least, most }, i, own) {
		if (side !== 'offset') {
			return own;
		}
		const slope = (1e12 * (this.c[i + 1] - this.c[i])) / (this.x[i + 1] - this.x[i]);
		return slope < least ? least : slope > most ? most : null;
	}

	/* the segment x_i < x <= x_(i+1) */
	find(x) {
		const last = this.x.length - 2;
		let i = this.i;
		if (!(this.x[i] < x && x <= this.x[i + 1])) {
			let from = 0, to = last;
			while (from < to) {
				const middle = (from + to + 1) >> 1;
				if (this.x[middle] < x) {
					from = middle;
				} else {
					to = middle - 1;
				}
			}
			i = this.i = from;
		}
		return i;
	}

	/* Is anything known of the side at x? A bound that parts by a second a second is none. */
	known(x) {
		const slope = x < this.x[0] ? this.before : x > this.x[this.x.length - 1] ? this.after : 0;
		return slope === null || Math.abs(slope) < 1e12;
	}

	/* offset at x, plus the difference of the origins */
	offset(x) {
		const last = this.x.length - 1;
		const left = x < this.x[0];
		const slope = left ? this.before : x > this.x[last] ? this.after : null;
		if (slope !== null) {
			const end = left ? 0 : last;
			const away = x - this.x[end];
			return this.c[end] + (this.up ? -floorMulDiv(-slope, away, 1e12) : floorMulDiv(slope, away, 1e12));
		}
		const i = this.find(x);
		const d = this.x[i + 1] - this.x[i];
		return this.c[i] + floorMulDiv(this.c[i + 1] - this.c[i], x - this.x[i], d);
	}

	at(x) {
		return x + this.offset(x);
	}
}

export class Clock {
	constructor(json, maxSkewPpm) {
		this.json = json;
		this.name = json.name;
		this.quality = json.quality;
		const limit = json.quality === 'reference' ? 0 : maxSkewPpm;
		/* parts per 10^12 */
		const slopes = (s) => ({ least: Math.round((s?.least_ppm ?? -limit) * 1e6), most: Math.round((s?.most_ppm ?? limit) * 1e6) });
		this.limit = slopes(null);
		this.before = slopes(json.before);
		this.after = slopes(json.after);
		this.knots = json.knots.map((k) => ({
			x: big(k.local_ns),
			offset: big(k.offset_ns),
			lo: big(k.lo_ns),
			hi: big(k.hi_ns),
			epoch: k.epoch ?? 0,
		}));
		this.beyond = (json.beyond ?? []).map((k) => ({ x: big(k.local_ns), lo: big(k.lo_ns), hi: big(k.hi_ns) }));
		this.disturbed = (json.disturbed ?? []).map((d) => ({ from: big(d.from_ns), to: big(d.to_ns), epoch: d.epoch ?? 0 }));
		this.epochs = [...new Set(this.knots.map((k) => k.epoch))];
	}

	/* Which side stands for the clock: its estimate, else the one bound that it has. */
	get side() {
		const k = this.knots[0];
		return !k || this.knots.length < 2 ? null : ['offset', 'lo', 'hi'].find((side) => k[side] !== null) ?? null;
	}

	has(side) {
		return this.knots.filter((k) => k[side] !== null).length > 1;
	}

	map(side, local, reference, epoch = this.epochs[0]) {
		/* Nothing bounds a side of outer knots where it is null. */
		let knots = this.knots.filter((k) => k.epoch === epoch && k[side] !== null);
		if (knots.length < 2) {
			return null;
		}
		if (side !== 'offset' && this.beyond.length) {
			knots = [...knots, ...this.beyond].sort((a, b) => (a.x < b.x ? -1 : 1));
		}
		return new Map_(knots, side, local, reference,
			epoch === this.epochs[0] ? this.before : this.limit,
			epoch === this.epochs[this.epochs.length - 1] ? this.after : this.limit);
	}

	/* offset, lo, hi at a local time, as BigInt; null where unknown */
	state(x) {
		const near = this.knots[0]?.[this.side] ?? 0n;
		const one = (side) => {
			const map = this.has(side) && this.map(side, x, x + near);
			return map && (side === 'offset' || map.known(0)) ? near + BigInt(Math.round(map.offset(0))) : null;
		};
		return { offset: one('offset'), lo: one('lo'), hi: one('hi') };
	}
}
