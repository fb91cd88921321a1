/* SPDX-License-Identifier: MIT */
/* verdict.h - what trial.c hands to verdict.c: a scenario, its truth, and the answer */
#ifndef VERDICT_H
#define VERDICT_H

#include "held.h"
#include "trial.h"

struct trial {
	struct scenario *s;
	struct sim_clock clock[SCENARIO_HOSTS];
	struct sim_message *m; /* tables only */
	size_t n, cap;
	char *text; /* the table */
	size_t size, room;
	struct trial_used *used; /* by the answer; those of its last rounds are kept */
	size_t n_used, n_kept, cap_used;
	const struct usk_corrected *at; /* of the next ones, or NULL */
	struct usk_clocks *answer;
	/* by the answer's clock */
	const struct sim_clock *truth[SCENARIO_HOSTS];
	struct held held[SCENARIO_HOSTS];
	struct trial_result *out;
};

/* The epochs that a message's stamps are of. */
struct trial_epochs {
	uint32_t sent, received;
};

/* A message that the answer is made of. */
struct trial_used {
	struct usk_msg msg;
	struct trial_epochs told, truth; /* as the answer has it; of captures both */
};

/** The first thing that is wrong stays. */
void trial_fail(struct trial *t, enum trial_wrong kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Hold the answer against the truth; into t->out. */
void trial_verdict(struct trial *t);

uint32_t trial_host_of(const struct trial *t, uint32_t clock);

/* ---- what the answer assumes: verdict_assumed.c ---------------------------------------------- */

/** Is |rate - 1| within the limit for every two clocks of an island? */
bool trial_within_limit(const struct trial *t, uint32_t reference);

/** Does every clock of the island keep the rate that is assumed of it? */
bool trial_rates_kept(const struct trial *t, uint32_t reference);

/** Does every message take time by the reference's clock? Known of tables. */
bool trial_delays_kept(const struct trial *t, uint32_t reference);

/* True jumps of an island's clocks that are not in the brackets of all whom they concern. */
struct trial_missed {
	size_t doubtful;     /* delays may hide them: the assumption is broken */
	size_t beyond_doubt; /* two messages show them: no excuse */
};
struct trial_missed trial_missed_jumps(const struct trial *t, uint32_t reference);

/** Half the range of the clock's rate against another over the whole trace, 10^-18, rounded up. */
int64_t trial_wander_e18(const struct trial *t, uint32_t a, uint32_t b);

/* ---- jumps: verdict_jumps.c ------------------------------------------------------------------ */

/** The places right before and right after a jump of any clock, in the time of clock c. */
struct held_place trial_before(const struct trial *t, uint32_t c, const struct sim_jump *x);
struct held_place trial_after(const struct trial *t, uint32_t c, const struct sim_jump *x);

/** Did the offset of each clock only rise, or only fall, by what was set in each of its brackets?
 */
bool trial_jumps_one_way(const struct trial *t, uint32_t reference);

/** Fails if one that is reported was none, or, where no other is hidden, not of that size. */
void trial_check_jumps(struct trial *t, uint32_t clock, bool sizes);

#endif
