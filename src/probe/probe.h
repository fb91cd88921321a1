/* SPDX-License-Identifier: MIT */
/*
 * probe.h - exchanges with another machine's clock over UDP: what the files of this folder share
 *
 *     here   t1 ask --------> t2   there
 *            t4 <------ answer t3
 *
 * Stamps are the kernel's, taken where packets leave and arrive. The one of an answer's departure
 * is known only when it has left, so it travels in later answers; until then t3 is what the clock
 * read before: earlier than true, which only weakens the bound. So is every other stamp that a
 * process must take itself.
 *
 * All that is remembered of clients is in tables of fixed size. An answer is never longer than what
 * it answers; none goes out for a packet that does not prove the key, where there is one. A client
 * has to prove that it receives what is sent to its address before anything is kept of it.
 */
#ifndef USK_PROBE_PROBE_H
#define USK_PROBE_PROBE_H

#include "base/base.h"
#include "unskew_clock.h"

/* ---- wire.c: packets ------------------------------------------------------------- */

/*
 * Every packet has 128 bytes, numbers in network byte order, what is not named zero:
 *
 *      0  4  "uskp"
 *      4  1  version, 1
 *      5  1  type: 1 hello, 2 cookie (answers a hello, or an ask without a good cookie),
 *            3 ask, 4 answer
 *      6  2  of an answer: bits 0-1 kind of t2; bits 2-3, 4-5, 6-7, 8-9 of the departures below
 *      8 16  session: random, chosen by the client
 *     24  8  sequence: from 1 on, each used once in a session; an answer has that of its ask
 *     32 24  cookie, of a cookie and an ask
 *     56  8  of a cookie: which life of the server's clock, see server.c
 *     32  8  of an answer: t2
 *     40  8  of an answer: what the clock read before it was sent
 *     48 64  of an answer: four of sequence, departure (8 bytes each) of earlier ones; 0: none
 *    112 16  tag: a keyed hash of all before it, zero without a key
 *
 * Session and sequence tie an answer to its ask: nobody can know them in advance.
 */
enum {
	USK_PROBE_BYTES = 128,
	USK_PROBE_TAG = 16,
	USK_PROBE_SESSION = 16,
	USK_PROBE_COOKIE = 24,
	USK_PROBE_LIFE = 8,
	USK_PROBE_GONE = 4,
	USK_PROBE_PORT = 4719,
};

enum usk_probe_type { USK_PROBE_HELLO = 1, USK_PROBE_COOKIES, USK_PROBE_ASK, USK_PROBE_ANSWER };

/* Who took a stamp. The network card's is of a clock of its own. */
enum usk_probe_kind { USK_PROBE_PROCESS, USK_PROBE_KERNEL, USK_PROBE_CARD };

/** "process", "kernel", "network card"; static. */
const char *usk_probe_kind_name(enum usk_probe_kind k);

struct usk_probe_stamp {
	int64_t ns;
	enum usk_probe_kind kind;
};

/* When an answer left. */
struct usk_probe_gone {
	uint64_t sequence; /* 0: none */
	struct usk_probe_stamp at;
};

struct usk_probe_packet {
	enum usk_probe_type type;
	uint8_t session[USK_PROBE_SESSION];
	uint64_t sequence;
	uint8_t cookie[USK_PROBE_COOKIE]; /* of cookies and asks */
	uint8_t life[USK_PROBE_LIFE];	  /* of cookies */
	struct usk_probe_stamp received;  /* of answers, as all below */
	int64_t before_ns;
	struct usk_probe_gone gone[USK_PROBE_GONE];
};

/** The tag is left zero. */
void usk_probe_encode(const struct usk_probe_packet *p, uint8_t out[USK_PROBE_BYTES]);
/** False: it is no packet of ours, or has bytes where none may be. Does not look at the tag. */
bool usk_probe_decode(const uint8_t *data, size_t n, struct usk_probe_packet *out);

/* ---- key.c: keyed hashes by libsodium ---------------------------------------------- */

struct usk_probe_key {
	bool set;
	uint8_t ask[32], answer[32]; /* one per direction, so that none can be sent back */
};

/** USK_EUSAGE if this unskew was built without libsodium. Call it before anything below. */
enum usk_status usk_probe_ready(struct usk_err *err);
/** Refuses files that others can read, and keys that can be guessed. */
enum usk_status usk_probe_key_read(const char *path, struct usk_probe_key *out,
				   struct usk_err *err);
/** A new key of 256 random bits, as text, in a file that only its owner can read. */
enum usk_status usk_probe_key_make(const char *path, struct usk_err *err);
/** Put the tag into a packet: of hellos and asks by one key, of the others by the other. */
void usk_probe_seal(const struct usk_probe_key *key, uint8_t packet[USK_PROBE_BYTES]);
/** Takes the same time whatever the tag. Without a key: is it zero? */
bool usk_probe_sealed(const struct usk_probe_key *key, const uint8_t packet[USK_PROBE_BYTES]);
/** Takes the same time whatever the bytes. */
bool usk_probe_equal(const void *a, const void *b, size_t n);
void usk_probe_random(void *out, size_t n);
/** A keyed hash of 16 bytes. */
void usk_probe_hash(const uint8_t key[32], const void *data, size_t n, uint8_t out[16]);

/* ---- steady.c: was CLOCK_REALTIME set? ----------------------------------------------------- */

struct usk_probe_steady {
	bool has;
	int64_t lo_ns, hi_ns; /* of CLOCK_REALTIME - CLOCK_MONOTONIC */
};

/** A reading of CLOCK_REALTIME between two of CLOCK_MONOTONIC. False: it was set since the last. */
bool usk_probe_steady_add(struct usk_probe_steady *s, int64_t before_ns, int64_t real_ns,
			  int64_t after_ns);

/* ---- server.c: a packet in, at most one out -------------------------------------------------- */

struct usk_probe_peer {
	struct usk_addr addr;
	uint16_t port;
};

enum usk_probe_verdict {
	USK_PROBE_ANSWERED,  /* with stamps */
	USK_PROBE_WELCOMED,  /* with a cookie */
	USK_PROBE_MALFORMED, /* the rest: no answer */
	USK_PROBE_FORGED,
	USK_PROBE_REPLAYED,
	USK_PROBE_LIMITED,
	USK_PROBE_VERDICTS,
};

struct usk_probe_server;

/** Packets a second for each address (IPv6: each /64) and for all together; both > 0. */
struct usk_probe_server *usk_probe_server_new(const struct usk_probe_key *key, double each,
					      double all);
void usk_probe_server_free(struct usk_probe_server *s);

struct usk_probe_heard {
	const uint8_t *data;
	size_t n;
	struct usk_probe_peer from;
	struct usk_probe_stamp received;
	int64_t before_ns; /* what that clock reads now, before the answer goes */
	int64_t now_ns;	   /* of a clock that is never set */
};

/** out is the answer of the first two verdicts. *sequence: of an answer whose departure
 * usk_probe_server_gone() may tell. */
enum usk_probe_verdict usk_probe_serve(struct usk_probe_server *s,
				       const struct usk_probe_heard *heard,
				       uint8_t out[USK_PROBE_BYTES]);
/** The answer to `to` (session and sequence are in `sent`) has left then. */
void usk_probe_server_gone(struct usk_probe_server *s, const uint8_t sent[USK_PROBE_BYTES],
			   const struct usk_probe_peer *to, struct usk_probe_stamp at);

/** The server's clock was set: no ask from before gets an answer with a stamp from after it. */
void usk_probe_server_set(struct usk_probe_server *s, int64_t now_ns);

/* ---- client.c: asks, and which answers count ------------------------------------------- */

enum { USK_PROBE_BURST = 16 };

/* One ask, and what came back. t1 and t4 are this side's. */
struct usk_probe_exchange {
	uint64_t sequence;
	bool answered;
	struct usk_probe_stamp t1, t2, t3, t4;
};

enum usk_probe_taken {
	USK_PROBE_TAKEN,
	USK_PROBE_COOKIE_TAKEN, /* may ask now, or has to ask again */
	USK_PROBE_NOT_OURS,	/* malformed */
	USK_PROBE_NOT_SEALED,	/* forged */
	USK_PROBE_NOT_ASKED,	/* replayed, twice, late */
	USK_PROBE_NOT_POSSIBLE, /* left before it arrived: that clock was set */
	USK_PROBE_TAKENS,
};

struct usk_probe_client {
	struct usk_probe_key key;
	uint8_t session[USK_PROBE_SESSION], cookie[USK_PROBE_COOKIE];
	bool open; /* has a cookie */
	uint8_t life[USK_PROBE_LIFE];
	bool met;	      /* life is known */
	bool there_set, anew; /* that clock was set; the server is another. Whoever reads clears */
	struct usk_probe_steady steady;
	uint64_t sequence, hello;
	struct usk_probe_exchange asked[USK_PROBE_BURST + 1]; /* of the present burst */
	size_t n;
	uint64_t count[USK_PROBE_TAKENS];
};

void usk_probe_client_init(struct usk_probe_client *c, const struct usk_probe_key *key);
/** A new session begins. */
void usk_probe_hello(struct usk_probe_client *c, uint8_t out[USK_PROBE_BYTES]);
/** Forget the asks of the last burst: answers to them come too late. */
void usk_probe_burst(struct usk_probe_client *c);
/** One more ask, at most USK_PROBE_BURST + 1 a burst; t1 is what the clock reads before. */
void usk_probe_ask(struct usk_probe_client *c, struct usk_probe_stamp t1,
		   uint8_t out[USK_PROBE_BYTES]);
enum usk_probe_taken usk_probe_take(struct usk_probe_client *c, const uint8_t *data, size_t n,
				    struct usk_probe_stamp t4);

/* ---- burst.c: what a burst says ------------------------------------------------------- */

/** A network card's stamps are of another clock than the others. */
static inline bool usk_probe_one_clock(struct usk_probe_stamp a, struct usk_probe_stamp b)
{
	return (a.kind == USK_PROBE_CARD) == (b.kind == USK_PROBE_CARD);
}

/** All four stamps are there, those of a side by one clock, and in an order that can be. */
bool usk_probe_whole(const struct usk_probe_exchange *e);
/** Two sent back to back: are they as far apart where they arrive as where they left, both ways? */
bool usk_probe_spaced(const struct usk_probe_exchange *a, const struct usk_probe_exchange *b,
		      int64_t slack_ns);
/**
 * All whole exchanges of a burst in one: what this clock read at least and at most when the other
 * read `remote`, if rates differ by no more than skew_e12. False: there is none, or they
 * contradict each other: a clock was set meanwhile.
 */
bool usk_probe_stamps(const struct usk_probe_exchange *e, size_t n, int64_t skew_e12,
		      struct usk_three_stamps *out);

/* ---- track.c: the other clock from burst to burst ----------------------------------------- */

enum { USK_PROBE_SLOTS = 64 };

/*
 * Loeser's two exchanges X and Y, chosen among those of the last max_age: at each moment the map
 * that is most precise one period later.
 */
struct usk_probe_track {
	int64_t allowance_e12, skew_e12, max_age_ns, period_ns; /* by the caller */
	struct usk_three_stamps slot[USK_PROBE_SLOTS];		/* oldest first */
	size_t n;
	int64_t slot_from_ns; /* when the last slot began, by the other clock */
	bool has;
	struct usk_live_map map;
};

enum usk_probe_news {
	USK_PROBE_BETTER, /* the map is a new one */
	USK_PROBE_WORSE,  /* the one before says more */
	USK_PROBE_SET,	  /* contradicts the one before: a clock was set; all before is forgotten */
};

/** A clock was set: all before says nothing. */
void usk_probe_track_forget(struct usk_probe_track *t);
/** Stamps that usk_live_map_of() refuses count as SET if there was a map. */
enum usk_probe_news usk_probe_track_add(struct usk_probe_track *t,
					const struct usk_three_stamps *y);
/** The other clock's reading when this one reads local_ns, to some ns; 0 without a map. */
int64_t usk_probe_track_remote(const struct usk_probe_track *t, int64_t local_ns);

/* ---- table.c: exchanges into a file --------------------------------------------------- */

struct usk_probe_table {
	int fd;
	char *path, *a, *b;
	uint64_t rows;
};

/**
 * A new file with the heading of a table of exchanges, or `append` to one; a and b are the clocks'
 * names as they stand in a CSV file. Rows are whole: one that
 * a crash cut short is taken off first, and *cut says how many bytes.
 */
enum usk_status usk_probe_table_open(struct usk_probe_table *t, const char *path, const char *a,
				     const char *b, bool force, bool append, uint64_t *cut,
				     struct usk_err *err);
/** All rows in one write, on the disk when it returns. */
enum usk_status usk_probe_table_add(struct usk_probe_table *t, const struct usk_probe_exchange *e,
				    size_t n, struct usk_err *err);
void usk_probe_table_close(struct usk_probe_table *t);

#endif
