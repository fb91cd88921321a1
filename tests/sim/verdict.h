/* SPDX-License-Identifier: MIT */
/* verdict.h - what trial.c hands to verdict.c: a scenario, its truth, and the answer */
#ifndef VERDICT_H
#define VERDICT_H

#include "trial.h"

struct trial {
	struct scenario *s;
	struct sim_clock clock[SCENARIO_HOSTS];
	struct sim_message *m; /* tables only */
	size_t n, cap;
	char *text; /* the table */
	size_t size, room;
	struct usk_msg *used; /* by the answer; those of its last rounds are kept */
	size_t n_used, n_kept, cap_used;
	struct usk_clocks *answer;
	const struct usk_clock *of[SCENARIO_HOSTS]; /* the answer's clock of a host, or NULL */
	signed char *unseen[SCENARIO_HOSTS];	    /* by jump: -1 not known yet */
	struct trial_result *out;
};

/** The first thing that is wrong stays. */
void trial_fail(struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Hold the answer against the truth; into t->out. */
void trial_verdict(struct trial *t);

/* ---- jumps: verdict_jumps.c ------------------------------------------------------------------ */

uint32_t trial_host_of(const struct trial *t, uint32_t clock);

/** The epoch of a moment, of those that stamps show. */
uint32_t trial_seen_epoch(const struct trial *t, uint32_t host, int64_t true_ns);

/** Fails if one that is reported was none. Whether all of the clock and its reference are found,
 * each once; then their sizes are checked, too. */
bool trial_check_jumps(struct trial *t, const struct usk_clock *c);

/** May a jump be hidden from a pair that the clock's band goes through? */
bool trial_may_hide(const struct trial *t, const struct usk_clock *c);

/** Was it put back so that the order of records does not tell it from late ones? */
bool trial_crowded(const struct trial *t, const struct sim_clock *c);

#endif
