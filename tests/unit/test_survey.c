/* SPDX-License-Identifier: MIT */
/*
 * What one reading of a capture tells, against the packets that it was made of: samples and the
 * addresses they went between, addresses that are the capturing host's own, first and last stamps.
 */
#include "making.h"
#include "match/match.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START INT64_C(1700000000000000000)

enum { HOSTS = 18 };

static struct usk_survey survey(const struct bytes *file)
{
	struct usk_trace *t = NULL;
	struct usk_survey s = { 0 };
	struct usk_err err = { 0 };
	if (usk_trace_open_memory(file->data, file->n, NULL, &t, &err) ||
	    usk_survey_capture(t, USK_DEPTH_ALL, NULL, NULL, NULL, &s, &err)) {
		fail_msg("%s", err.msg);
	}
	usk_trace_close(t);
	return s;
}

static void put_datagram(struct bytes *file, uint32_t src, uint32_t dst, uint64_t content,
			 int64_t ns)
{
	struct packet p = { .link = LINK_RAW,
			    .proto = UDP,
			    .src = src,
			    .dst = dst,
			    .ip_id = 1,
			    .payload = 40,
			    .content = content };
	struct bytes b = { 0 };
	uint32_t n = packet_bytes(&p, &b);
	pcap_record_ns(file, ns, b.data, n, n);
	bytes_free(&b);
}

static uint64_t v4(uint32_t host)
{
	return UINT64_C(0xffff00000000) | host;
}

/* Each of many pairs of hosts has one number in each direction, in whatever order they talk. */
static void test_ways(void **state)
{
	(void)state;
	enum { PACKETS = 3000 };
	static struct {
		uint32_t src, dst;
	} sent[PACKETS];
	struct bytes file = { 0 };
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	pcap_begin(&file, MAGIC_NS, 65535, LINK_RAW);
	for (uint64_t i = 0; i < PACKETS; i++) {
		sent[i].src = 0x0a000001 + (uint32_t)usk_rng_below(&r, HOSTS);
		do {
			sent[i].dst = 0x0a000001 + (uint32_t)usk_rng_below(&r, HOSTS);
		} while (sent[i].dst == sent[i].src);
		put_datagram(&file, sent[i].src, sent[i].dst, i, START + (int64_t)i);
	}
	struct usk_survey s = survey(&file);
	assert_int_equal(s.records, PACKETS);
	assert_int_equal(s.packets, PACKETS);
	assert_int_equal(s.n_samples, PACKETS);
	assert_int_equal(s.n_ways, HOSTS * (HOSTS - 1));
	for (size_t i = 0; i < s.n_samples; i++) {
		const struct usk_sample *x = &s.sample[i];
		assert_in_range(x->way, 0, s.n_ways - 1);
		assert_int_equal(x->record, i);
		assert_true(s.way[x->way].src.lo == v4(sent[i].src));
		assert_true(s.way[x->way].dst.lo == v4(sent[i].dst));
	}
	usk_survey_free(&s);
	bytes_free(&file);
}

static int by_pick(const void *a, const void *b)
{
	const struct usk_sample *x = a, *y = b;
	return (x->pick > y->pick) - (x->pick < y->pick);
}

/* Of more packets than are kept two captures keep the same, in whatever order they have them. */
static void test_same_samples(void **state)
{
	(void)state;
	enum { PACKETS = 150000 };
	struct usk_survey s[2];
	for (int k = 0; k < 2; k++) {
		struct bytes file = { 0 };
		pcap_begin(&file, MAGIC_NS, 65535, LINK_RAW);
		for (uint32_t i = 0; i < PACKETS; i++) {
			uint32_t which = k ? PACKETS - 1 - i : i;
			put_datagram(&file, 1 + which % 9, 100 + which % 4, which, START + i);
		}
		s[k] = survey(&file);
		bytes_free(&file);
		assert_int_equal(s[k].records, PACKETS);
		assert_int_equal(s[k].packets, PACKETS);
		for (size_t i = 0; i < s[k].n_samples; i++) {
			const struct usk_sample *x = &s[k].sample[i];
			uint64_t which = k ? PACKETS - 1 - x->record : x->record;
			assert_true(s[k].way[x->way].src.lo == v4(1 + (uint32_t)(which % 9)));
			assert_true(!i || x[-1].record < x->record);
		}
		qsort(s[k].sample, s[k].n_samples, sizeof *s[k].sample, by_pick);
	}
	assert_in_range(s[0].n_samples, USK_SAMPLES / 3, USK_SAMPLES);
	assert_int_equal(s[0].n_samples, s[1].n_samples);
	for (size_t i = 0; i < s[0].n_samples; i++) {
		assert_true(s[0].sample[i].pick == s[1].sample[i].pick);
	}
	usk_survey_free(&s[0]);
	usk_survey_free(&s[1]);
}

/* In any order of records. */
static void test_extent(void **state)
{
	static const int64_t ns[][4] = { { 5, 6, 7, 9 }, { 6, 9, 5, 7 }, { 9, 7, 6, 5 } };
	(void)state;
	for (size_t i = 0; i < COUNT(ns); i++) {
		struct bytes file = { 0 };
		pcap_begin(&file, MAGIC_NS, 65535, LINK_RAW);
		for (size_t k = 0; k < COUNT(ns[i]); k++) {
			put_datagram(&file, 0x0a000001, 0x0a000002, k, START + ns[i][k]);
		}
		struct usk_survey s = survey(&file);
		assert_int_equal(s.first_ns, START + 5);
		assert_int_equal(s.last_ns, START + 9);
		usk_survey_free(&s);
		bytes_free(&file);
	}
}

static void test_unicast(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{ "0.0.0.0", false },
		{ "0.0.0.1", true },
		{ "10.0.0.1", true },
		{ "169.253.255.255", true },
		{ "169.254.0.0", false },
		{ "169.254.255.255", false },
		{ "169.255.0.0", true },
		{ "223.255.255.255", true },
		{ "224.0.0.0", false },
		{ "239.255.255.255", false },
		{ "255.255.255.255", false },
		{ "::", false },
		{ "::1", true },
		{ "1::", true },
		{ "fd00::1", true },
		{ "fe7f::1", true },
		{ "fe80::1", false },
		{ "febf::1", false },
		{ "fec0::1", true },
		{ "feff::1", true },
		{ "ff00::", false },
		{ "ff02::1", false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_addr a;
		assert_true(usk_addr_parse(cases[i].text, &a));
		if (usk_addr_is_unicast(a) != cases[i].is) {
			fail_msg("%s", cases[i].text);
		}
	}
}

/* The addresses in a capture of a host that talks to some: its own is the one in all packets, and
 * of two that are in all packets nobody knows, unless the other capture has one of them, too. */
static void test_own(void **state)
{
	static const struct {
		uint32_t peers[2]; /* how many others each of hosts 1 and 2 talks to */
		bool guess[2], known[2];
	} cases[] = {
		{ { 0, 0 }, { false, false }, { false, false } },
		{ { 1, 1 }, { false, false }, { true, true } },
		{ { 5, 2 }, { false, false }, { true, true } },
		{ { 5, 0 }, { false, true }, { false, true } },
		{ { 0, 5 }, { true, false }, { true, false } },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_survey s[2];
		for (uint32_t k = 0; k < 2; k++) {
			struct bytes file = { 0 };
			pcap_begin(&file, MAGIC_NS, 65535, LINK_RAW);
			for (uint32_t m = 0; m < 6; m++) {
				put_datagram(&file, 1 + m % 2, 2 - m % 2, m, START + m);
				if (m && m <= cases[i].peers[k]) {
					put_datagram(&file, 1 + k, 10 + m, 99 + m, START + m);
					put_datagram(&file, 10 + m, 1 + k, 199 + m, START + m);
				}
			}
			/* What everybody gets says nothing. */
			put_datagram(&file, 77, 0xe0000001, 9, START);
			s[k] = survey(&file);
			bytes_free(&file);
		}
		for (uint32_t k = 0; k < 2; k++) {
			struct usk_addr own[2];
			bool guess;
			size_t n = usk_survey_own(&s[k], &s[!k], own, &guess);
			if (n != cases[i].known[k] || guess != cases[i].guess[k] ||
			    (n && own[0].lo != v4(1 + k))) {
				fail_msg("case %zu, host %u: %zu known%s", i, k + 1, n,
					 guess ? ", a guess" : "");
			}
		}
		usk_survey_free(&s[0]);
		usk_survey_free(&s[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),   cmocka_unit_test(test_same_samples),
		cmocka_unit_test(test_extent), cmocka_unit_test(test_unicast),
		cmocka_unit_test(test_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
