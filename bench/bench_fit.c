/* SPDX-License-Identifier: MIT */
/*
 * bench_fit - messages a second from an array to a corridor, and its band and estimate
 *
 * In    [messages], default 10 million over 1,000 s, both directions, 50 us + Exp(50 us)
 * Out   a line per order of arrival: messages/s, best of five; a walk that sums them beside it
 */
#include "base/base.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_arrival(const void *pa, const void *pb)
{
	/* true time: a's stamps are, b's are 20 ppm fast */
	const struct usk_msg *a = pa, *b = pb;
	int64_t x = a->received_ns - (a->to ? a->received_ns / 50001 : 0);
	int64_t y = b->received_ns - (b->to ? b->received_ns / 50001 : 0);
	return (x > y) - (x < y);
}

static int64_t whole(const struct usk_msg *msg, size_t n, uint64_t *hull)
{
	struct usk_frame f = { .local_ns = msg[0].received_ns,
			       .rate_e12 = -20000000,
			       .kappa_e12 = 400000,
			       .window_ns = USK_SECOND };
	struct usk_corridor *c = usk_corridor_new(&f);
	for (size_t i = 0; i < n; i += 4096) {
		struct usk_err err;
		if (usk_corridor_add(c, 0, 1, msg + i, n - i < 4096 ? n - i : 4096, &err)) {
			fprintf(stderr, "bench_fit: %s\n", err.msg);
			exit(1);
		}
	}
	struct usk_lines *l = usk_lines_new(c, 0, 0, 500000000);
	struct usk_fit fit = { .corridor = c,
			       .lines = l,
			       .max_skew_e12 = 500000000,
			       .first_local_ns = msg[0].received_ns,
			       .last_local_ns = msg[n - 1].received_ns };
	struct usk_clock clock = { .quality = USK_ABSENT };
	usk_graph_alone(&fit, &clock);
	if (!clock.n_knots) {
		fprintf(stderr, "bench_fit: no answer\n");
		exit(1);
	}
	int64_t half = usk_band_widths(&clock).best_ns;
	*hull = clock.n_knots;
	free(clock.knot);
	usk_lines_free(l);
	usk_corridor_free(c);
	return half;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 10000000;
	if (n < 1000) {
		fprintf(stderr, "bench_fit: at least 1000 messages\n");
		return 2;
	}
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	struct usk_msg *msg = usk_alloc(n, sizeof *msg);
	for (size_t i = 0; i < n; i++) { /* in order of b's stamps */
		int64_t x = (int64_t)((usk_u128)1000000000000 * i / n), y = x + x / 50000;
		int64_t d = 50000 + (int64_t)usk_rng_exponential(&r, 50000);
		msg[i] = usk_rng_below(&r, 2) ? (struct usk_msg){ x - d, y, 0, 1, 0 }
					      : (struct usk_msg){ y, x + d, 1, 0, 0 };
	}
	for (int order = 0; order < 2; order++) {
		if (order) {
			qsort(msg, n, sizeof *msg, by_arrival);
		}
		double best = 1e9, walk = 1e9;
		int64_t half = 0, sum = 0;
		uint64_t knots = 0;
		for (int round = 0; round < 5; round++) {
			double t0 = now();
			for (size_t i = 0; i < n; i++) {
				sum += msg[i].received_ns - msg[i].sent_ns;
			}
			double t1 = now();
			half = whole(msg, n, &knots);
			double t2 = now();
			walk = t1 - t0 < walk ? t1 - t0 : walk;
			best = t2 - t1 < best ? t2 - t1 : best;
		}
		printf("fit, %s: %.1f million messages/s, %.1f times a walk over them; "
		       "%" PRIu64 " knots, half width %" PRId64 " ns%s\n",
		       order ? "by arrival" : "sorted", (double)n / best / 1e6, best / walk, knots,
		       half, sum == 1 ? " " : "");
	}
	free(msg);
	return 0;
}
