/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "write/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

json_t *json_ns(int64_t ns)
{
	char text[32];
	if (ns == USK_NONE) {
		return json_null();
	}
	snprintf(text, sizeof text, "%" PRId64, ns);
	return json_string(text);
}

json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *json_shown(const char *text)
{
	char *shown = text ? usk_shown(text) : NULL;
	json_t *j = shown ? json_string(shown) : json_null();
	free(shown);
	return j;
}

json_t *json_list(char *const *text, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list, json_shown(text[i]));
	}
	return list;
}

json_t *json_violations(const struct usk_violations *v)
{
	return json_pack("{s:I,s:f,s:o,s:o}", "count", (json_int_t)v->count, "percent", v->percent,
			 "max_ns", json_ns(v->max_ns), "mean_ns", json_ns(v->mean_ns));
}

json_t *json_difference(const struct usk_difference *d)
{
	return json_pack("{s:I,s:o,s:o,s:o,s:o}", "count", (json_int_t)d->n, "min_ns",
			 json_ns(d->min_ns), "max_ns", json_ns(d->max_ns), "mean_ns",
			 json_ns(d->mean_ns), "sd_ns", json_ns(d->sd_ns));
}

void json_print(FILE *out, json_t *j, size_t flags)
{
	json_dumpf(j, out, flags);
	fputc('\n', out);
	json_decref(j);
}
