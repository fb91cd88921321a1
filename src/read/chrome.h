/* SPDX-License-Identifier: MIT */
/* chrome.h - inside of reading Chrome's JSON: what an event says, and where it says it */
#ifndef USK_CHROME_H
#define USK_CHROME_H

#include "read/read.h"

#include <yajl/yajl_parse.h>

enum chrome_field {
	CHROME_PH,
	CHROME_CAT,
	CHROME_NAME,
	CHROME_PID,
	CHROME_TS,
	CHROME_DUR,
	CHROME_ID,
	CHROME_COLLECTIVE,
	CHROME_GROUP,
	CHROME_RANKS,
	CHROME_SEQ,
	CHROME_RANK,	/* of the file; all before it are an event's */
	CHROME_SAMPLES, /* no text is kept of it */
	CHROME_FIELDS,
};

enum chrome_object {
	CHROME_PASSED,
	CHROME_ROOT,
	CHROME_EVENTS,
	CHROME_EVENT,
	CHROME_ARGS,
	CHROME_INFO
};

struct chrome {
	struct usk_trace *t;
	yajl_handle json;
	struct chrome_open { /* what is open and not passed over */
		enum chrome_object object;
		bool filled;	       /* something stands in it, */
		uint64_t key_end, end; /* the last key up to here, and its value */
	} open[6];
	size_t depth, passed;
	enum chrome_object next; /* by the last key */
	enum chrome_field field;
	struct chrome_said {
		char *text;
		size_t n, cap;
		bool any;
	} said[CHROME_SAMPLES];
	bool kineto, looked;	      /* for the base */
	struct usk_collective *found; /* [at..n) to be handed out */
	size_t at, n, cap;
	uint64_t fed_at, fed; /* what the parser was given: from here to there */
	uint64_t n_bad, bad_at;
	const char *bad;
	bool samples; /* there are some beside the events */
	bool ended;
	/* Where all is wanted: of the event in hand; and why one of them could not be taken. */
	struct usk_place *place;
	size_t n_places, cap_places;
	enum usk_status status;
	struct usk_err *err;
};

static inline struct usk_csv_field usk_chrome_value(const struct chrome *r, enum chrome_field f)
{
	const struct chrome_said *s = &r->said[f];
	return (struct usk_csv_field){ s->any ? s->text : "", s->any ? s->n : 0 };
}

/** An event, whose values are said, ends. False: status has failed. */
bool usk_chrome_event(struct chrome *r);

/* ---- chrome_json.c: bytes ---- */

enum usk_status usk_chrome_start(struct usk_trace *t, struct usk_err *err);
/** What more bytes hold. */
enum usk_status usk_chrome_feed(struct chrome *r, struct usk_err *err);
void usk_chrome_stop(struct usk_trace *t);

#endif
