/* SPDX-License-Identifier: MIT */
/*
 * group.h - broadcasts of all clocks -> one line for each, all at once (group.c)
 */
#ifndef USK_FIT_GROUP_H
#define USK_FIT_GROUP_H

#include "fit/fit.h"

/* What two clocks both received; borrowed. */
struct usk_group_pair {
	uint32_t a, b;
	const struct usk_reception *broadcasts;
	size_t n;
};

/* T(y) = y + offset_ns + rest_ns + slope (y - local_ns): the root's time when the clock shows y. */
struct usk_group_line {
	bool known;
	uint32_t root; /* itself at the root */
	int64_t local_ns, offset_ns;
	long double rest_ns, slope;
};

struct usk_group {
	struct usk_group_line *line; /* by clock */
	size_t n_clocks, broadcasts, receptions;
};

/**
 * The lines of clocks that broadcasts tie to each other. root: the clock that is one where it is
 * tied to others; of other groups it is their first one.
 *
 * USK_EINPUT: no two clocks are tied at two times, there is no solver, or it does not get there.
 */
enum usk_status usk_group_of(const struct usk_group_pair *pair, size_t n_pairs, size_t n_clocks,
			     uint32_t root, struct usk_group **out, struct usk_err *err);
void usk_group_free(struct usk_group *g);

#endif
