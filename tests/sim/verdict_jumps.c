/* SPDX-License-Identifier: MIT */
/*
 * verdict_jumps.c - is what an answer tells of jumps true?
 *
 * A jump that is reported was one: of a clock that it names, in that bracket, and, if it was the
 * only one there, of that size.
 */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t trial_host_of(const struct trial *t, uint32_t clock)
{
	return (uint32_t)strtoul(t->answer->clock[clock].name + strlen("host"), NULL, 10);
}

static int64_t began(const struct sim_jump *x)
{
	return x->true_ns - (x->still_ns ? x->still_ns : 1);
}

struct held_place trial_before(const struct trial *t, uint32_t c, const struct sim_jump *x)
{
	return held_place(t->truth[c], t->held[c].seen, began(x));
}

struct held_place trial_after(const struct trial *t, uint32_t c, const struct sim_jump *x)
{
	return held_place(t->truth[c], t->held[c].seen, x->true_ns);
}

/* By how much the offset of a clock rose meanwhile, as both clocks read. */
static int64_t rise_of(const struct sim_clock *local, const struct sim_clock *reference,
		       const struct sim_jump *x)
{
	int64_t before = sim_clock_read(reference, began(x)) - sim_clock_read(local, began(x));
	return sim_clock_read(reference, x->true_ns) - sim_clock_read(local, x->true_ns) - before;
}

/* The true jumps in a bracket. */
struct meant {
	size_t named;	 /* of a clock that the answer names */
	size_t n;	 /* those, and of the clock itself and its reference */
	int64_t rise_ns; /* of the offset */
	bool up, down;	 /* it rose, it fell, each for itself */
	bool apart[2];	 /* the offset between the two that are named fell, rose */
};

static struct meant jumps_meant(const struct trial *t, const struct usk_jump *j, uint32_t clock)
{
	const struct usk_clock *c = &t->answer->clock[clock];
	struct meant m = { 0 };
	for (uint32_t k = 0; k < t->answer->n_clocks; k++) {
		bool named = k == j->of || k == j->or_of, own = k == clock || k == c->reference;
		for (size_t i = 0; i < t->truth[k]->n_jumps && (named || own); i++) {
			const struct sim_jump *x = &t->truth[k]->jump[i];
			if (held_in_jump(c, j, trial_before(t, clock, x),
					 trial_after(t, clock, x))) {
				int64_t rise =
					own ? rise_of(t->truth[clock], t->truth[c->reference], x)
					    : 0;
				m.named += named;
				m.n++;
				m.rise_ns += rise;
				m.up = m.up || rise > 0;
				m.down = m.down || rise < 0;
				rise = named && j->or_of != USK_NO_CLOCK
					       ? rise_of(t->truth[j->of], t->truth[j->or_of], x)
					       : 0;
				m.apart[0] = m.apart[0] || rise < 0;
				m.apart[1] = m.apart[1] || rise > 0;
			}
		}
	}
	return m;
}

static void check_size(struct trial *t, const struct usk_clock *c, const struct usk_jump *j,
		       int64_t rise_ns)
{
	bool lo = j->size_lo_ns != USK_NONE, hi = j->size_hi_ns != USK_NONE;
	if ((lo && rise_ns < j->size_lo_ns - 1) || (hi && rise_ns > j->size_hi_ns + 1)) {
		char least[32] = "anything", most[32] = "anything";
		if (lo) {
			snprintf(least, sizeof least, "%lld", (long long)j->size_lo_ns);
		}
		if (hi) {
			snprintf(most, sizeof most, "%lld", (long long)j->size_hi_ns);
		}
		trial_fail(t, TRIAL_REST, "%s: the offset rose by %lld after %lld, not by %s to %s",
			   c->name, (long long)rise_ns, (long long)j->after_local_ns, least, most);
	}
}

void trial_check_jumps(struct trial *t, uint32_t clock, bool sizes)
{
	const struct usk_clock *c = &t->answer->clock[clock];
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct usk_jump *j = &c->jump[i];
		struct meant m = jumps_meant(t, j, clock);
		if (j->kind != USK_JUMP) {
			continue;
		}
		if (!m.named) {
			trial_fail(t, TRIAL_REST, "%s has a jump after %lld that is none of %s%s%s",
				   c->name, (long long)j->after_local_ns,
				   t->answer->clock[j->of].name,
				   j->or_of < t->answer->n_clocks ? " or " : "",
				   j->or_of < t->answer->n_clocks ? t->answer->clock[j->or_of].name
								  : "");
		} else if (m.n == 1 && sizes) {
			check_size(t, c, j, m.rise_ns);
		}
	}
}

bool trial_jumps_one_way(const struct trial *t, uint32_t reference)
{
	bool one_way = true;
	for (uint32_t k = 0; k < t->answer->n_clocks; k++) {
		const struct usk_clock *c = &t->answer->clock[k];
		for (size_t i = 0; i < c->n_jumps && c->reference == reference; i++) {
			struct meant m = jumps_meant(t, &c->jump[i], k);
			one_way = one_way && !(m.up && m.down) && !(m.apart[0] && m.apart[1]);
		}
	}
	return one_way;
}
