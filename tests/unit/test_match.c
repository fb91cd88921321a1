/* SPDX-License-Identifier: MIT */
/*
 * Scenes of two captures, a few packets each: which receive belongs to which send, and when
 * nobody can know. Connections, offload, datagrams; copies are in test_copies.c, captures of
 * several devices in test_devices.c.
 */
#include "../part.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- connections ------------------------------------------------------------------- */

/* Handshake, questions and answers, the end; every packet passes once. */
static void converse(struct scene *s, int64_t t, int rounds, uint32_t a, uint32_t b)
{
	struct packet p = scene_tcp(s, 0, t, a, 0, 0);
	p.flags = SYN;
	scene_pass(s, 0, t, 200000, p);
	p = scene_tcp(s, 1, t, b, a + 1, 0);
	p.flags = SYN | ACK;
	scene_pass(s, 1, t + MS, 210000, p);
	a++;
	b++;
	scene_pass(s, 0, t + 2 * MS, 190000, scene_tcp(s, 0, t, a, b, 0));
	for (int i = 0; i < rounds; i++) {
		t += 7 * MS;
		scene_pass(s, 0, t, 150000 + i * 100, scene_tcp(s, 0, t, a, b, 100));
		a += 100;
		scene_pass(s, 1, t + MS, 120000, scene_tcp(s, 1, t, b, a, SCENE_MSS));
		scene_pass(s, 1, t + MS + 10000, 120000, scene_tcp(s, 1, t, b + SCENE_MSS, a, 500));
		b += SCENE_MSS + 500;
		scene_pass(s, 0, t + 2 * MS, 110000, scene_tcp(s, 0, t, a, b, 0));
	}
	t += 7 * MS;
	p = scene_tcp(s, 0, t, a, b, 0);
	p.flags = FIN | ACK;
	scene_pass(s, 0, t, 150000, p);
	p = scene_tcp(s, 1, t, b, a + 1, 20);
	p.flags = FIN | PSH | ACK;
	scene_pass(s, 1, t + MS, 150000, p);
	p = scene_tcp(s, 0, t, a + 1, 0, 0);
	p.flags = RST;
	scene_pass(s, 0, t + 2 * MS, 150000, p);
}

static void test_same_tuple(void **state)
{
	(void)state;
	for (int f = 0; f < 2 * SCENE_FLAVOURS; f++) {
		struct scene s = scene_begin(f & 1, f & 2);
		s.v6 = f & 4;
		s.eye[0].local = f & 4 ? "fd00::a00:1" : "10.0.0.1";
		s.eye[1].local = NULL;
		converse(&s, START, 40, 1000, 0xffffff00);
		scene_done(&s, scene_flavour(f, "same tuple"));
	}
}

static void nat(struct packet *p)
{
	/* The identifier of an echo, where the builder puts sport, is rewritten like a port. */
	uint16_t *port = p->src == HOST_P || p->proto == ICMP ? &p->sport : &p->dport;
	p->ttl = (uint8_t)(p->ttl - (p->src == HOST_P));
	if (p->src == HOST_P || p->dst == HOST_P) {
		*port = (uint16_t)(*port + 21000);
	}
	/* And a second one stands before q. */
	p->src = p->src == HOST_P ? UINT32_C(0xcb007107) : p->src;
	p->dst = p->dst == HOST_P ? UINT32_C(0xcb007107) : p->dst;
	p->dst = p->dst == HOST_Q ? UINT32_C(0xac100009) : p->dst;
	p->src = p->src == HOST_Q ? UINT32_C(0xac100009) : p->src;
}

static void test_nat(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_begin(f & 1, f & 2);
		s.nat = nat;
		s.eye[1].local = "172.16.0.9";
		converse(&s, START, 40, 1000, 0xffffff00);
		scene_done(&s, scene_flavour(f, "nat"));
	}
}

/* A connection that is there before either capture begins, and pauses longer than any window. */
static void test_nat_midway(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_begin(f & 1, f & 2);
		uint32_t a = 5000, b = 7000;
		s.nat = nat;
		s.eye[1].local = "172.16.0.9";
		for (int i = 0; i < 200; i++) {
			int64_t t = START + i * 5 * MS + (i >= 100 ? 60 * SECOND : 0);
			scene_pass(&s, 0, t, 200000, scene_tcp(&s, 0, t, a, b, 300));
			a += 300;
			scene_pass(&s, 1, t + MS, 200000, scene_tcp(&s, 1, t, b, a, 700));
			b += 700;
		}
		scene_done(&s, scene_flavour(f, "nat midway"));
	}
}

static const struct {
	const char *name;
	int64_t ns;
} offsets[] = {
	{ "0", 0 },
	{ "1 ns", 1 },
	{ "1 s", SECOND },
	{ "an hour", 3600 * SECOND },
	{ "an hour back", -3600 * SECOND },
	{ "268 days", 268 * 86400 * SECOND },
	{ "-50 years", -50 * 365 * 86400 * SECOND },
};

static void test_offsets(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(offsets); i++) {
		struct scene s = scene_begin(true, true);
		s.offset_ns = offsets[i].ns;
		scene_pings(&s, START, START + 3 * SECOND, 30 * MS);
		converse(&s, START + SECOND, 100, 1, 2);
		scene_done(&s, offsets[i].name);
	}
}

/* One capture begins 90 minutes before the other, and goes on after it. */
static void test_starts_apart(void **state)
{
	(void)state;
	for (int who = 0; who < 2; who++) {
		struct scene s = scene_begin(true, true);
		s.offset_ns = 3 * 3600 * SECOND;
		for (int i = 0; i < 5400; i++) {
			struct packet p = scene_udp(&s, who, (uint64_t)i);
			p.dst = HOST_R;
			scene_see(&s, who, START - (5400 - i) * SECOND, &p);
			p = scene_udp(&s, who, (uint64_t)i + 10000);
			p.dst = HOST_R;
			scene_see(&s, who, START + (60 + i) * SECOND, &p);
		}
		scene_pings(&s, START, START + 5 * SECOND, 100 * MS);
		converse(&s, START + SECOND, 100, 1, 2);
		scene_done(&s, who ? "q starts early" : "p starts early");
	}
}

/* ---- offload ------------------------------------------------------------------------ */

/* One segment of 45 at the sender; 45 at the receiver, all of them messages from one send. */
static void test_tso(void **state)
{
	(void)state;
	for (int f = 0; f < 2 * SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t k = 0; k < 8; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			uint32_t seq = 0xfffe0000 + k * 45 * SCENE_MSS; /* and over the top */
			struct packet p = scene_tcp(&s, 0, t, seq, 1, 45 * SCENE_MSS);
			p.ip_id = f & 1 ? (uint16_t)(65500 + 45 * k) : 0;
			scene_see(&s, 0, t, &p);
			for (uint32_t i = 0; i < 45; i++) {
				struct packet q = p;
				q.seq += i * SCENE_MSS;
				q.payload = SCENE_MSS;
				/* IP-ID counts on, or (fixed by some hardware) stays. */
				q.ip_id = p.ip_id ? (uint16_t)(p.ip_id + (f & 4 ? 0 : i)) : 0;
				s.no_ids = true; /* 0 is what comes after 65535 */
				scene_see(&s, 1, t + 300000 + 12000 * i, &q);
				s.no_ids = !(f & 1);
				scene_expect(&s, 0, t, t + 300000 + 12000 * i);
			}
		}
		scene_check(&s, scene_flavour(f, "tso"));
		size_t small = 0;
		for (size_t i = 0; i < s.n_got; i++) {
			small += s.got[i].bytes == SCENE_MSS;
		}
		assert_int_equal(small, 8 * 45);
		scene_free(&s);
	}
}

/* Behind NAT, begun when all were connected, and a receiver that misses the first packet of each large
 * segment: of this stream, of which nothing looks alike on both sides, the acknowledgements tell. */
static void test_tso_behind_nat(void **state)
{
	(void)state;
	enum { PIECES = 10 };
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_begin(f & 1, f & 2);
		s.nat = nat;
		s.eye[1].local = "172.16.0.9";
		for (uint32_t k = 0; k < 60; k++) {
			const int64_t t = START + 30 * k * MS;
			const uint32_t seq = 7000 + k * PIECES * SCENE_MSS;
			struct packet p = scene_tcp(&s, 1, t, seq, 5000, PIECES * SCENE_MSS);
			scene_see(&s, 1, t, &p);
			for (uint32_t i = 1; i < PIECES; i++) {
				struct packet q = p;
				q.seq += i * SCENE_MSS;
				q.payload = SCENE_MSS;
				scene_see(&s, 0, t + 300000 + 12000 * i, &q);
				scene_expect(&s, 1, t, t + 300000 + 12000 * i);
			}
			scene_pass(&s, 0, t + 5 * MS, 200000,
				   scene_tcp(&s, 0, t + 5 * MS, 5000, seq + PIECES * SCENE_MSS, 0));
		}
		scene_done(&s, scene_flavour(f, "tso behind nat"));
	}
}

/* Ten segments at the sender, merged at the receiver: one message, from the first. */
static void test_gro(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t k = 0; k < 20; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			uint32_t seq = 5 + k * 10 * SCENE_MSS;
			struct packet first = { 0 };
			for (uint32_t i = 0; i < 10; i++) {
				struct packet p =
					scene_tcp(&s, 0, t, seq + i * SCENE_MSS, 1, SCENE_MSS);
				scene_see(&s, 0, t + 12000 * i, &p);
				first = i ? first : p;
			}
			first.payload = 10 * SCENE_MSS;
			scene_see(&s, 1, t + 400000, &first);
			scene_expect(&s, 0, t, t + 400000);
		}
		scene_done(&s, scene_flavour(f, "gro"));
	}
}

/* Cut at the sender in one way, merged at the receiver in another. */
static void test_tso_and_gro(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t k = 0; k < 20; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			struct packet p = scene_tcp(&s, 0, t, 1 + k * 30 * SCENE_MSS, 1,
						    30 * SCENE_MSS),
				      q = p;
			p.ip_id = f & 1 ? (uint16_t)(1 + 30 * k) : 0;
			scene_see(&s, 0, t, &p);
			static const uint32_t pieces[] = { 1, 9, 3, 17 };
			uint32_t at = 0;
			for (size_t i = 0; i < COUNT(pieces); i++) {
				q.seq = p.seq + at * SCENE_MSS;
				q.ip_id = f & 1 ? (uint16_t)(p.ip_id + at) : 0;
				q.payload = pieces[i] * SCENE_MSS;
				at += pieces[i];
				scene_see(&s, 1, t + 300000 + 12000 * at, &q);
				scene_expect(&s, 0, t, t + 300000 + 12000 * at);
			}
		}
		scene_done(&s, scene_flavour(f, "tso and gro"));
	}
}

/* More than 4 GiB in one direction. */
static void test_long_stream(void **state)
{
	struct scene s = scene_begin(false, false);
	const int n = (int)case_count_at_most(68000);
	uint32_t seq = (uint32_t) - (n / 2) * 65000;
	(void)state;
	s.snap = 68;
	for (int i = 0; i < n; i++) {
		int64_t t = START + i * INT64_C(60000);
		scene_pass(&s, 0, t, 150000, scene_tcp(&s, 0, t, seq, 9, 65000));
		seq += 65000;
	}
	scene_done(&s, "over 4 GiB");
}

/* ---- datagrams -------------------------------------------------------------------------- */

/* The same content again and again: only IP-ID tells; and time, where it is long. */
static void test_equal_datagrams(void **state)
{
	(void)state;
	for (int f = 0; f < 8; f++) {
		bool ids = f & 1, echo = f & 2, rare = f & 4;
		struct scene s = scene_begin(ids, true);
		scene_pings(&s, START, START + 60 * SECOND, 100 * MS);
		for (int i = 0; i < 6; i++) {
			int64_t t = START + SECOND + i * (rare ? 9 * SECOND : 100 * MS) + 1234;
			struct packet p = scene_udp(&s, 1, 4711);
			p.proto = echo ? ICMP : UDP;
			scene_see(&s, 1, t, &p);
			scene_see(&s, 0, t + 150000, &p);
			if (ids || rare) {
				scene_expect(&s, 1, t, t + 150000);
			}
		}
		char what[80];
		snprintf(what, sizeof what, "equal datagrams %d", f);
		scene_check(&s, what);
		assert_true(ids || rare || s.counts.ambiguous == 6);
		scene_free(&s);
	}
}

static void test_nat_datagrams(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		struct scene s = scene_begin(f & 1, true);
		s.nat = nat;
		s.hops = 1;
		s.eye[1].local = "172.16.0.9";
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * 5 * MS;
			struct packet p = scene_udp(&s, i & 1, 1000 + (uint64_t)i);
			p.proto = f & 2 ? ICMP : UDP;
			scene_pass(&s, i & 1, t, 150000, p);
		}
		scene_done(&s, f & 2 ? "nat, icmp" : "nat, udp");
	}
}

/* ---- what does not belong together --------------------------------------------------------- */

/* Both stand in a network of their own with the same private addresses, ports and times. */
static void test_same_addresses(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		converse(&s, START + 100 * MS, 50, 1, 2);
		for (int i = 0; i < 400; i++) {
			for (int who = 0; who < 2; who++) {
				int64_t t = START + 50 * MS + i * 2 * MS + who * 1000;
				struct packet p = scene_tcp(&s, 0, t, 0, 0, 40);
				p.src = i & 1 ? 0xc0a80002 : 0xc0a80001;
				p.dst = i & 1 ? 0xc0a80001 : 0xc0a80002;
				p.sport = i & 1 ? 53 : 5353;
				p.dport = i & 1 ? 5353 : 53;
				p.proto = i & 2 ? UDP : TCP;
				p.content = usk_mix((uint64_t)(2 * i + who));
				/* Streams of their own, megabytes apart. */
				p.seq = (uint32_t)(who * 900000000 + 40 * i);
				p.ack = (uint32_t)(who * 700000000 + 40 * i);
				p.ip_id = s.no_ids ? 0 : (uint16_t)(30000 + 5000 * who + i);
				scene_see(&s, who, t, &p);
			}
		}
		scene_done(&s, scene_flavour(f, "same addresses"));
	}
}

/* Scans, and chatter that everybody has: of one content, at both, every few ms. */
static void test_chatter(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		converse(&s, START + 100 * MS, 50, 1, 2);
		for (int i = 0; i < 3000; i++) {
			int who = i & 1;
			int64_t t = START + i * 300000;
			struct packet p = scene_tcp(&s, who, t, 0, 0, 0);
			p.src = 0xc6336400 + (uint32_t)(i % 200);
			p.dst = who ? HOST_Q : HOST_P;
			p.proto = i % 3 ? TCP : UDP;
			p.flags = SYN;
			p.sport = (uint16_t)(50000 + i);
			p.dport = (uint16_t)(i % 1000);
			p.tsval = p.tsecr = 0;
			p.payload = i % 3 ? 0 : 30;
			p.ip_id = s.no_ids ? 0 : 54321;
			scene_see(&s, who, t, &p);
		}
		scene_done(&s, scene_flavour(f, "chatter"));
	}
}

/* ---- memory ------------------------------------------------------------------------- */

/* More packets than are remembered, in less time than messages take: those that are, and no others, become messages.
 * An expired one is not looked at again where a later one has its place. */
static void test_dense(void **state)
{
	(void)state;
	enum { DENSE = 9000, REMEMBERED = 1000, UNDER_WAY = 200 };
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		const size_t pings = s.n_want;
		s.most = REMEMBERED;
		for (int i = 0; i < DENSE; i++) {
			const int from = i & 1;
			const int64_t t = START + 2 * SECOND + i * 200;
			const int64_t came = t + UNDER_WAY * 200;
			struct packet p = scene_udp(&s, from, usk_mix((uint64_t)i));
			scene_see(&s, from, t, &p);
			scene_see(&s, !from, came, &p);
			if (i < DENSE - REMEMBERED / 2 + UNDER_WAY) {
				scene_allow(&s, from, t, came);
			} else {
				scene_expect(&s, from, t, came);
			}
		}
		scene_check(&s, scene_flavour(f, "dense"));
		assert_int_equal(s.counts.ambiguous, 0);
		assert_true(s.n_got <= pings + REMEMBERED);
		scene_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_tuple),
		cmocka_unit_test(test_nat),
		cmocka_unit_test(test_nat_midway),
		cmocka_unit_test(test_tso_behind_nat),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_starts_apart),
		cmocka_unit_test(test_tso),
		cmocka_unit_test(test_gro),
		cmocka_unit_test(test_tso_and_gro),
		cmocka_unit_test(test_long_stream),
		cmocka_unit_test(test_equal_datagrams),
		cmocka_unit_test(test_nat_datagrams),
		cmocka_unit_test(test_same_addresses),
		cmocka_unit_test(test_chatter),
		cmocka_unit_test(test_dense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
