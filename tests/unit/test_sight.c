/* SPDX-License-Identifier: MIT */
/*
 * Captures larger than a window, damaged in several places: where records go on is the same from a
 * file, of which a window is seen, and from memory, of which all is.
 */
#include "opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FACES = 9, SIZE = 3 * USK_SEARCH, LONGEST = 1 << 16 };

static void make_capture(struct bytes *b, bool ng, uint32_t longest, struct usk_rng *r)
{
	static uint8_t payload[LONGEST + 64];
	for (size_t i = 0; i < sizeof payload; i++) {
		payload[i] = (uint8_t)usk_rng_below(r, 256);
	}
	if (ng) {
		ng_section(b);
		for (int i = 0; i < FACES; i++) {
			ng_interface(b, 1, 262144, 9);
		}
	} else {
		pcap_begin(b, MAGIC_NS, 262144, 1);
	}
	for (int64_t ns = INT64_C(1700000000) * 1000000000; b->n < SIZE;) {
		ns += (int64_t)usk_rng_below(r, 1000000) - 20000; /* some fall */
		uint32_t n = 60 + (uint32_t)usk_rng_below(r, longest);
		if (ng) {
			ng_packet(b, (uint32_t)usk_rng_below(r, FACES), (uint64_t)ns, payload, n,
				  n);
		} else {
			pcap_record_ns(b, ns, payload, n, n);
		}
	}
}

/* A stretch of it zeroed, gone, made up, or from elsewhere in it. */
static void damage(struct bytes *b, struct usk_rng *r)
{
	const size_t most = (size_t)64 << usk_rng_below(r, 11);
	size_t n = 1 + usk_rng_below(r, most), at = 400 + usk_rng_below(r, b->n - n - 400);
	const size_t from = usk_rng_below(r, b->n - n);
	uint64_t kind = usk_rng_below(r, 4);
	if (kind == 0) {
		memset(b->data + at, 0, n);
	} else if (kind == 1) {
		memmove(b->data + at, b->data + at + n, b->n - at - n);
		b->n -= n;
	} else if (kind == 2) {
		for (size_t i = at; i < at + n; i++) {
			b->data[i] = (uint8_t)usk_rng_below(r, 256);
		}
	} else {
		memmove(b->data + at, b->data + from, n);
	}
}

static void test_any_window(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, 20261128);
	const char *more = getenv("UNSKEW_TEST_DAMAGES");
	size_t rounds = more ? (size_t)strtoul(more, NULL, 10) : 100, read = 0;
	for (size_t k = 0; k < rounds; k++) {
		static const uint32_t longest[] = { 100, 1500, 9000, LONGEST };
		struct bytes b = { 0 };
		char what[32];
		snprintf(what, sizeof what, "round %zu", k);
		make_capture(&b, k % 4 > 0, longest[usk_rng_below(&r, COUNT(longest))], &r);
		for (uint64_t n = 1 + usk_rng_below(&r, 20); n; n--) {
			damage(&b, &r);
		}
		read += check_doors(what, &b) > 0;
		bytes_free(&b);
	}
	assert_true(read * 10 >= rounds * 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_any_window) };
	return cmocka_run_group_tests(tests, make_trace_path, remove_trace_path);
}
