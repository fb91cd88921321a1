/* SPDX-License-Identifier: MIT */
/*
 * Readers of captures: every record against libpcap, and against what was written where libpcap
 * cannot read.
 */
#include "opening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#endif

#define SEED 20240117

/* Records as libpcap reads them, in ns. Returns how many. */
static uint64_t check_libpcap(const char *what, const struct bytes *b, const char *kind)
{
	uint64_t n = check_doors(what, b);
#ifdef USK_HAVE_LIBPCAP
	char text[PCAP_ERRBUF_SIZE];
	save(b);
	pcap_t *p = pcap_open_offline_with_tstamp_precision(trace_path, PCAP_TSTAMP_PRECISION_NANO,
							    text);
	if (!p) {
		fail_msg("%s: %s", what, text);
	}
	struct cursor c = { .t = open_file(b), .batch = 64 };
	assert_string_equal(usk_trace_kind(c.t), kind);
	struct pcap_pkthdr *h;
	const u_char *data;
	int got;
	for (uint64_t i = 0; (got = pcap_next_ex(p, &h, &data)) == 1; i++) {
		struct usk_record *r = next(&c);
		if (!r) {
			fail_msg("%s: only %llu records", what, (unsigned long long)i);
			break;
		}
		struct usk_record want = *r;
		want.time_ns = (int64_t)h->ts.tv_sec * 1000000000 + h->ts.tv_usec;
		want.captured = h->caplen;
		want.length = h->len;
		want.data = data;
		assert_same(what, i, r, &want);
	}
	if (got != PCAP_ERROR_BREAK) {
		fail_msg("%s: libpcap: %s", what, pcap_geterr(p));
	}
	assert_null(next(&c));
	assert_null(usk_trace_damage(c.t));
	size_t n_ifaces;
	const struct usk_iface *iface = usk_trace_ifaces(c.t, &n_ifaces);
	assert_true(n_ifaces >= 1);
	/* Raw IP has one number in files and another in programs. */
	int link = iface[0].link_type == 101 ? DLT_RAW : iface[0].link_type;
	assert_int_equal(link, pcap_datalink(p));
	pcap_close(p);
	usk_trace_close(c.t);
#else
	(void)kind;
#endif
	return n;
}

/* Lengths that packets have: often the snap length, sometimes nothing. */
static uint32_t some_length(struct usk_rng *r, uint32_t snap, uint32_t *captured)
{
	uint32_t limit = snap < 2000 || !usk_rng_below(r, 40) ? snap : 1600;
	uint32_t length = (uint32_t)usk_rng_below(r, 4) ? (uint32_t)usk_rng_below(r, limit + 1)
							: (uint32_t)usk_rng_below(r, 66000);
	*captured = length < snap ? length : snap;
	return length;
}

static const uint8_t *noise(struct usk_rng *r)
{
	static uint8_t data[262144];
	if (!data[0]) {
		for (size_t i = 0; i < sizeof data; i++) {
			data[i] = (uint8_t)(usk_rng_next(r) | 1);
		}
	}
	return data + usk_rng_below(r, 2000);
}

static void test_pcap(void **state)
{
	static const uint32_t magics[] = { MAGIC_US, MAGIC_NS }, snaps[] = { 68, 96, 260000 };
	static const uint32_t links[] = { 1, 0, 101, 108, 113, 276, 228, 229 };
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	for (size_t k = 0; k < COUNT(magics) * 2 * COUNT(snaps) * COUNT(links); k++) {
		size_t m = k % 2, big = k / 2 % 2, s = k / 4 % 3, l = k / 12;
		struct bytes b = { .big = big };
		char what[80];
		snprintf(what, sizeof what, "magic %x, %s, snap %u, link %u", magics[m],
			 big ? "big" : "little", snaps[s], links[l]);
		pcap_begin(&b, magics[m], snaps[s], links[l]);
		/* Every window of input is left behind at least twice in the longer ones. */
		size_t records = l ? 30 : snaps[s] > 2000 ? 300 : 5000;
		/* One that is days from both its neighbours would be damage. */
		uint32_t day = (uint32_t)usk_rng_below(&r, (1u << 31) - 86400);
		for (size_t i = 0; i < records; i++) {
			uint32_t captured, length = some_length(&r, snaps[s], &captured);
			pcap_record(&b, day + (uint32_t)usk_rng_below(&r, 86400),
				    (uint32_t)usk_rng_below(&r, m ? 1000000000 : 1000000),
				    noise(&r), captured, length);
		}
		assert_int_equal(check_libpcap(what, &b, "pcap"), records);
		bytes_free(&b);
	}
}

static void put_bad_block(struct bytes *b, struct usk_rng *r)
{
	size_t at = ng_begin(b, (uint32_t)(usk_rng_below(r, 2) ? 4 + usk_rng_below(r, 2) : 0xbad));
	put(b, noise(r), 4 * usk_rng_below(r, 10));
	ng_end(b, at);
}

static void put_options(struct bytes *b, struct usk_rng *r)
{
	for (uint64_t n = usk_rng_below(r, 3); n; n--) {
		ng_option(b, 1 + (unsigned)usk_rng_below(r, 5), noise(r), usk_rng_below(r, 40));
	}
	if (usk_rng_below(r, 2)) {
		ng_option(b, 0, NULL, 0);
	}
}

/* Resolutions, and the largest seconds that still fit 64 bits of their ticks. */
static const struct {
	uint8_t tsresol;
	uint64_t per_second;
} resolutions[] = { { 6, 1000000 },
		    { 3, 1000 },
		    { 9, 1000000000 },
		    { 12, 1000000000000 },
		    { 0, 1 },
		    { 0x80 | 20, 1 << 20 },
		    { 0x80 | 30, 1 << 30 },
		    { 0x80 | 10, 1 << 10 } };

static void some_pcapng(struct bytes *b, struct usk_rng *r, uint32_t snap, uint16_t link,
			size_t records)
{
	/* One that is days from both its neighbours would be damage. */
	uint64_t per_second[16], day = usk_rng_below(r, 1u << 20);
	size_t ifaces = 0;
	ng_section(b);
	for (size_t i = 0; i < records;) {
		uint64_t what = usk_rng_below(r, 100);
		if (!ifaces || (what < 2 && ifaces < COUNT(per_second))) {
			size_t k = usk_rng_below(r, COUNT(resolutions));
			size_t at = ng_begin(b, NG_INTERFACE);
			put16(b, link);
			put16(b, 0);
			put32(b, snap);
			ng_option(b, 2, "eth0", usk_rng_below(r, 5));
			if (k || usk_rng_below(r, 2)) {
				ng_option(b, 9, &resolutions[k].tsresol, 1);
			}
			if (usk_rng_below(r, 2)) {
				size_t o = b->n;
				ng_option(b, 14, "12345678", 8);
				b->n = o + 4;
				put64(b, usk_rng_below(r, 1u << 30));
			}
			if (usk_rng_below(r, 2)) {
				ng_option(b, 0, NULL, 0);
			}
			ng_end(b, at);
			per_second[ifaces++] = resolutions[k].per_second;
			continue;
		}
		if (what < 3) {
			ng_section(b);
			ifaces = 0;
			continue;
		}
		if (what < 8) {
			put_bad_block(b, r);
			continue;
		}
		uint32_t captured, length = some_length(r, snap, &captured);
		uint32_t iface = (uint32_t)usk_rng_below(r, ifaces);
		uint64_t ticks = (day + usk_rng_below(r, 86399)) * per_second[iface] +
				 usk_rng_below(r, per_second[iface]);
		bool old = what < 20;
		size_t at = ng_begin(b, old ? NG_OLD_PACKET : NG_PACKET);
		if (old) {
			put16(b, iface);
			put16(b, 7); /* drops */
		} else {
			put32(b, iface);
		}
		put32(b, (uint32_t)(ticks >> 32));
		put32(b, (uint32_t)ticks);
		put32(b, captured);
		put32(b, length);
		put(b, noise(r), captured);
		put_zeros(b, (4 - captured % 4) % 4);
		if (what > 60) {
			put_options(b, r);
		}
		ng_end(b, at);
		i++;
	}
}

static void test_pcapng(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	for (unsigned k = 0; k < 40; k++) {
		struct bytes b = { .big = k % 2 };
		uint32_t snap = k / 2 % 3 == 0 ? 68 : k / 2 % 3 == 1 ? 96 : 262144;
		size_t records = k >= 6 ? 60 : snap > 2000 ? 300 : 4000;
		char what[40];
		snprintf(what, sizeof what, "pcapng %u", k);
		some_pcapng(&b, &r, snap, k % 3 ? 1 : 113, records);
		assert_int_equal(check_libpcap(what, &b, "pcapng"), records);
		bytes_free(&b);
	}
}

/* ---- what libpcap does not hand out --------------------------------------------- */

static void test_pcapng_details(void **state)
{
	static const uint8_t v4[8] = { 10, 0, 0, 7, 255, 255, 255, 0 };
	static const uint8_t v6[17] = { 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 64 };
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct bytes b = { .big = big };
		ng_section(&b);
		size_t at = ng_begin(&b, NG_INTERFACE);
		put16(&b, 1);
		put16(&b, 0);
		put32(&b, 68);
		ng_option(&b, 2, "eth7", 4);
		ng_option(&b, 4, v4, sizeof v4);
		ng_option(&b, 5, v6, sizeof v6);
		ng_option(&b, 4, v4, sizeof v4);
		ng_end(&b, at);
		at = ng_begin(&b, NG_INTERFACE);
		put16(&b, 101); /* another link type: libpcap would refuse */
		put16(&b, 0);
		put32(&b, 0);
		ng_option(&b, 9, "\x9d", 1); /* 2^-29 s */
		size_t o = b.n;
		ng_option(&b, 14, "12345678", 8);
		b.n = o + 4;
		put64(&b, (uint64_t)-3);
		ng_end(&b, at);
		flagged(&b, 0, 1700000000123456, 1);	    /* received */
		flagged(&b, 1, (UINT64_C(7) << 29) + 1, 2); /* sent */
		ng_interface(&b, 0, 300, 9);
		flagged(&b, 2, UINT64_C(4611686018427387904), 0);
		ng_section(&b);
		ng_interface(&b, 113, 1000, 0x80); /* whole seconds, in the binary way */
		flagged(&b, 0, 17, 2);

		assert_int_equal(check_doors("details", &b), 4);
		struct usk_trace *t = open_memory(&b);
		struct usk_record r[5];
		size_t n, n_ifaces;
		usk_trace_ifaces(t, &n_ifaces);
		assert_int_equal(n_ifaces, 2);
		assert_int_equal(usk_trace_records(t, r, 5, &n, NULL), USK_OK);
		assert_int_equal(n, 4);
		static const struct usk_record want[] = {
			{ .time_ns = 1700000000123456000, .iface = 0, .side = USK_SIDE_RECEIVED },
			{ .time_ns = 4000000001, .iface = 1, .side = USK_SIDE_SENT },
			{ .time_ns = USK_TIME_MAX, .iface = 2, .side = USK_SIDE_UNKNOWN },
			{ .time_ns = 17000000000, .iface = 3, .side = USK_SIDE_SENT },
		};
		for (size_t i = 0; i < n; i++) {
			assert_true(r[i].time_ns == want[i].time_ns);
			assert_int_equal(r[i].iface, want[i].iface);
			assert_int_equal(r[i].side, want[i].side);
			assert_int_equal(r[i].captured, 5);
			assert_int_equal(r[i].length, 500);
			assert_memory_equal(r[i].data, "hello", 5);
		}
		const struct usk_iface *f = usk_trace_ifaces(t, &n_ifaces);
		assert_int_equal(n_ifaces, 4);
		assert_string_equal(f[0].name, "eth7");
		assert_null(f[1].name);
		assert_int_equal(f[0].n_addrs, 3);
		assert_true(f[0].addr[0].hi == 0 && f[0].addr[0].lo == 0xffff0a000007);
		assert_true(f[0].addr[1].hi == 0xfd00000000000000 && f[0].addr[1].lo == 9);
		static const int64_t resolution[] = { 1000, 2, 0, 1000000000 };
		static const uint16_t link[] = { 1, 101, 0, 113 };
		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(f[i].resolution_ns, resolution[i]);
			assert_int_equal(f[i].link_type, link[i]);
		}
		assert_int_equal(f[1].snap_length, 262144);
		usk_trace_close(t);
		bytes_free(&b);
	}
}

static void test_unstamped(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	ng_section(&b);
	ng_interface(&b, 1, 96, 9);
	for (int i = 0; i < 3; i++) {
		size_t at = ng_begin(&b, NG_SIMPLE_PACKET);
		put32(&b, 4);
		put32(&b, 99);
		ng_end(&b, at);
	}
	flagged(&b, 0, 5, 0);
	assert_int_equal(check_doors("simple", &b), 1);
	struct usk_trace *t = open_memory(&b);
	struct usk_record r[4];
	size_t n = 1;
	while (n) {
		assert_int_equal(usk_trace_records(t, r, 4, &n, NULL), USK_OK);
	}
	assert_non_null(strstr(usk_trace_damage(t), "3 simple packet blocks"));
	usk_trace_close(t);
	bytes_free(&b);
}

/* 2106 and beyond: seconds are unsigned. A pcapng stamp may be too much for the geometry. */
static void test_far_stamps(void **state)
{
	struct bytes b = { 0 };
	struct usk_record r[2];
	struct usk_err err = { 0 };
	size_t n;
	(void)state;
	pcap_begin(&b, MAGIC_NS, 96, 1);
	pcap_record(&b, UINT32_MAX, 999999999, "x", 1, 1);
	struct usk_trace *t = open_memory(&b);
	assert_int_equal(usk_trace_records(t, r, 2, &n, NULL), USK_OK);
	assert_true(n == 1 && r[0].time_ns == 4294967295999999999);
	usk_trace_close(t);
	bytes_free(&b);

	ng_section(&b);
	ng_interface(&b, 1, 96, 9);
	ng_packet(&b, 0, 5, "ab", 2, 2);
	ng_packet(&b, 0, (UINT64_C(1) << 62) + 1, "ab", 2, 2);
	t = open_memory(&b);
	assert_int_equal(usk_trace_records(t, r, 2, &n, &err), USK_ERANGE);
	assert_non_null(strstr(err.msg, "2^62"));
	usk_trace_close(t);
	bytes_free(&b);
}

static void test_other_magics(void **state)
{
	(void)state;
	for (int k = 0; k < 6; k++) {
		struct bytes b = { .big = k % 2 };
		pcap_begin(&b, k < 2 ? 0xa1b2cd34 : k < 4 ? MAGIC_US : MAGIC_NS, 65535, 1);
		if (k >= 2) {
			patch32(&b, 4, 2 << 16 | 2); /* version 2.2 */
		}
		for (uint32_t i = 0; i < 5000; i++) {
			put32(&b, 1700000000 + i);
			put32(&b, 999999 - i);
			/* Before 2.3 the two lengths stood the other way round. */
			put32(&b, k < 2 ? 70 + i % 50 : 1500);
			put32(&b, k < 2 ? 1500 : 70 + i % 50);
			if (k < 2) {
				put32(&b, 3); /* interface, protocol, type */
				put32(&b, 0);
			}
			put_zeros(&b, 70 + i % 50);
		}
		assert_int_equal(check_libpcap("other", &b, "pcap"), 5000);
		struct usk_trace *t = open_memory(&b);
		size_t n;
		assert_int_equal(usk_trace_ifaces(t, &n)->resolution_ns, k < 4 ? 1000 : 0);
		usk_trace_close(t);
		/* The last one cut short. */
		b.n -= 7;
		assert_int_equal(check_doors("other, cut", &b), 4999);
		bytes_free(&b);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *path, *name;
	} cases[] = { { "a/client.pcap", "client" },
		      { "client.pcapng", "client" },
		      { "b.x.cap", "b.x" },
		      { ".pcap", ".pcap" },
		      { "server.2024", "server.2024" },
		      { "x.pcap.pcap", "x.pcap" } };
	struct bytes b = { 0 };
	(void)state;
	pcap_begin(&b, MAGIC_US, 96, 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char dir[] = "/tmp/unskew-test-names-XXXXXX", *full;
		assert_non_null(mkdtemp(dir));
		const char *slash = strrchr(cases[i].path, '/');
		full = usk_format("%s/%s", dir, slash ? slash + 1 : cases[i].path);
		FILE *f = fopen(full, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(b.data, 1, b.n, f), b.n);
		fclose(f);
		struct usk_trace *t = NULL;
		assert_int_equal(usk_trace_open(full, NULL, &t, NULL), USK_OK);
		assert_string_equal(usk_trace_name(t), cases[i].name);
		assert_string_equal(usk_trace_path(t), full);
		assert_int_equal(usk_trace_size(t), 24);
		struct usk_msg m;
		size_t n;
		struct usk_err err = { 0 };
		assert_int_equal(usk_trace_messages(t, &m, 1, &n, &err), USK_EUSAGE);
		assert_true(strlen(err.msg) > 20);
		usk_trace_close(t);
		assert_int_equal(usk_trace_open(full, "other", &t, NULL), USK_OK);
		assert_string_equal(usk_trace_name(t), "other");
		usk_trace_close(t);
		unlink(full);
		rmdir(dir);
		free(full);
	}
	bytes_free(&b);
	usk_trace_close(NULL);
}

/* What a capture says of its snap length, if it is one: a merged capture says it again. */
static void test_snap_length(void **state)
{
	static const struct {
		uint32_t says, is;
	} cases[] = { { 0, 262144 },	   { 1, 1 },
		      { 65535, 65535 },	   { (1 << 24) - 1, (1 << 24) - 1 },
		      { 1 << 24, 262144 }, { UINT32_MAX, 262144 } };
	(void)state;
	for (size_t i = 0; i < COUNT(cases) * 4; i++) {
		struct bytes b = { .big = i & 2 };
		size_t n;
		if (i & 1) {
			pcap_begin(&b, MAGIC_NS, cases[i / 4].says, LINK_ETHERNET);
			pcap_record(&b, 1, 1, "x", 1, 60);
		} else {
			ng_section(&b);
			ng_interface(&b, LINK_ETHERNET, cases[i / 4].says, 9);
			ng_packet(&b, 0, 1, "x", 1, 60);
		}
		struct cursor c = { .t = open_file(&b), .batch = 1 };
		assert_non_null(next(&c));
		assert_int_equal(usk_trace_ifaces(c.t, &n)->snap_length, cases[i / 4].is);
		usk_trace_close(c.t);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap),	       cmocka_unit_test(test_pcapng),
		cmocka_unit_test(test_pcapng_details), cmocka_unit_test(test_unstamped),
		cmocka_unit_test(test_far_stamps),     cmocka_unit_test(test_other_magics),
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_snap_length),
	};
	return cmocka_run_group_tests(tests, make_trace_path, remove_trace_path);
}
