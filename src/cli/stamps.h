/* SPDX-License-Identifier: MIT */
/*
 * stamps.h - stamps as people write them, and what they are on the reference's clock
 */
#ifndef STAMPS_H
#define STAMPS_H

#include "base/base.h"

struct stamps {
	const struct usk_clocks *clocks;
	uint32_t clock; /* of stamps that name none; USK_NO_CLOCK: each has to */
	const struct usk_read_options *read; /* --tick-rate; may be NULL */
	int64_t epoch;		 /* that is meant where a stamp lies in several; -1: not said */
	struct stamps_clock *of; /* by clock; filled when first needed */
};

void stamps_new(struct stamps *s, const struct usk_clocks *clocks);
void stamps_free(struct stamps *s);

/** A time as ns, or 1700000000.5s, or RFC 3339. */
enum usk_status stamps_time(const char *text, size_t n, int64_t *out, struct usk_err *err);

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
 * nearest. USK_EUSAGE: the clock has no epoch s->epoch. USK_ERANGE as usk_map_at().
 */
enum usk_status stamps_at(struct stamps *s, uint32_t clock, int64_t local_ns,
			  struct stamps_answer *out, struct usk_err *err);

/** One sentence: "stamp 5 of a lies in its epochs 0 and 1, as ..."; malloc'ed. */
char *stamps_epochs_text(const struct stamps *s, uint32_t clock, int64_t local_ns,
			 const struct stamps_answer *a);

/** One sentence on an answer with beyond_ns: "... is extrapolated"; malloc'ed. */
char *stamps_beyond_text(const struct stamps *s, uint32_t clock, int64_t local_ns,
			 const struct stamps_answer *a);

/* Lines of standard input, one at a time. */
struct lines {
	char *buffer;
	size_t have, at;
	uint64_t line; /* number of the last one */
	bool end;
	struct usk_err err; /* why there is no next line, if that is an error */
	/* Called before waiting for more input: what is done is to be seen. */
	void (*wait)(void *ctx);
	void *wait_ctx;
};

/** The next line without its end, *n bytes, borrowed until the next call; NULL behind the last, or
 * err.code is set. */
const char *lines_next(struct lines *l, size_t *n);
void lines_free(struct lines *l);

#endif
