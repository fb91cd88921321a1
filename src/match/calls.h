/* SPDX-License-Identifier: MIT */
/*
 * calls.h - spans -> messages: what a parent and its child in another process say of their clocks
 */
#ifndef USK_CALLS_H
#define USK_CALLS_H

#include "base/io.h"
#include "read/trace.h"

struct usk_calls;

/* A process that recorded spans. */
struct usk_call_process {
	uint32_t clock, service;
	bool stamped;
	int64_t first_ns, last_ns;
	struct usk_grid grid;
	uint64_t entries, at_ms; /* spans that others asked for; those that begin with a whole ms */
	uint64_t coarse; /* spans of whole ms, and not of 0, among finer ones: usk_span_coarse() */
	bool microseconds;
	/* Once all are there. */
	bool anchored;	       /* its stamps count from a whole ms, up to 1 ms too early */
	int64_t resolution_ns; /* they are rounded down to it, or up to it too early */
	int64_t early_ns;      /* and may be rounded up by so much */
};

/* Calls of one kind: from one service to another, for one thing. */
struct usk_call_class {
	uint32_t from, to, operation; /* services */
	uint64_t n,
		late; /* that the callee's end was known of; it ended after the caller for sure */
	bool waits;   /* the caller does, so both ends count */
	bool told;    /* by kinds: client and server */
};

/* Within one clock, from one process to another. */
struct usk_call_clock {
	uint64_t n, early; /* children; that began before their parents for sure */
	bool split;	   /* so its processes have clocks of their own */
};

struct usk_calls *usk_calls_new(void);
void usk_calls_free(struct usk_calls *c);
/** clock, process, operation of spans: the caller's numbers. service: a process's. */
enum usk_status usk_calls_add(struct usk_calls *c, const struct usk_span *s, size_t n,
			      const uint32_t *service, struct usk_err *err);
/** All are there: who called whom, and what stamps are worth. counts: unmatched and ambiguous are
 * added to. */
enum usk_status usk_calls_run(struct usk_calls *c, struct usk_counts *counts, struct usk_err *err);
/** Hands all messages to put(), whose clocks are numbers of processes. */
enum usk_status usk_calls_messages(struct usk_calls *c,
				   enum usk_status (*put)(void *ctx, const struct usk_msg *m,
							  struct usk_err *err),
				   void *ctx, struct usk_err *err);
const struct usk_call_process *usk_calls_processes(const struct usk_calls *c, size_t *n);
const struct usk_call_class *usk_calls_classes(const struct usk_calls *c, size_t *n);
const struct usk_call_clock *usk_calls_clocks(const struct usk_calls *c, size_t *n);

#endif
