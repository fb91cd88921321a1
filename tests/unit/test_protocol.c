/* SPDX-License-Identifier: MIT */
/*
 * Clocks inside packets: each protocol's packets in, what they say of whose clock out, rounded to
 * the safe side; and what is no such packet says nothing.
 */
#include "protocol/protocol.h"

#include "making.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)
#define NOW    (1700000000 * SECOND)
#define CLIENT UINT32_C(0x0a000001)
#define SERVER UINT32_C(0xc0000201)

static struct usk_listener *listener, *twin;
static const struct usk_reading *got;
static size_t n_got;
static enum usk_side side;	 /* of what is heard next */
static const char *padding = ""; /* of its frame */

static void listen_for(const char *protocols)
{
	struct usk_err err;
	uint32_t rows;
	usk_listener_free(listener);
	usk_listener_free(twin);
	assert_int_equal(usk_protocols_parse(protocols, &rows, &err), USK_OK);
	listener = usk_listener_new(rows);
	twin = usk_listener_new(rows);
}

/* What lies in memory behind a packet that was cut is not part of it: a twin that has the rest of
 * it there hears the same. The listener has it of its own size, so that a sanitizer sees who reads
 * beyond. */
static void listen(const struct bytes *b, size_t cut, struct usk_record r, uint16_t link)
{
	const size_t n = b->n < cut ? b->n : cut;
	size_t row, n_too;
	r.captured = (uint32_t)n;
	r.length = r.length ? r.length : (uint32_t)b->n;
	r.data = b->data;
	const struct usk_reading *too = usk_listen(twin, &r, link, &row, &n_too);
	uint8_t *copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, b->data, n);
	r.data = copy;
	got = usk_listen(listener, &r, link, &row, &n_got);
	free(copy);
	assert_int_equal(n_got, n_too);
	for (size_t i = 0; i < n_got; i++) {
		assert_int_equal(got[i].told, too[i].told);
		assert_int_equal(got[i].our_ns, too[i].our_ns);
		assert_int_equal(got[i].clock_ns, too[i].clock_ns);
		assert_int_equal(got[i].quantum_ns, too[i].quantum_ns);
		assert_string_equal(got[i].of, too[i].of);
	}
}

/* One packet, as much of it as cut leaves, seen at ns. */
static void hear_cut(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
		     const struct bytes *payload, int64_t ns, size_t cut)
{
	struct bytes b = { .big = true };
	uint32_t header = proto == TCP ? 20 : 8;
	put16(&b, 0x4500);
	put16(&b, (unsigned)(20 + header + payload->n));
	put32(&b, 0x10000);
	put8(&b, 64);
	put8(&b, proto);
	put16(&b, 0);
	put32(&b, answer ? SERVER : CLIENT);
	put32(&b, answer ? CLIENT : SERVER);
	put16(&b, answer ? server_port : client_port);
	put16(&b, answer ? client_port : server_port);
	if (proto == TCP) {
		put64(&b, 0);
		put16(&b, 0x5018);
		put_zeros(&b, 6);
	} else {
		put16(&b, (unsigned)(8 + payload->n));
		put16(&b, 0);
	}
	put(&b, payload->data, payload->n);
	put(&b, padding, strlen(padding));
	listen(&b, cut, (struct usk_record){ .time_ns = ns, .side = side }, LINK_RAW);
	bytes_free(&b);
}

static void hear(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
		 const struct bytes *payload, int64_t ns)
{
	hear_cut(answer, proto, client_port, server_port, payload, ns, SIZE_MAX);
}

static void expect(size_t i, bool told, int64_t our_ns, int64_t clock_ns)
{
	assert_true(i < n_got);
	assert_int_equal(got[i].told, told);
	assert_int_equal(got[i].our_ns, our_ns);
	assert_int_equal(got[i].clock_ns, clock_ns);
}

/* ---- NTP --------------------------------------------------------------------------------- */

/* ns after NOW, in NTP's fractions: multiples of 2^-9 s are exact in both. */
static uint64_t ntp(int64_t ns)
{
	int64_t all = NOW + ns;
	return (uint64_t)(all / SECOND + INT64_C(2208988800)) << 32 |
	       (uint64_t)(((all % SECOND) << 32) / SECOND);
}

struct ntp {
	unsigned mode, stratum;
	int precision;
	uint64_t origin, receive, transmit;
};

static void hear_ntp(const struct ntp *x, int64_t ns, size_t cut)
{
	struct bytes b = { .big = true };
	put8(&b, 4u << 3 | x->mode);
	put8(&b, x->stratum);
	put8(&b, 6);
	put8(&b, (uint8_t)x->precision);
	put_zeros(&b, 20);
	put64(&b, x->origin);
	put64(&b, x->receive);
	put64(&b, x->transmit);
	hear_cut(x->mode != 3, UDP, 40000, 123, &b, ns, cut);
	bytes_free(&b);
}

#define MS INT64_C(1000000)

static void test_ntp(void **state)
{
	(void)state;
	const struct ntp ask = { .mode = 3, .transmit = 0x1234567890abcdef };
	const struct ntp answer = { 4, 2, -20, ask.transmit, ntp(500 * MS), ntp(750 * MS) };
	/* 2^-20 s, and 2 ns for roundings. */
	const int64_t q = 953 + 2;
	listen_for("ntp");
	hear_ntp(&ask, NOW + 10, SIZE_MAX);
	assert_int_equal(n_got, 0);
	hear_ntp(&answer, NOW + 20, SIZE_MAX);
	assert_int_equal(n_got, 2);
	expect(0, false, NOW + 10, NOW + 500 * MS + q);
	expect(1, true, NOW + 20, NOW + 750 * MS - q);
	assert_string_equal(got[0].of, "192.0.2.1");
	hear_ntp(&answer, NOW + 30, SIZE_MAX);
	assert_int_equal(n_got, 0); /* a copy */
}

/* There its card may have stamped the request before we saw it. */
static void test_ntp_on_the_server(void **state)
{
	(void)state;
	const struct ntp ask = { .mode = 3, .transmit = 99 };
	const struct ntp answer = { 4, 2, -30, 99, ntp(500 * MS), ntp(750 * MS) };
	listen_for("ntp");
	side = USK_SIDE_RECEIVED;
	hear_ntp(&ask, NOW + 10, SIZE_MAX);
	side = USK_SIDE_SENT;
	hear_ntp(&answer, NOW + 20, SIZE_MAX);
	side = USK_SIDE_UNKNOWN;
	assert_int_equal(n_got, 2);
	expect(0, false, NOW + 10, NOW + 750 * MS + 2);
	expect(1, true, NOW + 20, NOW + 750 * MS - 2);
}

static void test_ntp_interleaved(void **state)
{
	(void)state;
	const struct ntp ask = { .mode = 3, .receive = 77, .transmit = 99 };
	const struct ntp answer = { 4, 2, -30, 77, ntp(500 * MS), ntp(250 * MS) };
	listen_for("all");
	hear_ntp(&ask, NOW + 10, SIZE_MAX);
	hear_ntp(&answer, NOW + 20, SIZE_MAX);
	assert_int_equal(n_got, 1);
	expect(0, false, NOW + 10, NOW + 500 * MS + 2);
}

static void test_ntp_says_nothing(void **state)
{
	(void)state;
	const struct ntp ask = { .mode = 3, .transmit = 99 };
	const struct ntp wrong[] = {
		{ 4, 2, -20, 98, ntp(0), ntp(0) },  /* another question */
		{ 4, 0, -20, 99, ntp(0), ntp(0) },  /* a refusal */
		{ 4, 16, -20, 99, ntp(0), ntp(0) }, /* not a clock */
		{ 4, 2, 30, 99, ntp(0), ntp(0) },   /* of 34 years */
		{ 4, 2, -20, 99, 0, ntp(0) },	    { 4, 2, -20, 99, ntp(0), 0 },
		{ 2, 2, -20, 99, ntp(0), ntp(0) },
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		listen_for("ntp");
		hear_ntp(&ask, NOW, SIZE_MAX);
		hear_ntp(&wrong[i], NOW, SIZE_MAX);
		assert_int_equal(n_got, 0);
	}
	const struct ntp answer = { 4, 2, -20, 99, ntp(0), ntp(0) };
	for (size_t cut = 0; cut < 28 + 48; cut++) {
		listen_for("ntp");
		hear_ntp(&ask, NOW, SIZE_MAX);
		hear_ntp(&answer, NOW, cut);
		assert_int_equal(n_got, 0);
	}
}

static void test_ntp_broadcast(void **state)
{
	(void)state;
	const struct ntp x = { 5, 1, -20, 0, 0, ntp(0) };
	listen_for("ntp");
	hear_ntp(&x, NOW + 5, SIZE_MAX);
	assert_int_equal(n_got, 1);
	expect(0, true, NOW + 5, NOW - 955);
}

static void test_ntp_eras(void **state)
{
	(void)state;
	assert_int_equal(usk_ntp_ns(UINT64_C(2208988800) << 32), 0);
	assert_int_equal(usk_ntp_ns(UINT64_C(0xffffffff) << 32), INT64_C(2085978495) * SECOND);
	assert_int_equal(usk_ntp_ns(0x80000000), INT64_C(2085978496) * SECOND + SECOND / 2);
}

/* ---- PTP --------------------------------------------------------------------------------- */

struct ptp {
	unsigned type, domain;
	bool two_step;
	uint16_t sequence;
	uint64_t s; /* of its stamp; its ns are 7 */
};

enum { SYNC = 0, DELAY_REQ = 1, FOLLOW_UP = 8, DELAY_RESP = 9 };

static void put_ptp(struct bytes *b, const struct ptp *x)
{
	bool slave = x->type == DELAY_REQ;
	put8(b, x->type);
	put8(b, 2);
	put16(b, x->type == DELAY_RESP ? 54 : 44);
	put8(b, x->domain);
	put8(b, 0);
	put16(b, x->two_step ? 0x200 : 0);
	put_zeros(b, 12);
	put64(b, slave ? 0x5555 : 0x1122334455667788);
	put16(b, slave ? 3 : 1);
	put16(b, x->sequence);
	put16(b, 0);
	put16(b, (unsigned)(x->s >> 32));
	put32(b, (uint32_t)x->s);
	put32(b, 7);
	if (x->type == DELAY_RESP) {
		put64(b, 0x5555);
		put16(b, 3);
	}
}

/* Over UDP, or in a frame of its own behind a VLAN tag; cut to so many bytes of it. */
static void hear_ptp(const struct ptp *x, bool frame, enum usk_side whose, int64_t ns, size_t cut)
{
	struct bytes b = { .big = true }, f = { .big = true };
	put_ptp(&b, x);
	b.n = b.n < cut ? b.n : cut;
	if (!frame) {
		hear(x->type != DELAY_REQ, UDP, 319, 319, &b, ns);
	} else {
		put_zeros(&f, 12);
		put32(&f, 0x81000001);
		put16(&f, 0x88f7);
		const size_t before = f.n;
		put_ptp(&f, x);
		listen(&f, before + b.n, (struct usk_record){ .time_ns = ns, .side = whose },
		       LINK_ETHERNET);
	}
	bytes_free(&b);
	bytes_free(&f);
}

/* In a cooked frame of either version, that says who sent it. */
static void hear_cooked(const struct ptp *x, unsigned version, unsigned type)
{
	struct bytes f = { .big = true };
	put16(&f, version == 1 ? type : 0x88f7);
	put_zeros(&f, 8);
	put8(&f, version == 1 ? 0 : type);
	put_zeros(&f, version == 1 ? 3 : 9);
	if (version == 1) {
		put16(&f, 0x88f7);
	}
	put_ptp(&f, x);
	listen(&f, SIZE_MAX, (struct usk_record){ .time_ns = NOW },
	       version == 1 ? LINK_SLL : LINK_SLL2);
	bytes_free(&f);
}

/* On the master itself a Sync is seen before its stamp, and a Delay_Req behind it; what others sent
 * to others (3) is not seen there. */
static void test_ptp_cooked(void **state)
{
	(void)state;
	const struct ptp sync = { SYNC, 0, false, 5, 1700000037 };
	const struct ptp ask = { DELAY_REQ, 0, false, 9, 0 };
	const struct ptp answer = { DELAY_RESP, 0, false, 9, 1700000037 };
	for (unsigned version = 1; version <= 2; version++) {
		for (unsigned type = 0; type <= 4; type++) {
			listen_for("ptp");
			hear_cooked(&sync, version, type);
			assert_int_equal(n_got, type != 4);
			hear_cooked(&ask, version, type);
			hear_cooked(&answer, version, type < 3 ? 4 : 0);
			assert_int_equal(n_got, type >= 3);
		}
	}
}

static void test_ptp(void **state)
{
	(void)state;
	const int64_t then = 1700000037 * SECOND + 7;
	for (int frame = 0; frame < 2; frame++) {
		const struct ptp one = { SYNC, 0, false, 5, 1700000037 };
		const struct ptp two = { SYNC, 0, true, 6, 0 };
		const struct ptp follow = { FOLLOW_UP, 0, false, 6, 1700000037 };
		const struct ptp ask = { DELAY_REQ, 0, false, 9, 0 };
		const struct ptp answer = { DELAY_RESP, 0, false, 9, 1700000037 };
		listen_for("ptp");
		hear_ptp(&one, frame, USK_SIDE_UNKNOWN, NOW, SIZE_MAX);
		assert_int_equal(n_got, 1);
		expect(0, true, NOW, then - 1);
		assert_string_equal(got[0].of, "1122334455667788");
		hear_ptp(&two, frame, USK_SIDE_UNKNOWN, NOW + 10, SIZE_MAX);
		assert_int_equal(n_got, 0);
		hear_ptp(&follow, frame, USK_SIDE_UNKNOWN, NOW + 20, SIZE_MAX);
		assert_int_equal(n_got, 1);
		expect(0, true, NOW + 10, then - 1);
		hear_ptp(&follow, frame, USK_SIDE_UNKNOWN, NOW + 30, SIZE_MAX);
		assert_int_equal(n_got, 0);
		hear_ptp(&ask, frame, USK_SIDE_UNKNOWN, NOW + 40, SIZE_MAX);
		hear_ptp(&answer, frame, USK_SIDE_UNKNOWN, NOW + 50, SIZE_MAX);
		assert_int_equal(n_got, 1);
		expect(0, false, NOW + 40, then + 1);
		/* A Follow_Up so late is of another Sync, whose number came again. */
		hear_ptp(&two, frame, USK_SIDE_UNKNOWN, NOW, SIZE_MAX);
		hear_ptp(&follow, frame, USK_SIDE_UNKNOWN, NOW + 60 * SECOND, SIZE_MAX);
		assert_int_equal(n_got, 0);
		for (size_t cut = 0; cut < 44; cut++) {
			hear_ptp(&one, frame, USK_SIDE_UNKNOWN, NOW, cut);
			assert_int_equal(n_got, 0);
		}
		const struct ptp other = { SYNC, 3, false, 5, 1700000037 };
		hear_ptp(&other, frame, USK_SIDE_UNKNOWN, NOW, SIZE_MAX);
		assert_string_equal(got[0].of, "1122334455667788/3");
	}
	/* On the master itself we see a Sync before its stamp, and a Delay_Req behind it. */
	const struct ptp one = { SYNC, 0, false, 5, 1700000037 };
	const struct ptp ask = { DELAY_REQ, 0, false, 9, 0 };
	const struct ptp answer = { DELAY_RESP, 0, false, 9, 1700000037 };
	hear_ptp(&one, true, USK_SIDE_SENT, NOW, SIZE_MAX);
	assert_int_equal(n_got, 0);
	hear_ptp(&ask, true, USK_SIDE_RECEIVED, NOW, SIZE_MAX);
	hear_ptp(&answer, true, USK_SIDE_SENT, NOW, SIZE_MAX);
	assert_int_equal(n_got, 0);
}

/* ---- RTCP -------------------------------------------------------------------------------- */

static void hear_report(bool answer, uint32_t source, uint64_t now, uint32_t of, uint32_t last,
			uint32_t since, bool named, int64_t ns)
{
	struct bytes b = { .big = true };
	put8(&b, 0x80 | (of != 0));
	put8(&b, 200);
	put16(&b, of ? 12 : 6);
	put32(&b, source);
	put64(&b, now);
	put_zeros(&b, 12);
	if (of) {
		put32(&b, of);
		put_zeros(&b, 12);
		put32(&b, last);
		put32(&b, since);
	}
	if (named) {
		put32(&b, 0x81ca0002);
		put32(&b, source);
		put32(&b, 0);
	}
	hear(answer, UDP, 5005, 6005, &b, ns);
	bytes_free(&b);
}

static void test_rtcp(void **state)
{
	(void)state;
	listen_for("rtcp");
	hear_report(false, 11, ntp(0), 0, 0, 0, true, NOW + 10);
	assert_int_equal(n_got, 1);
	expect(0, true, NOW + 10, NOW - 1);
	assert_string_equal(got[0].of, "10.0.0.1");
	/* The other side had that report half a second before it made its own. */
	hear_report(true, 22, ntp(750 * MS), 11, (uint32_t)(ntp(0) >> 16), 0x8000, true, NOW + 20);
	assert_int_equal(n_got, 2);
	expect(1, false, NOW + 10, NOW + 250 * MS + SECOND / 64 + 15259);
	assert_string_equal(got[1].of, "192.0.2.1");
	hear_report(true, 22, ntp(750 * MS), 12, (uint32_t)(ntp(0) >> 16), 0x8000, true, NOW + 20);
	assert_int_equal(n_got, 1); /* of somebody else */
	hear_report(false, 11, ntp(0), 0, 0, 0, false, NOW + 10);
	assert_int_equal(n_got, 0); /* says not who */
}

/* ---- HTTP, Kerberos, SMB2 ---------------------------------------------------------------- */

/* NOW as HTTP has it. */
#define DATE "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"

static void hear_text(bool answer, const char *text, int64_t ns)
{
	struct bytes b = { .big = true };
	put_text(&b, text);
	hear(answer, TCP, 40000, 8080, &b, ns);
	bytes_free(&b);
}

static void test_http(void **state)
{
	(void)state;
	static const struct {
		const char *answer;
		size_t readings;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nServer: x\r\n" DATE "\r\n", 2 },
		{ "HTTP/1.0 404 No\r\ndate:   Tue, 14 Nov 2023 22:13:20 GMT\r\n\r\nbody", 2 },
		{ "HTTP/1.1 200 OK\r\n" DATE "Age: 7\r\n\r\n", 1 },
		{ "HTTP/1.1 200 OK\r\nVia: 1.1 x\r\n" DATE "\r\n", 1 },
		{ "HTTP/1.1 200 OK\r\n" DATE, 1 }, /* who knows what follows */
		{ "HTTP/1.1 200 OK\r\n\r\n" DATE "\r\n", 0 },
		{ "HTTP/1.1 200 OK\r\nDate: Tue, 14 Nox 2023 22:13:20 GMT\r\n\r\n", 0 },
		{ "HTTP/1.1 200 OK\r\nDate: Tue, 14 Nov 2023 22:13:2", 0 },
		{ "HTTP/1.1 200 OK\r\nDate: Tue, 14 Nov 2023 22:13:60 CET\r\n\r\n", 0 },
		{ "xHTTP/1.1 200 OK\r\n" DATE "\r\n", 0 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		listen_for("http");
		hear_text(false, "GET / HTTP/1.1\r\n", NOW + 1);
		assert_int_equal(n_got, 0);
		hear_text(true, cases[i].answer, NOW + 2);
		assert_int_equal(n_got, cases[i].readings);
		for (size_t k = 0; k < n_got; k++) {
			expect(k, !k, k ? NOW + 1 : NOW + 2, k ? NOW + 2 * SECOND - 1 : NOW);
		}
	}
	/* The second of two questions at once has no question of its own. */
	listen_for("http");
	hear_text(false, "GET / HTTP/1.1\r\n", NOW + 1);
	hear_text(false, "GET / HTTP/1.1\r\n", NOW + 2);
	hear_text(true, cases[0].answer, NOW + 3);
	assert_int_equal(n_got, 2);
	expect(1, false, NOW + 1, NOW + 2 * SECOND - 1);
	hear_text(true, cases[0].answer, NOW + 4);
	assert_int_equal(n_got, 1);
}

static void test_krb5(void **state)
{
	(void)state;
	static const uint8_t ask[] = { 0x6a, 0 };
	/* pvno, msg-type, stime, susec 500000, error-code, realm left out. */
	static const char error[] = "\x7e\x2b\x30\x29\xa0\x03\x02\x01\x05\xa1\x03\x02\x01\x1e"
				    "\xa4\x11\x18\x0f"
				    "20231114221320Z"
				    "\xa5\x05\x02\x03\x07\xa1\x20"
				    "\xa6\x03\x02\x01\x19";
	for (int tcp = 0; tcp < 2; tcp++) {
		for (size_t cut = 0; cut < sizeof error; cut++) {
			struct bytes q = { .big = true }, b = { .big = true };
			if (tcp) {
				put32(&q, sizeof ask);
				put32(&b, sizeof error - 1);
			}
			put(&q, ask, sizeof ask);
			put(&b, error, cut);
			listen_for("krb5");
			hear(false, tcp ? TCP : UDP, 40000, 88, &q, NOW + 1);
			hear(true, tcp ? TCP : UDP, 40000, 88, &b, NOW + 2);
			assert_int_equal(n_got, cut == sizeof error - 1 ? 2 : 0);
			bytes_free(&q);
			bytes_free(&b);
		}
		expect(0, false, NOW + 1, NOW + 500 * MS + SECOND / 64);
		expect(1, true, NOW + 2, NOW + 500 * MS);
		/* It is a question once its kind is there: what pads the frame is none. */
		for (size_t n = 0; n <= sizeof ask; n++) {
			struct bytes q = { .big = true }, b = { .big = true };
			if (tcp) {
				put32(&q, sizeof ask);
				put32(&b, sizeof error - 1);
			}
			put(&q, ask, n);
			put(&b, error, sizeof error - 1);
			listen_for("krb5");
			padding = "\x6a";
			hear(false, tcp ? TCP : UDP, 40000, 88, &q, NOW + 1);
			padding = "";
			hear(true, tcp ? TCP : UDP, 40000, 88, &b, NOW + 2);
			assert_int_equal(n_got, n ? 2 : 0);
			bytes_free(&q);
			bytes_free(&b);
		}
	}
}

/* The same error in lengths of 1 to 4 bytes more than need be: three are read, as no error is
 * longer than 16 MiB. */
static void test_krb5_lengths(void **state)
{
	(void)state;
	static const char fields[] = "\xa4\x11\x18\x0f"
				     "20231114221320Z"
				     "\xa5\x05\x02\x03\x07\xa1\x20";
	for (unsigned outer = 1; outer <= 5; outer++) {
		for (size_t less = 0; less < 2; less++) {
			struct bytes q = { .big = true }, b = { .big = true };
			put16(&q, 0x6a00);
			put8(&b, 0x7e);
			put8(&b, 0x80 | outer);
			put_zeros(&b, outer - 1);
			put8(&b, sizeof fields + 2);
			put8(&b, 0x30);
			put8(&b, 0x81);
			put8(&b, sizeof fields - 1);
			put(&b, fields, sizeof fields - 1 - less);
			listen_for("krb5");
			hear(false, UDP, 40000, 88, &q, NOW + 1);
			hear(true, UDP, 40000, 88, &b, NOW + 2);
			assert_int_equal(n_got, outer <= 3 && !less ? 2 : 0);
			if (n_got) {
				expect(1, true, NOW + 2, NOW + 500 * MS);
			}
			bytes_free(&q);
			bytes_free(&b);
		}
	}
}

static void test_smb2(void **state)
{
	(void)state;
	const uint64_t units = UINT64_C(116444736000000000) + (uint64_t)NOW / 100 + 3;
	for (size_t cut = 100; cut <= 116; cut++) {
		struct bytes q = { .big = true }, b = { .big = true };
		put32(&q, 70);
		put_text(&q, "\xfeSMB");
		put_zeros(&q, 66);
		put32(&b, 128);
		put_text(&b, "\xfeSMB");
		put_zeros(&b, 12);
		put8(&b, 1);
		put_zeros(&b, 47);
		put8(&b, 65);
		put_zeros(&b, 39);
		for (int i = 0; i < 8; i++) {
			put8(&b, (uint8_t)(units >> (8 * i)));
		}
		b.n = cut;
		listen_for("smb2");
		hear(false, TCP, 40000, 445, &q, NOW + 1);
		assert_int_equal(n_got, 0);
		hear(true, TCP, 40000, 445, &b, NOW + 2);
		assert_int_equal(n_got, cut == 116 ? 2 : 0);
		bytes_free(&q);
		bytes_free(&b);
	}
	expect(0, false, NOW + 1, NOW + 300 + SECOND / 64);
	expect(1, true, NOW + 2, NOW + 300);
}

/* ---- 802.11 ------------------------------------------------------------------------------ */

/* flags < 0: without radiotap. more: words that follow the one that says what there is. */
static void hear_beacon(unsigned kind, int flags, uint32_t has, uint32_t more, enum usk_side whose,
			size_t cut)
{
	struct bytes b = { 0 };
	if (flags >= 0) {
		size_t fields = 8 + 4 * more;
		size_t counter = has & 1 ? (8 - fields % 8) % 8 + 8 : 0;
		put16(&b, 0);
		put16(&b, (unsigned)(fields + counter + 4));
		for (uint32_t i = 0; i <= more; i++) {
			put32(&b, (i ? 0 : has) | (uint32_t)(i < more) << 31);
		}
		/* What is read as flags a byte too early says "damaged". */
		for (size_t i = 0; i < counter; i++) {
			put8(&b, 0x40);
		}
		put32(&b, (uint32_t)flags);
	}
	put16(&b, kind);
	put_zeros(&b, 14);
	put(&b, "\x02\x11\x22\x33\x44\x55", 6);
	put16(&b, 0);
	put64(&b, 5000001);
	listen(&b, cut, (struct usk_record){ .time_ns = NOW, .length = 99, .side = whose },
	       flags < 0 ? 105 : 127);
	bytes_free(&b);
}

static void test_wlan(void **state)
{
	(void)state;
	listen_for("wlan");
	hear_beacon(0x80, -1, 0, 0, USK_SIDE_UNKNOWN, SIZE_MAX);
	assert_int_equal(n_got, 1);
	expect(0, true, NOW, 5000001000);
	assert_string_equal(got[0].of, "02:11:22:33:44:55");
	static const struct {
		unsigned kind;
		int flags;
		uint32_t has;
		enum usk_side side;
		size_t readings;
	} cases[] = {
		{ 0x80, 0, 3, USK_SIDE_UNKNOWN, 1 },
		{ 0x50, 0x10, 2, USK_SIDE_RECEIVED, 1 },
		{ 0x80, 0x40, 3, USK_SIDE_UNKNOWN, 0 }, /* damaged */
		{ 0x80, 0x40, 2, USK_SIDE_UNKNOWN, 0 },
		{ 0x80, 0, 0x8002, USK_SIDE_UNKNOWN, 0 }, /* its own */
		{ 0x80, 0, 2, USK_SIDE_SENT, 0 },
		{ 0x88, 0, 2, USK_SIDE_UNKNOWN, 0 },   /* data */
		{ 0x4080, 0, 2, USK_SIDE_UNKNOWN, 0 }, /* encrypted */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (uint32_t more = 0; more < 4; more++) {
			hear_beacon(cases[i].kind, cases[i].flags, cases[i].has, more,
				    cases[i].side, SIZE_MAX);
			assert_int_equal(n_got, cases[i].readings);
		}
	}
	for (size_t cut = 0; cut < 20 + 32; cut++) {
		hear_beacon(0x80, 0, 3, 0, USK_SIDE_UNKNOWN, cut);
		assert_int_equal(n_got, 0);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	(void)state;
	struct usk_err err;
	uint32_t rows;
	assert_int_equal(usk_protocols_parse(NULL, &rows, &err), USK_OK);
	assert_int_equal(rows, 0);
	assert_int_equal(usk_protocols_parse("all", &rows, &err), USK_OK);
	for (size_t i = 0; usk_protocol(i); i++) {
		assert_true(rows >> i & 1);
	}
	assert_int_equal(usk_protocols_parse("ntp", &rows, &err), USK_OK);
	assert_int_equal(rows, 1);
	const char *wrong[] = { "", "ntp,", "nt", "ntpx", "NTP", "all,no" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		assert_int_equal(usk_protocols_parse(wrong[i], &rows, &err), USK_EUSAGE);
	}
}

/* Of more questions than are remembered, the latest are answered. */
static void test_many_questions(void **state)
{
	(void)state;
	listen_for("ntp");
	enum { MANY = 100000 };
	for (uint64_t i = 1; i <= MANY; i++) {
		const struct ntp ask = { .mode = 3, .transmit = i };
		hear_ntp(&ask, NOW + (int64_t)i, SIZE_MAX);
	}
	const struct ntp answer = { 4, 2, -30, MANY, ntp(0), ntp(0) };
	hear_ntp(&answer, NOW + MANY + 1, SIZE_MAX);
	assert_int_equal(n_got, 2);
	expect(0, false, NOW + MANY, NOW + 2);
}

static int stop(void **state)
{
	(void)state;
	usk_listener_free(listener);
	usk_listener_free(twin);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ntp),
		cmocka_unit_test(test_ntp_on_the_server),
		cmocka_unit_test(test_ntp_interleaved),
		cmocka_unit_test(test_ntp_says_nothing),
		cmocka_unit_test(test_ntp_broadcast),
		cmocka_unit_test(test_ntp_eras),
		cmocka_unit_test(test_ptp),
		cmocka_unit_test(test_ptp_cooked),
		cmocka_unit_test(test_rtcp),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_krb5),
		cmocka_unit_test(test_krb5_lengths),
		cmocka_unit_test(test_smb2),
		cmocka_unit_test(test_wlan),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many_questions),
	};
	return cmocka_run_group_tests(tests, NULL, stop);
}
