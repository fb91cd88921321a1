/* SPDX-License-Identifier: MIT */
/*
 * Scenes of two captures in which a packet is there twice: sent again, copied on the way, out of
 * order. Which of the two a receive belongs to, and when nobody can know.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/*
 * Segments of one direction; number 5 is lost on the way and sent again later. Both captures are
 * complete. What tells the copies apart tells which send the receive belongs to.
 */
static void test_retransmission(void **state)
{
	(void)state;
	for (int f = 0; f < 2 * SCENE_FLAVOURS; f++) {
		bool both_arrive = f & 4;
		struct scene s = scene_flavoured(f);
		int64_t again = START + 400 * MS;
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * SCENE_MSS, 1, SCENE_MSS);
			if (i != 5) {
				scene_pass(&s, 0, t, 150000, p);
				continue;
			}
			scene_see(&s, 0, t, &p);
			if (both_arrive) {
				scene_see(&s, 1, t + 150000, &p);
			}
			if (both_arrive) {
				/* No copy was sent when it came. */
				scene_expect(&s, 0, t, t + 150000);
			}
			p = scene_tcp(&s, 0, again, p.seq, 1, SCENE_MSS);
			scene_see(&s, 0, again, &p);
			scene_see(&s, 1, again + 150000, &p);
			if (f & 3) {
				scene_expect(&s, 0, again, again + 150000);
			}
		}
		scene_check(&s, scene_flavour(f, "retransmission"));
		assert_true(f & 3 || s.counts.ambiguous >= 1);
		scene_free(&s);
	}
}

/*
 * The sender's capture missed the original of number 5 and has the copy; both arrive. Without a
 * mark nobody knows which of the receives belongs to the send.
 */
static void test_original_missed(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		for (int quick = 0; quick < 2; quick++) {
			struct scene s = scene_flavoured(f);
			/* Within the same tick time stamps say nothing. */
			int64_t again = START + (quick ? 118 : 400) * MS + 10000;
			bool told = f & 1 || (f & 2 && !quick);
			for (uint32_t i = 0; i < 10; i++) {
				int64_t t = START + 100 * MS + i * 2 * MS;
				int64_t tick = quick ? START + 118 * MS : t;
				struct packet p =
					scene_tcp(&s, 0, tick, 100 + i * SCENE_MSS, 1, SCENE_MSS);
				if (i != 5) {
					scene_pass(&s, 0, t, 150000, p);
					continue;
				}
				p.ip_id = s.no_ids ? 0 : 999;
				scene_see(&s, 1, t + 150000, &p);
				p = scene_tcp(&s, 0, again, p.seq, 1, SCENE_MSS);
				scene_see(&s, 0, again, &p);
				scene_see(&s, 1, again + 150000, &p);
				if (told) {
					scene_expect(&s, 0, again, again + 150000);
				}
			}
			scene_check(&s, scene_flavour(f, quick ? "missed, quick" : "missed"));
			assert_true(told || s.counts.ambiguous >= 1);
			scene_free(&s);
		}
	}
}

/*
 * Number 5 is lost; the sender's capture missed that it was sent again. Four acknowledgements
 * of one byte give the copy away.
 */
static void test_duplicate_acks(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		uint32_t lost = 100 + 5 * SCENE_MSS;
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * SCENE_MSS, 1, SCENE_MSS);
			if (i == 5) {
				scene_see(&s, 0, t, &p);
				int64_t again = START + 300 * MS;
				p = scene_tcp(&s, 0, again, lost, 1, SCENE_MSS);
				p.ip_id = s.no_ids ? 0 : 4000;
				scene_see(&s, 1, again + 150000, &p);
				continue;
			}
			scene_pass(&s, 0, t, 150000, p);
			struct packet a =
				scene_tcp(&s, 1, START, 1, i < 5 ? p.seq + SCENE_MSS : lost, 0);
			int64_t back = t + 200000;
			scene_see(&s, 1, back, &a);
			scene_see(&s, 0, back + 150000, &a);
			/* Without a mark five identical acknowledgements are five of a kind. */
			if (i < 4 || f & 1) {
				scene_expect(&s, 1, back, back + 150000);
			} else if (i == 4) {
				scene_allow(&s, 1, back, back + 150000);
			}
		}
		scene_check(&s, scene_flavour(f, "duplicate acks"));
		scene_free(&s);
	}
}

/* The network doubles a packet: its first arrival is the message. */
static void test_duplicate_on_the_way(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * SCENE_MSS, 1, SCENE_MSS);
			scene_pass(&s, 0, t, 150000, p);
			if (i == 5) {
				p.ip_id = s.no_ids ? 0 : s.id[0];
				scene_see(&s, 1, t + 170000, &p);
			}
		}
		scene_check(&s, scene_flavour(f, "duplicate"));
		assert_int_equal(s.counts.ambiguous, 1);
		scene_free(&s);
	}
}

static void test_reorder(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t i = 0; i < 100; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			/* Every seventh takes so long that four pass it; the very first too. */
			int64_t delay = i % 7 ? 150000 : 9 * MS;
			scene_pass(&s, 0, t, delay,
				   scene_tcp(&s, 0, t, i * SCENE_MSS - 50, 1, SCENE_MSS));
		}
		scene_done(&s, scene_flavour(f, "reorder"));
	}
}

/* Acknowledgements that say the same, one after the other. */
static void test_equal_acks(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (int i = 0; i < 6; i++) {
			int64_t t = START + 300 * MS + i * 3 * MS;
			struct packet p = scene_tcp(&s, 0, START, 500, 600, 0);
			scene_see(&s, 0, t, &p);
			scene_see(&s, 1, t + 150000, &p);
			if (f & 1) {
				scene_expect(&s, 0, t, t + 150000);
			}
		}
		scene_check(&s, scene_flavour(f, "equal acks"));
		assert_true(f & 1 || s.counts.ambiguous == 6);
		scene_free(&s);
	}
}

/* A SYN that is not answered at once. */
static void test_syn_again(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (int i = 0; i < 3; i++) {
			int64_t t = START + 300 * MS + i * 100 * MS;
			struct packet p = scene_tcp(&s, 0, t, 500, 0, 0);
			p.flags = SYN;
			scene_see(&s, 0, t, &p);
			if (i) { /* the first is lost */
				scene_see(&s, 1, t + 150000, &p);
			}
			if (i && f & 3) {
				scene_expect(&s, 0, t, t + 150000);
			}
		}
		scene_done(&s, scene_flavour(f, "syn again"));
	}
}

/*
 * The last segment and a datagram come after q's clock was set back by more than the map between the clocks errs by: that
 * they were received before they were sent is what tells it.
 */
static void test_received_before_sent(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * SCENE_MSS, 1, SCENE_MSS);
			int64_t delay = 150000 - (i < 9 ? 0 : 300 * MS);
			scene_see(&s, 0, t, &p);
			scene_see(&s, 1, t + delay, &p);
			if (i < 9 || f & 3) {
				scene_expect(&s, 0, t, t + delay);
			}
		}
		struct packet p = scene_udp(&s, 0, 4711);
		int64_t t = START + 130 * MS;
		scene_pass(&s, 0, t, 150000 - 300 * MS, p);
		scene_done(&s, scene_flavour(f, "received before sent"));
	}
}

/* A capture lacks the original, and what it has was sent again and is lost: nothing says that they are one. */
static void test_copy_of_what_was_missed(void **state)
{
	(void)state;
	for (int f = 0; f < SCENE_FLAVOURS; f++) {
		struct scene s = scene_flavoured(f);
		for (uint32_t i = 0; i < 10; i++) {
			int64_t t = START + 100 * MS + i * 2 * MS, again = t + 300 * MS;
			struct packet p = scene_tcp(&s, 0, t, 100 + i * SCENE_MSS, 1, SCENE_MSS);
			if (i != 8) {
				scene_pass(&s, 0, t, 150000, p);
				continue;
			}
			p.ip_id = s.no_ids ? 0 : 999;
			scene_see(&s, 1, t + 150000, &p);
			p = scene_tcp(&s, 0, again, p.seq, 1, SCENE_MSS);
			scene_see(&s, 0, again, &p);
		}
		scene_done(&s, scene_flavour(f, "copy of what was missed"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_retransmission),
		cmocka_unit_test(test_original_missed),
		cmocka_unit_test(test_duplicate_acks),
		cmocka_unit_test(test_duplicate_on_the_way),
		cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_equal_acks),
		cmocka_unit_test(test_syn_again),
		cmocka_unit_test(test_received_before_sent),
		cmocka_unit_test(test_copy_of_what_was_missed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
