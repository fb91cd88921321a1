/* SPDX-License-Identifier: MIT */
/* print.h - answers for people: tables and sentences */
#ifndef PRINT_H
#define PRINT_H

#include "cmd.h"
#include "units.h"
#include "located.h"
#include "flow/compare.h"
#include "write/write.h"

/** The offset in the middle of a stretch, "-957.333 ms +- 39.4 us", "at least 3 us", "-". */
struct text stretch_offset(const struct usk_headline *h);
/** The offset of its headline, "-957.333 ms +- 39.4 us", "at least 3 us", "-". */
struct text headline_offset(const struct usk_clocks *c, const struct usk_clock *clock);
/** "0" of the reference. */
struct text clock_drift(const struct usk_clock *clock);
/* Messages that a clock sent and received. */
struct traffic {
	uint64_t sent, received;
};
/** By clock. */
struct traffic *clock_messages(const struct usk_clocks *c);
size_t clocks_that_are(const struct usk_clocks *c, enum usk_quality quality);
/** How often a clock, or its reference, was stepped. */
size_t steps_of(const struct usk_clock *clock);
/** The table of clocks, what was left out, what contradicts what and in which records, notes, and
 * the assumptions. */
void print_clocks(FILE *out, const struct usk_clocks *c, const struct located *where);
/** The messages that print_clocks() names. */
void print_wants(const struct usk_clocks *c, struct located *where);
/** Messages that no clock of the model explains: those left out, those that forbid an answer. */
void print_outliers(FILE *out, const struct usk_clocks *c, const struct located *where);
/** What the bands rest on, a sentence or two over lines. */
void print_model(FILE *out, const struct usk_clocks *c);
/** "Matched 6,112 messages; left out: 12 unmatched." */
void print_counts(FILE *out, const struct usk_counts *n);
/** Broadcasts that both of two clocks received, by how much apart; a sentence, or nothing. after may be NULL. */
void print_broadcasts(FILE *out, const struct usk_difference *before,
		      const struct usk_difference *after);
/** A line for each clock that has disturbed stretches, or nothing. */
void print_disturbed(FILE *out, const struct usk_clocks *c);
/** A stamp as seconds of its clock, "1700000060.993182024 s". */
void print_seconds(FILE *out, int64_t ns);
/** As UTC where it looks like that, "2023-11-14 22:14:20.993182024 UTC", as a page's axes have it. */
void print_utc(FILE *out, int64_t ns);
/** A sentence for each clock that was stepped, or nothing. */
void print_jumps(FILE *out, const struct usk_clocks *c, void (*time)(FILE *out, int64_t ns));
/** "Note: ..." for each. */
void print_notes(FILE *out, char *const *note, size_t n);

/* ---- a comparison of estimators: for people, as JSON, as CSV ------------------ */

/* A comparison, and beside each score its errors; not known without a truth. */
struct compared {
	const struct usk_comparison *c;
	struct truth_errors *errors; /* n_pairs x n_methods */
	bool with_truth;
};

static inline const struct truth_errors *errors_of(const struct compared *x, size_t pair,
						   size_t method)
{
	return &x->errors[pair * x->c->n_methods + method];
}

/** Measures every line against the truth, which may be NULL. free() errors. */
enum usk_status compare_measure(const struct usk_comparison *c, const struct truth *truth,
				struct compared *out);

void compare_print(FILE *out, const struct compared *x);
void compare_print_json(FILE *out, const struct compared *x);
void compare_print_csv(FILE *out, const struct compared *x);

/* ---- the page of report: text and HTML, malloc'ed ---------------------------- */

/** What came out, in one sentence or two. */
char *report_sentence(const struct usk_clocks *c);
/** "client, server", "host0 and 7 others". */
char *report_names(const struct usk_clocks *c);
/** The page's plain part: sentence, tables of clocks, stretches, pairs and delays, notes. score: how
 * far each clock is from the truth; NULL: nobody knows. */
char *report_answer(const struct usk_clocks *c, const struct truth_score *score, char *const *note,
		    size_t n_notes);

/* ---- a clock's corridor on a terminal ------------------------------------------ */

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
