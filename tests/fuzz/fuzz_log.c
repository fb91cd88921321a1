/* SPDX-License-Identifier: MIT */
/*
 * The first byte chooses where stamps are, the others are a log: a stamp lies within its line,
 * another time in its place is read again as that time, in the same bytes, and every other byte
 * stays.
 */
#include "found.h"
#include "cli/log_place.h"
#include "cli/log_stamp.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define YEAR (INT64_C(366) * 86400 * 1000000000)
#define WHEN INT64_C(1795341600000000000)

static const struct log_place places[] = {
	{ .field = 0 },	 { .field = 2 },	{ .field = 3, .separator = ',' },
	{ .key = "ts" }, { .key = "log.time" }, { .column = "when", .separator = ',' },
};

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

static bool find(struct log_scan *c, const struct log_place *p, const char *s, size_t n,
		 struct log_stamp *at)
{
	size_t from, end;
	bool there;
	int64_t field = p->field;
	if (p->column) {
		field = log_column(s, n, p->column, p->separator);
	}
	if (!field && !p->key) {
		return log_find(c, s, n, at);
	}
	there = p->key ? log_key(s, n, p->key, &from, &end)
		       : log_field(s, n, field, p->separator, &from, &end);
	need(!there || (from <= end && end <= n));
	return there && log_find_at(c, s, from, n, at);
}

/* As the first did: what the second says is the same but for what a stamp of that form cannot. */
static void check(struct log_scan *c, const char *s, size_t n, const struct log_stamp *at)
{
	static const int64_t by[] = { 0, 1, -1, 999999999, INT64_C(-86400000000000), 7250000123 };
	fuzz_found((uint64_t)at->ns);
	fuzz_found((uint64_t)at->unit_ns ^ at->at << 32 ^ at->n << 16 ^ at->form);
	need(at->n > 0 && at->at <= n && at->n <= n - at->at && at->unit_ns > 0);
	for (size_t i = 0; i < COUNT(by); i++) {
		struct log_stamp again;
		int64_t ns = usk_saturate((usk_i128)at->ns + by[i]);
		char *copy = usk_alloc(n, 1);
		memcpy(copy, s, n);
		if (!log_write(c, at, ns, copy)) {
			need(!memcmp(copy, s, n));
		} else {
			need(!memcmp(copy, s, at->at));
			fuzz_found_bytes(copy + at->at, at->n);
			need(!memcmp(copy + at->at + at->n, s + at->at + at->n,
				     n - at->at - at->n));
			need(log_find_at(c, copy, at->at, n, &again));
			need(again.at == at->at && again.n == at->n && again.form == at->form);
			need(usk_clamp((usk_i128)again.ns - ns, -at->unit_ns, at->unit_ns) ==
			     (usk_i128)again.ns - ns);
		}
		free(copy);
	}
}

/* Every row of the table reads its own example, whole, and no row before it does. */
static void check_examples(void)
{
	const char *example;
	for (size_t form = 0; (example = log_form_example(form)); form++) {
		struct log_scan c;
		struct log_stamp at;
		log_scan_begin(&c, WHEN - YEAR, WHEN + YEAR, 0);
		need(log_find(&c, example, strlen(example), &at));
		need(at.form == form && at.at == 0 && at.n == strlen(example));
		need(at.ns / 1000000000 == WHEN / 1000000000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool checked;
	struct log_scan c;
	const char *s = (const char *)data + 1;
	if (!checked) {
		check_examples();
		checked = true;
	}
	if (!size) {
		return 0;
	}
	const struct log_place *p = &places[data[0] % COUNT(places)];
	log_scan_begin(&c, WHEN - YEAR, WHEN + YEAR, data[0] & 0x80 ? 3600 : 0);
	c.separator = p->separator;
	for (size_t n, left = size - 1; left; s += n, left -= n) {
		const char *end = memchr(s, '\n', left);
		struct log_stamp at;
		size_t used = end ? (size_t)(end - s) : left;
		n = end ? used + 1 : used;
		/* A copy of its own, so that reading past the line is seen. */
		char *line = usk_alloc(used, 1);
		memcpy(line, s, used);
		if (find(&c, p, line, used, &at) && at.ns > WHEN - YEAR / 3 &&
		    at.ns < WHEN + YEAR / 3) {
			check(&c, line, used, &at);
		}
		free(line);
	}
	return 0;
}
