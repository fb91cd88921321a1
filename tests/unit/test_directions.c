/* SPDX-License-Identifier: MIT */
/* The directions of a pair of captures: each found by both of its addresses, with the way back. */
#include "match/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct usk_addr host(uint32_t number)
{
	return (struct usk_addr){ 0, UINT64_C(0xffff0a000000) + number };
}

/* Both ways between a host and each of many: each has a number of its own, at every look. */
static void test_many_peers(void **state)
{
	(void)state;
	enum { PEERS = 2000 };
	struct directions w = { .n = 0 };
	for (uint32_t k = 0; k < 4 * PEERS; k++) {
		const struct usk_addr peer = host(1 + k / 2 % PEERS), one = host(0);
		const bool back = k % 2;
		const uint32_t which =
			usk_direction_find(&w, back ? peer : one, back ? one : peer, true);
		assert_int_equal(which, k % (2 * PEERS));
		if (back) {
			assert_int_equal(w.of[which].reverse, which - 1);
			assert_int_equal(w.of[which - 1].reverse, which);
		}
	}
	usk_directions_free(&w);
}

/* Who asked a group is answered by each of its hosts; one that sends to itself has no way back. */
static void test_ways_back(void **state)
{
	(void)state;
	struct directions w = { .n = 0 };
	const uint32_t asked = usk_direction_find(&w, host(1), USK_ANYBODY, true);
	const uint32_t others = usk_direction_find(&w, host(2), host(1), false);
	assert_int_equal(w.of[others].reverse, NOBODY);
	const uint32_t own = usk_direction_find(&w, host(3), host(1), true);
	assert_int_equal(w.of[own].reverse, asked);
	const uint32_t self = usk_direction_find(&w, host(4), host(4), true);
	assert_int_equal(w.of[self].reverse, NOBODY);
	usk_directions_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_peers),
		cmocka_unit_test(test_ways_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
