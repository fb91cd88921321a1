/* SPDX-License-Identifier: MIT */
/*
 * Captures and spans larger than a window, damaged in several places: where they go on is the same
 * from a file, of which a window is seen, and from memory, of which all is.
 */
#include "opening.h"
#include "otlp_making.h"
#include "../part.h"

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

/* A stretch of it zeroed, gone, made up, or from elsewhere in it; so many bytes at its head stay. */
static void damage(struct bytes *b, size_t head, struct usk_rng *r)
{
	const size_t most = (size_t)64 << usk_rng_below(r, 11);
	size_t n = 1 + usk_rng_below(r, most), at = head + usk_rng_below(r, b->n - n - head);
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

static size_t how_many(size_t usual)
{
	const char *more = getenv("UNSKEW_TEST_DAMAGES");
	return more ? (size_t)strtoul(more, NULL, 10) : (size_t)case_count(usual);
}

static void test_any_window(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, 20261128);
	const size_t rounds = how_many(100);
	size_t read = 0;
	for (size_t k = 0; k < rounds; k++) {
		static const uint32_t longest[] = { 100, 1500, 9000, LONGEST };
		struct bytes b = { 0 };
		char what[32];
		snprintf(what, sizeof what, "round %zu", k);
		make_capture(&b, k % 4 > 0, longest[usk_rng_below(&r, COUNT(longest))], &r);
		for (uint64_t n = 1 + usk_rng_below(&r, 20); n; n--) {
			damage(&b, 400, &r);
		}
		read += check_doors(what, &b) > 0;
		bytes_free(&b);
	}
	assert_true(read * 10 >= rounds * 9);
}

/* Messages whose spans have names so long that a window may not hold what tells a span. Returns the
 * bytes of the first one. */
static size_t make_spans(struct bytes *b, struct usk_rng *r)
{
	static char name[USK_SIGHT + LONGEST];
	size_t first = 0;
	memset(name, 'x', sizeof name);
	for (uint64_t id = 1; b->n < SIZE; id++) {
		struct bytes message = { 0 };
		const bool longer = id > 1 && usk_rng_below(r, 2);
		const size_t n = usk_rng_below(r, 2000) + (longer ? sizeof name - 2001 : 0);
		const struct otlp_span s = { .trace = id,
					     .id = id,
					     .name = name + sizeof name - 1 - n,
					     .kind = 2,
					     .start_ns = (int64_t)id * 1000,
					     .end_ns = (int64_t)id * 1000 + 10 };
		name[sizeof name - 1] = 0;
		otlp_traces(&message, "host", 1, &s, 1);
		otlp_framed(b, &message);
		first = first ? first : b->n;
	}
	return first;
}

static void check_spans(const struct bytes *b)
{
	struct usk_trace *t[2] = { open_file(b), open_memory(b) };
	struct usk_span s[2];
	for (size_t n[2] = { 1, 1 }; n[0];) {
		for (int i = 0; i < 2; i++) {
			assert_int_equal(usk_trace_spans(t[i], &s[i], 1, &n[i], NULL), USK_OK);
		}
		assert_int_equal(n[0], n[1]);
		assert_true(!n[0] || (s[0].id == s[1].id && s[0].start_ns == s[1].start_ns));
	}
	for (int i = 0; i < 2; i++) {
		usk_trace_close(t[i]);
	}
}

static void test_spans(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, 20261128);
	for (size_t k = 0; k < how_many(100); k++) {
		struct bytes b = { 0 };
		const size_t head = make_spans(&b, &r);
		for (uint64_t n = 1 + usk_rng_below(&r, 3); n; n--) {
			damage(&b, head, &r);
		}
		check_spans(&b);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_window),
		cmocka_unit_test(test_spans),
	};
	return cmocka_run_group_tests(tests, make_trace_path, remove_trace_path);
}
