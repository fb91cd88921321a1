/* SPDX-License-Identifier: MIT */
/* trial.h - a scenario simulated, synchronised and held against its truth */
#ifndef TRIAL_H
#define TRIAL_H

#include "scenario.h"

struct trial_result {
	bool failed;
	char why[1024];	       /* the first thing that is wrong */
	bool kept;	       /* all clocks keep to what the answer assumes of them */
	uint64_t loose;	       /* clocks with a band in islands where not all do, */
	uint64_t loose_held;   /* and whose band holds all the same */
	bool bounded;	       /* some clock is */
	bool contradicted;     /* some clock is */
	bool stepped;	       /* some clock jumps */
	uint64_t moments;      /* of bands, held against the truth */
	uint64_t messages;     /* whose order was checked */
	uint64_t left_out;     /* by the answer, in so many words */
	double nearest, width; /* of the band's half: smallest distance of the truth to its edge,
				* relative; mean in ns */
};

/** dir: for captures, and recorded clocks of a case that fails. */
void trial_run(struct scenario *s, const char *dir, struct trial_result *out);

#endif
