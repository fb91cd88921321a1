/* SPDX-License-Identifier: MIT */
/*
 * order.h - estimates of all clocks that put every message in order
 */
#ifndef USK_SOLVE_ORDER_H
#define USK_SOLVE_ORDER_H

#include "solve/moments.h"

/** By how much a point of a tie is in order by the links' M; < 0: it is not. Both clocks have one.
 */
int64_t usk_order_slack(const struct usk_island_work *w, const struct usk_tie *t, bool ceiling,
			struct usk_xy p, usk_hint at[2]);

/** Writes kappa_e12 of the island's ties. */
void usk_order_cones(const struct usk_island_work *w);

/** Points of ties within the core that the links' M puts in order by less than so much. */
size_t usk_order_wrong(const struct usk_island_work *w, int64_t least_ns);

/**
 * Where the links' M are straight lines in order with every point: moves all of them towards the
 * lines that the estimates of all pairs say together, as far as they stay so.
 */
void usk_order_straight(struct usk_moments *m);

/**
 * Draws M of all clocks of the core anew, within their bands: the one nearest to what is wanted
 * that is in order with every point of every tie, by 1 ns where there is room, as far as that can
 * be had with bends at the moments alone.
 *
 * m       weighed
 * anew    wanted is what the estimates of all pairs say together; else M as it is
 * Returns how many points are still out of order.
 */
size_t usk_order_draw(struct usk_moments *m, bool anew);

#endif
