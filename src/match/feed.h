/* SPDX-License-Identifier: MIT */
/*
 * feed.h - the packets of one capture that can have a counterpart in another, one after the other
 */
#ifndef USK_FEED_H
#define USK_FEED_H

#include "match/match.h"

struct usk_fed {
	struct usk_packet packet;
	int64_t common_ns; /* on the first capture's clock, roughly */
	uint64_t device;   /* a bit for its interface and its device; 0: unknown */
	uint8_t on;	   /* its interface */
};

enum { USK_FEED = 64 };

/* A capture that is being read. */
struct usk_feed {
	const struct usk_walker *of;
	const struct usk_coarse *map; /* NULL: its own clock is the common one */
	struct usk_depth depth;
	int64_t from_ns, to_ns; /* stamps outside of these are left out */
	size_t hint;
	struct usk_epoch_place place;
	struct usk_counts left_out; /* counted in pass 1 already */
	uint64_t unmatched;	    /* lay outside */
	enum usk_status status;	    /* why it ended */
	/* Of the packets at hand. */
	const struct usk_iface *iface;
	size_t n_ifaces;
	bool devices; /* they can be of several */
	size_t n, at;
	struct usk_fed packet[USK_FEED];
};

/** Decode the next ones; false: there are none, or f->status says why not. */
bool usk_feed_more(struct usk_feed *f, struct usk_err *err);

/** The next packet, good until the next call; NULL: none. */
static inline const struct usk_fed *usk_feed_next(struct usk_feed *f, struct usk_err *err)
{
	return f->at < f->n || usk_feed_more(f, err) ? &f->packet[f->at++] : NULL;
}

#endif
