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

static struct usk_listener *listener;
static const struct usk_reading *got;
static size_t n_got;

static void listen_for(const char *protocols)
{
	struct usk_err err;
	uint32_t rows;
	usk_listener_free(listener);
	assert_int_equal(usk_protocols_parse(protocols, &rows, &err), USK_OK);
	listener = usk_listener_new(rows);
}

/* One packet, as much of it as cut leaves, seen at ns. */
static void hear_cut(bool answer, uint8_t proto, uint16_t client_port, uint16_t server_port,
		     const struct bytes *payload, int64_t ns, size_t cut)
{
	struct bytes b = { .big = true };
	uint32_t header = proto == TCP ? 20 : 8;
	put16(&b, 0x4500);
	put16(&b, (unsigned)(20 + header + payload->n));
	put32(&b, 0);
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
	/* Of its own size, so that a sanitizer sees who reads beyond. */
	size_t n = b.n < cut ? b.n : cut, row;
	uint8_t *copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, b.data, n);
	const struct usk_record r = {
		.time_ns = ns, .data = copy, .captured = (uint32_t)n, .length = (uint32_t)b.n
	};
	got = usk_listen(listener, &r, LINK_RAW, &row, &n_got);
	free(copy);
	bytes_free(&b);
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
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ntp),
		cmocka_unit_test(test_ntp_interleaved),
		cmocka_unit_test(test_ntp_says_nothing),
		cmocka_unit_test(test_ntp_broadcast),
		cmocka_unit_test(test_ntp_eras),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many_questions),
	};
	return cmocka_run_group_tests(tests, NULL, stop);
}
