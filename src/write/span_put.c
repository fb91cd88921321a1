/* SPDX-License-Identifier: MIT */
/*
 * span_put.c - spans again, with other stamps: what all formats share
 *
 * In    places of stamps and attributes of a span, in the order of its file; what they become
 * Out   which stamps and attributes a form has to write; bytes
 * Why   what is said of a span is the same in every format
 * Not   what stamps become (retime_spans.c), how a form writes it (span_text.c, span_proto.c)
 */
#include "write/span_put.h"

#include <stdlib.h>
#include <string.h>

void usk_span_put_free(struct span_put *x)
{
	usk_held_free(x->held);
	USK_FREE(x->now_ns, x->text);
}

/* ---- bytes ------------------------------------------------------------------------------- */

void usk_span_put(struct span_put *x, const void *data, size_t n)
{
	if (!x->held || !usk_held_depth(x->held)) {
		usk_output_write(&x->t->out, data, n);
	} else if (!x->failed) {
		x->failed = usk_held_put(x->held, data, n, x->t->err);
	}
}

enum usk_status usk_span_pass(struct span_put *x, uint64_t upto, bool copied)
{
	struct retime *t = x->t;
	while (t->in.at + x->used < upto) {
		const uint64_t left = upto - (t->in.at + x->used);
		size_t n = t->in.have - x->used;
		n = n < left ? n : (size_t)left;
		usk_span_put(x, t->in.data + x->used, copied ? n : 0);
		x->used += n;
		if (n < left) {
			enum usk_status status = usk_input_need(&t->in, x->used, 1, t->err);
			x->used = 0;
			if (status || !t->in.have) {
				return status ? status
					      : usk_fail(t->err, USK_EIO, t->in.at,
							 "changed while it was read");
			}
		}
	}
	return x->failed;
}

/* One of these for each of millions of stamps: printf() would be a third of all time. */
char *usk_span_digits(int64_t ns, bool us, char text[USK_SPAN_DIGITS])
{
	char *p = text + USK_SPAN_DIGITS;
	uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	unsigned fraction = us ? (unsigned)(n % 1000) : 0;
	if (fraction) {
		for (int k = 0; k < 3; k++, fraction /= 10) {
			*--p = (char)('0' + fraction % 10);
		}
		*--p = '.';
	}
	n = us ? n / 1000 : n;
	do {
		*--p = (char)('0' + n % 10);
	} while (n /= 10);
	if (ns < 0) {
		*--p = '-';
	}
	return p;
}

/* ---- attributes -------------------------------------------------------------------------- */

bool usk_span_attributes_at(const struct usk_place *p, size_t n, const struct usk_place **at)
{
	bool recorded = false;
	*at = NULL;
	for (size_t i = 0; i < n; i++) {
		bool here = p[i].kind == USK_PLACE_ATTRIBUTES || p[i].kind == USK_PLACE_NULL;
		if (p[i].kind == USK_PLACE_TAKEN) {
			return false;
		}
		recorded = recorded || p[i].kind == USK_PLACE_RECORDED;
		if (here || (!*at && p[i].kind == USK_PLACE_LAST)) {
			*at = &p[i];
		}
	}
	*at = recorded ? NULL : *at;
	return true;
}

static void attribute(struct span_put *x, const char *name, const char *value, size_t n)
{
	(x->form->open ? usk_span_text_say : usk_span_proto_say)(x, name, value, n);
}

static void say(struct span_put *x, const char *name, int64_t ns)
{
	char text[USK_SPAN_DIGITS];
	if (ns != USK_NONE) {
		const char *digits = usk_span_digits(ns, false, text);
		attribute(x, name, digits, (size_t)(text + sizeof text - digits));
	}
}

/* As it stood there: not every number of us is ns. */
static void say_text(struct span_put *x, const char *name, struct usk_csv_field text)
{
	if (text.n) {
		attribute(x, name, text.text, text.n);
	}
}

/* Of those that were corrected. */
static void say_events(struct span_put *x, const struct usk_place *p, size_t n)
{
	char *all = usk_alloc(n, USK_SPAN_DIGITS + 1);
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i].kind == USK_PLACE_EVENT && x->now_ns[i] != USK_NONE) {
			char text[USK_SPAN_DIGITS];
			const char *digits = usk_span_digits(p[i].ns, false, text);
			const size_t many = (size_t)(text + sizeof text - digits);
			all[used] = ',';
			used += used > 0;
			memcpy(all + used, digits, many);
			used += many;
		}
	}
	attribute(x, "unskew.events.recorded_ns", all, used);
	free(all);
}

void usk_span_say_all(struct span_put *x, const struct usk_place *p, size_t n)
{
	const struct usk_event_text *event = x->form->event ? &x->t->trace->event : NULL;
	if (event) {
		say_text(x, USK_EVENT_RECORDED, event->ts);
		say_text(x, "unskew.dur.recorded", event->dur);
	} else {
		say(x, USK_SPAN_RECORDED, x->start.was_ns);
	}
	say(x, "unskew.start.earliest_ns", x->start.earliest_ns);
	say(x, "unskew.start.latest_ns", x->start.latest_ns);
	if (x->ends) {
		say(x, "unskew.end.recorded_ns", event ? USK_NONE : x->end.was_ns);
		say(x, "unskew.end.earliest_ns", x->end.earliest_ns);
		say(x, "unskew.end.latest_ns", x->end.latest_ns);
	}
	if (x->any_event) {
		say_events(x, p, n);
	}
}

/* ---- stamps ------------------------------------------------------------------------------ */

/* USK_NONE: it stays. Of a key that stands twice the last one counts, as for the reader. */
void usk_span_fill(struct span_put *x, const struct usk_place *p, size_t n)
{
	const int64_t now[] = {
		[USK_PLACE_START] = x->start.now_ns - x->t->trace->base_ns,
		[USK_PLACE_END] = x->ends ? x->end.now_ns : USK_NONE,
		[USK_PLACE_DURATION] = x->ends ? x->end.now_ns - x->start.now_ns : USK_NONE,
	};
	bool filled[COUNT(now)] = { false };
	for (size_t i = n; i-- > 0;) {
		if (p[i].kind < COUNT(now) && !filled[p[i].kind]) {
			filled[p[i].kind] = true;
			x->now_ns[i] = now[p[i].kind];
		}
	}
}
