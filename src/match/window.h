/* SPDX-License-Identifier: MIT */
/*
 * window.h - what one side of the walk remembers: recent packets and the streams they belong to
 *
 * Packets stand in a ring in the order they were read and are named by their running number; a
 * number below `tail` has expired, so that chains and lists need no deletion.
 */
#ifndef USK_WINDOW_H
#define USK_WINDOW_H

#include "base/base.h"
#include "read/trace.h"

#define NOBODY UINT32_MAX

/* ROLE_NEITHER: a third party sent it, both received it. */
enum role { ROLE_UNKNOWN, ROLE_SENDS, ROLE_RECEIVES, ROLE_NEITHER };

enum role_source {
	FROM_NOTHING,
	FROM_OPTION,
	FROM_LINK,
	FROM_INTERFACE,
	FROM_ADDRESS,
	FROM_TTL,
	FROM_EXCHANGE,
};

enum {
	SEEN_MATCHED = 1,
	SEEN_AMBIGUOUS = 2,
	SEEN_RESENT = 4, /* a send whose original the capture missed */
	SEEN_LATE = 4,	 /* of a receive, the same bit: later bytes came before */
	SEEN_RANGE = 8,	 /* covers bytes of a stream: matched by range, not whole */
	SEEN_INDEXED = 16,
	SEEN_SENT = 32, /* this capture's host sent it: nothing to look for */
	SEEN_SYN = 64,
	SEEN_FIN = 128,
};

/* A packet in the window: one cache line. */
struct seen {
	int64_t time_ns;   /* as recorded */
	int64_t common_ns; /* on the first capture's clock, roughly */
	uint64_t key;	   /* content; see usk_packet */
	uint64_t taken;	   /* sends: which of the 64 pieces before the furthest were received */
	uint32_t number;   /* low bits of the running number of the older packet with its key */
	uint32_t stream;
	uint32_t seq;
	uint32_t context; /* acknowledgement number and time stamps: one copy's, hardly another's */
	uint32_t bytes;
	uint32_t piece; /* sends: size of the pieces that offload cut it into, once known */
	uint16_t ip_id;
	uint16_t window; /* whole packets; sends of ranges: the furthest piece that was received */
	uint8_t ttl, has, state, iface;
};

_Static_assert(sizeof(struct seen) == 64, "a packet in the window is one cache line");

/* Sequence numbers that a packet takes: its payload, SYN and FIN. */
static inline uint32_t usk_span(const struct seen *p)
{
	return p->bytes + !!(p->state & SEEN_SYN) + !!(p->state & SEEN_FIN);
}

/* A send of a range of the byte stream, sorted by start. */
struct send {
	uint64_t start, end;
	uint64_t number;
};

/* Who talks to whom. */
struct tuple {
	struct usk_addr src, dst;
	uint16_t sport, dport;
	uint8_t proto;
};

static inline struct tuple usk_tuple_of(const struct usk_packet *p)
{
	return (struct tuple){ p->src, p->dst, p->sport, p->dport, p->proto };
}

static inline bool usk_tuple_same(const struct tuple *a, const struct tuple *b)
{
	/* By XOR: a compiler joins comparisons of neighbours into one load that is wider than the stores just before
	 * it, and waits for these. */
	return !((a->sport ^ b->sport) | (a->dport ^ b->dport) | (a->proto ^ b->proto)) &&
	       usk_addr_same(a->src, b->src) && usk_addr_same(a->dst, b->dst);
}

struct stream {
	struct tuple who;
	uint8_t role, source;	      /* enum role, enum role_source */
	uint8_t own_role, own_source; /* what this capture alone says */
	uint8_t ttl;		      /* of its first packet, */
	uint8_t met;		      /* or the first that its peer has, too */
	uint8_t disputed;	      /* hops contradict what is said of it */
	uint8_t group;		      /* it goes to all, or to many */
	uint16_t vantage;	      /* 0 where a capture has one; see usk_vantage() */
	uint8_t alive, anchored;
	uint8_t sides;	  /* bit per enum usk_side seen by the link layer */
	uint8_t dup_acks; /* of last_ack, in a row */
	uint8_t n_lost;
	uint8_t midway;		/* the capture began within it: no SYN */
	uint8_t openers;	/* sends counted in opening, at most 2 */
	uint64_t opening;	/* end of its first sends */
	uint8_t unruly;		/* sends so far out of order that nothing is said of it */
	uint8_t acks;		/* it carries acknowledgements, */
	uint32_t acknowledged;	/* the highest one so far, */
	uint32_t echoed;	/* and the time stamp that came back with it */
	uint32_t highest_tsval; /* of the send that `highest` is the end of */
	uint32_t last_ack;
	uint32_t lost[4];   /* sequence numbers that three duplicate ACKs asked for again, */
	int64_t lost_ns[4]; /* and when the third one was recorded */
	uint32_t peer;	    /* the same stream in the other capture */
	uint32_t reverse;   /* the other direction in this capture */
	uint32_t direction; /* evidence who sends, see direction.c */
	uint32_t packets;
	uint64_t last;	   /* number of its latest packet */
	uint64_t position; /* unwrapped sequence number it has come to */
	uint64_t highest;  /* end of what was sent so far */
	uint64_t messy;	   /* number of the latest send that overlaps another; 0 = none */
	uint64_t longest;  /* range */
	uint64_t labour;   /* sends that were moved or looked through */
	struct send *send;
	uint32_t head, n_sends, cap_sends;
	uint32_t hint; /* where in send[] the latest search ended */
};

/* Further sightings of a packet. */
struct again {
	int64_t last_ns;  /* INT64_MIN: none */
	uint64_t devices; /* where it was seen, each a bit that others may share; 0: the file does
			     not tell */
};

struct side {
	struct seen *ring;
	struct again *again; /* of each in the ring; NULL: it has but one sighting */
	size_t mask;	     /* ring size - 1 */
	uint64_t tail, drained, head;
	uint64_t marked;  /* packets that were matched, or are ambiguous */
	uint64_t *lonely; /* no send comes before these, until the window has passed */
	size_t lonely_from, n_lonely, cap_lonely;
	uint32_t *bucket; /* by key: low bits of the running number + 1 of the newest */
	struct stream *stream;
	size_t n_streams, cap_streams, live, sweep_at;
	uint32_t *slot; /* by addresses and ports: stream + 1 */
	size_t n_slots;
	uint32_t *free_stream;
	size_t n_free, cap_free;
	uint32_t recent; /* stream of the latest packet */
	bool misses;	 /* the capture lacks sends: a gap, or a copy without its original */
};

/** doubled: packets may be seen again. */
void usk_side_init(struct side *s, bool doubled);
void usk_side_free(struct side *s);

static inline struct seen *usk_seen(const struct side *s, uint64_t number)
{
	return &s->ring[number & s->mask];
}

void usk_side_grow(struct side *s);

/** A place for one more packet; its number is s->head - 1 afterwards. */
static inline struct seen *usk_side_push(struct side *s)
{
	if (s->head - s->tail > s->mask) {
		usk_side_grow(s);
	}
	struct seen *p = usk_seen(s, s->head++);
	p->state = 0;
	p->taken = 0;
	p->number = 0;
	p->piece = 0;
	if (s->again) {
		s->again[p - s->ring] = (struct again){ .last_ns = INT64_MIN };
	}
	return p;
}

/** SEEN_MATCHED or SEEN_AMBIGUOUS, counted once. */
static inline void usk_mark(struct side *s, struct seen *p, unsigned how)
{
	s->marked += !(p->state & (SEEN_MATCHED | SEEN_AMBIGUOUS));
	p->state |= (uint8_t)how;
}

/* Packets of one key, newest first. */
void usk_side_index(struct side *s, uint64_t number);
/** The newest packet of this key, UINT64_MAX if none. */
uint64_t usk_side_find(const struct side *s, uint64_t key);
/** The next older packet of the same key, UINT64_MAX if none. */
uint64_t usk_side_older(const struct side *s, uint64_t number);

/* Where a host that forwards saw a packet: coming or going, and how many hops it had left. */
static inline uint16_t usk_vantage(uint8_t side, uint8_t ttl)
{
	return (uint16_t)(1u << 15 | (unsigned)side << 8 | ttl);
}

static inline bool usk_vantage_goes(uint16_t vantage)
{
	return (vantage >> 8 & 3) == USK_SIDE_SENT;
}

/** The stream of a packet if it is that of the one before, or its answer; NOBODY: look for it. */
static inline uint32_t usk_stream_recent(const struct side *s, const struct usk_packet *p,
					 uint16_t vantage)
{
	uint32_t guess = s->recent;
	for (int i = 0; i < 2 && guess != NOBODY; i++) {
		const struct stream *st = &s->stream[guess];
		const struct tuple *t = &st->who;
		if (st->vantage == vantage && t->sport == p->sport && t->dport == p->dport &&
		    t->proto == p->proto && usk_addr_same(t->src, p->src) &&
		    usk_addr_same(t->dst, p->dst)) {
			return guess;
		}
		guess = st->reverse;
	}
	return NOBODY;
}

/** The stream of a packet, NOBODY if there is none yet. */
uint32_t usk_stream_find(const struct side *s, const struct usk_packet *p, uint16_t vantage);
/** The next stream between these, from whatever vantage point; *at is SIZE_MAX before the first. */
uint32_t usk_stream_each(const struct side *s, const struct tuple *t, size_t *at);
uint32_t usk_stream_new(struct side *s, const struct usk_packet *p, uint16_t vantage);

/** Sequence number -> position in 64 bits, nearest to where the stream is. */
static inline uint64_t usk_unwrap(const struct stream *st, uint32_t seq)
{
	return st->position + (uint64_t)(int64_t)(int32_t)(seq - (uint32_t)st->position);
}

/**
 * Add a send to its stream's list. Sets SEEN_RESENT on a packet whose range lies below what was
 * sent before and was not seen: the capture missed its original. False, nothing added: the very
 * packet was seen already (another interface of the same host), or the stream is unruly.
 */
bool usk_stream_send(struct side *s, struct stream *st, uint64_t number, uint32_t tsval);

/** Mark a piece of a send as received; false: it was, or it comes too late to tell. */
bool usk_seen_take(struct seen *sent, uint32_t offset);

/** The sends that cover a position and have not expired: at most cap, latest first. */
size_t usk_stream_covering(struct side *s, struct stream *st, uint64_t position, uint64_t *out,
			   size_t cap);

/** Forget streams without a packet in the window; links to them are cut on both sides. */
void usk_side_sweep(struct side *s, struct side *other);

#endif
