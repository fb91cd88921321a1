/* SPDX-License-Identifier: MIT */
/*
 * wander_suspects.c - wrong messages, told from a clock that wanders more than was assumed
 *
 * In    points of a pair that need more wander than is assumed
 * Out   those that contradict the ones next to them, the fewest that do
 * Why   a wrong pair is poison for a band; a clock that wanders is none, and must not be explained
 *       away by leaving out its best messages
 * Not   jumps (pieces.h)
 *
 * Two messages far apart in time contradict each other when the clock wandered in between. A wrong
 * one contradicts those right next to it, on both sides. So only neighbours are compared: each
 * point with the NEAR ones before and after it of the other direction. Of the graph of
 * contradictions a minimum vertex cover names the fewest that would have to go. Of these an outlier
 * is who
 *
 * - is contradicted by at least half of the WITNESSES nearest messages before it and of those after
 *   it that are not suspected themselves, two at least: a jump is contradicted from one side only;
 * - would need DRASTIC times the wander that is assumed, and that all others need without it.
 *
 * The rate hardly matters between neighbours: the frame's is tried, that of the others, and those
 * of any two points where there are few of them.
 */
#include "fit/pieces.h"
#include "fit/wander.h"
#include "num/cone.h"
#include "num/cover.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 4, WITNESSES = 3, DRASTIC = 4, FEW = 40 };

#define E12 USK_E12

struct crowd {
	const struct usk_part *all;
	struct usk_part in; /* without those that are out */
	size_t *index[2];   /* of its points in `all` */
	bool *out[2];	    /* of all */
	int64_t wander_e12; /* that is assumed */
};

/* By how much floor and ceiling contradict each other if rates lie in rate +- wander; > 0: they do.
 */
static usk_i128 conflict(struct usk_xy floor, struct usk_xy ceiling, int64_t rate, int64_t wander)
{
	usk_i128 dt = (usk_i128)floor.x - ceiling.x;
	usk_i128 slope = dt > 0 ? (usk_i128)rate + wander : (usk_i128)rate - wander;
	return (usk_i128)floor.y + ceiling.y - usk_floor_div(slope * dt, E12);
}

static usk_i128 conflict_of(struct usk_xy p, int side, struct usk_xy q, int64_t rate,
			    int64_t wander)
{
	return side ? conflict(q, p, rate, wander) : conflict(p, q, rate, wander);
}

static void rebuild(struct crowd *c)
{
	for (int side = 0; side < 2; side++) {
		size_t n = 0;
		for (size_t i = 0; i < c->all->n[side]; i++) {
			if (!c->out[side][i]) {
				c->index[side][n] = i;
				c->in.point[side][n++] = c->all->point[side][i];
			}
		}
		c->in.n[side] = n;
	}
}

/* Contradictions between neighbours, each once. */
static struct usk_edge *contradictions(const struct crowd *c, int64_t rate, size_t *n)
{
	const struct usk_part *p = &c->in;
	struct usk_edge *e = NULL;
	size_t m = 0, cap = 0;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0, at = 0; i < p->n[side]; i++) {
			while (at < p->n[!side] && p->point[!side][at].x < p->point[side][i].x) {
				at++;
			}
			size_t j = at > NEAR ? at - NEAR : 0;
			for (; j < p->n[!side] && j < at + NEAR; j++) {
				struct usk_xy a = p->point[side][i], b = p->point[!side][j];
				if (conflict_of(a, side, b, rate, c->wander_e12) > 0) {
					e = usk_room(e, m, &cap, sizeof *e);
					e[m++] =
						side ? (struct usk_edge){ (uint32_t)j, (uint32_t)i }
						     : (struct usk_edge){ (uint32_t)i,
									  (uint32_t)j };
				}
			}
		}
	}
	*n = m;
	return e;
}

/* How many have to go at a rate, most + 1 if more: in[side] says who, of those that are in. */
static size_t try_rate(const struct crowd *c, int64_t rate, size_t most, bool *in[2])
{
	size_t n;
	struct usk_edge *e = contradictions(c, rate, &n);
	size_t size = usk_cover(e, n, c->in.n, most, in);
	free(e);
	return size;
}

static int by_size(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/*
 * Rates worth trying: slopes between points of a side, all where there are few points, else those
 * of SAMPLES that are far apart. Sorted.
 */
static int64_t *slopes(const struct usk_part *p, size_t *n)
{
	enum { SAMPLES = 32 };
	bool few = p->n[0] + p->n[1] <= FEW;
	int64_t *s = usk_alloc(2 * (FEW + SAMPLES) * (FEW + SAMPLES), sizeof *s);
	size_t m = 0;
	for (int side = 0; side < 2; side++) {
		const struct usk_xy *q = p->point[side];
		size_t all = p->n[side], some = few || all < SAMPLES ? all : SAMPLES;
		for (size_t i = 0; i < some; i++) {
			for (size_t j = 0; j < i; j++) {
				struct usk_xy a = q[j * all / some], b = q[i * all / some];
				usk_i128 dx = (usk_i128)b.x - a.x;
				usk_i128 slope = usk_floor_div(((usk_i128)b.y - a.y) * E12, dx);
				slope = side ? -slope : slope;
				bool far = few || 4 * dx > (usk_i128)q[all - 1].x - q[0].x;
				if (far && slope >= -E12 && slope <= E12) {
					s[m++] = (int64_t)slope;
				}
			}
		}
	}
	if (m) {
		qsort(s, m, sizeof *s, by_size);
	}
	*n = m;
	return s;
}

/* The rate at which the fewest have to go. */
static int64_t choose_rate(const struct crowd *c, size_t most, bool *in[2])
{
	enum { QUANTILES = 16 };
	const struct usk_part *p = &c->in;
	int64_t rate = p->frame.rate_e12;
	size_t n, best = try_rate(c, rate, most, in);
	int64_t *s = slopes(p, &n);
	bool few = p->n[0] + p->n[1] <= FEW;
	size_t tries = few || n < QUANTILES ? n : QUANTILES;
	for (size_t i = 0; i < tries && best; i++) {
		int64_t at = s[(2 * i + 1) * n / (2 * tries)];
		size_t size = try_rate(c, at, most, in);
		if (size < best) {
			best = size;
			rate = at;
		}
	}
	free(s);
	return rate;
}

/* Do the nearest on one side of p, not suspected, say it is wrong? Half of them at least. */
static bool testify(const struct crowd *c, int side, struct usk_xy p, int64_t rate, bool after,
		    const bool *suspected, size_t *against)
{
	const struct usk_part *in = &c->in;
	size_t at = usk_xy_find(in->point[!side], in->n[!side], p.x);
	size_t asked = 0, said = 0;
	for (size_t k = 0; asked < WITNESSES && (after ? at + k < in->n[!side] : k < at); k++) {
		size_t j = after ? at + k : at - 1 - k;
		if (!suspected[j]) {
			asked++;
			said += conflict_of(p, side, in->point[!side][j], rate, c->wander_e12) > 0;
		}
	}
	*against += said;
	return 2 * said >= asked;
}

/* The wander that p needs at a rate, and by how much it misses the band of the nearest that are in.
 */
struct miss {
	usk_i128 need_e12, excess;
};

static struct miss miss_of(const struct crowd *c, int side, struct usk_xy p, int64_t rate)
{
	const struct usk_part *in = &c->in;
	size_t at = usk_xy_find(in->point[!side], in->n[!side], p.x);
	struct miss miss = { 0, 1 };
	for (size_t j = at > WITNESSES ? at - WITNESSES : 0; j < at + WITNESSES; j++) {
		if (j >= in->n[!side]) {
			break;
		}
		struct usk_xy q = in->point[!side][j];
		usk_i128 dt = p.x > q.x ? (usk_i128)p.x - q.x : (usk_i128)q.x - p.x;
		usk_i128 over = conflict_of(p, side, q, rate, 0);
		usk_i128 need = !dt && over > 0 ? USK_NO_WANDER : dt ? over * E12 / dt : 0;
		miss.need_e12 = need > miss.need_e12 ? need : miss.need_e12;
		over = conflict_of(p, side, q, rate, c->wander_e12);
		miss.excess = over > miss.excess ? over : miss.excess;
	}
	return miss;
}

/*
 * Rounds of cover and witnesses; *rate: the last one's. Jumps bring a few each into the cover whom
 * witnesses then acquit: so it may be larger than what may go.
 */
static size_t accuse(struct crowd *c, size_t most, int64_t *rate)
{
	enum { ROUNDS = 10 };
	size_t n_out = 0, largest = 1000 + 16 * most + (c->all->n[0] + c->all->n[1]) / 16;
	bool *in[2];
	for (int side = 0; side < 2; side++) {
		in[side] = usk_alloc(c->all->n[side] + 1, 1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		size_t before = n_out;
		rebuild(c);
		*rate = round ? *rate : choose_rate(c, largest, in);
		size_t size = try_rate(c, *rate, largest, in);
		if (!size || size > largest) {
			break;
		}
		for (int side = 0; side < 2; side++) {
			for (size_t i = 0; i < c->in.n[side]; i++) {
				struct usk_xy p = c->in.point[side][i];
				size_t against = 0;
				if (in[side][i] &&
				    testify(c, side, p, *rate, false, in[!side], &against) &&
				    testify(c, side, p, *rate, true, in[!side], &against) &&
				    against >= 2) {
					c->out[side][c->index[side][i]] = true;
					n_out++;
				}
			}
		}
		if (n_out == before) {
			break;
		}
	}
	rebuild(c);
	free(in[0]);
	free(in[1]);
	return n_out;
}

/* Furthest out first; then by place, so that the order is one. */
static int by_excess(const void *pa, const void *pb)
{
	const struct usk_suspect *a = pa, *b = pb;
	if (a->excess_ns != b->excess_ns) {
		return a->excess_ns < b->excess_ns ? 1 : -1;
	}
	if (a->point.local_ns != b->point.local_ns) {
		return a->point.local_ns < b->point.local_ns ? -1 : 1;
	}
	return (int)a->ceiling - (int)b->ceiling;
}

static struct usk_suspect *list(const struct crowd *c, size_t n_out, int64_t rate,
				int64_t others_e12, size_t *n_listed)
{
	struct usk_suspect *s = usk_alloc(n_out, sizeof *s);
	size_t n = 0;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < c->all->n[side]; i++) {
			struct usk_xy p = c->all->point[side][i];
			struct miss miss = { 0, 0 };
			if (c->out[side][i]) {
				miss = miss_of(c, side, p, rate);
			}
			if (miss.need_e12 > DRASTIC * (usk_i128)others_e12) {
				s[n++] = (struct usk_suspect){
					usk_part_recorded(c->all, p, side),
					side == 1,
					usk_cut(miss.excess),
				};
			}
		}
	}
	qsort(s, n, sizeof *s, by_excess);
	*n_listed = n;
	return s;
}

size_t usk_wander_suspects(const struct usk_fit *fit, const struct usk_part *p, size_t most,
			   struct usk_suspect **out)
{
	struct crowd c = { .all = p, .in = *p, .wander_e12 = fit->model.wander_e12 };
	size_t n = 0;
	int64_t rate = p->frame.rate_e12;
	*out = NULL;
	for (int side = 0; side < 2; side++) {
		c.index[side] = usk_alloc(p->n[side] + 1, sizeof *c.index[side]);
		c.out[side] = usk_alloc(p->n[side] + 1, 1);
		c.in.point[side] = usk_alloc(p->n[side] + 1, sizeof *c.in.point[side]);
	}
	size_t n_out = accuse(&c, most, &rate);
	if (n_out) {
		struct usk_wander w = { .assumed_e12 = c.wander_e12 };
		struct usk_pieces s;
		usk_pieces_jumps(fit, &c.in, &w, &s);
		bool more = w.needed_e12 > w.assumed_e12 && w.needed_e12 < USK_NO_WANDER;
		*out = list(&c, n_out, rate, more ? w.needed_e12 : w.assumed_e12, &n);
		usk_pieces_free(&s);
	}
	for (int side = 0; side < 2; side++) {
		free(c.index[side]);
		free(c.out[side]);
		free(c.in.point[side]);
	}
	return n;
}
