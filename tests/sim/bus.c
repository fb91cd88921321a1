/* SPDX-License-Identifier: MIT */
#include "bus.h"

#include <math.h>

enum { READERS_MAX = 64, TICK_NS = 2000, SERVICE_NS = 11000, ASK_NS = 66000 };

struct bus {
	struct usk_rng rng;
	const struct bus_plan *plan;
	int64_t now_ns, free_ns;
	int64_t interrupt_ns;	      /* the next one */
	int64_t asks_ns[READERS_MAX]; /* the others: when they ask next */
	double think_ns;	      /* between two words of theirs, on average */
	unsigned reads;		      /* of the one that is watched */
};

static int64_t serve(struct bus *b, int64_t asked_ns)
{
	int64_t begin = asked_ns > b->free_ns ? asked_ns : b->free_ns;
	b->free_ns = begin + SERVICE_NS;
	return b->free_ns;
}

static uint64_t word(void *ctx, bool high)
{
	const int64_t period_ns = 16666667, handler_ns = 320000;
	struct bus *b = ctx;
	unsigned others = b->plan->readers - 1;
	int64_t ask = b->now_ns + ASK_NS;
	if (b->plan->interrupts && ask >= b->interrupt_ns) {
		ask += handler_ns + (int64_t)usk_rng_below(&b->rng, 100000);
		while (b->interrupt_ns <= ask) {
			b->interrupt_ns += period_ns;
		}
	}
	for (;;) { /* whoever asks before us is served before us */
		unsigned first = 0;
		for (unsigned i = 1; i < others; i++) {
			first = b->asks_ns[i] < b->asks_ns[first] ? i : first;
		}
		if (!others || b->asks_ns[first] > ask) {
			break;
		}
		int64_t done = serve(b, b->asks_ns[first]);
		b->asks_ns[first] =
			done + ASK_NS + (int64_t)usk_rng_exponential(&b->rng, b->think_ns);
	}
	b->now_ns = serve(b, ask);
	b->reads++;
	uint64_t value = (uint64_t)(b->now_ns / TICK_NS);
	return (high ? value >> b->plan->bits : value) & ((UINT64_C(1) << b->plan->bits) - 1);
}

static void begin(struct bus *b, const struct bus_plan *p, struct counter *c)
{
	*b = (struct bus){ .plan = p, .think_ns = p->routine == ONE_READ ? 271000 : 73000 };
	usk_rng_seed(&b->rng, p->seed);
	*c = (struct counter){
		.word = word, .ctx = b, .bits = p->bits, .routine = p->routine, .form = HARDENED
	};
	counter_start(c);
}

static int64_t gone_ns(const struct bus_plan *p, uint64_t from, uint64_t to)
{
	return (int64_t)((to - from) & ((UINT64_C(1) << (2 * p->bits)) - 1)) * TICK_NS;
}

void bus_run(const struct bus_plan *p, void (*seen)(void *ctx, const struct bus_pair *pair),
	     void *ctx)
{
	struct bus b;
	struct counter c;
	begin(&b, p, &c);
	for (unsigned i = 0; i < p->pairs; i++) {
		uint64_t value[2];
		unsigned reads[2];
		int64_t at_ns = b.now_ns;
		for (int k = 0; k < 2; k++) {
			b.reads = 0;
			value[k] = counter_read(&c);
			reads[k] = b.reads;
		}
		struct bus_pair pair = { at_ns, gone_ns(p, value[0], value[1]), reads[0] - 1 };
		/* Varying-Read: the second word counts, or the fourth if the low one flipped. */
		if (p->routine == VARYING_READ) {
			pair.between = (reads[0] == 4 ? 0U : 1U) + (reads[1] == 4 ? 3U : 1U);
		}
		seen(ctx, &pair);
		b.now_ns += (int64_t)usk_rng_below(&b.rng, (uint64_t)p->gap_ns);
	}
}

void bus_measure(const struct bus_plan *p, int64_t takes_ns,
		 void (*seen)(void *ctx, const struct bus_run *run), void *ctx)
{
	struct bus b;
	struct counter c;
	begin(&b, p, &c);
	for (unsigned i = 0; i < p->pairs; i++) {
		struct bus_run run;
		uint64_t value[4];
		for (int k = 0; k < 4; k++) {
			if (k == 2) {
				run.begin_ns = b.now_ns;
				b.now_ns += takes_ns;
				run.end_ns = b.now_ns;
			}
			value[k] = counter_read(&c);
			run.stamps.t_ns[k] = gone_ns(p, value[0], value[k]);
		}
		/* What the clock showed first, in true time: the counter began with it. */
		int64_t range_ns = (INT64_C(1) << (2 * p->bits)) * TICK_NS;
		int64_t first_ns =
			(int64_t)(value[0] & ((UINT64_C(1) << (2 * p->bits)) - 1)) * TICK_NS;
		run.begin_ns = (run.begin_ns - first_ns) % range_ns;
		run.end_ns = run.begin_ns + takes_ns;
		seen(ctx, &run);
		b.now_ns += (int64_t)usk_rng_below(&b.rng, (uint64_t)p->gap_ns);
	}
}

/* ---- four stamps ---------------------------------------------------------------------------- */

/* Lower triangle of its square root; false if it is no correlation matrix. */
static bool cholesky(const struct usk_read_noise *n, double l[4][4])
{
	const double a[4][4] = { { 1, n->rho_12, n->rho_13, n->rho_14 },
				 { n->rho_12, 1, n->rho_23, n->rho_24 },
				 { n->rho_13, n->rho_23, 1, n->rho_34 },
				 { n->rho_14, n->rho_24, n->rho_34, 1 } };
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

void noise_draw(struct usk_rng *r, struct usk_read_noise *n)
{
	double l[4][4] = { { 0 } };
	do {
		double *const rho[] = { &n->rho_12, &n->rho_13, &n->rho_14,
					&n->rho_23, &n->rho_24, &n->rho_34 };
		for (int i = 0; i < 6; i++) {
			*rho[i] = usk_rng_unit(r);
		}
	} while (!cholesky(n, l));
}

struct noise_factors noise_sample(struct usk_rng *r, const struct usk_read_noise *n, size_t samples)
{
	double l[4][4] = { { 0 } }, sum[2] = { 0 }, square[2] = { 0 }, v[2];
	const double true_ns = 500000;
	cholesky(n, l);
	for (size_t i = 0; i < samples; i++) {
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
	for (int k = 0; k < 2; k++) {
		double mean = sum[k] / (double)samples;
		v[k] = square[k] / (double)samples - mean * mean;
	}
	return (struct noise_factors){ sum[0] / (double)samples / sqrt(v[0]), v[0], v[1] / v[0] };
}

double elapsed_variance(const struct usk_read_noise *n)
{
	const double *s = n->sigma;
	return s[1] * s[1] + s[2] * s[2] + s[0] * s[0] / 4 + s[3] * s[3] / 4 +
	       2 * n->rho_23 * s[1] * s[2] - n->rho_12 * s[0] * s[1] - n->rho_13 * s[0] * s[2] -
	       n->rho_24 * s[1] * s[3] - n->rho_34 * s[2] * s[3] + n->rho_14 * s[0] * s[3] / 2;
}

double elapsed_variance_halves(const struct usk_read_noise *n)
{
	return 1 + (n->rho_23 - n->rho_12 - n->rho_13 - n->rho_24 - n->rho_34 + n->rho_14) / 2;
}
