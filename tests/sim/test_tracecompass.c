/* SPDX-License-Identifier: MIT */
/*
 * test_tracecompass.c - what Trace Compass's own tests state of its convex hull algorithm
 *
 * In    the folder of recorded data, as the first argument: EXPECTED.md there has the messages and
 *       what comes out after each
 * Out   the same quality and the same line: the mean of the two extreme ones, rates and intercepts
 *       apart, while both are set by messages
 *
 * ACCURATE: messages set both extreme rates; APPROXIMATE: one of them; INCOMPLETE: none; FAIL: no
 * line fits. In the middle two Trace Compass draws a line of rate 1 that need not fit, and ours
 * takes the skew limit instead: there is nothing to compare.
 *
 * One step is stated to be ACCURATE though no line fits: after "t1 7 t2 4", with T(1) <= 3 and
 * T(5) >= 4 from before, the rate is 1/4 at least, so T(7) >= 4.5, and T(7) <= 4 is new. Trace
 * Compass sees a contradiction one message later.
 */
#include "fit/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *data;

#define SECOND INT64_C(1000000000)

static FILE *open_file(const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/tracecompass-synctraces/%s", data, name);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	return f;
}

static struct usk_corridor *empty(void)
{
	struct usk_frame frame = { .kappa_e12 = 400000 };
	return usk_corridor_new(&frame);
}

static const char *quality(const struct usk_lines *l)
{
	bool one_time = l->n_points == 2 && l->point[0].x == l->point[1].x;
	bool both = l->has_free_min && l->has_free_max;
	if (one_time || (both && usk_slope_cmp(l->free_min, l->free_max) > 0)) {
		return "FAIL";
	}
	return both				    ? "ACCURATE"
	       : l->has_free_min || l->has_free_max ? "APPROXIMATE"
						    : "INCOMPLETE";
}

/* The mean of the extreme lines of T(local) = alpha local + beta, at a local time. */
static long double mean_at(const struct usk_lines *l, int64_t local, long double *alpha)
{
	const struct usk_xy p = l->min_floor, q = l->max_floor;
	long double s = (long double)l->free_min.num / (long double)l->free_min.den;
	long double r = (long double)l->free_max.num / (long double)l->free_max.den;
	long double x = (long double)(local - l->frame.local_ns);
	*alpha = 1 + (s + r) / 2;
	return (long double)(local + l->frame.offset_ns) +
	       ((long double)p.y + s * (x - (long double)p.x) + (long double)q.y +
		r * (x - (long double)q.x)) /
		       2;
}

/* "t1 3 t2 5": sent by trace 1 at 3 s, received by trace 2 at 5. How many are in the text. */
static int add_messages(struct usk_corridor *c, const char *text)
{
	int n = 0;
	for (const char *p = text; (p = strstr(p, "t")); p++) {
		unsigned from, to;
		long long sent, received;
		if (sscanf(p, "t%u %lld t%u %lld", &from, &sent, &to, &received) == 4) {
			/* Trace 2 is the reference. */
			struct usk_msg m = { sent * SECOND, received * SECOND, from == 1, to == 1,
					     0 };
			assert_int_equal(usk_corridor_add(c, 0, 1, &m, 1, NULL), USK_OK);
			n++;
			p = strstr(p + 1, "t");
		}
	}
	return n;
}

static void check(struct usk_corridor *c, const char *outcome, const char *where)
{
	char word[16];
	long double alpha, want_alpha, want_beta;
	struct usk_lines *l = usk_lines_new(c, 0, 0, USK_MAX_SKEW_E12);
	const char *numbers = strstr(outcome, "alpha");
	assert_int_equal(sscanf(outcome, "%15[A-Z]", word), 1);
	if (strstr(where, "t1 7 t2 4")) {
		assert_string_equal(quality(l), "FAIL");
		assert_int_equal(usk_lines_quality(l), USK_CONTRADICTED);
	} else if (strcmp(quality(l), word)) {
		fail_msg("%s: %s", where, quality(l));
	} else if (!strcmp(word, "ACCURATE")) {
		assert_int_equal(sscanf(numbers, "alpha %Lf beta %Lf", &want_alpha, &want_beta), 2);
		long double beta = mean_at(l, 0, &alpha);
		if (fabsl(alpha - want_alpha) > 1e-9L || fabsl(beta - want_beta * SECOND) > 1) {
			fail_msg("%s: alpha %Lf beta %Lf", where, alpha, beta / SECOND);
		}
	}
	usk_lines_free(l);
}

/* One message a line, and what comes out after it. */
static void test_incremental(void **state)
{
	(void)state;
	char line[1024];
	FILE *f = open_file("EXPECTED.md");
	struct usk_corridor *c = empty();
	int steps = 0;
	while (fgets(line, sizeof line, f)) {
		char *arrow = strstr(line, " -> ");
		if (!strncmp(line, "  t", 3) && arrow) {
			*arrow = 0;
			assert_int_equal(add_messages(c, line), 1);
			check(c, arrow + 4, line);
			steps++;
		}
	}
	fclose(f);
	usk_corridor_free(c);
	assert_int_equal(steps, 10);
}

/* All messages of a test on one line; "the same four" are those of the line before. */
static void test_groups(void **state)
{
	(void)state;
	char line[1024];
	FILE *f = open_file("EXPECTED.md");
	struct usk_corridor *c = empty();
	int tests = 0;
	while (fgets(line, sizeof line, f)) {
		char *arrow = strstr(line, " -> ");
		bool more = strstr(line, "the same four");
		if ((strncmp(line, "testOneHull", 11) && strncmp(line, "testDisjoint", 12)) ||
		    !arrow) {
			continue;
		}
		*arrow = 0;
		if (!more) {
			usk_corridor_free(c);
			c = empty();
		}
		assert_int_equal(add_messages(c, line), more ? 3 : 4);
		check(c, arrow + 4, line);
		tests++;
	}
	fclose(f);
	usk_corridor_free(c);
	assert_int_equal(tests, 2);
}

/*
 * The 46 messages of the recorded traces: slope and offset as asserted there. They were found the
 * other way round, VM1's time by VM3's, and then turned.
 */
static void test_recorded(void **state)
{
	(void)state;
	char line[1024];
	long double want_slope = 0, want_offset = 0, alpha;
	FILE *f = open_file("EXPECTED.md");
	while (fgets(line, sizeof line, f)) {
		const char *p = strstr(line, "slope = ");
		if (p && want_slope == 0) {
			assert_int_equal(
				sscanf(p, "slope = %Lf, offset = %Lf", &want_slope, &want_offset),
				2);
		}
	}
	fclose(f);
	struct usk_corridor *c = empty();
	int n = 0;
	int64_t local = 0;
	f = open_file("messages-46.csv");
	while (fgets(line, sizeof line, f)) {
		unsigned from, to;
		long long sent, received;
		if (sscanf(line, "VM%u,VM%u,%lld,%lld", &from, &to, &sent, &received) == 4) {
			struct usk_msg m = { sent, received, from == 3, to == 3, 0 };
			assert_int_equal(usk_corridor_add(c, 0, 1, &m, 1, NULL), USK_OK);
			local = from == 3 ? sent : received;
			n++;
		}
	}
	fclose(f);
	assert_int_equal(n, 46);
	struct usk_lines *l = usk_lines_new(c, 0, 0, USK_MAX_SKEW_E12);
	assert_string_equal(quality(l), "ACCURATE");
	/* At today's epoch, where the two numbers are to be used together: VM1's stamp of a moment
	 * of VM3's is set back on VM3. */
	long double vm1 = mean_at(l, local, &alpha);
	long double back = (want_slope - 1) * vm1 + want_offset + (vm1 - (long double)local);
	if (fabsl(1 / alpha - want_slope) > 1e-15L || fabsl(back) > 1) {
		fail_msg("slope %.19Lf, %Lf ns away", 1 / alpha, back);
	}
	usk_lines_free(l);
	usk_corridor_free(c);
}

int main(int argc, char **argv)
{
	data = argc > 1 ? argv[1] : "";
	if (access(data, R_OK)) {
		printf("skipped: no recorded data in \"%s\" (meson option recorded_data)\n", data);
		return 77;
	}
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_incremental),
					    cmocka_unit_test(test_groups),
					    cmocka_unit_test(test_recorded) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
