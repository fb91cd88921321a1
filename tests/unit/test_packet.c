/* SPDX-License-Identifier: MIT */
/*
 * From bytes to what the matcher sees: every wrapping, every cut. Keys: test_packet_key.c
 */
#include "../fence.h"
#include "decoded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define V4(host) (UINT64_C(0xffff00000000) | (host))

/* A hop-by-hop header, routing, authentication, destination options: number, next, length... */
static const uint8_t chain[] = { 0, 0, 0, 1, 2, 3, 4, 5,  6, 43, 0,  1, 0, 0, 0, 0,
				 0, 0, 0, 0, 0, 0, 0, 0,  0, 0,	 51, 0, 1, 0, 0, 9,
				 9, 9, 9, 1, 1, 1, 1, 60, 0, 0,	 0,  0, 0, 0, 0, 0 };
/* A fragment header that fragments nothing, and two that do. */
static const uint8_t atomic[] = { 44, 0, 0, 0, 0, 1, 2, 3, 4 };
static const uint8_t more[] = { 44, 0, 0, 0, 1, 1, 2, 3, 4 };
static const uint8_t second[] = { 44, 0, 0, 5, 0xa8, 1, 2, 3, 4 };

static void check_tcp(const char *what, const struct packet *p)
{
	struct usk_packet out = decode(p), plain = decode(&tcp);
	if (out.key != plain.key) {
		fail_msg("%s: another key", what);
	}
	assert_int_equal(out.time_ns, 77);
	assert_int_equal(out.sport, 40000);
	assert_int_equal(out.dport, 443);
	assert_int_equal(out.proto, TCP);
	assert_int_equal(out.flags, ACK | PSH);
	assert_int_equal(out.ttl, p->ttl ? p->ttl : 64);
	assert_true(out.seq == 0x89abcdef && out.ack == 0x1020304);
	assert_true(out.tsval == 0xf0000001 && out.tsecr == 0x70000002);
	assert_int_equal(out.bytes, 100);
	assert_int_equal(out.window, 501);
	assert_int_equal(out.has & USK_HAS_TIMESTAMPS, USK_HAS_TIMESTAMPS);
	assert_int_equal(out.has & USK_HAS_WINDOW, USK_HAS_WINDOW);
	if (p->v6) {
		assert_int_equal(out.has & USK_HAS_IP_ID, 0);
		assert_true(out.src.hi == UINT64_C(0xfd00000000000000) && out.src.lo == A);
		assert_true(out.dst.hi == UINT64_C(0xfd00000000000000) && out.dst.lo == B);
	} else {
		assert_int_equal(out.has & USK_HAS_IP_ID, USK_HAS_IP_ID);
		assert_int_equal(out.ip_id, 0x1234);
		assert_true(out.src.hi == 0 && out.src.lo == V4(A));
		assert_true(out.dst.hi == 0 && out.dst.lo == V4(B));
	}
}

/* Every link layer, tag, tunnel, header: the same packet. */
static void test_wrappings(void **state)
{
	static const uint16_t links[] = { LINK_ETHERNET, LINK_SLL,  LINK_SLL2, LINK_RAW,
					  LINK_NULL,	 LINK_LOOP, 12,	       14 };
	static const uint8_t tunnels[] = { 0, IPIP, SIXIN4, GRE, VXLAN };
	(void)state;
	for (size_t l = 0; l < COUNT(links); l++) {
		for (unsigned tags = 0; tags < 3; tags++) {
			for (size_t t = 0; t < COUNT(tunnels); t++) {
				for (unsigned v6 = 0; v6 < 2; v6++) {
					struct packet p = tcp;
					char what[80];
					if ((tunnels[t] == IPIP && v6) ||
					    (tunnels[t] == SIXIN4 && !v6)) {
						continue;
					}
					p.link = links[l];
					p.tags = tags;
					p.tunnel = tunnels[t];
					p.v6 = v6;
					p.ttl = 9;
					snprintf(what, sizeof what,
						 "link %u, %u tags, tunnel %u, v6 %u", links[l],
						 tags, tunnels[t], v6);
					check_tcp(what, &p);
					p.ip_options = v6 ? 0 : 3;
					p.extension = chain;
					p.n_extension = v6 ? sizeof chain : 0;
					check_tcp(what, &p);
					if (v6) {
						p.extension = atomic;
						p.n_extension = sizeof atomic;
						check_tcp(what, &p);
					}
				}
			}
		}
	}
}

static void test_sides(void **state)
{
	static const struct {
		unsigned type;
		enum usk_side side;
	} cases[] = { { 0, USK_SIDE_RECEIVED },
		      { 1, USK_SIDE_RECEIVED },
		      { 2, USK_SIDE_RECEIVED },
		      { 3, USK_SIDE_UNKNOWN },
		      { 4, USK_SIDE_SENT } };
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct packet p = tcp;
		p.cooked = cases[i].type;
		p.link = LINK_SLL;
		assert_int_equal(decode(&p).side, cases[i].side);
		p.link = LINK_SLL2;
		assert_int_equal(decode(&p).side, cases[i].side);
		p.link = LINK_ETHERNET;
		assert_int_equal(decode(&p).side, USK_SIDE_UNKNOWN);
	}
	/* What pcapng states goes before what the cooked header says. */
	struct packet p = tcp;
	p.link = LINK_SLL;
	p.cooked = 0;
	struct bytes b = { 0 };
	uint32_t n = packet_bytes(&p, &b);
	for (enum usk_side s = USK_SIDE_UNKNOWN; s <= USK_SIDE_RECEIVED; s++) {
		struct usk_record r = { .data = b.data, .captured = n, .length = n, .side = s };
		struct usk_packet out;
		assert_true(usk_packet_decode(&r, LINK_SLL, USK_DEPTH_ALL, &out, NULL));
		assert_int_equal(out.side, s == USK_SIDE_SENT ? USK_SIDE_SENT : USK_SIDE_RECEIVED);
	}
	bytes_free(&b);
}

static const struct {
	const char *name;
	struct packet p;
	struct usk_counts want;
} left_out[] = {
	{ "first fragment", { .fragment = 0x2000 }, { .fragments = 1 } },
	{ "later fragment", { .fragment = 0x00b9 }, { .fragments = 1 } },
	{ "v6 first fragment",
	  { .v6 = true, .extension = more, .n_extension = sizeof more },
	  { .fragments = 1 } },
	{ "v6 later fragment",
	  { .v6 = true, .extension = second, .n_extension = sizeof second },
	  { .fragments = 1 } },
	{ "fragment in a tunnel", { .tunnel = GRE, .fragment = 0x2000 }, { .fragments = 1 } },
	{ "to itself", { .src = 0x7f000001, .dst = 0x7f000001 }, { .loopback = 1 } },
	{ "from itself", { .src = 0x7f123456, .dst = B }, { .loopback = 1 } },
	{ "no address yet", { .src = 0, .dst = UINT32_MAX, .proto = UDP }, { .not_ip = 1 } },
};

static void test_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(left_out); i++) {
		struct packet p = left_out[i].p;
		struct usk_counts counts;
		struct usk_packet out;
		p.link = i % 2 ? LINK_ETHERNET : LINK_SLL;
		if (!p.src && !p.dst) {
			p.src = A;
			p.dst = B;
		}
		if (decode_cut(&p, NO_CUT, NO_CUT, &out, &counts)) {
			fail_msg("%s: is decoded", left_out[i].name);
		}
		const struct usk_counts *w = &left_out[i].want;
		if (counts.fragments != w->fragments || counts.not_ip != w->not_ip ||
		    counts.loopback != w->loopback || counts.cut_short != w->cut_short) {
			fail_msg("%s: counted as something else", left_out[i].name);
		}
	}
	static const struct {
		uint16_t link;
		const char *data;
		uint32_t n;
	} not_ip[] = { { LINK_ETHERNET, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\x06...............", 29 },
		       { LINK_ETHERNET, "\0\0\0\0\0\0\0\0\0\0\0\0\x81\0\0\x07\x86\xdd", 18 },
		       { LINK_ETHERNET, "\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\x35...................",
			 34 },
		       { LINK_RAW, "\x00.....................", 22 },
		       { LINK_RAW, "", 0 },
		       { LINK_NULL, "\0\0\0", 3 },
		       { 147, "E......................................................", 50 } };
	for (size_t i = 0; i < COUNT(not_ip); i++) {
		struct usk_counts counts = { 0 };
		struct usk_packet out;
		uint8_t *copy = fence_new(not_ip[i].data, not_ip[i].n);
		struct usk_record r = { .data = copy, .captured = not_ip[i].n, .length = 60 };
		assert_false(usk_packet_decode(&r, not_ip[i].link, USK_DEPTH_ALL, &out, &counts));
		/* Of a link that nobody can read it is not known whether it is IP. */
		assert_int_equal(counts.not_ip, usk_link_is_known(not_ip[i].link));
		assert_false(usk_packet_decode(&r, not_ip[i].link, USK_DEPTH_ALL, &out, NULL));
		fence_free(copy, not_ip[i].n);
	}
}

/* What stands before an IP packet on links that have no more to tell. */
static void test_links(void **state)
{
#define SNAP "\xaa\xaa\3\0\0\0\x08\0"
#define WIFI "\x08\1\0\0AAAAAABBBBBBCCCCCC\0\0"
	static const struct {
		uint16_t link;
		const char *data;
		size_t n;
	} good[] = {
		{ 6,
		  "\x10\x40"
		  "AAAAAABBBBBB" SNAP,
		  22 },
		{ 6,
		  "\x10\x40"
		  "AAAAAA\x82"
		  "BBBBB\6\1\2\3\4\5" SNAP,
		  28 },
		{ 9, "\xff\3\0\x21", 4 },
		{ 10,
		  "\x50"
		  "AAAAAABBBBBB" SNAP,
		  21 },
		{ 11, SNAP, 8 },
		{ 50, "\x0f\0\x08\0", 4 },
		{ 51, "\x11\0\0\1\0\x50\0\x21", 8 },
		{ LINK_ETHERNET, "AAAAAABBBBBB\x88\x64\x11\0\0\1\0\x50\0\x21", 22 },
		{ LINK_ETHERNET, "AAAAAABBBBBB\0\x30" SNAP, 22 },
		{ LINK_ETHERNET, "AAAAAABBBBBB\x81\0\0\7\5\xdc" SNAP, 26 },
		{ 104, "\x8f\0\x08\0", 4 },
		{ 105, WIFI SNAP, 32 },
		{ 105, "\x88\1\0\0AAAAAABBBBBBCCCCCC\0\0\0\0" SNAP, 34 },
		{ 105, "\x08\3\0\0AAAAAABBBBBBCCCCCC\0\0DDDDDD" SNAP, 38 },
		{ 109, "\0\0\0\2SPI.FLAG", 12 },
		{ 117, "\x3d\2..........................................................\0\0\0",
		  64 },
		{ 122, "AAAAAAAABBBBBBBB" SNAP, 24 },
		{ 127, "\0\0\x08\0\0\0\0\0" WIFI SNAP, 40 },
		{ 127, "\0\0\x0a\0\2\0\0\0\x20\0\x88\1\0\0AAAAAABBBBBBCCCCCC\0\0\0\0\0\0" SNAP,
		  46 },
		{ 163, "\x80\x21\x10\1\0\0\0\x0c...." WIFI SNAP, 44 },
		{ 166, "\1\3\0\x21", 4 },
		{ 192, "\0\0\x08\0\x69\0\0\0" WIFI SNAP, 40 },
		{ 204, "\1\xff\3\0\x21", 5 },
		{ 239, "\2\0\0\0\x08\0\1\0abcd\x2c\0\x09\0", 16 },
		{ 239, "\2\0\0\0\0\7\0\1abc\0\0\x2c\0\x09", 16 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		const struct packet p = { .link = LINK_RAW,
					  .proto = UDP,
					  .src = A,
					  .dst = B,
					  .ip_id = 7,
					  .payload = 12 };
		struct bytes ip = { 0 }, b = { 0 };
		uint32_t wire = packet_bytes(&p, &ip);
		put(&b, good[i].data, good[i].n);
		put(&b, ip.data, ip.n);
		for (size_t n = 0; n <= b.n; n++) {
			uint8_t *copy = fence_new(b.data, n);
			struct usk_record r = { .data = copy,
						.captured = (uint32_t)n,
						.length = (uint32_t)good[i].n + wire };
			struct usk_packet out;
			bool whole = usk_packet_decode(&r, good[i].link, USK_DEPTH_ALL, &out, NULL);
			if (n == b.n && (!whole || out.src.lo != V4(A) || out.ip_id != 7)) {
				fail_msg("link %u, case %zu: not read", good[i].link, i);
			}
			fence_free(copy, n);
		}
		bytes_free(&ip);
		bytes_free(&b);
	}
	/* Encrypted; no data; of a bad check sum; several packets in one. */
	static const struct {
		uint16_t link;
		const char *data;
		size_t n;
	} bad[] = {
		{ 105, "\x08\x41\0\0AAAAAABBBBBBCCCCCC\0\0" SNAP, 32 },
		{ 105, "\x48\1\0\0AAAAAABBBBBBCCCCCC\0\0" SNAP, 32 },
		{ 105, "\x88\1\0\0AAAAAABBBBBBCCCCCC\0\0\x80\0" SNAP, 34 },
		{ 127, "\0\0\x0a\0\2\0\0\0\x40\0" WIFI SNAP, 42 },
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct usk_record r = { .data = (const uint8_t *)bad[i].data,
					.captured = (uint32_t)bad[i].n,
					.length = (uint32_t)bad[i].n };
		struct usk_counts counts = { 0 };
		struct usk_packet out;
		assert_false(usk_packet_decode(&r, bad[i].link, USK_DEPTH_ALL, &out, &counts));
		assert_int_equal(counts.not_ip, 1);
	}
}

/* What tunnels, headers and tags put before the innermost IP packet. */
static uint32_t link_bytes(const struct packet *p)
{
	static const uint16_t size[] = { 14, 16, 20, 4, 0 };
	size_t which = p->link == LINK_ETHERNET ? 0
		       : p->link == LINK_SLL	? 1
		       : p->link == LINK_SLL2	? 2
		       : p->link == LINK_NULL	? 3
						: 4;
	return size[which] + (which < 3 ? 4 * p->tags : 0);
}

/*
 * Cut at every length: nothing beyond is read (the block is exactly as long), and what is still
 * decoded has the key that a capture of all of it gets at the depth of the shorter one, on another link layer too.
 */
static void test_cut_anywhere(void **state)
{
	static const uint16_t links[] = { LINK_ETHERNET, LINK_SLL, LINK_SLL2, LINK_NULL, LINK_RAW };
	static const uint8_t tunnels[] = { 0, GRE, VXLAN };
	static const uint8_t protos[] = { TCP, UDP, ICMP, 132 };
	(void)state;
	for (size_t k = 0; k < COUNT(links) * COUNT(tunnels) * COUNT(protos) * 4; k++) {
		struct packet p = tcp;
		p.link = links[k % COUNT(links)];
		p.tunnel = tunnels[k / COUNT(links) % COUNT(tunnels)];
		p.proto = protos[k / COUNT(links) / COUNT(tunnels) % COUNT(protos)];
		size_t rest = k / COUNT(links) / COUNT(tunnels) / COUNT(protos);
		p.tags = (unsigned)(k % 3);
		p.v6 = rest & 1;
		p.payload = rest & 2 ? 0 : 60;
		p.ip_options = rest & 2 ? 2 : 0;
		p.extension = chain;
		p.n_extension = rest == 3 ? sizeof chain : 0;
		p.content = k;
		struct bytes b = { 0 };
		packet_bytes(&p, &b);
		uint32_t size = (uint32_t)b.n, link = link_bytes(&p);
		bytes_free(&b);
		bool before = false;
		for (uint32_t n = 0; n <= size; n++) {
			struct usk_packet cut, whole, elsewhere;
			struct usk_counts counts;
			uint32_t depth = n > link ? n - link : 0;
			bool good = decode_cut(&p, n, depth, &cut, &counts);
			uint64_t sum = counts.not_ip + counts.cut_short + counts.fragments;
			assert_int_equal(sum + counts.loopback + counts.alike, !good);
			assert_true(good || !before || p.tunnel);
			before = good;
			/* With the inner packet cut away the tunnel's own packet stands for it. */
			uint32_t inner = p.tunnel == GRE ? 28 : p.tunnel ? 50 : 0;
			if (good && n > link + inner) {
				assert_true(decode_cut(&p, NO_CUT, depth, &whole, &counts));
				struct packet bare = p;
				bare.link = LINK_RAW;
				assert_true(decode_cut(&bare, NO_CUT, depth, &elsewhere, &counts));
				if (whole.key != cut.key || whole.bytes != cut.bytes ||
				    elsewhere.key != cut.key) {
					fail_msg("link %u, tunnel %u, protocol %u, v6 %d: cut "
						 "after %u of %u",
						 p.link, p.tunnel, p.proto, p.v6, n, size);
				}
				assert_true(whole.seq == cut.seq && whole.sport == cut.sport);
				/* More kept than agreed upon changes nothing either. */
				assert_true(decode_cut(&p, n, depth / 2, &cut, &counts));
				assert_true(decode_cut(&p, NO_CUT, depth / 2, &whole, &counts));
				assert_true(whole.key == cut.key);
			}
		}
		/* Without payload nothing tells datagrams apart, and SCTP has no header. */
		assert_true(before || (!p.payload && (p.proto == UDP || p.proto == 132)));
	}
}

/* TCP options in any order, of any length; stamps only where they are whole. */
static void test_tcp_options(void **state)
{
	static const struct {
		const char *option;
		bool stamped;
	} cases[] = {
		{ "\x01\x01\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", true },
		{ "\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88\x01\x01", true },
		{ "\x01\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88\x00", true },
		{ "\x05\x02\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", true },
		{ "\x01\x01\x01\x08\x0a\x11\x22\x33\x44\x55\x66\x77", false },
		{ "\x00\x01\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", false },
		{ "\x01\x01\x08\x09\x11\x22\x33\x44\x55\x66\x77\x88", false },
		{ "\x05\x01\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", false },
		{ "\x05\x00\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", false },
		{ "\x05\xff\x08\x0a\x11\x22\x33\x44\x55\x66\x77\x88", false },
		{ "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x08", false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct packet p = tcp;
		struct bytes b = { 0 };
		p.payload = 0;
		uint32_t n = packet_bytes(&p, &b);
		memcpy(b.data + n - 12, cases[i].option, 12);
		struct usk_record r = { .data = b.data, .captured = n, .length = n };
		struct usk_packet out;
		assert_true(usk_packet_decode(&r, LINK_ETHERNET, USK_DEPTH_ALL, &out, NULL));
		if (!(out.has & USK_HAS_TIMESTAMPS) == cases[i].stamped) {
			fail_msg("options %zu", i);
		}
		assert_int_equal(!(out.has & USK_HAS_SHARED_TIMESTAMPS), !cases[i].stamped);
		assert_true(!cases[i].stamped ||
			    (out.tsval == 0x11223344 && out.tsecr == 0x55667788));
		assert_true(cases[i].stamped || (out.tsval == 0 && out.tsecr == 0));
		bytes_free(&b);
	}
}

static void test_addresses(void **state)
{
	static const char *const good[] = { "10.0.0.1", "255.255.255.255", "::1", "fd00::a:1",
					    "2001:db8::ff00:42:8329" };
	static const char *const bad[] = { "", "10.0.0", "10.0.0.256", "localhost", ":::", "1" };
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		struct usk_addr a;
		char text[46];
		assert_true(usk_addr_parse(good[i], &a));
		usk_addr_text(a, text);
		assert_string_equal(text, good[i]);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct usk_addr a;
		assert_false(usk_addr_parse(bad[i], &a));
	}
	struct usk_addr a, b;
	assert_true(usk_addr_parse("::ffff:10.0.0.1", &a) && usk_addr_parse("10.0.0.1", &b));
	assert_true(a.hi == b.hi && a.lo == b.lo);
}

static bool is_sound(const uint8_t *header, size_t n)
{
	uint8_t *data = fence_new(header, n);
	struct usk_record r = { .data = data, .captured = (uint32_t)n, .length = 115 };
	bool sound = usk_packet_is_sound(&r, LINK_RAW);
	fence_free(data, n);
	return sound;
}

/* Any byte of a header that is another one is noticed, but for a checksum that is left out. */
static void test_sound(void **state)
{
	static const uint8_t header[] = { 0x45, 0,    0,    0x73, 0,	0,    0x40,
					  0,	0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
					  0x00, 0x01, 0xc0, 0xa8, 0,	0xc7 };
	uint8_t other[sizeof header];
	(void)state;
	for (size_t n = 0; n <= sizeof header; n++) {
		assert_true(is_sound(header, n));
	}
	for (size_t i = 1; i < sizeof header; i++) {
		memcpy(other, header, sizeof header);
		other[i] ^= 0x10;
		assert_false(is_sound(other, sizeof header));
	}
	memcpy(other, header, sizeof header);
	other[10] = other[11] = 0;
	assert_true(is_sound(other, sizeof header));
	other[0] = 0x65;
	assert_true(is_sound(other, sizeof header));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrappings),    cmocka_unit_test(test_sides),
		cmocka_unit_test(test_left_out),     cmocka_unit_test(test_links),
		cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_tcp_options),
		cmocka_unit_test(test_addresses),    cmocka_unit_test(test_sound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
