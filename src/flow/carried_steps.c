/* SPDX-License-Identifier: MIT */
/*
 * carried_steps.c - steps and disturbed stretches of clocks that were logged, by their stamps
 *
 * In    what messages showed on raw clocks, what logs know
 * Out   jumps and stretches of the answer
 * Why   a step that a log knows needs no message, and is known to its brackets
 * Not   bounds and estimates there (carried.c)
 */
#include "flow/clock_log.h"
#include "flow/reading.h"

#include <stdlib.h>

/* Stretches that stamps of both sides of a step are in may meet. */
static size_t join_stretches(struct usk_disturbed *s, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (kept && s[i].from_ns <= s[kept - 1].to_ns) {
			s[kept - 1].to_ns =
				s[i].to_ns > s[kept - 1].to_ns ? s[i].to_ns : s[kept - 1].to_ns;
		} else {
			s[kept++] = s[i];
		}
	}
	return kept;
}

/* Stamps of a clock's own in the answer. */
void usk_carried_events(struct usk_clock *k, const struct party *y)
{
	for (size_t i = 0; i < k->n_jumps; i++) {
		struct usk_jump *j = &k->jump[i];
		struct usk_raw at =
			usk_carry_shows_between(y->carry, j->after_local_ns, j->before_local_ns);
		j->after_local_ns = at.lo_ns;
		j->before_local_ns = at.hi_ns;
	}
	for (size_t i = 0; i < k->n_stretches; i++) {
		struct usk_disturbed *s = &k->stretch[i];
		struct usk_raw at = usk_carry_shows_between(y->carry, s->from_ns, s->to_ns);
		*s = (struct usk_disturbed){ .from_ns = at.lo_ns, .to_ns = at.hi_ns };
	}
	k->n_stretches = join_stretches(k->stretch, k->n_stretches);
}

static void add_step(struct usk_clock *k, uint32_t of, struct usk_gap at, struct usk_raw size)
{
	*USK_APPEND(k->jump, k->n_jumps) = (struct usk_jump){ .kind = USK_JUMP,
							      .of = of,
							      .or_of = USK_NO_CLOCK,
							      .after_local_ns = at.before_ns,
							      .before_local_ns = at.after_ns,
							      .size_lo_ns = size.lo_ns,
							      .size_hi_ns = size.hi_ns };
}

static bool shows(struct usk_raw by)
{
	return by.lo_ns > 0 || by.hi_ns < 0;
}

/* All that the log says it was set, or its brackets show: also what they do not show may have let
 * stamps repeat. A line at which it was set while it was read has another one after it at once: of
 * both. *out is handed over. */
static size_t sets_of(const struct usk_carry *c, struct usk_set **out)
{
	const struct usk_clock_log *l = &c->log;
	struct usk_set *set = usk_alloc(l->n_pieces + 1, sizeof *set), *last = NULL;
	size_t n = 0;
	for (size_t i = 1; i < l->n_pieces; i++) {
		const struct usk_set s = usk_carry_set(c, i);
		const bool again = last && l->piece[i - 1].first == l->piece[i - 1].last;
		if (!shows(s.by) && !l->line[l->piece[i].first].set) {
			last = NULL;
		} else if (again && !shows(s.by)) {
			last->from_ns = s.from_ns < last->from_ns ? s.from_ns : last->from_ns;
			last->to_ns = s.to_ns > last->to_ns ? s.to_ns : last->to_ns;
			last->by.lo_ns += s.by.lo_ns;
			last->by.hi_ns += s.by.hi_ns;
			last->shifted_ns += s.shifted_ns;
		} else {
			last = &set[n++];
			*last = s;
		}
	}
	*out = set;
	return n;
}

/* Steps that the log knows, and by how much, with brackets of lines. */
void usk_carried_steps(struct usk_clock *k, uint32_t clock, const struct party *y)
{
	struct usk_set *set;
	const size_t n = sets_of(y->carry, &set);
	for (size_t i = 0; i < n; i++) {
		const struct usk_set *s = &set[i];
		add_step(k, clock, (struct usk_gap){ s->from_ns, s->to_ns, 0 },
			 (struct usk_raw){ usk_saturate(-(usk_i128)s->shifted_ns - s->by.hi_ns),
					   usk_saturate(-(usk_i128)s->shifted_ns - s->by.lo_ns) });
	}
	free(set);
}

/* A bound of T at a knot. */
static int64_t bound_of(const struct usk_knot *k, bool upper)
{
	return usk_saturate((usk_i128)k->local_ns + (upper ? k->hi_ns : k->lo_ns));
}

/* Where on the chord of two knots a bound reaches t. */
static int64_t reaches(const struct usk_knot *k, bool upper, int64_t t)
{
	const int64_t from = bound_of(k, upper);
	const usk_i128 rise = (usk_i128)bound_of(k + 1, upper) - from;
	const usk_i128 by = ((usk_i128)t - from) * ((usk_i128)k[1].local_ns - k->local_ns);
	return (int64_t)(k->local_ns + (upper ? usk_floor_div(by, rise) : usk_ceil_div(by, rise)));
}

/* Steps of the reference, by another clock's stamps: where T can have been there, as far as it is
 * known. */
void usk_carried_reference_steps(struct usk_clock *k, const struct party *r)
{
	const size_t n = k->n_knots;
	int64_t *most = usk_alloc(n + 1, sizeof *most), *least = usk_alloc(n + 1, sizeof *least);
	for (size_t i = 0; i < n; i++) {
		most[i] = bound_of(&k->knot[i], true);
		least[i] = bound_of(&k->knot[i], false);
	}
	usk_most_before(most, n);
	usk_least_behind(least, n);
	struct usk_set *set;
	const size_t n_sets = sets_of(r->carry, &set);
	for (size_t i = 0; i < n_sets; i++) {
		const struct usk_set s = set[i];
		size_t a, b;
		USK_FIRST(a, 0, n, most[a] >= s.from_ns);
		USK_FIRST(b, 0, n, least[b] > s.to_ns);
		if (a < n && b) {
			const int64_t first = k->knot[0].local_ns, last = k->knot[n - 1].local_ns;
			add_step(
				k, k->reference,
				(struct usk_gap){
					a ? reaches(&k->knot[a - 1], true, s.from_ns - 1) : first,
					b < n ? reaches(&k->knot[b - 1], false, s.to_ns + 1) : last,
					0 },
				(struct usk_raw){
					usk_saturate((usk_i128)s.shifted_ns + s.by.lo_ns),
					usk_saturate((usk_i128)s.shifted_ns + s.by.hi_ns) });
		}
	}
	USK_FREE(most, least, set);
}
