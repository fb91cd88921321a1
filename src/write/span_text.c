/* SPDX-License-Identifier: MIT */
/*
 * span_text.c - the text of a span in JSON again, with other stamps
 *
 * In    places of stamps and attributes of a span, in the order of its file; what they become
 * Out   the file up to the span's last change, written
 * Why   whoever wrote the file finds all else where it was
 * Not   what stamps become (retime_spans.c), what is said of a span (span_put.c)
 */
#include "write/span_put.h"

#include <string.h>

static void put(struct span_put *x, const char *text)
{
	usk_span_put(x, text, strlen(text));
}

/* Up to the value there: behind its key stand blanks and a colon. *first: the value's first byte. */
static enum usk_status pass_blanks(struct span_put *x, const struct usk_place *p, char *first)
{
	struct retime *t = x->t;
	enum usk_status status = usk_span_pass(x, p->from, true);
	for (uint64_t at = p->from; !status && at < p->to; at++) {
		status = usk_span_pass(x, at, true);
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
static enum usk_status put_stamp(struct span_put *x, const struct usk_place *p, int64_t ns)
{
	char first = 0, text[USK_SPAN_DIGITS];
	enum usk_status status = pass_blanks(x, p, &first);
	if (!status) {
		const bool quoted = first == '"';
		const char *digits = usk_span_digits(ns, x->form->us, text);
		usk_span_put(x, "\"", quoted);
		usk_span_put(x, digits, (size_t)(text + sizeof text - digits));
		usk_span_put(x, "\"", quoted);
		status = usk_span_pass(x, p->to, false);
	}
	return status;
}

void usk_span_text_say(struct span_put *x, const char *name, const char *value, size_t n)
{
	put(x, x->first ? "" : ",");
	put(x, x->form->before);
	put(x, name);
	put(x, x->form->between);
	usk_span_put(x, value, n);
	put(x, x->form->behind);
	x->first = false;
}

/* Where they stand, or can be made to. */
static enum usk_status put_all_attributes(struct span_put *x, const struct usk_place *at,
					  const struct usk_place *p, size_t n)
{
	const bool null = at->kind == USK_PLACE_NULL, last = at->kind == USK_PLACE_LAST;
	const char *bracket = x->form->open + strlen(x->form->open) - 1;
	char ignored = 0;
	enum usk_status status =
		null ? pass_blanks(x, at, &ignored) : usk_span_pass(x, at->from, true);
	x->first = null || last || !at->filled;
	if (null) {
		usk_span_put(x, bracket, 1);
	} else if (last) {
		put(x, ",");
		put(x, x->form->open);
	}
	usk_span_say_all(x, p, n);
	put(x, !null && !last ? "" : *bracket == '[' ? "]" : "}");
	return status ? status : usk_span_pass(x, at->to, false);
}

enum usk_status usk_span_text_write(struct span_put *x, const struct usk_place *p, size_t n,
				    const struct usk_place *attributes)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		if (&p[i] == attributes) {
			status = put_all_attributes(x, &p[i], p, n);
		} else if (x->now_ns[i] != USK_NONE) {
			status = put_stamp(x, &p[i], x->now_ns[i]);
		}
	}
	return status;
}
