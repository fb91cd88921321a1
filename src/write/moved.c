/* SPDX-License-Identifier: MIT */
#include "write/moved.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

/* What a mark says between the names, and behind them. */
#define MARK_ON " put on the clock of "
#define MARK_BY " by unskew: "

/* "+0.070000000 s" */
static char *offset_text(int64_t ns)
{
	char text[USK_RECORDED_MAX];
	usk_seconds_text(ns, text);
	return usk_format("%s%s s", ns < 0 ? "" : "+", text);
}

/* "+0.070000000 s at 1700000000.123456789" */
static char *knot_text(const struct usk_knot *k)
{
	char at[USK_RECORDED_MAX];
	usk_seconds_text(k->local_ns, at);
	char *offset = offset_text(k->offset_ns), *text = usk_format("%s at %s", offset, at);
	free(offset);
	return text;
}

bool usk_moved_before(const void *text, size_t n)
{
	const char *at = n ? memmem(text, n, MARK_ON, sizeof MARK_ON - 1) : NULL;
	return at && memmem(at, n - (size_t)(at - (const char *)text), MARK_BY, sizeof MARK_BY - 1);
}

static const char *reference_of(const struct usk_clocks *c, uint32_t clock)
{
	return c->clock[c->clock[clock].reference].name;
}

char *usk_moved_mark(const struct usk_clocks *c, uint32_t clock)
{
	const struct usk_clock *k = &c->clock[clock];
	const bool moves =
		k->quality == USK_BOUNDED || (k->quality == USK_REFERENCE && k->n_set_backs);
	if (!moves || !k->n_knots || k->knot[0].offset_ns == USK_NONE) {
		return NULL;
	}
	char *first = knot_text(&k->knot[0]);
	char *mark = usk_format("stamps of %s" MARK_ON "%s" MARK_BY "%s", k->name,
				reference_of(c, clock), first);
	free(first);
	return mark;
}

char *usk_moved_text(const struct usk_clocks *c, uint32_t clock, bool moved, const char *path,
		     enum usk_comments comments)
{
	static const char *const where[] = {
		[USK_COMMENTS_ALL] = "and in a comment of each packet",
		[USK_COMMENTS_CHANGED] = "and in a comment of each packet whose stamp changed",
		[USK_COMMENTS_NEEDED] =
			"and each is in its packet's comment, or is the first stamp that "
			"becomes this one",
		[USK_COMMENTS_NONE] = "not in comments (--comments none)",
	};
	const struct usk_clock *k = &c->clock[clock];
	char *shown = usk_shown(path), *text;
	if (moved) {
		char *first = knot_text(&k->knot[0]), *last = knot_text(&k->knot[k->n_knots - 1]);
		text = usk_format("Stamps are NOT as recorded: unskew " USK_VERSION
				  " put those of clock %s on the clock of %s. Added to recorded "
				  "stamps: %s, %s, what clocks.json says between. Recorded stamps "
				  "are in %s, %s.",
				  k->name, reference_of(c, clock), first, last, shown,
				  where[comments]);
		free(first);
		free(last);
	} else {
		text = usk_format(
			"Stamps are as recorded in %s, by clock %s, which %s.", shown, k->name,
			k->quality == USK_REFERENCE ? "is the reference"
						    : "has no answer that could correct them");
	}
	free(shown);
	return text;
}
