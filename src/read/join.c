/* SPDX-License-Identifier: MIT */
/*
 * join.c - what one clock stamped, as one capture
 *
 * In    captures, or some interfaces of them
 * Out   their records in the order of their stamps, those of each in the order of its file
 * Why   a host records on several interfaces, and files are rotated: matched against others they
 *       are one. And a capture of interfaces with clocks of their own is several
 * Not   which clock stamped what (flow/)
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
};

struct joined {
	struct source *source;
	size_t n;
};

/* Interfaces that a capture has told since. */
static void take_ifaces(struct usk_trace *t, struct source *s)
{
	size_t n;
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
		struct source *first = NULL, *second = NULL;
		bool empty = false;
		for (size_t i = 0; i < j->n; i++) {
			struct source *s = &j->source[i];
			if (s->at == s->n) {
				empty |= !s->ended;
				continue;
			}
			int64_t at = s->record[s->at].time_ns;
			if (!first || at < first->record[first->at].time_ns) {
				second = first;
				first = s;
			} else if (!second || at < second->record[second->at].time_ns) {
				second = s;
			}
		}
		if (!first || empty) {
			end_here(t, !empty);
			break;
		}
		/* As long as it stays ahead: files that were rotated do to their end. */
		do {
			out[(*n)++] = first->record[first->at++];
		} while (*n < cap && first->at < first->n &&
			 (!second ||
			  first->record[first->at].time_ns < second->record[second->at].time_ns));
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
		s->at = s->n = 0;
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
		free(j->source[i].iface);
	}
	if (j) {
		free(j->source);
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
	for (size_t i = 0; i < n && !status; i++) {
		if (usk_trace_class(part[i].trace) != USK_TRACE_CAPTURE) {
			status = usk_fail(err, USK_EUSAGE, 0, "%s: is a table, not a capture",
					  usk_trace_path(part[i].trace));
		}
	}
	t->in.size = size;
	if (status) {
		usk_trace_close(t);
		return status;
	}
	*out = t;
	return USK_OK;
}
