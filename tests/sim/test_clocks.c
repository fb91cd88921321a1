/* SPDX-License-Identifier: MIT */
/*
 * Clocks as they are: each kind of noise is as large as it was asked to be, jumps are where and
 * what truth.json says, and no fraction of a nanosecond is lost between pieces.
 */
#include "sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define E12    INT64_C(1000000000000)
#define SECOND INT64_C(1000000000)
#define HOSTS  100

static const int64_t none[] = { 0 };

/* All hosts but host0 the same; nothing but what the test adds. */
static struct sim_options plain(int64_t seconds)
{
	struct sim_options o;
	sim_options_init(&o);
	o.hosts = HOSTS;
	o.format = SIM_TABLE;
	o.duration_ns = seconds * SECOND;
	o.offset_ns = o.drift_e12 = (struct sim_list){ none, 1 };
	return o;
}

static struct sim_clock clock_of(const struct sim_options *o, uint32_t host)
{
	struct sim_clock c;
	struct usk_err err = { 0 };
	if (sim_options_check(o, &err)) {
		fail_msg("%s", err.msg);
	}
	sim_options_clock(o, host, &c);
	return c;
}

static int64_t rate_at(const struct sim_clock *c, int64_t true_ns)
{
	size_t i = c->n - 1;
	while (i && c->piece[i].true_ns > true_ns) {
		i--;
	}
	return c->piece[i].rate_e12;
}

static bool jumps_at(const struct sim_clock *c, int64_t true_ns)
{
	for (size_t i = 0; i < c->n_jumps; i++) {
		if (c->jump[i].true_ns == true_ns && !c->jump[i].still_ns) {
			return true;
		}
	}
	return false;
}

/* ---- exactness ------------------------------------------------------------------------ */

static struct sim_step some_steps[] = {
	{ 1, 7 * SECOND + 13, -3 * SECOND, false }, { 1, 20 * SECOND, 5, false },
	{ 1, 20 * SECOND, 2 * SECOND, true },	    { 1, 21 * SECOND, 999, false },
	{ 1, 21 * SECOND + 5, SECOND, true },	    { 1, 98 * SECOND, 5 * SECOND, true },
};

static struct sim_options everything(uint64_t seed)
{
	static const int64_t offset[] = { -7777777777 }, drift[] = { 123456789 };
	static const int64_t wander[] = { 1000000 }, flicker[] = { 300000 }, age[] = { -40000000 };
	static const int64_t heat[] = { 3000000 }, poll[] = { 16 * SECOND + 1 }, steps[] = { 4 };
	struct sim_options o = plain(100);
	o.seed = seed;
	o.offset_ns = (struct sim_list){ offset, 1 };
	o.drift_e12 = (struct sim_list){ drift, 1 };
	o.wander_e15 = (struct sim_list){ wander, 1 };
	o.flicker_e15 = (struct sim_list){ flicker, 1 };
	o.ageing_e15 = (struct sim_list){ age, 1 };
	o.temperature_e12 = (struct sim_list){ heat, 1 };
	o.poll_ns = (struct sim_list){ poll, 1 };
	o.steps = (struct sim_list){ steps, 1 };
	o.step = some_steps;
	o.n_steps = COUNT(some_steps);
	return o;
}

/* Summed up piece by piece as one fraction from the start on, with the jumps as stated. */
static void test_no_fraction_is_lost(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct sim_options o = everything(seed);
		struct sim_clock c = clock_of(&o, 1);
		assert_true(c.n > 900 && c.n_jumps == COUNT(some_steps) + 4);
		usk_i128 sum = (usk_i128)c.piece[0].local_ns * E12;
		size_t jump = 0;
		for (size_t i = 0; i < c.n; i++) {
			const struct sim_piece *p = &c.piece[i];
			if (i) {
				int64_t run = p->true_ns - p[-1].true_ns;
				assert_true(run > 0);
				sum += (usk_i128)run * (E12 + p[-1].rate_e12);
			}
			for (; jump < c.n_jumps && c.jump[jump].true_ns <= p->true_ns; jump++) {
				assert_true(c.jump[jump].true_ns == p->true_ns);
				if (!c.jump[jump].still_ns) {
					sum += (usk_i128)c.jump[jump].size_ns * E12;
				}
			}
			usk_i128 whole = usk_floor_div(sum, E12);
			assert_true(sim_clock_read(&c, p->true_ns) == (int64_t)whole);
			assert_true(p->rest_e12 == (int64_t)(sum - whole * E12));
		}
		assert_int_equal(jump, c.n_jumps);
		sim_clock_free(&c);
	}
}

/* Any moment, found by looking at all pieces. */
static void test_reading_anywhere(void **state)
{
	(void)state;
	struct sim_options o = everything(3);
	struct sim_clock c = clock_of(&o, 1);
	struct usk_rng r;
	usk_rng_seed(&r, 5);
	int64_t before = INT64_MIN;
	for (int i = 0; i < 20000; i++) {
		int64_t t = o.start_ns - SECOND + (int64_t)usk_rng_below(&r, 102 * SECOND);
		size_t k = c.n - 1;
		while (k && c.piece[k].true_ns > t) {
			k--;
		}
		struct sim_clock one = { .piece = &c.piece[k], .n = 1 };
		assert_true(sim_clock_read(&c, t) == sim_clock_read(&one, t));
	}
	for (int64_t t = o.start_ns; t < o.start_ns + o.duration_ns; t += 1000003) {
		int64_t now = sim_clock_read(&c, t);
		bool jumped = false;
		for (int64_t k = 0; k < (int64_t)c.n_jumps; k++) {
			int64_t at = c.jump[k].true_ns;
			jumped = jumped || (at <= t && at > t - 1000003);
		}
		assert_true(jumped || now >= before);
		bool still = now == before;
		assert_true(jumped || before == INT64_MIN || !sim_clock_asleep(&c, t) || still ||
			    !sim_clock_asleep(&c, t - 1000003));
		before = now;
	}
	sim_clock_free(&c);
}

/* Half the range of a pair's rate, against all pieces of both in long doubles. */
static void test_range_of_rates(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 6; seed++) {
		struct sim_options o = everything(seed);
		struct sim_clock a = clock_of(&o, 1), b = clock_of(&o, 2);
		int64_t from = o.start_ns + 3 * SECOND, to = from + (int64_t)seed * 15 * SECOND;
		long double low[2] = { 1, 1 }, high[2] = { -1, -1 };
		for (size_t i = 0; i < a.n + b.n; i++) {
			int64_t t = i < a.n ? a.piece[i].true_ns : b.piece[i - a.n].true_ns;
			t = t < from ? from : t;
			int64_t ra = rate_at(&a, t), rb = rate_at(&b, t);
			if (t >= to || ra == -E12 || rb == -E12) {
				continue;
			}
			for (int k = 0; k < 2; k++) {
				long double s = (long double)(k ? rb - ra : ra - rb) /
						(long double)(E12 + (k ? ra : rb));
				low[k] = s < low[k] ? s : low[k];
				high[k] = s > high[k] ? s : high[k];
			}
		}
		long double x = (high[0] - low[0]) / 2, y = (high[1] - low[1]) / 2;
		long double expected = (x > y ? x : y) * 1e18L;
		long double got = (long double)sim_clocks_wander_e18(&a, &b, from, to);
		assert_true(got >= expected - 1 && got <= expected + 3);
		sim_clock_free(&a);
		sim_clock_free(&b);
	}
}

/* ---- sizes ---------------------------------------------------------------------------- */

/* After t seconds a random walk of sigma per root second has gone sigma sqrt(t) off, rms. */
static void test_random_walk(void **state)
{
	(void)state;
	static const int64_t wander[] = { 1000000 }; /* 1 ppb */
	struct sim_options o = plain(3600);
	o.wander_e15 = (struct sim_list){ wander, 1 };
	double squares[2] = { 0, 0 };
	for (uint32_t h = 1; h < HOSTS; h++) {
		struct sim_clock c = clock_of(&o, h);
		assert_int_equal(c.piece[0].rate_e12, 0);
		assert_true(c.n > 3590 && c.n < 3605);
		for (int k = 0; k < 2; k++) {
			double ppb =
				(double)rate_at(&c, o.start_ns + (k ? 3599 : 400) * SECOND) * 1e-3;
			squares[k] += ppb * ppb / (k ? 3599 : 400);
		}
		sim_clock_free(&c);
	}
	/* A chi square of 99: 14 % is one standard deviation. */
	assert_true(fabs(squares[0] / (HOSTS - 1) - 1) < 0.5);
	assert_true(fabs(squares[1] / (HOSTS - 1) - 1) < 0.5);
	/* host0 keeps true time; another seed is another walk. */
	struct sim_clock c = clock_of(&o, 0);
	assert_true(c.n == 1 && c.piece[0].rate_e12 == 0);
	sim_clock_free(&c);
}

/* The Allan deviation is the same over 8, 64 and 512 s, and what was asked for. */
static void test_flicker(void **state)
{
	(void)state;
	static const int64_t flicker[] = { 1000000 }; /* 1 ppb */
	struct sim_options o = plain(8192);
	o.flicker_e15 = (struct sim_list){ flicker, 1 };
	for (int64_t tau = 8; tau <= 512; tau *= 8) {
		double sum = 0;
		int64_t n = 0;
		for (uint32_t h = 1; h < 40; h++) {
			struct sim_clock c = clock_of(&o, h);
			for (int64_t t = 0; t + 2 * tau <= 8192; t += tau, n++) {
				double x[3];
				for (int k = 0; k < 3; k++) {
					int64_t at = o.start_ns + (t + k * tau) * SECOND;
					x[k] = (double)(sim_clock_read(&c, at) - at);
				}
				double y = (x[2] - 2 * x[1] + x[0]) / (double)tau; /* ppb */
				sum += y * y / 2;
			}
			sim_clock_free(&c);
		}
		double deviation = sqrt(sum / (double)n);
		assert_true(deviation > 0.7 && deviation < 1.3);
	}
}

static void test_age_and_heat(void **state)
{
	(void)state;
	static const int64_t age[] = { 86400000000 }, heat[] = { 5000000 };
	struct sim_options o = plain(2000);
	o.ageing_e15 = (struct sim_list){ age, 1 }; /* 1 ppb a second: offset t^2 / 2 */
	struct sim_clock c = clock_of(&o, 1);
	int64_t end = o.start_ns + o.duration_ns;
	assert_true(llabs(sim_clock_read(&c, end) - end - 2000000) <= 2);
	int64_t half = o.start_ns + o.duration_ns / 2;
	assert_true(llabs(sim_clock_read(&c, half) - half - 500000) <= 2);
	sim_clock_free(&c);

	o.ageing_e15 = (struct sim_list){ 0 };
	o.temperature_e12 = (struct sim_list){ heat, 1 };
	o.temperature_ns = 100 * SECOND;
	c = clock_of(&o, 1);
	int64_t low = 0, high = 0;
	for (size_t i = 0; i < c.n; i++) {
		low = c.piece[i].rate_e12 < low ? c.piece[i].rate_e12 : low;
		high = c.piece[i].rate_e12 > high ? c.piece[i].rate_e12 : high;
	}
	assert_in_range(high, 4990000, 5000000);
	assert_in_range(-low, 4990000, 5000000);
	/* A whole number of cycles leaves nothing. */
	assert_true(llabs(sim_clock_read(&c, end) - end) <= 10);
	sim_clock_free(&c);
}

/* A daemon keeps a clock near true time, within its limits. */
static void test_polls(void **state)
{
	(void)state;
	static const int64_t poll[] = { 64 * SECOND }, offset[] = { 20000000 };
	static const int64_t drift[] = { 30000000 }, wander[] = { 1000000 };
	struct sim_options o = plain(7200);
	o.poll_ns = (struct sim_list){ poll, 1 };
	o.offset_ns = (struct sim_list){ offset, 1 };
	o.drift_e12 = (struct sim_list){ drift, 1 };
	o.wander_e15 = (struct sim_list){ wander, 1 };
	o.slew_e12 = 100000000;
	for (uint32_t h = 1; h < 20; h++) {
		struct sim_clock c = clock_of(&o, h);
		int64_t first = o.start_ns + 64 * SECOND;
		/* 20 ms at 100 ppm take 200 s; meanwhile the rate is the limit. */
		assert_true(llabs(rate_at(&c, first) + 100000000) < 1000000);
		for (int64_t t = 1000; t < 7200; t += 7) {
			int64_t at = o.start_ns + t * SECOND;
			assert_true(llabs(sim_clock_read(&c, at) - at) < 400000);
			assert_true(llabs(rate_at(&c, at)) < 100000000);
		}
		assert_int_equal(c.n_jumps, 0);
		sim_clock_free(&c);
	}
}

static void test_random_steps(void **state)
{
	(void)state;
	static const int64_t ten[] = { 0, 10 };
	struct sim_options o = plain(3600);
	o.steps = (struct sim_list){ ten, 2 };
	size_t back = 0;
	for (uint32_t h = 1; h < HOSTS; h++) {
		struct sim_clock c = clock_of(&o, h);
		assert_int_equal(c.n_jumps, 10);
		for (size_t i = 0; i < 10; i++) {
			assert_in_range(llabs(c.jump[i].size_ns), 200000, 1000000000);
			back += c.jump[i].size_ns < 0;
			assert_true(!i || c.jump[i].true_ns - c.jump[i - 1].true_ns >= 71 * SECOND);
		}
		sim_clock_free(&c);
	}
	assert_in_range(back, 400, 590);
}

/* ---- recorded clocks -------------------------------------------------------------------- */

static char dir[] = "/tmp/unskew-clocks-XXXXXX";

static char *write_file(const char *name, const char *text)
{
	char *path = usk_format("%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

static void test_series(void **state)
{
	(void)state;
	char *path = write_file("series.csv", "note,offset_seconds, seconds\n"
					      "a,-0.000001,1700000000.25\n"
					      "# a remark\n"
					      "b,1.5e-5,1700000013.25\n"
					      "c,0.000015003,1700000020.000000001\r\n"
					      "c,-0.25,1700000020.000000001\n"
					      "d,\"-0.249\",1700000080\n");
	struct sim_series series;
	assert_int_equal(sim_series_read(path, 1, &series, NULL), USK_OK);
	assert_int_equal(series.n, 5);
	struct sim_options o = plain(200);
	o.series = &series;
	o.n_series = 1;
	struct sim_clock c = clock_of(&o, 1);
	for (size_t i = 0; i < series.n; i++) {
		const struct sim_error_point *p = &series.point[i];
		int64_t at = o.start_ns + p->after_ns, ahead = sim_clock_read(&c, at) - at;
		if (!jumps_at(&c, at) || i == 3) {
			assert_true(llabs(ahead - p->ahead_ns) <= 1);
		}
	}
	assert_int_equal(c.n_jumps, 1);
	assert_true(c.jump[0].size_ns == -250015003);
	/* Afterwards its mean rate, jumps left out: 1.016003 ms in 79.75 s. */
	assert_true(llabs(rate_at(&c, o.start_ns + 150 * SECOND) - 12739850) < 20);
	sim_clock_free(&c);
	sim_series_free(&series);
	free(path);
}

static void test_wrong_series(void **state)
{
	(void)state;
	static const char *const text[] = {
		"",
		"seconds,offset_seconds\n1,2\n",
		"1,2\nx,3\n",
		"1,2\n0,3\n",
		"1,2\n2,3\n",
		"1,2\n2\n",
		"a,b\n1,2\n3,2\n",
		"1,2\n1e30,2\n",
		"1,nan\n2,inf\n",
		"0x10,0\n0x20p0,0\n",
		"0,2\n3e9,2\n",
		"-4e9,2\n4e9,2\n",
	};
	for (size_t i = 0; i < COUNT(text); i++) {
		char *path = write_file("wrong.csv", text[i]);
		struct sim_series series;
		struct usk_err err = { 0 };
		assert_int_equal(sim_series_read(path, 1, &series, &err), USK_EINPUT);
		assert_non_null(strstr(err.msg, "wrong.csv"));
		free(path);
	}
}

/* ---- in captures ---------------------------------------------------------------------- */

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static int64_t *stamps_read(const char *file, size_t *n)
{
	char *path = usk_format("%s/run/%s", dir, file);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	uint8_t h[24];
	int64_t *stamp = NULL;
	size_t cap = 0;
	*n = 0;
	assert_int_equal(fread(h, 1, 24, f), 24);
	while (fread(h, 1, 16, f) == 16) {
		stamp = usk_room(stamp, *n, &cap, sizeof *stamp);
		stamp[(*n)++] = (int64_t)le32(h) * SECOND + le32(h + 4);
		assert_int_equal(fseek(f, (long)le32(h + 8), SEEK_CUR), 0);
	}
	fclose(f);
	free(path);
	return stamp;
}

/* Put back by 2 s in the middle: stamps fall once, by that. Asleep: the clock stands
 * still, and shows no hole. */
static void test_captures(void **state)
{
	(void)state;
	static struct sim_step steps[] = {
		{ 1, 10 * SECOND, -2 * SECOND, false },
		{ 0, 20 * SECOND, 3 * SECOND, true },
	};
	struct sim_options o;
	sim_options_init(&o);
	o.duration_ns = 30 * SECOND;
	o.step = steps;
	o.n_steps = 2;
	char *path = usk_format("%s/run", dir);
	struct usk_err err = { 0 };
	if (sim_run(&o, path, true, NULL, &err)) {
		fail_msg("%s", err.msg);
	}
	size_t n[2];
	int64_t *stamp[2] = { stamps_read("host0.pcap", &n[0]), stamps_read("host1.pcap", &n[1]) };
	size_t falls = 0;
	for (size_t i = 1; i < n[1]; i++) {
		int64_t step = stamp[1][i] - stamp[1][i - 1];
		falls += step < 0;
		assert_true(step >= 0 || step < -SECOND * 19 / 10);
	}
	assert_int_equal(falls, 1);
	int64_t asleep = o.start_ns + 20 * SECOND;
	for (size_t i = 1; i < n[0]; i++) {
		/* The clock stands still: what comes before and after is near. */
		assert_true(stamp[0][i] >= stamp[0][i - 1]);
		assert_true(stamp[0][i] - stamp[0][i - 1] < SECOND);
	}
	assert_true(stamp[0][n[0] - 1] < o.start_ns + 27 * SECOND);
	assert_true(stamp[0][n[0] - 1] > asleep);
	free(stamp[0]);
	free(stamp[1]);
	free(path);
}

static void test_refusals(void **state)
{
	(void)state;
	static const int64_t below[] = { -1 }, much[] = { INT64_C(1000000000000000) };
	static struct sim_step late = { 1, 100 * SECOND, 1, false }, who = { 200, 1, 1, false };
	static struct sim_step far = { 1, 1, INT64_C(4000000000000000000), false };
	struct sim_options o[9];
	for (size_t i = 0; i < COUNT(o); i++) {
		o[i] = plain(100);
		assert_int_equal(sim_options_check(&o[i], NULL), USK_OK);
		o[i].n_steps = i < 3;
	}
	o[0].step = &late;
	o[1].step = &who;
	o[2].step = &far;
	o[3].wander_e15 = (struct sim_list){ below, 1 };
	o[4].wander_e15 = (struct sim_list){ much, 1 };
	o[5].steps = (struct sim_list){ below, 1 };
	o[6].poll_ns = (struct sim_list){ below, 1 };
	o[7].step_min_ns = 0;
	o[8].temperature_ns = 0;
	for (size_t i = 0; i < COUNT(o); i++) {
		struct usk_err err = { 0 };
		assert_int_not_equal(sim_options_check(&o[i], &err), USK_OK);
		assert_true(strlen(err.msg) > 10);
	}
}

static int remove_dir(void **state)
{
	(void)state;
	char *command = usk_format("rm -rf '%s'", dir);
	int status = system(command);
	free(command);
	return status;
}

int main(void)
{
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_fraction_is_lost),
		cmocka_unit_test(test_reading_anywhere),
		cmocka_unit_test(test_range_of_rates),
		cmocka_unit_test(test_random_walk),
		cmocka_unit_test(test_flicker),
		cmocka_unit_test(test_age_and_heat),
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_random_steps),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_wrong_series),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, remove_dir);
}
