/* SPDX-License-Identifier: MIT */
/*
 * bench_truth.c - what two simulated clocks read at any number of moments
 *
 * In    truth.json of `unskew simulate`, number of intervals
 * Out   a line per moment: true time, host0, host1
 * Why   truth.json has 1,001 moments; a clock that is slewed bends between them
 */
#include "../tests/sim/true_clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const name[2] = { "host0", "host1" };
	struct true_clocks truth = { 0 };
	char why[512] = "";
	long long n = argc == 3 ? atoll(argv[2]) : 0;
	if (n < 1) {
		fprintf(stderr, "usage: bench_truth TRUTH INTERVALS\n");
		return 2;
	}
	if (!true_clocks_read(argv[1], name, &truth, why)) {
		fprintf(stderr, "bench_truth: %s\n", why);
		return 1;
	}
	for (long long i = 0; i <= n; i++) {
		usk_i128 run = (usk_i128)(truth.end_ns - truth.start_ns) * i;
		int64_t at = truth.start_ns + (int64_t)(run / n);
		printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", at,
		       sim_clock_read(&truth.clock[0], at), sim_clock_read(&truth.clock[1], at));
	}
	true_clocks_free(&truth);
	return fclose(stdout) ? 1 : 0;
}
