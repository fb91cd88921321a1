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
	size_t n = 0;
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

/* The number that metadata have for a key; 0: none. */
static usk_i128 number(const char *path, const char *key)
{
	char *name = usk_format("%s/metadata", path);
	FILE *f = fopen(name, "rb");
	char text[1 << 14] = { 0 };
	assert_non_null(f);
	assert_in_range(fread(text, 1, sizeof text, f), 1, sizeof text - 1);
	fclose(f);
	free(name);
	for (const char *at = text; (at = strstr(at, key)) != NULL; at++) {
		if (strchr(" \t\n", at[-1])) {
			return strtoll(at + strlen(key), NULL, 10);
		}
	}
	return 0;
}

/* The worst difference from corrected time at the corners if the clock showed `more` cycles more; a
 * corner between two cycles is at the next. */
static int64_t worst_corner(const struct trial *t, int more)
{
	const char *path[] = { t->in, t->out };
	usk_i128 hz[2], offset[2], most = 0;
	for (int i = 0; i < 2; i++) {
		hz[i] = number(path[i], "freq = ");
		offset[i] = number(path[i], "offset_s = ") * hz[i] + number(path[i], "offset = ");
	}
	for (size_t i = 0; i < CORNERS; i++) {
		const struct usk_knot *k = &t->knot[i];
		usk_i128 value = usk_ceil_div(k->local_ns * hz[0], SECOND) - offset[0];
		usk_i128 now = usk_floor_div((value + offset[1] + more) * SECOND, (int64_t)hz[1]);
		usk_i128 by = now - k->local_ns - k->offset_ns;
		by = by < 0 ? -by : by;
		most = by > most ? by : most;
	}
	return (int64_t)most;
}

/* No clock is nearer: the frequency is the nearest there is, no offset is better by more than what
 * rounding to ns costs, and what is said of it is as large as it is at its corners, and 2 ns for
 * what lies between. */
static void assert_nearest(const struct trial *t, int64_t off)
{
	const struct usk_knot *a = &t->knot[0], *b = &t->knot[CORNERS - 1];
	usk_i128 local = b->local_ns - a->local_ns, common = local + b->offset_ns - a->offset_ns;
	usk_i128 was = number(t->in, "freq = "), now = number(t->out, "freq = ");
	int64_t most = worst_corner(t, 0);
	bool nearest = (was * local - now * common) * 2 <= common &&
		       (now * common - was * local) * 2 <= common;
	bool centred = most <= worst_corner(t, 1) + 1 && most <= worst_corner(t, -1) + 1;
	if (!nearest || !centred || off > most + 2) {
		fail_msg("%lld Hz for %lld Hz: off by %lld ns, said %lld, with a cycle more %lld, "
			 "less %lld",
			 (long long)now, (long long)was, (long long)most, (long long)off,
			 (long long)worst_corner(t, 1), (long long)worst_corner(t, -1));
	}
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
		assert_nearest(&t, off);
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
	static const int64_t drift[] = { 0, 137, -460 };
	static const uint64_t hz[] = { 1000000000, 2893437000, 999999937, 32768, 24000000, 1000 };
	for (uint64_t k = case_first(COUNT(hz)); k < case_end(COUNT(hz)); k++) {
		uint64_t i = k % COUNT(hz);
		try(hz[i], i + 31, 20, 50000);
		for (size_t n = 0; n < (cases_are_few() ? 1 : COUNT(drift)); n++) {
			try(hz[i], i + 1 + 10 * n, drift[n], 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequencies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
