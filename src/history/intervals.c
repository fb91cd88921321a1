/* SPDX-License-Identifier: MIT */
/*
 * intervals.c - what is certain of the order of operations, as intervals
 *
 * In    for each operation the earliest that its call, and the latest that its return may have been,
 *       and its stamps by its own clock
 * Out   intervals; how many pairs of operations they put in order, of those that are certain
 * Why   checkers take nothing but intervals, and an order of intervals holds most of what is certain
 *       but not all (doc/history.md)
 *
 * Certain is: a before b, if a's return is before b's call by bounds, or by two stamps of one clock.
 * Keep all beginnings. Then an operation may end as soon as the last of the beginnings of those that
 * it is not certain to be before: whatever begins later comes behind it, and that is certain. The
 * same of beginnings, ends being kept, is the same with time turned round.
 */
#include "history/history.h"

#include <stdlib.h>
#include <string.h>

/* One of many, seen from the operation that asks: how far it reaches, and what rules it out. */
struct other {
	int64_t key;   /* it counts for whoever has this or more ... */
	int64_t value; /* how far it reaches */
	uint32_t group;
	int64_t local_ns; /* ... but not if it is of the same group, and later */
};

/* The largest values so far, of two groups. What is of no group is of another one than all. */
struct most {
	int64_t value[2];
	uint32_t group[2];
	size_t n;
};

static void most_add(struct most *m, const struct other *o)
{
	bool same = m->n && o->group != USK_NO_GROUP && o->group == m->group[0];
	if (!m->n || o->value > m->value[0]) {
		if (m->n && !same) {
			m->value[1] = m->value[0];
			m->group[1] = m->group[0];
		}
		m->n += !m->n || (!same && m->n < 2);
		m->value[0] = o->value;
		m->group[0] = o->group;
	} else if (!same && (m->n < 2 || o->value > m->value[1])) {
		m->value[1] = o->value;
		m->group[1] = o->group;
		m->n = 2;
	}
}

/* The largest of other groups than this. */
static int64_t most_besides(const struct most *m, uint32_t group)
{
	bool first = m->n && (group == USK_NO_GROUP || m->group[0] != group);
	return first ? m->value[0] : m->n > 1 ? m->value[1] : -USK_OPEN;
}

static int by_key(const void *pa, const void *pb)
{
	const struct other *a = *(const struct other *const *)pa;
	const struct other *b = *(const struct other *const *)pb;
	int order = usk_order(a->key, b->key);
	return order ? order : (a > b) - (a < b);
}

static int by_local(const void *pa, const void *pb)
{
	const struct other *a = *(const struct other *const *)pa;
	const struct other *b = *(const struct other *const *)pb;
	int order = (a->group > b->group) - (a->group < b->group);
	order = order ? order : usk_order(a->local_ns, b->local_ns);
	return order ? order : (a > b) - (a < b);
}

static const struct other **sorted(const struct other *o, size_t n,
				   int (*by)(const void *a, const void *b))
{
	const struct other **s = usk_alloc(n, sizeof *s);
	for (size_t i = 0; i < n; i++) {
		s[i] = &o[i];
	}
	qsort(s, n, sizeof *s, by);
	return s;
}

/* out[i]: how far those of other groups reach that count for mine[i]. */
static void reach_of_others(const struct other *theirs, const struct other *mine, size_t n,
			    int64_t *out)
{
	const struct other **have = sorted(theirs, n, by_key), **ask = sorted(mine, n, by_key);
	struct most most = { .n = 0 };
	for (size_t i = 0, k = 0; i < n; i++) {
		for (; k < n && have[k]->key <= ask[i]->key; k++) {
			most_add(&most, have[k]);
		}
		out[ask[i] - mine] = most_besides(&most, ask[i]->group);
	}
	free(have);
	free(ask);
}

/* The same of its own group: those that are not later. */
static void reach_of_own(const struct other *theirs, const struct other *mine, size_t n,
			 int64_t *out)
{
	const struct other **have = sorted(theirs, n, by_local), **ask = sorted(mine, n, by_local);
	int64_t most = -USK_OPEN;
	for (size_t i = 0, k = 0; i < n && ask[i]->group != USK_NO_GROUP; i++) {
		const struct other *a = ask[i];
		most = i && ask[i - 1]->group == a->group ? most : -USK_OPEN;
		for (; k < n && have[k]->group <= a->group &&
		       (have[k]->group < a->group || have[k]->local_ns <= a->local_ns);
		     k++) {
			bool own = have[k]->group == a->group;
			most = own && have[k]->value > most ? have[k]->value : most;
		}
		/* Bounds that contradict stamps say nothing that is certain. */
		int64_t reach = most < a->key ? most : a->key;
		out[a - mine] = reach > out[a - mine] ? reach : out[a - mine];
	}
	free(have);
	free(ask);
}

static void reach(const struct other *theirs, const struct other *mine, size_t n, int64_t *out)
{
	reach_of_others(theirs, mine, n, out);
	reach_of_own(theirs, mine, n, out);
}

void usk_intervals_widen(struct usk_interval *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		x[i].from_ns = x[i].call.bound_ns;
		x[i].to_ns = x[i].back.bound_ns;
	}
}

void usk_intervals_tighten(struct usk_interval *x, size_t n)
{
	struct other *call = usk_alloc(n, sizeof *call), *back = usk_alloc(n, sizeof *back);
	int64_t *out = usk_alloc(n, sizeof *out);
	for (size_t i = 0; i < n; i++) {
		const struct usk_end *c = &x[i].call, *b = &x[i].back;
		call[i] = (struct other){ c->bound_ns, c->bound_ns, c->group, c->local_ns };
		back[i] = (struct other){ b->bound_ns, 0, b->group, b->local_ns };
	}
	reach(call, back, n, out);
	for (size_t i = 0; i < n; i++) {
		x[i].to_ns = out[i];
		call[i].key = -call[i].key;
		call[i].local_ns = -call[i].local_ns;
		back[i] = (struct other){ -back[i].key, -out[i], back[i].group, -back[i].local_ns };
	}
	reach(back, call, n, out);
	for (size_t i = 0; i < n; i++) {
		x[i].from_ns = -out[i];
	}
	USK_FREE(call, back, out);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Of ends and beginnings in order: how many pairs of an end and a later beginning. */
static uint64_t pairs_behind(const int64_t *end, const int64_t *begin, size_t n)
{
	uint64_t pairs = 0;
	for (size_t i = 0, k = 0; i < n; i++) {
		while (k < n && begin[k] <= end[i]) {
			k++;
		}
		pairs += n - k;
	}
	return pairs;
}

/* By stamps of one group or by bounds, of some operations of one group each way. */
struct stamps {
	uint32_t group;
	int64_t local_ns, bound_ns;
};

KEYS_CALLED(by_group, BY(stamps, group), BY(stamps, local_ns));

static uint64_t behind(const struct stamps *end, size_t n_ends, const struct stamps *begin,
		       size_t n_begins, bool bounds)
{
	size_t n = n_ends > n_begins ? n_ends : n_begins;
	int64_t *e = usk_alloc(n, sizeof *e), *b = usk_alloc(n, sizeof *b);
	for (size_t i = 0; i < n; i++) {
		e[i] = i < n_ends ? bounds ? end[i].bound_ns : end[i].local_ns : INT64_MAX;
		b[i] = i < n_begins ? bounds ? begin[i].bound_ns : begin[i].local_ns : INT64_MIN;
	}
	usk_sort_numbers(e, n);
	usk_sort_numbers(b, n);
	uint64_t pairs = pairs_behind(e, b, n);
	free(e);
	free(b);
	return pairs;
}

static uint64_t end_of_group(const struct stamps *s, size_t from, size_t n)
{
	size_t to = from;
	while (to < n && s[to].group == s[from].group) {
		to++;
	}
	return to;
}

/* What stamps of one clock say beyond bounds. */
static uint64_t by_stamps(const struct usk_interval *x, size_t n)
{
	struct stamps *end = usk_alloc(n, sizeof *end), *begin = usk_alloc(n, sizeof *begin);
	uint64_t pairs = 0;
	for (size_t i = 0; i < n; i++) {
		const struct usk_end *c = &x[i].call, *b = &x[i].back;
		begin[i] = (struct stamps){ c->group, c->local_ns, c->bound_ns };
		end[i] = (struct stamps){ b->group, b->local_ns, b->bound_ns };
	}
	usk_sort(end, n, sizeof *end, by_group);
	usk_sort(begin, n, sizeof *begin, by_group);
	for (size_t e = 0, b = 0; e < n && end[e].group != USK_NO_GROUP;) {
		size_t e_to = end_of_group(end, e, n);
		while (b < n && begin[b].group < end[e].group) {
			b++;
		}
		size_t b_to = b;
		if (b < n && begin[b].group == end[e].group) {
			b_to = end_of_group(begin, b, n);
			uint64_t both = behind(end + e, e_to - e, begin + b, b_to - b, false);
			uint64_t bounds = behind(end + e, e_to - e, begin + b, b_to - b, true);
			pairs += both > bounds ? both - bounds : 0;
		}
		b = b_to;
		e = e_to;
	}
	free(end);
	free(begin);
	return pairs;
}

void usk_intervals_count(const struct usk_interval *x, size_t n, struct usk_ordered *out)
{
	int64_t *end = usk_alloc(n, sizeof *end), *begin = usk_alloc(n, sizeof *begin);
	out->pairs = n ? (uint64_t)n * (n - 1) / 2 : 0;
	for (int tight = 0; tight < 2; tight++) {
		for (size_t i = 0; i < n; i++) {
			end[i] = tight ? x[i].to_ns : x[i].back.bound_ns;
			begin[i] = tight ? x[i].from_ns : x[i].call.bound_ns;
		}
		usk_sort_numbers(end, n);
		usk_sort_numbers(begin, n);
		*(tight ? &out->kept : &out->bounds) = pairs_behind(end, begin, n);
	}
	out->certain = out->bounds + by_stamps(x, n);
	free(end);
	free(begin);
}
