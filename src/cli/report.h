/* SPDX-License-Identifier: MIT */
/* report.h - the answer as a sentence, and as HTML that needs no script */
#ifndef REPORT_H
#define REPORT_H

#include "cmd.h"

#include "report/page.h"

/** What came out, in one sentence or two; malloc'ed. */
char *report_sentence(const struct usk_clocks *c);
/** "client, server", "host0 and 7 others"; malloc'ed. */
char *report_names(const struct usk_clocks *c);
/** The page's plain part: sentence, tables of clocks, pairs and delays, notes; malloc'ed. */
char *report_answer(const struct usk_clocks *c, char *const *note, size_t n_notes);

/**
 * The section "The machines' own clocks" of the files that --clock names, malloc'ed, or an empty
 * text without any; prints and returns the exit status on failure.
 */
int report_machines(const struct args *args, const char *output, char **html);

#endif
