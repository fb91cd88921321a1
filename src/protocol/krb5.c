/* SPDX-License-Identifier: MIT */
/*
 * krb5.c - Kerberos: the server's time in KRB-ERROR
 *
 * In    requests and errors over UDP and TCP (RFC 4120)
 * Out   we saw the request before the server's clock showed stime and susec, and that before we saw
 *       the error
 * Why   the first answer of most logins is an error: that it needs pre-authentication
 * Not   tickets, whose times are encrypted
 *
 * A server may read a clock that ticks 64 times a second: its stamp is early by up to that, and
 * where it says no microseconds by up to a second.
 */
#include "protocol/protocol.h"
#include "base/text.h"

#include <stdio.h>

enum { AS_REQ = 0x6a, TGS_REQ = 0x6c, KRB_ERROR = 0x7e, SEQUENCE = 0x30, INTEGER = 2, TIME = 0x18 };
enum { STIME = 0xa4, SUSEC = 0xa5 };

#define SECOND INT64_C(1000000000)

struct der {
	const uint8_t *d;
	size_t n;
};

/* The next element of this tag at the start of in; *out is what it holds, in is what is left. */
static bool enter(struct der *in, unsigned tag, struct der *out)
{
	if (in->n < 2 || in->d[0] != tag) {
		return false;
	}
	size_t length = in->d[1], at = 2;
	if (length & 0x80) {
		size_t bytes = length & 0x7f;
		length = 0;
		if (bytes > 3 || in->n < at + bytes) {
			return false;
		}
		for (; bytes; bytes--) {
			length = length << 8 | in->d[at++];
		}
	}
	if (length > in->n - at) {
		return false;
	}
	*out = (struct der){ in->d + at, length };
	in->d += at + length;
	in->n -= at + length;
	return true;
}

/* The field of a sequence, whose fields rise. */
static bool field(struct der *in, unsigned tag, unsigned type, struct der *out)
{
	struct der at;
	while (in->n && in->d[0] < tag && enter(in, in->d[0], &at)) {
	}
	return enter(in, tag, &at) && enter(&at, type, out);
}

/* "19700101000000Z" */
static bool time_of(const struct der *t, int64_t *ns)
{
	const char *d = (const char *)t->d;
	char same[32];
	if (t->n != 15 || d[14] != 'Z') {
		return false;
	}
	int n = snprintf(same, sizeof same, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", d, d + 4, d + 6,
			 d + 8, d + 10, d + 12);
	return !usk_parse_rfc3339(same, (size_t)n, ns, NULL);
}

static bool microseconds(const struct der *t, int64_t *us)
{
	*us = 0;
	for (size_t i = 0; i < t->n && i < 4; i++) {
		*us = *us << 8 | t->d[i];
	}
	return t->n && t->n <= 4 && *us < 1000000;
}

static void take_error(struct usk_listener *l, const struct usk_heard_packet *p, struct der body)
{
	struct usk_question *q = usk_question_of(l, usk_question_key(p->ip, true, 0));
	struct der at, fields;
	int64_t ns, us;
	if (!q || !enter(&body, KRB_ERROR, &at) || !enter(&at, SEQUENCE, &fields) ||
	    !field(&fields, STIME, TIME, &at) || !time_of(&at, &ns) ||
	    !field(&fields, SUSEC, INTEGER, &at) || !microseconds(&at, &us)) {
		return;
	}
	ns += us * 1000;
	usk_tell_later(l, p->ip->src, ns, us ? USK_SYSTEM_TICK_NS : SECOND - 1, q->our_ns);
	usk_tell(l, p->ip->src, ns, 0, p->ip->time_ns);
	usk_question_done(q);
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	/* Over TCP its length stands before it. */
	size_t skip = p->ip->proto == 6 ? 4 : 0;
	if (p->n <= skip) {
		return;
	}
	uint8_t kind = p->data[skip];
	if (kind == AS_REQ || kind == TGS_REQ) {
		usk_question_ask(l, usk_question_key(p->ip, false, 0), p->ip, 0);
	} else if (kind == KRB_ERROR) {
		take_error(l, p, (struct der){ p->data + skip, p->n - skip });
	}
}

const struct usk_protocol usk_protocol_krb5 = {
	.name = "krb5",
	.help = "errors of Kerberos servers",
	.proto = 17,
	.also = 6,
	.port = { 88 },
	.take = take,
};
