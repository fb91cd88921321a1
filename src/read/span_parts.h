/* SPDX-License-Identifier: MIT */
/*
 * span_parts.h - inside of reading spans: what values say, and what is made of them
 *
 * To add a format in JSON: write a file with its keys, what it makes of an object that ends, and its
 * row for readers[] (trace.c); span_zipkin.c is the shortest.
 */
#ifndef USK_SPAN_PARTS_H
#define USK_SPAN_PARTS_H

#include "read/read.h"

/* What a value says. */
enum span_field {
	FIELD_NONE,
	FIELD_TRACE,
	FIELD_ID,
	FIELD_PARENT,
	FIELD_NAME,
	FIELD_KIND,
	FIELD_START_NS,
	FIELD_END_NS,
	FIELD_START_US,
	FIELD_DURATION_US,
	FIELD_STATUS,
	FIELD_PROCESS, /* its number in the trace */
	FIELD_KEY,
	FIELD_VALUE,
	FIELD_LINK_TRACE,
	FIELD_LINK_ID,
	FIELD_LINK_TYPE,
	FIELD_WARNING,
	FIELD_SERVICE,
	FIELD_ADDRESS,
	FIELD_EVENT_NS,
	FIELD_EVENT_US,
	FIELDS,
};

/* An object, or each of an array of them; what is none of a format's is passed over. */
enum { OBJECT_NONE, OBJECT_ROOT };

struct span_key {
	uint8_t in; /* the object that has it */
	const char
		*name;	/* NULL: any, and if it says something, its name does; behind all others */
	uint8_t object; /* what its value is, */
	uint8_t field;	/* or says; of both, each text of an array says it and ends the object */
};

/* Whose spans: what its attributes say. */
enum span_attribute {
	ATTRIBUTE_SERVICE,
	ATTRIBUTE_INSTANCE,
	ATTRIBUTE_NODE,
	ATTRIBUTE_HOST_NAME,
	ATTRIBUTE_HOST_ID,
	ATTRIBUTE_POD,
	ATTRIBUTE_CONTAINER,
	ATTRIBUTE_PID,
	ATTRIBUTE_ADDRESS,
	ATTRIBUTES,
};

struct span_text {
	char *text;
	size_t n, cap;
	uint64_t number;
	bool any, is_number;
};

struct span_reader;
struct span_format {
	bool lines;   /* behind what is damaged the next line is sound again */
	uint8_t root; /* the object that the file's arrays hold, or is its only one */
	const struct span_key *key;
	size_t n_keys;
	void (*begin)(struct span_reader *r, uint8_t object);
	void (*end)(struct span_reader *r, uint8_t object);
	/* What else is looked at if places are wanted: keys; which object is a span, and which its
	 * attributes are, in a list or together. */
	const struct span_key *place;
	size_t n_places;
	uint8_t span, attributes;
	bool listed;
};

/* What begins of a text is enough. */
enum { USK_SPAN_LONGEST = 1024 };

/* ---- inside of span_parts.c and what reads an encoding ---- */

struct waiting {
	struct usk_span span;
	uint64_t process; /* its number's hash; 0: whose comes next */
	uint64_t place;	  /* the number of its first */
	size_t n_places;
};

struct span_reader {
	struct usk_trace *t;
	const struct span_format *format;
	struct span_text said[FIELDS];
	struct span_text attribute[ATTRIBUTES];
	uint64_t resource; /* a hash of all that was said of the process */
	struct usk_span span;
	bool told;     /* all that there is was said of the process */
	bool numbered; /* its numbers are: */
	uint32_t clock, process;
	struct known { /* processes of the trace */
		uint64_t number;
		uint32_t clock, process;
	} * known;
	size_t n_known, cap_known;
	struct waiting
		*waiting; /* [settled..n) wait for their process, [at..settled) to be handed out */
	size_t n, at, settled, cap;
	size_t of_span; /* where those begin that the span being made will have, links and all */
	uint64_t value_at;
	uint64_t n_bad, bad_at;
	char *bad;
	const char *spoilt; /* why the span being made cannot be used; NULL: it can */
	bool ended;
	struct usk_place *place; /* of spans that wait, and of the one being made */
	size_t n_places, cap_places;
	uint64_t places_gone; /* so many were before them */
	uint64_t of_place;    /* the number of the first one of the span being made */
};

/* ---- what a format calls ---- */

/** Begin a span, a process; what was said of one before is gone. */
void usk_span_begin(struct span_reader *r);
void usk_span_begin_process(struct span_reader *r);
/** What was said last; n is 0 if nothing was. */
struct usk_csv_field usk_span_said(const struct span_reader *r, enum span_field f);
void usk_span_say(struct span_reader *r, enum span_field f, struct usk_csv_field what);
/** It is a number already: of a time, or the last 64 bits of an id. */
void usk_span_say_number(struct span_reader *r, enum span_field f, uint64_t number);
/** Forget it. */
void usk_span_forget(struct span_reader *r, enum span_field f);
/** The key and value said last are one of the process. */
void usk_span_attribute(struct span_reader *r);
void usk_span_set_attribute(struct span_reader *r, enum span_attribute a,
			    struct usk_csv_field value);
/** The key said last is this one. */
bool usk_span_key_is(const struct span_reader *r, const char *key);
/** The span being made has these flags, too. */
void usk_span_flag(struct span_reader *r, uint8_t flags);
/** The link said last: the span's parent, if it has none yet; or one more, which was there before
 * the span's end. */
void usk_span_parent(struct span_reader *r);
void usk_span_link(struct span_reader *r);
/** The span being made will be left out; why: static. */
void usk_span_spoil(struct span_reader *r, const char *why);
/** What is known of the span being made is forgotten, its links as well. */
void usk_span_drop(struct span_reader *r);
/** The span is whole: it waits for its process, whose number in its trace was said or not. */
void usk_span_end(struct span_reader *r);
/** What was said of the process is all: spans that wait, and come, are its; or the one being made
 * is; or those of the trace that name this number. */
void usk_span_is_of(struct span_reader *r);
void usk_span_this_is_of(struct span_reader *r);
void usk_span_are_of(struct span_reader *r, struct usk_csv_field number);
/** The trace ends: what waits is of the processes that were numbered in it. */
void usk_span_flush(struct span_reader *r);

/* ---- what reads an encoding calls ---- */

/** Begin, or begin again, with r the first member of what is allocated. */
void usk_span_start(struct span_reader *r, struct usk_trace *t, const struct span_format *f);
void usk_span_stop(struct span_reader *r);
/** Hand out spans; feed() reads some bytes more, and what they hold comes to wait. */
enum usk_status usk_span_read(struct usk_trace *t,
			      enum usk_status (*feed)(struct usk_trace *t, struct usk_err *err),
			      struct usk_span *out, size_t cap, size_t *n, struct usk_err *err);
/** What waits will never be told whose it is: it is left out. */
void usk_span_orphans(struct span_reader *r);
/** A stamp of the span being made stands there, and is this. */
void usk_span_stands(struct span_reader *r, enum span_field f, uint64_t from, uint64_t to,
		     struct usk_csv_field what);
/** The same of one in ns that is a number already. */
void usk_span_stands_number(struct span_reader *r, enum span_field f, uint64_t from, uint64_t to,
			    uint64_t number);
/** Something else of it does. */
void usk_span_place(struct span_reader *r, struct usk_place p);
/** All bytes were read. cut: a clause on what they broke off within; NULL: nothing. */
void usk_span_finish(struct span_reader *r, const char *cut);

#endif
