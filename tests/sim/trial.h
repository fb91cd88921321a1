/* SPDX-License-Identifier: MIT */
/* trial.h - a scenario simulated, synchronised and held against its truth */
#ifndef TRIAL_H
#define TRIAL_H

#include "scenario.h"

enum trial_wrong {
	TRIAL_BAND,	    /* it excludes the truth, where all that is assumed was kept */
	TRIAL_MESSAGE,	    /* it excludes what a message says */
	TRIAL_ORDER,	    /* a message is received before it is sent */
	TRIAL_SELF,	    /* knots out of order, an estimate outside its band */
	TRIAL_CONTRADICTED, /* a clock is, though one of the model exists */
	TRIAL_REST,	    /* a name, a size, a message taken for wrong, wander, no answer */
	TRIAL_WRONGS,
};

struct trial_result {
	bool failed;
	bool wrong[TRIAL_WRONGS]; /* all that is, by its kind */
	char why[1024];		  /* the first thing that is wrong */
	bool kept;		  /* all clocks keep to what the answer assumes of them */
	uint64_t loose;		  /* clocks with a band in islands where not all do, */
	uint64_t loose_held;	  /* and whose band holds all the same */
	bool bounded;		  /* some clock is */
	bool contradicted;	  /* some clock is */
	bool stepped;		  /* some clock jumps */
	uint64_t moments;	  /* of bands, held against the truth */
	uint64_t messages;	  /* whose order was checked */
	uint64_t left_out;	  /* by the answer, in so many words */
	double nearest, width;	  /* of the band's half: smallest distance of the truth to its edge,
				   * relative; mean in ns */
};

/** dir: for captures, and recorded clocks of a case that fails. */
void trial_run(struct scenario *s, const char *dir, struct trial_result *out);

#endif
