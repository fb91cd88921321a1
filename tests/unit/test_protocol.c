/* SPDX-License-Identifier: MIT */
/*
 * Clocks inside packets: each protocol's packets in, what they say of whose clock out, rounded to
 * the safe side; and what is no such packet says nothing.
 */
#include "heard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
	expect_reading(0, false, NOW + 10, NOW + 500 * MS + q);
	expect_reading(1, true, NOW + 20, NOW + 750 * MS - q);
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
	expect_reading(0, false, NOW + 10, NOW + 750 * MS + 2);
	expect_reading(1, true, NOW + 20, NOW + 750 * MS - 2);
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
	expect_reading(0, false, NOW + 10, NOW + 500 * MS + 2);
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
	expect_reading(0, true, NOW + 5, NOW - 955);
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
		hear_frame(&f, before + b.n, (struct usk_record){ .time_ns = ns, .side = whose },
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
	hear_frame(&f, SIZE_MAX, (struct usk_record){ .time_ns = NOW },
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
		expect_reading(0, true, NOW, then - 1);
		assert_string_equal(got[0].of, "1122334455667788");
		hear_ptp(&two, frame, USK_SIDE_UNKNOWN, NOW + 10, SIZE_MAX);
		assert_int_equal(n_got, 0);
		hear_ptp(&follow, frame, USK_SIDE_UNKNOWN, NOW + 20, SIZE_MAX);
		assert_int_equal(n_got, 1);
		expect_reading(0, true, NOW + 10, then - 1);
		hear_ptp(&follow, frame, USK_SIDE_UNKNOWN, NOW + 30, SIZE_MAX);
		assert_int_equal(n_got, 0);
		hear_ptp(&ask, frame, USK_SIDE_UNKNOWN, NOW + 40, SIZE_MAX);
		hear_ptp(&answer, frame, USK_SIDE_UNKNOWN, NOW + 50, SIZE_MAX);
		assert_int_equal(n_got, 1);
		expect_reading(0, false, NOW + 40, then + 1);
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
	expect_reading(0, true, NOW + 10, NOW - 1);
	assert_string_equal(got[0].of, "10.0.0.1");
	/* The other side had that report half a second before it made its own. */
	hear_report(true, 22, ntp(750 * MS), 11, (uint32_t)(ntp(0) >> 16), 0x8000, true, NOW + 20);
	assert_int_equal(n_got, 2);
	expect_reading(1, false, NOW + 10, NOW + 250 * MS + SECOND / 64 + 15259);
	assert_string_equal(got[1].of, "192.0.2.1");
	hear_report(true, 22, ntp(750 * MS), 12, (uint32_t)(ntp(0) >> 16), 0x8000, true, NOW + 20);
	assert_int_equal(n_got, 1); /* of somebody else */
	hear_report(false, 11, ntp(0), 0, 0, 0, false, NOW + 10);
	assert_int_equal(n_got, 0); /* says not who */
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
	expect_reading(0, false, NOW + MANY, NOW + 2);
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
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many_questions),
	};
	return cmocka_run_group_tests(tests, NULL, stop_listening);
}
