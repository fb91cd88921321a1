/* SPDX-License-Identifier: MIT */
/*
 * work.h - the graph of one island while it is solved: what the files of this folder share
 *
 * An event is one end of an edge, T[from] <= T[to]: a message sent and received, or what another
 * source says in the same way. Events of a clock are neighbours, sorted by its stamps; between two
 * neighbours lies a cell, which says by how much T may rise there. Times are parts per 10^12 of a
 * ns in 128 bits: products of a distance and a rate are exact, and nothing is rounded until it is
 * written.
 */
#ifndef USK_GRAPH_WORK_H
#define USK_GRAPH_WORK_H

#include "graph/graph.h"

#define USK_INF	     ((usk_i128)1 << 125) /* no bound */
#define USK_NO_EVENT UINT32_MAX

/* Linux slews a clock by a tenth at most, which is a ninth of what it then shows. */
#define USK_FASTEST_E12 (USK_E12 / 9)

/* By how much T may rise over a cell of d ns. */
enum usk_pace {
	USK_CALM,      /* at the clock's rate, within its wander */
	USK_SKEW,      /* within the skew limit */
	USK_FAST,      /* as fast as a clock is slewed: USK_FASTEST_E12 more */
	USK_MONOTONE,  /* not at all, but it does not fall: a lower bound only */
	USK_UNBOUNDED, /* nothing is known */
};

struct usk_cell {
	uint8_t lower, upper; /* enum usk_pace */
	bool slack;	      /* T may jump in it, too: usk_work.slack */
	bool folded;	      /* stamps may repeat: ordered with the ends of the fold alone */
};

/* A run's constant rate, slope of the offset: what is known of it. */
struct usk_run {
	int64_t least_e12, most_e12; /* of the constant */
	int64_t wander_e12;	     /* the rate is within this of it */
	int64_t slow_e12, fast_e12;  /* of any slope: both together, within the skew limit */
	uint32_t clock;
};

/* Something happened to a clock between two of its stamps. */
struct usk_break {
	uint32_t clock;
	int64_t from_ns, to_ns;
	bool up, down;		  /* T may rise by more than usual, by less */
	bool back;		  /* known from records */
	int64_t rise_ns, fall_ns; /* by so much at most, if not up, down: it looks like a slew */
	int64_t twice_ns;	  /* then so much of stamps in it may have been shown twice */
	bool falls;		  /* T may fall in it, as the reference may have been set back */
	int64_t far_ns;		 /* by so much at most; 0: nobody knows, by no more than it lasts */
	bool of_reference;	 /* as these tell of the reference */
	bool fast_up, fast_down; /* as if it was slewed, at a rate */
	bool in_part;	  /* a step that pairs hide, if there was one: no slew comes with it */
	bool vague;	  /* by how much it was set back is unknown: what else hides in it, too */
	int64_t fold_ns;  /* stamps of this much before and behind may have been shown twice */
	uint32_t bracket; /* what showed it, of usk_work.seen; UINT32_MAX: records, or a cycle */
};

/* Stamps that may have been shown twice: events from first to last, folded. What else happened to
 * the clock among them says by how much T rises at least from the first one, and to the last one: not at all from one
 * that may have been shown twice itself, as there is none before it. */
struct usk_fold {
	uint32_t first, last;
	uint8_t from_first, to_last; /* enum usk_pace */
};

/* Where T of a clock may fall from a stamp to a later one: as the reference may have been set back in between, or as
 * the clock was, by which both stamps may have been shown twice; and where it may rise, as the reference was set
 * forward. Each is a tree over rows, sorted by clocks; those of clock k begin with first[k]. */
struct usk_fallings {
	struct usk_falling {
		uint32_t clock;
		int64_t from_ns, to_ns, by_ns; /* in that bracket by so much in all */
		int64_t least_ns;	       /* the step that says so is no smaller */
		int64_t begin_ns, end_ns;      /* what lies between these stamps was shown twice */
	} * row;
	struct usk_falling_node
		*node; /* of rows: 1 is of all, 2 k and 2 k + 1 are the halves of k */
	size_t n, leaves, *first;
};

enum usk_falling_what { USK_FELL, USK_TWICE, USK_ROSE, USK_FALLING_COUNT };

/* Cells from this event on that have slack: by how much T may jump in one, and in all of those between two events no
 * more than by what began before the second and had not ended by the first. */
struct usk_slack {
	uint32_t first, falling; /* falling: T may fall there, as so many brackets say */
	int64_t rise_ns, fall_ns;
	int64_t twice_ns; /* stamps that are no further apart may be in no order: it falls by so much, too */
	usk_i128 ended_rise_ns, ended_fall_ns; /* of what ended up to here, all in all */
};

/* By event, where stamps may have been shown twice: the last one before and the first one behind that are so far away
 * that they are in order with it, USK_NO_EVENT: none; and by how much T rises at least from where such a stretch began. */
struct usk_in_order {
	uint32_t *before, *behind;
	usk_i128 *rise;
};

/* What a clock shows at one moment, and how fast it goes by the reference: near enough to say what
 * happened at about the same time. */
struct usk_rough {
	int64_t x, pace_e12;
	int64_t lag; /* by so much the reference goes faster, parts per 2^40 */
};

/* Moments at which stamps of all clocks are bounded: n of them all along, by the reference. */
struct usk_ticks {
	uint32_t n;
	usk_i128 first, length;
};

/* T of event b is over that of a by so much: what their pair says by its own rates. */
struct usk_pairwise {
	uint64_t moment; /* at which both are, in ticks that were halved as often as any can be */
	uint32_t a, b;
	usk_i128 least, most;
};

/* A bracket that a pair showed, with what is known of whose it was. */
struct usk_seen {
	uint32_t pair, a, b;
	struct usk_bracket at;
	/* Its size if a, b did all that other pairs do not show. */
	int64_t least_ns[2], most_ns[2];
	usk_i128 from, to;  /* on the reference, e12, once bounds are known */
	bool may_be[2];	    /* a's, b's, as is likely */
	bool sure;	    /* more than likely */
	bool excluded[2];   /* certainly not all of it, */
	int64_t part_ns[2]; /* then so much of it at most, as other pairs hide that */
};

/* A clock of constant rate: all lines that fit. Bounds are polylines of the offset, each corner of
 * them one of these; a clock that nothing is known of has none. */
struct usk_straight {
	struct usk_lines *lines; /* of two clocks; exact anywhere. NULL: bounds are all there is */
	struct usk_xy *bound[2]; /* lower, upper; rounded outwards */
	size_t n[2];
	struct usk_xy *beyond[2]; /* corners before and behind its events, left to right */
	size_t n_beyond[2];
	struct usk_slopes rate; /* feasible slopes of the offset */
	struct usk_xy line[2];	/* the estimate; both the same: none */
};

/* What the estimate alone is asked, where it can: T(sent) <= T(received) + early_ns, which may be
 * less than 0. */
struct usk_wish {
	uint32_t sent, received; /* events */
	int64_t early_ns;
	bool doubts; /* of a message whose stamps are likely so: bounds are not to exclude it */
};

/* What is certain of a message that may have been under way while the reference was set back:
 * T(sent) <= T(received) + by_ns. */
struct usk_weak {
	uint32_t sent, received; /* events */
	int64_t by_ns;		 /* USK_NONE: nothing */
};

/* Which bounds of an event only order says. */
enum { USK_FILLED_LO = 1, USK_FILLED_HI = 2 };

struct usk_work {
	struct usk_clocks *c;
	const struct usk_graph_problem *p;
	size_t n_clocks;
	size_t share; /* so many clocks there are in all for one of the island: its part of the work
		       */
	uint32_t reference;
	struct usk_calm *calm; /* by pair */
	bool *tied;	       /* by pair: its messages count */
	int64_t *distance;     /* by pair: the shorter ones make paths */
	struct usk_break *brk;
	size_t n_breaks, cap_breaks;
	struct usk_seen *seen;
	size_t n_seen;
	struct usk_seen_order {
		struct usk_seen_nth {
			uint32_t seen;
			usk_i128 latest; /* end of it and of all before */
		} * item;
		size_t n;
	} by_begin;		   /* by where they begin, but for those that are doubted */
	struct usk_others *others; /* while it is asked whose brackets were */
	int64_t *wander_e12;	   /* by clock */
	bool *broken;		   /* by clock: a cycle may be its doing */
	struct usk_left_out {
		uint32_t from, to; /* events */
	} * left_out;		   /* messages that contradict others by themselves */
	size_t n_left_out, cap_left_out;
	bool *suspect; /* by clock: of what no repair explains */

	/* Events, grouped by clock; the outermost ones have no edge, and lie where the next ones
	 * do, or so far out that what may have happened to the reference did so before. */
	uint32_t *first; /* [all clocks + 1] */
	uint32_t n;
	int64_t *x;	  /* stamps */
	uint32_t *peer;	  /* other end of the edge; USK_NO_EVENT: none */
	uint32_t *wished; /* the wish that it is an end of, from 1; 0: none */
	struct usk_wish *wish;
	size_t n_wishes;
	struct usk_weak *weak;
	size_t n_weak;
	uint32_t *weak_of; /* by event: which of them, from 1; 0: none. NULL, if there are none */
	bool *sent;	   /* it is the edge's `from` */
	uint32_t *pair_of; /* of the edge; behind all pairs: a statement's; UINT32_MAX: neither */
	uint32_t *owner;   /* clock */
	uint32_t *order; /* in their approximate order of time, the reference's behind all others */
	uint32_t n_order;	 /* without the reference's */
	uint32_t *outwards;	 /* [n_clocks], by hops from the reference */
	struct usk_rough *rough; /* [all clocks] when the reference shows its first stamp */
	struct usk_ticks ticks;
	struct usk_pairwise *pairwise; /* while bounds are narrowed */
	size_t n_pairwise;
	struct usk_cell *cell; /* between an event and the next one of its clock */
	uint32_t *run_of;      /* by event: of the cell behind it */
	struct usk_run *run;
	size_t n_runs;
	struct usk_fold *fold;
	size_t n_folds;
	struct usk_fallings falls[USK_FALLING_COUNT];
	struct usk_slack *slack;
	size_t n_slacks;
	struct usk_in_order in_order; /* NULL: no stamp was shown twice where there is slack */
	usk_i128 *lo, *hi;	      /* of T */
	int64_t *beyond_ns; /* [2 x all clocks] by so much T may have jumped to its first, last
			       event */
	uint32_t crossed;   /* an event whose lo is over its hi; USK_NO_EVENT */
	const struct usk_run *torn;    /* a run that no rate is left to; NULL */
	struct usk_straight *straight; /* [all clocks]; NULL: cones are all there is */
	bool hulls;		       /* events of hulls alone: lines ask for no more */
	bool *some;		       /* not all points became events */

	struct usk_drawn *drawn; /* [2 n_clocks] by clock: its knots, those to its ends */

	/* Published. */
	uint32_t *pairs_of;	/* by clock: so many are tied */
	int64_t *lo_ns, *hi_ns; /* of T, rounded outwards; USK_NONE: none */
	int64_t *t_ns;		/* the estimate; USK_NONE */
	uint8_t *filled; /* USK_FILLED_...: bounds that only order says; true if T does not fall */
	bool circles;	 /* order may lead round in circles, as stamps may have been shown twice */
};

/* ---- solve.c ------------------------------------------------------------------------------------
 */

/** One island: its clocks, qualities, references, paths; notes and outliers are added. */
void usk_solve_island(struct usk_work *w);

/* ---- build.c ------------------------------------------------------------------------------------
 */

/* T_from(from_ns) <= T_to(to_ns), by stamps of their clocks. */
struct usk_constraint {
	uint32_t from, to;
	int64_t from_ns, to_ns;
	uint32_t pair; /* behind all pairs: a statement's; UINT32_MAX: neither's */
	/* T_from(from_ns) <= T_to(wish_ns) + early_ns, too: by the estimate, where it can. */
	bool wish, only; /* only: nothing else */
	int64_t wish_ns, early_ns;
};

struct usk_constraints {
	struct usk_constraint *row;
	size_t n, cap;
};

/* A source of constraints: a row of the table. */
struct usk_source {
	const char *name;
	void (*emit)(const struct usk_work *w, struct usk_constraints *out);
};

void usk_constraint_add(struct usk_constraints *c, struct usk_constraint row);
/** Is what an edge is of no pair, but a statement? */
static inline bool usk_is_stated(const struct usk_work *w, uint32_t pair)
{
	return pair >= w->p->n_pairs && pair != UINT32_MAX;
}
/** How many of all points may become edges, so that events are not too many; USK_ALL: all. */
#define USK_ALL 1000000
usk_i128 usk_messages_share(const struct usk_work *w);
void usk_source_messages(const struct usk_work *w, struct usk_constraints *out);
void usk_source_more(const struct usk_work *w, struct usk_constraints *out);
void usk_source_likely(const struct usk_work *w, struct usk_constraints *out);
void usk_source_stated(const struct usk_work *w, struct usk_constraints *out);

/** Events, cells and runs of the island. */
void usk_build(struct usk_work *w);
/** Cells anew, from breaks and runs. */
void usk_build_cells(struct usk_work *w);
/** Events and all that is known of them, to build others. */
void usk_build_forget(struct usk_work *w);
void usk_build_free(struct usk_work *w);
/** The first event of a clock whose stamp is over x; the first of the next clock: none is. */
uint32_t usk_event_behind(const struct usk_work *w, uint32_t k, usk_i128 x);

/* ---- moments.c ----------------------------------------------------------------------------------
 */

/* Ticks that lie within what is seen of a clock, by number; moments are halved so often for one
 * that is seen for a part of the time. */
struct usk_ticks_of {
	uint64_t begin, end;
	unsigned finer;
};
enum { USK_FINEST = 40 }; /* no more often */

/** What clocks show when: w->rough, w->ticks, as many as there is room for among so many edges. */
void usk_moments(struct usk_work *w, size_t edges);
struct usk_ticks_of usk_ticks_of(const struct usk_work *w, uint32_t k);
/** The n-th stamp of clock k at moments that were halved so often. */
int64_t usk_tick_at(const struct usk_work *w, uint32_t k, unsigned finer, uint64_t n);
/** All events in their approximate order of time: w->order. */
void usk_moments_order(struct usk_work *w);

/* ---- propagate.c --------------------------------------------------------------------------------
 */

/** Nothing is known but the reference. */
void usk_bounds_reset(struct usk_work *w);
/** Shortest and longest paths: false if an event's lo is over its hi, which is w->crossed. */
bool usk_propagate(struct usk_work *w);

/* The same again and again while others narrow bounds and rates: what did not change since is not
 * looked at. */
struct usk_sweeps;

/** All is to do. Ends before events do. */
struct usk_sweeps *usk_sweeps_begin(struct usk_work *w);
void usk_sweeps_end(struct usk_sweeps *s);
/** All is to do once more, without what pairs say. */
void usk_sweeps_all(struct usk_sweeps *s);
/** As usk_propagate(). */
bool usk_sweeps_run(struct usk_sweeps *s);
/** Bounds of an event were narrowed. Several threads may say so, each of events of its own. */
void usk_sweeps_touch(struct usk_sweeps *s, uint32_t i);
/** w->pairwise was found: its events become places. */
void usk_sweeps_pairs(struct usk_sweeps *s);
/** Slopes of these runs were narrowed. */
void usk_sweeps_runs(struct usk_sweeps *s, const bool *changed);
/* Bounds of a clock, or its rates, changed since this was cleared: who looks at them clears its bit
 * before. */
enum { USK_NEWS_TO_RATES = 1, USK_NEWS_TO_CASES = 2, USK_NEWS_TO_ALL = 3 };
uint8_t *usk_sweeps_news(struct usk_sweeps *s, uint32_t k);
/** Slow and fast from least, most and wander. */
void usk_run_slopes(const struct usk_work *w, struct usk_run *r);

/** By how much T rises at least, at most over the cell behind event i; false: any. */
bool usk_cell_least(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise);
bool usk_cell_most(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise);
/** The same but for its slack, and that. */
bool usk_cell_least_going(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise);
bool usk_cell_most_going(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise);
struct usk_slack usk_slack_of(const struct usk_work *w, uint32_t i);
/** w->in_order, from cells. */
void usk_in_order(struct usk_work *w);
/** What events that are in order with one say of it, but for its clock's time between, where stamps may have been shown
 * twice: its lower bound in e12 or, upper, its upper one. false: nothing. */
bool usk_in_order_says(const struct usk_work *w, uint32_t i, bool upper, usk_i128 *bound);
/** By how much it may fall over a cell of d ns as stamps may have been shown twice. */
static inline int64_t usk_slack_twice(const struct usk_slack *s, uint64_t d)
{
	return d <= (uint64_t)s->twice_ns ? s->twice_ns : 0;
}
/** Over how many ns of it T need not rise at all, where it rises at a rate behind these; 0: there are none. */
usk_i128 usk_cell_flat(const struct usk_work *w, uint32_t i);
/** By how much T rises at least from the first end of a fold to stamp x in it; false: it may fall. */
bool usk_fold_from_first(const struct usk_work *w, const struct usk_fold *f, int64_t x,
			 usk_i128 *rise);
/** The same from stamp x to the last one. */
bool usk_fold_to_last(const struct usk_work *w, const struct usk_fold *f, int64_t x,
		      usk_i128 *rise);
/** May T do more in it than go on at some rate? */
static inline bool usk_cell_jumps(struct usk_cell c)
{
	return c.lower > USK_FAST || c.upper > USK_FAST || c.slack;
}

/** Does T rise in it by no less, or (upper) by no more, than at the clock's rate? */
static inline bool usk_cell_keeps(struct usk_cell c, bool upper)
{
	return (upper ? c.upper : c.lower) == USK_CALM && !c.slack;
}

/** Is its rate the clock's? */
static inline bool usk_cell_calm(struct usk_cell c)
{
	return usk_cell_keeps(c, false) && usk_cell_keeps(c, true) && !c.folded;
}

/* ---- rates.c ------------------------------------------------------------------------------------
 */

/** Bounds and rates by turns until nothing moves much; split: by cases, too. false as
 * usk_propagate(). */
bool usk_solve_bounds(struct usk_work *w, bool split);

/* Two events of a run. */
struct usk_chord {
	uint32_t from, to;
};
/** Of w->torn, up to the first event at which no rate is left and from the last one from which none is: the chord that says
 * how fast it is at least, from a hi to a lo, and the one that says how fast at most, from a lo to a hi; both ends if there
 * is none. O(events). */
void usk_rates_torn(const struct usk_work *w, struct usk_chord chord[2]);

/** The same for a run by itself: clock 0 of w, whose cells are calm; by as many cases as there are
 * for so many events. false: it contradicts. */
bool usk_bounds_alone(struct usk_work *w, uint32_t events);

/* ---- pairwise.c ---------------------------------------------------------------------------------
 */

/** What pairs say by their own rates of their clocks at one moment: w->pairwise, moment by moment, of
 * each from the reference outwards. */
void usk_pairwise_find(struct usk_work *w);

/* ---- straight.c ---------------------------------------------------------------------------------
 */

enum usk_straight_answer {
	USK_STRAIGHT_DONE,
	USK_STRAIGHT_CONTRADICTED, /* no lines fit: w->torn */
	USK_STRAIGHT_NONE,	   /* no solver, or its answer could not be proved */
};

/** Are all clocks of constant rate, few, and nothing broken? */
bool usk_straight_applies(const struct usk_work *w);
/** Lines of the clocks that are bounded, w->straight: narrows their bounds and rates. */
enum usk_straight_answer usk_straight_solve(struct usk_work *w);
/** t_ns of events that lie on a line; takes a pair's from t_ns. */
void usk_straight_wish(struct usk_work *w);
/** Forgets lines that t_ns had to leave. */
void usk_straight_settled(struct usk_work *w);
void usk_straight_forget(struct usk_work *w);
/** All lines that fit a pair by itself; usk_lines_free() it. */
struct usk_lines *usk_straight_pair(const struct usk_part *p, int64_t max_skew_e12);
static inline bool usk_is_straight(const struct usk_work *w, uint32_t k)
{
	return w->straight && (w->straight[k].n[0] || w->straight[k].n[1]);
}

/* ---- blame.c ------------------------------------------------------------------------------------
 */

/** Whose brackets were: may_be of each; breaks in all clocks where it may be the reference's. Needs
 * events, and spoils bounds. */
void usk_blame(struct usk_work *w);

/* ---- conflict.c ---------------------------------------------------------------------------------
 */

/** What each tied pair shows by itself: w->calm. */
void usk_conflict_look(struct usk_work *w);
/** Does nothing explain a pair? */
bool usk_conflict_contradicted(const struct usk_work *w, size_t pair);
/** The reference; what pairs show against it, and records: breaks. Wanders of clocks. */
void usk_conflict_begin(struct usk_work *w);
/** How many of a pair's clocks may wander against the reference. */
int usk_may_wander(const struct usk_work *w, const struct usk_graph_pair *p);
/** What each clock may have done in a bracket of known size; O(n log n), and by pairs of brackets that a clock has at one time. */
void usk_beside(struct usk_work *w);
/** A bracket with the size that it may have been of clock k, unknown if other pairs leave it open. */
struct usk_bracket usk_seen_of(const struct usk_seen *s, uint32_t k);
/** One more break; none of the reference's own. */
void usk_break_add(struct usk_work *w, struct usk_break b);
/** The break of a bracket, by its number, of a clock whose T rose in it or fell. */
struct usk_break usk_break_of(const struct usk_bracket *x, bool rises, uint32_t number);
/** The same of the slew that it may have been. */
struct usk_break usk_slew_of(const struct usk_bracket *x, bool rises, uint32_t number);
/** By where they begin, so that few are asked whether they overlap. */
void usk_seen_sort(const struct usk_work *w, struct usk_seen_order *o);
/** The next one of an order that may overlap s, from *at on, which is its n at first, of those that blame placed; NULL:
 * there is no more. */
const struct usk_seen *usk_seen_near(const struct usk_work *w, const struct usk_seen_order *o,
				     const struct usk_seen *s, size_t *at);
/** May both have been at one time? */
bool usk_seen_overlap(const struct usk_seen *s, const struct usk_seen *t);
/** Do two brackets of a clock say that it was set by as much at one time? What is unknown of either says nothing. */
bool usk_seen_alike(const struct usk_work *w, const struct usk_seen *s, const struct usk_seen *t,
		    uint32_t k);
/** Is the size of a step known? */
bool usk_seen_sized(const struct usk_seen *s);
/** Is it known where it begins, and where it ends? */
bool usk_seen_placed(const struct usk_seen *s);
/** By how much a clock jumped that was set in a bracket, another pair may say otherwise: time that it skips, or shows
 * twice, passes by its own stamps, at no rate that it ever had. */
usk_i128 usk_seen_told_apart(const struct usk_work *w, const struct usk_seen *s);
/** By so much a clock may have been set in a bracket, either way. */
int64_t usk_bracket_farthest(const struct usk_bracket *b);
/** By so much stamps of a or b may fall in it, as those of before and behind are mixed. */
int64_t usk_bracket_mixed(const struct usk_bracket *b, bool of_b);
/** By so much a or b may have been set back in it. */
int64_t usk_bracket_set_back(const struct usk_bracket *b, bool of_b);
/** Is a clock one of the pair; did its T rise, if it was that clock's; was the reference set back, if
 * it was the one? */
bool usk_seen_has(const struct usk_seen *s, uint32_t k);
bool usk_seen_rises_for(const struct usk_seen *s, uint32_t k);
bool usk_seen_sets_back(const struct usk_work *w, const struct usk_seen *s);
/** Between which times of the reference, e12, it happened if k of its clocks did it, by bounds as they are. */
void usk_seen_place(const struct usk_work *w, const struct usk_seen *s, const struct usk_within *at,
		    uint32_t k, usk_i128 *from, usk_i128 *to);
/** The same of the bracket itself. */
void usk_seen_done_by(const struct usk_work *w, const struct usk_seen *s, uint32_t k,
		      usk_i128 *from, usk_i128 *to);
/** From now on no clock's rate counts: no message is received before it is sent, and no clock's time falls. */
void usk_order_alone(struct usk_work *w);
/** Bounds by order alone. */
void usk_bound_by_order(struct usk_work *w);

/* ---- others.c -----------------------------------------------------------------------------------
 */

/* What other pairs of a bracket's clocks say of it. */
struct usk_others;

/** Once brackets are placed. O(n log n) of them. */
struct usk_others *usk_others_begin(const struct usk_work *w);
void usk_others_end(const struct usk_work *w, struct usk_others *o);
/** By how much clock k was set in it at most, as they do not show it; USK_NONE: they need not have. */
int64_t usk_others_hide(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
			uint32_t k);
/** Does pair i of clock k deny that it was this clock's, unless its other one was set as well? The size is known. */
bool usk_others_deny(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
		     uint32_t k, size_t i);
/**
 * How many more other pairs of the clock say that it was this one's than that it was not, by their
 * fastest messages of both directions: nearer to what was seen or to nothing. Where one direction
 * says this and the other one that they do not tell: by the mean of both a single message that was
 * slow would.
 */
int usk_others_vote(const struct usk_work *w, struct usk_others *o, const struct usk_seen *s,
		    uint32_t k);

/* ---- alike.c ------------------------------------------------------------------------------------
 */

/** Breaks of clocks that may have been set together with one that a pair shows, once brackets are placed. */
void usk_break_alike(struct usk_work *w);

/* ---- reference.c --------------------------------------------------------------------------------
 */

/** A break of b.clock, if it was set, by up to far, between two times of the reference, ±USK_INF: unknown. Bounds by order
 * alone say where. */
void usk_break_between(struct usk_work *w, usk_i128 from, usk_i128 to, int64_t far,
		       struct usk_break b);
/** Breaks of all clocks but `except` and the reference, where this may have been set by up to far
 * between two of its times. */
void usk_break_everyone(struct usk_work *w, uint32_t except, usk_i128 from, usk_i128 to,
			int64_t far, struct usk_break b);
/** The same wherever it may have been, once brackets are placed; and what is certain of messages that
 * were in flight when it was set back. */
void usk_break_by_reference(struct usk_work *w);

/* ---- under_way.c --------------------------------------------------------------------------------
 */

/* What is asked of bounds by order for every bracket alike. */
struct usk_under_way;

struct usk_under_way *usk_under_way_begin(const struct usk_work *w);
/* In stamps of a clock. */
struct usk_when {
	usk_i128 from, to;
};

/* The reference may have been set back, by up to far_ns. */
struct usk_fell_back {
	int64_t far_ns;
	usk_i128 from;	     /* not before this, by the reference, e12 */
	struct usk_when own; /* of the reference */
	uint32_t other;	     /* who showed it; USK_NO_CLOCK: a cycle */
	struct usk_when others;
	uint32_t bracket; /* what showed it, of usk_work.seen; UINT32_MAX: a cycle */
	int64_t flight_ns; /* what may have been under way over several such steps was so no longer */
	size_t first_break,
		end_break; /* breaks of other clocks by it; the end is found where it is noted */
};

/** Messages may have been under way meanwhile. */
void usk_under_way_note(const struct usk_work *w, const struct usk_fell_back *s,
			struct usk_under_way *u);
/** Bounds rest on as much of them as is certain: w->weak. Frees it; NULL is none. For each time that the reference may have
 * been set back O(clocks + breaks + what may have been under way). */
void usk_under_way_end(struct usk_work *w, struct usk_under_way *u);
/** Of the message that an event is an end of; NULL: it was not under way then. */
struct usk_weak *usk_weak_of(const struct usk_work *w, uint32_t i);

/* ---- late.c -------------------------------------------------------------------------------------
 */

/** Breaks where records may be late: where messages rule that out T does not fall. */
void usk_late_decide(struct usk_work *w);

/* ---- cycles.c -----------------------------------------------------------------------------------
 */

/** Leaves out the edge that an event is an end of; false: it has none. */
bool usk_cycle_leave_out(struct usk_work *w, uint32_t i);
/** Bounds cross at w->crossed, or w->torn has no rate left: take back what cannot be true. false:
 * nothing is left to try, w->suspect. */
bool usk_cycle_repair(struct usk_work *w);
/** Bounds that exclude a message whose stamps are likely so: if they are so, something happened
 * that no other message shows, so its cycle is broken as any other. false: there are none. */
bool usk_cycle_doubt(struct usk_work *w);

/* ---- set_back.c ---------------------------------------------------------------------------------
 */

/** By how much a clock was set back at most, if it was between two of its stamps and no other way meanwhile; USK_NONE:
 * nothing tells. Of the reference the others tell, of each other clock its own events. After usk_order_alone(); bounds of
 * all events are computed anew, and are other ones for each clock that is asked about. Costs one usk_propagate(), and
 * O(clocks + events + breaks) as often as the answer can be halved. */
int64_t usk_set_back_most(struct usk_work *w, uint32_t k, int64_t from_ns, int64_t to_ns);
/** The same of the reference, forward, by the bounds that usk_set_back_most() of it left: no stamp is shown twice then. */
int64_t usk_set_forward_most(const struct usk_work *w, int64_t from_ns, int64_t to_ns);

/* ---- fill.c -------------------------------------------------------------------------------------
 */

/** Bounds in whole ns where only the order of stamps says them, which w->filled then tells: w->lo_ns, w->hi_ns. */
void usk_fill(struct usk_work *w);

/* ---- fallings.c ---------------------------------------------------------------------------------
 */

/** w->falls, by breaks. */
void usk_fallings_of(struct usk_work *w);
/** By how much T of clock k may have fallen from stamp a to stamp b, in order; twice: as only one time that
 * either was shown is known, too. O(log n) of where it may fall, if these reach little into each other. */
usk_i128 usk_fell(const struct usk_work *w, uint32_t k, int64_t a, int64_t b, bool twice);
void usk_fallings_free(struct usk_work *w);

/* ---- estimate.c ---------------------------------------------------------------------------------
 */

/** t_ns of every event whose bounds are known; frees lo and hi. */
void usk_estimate(struct usk_work *w);

/* ---- settle.c -----------------------------------------------------------------------------------
 */

/** What an edge's receiver is to be late by more than bounds ask, ns, as it rounds its stamps. */
int64_t usk_edge_spare(const struct usk_work *w, uint32_t i);
/** The other end of an event's wish; USK_NO_EVENT: it has none. */
uint32_t usk_wish_end(const struct usk_work *w, uint32_t i);
/** By how much that wish's receiver may be early, ns. */
int64_t usk_wish_slack(const struct usk_work *w, uint32_t i);
/** The least that event i is raised to (down: the most it is lowered to) by its neighbours and its
 * message's other end, as t says of them; wishes: within its bounds by what is wished of it, too.
 */
int64_t usk_settled(const struct usk_work *w, const int64_t *t, uint32_t i, bool down, bool wishes);
/** Raises `up`, to no more than `most` if that is not NULL, and lowers `down`: no message is turned
 * round then, T never falls, and rates are possible. USK_NONE stays. */
void usk_settle_both(const struct usk_work *w, int64_t *up, const int64_t *most, int64_t *down,
		     const int64_t *least);

/* ---- repeated.c ---------------------------------------------------------------------------------
 */

/** Solutions in order that may cross, where stamps may have been shown twice. false: they do not.
 * Else they become intervals that T rises through at each clock, and that order keeps to. */
bool usk_repeated(const struct usk_work *w, int64_t *lo, int64_t *hi);

/* ---- ends.c -------------------------------------------------------------------------------------
 */

/** t_ns of events that are bounded on one side, of clocks that have others too. */
void usk_estimate_ends(struct usk_work *w);

/* ---- publish.c ----------------------------------------------------------------------------------
 */

/** Quality, knots, jumps, stretches, slopes of the island's clocks. */
void usk_publish(struct usk_work *w);

/* ---- written.c ----------------------------------------------------------------------------------
 */

/* Constraints that are found by looking at what is written. */
struct usk_more {
	struct usk_msg *msg;
	size_t n, cap;
};

/** Adds points of pairs that knots put out of order, or messages; false: there are none that were
 * not in more yet, which is sorted. */
bool usk_written_points(const struct usk_clocks *c, const struct usk_graph_problem *p,
			struct usk_more *more);
bool usk_written_messages(const struct usk_clocks *c, const struct usk_msg *msg, size_t n,
			  struct usk_more *more);

/* ---- paths.c ------------------------------------------------------------------------------------
 */

/* The path from the reference to a clock. */
struct usk_path {
	bool reached;
	uint32_t from, pair; /* last step; USK_NO_CLOCK, UINT32_MAX at the reference */
	uint32_t hops;
};

/* What ties a clock to another one. */
struct usk_arc {
	uint32_t to, pair; /* UINT32_MAX: a statement */
	bool one_way;
	int64_t width_ns;
};

/* Those of clock k are arc[first[k]] to arc[first[k + 1]]. */
struct usk_arcs {
	size_t *first;
	struct usk_arc *arc;
};

/** usk_arcs_free() them. Distances are measured. */
struct usk_arcs usk_arcs_of(const struct usk_work *w);
void usk_arcs_free(struct usk_arcs *g);
/** How far the clocks of each pair are from each other: w->distance. Before all else. */
void usk_paths_measure(struct usk_work *w);
/** Clocks of the island by hops, then by number; those that no way leads to last. To be freed. */
uint32_t *usk_paths_outwards(const struct usk_work *w, const struct usk_path *path);
/** The reference that was asked for, or the clock that is nearest to all others. */
uint32_t usk_paths_reference(const struct usk_work *w);
/** Paths to all clocks of the island: path[all clocks]. */
void usk_paths_of(const struct usk_work *w, uint32_t from, struct usk_path *path);

/** As many as may share the work; for few events one is done before others have begun. */
static inline unsigned usk_threads(const struct usk_work *w)
{
	enum { FEW = 4096 };
	return w->n < FEW ? 1 : w->p->threads;
}

static inline usk_i128 usk_e12(int64_t ns)
{
	return (usk_i128)ns * USK_E12;
}

/** By how much brackets show that T rises, or falls, in all: those that ended before a cell, in e12. */
static inline usk_i128 usk_slack_ended(const struct usk_slack *s, bool rises)
{
	return (rises ? s->ended_rise_ns : s->ended_fall_ns) * USK_E12;
}

/** Those that began before its end. */
static inline usk_i128 usk_slack_began(const struct usk_slack *s, bool rises)
{
	return usk_slack_ended(s, rises) + usk_e12(rises ? s->rise_ns : s->fall_ns);
}

#endif
