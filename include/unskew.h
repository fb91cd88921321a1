/* SPDX-License-Identifier: MIT */
/*
 * unskew.h - put the traces of many machines on one clock, after the fact
 *
 *     read -> match -> fit -> solve -> write, judge beside it
 *
 * Two tables are the waist: messages (struct usk_msg) and clocks (struct
 * usk_clocks). usk_sync() walks the whole way; each stage can be called alone.
 *
 * Units     times, spans, offsets and delays are int64_t nanoseconds, at most
 *           USK_TIME_MAX in size. Rates are rate - 1 in parts per 10^12 (e12) where
 *           they are exact integers, in ppm where they are printed.
 * Sign      offset = reference - local: *add it to a local stamp*. drift > 0
 *           means the clock runs fast, so its offset falls.
 * Errors    a function that can fail returns enum usk_status and writes one
 *           sentence into the caller's struct usk_err (which may be NULL). The
 *           library never prints or exits. Weak data is not an error but a
 *           quality of the answer.
 * Memory    `const T *` is borrowed, `T **out` hands over; new/free and open/close
 *           pair up, and free(NULL) is allowed. A failed allocation calls the
 *           handler of usk_on_out_of_memory(), which does not return.
 * Threads   no global state but that handler and the list of temporary files that a
 *           signal handler removes; distinct objects may be used by distinct threads.
 */
#ifndef UNSKEW_H
#define UNSKEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Sent by clock `from` at sent_ns on its own clock, received by clock `to` at received_ns on its.
 */
struct usk_msg {
	int64_t sent_ns;
	int64_t received_ns;
	uint32_t from, to; /* indices into a table of clocks */
	uint32_t bytes;	   /* payload, for the minimum-delay model */
};

/*
 * The least time that a message of n bytes needs, by the reference's clock (Ashton 1995, section
 * 4.2): base + first [n >= 1] + per_byte max(0, n - 1). Picoseconds, so that 1.032 us a byte is
 * exact; none is negative.
 */
struct usk_delay_model {
	int64_t base_ps, first_ps, per_byte_ps;
};

/**
 * BASE[+FIRST][+PER_BYTE/B], text[n]: "520us+14us+1.032us/B", "50us", "0". USK_EINPUT: it is not;
 * USK_ERANGE: a part is over 53 days.
 */
enum usk_status usk_delay_model_parse(const char *text, size_t n, struct usk_delay_model *out,
				      struct usk_err *err);
/** For a payload of so many bytes, rounded down to whole ns, under USK_TIME_MAX. NULL is 0. */
int64_t usk_delay_model_ns(const struct usk_delay_model *m, uint32_t bytes);

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
 * lo_ns <= offset_ns <= hi_ns where known.
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
	uint32_t or_of; /* where they cannot tell: this one may have done it just as well;
			   USK_NO_CLOCK: they can */
	int64_t after_local_ns, before_local_ns; /* it happened between, or at one of them */
	int64_t size_lo_ns, size_hi_ns;		 /* the offset rises by so much; USK_NONE unknown */
	uint32_t epoch, end_epoch;		 /* of after_local_ns, of before_local_ns */
};

/* Where the order of records shows that a clock was set back: its highest stamp before, its first
 * one after. Its next epoch begins there. */
struct usk_set_back {
	int64_t from_ns, to_ns;
};

/* A disturbed stretch of a clock's own time: its rate is bounded by the skew limit alone there, as
 * it, or its reference, was being set or slewed in or near it. */
struct usk_disturbed {
	int64_t from_ns, to_ns;
	uint32_t epoch;
};

/* Beyond an outermost knot the slope of the offset lies within these, parts per 10^12. 10^12: what
 * happened last may have been a step of any size; nothing bounds the offset there. */
struct usk_slopes {
	int64_t least_e12, most_e12;
};

/*
 * How far a rate may lie from one constant, parts per 10^12 (model `wander`): as asked
 * for; the least that its messages can be true with, rounded up; what the band was made with, twice
 * the needed where the assumed is less than that.
 */
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
	struct usk_slopes before, after; /* of the first knot, of the last */
};

/* An interface of a capture, by its name or number, that has a clock of its own. */
struct usk_iface_clock {
	char *iface;
	uint32_t clock;
};

/* A file that was read, and whose clock stamped it. */
struct usk_trace_info {
	uint32_t
		clock; /* USK_NO_CLOCK: a table, or a capture all of whose interfaces have others */
	struct usk_iface_clock *iface; /* others than clock */
	size_t n_ifaces;
	char *path;
	const char *kind; /* name of the reader's row, static */
	uint64_t events;
	bool truncated;
	char **local; /* addresses that were found to be the trace's own, as text */
	size_t n_local;
};

/* A message that no line of the model could take in, left out of the fit. */
struct usk_outlier {
	struct usk_msg msg;
	int64_t excess_ns; /* by how much it misses the corridor of the others */
};

/* How a pair's senders were told from its receivers: matched packets by kind of evidence. */
struct usk_evidence {
	uint64_t option;    /* --local */
	uint64_t link;	    /* packet type of a cooked capture, direction flag of pcapng */
	uint64_t interface; /* addresses of a pcapng interface */
	uint64_t address;   /* an address that ends every unicast packet of one capture */
	uint64_t ttl;	    /* hops left: larger is nearer the sender */
	uint64_t exchange;  /* gaps between request and answer */
};

/* A point of the corridor: what a message says of the offset at a moment of the local clock. */
struct usk_point {
	int64_t local_ns;
	int64_t offset_ns;
};

/* One-way delays of a direction: received - sent, each on its own clock, or corrected. */
struct usk_delays {
	uint64_t n;
	uint64_t inversions; /* received before sent by more than the receiver's resolution */
	int64_t min_ns, median_ns, p99_ns, max_ns; /* quantiles to 1 %; USK_NONE if n is 0 */
};

/*
 * Broadcasts that both clocks of a pair received: b's stamp less a's, as recorded or on the common
 * timeline. Both heard them at almost the same time (Poirier 2010, section 4.1).
 */
struct usk_difference {
	uint64_t n;
	int64_t min_ns, max_ns, mean_ns, sd_ns; /* USK_NONE if n is 0 */
};

struct usk_pair {
	uint32_t a, b; /* reference side, local side */
	uint64_t a_to_b, b_to_a;
	enum usk_quality quality;
	int64_t half_width_ns, half_width_at_ns; /* smallest, and where on b's clock; USK_NONE */
	struct usk_wander wander;
	struct usk_evidence evidence;
	struct usk_outlier *outlier;
	size_t n_outliers;
	struct usk_msg *contradiction; /* the fewest messages that contradict each other */
	size_t n_contradiction;
	/* What can be drawn: at most 4,000 points a side, the extreme one of each bucket. */
	int64_t bucket_ns;
	struct usk_point *floor, *ceiling;
	size_t n_floor, n_ceiling;
	uint64_t hull_floor, hull_ceiling;		    /* vertices of the two hulls */
	struct usk_delays recorded_a_to_b, recorded_b_to_a; /* by the stamps as recorded */
	int64_t min_delay_a_to_b_ns, min_delay_b_to_a_ns;   /* corrected, smallest; USK_NONE */
	/* Corrected, by 8,192 messages spread evenly; n is how many these are. */
	struct usk_delays corrected_a_to_b, corrected_b_to_a;
	struct usk_difference heard_recorded, heard_corrected;
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
	struct usk_difference heard_recorded, heard_corrected; /* over all pairs */
	int64_t half_best_ns, half_worst_ns, half_mean_ns;     /* USK_NONE unknown */
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

/**
 * "linear", "wander[=PPM]", "segments[=DURATION|auto]"; NULL is the default. "wander=0" is linear.
 * USK_EUSAGE: it is none of them, or its value is no rate up to 1000 ppm or no duration over 0.
 */
enum usk_status usk_model_parse(const char *text, struct usk_model *out, struct usk_err *err);
/** "linear", "wander", "segments"; static. */
const char *usk_model_name(enum usk_model_kind kind);

/* The answer: what clocks.json holds. One owner, one usk_clocks_free(). */
struct usk_clocks {
	struct usk_model model;
	char *method;	      /* row of the table of estimators */
	char *solve, *how;    /* "joint", "lp" */
	char *min_delay;      /* the model as given, "0" */
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

/* ---- read: traces -> events ------------------------------------------------ */

struct usk_trace; /* one opened file */

/* Addresses are 128 bits in two big-endian words; IPv4 as ::ffff:a.b.c.d. */
struct usk_addr {
	uint64_t hi, lo;
};

/* Who sent a packet, as the link layer tells it. */
enum usk_side { USK_SIDE_UNKNOWN, USK_SIDE_SENT, USK_SIDE_RECEIVED };

struct usk_iface {
	char *name; /* NULL if the format has none */
	uint16_t link_type;
	uint32_t snap_length;
	int64_t resolution_ns; /* declared; 0 for 1 ns or finer */
	struct usk_addr *addr; /* addresses the file states for it */
	size_t n_addrs;
};

/* A packet as the file holds it. data points into the reader's buffer until the next call. */
struct usk_record {
	int64_t time_ns;
	uint64_t at; /* byte offset of the record in the file */
	const uint8_t *data;
	uint32_t captured, length;
	uint32_t iface;
	enum usk_side side;
};

/* A packet as the matcher sees it: what survives the way between two vantage points. */
struct usk_packet {
	int64_t time_ns;
	uint64_t key; /* hash of what routers and NAT leave alone; 0 = no use for matching */
	struct usk_addr src, dst;
	uint16_t sport, dport;		 /* in host order, 0 where the protocol has none */
	uint8_t proto;			 /* IP protocol */
	uint8_t flags;			 /* TCP flags */
	uint8_t ttl;			 /* or hop limit */
	uint8_t side;			 /* enum usk_side */
	uint32_t seq, ack, tsval, tsecr; /* TCP */
	uint32_t bytes; /* payload on the wire; from the IP header, never from the capture */
	uint16_t ip_id, window;
	uint8_t has; /* USK_HAS_...: what the packet carries and the capture kept */
};

enum {
	USK_HAS_IP_ID = 1,
	USK_HAS_TIMESTAMPS = 2,
	USK_HAS_WINDOW = 4,
	USK_HAS_SHARED_TIMESTAMPS = 8, /* within the depth: both captures of it have them */
	USK_HAS_GROUP = 16,	       /* sent to all, or to many, by its link layer */
};

/* What makes two events sides of one message: equal ids. */
struct usk_event_id {
	uint64_t word[2];
};

/* One side of a message, as its machine recorded it. */
struct usk_event {
	int64_t time_ns;
	struct usk_event_id id;
	uint32_t clock; /* index into usk_trace_clock_name() */
	uint32_t bytes; /* payload, 0 if unknown */
	enum usk_side side;
};

/** The id that text[n] is; up to 15 bytes are kept as they are, longer ones are hashed. */
struct usk_event_id usk_event_id(const void *text, size_t n);

enum usk_trace_class {
	USK_TRACE_CAPTURE, /* packets of one clock: usk_trace_records() */
	USK_TRACE_TABLE,   /* messages: usk_trace_messages() */
	USK_TRACE_EVENTS,  /* sides of messages: usk_trace_sides() */
};

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

/* Everything that a trace holds, beside what is of use here. */
struct usk_extent {
	uint64_t events;
	int64_t first_ns, last_ns;
};

/**
 * Open a trace; what it is is found from its content.
 *
 * path   a folder is a CTF trace, or holds some of one machine; "-" is standard input; what cannot
 * be read twice (a pipe) is spooled to a temporary file first name   clock name, or NULL for the
 * path's base name less known suffixes. Tables carry their own names. out    written on USK_OK
 *
 * USK_EIO if it cannot be read; USK_EINPUT if it is empty, no trace, or cut short within its
 * header. Cost: its first blocks.
 */
enum usk_status usk_trace_open(const char *path, const char *name, struct usk_trace **out,
			       struct usk_err *err);

/** The same as told. opt may be NULL; USK_EUSAGE: one of its rows is not as it should be. */
enum usk_status usk_trace_open_with(const char *path, const char *name,
				    const struct usk_read_options *opt, struct usk_trace **out,
				    struct usk_err *err);

/** The same from memory, which is borrowed until usk_trace_close(): for tests and fuzzers. */
enum usk_status usk_trace_open_memory(const void *data, size_t size, const char *name,
				      struct usk_trace **out, struct usk_err *err);
enum usk_status usk_trace_open_memory_with(const void *data, size_t size, const char *name,
					   const struct usk_read_options *opt,
					   struct usk_trace **out, struct usk_err *err);
/** Frees t and all that it handed out; NULL is allowed. */
void usk_trace_close(struct usk_trace *t);

/* Borrowed until usk_trace_close(). */
const char *usk_trace_path(const struct usk_trace *t); /* from memory: the name, or "memory" */
const char *usk_trace_name(const struct usk_trace *t); /* of its clock; tables carry their own */
const char *usk_trace_kind(const struct usk_trace *t); /* name of the reader's row, static */
enum usk_trace_class usk_trace_class(const struct usk_trace *t);
const struct usk_read_options *usk_trace_options(const struct usk_trace *t); /* as opened with */
uint64_t usk_trace_size(const struct usk_trace *t);			     /* bytes */
uint64_t usk_trace_pos(const struct usk_trace *t); /* bytes read so far, for progress */

/** Records or messages read so far; at the end of one that has more than these, all events. */
uint64_t usk_trace_events(const struct usk_trace *t);

/** NULL where what is handed out is all there is, or as long as the end was not reached. */
const struct usk_extent *usk_trace_extent(const struct usk_trace *t);
/** Interfaces seen so far, borrowed until the next call that reads; classic captures have one. */
const struct usk_iface *usk_trace_ifaces(const struct usk_trace *t, size_t *n);

/** Start again at the first record. Fails if the file cannot be read any more, or has changed. */
enum usk_status usk_trace_rewind(struct usk_trace *t, struct usk_err *err);

/** The same capture once more, to be read by itself from its start. */
enum usk_status usk_trace_again(const struct usk_trace *t, struct usk_trace **out,
				struct usk_err *err);

/* What of a capture is in a joined one. */
struct usk_trace_part {
	struct usk_trace *trace;
	bool own; /* is closed with it */
	/* Is this interface in it? name may be NULL. takes NULL: all of them are. */
	bool (*takes)(void *ctx, uint32_t number, const char *name);
	void *ctx;
};

/**
 * Captures that one clock stamped as one capture: the records of all in the order of their stamps,
 * those of each in the order of its file; interfaces are numbered anew. part[n] is copied; its
 * traces must not be read by others meanwhile; its own are closed on failure too. at of a record is
 * that in its file.
 */
enum usk_status usk_trace_join(const struct usk_trace_part *part, size_t n, const char *name,
			       struct usk_trace **out, struct usk_err *err);

/**
 * The next records of a capture, in file order, into out[cap]: *n of them, 0 at the end.
 * Their data is borrowed until the next call that reads. Input cut short is not an error: what is
 * whole is handed out, then usk_trace_damage() is a sentence that says how much was lost and where.
 * USK_EUSAGE: t is a table. USK_ERANGE: a stamp over USK_TIME_MAX. Cost: O(bytes).
 */
enum usk_status usk_trace_records(struct usk_trace *t, struct usk_record *out, size_t cap,
				  size_t *n, struct usk_err *err);

/**
 * The next messages of a table into out[cap]; from and to index usk_trace_clock_name(). Damage,
 * end and errors as above; USK_EUSAGE: t is no table of messages.
 */
enum usk_status usk_trace_messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				   struct usk_err *err);
/** The next events into out[cap], otherwise the same; USK_EUSAGE: t is of another class. */
enum usk_status usk_trace_sides(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
				struct usk_err *err);
size_t usk_trace_clocks(const struct usk_trace *t); /* names seen so far in a table */
const char *usk_trace_clock_name(const struct usk_trace *t, size_t i); /* borrowed, i < clocks */
/** What its stamps are rounded down to, as far as the table says; 0 for 1 ns or finer. */
int64_t usk_trace_clock_resolution(const struct usk_trace *t, size_t i);

/** NULL, or one sentence on what was lost to damage, borrowed. Known once the end was reached. */
const char *usk_trace_damage(const struct usk_trace *t);

/**
 * Bytes of each IP packet that a capture surely holds: its snap length less the link headers of its
 * first packets. The smaller one of two captures is the depth to which their keys agree.
 * UINT32_MAX if there is no IP packet among them. Reads a little and starts again.
 */
enum usk_status usk_trace_depth(struct usk_trace *t, uint32_t *depth, struct usk_err *err);

/** Is the number of a link type one whose packets can be decoded? */
bool usk_link_is_known(uint16_t link_type);
/** What libpcap calls it; NULL if it knows none such, or was not built in. */
const char *usk_link_name(uint16_t link_type);

/** Bytes of its IP packet that a record holds; UINT32_MAX if it is whole, or none is in it. */
uint32_t usk_packet_depth(const struct usk_record *r, uint16_t link_type);

/**
 * Decode one record. Returns false if it takes no part in matching (not IP, a fragment, cut
 * before its sequence number, loopback) and counts it in one of left_out's fields (may be NULL).
 * depth: only what lies in the first `depth` bytes of the IP packet goes into the key.
 */
bool usk_packet_decode(const struct usk_record *r, uint16_t link_type, uint32_t depth,
		       struct usk_packet *out, struct usk_counts *left_out);

/** Does the checksum of its IPv4 header say that the header is whole? true as well where it was
 * left to hardware, and of what has none. */
bool usk_packet_is_sound(const struct usk_record *r, uint16_t link_type);

/**
 * A hash that both captures of a packet share, for drawing one sample from both: of what needs
 * least decoding, sequence numbers or the key.
 */
uint64_t usk_packet_pick(const struct usk_packet *p);

/* The little that a sample needs of the packets it does not take. */
struct usk_glance {
	uint64_t src, dst; /* lower halves of mapped IPv4 addresses */
	uint64_t pick;
};

/**
 * A quick look at a record that is plain: TCP over IPv4 on untagged Ethernet. false: it may be
 * anything, decode it. true: usk_packet_decode() takes it, with these addresses and this pick.
 */
bool usk_packet_glance(const struct usk_record *r, uint16_t link_type, struct usk_glance *out);

/** "10.0.0.1", "fe80::1". */
void usk_addr_text(struct usk_addr a, char out[46]);
/** The reverse; false if it is neither, and *out is left as it was. */
bool usk_addr_parse(const char *text, struct usk_addr *out);

/* A row of the table of readers. */
struct usk_reader_info {
	const char *name, *help;
	enum usk_trace_class class_;
};
/** The i-th, static; NULL behind the last. */
const struct usk_reader_info *usk_reader(size_t i);

/* ---- match: events -> messages --------------------------------------------- */

/* What captures tell of a message besides. */
struct usk_origin {
	uint8_t proto;		 /* IP protocol */
	uint8_t sent_on, got_on; /* interfaces of the two captures; 255: that one or a later one */
};

/* What a third clock sent once and both clocks of a pair received: their stamps of it. */
struct usk_reception {
	int64_t a_ns, b_ns;
};

/* Where a message stands on the common timeline. */
struct usk_corrected {
	int64_t sent_ns, received_ns;	     /* USK_NONE: a clock of the two has no estimate */
	uint32_t sent_epoch, received_epoch; /* of the stamps as recorded; 0 for most clocks */
};

/* Takes messages a batch at a time. Returns false to stop (the caller's own reason). */
struct usk_sink {
	void *ctx;
	/* The answer, before the messages that it was made of; may be NULL. Borrowed; only its
	 * counts, qualities and paths are settled. Comes again if the messages do. */
	void (*answer)(void *ctx, const struct usk_clocks *c);
	/* Where the n messages stand that the next put() brings, borrowed until it returns; may be
	 * NULL. */
	void (*corrected)(void *ctx, const struct usk_corrected *at, size_t n);
	/* Where the n messages come from that the next put() brings; may be NULL. Not called for
	 * tables, which do not know. */
	void (*origins)(void *ctx, const struct usk_origin *origin, size_t n);
	/* Broadcasts that both received; may be NULL. */
	void (*heard)(void *ctx, const struct usk_reception *heard, size_t n);
	/* A new round begins: forget what came since the last keep(); may be NULL. */
	bool (*start)(void *ctx);
	bool (*put)(void *ctx, const struct usk_msg *msg, size_t n);
	/* What was put since start() stays: that round was the last of its pair; may be NULL. */
	void (*keep)(void *ctx);
};

/* ---- fit: messages of a pair -> corridor -> band and estimate -------------- */

/*
 * The corridor of a pair with reference a and local clock b.
 *
 * A message a->b (sent x, received y) is a floor: offset(y) >= x - y + delta.
 * A message b->a (sent y, received x) is a ceiling: offset(y) <= x - y - delta.
 * State: the upper hull of the floors, the lower hull of the ceilings, sums for the support
 * lines, and per aligned second of local time the points that are undominated under a cone of
 * slope kappa around the coarse rate; on one side at least, if the clock may have been set in that
 * second. The order of additions does not show in it.
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

/* ---- estimators ------------------------------------------------------------ */

/* Where a clock may have been stepped forward: two consecutive stamps of its own trace. */
struct usk_gap {
	int64_t before_ns, after_ns; /* USK_NONE: there are no two such stamps */
};

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
	int64_t first_local_ns, last_local_ns; /* first and last event of the local clock */
	/* Every message of the pair for estimators that need them, NULL for the others: sorted by
	 * the local clock's stamp, then the reference's. */
	const struct usk_msg *msg;
	size_t n_msgs;
	const struct usk_reception *heard; /* broadcasts that both received, in no order */
	size_t n_heard;
	uint32_t a, b;			/* numbers of reference and local clock in them */
	int64_t window_ns;		/* of estimators that cut time into windows; 0 = 180 s */
	const struct usk_estimator *by; /* set by usk_estimator_run() */
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
	bool delta;					  /* stamps moved by minimum delays */
	double z;					  /* of the confidence interval */
};
/** Put messages of a pair into the order that usk_fit asks for; local: number of the local clock.
 */
void usk_msg_sort(struct usk_msg *msg, size_t n, uint32_t local);

/* What least squares through round trips say (Clement 2009, sections 9 and 12). */
struct usk_round_trips {
	bool by_local;		    /* T1 is a stamp of the local clock, else of the reference's */
	uint64_t exchanges, kept;   /* all, and those within the confidence interval */
	double margin_ns, sigma_ns; /* mean and standard deviation (over n) of all margins */
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

/** The table of estimators, static; the last row has name NULL. */
const struct usk_estimator *usk_estimators(void);
/** Its row of that name, or NULL; "+δ" is taken for "+delta". */
const struct usk_estimator *usk_estimator_find(const char *name);
/** Ask it. */
enum usk_status usk_estimator_run(const struct usk_estimator *e, const struct usk_fit *fit,
				  struct usk_knot **out, size_t *n, struct usk_err *err);

/* ---- solve: pairs -> one clock per host ------------------------------------- */

/* Half the width of a clock's band between its outermost knots, those within the bracket of a jump
 * left out, rounded up. */
struct usk_widths {
	int64_t best_ns, best_at_ns; /* smallest, and the first local time that has it */
	int64_t worst_ns, mean_ns;   /* mean over time */
};

/** All are USK_NONE if the band has a side only, or none. Exact: bands are straight between knots.
 */
struct usk_widths usk_band_widths(const struct usk_clock *clock);

/* Does its bracket begin before the first of two local times of an epoch and end behind the second?
 * Both the same: does that lie strictly in its bracket? O(1) */
bool usk_jump_spans(const struct usk_jump *jump, uint32_t epoch, int64_t first_ns,
		    int64_t second_ns);

/** The reference as a clock: two knots of offset 0, at its first and last event. */
void usk_clock_reference(struct usk_clock *clock, int64_t first_ns, int64_t last_ns);

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
/**
 * A line as an estimator drew it, not settled into a band: n >= 2 knots, their lo, hi and epoch are
 * ignored. Unlike a clock's, its time may stand still or fall.
 */
struct usk_map *usk_map_of_line(const struct usk_knot *line, size_t n);
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

enum usk_order { USK_BEFORE, USK_NOT_BEFORE, USK_UNDECIDABLE };

/** "yes", "no", "undecidable"; static. */
const char *usk_order_name(enum usk_order o);

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

/*
 * What is known of two clocks besides their messages: at one moment a showed a_ns and b, give or
 * take within_ns, b_ns; both as recorded.
 */
struct usk_anchor {
	const char *a, *b; /* names of two clocks */
	int64_t a_ns, b_ns;
	int64_t within_ns; /* not negative */
};

struct usk_sync_options {
	const char *model;     /* as usk_model_parse() reads it; NULL = the default */
	const char *method;    /* NULL = "middle" */
	int64_t window_ns;     /* of methods that cut time into windows; 0 = 3 min */
	const char *solve;     /* "joint", "tree"; NULL = "joint" */
	const char *reference; /* clock name; NULL: the one that is nearest to all others */
	int64_t max_skew_e12;  /* 0 = 500 ppm */
	int64_t max_outliers;  /* -1 = max(10, 0.01 %) */
	/* "NAME=VALUE" rows */
	const char *const *resolution; /* "client=1us" */
	size_t n_resolution;
	const char *const *local; /* "client=10.0.0.1" */
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
	/* What no message is faster than: a model as usk_delay_model_parse() reads it, or "@FILE",
	 * a CSV sender,receiver,model of clock names; pairs that it does not list, and NULL, are 0.
	 */
	const char *min_delay;
	const struct usk_anchor *anchor; /* an anchor ties two clocks as messages do */
	size_t n_anchors;
	const struct usk_sink *messages; /* every message used (usk_check(): matched), or NULL */
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

/**
 * Score traces as recorded: match, then count inversions, delays and messages faster than their
 * minimum delay (evaluation.too_fast) by the stamps as they are.
 * No clock is corrected: all are USK_ABSENT but the reference.
 */
enum usk_status usk_check(struct usk_trace *const *trace, size_t n,
			  const struct usk_sync_options *opt, struct usk_clocks **out,
			  struct usk_err *err);

/* ---- estimators side by side ----------------------------------------------- */

/* What one estimator says of a pair, judged by the pair's messages (Ashton 1995, section 6.1). */
struct usk_method_score {
	const struct usk_estimator *method;
	char *failed;	       /* why it has no answer, a sentence: then nothing else holds; NULL */
	struct usk_knot *line; /* as drawn, not settled into the band; lo_ns, hi_ns are USK_NONE */
	size_t n_knots;
	int64_t b_ns;	       /* b's stamp when a shows the pair's a_ns, rounded down; */
	int32_t b_ps;	       /* the rest in thousandths, 0 to 999 */
	double beta_minus_one; /* rate of b against a less 1, by the outer knots */
	uint64_t corrected_inversions;
	struct usk_violations too_fast;
	uint64_t too_fast_a_to_b, too_fast_b_to_a;
	struct usk_delays a_to_b, b_to_a; /* by the line */
	struct usk_difference heard;	  /* of broadcasts, by the line */
	double seconds; /* that it took, once messages were sorted, exchanges found and hulls made
			 */
};

struct usk_compared_pair {
	uint32_t a, b; /* indices into the names of clocks; a is the reference side */
	uint64_t a_to_b, b_to_a;
	enum usk_quality quality;
	int64_t a_ns; /* middle of a's stamps in the messages, rounded down; USK_NONE */
	uint64_t recorded_inversions;
	struct usk_delays recorded_a_to_b, recorded_b_to_a;
	struct usk_difference heard_recorded;
	int64_t half_best_ns, half_worst_ns, half_mean_ns; /* of the model's band; USK_NONE */
	struct usk_method_score *score;			   /* one per method */
};

/* What a method leaves wrong over all pairs that it has an answer for. */
struct usk_method_total {
	const struct usk_estimator *method;
	size_t answers;
	uint64_t messages, recorded_inversions, corrected_inversions;
	struct usk_violations too_fast;
	struct usk_difference heard;
};

struct usk_comparison {
	struct usk_model model;
	int64_t max_skew_e12;
	char **clock; /* names */
	size_t n_clocks;
	struct usk_counts counts;
	struct usk_compared_pair *pair;
	size_t n_pairs;
	struct usk_method_total *total; /* [n_methods] */
	size_t n_methods;
	int64_t half_best_ns, half_worst_ns, half_mean_ns; /* over all pairs; USK_NONE */
	struct usk_difference heard_recorded;		   /* likewise */
	char **note;					   /* sentences for the user */
	size_t n_notes;
};

/**
 * Match once, then let estimators draw their lines through the same messages, and judge each line
 * as it is. Pairs, and messages that are left out as outliers, are those of usk_sync(). Where no
 * line of the model fits, those that need none still have an answer.
 *
 * method[n_methods]  rows of the table of estimators; n_methods 0: all of them
 * opt                may be NULL; its method does not matter
 * Memory             the messages of one pair, 32 bytes each, and what the estimators need
 */
enum usk_status usk_compare(struct usk_trace *const *trace, size_t n,
			    const struct usk_sync_options *opt,
			    const struct usk_estimator *const *method, size_t n_methods,
			    struct usk_comparison **out, struct usk_err *err);
void usk_comparison_free(struct usk_comparison *c);

/* ---- minimum delays from round trips ------------------------------------------ */

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
/** The model as usk_delay_model_parse() reads it; the caller's. */
char *usk_delay_model_text(const struct usk_delay_model *m);

/* ---- write ----------------------------------------------------------------- */

/** clocks.json, every key in its order; the caller frees the string. */
char *usk_clocks_to_json(const struct usk_clocks *c);
/**
 * The reverse, of text[size]. *out is handed over on USK_OK; USK_EINPUT names the place of what is
 * missing or wrong.
 */
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
};
void usk_notes_free(struct usk_notes *notes); /* the rows, not the struct */

struct usk_write_options {
	bool force;	      /* an existing file may be replaced */
	bool allow_unbounded; /* a clock that is not bounded goes along uncorrected, with a note */
	const struct usk_read_options *read; /* as it was read to make the clocks; may be NULL */
	/* CTF: the data stay as they are where another clock in the metadata is off by no more. */
	int64_t residual_ns;
	/* Called now and then with the share of the work done, 0 to 1; may be NULL. */
	void (*progress)(void *ctx, double done, const char *what);
	void *progress_ctx;
};

/**
 * Merge captures into one pcapng in corrected order: an interface per clock and link type
 * (if_name = the clock's name, ns), the stamp as recorded in a comment of each packet.
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
 * Re-time one trace into the same format: pcap, pcapng or a table; record order is kept.
 *
 * in     path of the trace; a folder of CTF traces
 * clock  index of its clock in c; a table names its own clocks, pass USK_NO_CLOCK
 * out    path of the new file, which appears whole or not at all
 *
 * pcap comes out with ns stamps in the input's byte order, pcapng with all other blocks and
 * options as they were and the stamp as recorded in a comment, a table with the recorded
 * stamps in added columns NAME_raw_ns (those in ticks stay, with NAME_ns beside them). Refusals and
 * notes as in usk_merge().
 */
enum usk_status usk_apply(const char *in, uint32_t clock, const struct usk_clocks *c,
			  const char *out, const struct usk_write_options *opt,
			  struct usk_notes *notes, struct usk_err *err);

/* Messages to be drawn, whose clocks are numbers of the table of clocks. */
struct usk_message_source {
	void *ctx;
	/* The next ones into out[cap]; *n is how many, 0 at the end. */
	enum usk_status (*next)(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err);
};

/**
 * All that happened as Chrome trace JSON, which Perfetto and chrome://tracing open: a process per
 * clock, messages as arrows, packets and events as instants, the band as a counter. Times are
 * microseconds with three digits since an origin, a whole second, that `otherData` tells for each
 * island; stamps as recorded are kept as strings.
 *
 * trace[n]  of any kind, read from their start;  clock[n]  as in usk_merge(), USK_NO_CLOCK for
 *           tables, which name their own
 * messages  NULL: none are drawn
 * Refusals, notes and opt as in usk_merge(). Nothing is held: memory does not grow with the traces.
 */
enum usk_status usk_timeline(struct usk_trace *const *trace, const uint32_t *clock, size_t n,
			     const struct usk_clocks *c, const struct usk_message_source *messages,
			     const char *path, const struct usk_write_options *opt,
			     struct usk_notes *notes, struct usk_err *err);

/* A trace file of any format and the clock that stamped it. */
struct usk_manifest_file {
	const char *path;
	uint32_t clock;
};

struct usk_manifest_options {
	const char *clock;   /* whose stamps they are: "REALTIME", "BOOTTIME"...; NULL: the files'
				own, as in Chrome JSON */
	int64_t residual_ns; /* refuse an offset that is off by more */
	bool force;
};

/**
 * perfetto_manifest, version 1: what Perfetto needs to open an archive of traces of several
 * machines as one. It knows one offset for each file: the one that is off by least is written, and
 * by how much, as an attribute and as a note. An archive names its files by the last parts of
 * their paths. o NULL: REALTIME, any residual.
 *
 * USK_EINPUT: a clock that is not bounded, was set back, or is off by more. USK_EUSAGE: two files
 * of one name.
 */
enum usk_status usk_perfetto_manifest(const struct usk_manifest_file *file, size_t n,
				      const struct usk_clocks *c, const char *path,
				      const struct usk_manifest_options *o, struct usk_notes *notes,
				      struct usk_err *err);

#ifdef __cplusplus
}
#endif

#endif
