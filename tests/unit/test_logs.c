/* SPDX-License-Identifier: MIT */
/*
 * test_logs.c - logs of events, of clocks that were set back together, rotated as the machines ran
 *
 * Two machines follow one clock that is set back now and then, and a third one does not. Only the first of
 * them exchanges messages with the third, so the order of the second one's logs is known only by that of
 * the first one's. Truth is known: each stamp's band, in the epoch in which it was written, has to hold it.
 */
#include "../part.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEP  (10 * MS)
#define LASTS (STEPS * STEP)

enum { FALLS = 3, CUTS = 2, LOGS = CUTS + 1, STEPS = 600 };

enum { SET, WITH_IT, TRUE_TIME, MACHINES };

static const char *const name[MACHINES] = { "set", "with_it", "true_time" };

struct event {
	int64_t at, ns; /* true time, and what the clock showed */
	uint32_t machine, epoch;
};

struct logs {
	uint64_t seed;
	struct usk_rng rng;
	int64_t fall_at[FALLS], by[FALLS], cut_at[CUTS];
	size_t n_falls;
	struct event event[8 * STEPS];
	size_t n_events, n_messages;
	struct bytes log[MACHINES][LOGS];
};

static int64_t below(struct logs *l, int64_t n)
{
	return (int64_t)usk_rng_below(&l->rng, (uint64_t)n);
}

/* One of `of` equal parts of the time has it near its middle, and nothing is under way then. */
static int64_t moment(struct logs *l, size_t part, size_t of)
{
	const int64_t steps = STEPS / (int64_t)of;
	return START + (steps * (int64_t)part + steps / 4 + below(l, steps / 2)) * STEP - MS;
}

static struct event seen(const struct logs *l, uint32_t machine, int64_t at)
{
	struct event e = { at, at, machine, 0 };
	if (machine != TRUE_TIME) {
		e.ns += (int64_t)(machine + 3) * SECOND +
			(at - START) / (machine == SET ? 20000 : -30000);
		for (; e.epoch < l->n_falls && l->fall_at[e.epoch] <= at; e.epoch++) {
			e.ns -= l->by[e.epoch];
		}
	}
	return e;
}

static void write_down(struct logs *l, uint32_t machine, int64_t at, const char *kind)
{
	const struct event e = seen(l, machine, at);
	size_t log = 0;
	while (machine != TRUE_TIME && log < CUTS && l->cut_at[log] <= at) {
		log++;
	}
	char *text =
		usk_format("%s,%s,%zu,%lld\n", name[machine], kind, l->n_messages, (long long)e.ns);
	struct bytes *b = &l->log[machine][log];
	if (!b->n) {
		put_text(b, "clock,kind,id,time_ns\n");
	}
	put_text(b, text);
	free(text);
	l->event[l->n_events++] = e;
}

static void send(struct logs *l, uint32_t from, uint32_t to, int64_t at)
{
	write_down(l, from, at, "send");
	write_down(l, to, at + 50000 + below(l, 50000), "recv");
	l->n_messages++;
}

static void make(struct logs *l, uint64_t seed)
{
	*l = (struct logs){ .seed = seed };
	usk_rng_seed(&l->rng, seed);
	l->n_falls = 1 + (size_t)below(l, FALLS);
	for (size_t i = 0; i < l->n_falls; i++) {
		l->fall_at[i] = moment(l, i, l->n_falls);
		/* Every stamp is below all that were before. */
		l->by[i] = LASTS + below(l, 3 * SECOND);
	}
	/* A log that is rotated as a clock is set does not show it. */
	for (size_t i = 0; i < CUTS; i++) {
		l->cut_at[i] = moment(l, i, CUTS);
		for (size_t k = 0; k < l->n_falls; k++) {
			l->cut_at[i] += l->cut_at[i] == l->fall_at[k] ? STEP : 0;
		}
	}
	for (int64_t i = 0; i < STEPS; i++) {
		const int64_t at = START + i * STEP;
		send(l, SET, TRUE_TIME, at);
		send(l, SET, WITH_IT, at + MS);
		send(l, TRUE_TIME, SET, at + 2 * MS);
		send(l, WITH_IT, SET, at + 3 * MS);
	}
}

/* Logs are given in any order. */
static void add_all(struct logs *l, struct traces *t)
{
	const struct bytes *log[MACHINES * LOGS];
	size_t n = 0;
	for (size_t i = 0; i < COUNT(log); i++) {
		const struct bytes *b = &l->log[i / LOGS][i % LOGS];
		if (b->n) {
			const size_t to = usk_rng_below(&l->rng, n + 1);
			log[n++] = log[to];
			log[to] = b;
		}
	}
	for (size_t i = 0; i < n; i++) {
		char text[16];
		snprintf(text, sizeof text, "log %zu", i);
		add(t, log[i], text);
	}
}

static void check(const struct logs *l, const struct usk_clocks *c)
{
	CHECK(c->counts.matched == l->n_messages, l);
	CHECK(c->counts.outliers == 0, l);
	for (uint32_t m = 0; m < MACHINES; m++) {
		const struct usk_clock *k = clock_named(c, name[m]);
		struct usk_map *map[FALLS + 1] = { NULL };
		if (m == TRUE_TIME) {
			continue;
		}
		CHECK(k->quality == USK_BOUNDED, l);
		CHECK(k->n_set_backs == l->n_falls, l);
		for (uint32_t i = 0; i <= l->n_falls; i++) {
			map[i] = usk_map_of_epoch(k, i, c->max_skew_e12);
			CHECK(map[i], l);
		}
		for (size_t i = 0; i < l->n_events; i++) {
			const struct event *e = &l->event[i];
			struct usk_stamp s;
			if (e->machine == m) {
				assert_int_equal(usk_map_at(map[e->epoch], e->ns, &s, NULL),
						 USK_OK);
				/* 1 ns: the stamps are rounded down. */
				CHECK(s.lo_ns == USK_NONE || s.lo_ns <= e->at + 1, l);
				CHECK(s.hi_ns == USK_NONE || s.hi_ns >= e->at - 1, l);
				CHECK(s.lo_ns != USK_NONE || s.hi_ns != USK_NONE, l);
			}
		}
		for (uint32_t i = 0; i <= l->n_falls; i++) {
			usk_map_free(map[i]);
		}
	}
}

static void set_back_together(void **state)
{
	(void)state;
	static struct logs l;
	for (uint64_t seed = case_first(12); seed < case_end(12); seed++) {
		struct traces t = { .n = 0 };
		struct usk_sync_options o = defaults;
		struct usk_clocks *c;
		struct usk_err err = { 0 };
		make(&l, seed);
		add_all(&l, &t);
		o.reference = name[TRUE_TIME];
		if (usk_sync(t.t, t.n, &o, &c, &err)) {
			fail_msg("case of seed %llu: %s", (unsigned long long)seed, err.msg);
		}
		check(&l, c);
		usk_clocks_free(c);
		close_all(&t);
		for (int i = 0; i < MACHINES * LOGS; i++) {
			bytes_free(&l.log[i / LOGS][i % LOGS]);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_back_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
