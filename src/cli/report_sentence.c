/* SPDX-License-Identifier: MIT */
/*
 * report_sentence.c - what came out, in a sentence or two
 *
 * In    the answer
 * Out   text; names in it are as they are
 * Why   who gets a page by mail reads this, and perhaps no more
 */
#include "print.h"
#include "report.h"

#include <stdlib.h>

char *report_names(const struct usk_clocks *c)
{
	enum { ALL = 3 };
	struct stream s;
	FILE *out = stream_begin(&s);
	size_t shown = c->n_clocks > ALL ? 1 : c->n_clocks;
	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%s%s", i ? ", " : "", c->clock[i].name);
	}
	if (shown < c->n_clocks) {
		fprintf(out, " and %zu others", c->n_clocks - shown);
	}
	return stream_end(&s);
}

static size_t steps_of(const struct usk_clock *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->n_jumps; i++) {
		n += k->jump[i].kind == USK_JUMP;
	}
	return n;
}

/* The only bounded clock beside its reference. */
static void say_two(FILE *out, const struct usk_clocks *c, const struct usk_clock *k)
{
	size_t steps = steps_of(k);
	fprintf(out,
		"Add %s to a stamp of %s in the middle%s of its trace to have the time of %s; its "
		"drift is %s ppm",
		headline_offset(c, k).s, k->name,
		headline_of(c, k).n_stretches > 1
			? " of the stretch between steps with most messages"
			: "",
		c->clock[k->reference].name,
		unit_drift(k->drift_ppm, k->drift_min_ppm, k->drift_max_ppm).s);
	if (steps) {
		fprintf(out, ", and there %s %zu step%s", steps == 1 ? "is" : "are", steps,
			steps == 1 ? "" : "s");
	}
	fputc('.', out);
}

static void say_many(FILE *out, const struct usk_clocks *c)
{
	const struct usk_evaluation *e = &c->evaluation;
	size_t groups = 0, clocks = 0;
	const struct usk_island *first = NULL;
	for (size_t i = 0; i < c->n_islands; i++) {
		if (c->island[i].n_clocks > 1) {
			first = first ? first : &c->island[i];
			groups++;
		}
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		clocks += c->clock[i].quality == USK_BOUNDED;
	}
	clocks += groups;
	if (groups == 1) {
		fprintf(out, "%zu of %zu clocks are on the time of %s", clocks, c->n_clocks,
			c->clock[first->reference].name);
	} else {
		fprintf(out,
			"%zu of %zu clocks are on the time of a reference, in %zu groups that no "
			"message ties together",
			clocks, c->n_clocks, groups);
	}
	if (e->half_best_ns != USK_NONE && e->half_worst_ns != USK_NONE) {
		fprintf(out, "; their bands are from \xc2\xb1 %s to \xc2\xb1 %s",
			unit_bound(e->half_best_ns).s, unit_bound(e->half_worst_ns).s);
	}
	fputc('.', out);
}

static void say_inversions(FILE *out, const struct usk_clocks *c, bool corrected)
{
	const struct usk_evaluation *e = &c->evaluation;
	fprintf(out, " Of %s message%s %s %s received before sent by the stamps as recorded",
		unit_count(c->counts.matched).s, c->counts.matched == 1 ? "" : "s",
		unit_count(e->recorded_inversions).s, e->recorded_inversions == 1 ? "was" : "were");
	if (corrected) {
		fprintf(out, ", %s by corrected ones", unit_count(e->corrected_inversions).s);
	}
	fputc('.', out);
}

char *report_sentence(const struct usk_clocks *c)
{
	struct stream s;
	size_t bounded = 0, which = 0;
	FILE *out = stream_begin(&s);
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (c->clock[i].quality == USK_BOUNDED) {
			bounded++;
			which = i;
		}
	}
	if (!bounded) {
		fputs("No clock could be put on the time of another with a bound on both sides.",
		      out);
	} else if (c->n_clocks == 2) {
		say_two(out, c, &c->clock[which]);
	} else {
		say_many(out, c);
	}
	if (c->counts.matched) {
		say_inversions(out, c, bounded > 0);
	}
	return stream_end(&s);
}
