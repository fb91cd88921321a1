/* SPDX-License-Identifier: MIT */
/*
 * A packet's key changes with nothing that changes on the way, and tells packets apart.
 */
#include "decoded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t key(struct packet p)
{
	return decode(&p).key;
}

/* Routers and NAT. */
static void test_key_on_the_way(void **state)
{
	static const uint8_t protos[] = { TCP, UDP, ICMP };
	(void)state;
	for (size_t i = 0; i < COUNT(protos); i++) {
		struct packet p = tcp, q;
		p.proto = protos[i];
		p.content = 5;
		if (p.proto == ICMP) {
			p.sport = p.dport = 7;
		}
		q = p;
		q.src = UINT32_C(0xcb007105);
		q.dst = UINT32_C(0xc0a80101);
		q.ttl = 55;
		if (p.proto != ICMP) {
			q.sport = 61000;
			q.dport = 8443;
		} else {
			/* NAT rewrites the identifier, where the builder puts sport. */
			q.sport = 999;
		}
		assert_true(key(p) == key(q));
		q.ip_id++; /* not part of it, but kept beside it */
		assert_true(key(p) == key(q));
		assert_true(decode(&q).ip_id != decode(&p).ip_id);
	}
}

/* Offload cuts and merges: the first piece has the key of the whole. */
static void test_key_of_segments(void **state)
{
	struct packet p = tcp, q = tcp;
	(void)state;
	p.payload = 65160;
	q.payload = 1448;
	q.flags = ACK; /* PSH only on the last */
	assert_true(key(p) == key(q));
	p.flags = ACK | PSH | FIN;
	assert_true(key(p) == key(q));
	/* Over 64 KiB the IP header has no room for the length. */
	p.payload = 200000;
	assert_true(key(p) == key(q));
	assert_int_equal(decode(&p).bytes, 200000);
	p.v6 = true;
	assert_true(key(p) == key(q));
	assert_int_equal(decode(&p).bytes, 200000);
}

/* Ethernet fills short packets up; the filling is neither payload nor key. */
static void test_padding(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		static const uint8_t protos[] = { TCP, UDP, ICMP };
		struct packet p = tcp;
		p.proto = protos[i];
		p.timestamps = false;
		p.payload = i ? 2 : 0;
		struct bytes b = { 0 };
		packet_bytes(&p, &b);
		struct usk_packet bare = decode(&p), out;
		put_text(&b, "\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a\x5a");
		struct usk_record r = { .data = b.data,
					.captured = (uint32_t)b.n,
					.length = (uint32_t)b.n };
		assert_true(usk_packet_decode(&r, LINK_ETHERNET, USK_DEPTH_ALL, &out, NULL));
		assert_true(out.key == bare.key);
		assert_int_equal(out.bytes, p.payload);
		bytes_free(&b);
	}
}

/* One thing changed each: another key. */
static void test_key_tells_apart(void **state)
{
	(void)state;
	uint64_t k[16];
	size_t n = 0;
	struct packet p = tcp;
	k[n++] = key(p);
	p.seq++;
	k[n++] = key(p);
	p = tcp;
	p.ack++;
	k[n++] = key(p);
	p = tcp;
	p.tsval++;
	k[n++] = key(p);
	p = tcp;
	p.tsecr++;
	k[n++] = key(p);
	p = tcp;
	p.payload = 0;
	k[n++] = key(p);
	p.window++;
	k[n++] = key(p);
	p = tcp;
	p.payload = 0;
	p.flags |= FIN;
	k[n++] = key(p);
	p.flags = RST;
	k[n++] = key(p);
	p.flags = SYN;
	k[n++] = key(p);
	p = tcp;
	p.proto = UDP;
	k[n++] = key(p);
	p.content++;
	k[n++] = key(p);
	p.payload++;
	k[n++] = key(p);
	p.proto = ICMP;
	k[n++] = key(p);
	p.dport++; /* the echo's number */
	k[n++] = key(p);
	p.flags = 0; /* the reply */
	p.flags = 3;
	k[n++] = key(p);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (k[i] == k[j]) {
				fail_msg("%zu and %zu have one key", i, j);
			}
		}
	}
}

/* The window of data segments is not part: a resent one may state another. Nor is any payload of
 * TCP, nor of others what lies behind the first bytes. */
static void test_key_of_payload(void **state)
{
	struct packet p = tcp, q = tcp;
	(void)state;
	q.content = 99;
	q.window++;
	assert_true(key(p) == key(q));
	p.proto = q.proto = UDP;
	assert_true(key(p) != key(q));
	struct bytes b = { 0 };
	q.content = p.content;
	uint32_t n = packet_bytes(&q, &b);
	b.data[14 + 20 + 8 + 48] ^= 1;
	b.data[n - 1] ^= 1;
	struct usk_record r = { .data = b.data, .captured = n, .length = n };
	struct usk_packet out;
	assert_true(usk_packet_decode(&r, LINK_ETHERNET, USK_DEPTH_ALL, &out, NULL));
	assert_true(out.key == key(p));
	b.data[14 + 20 + 8 + 47] ^= 1;
	assert_true(usk_packet_decode(&r, LINK_ETHERNET, USK_DEPTH_ALL, &out, NULL));
	assert_true(out.key != key(p));
	struct usk_counts counts;
	struct usk_packet whole;
	assert_true(usk_packet_decode(&r, LINK_ETHERNET, (struct usk_depth){ 20 + 8 + 15, 0 }, &out,
				      NULL));
	assert_true(decode_cut(&p, NO_CUT, 20 + 8 + 15, &whole, &counts));
	assert_true(out.key == whole.key);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_on_the_way), cmocka_unit_test(test_key_of_segments),
		cmocka_unit_test(test_padding),	       cmocka_unit_test(test_key_tells_apart),
		cmocka_unit_test(test_key_of_payload),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
