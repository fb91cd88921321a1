/* SPDX-License-Identifier: MIT */
/* This machine's clocks: figures of samples, and compensation on a clock whose reads cost what is
 * written down. */
#include "clock/clock.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want)))) {
		fail_msg("%.12g, wanted %.12g", got, want);
	}
}

static void test_figures(void **state)
{
	(void)state;
	struct samples s = { .n = 0 };
	assert_true(isnan(samples_figures(&s).mean));
	for (int i = 1; i <= 1000; i++) {
		samples_add(&s, (i * 7919) % 1000 + 1e9); /* a permutation, far from 0 */
	}
	struct figures f = samples_figures(&s);
	near(f.mean, 1e9 + 499.5);
	near(f.trimmed, 1e9 + 499.5);
	near(f.deviation, sqrt((1e6 - 1) / 12));
	near(f.min, 1e9);
	near(f.max, 1e9 + 999);
	near(f.median, 1e9 + 500);
	near(f.p99, 1e9 + 989);
	assert_int_equal(f.octave[29], 1000);
	uint64_t binned = 0;
	for (int i = 0; i < BINS; i++) {
		assert_true(f.bin[i] == 30 || f.bin[i] == 31);
		binned += f.bin[i];
	}
	assert_true(binned == 980);
	near(f.bins_from + BINS * f.bin_width, 1e9 + 989);
	/* 1 % at either end says nothing of the trimmed mean. */
	for (int i = 0; i < 100; i++) {
		samples_add(&s, i == 0 ? -1e6 : i == 1 ? 1e9 : 5);
	}
	f = samples_figures(&s);
	near(f.trimmed, 5);
	assert_true(f.bins_from == 5 && f.bin_width == 0 && f.bin[0] == 98);
	assert_int_equal(f.octave[0] + f.octave[2], 99); /* what is under 1 counts as under 2 */
}

static void test_correlation(void **state)
{
	(void)state;
	const double a[] = { 1, 2, 3, 4 }, b[] = { 2, 4, 6, 8 }, c[] = { 4, 3, 2, 1 };
	const double d[] = { 1, -1, -1, 1 }, e[] = { 3, 3, 3, 3 };
	near(samples_correlation(a, b, 4), 1);
	near(samples_correlation(a, c, 4), -1);
	near(samples_correlation(a, d, 4), 0);
	assert_true(isnan(samples_correlation(a, e, 4)));
}

/* What is left over by a line through the points' mean, of that slope. */
static double squares(const double *x, const double *y, size_t n, double slope)
{
	double mean = 0, sum = 0;
	for (size_t i = 0; i < n; i++) {
		mean += (y[i] - slope * x[i]) / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double d = y[i] - slope * x[i] - mean;
		sum += d * d;
	}
	return sum;
}

/* The least squares, by searching for them. */
static void test_slope(void **state)
{
	(void)state;
	enum { N = 5 };
	struct usk_rng r;
	usk_rng_seed(&r, 17);
	for (int i = 0; i < 100; i++) {
		double x[N], y[N], lo = -1000, hi = 1000;
		for (int k = 0; k < N; k++) {
			x[k] = 50 * k + usk_rng_unit(&r);
			y[k] = 7000 + 49.9 * x[k] + 500 * usk_rng_normal(&r);
		}
		for (int k = 0; k < 200; k++) {
			double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
			bool left = squares(x, y, N, a) < squares(x, y, N, b);
			lo = left ? lo : a;
			hi = left ? b : hi;
		}
		assert_true(fabs(samples_slope(x, y, N) - lo) < 1e-4);
	}
	assert_true(isnan(samples_slope((double[]){ 3, 3 }, (double[]){ 1, 2 }, 2)));
}

/* Stamps rounded down to the tick that suits, and to the next longer one. */
static void test_tick(void **state)
{
	(void)state;
	enum { N = 200000 };
	struct usk_rng r;
	usk_rng_seed(&r, 33);
	assert_true(tick_for(0.9) == 0 && tick_for(1) == 1 && tick_for(NAN) == 0);
	/* Just over a power of two, where it is as coarse as it gets, and just under the next. */
	for (int i = 0; i < 2; i++) {
		double sigma = i ? 2300 : 2050, tick = tick_for(sigma), far[2] = { 0 };
		assert_true(tick == 2048);
		for (int twice = 0; twice < 2; twice++) {
			struct samples s = { .n = 0 };
			double q = twice ? 2 * tick : tick;
			for (int k = 0; k < N; k++) {
				double from = 1e6 * usk_rng_unit(&r);
				double to = from + 50000 + sigma * usk_rng_normal(&r);
				samples_add(&s, q * (floor(to / q) - floor(from / q)));
			}
			far[twice] = samples_figures(&s).deviation / sigma;
		}
		assert_true(far[0] < 1.085 && far[1] > 1.085);
	}
}

/* A clock whose rate changes every 10 s, known exactly: in parts per 10^9, moments in ns. */
static void test_drift(void **state)
{
	(void)state;
	enum { PERIODS = 60 };
	const int64_t period = INT64_C(10000000000), start = INT64_C(1700000000000000000);
	struct usk_rng r;
	usk_rng_seed(&r, 2003);
	for (int i = 0; i < 200; i++) {
		struct drift d = { .ns_per_tick = 1 };
		int64_t gain[PERIODS], most = INT64_MIN, least = INT64_MAX, theirs = start / 3;
		for (int k = 0; k <= PERIODS; k++) {
			/* The clock was read at the period's very end, somewhere in its bracket. */
			int64_t at = start + k * period,
				wide = 30 + (int64_t)usk_rng_below(&r, 2000);
			int64_t before = at - (int64_t)usk_rng_below(&r, (uint64_t)wide);
			drift_add(&d, &(struct bracket){ before, theirs, before + wide }, 0);
			if (k < PERIODS) {
				gain[k] = 40000 + (int64_t)usk_rng_below(&r, 200) - 100;
				most = gain[k] > most ? gain[k] : most;
				least = gain[k] < least ? gain[k] : least;
				theirs += period + 10 * gain[k]; /* 10 s of 10^-9 are 10 ns */
			}
		}
		assert_int_equal(d.n, PERIODS);
		for (int k = 0; k < PERIODS; k++) {
			/* eq. 3: no further off than both jitters over the time between. */
			assert_true(fabs(d.rate[k].ppm - (double)gain[k] / 1000) <=
				    d.rate[k].error_ppm * 1.0001 + 1e-9);
		}
		struct drift_figures f = drift_figures(&d);
		double change = (double)(most - least) / 1000;
		assert_true(f.certain_ppm <= change + 1e-9);
		assert_true(f.change_ppm + f.least.error_ppm + f.most.error_ppm >= change - 1e-9);
		assert_true(fabs(f.change_ppm - change) < 0.5);
		drift_free(&d);
	}
	/* A counter of unknown frequency: 3 ticks a ns, then one in 10^6 more. Nothing begins at 0. */
	struct drift d = { .ns_per_tick = 0 };
	const int64_t ns = start, ticks = 77000000077;
	drift_add(&d, &(struct bracket){ ns, ticks, ns + 200 }, 0);
	drift_add(&d, &(struct bracket){ ns + 1000000000, ticks + 3000000000, ns + 1000000200 }, 0);
	drift_add(&d, &(struct bracket){ ns + 2000000000, ticks + 6000003000, ns + 2000000200 }, 4);
	near(d.ns_per_tick, 1.0 / 3);
	near(d.rate[0].ppm, 0);
	near(d.rate[1].error_ppm, 0.2);
	near(d.rate[1].at_s, 2.0000002);
	assert_int_equal(d.rate[1].load, 4);
	near(drift_figures(&d).change_ppm, 1);
	near(drift_figures(&d).mean_ppm, 0.5);
	drift_free(&d);
}

/* 7 ticks a read; after so many reads once 200,000, which is three flips of the low word. */
static uint64_t slow_now, slow_reads, slow_at;

static int64_t slow(const struct source *s)
{
	(void)s;
	slow_now += ++slow_reads == slow_at ? 200000 : 7;
	return (int64_t)slow_now;
}

static void test_routines(void **state)
{
	(void)state;
	enum { PAIRS = 20000 };
	const struct source s = { .read = slow, .ns_per_tick = 2 };
	struct routine_figures f[ROUTINES];
	slow_now = UINT64_C(0xfffffff000000000); /* which wraps on the way, in 32 bits too */
	slow_reads = slow_at = 0;
	routines_measure(&s, PAIRS, f);
	for (int r = 0; r < ROUTINES; r++) {
		assert_int_equal(f[r].pairs, PAIRS);
		assert_true(!f[r].wrong[AS_PRINTED] && !f[r].wrong[HARDENED]);
	}
	/* So many words of 14 ns lie between two values: section 3.2, figures 1 to 3. */
	assert_true(f[FOUR_READ].words == 4 && f[FOUR_READ].took.min == 56 &&
		    f[FOUR_READ].took.max == 56);
	assert_true(f[ONE_READ].words == 1 && f[ONE_READ].took.min == 14 &&
		    f[ONE_READ].took.max == 14);
	assert_true(f[VARYING_READ].words > 3 && f[VARYING_READ].words < 3.001);
	assert_true(f[VARYING_READ].took.median == 42 && f[VARYING_READ].took.min == 28 &&
		    f[VARYING_READ].took.max == 70);
	/* 1-Read was not called while the low word flipped: both forms lose the count, once. */
	slow_reads = 0;
	slow_at = 37 * PAIRS; /* Varying-Read has 16 for each, 4-Read 20: it is within 1-Read */
	routines_measure(&s, PAIRS, f);
	assert_int_equal(f[ONE_READ].wrong[AS_PRINTED] + f[ONE_READ].wrong[HARDENED], 1);
	assert_int_equal(f[FOUR_READ].wrong[AS_PRINTED] + f[FOUR_READ].wrong[HARDENED], 0);
}

/* Each read costs the next of these; the work between costs WORK. */
static int64_t clock_now;
static size_t reads;
static const int64_t cost[] = { 70, 80, 20, 30, 50, 40 };

static int64_t scripted(const struct source *s)
{
	(void)s;
	int64_t shown = clock_now;
	clock_now += cost[reads++ % COUNT(cost)];
	return shown;
}

static int64_t *begin_run(struct runs *r)
{
	int64_t *t = runs_before(r);
	two_reads(r->source, t);
	return t;
}

static void end_run(struct runs *r, int64_t *t)
{
	two_reads(r->source, t + 2);
	runs_after(r);
}

/* Costs repeat in sixes: two cold reads, T_1 = 20, then 30 is lost before the work, T_4 = 50. */
static void test_compensation(void **state)
{
	(void)state;
	enum { WORK = 1000, RUNS = 50 };
	const struct source s = { .read = scripted, .ns_per_tick = 0.5 };
	struct runs r;
	runs_begin(&r, &s, NULL);
	reads = 0;
	for (int i = 0; i < RUNS; i++) {
		int64_t *t = begin_run(&r);
		clock_now += WORK;
		end_run(&r, t);
	}
	const double want[] = { [RAW] = 1030, [LONG_TERM] = 1030 - 35, [METHOD_1] = 1030 - 35 };
	for (int c = RAW; c < COMPENSATIONS; c++) {
		struct samples net = { .n = 0 };
		runs_net(&r, (enum compensation)c, &net);
		/* Without a sampler method II has no answer, least of all that of method I. */
		assert_int_equal(net.n, c == METHOD_2 ? 0 : RUNS);
		for (size_t i = 0; i < net.n; i++) {
			near(net.v[i], want[c] / 2);
		}
		samples_free(&net);
	}
	runs_free(&r);
}

/* Costs that change slowly, so that compensation is worth it; and once in 333 runs an interrupt. */
static int64_t slowly(const struct source *s)
{
	(void)s;
	int64_t shown = clock_now;
	reads++;
	clock_now += 1000 + (int64_t)(reads / 16 * 7 % 200);
	clock_now += reads % 2000 == 1001 ? 9000 : 0;
	return shown;
}

static void test_interrupted(void **state)
{
	(void)state;
	enum { RUNS = 4000 };
	const struct source s = { .read = slowly, .ns_per_tick = 1 };
	struct runs r;
	runs_begin(&r, &s, NULL);
	r.nothing = true;
	reads = 0;
	for (int i = 0; i < RUNS; i++) {
		end_run(&r, begin_run(&r));
	}
	struct zero z;
	zero_figures(&r, &z);
	assert_true(z.row[METHOD_1].k < 1 && z.row[METHOD_1].k_calm > 20);
	assert_true(z.row[RAW].k_calm == 1 && z.row[LONG_TERM].k_calm == 1);
	assert_int_equal(z.row[METHOD_1].kept, RUNS);
	assert_int_equal(z.best, METHOD_1);
	runs_free(&r);
}

/* Reads of 20 and 30 ticks; another thread has the processor for 4 ms at each of these reads. */
static const size_t *split_at;

static int64_t preempted(const struct source *s)
{
	(void)s;
	int64_t shown = clock_now;
	clock_now += reads % 2 ? 30 : 20;
	clock_now += *split_at == reads ? 4000000 : 0;
	split_at += *split_at == reads++;
	return shown;
}

/* Six reads a run: the third and fifth begin T_1 and T_4, the fourth T_m. */
static void test_split(void **state)
{
	(void)state;
	enum { RUNS = 100 };
	static const size_t at[] = { 6 * 3 + 2, 6 * 5 + 3, 6 * 8 + 4, 6 * 9 + 1, SIZE_MAX };
	const struct source s = { .read = preempted, .ns_per_tick = 1 };
	for (int nothing = 0; nothing < 2; nothing++) {
		struct runs r;
		struct samples net = { .n = 0 };
		runs_begin(&r, &s, NULL);
		r.nothing = nothing;
		reads = 0;
		split_at = at;
		for (int i = 0; i < RUNS; i++) {
			end_run(&r, begin_run(&r));
		}
		runs_net(&r, METHOD_1, &net);
		/* What is measured may take as long as it likes, unless it is nothing. */
		assert_int_equal(net.n, nothing ? RUNS - 3 : RUNS - 2);
		struct figures f = samples_figures(&net);
		assert_true(f.min == 10 && f.median == 10);
		assert_true(f.max == (nothing ? 10 : 4000010));
		runs_free(&r);
	}
}

static void test_enough(void **state)
{
	(void)state;
	assert_true(runs_enough(1, 1) && runs_enough(10, 20) && runs_enough(30, 300));
	assert_false(runs_enough(0, 0) || runs_enough(9, 20) || runs_enough(29, 300) ||
		     runs_enough(1999, 20000));
}

/* Whose reads take by the moment 2 to 6 us, on every processor alike: the load of a bus. */
static int64_t loaded(const struct source *s)
{
	int64_t asked = usk_clock_ns(s->id), now = asked;
	int64_t takes = 2000 + asked / 300000 % 3 * 2000;
	while (now - asked < takes) {
		now = usk_clock_ns(s->id);
	}
	return now;
}

/* Of equal variances eq. 5 is exact: what reads' correlations predict is the improvement that shows. */
static void test_predicted(void **state)
{
	(void)state;
	enum { RUNS = 1500 };
	for (uint64_t seed = 1; seed <= 3; seed++) {
		const struct source s = { .ns_per_tick = 0.5 };
		struct runs r;
		struct usk_rng rng;
		struct zero z;
		usk_rng_seed(&rng, seed);
		runs_begin(&r, &s, NULL);
		/* What two of three reads have in common, and of which sign. */
		double weight[3], sign[3];
		for (int k = 0; k < 3; k++) {
			weight[k] = 0.5 * usk_rng_unit(&rng);
			sign[k] = usk_rng_below(&rng, 2) ? 1 : -1;
		}
		for (int i = 0; i < RUNS; i++) {
			struct usk_four_stamps t = { .t_ns = { 1000 * i } };
			double common[3];
			for (int k = 0; k < 3; k++) {
				common[k] = usk_rng_normal(&rng);
			}
			for (int k = 0; k < 3; k++) {
				const int after = (k + 2) % 3; /* common[k] is of k and k + 1 */
				double own = sqrt(1 - weight[k] - weight[after]);
				double x = sqrt(weight[k]) * common[k] +
					   sign[k] * sqrt(weight[after]) * common[after] +
					   own * usk_rng_normal(&rng);
				t.t_ns[k + 1] = t.t_ns[k] + 400 + llround(50 * x);
			}
			runs_add(&r, &t);
		}
		zero_figures(&r, &z);
		const struct zero_row *row = &z.row[METHOD_1];
		assert_int_equal(row->kept, RUNS);
		for (int k = 0; k < 3; k++) { /* of k and k + 1; the last is listed first to last */
			assert_true(fabs(row->rho[k] - sign[(k + 1) % 3] * weight[k]) < 0.1);
		}
		assert_true(fabs(row->rho_next) < 0.1);
		if (fabs(row->predicted / row->k - 1) > 0.12) {
			fail_msg("seed %llu: predicted %.3f, measured %.3f",
				 (unsigned long long)seed, row->predicted, row->k);
		}
		runs_free(&r);
	}
}

static _Atomic int64_t counted;

static int64_t counting(const struct source *s)
{
	(void)s;
	return atomic_fetch_add(&counted, 1);
}

/* Each two reads of the thread are kept, one after the other: the nearest of a moment holds it. */
static void test_nearest(void **state)
{
	(void)state;
	enum { READS = 2000, KEPT = 100000 };
	const struct source s = { .read = counting, .ns_per_tick = 1 };
	struct sampler *p = sampler_start(&s);
	for (int run = 0; p && run < 3; run++) {
		const int64_t before = atomic_load(&counted);
		sampler_run(p);
		/* The next pair may be the first one, should it have lost its processor. */
		const int64_t from = atomic_load(&counted) + 4, until = from + READS;
		const int64_t begun = usk_clock_ns(CLOCK_MONOTONIC);
		while (atomic_load(&counted) < until + 4 &&
		       usk_clock_ns(CLOCK_MONOTONIC) - begun < 1000000000) {
			usk_sleep_ns(10000);
		}
		sampler_rest(p);
		/* Of a run so many are kept; it goes on while we have no processor. */
		const bool all = atomic_load(&counted) >= until + 4 && until - before < KEPT;
		for (int64_t at = from; all && at < until; at++) {
			struct beside b = sampler_nearest(p, at);
			if (b.away || b.took != 1 || b.at != at - at % 2) {
				fail_msg("read %lld: [%lld + %lld]", (long long)at, (long long)b.at,
					 (long long)b.took);
			}
		}
	}
	sampler_stop(p);
}

/* Method II through a real thread: what it says of a run is what a read costs at that moment. */
static void test_beside(void **state)
{
	(void)state;
	enum { RUNS = 2000 };
	const struct source s = { .read = loaded, .ns_per_tick = 1, .id = CLOCK_MONOTONIC };
	int cpu[CPUS_MAX];
	struct zero z;
	const struct zero_row *two = &z.row[METHOD_2];
	/* Where others use the processors more than one run in a hundred may be interrupted: then it is measured again. */
	int left = 5;
	do {
		zero_measure(&s, RUNS, &z);
	} while (!(two->k_calm > 3) && --left);
	assert_int_equal(two->runs, RUNS);
	if (cpus_usable(cpu) < 2) {
		assert_true(two->kept == 0 && isnan(two->net.median));
	} else if (runs_enough(two->kept, RUNS)) {
		/* Of 4 us on average, the pair beside it being of the same load nearly always. */
		assert_true(z.row[RAW].net.median > 1900);
		assert_true(fabs(two->net.median) < 0.2 * 4000);
		assert_true(two->k_calm > 3);
	}
	assert_int_equal(z.row[METHOD_2].net.n, runs_enough(two->kept, RUNS) ? two->kept : 0);
}

/* Nothing, measured between round trips under load, by every compensation; and which is best. */
static void test_messages(void **state)
{
	(void)state;
	enum { TRIPS = 40 };
	struct source s[SOURCES_MAX];
	size_t n = sources_open(s);
	for (int c = 0; c < CHANNELS; c++) {
		for (int how = 0; how < 3; how++) {
			const struct exchange_plan plan = { .channel = (enum channel)c,
							    .bytes = 100,
							    .n = TRIPS,
							    .load = how ? 2 : 0,
							    .source = s,
							    .how = how ? METHOD_2 : METHOD_1,
							    .best = how == 1 };
			struct exchange_figures f;
			exchange_measure(&plan, &f);
			if (!f.known) {
				continue; /* no such channel here */
			}
			assert_int_equal(f.runs, TRIPS);
			for (int k = 0; k < COMPENSATIONS; k++) {
				assert_int_equal(f.zero.row[k].runs, TRIPS);
			}
			assert_int_equal(f.how, how == 1 ? f.zero.best : plan.how);
			assert_int_equal(f.rpc.n, runs_enough(f.rpc_kept, TRIPS) ? f.rpc_kept : 0);
			if (f.rpc.n && f.latency.n) {
				assert_true(f.rpc.min > 0 && f.latency.min > 0);
				assert_true(f.rpc.max >= f.rpc.median);
				assert_true(f.rpc.median > f.latency.min);
			}
		}
	}
	sources_close(s, n);
}

/* A load closes what it opened, and nothing else: what others open meanwhile stays open. */
static void test_load(void **state)
{
	(void)state;
	enum { FILES = 16, READERS = 2 };
	struct source s[SOURCES_MAX];
	size_t n = sources_open(s);
	for (int kind = 0; kind < 2 * CHANNELS; kind++) {
		const struct load_plan plan = { .work = kind % 2 ? WORK_MESSAGE : WORK_READ,
						.n = READERS,
						.source = &s[0],
						.channel = (enum channel)(kind / 2),
						.bytes = 8 };
		int file[FILES];
		struct load *l = load_start(&plan);
		for (int i = 0; i < FILES; i++) {
			file[i] = open("/dev/null", O_RDONLY);
			assert_true(file[i] >= 0);
		}
		load_stop(l);
		for (int i = 0; i < FILES; i++) {
			assert_int_equal(close(file[i]), 0);
		}
	}
	sources_close(s, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicted),    cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_figures),	     cmocka_unit_test(test_correlation),
		cmocka_unit_test(test_compensation), cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_slope),	     cmocka_unit_test(test_tick),
		cmocka_unit_test(test_drift),	     cmocka_unit_test(test_routines),
		cmocka_unit_test(test_split),	     cmocka_unit_test(test_enough),
		cmocka_unit_test(test_beside),	     cmocka_unit_test(test_messages),
		cmocka_unit_test(test_load),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
