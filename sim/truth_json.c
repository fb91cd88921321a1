/* SPDX-License-Identifier: MIT */
/*
 * truth_json.c - truth.json: what every clock read at moments of true time, and where it jumped
 */
#include "sim.h"

#include <stdlib.h>

#define STEPS 1000

/* Both ends, a grid between, both sides of every jump; sorted, each once. */
static int64_t *moments(const struct sim_truth *t, size_t *n_out)
{
	size_t n = STEPS + 1, kept = 0;
	for (size_t k = 0; k < t->n; k++) {
		n += 2 * t->clock[k].n_jumps;
	}
	int64_t *at = usk_alloc(n, sizeof *at);
	usk_i128 span = t->end_ns - t->start_ns;
	for (n = 0; n <= STEPS; n++) {
		at[n] = t->start_ns + (int64_t)(span * (int64_t)n / STEPS);
	}
	for (size_t k = 0; k < t->n; k++) {
		for (size_t i = 0; i < t->clock[k].n_jumps; i++) {
			const struct sim_jump *j = &t->clock[k].jump[i];
			at[n++] = j->true_ns - (j->still_ns ? j->still_ns : 1);
			at[n++] = j->true_ns;
		}
	}
	qsort(at, n, sizeof *at, usk_by_int64);
	for (size_t i = 0; i < n; i++) {
		bool inside = at[i] >= t->start_ns && at[i] <= t->end_ns;
		if (inside && (!kept || at[i] != at[kept - 1])) {
			at[kept++] = at[i];
		}
	}
	*n_out = kept;
	return at;
}

static void put_jumps(struct usk_output *out, const struct sim_truth *t)
{
	bool any = false;
	for (size_t k = 0; k < t->n; k++) {
		for (size_t i = 0; i < t->clock[k].n_jumps; i++) {
			const struct sim_jump *j = &t->clock[k].jump[i];
			usk_output_format(out,
					  "%s\n    {\"clock\": \"%s\", \"true_ns\": \"%lld\", "
					  "\"size_ns\": \"%lld\"}",
					  any ? "," : "", t->name[k], (long long)j->true_ns,
					  (long long)j->size_ns);
			any = true;
		}
	}
	usk_output_format(out, "%s", any ? "\n  " : "");
}

enum usk_status sim_truth_json(const char *path, bool force, const struct sim_truth *t,
			       struct usk_err *err)
{
	struct usk_output out;
	enum usk_status status = usk_output_open(&out, path, force, err);
	if (status) {
		return status;
	}
	size_t n;
	int64_t *at = moments(t, &n);
	usk_output_format(&out, "{\n  \"unskew_truth\": 1,\n  \"seed\": \"%llu\",\n",
			  (unsigned long long)t->seed);
	usk_output_format(&out, "  \"options\": %s,\n  \"true_ns\": [", t->options);
	for (size_t i = 0; i < n; i++) {
		usk_output_format(&out, "%s\"%lld\"", i ? "," : "", (long long)at[i]);
	}
	usk_output_format(&out, "],\n  \"clock_ns\": {");
	for (size_t k = 0; k < t->n; k++) {
		usk_output_format(&out, "%s\n    \"%s\": [", k ? "," : "", t->name[k]);
		for (size_t i = 0; i < n; i++) {
			usk_output_format(&out, "%s\"%lld\"", i ? "," : "",
					  (long long)sim_clock_read(&t->clock[k], at[i]));
		}
		usk_output_format(&out, "]");
	}
	usk_output_format(&out, "\n  },\n  \"jumps\": [");
	put_jumps(&out, t);
	usk_output_format(&out, "],\n  \"broadcasts\": %s%s%s\n}\n", t->broadcasts ? "\"" : "",
			  t->broadcasts ? t->broadcasts : "null", t->broadcasts ? "\"" : "");
	free(at);
	return usk_output_commit(&out, err);
}
