/* SPDX-License-Identifier: MIT */
/*
 * exchange_tables.h - random small tables of messages between a = 0 and b = 1
 *
 * Cases of cases.h; requests and answers at an epoch; tiny grids, some with a clock that runs
 * backwards; what is degenerate: one message each way, all at one instant, vertical or coincident
 * points, one direction only.
 */
#ifndef USK_TESTS_EXCHANGE_TABLES_H
#define USK_TESTS_EXCHANGE_TABLES_H

#include "cases.h"
#include "fit/corridor.h"

enum { MOST = 48 };

struct table {
	uint64_t seed;
	struct usk_msg msg[MOST];
	size_t n;
	int64_t window_ns, max_skew_e12;
	struct usk_frame frame;
	int64_t q_a, q_b;
	struct fit_case c; /* its points are the same, or none if there are too many */
	bool is_case;
};

static inline int64_t local_of(const struct usk_msg *m)
{
	return m->from == 1 ? m->sent_ns : m->received_ns;
}

static inline int64_t reference_of(const struct usk_msg *m)
{
	return m->from == 0 ? m->sent_ns : m->received_ns;
}

/** Sorted as usk_fit asks for. */
void table_make(struct table *t, uint64_t seed);

#endif
