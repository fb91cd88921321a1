/* SPDX-License-Identifier: MIT */
/*
 * leads.c - how far what is known of UTC at one stamp leads to others
 *
 * In    messages, the skew limit, claims to begin with
 * Out   bounds of UTC - stamp at every event, and the steps that they came by
 * Why   shortest paths in a system of difference constraints, from some claims alone: who else
 *       claimed what does not enter, so two claims are compared by what is not claimed
 * Not   rates, wander or steps of clocks, as src/graph finds them: those are assumptions
 */
#include "audit/leads.h"

#include <stdlib.h>
#include <string.h>

struct stamp {
	uint32_t clock;
	int64_t x;
	uint32_t *to; /* who wants to know which event it is */
};

KEYS_CALLED(by_clock, BY(stamp, clock), BY(stamp, x));

/* ---- events -----------------------------------------------------------------------------------
 */

static void number_events(struct usk_leads *w, struct stamp *s, size_t n)
{
	usk_sort(s, n, sizeof *s, by_clock);
	for (size_t i = 0; i < n; i++) {
		if (!i || usk_order_by(&s[i - 1], &s[i], by_clock)) {
			w->x[w->n] = s[i].x;
			w->owner[w->n++] = s[i].clock;
		}
		*s[i].to = w->n - 1;
	}
	uint32_t k = 0;
	for (uint32_t i = 0; i <= w->n; i++) {
		for (; k <= (i < w->n ? w->owner[i] : w->a->n_names); k++) {
			w->first[k] = i;
		}
	}
}

static void order_events(struct usk_leads *w)
{
	uint64_t *row = usk_grow(NULL, 2 * (size_t)w->n + 1, sizeof *row);
	for (uint32_t i = 0; i < w->n; i++) {
		row[2 * (size_t)i] = (uint64_t)w->x[i] + (UINT64_C(1) << 63);
		row[2 * (size_t)i + 1] = i;
	}
	usk_sort_rows(row, w->n, 2);
	for (uint32_t i = 0; i < w->n; i++) {
		w->order[i] = (uint32_t)row[2 * (size_t)i + 1];
	}
	free(row);
}

static void meet_messages(struct usk_leads *w)
{
	size_t n = w->a->n_msgs;
	for (size_t m = 0; m < n; m++) {
		w->met[w->end[0][m] + 2]++;
		w->met[w->end[1][m] + 2]++;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		w->met[i + 2] += w->met[i + 1];
	}
	for (size_t m = 0; m < n; m++) {
		w->meet[w->met[w->end[0][m] + 1]++] = (uint32_t)m;
		w->meet[w->met[w->end[1][m] + 1]++] = (uint32_t)m;
	}
}

void usk_leads_open(struct usk_leads *w, const struct usk_audit *a)
{
	size_t n = 2 * a->n_msgs + a->n_claims, at = 0;
	struct stamp *s = usk_grow(NULL, n + 1, sizeof *s);
	*w = (struct usk_leads){ .a = a };
	w->first = usk_alloc(a->n_names + 1, sizeof *w->first);
	w->x = usk_grow(NULL, n + 1, sizeof *w->x);
	w->owner = usk_grow(NULL, n + 1, sizeof *w->owner);
	w->order = usk_grow(NULL, n + 1, sizeof *w->order);
	w->broken = usk_alloc(n + 1, sizeof *w->broken);
	w->at = usk_grow(NULL, a->n_claims + 1, sizeof *w->at);
	w->met = usk_alloc(n + 3, sizeof *w->met);
	w->meet = usk_grow(NULL, n + 1, sizeof *w->meet);
	for (int end = 0; end < 2; end++) {
		w->end[end] = usk_grow(NULL, a->n_msgs + 1, sizeof *w->end[end]);
	}
	for (size_t m = 0; m < a->n_msgs; m++) {
		const struct usk_msg *x = &a->msg[m];
		s[at++] = (struct stamp){ x->from, x->sent_ns, &w->end[0][m] };
		s[at++] = (struct stamp){ x->to, x->received_ns, &w->end[1][m] };
	}
	for (size_t k = 0; k < a->n_claims; k++) {
		s[at++] = (struct stamp){ a->claim[k].clock, a->claim[k].at_ns, &w->at[k] };
	}
	number_events(w, s, n);
	free(s);
	order_events(w);
	meet_messages(w);
	w->lo = usk_grow(NULL, w->n + 1, sizeof *w->lo);
	w->hi = usk_grow(NULL, w->n + 1, sizeof *w->hi);
}

void usk_leads_close(struct usk_leads *w)
{
	USK_FREE(w->first, w->x, w->owner, w->order, w->broken, w->end[0], w->end[1], w->at, w->met,
		 w->meet, w->lo, w->hi);
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

void usk_leads_clear(struct usk_leads *w)
{
	const struct usk_lead none = { .from = USK_HERE, .claim = USK_NO_CLAIM };
	for (uint32_t i = 0; i < w->n; i++) {
		w->lo[i] = w->hi[i] = none;
		w->lo[i].at = -USK_FAR;
		w->hi[i].at = USK_FAR;
	}
}

usk_i128 usk_leads_claimed(const struct usk_audit *a, uint32_t claim, bool upper)
{
	const struct usk_claim *c = &a->claim[claim];
	usk_i128 drift = (usk_i128)a->max_skew_e12 * c->blur_ns;
	return upper ? (usk_i128)c->hi_ns * USK_E12 + drift : (usk_i128)c->lo_ns * USK_E12 - drift;
}

static bool raise(struct usk_lead *lo, usk_i128 at, uint32_t from, uint32_t message, uint32_t claim)
{
	if (at > lo->at) {
		*lo = (struct usk_lead){ at, from, message, claim };
		return true;
	}
	return false;
}

static bool lower(struct usk_lead *hi, usk_i128 at, uint32_t from, uint32_t message, uint32_t claim)
{
	if (at < hi->at) {
		*hi = (struct usk_lead){ at, from, message, claim };
		return true;
	}
	return false;
}

void usk_leads_claim(struct usk_leads *w, uint32_t claim)
{
	uint32_t i = w->at[claim];
	raise(&w->lo[i], usk_leads_claimed(w->a, claim, false), USK_HERE, UINT32_MAX, claim);
	lower(&w->hi[i], usk_leads_claimed(w->a, claim, true), USK_HERE, UINT32_MAX, claim);
}

/* What UTC - stamp of the receiver is over that of the sender, at least: the receiver's stamp was
 * rounded down. */
static usk_i128 least(const struct usk_leads *w, uint32_t m)
{
	const struct usk_audit *a = w->a;
	usk_i128 rounded = a->resolution_ns[a->msg[m].to];
	return ((usk_i128)a->msg[m].sent_ns - a->msg[m].received_ns) * USK_E12 -
	       rounded * (USK_E12 + a->max_skew_e12);
}

static usk_i128 drift(const struct usk_leads *w, uint32_t i, uint32_t j)
{
	usk_i128 d = (usk_i128)w->x[j] - w->x[i];
	return (d < 0 ? -d : d) * w->a->max_skew_e12;
}

static bool along(struct usk_leads *w, uint32_t from, uint32_t to)
{
	usk_i128 d = drift(w, from, to);
	bool moved = false;
	if (w->still && w->still[w->owner[from]]) {
		return false;
	}
	if (w->lo[from].at > -USK_FAR) {
		moved = raise(&w->lo[to], w->lo[from].at - d, from, UINT32_MAX, USK_NO_CLAIM);
	}
	if (w->hi[from].at < USK_FAR) {
		moved |= lower(&w->hi[to], w->hi[from].at + d, from, UINT32_MAX, USK_NO_CLAIM);
	}
	return moved;
}

static bool over(struct usk_leads *w, uint32_t i)
{
	bool moved = false;
	for (uint32_t k = w->met[i]; k < w->met[i + 1]; k++) {
		uint32_t m = w->meet[k], s = w->end[0][m], r = w->end[1][m];
		if (r == i && w->lo[s].at > -USK_FAR) {
			moved |= raise(&w->lo[r], w->lo[s].at + least(w, m), s, m, USK_NO_CLAIM);
		}
		if (s == i && w->hi[r].at < USK_FAR) {
			moved |= lower(&w->hi[s], w->hi[r].at - least(w, m), r, m, USK_NO_CLAIM);
		}
	}
	return moved;
}

static bool sweep(struct usk_leads *w)
{
	bool moved = false;
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = w->order[k];
		if (i > w->first[w->owner[i]] && !w->broken[i - 1]) {
			moved |= along(w, i - 1, i);
		}
		moved |= over(w, i);
	}
	for (uint32_t k = w->n; k-- > 0;) {
		uint32_t i = w->order[k];
		if (i + 1 < w->first[w->owner[i] + 1] && !w->broken[i]) {
			moved |= along(w, i + 1, i);
		}
		moved |= over(w, i);
	}
	return moved;
}

void usk_leads_settle(struct usk_leads *w)
{
	while (sweep(w)) {
	}
}

/* ---- the steps that a bound came by -----------------------------------------------------------
 */

/* Neighbouring cells are one stretch. */
static void add_link(const struct usk_leads *w, const struct usk_lead *way, uint32_t to,
		     struct usk_link **link, size_t *n, size_t *cap)
{
	struct usk_link x = { way->message, w->owner[to], 0, 0 };
	if (way->message == UINT32_MAX) {
		uint32_t a = way->from < to ? way->from : to, b = way->from < to ? to : way->from;
		struct usk_link *last = *n ? &(*link)[*n - 1] : NULL;
		x.from_ns = w->x[a];
		x.to_ns = w->x[b];
		if (last && last->message == UINT32_MAX && last->clock == x.clock) {
			last->from_ns = x.from_ns < last->from_ns ? x.from_ns : last->from_ns;
			last->to_ns = x.to_ns > last->to_ns ? x.to_ns : last->to_ns;
			return;
		}
	}
	*link = usk_room(*link, *n, cap, sizeof **link);
	(*link)[(*n)++] = x;
}

/* Two of its facts meet at one stamp, which a clock that was set back showed twice. */
static void add_meeting(const struct usk_leads *w, uint32_t event, struct usk_link **link,
			size_t *n, size_t *cap)
{
	*link = usk_room(*link, *n, cap, sizeof **link);
	(*link)[(*n)++] =
		(struct usk_link){ UINT32_MAX, w->owner[event], w->x[event], w->x[event] };
}

static bool is_stretch(const struct usk_link *x)
{
	return x->message == UINT32_MAX;
}

static void turn(struct usk_link *link, size_t n)
{
	for (size_t i = 0; i + 1 < n - i; i++) {
		struct usk_link x = link[i];
		link[i] = link[n - 1 - i];
		link[n - 1 - i] = x;
	}
}

/* Does who claims it answer for the clock of its stamp, too? */
static bool is_own(const struct usk_leads *w, uint32_t claim)
{
	return w->a->claim[claim].by == w->a->claim[claim].clock;
}

uint32_t usk_leads_back(const struct usk_leads *w, uint32_t claim, bool upper,
			struct usk_link **link, size_t *n_links)
{
	const struct usk_lead *way = upper ? w->hi : w->lo;
	uint32_t event = w->at[claim];
	bool answered = is_own(w, claim); /* for the clock at this event, by a fact before */
	size_t cap = 0;
	*link = NULL;
	*n_links = 0;
	for (; way[event].from != USK_HERE; event = way[event].from) {
		bool stretch = way[event].message == UINT32_MAX;
		if (!stretch && !answered) {
			add_meeting(w, event, link, n_links, &cap);
		}
		add_link(w, &way[event], event, link, n_links, &cap);
		answered = stretch;
	}
	if (!answered && !is_own(w, way[event].claim)) {
		add_meeting(w, event, link, n_links, &cap);
	}
	if (!upper) {
		turn(*link, *n_links);
	}
	return way[event].claim;
}

/* ---- messages that contradict each other ------------------------------------------------------
 */

/* An event on a circle of steps, USK_HERE if there is none. */
static uint32_t find_circle(const struct usk_leads *w, uint32_t *seen)
{
	memset(seen, 0, w->n * sizeof *seen);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t e = i;
		while (e != USK_HERE && !seen[e]) {
			seen[e] = i + 1;
			e = w->hi[e].from;
		}
		if (e != USK_HERE && seen[e] == i + 1) {
			return e;
		}
	}
	return USK_HERE;
}

/* It has a stretch, which is gone then: messages alone that lead back to a stamp say that it was no later
 * than itself. */
static void take_circle(struct usk_leads *w, uint32_t start, struct usk_clash *out)
{
	size_t cap = 0;
	usk_i128 sum = 0;
	uint32_t e = start;
	*out = (struct usk_clash){ .low = USK_NO_CLAIM, .high = USK_NO_CLAIM };
	do {
		const struct usk_lead *way = &w->hi[e];
		bool cell = way->message == UINT32_MAX;
		if (!cell && out->n_links && !is_stretch(&out->link[out->n_links - 1])) {
			add_meeting(w, e, &out->link, &out->n_links, &cap);
		}
		sum += cell ? drift(w, way->from, e) : -least(w, way->message);
		add_link(w, way, e, &out->link, &out->n_links, &cap);
		if (cell) {
			w->broken[way->from < e ? way->from : e] = true;
		}
		e = way->from;
	} while (e != start);
	if (!is_stretch(&out->link[0]) && !is_stretch(&out->link[out->n_links - 1])) {
		add_meeting(w, start, &out->link, &out->n_links, &cap);
	}
	out->gap_ns = usk_saturate(usk_floor_div(-sum, USK_E12));
}

bool usk_leads_circle(struct usk_leads *w, struct usk_clash *out)
{
	uint32_t *seen = usk_grow(NULL, w->n + 1, sizeof *seen), start = USK_HERE;
	usk_leads_clear(w);
	for (uint32_t i = 0; i < w->n; i++) {
		w->hi[i].at = 0;
	}
	while (start == USK_HERE && sweep(w)) {
		start = find_circle(w, seen);
	}
	free(seen);
	if (start != USK_HERE) {
		take_circle(w, start, out);
	}
	return start != USK_HERE;
}
