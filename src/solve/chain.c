/* SPDX-License-Identifier: MIT */
/*
 * chain.c - bands turned round, and put one after the other
 *
 * In    one or two bands
 * Out   the band of a against b from that of b against a; of c against a by way of b
 * Why   a result is piecewise straight too, but its corners are no integers: it is asked at the
 *       corners of its estimate and where a chord would miss a corner of L or U, and lifted by what
 *       it still cuts off
 * Not   which way (graph.h)
 */
#include "solve/link.h"
#include "solve/times.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

/* A corner that is missed by more gets a knot of its own, in so many rounds. */
#define LIFT_NS INT64_C(2)
enum { ROUNDS = 12 };

/* The result, to be asked: inner is turned round if there is no outer. */
struct question {
	const struct usk_link *inner, *outer;
	bool has[3];
	struct usk_times bend[3]; /* of L and U: times next to their corners, all that matter */
};

struct hints {
	usk_hint inner, outer;
};

static int64_t answer(const struct question *q, enum usk_curve c, int64_t x, struct hints *h)
{
	if (!q->outer) {
		enum usk_curve turned = c == USK_LOWER	 ? USK_UPPER
					: c == USK_UPPER ? USK_LOWER
							 : USK_MIDDLE;
		return usk_link_back(q->inner, turned, x, &h->inner);
	}
	return usk_link_at(q->outer, c, usk_link_at(q->inner, c, x, &h->inner), &h->outer);
}

/* Knots at x. */
static struct usk_link draw(const struct question *q, const struct usk_times *t)
{
	struct usk_link b = { .n = t->n, .skew_e12 = q->inner->skew_e12 };
	struct hints h[3] = { { 0 } };
	memcpy(b.has, q->has, sizeof b.has);
	b.knot = usk_alloc(b.n, sizeof *b.knot);
	for (size_t i = 0; i < t->n; i++) {
		int64_t v[3] = { USK_NONE, USK_NONE, USK_NONE };
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
			if (b.has[c]) {
				v[c] = usk_cut((usk_i128)answer(q, c, t->x[i], &h[c]) - t->x[i]);
			}
		}
		/* Beyond the outermost knots the estimate goes straight on, the band does not. */
		if (b.has[USK_MIDDLE] && b.has[USK_LOWER] && v[USK_MIDDLE] < v[USK_LOWER]) {
			v[USK_MIDDLE] = v[USK_LOWER];
		}
		if (b.has[USK_MIDDLE] && b.has[USK_UPPER] && v[USK_MIDDLE] > v[USK_UPPER]) {
			v[USK_MIDDLE] = v[USK_UPPER];
		}
		b.knot[i] = (struct usk_knot){ t->x[i], v[USK_MIDDLE], v[USK_LOWER], v[USK_UPPER],
					       q->inner->knot[0].epoch };
	}
	return b;
}

static int64_t offset(const struct usk_knot *k, enum usk_curve c)
{
	return c == USK_LOWER ? k->lo_ns : c == USK_UPPER ? k->hi_ns : k->offset_ns;
}

static int64_t value(const struct usk_knot *k, enum usk_curve c)
{
	return usk_cut((usk_i128)k->local_ns + offset(k, c));
}

/* The straight line from k[0] to k[1] at x, rounded inwards: U down, L up. */
static usk_i128 chord(const struct usk_knot *k, enum usk_curve c, int64_t x)
{
	usk_i128 rise = (usk_i128)offset(&k[1], c) - offset(k, c);
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 over = rise * ((usk_i128)x - k->local_ns);
	return x + (usk_i128)offset(k, c) +
	       (c == USK_UPPER ? usk_floor_div(over, run) : usk_ceil_div(over, run));
}

/*
 * By how much the chords of c cut off its corners, into over[i] for the chord from knot i on. Of
 * each chord the corner that it misses by most, if that is over LIFT_NS, goes into more.
 */
static void measure(const struct question *q, const struct usk_link *b, enum usk_curve c,
		    int64_t *over, struct usk_times *more)
{
	struct hints h = { 0 };
	const struct usk_times *bend = &q->bend[c];
	size_t k = 0;
	while (k < bend->n && bend->x[k] <= b->knot[0].local_ns) {
		k++;
	}
	for (size_t i = 0; i + 1 < b->n; i++) {
		int64_t worst = 0;
		usk_i128 most = LIFT_NS;
		for (; k < bend->n && bend->x[k] < b->knot[i + 1].local_ns; k++) {
			usk_i128 cut =
				answer(q, c, bend->x[k], &h) - chord(&b->knot[i], c, bend->x[k]);
			cut = c == USK_UPPER ? cut : -cut;
			over[i] = cut > over[i] ? usk_saturate(cut) : over[i];
			if ((cut < 0 ? -cut : cut) > most) {
				most = cut < 0 ? -cut : cut;
				worst = bend->x[k];
			}
		}
		if (most > LIFT_NS) {
			usk_times_add(more, worst);
		}
		k += k < bend->n && bend->x[k] == b->knot[i + 1].local_ns;
	}
}

static void lift(struct usk_link *b, enum usk_curve c, const int64_t *over)
{
	for (size_t i = 0; i < b->n; i++) {
		int64_t left = i ? over[i - 1] : 0, right = i + 1 < b->n ? over[i] : 0;
		int64_t by = left > right ? left : right;
		if (c == USK_UPPER) {
			b->knot[i].hi_ns = usk_cut((usk_i128)b->knot[i].hi_ns + by);
		} else {
			b->knot[i].lo_ns = usk_cut((usk_i128)b->knot[i].lo_ns - by);
		}
	}
}

/* The result with knots at t, and wherever else it needs some; takes t and the bends. */
static struct usk_link ask(struct question *q, struct usk_times *t)
{
	struct usk_link b = { 0 };
	usk_times_settle(t);
	usk_times_settle(&q->bend[USK_LOWER]);
	usk_times_settle(&q->bend[USK_UPPER]);
	for (int round = 0;; round++) {
		struct usk_times more = { 0 };
		int64_t *over[3] = { 0 };
		b = draw(q, t);
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
			over[c] = usk_alloc(b.n, sizeof **over);
			if (b.has[c]) {
				measure(q, &b, c, over[c], &more);
			}
		}
		bool done = !more.n || round == ROUNDS;
		if (done) {
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
				if (b.has[c]) {
					lift(&b, c, over[c]);
				}
			}
		} else {
			for (size_t i = 0; i < more.n; i++) {
				usk_times_add(t, more.x[i]);
			}
			usk_times_settle(t);
		}
		free(over[USK_LOWER]);
		free(over[USK_UPPER]);
		free(more.x);
		if (done) {
			break;
		}
		usk_link_free(&b);
	}
	free(t->x);
	free(q->bend[USK_LOWER].x);
	free(q->bend[USK_UPPER].x);
	/* Roundings of 1 ns must not make it fall. */
	struct usk_link out = usk_link_of(b.knot, b.n, b.skew_e12);
	usk_link_free(&b);
	return out;
}

/* The curve that others are asked along. */
static enum usk_curve leading(const struct usk_link *b)
{
	return b->has[USK_MIDDLE] ? USK_MIDDLE : b->has[USK_UPPER] ? USK_UPPER : USK_LOWER;
}

struct usk_link usk_link_turn(const struct usk_link *b, int64_t first_ns, int64_t last_ns)
{
	struct question q = { .inner = b,
			      .has = { b->has[USK_UPPER], b->has[USK_MIDDLE], b->has[USK_LOWER] } };
	struct usk_times t = { 0 };
	usk_times_add(&t, first_ns);
	usk_times_add(&t, last_ns > first_ns ? last_ns : first_ns + 1);
	for (size_t i = 0; i < b->n; i++) {
		usk_times_add(&t, value(&b->knot[i], leading(b)));
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
			if (b->has[c]) {
				/* Where b's clock seems to stand still, a's seems to leap. */
				struct usk_times *bend = &q.bend[USK_UPPER - c];
				int64_t x = value(&b->knot[i], c);
				usk_times_add(bend, x - 1);
				usk_times_add(bend, x);
				usk_times_add(bend, x + 1);
			}
		}
	}
	return ask(&q, &t);
}

struct usk_link usk_link_chain(const struct usk_link *inner, const struct usk_link *outer)
{
	struct question q = { .inner = inner, .outer = outer };
	struct usk_times t = { 0 };
	int64_t first = inner->knot[0].local_ns, last = inner->knot[inner->n - 1].local_ns;
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
		q.has[c] = inner->has[c] && outer->has[c];
	}
	for (size_t i = 0; i < inner->n; i++) {
		int64_t x = inner->knot[i].local_ns;
		usk_times_add(&t, x);
		usk_times_add(&q.bend[USK_LOWER], x);
		usk_times_add(&q.bend[USK_UPPER], x);
	}
	usk_hint at[3] = { 0 };
	for (size_t i = 0; i < outer->n; i++) {
		int64_t z = outer->knot[i].local_ns;
		enum usk_curve lead = leading(inner);
		int64_t x = usk_link_back(inner, lead, z, &at[lead]);
		/* Where the estimate leaps from one ns to the next, what is rounded down may be the
		 * one before: or the leap would last until the next knot. */
		bool leaps = i && z - outer->knot[i - 1].local_ns == 1;
		for (int64_t next = 0; next <= leaps; next++) {
			if (x + next > first && x + next < last) {
				usk_times_add(&t, x + next);
			}
		}
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
			x = q.has[c] ? usk_link_back(inner, c, z, &at[c]) : first - 1;
			for (int64_t next = -1; next <= 1; next++) {
				if (x + next > first && x + next < last) {
					usk_times_add(&q.bend[c], x + next);
				}
			}
		}
	}
	return ask(&q, &t);
}
