/* SPDX-License-Identifier: MIT */
/* Rounds over real sockets of this machine itself: answered, restarted, limited, stopped, alone. */
#include "probe/socket.h"

#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static const struct usk_probe_key no_key;

/* A server in a thread, until its pipe is written to. */
struct host {
	struct usk_probe_socket s[USK_PROBE_SOCKETS];
	size_t n;
	struct usk_probe_distortion distortion;
	struct usk_probe_server *server;
	struct usk_probe_counts counts;
	int stop[2];
	pthread_t thread;
};

static void *answer(void *ctx)
{
	struct host *h = ctx;
	usk_probe_answer(h->server, h->s, h->n, h->stop[0], usk_probe_mono_ns() + 60 * SECOND,
			 &h->counts);
	return NULL;
}

static void host_start(struct host *h, double rate)
{
	h->server = usk_probe_server_new(&no_key, rate, rate);
	h->counts = (struct usk_probe_counts){ .unsent = 0 };
	assert_int_equal(pipe(h->stop), 0);
	assert_int_equal(pthread_create(&h->thread, NULL, answer, h), 0);
}

static void host_stop(struct host *h)
{
	assert_int_equal(write(h->stop[1], "", 1), 1);
	pthread_join(h->thread, NULL);
	close(h->stop[0]);
	close(h->stop[1]);
	usk_probe_server_free(h->server);
}

/* False: this machine has no such address. */
static bool host_listen(struct host *h, const char *where)
{
	struct usk_err err = { 0 };
	memset(h, 0, sizeof *h);
	if (usk_probe_listen(where, 0, NULL, h->s, &h->n, &err)) {
		return false;
	}
	assert_int_equal(h->n, 1);
	h->s[0].distortion = &h->distortion;
	return true;
}

static uint16_t port_of(const struct host *h)
{
	struct sockaddr_in6 a;
	socklen_t n = sizeof a;
	memset(&a, 0, sizeof a);
	assert_int_equal(getsockname(h->s[0].fd, (struct sockaddr *)&a, &n), 0);
	return ntohs(a.sin6_port); /* where an IPv4 address has it too */
}

static const struct usk_probe_distortion plain;

struct caller {
	struct usk_probe_socket s;
	struct usk_probe_client c;
	struct usk_probe_asking how;
};

static void call(struct caller *k, const char *host, uint16_t port)
{
	struct usk_err err = { 0 };
	bool loopback = false;
	if (usk_probe_connect(host, port, 0, NULL, &k->s, &loopback, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_true(loopback);
	k->s.distortion = &plain;
	usk_probe_client_init(&k->c, &no_key);
	/* Patient: under valgrind everything is slow. */
	k->how = (struct usk_probe_asking){ .burst = 4,
					    .attempts = 3,
					    .timeout_ns = 2 * SECOND,
					    .slack_ns = SECOND,
					    .skew_e12 = 500000000,
					    .stop_fd = -1 };
}

static void test_rounds(void **state)
{
	(void)state;
	static const char *const where[] = { "127.0.0.1", "::1" };
	for (size_t i = 0; i < COUNT(where); i++) {
		struct host h;
		struct caller k;
		struct usk_probe_round round;
		if (!host_listen(&h, where[i])) {
			continue;
		}
		h.distortion = (struct usk_probe_distortion){ .offset_ns = -77 * SECOND };
		host_start(&h, 1000);
		call(&k, where[i], port_of(&h));
		for (int j = 0; j < 3; j++) {
			usk_probe_round(&k.c, &k.s, &k.how, &round);
			assert_true(round.known && round.spaced && !round.stopped);
			assert_true(!round.set && !round.anew);
			assert_int_equal(round.n_kept, 4);
			assert_int_equal(round.lost, 0);
			assert_true(round.trip_ns >= 0);
			/* One clock: here is there and 77 s. */
			int64_t truth = round.stamps.remote + 77 * SECOND;
			assert_true(round.stamps.before <= truth && truth <= round.stamps.after);
		}
		assert_int_equal(k.c.count[USK_PROBE_TAKEN], 3 * 5);
		/* One that comes anew in the middle knows no session: the round goes on all the
		 * same. */
		host_stop(&h);
		host_start(&h, 1000);
		usk_probe_round(&k.c, &k.s, &k.how, &round);
		assert_true(round.known && round.attempts == 2 && round.anew);
		/* This side's clock was set since: what the round before saw is another clock's. */
		k.c.steady.lo_ns += 1000 * SECOND;
		k.c.steady.hi_ns += 1000 * SECOND;
		usk_probe_round(&k.c, &k.s, &k.how, &round);
		assert_true(round.known && round.set && !round.anew && round.attempts == 1);
		host_stop(&h);
		assert_true(h.counts.verdict[USK_PROBE_WELCOMED] > 0);
		assert_int_equal(h.counts.verdict[USK_PROBE_ANSWERED], 2 * 5);
		usk_probe_close(&k.s);
		usk_probe_close(&h.s[0]);
	}
}

/* Eight answers at once, then one a minute: a burst of four and one, then three. */
static void test_limited(void **state)
{
	(void)state;
	struct host h;
	struct caller k;
	struct usk_probe_round round;
	assert_true(host_listen(&h, "127.0.0.1"));
	host_start(&h, 1 / 60.0);
	call(&k, "127.0.0.1", port_of(&h));
	k.how.timeout_ns = SECOND / 5;
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(round.known);
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(round.lost > 0);
	host_stop(&h);
	assert_true(h.counts.verdict[USK_PROBE_LIMITED] > 0);
	assert_true(h.counts.verdict[USK_PROBE_ANSWERED] <= 8);
	assert_true(h.counts.verdict[USK_PROBE_WELCOMED] <= 8);
	usk_probe_close(&k.s);
	usk_probe_close(&h.s[0]);
}

static void test_alone(void **state)
{
	(void)state;
	struct host h;
	struct caller k;
	struct usk_probe_round round;
	assert_true(host_listen(&h, "127.0.0.1"));
	uint16_t port = port_of(&h);
	call(&k, "127.0.0.1", port);
	k.how.timeout_ns = SECOND / 50;
	/* A port that is open and silent. */
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(!round.known && !round.refused && round.attempts == 3);
	/* Told to stop, it does so at once. */
	int stop[2];
	assert_int_equal(pipe(stop), 0);
	assert_int_equal(write(stop[1], "", 1), 1);
	k.how.stop_fd = stop[0];
	k.how.timeout_ns = 60 * SECOND;
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(round.stopped && !round.known);
	k.how.stop_fd = -1;
	k.how.timeout_ns = SECOND / 50;
	/* Closed, it is told at once. */
	usk_probe_close(&h.s[0]);
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(!round.known && round.refused);
	struct usk_err err;
	bool loopback;
	struct usk_probe_socket s;
	assert_int_equal(usk_probe_connect("127.0.0.1", port, 1, NULL, &s, &loopback, &err),
			 USK_EIO);
	close(stop[0]);
	close(stop[1]);
	usk_probe_close(&k.s);
}

/* What the card did not stamp counts for nothing: the kernel's clock is another one. */
static void test_card(void **state)
{
	(void)state;
	struct host h;
	struct caller k;
	struct usk_probe_round round;
	assert_true(host_listen(&h, "127.0.0.1"));
	host_start(&h, 1000);
	call(&k, "127.0.0.1", port_of(&h));
	k.how.timeout_ns = SECOND / 50;
	k.s.card = true;
	usk_probe_round(&k.c, &k.s, &k.how, &round);
	assert_true(!round.known && round.attempts == 3);
	host_stop(&h);
	usk_probe_close(&k.s);
	usk_probe_close(&h.s[0]);
}

static void test_places(void **state)
{
	(void)state;
	assert_true(usk_probe_is_loopback("127.0.0.1"));
	assert_true(usk_probe_is_loopback("127.9.9.9"));
	assert_true(usk_probe_is_loopback("::1"));
	assert_true(usk_probe_is_loopback("::ffff:127.0.0.1"));
	assert_false(usk_probe_is_loopback("192.0.2.1"));
	assert_false(usk_probe_is_loopback("0.0.0.0"));
	assert_false(usk_probe_is_loopback("::"));
	assert_false(usk_probe_is_loopback("::ffff:192.0.2.1"));
	assert_false(usk_probe_is_loopback("2001:db8::1"));
	assert_false(usk_probe_is_loopback(NULL));
}

static void test_distortion(void **state)
{
	(void)state;
	static const struct {
		struct usk_probe_distortion d;
		int64_t ns, want;
	} cases[] = {
		{ { 0, 0, 0 }, 12345, 12345 },
		{ { 5, 0, 1000 }, 12345, 12350 },
		{ { 0, 80000000, 1000 }, 1000000001000, 1000080001000 },
		{ { 0, 80000000, 1000 }, 999, 998 }, /* -0.00008, rounded down */
		{ { 3600 * SECOND, -80000000, 0 }, SECOND, 3601 * SECOND - 80000 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(usk_probe_distort(&cases[i].d, cases[i].ns), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds), cmocka_unit_test(test_limited),
		cmocka_unit_test(test_alone),  cmocka_unit_test(test_places),
		cmocka_unit_test(test_card),   cmocka_unit_test(test_distortion),
	};
	struct usk_err err;
	if (usk_probe_ready(&err)) {
		printf("%s\n", err.msg);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
