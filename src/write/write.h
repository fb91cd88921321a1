/* SPDX-License-Identifier: MIT */
/*
 * write.h - inside of the writing stage: text that can be shown, notes, recorded stamps, a clock's
 * correction for records in the order they were recorded
 */
#ifndef USK_WRITE_H
#define USK_WRITE_H

#include "base/io.h"

/*
 * Names and paths are bytes; JSON and terminals want UTF-8. Bytes that are not UTF-8 come out as
 * \xff, all else as it is. A malloc'ed string. Apply it to both sides before comparing.
 */
char *usk_shown(const char *text);
/** The same for people: control characters and marks that turn text round as \u009b; but for the
 * ends of lines, where lines are. */
char *usk_visible(const char *text, bool lines);

/** The clocks.json at path; the sentence of a failure begins with it. Free with usk_clocks_free().
 */
enum usk_status usk_clocks_read(const char *path, struct usk_clocks **out, struct usk_err *err);
/** Would an answer of our own be refused where clocks.json is read? USK_EINPUT and why, if so. */
enum usk_status usk_clocks_sound(const struct usk_clocks *c, struct usk_err *err);

/** What c says of a trace: by its path, else of a clock's with interfaces of their own; or NULL. */
const struct usk_trace_info *usk_clocks_trace(const struct usk_clocks *c, const char *path,
					      uint32_t clock);
/** The clock of an interface; clock, if it has none of its own. name and t may be NULL. */
uint32_t usk_trace_iface_clock(const struct usk_trace_info *t, uint32_t number, const char *name,
			       uint32_t clock);

/* The stretch of a clock's local time, between steps, that stands for it, and what it is off by in
 * the middle of that; USK_NONE: nothing. */
struct usk_headline {
	int64_t from_ns, to_ns, middle_ns;
	uint32_t epoch;
	size_t messages;    /* buckets of them that are kept there, where there is a choice */
	size_t n_stretches; /* how many there are to choose from; 0: it has no knots */
	int64_t offset_ns, lo_ns, hi_ns;
};
/** The one with the most messages, as far as corridors are kept, else the longest. clock is of c.
 */
struct usk_headline usk_headline_of(const struct usk_clocks *c, const struct usk_clock *clock);
/** All its stretches, in order; messages are not counted. free() *out. */
size_t usk_stretches_of(const struct usk_clocks *c, const struct usk_clock *clock,
			struct usk_headline **out);

/**
 * A line as an estimator drew it, not settled into a band: n >= 2 knots, their lo, hi and epoch are
 * ignored. Unlike a clock's, its time may stand still or fall.
 */
struct usk_map *usk_map_of_line(const struct usk_knot *line, size_t n);

/* ---- replay.c: a clock that was set back shows stamps twice; their order tells which is which
 * ---- */

struct usk_replay;

/** Has more than one trace stamps of a clock, or may it? A table names its clocks itself. */
bool usk_in_several(const struct usk_clocks *c, uint32_t clock);

/** Of a trace's clock; NULL if it has no two knots in its first epoch that has any. path: the trace, as
 * the answer calls it, or NULL. The answer may go before it. */
struct usk_replay *usk_replay_new(const struct usk_clocks *c, uint32_t clock, const char *path);
void usk_replay_free(struct usk_replay *r);
/** The trace ends. USK_EINPUT: nothing told in which epoch it began. r may be NULL. */
enum usk_status usk_replay_end(const struct usk_replay *r, struct usk_err *err);

/** How many epochs there are, at least 1. */
size_t usk_replay_epochs(const struct usk_replay *r);
/** The correction of an epoch; NULL: nothing ties it, or there is no such epoch. Borrowed. */
const struct usk_map *usk_replay_map(const struct usk_replay *r, size_t epoch);

/**
 * The next n stamps of a trace, as usk_map_many(). USK_EINPUT too: they are of an epoch that no
 * message ties to the reference.
 */
enum usk_status usk_replay_many(struct usk_replay *r, const int64_t *local_ns, size_t n,
				int64_t *out, struct usk_err *err);

/**
 * The same; repeats[n <= 256], or NULL: the stamp 1 ns before becomes out[i], too. All others can be
 * found again, as the first that becomes what they became.
 */
enum usk_status usk_replay_undoable(struct usk_replay *r, const int64_t *local_ns, size_t n,
				    int64_t *out, bool *repeats, struct usk_err *err);

/** Stamps that are known to be of that epoch, else as usk_replay_many(). */
enum usk_status usk_replay_in(const struct usk_replay *r, size_t epoch, const int64_t *local_ns,
			      size_t n, int64_t *out, struct usk_err *err);

/** Add a sentence; notes may be NULL. */
void usk_note(struct usk_notes *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * The correction of clock i. *map is NULL and a note is made if opt lets a clock that is not
 * bounded go along; otherwise that is USK_EINPUT. what: whose stamps they are, for the sentence.
 */
enum usk_status usk_write_map(const struct usk_clocks *c, uint32_t i, const char *what,
			      const struct usk_write_options *opt, struct usk_replay **map,
			      struct usk_notes *notes, struct usk_err *err);

/* "recorded 1700000000.123456789": the comment that keeps a stamp. Returns its length. */
enum { USK_RECORDED_MAX = 40 };
size_t usk_recorded_text(int64_t ns, char out[USK_RECORDED_MAX]);

/* Seconds with 9 digits, "-0.000000001", at most 22 bytes. Returns the length. */
size_t usk_seconds_text(int64_t ns, char *out);

#endif
