/* SPDX-License-Identifier: MIT */
/*
 * pieces.h - where a clock jumped or changed its rate: a pair's points cut into as few pieces as
 * can be, each of which a model can be true of
 *
 * All times and offsets are relative to the part's frame. A model is told by one number, the
 * wander: the rate of a piece stays within +-wander of a constant; 0 is one line. The rate of no
 * moment exceeds the skew limit.
 */
#ifndef USK_FIT_PIECES_H
#define USK_FIT_PIECES_H

#include "fit/model.h"

/* A clock that is put back by more than that is seen to be, in the order of its stamps. By less, it
 * may have been put back wherever the other one may have been put forward. */
#define USK_UNSEEN_NS INT64_C(100000000)

/* What is up to `from` and what is from `to` on do not go together; from < to, and it happened
 * between them. Points in between constrain neither side. */
struct usk_cut {
	int64_t from, to;
	int64_t last, next; /* the points that say so: from <= last < next <= to */
	enum usk_jump_kind kind;
	bool back; /* the clock was put back between these two stamps: fit->back says so */
	int64_t size_lo, size_hi; /* the offset rises by so much, outward; USK_NONE unknown */
};

struct usk_pieces {
	struct usk_cut *cut; /* from[0] < to[0] <= from[1] < to[1] <= ... */
	size_t n;	     /* cuts; pieces are one more */
	/* No cut helps: a message was received that was sent, by time that runs on, after one
	 * that was received later: floor and ceiling, as in usk_part. */
	bool never;
	struct usk_xy floor, ceiling;
};

/**
 * Cut greedily forwards (to) and backwards (from): the fewest pieces, and whichever way so many
 * pieces are true, their i-th border lies in [from, to] of cut i. A cut is a jump if and only if
 * the bands of its two sides, extended over the bracket at the skew limit, have no moment in
 * common. Where fit->back says that the clock was put back is a cut, too, and a jump. Of fit only
 * max_skew_e12 and back[n_back] are read. O(n log n). Free with usk_pieces_free().
 */
void usk_pieces_of(const struct usk_fit *fit, const struct usk_part *p, int64_t wander_e12,
		   struct usk_pieces *out);
void usk_pieces_free(struct usk_pieces *s);
/* The offset at a moment, relative. */
struct usk_bounds {
	bool has_lo, has_hi;
	usk_i128 lo, hi;
};
struct usk_bounds usk_bounds_of(const struct usk_lines *l, int64_t x);
/** Kind and size of a cut by the bounds at its two ends. */
void usk_cut_judge(struct usk_cut *c, struct usk_bounds left, struct usk_bounds right,
		   int64_t max_skew_e12);
/** Cut i of those where the clock was put back; i = fit->n_back: one behind all points. */
struct usk_cut usk_cut_back(const struct usk_fit *fit, const struct usk_part *p, size_t i);
/** It was the local clock that was put forward: so much of the bracket did not pass, and rates had
 * less time to change its size. */
void usk_cut_forward(struct usk_cut *c, int64_t max_skew_e12);
/** Or it was put back unseen: then that much more time passed than its stamps say, and rates had it
 * to change the size. */
void usk_cut_unseen(struct usk_cut *c, int64_t max_skew_e12);

/**
 * The jumps alone; bends are taken for wander. On entry w->assumed_e12 is set. needed_e12 becomes
 * the least wander that every stretch between two jumps can be true with, used_e12 the assumed one,
 * or twice the needed if that is more: then the jumps are those that are left under it.
 */
void usk_pieces_jumps(const struct usk_fit *fit, const struct usk_part *p, struct usk_wander *w,
		      struct usk_pieces *out);

/** The brackets in which every point counts: into v's times to keep apart. */
void usk_pieces_apart(const struct usk_pieces *s, struct usk_verdict *v);

/** The points of piece i <= n, those of brackets left out: borrowed from p. */
struct usk_part usk_pieces_part(const struct usk_part *p, const struct usk_pieces *s, size_t i);

/* Who has to go from a stretch so that the rest of it fits: returns how many, over max if more than
 * that; *out (NULL if 0) holds n of them, worst first. */
struct usk_piece_ask {
	void *ctx;
	size_t (*suspects)(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
			   size_t max, struct usk_suspect **out, size_t *n);
};

/**
 * A few wrong messages look like a jump, or one there and back: those of the pieces around jumps
 * without which both sides go together, at most max in all. Writes v's suspects.
 */
void usk_pieces_suspects(const struct usk_fit *fit, const struct usk_part *p,
			 const struct usk_pieces *s, const struct usk_piece_ask *ask, size_t max,
			 struct usk_verdict *v);

/**
 * If time that runs on cannot be true of all points: the fewest that have to go, at most so many; 0
 * if that is not enough. *out is handed over, NULL if 0.
 */
size_t usk_part_unordered(const struct usk_fit *fit, const struct usk_part *p, size_t most,
			  struct usk_suspect **out);

/*
 * Fits one piece as if there were no others: fit->corridor, lines and messages hold its points
 * alone, first_local_ns and last_local_ns are its ends, at both of which a knot is wanted.
 */
struct usk_piece_fit {
	void *ctx;
	enum usk_status (*fit)(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err);
};

/** The fit of a part of the points between two stamps, absolute; from_start, to_end: all messages
 * before the first, behind the last stamp are its, too. */
struct usk_fit usk_fit_part(const struct usk_fit *fit, const struct usk_part *p, int64_t first_ns,
			    int64_t last_ns, bool from_start, bool to_end);
void usk_fit_part_free(struct usk_fit *f);

/**
 * Fit every piece and join them into one clock: knots, jumps, and who did it (fit->gap). Within a
 * bracket the band holds both sides extended at the skew limit; the map never falls, and is checked
 * against every point of p.
 */
enum usk_status usk_pieces_fit(const struct usk_fit *fit, const struct usk_part *p,
			       const struct usk_pieces *s, const struct usk_piece_fit *one,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err);

#endif
