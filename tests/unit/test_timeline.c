/* SPDX-License-Identifier: MIT */
/*
 * test_timeline.c - what is drawn is what was told: times, arrows, counters, and nothing but JSON
 *
 * Oracle: the map's definition, asked stamp by stamp; numbers of the JSON taken as text. What
 * viewers want besides is in tests/sim/timeline_check.py.
 */
#include "base/base.h"
#include "base/io.h"
#include "write/timeline.h"
#include "write/viewers.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/unskew-test-timeline-XXXXXX";

static char *file(const char *name)
{
	return usk_format("%s/%s", folder, name);
}

/* Two clocks and one that nothing ties to them; b is ahead by 5 s and fast, set back at 100 s. */
static struct usk_clocks *clocks(bool put_back)
{
	static const struct usk_knot b[] = {
		{ INT64_C(1700000005000000000), -5000000000, -5000000100, -4999999900, 0 },
		{ INT64_C(1700000105000000000), -5001000000, -5001000300, -4999999700, 0 },
		{ INT64_C(1700000095000000000), 4999000000, 4998999000, 4999001000, 1 },
		{ INT64_C(1700000195000000000), 4998000000, 4997999000, 4998001000, 1 },
	};
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->max_skew_e12 = 500000000;
	c->method = usk_strdup("middle");
	c->n_clocks = 3;
	c->clock = usk_alloc(3, sizeof *c->clock);
	c->clock[0].name = usk_strdup("a \"quoted\"");
	c->clock[1].name = usk_strdup("b\xff");
	c->clock[2].name = usk_strdup("c");
	usk_clock_reference(&c->clock[0], INT64_C(1700000000000000000),
			    INT64_C(1700000200000000000));
	c->clock[0].quality = USK_REFERENCE;
	c->clock[1].quality = USK_BOUNDED;
	c->clock[1].n_knots = put_back ? 4 : 2;
	c->clock[1].knot = usk_alloc(4, sizeof *b);
	memcpy(c->clock[1].knot, b, sizeof b);
	if (put_back) {
		c->clock[1].n_jumps = 1;
		c->clock[1].jump = usk_alloc(1, sizeof *c->clock[1].jump);
		c->clock[1].jump[0] =
			(struct usk_jump){ .kind = USK_JUMP,
					   .of = 1,
					   .or_of = USK_NO_CLOCK,
					   .after_local_ns = INT64_C(1700000105000000000),
					   .before_local_ns = INT64_C(1700000095000000000),
					   .size_lo_ns = USK_NONE,
					   .size_hi_ns = USK_NONE,
					   .end_epoch = 1 };
		c->clock[1].n_set_backs = 1;
		c->clock[1].set_back = usk_alloc(1, sizeof *c->clock[1].set_back);
		c->clock[1].set_back[0] = (struct usk_set_back){ INT64_C(1700000105000000000),
								 INT64_C(1700000095000000000) };
	}
	c->clock[2].quality = USK_ABSENT;
	c->clock[2].reference = 2;
	return c;
}

struct given {
	const struct usk_msg *msg;
	size_t n, at;
};

static enum usk_status give(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
			    struct usk_err *err)
{
	(void)err;
	struct given *g = ctx;
	*n = g->n - g->at < cap ? g->n - g->at : cap;
	memcpy(out, g->msg + g->at, *n * sizeof *out);
	g->at += *n;
	return USK_OK;
}

/* One that fails behind the first batch: nothing is drawn. */
static enum usk_status give_up(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	struct given *g = ctx;
	return g->at ? usk_fail(err, USK_EIO, 0, "gone") : give(ctx, out, cap, n, err);
}

/* What was drawn, with numbers as they stand: "1234.567" us is 1234567 ns. */
static int64_t ns_of(const json_t *event)
{
	/* Doubles hold what is some minutes from zero to the nanosecond. */
	double us = json_number_value(json_object_get(event, "ts"));
	return (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
}

static json_t *drawn(const char *path)
{
	json_error_t why;
	json_t *root = json_load_file(path, 0, &why);
	if (!root) {
		fail_msg("%s: line %d: %s", path, why.line, why.text);
	}
	return root;
}

static bool is(const json_t *event, const char *kind)
{
	return !strcmp(json_string_value(json_object_get(event, "ph")), kind);
}

/* The slices of message `number`: sent and received, on the reference's clock. */
static void find_message(const json_t *root, int64_t number, int64_t origin_ns, int64_t *sent,
			 int64_t *got)
{
	size_t i;
	json_t *event;
	*sent = *got = USK_NONE;
	json_array_foreach(json_object_get(root, "traceEvents"), i, event)
	{
		const json_t *args = json_object_get(event, "args");
		bool mine = is(event, "X") &&
			    json_integer_value(json_object_get(args, "message")) == number;
		const char *name = json_string_value(json_object_get(event, "name"));
		if (mine) {
			*(name[0] == 't' ? sent : got) = origin_ns + ns_of(event);
		}
	}
}

static void check(bool put_back, const struct usk_msg *msg, size_t n, const int64_t *on_b)
{
	const int64_t origin = INT64_C(1699999999000000000);
	struct usk_clocks *c = clocks(put_back);
	struct given g = { msg, n, 0 };
	const struct usk_message_source source = { &g, give };
	struct usk_notes notes = { 0 };
	struct usk_err err = { 0 };
	char *path = file("t.json");
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, &source, path, NULL, &notes, &err), USK_OK);
	json_t *root = drawn(path);
	for (size_t i = 0; i < n; i++) {
		int64_t sent, got;
		find_message(root, (int64_t)i + 1, origin, &sent, &got);
		assert_int_equal(msg[i].from == 1 ? sent : got, on_b[i]);
		assert_int_equal(msg[i].from == 0 ? sent : got,
				 msg[i].from == 0 ? msg[i].sent_ns : msg[i].received_ns);
	}
	json_decref(root);
	usk_notes_free(&notes);
	unlink(path);
	free(path);
	usk_clocks_free(c);
}

static void test_times(void **state)
{
	(void)state;
	static const struct usk_msg msg[] = {
		{ INT64_C(1700000000000000001), INT64_C(1700000005000010000), 0, 1, 5 },
		{ INT64_C(1700000055123456789), INT64_C(1700000050123000000), 1, 0, 0 },
		{ INT64_C(1700000200000000000), INT64_C(1700000205000000000), 0, 1, 5 },
	};
	struct usk_clocks *c = clocks(false);
	struct usk_map *map = usk_map_new(&c->clock[1], c->max_skew_e12);
	int64_t on_b[COUNT(msg)];
	for (size_t i = 0; i < COUNT(msg); i++) {
		struct usk_stamp s;
		int64_t local = msg[i].from == 1 ? msg[i].sent_ns : msg[i].received_ns;
		assert_int_equal(usk_map_at(map, local, &s, NULL), USK_OK);
		on_b[i] = s.reference_ns;
	}
	usk_map_free(map);
	usk_clocks_free(c);
	check(false, msg, COUNT(msg), on_b);
}

/* Stamps 1700000095 s to 1700000105 s of b are of either epoch: the delay says which. */
static void test_epochs(void **state)
{
	(void)state;
	static const struct usk_msg msg[] = {
		{ INT64_C(1700000095000000000), INT64_C(1700000100000000000), 0, 1, 0 },
		{ INT64_C(1700000104999000000), INT64_C(1700000100000000000), 0, 1, 0 },
	};
	/* By the two lines of knots, by hand. */
	static const int64_t on_b[] = { INT64_C(1700000094999050000),
					INT64_C(1700000104998950000) };
	check(true, msg, COUNT(msg), on_b);
}

/* By an hour, so that its last stamps are before its first: counters stay as many as can be seen.
 */
static void test_put_far_back(void **state)
{
	(void)state;
	const int64_t hour = INT64_C(3600000000000);
	struct usk_clocks *c = clocks(true);
	struct usk_knot *last = &c->clock[1].knot[2];
	for (int i = 0; i < 2; i++) {
		last[i].local_ns -= hour;
		last[i].offset_ns += hour;
		last[i].lo_ns += hour;
		last[i].hi_ns += hour;
	}
	c->clock[1].jump[0].before_local_ns -= hour;
	const struct usk_msg msg[] = {
		{ last[1].local_ns, last[1].local_ns + last[1].offset_ns, 1, 0, 0 },
	};
	struct given g = { msg, 1, 0 };
	const struct usk_message_source source = { &g, give };
	struct usk_err err = { 0 };
	char *path = file("far.json");
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, &source, path, NULL, NULL, &err), USK_OK);
	json_t *root = drawn(path), *event;
	size_t i, counters = 0;
	json_array_foreach(json_object_get(root, "traceEvents"), i, event)
	{
		counters += is(event, "C");
	}
	assert_in_range(counters, 2 * 200, 2 * 400);
	json_decref(root);
	unlink(path);
	free(path);
	usk_clocks_free(c);
}

static void test_refused(void **state)
{
	(void)state;
	static const struct usk_msg lost = { 5, 6, 0, 2, 0 };
	static const struct usk_write_options anyway = { .allow_unbounded = true };
	struct usk_clocks *c = clocks(false);
	struct given g = { &lost, 1, 0 };
	const struct usk_message_source source = { &g, give };
	struct usk_notes notes = { 0 };
	struct usk_err err = { 0 };
	char *path = file("r.json");
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, &source, path, NULL, NULL, &err),
			 USK_EINPUT);
	assert_non_null(strstr(err.msg, "clock c is absent"));
	assert_int_equal(access(path, F_OK), -1);
	g.at = 0;
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, &source, path, &anyway, &notes, &err),
			 USK_OK);
	assert_int_equal(notes.n, 2); /* c goes as recorded; 5 ns is long before zero */
	json_decref(drawn(path));
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, NULL, path, NULL, NULL, &err), USK_EIO);
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, NULL, "/dev/full", NULL, NULL, &err),
			 USK_EIO);
	unlink(path);
	free(path);
	usk_notes_free(&notes);
	usk_clocks_free(c);
}

/* No options are the stated ones: bands as wide as may be, and nothing is replaced. */
static void test_manifest_defaults(void **state)
{
	(void)state;
	const struct usk_manifest_file files[] = { { "x/b.pftrace", 1 }, { "a.pftrace", 0 } };
	struct usk_clocks *c = clocks(false);
	struct usk_err err = { 0 };
	char *path = file("d.json");
	assert_int_equal(usk_perfetto_manifest(files, 2, c, path, NULL, NULL, &err), USK_OK);
	json_t *root = drawn(path);
	const char *clock;
	assert_int_equal(json_unpack(root, "{s:{s:{s:s}}}", "perfetto_manifest", "trace_time",
				     "clock", &clock),
			 0);
	assert_string_equal(clock, "REALTIME");
	json_decref(root);
	assert_int_equal(usk_perfetto_manifest(files, 2, c, path, NULL, NULL, &err), USK_EIO);
	unlink(path);
	free(path);
	usk_clocks_free(c);
}

/* The one offset is in the middle of all, and none is further off than it says. */
static void test_manifest(void **state)
{
	(void)state;
	const struct usk_manifest_file files[] = { { "x/b.pftrace", 1 }, { "a.pftrace", 0 } };
	struct usk_manifest_options o = { "BOOTTIME", 499999, false };
	struct usk_clocks *c = clocks(false);
	struct usk_err err = { 0 };
	char *path = file("m.json");
	assert_int_equal(usk_perfetto_manifest(files, 2, c, path, &o, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "500000 ns"));
	assert_int_equal(access(path, F_OK), -1);
	o.residual_ns = 500000;
	assert_int_equal(usk_perfetto_manifest(files, 2, c, path, &o, NULL, &err), USK_OK);
	json_t *root = drawn(path);
	json_int_t version, offset;
	const char *name, *to;
	assert_int_equal(json_unpack(root, "{s:{s:I, s:[{s:s, s:{s:I, s:{s:s}}}, {}]}}",
				     "perfetto_manifest", "version", &version, "files", "path",
				     &name, "clocks", "offset_ns", &offset, "sync_to", "file", &to),
			 0);
	assert_int_equal(version, 1);
	assert_int_equal(offset, -5000500000);
	assert_string_equal(name, "b.pftrace");
	assert_string_equal(to, "a.pftrace");
	json_decref(root);
	unlink(path);
	usk_clocks_free(c);
	c = clocks(true);
	assert_int_equal(usk_perfetto_manifest(files, 2, c, path, NULL, NULL, &err), USK_EINPUT);
	assert_non_null(strstr(err.msg, "was stepped backward"));
	free(path);
	usk_clocks_free(c);
}

static void test_source_fails(void **state)
{
	(void)state;
	const struct usk_msg msg = { .from = 0, .to = 1, .sent_ns = 5, .received_ns = 6 };
	struct usk_clocks *c = clocks(false);
	struct given g = { &msg, 1, 0 };
	const struct usk_message_source source = { &g, give_up };
	struct usk_err err = { 0 };
	char *path = file("f.json");
	assert_int_equal(usk_timeline(NULL, NULL, 0, c, &source, path, NULL, NULL, &err), USK_EIO);
	assert_string_equal(err.msg, "gone");
	assert_int_equal(access(path, F_OK), -1);
	free(path);
	usk_clocks_free(c);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* Threads of a machine, by hand: two processors, a preemption, a sleep, an end, lost events. */
static void test_states(void **state)
{
	(void)state;
	enum { SWITCH, WAKE, LOST };
	static const struct {
		int what;
		int64_t at, cpu, from, to;
		uint64_t left;
	} told[] = {
		{ SWITCH, 100, 0, 0, 7, 0 },	  /* 7 begins on processor 0, */
		{ SWITCH, 150, 1, 9, 8, 1 },	  /* 8 on 1, where 9 falls asleep */
		{ SWITCH, 200, 0, 7, 8000, 0 },	  /* 7 is preempted */
		{ WAKE, 220, 0, 0, 9, 0 },	  /* 9 may run again, */
		{ WAKE, 230, 0, 0, 8, 0 },	  /* 8 does: nothing is new */
		{ SWITCH, 300, 1, 8, 9, 64 },	  /* and does; 8 is gone */
		{ SWITCH, 400, 0, 8000, 7, 256 }, /* the kernel's mark of preemption */
		{ LOST, 450, -1, 0, 0, 0 },	  { SWITCH, 500, 0, 7, 0, 2 },
		{ SWITCH, 600, 1, 0, 7, 0 },
	};
	static const char *const want[] = {
		"7 running 100 100 0",	  "9 blocked 150 70 -1",
		"8 running 150 150 1",	  "9 waits for a processor 220 80 -1",
		"8000 running 200 200 0", "7 waits for a processor 200 200 -1",
		"7 blocked 500 100 -1",
	};
	char *path = file("states.json");
	struct drawing d;
	struct usk_clocks *c = clocks(false);
	struct usk_states s = { .clock = 0 };
	json_error_t why;
	assert_int_equal(usk_drawing_open(&d, c, path, true, NULL), USK_OK);
	usk_drawing_names(&d, 0, true);
	for (size_t i = 0; i < COUNT(told); i++) {
		const struct usk_moment m = { 1000 * told[i].at, 1000 * told[i].at + 5,
					      told[i].cpu };
		if (told[i].what == SWITCH) {
			usk_states_switch(&d, &s, &m, told[i].from, told[i].left, "from",
					  told[i].to, "to");
		} else if (told[i].what == WAKE) {
			usk_states_wake(&d, &s, &m, told[i].to, NULL);
		} else {
			usk_states_lost(&s);
		}
	}
	usk_states_free(&s);
	assert_int_equal(usk_drawing_commit(&d, NULL), USK_OK);
	usk_drawing_close(&d);
	json_t *root = json_load_file(path, 0, &why);
	assert_non_null(root);
	size_t i, n = 0;
	json_t *e, *rows = json_object();
	json_array_foreach(json_object_get(root, "traceEvents"), i, e)
	{
		const char *label, *name = NULL, *recorded;
		double ts, dur;
		int tid, cpu = -1;
		if (!json_unpack(e, "{s:s,s:i,s:{s:s}}", "name", &name, "tid", &tid, "args", "name",
				 &label) &&
		    !strcmp(name, "thread_name")) {
			char *key = usk_format("%d", tid);
			json_object_set_new(rows, key, json_string(label));
			free(key);
		}
		if (json_unpack(e, "{s:s,s:i,s:F,s:F,s:{s?i,s:s}}", "name", &name, "tid", &tid,
				"ts", &ts, "dur", &dur, "args", "cpu", &cpu, "recorded_ns",
				&recorded)) {
			continue;
		}
		char *key = usk_format("%d", tid);
		const char *whose = json_string_value(json_object_get(rows, key));
		char *got = usk_format("%s %s %.0f %.0f %d", strrchr(whose, ' ') + 1, name, ts, dur,
				       cpu);
		assert_true(n < COUNT(want));
		assert_string_equal(got, want[n++]);
		assert_int_equal(atoll(recorded), llround(1000 * ts) + 5);
		free(got);
		free(key);
	}
	assert_int_equal(n, COUNT(want));
	json_decref(rows);
	json_decref(root);
	usk_clocks_free(c);
	assert_int_equal(unlink(path), 0);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),	     cmocka_unit_test(test_epochs),
		cmocka_unit_test(test_put_far_back), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_manifest),     cmocka_unit_test(test_manifest_defaults),
		cmocka_unit_test(test_source_fails), cmocka_unit_test(test_states),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
