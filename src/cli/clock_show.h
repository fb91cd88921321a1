/* SPDX-License-Identifier: MIT */
/* clock_show.h - what `unskew clock` has measured, and the ways of showing it */
#ifndef CLOCK_SHOW_H
#define CLOCK_SHOW_H

#include "base/io.h"
#include "clock/clock.h"
#include "cmd.h"
#include "units.h"

enum { SIZES = 3 };
extern const size_t clock_sizes[SIZES]; /* bytes of a message */

enum { LOADS_MAX = 9 };

/* What depends on the load. */
struct under {
	unsigned load; /* threads; of messages pairs of them; 0: none */
	struct zero zero;
	bool has_routines; /* not so in what older versions wrote */
	struct routine_figures routine[ROUTINES];
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
	enum work work;
	enum compensation how;
	bool best, histograms;
	size_t n_under;
	struct under under[LOADS_MAX]; /* the first without load */
};

/** The clock that an option names, among those that fit, which are those that show ns; NULL: any.
 */
size_t find_source(const struct args *args, const char *option, const struct source *s, size_t n,
		   bool (*fits)(const struct source *s));
void clock_print(FILE *out, const struct clock_report *r);
/** Three significant digits. */
struct text clock_ns_text(double ns);
/** Sentences, malloc'ed. */
char *clock_steered_text(const struct clock_report *r);
char *clock_cores_text(const struct clock_report *r);
/* The tables, for whoever prints them and frees their cells. */
struct table clock_sources_table(const struct clock_report *r);
struct table clock_zero_table(const struct clock_report *r);
struct table clock_messages_table(const struct clock_report *r);
struct table clock_ticks_table(const struct clock_report *r);
struct table clock_correlations_table(const struct clock_report *r);
struct table clock_routines_table(const struct clock_report *r);
struct table clock_words_table(const struct clock_report *r);
/* What two reads vary by, ns: standard deviation of those that nothing split. */
double clock_uncertainty(const struct under *u);
/** By how much a word of 8 bytes more lengthens it, ns: by medians of the sizes; NAN: not known. */
double clock_per_word(const struct under *u, enum channel c, bool one_way);
/**
 * Tables and drawings for a page, whose style says what .scroll, .two, .n and .rule look like.
 * machine: its name where there may be several, else NULL. level: of the headings, 2 is <h2>.
 */
void clock_put_section(FILE *out, const struct clock_report *r, const char *machine, int level);
/** One HTML file with tables and drawings that needs no network. */
void clock_print_page(struct usk_output *out, const struct clock_report *r);
/** --drift and --drift-of: watches or reads, and prints; returns the exit status. */
int clock_watch_drift(const struct args *args, unsigned load);
void clock_print_json(FILE *out, const struct clock_report *r);
/** That again; *out is all that the JSON holds, and undefined after a failure. */
enum usk_status clock_from_json(const char *text, size_t size, struct clock_report *out,
				struct usk_err *err);

#endif
