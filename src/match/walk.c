/* SPDX-License-Identifier: MIT */
/*
 * walk.c - pass 2: read two captures in step and let each packet find its other sighting
 *
 * In    two captures, their surveys, the coarse map between their clocks
 * Out   messages
 * Why   in step, only a window of both has to be remembered, whatever the captures' length and
 *       however far apart their clocks are
 * Not   which packets belong together (pair.c)
 *
 * A packet becomes a receive when the walk has come `lag` beyond it: by then its send was read
 * for certain, and so were the copies that could be confused with it.
 */
#include "match/walk.h"

#include <stdlib.h>
#include <string.h>

/* A host has passed a packet on from device to device by then, and no answer can have asked for it
 * anew. */
#define AGAIN_NS INT64_C(1000000)

enum { RUN = 256, RENDEZVOUS = 64 };

/* Packets that a side remembers at most. */
#define USUAL_MOST ((uint64_t)1 << 22)

static uint32_t stream_of(struct walk *w, int me, const struct usk_packet *p)
{
	struct side *mine = &w->side[me];
	uint16_t vantage = w->chooses ? usk_vantage(p->side, p->ttl) : 0;
	uint32_t which = usk_stream_recent(mine, p, vantage);
	if (which == NOBODY) {
		which = usk_stream_find(mine, p, vantage);
	}
	if (which == NOBODY) {
		return usk_walk_new_stream(w, me, p, vantage);
	}
	struct stream *st = &mine->stream[which];
	uint8_t sides = (uint8_t)(st->sides | 1u << p->side);
	if (sides != st->sides) {
		st->sides = sides;
		if (sides >> USK_SIDE_SENT == 3 && st->own_source == FROM_LINK) {
			usk_walk_forwarded(w, me, which);
		}
	}
	return which;
}

/* Three acknowledgements of the same byte ask for it again: a copy may follow unseen. */
static void note_duplicate_ack(struct walk *w, int me, struct stream *st, uint32_t ack,
			       int64_t at_ns)
{
	if (st->packets <= 1 || ack != st->last_ack) {
		st->last_ack = ack;
		st->dup_acks = 0;
		return;
	}
	if (++st->dup_acks == 3 && st->reverse != NOBODY) {
		struct stream *data = &w->side[me].stream[st->reverse];
		memmove(data->lost + 1, data->lost, sizeof data->lost - sizeof data->lost[0]);
		memmove(data->lost_ns + 1, data->lost_ns,
			sizeof data->lost_ns - sizeof data->lost_ns[0]);
		data->lost[0] = ack;
		data->lost_ns[0] = at_ns;
		data->n_lost = (uint8_t)(data->n_lost + (data->n_lost < COUNT(data->lost)));
	}
}

/* Bytes that were acknowledged before they were sent: the capture missed their first copy. */
static bool was_acknowledged(const struct side *mine, const struct stream *st,
			     const struct usk_packet *s)
{
	if (st->reverse == NOBODY) {
		return false;
	}
	const struct stream *back = &mine->stream[st->reverse];
	/* Unless its time stamp is later than the one that came back: then it is told apart. */
	return back->acks && (int32_t)(back->acknowledged - s->seq) > 0 &&
	       !(s->has & USK_HAS_TIMESTAMPS && (int32_t)(s->tsval - back->echoed) > 0);
}

/* ---- one packet in ----------------------------------------------------------------- */

/*
 * Is a sighting, at `device`, of the packet that was seen before? An IP-ID that both have says so,
 * if they are not far apart. Else it is not if it goes to a group, as a host says alike from each
 * of its devices; nor if that device had it, as copies are sent anew at once, and acknowledgements
 * alike: of devices that are not known only a moment tells that.
 */
static bool is_it(const struct side *mine, const struct seen *c, const struct seen *s,
		  uint64_t device, bool group)
{
	bool elsewhere = device && !(mine->again[c - mine->ring].devices & device);
	bool named = s->has & USK_HAS_IP_ID && s->ip_id;
	int64_t longest = elsewhere ? USK_FORWARDED_NS : AGAIN_NS;
	return c->stream == s->stream && c->seq == s->seq && c->bytes == s->bytes &&
	       c->context == s->context && c->ip_id == s->ip_id &&
	       (named || (!group && (elsewhere || !device))) && s->time_ns >= c->time_ns &&
	       s->time_ns - c->time_ns <= longest;
}

/* Was this very packet seen a moment ago, or on another device since? */
static struct seen *seen_before(const struct side *mine, const struct seen *s, uint64_t device,
				bool group)
{
	size_t steps = 0;
	for (uint64_t i = usk_side_find(mine, s->key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(mine, i), steps++) {
		struct seen *c = usk_seen(mine, i);
		if (is_it(mine, c, s, device, group)) {
			return c;
		}
	}
	return NULL;
}

/* The packet's first sighting stands for all. */
static void merge(struct walk *w, int me, struct seen *first, struct seen *again, uint64_t device)
{
	struct side *mine = &w->side[me];
	struct again *so_far = &mine->again[first - mine->ring];
	so_far->last_ns = again->time_ns;
	so_far->devices |= device;
	again->state |= SEEN_SENT;
	usk_mark(mine, again, SEEN_AMBIGUOUS);
	w->counts->passed++;
}

static void take(struct walk *w, int me, const struct usk_fed *f)
{
	const struct usk_packet *p = &f->packet;
	struct side *mine = &w->side[me];
	/* Copies of one content have IP-IDs of their own: no need to look at each. */
	uint64_t key = w->ip_id_kept && p->has & USK_HAS_IP_ID
			       ? p->key + p->ip_id * UINT64_C(0x9e3779b97f4a7c15)
			       : p->key;
	__builtin_prefetch(&mine->bucket[(size_t)key & mine->mask], 1);
	uint32_t which = stream_of(w, me, p);
	if (mine->head - mine->tail > w->most) {
		/* Denser, or spread wider, than memory should follow: the oldest has waited enough.
		 */
		mine->tail++;
		mine->drained = mine->drained < mine->tail ? mine->tail : mine->drained;
	}
	struct seen *s = usk_side_push(mine);
	struct stream *st = &mine->stream[which];
	uint64_t number = mine->head - 1;
	mine->recent = which;
	s->time_ns = p->time_ns;
	s->common_ns = f->common_ns;
	s->key = key;
	s->stream = which;
	s->seq = p->seq;
	uint64_t stamps =
		p->has & USK_HAS_SHARED_TIMESTAMPS ? (uint64_t)p->tsval << 32 | p->tsecr : 0;
	s->context = (uint32_t)usk_fold(p->ack, stamps);
	s->bytes = p->bytes;
	s->ip_id = p->ip_id;
	s->window = p->window;
	s->ttl = p->ttl;
	s->has = p->has;
	s->iface = f->on;
	if (st->role == ROLE_SENDS && st->peer != NOBODY) {
		s->state |= SEEN_SENT;
	}
	struct seen *first =
		w->doubled[me] ? seen_before(mine, s, f->device, usk_is_group(p)) : NULL;
	if (first) {
		st->last = number;
		merge(w, me, first, s, f->device);
		return;
	}
	if (mine->again) {
		mine->again[s - mine->ring].devices = f->device;
	}
	if (!st->packets) {
		st->midway = !(p->flags & SYN);
	}
	st->last = number;
	st->packets++;
	if (p->proto != TCP) {
		usk_side_index(mine, number);
		return;
	}
	if (!st->anchored) {
		/* Room below, so that a first packet out of order does not wrap below zero. */
		st->anchored = 1;
		st->position = (UINT64_C(1) << 40) + p->seq;
	}
	if (p->flags & ACK) {
		bool later = !st->acks || (int32_t)(p->ack - st->acknowledged) > 0;
		if (later) {
			st->acknowledged = p->ack;
			st->echoed = p->tsecr;
		}
		st->acks = 1;
	}
	bool range = !(p->flags & RST) && (p->bytes || p->flags & (SYN | FIN));
	if (st->peer == NOBODY && (st->packets <= RENDEZVOUS || !(p->key >> 8 & 15))) {
		/* Later on only a sixteenth, the same one on both sides. */
		usk_walk_rendezvous(w, me, which, s->key);
		st = &mine->stream[which];
	}
	if (!range) {
		usk_side_index(mine, number);
		if (!(p->flags & RST)) {
			note_duplicate_ack(w, me, st, p->ack, p->time_ns);
		}
		return;
	}
	/* To find each other, and where no IP-ID tells copies apart, to see that there are two. */
	bool nameless = !(w->ip_id_kept && p->has & USK_HAS_IP_ID && p->ip_id) || w->doubled[me];
	if (st->peer == NOBODY || nameless) {
		usk_side_index(mine, number);
	}
	s->state |= (uint8_t)(SEEN_RANGE | (p->flags & SYN ? SEEN_SYN : 0) |
			      (p->flags & FIN ? SEEN_FIN : 0));
	uint64_t position = usk_unwrap(st, p->seq), highest = st->highest;
	if (st->role != ROLE_RECEIVES) {
		if (!usk_stream_send(mine, st, number, p->tsval)) {
			/* The same packet on another interface: its first sighting stands for it.
			 */
			usk_mark(mine, s, SEEN_AMBIGUOUS);
			w->counts->ambiguous++;
		} else if (nameless && position >= highest && was_acknowledged(mine, st, p)) {
			s->state |= SEEN_RESENT;
			mine->misses |= st->role == ROLE_SENDS;
		}
	}
	if (st->role == ROLE_RECEIVES && position < st->position) {
		s->state |= SEEN_LATE;
	}
	st->position = position > st->position ? position : st->position;
}

/* ---- forward in time ----------------------------------------------------------------- */

static void drain(struct walk *w, int64_t until)
{
	for (int me = 0; me < 2; me++) {
		struct side *s = &w->side[me];
		while (s->drained < s->head) {
			const struct seen *p = usk_seen(s, s->drained);
			if (p->common_ns > until) {
				break;
			}
			if (!(p->state & SEEN_SENT) && !usk_walk_pair(w, me, s->drained)) {
				*USK_ADD(s->lonely, s->n_lonely, s->cap_lonely) = s->drained;
			}
			s->drained++;
		}
	}
}

/* What lies before the window has nothing more to wait for. */
static void settle(struct walk *w, int64_t before)
{
	for (int me = 0; me < 2; me++) {
		struct side *s = &w->side[me];
		while (s->lonely_from < s->n_lonely) {
			const uint64_t number = s->lonely[s->lonely_from];
			if (number >= s->tail) {
				if (usk_seen(s, number)->common_ns >= before) {
					break;
				}
				usk_walk_pair_late(w, me, number);
			}
			s->lonely_from++;
		}
		if (s->lonely_from && s->lonely_from * 2 >= s->n_lonely) {
			s->n_lonely -= s->lonely_from;
			memmove(s->lonely, s->lonely + s->lonely_from,
				s->n_lonely * sizeof *s->lonely);
			s->lonely_from = 0;
		}
	}
}

/* Let go of what lies before the window, in steps, so that most of it is not looked at again. */
static void expire(struct walk *w, int64_t before)
{
	enum { STRIDE = 32 };
	for (int me = 0; me < 2; me++) {
		struct side *s = &w->side[me];
		while (s->tail + STRIDE <= s->drained &&
		       usk_seen(s, s->tail + STRIDE - 1)->common_ns < before) {
			s->tail += STRIDE;
		}
	}
}

/* What found no counterpart: in a whole window, or until a capture ended. */
static void count_lonely(const struct walk *w)
{
	for (int me = 0; me < 2; me++) {
		const struct side *s = &w->side[me];
		uint64_t waiting = 0;
		for (uint64_t i = s->tail; i < s->head; i++) {
			waiting += !(usk_seen(s, i)->state & (SEEN_MATCHED | SEEN_AMBIGUOUS));
		}
		w->counts->unmatched += waiting;
		w->counts->expired += s->head - 1 - s->marked - waiting;
	}
}

/* Both from their starts, between the stamps for which the other has something within the window. */
static enum usk_status begin_feeds(struct walk *w, const struct usk_coarse *c, int64_t window,
				   struct usk_err *err)
{
	const struct usk_survey *sp = w->of[0].survey, *sq = w->of[1].survey;
	struct usk_feed *p = &w->feed[0], *q = &w->feed[1];
	size_t hint = 0;
	/* Twice the window: the coarse map may err outside of its joins. */
	usk_i128 margin = (usk_i128)window * 2;
	p->from_ns = usk_saturate(usk_coarse_to_p(c, sq->first_ns, &hint) - margin);
	p->to_ns = usk_saturate(usk_coarse_to_p(c, sq->last_ns, &hint) + margin);
	const struct usk_coarse_knot *k = c->knot, *l = c->knot + c->n_knots - 1;
	int64_t first = usk_saturate((usk_i128)sp->first_ns - k->p_minus_q_ns);
	int64_t last = usk_saturate((usk_i128)sp->last_ns - l->p_minus_q_ns);
	q->from_ns = usk_saturate((first < last ? first : last) - margin);
	q->to_ns = usk_saturate((first < last ? last : first) + margin);
	q->map = c;
	for (int me = 0; me < 2; me++) {
		w->feed[me].of = &w->of[me];
		w->feed[me].depth = w->opt->depth;
		w->feed[me].helpers = w->helpers;
	}
	enum usk_status status = usk_feed_begin(p, err);
	return status ? status : usk_feed_begin(q, err);
}

/* Who sent, as far as the joins of pass 1 tell: hops and exchanges. */
static void learn_ways(struct walk *w, const struct usk_coarse *c)
{
	const struct usk_survey *sp = w->of[0].survey, *sq = w->of[1].survey;
	size_t n = c->seen ? c->joins : 0, hint = 0;
	uint32_t *way = usk_alloc(n + 1, sizeof *way);
	for (size_t i = 0; i < n; i++) {
		const struct usk_sighting *s = &c->seen[i];
		const struct usk_ends *e = &sp->way[s->way];
		usk_i128 off = (usk_i128)s->p_ns - usk_coarse_to_p(c, s->q_ns, &hint);
		way[i] = NOBODY;
		/* Off the map it is hardly one packet. */
		if (off <= c->spread_ns && -off <= c->spread_ns) {
			way[i] = usk_walk_direction(w, e->src, e->dst, e->group);
		}
		if (way[i] != NOBODY) {
			w->directions.of[way[i]].joins++;
			w->directions.of[way[i]].spans += s->span > 0;
			w->directions.of[way[i]].doubtful |= c->doubtful && c->doubtful[s->way];
		}
	}
	/* A few that seem so were sent anew at once: openings of connections have no IP-ID. */
	bool passing = w->chooses || sp->passing.again || sq->passing.again;
	for (size_t i = 0; i < w->directions.n; i++) {
		struct direction *x = &w->directions.of[i];
		x->passing = passing ? x->spans > 0 : x->spans * 2 > x->joins;
	}
	for (size_t i = 0; i < n; i++) {
		struct usk_sighting vote = c->seen[i];
		if (w->chooses) {
			/* Each pair of vantage points is told by its own hops. */
			vote.ttl_p = vote.ttl_q;
		}
		if (way[i] != NOBODY) {
			usk_direction_vote(&w->directions, way[i], &vote);
		}
	}
	free(way);
	for (size_t i = 0; i < w->directions.n; i++) {
		usk_direction_decide(&w->directions, &w->directions.of[i], true);
	}
}

/* Addresses among which each capture's own are: stated, or what ends every unicast packet, be it
 * known which of the two it is or not. */
static void learn_own(struct walk *w, int me)
{
	const struct usk_walker *of = &w->of[me];
	for (size_t i = 0; i < of->n_local && w->n_own[me] < COUNT(w->own[me]); i++) {
		w->own[me][w->n_own[me]++] = of->local[i];
	}
	for (int family = 0; family < 2 && !of->n_local; family++) {
		const struct usk_common *s = &of->survey->common[family];
		for (size_t i = 0; i < s->n; i++) {
			w->own[me][w->n_own[me]++] = s->addr[i];
		}
	}
}

static int64_t common_of(const struct usk_fed *f)
{
	return f ? f->common_ns : INT64_MAX;
}

static void walk_through(struct walk *w, int64_t window)
{
	struct usk_feed *feed = w->feed;
	const struct usk_fed *next[] = { usk_feed_next(&feed[0]), NULL };
	next[1] = feed[0].status ? NULL : usk_feed_next(&feed[1]);
	for (uint64_t runs = 1;
	     !feed[0].status && !feed[1].status && !w->stopped && (next[0] || next[1]); runs++) {
		/* The one that lags behind, some packets in a row: the other's tables stay out of
		 * the caches meanwhile, and branches are foreseen. */
		int me = common_of(next[1]) < common_of(next[0]);
		for (int i = 0; i < RUN && next[me]; i++) {
			take(w, me, next[me]);
			next[me] = usk_feed_next(&feed[me]);
		}
		int64_t p_now = common_of(next[0]), q_now = common_of(next[1]);
		int64_t now = p_now < q_now ? p_now : q_now;
		if (now != INT64_MAX) {
			/* Twice the lag: by then the copy that a late send makes was received too.
			 */
			int64_t sure = usk_saturate((usk_i128)now - 2 * (usk_i128)w->lag_ns);
			int64_t before = usk_saturate((usk_i128)sure - window);
			drain(w, sure);
			settle(w, before);
			expire(w, before);
		}
		if (w->opt->progress && runs % 1024 == 0) {
			w->opt->progress(w->opt->progress_ctx,
					 feed[0].batch->pos + feed[1].batch->pos);
		}
	}
	/* What was handed out may have been enough before one of them failed. */
	usk_walk_handed(w);
	for (int me = 0; me < 2 && !w->stopped; me++) {
		w->failed = w->failed || !feed[me].status ? w->failed : &feed[me];
	}
	drain(w, INT64_MAX);
	settle(w, INT64_MAX);
	w->counts->unmatched += feed[0].unmatched + feed[1].unmatched;
}

/* How many messages are by which evidence. */
static void count_evidence(const struct walk *w, struct usk_evidence *evidence)
{
	uint64_t *const field[] = { NULL,
				    &evidence->option,
				    &evidence->link,
				    &evidence->interface,
				    &evidence->address,
				    &evidence->ttl,
				    &evidence->exchange };
	for (size_t i = FROM_OPTION; i <= FROM_EXCHANGE; i++) {
		*field[i] += w->decided_by[i];
		w->counts->matched += w->decided_by[i];
	}
}

/* A few, which stay in the caches, or as many as are worth a thread. */
static void begin_handing(struct walk *w)
{
	enum { FEW = 512, MANY = 1 << 14 };
	w->beside = w->sink->beside && usk_helpers_number(w->helpers);
	w->cap_out = w->beside ? MANY : FEW;
	for (int i = 0; i < 2; i++) {
		struct handful *h = i ? &w->handed : &w->out;
		h->msg = usk_grow(NULL, w->cap_out, sizeof *h->msg);
		h->origin = usk_grow(NULL, w->cap_out, sizeof *h->origin);
	}
}

enum usk_status usk_walk(const struct usk_walker of[2], const struct usk_coarse *coarse,
			 const struct usk_walk_options *opt, const struct usk_sink *sink,
			 struct usk_counts *counts, struct usk_evidence *evidence,
			 struct usk_err *err)
{
	struct walk *w = usk_alloc(1, sizeof *w);
	int64_t window = usk_saturate((usk_i128)coarse->spread_ns * 4 + 2000000000);
	w->of = of;
	w->opt = opt;
	w->sink = sink;
	w->counts = counts;
	w->ip_id_kept = coarse->ip_id_kept;
	w->chooses = of[0].survey->passing.several || of[1].survey->passing.several;
	w->lag_ns = usk_saturate((usk_i128)coarse->spread_ns * 2 + 1000000);
	w->most = opt->most ? opt->most : USUAL_MOST;
	for (int me = 0; me < 2; me++) {
		const struct usk_survey *mine = of[me].survey;
		w->doubled[me] = mine->passing.again > mine->passing.once;
		/* Where one forwards, what ends every packet of either may be on its other side. */
		w->n_found[me] = usk_survey_own(mine, of[!me].survey, w->found[me], &w->guess[me]);
		if (w->chooses) {
			w->n_found[me] = 0;
		}
		learn_own(w, me);
		usk_side_init(&w->side[me], w->doubled[me]);
	}
	/* Two captures, and messages. */
	w->helpers = usk_helpers_new(3);
	begin_handing(w);
	learn_ways(w, coarse);
	enum usk_status status = begin_feeds(w, coarse, window, err);
	if (!status) {
		walk_through(w, window);
	}
	count_lonely(w);
	usk_walk_settle_doubts(w);
	usk_walk_flush(w);
	usk_walk_handed(w);
	count_evidence(w, evidence);
	if (w->failed && err) {
		*err = w->failed->err;
	}
	status = w->failed ? w->failed->status : status;
	for (int me = 0; me < 2; me++) {
		usk_side_free(&w->side[me]);
		usk_feed_end(&w->feed[me]);
	}
	usk_helpers_free(w->helpers);
	usk_directions_free(&w->directions);
	USK_FREE(w->out.msg, w->out.origin, w->handed.msg, w->handed.origin);
	free(w);
	return status;
}
