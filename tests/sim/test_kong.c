/* SPDX-License-Identifier: MIT */
/*
 * Reading clocks as Kong, Spector and Siewiorek found it (1986): what four stamps say of the time
 * between them, against samples of known correlation; and clock routines on a bus that many use.
 */
#include "base/base.h"
#include "unskew_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const uint64_t seed = 1986;

/* ---- eq. 2, 4 and 5 ------------------------------------------------------------- */

/* Lower triangle of its square root; false if it is no correlation matrix. */
static bool cholesky(const double a[4][4], double l[4][4])
{
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = a[i][j];
			for (int k = 0; k < j; k++) {
				sum -= l[i][k] * l[j][k];
			}
			if (i == j && sum < 1e-9) {
				return false;
			}
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
	}
	return true;
}

static bool draw_correlations(struct usk_rng *r, struct usk_read_noise *n, double l[4][4])
{
	double rho[6];
	for (int i = 0; i < 6; i++) {
		rho[i] = usk_rng_unit(r);
	}
	n->rho_12 = rho[0], n->rho_13 = rho[1], n->rho_14 = rho[2];
	n->rho_23 = rho[3], n->rho_24 = rho[4], n->rho_34 = rho[5];
	const double a[4][4] = { { 1, rho[0], rho[1], rho[2] },
				 { rho[0], 1, rho[3], rho[4] },
				 { rho[1], rho[3], 1, rho[5] },
				 { rho[2], rho[4], rho[5], 1 } };
	return cholesky(a, l);
}

enum { SAMPLES = 1000000 };

struct factors {
	double variance, improvement; /* V(T_A), V(T_1) / V(T_A) */
};

/* In units of 1000 s = 1 us of deviation: rounding to ns adds nothing that shows. */
static struct factors sample(struct usk_rng *r, const struct usk_read_noise *n, double l[4][4])
{
	double sum[2] = { 0 }, square[2] = { 0 };
	const double true_ns = 500000;
	for (int i = 0; i < SAMPLES; i++) {
		double z[4], t[4];
		for (int k = 0; k < 4; k++) {
			z[k] = usk_rng_normal(r);
			t[k] = 0;
			for (int m = 0; m <= k; m++) {
				t[k] += l[k][m] * z[m];
			}
			t[k] *= n->sigma[k];
		}
		struct usk_four_stamps s = { .t_ns[0] = 0 };
		s.t_ns[1] = llround(100000 + t[0]);
		s.t_ns[2] = s.t_ns[1] + llround(true_ns + 100000 + t[1] + t[2]);
		s.t_ns[3] = s.t_ns[2] + llround(100000 + t[3]);
		double value[2] = { (double)usk_elapsed(&s).net_2 / 2 - true_ns, t[0] };
		for (int k = 0; k < 2; k++) {
			sum[k] += value[k];
			square[k] += value[k] * value[k];
		}
	}
	double v[2];
	for (int k = 0; k < 2; k++) {
		v[k] = square[k] / SAMPLES - sum[k] / SAMPLES * (sum[k] / SAMPLES);
	}
	/* The mean is the true one. */
	assert_true(fabs(sum[0] / SAMPLES) < 6 * sqrt(v[0] / SAMPLES) + 0.01);
	return (struct factors){ v[0], v[1] / v[0] };
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
		double l[4][4] = { { 0 } };
		if (!draw_correlations(&r, &n, l) || usk_elapsed_variance_halves(&n) < 0.05) {
			continue;
		}
		done++;
		struct factors f = sample(&r, &n, l);
		near(f.variance, usk_elapsed_variance(&n), "V(T_A), eq. 2");
		near(f.improvement, 1 / usk_elapsed_variance_halves(&n), "k', eq. 4");

		/* Nothing is measured: T_3 is a whole read, T_2 none. */
		if (usk_elapsed_variance_short(&n) < 0.05) {
			continue;
		}
		n.sigma[1] = 0;
		n.sigma[2] = 1000;
		f = sample(&r, &n, l);
		near(f.variance, usk_elapsed_variance(&n), "V(T_A), eq. 2, short");
		/* V(T_m) is V(T_1) here, so k and k' are one. */
		near(f.improvement, 1 / usk_elapsed_variance_short(&n), "k and k', eq. 5");
	}
}

/* The paper's corners: all alike, nothing alike, the worst. */
static void test_corners(void **state)
{
	(void)state;
	struct usk_read_noise n = { .sigma = { 2, 1, 1, 2 } };
	assert_true(usk_elapsed_variance(&n) == 4 && usk_elapsed_variance_halves(&n) == 1);
	assert_true(usk_elapsed_variance_short(&n) == 1.5);
	n.rho_23 = n.rho_14 = 1;
	assert_true(usk_elapsed_variance(&n) == 8 && usk_elapsed_variance_halves(&n) == 2);
	assert_true(usk_elapsed_variance_short(&n) == 2);
	n.rho_12 = n.rho_13 = n.rho_24 = n.rho_34 = 1;
	assert_true(usk_elapsed_variance(&n) == 0 && usk_elapsed_variance_halves(&n) == 0);
	assert_true(usk_elapsed_variance_short(&n) == 0);
}

/* ---- a bus that many use -------------------------------------------------------- */

/*
 * Readers on a bus that serves one word at a time, first come first served. A clock of 2 us ticks,
 * words of 12 bits so that it flips often. Each reader reads the clock twice in a row, then works
 * for a while.
 */
enum { READERS = 30, TICK_NS = 2000, BITS = 12, SERVICE_NS = 9000, THINK_NS = 30000 };

struct bus {
	struct usk_rng rng;
	int64_t now_ns, free_ns;
	/* The others, as the times at which they ask next. */
	int64_t asks_ns[READERS];
	unsigned others;
	int64_t think_ns; /* between two words of the others, on average */
	unsigned reads;	  /* of the reader that is watched */
};

static int64_t serve(struct bus *b, int64_t asked_ns)
{
	int64_t begin = asked_ns > b->free_ns ? asked_ns : b->free_ns;
	b->free_ns = begin + SERVICE_NS;
	return b->free_ns;
}

static uint64_t bus_word(void *ctx, bool high)
{
	struct bus *b = ctx;
	int64_t ask = b->now_ns + 20000;
	for (;;) { /* whoever asks before us is served before us */
		unsigned first = 0;
		for (unsigned i = 1; i < b->others; i++) {
			first = b->asks_ns[i] < b->asks_ns[first] ? i : first;
		}
		if (!b->others || b->asks_ns[first] > ask) {
			break;
		}
		int64_t done = serve(b, b->asks_ns[first]);
		b->asks_ns[first] =
			done + (int64_t)usk_rng_exponential(&b->rng, (double)b->think_ns);
	}
	b->now_ns = serve(b, ask);
	b->reads++;
	uint64_t value = (uint64_t)(b->now_ns / TICK_NS);
	return (high ? value >> BITS : value) & ((1 << BITS) - 1);
}

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

/* by[k]: pairs with k words between; by[0]: all of them. */
static void run(enum usk_counter_routine routine, unsigned others, struct spread by[5])
{
	struct bus b = { .others = others,
			 .think_ns = THINK_NS * (routine == USK_ONE_READ ? 8 : 1) };
	usk_rng_seed(&b.rng, seed + others);
	struct usk_counter c = {
		.word = bus_word, .ctx = &b, .bits = BITS, .routine = routine, .form = USK_HARDENED
	};
	usk_counter_start(&c);
	const int64_t round_ns = (int64_t)TICK_NS << (2 * BITS);
	for (int i = 0; i < 20000; i++) {
		uint64_t value[2];
		unsigned reads[2];
		for (int k = 0; k < 2; k++) {
			b.reads = 0;
			value[k] = usk_counter_read(&c);
			reads[k] = b.reads;
		}
		uint64_t gone = (value[1] - value[0]) & ((UINT64_C(1) << (2 * BITS)) - 1);
		assert_true((int64_t)gone * TICK_NS < round_ns / 2);
		/* Varying-Read: the second word counts, or the fourth if the low one flipped. */
		unsigned between = 3;
		if (routine == USK_VARYING_READ) {
			between = (reads[0] == 4 ? 0U : 1U) + (reads[1] == 4 ? 3U : 1U);
		}
		add(&by[0], (double)gone * TICK_NS);
		add(&by[between], (double)gone * TICK_NS);
		b.now_ns += (int64_t)usk_rng_below(&b.rng, 1000000);
	}
}

/* Figure 1: 2 words between the significant ones, 4 at the peaks, 1 in the troughs. */
static void test_peaks(void **state)
{
	(void)state;
	struct spread by[5] = { { 0 } };
	run(USK_VARYING_READ, READERS - 1, by);
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
	static const unsigned others[] = { 0, 7, 15, 29 };
	double four[4], one[4], four_spread[4];
	for (int i = 0; i < 4; i++) {
		struct spread by[5] = { { 0 } };
		run(USK_FOUR_READ, others[i], by);
		four[i] = mean(&by[0]);
		four_spread[i] = deviation(&by[0]);
		struct spread single[5] = { { 0 } };
		run(USK_ONE_READ, others[i], single);
		one[i] = mean(&single[0]);
	}
	for (int i = 1; i < 4; i++) {
		assert_true(four[i] > 1.02 * four[i - 1]);
	}
	assert_true(four_spread[1] > four_spread[0]);
	assert_true(four[3] / four[0] > 3 && one[3] / one[0] < four[3] / four[0] / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corners),
		cmocka_unit_test(test_variance),
		cmocka_unit_test(test_peaks),
		cmocka_unit_test(test_readers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
