/* SPDX-License-Identifier: MIT */
/*
 * history.h - operations of clients on many machines, for checkers of consistency
 *
 * In    calls and returns by the clocks of their clients; bounds of when each was on one clock
 * Out   an interval for each operation: one ends before another begins only if the operation truly
 *       returned before the other was called; the history in a checker's form
 * Why   a checker takes the order of stamps for the order of time: with clocks that differ it finds
 *       faults that are none
 * Not   the check itself
 */
#ifndef USK_HISTORY_H
#define USK_HISTORY_H

#include "base/index.h"
#include "base/table.h"
#include "history/edn.h"

/* A text in usk_history.text. n 0: there is none. */
struct usk_part {
	size_t at, n;
};

enum usk_op_end {
	USK_OP_OK,
	USK_OP_FAIL, /* it surely had no effect, or what the model of the checker says */
	USK_OP_INFO, /* whether it had an effect is not known, and it may still have */
	USK_OP_NONE, /* nothing is said of its end: as USK_OP_INFO */
};

/* Values are forms of EDN. */
struct usk_op {
	uint32_t client, file;
	enum usk_op_end end;
	int64_t call_ns,
		return_ns; /* by the client's clock; USK_NONE: not known, or it never came */
	struct usk_part f, key, input, output;
	struct usk_part more_in, more_out; /* further members of the maps, as they were */
	uint64_t line;			   /* of its call */
};

/* A process on one clock: it does one thing after another. */
struct usk_client {
	uint32_t clock;
	struct usk_part process; /* a form of EDN */
};

struct usk_history {
	struct usk_op *op;
	size_t n, cap;
	struct usk_client *client;
	size_t n_clients, cap_clients;
	struct usk_texts clock; /* by name */
	struct usk_edn_text text;
	uint64_t left_out; /* lines of Jepsen's nemesis: nobody's operation */
	struct usk_index by_process;
};

/* Which clock stamps are of, if they do not say it themselves. */
struct usk_history_options {
	const char *clock;	     /* of the whole file, or NULL */
	const char *const *clock_of; /* "PROCESS=CLOCK", "0-4=CLOCK" */
	size_t n_clock_of;
	const char *nodes; /* "n1,n2,n3": process p is of p modulo 3; or NULL */
	const struct usk_read_options *read;
};

/** Are the rows of clock_of and nodes as they should be? */
enum usk_status usk_history_check(const struct usk_history_options *opt, struct usk_err *err);

/**
 * Add the operations of a file: EDN as Jepsen writes it, a table (CSV, or JSON lines) with a row for
 * each operation.
 *
 * USK_EINPUT: a line cannot be understood, or the file is cut short. Nothing is left out, as a history
 * that lacks an operation may look wrong and be right. O(bytes), all of it in memory.
 */
enum usk_status usk_history_read(struct usk_input *in, uint32_t file,
				 const struct usk_history_options *opt, struct usk_history *h,
				 struct usk_err *err);
void usk_history_free(struct usk_history *h);

/* ---- what readers have in common ------------------------------------------------------------- */

struct usk_part usk_history_part(struct usk_history *h, const char *text, size_t n);
const char *usk_history_text(const struct usk_history *h, struct usk_part part);
/** The number of a clock's name. */
uint32_t usk_history_clock(struct usk_history *h, const char *name, size_t n);
/** The client that this process is; process is a form of EDN. */
uint32_t usk_history_client(struct usk_history *h, uint32_t clock, const char *process, size_t n);
struct usk_op *usk_history_add(struct usk_history *h);
/** The name of a process's clock by clock_of or nodes; false: neither says it. */
bool usk_history_clock_of(const struct usk_history_options *opt, const char *process, size_t n,
			  bool listed, struct usk_csv_field *name);
/** A number of one of Jepsen's processes, -1 if it is none. */
int64_t usk_history_number(const char *process, size_t n);

enum usk_status usk_history_read_edn(struct usk_input *in, uint32_t file,
				     const struct usk_history_options *opt, struct usk_history *h,
				     struct usk_err *err);
enum usk_status usk_history_read_table(struct usk_input *in, uint32_t file,
				       const struct usk_history_options *opt, struct usk_history *h,
				       struct usk_err *err);

/* ---- intervals.c: what is certain, as intervals -------------------------------------------------- */

#define USK_NO_GROUP UINT32_MAX
#define USK_OPEN     INT64_MAX /* before all: -USK_OPEN; behind all: USK_OPEN */

/* An end of an operation. Stamps of one group are in the order in which they were taken. */
struct usk_end {
	uint32_t group;
	int64_t local_ns;
	int64_t bound_ns; /* of a call the earliest, of a return the latest that it may have been */
};

struct usk_interval {
	struct usk_end call, back;
	int64_t from_ns,
		to_ns; /* Out; to_ns USK_OPEN: to the end, from_ns -USK_OPEN: from the beginning */
};

/* How many pairs of operations are in order. */
struct usk_ordered {
	uint64_t pairs;	  /* all that there are */
	uint64_t certain; /* by bounds, or by two stamps of one clock */
	uint64_t bounds;  /* by bounds alone */
	uint64_t kept;	  /* by the intervals */
};

/** From and to are the bounds. */
void usk_intervals_widen(struct usk_interval *x, size_t n);
/**
 * From and to are moved towards each other as far as no pair comes in order by that that is not
 * certain. Neither ends alone nor beginnings alone can then be moved to put one more pair in order.
 * O(n log n).
 */
void usk_intervals_tighten(struct usk_interval *x, size_t n);
void usk_intervals_count(const struct usk_interval *x, size_t n, struct usk_ordered *out);

/* ---- writing -------------------------------------------------------------------------------------- */

struct usk_history_form {
	const char *name, *help;
	/* USK_EINPUT: operation number err->at has no such form. */
	enum usk_status (*write)(const struct usk_history *h, const struct usk_interval *x,
				 struct usk_output *out, struct usk_err *err);
};
extern const struct usk_history_form usk_history_forms[]; /* ends with a name that is NULL */

/**
 * Processes such that none has two operations at a time: clients whose operations overlap, once they
 * are intervals, become several. process[h->n], numbers from 0 on; returns how many.
 */
size_t usk_history_processes(const struct usk_history *h, const struct usk_interval *x,
			     uint32_t *process);

#endif
