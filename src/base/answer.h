/* SPDX-License-Identifier: MIT */
/*
 * answer.h - what the answer tells of traces and of pairs of clocks
 */
#ifndef USK_ANSWER_H
#define USK_ANSWER_H

#include "unskew.h"

/* No record is late by more: where stamps fall by that the clock was set back. */
#define USK_LATEST_NS INT64_C(10000000000)

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

/** The model as usk_delay_model_parse() reads it; the caller's. */
char *usk_delay_model_text(const struct usk_delay_model *m);

/* An interface of a capture, by its name or number, that has a clock of its own. */
struct usk_iface_clock {
	char *iface;
	uint32_t clock;
};

/* Of a clock that has several files and was set back: in one of them an epoch begins with this record. */
struct usk_trace_begin {
	uint32_t clock, epoch;
	uint64_t record; /* of those that are the clock's, counted from 0 */
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
	/* Rising; record 0 is of the epoch in which the file begins. No row of a clock: it is not known, or 0 as
	 * for all; no later row: it is known for captures alone. */
	struct usk_trace_begin *begin;
	size_t n_begins;
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
	int64_t residual_ns; /* Er of a method through round trips (Clement 2009); 0: none */
	uint64_t hull_floor, hull_ceiling;		    /* vertices of the two hulls */
	struct usk_delays recorded_a_to_b, recorded_b_to_a; /* by the stamps as recorded */
	int64_t min_delay_a_to_b_ns, min_delay_b_to_a_ns;   /* corrected, smallest; USK_NONE */
	/* Corrected, by 8,192 messages spread evenly; n is how many these are. */
	struct usk_delays corrected_a_to_b, corrected_b_to_a;
	struct usk_difference broadcasts_recorded, broadcasts_corrected;
};

/* What captures tell of a message besides. */
struct usk_origin {
	uint8_t proto;		 /* IP protocol */
	uint8_t sent_on, got_on; /* interfaces of the two captures; 255: that one or a later one */
};

/* What a third clock sent once and both clocks of a pair received: their stamps of it. */
struct usk_reception {
	int64_t a_ns, b_ns;
};

/* Half the width of a clock's band between its outermost knots, those within the bracket of a jump
 * left out, rounded up. */
struct usk_widths {
	int64_t best_ns, best_at_ns; /* smallest, and the first local time that has it */
	int64_t worst_ns, mean_ns;   /* mean over time */
	int64_t open_ns, span_ns;    /* for how long a side is open, of how long */
};

/** Half widths are USK_NONE if the band has a side only, or none. Exact: bands are straight between
 * knots. */
struct usk_widths usk_band_widths(const struct usk_clock *clock);

/* Does its bracket begin before the first of two local times of an epoch and end behind the second?
 * Both the same: does that lie strictly in its bracket? O(1) */
bool usk_jump_spans(const struct usk_jump *jump, uint32_t epoch, int64_t first_ns,
		    int64_t second_ns);

/** The reference as a clock: two knots of offset 0, at its first and last event. */
void usk_clock_reference(struct usk_clock *clock, int64_t first_ns, int64_t last_ns);

/**
 * "linear", "wander[=PPM]", "segments[=DURATION|auto]"; NULL is the default. "wander=0" is linear.
 * USK_EUSAGE: it is none of them, or its value is no rate up to 1000 ppm or no duration over 0.
 */
enum usk_status usk_model_parse(const char *text, struct usk_model *out, struct usk_err *err);
/** "linear", "wander", "segments"; static. */
const char *usk_model_name(enum usk_model_kind kind);

/** "yes", "no", "undecidable"; static. */
const char *usk_order_name(enum usk_order o);

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
	/* Behind it, of at most so many pairs: the upper hull of a pair's floors, the lower one of
	 * its ceilings, of the messages that come, as they were recorded; may be NULL. Not called
	 * for pairs of which that is not known. */
	void (*hull)(void *ctx, size_t pair, bool ceiling, const struct usk_point *p, size_t n);
	size_t most_hulls;
	/* Where the n messages stand that the next put() brings, borrowed until it returns; may be
	 * NULL. */
	void (*corrected)(void *ctx, const struct usk_corrected *at, size_t n);
	/* Where the n messages come from that the next put() brings; may be NULL. Not called for
	 * tables, which do not know. */
	void (*origins)(void *ctx, const struct usk_origin *origin, size_t n);
	/* Broadcasts that both received; may be NULL. */
	void (*broadcasts)(void *ctx, const struct usk_reception *broadcasts, size_t n);
	/* A new round begins: forget what came since the last keep(); may be NULL. */
	bool (*start)(void *ctx);
	/* Messages may come in any order and without their lengths, once the answer is settled: then
	 * traces need not be read again for them. */
	bool any_order;
	/* put() and origins() may be called in another thread than that of who reads, a call at a time:
	 * set by who reads for itself alone. */
	bool beside;
	bool (*put)(void *ctx, const struct usk_msg *msg, size_t n);
	/* What was put since start() stays: that round was the last of its pair; may be NULL. */
	void (*keep)(void *ctx);
};

#endif
