/* SPDX-License-Identifier: MIT */
/*
 * ptp.c - PTP version 2 (IEEE 1588, 802.1AS): the master's stamps
 *
 * In    Sync, Follow_Up, Delay_Req, Delay_Resp over UDP and Ethernet, one and two step
 * Out   the master sent a Sync before we saw it; we saw a Delay_Req before the master received it
 * Why   these are stamps of the master's card, in ns; its clock may run on TAI, which is but an
 *       offset
 * Not   corrections: what transparent clocks and asymmetries put there only makes a message look
 *       faster or slower than it was. Peer delays. Where the capture says that it was made on the
 *       master itself: there its card stamps what it sends after we see it, and before what comes in
 */
#include "protocol/protocol.h"

#include <inttypes.h>
#include <stdio.h>

enum { SYNC = 0, DELAY_REQ = 1, FOLLOW_UP = 8, DELAY_RESP = 9 };
enum { HEADER = 34, STAMPED = 44, RESPONSE = 54 };
enum {
	DOMAIN = 4,
	FLAGS = 6,
	TWO_STEP = 2,
	SOURCE = 20,
	SEQUENCE = 30,
	STAMP = 34,
	REQUESTING = 44
};

/* Sequence numbers come again; what belongs together comes together. */
#define TOGETHER_NS (10 * INT64_C(1000000000))

/* Behind Ethernet or a cooked header, and VLAN tags. */
static const uint8_t *in_frame(const struct usk_record *r, uint16_t link_type, size_t *n,
			       uint8_t *side)
{
	enum { ETHERNET = 1, COOKED = 113, COOKED2 = 276 };
	enum { PTP = 0x88f7, VLAN = 0x8100, QINQ = 0x88a8 };
	const uint8_t *d = r->data;
	size_t head = link_type == ETHERNET ? 14 : link_type == COOKED ? 16 : 20;
	bool known = link_type == ETHERNET || link_type == COOKED || link_type == COOKED2;
	if (!known || r->captured < head) {
		return NULL;
	}
	*side = (uint8_t)r->side;
	if (link_type != ETHERNET) {
		unsigned type = link_type == COOKED ? usk_be16(d) : d[10];
		*side = type == 4 ? USK_SIDE_SENT : type < 3 ? USK_SIDE_RECEIVED : USK_SIDE_UNKNOWN;
	}
	unsigned type = usk_be16(link_type == COOKED2 ? d : d + head - 2);
	while ((type == VLAN || type == QINQ) && r->captured >= head + 4) {
		type = usk_be16(d + head + 2);
		head += 4;
	}
	*n = r->captured - head;
	return type == PTP ? d + head : NULL;
}

/* 48 bits of seconds; USK_NONE: it is none. */
static int64_t stamp(const uint8_t *d)
{
	uint64_t s = (uint64_t)usk_be16(d) << 32 | usk_be32(d + 2);
	uint32_t ns = usk_be32(d + 6);
	if (!s || s > (uint64_t)USK_TIME_MAX / 1000000000 - 1 || ns >= 1000000000) {
		return USK_NONE;
	}
	return (int64_t)s * 1000000000 + ns;
}

static uint64_t key(const uint8_t *d, const uint8_t *port, unsigned type)
{
	uint64_t rest = (uint64_t)usk_be16(port + 8) << 32 | (uint64_t)d[DOMAIN] << 24 | type << 16;
	return usk_fold(usk_be64(port), rest | usk_be16(d + SEQUENCE));
}

static void tell(struct usk_listener *l, const uint8_t *d, bool told, int64_t our_ns)
{
	char name[32];
	int64_t ns = stamp(d + STAMP);
	int n = snprintf(name, sizeof name, "%016" PRIx64, usk_be64(d + SOURCE));
	if (d[DOMAIN]) {
		snprintf(name + n, sizeof name - (size_t)n, "/%u", d[DOMAIN]);
	}
	if (ns != USK_NONE) {
		/* Fractions of a ns are in the correction. */
		usk_tell_named(l, name, told, ns, 1, our_ns);
	}
}

/* A question of the same number that is not answered is another one. */
static void ask_anew(struct usk_listener *l, uint64_t k, const struct usk_packet *p)
{
	struct usk_question *q = usk_question_of(l, k);
	if (q) {
		usk_question_done(q);
	}
	usk_question_ask(l, k, p, 0);
}

static void take_sync(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint8_t *d = p->data;
	if (p->ip->side == USK_SIDE_SENT) {
		return;
	}
	if (d[FLAGS] & TWO_STEP) {
		ask_anew(l, key(d, d + SOURCE, SYNC), p->ip);
	} else {
		tell(l, d, true, p->ip->time_ns);
	}
}

/* Told, or later, about the packet that asked. */
static void answer(struct usk_listener *l, const struct usk_heard_packet *p, const uint8_t *port,
		   unsigned type)
{
	struct usk_question *q = usk_question_of(l, key(p->data, port, type));
	if (q) {
		int64_t age = usk_saturate((usk_i128)p->ip->time_ns - q->our_ns);
		if (age >= -TOGETHER_NS && age <= TOGETHER_NS) {
			tell(l, p->data, type == SYNC, q->our_ns);
		}
		usk_question_done(q);
	}
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint8_t *d = p->data;
	if (p->n < STAMPED || (d[1] & 15) != 2) {
		return;
	}
	switch (d[0] & 15) {
	case SYNC:
		take_sync(l, p);
		break;
	case FOLLOW_UP:
		answer(l, p, d + SOURCE, SYNC);
		break;
	case DELAY_REQ:
		if (p->ip->side != USK_SIDE_RECEIVED) {
			ask_anew(l, key(d, d + SOURCE, DELAY_REQ), p->ip);
		}
		break;
	case DELAY_RESP:
		if (p->n >= RESPONSE) {
			answer(l, p, d + REQUESTING, DELAY_REQ);
		}
		break;
	default:
		break;
	}
}

const struct usk_protocol usk_protocol_ptp = {
	.name = "ptp",
	.help = "Sync and Delay_Req of PTP version 2",
	.proto = 17,
	.port = { 319, 320 },
	.in_frame = in_frame,
	.take = take,
};
