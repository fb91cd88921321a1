/* SPDX-License-Identifier: MIT */
/* Who sent it: every kind of evidence alone, in its order, and none. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Questions and answers; nothing but what a test adds says who is who. */
static void talk(struct scene *s, int64_t t, int rounds)
{
	uint32_t a = 100, b = 200;
	for (int i = 0; i < rounds; i++) {
		t += 5 * MS;
		int64_t there = 150000 + (i * 7919) % 5000, back = 140000 + (i * 104729) % 5000;
		scene_pass(s, 0, t, there, scene_tcp(s, 0, t, a, b, 60));
		a += 60;
		scene_pass(s, 1, t + MS, back, scene_tcp(s, 1, t, b, a, 600));
		b += 600;
	}
}

static void assert_only(const struct usk_evidence *e, const uint64_t *field, uint64_t n,
			const char *what)
{
	const uint64_t *all = &e->option;
	for (size_t i = 0; i < sizeof *e / sizeof *all; i++) {
		if (all[i] != (all + i == field ? n : 0)) {
			fail_msg("%s: evidence %zu: %llu", what, i, (unsigned long long)all[i]);
		}
	}
}

static void test_option(void **state)
{
	(void)state;
	for (int who = 0; who < 2; who++) {
		struct scene s = { 0 };
		s.eye[who].local = who ? "10.0.0.2" : "10.0.0.1";
		s.hops = 1;
		talk(&s, START, 50);
		scene_check(&s, "option");
		assert_only(&s.evidence, &s.evidence.option, 100, "option");
		scene_free(&s);
	}
}

/* As the link layer of one host, or of both, saw it. */
static void see_cooked(struct scene *s, int who, int64_t ns, struct packet *p, unsigned type)
{
	p->cooked = type;
	scene_see(s, who, ns, p);
}

static void test_link(void **state)
{
	(void)state;
	for (int which = 1; which < 4; which++) {
		struct scene s = { 0 };
		s.eye[0].link = which & 1 ? LINK_SLL : LINK_ETHERNET;
		s.eye[1].link = which & 2 ? LINK_SLL2 : LINK_ETHERNET;
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * 5 * MS;
			int from = i % 3 == 0;
			struct packet p = scene_udp(&s, from, (uint64_t)i);
			see_cooked(&s, from, t, &p, 4);
			see_cooked(&s, !from, t + 150000, &p, 0);
			scene_expect(&s, from, t, t + 150000);
		}
		for (int i = 0; i < 50; i++) {
			int64_t t = START + i * 5 * MS + 1000000;
			struct packet p = scene_tcp(&s, 0, t, 60u * (uint32_t)i, 1, 60);
			see_cooked(&s, 0, t, &p, 4);
			see_cooked(&s, 1, t + 150000, &p, 0);
			scene_expect(&s, 0, t, t + 150000);
		}
		scene_check(&s, "link");
		assert_only(&s.evidence, &s.evidence.link, 150, "link");
		scene_free(&s);
	}
}

static void test_interface(void **state)
{
	(void)state;
	for (int which = 1; which < 4; which++) {
		struct scene s = { 0 };
		s.eye[0].address = which & 1 ? HOST_P : 0;
		s.eye[1].address = which & 2 ? HOST_Q : 0;
		talk(&s, START, 50);
		scene_check(&s, "interface");
		assert_only(&s.evidence, &s.evidence.interface, 100, "interface");
		scene_free(&s);
	}
}

/* Each talks to somebody else too: its own address is the one in all of its packets. */
static void test_address(void **state)
{
	(void)state;
	for (int which = 1; which < 4; which++) {
		struct scene s = { 0 };
		for (int who = 0; who < 2; who++) {
			for (int i = 0; i < 3 && which & 1 << who; i++) {
				struct packet p = scene_udp(&s, who, 99 + (uint64_t)i);
				p.dst = HOST_R + (uint32_t)who;
				p.sport = p.dport = 123;
				scene_see(&s, who, START + i * MS, &p);
				/* What everybody gets says nothing. */
				p.src = HOST_R + 5;
				p.multicast = true;
				scene_see(&s, who, START + i * MS + 1, &p);
			}
		}
		talk(&s, START, 50);
		scene_check(&s, "address");
		assert_only(&s.evidence, &s.evidence.address, 100, "address");
		scene_free(&s);
	}
}

static void test_ttl(void **state)
{
	(void)state;
	for (int hops = 1; hops < 30; hops += 7) {
		struct scene s = { .hops = (uint8_t)hops };
		talk(&s, START, 50);
		scene_check(&s, "ttl");
		assert_only(&s.evidence, &s.evidence.ttl, 100, "ttl");
		scene_free(&s);
	}
}

static void test_exchange(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		struct scene s = { .no_ids = f & 1, .no_ticks = f & 2, .offset_ns = 77 * SECOND };
		talk(&s, START, 100);
		scene_check(&s, "exchange");
		assert_only(&s.evidence, &s.evidence.exchange, 200, "exchange");
		scene_free(&s);
	}
}

/* One direction, one network: nobody can know. */
static void test_none(void **state)
{
	struct scene s = { 0 };
	(void)state;
	for (int i = 0; i < 100; i++) {
		int64_t t = START + i * 5 * MS;
		struct packet p = scene_udp(&s, 0, (uint64_t)i);
		scene_see(&s, 0, t, &p);
		scene_see(&s, 1, t + 150000, &p);
	}
	scene_check(&s, "none");
	assert_int_equal(s.counts.direction_unknown, 100);
	scene_free(&s);
}

/* Questions and answers at one stamp in both captures, as coarse clocks have them: no gap is longer
 * than another, so nobody can know. */
static void test_equal(void **state)
{
	(void)state;
	for (int apart = 0; apart < 2; apart++) {
		struct scene s = { .no_ticks = true };
		uint32_t a = 100, b = 200;
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * 5 * MS, answered = t + apart * MS;
			struct packet p = scene_tcp(&s, 0, t, a, b, 60);
			scene_see(&s, 0, t, &p);
			scene_see(&s, 1, t, &p);
			a += 60;
			p = scene_tcp(&s, 1, answered, b, a, 600);
			scene_see(&s, 0, answered, &p);
			scene_see(&s, 1, answered, &p);
			b += 600;
		}
		scene_check(&s, "equal");
		assert_int_equal(s.counts.direction_unknown, 200);
		scene_free(&s);
	}
}

/* A clock that is set between a question and its answer, which are so far apart that drift could
 * explain all other gaps: that one looks like a long way, and may be the wrong way round. */
static void test_set_between(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		const int64_t set = k & 1 ? 50 * MS : -50 * MS;
		struct scene s = { .no_ticks = true };
		for (int i = 0; i < 60; i++) {
			int64_t t = START + i * SECOND, later = i > 30 ? set : 0;
			int from = k & 2 ? i & 1 : i % 3 == 0;
			struct packet p = scene_udp(&s, from, (uint64_t)i);
			scene_see(&s, from, t + (from ? later : 0), &p);
			scene_see(&s, !from, t + 2000 + (from ? 0 : later), &p);
		}
		scene_check(&s, "set between");
		assert_int_equal(s.counts.direction_unknown, 60);
		scene_free(&s);
	}
}

/* The stronger evidence decides where two kinds disagree. */
static void test_order(void **state)
{
	(void)state;
	struct scene s = { 0 };
	s.eye[0].local = "10.0.0.1";
	s.eye[1].address = HOST_P; /* a claim that is wrong */
	talk(&s, START, 50);
	scene_check(&s, "option before interface");
	assert_only(&s.evidence, &s.evidence.option, 100, "option before interface");
	scene_free(&s);

	s.eye[0].link = LINK_SLL;
	s.eye[1].address = HOST_P;
	for (int i = 0; i < 100; i++) {
		int64_t t = START + i * 5 * MS;
		int from = i & 1;
		struct packet p = scene_udp(&s, from, (uint64_t)i);
		see_cooked(&s, from, t, &p, from ? 0 : 4);
		see_cooked(&s, !from, t + 150000, &p, from ? 0 : 4);
		scene_expect(&s, from, t, t + 150000);
	}
	scene_check(&s, "link before interface");
	scene_free(&s);
}

/* A stream begins with a packet of other hops, as neighbour discovery does, that one capture lacks:
 * what both have counts. */
static void test_hops_vary(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		struct scene s = { .v6 = true, .no_ids = true, .hops = k & 2 ? 1 : 0 };
		s.eye[0].link = LINK_SLL2;
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * 5 * MS;
			int from = i & 1;
			struct packet p = scene_udp(&s, from, (uint64_t)i);
			p.proto = ICMPV6;
			p.flags = 128;
			p.ttl = i < 2 ? 255 : 64;
			if (i >= 2 || from == (k & 1)) {
				see_cooked(&s, 0, from ? t + 150000 : t, &p, from ? 0 : 4);
			}
			if (i >= 2 || from != (k & 1)) {
				see_cooked(&s, 1, from ? t : t + 150000, &p, 0);
			}
			if (i >= 2) {
				scene_expect(&s, from, t, t + 150000);
			}
		}
		scene_check(&s, "hops vary");
		scene_free(&s);
	}
}

/*
 * A host that forwards has every packet twice, in and out; a router takes a hop from it, a bridge does
 * not. What comes from q passes p's first sighting after q sent it, and what goes to q was seen at p
 * before.
 */
static void test_forwarded(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		struct scene s = { .no_ticks = f & 1 };
		const uint8_t hop = f & 2 ? 0 : 1;
		s.eye[0].link = LINK_SLL;
		s.eye[1].local = "10.0.0.2";
		uint32_t a = 100, b = 200;
		for (int i = 0; i < 60; i++) {
			int64_t t = START + i * 9 * MS;
			struct packet p = scene_tcp(&s, 0, t, a, b, 60);
			p.src = HOST_R; /* behind p */
			p.ttl = 64;
			see_cooked(&s, 0, t, &p, 0);
			p.ttl = (uint8_t)(64 - hop);
			see_cooked(&s, 0, t + 20000, &p, 4);
			p.cooked = 0;
			scene_see(&s, 1, t + 200000, &p);
			/* Either sighting is before the receive; which one is told is open. */
			scene_allow(&s, 0, t, t + 200000);
			scene_allow(&s, 0, t + 20000, t + 200000);
			a += 60;
			p = scene_tcp(&s, 1, t, b, a, 60);
			p.dst = HOST_R;
			p.ttl = 64;
			scene_see(&s, 1, t + MS, &p);
			p.ttl = (uint8_t)(64 - hop);
			see_cooked(&s, 0, t + MS + 180000, &p, 0);
			p.ttl = (uint8_t)(64 - 2 * hop);
			see_cooked(&s, 0, t + MS + 200000, &p, 4);
			scene_allow(&s, 1, t + MS, t + MS + 180000);
			b += 60;
		}
		scene_check(&s, "forwarded");
		assert_true(s.n_got >= 100);
		scene_free(&s);
	}
}

/* A router between many and q has q's address in every packet, and q, who routes too, has none: that
 * address is not the router's. */
static void test_forwarded_address(void **state)
{
	(void)state;
	struct scene s = { .no_ids = false };
	uint32_t a = 100, b = 200;
	for (int i = 0; i < 80; i++) {
		int64_t t = START + i * 9 * MS;
		struct packet p = scene_tcp(&s, 0, t, a, b, 60);
		p.src = HOST_R + (uint32_t)(i % 3);
		p.ttl = 64;
		scene_see(&s, 0, t, &p);
		p.ttl = 63;
		scene_see(&s, 0, t + 20000, &p);
		scene_see(&s, 1, t + 200000, &p);
		scene_allow(&s, 0, t, t + 200000);
		scene_allow(&s, 0, t + 20000, t + 200000);
		a += 60;
		/* What q passes on for others. */
		p = scene_udp(&s, 1, (uint64_t)i);
		p.src = HOST_R + 10;
		p.dst = HOST_R + 20;
		scene_see(&s, 1, t + 2 * MS, &p);
	}
	scene_check(&s, "address of the other side");
	assert_true(s.n_got >= 60);
	scene_free(&s);
}

/* A router that is recorded on the far side: both say that they sent what p sends to those behind it, and that they
 * received what those send to p. Hops tell who had it first, and nobody's broadcast is it. */
static void test_recorded_behind(void **state)
{
	(void)state;
	for (int f = 0; f < 4; f++) {
		struct scene s = { .no_ids = f & 1, .v6 = f & 2 };
		s.eye[0].link = LINK_SLL;
		s.eye[1].link = LINK_SLL2;
		for (int i = 0; i < 100; i++) {
			const int64_t t = START + i * 5 * MS;
			struct packet p = scene_udp(&s, 0, (uint64_t)i);
			p.dst = HOST_R;
			p.ttl = 64;
			see_cooked(&s, 0, t, &p, 4);
			p.ttl = 63;
			see_cooked(&s, 1, t + 150000, &p, 4);
			scene_expect(&s, 0, t, t + 150000);
			p = scene_udp(&s, 1, 1000 + (uint64_t)i);
			p.src = HOST_R;
			p.ttl = 64;
			see_cooked(&s, 1, t + MS, &p, 0);
			p.ttl = 63;
			see_cooked(&s, 0, t + MS + 150000, &p, 0);
			scene_expect(&s, 1, t + MS, t + MS + 150000);
		}
		scene_check(&s, "recorded behind");
		assert_int_equal(s.n_broadcasts, 0);
		scene_free(&s);
	}
}

/* Both receive what a third party sends to everybody: two sightings, and no message. */
static void test_third_party(void **state)
{
	struct scene s = { 0 };
	(void)state;
	s.eye[0].link = LINK_SLL;
	s.eye[1].link = LINK_SLL2;
	for (int i = 0; i < 100; i++) {
		int64_t t = START + i * 5 * MS;
		struct packet p = scene_udp(&s, 0, (uint64_t)i);
		p.src = HOST_R;
		p.multicast = true;
		see_cooked(&s, 0, t, &p, 2);
		see_cooked(&s, 1, t + 1000, &p, 2);
		p = scene_udp(&s, 0, 1000 + (uint64_t)i);
		see_cooked(&s, 0, t + MS, &p, 4);
		see_cooked(&s, 1, t + MS + 150000, &p, 0);
		scene_expect(&s, 0, t + MS, t + MS + 150000);
	}
	scene_check(&s, "third party");
	assert_int_equal(s.counts.direction_unknown, 0);
	assert_int_equal(s.n_broadcasts, 100);
	scene_free(&s);
}

/* What all hear that are on a link, from a third one: that one received it does not say that the
 * other one sent it, unless its address is known. */
static void test_third_party_received(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		struct scene s = { .v6 = k & 1, .no_ids = k & 2 };
		s.eye[0].link = LINK_SLL2;
		for (int i = 0; i < 50; i++) {
			int64_t t = START + i * 20 * MS;
			int from = i & 1;
			struct packet p = scene_udp(&s, from, 2 * (uint64_t)i);
			see_cooked(&s, from, t, &p, from ? 0 : 4);
			see_cooked(&s, !from, t + 150000, &p, from ? 0 : 4);
			scene_expect(&s, from, t, t + 150000);
			p = scene_udp(&s, 1, 2 * (uint64_t)i + 1);
			p.multicast = true;
			p.src = k & 4 ? HOST_Q : HOST_R;
			see_cooked(&s, 0, t + MS + 14000, &p, 2);
			see_cooked(&s, 1, t + MS + (k & 4 ? 0 : 28000), &p, 0);
			if (k & 4) {
				scene_expect(&s, 1, t + MS, t + MS + 14000);
			}
		}
		scene_check(&s, "third party received");
		scene_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_option),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_ttl),
		cmocka_unit_test(test_exchange),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_set_between),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_hops_vary),
		cmocka_unit_test(test_forwarded),
		cmocka_unit_test(test_forwarded_address),
		cmocka_unit_test(test_recorded_behind),
		cmocka_unit_test(test_third_party),
		cmocka_unit_test(test_third_party_received),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
