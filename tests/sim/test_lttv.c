/* SPDX-License-Identifier: MIT */
/*
 * test_lttv.c - the extreme lines of LTTV's test cases, as linear programming has them
 *
 * In    the folder of recorded data, as the first argument
 * Out   the smallest and largest rate of host 1 over host 0, or that no line fits, as stated there
 *
 * The rates are those of a clock that advances: with a >= 0, as the reference has it.
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

/* Hundredths of a second, as the files have them, are 1e6 units here. */
static int64_t stamp(double seconds)
{
	return llround(seconds * 100) * 1000000;
}

static struct usk_corridor *read_case(const char *name)
{
	char path[4096], line[256];
	snprintf(path, sizeof path, "%s/lttv-sync-testdata/%s.txt", data, name);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	struct usk_frame frame = { .kappa_e12 = 400000 };
	struct usk_corridor *c = usk_corridor_new(&frame);
	while (fgets(line, sizeof line, f)) {
		unsigned from, to;
		double sent, received;
		if (line[0] != '#' &&
		    sscanf(line, "%u %u %lf %lf", &from, &to, &sent, &received) == 4) {
			struct usk_msg m = { stamp(sent), stamp(received), from, to, 0 };
			assert_int_equal(usk_corridor_add(c, 0, 1, &m, 1, NULL), USK_OK);
		}
	}
	fclose(f);
	return c;
}

/* What a slope of the offset means for host 1's rate: 1/(1 + s); infinity where it is no bound. */
static double rate(bool any, struct usk_slope s)
{
	double g = 1 + (double)s.num / (double)s.den;
	return any && g > 0 ? 1 / g : INFINITY;
}

static void check_case(const char *name, const char *min, const char *max)
{
	struct usk_corridor *c = read_case(name);
	struct usk_lines *l = usk_lines_new(c, 0, 0, USK_MAX_SKEW_E12);
	bool fits = strcmp(min, "infeasible") != 0;
	if (fits != (l->quality == USK_BOUNDED)) {
		fail_msg("%s: quality %d", name, (int)l->quality);
	}
	if (fits) {
		double low = l->has_free_max ? rate(true, l->free_max) : 0;
		double high = rate(l->has_free_min, l->free_min);
		double want = strcmp(max, "unbounded") != 0 ? strtod(max, NULL) : INFINITY;
		if (!(fabs(low - strtod(min, NULL)) < 1e-6) ||
		    !(high == want || fabs(high - want) < 1e-6)) {
			fail_msg("%s: %f to %f, not %s to %s", name, low, high, min, max);
		}
	}
	usk_lines_free(l);
	usk_corridor_free(c);
}

static void test_extremes(void **state)
{
	(void)state;
	char path[4096], line[512];
	snprintf(path, sizeof path, "%s/lttv-sync-testdata/lp-reference.txt", data);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	int cases = 0;
	while (fgets(line, sizeof line, f)) {
		char name[32], min[32], max[32];
		const char *bounds = strstr(line, "with a>=0: ");
		if (line[0] == '#' || !bounds || sscanf(line, "%31[^:]", name) != 1) {
			continue;
		}
		assert_int_equal(sscanf(bounds, "with a>=0: min=%31s max=%31s", min, max), 2);
		check_case(name, min, max);
		cases++;
	}
	fclose(f);
	assert_int_equal(cases, 12);
}

int main(int argc, char **argv)
{
	data = argc > 1 ? argv[1] : "";
	if (access(data, R_OK)) {
		printf("skipped: no recorded data in \"%s\" (meson option recorded_data)\n", data);
		return 77;
	}
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_extremes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
