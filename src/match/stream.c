/* SPDX-License-Identifier: MIT */
/*
 * stream.c - a stream that is new to a capture: which end is its host, which stream of the other
 * capture is it?
 *
 * In    its first packet, what the file says of interfaces and devices, the other capture's streams
 * Out   the role that this capture alone tells; the tie to the same stream of the other
 * Why   packets are looked for in the one stream that may have them, not in all
 * Not   what both captures together tell of who sent (sender.c)
 */
#include "match/walk.h"

enum { MAX_ADDRESSES = 16 };

static bool by_list(struct stream *st, const struct usk_addr *list, size_t n,
		    enum role_source source)
{
	bool sends = usk_addr_among(st->who.src, list, n),
	     receives = usk_addr_among(st->who.dst, list, n);
	if (sends == receives) {
		return false;
	}
	st->own_role = sends ? ROLE_SENDS : ROLE_RECEIVES;
	st->own_source = (uint8_t)source;
	return true;
}

static void by_link(struct stream *st, uint8_t side)
{
	if (side != USK_SIDE_UNKNOWN) {
		st->own_role = side == USK_SIDE_SENT ? ROLE_SENDS : ROLE_RECEIVES;
		st->own_source = FROM_LINK;
	}
}

/* The evidence that needs no match, strongest first. */
static void find_role(const struct walk *w, int me, struct stream *st, uint8_t side)
{
	const struct usk_walker *of = &w->of[me];
	if (by_list(st, of->local, of->n_local, FROM_OPTION)) {
		return;
	}
	/* What comes to a bridge goes on, and so does what it sends. */
	if (!of->survey->passing.bridged) {
		by_link(st, side);
	}
	if (st->own_role != ROLE_UNKNOWN) {
		return;
	}
	/* Interfaces state a few addresses each; a file that states thousands is no evidence. */
	const struct usk_feed *f = &w->feed[me];
	for (size_t i = 0; i < f->batch->n_faces; i++) {
		const struct usk_iface *face = &f->face[i];
		if (face->n_addrs <= MAX_ADDRESSES &&
		    by_list(st, face->addr, face->n_addrs, FROM_INTERFACE)) {
			return;
		}
	}
	by_list(st, w->found[me], w->n_found[me], FROM_ADDRESS);
}

/* A host that forwards has every packet twice, in and out: then its link layer tells nothing. */
void usk_walk_forwarded(struct walk *w, int me, uint32_t which)
{
	struct stream *st = &w->side[me].stream[which];
	st->own_role = st->role = ROLE_UNKNOWN;
	st->own_source = st->source = FROM_NOTHING;
	if (st->peer != NOBODY) {
		usk_walk_agree(w, me ? st->peer : which, me ? which : st->peer);
	}
}

/* The same packets from other vantage points of this capture: with as many hops left, coming and
 * going, they only pass by. */
static void note_passing(struct walk *w, int me, uint32_t which, const struct tuple *t)
{
	const struct side *mine = &w->side[me];
	const struct stream *st = &mine->stream[which];
	uint32_t other;
	for (size_t at = SIZE_MAX; (other = usk_stream_each(mine, t, &at)) != NOBODY;) {
		const struct stream *o = &mine->stream[other];
		if (o->ttl != st->ttl ||
		    usk_vantage_goes(o->vantage) == usk_vantage_goes(st->vantage)) {
			continue;
		}
		if (o->own_source == FROM_LINK) {
			usk_walk_forwarded(w, me, other);
		}
		if (st->own_source == FROM_LINK) {
			usk_walk_forwarded(w, me, which);
		}
	}
}

/* The streams of the other capture that may be this one. */
static void tie(struct walk *w, int me, uint32_t which, const struct tuple *t)
{
	const struct side *mine = &w->side[me], *theirs = &w->side[!me];
	const struct stream *st = &mine->stream[which];
	size_t at = SIZE_MAX;
	uint32_t other = usk_stream_each(theirs, t, &at);
	if (w->chooses) {
		for (; other != NOBODY; other = usk_stream_each(theirs, t, &at)) {
			usk_walk_consider(w, me ? other : which, me ? which : other);
		}
		return;
	}
	if (other == NOBODY && st->reverse != NOBODY) {
		/* Behind NAT: the way back is tied already. */
		uint32_t back = mine->stream[st->reverse].peer;
		other = back != NOBODY ? theirs->stream[back].reverse : NOBODY;
	}
	if (other != NOBODY && theirs->stream[other].peer == NOBODY) {
		usk_walk_link(w, me ? other : which, me ? which : other);
	}
}

uint32_t usk_walk_new_stream(struct walk *w, int me, const struct usk_packet *p, uint16_t vantage)
{
	struct side *mine = &w->side[me], *theirs = &w->side[!me];
	if (mine->live >= mine->sweep_at) {
		usk_side_sweep(mine, theirs);
	}
	uint32_t which = usk_stream_new(mine, p, vantage);
	struct stream *st = &mine->stream[which];
	st->sides = (uint8_t)(1 << p->side);
	st->group = p->has & USK_HAS_GROUP || usk_addr_is_multicast(p->dst);
	find_role(w, me, st, p->side);
	st->role = st->own_role;
	st->source = st->own_source;
	struct tuple tuple = usk_tuple_of(p);
	if (vantage) {
		note_passing(w, me, which, &tuple);
	}
	tie(w, me, which, &tuple);
	return which;
}

void usk_walk_rendezvous(struct walk *w, int me, uint32_t which, uint64_t key)
{
	struct side *theirs = &w->side[!me];
	size_t steps = 0;
	for (uint64_t i = usk_side_find(theirs, key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(theirs, i), steps++) {
		uint32_t other = usk_seen(theirs, i)->stream;
		const struct stream *st = &theirs->stream[other];
		if (st->who.proto == TCP && w->chooses) {
			usk_walk_consider(w, me ? other : which, me ? which : other);
		} else if (st->peer == NOBODY && st->who.proto == TCP) {
			usk_walk_link(w, me ? other : which, me ? which : other);
			return;
		}
	}
}
