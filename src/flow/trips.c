/* SPDX-License-Identifier: MIT */
/*
 * trips.c - the round trips of a pair, and the smallest of them
 *
 * In    the messages of a pair, and what captures tell of them besides
 * Out   round trips with what they took; the smallest per asker by lengths, by protocol and
 *       interfaces (Poirier 2010, table 1)
 * Why   these are facts of two clocks that need not agree
 * Not   what is made of them (judge/least.c, calibrate.c)
 */
#include "flow/reading.h"

#include <stdlib.h>
#include <string.h>

/* Answers that take longer do not count (Ashton 1995, section 4.1.2). */
#define MAX_TURN_NS 50000000

/* Rates are taken to be known to this much at best: clocks that are slewed wander. */
#define RATE_E12	 INT64_C(1000000)
#define UNKNOWN_RATE_E12 INT64_C(20000000)

enum { MAX_WAYS = 64, MAX_LENGTHS = 100 };

/* ---- round trips ------------------------------------------------------------------------- */

/* Parts per 10^12 that the offset's slope lies between. */
struct rates {
	int64_t min_e12, max_e12;
};

static struct rates rates_of(const struct usk_fit *fit)
{
	const int64_t e12 = INT64_C(1000000000000);
	const struct usk_lines *l = fit->plain ? fit->plain : fit->lines;
	int64_t limit = fit->max_skew_e12;
	struct rates r = { l->frame.rate_e12 - UNKNOWN_RATE_E12,
			   l->frame.rate_e12 + UNKNOWN_RATE_E12 };
	if (usk_lines_quality(l) == USK_BOUNDED) {
		struct usk_rate min, max;
		usk_lines_rates(l, &min, &max);
		r.min_e12 = (int64_t)usk_floor_div((usk_i128)min.num * e12, min.den) - RATE_E12;
		r.max_e12 = (int64_t)usk_ceil_div((usk_i128)max.num * e12, max.den) + RATE_E12;
	}
	r.min_e12 = r.min_e12 < -limit ? -limit : r.min_e12;
	r.max_e12 = r.max_e12 > limit ? limit : r.max_e12;
	return r;
}

/* A span of the local clock by the reference's, rounded down. */
static usk_i128 on_reference(usk_i128 span, int64_t rate_e12)
{
	return span + usk_floor_div(span * rate_e12, INT64_C(1000000000000));
}

static struct usk_trip trip_of(const struct usk_fit *fit, const struct rates *r, int64_t q,
			       const struct usk_exchange *x)
{
	usk_i128 took = usk_exchange_took(x);
	usk_i128 turn = (usk_i128)x->back->sent_ns - x->there->received_ns;
	struct usk_trip t = { .there = x->there->bytes, .back = x->back->bytes };
	if (turn > MAX_TURN_NS || took > USK_TIME_MAX || took < turn - MAX_TURN_NS) {
		t.high_ns = INT64_MAX;
		return t;
	}
	usk_i128 low, high;
	if (x->there->from == fit->a) {
		low = took - on_reference(turn, r->max_e12) - 1;
		high = took - on_reference(turn, r->min_e12);
	} else {
		low = on_reference(took, r->min_e12) - turn;
		high = on_reference(took, r->max_e12) + 1 - turn;
	}
	/* Either clock's stamps are rounded down. */
	low -= q;
	high += q;
	t.low_ns = usk_cut(low > 0 ? low : 0);
	t.high_ns = usk_cut(high);
	t.used = low > 0 && (high - low <= low / 100 + 2 * (usk_i128)q || high - low <= 20);
	return t;
}

static int64_t resolution(const struct pair_source *s)
{
	const struct party *y = s->parties->party;
	return usk_saturate((usk_i128)y[s->a].resolution_ns + y[s->b].resolution_ns);
}

struct trips usk_trips_by(const struct usk_fit *fit, const struct pair_source *s, uint32_t asker)
{
	struct trips out;
	struct rates r = rates_of(fit);
	struct usk_exchange *x = usk_exchanges(fit, asker, &out.n);
	out.trip = usk_alloc(out.n + 1, sizeof *out.trip);
	for (size_t i = 0; i < out.n; i++) {
		struct usk_trip *t = &out.trip[i];
		*t = trip_of(fit, &r, resolution(s), &x[i]);
		t->at_ns = usk_msg_local(fit, x[i].there);
		t->used = t->used && (i + 1 == out.n || x[i + 1].back != x[i].back);
	}
	free(x);
	return out;
}

struct trips usk_trips_merge(const struct trips *a, const struct trips *b)
{
	struct trips out = { usk_alloc(a->n + b->n + 1, sizeof *out.trip), 0 };
	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		bool first = k == b->n || (i < a->n && a->trip[i].at_ns <= b->trip[k].at_ns);
		out.trip[out.n++] = first ? a->trip[i++] : b->trip[k++];
	}
	return out;
}

/* ---- what is measured ---------------------------------------------------------------------- */

static void smaller(struct usk_smallest *s, const struct usk_trip *t)
{
	int64_t took = t->low_ns + (t->high_ns - t->low_ns) / 2;
	if (!t->used) {
		return;
	}
	if (!s->n || took < s->smallest_ns) {
		s->smallest_ns = took;
		s->there_bytes = t->there;
		s->back_bytes = t->back;
	}
	s->n++;
}

KEYS_CALLED(by_lengths, BY(usk_trip, there), BY(usk_trip, back));

static void measure_asker(const struct trips *t, uint32_t asker, uint32_t other,
			  struct usk_calibrated *out)
{
	size_t cap = out->n_lengths;
	for (size_t i = 0; i < t->n;) {
		struct usk_smallest s = { .asker = asker, .other = other };
		size_t start = i;
		for (; i < t->n && !usk_order_by(&t->trip[start], &t->trip[i], by_lengths); i++) {
			smaller(&s, &t->trip[i]);
		}
		if (s.n) {
			*USK_ADD(out->length, out->n_lengths, cap) = s;
		}
	}
}

void usk_trips_lengths(struct trips t[2], const struct pair_source *s, struct usk_calibrated *out)
{
	for (int side = 0; side < 2; side++) {
		usk_sort(t[side].trip, t[side].n, sizeof *t[side].trip, by_lengths);
		measure_asker(&t[side], side ? s->b : s->a, side ? s->a : s->b, out);
	}
	usk_sort(out->length, out->n_lengths, sizeof *out->length,
		 KEYS(FALLING(usk_smallest, n), BY(usk_smallest, asker),
		      BY(usk_smallest, there_bytes), BY(usk_smallest, back_bytes)));
	out->n_lengths = out->n_lengths < MAX_LENGTHS ? out->n_lengths : MAX_LENGTHS;
}

/* ---- by protocol and interfaces -------------------------------------------------------- */

/* The messages of one protocol between two interfaces. */
struct lane {
	struct usk_origin origin; /* as seen from a: sent_on is a's interface */
	struct usk_msg *msg;
	size_t n, cap;
};

struct lanes {
	const struct pair_source *source;
	struct usk_origin origin[512]; /* of the batch that comes next */
	size_t n_origins;
	struct lane *lane;
	size_t n, cap;
};

static void note_origins(void *ctx, const struct usk_origin *origin, size_t n)
{
	struct lanes *l = ctx;
	l->n_origins = n < COUNT(l->origin) ? n : COUNT(l->origin);
	memcpy(l->origin, origin, l->n_origins * sizeof *origin);
}

static struct lane *lane_of(struct lanes *l, struct usk_origin o)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!memcmp(&l->lane[i].origin, &o, sizeof o)) {
			return &l->lane[i];
		}
	}
	if (l->n == MAX_WAYS) {
		return NULL;
	}
	l->lane = usk_room(l->lane, l->n, &l->cap, sizeof *l->lane);
	l->lane[l->n] = (struct lane){ .origin = o };
	return &l->lane[l->n++];
}

static bool put_lane(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct lanes *l = ctx;
	const struct pair_source *s = l->source;
	for (size_t i = 0; i < n; i++) {
		bool forth = msg[i].from == s->a;
		struct usk_origin from = i < l->n_origins ? l->origin[i] : (struct usk_origin){ 0 };
		if (!usk_pair_counts(s, usk_msg_stamp(&msg[i], s->a))) {
			continue;
		}
		if (!forth) {
			from = (struct usk_origin){ from.proto, from.got_on, from.sent_on };
		}
		struct lane *to = lane_of(l, from);
		if (to) {
			*USK_ADD(to->msg, to->n, to->cap) = msg[i];
		}
	}
	l->n_origins = 0;
	return true;
}

/* Named only where a capture has several. */
static char *iface_name(const struct parties *p, uint32_t clock, unsigned number, bool known)
{
	size_t n = 0;
	const struct usk_trace *capture = p->party[clock].capture;
	const struct usk_iface *i = known && capture ? usk_trace_ifaces(capture, &n) : NULL;
	if (n < 2 || number >= n) {
		return NULL;
	}
	return i[number].name ? usk_strdup(i[number].name) : usk_format("#%u", number);
}

static int by_origin(const void *pa, const void *pb)
{
	return memcmp(&((const struct lane *)pa)->origin, &((const struct lane *)pb)->origin,
		      sizeof(struct usk_origin));
}

static void measure_lane(const struct usk_fit *all, const struct pair_source *s, struct lane *l,
			 struct usk_calibrated *out)
{
	struct usk_fit fit = *all;
	usk_msg_sort(l->msg, l->n, s->b);
	fit.msg = l->msg;
	fit.n_msgs = l->n;
	for (int side = 0; side < 2; side++) {
		struct usk_smallest w = { .asker = side ? s->b : s->a,
					  .other = side ? s->a : s->b };
		struct trips t = usk_trips_by(&fit, s, w.asker);
		for (size_t i = 0; i < t.n; i++) {
			smaller(&w, &t.trip[i]);
		}
		free(t.trip);
		if (w.n) {
			bool known = l->origin.proto;
			char *on_a = iface_name(s->parties, s->a, l->origin.sent_on, known);
			char *on_b = iface_name(s->parties, s->b, l->origin.got_on, known);
			w.proto = l->origin.proto;
			w.asker_iface = side ? on_b : on_a;
			w.other_iface = side ? on_a : on_b;
			out->way[out->n_ways++] = w;
		}
	}
}

enum usk_status usk_trips_ways(const struct usk_fit *fit, struct pair_source *s,
			       struct usk_calibrated *out, struct usk_err *err)
{
	struct lanes *l = usk_alloc(1, sizeof *l);
	struct usk_sink sink = { .ctx = l, .origins = note_origins, .put = put_lane };
	l->source = s;
	struct usk_counts counts = { 0 };
	struct usk_evidence evidence = { 0 };
	enum usk_status status = USK_OK;
	if (usk_pair_walks(s)) {
		status = usk_pair_walk(s, &sink, &counts, &evidence, err);
	} else {
		/* Tables know of no origins: what was kept says it all. */
		put_lane(l, fit->msg, fit->n_msgs);
	}
	if (l->n) {
		qsort(l->lane, l->n, sizeof *l->lane, by_origin);
	}
	out->way = usk_alloc(2 * l->n, sizeof *out->way);
	for (size_t i = 0; i < l->n; i++) {
		if (!status) {
			measure_lane(fit, s, &l->lane[i], out);
		}
		free(l->lane[i].msg);
	}
	free(l->lane);
	free(l);
	return status;
}
