/* SPDX-License-Identifier: MIT */
/*
 * disturbed.c - where a pair shows that one of its clocks was set or slewed, and who is wrong
 *
 * In    points of a pair in the order of time, the wander that is assumed
 * Out   brackets in which no calm clock goes on, the wander outside them, outliers
 * Why   it needs no other clock, and what is found here is beyond doubt: in a bracket lie two
 *       messages that no clock of the model can have exchanged
 * Not   whose clock it was (conflict.c), what only circles of pairs show (there too)
 *
 * The interval of possible offsets is walked from point to point, opening by the rates that are
 * possible. Where it becomes empty something happened since the point that it is empty for, and
 * it begins again. Walked forwards this says the latest, walked backwards the earliest that the
 * k-th of the fewest such events can have happened.
 *
 * Which rates are possible is known from the longest stretch that some constant rate explains.
 */
#include "fit/need.h"
#include "graph/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A step there and back costs as much as so many messages that are left out. */
enum { OUTLIERS_A_STEP = 5 };
/* A step for every so many points, or more, is no explanation. */
enum { POINTS_A_STEP = 2 };
enum { ROUNDS = 32 };

/* A point of either side, mirrored if a ceiling. */
struct point {
	int64_t x, y;
	bool ceiling;
	bool fresh; /* a break that is known from records lies before it */
};

struct walk {
	const struct usk_part *part;
	struct point *p;
	size_t n;
	int64_t skew_e12;
	bool own_rates;
	bool fixed; /* the wander is what it is */
	bool ends;  /* messages at an end may be wrong */
	bool slews; /* it is seen to be slewed: what a slew explains is no wrong message */
};

/* Slopes that the offset may have. */
struct cone {
	int64_t slow_e12, fast_e12;
};

struct cut {
	size_t at;
	bool rises;
};

struct cuts {
	struct cut *cut;
	size_t n, cap;
};

static void put_cut(struct cuts *c, size_t at, bool rises)
{
	c->cut = usk_room(c->cut, c->n, &c->cap, sizeof *c->cut);
	c->cut[c->n++] = (struct cut){ at, rises };
}

static void reverse(struct cuts *c)
{
	for (size_t i = 0; i < c->n / 2; i++) {
		struct cut t = c->cut[i];
		c->cut[i] = c->cut[c->n - 1 - i];
		c->cut[c->n - 1 - i] = t;
	}
}

/* ---- points ------------------------------------------------------------------------------------
 */

static int64_t a_stamp(const struct usk_part *part, const struct point *p)
{
	struct usk_point at = usk_part_recorded(part, (struct usk_xy){ p->x, p->y }, p->ceiling);
	return usk_saturate((usk_i128)at.local_ns + at.offset_ns);
}

/* The same the other way round. */
static struct point point_of(const struct usk_part *p, const struct usk_suspect *s)
{
	int64_t x = s->point.local_ns - p->frame.local_ns + (s->ceiling ? 0 : p->q_ns[0]);
	int64_t off = s->point.offset_ns - p->frame.offset_ns;
	return (struct point){ x, (s->ceiling ? -off : off) - p->q_ns[s->ceiling], s->ceiling,
			       false };
}

static bool between(const struct usk_graph_back *back, int64_t before, int64_t after)
{
	for (size_t i = 0; back && i < back->n; i++) {
		if (before <= back->gap[i].before_ns && back->gap[i].after_ns <= after) {
			return true;
		}
	}
	return false;
}

static void merge(struct walk *w, const struct usk_graph_back *known_a,
		  const struct usk_graph_back *known_b)
{
	const struct usk_part *p = w->part;
	w->p = usk_alloc(p->n[0] + p->n[1] + 1, sizeof *w->p);
	for (size_t i = 0, j = 0; i < p->n[0] || j < p->n[1];) {
		bool ceiling = i == p->n[0] || (j < p->n[1] && p->point[1][j].x < p->point[0][i].x);
		struct usk_xy q = ceiling ? p->point[1][j++] : p->point[0][i++];
		w->p[w->n++] = (struct point){ q.x, q.y, ceiling, false };
	}
	bool known = (known_a && known_a->n) || (known_b && known_b->n);
	for (size_t i = 1; i < w->n && known; i++) {
		const struct point *l = &w->p[i - 1], *r = &w->p[i];
		int64_t origin = p->frame.local_ns;
		w->p[i].fresh = between(known_b, origin + l->x, origin + r->x) ||
				between(known_a, a_stamp(p, l), a_stamp(p, r));
	}
}

/* ---- walks -------------------------------------------------------------------------------------
 */

/* The interval of possible offsets, e12. */
struct interval {
	bool has[2];
	usk_i128 lo, hi;
};

/* Takes a point in; false: it leaves nothing, and all begins with it. */
static bool narrow(struct interval *v, const struct point *p)
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
		*v = (struct interval){ .has = { !p->ceiling, p->ceiling }, .lo = y, .hi = y };
		return false;
	}
	return true;
}

/* From one point to the other, against the order of points if d is negative. */
static void open_up(struct interval *v, struct cone c, usk_i128 d)
{
	v->lo += d * (d < 0 ? c.fast_e12 : c.slow_e12);
	v->hi += d * (d < 0 ? c.slow_e12 : c.fast_e12);
}

/* The k-th point of a walk, with the interval carried to it from the one before. */
static size_t carry(const struct walk *w, struct cone c, bool back, size_t k, struct interval *v)
{
	size_t i = back ? w->n - 1 - k : k;
	const struct point *p = &w->p[i];
	if (k) {
		const struct point *last = back ? p + 1 : p - 1;
		open_up(v, c, (usk_i128)p->x - last->x);
		if (back ? last->fresh : p->fresh) {
			*v = (struct interval){ .has = { false } };
		}
	}
	return i;
}

/* In the order of points a cut is the first behind, backwards the last before the event. */
static void walk(const struct walk *w, struct cone c, bool back, struct cuts *out)
{
	struct interval v = { .has = { false } };
	out->n = 0;
	for (size_t k = 0; k < w->n; k++) {
		size_t i = carry(w, c, back, k, &v);
		if (!narrow(&v, &w->p[i])) {
			put_cut(out, i, w->p[i].ceiling == back);
		}
	}
	if (back) {
		reverse(out);
	}
}

/* The nearest point before `at` (behind, back) that contradicts what lies between: one event at
 * least is between them. */
static size_t reach(const struct walk *w, struct cone c, size_t at, bool back)
{
	struct interval v = { .has = { false } };
	narrow(&v, &w->p[at]);
	for (size_t i = at; back ? i > 0 : i + 1 < w->n;) {
		const struct point *last = &w->p[i];
		i = back ? i - 1 : i + 1;
		open_up(&v, c, (usk_i128)w->p[i].x - last->x);
		if ((back ? last->fresh : w->p[i].fresh) || !narrow(&v, &w->p[i])) {
			return i;
		}
	}
	return at;
}

/* A stretch of points that some constant rate explains. */
struct stretch {
	size_t from, to; /* to: the last */
	struct usk_need need;
};

/* The same with a rate of its own for each stretch, as long as one explains it; the longest. */
static struct stretch pieces(const struct walk *w, int64_t wander, bool back, struct cuts *out)
{
	struct usk_needing g = { .n = { 0 } };
	struct stretch longest = { 0, 0, { .has_lo = false } }, now = longest;
	usk_i128 most = -1;
	out->n = 0;
	for (size_t k = 0; k < w->n; k++) {
		size_t i = back ? w->n - 1 - k : k;
		const struct point *p = &w->p[i];
		bool fresh = k && (back ? (p + 1)->fresh : p->fresh);
		struct usk_xy at = { back ? -p->x : p->x, p->y };
		if (fresh) {
			usk_needing_clear(&g);
			now.from = i;
		}
		usk_needing_push(&g, p->ceiling, at);
		if (usk_need_within(&g.need, w->skew_e12) > wander) {
			put_cut(out, i, p->ceiling == back);
			usk_needing_clear(&g);
			usk_needing_push(&g, p->ceiling, at);
			now.from = i;
		}
		now.to = i;
		now.need = g.need;
		usk_i128 length = (usk_i128)p->x - w->p[now.from].x;
		length = length < 0 ? -length : length;
		if (length > most) {
			most = length;
			longest = now;
		}
	}
	usk_needing_free(&g);
	if (back) {
		reverse(out);
	}
	return longest;
}

/* Every slope that a rate of the stretch may have: a necessary condition for all others. */
static struct cone cone_of(const struct usk_need *need, int64_t wander, int64_t skew)
{
	struct cone c = { -skew, skew };
	if (need->has_lo) {
		usk_i128 slow = (usk_i128)usk_slope_e12(need->s_lo, false) - 2 * (usk_i128)wander;
		c.slow_e12 = slow > skew ? skew : slow > -skew ? (int64_t)slow : -skew;
	}
	if (need->has_hi) {
		usk_i128 fast = (usk_i128)usk_slope_e12(need->s_hi, true) + 2 * (usk_i128)wander;
		c.fast_e12 = fast < -skew ? -skew : fast < skew ? (int64_t)fast : skew;
	}
	return c;
}

/* ---- brackets ----------------------------------------------------------------------------------
 */

/* By number of point: the last that is surely before, the first that is surely behind. */
struct span {
	size_t from, to;
	bool rises;
};

struct spans {
	struct span *span;
	size_t n;
	struct cone cone; /* of the slopes outside */
};

/* The same with a rate of its own: nearest point to which no constant rate leads. */
static size_t reach_by_rate(const struct walk *w, int64_t wander, size_t at, bool back)
{
	struct usk_needing g = { .n = { 0 } };
	size_t i = at;
	for (;; i = back ? i - 1 : i + 1) {
		const struct point *p = &w->p[i];
		bool fresh = i != at && (back ? (p + 1)->fresh : p->fresh);
		usk_needing_push(&g, p->ceiling, (struct usk_xy){ back ? -p->x : p->x, p->y });
		if (fresh || usk_need_within(&g.need, w->skew_e12) > wander ||
		    i == (back ? 0 : w->n - 1)) {
			break;
		}
	}
	usk_needing_free(&g);
	return i;
}

static struct spans spans_of(const struct walk *w, int64_t wander)
{
	struct cuts forth = { .n = 0 }, back = { .n = 0 };
	struct spans out = { .n = 0 };
	struct stretch longest = pieces(w, wander, false, &forth);
	out.cone = cone_of(&longest.need, wander, w->skew_e12);
	if (w->own_rates) {
		pieces(w, wander, true, &back);
	} else if (forth.n) {
		walk(w, out.cone, false, &forth);
		walk(w, out.cone, true, &back);
	}
	out.n = forth.n < back.n ? forth.n : back.n;
	out.span = usk_alloc(out.n + 1, sizeof *out.span);
	for (size_t k = 0; k < out.n; k++) {
		size_t e = back.cut[k].at, f = forth.cut[k].at;
		struct span s = { e < f ? e : f, e < f ? f : e, forth.cut[k].rises };
		/* One event lies between both. Two that the fewest events explain as one lie where
		 * messages contradict each other: from the last before that one cut contradicts to
		 * the first behind that the other does. */
		size_t l = w->own_rates ? reach_by_rate(w, wander, f, true)
					: reach(w, out.cone, f, true);
		size_t r = w->own_rates ? reach_by_rate(w, wander, e, false)
					: reach(w, out.cone, e, false);
		s.from = l < s.from ? l : s.from;
		s.to = r > s.to ? r : s.to;
		out.span[k] = s;
	}
	free(forth.cut);
	free(back.cut);
	return out;
}

static usk_i128 duration(const struct walk *w)
{
	return w->n ? (usk_i128)w->p[w->n - 1].x - w->p[0].x : 0;
}

/* How much of the time lies in a bracket. */
static usk_i128 disturbed(const struct walk *w, const struct spans *s)
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

/*
 * Much wander and few disturbed stretches, or little and many: the least freedom over all explains
 * best, which is the wander outside stretches and the skew limit in them.
 */
static struct spans explain(const struct walk *w, int64_t wander, int64_t *used)
{
	struct spans best = spans_of(w, wander);
	*used = wander;
	if (!best.n || w->own_rates || w->fixed) {
		return best;
	}
	usk_i128 all = duration(w), d = disturbed(w, &best);
	usk_i128 open = cost_of(w->skew_e12), least = (all - d) * cost_of(wander) + d * open;
	for (int64_t v = 2 * wander; v < w->skew_e12 && all * cost_of(v) < least; v *= 2) {
		struct spans s = spans_of(w, v);
		d = disturbed(w, &s);
		usk_i128 freedom = (all - d) * cost_of(v) + d * open;
		if (freedom < least) {
			struct spans old = best;
			best = s;
			s = old;
			least = freedom;
			*used = v;
		}
		free(s.span);
	}
	return best;
}

/* What the points up to `at`, or from it on, leave open there: floor and ceiling, e12. */
static struct interval left_open(const struct walk *w, struct cone c, size_t at, bool behind)
{
	struct interval v = { .has = { false } };
	for (size_t i = at;; i = behind ? i + 1 : i - 1) {
		const struct point *p = &w->p[i];
		usk_i128 d = (usk_i128)p->x - w->p[at].x;
		usk_i128 y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12;
		/* Carried to `at` by the rate that makes it say least. */
		usk_i128 low = y - (behind ? d * c.fast_e12 : d * c.slow_e12);
		usk_i128 high = y - (behind ? d * c.slow_e12 : d * c.fast_e12);
		struct interval next = v;
		if (p->ceiling && (!v.has[1] || high < v.hi)) {
			next.has[1] = true;
			next.hi = high;
		} else if (!p->ceiling && (!v.has[0] || low > v.lo)) {
			next.has[0] = true;
			next.lo = low;
		}
		if ((next.has[0] && next.has[1] && next.lo > next.hi) ||
		    (i != at && (behind ? p->fresh : (p + 1)->fresh))) {
			return v; /* another event */
		}
		v = next;
		if (i == (behind ? w->n - 1 : 0)) {
			return v;
		}
	}
}

/* By how much the offset may have risen from the one to the other; USK_NONE: unknown. */
struct size {
	int64_t least_ns, most_ns;
};

static struct size size_of(const struct walk *w, struct cone c, const struct span *s)
{
	struct interval l = left_open(w, c, s->from, false), r = left_open(w, c, s->to, true);
	usk_i128 d = (usk_i128)w->p[s->to].x - w->p[s->from].x;
	usk_i128 slow = d * c.slow_e12, fast = d * c.fast_e12;
	struct size size = { USK_NONE, USK_NONE };
	if (r.has[0] && l.has[1]) {
		size.least_ns = usk_saturate(usk_floor_div(r.lo - l.hi - fast, USK_E12));
	}
	if (r.has[1] && l.has[0]) {
		size.most_ns = usk_saturate(usk_ceil_div(r.hi - l.lo - slow, USK_E12));
	}
	return size;
}

/* Which of them no clock within the skew limit explains, and whether these are too many. */
static void mark_steps(const struct walk *w, const struct spans *s, bool *step, bool *too_many)
{
	const struct cone any = { -w->skew_e12, w->skew_e12 };
	struct cuts forth = { .n = 0 }, back = { .n = 0 };
	walk(w, any, false, &forth);
	walk(w, any, true, &back);
	for (size_t k = 0; k < forth.n && k < back.n; k++) {
		size_t e = back.cut[k].at, f = forth.cut[k].at, from = e < f ? e : f,
		       to = e < f ? f : e;
		for (size_t i = 0; i < s->n; i++) {
			step[i] = step[i] || (s->span[i].from <= to && from <= s->span[i].to);
		}
	}
	*too_many = POINTS_A_STEP * forth.n >= w->n && forth.n;
	free(forth.cut);
	free(back.cut);
}

/* Is one of them no step? Then a daemon slews the clock. */
static bool slewed(const struct walk *w, const struct spans *s)
{
	bool *step = usk_alloc(s->n + 1, sizeof *step), too_many, any = false;
	mark_steps(w, s, step, &too_many);
	for (size_t i = 0; i < s->n; i++) {
		any = any || !step[i];
	}
	free(step);
	return any;
}

/* Do two points contradict each other, by any slope of the cone? */
static bool contradict(struct cone c, const struct point *first, const struct point *second)
{
	usk_i128 over = (usk_i128)first->y + second->y, d = (usk_i128)second->x - first->x;
	int64_t slope = second->ceiling ? -c.slow_e12 : c.fast_e12;
	return first->ceiling != second->ceiling && over * USK_E12 > d * slope;
}

/* Fewer than a step there and back costs, of one direction. */
static bool few(const struct walk *w, size_t from, size_t to)
{
	bool same = from <= to && to - from < OUTLIERS_A_STEP;
	for (size_t i = from; same && i <= to; i++) {
		same = w->p[i].ceiling == w->p[from].ceiling;
	}
	return same;
}

/* Several that may be of one calm clock, give or take what delays differ by, are not each wrong by
 * itself, but tell of a clock that was set; or of which nobody knows that. */
static bool agree(const struct walk *w, struct cone c, size_t from, size_t to, usk_i128 delays)
{
	bool all = to > from;
	for (size_t i = from + 1; i <= to; i++) {
		usk_i128 d = (usk_i128)w->p[i].x - w->p[from].x;
		usk_i128 rise = ((usk_i128)w->p[i].y - w->p[from].y) * USK_E12;
		usk_i128 slow = d * (w->p[i].ceiling ? -c.fast_e12 : c.slow_e12);
		usk_i128 fast = d * (w->p[i].ceiling ? -c.slow_e12 : c.fast_e12);
		all = all && (!delays || (rise >= slow - delays && rise <= fast + delays));
	}
	return all;
}

/* How wide what the other points leave open is, e12: so much delays differ by. 0: nothing says. */
static usk_i128 width_at(const struct walk *w, struct cone c, size_t at, bool behind)
{
	struct interval v = left_open(w, c, at, behind);
	return v.has[0] && v.has[1] ? v.hi - v.lo : 0;
}

static size_t leave_out(size_t from, size_t to, bool *out)
{
	size_t n = 0;
	for (size_t i = from; i <= to; i++) {
		n += !out[i];
		out[i] = true;
	}
	return n;
}

/* Is a point behind a bracket contradicted by one before, or the other way round? */
static bool contradicted(const struct walk *w, struct cone c, size_t i, const struct span *s,
			 bool behind)
{
	bool any = false;
	for (size_t k = behind ? 0 : s->to; k < (behind ? s->from + 1 : w->n) && !any; k++) {
		any = behind ? contradict(c, &w->p[k], &w->p[i])
			     : contradict(c, &w->p[i], &w->p[k]);
	}
	return any;
}

/* Fewer before or behind all brackets than on the other side of the outermost one. A clock that is
 * seen to be slewed elsewhere may have been slewed there, too. */
static size_t candidates_at_ends(const struct walk *w, const struct spans *s, bool *out)
{
	bool *step = usk_alloc(s->n + 1, sizeof *step), too_many;
	size_t n = 0;
	mark_steps(w, s, step, &too_many);
	for (int end = 0; end < 2; end++) {
		size_t k = end ? s->n - 1 : 0;
		size_t from = end ? s->span[k].to : 0, to = end ? w->n - 1 : s->span[k].from;
		size_t rest = end ? s->span[k].from : w->n - 1 - s->span[k].to;
		bool slews = false;
		for (size_t i = 0; i < s->n; i++) {
			slews = slews || (i != k && !step[i]);
		}
		if (few(w, from, to) && rest > to - from && (step[k] || !slews)) {
			for (size_t i = from; i <= to; i++) {
				n += contradicted(w, s->cone, i, &s->span[k], end) &&
				     leave_out(i, i, out);
			}
		}
	}
	free(step);
	return n;
}

/* From before bracket k to behind bracket l: without what lies between did nothing happen? */
static bool vain(const struct walk *w, const struct spans *s, size_t k, size_t l)
{
	const struct span all = { s->span[k].from, s->span[l].to, false };
	struct size net = size_of(w, s->cone, &all);
	return (net.least_ns == USK_NONE || net.least_ns <= 0) &&
	       (net.most_ns == USK_NONE || net.most_ns >= 0);
}

/*
 * Few messages of one direction between two brackets, which lead there and back, are wrong by
 * themselves: leave them out. So are those between several brackets, as wrong messages of both
 * directions hide what is right between them.
 */
static size_t candidates(const struct walk *w, const struct spans *s, bool *out)
{
	bool *step = usk_alloc(s->n + 1, sizeof *step), too_many;
	size_t n = 0;
	mark_steps(w, s, step, &too_many);
	for (size_t k = 0; k + 1 < s->n; k++) {
		size_t messages = 0;
		bool found = false;
		for (size_t l = k + 1; l < s->n && !found; l++) {
			size_t from = s->span[l - 1].to, to = s->span[l].from;
			messages += to - from + 1;
			if (!few(w, from, to) || messages > OUTLIERS_A_STEP) {
				break;
			}
			usk_i128 before = width_at(w, s->cone, s->span[k].from, false);
			usk_i128 behind = width_at(w, s->cone, s->span[l].to, true);
			bool one = l == k + 1;
			found = (!w->slews || step[k] || step[l]) &&
				!(one && s->span[k].rises == s->span[l].rises) &&
				!(one &&
				  agree(w, s->cone, from, to, before > behind ? before : behind)) &&
				vain(w, s, k, l);
			for (size_t i = k; found && i < l; i++) {
				n += leave_out(s->span[i].to, s->span[i + 1].from, out);
			}
		}
	}
	free(step);
	/* What contradicts all others is not what one of those contradicts that go now. */
	return n || !w->ends ? n : candidates_at_ends(w, s, out);
}

static void without(struct walk *w, const bool *out, const struct walk *all, size_t *number)
{
	w->n = 0;
	bool fresh = false;
	for (size_t i = 0; i < all->n; i++) {
		fresh = fresh || all->p[i].fresh;
		if (!out[i]) {
			w->p[w->n] = all->p[i];
			w->p[w->n].fresh = fresh;
			number[w->n++] = i;
			fresh = false;
		}
	}
}

/* Who merely stood between two wrong messages contradicts none of those that are right. */
static size_t absolve(const struct walk *all, struct cone c, bool *out)
{
	bool *guilty = usk_alloc(all->n + 1, sizeof *guilty);
	size_t n = 0;
	for (int back = 0; back < 2; back++) {
		struct interval v = { .has = { false } };
		for (size_t k = 0; k < all->n; k++) {
			size_t i = carry(all, c, back, k, &v);
			struct interval if_right = v;
			bool right = narrow(&if_right, &all->p[i]);
			guilty[i] = guilty[i] || !right;
			v = out[i] ? v : if_right;
		}
	}
	for (size_t i = 0; i < all->n; i++) {
		n += out[i] && !guilty[i];
		out[i] = out[i] && guilty[i];
	}
	free(guilty);
	return n;
}

static void note_outliers(const struct walk *all, struct cone cone, const bool *out,
			  struct usk_calm *c)
{
	usk_i128 rate = ((usk_i128)cone.slow_e12 + cone.fast_e12) / 2;
	for (size_t i = 0; i < all->n; i++) {
		c->n_outliers += out[i];
	}
	c->outlier = usk_alloc(c->n_outliers + 1, sizeof *c->outlier);
	c->n_outliers = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct point *p = &all->p[i];
		/* By as much as it is over the nearest of the other direction that is right. */
		usk_i128 excess = 1;
		for (size_t step = 1; out[i] && excess == 1 && (step <= i || i + step < all->n);
		     step++) {
			for (int side = 0; side < 2; side++) {
				size_t j = side ? i + step : i - step;
				if ((side ? j < all->n : step <= i) && !out[j] &&
				    all->p[j].ceiling != p->ceiling) {
					usk_i128 d = (usk_i128)p->x - all->p[j].x;
					usk_i128 rise = usk_floor_div(d * rate, USK_E12);
					usk_i128 over = (usk_i128)p->y + all->p[j].y -
							(p->ceiling ? -rise : rise);
					excess = over > excess ? over : excess;
				}
			}
		}
		if (out[i]) {
			c->outlier[c->n_outliers++] = (struct usk_suspect){
				usk_part_recorded(all->part, (struct usk_xy){ p->x, p->y },
						  p->ceiling),
				p->ceiling, usk_saturate(excess)
			};
		}
	}
}

/*
 * A message that b received was sent before: if a was set meanwhile, then before b's stamp of it.
 * The last one that b sent before, and a received before it sent this one, is before the event in
 * both ways; behind it is the same the other way round.
 */
static void widen(const struct walk *w, const struct span *s, size_t *from, size_t *to)
{
	int64_t first = a_stamp(w->part, &w->p[s->from]), last = a_stamp(w->part, &w->p[s->to]);
	bool sent = w->p[s->from].ceiling, received = !w->p[s->to].ceiling;
	*from = s->from;
	*to = s->to;
	while (*from && !sent) {
		const struct point *p = &w->p[--*from];
		sent = p->ceiling && a_stamp(w->part, p) <= first;
	}
	while (*to + 1 < w->n && !received) {
		const struct point *p = &w->p[++*to];
		received = !p->ceiling && a_stamp(w->part, p) >= last;
	}
}

static void write_bracket(const struct walk *w, const struct span *s, struct usk_bracket *b)
{
	size_t from, to;
	widen(w, s, &from, &to);
	*b = (struct usk_bracket){ .b0_ns = w->part->frame.local_ns + w->p[from].x,
				   .b1_ns = w->part->frame.local_ns + w->p[to].x,
				   .a0_ns = INT64_MAX,
				   .a1_ns = INT64_MIN,
				   .rises = s->rises };
	from -= from > 0;
	to += to + 1 < w->n;
	/* Stamps of a are not in this order, and a message may be under way meanwhile. */
	for (size_t i = from; i <= to; i++) {
		int64_t a = a_stamp(w->part, &w->p[i]);
		b->a0_ns = a < b->a0_ns ? a : b->a0_ns;
		b->a1_ns = a > b->a1_ns ? a : b->a1_ns;
	}
}

/* ---- what was if outliers are right ------------------------------------------------------------
 */

/* The points with an outlier among them again, as number *at. */
static struct walk with(const struct walk *w, const struct usk_suspect *s, size_t *at)
{
	struct walk out = *w;
	struct point p = point_of(w->part, s);
	*at = 0;
	out.n = w->n + 1;
	out.p = usk_alloc(out.n, sizeof *out.p);
	while (*at < w->n && w->p[*at].x < p.x) {
		out.p[*at] = w->p[*at];
		++*at;
	}
	out.p[*at] = p;
	for (size_t i = *at; i < w->n; i++) {
		out.p[i + 1] = w->p[i];
	}
	return out;
}

/*
 * Nothing tells a wrong message from a clock that was set before it and back behind, or from
 * one that was set at an end: so bounds allow for that, too, from the nearest message that it
 * contradicts to the nearest behind. But no clock returns that was set by more than the time to
 * these: else a single wrong message would leave nothing known of hours.
 */
static bool doubt_of(const struct walk *all, struct cone c, const struct usk_suspect *s,
		     struct usk_bracket *b)
{
	size_t at;
	struct walk w = with(all, s, &at);
	size_t from = at, to = at;
	bool before = false, behind = false;
	while (from && !before) {
		from--;
		before = contradict(c, &w.p[from], &w.p[at]) || w.p[from + 1].fresh;
	}
	while (to + 1 < w.n && !behind) {
		to++;
		behind = contradict(c, &w.p[at], &w.p[to]) || w.p[to].fresh;
	}
	bool both = before && behind;
	usk_i128 since = (usk_i128)w.p[at].x - w.p[from].x;
	usk_i128 until = (usk_i128)w.p[to].x - w.p[at].x;
	bool any = (before || behind) && !(both && s->excess_ns > (since < until ? since : until));
	if (any) {
		/* What it does not contradict ends with it. */
		struct span span = { before ? from : at, behind ? to : at, before != s->ceiling };
		write_bracket(&w, &span, b);
		b->doubted = true;
		b->both = both;
		/* It was set by as much as that contradicts, give or take delays. */
		struct size net = size_of(&w, c, &span);
		bool known = net.least_ns != USK_NONE && net.most_ns != USK_NONE;
		usk_i128 far = s->excess_ns + (known ? (usk_i128)net.most_ns - net.least_ns : 0);
		b->most_ns = both || s->excess_ns <= since + until ? usk_saturate(far) : 0;
		b->least_ns = -b->most_ns;
	}
	free(w.p);
	return any;
}

static void note_doubts(const struct walk *w, struct cone cone, struct usk_calm *c)
{
	const struct usk_part *p = w->part;
	const struct cone any = { -w->skew_e12, w->skew_e12 };
	size_t n = c->n_outliers + p->n_left_out;
	if (w->fixed || !n) { /* a clock of one rate was not set */
		return;
	}
	c->doubt = usk_alloc(n, sizeof *c->doubt);
	for (size_t i = 0; i < n; i++) {
		const struct usk_suspect *s =
			i < c->n_outliers ? &c->outlier[i] : &p->left_out[i - c->n_outliers];
		c->n_doubts += doubt_of(w, w->own_rates ? any : cone, s, &c->doubt[c->n_doubts]);
	}
}

/* Round by round, as long as that leaves fewer brackets. */
static struct spans leave_out_all(struct walk *w, const struct walk *all, int64_t wander, bool *out,
				  struct spans s)
{
	bool *kept = usk_alloc(all->n, sizeof *kept);
	size_t *number = usk_alloc(all->n, sizeof *number);
	without(w, out, all, number);
	for (int round = 0; round < ROUNDS && s.n; round++) {
		bool *now = usk_alloc(w->n, sizeof *now);
		size_t n = candidates(w, &s, now);
		memcpy(kept, out, all->n * sizeof *kept);
		for (size_t i = 0; i < w->n; i++) {
			out[number[i]] = out[number[i]] || now[i];
		}
		free(now);
		if (!n) {
			break;
		}
		without(w, out, all, number);
		struct spans t = spans_of(w, wander);
		bool better = t.n < s.n;
		free(better ? s.span : t.span);
		if (!better) {
			memcpy(out, kept, all->n * sizeof *out);
			without(w, out, all, number);
			break;
		}
		s = t;
	}
	memcpy(kept, out, all->n * sizeof *kept);
	if (absolve(all, s.cone, out)) {
		without(w, out, all, number);
		struct spans t = spans_of(w, wander);
		bool better = t.n <= s.n;
		free(better ? s.span : t.span);
		if (better) {
			s = t;
		} else {
			memcpy(out, kept, all->n * sizeof *out);
			without(w, out, all, number);
		}
	}
	free(kept);
	free(number);
	return s;
}

/*
 * Leaves out wrong messages, round by round, as long as that leaves fewer brackets. They are sought
 * at the wander that is assumed: with more of it a wrong message is a rate, and explained too.
 */
static struct spans clean(struct walk *w, int64_t wander, int64_t *used, struct usk_calm *c)
{
	w->slews = false;
	struct spans s = spans_of(w, wander);
	if (s.n < (w->ends ? 1 : 2)) {
		note_doubts(w, s.cone, c);
		free(s.span);
		return explain(w, wander, used);
	}
	struct walk all = *w;
	bool *out = usk_alloc(all.n, sizeof *out);
	w->p = usk_alloc(all.n, sizeof *w->p);
	s = leave_out_all(w, &all, wander, out, s);
	w->slews = slewed(w, &s);
	if (w->slews) {
		memset(out, 0, all.n * sizeof *out);
		free(s.span);
		s = leave_out_all(w, &all, wander, out, spans_of(&all, wander));
	}
	note_outliers(&all, s.cone, out, c);
	note_doubts(w, s.cone, c);
	free(s.span);
	s = explain(w, wander, used);
	free(all.p);
	free(out);
	return s;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

/* The first two that contradict each other. */
static void certify(const struct walk *w, const struct spans *s, struct usk_calm *c)
{
	size_t to = s->span[0].to;
	for (size_t i = 0; i < to; i++) {
		const struct point *p = &w->p[i], *q = &w->p[to];
		if (contradict(s->cone, p, q)) {
			const struct point *both[] = { p, q };
			for (int k = 0; k < 2; k++) {
				c->ceiling[k] = both[k]->ceiling;
				c->point[k] = usk_part_recorded(
					w->part, (struct usk_xy){ both[k]->x, both[k]->y },
					both[k]->ceiling);
			}
		}
	}
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
static int64_t needed_outside(const struct walk *w, const struct spans *s)
{
	int64_t margin = w->own_rates ? 0 : USK_MARGIN_NS, most = 0;
	struct usk_needing g = { .n = { 0 } };
	struct usk_need all = { .has_lo = false };
	usk_i128 until = 0;
	for (size_t i = 0, k = 0, to = 0; i <= w->n; i++) {
		const struct point *p = &w->p[i];
		for (; k < s->n && i < w->n; k++) {
			const struct span *x = &s->span[k];
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

void usk_calm_jump(const struct usk_part *p, int64_t wander_e12, int64_t max_skew_e12, bool of_b,
		   int64_t from_ns, int64_t to_ns, int64_t *least_ns, int64_t *most_ns)
{
	struct walk w = { .part = p, .skew_e12 = max_skew_e12 };
	struct cuts none = { .n = 0 };
	struct span s = { 0, SIZE_MAX, false };
	bool any = false;
	*least_ns = *most_ns = USK_NONE;
	merge(&w, NULL, NULL);
	for (size_t i = 0; i < w.n; i++) {
		int64_t t = of_b ? usk_saturate((usk_i128)p->frame.local_ns + w.p[i].x)
				 : a_stamp(p, &w.p[i]);
		if (t <= from_ns) {
			s.from = i;
			any = true;
		} else if (t >= to_ns && s.to == SIZE_MAX) {
			s.to = i;
		}
	}
	if (any && s.to != SIZE_MAX && s.from < s.to) {
		struct stretch longest = pieces(&w, wander_e12, false, &none);
		struct size size =
			size_of(&w, cone_of(&longest.need, wander_e12, max_skew_e12), &s);
		*least_ns = size.least_ns;
		*most_ns = size.most_ns;
	}
	free(none.cut);
	free(w.p);
}

static void begin_again(struct walk *w, struct spans *s, struct usk_calm *out)
{
	usk_calm_free(out);
	free(s->span);
	free(w->p);
	w->n = 0;
}

static struct spans disturbances(struct walk *w, const struct usk_graph_back *known_a,
				 const struct usk_graph_back *known_b, int64_t wander,
				 int64_t steered, struct usk_calm *out)
{
	merge(w, known_a, known_b);
	struct spans s = clean(w, wander, &out->wander_e12, out);
	if (!w->fixed && out->wander_e12 < steered && slewed(w, &s)) {
		/* Who slews a clock by what is seen does so by less, unseen. */
		begin_again(w, &s, out);
		merge(w, known_a, known_b);
		out->wander_e12 = steered;
		s = clean(w, steered, &out->wander_e12, out);
	}
	return s;
}

int64_t usk_calm_wander(int64_t assumed_e12, int64_t needed_e12, int64_t max_skew_e12)
{
	int64_t twice = needed_e12 < max_skew_e12 / 2 ? 2 * needed_e12 : max_skew_e12;
	return twice > assumed_e12 ? twice : assumed_e12;
}

/* The cone of all rates that so much more wander allows. */
static void widen_cone(struct cone *c, int64_t more, int64_t skew)
{
	c->slow_e12 = c->slow_e12 - 2 * more > -skew ? c->slow_e12 - 2 * more : -skew;
	c->fast_e12 = c->fast_e12 + 2 * more < skew ? c->fast_e12 + 2 * more : skew;
}

void usk_calm_of(const struct usk_part *p, const struct usk_calm_model *m,
		 const struct usk_graph_back *known_a, const struct usk_graph_back *known_b,
		 struct usk_calm *out)
{
	struct walk w = { .part = p,
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
	if (out->needed_e12 <= wander && !known && !p->n_left_out) {
		if (!w.fixed && !w.own_rates) {
			out->wander_e12 =
				usk_calm_wander(out->wander_e12, out->needed_e12, w.skew_e12);
		}
		return;
	}
	struct spans s = disturbances(&w, known_a, known_b, wander, steered, out);
	if (w.ends && out->n_outliers > m->at_ends) {
		begin_again(&w, &s, out);
		w.ends = false;
		s = disturbances(&w, known_a, known_b, wander, steered, out);
		out->stepped_at_end = out->n_outliers <= m->at_ends;
	}
	out->needed_e12 = needed_outside(&w, &s);
	if (!w.fixed && !w.own_rates) {
		int64_t used = usk_calm_wander(out->wander_e12, out->needed_e12, w.skew_e12);
		widen_cone(&s.cone, used - out->wander_e12, w.skew_e12);
		out->wander_e12 = used;
	}
	out->n_brackets = s.n;
	out->bracket = usk_alloc(s.n + 1, sizeof *out->bracket);
	bool *step = usk_alloc(s.n + 1, sizeof *step);
	if (s.n) {
		mark_steps(&w, &s, step, &out->contradicted);
		certify(&w, &s, out);
	}
	for (size_t k = 0; k < s.n; k++) {
		struct size size = size_of(&w, s.cone, &s.span[k]);
		write_bracket(&w, &s.span[k], &out->bracket[k]);
		out->bracket[k].least_ns = size.least_ns;
		out->bracket[k].most_ns = size.most_ns;
		out->bracket[k].step = step[k];
	}
	free(step);
	free(s.span);
	free(w.p);
}

void usk_calm_free(struct usk_calm *c)
{
	free(c->bracket);
	free(c->outlier);
	free(c->doubt);
	*c = (struct usk_calm){ .n_brackets = 0 };
}
