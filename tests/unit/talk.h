/* SPDX-License-Identifier: MIT */
/*
 * talk.h - random messages between two clocks, as estimators get them, and a line in rationals
 *
 * In    a seed: tiny grids, calls and replies, one way only
 * Out   messages, their corridor, what an estimator says of it; does that agree with the exact line?
 * Why   the definitions in test_ashton.c and test_two_point.c are searched from end to end
 */
#ifndef USK_TESTS_TALK_H
#define USK_TESTS_TALK_H

#include "cases.h"
#include "fit/fit.h"

/* Messages between a = 0 and b = 1, sorted as estimators get them. */
enum { TALK_MAX = 300 };
struct talk {
	uint64_t seed;
	struct usk_msg msg[TALK_MAX];
	size_t n;
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
	struct usk_delay_model least[2];
	struct usk_knot *knot;
	size_t n_knots;
	struct usk_err err;
};

void talk_make(struct talk *t, uint64_t seed);
/** Knots of an estimator; fails with a sentence and no knots, or not at all. */
enum usk_status talk_ask(struct talk *t, const char *name);
void talk_free(struct talk *t);
/** The same with lengths, and models of minimum delays that are right, wrong or none. */
void talk_delay(struct talk *t);
/** The minimum delay by its definition. */
int64_t talk_least_ns(const struct talk *t, const struct usk_msg *m);
/** All stamps doubled and moved: send + delta/2, receive - delta/2. */
void talk_move(struct talk *t);
/** The message back of msg[i], by its definition; NULL if none. */
const struct usk_msg *talk_answer(const struct talk *t, size_t i);

/* B = y + beta (A - x) */
struct exact {
	mpq_t beta, x, y;
};

void exact_init(struct exact *e);
void exact_clear(struct exact *e);
/** Offset at B's stamp t: x + (t - y)/beta - t. */
void exact_at(const struct exact *e, int64_t t, mpq_t out);
/** Knots within 1 ns, the slope within 1e-9 and what 1 ns at both ends makes of it. */
bool exact_agrees(const struct exact *e, const struct usk_knot *k, size_t n);

#endif
