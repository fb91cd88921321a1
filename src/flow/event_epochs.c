/* SPDX-License-Identifier: MIT */
/*
 * event_epochs.c - sides of messages, and clocks that were set back while these were written down
 *
 * In    traces of events
 * Out   sides of messages, to be joined; stamps of a clock that was set back on unwrapped time
 * Why   most logs are written while things happen: then the order of rows tells where a clock was set
 *       back, as that of a capture's records does
 * Not   clocks that captures or tables of messages tell of
 *
 * Rows may be in any other order, too, by kind or by id, which looks the same. So it counts only where the
 * messages, once joined, say that one of two clocks showed less later: then all are read once more. If
 * they still do, a clock whose rows are in several traces is left out, as nothing tells the order of these.
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

/* Of the rows of a clock. */
struct event_order {
	struct usk_epoch_watch watch;
	struct usk_epochs epochs; /* what it told in the end */
	size_t trace;		  /* the last that has some */
	size_t n_traces;
	bool counts;
	struct usk_epoch_place place;
};

void usk_event_order_free(struct event_order *o)
{
	if (o) {
		usk_epochs_free(&o->watch.found);
		usk_epochs_free(&o->epochs);
	}
	free(o);
}

static void note(struct party *y, size_t which, int64_t t)
{
	struct event_order *o = y->order = y->order ? y->order : usk_alloc(1, sizeof *y->order);
	o->n_traces += !o->n_traces || o->trace != which;
	o->trace = which;
	usk_epoch_note(&o->watch, t);
}

/* A side's stamp on unwrapped time; false: it may be of several epochs. */
static bool place(struct party *y, int64_t *t)
{
	struct event_order *o = y->order;
	if (!o->counts) {
		return usk_party_side(y, t);
	}
	const struct usk_epochs *e = &y->survey.epochs;
	*t += usk_epoch_shift(e, o->place.record++, &o->place.at);
	usk_party_span(y, *t, *t);
	return true;
}

/* Sides of messages go to where they are joined, those of all traces together. first: not again. */
static enum usk_status scan(struct parties *p, size_t which, bool first, struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	struct usk_event event[512];
	p->join = p->join ? p->join : usk_join_new();
	enum usk_status status = usk_trace_rewind(t, err);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_sides(t, event, COUNT(event), &n, err);
		usk_table_names(p, which);
		size_t kept = 0;
		for (size_t i = 0; i < n; i++) {
			struct usk_event e = event[i];
			e.clock = p->clock[which][e.clock];
			struct party *y = &p->party[e.clock];
			if (first) {
				usk_grid_add(&y->grid, e.time_ns);
				note(y, which, e.time_ns);
			}
			if (place(y, &e.time_ns)) {
				event[kept++] = e;
			}
		}
		status = status ? status : usk_join_add(p->join, event, kept, err);
		usk_parties_progress(p, usk_trace_pos(t));
	}
	p->events[which] = usk_trace_events(t);
	if (p->n_clocks[which] == 1) {
		usk_party_trace(&p->party[p->clock[which][0]], t);
	}
	return status;
}

static enum usk_status scan_all(struct parties *p, bool first, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) == USK_TRACE_EVENTS) {
			status = scan(p, i, first, err);
			p->work_done += usk_trace_size(p->trace[i]);
		}
	}
	return status;
}

enum usk_status usk_events_scan(struct parties *p, struct usk_err *err)
{
	enum usk_status status = scan_all(p, true, err);
	for (size_t i = 0; i < p->n; i++) {
		struct event_order *o = p->party[i].order;
		if (o) {
			usk_epoch_finish(&o->watch, &o->epochs);
		}
	}
	return status;
}

/* From now on the order of its rows counts. */
static void count(struct party *y)
{
	y->order->counts = true;
	usk_epochs_copy(&y->order->epochs, &y->survey.epochs);
	y->stamped = false;
	usk_party_breaks(y);
}

static bool may_count(const struct party *y)
{
	const struct event_order *o = y->order;
	return o && o->n_traces == 1 && o->epochs.n && !y->survey.epochs.n;
}

static void leave_out(struct party *y)
{
	y->unordered = true;
	y->stamped = false;
}

static bool is_unordered(const struct party *y)
{
	return y->order && y->order->n_traces > 1 && !y->capture && !y->unordered;
}

/* What can be done about pairs that contradict the order of stamps: of the clocks of all of them at once. */
static bool settle(struct parties *p, bool (*may)(const struct party *y),
		   void (*act)(struct party *y))
{
	bool *those = usk_alloc(p->n + 1, sizeof *those), any = false;
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		const bool a = may(&p->party[s->a]), b = may(&p->party[s->b]);
		if ((a || b) && usk_pair_falls(s)) {
			those[s->a] = those[s->a] || a;
			those[s->b] = those[s->b] || b;
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		if (those[i]) {
			act(&p->party[i]);
			any = true;
		}
	}
	free(those);
	return any;
}

static bool has_others(const struct parties *p)
{
	return p->spans || p->collecting || p->opt->readings || p->model.kind == USK_LINEAR;
}

enum usk_status usk_event_epochs(struct parties *p, bool *again, struct usk_err *err)
{
	*again = !has_others(p) &&
		 (settle(p, may_count, count) || settle(p, is_unordered, leave_out));
	if (!*again) {
		return USK_OK;
	}
	usk_join_free(p->join);
	p->join = NULL;
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		y->shown_twice = 0;
		if (y->order) {
			y->order->place = (struct usk_epoch_place){ 0 };
		}
	}
	for (size_t i = 0; i < p->n_traces; i++) {
		bool events = usk_trace_class(p->trace[i]) == USK_TRACE_EVENTS;
		p->work_all += events ? usk_trace_size(p->trace[i]) : 0;
	}
	return scan_all(p, false, err);
}
