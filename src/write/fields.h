/* SPDX-License-Identifier: MIT */
/*
 * fields.h - structs to JSON and back, both ways by one table of their fields
 *
 * A table has a row for each key, in the order in which keys are written, and ends with a row
 * without key. Reading trusts nothing: what is missing or of another kind is named with its place.
 */
#ifndef USK_WRITE_FIELDS_H
#define USK_WRITE_FIELDS_H

#include "write/json_get.h"
#include "write/json_put.h"

#include <stddef.h>

enum usk_field_kind {
	/* int64_t, ns as a decimal string: most readers of JSON take numbers as doubles, and those
	 * step by 256 ns at today's epoch. */
	FIELD_TIME,	     /* at most USK_TIME_MAX in size */
	FIELD_TIME_OR_NULL,  /* USK_NONE is null */
	FIELD_SPAN_OR_NULL,  /* the difference of two times: up to twice as much */
	FIELD_RATE,	     /* int64_t of parts per 10^12, in ppm; at most 10^6 in size */
	FIELD_WANDER,	     /* the same, not negative */
	FIELD_NUMBER,	     /* double, 9 digits; NAN is null */
	FIELD_COUNT,	     /* uint64_t */
	FIELD_SMALL,	     /* uint32_t */
	FIELD_BOOL,	     /* bool */
	FIELD_TEXT,	     /* char *, malloc'ed */
	FIELD_NAME,	     /* an enum without gaps, by the names of its values */
	FIELD_CLOCK,	     /* uint32_t, a clock's name */
	FIELD_CLOCK_OR_NULL, /* USK_NO_CLOCK is null */
	FIELD_POINT,	     /* struct usk_point: a pair of local time and offset */
	FIELD_OBJECT,	     /* a struct within the struct, or some of its own members (at 0) */
	FIELD_LIST,	     /* a pointer to so many of them, each of the kind `each` */
	FIELD_OWN,	     /* put and get know it */
};

enum {
	FIELD_MAY_MISS = 1, /* others than unskew need not write it: none, or 0 */
	FIELD_OMIT = 2,	    /* nor do we, if it is none, or 0 */
};

struct usk_field {
	const char *key;
	enum usk_field_kind kind;
	unsigned flags;
	size_t at;			     /* where the struct has it */
	const struct usk_field *fields;	     /* of an object, of a row */
	const char *(*name)(unsigned value); /* of an enum */
	unsigned last;
	const char *otherwise;	  /* what is wrong where a name, its %s, is none */
	enum usk_field_kind each; /* of a list, as those below; of FIELD_OWN what it is like */
	size_t n_at;		  /* how many there are: where the struct has that, a size_t */
	size_t size;		  /* of each */
	void (*put)(struct usk_json_out *o, const struct usk_clocks *c, const void *of);
	void (*get)(struct reader *r, const struct place *at, const json_t *o, void *of);
	const char *help; /* what it means, its sign, when it is null: for schema and page */
};

/** An object. Names of clocks are those of c. */
void usk_fields_put(struct usk_json_out *o, const struct usk_clocks *c, const struct usk_field *f,
		    const void *of);
/** The value of one of them, by its row. */
void usk_field_put(struct usk_json_out *o, const struct usk_clocks *c, const struct usk_field *f,
		   const void *of);
/** Into a struct that is all 0; the first failure is kept in r, whose names of clocks must stand.
 */
void usk_fields_get(struct reader *r, const struct place *at, const json_t *o,
		    const struct usk_field *f, void *of);
void usk_field_get(struct reader *r, const struct place *up, const json_t *o,
		   const struct usk_field *f, void *of);
/** All that they point to. */
void usk_fields_free(const struct usk_field *f, void *of);

/* ---- clocks_fields.c, pair_fields.c: what clocks.json holds, by the structs that hold it ---- */

/* Of struct usk_clocks, up to its clocks, and behind its pairs. */
extern const struct usk_field usk_clocks_head[], usk_clocks_tail[];
/* Of a clock, of a pair, and what of a pair can be drawn. */
extern const struct usk_field usk_clock_fields[], usk_pair_fields[], usk_corridor_fields[];
/* Of a clock or a pair how much it wanders; of differences of receipts. */
extern const struct usk_field usk_wander_fields[], usk_difference_fields[];

/** The i-th key of clocks.json, in the order in which they are written; NULL behind the last. */
const struct usk_field *usk_clocks_key(size_t i); /* clocks_json.c */

/** Is a clock sound that was read? Fills in what others need not write. clocks_check.c */
void usk_clock_check(struct reader *r, const struct place *at, void *clock);

#endif
