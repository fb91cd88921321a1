/* SPDX-License-Identifier: MIT */
/*
 * json_get.h - typed values out of JSON that may be anything, with a sentence that says where
 *
 * In    jansson values, the place where they stand
 * Out   numbers, times, names, clocks; the first failure is kept in the reader
 * Why   after a failure every getter returns something harmless (0, NULL, an empty string, an
 *       array of size 0), so that the code that reads a format reads like the format
 */
#ifndef USK_JSON_GET_H
#define USK_JSON_GET_H

#include "base/base.h"

#include <jansson.h>

/* Where a value stands: a chain from the inside out, put into words only for a sentence. */
struct place {
	const struct place *up;
	const char *key; /* NULL: the index counts */
	size_t index;
};

struct reader {
	struct usk_clocks *c;
	/* Sorted, to find clocks by name. */
	struct clock_name {
		const char *name;
		uint32_t index;
	} * name;
	struct usk_err *err;
	enum usk_status status;
};

/* NULL and a sentence, USK_EINPUT, if it is no JSON, or an object has a key twice. */
json_t *usk_json_load(const char *text, size_t size, struct usk_err *err);

/* Put "place.key: sentence" into the error, unless there is one already. key may be NULL. */
void usk_json_wrong(struct reader *r, const struct place *up, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A member of o that must be there. */
const json_t *usk_json_get(struct reader *r, const struct place *at, const json_t *o,
			   const char *key);
const json_t *usk_json_object(struct reader *r, const struct place *at, const json_t *o,
			      const char *key);
const json_t *usk_json_array(struct reader *r, const struct place *at, const json_t *o,
			     const char *key);
char *usk_json_string(struct reader *r, const struct place *at, const json_t *o, const char *key);

uint64_t usk_json_count(struct reader *r, const struct place *at, const json_t *o, const char *key);
/* NAN for null. */
double usk_json_number(struct reader *r, const struct place *at, const json_t *o, const char *key,
		       bool nullable);

#endif
