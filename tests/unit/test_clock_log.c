/* SPDX-License-Identifier: MIT */
/* Logs of clocks against clocks whose every slew and step is known. */
#include "../part.h"
#include "flow/clock_log.h"
#include "flow/reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define START  (1700000000 * SECOND)

/* From raw_ns on it shows time_ns and gains rate_e12. */
struct piece {
	int64_t raw_ns, time_ns, rate_e12;
	bool set;
};

struct clock {
	struct piece piece[400];
	size_t n;
};

static int64_t read_clock(const struct clock *c, int64_t raw)
{
	size_t i = c->n - 1;
	while (i && c->piece[i].raw_ns > raw) {
		i--;
	}
	usk_i128 d = raw - c->piece[i].raw_ns;
	return c->piece[i].time_ns +
	       (int64_t)(d + usk_floor_div(d * c->piece[i].rate_e12, 1000000000000));
}

static int64_t rate_at(const struct clock *c, int64_t raw)
{
	size_t i = c->n - 1;
	while (i && c->piece[i].raw_ns > raw) {
		i--;
	}
	return c->piece[i].rate_e12;
}

static void turn(struct clock *c, int64_t raw, int64_t step, int64_t rate)
{
	int64_t now = c->n ? read_clock(c, raw) : START;
	c->piece[c->n++] = (struct piece){ raw, now + step, rate, step != 0 };
}

/* Lines a second apart, and 0.1 ms behind each step. told: with the kernel's state. */
static struct usk_clock_log log_from(const struct clock *c, int from, int seconds, bool told,
				     int hole)
{
	struct usk_clock_log out;
	struct usk_input in;
	struct usk_err err;
	size_t n;
	char *text = NULL;
	FILE *f = open_memstream(&text, &n);
	size_t next = 1;
	fputs("# unskew clock log, raw clock of boot x, host y\n"
	      "clock,before_ns,time_ns,after_ns,rate_e12,status,event\n",
	      f);
	while (next < c->n && c->piece[next].raw_ns < from * SECOND) {
		next++;
	}
	for (int64_t k = from; k <= seconds; k++) {
		int64_t raw = k * SECOND;
		bool set = false;
		for (; next < c->n && c->piece[next].raw_ns + 100000 < raw; next++) {
			int64_t at = c->piece[next].raw_ns + 100000;
			if (c->piece[next].set) {
				fprintf(f, "realtime,%lld,%lld,%lld,%lld,0,set\n", (long long)at,
					(long long)read_clock(c, at + 20), (long long)at + 40,
					(long long)rate_at(c, at));
			}
		}
		for (size_t i = next; i < c->n && c->piece[i].raw_ns <= raw; i++) {
			set = set || c->piece[i].set;
		}
		if (hole && k > hole && k < hole + 20) {
			continue;
		}
		fprintf(f, "realtime,%lld,%lld,%lld,", (long long)raw,
			(long long)read_clock(c, raw + 20), (long long)raw + 40);
		if (told) {
			fprintf(f, "%lld", (long long)rate_at(c, raw));
		}
		fprintf(f, ",0,%s\n", set ? "set" : "");
	}
	fclose(f);
	usk_input_memory(&in, text, n);
	assert_int_equal(usk_clock_log_read(&in, &out, &err), USK_OK);
	usk_input_close(&in);
	free(text);
	return out;
}

static struct usk_clock_log log_of(const struct clock *c, int seconds, bool told, int hole)
{
	return log_from(c, 0, seconds, told, hole);
}

static struct usk_carry *carry_of(const struct clock *c, int seconds, bool told, int hole,
				  const struct usk_epochs *e)
{
	struct usk_clock_log log = log_of(c, seconds, told, hole);
	struct usk_carry *out;
	char *why = usk_carry_of(&log, e, read_clock(c, SECOND),
				 read_clock(c, (seconds - 1) * SECOND), &out);
	assert_null(why);
	return out;
}

/* Raw time is counted so that the first line's is its own stamp. */
static void check(const struct clock *c, const struct usk_carry *y, int64_t raw, int64_t shift,
		  int64_t most)
{
	struct usk_raw r = usk_carry_raw(y, read_clock(c, raw) + shift);
	int64_t less = read_clock(c, 20);
	if (raw + less < r.lo_ns || raw + less > r.hi_ns || r.hi_ns - r.lo_ns > most) {
		fail_msg("at raw %lld: [%lld, %lld]", (long long)raw, (long long)(r.lo_ns - less),
			 (long long)(r.hi_ns - less));
	}
}

static void test_constant(void **state)
{
	struct clock c = { .n = 0 };
	const struct usk_epochs none = { 0 };
	(void)state;
	turn(&c, 0, 0, 12345678);
	struct usk_carry *y = carry_of(&c, 100, true, 0, &none);
	assert_true(y->whole);
	for (int64_t raw = 0; raw < 100 * SECOND; raw += 123456789) {
		check(&c, y, raw, 0, 140); /* the bracket, and a slew that it may hide */
		int64_t u = read_clock(&c, raw);
		int64_t back = usk_carry_shown(y, raw + read_clock(&c, 20));
		assert_in_range(back - u + 1000, 1000 - 50, 1000 + 50);
	}
	usk_carry_free(y);
}

/* A daemon that changes the rate when it likes, and slews: with the state or without. */
static void test_slewed(void **state)
{
	const struct usk_epochs none = { 0 };
	struct usk_rng r;
	(void)state;
	for (uint64_t seed = case_first(50); seed < case_end(50); seed++) {
		struct clock c = { .n = 0 };
		usk_rng_seed(&r, seed);
		turn(&c, 0, 0, 20000000);
		/* Between the first two lines, too. */
		for (int64_t raw = SECOND / 3; raw < 300 * SECOND;
		     raw += 3 * SECOND + (int64_t)usk_rng_below(&r, 9 * SECOND)) {
			int64_t most = seed % 2 ? 1000000000 : 10000000;
			turn(&c, raw, 0,
			     20000000 + (int64_t)usk_rng_below(&r, (uint64_t)most) - most / 2);
		}
		struct usk_carry *y = carry_of(&c, 300, seed % 3, 0, &none);
		assert_true(y->whole);
		for (int i = 0; i < 5000; i++) {
			check(&c, y, (int64_t)usk_rng_below(&r, 300 * SECOND), 0, 3000000);
		}
		usk_carry_free(y);
	}
}

/* One that does so once between each two lines: what the neighbours show bounds nothing there, what
 * the kernel was told does. */
static void test_slewed_always(void **state)
{
	const struct usk_epochs none = { 0 };
	struct usk_rng r;
	(void)state;
	for (uint64_t seed = case_first(50); seed < case_end(50); seed++) {
		struct clock c = { .n = 0 };
		usk_rng_seed(&r, seed);
		turn(&c, 0, 0, 20000000);
		for (int64_t k = 0; k < 300; k++) {
			turn(&c, k * SECOND + 1000 + (int64_t)usk_rng_below(&r, SECOND - 2000), 0,
			     (int64_t)usk_rng_below(&r, 1000000000) - 500000000);
		}
		struct usk_carry *y = carry_of(&c, 300, true, 0, &none);
		assert_true(y->whole);
		for (int i = 0; i < 5000; i++) {
			check(&c, y, (int64_t)usk_rng_below(&r, 300 * SECOND), 0, 3000000);
		}
		usk_carry_free(y);
	}
}

/* Forward steps, backward ones that no record shows, and slews. */
static void test_set(void **state)
{
	const struct usk_epochs none = { 0 };
	struct usk_rng r;
	(void)state;
	for (uint64_t seed = case_first(50); seed < case_end(50); seed++) {
		struct clock c = { .n = 0 };
		usk_rng_seed(&r, seed);
		turn(&c, 0, 0, 0);
		for (int64_t raw = 5 * SECOND; raw < 290 * SECOND;
		     raw += 5 * SECOND + (int64_t)usk_rng_below(&r, 9 * SECOND)) {
			int64_t size = (int64_t)usk_rng_below(&r, 3) ? 2 * SECOND : 100000;
			int64_t step = (int64_t)usk_rng_below(&r, (uint64_t)size);
			int64_t rate = 7000000;
			if (seed %
			    2) { /* and a slew from before it on, be it behind the last line */
				rate = (int64_t)usk_rng_below(&r, 1000000000) - 500000000;
				turn(&c, raw - 1 - (int64_t)usk_rng_below(&r, 2 * SECOND), 0, rate);
			}
			turn(&c, raw, usk_rng_below(&r, 4) ? step : -(step % 300000), rate);
		}
		struct usk_carry *y = carry_of(&c, 300, true, 0, &none);
		for (int i = 0; i < 5000; i++) {
			check(&c, y, (int64_t)usk_rng_below(&r, 300 * SECOND), 0, 4 * SECOND);
		}
		usk_carry_free(y);
	}
}

/* How fast the raw clock ran: between the lines that a step lies between as before it or as behind, be it right
 * after the first line, or before and behind a single one. */
static void test_slopes(void **state)
{
	const struct usk_epochs none = { 0 };
	const usk_i128 all = 1000000000000;
	(void)state;
	for (uint64_t seed = case_first(50); seed < case_end(50); seed++) {
		struct clock c = { .n = 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		/* Nothing but what is behind a step says how the clock ran before it if there is one line only. */
		int64_t raw = (seed % 3 ? 0 : 3 * SECOND) + (int64_t)usk_rng_below(&r, SECOND),
			rate = 5000000;
		turn(&c, 0, 0, rate);
		while (raw < 56 * SECOND) {
			rate = raw < SECOND ? rate
					    : (int64_t)usk_rng_below(&r, 100000000) - 50000000;
			for (uint64_t n = 1 + usk_rng_below(&r, 2); n--; raw += SECOND) {
				turn(&c, raw, 300 * MS, rate);
				c.piece[c.n - 1].set = false; /* no line of its own */
			}
			raw += 3 * SECOND;
		}
		struct usk_carry *y = carry_of(&c, 60, true, 0, &none);
		for (int i = 0; i < 1000; i++) {
			const int64_t at = 1000 + (int64_t)usk_rng_below(&r, 59 * SECOND);
			const usk_i128 gain = rate_at(&c, at);
			const int64_t slope = (int64_t)(-gain * all / (all + gain));
			const struct usk_slopes s = usk_carry_slopes(y, read_clock(&c, at));
			if (s.least_e12 > slope + 1 || s.most_e12 < slope - 1) {
				fail_msg("seed %llu, raw %lld: %lld, not in [%lld, %lld]",
					 (unsigned long long)seed, (long long)at, (long long)slope,
					 (long long)s.least_e12, (long long)s.most_e12);
			}
		}
		usk_carry_free(y);
	}
}

/* Set back by 3 s, as the stamps show. */
static void test_epochs(void **state)
{
	struct clock c = { .n = 0 };
	(void)state;
	turn(&c, 0, 0, 0);
	turn(&c, 50 * SECOND + 5000, -3 * SECOND, 0);
	int64_t before = read_clock(&c, 50 * SECOND), after = read_clock(&c, 50 * SECOND + 6000);
	struct usk_epoch one = { .before_ns = before,
				 .after_ns = after,
				 .shift_ns = before - after + USK_EPOCH_GAP_NS };
	const struct usk_epochs e = { &one, 1 };
	struct usk_clock_log log = log_of(&c, 100, true, 0);
	struct usk_carry *y;
	assert_null(usk_carry_of(&log, &e, read_clock(&c, SECOND),
				 read_clock(&c, 99 * SECOND) + one.shift_ns, &y));
	assert_true(y->whole);
	for (int64_t raw = SECOND; raw < 99 * SECOND; raw += 77777777) {
		bool behind = raw > 50 * SECOND + 5000;
		bool near = raw > 49 * SECOND && raw < 52 * SECOND;
		check(&c, y, raw, behind ? one.shift_ns : 0, near ? 1000 : 140);
	}
	usk_carry_free(y);
	/* And the log of a clock that was not. */
	c.n = 1;
	log = log_of(&c, 100, true, 0);
	char *why = usk_carry_of(&log, &e, before - SECOND, after + one.shift_ns + SECOND, &y);
	assert_non_null(why);
	assert_null(y);
	free(why);
}

/* No stamp lies in the gap that unwrapped time leaves where a clock fell. */
static bool in_gap(const struct usk_epochs *e, int64_t at)
{
	bool in = false;
	for (size_t i = 0; i < e->n; i++) {
		in = in || (at > e->epoch[i].before_ns + (i ? e->epoch[i - 1].shift_ns : 0) &&
			    at < e->epoch[i].after_ns + e->epoch[i].shift_ns);
	}
	return in;
}

/* Between two corners both bounds are straight. */
static void check_corners(const struct usk_carry *y, int64_t first, int64_t last)
{
	int64_t *corner;
	size_t n = usk_carry_corners(y, first, last, &corner);
	assert_true(n >= 2 && corner[0] == first && corner[n - 1] == last);
	for (size_t i = 0; i + 1 < n; i++) {
		int64_t d = (corner[i + 1] - corner[i]) / 4;
		struct usk_raw r[3];
		for (int64_t k = 0; k < 3; k++) {
			r[k] = usk_carry_raw(y, corner[i] + (k + 1) * d);
		}
		int64_t lo = r[0].lo_ns + (r[2].lo_ns - r[0].lo_ns) / 2 - r[1].lo_ns;
		int64_t hi = r[0].hi_ns + (r[2].hi_ns - r[0].hi_ns) / 2 - r[1].hi_ns;
		if (!in_gap(y->epochs, corner[i] + 2 * d) &&
		    (lo < -2 || lo > 2 || hi < -2 || hi > 2)) {
			fail_msg("between corners %lld and %lld: bent by %lld, %lld",
				 (long long)(corner[i] - START), (long long)(corner[i + 1] - START),
				 (long long)lo, (long long)hi);
		}
	}
	free(corner);
}

/* A clock that was set back thrice, logged for a part of the time: in it each stamp is where it
 * was, and before and behind it time goes on from the nearest line as unwrapped time does. */
static void test_part(void **state)
{
	enum { FALLS = 3, ALL = 100 };
	struct clock c = { .n = 0 };
	struct usk_epoch fall[FALLS];
	(void)state;
	turn(&c, 0, 0, 0);
	for (size_t i = 0; i < FALLS; i++) {
		int64_t raw = (20 + 30 * (int64_t)i) * SECOND + 5000;
		turn(&c, raw, -(3 + (int64_t)i) * SECOND, 0);
		int64_t shift = i ? fall[i - 1].shift_ns : 0;
		fall[i] = (struct usk_epoch){ .before_ns = read_clock(&c, raw - 1000),
					      .after_ns = read_clock(&c, raw + 1000) };
		fall[i].shift_ns = fall[i].before_ns + shift - fall[i].after_ns + USK_EPOCH_GAP_NS;
	}
	const struct usk_epochs e = { fall, FALLS };
	for (int from = 0; from < ALL; from += 10) {
		for (int to = from + 9; to <= ALL; to += 30) {
			struct usk_clock_log log = log_from(&c, from, to, true, 0);
			struct usk_carry *y;
			char *why =
				usk_carry_of(&log, &e, START,
					     read_clock(&c, ALL * SECOND) + fall[2].shift_ns, &y);
			if (why) {
				fail_msg("%d to %d: %s", from, to, why);
			}
			assert_false(y->whole);
			/* Raw time is counted so that the first line's is its own stamp. */
			const int64_t begin = from * SECOND, end = to * SECOND;
			const int64_t less = read_clock(&c, begin + 20) - begin;
			const struct usk_log_line *line[] = { &y->log.line[0],
							      &y->log.line[y->log.n - 1] };
			const int64_t first =
				usk_carry_shown(y, (line[0]->before_ns + line[0]->after_ns) / 2);
			const int64_t last =
				usk_carry_shown(y, (line[1]->before_ns + line[1]->after_ns) / 2);
			for (int64_t raw = SECOND; raw < 99 * SECOND; raw += 77777777) {
				size_t k = 0;
				while (k < FALLS && c.piece[k + 1].raw_ns <= raw) {
					k++;
				}
				int64_t u = read_clock(&c, raw) + (k ? fall[k - 1].shift_ns : 0);
				struct usk_raw r = usk_carry_raw(y, u);
				int64_t lo = raw + less, hi = lo, most = 2000;
				if (raw < begin) {
					lo = hi = first + (u - first) + begin + less - first;
					most = 60;
				} else if (raw > end) {
					lo = hi = end + less + (u - last);
					most = 60;
				}
				if (r.lo_ns > lo + 20 || r.hi_ns < hi - 20 ||
				    r.hi_ns - r.lo_ns > most) {
					fail_msg("%d to %d, at raw %lld: [%lld, %lld]", from, to,
						 (long long)raw, (long long)(r.lo_ns - lo),
						 (long long)(r.hi_ns - lo));
				}
				int64_t back = usk_carry_shown(y, (r.lo_ns + r.hi_ns) / 2);
				assert_in_range(back - u + SECOND, SECOND - 60, SECOND + 60);
			}
			check_corners(y, START + SECOND,
				      read_clock(&c, 99 * SECOND) + fall[2].shift_ns);
			usk_carry_free(y);
		}
	}
}

/* A clock that was set once or twice while a line was read, and behind it before the next, which is
 * read at once: what it was set by in all is what its steps say together. */
static void test_steps(void **state)
{
	enum { AT = 10, WIDE = 200000, LINES = 20 };
	(void)state;
	for (uint64_t seed = case_first(400); seed < case_end(400); seed++) {
		struct clock c = { .n = 0 };
		struct usk_epoch fall[2];
		struct usk_epochs e = { fall, 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		turn(&c, 0, 0, 0);
		int64_t raw = AT * SECOND, all = 0, shift = 0;
		const int64_t at[] = { raw + 1 + (int64_t)usk_rng_below(&r, WIDE / 2),
				       raw + WIDE / 2 + 2 + (int64_t)usk_rng_below(&r, WIDE) };
		for (size_t i = 0; i < 1 + seed % 2; i++) {
			const int64_t by = 1000 + (int64_t)usk_rng_below(&r, 2 * WIDE);
			const int64_t before = read_clock(&c, at[i] - 1);
			turn(&c, at[i], usk_rng_below(&r, 3) ? -by : by, 0);
			const int64_t after = read_clock(&c, at[i]);
			all += after - before - 1;
			if (after < before) {
				shift += before - after + USK_EPOCH_GAP_NS;
				fall[e.n++] = (struct usk_epoch){ .before_ns = before,
								  .after_ns = after,
								  .shift_ns = shift };
			}
		}
		char *text = NULL;
		size_t n;
		FILE *f = open_memstream(&text, &n);
		fputs("# unskew clock log, raw clock of boot x, host y\n"
		      "clock,before_ns,time_ns,after_ns,rate_e12,status,event\n",
		      f);
		for (int64_t k = 0; k < LINES; k++) {
			const int64_t line[] = { k * SECOND, k * SECOND + 2 * WIDE };
			const int64_t wide[] = { k == AT ? WIDE : 40, 40 };
			for (int i = 0; i < (k == AT ? 2 : 1); i++) {
				fprintf(f, "realtime,%lld,%lld,%lld,0,0,%s\n", (long long)line[i],
					(long long)read_clock(&c, line[i] + wide[i] / 2),
					(long long)(line[i] + wide[i]), k == AT ? "set" : "");
			}
		}
		fclose(f);
		struct usk_clock_log log;
		struct usk_input in;
		struct usk_err err;
		usk_input_memory(&in, text, n);
		assert_int_equal(usk_clock_log_read(&in, &log, &err), USK_OK);
		usk_input_close(&in);
		free(text);
		struct party y = { .carry = NULL };
		char *why = usk_carry_of(&log, &e, START + SECOND,
					 read_clock(&c, (LINES - 2) * SECOND) + shift, &y.carry);
		if (why) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, why);
		}
		struct usk_clock k = { .n_jumps = 0 };
		usk_carried_steps(&k, 0, &y);
		assert_in_range(k.n_jumps, 1, 2);
		int64_t least = 0, most = 0;
		for (size_t i = 0; i < k.n_jumps; i++) {
			least += k.jump[i].size_lo_ns;
			most += k.jump[i].size_hi_ns;
		}
		if (-all - shift < least || -all - shift > most || most - least > 3 * WIDE) {
			fail_msg("seed %llu: set by %lld in all, and %lld shifted: [%lld, %lld]",
				 (unsigned long long)seed, (long long)all, (long long)shift,
				 (long long)least, (long long)most);
		}
		free(k.jump);
		usk_carry_free(y.carry);
	}
}

static void test_holes(void **state)
{
	struct clock c = { .n = 0 };
	const struct usk_epochs none = { 0 };
	(void)state;
	turn(&c, 0, 0, 1000000);
	struct usk_carry *y = carry_of(&c, 100, true, 40, &none);
	assert_false(y->whole);
	usk_carry_free(y);
	/* Cut short, and of another time. */
	struct usk_clock_log log = log_of(&c, 50, true, 0);
	assert_null(usk_carry_of(&log, &none, START + SECOND, START + 99 * SECOND, &y));
	assert_false(y->whole);
	check(&c, y, 30 * SECOND, 0, 140);
	usk_carry_free(y);
	log = log_of(&c, 50, true, 0);
	char *why = usk_carry_of(&log, &none, START + 60 * SECOND, START + 99 * SECOND, &y);
	assert_non_null(why);
	assert_null(y);
	free(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant),      cmocka_unit_test(test_slewed),
		cmocka_unit_test(test_slewed_always), cmocka_unit_test(test_set),
		cmocka_unit_test(test_epochs),	      cmocka_unit_test(test_part),
		cmocka_unit_test(test_steps),	      cmocka_unit_test(test_slopes),
		cmocka_unit_test(test_holes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
