/* SPDX-License-Identifier: MIT */
/*
 * fuzz_clocks - any bytes as clocks.json: a sentence, or a table that can be written, read again,
 * applied without a stamp going back, and made into a page
 */
#include "found.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

static void apply(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		struct usk_map *m = usk_map_new(&c->clock[i], c->max_skew_e12);
		for (size_t k = 0; m && k < c->clock[i].n_knots; k++) {
			int64_t x = c->clock[i].knot[k].local_ns, t;
			struct usk_stamp s;
			if (!usk_map_at(m, x, &s, NULL) && s.reference_ns != USK_NONE &&
			    (usk_map_many(m, &x, 1, &t, NULL) || t != s.reference_ns)) {
				abort();
			}
		}
		usk_map_free(m);
	}
}

static void report(const struct usk_clocks *c)
{
	struct usk_output out;
	struct usk_summary s;
	const struct usk_page page = { .clocks = c, .summary = &s, .title = "", .answer = "" };
	usk_summary_alone(&s, c);
	if (!usk_output_open(&out, "/dev/null", true, NULL)) {
		usk_page_data(&out, &page);
		usk_output_close(&out);
	}
	usk_summary_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_clocks *c = NULL, *d = NULL;
	struct usk_err err = { 0 };
	if (usk_clocks_from_json((const char *)data, size, &c, &err)) {
		if (!err.msg[0]) {
			abort();
		}
		fuzz_found(err.at);
		return 0;
	}
	char *once = usk_clocks_to_json(c);
	if (usk_clocks_from_json(once, strlen(once), &d, NULL)) {
		abort();
	}
	char *twice = usk_clocks_to_json(d);
	if (strcmp(once, twice) != 0) {
		abort();
	}
	fuzz_found_text(once);
	apply(c);
	report(c);
	free(once);
	free(twice);
	usk_clocks_free(c);
	usk_clocks_free(d);
	return 0;
}
