/* SPDX-License-Identifier: MIT */
/*
 * line.h - two machines and a cable of a few pins: exchanges that no network delays
 *
 * Source  Loeser 2003, sections 2 to 4
 *
 * Each side drives two pins, D1 and D3, and sees the other's two as SELECT and NACK. The one that
 * asks (his B) takes two stamps and the one that answers (his A) one between them; that goes
 * over the pins, too. So the other's clock showed `remote` at a moment when ours showed something
 * from `before` to `after`.
 */
#ifndef USK_LINE_LINE_H
#define USK_LINE_LINE_H

#include "base/base.h"
#include "unskew_clock.h"

/* Our own D1 and D3, or the other's as seen by us: SELECT and NACK. */
enum { LINE_D1 = 1, LINE_D3 = 2 };

/* A side's clock: any unit, never back. */
struct line_counter {
	int64_t (*read)(void *ctx);
	void *ctx;
};

/* One side of a line. */
struct line {
	void (*set)(struct line *l, unsigned pins); /* ours */
	unsigned (*pins)(struct line *l);	    /* theirs, now */
	/* Until their D3 may have risen, at most so long; may return for nothing. */
	void (*wait)(struct line *l, int64_t ns);
	void (*pause)(struct line *l, int64_t ns);
	int64_t (*time_ns)(
		struct line *l); /* for timeouts alone: does not step, nor stop in sleep */
	void (*close)(struct line *l);
	struct line_counter counter;
	int error;	     /* errno of a device that failed, else 0 */
	int64_t rests_until; /* by time_ns(); after a failure, and at first */
	bool was_idle;	     /* the one that answers saw nobody ask since it last answered */
};

/* ---- backends ---------------------------------------------------------------------- */

enum line_side { LINE_ASKS, LINE_ANSWERS, LINE_LOOP_BACK };

/**
 * Pins that are words of a file which both processes map; put it in memory. Made if it is not
 * there. USK_EIO: cannot be opened, or the other process of this side still runs; USK_EINPUT: it is
 * something else. LINE_LOOP_BACK sees its own pins.
 */
enum usk_status line_page_open(const char *path, enum line_side side, struct line_counter counter,
			       struct line **out, struct usk_err *err);
/** A parallel port, /dev/parportN, crosswise: D1 to SELECT, D3 to NACK. USK_EIO: none, or taken. */
enum usk_status line_port_open(const char *path, struct line_counter counter, struct line **out,
			       struct usk_err *err);
void line_close(struct line *l);

/** What real lines are made of: boot time, nanosleep. */
int64_t line_boot_time_ns(struct line *l);
void line_sleep(struct line *l, int64_t ns);

/* ---- exchange.c: the procedure ------------------------------------------------------- */

/* The one that answers gives up so long after its ready signal, and the one that asks rests twice
 * as long after a failure: so nothing of one exchange is left in the next. */
#define LINE_EXCHANGE_NS INT64_C(50000000)
#define LINE_REST_NS	 (2 * LINE_EXCHANGE_NS)

struct line_limits {
	int64_t stamp_ns; /* from go to done: section 3.1 has 20 us */
	int64_t wake_ns;  /* for what needs the other to be woken, and for sending the stamp */
};

enum line_outcome {
	LINE_DONE,
	LINE_IDLE,     /* nobody asked */
	LINE_BUSY,     /* the other's pins are not those of one who waits */
	LINE_NO_READY, /* nobody answers */
	LINE_NO_GO,
	LINE_NO_DONE,
	LINE_NO_STAMP, /* the other's stamp did not come, or not as it was sent */
	LINE_BROKEN,   /* the device failed: l->error */
	LINE_OUTCOMES,
};

/** "no answer", ...: why there was no exchange. */
const char *line_outcome_text(enum line_outcome o);

/**
 * One exchange, asked for. `number` must differ from that of the exchanges before it. Lasts at
 * most stamp_ns and three times wake_ns; after a failure the next call first rests.
 */
enum line_outcome line_ask(struct line *l, const struct line_limits *limits, uint32_t number,
			   struct usk_three_stamps *out);
/** Wait so long for the other to ask, then answer. */
enum line_outcome line_answer(struct line *l, const struct line_limits *limits,
			      int64_t patience_ns);

/**
 * With D1 wired to our own SELECT: how long until a toggled pin is seen, n times, in ticks
 * (section 2). False: it was not seen within wake_ns.
 */
bool line_loop_back(struct line *l, const struct line_limits *limits, size_t n, int64_t *ticks);

/* ---- tie.c: rounds, and what follows from them ----------------------------------------- */

struct line_tie {
	struct line *line;
	struct line_limits limits;
	unsigned attempts;     /* exchanges tried in a round until one is good, at least 1 */
	int64_t good_ticks;    /* half the time from our first stamp to the second, at most */
	int64_t allowance_e12; /* of the rate, as for usk_live_map_of() */
	int64_t span_ns;       /* between the two exchanges of a map, at least: 100 ms */
	int64_t max_age_ns;    /* of a map: 100 s */

	/* What is known so far. */
	uint64_t rounds, dropped, jumps; /* dropped: rounds without a good exchange */
	uint64_t why[LINE_OUTCOMES];	 /* of all attempts; LINE_DONE: those that were good */
	uint64_t bad;			 /* attempts that took too long to be good */
	uint32_t number;		 /* of the last exchange; start anywhere */
	unsigned have;			 /* exchanges below that are there: base, next */
	struct line_moment {
		struct usk_three_stamps s;
		int64_t at_ns;
	} base, next;
	bool mapped;
	struct usk_live_map map;
};

/* A round: its last exchange, and the map that now holds. */
struct line_round {
	enum line_outcome outcome;
	bool good; /* there is an exchange; else nothing below */
	struct usk_three_stamps s;
	/* What the map of the round before said of `remote`, if it said anything. */
	bool foretold;
	struct usk_live_time before;
	bool jumped; /* that contradicts the exchange: a clock was put, or ran otherwise */
	/* Ours - theirs: add it to their stamps; and no further off than this. */
	int64_t offset, precision;
	double drift_ppm; /* of theirs against ours, if mapped: positive runs fast */
	bool mapped;	  /* two exchanges are there: tie->map says more */
};

/** With Loeser's figures: good_ticks and the rest as he had them, in ns. */
struct line_tie line_tie_of(struct line *l);
void line_tie_round(struct line_tie *t, struct line_round *out);

#endif
