/* SPDX-License-Identifier: MIT */
/*
 * sim.h - clocks and networks of known truth -> captures, message tables and the truth itself
 *
 * sim_run() is the whole simulator. The clock, the frame builder and the capture writer can
 * be used alone: tools/record-two-hosts.sh distorts real captures with them.
 *
 * Sign: offsets here are local - true, "how far the clock is ahead"; unskew's own offset,
 * reference - local, has the other sign. Drift > 0 runs fast, in both.
 */
#ifndef SIM_H
#define SIM_H

#include "base/io.h"
#include "read/trace.h"

/* ---- clocks ---------------------------------------------------------------- */

/*
 * From true_ns on: reads local_ns + elapsed + floor((elapsed x rate_e12 + rest_e12) / 10^12).
 * The rest is what the piece before was past a whole ns, so that no fraction is lost.
 */
struct sim_piece {
	int64_t true_ns, local_ns;
	int64_t rate_e12; /* rate - 1 in parts per 10^12; -10^12: it stands still */
	int64_t rest_e12; /* 0 <= rest < 10^12 */
};

/* The clock was put forward by size_ns (back if < 0), or stood still for still_ns until then and is
 * behind by as much: size_ns = -still_ns. */
struct sim_jump {
	int64_t true_ns; /* the first moment after it */
	int64_t size_ns;
	int64_t still_ns; /* > 0: its host slept from true_ns - still_ns on, and sent nothing */
};

/* Pieces sorted by true_ns; the first holds before its start too, the last for ever. */
struct sim_clock {
	struct sim_piece *piece;
	size_t n;
	struct sim_jump *jump; /* sorted by true_ns */
	size_t n_jumps;
};

#define SIM_RATE_MAX INT64_C(10000000000) /* 1 % */

/** A clock that is ahead by offset_ns at true time at_ns and gains rate_e12. */
void sim_clock_init(struct sim_clock *c, int64_t at_ns, int64_t offset_ns, int64_t rate_e12);
void sim_clock_free(struct sim_clock *c);
/** What it reads at a true time: exact, rounded down; falls at jumps back only. O(1) where pieces
 * are of one length, else O(log pieces). */
int64_t sim_clock_read(const struct sim_clock *c, int64_t true_ns);
/** The last piece that begins by then, or the first one. */
const struct sim_piece *sim_clock_piece(const struct sim_clock *c, int64_t true_ns);
/** The earliest true time, from the first piece that gets there, at which it reads at least this.
 */
int64_t sim_clock_when(const struct sim_clock *c, int64_t local_ns);
/** Whether its host sleeps at this moment: the clock stands still, nothing is sent or received. */
bool sim_clock_asleep(const struct sim_clock *c, int64_t true_ns);

/** Change the rate at true_ns, not before the last piece's start; what it reads is kept, but for
 * jump_ns. */
void sim_clock_turn(struct sim_clock *c, size_t *cap, int64_t true_ns, int64_t jump_ns,
		    int64_t rate_e12);

/* How fast the offset of a clock against another changes, parts per 10^18 of the clock's own time.
 */
struct sim_slopes {
	int64_t min_e18, max_e18; /* rounded outwards */
	bool any;
};

/**
 * The slopes of reference - clock over the clock's time between two true moments, exact from the
 * pieces. Jumps are left out, and so is the time in which one of the two stands still.
 */
struct sim_slopes sim_clocks_slopes(const struct sim_clock *reference,
				    const struct sim_clock *clock, int64_t from_ns, int64_t to_ns);
/** Half their range, rounded up; the larger one of both ways to look at it. */
int64_t sim_clocks_wander_e18(const struct sim_clock *a, const struct sim_clock *b, int64_t from_ns,
			      int64_t to_ns);

/* ---- options --------------------------------------------------------------- */

enum sim_topology {
	SIM_MESH,
	SIM_CHAIN,
	SIM_STAR,
	SIM_RING,
	SIM_TREE,    /* each host but the first has one parent, at most two children */
	SIM_ISLANDS, /* several meshes that nothing connects */
	SIM_SPARSE,  /* each host has so many random neighbours; connected */
	SIM_DENSE,   /* three quarters of all pairs; connected */
};
enum sim_traffic { SIM_TCP, SIM_UDP, SIM_ICMP, SIM_MIX };
/* Collectives instead of messages: none, all of one kind, all kinds. */
enum sim_collectives { SIM_MESSAGES, SIM_ALLREDUCE, SIM_MIXED };
enum sim_format { SIM_PCAP, SIM_PCAPNG, SIM_TABLE };

/* Link types as the file formats number them. */
enum sim_link {
	SIM_NULL = 0,
	SIM_ETHERNET = 1,
	SIM_RAW = 101,
	SIM_SLL = 113,
	SIM_SLL2 = 276,
};

/* A value per host, host0 first; the last one serves all further hosts. Empty: 0. */
struct sim_list {
	const int64_t *v;
	size_t n;
};

/** The value of a host, where a list of one value spares host0. */
int64_t sim_list_at(const struct sim_list *l, uint32_t host);

/* A clock that is put forward (back if < 0), or a host that sleeps for size_ns. */
struct sim_step {
	uint32_t host;
	int64_t after_ns; /* since the start, true time */
	int64_t size_ns;
	bool sleep;
};

/* How far a clock was found to be ahead, after so much true time; two points of one moment are a
 * jump. */
struct sim_error_point {
	int64_t after_ns, ahead_ns;
};

/* A recorded clock: straight lines between the points, its mean rate after the last one. */
struct sim_series {
	uint32_t host;
	char *path;
	struct sim_error_point *point; /* the first one is the start */
	size_t n;
};

struct sim_options {
	uint64_t seed;
	uint32_t hosts;
	enum sim_topology topology;
	enum sim_traffic traffic;
	enum sim_format format;
	int64_t start_ns, duration_ns; /* true time */
	uint32_t islands, neighbours;
	double rate;	   /* messages a second and direction, of each pair of hosts */
	int64_t period_ns; /* instead: one every so often; 0: Poisson */
	int64_t answer_ns; /* mean time until a message is answered; 0: as usual, in tables never */
	bool one_way;	   /* from the lower to the higher host only, in a ring all round */
	double broadcast;  /* a second and host */
	uint64_t packets;  /* choose the rate so that a capture has about so many; 0 = as given */
	uint32_t connections; /* TCP connections (or flows) of a pair at a time */
	enum sim_collectives collectives;
	int64_t compute_ns, compute_spread_ns; /* before each collective; a mean beside it */
	struct sim_list straggle_ns;	       /* so much longer do ranks compute */
	uint32_t bytes;			       /* of the largest message */
	uint32_t mtu;
	/* network */
	struct usk_delay_model dmin; /* by length */
	uint32_t tail_stages;	     /* the tail is the sum of so many exponentials of one mean */
	int64_t tail_ns, asym_ns;    /* asym: lower to higher host takes so much longer */
	/* what a loaded host adds to each message it sends or receives: a mean, a constant, and the
	 * share of messages that wait far longer */
	struct sim_list load_ns, load_least_ns;
	double load_heavy;
	bool load_receivers; /* only what it receives: the way from idle to busy is the longer one
			      */
	double heavy, loss, dup, reorder, retrans; /* shares of packets, 0 to 1 */
	uint32_t hops;
	bool nat;
	/* clocks: a list of one value spares host0, which then keeps true time */
	struct sim_list offset_ns, drift_e12;
	struct sim_list wander_e15;	  /* random walk of the rate: parts per 10^15 and root s */
	struct sim_list flicker_e15;	  /* flicker of the rate: floor of its Allan deviation */
	struct sim_list ageing_e15;	  /* growth of the rate in a day */
	struct sim_list temperature_e12;  /* amplitude of a cycle of the rate */
	int64_t temperature_ns;		  /* and its period */
	struct sim_list poll_ns;	  /* between two corrections by a time daemon; 0: none */
	int64_t poll_error_ns;		  /* standard deviation of what it measures */
	int64_t slew_e12;		  /* the most it slews */
	struct sim_list steps;		  /* so many at random moments */
	int64_t step_min_ns, step_max_ns; /* and their sizes, forward or back */
	const struct sim_step *step;
	size_t n_steps;
	const struct sim_series *series;
	size_t n_series;
	/* stacks */
	bool tso, gro, ipv6, timestamps, sack, ip_id;
	/* captures */
	struct sim_list link, vlan; /* enum sim_link; number of VLAN tags, 0 to 2 */
	int64_t resolution_ns;	    /* 1 or 1000 */
	uint32_t snaplen;
	bool clock_logs;     /* HOST.clock.csv beside them, as `unskew record` writes it */
	int64_t late_ns;     /* every capture but host0's starts so much later */
	double capture_loss; /* share of packets that a capture misses */
	double chatter;	     /* unrelated packets a second at each host */
	/* Called now and then with the share of the work done, 0 to 1; may be NULL. */
	void (*progress)(void *ctx, double done, const char *what);
	void *progress_ctx;
};

/** Two hosts, 60 s, 100 messages a second and direction, 50 us + Exp(50 us), 1 s, 20 ppm. */
void sim_options_init(struct sim_options *o);

/** USK_EUSAGE with a sentence if the options contradict each other, USK_ERANGE if stamps do not
 * fit. */
enum usk_status sim_options_check(const struct sim_options *o, struct usk_err *err);

/** As a JSON object; the caller frees it. */
char *sim_options_json(const struct sim_options *o);

/** The clock of a host under these options, which were checked. Cost: its pieces, one a second. */
void sim_options_clock(const struct sim_options *o, uint32_t host, struct sim_clock *out);

/** Those of all hosts, and their end. */
struct sim_clock *sim_options_clocks(const struct sim_options *o);
void sim_clocks_free(struct sim_clock *clock, size_t n);

/** Read a CSV with the columns seconds,offset_seconds (or those two without a header). */
enum usk_status sim_series_read(const char *path, uint32_t host, struct sim_series *out,
				struct usk_err *err);
void sim_series_free(struct sim_series *s); /* what it holds */

/* ---- messages alone ---------------------------------------------------------- */

struct sim_message {
	uint64_t id; /* number of the send event: those of a broadcast share it */
	uint32_t from, to, bytes;
	bool broadcast;
	int64_t left_ns, arrived_ns;  /* true times */
	int64_t sent_ns, received_ns; /* stamps as recorded, of the options' resolution */
};

/**
 * What --format table writes: every message that arrives, in the order of sending.
 * o: checked; clock[o->hosts]: of sim_options_clock(). Cost: 0.2 us a message.
 */
void sim_messages(const struct sim_options *o, const struct sim_clock *clock,
		  void (*take)(void *ctx, const struct sim_message *m), void *ctx);

/* ---- collectives alone -------------------------------------------------------- */

/* One that ended in time: when each of the options' hosts came and went, true times. */
struct sim_collective {
	uint64_t number;
	enum usk_collective_kind kind;
	uint32_t root; /* of a kind that has one */
	const int64_t *enter_ns, *exit_ns;
};

/** What `collectives` asks for, in its order, until the end. o: checked. */
void sim_collectives(const struct sim_options *o,
		     void (*take)(void *ctx, const struct sim_collective *c), void *ctx);

/* ---- all of it ------------------------------------------------------------------ */

struct sim_result {
	uint64_t packets;  /* records in all captures */
	uint64_t messages; /* rows of messages.csv */
	uint64_t unambiguous;
};

/**
 * Simulate and write HOST.pcap or HOST.pcapng per host, messages.csv and truth.json into dir,
 * which is made if missing. Same options, same bytes. result may be NULL.
 *
 * messages.csv: sender,receiver,sent_ns,received_ns,bytes,id,unambiguous in local stamps as
 * recorded: a row for each recorded receive event whose send event was recorded. A part of
 * a segment pairs with the send event that covers its first byte. id numbers send events.
 * unambiguous: 1 if the byte range was sent once, or its copies differ in IP-ID or TSval; for
 * packets without bytes in the stream and for datagrams, if their content is seen once within
 * 8 s or IP-ID tells the copies apart. The second of two copies that the network made has 0.
 *
 * broadcasts.csv, if there are any: id,sender,receiver,sent_ns,received_ns,bytes, a row for each
 * receiver that recorded it; those of one broadcast share the id. They are in messages.csv too,
 * in doubt if from captures: nothing but an address tells who sent them.
 *
 * With collectives only collectives.csv: collective,kind,clock,enter_ns,exit_ns,root, a row for each
 * host of each, and late.csv: collective,last,by_ns,waited_ns,transfer_ns: who truly came last,
 * how long behind the one before, and what of all members' time was waiting for others.
 */
enum usk_status sim_run(const struct sim_options *o, const char *dir, bool force,
			struct sim_result *result, struct usk_err *err);

/** HOST.clock.csv: what the host's clock showed against its oscillator alone, a line a second and
 * one behind each jump. */
enum usk_status sim_log(const struct sim_options *o, uint32_t host, const char *dir, bool force,
			struct usk_err *err);

/* ---- truth.json ------------------------------------------------------------ */

struct sim_truth {
	uint64_t seed;
	const char *options; /* a JSON object */
	int64_t start_ns, end_ns;
	const char *const *name; /* of clock[n] */
	const struct sim_clock *clock;
	size_t n;
	const char *broadcasts; /* the file's name, or NULL */
};

/** Clocks at moments start, end and a grid of 1000 steps between, where their rates change, and on both
 * sides of each jump; the jumps. */
enum usk_status sim_truth_json(const char *path, bool force, const struct sim_truth *t,
			       struct usk_err *err);

#endif
