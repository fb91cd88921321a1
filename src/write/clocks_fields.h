/* SPDX-License-Identifier: MIT */
/*
 * clocks_fields.h - what clocks.json holds, by the structs that hold it
 */
#ifndef USK_WRITE_CLOCKS_FIELDS_H
#define USK_WRITE_CLOCKS_FIELDS_H

#include "write/fields.h"

/* Of struct usk_clocks, up to its clocks, and behind its pairs. */
extern const struct usk_field usk_clocks_head[], usk_clocks_tail[];
/* Of a clock, of a pair, and what of a pair can be drawn. */
extern const struct usk_field usk_clock_fields[], usk_pair_fields[], usk_corridor_fields[];

/** Is a clock sound that was read? */
void usk_clock_check(struct reader *r, const struct place *at, void *clock);

#endif
