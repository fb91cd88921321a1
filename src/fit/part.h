/* SPDX-License-Identifier: MIT */
/*
 * part.h - what a corridor remembers of a pair, as points in the order of time
 */
#ifndef USK_FIT_PART_H
#define USK_FIT_PART_H

#include "num/cone.h"

/*
 * Hull vertices and undominated points, each once, sorted by x; relative to the frame, a ceiling's
 * offset negated, weakened by q_ns. A floor is received on the local side, and may have been so
 * much later: there its point lies.
 */
struct usk_part {
	struct usk_frame frame;
	struct usk_xy *point[2]; /* floors, ceilings */
	size_t n[2];
	int64_t q_ns[2];		    /* floors by this, ceilings by that */
	const struct usk_suspect *left_out; /* borrowed: who is wrong, and not among the points;
					     or right after all */
	size_t n_left_out;
};

/** q_ns[2]: by how much floors and ceilings are weakened, as usk_lines has it. */
void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out);
void usk_part_free(struct usk_part *p);

/** A point as it was recorded: absolute, not mirrored, not weakened. */
static inline struct usk_point usk_part_recorded(const struct usk_part *p, struct usk_xy at,
						 bool ceiling)
{
	usk_i128 y = (usk_i128)at.y + p->q_ns[ceiling];
	return (struct usk_point){
		(int64_t)(p->frame.local_ns + (usk_i128)at.x - (ceiling ? 0 : p->q_ns[0])),
		(int64_t)(p->frame.offset_ns + (ceiling ? -y : y)),
	};
}

#endif
