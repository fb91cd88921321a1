/* SPDX-License-Identifier: MIT */
/*
 * span_proto.c - a span in protobuf again, with other stamps
 *
 * In    places of lengths and stamps of a span of OTLP, in the order of its file; what they become
 * Out   the file up to the span's end, written or held
 * Why   each message says before it begins how long it is, so what is added to a span waits for the
 *       end of the outermost one
 * Not   what stamps become (retime_spans.c), what is said of a span (span_put.c), lengths of what is
 *       held (held.c)
 *
 * Attributes are the span's last fields; a reader takes fields in any order. A message in which no
 * span is corrected keeps its bytes.
 */
#include "base/protobuf.h"
#include "write/span_put.h"

#include <stdlib.h>
#include <string.h>

/* Tags: number << 3 | USK_WIRE_BYTES. */
enum { ATTRIBUTE = 0x4a, KEY = 0x0a, VALUE = 0x12, STRING_VALUE = 0x0a, STAMP = 8 };

/* ---- attributes -------------------------------------------------------------------------- */

static void add(struct span_put *x, const void *data, size_t n)
{
	if (x->cap_text - x->n_text < n) {
		x->cap_text = 2 * (x->n_text + n);
		x->text = usk_grow(x->text, x->cap_text, 1);
	}
	memcpy(x->text + x->n_text, data, n);
	x->n_text += n;
}

/* The beginning of a field that is as long as that; how many bytes that are. */
static size_t begins(uint8_t tag, uint64_t size, uint8_t out[1 + USK_VARINT_LONGEST])
{
	out[0] = tag;
	return 1 + usk_wire_varint(size, 1, out + 1);
}

void usk_span_proto_say(struct span_put *x, const char *name, const char *value, size_t n)
{
	uint8_t field[1 + USK_VARINT_LONGEST], key[sizeof field], any[sizeof field],
		text[sizeof field];
	const size_t n_name = strlen(name);
	const size_t n_text = begins(STRING_VALUE, n, text), n_any = begins(VALUE, n_text + n, any);
	const size_t n_key = begins(KEY, n_name, key);
	const size_t n_field = begins(ATTRIBUTE, n_key + n_name + n_any + n_text + n, field);
	add(x, field, n_field);
	add(x, key, n_key);
	add(x, name, n_name);
	add(x, any, n_any);
	add(x, text, n_text);
	add(x, value, n);
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Down to `depth` of those that are open: the others end with what was written last that grew. */
static enum usk_status close_to(struct span_put *x, size_t depth)
{
	struct retime *t = x->t;
	const bool any = usk_held_depth(x->held) > 0;
	while (usk_held_depth(x->held) > depth) {
		usk_held_close(x->held);
	}
	return any && !depth ? usk_held_write(x->held, &t->out, t->err) : USK_OK;
}

/* Are those places of lengths, but the span's own, which stand in p[0..n), open already? The others
 * begin; what stands before them is written. */
static enum usk_status open_all(struct span_put *x, const struct usk_place *p, size_t n)
{
	size_t k = 0;
	while (k < n && k < usk_held_depth(x->held) && x->within[k] == p[k].from) {
		k++;
	}
	enum usk_status status = close_to(x, k);
	for (; k < n && !status; k++) {
		const struct usk_length was = { p[k].from, (uint64_t)p[k].ns,
						(uint8_t)(p[k].to - p[k].from),
						p[k].kind == USK_PLACE_LENGTH_32 };
		status = usk_span_pass(x, p[k].from, true);
		usk_held_open(x->held, was);
		x->within[k] = p[k].from;
		status = status ? status : usk_span_pass(x, p[k].to, false);
	}
	return status;
}

/* The span's own length, which is known. */
static enum usk_status put_length(struct span_put *x, const struct usk_place *p)
{
	uint8_t length[USK_VARINT_LONGEST];
	const size_t was = (size_t)(p->to - p->from);
	const size_t now = usk_wire_varint((uint64_t)p->ns + x->n_text, was, length);
	enum usk_status status = usk_span_pass(x, p->from, true);
	usk_span_put(x, length, now);
	usk_held_grow(x->held, x->n_text + now - was);
	return status ? status : usk_span_pass(x, p->to, false);
}

static enum usk_status put_stamp(struct span_put *x, const struct usk_place *p, int64_t ns)
{
	uint8_t stamp[STAMP];
	enum usk_status status = usk_span_pass(x, p->from, true);
	for (size_t i = 0; i < STAMP; i++) {
		stamp[i] = (uint8_t)((uint64_t)ns >> 8 * i);
	}
	usk_span_put(x, stamp, STAMP);
	return status ? status : usk_span_pass(x, p->to, false);
}

enum usk_status usk_span_proto_write(struct span_put *x, const struct usk_place *p, size_t n,
				     const struct usk_place *attributes)
{
	size_t lengths = 0;
	while (p[lengths].kind == USK_PLACE_LENGTH || p[lengths].kind == USK_PLACE_LENGTH_32) {
		lengths++;
	}
	x->held = x->held ? x->held : usk_held_new();
	x->n_text = 0;
	if (attributes) {
		usk_span_say_all(x, p, n);
	}
	enum usk_status status = open_all(x, p, lengths - 1);
	status = status ? status : put_length(x, &p[lengths - 1]);
	for (size_t i = lengths; i < n && !status; i++) {
		if (&p[i] == attributes) {
			status = usk_span_pass(x, p[i].from, true);
			usk_span_put(x, x->text, x->n_text);
		} else if (x->now_ns[i] != USK_NONE) {
			status = put_stamp(x, &p[i], x->now_ns[i]);
		}
	}
	return status ? status : x->failed;
}

enum usk_status usk_span_proto_end(struct span_put *x)
{
	return x->held ? close_to(x, 0) : USK_OK;
}
