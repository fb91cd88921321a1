/* SPDX-License-Identifier: MIT */
/*
 * CTF traces of two hosts: messages out of the kernel's network events, and clocks of any frequency.
 * Events by key are in test_ctf_keys.c, damage in test_ctf_damage.c.
 */
#include "../part.h"
#include "ctf_folder.h"
#include "ctf_making.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START INT64_C(1700000000000000000)
#define US    INT64_C(1000)
#define MS    INT64_C(1000000)

struct list {
	struct usk_msg *msg;
	size_t n, cap;
};

static bool keep(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct list *l = ctx;
	for (size_t i = 0; i < n; i++) {
		l->msg = usk_room(l->msg, l->n, &l->cap, sizeof *l->msg);
		l->msg[l->n++] = msg[i];
	}
	return true;
}

static bool clear(void *ctx)
{
	((struct list *)ctx)->n = 0;
	return true;
}

/* The messages of two folders, sorted; by the names of their clocks, from and to are a 0, b 1. */
static struct usk_clocks *sync_two(const char *a, const char *b, const struct usk_read_options *opt,
				   struct list *l)
{
	struct usk_trace *t[2] = { ctf_open(a, opt), ctf_open(b, opt) };
	struct usk_sink sink = { .ctx = l, .start = clear, .put = keep };
	struct usk_sync_options o = {
		.max_outliers = 0, .from_ns = USK_NONE, .to_ns = USK_NONE, .messages = &sink
	};
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	if (usk_sync(t, 2, &o, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	if (l->n) {
		qsort(l->msg, l->n, sizeof *l->msg, usk_msg_order);
	}
	usk_trace_close(t[0]);
	usk_trace_close(t[1]);
	return c;
}

static void expect(const struct list *ours, struct list *theirs)
{
	assert_int_equal(ours->n, theirs->n);
	qsort(theirs->msg, theirs->n, sizeof *theirs->msg, usk_msg_order);
	for (size_t i = 0; i < ours->n; i++) {
		if (usk_msg_order(&ours->msg[i], &theirs->msg[i]) ||
		    ours->msg[i].bytes != theirs->msg[i].bytes) {
			fail_msg("message %zu: %lld to %lld, not %lld to %lld", i,
				 (long long)ours->msg[i].sent_ns,
				 (long long)ours->msg[i].received_ns,
				 (long long)theirs->msg[i].sent_ns,
				 (long long)theirs->msg[i].received_ns);
		}
	}
}

/* ---- network events ------------------------------------------------------------------------ */

/* Two machines in the making: b's clock shows b_minus_a more. Times are cycles of 1 ns. */
struct pair {
	struct ctf host[2];
	int64_t b_minus_a_ns;
	struct usk_rng rng;
	struct list expected;
};

static const int64_t boot_ns[] = { START, START - 777 * MS };

/* A stamp of a host's clock, and the cycles that make it. */
static uint64_t cycles(const struct pair *p, int host, int64_t true_ns, int64_t *stamp)
{
	*stamp = true_ns + (host ? p->b_minus_a_ns : 0);
	return (uint64_t)(*stamp - boot_ns[host]);
}

static int any_cpu(struct pair *p)
{
	return (int)usk_rng_below(&p->rng, CTF_CPUS);
}

/* One packet from a host to the other, recorded in any of the ways that kernels have. */
static void deliver(struct pair *p, int from, int64_t true_ns, const struct packet *packet)
{
	struct usk_msg m = { .from = (uint32_t)from,
			     .to = (uint32_t)!from,
			     .bytes = packet->payload };
	int64_t delay = 50 * US + (int64_t)usk_rng_below(&p->rng, 100 * US), other;
	uint64_t buffer = UINT64_C(0xffff888000000000) + usk_rng_below(&p->rng, 50) * 256;
	struct ctf *sender = &p->host[from], *receiver = &p->host[!from];
	ctf_network(sender, any_cpu(p), cycles(p, from, true_ns, &m.sent_ns), CTF_QUEUE, buffer,
		    packet, NULL);
	if (usk_rng_below(&p->rng, 4) == 0) { /* a bridge below the first device */
		ctf_network(sender, any_cpu(p), cycles(p, from, true_ns + US, &other), CTF_QUEUE,
			    buffer, packet, "br0");
	}
	struct packet arrived = *packet;
	arrived.ttl = 61;
	int64_t at = true_ns + delay;
	switch (usk_rng_below(&p->rng, 4)) {
	case 0: /* the headers come later than the packet */
		ctf_network(receiver, any_cpu(p), cycles(p, !from, at, &m.received_ns), CTF_ENTRY,
			    buffer, &arrived, NULL);
		at += 3 * US;
		ctf_network(receiver, any_cpu(p), cycles(p, !from, at, &other), CTF_RECEIVE, buffer,
			    &arrived, NULL);
		break;
	case 1: /* from one processor's queue to another's */
		ctf_network(receiver, any_cpu(p), cycles(p, !from, at, &m.received_ns), CTF_RX,
			    buffer, &arrived, NULL);
		at += 4 * US;
		ctf_network(receiver, any_cpu(p), cycles(p, !from, at, &other), CTF_RECEIVE, buffer,
			    &arrived, NULL);
		break;
	default:
		ctf_network(receiver, any_cpu(p), cycles(p, !from, at, &m.received_ns), CTF_RECEIVE,
			    buffer, &arrived, NULL);
	}
	keep(&p->expected, &m, 1);
}

static void test_network(void **state)
{
	(void)state;
	const int messages = cases_are_few() ? 100 : 400; /* each takes valgrind a while */
	/* The first and the last differ in all that any two do. */
	for (int round = 0; round < 8; round += cases_are_few() ? 7 : 1) {
		struct pair p = { .b_minus_a_ns = round % 2 ? -86400000 * MS : 12 * MS };
		usk_rng_seed(&p.rng, (uint64_t)round);
		char *path[2] = { ctf_folder("a"), ctf_folder("b") };
		p.host[0] = ctf_begin(path[0], "a", 1000000000, boot_ns[0]);
		p.host[1] = ctf_begin(path[1], "b", 1000000000, boot_ns[1]);
		p.host[0].old = round == 2 || round == 6;
		p.host[1].old = round == 3 || round > 5;
		/* b was up long enough to have been behind all the time. */
		int64_t now = START + 90000000 * MS;
		struct packet way[2] = {
			{ .src = 1,
			  .dst = 2,
			  .sport = 1000,
			  .dport = 80,
			  .flags = ACK | PSH,
			  .seq = 0xfffff000,
			  .ack = 5,
			  .timestamps = round % 3 != 0,
			  .v6 = round > 3 },
			{ .src = 2,
			  .dst = 1,
			  .sport = 80,
			  .dport = 1000,
			  .flags = ACK,
			  .seq = 5,
			  .ack = 0xfffff000,
			  .window = 500,
			  .timestamps = round % 3 != 0,
			  .v6 = round > 3 },
		};
		for (int i = 0; i < messages; i++) {
			int from = i % 2;
			struct packet *x = &way[from];
			x->payload = from ? 0 : 1 + (uint32_t)usk_rng_below(&p.rng, 1448);
			x->ip_id++;
			x->tsval = (uint32_t)i;
			deliver(&p, from, now, x);
			x->seq += x->payload;
			way[!from].ack = x->seq;
			now += MS;
			for (int k = 0; k < 5; k++) {
				int64_t stamp;
				int host = k % 2;
				ctf_noise(&p.host[host], any_cpu(&p),
					  cycles(&p, host, now, &stamp));
				ctf_network(&p.host[host], any_cpu(&p),
					    cycles(&p, host, now + k, &stamp), CTF_QUEUE, 7, x,
					    "lo");
				now += 10;
			}
			if (i % 50 == 49) {
				ctf_flush(&p.host[from], i % CTF_CPUS, 0);
			}
		}
		ctf_end(&p.host[0]);
		ctf_end(&p.host[1]);
		struct list l = { 0 };
		struct usk_clocks *c = sync_two(path[0], path[1], NULL, &l);
		assert_string_equal(c->trace[0].kind, "ctf");
		assert_int_equal(c->pair[0].evidence.link, messages);
		assert_int_equal(c->counts.ambiguous, 0);
		expect(&l, &p.expected);
		usk_clocks_free(c);
		free(l.msg);
		free(p.expected.msg);
		for (int i = 0; i < 2; i++) {
			ctf_remove(path[i]);
			free(path[i]);
		}
	}
}

/* An early stamp is of use only for a while, and not where events were discarded. */
static void test_early(void **state)
{
	(void)state;
	static const struct {
		int64_t later_ns;
		uint64_t discarded;
		bool early;
	} cases[] = { { 5 * US, 0, true },
		      { 9 * MS, 0, true },
		      { 11 * MS, 0, false },
		      { 5 * US, 3, false } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *path = ctf_folder("early");
		struct ctf c = ctf_begin(path, "a", 1000000000, START);
		struct packet x = { .src = 1, .dst = 2, .flags = ACK, .payload = 10 };
		ctf_network(&c, 0, 1000, CTF_ENTRY, 99, &x, NULL);
		if (cases[i].discarded) {
			ctf_flush(&c, 0, 0);
		}
		uint64_t at = 1000 + (uint64_t)cases[i].later_ns;
		ctf_network(&c, 0, at, CTF_RECEIVE, 99, &x, NULL);
		ctf_interface(&c, 1, 2000, 0x0a000001);
		ctf_interface(&c, 1, 2001, 0x7f000001);
		if (cases[i].discarded) {
			ctf_flush(&c, 0, cases[i].discarded);
		}
		ctf_end(&c);
		struct usk_trace *t = ctf_open(path, NULL);
		struct usk_record r[4];
		struct usk_err err;
		size_t n;
		assert_int_equal(usk_trace_records(t, r, 4, &n, &err), USK_OK);
		assert_int_equal(n, 1);
		assert_int_equal(r[0].time_ns, START + (cases[i].early ? 1000 : (int64_t)at));
		assert_int_equal(r[0].side, USK_SIDE_RECEIVED);
		assert_int_equal(r[0].length, 50);
		assert_int_equal(usk_trace_records(t, r, 4, &n, &err), USK_OK);
		assert_int_equal(n, 0);
		const struct usk_iface *f = usk_trace_ifaces(t, &n);
		assert_int_equal(f->n_addrs, 1);
		char text[46];
		usk_addr_text(f->addr[0], text);
		assert_string_equal(text, "10.0.0.1");
		const char *damage = usk_trace_damage(t);
		assert_true(cases[i].discarded ? damage && strstr(damage, "discarded 3 events")
					       : !damage);
		usk_trace_close(t);
		ctf_remove(path);
		free(path);
	}
}

/* What other protocols have of use. */
static void test_protocols(void **state)
{
	(void)state;
	static const struct {
		struct packet p;
		bool kept;
	} cases[] = {
		{ { .src = 1, .dst = 2, .flags = SYN, .ip_options = 2 }, true },
		{ { .src = 1, .dst = 2, .proto = UDP, .ip_id = 7, .payload = 20 }, true },
		{ { .src = 1, .dst = 2, .proto = UDP, .payload = 20 }, false },
		{ { .src = 1, .dst = 2, .proto = ICMP, .seq = 8, .payload = 20 }, true },
		{ { .src = 1, .dst = 2, .v6 = true, .flags = ACK, .payload = 20 }, true },
		{ { .src = 1, .dst = 2, .v6 = true, .proto = UDP, .payload = 20 }, false },
		{ { .src = 1, .dst = 2, .proto = GRE, .payload = 20 }, false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *path = ctf_folder("protocols");
		struct ctf c = ctf_begin(path, NULL, 1000000000, START);
		struct packet p = cases[i].p;
		p.ip_options = 0; /* the events have none, but say how many there were */
		ctf_network(&c, 0, 1000, CTF_QUEUE, 99, &p, NULL);
		ctf_end(&c);
		struct usk_trace *t = ctf_open(path, NULL);
		struct usk_record r;
		struct usk_packet got, plain;
		struct usk_counts left_out = { 0 };
		size_t n;
		assert_int_equal(usk_trace_records(t, &r, 1, &n, NULL), USK_OK);
		if (n != cases[i].kept) {
			fail_msg("case %zu: %zu records", i, n);
		}
		if (n) {
			/* As a capture of the same packet is decoded. */
			struct bytes wire = { .big = true };
			p.link = LINK_RAW;
			struct usk_record whole = { .time_ns = START + 1000,
						    .side = USK_SIDE_SENT };
			whole.length = packet_bytes(&p, &wire);
			whole.captured = (uint32_t)wire.n;
			whole.data = wire.data;
			assert_true(usk_packet_decode(&r, 101, (struct usk_depth){ 28, 0 }, &got,
						      &left_out));
			assert_true(usk_packet_decode(&whole, 101, (struct usk_depth){ 28, 0 },
						      &plain, &left_out));
			assert_int_equal(got.key, plain.key);
			assert_int_equal(got.time_ns, plain.time_ns);
			assert_int_equal(got.bytes, plain.bytes);
			assert_int_equal(got.ip_id, plain.ip_id);
			assert_int_equal(got.ttl, plain.ttl);
			assert_int_equal(got.flags, plain.flags);
			assert_int_equal(got.sport, plain.sport);
			assert_true(usk_addr_same(got.src, plain.src));
			assert_true(usk_addr_same(got.dst, plain.dst));
			assert_int_equal(got.side, USK_SIDE_SENT);
			bytes_free(&wire);
		}
		usk_trace_close(t);
		ctf_remove(path);
		free(path);
	}
}

/* ---- clocks --------------------------------------------------------------------------------- */

/* Cycles of any rate are ns, rounded down, exactly. */
static void test_frequencies(void **state)
{
	(void)state;
	static const uint64_t hz[] = { 1000000000, 1000000, 32768, 2394454000, 3 };
	static const int64_t resolution[] = { 0, 1000, 30518, 0, 333333334 };
	static const char *send = "msg:send{text}";
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	for (size_t i = 0; i < COUNT(hz); i++) {
		char *path = ctf_folder("hz");
		struct ctf c = ctf_begin(path, "a", hz[i], 0);
		uint64_t at[5] = { 0, 1, hz[i] / 2, hz[i] * 7 + 1, hz[i] * 1000000000 + hz[i] - 1 };
		for (size_t k = 0; k < COUNT(at) && (k < 4 || hz[i] < 10000000000); k++) {
			ctf_message(&c, 0, at[k], true, 1, 1, "x", 0);
		}
		ctf_end(&c);
		struct usk_trace *t = ctf_open(path, &o);
		struct usk_event e[8];
		size_t n, more;
		struct usk_err err = { 0 };
		assert_int_equal(usk_trace_sides(t, e, 8, &n, &err), USK_OK);
		assert_int_equal(n, 5);
		assert_int_equal(usk_trace_sides(t, e, 0, &more, &err), USK_OK);
		for (size_t k = 0; k < n; k++) {
			usk_u128 ns = (usk_u128)at[k] * 1000000000 / hz[i];
			assert_int_equal(e[k].time_ns, (int64_t)ns);
		}
		assert_int_equal(usk_trace_sides(t, e, 8, &n, &err), USK_OK);
		size_t n_ifaces;
		assert_int_equal(usk_trace_ifaces(t, &n_ifaces)->resolution_ns, resolution[i]);
		usk_trace_close(t);
		ctf_remove(path);
		free(path);
	}
}

/* Packets that begin before the last one ended, as LTTng 2.1 wrote them. */
static void test_overlap(void **state)
{
	(void)state;
	static const char *send = "msg:send{text}";
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	char *path = ctf_folder("overlap");
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	c.early = 1500;
	for (int i = 0; i < 3000; i++) {
		ctf_message(&c, i * 7 % CTF_CPUS, 10000 + (uint64_t)i * 100, true, 1, 1, "x", 0);
		if (i % 31 == 30) {
			ctf_flush(&c, i % CTF_CPUS, 0);
		}
	}
	ctf_end(&c);
	struct usk_trace *t = ctf_open(path, &o);
	struct usk_event e[64];
	int64_t expected = START + 10000;
	size_t all = 0;
	for (size_t n = 1; n; all += n) {
		assert_int_equal(usk_trace_sides(t, e, 64, &n, NULL), USK_OK);
		for (size_t i = 0; i < n; i++, expected += 100) {
			assert_int_equal(e[i].time_ns, expected);
		}
	}
	assert_int_equal(all, 3000);
	assert_null(usk_trace_damage(t));
	usk_trace_close(t);
	ctf_remove(path);
	free(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),	  cmocka_unit_test(test_early),
		cmocka_unit_test(test_protocols), cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_overlap),
	};
	return cmocka_run_group_tests(tests, ctf_folders_make, ctf_folders_remove);
}
