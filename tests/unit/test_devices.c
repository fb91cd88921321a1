/* SPDX-License-Identifier: MIT */
/*
 * Captures of several devices of one host, which see a packet twice or more: of a bond, a VLAN or a
 * tunnel the same one counts on both sides, and no receive gets a send of another device.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

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
		struct scene s = scene_begin(!(k & 8), false);
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
		scene_done(&s, what);
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
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_group_in_vlan),
		cmocka_unit_test(test_bond_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
