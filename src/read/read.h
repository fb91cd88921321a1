/* SPDX-License-Identifier: MIT */
/*
 * read.h - inside of the reading stage: the shape of a reader and of an opened trace
 *
 * To add a format: write a file with sniff, start and records (or messages) and its row
 * usk_reader_NAME, and add both to meson.build, which makes readers.h. Nothing else knows of it.
 */
#ifndef USK_READ_H
#define USK_READ_H

#include "base/index.h"
#include "base/ng.h"
#include "base/table.h"
#include "read/readers.h" /* READERS: READER(pcapng) READER(pcap) ... */
#include "read/trace.h"

/* How spans, and events of profiles, are written again: what is said of each as attributes. */
struct usk_span_form {
	const char *noun; /* what it has: "span" */
	bool us;	  /* its stamps are in us, and it has durations */
	bool event;	  /* it is a profile: usk_trace.event has how it says them */
	/* Of JSON; NULL: it is protobuf. */
	const char *open;		       /* all attributes: their key and a bracket */
	const char *before, *between, *behind; /* a name, a value */
};

struct reader {
	struct usk_reader_info info;
	/* Is this the start of such a file? n may be as small as 0. */
	bool (*sniff)(const uint8_t *data, size_t n);
	const struct usk_table_kind *table; /* instead of sniff: a table with its columns */
	bool folder;			    /* instead of sniff: it reads folders */
	const struct usk_span_form *form;   /* of spans and profiles; NULL: none */
	bool written;			    /* usk_apply() writes it, too, without a form */
	/* Read what precedes the first record; also called to start again. */
	enum usk_status (*start)(struct usk_trace *t, struct usk_err *err);
	enum usk_status (*records)(struct usk_trace *t, struct usk_record *out, size_t cap,
				   size_t *n, struct usk_err *err);
	enum usk_status (*messages)(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				    struct usk_err *err);
	enum usk_status (*events)(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
				  struct usk_err *err);
	enum usk_status (*spans)(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
				 struct usk_err *err);
	enum usk_status (*collectives)(struct usk_trace *t, struct usk_collective *out, size_t cap,
				       size_t *n, struct usk_err *err);
	void (*stop)(struct usk_trace *t); /* free what start() made in t->state; may be NULL */
	/* Bytes of all, and how many were read; NULL: as the input says. */
	void (*place)(const struct usk_trace *t, uint64_t *size, uint64_t *pos);
};

/* A block of pcapng as it lies in the file. */
struct usk_ng {
	uint64_t at;
	uint32_t type;
	bool swap;
	const uint8_t *data;
	size_t size;
	size_t section;			 /* number of its section's first interface */
	const struct usk_record *packet; /* of an enhanced or obsolete packet block */
};

/* Where in the file something of a span stands, for who writes another in its place or beside it. */
enum usk_place_kind {
	USK_PLACE_START, /* a stamp: from behind its key to behind its value */
	USK_PLACE_END,
	USK_PLACE_DURATION,
	USK_PLACE_EVENT,
	USK_PLACE_ATTRIBUTES, /* behind the last attribute, or where the first would stand */
	USK_PLACE_NULL,	      /* instead of attributes: as a stamp */
	USK_PLACE_TAKEN,      /* their key has another value: none can be added */
	USK_PLACE_RECORDED,   /* among them are recorded stamps: this span was corrected before */
	USK_PLACE_LAST,	      /* behind all that the span has */
	USK_PLACE_LENGTH, /* of a message that the span stands in, or at last of its own: its length
				 as a varint; all come before other places, outer ones first */
	USK_PLACE_LENGTH_32, /* the same in 4 bytes, the highest first */
};

/* The attribute that says so. */
#define USK_SPAN_RECORDED "unskew.start.recorded_ns"
/* The same among the arguments of a profile's event: its ts, as it stood there. */
#define USK_EVENT_RECORDED "unskew.ts.recorded"

struct usk_place {
	uint64_t from, to;
	int64_t ns; /* of an event; USK_NONE: no time. 0: it has none. Of a length: its 64 bits */
	uint8_t kind;
	bool filled; /* attributes: there are some */
};

struct usk_trace {
	struct usk_input in;
	const struct reader *reader;
	enum usk_trace_class class_;
	struct usk_extent extent;
	char *path, *name;
	const char *kind; /* static; NULL: as the reader is called */
	struct usk_iface *iface;
	size_t n_ifaces, cap_ifaces;
	char *damage, *remark;
	uint64_t lost_bytes, lost_at, lost_end, lost_places; /* within it, from where to where */
	bool done;	 /* nothing more will come: the end, or damage */
	size_t used;	 /* bytes at the front of the window that were handed out */
	uint64_t handed; /* records or messages so far */
	void *state;	 /* the reader's own */
	/* Of pcapng: takes each block that is not lost, in file order; from a rewind on. */
	enum usk_status (*take_block)(void *ctx, const struct usk_ng *b);
	void *block_ctx;
	/* Of spans in JSON and protobuf: takes each with its places, in file order; from a rewind on. */
	enum usk_status (*take_span)(void *ctx, const struct usk_span *s,
				     const struct usk_place *place, size_t n, struct usk_err *err);
	void *span_ctx;
	/* Of profiles, whose events go the same way: of the one in hand. */
	struct usk_event_text {
		struct usk_csv_field ts, dur; /* as they stand there; n 0: it has none */
		int64_t early_ns[2],
			late_ns[2]; /* start and end may be so much too late, too early */
	} event;
	int64_t base_ns; /* what its stamps count from */
	struct usk_read_options opt;
	/* Tables: clocks named so far, and their indices + 1 by name. */
	struct named_clock {
		char *name;
		int64_t hz_e6;	       /* its integer stamps are ticks, so many 10^-6 Hz; 0: ns */
		int64_t resolution_ns; /* that its stamps are said to have besides; 0: none */
	} * clock;
	size_t n_clocks, cap_clocks;
	struct usk_index numbers;
	struct usk_texts process, operation; /* of spans */
};

/** The number of the clock of this name, given to it if it is new. */
uint32_t usk_trace_clock(struct usk_trace *t, struct usk_csv_field name);
/** The number of what a span did; the first ones are told apart, the others are all one. */
uint32_t usk_trace_operation(struct usk_trace *t, struct usk_csv_field name);

/** The number of a member of collectives, by its name and clock. */
uint32_t usk_trace_rank(struct usk_trace *t, uint32_t clock, struct usk_csv_field name);

/* A number of us as whole ns, rounded down; by so much it may be off in either direction, and it may
 * be so much more. */
struct usk_us {
	int64_t ns, off_ns, more_ns;
};

/** false: it is none, or over USK_TIME_MAX. */
bool usk_us_read(struct usk_csv_field f, struct usk_us *out);

struct usk_iface *usk_trace_add_iface(struct usk_trace *t);
void usk_trace_forget_ifaces(struct usk_trace *t);

/** Remember one sentence on what was lost and end the trace here. */
void usk_trace_damaged(struct usk_trace *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Remember one sentence, behind the path, on what was read and is not used. */
void usk_trace_remarked(struct usk_trace *t, const char *text);
/** A trace that a library of another project read is at its end; with what it said: NULL is nothing. */
void usk_trace_finished(struct usk_trace *t, const char *damage, const char *remark);

/** Bytes from `at` on hold nothing that can be read; the trace goes on behind them. */
void usk_trace_lost(struct usk_trace *t, uint64_t at, uint64_t bytes);

/* The window in which the next sound record is looked for, and what may judge where it begins. */
enum { USK_SEARCH = 1 << 18, USK_SIGHT = USK_SEARCH / 2 };

/**
 * To where it is looked from pos on: not as far as the window happens to reach, which differs from
 * file to memory. More than so many bytes are there from pos on, or all up to the end of the file;
 * then t->in.have is returned, else less.
 */
static inline size_t usk_trace_sight(const struct usk_trace *t, size_t pos, size_t bytes)
{
	return t->in.have - pos > bytes ? pos + bytes : t->in.have;
}

/**
 * From the front of the window, where no record is, to the next one: what stands between is lost.
 * *found false: there is none up to the end, and the window is where it was if nothing had to move.
 * header: bytes of a record without which nothing can be said.
 *
 * begins  do sound records begin at pos? *unsure: so many bytes of them are lost all the same
 * step    bytes of the record at pos; 0: none is there. *fresh: it was not read before. Only what
 *         is passed has to be whole
 * end     of what they see
 */
enum usk_status
usk_trace_resume(struct usk_trace *t, size_t header,
		 bool (*begins)(const struct usk_trace *t, size_t pos, size_t end, size_t *unsure),
		 size_t (*step)(const struct usk_trace *t, size_t pos, size_t end, bool *fresh),
		 bool *found, struct usk_err *err);

/** A trace of what was opened already, which may be a pipe; with a window of its own. */
enum usk_status usk_trace_of(const struct usk_input *in, const char *path, struct usk_trace **out,
			     struct usk_err *err);

/* A record further from both its neighbours, which are not from each other, is damaged. */
#define USK_FAR_NS (INT64_C(86400) * 1000000000)

/** No further than that from each other; never, if there is no other (USK_NONE). */
static inline bool usk_near(int64_t a_ns, int64_t b_ns)
{
	return (uint64_t)a_ns - (uint64_t)b_ns + USK_FAR_NS <= 2 * (uint64_t)USK_FAR_NS;
}

/*
 * The last records that were handed out. Where blocks of a disk were doubled that hold whole
 * records, lengths lead on as ever, but the same records come again.
 */
struct usk_recent {
	struct {
		int64_t time_ns;
		uint64_t what;
	} seen[256]; /* 4 KiB of the shortest records */
	uint64_t n;
	bool again; /* the last one was among them */
};

/** Its lengths and interface, and bytes that differ from one packet to the next: TCP's numbers,
 * others' payload; and from one sighting to the next, as a bridge's and its port's have one stamp:
 * interface and direction in cooked headers.
 */
static inline uint64_t usk_recent_what(const struct usk_record *r)
{
	uint64_t what = r->captured >= 46 ? usk_be64(r->data + 38) : 0;
	uint64_t where = r->captured >= 46 ? usk_be64(r->data) + 3 * usk_be64(r->data + 4) : 0;
	return usk_fold(what + where, (uint64_t)r->captured << 32 | r->length) + r->iface;
}

static inline void usk_recent_note(struct usk_recent *x, const struct usk_record *r)
{
	x->seen[x->n % COUNT(x->seen)].time_ns = r->time_ns;
	x->seen[x->n++ % COUNT(x->seen)].what = usk_recent_what(r);
	x->again = false;
}

/**
 * Of a record that is stamped no later than high_ns, the highest before it: was it handed out
 * already? Or is it where a part of the file begins that stands in it twice, of that one's bytes
 * and of those before it? Then the record behind it was: next, if r falls behind last_ns; NULL: it
 * is not there.
 */
bool usk_recent_again(struct usk_recent *x, const struct usk_record *r,
		      const struct usk_record *next, int64_t last_ns, int64_t high_ns);

/** A stamp beyond USK_TIME_MAX is an error of the whole run, not damage. */
enum usk_status usk_trace_stamp_range(const struct usk_trace *t, uint64_t at, struct usk_err *err);

#define READER(name) extern const struct reader usk_reader_##name;
READERS
#undef READER

/** What reads folders; NULL: it was not built in. */
const struct reader *usk_reader_of_folders(void);
/** The one that reads what begins so; NULL if none does. */
const struct reader *usk_reader_of(const uint8_t *data, size_t n);
bool usk_sniff_trace(const uint8_t *data, size_t n);
/** Does this text stand anywhere in d[n]? */
bool usk_has_text(const uint8_t *d, size_t n, const char *text);
/** Is this the anchor file of an OTF2 trace? Its other files begin otherwise. */
bool usk_is_otf2(const uint8_t *data, size_t n);
bool usk_is_tracecmd(const uint8_t *data, size_t n);
/** Are these spans of Zipkin's API v1? */
bool usk_zipkin_v1_sniff(const uint8_t *data, size_t n);
struct usk_pcap_kind {
	uint32_t magic, unit_ns; /* of its stamps */
	uint32_t header;	 /* bytes of a record's */
};
/** By the first four bytes of a classic capture, which tell its byte order, too; or NULL. */
const struct usk_pcap_kind *usk_pcap_kind(const uint8_t *data, bool *swap);

/** How an interface of pcapng counts time. */
const struct usk_tick *usk_pcapng_tick(const struct usk_trace *t, size_t iface);

/** Bytes of link header and tags before the IP packet; UINT32_MAX if it holds none. */
uint32_t usk_packet_link_bytes(const struct usk_record *r, uint16_t link_type);
/** The same as usk_packet_decode(), and what of a UDP or TCP payload was captured, *n bytes in r;
 * NULL: it holds none. */
const uint8_t *usk_packet_payload(const struct usk_record *r, uint16_t link_type,
				  struct usk_packet *out, size_t *n);

#endif
