/* SPDX-License-Identifier: MIT */
/*
 * twice.c - stamps that a clock may have shown twice, though no record shows that
 *
 * In    steps of the table of clocks
 * Out   zones of stamps: two of them need not be in the order in which they were taken
 * Why   a step back begins an epoch only if the order of records shows it; if it is shorter than they
 *       are apart, or rows are in no order, messages tell of it, and stamps look as if they rose
 *
 * A clock that showed A or more, then was set back by S at most, then showed B or less, has shown
 * nothing below A - S behind the step, and nothing above B + S before it.
 */
#include "twice.h"
#include "units.h"

#include <stdlib.h>

static void add(struct twice *t, uint32_t clock, usk_i128 from_ns, usk_i128 to_ns)
{
	*USK_ADD(t->zone, t->n, t->cap) =
		(struct twice_zone){ clock, usk_saturate(from_ns), usk_saturate(to_ns) };
}

/* The clock itself was set back: its offset rises. */
static void of_clock(struct twice *t, const struct stamps *s, uint32_t clock,
		     const struct usk_jump *j)
{
	const struct usk_clock *k = &s->clocks->clock[clock];
	bool whole = j->size_hi_ns == USK_NONE;
	usk_i128 size = whole ? 0 : (usk_i128)j->size_hi_ns + k->resolution_ns;
	bool others = j->of == k->reference && j->or_of == USK_NO_CLOCK && clock != k->reference;
	if (j->epoch == j->end_epoch && !others && (whole || j->size_hi_ns > 0)) {
		add(t, clock, whole ? INT64_MIN : j->after_local_ns - size,
		    whole ? INT64_MAX : j->before_local_ns + size);
	}
}

/* Its reference was set back: the offset falls. In the reference's time. */
static void of_reference(struct twice *t, struct stamps *s, uint32_t clock,
			 const struct usk_jump *j)
{
	const struct usk_clock *k = &s->clocks->clock[clock];
	struct stamps_answer after = { 0 }, before = { 0 };
	int64_t epoch = s->epoch;
	bool other = j->of != k->reference && j->or_of != k->reference && j->of != USK_NO_CLOCK;
	if (other || clock == k->reference || (j->size_lo_ns != USK_NONE && j->size_lo_ns >= 0)) {
		return;
	}
	s->epoch = j->epoch;
	must(stamps_at(s, clock, j->after_local_ns, &after, &why));
	s->epoch = j->end_epoch;
	must(stamps_at(s, clock, j->before_local_ns, &before, &why));
	s->epoch = epoch;
	bool whole = j->size_lo_ns == USK_NONE;
	bool open = whole || after.at.lo_ns == USK_NONE,
	     no_end = whole || before.at.hi_ns == USK_NONE;
	usk_i128 size =
		whole ? 0 : (usk_i128)s->clocks->clock[k->reference].resolution_ns - j->size_lo_ns;
	add(t, k->reference, open ? INT64_MIN : after.at.lo_ns - size,
	    no_end ? INT64_MAX : before.at.hi_ns + size);
}

/* Those that meet are one: the edges of a zone are outside of all. */
static void join(struct twice *t)
{
	size_t n = 0;
	usk_sort(t->zone, t->n, sizeof *t->zone,
		 KEYS(BY(twice_zone, clock), BY(twice_zone, from_ns), BY(twice_zone, to_ns)));
	for (size_t i = 0; i < t->n; i++) {
		struct twice_zone *last = n ? &t->zone[n - 1] : NULL, *z = &t->zone[i];
		if (last && last->clock == z->clock &&
		    (last->to_ns == INT64_MAX || z->from_ns <= last->to_ns + 1)) {
			last->to_ns = z->to_ns > last->to_ns ? z->to_ns : last->to_ns;
		} else {
			t->zone[n++] = *z;
		}
	}
	t->n = n;
}

void twice_find(struct twice *t, struct stamps *s)
{
	for (uint32_t k = 0; k < s->clocks->n_clocks; k++) {
		const struct usk_clock *c = &s->clocks->clock[k];
		for (size_t i = 0; i < c->n_jumps; i++) {
			if (c->jump[i].kind == USK_JUMP) {
				of_clock(t, s, k, &c->jump[i]);
				of_reference(t, s, k, &c->jump[i]);
			}
		}
	}
	if (t->n) {
		join(t);
		kept(t->zone);
	}
}

const struct twice_zone *twice_in(const struct twice *t, uint32_t clock, int64_t ns)
{
	size_t i;
	USK_FIRST(i, 0, t->n,
		  t->zone[i].clock > clock ||
			  (t->zone[i].clock == clock && t->zone[i].to_ns >= ns));
	const struct twice_zone *z = i < t->n ? &t->zone[i] : NULL;
	return z && z->clock == clock && z->from_ns <= ns ? z : NULL;
}

bool twice_beside(const struct twice *t, uint32_t clock, bool upper, int64_t *local_ns)
{
	const struct twice_zone *z = twice_in(t, clock, *local_ns);
	if (z && (upper ? z->to_ns == INT64_MAX : z->from_ns == INT64_MIN)) {
		return false;
	}
	*local_ns = !z ? *local_ns : upper ? z->to_ns + 1 : z->from_ns - 1;
	return true;
}

int64_t twice_bound(const struct twice *t, uint32_t reference, bool upper, int64_t bound_ns)
{
	const struct twice_zone *z = bound_ns == USK_NONE ? NULL : twice_in(t, reference, bound_ns);
	if (z && (upper ? z->to_ns == INT64_MAX : z->from_ns == INT64_MIN)) {
		return USK_NONE;
	}
	return !z ? bound_ns : upper ? z->to_ns : z->from_ns;
}

enum usk_status twice_at(const struct twice *t, struct stamps *s, uint32_t clock, int64_t local_ns,
			 struct stamps_answer *out, struct usk_err *err)
{
	const struct usk_clock *k = &s->clocks->clock[clock];
	const int64_t epoch = s->epoch;
	enum usk_status status = stamps_at(s, clock, local_ns, out, err);
	s->epoch = out->epoch;
	for (int upper = 0; upper < 2 && !status && out->epoch >= 0; upper++) {
		int64_t ns = local_ns, *bound = upper ? &out->at.hi_ns : &out->at.lo_ns;
		struct stamps_answer edge = { .at = { USK_NONE, USK_NONE, USK_NONE } };
		if (twice_beside(t, clock, upper, &ns)) {
			/* Rounded down: it happened up to so much later. */
			ns += upper && k->resolution_ns > 1 ? k->resolution_ns - 1 : 0;
			status = stamps_at(s, clock, ns, &edge, err);
		}
		*bound = twice_bound(t, k->reference, upper, upper ? edge.at.hi_ns : edge.at.lo_ns);
	}
	s->epoch = epoch;
	return status;
}
