/* SPDX-License-Identifier: MIT */
/*
 * part.c - a part -> the rows of the trace that it is of
 *
 * In    blocks (part.h)
 * Out   records, messages or events, in their order, with the interfaces and the names that were
 *       known when the trace gave them; what the trace had lost
 * Why   one way from rows to clocks, whether they come from a trace or its part
 * Not   a row of the table of formats: of parts clocks can be computed, and nothing re-timed
 *
 * A part that is not whole is no trace that is not whole: it is made again.
 */
#include "read/part_code.h"

#include <stdlib.h>

struct reader_state {
	char *file;
	const char *kind; /* static */
	bool named, about;
	uint64_t all; /* rows so far */
	size_t n_clocks;
	size_t rows, next; /* in the block; the next that is handed out */
	uint8_t *arena;
	struct usk_record *record;
	struct usk_msg *msg;
	struct usk_event *event;
};

/* Of a payload: what is left, until it is not what it should be. */
struct bytes {
	const uint8_t *d;
	size_t n;
	bool bad;
};

static const uint8_t *take(struct bytes *b, uint64_t n)
{
	const uint8_t *d = b->d;
	if (b->bad || n > b->n) {
		b->bad = true;
		return NULL;
	}
	b->d += n;
	b->n -= (size_t)n;
	return d;
}

static uint64_t number(struct bytes *b)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t *d = take(b, 1);
		if (!d) {
			return 0;
		}
		v |= (uint64_t)(*d & 127) << shift;
		if (!(*d & 128)) {
			return v;
		}
	}
	b->bad = true;
	return 0;
}

static uint32_t number32(struct bytes *b)
{
	uint64_t v = number(b);
	b->bad |= v > UINT32_MAX;
	return (uint32_t)v;
}

static uint64_t fixed(struct bytes *b)
{
	const uint8_t *d = take(b, 8);
	return d ? usk_le64(d) : 0;
}

/* A text, the caller's; NULL: it is bad. */
static char *text(struct bytes *b)
{
	uint64_t n = number(b);
	const uint8_t *d = n <= PART_TEXT_MAX ? take(b, n) : NULL;
	if (!d || memchr(d, 0, (size_t)n)) {
		b->bad = true;
		return NULL;
	}
	char *s = usk_alloc((size_t)n + 1, 1);
	memcpy(s, d, (size_t)n);
	return s;
}

static int64_t time_of(struct bytes *b, int64_t *last)
{
	uint64_t t = (uint64_t)*last + part_unzigzag(number(b));
	*last = (int64_t)t;
	b->bad |= *last > USK_TIME_MAX || *last < -USK_TIME_MAX;
	return *last;
}

static enum usk_status damaged(const struct usk_trace *t, struct usk_err *err)
{
	const struct reader_state *s = t->state;
	return usk_fail(err, USK_EINPUT, t->in.at,
			"%s: is damaged at byte %llu; make this part again with unskew part",
			s->file, (unsigned long long)t->in.at);
}

static enum usk_status cut_short(const struct usk_trace *t, struct usk_err *err)
{
	const struct reader_state *s = t->state;
	return usk_fail(err, USK_EINPUT, t->in.at,
			"%s: is cut short; make this part again with unskew part", s->file);
}

/* The block at the front of the window; t->used is what precedes it. */
static enum usk_status peek(struct usk_trace *t, uint32_t *kind, struct bytes *b,
			    struct usk_err *err)
{
	enum usk_status status = usk_input_need(&t->in, t->used, PART_HEADER, err);
	t->used = 0;
	if (status || t->in.have < PART_HEADER) {
		return status ? status : cut_short(t, err);
	}
	uint32_t size = usk_le32(t->in.data + 4);
	if (size > PART_BLOCK_MAX) {
		return damaged(t, err);
	}
	status = usk_input_need(&t->in, 0, PART_HEADER + (size_t)size, err);
	if (status || t->in.have < PART_HEADER + (size_t)size) {
		return status ? status : cut_short(t, err);
	}
	const uint8_t *d = t->in.data;
	*kind = usk_le32(d);
	*b = (struct bytes){ d + PART_HEADER, size, false };
	return part_sum(b->d, size, *kind) == usk_le64(d + 8) ? USK_OK : damaged(t, err);
}

/* ---- what rows refer to -------------------------------------------------------------------- */

static bool take_iface(struct usk_trace *t, struct bytes *b)
{
	bool has_name = number(b);
	char *name = text(b);
	uint32_t link = number32(b), snap = number32(b);
	uint64_t resolution = number(b), n = number(b);
	if (b->bad || n > b->n / 16 || link > UINT16_MAX || resolution > INT64_MAX) {
		free(name);
		return false;
	}
	struct usk_iface *i = usk_trace_add_iface(t);
	i->link_type = (uint16_t)link;
	i->snap_length = snap;
	i->resolution_ns = (int64_t)resolution;
	i->addr = usk_alloc((size_t)n, sizeof *i->addr);
	i->n_addrs = (size_t)n;
	for (size_t k = 0; k < n; k++) {
		i->addr[k].hi = fixed(b);
		i->addr[k].lo = fixed(b);
	}
	i->name = has_name ? name : NULL;
	if (!has_name) {
		free(name);
	}
	return !b->bad;
}

static bool take_clock(struct usk_trace *t, struct bytes *b)
{
	struct reader_state *s = t->state;
	char *name = text(b);
	uint64_t hz = number(b);
	bool good = !b->bad && hz <= INT64_MAX;
	if (good) {
		/* A CTF trace is of one clock, which has the trace's name. */
		const char *of = strcmp(s->kind, "ctf") ? name : t->name;
		good = usk_trace_clock(t, (struct usk_csv_field){ of, strlen(of) }) == s->n_clocks;
	}
	if (good) {
		t->clock[s->n_clocks++].hz_e6 = (int64_t)hz;
	}
	free(name);
	return good;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct flow {
	uint8_t head[PART_ALIKE];
	uint32_t n, length;
};

static void take_difference(struct bytes *b, uint8_t *head, size_t n)
{
	uint64_t words = number(b);
	for (size_t at = 0; at < n && !b->bad; at += 8) {
		const uint8_t *mask = words >> at / 8 & 1 ? take(b, 1) : NULL;
		for (size_t i = 0; mask && i < 8; i++) {
			const uint8_t *d = *mask >> i & 1 ? take(b, 1) : NULL;
			head[at + i] = d ? *d : head[at + i];
		}
	}
}

static bool take_records(struct usk_trace *t, struct bytes *b)
{
	enum { ROOM = PART_ARENA + (1 << 20) };
	struct reader_state *s = t->state;
	struct flow *of = usk_alloc(PART_FLOWS, sizeof *of);
	s->arena = s->arena ? s->arena : usk_alloc(ROOM, 1);
	s->record = s->record ? s->record : usk_alloc(PART_ROWS, sizeof *s->record);
	size_t used = 0;
	uint32_t flow = 0, iface = 0;
	int64_t last = 0;
	for (s->rows = 0; b->n && !b->bad && s->rows < PART_ROWS; s->rows++) {
		const uint8_t *how = take(b, 1);
		struct usk_record *r = &s->record[s->rows];
		flow = *how & PART_OTHER_FLOW ? number32(b) % PART_FLOWS : flow;
		struct flow *f = &of[flow];
		iface = *how & PART_OTHER_IFACE ? number32(b) : iface;
		f->n = *how & PART_OTHER_SIZE ? number32(b) : f->n;
		f->length = *how & PART_OTHER_LENGTH ? number32(b) : f->length;
		*r = (struct usk_record){ .time_ns = time_of(b, &last),
					  .captured = f->n,
					  .length = f->length,
					  .iface = iface,
					  .side = (enum usk_side)(*how & PART_SIDE) };
		b->bad |= iface >= t->n_ifaces || f->n > ROOM - used;
		if (b->bad) {
			break;
		}
		size_t alike = f->n < PART_ALIKE ? f->n : PART_ALIKE;
		uint8_t now[PART_ALIKE];
		memcpy(now, f->head, sizeof now);
		take_difference(b, now, alike);
		const uint8_t *rest = take(b, f->n - alike);
		if (!rest) {
			break;
		}
		r->data = s->arena + used;
		memcpy(s->arena + used, now, alike);
		memcpy(s->arena + used + alike, rest, f->n - alike);
		used += f->n;
		memset(f->head, 0, sizeof f->head);
		memcpy(f->head, now, alike);
	}
	free(of);
	return !b->bad && !b->n;
}

static bool take_messages(struct usk_trace *t, struct bytes *b)
{
	struct reader_state *s = t->state;
	int64_t last[2] = { 0, 0 };
	s->msg = s->msg ? s->msg : usk_alloc(PART_ROWS, sizeof *s->msg);
	for (s->rows = 0; b->n && !b->bad && s->rows < PART_ROWS; s->rows++) {
		struct usk_msg *m = &s->msg[s->rows];
		m->from = number32(b);
		m->to = number32(b);
		m->bytes = number32(b);
		m->sent_ns = time_of(b, &last[0]);
		m->received_ns = time_of(b, &last[1]);
		b->bad |= m->from >= s->n_clocks || m->to >= s->n_clocks;
	}
	return !b->bad && !b->n;
}

static bool take_events(struct usk_trace *t, struct bytes *b)
{
	struct reader_state *s = t->state;
	int64_t last = 0;
	s->event = s->event ? s->event : usk_alloc(PART_ROWS, sizeof *s->event);
	for (s->rows = 0; b->n && !b->bad && s->rows < PART_ROWS; s->rows++) {
		struct usk_event *e = &s->event[s->rows];
		e->id.word[0] = fixed(b);
		e->id.word[1] = fixed(b);
		e->clock = number32(b);
		e->bytes = number32(b);
		uint32_t side = number32(b);
		e->time_ns = time_of(b, &last);
		e->side = (enum usk_side)(side & PART_SIDE);
		b->bad |= e->clock >= s->n_clocks || side > USK_SIDE_RECEIVED;
	}
	return !b->bad && !b->n;
}

static bool take_end(struct usk_trace *t, struct bytes *b)
{
	const struct reader_state *s = t->state;
	uint64_t all = number(b), has_damage = number(b);
	char *damage = text(b);
	uint64_t events = number(b);
	int64_t first = (int64_t)fixed(b), last = (int64_t)fixed(b);
	for (size_t i = 0; i < t->n_ifaces && !b->bad; i++) {
		uint64_t ns = number(b);
		t->iface[i].resolution_ns = ns <= INT64_MAX ? (int64_t)ns : 0;
	}
	bool far = first > USK_TIME_MAX || first < -USK_TIME_MAX || last > USK_TIME_MAX ||
		   last < -USK_TIME_MAX;
	if (b->bad || b->n || all != s->all || far) {
		free(damage);
		return false;
	}
	t->extent = (struct usk_extent){ events, first, last };
	free(t->damage);
	t->damage = has_damage ? damage : NULL;
	if (!has_damage) {
		free(damage);
	}
	t->done = true;
	return true;
}

static void pass(struct usk_trace *t, const struct bytes *b)
{
	t->used = (size_t)(b->d + b->n - t->in.data);
}

/* Up to rows or the end: what precedes them. */
static enum usk_status take_names(struct usk_trace *t, uint32_t *kind, struct bytes *b,
				  struct usk_err *err)
{
	for (;;) {
		enum usk_status status = peek(t, kind, b, err);
		if (status || (*kind != PART_IFACE && *kind != PART_CLOCKS)) {
			return status;
		}
		if (!(*kind == PART_IFACE ? take_iface(t, b) : take_clock(t, b)) || b->n) {
			return damaged(t, err);
		}
		pass(t, b);
	}
}

/* The next rows; none: the end. */
static enum usk_status refill(struct usk_trace *t, struct usk_err *err)
{
	struct reader_state *s = t->state;
	uint32_t kind;
	struct bytes b;
	s->next = s->rows = 0;
	enum usk_status status = take_names(t, &kind, &b, err);
	if (status) {
		return status;
	}
	bool good = kind == PART_END					     ? take_end(t, &b)
		    : kind == PART_RECORDS && t->class_ == USK_TRACE_CAPTURE ? take_records(t, &b)
		    : kind == PART_MESSAGES && t->class_ == USK_TRACE_TABLE  ? take_messages(t, &b)
		    : kind == PART_EVENTS && t->class_ == USK_TRACE_EVENTS   ? take_events(t, &b)
									     : false;
	if (!good || (!s->rows && !t->done)) {
		s->rows = 0;
		return damaged(t, err);
	}
	pass(t, &b);
	s->all += s->rows;
	return USK_OK;
}

static enum usk_status rows(struct usk_trace *t, void *out, const void *row, size_t size,
			    size_t cap, size_t *n)
{
	struct reader_state *s = t->state;
	*n = s->rows - s->next < cap ? s->rows - s->next : cap;
	if (*n) {
		memcpy(out, (const uint8_t *)row + s->next * size, *n * size);
	}
	s->next += *n;
	return USK_OK;
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	struct reader_state *s = t->state;
	enum usk_status status = s->next == s->rows ? refill(t, err) : USK_OK;
	*n = 0;
	return status ? status : rows(t, out, s->record, sizeof *out, cap, n);
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	struct reader_state *s = t->state;
	enum usk_status status = s->next == s->rows ? refill(t, err) : USK_OK;
	*n = 0;
	return status ? status : rows(t, out, s->msg, sizeof *out, cap, n);
}

static enum usk_status events(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	struct reader_state *s = t->state;
	enum usk_status status = s->next == s->rows ? refill(t, err) : USK_OK;
	*n = 0;
	return status ? status : rows(t, out, s->event, sizeof *out, cap, n);
}

/* ---- the beginning --------------------------------------------------------------------------- */

bool usk_part_sniff(const uint8_t *d, size_t n)
{
	return n >= PART_MAGIC && !memcmp(d, part_magic, PART_MAGIC - 1);
}

static const char *kind_of(const char *name)
{
	const struct usk_reader_info *info;
	for (size_t i = 0; (info = usk_reader(i)); i++) {
		if (!strcmp(info->name, name)) {
			return info->name;
		}
	}
	return NULL;
}

static bool take_about(struct usk_trace *t, struct bytes *b)
{
	struct reader_state *s = t->state;
	char *path = text(b), *name = text(b), *kind = text(b);
	s->named = number(b);
	uint64_t class = number(b);
	s->kind = b->bad ? NULL : kind_of(kind);
	bool good = !b->bad && !b->n && s->kind && class <= USK_TRACE_EVENTS && *path && *name;
	if (good) {
		free(t->path);
		t->path = path;
		path = NULL;
		t->class_ = (enum usk_trace_class) class;
		if (!t->name) {
			t->name = name;
			name = NULL;
		}
	}
	s->about = good;
	USK_FREE(path, name, kind);
	return good;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct reader_state *s = t->state;
	uint32_t kind;
	struct bytes b;
	s->all = s->next = s->rows = s->n_clocks = 0;
	usk_trace_forget_ifaces(t);
	enum usk_status status = usk_input_need(&t->in, 0, PART_MAGIC, err);
	if (status || !usk_part_sniff(t->in.data, t->in.have)) {
		return status ? status
			      : usk_fail(err, USK_EINPUT, 0,
					 "%s: is not a part that unskew part made", s->file);
	}
	if (t->in.data[PART_MAGIC - 1] != part_magic[PART_MAGIC - 1]) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: is a part of version %u, and this unskew reads version %u",
				s->file, t->in.data[PART_MAGIC - 1], part_magic[PART_MAGIC - 1]);
	}
	t->used = PART_MAGIC;
	status = peek(t, &kind, &b, err);
	if (!status && (kind != PART_ABOUT || (!s->about && !take_about(t, &b)))) {
		status = damaged(t, err);
	}
	if (!status) {
		t->used = PART_HEADER + usk_le32(t->in.data + 4);
		status = take_names(t, &kind, &b, err);
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct reader_state *s = t->state;
	if (s) {
		USK_FREE(s->file, s->arena, s->record, s->msg, s->event);
	}
	free(s);
	t->state = NULL;
}

static const struct reader part_reader = {
	.info = { "part", "what unskew part made of a trace", NULL, USK_TRACE_CAPTURE },
	.start = start,
	.records = records,
	.messages = messages,
	.events = events,
	.stop = stop,
};

static enum usk_status open_input(struct usk_input in, const char *file, const char *name,
				  struct usk_trace **out, struct usk_err *err)
{
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	struct reader_state *s = usk_alloc(1, sizeof *s);
	s->file = usk_strdup(file);
	t->in = in;
	t->reader = &part_reader;
	t->path = usk_strdup(file);
	t->name = name ? usk_strdup(name) : NULL;
	t->state = s;
	enum usk_status status = start(t, err);
	if (status) {
		usk_trace_close(t);
		return status;
	}
	t->kind = s->kind;
	*out = t;
	return USK_OK;
}

enum usk_status usk_part_open(const char *file, const char *name, struct usk_trace **out,
			      struct usk_err *err)
{
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, file, usk_part_sniff, err);
	return status ? status : open_input(in, file, name, out, err);
}

enum usk_status usk_part_open_memory(const void *data, size_t size, const char *name,
				     struct usk_trace **out, struct usk_err *err)
{
	struct usk_input in;
	usk_input_memory(&in, data, size);
	return open_input(in, "memory", name, out, err);
}

enum usk_status usk_part_take_head(struct usk_trace *t, const void *head, size_t size,
				   struct usk_err *err)
{
	struct usk_trace *h;
	struct usk_record none;
	size_t n;
	enum usk_status status = usk_part_open_memory(head, size, t->name, &h, err);
	if (status) {
		return status;
	}
	status = usk_trace_records(h, &none, 1, &n, err);
	if (!status) {
		struct usk_iface *iface = t->iface;
		size_t n_ifaces = t->n_ifaces;
		char *damage = t->damage;
		t->iface = h->iface;
		t->n_ifaces = t->cap_ifaces = h->n_ifaces;
		t->damage = h->damage;
		t->extent = h->extent;
		h->iface = iface;
		h->n_ifaces = n_ifaces;
		h->damage = damage;
	}
	usk_trace_close(h);
	return status;
}

enum usk_status usk_part_again(const struct usk_trace *from, struct usk_trace **out,
			       struct usk_err *err)
{
	const struct reader_state *s = from->state;
	struct usk_input in;
	enum usk_status status = usk_input_again(&in, &from->in, err);
	return status ? usk_fail_in(status, err, "%s", s->file)
		      : open_input(in, s->file, from->name, out, err);
}

bool usk_part_named(const struct usk_trace *t)
{
	return t->reader == &part_reader && ((const struct reader_state *)t->state)->named;
}

bool usk_trace_is_part(const struct usk_trace *t)
{
	return t->reader == &part_reader;
}
