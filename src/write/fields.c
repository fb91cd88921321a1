/* SPDX-License-Identifier: MIT */
#include "write/fields.h"
#include "write/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- structs to JSON ---------------------------------------------------------------------------
 */

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

static void put_number(struct usk_json_out *o, double v, int digits)
{
	usk_json_put(o, number(v, digits));
}

/* Parts per 10^12 in ppm. */
static void put_rate(struct usk_json_out *o, int64_t v)
{
	const uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	if (!v || (size >= 100 && size < UINT64_C(1000000000000000))) {
		usk_json_put_millionths(o, v);
	} else { /* exact: an integer below 2^53 over 10^6 has at most 15 digits */
		put_number(o, (double)v / 1e6, 15);
	}
}

static void put_clock(struct usk_json_out *o, const struct usk_clocks *c, uint32_t i)
{
	usk_json_put_text(o, i < c->n_clocks ? c->clock[i].name : "");
}

static void put_point(struct usk_json_out *o, const void *ctx)
{
	const struct usk_point *p = ctx;
	usk_json_item(o);
	usk_json_put_ns(o, p->local_ns);
	usk_json_item(o);
	usk_json_put_ns(o, p->offset_ns);
}

/* What is put, and the fields that say how. */
struct putting {
	const struct usk_clocks *c;
	const struct usk_field *f;
	const void *of;
};

static void put_items(struct usk_json_out *o, const void *ctx)
{
	const struct putting *p = ctx;
	const struct usk_field each = { .kind = p->f->each, .fields = p->f->fields };
	const size_t n = *(const size_t *)((const char *)p->of + p->f->n_at);
	const char *at = *(const char *const *)((const char *)p->of + p->f->at);
	for (size_t i = 0; i < n; i++) {
		usk_json_item(o);
		usk_field_put(o, p->c, &each, at + i * p->f->size);
	}
}

static void put_list(struct usk_json_out *o, const struct usk_clocks *c, const struct usk_field *f,
		     const void *of)
{
	const struct putting p = { c, f, of };
	usk_json_put_list(o, (struct usk_json_inner){ put_items, &p });
}

void usk_field_put(struct usk_json_out *o, const struct usk_clocks *c, const struct usk_field *f,
		   const void *of)
{
	const void *at = (const char *)of + f->at;
	switch (f->kind) {
	case FIELD_TIME:
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		usk_json_put_ns(o, *(const int64_t *)at);
		break;
	case FIELD_POINT:
		usk_json_put_list(o, (struct usk_json_inner){ put_point, at });
		break;
	case FIELD_OBJECT:
		usk_fields_put(o, c, f->fields, at);
		break;
	case FIELD_LIST:
		put_list(o, c, f, of);
		break;
	case FIELD_OWN:
		f->put(o, c, of);
		break;
	case FIELD_RATE:
	case FIELD_WANDER:
		put_rate(o, *(const int64_t *)at);
		break;
	case FIELD_NUMBER:
		put_number(o, *(const double *)at, 9);
		break;
	case FIELD_COUNT:
		usk_json_put_integer(o, *(const int64_t *)at);
		break;
	case FIELD_SMALL:
		usk_json_put_integer(o, *(const uint32_t *)at);
		break;
	case FIELD_BOOL:
		usk_json_put(o, json_boolean(*(const bool *)at));
		break;
	case FIELD_TEXT:
		usk_json_put_text(o, *(char *const *)at);
		break;
	case FIELD_NAME:
		usk_json_put_text(o, f->name(*(const unsigned *)at));
		break;
	case FIELD_CLOCK:
		put_clock(o, c, *(const uint32_t *)at);
		break;
	case FIELD_CLOCK_OR_NULL:
		if (*(const uint32_t *)at < c->n_clocks) {
			put_clock(o, c, *(const uint32_t *)at);
		} else {
			usk_json_put(o, json_null());
		}
		break;
	}
}

static bool omitted(const struct usk_field *f, const void *of)
{
	const void *v = (const char *)of + f->at;
	if (!(f->flags & FIELD_OMIT)) {
		return false;
	}
	if (f->kind == FIELD_LIST) {
		return !*(const size_t *)((const char *)of + f->n_at);
	}
	if (f->kind == FIELD_COUNT || f->kind == FIELD_TIME || f->kind == FIELD_SPAN_OR_NULL) {
		return !*(const uint64_t *)v;
	}
	if (f->kind == FIELD_BOOL) {
		return !*(const bool *)v;
	}
	return *(const uint32_t *)v == (f->kind == FIELD_SMALL ? 0 : USK_NO_CLOCK);
}

static void put_members(struct usk_json_out *o, const void *ctx)
{
	const struct putting *p = ctx;
	for (const struct usk_field *f = p->f; f->key; f++) {
		if (!omitted(f, p->of)) {
			usk_json_member(o, f->key);
			usk_field_put(o, p->c, f, p->of);
		}
	}
}

void usk_fields_put(struct usk_json_out *o, const struct usk_clocks *c, const struct usk_field *f,
		    const void *of)
{
	const struct putting p = { c, f, of };
	usk_json_put_object(o, (struct usk_json_inner){ put_members, &p });
}

/* ---- and back ----------------------------------------------------------------------------------
 */

/* A decimal string, or null where that is allowed. */
static int64_t get_ns(struct reader *r, const struct place *at, const char *key, const json_t *v,
		      enum usk_field_kind kind)
{
	const uint64_t limit = kind == FIELD_SPAN_OR_NULL ? INT64_MAX : USK_TIME_MAX;
	const bool nullable = kind != FIELD_TIME;
	if (json_is_null(v) && nullable) {
		return USK_NONE;
	}
	const char *s = json_string_value(v);
	size_t n = json_string_length(v), digits = s && s[0] == '-' ? 1 : 0;
	uint64_t size = 0;
	bool good = s && n > digits && n - digits <= 19;
	for (size_t i = digits; good && i < n; i++) {
		good = s[i] >= '0' && s[i] <= '9';
		size = size * 10 + (uint64_t)(s[i] - '0');
	}
	if (!good) {
		usk_json_wrong(r, at, key, "is not a whole number of ns in a string%s",
			       nullable ? " or null" : "");
	} else if (size > limit) {
		usk_json_wrong(r, at, key, "is more than 2^%d ns", limit > USK_TIME_MAX ? 63 : 62);
	}
	return r->status ? 0 : digits ? -(int64_t)size : (int64_t)size;
}

static int64_t get_rate(struct reader *r, const struct place *at, const json_t *o,
			const struct usk_field *f)
{
	double ppm = usk_json_number(r, at, o, f->key, false);
	bool negative = f->kind == FIELD_RATE;
	if (!(ppm >= (negative ? -1e6 : 0) && ppm <= 1e6)) {
		usk_json_wrong(r, at, f->key, "is not between %s and 1,000,000",
			       negative ? "-1,000,000" : "0");
		return 0;
	}
	return (int64_t)llround(ppm * 1e6);
}

static unsigned get_name(struct reader *r, const struct place *at, const json_t *o,
			 const struct usk_field *f)
{
	char *name = usk_json_string(r, at, o, f->key);
	unsigned v = 0;
	while (v < f->last && strcmp(name, f->name(v))) {
		v++;
	}
	if (strcmp(name, f->name(v))) {
		usk_json_wrong(r, at, f->key, f->otherwise, name);
	}
	free(name);
	return v;
}

/* Its index. */
static uint32_t get_clock(struct reader *r, const struct place *at, const char *key,
			  const json_t *v)
{
	const char *name = json_string_value(v);
	const struct clock_name *found = name && r->name ? bsearch(&name, r->name, r->c->n_clocks,
								   sizeof *r->name, usk_by_string)
							 : NULL;
	if (!name) {
		usk_json_wrong(r, at, key, "is not a clock's name");
	} else if (!found) {
		usk_json_wrong(r, at, key,
			       "names the clock \"%.60s\", which is not among the clocks", name);
	}
	return found ? found->index : 0;
}

static void get_point(struct reader *r, const struct place *at, const json_t *row,
		      struct usk_point *p)
{
	if (json_array_size(row) != 2) {
		usk_json_wrong(r, at, NULL, "is not a pair of local time and offset");
		return;
	}
	p->local_ns = get_ns(r, at, NULL, json_array_get(row, 0), FIELD_TIME);
	p->offset_ns = get_ns(r, at, NULL, json_array_get(row, 1), FIELD_TIME);
}

/* Grows as rows turn out well, so that memory follows what is there. */
static void get_list(struct reader *r, const struct place *up, const json_t *a,
		     const struct usk_field *f, void *of)
{
	void **out = (void **)((char *)of + f->at);
	size_t *n = (size_t *)((char *)of + f->n_at), cap = 0;
	struct place list = { up, f->key, 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *v = json_array_get(a, i);
		*out = usk_room(*out, *n, &cap, f->size);
		void *row = memset((char *)*out + *n * f->size, 0, f->size);
		++*n;
		if (f->each == FIELD_OBJECT) {
			usk_fields_get(r, &at, v, f->fields, row);
		} else if (f->each == FIELD_POINT) {
			get_point(r, &at, v, row);
		} else if (f->each == FIELD_CLOCK) {
			*(uint32_t *)row = get_clock(r, &at, NULL, v);
		} else if (json_is_string(v)) {
			*(char **)row = usk_strdup(json_string_value(v));
		} else {
			usk_json_wrong(r, &at, NULL, "is not a string");
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

/* v is there. */
static void get(struct reader *r, const struct place *up, const json_t *o, const json_t *v,
		const struct usk_field *f, void *of)
{
	void *at = (char *)of + f->at;
	struct place here = { up, f->key, 0 };
	switch (f->kind) {
	case FIELD_TIME:
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		*(int64_t *)at = get_ns(r, up, f->key, v, f->kind);
		break;
	case FIELD_RATE:
	case FIELD_WANDER:
		*(int64_t *)at = get_rate(r, up, o, f);
		break;
	case FIELD_NUMBER:
		*(double *)at = usk_json_number(r, up, o, f->key, true);
		break;
	case FIELD_COUNT:
		*(uint64_t *)at = usk_json_count(r, up, o, f->key);
		break;
	case FIELD_SMALL:
		*(uint32_t *)at = (uint32_t)usk_json_count(r, up, o, f->key);
		if (json_integer_value(v) > UINT32_MAX) {
			usk_json_wrong(r, up, f->key, "is 2^32 or more");
		}
		break;
	case FIELD_BOOL:
		*(bool *)at = json_is_true(v);
		if (!json_is_boolean(v)) {
			usk_json_wrong(r, up, f->key, "is neither true nor false");
		}
		break;
	case FIELD_TEXT:
		*(char **)at = usk_json_string(r, up, o, f->key);
		break;
	case FIELD_NAME:
		*(unsigned *)at = get_name(r, up, o, f);
		break;
	case FIELD_CLOCK:
	case FIELD_CLOCK_OR_NULL:
		*(uint32_t *)at = json_is_null(v) && f->kind == FIELD_CLOCK_OR_NULL
					  ? USK_NO_CLOCK
					  : get_clock(r, up, f->key, v);
		break;
	case FIELD_POINT:
		get_point(r, &here, v, at);
		break;
	case FIELD_OBJECT:
		usk_fields_get(r, &here, usk_json_object(r, up, o, f->key), f->fields, at);
		break;
	case FIELD_LIST:
		get_list(r, up, usk_json_array(r, up, o, f->key), f, of);
		break;
	case FIELD_OWN:
		break;
	}
}

void usk_field_get(struct reader *r, const struct place *up, const json_t *o,
		   const struct usk_field *f, void *of)
{
	if (f->kind == FIELD_OWN) {
		if (f->get) {
			f->get(r, up, o, of);
		}
	} else if (f->flags & FIELD_MAY_MISS && !json_object_get(o, f->key)) {
		miss(f, of);
	} else {
		const json_t *v = usk_json_get(r, up, o, f->key);
		if (v) {
			get(r, up, o, v, f, of);
		}
	}
}

void usk_fields_get(struct reader *r, const struct place *at, const json_t *o,
		    const struct usk_field *f, void *of)
{
	for (; f->key && !r->status; f++) {
		usk_field_get(r, at, o, f, of);
	}
}

void usk_fields_free(const struct usk_field *f, void *of)
{
	for (; f->key; f++) {
		void *at = (char *)of + f->at;
		if (f->kind == FIELD_OBJECT) {
			usk_fields_free(f->fields, at);
		} else if (f->kind == FIELD_TEXT) {
			free(*(char **)at);
		} else if (f->kind == FIELD_LIST) {
			const size_t n = *(const size_t *)((char *)of + f->n_at);
			const struct usk_field row[] = { { "", f->each, .fields = f->fields },
							 { .key = NULL } };
			for (size_t i = 0; i < n; i++) {
				usk_fields_free(row, *(char **)at + i * f->size);
			}
			free(*(void **)at);
		}
	}
}
