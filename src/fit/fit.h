/* SPDX-License-Identifier: MIT */
/*
 * fit.h - what the files of this folder share
 *
 * Everything here is relative to the corridor's origin. Side 0 is the floor as it is; side 1 is
 * the ceiling with its offsets negated, so that both are upper hulls and one piece of code does
 * for both.
 */
#ifndef USK_FIT_FIT_H
#define USK_FIT_FIT_H

#include "fit/cone.h"
#include "fit/estimator.h"
#include "fit/estimators.h" /* ESTIMATORS: ESTIMATOR(middle) ESTIMATOR(hull) ... */

enum usk_corridor_side { USK_FLOOR, USK_CEILING };

/* The steepest rate that may be asked for. */
#define USK_MAX_SKEW_E12 INT64_C(500000000000)

struct usk_half {
	struct usk_xy *hull;
	size_t n;
	size_t touch_steep,
		touch_flat; /* where lines of the half's largest, smallest slope touch */
};

struct usk_lines {
	struct usk_frame frame;
	struct usk_half half[2]; /* weakened */
	int64_t q_ns[2];	 /* by so much */
	enum usk_quality quality;
	struct usk_slope limit;	   /* the skew limit, >= 0 */
	struct usk_slope min, max; /* feasible slopes of the offset */
	/* What the messages alone allow, and the two vertices each that say so. */
	bool has_free_min, has_free_max;
	struct usk_slope free_min, free_max;
	struct usk_xy min_floor, min_ceiling, max_floor, max_ceiling;
	struct usk_xy point[3]; /* the contradiction, mirrored and weakened as the halves are */
	bool side[3];
	size_t n_points;
};

const struct usk_frame *usk_corridor_frame(const struct usk_corridor *c);
/** A side's hull, relative and mirrored; valid until the corridor changes. */
const struct usk_xy *usk_corridor_half(struct usk_corridor *c, bool ceiling, size_t *n);
/** Its undominated points, likewise. */
const struct usk_xy *usk_corridor_undominated(struct usk_corridor *c, bool ceiling, size_t *n);
/** Sum of the relative local times of all points of a side, and how many there are. */
usk_i128 usk_corridor_sum(const struct usk_corridor *c, bool ceiling, uint64_t *n);

/** As usk_lines_new(), of points sorted by x that are weakened by q[2] already. */
struct usk_lines *usk_lines_of(const struct usk_frame *frame, struct usk_xy *const point[2],
			       const size_t n[2], const int64_t q[2], int64_t max_skew_e12);

/** The band at a relative x: floor's bound rounded down; mirrored for the ceiling. */
usk_i128 usk_lines_half_floor(const struct usk_lines *l, bool ceiling, usk_i128 x);

/** The mean of the lines that are corners of the polygon, at two relative x; l is bounded. */
void usk_lines_mean(const struct usk_lines *l, const usk_i128 x[2], usk_i128 y[2]);

/** -1e6 x the mean slope of a clock's knots, what jumped between left out; NAN: there is none. */
double usk_clock_drift(const struct usk_clock *clock);

/** The message of clocks a and b that made a point of b against a: it says all there is about it,
 * but for a minimum delay. */
static inline struct usk_msg usk_point_message(uint32_t a, uint32_t b, struct usk_point p,
					       bool ceiling)
{
	int64_t on_a = p.local_ns + p.offset_ns;
	return (struct usk_msg){
		.sent_ns = ceiling ? p.local_ns : on_a,
		.received_ns = ceiling ? on_a : p.local_ns,
		.from = ceiling ? b : a,
		.to = ceiling ? a : b,
	};
}

/* A line of the offset through p, not mirrored. */
struct usk_line {
	struct usk_xy p;
	struct usk_slope s;
};

/* How far a point is on the wrong side of a line: whole + rest/den, 0 <= rest < den = s.den. */
struct usk_over {
	usk_i128 whole, rest; /* whole < 0: on the right side, off the line */
};

/** p is a vertex, mirrored if a ceiling. */
static inline struct usk_over usk_line_over(const struct usk_line *l, struct usk_xy p, bool ceiling)
{
	usk_i128 rise = l->s.num * ((usk_i128)p.x - l->p.x);
	usk_i128 down = ceiling ? rise : -rise, q = usk_floor_div(down, l->s.den);
	usk_i128 high = ceiling ? (usk_i128)p.y + l->p.y : (usk_i128)p.y - l->p.y;
	return (struct usk_over){ high + q, down - q * l->s.den };
}

/** Where an answer begins and ends, relative: events and hull vertices; x0 < x1. */
void usk_fit_span(const struct usk_fit *fit, usk_i128 *x0, usk_i128 *x1);

/*
 * A message and the first one back: the one with the smallest send stamp that is not under the
 * receive stamp of `there` on the same clock (of several, the first that is received). Pointers
 * into fit->msg; there->from is the clock that began.
 */
struct usk_exchange {
	const struct usk_msg *there, *back;
};

/**
 * The exchanges that clock `asker` (fit->a or fit->b) began, sorted by the send stamp of `there`,
 * then its receive stamp. A message that nothing came back for has none. free() the result, which
 * is never NULL. Cost: O(n) where messages are nearly in order, else O(n log n); 80 bytes a message
 * on the way.
 */
struct usk_exchange *usk_exchanges(const struct usk_fit *fit, uint32_t asker, size_t *n);

/** Time between the two stamps of the clock that began, by that clock. */
static inline usk_i128 usk_exchange_took(const struct usk_exchange *e)
{
	return (usk_i128)e->back->received_ns - e->there->sent_ns;
}

/** Sum of both delays (RTD): less what the other clock took to answer, by that clock. */
static inline usk_i128 usk_exchange_delays(const struct usk_exchange *e)
{
	return usk_exchange_took(e) - ((usk_i128)e->back->sent_ns - e->there->received_ns);
}

/** Twice the middle of the two stamps of one of the clocks. */
static inline usk_i128 usk_exchange_middle2(const struct usk_exchange *e, uint32_t clock)
{
	return e->there->from == clock ? (usk_i128)e->there->sent_ns + e->back->received_ns
				       : (usk_i128)e->there->received_ns + e->back->sent_ns;
}

/*
 * As a real number. The compiler's own conversion adds two halves, one of them near 2^64 for a
 * small negative number: right with a mantissa of 64 bits only, which emulators of this machine
 * lack.
 */
static inline long double usk_real(usk_i128 v)
{
	if (v == (int64_t)v) { /* nearly all */
		return (long double)(int64_t)v;
	}
	return v < 0 ? -(long double)-(usk_u128)v : (long double)(usk_u128)v;
}

typedef int usk_comparing(const void *a, const void *b, void *ctx);

/** By insertion, as long as items of at most 64 bytes move a few places, as the messages of a trace
 * do; compare makes the order one. */
void usk_sort_nearly(void *base, size_t n, size_t size, usk_comparing *compare, void *ctx);

/** A message's stamp of one of its two clocks. */
static inline int64_t usk_msg_stamp(const struct usk_msg *m, uint32_t clock)
{
	return m->from == clock ? m->sent_ns : m->received_ns;
}

/** What the fit's model says a message needs at least. */
static inline int64_t usk_msg_least(const struct usk_fit *fit, const struct usk_msg *m)
{
	return usk_delay_model_ns(fit->least[m->from == fit->b], m->bytes);
}

/** Twice such a stamp; delta: moved towards the other one by half the minimum delay. */
static inline usk_i128 usk_msg_stamp2(const struct usk_fit *fit, const struct usk_msg *m,
				      uint32_t clock, bool delta)
{
	int64_t least = delta ? usk_msg_least(fit, m) : 0;
	return 2 * (usk_i128)usk_msg_stamp(m, clock) + (m->from == clock ? least : -least);
}

/* What is missing where there is none; %s is the method. */
#define USK_NO_EXCHANGE                                                                            \
	"%s needs an exchange: a message, and one back that was sent after it had come"

#define USK_NO_BROADCAST                                                                           \
	"%s needs two common-view broadcasts at different times: each sent once by a third "       \
	"clock and received by both"

/* --window where nothing is said. */
#define USK_WINDOW_NS INT64_C(180000000000)

/** The window that fit asks for. */
int64_t usk_fit_window(const struct usk_fit *fit);

/* What the messages of a window say the offset is; false: nothing. */
typedef bool usk_windowed(const struct usk_fit *fit, const struct usk_msg *msg, size_t n,
			  int64_t *offset_ns);

/**
 * An estimator's answer: an offset for each window of fit->window_ns by the local clock, from its
 * first message on, the last one cut at its last; it stands at the window's middle, with lines
 * between middles. One window alone is a constant offset, none a failure.
 */
enum usk_status usk_fit_windows(const struct usk_fit *fit, usk_windowed *offset_of,
				struct usk_knot **out, size_t *n, struct usk_err *err);

/* Clement's proposal (section 13), where --model segments says nothing else. */
#define USK_SEGMENT_NS INT64_C(1800000000000)

/** The length of segments that fit asks for. */
int64_t usk_fit_segment(const struct usk_fit *fit);

/** What a method through round trips says of its line; by->z > 0. */
enum usk_status usk_fit_round_trips(const struct usk_estimator *by, const struct usk_fit *fit,
				    struct usk_round_trips *out);

/** A message's stamp on the local clock. */
static inline int64_t usk_msg_local(const struct usk_fit *fit, const struct usk_msg *m)
{
	return m->from == fit->b ? m->sent_ns : m->received_ns;
}

/* The middle of an exchange: twice its local stamp, twice the offset there, and its RTD. */
struct usk_couple {
	usk_i128 local2, offset2, delays;
};

/** The earliest and latest exchange by the local clock, of either asker; ties: the smaller RTD,
 * then the earlier by the reference. false: there is none. */
bool usk_couple_ends(const struct usk_fit *fit, struct usk_couple *first, struct usk_couple *last);

/** The smallest RTD among those that took less than under_ns, or among all if none did; ties: the
 * earlier by the reference, then by the local clock. */
bool usk_couple_best(const struct usk_fit *fit, int64_t under_ns, struct usk_couple *best);

/** The best of each window of the local clock, sorted; windows begin at the first message. */
struct usk_couple *usk_couples(const struct usk_fit *fit, size_t *n);

/** Local stamp rounded down, offset to the nearest. */
struct usk_knot usk_couple_knot(const struct usk_couple *c);

/** An estimator's answer: the line of this slope through a couple. */
enum usk_status usk_fit_from_couple(const struct usk_fit *fit, const struct usk_couple *c,
				    long double slope, struct usk_knot **out, size_t *n);

/** An estimator's answer: the straight line through (x0, y0) and (x1, y1), relative. */
enum usk_status usk_fit_straight(const struct usk_fit *fit, usk_i128 y0, usk_i128 y1,
				 struct usk_knot **out, size_t *n);

/** The polyline at x, rounded to the nearest; beyond its ends the outermost slope goes on, as far
 * as an offset may. *i is where the last question was answered, 0 to begin with; x must not fall.
 */
int64_t usk_line_at(const struct usk_knot *line, size_t n, size_t *i, usk_i128 x);

/**
 * An estimator's answer: offset(t) = p.offset_ns + dy + slope (t - p.local_ns - dx), rounded to
 * the nearest at both ends of the span; p is absolute.
 */
enum usk_status usk_fit_through(const struct usk_fit *fit, struct usk_point p, long double dx,
				long double dy, long double slope, struct usk_knot **out,
				size_t *n);

/** The row that draws in the place of the one that was asked. */
static inline void usk_fit_drawn_by(const struct usk_fit *fit, const char *row)
{
	if (fit->drawn_by) {
		*fit->drawn_by = row;
	}
}

/* The rows of the table, in the files that draw them. */
#define USK_ESTIMATOR(row, ...) const struct usk_estimator usk_est_##row = { __VA_ARGS__ }
#define ESTIMATOR(name)		extern const struct usk_estimator usk_est_##name;
ESTIMATORS
#undef ESTIMATOR

/** `middle` of the linear model. */
enum usk_status usk_middle_line(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err);

/* ---- need.c: what a corridor remembers of a pair, as points in the order of time --------- */

/*
 * Hull vertices and undominated points, each once, sorted by x; relative to the frame, a ceiling's
 * offset negated, weakened by q_ns. A floor is received on the local side, and may have been so
 * much later: there its point lies.
 */
struct usk_part {
	struct usk_frame frame;
	struct usk_xy *point[2]; /* floors, ceilings */
	size_t n[2];
	int64_t q_ns[2];		    /* floors by this, ceilings by that */
	const struct usk_suspect *left_out; /* borrowed: who is wrong, and not among the points;
					     or right after all */
	size_t n_left_out;
	int64_t moved_ns;  /* minimum delays: no message's stamp was moved by more */
	int64_t spread_ns; /* usk_corridor_spread() */
};

/** q_ns[2]: by how much floors and ceilings are weakened, as usk_lines has it. */
void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out);
void usk_part_free(struct usk_part *p);

/** A point as it was recorded: absolute, not mirrored, not weakened. */
static inline struct usk_point usk_part_recorded(const struct usk_part *p, struct usk_xy at,
						 bool ceiling)
{
	usk_i128 y = (usk_i128)at.y + p->q_ns[ceiling];
	return (struct usk_point){
		(int64_t)(p->frame.local_ns + (usk_i128)at.x - (ceiling ? 0 : p->q_ns[0])),
		(int64_t)(p->frame.offset_ns + (ceiling ? -y : y)),
	};
}

/** The other clock's stamp of it. */
static inline int64_t usk_part_other(const struct usk_part *p, struct usk_xy at, bool ceiling)
{
	struct usk_point r = usk_part_recorded(p, at, ceiling);
	return usk_saturate((usk_i128)r.local_ns + r.offset_ns);
}

/** Of the next floor and the next ceiling, is it the ceiling whose turn it is by time? */
static inline bool usk_part_turn(const struct usk_part *p, size_t floor, size_t ceiling)
{
	return floor == p->n[0] ||
	       (ceiling < p->n[1] && p->point[1][ceiling].x < p->point[0][floor].x);
}

/*
 * The rates, and the least wander, that points need. With floors (t_m, l_m) and ceilings
 * (t_k, u_k)
 *
 *     s_lo = max over ceilings k before floors m of (l_m - u_k)/(t_m - t_k)
 *     s_hi = min over floors m before ceilings k of (u_k - l_m)/(t_k - t_m)
 *
 * the offset rises by at least s_lo somewhere, and by at most s_hi somewhere, whatever the model.
 * A constant rate r with wander w allows slopes from r - w to r + w: it is feasible if and only if
 * r + w >= s_lo and r - w <= s_hi. So some r is if and only if w >= (s_lo - s_hi)/2: that is needed
 * (doc/guarantees.md).
 */

/* No wander makes it true: a floor over a ceiling at one moment. */
#define USK_NO_WANDER INT64_MAX

/* s_lo and s_hi of some points, all as in usk_part. */
struct usk_need {
	bool has_lo, has_hi; /* is there a ceiling before a floor, a floor before one? */
	struct usk_slope s_lo, s_hi;
	bool crossed; /* a floor over a ceiling at one moment */
};

/**
 * (s_lo - s_hi)/2, not under 0, parts per 10^12, rounded up; USK_NO_WANDER if crossed, or if rates
 * within +-max_skew_e12 do not reach s_lo and s_hi. O(1).
 */
int64_t usk_need_within(const struct usk_need *n, int64_t max_skew_e12);

/** Of all points of a part. O(n log h). */
void usk_need_of(const struct usk_part *p, struct usk_need *out);

/* The same point by point: need holds of what was pushed so far. */
struct usk_needing {
	struct usk_need need;
	struct usk_xy *hull[2]; /* upper hulls of the points so far, both mirrored as in usk_part */
	size_t n[2], cap[2];
	struct usk_xy touch[2];	    /* where s_lo touches the ceilings' hull, s_hi the floors' */
	size_t near[2];		    /* its vertex there, when they were last sought */
	int64_t from_x[2], to_x[2]; /* the points that s_lo, s_hi go through */
};

/** Push a point whose x is not under that of any before. O(1), but O(log h) if need changes. */
void usk_needing_push(struct usk_needing *g, bool ceiling, struct usk_xy p);
/** Begin again with no point; memory stays. Zeroed is begun. */
void usk_needing_clear(struct usk_needing *g);
void usk_needing_free(struct usk_needing *g);

/** A slope in e12, rounded down or up. */
static inline int64_t usk_slope_e12(struct usk_slope s, bool up)
{
	usk_i128 e12 = s.num * USK_E12;
	return usk_saturate(up ? usk_ceil_div(e12, s.den) : usk_floor_div(e12, s.den));
}

/* ---- model.c ----------------------------------------------------------------------------- */

/** The cone that a corridor needs for a model to begin with: max(0.4 ppm, 4 wander). */
int64_t usk_model_kappa(const struct usk_model *m);

#endif
