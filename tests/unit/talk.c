/* SPDX-License-Identifier: MIT */
#include "talk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t within(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)usk_rng_below(r, (uint64_t)(hi - lo) + 1);
}

/* Stamps out of a small square: ties, coincidence, one instant, falling clocks. */
static void grid(struct talk *t, struct usk_rng *r)
{
	int64_t wide = within(r, 0, 3) ? within(r, 0, 15) : 0;
	int64_t high = within(r, 0, 3) ? within(r, 0, 15) : 0;
	int64_t at = within(r, 0, 2) * INT64_C(850000000000000000);
	int64_t fall = within(r, 0, 4) ? 0 : 2;
	t->n = (size_t)within(r, 1, within(r, 0, 1) ? 6 : 40);
	for (size_t i = 0; i < t->n; i++) {
		bool ceiling = within(r, 0, 1);
		int64_t x = within(r, 0, wide), y = within(r, 0, high) - fall * x;
		t->msg[i] = ceiling ? (struct usk_msg){ at + y, at + x, 1, 0, 0 }
				    : (struct usk_msg){ at + x, at + y, 0, 1, 0 };
	}
}

/* Calls and replies at an epoch, some messages alone. */
static void calls(struct talk *t, struct usk_rng *r)
{
	int64_t epoch = within(r, 0, 1) * INT64_C(1700000000000000000);
	int64_t span = INT64_C(1) << within(r, 10, 45), ppb = within(r, -400000, 400000);
	int64_t theta = within(r, -1, 1) * (INT64_C(1) << within(r, 0, 55));
	int64_t delay = INT64_C(1) << within(r, 4, 25);
	size_t want = (size_t)within(r, 1, TALK_MAX - 1);
	while (t->n < want) {
		int64_t at = within(r, 0, span), dir = within(r, 0, 1);
		for (int i = 0; i < 2 && (!i || within(r, 0, 5)); i++, dir = !dir) {
			int64_t end = at + delay + within(r, 0, delay);
			int64_t x = dir ? end : at, b = dir ? at : end;
			int64_t y = b + (int64_t)((usk_i128)b * ppb / 1000000000) - theta;
			t->msg[t->n++] = dir ? (struct usk_msg){ epoch + y, epoch + x, 1, 0, 0 }
					     : (struct usk_msg){ epoch + x, epoch + y, 0, 1, 0 };
			at = end + within(r, 0, 3) * delay;
		}
	}
}

/* The same stamps, one direction. */
static void one_way(struct talk *t, struct usk_rng *r)
{
	calls(t, r);
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (t->msg[i].from) {
			t->msg[n++] = t->msg[i];
		}
	}
	t->n = n;
}

void talk_make(struct talk *t, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	memset(t, 0, sizeof *t);
	t->seed = seed;
	uint64_t kind = usk_rng_below(&r, 20);
	(!kind ? one_way : kind < 10 ? grid : calls)(t, &r);
	usk_msg_sort(t->msg, t->n, 1);
	struct usk_frame f = { .kappa_e12 = 400000 };
	f.local_ns = t->n ? usk_msg_stamp(&t->msg[0], 1) + within(&r, -5, 5) : 0;
	f.offset_ns = t->n ? usk_msg_stamp(&t->msg[0], 0) - f.local_ns : 0;
	t->corridor = usk_corridor_new(&f);
	CHECK(!usk_corridor_add(t->corridor, 0, 1, t->msg, t->n, NULL), t);
	t->lines = usk_lines_new(t->corridor, 0, 0, 500000000);
	t->fit = (struct usk_fit){ .corridor = t->corridor,
				   .lines = t->lines,
				   .msg = t->msg,
				   .n_msgs = t->n,
				   .a = 0,
				   .b = 1 };
	t->fit.first_local_ns = t->n ? usk_msg_stamp(&t->msg[0], 1) : 0;
	t->fit.last_local_ns = t->n ? usk_msg_stamp(&t->msg[t->n - 1], 1) : 0;
}

enum usk_status talk_ask(struct talk *t, const char *name)
{
	enum usk_status status = usk_estimator_run(usk_estimator_find(name), &t->fit, &t->knot,
						   &t->n_knots, &t->err);
	CHECK(!status || (status == USK_EINPUT && t->err.msg[0] && !t->knot), t);
	return status;
}

void talk_free(struct talk *t)
{
	free(t->knot);
	usk_lines_free(t->lines);
	usk_corridor_free(t->corridor);
}

void talk_delay(struct talk *t)
{
	struct usk_rng r;
	usk_rng_seed(&r, ~t->seed);
	for (size_t i = 0; i < t->n; i++) {
		t->msg[i].bytes = (uint32_t)(within(&r, 0, 1) * within(&r, 0, 1400));
	}
	for (int i = 0; i < 2; i++) {
		int64_t size = INT64_C(1) << within(&r, 1, 34);
		t->least[i] = (struct usk_delay_model){ within(&r, 0, size), within(&r, 0, size),
							within(&r, 0, size / 1000) };
		t->fit.least[i] = within(&r, 0, 4) ? &t->least[i] : NULL;
	}
}

int64_t talk_least_ns(const struct talk *t, const struct usk_msg *m)
{
	const struct usk_delay_model *d = t->fit.least[m->from];
	int64_t n = m->bytes;
	return !d ? 0 : (d->base_ps + (n ? d->first_ps + (n - 1) * d->per_byte_ps : 0)) / 1000;
}

void talk_move(struct talk *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct usk_msg *m = &t->msg[i];
		int64_t least = talk_least_ns(t, m);
		m->sent_ns = 2 * m->sent_ns + least;
		m->received_ns = 2 * m->received_ns - least;
	}
}

const struct usk_msg *talk_answer(const struct talk *t, size_t i)
{
	const struct usk_msg *m = &t->msg[i], *best = NULL;
	for (size_t j = 0; j < t->n; j++) {
		const struct usk_msg *k = &t->msg[j];
		if (k->from != m->to || k->sent_ns < m->received_ns) {
			continue;
		}
		if (!best || k->sent_ns < best->sent_ns ||
		    (k->sent_ns == best->sent_ns && k->received_ns < best->received_ns)) {
			best = k;
		}
	}
	return best;
}

void exact_init(struct exact *e)
{
	mpq_inits(e->beta, e->x, e->y, NULL);
}

void exact_clear(struct exact *e)
{
	mpq_clears(e->beta, e->x, e->y, NULL);
}

void exact_at(const struct exact *e, int64_t t, mpq_t out)
{
	mpq_t at;
	mpq_init(at);
	oracle_set(at, t, 1);
	mpq_sub(out, at, e->y);
	mpq_div(out, out, e->beta);
	mpq_add(out, out, e->x);
	mpq_sub(out, out, at);
	mpq_clear(at);
}

bool exact_agrees(const struct exact *e, const struct usk_knot *k, size_t n)
{
	mpq_t v, got;
	mpq_inits(v, got, NULL);
	bool ok = n == 2 && k[0].local_ns < k[1].local_ns;
	for (size_t i = 0; i < 2 && ok; i++) {
		exact_at(e, k[i].local_ns, v);
		oracle_set(got, k[i].offset_ns, 1);
		if (fabs(mpq_get_d(v)) > 0x1p61) {
			break; /* cut at the end of the range */
		}
		mpq_sub(got, got, v);
		double slope = fabs(1 / mpq_get_d(e->beta));
		/* Where the line is that steep, 64 bits of the slope are not 1 ns at its ends. */
		double run = (double)(k[1].local_ns - k[0].local_ns);
		ok = fabs(mpq_get_d(got)) <= 1 + run * slope * 0x1p-62;
	}
	mpq_clears(v, got, NULL);
	return ok;
}
