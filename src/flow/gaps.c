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

static void note(struct search *s, uint32_t clock, int64_t t)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stretch *x = &s->stretch[i];
		if (x->query->clock != clock) {
			continue;
		}
		if (t < x->query->from_ns) {
			x->before = x->before == USK_NONE || t > x->before ? t : x->before;
		} else if (t > x->query->to_ns) {
			x->behind = x->behind == USK_NONE || t < x->behind ? t : x->behind;
		} else if (s->kept++ < MOST_STAMPS) {
			x->stamp = usk_room(x->stamp, x->n, &x->cap, sizeof *x->stamp);
			x->stamp[x->n++] = t;
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

static enum usk_status read_all(struct parties *p, struct search *s)
{
	enum usk_status status = USK_OK;
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted), tables = false;
	for (uint32_t i = 0; i < p->n && !status; i++) {
		if (p->party[i].trace != SIZE_MAX && asked(s, i)) {
			status = read_capture(p, i, s);
		}
		tables |= asked(s, i);
	}
	if (tables && !status && usk_tables_size(p)) {
		const struct table_sink sink = {
			.ctx = s, .wanted = wanted, .put = none, .row = note_row
		};
		p->work_all += usk_tables_size(p);
		status = usk_tables_read(p, &sink, NULL);
		p->work_done += usk_tables_size(p);
	}
	free(wanted);
	return status;
}

static int by_time(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
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
