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

/* Points, what they leave open by some range of slopes, and the same points with an outlier among them, at `at`. */
struct among {
	const struct usk_course *w;
	struct usk_slope_range c;
	struct usk_outlook *x;
	struct usk_course with;
	size_t at;
	usk_i128 silence; /* the longest between stamps of a */
};

/* Where records tell of a break. */
struct breaks {
	size_t *at, n;
};

static struct among among_of(const struct usk_course *w, struct usk_slope_range c,
			     struct usk_outlook *x)
{
	struct among m = { .w = w, .c = c, .x = x, .with = *w, .at = w->n };
	m.with.p = usk_grow(NULL, w->n + 1, sizeof *m.with.p);
	if (w->n) {
		memcpy(m.with.p, w->p, w->n * sizeof *m.with.p);
	}
	m.with.n++;
	m.with.outlook = NULL;
	m.with.stamps = NULL;
	return m;
}

/* Does the outlier contradict a point of that side? */
static bool is_against(const struct among *m, size_t i, bool behind)
{
	const struct usk_course_point *p = &m->with.p[m->at], *q = &m->w->p[i];
	return usk_course_contradict(m->c, behind ? p : q, behind ? q : p);
}

/* The nearest point from number i on, behind or before, that the outlier contradicts, or that ends what no records tell of
 * a break in; their count: there is none. */
static size_t nearest(const struct among *m, size_t i, bool behind)
{
	return usk_course_nearest(m->w, m->x, m->c, &m->with.p[m->at], i, behind);
}

static struct against against_of(const struct among *m)
{
	const size_t n = m->w->n, at = m->at;
	struct against g = { .from = at, .to = at };
	for (size_t i = at; i && !g.before && !g.fresh[0];) {
		i = nearest(m, i - 1, false);
		g.from = i < n ? i : 0;
		g.before = i < n && is_against(m, i, false);
		g.fresh[0] = i < n && !g.before && i + 1 < at;
		i = i < n ? i : 0;
	}
	for (size_t i = at; i < n && !g.behind && !g.fresh[1]; i++) {
		i = nearest(m, i, true);
		g.to = i < n ? i + 1 : n;
		g.behind = i < n && is_against(m, i, true);
		g.fresh[1] = i < n && !g.behind;
	}
	return g;
}

static int64_t a_stamp(const struct usk_course *w, size_t i)
{
	const struct usk_course_point *p = &w->p[i];
	return usk_part_other(w->part, (struct usk_xy){ p->x, p->y }, p->ceiling);
}

/* From x on nothing is known to have happened until y, or since then; false: something was around x. */
static bool goes_on(const struct usk_course *w, int64_t x, bool last, int64_t *y)
{
	bool any = true;
	for (size_t i = 0; i < w->n_happened; i++) {
		const int64_t from = w->happened[i].from, to = w->happened[i].to;
		if (last ? to > x && from < *y : from < x && to > *y) {
			any = any && (last ? from > x : to < x);
			*y = last ? (to < *y ? to : *y) : from > *y ? from : *y;
		}
	}
	return any;
}

static struct breaks breaks_of(const struct usk_course *w)
{
	struct breaks b = { usk_grow(NULL, w->n + 1, sizeof *b.at), 0 };
	for (size_t i = 0; i < w->n; i++) {
		b.at[b.n] = i;
		b.n += w->p[i].fresh;
	}
	return b;
}

/* The points of one stretch between breaks that records tell of, but for the outlier. */
static struct usk_range stretch_of(const struct among *m, const struct breaks *b)
{
	size_t k;
	USK_FIRST(k, 0, b->n, b->at[k] >= m->at);
	return (struct usk_range){ k ? b->at[k - 1] : 0, k < b->n ? b->at[k] : m->w->n };
}

static usk_i128 longest_silence(const struct usk_course *w)
{
	int64_t *a = usk_grow(NULL, w->n + 1, sizeof *a);
	usk_i128 longest = 0;
	for (size_t i = 0; i < w->n; i++) {
		a[i] = a_stamp(w, i);
	}
	qsort(a, w->n, sizeof *a, usk_by_int64);
	for (size_t i = 1; i < w->n; i++) {
		const usk_i128 silence = (usk_i128)a[i] - a[i - 1];
		longest = silence > longest ? silence : longest;
	}
	free(a);
	return longest;
}

/* Does a's stamp of it lie where b would have shown its own if it was set back: beyond all of the pair by no more than the
 * longest silence among these, or nearer than all that lies beyond a break? */
static bool is_near(const struct among *m, struct usk_range stretch, bool last)
{
	const int64_t a = a_stamp(&m->with, m->at);
	const size_t n = m->w->n;
	const bool beyond = last ? stretch.end < n : stretch.first > 0;
	int64_t least, most;
	usk_course_stamps_between(m->w->stamps, beyond && last ? stretch.end : 0,
				  beyond && !last ? stretch.first - 1 : n - 1, &least, &most);
	return beyond ? (last ? least >= a : most <= a)
		      : (last ? a - (usk_i128)most : least - (usk_i128)a) <= m->silence;
}

/*
 * A stamp of a that lies surely before what b did at one point, or surely behind (last): that of the nearest message
 * which says so, as it was sent there, or received, in order with that point; else the outermost one.
 */
static int64_t surely_beyond(const struct among *m, size_t i, bool last)
{
	const struct usk_course *w = m->w;
	const struct usk_course_point *p = &m->with.p[i], *outlier = &m->with.p[m->at];
	const int64_t own = a_stamp(&m->with, i), its = a_stamp(&m->with, m->at);
	if (p->ceiling == last) {
		return own;
	}
	struct usk_range r = { 0, w->n };
	if (last) {
		USK_FIRST(r.first, 0, w->n, w->p[r.first].x >= p->x);
	} else {
		USK_FIRST(r.end, 0, w->n, w->p[r.end].x > p->x);
	}
	int64_t best = last ? INT64_MAX : INT64_MIN;
	bool any = usk_course_next_stamp(w->stamps, r, last, last, own, &best);
	const bool ordered =
		last ? outlier->x >= p->x && its >= own : outlier->x <= p->x && its <= own;
	if (outlier->ceiling == last && ordered) {
		best = !any || last == (its < best) ? its : best;
		any = true;
	}
	int64_t least, most;
	usk_course_stamps_between(w->stamps, 0, w->n - 1, &least, &most);
	const int64_t all = last ? most : least;
	return any ? best : last == (its > all) ? its : all;
}

/* What no message ends, ends with the outermost of the pair. */
static void keep_to_points(const struct among *m, struct usk_bracket *b)
{
	const struct usk_course *w = &m->with;
	const int64_t zero = w->part->frame.local_ns, own = a_stamp(w, m->at);
	int64_t least, most;
	usk_course_stamps_between(m->w->stamps, 0, m->w->n - 1, &least, &most);
	b->b0_ns = b->b0_ns == INT64_MIN ? zero + w->p[0].x : b->b0_ns;
	b->b1_ns = b->b1_ns == INT64_MAX ? zero + w->p[w->n - 1].x : b->b1_ns;
	b->a0_ns = b->a0_ns > INT64_MIN ? b->a0_ns : own < least ? own : least;
	b->a1_ns = b->a1_ns < INT64_MAX ? b->a1_ns : own > most ? own : most;
}

/*
 * Where nothing says that a clock returned, what it showed until it was set back may go on beyond the outlier: no further
 * than it got since the first stamp of the bracket. That is as long as a went on until b's first one, and b from there to
 * the outlier; no outlier is taken to have been under way for longer than these leave open.
 */
static void reach_out(const struct among *m, bool last, struct usk_bracket *b)
{
	const struct usk_course *w = &m->with;
	keep_to_points(m, b);
	const usk_i128 both = (usk_i128)b->b1_ns - b->b0_ns + b->a1_ns - b->a0_ns;
	const usk_i128 most = both + usk_ceil_div(both * w->skew_e12, USK_E12);
	if (last) {
		b->b1_ns = usk_saturate(b->b0_ns + most);
		b->a1_ns = usk_saturate(b->a0_ns + most);
	} else {
		b->b0_ns = usk_saturate(b->b1_ns - most);
		b->a0_ns = usk_saturate(b->a1_ns - most);
	}
}

/*
 * What lies among others by b's stamps may still contradict none that is behind it by a's, or before
 * it, though nothing happened there: then a clock was set, maybe, and need not return before the end, before the records
 * tell of a break, or before something else happened. Nothing is known of b until then, from the nearest that it does
 * contradict.
 */
static bool doubt_at_end(const struct among *m, const struct breaks *breaks, bool last,
			 struct usk_bracket *b)
{
	const struct usk_course *w = &m->with;
	const size_t n = m->w->n, at = m->at;
	const struct usk_range all = stretch_of(m, breaks);
	const int64_t a = a_stamp(w, at);
	size_t near = usk_course_outermost(m->w->stamps, m->x, m->c, &w->p[at],
					   (struct usk_range){ all.first, at }, false, last);
	const size_t r = usk_course_outermost(m->w->stamps, m->x, m->c, &w->p[at],
					      (struct usk_range){ at, all.end }, true, last);
	const int64_t before = near < n ? a_stamp(m->w, near) : a;
	const int64_t behind = r < n ? a_stamp(m->w, r) : a;
	if ((near == n && r == n) || (last ? before > a || behind > a : before < a || behind < a)) {
		return false;
	}
	if (near == n || (r < n && (last ? behind > before : behind < before))) {
		near = r + 1; /* with the outlier before it */
	}
	/* From whichever b showed first, if it was set back. */
	const bool set_back = last == (at < near) && is_near(m, all, last);
	const int64_t x = w->p[set_back ? at : near].x;
	int64_t y = w->p[last ? all.end : all.first].x + (last ? 1 : -1);
	if (!goes_on(w, x, last, &y)) {
		return false;
	}
	*b = (struct usk_bracket){ .b0_ns = w->part->frame.local_ns + (last ? x : y),
				   .b1_ns = w->part->frame.local_ns + (last ? y : x),
				   .a0_ns = surely_beyond(m, last ? near : at, false),
				   .a1_ns = surely_beyond(m, last ? at : near, true),
				   .step = true,
				   .doubted = true,
				   .both = true,
				   .returned = true,
				   .least_ns = set_back ? 0 : USK_NONE,
				   .most_ns = set_back ? USK_NONE : 0 };
	return true;
}

/* What a point, and those beyond it as seen from the outlier, leave open there; the outlier is number `at`. If a break
 * that records tell of is next behind it, the trees have that break right behind what is before it. */
static struct usk_offsets left_open(const struct among *m, size_t i, bool behind)
{
	const bool breaks = !behind && i == m->at && i < m->w->n && m->w->p[i].fresh;
	return breaks ? usk_course_left_open(&m->with, m->c, i, behind)
		      : usk_course_look(m->x, m->c, &m->with.p[i], i, behind);
}

/* By how much delays differ, of both directions together; 0 where something happened, which adds to it. */
static int64_t spread_of(const struct usk_course *w)
{
	return w->n_happened ? 0 : w->part->spread_ns;
}

/* The two delays of an outlier and a message that it contradicts, at most, if they differ by no more than that from the
 * fastest on the side where messages of both directions tell; USK_NONE: there is no such side. */
static usk_i128 two_delays(struct usk_offsets before, struct usk_offsets behind, int64_t spread_ns)
{
	const struct usk_offsets *v = before.has[0] && before.has[1] ? &before : &behind;
	const bool one = v->has[0] && v->has[1];
	return one ? usk_ceil_div(v->hi - v->lo, USK_E12) + spread_ns : USK_NONE;
}

/* By how much delays may hide what was between two points; returned: the clock did, and the fastest tell, if any do.
 * USK_NONE: unknown. */
static usk_i128 most_delays(const struct among *m, size_t from, size_t to, bool returned)
{
	const struct usk_course *w = &m->with;
	const struct usk_offsets before = left_open(m, from, false),
				 behind = left_open(m, to, true);
	const usk_i128 lasts = (usk_i128)w->p[to].x - w->p[from].x;
	const struct usk_rise net = usk_rise_between(m->c, before, behind, lasts);
	if (net.least_ns != USK_NONE && net.most_ns != USK_NONE) {
		return (usk_i128)net.most_ns - net.least_ns;
	}
	const usk_i128 delays = two_delays(before, behind, returned ? 0 : spread_of(w));
	return delays == USK_NONE && returned ? 0 : delays;
}

/* The farthest point behind the outlier, or before it, that it contradicts, by its number without the outlier. Such messages
 * may have crossed it, so that they were sent, or received, on the other side of what happened; but not if one is farther
 * away than two delays, or if records tell of a break on that side. Their count: there is none, or they have not. */
static size_t last_crossing(const struct among *m, struct usk_range stretch, bool behind,
			    usk_i128 slow)
{
	const struct usk_course_point *p = m->w->p;
	const size_t n = m->w->n, at = m->at;
	const usk_i128 x = m->with.p[at].x;
	bool beyond;
	size_t near, last;
	if (behind ? stretch.end < n : stretch.first > 0) {
		return n;
	}
	if (behind) {
		USK_FIRST(near, at, n, p[near].x - x > slow);
		beyond = near < n && nearest(m, near, true) < n;
		USK_FIRST(last, at, near, nearest(m, last, true) == n);
		last = last > at ? last - 1 : n;
	} else {
		USK_FIRST(near, 0, at, x - p[near].x <= slow);
		beyond = near && nearest(m, near - 1, false) < n;
		USK_FIRST(last, near, at, nearest(m, last, false) < n);
		last = last < at ? last : n;
	}
	return !beyond && last < n && is_against(m, last, behind) ? last : n;
}

/* What happened if an outlier is right: between two points, one of which may be itself. */
struct guess {
	size_t from, to;
	bool before, both; /* it contradicts what lies before it; and what lies behind */
};

/*
 * Nothing tells a wrong message from a clock that was set before it and back behind, or from
 * one that was set at an end: so bounds allow for that, too, from the nearest message that it
 * contradicts to the nearest behind. But no clock returns that was set by more than the time to
 * these: else a single wrong message would leave nothing known of hours. At a break that records
 * tell of it need not return, nor if messages only crossed the outlier on one side. false: it returned
 * from too far, or the outlier contradicts nothing.
 */
static bool guess_of(const struct among *m, const struct breaks *all, const struct usk_suspect *s,
		     struct guess *out)
{
	const struct usk_course *w = &m->with;
	const struct against g = against_of(m);
	const size_t at = m->at, n = m->w->n;
	const bool before = g.before || g.fresh[0], behind = g.behind || g.fresh[1];
	const usk_i128 since = (usk_i128)w->p[at].x - w->p[g.from].x;
	const usk_i128 until = (usk_i128)w->p[g.to].x - w->p[at].x;
	/* What it does not contradict ends with it. */
	*out = (struct guess){ before ? g.from : at, behind ? g.to : at, before,
			       g.before && g.behind };
	if (!out->both || s->excess_ns <= (since < until ? since : until)) {
		return before || behind;
	}
	const usk_i128 slow =
		two_delays(left_open(m, g.from, false), left_open(m, g.to, true), spread_of(w));
	if (slow == USK_NONE) {
		return false;
	}
	const struct usk_range stretch = stretch_of(m, all);
	const size_t to = last_crossing(m, stretch, true, slow);
	const size_t from = to < n ? n : last_crossing(m, stretch, false, slow);
	if (to < n) {
		*out = (struct guess){ g.from, to + 1, true, false };
	} else if (from < n) {
		*out = (struct guess){ from, g.to, false, false };
	}
	return to < n || from < n;
}

/* What happened if it is right, in b[2]; how many brackets that is. */
static size_t doubt_of(const struct among *m, const struct breaks *all, const struct usk_suspect *s,
		       struct usk_bracket *b)
{
	const struct usk_course *w = &m->with;
	struct guess g;
	const bool any = guess_of(m, all, s, &g);
	if (any) {
		const struct usk_span span = { .from = g.from,
					       .to = g.to,
					       .rises = g.before != s->ceiling };
		usk_course_bracket(w, &span, b);
		b->doubted = true;
		b->both = b->returned = g.both;
		b->open = !g.both && s->excess_ns > (usk_i128)w->p[g.to].x - w->p[g.from].x;
		if (b->open) {
			reach_out(m, g.before, b);
		}
		/* It was set by as much as that contradicts, give or take delays. */
		const usk_i128 delays = most_delays(m, g.from, g.to, g.both);
		const bool known = delays != USK_NONE;
		b->most_ns = known ? usk_saturate(s->excess_ns + delays) : USK_NONE;
		b->least_ns = known ? -b->most_ns : USK_NONE;
	}
	/* Who contradicts both sides need not have returned: the stamps of a may say so. */
	const bool end =
		g.from < g.to && (!any || g.both) &&
		(doubt_at_end(m, all, true, b + any) || doubt_at_end(m, all, false, b + any));
	return (size_t)any + end;
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

/* Is an outlier, of w's points at `at`, before or behind a bracket as all others are? */
static bool is_in_order(const struct among *m, const struct usk_spans *s, const struct usk_reach *r)
{
	const struct usk_course *w = &m->with;
	const struct against g = against_of(m);
	const size_t at = m->at;
	/* Spans are numbered without it. */
	size_t k = g.before ? between(m->w, s, r, &w->p[g.from], &w->p[at], false) : 0;
	size_t l = g.behind ? between(m->w, s, r, &w->p[at], &w->p[g.to], true) : 0;
	/* With more wander it may contradict nothing: that explains nothing. */
	bool any = g.before || g.behind || g.fresh[0] || g.fresh[1];
	/* One event is not both before and behind it. */
	bool two = !g.before || !g.behind || k < l;
	return any && two && (!g.before || k < s->n) && (!g.behind || l < s->n);
}

/* Does an outlier contradict nothing of the stretch behind bracket k, or before it, and no records tell of a break there? */
static bool fits_stretch(const struct among *m, const struct usk_spans *s, size_t k, bool behind)
{
	const struct usk_course *w = m->w;
	const size_t first = behind ? s->span[k].to : k ? s->span[k - 1].to : 0;
	const size_t last = !behind	   ? s->span[k].from
			    : k + 1 < s->n ? s->span[k + 1].from
					   : w->n - 1;
	bool fits = first <= last;
	for (size_t i = m->at <= last ? m->at : last + 1; fits && i > first;) {
		i = nearest(m, i - 1, false);
		if (i < first || i == w->n) {
			break;
		}
		fits = !is_against(m, i, false) && !(i < last && w->p[i + 1].fresh);
	}
	for (size_t i = m->at > first ? m->at : first; fits && i <= last; i++) {
		i = nearest(m, i, true);
		if (i > last) {
			break;
		}
		fits = !is_against(m, i, true) && (i == first || !w->p[i].fresh);
	}
	return fits;
}

/* The stamps of b in a bracket, and around it those that were shown twice if it is known by how much b was set back. */
static struct usk_between around(const struct usk_bracket *b)
{
	const bool known = b->rises && b->most_ns != USK_NONE;
	const usk_i128 twice = known ? usk_bracket_set_back(b, true) : 0;
	return (struct usk_between){ usk_saturate(b->b0_ns - twice),
				     usk_saturate(b->b1_ns + twice) };
}

/* By bracket, in about their order: the first stamp around it and all behind it, the last around it and all before. */
static struct usk_reach reach_around(const struct usk_bracket *b, size_t n)
{
	struct usk_reach r = { usk_grow(NULL, n + 1, sizeof *r.from),
			       usk_grow(NULL, n + 1, sizeof *r.to) };
	for (size_t k = 0; k < n; k++) {
		const struct usk_between x = around(&b[k]);
		r.from[k] = x.from;
		r.to[k] = x.to;
	}
	usk_least_behind(r.from, n);
	usk_most_before(r.to, n);
	return r;
}

/* Around a bracket nobody knows of which side of it one is: it may be as all of the other are. */
static bool is_of_other_side(const struct among *m, const struct usk_spans *s,
			     const struct usk_bracket *b, const struct usk_reach *reach)
{
	const struct usk_course *w = m->w;
	const struct usk_course_point *p = &m->with.p[m->at];
	const int64_t stamp = usk_saturate((usk_i128)w->part->frame.local_ns + p->x);
	bool any = false;
	for (size_t k = count_under(reach->to, s->n, stamp);
	     k < s->n && reach->from[k] <= stamp && !any; k++) {
		const struct usk_span *x = &s->span[k];
		const struct usk_between in = around(&b[k]);
		const bool behind = p->ceiling != x->rises;
		const bool other = behind ? p->x < w->p[x->to].x : p->x > w->p[x->from].x;
		any = in.from <= stamp && stamp <= in.to && other && fits_stretch(m, s, k, behind);
	}
	return any;
}

/* All that are not left out for good, those of c first. */
struct suspects {
	const struct usk_suspect *outlier, *left_out;
	size_t n, n_outliers;
};

static const struct usk_suspect *suspect_of(const struct suspects *all, size_t i)
{
	return i < all->n_outliers ? &all->outlier[i] : &all->left_out[i - all->n_outliers];
}

/* What happened if one is right: nothing else than brackets say. */
static bool *explain(const struct usk_course *w, const struct usk_spans *s,
		     const struct suspects *all, struct usk_calm *c)
{
	struct usk_reach r = usk_course_reach(w, s), near = reach_around(c->bracket, s->n);
	struct among m = among_of(w, s->cone, w->outlook);
	bool *known = usk_alloc(all->n, sizeof *known);
	c->explained = usk_alloc(all->n, sizeof *c->explained);
	for (size_t i = 0; i < all->n; i++) {
		const struct usk_suspect *x = suspect_of(all, i);
		const bool before = i >= all->n_outliers;
		if (x->right) {
			continue;
		}
		m.at = insert(&m.with, x, m.at);
		const bool in_order = is_in_order(&m, s, &r);
		known[i] = is_of_other_side(&m, s, c->bracket, &near);
		c->n_known[before] += in_order || known[i];
		if (in_order && before) {
			c->explained[c->n_explained++] = i - all->n_outliers;
		}
	}
	free(m.with.p);
	usk_course_reach_free(&r);
	usk_course_reach_free(&near);
	return known;
}

static void doubt(const struct usk_course *w, const struct suspects *all, const bool *known,
		  struct usk_calm *c)
{
	const struct usk_slope_range any = { -w->skew_e12, w->skew_e12 };
	const struct usk_slope_range cone = w->own_rates ? any : w->cone;
	struct usk_outlook *outlook = usk_course_outlook(w, cone);
	struct among m = among_of(w, cone, outlook);
	m.silence = longest_silence(w);
	struct breaks breaks = breaks_of(w);
	c->doubt = usk_alloc(2 * all->n, sizeof *c->doubt);
	for (size_t i = 0; i < all->n; i++) {
		const struct usk_suspect *x = suspect_of(all, i);
		if (!x->right && !known[i]) {
			m.at = insert(&m.with, x, m.at);
			c->n_doubts += doubt_of(&m, &breaks, x, &c->doubt[c->n_doubts]);
		}
	}
	USK_FREE(m.with.p, breaks.at);
	usk_course_outlook_free(outlook);
}

void usk_doubts_note(const struct usk_course *w, const struct usk_spans *s, size_t below,
		     struct usk_calm *c)
{
	const struct suspects all = { c->outlier, w->part->left_out,
				      c->n_outliers + w->part->n_left_out, c->n_outliers };
	if (!all.n) {
		return;
	}
	bool *known = explain(w, s, &all, c);
	/* A clock of one rate was not set. */
	if (!w->fixed && c->n_outliers - c->n_known[0] < below) {
		doubt(w, &all, known, c);
	}
	free(known);
}
