/* SPDX-License-Identifier: MIT */
/*
 * reader.c - CTF traces: of LTTng's kernel tracer, of LTTng-UST, of whoever writes the format
 *
 * In    a folder of traces, all of one machine
 * Out   packets where the kernel's network events have headers, else sides of messages by key rules
 * Why   decoding costs far more than all else, so it is done once: what was found is spooled, and
 *       later readings read the spool
 * Not   the format itself (libbabeltrace2)
 *
 * A reception may be two events: one as early as possible, one later with the headers; they have
 * the buffer's address in common (Clement and Dagenais 2009, section 8). The stamp is the earlier
 * one's. Bridges and virtual devices hand one buffer on: its packet counts once.
 */
#include "base/io.h"
#include "ctf/ctf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINK_RAW = 101,
	DEPTH = 40, /* IPv4 and TCP without options */
	BATCH = 64,
	BUFFERS = 1 << 12,
	ROW_BYTES = 104, /* the longest headers that can be */
};

/* An early event and the packet's headers lie no further apart; buffers are soon used again. */
static const int64_t same_buffer_ns = 10000000;

struct packet_row {
	int64_t time_ns;
	uint64_t number;
	uint32_t length;
	uint16_t captured;
	uint8_t side;
	uint8_t bytes[ROW_BYTES];
};

/* What was seen last of a buffer; by the hash of its address. */
struct buffer {
	uint64_t address, packet; /* hash of its headers; 0: none yet */
	int64_t early_ns;
};

struct state {
	struct ctf_child *child; /* NULL once all was decoded */
	struct ctf_keys *keys;
	struct ctf_places places;
	bool packets;		  /* not sides of messages */
	struct ctf_totals totals; /* once all was decoded */
	struct usk_spool *spool;
	uint64_t at; /* rows handed out */
	uint64_t size;
	struct ctf_traces in;
	struct buffer received[BUFFERS], queued[BUFFERS];
	/* Rows in the order of their stamps, which early ones move forward a little. */
	struct packet_row *held;
	size_t held_first, n_held, cap_held;
	struct packet_row row[BATCH];
};

static struct ctf_role classify(void *ctx, const bt_event_class *class)
{
	struct state *s = ctx;
	enum ctf_kind kind = usk_ctf_keys_stated(s->keys) ? CTF_IGNORED : usk_ctf_net_kind(class);
	if (kind != CTF_IGNORED) {
		return (struct ctf_role){ (uint8_t)kind, 0 };
	}
	return usk_ctf_keys_classify(s->keys, class);
}

static bool take(void *ctx, const bt_event *event, struct ctf_item *item)
{
	struct state *s = ctx;
	return item->kind >= CTF_SENT ? usk_ctf_keys_take(s->keys, &s->places, event, item)
				      : usk_ctf_net_take(&s->places, event, item);
}

/* ---- items whose turn has come ---------------------------------------------------------- */

static struct buffer *buffer_of(struct buffer *table, uint64_t address)
{
	struct buffer *b = &table[usk_mix(address) % BUFFERS];
	if (b->address != address) {
		*b = (struct buffer){ .address = address, .early_ns = USK_NONE };
	}
	return b;
}

static uint64_t hash_bytes(const uint8_t *d, size_t n)
{
	struct usk_event_id id = usk_event_id(d, n);
	return usk_fold(id.word[0], id.word[1]) | 1;
}

/* False: this packet was handed on by another device just before. */
static bool first_of(struct buffer *b, const struct ctf_item *item, int64_t *time_ns)
{
	uint64_t packet = hash_bytes(item->bytes, item->n);
	bool recent = b->early_ns != USK_NONE && item->time_ns - b->early_ns <= same_buffer_ns;
	if (recent && b->packet == packet) {
		return false;
	}
	*time_ns = recent && !b->packet ? b->early_ns : item->time_ns;
	b->early_ns = item->time_ns;
	b->packet = packet;
	return true;
}

static void note_interface(struct usk_trace *t, const struct ctf_item *item)
{
	struct usk_iface *f = &t->iface[0];
	struct usk_addr a = { 0, UINT64_C(0xffff00000000) | usk_be32(item->bytes) };
	for (size_t i = 0; i < f->n_addrs; i++) {
		if (usk_addr_same(f->addr[i], a)) {
			return;
		}
	}
	*USK_APPEND(f->addr, f->n_addrs) = a;
}

/* Where events were discarded, an early one may belong to another packet than the next one. */
static void forget_early(struct state *s)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		s->received[i].early_ns = USK_NONE;
	}
}

/* Rows that no later one can come before. */
static enum usk_status release(struct state *s, int64_t now_ns, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	while (s->n_held && !status) {
		struct packet_row *row = &s->held[s->held_first];
		if ((usk_i128)now_ns - row->time_ns <= same_buffer_ns) {
			break;
		}
		row->number = usk_spool_count(s->spool, 0);
		status = usk_spool_put(s->spool, 0, row, err);
		s->held_first++;
		s->n_held--;
	}
	return status;
}

static void hold(struct state *s, const struct packet_row *row)
{
	if (s->held_first && s->held_first + s->n_held == s->cap_held) {
		memmove(s->held, s->held + s->held_first, s->n_held * sizeof *s->held);
		s->held_first = 0;
	}
	s->held = usk_room(s->held, s->held_first + s->n_held, &s->cap_held, sizeof *s->held);
	size_t at = s->held_first + s->n_held++;
	while (at > s->held_first && s->held[at - 1].time_ns > row->time_ns) {
		s->held[at] = s->held[at - 1];
		at--;
	}
	s->held[at] = *row;
}

static enum usk_status settle_packet(struct usk_trace *t, const struct ctf_item *item,
				     struct usk_err *err)
{
	struct state *s = t->state;
	struct packet_row row = { .time_ns = item->time_ns };
	bool sent = item->kind == CTF_QUEUED;
	struct buffer *b;
	switch ((enum ctf_kind)item->kind) {
	case CTF_INTERFACE:
		note_interface(t, item);
		return USK_OK;
	case CTF_LOST:
		forget_early(s);
		return USK_OK;
	case CTF_EARLY:
		b = buffer_of(s->received, item->key);
		b->early_ns = item->time_ns;
		b->packet = 0;
		return USK_OK;
	case CTF_QUEUED:
	case CTF_RECEIVED:
		b = buffer_of(sent ? s->queued : s->received, item->key);
		if (item->key && !first_of(b, item, &row.time_ns)) {
			return USK_OK;
		}
		break;
	default:
		return USK_OK;
	}
	row.length = item->length > item->n ? item->length : item->n;
	row.captured = item->n < ROW_BYTES ? item->n : ROW_BYTES;
	row.side = sent ? USK_SIDE_SENT : USK_SIDE_RECEIVED;
	memcpy(row.bytes, item->bytes, row.captured);
	enum usk_status status = release(s, item->time_ns, err);
	hold(s, &row);
	return status;
}

static enum usk_status settle(struct usk_trace *t, const struct ctf_item *item, struct usk_err *err)
{
	struct state *s = t->state;
	struct usk_event event;
	if (s->packets) {
		return settle_packet(t, item, err);
	}
	if (item->kind < CTF_SENT || item->kind == CTF_LOST ||
	    !usk_ctf_keys_settle(s->keys, item, &event)) {
		return USK_OK;
	}
	event.clock = 0;
	return usk_spool_put(s->spool, 0, &event, err);
}

/* All was decoded: what is known of the whole stays, the graph goes. */
static enum usk_status finish(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	enum usk_status status = release(s, INT64_MAX, err);
	const struct ctf_totals *totals = usk_ctf_read_totals(s->child);
	s->totals = *totals;
	if (s->in.said) {
		snprintf(s->totals.damage, sizeof s->totals.damage, "%s", s->in.said);
	} else if (!totals->damage[0] && totals->discarded) {
		snprintf(s->totals.damage, sizeof s->totals.damage,
			 "the tracer discarded %llu events, as its buffers were full",
			 (unsigned long long)totals->discarded);
	}
	t->extent = (struct usk_extent){ totals->events, totals->first_ns, totals->last_ns };
	t->iface[0].resolution_ns = totals->resolution_ns;
	usk_ctf_stop(s->child);
	s->child = NULL;
	return status;
}

/* Decode until row `upto` is there, or all is. */
static enum usk_status decode(struct usk_trace *t, uint64_t upto, struct usk_err *err)
{
	struct state *s = t->state;
	struct ctf_item item[16];
	enum usk_status status = USK_OK;
	while (s->child && !status && usk_spool_count(s->spool, 0) < upto) {
		size_t n = 0;
		status = usk_ctf_read(s->child, item, COUNT(item), &n, err);
		usk_fail_in(status, err, "%s", t->path);
		for (size_t i = 0; i < n && !status; i++) {
			status = settle(t, &item[i], err);
		}
		if (!status && !n) {
			status = finish(t, err);
		}
	}
	return status;
}

/* The next rows of the spool, cap at most. */
static enum usk_status rows(struct usk_trace *t, void *out, size_t cap, size_t *n,
			    struct usk_err *err)
{
	struct state *s = t->state;
	*n = 0;
	enum usk_status status = decode(t, s->at + cap, err);
	if (status) {
		return status;
	}
	uint64_t left = usk_spool_count(s->spool, 0) - s->at;
	size_t m = left < cap ? (size_t)left : cap;
	status = usk_spool_get(s->spool, 0, s->at, out, m, err);
	if (!status) {
		s->at += m;
		*n = m;
	}
	if (!status && !m) {
		t->done = true;
		if (s->totals.damage[0]) {
			usk_trace_damaged(t, "%s", s->totals.damage);
		}
	}
	return status;
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	struct state *s = t->state;
	enum usk_status status = rows(t, s->row, cap < BATCH ? cap : BATCH, n, err);
	for (size_t i = 0; i < *n; i++) {
		const struct packet_row *r = &s->row[i];
		out[i] = (struct usk_record){ .time_ns = r->time_ns,
					      .at = r->number,
					      .data = r->bytes,
					      .captured = r->captured,
					      .length = r->length,
					      .iface = 0,
					      .side = (enum usk_side)r->side };
	}
	return status;
}

static enum usk_status events(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	return rows(t, out, cap, n, err);
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		usk_ctf_stop(s->child);
		usk_ctf_traces_free(&s->in);
		usk_ctf_keys_free(s->keys);
		usk_spool_free(s->spool);
		free(s->held);
	}
	free(s);
	t->state = NULL;
}

static enum usk_status open_all(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	const struct ctf_visitor visitor = { s, classify, take };
	enum usk_status status = usk_ctf_find(t->path, &s->in, err);
	if (status) {
		return status;
	}
	s->size = usk_ctf_size(s->in.folder, s->in.n);
	status = usk_ctf_start(&s->in, &visitor, &s->child, err);
	if (status && err && strncmp(err->msg, t->path, strlen(t->path)) != 0) {
		usk_fail_in(status, err, "%s", t->path);
	}
	return status;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state;
	if (s) {
		s->at = 0;
		return USK_OK;
	}
	s = t->state = usk_alloc(1, sizeof *s);
	enum usk_status status = usk_ctf_keys_new(&t->opt, &s->keys, err);
	if (!status) {
		status = open_all(t, err);
	}
	const uint32_t net = 1u << CTF_QUEUED | 1u << CTF_RECEIVED;
	const uint32_t key = 1u << CTF_SENT | 1u << CTF_GOT;
	uint32_t kinds = status ? 0 : usk_ctf_read_totals(s->child)->kinds;
	if (!status && !kinds) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "%s: its streams are empty: no event is there", t->path);
	} else if (!status && !(kinds & (net | key))) {
		status = usk_fail(
			err, USK_EINPUT, 0,
			"%s: has no event that is the send or the receipt of a message: neither "
			"network events with headers (lttng-modules 2.9 or later), nor any of a "
			"known tracer; name your events with --send and --recv",
			t->path);
	}
	if (status) {
		return status;
	}
	s->packets = (kinds & net) != 0;
	s->spool =
		usk_spool_new(s->packets ? sizeof(struct packet_row) : sizeof(struct usk_event), 1);
	t->class_ = s->packets ? USK_TRACE_CAPTURE : USK_TRACE_EVENTS;
	struct usk_iface *f = usk_trace_add_iface(t);
	f->link_type = LINK_RAW;
	f->snap_length = DEPTH;
	if (!s->packets) {
		usk_trace_clock(t, (struct usk_csv_field){ t->name, strlen(t->name) });
	}
	return USK_OK;
}

static void place(const struct usk_trace *t, uint64_t *size, uint64_t *pos)
{
	/* The library does not say where it is: an event takes about so many bytes. */
	enum { EVENT_BYTES = 24 };
	const struct state *s = t->state;
	uint64_t rows = usk_spool_count(s->spool, 0);
	*size = s->size;
	if (s->child) {
		uint64_t bytes = usk_ctf_read_totals(s->child)->events * EVENT_BYTES;
		*pos = bytes < s->size ? bytes : s->size;
	} else {
		*pos = rows ? (uint64_t)((usk_u128)s->size * s->at / rows) : s->size;
	}
}

const struct reader usk_reader_ctf = {
	.info = { "ctf", "CTF traces (folders)", NULL, USK_TRACE_CAPTURE },
	.start = start,
	.records = records,
	.events = events,
	.stop = stop,
	.place = place,
	.folder = true,
	.written = true,
};
