/* SPDX-License-Identifier: MIT */
/*
 * ntp.c - NTP: the server's stamps of a request and of its answer
 *
 * In    requests of clients (mode 3), answers of servers (4), broadcasts (5); versions 1 to 4
 * Out   we saw the request before the server received it, T2, and it sent its answer, T3, before
 *       we saw that
 * Why   T2 and T3 are reads of the server's clock, good to 2^precision s, which the answer says
 * Not   T1 and T4: what a client writes as its transmit time may be random, so that it tells
 * nothing about it (RFC 8915, data minimization). Symmetric peers; NTS needs nothing, as the header
 * is in the clear
 *
 * An answer whose origin is the request's transmit stamp is basic, all of it is of this exchange.
 * In interleaved mode (RFC 9769) the origin is the request's receive stamp, and T3 is that of the
 * answer before, so only T2 counts.
 */
#include "protocol/protocol.h"

enum {
	HEADER = 48,
	CLIENT = 3,
	SERVER = 4,
	BROADCAST = 5,
	RECEIVE = 32,
	TRANSMIT = 40,
	ORIGIN = 24
};

/* 1900 to 1970, and from one turn of the seconds to the next. */
#define NTP_TO_UNIX INT64_C(2208988800)
#define NTP_ERA	    (INT64_C(1) << 32)

int64_t usk_ntp_ns(uint64_t stamp)
{
	int64_t s = (int64_t)(stamp >> 32);
	s += (s >> 31 ? 0 : NTP_ERA) - NTP_TO_UNIX;
	return s * 1000000000 + (int64_t)((stamp & UINT32_MAX) * 1000000000 >> 32);
}

/* 2^precision s, rounded up, and the ns that a stamp loses; 0: no clock is as coarse. */
static int64_t quantum(uint8_t precision)
{
	int log2 = precision < 128 ? precision : precision - 256;
	if (log2 > 6) {
		return 0;
	}
	int64_t most = INT64_C(64) * 1000000000;
	return (log2 < -30 ? 0 : most >> (6 - log2)) + 2;
}

static void take_request(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint64_t stamp[] = { usk_be64(p->data + TRANSMIT), usk_be64(p->data + RECEIVE) };
	for (int i = 0; i < 2; i++) {
		if (stamp[i]) {
			usk_question_ask(l, usk_question_key(p->ip, false, stamp[i]), p->ip, i);
		}
	}
}

static void take_answer(struct usk_listener *l, const struct usk_heard_packet *p, int64_t q_ns)
{
	uint64_t origin = usk_be64(p->data + ORIGIN), receive = usk_be64(p->data + RECEIVE);
	uint64_t transmit = usk_be64(p->data + TRANSMIT);
	struct usk_question *q = usk_question_of(l, usk_question_key(p->ip, true, origin));
	if (!q || !origin || !receive || !transmit) {
		return;
	}
	bool interleaved = q->value;
	/* Where the server itself recorded, its card may have stamped the request before. */
	bool at_server = q->side == USK_SIDE_RECEIVED;
	if (!at_server) {
		usk_tell_later(l, p->ip->src, usk_ntp_ns(receive), q_ns, q->our_ns);
	} else if (!interleaved) {
		usk_tell_later(l, p->ip->src, usk_ntp_ns(transmit), q_ns, q->our_ns);
	}
	if (!interleaved) {
		usk_tell(l, p->ip->src, usk_ntp_ns(transmit), q_ns, p->ip->time_ns);
	}
	usk_question_done(q);
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	if (p->n < HEADER) {
		return;
	}
	unsigned mode = p->data[0] & 7, stratum = p->data[1];
	int64_t q_ns = quantum(p->data[3]);
	/* Stratum 0 is no clock but a refusal. */
	bool clock = stratum && stratum < 16 && q_ns;
	if (mode == CLIENT) {
		take_request(l, p);
	} else if (mode == SERVER && clock) {
		take_answer(l, p, q_ns);
	} else if (mode == BROADCAST && clock && usk_be64(p->data + TRANSMIT)) {
		usk_tell(l, p->ip->src, usk_ntp_ns(usk_be64(p->data + TRANSMIT)), q_ns,
			 p->ip->time_ns);
	}
}

const struct usk_protocol usk_protocol_ntp = {
	.name = "ntp",
	.help = "requests and answers of NTP",
	.proto = 17,
	.port = { 123 },
	.take = take,
};
