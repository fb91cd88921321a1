/* SPDX-License-Identifier: MIT */
/*
 * tables.c - tables of messages, read for all pairs at once
 *
 * In    tables whose rows are of any pairs in any order, and what was joined of events
 * Out   each pair's messages, some in a row
 * Why   ten thousand pairs cannot each have a reading of their own; and what belongs to one pair
 *       is touched once a batch, not once a row
 * Not   captures, where each pair is matched by itself (pairs.c)
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512, BATCH = 1 << 18, AHEAD = 1 << 14 };

/* Samples of all pairs together, and of one. */
enum { SAMPLES = 1 << 20, MOST_SAMPLES = 1 << 16, LEAST_SAMPLES = 128 };

struct batch {
	struct usk_msg *msg, *sorted;
	uint32_t *pair; /* of each */
	size_t n, cap, cap_sorted;
	uint32_t *n_of; /* messages of each pair; 0 between batches */
	size_t cap_pairs;
	uint32_t *touched; /* pairs that have some, in the order of their first */
	size_t n_touched, cap_touched;
};

static void batch_free(struct batch *b)
{
	USK_FREE(b->msg, b->sorted, b->pair, b->n_of, b->touched);
}

/* Room for n more, as far as a batch goes. */
static void batch_room(struct batch *b, size_t n)
{
	const size_t needed = n < BATCH - b->n ? b->n + n : BATCH;
	if (needed > b->cap) {
		b->cap = 2 * needed < BATCH ? 2 * needed : BATCH;
		b->msg = usk_grow(b->msg, b->cap, sizeof *b->msg);
		b->pair = usk_grow(b->pair, b->cap, sizeof *b->pair);
	}
}

/* One more, of this pair; there is room for it. */
static inline void batch_keep(struct batch *b, const struct usk_msg *m, uint32_t pair)
{
	if (pair >= b->cap_pairs) {
		size_t cap = pair + pair / 2 + 64;
		b->n_of = usk_grow(b->n_of, cap, sizeof *b->n_of);
		memset(b->n_of + b->cap_pairs, 0, (cap - b->cap_pairs) * sizeof *b->n_of);
		b->cap_pairs = cap;
	}
	if (!b->n_of[pair]++) {
		*USK_ADD(b->touched, b->n_touched, b->cap_touched) = pair;
	}
	b->pair[b->n] = pair;
	b->msg[b->n++] = *m;
}

/* Less what the pair excludes. */
static size_t without_excluded(const struct pair_source *s, struct usk_msg *msg, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n && s->n_exclude; i++) {
		if (!bsearch(&msg[i], s->exclude, s->n_exclude, sizeof *msg, usk_msg_order)) {
			msg[kept++] = msg[i];
		}
	}
	return s->n_exclude ? kept : n;
}

/* Everything that was kept, on its way to put(). */
struct handing {
	const struct parties *p;
	const struct batch *b;
	const struct table_sink *sink;
	struct usk_msg *msg; /* a pair at a time */
	uint32_t from, to;   /* pairs of these numbers */
	bool stopped;
};

static void put_pairs(void *ctx)
{
	struct handing *h = ctx;
	const struct batch *b = h->b;
	for (size_t i = 0, from = 0, to; i < b->n_touched && !h->stopped; i++, from = to) {
		const uint32_t pair = b->touched[i];
		to = b->n_of[pair];
		if (pair >= h->from && pair < h->to) {
			size_t n = without_excluded(&h->p->pair[pair], h->msg + from, to - from);
			h->stopped = n && !h->sink->put(h->sink->ctx, pair, h->msg + from, n);
		}
	}
}

/* Everything that was kept goes to put(), a pair at a time; rows of a pair stay in order. */
static bool hand_out(struct parties *p, struct batch *b, const struct table_sink *sink,
		     struct usk_helpers *helpers)
{
	uint32_t at = 0;
	struct usk_msg *sorted = b->msg; /* of one pair already */
	if (b->n_touched > 1) {
		if (b->n > b->cap_sorted) {
			b->cap_sorted = b->cap;
			free(b->sorted);
			b->sorted = usk_grow(NULL, b->cap_sorted, sizeof *b->sorted);
		}
		for (size_t i = 0; i < b->n_touched; i++) {
			uint32_t n = b->n_of[b->touched[i]];
			b->n_of[b->touched[i]] = at;
			at += n;
		}
		for (size_t i = 0; i < b->n; i++) {
			b->sorted[b->n_of[b->pair[i]]++] = b->msg[i];
		}
		sorted = b->sorted;
	}
	/* Each count is now where the pair's messages end. */
	struct handing lower = { p, b, sink, sorted, 0, sink->half, false };
	struct handing upper = { p, b, sink, sorted, sink->half, UINT32_MAX, false };
	struct usk_job job = { 0 };
	if (sink->half && b->n > CHUNK) {
		usk_job_begin(helpers, &job, put_pairs, &upper);
	} else {
		put_pairs(&upper);
	}
	put_pairs(&lower);
	usk_job_end(helpers, &job);
	for (size_t i = 0; i < b->n_touched; i++) {
		b->n_of[b->touched[i]] = 0;
	}
	b->n = b->n_touched = 0;
	return !lower.stopped && !upper.stopped;
}

/* ---- the first reading --------------------------------------------------------------------- */

/* Half of the sample, until no more than cap are left. */
static void halve(struct table_sample *t, size_t cap)
{
	while (t->n > cap && t->mask != UINT32_MAX) {
		size_t kept = 0;
		t->mask = t->mask * 2 + 1;
		for (size_t i = 0; i < t->n; i++) {
			if (!(t->s[i].way & t->mask)) {
				t->s[kept++] = t->s[i];
			}
		}
		t->n = kept;
	}
}

static size_t samples_of_each(size_t pairs)
{
	size_t n = SAMPLES / (pairs ? pairs : 1);
	return n > MOST_SAMPLES ? MOST_SAMPLES : n < LEAST_SAMPLES ? LEAST_SAMPLES : n;
}

/*
 * A message by its own stamps' hash, not by when it comes: the mask ends as the smallest under
 * which no more than cap are left, whatever the order and however cap fell meanwhile.
 */
static void draw(struct table_sample *t, uint32_t a, const struct usk_msg *m, size_t n, size_t cap)
{
	for (size_t i = 0; i < n; i++) {
		bool forth = m[i].from == a;
		struct usk_sighting s = {
			.p_ns = forth ? m[i].sent_ns : m[i].received_ns,
			.q_ns = forth ? m[i].received_ns : m[i].sent_ns,
			.way = (uint32_t)usk_fold((uint64_t)m[i].sent_ns,
						  (uint64_t)m[i].received_ns),
			.ttl_p = forth,
		};
		if (!t->any || usk_msg_order(&m[i], &t->first) < 0) {
			t->any = true;
			t->first = m[i];
			t->least = s;
		}
		if (!(s.way & t->mask)) {
			*USK_ADD(t->s, t->n, t->cap) = s;
			halve(t, cap);
		}
	}
}

void usk_table_sample_fit(struct pair_source *source, bool swapped)
{
	struct table_sample *t = &source->sample;
	halve(t, samples_of_each(source->parties->n_pairs));
	struct usk_sighting *s = t->n ? t->s : &t->least;
	size_t n = t->n ? t->n : t->any;
	for (size_t i = 0; i < n && swapped; i++) {
		int64_t p = s[i].p_ns;
		s[i].p_ns = s[i].q_ns;
		s[i].q_ns = p;
	}
	usk_coarse_fit(s, n, &source->coarse);
}

static bool scan_pair(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	struct parties *p = ctx;
	struct pair_source *s = &p->pair[pair];
	s->in_tables += n;
	draw(&s->sample, s->a, msg, n, samples_of_each(p->n_pairs));
	return true;
}

void usk_table_names(struct parties *p, size_t which)
{
	const struct usk_trace *t = p->trace[which];
	size_t names = usk_trace_clocks(t), known = p->n_clocks[which];
	if (names > known) {
		p->clock[which] = usk_grow(p->clock[which], names, sizeof **p->clock);
	}
	for (; known < names; known++) {
		uint32_t number = usk_party_of(p, usk_trace_clock_name(t, known));
		int64_t q = usk_trace_clock_resolution(t, known);
		struct party *y = &p->party[number];
		y->resolution_ns = q > y->resolution_ns ? q : y->resolution_ns;
		p->clock[which][known] = number;
	}
	p->n_clocks[which] = known;
}

/* ---- readings ------------------------------------------------------------------------------ */

/* 0: it has none. */
static uint64_t rows_size(const struct parties *p, size_t which)
{
	if (which == p->n_traces) {
		return p->join ? usk_join_size(p->join) : 0;
	}
	bool table = usk_trace_class(p->trace[which]) == USK_TRACE_TABLE;
	return table ? usk_trace_size(p->trace[which]) : 0;
}

uint64_t usk_tables_size(const struct parties *p)
{
	uint64_t size = 0;
	for (size_t i = 0; i <= p->n_traces; i++) {
		size += rows_size(p, i);
	}
	return size;
}

/* Rows that were read, and are to be taken. */
struct ahead {
	struct usk_msg *msg;
	size_t n, cap;
	bool last;    /* no more come */
	uint64_t pos; /* bytes of the table up to there */
};

/* Rows on their way to who takes them. */
struct rows {
	struct parties *p;
	size_t which; /* the table; n_traces: what was joined */
	const struct table_sink *sink;
	struct usk_row_place *place; /* NULL: they are read for the first time */
	struct batch batch;
	uint64_t before; /* bytes of the tables before this one */
	bool stopped;
	struct usk_helpers *helpers;
	struct ahead taken, next;
	enum usk_status status; /* of the reading */
	struct usk_err *err;
};

/* For the first time: what is known of the clocks, and pairs. */
static uint32_t scan_row(struct rows *r, struct usk_msg *m)
{
	struct parties *p = r->p;
	if (r->which < p->n_traces) {
		usk_party_stamp(&p->party[m->from], m->sent_ns);
		usk_party_stamp(&p->party[m->to], m->received_ns);
	}
	return m->from == m->to ? UINT32_MAX : usk_pair_number(p, m->from, m->to);
}

static uint32_t read_row(struct rows *r, struct usk_msg *m)
{
	struct parties *p = r->p;
	const struct table_sink *sink = r->sink;
	struct usk_likely likely;
	if (r->which == p->n_traces && (p->party[m->from].unordered || p->party[m->to].unordered)) {
		return UINT32_MAX;
	}
	switch (p->rows_repeat && r->which < p->n_traces
			? usk_row_run_on(p, r->which, r->place, m, &likely)
			: ROW_CERTAIN) {
	case ROW_SHOWN_TWICE:
		if (sink->shown_twice) {
			sink->shown_twice(sink->ctx, r->which, m);
		}
		return UINT32_MAX;
	case ROW_VAGUE:
		if (sink->likely) {
			sink->likely(sink->ctx, &likely);
		}
		break;
	case ROW_CERTAIN:
		break;
	}
	if (sink->row) {
		sink->row(sink->ctx, m);
	}
	uint32_t pair = sink->wanted ? usk_pair_find(p, m->from, m->to) : UINT32_MAX;
	return pair != UINT32_MAX && sink->wanted[pair] ? pair : UINT32_MAX;
}

static struct usk_trace *table_of(const struct rows *r)
{
	return r->which < r->p->n_traces ? r->p->trace[r->which] : NULL;
}

static void read_next(struct rows *r)
{
	struct ahead *a = &r->next;
	struct usk_trace *t = table_of(r);
	size_t n = 1;
	for (a->n = 0; n && a->n + CHUNK <= AHEAD; a->n += n) {
		if (a->n + CHUNK > a->cap) {
			a->cap = a->cap ? 2 * a->cap : CHUNK;
			a->msg = usk_grow(a->msg, a->cap, sizeof *a->msg);
		}
		struct usk_msg *msg = a->msg + a->n;
		n = 0;
		r->status = t ? usk_trace_messages(t, msg, CHUNK, &n, r->err)
			      : usk_join_messages(r->p->join, msg, CHUNK, &n, r->err);
		n = r->status ? 0 : n;
	}
	a->last = !n;
	a->pos = r->before + (t ? usk_trace_pos(t) : usk_join_pos(r->p->join));
}

/* By the numbers that clocks have in all traces. */
static struct usk_msg taken(const struct rows *r, size_t i)
{
	struct usk_msg m = r->taken.msg[i];
	m.from = r->p->clock[r->which][m.from];
	m.to = r->p->clock[r->which][m.to];
	return m;
}

/* The order of rows, when they are read for the first time. */
static void note_rows(struct rows *r)
{
	const size_t n = table_of(r) && !r->place ? r->taken.n : 0;
	for (size_t i = 0; i < n; i++) {
		struct usk_msg m = taken(r, i);
		usk_row_note(r->p, r->which, &m);
	}
}

static void take_rows(struct rows *r)
{
	struct parties *p = r->p;
	struct batch *b = &r->batch;
	const struct ahead *a = &r->taken;
	batch_room(b, a->n);
	for (size_t i = 0; i < a->n && !r->stopped; i++) {
		struct usk_msg m = taken(r, i);
		uint32_t pair = r->place ? read_row(r, &m) : scan_row(r, &m);
		if (pair != UINT32_MAX) {
			batch_keep(b, &m, pair);
			r->stopped = b->n == BATCH && !hand_out(p, b, r->sink, r->helpers);
		}
	}
	r->stopped = r->stopped || (a->last && !hand_out(p, b, r->sink, r->helpers));
}

static void read_beside(void *ctx)
{
	struct rows *r = ctx;
	if (!r->taken.last) {
		read_next(r);
	}
}

static void note_beside(void *ctx)
{
	note_rows(ctx);
}

/*
 * To read rows costs as much as all that is done with them, and to note their order as much as all
 * else: so both have threads of their own. What is kept of rows is made by the one that gives it
 * back, as the C library has a heap for each.
 */
static void take_and_read(struct rows *r)
{
	struct ahead spare = r->taken;
	r->taken = r->next;
	r->next = spare;
	if (table_of(r) && !r->place) {
		usk_table_names(r->p, r->which);
		r->p->events[r->which] += r->taken.n;
	}
	struct usk_job reads, notes;
	usk_job_begin(r->helpers, &reads, read_beside, r);
	usk_job_begin(r->helpers, &notes, note_beside, r);
	take_rows(r);
	usk_parties_progress(r->p, r->taken.pos);
	usk_job_end(r->helpers, &reads);
	usk_job_end(r->helpers, &notes);
}

static enum usk_status read_rows(struct rows *r)
{
	struct usk_trace *t = table_of(r);
	if (t) {
		r->status = usk_trace_rewind(t, r->err);
	} else {
		usk_join_rewind(r->p->join);
	}
	r->taken.last = false;
	if (!r->status) {
		read_next(r);
	}
	while (!r->status && !r->stopped && !r->taken.last) {
		take_and_read(r);
	}
	return r->status;
}

static struct rows rows_new(struct parties *p, const struct table_sink *sink, struct usk_err *err)
{
	struct rows r = { .p = p, .sink = sink, .err = err };
	r.helpers = usk_helpers_new(2);
	return r;
}

static void rows_free(struct rows *r)
{
	usk_helpers_free(r->helpers);
	batch_free(&r->batch);
	USK_FREE(r->taken.msg, r->next.msg, r->place);
}

enum usk_status usk_table_scan(struct parties *p, size_t which, struct usk_err *err)
{
	const struct table_sink sink = { .ctx = p, .put = scan_pair };
	struct rows r = rows_new(p, &sink, err);
	r.which = which;
	enum usk_status status = read_rows(&r);
	rows_free(&r);
	return status;
}

enum usk_status usk_tables_read(struct parties *p, const struct table_sink *sink,
				struct usk_err *err)
{
	struct rows r = rows_new(p, sink, err);
	enum usk_status status = USK_OK;
	r.place = usk_alloc(p->n_rows * p->n, sizeof *r.place);
	for (size_t i = 0; i <= p->n_traces && !status && !r.stopped; i++) {
		r.which = p->table[i];
		uint64_t size = rows_size(p, r.which);
		if (size && sink->begin) {
			sink->begin(sink->ctx, r.which);
		}
		status = size ? read_rows(&r) : USK_OK;
		r.before += size;
	}
	rows_free(&r);
	p->work_done += usk_tables_size(p);
	return status;
}

enum usk_status usk_tables_sample_again(struct parties *p, struct usk_err *err)
{
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted);
	const struct table_sink sink = {
		.ctx = p,
		.wanted = wanted,
		.put = scan_pair,
		.row = usk_row_span,
		.shown_twice = usk_row_shown_twice,
	};
	for (size_t i = 0; i < p->n; i++) {
		p->party[i].rows_shown_twice = 0;
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		free(p->pair[i].sample.s);
		p->pair[i].sample = (struct table_sample){ 0 };
		p->pair[i].in_tables = 0;
		wanted[i] = true;
	}
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(p, &sink, err);
	free(wanted);
	return status;
}
