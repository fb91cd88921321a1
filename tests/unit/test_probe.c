/* SPDX-License-Identifier: MIT */
/* Packets of probes, keys, what a server answers and what a client believes. */
#include "probe/probe.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static const struct usk_probe_key no_key;

static void fill(struct usk_rng *r, void *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		((uint8_t *)to)[i] = (uint8_t)usk_rng_next(r);
	}
}

static int64_t any_time(struct usk_rng *r)
{
	return (int64_t)usk_rng_below(r, 1ull << 62) - (1ll << 61);
}

static struct usk_probe_packet any_packet(struct usk_rng *r)
{
	struct usk_probe_packet p = { .type = (enum usk_probe_type)(1 + usk_rng_below(r, 4)),
				      .sequence = usk_rng_next(r) | 1 };
	fill(r, p.session, sizeof p.session);
	if (p.type == USK_PROBE_COOKIES || p.type == USK_PROBE_ASK) {
		fill(r, p.cookie, sizeof p.cookie);
		fill(r, p.life, p.type == USK_PROBE_COOKIES ? sizeof p.life : 0);
	} else if (p.type == USK_PROBE_ANSWER) {
		p.received.ns = any_time(r);
		p.received.kind = (enum usk_probe_kind)usk_rng_below(r, 3);
		p.before_ns = any_time(r);
		for (int i = 0; i < USK_PROBE_GONE; i++) {
			if (usk_rng_below(r, 2)) {
				p.gone[i].sequence = usk_rng_next(r) | 1;
				p.gone[i].at.ns = any_time(r);
				p.gone[i].at.kind = (enum usk_probe_kind)usk_rng_below(r, 3);
			}
		}
	}
	return p;
}

/* What goes out comes in the same; no other length, and no byte that means nothing. */
static void test_wire(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	for (int i = 0; i < 3000; i++) {
		uint8_t data[USK_PROBE_BYTES + 1], again[USK_PROBE_BYTES];
		struct usk_probe_packet p = any_packet(&r), q;
		usk_probe_encode(&p, data);
		assert_true(usk_probe_decode(data, USK_PROBE_BYTES, &q));
		usk_probe_encode(&q, again);
		assert_memory_equal(data, again, USK_PROBE_BYTES);
		assert_int_equal(q.type, p.type);
		assert_int_equal(q.received.ns, p.received.ns);
		assert_memory_equal(q.life, p.life, sizeof p.life);
		assert_false(usk_probe_decode(data, usk_rng_below(&r, USK_PROBE_BYTES), &q));
		data[USK_PROBE_BYTES] = 0;
		assert_false(usk_probe_decode(data, sizeof data, &q));
		/* Any change is refused, or told again by the same bytes. */
		data[usk_rng_below(&r, USK_PROBE_BYTES - USK_PROBE_TAG)] ^=
			(uint8_t)(1 << usk_rng_below(&r, 8));
		if (usk_probe_decode(data, USK_PROBE_BYTES, &q)) {
			usk_probe_encode(&q, again);
			assert_memory_equal(data, again, USK_PROBE_BYTES);
		}
	}
}

/* ---- keys -------------------------------------------------------------------------- */

static char *key_file(const char *text, mode_t mode)
{
	char *path = usk_strdup("/tmp/unskew-key-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static void test_key_files(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		mode_t mode;
		const char *says; /* NULL: it is good */
	} cases[] = {
		{ "correct horse battery staple\n", 0600, NULL },
		{ "correct horse battery staple\n", 0400, NULL },
		{ "0123456789abcdef0123456789abcdef", 0600, NULL },
		{ "correct horse battery staple\n", 0640, "others can read" },
		{ "correct horse battery staple\n", 0602, "others can read" },
		{ "fifteen bytes..", 0600, "15 bytes can be guessed" },
		{ "", 0600, "0 bytes" },
		{ "0123456789abcdef", 0600, "16 hexadecimal digits" },
		{ "abababababababababababababababababababab", 0600, "2 different" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_probe_key key;
		struct usk_err err = { 0 };
		char *path = key_file(cases[i].text, cases[i].mode);
		enum usk_status status = usk_probe_key_read(path, &key, &err);
		if (!cases[i].says != !status || (status && !strstr(err.msg, cases[i].says))) {
			fail_msg("case %zu: %s", i, err.msg);
		}
		unlink(path);
		free(path);
	}
	struct usk_probe_key key;
	struct usk_err err;
	assert_true(usk_probe_key_read("/tmp", &key, &err));
	assert_true(usk_probe_key_read("/nonexistent/key", &key, &err));
}

static struct usk_probe_key new_key(void)
{
	struct usk_probe_key key;
	struct usk_err err = { 0 };
	struct stat s;
	char *path = key_file("", 0600);
	unlink(path);
	assert_int_equal(usk_probe_key_make(path, &err), USK_OK);
	assert_int_equal(usk_probe_key_make(path, &err), USK_EIO);
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
	assert_int_equal(usk_probe_key_read(path, &key, &err), USK_OK);
	unlink(path);
	free(path);
	return key;
}

/* A tag holds for this key, this direction, these bytes. */
static void test_tags(void **state)
{
	(void)state;
	struct usk_probe_key a = new_key(), b = new_key();
	struct usk_rng r;
	usk_rng_seed(&r, 2);
	for (int i = 0; i < 500; i++) {
		uint8_t data[USK_PROBE_BYTES];
		struct usk_probe_packet p = any_packet(&r);
		usk_probe_encode(&p, data);
		usk_probe_seal(&a, data);
		assert_true(usk_probe_sealed(&a, data));
		assert_false(usk_probe_sealed(&b, data));
		assert_false(usk_probe_sealed(&no_key, data));
		size_t at = usk_rng_below(&r, USK_PROBE_BYTES);
		data[at] ^= (uint8_t)(1 << usk_rng_below(&r, 8));
		assert_false(usk_probe_sealed(&a, data));
	}
	assert_memory_not_equal(a.ask, a.answer, sizeof a.ask);
	assert_memory_not_equal(a.ask, b.ask, sizeof a.ask);
}

/* ---- a server, and clients of it, without a network -------------------------------------- */

struct wire {
	struct usk_probe_server *server;
	int64_t now_ns;
	struct usk_probe_peer from;
	uint8_t out[USK_PROBE_BYTES];
};

static enum usk_probe_verdict say_to(struct wire *w, const uint8_t *data, size_t n)
{
	struct usk_probe_heard heard = { .data = data,
					 .n = n,
					 .from = w->from,
					 .received = { w->now_ns + 5, USK_PROBE_KERNEL },
					 .before_ns = w->now_ns + 7,
					 .now_ns = w->now_ns };
	return usk_probe_serve(w->server, &heard, w->out);
}

static struct wire new_wire(const struct usk_probe_key *key, double each, double all)
{
	return (struct wire){ .server = usk_probe_server_new(key, each, all),
			      .now_ns = 1000 * SECOND,
			      .from = { { 0, UINT64_C(0xffff) << 32 | 0x0a000001 }, 5000 } };
}

static struct usk_probe_stamp here(int64_t ns)
{
	return (struct usk_probe_stamp){ ns, USK_PROBE_PROCESS };
}

static void open_session(struct wire *w, struct usk_probe_client *c)
{
	uint8_t packet[USK_PROBE_BYTES];
	usk_probe_hello(c, packet);
	assert_int_equal(say_to(w, packet, sizeof packet), USK_PROBE_WELCOMED);
	assert_int_equal(usk_probe_take(c, w->out, sizeof w->out, here(0)), USK_PROBE_COOKIE_TAKEN);
	assert_true(c->open);
}

static void test_exchange(void **state)
{
	(void)state;
	struct usk_probe_key key = new_key();
	const struct usk_probe_key *keys[] = { &no_key, &key };
	for (int k = 0; k < 2; k++) {
		struct wire w = new_wire(keys[k], 1000, 1000);
		struct usk_probe_client c;
		uint8_t packet[USK_PROBE_BYTES], first[USK_PROBE_BYTES];
		usk_probe_client_init(&c, keys[k]);
		open_session(&w, &c);
		usk_probe_ask(&c, here(1), packet);
		assert_int_equal(say_to(&w, packet, sizeof packet), USK_PROBE_ANSWERED);
		memcpy(first, w.out, sizeof first);
		struct usk_probe_stamp gone = { w.now_ns + 11, USK_PROBE_KERNEL };
		usk_probe_server_gone(w.server, w.out, &w.from, gone);
		assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(9)), USK_PROBE_TAKEN);
		assert_int_equal(c.asked[0].t3.ns, w.now_ns + 7);
		/* When it left is in the next one. */
		usk_probe_ask(&c, here(12), packet);
		assert_int_equal(say_to(&w, packet, sizeof packet), USK_PROBE_ANSWERED);
		assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(19)),
				 USK_PROBE_TAKEN);
		assert_int_equal(c.asked[0].t3.ns, w.now_ns + 11);
		assert_int_equal(c.asked[0].t3.kind, USK_PROBE_KERNEL);
		assert_int_equal(c.asked[1].t3.kind, USK_PROBE_PROCESS);
		/* Twice, late, of another session, cut short. */
		assert_int_equal(usk_probe_take(&c, first, sizeof first, here(20)),
				 USK_PROBE_NOT_ASKED);
		usk_probe_burst(&c);
		assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(20)),
				 USK_PROBE_NOT_ASKED);
		assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out - 1, here(20)),
				 USK_PROBE_NOT_OURS);
		/* An ask is no answer, whoever sends it back. */
		assert_int_equal(usk_probe_take(&c, packet, sizeof packet, here(20)),
				 USK_PROBE_NOT_OURS);
		usk_probe_server_free(w.server);
	}
}

static void test_forged(void **state)
{
	(void)state;
	struct usk_probe_key key = new_key(), other = new_key();
	struct wire w = new_wire(&key, 1000, 1000);
	struct usk_probe_client c, liar;
	uint8_t packet[USK_PROBE_BYTES];
	usk_probe_client_init(&c, &key);
	usk_probe_client_init(&liar, &other);
	usk_probe_hello(&liar, packet);
	assert_int_equal(say_to(&w, packet, sizeof packet), USK_PROBE_FORGED);
	open_session(&w, &c);
	struct usk_rng r;
	usk_rng_seed(&r, 3);
	for (int i = 0; i < 200; i++) {
		usk_probe_burst(&c);
		usk_probe_ask(&c, here(1), packet);
		size_t at = usk_rng_below(&r, sizeof packet);
		packet[at] ^= 1;
		enum usk_probe_verdict v = say_to(&w, packet, sizeof packet);
		assert_true(v == USK_PROBE_FORGED || v == USK_PROBE_MALFORMED);
		packet[at] ^= 1;
		assert_int_equal(say_to(&w, packet, sizeof packet), USK_PROBE_ANSWERED);
		w.out[at] ^= 1;
		enum usk_probe_taken t = usk_probe_take(&c, w.out, sizeof w.out, here(9));
		assert_true(t == USK_PROBE_NOT_SEALED || t == USK_PROBE_NOT_OURS);
		assert_false(c.asked[0].answered);
		w.now_ns += SECOND / 50;
	}
	usk_probe_server_free(w.server);
}

static void test_replayed(void **state)
{
	(void)state;
	struct wire w = new_wire(&no_key, 100000, 100000);
	struct usk_probe_client c;
	uint8_t packet[100][USK_PROBE_BYTES], again[USK_PROBE_BYTES];
	usk_probe_client_init(&c, &no_key);
	open_session(&w, &c);
	for (int i = 0; i < 100; i++) {
		usk_probe_burst(&c);
		usk_probe_ask(&c, here(1), packet[i]);
	}
	/* Out of order within 64 of the newest; older ones may have come before. */
	assert_int_equal(say_to(&w, packet[99], sizeof again), USK_PROBE_ANSWERED);
	for (int i = 98; i >= 0; i--) {
		assert_int_equal(say_to(&w, packet[i], sizeof again),
				 i > 99 - 64 ? USK_PROBE_ANSWERED : USK_PROBE_REPLAYED);
	}
	for (int i = 0; i < 100; i++) {
		assert_int_equal(say_to(&w, packet[i], sizeof again), USK_PROBE_REPLAYED);
	}
	/* From elsewhere the cookie is worth nothing: one is offered, of the same size. */
	w.from.port++;
	usk_probe_burst(&c);
	usk_probe_ask(&c, here(1), again);
	assert_int_equal(say_to(&w, again, sizeof again), USK_PROBE_WELCOMED);
	w.from.port--;
	/* Later too, once others have driven out the session: then what it saw is forgotten. */
	for (int i = 0; i < 8; i++) {
		w.from.port = (uint16_t)(6000 + i);
		w.now_ns++;
		open_session(&w, &c);
		usk_probe_ask(&c, here(1), again);
		assert_int_equal(say_to(&w, again, sizeof again), USK_PROBE_ANSWERED);
	}
	w.from.port = 5000;
	assert_int_equal(say_to(&w, packet[99], sizeof again), USK_PROBE_WELCOMED);
	usk_probe_server_free(w.server);
}

/* Once its clock is set, a server answers no ask from before, and its clients are told. */
static void test_set(void **state)
{
	(void)state;
	struct wire w = new_wire(&no_key, 1000, 1000);
	struct usk_probe_client c;
	uint8_t ask[3][USK_PROBE_BYTES];
	usk_probe_client_init(&c, &no_key);
	open_session(&w, &c);
	for (int i = 0; i < 3; i++) {
		usk_probe_ask(&c, here(1), ask[i]);
	}
	assert_int_equal(say_to(&w, ask[0], sizeof ask[0]), USK_PROBE_ANSWERED);
	w.now_ns++;
	usk_probe_server_set(w.server, w.now_ns);
	assert_int_equal(say_to(&w, ask[1], sizeof ask[1]), USK_PROBE_WELCOMED);
	assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(9)), USK_PROBE_COOKIE_TAKEN);
	assert_true(c.there_set && !c.anew);
	c.there_set = false;
	w.now_ns++;
	usk_probe_burst(&c);
	usk_probe_ask(&c, here(1), ask[2]);
	assert_int_equal(say_to(&w, ask[2], sizeof ask[2]), USK_PROBE_WELCOMED);
	assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(9)), USK_PROBE_COOKIE_TAKEN);
	w.now_ns++;
	usk_probe_ask(&c, here(1), ask[2]);
	assert_int_equal(say_to(&w, ask[2], sizeof ask[2]), USK_PROBE_ANSWERED);
	assert_true(!c.there_set && !c.anew);
	/* Another process: that is no clock that was set. */
	usk_probe_server_free(w.server);
	w.server = usk_probe_server_new(&no_key, 1000, 1000);
	open_session(&w, &c);
	assert_true(!c.there_set && c.anew);
	usk_probe_server_free(w.server);
}

static void test_cookies_age(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++) {
		struct wire w = new_wire(&no_key, 1000, 1000);
		struct usk_probe_client c;
		uint8_t packet[USK_PROBE_BYTES];
		usk_probe_client_init(&c, &no_key);
		open_session(&w, &c);
		usk_probe_ask(&c, here(1), packet);
		w.now_ns += 60 * SECOND + late;
		assert_int_equal(say_to(&w, packet, sizeof packet),
				 late ? USK_PROBE_WELCOMED : USK_PROBE_ANSWERED);
		usk_probe_server_free(w.server);
	}
}

/* More clients than there is room for: whoever is forgotten gets a new cookie, and then an answer.
 */
static void test_many(void **state)
{
	(void)state;
	enum { CLIENTS = 5000, ROUNDS = 3 };
	struct wire w = new_wire(&no_key, 1000, 1e7);
	struct usk_probe_client *c = usk_alloc(CLIENTS, sizeof *c);
	size_t welcomed = 0;
	for (int i = 0; i < CLIENTS; i++) {
		usk_probe_client_init(&c[i], &no_key);
		w.from.addr = (struct usk_addr){ (uint64_t)i << 20, 1 };
		w.now_ns += 10000;
		open_session(&w, &c[i]);
	}
	for (int i = 0; i < ROUNDS * CLIENTS; i++) {
		struct usk_probe_client *one = &c[i % CLIENTS];
		uint8_t packet[USK_PROBE_BYTES];
		enum usk_probe_verdict verdict = USK_PROBE_WELCOMED;
		w.from.addr = (struct usk_addr){ (uint64_t)(i % CLIENTS) << 20, 1 };
		for (int tries = 0; tries < 2 && verdict == USK_PROBE_WELCOMED; tries++) {
			w.now_ns += 10000;
			usk_probe_burst(one);
			usk_probe_ask(one, here(1), packet);
			verdict = say_to(&w, packet, sizeof packet);
			(void)usk_probe_take(one, w.out, sizeof w.out, here(2));
			welcomed += verdict == USK_PROBE_WELCOMED;
		}
		assert_int_equal(verdict, USK_PROBE_ANSWERED);
		assert_true(one->asked[0].answered);
	}
	assert_true(welcomed > 0);
	free(c);
	usk_probe_server_free(w.server);
}

static enum usk_probe_verdict ask_from(struct wire *w, struct usk_probe_client *c, uint64_t host,
				       uint16_t port)
{
	uint8_t packet[USK_PROBE_BYTES];
	w->now_ns++;
	w->from = (struct usk_probe_peer){ { 0, UINT64_C(0xffff) << 32 | host }, port };
	if (!c->open) {
		open_session(w, c);
		return USK_PROBE_WELCOMED;
	}
	usk_probe_burst(c);
	usk_probe_ask(c, here(1), packet);
	return say_to(w, packet, sizeof packet);
}

/* Whoever opens sessions without end drives out its own; others' cookies stay good. */
static void test_driven_out(void **state)
{
	(void)state;
	enum { HERE = 0x0a000001, ROOM = 8, OTHERS = 4 };
	struct wire w = new_wire(&no_key, 1000, 1000);
	struct usk_probe_client c[ROOM + 2], other[OTHERS];
	int good = 0;
	for (uint16_t i = 0; i < ROOM + 2; i++) {
		usk_probe_client_init(&c[i], &no_key);
		ask_from(&w, &c[i], HERE, i);
	}
	for (uint32_t i = 0; i < OTHERS; i++) {
		usk_probe_client_init(&other[i], &no_key);
		ask_from(&w, &other[i], HERE + 1 + i, 1);
	}
	for (uint16_t i = 0; i < ROOM; i++) {
		assert_int_equal(ask_from(&w, &c[i], HERE, i), USK_PROBE_ANSWERED);
	}
	assert_int_equal(ask_from(&w, &c[ROOM], HERE, ROOM), USK_PROBE_ANSWERED);
	/* From now on a cookie of before is worth nothing, as it could be the forgotten one's. */
	assert_int_equal(ask_from(&w, &c[ROOM + 1], HERE, ROOM + 1), USK_PROBE_WELCOMED);
	assert_int_equal(ask_from(&w, &c[0], HERE, 0), USK_PROBE_WELCOMED);
	for (uint32_t i = 0; i < OTHERS; i++) {
		good += ask_from(&w, &other[i], HERE + 1 + i, 1) == USK_PROBE_ANSWERED;
	}
	/* One of them may have the same place by chance, but not all. */
	assert_true(good > 0);
	usk_probe_server_free(w.server);
}

/* A hello and asks that came before, sent again 2,000 times a second from the client's address:
 * all its asks are answered, and its next hello, too. */
static void test_flooded(void **state)
{
	(void)state;
	enum { ASKS = 200, A_STEP = 50 };
	struct usk_probe_key key = new_key();
	struct wire w = new_wire(&key, 50, 1000);
	struct usk_probe_client c;
	uint8_t hello[USK_PROBE_BYTES], ask[USK_PROBE_BYTES], lost[USK_PROBE_BYTES];
	usk_probe_client_init(&c, &key);
	/* One whose cookie was lost: it is asked for again. */
	open_session(&w, &c);
	memset(c.cookie, 0, sizeof c.cookie);
	usk_probe_ask(&c, here(1), lost);
	usk_probe_hello(&c, hello);
	assert_int_equal(say_to(&w, hello, sizeof hello), USK_PROBE_WELCOMED);
	assert_int_equal(usk_probe_take(&c, w.out, sizeof w.out, here(0)), USK_PROBE_COOKIE_TAKEN);
	int welcomed = 0;
	for (int i = 0; i < ASKS; i++) {
		usk_probe_burst(&c);
		usk_probe_ask(&c, here(1), ask);
		assert_int_equal(say_to(&w, ask, sizeof ask), USK_PROBE_ANSWERED);
		for (int k = 0; k < A_STEP; k++) {
			w.now_ns += SECOND / 2000;
			assert_int_equal(say_to(&w, ask, sizeof ask), USK_PROBE_REPLAYED);
			welcomed += say_to(&w, hello, sizeof hello) == USK_PROBE_WELCOMED;
			welcomed += say_to(&w, lost, sizeof lost) == USK_PROBE_WELCOMED;
		}
		if (i % 20 == 19) {
			open_session(&w, &c);
		}
	}
	/* 5 s, of each of the two a tenth of 50 a second, after eight at once. */
	assert_true(welcomed > 0 && welcomed <= 2 * (8 + 5 * 5));
	usk_probe_server_free(w.server);
}

/* Never more answers than the limits allow, for one address and for all. */
static void test_limits(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 4);
	struct wire w = new_wire(&no_key, 20, 50);
	struct usk_probe_client c;
	uint8_t packet[USK_PROBE_BYTES];
	usk_probe_client_init(&c, &no_key);
	const int64_t end = w.now_ns + 10 * SECOND;
	int one = 0, all = 0, n = 0;
	for (; w.now_ns < end; n++) {
		w.now_ns += (int64_t)usk_rng_below(&r, 2 * 1000000);
		bool mine = usk_rng_below(&r, 2);
		w.from.addr = (struct usk_addr){ mine ? 0x20010db8ull << 32 : usk_rng_next(&r),
						 usk_rng_next(&r) };
		usk_probe_hello(&c, packet);
		enum usk_probe_verdict verdict = say_to(&w, packet, sizeof packet);
		assert_true(verdict == USK_PROBE_WELCOMED || verdict == USK_PROBE_LIMITED);
		all += verdict == USK_PROBE_WELCOMED;
		one += verdict == USK_PROBE_WELCOMED && mine;
	}
	assert_true(n > 5000);
	assert_true(all <= 50 * 11 && all >= 50 * 10);
	assert_true(one <= 20 * 11);
	usk_probe_server_free(w.server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),	    cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_tags),	    cmocka_unit_test(test_exchange),
		cmocka_unit_test(test_forged),	    cmocka_unit_test(test_replayed),
		cmocka_unit_test(test_cookies_age), cmocka_unit_test(test_many),
		cmocka_unit_test(test_limits),	    cmocka_unit_test(test_driven_out),
		cmocka_unit_test(test_set),	    cmocka_unit_test(test_flooded),
	};
	struct usk_err err;
	if (usk_probe_ready(&err)) {
		printf("%s\n", err.msg);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
