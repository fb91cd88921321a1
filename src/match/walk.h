/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the state of one walk, shared by reading in step (walk.c) and pairing (pair.c)
 */
#ifndef USK_WALK_H
#define USK_WALK_H

#include "match/feed.h"
#include "match/match.h"
#include "match/window.h"

/* A protocol of IP, and its flags. */
enum { TCP = 6, FIN = 1, SYN = 2, RST = 4, ACK = 16 };

/* ---- who sent it, where no address tells: evidence from hops and from exchanges ---- */

/* One packet seen in both captures, sender not yet known. */
struct doubt {
	int64_t p_ns, q_ns, p_last_ns, q_last_ns;
	uint32_t bytes;
	uint8_t proto, p_iface, q_iface;
};

/* Traffic from one address to another, as the first capture names them. */
/* Exchanges by the length of the gap between question and answer, each four times that of the one before. */
enum { GAP_BINS = 18 };

struct direction {
	struct usk_addr src, dst; /* to a group: USK_ANYBODY */
	uint8_t role, source;	  /* of the first capture, once decided */
	uint32_t reverse;	  /* the way back, or NOBODY */
	uint64_t ttl[2], gap[2];  /* votes: [0] the first capture is nearer the sender */
	uint64_t level;		  /* as many hops left in both captures */
	/* Of the first answer to each question: how many there were, and how they vote. */
	uint32_t exchanges[GAP_BINS], said[2][GAP_BINS];
	uint64_t sightings;
	bool seen, answered;	      /* the latest one was */
	bool doubtful;		      /* nothing shows that IP-IDs are kept that contents need */
	bool passing;		      /* a capture saw packets of it more than once */
	uint64_t joins, spans;	      /* of pass 1; those that seem to have been seen so */
	int64_t last_p_ns, last_q_ns; /* latest sighting */
	int64_t last_span_ns;
	struct doubt *doubt;
	size_t n_doubts, cap_doubts;
};

struct directions {
	struct direction *of;
	size_t n, cap;
	uint32_t *slot;
	size_t n_slots;
	int64_t shortest_ns; /* round trip between the captures, of any exchange; 0 = none seen */
};

void usk_directions_free(struct directions *w);
#define USK_ANYBODY ((struct usk_addr){ 0, 0 })

/** The direction between two addresses, made if need be; NOBODY when there are too many. ours: its source
 * has one of the captures; an answer of it to who sent to a group counts as the way back. */
uint32_t usk_direction_find(struct directions *w, struct usk_addr src, struct usk_addr dst,
			    bool ours);
/** The same, NOBODY if nothing is known of it. */
uint32_t usk_direction_known(const struct directions *w, struct usk_addr src, struct usk_addr dst);
/** Take a sighting as evidence: ttls and stamps of both captures, each on its own clock. */
void usk_direction_vote(struct directions *w, uint32_t which, const struct usk_sighting *s);
/** Do hops fall one way here, and the other way on the way back, if anything is known of that? nearer:
 * from the first capture to the second. */
bool usk_direction_falls(const struct directions *w, uint32_t which, bool nearer);
enum role usk_direction_decide(const struct directions *w, struct direction *d, bool last);

/* MAX_CHAIN: packets of one key that are looked at; more are nobody's. */
enum { MAX_CHAIN = 64 };

/* Messages that are handed out together. */
struct handful {
	struct usk_msg *msg;
	struct usk_origin *origin;
	size_t n;
};

struct walk {
	const struct usk_walker *of; /* [2] */
	const struct usk_walk_options *opt;
	struct usk_helpers *helpers;
	struct usk_feed feed[2];
	const struct usk_feed *failed; /* NULL: none did */
	struct side side[2];
	struct directions directions;
	struct usk_addr own[2][16]; /* among these is each capture's own; none: not known */
	size_t n_own[2];
	struct usk_addr found[2][2]; /* of these, what the surveys tell to be its own */
	size_t n_found[2];
	size_t n_doubts; /* held in all */
	bool ip_id_kept;
	bool chooses;	 /* a capture sees packets from several vantage points */
	bool guess[2];	 /* own addresses that were found need exchanges that agree */
	bool doubled[2]; /* this capture has most packets twice and more */
	int64_t lag_ns;	 /* a send is surely read when its receive is this old */
	uint64_t most;	 /* packets that a side remembers */
	/* Out */
	const struct usk_sink *sink;
	struct handful out, handed;
	size_t cap_out;
	bool beside;	      /* while others are matched */
	struct usk_job hands; /* `handed` out */
	bool enough;	      /* the sink wants no more than that */
	struct usk_counts *counts;
	uint64_t decided_by[FROM_EXCHANGE + 1]; /* messages by enum role_source */
	bool stopped;				/* `enough`, once that is known */
};

/** A packet of a stream that capture `me` did not have so far. */
uint32_t usk_walk_new_stream(struct walk *w, int me, const struct usk_packet *p, uint16_t vantage);
/** The host forwards, as packets of this stream come and go: its link layer tells nothing. */
void usk_walk_forwarded(struct walk *w, int me, uint32_t which);
/** Behind NAT the streams of one connection find each other by a packet that both captures saw. */
void usk_walk_rendezvous(struct walk *w, int me, uint32_t which, uint64_t key);
/** Tie a stream of the first capture to the same stream of the second. */
void usk_walk_link(struct walk *w, uint32_t p, uint32_t q);
/** The same where there is a choice of vantage points: if they fit better than what they have. */
void usk_walk_consider(struct walk *w, uint32_t p, uint32_t q);
/** The direction of packets that both captures have; NOBODY: nothing can be learned of it. */
uint32_t usk_walk_direction(struct walk *w, struct usk_addr src, struct usk_addr dst, bool group);
/** Look for the send of a packet that has become old enough. Returns whether nothing is left to look for. */
bool usk_walk_pair(struct walk *w, int side, uint64_t number);
/** Is there a send behind such a receive, by stamps, that is certainly the same packet? Then a clock was set
 * near it, and no other message may say so. Before either side lets go of it. */
void usk_walk_pair_late(struct walk *w, int side, uint64_t number);
/** A packet that both captures have, p of the first: it becomes a message, or is counted. */
void usk_walk_sighting(struct walk *w, struct seen *p, struct seen *q);
/** The direction of a stream became known or doubtful: set the roles of it and of its peer. */
void usk_walk_agree(struct walk *w, uint32_t p, uint32_t q);
/** Hand out what was in doubt until now. */
void usk_walk_settle_doubts(struct walk *w);
void usk_walk_flush(struct walk *w);
/** Wait until the sink has what was handed out. */
void usk_walk_handed(struct walk *w);

#endif
