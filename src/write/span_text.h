/* SPDX-License-Identifier: MIT */
/*
 * span_text.h - inside of re-timing spans and events in JSON: what a span's text becomes
 *
 * To add a format: its reader tells places (struct span_format), and a row of forms[] in span_text.c
 * says how attributes are written.
 */
#ifndef USK_SPAN_TEXT_H
#define USK_SPAN_TEXT_H

#include "read/read.h"
#include "write/retime.h"

struct span_form {
	const struct reader *by;
	const char *noun;		/* what it has: spans */
	bool us;			/* its stamps are in us, and it has durations */
	bool event;			/* it is a profile: usk_trace.event has how it says them */
	const char *open, *close;	/* of all, with their key */
	char bracket;			/* of all, without it */
	const char *name, *value, *end; /* what stands before a name, a value, and behind it */
};

const struct span_form *usk_span_form(const struct reader *by);

struct span_moment {
	int64_t was_ns, now_ns;
	int64_t earliest_ns, latest_ns; /* USK_NONE: nothing bounds it */
};

struct span_text {
	struct retime *t;
	const struct span_form *form;
	size_t used; /* bytes of the window behind, which are written */
	/* Of the span in hand. */
	struct span_moment start, end;
	bool ends, any_event;
	int64_t *now_ns; /* by place: of an event; USK_NONE: what stands there stays */
	size_t cap_now;
	bool first; /* no attribute stands before the next one */
};

static inline bool usk_whole_us(int64_t ns)
{
	return ns % 1000 == 0;
}

/** Where attributes are added; *at NULL: what they would say is there. False: none can be. */
bool usk_span_attributes_at(const struct usk_place *p, size_t n, const struct usk_place **at);
/** The span in hand, whose places are p[n]. */
enum usk_status usk_span_write(struct span_text *x, const struct usk_place *p, size_t n,
			       const struct usk_place *attributes);

#endif
