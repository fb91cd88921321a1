/* SPDX-License-Identifier: MIT */
/*
 * event_order.c - a clock's rows in traces of events, as the records of a capture
 *
 * In    rows in the order of each trace; which trace was written first
 * Out   a survey of the clock, its epochs, the epoch of each row
 * Why   logs are rotated as captures are, and what tells the order of these tells that of logs
 * Not   which trace was first (arrange.c), whether the order of rows counts at all (event_epochs.c)
 */
#include "flow/flow.h"

#include <stdlib.h>

/* What a clock has in a trace. */
struct rows {
	size_t trace;
	struct usk_epoch_watch watch;
	int64_t last_ns; /* the highest stamp at the end */
	size_t epoch;	 /* of the clock, in which it begins */
	struct usk_epoch_place place;
};

struct event_order {
	struct rows *rows; /* as many as the survey has parts */
	size_t n, cap, at;
	struct usk_sampler sampler;
	bool counts;
};

void usk_event_order_free(struct event_order *o)
{
	if (o) {
		free(o->rows);
	}
	free(o);
}

static struct rows *rows_of(struct party *y, size_t trace)
{
	struct event_order *o = y->order;
	while (o->at < o->n && o->rows[o->at].trace != trace) {
		o->at++;
	}
	return o->at < o->n ? &o->rows[o->at] : NULL;
}

/* Of what is sent and what is received it is known that they go opposite ways. */
static void open_order(struct party *y)
{
	const struct usk_addr one = { 0, 1 }, other = { 0, 2 };
	y->order = usk_alloc(1, sizeof *y->order);
	y->survey.way = usk_alloc(2, sizeof *y->survey.way);
	y->survey.way[0] = (struct usk_ends){ one, other, false };
	y->survey.way[1] = (struct usk_ends){ other, one, false };
	y->survey.n_ways = 2;
}

static void begin_rows(struct party *y, size_t trace, int64_t first_ns)
{
	struct event_order *o = y->order;
	struct usk_survey *s = &y->survey;
	*USK_ADD(o->rows, o->n, o->cap) = (struct rows){ .trace = trace };
	if (o->n < y->n_told) {
		o->rows[o->n - 1].watch.told = y->told[o->n];
	}
	s->part = usk_grow(s->part, o->n, sizeof *s->part);
	s->part[s->n_parts++] = (struct usk_survey_part){ .first_ns = first_ns };
}

void usk_event_order_note(struct party *y, size_t trace, const struct usk_event *e)
{
	struct usk_survey *s = &y->survey;
	if (!y->order) {
		open_order(y);
	}
	struct event_order *o = y->order;
	if (!o->n || o->rows[o->n - 1].trace != trace) {
		begin_rows(y, trace, e->time_ns);
	}
	struct usk_survey_part *part = &s->part[s->n_parts - 1];
	const uint64_t key = usk_fold(e->id.word[0], e->id.word[1]);
	struct usk_sample *x = usk_survey_sample(s, &o->sampler, key);
	if (x) {
		*x = (struct usk_sample){
			.key = key,
			.pick = key,
			.record = part->records & (UINT64_MAX >> 24),
			.part = (uint16_t)(s->n_parts < USK_MOST_PARTS ? s->n_parts - 1
								       : USK_MOST_PARTS),
			.time_ns = e->time_ns,
			.way = e->side == USK_SIDE_SENT,
		};
	}
	o->rows[o->n - 1].watch.at = part->records++;
	usk_epoch_note(&o->rows[o->n - 1].watch, e->time_ns);
}

void usk_event_order_finish(struct party *y)
{
	for (size_t i = 0; y->order && i < y->order->n; i++) {
		struct rows *r = &y->order->rows[i];
		struct usk_survey_part *part = &y->survey.part[i];
		usk_epoch_finish(&r->watch, &part->epochs, &part->drops);
		r->last_ns = r->watch.highest;
	}
}

void usk_event_order_again(struct party *y)
{
	usk_survey_free(&y->survey);
	usk_event_order_free(y->order);
	y->order = NULL;
}

bool usk_event_order_counts(const struct party *y)
{
	return y->order && y->order->counts && !y->unordered;
}

/* ---- epochs --------------------------------------------------------------------------------- */

struct place {
	size_t turn, part;
};

/* It was set back there. */
static void add_epoch(struct usk_survey *s, int64_t before_ns, int64_t after_ns)
{
	struct usk_epochs *e = &s->epochs;
	usk_i128 shift =
		(usk_i128)usk_epoch_offset(e, e->n) + before_ns - after_ns + USK_EPOCH_GAP_NS;
	*USK_APPEND(e->epoch, e->n) = (struct usk_epoch){ .before_ns = before_ns,
							  .after_ns = after_ns,
							  .lowest_ns = after_ns,
							  .shift_ns = usk_saturate(shift) };
}

/* Rows of one turn, which all show the same steps; last_ns: the highest stamp before, and then in it. */
static void take_turn(struct party *y, const struct place *x, size_t n, bool first,
		      int64_t *last_ns)
{
	struct usk_survey *s = &y->survey;
	const size_t steps = s->part[x->part].epochs.n;
	const size_t epochs = s->epochs.n;
	int64_t from = INT64_MAX, to = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		const int64_t begins = s->part[x[i].part].first_ns;
		const int64_t ends = y->order->rows[x[i].part].last_ns;
		from = begins < from ? begins : from;
		to = ends > to ? ends : to;
	}
	if (!first && (usk_i128)*last_ns - from >= USK_LEAST_FALL) {
		add_epoch(s, *last_ns, from);
	}
	for (size_t i = 0; i < n; i++) {
		y->order->rows[x[i].part].epoch = s->epochs.n;
	}
	for (size_t k = 0; k < steps; k++) {
		int64_t before = INT64_MIN, after = INT64_MAX;
		for (size_t i = 0; i < n; i++) {
			const struct usk_epoch *e = &s->part[x[i].part].epochs.epoch[k];
			before = e->before_ns > before ? e->before_ns : before;
			after = e->after_ns < after ? e->after_ns : after;
		}
		add_epoch(s, before, after);
	}
	bool fell = s->epochs.n > epochs;
	*last_ns = first || fell || to > *last_ns ? to : *last_ns;
}

/* Samples are in the order of traces and rows. */
static void shift_samples(struct party *y)
{
	struct usk_survey *s = &y->survey;
	size_t part = SIZE_MAX, at = 0;
	for (size_t i = 0; i < s->n_samples; i++) {
		struct usk_sample *x = &s->sample[i];
		at = x->part == part ? at : 0;
		part = x->part;
		if (part < s->n_parts) {
			usk_epoch_shift(&s->part[part].epochs, x->record, &at);
			x->time_ns += usk_epoch_offset(&s->epochs, y->order->rows[part].epoch + at);
		}
	}
}

void usk_event_order_take(struct party *y, const struct usk_trace_turn *turn)
{
	const size_t n = y->survey.n_parts;
	struct place *x = usk_alloc(n + 1, sizeof *x);
	int64_t last_ns = 0;
	for (size_t i = 0; i < n; i++) {
		x[i] = (struct place){ turn[i].turn, i };
	}
	usk_sort(x, n, sizeof *x, KEYS(BY(place, turn), BY(place, part)));
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && x[k].turn == x[i].turn; k++) {
		}
		take_turn(y, x + i, k - i, !i, &last_ns);
	}
	free(x);
	shift_samples(y);
	y->order->counts = true;
	usk_party_breaks(y);
}

/* ---- rows again ----------------------------------------------------------------------------- */

void usk_event_order_rewind(struct party *y)
{
	for (size_t i = 0; y->order && i < y->order->n; i++) {
		y->order->rows[i].place = (struct usk_epoch_place){ 0 };
		y->order->at = 0;
	}
}

bool usk_event_order_place(struct party *y, size_t trace, int64_t *t)
{
	struct rows *r = rows_of(y, trace);
	if (!r) { /* the trace has grown */
		return false;
	}
	const struct usk_epochs *own = &y->survey.part[r - y->order->rows].epochs;
	usk_epoch_shift(own, r->place.record++, &r->place.at);
	*t = usk_saturate((usk_i128)*t +
			  usk_epoch_offset(&y->survey.epochs, r->epoch + r->place.at));
	usk_party_span(y, *t, *t);
	return true;
}

void usk_event_order_begins(struct parties *p, uint32_t clock)
{
	const struct party *y = &p->party[clock];
	const struct event_order *o = y->order;
	for (size_t i = 0; usk_event_order_counts(y) && i < o->n; i++) {
		struct begins *b = &p->begins[o->rows[i].trace];
		*USK_ADD(b->of, b->n, b->cap) =
			(struct usk_trace_begin){ clock, (uint32_t)o->rows[i].epoch, 0 };
	}
}

void usk_event_order_forget(struct party *y)
{
	if (y->order) {
		USK_FREE(y->survey.sample, y->survey.way);
		y->survey.sample = NULL;
		y->survey.way = NULL;
		y->survey.n_samples = y->survey.n_ways = 0;
	}
}
