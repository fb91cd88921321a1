/* SPDX-License-Identifier: MIT */
/*
 * course_open.c - what a pair's points leave open on both sides of an event, and how they bracket it
 *
 * In    points in the order of time, the spans in which something happened
 * Out   by how much the offset rose there, stamps of both clocks around it
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

static struct says alone(const struct usk_course_point *p, struct usk_slope_range c, bool behind)
{
	struct usk_offsets v = { .has = { false } };
	take_in(&v, p, c, 0, behind);
	return p->ceiling ? (struct says){ -USK_INF, v.hi } : (struct says){ v.lo, USK_INF };
}

static size_t leaf_of(const struct usk_outlook *x, size_t i, bool behind)
{
	return behind ? i : x->leaves - 1 - i;
}

struct usk_outlook *usk_course_outlook(const struct usk_course *w, struct usk_slope_range c)
{
	struct usk_outlook *out = usk_alloc(1, sizeof *out);
	out->leaves = usk_leaves(w->n);
	for (int behind = 0; behind < 2; behind++) {
		struct says *node = usk_grow(NULL, 2 * out->leaves, sizeof *node);
		for (size_t k = 0; k < out->leaves; k++) {
			node[out->leaves + k] = nothing;
		}
		for (size_t i = 0; i < w->n; i++) {
			const size_t last = behind ? i : i + 1;
			const bool fresh = last < w->n && w->p[last].fresh;
			node[out->leaves + leaf_of(out, i, behind)] =
				fresh ? other_event : alone(&w->p[i], c, behind);
		}
		for (size_t k = out->leaves; --k;) {
			node[k] = together(node[2 * k], node[2 * k + 1]);
		}
		out->node[behind] = node;
	}
	return out;
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
	const bool good = all.lo <= all.hi + more;
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

struct usk_offsets usk_course_look(const struct usk_outlook *outlook, struct usk_slope_range c,
				   const struct usk_course_point *p, size_t next, bool behind)
{
	const usk_i128 lo = (usk_i128)p->x * (behind ? c.fast_e12 : c.slow_e12);
	const usk_i128 hi = (usk_i128)p->x * (behind ? c.slow_e12 : c.fast_e12);
	const size_t leaf = behind ? next : outlook->leaves - next;
	const struct says known = take_from(outlook, behind, leaf, hi - lo, alone(p, c, behind));
	return (struct usk_offsets){ .has = { known.lo > -USK_INF, known.hi < USK_INF },
				     .lo = known.lo + lo,
				     .hi = known.hi + hi };
}

struct usk_offsets usk_course_left_open_until(const struct usk_course *w, struct usk_slope_range c,
					      size_t at, bool behind, size_t end)
{
	struct usk_offsets v = { .has = { false } };
	for (size_t i = at;; i = behind ? i + 1 : i - 1) {
		const struct usk_course_point *p = &w->p[i];
		struct usk_offsets next = v;
		take_in(&next, p, c, w->p[at].x, behind);
		bool fresh = i != at && (behind ? p->fresh : (p + 1)->fresh);
		if (fresh || (next.has[0] && next.has[1] && next.lo > next.hi)) {
			return v; /* another event */
		}
		v = next;
		if (i == end) {
			return v;
		}
	}
}

struct usk_offsets usk_course_left_open(const struct usk_course *w, struct usk_slope_range c,
					size_t at, bool behind)
{
	return w->outlook ? usk_course_look(w->outlook, c, &w->p[at], behind ? at + 1 : at, behind)
			  : usk_course_left_open_until(w, c, at, behind, behind ? w->n - 1 : 0);
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
	size_t k = x->leaves + leaf_of(x, from, behind);
	bool found;
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
	return found ? leaf_of(x, k - x->leaves, behind) : w->n;
}

struct usk_rise usk_rise_between(struct usk_slope_range c, struct usk_offsets l,
				 struct usk_offsets r, usk_i128 d)
{
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

struct usk_rise usk_course_rise(const struct usk_course *w, struct usk_slope_range c,
				const struct usk_span *s)
{
	return usk_rise_between(c, usk_course_left_open(w, c, s->from, false),
				usk_course_left_open(w, c, s->to, true),
				(usk_i128)w->p[s->to].x - w->p[s->from].x);
}

/* ---- stamps of the other clock -----------------------------------------------------------------
 */

/* What a showed at points of either kind. */
struct shown {
	int64_t least[2], most[2]; /* floors, ceilings */
};

/* A tree of them, in the order of points. */
struct usk_stamps {
	const struct usk_course *w;
	size_t leaves;
	struct shown *node;
};

static struct shown both_of(const struct shown *a, const struct shown *b)
{
	struct shown out = *a;
	for (int k = 0; k < 2; k++) {
		out.least[k] = b->least[k] < out.least[k] ? b->least[k] : out.least[k];
		out.most[k] = b->most[k] > out.most[k] ? b->most[k] : out.most[k];
	}
	return out;
}

struct usk_stamps *usk_course_stamps(const struct usk_course *w)
{
	struct usk_stamps *out = usk_alloc(1, sizeof *out);
	*out = (struct usk_stamps){ .w = w, .leaves = usk_leaves(w->n) };
	out->node = usk_grow(NULL, 2 * out->leaves, sizeof *out->node);
	for (size_t i = 0; i < out->leaves; i++) {
		struct shown *x = &out->node[out->leaves + i];
		*x = (struct shown){ { INT64_MAX, INT64_MAX }, { INT64_MIN, INT64_MIN } };
		if (i < w->n) {
			const bool kind = w->p[i].ceiling;
			x->least[kind] = x->most[kind] = usk_course_a_stamp(w->part, &w->p[i]);
		}
	}
	for (size_t k = out->leaves; --k;) {
		out->node[k] = both_of(&out->node[2 * k], &out->node[2 * k + 1]);
	}
	return out;
}

void usk_course_stamps_free(struct usk_stamps *s)
{
	if (s) {
		USK_FREE(s->node, s);
	}
}

/* For the first or last stamp at points that one contradicts: those on one side of it, by leaves of that tree. */
struct outermost {
	const struct usk_stamps *s;
	const struct usk_outlook *x;
	struct usk_slope_range c;
	const struct usk_course_point *p;
	struct says at;
	bool behind, last;
	size_t first, end, best;
	int64_t stamp; /* at the best one */
};

/* Of a node, and the number of its first point. */
static int64_t stamp_of(const struct outermost *q, size_t leaf, size_t size, size_t *i)
{
	*i = q->behind ? leaf : q->s->leaves - leaf - size;
	const struct shown *x = &q->s->node[(q->s->leaves + *i) / size];
	return q->last ? x->most[!q->p->ceiling] : x->least[!q->p->ceiling];
}

static bool is_better(const struct outermost *q, int64_t stamp, size_t i)
{
	return q->best == q->s->w->n || (q->last ? stamp > q->stamp : stamp < q->stamp) ||
	       (stamp == q->stamp && i < q->best);
}

static void seek_outermost(struct outermost *q, size_t k, size_t leaf, size_t size)
{
	const struct usk_course *w = q->s->w;
	size_t i, l, r;
	const int64_t stamp = stamp_of(q, leaf, size, &i);
	if (leaf >= q->end || leaf + size <= q->first || !is_better(q, stamp, i) ||
	    !contradicts(q->p, q->at, q->x->node[q->behind][k])) {
		return;
	}
	if (size == 1) {
		if (q->behind ? usk_course_contradict(q->c, q->p, &w->p[i])
			      : usk_course_contradict(q->c, &w->p[i], q->p)) {
			q->best = i;
			q->stamp = stamp;
		}
		return;
	}
	const size_t half = size / 2;
	const int64_t left = stamp_of(q, leaf, half, &l),
		      right = stamp_of(q, leaf + half, half, &r);
	const bool turned = q->last ? right > left : right < left;
	seek_outermost(q, 2 * k + turned, leaf + (turned ? half : 0), half);
	seek_outermost(q, 2 * k + !turned, leaf + (turned ? 0 : half), half);
}

size_t usk_course_outermost(const struct usk_stamps *s, const struct usk_outlook *x,
			    struct usk_slope_range c, const struct usk_course_point *p,
			    struct usk_range r, bool behind, bool last)
{
	struct outermost q = { .s = s,
			       .x = x,
			       .c = c,
			       .p = p,
			       .at = at_origin(p, c, behind),
			       .behind = behind,
			       .last = last,
			       .first = behind ? r.first : s->leaves - r.end,
			       .end = behind ? r.end : s->leaves - r.first,
			       .best = s->w->n };
	if (r.first < r.end) {
		seek_outermost(&q, 1, 0, s->leaves);
	}
	return q.best;
}

/* The first point from number i on, or the last before it, of a kind and at which a showed at least so much, or at
 * most; as many as there are points: none. */
static size_t nearest_stamp(const struct usk_stamps *s, size_t i, bool behind, bool ceiling,
			    int64_t limit)
{
	const size_t n = s->w->n, step = behind ? 1 : (size_t)-1, last = behind ? 0 : 1;
	size_t k = s->leaves + i - !behind;
	bool found = false;
	if (behind ? i >= n : !i) {
		return n;
	}
	for (;;) {
		const struct shown *x = &s->node[k];
		found = behind ? x->most[ceiling] >= limit : x->least[ceiling] <= limit;
		const size_t outermost = behind ? k + 1 : k;
		if (found || !(outermost & (outermost - 1))) {
			break;
		}
		for (k += step; (k & 1) == last;) {
			k /= 2;
		}
	}
	while (found && k < s->leaves) {
		const struct shown *x = &s->node[2 * k + !behind];
		const bool near = behind ? x->most[ceiling] >= limit : x->least[ceiling] <= limit;
		k = 2 * k + (near != behind);
	}
	return found ? k - s->leaves : n;
}

void usk_course_stamps_between(const struct usk_stamps *s, size_t from, size_t to, int64_t *least,
			       int64_t *most)
{
	struct shown all = { { INT64_MAX, INT64_MAX }, { INT64_MIN, INT64_MIN } };
	for (size_t l = from + s->leaves, r = to + s->leaves + 1; l < r; l /= 2, r /= 2) {
		if (l & 1) {
			all = both_of(&all, &s->node[l++]);
		}
		if (r & 1) {
			all = both_of(&all, &s->node[--r]);
		}
	}
	*least = all.least[0] < all.least[1] ? all.least[0] : all.least[1];
	*most = all.most[0] > all.most[1] ? all.most[0] : all.most[1];
}

/* For the first stamp that is not before one; turned: the last that is not behind it, as ~ turns the order of numbers. */
struct seek {
	const struct usk_stamps *s;
	struct usk_range r;
	bool ceiling, turned;
	int64_t own, best;
};

static void seek_next(struct seek *q, size_t i, size_t size)
{
	const struct shown *x = &q->s->node[(q->s->leaves + i) / size];
	const int64_t least = q->turned ? ~x->most[q->ceiling] : x->least[q->ceiling];
	const int64_t most = q->turned ? ~x->least[q->ceiling] : x->most[q->ceiling];
	if (i >= q->r.end || i + size <= q->r.first || most < q->own || least >= q->best) {
		return;
	}
	if (size == 1 || (least >= q->own && i >= q->r.first && i + size <= q->r.end)) {
		q->best = least;
		return;
	}
	seek_next(q, i, size / 2);
	seek_next(q, i + size / 2, size / 2);
}

bool usk_course_next_stamp(const struct usk_stamps *s, struct usk_range r, bool ceiling, bool next,
			   int64_t own, int64_t *stamp)
{
	struct seek q = { s, r, ceiling, !next, next ? own : ~own, INT64_MAX };
	seek_next(&q, 0, s->leaves);
	const bool any = q.best != INT64_MAX;
	*stamp = !any ? *stamp : next ? q.best : ~q.best;
	return any;
}

/* ---- brackets ----------------------------------------------------------------------------------
 */

/*
 * A message that b received was sent before: if a was set meanwhile, then before b's stamp of it.
 * The last one that b sent before, and a received before it sent this one, is before the event in
 * both ways; behind it is the same the other way round. As many as there are points: there is none.
 */
static void widen(const struct usk_course *w, const struct usk_span *s, size_t *from, size_t *to)
{
	int64_t first = usk_course_a_stamp(w->part, &w->p[s->from]),
		last = usk_course_a_stamp(w->part, &w->p[s->to]);
	bool sent = w->p[s->from].ceiling, received = !w->p[s->to].ceiling;
	*from = s->from;
	*to = s->to;
	if (w->stamps) {
		*from = sent ? s->from : nearest_stamp(w->stamps, s->from, false, true, first);
		*to = received ? s->to : nearest_stamp(w->stamps, s->to + 1, true, false, last);
		return;
	}
	while (*from && !sent) {
		const struct usk_course_point *p = &w->p[--*from];
		sent = p->ceiling && usk_course_a_stamp(w->part, p) <= first;
	}
	while (*to + 1 < w->n && !received) {
		const struct usk_course_point *p = &w->p[++*to];
		received = !p->ceiling && usk_course_a_stamp(w->part, p) >= last;
	}
	*from = sent ? *from : w->n;
	*to = received ? *to : w->n;
}

/* The last message before that a sent, and the first behind that it received: if b was set meanwhile, then between these. */
static void surround(const struct usk_course *w, const struct usk_span *s, struct usk_bracket *b)
{
	size_t before = s->from, behind = s->to;
	if (w->stamps) {
		before = nearest_stamp(w->stamps, s->from + 1, false, false, INT64_MAX - 1);
		behind = nearest_stamp(w->stamps, s->to, true, true, INT64_MIN + 1);
	} else {
		for (; before < w->n && w->p[before].ceiling; before--) {
		}
		for (; behind < w->n && !w->p[behind].ceiling; behind++) {
		}
	}
	const int64_t first =
		before < w->n ? usk_course_a_stamp(w->part, &w->p[before]) : INT64_MIN;
	const int64_t last = behind < w->n ? usk_course_a_stamp(w->part, &w->p[behind]) : INT64_MAX;
	b->a0_ns = first < b->a0_ns ? first : b->a0_ns;
	b->a1_ns = last > b->a1_ns ? last : b->a1_ns;
}

void usk_course_bracket(const struct usk_course *w, const struct usk_span *s, struct usk_bracket *b)
{
	const int64_t zero = w->part->frame.local_ns;
	size_t from, to;
	widen(w, s, &from, &to);
	*b = (struct usk_bracket){ .b0_ns = from < w->n ? zero + w->p[from].x : INT64_MIN,
				   .b1_ns = to < w->n ? zero + w->p[to].x : INT64_MAX,
				   .from_ns = zero + w->p[s->from].x,
				   .to_ns = zero + w->p[s->to].x,
				   .a0_ns = INT64_MAX,
				   .a1_ns = INT64_MIN,
				   .rises = s->rises,
				   .falls = usk_course_a_stamp(w->part, &w->p[s->to]) <
					    usk_course_a_stamp(w->part, &w->p[s->from]) };
	from = from < w->n ? from - (from > 0) : 0;
	to = to + 1 < w->n ? to + 1 : w->n - 1;
	/* Stamps of a are not in this order, and a message may be under way meanwhile. */
	if (w->stamps) {
		usk_course_stamps_between(w->stamps, from, to, &b->a0_ns, &b->a1_ns);
	} else {
		for (size_t i = from; i <= to; i++) {
			int64_t a = usk_course_a_stamp(w->part, &w->p[i]);
			b->a0_ns = a < b->a0_ns ? a : b->a0_ns;
			b->a1_ns = a > b->a1_ns ? a : b->a1_ns;
		}
	}
	surround(w, s, b);
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
