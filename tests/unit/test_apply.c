/* SPDX-License-Identifier: MIT */
/* One trace re-timed in its own format: stamps by the map, everything else as it was. */
#include "../part.h"
#include "captures.h"

#include <sys/stat.h>
#include <unistd.h>

static const int64_t start_s = 1700000000;
static const int64_t start_ns = INT64_C(1700000000000000000);

static struct usk_clocks *two_clocks(int64_t offset_ns)
{
	static const char *const names[] = { "client", "server" };
	const int64_t offset[] = { 0, offset_ns }, drift[] = { 0, 21000 };
	return clocks_of(names, offset, drift, 2);
}

static int64_t corrected(const struct usk_clocks *c, uint32_t clock, int64_t local_ns)
{
	struct usk_map *m = usk_map_new(&c->clock[clock], 0);
	int64_t t = 0;
	assert_int_equal(usk_map_many(m, &local_ns, 1, &t, NULL), USK_OK);
	usk_map_free(m);
	return t;
}

/* Both files by unskew's reader: same packets, corrected stamps. */
static void check_records(const char *in, const char *out, const struct usk_clocks *c)
{
	size_t n, m;
	char *damage;
	struct seen *was = see(in, &n, NULL), *is = see(out, &m, &damage);
	assert_true(!damage || strstr(damage, "simple packet blocks")); /* they carry no stamp */
	free(damage);
	assert_int_equal(n, m);
	for (size_t i = 0; i < n; i++) {
		assert_true(is[i].time_ns == corrected(c, 1, was[i].time_ns));
		assert_int_equal(is[i].captured, was[i].captured);
		assert_int_equal(is[i].length, was[i].length);
		assert_int_equal(is[i].side, was[i].side);
		assert_memory_equal(is[i].data, was[i].data, was[i].captured);
	}
	seen_free(was, n);
	seen_free(is, m);
}

static struct bytes some_pcap(uint32_t magic, bool swap, size_t n)
{
	struct bytes b = { .swap = swap };
	struct usk_rng r;
	usk_rng_seed(&r, n);
	uint8_t data[300];
	uint32_t unit = magic == 0xa1b2c3d4 ? 1000000 : 1000000000;
	pcap_begin(&b, magic, 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof data; k++) {
			data[k] = (uint8_t)usk_rng_next(&r);
		}
		uint32_t captured = (uint32_t)usk_rng_below(&r, sizeof data + 1);
		pcap_record(&b, (uint32_t)start_s + (uint32_t)usk_rng_below(&r, 100),
			    (uint32_t)usk_rng_below(&r, unit), data, captured, captured + 7);
	}
	return b;
}

static void test_pcap(void **state)
{
	(void)state;
	struct usk_clocks *c = two_clocks(-957333333);
	char *in = file("a.pcap"), *out = file("b.pcap");
	const struct usk_write_options opt = { .force = true };
	for (int way = 0; way < 4; way++) {
		uint32_t magic = way & 1 ? 0xa1b23c4d : 0xa1b2c3d4;
		struct bytes b = some_pcap(magic, way & 2, way == 3 ? 0 : 5000);
		struct usk_err err = { 0 };
		struct usk_notes notes = { 0 };
		save(in, &b);
		if (usk_apply(in, 1, c, out, &opt, &notes, &err)) {
			fail_msg("%s", err.msg);
		}
		assert_int_equal(notes.n, 0);
		check_records(in, out, c);
		struct bytes got = load(out);
		uint32_t first;
		memcpy(&first, got.p, 4);
		assert_int_equal(way & 2 ? __builtin_bswap32(first) : first, 0xa1b23c4d);
		assert_memory_equal(got.p + 4, b.p + 4, 20);
		assert_int_equal(got.n, b.n);
		free(got.p);

		/* Cut at any byte: what is whole comes out, and a note says what was lost. */
		for (size_t cut = way == 3 ? 24 : b.n - 400; cut < b.n; cut += 13 * case_step()) {
			struct bytes part = { .p = b.p, .n = cut };
			size_t n, m;
			save(in, &part);
			assert_int_equal(usk_apply(in, 1, c, out, &opt, &notes, &err), USK_OK);
			struct seen *x = see(in, &n, NULL), *y = see(out, &m, NULL);
			assert_int_equal(n, m);
			seen_free(x, n);
			seen_free(y, m);
		}
		assert_true(notes.n > 0 || way == 3);
		assert_true(way == 3 || strstr(notes.note[0], "skipped"));
		usk_notes_free(&notes);
		free(b.p);
	}
	unlink(in);
	unlink(out);
	free(in);
	free(out);
	usk_clocks_free(c);
}

/* Everything a pcapng may hold. */
static struct bytes rich_pcapng(void)
{
	struct bytes b = { 0 };
	uint8_t frame[FRAME];
	udp_frame(frame, 1, 2, 64, 9);
	for (int part = 0; part < 2; part++) {
		b.swap = part == 1;
		ng_section(&b);
		size_t at = ng_begin(&b, 4); /* names, before any interface */
		put16(&b, 1);
		put16(&b, 9);
		put(&b, "\x0a\0\0\1host\0\0\0\0", 12);
		put32(&b, 0);
		ng_end(&b, at);
		ng_interface(&b, 1, -1, 0); /* us by default */
		ng_interface(&b, 1, 9, 0);
		ng_interface(&b, 113, 0x80 | 20, 0);
		ng_interface(&b, 1, 9, start_s);
		ng_interface(&b, 1, 3, -3600);
		ng_interface(&b, 1, 12, start_s);
		ng_packet(&b, 0, (uint64_t)start_s * 1000000 + 5, frame, FRAME, 99, "hi", 1);
		ng_packet(&b, 1, (uint64_t)start_ns + 77, frame, 61 > FRAME ? FRAME : 61, 99, NULL,
			  2);
		ng_packet(&b, 2, (uint64_t)start_s << 20 | 0x12345, frame, 57, 57, NULL, 0);
		ng_packet(&b, 3, 123456789, frame, 56, 56, "a comment of some length", 0);
		ng_packet(&b, 4, (uint64_t)(start_s + 3600) * 1000 + 250, frame, 55, 55, NULL, 0);
		ng_packet(&b, 5, 1234567890123, frame, 0, 55, NULL, 2);
		at = ng_begin(&b, 2); /* obsolete packet block: interface, drops */
		put16(&b, 1);
		put16(&b, 3);
		put32(&b, (uint32_t)((uint64_t)start_ns >> 32));
		put32(&b, (uint32_t)start_ns);
		put32(&b, 8);
		put32(&b, 80);
		put(&b, "eight by", 8);
		ng_end(&b, at);
		at = ng_begin(&b, 3); /* simple packet block */
		put32(&b, 4);
		put(&b, "four", 4);
		ng_end(&b, at);
		at = ng_begin(&b, 0x40000bad); /* of somebody's own */
		put(&b, "unknown block", 12);
		ng_end(&b, at);
		at = ng_begin(&b, 5); /* statistics of the us interface */
		put32(&b, 0);
		uint64_t us = (uint64_t)start_s * 1000000 + 7;
		put32(&b, (uint32_t)(us >> 32));
		put32(&b, (uint32_t)us);
		for (uint16_t code = 2; code <= 3; code++) {
			struct bytes v = { .swap = b.swap };
			put32(&v, (uint32_t)((us + code) >> 32));
			put32(&v, (uint32_t)(us + code));
			ng_option(&b, code, v.p, v.n);
			free(v.p);
		}
		ng_option(&b, 4, "\1\0\0\0\0\0\0\0", 8);
		ng_option(&b, 0, NULL, 0);
		ng_end(&b, at);
	}
	return b;
}

static uint64_t stamp_at(const struct ng_block *b, const uint8_t *p)
{
	uint32_t v[2];
	memcpy(v, p, sizeof v);
	return b->swap ? (uint64_t)__builtin_bswap32(v[0]) << 32 | __builtin_bswap32(v[1])
		       : (uint64_t)v[0] << 32 | v[1];
}

static void check_packet_block(const struct ng_block *was, const struct ng_block *is,
			       bool commented)
{
	size_t n, m;
	size_t from = ng_packet_options(was);
	if (!commented) { /* but for the stamp, nothing of it is another */
		assert_int_equal(is->size, was->size);
		assert_memory_equal(is->d + 8, was->d + 8, 4);
		assert_memory_equal(is->d + 20, was->d + 20, is->size - 20);
		return;
	}
	const uint8_t *comment = ng_find(is, from, 1, &n);
	assert_non_null(comment);
	assert_memory_equal(comment, "recorded 170000000", 18);
	assert_int_equal(n, strlen("recorded 1700000000.123456789"));
	/* Interface, lengths and data as they were; behind the comment, the options as they were.
	 */
	assert_memory_equal(is->d + 8, was->d + 8, 4);
	assert_memory_equal(is->d + 20, was->d + 20, from - 20);
	size_t behind = from + 4 + ((n + 3) & ~(size_t)3), options = was->size - 4 - from;
	if (options) {
		assert_int_equal(is->size - 4 - behind, options);
		assert_memory_equal(is->d + behind, was->d + from, options);
	} else {
		assert_int_equal(is->size - 4 - behind, 4);
		assert_null(ng_find(is, behind, 0, &m) && m);
	}
}

static void check_pcapng(const struct bytes *b, const char *in, const char *out,
			 const struct usk_clocks *c, enum usk_comments comments)
{
	static const char moved[] = "stamps of server put on the clock of client by unskew: "
				    "-0.400000000 s at 1700000000.000000000";
	const struct usk_write_options opt = { .force = true, .comments = comments };
	struct usk_err err = { 0 };
	struct usk_notes notes = { 0 };
	if (usk_apply(in, 1, c, out, &opt, &notes, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(notes.n, 0);
	check_records(in, out, c);
	struct bytes got = load(out);
	size_t n, m, size;
	struct ng_block *was = ng_blocks(b, &n), *is = ng_blocks(&got, &m);
	assert_int_equal(n, m);
	int statistics = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(was[i].type, is[i].type);
		assert_int_equal(was[i].swap, is[i].swap);
		switch (was[i].type) {
		case 1: {
			const uint8_t *r = ng_find(&is[i], 16, 9, &size);
			assert_true(r && size == 1 && *r == 9);
			assert_null(ng_find(&is[i], 16, 14, &size));
			assert_memory_equal(is[i].d + 8, was[i].d + 8, 8);
			const uint8_t *said = ng_find(&is[i], 16, 3, &size);
			assert_true(said && size >= sizeof moved - 1);
			assert_memory_equal(said + size - (sizeof moved - 1), moved,
					    sizeof moved - 1);
			for (unsigned code = 2; code <= 12; code += 10) { /* the others stay */
				size_t old;
				const uint8_t *x = ng_find(&was[i], 16, code, &old);
				const uint8_t *y = ng_find(&is[i], 16, code, &size);
				assert_int_equal(!x, !y);
				if (x) {
					assert_int_equal(old, size);
					assert_memory_equal(x, y, size);
				}
			}
			break;
		}
		case 2:
		case 6:
			check_packet_block(&was[i], &is[i], comments != USK_COMMENTS_NONE);
			break;
		case 5: {
			int64_t us = (int64_t)stamp_at(&was[i], was[i].d + 12);
			assert_true((int64_t)stamp_at(&is[i], is[i].d + 12) ==
				    corrected(c, 1, us * 1000));
			for (uint16_t code = 2; code <= 3; code++) {
				const uint8_t *v = ng_find(&is[i], 20, code, &size);
				assert_non_null(v);
				assert_true((int64_t)stamp_at(&is[i], v) ==
					    corrected(c, 1, (us + code) * 1000));
			}
			assert_memory_equal(is[i].d + 44, was[i].d + 44, was[i].size - 44);
			statistics++;
			break;
		}
		default:
			assert_int_equal(was[i].size, is[i].size);
			assert_memory_equal(was[i].d, is[i].d, is[i].size);
		}
	}
	assert_int_equal(statistics, 2);
	free(was);
	free(is);
	free(got.p);
}

static void test_pcapng(void **state)
{
	(void)state;
	struct usk_clocks *c = two_clocks(-400000000); /* the seconds stay 1700000000 - 1 */
	struct bytes b = rich_pcapng();
	char *in = file("a.pcapng"), *out = file("b.pcapng");
	struct usk_err err = { 0 };
	struct usk_notes notes = { 0 };
	save(in, &b);
	check_pcapng(&b, in, out, c, USK_COMMENTS_USUAL);
	check_pcapng(&b, in, out, c, USK_COMMENTS_NONE);

	/* Cut anywhere, or with any byte changed: an answer or a sentence, nothing else. */
	const struct usk_write_options opt = { .force = true };
	struct usk_rng r;
	for (uint64_t seed = case_first(1500); seed < case_end(1500); seed++) {
		struct bytes part = { 0 };
		usk_rng_seed(&r, seed);
		put(&part, b.p, seed / 4 % 2 ? (size_t)usk_rng_below(&r, b.n) : b.n);
		if (!part.n) {
			continue;
		}
		for (uint64_t k = 0; k < seed % 4; k++) {
			part.p[usk_rng_below(&r, part.n)] ^= (uint8_t)(1 << usk_rng_below(&r, 8));
		}
		save(in, &part);
		err.msg[0] = 0;
		enum usk_status status = usk_apply(in, 1, c, out, &opt, &notes, &err);
		if (status) {
			assert_true(strlen(err.msg) > 10);
		} else if (seed % 4 == 0) {
			size_t x, y;
			struct seen *p = see(in, &x, NULL), *q = see(out, &y, NULL);
			assert_int_equal(x, y);
			seen_free(p, x);
			seen_free(q, y);
		}
		free(part.p);
	}
	usk_notes_free(&notes);
	unlink(in);
	unlink(out);
	free(in);
	free(out);
	free(b.p);
	usk_clocks_free(c);
}

static const struct {
	const char *name, *in, *out, *says; /* says: of the note, or of the error if out is NULL */
} tables[] = {
	{ "plain", "sender,receiver,sent_ns,received_ns\nclient,server,1700000000000000000,-5\n",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "client,server,1700000000000000000,1700000000000000000,1005,-5\n",
	  NULL },
	{ "any order, other columns, quotes, CRLF, BOM",
	  "\xef\xbb\xbf\"id\",received_s,\"x,\"\"y\",sender,sent,receiver\r\n"
	  "\"a,b\",1.5,\"q\"\"\",server,2023-11-14T22:13:20Z,\"client\",more\r\n\r\n",
	  "\xef\xbb\xbf\"id\",received_s,received_raw_ns,\"x,\"\"y\",sender,sent,sent_raw_ns,"
	  "receiver\r\n\"a,b\",1.500000000,1500000000,\"q\"\"\",server,"
	  "2023-11-14T22:13:20.000001010Z,1700000000000000000,\"client\",more\r\n\r\n",
	  NULL },
	{ "corrected before",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "server,server,10,1,20,2",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "server,server,1020,1,1030,2",
	  "corrected stamps in it before" },
	{ "torn", "sender,receiver,sent_ns,received_ns\nserver,client,0,0\nserver,client,1",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "server,client,1010,0,0,0\n",
	  "line 3: has 3 columns where 4 are needed" },
	{ "open quote",
	  "sender,receiver,sent_ns,received_ns\n\"server,client,0,0\nserver,client,0,0\n",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "server,client,1010,0,0,0\n",
	  "line 2: has a quote that is not closed" },
	{ "no number", "sender,receiver,sent_ns,received_ns\nserver,client,x,0\n", NULL,
	  "line 2: \"x\" is not a whole number; 1 row skipped" },
	{ "rows that are left out",
	  "sender,receiver,sent_ns,received_ns\n,client,0,0\nserver,client,0,0\n1\nserver,client,1,"
	  "0",
	  "sender,receiver,sent_ns,sent_raw_ns,received_ns,received_raw_ns\n"
	  "server,client,1010,0,0,0\nserver,client,1011,1,0,0",
	  "line 2: has no sender; 2 rows skipped, this is the first" },
	{ "no column", "sender,receiver,sent_ns\n", NULL, "needs received_ns, received_s" },
	{ "unknown clock", "sender,receiver,sent_ns,received_ns\nserver,proxy,0,0\n", NULL,
	  "line 2: clock proxy is not in the table of clocks" },
	{ "out of range",
	  "sender,receiver,sent_ns,received_ns\nserver,client,4611686018427387905,0\n", NULL,
	  "line 2: a stamp is over" },
	{ "leaves the range",
	  "sender,receiver,sent_ns,received_ns\nserver,client,4611686018427387900,0\n", NULL,
	  "line 2: " },
	{ "empty", "", NULL, "is empty" },
	{ "text", "just some text\n", NULL, "unknown format" },
};

static void test_tables(void **state)
{
	(void)state;
	static const char *const names[] = { "client", "server" };
	const int64_t offset[] = { 0, 1010 }, drift[] = { 0, 0 };
	struct usk_clocks *c = clocks_of(names, offset, drift, 2);
	char *in = file("m.csv"), *out = file("n.csv");
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct bytes b = { 0 };
		struct usk_err err = { 0 };
		struct usk_notes notes = { 0 };
		put(&b, tables[i].in, strlen(tables[i].in));
		save(in, &b);
		enum usk_status status = usk_apply(in, USK_NO_CLOCK, c, out, NULL, &notes, &err);
		const char *says = tables[i].out ? (notes.n ? notes.note[0] : "") : err.msg;
		assert_int_equal(!tables[i].out, status != USK_OK);
		if (tables[i].says ? !strstr(says, tables[i].says) : notes.n != 0) {
			fail_msg("%s: \"%s\"", tables[i].name, says);
		}
		if (tables[i].out) {
			struct bytes got = load(out);
			put(&got, "", 1);
			if (strcmp((char *)got.p, tables[i].out) != 0) {
				fail_msg("%s:\n%s\nexpected\n%s", tables[i].name, got.p,
					 tables[i].out);
			}
			free(got.p);
			unlink(out);
		}
		assert_int_equal(folder_files(), 1);
		usk_notes_free(&notes);
		free(b.p);
	}
	unlink(in);
	free(in);
	free(out);
	usk_clocks_free(c);
}

/* Stamps that the format cannot hold, disks that are full, clocks that are not known. */
static void test_refusals(void **state)
{
	(void)state;
	char *in = file("server.pcap"), *out = file("out.pcap");
	struct bytes b = { 0 };
	uint8_t frame[FRAME];
	udp_frame(frame, 1, 2, 64, 0);
	pcap_begin(&b, 0xa1b2c3d4, 1);
	for (int i = 0; i < 50000; i++) {
		pcap_record(&b, (uint32_t)start_s, 5, frame, FRAME, FRAME);
	}
	save(in, &b);
	struct usk_err err = { 0 };
	static const struct {
		int64_t offset_s;
		const char *says;
	} ranges[] = {
		{ -1700000001, "before 1970" },
		{ INT64_C(4294967296) - 1700000000, "after February 2106" },
	};
	for (size_t i = 0; i < COUNT(ranges); i++) {
		struct usk_clocks *far = two_clocks(ranges[i].offset_s * 1000000000);
		assert_int_equal(usk_apply(in, 1, far, out, NULL, NULL, &err), USK_ERANGE);
		if (!strstr(err.msg, ranges[i].says)) {
			fail_msg("%s", err.msg);
		}
		usk_clocks_free(far);
	}
	struct usk_clocks *c = two_clocks(7);
	assert_int_equal(usk_apply(in, 1, c, "/dev/full", NULL, NULL, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "No space left"));
	assert_int_equal(usk_apply(in, 1, c, "/nowhere/at/all", NULL, NULL, &err), USK_EIO);
	assert_int_equal(usk_apply("/nowhere", 1, c, out, NULL, NULL, &err), USK_EIO);
	assert_int_equal(usk_apply(folder, 1, c, out, NULL, NULL, &err), USK_EINPUT);
	assert_int_equal(usk_apply(in, USK_NO_CLOCK, c, out, NULL, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "NAME="));
	assert_int_equal(usk_apply(in, 1, c, in, NULL, NULL, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "--force"));
	assert_int_equal(folder_files(), 1);

	c->clock[1].quality = USK_CONTRADICTED;
	assert_int_equal(usk_apply(in, 1, c, out, NULL, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "contradicted"));
	struct usk_notes notes = { 0 };
	const struct usk_write_options opt = { .allow_unbounded = true };
	assert_int_equal(usk_apply(in, 1, c, out, &opt, &notes, &err), USK_OK);
	assert_int_equal(notes.n, 1);
	struct bytes same = load(out);
	assert_int_equal(same.n, b.n);
	assert_memory_equal(same.p, b.p, b.n);
	free(same.p);
	usk_notes_free(&notes);
	unlink(out);

	/* A file can be re-timed in its place, once it is wholly read. */
	c->clock[1].quality = USK_BOUNDED;
	const struct usk_write_options force = { .force = true };
	assert_int_equal(usk_apply(in, 1, c, in, &force, NULL, &err), USK_OK);
	size_t n;
	struct seen *s = see(in, &n, NULL);
	assert_int_equal(n, 50000);
	assert_true(s[49999].time_ns == corrected(c, 1, start_ns + 5000));
	seen_free(s, n);
	unlink(in);
	free(in);
	free(out);
	free(b.p);
	usk_clocks_free(c);
}

/* Other tools read what comes out as they read what went in. */
static void test_tools(void **state)
{
	(void)state;
	struct usk_clocks *c = two_clocks(-957333333);
	char text[4096];
	size_t found = 0;
	for (int ng = 0; ng < 2; ng++) {
		char *in = file(ng ? "a.pcapng" : "a.pcap"),
		     *out = file(ng ? "b.pcapng" : "b.pcap");
		struct bytes b = { 0 };
		uint8_t frame[FRAME];
		if (ng) {
			ng_section(&b);
			ng_interface(&b, 1, 6, 0);
		} else {
			pcap_begin(&b, 0xa1b2c3d4, 1);
		}
		for (uint32_t i = 0; i < 200; i++) {
			udp_frame(frame, 0x0a000001, 0x0a000002, 64, i);
			if (ng) {
				ng_packet(&b, 0, (uint64_t)start_s * 1000000 + i, frame, FRAME,
					  FRAME, i % 3 ? NULL : "odd", 0);
			} else {
				pcap_record(&b, (uint32_t)start_s, i, frame, FRAME, FRAME);
			}
		}
		save(in, &b);
		assert_int_equal(usk_apply(in, 1, c, out, NULL, NULL, NULL), USK_OK);
		static const char *const tools[] = {
			"capinfos -M -c",
			"tshark -n -T fields -e ip.id -e data.data -r",
			"tcpdump -n -t -r",
		};
		for (size_t i = 0; i < COUNT(tools); i++) {
			char before[4096];
			char *one = usk_format("%s %s 2>/dev/null | grep -v ^File", tools[i], in);
			char *two = usk_format("%s %s 2>/dev/null | grep -v ^File", tools[i], out);
			char *loud = usk_format("%s %s 2>&1 >/dev/null", tools[i], out);
			int status = run_tool(loud, text, sizeof text);
			if (status != 127) {
				if (status || strstr(text, "rror") || strstr(text, "damaged")) {
					fail_msg("%s: %s", loud, text);
				}
				run_tool(one, before, sizeof before);
				run_tool(two, text, sizeof text);
				assert_true(strlen(text) > 10);
				assert_string_equal(before, text);
				found++;
			}
			free(one);
			free(two);
			free(loud);
		}
		unlink(in);
		unlink(out);
		free(in);
		free(out);
		free(b.p);
	}
	usk_clocks_free(c);
	if (!found) {
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap),   cmocka_unit_test(test_pcapng),
		cmocka_unit_test(test_tables), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_tools),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
