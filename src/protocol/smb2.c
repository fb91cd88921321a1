/* SPDX-License-Identifier: MIT */
/*
 * smb2.c - SMB2: the server's time in the answer to NEGOTIATE
 *
 * In    the first request of a connection, of SMB2 or SMB1, and its answer
 * Out   we saw the request before the server's clock showed SystemTime, and that before we saw the
 *       answer
 * Why   every connection to a file server begins with it
 * Not   times of files, which are of any clock
 *
 * SystemTime counts 100 ns, but a server's clock may tick 64 times a second: its stamp is early by
 * up to that.
 */
#include "protocol/protocol.h"
#include "base/bytes.h"

#include <string.h>

enum { PREFIX = 4, COMMAND = 12, FLAGS = 16, HEADER = 64, SYSTEM_TIME = HEADER + 40 };
enum { NEGOTIATE1 = 0x72, IS_ANSWER = 1, ANSWER_SIZE = 65 };

#define UNITS_TO_1970 UINT64_C(116444736000000000)

static void take_answer(struct usk_listener *l, const struct usk_heard_packet *p, const uint8_t *d)
{
	struct usk_question *q = usk_question_of(l, usk_question_key(p->ip, true, 0));
	uint64_t units = usk_le64(d + SYSTEM_TIME);
	if (!q || units < UNITS_TO_1970 || units - UNITS_TO_1970 > (uint64_t)USK_TIME_MAX / 100) {
		return;
	}
	int64_t ns = (int64_t)(units - UNITS_TO_1970) * 100;
	usk_tell_later(l, p->ip->src, ns, USK_SYSTEM_TICK_NS, q->our_ns);
	usk_tell(l, p->ip->src, ns, 0, p->ip->time_ns);
	usk_question_done(q);
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint8_t *d = p->data + PREFIX;
	size_t n = p->n < PREFIX ? 0 : p->n - PREFIX;
	bool first = n >= 32 && !memcmp(d, "\xffSMB", 4) && d[4] == NEGOTIATE1 && !(d[9] & 0x80);
	bool second = n >= HEADER + 2 && !memcmp(d, "\xfeSMB", 4) && !d[COMMAND] && !d[COMMAND + 1];
	if (first || (second && !(d[FLAGS] & IS_ANSWER))) {
		usk_question_ask(l, usk_question_key(p->ip, false, 0), p->ip, 0);
	} else if (second && n >= SYSTEM_TIME + 8 && d[HEADER] == ANSWER_SIZE && !d[HEADER + 1]) {
		take_answer(l, p, d);
	}
}

const struct usk_protocol usk_protocol_smb2 = {
	.name = "smb2",
	.help = "answers to NEGOTIATE of SMB2",
	.proto = 6,
	.port = { 445 },
	.take = take,
};
