/* SPDX-License-Identifier: MIT */
/*
 * late.h - all collectives of some traces by an answer: who was late, and what that cost
 */
#ifndef USK_FLOW_LATE_H
#define USK_FLOW_LATE_H

#include "judge/late.h"

/* A member of collectives, all in all. */
struct usk_late_rank {
	char *name;
	uint32_t clock;		       /* of the answer */
	uint64_t parts;		       /* it took part in so many */
	uint64_t last;		       /* and surely came last in so many, */
	int64_t by_sum_ns, by_most_ns; /* by so much at least */
	struct usk_spent spent;
};

struct usk_late_answer {
	struct usk_late_rank *rank;
	size_t n_ranks;
	struct usk_lateness *collective; /* in the order of their estimated times */
	size_t n_collectives;
	uint64_t asked, known; /* of these */
	struct usk_spent spent;
	struct usk_counts counts; /* unmatched, ambiguous parts */
};

/**
 * Read the collectives of traces, those of others are passed over, and judge them by the bounds of
 * c. A clock that c does not have, or that was set back, has none. USK_EINPUT: there is no
 * collective. On USK_OK usk_late_answer_free() out.
 */
enum usk_status usk_late_read(struct usk_trace *const *trace, size_t n, const struct usk_clocks *c,
			      struct usk_late_answer *out, struct usk_err *err);
void usk_late_answer_free(struct usk_late_answer *a);

#endif
