/* SPDX-License-Identifier: MIT */
/*
 * course_open.c - what a pair's points leave open on both sides of an event, and how they bracket it
 *
 * In    points in the order of time, the spans in which something happened
 * Out   by how much the offset rose there, how long messages were under way, stamps of both clocks
 *       around it
 * Not   where something happened (course.c)
 */
#include "graph/course.h"

#include <stdlib.h>

/* ---- what is left open -------------------------------------------------------------------------
 */

/* A point at x = `from`, carried to `at` by the rate that makes it say least. */
static void take_in(struct usk_offsets *v, const struct usk_course_point *p,
		    struct usk_slope_range c, usk_i128 at, bool behind)
{
	usk_i128 y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12, d = p->x - at;
	usk_i128 lo = y - d * (behind ? c.fast_e12 : c.slow_e12);
	usk_i128 hi = y - d * (behind ? c.slow_e12 : c.fast_e12);
	if (!p->ceiling && (!v->has[0] || lo > v->lo)) {
		v->has[0] = true;
		v->lo = lo;
	}
	if (p->ceiling && (!v->has[1] || hi < v->hi)) {
		v->has[1] = true;
		v->hi = hi;
	}
}

/* Of some points what one of the floors, and one of the ceilings, says at x = 0. */
struct says {
	usk_i128 lo, hi;
};

static const struct says nothing = { -USK_INF, USK_INF }, other_event = { USK_INF, -USK_INF };

/* A tree for each side: node 1 is of all points, 2 k and 2 k + 1 are the halves of k, those from
 * `leaves` on are one point each, from the nearest to the farthest. */
struct usk_outlook {
	size_t leaves;
	struct says *node[2]; /* before, behind */
};

static struct says together(struct says a, struct says b)
{
	return (struct says){ a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi };
}

static struct says alone(const struct usk_course_point *p, struct usk_slope_range c, bool behind,
			 struct says other)
{
	struct usk_offsets v = { .has = { true, true }, .lo = -USK_INF, .hi = USK_INF };
	take_in(&v, p, c, 0, behind);
	return p->ceiling ? (struct says){ other.lo, v.hi } : (struct says){ v.lo, other.hi };
}

static size_t leaf_of(const struct usk_course *w, size_t i, bool behind)
{
	return behind ? i : w->n - 1 - i;
}

/* Leaves that say nothing are `none`, and those behind which records tell of a break, if that is asked, `broken`. */
static struct usk_outlook *trees_of(const struct usk_course *w, struct usk_slope_range c,
				    struct says none, const struct says *broken,
				    struct says (*join)(struct says, struct says))
{
	struct usk_outlook *out = usk_alloc(1, sizeof *out);
	for (out->leaves = 1; out->leaves < w->n;) {
		out->leaves *= 2;
	}
	for (int behind = 0; behind < 2; behind++) {
		struct says *node = usk_grow(NULL, 2 * out->leaves, sizeof *node);
		for (size_t k = 0; k < out->leaves; k++) {
			node[out->leaves + k] = none;
		}
		for (size_t i = 0; i < w->n; i++) {
			const size_t last = behind ? i : i + 1;
			const bool fresh = broken && last < w->n && w->p[last].fresh;
			node[out->leaves + leaf_of(w, i, behind)] =
				fresh ? *broken : alone(&w->p[i], c, behind, none);
		}
		for (size_t k = out->leaves; --k;) {
			node[k] = join(node[2 * k], node[2 * k + 1]);
		}
		out->node[behind] = node;
	}
	return out;
}

struct usk_outlook *usk_course_outlook(const struct usk_course *w, struct usk_slope_range c)
{
	return trees_of(w, c, nothing, &other_event, together);
}

void usk_course_outlook_free(struct usk_outlook *x)
{
	if (x) {
		USK_FREE(x->node[0], x->node[1], x);
	}
}

/* False: it contradicts what is known. more: at x = `at` hi is by so much over what it is at 0. */
static bool take(struct says *known, struct says x, usk_i128 more)
{
	const struct says all = together(*known, x);
	const bool good = all.lo == -USK_INF || all.hi == USK_INF || all.lo <= all.hi + more;
	*known = good ? all : *known;
	return good;
}

/* From leaf k on as far as nothing contradicts, by the largest nodes. */
static struct says take_from(const struct usk_outlook *x, bool behind, size_t k, usk_i128 more,
			     struct says known)
{
	const struct says *node = x->node[behind];
	for (k += x->leaves; k & (k - 1); k++) {
		while (!(k & 1)) {
			k /= 2;
		}
		if (!take(&known, node[k], more)) {
			while (k < x->leaves) {
				k *= 2;
				k += take(&known, node[k], more);
			}
			break;
		}
	}
	return known;
}

static struct usk_offsets look_from(const struct usk_course *w, struct usk_slope_range c, size_t at,
				    bool behind)
{
	const usk_i128 x = w->p[at].x;
	const usk_i128 lo = x * (behind ? c.fast_e12 : c.slow_e12);
	const usk_i128 hi = x * (behind ? c.slow_e12 : c.fast_e12);
	const struct says known = take_from(w->outlook, behind, leaf_of(w, at, behind) + 1, hi - lo,
					    alone(&w->p[at], c, behind, nothing));
	return (struct usk_offsets){ .has = { known.lo > -USK_INF, known.hi < USK_INF },
				     .lo = known.lo + lo,
				     .hi = known.hi + hi };
}

struct usk_offsets usk_course_left_open(const struct usk_course *w, struct usk_slope_range c,
					size_t at, bool behind)
{
	struct usk_offsets v = { .has = { false } };
	if (w->outlook) {
		return look_from(w, c, at, behind);
	}
	for (size_t i = at;; i = behind ? i + 1 : i - 1) {
		const struct usk_course_point *p = &w->p[i];
		struct usk_offsets next = v;
		take_in(&next, p, c, w->p[at].x, behind);
		bool fresh = i != at && (behind ? p->fresh : (p + 1)->fresh);
		if (fresh || (next.has[0] && next.has[1] && next.lo > next.hi)) {
			return v; /* another event */
		}
		v = next;
		if (i == (behind ? w->n - 1 : 0)) {
			return v;
		}
	}
}

/* By the slopes that contradict least: the other way round than what a point says by itself (take_in()). */
static struct says at_origin(const struct usk_course_point *p, struct usk_slope_range c,
			     bool behind)
{
	const usk_i128 y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12;
	return (struct says){ y - (usk_i128)p->x * (behind ? c.slow_e12 : c.fast_e12),
			      y - (usk_i128)p->x * (behind ? c.fast_e12 : c.slow_e12) };
}

/* Does any point of a node, on the other side? */
static bool contradicts(const struct usk_course_point *p, struct says own, struct says x)
{
	return p->ceiling ? x.lo > own.hi : x.hi < own.lo;
}

size_t usk_course_nearest(const struct usk_course *w, const struct usk_outlook *x,
			  struct usk_slope_range c, const struct usk_course_point *p, size_t from,
			  bool behind)
{
	const struct says at = at_origin(p, c, behind);
	const struct says *node = x->node[behind];
	size_t k = x->leaves + leaf_of(w, from, behind);
	bool found = false;
	do {
		while (!(k & 1)) {
			k /= 2;
		}
		found = contradicts(p, at, node[k]);
		k += !found;
	} while (!found && k & (k - 1));
	while (found && k < x->leaves) {
		k *= 2;
		k += !contradicts(p, at, node[k]);
	}
	return found ? leaf_of(w, k - x->leaves, behind) : w->n;
}

struct usk_rise usk_course_rise(const struct usk_course *w, struct usk_slope_range c,
				const struct usk_span *s)
{
	struct usk_offsets l = usk_course_left_open(w, c, s->from, false),
			   r = usk_course_left_open(w, c, s->to, true);
	usk_i128 d = (usk_i128)w->p[s->to].x - w->p[s->from].x;
	usk_i128 slow = d * c.slow_e12, fast = d * c.fast_e12;
	struct usk_rise size = { USK_NONE, USK_NONE, { USK_NONE, USK_NONE } };
	usk_i128 rise[] = { r.lo - l.lo, r.hi - l.hi };
	for (int k = 0; k < 2; k++) {
		if (r.has[k] && l.has[k]) {
			usk_i128 e12 = rise[k] - (slow + fast) / 2;
			size.likely_ns[k] = usk_saturate(usk_floor_div(e12, USK_E12));
		}
	}
	if (r.has[0] && l.has[1]) {
		size.least_ns = usk_saturate(usk_floor_div(r.lo - l.hi - fast, USK_E12));
	}
	if (r.has[1] && l.has[0]) {
		size.most_ns = usk_saturate(usk_ceil_div(r.hi - l.lo - slow, USK_E12));
	}
	return size;
}

/* How long a message was under way at most, by offsets that are possible at `at`; negative: they
 * do not explain it, or do not say. */
static usk_i128 under_way(const struct usk_offsets *v, struct usk_slope_range c, usk_i128 at,
			  const struct usk_course_point *p)
{
	usk_i128 d = p->x - at, y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12;
	usk_i128 least = d * (d > 0 ? c.slow_e12 : c.fast_e12);
	usk_i128 most = d * (d > 0 ? c.fast_e12 : c.slow_e12);
	return !v->has[!p->ceiling] ? -1 : p->ceiling ? y - (v->lo + least) : v->hi + most - y;
}

/* The trees are of the least that floors say here, and the most that ceilings do. */
static struct says apart(struct says a, struct says b)
{
	return (struct says){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
}

struct usk_outlook *usk_course_flights(const struct usk_course *w, struct usk_slope_range c)
{
	return trees_of(w, c, other_event, NULL, apart);
}

/* Who was under way for longest while something happened between two moments. */
struct flight {
	const struct usk_course *w;
	struct usk_slope_range c;
	usk_i128 at[2];
	struct usk_offsets v[2]; /* there */
	usk_i128 longest;	 /* so far, e12 */
};

/* How far it lies from there: who is further away than it was under way for was not so meanwhile. */
static usk_i128 far_away(const struct flight *f, size_t i)
{
	const usk_i128 x = f->w->p[i].x;
	const usk_i128 far = x < f->at[0] ? f->at[0] - x : x > f->at[1] ? x - f->at[1] : 0;
	return far * USK_E12;
}

static void weigh(struct flight *f, size_t i)
{
	const usk_i128 l = under_way(&f->v[0], f->c, f->at[0], &f->w->p[i]);
	const usk_i128 r = under_way(&f->v[1], f->c, f->at[1], &f->w->p[i]);
	const usk_i128 least = l < 0 || (r >= 0 && r < l) ? r : l;
	if (least > f->longest && far_away(f, i) <= least) {
		f->longest = least;
	}
}

/* How long those of a node were under way at most, by either end. */
static usk_i128 at_most(const struct flight *f, struct says x, bool behind)
{
	const int64_t low = behind ? f->c.fast_e12 : f->c.slow_e12;
	const int64_t high = behind ? f->c.slow_e12 : f->c.fast_e12;
	usk_i128 most = -1;
	for (int k = 0; k < 2; k++) {
		const struct usk_offsets *v = &f->v[k];
		const usk_i128 floor = v->hi - (x.lo + f->at[k] * low);
		const usk_i128 ceiling = x.hi + f->at[k] * high - v->lo;
		most = v->has[1] && x.lo < USK_INF && floor > most ? floor : most;
		most = v->has[0] && x.hi > -USK_INF && ceiling > most ? ceiling : most;
	}
	return most;
}

/* Those of node k, from that leaf on, each half of them so many. */
static void seek(struct flight *f, const struct usk_outlook *x, bool behind, size_t k, size_t leaf,
		 size_t half)
{
	if (leaf >= f->w->n) {
		return;
	}
	const size_t i = leaf_of(f->w, leaf, behind);
	const usk_i128 most = at_most(f, x->node[behind][k], behind);
	if (most <= f->longest || far_away(f, i) > most) {
		return;
	}
	if (k >= x->leaves) {
		weigh(f, i);
		return;
	}
	seek(f, x, behind, 2 * k, leaf, half / 2);
	seek(f, x, behind, 2 * k + 1, leaf + half, half / 2);
}

/* From that leaf on. */
static void seek_from(struct flight *f, const struct usk_outlook *x, bool behind, size_t leaf)
{
	size_t k = x->leaves + leaf, of = 1;
	for (; k & (k - 1); k++) {
		for (; !(k & 1); k /= 2) {
			of *= 2;
		}
		seek(f, x, behind, k, k * of - x->leaves, of / 2);
	}
}

int64_t usk_course_flight(const struct usk_course *w, struct usk_slope_range c,
			  const struct usk_span *s, const struct usk_outlook *flights)
{
	struct flight f = { .w = w,
			    .c = c,
			    .at = { w->p[s->from].x, w->p[s->to].x },
			    .v = { usk_course_left_open(w, c, s->from, false),
				   usk_course_left_open(w, c, s->to, true) } };
	for (size_t i = s->from; i <= s->to; i++) {
		weigh(&f, i);
	}
	seek_from(&f, flights, false, leaf_of(w, s->from, false) + 1);
	seek_from(&f, flights, true, leaf_of(w, s->to, true) + 1);
	return usk_saturate(usk_ceil_div(f.longest, USK_E12));
}

/* ---- brackets ----------------------------------------------------------------------------------
 */

/*
 * A message that b received was sent before: if a was set meanwhile, then before b's stamp of it.
 * The last one that b sent before, and a received before it sent this one, is before the event in
 * both ways; behind it is the same the other way round.
 */
static void widen(const struct usk_course *w, const struct usk_span *s, size_t *from, size_t *to)
{
	int64_t first = usk_course_a_stamp(w->part, &w->p[s->from]),
		last = usk_course_a_stamp(w->part, &w->p[s->to]);
	bool sent = w->p[s->from].ceiling, received = !w->p[s->to].ceiling;
	*from = s->from;
	*to = s->to;
	while (*from && !sent) {
		const struct usk_course_point *p = &w->p[--*from];
		sent = p->ceiling && usk_course_a_stamp(w->part, p) <= first;
	}
	while (*to + 1 < w->n && !received) {
		const struct usk_course_point *p = &w->p[++*to];
		received = !p->ceiling && usk_course_a_stamp(w->part, p) >= last;
	}
}

void usk_course_bracket(const struct usk_course *w, const struct usk_span *s, struct usk_bracket *b)
{
	size_t from, to;
	widen(w, s, &from, &to);
	*b = (struct usk_bracket){ .b0_ns = w->part->frame.local_ns + w->p[from].x,
				   .b1_ns = w->part->frame.local_ns + w->p[to].x,
				   .from_ns = w->part->frame.local_ns + w->p[s->from].x,
				   .to_ns = w->part->frame.local_ns + w->p[s->to].x,
				   .a0_ns = INT64_MAX,
				   .a1_ns = INT64_MIN,
				   .rises = s->rises,
				   .falls = usk_course_a_stamp(w->part, &w->p[s->to]) <
					    usk_course_a_stamp(w->part, &w->p[s->from]) };
	from -= from > 0;
	to += to + 1 < w->n;
	/* Stamps of a are not in this order, and a message may be under way meanwhile. */
	for (size_t i = from; i <= to; i++) {
		int64_t a = usk_course_a_stamp(w->part, &w->p[i]);
		b->a0_ns = a < b->a0_ns ? a : b->a0_ns;
		b->a1_ns = a > b->a1_ns ? a : b->a1_ns;
	}
}

struct usk_reach usk_course_reach(const struct usk_course *w, const struct usk_spans *s)
{
	struct usk_reach r = { usk_grow(NULL, s->n + 1, sizeof *r.from),
			       usk_grow(NULL, s->n + 1, sizeof *r.to) };
	for (size_t k = 0; k < s->n; k++) {
		int64_t x = w->p[s->span[k].to].x;
		r.to[k] = k && r.to[k - 1] > x ? r.to[k - 1] : x;
	}
	for (size_t k = s->n; k--;) {
		int64_t x = w->p[s->span[k].from].x;
		r.from[k] = k + 1 < s->n && r.from[k + 1] < x ? r.from[k + 1] : x;
	}
	return r;
}

void usk_course_reach_free(struct usk_reach *r)
{
	USK_FREE(r->from, r->to);
	*r = (struct usk_reach){ NULL, NULL };
}
