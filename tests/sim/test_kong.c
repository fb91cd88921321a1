/* SPDX-License-Identifier: MIT */
/*
 * Reading clocks as Kong, Spector and Siewiorek found it (1986): what four stamps say of the time
 * between them, against samples of known correlation; and clock routines on a bus that many use.
 */
#include "bus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const uint64_t seed = 1986;

/* ---- eq. 2, 4 and 5 ------------------------------------------------------------- */

enum { SAMPLES = 1000000 };

/* In units of 1000 s = 1 us of deviation: rounding to ns adds nothing that shows. */
static struct noise_factors sample(struct usk_rng *r, const struct usk_read_noise *n)
{
	struct noise_factors f = noise_sample(r, n, SAMPLES);
	/* The mean is the true one. */
	assert_true(fabs(f.mean_error) < 6 / sqrt(SAMPLES) + 0.01 / sqrt(f.variance));
	return f;
}

static void near(double got, double want, const char *what)
{
	if (!(fabs(got - want) < 0.05 * fabs(want))) {
		fail_msg("%s: %g, predicted %g (seed %llu)", what, got, want,
			 (unsigned long long)seed);
	}
}

static void test_variance(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	for (int done = 0; done < 3;) {
		struct usk_read_noise n = { .sigma = { 1000, 500, 500, 1000 } };
		noise_draw(&r, &n);
		if (elapsed_variance_halves(&n) < 0.05) {
			continue;
		}
		done++;
		struct noise_factors f = sample(&r, &n);
		near(f.variance, elapsed_variance(&n), "V(T_A), eq. 2");
		near(f.improvement, 1 / elapsed_variance_halves(&n), "k', eq. 4");

		/* Nothing is measured: T_3 is a whole read, T_2 none. */
		if (usk_elapsed_variance_short(&n) < 0.05) {
			continue;
		}
		n.sigma[1] = 0;
		n.sigma[2] = 1000;
		f = sample(&r, &n);
		near(f.variance, elapsed_variance(&n), "V(T_A), eq. 2, short");
		/* V(T_m) is V(T_1) here, so k and k' are one. */
		near(f.improvement, 1 / usk_elapsed_variance_short(&n), "k and k', eq. 5");
	}
}

/* The paper's corners: all alike, nothing alike, the worst. */
static void test_corners(void **state)
{
	(void)state;
	struct usk_read_noise n = { .sigma = { 2, 1, 1, 2 } };
	assert_true(elapsed_variance(&n) == 4 && elapsed_variance_halves(&n) == 1);
	assert_true(usk_elapsed_variance_short(&n) == 1.5);
	n.rho_23 = n.rho_14 = 1;
	assert_true(elapsed_variance(&n) == 8 && elapsed_variance_halves(&n) == 2);
	assert_true(usk_elapsed_variance_short(&n) == 2);
	n.rho_12 = n.rho_13 = n.rho_24 = n.rho_34 = 1;
	assert_true(elapsed_variance(&n) == 0 && elapsed_variance_halves(&n) == 0);
	assert_true(usk_elapsed_variance_short(&n) == 0);
}

/* ---- a bus that many use -------------------------------------------------------- */

/* Time between two successive reads of the clock, by how many words lay between those that count.
 */
struct spread {
	double n, sum, square;
};

static void add(struct spread *s, double v)
{
	s->n++;
	s->sum += v;
	s->square += v * v;
}

static double mean(const struct spread *s)
{
	return s->sum / s->n;
}

static double deviation(const struct spread *s)
{
	return sqrt(s->square / s->n - mean(s) * mean(s));
}

static void seen(void *ctx, const struct bus_pair *pair)
{
	struct spread *by = ctx;
	assert_true(pair->took_ns > 0 && pair->took_ns < 1000000000 && pair->between <= 4);
	add(&by[0], (double)pair->took_ns);
	if (pair->between) {
		add(&by[pair->between], (double)pair->took_ns);
	}
}

/* by[k]: pairs with k words between; by[0]: all of them. Words of 12 bits, so that they flip often.
 */
static void run(enum counter_routine routine, unsigned readers, struct spread by[5])
{
	const struct bus_plan plan = { .routine = routine,
				       .readers = readers,
				       .bits = 12,
				       .pairs = 20000,
				       .gap_ns = 1000000,
				       .seed = seed + readers };
	bus_run(&plan, seen, by);
}

/* Figure 1: 2 words between the significant ones, 4 at the peaks, 1 in the troughs. */
static void test_peaks(void **state)
{
	(void)state;
	struct spread by[5] = { { 0 } };
	run(VARYING_READ, 30, by);
	for (int k = 1; k <= 4; k++) {
		assert_true(k == 3 || by[k].n > 50);
	}
	assert_true(by[2].n > 10 * by[1].n && by[2].n > 10 * by[4].n);
	double word = mean(&by[2]) / 3;
	near(mean(&by[1]), 2 * word, "troughs, two words long");
	near(mean(&by[4]), 5 * word, "peaks, five words long");
}

/* Figures 4 to 7: 4-Read slows down as more read the clock; 1-Read hardly does. */
static void test_readers(void **state)
{
	(void)state;
	static const unsigned readers[] = { 1, 8, 16, 30 };
	double four[4], one[4], four_spread[4];
	for (int i = 0; i < 4; i++) {
		struct spread by[5] = { { 0 } };
		run(FOUR_READ, readers[i], by);
		four[i] = mean(&by[0]);
		four_spread[i] = deviation(&by[0]);
		struct spread single[5] = { { 0 } };
		run(ONE_READ, readers[i], single);
		one[i] = mean(&single[0]);
	}
	for (int i = 1; i < 4; i++) {
		assert_true(four[i] > 1.02 * four[i - 1]);
	}
	assert_true(four_spread[1] > four_spread[0]);
	assert_true(four[3] / four[0] > 3 && one[3] / one[0] < four[3] / four[0] / 2);
}

/* ---- method I on the bus -------------------------------------------------------- */

/* Costs of reads around nothing, as they come. */
struct costs {
	size_t n;
	double t[3][20000]; /* T_1, T_m, T_4, in us */
	double net, net_square;
};

static void cost(void *ctx, const struct bus_run *run)
{
	struct costs *c = ctx;
	for (int k = 0; k < 3; k++) {
		c->t[k][c->n] = (double)(run->stamps.t_ns[k + 1] - run->stamps.t_ns[k]) / 1000;
	}
	c->n++;
	/* What is measured lies between the second read and the third, truly. */
	assert_true(run->stamps.t_ns[1] <= run->begin_ns + 2000 && run->begin_ns == run->end_ns &&
		    run->end_ns <= run->stamps.t_ns[2] + 2000);
	double net = (double)usk_elapsed(&run->stamps).net_2 / 2000;
	c->net += net;
	c->net_square += net * net;
}

static double correlation(const double *a, const double *b, size_t n)
{
	double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0, m = (double)n;
	for (size_t i = 0; i < n; i++) {
		sum_a += a[i];
		sum_b += b[i];
		aa += a[i] * a[i];
		bb += b[i] * b[i];
		ab += a[i] * b[i];
	}
	return (m * ab - sum_a * sum_b) / sqrt((m * aa - sum_a * sum_a) * (m * bb - sum_b * sum_b));
}

/* Figures 12 and 13: the mean is zero within his 6.7 us, and k what eq. 5 makes of the correlations
 * that were seen. */
static void test_zero(void **state)
{
	(void)state;
	static struct costs c;
	for (int i = 0; i < 8; i++) {
		const struct bus_plan plan = { .routine = i & 1 ? ONE_READ : FOUR_READ,
					       .readers = i & 2 ? 30 : 8,
					       .bits = 16,
					       .interrupts = i & 4,
					       .pairs = COUNT(c.t[0]),
					       .gap_ns = 1000000,
					       .seed = seed + (unsigned)i };
		c = (struct costs){ .n = 0 };
		bus_measure(&plan, 0, cost, &c);
		double n = (double)c.n, mean = c.net / n, variance = c.net_square / n - mean * mean;
		double sum = 0, square = 0;
		for (size_t k = 0; k < c.n; k++) {
			sum += c.t[1][k];
			square += c.t[1][k] * c.t[1][k];
		}
		double raw = square / n - sum / n * (sum / n);
		const struct usk_read_noise noise = {
			.rho_13 = correlation(c.t[0], c.t[1], c.n),
			.rho_34 = correlation(c.t[1], c.t[2], c.n),
			.rho_14 = correlation(c.t[0], c.t[2], c.n),
		};
		assert_true(fabs(mean) < 6.7);
		/* Where interrupts hit 2 % of reads, so many variances differ by a few percent. */
		double seen_k = raw / variance, want = 1 / usk_elapsed_variance_short(&noise);
		if (!(fabs(seen_k - want) < 0.1 * want)) {
			fail_msg("plan %d: k %g, eq. 5 %g", i, seen_k, want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corners), cmocka_unit_test(test_variance),
		cmocka_unit_test(test_peaks),	cmocka_unit_test(test_readers),
		cmocka_unit_test(test_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
