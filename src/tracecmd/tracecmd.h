/* SPDX-License-Identifier: MIT */
/*
 * tracecmd.h - inside of the reader of trace-cmd's trace.dat
 *
 *     decode.c  events -> sides of messages (libtracecmd, in a process that may die)
 *     virtual.c what a guest's write of a register, and the host's record of it, say of each other
 *     reader.c  the reader: sides in the order of their stamps
 */
#ifndef USK_TRACECMD_H
#define USK_TRACECMD_H

#include "ctf/rule.h"
#include "read/read.h"

#include <stdio.h>

/* ---- virtual.c ---- */

/* One CPU's event, of which there are three kinds for us. */
struct virtual_event {
	int64_t time_ns;
	uint64_t value; /* of the deadline register, TSC ticks */
	uint32_t cpu;
	enum { VIRTUAL_OTHER, VIRTUAL_HOST, VIRTUAL_GUEST } kind;
	bool irqs_off, nmi;
};

struct virtual_cpus {
	int64_t *last_ns; /* of each, the last event outside of NMI; USK_NONE */
	size_t n;
};

/** Sides that an event makes, up to 2 into out; clocks are left at 0. */
size_t usk_virtual_take(struct virtual_cpus *x, const struct virtual_event *e,
			struct usk_event *out);

/* ---- decode.c ---- */

/* What goes through the pipe. */
struct tracecmd_item {
	struct usk_event side;
	enum { TRACECMD_SIDE, TRACECMD_END } kind;
	uint64_t events, missed; /* at the end: in all; places where the recorder lost some */
	char text[200];		 /* at the end: why it cannot be read; "": it was */
};

/** To a pipe. rule[n], of which the first n_send are sends. */
void usk_tracecmd_decode(const char *path, const struct rule *rule, size_t n_send, size_t n,
			 FILE *out);

#endif
