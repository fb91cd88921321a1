/* SPDX-License-Identifier: MIT */
/*
 * doubts.c - what happened to the clocks of a pair if its outliers are right
 *
 * In    points of a pair without outliers, and these; brackets in which no calm clock goes on
 * Out   brackets of what happened then; which outliers are right, as brackets explain them
 * Why   nothing tells a wrong message from a clock that was set before it and back behind: the band
 *       has to hold either way
 * Not   which messages are outliers (wrong.c)
 */
#include "graph/course.h"

#include <stdlib.h>
#include <string.h>

/* An outlier among the points again, in place of the one at `at`; returns where it is. */
static size_t insert(struct usk_course *w, const struct usk_suspect *s, size_t at)
{
	struct usk_course_point p = usk_course_point_of(w->part, s);
	for (; at && w->p[at - 1].x >= p.x; at--) {
		w->p[at] = w->p[at - 1];
	}
	for (; at + 1 < w->n && w->p[at + 1].x < p.x; at++) {
		w->p[at] = w->p[at + 1];
	}
	w->p[at] = p;
	return at;
}

/* The nearest points that the one at `at` contradicts, on either side. */
struct against {
	size_t from, to;
	bool before, behind;
	bool fresh[2]; /* none, as far as records tell of a break */
};

static struct against against_of(const struct usk_course *w, struct usk_slope_range c, size_t at)
{
	struct against g = { .from = at, .to = at };
	while (g.from && !g.before && !g.fresh[0]) {
		g.from--;
		g.before = usk_course_contradict(c, &w->p[g.from], &w->p[at]);
		g.fresh[0] = !g.before && w->p[g.from + 1].fresh;
	}
	while (g.to + 1 < w->n && !g.behind && !g.fresh[1]) {
		g.to++;
		g.behind = usk_course_contradict(c, &w->p[at], &w->p[g.to]);
		g.fresh[1] = !g.behind && w->p[g.to].fresh;
	}
	return g;
}

static int64_t a_stamp(const struct usk_course *w, size_t i)
{
	const struct usk_course_point *p = &w->p[i];
	return usk_part_other(w->part, (struct usk_xy){ p->x, p->y }, p->ceiling);
}

struct usk_happened usk_happened_in(const struct usk_course *w, const struct usk_spans *s)
{
	struct usk_happened h = { usk_alloc(s->n + 1, sizeof *h.in), s->n };
	for (size_t i = 0; i < s->n; i++) {
		h.in[i] = (struct usk_between){ w->p[s->span[i].from].x, w->p[s->span[i].to].x };
	}
	return h;
}

/* Did anything happen between x and y? */
static bool happened(const struct usk_happened *h, int64_t x, int64_t y)
{
	bool any = false;
	for (size_t i = 0; i < h->n && !any; i++) {
		any = h->in[i].to > x && h->in[i].from < y;
	}
	return any;
}

/* The points of one stretch between breaks that records tell of. */
static void stretch_of(const struct usk_course *w, size_t at, size_t *first, size_t *last)
{
	for (*first = at; *first && !w->p[*first].fresh;) {
		--*first;
	}
	for (*last = at; *last + 1 < w->n && !w->p[*last + 1].fresh;) {
		++*last;
	}
}

/* Does a's stamp of it lie where b would have shown its own if it was set back: among those of its stretch, at an end
 * of all, or nearer than all that lies beyond a break? */
static bool is_near(const struct usk_course *w, size_t at, size_t begin, size_t end, bool last)
{
	const int64_t a = a_stamp(w, at);
	const bool beyond = last ? end + 1 < w->n : begin > 0;
	bool any = false, all = true;
	for (size_t i = 0; i < w->n; i++) {
		const bool further = last ? a_stamp(w, i) >= a : a_stamp(w, i) <= a;
		any = any || (i != at && further);
		all = all && (further || (last ? i <= end : i >= begin));
	}
	return beyond ? all : any;
}

/*
 * A stamp of a that lies surely before what b did at one point, or surely behind (last): that of the nearest message
 * which says so, as it was sent there, or received, in order with that point; else the outermost one.
 */
static int64_t surely_beyond(const struct usk_course *w, size_t at, bool last)
{
	const struct usk_course_point *p = &w->p[at];
	const int64_t own = a_stamp(w, at);
	int64_t best = own, outermost = own;
	bool any = false;
	for (size_t i = 0; i < w->n && p->ceiling != last; i++) {
		const struct usk_course_point *q = &w->p[i];
		const int64_t a = a_stamp(w, i);
		const bool ordered = last ? q->x >= p->x && a >= own : q->x <= p->x && a <= own;
		outermost = last == (a > outermost) ? a : outermost;
		if (q->ceiling == last && ordered && (!any || last == (a < best))) {
			best = a;
			any = true;
		}
	}
	return any ? best : outermost;
}

/*
 * What lies among others by b's stamps may still contradict none that is behind it by a's, or before
 * it, though nothing happened there: then a clock was set, maybe, and need not return before the end, or before the
 * records tell of a break. Nothing is known of b beyond the nearest that it does contradict.
 */
static bool doubt_at_end(const struct usk_course *w, struct usk_slope_range c,
			 const struct usk_happened *h, size_t at, bool last, struct usk_bracket *b)
{
	int64_t a = a_stamp(w, at), near_a = 0;
	size_t near = at, begin, end;
	stretch_of(w, at, &begin, &end);
	/* From where it is likely that one shows that it is none. */
	for (size_t k = begin; k <= end; k++) {
		size_t i = last ? end - (k - begin) : k;
		int64_t other = a_stamp(w, i);
		const struct usk_course_point *p = &w->p[i < at ? i : at],
					      *q = &w->p[i < at ? at : i];
		if (i == at || !usk_course_contradict(c, p, q)) {
			continue;
		}
		if (last ? other > a : other < a) {
			return false;
		}
		if (near == at || (last ? other >= near_a : other < near_a)) {
			near = i;
			near_a = other;
		}
	}
	/* From whichever b showed first, if it was set back. */
	const bool set_back = last == (at < near) && is_near(w, at, begin, end, last);
	const int64_t x = w->p[set_back ? at : near].x;
	const int64_t y = w->p[last ? end : begin].x + (last ? 1 : -1);
	*b = (struct usk_bracket){ .b0_ns = w->part->frame.local_ns + (last ? x : y),
				   .b1_ns = w->part->frame.local_ns + (last ? y : x),
				   .a0_ns = surely_beyond(w, last ? near : at, false),
				   .a1_ns = surely_beyond(w, last ? at : near, true),
				   .step = true,
				   .doubted = true,
				   .both = true,
				   .least_ns = set_back ? USK_NONE : 0,
				   .most_ns = set_back ? USK_NONE : 0 };
	return near != at && !happened(h, last ? x : y, last ? y : x);
}

/*
 * Nothing tells a wrong message from a clock that was set before it and back behind, or from
 * one that was set at an end: so bounds allow for that, too, from the nearest message that it
 * contradicts to the nearest behind. But no clock returns that was set by more than the time to
 * these: else a single wrong message would leave nothing known of hours. At a break that records
 * tell of it need not return.
 */
static bool doubt_of(const struct usk_course *w, struct usk_slope_range c,
		     const struct usk_happened *h, size_t at, const struct usk_suspect *s,
		     struct usk_bracket *b)
{
	struct against g = against_of(w, c, at);
	size_t from = g.from, to = g.to;
	bool before = g.before || g.fresh[0], behind = g.behind || g.fresh[1];
	bool both = g.before && g.behind;
	usk_i128 since = (usk_i128)w->p[at].x - w->p[from].x;
	usk_i128 until = (usk_i128)w->p[to].x - w->p[at].x;
	bool any = (before || behind) && !(both && s->excess_ns > (since < until ? since : until));
	if (any) {
		/* What it does not contradict ends with it. */
		struct usk_span span = { .from = before ? from : at,
					 .to = behind ? to : at,
					 .rises = before != s->ceiling };
		usk_course_bracket(w, &span, b);
		b->doubted = true;
		b->both = both;
		/* It was set by as much as that contradicts, give or take delays. */
		struct usk_rise net = usk_course_rise(w, c, &span);
		bool known = net.least_ns != USK_NONE && net.most_ns != USK_NONE;
		usk_i128 far = s->excess_ns + (known ? (usk_i128)net.most_ns - net.least_ns : 0);
		b->most_ns = both || s->excess_ns <= since + until ? usk_saturate(far) : 0;
		b->least_ns = -b->most_ns;
	}
	return any || ((before || behind) &&
		       (doubt_at_end(w, c, h, at, true, b) || doubt_at_end(w, c, h, at, false, b)));
}

/* For one more, in points of its own. */
static void make_room(struct usk_course *w)
{
	struct usk_course_point *p = usk_grow(NULL, w->n + 1, sizeof *p);
	if (w->n) {
		memcpy(p, w->p, w->n * sizeof *p);
	}
	w->p = p;
	w->n++;
}

void usk_doubts_note(const struct usk_course *w, struct usk_slope_range cone,
		     const struct usk_happened *h, struct usk_calm *c)
{
	const struct usk_part *p = w->part;
	const struct usk_slope_range any = { -w->skew_e12, w->skew_e12 };
	size_t n = c->n_outliers + p->n_left_out;
	if (w->fixed || !n) { /* a clock of one rate was not set */
		return;
	}
	cone = w->own_rates ? any : cone;
	c->doubt = usk_alloc(n, sizeof *c->doubt);
	struct usk_course with = *w;
	make_room(&with);
	for (size_t i = 0, at = w->n; i < n; i++) {
		const struct usk_suspect *s =
			i < c->n_outliers ? &c->outlier[i] : &p->left_out[i - c->n_outliers];
		if (!s->right) {
			at = insert(&with, s, at);
			c->n_doubts += doubt_of(&with, cone, h, at, s, &c->doubt[c->n_doubts]);
		}
	}
	free(with.p);
}

/* How many of v[n], which do not fall, are less than x? */
static size_t count_under(const int64_t *v, size_t n, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, n, v[i] >= x);
	return i;
}

/* A bracket between two points, in the direction that these say, the first one or the last; its
 * number, or that of none. */
static size_t between(const struct usk_course *w, const struct usk_spans *s,
		      const struct usk_reach *r, const struct usk_course_point *a,
		      const struct usk_course_point *b, bool last)
{
	size_t from = count_under(r->to, s->n, a->x + 1), to = count_under(r->from, s->n, b->x);
	for (size_t i = from; i < to; i++) {
		size_t k = last ? to - 1 - (i - from) : i;
		const struct usk_span *x = &s->span[k];
		if (w->p[x->from].x < b->x && w->p[x->to].x > a->x && x->rises == a->ceiling) {
			return k;
		}
	}
	return s->n;
}

void usk_doubts_explain(const struct usk_course *w, const struct usk_spans *s, struct usk_calm *c)
{
	const struct usk_part *p = w->part;
	if (!p->n_left_out) {
		return;
	}
	c->explained = usk_alloc(p->n_left_out, sizeof *c->explained);
	struct usk_reach r = usk_course_reach(w, s);
	struct usk_course with = *w;
	make_room(&with);
	for (size_t i = 0, at = w->n; i < p->n_left_out; i++) {
		at = insert(&with, &p->left_out[i], at);
		struct against g = against_of(&with, s->cone, at);
		size_t k = g.before ? between(w, s, &r, &with.p[g.from], &with.p[at], false) : 0;
		size_t l = g.behind ? between(w, s, &r, &with.p[at], &with.p[g.to], true) : 0;
		/* With more wander it may contradict nothing: that explains nothing. */
		bool any = g.before || g.behind || g.fresh[0] || g.fresh[1];
		/* One event is not both before and behind it. */
		bool two = !g.before || !g.behind || k < l;
		if (!p->left_out[i].right && any && two && (!g.before || k < s->n) &&
		    (!g.behind || l < s->n)) {
			c->explained[c->n_explained++] = i;
		}
	}
	free(with.p);
	usk_course_reach_free(&r);
}
