/* SPDX-License-Identifier: MIT */
/*
 * course.h - the points of a pair in the order of time, and where no calm clock goes on in them
 */
#ifndef USK_GRAPH_COURSE_H
#define USK_GRAPH_COURSE_H

#include "graph/work.h"

/* A point of either side, mirrored if a ceiling. */
struct usk_course_point {
	int64_t x, y;
	bool ceiling;
	bool fresh;  /* a break that is known from records lies before it */
	bool right;  /* it is no wrong message, whatever it contradicts */
	bool hidden; /* another one of its second says more of a clock that was not set meanwhile */
};

struct usk_course {
	const struct usk_part *part;
	struct usk_course_point *p;
	size_t n;
	int64_t skew_e12;
	bool own_rates;
	bool fixed; /* the wander is what it is */
	bool ends;  /* messages at an end may be wrong */
	bool slews; /* it is seen to be slewed: what a slew explains is no wrong message */
	struct usk_outlook *outlook; /* NULL, or usk_course_outlook() */
	struct usk_stamps *stamps;   /* NULL, or usk_course_stamps() */
	/* As outliers are sought: x of the floors, and of the ceilings, that were left out before, sorted. */
	int64_t *gone[2];
	size_t n_gone[2];
	/* As outliers were sought: the slopes, and where something happened, by stamps of b. */
	struct usk_slope_range {
		int64_t slow_e12, fast_e12;
	} cone;
	struct usk_between {
		int64_t from, to;
	} * happened;
	size_t n_happened;
};

/* The interval of possible offsets, e12. */
struct usk_offsets {
	bool has[2];
	usk_i128 lo, hi;
};

/* By number of point: the last that is surely before, the first that is surely behind. */
struct usk_span {
	size_t from, to;
	bool rises;
	bool step; /* no clock within the skew limit explains it: usk_course_slewed() says so */
	bool slew; /* several of these, which may be one slew */
	int64_t at_once_ns; /* then the most that one of them was by; 0: unknown */
	bool slewed;	    /* one slew may have been all of it */
	size_t began,
		ended; /* then the last point before which it may have begun, the first by which it had ended */
};

struct usk_spans {
	struct usk_span *span;
	size_t n, n_slews;	     /* so many of them are slews, which have a begin and an end */
	struct usk_slope_range cone; /* of the slopes outside */
};

/** As usk_part_recorded() says it, the other way round. */
static inline struct usk_course_point usk_course_point_of(const struct usk_part *p,
							  const struct usk_suspect *s)
{
	int64_t x = s->point.local_ns - p->frame.local_ns + (s->ceiling ? 0 : p->q_ns[0]);
	int64_t off = s->point.offset_ns - p->frame.offset_ns;
	return (struct usk_course_point){ .x = x,
					  .y = (s->ceiling ? -off : off) - p->q_ns[s->ceiling],
					  .ceiling = s->ceiling };
}

/** A point's stamp of a. */
static inline int64_t usk_course_a_stamp(const struct usk_part *part,
					 const struct usk_course_point *p)
{
	return usk_part_other(part, (struct usk_xy){ p->x, p->y }, p->ceiling);
}

/** Points of w->part, with the breaks that records tell of. */
void usk_course_of(struct usk_course *w, const struct usk_graph_back *known_a,
		   const struct usk_graph_back *known_b);
/** Do records tell that a clock was set back between two of its stamps? */
bool usk_back_between(const struct usk_graph_back *back, int64_t before, int64_t after);
/** Takes a point in; false: it leaves nothing, and all begins with it. */
bool usk_course_narrow(struct usk_offsets *v, const struct usk_course_point *p);
/** The interval carried to point i from the one before, back: from the one behind. true: records
 * tell of a break between them, and it is left open. */
bool usk_course_carry(const struct usk_course *w, struct usk_slope_range c, bool back, size_t i,
		      struct usk_offsets *v);
/** Brackets in which no clock of so much wander goes on, least in number; free() them. */
struct usk_spans usk_course_spans(const struct usk_course *w, int64_t wander);
/* By bracket, in about their order: where the first of it and all behind it begins, and where the last of it and
 * all before it ends. */
struct usk_reach {
	int64_t *from, *to;
};

struct usk_reach usk_course_reach(const struct usk_course *w, const struct usk_spans *s);
void usk_course_reach_free(struct usk_reach *r);
/** Every slope that a clock may have of which a stretch needs that, give or take so much: then no other stretch of it
 * needs more. */
struct usk_slope_range usk_course_cone(const struct usk_course *w, int64_t wander,
				       const struct usk_need *need);
/** For many questions by one range of slopes, which take O(log n) each then. O(n). */
struct usk_outlook *usk_course_outlook(const struct usk_course *w, struct usk_slope_range c);
void usk_course_outlook_free(struct usk_outlook *x);
/** What the points up to `at`, or from it on, leave open there: floor and ceiling, e12. */
struct usk_offsets usk_course_left_open(const struct usk_course *w, struct usk_slope_range c,
					size_t at, bool behind);
/** The same of no points beyond number `end`; without an outlook. O(n). */
struct usk_offsets usk_course_left_open_until(const struct usk_course *w, struct usk_slope_range c,
					      size_t at, bool behind, size_t end);
/** The same of a point that may be none of them, and of those from number `next` on, or of all before that one; on its
 * other side there is one. */
struct usk_offsets usk_course_look(const struct usk_outlook *x, struct usk_slope_range c,
				   const struct usk_course_point *p, size_t next, bool behind);
/** From number `from` on, behind or before: the nearest point that contradicts p, or that ends what no records tell of a
 * break in; w->n: there is none. O(log n). */
size_t usk_course_nearest(const struct usk_course *w, const struct usk_outlook *x,
			  struct usk_slope_range c, const struct usk_course_point *p, size_t from,
			  bool behind);
/* Points from one number to before another. */
struct usk_range {
	size_t first, end;
};

/** What a showed at points, for the two questions that follow, which take about O(log n) each. O(n). */
struct usk_stamps *usk_course_stamps(const struct usk_course *w);
void usk_course_stamps_free(struct usk_stamps *s);
/** Of points that p contradicts, all of them behind it or before it, the one at which a showed most (last), or least;
 * of several the first. As many as there are points: there is none. */
size_t usk_course_outermost(const struct usk_stamps *s, const struct usk_outlook *x,
			    struct usk_slope_range c, const struct usk_course_point *p,
			    struct usk_range r, bool behind, bool last);
/** What a showed at least and at most at points from one number to another, of either kind. */
void usk_course_stamps_between(const struct usk_stamps *s, size_t from, size_t to, int64_t *least,
			       int64_t *most);
/** At points of one kind, the first stamp of a that is not before its own, or the last that is not behind it; false:
 * there is none. */
bool usk_course_next_stamp(const struct usk_stamps *s, struct usk_range r, bool ceiling, bool next,
			   int64_t own, int64_t *stamp);
/** By how much the offset rose in d ns between what is left open at two points. */
struct usk_rise usk_rise_between(struct usk_slope_range c, struct usk_offsets before,
				 struct usk_offsets behind, usk_i128 d);
struct usk_rise usk_course_rise(const struct usk_course *w, struct usk_slope_range c,
				const struct usk_span *s);
/** Of a span that a slope explains the part in which it is known how large a step may be: by how much the offset rose in
 * all, and by how much it may have risen or fallen at one moment. from is not under to: nowhere. O(its points). */
struct usk_sized {
	size_t from, to;
	struct usk_rise size;
	int64_t once_ns;
};
struct usk_sized usk_course_sized(const struct usk_course *w, struct usk_slope_range calm,
				  const struct usk_span *s);
/** By span that is a step by which b was set back: how long messages were under way, but for minimum delays, that may
 * have been so while it happened, of each the least that either side of it says; free() it. O(n log n), and w->outlook
 * is needed. */
int64_t *usk_course_flights(const struct usk_course *w, struct usk_slope_range c,
			    const struct usk_spans *s);
/** By point: may something have happened between it and the one before? free() it. */
bool *usk_course_happens(const struct usk_course *w, const struct usk_spans *s);
/** The same of the skew limit alone: steps, beyond doubt; free() them. */
struct usk_spans usk_course_steps(const struct usk_course *w);
/** Brackets hold all of where the skew limit alone says that a step lies: who steps a clock slews
 * it, too, and one event is then no better explanation than two. Says which of them are steps, and how many there are by
 * that limit alone. */
size_t usk_course_hold_steps(const struct usk_course *w, struct usk_spans *s);
/** Says which of them meet one of the steps. */
void usk_course_mark(struct usk_spans *s, const struct usk_spans *steps);
/** Is one of them no step? Then a daemon slews the clock. Says which of them are. */
bool usk_course_slewed(const struct usk_course *w, struct usk_spans *s);
/** Do two points contradict each other, by any slope of the range? */
bool usk_course_contradict(struct usk_slope_range c, const struct usk_course_point *first,
			   const struct usk_course_point *second);
/** In stamps of both clocks. */
void usk_course_bracket(const struct usk_course *w, const struct usk_span *s,
			struct usk_bracket *b);

/* ---- slews.c ------------------------------------------------------------------------------------
 */

/** Steps between which nothing tells that the skew limit held become one, where one slew may have been all of them.
 * w->outlook, by their cone, is needed. O(n log n). */
void usk_course_unite_slews(const struct usk_course *w, struct usk_spans *s);

/* ---- calm.c -------------------------------------------------------------------------------------
 */

/* A pair that is asked what may have happened to a clock of it without showing. */
struct usk_calm_course {
	struct usk_course w;
	/* By clock of the pair, a, b: the most that it showed at points up to each, the least that it
	 * showed from each on. */
	int64_t *most[2], *least[2];
	/* By point: of the longest calm stretch up to it, and of that from it on. */
	struct usk_calm_stretch {
		usk_i128 ns; /* it lasts */
		struct usk_slope_range cone;
	} * stretch[2];
};
/* Of a clock, in its stamps. */
struct usk_stamps_within {
	int64_t from_ns, to_ns;
};

/* What is known to have happened to a clock, or may have: by records, by its pairs, these in their order and apart. */
struct usk_happened {
	const struct usk_graph_back *back;
	const struct usk_stamps_within *within;
	size_t n;
};
/** Of a, of b. O(n log n). */
void usk_calm_course_of(struct usk_calm_course *x, const struct usk_part *p, int64_t wander_e12,
			int64_t max_skew_e12, const struct usk_happened known[2]);
void usk_calm_course_free(struct usk_calm_course *x);
/* What else may have happened to a clock, in its stamps: not since the one and until the other, but for what other ones
 * lie around. */
struct usk_calm_around {
	int64_t since_ns, until_ns;
	struct usk_stamps_within *other;
	size_t n_others;
};
/** By how much the offset may have risen between two stamps of a clock of the pair, b or a, if something happened there;
 * calm: of a, of b. O(n). */
struct usk_rise usk_calm_jump(const struct usk_calm_course *x, bool of_b,
			      const struct usk_stamps_within *at,
			      const struct usk_calm_around *const calm[2]);

/* ---- wrong.c ------------------------------------------------------------------------------------
 */

/** Leaves out messages that are wrong by themselves, and notes them. */
void usk_wrong_leave_out(struct usk_course *w, int64_t wander, struct usk_calm *c);

/* ---- doubts.c -----------------------------------------------------------------------------------
 */

/** Which outliers brackets explain, of c and of those that were left out before; and what happened if others are
 * right, where they are fewer than so many. The brackets are those of the spans, in their order; w->outlook, by their
 * cone, and w->stamps are needed. */
void usk_doubts_note(const struct usk_course *w, const struct usk_spans *s, size_t below,
		     struct usk_calm *c);

#endif
