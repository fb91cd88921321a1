/* SPDX-License-Identifier: MIT */
/*
 * test_steps.c - clocks that are stepped or disciplined, as users ask: what was a step, what not
 *
 * A step is reported with the moment in its bracket and the size in its interval, nothing else is,
 * and the band holds the truth before and after, whether rates are let wander or cut. A clock that
 * is slewed, at whatever poll and limit, was never stepped.
 */
#include "../part.h"
#include "band.h"
#include "sim.h"
#include "base/text.h"
#include "read/trace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

enum { MOST = 16, MOMENTS = 1000 };

static const int64_t offset[] = { 12345678 }, drift[] = { 21000000 };

/* Two hosts in one LAN, 39 us and Exp(20 us); the second's clock is off and fast. */
static struct sim_options lan(uint64_t seed, int64_t seconds, double rate)
{
	struct sim_options o;
	sim_options_init(&o);
	o.seed = seed;
	o.hosts = 2;
	o.format = SIM_TABLE;
	o.duration_ns = seconds * SECOND;
	o.rate = rate;
	o.dmin.base_ps = 39000000;
	o.tail_ns = 20000;
	o.offset_ns = (struct sim_list){ offset, 1 };
	o.drift_e12 = (struct sim_list){ drift, 1 };
	return o;
}

struct world {
	const struct sim_options *o;
	struct sim_clock clock[4];
	char *text;
	size_t size, cap;
	const char *model;
};

static void take(void *ctx, const struct sim_message *m)
{
	struct world *w = ctx;
	char line[128];
	int n = snprintf(line, sizeof line, "host%u,host%u,%lld,%lld\n", m->from, m->to,
			 (long long)m->sent_ns, (long long)m->received_ns);
	if (w->size + (size_t)n > w->cap) {
		w->cap = 2 * w->cap + 65536;
		w->text = usk_grow(w->text, w->cap, 1);
	}
	memcpy(w->text + w->size, line, (size_t)n);
	w->size += (size_t)n;
}

static void begin(struct world *w, const struct sim_options *o)
{
	static const char head[] = "sender,receiver,sent_ns,received_ns\n";
	struct usk_err err = { 0 };
	*w = (struct world){ .o = o, .text = usk_strdup(head), .size = sizeof head - 1 };
	w->cap = w->size;
	if (sim_options_check(o, &err)) {
		fail_msg("%s", err.msg);
	}
	for (uint32_t i = 0; i < o->hosts; i++) {
		sim_options_clock(o, i, &w->clock[i]);
	}
	sim_messages(o, w->clock, take, w);
}

static void end(struct world *w)
{
	for (uint32_t i = 0; i < COUNT(w->clock); i++) {
		sim_clock_free(&w->clock[i]);
	}
	free(w->text);
}

static struct usk_clocks *solve_from(struct world *w, const char *model, const char *reference)
{
	struct usk_sync_options o = { .model = model,
				      .reference = reference,
				      .max_outliers = -1,
				      .from_ns = USK_NONE,
				      .to_ns = USK_NONE };
	struct usk_err err = { 0 };
	struct usk_trace *t;
	struct usk_clocks *c = NULL;
	w->model = model;
	if (usk_trace_open_memory(w->text, w->size, NULL, &t, &err) ||
	    usk_sync(&t, 1, &o, &c, &err)) {
		fail_msg("seed %llu, %s: %s", (unsigned long long)w->o->seed, model, err.msg);
	}
	usk_trace_close(t);
	return c;
}

static struct usk_clocks *solve(struct world *w, const char *model)
{
	return solve_from(w, model, "host0");
}

static const struct usk_clock *stepped(const struct usk_clocks *c)
{
	return &c->clock[strcmp(c->clock[0].name, "host1") ? 1 : 0];
}

static void show(const struct world *w, const struct usk_clock *k)
{
	for (size_t i = 0; i < w->clock[1].n_jumps; i++) {
		const struct sim_jump *x = &w->clock[1].jump[i];
		print_message("  true: %lld to %lld, %.6f ms\n",
			      (long long)sim_clock_read(&w->clock[1], x->true_ns - 1),
			      (long long)sim_clock_read(&w->clock[1], x->true_ns),
			      (double)x->size_ns * 1e-6);
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		print_message("  %s of %u, epoch %u, %lld to %lld, rise %.6f to %.6f ms\n",
			      j->kind == USK_JUMP ? "jump" : "bend", j->of, j->epoch,
			      (long long)j->after_local_ns, (long long)j->before_local_ns,
			      (double)j->size_lo_ns * 1e-6, (double)j->size_hi_ns * 1e-6);
	}
}

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			show(w, k);                                                                \
			fail_msg("seed %llu, %s: %s", (unsigned long long)w->o->seed, w->model,    \
				 #cond);                                                           \
		}                                                                                  \
	} while (0)

/* Where the clock was set back by so much that stamps show it, a new epoch begins. */
static size_t epochs_until(const struct world *w, const struct usk_clock *k, int64_t true_ns)
{
	size_t epoch = 0, j = 0;
	for (size_t i = 0; i < w->clock[1].n_jumps; i++, j++) {
		while (k->jump[j].kind != USK_JUMP) {
			j++;
		}
		epoch += w->clock[1].jump[i].true_ns <= true_ns &&
			 k->jump[j].end_epoch != k->jump[j].epoch;
	}
	return epoch;
}

/* A step that a slew within the skew limit would have hidden in the delays is told as a change of
 * rate. */
static bool told_as_slew(const struct sim_clock *c, const struct sim_jump *x,
			 const struct usk_jump *j)
{
	return x->size_ns < MS && x->size_ns > -MS &&
	       sim_clock_read(c, x->true_ns) >= j->after_local_ns &&
	       sim_clock_read(c, x->true_ns) <= j->before_local_ns;
}

static void check_jumps(const struct world *w, const struct usk_clock *k)
{
	const struct sim_clock *c = &w->clock[1];
	size_t n = 0;
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		if (j->kind != USK_JUMP && (n == c->n_jumps || !told_as_slew(c, &c->jump[n], j))) {
			continue;
		}
		MUST(n < c->n_jumps);
		const struct sim_jump *x = &c->jump[n++];
		MUST(sim_clock_read(c, x->true_ns - 1) >= j->after_local_ns - 1);
		MUST(sim_clock_read(c, x->true_ns) <= j->before_local_ns + 1);
		MUST(j->size_lo_ns - 1 <= -x->size_ns && -x->size_ns <= j->size_hi_ns + 1);
		MUST(j->size_hi_ns - j->size_lo_ns < 2 * MS);
	}
	MUST(n == c->n_jumps);
}

static void check_band(const struct world *w, const struct usk_clocks *c, const struct usk_clock *k)
{
	for (int64_t i = 0; i <= MOMENTS; i++) {
		int64_t t = w->o->start_ns + w->o->duration_ns / MOMENTS * i;
		int64_t x = sim_clock_read(&w->clock[1], t);
		int64_t truth = sim_clock_read(&w->clock[0], t) - x;
		struct band b = band_of(k, (uint32_t)epochs_until(w, k, t), c->max_skew_e12);
		MUST(b.n >= 2);
		int64_t lo = band_at(&b, x, BAND_LO), hi = band_at(&b, x, BAND_HI);
		MUST(lo - 1 <= truth && truth <= hi + 1);
	}
}

static const char *const models[] = { "wander", "segments=auto" };

/* Put back by less than four messages take nobody sees it: those few whose stamps repeat are left
 * out. */
static uint64_t hidden(const struct world *w)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->clock[1].n_jumps; i++) {
		int64_t by = w->clock[1].jump[i].size_ns;
		n += by < -5 * MS && by > -100 * MS ? 10 : 0;
	}
	return n;
}

static void try(const struct sim_options *o)
{
	struct world world, *w = &world;
	begin(w, o);
	for (size_t i = 0; i < COUNT(models); i++) {
		struct usk_clocks *c = solve(w, models[i]);
		const struct usk_clock *k = stepped(c);
		MUST(k->quality == USK_BOUNDED && c->counts.outliers <= hidden(w));
		MUST(!c->evaluation.corrected_inversions || hidden(w));
		check_jumps(w, k);
		check_band(w, c, k);
		usk_clocks_free(c);
	}
	end(w);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void one_step_in_the_middle_of_an_hour(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= case_count_at_most(2); seed++) {
		struct sim_options o = lan(seed, 3600, 50);
		struct sim_step step = { 1, 1800 * SECOND + 123456789, seed % 2 ? MS : -MS, false };
		o.step = &step;
		o.n_steps = 1;
		try(&o);
	}
}

/* Of 200 us to 1 s, both ways. */
static void ten_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= case_count_at_most(4); seed++) {
		struct sim_options o = lan(seed, 600, 50);
		struct sim_step step[10];
		struct usk_rng r;
		usk_rng_seed(&r, seed + 100);
		for (int64_t i = 0; i < 10; i++) {
			int64_t by = (int64_t)(200000 * pow(5000, usk_rng_unit(&r)));
			step[i] = (struct sim_step){ .host = 1 };
			step[i].after_ns = i * 60 * SECOND + 20 * SECOND +
					   (int64_t)usk_rng_below(&r, 20 * (uint64_t)SECOND);
			step[i].size_ns = usk_rng_below(&r, 2) ? -by : by;
		}
		o.step = step;
		o.n_steps = 10;
		try(&o);
	}
}

/* Asleep so shortly before the end that all that is said after it is a handful of messages, and put
 * forward not long before: they are right all the same. */
static void asleep_near_the_end(void **state)
{
	(void)state;
	static const struct sim_step step[] = { { 1, 144367194, 82459006, false },
						{ 1, 1093305966, 3871442, false },
						{ 1, 1595964514, 76425286, true } };
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		struct sim_options o = lan(seed, 0, 30);
		struct world world, *w = &world;
		o.duration_ns = 1834206853;
		o.dmin.base_ps = 201000;
		o.tail_ns = 668801;
		o.step = step;
		o.n_steps = COUNT(step);
		begin(w, &o);
		struct usk_clocks *c = solve(w, "segments=auto");
		const struct usk_clock *k = stepped(c);
		MUST(k->quality == USK_BOUNDED && !c->counts.outliers);
		usk_clocks_free(c);
		end(w);
	}
}

/* ---- slews ---------------------------------------------------------------------------------- */

/* Polls from 16 s to 17 min, each set off by its own error, made good at no more than so much. */
static void slewed_is_not_stepped(void **state)
{
	(void)state;
	static const int64_t poll[] = { 16, 64, 256, 1024 };
	static const int64_t slew[] = { 2000000, 50000000, 200000000, 400000000 };
	static const int64_t error[] = { 20000, 500000, 5000000 };
	for (uint64_t seed = case_first(12); seed < case_end(12); seed++) {
		int64_t every[] = { poll[seed % 4] * SECOND }, wander[] = { 1000000 };
		struct sim_options o = lan(seed, 3600, seed % 3 ? 1 : 2);
		o.poll_ns = (struct sim_list){ every, 1 };
		o.wander_e15 = (struct sim_list){ wander, 1 };
		o.slew_e12 = slew[seed / 4 % 4];
		o.poll_error_ns = error[seed % 3];
		struct world world, *w = &world;
		begin(w, &o);
		for (size_t i = 0; i < COUNT(models); i++) {
			struct usk_clocks *c = solve(w, models[i]);
			const struct usk_clock *k = stepped(c);
			MUST(k->quality == USK_BOUNDED && !c->counts.outliers);
			MUST(!c->evaluation.corrected_inversions);
			for (size_t n = 0; n < k->n_jumps; n++) {
				MUST(k->jump[n].kind == USK_BEND);
			}
			usk_clocks_free(c);
		}
		end(w);
	}
}

/* ---- set back ------------------------------------------------------------------------------- */

static char dir[] = "/tmp/unskew-steps-XXXXXX";

struct delays {
	uint64_t n, wrong;
};

/* On one clock every message takes what it took. */
static bool see(void *ctx, const struct usk_msg *m, size_t n)
{
	struct delays *d = ctx;
	for (size_t i = 0; i < n; i++) {
		int64_t took = m[i].received_ns - m[i].sent_ns;
		d->wrong += took < 0 || took > 2 * MS;
	}
	d->n += n;
	return true;
}

static struct usk_clocks *solve_files(const char *const *path, size_t n, struct delays *d)
{
	struct usk_sink sink = { .ctx = d, .put = see };
	struct usk_sync_options o = { .messages = d ? &sink : NULL,
				      .model = "linear",
				      .max_outliers = -1,
				      .from_ns = USK_NONE,
				      .to_ns = USK_NONE };
	struct usk_trace *t[2] = { NULL };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	o.model = d ? "linear" : "segments=auto";
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(usk_trace_open(path[i], NULL, &t[i], &err), USK_OK);
	}
	if (usk_sync(t, n, &o, &c, &err)) {
		fail_msg("%s: %s", path[0], err.msg);
	}
	for (size_t i = 0; i < n; i++) {
		usk_trace_close(t[i]);
	}
	return c;
}

/* By 0.3 to 20 s in the middle: what apply writes is right in both epochs, and so are the bands. */
static void put_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		static const int64_t by[] = { 300 * MS, 700 * MS, 2 * SECOND, 20 * SECOND };
		struct sim_options o = lan(seed, 60, 50);
		struct sim_step step = { 1, 30 * SECOND + 987654, -by[seed / 2 % 4], false };
		struct usk_err err = { 0 };
		struct delays d = { 0 };
		bool table = seed % 2;
		o.format = table ? SIM_TABLE : SIM_PCAP;
		o.step = &step;
		o.n_steps = 1;
		char *run = usk_format("%s/%llu", dir, (unsigned long long)seed);
		char *in = usk_format("%s/%s", run, table ? "messages.csv" : "host1.pcap");
		char *out = usk_format("%s/%s", run, table ? "out.csv" : "out.pcap");
		char *other = usk_format("%s/host0.pcap", run);
		if (sim_run(&o, run, true, NULL, &err)) {
			fail_msg("%s", err.msg);
		}
		const char *as_recorded[] = { table ? in : other, in };
		struct world world = { .o = &o, .model = "segments=auto" }, *w = &world;
		sim_options_clock(&o, 0, &w->clock[0]);
		sim_options_clock(&o, 1, &w->clock[1]);
		struct usk_clocks *c = solve_files(as_recorded, table ? 1 : 2, NULL);
		const struct usk_clock *k = stepped(c);
		MUST(k->quality == USK_BOUNDED && !c->counts.outliers);
		MUST(k->knot[k->n_knots - 1].epoch == 1);
		check_jumps(w, k);
		check_band(w, c, k);
		uint32_t clock = (uint32_t)(k - c->clock);
		if (usk_apply(in, table ? USK_NO_CLOCK : clock, c, out, NULL, NULL, &err)) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
		}
		const char *corrected[] = { table ? out : other, out };
		usk_clocks_free(solve_files(corrected, table ? 1 : 2, &d));
		MUST(d.n >= c->counts.matched && d.n > 5000 && !d.wrong);
		usk_clocks_free(c);
		end(w);
		free(run);
		free(in);
		free(out);
		free(other);
	}
}

/* Where a pair has the clock that was set back as its other one, it brackets that by other stamps
 * than the clock's own: the same fall all the same. */
static void put_back_is_told_once(void **state)
{
	(void)state;
	static const int64_t offsets[] = { 0, -122716627, 4, -74258329410 };
	static const int64_t drifts[] = { 0, -716349, -588806, 789964 };
	static const struct sim_step step[] = { { 0, 21960939843, -13525250544, false },
						{ 0, 139193963257, 333727, false } };
	struct sim_options o = lan(20619, 0, 7.39357837957792);
	struct world world, *w = &world;
	o.hosts = 4;
	o.topology = SIM_MESH;
	o.traffic = SIM_ICMP;
	o.duration_ns = 202878758159;
	o.offset_ns = (struct sim_list){ offsets, 4 };
	o.drift_e12 = (struct sim_list){ drifts, 4 };
	o.dmin = (struct usk_delay_model){ 210383000, 10258333, 1307994 };
	o.tail_ns = 17214;
	o.step = step;
	o.n_steps = COUNT(step);
	begin(w, &o);
	struct usk_clocks *c = solve_from(w, "segments=auto", NULL);
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		size_t back = 0;
		for (size_t n = 0; n < k->n_jumps; n++) {
			back += k->jump[n].size_lo_ns > SECOND;
		}
		MUST(back == !strcmp(k->name, "host0"));
	}
	usk_clocks_free(c);
	end(w);
}

int main(void)
{
	if (!mkdtemp(dir)) {
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_step_in_the_middle_of_an_hour),
		cmocka_unit_test(ten_steps),
		cmocka_unit_test(asleep_near_the_end),
		cmocka_unit_test(slewed_is_not_stepped),
		cmocka_unit_test(put_back),
		cmocka_unit_test(put_back_is_told_once),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char *clean = usk_format("rm -rf '%s'", dir);
	failed += system(clean) != 0;
	free(clean);
	return failed;
}
