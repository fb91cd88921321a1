/* SPDX-License-Identifier: MIT */
/*
 * course.c - the points of a pair in the order of time, and where no calm clock goes on in them
 *
 * The interval of possible offsets is walked from point to point, opening by the rates that are
 * possible. Where it becomes empty something happened since the point that it is empty for, and
 * it begins again. Walked forwards this says the latest, walked backwards the earliest that the
 * k-th of the fewest such events can have happened.
 *
 * Which rates are possible is known from the longest stretch that some constant rate explains.
 */
#include "graph/course.h"
#include "fit/cone.h"

#include <stdlib.h>

struct cut {
	size_t at;
	bool rises;
};

struct cuts {
	struct cut *cut;
	size_t n, cap;
};

/* ---- points ------------------------------------------------------------------------------------
 */

/* As recorded: a floor may lie a little behind its stamp. */
static int64_t b_stamp(const struct usk_part *part, const struct usk_course_point *p)
{
	return usk_part_recorded(part, (struct usk_xy){ p->x, p->y }, p->ceiling).local_ns;
}

bool usk_back_between(const struct usk_graph_back *back, int64_t before, int64_t after)
{
	for (size_t i = 0; back && i < back->n; i++) {
		if (before <= back->gap[i].before_ns && back->gap[i].after_ns <= after) {
			return true;
		}
	}
	return false;
}

/* Is a point not among those of some, both sorted? *k: how many of these are passed. */
static bool missing(struct usk_xy p, const struct usk_xy *some, size_t n, size_t *k)
{
	while (*k < n && some[*k].x < p.x) {
		++*k;
	}
	return *k == n || some[*k].x != p.x || some[*k].y != p.y;
}

/* Of points that are kept on either side of their second those that are hidden on one, and are on
 * no hull. */
static bool *hidden(const struct usk_part *p, int side)
{
	struct usk_cone c = usk_cone_of(&p->frame);
	const struct usk_xy *q = p->point[side];
	size_t n = p->n[side], n_cone = 0, n_hull, i = 0, j = 0;
	bool *out = usk_alloc(n + 1, sizeof *out);
	if (!p->frame.steps) {
		return out;
	}
	struct usk_xy *cone = usk_alloc(n + 1, sizeof *cone),
		      *hull = usk_alloc(n + 1, sizeof *hull);
	c.rate_e12 = side == 1 ? -c.rate_e12 : c.rate_e12;
	c.phase -= side == 0 ? p->q_ns[0] : 0; /* its stamps were moved by so much */
	for (size_t k = 0; k < n; k++) {
		n_cone = usk_cone_push(&c, cone, n_cone, q[k], usk_cone_second(&c, q[k].x));
	}
	n_hull = usk_hull_of_sorted(q, n, hull);
	for (size_t k = 0; k < n; k++) {
		out[k] = missing(q[k], cone, n_cone, &i) && missing(q[k], hull, n_hull, &j);
	}
	free(cone);
	free(hull);
	return out;
}

void usk_course_of(struct usk_course *w, const struct usk_graph_back *known_a,
		   const struct usk_graph_back *known_b)
{
	const struct usk_part *p = w->part;
	bool *hides[2] = { hidden(p, 0), hidden(p, 1) };
	w->p = usk_alloc(p->n[0] + p->n[1] + 1, sizeof *w->p);
	for (size_t i = 0, j = 0; i < p->n[0] || j < p->n[1];) {
		bool ceiling = usk_part_turn(p, i, j);
		size_t k = ceiling ? j++ : i++;
		struct usk_xy q = p->point[ceiling][k];
		w->p[w->n++] = (struct usk_course_point){
			.x = q.x, .y = q.y, .ceiling = ceiling, .hidden = hides[ceiling][k]
		};
	}
	free(hides[0]);
	free(hides[1]);
	bool known = (known_a && known_a->n) || (known_b && known_b->n);
	for (size_t i = 1; i < w->n && known; i++) {
		const struct usk_course_point *now = &w->p[i], *last = now - 1;
		int64_t a[] = { usk_course_a_stamp(p, last), usk_course_a_stamp(p, now) };
		/* Of a message that is under way meanwhile a's stamp may be in no order with
		 * others. */
		w->p[i].fresh = usk_back_between(known_b, b_stamp(p, last), b_stamp(p, now)) ||
				usk_back_between(known_a, a[0], a[1]) ||
				usk_back_between(known_a, a[1], a[0]);
	}
}

/* ---- walks -------------------------------------------------------------------------------------
 */

bool usk_course_narrow(struct usk_offsets *v, const struct usk_course_point *p)
{
	usk_i128 y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12;
	if (p->ceiling && (!v->has[1] || y < v->hi)) {
		v->hi = y;
		v->has[1] = true;
	} else if (!p->ceiling && (!v->has[0] || y > v->lo)) {
		v->lo = y;
		v->has[0] = true;
	}
	if (v->has[0] && v->has[1] && v->lo > v->hi) {
		*v = (struct usk_offsets){ .has = { !p->ceiling, p->ceiling }, .lo = y, .hi = y };
		return false;
	}
	return true;
}

/* From one point to the other, against the order of points if d is negative. */
static void open_up(struct usk_offsets *v, struct usk_slope_range c, usk_i128 d)
{
	v->lo += d * (d < 0 ? c.fast_e12 : c.slow_e12);
	v->hi += d * (d < 0 ? c.slow_e12 : c.fast_e12);
}

bool usk_course_carry(const struct usk_course *w, struct usk_slope_range c, bool back, size_t i,
		      struct usk_offsets *v)
{
	const struct usk_course_point *p = &w->p[i], *last = back ? p + 1 : p - 1;
	bool fresh = back ? last->fresh : p->fresh;
	open_up(v, c, (usk_i128)p->x - last->x);
	if (fresh) {
		*v = (struct usk_offsets){ .has = { false } };
	}
	return fresh;
}

/* A walk, by the cone of all slopes that are possible or, own, by a rate of its own for each
 * stretch, as long as one explains it. */
struct walk {
	const struct usk_course *w;
	bool back, own, begun;
	struct usk_slope_range c;
	int64_t wander;
	struct usk_offsets v;
	struct usk_needing g;
};

enum went { ON, FRESH, CUT };

/* To point i, which is the next one: CUT if it leaves nothing, and all begins with it. */
static enum went walk_to(struct walk *x, size_t i)
{
	const struct usk_course_point *p = &x->w->p[i];
	bool good, fresh = x->begun && (x->back ? (p + 1)->fresh : p->fresh);
	if (x->own) {
		const struct usk_xy at = { x->back ? -p->x : p->x, p->y };
		if (fresh) {
			usk_needing_clear(&x->g);
		}
		usk_needing_push(&x->g, p->ceiling, at);
		good = usk_need_within(&x->g.need, x->w->skew_e12) <= x->wander;
		if (!good) {
			usk_needing_clear(&x->g);
			usk_needing_push(&x->g, p->ceiling, at);
		}
	} else {
		if (x->begun) {
			usk_course_carry(x->w, x->c, x->back, i, &x->v);
		}
		good = usk_course_narrow(&x->v, p);
	}
	x->begun = true;
	return !good ? CUT : fresh ? FRESH : ON;
}

/* In the order of points a cut is the first behind, backwards the last before the event. */
static struct cuts walk(struct walk x, bool back)
{
	struct cuts out = { .n = 0 };
	x.back = back;
	for (size_t k = 0; k < x.w->n; k++) {
		size_t i = back ? x.w->n - 1 - k : k;
		if (walk_to(&x, i) == CUT) {
			*USK_ADD(out.cut, out.n, out.cap) =
				(struct cut){ i, x.w->p[i].ceiling == back };
		}
	}
	usk_needing_free(&x.g);
	for (size_t i = 0; back && i < out.n / 2; i++) {
		struct cut t = out.cut[i];
		out.cut[i] = out.cut[out.n - 1 - i];
		out.cut[out.n - 1 - i] = t;
	}
	return out;
}

/* The nearest point before `at` (behind, back) that contradicts what lies between: one event at
 * least is between them. */
static size_t reach(struct walk x, size_t at, bool back)
{
	size_t i = at, end = back ? 0 : x.w->n - 1;
	x.back = back;
	enum went went = walk_to(&x, at);
	while (went == ON && i != end) {
		i = back ? i - 1 : i + 1;
		went = walk_to(&x, i);
	}
	usk_needing_free(&x.g);
	return went == ON && !x.own ? at : i;
}

/* ---- brackets ----------------------------------------------------------------------------------
 */

/*
 * What the longest stretch needs in which nothing happened for certain: from the first point behind
 * the one cut to the last before the next one. What lies between a cut forwards and the same
 * backwards may be of either side, and what explains it too is maybe no rate that the clocks had.
 */
static struct usk_need surely_calm(const struct usk_course *w, const struct cuts *forth,
				   const struct cuts *back)
{
	struct usk_need longest = { .has_lo = false };
	usk_i128 most = -1;
	for (size_t k = 0; k <= forth->n; k++) {
		struct usk_needing g = { .n = { 0 } };
		size_t from = k ? forth->cut[k - 1].at : 0;
		size_t to = k < forth->n && k < back->n ? back->cut[k].at : w->n - 1;
		for (size_t i = from; i <= to && i < w->n; i++) {
			const struct usk_course_point *p = &w->p[i];
			if (p->fresh) {
				usk_needing_clear(&g);
				from = i;
			}
			usk_needing_push(&g, p->ceiling, (struct usk_xy){ p->x, p->y });
			if ((usk_i128)p->x - w->p[from].x > most) {
				most = (usk_i128)p->x - w->p[from].x;
				longest = g.need;
			}
		}
		usk_needing_free(&g);
	}
	return longest;
}

struct usk_slope_range usk_course_cone(const struct usk_course *w, int64_t wander,
				       const struct usk_need *need)
{
	const usk_i128 skew = w->skew_e12, twice = 2 * (usk_i128)wander;
	usk_i128 slow = need->has_lo ? usk_slope_e12(need->s_lo, false) - twice : -skew;
	usk_i128 fast = need->has_hi ? usk_slope_e12(need->s_hi, true) + twice : skew;
	if (slow > fast) { /* no wander that is assumed explains it: nothing is known of rates */
		slow = -skew;
		fast = skew;
	}
	return (struct usk_slope_range){ (int64_t)usk_clamp(slow, -skew, skew),
					 (int64_t)usk_clamp(fast, -skew, skew) };
}

/* One event lies between the k-th cut forwards and the same backwards. Two that the fewest events
 * explain as one lie where messages contradict each other: from the last before that one cut
 * contradicts to the first behind that the other does. Frees the cuts. */
static struct usk_spans spans_between(const struct walk *x, struct cuts *forth, struct cuts *back)
{
	struct usk_spans out = { .n = forth->n < back->n ? forth->n : back->n, .cone = x->c };
	out.span = usk_alloc(out.n + 1, sizeof *out.span);
	for (size_t k = 0; k < out.n; k++) {
		size_t e = back->cut[k].at, f = forth->cut[k].at;
		size_t l = reach(*x, f, true), r = reach(*x, e, false);
		size_t from = e < f ? e : f, to = e < f ? f : e;
		out.span[k] = (struct usk_span){ .from = l < from ? l : from,
						 .to = r > to ? r : to,
						 .rises = forth->cut[k].rises };
	}
	free(forth->cut);
	free(back->cut);
	return out;
}

struct usk_spans usk_course_spans(const struct usk_course *w, int64_t wander)
{
	struct walk x = { .w = w, .own = true, .wander = wander };
	struct cuts forth = walk(x, false), back = walk(x, true);
	const struct usk_need need = surely_calm(w, &forth, &back);
	x.c = usk_course_cone(w, wander, &need);
	x.own = w->own_rates;
	if (!x.own && forth.n) {
		free(forth.cut);
		free(back.cut);
		forth = walk(x, false);
		back = walk(x, true);
	}
	return spans_between(&x, &forth, &back);
}

struct usk_spans usk_course_steps(const struct usk_course *w)
{
	const struct walk x = { .w = w, .c = { -w->skew_e12, w->skew_e12 } };
	struct cuts forth = walk(x, false), back = walk(x, true);
	return spans_between(&x, &forth, &back);
}

bool *usk_course_happens(const struct usk_course *w, const struct usk_spans *s)
{
	int32_t *begins = usk_alloc(w->n + 1, sizeof *begins), depth = 0;
	bool *out = usk_alloc(w->n + 1, sizeof *out);
	for (size_t k = 0; k < s->n; k++) {
		begins[s->span[k].from + 1]++;
		begins[s->span[k].to + 1]--;
	}
	for (size_t i = 0; i < w->n; i++) {
		depth += begins[i];
		out[i] = depth > 0;
	}
	free(begins);
	return out;
}

static bool meet(const struct usk_span *a, const struct usk_span *b)
{
	return a->from <= b->to && b->from <= a->to;
}

/* By span: where the first of it and all behind it begins. They are in their order, nearly: so few
 * are looked at for each of others that are, too. */
static size_t *least_from(const struct usk_spans *s)
{
	size_t *least = usk_grow(NULL, s->n + 1, sizeof *least);
	least[s->n] = SIZE_MAX;
	for (size_t i = s->n; i--;) {
		size_t from = s->span[i].from;
		least[i] = from < least[i + 1] ? from : least[i + 1];
	}
	return least;
}

void usk_course_mark(struct usk_spans *s, const struct usk_spans *steps)
{
	size_t *own = least_from(s), *from = least_from(steps), first = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct usk_span *x = &s->span[i];
		while (first < steps->n && steps->span[first].to < own[i]) {
			first++;
		}
		x->step = false;
		for (size_t k = first; from[k] <= x->to && !x->step; k++) {
			x->step = meet(x, &steps->span[k]);
		}
	}
	free(own);
	free(from);
}

/* The first that meets a step, in its direction, those before *first being passed; or a new one, in
 * their order. */
static struct usk_span *span_for(struct usk_spans *s, const struct usk_span *step, size_t *first)
{
	size_t at = 0;
	for (size_t i = *first; i < s->n; i++) {
		if (meet(&s->span[i], step) && s->span[i].rises == step->rises) {
			return &s->span[i];
		}
	}
	for (size_t i = 0; i < s->n; i++) {
		at += s->span[i].from <= step->from;
	}
	*first = at < *first ? at : *first;
	s->span = usk_grow(s->span, s->n + 1, sizeof *s->span);
	for (size_t i = s->n++; i > at; i--) {
		s->span[i] = s->span[i - 1];
	}
	s->span[at] = *step;
	return &s->span[at];
}

size_t usk_course_hold_steps(const struct usk_course *w, struct usk_spans *s)
{
	struct usk_spans steps = usk_course_steps(w);
	size_t *from = least_from(&steps), first = 0;
	for (size_t k = 0; k < steps.n; k++) {
		const struct usk_span *step = &steps.span[k];
		while (first < s->n && s->span[first].to < from[k]) {
			first++;
		}
		struct usk_span *x = span_for(s, step, &first);
		x->from = step->from < x->from ? step->from : x->from;
		x->to = step->to > x->to ? step->to : x->to;
	}
	usk_course_mark(s, &steps);
	free(from);
	free(steps.span);
	return steps.n;
}

bool usk_course_slewed(const struct usk_course *w, struct usk_spans *s)
{
	struct usk_spans steps = usk_course_steps(w);
	bool any = false;
	usk_course_mark(s, &steps);
	for (size_t i = 0; i < s->n; i++) {
		any = any || !s->span[i].step;
	}
	free(steps.span);
	return any;
}

bool usk_course_contradict(struct usk_slope_range c, const struct usk_course_point *first,
			   const struct usk_course_point *second)
{
	usk_i128 over = (usk_i128)first->y + second->y, d = (usk_i128)second->x - first->x;
	int64_t slope = second->ceiling ? -c.slow_e12 : c.fast_e12;
	return first->ceiling != second->ceiling && over * USK_E12 > d * slope;
}
