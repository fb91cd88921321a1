/* SPDX-License-Identifier: MIT */
/*
 * others.c - what other pairs of a clock say of a bracket
 *
 * In    brackets of all pairs, placed; points of pairs
 * Out   by how much a clock was set at most, as other pairs of it do not show that it was; whether they make it likely
 * Why   a step of one clock shows in all of its pairs, unless their messages hide it
 * Not   what points of one pair hide (calm.c), whose a bracket was (blame.c)
 */
#include "graph/course.h"

#include <stdlib.h>

/* When a bracket of a clock began, or ended, and the clock's stamp then: the least of those behind, or the most of those
 * before. */
struct moment {
	usk_i128 at; /* by the reference, e12 */
	int64_t ns;
};

struct usk_others {
	struct usk_arcs arcs;
	struct usk_calm_course *course; /* by pair, once it is asked */
	/* Those of clock k are the ones from first[k] on. */
	size_t *first;
	struct moment *begins, *ends;
	struct usk_stamps_within *within; /* in the order of stamps, apart from each other */
	size_t *n_within;		  /* by clock */
	struct usk_seen_order *order;	  /* by clock: its brackets by where they begin */
	struct usk_seen_nth *item;
	struct asked {
		uint32_t seen, clock, did;
		struct usk_calm_around is;
	} asked[2]; /* the last: of a clock, and of another one of its pairs */
};

/* ---- when something may have happened to each clock --------------------------------------------
 */

/* Stamps of a clock of the pair around a bracket, and all that were shown twice if it was set back in it. */
static struct usk_stamps_within stamps_around(const struct usk_seen *s, uint32_t k)
{
	const struct usk_bracket *x = &s->at;
	const bool of_b = s->b == k, back = x->both || usk_seen_rises_for(s, k);
	const usk_i128 twice = back ? usk_bracket_set_back(x, of_b) : 0;
	return (struct usk_stamps_within){ usk_saturate((of_b ? x->b0_ns : x->a0_ns) - twice),
					   usk_saturate((of_b ? x->b1_ns : x->a1_ns) + twice) };
}

static int by_time(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;
	return (a->at > b->at) - (a->at < b->at);
}

static int by_stamp(const void *pa, const void *pb)
{
	const struct usk_stamps_within *a = pa, *b = pb;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Those that meet become one; returns how many are left. */
static size_t unite(struct usk_stamps_within *x, size_t n)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (m && x[i].from_ns <= x[m - 1].to_ns) {
			x[m - 1].to_ns = x[i].to_ns > x[m - 1].to_ns ? x[i].to_ns : x[m - 1].to_ns;
		} else {
			x[m++] = x[i];
		}
	}
	return m;
}

static void order_clock(const struct usk_work *w, struct usk_others *o, uint32_t k)
{
	const size_t first = o->first[k], n = o->first[k + 1] - first;
	struct moment *begins = &o->begins[first], *ends = &o->ends[first];
	if (!n) {
		return;
	}
	o->order[k].n = n;
	usk_seen_sort(w, &o->order[k]);
	qsort(begins, n, sizeof *begins, by_time);
	qsort(ends, n, sizeof *ends, by_time);
	qsort(&o->within[first], n, sizeof *o->within, by_stamp);
	for (size_t i = 1; i < n; i++) {
		struct moment *b = &begins[n - 1 - i], *e = &ends[i];
		b->ns = b[1].ns < b->ns ? b[1].ns : b->ns;
		e->ns = e[-1].ns > e->ns ? e[-1].ns : e->ns;
	}
	o->n_within[k] = unite(&o->within[first], n);
}

struct usk_others *usk_others_begin(const struct usk_work *w)
{
	struct usk_others *o = usk_alloc(1, sizeof *o);
	const size_t n = 2 * w->n_seen + 1;
	*o = (struct usk_others){ .arcs = usk_arcs_of(w),
				  .course = usk_alloc(w->p->n_pairs + 1, sizeof *o->course),
				  .first = usk_alloc(w->n_clocks + 2, sizeof *o->first),
				  .begins = usk_alloc(n, sizeof *o->begins),
				  .ends = usk_alloc(n, sizeof *o->ends),
				  .within = usk_alloc(n, sizeof *o->within),
				  .n_within = usk_alloc(w->n_clocks + 1, sizeof *o->n_within),
				  .order = usk_alloc(w->n_clocks + 1, sizeof *o->order),
				  .item = usk_alloc(n, sizeof *o->item),
				  .asked = { { .clock = USK_NO_CLOCK },
					     { .clock = USK_NO_CLOCK } } };
	for (size_t i = 0; i < w->n_seen; i++) {
		o->first[w->seen[i].a + 2]++;
		o->first[w->seen[i].b + 2]++;
	}
	for (size_t k = 2; k < w->n_clocks + 2; k++) {
		o->first[k] += o->first[k - 1];
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		o->order[k].item = &o->item[o->first[k + 1]];
	}
	for (size_t i = 0; i < w->n_seen; i++) {
		const struct usk_seen *s = &w->seen[i];
		const uint32_t side[] = { s->a, s->b };
		for (int of_b = 0; of_b < 2; of_b++) {
			const struct usk_stamps_within own = stamps_around(s, side[of_b]);
			const size_t at = o->first[side[of_b] + 1]++;
			o->begins[at] = (struct moment){ s->from, own.from_ns };
			o->ends[at] = (struct moment){ s->to, own.to_ns };
			o->within[at] = own;
			o->item[at].seen = (uint32_t)i;
		}
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		order_clock(w, o, k);
	}
	return o;
}

void usk_others_end(const struct usk_work *w, struct usk_others *o)
{
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		usk_calm_course_free(&o->course[i]);
	}
	usk_arcs_free(&o->arcs);
	USK_FREE(o->course, o->first, o->begins, o->ends, o->within, o->n_within, o->item, o->order,
		 o->asked[0].is.other, o->asked[1].is.other, o);
}

/* May one event be both, if it was clock k's? Two pairs of a clock that show as much at the same time are taken for one. */
static bool is_same(const struct usk_work *w, const struct usk_seen *s, const struct usk_seen *t,
		    uint32_t k)
{
	return s == t || (s->pair != t->pair && !t->at.doubted && usk_seen_has(t, k) &&
			  usk_seen_alike(w, s, t, k));
}

/* Between which stamps nothing else happened to clock k than a bracket tells of, or may tell of if clock `did` did it; at that time
 * others may. */
static const struct usk_calm_around *around(const struct usk_work *w, struct usk_others *o,
					    const struct usk_seen *s, uint32_t k, uint32_t did,
					    struct asked *asked)
{
	const size_t first = o->first[k], end = o->first[k + 1];
	const uint32_t number = (uint32_t)(s - w->seen);
	struct usk_calm_around *x = &asked->is;
	const struct usk_seen *t;
	if (asked->seen == number && asked->clock == k && asked->did == did) {
		return x;
	}
	asked->seen = number;
	asked->clock = k;
	asked->did = did;
	x->n_others = 0;
	for (size_t at = o->order[k].n; (t = usk_seen_near(w, &o->order[k], s, &at));) {
		if (usk_seen_overlap(s, t) && !is_same(w, s, t, did)) {
			*USK_APPEND(x->other, x->n_others) = stamps_around(t, k);
		}
	}
	size_t ended, begins;
	USK_FIRST(ended, first, end, o->ends[ended].at >= s->from);
	USK_FIRST(begins, first, end, o->begins[begins].at > s->to);
	x->since_ns = ended > first ? o->ends[ended - 1].ns : INT64_MIN;
	x->until_ns = begins < end ? o->begins[begins].ns : INT64_MAX;
	return x;
}

/* ---- what a pair says --------------------------------------------------------------------------
 */

/* By how much rates of a pair's clocks may change where it is asked what did not happen to them. A
 * pair that needs more than is assumed does show something, which may have been just that: then no
 * more is known of rates than the limit. */
static int64_t known_wander(const struct usk_work *w, size_t i)
{
	const struct usk_graph_problem *p = w->p;
	int64_t used = w->calm[i].wander_e12 > 1 ? w->calm[i].wander_e12 : 1;
	int64_t assumed = usk_may_wander(w, &p->pair[i]) * p->model.wander_e12;
	const bool known =
		p->model.kind == USK_LINEAR || (p->model.kind == USK_WANDER && used <= assumed);
	return known ? used : p->max_skew_e12;
}

static const struct usk_calm_course *course_of(const struct usk_work *w, struct usk_others *o,
					       size_t i)
{
	const struct usk_graph_pair *p = &w->p->pair[i];
	struct usk_calm_course *x = &o->course[i];
	if (!x->w.part) {
		const uint32_t side[] = { p->a, p->b };
		struct usk_happened known[2];
		for (int k = 0; k < 2; k++) {
			known[k] = (struct usk_happened){ .back = &w->p->back[side[k]],
							  .within = &o->within[o->first[side[k]]],
							  .n = o->n_within[side[k]] };
		}
		usk_calm_course_of(x, p->part, known_wander(w, i), w->p->max_skew_e12, known);
	}
	return x;
}

/* What pair i, another one of clock k, says of the clock's time in a bracket; and by how much it
 * rose there if it was this clock's. */
static struct usk_rise other_says(const struct usk_work *w, struct usk_others *o,
				  const struct usk_seen *s, uint32_t k, size_t i, int64_t size[2])
{
	const struct usk_graph_pair *p = &w->p->pair[i];
	const struct usk_stamps_within at = stamps_around(s, k);
	const struct usk_calm_around *calm[] = {
		around(w, o, s, p->a, k, &o->asked[p->a != k]),
		around(w, o, s, p->b, k, &o->asked[p->b != k]),
	};
	/* Of the clock as this pair has it: the other way round if it is the other side. */
	const bool same = (p->b == k) == (s->b == k);
	const usk_i128 more = usk_seen_told_apart(w, s);
	size[0] = usk_saturate((same ? s->at.least_ns : -(usk_i128)s->at.most_ns) - more);
	size[1] = usk_saturate((same ? s->at.most_ns : -(usk_i128)s->at.least_ns) + more);
	return usk_calm_jump(course_of(w, o, i), p->b == k, &at, calm);
}

/* Is a step of that size larger than a pair hides (1), smaller (-1), or may it have hidden it? */
static int beyond(const struct usk_rise *hidden, const int64_t size[2])
{
	return hidden->most_ns != USK_NONE && size[0] > hidden->most_ns	    ? 1
	       : hidden->least_ns != USK_NONE && size[1] < hidden->least_ns ? -1
									    : 0;
}

bool usk_others_deny(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
		     uint32_t k, size_t i)
{
	int64_t size[2];
	const struct usk_rise r = other_says(w, o, s, k, i, size);
	return beyond(&r, size) != 0;
}

/* Does a pair show anything at about the time of a bracket? */
static bool shows(const struct usk_work *w, const struct usk_seen *s, size_t pair)
{
	const struct usk_seen *t;
	bool any = false;
	for (size_t at = w->by_begin.n; !any && (t = usk_seen_near(w, &w->by_begin, s, &at));) {
		any = t->pair == pair && usk_seen_overlap(t, s);
	}
	return any;
}

int64_t usk_others_hide(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
			uint32_t k)
{
	const struct usk_arcs *g = &o->arcs;
	int64_t most = USK_NONE, size[2];
	for (size_t n = g->first[k]; n < g->first[k + 1] && usk_seen_sized(s); n++) {
		const uint32_t pair = g->arc[n].pair;
		if (pair == s->pair || pair == UINT32_MAX) {
			continue;
		}
		const struct usk_rise r = other_says(w, o, s, k, pair, size);
		const int way = beyond(&r, size);
		if (way && !shows(w, s, pair)) {
			const int64_t hidden = way > 0 ? r.most_ns : -r.least_ns;
			const int64_t part = hidden > 0 ? hidden : 0;
			most = most == USK_NONE || part < most ? part : most;
		}
	}
	return most;
}

int usk_others_vote(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
		    uint32_t k)
{
	const struct usk_arcs *g = &o->arcs;
	int votes = 0;
	for (size_t n = g->first[k]; n < g->first[k + 1] && usk_seen_sized(s); n++) {
		const uint32_t pair = g->arc[n].pair;
		int64_t size[2];
		if (pair == s->pair || pair == UINT32_MAX) {
			continue;
		}
		struct usk_rise r = other_says(w, o, s, k, pair, size);
		bool up = size[0] > 0;
		usk_i128 least = up ? size[0] : -(usk_i128)size[1];
		usk_i128 a = r.likely_ns[0], b = r.likely_ns[1];
		bool seen[] = { 2 * (up ? a : -a) > least, 2 * (up ? b : -b) > least };
		if (least > 0 && r.likely_ns[0] != USK_NONE && r.likely_ns[1] != USK_NONE &&
		    seen[0] == seen[1]) {
			votes += seen[0] ? 1 : -1;
		}
	}
	return votes;
}
