/* SPDX-License-Identifier: MIT */
/*
 * protocol.h - clocks inside packets: what a packet says of a clock that nobody recorded
 *
 * To add a protocol: write a file with take(), declare its row below, and add it to protocols[] in
 * listen.c. --readings, help and manual pages follow.
 */
#ifndef USK_PROTOCOL_H
#define USK_PROTOCOL_H

#include "base/base.h"
#include "base/bytes.h"
#include "read/trace.h"

/* The clock of a system that says of itself no better may tick 64 times a second: its stamp is early by
 * up to that. */
#define USK_SYSTEM_TICK_NS (INT64_C(1000000000) / 64)

/* A packet of UDP or TCP, and as much of its payload as was captured. */
struct usk_heard_packet {
	const struct usk_packet *ip;
	const uint8_t *data;
	size_t n;
};

/* The clock `of` showed clock_ns; it had left its machine by our_ns of the capture's clock (told),
 * or was read after that. Its stamp is on the safe side: early if told, else late, by quantum_ns.
 */
struct usk_reading {
	char of[64]; /* without the protocol's name */
	int64_t clock_ns, our_ns, quantum_ns;
	bool told;
};

struct usk_listener;

struct usk_protocol {
	const char *name, *help;
	uint8_t proto, also; /* of IP; 0: none */
	uint16_t port[2];    /* either side's; 0, 0: any */
	/* It goes without IP, too: its payload in such a record, *n bytes, and its side if that is
	 * known; or NULL. */
	const uint8_t *(*in_frame)(const struct usk_record *r, uint16_t link_type, size_t *n,
				   uint8_t *side);
	/* The next packet of these ports in the order of the capture. */
	void (*take)(struct usk_listener *l, const struct usk_heard_packet *p);
};

/** Row i of the table, NULL behind the last. */
const struct usk_protocol *usk_protocol(size_t i);
/** "ntp,ptp", "all" -> a bit for each row. USK_EUSAGE: there is no such protocol. */
enum usk_status usk_protocols_parse(const char *text, uint32_t *rows, struct usk_err *err);

/** Of one capture. It remembers the last 4096 questions, whatever the capture's length. */
struct usk_listener *usk_listener_new(uint32_t rows);
void usk_listener_free(struct usk_listener *l);
/** The next record: *n readings of the protocol *row, borrowed until the next call. */
const struct usk_reading *usk_listen(struct usk_listener *l, const struct usk_record *r,
				     uint16_t link_type, size_t *row, size_t *n);

/* ---- for take() -------------------------------------------------------------------------- */

/* A question that has been seen and not yet its answer. */
struct usk_question {
	uint64_t key;
	int64_t our_ns; /* when it was seen first; USK_NONE: it is answered */
	int64_t value;	/* the protocol's own */
	uint8_t side;	/* enum usk_side */
};

/** The packet asks. Asked again before the answer, the first time stands. */
void usk_question_ask(struct usk_listener *l, uint64_t key, const struct usk_packet *p,
		      int64_t value);
/** What was asked; NULL: nothing was, or it is answered. */
struct usk_question *usk_question_of(struct usk_listener *l, uint64_t key);
void usk_question_done(struct usk_question *q);
/** A key of who asks whom, and what; NAT between is none of our business, as one capture sees
 * both. */
uint64_t usk_question_key(const struct usk_packet *p, bool answer, uint64_t what);

/** of's clock showed ns; whoever has it had it then or later. quantum_ns: it may have been so much
 * earlier. */
void usk_tell(struct usk_listener *l, struct usk_addr of, int64_t ns, int64_t quantum_ns,
	      int64_t our_ns);
/** of's clock showed ns, no earlier than our_ns. quantum_ns: it may have been so much later. */
void usk_tell_later(struct usk_listener *l, struct usk_addr of, int64_t ns, int64_t quantum_ns,
		    int64_t our_ns);

/** The same of a clock that has a name of its own. */
void usk_tell_named(struct usk_listener *l, const char *of, bool told, int64_t ns,
		    int64_t quantum_ns, int64_t our_ns);

/** Seconds and fraction of NTP -> ns, rounded down; dates before 1968 are those after 2036. */
int64_t usk_ntp_ns(uint64_t stamp);

extern const struct usk_protocol usk_protocol_ntp, usk_protocol_ptp, usk_protocol_rtcp,
	usk_protocol_http, usk_protocol_krb5, usk_protocol_smb2, usk_protocol_wlan;

#endif
