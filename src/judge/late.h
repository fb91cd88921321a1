/* SPDX-License-Identifier: MIT */
/*
 * late.h - of a collective on one clock: who came last for sure, what is surely waiting
 */
#ifndef USK_LATE_H
#define USK_LATE_H

#include "match/collectives.h"

/* Where one member's time in a collective went, as far as bounds tell: the three add up to exit -
 * enter by its own clock. */
struct usk_spent {
	int64_t waited_ns;   /* at least: before the last of those that it waits for had come */
	int64_t transfer_ns; /* at least: behind that */
	int64_t untold_ns;   /* the one or the other */
};

struct usk_lateness {
	enum usk_collective_kind kind;
	struct usk_event_id id;
	size_t n;
	bool asked;		/* is there a member that waits for all? */
	bool known;		/* it is certain who of those that were recorded came last: */
	uint32_t rank;		/* this one, */
	int64_t by_ns;		/* by so much at least */
	int64_t at_ns;		/* when the last one came, estimated; USK_NONE if nothing tells */
	struct usk_spent spent; /* of all members */
};

/* Bounds of what one clock showed, by the reference of all. */
struct usk_late_clock {
	struct usk_map *map; /* NULL: none */
	int64_t resolution_ns;
	const struct usk_clock *clock; /* whose steps count; NULL: of no answer */
};

/** Room for the members of one collective; all zero to begin with. */
struct usk_late_room {
	struct late_member *member;
	struct late_clock *clock;
	size_t cap;
};

/**
 * clock[]: by the numbers of the parts. spent[g->n]: of each part. Two ranks of one clock are
 * compared by its own stamps, in which max_skew_e12 is how wrong its rate is at most. USK_ERANGE: a
 * stamp or its bounds are over USK_TIME_MAX. O(n).
 */
enum usk_status usk_late(const struct usk_gathering *g, const struct usk_late_clock *clock,
			 int64_t max_skew_e12, struct usk_late_room *room, struct usk_lateness *out,
			 struct usk_spent *spent, struct usk_err *err);
void usk_late_room_free(struct usk_late_room *room);

#endif
