/* SPDX-License-Identifier: MIT */
/*
 * held.h - do the bands of an answer hold the truth? And which steps are beyond doubt?
 *
 * In    the answer, the true clocks, moments of true time
 * Out   per clock how many moments lie outside of its band, and the worst of them
 * Why   the campaign and `networks` judge alike, and with nothing of the program but the knots
 * Not   what the answer assumes (verdict.c)
 *
 * The truth of a moment is the reference's reading then, less the clock's own. Not judged are
 *
 *     moments strictly inside a bracket of the clock in which the answer says that time jumps
 *     moments when one of both clocks stands still: one stamp, many moments
 *     readings that the clock shows twice within what the answer takes for one epoch: it was set
 *     back in a pause, no order of records shows it, and one stamp stands for two moments
 *
 * An answer may have fewer epochs than the clock had, as a set-back in a pause shows nothing. Which
 * of them it means, the stamps tell between which it says that records show it; its bracket would
 * not, which may reach far around these. Where several may be meant, all ways to assign them are
 * tried, each for the whole trace, and the one that leaves fewest moments outside counts.
 */
#ifndef HELD_H
#define HELD_H

#include "sim.h"

/* A clock's own time, in order: its epochs are those of the answer. */
struct held_place {
	uint32_t epoch;
	int64_t local_ns;
};

struct held_stamp {
	int64_t ns, true_ns; /* true_ns: when it was; USK_NONE: not known */
	bool sent;	     /* or received */
};

struct held_moments {
	int64_t *true_ns;
	size_t n, cap;
	int64_t first_ns,
		last_ns; /* of its messages, if it has any: an epoch may be silent beyond */
	struct held_stamp *stamp; /* those that messages used have of it; NULL: not known */
	size_t n_stamps, cap_stamps;
	int64_t resolution_ns;
};

struct held {
	uint64_t moments, outside;
	/* the worst of those outside */
	int64_t by_ns, true_ns, local_ns, truth_ns, lo_ns, hi_ns;
	double half_ns, nearest; /* summed over those with two sides; smallest share of the half */
	uint64_t halves;
	uint32_t seen; /* by set-back of the clock: it begins an epoch of the answer */
};

void held_moment(struct held_moments *m, int64_t true_ns);
void held_stamp(struct held_moments *m, struct held_stamp stamp);
/** n + 1 moments from one to the other; and ever closer around each jump of the clock. */
void held_grid(struct held_moments *m, int64_t from_ns, int64_t to_ns, int64_t n);
void held_around(struct held_moments *m, const struct sim_clock *c, int64_t from_ns, int64_t to_ns);

/**
 * Judge all clocks of an answer. truth, moments, out: by the answer's clock, [a->n_clocks]. Clocks
 * without knots have no moments judged.
 */
void held_check(const struct usk_clocks *a, const struct sim_clock *const *truth,
		const struct held_moments *moments, struct held *out);

/** Where a moment lies, by held.seen. */
struct held_place held_place(const struct sim_clock *c, uint32_t seen, int64_t true_ns);

/** Does the clock show a stamp in an epoch, or could before or after the trace? */
bool held_shows(const struct sim_clock *c, uint32_t seen, struct held_place stamp,
		int64_t resolution_ns);

/** Does a stamp stand for two moments of one epoch, as the clock was set back unseen? */
bool held_stands_for_two(const struct sim_clock *c, uint32_t seen, int64_t stamp,
			 int64_t resolution_ns);

/** Does all from one place to another lie in a bracket of the clock, its ends included? */
bool held_in_jump(const struct usk_clock *c, const struct usk_jump *j, struct held_place from,
		  struct held_place to);

/**
 * Is it beyond doubt that one of two clocks jumped? One message wholly before and one wholly after
 * the jump, one each way, with no other jump of either clock from the one to the other, which no
 * clocks within the skew limit can explain: the jump is larger than the two delays and what the
 * limit does meanwhile.
 *
 * clock[]    true clocks by host;  host, x  the one that jumped, and where
 * m[n]       messages, in any order;  slack_ns  what their stamps are cut by
 */
bool held_beyond_doubt(const struct sim_clock *clock, uint32_t hosts, uint32_t host,
		       const struct sim_jump *x, const struct sim_message *m, size_t n,
		       int64_t max_skew_e12, int64_t slack_ns);

#endif
