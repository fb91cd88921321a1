/* SPDX-License-Identifier: MIT */
/*
 * contradict.c - which clocks' stamps are not in the order of time
 *
 * In    samples of the messages of all pairs, of tables and of what was joined
 * Out   clocks that were set back, or that have messages with one that was
 * Why   of a clock that was set back the stamps of two times are mixed, and no bounds by them are true
 * Not   where, which of them it was, and by how much: the order of rows, of records or of files tells
 *
 * Mostly two clocks say so by themselves; else all together may (match/lamport.c).
 */
#include "flow/flow.h"

#include <stdlib.h>

/* MOST: of messages that are looked at, all pairs together. ENOUGH: a few may be wrong. */
enum { MOST = 1 << 18, ENOUGH = 8 };

/* One pair's messages as seen.c has them; how many agree with others. */
static size_t agreeing(const struct pair_source *s, uint32_t mask, struct usk_seen **out,
		       int64_t *ways)
{
	const struct table_sample *t = &s->sample;
	struct usk_seen *seen = usk_alloc(t->n + 1, sizeof *seen);
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_sighting *x = &t->s[i];
		if (!(usk_mix(x->way) & mask)) {
			seen[n++] = (struct usk_seen){ .p_ns = x->p_ns,
						       .q_ns = x->q_ns,
						       .back = !x->ttl_p };
		}
	}
	usk_sort(seen, n, sizeof *seen,
		 KEYS(BY(usk_seen, q_ns), BY(usk_seen, p_ns), BY(usk_seen, back)));
	for (size_t i = 0, all = n; i < all; i++) { /* two tables may hold the same row */
		const struct usk_seen *a = &seen[i], *b = i ? &seen[n - 1] : NULL;
		n = i ? n : 0;
		if (!b || a->p_ns != b->p_ns || a->q_ns != b->q_ns || a->back != b->back) {
			seen[n++] = *a;
		}
	}
	*out = seen;
	return usk_seen_agreeing(seen, n, ways);
}

/* ---- all together ----------------------------------------------------------------------------------- */

static uint32_t thinned(const struct parties *p)
{
	size_t all = 0;
	uint32_t mask = 0;
	for (size_t i = 0; i < p->n_pairs; i++) {
		all += p->pair[i].sample.n;
	}
	for (; all > MOST; all /= 2) {
		mask = mask * 2 + 1;
	}
	return mask;
}

/* Of each pair; the clocks of those that contradict by themselves are counted. */
static bool take_messages(struct usk_lamport *l, const struct parties *p, bool tables,
			  int64_t *late_ns, size_t *those)
{
	const uint32_t mask = thinned(p);
	bool any = false;
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		struct usk_seen *seen = NULL;
		int64_t ways = 0;
		size_t n = tables && !s->in_tables ? 0 : agreeing(s, mask, &seen, &ways);
		const bool alone = usk_seen_contradict(seen, n);
		those[s->a] += alone;
		those[s->b] += alone;
		any = any || alone;
		n = n < ENOUGH ? 0 : n; /* by how much these are late nobody knows */
		for (int side = 0; side < 2 && n; side++) {
			int64_t *late = &late_ns[side ? s->b : s->a];
			*late = ways > *late ? ways : *late;
		}
		for (size_t k = 0; k < n; k++) {
			const struct usk_seen *m = &seen[k];
			if (m->back) {
				usk_lamport_message(l, s->b, m->q_ns, s->a, m->p_ns);
			} else {
				usk_lamport_message(l, s->a, m->p_ns, s->b, m->q_ns);
			}
		}
		free(seen);
	}
	return any;
}

bool usk_clocks_contradict(const struct parties *p, bool tables, size_t *those)
{
	if (p->model.kind == USK_LINEAR) {
		return false; /* of which no clock was set back */
	}
	struct usk_lamport l = { 0 };
	/* Stamps that are no further apart may be of either order: as messages of a pair are under way for more
	 * or less time, or are stamped late. */
	int64_t *late_ns = usk_alloc(p->n + 1, sizeof *late_ns);
	bool any = take_messages(&l, p, tables, late_ns, those);
	if (!any) {
		usk_lamport_left(&l, p->n, late_ns, those);
		for (size_t i = 0; i < p->n; i++) {
			those[i] = those[i] >= ENOUGH ? those[i] : 0;
			any = any || those[i];
		}
	}
	usk_lamport_free(&l);
	free(late_ns);
	return any;
}

bool usk_leave_out_most(struct parties *p, const size_t *those, bool (*may)(const struct party *y))
{
	size_t most = 1;
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		most = may(&p->party[i]) && those[i] > most ? those[i] : most;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		if (may(y) && those[i] == most) {
			y->unordered = any = true;
			usk_survey_free(&y->survey);
			usk_party_breaks(y);
		}
	}
	return any;
}
