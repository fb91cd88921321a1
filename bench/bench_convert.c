/* SPDX-License-Identifier: MIT */
/*
 * bench_convert - stamps converted a second, beside a memcpy of the same array
 *
 * In    [stamps] [knots], default 20 million sorted stamps over 1,000 s and 64 knots
 * Out   one line: stamps/s, best of five; the ratio to memcpy in the same run
 */
#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 20000000;
	size_t n_knots = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 64;
	const int64_t start = INT64_C(1700000000000000000), span = INT64_C(1000000000000);
	if (!n || n_knots < 2) {
		fprintf(stderr, "bench_convert: at least 1 stamp and 2 knots\n");
		return 2;
	}
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	struct usk_knot *knot = usk_alloc(n_knots, sizeof *knot);
	for (size_t i = 0; i < n_knots; i++) {
		knot[i].local_ns = start + span / (int64_t)(n_knots - 1) * (int64_t)i;
		/* -21 ppm, wandering by less than a microsecond */
		knot[i].offset_ns = -957333333 - (knot[i].local_ns - start) / 1000000 * 21 +
				    (int64_t)usk_rng_below(&r, 1000);
	}
	struct usk_clock clock = { .knot = knot, .n_knots = n_knots };
	struct usk_map *map = usk_map_new(&clock, 500000000);
	int64_t *in = usk_alloc(n, sizeof *in), *out = usk_alloc(n, sizeof *out);
	for (size_t i = 0; i < n; i++) {
		in[i] = start + (int64_t)((usk_u128)span * i / n) + (int64_t)usk_rng_below(&r, 50);
	}
	memset(out, 1, n * sizeof *out); /* touch the pages before the clock runs */
	double best = 1e9, copy = 1e9;
	for (int round = 0; round < 5; round++) {
		double t0 = now();
		memcpy(out, in, n * sizeof *out);
		double t1 = now();
		struct usk_err err = { 0 };
		if (usk_map_many(map, in, n, out, &err)) {
			fprintf(stderr, "bench_convert: %s\n", err.msg);
			return 1;
		}
		double t2 = now();
		copy = t1 - t0 < copy ? t1 - t0 : copy;
		best = t2 - t1 < best ? t2 - t1 : best;
	}
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum = usk_mix(sum ^ (uint64_t)out[i]);
	}
	printf("convert: %.0f million stamps/s, %.2f times as long as memcpy (%.0f million/s), "
	       "%zu knots, checksum %016" PRIx64 "\n",
	       (double)n / best / 1e6, best / copy, (double)n / copy / 1e6, n_knots, sum);
	usk_map_free(map);
	free(knot);
	free(in);
	free(out);
	return 0;
}
