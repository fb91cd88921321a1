/* SPDX-License-Identifier: MIT */
/*
 * test_bellman.c - an exact solver of all constraints, and the engine's bands against it
 *
 * The solver is told where clocks jump, to the ns. Its bounds must hold the truth, and meet those
 * of the answer wherever the answer says something: two bands of one truth overlap. How wide the
 * answer's are in comparison is printed, to compare engines.
 *
 *     test_bellman [--verbose]
 */
#include "band.h"
#include "bellman.h"
#include "held.h"
#include "read/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define E12    ((usk_i128)1000000000000)

enum { HOSTS = 4, SEEDS = 2, GRID = 200 };

static unsigned failures;

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("%s:%d: ", __FILE__, __LINE__);                                     \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* ---- the solver by hand ---------------------------------------------------------------------- */

/* Clock 0 is the reference. Up to four messages, two events each: a row is sender, its stamp,
 * receiver, its stamp, and the run of clock 1 in which its stamp lies. */
struct by_hand {
	const char *name;
	int64_t wander_e12;
	struct {
		uint32_t from;
		int64_t sent_ns;
		uint32_t to;
		int64_t received_ns;
		uint32_t run;
	} row[4];
	size_t n;
	bool fits;
	int64_t at_ns, lo_ns, hi_ns; /* of T in run 0 */
};

static const struct by_hand cases[] = {
	{ "one way", 0, { { 0, 100, 1, 130, 0 } }, 1, true, 130, 100, USK_NONE },
	{ "there and back",
	  0,
	  { { 0, 100, 1, 130, 0 }, { 1, 140, 0, 150, 0 } },
	  2,
	  true,
	  130,
	  100,
	  141 },
	{ "the skew limit, not a line",
	  0,
	  { { 0, 100, 1, 130, 0 }, { 1, 140, 0, 150, 0 } },
	  2,
	  true,
	  140,
	  109,
	  150 },
	{ "beyond the limit",
	  0,
	  { { 0, 100000, 1, 100000, 0 }, { 1, 200000, 0, 100000 + 99949, 0 } },
	  2,
	  false,
	  0,
	  0,
	  0 },
	{ "at the limit",
	  0,
	  { { 0, 100000, 1, 100000, 0 }, { 1, 200000, 0, 100000 + 99950, 0 } },
	  2,
	  true,
	  200000,
	  199950,
	  199950 },
	{ "a jump between",
	  0,
	  { { 0, 100000, 1, 100000, 0 }, { 1, 200000, 0, 100000 + 99000, 1 } },
	  2,
	  true,
	  100000,
	  100000,
	  USK_NONE },
	/* Both ends are known to 10 ns, the rate to 10 ppb either way: the cone of either side
	 * takes the worst of all rates. */
	{ "a rate",
	  0,
	  { { 0, 0, 1, 10, 0 },
	    { 1, 10, 0, 10, 0 },
	    { 0, 1000000000, 1, 1000000010, 0 },
	    { 1, 1000000010, 0, 1000000010, 0 } },
	  4,
	  true,
	  500000010,
	  499999995,
	  500000015 },
	/* 1 ppm either way for half a second, but no further than the ends allow. */
	{ "a rate that wanders",
	  1000000,
	  { { 0, 0, 1, 0, 0 },
	    { 1, 0, 0, 0, 0 },
	    { 0, 1000000000, 1, 1000000000, 0 },
	    { 1, 1000000000, 0, 1000000000, 0 } },
	  4,
	  true,
	  500000000,
	  499999000,
	  500001000 },
};

static void solve_by_hand(const struct by_hand *c)
{
	struct bellman_event event[8];
	struct bellman_message message[4];
	struct bellman_clock clock[2] = { { 0 }, { .wander_e12 = c->wander_e12 } };
	for (size_t i = 0; i < c->n; i++) {
		event[2 * i] = (struct bellman_event){
			.clock = c->row[i].from,
			.run = c->row[i].from ? c->row[i].run : 0,
			.local_ns = c->row[i].sent_ns,
		};
		event[2 * i + 1] = (struct bellman_event){
			.clock = c->row[i].to,
			.run = c->row[i].to ? c->row[i].run : 0,
			.local_ns = c->row[i].received_ns,
		};
		message[i] = (struct bellman_message){ 2 * i, 2 * i + 1 };
	}
	struct bellman b = {
		.event = event,
		.n = 2 * c->n,
		.message = message,
		.n_messages = c->n,
		.clock = clock,
		.n_clocks = 2,
		.max_skew_e12 = 500 * 1000000,
	};
	bool fits = bellman_solve(&b);
	CHECK(fits == c->fits, "%s: fits %d", c->name, fits);
	if (fits && c->fits) {
		int64_t lo, hi;
		bellman_at(&b, 1, 0, c->at_ns, &lo, &hi);
		CHECK(lo == c->lo_ns && hi == c->hi_ns, "%s: [%lld, %lld], not [%lld, %lld]",
		      c->name, (long long)lo, (long long)hi, (long long)c->lo_ns,
		      (long long)c->hi_ns);
	}
	bellman_free(&b);
}

/* ---- simulated networks ---------------------------------------------------------------------- */

struct shape {
	const char *name;
	enum sim_topology topology;
	uint32_t hosts;
	bool one_way;
};

static const struct shape shapes[] = {
	{ "pair", SIM_MESH, 2, false },	       { "chain", SIM_CHAIN, 4, false },
	{ "ring", SIM_RING, 3, false },	       { "star", SIM_STAR, 4, false },
	{ "one-way ring", SIM_RING, 4, true },
};

static const struct stepping {
	const char *name;
	struct sim_step step[2];
	size_t n;
} steppings[] = {
	{ "no step", { { 0 } }, 0 },
	{ "a step forward", { { 1, 21 * SECOND, 60 * MS, false } }, 1 },
	{ "a step back", { { 1, 33 * SECOND, -40 * MS, false } }, 1 },
	{ "set back by 12 s", { { 1, 30 * SECOND, -12 * SECOND, false } }, 1 },
	{ "the reference steps", { { 0, 25 * SECOND, 50 * MS, false } }, 1 },
	{ "two clocks step",
	  { { 0, 15 * SECOND, 30 * MS, false }, { 1, 45 * SECOND, -70 * MS, false } },
	  2 },
};

struct net {
	struct sim_options o;
	struct sim_clock clock[HOSTS];
	struct sim_message *m;
	size_t n, cap;
	char *text;
	size_t size, room;
	struct bellman_event *event;
	struct bellman_message *message;
};

struct widths {
	double engine_ns, exact_ns;
	uint64_t n, apart; /* moments; those where the two bands do not meet */
};

static void take(void *ctx, const struct sim_message *m)
{
	struct net *w = ctx;
	w->m = usk_room(w->m, w->n, &w->cap, sizeof *w->m);
	w->m[w->n++] = *m;
	if (w->room - w->size < 200) {
		w->room = 2 * w->room + 4096;
		w->text = usk_grow(w->text, w->room, 1);
	}
	w->size += (size_t)snprintf(w->text + w->size, 200, "host%u,host%u,%lld,%lld\n", m->from,
				    m->to, (long long)m->sent_ns, (long long)m->received_ns);
}

/* A run ends where the clock jumps, and where the reference does. */
static uint32_t run_at(const struct net *w, uint32_t host, int64_t true_ns)
{
	uint32_t run = 0;
	for (uint32_t h = 0; h < w->o.hosts; h++) {
		for (size_t i = 0; i < w->clock[h].n_jumps && (h == host || h == 0); i++) {
			run += w->clock[h].jump[i].true_ns <= true_ns;
		}
	}
	return run;
}

static struct usk_clocks *synchronise(struct net *w, const char *model, struct usk_err *err)
{
	struct usk_trace *trace = NULL;
	struct usk_clocks *answer = NULL;
	struct usk_sync_options o = {
		.model = model,
		.reference = "host0",
		.max_outliers = -1,
		.from_ns = USK_NONE,
		.to_ns = USK_NONE,
	};
	if (!usk_trace_open_memory(w->text, w->size, NULL, &trace, err)) {
		usk_sync(&trace, 1, &o, &answer, err);
	}
	usk_trace_close(trace);
	return answer;
}

static int64_t least_wander(const struct net *w)
{
	int64_t most = 0, end = w->o.start_ns + w->o.duration_ns;
	for (uint32_t h = 1; h < w->o.hosts; h++) {
		int64_t x = sim_clocks_wander_e18(&w->clock[0], &w->clock[h], w->o.start_ns, end);
		most = x > most ? x : most;
	}
	return most > 1 ? (most + 999999) / 1000000 : 0;
}

static bool solve(struct net *w, const struct usk_clocks *a, int64_t wander_e12,
		  struct bellman_clock clock[HOSTS], struct bellman *b)
{
	w->event = usk_alloc(2 * w->n + 1, sizeof *w->event);
	w->message = usk_alloc(w->n + 1, sizeof *w->message);
	for (size_t i = 0; i < w->n; i++) {
		const struct sim_message *m = &w->m[i];
		w->event[2 * i] = (struct bellman_event){ .clock = m->from,
							  .run = run_at(w, m->from, m->left_ns),
							  .local_ns = m->sent_ns };
		w->event[2 * i + 1] =
			(struct bellman_event){ .clock = m->to,
						.run = run_at(w, m->to, m->arrived_ns),
						.local_ns = m->received_ns };
		w->message[i] = (struct bellman_message){ 2 * i, 2 * i + 1 };
	}
	for (uint32_t h = 0; h < w->o.hosts; h++) {
		clock[h] = (struct bellman_clock){ .wander_e12 = wander_e12 };
	}
	for (size_t i = 0; a && i < a->n_clocks; i++) {
		size_t host = strtoul(a->clock[i].name + strlen("host"), NULL, 10);
		int64_t used = a->clock[i].wander.used_e12;
		clock[host].wander_e12 = used > wander_e12 ? used : wander_e12;
	}
	*b = (struct bellman){
		.event = w->event,
		.n = 2 * w->n,
		.message = w->message,
		.n_messages = w->n,
		.clock = clock,
		.n_clocks = w->o.hosts,
		/* The limit holds whichever of both clocks counts. */
		.max_skew_e12 = 500 * 1000000 + 251000,
		.resolution_ns = 1,
	};
	return bellman_solve(b);
}

static uint32_t host_of(const struct usk_clocks *a, uint32_t clock)
{
	return (uint32_t)strtoul(a->clock[clock].name + strlen("host"), NULL, 10);
}

/* One moment of one clock: the truth in the exact band, and the engine's band meets that. */
static void check_moment(const struct net *w, const struct bellman *b, const struct usk_clocks *a,
			 const struct usk_clock *c, uint32_t host, uint32_t seen, int64_t true_ns,
			 const char *name, struct widths *sum)
{
	struct held_place at = held_place(&w->clock[host], seen, true_ns);
	int64_t truth = sim_clock_read(&w->clock[0], true_ns), lo, hi;
	bellman_at(b, host, run_at(w, host, true_ns), at.local_ns, &lo, &hi);
	CHECK((lo == USK_NONE || lo - 2 <= truth) && (hi == USK_NONE || truth <= hi + 2),
	      "%s: host%u at local %lld: exact [%lld, %lld] excludes the truth %lld", name, host,
	      (long long)at.local_ns, (long long)lo, (long long)hi, (long long)truth);
	if (!c || c->n_knots < 2) {
		return;
	}
	for (size_t i = 0; i < c->n_jumps; i++) {
		if (held_in_jump(c, &c->jump[i], at, at)) {
			return;
		}
	}
	struct band band = band_of(c, at.epoch, a->max_skew_e12);
	if (band.n < 2) {
		return;
	}
	int64_t low = band_at(&band, at.local_ns, BAND_LO);
	int64_t high = band_at(&band, at.local_ns, BAND_HI);
	uint32_t reference = host_of(a, c->reference);
	if (reference) {
		/* Pairs that contradict themselves tie nothing: what is left of the net is on
		 * another clock, of which the solver does not tell. */
		truth = sim_clock_read(&w->clock[reference], true_ns);
		lo = hi = truth;
	}
	bool meet = (low == USK_NONE || hi == USK_NONE || at.local_ns + low <= hi + 3) &&
		    (high == USK_NONE || lo == USK_NONE || lo - 3 <= at.local_ns + high);
	CHECK(meet || sum->apart++,
	      "%s: host%u at local %lld: the true offset %lld and the answer's [%lld, %lld] do not "
	      "meet: the exact solver's is [%lld, %lld]",
	      name, host, (long long)at.local_ns, (long long)(truth - at.local_ns), (long long)low,
	      (long long)high, (long long)(lo - at.local_ns), (long long)(hi - at.local_ns));
	if (low != USK_NONE && high != USK_NONE && lo != USK_NONE && hi != USK_NONE && !reference) {
		sum->engine_ns += (double)(high - low) / 2;
		sum->exact_ns += (double)(hi - lo) / 2;
		sum->n++;
	}
}

static void check_net(struct net *w, int64_t wander_e12, const char *model, const char *name,
		      struct widths *sum)
{
	struct usk_err err = { 0 };
	struct usk_clocks *a = synchronise(w, model, &err);
	struct bellman_clock clock[HOSTS];
	struct bellman b;
	CHECK(a, "%s: no answer: %s", name, err.msg);
	bool fits = solve(w, a, wander_e12, clock, &b);
	CHECK(fits, "%s: no clocks fit", name);
	const struct sim_clock *truth[HOSTS];
	struct held_moments moments[HOSTS] = { { 0 } };
	struct held held[HOSTS];
	for (size_t i = 0; a && i < a->n_clocks; i++) {
		size_t host = strtoul(a->clock[i].name + strlen("host"), NULL, 10);
		truth[i] = &w->clock[host];
		held_grid(&moments[i], w->o.start_ns, w->o.start_ns + w->o.duration_ns, GRID);
		held_around(&moments[i], &w->clock[0], w->o.start_ns,
			    w->o.start_ns + w->o.duration_ns);
		if (host) {
			held_around(&moments[i], truth[i], w->o.start_ns,
				    w->o.start_ns + w->o.duration_ns);
		}
	}
	if (a && fits) {
		held_check(a, truth, moments, held);
	}
	for (size_t i = 0; a && i < a->n_clocks; i++) {
		uint32_t host = (uint32_t)strtoul(a->clock[i].name + strlen("host"), NULL, 10);
		for (size_t k = 0; k < moments[i].n && fits && host; k++) {
			check_moment(w, &b, a, &a->clock[i], host, held[i].seen,
				     moments[i].true_ns[k], name, sum);
		}
		free(moments[i].true_ns);
	}
	bellman_free(&b);
	usk_clocks_free(a);
}

static void run_case(const struct shape *s, const struct stepping *x, bool wanders, uint64_t seed,
		     const char *name, struct widths *sum)
{
	static const int64_t offset[HOSTS] = { 0, 7 * MS, -3 * SECOND, 123456789 };
	static const int64_t drift[HOSTS] = { 3000000, 41000000, -87000000, 12345678 };
	static const int64_t walk[HOSTS] = { 0, 2000000, 1000000, 3000000 };
	struct net w = { 0 };
	struct usk_err err = { 0 };
	sim_options_init(&w.o);
	w.o.seed = seed;
	w.o.hosts = s->hosts;
	w.o.topology = s->topology;
	w.o.one_way = s->one_way;
	w.o.format = SIM_TABLE;
	w.o.traffic = SIM_UDP;
	w.o.start_ns = 1000 * SECOND;
	w.o.duration_ns = 60 * SECOND;
	w.o.rate = 1;
	w.o.tail_ns = 200000;
	w.o.offset_ns = (struct sim_list){ offset, HOSTS };
	w.o.drift_e12 = (struct sim_list){ drift, HOSTS };
	w.o.step = x->step;
	w.o.n_steps = x->n;
	if (wanders) {
		w.o.wander_e15 = (struct sim_list){ walk, HOSTS };
	}
	CHECK(!sim_options_check(&w.o, &err), "%s: %s", name, err.msg);
	for (uint32_t h = 0; h < w.o.hosts; h++) {
		sim_options_clock(&w.o, h, &w.clock[h]);
	}
	w.text = usk_strdup("sender,receiver,sent_ns,received_ns\n");
	w.size = w.room = strlen(w.text);
	sim_messages(&w.o, w.clock, take, &w);
	int64_t wander_e12 = least_wander(&w);
	char *model = wander_e12 ? usk_format("wander=%lld.%06lld", (long long)wander_e12 / 1000000,
					      (long long)wander_e12 % 1000000)
				 : usk_strdup("linear");
	check_net(&w, wander_e12, model, name, sum);
	free(model);
	for (uint32_t h = 0; h < w.o.hosts; h++) {
		sim_clock_free(&w.clock[h]);
	}
	free(w.m);
	free(w.text);
	free(w.event);
	free(w.message);
}

int main(int argc, char **argv)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "--verbose");
	double logs = 0, worst = 0;
	size_t n = 0;
	for (size_t i = 0; i < COUNT(cases); i++) {
		solve_by_hand(&cases[i]);
	}
	for (size_t i = 0; i < COUNT(shapes) * COUNT(steppings) * 2; i++) {
		const struct shape *s = &shapes[i / 2 / COUNT(steppings)];
		const struct stepping *x = &steppings[i / 2 % COUNT(steppings)];
		char *name = usk_format("%s, %s%s", s->name, x->name, i % 2 ? ", wander" : "");
		struct widths sum = { 0 };
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			run_case(s, x, i % 2, seed, name, &sum);
		}
		if (sum.apart > 1) {
			printf("%s: so at %llu moments\n", name, (unsigned long long)sum.apart);
		}
		if (sum.n) {
			double ratio = sum.engine_ns / sum.exact_ns;
			logs += log(ratio);
			worst = ratio > worst ? ratio : worst;
			n++;
			if (verbose) {
				printf("%-44s half width %10.3f us, exact %10.3f us, ratio %.4f\n",
				       name, sum.engine_ns / (double)sum.n * 1e-3,
				       sum.exact_ns / (double)sum.n * 1e-3, ratio);
			}
		} else if (verbose) {
			printf("%-44s nothing bounded\n", name);
		}
		free(name);
	}
	printf("half width of the answer over that of the exact solver: geometric mean %.4f, most "
	       "%.4f, in %zu cases\n",
	       n ? exp(logs / (double)n) : 0, worst, n);
	return failures > 0;
}
