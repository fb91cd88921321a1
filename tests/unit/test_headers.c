/* SPDX-License-Identifier: MIT */
/*
 * Headers that few captures have: what stands behind them is the same packet as without, wherever
 * they are cut nothing beyond is read, and what only looks like one of them is none.
 */
#include "../fence.h"
#include "making.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A UINT32_C(0x0a000001)
#define B UINT32_C(0x0a000002)

enum { PRISM = 119, RADIOTAP = 127, PKTAP = 258, GTP_PORT = 2152, ETHERNET_IN_GRE = 0x6558 };

static const struct packet tcp = {
	.link = LINK_RAW,
	.src = A,
	.dst = B,
	.sport = 40000,
	.dport = 443,
	.seq = 0x89abcdef,
	.ack = 0x1020304,
	.payload = 20,
};

/* Of the first so many bytes, which lie in a block of their own. */
static bool decode(const struct bytes *b, size_t n, uint16_t link, struct usk_packet *out)
{
	uint8_t *copy = fence_new(b->data, n);
	struct usk_record r = { .data = copy, .captured = (uint32_t)n, .length = (uint32_t)b->n };
	struct usk_counts counts = { 0 };
	bool good = usk_packet_decode(&r, link, USK_DEPTH_ALL, out, &counts);
	fence_free(copy, n);
	return good;
}

static void put_tcp(struct bytes *b)
{
	packet_bytes(&tcp, b);
}

static uint64_t key_of_tcp(void)
{
	struct bytes b = { .big = true };
	struct usk_packet p;
	put_tcp(&b);
	assert_true(decode(&b, b.n, LINK_RAW, &p));
	bytes_free(&b);
	return p.key;
}

/* Is the packet behind the header found? At every cut nothing beyond is read. */
static bool finds_tcp(const struct bytes *b, uint16_t link, enum usk_side *side)
{
	struct usk_packet p = { .key = 0 };
	for (size_t n = 0; n < b->n; n++) {
		decode(b, n, link, &p);
	}
	bool found = decode(b, b->n, link, &p) && p.key == key_of_tcp() && p.dport == 443;
	*side = found ? p.side : USK_SIDE_UNKNOWN;
	return found;
}

/* ---- links ------------------------------------------------------------------------------------ */

static void put_wifi(struct bytes *b)
{
	put(b, "\x08\1\0\0AAAAAABBBBBBCCCCCC\0\0\xaa\xaa\3\0\0\0\x08\0", 32);
	put_tcp(b);
}

/* Prism's own header is 144 bytes; some drivers put AVS's there, which says how long it is. */
static void test_prism(void **state)
{
	(void)state;
	enum usk_side side;
	for (uint32_t avs = 0; avs < 2; avs++) {
		for (uint32_t length = 12; length <= 144; length += 66) {
			struct bytes b = { .big = true };
			put32(&b, avs ? 0x80211001 : 0x44);
			put32(&b, length);
			put_zeros(&b, length - 8);
			put_wifi(&b);
			assert_int_equal(finds_tcp(&b, PRISM, &side), avs || length == 144);
			bytes_free(&b);
		}
	}
}

/* Words that say what follows, the last of them without a sign that there is one more; then a
 * counter at a multiple of eight, and flags: 0x20, the 802.11 header is filled up to four bytes. */
static void test_radiotap(void **state)
{
	(void)state;
	enum usk_side side;
	for (uint32_t words = 1; words <= 4; words++) {
		for (uint32_t has = 0; has < 4; has++) {
			for (unsigned flags = 0; flags < 0x80; flags += 0x10) {
				struct bytes b = { 0 };
				size_t fields = 4 + 4 * words;
				size_t counter = has & 1 ? (8 - fields % 8) % 8 + 8 : 0;
				put16(&b, 0);
				put16(&b, (unsigned)(fields + counter + 2));
				for (uint32_t i = 0; i < words; i++) {
					put32(&b, (i ? 0 : has) | (uint32_t)(i + 1 < words) << 31);
				}
				/* What is read as flags a byte too early or late says "damaged". */
				for (size_t i = 0; i < counter; i++) {
					put8(&b, 0x40);
				}
				put8(&b, has & 2 ? flags : 0x40);
				put8(&b, 0x40);
				put_wifi(&b);
				bool damaged = has & 2 && flags & 0x40;
				if (finds_tcp(&b, RADIOTAP, &side) == damaged) {
					fail_msg("%u words, has %u, flags %#x", words, has, flags);
				}
				bytes_free(&b);
			}
		}
	}
}

static void put_pktap(struct bytes *b, uint32_t length, uint32_t link, uint32_t flags)
{
	put32(b, length);
	put32(b, 1);
	put32(b, link);
	put_zeros(b, 24);
	put32(b, flags);
	put_zeros(b, length - 40);
}

static void test_pktap(void **state)
{
	static const enum usk_side sides[] = { USK_SIDE_UNKNOWN, USK_SIDE_RECEIVED, USK_SIDE_SENT,
					       USK_SIDE_UNKNOWN };
	(void)state;
	enum usk_side side;
	for (uint32_t flags = 0; flags < 8; flags++) {
		struct bytes b = { 0 };
		put_pktap(&b, flags < 4 ? 108 : 40, LINK_RAW, flags);
		put_tcp(&b);
		assert_true(finds_tcp(&b, PKTAP, &side));
		assert_int_equal(side, sides[flags & 3]);
		bytes_free(&b);
	}
	static const struct {
		uint32_t says, link;
		bool again; /* one in one: nobody writes that */
	} bad[] = { { 39, LINK_RAW, false },
		    { 0, LINK_RAW, false },
		    { UINT32_MAX, LINK_RAW, false },
		    { 40, 147, false },
		    { 40, PKTAP, true } };
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct bytes b = { 0 };
		put_pktap(&b, 40, bad[i].link, 1);
		patch32(&b, 0, bad[i].says);
		if (bad[i].again) {
			put_pktap(&b, 40, LINK_RAW, 1);
		}
		put_tcp(&b);
		assert_false(finds_tcp(&b, PKTAP, &side));
		bytes_free(&b);
	}
}

/* ---- tunnels ---------------------------------------------------------------------------------- */

static void put_ip(struct bytes *b, unsigned proto, size_t bytes)
{
	put16(b, 0x4500);
	put16(b, (unsigned)(20 + bytes));
	put32(b, 0x77774000);
	put8(b, 64);
	put8(b, proto);
	put16(b, 0);
	put32(b, UINT32_C(0xc0000201));
	put32(b, UINT32_C(0xc0000202));
}

/* Of flags S, E and PN any makes the header four bytes longer; extension headers, if there are any,
 * say how long they are and what follows. */
static void put_gtp(struct bytes *b, unsigned first, unsigned type, const char *extensions,
		    size_t n)
{
	bool longer = first & 7;
	struct bytes inside = { .big = true };
	put_tcp(&inside);
	size_t bytes = 8 + 8 + (longer ? 4u : 0) + n + inside.n;
	put_ip(b, UDP, bytes);
	put16(b, 50000);
	put16(b, GTP_PORT);
	put16(b, (unsigned)bytes);
	put16(b, 0);
	put8(b, first);
	put8(b, type);
	put16(b, 0);
	put32(b, 99);
	if (longer) {
		put16(b, 7);
		put8(b, 0);
		put8(b, n ? 0x85 : 0);
	}
	put(b, extensions, n);
	put(b, inside.data, inside.n);
	bytes_free(&inside);
}

static void test_gtp(void **state)
{
	static const struct {
		unsigned first, type;
		const char *extensions;
		size_t n;
		bool good;
	} cases[] = {
		{ 0x30, 255, "", 0, true },
		{ 0x32, 255, "", 0, true }, /* a sequence number, and no extension */
		{ 0x31, 255, "", 0, true },
		{ 0x34, 255, "", 0, true },
		{ 0x34, 255, "\1ab\0", 4, true },
		{ 0x36, 255, "\1ab\x85\2abcdef\0", 12, true },
		{ 0x34, 255, "\0ab\0", 4, false },
		{ 0x34, 255,
		  "\xff"
		  "ab\0",
		  4, false }, /* longer than all */
		{ 0x30, 254, "", 0, false },
		{ 0x50, 255, "", 0, false }, /* of version 2 */
		{ 0x20, 255, "", 0, false }, /* GTP': of charging */
		{ 0x30, 255, "\x75", 1, false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct bytes b = { .big = true };
		enum usk_side side;
		put_gtp(&b, cases[i].first, cases[i].type, cases[i].extensions, cases[i].n);
		if (finds_tcp(&b, LINK_RAW, &side) != cases[i].good) {
			fail_msg("case %zu", i);
		}
		/* Another port, and it is a datagram as any. */
		b.data[22] ^= 1;
		assert_false(finds_tcp(&b, LINK_RAW, &side));
		bytes_free(&b);
	}
}

/* IP or Ethernet in GRE, behind any of a checksum, a key and a number. */
static void test_gre(void **state)
{
	(void)state;
	for (unsigned flags = 0; flags < 0x100; flags += 0x10) {
		for (unsigned type = 0; type < 3; type++) {
			for (unsigned version = 0; version < 2; version++) {
				struct bytes b = { .big = true };
				enum usk_side side;
				put_ip(&b, GRE, 200);
				put16(&b, flags << 8 | version);
				put16(&b, type == 0   ? 0x0800
					  : type == 1 ? ETHERNET_IN_GRE
						      : 0x880b);
				for (unsigned bit = 0x80; bit >= 0x10; bit >>= 1) {
					put_zeros(&b, bit != 0x40 && flags & bit ? 4 : 0);
				}
				if (type == 1) {
					put(&b, "AAAAAABBBBBB\x08\0", 14);
				}
				put_tcp(&b);
				bool good = !(flags & 0x40) && type < 2 && !version;
				if (finds_tcp(&b, LINK_RAW, &side) != good) {
					fail_msg("flags %#x, type %u, version %u", flags, type,
						 version);
				}
				bytes_free(&b);
			}
		}
	}
}

/* ---- errors of ICMP --------------------------------------------------------------------------- */

/* An error and the beginning of the packet that it is about; which byte of it is another one. */
static uint64_t key_of_error(unsigned type, uint8_t proto, unsigned options, size_t other)
{
	struct packet p = tcp;
	struct bytes b = { .big = true }, inside = { .big = true };
	p.proto = proto;
	p.ip_options = options;
	packet_bytes(&p, &inside);
	inside.n = 20 + 4 * options + 8;
	put_ip(&b, ICMP, 8 + inside.n);
	put8(&b, type);
	put8(&b, 1);
	put_zeros(&b, 6);
	size_t at = b.n;
	put(&b, inside.data, inside.n);
	b.data[at + other] ^= other ? 0x10 : 0;
	struct usk_packet out;
	assert_true(decode(&b, b.n, LINK_RAW, &out));
	bytes_free(&b);
	bytes_free(&inside);
	return out.key;
}

/* NAT puts other addresses, ports and sums into the packet that an error is about, too, routers
 * other hops. Part of the key is what tells packets apart: length, number, protocol, what a transport
 * counts. */
static void test_error_keys(void **state)
{
	static const unsigned errors[] = { 3, 4, 5, 11, 12 };
	static const struct {
		uint8_t proto;
		const char *rewritten; /* of the eight bytes behind its header: r */
	} inside[] = { { TCP, "rrrr...." }, { UDP, "rrrr..rr" }, { ICMP, "rrrrrr.." } };
	(void)state;
	for (size_t i = 0; i < COUNT(errors) * COUNT(inside) * 2; i++) {
		unsigned type = errors[i % COUNT(errors)];
		size_t k = i / COUNT(errors) % COUNT(inside);
		unsigned options = i / COUNT(errors) / COUNT(inside) ? 2 : 0;
		uint64_t key = key_of_error(type, inside[k].proto, options, 0);
		for (size_t at = 1; at < 20 + 4 * options + 8; at++) {
			size_t header = 20 + 4 * options;
			bool counts = at < header ? (at >= 2 && at < 6) || at == 9
						  : inside[k].rewritten[at - header] == '.';
			if ((key_of_error(type, inside[k].proto, options, at) != key) != counts) {
				fail_msg("type %u, protocol %u, %u options: byte %zu", type,
					 inside[k].proto, options, at);
			}
		}
	}
}

/* Cut anywhere, the key is another one where numbers of that packet are whole, and where what its transport counts is; no
 * header is shorter than 20 bytes, so behind such nothing is read. */
static void test_errors_cut(void **state)
{
	enum { INSIDE = 72 };
	static const uint8_t first[] = { 0x44, 0x45, 0x46, 0x47, 0x4f, 0x60 };
	(void)state;
	for (size_t k = 0; k < COUNT(first) * 2; k++) {
		struct bytes b = { .big = true };
		put_ip(&b, k % 2 ? 58 : ICMP, 8 + INSIDE);
		put8(&b, k % 2 ? 1 : 3);
		put8(&b, 1);
		put_zeros(&b, 6);
		const size_t at = b.n;
		put8(&b, first[k / 2]);
		for (unsigned i = 1; i < INSIDE; i++) {
			put8(&b, i * 37 & 255);
		}
		const bool v6 = first[k / 2] >> 4 == 6;
		const size_t header = 4 * (first[k / 2] & 15u), numbers = v6 ? 48 : 28;
		struct usk_packet out, last;
		assert_true(decode(&b, at, LINK_RAW, &last));
		for (size_t n = 1; n <= INSIDE; n++, last = out) {
			const bool counted = !v6 && header >= 20 && n == header + 8;
			assert_true(decode(&b, at + n, LINK_RAW, &out));
			assert_int_equal(out.key != last.key, n == numbers || counted);
		}
		memset(b.data + at + 20, 0, INSIDE - 20);
		assert_true(decode(&b, b.n, LINK_RAW, &out));
		assert_int_equal(out.key == last.key, header < 20 && !v6);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prism),	   cmocka_unit_test(test_radiotap),
		cmocka_unit_test(test_pktap),	   cmocka_unit_test(test_gtp),
		cmocka_unit_test(test_gre),	   cmocka_unit_test(test_error_keys),
		cmocka_unit_test(test_errors_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
