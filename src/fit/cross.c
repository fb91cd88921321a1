/* SPDX-License-Identifier: MIT */
/*
 * cross.c - the way of corrected time from one piece of a clock to the next
 *
 * In    the last knot of a piece and the first of the next, the points between them, the widest
 *       gaps of both clocks' traces
 * Out   who jumped, knots across, T held back or lifted where it would fall
 * Why   where exactly time jumps is not in the messages: a clock that was put forward shows nothing
 *       for a while
 * Not   where the cuts are (pieces.c), the pieces themselves (join.c)
 *
 * A clock that was put forward has no stamps in between: its jump lies on the two stamps with the
 * widest gap, and corrected time does not fall if that gap is as long as the jump. If the other
 * clock jumped forward, this one's offset rises between two neighbouring nanoseconds. Where the
 * estimates of two pieces would let corrected time fall across their cut, it waits: what is over
 * some level before the cut is lowered to it, what is under it behind the cut is lifted. A level
 * that no message speaks against lies between the highest lower bound before and the lowest upper
 * bound behind; if there is none, no time that runs on is true.
 */
#include "fit/cross.h"
#include "num/cone.h"

#include <stdlib.h>

#define FAR USK_FAR

/* ---- who, and when -------------------------------------------------------------------------- */

static usk_i128 slack(const struct usk_bracket *b, usk_i128 away)
{
	return usk_ceil_div((usk_i128)b->skew * away, USK_E12);
}

/* What is put back by so much would be seen to be: T does not fall, whoever did what. But where the
 * other clock was put back its time that runs on may. */
static bool runs_on(const struct usk_bracket *b)
{
	return (usk_i128)b->left.offset_ns - b->right.offset_ns > USK_UNSEEN_NS && !b->other_back;
}

bool usk_bracket_forward(const struct usk_bracket *b)
{
	return b->of == b->local && runs_on(b);
}

/*
 * What holds wherever in the bracket it happened. Where the offset falls by little the other clock
 * may have been put back, and T falls.
 */
static void band_at(const struct usk_bracket *b, struct usk_knot *k)
{
	usk_i128 d0 = slack(b, (usk_i128)k->local_ns - b->left.local_ns);
	usk_i128 d1 = slack(b, (usk_i128)b->right.local_ns - k->local_ns);
	k->lo_ns = k->hi_ns = USK_NONE;
	if (b->left.lo_ns != USK_NONE && b->right.lo_ns != USK_NONE) {
		usk_i128 lo = usk_smaller(b->left.lo_ns - d0, b->right.lo_ns - d1);
		usk_i128 least = runs_on(b) ? usk_knot_lower(&b->left) - k->local_ns : lo;
		k->lo_ns = usk_cut(usk_larger(lo, least));
	}
	if (b->left.hi_ns != USK_NONE && b->right.hi_ns != USK_NONE) {
		usk_i128 hi = usk_larger(b->left.hi_ns + d0, b->right.hi_ns + d1);
		usk_i128 most = runs_on(b) ? usk_knot_upper(&b->right) - k->local_ns : hi;
		k->hi_ns = usk_cut(usk_smaller(hi, most));
	}
}

/* T had time not jumped yet, or jumped already. */
static usk_i128 wanted(const struct usk_bracket *b, int64_t x)
{
	bool before = x <= b->jump_from;
	const struct usk_knot *k = before ? &b->left : &b->right;
	int64_t rate = before ? b->left_rate : b->right_rate;
	return (usk_i128)x + k->offset_ns +
	       usk_floor_div((usk_i128)rate * ((usk_i128)x - k->local_ns), USK_E12);
}

static usk_i128 length(struct usk_gap g)
{
	return g.before_ns == USK_NONE || g.after_ns == USK_NONE
		       ? -1
		       : (usk_i128)g.after_ns - g.before_ns;
}

static bool falls(const struct usk_bracket *b)
{
	return b->right.offset_ns < b->left.offset_ns;
}

struct usk_gap_query usk_bracket_asks(const struct usk_fit *fit, const struct usk_bracket *b)
{
	struct usk_gap_query q = { .gap = { USK_NONE, USK_NONE } };
	if (falls(b)) {
		q.clock = fit->b;
		q.from_ns = b->left.local_ns;
		q.to_ns = b->right.local_ns;
	} else {
		bool low = b->left.lo_ns != USK_NONE, high = b->right.hi_ns != USK_NONE;
		q.clock = fit->a;
		q.from_ns = usk_cut(low ? usk_knot_lower(&b->left) : usk_knot_time(&b->left));
		q.to_ns = usk_cut(high ? usk_knot_upper(&b->right) : usk_knot_time(&b->right));
	}
	return q;
}

/* The offset falls: this clock was put forward, if it showed nothing for so long. */
static uint32_t blame_fall(const struct usk_fit *fit, struct usk_bracket *b, struct usk_gap g)
{
	int64_t from = b->left.local_ns, to = b->right.local_ns, hi = b->cut->size_hi;
	usk_i128 least = hi == USK_NONE || hi > 0 ? 0 : -(usk_i128)hi;
	b->jump_from = from;
	b->jump_to = to;
	if (length(g) < 0) {
		return (usk_i128)to - from >= least ? fit->b : fit->a;
	}
	b->jump_from = g.before_ns < from ? from : g.before_ns;
	b->jump_to = g.after_ns > to ? to : g.after_ns;
	return length(g) >= least ? fit->b : fit->a;
}

/* The offset rises, and no stamp goes back: the other clock was put forward, likewise. */
static uint32_t blame_rise(const struct usk_fit *fit, struct usk_bracket *b, struct usk_gap g)
{
	int64_t from = b->left.local_ns, to = b->right.local_ns, lo = b->cut->size_lo;
	usk_i128 least = lo == USK_NONE || lo < 0 ? 0 : lo;
	usk_i128 at = from + ((usk_i128)to - from) / 2;
	if (length(g) >= 0) { /* when this clock's map reaches that gap */
		at = (usk_i128)g.before_ns - b->left.offset_ns;
	}
	b->jump_from = (int64_t)usk_larger(from, usk_smaller(at, (usk_i128)to - 1));
	b->jump_to = b->jump_from + 1;
	return length(g) < 0 || length(g) >= least ? fit->a : fit->b;
}

/* Was the other clock put back between these two? T is its time. */
static bool other_back(const struct usk_fit *fit, const struct usk_bracket *b)
{
	usk_i128 from =
		b->left.lo_ns == USK_NONE ? usk_knot_time(&b->left) : usk_knot_lower(&b->left);
	usk_i128 to =
		b->right.hi_ns == USK_NONE ? usk_knot_time(&b->right) : usk_knot_upper(&b->right);
	for (size_t i = 0; i < fit->n_other_back; i++) {
		if (fit->other_back[i].before_ns <= to && fit->other_back[i].after_ns >= from) {
			return true;
		}
	}
	return false;
}

void usk_bracket_blame(const struct usk_fit *fit, struct usk_bracket *b, struct usk_gap gap)
{
	b->local = fit->b;
	b->other_back = other_back(fit, b);
	if (b->cut->back) {
		b->jump_from = b->left.local_ns;
		b->jump_to = b->right.local_ns;
		b->of = fit->b;
	} else {
		b->of = falls(b) ? blame_fall(fit, b, gap) : blame_rise(fit, b, gap);
		b->of = b->other_back ? fit->a : b->of;
	}
}

/* ---- across it ---------------------------------------------------------------------------- */

/* A stamp within a bracket, and what messages say of T there: as it is, or kept 1 ns off. */
struct node {
	struct usk_knot knot;
	usk_i128 from[2], to[2];
};

static int by_stamp(const void *pa, const void *pb)
{
	const struct node *a = pa, *b = pb;
	return (a->knot.local_ns > b->knot.local_ns) - (a->knot.local_ns < b->knot.local_ns);
}

static void narrow(struct node *n, const struct node *more)
{
	for (int off = 0; off < 2; off++) {
		n->from[off] = usk_larger(n->from[off], more->from[off]);
		n->to[off] = usk_smaller(n->to[off], more->to[off]);
	}
}

static struct node node_at(int64_t local_ns)
{
	return (struct node){ .knot.local_ns = local_ns,
			      .from = { -FAR, -FAR },
			      .to = { FAR, FAR } };
}

/*
 * Where T does not fall the band has corners that chords would cut off: hi is the less of
 * what rises at the skew limit from the left and U of the right end, lo the more of L of the left
 * end and what falls to the right.
 */
static size_t add_corners(const struct usk_bracket *b, struct node *k, size_t n)
{
	int64_t from = b->left.local_ns, to = b->right.local_ns;
	usk_i128 rise = usk_knot_upper(&b->right) - b->left.hi_ns - from;
	usk_i128 fall = usk_knot_lower(&b->left) - b->right.lo_ns - to;
	usk_i128 whole = USK_E12 + (usk_i128)b->skew;
	const usk_i128 corner[] = {
		from + usk_floor_div(rise * USK_E12, whole),
		to + usk_floor_div(fall * USK_E12, whole),
	};
	for (size_t i = 0; i < COUNT(corner) && runs_on(b); i++) {
		for (int next = 0; next < 2; next++) {
			if (corner[i] + next > from && corner[i] + next < to) {
				k[n++] = node_at((int64_t)corner[i] + next);
			}
		}
	}
	return n;
}

/* The ends, where time jumps, and every point in between; sorted, each stamp once. */
static struct node *nodes_of(const struct usk_bracket *b, const struct usk_part *p, size_t *n_out)
{
	const struct usk_cut *c = b->cut;
	int64_t from = b->left.local_ns, to = b->right.local_ns;
	struct usk_part in = { .n = { 0, 0 } };
	if (c->to - c->from > 1 && !c->back) {
		in = usk_part_between(p, c->from + 1, c->to - 1);
	}
	struct node *k = usk_alloc(in.n[0] + in.n[1] + 10, sizeof *k);
	size_t n = 0, m = 0;
	k[n++] = node_at(from);
	k[n++] = node_at(to);
	if (!c->back) {
		/* The band widens at once beside the ends. */
		k[n++] = node_at(from + 1);
		k[n++] = node_at(to - 1);
		k[n++] = node_at(b->jump_from);
		k[n++] = node_at(b->jump_to);
		n = add_corners(b, k, n);
	}
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < in.n[side]; i++) {
			struct usk_xy q = in.point[side][i];
			k[n] = node_at(p->frame.local_ns + q.x);
			usk_i128 base = (usk_i128)k[n].knot.local_ns + p->frame.offset_ns;
			for (int off = 0; off < 2; off++) {
				if (side == USK_FLOOR) {
					k[n].from[off] = base + q.y + off;
				} else {
					k[n].to[off] = base - q.y - off;
				}
			}
			n++;
		}
	}
	qsort(k, n, sizeof *k, by_stamp);
	for (size_t i = 0; i < n; i++) {
		if (m && k[m - 1].knot.local_ns == k[i].knot.local_ns) {
			narrow(&k[m - 1], &k[i]);
		} else {
			k[m++] = k[i];
		}
	}
	*n_out = m;
	return k;
}

/* T at each node: nearest to what is wanted, never falling, within all bounds. */
static bool route(const struct usk_bracket *b, struct node *k, size_t n, int off)
{
	usk_i128 *to = usk_alloc(n, sizeof *to), ahead = b->behind[off], t = b->before[off];
	bool good = true;
	for (size_t i = n; i-- > 0;) {
		ahead = usk_smaller(ahead, usk_smaller(k[i].to[off], usk_knot_upper(&k[i].knot)));
		to[i] = ahead;
	}
	for (size_t i = 0; i < n && good; i++) {
		t = usk_larger(t, usk_larger(k[i].from[off], usk_knot_lower(&k[i].knot)));
		usk_i128 want = i == 0	     ? usk_knot_time(&b->left)
				: i == n - 1 ? usk_knot_time(&b->right)
					     : wanted(b, k[i].knot.local_ns);
		good = t <= to[i];
		t = usk_larger(t, usk_smaller(want, to[i]));
		k[i].knot.offset_ns = usk_cut(t - k[i].knot.local_ns);
	}
	free(to);
	return good;
}

bool usk_bracket_cross(const struct usk_bracket *b, struct usk_timeline *l,
		       const struct usk_clock *next)
{
	size_t n;
	struct node *k = nodes_of(b, l->part, &n);
	for (size_t i = 0; i < n; i++) {
		if (k[i].knot.local_ns == b->left.local_ns) {
			k[i].knot = b->left;
		} else if (k[i].knot.local_ns == b->right.local_ns) {
			k[i].knot = b->right;
		} else {
			band_at(b, &k[i].knot);
		}
	}
	/* A clock that was put back may have been late records all the same: then time falls. */
	bool good = route(b, k, n, 1) || route(b, k, n, 0);
	bool join = good && !b->cut->back;
	if (good) {
		usk_timeline_lower(l, usk_knot_time(&k[0].knot));
	}
	if (join) {
		usk_timeline_mark_lower(l, usk_knot_lower(&k[1].knot));
		for (size_t i = 1; i + 1 < n; i++) {
			usk_timeline_add(l, &k[i].knot, 1);
		}
	}
	size_t from = l->n;
	usk_timeline_add(l, next->knot, next->n_knots);
	if (good) {
		usk_timeline_lift(l, from, usk_knot_time(&k[n - 1].knot));
	}
	if (join) {
		usk_timeline_mark_upper(l, from, usk_knot_upper(&k[n - 2].knot));
	}
	free(k);
	return good || b->cut->back;
}
