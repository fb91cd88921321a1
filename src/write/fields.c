/* SPDX-License-Identifier: MIT */
#include "write/fields.h"
#include "write/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *usk_json_had(json_t *v)
{
	if (!v) {
		usk_alloc(SIZE_MAX, 1);
	}
	return v;
}

json_t *usk_json_text(const char *text)
{
	char *shown = usk_shown(text ? text : "");
	json_t *v = usk_json_had(json_string(shown));
	free(shown);
	return v;
}

/* ---- structs to JSON ---------------------------------------------------------------------------
 */

static json_t *ns(int64_t t)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%lld", (long long)t);
	return t == USK_NONE ? json_null() : usk_json_had(json_string(digits));
}

static json_t *count(uint64_t n)
{
	return usk_json_had(json_integer((json_int_t)n));
}

/* Whole numbers without a point; others to so many digits that noise stays out. */
static json_t *number(double v, int digits)
{
	char s[40];
	if (!isfinite(v)) {
		return json_null();
	}
	snprintf(s, sizeof s, "%.*g", digits, v);
	v = strtod(s, NULL);
	bool whole = v == rint(v) && fabs(v) < 1e15;
	return usk_json_had(whole ? json_integer((json_int_t)v) : json_real(v));
}

static json_t *clock_name(const struct usk_clocks *c, uint32_t i)
{
	return usk_json_text(i < c->n_clocks ? c->clock[i].name : "");
}

static void add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value)) {
		usk_json_had(NULL);
	}
}

static json_t *point(const struct usk_point *p)
{
	json_t *row = usk_json_had(json_array());
	add(row, ns(p->local_ns));
	add(row, ns(p->offset_ns));
	return row;
}

static json_t *put_list(const struct usk_clocks *c, const struct usk_field *f, const char *at,
			size_t n)
{
	json_t *a = usk_json_had(json_array());
	for (size_t i = 0; i < n; i++) {
		add(a, f->kind == FIELD_TEXTS	 ? usk_json_text(((char *const *)at)[i])
		       : f->kind == FIELD_CLOCKS ? clock_name(c, ((const uint32_t *)at)[i])
		       : f->kind == FIELD_POINTS ? point((const struct usk_point *)at + i)
						 : usk_fields_put(c, f->fields, at + i * f->size));
	}
	return a;
}

json_t *usk_field_put(const struct usk_clocks *c, const struct usk_field *f, const void *of)
{
	const void *at = (const char *)of + f->at;
	switch (f->kind) {
	case FIELD_TIME:
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		return ns(*(const int64_t *)at);
	case FIELD_RATE:
	case FIELD_WANDER: /* exact: an integer below 2^53 over 10^6 has at most 15 digits */
		return number((double)*(const int64_t *)at / 1e6, 15);
	case FIELD_NUMBER:
		return number(*(const double *)at, 9);
	case FIELD_COUNT:
		return count(*(const uint64_t *)at);
	case FIELD_SMALL:
		return count(*(const uint32_t *)at);
	case FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case FIELD_TEXT:
		return usk_json_text(*(char *const *)at);
	case FIELD_QUALITY:
		return usk_json_text(usk_quality_name(*(const enum usk_quality *)at));
	case FIELD_CLOCK_OR_NULL:
		return *(const uint32_t *)at < c->n_clocks ? clock_name(c, *(const uint32_t *)at)
							   : json_null();
	case FIELD_CLOCK:
		return clock_name(c, *(const uint32_t *)at);
	case FIELD_OBJECT:
		return usk_fields_put(c, f->fields, at);
	case FIELD_OWN:
		return f->put(c, of);
	case FIELD_TEXTS:
	case FIELD_CLOCKS:
	case FIELD_POINTS:
	case FIELD_ROWS:
		break;
	}
	return put_list(c, f, *(const char *const *)at,
			*(const size_t *)((const char *)of + f->n_at));
}

static bool omitted(const struct usk_field *f, const void *of)
{
	uint32_t v = f->flags & FIELD_OMIT ? *(const uint32_t *)((const char *)of + f->at) : 1;
	return v == (f->kind == FIELD_SMALL ? 0 : USK_NO_CLOCK);
}

json_t *usk_fields_put(const struct usk_clocks *c, const struct usk_field *f, const void *of)
{
	json_t *o = usk_json_had(json_object());
	for (; f->key; f++) {
		if (!omitted(f, of) && json_object_set_new(o, f->key, usk_field_put(c, f, of))) {
			usk_json_had(NULL);
		}
	}
	return o;
}

/* ---- and back ----------------------------------------------------------------------------------
 */

static void get_rate(struct reader *r, const struct place *at, const json_t *o,
		     const struct usk_field *f, int64_t *out)
{
	double ppm = usk_json_number(r, at, o, f->key, false);
	bool negative = f->kind == FIELD_RATE;
	if (!(ppm >= (negative ? -1e6 : 0) && ppm <= 1e6)) {
		usk_json_wrong(r, at, f->key, "is not between %s and 1,000,000",
			       negative ? "-1,000,000" : "0");
		return;
	}
	*out = (int64_t)llround(ppm * 1e6);
}

static void get_point(struct reader *r, const struct place *at, const json_t *row,
		      struct usk_point *p)
{
	if (json_array_size(row) != 2) {
		usk_json_wrong(r, at, NULL, "is not a pair of local time and offset");
		return;
	}
	p->local_ns = usk_json_ns_value(r, at, NULL, json_array_get(row, 0), USK_TIME_MAX, false);
	p->offset_ns = usk_json_ns_value(r, at, NULL, json_array_get(row, 1), USK_TIME_MAX, false);
}

/* Grows as rows turn out well, so that memory follows what is there. */
static void get_list(struct reader *r, const struct place *up, const json_t *a,
		     const struct usk_field *f, void *of)
{
	void **out = (void **)((char *)of + f->at);
	size_t *n = (size_t *)((char *)of + f->n_at), cap = 0;
	size_t size = f->kind == FIELD_TEXTS	? sizeof(char *)
		      : f->kind == FIELD_CLOCKS ? sizeof(uint32_t)
		      : f->kind == FIELD_POINTS ? sizeof(struct usk_point)
						: f->size;
	struct place list = { up, f->key, 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *v = json_array_get(a, i);
		*out = usk_room(*out, *n, &cap, size);
		void *row = memset((char *)*out + *n * size, 0, size);
		++*n;
		if (f->kind == FIELD_ROWS) {
			usk_fields_get(r, &at, v, f->fields, row);
		} else if (f->kind == FIELD_POINTS) {
			get_point(r, &at, v, row);
		} else if (f->kind == FIELD_CLOCKS) {
			*(uint32_t *)row = usk_json_clock_value(r, &at, NULL, v);
		} else {
			if (!json_is_string(v)) {
				usk_json_wrong(r, &at, NULL, "is not a string");
			}
			*(char **)row = usk_strdup(json_is_string(v) ? json_string_value(v) : "");
		}
	}
}

/* What a struct that is all 0 holds where others wrote nothing. */
static void miss(const struct usk_field *f, void *of)
{
	void *at = (char *)of + f->at;
	if (f->kind == FIELD_TIME_OR_NULL || f->kind == FIELD_SPAN_OR_NULL) {
		*(int64_t *)at = USK_NONE;
	} else if (f->kind == FIELD_NUMBER) {
		*(double *)at = NAN;
	} else if (f->kind == FIELD_CLOCK_OR_NULL) {
		*(uint32_t *)at = USK_NO_CLOCK;
	}
	for (const struct usk_field *g = f->kind == FIELD_OBJECT ? f->fields : NULL; g && g->key;
	     g++) {
		miss(g, at);
	}
}

void usk_field_get(struct reader *r, const struct place *up, const json_t *o,
		   const struct usk_field *f, void *of)
{
	const json_t *v = json_object_get(o, f->key);
	void *at = (char *)of + f->at;
	struct place here = { up, f->key, 0 };
	if (!v && f->flags & FIELD_MAY_MISS) {
		miss(f, of);
		return;
	}
	switch (f->kind) {
	case FIELD_TIME:
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		*(int64_t *)at =
			usk_json_ns_value(r, up, f->key, usk_json_get(r, up, o, f->key),
					  f->kind == FIELD_SPAN_OR_NULL ? INT64_MAX : USK_TIME_MAX,
					  f->kind != FIELD_TIME);
		break;
	case FIELD_RATE:
	case FIELD_WANDER:
		get_rate(r, up, o, f, at);
		break;
	case FIELD_NUMBER:
		*(double *)at = usk_json_number(r, up, o, f->key, true);
		break;
	case FIELD_COUNT:
		*(uint64_t *)at = usk_json_count(r, up, o, f->key);
		break;
	case FIELD_SMALL: {
		uint64_t n = usk_json_count(r, up, o, f->key);
		*(uint32_t *)at = (uint32_t)n;
		if (n > UINT32_MAX) {
			usk_json_wrong(r, up, f->key, "is 2^32 or more");
		}
		break;
	}
	case FIELD_BOOL:
		if (!json_is_boolean(usk_json_get(r, up, o, f->key))) {
			usk_json_wrong(r, up, f->key, "is neither true nor false");
		}
		*(bool *)at = json_is_true(v);
		break;
	case FIELD_TEXT:
		*(char **)at = usk_json_string(r, up, o, f->key);
		break;
	case FIELD_QUALITY:
		*(enum usk_quality *)at = usk_json_quality(r, up, o);
		break;
	case FIELD_CLOCK:
	case FIELD_CLOCK_OR_NULL:
		*(uint32_t *)at = json_is_null(v) && f->kind == FIELD_CLOCK_OR_NULL
					  ? USK_NO_CLOCK
					  : usk_json_clock_value(r, up, f->key,
								 usk_json_get(r, up, o, f->key));
		break;
	case FIELD_OBJECT:
		usk_fields_get(r, &here, usk_json_object(r, up, o, f->key), f->fields, at);
		break;
	case FIELD_OWN:
		if (f->get) {
			f->get(r, up, o, of);
		}
		break;
	case FIELD_TEXTS:
	case FIELD_CLOCKS:
	case FIELD_POINTS:
	case FIELD_ROWS:
		get_list(r, up, usk_json_array(r, up, o, f->key), f, of);
		break;
	}
}

void usk_fields_get(struct reader *r, const struct place *at, const json_t *o,
		    const struct usk_field *f, void *of)
{
	for (; f->key && !r->status; f++) {
		usk_field_get(r, at, o, f, of);
	}
}
