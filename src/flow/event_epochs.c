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
 * Rows may be in any other order, too, by kind or by id, which looks the same. So it is asked only where the
 * messages, once joined, say that one of two clocks showed less later: then a clock's rows are looked at as
 * the records of a capture are (event_order.c), several traces of one put in order as its files are
 * (arrange.c), and all is read and joined anew. If messages still say so, the clock that
 * most of them contradict is left out, and so are those of spans and collectives, whose order tells nothing:
 * bounds by the order of stamps would exclude the truth.
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

/* What becomes of a side: true, it is one of a message; it is handed over as it counts. */
typedef bool take_fn(struct parties *p, size_t which, struct usk_event *e);

static bool take_side(struct parties *p, size_t which, struct usk_event *e)
{
	struct party *y = &p->party[e->clock];
	usk_grid_add(&y->grid, e->time_ns);
	if (usk_event_order_counts(y)) {
		return usk_event_order_place(y, which, &e->time_ns);
	}
	return usk_party_side(y, &e->time_ns);
}

static bool take_row(struct parties *p, size_t which, struct usk_event *e)
{
	struct party *y = &p->party[e->clock];
	if (!y->capture && !y->survey.epochs.n) {
		usk_event_order_note(y, which, e);
	}
	return false;
}

/* Sides of messages go to where they are joined, those of all traces together. */
static enum usk_status scan(struct parties *p, size_t which, take_fn *take, struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	struct usk_event event[512];
	enum usk_status status = usk_trace_rewind(t, err);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_sides(t, event, COUNT(event), &n, err);
		usk_table_names(p, which);
		size_t kept = 0;
		for (size_t i = 0; i < n; i++) {
			struct usk_event e = event[i];
			e.clock = p->clock[which][e.clock];
			if (take(p, which, &e)) {
				event[kept++] = e;
			}
		}
		status = status ? status : usk_join_add(p->join, event, kept, err);
		usk_parties_progress(p, usk_trace_pos(t));
	}
	return status;
}

static enum usk_status scan_all(struct parties *p, take_fn *take, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) == USK_TRACE_EVENTS) {
			p->join = p->join ? p->join : usk_join_new();
			status = scan(p, i, take, err);
			p->work_done += usk_trace_size(p->trace[i]);
		}
	}
	return status;
}

enum usk_status usk_events_scan(struct parties *p, struct usk_err *err)
{
	for (size_t i = 0; i < p->n; i++) {
		usk_event_order_rewind(&p->party[i]);
	}
	enum usk_status status = scan_all(p, take_side, err);
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) == USK_TRACE_EVENTS) {
			p->events[i] = usk_trace_events(p->trace[i]);
			if (p->n_clocks[i] == 1) {
				usk_party_trace(&p->party[p->clock[i][0]], p->trace[i]);
			}
		}
	}
	return status;
}

static enum usk_status survey_once(struct parties *p, struct usk_err *err)
{
	for (size_t i = 0; i < p->n_traces; i++) {
		bool is = usk_trace_class(p->trace[i]) == USK_TRACE_EVENTS;
		p->work_all += is ? usk_trace_size(p->trace[i]) : 0;
	}
	enum usk_status status = scan_all(p, take_row, err);
	for (size_t i = 0; i < p->n; i++) {
		usk_event_order_finish(&p->party[i]);
	}
	return status;
}

/* What rows tell, which is asked once it is known to matter. */
static enum usk_status survey(struct parties *p, struct usk_err *err)
{
	bool *those = usk_alloc(p->n + 1, sizeof *those), any = false;
	enum usk_status status = survey_once(p, err);
	p->events_surveyed = true;
	usk_falls_open(p, true, those);
	for (size_t i = 0; i < p->n; i++) {
		those[i] = those[i] && p->party[i].order;
		any = any || those[i];
	}
	if (!status && any && usk_falls_tell(p, true, those)) {
		for (size_t i = 0; i < p->n; i++) {
			if (p->party[i].order) {
				usk_event_order_again(&p->party[i]);
			}
		}
		status = survey_once(p, err);
	}
	free(those);
	return status;
}

/* Of each clock the pairs that contradict the order of stamps. NULL: none does. */
static size_t *falling(const struct parties *p)
{
	size_t *those = usk_alloc(p->n + 1, sizeof *those);
	if (!usk_clocks_contradict(p, false, those)) {
		free(those);
		return NULL;
	}
	return those;
}

static bool may_tell(const struct party *y)
{
	return y->order && !usk_event_order_counts(y) && !y->unordered;
}

static size_t n_that_may(const struct parties *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		n += may_tell(&p->party[i]);
	}
	return n;
}

/* From now on rows tell the epochs of those that were set back, or they are left out. False: of none. */
static bool put_in_order(struct parties *p, const size_t *those)
{
	const size_t n = n_that_may(p);
	bool *of = usk_alloc(p->n + 1, sizeof *of);
	for (size_t i = 0; i < p->n; i++) {
		of[i] = those[i] && may_tell(&p->party[i]);
	}
	usk_files_arrange(p, of);
	free(of);
	return n_that_may(p) < n;
}

static bool may_leave_out(const struct party *y)
{
	return (y->order || y->in_no_order) && !y->capture && !y->unordered;
}

enum usk_status usk_event_epochs(struct parties *p, bool *again, struct usk_err *err)
{
	size_t *those = falling(p);
	enum usk_status status = those && !p->events_surveyed ? survey(p, err) : USK_OK;
	*again = !status && those &&
		 (put_in_order(p, those) || usk_leave_out_most(p, those, may_leave_out));
	free(those);
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		y->stamped = y->stamped && !(*again && (y->order || y->unordered));
		if (!*again) {
			usk_event_order_begins(p, (uint32_t)i);
			usk_event_order_forget(y);
		}
	}
	return status;
}
