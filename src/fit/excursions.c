/* SPDX-License-Identifier: MIT */
/*
 * excursions.c - jumps that are none: a few wrong messages
 *
 * In    a pair's points and their cuts
 * Out   the points that have to go so that jumps go
 * Why   a message that came before it was sent is a jump there and another one back, if one
 *       believes it. What comes back after a few messages is their fault, not the clock's; what
 *       stays is the clock's
 * Not   who is wrong within a stretch: the model says that
 */
#include "fit/pieces.h"

#include <stdlib.h>

/* Jumps that one handful of messages may look like. */
enum { MOST = 4 };

/* A piece between two jumps may be accused for either. */
static void take(struct usk_verdict *v, const struct usk_suspect *s, size_t n)
{
	v->suspect = usk_grow(v->suspect, v->n_suspects + n, sizeof *v->suspect);
	for (size_t i = 0; i < n; i++) {
		bool known = false;
		for (size_t k = 0; k < v->n_suspects && !known; k++) {
			const struct usk_suspect *old = &v->suspect[k];
			known = old->ceiling == s[i].ceiling &&
				old->point.local_ns == s[i].point.local_ns &&
				old->point.offset_ns == s[i].point.offset_ns;
		}
		if (!known) {
			v->suspect[v->n_suspects++] = s[i];
		}
	}
}

/* Do all lie between the outer pieces? These are right: whoever accuses one of them would have what
 * came after a jump as wrong for as long as it takes to be most. */
static bool between(const struct usk_part *p, const struct usk_pieces *s, size_t i, size_t j,
		    const struct usk_suspect *suspect, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		usk_i128 x = (usk_i128)suspect[k].point.local_ns - p->frame.local_ns;
		if (x <= s->cut[i].from || x >= s->cut[j - 1].to) {
			return false;
		}
	}
	return true;
}

/* Does it help to leave out a few of what lies between pieces i and j? */
static bool excuse(const struct usk_fit *fit, const struct usk_part *p, const struct usk_pieces *s,
		   size_t i, size_t j, const struct usk_piece_ask *ask, size_t max,
		   struct usk_verdict *v)
{
	int64_t from = i ? s->cut[i - 1].to : -USK_TIME_MAX;
	int64_t to = j < s->n ? s->cut[j].from : USK_TIME_MAX;
	struct usk_part part = usk_part_between(p, from, to);
	struct usk_fit sub = *fit;
	struct usk_suspect *suspect = NULL;
	size_t n = 0;
	sub.corridor = usk_part_corridor(&part);
	sub.lines = usk_lines_new(sub.corridor, p->q_ns[1], p->q_ns[0], fit->max_skew_e12);
	bool few = ask->suspects(ask->ctx, &sub, &part, max, &suspect, &n) <= max && n &&
		   between(p, s, i, j, suspect, n);
	if (few) {
		take(v, suspect, n);
	}
	free(suspect);
	usk_lines_free((struct usk_lines *)(uintptr_t)sub.lines);
	usk_corridor_free(sub.corridor);
	return few;
}

/* Messages of both directions that agree with each other: no handful of wrong ones does. */
static bool agreed(const struct usk_part *p, const struct usk_pieces *s, size_t piece)
{
	struct usk_part part = usk_pieces_part(p, s, piece);
	return part.n[0] > 1 && part.n[1] > 1;
}

void usk_pieces_suspects(const struct usk_fit *fit, const struct usk_part *p,
			 const struct usk_pieces *s, const struct usk_piece_ask *ask, size_t max,
			 struct usk_verdict *v)
{
	for (size_t i = 0; i < s->n && v->n_suspects < max;) {
		size_t n = 0; /* jumps in a row */
		while (n < MOST && i + n < s->n && s->cut[i + n].kind == USK_JUMP &&
		       !s->cut[i + n].back && !(n && agreed(p, s, i + n))) {
			n++;
		}
		size_t k = 2; /* there and back at the least */
		while (k <= n && !excuse(fit, p, s, i, i + k, ask, max - v->n_suspects, v)) {
			k++;
		}
		i += k <= n ? k : 1;
	}
}
