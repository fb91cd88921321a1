/* SPDX-License-Identifier: MIT */
/*
 * odd.h - the clock that the others speak against
 */
#ifndef USK_SOLVE_ODD_H
#define USK_SOLVE_ODD_H

#include "solve/joint.h"

/**
 * Marks clocks that pairs by themselves show to be odd: those that all pairs which contradict a
 * model, jump or need more wander than was assumed have in common, two such pairs at least, where
 * no pair of it does without. Marked ones are put into w->odd, and named in a note.
 */
void usk_odd_by_pairs(struct usk_island_work *w);

/** Marks clocks that jumped by what any pair says. */
void usk_odd_by_jumps(struct usk_island_work *w);

/**
 * Who is to blame for a conflict across pairs: the one clock of it without which the others agree.
 *
 * agree  do the messages of the core agree if w->odd is as it is? It may change everything in w
 *        but odd.
 * Returns whether there is one; then it is put into w->odd and w->out, and named in a note. If not,
 * a note says who contradicts whom. The messages go into their pairs' contradiction.
 */
bool usk_odd_by_conflict(struct usk_island_work *w, const struct usk_conflict *conflict,
			 bool (*agree)(struct usk_island_work *w));

#endif
