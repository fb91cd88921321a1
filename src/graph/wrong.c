/* SPDX-License-Identifier: MIT */
/*
 * wrong.c - messages of a pair that are wrong by themselves
 *
 * In    points of a pair in the order of time, brackets in which no calm clock goes on
 * Out   outliers
 * Not   what happened if they are right (doubts.c), messages that only cycles of pairs show to be
 *       wrong (cycles.c)
 */
#include "graph/course.h"

#include <stdlib.h>
#include <string.h>

/* A step there and back costs as much as so many messages that are left out. */
enum { OUTLIERS_A_STEP = 5 };
enum { ROUNDS = 32 };

/* Those of a direction that were left out before, from one point to another: read again without
 * them, a stretch shows others that they hid. */
static size_t gone(const struct usk_course *w, bool ceiling, size_t from, size_t to)
{
	const int64_t *x = w->gone[ceiling];
	size_t first, end;
	USK_FIRST(first, 0, w->n_gone[ceiling], x[first] >= w->p[from].x);
	USK_FIRST(end, first, w->n_gone[ceiling], x[end] > w->p[to].x);
	return end - first;
}

/* Fewer than a step there and back costs, of one direction, in the stretch behind one bracket and
 * before another, NULL: an end. */
static bool few(const struct usk_course *w, const struct usk_span *before,
		const struct usk_span *behind)
{
	size_t from = before ? before->to : 0, to = behind ? behind->from : w->n - 1;
	bool same = from <= to && to - from < OUTLIERS_A_STEP;
	for (size_t i = from; same && i <= to; i++) {
		same = w->p[i].ceiling == w->p[from].ceiling && !w->p[i].right;
	}
	return same && to - from +
				       gone(w, w->p[from].ceiling, before ? before->from : 0,
					    behind ? behind->to : w->n - 1) <
			       OUTLIERS_A_STEP;
}

/* Several that may be of one calm clock, give or take what delays differ by, are not each wrong by
 * itself, but tell of a clock that was set; or of which nobody knows that. */
static bool agree(const struct usk_course *w, struct usk_slope_range c, size_t from, size_t to,
		  usk_i128 delays)
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
static usk_i128 width_at(const struct usk_course *w, struct usk_slope_range c, size_t at,
			 bool behind)
{
	struct usk_offsets v = usk_course_left_open(w, c, at, behind);
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
static bool contradicted(const struct usk_course *w, struct usk_slope_range c, size_t i,
			 const struct usk_span *s, bool behind)
{
	bool any = false;
	for (size_t k = behind ? 0 : s->to; k < (behind ? s->from + 1 : w->n) && !any; k++) {
		any = behind ? usk_course_contradict(c, &w->p[k], &w->p[i])
			     : usk_course_contradict(c, &w->p[i], &w->p[k]);
	}
	return any;
}

/* Fewer before or behind all brackets than on the other side of the outermost one. A clock that is
 * seen to be slewed elsewhere may have been slewed there, too. */
static size_t candidates_at_ends(const struct usk_course *w, const struct usk_spans *s, bool *out)
{
	size_t n = 0;
	for (int end = 0; end < 2; end++) {
		size_t k = end ? s->n - 1 : 0;
		size_t from = end ? s->span[k].to : 0, to = end ? w->n - 1 : s->span[k].from;
		size_t rest = end ? s->span[k].from : w->n - 1 - s->span[k].to;
		bool slews = false;
		for (size_t i = 0; i < s->n; i++) {
			slews = slews || (i != k && !s->span[i].step);
		}
		if (few(w, end ? &s->span[k] : NULL, end ? NULL : &s->span[k]) &&
		    rest > to - from && (s->span[k].step || !slews)) {
			for (size_t i = from; i <= to; i++) {
				n += contradicted(w, s->cone, i, &s->span[k], end) &&
				     leave_out(i, i, out);
			}
		}
	}
	return n;
}

/* From before bracket k to behind bracket l: without what lies between did nothing happen? */
static bool vain(const struct usk_course *w, const struct usk_spans *s, size_t k, size_t l)
{
	const struct usk_span all = { .from = s->span[k].from, .to = s->span[l].to };
	struct usk_rise net = usk_course_rise(w, s->cone, &all);
	return (net.least_ns == USK_NONE || net.least_ns <= 0) &&
	       (net.most_ns == USK_NONE || net.most_ns >= 0);
}

/*
 * Few messages of one direction between two brackets, which lead there and back, are wrong by
 * themselves: leave them out. So are those between several brackets, as wrong messages of both
 * directions hide what is right between them.
 */
static size_t candidates(const struct usk_course *w, struct usk_spans *s, bool *out)
{
	size_t n = 0;
	usk_course_slewed(w, s);
	for (size_t k = 0; k + 1 < s->n; k++) {
		size_t messages = 0;
		bool found = false;
		for (size_t l = k + 1; l < s->n && !found; l++) {
			size_t from = s->span[l - 1].to, to = s->span[l].from;
			messages += to - from + 1;
			if (!few(w, &s->span[l - 1], &s->span[l]) || messages > OUTLIERS_A_STEP) {
				break;
			}
			usk_i128 before = width_at(w, s->cone, s->span[k].from, false);
			usk_i128 behind = width_at(w, s->cone, s->span[l].to, true);
			bool one = l == k + 1;
			found = (!w->slews || s->span[k].step || s->span[l].step) &&
				!(one && s->span[k].rises == s->span[l].rises) &&
				!(one &&
				  agree(w, s->cone, from, to, before > behind ? before : behind)) &&
				vain(w, s, k, l);
			for (size_t i = k; found && i < l; i++) {
				n += leave_out(s->span[i].to, s->span[i + 1].from, out);
			}
		}
	}
	/* What contradicts all others is not what one of those contradicts that go now. */
	return n || !w->ends ? n : candidates_at_ends(w, s, out);
}

static void without(struct usk_course *w, const bool *out, const struct usk_course *all,
		    size_t *number)
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
static size_t absolve(const struct usk_course *all, struct usk_slope_range c, bool *out)
{
	bool *wrong = usk_alloc(all->n + 1, sizeof *wrong);
	size_t n = 0;
	for (int back = 0; back < 2; back++) {
		struct usk_offsets v = { .has = { false } };
		for (size_t k = 0; k < all->n; k++) {
			size_t i = back ? all->n - 1 - k : k;
			if (k) {
				usk_course_carry(all, c, back, i, &v);
			}
			struct usk_offsets if_right = v;
			bool right = usk_course_narrow(&if_right, &all->p[i]);
			wrong[i] = wrong[i] || !right;
			v = out[i] ? v : if_right;
		}
	}
	for (size_t i = 0; i < all->n; i++) {
		n += out[i] && !wrong[i];
		out[i] = out[i] && wrong[i];
	}
	free(wrong);
	return n;
}

static void note_outliers(const struct usk_course *all, struct usk_slope_range cone,
			  const bool *out, struct usk_calm *c)
{
	usk_i128 rate = ((usk_i128)cone.slow_e12 + cone.fast_e12) / 2;
	for (size_t i = 0; i < all->n; i++) {
		c->n_outliers += out[i];
	}
	c->outlier = usk_alloc(c->n_outliers + 1, sizeof *c->outlier);
	c->n_outliers = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct usk_course_point *p = &all->p[i];
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
				.point = usk_part_recorded(all->part, (struct usk_xy){ p->x, p->y },
							   p->ceiling),
				.ceiling = p->ceiling,
				.excess_ns = usk_saturate(excess)
			};
		}
	}
}

/* Without those in out; if that does not leave so few brackets as it should all is as it was, with
 * `kept` out. */
static bool better_without(struct usk_course *w, const struct usk_course *all, int64_t wander,
			   bool *out, const bool *kept, size_t fewer, size_t *number,
			   struct usk_spans *s)
{
	without(w, out, all, number);
	struct usk_spans t = usk_course_spans(w, wander);
	bool better = t.n + fewer <= s->n;
	free(better ? s->span : t.span);
	if (better) {
		*s = t;
	} else {
		memcpy(out, kept, all->n * sizeof *out);
		without(w, out, all, number);
	}
	return better;
}

/* Round by round, as long as that leaves fewer brackets. */
static struct usk_spans leave_out_all(struct usk_course *w, const struct usk_course *all,
				      int64_t wander, bool *out, struct usk_spans s)
{
	bool *kept = usk_alloc(all->n, sizeof *kept), *now = usk_alloc(all->n, sizeof *now);
	size_t *number = usk_alloc(all->n, sizeof *number), n = 1;
	bool better = true;
	without(w, out, all, number);
	for (int round = 0; round < ROUNDS && s.n && n && better; round++) {
		memset(now, 0, w->n * sizeof *now);
		n = candidates(w, &s, now);
		memcpy(kept, out, all->n * sizeof *kept);
		for (size_t i = 0; i < w->n; i++) {
			out[number[i]] = out[number[i]] || now[i];
		}
		better = !n || better_without(w, all, wander, out, kept, 1, number, &s);
	}
	memcpy(kept, out, all->n * sizeof *kept);
	if (absolve(all, s.cone, out)) {
		better_without(w, all, wander, out, kept, 0, number, &s);
	}
	USK_FREE(now, kept, number);
	return s;
}

/* As all that is left shows it, of which w may have more. */
static void note_where(struct usk_course *w, const struct usk_course *left,
		       const struct usk_spans *s)
{
	w->cone = s->cone;
	w->n_happened = s->n;
	w->happened = usk_alloc(s->n + 1, sizeof *w->happened);
	for (size_t i = 0; i < s->n; i++) {
		w->happened[i] = (struct usk_between){ left->p[s->span[i].from].x,
						       left->p[s->span[i].to].x };
	}
}

/* What was found to be right is among the points again. */
static void acquit(struct usk_course *w, const struct usk_course_point *p)
{
	size_t i;
	USK_FIRST(i, 0, w->n, w->p[i].x >= p->x);
	for (; i < w->n && w->p[i].x == p->x; i++) {
		w->p[i].right =
			w->p[i].right || (w->p[i].y == p->y && w->p[i].ceiling == p->ceiling);
	}
}

static void note_gone(struct usk_course *w)
{
	const struct usk_part *p = w->part;
	for (int k = 0; k < 2; k++) {
		w->gone[k] = usk_alloc(p->n_left_out + 1, sizeof *w->gone[k]);
		w->n_gone[k] = 0;
	}
	for (size_t i = 0; i < p->n_left_out; i++) {
		const struct usk_course_point q = usk_course_point_of(p, &p->left_out[i]);
		if (p->left_out[i].right) {
			acquit(w, &q);
		} else {
			w->gone[q.ceiling][w->n_gone[q.ceiling]++] = q.x;
		}
	}
	for (int k = 0; k < 2; k++) {
		qsort(w->gone[k], w->n_gone[k], sizeof *w->gone[k], usk_by_int64);
	}
}

/*
 * They are sought at the wander that is assumed: with more of it a wrong message is a rate, and
 * explained too; and among those that are not hidden, as if the clock was not set in their
 * second: among all of them a clock that shows a stretch of stamps twice looks like many of these.
 */
void usk_wrong_leave_out(struct usk_course *w, int64_t wander, struct usk_calm *c)
{
	note_gone(w);
	struct usk_course all = *w, open = *w;
	bool *out = usk_alloc(all.n + 1, sizeof *out);
	size_t *number = usk_alloc(all.n + 1, sizeof *number);
	for (size_t i = 0; i < all.n; i++) {
		out[i] = all.p[i].hidden;
	}
	open.p = usk_alloc(all.n + 1, sizeof *open.p);
	without(&open, out, &all, number);
	memset(out, 0, all.n * sizeof *out);
	w->slews = false;
	struct usk_spans s = usk_course_spans(&open, wander);
	if (s.n >= (w->ends ? 1 : 2)) {
		struct usk_course some = *w;
		bool *wrong = usk_alloc(open.n, sizeof *wrong);
		some.p = usk_alloc(open.n, sizeof *some.p);
		s = leave_out_all(&some, &open, wander, wrong, s);
		some.slews = usk_course_slewed(&some, &s);
		if (some.slews) {
			memset(wrong, 0, open.n * sizeof *wrong);
			free(s.span);
			s = leave_out_all(&some, &open, wander, wrong,
					  usk_course_spans(&open, wander));
		}
		note_outliers(&open, s.cone, wrong, c);
		note_where(w, &some, &s);
		for (size_t i = 0; i < open.n; i++) {
			out[number[i]] = wrong[i];
		}
		w->slews = some.slews;
		w->p = usk_alloc(all.n + 1, sizeof *w->p);
		without(w, out, &all, number);
		USK_FREE(all.p, some.p, wrong);
	} else {
		note_where(w, &open, &s);
	}
	USK_FREE(s.span, open.p, out, number, w->gone[0], w->gone[1]);
}
