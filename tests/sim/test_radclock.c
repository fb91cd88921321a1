/* SPDX-License-Identifier: MIT */
/*
 * test_radclock.c - a counter's rate from recorded NTP exchanges, against GPS stamps of its events
 *
 * In    the folder of recorded data, as the first argument
 * Out   how far each estimator's rate is from that of the GPS stamps
 *
 * The way there takes 12.7 ms, back 13.6: nothing can tell the offset better than that, but rates
 * are not harmed by delays that stay as they are.
 */
#include "fit/estimator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 2000 };

/* Ticks of the counter, 14,318,180 Hz by its data sheet. */
static int64_t counted(long long ticks)
{
	return (int64_t)((long double)ticks * (1e9L / 14318180));
}

/* Seconds with six decimals. */
static int64_t stamp(const char *text)
{
	long long s = 0, us = 0;
	return sscanf(text, "%lld.%6lld", &s, &us) == 2 ? s * 1000000000 + us * 1000 : 0;
}

static size_t read_stamps(FILE *f, struct usk_msg *msg, double *truth_ppm)
{
	char line[512], tb[64], te[64], first[64] = "", last[64] = "", tf[64];
	long long ta, tfc, first_ta = 0, last_ta = 0;
	size_t n = 0;
	while (n + 2 <= MOST && fgets(line, sizeof line, f)) {
		char at[64];
		if (sscanf(line, "%lld,%63[^,],%63[^,],%lld,%63[^,],%63s", &ta, tb, te, &tfc, at,
			   tf) != 6) {
			continue;
		}
		msg[n++] = (struct usk_msg){ counted(ta), stamp(tb), 1, 0, 0 };
		msg[n++] = (struct usk_msg){ stamp(te), counted(tfc), 0, 1, 0 };
		if (!first[0]) {
			memcpy(first, at, sizeof first);
			first_ta = ta;
		}
		memcpy(last, at, sizeof last);
		last_ta = ta;
	}
	double gps = (double)(stamp(last) - stamp(first));
	double local = (double)(counted(last_ta) - counted(first_ta));
	*truth_ppm = -1e6 * (gps - local) / local;
	return n;
}

static const struct {
	const char *name;
	double most_ppm;
} rows[] = {
	{ "round-trip", 0.1 },	   { "round-trip-90", 0.1 }, { "round-trip-99", 0.1 },
	{ "round-trip-100", 0.2 }, { "interval", 2 },	     { "rate-last", 1 },
	{ "rate-ratio", 2 },	   { "lp-rate", 2 },	     { "min-window", 3 },
	{ "rate-segments", 3 },
};

int main(int argc, char **argv)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/radclock-stratum1/stamps-clean.csv",
		 argc > 1 ? argv[1] : ".");
	FILE *f = fopen(path, "r");
	if (!f) {
		printf("skipped: no \"%s\" (meson option recorded_data)\n", path);
		return 77;
	}
	static struct usk_msg msg[MOST];
	double truth;
	size_t n = read_stamps(f, msg, &truth);
	fclose(f);
	if (n != MOST) {
		printf("%zu messages\n", n);
		return 1;
	}
	usk_msg_sort(msg, n, 1);
	/* The counter's zero is anywhere: the frame starts at the first message. */
	int64_t offset = 0;
	for (size_t i = 0; i < n && !offset; i++) {
		offset = msg[i].from == 1 ? msg[i].received_ns - msg[i].sent_ns : 0;
	}
	struct usk_frame frame = { msg[0].sent_ns, offset, 0, 400000, 0, false };
	struct usk_corridor *c = usk_corridor_new(&frame);
	int bad = usk_corridor_add(c, 0, 1, msg, n, NULL) != USK_OK;
	struct usk_lines *l = usk_lines_new(c, 0, 0, 500000000);
	struct usk_fit fit = { .corridor = c,
			       .lines = l,
			       .first_local_ns = msg[0].sent_ns,
			       .last_local_ns = msg[n - 1].received_ns,
			       .msg = msg,
			       .n_msgs = n,
			       .a = 0,
			       .b = 1 };

	struct usk_round_trips r;
	bad |= usk_round_trips_of(&fit, USK_Z_95, &r, NULL) != USK_OK || !r.by_local;
	double off = -1e6 * (double)r.slope - truth;
	printf("truth %.4f ppm; round trips %.4f, standard error %.4f ppm; Er %.0f us\n", truth,
	       -1e6 * (double)r.slope, 1e6 * r.s_slope, r.residual_ns / 1e3);
	bad |= r.exchanges != 1000 || r.kept < 900 || fabs(off) > 5e6 * r.s_slope;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct usk_knot *line;
		size_t n_line;
		struct usk_err err = { 0 };
		if (usk_estimator_run(usk_estimator_find(rows[i].name), &fit, &line, &n_line,
				      &err)) {
			printf("%s: %s\n", rows[i].name, err.msg);
			bad = 1;
			continue;
		}
		const struct usk_knot *from = &line[0], *to = &line[n_line - 1];
		double drift = -1e6 * (double)(to->offset_ns - from->offset_ns) /
			       (double)(to->local_ns - from->local_ns);
		printf("%s: %+.4f ppm off\n", rows[i].name, drift - truth);
		bad |= !(fabs(drift - truth) <= rows[i].most_ppm);
		free(line);
	}
	usk_lines_free(l);
	usk_corridor_free(c);
	return bad;
}
