/* SPDX-License-Identifier: MIT */
/*
 * model.c - models by their names
 */
#include "fit/fit.h"
#include "base/text.h"

#include <string.h>

static const char *const names[] = {
	[USK_LINEAR] = "linear", [USK_WANDER] = "wander", [USK_SEGMENTS] = "segments"
};

/* The wander of a clock that a daemon steers, between its slews (doc/guarantees.md has the
 * measurements); quartz by itself keeps to 0.1 ppm (Ridoux and Veitch). */
#define DEFAULT_E12 INT64_C(5000000)
#define LEAST_KAPPA INT64_C(400000)
#define MOST_E12    INT64_C(1000000000)
/* How long Clement (2009) takes a rate for constant. */
#define SEGMENT_NS INT64_C(1800000000000)

const char *usk_model_name(enum usk_model_kind kind)
{
	return names[kind];
}

static enum usk_status parse_value(const char *value, struct usk_model *m, struct usk_err *err)
{
	size_t n = strlen(value);
	if (m->kind == USK_WANDER) {
		if (usk_parse_decimal(value, n, 6, &m->wander_e12, NULL, err) ||
		    m->wander_e12 < 0 || m->wander_e12 > MOST_E12) {
			return usk_fail(err, USK_EUSAGE, 0,
					"wander=%s is no rate from 0 to 1000 ppm", value);
		}
		m->kind = m->wander_e12 ? USK_WANDER : USK_LINEAR;
		return USK_OK;
	}
	if (!strcmp(value, "auto")) {
		m->segment_ns = 0;
	} else if (usk_parse_duration(value, n, &m->segment_ns, err) || m->segment_ns <= 0) {
		return usk_fail(err, USK_EUSAGE, 0,
				"segments=%s is neither a duration, such as 30min, nor auto",
				value);
	}
	return USK_OK;
}

enum usk_status usk_model_parse(const char *text, struct usk_model *out, struct usk_err *err)
{
	struct usk_model m = { .kind = USK_WANDER };
	const char *equals = text ? strchr(text, '=') : NULL;
	size_t n = equals ? (size_t)(equals - text) : text ? strlen(text) : 0;
	bool found = !text;
	for (size_t i = 0; i < COUNT(names) && !found; i++) {
		m.kind = (enum usk_model_kind)i;
		found = strlen(names[i]) == n && !strncmp(text, names[i], n);
	}
	if (!found || (equals && m.kind == USK_LINEAR)) {
		return usk_fail(err, USK_EUSAGE, 0, "there is no model \"%s\"; \"linear\" is one",
				text);
	}
	m.wander_e12 = m.kind == USK_WANDER ? DEFAULT_E12 : 0;
	m.segment_ns = m.kind == USK_SEGMENTS ? SEGMENT_NS : 0;
	enum usk_status status = equals ? parse_value(equals + 1, &m, err) : USK_OK;
	if (!status) {
		*out = m;
	}
	return status;
}

int64_t usk_model_kappa(const struct usk_model *m)
{
	return 4 * m->wander_e12 > LEAST_KAPPA ? 4 * m->wander_e12 : LEAST_KAPPA;
}
