/* SPDX-License-Identifier: MIT */
/* Packets in order and their bytes, against a plain sort; numbers of keys, against a plain list. */
#include "../part.h"
#include "base/index.h"
#include "write/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PACKETS = 400, MOST = 200000 };

struct planned {
	int64_t time_ns;
	uint64_t number;
	uint32_t captured;
};

/* What a packet of this number holds. */
static void fill(uint8_t *to, const struct planned *p)
{
	for (uint32_t i = 0; i < p->captured; i++) {
		to[i] = (uint8_t)usk_mix(p->number * MOST + i / 8);
	}
}

/* Chunks are of 64 KiB: sizes around that, far over it, and most of them small. */
static uint32_t size_of(struct usk_rng *r)
{
	switch (usk_rng_below(r, 8)) {
	case 0:
		return (uint32_t)usk_rng_below(r, MOST);
	case 1:
		return 65530 + (uint32_t)usk_rng_below(r, 12);
	case 2:
		return 0;
	default:
		return (uint32_t)usk_rng_below(r, 1500);
	}
}

static void check_head(struct queue *q, struct planned *waits, size_t *n, uint8_t *want)
{
	size_t first = 0;
	for (size_t i = 1; i < *n; i++) {
		const struct planned *a = &waits[i], *b = &waits[first];
		bool earlier = a->time_ns < b->time_ns ||
			       (a->time_ns == b->time_ns && a->number < b->number);
		first = earlier ? i : first;
	}
	struct packet p = usk_queue_pop(q);
	assert_int_equal(p.time_ns, waits[first].time_ns);
	assert_int_equal(p.number, waits[first].number);
	assert_int_equal(p.captured, waits[first].captured);
	fill(want, &waits[first]);
	if (p.captured) {
		assert_memory_equal(p.data, want, p.captured);
	}
	usk_queue_drop(q, &p);
	waits[first] = waits[--*n];
}

static void test_order(void **state)
{
	(void)state;
	uint8_t *bytes = usk_alloc(1, MOST), *want = usk_alloc(1, MOST);
	for (uint64_t seed = case_first(10); seed < case_end(10); seed++) {
		struct planned waits[PACKETS];
		struct queue q;
		struct usk_rng r;
		size_t n = 0;
		uint64_t held = 0;
		usk_rng_seed(&r, seed);
		usk_queue_init(&q);
		for (uint64_t i = 0; i < PACKETS; i++) {
			struct planned p = { (int64_t)(i + usk_rng_below(&r, 1 + seed)), i,
					     size_of(&r) };
			fill(bytes, &p);
			const struct usk_record record = { .time_ns = 5,
							   .data = bytes,
							   .captured = p.captured };
			usk_queue_put(&q, &record, p.time_ns, false);
			held += p.captured;
			waits[n++] = p;
			while (n && usk_rng_below(&r, 2)) {
				check_head(&q, waits, &n, want);
			}
		}
		assert_true(q.bytes <= held + 3 * (1 << 16));
		while (n) {
			check_head(&q, waits, &n, want);
		}
		assert_null(usk_queue_head(&q));
		assert_true(q.bytes <= 2 * (1 << 16) + MOST);
		usk_queue_free(&q);
	}
	free(bytes);
	free(want);
}

/* What is held has room: q.bytes is what chunks were allocated with, so a byte too few shows without
 * a sanitizer, too. Two packets that fill a chunk but for one, fill it, and need one more. */
static void test_room(void **state)
{
	(void)state;
	enum { CHUNK = 1 << 16 };
	static const uint32_t first[] = { 0, 1, 1500, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK };
	uint8_t *bytes = usk_alloc(1, MOST), *want = usk_alloc(1, MOST);
	for (size_t i = 0; i < COUNT(first); i++) {
		uint32_t left = first[i] < CHUNK ? CHUNK - first[i] : 0;
		const uint32_t second[] = { left ? left - 1 : 0, left,	left + 1,
					    CHUNK - 1,		 CHUNK, CHUNK + 1 };
		for (size_t k = 0; k < COUNT(second); k++) {
			struct planned waits[] = { { 1, 0, first[i] }, { 2, 1, second[k] } };
			struct queue q;
			size_t n = COUNT(waits);
			uint64_t held = 0;
			usk_queue_init(&q);
			for (size_t m = 0; m < COUNT(waits); m++) {
				fill(bytes, &waits[m]);
				const struct usk_record record = { .data = bytes,
								   .captured = waits[m].captured };
				usk_queue_put(&q, &record, waits[m].time_ns, false);
				held += waits[m].captured;
				assert_true(q.bytes >= held);
			}
			while (n) {
				check_head(&q, waits, &n, want);
			}
			usk_queue_free(&q);
		}
	}
	free(bytes);
	free(want);
}

static void test_index(void **state)
{
	(void)state;
	enum { KEYS = 5000 };
	struct usk_index x = { .n = 0 };
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t *value = usk_index_value(&x, i % 70, i / 70);
		assert_int_equal(*value, 0);
		*value = i + 1;
		for (uint64_t k = i / 2; k <= i + 1; k += i / 2 + 1) {
			assert_int_equal(usk_index_find(&x, k % 70, k / 70), k <= i ? k + 1 : 0);
		}
	}
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_int_equal(*usk_index_value(&x, i % 70, i / 70), i + 1);
	}
	usk_index_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_index),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
