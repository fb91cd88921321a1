/* SPDX-License-Identifier: MIT */
/* twice.h - stamps that a clock may have shown twice, though no record shows that */
#ifndef TWICE_H
#define TWICE_H

#include "stamps.h"

/* From one stamp to another of one clock; INT64_MIN, INT64_MAX: from its beginning, to its end. */
struct twice_zone {
	uint32_t clock;
	int64_t from_ns, to_ns;
};

struct twice {
	struct twice_zone *zone; /* of a clock apart from each other */
	size_t n, cap;
};

/** Where steps back may have been that lie between two records, so that they began no epoch. Kept. */
void twice_find(struct twice *t, struct stamps *s);
/** The zone that a stamp of the clock is in, or, of a reference, a time; NULL: none. */
const struct twice_zone *twice_in(const struct twice *t, uint32_t clock, int64_t ns);

#endif
