/* SPDX-License-Identifier: MIT */
/* Times in us as profilers write them, exact, as doubles, cut or with digits below 1 ns: the truth is where
 * the text leaves room for it, and no further than that. */
#include "../fence.h"
#include "../part.h"
#include "read/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool read_us(const char *text, struct usk_us *out)
{
	size_t n = strlen(text);
	char *copy = fence_new(text, n);
	bool good = usk_us_read((struct usk_csv_field){ copy, n }, out);
	fence_free(copy, n);
	return good;
}

enum writer { EXACT, DOUBLE, ROUNDED_DOWN, TENTHS, WRITERS };

/* x ns, and tenths of one. */
static void write_us(char text[64], int64_t x, int tenths, enum writer by)
{
	uint64_t size = x < 0 ? -(uint64_t)x : (uint64_t)x;
	const char *minus = x < 0 ? "-" : "";
	switch (by) {
	case EXACT:
	case DOUBLE:
		sprintf(text, "%s%llu.%03u", minus, (unsigned long long)(size / 1000),
			(unsigned)(size % 1000));
		if (by == DOUBLE) { /* the nearest one */
			sprintf(text, "%.3f", strtod(text, NULL));
		}
		break;
	case ROUNDED_DOWN:
		sprintf(text, "%lld", (long long)usk_floor_div(x, 1000));
		break;
	default:
		sprintf(text, "%s%llu.%03u%d", minus, (unsigned long long)(size / 1000),
			(unsigned)(size % 1000), tenths);
		break;
	}
}

static void test_writers(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(40000); seed < case_end(40000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		enum writer by = (enum writer)(seed % WRITERS);
		int64_t x = (int64_t)(usk_rng_next(&r) >> (2 + usk_rng_below(&r, 60)));
		x = usk_rng_below(&r, 2) ? -x : x;
		int tenths = by == TENTHS ? (int)usk_rng_below(&r, 10) : 0;
		char text[64];
		struct usk_us us;
		write_us(text, x, tenths, by);
		if (!read_us(text, &us)) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, text);
		}
		/* The truth in tenths, further from zero than x. */
		usk_i128 truth = (usk_i128)x * 10 + (text[0] == '-' ? -tenths : tenths);
		usk_i128 lo = ((usk_i128)us.ns - us.off_ns) * 10;
		usk_i128 hi = ((usk_i128)us.ns + us.off_ns + us.more_ns) * 10;
		int64_t size = x < 0 ? -x : x;
		bool small = size < (int64_t)1 << 52;
		int64_t room = by == ROUNDED_DOWN ? 999 : by == TENTHS ? 1 : 0;
		if (truth < lo || truth > hi || us.more_ns != room || (small && us.off_ns) ||
		    us.off_ns > size >> 50) {
			fail_msg("seed %llu: %s: %lld, off by %lld, or %lld more",
				 (unsigned long long)seed, text, (long long)us.ns,
				 (long long)us.off_ns, (long long)us.more_ns);
		}
	}
}

/* A double that is whole is printed so; one of one or two decimals has no more. */
static void test_few_decimals(void **state)
{
	static const struct {
		const char *text;
		struct usk_us us;
	} cases[] = {
		{ "0", { 0, 0, 999 } },		{ "68.0", { 68000, 0, 999 } },
		{ "68.5", { 68500, 0, 0 } },	{ "68.05", { 68050, 0, 0 } },
		{ "68.00", { 68000, 0, 999 } }, { "68.000", { 68000, 0, 0 } },
		{ "-0.25", { -250, 0, 0 } },	{ "0.0001", { 0, 0, 1 } },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_us us;
		assert_true(read_us(cases[i].text, &us));
		if (us.ns != cases[i].us.ns || us.off_ns || us.more_ns != cases[i].us.more_ns) {
			fail_msg("%s: %lld", cases[i].text, (long long)us.ns);
		}
	}
	static const char *const bad[] = { "",
					   "-",
					   ".5",
					   "1.",
					   "1e5",
					   "1.5x",
					   "x",
					   "--1",
					   "1 ",
					   "+1",
					   "1.5.5",
					   "9223372036854775808",
					   "4611686018427388",
					   "18446744073709551617" };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct usk_us us;
		if (read_us(bad[i], &us)) {
			fail_msg("%s: is read", bad[i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writers),
		cmocka_unit_test(test_few_decimals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
