/* SPDX-License-Identifier: MIT */
/*
 * span_put.h - inside of re-timing spans and events: what all their formats share
 *
 * To add a format: its reader tells places (struct span_format), and its form (read.h) says how attributes are
 * written.
 */
#ifndef USK_SPAN_PUT_H
#define USK_SPAN_PUT_H

#include "read/read.h"
#include "write/held.h"
#include "write/retime.h"

struct span_moment {
	int64_t was_ns, now_ns;
	int64_t earliest_ns, latest_ns; /* USK_NONE: nothing bounds it */
};

struct span_put {
	struct retime *t;
	const struct usk_span_form *form;
	size_t used; /* bytes of the window behind, which are written */
	/* Of the span in hand. */
	struct span_moment start, end;
	bool ends, any_event;
	int64_t *now_ns; /* by place: of an event; USK_NONE: what stands there stays */
	size_t cap_now;
	bool first; /* JSON: no attribute stands before the next one */
	char *text; /* protobuf: its attributes */
	size_t n_text, cap_text;
	/* Protobuf: what is written and waits for lengths; where these stand, outer ones first. */
	struct usk_held *held;
	uint64_t within[3];
	enum usk_status failed; /* holding did */
};

void usk_span_put_free(struct span_put *x);

static inline bool usk_whole_us(int64_t ns)
{
	return ns % 1000 == 0;
}

/** Where attributes are added; *at NULL: what they would say is there. False: none can be. */
bool usk_span_attributes_at(const struct usk_place *p, size_t n, const struct usk_place **at);
/** What each place gets in place of its stamp comes to x->now_ns. */
void usk_span_fill(struct span_put *x, const struct usk_place *p, size_t n);
/** What is said of the span, as attributes. */
void usk_span_say_all(struct span_put *x, const struct usk_place *p, size_t n);

/** Bytes behind those that are written. */
void usk_span_put(struct span_put *x, const void *data, size_t n);
/** Of the window behind, up to there; copied, or passed over. */
enum usk_status usk_span_pass(struct span_put *x, uint64_t upto, bool copied);

enum { USK_SPAN_DIGITS = 24 };
/** The first of the digits, which end with text; us: with three decimals, if they are not 0. */
char *usk_span_digits(int64_t ns, bool us, char text[USK_SPAN_DIGITS]);

/* ---- span_text.c: JSON ---- */

enum usk_status usk_span_text_write(struct span_put *x, const struct usk_place *p, size_t n,
				    const struct usk_place *attributes);
void usk_span_text_say(struct span_put *x, const char *name, const char *value, size_t n);

/* ---- span_proto.c: protobuf ---- */

enum usk_status usk_span_proto_write(struct span_put *x, const struct usk_place *p, size_t n,
				     const struct usk_place *attributes);
void usk_span_proto_say(struct span_put *x, const char *name, const char *value, size_t n);
enum usk_status usk_span_proto_end(struct span_put *x);

#endif
