/* SPDX-License-Identifier: MIT */
/* What is left of captures that are cut, overwritten, or none: whole records and a sentence. */
#include "../fence.h"
#include "opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/*
 * A trace of the bytes, in a block of its own and exactly as long; the whole records of it. -1:
 * refused with a sentence.
 */
static int whole_records(const struct bytes *b, size_t n, bool *damage)
{
	uint8_t *copy = fence_new(b->data, n);
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	int whole = 0;
	*damage = false;
	if (usk_trace_open_memory(copy, n, "x.pcap", &t, &err)) {
		assert_true(strlen(err.msg) > 10);
		assert_null(t);
		fence_free(copy, n);
		return -1;
	}
	struct usk_record r[3];
	size_t got = 1;
	while (got) {
		enum usk_status status = usk_trace_records(t, r, 3, &got, &err);
		if (status) {
			assert_int_equal(status, USK_ERANGE); /* a stamp of another age */
			assert_true(strlen(err.msg) > 20);
			break;
		}
		for (size_t i = 0; i < got; i++) {
			assert_true(r[i].data >= copy && r[i].data + r[i].captured <= copy + n);
			whole++;
		}
	}
	*damage = usk_trace_damage(t) != NULL;
	if (*damage) {
		assert_true(strlen(usk_trace_damage(t)) > 20);
	}
	if (!got) {
		assert_int_equal(usk_trace_records(t, r, 3, &got, &err), USK_OK);
		assert_int_equal(got, 0);
	}
	usk_trace_close(t);
	fence_free(copy, n);
	return whole;
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct bytes b = { .big = big };
		size_t end[8], n_ends = 0;
		bool damage;
		pcap_begin(&b, MAGIC_NS, 96, 1);
		for (uint32_t i = 0; i < COUNT(end); i++) {
			pcap_record(&b, i, i, "0123456789", i, 100);
			end[n_ends++] = b.n;
		}
		for (size_t n = 0; n <= b.n; n++) {
			int want = 0;
			bool at_end = n == 24;
			for (size_t i = 0; i < n_ends; i++) {
				want += end[i] <= n;
				at_end |= end[i] == n;
			}
			assert_int_equal(whole_records(&b, n, &damage), n < 24 ? -1 : want);
			assert_true(n < 24 || damage == !at_end);
		}
		bytes_free(&b);

		ng_section(&b);
		n_ends = 0;
		size_t edge[16], n_edges = 0;
		edge[n_edges++] = b.n;
		ng_interface(&b, 1, 96, 9);
		edge[n_edges++] = b.n;
		for (uint32_t i = 0; i < COUNT(end); i++) {
			if (i == 4) {
				ng_section(&b);
				edge[n_edges++] = b.n;
				ng_interface(&b, 1, 96, 9);
				edge[n_edges++] = b.n;
			}
			flagged(&b, 0, i, i);
			end[n_ends++] = edge[n_edges++] = b.n;
		}
		for (size_t n = 0; n <= b.n; n++) {
			int want = 0;
			bool at_end = false;
			for (size_t i = 0; i < n_ends; i++) {
				want += end[i] <= n;
			}
			for (size_t i = 0; i < n_edges; i++) {
				at_end |= edge[i] == n;
			}
			int got = whole_records(&b, n, &damage);
			assert_int_equal(got, n < 4 ? -1 : want);
			assert_true(n < 4 || damage == !at_end);
		}
		bytes_free(&b);
	}
}

/* Any four bytes replaced: whole records, or a sentence, and nothing read beyond the end. */
static void test_overwritten(void **state)
{
	static const uint32_t values[] = { 0,	       1,	   4,	       11,
					   12,	       13,	   31,	       32,
					   0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc,
					   UINT32_MAX, 0x01000001 };
	(void)state;
	for (int format = 0; format < 2; format++) {
		struct bytes b = { .big = format }, c = { .big = format };
		if (format) {
			ng_section(&b);
			ng_interface(&b, 1, 96, 9);
		} else {
			pcap_begin(&b, MAGIC_US, 96, 1);
		}
		for (uint32_t i = 0; i < 4; i++) {
			if (format) {
				flagged(&b, 0, i, 1);
			} else {
				pcap_record(&b, i, i, "01234567890123", 10 + i, 100);
			}
		}
		for (size_t at = 0; at + 4 <= b.n; at++) {
			for (size_t k = 0; k < COUNT(values); k++) {
				bool damage;
				c.n = 0;
				put(&c, b.data, b.n);
				patch32(&c, at, values[k]);
				assert_true(whole_records(&c, c.n, &damage) <= 4);
			}
		}
		bytes_free(&b);
		bytes_free(&c);
	}
}

/* A claim alone allocates nothing. */
static void test_claims(void **state)
{
	static const uint32_t claims[] = { 1000, 262144, 1u << 24, (1u << 24) + 4, UINT32_MAX - 3 };
	(void)state;
	for (size_t k = 0; k < 2 * COUNT(claims); k++) {
		bool ng = k >= COUNT(claims);
		uint32_t claim = claims[k % COUNT(claims)];
		struct bytes b = { 0 };
		if (ng) {
			ng_section(&b);
			ng_interface(&b, 1, 96, 9);
			ng_packet(&b, 0, 5, "ab", 2, 2);
			put32(&b, NG_PACKET);
			put32(&b, claim);
			put_zeros(&b, 20);
		} else {
			pcap_begin(&b, MAGIC_US, 96, 1);
			pcap_record(&b, 1, 1, "ab", 2, 2);
			put64(&b, 5);
			put32(&b, claim);
			put32(&b, claim);
			put_zeros(&b, 8);
		}
		struct cursor c = { .t = open_file(&b), .batch = 3 };
		assert_non_null(next(&c));
		assert_null(next(&c));
		assert_non_null(usk_trace_damage(c.t));
		assert_true(c.t->in.capacity <= 262144);
		usk_trace_close(c.t);
		bytes_free(&b);
	}
}

enum { WHOLE = 400 }; /* records of a capture that blocks are lost of */

/* Where each record of a capture begins, and where the last ends. */
struct layout {
	bool ng;
	size_t start[WHOLE + 1];
};

/* One damage to b as disks and copies make it: the bytes that it touched are [*from, *to) of b. */
static void lose_block(struct bytes *c, const struct bytes *b, size_t head, struct usk_rng *r,
		       size_t *from, size_t *to)
{
	size_t n = 512 + usk_rng_below(r, 3585), at = head + usk_rng_below(r, b->n - n - head);
	uint64_t kind = usk_rng_below(r, 4);
	put(c, b->data, at);
	*from = at;
	*to = at + n;
	if (kind < 2) {
		for (size_t i = 0; i < n; i++) {
			uint8_t byte = kind ? (uint8_t)usk_rng_below(r, 256) : 0;
			put(c, &byte, 1);
		}
	} else if (kind == 3) {
		put(c, b->data + at, n);
		put(c, b->data + at, b->n - at);
		*from = *to;
		return;
	}
	put(c, b->data + at + n, b->n - at - n); /* kind 2: removed */
}

/* Do its lengths lead to its end? Then nothing in it tells that records of one length were removed
 * or doubled.
 */
static bool is_unbroken(const struct bytes *c, const struct layout *l)
{
	size_t at = l->start[0];
	const bool swap = c->big == USK_SWAP_NETWORK;
	for (size_t n; at < c->n; at += n) {
		size_t left = c->n - at, head = l->ng ? 12 : 16;
		n = left < head ? 0
		    : l->ng	? usk_load32(c->data + at + 4, swap)
				: 16 + (size_t)usk_load32(c->data + at + 8, swap);
		if (n < head || n > left ||
		    (l->ng && usk_load32(c->data + at + n - 4, swap) != n)) {
			return false;
		}
	}
	return true;
}

static void make_capture(struct bytes *b, struct layout *l, struct usk_rng *r)
{
	char text[1500];
	memset(text, 'x', sizeof text);
	if (l->ng) {
		ng_section(b);
		ng_interface(b, 1, 65535, 9);
	} else {
		pcap_begin(b, MAGIC_NS, 65535, 1);
	}
	for (uint32_t i = 0; i < WHOLE; i++) {
		uint32_t n = 60 + (uint32_t)usk_rng_below(r, usk_rng_below(r, 4) ? 60 : 1440);
		l->start[i] = b->n;
		if (l->ng) {
			ng_packet(b, 0, (UINT64_C(1700000000) + i) * 1000000000 + i, text, n, n);
		} else {
			pcap_record(b, 1700000000 + i, i, text, n, n);
		}
	}
	l->start[WHOLE] = b->n;
}

/* Zeroed, overwritten, removed and doubled blocks: what is outside is read, nothing else is. */
static void test_lost_blocks(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, 20251123);
	const char *more = getenv("UNSKEW_TEST_DAMAGES");
	size_t rounds = more ? (size_t)strtoul(more, NULL, 10) : 300, outside = 0, used = 0;
	for (size_t k = 0; k < rounds; k++) {
		struct bytes b = { .big = k % 2 }, c = { .big = k % 2 };
		struct layout l = { .ng = k / 2 % 2 };
		size_t from, to;
		make_capture(&b, &l, &r);
		lose_block(&c, &b, l.start[0], &r, &from, &to);
		save(&c);
		struct cursor cur = { .t = open_file(&c), .batch = 7 };
		bool seen[WHOLE] = { false }, unbroken = is_unbroken(&c, &l);
		const struct usk_record *x;
		int64_t last = 0;
		while ((x = next(&cur))) {
			int64_t i = x->time_ns / 1000000000 - 1700000000;
			if (i < 0 || i >= WHOLE || (x->time_ns <= last && !unbroken)) {
				fail_msg("round %zu: record at byte %llu, damage at %zu to %zu: "
					 "%lld after %lld",
					 k, (unsigned long long)x->at, from, to,
					 (long long)x->time_ns, (long long)last);
			}
			last = x->time_ns;
			seen[i] = true;
		}
		bool whole = true;
		for (size_t i = 0; i < WHOLE; i++) {
			bool apart = l.start[i + 1] <= from || l.start[i] >= to;
			outside += apart;
			used += apart && seen[i];
			whole &= seen[i];
		}
		assert_true(whole || unbroken || usk_trace_damage(cur.t));
		usk_trace_close(cur.t);
		bytes_free(&b);
		bytes_free(&c);
	}
	assert_true(used * 10 >= outside * 9);
}

enum { ROW = 40 };

static void rows_begin(struct bytes *b, bool ng)
{
	if (ng) {
		ng_section(b);
		ng_interface(b, 1, 65535, 9);
	} else {
		pcap_begin(b, MAGIC_NS, 65535, 1);
	}
}

static void put_row(struct bytes *b, bool ng, int i, int64_t later_ns)
{
	char text[60];
	int64_t ns = INT64_C(1700000000) * 1000000000 + i * 10000 + later_ns;
	memset(text, 'a' + i % 26, sizeof text);
	if (ng) {
		ng_packet(b, 0, (uint64_t)ns, text, sizeof text, sizeof text);
	} else {
		pcap_record_ns(b, ns, text, sizeof text, sizeof text);
	}
}

static int rows_in_order(const struct bytes *b, bool *damage)
{
	struct cursor cur = { .t = open_file(b), .batch = 7 };
	int n = 0;
	for (const struct usk_record *x; (x = next(&cur)); n++) {
		assert_int_equal(x->time_ns, INT64_C(1700000000) * 1000000000 + n * 10000);
	}
	*damage = usk_trace_damage(cur.t) != NULL;
	usk_trace_close(cur.t);
	return n;
}

/* A part of the file stands in it twice, and its border runs through a stamp: that record is of the
 * bytes of two. */
static void test_border_in_stamp(void **state)
{
	(void)state;
	for (int ng = 0; ng < 2; ng++) {
		struct bytes b = { 0 };
		bool damage;
		rows_begin(&b, ng);
		for (int i = 0; i < ROW; i++) {
			put_row(&b, ng, i, 0);
			if (i == 30) {
				put_row(&b, ng, 12, -777);
				for (int k = 13; k <= 30; k++) {
					put_row(&b, ng, k, 0);
				}
			}
		}
		assert_int_equal(rows_in_order(&b, &damage), ROW);
		assert_true(damage);
		bytes_free(&b);
	}
}

/* A header of the bytes of two records claims many that follow. What a writer does with all of its
 * records, captured beyond the snap length, is none. */
static void test_header_of_two(void **state)
{
	(void)state;
	for (int habit = 0; habit < 2; habit++) {
		struct bytes b = { 0 };
		bool damage;
		pcap_begin(&b, MAGIC_NS, habit ? 50 : 65535, 1);
		for (int i = 0; i < ROW; i++) {
			put_row(&b, false, i, 0);
		}
		if (!habit) { /* the last record becomes the first of two: 5 rows stand behind it */
			uint8_t claim[] = { 0x99, 1, 0, 0 };
			memcpy(b.data + 24 + (size_t)(ROW - 6) * 76 + 8, claim, sizeof claim);
		}
		int n = habit ? rows_in_order(&b, &damage) : whole_records(&b, b.n, &damage);
		assert_true(habit ? n == ROW && !damage : n >= ROW - 2 && damage);
		bytes_free(&b);
	}
}

/* Rows that stand in the file twice, on both sides of where the window of input has to move on. */
static void test_twice_at_window(void **state)
{
	enum {
		BEFORE = 3449,
		AGAIN = 40,
		BEHIND = 300
	}; /* so many rows, and a header, are 256 KiB */
	(void)state;
	for (int ng = 0; ng < 2; ng++) {
		for (int at = BEFORE - AGAIN - 3; at < BEFORE + AGAIN + 3; at += 3) {
			struct bytes b = { .n = 0 };
			bool damage;
			rows_begin(&b, ng);
			for (int i = 0; i < at + BEHIND; i++) {
				for (int k = i == at ? at - AGAIN : i; k <= i; k++) {
					put_row(&b, ng, k, 0);
				}
			}
			save(&b);
			assert_int_equal(rows_in_order(&b, &damage), at + BEHIND);
			assert_true(damage);
			bytes_free(&b);
		}
	}
}

/* The bytes of a packet as a header, whose length happens to lead to a sound one: 20 rows stand between.
 * A fraction beyond a second and a length beyond all are no writer's habit, together. */
static void test_odd_twice(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	bool damage;
	pcap_begin(&b, MAGIC_NS, 65535, 1);
	for (int i = 0; i < ROW; i++) {
		put_row(&b, false, i, 0);
	}
	const uint32_t header[] = { 1700000000, 1678903232, 20 * 76 + 60, 3597308416U };
	memcpy(b.data + 24 + (size_t)8 * 76, header, sizeof header);
	assert_true(whole_records(&b, b.n, &damage) >= ROW - 2 && damage);
	bytes_free(&b);
}

static const struct {
	const char *name, *text;
	size_t n;
} no_traces[] = {
	{ "empty", "", 0 },
	{ "one byte", "\xd4", 1 },
	{ "a letter", "Dear Sir or Madam,\nI enclose a capture.\n", 40 },
	{ "zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 28 },
	{ "gzip", "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10 },
	{ "header cut", "\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0", 12 },
};

static void test_no_traces(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(no_traces); i++) {
		struct bytes b = { 0 };
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		put(&b, no_traces[i].text, no_traces[i].n);
		save(&b);
		assert_int_equal(usk_trace_open(trace_path, NULL, &t, &err), USK_EINPUT);
		assert_null(t);
		assert_non_null(strstr(err.msg, trace_path));
		bytes_free(&b);
	}
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	char folder[] = "/tmp/unskew-test-XXXXXX";
	assert_non_null(mkdtemp(folder));
	assert_int_equal(usk_trace_open(folder, NULL, &t, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "folder"));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(usk_trace_open("/tmp/unskew/there is/none", NULL, &t, &err), USK_EIO);
	assert_true(strlen(err.msg) > 20);
	assert_int_equal(usk_trace_open("/tmp/unskew/there is/none", NULL, &t, NULL), USK_EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),	cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_claims),		cmocka_unit_test(test_lost_blocks),
		cmocka_unit_test(test_border_in_stamp), cmocka_unit_test(test_header_of_two),
		cmocka_unit_test(test_twice_at_window), cmocka_unit_test(test_odd_twice),
		cmocka_unit_test(test_no_traces),
	};
	return cmocka_run_group_tests(tests, make_trace_path, remove_trace_path);
}
