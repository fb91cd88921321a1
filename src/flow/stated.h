/* SPDX-License-Identifier: MIT */
/*
 * stated.h - what a person can state of two clocks beside their messages
 *
 * To add a kind: its row here, and its function in stated.c. Its option with help and completion,
 * what its numbers are checked for, and Python's stated={"KIND": ...} follow.
 */
#ifndef USK_STATED_H
#define USK_STATED_H

#include "graph/graph.h"

/* X(function usk_state_NAME, its option and noun, how the option's value is written, whether ±D
 * ends it, help): A showed its TIME, and B its own, which the function makes of it. */
#define USK_STATEMENTS(X)                                                                          \
	X(anchor, "anchor", "A@TIME=B@TIME±D", true,                                               \
	  "state that when clock A showed TIME, clock B showed TIME, give or take D: "             \
	  "a@1700000000.5s=b@1700000003s+-20ms; ± may be written +-")

enum { USK_STATED_ROWS = 2 }; /* of one statement, at most */

struct usk_statement_kind {
	const char *option, *form;
	bool within;
	/* As constraints, by unwrapped stamps; returns how many. .number and .noun are set behind it. */
	size_t (*rows)(const struct usk_graph_anchor *x, struct usk_stated row[USK_STATED_ROWS]);
};

/** The i-th, static; NULL behind the last. */
const struct usk_statement_kind *usk_statement_kind(size_t i);

struct parties;

/** What the options state, as p->stated. USK_EUSAGE, USK_ERANGE: a sentence with the statement. */
enum usk_status usk_stated_open(struct parties *p, struct usk_err *err);

#endif
