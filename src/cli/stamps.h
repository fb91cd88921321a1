/* SPDX-License-Identifier: MIT */
/* stamps.h - stamps as people write them, and what they are on the reference's clock */
#ifndef STAMPS_H
#define STAMPS_H

#include "cmd.h"

/* No clock's recording says anything of a stamp that far from it, unless it spans more: it has
 * another unit, or is of another clock. */
#define STAMPS_STRANGE_NS (INT64_C(366) * 86400 * 1000000000)

/* CLOCKS and the options of TICK_ROW and EPOCH_ROW. */
struct stamps {
	const struct args *args;
	struct usk_clocks *clocks;
	uint32_t clock; /* of stamps that name none; USK_NO_CLOCK: each has to */
	struct usk_read_options read;
	int64_t epoch;		 /* that is meant where a stamp lies in several; -1: not said */
	struct stamps_clock *of; /* by clock; filled when first needed */
	/* What stamps_tell() has said: a stamp lay in two epochs, or was extrapolated far. */
	bool repeats, beyond;
};

void stamps_open(struct stamps *s, const struct args *args);
/** Of an answer at hand, without those options; stamps_free() frees the answer, too. */
void stamps_of(struct stamps *s, struct usk_clocks *c);
void stamps_free(struct stamps *s);

/**
 * A stamp and its clock: a time of s->clock, or CLOCK:T at the last colon that leaves a known clock
 * before it and a time behind; times in RFC 3339 and names of clocks have colons of their own.
 */
enum usk_status stamps_parse(const struct stamps *s, const char *text, size_t n, uint32_t *clock,
			     int64_t *local_ns, struct usk_err *err);

struct stamps_answer {
	struct usk_stamp at; /* USK_NONE where nothing is known */
	int64_t epoch;	    /* that the stamp lies in, -1 if it cannot be told; 0 for most clocks */
	int64_t epochs[2];  /* then: the first two that it lies in */
	uint64_t beyond_ns; /* how far it lies outside of its clock's messages, where that is
			       further than they span; else 0 */
	uint64_t span_ns;   /* what they span */
};

/**
 * The stamp on the reference's clock. A stamp outside of all epochs is taken for one of the
 * nearest. USK_EUSAGE: the clock has no epoch s->epoch. USK_EINPUT: it is years away from the
 * recording, as stamps in s are that are taken for ns. USK_ERANGE as usk_map_at().
 */
enum usk_status stamps_at(struct stamps *s, uint32_t clock, int64_t local_ns,
			  struct stamps_answer *out, struct usk_err *err);

/** What there is to know of that answer besides, as a note; each kind once. */
void stamps_tell(struct stamps *s, uint32_t clock, int64_t local_ns, const struct stamps_answer *a);

/**
 * take() every line of standard input, without its end. What went to standard output is flushed
 * before waiting for more. Returns the exit status; says why it ended early.
 */
int stamps_lines(enum usk_status (*take)(void *ctx, const char *s, size_t n, uint64_t line,
					 struct usk_err *err),
		 void *ctx);

#endif
