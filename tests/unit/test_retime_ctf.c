/* SPDX-License-Identifier: MIT */
/*
 * CTF traces on the common clock: stamps of what was written against corrected stamps of what was
 * read, by another clock in the metadata and by data written anew, for clocks of many frequencies.
 */
#include "../part.h"
#include "ctf_making.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define START  INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)

enum { EVENTS = 300, CORNERS = 5 };

struct trial {
	uint64_t hz;
	char *in, *out;
	struct usk_knot knot[CORNERS];
	struct usk_clock clock;
	struct usk_clocks clocks;
};

static void write_trace(const struct trial *t, struct usk_rng *r)
{
	struct ctf c = ctf_begin(t->in, "a", t->hz, START);
	uint64_t at = 0;
	for (uint32_t i = 0; i < EVENTS; i++) {
		at += 1 + usk_rng_below(r, t->hz / 20 + 2);
		ctf_message(&c, 0, at, true, 1, (int32_t)i, "x", i);
	}
	ctf_end(&c);
}

/* Stamps of all events, in the order of the file. */
static size_t stamps(const char *path, int64_t ns[EVENTS + 1])
{
	const char *send = "msg:send{channel}", *receive = "msg:recv{channel}";
	struct usk_read_options o = {
		.send = &send, .n_send = 1, .receive = &receive, .n_receive = 1
	};
	struct usk_err err = { 0 };
	struct usk_trace *t = NULL;
	static struct usk_event e[EVENTS + 1];
	size_t n;
	if (usk_trace_open_with(path, NULL, &o, &t, &err) ||
	    usk_trace_sides(t, e, EVENTS + 1, &n, &err)) {
		fail_msg("%s: %s", path, err.msg);
	}
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(e[i].bytes, i);
		ns[i] = e[i].time_ns;
	}
	usk_trace_close(t);
	return n;
}

/* Corners of a correction: constant, a line, or bent by up to bend_ns. */
static void correct(struct trial *t, struct usk_rng *r, int64_t first, int64_t last, int64_t drift,
		    int64_t bend_ns)
{
	int64_t offset = (int64_t)usk_rng_below(r, 4 * (uint64_t)SECOND) - 2 * SECOND;
	for (int64_t i = 0; i < CORNERS; i++) {
		struct usk_knot *k = &t->knot[i];
		k->local_ns = first + (last - first) / (CORNERS - 1) * i;
		k->local_ns = i == CORNERS - 1 ? last : k->local_ns;
		k->offset_ns = offset +
			       (int64_t)((usk_i128)(k->local_ns - first) * drift / 1000000) +
			       (bend_ns ? (int64_t)usk_rng_below(r, (uint64_t)bend_ns) : 0);
		k->lo_ns = k->offset_ns - 1000;
		k->hi_ns = k->offset_ns + 1000;
	}
	t->clock = (struct usk_clock){
		.name = t->in, .quality = USK_BOUNDED, .knot = t->knot, .n_knots = CORNERS
	};
	t->clocks =
		(struct usk_clocks){ .clock = &t->clock, .n_clocks = 1, .max_skew_e12 = 500000000 };
}

/* How far off the other clock is said to be; -1: the data were written anew. */
static int64_t said(const struct usk_notes *notes)
{
	long long off = -1;
	for (size_t i = 0; i < notes->n; i++) {
		const char *at = strstr(notes->note[i], "off by at most ");
		if (at) {
			assert_int_equal(sscanf(at, "off by at most %lld ns", &off), 1);
		}
	}
	return off;
}

/* Re-time it; the worst difference from corrected stamps. */
static int64_t worst(struct trial *t, int64_t allowed, int64_t *off)
{
	int64_t was[EVENTS + 1], now[EVENTS + 1], want[EVENTS + 1], most = 0;
	struct usk_notes notes = { 0 };
	struct usk_err err = { 0 };
	const struct usk_write_options o = { .force = true, .residual_ns = allowed };
	if (usk_apply(t->in, 0, &t->clocks, t->out, &o, &notes, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(stamps(t->in, was), EVENTS);
	assert_int_equal(stamps(t->out, now), EVENTS);
	struct usk_map *map = usk_map_new(&t->clock, t->clocks.max_skew_e12);
	assert_int_equal(usk_map_many(map, was, EVENTS, want, NULL), USK_OK);
	for (size_t i = 0; i < EVENTS; i++) {
		int64_t by = now[i] < want[i] ? want[i] - now[i] : now[i] - want[i];
		most = by > most ? by : most;
	}
	usk_map_free(map);
	*off = said(&notes);
	usk_notes_free(&notes);
	return most;
}

static void try(uint64_t hz, uint64_t seed, int64_t drift, int64_t bend_ns)
{
	char name[] = "/tmp/unskew-retime-XXXXXX";
	assert_non_null(mkdtemp(name));
	struct trial t = { .hz = hz, .in = usk_format("%s/a", name) };
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	write_trace(&t, &r);
	/* What was written is read and written once more: its clock is described otherwise. */
	for (int again = 0; again < 2; again++) {
		int64_t ns[EVENTS + 1], off;
		assert_int_equal(stamps(t.in, ns), EVENTS);
		correct(&t, &r, ns[0], ns[EVENTS - 1], drift, bend_ns);
		t.out = usk_format("%s/anew", name);
		int64_t most = worst(&t, 0, &off), length = ns[EVENTS - 1] - ns[0];
		if (off > 0 || most > 0) {
			fail_msg("%llu Hz, seed %llu, written anew: off by %lld ns, said %lld",
				 (unsigned long long)hz, (unsigned long long)seed, (long long)most,
				 (long long)off);
		}
		ctf_remove(t.out);
		free(t.out);
		t.out = usk_format("%s/%c", name, 'b' + again);
		most = worst(&t, INT64_MAX, &off);
		/* What the rounding of a frequency costs, half each way; a cycle; what the line has
		 * to leave of its bends; whole ns. */
		int64_t unavoidable =
			length / (int64_t)(4 * hz) + SECOND / (int64_t)hz + bend_ns + 8;
		if (off < 0 || most > off || off > unavoidable) {
			fail_msg("%llu Hz, seed %llu: off by %lld ns, said %lld, no need for over "
				 "%lld",
				 (unsigned long long)hz, (unsigned long long)seed, (long long)most,
				 (long long)off, (long long)unavoidable);
		}
		ctf_remove(t.in);
		free(t.in);
		t.in = t.out;
	}
	ctf_remove(t.in);
	free(t.in);
	rmdir(name);
}

static void test_frequencies(void **state)
{
	(void)state;
	static const uint64_t hz[] = { 1000000000, 2893437000, 999999937, 32768, 24000000, 1000 };
	for (uint64_t k = case_first(COUNT(hz)); k < case_end(COUNT(hz)); k++) {
		uint64_t i = k % COUNT(hz);
		try(hz[i], i + 1, 0, 0);
		try(hz[i], i + 11, 137, 0);
		try(hz[i], i + 21, -460, 0);
		try(hz[i], i + 31, 20, 50000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequencies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
