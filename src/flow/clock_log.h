/* SPDX-License-Identifier: MIT */
/*
 * clock_log.h - what a daemon did to a clock, as its log tells: from its stamps to its raw clock
 *
 * In    the lines of `unskew record` and `unskew clock --log`; the epochs of its stamps
 * Out   between which two moments of the raw clock a stamp was shown, and back
 * Why   a quartz keeps its rate; what is known to have been done on top of it is no wander
 * Not   how the raw clock ran: the messages told
 *
 * Raw time here is the log's less a constant, so that it is near the clock's stamps.
 */
#ifndef USK_FLOW_CLOCK_LOG_H
#define USK_FLOW_CLOCK_LOG_H

#include "base/io.h"
#include "match/match.h"

/* The clock showed time_ns between two readings of the raw clock. */
struct usk_log_line {
	int64_t before_ns, time_ns, after_ns;
	int64_t rate_e12; /* it was told to gain; USK_NONE: not known */
	bool set;	  /* it was set since the line before */
};

static inline int64_t usk_log_middle(const struct usk_log_line *x)
{
	return x->before_ns + (x->after_ns - x->before_ns) / 2;
}

/* From a line to the next. */
struct usk_log_cell {
	int64_t slow_e12, fast_e12; /* raw - recorded, for each unit recorded */
	int64_t pad_ns;		    /* it was nowhere further from the straight line */
	bool jump;		    /* it was set in between */
	bool hole;		    /* lines are missing */
};

/* Lines between two jumps. */
struct usk_log_piece {
	size_t first, last;
	bool fell; /* it was set back before the first */
};

struct usk_clock_log {
	struct usk_log_line *line;
	size_t n;
	struct usk_log_cell *cell; /* [n - 1] */
	struct usk_log_piece *piece;
	size_t n_pieces, holes;
	/* Raw - recorded for each unit recorded, before the first line and behind the last one. */
	int64_t beyond_e12[2];
	char boot[64]; /* which start of which machine; "" unknown */
	char *damage;  /* a sentence on lines that were left out, or NULL */
};

/** USK_EINPUT: it is no such log, or has less than two lines of the clock. */
enum usk_status usk_clock_log_read(struct usk_input *in, struct usk_clock_log *out,
				   struct usk_err *err);
void usk_clock_log_free(struct usk_clock_log *l);

/* Which lines a trace's epoch lies in. */
struct usk_log_epoch {
	size_t first, last; /* pieces */
	int64_t shift_ns;   /* stamps + this are on unwrapped time */
	bool before, behind;
};

/* A clock with its log. */
struct usk_carry {
	struct usk_clock_log log;
	const struct usk_epochs *epochs; /* of its stamps; borrowed */
	struct usk_log_epoch *epoch;	 /* [epochs->n + 1] */
	bool whole;			 /* the log covers all of its stamps, without holes */
};

struct usk_raw {
	int64_t lo_ns, hi_ns;
};

/** Of a clock whose stamps lie between these, unwrapped. Takes the log over. Why it is of no use,
 * a sentence, malloc'ed; NULL: it is. */
char *usk_carry_of(struct usk_clock_log *log, const struct usk_epochs *epochs, int64_t first_ns,
		   int64_t last_ns, struct usk_carry **out);
void usk_carry_free(struct usk_carry *c);

/** From which unwrapped stamp to which one the log tells of it. */
struct usk_raw usk_carry_covers(const struct usk_carry *c);

/** At which rates it ran between the lines that it was set between, before a piece. */
struct usk_log_cell usk_carry_rates(const struct usk_clock_log *l, size_t piece);

static inline int64_t usk_raw_middle(struct usk_raw r)
{
	return (int64_t)(((usk_i128)r.lo_ns + r.hi_ns) >> 1);
}
/** The first line behind a moment of the raw clock. */
static inline size_t usk_log_behind(const struct usk_clock_log *l, int64_t raw_ns)
{
	size_t i;
	USK_FIRST(i, 0, l->n, usk_log_middle(&l->line[i]) > raw_ns);
	return i;
}
/** Between which moments of the raw clock an unwrapped stamp was shown. O(log lines). */
struct usk_raw usk_carry_raw(const struct usk_carry *c, int64_t ns);
/** About what it showed at a moment of the raw clock, unwrapped; between two lines that it was set
 * between as before. */
int64_t usk_carry_shown(const struct usk_carry *c, int64_t raw_ns);
typedef void usk_shown_fn(void *ctx, struct usk_raw shown);
/** Between which unwrapped stamps it showed something then: of each cell that the moment may be in,
 * and where it was set as before and as behind. */
void usk_carry_each_shown(const struct usk_carry *c, int64_t raw_ns, usk_shown_fn *take, void *ctx);
/** The least and the most of these. */
struct usk_raw usk_carry_shows(const struct usk_carry *c, int64_t raw_ns);
/** The same of all moments between two. */
struct usk_raw usk_carry_shows_between(const struct usk_carry *c, int64_t from_ns, int64_t to_ns);

/* Moments of the raw clock, sorted, from one to the next of which what usk_carry_shows() tells is
 * straight, and what usk_carry_shown() does. */
enum { USK_AT_JUMPS, USK_AT_LINES, USK_MIDDLE, USK_MOMENTS };
struct usk_moments {
	int64_t *at[USK_MOMENTS]; /* to be freed */
	size_t n[USK_MOMENTS];
};
void usk_carry_moments(const struct usk_carry *c, struct usk_moments *out);

/* Where a clock was set. */
struct usk_set {
	int64_t from_ns,
		to_ns;	    /* unwrapped stamps: earlier ones are of before, later ones of behind */
	struct usk_raw by;  /* it was set forward by so much */
	int64_t shifted_ns; /* of which unwrapped time leaves out this, as stamps show it */
};
/** Before a piece, which is not the first. */
struct usk_set usk_carry_set(const struct usk_carry *c, size_t piece);

/** How fast the raw clock ran about an unwrapped stamp: raw - recorded for each unit recorded. */
struct usk_slopes usk_carry_slopes(const struct usk_carry *c, int64_t ns);

/** Unwrapped stamps between which what usk_carry_raw() tells is straight, sorted; *out is handed
 * over. */
size_t usk_carry_corners(const struct usk_carry *c, int64_t first_ns, int64_t last_ns,
			 int64_t **out);

#endif
