/* SPDX-License-Identifier: MIT */
/* Durations and times against the C library's calendar and GMP's rationals. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <gmp.h>

#define BAD INT64_MIN

struct text_case {
	const char *text;
	int64_t ns; /* BAD: refused */
};

static const struct text_case durations[] = {
	{ "0", 0 },
	{ "0.0", 0 },
	{ "39us", 39000 },
	{ "39\xc2\xb5s", 39000 },
	{ "30min", INT64_C(1800000000000) },
	{ "1h30min", INT64_C(5400000000000) },
	{ "1.5ms", 1500000 },
	{ "0.1min", INT64_C(6000000000) },
	{ "-2s", -INT64_C(2000000000) },
	{ "+2s", INT64_C(2000000000) },
	{ "1d", INT64_C(86400000000000) },
	{ "1ns", 1 },
	{ "0.5us", 500 },
	{ "4611686018427387904ns", USK_TIME_MAX },
	{ "4611686018427387905ns", BAD },
	{ "4611686018.427387904s", USK_TIME_MAX },
	{ "9999999999999999999999999999999999999999999h", BAD },
	{ "0.5ns", BAD },
	{ "1", BAD },
	{ "", BAD },
	{ "-", BAD },
	{ "s", BAD },
	{ ".s", BAD },
	{ "1 s", BAD },
	{ "1sec", BAD },
	{ "1s2", BAD },
	{ "1e3s", BAD },
	{ "--1s", BAD },
};

static const struct text_case times[] = {
	{ "1700000000000000000", INT64_C(1700000000000000000) },
	{ "-1", -1 },
	{ "1700000000.5s", INT64_C(1700000000500000000) },
	{ "1700000000s", INT64_C(1700000000000000000) },
	{ "1.5us", 1500 },
	{ "0.0000000009s", 0 },
	{ "-0.0000000009s", -1 },
	{ "2023-11-14T22:13:20Z", INT64_C(1700000000000000000) },
	{ "2023-11-14 22:13:20.5z", INT64_C(1700000000500000000) },
	{ "2023-11-14T23:13:20.123456789123+01:00", INT64_C(1700000000123456789) },
	{ "2023-11-14T16:43:20-05:30", INT64_C(1700000000000000000) },
	{ "1969-12-31T23:59:59.999999999Z", -1 },
	{ "2000-02-29T00:00:00Z", INT64_C(951782400000000000) },
	{ "1900-02-29T00:00:00Z", BAD },
	{ "2116-02-20T23:53:38.427387904Z", USK_TIME_MAX },
	{ "2116-02-20T23:53:38.427387905Z", BAD },
	{ "9999-12-31T23:59:59Z", BAD },
	{ "2023-11-14T22:13:20", BAD },
	{ "2023-11-14T22:13:20.Z", BAD },
	{ "2023-11-14T24:00:00Z", BAD },
	{ "2023-13-14T00:00:00Z", BAD },
	{ "2023-11-14T22:13:20+1:00", BAD },
	{ "2023-11-14T22:13:20Zjunk", BAD },
	{ "1700000000.5", BAD },
	{ "1700000000min", BAD },
	{ "", BAD },
	{ "yesterday", BAD },
};

typedef enum usk_status parser(const char *text, size_t n, int64_t *ns, struct usk_err *err);

static void run_cases(const struct text_case *c, size_t n, parser *parse)
{
	for (size_t i = 0; i < n; i++) {
		struct usk_err err = { 0 };
		int64_t got = BAD;
		/* Exactly as long as it says: a reader over the end is seen by ASan. */
		size_t len = strlen(c[i].text);
		char *copy = memcpy(usk_alloc(len, 1), c[i].text, len);
		enum usk_status status = parse(copy, len, &got, &err);
		free(copy);
		if ((status ? BAD : got) != c[i].ns) {
			fail_msg("\"%s\": got %lld %s", c[i].text, (long long)got, err.msg);
		}
		assert_true(!status || err.msg[0]);
	}
}

static void test_durations(void **state)
{
	(void)state;
	run_cases(durations, COUNT(durations), usk_parse_duration);
}

static void test_times(void **state)
{
	(void)state;
	run_cases(times, COUNT(times), usk_parse_time);
}

static void test_integers(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} cases[] = {
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "+7", true, 7 },
		{ "007", true, 7 },
		{ "7x", false, 0 },
		{ "", false, 0 },
		{ "-", false, 0 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t got = 0;
		bool good = !usk_parse_int(cases[i].text, strlen(cases[i].text), &got, NULL);
		assert_int_equal(good, cases[i].good);
		assert_int_equal(got, cases[i].value);
	}
}

/* floor(x * 10^shift) by GMP equals ours, for fractions of any length. */
static void test_decimals_against_gmp(void **state)
{
	(void)state;
	struct usk_rng r;
	uint64_t seed = 20;
	usk_rng_seed(&r, seed);
	mpz_t value;
	mpz_init(value);
	for (int round = 0; round < 20000; round++) {
		char text[64], digits[64];
		unsigned shift = (unsigned)usk_rng_below(&r, 13);
		size_t whole = (size_t)usk_rng_below(&r, 7), places = (size_t)usk_rng_below(&r, 20);
		size_t n = 0, d = 0;
		bool minus = usk_rng_below(&r, 2);
		if (minus) {
			text[n++] = '-';
		}
		for (size_t i = 0; i <= whole + places; i++) {
			if (i == whole + 1) {
				text[n++] = '.';
			}
			char c = (char)('0' + usk_rng_below(&r, 10));
			text[n++] = c;
			digits[d++] = c;
		}
		digits[d] = 0;
		mpz_set_str(value, digits, 10);
		if (minus) {
			mpz_neg(value, value);
		}
		mpz_t power;
		mpz_init(power);
		mpz_ui_pow_ui(power, 10, shift > places ? shift - places : places - shift);
		bool exact = true;
		if (shift >= places) {
			mpz_mul(value, value, power);
		} else {
			exact = mpz_divisible_p(value, power);
			mpz_fdiv_q(value, value, power);
		}
		mpz_clear(power);
		int64_t got;
		bool got_exact;
		bool fits = mpz_cmpabs_ui(value, (unsigned long)USK_TIME_MAX) <= 0;
		enum usk_status status = usk_parse_decimal(text, n, shift, &got, &got_exact, NULL);
		if (fits != !status || (fits && (got != mpz_get_si(value) || exact != got_exact))) {
			fail_msg("seed %llu: %.*s shift %u", (unsigned long long)seed, (int)n, text,
				 shift);
		}
	}
	mpz_clear(value);
}

static void test_calendar_against_libc(void **state)
{
	(void)state;
	struct usk_rng r;
	uint64_t seed = 21;
	usk_rng_seed(&r, seed);
	for (int round = 0; round < 50000; round++) {
		int64_t ns = (int64_t)usk_rng_next(&r) / 2;
		time_t seconds = (time_t)usk_floor_div(ns, 1000000000);
		struct tm tm;
		char expected[64], got[64];
		assert_non_null(gmtime_r(&seconds, &tm));
		size_t n = strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &tm);
		snprintf(expected + n, sizeof expected - n, ".%09dZ",
			 (int)(ns - (int64_t)seconds * 1000000000));
		usk_time_text(ns, got);
		assert_string_equal(got, expected);
		int64_t back;
		assert_int_equal(usk_parse_rfc3339(got, strlen(got), &back, NULL), USK_OK);
		assert_true(back == ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_decimals_against_gmp),
		cmocka_unit_test(test_calendar_against_libc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
