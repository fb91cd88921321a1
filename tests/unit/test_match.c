/* SPDX-License-Identifier: MIT */
/*
 * Scenes of two captures, a few packets each: which receive belongs to which send, and when
 * nobody can know.
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

/* Bytes a segment carries when nothing is offloaded. */
enum { MSS = 1448 };

/* A scene where both users said who is who; pings tie the clocks. */
static struct scene begin(bool ids, bool ticks)
{
	struct scene s = { .no_ids = !ids, .no_ticks = !ticks };
	s.eye[0].local = "10.0.0.1";
	s.eye[1].local = "10.0.0.2";
	return s;
}

/* What tells copies apart: nothing, IP-ID, time stamps, both. */
enum { FLAVOURS = 4 };

static const char *flavour(int f, const char *what)
{
	static char text[100];
	snprintf(text, sizeof text, "%s, %s ids, %s ticks", what, f & 1 ? "with" : "no",
		 f & 2 ? "with" : "no");
	return text;
}

static struct scene flavoured(int f)
{
	struct scene s = begin(f & 1, f & 2);
	scene_pings(&s, START, START + SECOND, 50 * MS);
	return s;
}

static void done(struct scene *s, const char *what)
{
	scene_check(s, what);
	scene_free(s);
}

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
		scene_pass(s, 1, t + MS, 120000, scene_tcp(s, 1, t, b, a, MSS));
		scene_pass(s, 1, t + MS + 10000, 120000, scene_tcp(s, 1, t, b + MSS, a, 500));
		b += MSS + 500;
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
	for (int f = 0; f < 2 * FLAVOURS; f++) {
		struct scene s = begin(f & 1, f & 2);
		s.v6 = f & 4;
		s.eye[0].local = f & 4 ? "fd00::a00:1" : "10.0.0.1";
		s.eye[1].local = NULL;
		converse(&s, START, 40, 1000, 0xffffff00);
		done(&s, flavour(f, "same tuple"));
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
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = begin(f & 1, f & 2);
		s.nat = nat;
		s.eye[1].local = "172.16.0.9";
		converse(&s, START, 40, 1000, 0xffffff00);
		done(&s, flavour(f, "nat"));
	}
}

/* A connection that is there before either capture begins, and pauses longer than any window. */
static void test_nat_midway(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = begin(f & 1, f & 2);
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
		done(&s, flavour(f, "nat midway"));
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
		struct scene s = begin(true, true);
		s.offset_ns = offsets[i].ns;
		scene_pings(&s, START, START + 3 * SECOND, 30 * MS);
		converse(&s, START + SECOND, 100, 1, 2);
		done(&s, offsets[i].name);
	}
}

/* One capture begins 90 minutes before the other, and goes on after it. */
static void test_starts_apart(void **state)
{
	(void)state;
	for (int who = 0; who < 2; who++) {
		struct scene s = begin(true, true);
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
		done(&s, who ? "q starts early" : "p starts early");
	}
}

/* ---- offload ------------------------------------------------------------------------ */

/* One segment of 45 at the sender; 45 at the receiver, all of them messages from one send. */
static void test_tso(void **state)
{
	(void)state;
	for (int f = 0; f < 2 * FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (uint32_t k = 0; k < 8; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			uint32_t seq = 0xfffe0000 + k * 45 * MSS; /* and over the top */
			struct packet p = scene_tcp(&s, 0, t, seq, 1, 45 * MSS);
			p.ip_id = f & 1 ? (uint16_t)(65500 + 45 * k) : 0;
			scene_see(&s, 0, t, &p);
			for (uint32_t i = 0; i < 45; i++) {
				struct packet q = p;
				q.seq += i * MSS;
				q.payload = MSS;
				/* IP-ID counts on, or (fixed by some hardware) stays. */
				q.ip_id = p.ip_id ? (uint16_t)(p.ip_id + (f & 4 ? 0 : i)) : 0;
				s.no_ids = true; /* 0 is what comes after 65535 */
				scene_see(&s, 1, t + 300000 + 12000 * i, &q);
				s.no_ids = !(f & 1);
				scene_expect(&s, 0, t, t + 300000 + 12000 * i);
			}
		}
		scene_check(&s, flavour(f, "tso"));
		size_t small = 0;
		for (size_t i = 0; i < s.n_got; i++) {
			small += s.got[i].bytes == MSS;
		}
		assert_int_equal(small, 8 * 45);
		scene_free(&s);
	}
}

/* Ten segments at the sender, merged at the receiver: one message, from the first. */
static void test_gro(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (uint32_t k = 0; k < 20; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			uint32_t seq = 5 + k * 10 * MSS;
			struct packet first = { 0 };
			for (uint32_t i = 0; i < 10; i++) {
				struct packet p = scene_tcp(&s, 0, t, seq + i * MSS, 1, MSS);
				scene_see(&s, 0, t + 12000 * i, &p);
				first = i ? first : p;
			}
			first.payload = 10 * MSS;
			scene_see(&s, 1, t + 400000, &first);
			scene_expect(&s, 0, t, t + 400000);
		}
		done(&s, flavour(f, "gro"));
	}
}

/* Cut at the sender in one way, merged at the receiver in another. */
static void test_tso_and_gro(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (uint32_t k = 0; k < 20; k++) {
			int64_t t = START + (100 + 30 * k) * MS;
			struct packet p = scene_tcp(&s, 0, t, 1 + k * 30 * MSS, 1, 30 * MSS), q = p;
			p.ip_id = f & 1 ? (uint16_t)(1 + 30 * k) : 0;
			scene_see(&s, 0, t, &p);
			static const uint32_t pieces[] = { 1, 9, 3, 17 };
			uint32_t at = 0;
			for (size_t i = 0; i < COUNT(pieces); i++) {
				q.seq = p.seq + at * MSS;
				q.ip_id = f & 1 ? (uint16_t)(p.ip_id + at) : 0;
				q.payload = pieces[i] * MSS;
				at += pieces[i];
				scene_see(&s, 1, t + 300000 + 12000 * at, &q);
				scene_expect(&s, 0, t, t + 300000 + 12000 * at);
			}
		}
		done(&s, flavour(f, "tso and gro"));
	}
}

/* More than 4 GiB in one direction. */
static void test_long_stream(void **state)
{
	struct scene s = begin(false, false);
	const int n = (int)case_count_at_most(68000);
	uint32_t seq = (uint32_t) - (n / 2) * 65000;
	(void)state;
	s.snap = 68;
	for (int i = 0; i < n; i++) {
		int64_t t = START + i * INT64_C(60000);
		scene_pass(&s, 0, t, 150000, scene_tcp(&s, 0, t, seq, 9, 65000));
		seq += 65000;
	}
	done(&s, "over 4 GiB");
}

/* ---- copies --------------------------------------------------------------------------- */

/*
 * Segments of one direction; number 5 is lost on the way and sent again later. Both captures are
 * complete. What tells the copies apart tells which send the receive belongs to.
 */
static void test_retransmission(void **state)
{
	(void)state;
	for (int f = 0; f < 2 * FLAVOURS; f++) {
		bool both_arrive = f & 4;
		struct scene s = flavoured(f);
		int64_t again = START + 400 * MS;
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * MSS, 1, MSS);
			if (i != 5) {
				scene_pass(&s, 0, t, 150000, p);
				continue;
			}
			scene_see(&s, 0, t, &p);
			if (both_arrive) {
				scene_see(&s, 1, t + 150000, &p);
			}
			if (both_arrive) {
				/* No copy was sent when it came. */
				scene_expect(&s, 0, t, t + 150000);
			}
			p = scene_tcp(&s, 0, again, p.seq, 1, MSS);
			scene_see(&s, 0, again, &p);
			scene_see(&s, 1, again + 150000, &p);
			if (f & 3) {
				scene_expect(&s, 0, again, again + 150000);
			}
		}
		scene_check(&s, flavour(f, "retransmission"));
		assert_true(f & 3 || s.counts.ambiguous >= 1);
		scene_free(&s);
	}
}

/*
 * The sender's capture missed the original of number 5 and has the copy; both arrive. Without a
 * mark nobody knows which of the receives belongs to the send.
 */
static void test_original_missed(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		for (int quick = 0; quick < 2; quick++) {
			struct scene s = flavoured(f);
			/* Within the same tick time stamps say nothing. */
			int64_t again = START + (quick ? 118 : 400) * MS + 10000;
			bool told = f & 1 || (f & 2 && !quick);
			for (uint32_t i = 0; i < 10; i++) {
				int64_t t = START + 100 * MS + i * 2 * MS;
				int64_t tick = quick ? START + 118 * MS : t;
				struct packet p = scene_tcp(&s, 0, tick, 100 + i * MSS, 1, MSS);
				if (i != 5) {
					scene_pass(&s, 0, t, 150000, p);
					continue;
				}
				p.ip_id = s.no_ids ? 0 : 999;
				scene_see(&s, 1, t + 150000, &p);
				p = scene_tcp(&s, 0, again, p.seq, 1, MSS);
				scene_see(&s, 0, again, &p);
				scene_see(&s, 1, again + 150000, &p);
				if (told) {
					scene_expect(&s, 0, again, again + 150000);
				}
			}
			scene_check(&s, flavour(f, quick ? "missed, quick" : "missed"));
			assert_true(told || s.counts.ambiguous >= 1);
			scene_free(&s);
		}
	}
}

/*
 * Number 5 is lost; the sender's capture missed that it was sent again. Four acknowledgements
 * of one byte give the copy away.
 */
static void test_duplicate_acks(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		uint32_t lost = 100 + 5 * MSS;
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * MSS, 1, MSS);
			if (i == 5) {
				scene_see(&s, 0, t, &p);
				int64_t again = START + 300 * MS;
				p = scene_tcp(&s, 0, again, lost, 1, MSS);
				p.ip_id = s.no_ids ? 0 : 4000;
				scene_see(&s, 1, again + 150000, &p);
				continue;
			}
			scene_pass(&s, 0, t, 150000, p);
			struct packet a = scene_tcp(&s, 1, START, 1, i < 5 ? p.seq + MSS : lost, 0);
			int64_t back = t + 200000;
			scene_see(&s, 1, back, &a);
			scene_see(&s, 0, back + 150000, &a);
			/* Without a mark five identical acknowledgements are five of a kind. */
			if (i < 4 || f & 1) {
				scene_expect(&s, 1, back, back + 150000);
			} else if (i == 4) {
				scene_allow(&s, 1, back, back + 150000);
			}
		}
		scene_check(&s, flavour(f, "duplicate acks"));
		scene_free(&s);
	}
}

/* The network doubles a packet: its first arrival is the message. */
static void test_duplicate_on_the_way(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * MSS, 1, MSS);
			scene_pass(&s, 0, t, 150000, p);
			if (i == 5) {
				p.ip_id = s.no_ids ? 0 : s.id[0];
				scene_see(&s, 1, t + 170000, &p);
			}
		}
		scene_check(&s, flavour(f, "duplicate"));
		assert_int_equal(s.counts.ambiguous, 1);
		scene_free(&s);
	}
}

static void test_reorder(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (uint32_t i = 0; i < 100; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			/* Every seventh takes so long that four pass it; the very first too. */
			int64_t delay = i % 7 ? 150000 : 9 * MS;
			scene_pass(&s, 0, t, delay, scene_tcp(&s, 0, t, i * MSS - 50, 1, MSS));
		}
		done(&s, flavour(f, "reorder"));
	}
}

/* Acknowledgements that say the same, one after the other. */
static void test_equal_acks(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (int i = 0; i < 6; i++) {
			int64_t t = START + 300 * MS + i * 3 * MS;
			struct packet p = scene_tcp(&s, 0, START, 500, 600, 0);
			scene_see(&s, 0, t, &p);
			scene_see(&s, 1, t + 150000, &p);
			if (f & 1) {
				scene_expect(&s, 0, t, t + 150000);
			}
		}
		scene_check(&s, flavour(f, "equal acks"));
		assert_true(f & 1 || s.counts.ambiguous == 6);
		scene_free(&s);
	}
}

/* A SYN that is not answered at once. */
static void test_syn_again(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
		for (int i = 0; i < 3; i++) {
			int64_t t = START + 300 * MS + i * 100 * MS;
			struct packet p = scene_tcp(&s, 0, t, 500, 0, 0);
			p.flags = SYN;
			scene_see(&s, 0, t, &p);
			if (i) { /* the first is lost */
				scene_see(&s, 1, t + 150000, &p);
			}
			if (i && f & 3) {
				scene_expect(&s, 0, t, t + 150000);
			}
		}
		done(&s, flavour(f, "syn again"));
	}
}

/* ---- datagrams -------------------------------------------------------------------------- */

/* The same content again and again: only IP-ID tells; and time, where it is long. */
static void test_equal_datagrams(void **state)
{
	(void)state;
	for (int f = 0; f < 8; f++) {
		bool ids = f & 1, echo = f & 2, rare = f & 4;
		struct scene s = begin(ids, true);
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
		struct scene s = begin(f & 1, true);
		s.nat = nat;
		s.eye[1].local = "172.16.0.9";
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * 5 * MS;
			struct packet p = scene_udp(&s, i & 1, 1000 + (uint64_t)i);
			p.proto = f & 2 ? ICMP : UDP;
			scene_pass(&s, i & 1, t, 150000, p);
		}
		done(&s, f & 2 ? "nat, icmp" : "nat, udp");
	}
}

/* ---- what does not belong together --------------------------------------------------------- */

/* Both stand in a network of their own with the same private addresses, ports and times. */
static void test_same_addresses(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
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
		done(&s, flavour(f, "same addresses"));
	}
}

/* Scans, and chatter that everybody has: of one content, at both, every few ms. */
static void test_chatter(void **state)
{
	(void)state;
	for (int f = 0; f < FLAVOURS; f++) {
		struct scene s = flavoured(f);
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
		done(&s, flavour(f, "chatter"));
	}
}

/* ---- several devices of a host ------------------------------------------------------- */

/* One packet on two devices of a host that is busy: the next ones come between. */
static void on_devices(struct scene *s, int who, int64_t ns, struct packet *p, uint8_t tunnel)
{
	bool sends = p->src == 0x0a000001 + (uint32_t)who;
	p->cooked = sends ? 4 : 0;
	for (unsigned i = 0; i < 2; i++) {
		bool outer = sends == (i == 1);
		p->tunnel = outer ? tunnel : 0;
		p->device = outer ? 2 : 3;
		scene_see(s, who, ns + i * 5 * MS, p);
	}
}

/* -i any of a host with a bond, a VLAN or a tunnel, against any capture of the other host. */
static void test_devices(void **state)
{
	(void)state;
	for (int k = 0; k < 16; k++) {
		struct scene s = begin(!(k & 8), false);
		bool both = k & 1;
		s.eye[0].link = LINK_SLL2;
		s.eye[1].link = both ? LINK_SLL2 : LINK_ETHERNET;
		s.snap = k & 2 ? 160 : 0;
		for (int i = 0; i < 400; i++) {
			int64_t t = START + i * MS;
			int from = i / 8 & 1;
			struct packet p = scene_udp(&s, from, 1000 + (uint64_t)i);
			int64_t arrives = t + 6 * MS + i % 7 * 1000;
			for (int who = 0; who < 2; who++) {
				int64_t at = who == from ? t : arrives;
				if (who && !both) {
					p.tunnel = 0;
					scene_see(&s, who, at, &p);
				} else {
					on_devices(&s, who, at, &p, k & 4 ? VXLAN : 0);
				}
			}
			scene_expect(&s, from, t, arrives);
		}
		char what[40];
		snprintf(what, sizeof what, "devices, case %d", k);
		done(&s, what);
	}
}

/* What a capture of one device has of what its host's devices have, -i any of all. */
static void see_on(struct scene *s, int who, uint32_t only, int64_t ns, struct packet *p,
		   uint32_t device, unsigned tags)
{
	p->tags = tags;
	p->device = device;
	p->cooked = p->src == 0x0a000001 + (uint32_t)who ? 4 : 0;
	if (!only || device == only) {
		scene_see(s, who, ns, p);
	}
}

enum { ANY, ETH = 2, OVER };

/* Down from a device of the host to the cable, which takes a while, and up again. */
static int64_t over_cable(struct scene *s, const uint32_t only[2], int from, int64_t t,
			  struct packet *p, uint32_t device, unsigned tags)
{
	int64_t leaves = t + (device == ETH ? 0 : 370000), arrives = leaves + 9000;
	if (device != ETH) {
		see_on(s, from, only[from], t, p, device, tags);
	}
	see_on(s, from, only[from], leaves, p, ETH, tags);
	see_on(s, !from, only[!from], arrives, p, ETH, tags);
	if (device != ETH) {
		see_on(s, !from, only[!from], arrives + 2000, p, device, tags);
	}
	for (int a = 0; a < 2; a++) {
		for (int b = 0; b < 2; b++) {
			scene_allow(s, from, a ? leaves : t, arrives + (b ? 2000 : 0));
		}
	}
	return leaves;
}

/* To all, without an IP-ID, from each device of a host: on the cable alike but for their tags. */
static void test_group_in_vlan(void **state)
{
	static const uint32_t device[] = { ANY, ETH, OVER };
	(void)state;
	for (int k = 0; k < 3 * 3 * 2 * 2 * 2; k++) {
		const uint32_t only[2] = { device[k % 3], device[k / 3 % 3] };
		bool plain_first = k / 9 & 1, v6 = k / 18 & 1;
		struct scene s = { .offset_ns = 123456789 };
		for (int who = 0; who < 2; who++) {
			s.eye[who].link = only[who] ? LINK_ETHERNET : k / 36 ? LINK_SLL : LINK_SLL2;
		}
		for (int i = 0; i < 200; i++) {
			int64_t t = START + i * 5 * MS;
			struct packet p = scene_udp(&s, i & 1, 1000 + (uint64_t)i);
			over_cable(&s, only, i & 1, t, &p, OVER, 1);
		}
		s.no_ids = true;
		for (int i = 0; i < 20; i++) {
			int64_t t = START + i * 50 * MS + MS;
			struct packet p = scene_udp(&s, i & 1, (uint64_t)i / 5), q;
			p.multicast = true;
			p.v6 = v6;
			p.ttl = 255;
			q = p;
			int64_t leaves = over_cable(&s, only, i & 1, t, &p, OVER, 1);
			over_cable(&s, only, i & 1, leaves + (plain_first ? -7000 : 7000), &q, ETH,
				   0);
		}
		char what[60];
		snprintf(what, sizeof what, "group in a VLAN, case %d", k);
		scene_check(&s, what);
		scene_free(&s);
	}
}

enum { MEMBER = ETH, OTHER = OVER, BOND };

/* Over one member of a bond; what else has it. */
static void over_bond(struct scene *s, const uint32_t only[2], int from, int64_t t,
		      struct packet *p, uint32_t member, bool expected)
{
	int64_t sent = only[from] ? t + 20000 : t;
	see_on(s, from, only[from], t, p, BOND, 0);
	see_on(s, from, only[from], t + 20000, p, member, 0);
	see_on(s, !from, only[!from], t + 29000, p, member, 0);
	see_on(s, !from, only[!from], t + 39000, p, BOND, 0);
	(expected ? scene_expect : scene_allow)(s, from, sent, t + 29000);
}

/* Acknowledgements alike on one member of a bond and the other, of which a capture has but one. */
static void test_bond_members(void **state)
{
	(void)state;
	for (int k = 0; k < 8; k++) {
		bool sends = k & 1;
		const uint32_t only[2] = { sends ? MEMBER : ANY, sends ? ANY : MEMBER };
		struct scene s = { .no_ticks = k & 4 };
		s.eye[sends].link = LINK_SLL2;
		for (int i = 0; i < 400; i++) {
			int64_t t = START + i * 5 * MS;
			int from = i & 1;
			uint32_t member = i / 2 & 1 ? OTHER : MEMBER;
			struct packet p = scene_udp(&s, from, 1000 + (uint64_t)i);
			s.no_ids = false;
			over_bond(&s, only, from, t + 2 * MS, &p, member, member == MEMBER);
			s.no_ids = true;
			p = scene_tcp(&s, from, t, 100, 100 + (uint32_t)i / 2 * 60, 0);
			p.v6 = k & 2;
			bool twice = i % 5 == 4;
			over_bond(&s, only, from, t, &p, member, member == MEMBER && !twice);
			if (twice) {
				over_bond(&s, only, from, t + 60000, &p, MEMBER + OTHER - member,
					  false);
			}
		}
		char what[60];
		snprintf(what, sizeof what, "members of a bond, case %d", k);
		scene_check(&s, what);
		scene_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_tuple),
		cmocka_unit_test(test_nat),
		cmocka_unit_test(test_nat_midway),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_starts_apart),
		cmocka_unit_test(test_tso),
		cmocka_unit_test(test_gro),
		cmocka_unit_test(test_tso_and_gro),
		cmocka_unit_test(test_long_stream),
		cmocka_unit_test(test_retransmission),
		cmocka_unit_test(test_original_missed),
		cmocka_unit_test(test_duplicate_acks),
		cmocka_unit_test(test_duplicate_on_the_way),
		cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_equal_acks),
		cmocka_unit_test(test_syn_again),
		cmocka_unit_test(test_equal_datagrams),
		cmocka_unit_test(test_nat_datagrams),
		cmocka_unit_test(test_same_addresses),
		cmocka_unit_test(test_chatter),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_group_in_vlan),
		cmocka_unit_test(test_bond_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
