/* SPDX-License-Identifier: MIT */
/*
 * bench_live.c - what converting a stamp of another clock costs now, beside reading one; with a
 * writer that changes the map as fast as it can, and is any map torn?
 *
 * bench_live [SECONDS] - of the writer, 10 unless told otherwise
 */
#include "base/base.h"
#include "unskew_clock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Map number k: all its words follow from k, and so do its answers. */
static struct usk_live_map numbered(int64_t k)
{
	return (struct usk_live_map){ .remote = -k,
				      .local_2 = 8 * k,
				      .jitter_2 = 2 * k,
				      .conv = UINT64_C(1) << 56,
				      .max_age = INT64_MAX / 4 };
}

struct writer {
	struct usk_live *page;
	atomic_bool stop;
	uint64_t maps;
};

static void *write_maps(void *ctx)
{
	struct writer *w = ctx;
	while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		struct usk_live_map m = numbered((int64_t)(w->maps++ % 1000000));
		usk_live_publish(w->page, &m, NULL);
	}
	return NULL;
}

/* ns for each of n conversions. */
static double convert(const struct usk_live *l, int64_t n, uint64_t *torn, int64_t least)
{
	int64_t start = now_ns();
	for (int64_t i = 0; i < n; i++) {
		struct usk_live_time t;
		if (usk_live_convert(l, 0, &t) == USK_LIVE &&
		    (t.local % 5 || t.precision - least != t.local / 5)) {
			++*torn;
		}
	}
	return (double)(now_ns() - start) / (double)n;
}

int main(int argc, char **argv)
{
	enum { BATCHES = 300, MANY = 100000, SOME = 1000000 };
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	char path[] = "/dev/shm/unskew-live.XXXXXX";
	struct usk_err err;
	struct writer w = { .maps = 1 };
	int fd = mkstemp(path);
	if (fd < 0 || usk_live_create(path, &w.page, &err)) {
		fputs("bench_live: no shared memory\n", stderr);
		return 1;
	}
	close(fd);
	struct usk_live_map m = numbered(0);
	struct usk_live_time t;
	usk_live_publish(w.page, &m, NULL);
	usk_live_convert(w.page, 0, &t);
	int64_t least = t.precision, sum = 0;
	uint64_t torn = 0;
	/* The fastest of many: others may be at work on this machine. */
	double quiet = 1e9, clock = 1e9;
	for (int batch = 0; batch < BATCHES; batch++) {
		double took = convert(w.page, MANY, &torn, least);
		quiet = took < quiet ? took : quiet;
		int64_t start = now_ns();
		for (int i = 0; i < MANY; i++) {
			sum += now_ns();
		}
		took = (double)(now_ns() - start) / MANY;
		clock = took < clock ? took : clock;
	}
	printf("usk_live_convert(): %.1f ns, clock_gettime(): %.1f ns: %.2f of it%s\n", quiet,
	       clock, quiet / clock, sum ? "" : ".");
	pthread_t thread;
	if (pthread_create(&thread, NULL, write_maps, &w)) {
		return 1;
	}
	int64_t until = now_ns() + (int64_t)(seconds * 1e9), n = 0;
	double busy = 0;
	while (now_ns() < until) {
		busy += convert(w.page, SOME, &torn, least);
		n++;
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	printf("%.0f s of a writer at full speed: %" PRIu64 " maps, %" PRId64
	       " million conversions of %.0f ns, %" PRIu64 " torn\n",
	       seconds, w.maps, n, n ? busy / (double)n : 0, torn);
	usk_live_close(w.page);
	unlink(path);
	return torn != 0;
}
