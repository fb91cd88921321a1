/* SPDX-License-Identifier: MIT */
/*
 * Clocks inside packets that are about something else: HTTP, Kerberos, SMB2 and beacons of 802.11 in, what they say
 * of whose clock out; and what is no such packet says nothing.
 */
#include "heard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
			expect_reading(k, !k, k ? NOW + 1 : NOW + 2,
				       k ? NOW + 2 * SECOND - 1 : NOW);
		}
	}
	/* The second of two questions at once has no question of its own. */
	listen_for("http");
	hear_text(false, "GET / HTTP/1.1\r\n", NOW + 1);
	hear_text(false, "GET / HTTP/1.1\r\n", NOW + 2);
	hear_text(true, cases[0].answer, NOW + 3);
	assert_int_equal(n_got, 2);
	expect_reading(1, false, NOW + 1, NOW + 2 * SECOND - 1);
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
		expect_reading(0, false, NOW + 1, NOW + 500 * MS + SECOND / 64);
		expect_reading(1, true, NOW + 2, NOW + 500 * MS);
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
				expect_reading(1, true, NOW + 2, NOW + 500 * MS);
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
	expect_reading(0, false, NOW + 1, NOW + 300 + SECOND / 64);
	expect_reading(1, true, NOW + 2, NOW + 300);
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
	hear_frame(&b, cut, (struct usk_record){ .time_ns = NOW, .length = 99, .side = whose },
		   flags < 0 ? 105 : 127);
	bytes_free(&b);
}

static void test_wlan(void **state)
{
	(void)state;
	listen_for("wlan");
	hear_beacon(0x80, -1, 0, 0, USK_SIDE_UNKNOWN, SIZE_MAX);
	assert_int_equal(n_got, 1);
	expect_reading(0, true, NOW, 5000001000);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),	     cmocka_unit_test(test_krb5),
		cmocka_unit_test(test_krb5_lengths), cmocka_unit_test(test_smb2),
		cmocka_unit_test(test_wlan),
	};
	return cmocka_run_group_tests(tests, NULL, stop_listening);
}
