/* SPDX-License-Identifier: MIT */
/*
 * join.c - what one clock stamped, as one capture
 *
 * In    captures, or some interfaces of them
 * Out   their records in the order of their stamps, or of their turns, those of each in the order
 *       of its file
 * Why   a host records on several interfaces, and files are rotated: matched against others they
 *       are one. And a capture of interfaces with clocks of their own is several
 * Not   which clock stamped what, and which file comes first (flow/)
 *
 * Of each capture a batch is held; the next record is the earliest of their next ones. A batch that
 * is used up is read anew in the next call only, because its records' data are borrowed until then.
 */
#include "read/read.h"

#include <stdlib.h>

enum { BATCH = 64 };

#define NOT_OURS UINT32_MAX

struct source {
	struct usk_trace *trace;
	struct usk_trace_part part;
	struct usk_record record[BATCH];
	size_t n, at;
	bool ended;
	uint32_t *iface; /* ours, of each of its own */
	size_t n_ifaces;
	/* When it comes, and from which records on its stamps count as later. */
	size_t turn;
	uint64_t *from;
	int64_t *shift;
	size_t n_shifts;
	uint64_t handed; /* records */
	size_t shifted;	 /* of n_shifts, so many are behind these */
};

struct joined {
	struct source *source;
	size_t n;
	uint32_t *part; /* of our interfaces */
};

/* Interfaces that a capture has told since. */
static void take_ifaces(struct usk_trace *t, struct source *s)
{
	size_t n;
	struct joined *j = t->state;
	const struct usk_iface *all = usk_trace_ifaces(s->trace, &n);
	if (n > s->n_ifaces) {
		s->iface = usk_grow(s->iface, n, sizeof *s->iface);
	}
	for (; s->n_ifaces < n; s->n_ifaces++) {
		const struct usk_iface *from = &all[s->n_ifaces];
		s->iface[s->n_ifaces] = NOT_OURS;
		if (s->part.takes &&
		    !s->part.takes(s->part.ctx, (uint32_t)s->n_ifaces, from->name)) {
			continue;
		}
		s->iface[s->n_ifaces] = (uint32_t)t->n_ifaces;
		j->part = usk_grow(j->part, t->n_ifaces + 1, sizeof *j->part);
		j->part[t->n_ifaces] = (uint32_t)(s - j->source);
		struct usk_iface *to = usk_trace_add_iface(t);
		*to = *from;
		to->name = from->name ? usk_strdup(from->name) : NULL;
		to->addr = usk_alloc(from->n_addrs, sizeof *to->addr);
		for (size_t i = 0; i < from->n_addrs; i++) {
			to->addr[i] = from->addr[i];
		}
	}
}

/* The next batch of a source that has none left, of records that are ours. */
static enum usk_status refill(struct usk_trace *t, struct source *s, struct usk_err *err)
{
	while (!s->ended && s->at == s->n) {
		size_t n, kept = 0;
		enum usk_status status = usk_trace_records(s->trace, s->record, BATCH, &n, err);
		if (status) {
			return status;
		}
		take_ifaces(t, s);
		for (size_t i = 0; i < n; i++) {
			uint32_t iface = s->iface[s->record[i].iface];
			if (iface != NOT_OURS) {
				s->record[kept] = s->record[i];
				s->record[kept++].iface = iface;
			}
		}
		s->at = 0;
		s->n = kept;
		s->ended = !n;
	}
	return USK_OK;
}

/* What one of them lost is lost to all. */
static void end_here(struct usk_trace *t, bool end)
{
	const struct joined *j = t->state;
	for (size_t i = 0; i < j->n && end && !t->damage; i++) {
		const char *damage = usk_trace_damage(j->source[i].trace);
		t->damage = damage ? usk_strdup(damage) : NULL;
	}
	t->done = end;
}

/* Its next record's unwrapped time. */
static int64_t next_at(struct source *s)
{
	while (s->shifted < s->n_shifts && s->from[s->shifted] <= s->handed) {
		s->shifted++;
	}
	int64_t shift = s->shifted ? s->shift[s->shifted - 1] : 0;
	return usk_saturate((usk_i128)s->record[s->at].time_ns + shift);
}

/* Whose next record comes first, and second; NULL: there is none. *empty: one has to be read anew
 * before. */
static struct source *first_of(struct joined *j, struct source **second, bool *empty)
{
	struct source *first = NULL;
	*second = NULL;
	*empty = false;
	for (size_t i = 0; i < j->n; i++) {
		struct source *s = &j->source[i];
		if (s->at == s->n) {
			*empty |= !s->ended;
		} else if (!first || s->turn < first->turn ||
			   (s->turn == first->turn && next_at(s) < next_at(first))) {
			*second = first;
			first = s;
		} else if (!*second || s->turn < (*second)->turn ||
			   (s->turn == (*second)->turn && next_at(s) < next_at(*second))) {
			*second = s;
		}
	}
	return first;
}

static bool stays_ahead(struct source *first, struct source *second)
{
	return !second || first->turn < second->turn || next_at(first) < next_at(second);
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	struct joined *j = t->state;
	*n = 0;
	for (size_t i = 0; i < j->n; i++) {
		enum usk_status status = refill(t, &j->source[i], err);
		if (status) {
			return status;
		}
	}
	while (*n < cap) {
		struct source *second;
		bool empty;
		struct source *first = first_of(j, &second, &empty);
		if (!first || empty) {
			end_here(t, !empty);
			break;
		}
		/* As long as it stays ahead: files that were rotated do to their end. */
		do {
			out[(*n)++] = first->record[first->at++];
			first->handed++;
		} while (*n < cap && first->at < first->n && stays_ahead(first, second));
	}
	t->in.at = 0;
	for (size_t i = 0; i < j->n; i++) {
		t->in.at += usk_trace_pos(j->source[i].trace);
	}
	return USK_OK;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct joined *j = t->state;
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < j->n && !status; i++) {
		struct source *s = &j->source[i];
		status = usk_trace_rewind(s->trace, err);
		s->at = s->n = s->shifted = 0;
		s->handed = 0;
		s->ended = false;
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct joined *j = t->state;
	for (size_t i = 0; j && i < j->n; i++) {
		if (j->source[i].part.own) {
			usk_trace_close(j->source[i].trace);
		}
		USK_FREE(j->source[i].iface, j->source[i].from, j->source[i].shift);
	}
	if (j) {
		USK_FREE(j->source, j->part);
	}
	free(j);
}

static const struct reader joined_reader = {
	.info = { "joined", "several captures of one clock", NULL, USK_TRACE_CAPTURE },
	.start = start,
	.records = records,
	.stop = stop,
};

enum usk_status usk_trace_join(const struct usk_trace_part *part, size_t n, const char *name,
			       struct usk_trace **out, struct usk_err *err)
{
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	struct joined *j = usk_alloc(1, sizeof *j);
	uint64_t size = 0;
	usk_input_memory(&t->in, "", 0);
	t->reader = &joined_reader;
	t->path = usk_strdup(n ? usk_trace_path(part[0].trace) : name);
	t->name = usk_strdup(name);
	t->state = j;
	j->source = usk_alloc(n, sizeof *j->source);
	j->n = n;
	for (size_t i = 0; i < n; i++) {
		j->source[i].trace = part[i].trace;
		j->source[i].part = part[i];
		size += usk_trace_size(part[i].trace);
	}
	enum usk_status status = start(t, err);
	t->in.size = size;
	if (status) {
		usk_trace_close(t);
		return status;
	}
	*out = t;
	return USK_OK;
}

size_t usk_trace_parts(const struct usk_trace *t)
{
	const struct joined *j = t->reader == &joined_reader ? t->state : NULL;
	return j ? j->n : 0;
}

size_t usk_trace_part(const struct usk_trace *t, uint32_t iface)
{
	const struct joined *j = t->state;
	return j->part[iface];
}

void usk_trace_arrange(struct usk_trace *t, const struct usk_trace_turn *turn)
{
	struct joined *j = t->state;
	for (size_t i = 0; i < j->n; i++) {
		struct source *s = &j->source[i];
		const struct usk_trace_turn *x = &turn[i];
		USK_FREE(s->from, s->shift);
		s->turn = x->turn;
		s->n_shifts = x->n;
		s->from = usk_alloc(x->n + 1, sizeof *s->from);
		s->shift = usk_alloc(x->n + 1, sizeof *s->shift);
		for (size_t k = 0; k < x->n; k++) {
			s->from[k] = x->record[k];
			s->shift[k] = x->shift_ns[k];
		}
	}
}
