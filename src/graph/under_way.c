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

/* arrived: by event, the last
 * of all that its clock had sent until then. by_ns: by event that was sent, so much less its message may have taken by
 * the reference's clock; 0: it has not. */
struct usk_under_way {
	struct usk_when *when; /* by clock */
	usk_i128 *arrived;
	int64_t *by_ns;
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
	u->when = usk_alloc(w->n_clocks + 1, sizeof *u->when);
	u->arrived = usk_grow(NULL, w->n + 1, sizeof *u->arrived);
	u->by_ns = usk_alloc(w->n + 1, sizeof *u->by_ns);
	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t p = w->sent[i] ? other_end(w, i) : USK_NO_EVENT;
		const bool counts =
			p != USK_NO_EVENT && !is_of_reference(w, p) && w->hi[p] < USK_INF;
		const usk_i128 before = i > w->first[w->owner[i]] ? u->arrived[i - 1] : -USK_INF;
		u->arrived[i] = counts && w->hi[p] > before ? w->hi[p] : before;
	}
	return u;
}

/* Where each clock may have been then. */
static void find_when(const struct usk_work *w, const struct usk_fell_back *s,
		      const struct usk_under_way *u)
{
	for (size_t i = s->first_break; i < w->n_breaks; i++) {
		const struct usk_break *b = &w->brk[i];
		u->when[b->clock] = (struct usk_when){ b->from_ns, b->to_ns };
	}
	u->when[w->reference] = s->own;
	if (s->other != USK_NO_CLOCK) {
		u->when[s->other] = s->others;
	}
}

/* A message that was under way for longer than the reference was set back by is in order all the same: that long, by any
 * other clock. */
static usk_i128 longest(const struct usk_work *w, const struct usk_fell_back *s)
{
	const usk_i128 most = (usk_i128)s->far_ns * (USK_E12 + w->p->max_skew_e12);
	return usk_ceil_div(most, USK_E12);
}

/* A message between the reference and another clock, of which the reference's event is i. */
static bool may_straddle(const struct usk_work *w, uint32_t i, usk_i128 from, usk_i128 to,
			 usk_i128 most, const struct usk_under_way *u)
{
	const uint32_t p = other_end(w, i);
	const struct usk_when *x = &u->when[w->owner[p]];
	const usk_i128 at = w->x[p];
	return w->sent[i] ? w->x[i] <= to && at >= x->from && at <= x->to + most
			  : w->x[i] >= from && at <= x->to && at >= x->from - most;
}

static void note(const struct usk_work *w, uint32_t i, int64_t far_ns, struct usk_under_way *u)
{
	const uint32_t sent = w->sent[i] ? i : other_end(w, i);
	u->by_ns[sent] = usk_saturate((usk_i128)u->by_ns[sent] + far_ns);
}

void usk_under_way_note(const struct usk_work *w, const struct usk_fell_back *s,
			struct usk_under_way *u)
{
	const int64_t far_ns = s->far_ns;
	find_when(w, s, u);
	/* The reference showed up to that much more before it was set back, and less behind. */
	const usk_i128 from = s->own.from - far_ns, to = s->own.to + far_ns;
	const usk_i128 most = longest(w, s);
	uint32_t i = usk_event_behind(w, w->reference, from - most - 1);
	for (; i < w->first[w->reference + 1] && w->x[i] <= to + most; i++) {
		if (other_end(w, i) != USK_NO_EVENT && may_straddle(w, i, from, to, most, u)) {
			note(w, i, far_ns, u);
		}
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		for (i = usk_event_behind(w, k, u->when[k].to);
		     k != w->reference && i-- > w->first[k] && u->arrived[i] >= s->from;) {
			const uint32_t p = w->sent[i] ? other_end(w, i) : USK_NO_EVENT;
			if (p != USK_NO_EVENT && !is_of_reference(w, p) &&
			    w->x[p] >= u->when[w->owner[p]].from) {
				note(w, i, far_ns, u);
			}
		}
	}
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

void usk_under_way_end(struct usk_work *w, struct usk_under_way *u)
{
	for (uint32_t i = 0; u && i < w->n; i++) {
		struct usk_weak *x = usk_weak_of(w, i);
		const uint32_t p = w->peer[i];
		if (u->by_ns[i] && x) {
			x->by_ns = usk_saturate((usk_i128)x->by_ns + u->by_ns[i]);
		} else if (u->by_ns[i]) {
			w->weak_of =
				w->weak_of ? w->weak_of : usk_alloc(w->n + 1, sizeof *w->weak_of);
			*USK_APPEND(w->weak, w->n_weak) = (struct usk_weak){ i, p, u->by_ns[i] };
			w->weak_of[i] = w->weak_of[p] = (uint32_t)w->n_weak;
			wish_only(w, i, p);
		}
	}
	if (u) {
		USK_FREE(u->when, u->arrived, u->by_ns, u);
	}
}

struct usk_weak *usk_weak_of(const struct usk_work *w, uint32_t i)
{
	struct usk_weak *x = w->weak_of && w->weak_of[i] ? &w->weak[w->weak_of[i] - 1] : NULL;
	return x && x->by_ns != USK_NONE ? x : NULL;
}
