/* SPDX-License-Identifier: MIT */
/*
 * unskew.h - put the traces of many machines on one clock, after the fact
 *
 *     struct usk_trace *trace[2];
 *     struct usk_clocks *clocks;
 *     struct usk_stamp when;
 *     struct usk_err err;
 *     if (usk_trace_open("client.pcap", NULL, &trace[0], &err) ||
 *         usk_trace_open("server.pcap", NULL, &trace[1], &err) ||
 *         usk_sync(trace, 2, NULL, &clocks, &err)) {
 *             fprintf(stderr, "%s\n", err.msg);
 *             return 1;
 *     }
 *     struct usk_map *map = usk_map_new(&clocks->clock[1], clocks->max_skew_e12);
 *     if (map && !usk_map_at(map, stamp_of_the_server, &when, &err)) {
 *             printf("%" PRId64 " to %" PRId64 " ns there\n", when.lo_ns, when.hi_ns);
 *     }
 *
 * Times     int64_t nanoseconds, at most USK_TIME_MAX in size. Recorded: what a clock showed.
 *           Reference: the same moment on the reference's clock. Unwrapped, inside of the library
 *           only: the recorded time of a clock that was set back, made to run on.
 * Rates     rate - 1 in parts per 10^12 (e12) where they are exact, in ppm where they are printed.
 * Sign      offset = reference - recorded: *add it to a recorded stamp*. drift > 0 means that the
 *           clock runs fast, so its offset falls.
 * Errors    a function that can fail returns enum usk_status and writes one sentence into the
 *           caller's struct usk_err (which may be NULL). The library never prints or exits. Weak
 *           data is not an error but a quality of the answer.
 * Memory    `const T *` is borrowed, `T **out` hands over; new/free and open/close pair up, and
 *           free(NULL) is allowed. A failed allocation calls the handler of
 *           usk_on_out_of_memory(), which does not return.
 * Threads   no global state but that handler and the list of temporary files that a signal handler
 *           removes; distinct objects may be used by distinct threads.
 */
#ifndef UNSKEW_H
#define UNSKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define USK_TIME_MAX (INT64_C(1) << 62) /* 146 years */
#define USK_NONE     INT64_MIN		/* no bound, no value: null in JSON */
#define USK_NO_CLOCK UINT32_MAX		/* none of the table of clocks */

/* ---- errors ---------------------------------------------------------------- */

enum usk_status {
	USK_OK = 0,
	USK_EINPUT, /* the input is not what it should be */
	USK_ERANGE, /* a time, span or offset over USK_TIME_MAX */
	USK_EIO,    /* the system refused: open, read, write, rename */
	USK_EUSAGE, /* the caller's arguments contradict each other */
};

/* Why a call failed. Owned by the caller, filled by the callee, printed only by the CLI. */
struct usk_err {
	enum usk_status code;
	uint64_t at; /* byte offset or line in the input; 0 = unknown */
	char msg[512];
};

/** Called once when memory is exhausted; must not return. Default: abort(). */
void usk_on_out_of_memory(void (*handler)(size_t bytes));

/** "0.1.0"; static. */
const char *usk_version(void);
/** The optional parts built in, "libpcap 1.10.3, jansson 2.14"; static. */
const char *usk_features(void);

/* ---- messages: one row per thing sent and received ------------------------- */

/* Sent by clock `from` at sent_ns, received by clock `to` at received_ns; as recorded. */
struct usk_msg {
	int64_t sent_ns;
	int64_t received_ns;
	uint32_t from, to; /* indices into a table of clocks */
	uint32_t bytes;	   /* payload, for the minimum-delay model */
};

/* ---- clocks: one map to the common timeline per clock ---------------------- */

enum usk_quality {
	USK_REFERENCE,	  /* the common timeline itself */
	USK_BOUNDED,	  /* a band above and below */
	USK_ONE_SIDED,	  /* messages in one direction only: one side of the band */
	USK_ABSENT,	  /* no message ties it to the reference */
	USK_CONTRADICTED, /* no clock of the stated model fits the messages */
};

/** "reference", "bounded", "one-sided", "absent", "contradicted"; static. */
const char *usk_quality_name(enum usk_quality q);

/*
 * A corner of a correction. Between knots everything is a straight line: the offset is
 * rounded down, lo down, hi up. Beyond the last knot hi rises by after.most_e12 and lo by
 * after.least_e12 per unit; before the first hi falls by before.least_e12 and lo by before.most_e12
 * per unit away from it. The offset goes on by its outermost slope, cut to these.
 * lo_ns <= offset_ns <= hi_ns where known: behind the last event that both sides bound hi_ns may be
 * USK_NONE, before the first lo_ns, and between such a knot and the next that side is unknown.
 */
struct usk_knot {
	int64_t local_ns;
	int64_t offset_ns;    /* reference - local; USK_NONE if one-sided */
	int64_t lo_ns, hi_ns; /* the band; USK_NONE where nothing bounds it */
	uint32_t epoch;	      /* jumps back before it; 0 for a clock that was never set back */
};

enum usk_jump_kind {
	USK_JUMP, /* the two pieces cannot be joined within the skew limit */
	USK_BEND, /* they can: the rate changed */
};

/* Where a clock's time jumps, or its rate changes by more than the model allows. */
struct usk_jump {
	enum usk_jump_kind kind;
	uint32_t of;	/* the clock that did it, as far as messages tell */
	uint32_t or_of; /* where they cannot tell: this one may have done it as well; USK_NO_CLOCK:
			   they can */
	int64_t after_local_ns, before_local_ns; /* it happened between, or at one of them */
	int64_t size_lo_ns, size_hi_ns;		 /* the offset rises by so much; USK_NONE unknown */
	uint32_t epoch, end_epoch;		 /* of after_local_ns, of before_local_ns */
	bool likely; /* with or_of: the fastest messages speak for `of` */
};

/* A clock was set back, as the order of records shows: its highest stamp before, first after. */
struct usk_set_back {
	int64_t from_ns, to_ns;
};

/* A disturbed stretch of a clock's own time: its rate is bounded by the skew limit alone there, as
 * it, or its reference, was being set or slewed in or near it. */
struct usk_disturbed {
	int64_t from_ns, to_ns;
	uint32_t epoch;
};

/* Beyond an outermost bound the slope of the offset lies within these, parts per 10^12. 10^12: what
 * happened last may have been a step of any size; nothing bounds the offset there. */
struct usk_slopes {
	int64_t least_e12, most_e12;
};

/* Bounds beyond the knots, straight from one to the next: `linear` alone has that. */
struct usk_beyond {
	int64_t local_ns, lo_ns, hi_ns;
};

/* How far a rate may lie from one constant (model `wander`): as asked for; the least that its
 * messages can be true with; what the band was made with, twice the needed if that is more. */
struct usk_wander {
	int64_t assumed_e12, needed_e12, used_e12;
};

struct usk_clock {
	char *name;
	uint32_t reference; /* index of its island's reference */
	enum usk_quality quality;
	uint32_t *path; /* from the reference to this clock, both included */
	size_t n_path;
	int64_t resolution_ns; /* what its stamps are rounded down to */
	uint64_t readings;     /* nobody recorded it: what packets say of it; else 0 */
	int64_t quantum_ns;    /* what the coarsest of these may be off, which bounds allow for */
	int64_t residual_ns;   /* Er of a method through round trips, summed along path; 0: none */
	double drift_ppm;      /* -1e6 x slope of the outer knots, less its jumps; NAN unknown */
	double drift_min_ppm, drift_max_ppm; /* the feasible rates; NAN unknown */
	struct usk_knot *knot; /* sorted by (epoch, local_ns); none if absent or contradicted */
	size_t n_knots;	       /* 0 or at least 2 */
	struct usk_jump *jump; /* in the order of its knots */
	size_t n_jumps;
	struct usk_wander wander;      /* against the reference, outside disturbed stretches */
	struct usk_disturbed *stretch; /* disturbed; in the order of its knots, apart */
	size_t n_stretches;
	struct usk_set_back *set_back; /* [i] leads from epoch i to i + 1 */
	size_t n_set_backs;
	struct usk_slopes before, after; /* of the outermost bound: of a knot, or of these */
	struct usk_beyond *beyond;	 /* left of all knots or right of them, by local_ns */
	size_t n_beyond;
};

/* Broadcasts that both clocks of a pair received (Poirier 2010, 4.1): b's stamp less a's. */
struct usk_difference {
	uint64_t n;
	int64_t min_ns, max_ns, mean_ns, sd_ns; /* USK_NONE if n is 0 */
};

struct usk_counts {
	uint64_t matched, unmatched, ambiguous, expired, direction_unknown, outliers;
	/* Matched, though the sender's capture lacks packets and no IP-ID tells copies apart. */
	uint64_t unsure;
	uint64_t fragments, not_ip, loopback, cut_short; /* packets left out while reading */
	/* Further sightings of packets that a host saw more than once: it forwards, or bonds. */
	uint64_t passed;
	uint64_t alike; /* datagrams of one byte again and again, without IP-ID: any may be any */
};

struct usk_violations {
	uint64_t count;
	double percent;
	int64_t max_ns, mean_ns;
};

struct usk_evaluation {
	uint64_t recorded_inversions, corrected_inversions;
	uint64_t outlier_inversions; /* of those left out, which no band rests on, corrected */
	struct usk_violations too_fast;
	struct usk_difference broadcasts_recorded, broadcasts_corrected; /* over all pairs */
	int64_t half_best_ns, half_worst_ns, half_mean_ns;		 /* USK_NONE unknown */
};

struct usk_island {
	uint32_t reference;
	uint32_t *clock;
	size_t n_clocks;
};

/* What a clock may do (doc/guarantees.md). */
enum usk_model_kind {
	USK_LINEAR,   /* every clock keeps one rate */
	USK_WANDER,   /* the rate of each clock stays within +-wander_e12 of a constant */
	USK_SEGMENTS, /* one rate for segment_ns of the reference, or for as long as one fits */
};

struct usk_model {
	enum usk_model_kind kind;
	int64_t wander_e12; /* wander: parts per 10^12, > 0; others 0 */
	int64_t segment_ns; /* segments: > 0, or 0 for "auto"; others 0 */
};

/* No message from one clock to the other takes less, whatever its size: as it was stated. */
struct usk_stated_delay {
	uint32_t from, to;
	int64_t ns;
};

struct usk_sink;       /* takes messages, inside of the library */
struct usk_trace_info; /* a file that was read: clocks.json has it */
struct usk_pair;       /* two clocks that exchanged messages: likewise */

/* The answer: what clocks.json holds. One owner, one usk_clocks_free(). */
struct usk_clocks {
	struct usk_model model;
	char *method;			       /* row of the table of estimators */
	char *solve, *how;		       /* "joint", "lp" */
	char *min_delay;		       /* the model as given, "0" */
	struct usk_stated_delay *stated_delay; /* what it makes of pairs, if over 0 */
	size_t n_stated_delays;
	int64_t max_skew_e12; /* |rate - 1| of no pair exceeds this, parts per 10^12 */
	struct usk_trace_info *trace;
	size_t n_traces;
	struct usk_counts counts;
	struct usk_island *island;
	size_t n_islands;
	struct usk_clock *clock;
	size_t n_clocks;
	struct usk_pair *pair;
	size_t n_pairs;
	struct usk_evaluation evaluation;
	char **note; /* sentences for the user: damage, doubts, what would help */
	size_t n_notes;
};

/** Frees c and all that it points to; NULL is allowed. */
void usk_clocks_free(struct usk_clocks *c);

/* ---- traces ---------------------------------------------------------------- */

struct usk_trace; /* one opened file */

/* How traces are to be read. Rows are borrowed until usk_trace_close(). */
struct usk_read_options {
	/* "NAME=HZ": integer stamps of that clock in tables are ticks, so many a second. */
	const char *const *tick_rate;
	size_t n_tick_rate;
	/* Which events of a CTF trace are sides of messages: "EVENT{FIELD,...}", and
	 * "NAME=EVENT{FIELD}" for what a thread's later events are to know. None: the network
	 * events of the kernel, and those of known tracers. */
	const char *const *send, *const *receive, *const *know;
	size_t n_send, n_receive, n_know;
};

/**
 * Open a trace; what it is is found from its content.
 *
 * path  a file; a folder that is a CTF trace, or holds some of one machine; "-" is standard input.
 *       What cannot be read twice (a pipe) is spooled to a temporary file first
 * name  of its clock; NULL: path's base name less known suffixes. Tables carry their own names
 *
 * USK_EIO: it cannot be read; USK_EINPUT: it is empty, no trace, or cut short within its header.
 */
enum usk_status usk_trace_open(const char *path, const char *name, struct usk_trace **out,
			       struct usk_err *err);

/** The same as told. opt may be NULL; USK_EUSAGE: one of its rows is not as it should be. */
enum usk_status usk_trace_open_with(const char *path, const char *name,
				    const struct usk_read_options *opt, struct usk_trace **out,
				    struct usk_err *err);

/**
 * Messages in memory as a table, in the order in which they were noted if there is one: then clocks
 * that were set back are found. clock[n_clocks] are names, msg[n] is borrowed until
 * usk_trace_close(). USK_EUSAGE: a clock that msg names is none of these, or two have one name;
 * USK_ERANGE: a stamp over USK_TIME_MAX.
 */
enum usk_status usk_trace_of_messages(const char *const *clock, size_t n_clocks,
				      const struct usk_msg *msg, size_t n, struct usk_trace **out,
				      struct usk_err *err);

/** Frees t and all that it handed out; NULL is allowed. */
void usk_trace_close(struct usk_trace *t);

const char *usk_trace_path(const struct usk_trace *t); /* from memory: the name or "memory" */
const char *usk_trace_name(const struct usk_trace *t); /* of its clock; tables carry their own */

/** NULL, or one sentence on what was lost to damage, borrowed. Known once the end was reached. */
const char *usk_trace_damage(const struct usk_trace *t);

/* ---- the correction, applied ----------------------------------------------- */

/* What a local stamp is on the reference's clock. */
struct usk_stamp {
	int64_t reference_ns; /* USK_NONE if one-sided */
	int64_t lo_ns, hi_ns; /* absolute; USK_NONE if unbounded */
};

struct usk_map; /* a clock's knots, prepared for conversion */

/**
 * NULL if the clock has no two knots in epoch 0. The clock may go before the map.
 * max_skew_e12: how fast the band widens beyond knots that another epoch of the clock follows, or
 * comes before (usk_clocks.max_skew_e12); elsewhere its before and after say that.
 */
struct usk_map *usk_map_new(const struct usk_clock *clock, int64_t max_skew_e12);
/** The same for the knots of another epoch; stamps of that one only. */
struct usk_map *usk_map_of_epoch(const struct usk_clock *clock, uint32_t epoch,
				 int64_t max_skew_e12);
/** The same of an answer, by the clock's number. NULL also if it has no such clock. */
struct usk_map *usk_map_of(const struct usk_clocks *c, uint32_t clock, uint32_t epoch);
void usk_map_free(struct usk_map *m);

/**
 * One stamp with its band: the definition, in 128-bit. O(log knots).
 * USK_ERANGE: the stamp, its corrected time or its band is over USK_TIME_MAX.
 */
enum usk_status usk_map_at(const struct usk_map *m, int64_t local_ns, struct usk_stamp *out,
			   struct usk_err *err);

/**
 * Many stamps, any order (fastest when sorted); equals usk_map_at() for every stamp.
 * local[n] and out[n] may be the same array. A clock without an offset: USK_EINPUT. USK_ERANGE as
 * above, out is then written in part and err->at is the stamp's index.
 * Cost: a multiplication and a correction step (after Loser's fixed point, 2003, section 3.1).
 */
enum usk_status usk_map_many(const struct usk_map *m, const int64_t *local_ns, size_t n,
			     int64_t *out, struct usk_err *err);
/** The bands of many; lo[n] and hi[n] equal usk_map_at()'s. USK_ERANGE: as usk_map_many(). */
enum usk_status usk_map_bands(const struct usk_map *m, const int64_t *local_ns, size_t n,
			      int64_t *lo_ns, int64_t *hi_ns, struct usk_err *err);

enum usk_order { USK_BEFORE, USK_NOT_BEFORE, USK_UNDECIDABLE };

/**
 * Did event a happen before b? Yes if a's latest time is under b's earliest, no if a's earliest is
 * over b's latest; their reference_ns do not matter. An event of the reference, or one compared
 * with another of its own clock, has lo_ns = hi_ns. Stamps that are rounded down to some resolution
 * q happened up to q - 1 ns later: take hi_ns there.
 *
 * margin_ns  by how much; if undecidable, by how much more the bands would have to be apart;
 *            USK_NONE if no width is enough, as sides are missing. May be NULL.
 */
enum usk_order usk_before(const struct usk_stamp *a, const struct usk_stamp *b, int64_t *margin_ns);

/* ---- the whole way --------------------------------------------------------- */

/* What is known of two clocks besides their messages, by its kind, one of the options that state
 * such things. "anchor": at one moment a showed a_ns, and b showed b_ns, give or take within_ns;
 * both as recorded. */
struct usk_anchor {
	const char *a, *b; /* names of two clocks */
	int64_t a_ns, b_ns;
	int64_t within_ns; /* not negative */
	const char *kind;  /* NULL: "anchor" */
};

struct usk_sync_options {
	/* "linear", "wander[=PPM]", "segments[=DURATION|auto]"; NULL: the default */
	const char *model;
	const char *method;    /* NULL = "middle" */
	int64_t window_ns;     /* of methods that cut time into windows; 0 = 3 min */
	const char *solve;     /* "joint", "tree"; NULL = "joint" */
	const char *weights;   /* "half-width", "residual" (Er): of what is near; NULL: by method */
	const char *reference; /* clock name; NULL: the one that is nearest to all others */
	int64_t max_skew_e12;  /* 0 = 500 ppm */
	int64_t max_outliers;  /* -1 = max(10, 0.01 %) */
	const char *const *resolution; /* rows "client=1us" */
	size_t n_resolution;
	const char *const *local; /* rows "client=10.0.0.1" */
	size_t n_local;
	/* "NAME/INTERFACE=CLOCK": interfaces, by name or number, of the capture NAME that another
	 * clock stamps. Traces of one name, all else of them, are of one clock. */
	const char *const *clock_of;
	size_t n_clock_of;
	/* "NAME=FILE": what a daemon did to the clock NAME, as `unskew record` wrote it down: its
	 * stamps are carried over to its raw clock, and the answer back. */
	const char *const *clock_log;
	size_t n_clock_log;
	/* "ntp", "all": what packets of captures say of clocks that nobody recorded are messages,
	 * too, from or to clocks "ntp:192.0.2.1"; NULL: no. */
	const char *readings;
	int64_t from_ns, to_ns; /* stamps of the reference; USK_NONE, not 0, = all */
	/* What no message is faster than: "BASE[+FIRST][+PER_BYTE/B]", or "@FILE", a CSV of
	 * sender,receiver,model; pairs that it does not list, and NULL, are 0. */
	const char *min_delay;
	const struct usk_anchor *anchor; /* an anchor ties two clocks as messages do */
	size_t n_anchors;
	const struct usk_sink *messages; /* every message used (usk_check(): matched), or NULL */
	char **proof; /* Out: which messages imply the bounds, doc/proof.md; free() it. Or NULL */
	/* Called now and then with the share of the work done, 0 to 1; may be NULL. */
	void (*progress)(void *ctx, double done, const char *what);
	void *progress_ctx;
};

/**
 * Match, fit and solve. trace[n] stay the caller's and may be read again. opt may be NULL: as if
 * all of it were NULL, -1 and USK_NONE.
 * *out is handed over; the answer may be partly or wholly absent (see the qualities).
 *
 * USK_EUSAGE: options that contradict each other or the traces; USK_EINPUT: one clock only, the
 * same capture twice; others from reading. Cost: each trace is read at least twice, a capture once
 * more for each further clock; memory follows the matching window and the corridors, not the
 * length.
 */
enum usk_status usk_sync(struct usk_trace *const *trace, size_t n,
			 const struct usk_sync_options *opt, struct usk_clocks **out,
			 struct usk_err *err);

/** Traces as recorded: match, then count inversions and messages faster than their minimum delay by
 * the stamps as they are. No clock is corrected: all are USK_ABSENT but the reference. */
enum usk_status usk_check(struct usk_trace *const *trace, size_t n,
			  const struct usk_sync_options *opt, struct usk_clocks **out,
			  struct usk_err *err);

/* ---- write ----------------------------------------------------------------- */

/** clocks.json, every key in its order; the caller frees the string. */
char *usk_clocks_to_json(const struct usk_clocks *c);
/** The reverse, of text[size]. USK_EINPUT names the place of what is missing or wrong. */
enum usk_status usk_clocks_from_json(const char *text, size_t size, struct usk_clocks **out,
				     struct usk_err *err);

/**
 * The clock that stamped a trace: by name (of NAME=, or NULL), else by path among the traces of
 * c, else by other_name (usk_trace_name(), or NULL). USK_NO_CLOCK if none fits; a name that was
 * given and is unknown is not guessed around.
 */
uint32_t usk_clocks_find(const struct usk_clocks *c, const char *name, const char *path,
			 const char *other_name);

/* Sentences for the user that come up while writing: damage, what was left as it was. */
struct usk_notes {
	char **note;
	size_t n;
	bool partial; /* spans stay as they were recorded, and notes say which */
};
void usk_notes_free(struct usk_notes *notes); /* the rows, not the struct */

/* Which packets get their recorded stamp in a comment, "recorded 1700000000.123456789". What was
 * done to stamps is said once for each interface, whatever this is. */
enum usk_comments {
	USK_COMMENTS_USUAL, /* usk_merge(): needed; usk_apply(), whose file may be all that is kept:
			       changed */
	USK_COMMENTS_ALL,
	USK_COMMENTS_CHANGED, /* those whose stamp is another now */
	USK_COMMENTS_NEEDED, /* those that several recorded stamps could be, but the first of these */
	USK_COMMENTS_NONE,
};

struct usk_write_options {
	bool force;	      /* an existing file may be replaced */
	bool allow_unbounded; /* a clock that is not bounded goes along uncorrected, with a note */
	const struct usk_read_options *read; /* as it was read to make the clocks; may be NULL */
	int64_t residual_ns; /* CTF: re-timed by the metadata alone where that is off by no more */
	enum usk_comments comments;				    /* pcapng */
	void (*progress)(void *ctx, double done, const char *what); /* as in usk_sync_options */
	void *progress_ctx;
};

/**
 * Merge captures into one pcapng in corrected order: an interface per clock and link type
 * (if_name = the clock's name, ns), whose comment says by how much its stamps were moved.
 *
 * trace[n]  captures, read from their start; tables are USK_EUSAGE
 * clock[n]  index of each trace's clock in c; NULL: usk_clocks_find() by path, then by name
 * opt       may be NULL;  notes  may be NULL, else zeroed or filled before
 *
 * Packets of one corrected stamp: a packet that another trace saw being sent comes after it.
 * Records up to 1 s out of order in their trace are sorted (at most 64 MiB are held in all);
 * later ones are written where they come and counted in a note. The file appears whole or not
 * at all. A clock that is not bounded is USK_EINPUT unless opt allows it; a corrected stamp
 * before 1970 is USK_ERANGE, as pcapng has no negative stamps.
 */
enum usk_status usk_merge(struct usk_trace *const *trace, const uint32_t *clock, size_t n,
			  const struct usk_clocks *c, const char *path,
			  const struct usk_write_options *opt, struct usk_notes *notes,
			  struct usk_err *err);

/**
 * Re-time one trace into the same format: pcap, pcapng, spans in JSON or a table; record order is
 * kept.
 *
 * in     path of the trace; a folder of CTF traces
 * clock  index of its clock in c; a table or spans name their own, pass USK_NO_CLOCK
 * out    path of the new file, which appears whole or not at all
 *
 * pcap comes out with ns stamps in the input's byte order, pcapng with all other blocks and
 * options as they were, the stamp as recorded in a comment where it changed, and what was done in
 * the description and a comment of its interface, a table with the recorded
 * stamps in added columns NAME_raw_ns (those in ticks stay, with NAME_ns beside them), spans with recorded
 * stamps and bounds among their attributes. Refusals and notes as in usk_merge(); but spans of a
 * clock that is not in c, or not bounded, stay as recorded, with a note.
 */
enum usk_status usk_apply(const char *in, uint32_t clock, const struct usk_clocks *c,
			  const char *out, const struct usk_write_options *opt,
			  struct usk_notes *notes, struct usk_err *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
