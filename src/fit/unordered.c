/* SPDX-License-Identifier: MIT */
/*
 * unordered.c - messages that no time that runs on can be true of
 *
 * In    a pair's points
 * Out   the fewest that have to go so that the others can be in order
 * Why   a clock that was put back for less than a few stamps leaves some that lie among those from
 *       before: a handful of messages that would forbid every answer
 * Not   rates (suspects.c, wander_suspects.c)
 *
 * A floor says that T is at least so much from its moment on, a ceiling that it is at most so much
 * until its moment. A floor contradicts each ceiling that is not before it and lower. Who has to go
 * is a cover of these conflicts: those it leaves have none.
 */
#include "fit/pieces.h"
#include "num/cover.h"

#include <stdlib.h>
#include <string.h>

static usk_i128 time_of(struct usk_xy q, bool ceiling)
{
	return (usk_i128)q.x + (ceiling ? -(usk_i128)q.y : q.y);
}

/* Points that conflict with any: floors over a ceiling to come, ceilings under a floor before. */
static struct usk_xy *guilty(const struct usk_part *p, bool ceiling, size_t most, size_t *n)
{
	const struct usk_xy *own = p->point[ceiling], *other = p->point[!ceiling];
	size_t n_own = p->n[ceiling], n_other = p->n[!ceiling], seen = 0;
	struct usk_xy *out = usk_alloc(most + 1, sizeof *out);
	usk_i128 worst = 0;
	*n = 0;
	for (size_t k = 0; k < n_own && *n <= most; k++) {
		size_t i = ceiling ? k : n_own - 1 - k;
		for (; seen < n_other; seen++) {
			struct usk_xy q = other[ceiling ? seen : n_other - 1 - seen];
			if (ceiling ? q.x > own[i].x : q.x < own[i].x) {
				break;
			}
			usk_i128 t = time_of(q, !ceiling);
			worst = !seen || (ceiling ? t > worst : t < worst) ? t : worst;
		}
		usk_i128 t = time_of(own[i], ceiling);
		if (seen && (ceiling ? t < worst : t > worst)) {
			out[(*n)++] = own[i];
		}
	}
	return out;
}

static void accuse(const struct usk_part *p, struct usk_xy q, bool ceiling, usk_i128 excess,
		   struct usk_suspect *out)
{
	usk_i128 y = (usk_i128)q.y + p->q_ns[ceiling];
	*out = (struct usk_suspect){
		.point = { (int64_t)((usk_i128)p->frame.local_ns + q.x),
			   (int64_t)(p->frame.offset_ns + (ceiling ? -y : y)) },
		.ceiling = ceiling,
		.excess_ns = usk_cut(excess),
	};
}

/* One run of points; *out has room for most more. Returns how many, over most if more. */
static size_t cover_run(const struct usk_part *p, size_t most, struct usk_suspect *out)
{
	/* Each of a cover may conflict with many. */
	enum { EACH = 64 };
	size_t n[2], edges = 0, cap = 0, found = 0;
	struct usk_xy *q[2];
	struct usk_edge *e = NULL;
	usk_i128 *worst[2];
	bool *in[2];
	for (int side = 0; side < 2; side++) {
		q[side] = guilty(p, side, EACH * (most + 1), &n[side]);
		worst[side] = usk_alloc(n[side] + 1, sizeof *worst[side]);
		in[side] = usk_alloc(n[side] + 1, sizeof *in[side]);
	}
	bool many = n[0] > EACH * (most + 1) || n[1] > EACH * (most + 1);
	for (size_t i = 0; i < n[0] && !many; i++) {
		for (size_t k = 0; k < n[1]; k++) {
			usk_i128 over = time_of(q[0][i], false) - time_of(q[1][k], true);
			if (q[0][i].x <= q[1][k].x && over > 0) {
				e = usk_room(e, edges, &cap, sizeof *e);
				e[edges++] = (struct usk_edge){ (uint32_t)i, (uint32_t)k };
				worst[0][i] = over > worst[0][i] ? over : worst[0][i];
				worst[1][k] = over > worst[1][k] ? over : worst[1][k];
			}
		}
	}
	size_t size = many ? most + 1 : !edges ? 0 : usk_cover(e, edges, n, most, in);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < n[side] && size <= most && edges; i++) {
			if (in[side][i]) {
				accuse(p, q[side][i], side, worst[side][i], &out[found++]);
			}
		}
		free(q[side]);
		free(worst[side]);
		free(in[side]);
	}
	free(e);
	return size;
}

size_t usk_part_unordered(const struct usk_fit *fit, const struct usk_part *p, size_t most,
			  struct usk_suspect **out)
{
	int64_t begin = -USK_TIME_MAX;
	size_t n = 0;
	*out = usk_alloc(most + 1, sizeof **out);
	for (size_t i = 0; i <= fit->n_back && n <= most; i++) {
		struct usk_cut c = usk_cut_back(fit, p, i);
		struct usk_part run = usk_part_between(p, begin, c.from);
		n += cover_run(&run, most - n, *out + n);
		begin = c.to;
	}
	if (n > most) {
		n = 0;
	}
	if (!n) {
		free(*out);
		*out = NULL;
	}
	return n;
}
