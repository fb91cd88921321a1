/* SPDX-License-Identifier: MIT */
/*
 * estimator.h - the table of estimators: what draws a line through a pair
 */
#ifndef USK_ESTIMATOR_H
#define USK_ESTIMATOR_H

#include "fit/corridor.h"

/* Where a clock may have been stepped forward: two consecutive stamps of its own trace. */
struct usk_gap {
	int64_t before_ns, after_ns; /* USK_NONE: there are no two such stamps */
	int64_t late_ns; /* it was set back, or what came after is out of order by so much; 0: it was set back */
};

struct usk_group;

struct usk_fit {
	struct usk_model model;
	int64_t max_skew_e12;
	/* Where the local clock was set back: its last stamp before and its first one after, both
	 * on a time that runs on, as all stamps of the fit are; sorted. */
	const struct usk_gap *back;
	size_t n_back;
	/* The same of the other clock, on its own time that runs on. How long that was nobody
	 * knows: offsets may rise or fall there by its doing. */
	const struct usk_gap *other_back;
	size_t n_other_back;
	struct usk_corridor *corridor;
	const struct usk_lines *lines;
	const struct usk_lines *plain;		/* without minimum delays; NULL: lines are */
	const struct usk_delay_model *least[2]; /* minimum delays, a to b, b to a; NULL is 0 */
	const struct usk_suspect *left_out;	/* who contradicts all others, and is not in them */
	size_t n_left_out;
	int64_t moved_ns;		       /* no message has a longer minimum delay */
	int64_t first_local_ns, last_local_ns; /* first and last event of the local clock */
	/* Every message of the pair for estimators that need them, NULL for the others: sorted by
	 * the local clock's stamp, then the reference's. */
	const struct usk_msg *msg;
	size_t n_msgs;
	const struct usk_reception *broadcasts; /* broadcasts that both received, in no order */
	size_t n_broadcasts;
	const struct usk_group *group;	/* what broadcasts say of all clocks; NULL: of these two */
	const char *group_failed;	/* or why they say nothing; NULL */
	uint32_t a, b;			/* numbers of reference and local clock in them */
	int64_t window_ns;		/* of estimators that cut time into windows; 0 = 180 s */
	const struct usk_estimator *by; /* set by usk_estimator_run() */
	const char **drawn_by; /* out, may be NULL: the row that drew it in the place of the one
				* that was asked; static, left as it is where that is none */
};

/*
 * An estimator draws an offset into the band. out: a straight line or polyline as knots
 * (local_ns, offset_ns), at least two, sorted; sync then draws the nearest that is inside
 * the band and in order. Returns USK_OK, or USK_EINPUT with a sentence when it has no answer.
 */
struct usk_estimator {
	const char *name;
	const char *source; /* paper and section */
	const char *help;
	bool needs_messages; /* memory: 32 bytes a message */
	enum usk_status (*estimate)(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				    struct usk_err *err); /* of rows that share it: */
	bool delta;					  /* minimum delays are made use of */
	bool moved;    /* and stamps of two-point moved by them */
	bool violates; /* answers where no line fits, with least violation */
	double z;      /* of the confidence interval */
	bool together; /* it asks for the broadcasts of all pairs: see usk_fit.group */
};
/** Put messages of a pair into the order that usk_fit asks for; local: number of the local clock.
 */
void usk_msg_sort(struct usk_msg *msg, size_t n, uint32_t local);

/* What least squares through round trips say (Clement 2009, sections 9 and 12). */
struct usk_round_trips {
	bool by_local;		    /* T1 is a stamp of the local clock, else of the reference's */
	uint64_t exchanges, kept;   /* all, and those within the confidence interval */
	double margin_ns, sigma_ns; /* mean and standard deviation (over n) of all margins */
	double kept_margin_ns;	    /* mean of those that were kept: Clement's E */
	int64_t origin_ns;	    /* T counts from this T1, the first exchange's */
	int64_t origin_offset_ns;   /* intercept_ns counts from this offset, ns */
	long double slope;	    /* of the offset (reference - local) over T, ns per ns */
	long double intercept_ns;   /* of the offset at T = 0 */
	double residual_ns;	    /* Er, standard deviation about the line; NAN under 3 kept */
	double s_slope;		    /* standard error of the slope, ns per ns; NAN likewise */
	double s_intercept_ns;	    /* standard error of the intercept, ns; NAN likewise */
};

/* z for 90, 95 and 99 % (Clement's table 2); INFINITY keeps all. */
#define USK_Z_90 1.64
#define USK_Z_95 1.96
#define USK_Z_99 2.58

/**
 * The line and standard errors of `round-trip`; fit needs its messages and their clocks only.
 * USK_EINPUT: no exchange, or none that began at another time.
 */
enum usk_status usk_round_trips_of(const struct usk_fit *fit, double z, struct usk_round_trips *out,
				   struct usk_err *err);

/**
 * The same in segments of that length of T, each with a filter and a line of its own (section 13).
 * They begin with the first exchange; a rest under half a segment belongs to the last one, and one
 * whose exchanges do not make a line is left out. all: its slope, intercept and margins of all are
 * the first segment's, its counts of all, its residual over all (n - 2 of each), its standard
 * errors NAN. Two knots a segment, at its first and last kept exchange. USK_EINPUT: none makes a
 * line.
 */
enum usk_status usk_round_trip_segments_of(const struct usk_fit *fit, double z, int64_t segment_ns,
					   struct usk_round_trips *all, struct usk_knot **out,
					   size_t *n, struct usk_err *err);

/* An exchange's margin, and the least z of 1.64, 1.96, 2.58 whose interval keeps it; INFINITY:
 * none of these. */
struct usk_margin {
	int64_t t1_ns;
	double margin_ns, z;
};

/** Those of the exchanges that usk_round_trips_of() would take, sorted by T1; to be freed. */
struct usk_margin *usk_margins_of(const struct usk_fit *fit, bool *by_local, size_t *n);

/** The table of estimators, static; NULL at its end. */
const struct usk_estimator *const *usk_estimators(void);
/** Its row of that name, or NULL; "+δ" is taken for "+delta". */
const struct usk_estimator *usk_estimator_find(const char *name);
/** Ask it. On failure *out is NULL and *n 0. */
enum usk_status usk_estimator_run(const struct usk_estimator *e, const struct usk_fit *fit,
				  struct usk_knot **out, size_t *n, struct usk_err *err);

#endif
