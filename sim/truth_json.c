/* SPDX-License-Identifier: MIT */
/*
 * truth_json.c - truth.json: what every clock read at moments of true time
 */
#include "sim.h"

#define STEPS 1000

static int64_t moment(int64_t start_ns, int64_t end_ns, int i)
{
	return start_ns + (int64_t)((usk_i128)(end_ns - start_ns) * i / STEPS);
}

enum usk_status sim_truth_json(const char *path, bool force, uint64_t seed, const char *options,
			       int64_t start_ns, int64_t end_ns, const char *const *name,
			       const struct sim_clock *clock, size_t n, struct usk_err *err)
{
	struct usk_output out;
	enum usk_status status = usk_output_open(&out, path, force, err);
	if (status) {
		return status;
	}
	usk_output_format(&out, "{\n  \"unskew_truth\": 1,\n  \"seed\": \"%llu\",\n",
			  (unsigned long long)seed);
	usk_output_format(&out, "  \"options\": %s,\n  \"true_ns\": [", options);
	for (int i = 0; i <= STEPS; i++) {
		usk_output_format(&out, "%s\"%lld\"", i ? "," : "",
				  (long long)moment(start_ns, end_ns, i));
	}
	usk_output_format(&out, "],\n  \"clock_ns\": {");
	for (size_t k = 0; k < n; k++) {
		usk_output_format(&out, "%s\n    \"%s\": [", k ? "," : "", name[k]);
		for (int i = 0; i <= STEPS; i++) {
			int64_t at = moment(start_ns, end_ns, i);
			usk_output_format(&out, "%s\"%lld\"", i ? "," : "",
					  (long long)sim_clock_read(&clock[k], at));
		}
		usk_output_format(&out, "]");
	}
	usk_output_format(&out, "\n  },\n  \"jumps\": [],\n  \"broadcasts\": null\n}\n");
	return usk_output_commit(&out, err);
}
