/* SPDX-License-Identifier: MIT */
/*
 * fuzz_packet.c - one packet of any link type, cut anywhere
 *
 * The first two bytes choose the link type, the third the depth of the key. The decoder must
 * stay within what was captured, count what it leaves out exactly once, and say the same when
 * asked again.
 */
#include "found.h"
#include "read/link.h"
#include "read/read.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static uint64_t left_out_in_all(const struct usk_counts *n)
{
	return n->fragments + n->not_ip + n->loopback + n->cut_short + n->alike;
}

/*
 * The contract between two captures: what one of them cut decodes to the key that the other, which
 * has all of it, gets at the depth of the cut.
 */
static void cut(const struct usk_record *whole, uint16_t link_type, uint32_t keep)
{
	uint32_t head = usk_packet_link_bytes(whole, link_type);
	if (head == UINT32_MAX || keep < head || keep > whole->captured) {
		return;
	}
	uint8_t *copy = malloc(keep ? keep : 1);
	if (!copy) {
		return;
	}
	memcpy(copy, whole->data, keep);
	struct usk_record part = *whole;
	struct usk_packet a, b;
	part.data = copy;
	part.captured = keep;
	const struct usk_depth depth = { keep - head, 0 };
	if (usk_packet_decode(&part, link_type, depth, &a, NULL)) {
		/* Where the inner packet is cut away the outer one stands for it. */
		bool tunnel = a.proto == 4 || a.proto == 41 || a.proto == 47 ||
			      (a.proto == 17 && a.dport == 4789);
		if (!tunnel && usk_packet_decode(whole, link_type, depth, &b, NULL) &&
		    (a.key != b.key || a.seq != b.seq || a.ack != b.ack || a.bytes != b.bytes)) {
			abort();
		}
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3 || size > 1 << 16) {
		return 0;
	}
	uint16_t link_type = (uint16_t)(data[0] | data[1] << 8);
	struct usk_depth depth = { data[2] == 255 ? UINT32_MAX : data[2], 0 };
	size_t n = size - 3;
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy) {
		return 0;
	}
	memcpy(copy, data + 3, n);
	struct usk_record r = {
		.data = copy,
		.captured = (uint32_t)n,
		.length = (uint32_t)n + 100,
	};
	struct usk_packet one, two;
	struct usk_counts left_out = { 0 };
	memset(&one, 0, sizeof one);
	memset(&two, 0, sizeof two);
	bool used = usk_packet_decode(&r, link_type, depth, &one, &left_out);
	/* Captures of unknown links are refused as a whole. */
	unsigned counted = !used && usk_link_is_known(link_type);
	if (left_out_in_all(&left_out) != counted ||
	    usk_packet_decode(&r, link_type, depth, &two, NULL) != used ||
	    (used && (one.key != two.key || one.bytes != two.bytes || one.bytes > 1 << 30))) {
		abort();
	}
	fuzz_found_packet(used ? &one : NULL);
	fuzz_found(left_out.fragments + 2 * left_out.not_ip + 4 * left_out.loopback +
		   8 * left_out.cut_short + 16 * left_out.alike);
	/* The short way says what the long way says, or nothing. */
	struct usk_glance glance;
	if (usk_packet_glance(&r, link_type, &glance) &&
	    (!used || glance.src != one.src.lo || glance.dst != one.dst.lo ||
	     glance.pick != usk_packet_pick(&one))) {
		abort();
	}
	usk_packet_depth(&r, link_type, data[2], &depth);
	cut(&r, link_type, data[2]);
	free(copy);
	return 0;
}
