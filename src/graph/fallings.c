/* SPDX-License-Identifier: MIT */
/*
 * fallings.c - by how much T of a clock may have fallen from one of its stamps to another
 *
 * In    breaks, and the brackets that they are of
 * Out   trees of them; what those between two stamps say together
 * Why   each wrong message may be such a break, and bounds ask at every event that has none of its own
 * Not   what is bounded by that (fill.c, gates.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* ---- rows --------------------------------------------------------------------------------------
 */

/* The least size of the step that a break is of; where records are late T fell by all that their stamps did. */
static int64_t least_size(const struct usk_work *w, const struct usk_break *b)
{
	const struct usk_bracket *x = b->bracket == UINT32_MAX ? NULL : &w->seen[b->bracket].at;
	const bool known = x && usk_bracket_sized(x);
	return b->back			  ? b->far_ns
	       : known && x->least_ns > 0 ? x->least_ns
	       : known && x->most_ns < 0  ? -x->most_ns
					  : 0;
}

/* By how much T may rise in it if the reference was set forward. */
static int64_t rise_of(const struct usk_work *w, const struct usk_break *b)
{
	return b->up && b->falls && b->bracket != UINT32_MAX
		       ? usk_bracket_farthest(&w->seen[b->bracket].at)
		       : 0;
}

/* By how much T may fall in it if the reference was set back. */
static int64_t fall_of(const struct usk_break *b)
{
	const int64_t lasts = usk_saturate((usk_i128)b->to_ns - b->from_ns);
	const int64_t far = !b->down ? b->fall_ns : b->far_ns ? b->far_ns : lasts;
	return b->falls && !b->of_reference ? far : 0;
}

static void add(struct usk_fallings *f, struct usk_falling row, int64_t by_ns)
{
	row.by_ns = by_ns;
	if (by_ns) {
		f->row[f->n++] = row;
	}
}

/* Of some rows: the least and the most of each, and how much they say in all. */
struct usk_falling_node {
	struct span {
		int64_t least, most;
	} from, to, begin, end, by, step;
	usk_i128 sum;
};

#define NO_SPAN                                                                                    \
	{                                                                                          \
		INT64_MAX, INT64_MIN                                                               \
	}
static const struct usk_falling_node empty = { NO_SPAN, NO_SPAN, NO_SPAN, NO_SPAN,
					       NO_SPAN, NO_SPAN, 0 };

static struct span unite(struct span a, struct span b)
{
	return (struct span){ a.least < b.least ? a.least : b.least,
			      a.most > b.most ? a.most : b.most };
}

static struct usk_falling_node both(const struct usk_falling_node *a,
				    const struct usk_falling_node *b)
{
	return (struct usk_falling_node){ .from = unite(a->from, b->from),
					  .to = unite(a->to, b->to),
					  .begin = unite(a->begin, b->begin),
					  .end = unite(a->end, b->end),
					  .by = unite(a->by, b->by),
					  .step = unite(a->step, b->step),
					  .sum = a->sum + b->sum };
}

static struct usk_falling_node leaf_of(const struct usk_falling *x)
{
	return (struct usk_falling_node){ .from = { x->from_ns, x->from_ns },
					  .to = { x->to_ns, x->to_ns },
					  .begin = { x->begin_ns, x->begin_ns },
					  .end = { x->end_ns, x->end_ns },
					  .by = { x->by_ns, x->by_ns },
					  .step = { x->least_ns, x->least_ns },
					  .sum = x->by_ns };
}

static void plant(struct usk_fallings *f, size_t n_clocks)
{
	usk_sort(f->row, f->n, sizeof *f->row,
		 KEYS(BY(usk_falling, clock), BY(usk_falling, from_ns)));
	f->first = usk_alloc(n_clocks + 1, sizeof *f->first);
	for (size_t k = 0, i = 0; k <= n_clocks; k++) {
		while (i < f->n && f->row[i].clock < k) {
			i++;
		}
		f->first[k] = i;
	}
	f->leaves = usk_leaves(f->n);
	f->node = usk_alloc(2 * f->leaves, sizeof *f->node);
	for (size_t i = 0; i < f->leaves; i++) {
		f->node[f->leaves + i] = i < f->n ? leaf_of(&f->row[i]) : empty;
	}
	for (size_t k = f->leaves; --k;) {
		f->node[k] = both(&f->node[2 * k], &f->node[2 * k + 1]);
	}
}

void usk_fallings_free(struct usk_work *w)
{
	for (int i = 0; i < USK_FALLING_COUNT; i++) {
		USK_FREE(w->falls[i].row, w->falls[i].first, w->falls[i].node);
		w->falls[i] = (struct usk_fallings){ .n = 0 };
	}
}

void usk_fallings_of(struct usk_work *w)
{
	struct usk_fallings *f = w->falls;
	usk_fallings_free(w);
	for (int i = 0; i < USK_FALLING_COUNT; i++) {
		f[i].row = usk_alloc(w->n_breaks + 1, sizeof *f->row);
	}
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *b = &w->brk[i];
		const int64_t fall = fall_of(b);
		struct usk_falling row = { .clock = b->clock,
					   .from_ns = b->from_ns,
					   .to_ns = b->to_ns,
					   .least_ns = least_size(w, b),
					   .begin_ns = INT64_MAX,
					   .end_ns = INT64_MIN };
		struct usk_falling fold = row;
		if (b->fold_ns) {
			fold.begin_ns = usk_saturate((usk_i128)b->from_ns - b->fold_ns);
			fold.end_ns = usk_saturate((usk_i128)b->to_ns + b->fold_ns);
		}
		add(&f[USK_FELL], row, fall);
		add(&f[USK_TWICE], fold, b->fold_ns);
		/* In its own fold what it rose by is part of the fold's length, unless T may fall there, too. */
		add(&f[USK_ROSE], fall ? row : fold, rise_of(w, b));
	}
	for (int i = 0; i < USK_FALLING_COUNT; i++) {
		plant(&f[i], w->n_clocks);
	}
}

/* ---- questions ---------------------------------------------------------------------------------
 */

/* What is asked of rows between stamps a and b: by how much T fell as the reference was set back, or as both were shown
 * twice; or rose, as the reference was set forward, between the ends of all that was shown twice. */
struct asked {
	const struct usk_fallings *f;
	size_t first, end; /* rows of the clock */
	enum usk_falling_what what;
	int64_t a, b, begin, last;
};

enum part { NO_ROW, SOME_ROWS, ALL_ROWS };

static enum part shows_twice(const struct usk_falling_node *x, int64_t a, int64_t b)
{
	return x->begin.least >= a || x->end.most <= b ? NO_ROW
	       : x->begin.most < a && x->end.least > b ? ALL_ROWS
						       : SOME_ROWS;
}

static enum part overlaps(const struct usk_falling_node *x, int64_t a, int64_t b)
{
	return x->from.least >= b || x->to.most <= a ? NO_ROW
	       : x->from.most < b && x->to.least > a ? ALL_ROWS
						     : SOME_ROWS;
}

/* Which rows of a node count? */
static enum part counting(const struct asked *q, const struct usk_falling_node *x)
{
	if (q->what == USK_FELL) {
		return overlaps(x, q->a, q->b);
	}
	const enum part twice = shows_twice(x, q->a, q->b);
	if (q->what == USK_TWICE) {
		return twice;
	}
	const enum part over = overlaps(x, q->begin, q->last);
	return over == NO_ROW || twice == ALL_ROWS   ? NO_ROW
	       : over == ALL_ROWS && twice == NO_ROW ? ALL_ROWS
						     : SOME_ROWS;
}

/* All that count together, of node k, whose leaves are so many from `leaf` on. */
static void sum_up(const struct asked *q, size_t k, size_t leaf, size_t size,
		   struct usk_falling_node *all)
{
	const struct usk_falling_node *x = &q->f->node[k];
	if (leaf >= q->end || leaf + size <= q->first) {
		return;
	}
	const enum part part = counting(q, x);
	if (part == ALL_ROWS && leaf >= q->first && leaf + size <= q->end) {
		*all = both(all, x);
	} else if (part != NO_ROW && size > 1) {
		sum_up(q, 2 * k, leaf, size / 2, all);
		sum_up(q, 2 * k + 1, leaf + size / 2, size / 2, all);
	}
}

/* What one row says that lies around all that is asked for, and says as much as the largest step of them. */
struct whole {
	int64_t from, to, least;
	usk_i128 by; /* the least so far */
};

static void seek_whole(const struct asked *q, size_t k, size_t leaf, size_t size, struct whole *x)
{
	const struct usk_falling_node *node = &q->f->node[k];
	if (leaf >= q->end || leaf + size <= q->first || node->from.least > x->from ||
	    node->to.most < x->to || node->by.most < x->least || node->by.least >= x->by ||
	    counting(q, node) == NO_ROW) {
		return;
	}
	if (size == 1) {
		x->by = node->by.least;
		return;
	}
	seek_whole(q, 2 * k, leaf, size / 2, x);
	seek_whole(q, 2 * k + 1, leaf + size / 2, size / 2, x);
}

/* In a bracket T falls by no more than that says, and several may be of one step: one that holds all of them
 * that count is enough, unless a step of these is larger, which another clock hid there. */
static struct usk_falling_node answer(const struct usk_work *w, uint32_t k, struct asked *q,
				      enum usk_falling_what what)
{
	struct usk_falling_node all = empty;
	q->what = what;
	q->f = &w->falls[what];
	q->first = q->f->first[k];
	q->end = q->f->first[k + 1];
	sum_up(q, 1, 0, q->f->leaves, &all);
	if (!all.sum) {
		return all;
	}
	const int64_t a = what == USK_ROSE ? q->begin : q->a, b = what == USK_ROSE ? q->last : q->b;
	struct whole x = { all.from.least, all.to.most, all.step.most, all.sum };
	x.from = what == USK_TWICE || x.from > a ? x.from : a;
	x.to = what == USK_TWICE || x.to < b ? x.to : b;
	x.least = x.least > 0 ? x.least : 0;
	seek_whole(q, 1, 0, q->f->leaves, &x);
	all.sum = x.by;
	return all;
}

usk_i128 usk_fell(const struct usk_work *w, uint32_t k, int64_t a, int64_t b, bool twice)
{
	struct asked q = { .a = a, .b = b };
	const usk_i128 fell = answer(w, k, &q, USK_FELL).sum;
	const struct usk_falling_node own = twice ? answer(w, k, &q, USK_TWICE) : empty;
	q.begin = own.begin.least;
	q.last = own.end.most;
	const usk_i128 all = own.sum + (own.sum ? answer(w, k, &q, USK_ROSE).sum : 0);
	return fell + all + usk_ceil_div(all * w->p->max_skew_e12, USK_E12);
}
