/* SPDX-License-Identifier: MIT */
/*
 * calibrate.h - minimum delays from round trips
 */
#ifndef USK_CALIBRATE_H
#define USK_CALIBRATE_H

#include "base/base.h"

/*
 * The smallest of some round trips: a message, and the first one back that was sent after it had
 * come. What the other took to answer is not in it. A fact of two clocks that need not agree.
 */
struct usk_smallest {
	uint32_t asker, other;		  /* indices into the names of clocks */
	uint8_t proto;			  /* IP protocol; 0: any, or a table's */
	char *asker_iface, *other_iface;  /* names or numbers; NULL: any, or not known */
	uint32_t there_bytes, back_bytes; /* payload of these two messages */
	uint64_t n;			  /* how many there are */
	int64_t smallest_ns;		  /* both delays together, by the reference's clock */
};

/*
 * What messages between two clocks need at least, if the fastest way there is as fast as the
 * fastest way back: no round trip can tell. All else is measured.
 */
struct usk_calibrated {
	uint32_t a, b;
	char *why;		      /* why there is no model, a sentence; NULL: there is one */
	struct usk_delay_model model; /* of either way */
	struct usk_smallest *way;     /* per asker, protocol and interfaces */
	size_t n_ways;
	struct usk_smallest *length; /* per asker and pair of lengths, the most frequent 100 */
	size_t n_lengths;
	uint64_t round_trips, used;	/* used: answered soon enough to be known to 1 % */
	uint64_t needed;		/* how many the most frequent kind lacks, if too few */
	uint32_t from_bytes, to_bytes;	/* payload of the shortest and longest messages of these */
	bool straight;			/* no round trip tells the first byte from the others */
	int64_t smallest_ns, margin_ns; /* round trip of the shortest, and what was taken off it */
	unsigned halves, widened;	/* halves of the round trips whose model was asked of the
					 * other half, margins made so many times as wide */
	uint64_t halves_over;		/* round trips that still took less */
	uint64_t over;			/* round trips shorter than their two minima, */
	int64_t over_ns;		/* by this at most: it was taken off */
	bool judged;			/* by the messages, with the model of the clocks */
	int64_t shortened_ns;		/* taken off all so that the clocks have room, a little */
	int64_t room_ns;		/* all could be so much longer, at least; < 0: so much is
					 * missing, the clocks do not run as their model says */
};

struct usk_calibration {
	char **clock; /* names */
	size_t n_clocks;
	struct usk_calibrated *pair; /* those that exchanged messages */
	size_t n_pairs;
	struct usk_counts counts;
	char **note; /* sentences for the user */
	size_t n_notes;
};

struct usk_calibrate_options {
	double margin;	      /* share of the smallest round trip; < 0: as round trips spread */
	int64_t asymmetry_ns; /* the minima of the two ways differ by this at most */
};

/**
 * Minimum delays of every two clocks that exchanged messages, from their round trips (Ashton 1995,
 * section 4.2.1; Poirier 2010, section 4.1). Each number of a model is a lower bound of its own
 * (src/judge/least.c), and no round trip is shorter than the sum of its two minima.
 *
 * opt, how  may be NULL; opt's method and minimum delay do not matter
 * Memory    the messages of one pair, and 100 bytes for each of their round trips
 */
enum usk_status usk_calibrate(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt,
			      const struct usk_calibrate_options *how, struct usk_calibration **out,
			      struct usk_err *err);
void usk_calibration_free(struct usk_calibration *c);

#endif
