/* SPDX-License-Identifier: MIT */
/*
 * direct.c - every clock by its own pair with the reference
 *
 * In    all pairs
 * Out   clocks, of those that exchange messages with the reference
 * Why   two clocks need no more
 * Not   paths over other clocks
 */
#include "flow/fitted.h"

#include <stdlib.h>
#include <string.h>

static void set_path(struct usk_clock *k, uint32_t reference, uint32_t self)
{
	k->reference = reference;
	k->path = usk_alloc(2, sizeof *k->path);
	k->path[0] = reference;
	k->path[1] = self;
	k->n_path = reference == self ? 1 : 2;
}

static void take_over(struct usk_clock *k, const struct usk_clock *f)
{
	k->quality = f->quality;
	k->drift_ppm = f->drift_ppm;
	k->drift_min_ppm = f->drift_min_ppm;
	k->drift_max_ppm = f->drift_max_ppm;
	k->n_knots = f->n_knots;
	k->knot = usk_alloc(f->n_knots + 1, sizeof *k->knot);
	for (size_t i = 0; i < f->n_knots; i++) {
		k->knot[i] = f->knot[i];
	}
	k->n_jumps = f->n_jumps;
	k->jump = usk_alloc(f->n_jumps + 1, sizeof *k->jump);
	for (size_t i = 0; i < f->n_jumps; i++) {
		k->jump[i] = f->jump[i];
	}
}

enum usk_status usk_solve_direct(struct usk_clocks *c, const struct usk_tie *tie, size_t n,
				 const struct usk_solve_options *opt)
{
	uint32_t reference = opt->reference == USK_NO_CLOCK ? 0 : opt->reference;
	for (size_t i = 0; i < n; i++) {
		if (tie[i].a == reference) {
			take_over(&c->clock[tie[i].b], tie[i].fitted);
		}
	}
	usk_clock_reference(&c->clock[reference], opt->span[reference].first_ns,
			    opt->span[reference].last_ns);
	c->solve = usk_strdup("tree");
	c->how = usk_strdup("pairs");
	c->island = usk_alloc(c->n_clocks, sizeof *c->island);
	c->n_islands = 1;
	struct usk_island *home = &c->island[0];
	home->reference = reference;
	home->clock = usk_alloc(c->n_clocks, sizeof *home->clock);
	home->clock[home->n_clocks++] = reference;
	set_path(&c->clock[reference], reference, reference);
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		struct usk_clock *k = &c->clock[i];
		if (i == reference) {
			continue;
		}
		if (k->quality != USK_ABSENT) {
			set_path(k, reference, i);
			home->clock[home->n_clocks++] = i;
		} else {
			struct usk_island *alone = &c->island[c->n_islands++];
			alone->reference = i;
			alone->clock = usk_alloc(1, sizeof *alone->clock);
			alone->clock[alone->n_clocks++] = i;
		}
	}
	return USK_OK;
}
