/* SPDX-License-Identifier: MIT */
/*
 * match.h - the matching stage: two captures -> messages, in two passes
 *
 * Pass 1 (survey) reads each capture once: a sample by key hash, its own addresses, the grid of
 * its stamps. Two surveys join into a coarse map between the two clocks. Pass 2 (walk) reads
 * both captures in step along that map and pairs every packet within a window.
 */
#ifndef USK_MATCH_H
#define USK_MATCH_H

#include "base/answer.h"
#include "base/base.h"
#include "read/trace.h"

/* ---- clocks that were set back while they recorded, seen in the order of records alone ---- */

/*
 * From then on its stamps repeat: a new epoch. A shift per epoch makes them unwrapped time;
 * all that follows works on that, and never meets a stamp twice.
 */

/* By less stamps are out of order without a clock having been set back. */
#define USK_LEAST_FALL INT64_C(1000000)

/* Where an epoch begins, but the first. */
struct usk_epoch {
	uint64_t record;	     /* its first, counted from 0 */
	int64_t before_ns, after_ns; /* as recorded: the highest stamp before, its first one */
	int64_t lowest_ns;	     /* of all records before */
	int64_t shift_ns;	     /* unwrapped = recorded + shift */
};

struct usk_epochs {
	struct usk_epoch *epoch;
	size_t n;
};

/* Between two epochs on unwrapped time. How long it was nobody knows; it is room for records
 * that come a little late. */
#define USK_EPOCH_GAP_NS INT64_C(100000000)

/* Where stamps fall. A clock may have been set back there, or records are late. */
struct usk_drop {
	uint64_t record; /* the first below, counted from 0 */
	uint64_t at;	 /* its number in the whole trace, of which this may be a part */
	int64_t from_ns, to_ns;
};

struct usk_drops {
	struct usk_drop *drop;
	size_t n;
	size_t least; /* once there is no room for more */
};

/* Records, rising, at which something else tells that the clock was set back. all: and no others, but for falls that
 * no late record explains. */
struct usk_told {
	uint64_t *record;
	size_t n;
	bool all;
};

/* What has been seen of a trace so far. Zeroed is begun. */
struct usk_epoch_watch {
	struct usk_told told; /* borrowed */
	size_t n_told;
	uint64_t at; /* the next record's number in the whole trace */
	struct usk_drops drops;
	uint64_t low_record; /* the last one below the highest or of a fall, counted from 1 */
	int64_t reached;     /* the highest since stamps fell */
	struct usk_epochs found;
	size_t cap;
	uint64_t n; /* records */
	int64_t highest, lowest;
	/* The widest step forward among the last records: from where, by how much, when. */
	int64_t leap_from, leap_ns;
	uint64_t leap_record;
	struct usk_fall {
		uint64_t n; /* records since; 0: there is none */
		uint64_t record;
		int64_t from, to, reached, widest, lowest;
	} fall;
	/* Falls of the epoch that no later one exceeds, the last at the end: so each is larger than
	 * those behind it. at: the highest stamp then. */
	struct {
		int64_t at, size;
	} fell[64];
	size_t n_fell;
	bool doubtful; /* the last epoch is none if the like happens again soon */
};

void usk_epoch_out_of_order(struct usk_epoch_watch *w, int64_t t);

/* A stamp that is ahead of all others by that much stands for no time if so few follow it. */
#define USK_EPOCH_AHEAD 16

/** The next record's stamp, in the order of the trace; |t| <= USK_TIME_MAX. */
static inline void usk_epoch_note(struct usk_epoch_watch *w, int64_t t)
{
	if (!w->n++) {
		w->highest = w->lowest = t;
	}
	if (t < w->highest || w->fall.n) {
		usk_epoch_out_of_order(w, t);
		return;
	}
	if (t - w->highest > w->leap_ns || w->n - w->leap_record > USK_EPOCH_AHEAD) {
		w->leap_from = w->highest;
		w->leap_ns = t - w->highest;
		w->leap_record = w->n;
	}
	w->highest = t;
}

/** At the end of the trace: both are handed over. Of drops those of at least USK_LEAST_FALL, the largest. */
void usk_epoch_finish(struct usk_epoch_watch *w, struct usk_epochs *out, struct usk_drops *drops);
void usk_epochs_free(struct usk_epochs *e);

/* ---- rows.c: the same of clocks that tables name, told from the order of rows -------------- */

struct row_watch;
struct row_order;

/* Clocks by number, and what a sequence of rows tells of them. Zeroed is begun. */
struct usk_rows {
	struct usk_row_clock {
		struct row_watch *watch; /* while rows are noted */
		bool noted;		 /* it has rows */
		/* Others tell this clock's epochs: rows have those if their order shows the same
		 * ones, else none. */
		bool told;
		struct usk_epochs known;
		struct usk_epochs epochs; /* records are stamps in the column that rows are by */
		int64_t *own;		  /* these stamps */
		size_t n_own, own_cap;
		int64_t lag_ns;	 /* the other column's are so far from these at most */
		int64_t sure_ns; /* those that can be of one epoch alone */
	} * clock;
	size_t n, cap;
	int by;			 /* rows were written when 0 sent, 1 received */
	bool fell;		 /* a clock fell and stayed there; it may have been set back */
	struct row_order *order; /* while rows are noted */
};

/* How far a clock's rows have come. Zeroed is the start. */
struct usk_row_place {
	uint64_t record; /* stamps in the column that rows were written by */
	size_t epoch;
	int64_t last, began;	 /* of these, the last, and the epoch's first */
	int64_t lag_ns, sure_ns; /* of the other column, the most */
};

/** The next row. */
void usk_rows_note(struct usk_rows *r, const struct usk_msg *m);
/** Before usk_rows_found(): others tell the epochs of a clock that was noted; they are copied. */
void usk_rows_told(struct usk_rows *r, uint32_t clock, const struct usk_epochs *known);
/** After the last one: has any clock epochs? */
bool usk_rows_found(struct usk_rows *r);
/** The rows again, from the first: stamps of clocks that have, in the column that rows are by. */
void usk_rows_own(struct usk_rows *r, const struct usk_msg *m);
/** Once more, from the first: the epochs of a message's two stamps, of two clocks, and those
 * that are likely. place[r->n] is zeroed at the first, and has room for all clocks that m names. */
void usk_rows_place(const struct usk_rows *r, struct usk_row_place *place, const struct usk_msg *m,
		    size_t epoch[2], size_t likely[2]);
/** After the last one: how long messages are under way, so that stamps that may be of several
 * epochs are of the one that says least, from now on. */
void usk_rows_lags(struct usk_rows *r, const struct usk_row_place *place);
/** Clock i is now[i] from here on, of n. */
void usk_rows_renumber(struct usk_rows *r, const uint32_t *now, size_t n);
void usk_rows_free(struct usk_rows *r);

/** The shift of a record; *at is where the last one was, 0 at the start of the trace. */
static inline int64_t usk_epoch_shift(const struct usk_epochs *e, uint64_t record, size_t *at)
{
	while (*at < e->n && e->epoch[*at].record <= record) {
		++*at;
	}
	return *at ? e->epoch[*at - 1].shift_ns : 0;
}

/* A trace being read from its start: how far it has come. Zeroed is the start. */
struct usk_epoch_place {
	uint64_t record;
	size_t at;
};

/** The epoch of unwrapped time: 0, or 1 + an index into e->epoch. */
size_t usk_epoch_of(const struct usk_epochs *e, int64_t running_ns);
/**
 * The next record of the trace: its stamp, unwrapped. False: to a time of another epoch, as it is
 * out of order by more than there is room for, and nobody could tell any more what was recorded.
 */
static inline bool usk_epochs_run_on(const struct usk_epochs *e, struct usk_epoch_place *place,
				     struct usk_record *r)
{
	if (!e->n) {
		return true;
	}
	r->time_ns += usk_epoch_shift(e, place->record++, &place->at);
	return usk_epoch_of(e, r->time_ns) == place->at;
}

/** As recorded. */
int64_t usk_epoch_recorded(const struct usk_epochs *e, int64_t running_ns);
/** Are these falls of some stamps of a clock all those that it is known for? */
bool usk_epochs_agree(const struct usk_epochs *e, const struct usk_epochs *known);
void usk_epochs_copy(const struct usk_epochs *e, struct usk_epochs *out);

/* ---- alone.c: stamps of such a clock whose order is not known ------------------------------- */

struct usk_alone;

/* An epoch may go on, or have begun, by so many times of what a fall is known to be. */
enum { USK_ALONE_REACH = 8 };

struct usk_alone *usk_alone_new(const struct usk_epochs *e);
void usk_alone_free(struct usk_alone *x);
/** The one epoch that can have shown this stamp; SIZE_MAX: several can. O(log epochs). */
size_t usk_alone_epoch(const struct usk_alone *x, int64_t t);

/* ---- pass 1 ---- */

#define USK_SAMPLES    ((size_t)1 << 16)
#define USK_MOST_PARTS UINT16_MAX

/* One sampled packet. */
struct usk_sample {
	uint64_t key, pick;
	uint64_t record : 40; /* its number in the trace */
	uint64_t part : 16;   /* of a joined trace: the file; USK_MOST_PARTS: of one beyond */
	uint64_t device : 8;  /* usk_device() */
	int64_t time_ns;
	uint32_t way : 30; /* from where to where: index into ways */
	uint32_t side : 2;
	uint16_t ip_id;
	uint8_t has, ttl;
};

/** Where a record was captured: a number from 1 to 64, which several devices may share; 0: the file
 * does not tell. */
uint8_t usk_device(const struct usk_record *r, const struct usk_iface *iface, size_t n_ifaces);

/* A host that forwards has a packet on every interface that it passes within this time. */
#define USK_FORWARDED_NS INT64_C(10000000)

struct usk_ends {
	struct usk_addr src, dst;
	bool group; /* to all, or to many */
};

/** Neither multicast, broadcast, unspecified nor link-local: an address that says who one is. */
bool usk_addr_is_unicast(struct usk_addr a);

/** To all or to many, by its address or by its link layer: broadcasts of a subnet. */
static inline bool usk_is_group(const struct usk_packet *p)
{
	return p->has & USK_HAS_GROUP || !usk_addr_is_unicast(p->dst);
}

static inline bool usk_addr_is_v4(struct usk_addr a)
{
	return a.hi == 0 && a.lo >> 32 == 0xffff;
}

static inline bool usk_addr_is_multicast(struct usk_addr a)
{
	return usk_addr_is_v4(a) ? a.lo >> 28 == 0xffff0 + 14 : a.hi >> 56 == 0xff;
}

static inline bool usk_addr_among(struct usk_addr a, const struct usk_addr *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (usk_addr_same(list[i], a)) {
			return true;
		}
	}
	return false;
}

/* What repeated sightings of packets say of a capture. */
struct usk_passing {
	bool several; /* seen with different hop counts, or coming and going: vantage points */
	bool bridged; /* coming and going with hops as they were: those who come may go on */
	/* Packets that were seen once; and those that their IP-ID or another device shows to have
	 * been seen once more, coming or going as before: on all members of a bond, or a device and
	 * what it is stacked on. */
	uint64_t once, again;
};

/* What one reading of a capture tells. Its stamps, and the samples', are on unwrapped time. */
struct usk_survey {
	struct usk_epochs epochs;
	struct usk_drops drops; /* epochs among them */
	struct usk_sample *sample;
	size_t n_samples;
	size_t n_sampled;     /* the same, where samples themselves are at another rank, too */
	struct usk_ends *way; /* of the samples */
	size_t n_ways;
	uint64_t records, packets;
	struct usk_passing passing; /* set by who compares the samples */
	int64_t first_ns, last_ns;  /* smallest and largest stamp; meaningless if no records */
	struct usk_grid grid;	    /* of all of them */
	struct usk_counts left_out;
	/* Packets of link types that cannot be read, and the first of these. */
	uint64_t n_foreign;
	uint16_t foreign;
	/* Addresses that end every unicast packet, of IPv6 [0] and of IPv4 [1]. */
	struct usk_common {
		struct usk_addr addr[2];
		size_t n;
		bool begun; /* there was such a packet */
	} common[2];
	/* Of a joined trace: the files that it is of. */
	struct usk_survey_part {
		struct usk_epochs
			epochs; /* by the order of its own records, which are counted from 0 */
		struct usk_drops drops;
		uint64_t first, records; /* the first one's number in the trace; how many */
		int64_t first_ns;	 /* its stamp */
		/* usk_survey_begins(): the epochs of its records, and with which of them they begin. */
		struct usk_survey_begin {
			size_t epoch;
			uint64_t record;
		} * begin;
		size_t n_begins, cap_begins;
	} * part;
	size_t n_parts;
};

/**
 * The addresses that are surely mine: the one of a family that ends every unicast packet of my
 * capture and not of the other's. Where both captures hold one conversation only, nobody can say
 * (behind NAT, the peer's address too would stand in one capture alone). *guess: mine does, or the
 * other one has no such address: as mine may be filtered, either may be on the way. Returns how
 * many.
 */
size_t usk_survey_own(const struct usk_survey *mine, const struct usk_survey *other,
		      struct usk_addr own[2], bool *guess);

/** Read trace from its start to its end. depth: see usk_packet_decode(). told: of the trace, then of each
 * of its parts; NULL: nothing is. */
enum usk_status usk_survey_capture(struct usk_trace *t, struct usk_depth depth,
				   const struct usk_told *told,
				   void (*progress)(void *ctx, uint64_t bytes), void *ctx,
				   struct usk_survey *out, struct usk_err *err);
/** Read it once more: where epochs begin in each part. */
enum usk_status usk_survey_begins(struct usk_trace *t, struct usk_survey *s, struct usk_err *err);
/* What is kept of a sample. Zeroed at first. */
struct usk_sampler {
	size_t cap;
	uint64_t mask; /* those whose pick is 0 under it */
};
/** Room for one more, which the caller fills; NULL: it is none of those that are kept. */
struct usk_sample *usk_survey_sample(struct usk_survey *s, struct usk_sampler *sampler,
				     uint64_t pick);
/** Samples of one key, n > 1 of them, by their numbers: do they tell that packets pass by here? */
void usk_survey_passing(struct usk_survey *s, const uint32_t *sample, size_t n);
/** Its epochs become these, of the same records: unwrapped time is others now. */
void usk_survey_epochs(struct usk_survey *s, const struct usk_epochs *e);
void usk_survey_free(struct usk_survey *s);

/* Two stamps of one moment, nearly: a message, or one packet seen twice. */
struct usk_sighting {
	int64_t p_ns, q_ns;
	uint32_t way; /* p's */
	uint8_t ttl_p, ttl_q;
	/* Hosts that forward saw it for so long in all, in units of USK_SPAN_NS, rounded up: these
	 * are their first stamps. */
	uint16_t span : 15;
	uint16_t other : 1; /* the two have not the same IP-ID */
};

#define USK_SPAN_NS 2000

/* ---- seen.c: what two clocks showed when the same packets passed, in the order of one of them ---- */

struct usk_seen {
	int64_t p_ns, q_ns;
	uint32_t part;	 /* whose order is known: p's files, for example */
	uint32_t with;	 /* packets of one conversation; back: in one of its directions */
	uint32_t number; /* the caller's */
	bool back;
};

/** Keeps those that agree with a neighbour of their part, and returns how many are left. *ways: by how
 * much ways differ, as a rule. O(n log n). */
size_t usk_seen_agreeing(struct usk_seen *s, size_t n, int64_t *ways);
/** The first at which p is below what it showed in another part, as one of the clocks was set.
 * Conversations tell, whose packets go both ways. SIZE_MAX: none. O(n log n). */
size_t usk_seen_fall(const struct usk_seen *s, size_t n);
/** Of messages whose senders are known, p's if not back, in the order of q_ns: one of the clocks was set back,
 * as messages came to q before others were sent there, and p sent them after those had come. O(n). */
bool usk_seen_contradict(const struct usk_seen *s, size_t n);

/* ---- lamport.c: an order of time through all sends and receipts -------------------------------- */

/* Zeroed has no messages. */
struct usk_lamport {
	struct lamport_event *event;
	size_t n, cap;
};

void usk_lamport_message(struct usk_lamport *x, uint32_t from, int64_t sent_ns, uint32_t to,
			 int64_t received_ns);
/** Of how many sends and receipts the order of time would go round; left[n_clocks] counts them by clock, too.
 * late_ns[n_clocks]: a clock's stamps that are no further apart may be of either order. O(n log n). */
size_t usk_lamport_left(struct usk_lamport *x, size_t n_clocks, const int64_t *late_ns,
			size_t *left);
void usk_lamport_free(struct usk_lamport *x);

/* Matching waits for sightings that lie no further off the map; where some in a row do the map goes there. */
#define USK_COARSE_FOLLOWS_NS INT64_C(1000000000)
/* Those of one step differ by no more, as delays do. */
#define USK_COARSE_AGREES_NS (USK_COARSE_FOLLOWS_NS / 4)

/*
 * How q's clock runs against p's, roughly: knots of medians, a straight line between them, the
 * outer offsets beyond. Steps and slews of either clock are followed.
 */
struct usk_coarse {
	struct usk_coarse_knot {
		int64_t q_ns;
		int64_t p_minus_q_ns;
		double slope; /* of p - q up to the next knot */
	} * knot;
	size_t n_knots;
	size_t joins;
	double rate;	   /* robust slope of p - q against q */
	int64_t spread_ns; /* how far joins lie from the map: delays, and the map's own error */
	/* So many joins of both directions agree, and stand between others that say else: one of the clocks was set, and
	 * by its stamps it is of two times at once. */
	size_t astray;
	bool ip_id_kept;	   /* IP-ID survives the way between the two vantage points */
	bool *doubtful;		   /* by p's ways: not on this one, perhaps; NULL: none */
	struct usk_sighting *seen; /* the joins, sorted by q_ns; NULL after usk_coarse_fit() */
};

/** Join two surveys. joins == 0: they share nothing. */
void usk_coarse_join(const struct usk_survey *p, const struct usk_survey *q,
		     struct usk_coarse *out);
/** The same from sightings, which are sorted in place. */
void usk_coarse_fit(struct usk_sighting *s, size_t n, struct usk_coarse *out);
/** usk_coarse.astray of sightings, in any order, by their ways. */
size_t usk_sightings_astray(const struct usk_sighting *s, size_t n, const struct usk_ends *way);
void usk_coarse_free(struct usk_coarse *c);

/** q's stamp on p's clock. *hint speeds up ascending calls; start it at 0. */
static inline int64_t usk_coarse_to_p(const struct usk_coarse *c, int64_t q_ns, size_t *hint)
{
	const struct usk_coarse_knot *k = c->knot;
	size_t last = c->n_knots - 1, i = *hint;
	while (i < last && k[i + 1].q_ns <= q_ns) {
		i++;
	}
	while (i > 0 && k[i].q_ns > q_ns) {
		i--;
	}
	*hint = i;
	int64_t offset = k[i].p_minus_q_ns, p;
	if (q_ns > k[i].q_ns) {
		/* Between two offsets, so it fits. */
		offset += (int64_t)(k[i].slope *
				    (double)(int64_t)((uint64_t)q_ns - (uint64_t)k[i].q_ns));
	}
	if (__builtin_add_overflow(q_ns, offset, &p)) {
		return offset > 0 ? INT64_MAX : INT64_MIN;
	}
	return p;
}

/* ---- pass 2 ---- */

/** Order of messages by their stamps, for qsort and bsearch. */
int usk_msg_order(const void *a, const void *b);

/* One of two captures. */
struct usk_walker {
	struct usk_trace *trace;
	const struct usk_survey *survey;
	uint32_t clock;		      /* the number that goes into the messages */
	const struct usk_addr *local; /* stated by the user */
	size_t n_local;
};

struct usk_walk_options {
	struct usk_depth depth;
	const struct usk_msg *exclude; /* outliers of an earlier round, sorted by usk_msg_order() */
	size_t n_exclude;
	uint64_t most; /* packets of a capture that are remembered; 0: 256 MB of them */
	void (*progress)(void *ctx, uint64_t bytes);
	void *progress_ctx;
};

/**
 * Read both captures again and hand every message to sink, whose start() and keep() are not called.
 * counts: matched, unmatched, ambiguous, expired, direction_unknown are added to.
 * Memory: what lies within the window of 2 s + 4 x spread, `most` at most, and the streams alive in it.
 */
enum usk_status usk_walk(const struct usk_walker of[2], const struct usk_coarse *coarse,
			 const struct usk_walk_options *opt, const struct usk_sink *sink,
			 struct usk_counts *counts, struct usk_evidence *evidence,
			 struct usk_err *err);

/* ---- rows of a message table -> broadcasts that two clocks received ---- */

/* Rows of one broadcast stand within so many rows. */
enum { USK_HEARD = 4096 };

struct usk_broadcasts {
	uint64_t n; /* rows so far */
	struct heard_row {
		int64_t sent_ns, received_ns;
		uint32_t from, to;
		uint64_t older; /* row of the same bucket, number + 1; 0: none */
	} * row;		/* [USK_HEARD], a ring */
	uint64_t *newest;	/* [USK_HEARD], per bucket, number + 1 */
	/* Takes what two clocks received of one broadcast: x's stamp and y's. */
	void *ctx;
	void (*put)(void *ctx, uint32_t x, int64_t x_ns, uint32_t y, int64_t y_ns);
};

/** ctx and put are the caller's; all else is zero before the first row and after. */
void usk_broadcasts_free(struct usk_broadcasts *h);
/** The next row of the table; O(1) where one stamp of a sender is not used again and again. */
void usk_broadcasts_add(struct usk_broadcasts *h, const struct usk_msg *m);

/* ---- sides of messages -> messages, by their ids ---- */

struct usk_join;

struct usk_join *usk_join_new(void);
void usk_join_free(struct usk_join *j);
/** clock: the numbers that messages shall have. */
enum usk_status usk_join_add(struct usk_join *j, const struct usk_event *e, size_t n,
			     struct usk_err *err);
/** Messages of a clock will be put whose first and last send these are. */
void usk_join_expect(struct usk_join *j, uint32_t clock, int64_t first_ns, int64_t last_ns);
/** A message that needs no joining, of a clock that was announced; before messages are read. */
enum usk_status usk_join_put(struct usk_join *j, const struct usk_msg *m, struct usk_err *err);
/** All are there: join them. counts: unmatched and ambiguous are added to. */
enum usk_status usk_join_run(struct usk_join *j, struct usk_counts *counts, struct usk_err *err);
/** The next messages into out[cap]: *n of them, 0 at the end. */
enum usk_status usk_join_messages(struct usk_join *j, struct usk_msg *out, size_t cap, size_t *n,
				  struct usk_err *err);
/** Start again. */
void usk_join_rewind(struct usk_join *j);
/** Bytes of messages, and how many were handed out, for progress. */
uint64_t usk_join_size(const struct usk_join *j);
uint64_t usk_join_pos(const struct usk_join *j);

#endif
