/* SPDX-License-Identifier: MIT */
/* plot.h - a clock's corridor on a terminal: what its messages leave free around the estimate */
#ifndef PLOT_H
#define PLOT_H

#include "cmd.h"

/** The bounded clock whose band is widest on average, USK_NO_CLOCK if none is bounded. */
uint32_t plot_choose(const struct usk_clocks *c);
/** Columns of the terminal behind `to`, else what COLUMNS says, else 80. */
int plot_columns(FILE *to);
/** Do the environment's texts have characters beyond ASCII? */
bool plot_unicode(void);

/** At most twelve lines; where nothing can be drawn, none, and why not, else NULL. */
const char *plot_clock(FILE *out, const struct usk_clocks *c, uint32_t clock, int columns,
		       bool unicode);

#endif
