// SPDX-License-Identifier: MIT
/*
 * data.js - the embedded data, unpacked
 *
 * In    the element #unskew-data
 * Out   clocks with their maps; per pair and direction, stamps relative to the pair's origins in typed
 *       arrays; views of a pair from either of its clocks
 * Why   stamps as differences keep the page small; in typed arrays a million messages are drawn in
 *       milliseconds
 */
import { Clock, apart, big } from './exact.js';

function sums(differences) {
	const out = new Float64Array(differences.length);
	let sum = 0;
	for (let i = 0; i < out.length; i++) {
		sum += differences[i];
		out[i] = sum;
	}
	return out;
}

function unpackDirection(d) {
	const sent = sums(d.sent), received = sums(d.received);
	const out = new Uint8Array(sent.length);
	for (const i of d.out ?? []) {
		out[i] = 1;
	}
	return { from: d.from, total: d.total, held: sent.length, sent, received, out, odd: new Uint8Array(sent.length),
		standsFor: d.stands_for, sentEpoch: d.sent_epoch, receivedEpoch: d.received_epoch };
}

/* A report of clocks alone has corridors in place of messages: offsets of b against a at b's stamps. */
function fromCorridor(c) {
	const first = c.floor[0] ?? c.ceiling[0];
	const bOrigin = first ? BigInt(first[0]) : 0n;
	const aOrigin = first ? bOrigin + BigInt(first[1]) : 0n;
	const side = (points, from) => {
		const b = new Float64Array(points.length), a = new Float64Array(points.length);
		points.forEach(([local, offset], i) => {
			b[i] = Number(BigInt(local) - bOrigin);
			a[i] = Number(BigInt(local) + BigInt(offset) - aOrigin);
		});
		const [sent, received] = from === 'a' ? [a, b] : [b, a];
		return { from, total: points.length, held: points.length, sent, received,
			out: new Uint8Array(points.length), odd: new Uint8Array(points.length), standsFor: null, sentEpoch: null, receivedEpoch: null };
	};
	return { a: c.a, b: c.b, aOrigin, bOrigin, bucket: Number(c.bucket_ns), corridor: true, delays: [],
		directions: [side(c.floor, 'a'), side(c.ceiling, 'b')] };
}

/* Messages that contradict each other, by their stamps: which of those held they are */
function markOdd(p, pair) {
	const odd = new Set((p.contradiction ?? []).map((m) => `${m.sent_ns}/${m.received_ns}`));
	for (const d of odd.size ? pair.directions : []) {
		const [start, end] = d.from === 'a' ? [pair.aOrigin, pair.bOrigin] : [pair.bOrigin, pair.aOrigin];
		for (let i = 0; i < d.held; i++) {
			d.odd[i] = odd.has(`${start + BigInt(d.sent[i])}/${end + BigInt(d.received[i])}`) ? 1 : 0;
		}
	}
	pair.contradicted = odd.size > 0;
}

function unpackPair(p) {
	return { a: p.a, b: p.b, aOrigin: big(p.a_origin_ns), bOrigin: big(p.b_origin_ns), bucket: Number(p.bucket_ns),
		corridor: false, delays: p.delays ?? [], directions: p.directions.map(unpackDirection) };
}

export function unpack(json) {
	const { clocks: answer } = json;
	const clocks = answer.clocks.map((c) => new Clock(c, answer.model.max_skew_ppm));
	const packed = json.pairs.length ? json.pairs.map(unpackPair) : (answer.corridors ?? []).map(fromCorridor);
	const pairs = packed.filter((p) => p.directions.some((d) => d.held));
	const answers = new Map(answer.pairs.map((p) => [`${p.a}\u0000${p.b}`, p]));
	pairs.forEach((p, i) => {
		p.index = i;
		markOdd(answers.get(`${p.a}\u0000${p.b}`) ?? {}, p);
	});
	return { json, answer, clocks, pairs, clockOf: new Map(clocks.map((c) => [c.name, c])), views: new Map() };
}

/* The maps of one clock between two origins; the epoch of every stamp chooses among them. */
function corrector(clock, local, reference) {
	const side = clock.side;
	const maps = new Map(clock.epochs.map((e) => [e, side && clock.map(side, local, reference, e)]));
	const only = maps.size < 2 ? maps.get(clock.epochs[0]) : null;
	return (x, epoch) => {
		const map = only ?? maps.get(epoch ?? clock.epochs[0]);
		return map ? map.at(x) : NaN;
	};
}

/*
 * A pair seen from one of its clocks, `self`: the offset that each message allows it, less its estimate.
 * A message from the peer is a floor, at minus its corrected delay; one to the peer a ceiling, at plus it.
 * x: self's stamp less `origin`; own: the same moment on the reference's time, less `reference`. Without an estimate of both, differences to one constant are drawn.
 */
function makeView(data, pair, selfIsB) {
	const self = data.clockOf.get(selfIsB ? pair.b : pair.a), peer = data.clockOf.get(selfIsB ? pair.a : pair.b);
	const origin = selfIsB ? pair.bOrigin : pair.aOrigin, peerOrigin = selfIsB ? pair.aOrigin : pair.bOrigin;
	const solid = self.side && peer.side;
	const reference = solid ? origin + (self.map(self.side, origin, origin) ? BigInt(Math.round(self.map(self.side, origin, origin).offset(0))) : 0n) : origin;
	const selfAt = solid ? corrector(self, origin, reference) : (x) => x;
	const peerAt = solid ? corrector(peer, peerOrigin, reference) : (x) => x + constant;
	const constant = solid ? 0 : levelOf(pair, selfIsB);
	const sides = pair.directions.map((d) => {
		const floor = (d.from === 'b') !== selfIsB;
		const x = floor ? d.received : d.sent, other = floor ? d.sent : d.received;
		const xEpoch = floor ? d.receivedEpoch : d.sentEpoch, otherEpoch = floor ? d.sentEpoch : d.receivedEpoch;
		const n = x.length;
		const order = selfIsB ? null : sortedBy(x);
		const at = (i) => (order ? order[i] : i);
		const side = { floor, direction: d, n, x: new Float64Array(n), y: new Float64Array(n), own: new Float64Array(n),
			index: order, out: new Uint8Array(n), odd: new Uint8Array(n) };
		for (let i = 0; i < n; i++) {
			const k = at(i);
			side.x[i] = x[k];
			side.own[i] = selfAt(x[k], xEpoch?.[k]);
			side.y[i] = peerAt(other[k], otherEpoch?.[k]) - side.own[i];
			side.out[i] = d.out[k];
			side.odd[i] = d.odd[k];
		}
		return side;
	});
	const ends = sides.filter((s) => s.n);
	const first = Math.min(...ends.map((s) => s.x[0])), last = Math.max(...ends.map((s) => s.x[s.n - 1]));
	return { pair, self, peer, selfIsB, origin, peerOrigin, reference, solid, constant, sides,
		first, last: Math.max(last, first + 1),
		floor: sides.find((s) => s.floor), ceiling: sides.find((s) => !s.floor) };
}

/* With no estimate: the constant that puts the first messages level. */
function levelOf(pair, selfIsB) {
	const d = pair.directions.find((one) => one.held);
	const diff = d.from === 'a' ? d.sent[0] - d.received[0] : d.received[0] - d.sent[0];
	return selfIsB ? -diff : diff;
}

function sortedBy(x) {
	const order = new Uint32Array(x.length).map((_, i) => i);
	return order.sort((i, j) => x[i] - x[j] || i - j);
}

/* Stamps of a clock that was set back repeat: such arrays are in order of stamps after this. */
function inOrder(side) {
	for (let i = 1; i < side.n; i++) {
		if (side.x[i] < side.x[i - 1]) {
			const order = sortedBy(side.x);
			const pick = (from) => from.map((_, k) => from[order[k]]);
			const index = side.index;
			side.index = order.map((k) => (index ? index[k] : k));
			side.x = pick(side.x);
			side.y = pick(side.y);
			side.own = pick(side.own);
			side.out = pick(side.out);
			side.odd = pick(side.odd);
			return;
		}
	}
}

export function viewOf(data, pair, selfName) {
	const selfIsB = pair.b === selfName;
	const key = `${pair.index}/${selfIsB}`;
	if (!data.views.has(key)) {
		const view = makeView(data, pair, selfIsB);
		view.sides.forEach(inOrder);
		data.views.set(key, view);
	}
	return data.views.get(key);
}

export const pairsOf = (data, name) => data.pairs.filter((p) => p.a === name || p.b === name);
export const peerOf = (pair, name) => (pair.a === name ? pair.b : pair.a);

/* index of the first x[i] >= at */
export function lowerBound(x, at) {
	let from = 0, to = x.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if (x[middle] < at) {
			from = middle + 1;
		} else {
			to = middle;
		}
	}
	return from;
}

/* Messages of a side in [from, to]: those held, and those that the page stands for */
export function counted(side, from, to) {
	const i = lowerBound(side.x, from), j = lowerBound(side.x, to + 1);
	const standsFor = side.direction.standsFor;
	if (!standsFor) {
		return { held: j - i, total: j - i };
	}
	let total = 0;
	for (let k = i; k < j; k++) {
		const at = side.index ? side.index[k] : k;
		total += standsFor[at] + (side.out[k] ? 1 : 0);
	}
	return { held: j - i, total: Math.max(total, j - i) };
}

export { apart };
