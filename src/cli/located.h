/* SPDX-License-Identifier: MIT */
/*
 * located.h - the numbers that records have in their files
 */
#ifndef LOCATED_H
#define LOCATED_H

#include "cmd.h"
#include "units.h"

/* Ends of messages: a clock, its stamp, those of the other end, and once found the record. */
struct located {
	struct located_end {
		uint32_t clock, peer;
		int64_t ns, peer_ns;
		size_t trace;
		uint64_t number; /* 0: not found */
	} * end;
	size_t n, cap;
	struct usk_trace **trace;
};

/** Both ends of a message are wanted. */
void located_want(struct located *l, const struct usk_msg *m);
/** Reads the traces, from their start, for what is wanted; nothing if nothing is. */
enum usk_status located_find(struct located *l, const struct usk_clocks *c,
			     struct usk_trace **trace, size_t n_traces, struct usk_err *err);
/** " (packet #812 of a.pcap)", kept; "" where it was not found. */
const char *located_at(const struct located *l, const struct usk_msg *m, bool received);

#endif
