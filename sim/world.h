/* SPDX-License-Identifier: MIT */
/*
 * world.h - what the parts of the simulator share: hosts, paths, flows and the queue of events
 *
 *     tcp.c, datagram.c --send--> net.c --events--> run.c --arrive--> net.c --deliver--> tcp.c, ...
 *
 * net.c is where captures and the truth are told of each packet.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "capture.h"

/* ---- queue.c: events in order of true time, first in first out among equals -- */

enum event_kind {
	EVENT_ARRIVE,	 /* a packet; index into the pool */
	EVENT_SEND,	 /* a packet that waited for its moment; index into the pool */
	EVENT_AGAIN,	 /* a segment that TCP sends once more for no reason; index into the pool */
	EVENT_RESPOND,	 /* a TCP response of len bytes; index into the pool */
	EVENT_REQUEST,	 /* a flow's next request */
	EVENT_OPEN,	 /* a flow's next connection */
	EVENT_RTO,	 /* 2 x flow + side */
	EVENT_DELACK,	 /* 2 x flow + side */
	EVENT_GRO,	 /* 2 x flow + side */
	EVENT_CHATTER,	 /* host */
	EVENT_BROADCAST, /* host */
};

struct event {
	int64_t at_ns;
	uint32_t order;
	uint32_t what; /* kind << 28 | index */
};

struct queue {
	struct event *heap;
	size_t n, cap;
	uint32_t order;
};

void queue_push(struct queue *q, int64_t at_ns, enum event_kind kind, uint32_t index);
struct event queue_pop(struct queue *q); /* of a queue that is not empty */

/* Packets in flight: slots of a pool, taken and given back without allocation. */
struct pool {
	struct sim_packet *slot;
	uint32_t *vacant;
	size_t n, cap, n_vacant, cap_vacant;
};

/* ---- ledger.c: the true message table ------------------------------------------ */

struct ledger;

/** hold: rows wait until nothing can make them ambiguous any more; else they are final at once. */
enum usk_status ledger_open(struct ledger **out, const char *dir, bool force, bool hold,
			    struct usk_err *err);
/** visible: bytes of a datagram that both captures show. */
void ledger_sent(struct ledger *t, const struct sim_packet *p, int64_t now_ns, uint32_t visible);
/** Both sides recorded it: a row. */
void ledger_received(struct ledger *t, const struct sim_packet *p, int64_t now_ns,
		     int64_t received_ns, uint32_t visible);
enum usk_status ledger_commit(struct ledger *t, struct sim_result *result, struct usk_err *err);
void ledger_free(struct ledger *t);

/* One line of messages.csv. */
void ledger_row(struct usk_output *out, uint32_t from, uint32_t to, int64_t sent_ns,
		int64_t received_ns, uint32_t bytes, uint64_t id, bool unambiguous);
void ledger_header(struct usk_output *out);

/* ---- the world ---------------------------------------------------------------- */

struct host {
	struct sim_clock clock;
	struct sim_capture capture;
	int64_t from_ns;    /* true time from which it captures */
	int64_t tx_free_ns; /* its card takes no packet before */
	uint16_t ip_id;
};

struct path {
	uint32_t from, to;
	int64_t dmin_ns;
	int64_t last_ns; /* arrival of the last packet that was not reordered */
};

/* Numbers of the paths that leave host h: path[first[h]] up to first[h + 1]. */
struct outgoing {
	uint32_t *first, *path;
};

struct span {
	uint64_t start, end;
};

#define OOO_MAX 32

/* One end of a TCP connection. Offsets count from its own SYN. */
struct side {
	uint32_t isn, ts_base;
	uint64_t una, nxt, end;	  /* oldest unacknowledged, next to send, end of what to send */
	uint64_t rcv;		  /* next wanted of the other side's stream */
	struct span ooo[OOO_MAX]; /* received beyond rcv, sorted, disjoint */
	unsigned n_ooo;
	uint32_t ts_recent;
	uint32_t cwnd, dupacks;
	uint64_t recover;
	bool recovering;
	bool fin, fin_sent;
	uint16_t ip_id;
	int64_t rto_ns;
	struct timer {
		int64_t at_ns; /* 0: not armed */
		bool queued;
	} rto, delack;
	unsigned unacked; /* segments since the last acknowledgement */
};

/* Segments that the receiver's stack is merging into one. */
struct merge {
	bool open, recorded, hardware;
	struct sim_packet packet;
	uint32_t pieces, piece;
	int64_t stamp_ns, close_at_ns;
	uint64_t ticket;
};

struct request {
	uint64_t end;
	uint32_t response;
};

enum { CLIENT, SERVER };

struct flow {
	uint8_t proto;
	bool lasting; /* never closes */
	bool ending;  /* its last request was made */
	bool idle;    /* between two connections */
	uint16_t client, server;
	uint32_t path[2]; /* from client, from server */
	uint16_t client_port, nat_port, server_port;
	uint32_t generation;
	double rate;
	uint32_t left;	   /* requests until it closes */
	uint32_t thinking; /* answers that the server is about to give */
	uint16_t seq;	   /* echo */
	struct side side[2];
	struct merge merge[2];	 /* at the client, at the server */
	struct request *request; /* a ring */
	uint64_t first, last;
	size_t cap;
};

struct world {
	const struct sim_options *o;
	struct usk_rng traffic, network, recorder;
	struct queue queue;
	struct pool pool;
	struct host *host;
	struct path *path;
	size_t n_paths;
	struct flow *flow;
	size_t n_flows;
	struct outgoing outgoing;
	struct ledger *ledger;	       /* NULL: a rehearsal that only counts */
	struct usk_output *broadcasts; /* NULL: none, or a rehearsal */
	uint64_t records;
	uint64_t next_id;
	int64_t now_ns, end_ns;
	int64_t way_ns;	       /* the least that a full segment takes */
	uint64_t events;       /* that happened, for progress */
	uint32_t mss, largest; /* payload of a wire segment, of what the stack hands down */
};

/* An event is about to happen. */
static inline void world_progress(struct world *w, int64_t at_ns)
{
	const struct sim_options *o = w->o;
	if (o->progress && !(++w->events & 4095)) {
		o->progress(o->progress_ctx, (double)(at_ns - o->start_ns) / (double)o->duration_ns,
			    "simulating");
	}
}

/* queue.c: an event that a packet belongs to; whoever it happens to takes it out again, as what
 * happens next may move the pool */
void world_later(struct world *w, int64_t at_ns, enum event_kind kind, const struct sim_packet *p);
struct sim_packet world_take(struct world *w, uint32_t slot);

/* topology.c */
/** Ordered pairs of the topology: pair i is path 2i forth and 2i + 1 back. */
size_t sim_paths(const struct sim_options *o, struct path **out);
void sim_outgoing(struct outgoing *out, const struct path *path, size_t n_paths, uint32_t hosts,
		  bool one_way);
void sim_outgoing_free(struct outgoing *out);

/* delay.c */
int64_t net_delay(const struct sim_options *o, struct usk_rng *r, const struct path *path,
		  uint32_t bytes);
/* Of a broadcast: what all its receivers see, and what is each one's own. */
int64_t net_delay_shared(const struct sim_options *o, struct usk_rng *r, uint32_t from,
			 uint32_t bytes);
int64_t net_delay_own(const struct sim_options *o, struct usk_rng *r, const struct path *path);

/* net.c */
void net_send(struct world *w, struct sim_packet *p);
void net_submit(struct world *w, const struct sim_packet *p); /* after the stack's own time */
void net_arrive(struct world *w, const struct sim_packet *p);
void net_merged(struct world *w, uint32_t flow_and_side);
void net_chatter(struct world *w, uint32_t host);
void net_start_chatter(struct world *w);
void net_broadcast(struct world *w, uint32_t host);

/* tcp.c */
void tcp_open(struct world *w, uint32_t flow);
void tcp_request(struct world *w, uint32_t flow);
void tcp_respond(struct world *w, const struct sim_packet *p);
void tcp_again(struct world *w, const struct sim_packet *p);
void tcp_input(struct world *w, const struct sim_packet *p);
void tcp_rto(struct world *w, uint32_t flow_and_side);
void tcp_delack(struct world *w, uint32_t flow_and_side);

/* datagram.c */
/* A packet of a flow's side with all that its flow says of it. */
struct sim_packet flow_packet(const struct world *w, uint32_t flow, int me);
void datagram_fill(struct world *w, struct sim_packet *p); /* length and content */
void datagram_request(struct world *w, uint32_t flow);
void datagram_input(struct world *w, const struct sim_packet *p);

/* size of a message: log-uniform from 16 bytes */
uint32_t message_bytes(struct world *w);
int64_t pause_ns(struct world *w, double mean_ns); /* exponential, at least 1 ns */
/* To the next message: a pause, or always the same with --period. */
int64_t spacing_ns(struct world *w, double mean_ns);
/* To the first one: with --period anywhere within it. */
int64_t first_ns(struct world *w, double mean_ns);
int64_t answer_ns(struct world *w, double usual_ns); /* a pause until a message is answered */

/* table.c */
/* collectives.c */
enum usk_status collectives_run(const struct sim_options *o, const char *dir, bool force,
				struct sim_result *result, struct usk_err *err);

enum usk_status table_run(const struct sim_options *o, const char *dir, bool force,
			  struct sim_result *result, struct usk_err *err);

/* run.c: a file of the folder, broadcasts.csv */
enum usk_status world_file(struct usk_output *out, const char *dir, const char *name, bool force,
			   struct usk_err *err);
enum usk_status broadcasts_open(struct usk_output *out, const char *dir, bool force,
				struct usk_err *err);
void broadcasts_row(struct usk_output *out, const struct sim_message *m);

#endif
