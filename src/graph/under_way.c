/* SPDX-License-Identifier: MIT */
/*
 * under_way.c - messages that may have been under way while the reference was set back
 *
 * In    where the reference may have been set back, and by how much; where other clocks were then; bounds by order
 * Out   what is still certain of them
 * Why   by the reference's clock such a message took less than it did, by as much as that was set back: it may be
 *       received before it was sent
 * Not   who was set back (blame.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* Of the message that an event was sent with: by how much the reference was set back while that may have been under way, and
 * how long it was so then at least, by the reference. within: less than some one of these steps. */
struct fallen {
	int64_t by_ns, took_ns;
	bool any, within;
};

/* arrived: by event, the last of all that its clock had sent until then. */
struct usk_under_way {
	struct usk_fell_back *back;
	size_t n, n_own; /* so many breaks are of the clocks themselves */
	usk_i128 *arrived;
	struct fallen *fallen; /* by event */
};

/* The other end of a message, of which bounds may rest on a part already. */
static uint32_t other_end(const struct usk_work *w, uint32_t i)
{
	const struct usk_weak *x = usk_weak_of(w, i);
	return x ? (w->sent[i] ? x->received : x->sent) : w->peer[i];
}

static bool is_of_reference(const struct usk_work *w, uint32_t i)
{
	return w->owner[i] == w->reference;
}

struct usk_under_way *usk_under_way_begin(const struct usk_work *w)
{
	struct usk_under_way *u = usk_alloc(1, sizeof *u);
	u->n_own = w->n_breaks;
	u->arrived = usk_grow(NULL, w->n + 1, sizeof *u->arrived);
	u->fallen = usk_alloc(w->n + 1, sizeof *u->fallen);
	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t p = w->sent[i] ? other_end(w, i) : USK_NO_EVENT;
		const bool counts =
			p != USK_NO_EVENT && !is_of_reference(w, p) && w->hi[p] < USK_INF;
		const usk_i128 before = i > w->first[w->owner[i]] ? u->arrived[i - 1] : -USK_INF;
		u->arrived[i] = counts && w->hi[p] > before ? w->hi[p] : before;
	}
	return u;
}

void usk_under_way_note(const struct usk_work *w, const struct usk_fell_back *s,
			struct usk_under_way *u)
{
	struct usk_fell_back *b = USK_APPEND(u->back, u->n);
	*b = *s;
	b->end_break = w->n_breaks;
}

/* Between which of its stamps each clock may have been when the reference was set back, and from, to where its time goes on
 * then without a break of its own. */
struct then {
	struct usk_when when, calm;
};

static void find_then(const struct usk_work *w, const struct usk_fell_back *s,
		      const struct usk_under_way *u, struct then *x)
{
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		x[k] = (struct then){ .calm = { -USK_INF, USK_INF } };
	}
	for (size_t i = s->first_break; i < s->end_break; i++) {
		const struct usk_break *b = &w->brk[i];
		x[b->clock].when = (struct usk_when){ b->from_ns, b->to_ns };
	}
	x[w->reference].when = s->own;
	if (s->other != USK_NO_CLOCK) {
		x[s->other].when = s->others;
	}
	for (size_t i = 0; i < u->n_own; i++) {
		const struct usk_break *b = &w->brk[i];
		struct then *k = &x[b->clock];
		if (b->bracket == s->bracket && b->bracket != UINT32_MAX) {
			continue; /* it was the reference's, then */
		}
		if (b->from_ns < k->when.from && b->to_ns > k->calm.from) {
			k->calm.from = b->to_ns;
		}
		if (b->to_ns > k->when.to && b->from_ns < k->calm.to) {
			k->calm.to = b->from_ns;
		}
	}
}

/* So long a clock went on at least from a stamp until then, or from then to a stamp, by the reference; e12. */
static usk_i128 went_on(const struct usk_work *w, uint32_t k, usk_i128 from, usk_i128 to)
{
	const usk_i128 ns = to > from ? to - from : 0;
	return ns * (k == w->reference ? USK_E12 : USK_E12 - w->p->max_skew_e12);
}

/* A message that may have been under way meanwhile. What was so for longer than the reference was set back by is in order
 * all the same, unless that was set back more than once: no messages of its clocks were under way for longer than flight_ns
 * then. */
static void mark(const struct usk_work *w, uint32_t sent, const struct usk_fell_back *s,
		 int64_t flight_ns, const struct then *x, struct usk_under_way *u)
{
	const uint32_t received = other_end(w, sent), a = w->owner[sent], b = w->owner[received];
	const usk_i128 from = w->x[sent] > x[a].calm.from ? w->x[sent] : x[a].calm.from,
		       to = w->x[received] < x[b].calm.to ? w->x[received] : x[b].calm.to,
		       took = went_on(w, a, from, x[a].when.from) + went_on(w, b, x[b].when.to, to);
	const int64_t ns = usk_saturate(usk_floor_div(took, USK_E12));
	const bool within = ns < s->far_ns;
	struct fallen *f = &u->fallen[sent];
	if (!within && ns > flight_ns) {
		return;
	}
	/* Each step that it is shorter than adds more than it took. Of others the shortest time holds for any of them. */
	const bool takes =
		!f->any || (within ? !f->within || ns > f->took_ns : !f->within && ns < f->took_ns);
	f->took_ns = takes ? ns : f->took_ns;
	f->by_ns = usk_saturate((usk_i128)f->by_ns + s->far_ns);
	f->within = f->within || within;
	f->any = true;
}

/* flight: by clock, of messages with the reference. */
static void mark_all(const struct usk_work *w, const struct usk_fell_back *s, const int64_t *flight,
		     const struct then *x, struct usk_under_way *u)
{
	/* The reference showed up to that much more before it was set back, and less behind. */
	const usk_i128 from = s->own.from - s->far_ns, to = s->own.to + s->far_ns;
	const usk_i128 most = flight[w->reference] > s->far_ns ? flight[w->reference] : s->far_ns;
	uint32_t i = usk_event_behind(w, w->reference, from - most - 1);
	for (; i < w->first[w->reference + 1] && w->x[i] <= to + most; i++) {
		const uint32_t p = other_end(w, i);
		if (p == USK_NO_EVENT) {
			continue;
		}
		const struct usk_when *when = &x[w->owner[p]].when;
		if (w->sent[i] ? w->x[i] <= to && w->x[p] >= when->from
			       : w->x[i] >= from && w->x[p] <= when->to) {
			mark(w, w->sent[i] ? i : p, s, flight[w->owner[p]], x, u);
		}
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		for (i = usk_event_behind(w, k, x[k].when.to);
		     k != w->reference && i-- > w->first[k] && u->arrived[i] >= s->from;) {
			const uint32_t p = w->sent[i] ? other_end(w, i) : USK_NO_EVENT;
			if (p != USK_NO_EVENT && !is_of_reference(w, p) &&
			    w->x[p] >= x[w->owner[p]].when.from) {
				mark(w, i, s, INT64_MAX, x, u);
			}
		}
	}
}

/* By clock, for how long messages with the reference were under way at most that may have been so over several steps; of the
 * reference, the longest. */
static int64_t *flights_of(const struct usk_work *w, const struct usk_under_way *u)
{
	int64_t *out = usk_alloc(w->n_clocks + 1, sizeof *out), *all = &out[w->reference];
	for (size_t i = 0; i < u->n; i++) {
		const struct usk_fell_back *s = &u->back[i];
		int64_t *own = s->other == USK_NO_CLOCK ? all : &out[s->other];
		*own = s->flight_ns > *own ? s->flight_ns : *own;
		*all = *own > *all ? *own : *all;
	}
	return out;
}

/* What bounds do not rest on any more the estimate is still asked, where it can. */
static void wish_only(struct usk_work *w, uint32_t sent, uint32_t received)
{
	w->peer[sent] = w->peer[received] = USK_NO_EVENT;
	if (!w->wished[sent] && !w->wished[received]) {
		w->wish[w->n_wishes++] = (struct usk_wish){ sent, received, 0, false };
		w->wished[sent] = w->wished[received] = (uint32_t)w->n_wishes;
	}
}

static void weaken(struct usk_work *w, uint32_t sent, int64_t by_ns)
{
	struct usk_weak *x = usk_weak_of(w, sent);
	const uint32_t p = w->peer[sent];
	if (x) {
		x->by_ns = usk_saturate((usk_i128)x->by_ns + by_ns);
		return;
	}
	w->weak_of = w->weak_of ? w->weak_of : usk_alloc(w->n + 1, sizeof *w->weak_of);
	*USK_APPEND(w->weak, w->n_weak) = (struct usk_weak){ sent, p, by_ns };
	w->weak_of[sent] = w->weak_of[p] = (uint32_t)w->n_weak;
	wish_only(w, sent, p);
}

void usk_under_way_end(struct usk_work *w, struct usk_under_way *u)
{
	if (!u) {
		return;
	}
	struct then *x = usk_alloc(w->n_clocks + 1, sizeof *x);
	int64_t *flight = flights_of(w, u);
	for (size_t k = 0; k < u->n; k++) {
		find_then(w, &u->back[k], u, x);
		mark_all(w, &u->back[k], flight, x, u);
	}
	for (uint32_t i = 0; i < w->n; i++) {
		const struct fallen *f = &u->fallen[i];
		/* By the reference it took as much less as that was set back by meanwhile. */
		if (f->by_ns > f->took_ns) {
			weaken(w, i, f->by_ns - f->took_ns);
		}
	}
	USK_FREE(x, flight, u->back, u->arrived, u->fallen, u);
}

struct usk_weak *usk_weak_of(const struct usk_work *w, uint32_t i)
{
	struct usk_weak *x = w->weak_of && w->weak_of[i] ? &w->weak[w->weak_of[i] - 1] : NULL;
	return x && x->by_ns != USK_NONE ? x : NULL;
}
