/* SPDX-License-Identifier: MIT */
/*
 * trace.h - an opened trace from inside: records, packets, messages, sides of messages
 */
#ifndef USK_TRACE_H
#define USK_TRACE_H

#include "base/base.h"

/* Who sent a packet, as the link layer tells it. */
enum usk_side { USK_SIDE_UNKNOWN, USK_SIDE_SENT, USK_SIDE_RECEIVED };

struct usk_iface {
	char *name; /* NULL if the format has none */
	uint16_t link_type;
	uint32_t snap_length;
	int64_t resolution_ns; /* declared; 0 for 1 ns or finer */
	struct usk_addr *addr; /* addresses the file states for it */
	size_t n_addrs;
};

/* A packet as the file holds it. data points into the reader's buffer until the next call. */
struct usk_record {
	int64_t time_ns;
	uint64_t at; /* byte offset of the record in the file */
	const uint8_t *data;
	uint32_t captured, length;
	uint32_t iface;
	enum usk_side side;
};

/* A packet as the matcher sees it: what survives the way between two vantage points. */
struct usk_packet {
	int64_t time_ns;
	uint64_t key; /* hash of what routers and NAT leave alone; 0 = no use for matching */
	struct usk_addr src, dst;
	uint16_t sport, dport;		 /* in host order, 0 where the protocol has none */
	uint8_t proto;			 /* IP protocol */
	uint8_t flags;			 /* TCP flags */
	uint8_t ttl;			 /* or hop limit */
	uint8_t side;			 /* enum usk_side */
	uint32_t seq, ack, tsval, tsecr; /* TCP */
	uint32_t bytes; /* payload on the wire; from the IP header, never from the capture */
	uint16_t ip_id, window;
	uint8_t has; /* USK_HAS_...: what the packet carries and the capture kept */
};

enum {
	USK_HAS_IP_ID = 1,
	USK_HAS_TIMESTAMPS = 2,
	USK_HAS_WINDOW = 4,
	USK_HAS_SHARED_TIMESTAMPS = 8, /* within the depth: both captures of it have them */
	USK_HAS_GROUP = 16,	       /* sent to all, or to many, by its link layer */
};

/* What makes two events sides of one message: equal ids. */
struct usk_event_id {
	uint64_t word[2];
};

/* One side of a message, as its machine recorded it. */
struct usk_event {
	int64_t time_ns;
	struct usk_event_id id;
	uint32_t clock; /* index into usk_trace_clock_name() */
	uint32_t bytes; /* payload, 0 if unknown */
	enum usk_side side;
};

/** The id that text[n] is; up to 15 bytes are kept as they are, longer ones are hashed. */
struct usk_event_id usk_event_id(const void *text, size_t n);

struct usk_texts;

/* By OpenTelemetry's numbers. */
enum usk_span_kind {
	USK_SPAN_UNKNOWN,
	USK_SPAN_INTERNAL,
	USK_SPAN_SERVER,
	USK_SPAN_CLIENT,
	USK_SPAN_PRODUCER,
	USK_SPAN_CONSUMER,
};

enum {
	USK_SPAN_FAILED = 1,  /* it tells of an error: who called may have given up before */
	USK_SPAN_FOLLOWS = 2, /* its parent did not wait for it */
	USK_SPAN_LINK = 4, /* a link of it: what it names as parent was only there before its end */
	USK_SPAN_NO_KINDS = 16,	   /* nothing of its source has a kind */
	USK_SPAN_MICROSECONDS = 8, /* start and duration are whole us, rounded in any direction */
};

/* What one process did for one request, as it recorded it. */
struct usk_span {
	uint64_t trace, id, parent; /* parent 0: none */
	int64_t start_ns, end_ns;   /* end: USK_NONE if it is not known */
	uint32_t clock;		    /* index into usk_trace_clock_name() */
	uint32_t process, operation;
	uint8_t kind, flags;
};

/** The id that text[n] is: up to its last 16 hexadecimal digits, anything else as a hash; 0: none.
 */
uint64_t usk_span_id(const char *text, size_t n);
/** By how much the stamps of s may be too early beyond resolution_ns, that of its process: 1 ms if both
 * are whole ms, which of finer ones one span in a million has by chance. Proxies log so. */
int64_t usk_span_coarse(const struct usk_span *s, int64_t resolution_ns);
/** "server", "SERVER", "SPAN_KIND_SERVER", "2". */
enum usk_span_kind usk_span_kind(const char *text, size_t n);

/* What all members of one do together; the numbers of kinds are places in a table of names. */
enum usk_collective_kind {
	USK_ALLREDUCE,
	USK_ALLGATHER,
	USK_REDUCESCATTER,
	USK_ALLTOALL,
	USK_BARRIER,
	USK_BROADCAST,
	USK_SCATTER,
	USK_REDUCE,
	USK_GATHER,
	USK_MESSAGE, /* from its root to whoever else is there */
	USK_NO_COLLECTIVE,
};

/* Who waits for whom. */
enum usk_collective_shape {
	USK_FROM_ALL_TO_ALL, /* every exit is after every enter */
	USK_FROM_ROOT,	     /* every exit is after the root's enter */
	USK_TO_ROOT,	     /* the root's exit is after every enter */
};

/* One member's part of a collective, as it recorded it. */
struct usk_collective {
	struct usk_event_id id;
	int64_t enter_ns, exit_ns;
	uint32_t clock; /* index into usk_trace_clock_name() */
	uint32_t rank;	/* index into usk_trace_processes() */
	uint8_t kind;	/* enum usk_collective_kind */
	bool root;
	uint16_t slack_ns; /* it may have come so much later, and gone so much earlier */
};

/** "AllReduce", "all_reduce", "_allgather_base", "MPI_Bcast"; USK_NO_COLLECTIVE: none of them. */
enum usk_collective_kind usk_collective_kind(const char *text, size_t n);
const char *usk_collective_name(enum usk_collective_kind kind); /* static */
enum usk_collective_shape usk_collective_shape(enum usk_collective_kind kind);

enum usk_trace_class {
	USK_TRACE_CAPTURE,     /* packets of one clock: usk_trace_records() */
	USK_TRACE_TABLE,       /* messages: usk_trace_messages() */
	USK_TRACE_EVENTS,      /* sides of messages: usk_trace_sides() */
	USK_TRACE_SPANS,       /* spans: usk_trace_spans() */
	USK_TRACE_COLLECTIVES, /* parts of collectives: usk_trace_collectives() */
};

/* Everything that a trace holds, beside what is of use here. */
struct usk_extent {
	uint64_t events;
	int64_t first_ns, last_ns;
};

/** The same from memory, which is borrowed until usk_trace_close(): for tests and fuzzers. */
enum usk_status usk_trace_open_memory(const void *data, size_t size, const char *name,
				      struct usk_trace **out, struct usk_err *err);
enum usk_status usk_trace_open_memory_with(const void *data, size_t size, const char *name,
					   const struct usk_read_options *opt,
					   struct usk_trace **out, struct usk_err *err);

const char *usk_trace_kind(const struct usk_trace *t); /* name of the reader's row, static */
enum usk_trace_class usk_trace_class(const struct usk_trace *t);
const struct usk_read_options *usk_trace_options(const struct usk_trace *t); /* as opened with */
uint64_t usk_trace_size(const struct usk_trace *t);			     /* bytes */
uint64_t usk_trace_pos(const struct usk_trace *t); /* bytes read so far, for progress */

/** Records or messages read so far; at the end of one that has more than these, all events. */
uint64_t usk_trace_events(const struct usk_trace *t);

/** NULL where what is handed out is all there is, or as long as the end was not reached. */
const struct usk_extent *usk_trace_extent(const struct usk_trace *t);
/** Interfaces seen so far, borrowed until the next call that reads; classic captures have one. */
const struct usk_iface *usk_trace_ifaces(const struct usk_trace *t, size_t *n);

/** Start again at the first record. Fails if the file cannot be read any more, or has changed. */
enum usk_status usk_trace_rewind(struct usk_trace *t, struct usk_err *err);

/** The same capture once more, to be read by itself from its start. */
enum usk_status usk_trace_again(const struct usk_trace *t, struct usk_trace **out,
				struct usk_err *err);

/* What of a capture is in a joined one. */
struct usk_trace_part {
	struct usk_trace *trace;
	bool own; /* is closed with it */
	/* Is this interface in it? name may be NULL. takes NULL: all of them are. */
	bool (*takes)(void *ctx, uint32_t number, const char *name);
	void *ctx;
};

/** Another name for a capture, as if it had been opened with it. */
void usk_trace_call(struct usk_trace *t, const char *name);

/**
 * Captures that one clock stamped as one capture: the records of all in the order of their stamps,
 * those of each in the order of its file; interfaces are numbered anew. part[n] is copied; its
 * traces must not be read by others meanwhile; its own are closed on failure too. at of a record is
 * that in its file.
 */
enum usk_status usk_trace_join(const struct usk_trace_part *part, size_t n, const char *name,
			       struct usk_trace **out, struct usk_err *err);
/** How many it is of; 0: it is a file itself. */
size_t usk_trace_parts(const struct usk_trace *t);
/** Which of them has this interface of the joined capture. */
size_t usk_trace_part(const struct usk_trace *t, uint32_t iface);

/* When a part comes: those of a turn together, in the order of their stamps, behind all of the turns
 * before. The order within a turn is by unwrapped time: from record[i] on, counted from 0, the
 * part's stamps count as shift_ns[i] later. */
struct usk_trace_turn {
	size_t turn;
	const uint64_t *record;
	const int64_t *shift_ns;
	size_t n;
};
/** From the next usk_trace_rewind() on; turn[usk_trace_parts(t)] is copied. */
void usk_trace_arrange(struct usk_trace *t, const struct usk_trace_turn *turn);

/**
 * The next records of a capture, in file order, into out[cap]: *n of them, 0 at the end.
 * Their data is borrowed until the next call that reads. Input cut short is not an error: what is
 * whole is handed out, then usk_trace_damage() is a sentence that says how much was lost and where.
 * USK_EUSAGE: t is a table. USK_ERANGE: a stamp over USK_TIME_MAX. Cost: O(bytes).
 */
enum usk_status usk_trace_records(struct usk_trace *t, struct usk_record *out, size_t cap,
				  size_t *n, struct usk_err *err);

/**
 * The next messages of a table into out[cap]; from and to index usk_trace_clock_name(). Damage,
 * end and errors as above; USK_EUSAGE: t is no table of messages.
 */
enum usk_status usk_trace_messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				   struct usk_err *err);
/** The next events into out[cap], otherwise the same; USK_EUSAGE: t is of another class. */
enum usk_status usk_trace_sides(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
				struct usk_err *err);
/** The next spans into out[cap], otherwise the same; USK_EUSAGE: t is of another class. */
enum usk_status usk_trace_spans(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
				struct usk_err *err);
/** The next parts of collectives into out[cap], otherwise the same. */
enum usk_status usk_trace_collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				      size_t *n, struct usk_err *err);
/** Services, and what they were asked for, that spans have named so far; borrowed until the next
 * call that reads. Not all operations have a name of their own: the rest are the first one, "". */
const struct usk_texts *usk_trace_processes(const struct usk_trace *t);
const struct usk_texts *usk_trace_operations(const struct usk_trace *t);
size_t usk_trace_clocks(const struct usk_trace *t); /* names seen so far in a table */
const char *usk_trace_clock_name(const struct usk_trace *t, size_t i); /* borrowed, i < clocks */
/** What its stamps are rounded down to, as far as the table says; 0 for 1 ns or finer. */
int64_t usk_trace_clock_resolution(const struct usk_trace *t, size_t i);
/** State that, of messages in memory. */
void usk_trace_clock_resolve(struct usk_trace *t, size_t i, int64_t resolution_ns);

/** NULL, or one sentence on what was lost to damage, borrowed. Known once the end was reached. */
const char *usk_trace_damage(const struct usk_trace *t);
/** The same on what is whole, but says nothing of clocks, or not enough. */
const char *usk_trace_remark(const struct usk_trace *t);

/* To which depth the keys of several captures agree. */
struct usk_depth {
	uint32_t bytes;	 /* of each IP packet all of them hold so many */
	uint32_t tunnel; /* and behind the headers of their tunnels less by so many, which go for
			  * what is in no tunnel too: one capture may have it before, the other one
			  * within */
};

#define USK_DEPTH_ALL ((struct usk_depth){ UINT32_MAX, 0 })

/**
 * Narrows *depth to what a capture surely holds: its snap length less the link headers of its first
 * packets. As it was if there is no IP packet among them. Reads a little and starts again.
 */
enum usk_status usk_trace_depth(struct usk_trace *t, struct usk_depth *depth, struct usk_err *err);

/** Is the number of a link type one whose packets can be decoded? */
bool usk_link_is_known(uint16_t link_type);
/** What libpcap calls it; NULL if it knows none such, or was not built in. */
const char *usk_link_name(uint16_t link_type);
/** The device that the record was captured on, of several that one interface of the file stands
 * for; 0: its link does not tell. */
uint32_t usk_link_device(const struct usk_record *r, uint16_t link_type);
/** May usk_link_device() of records of this link be other than 0? */
bool usk_link_tells_device(uint16_t link_type);

/** The same of one record: of its own length if that is cut. */
void usk_packet_depth(const struct usk_record *r, uint16_t link_type, uint32_t snap_length,
		      struct usk_depth *depth);

/**
 * Decode one record. Returns false if it takes no part in matching (not IP, a fragment, cut
 * before its sequence number, loopback) and counts it in one of left_out's fields (may be NULL).
 * Only what lies within the depth goes into the key.
 */
bool usk_packet_decode(const struct usk_record *r, uint16_t link_type, struct usk_depth depth,
		       struct usk_packet *out, struct usk_counts *left_out);

/** Does the checksum of its IPv4 header say that the header is whole? true as well where it was
 * left to hardware, and of what has none. */
bool usk_packet_is_sound(const struct usk_record *r, uint16_t link_type);

/**
 * A hash that both captures of a packet share, for drawing one sample from both: of what needs
 * least decoding, sequence numbers or the key.
 */
uint64_t usk_packet_pick(const struct usk_packet *p);

/* The little that a sample needs of the packets it does not take. */
struct usk_glance {
	uint64_t src, dst; /* lower halves of mapped IPv4 addresses */
	uint64_t pick;
};

/**
 * A quick look at a record that is plain: TCP over IPv4 on untagged Ethernet. false: it may be
 * anything, decode it. true: usk_packet_decode() takes it, with these addresses and this pick.
 */
bool usk_packet_glance(const struct usk_record *r, uint16_t link_type, struct usk_glance *out);

/** "10.0.0.1", "fe80::1". */
void usk_addr_text(struct usk_addr a, char out[46]);
/** The reverse; false if it is neither, and *out is left as it was. */
bool usk_addr_parse(const char *text, struct usk_addr *out);

/* A row of the table of readers. */
struct usk_reader_info {
	const char *name;
	/* How lists of formats call it, "Zipkin v2", and a group of several, "spans"; NULL: it is said
	 * alone. Of tables, which have a list of their own: the columns. */
	const char *said, *group;
	enum usk_trace_class class_;
};
/** The i-th, static; NULL behind the last. */
const struct usk_reader_info *usk_reader(size_t i);
/* All, those that usk_apply() writes again, tables with their columns. */
enum usk_formats { USK_FORMATS_READ, USK_FORMATS_WRITTEN, USK_FORMATS_OF_TABLES };
/** In words, to be freed. */
char *usk_formats(enum usk_formats which);

#endif
