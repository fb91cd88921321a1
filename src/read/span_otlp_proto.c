/* SPDX-License-Identifier: MIT */
/*
 * span_otlp_proto.c - OTLP as protobuf
 *
 * In    TracesData: one, or any number, each with its length in 4 bytes, the highest first, as the
 *       collector's file exporter writes them with `format: proto`
 * Out   spans, as span_otlp_keys.c has them
 * Why   half of the bytes of JSON, or less; a message may be hundreds of MB, and none is ever held
 * Not   what objects mean (span_otlp_keys.c), which number is which field (span_otlp_numbers.c)
 *
 * Messages of metrics and logs may be among them. They nest the same way, and nothing says what
 * they are: what should be a span and has neither a span's ids nor its start is none.
 *
 * Where places are wanted (usk_trace.take_span), events and attributes of spans are looked into, too;
 * damage in one of them costs that one alone, as else nobody would have seen it.
 *
 * Where bytes are no protobuf, the message that they stand in is lost, a span at least: as far as
 * its length leads, or, if it is that of a whole TracesData, to where another one begins.
 */
#include "base/bytes.h"
#include "base/protobuf.h"
#include "read/span_otlp.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEED = 1 << 16, DEEPEST = 32, HEAD = OTLP_HEAD, STAMP = 8 };

static bool sniff(const uint8_t *d, size_t n)
{
	struct otlp_numbers m;
	usk_otlp_learn(&m, false);
	return usk_otlp_is_bare(&m, d, n) || usk_otlp_is_framed(&m, d, n);
}

/* ---- what is open ------------------------------------------------------------------------- */

struct frame {
	uint64_t begins, length, inside, ends; /* inside: behind its length */
	uint32_t group;			       /* its number; 0: it is a message */
	uint8_t object;
};

struct proto_reader {
	struct span_reader r;
	struct otlp_numbers numbers; /* by which files and messages are known */
	struct otlp_numbers asked;   /* and what is looked at in them */
	bool framed;
	struct frame frame[DEEPEST];
	size_t depth;
	uint64_t field_at; /* where the last field began */
	uint64_t pass_to;  /* bytes before are not looked at, */
	bool lost;	   /* as they are lost, from there on: */
	uint64_t lost_from;
	bool searching; /* for where a message begins */
};

static bool places(const struct proto_reader *p)
{
	return p->r.t->take_span != NULL;
}

/* What grows with the span on top. */
static void place_lengths(struct proto_reader *p)
{
	for (size_t i = 0; i < p->depth; i++) {
		const struct frame *f = &p->frame[i];
		if (f->inside > f->length) {
			usk_span_place(&p->r,
				       (struct usk_place){ .from = f->length,
							   .to = f->inside,
							   .ns = (int64_t)(f->ends - f->inside),
							   .kind = f->object == OBJECT_ROOT
									   ? USK_PLACE_LENGTH_32
									   : USK_PLACE_LENGTH });
		}
	}
}

static void push(struct proto_reader *p, struct frame f)
{
	p->frame[p->depth++] = f;
	if (!f.group) {
		usk_span_otlp.begin(&p->r, f.object);
	}
	if (f.object == OTLP_SPAN && places(p)) {
		place_lengths(p);
	}
}

static void close_message(struct proto_reader *p)
{
	const struct frame f = p->frame[--p->depth];
	const struct span_text *said = p->r.said;
	bool none = !said[FIELD_START_NS].any && !(said[FIELD_TRACE].any && said[FIELD_ID].any);
	if (f.object == OTLP_SPAN && none) {
		usk_span_drop(&p->r); /* of metrics or logs */
	} else {
		p->r.value_at = f.ends;
		if (f.object == OTLP_SPAN && places(p)) {
			usk_span_place(&p->r, (struct usk_place){ .from = f.ends,
								  .to = f.ends,
								  .kind = USK_PLACE_LAST });
		}
		usk_span_otlp.end(&p->r, f.object);
	}
}

/* All bytes were read. */
static void at_end(struct proto_reader *p)
{
	const struct usk_trace *t = p->r.t;
	/* A bare one is over wherever one of its fields is. */
	const size_t outer = p->framed ? 0 : 1;
	const uint64_t at = t->in.at + t->used, end = t->in.at + t->in.have;
	const bool passing = p->pass_to > at, whole = p->depth <= outer && at == end && !passing;
	char *cut = usk_format(
		"ends at byte %llu within a message that began at byte %llu; what it held in whole "
		"was used",
		(unsigned long long)end,
		(unsigned long long)(p->depth > outer ? p->frame[outer].begins
				     : p->lost	      ? p->lost_from
				     : passing	      ? p->field_at
						      : at));
	if (p->lost) {
		usk_trace_lost(p->r.t, p->lost_from, end - p->lost_from);
	}
	usk_span_finish(&p->r, whole ? NULL : cut);
	free(cut);
}

static void give_up(struct proto_reader *p)
{
	char *why = usk_format("is no protobuf at byte %llu, so nothing after it was read",
			       (unsigned long long)p->r.t->in.at);
	usk_span_finish(&p->r, why);
	free(why);
}

/* What only is looked into for places is passed, if the bytes stand in such. */
static bool passed_over(struct proto_reader *p)
{
	size_t k = p->depth;
	while (k > 0 && p->frame[k - 1].object != OTLP_EVENT &&
	       p->frame[k - 1].object != OTLP_SPAN_ATTRIBUTE) {
		k--;
	}
	if (!k) {
		return false;
	}
	const struct frame f = p->frame[k - 1];
	const uint64_t at = p->r.t->in.at;
	if (f.object == OTLP_EVENT && !p->r.said[FIELD_EVENT_NS].any) {
		usk_span_stands_number(&p->r, FIELD_EVENT_NS, at, at, UINT64_MAX);
	}
	p->depth = k - 1;
	p->pass_to = f.ends;
	return true;
}

/* The bytes at the front of the window are no field: what they stand in is lost. */
static void damaged(struct proto_reader *p)
{
	struct usk_trace *t = p->r.t;
	size_t k = p->depth - 1;
	if (passed_over(p)) {
		return;
	}
	/* Half of a resource would name another clock. */
	while (p->frame[k].group ||
	       !(p->frame[k].object == OBJECT_ROOT || p->frame[k].object == OTLP_BATCH ||
		 p->frame[k].object == OTLP_SCOPE || p->frame[k].object == OTLP_SPAN)) {
		k--;
	}
	const struct frame f = p->frame[k];
	if (f.object == OTLP_SPAN) {
		usk_span_drop(&p->r);
	} else if (f.object == OTLP_BATCH) {
		usk_span_orphans(&p->r);
	} else if (f.object == OBJECT_ROOT && !p->framed) {
		give_up(p);
		return;
	}
	p->lost = true;
	p->lost_from = f.object == OTLP_SPAN ? f.begins
		       : p->depth > k + 1    ? p->frame[k + 1].begins
					     : t->in.at;
	p->depth = k;
	p->searching = f.object == OBJECT_ROOT;
	p->pass_to = p->searching ? 0 : f.ends;
}

/* ---- bytes ------------------------------------------------------------------------------- */

static void found_again(struct proto_reader *p, uint64_t at)
{
	uint64_t bytes = at - p->lost_from;
	/* If nothing lies between, it was the length that led too far. */
	usk_trace_lost(p->r.t, bytes ? p->lost_from : p->frame[0].begins, bytes ? bytes : HEAD);
	p->lost = p->searching = false;
}

/* To the next message that has a span. */
static enum usk_status search(struct proto_reader *p, struct usk_err *err)
{
	struct usk_trace *t = p->r.t;
	enum usk_status status = usk_input_need(&t->in, 0, USK_SEARCH, err);
	/* One that begins further back is looked at with more bytes behind it. */
	size_t most = t->in.end ? t->in.have : t->in.have - USK_SIGHT;
	for (; !status && t->used < most; t->used++) {
		const uint8_t *d = t->in.data + t->used;
		size_t end = usk_trace_sight(t, t->used, USK_SIGHT);
		if (usk_otlp_begins(&p->numbers, d, end - t->used)) {
			found_again(p, t->in.at + t->used);
			break;
		}
	}
	return status;
}

/* Bytes that nobody asks for, as far as they are in the window. */
static void pass(struct proto_reader *p)
{
	struct usk_trace *t = p->r.t;
	uint64_t rest = p->pass_to - t->in.at;
	t->used = rest < t->in.have ? (size_t)rest : t->in.have;
	if (t->used == rest && p->lost) {
		found_again(p, p->pass_to);
	}
}

static void take_id(struct proto_reader *p, uint8_t field, const uint8_t *d, size_t n, size_t right)
{
	if (n != right) {
		usk_span_spoil(&p->r, right == OTLP_TRACE_ID ? "an id of a trace has not 16 bytes"
							     : "an id of a span has not 8 bytes");
	} else {
		usk_span_say_number(&p->r, field, usk_be64(d + n - 8));
	}
}

static enum usk_status take_bytes(struct proto_reader *p, const struct otlp_field *f, uint64_t size,
				  struct usk_err *err)
{
	struct usk_trace *t = p->r.t;
	size_t want = size < USK_SPAN_LONGEST ? (size_t)size : USK_SPAN_LONGEST;
	enum usk_status status = usk_input_need(&t->in, t->used, want, err);
	t->used = 0;
	p->pass_to = t->in.at + size;
	if (status) {
		return status;
	}
	if (t->in.have < want) {
		at_end(p);
		return USK_OK;
	}
	if (f->form == OTLP_TEXT) {
		usk_span_say(&p->r, f->key->field,
			     (struct usk_csv_field){ (const char *)t->in.data, want });
		if (f->key->in == OTLP_SPAN_ATTRIBUTE &&
		    usk_span_key_is(&p->r, USK_SPAN_RECORDED)) {
			usk_span_place(&p->r, (struct usk_place){ .kind = USK_PLACE_RECORDED });
		}
	} else if (size) { /* empty: there is none */
		take_id(p, f->key->field, t->in.data, size == want ? want : 0, f->size);
	}
	pass(p);
	return USK_OK;
}

static void take_number(struct proto_reader *p, const struct otlp_field *f, uint64_t value)
{
	const uint8_t field = f->key->field;
	char text[32];
	if (f->form == OTLP_TIME) {
		const uint64_t behind = p->r.t->in.at + p->r.t->used;
		usk_span_say_number(&p->r, field, value);
		if (places(p)) {
			usk_span_stands_number(&p->r, field, behind - STAMP, behind, value);
		}
	} else if (f->form == OTLP_ENUM) { /* of one digit; what is more is none that is known */
		text[0] = value < 10 ? (char)('0' + value) : '?';
		usk_span_say(&p->r, field, (struct usk_csv_field){ text, 1 });
	} else {
		int n = snprintf(text, sizeof text, "%lld", (long long)value);
		usk_span_say(&p->r, field, (struct usk_csv_field){ text, (size_t)n });
	}
}

static size_t tag_size(const uint8_t *d)
{
	size_t n = 1;
	while (d[n - 1] & 0x80) {
		n++;
	}
	return n;
}

/* A field that is whole, or whose bytes follow. */
static enum usk_status take(struct proto_reader *p, const struct usk_wire_field *f,
			    struct usk_err *err)
{
	struct usk_trace *t = p->r.t;
	const uint64_t at = t->in.at, behind = at + f->size;
	const struct otlp_field *of = usk_otlp_field(&p->asked, p->frame[p->depth - 1].object, f);
	p->field_at = at;
	t->used = f->size;
	if (of && of->form == OTLP_MESSAGE) {
		const uint64_t length = at + tag_size(t->in.data);
		push(p,
		     (struct frame){ at, length, behind, behind + f->value, 0, of->key->object });
	} else if (!of) {
		p->pass_to = f->wire == USK_WIRE_BYTES ? behind + f->value : behind;
		pass(p);
	} else if (f->wire == USK_WIRE_BYTES) {
		return take_bytes(p, of, f->value, err);
	} else {
		take_number(p, of, f->value);
	}
	return USK_OK;
}

/* The next field of what is open. */
static enum usk_status field(struct proto_reader *p, struct usk_err *err)
{
	struct usk_trace *t = p->r.t;
	const struct frame *top = &p->frame[p->depth - 1];
	const uint64_t rest = top->ends - t->in.at;
	const size_t n = t->in.have < rest ? t->in.have : (size_t)rest;
	struct usk_wire_field f;
	enum usk_wire_found found = usk_wire_next(t->in.data, n, &f);
	bool good = found == USK_WIRE_FIELD &&
		    (f.wire != USK_WIRE_BYTES || f.value <= rest - f.size) &&
		    (f.wire != USK_WIRE_GROUP || p->depth < DEEPEST) &&
		    (f.wire != USK_WIRE_GROUP_END || f.number == top->group);
	if (found == USK_WIRE_SHORT && n < rest) {
		at_end(p);
	} else if (!good) {
		damaged(p);
	} else if (f.wire == USK_WIRE_GROUP) {
		push(p, (struct frame){ .begins = t->in.at,
					.ends = top->ends,
					.group = f.number,
					.object = OBJECT_NONE });
		t->used = f.size;
	} else if (f.wire == USK_WIRE_GROUP_END) {
		p->depth--;
		t->used = f.size;
	} else {
		return take(p, &f, err);
	}
	return USK_OK;
}

/* A TracesData begins, or none does any more. */
static void message(struct proto_reader *p)
{
	struct usk_trace *t = p->r.t;
	const uint64_t at = t->in.at;
	if (!p->framed) {
		push(p, (struct frame){ at, at, at, UINT64_MAX, 0, OBJECT_ROOT });
	} else if (t->in.have < HEAD) {
		at_end(p);
	} else {
		const uint64_t inside = at + HEAD;
		push(p, (struct frame){ at, at, inside, inside + usk_be32(t->in.data), 0,
					OBJECT_ROOT });
		t->used = HEAD;
	}
}

static enum usk_status step(struct proto_reader *p, struct usk_err *err)
{
	struct usk_trace *t = p->r.t;
	enum usk_status status = usk_input_need(&t->in, t->used, USK_WIRE_LONGEST, err);
	t->used = 0;
	if (status) {
		return status;
	}
	const struct frame *top = p->depth ? &p->frame[p->depth - 1] : NULL;
	const bool passing = t->in.at < p->pass_to || (p->lost && !p->searching);
	const bool over = top && top->ends == t->in.at && !passing && !p->searching;
	if (over && top->group) {
		damaged(p);
	} else if (over) {
		close_message(p);
	} else if (passing && (t->in.have || t->in.at == p->pass_to)) {
		pass(p);
	} else if (!t->in.have) {
		at_end(p);
	} else if (p->searching) {
		return search(p, err);
	} else if (!top) {
		message(p);
	} else {
		return field(p, err);
	}
	return USK_OK;
}

/* Some bytes more; what they hold comes to wait. */
static enum usk_status feed(struct usk_trace *t, struct usk_err *err)
{
	const uint64_t from = t->in.at + t->used;
	enum usk_status status = USK_OK;
	while (!status && !t->done && t->in.at + t->used < from + FEED) {
		status = step(t->state, err);
	}
	return status;
}

static enum usk_status spans(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	return usk_span_read(t, feed, out, cap, n, err);
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct proto_reader *p = t->state;
	(void)err;
	if (!p) {
		p = t->state = usk_alloc(1, sizeof *p);
		usk_otlp_learn(&p->numbers, false);
		p->framed = !usk_otlp_is_bare(&p->numbers, t->in.data, t->in.have);
	}
	usk_otlp_learn(&p->asked, t->take_span != NULL);
	usk_span_start(&p->r, t, &usk_span_otlp);
	p->depth = 0;
	p->pass_to = 0;
	p->lost = p->searching = false;
	return USK_OK;
}

static void stop(struct usk_trace *t)
{
	struct proto_reader *p = t->state;
	if (p) {
		usk_span_stop(&p->r);
	}
	free(p);
	t->state = NULL;
}

static const struct usk_span_form form = { .noun = "span" };

const struct reader usk_reader_otlp_proto = {
	.info = { "otlp", "OTLP as protobuf", "spans", USK_TRACE_SPANS },
	.sniff = sniff,
	.start = start,
	.spans = spans,
	.stop = stop,
	.form = &form,
};
