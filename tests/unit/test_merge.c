/* SPDX-License-Identifier: MIT */
/* Captures of several hosts into one pcapng: everything there, in order, sends first. */
#include "../part.h"
#include "captures.h"

#include "base/bytes.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = { "client", "server", "tap", "far" };
static const int64_t start_s = 1700000000;
static const int64_t start_ns = INT64_C(1700000000000000000);

struct side {
	struct bytes file;
	char *path;
	struct usk_trace *trace;
};

static void open_side(struct side *s, const char *name)
{
	struct usk_err err = { 0 };
	s->path = file(name);
	save(s->path, &s->file);
	if (usk_trace_open(s->path, NULL, &s->trace, &err)) {
		fail_msg("%s", err.msg);
	}
}

static void close_side(struct side *s)
{
	usk_trace_close(s->trace);
	unlink(s->path);
	free(s->path);
	free(s->file.p);
}

static int64_t corrected(const struct usk_map *m, int64_t local_ns)
{
	int64_t t;
	assert_int_equal(usk_map_many(m, &local_ns, 1, &t, NULL), USK_OK);
	return t;
}

/* By bisection: the first stamp that becomes t, local_ns or one near it. */
static int64_t first_of(const struct usk_map *m, int64_t t, int64_t local_ns)
{
	int64_t below = local_ns - 1000000, above = local_ns;
	while (above - below > 1) {
		int64_t x = below + (above - below) / 2;
		if (corrected(m, x) < t) {
			below = x;
		} else {
			above = x;
		}
	}
	return above;
}

static void check_comment(const struct ng_block *b, const struct usk_map *m, int64_t local_ns,
			  int64_t t, enum usk_comments comments)
{
	const bool wanted[] = {
		[USK_COMMENTS_ALL] = true,
		[USK_COMMENTS_CHANGED] = t != local_ns,
		[USK_COMMENTS_NEEDED] = first_of(m, t, local_ns) != local_ns,
		[USK_COMMENTS_NONE] = false,
	};
	char text[64];
	snprintf(text, sizeof text, "recorded %lld.%09lld", (long long)(local_ns / 1000000000),
		 (long long)(local_ns % 1000000000));
	size_t size;
	const uint8_t *comment = ng_find(b, ng_packet_options(b), 1, &size);
	assert_int_equal(!comment, !wanted[comments]);
	if (comment) {
		assert_int_equal(size, strlen(text));
		assert_memory_equal(comment, text, size);
	}
}

/* Every packet of the sources is in the output once: bytes, length, stamps, comment, interface. */
static void check_whole(const struct bytes *out, struct side *side, size_t n_sides,
			const struct usk_clocks *c, bool sorted, enum usk_comments comments)
{
	size_t n, n_packets = 0, n_expected = 0;
	struct ng_block *b = ng_blocks(out, &n);
	const struct ng_block *iface[16];
	size_t n_ifaces = 0;
	int64_t last = INT64_MIN;
	struct seen **was = usk_alloc(n_sides, sizeof *was);
	size_t *n_was = usk_alloc(n_sides, sizeof *n_was);
	for (size_t i = 0; i < n_sides; i++) {
		was[i] = see(side[i].path, &n_was[i], NULL);
		n_expected += n_was[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (b[i].type == 1) {
			iface[n_ifaces++] = &b[i];
		}
		if (b[i].type != 6) {
			continue;
		}
		uint32_t v[5];
		for (size_t k = 0; k < COUNT(v); k++) {
			v[k] = usk_le32(b[i].d + 8 + 4 * k);
		}
		int64_t t = (int64_t)((uint64_t)v[1] << 32 | v[2]);
		assert_true(!sorted || t >= last);
		last = t;
		/* The id tells the source and the record. */
		uint64_t id = frame_id(b[i].d + 28);
		size_t from = (size_t)(id >> 32), number = (size_t)(id & 0xffffffff);
		assert_true(from < n_sides && number < n_was[from]);
		struct seen *s = &was[from][number];
		assert_non_null(s->data); /* not seen before */
		assert_int_equal(v[3], s->captured);
		assert_int_equal(v[4], s->length);
		assert_memory_equal(b[i].d + 28, s->data, s->captured);
		struct usk_map *m = usk_map_new(&c->clock[from], 0);
		assert_true(t == corrected(m, s->time_ns));
		check_comment(&b[i], m, s->time_ns, t, comments);
		usk_map_free(m);
		size_t size;
		assert_true(v[0] < n_ifaces);
		const uint8_t *name = ng_find(iface[v[0]], 16, 2, &size);
		assert_non_null(name);
		assert_int_equal(size, strlen(names[from]));
		assert_memory_equal(name, names[from], size);
		free(s->data);
		s->data = NULL;
		n_packets++;
	}
	assert_int_equal(n_packets, n_expected);
	for (size_t i = 0; i < n_sides; i++) {
		seen_free(was[i], n_was[i]);
	}
	free(was);
	free(n_was);
	free(b);
}

/* Packets up to `disorder` ns out of order. */
static void random_capture(struct usk_rng *r, struct side *s, size_t from, size_t n,
			   uint64_t disorder)
{
	uint64_t t = usk_rng_below(r, 2000000000);
	uint8_t frame[FRAME];
	s->file.swap = usk_rng_below(r, 2);
	pcap_begin(&s->file, 0xa1b23c4d, 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = t + usk_rng_below(r, disorder + 1);
		udp_frame(frame, 1, 2, 64, (uint64_t)from << 32 | i);
		uint32_t captured = (uint32_t)(50 + usk_rng_below(r, FRAME - 50 + 1));
		pcap_record(&s->file, (uint32_t)(start_s + (int64_t)(at / 1000000000)),
			    (uint32_t)(at % 1000000000), frame, captured, FRAME + 100);
		t += usk_rng_below(r, 2) ? usk_rng_below(r, 3) : usk_rng_below(r, 40000000);
	}
}

static struct usk_clocks *four_clocks(void)
{
	static const int64_t offset[] = { 0, -957333333, 268LL * 86400 * 1000000000, 5 };
	static const int64_t drift[] = { 0, 21000, -100000, 0 };
	return clocks_of(names, offset, drift, 4);
}

static void test_random(void **state)
{
	(void)state;
	struct usk_clocks *c = four_clocks();
	char *out = file("merged.pcapng");
	for (uint64_t seed = case_first(60); seed < case_end(60); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct side side[4] = { { { 0 }, NULL, NULL } };
		struct usk_trace *trace[4];
		uint32_t clock[4];
		size_t n = 1 + usk_rng_below(&r, 4);
		for (size_t i = 0; i < n; i++) {
			uint64_t disorder = seed % 3 ? usk_rng_below(&r, 900000000) : 0;
			random_capture(&r, &side[i], i, usk_rng_below(&r, 700), disorder);
			char name[32];
			snprintf(name, sizeof name, "%zu.pcap", i);
			open_side(&side[i], name);
			trace[i] = side[i].trace;
			clock[i] = (uint32_t)i;
		}
		struct usk_err err = { 0 };
		struct usk_notes notes = { 0 };
		enum usk_comments comments = (enum usk_comments)(seed % (USK_COMMENTS_NONE + 1));
		const struct usk_write_options opt = { .force = true, .comments = comments };
		if (usk_merge(trace, clock, n, c, out, &opt, &notes, &err)) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
		}
		assert_int_equal(notes.n, 0);
		struct bytes b = load(out);
		check_whole(&b, side, n, c, true, comments ? comments : USK_COMMENTS_NEEDED);
		free(b.p);
		for (size_t i = 0; i < n; i++) {
			close_side(&side[i]);
		}
	}
	unlink(out);
	free(out);
	usk_clocks_free(c);
}

/* An interface says whose clock stamped, whether that is as recorded, and where the rest is. */
static void test_said(void **state)
{
	(void)state;
	static const struct {
		const char *description, *comment;
	} want[] = {
		{ "recorded in %s",
		  "Stamps are as recorded in %s, by clock client, which is the reference." },
		{ "recorded in %s; stamps of server put on the clock of client by unskew: "
		  "-0.957333333 s at 1700000000.000000000",
		  "Stamps are NOT as recorded: unskew " USK_VERSION
		  " put those of clock server on the clock of client. Added to recorded stamps: "
		  "-0.957333333 s at 1700000000.000000000, -0.978333333 s at 1700001000.000000000, "
		  "what clocks.json says between. Recorded stamps are in %s, not in comments "
		  "(--comments none)." },
		{ "recorded in %s",
		  "Stamps are as recorded in %s, by clock tap, which has no answer "
		  "that could correct them." },
	};
	struct usk_clocks *c = four_clocks();
	struct side side[3] = { { { 0 }, NULL, NULL } };
	struct usk_trace *trace[3];
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	c->clock[2].quality = USK_ABSENT;
	for (size_t i = 0; i < 3; i++) {
		char name[16];
		snprintf(name, sizeof name, "%s.pcap", names[i]);
		random_capture(&r, &side[i], i, 5, 0);
		open_side(&side[i], name);
		trace[i] = side[i].trace;
	}
	const struct usk_write_options opt = { .allow_unbounded = true,
					       .comments = USK_COMMENTS_NONE };
	char *out = file("merged.pcapng");
	assert_int_equal(usk_merge(trace, NULL, 3, c, out, &opt, NULL, NULL), USK_OK);
	struct bytes b = load(out);
	size_t n, size, found = 0;
	struct ng_block *block = ng_blocks(&b, &n);
	for (size_t i = 0; i < n; i++) {
		for (int which = 0; which < 2 && block[i].type == 1; which++) {
			const char *form = which ? want[found].comment : want[found].description;
			const char *hole = strstr(form, "%s");
			const uint8_t *said = ng_find(&block[i], 16, which ? 1 : 3, &size);
			char *text = usk_format("%.*s%s%s", (int)(hole - form), form,
						side[found].path, hole + 2);
			assert_non_null(said);
			assert_int_equal(size, strlen(text));
			assert_memory_equal(said, text, size);
			free(text);
		}
		found += block[i].type == 1;
	}
	assert_int_equal(found, 3);
	for (size_t i = 0; i < 3; i++) {
		close_side(&side[i]);
	}
	unlink(out);
	free(out);
	free(block);
	free(b.p);
	usk_clocks_free(c);
}

/* A record that comes seconds late is there all the same, and a note says so. */
static void test_late(void **state)
{
	(void)state;
	struct usk_clocks *c = four_clocks();
	struct side s = { { 0 }, NULL, NULL };
	uint8_t frame[FRAME];
	pcap_begin(&s.file, 0xa1b2c3d4, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		udp_frame(frame, 1, 2, 64, i);
		pcap_record(&s.file, (uint32_t)start_s + (i == 1500 ? 0 : i / 10), 5, frame, FRAME,
			    FRAME);
	}
	put(&s.file, "torn", 4);
	open_side(&s, "late.pcap");
	struct usk_notes notes = { 0 };
	struct usk_err err = { 0 };
	uint32_t clock = 0;
	char *out = file("merged.pcapng");
	assert_int_equal(usk_merge(&s.trace, &clock, 1, c, out, NULL, &notes, &err), USK_OK);
	assert_int_equal(notes.n, 2);
	assert_non_null(strstr(notes.note[0], "cut short"));
	assert_non_null(strstr(notes.note[1], "1 packets are not in order, as they came later"));
	struct bytes b = load(out);
	check_whole(&b, &s, 1, c, false, USK_COMMENTS_NEEDED);
	/* And nothing is replaced unasked. */
	assert_int_equal(usk_merge(&s.trace, &clock, 1, c, out, NULL, NULL, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "--force"));
	free(b.p);
	unlink(out);
	free(out);
	usk_notes_free(&notes);
	close_side(&s);
	usk_clocks_free(c);
}

/* One ns, the same packet in two captures: whoever sent it comes first. */
static void test_ties(void **state)
{
	(void)state;
	static const int64_t none[] = { 0, 0, 0, 0 };
	enum { BY_TTL, BY_ADDRESS, BY_FLAGS, UNKNOWN, WAYS };
	for (int way = 0; way < WAYS; way++) {
		struct usk_clocks *c = clocks_of(names, none, none, 2);
		struct side side[2] = { { { 0 }, NULL, NULL }, { { 0 }, NULL, NULL } };
		uint8_t near[FRAME], mid[FRAME];
		/* Trace 0 receives packet 2 and answers with 7; trace 1 sends 2 and receives 7. */
		for (size_t i = 0; i < 2; i++) {
			uint8_t ttl = way == BY_TTL ? 63 : 64;
			udp_frame(near, 0x0a000002, 0x0a000001, i == 1 ? 64 : ttl, 2);
			udp_frame(mid, 0x0a000001, 0x0a000002, i == 0 ? 64 : ttl, 7);
			ng_section(&side[i].file);
			ng_interface(&side[i].file, 1, 9, 0);
			ng_packet(&side[i].file, 0, (uint64_t)start_ns, near, FRAME, FRAME, NULL,
				  way == BY_FLAGS ? 1 + (uint32_t)i : 0);
			ng_packet(&side[i].file, 0, (uint64_t)start_ns, mid, FRAME, FRAME, NULL,
				  way == BY_FLAGS ? 2 - (uint32_t)i : 0);
			open_side(&side[i], i ? "server.pcapng" : "client.pcapng");
		}
		if (way == BY_ADDRESS) {
			c->trace = usk_alloc(1, sizeof *c->trace);
			c->n_traces = 1;
			c->trace[0].path = usk_strdup("x");
			c->trace[0].clock = 1;
			c->trace[0].local = usk_alloc(1, sizeof(char *));
			c->trace[0].local[0] = usk_strdup("10.0.0.2");
			c->trace[0].n_local = 1;
		}
		struct usk_trace *trace[] = { side[0].trace, side[1].trace };
		struct usk_err err = { 0 };
		char *out = file("merged.pcapng");
		if (usk_merge(trace, NULL, 2, c, out, NULL, NULL, &err)) {
			fail_msg("%s", err.msg);
		}
		size_t n;
		struct seen *s = see(out, &n, NULL);
		assert_int_equal(n, 4);
		char order[32] = "";
		for (size_t i = 0; i < n; i++) {
			snprintf(order + strlen(order), 8, "%u:%u ", s[i].iface,
				 (unsigned)frame_id(s[i].data));
		}
		assert_string_equal(order,
				    way == UNKNOWN ? "0:2 0:7 1:2 1:7 " : "1:2 0:2 0:7 1:7 ");
		seen_free(s, n);
		unlink(out);
		free(out);
		close_side(&side[0]);
		close_side(&side[1]);
		usk_clocks_free(c);
	}
}

static void test_refusals(void **state)
{
	(void)state;
	struct usk_clocks *c = four_clocks();
	struct side s = { { 0 }, NULL, NULL };
	uint8_t frame[FRAME];
	udp_frame(frame, 1, 2, 64, 0);
	pcap_begin(&s.file, 0xa1b2c3d4, 1);
	pcap_record(&s.file, 3, 5, frame, FRAME, FRAME); /* three seconds into 1970 */
	for (int i = 0; i < 100000; i++) {
		pcap_record(&s.file, 4, 5, frame, FRAME, FRAME);
	}
	open_side(&s, "server.pcap");
	struct usk_err err = { 0 };
	struct usk_write_options opt = { .force = true };
	char *out = file("merged.pcapng");
	size_t files = folder_files();

	c->clock[1].knot[0].offset_ns = c->clock[1].knot[1].offset_ns = -4000000000;
	assert_int_equal(usk_merge(&s.trace, NULL, 1, c, out, &opt, NULL, &err), USK_ERANGE);
	assert_non_null(strstr(err.msg, "server.pcap: the packet at byte 24"));
	assert_non_null(strstr(err.msg, "-0.999995000 s"));
	assert_int_equal(folder_files(), files);

	uint32_t clock = 0;
	assert_int_equal(usk_merge(&s.trace, &clock, 1, c, "/dev/full", &opt, NULL, &err), USK_EIO);
	assert_non_null(strstr(err.msg, "No space left"));
	assert_int_equal(usk_merge(&s.trace, &clock, 1, c, "/nowhere/x", &opt, NULL, &err),
			 USK_EIO);

	c->clock[1].quality = USK_ONE_SIDED;
	assert_int_equal(usk_merge(&s.trace, NULL, 1, c, out, &opt, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "one-sided"));
	struct usk_notes notes = { 0 };
	opt.allow_unbounded = true;
	assert_int_equal(usk_merge(&s.trace, NULL, 1, c, out, &opt, &notes, &err), USK_OK);
	assert_int_equal(notes.n, 1);
	usk_notes_free(&notes);
	size_t n;
	struct seen *got = see(out, &n, NULL);
	assert_int_equal(n, 100001);
	assert_int_equal(got[0].time_ns, 3000005000);
	seen_free(got, n);
	unlink(out);

	free(c->clock[1].name);
	c->clock[1].name = usk_strdup("somebody");
	assert_int_equal(usk_merge(&s.trace, NULL, 1, c, out, &opt, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "NAME="));
	close_side(&s);

	struct side table = { { 0 }, NULL, NULL };
	static const char csv[] = "sender,receiver,sent_ns,received_ns\na,b,1,2\n";
	put(&table.file, csv, sizeof csv - 1);
	open_side(&table, "m.csv");
	assert_int_equal(usk_merge(&table.trace, NULL, 1, c, out, &opt, NULL, &err), USK_EUSAGE);
	close_side(&table);
	assert_int_equal(folder_files(), 0);
	free(out);
	usk_clocks_free(c);
}

/* Other tools read it without complaint and find the same packets. */
static void test_tools(void **state)
{
	(void)state;
	char text[4096];
	struct usk_clocks *c = four_clocks();
	struct side side[3] = { { { 0 }, NULL, NULL } };
	struct usk_trace *trace[3];
	uint32_t clock[] = { 0, 1, 2 };
	struct usk_rng r;
	usk_rng_seed(&r, 5);
	size_t expected = 0;
	for (size_t i = 0; i < 3; i++) {
		char name[16];
		snprintf(name, sizeof name, "%zu.pcap", i);
		random_capture(&r, &side[i], i, 300, 1000000);
		open_side(&side[i], name);
		trace[i] = side[i].trace;
		expected += 300;
	}
	char *out = file("merged.pcapng"), *plain = file("plain.pcap");
	assert_int_equal(usk_merge(trace, clock, 3, c, out, NULL, NULL, NULL), USK_OK);
	static const char *const tools[] = { "capinfos -M", "tcpdump -nr", "tshark -nr" };
	size_t found = 0;
	for (size_t i = 0; i < COUNT(tools); i++) {
		char *command = usk_format("%s %s 2>&1 >/dev/null", tools[i], out);
		int status = run_tool(command, text, sizeof text);
		free(command);
		if (status == 127) {
			continue;
		}
		/* tcpdump announces the file, tshark that it runs as root. */
		bool complained = strstr(text, "rror") || strstr(text, "damaged") ||
				  strstr(text, "cut short");
		if (status || complained) {
			fail_msg("%s: %s", tools[i], text);
		}
		found++;
	}
	char *command =
		usk_format("tcpdump -nr %s -w %s --time-stamp-precision nano 2>&1", out, plain);
	int status = run_tool(command, text, sizeof text);
	free(command);
	if (status != 127) {
		assert_int_equal(status, 0);
		size_t n, m;
		struct seen *a = see(out, &n, NULL), *b = see(plain, &m, NULL);
		assert_int_equal(n, expected);
		assert_int_equal(m, expected);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(a[i].captured, b[i].captured);
			assert_int_equal(a[i].length, b[i].length);
			assert_true(a[i].time_ns == b[i].time_ns);
			assert_memory_equal(a[i].data, b[i].data, a[i].captured);
		}
		seen_free(a, n);
		seen_free(b, m);
		unlink(plain);
	}
	unlink(out);
	free(out);
	free(plain);
	for (size_t i = 0; i < 3; i++) {
		close_side(&side[i]);
	}
	usk_clocks_free(c);
	if (!found) {
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	 cmocka_unit_test(test_said),
		cmocka_unit_test(test_late),	 cmocka_unit_test(test_ties),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_tools),
	};
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
