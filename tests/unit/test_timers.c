/* SPDX-License-Identifier: MIT */
/* How late timers are, on a machine that wakes as late as is written down: its clock and its sleep are
 * these here. */
#include "clock/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#define MS 1000000

static const int64_t late[] = { 50, 7000, 0, MS, 3 * MS + 5, 20, MS - 1, 40 * MS, 9 };
static int64_t now;
static size_t slept;

int clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	*t = (struct timespec){ now / 1000000000, now % 1000000000 };
	return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *until, struct timespec *left)
{
	(void)id;
	(void)left;
	assert_int_equal(flags, TIMER_ABSTIME);
	const int64_t at = until->tv_sec * 1000000000 + until->tv_nsec;
	now = (at > now ? at : now) + late[slept++];
	return 0;
}

/* Each is late by what it is, and none because one before was: one that was missed is one. */
static void test_wakeups(void **state)
{
	(void)state;
	double sum = 0;
	int64_t begun = now = 123456789, end = begun;
	for (size_t i = 0; i < COUNT(late); i++) {
		sum += (double)late[i];
		/* The next is a period behind when this was due, or was if that has passed. */
		end += MS;
		end += late[i] > MS ? late[i] : 0;
	}
	struct figures f = wakeups_measure(COUNT(late));
	assert_int_equal(slept, COUNT(late));
	assert_int_equal(f.n, COUNT(late));
	assert_true(f.min == 0 && f.max == 40 * MS && f.median == 7000);
	assert_true(f.mean > sum / COUNT(late) - 1e-3 && f.mean < sum / COUNT(late) + 1e-3);
	assert_int_equal(now, end + late[COUNT(late) - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_wakeups) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
