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
/** When that was, with bounds as wide as steps back unseen and the clock's resolution make them;
 * otherwise as stamps_at() has it. */
enum usk_status twice_at(const struct twice *t, struct stamps *s, uint32_t clock, int64_t local_ns,
			 struct stamps_answer *out, struct usk_err *err);
/** The stamp in whose place a bound of this one is to be taken (upper: the latest): itself, or beside
 * the zone that it is in. False: there is none. */
bool twice_beside(const struct twice *t, uint32_t clock, bool upper, int64_t *local_ns);
/** A bound in the time of a reference that may have been set back unseen, where times are in no
 * order; USK_NONE: there is none. */
int64_t twice_bound(const struct twice *t, uint32_t reference, bool upper, int64_t bound_ns);

#endif
