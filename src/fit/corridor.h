/* SPDX-License-Identifier: MIT */
/*
 * corridor.h - what messages of a pair leave open: corridor, and the lines that fit
 */
#ifndef USK_CORRIDOR_H
#define USK_CORRIDOR_H

#include "base/base.h"

/*
 * The corridor of a pair with reference a and local clock b.
 *
 * A message a->b (sent x, received y) is a floor: offset(y) >= x - y + delta.
 * A message b->a (sent y, received x) is a ceiling: offset(y) <= x - y - delta.
 * State: the upper hull of the floors, the lower hull of the ceilings, sums for the support
 * lines, and per aligned second of local time the points that are undominated under a cone of
 * slope kappa around the coarse rate; on one side at least, if the clock may have been set once in
 * that second. Where it was set, and maybe more than once, they are thinned by the millisecond. The
 * order of additions does not show in it.
 */
struct usk_corridor;

struct usk_frame {
	int64_t local_ns, offset_ns; /* origin that is subtracted from every point, as integers */
	int64_t rate_e12;	     /* coarse slope of the offset, parts per 10^12 */
	int64_t kappa_e12;	     /* cone's slope, parts per 10^12; at least 400,000 (0.4 ppm) */
	int64_t window_ns;	     /* points are thinned within so long; a second at least */
	bool steps; /* a point is dropped only for one before it and one behind it */
};

/** An empty corridor; frame is copied, its rates are cut to 10^12 in size. */
struct usk_corridor *usk_corridor_new(const struct usk_frame *frame);
void usk_corridor_free(struct usk_corridor *c);

/** Local time in which a clock was set, both ends included; INT64_MIN, INT64_MAX: nobody knows since when, until when. */
struct usk_set_in {
	int64_t from_ns, to_ns;
};

/** Thin by the thousandth of a window where a clock was set, in order; before anything is added. */
void usk_corridor_refine(struct usk_corridor *c, const struct usk_set_in *set, size_t n);
/** Is all of it thinned so? O(log n). */
bool usk_corridor_refined(const struct usk_corridor *c, struct usk_set_in set);

/**
 * Add messages between a (reference) and b; all others are skipped. Any order. For a minimum
 * delay add messages whose stamp of a is moved by it: sent later, received earlier.
 * USK_ERANGE: a stamp or an offset over USK_TIME_MAX, or a point USK_TIME_MAX or more from the
 * origin; none is added then.
 * Cost: O(1) amortised per message, O(log) if they come unsorted.
 */
enum usk_status usk_corridor_add(struct usk_corridor *c, uint32_t a, uint32_t b,
				 const struct usk_msg *msg, size_t n, struct usk_err *err);

/** Hull vertices, absolute, sorted by local time; valid until the corridor changes. */
const struct usk_point *usk_corridor_hull(struct usk_corridor *c, bool ceiling, size_t *n);
/** The undominated points, absolute, sorted by local time; valid until the corridor changes. */
const struct usk_point *usk_corridor_kept(struct usk_corridor *c, bool ceiling, size_t *n);
/** Messages of a direction that were added. */
uint64_t usk_corridor_count(const struct usk_corridor *c, bool ceiling);

/** By how much delays differ, of both directions together, as far as the frame's coarse rate tells; a clock that was set
 * adds what it was set by. */
int64_t usk_corridor_spread(const struct usk_corridor *c);

/*
 * All lines of constant rate that fit a corridor, and the band they fill (Duda, Ashton,
 * Poirier), exactly. Each floor is weakened by the local clock's resolution q_b, each ceiling
 * by the reference's q_a (stamps round down).
 */
struct usk_lines;

struct usk_rate {
	int64_t num, den; /* slope of the offset = num / den, den > 0 */
};

/**
 * Build the feasible polygon from both hulls, rates limited to +-max_skew_e12, at most 5e11 (half
 * as fast, half as fast again).
 * Never fails: what the data allow is usk_lines_quality().
 * Cost: O(h log h) for h hull vertices.
 */
struct usk_lines *usk_lines_new(struct usk_corridor *c, int64_t q_a_ns, int64_t q_b_ns,
				int64_t max_skew_e12);
void usk_lines_free(struct usk_lines *l);
enum usk_quality
usk_lines_quality(const struct usk_lines *l); /* bounded, one-sided, absent, contradicted */
/** Smallest and largest feasible slope of the offset. */
void usk_lines_rates(const struct usk_lines *l, struct usk_rate *min, struct usk_rate *max);
/** The band at a local time: lo rounded down, hi rounded up, USK_NONE if unbounded. O(log h). */
void usk_lines_at(const struct usk_lines *l, int64_t local_ns, int64_t *lo_ns, int64_t *hi_ns);
/**
 * Where no line fits: the fewest points (2 or 3, absolute) that contradict each other.
 * side[i] is true for a ceiling. Returns how many; 0 if the polygon is not empty.
 */
size_t usk_lines_contradiction(const struct usk_lines *l, struct usk_point point[3], bool side[3]);

/* A message that other messages speak against. (local_ns, offset_ns) tells both its stamps. */
struct usk_suspect {
	struct usk_point point; /* absolute */
	bool ceiling;
	int64_t excess_ns; /* by how much it misses the band of the others, at least 1 */
	bool right;	   /* what happened to a clock explains it: it is not to be left out */
};

#endif
