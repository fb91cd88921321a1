/* SPDX-License-Identifier: MIT */
/* clock_show.h - what `unskew clock` has measured, and the two ways of showing it */
#ifndef CLOCK_SHOW_H
#define CLOCK_SHOW_H

#include "clock/clock.h"
#include "cmd.h"

enum { SIZES = 3 };
extern const size_t clock_sizes[SIZES]; /* bytes of a message */

/* What depends on the load. */
struct under {
	struct zero zero;
	enum compensation used; /* for round trips */
	struct figures wakeup;
	struct exchange_figures exchange[CHANNELS][SIZES];
};

struct clock_report {
	struct source source[SOURCES_MAX];
	struct source_figures figures[SOURCES_MAX];
	size_t n_sources, which; /* which: the one that the experiments read */
	struct discipline discipline;
	struct core core[CPUS_MAX];
	size_t n_cores;
	double seconds;
	unsigned load;
	enum work work;
	enum compensation how;
	struct under under[2]; /* no load, load */
};

void clock_print(FILE *out, const struct clock_report *r);
void clock_print_json(FILE *out, const struct clock_report *r);

#endif
