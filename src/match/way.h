/* SPDX-License-Identifier: MIT */
/*
 * way.h - who sent it, where no address tells: evidence from hops and from exchanges
 */
#ifndef USK_WAY_H
#define USK_WAY_H

#include "match/window.h"

/* One packet seen in both captures, sender not yet known. */
struct doubt {
	int64_t p_ns, q_ns;
	uint32_t bytes;
	uint8_t proto, p_iface, q_iface;
};

/* Traffic from one address to another, as the first capture names them. */
struct way {
	struct usk_addr src, dst;
	uint8_t role, source;	 /* of the first capture, once decided */
	uint32_t reverse;	 /* the way back, or NOBODY */
	uint64_t ttl[2], gap[2]; /* votes: [0] the first capture is nearer the sender */
	bool seen;
	int64_t last_p_ns, last_q_ns; /* latest sighting */
	struct doubt *doubt;
	size_t n_doubts, cap_doubts;
};

struct ways {
	struct way *way;
	size_t n, cap;
	uint32_t *slot;
	size_t n_slots;
	int64_t shortest_ns; /* round trip between the captures, of any exchange; 0 = none seen */
};

void usk_ways_free(struct ways *w);
/** The way between two addresses, made if need be; NOBODY when there are too many. */
uint32_t usk_way_find(struct ways *w, struct usk_addr src, struct usk_addr dst);
/** The same, NOBODY if nothing is known of it. */
uint32_t usk_way_known(const struct ways *w, struct usk_addr src, struct usk_addr dst);
/** Take a sighting as evidence: ttls and stamps of both captures, each on its own clock. */
void usk_way_vote(struct ways *w, uint32_t which, uint8_t ttl_p, uint8_t ttl_q, int64_t p_ns,
		  int64_t q_ns);
/** Decide if the evidence is clear; last: there will be no more, so a single vote counts. */
enum role usk_way_decide(struct way *way, bool last);

#endif
