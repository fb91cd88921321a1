/* SPDX-License-Identifier: MIT */
/* scenario.h - a random scenario: clocks, network, and what is asked of `unskew sync` */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "sim.h"

#define SCENARIO_HOSTS 6

struct scenario {
	uint64_t seed;
	struct sim_options o; /* its lists point into this struct */
	int64_t list[12][SCENARIO_HOSTS];
	struct sim_step step[8];
	struct sim_series series[SCENARIO_HOSTS];
	/* what is asked for; NULL: not stated */
	char *model, *min_delay;
	const char *reference, *method, *solve;
	int64_t max_skew_e12; /* 0: not stated */
	bool resolution;      /* state it for each host that a table names: few stamps lie on some
			       * grid by chance */
	bool named[SCENARIO_HOSTS]; /* set by trial_run(): hosts that sent or received */
};

/** The same seed, the same scenario. model, solve: instead of its own, or NULL. */
void scenario_draw(struct scenario *s, uint64_t seed, const char *model, const char *solve);
void scenario_free(struct scenario *s);

/** As a user would type it; the caller's. Recorded clocks are named DIR/hostN.csv. */
char *scenario_simulate(const struct scenario *s, const char *unskew, const char *dir);
char *scenario_sync(const struct scenario *s, const char *unskew, const char *dir);
/** Write those recorded clocks. */
bool scenario_write_series(const struct scenario *s, const char *dir);

#endif
