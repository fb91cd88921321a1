/* SPDX-License-Identifier: MIT */
/*
 * gaps.c - where a clock showed nothing: the widest gaps between its stamps
 *
 * In    the traces of a clock, stretches of its time
 * Out   in each the two consecutive stamps, of all events, that lie furthest apart
 * Why   a clock that was put forward by S has no stamp in between: a gap of S at least. One without
 *       did not jump, and the other one did
 * Not   which clock that is (fit/cross.c)
 */
#include "flow/reading.h"

#include <pthread.h>
#include <stdlib.h>

enum { BATCH = 256 };

/* Stamps that are kept for all questions together: 16 MB. Beyond, nothing is known. */
#define MOST_STAMPS ((size_t)1 << 21)

/* A question, and the stamps within its stretch; the last one before it and the first behind. */
struct stretch {
	struct usk_gap_query *query;
	int64_t *stamp;
	size_t n, cap;
	int64_t before, behind;
};

struct search {
	struct stretch *stretch;
	size_t n, kept;
};

static void note_in(struct search *s, struct stretch *x, int64_t t)
{
	if (t < x->query->from_ns) {
		x->before = x->before == USK_NONE || t > x->before ? t : x->before;
	} else if (t > x->query->to_ns) {
		x->behind = x->behind == USK_NONE || t < x->behind ? t : x->behind;
	} else if (s->kept++ < MOST_STAMPS) {
		x->stamp = usk_room(x->stamp, x->n, &x->cap, sizeof *x->stamp);
		x->stamp[x->n++] = t;
	}
}

static void note(struct search *s, uint32_t clock, int64_t t)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->stretch[i].query->clock == clock) {
			note_in(s, &s->stretch[i], t);
		}
	}
}

static bool asked(const struct search *s, uint32_t clock)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->stretch[i].query->clock == clock) {
			return true;
		}
	}
	return false;
}

static void note_row(void *ctx, const struct usk_msg *m)
{
	note(ctx, m->from, m->sent_ns);
	note(ctx, m->to, m->received_ns);
}

/* ---- stamps of tables ------------------------------------------------------------------------ */

/* What all tables say, sorted by clock: many pairs may ask, and a table is long to read. */
struct row_stamps {
	int64_t **stamp; /* by clock */
	size_t *n, *cap, n_clocks, all;
};

void usk_row_stamps_free(struct row_stamps *s)
{
	for (size_t i = 0; s && i < s->n_clocks; i++) {
		free(s->stamp[i]);
	}
	if (s) {
		free(s->stamp);
		free(s->n);
		free(s->cap);
	}
	free(s);
}

static void keep_stamp(struct row_stamps *s, uint32_t clock, int64_t t)
{
	if (s->all++ < MOST_STAMPS) {
		s->stamp[clock] = usk_room(s->stamp[clock], s->n[clock], &s->cap[clock],
					   sizeof *s->stamp[clock]);
		s->stamp[clock][s->n[clock]++] = t;
	}
}

static void keep_row(void *ctx, const struct usk_msg *m)
{
	keep_stamp(ctx, m->from, m->sent_ns);
	keep_stamp(ctx, m->to, m->received_ns);
}

/* The stamps on either side of a stretch, and those within. */
static void note_kept(struct search *s, const struct row_stamps *kept, struct stretch *x)
{
	const struct usk_gap_query *q = x->query;
	const int64_t *t = kept->stamp[q->clock];
	size_t n = kept->n[q->clock], lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (t[mid] < q->from_ns) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	for (size_t i = lo ? lo - 1 : 0; i < n; i++) {
		note_in(s, x, t[i]);
		if (t[i] > q->to_ns) {
			break;
		}
	}
}

static bool none(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	(void)ctx;
	(void)pair;
	(void)msg;
	(void)n;
	return true;
}

/* All records of a capture, whatever they are. */
static enum usk_status read_capture(struct parties *p, uint32_t clock, struct search *s)
{
	struct usk_trace *t = p->party[clock].capture;
	struct usk_record record[BATCH];
	struct usk_epoch_place place = { 0 };
	enum usk_status status = usk_trace_rewind(t, NULL);
	p->work_all += usk_trace_size(t);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_records(t, record, BATCH, &n, NULL);
		usk_epochs_run_on(&p->party[clock].survey.epochs, &place, record, n);
		for (size_t i = 0; i < n; i++) {
			note(s, clock, record[i].time_ns);
		}
		usk_parties_progress(p, usk_trace_pos(t));
	}
	p->work_done += usk_trace_size(t);
	return status;
}

static enum usk_status read_tables(struct parties *p, void *ctx,
				   void (*row)(void *ctx, const struct usk_msg *m))
{
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted);
	const struct table_sink sink = { .ctx = ctx, .wanted = wanted, .put = none, .row = row };
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(p, &sink, NULL);
	p->work_done += usk_tables_size(p);
	free(wanted);
	return status;
}

static int by_time(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/* Read once, and kept if they are not too many: of two clocks once is all there is. */
static enum usk_status keep_tables(struct parties *p)
{
	struct row_stamps *kept = usk_alloc(1, sizeof *kept);
	kept->n_clocks = p->n;
	kept->stamp = usk_alloc(p->n, sizeof(int64_t *));
	kept->n = usk_alloc(p->n, sizeof *kept->n);
	kept->cap = usk_alloc(p->n, sizeof *kept->cap);
	enum usk_status status = read_tables(p, kept, keep_row);
	p->row_stamps_asked = true;
	if (status || kept->all > MOST_STAMPS) {
		usk_row_stamps_free(kept);
		return status;
	}
	for (size_t i = 0; i < p->n; i++) {
		if (kept->n[i]) {
			qsort(kept->stamp[i], kept->n[i], sizeof *kept->stamp[i], by_time);
		}
	}
	p->row_stamps = kept;
	return USK_OK;
}

static enum usk_status search_tables(struct parties *p, struct search *s)
{
	enum usk_status status = USK_OK;
	if (p->n > 2 && !p->row_stamps_asked) {
		status = keep_tables(p);
	}
	if (status || !p->row_stamps) {
		return status ? status : read_tables(p, s, note_row);
	}
	for (size_t i = 0; i < s->n; i++) {
		note_kept(s, p->row_stamps, &s->stretch[i]);
	}
	return USK_OK;
}

static enum usk_status read_all(struct parties *p, struct search *s)
{
	enum usk_status status = USK_OK;
	bool tables = false;
	for (uint32_t i = 0; i < p->n && !status; i++) {
		if (p->party[i].trace != SIZE_MAX && asked(s, i)) {
			status = read_capture(p, i, s);
		}
		tables |= asked(s, i);
	}
	if (tables && !status && usk_tables_size(p)) {
		status = search_tables(p, s);
	}
	return status;
}

static void widest(struct stretch *x)
{
	struct usk_gap *gap = &x->query->gap;
	usk_i128 most = -1;
	if (x->n) {
		qsort(x->stamp, x->n, sizeof *x->stamp, by_time);
	}
	int64_t last = x->before;
	for (size_t i = 0; i <= x->n; i++) {
		int64_t next = i < x->n ? x->stamp[i] : x->behind;
		if (last != USK_NONE && next != USK_NONE && (usk_i128)next - last > most) {
			most = (usk_i128)next - last;
			*gap = (struct usk_gap){ last, next };
		}
		last = next;
	}
}

void usk_find_gaps(void *ctx, struct usk_gap_query *query, size_t n)
{
	const struct pair_source *source = ctx;
	struct search s = { .n = n };
	s.stretch = usk_alloc(n, sizeof *s.stretch);
	for (size_t i = 0; i < n; i++) {
		query[i].gap = (struct usk_gap){ USK_NONE, USK_NONE };
		s.stretch[i] = (struct stretch){ .query = &query[i],
						 .before = USK_NONE,
						 .behind = USK_NONE };
	}
	/* A trace that cannot be read again has been read already: it is only that nobody knows. */
	pthread_mutex_lock(&source->parties->reading);
	bool known = n && !read_all(source->parties, &s) && s.kept <= MOST_STAMPS;
	pthread_mutex_unlock(&source->parties->reading);
	for (size_t i = 0; i < n; i++) {
		if (known) {
			widest(&s.stretch[i]);
		}
		free(s.stretch[i].stamp);
	}
	free(s.stretch);
}
