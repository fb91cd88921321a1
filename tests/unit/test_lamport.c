/* SPDX-License-Identifier: MIT */
/*
 * test_lamport.c - sends and receipts that are in no order of time, against all pairs of them
 *
 * Few messages at small numbers: some go round, some lie between, stamps are equal.
 */
#include "../part.h"
#include "base/base.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CLOCKS = 4, MESSAGES = 9, EVENTS = 2 * MESSAGES };

struct event {
	uint32_t clock;
	int64_t ns;
};

/* Was one surely before the other? Those of a message stand side by side. */
static bool before(const struct event *e, size_t a, size_t b, const int64_t *late_ns)
{
	const bool sent = a % 2 == 0 && b == a + 1;
	return sent || (e[a].clock == e[b].clock && e[b].ns - e[a].ns > late_ns[e[a].clock]);
}

/* One after the other, those before which (back: behind which) all are known. */
static void put_in_order(const struct event *e, size_t n, const int64_t *late_ns, bool back,
			 bool *in)
{
	bool known[EVENTS] = { false };
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			bool next = !known[i];
			for (size_t k = 0; k < n; k++) {
				const bool asks =
					back ? before(e, i, k, late_ns) : before(e, k, i, late_ns);
				next = next && (known[k] || !asks);
			}
			known[i] = known[i] || next;
			in[i] = in[i] || next;
			more = more || next;
		}
	}
}

static void test_left(void **state)
{
	(void)state;
	size_t some = 0;
	for (uint64_t seed = case_first(10000); seed < case_end(10000); seed++) {
		struct usk_rng r;
		struct event e[EVENTS];
		struct usk_lamport x = { 0 };
		bool in[EVENTS] = { false };
		int64_t late_ns[CLOCKS];
		size_t left[CLOCKS] = { 0 }, want[CLOCKS] = { 0 }, all = 0;
		usk_rng_seed(&r, seed);
		const size_t clocks = 2 + usk_rng_below(&r, CLOCKS - 1);
		const size_t n = 2 * usk_rng_below(&r, MESSAGES + 1);
		const uint64_t span = 1 + usk_rng_below(&r, 20), back = 1 + usk_rng_below(&r, 40);
		for (size_t i = 0; i < clocks; i++) {
			late_ns[i] = (int64_t)usk_rng_below(&r, seed % 4 ? 1 : 4);
		}
		for (size_t i = 0; i < n; i += 2) {
			const uint32_t from = (uint32_t)usk_rng_below(&r, clocks);
			const uint32_t by = 1 + (uint32_t)usk_rng_below(&r, clocks - 1);
			const int64_t sent = (int64_t)usk_rng_below(&r, span);
			const int64_t took =
				(int64_t)usk_rng_below(&r, 6) - (int64_t)usk_rng_below(&r, back);
			e[i] = (struct event){ from, sent };
			e[i + 1] = (struct event){ (from + by) % (uint32_t)clocks, sent + took };
			usk_lamport_message(&x, e[i].clock, e[i].ns, e[i + 1].clock, e[i + 1].ns);
		}
		put_in_order(e, n, late_ns, false, in);
		put_in_order(e, n, late_ns, true, in);
		for (size_t i = 0; i < n; i++) {
			want[e[i].clock] += !in[i];
			all += !in[i];
		}
		const size_t got = usk_lamport_left(&x, clocks, late_ns, left);
		bool same = got == all;
		for (size_t i = 0; i < clocks; i++) {
			same = same && left[i] == want[i];
		}
		if (!same) {
			fail_msg("seed %llu: %zu are left, not %zu", (unsigned long long)seed, got,
				 all);
		}
		some += all > 0;
		usk_lamport_free(&x);
	}
	assert_true(some > case_count(10000) / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_left) };
	return cmocka_run_group_tests_name("lamport", tests, NULL, NULL);
}
