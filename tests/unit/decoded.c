/* SPDX-License-Identifier: MIT */
#include "decoded.h"
#include "../fence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct packet tcp = {
	.link = LINK_ETHERNET,
	.src = A,
	.dst = B,
	.ip_id = 0x1234,
	.sport = 40000,
	.dport = 443,
	.seq = 0x89abcdef,
	.ack = 0x1020304,
	.flags = ACK | PSH,
	.window = 501,
	.timestamps = true,
	.tsval = 0xf0000001,
	.tsecr = 0x70000002,
	.payload = 100,
};

/* The quick look says what decoding says, or nothing. */
static void check_glance(const struct usk_record *r, uint16_t link, const struct usk_packet *is)
{
	struct usk_glance g;
	memset(&g, 0x5a, sizeof g);
	if (usk_packet_glance(r, link, &g)) {
		assert_non_null(is);
		assert_true(g.src == is->src.lo && g.dst == is->dst.lo);
		assert_true(g.pick == usk_packet_pick(is));
	}
}

/* What lies behind the bytes that were captured says nothing. */
static void check_behind(struct usk_record r, const uint8_t *whole, uint16_t link,
			 struct usk_depth depth, const struct usk_packet *is)
{
	struct usk_packet p;
	r.data = whole;
	if (usk_packet_decode(&r, link, depth, &p, NULL) != (is != NULL)) {
		fail_msg("cut after %u: decoded by what lies behind", r.captured);
	}
	assert_true(!is ||
		    (p.key == is->key && p.has == is->has && p.bytes == is->bytes &&
		     p.tsval == is->tsval && p.tsecr == is->tsecr && p.window == is->window &&
		     p.seq == is->seq && p.sport == is->sport && p.flags == is->flags));
}

bool decode_cut(const struct packet *p, uint32_t keep, uint32_t depth, struct usk_packet *out,
		struct usk_counts *counts)
{
	struct bytes b = { 0 };
	uint32_t wire = packet_bytes(p, &b);
	size_t n = b.n < keep ? b.n : keep;
	uint8_t *data = fence_new(b.data, n);
	struct usk_record r = {
		.time_ns = 77, .data = data, .captured = (uint32_t)n, .length = wire
	};
	memset(out, 0x5a, sizeof *out);
	memset(counts, 0, sizeof *counts);
	bool good = usk_packet_decode(&r, p->link, (struct usk_depth){ depth, 0 }, out, counts);
	check_glance(&r, p->link, good ? out : NULL);
	check_behind(r, b.data, p->link, (struct usk_depth){ depth, 0 }, good ? out : NULL);
	fence_free(data, n);
	bytes_free(&b);
	return good;
}

struct usk_packet decode(const struct packet *p)
{
	struct usk_packet out;
	struct usk_counts counts;
	assert_true(decode_cut(p, NO_CUT, NO_CUT, &out, &counts));
	assert_int_equal(counts.fragments + counts.not_ip + counts.loopback + counts.cut_short, 0);
	assert_true(out.key != 0);
	return out;
}
