/* SPDX-License-Identifier: MIT */
/*
 * rtcp.c - RTCP: the wall clock in sender reports
 *
 * In    compound packets in the clear (RFC 3550) of any port, that begin with a sender report
 * Out   the sender's clock showed its time before we saw the report; and, by the report of the
 *       other side, it received the other's report after we saw that
 * Why   calls and streams have a clock at each end, and name the report they answer
 * Not   encrypted ones; reports of reduced size (RFC 5506): without SDES anything may look like one
 *
 * A report does not say how coarse its time is: many senders fill it from a clock that counts ms, or
 * ticks 64 times a second.
 */
#include "protocol/protocol.h"

enum { SR = 200, SDES = 202, FIRST_TYPE = 192, LAST_TYPE = 223, BLOCKS = 28, BLOCK = 24 };

/* A unit of DLSR, 2^-16 s, rounded up. */
enum { DELAY_NS = 15259 };

/* All of it is packets of version 2, the first a sender report, and one says who (A.2 there). */
static bool is_compound(const struct usk_heard_packet *p)
{
	bool named = false;
	size_t at = 0;
	if (p->n != p->ip->bytes || p->n < BLOCKS || p->data[1] != SR || p->data[0] & 32) {
		return false;
	}
	while (at + 4 <= p->n) {
		const uint8_t *d = p->data + at;
		if (d[0] >> 6 != 2 || d[1] < FIRST_TYPE || d[1] > LAST_TYPE) {
			return false;
		}
		named |= d[1] == SDES;
		at += (usk_be16(d + 2) + 1u) * 4u;
	}
	size_t own = (usk_be16(p->data + 2) + 1u) * 4u;
	return at == p->n && named && own >= BLOCKS + (p->data[0] & 31u) * BLOCK;
}

/* Who sent a report, and the middle of its time: what the other side calls it. */
static uint64_t key(uint32_t source, uint32_t report)
{
	return (uint64_t)source << 32 | report;
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint8_t *d = p->data;
	uint64_t now = is_compound(p) ? usk_be64(d + 8) : 0;
	if (!now) {
		return;
	}
	int64_t ns = usk_ntp_ns(now);
	usk_tell(l, p->ip->src, ns, 1, p->ip->time_ns);
	for (unsigned i = 0; i < (d[0] & 31u); i++) {
		const uint8_t *b = d + BLOCKS + (size_t)i * BLOCK;
		uint32_t last = usk_be32(b + 16), since = usk_be32(b + 20);
		struct usk_question *q = last ? usk_question_of(l, key(usk_be32(b), last)) : NULL;
		if (q) {
			int64_t ago = (int64_t)((uint64_t)since * 1000000000 >> 16);
			usk_tell_later(l, p->ip->src, ns - ago, USK_SYSTEM_TICK_NS + DELAY_NS,
				       q->our_ns);
		}
	}
	usk_question_ask(l, key(usk_be32(d + 4), (uint32_t)(now >> 16)), p->ip, 0);
}

const struct usk_protocol usk_protocol_rtcp = {
	.name = "rtcp",
	.help = "sender reports of RTCP",
	.proto = 17,
	.take = take,
};
