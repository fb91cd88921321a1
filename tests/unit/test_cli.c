/* SPDX-License-Identifier: MIT */
/* Quantities as people read them, and argv against tables of options. */
#include "cli/cmd.h"
#include "cli/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PM " \xc2\xb1 "

static void test_between(void **state)
{
	(void)state;
	static const struct {
		int64_t value, lo, hi;
		const char *text;
	} cases[] = {
		{ -957333333, -957372733, -957293933, "-957.3333 ms" PM "39.5 us" },
		{ 3000, -50005000, 50011000, "0.0 ms" PM "50.1 ms" },
		{ 0, 0, 0, "0 ns" PM "0 ns" },
		{ 1, 0, 2, "1 ns" PM "1 ns" },
		{ INT64_C(23155200123456789), INT64_C(23155200123455789),
		  INT64_C(23155200123457789), "23155200.12345679 s" PM "1.01 us" },
		{ 999999999, 999999900, 1000000100, "999.999999 ms" PM "101 ns" },
		{ 5, -1000, 1001, "0.01 us" PM "1.01 us" },
		{ -INT64_C(1500000000), -INT64_C(1500000001), -INT64_C(1499999999),
		  "-1.500000000 s" PM "1 ns" },
		{ USK_TIME_MAX, USK_TIME_MAX - 1, USK_TIME_MAX,
		  "4611686018.427387904 s" PM "1 ns" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(unit_between(cases[i].value, cases[i].lo, cases[i].hi).s,
				    cases[i].text);
	}
}

static void test_spans(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *near, *bound, *at_least, *at_most;
	} cases[] = {
		{ 0, "0 ns", "0 ns", "0 ns", "0 ns" },
		{ 999, "999 ns", "999 ns", "999 ns", "999 ns" },
		{ 1001, "1.00 us", "1.01 us", "1.00 us", "1.01 us" },
		{ 999999, "1.00 ms", "1.00 ms", "999 us", "1.00 ms" },
		{ -39449, "-39.4 us", "-39.5 us", "-39.5 us", "-39.4 us" },
		{ -999999, "-1.00 ms", "-1.00 ms", "-1.00 ms", "-999 us" },
		{ 1986800000, "1.99 s", "1.99 s", "1.98 s", "1.99 s" },
		{ 1234567890, "1.23 s", "1.24 s", "1.23 s", "1.24 s" },
		{ INT64_C(86400000000000), "86400 s", "86400 s", "86400 s", "86400 s" },
		{ USK_NONE, "-", "-", "-", "-" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(unit_span(cases[i].ns).s, cases[i].near);
		assert_string_equal(unit_bound(cases[i].ns).s, cases[i].bound);
		assert_string_equal(unit_at_least(cases[i].ns).s, cases[i].at_least);
		assert_string_equal(unit_at_most(cases[i].ns).s, cases[i].at_most);
	}
}

static void test_drift(void **state)
{
	(void)state;
	static const struct {
		double ppm, min, max;
		const char *text;
	} cases[] = {
		{ 21.01, 18.36, 23.67, "21.0 (18.3 to 23.7)" },
		{ 0.0, -500, 500, "0 (-500 to 500)" },
		{ -0.00001, -0.001, 0.001, "0.0000 (-0.0010 to 0.0010)" },
		{ 7, 7, 7, "7.000000 (7.000000 to 7.000000)" },
		{ NAN, NAN, NAN, "-" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(unit_drift(cases[i].ppm, cases[i].min, cases[i].max).s,
				    cases[i].text);
	}
}

static void test_counts(void **state)
{
	(void)state;
	assert_string_equal(unit_count(0).s, "0");
	assert_string_equal(unit_count(999).s, "999");
	assert_string_equal(unit_count(1000).s, "1,000");
	assert_string_equal(unit_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

/* A command of every type of option. */

static const char *fruit(size_t i)
{
	static const char *const names[] = { "apple", "pear" };
	return i < COUNT(names) ? names[i] : NULL;
}

static const struct option_group rows = {
	"Test",
	{
		{ .name = "name", .letter = 'n', .type = OPTION_STRING, .value = "S" },
		{ .name = "count",
		  .letter = 'c',
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "5",
		  .min = "1",
		  .max = "10" },
		{ .name = "wait",
		  .type = OPTION_DURATION,
		  .value = "DURATION",
		  .min = "0",
		  .max = "1h" },
		{ .name = "at", .type = OPTION_TIME, .value = "TIME" },
		{ .name = "skew", .type = OPTION_PPM, .value = "PPM", .max = "1000" },
		{ .name = "loss", .type = OPTION_PROBABILITY, .value = "P" },
		{ .name = "fruit", .type = OPTION_CHOICE, .value = "FRUIT", .choice = fruit },
		{ .name = "shape", .type = OPTION_CHOICE, .value = "ring|star", .initial = "star" },
		{ .name = "tag", .type = OPTION_STRING, .repeated = true, .value = "TAG" },
		{ "waits", "", LIST(DURATION, "1us,2us") },
		{ .name = "steady-ppb", LIST(PPM, NULL) },
		{ .name = "fruits",
		  .type = OPTION_CHOICE,
		  .value = "FRUIT,...",
		  .choice = fruit,
		  .list = true,
		  .repeated = true },
	},
};
static const struct command test_command = {
	.name = "test",
	.operands = "FILE",
	.max_operands = 2,
	.group = { &rows, &options_common },
};
const struct command *const commands[] = { &test_command, NULL };

static jmp_buf left;
static int left_with;

/* What ends the program ends the parsing here. */
void leave(int status)
{
	left_with = status;
	longjmp(left, 1);
}

static int parse(const char *words, struct args **args)
{
	static char line[256];
	char *argv[32], *rest = line;
	int n = 0;
	snprintf(line, sizeof line, "%s", words);
	for (char *w; (w = strsep(&rest, " ")) && n < 32;) {
		argv[n++] = w;
	}
	/* Sentences of refusals are not looked at here. */
	fflush(stderr);
	int saved = dup(STDERR_FILENO);
	assert_non_null(freopen("/dev/null", "w", stderr));
	left_with = EXIT_DONE;
	if (!setjmp(left)) {
		*args = args_parse(&test_command, *words ? n : 0, argv);
	}
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	return left_with;
}

static void test_values(void **state)
{
	(void)state;
	struct args *a;
	assert_int_equal(parse("", &a), EXIT_DONE);
	assert_int_equal(args_int(a, "count"), 5);
	assert_string_equal(args_string(a, "shape"), "star");
	assert_null(args_string(a, "name"));
	assert_false(args_given(a, "count"));

	assert_int_equal(parse("-qnx -c 7 --wait=1.5ms --at -5 --skew 0.000001 --loss 5% a -3 "
			       "--fruit pear --tag u --tag=v",
			       &a),
			 EXIT_DONE);
	size_t n;
	assert_true(args_flag(a, "quiet"));
	assert_string_equal(args_string(a, "name"), "x");
	assert_int_equal(args_int(a, "count"), 7);
	assert_int_equal(args_int(a, "wait"), 1500000);
	assert_int_equal(args_int(a, "at"), -5);
	assert_int_equal(args_int(a, "skew"), 1);
	assert_true(args_number(a, "loss") == 0.05);
	assert_int_equal(args_int(a, "fruit"), 1);
	assert_string_equal(args_list(a, "tag", &n)[1], "v");
	assert_int_equal(n, 2);
	assert_int_equal(args_operands(a), 2);
	assert_string_equal(args_operand(a, 1), "-3");

	assert_int_equal(
		parse("--waits 3ms --steady-ppb 1,-2.5ppb --fruits pear --fruits pear,pear", &a),
		EXIT_DONE);
	assert_int_equal(args_ints(a, "waits", &n)[0], 3000000);
	assert_int_equal(n, 1);
	assert_int_equal(args_ints(a, "steady-ppb", &n)[1], -2500000);
	assert_int_equal(n, 2);
	assert_int_equal(args_ints(a, "fruits", &n)[2], 1);
	assert_int_equal(n, 3);
	assert_int_equal(parse("a", &a), EXIT_DONE);
	assert_int_equal(args_ints(a, "waits", &n)[1], 2000);
	assert_null(args_ints(a, "fruits", &n));
	assert_int_equal(n, 0);

	assert_int_equal(parse("-- --count", &a), EXIT_DONE);
	assert_string_equal(args_operand(a, 0), "--count");
}

static void test_refusals(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"--count 0",
		"--count 11",
		"--count x",
		"--count",
		"--wait 5",
		"--wait 2h",
		"--at yesterday",
		"--skew 1001",
		"--skew 1e3",
		"--skew 0.0000001",
		"--loss 1.1",
		"--loss -1",
		"--fruit plum",
		"--shape oval",
		"--nmae x",
		"-z",
		"--quiet=yes",
		"--name=",
		"a b c",
		"--loss nan",
		"--waits 1ms,",
		"--waits 1",
		"--steady-ppb 1ppm",
		"--fruits pear,plum",
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct args *a = NULL;
		if (parse(wrong[i], &a) != EXIT_USAGE || a) {
			fail_msg("%s was taken", wrong[i]);
		}
	}
}

static void test_names_of_traces(void **state)
{
	(void)state;
	static const struct {
		const char *operand, *name, *path;
	} cases[] = {
		{ "a.pcap", NULL, "a.pcap" },
		{ "client=a.pcap", "client", "a.pcap" },
		{ "client=/x/a=b.pcap", "client", "/x/a=b.pcap" },
		{ "./a=b.pcap", NULL, "./a=b.pcap" },
		{ "=a.pcap", NULL, "=a.pcap" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *name;
		assert_string_equal(args_split_name(cases[i].operand, &name), cases[i].path);
		assert_true(!name == !cases[i].name);
		if (name) {
			assert_string_equal(name, cases[i].name);
		}
	}
}

static void test_suggestions(void **state)
{
	(void)state;
	static const char *const names[] = { "sync", "simulate", "max-skew-ppm" };
	static const struct {
		const char *wrong, *near;
	} cases[] = {
		{ "snyc", "sync" },
		{ "syn", "sync" },
		{ "max-skew", "max-skew-ppm" },
		{ "max-skew-pm", "max-skew-ppm" },
		{ "simulte", "simulate" },
		{ "frobnicate", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *near = nearest_name(cases[i].wrong, names, COUNT(names));
		assert_true(!near == !cases[i].near);
		if (near) {
			assert_string_equal(near, cases[i].near);
		}
	}
	assert_ptr_equal(command_find("test"), &test_command);
	assert_null(command_find("tes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between),		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_drift),		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_values),		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_names_of_traces), cmocka_unit_test(test_suggestions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
