/* SPDX-License-Identifier: MIT */
/*
 * parties.c - who takes part: the clocks of all traces
 *
 * In    opened traces, options
 * Out   clocks with names, spans and resolutions
 * Why   the order of rows shows nowhere: clocks of captures stand in the order of these, those
 *       that only tables name are sorted
 * Not   rows of tables (tables.c), who shares messages with whom (pairs.c)
 */
#include "flow/flow.h"
#include "flow/clock_log.h"
#include "flow/share.h"
#include "flow/stated.h"
#include "fit/group.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void usk_parties_progress(void *ctx, uint64_t bytes)
{
	struct parties *p = ctx;
	const struct usk_sync_options *o = p->opt;
	if (o->progress && p->work_all) {
		/* More work may turn up on the way; what is shown does not go back. */
		double done = (double)(p->work_done + bytes) / (double)p->work_all;
		p->shown = done > 1 ? 1 : done > p->shown ? done : p->shown;
		o->progress(o->progress_ctx, p->shown, p->doing);
	}
}

uint32_t usk_party_of(struct parties *p, const char *name)
{
	struct usk_event_id id = usk_event_id(name, strlen(name));
	uint64_t *number;
	while (*(number = usk_index_value(&p->names, id.word[0], id.word[1]))) {
		if (!strcmp(p->party[*number - 1].name, name)) {
			return (uint32_t)*number - 1;
		}
		id.word[1]++; /* another name of this key */
	}
	p->party = usk_room(p->party, p->n, &p->cap, sizeof *p->party);
	p->party[p->n] = (struct party){ .name = usk_strdup(name), .trace = SIZE_MAX };
	*number = ++p->n;
	return (uint32_t)*number - 1;
}

/* A clock may be in several traces: what they tell of it adds up. */
void usk_party_span(struct party *y, int64_t first_ns, int64_t last_ns)
{
	y->first_ns = !y->stamped || first_ns < y->first_ns ? first_ns : y->first_ns;
	y->last_ns = !y->stamped || last_ns > y->last_ns ? last_ns : y->last_ns;
	y->stamped = true;
}

void usk_party_stamp(struct party *y, int64_t t)
{
	usk_party_span(y, t, t);
	usk_grid_add(&y->grid, t);
}

bool usk_party_unwrap(const struct party *y, int64_t *t)
{
	size_t epoch = y->alone ? usk_alone_epoch(y->alone, *t) : 0;
	if (epoch == SIZE_MAX || y->unordered) {
		return false;
	}
	*t = usk_saturate((usk_i128)*t + usk_epoch_offset(&y->survey.epochs, epoch));
	return true;
}

bool usk_party_side(struct party *y, int64_t *t)
{
	if (!usk_party_unwrap(y, t)) {
		y->shown_twice++;
		return false;
	}
	usk_party_span(y, *t, *t);
	return true;
}

void usk_party_trace(struct party *y, const struct usk_trace *t)
{
	size_t n;
	const struct usk_iface *iface = usk_trace_ifaces(t, &n);
	const struct usk_extent *extent = usk_trace_extent(t);
	for (size_t i = 0; i < n; i++) {
		y->resolution_ns = iface[i].resolution_ns > y->resolution_ns
					   ? iface[i].resolution_ns
					   : y->resolution_ns;
	}
	if (extent) {
		usk_party_span(y, extent->first_ns, extent->last_ns);
	}
}

void usk_party_captured(struct parties *p, struct party *y)
{
	const struct usk_survey *s = &y->survey;
	if (s->records) {
		usk_party_span(y, s->first_ns, s->last_ns);
	}
	usk_party_trace(y, y->capture);
	for (size_t i = 0; i < y->n_parts && y->joined; i++) {
		const struct usk_extent *extent = usk_trace_extent(p->trace[y->part[i]]);
		if (extent) {
			usk_party_span(y, extent->first_ns, extent->last_ns);
		}
	}
}

static void take_survey(struct parties *p, struct party *y)
{
	const struct usk_survey *s = &y->survey;
	if (s->epochs.n) {
		usk_party_breaks(y);
	}
	if (s->records) {
		usk_grid_join(&y->grid, &s->grid);
	}
	usk_party_captured(p, y);
	p->left_out.fragments += s->left_out.fragments;
	p->left_out.not_ip += s->left_out.not_ip;
	p->left_out.loopback += s->left_out.loopback;
	p->left_out.cut_short += s->left_out.cut_short;
	p->left_out.alike += s->left_out.alike;
}

static enum usk_status scan_tables(struct parties *p, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) == USK_TRACE_TABLE) {
			status = usk_table_scan(p, i, err);
			p->work_done += usk_trace_size(p->trace[i]);
		}
	}
	return status;
}

/* What one has to be joined to another to be a message. */
static enum usk_status scan_sides(struct parties *p, struct usk_err *err)
{
	enum usk_status status = usk_inside_scan(p, err);
	status = status ? status : usk_events_scan(p, err);
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		const enum usk_trace_class class = usk_trace_class(p->trace[i]);
		if (class == USK_TRACE_SPANS) {
			status = usk_spans_scan(p, i, err);
		} else if (class == USK_TRACE_COLLECTIVES) {
			status = usk_collectives_scan(p, i, err);
		} else {
			continue;
		}
		p->work_done += usk_trace_size(p->trace[i]);
	}
	status = status ? status : usk_spans_join(p, err);
	return status ? status : usk_collectives_join(p, err);
}

/* As if nothing of it had been read; what was noted meanwhile is gone but for the first notes. */
static enum usk_status scan_sides_again(struct parties *p, size_t notes, struct usk_err *err)
{
	usk_join_free(p->join);
	p->join = NULL;
	while (p->n_log_notes > notes) {
		free(p->log_note[--p->n_log_notes]);
	}
	for (size_t i = 0; i < p->n; i++) {
		p->party[i].shown_twice = p->party[i].readings = 0;
	}
	for (size_t i = 0; i < p->n_traces; i++) {
		const enum usk_trace_class class = usk_trace_class(p->trace[i]);
		bool sides = class != USK_TRACE_CAPTURE && class != USK_TRACE_TABLE;
		p->work_all += sides ? usk_trace_size(p->trace[i]) : 0;
	}
	return scan_sides(p, err);
}

/* What was joined is one table more, behind those of the traces; its numbers are parties. */
static enum usk_status scan_joined(struct parties *p, struct usk_counts before, size_t notes,
				   struct usk_err *err)
{
	enum usk_status status = usk_join_run(p->join, &p->left_out, err);
	size_t which = p->n_traces;
	bool again = false;
	p->n_clocks[which] = p->n;
	p->clock[which] = usk_alloc(p->n, sizeof **p->clock);
	for (size_t i = 0; i < p->n; i++) {
		p->clock[which][i] = (uint32_t)i;
	}
	status = status ? status : usk_table_scan(p, which, err);
	if (!status && p->rows_repeat) { /* on unwrapped time, where rows told it */
		status = usk_tables_sample_again(p, err);
	}
	status = status ? status : usk_event_epochs(p, &again, err);
	while (again && !status) {
		p->left_out = before;
		status = scan_sides_again(p, notes, err);
		status = status ? status : usk_join_run(p->join, &p->left_out, err);
		status = status ? status : usk_tables_sample_again(p, err);
		status = status ? status : usk_event_epochs(p, &again, err);
	}
	return status;
}

/* Captures first, then what names its clocks itself. Both tell where clocks were set back; what
 * does not is placed by that. */
static enum usk_status scan_all(struct parties *p, struct usk_err *err)
{
	enum usk_status status = usk_captures_find(p, err);
	status = status ? status : usk_captures_survey(p, err);
	usk_share_surveys(p, status, err);
	status = status ? status : usk_captures_falls(p, err);
	for (size_t i = 0; i < p->n && !status; i++) {
		take_survey(p, &p->party[i]);
	}
	status = status ? status : scan_tables(p, err);
	status = status ? status : usk_row_epochs(p, err);
	for (size_t i = 0; i < p->n_traces && !status; i++) {
		if (usk_trace_class(p->trace[i]) == USK_TRACE_CAPTURE) {
			p->events[i] = usk_share_reads(p, i) ? usk_trace_events(p->trace[i])
							     : p->events[i];
		}
	}
	const struct usk_counts before = p->left_out;
	const size_t notes = p->n_log_notes;
	status = status ? status : scan_sides(p, err);
	if (!status && p->join) {
		status = scan_joined(p, before, notes, err);
	} else if (!status && p->rows_repeat) {
		status = usk_tables_sample_again(p, err);
	}
	status = status ? status : usk_row_epochs_check(p, err);
	return status || p->n ? status : usk_flow_too_few(p, err);
}

enum usk_status usk_party_named(const struct parties *p, const char *row, const char *option,
				uint32_t *which, const char **value, struct usk_err *err)
{
	size_t longest = 0; /* names may have = in them */
	*value = NULL;
	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->party[i].name;
		const size_t n = strlen(name);
		if (n >= longest && !strncmp(name, row, n) && row[n] == '=') {
			*which = (uint32_t)i;
			*value = row + n + 1;
			longest = n;
		}
	}
	return *value ? USK_OK
		      : usk_fail(err, USK_EUSAGE, 0, "%s %s: there is no such clock; \"%s\" is one",
				 option, row, p->n ? p->party[0].name : "");
}

/* A rate of a clock that no trace has: the stamps that are meant would pass for ns. */
static enum usk_status check_tick_rates(const struct parties *p, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n_traces; i++) {
		const struct usk_read_options *o = usk_trace_options(p->trace[i]);
		for (size_t k = 0; k < o->n_tick_rate && !status; k++) {
			uint32_t which;
			const char *value;
			status = usk_party_named(p, o->tick_rate[k], "--tick-rate", &which, &value,
						 err);
		}
	}
	return status;
}

uint32_t usk_party_find(const struct parties *p, const char *name)
{
	uint32_t i = 0;
	while (i < p->n && strcmp(p->party[i].name, name)) {
		i++;
	}
	return i < p->n ? i : USK_NO_CLOCK;
}

static enum usk_status settings(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		int64_t grid = usk_grid_ns(&y->grid);
		y->resolution_ns = grid > y->resolution_ns ? grid : y->resolution_ns;
	}
	for (size_t i = 0; i < o->n_resolution; i++) {
		uint32_t which;
		const char *value;
		int64_t q;
		enum usk_status status =
			usk_party_named(p, o->resolution[i], "--resolution", &which, &value, err);
		if (!status) {
			status = usk_parse_duration(value, strlen(value), &q, err);
		}
		if (!status && q < 0) {
			status = usk_fail(err, USK_EUSAGE, 0, "--resolution %s: is negative",
					  o->resolution[i]);
		}
		if (status) {
			return status;
		}
		struct party *y = &p->party[which];
		y->resolution_ns = q > y->resolution_ns ? q : y->resolution_ns;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		y->resolution_ns = y->resolution_ns > 1 ? y->resolution_ns : 0;
	}
	for (size_t i = 0; i < o->n_local; i++) {
		uint32_t which;
		const char *value;
		struct usk_addr a;
		enum usk_status status =
			usk_party_named(p, o->local[i], "--local", &which, &value, err);
		if (status) {
			return status;
		}
		if (!usk_addr_parse(value, &a)) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--local %s: \"%s\" is not an IPv4 or IPv6 address",
					o->local[i], value);
		}
		struct party *y = &p->party[which];
		*USK_APPEND(y->stated, y->n_stated) = a;
	}
	p->reference = 0;
	/* Whose stamps would --from and --to be, if that came out at the end? */
	p->reference_named = o->reference || o->from_ns != USK_NONE || o->to_ns != USK_NONE;
	if (o->reference) {
		p->reference = usk_party_find(p, o->reference);
		if (p->reference == USK_NO_CLOCK) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--reference %s: there is no such clock; \"%s\" is one",
					o->reference, p->n ? p->party[0].name : "");
		}
	}
	enum usk_status status = usk_carried_open(p, err);
	return status ? status : usk_stated_open(p, err);
}

static void party_free(struct party *y)
{
	if (y->joined) {
		usk_trace_close(y->capture);
	}
	USK_FREE(y->name, y->stated, y->part, y->view, y->in_epoch);
	usk_event_order_free(y->order);
	usk_alone_free(y->alone);
	free(y->back);
	usk_carry_free(y->carry);
	usk_falls_free(y);
	usk_survey_free(&y->survey);
}

/* Captures in their order, the others by name; what is empty last. */
static int by_place(const void *pa, const void *pb)
{
	const struct party *a = pa, *b = pb;
	int order = usk_order(a->empty, b->empty);
	order = order ? order : usk_order((int64_t)a->trace, (int64_t)b->trace);
	return order ? order : strcmp(a->name, b->name);
}

static void renumber(struct parties *p)
{
	uint32_t *now = usk_alloc(p->n + 1, sizeof *now);
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		y->number = (uint32_t)i;
		y->empty = y->joined && !y->stamped && p->n_rules && !y->unordered;
	}
	if (p->n) {
		qsort(p->party, p->n, sizeof *p->party, by_place);
	}
	for (size_t i = 0; i < p->n; i++) {
		now[p->party[i].number] = (uint32_t)i;
	}
	for (size_t i = 0; i <= p->n_traces; i++) {
		for (size_t k = 0; k < p->n_clocks[i]; k++) {
			p->clock[i][k] = now[p->clock[i][k]];
		}
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		p->pair[i].a = now[p->pair[i].a];
		p->pair[i].b = now[p->pair[i].b];
	}
	for (size_t i = 0; i < p->n_traces; i++) {
		for (size_t k = 0; k < p->begins[i].n; k++) {
			p->begins[i].of[k].clock = now[p->begins[i].of[k].clock];
		}
	}
	for (size_t i = 0; i < p->n_rows; i++) {
		usk_rows_renumber(&p->rows[i], now, p->n);
	}
	for (; p->n && p->party[p->n - 1].empty; p->n--) {
		party_free(&p->party[p->n - 1]);
	}
	free(now);
	usk_index_free(&p->names);
}

enum usk_status usk_parties_open(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, const struct usk_share *share,
				 struct parties *out, struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	out->share = share;
	out->trace = trace;
	out->n_traces = n;
	out->opt = opt;
	out->doing = "reading";
	out->max_skew_e12 = opt->max_skew_e12 ? opt->max_skew_e12 : INT64_C(500000000);
	out->method = usk_estimator_find(opt->method ? opt->method : "middle");
	pthread_mutex_init(&out->reading, NULL);
	out->events = usk_alloc(n, sizeof *out->events);
	out->begins = usk_alloc(n + 1, sizeof *out->begins);
	out->rows = usk_alloc(1, sizeof *out->rows);
	out->n_rows = 1;
	out->rows_of = usk_alloc(n + 1, sizeof *out->rows_of);
	out->table = usk_alloc(n + 1, sizeof *out->table);
	for (size_t i = 0; i <= n; i++) {
		out->table[i] = i;
	}
	out->clock = usk_alloc(n + 1, sizeof *out->clock);
	out->n_clocks = usk_alloc(n + 1, sizeof *out->n_clocks);
	out->depth = USK_DEPTH_ALL;
	uint64_t work = 0, captures = 0;
	enum usk_status status = usk_model_parse(opt->model, &out->model, err);
	for (size_t i = 0; i < n && !status; i++) {
		work += usk_trace_size(trace[i]);
		if (usk_trace_class(trace[i]) == USK_TRACE_CAPTURE) {
			captures++;
			status = usk_share_reads(out, i)
					 ? usk_trace_depth(trace[i], &out->depth, err)
					 : USK_OK;
		}
	}
	usk_share_depth(out, status, err);
	/* Read once to begin with, and then for every pair; how many these are shows later. */
	out->work_all = work * (captures > 2 ? captures : 2);
	status = status ? status : scan_all(out, err);
	status = status ? status : usk_captures_check(out, err);
	renumber(out);
	status = status ? status : check_tick_rates(out, err);
	status = status ? status : settings(out, err);
	status = status ? status : usk_pairs_settle(out, err);
	status = status ? status : usk_delays_of(opt->min_delay, &out->delays, err);
	if (status) {
		usk_parties_free(out);
	}
	return status;
}

const struct usk_delay_model *usk_parties_delay(const struct parties *p, uint32_t from, uint32_t to)
{
	return usk_delays_find(&p->delays, p->party[from].name, p->party[to].name);
}

char *usk_parties_delay_note(const struct parties *p)
{
	const char **name = usk_alloc(p->n + 1, sizeof *name), *first = NULL;
	size_t unknown = 0;
	for (size_t i = 0; i < p->n; i++) {
		name[i] = p->party[i].name;
	}
	qsort(name, p->n, sizeof *name, usk_by_string);
	for (size_t i = 0; i < p->delays.n; i++) {
		const char *pair[] = { p->delays.row[i].sender, p->delays.row[i].receiver };
		for (size_t k = 0; k < 2; k++) {
			if (!bsearch(&pair[k], name, p->n, sizeof *name, usk_by_string)) {
				first = first ? first : pair[k];
				unknown++;
				break;
			}
		}
	}
	free(name);
	return !unknown ? NULL
			: usk_format("--min-delay %s: %zu of its %zu rows name clocks that no "
				     "trace has, the first is \"%s\"",
				     p->opt->min_delay, unknown, p->delays.n, first);
}

void usk_parties_free(struct parties *p)
{
	usk_delays_free(&p->delays);
	usk_group_free(p->group);
	free(p->group_failed);
	usk_flow_texts_free(p->log_note, p->n_log_notes);
	free(p->stated);
	usk_pairs_free(p);
	usk_kept_free(p->kept);
	usk_join_free(p->join);
	usk_spans_free(p);
	usk_collecting_free(p);
	for (size_t i = 0; i < p->n; i++) {
		party_free(&p->party[i]);
	}
	for (size_t i = 0; i <= p->n_traces && p->clock; i++) {
		free(p->clock[i]);
	}
	for (size_t i = 0; i < p->n_traces && p->begins; i++) {
		free(p->begins[i].of);
	}
	USK_FREE(p->clock, p->n_clocks, p->begins, p->table);
	usk_index_free(&p->names);
	free(p->events);
	for (size_t i = 0; i < p->n_rows; i++) {
		usk_rows_free(&p->rows[i]);
	}
	USK_FREE(p->party, p->rule, p->rows, p->rows_of);
	pthread_mutex_destroy(&p->reading);
	memset(p, 0, sizeof *p);
}
