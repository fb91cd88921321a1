/* SPDX-License-Identifier: MIT */
/*
 * span_text.c - the text of a span in JSON again, with other stamps
 *
 * In    places of stamps and attributes of a span, in the order of its file; what they become
 * Out   the file up to the span's last change, written
 * Why   whoever wrote the file finds all else where it was
 * Not   what stamps become (retime_spans.c)
 */
#include "write/span_text.h"

#include <stdlib.h>
#include <string.h>

/* How a format writes attributes. */
static const struct span_form forms[] = {
	{ &usk_reader_otlp, "span", false, false, "\"attributes\":[", "]", '[', "{\"key\":\"",
	  "\",\"value\":{\"stringValue\":\"", "\"}}" },
	{ &usk_reader_jaeger, "span", true, false, "\"tags\":[", "]", '[', "{\"key\":\"",
	  "\",\"type\":\"string\",\"value\":\"", "\"}" },
	{ &usk_reader_zipkin, "span", true, false, "\"tags\":{", "}", '{', "\"", "\":\"", "\"" },
	{ &usk_reader_chrome, "event", true, true, " \"args\":{", "}", '{', "\"", "\":\"", "\"" },
};

const struct span_form *usk_span_form(const struct reader *by)
{
	const struct span_form *f = forms;
	while (f->by != by) {
		f++;
	}
	return f;
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* Of the window behind, up to there; to the output, or passed over. */
static enum usk_status pass(struct span_text *x, uint64_t upto, bool copied)
{
	struct retime *t = x->t;
	while (t->in.at + x->used < upto) {
		const uint64_t left = upto - (t->in.at + x->used);
		size_t n = t->in.have - x->used;
		n = n < left ? n : (size_t)left;
		usk_output_write(&t->out, t->in.data + x->used, copied ? n : 0);
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
	return USK_OK;
}

static void put(struct span_text *x, const char *text)
{
	usk_output_write(&x->t->out, text, strlen(text));
}

/* One of these for each of millions of stamps: printf() would be a third of all time. */
static void put_number(struct span_text *x, int64_t ns, bool us)
{
	char text[24], *end = text + sizeof text, *p = end;
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
	usk_output_write(&x->t->out, p, (size_t)(end - p));
}

/* Up to the value there: behind its key stand blanks and a colon. *first: the value's first byte. */
static enum usk_status pass_blanks(struct span_text *x, const struct usk_place *p, char *first)
{
	struct retime *t = x->t;
	enum usk_status status = pass(x, p->from, true);
	for (uint64_t at = p->from; !status && at < p->to; at++) {
		status = pass(x, at, true);
		status = status ? status : usk_input_need(&t->in, x->used, 1, t->err);
		x->used = 0;
		*first = t->in.have ? (char)*t->in.data : 0;
		if (!*first || !strchr(" \t\r\n:", *first)) {
			break;
		}
	}
	return status;
}

/* It gets the quotes that it had. */
static enum usk_status put_stamp(struct span_text *x, const struct usk_place *p, int64_t ns)
{
	struct retime *t = x->t;
	char first = 0;
	enum usk_status status = pass_blanks(x, p, &first);
	if (!status) {
		bool quoted = first == '"';
		usk_output_write(&t->out, "\"", quoted);
		put_number(x, ns, x->form->us);
		usk_output_write(&t->out, "\"", quoted);
		status = pass(x, p->to, false);
	}
	return status;
}

/* ---- attributes -------------------------------------------------------------------------- */

static void put_name(struct span_text *x, const char *name)
{
	put(x, x->first ? "" : ",");
	put(x, x->form->name);
	put(x, name);
	put(x, x->form->value);
	x->first = false;
}

static void put_attribute(struct span_text *x, const char *name, int64_t ns)
{
	if (ns != USK_NONE) {
		put_name(x, name);
		put_number(x, ns, false);
		put(x, x->form->end);
	}
}

/* As it stood there: not every number of us is ns. */
static void put_text(struct span_text *x, const char *name, struct usk_csv_field text)
{
	if (text.n) {
		put_name(x, name);
		usk_output_write(&x->t->out, text.text, text.n);
		put(x, x->form->end);
	}
}

static void put_attributes(struct span_text *x, const struct usk_place *p, size_t n)
{
	const struct usk_event_text *event = x->form->event ? &x->t->trace->event : NULL;
	if (event) {
		put_text(x, USK_EVENT_RECORDED, event->ts);
		put_text(x, "unskew.dur.recorded", event->dur);
	} else {
		put_attribute(x, USK_SPAN_RECORDED, x->start.was_ns);
	}
	put_attribute(x, "unskew.start.earliest_ns", x->start.earliest_ns);
	put_attribute(x, "unskew.start.latest_ns", x->start.latest_ns);
	if (x->ends) {
		put_attribute(x, "unskew.end.recorded_ns", event ? USK_NONE : x->end.was_ns);
		put_attribute(x, "unskew.end.earliest_ns", x->end.earliest_ns);
		put_attribute(x, "unskew.end.latest_ns", x->end.latest_ns);
	}
	const char *between = "";
	for (size_t i = 0; x->any_event && i < n; i++) {
		if (p[i].kind == USK_PLACE_EVENT && x->now_ns[i] != USK_NONE) {
			if (!*between) {
				put_name(x, "unskew.events.recorded_ns");
			}
			put(x, between);
			put_number(x, p[i].ns, false);
			between = ",";
		}
	}
	put(x, *between ? x->form->end : "");
}

/* Where they stand, or can be made to. */
static enum usk_status put_all_attributes(struct span_text *x, const struct usk_place *at,
					  const struct usk_place *p, size_t n)
{
	const bool null = at->kind == USK_PLACE_NULL, last = at->kind == USK_PLACE_LAST;
	char ignored = 0;
	enum usk_status status = null ? pass_blanks(x, at, &ignored) : pass(x, at->from, true);
	x->first = null || last || !at->filled;
	if (null) {
		usk_output_write(&x->t->out, &x->form->bracket, 1);
	} else if (last) {
		put(x, ",");
		put(x, x->form->open);
	}
	put_attributes(x, p, n);
	put(x, null || last ? x->form->close : "");
	return status ? status : pass(x, at->to, false);
}

/* Where attributes are added; *at NULL: what they would say is there. False: none can be. */
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

/* ---- a span ------------------------------------------------------------------------------ */

/* What each place gets in place of its stamp; USK_NONE: it stays. Of a key that stands twice the
 * last one counts, as for the reader. */
static void fill_places(struct span_text *x, const struct usk_place *p, size_t n)
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

enum usk_status usk_span_write(struct span_text *x, const struct usk_place *p, size_t n,
			       const struct usk_place *attributes)
{
	enum usk_status status = USK_OK;
	fill_places(x, p, n);
	for (size_t i = 0; i < n && !status; i++) {
		if (&p[i] == attributes) {
			status = put_all_attributes(x, &p[i], p, n);
		} else if (x->now_ns[i] != USK_NONE) {
			status = put_stamp(x, &p[i], x->now_ns[i]);
		}
	}
	return status;
}
