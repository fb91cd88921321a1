/* SPDX-License-Identifier: MIT */
/*
 * Bytes that wait for their lengths: random messages within messages that grow come out as an encoder
 * makes them that knows all from the start.
 */
#include "../part.h"
#include "making.h"
#include "base/protobuf.h"
#include "write/held.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEEPEST = 4, KIDS = 3, WIDTH_32 = 4, LARGE = 70 << 20, OWN = 0xa5 };

struct node {
	struct usk_length was;
	size_t old, added; /* bytes of its own */
	struct node *kid[KIDS];
	size_t n_kids;
};

static struct node *grow(struct usk_rng *r, unsigned depth)
{
	uint8_t bytes[USK_VARINT_LONGEST];
	struct node *x = usk_alloc(1, sizeof *x);
	x->old = (size_t)usk_rng_below(r, usk_rng_below(r, 8) ? 200 : 40000);
	x->added = (size_t)(usk_rng_below(r, 3) * usk_rng_below(r, 400));
	x->n_kids = depth < DEEPEST ? (size_t)usk_rng_below(r, KIDS + 1) : 0;
	x->was = (struct usk_length){ 0, x->old, WIDTH_32, !depth && usk_rng_below(r, 2) };
	for (size_t i = 0; i < x->n_kids; i++) {
		x->kid[i] = grow(r, depth + 1);
		x->was.value += x->kid[i]->was.width + x->kid[i]->was.value;
	}
	if (!x->was.fixed) {
		const size_t least = usk_rng_below(r, 3) ? 1 : 5;
		x->was.width = (uint8_t)usk_wire_varint(x->was.value, least, bytes);
	}
	return x;
}

static void node_free(struct node *x)
{
	for (size_t i = 0; i < x->n_kids; i++) {
		node_free(x->kid[i]);
	}
	free(x);
}

static void put_own(struct bytes *b, size_t n)
{
	put_zeros(b, n);
	if (n) {
		memset(b->data + b->n - n, OWN, n);
	}
}

static void hold(struct usk_held *h, const struct node *x)
{
	uint8_t *own = usk_alloc(x->old + x->added + 1, 1);
	memset(own, OWN, x->old + x->added);
	usk_held_open(h, x->was);
	assert_int_equal(usk_held_put(h, own, x->old, NULL), USK_OK);
	for (size_t i = 0; i < x->n_kids; i++) {
		hold(h, x->kid[i]);
	}
	assert_int_equal(usk_held_put(h, own, x->added, NULL), USK_OK);
	usk_held_grow(h, x->added);
	usk_held_close(h);
	free(own);
}

static void encode(struct bytes *out, const struct node *x)
{
	struct bytes in = { .big = true };
	uint8_t length[USK_VARINT_LONGEST];
	put_own(&in, x->old);
	for (size_t i = 0; i < x->n_kids; i++) {
		encode(&in, x->kid[i]);
	}
	put_own(&in, x->added);
	if (x->was.fixed) {
		put32(out, (uint32_t)in.n);
	} else {
		put(out, length, usk_wire_varint(in.n, x->was.width, length));
	}
	put(out, in.data, in.n);
	bytes_free(&in);
}

/* What was held and written, and what has to come out. */
struct written {
	char path[32];
	struct usk_held *held;
	struct usk_output out;
	struct bytes want;
};

static void begin(struct written *w)
{
	*w = (struct written){ .path = "/tmp/lengths-XXXXXX", .want = { .big = true } };
	close(mkstemp(w->path));
	w->held = usk_held_new();
	assert_int_equal(usk_output_open(&w->out, w->path, true, NULL), USK_OK);
}

static void write_one(struct written *w, const struct node *x)
{
	hold(w->held, x);
	assert_int_equal(usk_held_depth(w->held), 0);
	assert_int_equal(usk_held_write(w->held, &w->out, NULL), USK_OK);
	encode(&w->want, x);
}

static void end(struct written *w)
{
	struct usk_input in;
	assert_int_equal(usk_output_commit(&w->out, NULL), USK_OK);
	usk_output_close(&w->out);
	assert_int_equal(usk_input_open(&in, w->path, NULL, NULL), USK_OK);
	assert_int_equal(usk_input_all(&in, NULL), USK_OK);
	assert_int_equal(in.have, w->want.n);
	assert_memory_equal(in.data, w->want.data, in.have);
	usk_input_close(&in);
	unlink(w->path);
	bytes_free(&w->want);
	usk_held_free(w->held);
}

static void random_messages(void **state)
{
	struct written w;
	struct usk_rng r;
	(void)state;
	begin(&w);
	for (uint64_t seed = case_first(100); seed < case_end(100); seed++) {
		usk_rng_seed(&r, seed);
		struct node *x = grow(&r, 0);
		write_one(&w, x);
		node_free(x);
	}
	end(&w);
}

/* More than is held in memory, twice. */
static void large(void **state)
{
	struct node kid = { { 0, LARGE, 4, false }, LARGE, 5, { NULL }, 0 };
	struct node x = { { 0, LARGE + 4 + 99, WIDTH_32, true }, 99, 1, { &kid }, 1 };
	struct written w;
	(void)state;
	begin(&w);
	write_one(&w, &x);
	if (!cases_are_few()) { /* to write the bytes once takes valgrind seconds */
		write_one(&w, &x);
	}
	end(&w);
}

static void too_long(void **state)
{
	static const struct usk_length was[] = {
		{ 17, UINT32_MAX - 4, WIDTH_32, true },
		{ 17, UINT64_MAX - 4, USK_VARINT_LONGEST, false },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(was); i++) {
		struct usk_held *h = usk_held_new();
		struct usk_output out;
		struct usk_err err = { 0 };
		assert_int_equal(usk_output_open(&out, "/dev/null", true, NULL), USK_OK);
		usk_held_open(h, was[i]);
		usk_held_grow(h, 5);
		usk_held_close(h);
		assert_int_equal(usk_held_write(h, &out, &err), USK_ERANGE);
		assert_non_null(strstr(err.msg, "byte 17 would be longer"));
		usk_output_close(&out);
		usk_held_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_messages),
		cmocka_unit_test(large),
		cmocka_unit_test(too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
