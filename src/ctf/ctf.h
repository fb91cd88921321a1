/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - inside of the reader of CTF traces
 *
 *     find.c      a folder -> the traces in it
 *     child.c     the same in a process that may die
 *     metadata.c  its metadata as text
 *     mend.c      what is whole of traces that are damaged
 *     source.c    the plugin of libbabeltrace2 that reads a trace
 *     graph.c     traces -> events of all streams, merged by time (libbabeltrace2)
 *     field.c     fields of events -> numbers, bytes, text
 *     net.c       network events of the kernel -> packets
 *     rule.c      rules that name events, and those of known tracers
 *     key.c       events that rules name -> sides of messages
 *     all.c       all events by name, for timelines
 *     reader.c    the reader: packets or sides of messages, spooled so that they are decoded once
 *     filter.h    traces on the common clock, in a pipeline of babeltrace2 or in another folder
 */
#ifndef USK_CTF_H
#define USK_CTF_H

#include "base/index.h"
#include "read/read.h"
#include "ctf/rule.h"
#include "read/trace.h"

#include <babeltrace2/babeltrace.h>

#include <stddef.h>

/* ---- find.c ---- */

/* Traces of one machine. */
struct ctf_traces {
	char **folder; /* which have a file "metadata", sorted */
	size_t n;
	bool only; /* nothing else, but empty folders, is at the path */
	/* Of those that cannot be read as they are, what can: in a temporary folder. */
	char *root, **mended; /* NULL: folder */
	char *said;	      /* what was left out, a sentence */
};

/** At path or below. USK_EIO, USK_EINPUT: none. Either is to be freed. */
enum usk_status usk_ctf_find(const char *path, struct ctf_traces *out, struct usk_err *err);
/** Bytes of all streams of these. */
uint64_t usk_ctf_size(char *const *folder, size_t n);

/* ---- metadata.c ---- */

/** Of the trace in this folder, for the caller to free; text may be NULL, to look only.
 * USK_EINPUT: packets of it are cut short or damaged. */
enum usk_status usk_ctf_metadata(const char *folder, char **text, struct usk_err *err);

/* ---- mend.c ---- */

/**
 * Of traces that libbabeltrace2 refuses, what it takes; if it takes all, mended stays NULL.
 * USK_EINPUT: nothing can be read.
 */
enum usk_status usk_ctf_mend(struct ctf_traces *t, struct usk_err *err);
/** The temporary folders go, too. */
void usk_ctf_traces_free(struct ctf_traces *t);

/* ---- what an event is to us ---- */

enum ctf_kind {
	CTF_IGNORED,
	CTF_QUEUED,    /* a packet is handed to the device: sent */
	CTF_RECEIVED,  /* a packet comes up, with its headers */
	CTF_EARLY,     /* a packet came in; its headers come later, with the same buffer */
	CTF_INTERFACE, /* an address of the machine */
	CTF_SENT,      /* by a rule */
	CTF_GOT,       /* by a rule */
	CTF_KNOWN,     /* by a row of knowledge */
	CTF_LOST,      /* no event: the tracer discarded some here */
};

/* What of an event is kept until its turn comes. */
struct ctf_item {
	int64_t time_ns;
	uint8_t kind;	 /* enum ctf_kind */
	uint8_t rule;	 /* of CTF_SENT, CTF_GOT, CTF_KNOWN: its number */
	uint16_t n;	 /* bytes used */
	uint32_t length; /* of the packet on the wire; bytes of the message */
	uint64_t key;	 /* address of the buffer; thread */
	uint8_t bytes[216];
};

/** Of an item, the bytes that mean something. */
static inline size_t usk_ctf_item_size(const struct ctf_item *item)
{
	return offsetof(struct ctf_item, bytes) + item->n;
}

/* ---- field.c ---- */

/*
 * Where members were found: looking for names costs as much as all of decoding. Classes and the
 * characters of paths are known by their addresses, so both must live as long as this.
 */
enum { CTF_PLACES = 256 };
#define CTF_NOWHERE UINT32_MAX
struct ctf_places {
	struct ctf_place {
		const bt_field_class *class;
		const char *name;
		uint32_t n, index;
	} slot[CTF_PLACES];
};

/** The member of that path ("a.b"), through selected options of variants; NULL if none. */
const bt_field *usk_ctf_member(struct ctf_places *places, const bt_field *structure,
			       const char *path);
/** The same in the payload and the contexts of an event. */
const bt_field *usk_ctf_field(struct ctf_places *places, const bt_event *event, const char *path);
/** An integer, boolean or bit array of any kind. */
bool usk_ctf_integer(const bt_field *f, uint64_t *out);
/** The integer of that name, not a path, in what usk_ctf_member() found; 0 if there is none. */
uint64_t usk_ctf_number(struct ctf_places *places, const bt_field *structure, const char *name);
/** An integer, or an array of integers of 8, 16 or 32 bits, as n bytes in network order. */
bool usk_ctf_bytes(const bt_field *f, uint8_t *out, size_t n);
/** As text, n of up to room bytes; longer ones, and arrays of much, as their hash. false: it has
 * none, as a structure. */
bool usk_ctf_text(const bt_field *f, uint8_t *out, size_t room, size_t *n);

/* ---- net.c ---- */

enum ctf_kind usk_ctf_net_kind(const bt_event_class *class);
/** False: nothing in it is of use (no TCP, no headers, the loopback device). */
bool usk_ctf_net_take(struct ctf_places *places, const bt_event *event, struct ctf_item *item);

/* ---- graph.c ---- */

struct ctf_graph;

struct ctf_visitor {
	void *ctx;
	/* What events of this class are. Asked once for each, in the child. */
	struct ctf_role {
		uint8_t kind, rule;
	} (*classify)(void *ctx, const bt_event_class *class);
	/* Keep what is needed of an event in item, of which time, kind and rule stand. False: leave
	 * it out. */
	bool (*take)(void *ctx, const bt_event *event, struct ctf_item *item);
};

struct ctf_totals {
	uint64_t events, discarded;
	int64_t first_ns, last_ns; /* of all events */
	int64_t resolution_ns;	   /* 0 for 1 ns and finer */
	uint32_t kinds;		   /* a bit for each enum ctf_kind that a class of events is */
	char hostname[128];	   /* empty if no trace says */
	char damage[320];	   /* what was lost, a sentence; empty if nothing */
};

/*
 * All this is for processes of their own, which may die: what it makes goes with them.
 */

/* ---- source.c ---- */

/** The plugin ctf of libbabeltrace2; NULL: it is not there. */
const bt_plugin *usk_ctf_plugin(void);
/** Its source of a trace, in the graph; NULL: usk_ctf_cause() knows why. */
const bt_component_source *usk_ctf_source(bt_graph *graph, const char *name, const char *folder);

/* ---- graph.c ---- */

/** What libbabeltrace2 has to complain of, in one line, for the caller to free. */
char *usk_ctf_cause(void);

/**
 * Open the traces in folder[n], which must be of one machine. Every stream begins, so that all
 * event classes have been classified when it returns.
 */
enum usk_status usk_ctf_open(char *const *folder, size_t n, const struct ctf_visitor *visitor,
			     struct ctf_graph **out, struct usk_err *err);
/** Does libbabeltrace2 take this trace? It may abort. */
bool usk_ctf_opens(const char *folder);
/** The next items in the order of time: *n of them, 0 at the end. */
enum usk_status usk_ctf_next(struct ctf_graph *g, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err);
const struct ctf_totals *usk_ctf_totals(const struct ctf_graph *g);
/** For who lives on, as tests do. */
void usk_ctf_close(struct ctf_graph *g);

/* ---- child.c: the same, but that the library may die ---- */

struct ctf_child;

/** Where the traces cannot be opened, what is whole of them; they must live as long as this. */
enum usk_status usk_ctf_start(struct ctf_traces *t, const struct ctf_visitor *visitor,
			      struct ctf_child **out, struct usk_err *err);
enum usk_status usk_ctf_read(struct ctf_child *c, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err);
/** So far. */
const struct ctf_totals *usk_ctf_read_totals(const struct ctf_child *c);
void usk_ctf_stop(struct ctf_child *c);
/** Would libbabeltrace2 take this trace? */
bool usk_ctf_is_readable(const char *folder);

/* ---- key.c ---- */

struct ctf_keys;

/** Rules of the options, or those of known tracers. */
enum usk_status usk_ctf_keys_new(const struct usk_read_options *opt, struct ctf_keys **out,
				 struct usk_err *err);
void usk_ctf_keys_free(struct ctf_keys *k);
/** Were they given by the user? */
bool usk_ctf_keys_stated(const struct ctf_keys *k);
struct ctf_role usk_ctf_keys_classify(struct ctf_keys *k, const bt_event_class *class);
bool usk_ctf_keys_take(struct ctf_keys *k, struct ctf_places *places, const bt_event *event,
		       struct ctf_item *item);
/** An item whose turn has come: is it a side of a message? */
bool usk_ctf_keys_settle(struct ctf_keys *k, const struct ctf_item *item, struct usk_event *out);

/* ---- all.c: for looking at, not for matching ---- */

/* An event of whatever kind; name is of plain characters, borrowed for the call. */
struct usk_ctf_any {
	int64_t time_ns;
	int64_t cpu; /* -1: the trace does not say */
	const char *name;
	/* Of the kernel's scheduler; else USK_CTF_OTHER. Names end with 0. */
	enum usk_ctf_what { USK_CTF_OTHER, USK_CTF_SWITCH, USK_CTF_WAKE, USK_CTF_GAP } what;
	int64_t from, to; /* threads: of a switch both, of a waking to */
	uint64_t from_state;
	const char *from_name, *to_name;
};

/**
 * All events of the traces of one machine at path, in the order of time; take's own failure ends
 * it. *damage is a sentence on what was lost, for the caller to free, or NULL.
 */
enum usk_status usk_ctf_all(const char *path,
			    enum usk_status (*take)(void *ctx, const struct usk_ctf_any *event),
			    void *ctx, char **damage, struct usk_err *err);

#endif
