/* SPDX-License-Identifier: MIT */
/*
 * joint.h - what all messages of an island say together
 *
 * For the clocks of the core, the reference's strongly connected part: every clock there is bounded
 * by messages that go round through it.
 */
#ifndef USK_SOLVE_JOINT_H
#define USK_SOLVE_JOINT_H

#include "solve/island.h"

/* A point of a tie, as its part has it, that speaks against others. */
struct usk_against {
	uint32_t tie;
	bool ceiling;
	struct usk_xy point;
};

/* Points that cannot all be true. */
struct usk_conflict {
	struct usk_against *row; /* free() it */
	size_t n;
};

enum usk_joint_answer {
	USK_JOINT_DONE,
	USK_JOINT_CONTRADICTED,
	USK_JOINT_NONE, /* no solver, or its answer could not be proved */
};

/**
 * One linear program for clocks of constant rates: narrows w->link of the core's clocks, with the
 * estimate that goes with them, and their rates. ask_only: only whether there is a solution.
 */
enum usk_joint_answer usk_joint_lp(struct usk_island_work *w, bool ask_only,
				   struct usk_conflict *conflict);

/** Narrow a link (n = 0: none yet) by a bound of all messages. M is lost. */
void usk_joint_narrow(struct usk_link *link, const struct usk_link *by);

/** The same of a bound with many knots, those left out that are worth next to nothing, so
 * that `most` are left. */
void usk_joint_narrow_smoothly(struct usk_link *link, const struct usk_link *by, size_t most);

/** A point of a part, absolute. */
static inline struct usk_point usk_part_point(const struct usk_part *p, bool ceiling,
					      struct usk_xy at)
{
	return (struct usk_point){ p->frame.local_ns + at.x,
				   p->frame.offset_ns + (ceiling ? -at.y : at.y) };
}

/** Is clock i of the core? */
static inline bool usk_in_core(const struct usk_island_work *w, uint32_t i)
{
	return w->part[i] == w->core;
}

/** Both ends of a tie that says something? */
static inline bool usk_tie_in_core(const struct usk_island_work *w, const struct usk_tie *t)
{
	enum usk_quality q = t->fitted->quality;
	return usk_in_core(w, t->a) && usk_in_core(w, t->b) &&
	       (q == USK_BOUNDED || q == USK_ONE_SIDED);
}

#endif
