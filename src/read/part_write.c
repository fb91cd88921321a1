/* SPDX-License-Identifier: MIT */
/*
 * part_write.c - a trace -> its part
 *
 * In    an opened trace
 * Out   the bytes of its part
 * Why   machines that hold the traces need not be those that compute clocks
 * Not   files (cli/)
 */
#include "read/part_code.h"

#include <stdlib.h>

enum { BATCH = 64 }; /* as passes over captures read: interfaces show in the same batch again */

struct writer {
	const struct usk_trace *t;
	const struct usk_part_sink *sink;
	uint8_t *out; /* the payload so far */
	size_t n, cap;
	size_t rows, arena; /* in it; bytes of records */
	uint64_t all;
	size_t n_ifaces, n_clocks, n_process, n_operation;
	int64_t last[2];
	uint32_t iface, flow;
	struct flow {
		uint8_t head[PART_ALIKE];
		uint32_t n, length;
	} * of;
	uint8_t *head;
	size_t cap_head;
};

static void put_bytes(struct writer *w, const void *d, size_t n)
{
	if (w->n + n > w->cap) {
		w->cap = (w->n + n) * 2 + 4096;
		w->out = usk_grow(w->out, w->cap, 1);
	}
	if (n) {
		memcpy(w->out + w->n, d, n);
	}
	w->n += n;
}

static void put_number(struct writer *w, uint64_t v)
{
	uint8_t d[10];
	size_t n = 0;
	for (; v >= 128; v >>= 7) {
		d[n++] = (uint8_t)(v | 128);
	}
	d[n++] = (uint8_t)v;
	put_bytes(w, d, n);
}

static void put_fixed(struct writer *w, uint64_t v, size_t n)
{
	uint8_t d[8];
	for (size_t i = 0; i < n; i++) {
		d[i] = (uint8_t)(v >> 8 * i);
	}
	put_bytes(w, d, n);
}

static void put_text(struct writer *w, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	put_number(w, n);
	put_bytes(w, text, n);
}

static void put_time(struct writer *w, int64_t t, int which)
{
	put_number(w, part_zigzag((uint64_t)t - (uint64_t)w->last[which]));
	w->last[which] = t;
}

static void flush(struct writer *w, enum part_block kind)
{
	struct writer head = { 0 };
	put_fixed(&head, kind, 4);
	put_fixed(&head, w->n, 4);
	put_fixed(&head, part_sum(w->out, w->n, kind), 8);
	w->sink->put(w->sink->ctx, head.out, head.n);
	w->sink->put(w->sink->ctx, w->out, w->n);
	free(head.out);
	w->n = w->rows = w->arena = 0;
	w->last[0] = w->last[1] = 0;
	w->iface = w->flow = 0;
	if (w->of) {
		memset(w->of, 0, PART_FLOWS * sizeof *w->of);
	}
}

/* ---- captures ------------------------------------------------------------------------- */

static void put_ifaces(struct writer *w)
{
	size_t n;
	const struct usk_iface *f = usk_trace_ifaces(w->t, &n);
	if (n > w->n_ifaces && w->rows) {
		flush(w, PART_RECORDS);
	}
	for (; w->n_ifaces < n; w->n_ifaces++) {
		const struct usk_iface *i = &f[w->n_ifaces];
		put_number(w, i->name != NULL);
		put_text(w, i->name);
		put_number(w, i->link_type);
		put_number(w, i->snap_length);
		put_number(w, (uint64_t)i->resolution_ns);
		put_number(w, i->n_addrs);
		for (size_t k = 0; k < i->n_addrs; k++) {
			put_fixed(w, i->addr[k].hi, 8);
			put_fixed(w, i->addr[k].lo, 8);
		}
		flush(w, PART_IFACE);
	}
}

/* The words that differ, and of these the bytes. */
static void put_difference(struct writer *w, const uint8_t *d, const uint8_t *as, size_t n)
{
	uint8_t out[PART_ALIKE + PART_ALIKE / 8], now[PART_ALIKE] = { 0 };
	size_t m = 0;
	uint64_t words = 0;
	memcpy(now, d, n);
	for (size_t at = 0; at < n; at += 8) {
		if (!memcmp(now + at, as + at, 8)) {
			continue;
		}
		size_t mask = m++;
		words |= UINT64_C(1) << at / 8;
		out[mask] = 0;
		for (size_t i = at; i < at + 8; i++) {
			if (now[i] != as[i]) {
				out[mask] = (uint8_t)(out[mask] | 1u << (i - at));
				out[m++] = now[i];
			}
		}
	}
	put_number(w, words);
	put_bytes(w, out, m);
}

static void put_record(struct writer *w, const struct usk_record *r, uint16_t link)
{
	uint32_t flow = 0;
	if (r->captured > w->cap_head) {
		w->cap_head = r->captured * (size_t)2;
		w->head = usk_grow(w->head, w->cap_head, 1);
	}
	w->head = w->head ? w->head : usk_alloc(1, 1);
	uint32_t n = (uint32_t)usk_part_head(r, link, w->head, &flow);
	flow %= PART_FLOWS;
	struct flow *f = &w->of[flow];
	unsigned how = (unsigned)r->side & PART_SIDE;
	how |= r->iface != w->iface ? PART_OTHER_IFACE : 0;
	how |= n != f->n ? PART_OTHER_SIZE : 0;
	how |= r->length != f->length ? PART_OTHER_LENGTH : 0;
	how |= flow != w->flow ? PART_OTHER_FLOW : 0;
	put_fixed(w, how, 1);
	if (how & PART_OTHER_FLOW) {
		put_number(w, flow);
	}
	if (how & PART_OTHER_IFACE) {
		put_number(w, r->iface);
	}
	if (how & PART_OTHER_SIZE) {
		put_number(w, n);
	}
	if (how & PART_OTHER_LENGTH) {
		put_number(w, r->length);
	}
	put_time(w, r->time_ns, 0);
	size_t alike = n < PART_ALIKE ? n : PART_ALIKE;
	put_difference(w, w->head, f->head, alike);
	put_bytes(w, w->head + alike, n - alike);
	memset(f->head, 0, sizeof f->head);
	memcpy(f->head, w->head, alike);
	f->n = n;
	f->length = r->length;
	w->flow = flow;
	w->iface = r->iface;
	w->arena += n;
	w->all++;
	if (++w->rows == PART_ROWS || w->arena > PART_ARENA) {
		flush(w, PART_RECORDS);
	}
}

static enum usk_status put_records(struct writer *w, struct usk_trace *t, struct usk_err *err)
{
	struct usk_record r[BATCH];
	enum usk_status status = USK_OK;
	w->of = usk_alloc(PART_FLOWS, sizeof *w->of);
	put_ifaces(w);
	for (size_t n = 1; n && !status;) {
		status = usk_trace_records(t, r, BATCH, &n, err);
		put_ifaces(w);
		size_t n_ifaces;
		const struct usk_iface *f = usk_trace_ifaces(w->t, &n_ifaces);
		for (size_t i = 0; i < n && !status; i++) {
			put_record(w, &r[i], f[r[i].iface].link_type);
		}
	}
	if (w->rows) {
		flush(w, PART_RECORDS);
	}
	return status;
}

/* ---- tables and events ------------------------------------------------------------------ */

/* Names that came up since: before the rows that use them. */
static void put_clocks(struct writer *w)
{
	struct writer names = { .sink = w->sink };
	size_t n = usk_trace_clocks(w->t);
	for (; w->n_clocks < n; w->n_clocks++) {
		put_text(&names, w->t->clock[w->n_clocks].name);
		put_number(&names, (uint64_t)w->t->clock[w->n_clocks].hz_e6);
		flush(&names, PART_CLOCKS);
	}
	free(names.out);
}

static void end_row(struct writer *w, enum part_block kind)
{
	w->all++;
	if (++w->rows == PART_ROWS) {
		flush(w, kind);
	}
}

static enum usk_status put_messages(struct writer *w, struct usk_trace *t, struct usk_err *err)
{
	struct usk_msg m[BATCH];
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = usk_trace_messages(t, m, BATCH, &n, err);
		put_clocks(w);
		for (size_t i = 0; i < n && !status; i++) {
			put_number(w, m[i].from);
			put_number(w, m[i].to);
			put_number(w, m[i].bytes);
			put_time(w, m[i].sent_ns, 0);
			put_time(w, m[i].received_ns, 1);
			end_row(w, PART_MESSAGES);
		}
	}
	if (w->rows) {
		flush(w, PART_MESSAGES);
	}
	return status;
}

static enum usk_status put_events(struct writer *w, struct usk_trace *t, struct usk_err *err)
{
	struct usk_event e[BATCH];
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = usk_trace_sides(t, e, BATCH, &n, err);
		put_clocks(w);
		for (size_t i = 0; i < n && !status; i++) {
			put_fixed(w, e[i].id.word[0], 8);
			put_fixed(w, e[i].id.word[1], 8);
			put_number(w, e[i].clock);
			put_number(w, e[i].bytes);
			put_number(w, e[i].side);
			put_time(w, e[i].time_ns, 0);
			end_row(w, PART_EVENTS);
		}
	}
	if (w->rows) {
		flush(w, PART_EVENTS);
	}
	return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void put_about(struct writer *w, bool named)
{
	w->sink->put(w->sink->ctx, part_magic, PART_MAGIC);
	put_text(w, usk_trace_path(w->t));
	put_text(w, usk_trace_name(w->t));
	put_text(w, usk_trace_kind(w->t));
	put_number(w, named);
	put_number(w, usk_trace_class(w->t));
	flush(w, PART_ABOUT);
}

static void put_end(struct writer *w)
{
	const char *damage = usk_trace_damage(w->t);
	const struct usk_extent *x = &w->t->extent;
	put_number(w, w->all);
	put_number(w, damage != NULL);
	put_text(w, damage);
	put_number(w, x->events);
	put_fixed(w, (uint64_t)x->first_ns, 8);
	put_fixed(w, (uint64_t)x->last_ns, 8);
	for (size_t i = 0; i < w->n_ifaces; i++) { /* some are known at the end only */
		put_number(w, (uint64_t)w->t->iface[i].resolution_ns);
	}
	flush(w, PART_END);
}

enum usk_status usk_part_write(struct usk_trace *t, bool named, const struct usk_part_sink *sink,
			       struct usk_err *err)
{
	struct writer w = { .t = t, .sink = sink };
	if (usk_trace_class(t) == USK_TRACE_SPANS) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: holds spans, which have no parts; give it to unskew sync",
				usk_trace_path(t));
	}
	enum usk_status status = usk_trace_rewind(t, err);
	if (status) {
		return status;
	}
	put_about(&w, named);
	status = usk_trace_class(t) == USK_TRACE_CAPTURE ? put_records(&w, t, err)
		 : usk_trace_class(t) == USK_TRACE_TABLE ? put_messages(&w, t, err)
							 : put_events(&w, t, err);
	if (!status) {
		put_end(&w);
	}
	USK_FREE(w.out, w.of, w.head);
	return status;
}

void usk_part_write_head(const struct usk_trace *t, bool named, const struct usk_part_sink *sink)
{
	struct writer w = { .t = t, .sink = sink };
	put_about(&w, named);
	if (usk_trace_class(t) == USK_TRACE_CAPTURE) {
		put_ifaces(&w);
	}
	put_end(&w);
	free(w.out);
}
