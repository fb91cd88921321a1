/* SPDX-License-Identifier: MIT */
/*
 * polyline.c - the polyline with the fewest links through a row of gates
 *
 * In    gates, sorted
 * Out   knots
 * Why   few knots, and streaming: no linear program, no square of their number
 * Source  Suri, Computer Vision, Graphics, and Image Processing 35, 1986, for the greedy choice;
 *       O'Rourke, Communications of the ACM 24(9), 1981, for the lines through gates so far
 *
 * A link goes as far as any line does. Where the next gate is too high for all of them the last
 * one to go is the steepest, l: it leans on a lower end of some gate, then on the upper end of gate
 * z, then leaves through the floor at e. A second link crosses l between z and e from below: it is
 * under l at z, over it at e, and in between it need only be under the upper ends, as before the
 * crossing l itself is over the lower ones, and behind it the link is over l. So the second link is
 * a line through gates again: upper ends from z on, lower ends from e on. A gate too low is the
 * mirror image. One of the two points that the next l leans on is e or right of it, so no gate is
 * looked at more than twice.
 */
#include "num/polyline.h"

#include <stdlib.h>

struct line {
	struct usk_xy p;
	struct usk_slope s;
};

/* The steepest line so far. */
struct extreme {
	bool leans; /* on a lower end, then on an upper one; else its slope is the limit */
	struct line line;
	size_t z; /* the gate of that upper end */
};

/*
 * Side 0 is as it is, side 1 has y negated, so that one piece of code does for both: chain[side] is
 * the upper hull of the lower ends, top[side] the steepest line.
 */
struct link {
	struct usk_xy *chain[2];
	size_t n[2], cap[2];
	size_t near[2]; /* the vertex that a steepest line leant on last */
	bool limited;
	struct usk_slope limit[2];
	struct extreme top[2];
};

static struct usk_xy flip(struct usk_xy p)
{
	return (struct usk_xy){ p.x, -p.y };
}

/* <0, 0, >0 as p is under, on, over l. */
static inline int over(struct usk_xy p, const struct line *l)
{
	usk_i128 rise, up;
	int64_t dx, dy, num = (int64_t)l->s.num, den = (int64_t)l->s.den;
	if (num == l->s.num && den == l->s.den && !__builtin_sub_overflow(p.x, l->p.x, &dx) &&
	    !__builtin_sub_overflow(p.y, l->p.y, &dy)) { /* as nearly always: half the products */
		rise = (usk_i128)num * dx;
		up = (usk_i128)dy * den;
	} else {
		rise = l->s.num * ((usk_i128)p.x - l->p.x);
		up = ((usk_i128)p.y - l->p.y) * l->s.den;
	}
	return (up > rise) - (up < rise);
}

static usk_i128 at(const struct line *l, int64_t x)
{
	return usk_line_floor(l->p, l->s, x);
}

/* The highest of the steepest lines; false: no line is. */
static inline bool highest(const struct link *k, int side, struct line *out)
{
	const struct usk_xy *upper = k->chain[!side];
	if (k->top[side].leans) {
		*out = k->top[side].line;
		return true;
	}
	if (!k->n[!side] || !k->limited) {
		return false;
	}
	out->s = k->limit[side];
	out->p = flip(upper[usk_hull_touch(upper, k->n[!side], usk_slope_neg(out->s))]);
	return true;
}

/* Can a line of the link pass over p? */
static inline bool passes(const struct link *k, int side, struct usk_xy p)
{
	struct line l;
	return !highest(k, side, &l) || over(p, &l) <= 0;
}

/* Lines have to pass under p from now on. */
static inline void narrow(struct link *k, int side, struct usk_xy p, size_t gate)
{
	struct extreme *top = &k->top[side];
	if (!k->n[side] || (top->leans && over(p, &top->line) >= 0)) {
		return;
	}
	struct usk_xy a = usk_hull_steepest(k->chain[side], k->n[side], flip(p), &k->near[side]);
	struct usk_slope s = { (usk_i128)p.y - a.y, (usk_i128)p.x - a.x };
	if (top->leans || !k->limited || usk_slope_cmp(s, k->limit[side]) < 0) {
		*top = (struct extreme){ true, { p, s }, gate };
	}
}

/* The ends of a gate, mirrored each: a side that does not count has none. */
struct ends {
	bool has[2];
	struct usk_xy at[2];
};

static inline void push(struct link *k, int side, struct usk_xy p)
{
	if (k->n[side] == k->cap[side]) {
		k->chain[side] = usk_room(k->chain[side], k->n[side], &k->cap[side], sizeof p);
	}
	k->n[side] = usk_hull_push(k->chain[side], k->n[side], p);
}

/* Returns the side that no line passes, or -1: then both count from now on. */
static inline int pass(struct link *k, const struct ends *e, size_t gate)
{
	if (e->has[0] && !passes(k, 0, e->at[0])) {
		return 0;
	}
	if (e->has[1] && !passes(k, 1, e->at[1])) {
		return 1;
	}
	if (e->has[0]) {
		narrow(k, 1, flip(e->at[0]), gate);
	}
	if (e->has[1]) {
		narrow(k, 0, flip(e->at[1]), gate);
	}
	if (e->has[0]) {
		push(k, 0, e->at[0]);
	}
	if (e->has[1]) {
		push(k, 1, e->at[1]);
	}
	return -1;
}

static struct usk_xy lower_end(struct usk_gate g, int side)
{
	return (struct usk_xy){ g.x, side ? -g.hi : g.lo };
}

struct row {
	usk_gate_at *gate;
	const void *row;
	size_t n;
};

static struct usk_gate gate_at(const struct row *r, size_t i)
{
	return r->gate(r->row, i);
}

/* Where the link before left, and what that asks of the next one. */
struct left {
	bool any;
	int side;
	struct line line; /* as it is, not mirrored */
	size_t z, i;	  /* the gate it leant on last, the gate it missed */
	struct usk_xy e;  /* mirrored as side says: where it left */
};

/* How far lines of one link get: to the end, or *side fails at the gate returned. */
static size_t run(struct link *k, const struct row *r, const struct left *left, int *side)
{
	bool past = !left->any;
	k->n[0] = k->n[1] = 0;
	k->top[0].leans = k->top[1].leans = false;
	for (size_t j = left->any ? left->z : 0; j < r->n; j++) {
		struct usk_gate g = gate_at(r, j);
		struct ends e = { { true, true }, { lower_end(g, 0), lower_end(g, 1) } };
		if (!past && g.x >= left->e.x) {
			struct ends only = { .has = { false, false } };
			bool here = g.x == left->e.x;
			struct ends *to = here ? &e : &only;
			to->has[left->side] = past = true;
			to->at[left->side] = left->e;
			if (!here) {
				pass(k, &only, j);
			}
		}
		e.has[left->side] = e.has[left->side] && past;
		*side = pass(k, &e, j);
		if (*side >= 0) {
			return j;
		}
	}
	return r->n;
}

static struct line real(struct line l, int side)
{
	return side ? (struct line){ flip(l.p), usk_slope_neg(l.s) } : l;
}

/* It misses gate i, which is on its wrong side: where did it leave? */
static struct usk_xy exit_of(const struct line *l, int side, const struct row *r, size_t i)
{
	struct usk_xy a = lower_end(gate_at(r, i - 1), side), b = lower_end(gate_at(r, i), side);
	usk_i128 in = at(l, a.x) - a.y, out = b.y - at(l, b.x), dx = (usk_i128)b.x - a.x;
	in = in < 0 ? 0 : in;
	out = out < 1 ? 1 : out;
	while (in > (usk_i128)1 << 60) { /* so that the product fits; where exactly is no matter */
		in >>= 1;
		out = (out >> 1) + 1;
	}
	usk_i128 by = dx * in / (in + out);
	int64_t x = (int64_t)(a.x + (by < dx ? by : dx - 1));
	return (struct usk_xy){ x, (int64_t)at(l, x) };
}

static double slope(const struct line *l)
{
	return (double)l->s.num / (double)l->s.den;
}

/* The knot between two links: where they cross, in the span where they should. */
static struct usk_xy crossing(const struct left *left, const struct line *next, int64_t from)
{
	const struct line *a = &left->line;
	double apart = (double)(next->p.y - (usk_i128)a->p.y) +
		       slope(next) * (double)((usk_i128)a->p.x - next->p.x);
	double by = apart / (slope(a) - slope(next)) + (double)((usk_i128)a->p.x - from);
	double most = (double)((usk_i128)left->e.x - from);
	by = by > 0 ? by : 0; /* no number: parallel */
	int64_t x = by < most ? from + (int64_t)(by + 0.5) : left->e.x;
	x = x < left->e.x ? x : left->e.x;
	return (struct usk_xy){ x, (int64_t)((at(a, x) + at(next, x) + 1) >> 1) };
}

/* Of the lines that got to the end the one between the extremes. */
static struct line middle(const struct link *k, int64_t x0, int64_t x1)
{
	struct line l[2];
	struct usk_xy p[2] = { { x0, 0 }, { x1, 0 } };
	for (int side = 0; side < 2; side++) {
		if (!highest(k, side, &l[side])) {
			highest(k, !side, &l[side]);
			l[side] = real(l[side], 1);
		}
		l[side] = real(l[side], side);
	}
	for (int i = 0; i < 2; i++) {
		p[i].y = (int64_t)((at(&l[0], p[i].x) + at(&l[1], p[i].x) + 1) >> 1);
	}
	return (struct line){ p[0], { (usk_i128)p[1].y - p[0].y, (usk_i128)x1 - x0 } };
}

/* Is x one of v[n], those before *at being passed? */
static bool among(const int64_t *v, size_t n, size_t *at, int64_t x)
{
	while (*at < n && v[*at] < x) {
		++*at;
	}
	return *at < n && v[*at] == x;
}

size_t usk_polyline(usk_gate_at *gate, const void *row, size_t n, int64_t least_e12,
		    int64_t most_e12, const int64_t *beside, size_t n_beside, size_t most_knots,
		    struct usk_xy **out)
{
	const int64_t e12 = INT64_C(1000000000000);
	const struct row r = { gate, row, n };
	const int64_t first = gate_at(&r, 0).x, last = gate_at(&r, n - 1).x;
	struct link k = { .limit = { { most_e12, e12 }, { -least_e12, e12 } } };
	struct left left = { .any = false };
	struct usk_xy *knot = NULL;
	size_t m = 0, cap = 0, got, shared = 0, passed = 0;
	do {
		int side;
		k.limited = true;
		got = run(&k, &r, &left, &side);
		if (got < n && !k.top[side].leans) {
			k.limited = false;
			got = run(&k, &r, &left, &side);
		}
		int64_t from = left.any ? gate_at(&r, left.z).x : first;
		struct line l = got < n ? real(k.top[side].line, side) : middle(&k, from, last);
		struct usk_xy p = left.any ? crossing(&left, &l, from)
					   : (struct usk_xy){ from, (int64_t)at(&l, from) };
		knot = usk_room(knot, m + 1, &cap, sizeof *knot);
		if (!m || p.x > knot[m - 1].x) {
			knot[m++] = p;
			shared += among(beside, n_beside, &passed, p.x);
		}
		if (got < n) {
			left = (struct left){ true, side,
					      l,    k.top[side].z,
					      got,  exit_of(&k.top[side].line, side, &r, got) };
		} else {
			bool again = m > 1 && knot[m - 1].x == last;
			m -= again;
			knot[m++] = (struct usk_xy){ last, (int64_t)at(&l, last) };
			shared += !again && among(beside, n_beside, &passed, last);
		}
	} while (got < n && m - shared <= most_knots);
	USK_FREE(k.chain[0], k.chain[1]);
	*out = knot;
	return m - shared <= most_knots ? m : 0;
}
