/* SPDX-License-Identifier: MIT */
/*
 * disturbed.c - where a pair shows that one of its clocks was set or slewed
 *
 * In    points of a pair in the order of time, the wander that is assumed
 * Out   brackets in which no calm clock goes on, the wander outside them, outliers
 * Why   it needs no other clock, and what is found here is beyond doubt: in a bracket lie two
 *       messages that no clock of the model can have exchanged
 * Not   whose clock it was (blame.c), what only circles of pairs show (cycles.c)
 */
#include "graph/course.h"

#include <math.h>
#include <stdlib.h>

static usk_i128 duration(const struct usk_course *w)
{
	return w->n ? (usk_i128)w->p[w->n - 1].x - w->p[0].x : 0;
}

/* How much of the time lies in a bracket. */
static usk_i128 disturbed(const struct usk_course *w, const struct usk_spans *s)
{
	usk_i128 sum = 0, reach = 0;
	for (size_t k = 0; k < s->n; k++) {
		usk_i128 from = w->p[s->span[k].from].x, to = w->p[s->span[k].to].x;
		from = k && from < reach ? reach : from;
		sum += to > from ? to - from : 0;
		reach = to > reach || !k ? to : reach;
	}
	return sum;
}

/* What a freedom of the rate costs: bounds are as far apart as its square root, where delays tail
 * off. Of parts per 10^12, in thousandths. */
static usk_i128 cost_of(int64_t e12)
{
	return (usk_i128)(1000 * sqrt((double)e12));
}

static void unite_needs(struct usk_need *all, const struct usk_need *n)
{
	if (n->has_lo && (!all->has_lo || usk_slope_cmp(n->s_lo, all->s_lo) > 0)) {
		all->has_lo = true;
		all->s_lo = n->s_lo;
	}
	if (n->has_hi && (!all->has_hi || usk_slope_cmp(n->s_hi, all->s_hi) < 0)) {
		all->has_hi = true;
		all->s_hi = n->s_hi;
	}
	all->crossed = all->crossed || n->crossed;
}

/* The wander that is needed outside disturbed stretches: around one constant in all of them, unless
 * each has a rate of its own. */
static int64_t needed_outside(const struct usk_course *w, const struct usk_spans *s)
{
	int64_t margin = w->own_rates ? 0 : USK_MARGIN_NS, most = 0;
	struct usk_needing g = { .n = { 0 } };
	struct usk_need all = { .has_lo = false };
	usk_i128 until = 0;
	for (size_t i = 0, k = 0, to = 0; i <= w->n; i++) {
		const struct usk_course_point *p = &w->p[i];
		for (; k < s->n && i < w->n; k++) {
			const struct usk_span *x = &s->span[k];
			usk_i128 end = (usk_i128)w->p[x->to].x + margin;
			if (i <= x->from && p->x <= (usk_i128)w->p[x->from].x - margin) {
				break;
			}
			to = x->to > to ? x->to : to;
			until = end > until || !k ? end : until;
		}
		bool disturbed = i < w->n && k && (i < to || p->x < until);
		if (i == w->n || disturbed || p->fresh) {
			int64_t need = usk_need_within(&g.need, w->skew_e12);
			most = need > most ? need : most;
			unite_needs(&all, &g.need);
			usk_needing_clear(&g);
		}
		if (i < w->n && !disturbed) {
			usk_needing_push(&g, p->ceiling, (struct usk_xy){ p->x, p->y });
		}
	}
	usk_needing_free(&g);
	return w->own_rates ? most : usk_need_within(&all, w->skew_e12);
}

bool usk_calm_holds(const struct usk_calm_model *m, int64_t needed_e12)
{
	int64_t wander = m->clocks * m->wander_e12;
	bool one_rate = !m->wander_e12 || m->own_rates;
	return one_rate ? needed_e12 <= (wander > 1 ? wander : 1) : needed_e12 <= wander / 2;
}

/* The wander to allow for: twice of what messages need, which is the least of what a clock does, as
 * they do not show what it does within the time that the band is wide for. */
static int64_t wander_used(int64_t assumed_e12, int64_t needed_e12, int64_t max_skew_e12)
{
	int64_t twice = needed_e12 < max_skew_e12 / 2 ? 2 * needed_e12 : max_skew_e12;
	return twice > assumed_e12 ? twice : assumed_e12;
}

/* The cone of all rates that so much more wander allows. */
static void widen_cone(struct usk_slope_range *c, int64_t more, int64_t skew)
{
	c->slow_e12 = c->slow_e12 - 2 * more > -skew ? c->slow_e12 - 2 * more : -skew;
	c->fast_e12 = c->fast_e12 + 2 * more < skew ? c->fast_e12 + 2 * more : skew;
}

/*
 * Much wander and few disturbed stretches, or little and many: the least freedom over all explains
 * best, which is the wander that is used outside stretches and the skew limit in them.
 */
static struct usk_spans explain(const struct usk_course *w, int64_t assumed, struct usk_calm *out)
{
	struct usk_spans best = usk_course_spans(w, assumed);
	out->needed_e12 = needed_outside(w, &best);
	out->wander_e12 = assumed;
	if (w->own_rates) { /* what one stretch needs says nothing of others */
		best.cone = (struct usk_slope_range){ -w->skew_e12, w->skew_e12 };
	}
	if (w->own_rates || w->fixed) {
		return best;
	}
	usk_i128 all = duration(w), open = cost_of(w->skew_e12), least = 0;
	int64_t found = assumed, v = assumed / 2 > 1 ? assumed / 2 : 1;
	for (; !least || (v < w->skew_e12 && all * cost_of(v) < least); v *= 2) {
		struct usk_spans s = usk_course_spans(w, v);
		int64_t needed = needed_outside(w, &s);
		int64_t used = wander_used(assumed, needed, w->skew_e12);
		usk_i128 d = disturbed(w, &s), freedom = (all - d) * cost_of(used) + d * open;
		if (!least || freedom < least) {
			free(best.span);
			best = s;
			least = freedom > 0 ? freedom : 1;
			found = v;
			out->needed_e12 = needed;
			out->wander_e12 = used;
		} else {
			free(s.span);
		}
	}
	widen_cone(&best.cone, out->wander_e12 - found, w->skew_e12);
	return best;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

/* The first two that contradict each other. */
static void certify(const struct usk_course *w, const struct usk_spans *s, struct usk_calm *c)
{
	size_t to = s->span[0].to;
	for (size_t i = 0; i < to; i++) {
		const struct usk_course_point *p = &w->p[i], *q = &w->p[to];
		if (usk_course_contradict(s->cone, p, q)) {
			const struct usk_course_point *both[] = { p, q };
			for (int k = 0; k < 2; k++) {
				c->ceiling[k] = both[k]->ceiling;
				c->point[k] = usk_part_recorded(
					w->part, (struct usk_xy){ both[k]->x, both[k]->y },
					both[k]->ceiling);
			}
		}
	}
}

/* The last point up to `from` that is no later than x; the first point: none is. */
static size_t last_until(const struct usk_course *w, size_t from, usk_i128 x)
{
	size_t i;
	USK_FIRST(i, 1, from + 1, w->p[i].x > x);
	return i - 1;
}

/* The first from `from` on that is no earlier than x; the last point: none is. */
static size_t first_from(const struct usk_course *w, size_t from, usk_i128 x)
{
	size_t i;
	USK_FIRST(i, from, w->n - 1, w->p[i].x >= x);
	return i;
}

/* By point. */
struct stamps {
	int64_t *least, *most;
	size_t *breaks; /* that records tell of, up to it */
};

/* All brackets of a pair, and what else is asked of them. */
struct shown {
	const struct usk_spans *s;
	bool in_vain; /* they explain nothing, so nobody asks how wide they are */
	struct stamps stamps;
	struct usk_reach reach;
	int64_t *flights;
};

/* Does another one than number k reach into what lies between two points, or a break that records tell of? */
static bool holds_another(const struct usk_course *w, const struct shown *x, size_t k,
			  const struct usk_span *wide)
{
	return (k && x->reach.to[k - 1] > w->p[wide->from].x) ||
	       (k + 1 < x->s->n && x->reach.from[k + 1] < w->p[wide->to].x) ||
	       x->stamps.breaks[wide->from] != x->stamps.breaks[wide->to];
}

/*
 * Where a was set back, what was under way meanwhile says of b's time that a showed more than it
 * did: so a bracket may lie before or behind the truth by as long as that was under way. What was so
 * for longer than a was set back by is in order all the same. How much it rose in so much more is no size of
 * its own if another bracket lies there.
 */
static struct usk_bracket bracket_of(const struct usk_course *w, const struct shown *x, size_t k)
{
	const struct usk_slope_range c = x->s->cone;
	const struct usk_span *s = &x->s->span[k];
	struct usk_bracket b;
	usk_course_bracket(w, s, &b);
	struct usk_rise size = usk_course_rise(w, c, s);
	b.step = s->step;
	if (s->step && !s->rises && !x->in_vain) {
		struct usk_span wide = *s;
		int64_t flight = x->flights[k];
		usk_i128 by = (usk_i128)flight + w->part->moved_ns;
		wide.from = last_until(w, s->from, w->p[s->from].x - by);
		wide.to = first_from(w, s->to, w->p[s->to].x + by);
		size = holds_another(w, x, k, &wide)
			       ? (struct usk_rise){ .least_ns = USK_NONE, .most_ns = USK_NONE }
			       : usk_course_rise(w, c, &wide);
		if (size.least_ns != USK_NONE && size.least_ns > -flight) {
			int64_t far = size.least_ns < 0 ? -size.least_ns : 0;
			by = (usk_i128)far + w->part->moved_ns;
		}
		b.flight_ns = usk_saturate(by);
		b.b0_ns = usk_saturate(b.b0_ns - by);
		b.b1_ns = usk_saturate(b.b1_ns + by);
		b.a0_ns = usk_saturate(b.a0_ns - by);
		b.a1_ns = usk_saturate(b.a1_ns + by);
	}
	b.least_ns = size.least_ns;
	b.most_ns = size.most_ns;
	/* Each was received before it was sent: a was set back, and the offset fell; or b was, if it may have risen, as far as
	 * that is known. */
	b.both = s->step && !s->rises && b.falls && size.most_ns != USK_NONE && size.most_ns > 0;
	b.slew = s->slew;
	b.at_once_ns = s->slew ? s->at_once_ns : 0;
	b.once_ns = USK_NONE;
	if (s->slewed && (s->began < s->from || s->ended > s->to)) {
		/* It lies where it shows; but a slew may have gone on beyond, where messages of one direction do not
		 * contradict each other. */
		const struct usk_span all = { .from = s->began, .to = s->ended, .rises = s->rises };
		struct usk_bracket in;
		usk_course_bracket(w, &all, &in);
		b.slewed = true;
		b.slew_in = (struct usk_within){ in.b0_ns, in.b1_ns, in.a0_ns, in.a1_ns };
	}
	return b;
}

/* What a slope explains, of which nobody knows how large a step is in it. */
static void add_unsized(const struct usk_course *w, const struct usk_span *s, size_t from,
			size_t to, struct usk_calm *c)
{
	const struct usk_span part = { .from = from, .to = to, .rises = s->rises };
	struct usk_bracket b;
	usk_course_bracket(w, &part, &b);
	b.both = true;
	b.least_ns = b.most_ns = b.once_ns = USK_NONE;
	*USK_APPEND(c->bracket, c->n_brackets) = b;
}

/* Of a bracket that a slope explains what is sized, and what lies before and behind that. */
static void size_bend(const struct usk_course *w, struct usk_slope_range cone,
		      const struct usk_span *s, size_t k, struct usk_calm *c)
{
	const struct usk_sized in = usk_course_sized(w, cone, s);
	struct usk_bracket *b = &c->bracket[k];
	if (in.from >= in.to) {
		b->both = true;
		return;
	}
	if (in.from > s->from || in.to < s->to) {
		const struct usk_span part = { .from = in.from, .to = in.to, .rises = s->rises };
		struct usk_bracket was = *b;
		usk_course_bracket(w, &part, b);
		b->slewed = was.slewed;
		b->slew_in = was.slew_in;
	}
	b->least_ns = in.size.least_ns;
	b->most_ns = in.size.most_ns;
	b->once_ns = in.once_ns;
	if (in.from > s->from) {
		add_unsized(w, s, s->from, in.from, c);
	}
	if (in.to < s->to) {
		add_unsized(w, s, in.to, s->to, c);
	}
}

/* The least stamp of a up to each point and the most from each on, between breaks that records tell of; and these. */
static struct stamps stamps_around(const struct usk_course *w)
{
	struct stamps s = { usk_alloc(w->n + 1, sizeof *s.least),
			    usk_alloc(w->n + 1, sizeof *s.most),
			    usk_alloc(w->n + 1, sizeof *s.breaks) };
	for (size_t i = 0; i < w->n; i++) {
		const int64_t a = usk_course_a_stamp(w->part, &w->p[i]);
		s.most[i] = a;
		s.least[i] = i && !w->p[i].fresh && s.least[i - 1] < a ? s.least[i - 1] : a;
		s.breaks[i] = (i ? s.breaks[i - 1] : 0) + w->p[i].fresh;
	}
	for (size_t i = w->n; i-- > 1;) {
		if (!w->p[i].fresh && s.most[i] > s.most[i - 1]) {
			s.most[i - 1] = s.most[i];
		}
	}
	return s;
}

/*
 * Does all that lies before a step in b's stamps lie behind it in a's? Then the order of one of these is not that in
 * which they were shown, as its clock was set back by as much as all messages last; no message tells which of the two.
 * Messages of both directions say so on either side: else it may be that one of them is wrong.
 */
static bool is_turned(const struct usk_course *w, const struct shown *x, const struct usk_span *s)
{
	if (!s->step || s->rises || x->stamps.least[s->from] <= x->stamps.most[s->to]) {
		return false;
	}
	const struct usk_rise size = usk_course_rise(w, x->s->cone, s);
	return size.least_ns != USK_NONE && size.most_ns != USK_NONE;
}

/* USK_NONE: unknown. */
static int64_t most_at_once(const struct usk_bracket *b)
{
	const bool known = b->at_once_ns || usk_bracket_sized(b);
	return known ? usk_bracket_farthest(b) : USK_NONE;
}

static void swallow_place(struct usk_bracket *all, const struct usk_bracket *b)
{
	struct usk_within *p = &all->slew_in;
	const struct usk_within *q = &b->slew_in;
	if (all->slewed && b->slewed) {
		*p = (struct usk_within){ p->b0_ns < q->b0_ns ? p->b0_ns : q->b0_ns,
					  p->b1_ns > q->b1_ns ? p->b1_ns : q->b1_ns,
					  p->a0_ns < q->a0_ns ? p->a0_ns : q->a0_ns,
					  p->a1_ns > q->a1_ns ? p->a1_ns : q->a1_ns };
	} else if (b->slewed) {
		*p = *q;
		all->slewed = true;
	}
}

static void swallow(struct usk_bracket *all, const struct usk_bracket *b)
{
	const int64_t most[] = { most_at_once(all), most_at_once(b) };
	const bool known = most[0] != USK_NONE && most[1] != USK_NONE;
	all->slew = all->slew || b->slew;
	swallow_place(all, b);
	all->returned = all->returned || b->returned || b->rises != all->rises;
	all->both = all->both || b->both || all->returned;
	all->b0_ns = b->b0_ns < all->b0_ns ? b->b0_ns : all->b0_ns;
	all->b1_ns = b->b1_ns > all->b1_ns ? b->b1_ns : all->b1_ns;
	all->a0_ns = b->a0_ns < all->a0_ns ? b->a0_ns : all->a0_ns;
	all->a1_ns = b->a1_ns > all->a1_ns ? b->a1_ns : all->a1_ns;
	all->from_ns = b->from_ns < all->from_ns ? b->from_ns : all->from_ns;
	all->to_ns = b->to_ns > all->to_ns ? b->to_ns : all->to_ns;
	all->flight_ns = b->flight_ns > all->flight_ns ? b->flight_ns : all->flight_ns;
	all->least_ns = all->most_ns = USK_NONE;
	all->at_once_ns = !all->slew || !known ? 0 : most[0] > most[1] ? most[0] : most[1];
}

/* How far from a bracket stamps of b may be of its other side, as b was set back in it. */
static int64_t shown_twice(const struct usk_bracket *b)
{
	return b->rises || b->both ? usk_bracket_set_back(b, true) : 0;
}

static bool meet(const struct usk_bracket *first, const struct usk_bracket *second)
{
	const int64_t back[] = { shown_twice(first), shown_twice(second) };
	const usk_i128 between = (usk_i128)second->b0_ns - first->b1_ns;
	return between < (back[0] > back[1] ? back[0] : back[1]);
}

/* Some that meet, from that number on, and all of them as one. */
struct several {
	size_t from;
	struct usk_bracket all;
};

/*
 * Of steps there and back that reach into each other nobody knows which came first, nor whether there were any: stamps
 * of a clock that was set once, whose records are in the order of stamps, say so, too. They are one bracket: all
 * that they have in common is where it happened.
 */
static void unite_steps(struct usk_calm *c)
{
	struct several *met = usk_alloc(c->n_brackets + 1, sizeof *met);
	struct usk_bracket *out = usk_alloc(c->n_brackets + 1, sizeof *out);
	size_t steps = 0, m = 0, n = 0;
	usk_sort(c->bracket, c->n_brackets, sizeof *c->bracket,
		 KEYS(FALLING(usk_bracket, step), BY(usk_bracket, b0_ns), BY(usk_bracket, b1_ns)));
	for (; steps < c->n_brackets && c->bracket[steps].step; steps++) {
		met[m++] = (struct several){ steps, c->bracket[steps] };
		for (; m > 1 && meet(&met[m - 2].all, &met[m - 1].all); m--) {
			swallow(&met[m - 2].all, &met[m - 1].all);
		}
	}
	for (size_t i = 0; i < m; i++) {
		const size_t end = i + 1 < m ? met[i + 1].from : steps;
		if (met[i].all.both) {
			out[n++] = met[i].all;
		}
		for (size_t k = met[i].from; k < end && !met[i].all.both; k++) {
			out[n++] = c->bracket[k];
		}
	}
	for (size_t i = steps; i < c->n_brackets; i++) {
		out[n++] = c->bracket[i];
	}
	USK_FREE(met, c->bracket);
	c->bracket = out;
	c->n_brackets = n;
}

/* A step for every so many points, or more, is no explanation. */
static bool too_many(size_t steps, size_t points)
{
	enum { POINTS_A_STEP = 2 };
	return POINTS_A_STEP * steps >= points && steps;
}

/* Of steps beyond doubt, whether they are one or not: then nobody need ask where they were. */
static bool in_vain(const struct usk_course *w, size_t steps)
{
	size_t shown = 0;
	for (size_t i = 0; i < w->n; i++) {
		shown += !w->p[i].hidden;
	}
	return too_many(steps, shown);
}

/* Of brackets, of which a slew has two sides where something happened, and points that none of them is around. */
static bool explains_nothing(const struct usk_course *w, size_t slews, const struct usk_calm *c)
{
	const int64_t origin = w->part->frame.local_ns;
	size_t steps = 0, outside = 0, around = 0;
	size_t *begin = usk_alloc(w->n + 1, sizeof *begin), *end = usk_alloc(w->n + 1, sizeof *end);
	for (; steps < c->n_brackets && c->bracket[steps].step; steps++) {
		const struct usk_bracket *b = &c->bracket[steps];
		const size_t from = last_until(w, w->n - 1, (usk_i128)b->from_ns - origin) + 1;
		const size_t to = first_from(w, 0, (usk_i128)b->to_ns - origin);
		begin[from] += from < to;
		end[to] += from < to;
	}
	for (size_t i = 0; i < w->n; i++) {
		around += begin[i] - end[i];
		outside += !around && !w->p[i].hidden;
	}
	USK_FREE(begin, end);
	return too_many(steps + slews, outside);
}

static void begin_again(struct usk_course *w, struct usk_spans *s, struct usk_calm *out)
{
	usk_calm_free(out);
	USK_FREE(s->span, w->p, w->happened);
	w->n = 0;
}

/* Wrong messages are sought at the wander that is assumed: with more of it a wrong message is a
 * rate, and explained too. */
static struct usk_spans calm(struct usk_course *w, int64_t wander, struct usk_calm *out)
{
	usk_wrong_leave_out(w, wander, out);
	return explain(w, wander, out);
}

static struct usk_spans disturbances(struct usk_course *w, const struct usk_graph_back *known_a,
				     const struct usk_graph_back *known_b, int64_t wander,
				     int64_t steered, struct usk_calm *out)
{
	usk_course_of(w, known_a, known_b);
	struct usk_spans s = calm(w, wander, out);
	if (!w->fixed && out->wander_e12 < steered && usk_course_slewed(w, &s)) {
		/* Who slews a clock by what is seen does so by less, unseen. */
		begin_again(w, &s, out);
		usk_course_of(w, known_a, known_b);
		s = calm(w, steered, out);
	}
	return s;
}

void usk_calm_of(const struct usk_part *p, const struct usk_calm_model *m,
		 const struct usk_graph_back *known_a, const struct usk_graph_back *known_b,
		 struct usk_calm *out)
{
	struct usk_course w = { .part = p,
				.skew_e12 = m->max_skew_e12,
				.own_rates = m->own_rates,
				.fixed = !m->wander_e12 && !m->own_rates,
				.ends = m->at_ends > 0 && !m->own_rates };
	struct usk_need need;
	/* Rates are rounded to 10^-12. */
	int64_t wander = m->clocks * m->wander_e12, steered = m->clocks * USK_STEERED_E12;
	*out = (struct usk_calm){ .wander_e12 = wander };
	wander = wander > 1 ? wander : 1;
	usk_need_of(p, &need);
	out->needed_e12 = usk_need_within(&need, m->max_skew_e12);
	bool known = (known_a && known_a->n) || (known_b && known_b->n);
	if (usk_calm_holds(m, out->needed_e12) && !known && !p->n_left_out) {
		return;
	}
	struct usk_spans s = disturbances(&w, known_a, known_b, wander, steered, out);
	if (w.ends && out->n_outliers > m->at_ends) {
		begin_again(&w, &s, out);
		w.ends = false;
		s = disturbances(&w, known_a, known_b, wander, steered, out);
		out->stepped_at_end = out->n_outliers <= m->at_ends;
	}
	size_t steps = 0;
	if (s.n) {
		certify(&w, &s, out);
		steps = usk_course_hold_steps(&w, &s);
	}
	if (s.n || out->n_outliers || p->n_left_out) {
		w.outlook = usk_course_outlook(&w, s.cone);
		w.stamps = usk_course_stamps(&w);
	}
	usk_course_unite_slews(&w, &s);
	out->n_brackets = s.n;
	out->bracket = usk_alloc(s.n + 1, sizeof *out->bracket);
	out->contradicted = in_vain(&w, steps);
	struct shown all = { .s = &s, .in_vain = out->contradicted };
	if (s.n) {
		all.reach = usk_course_reach(&w, &s);
		all.stamps = stamps_around(&w);
		all.flights = usk_course_flights(&w, s.cone, &s);
	}
	for (size_t k = 0; k < s.n; k++) {
		out->bracket[k] = bracket_of(&w, &all, k);
		out->contradicted = out->contradicted || is_turned(&w, &all, &s.span[k]);
	}
	usk_doubts_note(&w, &s, m->doubted_below, out);
	for (size_t k = 0; k < s.n; k++) {
		if (!s.span[k].step) {
			size_bend(&w, s.cone, &s.span[k], k, out);
		}
	}
	if (all.in_vain) { /* what explains nothing excuses nobody */
		out->n_known[0] = out->n_known[1] = 0;
	}
	unite_steps(out);
	out->contradicted = out->contradicted || explains_nothing(&w, s.n_slews, out);
	usk_course_outlook_free(w.outlook);
	usk_course_stamps_free(w.stamps);
	usk_course_reach_free(&all.reach);
	USK_FREE(all.flights, all.stamps.least, all.stamps.most, all.stamps.breaks, s.span, w.p,
		 w.happened);
}

void usk_calm_free(struct usk_calm *c)
{
	USK_FREE(c->bracket, c->outlier, c->doubt, c->explained);
	*c = (struct usk_calm){ .n_brackets = 0 };
}
