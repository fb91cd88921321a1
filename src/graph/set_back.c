/* SPDX-License-Identifier: MIT */
/*
 * set_back.c - by how much a clock was set at most that only a cycle shows
 *
 * In    messages, and the order of other clocks' stamps; between which of its own the clock was set; breaks that
 *       something else shows
 * Out   the most that it was set back by; of the reference, forward, too
 * Why   stamps of as much time before and behind may have been shown twice, and messages in flight were received that
 *       much earlier; of a cycle nothing else is known than how long it lasts
 * Not   what a pair shows, which tells how large that is (disturbed.c)
 *
 * T of a clock that was set back rises by as much more than the clock went on by, and where it was the reference T of any
 * clock rises by as much less. Events before and behind bound that, within the skew limit, but for those that may have been
 * shown twice; which these are depends on what is asked for. The outermost are the last to be among them, so what they say
 * is the first bound, if it is less than how far away they are: if not they may be among them, and nothing tells. Those that
 * are no nearer than that were shown once, so the least that any of them say is the next one, which brings nearer ones within
 * reach. Of a clock that was set forward no stamp was shown twice, so the least that any of them say is the bound.
 */
#include "graph/work.h"

#include <stdlib.h>

/* What is asked: of one clock by its own stamps or, of the reference, of another clock by those of the reference. */
struct asked {
	const struct usk_work *w;
	bool of_reference, rises; /* T of the clock whose events tell, by more than usual */
	usk_i128 pace;		  /* of that T: the least if it rises, the most if not */
};

/* A clock's events: the nearest before and behind. What else moved T that way lies between, or beyond from and to. */
struct around {
	uint32_t before, behind;
	bool known;
	int64_t from_ns, to_ns;
};

static bool is_before(const struct asked *a, uint32_t i, usk_i128 from)
{
	return a->of_reference ? a->w->hi[i] <= from * USK_E12 : a->w->x[i] <= from;
}

static bool is_behind(const struct asked *a, uint32_t i, usk_i128 to)
{
	return a->of_reference ? a->w->lo[i] >= to * USK_E12 : a->w->x[i] >= to;
}

static struct around around(const struct asked *a, uint32_t k, usk_i128 from, usk_i128 to)
{
	uint32_t before = a->w->first[k + 1], behind = a->w->first[k];
	while (before > a->w->first[k] && !is_before(a, before - 1, from)) {
		before--;
	}
	while (behind < a->w->first[k + 1] && !is_behind(a, behind, to)) {
		behind++;
	}
	const bool known =
		before > a->w->first[k] && behind < a->w->first[k + 1] && before <= behind;
	return (struct around){ before - 1, behind, known, INT64_MIN, INT64_MAX };
}

/* Does a break move T the other way than what is asked about does? Of what a cycle shows nobody knows: it may be that. */
static bool counteracts(const struct asked *a, const struct usk_break *b)
{
	const bool of_cycle = b->bracket == UINT32_MAX && !b->back && !b->of_reference;
	return !of_cycle && (a->rises ? b->down || b->fast_down || b->fall_ns > 0
				      : b->up || b->fast_up || b->rise_ns > 0);
}

static void keep_apart(const struct asked *a, const struct usk_break *b, struct around *x)
{
	if (!x->known || !counteracts(a, b)) {
		return;
	}
	/* As far as its own stamps may have been shown twice. */
	const int64_t from = usk_saturate((usk_i128)b->from_ns - b->fold_ns),
		      to = usk_saturate((usk_i128)b->to_ns + b->fold_ns);
	if (to <= a->w->x[x->before]) {
		x->from_ns = to > x->from_ns ? to : x->from_ns;
	} else if (from >= a->w->x[x->behind]) {
		x->to_ns = from < x->to_ns ? from : x->to_ns;
	} else {
		x->known = false;
	}
}

/* How far an event's bound is from what the clock went on by, on the side that counts; USK_INF: there is none. */
static usk_i128 beyond(const struct asked *a, uint32_t i, bool upper)
{
	const struct usk_work *w = a->w;
	const usk_i128 on = w->x[i] * a->pace;
	return upper ? (w->hi[i] < USK_INF ? w->hi[i] - on : USK_INF)
		     : (w->lo[i] > -USK_INF ? on - w->lo[i] : USK_INF);
}

/* How far an event is from the stretch: if it was shown twice its clock was set back by no less. */
static usk_i128 reach(const struct asked *a, uint32_t i, usk_i128 from, usk_i128 to, bool behind)
{
	const struct usk_work *w = a->w;
	return !a->of_reference ? (behind ? w->x[i] - to : from - w->x[i]) * USK_E12
	       : behind		? w->lo[i] - to * USK_E12
				: from * USK_E12 - w->hi[i];
}

/* What the outermost events before and behind say, or the best; USK_INF: nothing, as one side does not, or as what the outermost
 * ones say is that they may have been shown twice. */
static usk_i128 says(const struct asked *a, const struct around *x, uint32_t k, usk_i128 from,
		     usk_i128 to, bool outermost)
{
	const uint32_t first = a->w->first[k], end = a->w->first[k + 1];
	usk_i128 sum = 0, least_reach = USK_INF;
	for (int behind = 0; behind < 2 && x->known; behind++) {
		usk_i128 found = USK_INF, far = 0;
		for (uint32_t i = behind ? x->behind : x->before;
		     i < end && a->w->x[i] >= x->from_ns && a->w->x[i] <= x->to_ns;
		     i = behind	     ? i + 1
			 : i > first ? i - 1
				     : end) {
			const usk_i128 v = beyond(a, i, a->rises == behind);
			if (v < USK_INF && (outermost || v < found)) {
				found = v;
				far = reach(a, i, from, to, behind);
			}
		}
		sum = found < USK_INF && sum < USK_INF ? sum + found : USK_INF;
		least_reach = far < least_reach ? far : least_reach;
	}
	return x->known && (!outermost || sum < least_reach) ? sum : USK_INF;
}

/* The least that any of these clocks says, from one to before another, by events that lie outside of from and to. */
static int64_t least(const struct asked *a, uint32_t clock, uint32_t end, usk_i128 from,
		     usk_i128 to, bool outermost)
{
	const struct usk_work *w = a->w;
	struct around *all = usk_alloc(w->n_clocks + 1, sizeof *all);
	usk_i128 found = USK_INF;
	for (uint32_t k = clock; k < end; k++) {
		if (k != w->reference) {
			all[k] = around(a, k, from, to);
		}
	}
	for (size_t i = 0; i < w->n_breaks; i++) {
		keep_apart(a, &w->brk[i], &all[w->brk[i].clock]);
	}
	for (uint32_t k = clock; k < end; k++) {
		const usk_i128 v = says(a, &all[k], k, from, to, outermost);
		found = v < found ? v : found;
	}
	free(all);
	return found >= USK_INF ? USK_NONE
	       : found > 0	? usk_saturate(usk_ceil_div(found, USK_E12))
				: 1;
}

/* Bounds of all events; those of clock k by its messages alone, as the order of its stamps is what is in doubt, unless it is the
 * reference. */
static void bound(struct usk_work *w, uint32_t k)
{
	const uint32_t first = w->first[k], n = k == w->reference ? 0 : w->first[k + 1] - first;
	uint8_t *lower = usk_alloc(n + 1, sizeof *lower);
	struct usk_fold *fold = usk_alloc(w->n_folds + 1, sizeof *fold);
	for (uint32_t i = 0; i < n; i++) {
		lower[i] = w->cell[first + i].lower;
		w->cell[first + i].lower = USK_UNBOUNDED;
	}
	for (size_t i = 0; i < w->n_folds; i++) {
		struct usk_fold *f = &w->fold[i];
		fold[i] = *f;
		if (n && w->owner[f->first] == k) {
			f->from_first = f->to_last = USK_UNBOUNDED;
		}
	}
	usk_bounds_reset(w);
	usk_propagate(w);
	for (uint32_t i = 0; i < n; i++) {
		w->cell[first + i].lower = lower[i];
	}
	for (size_t i = 0; i < w->n_folds; i++) {
		w->fold[i] = fold[i];
	}
	USK_FREE(lower, fold);
}

int64_t usk_set_back_most(struct usk_work *w, uint32_t k, int64_t from_ns, int64_t to_ns)
{
	bound(w, k);
	const bool ref = k == w->reference;
	const uint32_t first = ref ? 0 : k, end = ref ? (uint32_t)w->n_clocks : k + 1;
	const int64_t skew = w->p->max_skew_e12;
	const struct asked a = { w, ref, !ref, USK_E12 + (ref ? skew : -skew) };
	int64_t most = least(&a, first, end, from_ns, to_ns, true), was = INT64_MAX;
	while (most != USK_NONE && most < was / 2) {
		was = most;
		most = least(&a, first, end, (usk_i128)from_ns - was, (usk_i128)to_ns + was, false);
		most = most == USK_NONE || most > was ? was : most;
	}
	return most;
}

int64_t usk_set_forward_most(const struct usk_work *w, int64_t from_ns, int64_t to_ns)
{
	const struct asked a = { w, true, true, USK_E12 - w->p->max_skew_e12 };
	return least(&a, 0, (uint32_t)w->n_clocks, from_ns, to_ns, false);
}
