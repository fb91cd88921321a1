/* SPDX-License-Identifier: MIT */
/* Lines: pages that two sides share, ports that are none, rounds of which some are bad. */
#include "line/line.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t count_up(void *ctx)
{
	int64_t *n = ctx;
	return ++*n;
}

static char *temporary(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = usk_format("%s/line.XXXXXX", dir ? dir : "/tmp");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

static struct line *open_page(const char *path, enum line_side side, int64_t *clock)
{
	struct line *l = NULL;
	struct usk_err err = { 0 };
	if (line_page_open(path, side, (struct line_counter){ count_up, clock }, &l, &err)) {
		fail_msg("%s", err.msg);
	}
	return l;
}

/* Each side sees the other's pins, and its own not. */
static void test_pins(void **state)
{
	(void)state;
	char *path = temporary();
	int64_t clock = 0;
	struct line *a = open_page(path, LINE_ASKS, &clock);
	struct line *b = open_page(path, LINE_ANSWERS, &clock);
	for (unsigned pins = 0; pins < 4; pins++) {
		a->set(a, pins);
		b->set(b, 3 - pins);
		assert_int_equal(b->pins(b), pins);
		assert_int_equal(a->pins(a), 3 - pins);
	}
	/* One who waits is woken by a pin that is up already, and by nothing after a while. */
	a->set(a, LINE_D3);
	b->wait(b, 1000000000);
	a->set(a, 0);
	b->wait(b, 1000000);
	assert_int_equal(b->pins(b), 0);
	/* What somebody left is not there for the next. */
	a->set(a, 3);
	line_close(a);
	assert_int_equal(b->pins(b), 0);
	line_close(b);
	line_close(NULL);
	unlink(path);
	free(path);
}

static void test_refused(void **state)
{
	(void)state;
	const struct line_counter counter = { count_up, NULL };
	char *path = temporary();
	int64_t clock = 0;
	struct line *l = NULL, *a = open_page(path, LINE_ASKS, &clock);
	struct usk_err err;
	assert_int_equal(line_page_open(path, LINE_ASKS, counter, &l, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "another process asks"));
	assert_int_equal(line_page_open(path, LINE_LOOP_BACK, counter, &l, &err), USK_EIO);
	line_close(a);
	/* As long as a page, and none. */
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	fputs("something else", f);
	fclose(f);
	assert_int_equal(line_page_open(path, LINE_ASKS, counter, &l, &err), USK_EINPUT);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(line_page_open(path, LINE_ASKS, counter, &l, &err), USK_EINPUT);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(line_page_open(path, LINE_ASKS, counter, &l, &err), USK_EIO);
	unlink(path);
	assert_int_equal(line_page_open("/nowhere/at/all", LINE_ASKS, counter, &l, &err), USK_EIO);
	assert_int_equal(line_port_open("/nowhere/at/all", counter, &l, &err), USK_EIO);
	assert_int_not_equal(line_port_open("/dev/null", counter, &l, &err), USK_OK);
	assert_int_not_equal(line_port_open("/", counter, &l, &err), USK_OK);
	assert_null(l);
	for (int o = 0; o < LINE_OUTCOMES; o++) {
		assert_non_null(line_outcome_text((enum line_outcome)o));
	}
	free(path);
}

/* A time that goes on by one microsecond a look: what waits for so long waits for so many looks,
 * however slow the machine is. */
static int64_t looked_ns;

static int64_t time_of_looks(struct line *l)
{
	(void)l;
	return looked_ns += 1000;
}

static void test_loop_back(void **state)
{
	(void)state;
	enum { TIMES = 100 };
	const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 1000000000 };
	char *path = temporary();
	int64_t clock = 0, ticks[TIMES];
	struct line *l = open_page(path, LINE_LOOP_BACK, &clock);
	assert_true(line_loop_back(l, &limits, TIMES, ticks));
	for (int i = 0; i < TIMES; i++) {
		assert_int_equal(ticks[i], 1); /* one read of this clock */
	}
	line_close(l);
	/* Nobody is there. */
	const struct line_limits soon = { .stamp_ns = 20000, .wake_ns = 100000 };
	l = open_page(path, LINE_ASKS, &clock);
	looked_ns = line_boot_time_ns(l);
	l->time_ns = time_of_looks;
	assert_false(line_loop_back(l, &soon, 1, ticks));
	struct usk_three_stamps s;
	assert_int_equal(line_ask(l, &soon, 1, &s), LINE_NO_READY);
	assert_int_equal(line_answer(l, &soon, 100000), LINE_IDLE);
	line_close(l);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_loop_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
