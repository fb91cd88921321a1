/* SPDX-License-Identifier: MIT */
/* CTF traces: packets of the kernel's events, sides of messages by key rules, and what is damaged.
 */
#include "../part.h"
#include "base/io.h"
#include "ctf_making.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define START INT64_C(1700000000000000000)
#define US    INT64_C(1000)
#define MS    INT64_C(1000000)

static char base[] = "/tmp/unskew-test-ctf-XXXXXX";

static char *folder(const char *name)
{
	return usk_format("%s/%s", base, name);
}

static struct usk_trace *open_with(const char *path, const struct usk_read_options *opt)
{
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_with(path, NULL, opt, &t, &err)) {
		fail_msg("%s: %s", path, err.msg);
	}
	return t;
}

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
	struct usk_trace *t[2] = { open_with(a, opt), open_with(b, opt) };
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
	for (int round = 0; round < 8; round++) {
		struct pair p = { .b_minus_a_ns = round % 2 ? -86400000 * MS : 12 * MS };
		usk_rng_seed(&p.rng, (uint64_t)round);
		char *path[2] = { folder("a"), folder("b") };
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
		for (int i = 0; i < 400; i++) {
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
		assert_int_equal(c->pair[0].evidence.link, 400);
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
		char *path = folder("early");
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
		struct usk_trace *t = open_with(path, NULL);
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
		char *path = folder("protocols");
		struct ctf c = ctf_begin(path, NULL, 1000000000, START);
		struct packet p = cases[i].p;
		p.ip_options = 0; /* the events have none, but say how many there were */
		ctf_network(&c, 0, 1000, CTF_QUEUE, 99, &p, NULL);
		ctf_end(&c);
		struct usk_trace *t = open_with(path, NULL);
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

/* ---- key rules ------------------------------------------------------------------------------ */

static struct usk_event_id id_of(const char *text)
{
	return usk_event_id(text, strlen(text));
}

/* Texts of some length, hashed as they are longer than what is kept of one, which together are
 * longer than what is kept of an array. */
#define LONG(c)                                                                                    \
	c " is a text of some length, of which only a hash is kept, as it is longer than eighty "  \
	  "characters"
#define FILL60(c) c "23456789 123456789 123456789 123456789 123456789 123456789"

/* No two of them are the same in any field, but the last, which is the first once more. */
static const struct ctf_values arrays[] = {
	{ { "a", "b" }, { 1, 0 }, { 1, 0 }, { 0, 1 } },
	{ { "a", "c" }, { 1, 0x1p-1074 }, { 1, 0x1p-149F }, { 1, 0 } },
	{ { "", "ab" }, { 1 + 0x1p-52, 0 }, { 1 + 0x1p-23F, 0 }, { 0, 0, 1 } },
	{ { "ab" }, { 0, 1 }, { 0, 1 }, { 0, 0, 0, 1 } },
	{ { LONG("a"), "x" }, { 1 - 0x1p-53, 0 }, { 1 - 0x1p-24F, 0 }, { 65535 } },
	{ { LONG("a"), "y" }, { 0.1 }, { 0.1F }, { 1, 2, 3, 4 } },
	{ { LONG("b"), "y" }, { 0.1 + 0x1p-56 }, { 0.1F + 0x1p-27F }, { 4, 3, 2, 1 } },
	{ { FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"),
	    FILL60("1"), FILL60("1") },
	  { -1 },
	  { -1 },
	  { 12, 3 } },
	{ { FILL60("2"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"),
	    FILL60("1"), FILL60("1") },
	  { 1e300 },
	  { 1e30F },
	  { 1, 23 } },
	{ { FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"), FILL60("1"),
	    FILL60("1"), FILL60("2") },
	  { -0x1p-1074 },
	  { -0x1p-149F },
	  { 1, 2, 3 } },
	{ { "a", "b" }, { 1, 0 }, { 1, 0 }, { 0, 1 } },
};

/* Arrays are keys by all that they hold; what has no text is none. */
static void test_array_keys(void **state)
{
	(void)state;
	enum { EVENTS = COUNT(arrays) };
	static const struct {
		const char *field;
		size_t n;
	} keys[] = { { "names", EVENTS },
		     { "reals", EVENTS },
		     { "singles", EVENTS },
		     { "pairs", EVENTS },
		     { "inner", 0 } };
	char *path = folder("arrays");
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	for (unsigned i = 0; i < EVENTS; i++) {
		ctf_list(&c, 0, 10 + i, &arrays[i]);
	}
	ctf_end(&c);
	for (size_t i = 0; i < COUNT(keys); i++) {
		char rule[40];
		snprintf(rule, sizeof rule, "msg:list{%s}", keys[i].field);
		const char *send = rule, *receive = "msg:recv{text}";
		struct usk_read_options o = {
			.send = &send, .n_send = 1, .receive = &receive, .n_receive = 1
		};
		struct usk_trace *t = open_with(path, &o);
		struct usk_event e[EVENTS + 1];
		size_t n;
		assert_int_equal(usk_trace_sides(t, e, EVENTS + 1, &n, NULL), USK_OK);
		assert_int_equal(n, keys[i].n);
		for (size_t k = 0; k < n; k++) {
			for (size_t j = 0; j < k; j++) {
				bool same = !memcmp(&e[j].id, &e[k].id, sizeof e->id);
				if (same != (j == 0 && k == EVENTS - 1)) {
					fail_msg("%s of events %zu and %zu: %s key", keys[i].field,
						 j, k, same ? "one" : "more than one");
				}
			}
		}
		usk_trace_close(t);
	}
	ctf_remove(path);
	free(path);
}

static void test_keys(void **state)
{
	(void)state;
	char *path = folder("keys");
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	ctf_message(&c, 0, 10, true, 5, -3, "early", 1);
	ctf_whoami(&c, 1, 20, 5, "five");
	ctf_whoami(&c, 0, 30, 6, "six");
	ctf_message(&c, 2, 40, true, 5, -3, "x", 7);
	ctf_message(&c, 0, 50, false, 6, 4, "x", 0);
	ctf_whoami(&c, 0, 60, 6, "seven");
	ctf_message(&c, 1, 70, true, 6, -3, "x", 8);
	ctf_message(&c, 2, 80, true, 6, -3, "x", 9);
	ctf_message(&c, 2, 90, false, 6, -3, "a text that is longer than what is kept", 9);
	ctf_end(&c);
	static const struct {
		const char *send, *recv, *know;
		const char *ids[8]; /* in the order of time; NULL at their end */
	} cases[] = {
		{ "msg:send{channel,text}",
		  "msg:recv{text}",
		  NULL,
		  { "-3,early", "-3,x", "x", "-3,x", "-3,x", "" } },
		{ "msg:send{channel,#}",
		  "msg:recv{channel,#}",
		  NULL,
		  { "-3,0", "-3,1", "4,0", "-3,2", "-3,3", "-3,0" } },
		{ "msg:send{me,text}",
		  "msg:recv{text,me}",
		  "me=msg:whoami{name}",
		  { "five,x", "x,six", "seven,x", "seven,x", "" } },
		{ "msg:send{#}", "msg:recv{cpu_id}", NULL, { "0", "1", "0", "2", "3", "2" } },
		{ "msg:send{nothing}", "msg:recv{channel.x}", NULL, { NULL } },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_read_options o = { .send = &cases[i].send,
					      .n_send = 1,
					      .receive = &cases[i].recv,
					      .n_receive = 1,
					      .know = &cases[i].know,
					      .n_know = cases[i].know != NULL };
		struct usk_trace *t = open_with(path, &o);
		assert_int_equal(usk_trace_class(t), USK_TRACE_EVENTS);
		assert_string_equal(usk_trace_clock_name(t, 0), "keys");
		for (size_t batch = 1; batch < 8; batch += 3) {
			struct usk_event e[8];
			size_t at = 0;
			for (size_t n = 1; n; at += n) {
				assert_int_equal(usk_trace_sides(t, e, batch, &n, NULL), USK_OK);
				for (size_t k = 0; k < n; k++) {
					assert_non_null(cases[i].ids[at + k]);
					struct usk_event_id id = id_of(cases[i].ids[at + k]);
					if (*cases[i].ids[at + k] &&
					    memcmp(&id, &e[k].id, sizeof id) != 0) {
						fail_msg("case %zu: event %zu is \"%.16s\"", i,
							 at + k, (const char *)&e[k].id);
					}
				}
			}
			assert_null(cases[i].ids[at]);
			assert_int_equal(usk_trace_extent(t)->events, 9);
			assert_int_equal(usk_trace_extent(t)->first_ns, START + 10);
			assert_int_equal(usk_trace_extent(t)->last_ns, START + 90);
			assert_int_equal(usk_trace_rewind(t, NULL), USK_OK);
		}
		usk_trace_close(t);
	}
	static const char *const bad[] = {
		"",	 "x",	  "x{",	     "{a}",   "x{}",
		"x{a,}", "x{a}b", "x{a}{b}", "x{,a}", "x{a,b,c,d,e,f,g,h,i}"
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct usk_read_options o = { .send = &bad[i], .n_send = 1 };
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		assert_int_equal(usk_trace_open_with(path, NULL, &o, &t, &err), USK_EUSAGE);
		assert_non_null(strstr(err.msg, "EVENT{FIELD"));
	}
	static const char *const unknown[] = { "x{a}", "=x{a}", "r=x{a,b}", "r=x", "r={a}" };
	for (size_t i = 0; i < COUNT(unknown); i++) {
		struct usk_read_options o = { .know = &unknown[i], .n_know = 1 };
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		assert_int_equal(usk_trace_open_with(path, NULL, &o, &t, &err), USK_EUSAGE);
		assert_non_null(strstr(err.msg, "NAME=EVENT{FIELD}"));
	}
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	assert_int_equal(usk_trace_open(path, NULL, &t, &err), USK_OK);
	usk_trace_close(t);
	ctf_remove(path);
	free(path);
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
		char *path = folder("hz");
		struct ctf c = ctf_begin(path, "a", hz[i], 0);
		uint64_t at[5] = { 0, 1, hz[i] / 2, hz[i] * 7 + 1, hz[i] * 1000000000 + hz[i] - 1 };
		for (size_t k = 0; k < COUNT(at) && (k < 4 || hz[i] < 10000000000); k++) {
			ctf_message(&c, 0, at[k], true, 1, 1, "x", 0);
		}
		ctf_end(&c);
		struct usk_trace *t = open_with(path, &o);
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
	char *path = folder("overlap");
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	c.early = 1500;
	for (int i = 0; i < 3000; i++) {
		ctf_message(&c, i * 7 % CTF_CPUS, 10000 + (uint64_t)i * 100, true, 1, 1, "x", 0);
		if (i % 31 == 30) {
			ctf_flush(&c, i % CTF_CPUS, 0);
		}
	}
	ctf_end(&c);
	struct usk_trace *t = open_with(path, &o);
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

/* ---- damage --------------------------------------------------------------------------------- */

static void make_plain(const char *path, const char *hostname)
{
	struct ctf c = ctf_begin(path, hostname, 1000000000, START);
	for (int i = 0; i < 300; i++) {
		ctf_message(&c, i % 2, 10000 + (uint64_t)i * 100, true, 1, i, "x", 0);
		if (i % 40 > 37) {
			ctf_flush(&c, i % 2, 0);
		}
	}
	ctf_end(&c);
}

/* How many events of a plain trace's second stream a cut from its end costs: those it touches. */
static size_t lost_by(long cut)
{
	enum { HEADER = 76, EVENT = 24, EVENTS = 20, LAST = 10, PACKETS = 8 };
	size_t lost = 0;
	for (int i = 0; i < PACKETS && cut > 0; i++) {
		long events = i ? EVENTS : LAST, touched = (cut + EVENT - 1) / EVENT;
		/* Of the only packet there is nobody knows how long it should be. */
		bool all = i == PACKETS - 1 || touched > events;
		lost += (size_t)(all ? events : touched);
		cut -= HEADER + EVENT * events;
	}
	return lost;
}

static void overwrite(const char *path, const char *name, long at, const void *data, size_t n)
{
	char *file = usk_format("%s/%s", path, name);
	FILE *f = fopen(file, "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	free(file);
}

static void refuse_by(const char *send, const char *path, const char *says)
{
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	enum usk_status status = usk_trace_open_with(path, NULL, &o, &t, &err);
	if (status != USK_EINPUT || !strstr(err.msg, says) ||
	    strncmp(err.msg, path, strlen(path)) != 0 || strchr(err.msg, '\n')) {
		fail_msg("%s: %d, %s", says, status, err.msg);
	}
}

static void refuse(const char *path, const char *says)
{
	refuse_by("msg:send{channel}", path, says);
}

/* Metadata in packets: cut anywhere it is refused, and nothing waits for the rest. */
static void test_packed_metadata(const char *path)
{
	enum { PACKET = 1000 };
	for (int cut = 0; cut < 4; cut++) {
		make_plain(path, "a");
		char *file = usk_format("%s/metadata", path);
		struct usk_input in;
		struct bytes packed = { 0 };
		assert_int_equal(usk_input_open(&in, file, NULL, NULL), USK_OK);
		assert_int_equal(usk_input_all(&in, NULL), USK_OK);
		/* The text says of itself that it is text. */
		const char *text = memchr(in.data, '\n', in.have);
		size_t left = in.have - (size_t)(text - (const char *)in.data);
		for (size_t n; left; left -= n, text += n) {
			n = left < PACKET ? left : PACKET;
			put32(&packed, 0x75d11d57);
			for (int i = 0; i < 5; i++) {
				put32(&packed, 0);
			}
			put32(&packed, (uint32_t)(37 + n) * 8);
			put32(&packed, (uint32_t)(37 + n + 11) * 8);
			put(&packed, "\0\0\0\1\10", 5);
			put(&packed, text, n);
			put(&packed, "pad pad pad", 11);
		}
		usk_input_close(&in);
		FILE *f = fopen(file, "wb");
		static const size_t off[] = { 0, 1, 200, 1300 };
		assert_non_null(f);
		assert_int_equal(fwrite(packed.data, 1, packed.n - off[cut], f),
				 packed.n - off[cut]);
		assert_int_equal(fclose(f), 0);
		if (cut) {
			refuse(path, "metadata are cut short or damaged in the packet at byte");
		} else {
			static const char *send = "msg:send{channel}";
			struct usk_read_options o = { .send = &send, .n_send = 1 };
			usk_trace_close(open_with(path, &o));
		}
		bytes_free(&packed);
		free(file);
		ctf_remove(path);
	}
}

static void test_damage(void **state)
{
	(void)state;
	static const char *send = "msg:send{channel}";
	struct usk_read_options o = { .send = &send, .n_send = 1 };
	char *path = folder("damage");
	/* Cut anywhere, or a bad packet: those before are there, and the other stream is whole. */
	for (uint64_t k = case_first(11); k < case_end(11); k++) {
		long cut = 1 + (long)(k % 11) * 411;
		make_plain(path, "a");
		char *file = usk_format("%s/channel0_1", path);
		struct stat st;
		assert_int_equal(stat(file, &st), 0);
		if (cut % 2 && cut < st.st_size) {
			assert_int_equal(truncate(file, st.st_size - cut), 0);
		} else {
			/* Zeros over a whole packet's header. */
			char zeros[400] = { 0 };
			long at = st.st_size - cut;
			overwrite(path, "channel0_1", at > 400 ? at - 400 : 0, zeros, 400);
		}
		struct usk_trace *t = open_with(path, &o);
		struct usk_event e[64];
		size_t all = 0;
		for (size_t n = 1; n; all += n) {
			assert_int_equal(usk_trace_sides(t, e, 64, &n, NULL), USK_OK);
		}
		const char *damage = usk_trace_damage(t);
		bool silent = !damage && !(cut % 2 && cut < st.st_size);
		/* Zeros within a packet may pass for events. */
		if (all < 150 || all >= 300 ||
		    (!silent && (!damage || !strstr(damage, path) || strchr(damage, '\n')))) {
			fail_msg("cut by %ld: %zu events, %s", cut, all,
				 damage ? damage : "no word of it");
		}
		if (cut % 2 && all != 300 - lost_by(cut)) {
			fail_msg("cut by %ld: %zu events of 300, not all but %zu", cut, all,
				 lost_by(cut));
		}
		usk_trace_close(t);
		free(file);
		ctf_remove(path);
	}
	/* A packet of no bytes, at which the library would stay. */
	make_plain(path, "a");
	char nothing[76] = { 0 };
	overwrite(path, "channel0_1", 7 * 556 + 20, nothing, 56);
	struct usk_trace *stuck = open_with(path, &o);
	usk_trace_close(stuck);
	ctf_remove(path);

	make_plain(path, "a");
	overwrite(path, "channel0_0", 0, "\0\0\0\0", 4);
	struct usk_trace *half = open_with(path, &o);
	usk_trace_close(half);
	overwrite(path, "channel0_1", 0, "\0\0\0\0", 4);
	refuse(path, "none of its streams can be read");
	ctf_remove(path);

	make_plain(path, "a");
	overwrite(path, "metadata", 200, "{{{{{{{", 7);
	refuse(path, "cannot read its metadata");
	ctf_remove(path);
	test_packed_metadata(path);

	make_plain(path, "a");
	char *file = usk_format("%s/metadata", path);
	refuse(file, "give the folder");
	unlink(file);
	refuse(path, "no file metadata");
	free(file);
	file = usk_format("%s/channel0_0", path);
	refuse(file, "give the folder");
	free(file);
	ctf_remove(path);

	/* A session of two domains is one trace; of two machines it is none. */
	for (int same = 0; same < 2; same++) {
		assert_int_equal(mkdir(path, 0777), 0);
		char *kernel = usk_format("%s/kernel", path), *user = usk_format("%s/user", path);
		make_plain(kernel, "a");
		make_plain(user, same ? "a" : "b");
		if (same) {
			struct usk_trace *t = open_with(path, &o);
			struct usk_event e[64];
			size_t all = 0;
			for (size_t n = 1; n; all += n) {
				assert_int_equal(usk_trace_sides(t, e, 64, &n, NULL), USK_OK);
			}
			assert_int_equal(all, 600);
			usk_trace_close(t);
		} else {
			refuse(path, "each machine");
		}
		free(kernel);
		free(user);
		ctf_remove(path);
	}

	make_plain(path, "a");
	for (int i = 0; i < 2; i++) {
		file = usk_format("%s/channel0_%d", path, i);
		assert_int_equal(truncate(file, 0), 0);
		free(file);
	}
	refuse(path, "streams are empty");
	ctf_remove(path);

	/* Nothing in it that anyone knows. */
	struct ctf c = ctf_begin(path, "a", 1000000000, START);
	ctf_noise(&c, 0, 1);
	ctf_end(&c);
	refuse_by("other:send{x}", path, "--send and --recv");
	ctf_remove(path);
	free(path);
}

static int make_base(void **state)
{
	(void)state;
	return !mkdtemp(base);
}

static int remove_base(void **state)
{
	(void)state;
	return rmdir(base); /* fails if something was left */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network),	   cmocka_unit_test(test_early),
		cmocka_unit_test(test_protocols),  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_array_keys), cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_overlap),	   cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, make_base, remove_base);
}
