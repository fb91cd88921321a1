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

enum { CHUNK = 512, BATCH = 1 << 15 };

/* Samples of all pairs together, and of one. */
enum { SAMPLES = 1 << 20, MOST_SAMPLES = 1 << 16, LEAST_SAMPLES = 128 };

struct batch {
	struct usk_msg *msg, *sorted;
	uint32_t *pair; /* of each */
	size_t n;
	uint32_t *n_of; /* messages of each pair; 0 between batches */
	size_t cap_pairs;
	uint32_t *touched; /* pairs that have some, in the order of their first */
	size_t n_touched;
};

static void batch_new(struct batch *b)
{
	memset(b, 0, sizeof *b);
	b->msg = usk_alloc(BATCH, sizeof *b->msg);
	b->sorted = usk_alloc(BATCH, sizeof *b->sorted);
	b->pair = usk_alloc(BATCH, sizeof *b->pair);
	b->touched = usk_alloc(BATCH, sizeof *b->touched);
}

static void batch_free(struct batch *b)
{
	free(b->msg);
	free(b->sorted);
	free(b->pair);
	free(b->n_of);
	free(b->touched);
}

/* Keep msg[b->n], of this pair. */
static inline void batch_keep(struct batch *b, uint32_t pair)
{
	if (pair >= b->cap_pairs) {
		size_t cap = pair + pair / 2 + 64;
		b->n_of = usk_grow(b->n_of, cap, sizeof *b->n_of);
		memset(b->n_of + b->cap_pairs, 0, (cap - b->cap_pairs) * sizeof *b->n_of);
		b->cap_pairs = cap;
	}
	if (!b->n_of[pair]++) {
		b->touched[b->n_touched++] = pair;
	}
	b->pair[b->n++] = pair;
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

/* Everything that was kept goes to put(), a pair at a time; rows of a pair stay in order. */
static bool hand_out(struct parties *p, struct batch *b, const struct table_sink *sink)
{
	uint32_t at = 0;
	bool more = true;
	struct usk_msg *sorted = b->msg; /* of one pair already */
	if (b->n_touched > 1) {
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
	for (size_t i = 0, from = 0; i < b->n_touched; i++) {
		uint32_t pair = b->touched[i];
		size_t to = b->n_of[pair];
		size_t n = without_excluded(&p->pair[pair], sorted + from, to - from);
		more = more && (!n || sink->put(sink->ctx, pair, sorted + from, n));
		b->n_of[pair] = 0;
		from = to;
	}
	b->n = b->n_touched = 0;
	return more;
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
		};
		if (!t->any || usk_msg_order(&m[i], &t->first) < 0) {
			t->any = true;
			t->first = m[i];
			t->least = s;
		}
		if (!(s.way & t->mask)) {
			t->s = usk_room(t->s, t->n, &t->cap, sizeof *t->s);
			t->s[t->n++] = s;
			halve(t, cap);
		}
	}
}

void usk_table_sample_fit(struct table_sample *t, size_t pairs, bool swapped,
			  struct usk_coarse *out)
{
	halve(t, samples_of_each(pairs));
	struct usk_sighting *s = t->n ? t->s : &t->least;
	size_t n = t->n ? t->n : t->any;
	for (size_t i = 0; i < n && swapped; i++) {
		int64_t p = s[i].p_ns;
		s[i].p_ns = s[i].q_ns;
		s[i].q_ns = p;
	}
	usk_coarse_fit(s, n, out);
}

void usk_table_samples_free(struct table_sample *t, size_t n)
{
	for (size_t i = 0; t && i < n; i++) {
		free(t[i].s);
	}
	free(t);
}

struct scan {
	struct parties *p;
	struct table_sample *sample;
};

static bool scan_pair(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	struct scan *s = ctx;
	s->p->pair[pair].in_tables += n;
	draw(&s->sample[pair], s->p->pair[pair].a, msg, n, samples_of_each(s->p->n_pairs));
	return true;
}

void usk_table_names(struct parties *p, size_t which, size_t *cap)
{
	const struct usk_trace *t = p->trace[which];
	size_t names = usk_trace_clocks(t), known = p->n_clocks[which];
	if (names > known) {
		p->clock[which] = usk_grow(p->clock[which], names, sizeof **p->clock);
	}
	for (; known < names; known++) {
		uint32_t number = usk_party_of(p, usk_trace_clock_name(t, known), cap);
		int64_t q = usk_trace_clock_resolution(t, known);
		struct party *y = &p->party[number];
		y->resolution_ns = q > y->resolution_ns ? q : y->resolution_ns;
		p->clock[which][known] = number;
	}
	p->n_clocks[which] = known;
}

/* The rows of a table, or what was joined, from the start. */
static enum usk_status rows_begin(struct parties *p, size_t which, struct usk_err *err)
{
	if (which == p->n_traces) {
		usk_join_rewind(p->join);
		return USK_OK;
	}
	return usk_trace_rewind(p->trace[which], err);
}

static enum usk_status rows_next(struct parties *p, size_t which, struct usk_msg *msg, size_t *n,
				 struct usk_err *err)
{
	return which == p->n_traces ? usk_join_messages(p->join, msg, CHUNK, n, err)
				    : usk_trace_messages(p->trace[which], msg, CHUNK, n, err);
}

static uint64_t rows_pos(const struct parties *p, size_t which)
{
	return which == p->n_traces ? usk_join_pos(p->join) : usk_trace_pos(p->trace[which]);
}

/* 0: it has none. */
static uint64_t rows_size(const struct parties *p, size_t which)
{
	if (which == p->n_traces) {
		return p->join ? usk_join_size(p->join) : 0;
	}
	bool table = usk_trace_class(p->trace[which]) == USK_TRACE_TABLE;
	return table ? usk_trace_size(p->trace[which]) : 0;
}

enum usk_status usk_table_scan(struct parties *p, size_t which, size_t *cap_parties,
			       struct table_sample **sample, struct usk_err *err)
{
	bool joined = which == p->n_traces;
	struct scan scan = { .p = p, .sample = *sample };
	const struct table_sink sink = { .ctx = &scan, .put = scan_pair };
	struct batch b;
	enum usk_status status = rows_begin(p, which, err);
	batch_new(&b);
	for (size_t n = 1; !status && n;) {
		struct usk_msg *msg = b.msg + b.n;
		status = rows_next(p, which, msg, &n, err);
		if (!joined) {
			usk_table_names(p, which, cap_parties);
			p->events[which] += n;
		}
		for (size_t i = 0; i < n; i++) {
			struct usk_msg m = msg[i];
			m.from = p->clock[which][m.from];
			m.to = p->clock[which][m.to];
			if (!joined) {
				usk_party_stamp(&p->party[m.from], m.sent_ns);
				usk_party_stamp(&p->party[m.to], m.received_ns);
				usk_row_note(p, &m);
			}
			if (m.from != m.to) {
				b.msg[b.n] = m;
				batch_keep(&b, usk_pair_number(p, m.from, m.to, &scan.sample));
			}
		}
		if (!n || b.n + CHUNK > BATCH) {
			hand_out(p, &b, &sink);
			usk_parties_progress(p, rows_pos(p, which));
		}
	}
	*sample = scan.sample;
	batch_free(&b);
	return status;
}

/* ---- readings ------------------------------------------------------------------------------ */

uint64_t usk_tables_size(const struct parties *p)
{
	uint64_t size = 0;
	for (size_t i = 0; i <= p->n_traces; i++) {
		size += rows_size(p, i);
	}
	return size;
}

enum usk_status usk_tables_read(struct parties *p, const struct table_sink *sink,
				struct usk_err *err)
{
	struct batch b;
	enum usk_status status = USK_OK;
	bool more = true;
	uint64_t before = 0;
	struct usk_row_place *place = usk_alloc(p->n, sizeof *place);
	batch_new(&b);
	for (size_t i = 0; i <= p->n_traces && !status && more; i++) {
		if (!rows_size(p, i)) {
			continue;
		}
		if (sink->begin) {
			sink->begin(sink->ctx);
		}
		status = rows_begin(p, i, err);
		for (size_t n = 1; !status && n && more;) {
			struct usk_msg *msg = b.msg + b.n;
			status = rows_next(p, i, msg, &n, err);
			for (size_t k = 0; k < n; k++) {
				struct usk_msg m = msg[k];
				m.from = p->clock[i][m.from];
				m.to = p->clock[i][m.to];
				struct usk_likely likely;
				if (p->rows_repeat && i < p->n_traces &&
				    usk_row_run_on(p, place, &m, &likely) && sink->likely) {
					sink->likely(sink->ctx, &likely);
				}
				if (sink->row) {
					sink->row(sink->ctx, &m);
				}
				uint32_t pair = usk_pair_find(p, m.from, m.to);
				if (pair != UINT32_MAX && sink->wanted[pair]) {
					b.msg[b.n] = m;
					batch_keep(&b, pair);
				}
			}
			if (!n || b.n + CHUNK > BATCH) {
				more = hand_out(p, &b, sink);
				usk_parties_progress(p, before + rows_pos(p, i));
			}
		}
		before += rows_size(p, i);
	}
	free(place);
	batch_free(&b);
	return status;
}

static void note_span(void *ctx, const struct usk_msg *m)
{
	const struct scan *scan = ctx;
	usk_row_span(scan->p, m);
}

enum usk_status usk_tables_sample_again(struct parties *p, struct table_sample *sample,
					struct usk_err *err)
{
	struct scan scan = { .p = p, .sample = sample };
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted);
	const struct table_sink sink = {
		.ctx = &scan, .wanted = wanted, .put = scan_pair, .row = note_span
	};
	for (size_t i = 0; i < p->n_pairs; i++) {
		free(sample[i].s);
		sample[i] = (struct table_sample){ 0 };
		p->pair[i].in_tables = 0;
		wanted[i] = true;
	}
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(p, &sink, err);
	p->work_done += usk_tables_size(p);
	free(wanted);
	return status;
}
