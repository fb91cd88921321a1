/* SPDX-License-Identifier: MIT */
/*
 * Several traces of one clock, and several clocks in one trace: whatever way a host's records are
 * spread over files, the answer is that of one file.
 */
#include "making.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED   77
#define SECOND INT64_C(1000000000)
#define START  (1700000000 * SECOND)

/* What host p (0) and host q (1) recorded; p on two interfaces. */
struct sight {
	int64_t ns; /* true time */
	int host;
	uint32_t iface;
	struct packet packet;
};

struct world {
	struct sight *s;
	size_t n, cap;
	struct usk_rng r;
};

static void see(struct world *w, int host, uint32_t iface, int64_t ns, const struct packet *p)
{
	w->s = usk_room(w->s, w->n, &w->cap, sizeof *w->s);
	w->s[w->n] = (struct sight){ ns, host, iface, *p };
	w->s[w->n].packet.ttl = host == (p->src == 0x0a000002) ? 64 : 62;
	w->n++;
}

static int by_time(const void *pa, const void *pb)
{
	const struct sight *a = pa, *b = pb;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Datagrams both ways for 20 s; p sends and receives on either interface in turn. */
static struct world talk(size_t n, bool forwards)
{
	struct world w = { .n = 0 };
	usk_rng_seed(&w.r, SEED);
	for (size_t i = 0; i < n; i++) {
		int64_t t = START + (int64_t)i * (20 * SECOND / (int64_t)n);
		int64_t d = 50000 + (int64_t)usk_rng_exponential(&w.r, 100000);
		bool back = i & 1;
		uint32_t iface = i / 2 % 2;
		struct packet p = { .link = LINK_ETHERNET,
				    .proto = UDP,
				    .src = back ? 0x0a000002 : 0x0a000001,
				    .dst = back ? 0x0a000001 : 0x0a000002,
				    .sport = 4000,
				    .dport = 5000,
				    .ip_id = (uint16_t)(i + 1),
				    .payload = 64,
				    .content = usk_mix(i + 1) };
		see(&w, back, back ? 0 : iface, t, &p);
		see(&w, !back, back ? iface : 0, t + d, &p);
		if (forwards) { /* p saw it on the other interface, 5 us apart */
			see(&w, 0, !iface, back ? t + d + 5000 : t - 5000, &p);
		}
	}
	qsort(w.s, w.n, sizeof *w.s, by_time);
	return w;
}

static void named_interface(struct bytes *b, const char *name)
{
	static const uint8_t ns = 9;
	size_t at = ng_begin(b, NG_INTERFACE);
	put16(b, LINK_ETHERNET);
	put16(b, 0);
	put32(b, 262144);
	ng_option(b, 2, name, strlen(name));
	ng_option(b, 9, &ns, 1);
	ng_option(b, 0, NULL, 0);
	ng_end(b, at);
}

/*
 * The records of a host from one time to another, of interfaces in a bit mask; each interface's
 * clock is ahead by so much. Interface numbers stay.
 */
static struct bytes record(const struct world *w, int host, unsigned ifaces, int64_t from,
			   int64_t to, const int64_t ahead[2])
{
	struct bytes b = { 0 };
	ng_section(&b);
	named_interface(&b, "eth0");
	named_interface(&b, "eth1");
	for (size_t i = 0; i < w->n; i++) {
		const struct sight *s = &w->s[i];
		if (s->host == host && ifaces >> s->iface & 1 && s->ns >= from && s->ns < to) {
			struct bytes data = { 0 };
			uint32_t wire = packet_bytes(&s->packet, &data);
			ng_packet(&b, s->iface, (uint64_t)(s->ns + ahead[s->iface]), data.data,
				  (uint32_t)data.n, wire);
			bytes_free(&data);
		}
	}
	return b;
}

struct traces {
	struct usk_trace *t[6];
	struct bytes b[6];
	size_t n;
};

static void add(struct traces *t, struct bytes b, const char *name)
{
	struct usk_err err = { 0 };
	t->b[t->n] = b;
	if (usk_trace_open_memory(b.data, b.n, name, &t->t[t->n], &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
	t->n++;
}

static void done(struct traces *t)
{
	for (size_t i = 0; i < t->n; i++) {
		usk_trace_close(t->t[i]);
		bytes_free(&t->b[i]);
	}
	t->n = 0;
}

static const struct usk_sync_options defaults = { .max_outliers = -1,
						  .from_ns = USK_NONE,
						  .to_ns = USK_NONE };

static struct usk_clocks *run(struct traces *t, const struct usk_sync_options *o)
{
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	if (usk_sync(t->t, t->n, o, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	return c;
}

static const struct usk_clock *named(const struct usk_clocks *c, const char *name)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (!strcmp(c->clock[i].name, name)) {
			return &c->clock[i];
		}
	}
	fail_msg("there is no clock %s", name);
	return NULL;
}

/* Is the constant offset of q (p's clock less q's) in the band throughout? */
static void assert_offset(const struct usk_clocks *c, const char *name, int64_t offset)
{
	const struct usk_clock *k = named(c, name);
	if (k->quality != USK_BOUNDED) {
		fail_msg("%s: %s, %llu there, %llu back, %llu unknown", name,
			 usk_quality_name(k->quality), (unsigned long long)c->pair[0].a_to_b,
			 (unsigned long long)c->pair[0].b_to_a,
			 (unsigned long long)c->counts.direction_unknown);
	}
	for (size_t i = 0; i < k->n_knots; i++) {
		if (k->knot[i].lo_ns > offset || k->knot[i].hi_ns < offset) {
			fail_msg("%s: %lld is not from %lld to %lld", name, (long long)offset,
				 (long long)k->knot[i].lo_ns, (long long)k->knot[i].hi_ns);
		}
	}
}

static const int64_t same[2] = { 0, 0 }, q_ahead[2] = { 3 * SECOND, 3 * SECOND };

static bool same_knot(const struct usk_knot *a, const struct usk_knot *b)
{
	return a->local_ns == b->local_ns && a->offset_ns == b->offset_ns && a->lo_ns == b->lo_ns &&
	       a->hi_ns == b->hi_ns && a->epoch == b->epoch;
}

static void test_spread(void **state)
{
	(void)state;
	for (int forwards = 0; forwards < 2; forwards++) {
		struct world w = talk(2000, forwards);
		int64_t end = START + 30 * SECOND, cut = START + 7 * SECOND;
		struct traces t = { .n = 0 };
		add(&t, record(&w, 0, 3, 0, end, same), "p");
		add(&t, record(&w, 1, 3, 0, end, q_ahead), "q");
		struct usk_clocks *want = run(&t, &defaults);
		done(&t);
		if (!forwards) { /* what leaves twice is ambiguous */
			assert_offset(want, "q", -3 * SECOND);
		}
		for (int way = 0; way < 4; way++) {
			if (way == 0) { /* a file an interface */
				add(&t, record(&w, 0, 1, 0, end, same), "p");
				add(&t, record(&w, 0, 2, 0, end, same), "p");
			} else if (way == 1) { /* rotated */
				add(&t, record(&w, 0, 3, 0, cut, same), "p");
				add(&t, record(&w, 0, 3, cut, end, same), "p");
			} else if (way == 2) { /* and given the other way round */
				add(&t, record(&w, 0, 3, cut, end, same), "p");
				add(&t, record(&w, 0, 3, 0, cut, same), "p");
			} else {
				add(&t, record(&w, 0, 1, 0, cut, same), "p");
				add(&t, record(&w, 0, 2, 0, end, same), "p");
				add(&t, record(&w, 0, 1, cut, end, same), "p");
			}
			add(&t, record(&w, 1, 3, 0, cut, q_ahead), "q");
			add(&t, record(&w, 1, 3, cut, end, q_ahead), "q");
			struct usk_clocks *c = run(&t, &defaults);
			assert_int_equal(c->n_clocks, 2);
			assert_int_equal(c->n_traces, t.n);
			assert_int_equal(c->counts.matched, want->counts.matched);
			const struct usk_clock *x = named(c, "q"), *y = named(want, "q");
			assert_int_equal(x->n_knots, y->n_knots);
			for (size_t i = 0; i < x->n_knots; i++) {
				assert_true(same_knot(&x->knot[i], &y->knot[i]));
			}
			uint64_t events = 0;
			for (size_t i = 0; i < c->n_traces; i++) {
				assert_true(c->trace[i].clock != USK_NO_CLOCK);
				events += c->trace[i].events;
			}
			assert_int_equal(events, w.n);
			usk_clocks_free(c);
			done(&t);
		}
		usk_clocks_free(want);
		free(w.s);
	}
}

/* eth1 of p is 5 s ahead: a clock of its own, which q ties to eth0's. */
static void test_clock_of(void **state)
{
	static const int64_t ahead[2] = { 0, 5 * SECOND };
	static const char *const by_name[] = { "p/eth1=card" }, *const by_number[] = { "p/1=card" };
	static const char *const all[] = { "p/eth1=card", "p/eth0=board" };
	static const char *const to_q[] = { "p/eth1=card", "r/0=q" };
	(void)state;
	struct world w = talk(2000, false);
	int64_t end = START + 30 * SECOND;
	for (int k = 0; k < 4; k++) {
		struct usk_sync_options o = defaults;
		struct traces t = { .n = 0 };
		o.reference = "q";
		o.clock_of = k == 0 ? by_name : k == 1 ? by_number : k == 2 ? all : to_q;
		o.n_clock_of = k < 2 ? 1 : 2;
		add(&t, record(&w, 0, 3, 0, end, ahead), "p");
		add(&t, record(&w, 1, 3, 0, end, q_ahead), k == 3 ? "r" : "q");
		if (k == 3) { /* named by the rule alone */
			o.reference = NULL;
		}
		struct usk_clocks *c = run(&t, &o);
		const char *board = k == 2 ? "board" : "p";
		assert_int_equal(c->n_clocks, 3);
		const struct usk_trace_info *info = &c->trace[0];
		assert_int_equal(info->n_ifaces, k == 2 ? 2 : 1);
		assert_string_equal(info->iface[0].iface, k == 1 ? "1" : "eth1");
		assert_string_equal(c->clock[info->iface[0].clock].name, "card");
		if (k == 2) {
			assert_int_equal(info->clock, USK_NO_CLOCK);
		} else {
			assert_string_equal(c->clock[info->clock].name, "p");
		}
		assert_int_equal(c->counts.matched, 2000);
		if (k < 3) {
			assert_offset(c, board, 3 * SECOND);
			assert_offset(c, "card", -2 * SECOND);
			assert_int_equal(c->n_pairs, 2);
		} else {
			assert_int_equal(named(c, "q")->quality, USK_REFERENCE);
		}
		usk_clocks_free(c);
		done(&t);
	}
	free(w.s);
}

/* One file, whose interfaces saw the same packets: two clocks, walked against each other. */
static void test_one_file(void **state)
{
	static const int64_t ahead[2] = { 0, 5 * SECOND };
	static const char *const rule[] = { "p/eth1=card" };
	static const char *const local[] = { "p=10.0.0.1", "card=10.0.0.2" };
	struct usk_sync_options o = defaults;
	struct traces t = { .n = 0 };
	(void)state;
	struct world w = talk(400, true);
	o.clock_of = rule;
	o.n_clock_of = 1;
	o.local = local;
	o.n_local = 2;
	o.reference = "p";
	add(&t, record(&w, 0, 3, 0, START + 30 * SECOND, ahead), "p");
	struct usk_clocks *c = run(&t, &o);
	assert_int_equal(c->n_clocks, 2);
	assert_int_equal(c->n_pairs, 1);
	assert_true(c->counts.matched > 300);
	usk_clocks_free(c);
	done(&t);
	free(w.s);
}

static bool told_apart(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_notes; i++) {
		if (strstr(c->note[i], "are taken for one clock, p,")) {
			return true;
		}
	}
	return false;
}

/* Traces and interfaces that do not go together are told, and nothing else is done. */
static void test_not_one_clock(void **state)
{
	static const int64_t later[2] = { SECOND, SECOND };
	(void)state;
	struct world w = talk(1000, false);
	int64_t end = START + 30 * SECOND, cut = START + 8 * SECOND;
	for (int k = 0; k < 14; k++) {
		const int64_t ahead[2] = { 0, k & 1 ? 1000000 : 0 };
		struct usk_sync_options o = defaults;
		struct traces t = { .n = 0 };
		o.model = k & 2 ? "wander" : "linear";
		if (k < 4) { /* a file an interface */
			add(&t, record(&w, 0, 1, 0, end, ahead), "p");
			add(&t, record(&w, 0, 2, 0, end, ahead), "p");
		} else if (k < 8) { /* one file */
			add(&t, record(&w, 0, 3, 0, end, ahead), "p");
		} else if (k < 12) { /* and a third one */
			add(&t, record(&w, 0, 1, 0, cut, ahead), "p");
			add(&t, record(&w, 0, 1, cut, end, ahead), "p");
			add(&t, record(&w, 0, 2, 0, end, ahead), "p");
		} else { /* set between two files: one clock all the same */
			add(&t, record(&w, 0, 3, 0, cut, same), "p");
			add(&t, record(&w, 0, 3, cut, end, later), "p");
		}
		add(&t, record(&w, 1, 3, 0, end, q_ahead), "q");
		struct usk_clocks *c = run(&t, &o);
		assert_int_equal(c->n_clocks, 2);
		if (told_apart(c) != (k < 12 && k & 1)) {
			fail_msg("case %d: told %d", k, told_apart(c));
		}
		usk_clocks_free(c);
		done(&t);
	}
	free(w.s);
}

static void test_bad_rules(void **state)
{
	static const struct {
		const char *row, *says;
	} cases[] = {
		{ "p", "NAME/INTERFACE=CLOCK" },
		{ "p/eth1", "NAME/INTERFACE=CLOCK" },
		{ "p/=x", "NAME/INTERFACE=CLOCK" },
		{ "/eth1=x", "NAME/INTERFACE=CLOCK" },
		{ "p/eth1=", "NAME/INTERFACE=CLOCK" },
		{ "z/eth1=x", "no capture has the name z" },
		{ "p/eth7=x", "it has 0 eth0, 1 eth1" },
		{ "p/2=x", "it has 0 eth0, 1 eth1" },
	};
	(void)state;
	struct world w = talk(100, false);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_sync_options o = defaults;
		struct traces t = { .n = 0 };
		struct usk_clocks *c = NULL;
		struct usk_err err = { 0 };
		o.clock_of = &cases[i].row;
		o.n_clock_of = 1;
		add(&t, record(&w, 0, 3, 0, START + 30 * SECOND, same), "p");
		add(&t, record(&w, 1, 3, 0, START + 30 * SECOND, same), "q");
		enum usk_status status = usk_sync(t.t, t.n, &o, &c, &err);
		if (status != USK_EUSAGE || !strstr(err.msg, cases[i].says)) {
			fail_msg("%s: %d %s", cases[i].row, status, err.msg);
		}
		done(&t);
	}
	free(w.s);
}

/* ---- the joined capture itself -------------------------------------------------------------- */

static bool odd(void *ctx, uint32_t number, const char *name)
{
	(void)ctx;
	assert_true(!strcmp(name, number ? "eth1" : "eth0"));
	return number & 1;
}

/* Every record once, in the order of stamps, also read again and in small pieces. */
static void test_records(void **state)
{
	(void)state;
	struct world w = talk(3000, true);
	int64_t end = START + 30 * SECOND, cut = START + 9 * SECOND;
	for (int k = 0; k < 8; k++) {
		struct traces t = { .n = 0 };
		struct usk_trace *j = NULL;
		struct usk_err err = { 0 };
		add(&t, record(&w, 0, 3, 0, cut, same), "p");
		add(&t, record(&w, 0, 3, cut, end, same), "p");
		add(&t, record(&w, 1, 1, 0, end, same), "q");
		struct usk_trace_part part[3] = { { .trace = t.t[0] },
						  { .trace = t.t[1] },
						  { .trace = t.t[2] } };
		size_t want = w.n;
		if (k & 1) { /* of the second file eth1 alone */
			part[1].takes = odd;
			for (size_t i = 0; i < w.n; i++) {
				want -= w.s[i].host == 0 && w.s[i].ns >= cut && !w.s[i].iface;
			}
		}
		assert_int_equal(usk_trace_join(part, 3, "x", &j, &err), USK_OK);
		assert_string_equal(usk_trace_name(j), "x");
		for (int round = 0; round < 2; round++) {
			struct usk_record r[300];
			size_t n = 1, all = 0, cap = k & 2 ? 300 : 1 + (size_t)k * 7;
			int64_t last = 0;
			uint64_t pos = 0;
			while (n) {
				size_t ifaces;
				assert_int_equal(usk_trace_records(j, r, cap, &n, &err), USK_OK);
				const struct usk_iface *f = usk_trace_ifaces(j, &ifaces);
				for (size_t i = 0; i < n; i++) {
					assert_true(r[i].time_ns >= last && r[i].iface < ifaces);
					last = r[i].time_ns;
					assert_true(f[r[i].iface].link_type == LINK_ETHERNET);
					/* The bytes are still there: the first of an IPv4 header.
					 */
					assert_int_equal(r[i].data[14], 0x45);
				}
				all += n;
				assert_true(usk_trace_pos(j) >= pos);
				pos = usk_trace_pos(j);
			}
			assert_int_equal(all, want);
			assert_int_equal(pos, usk_trace_size(j));
			assert_int_equal(usk_trace_rewind(j, &err), USK_OK);
		}
		usk_trace_close(j);
		done(&t);
	}
	free(w.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),	  cmocka_unit_test(test_clock_of),
		cmocka_unit_test(test_one_file),  cmocka_unit_test(test_not_one_clock),
		cmocka_unit_test(test_bad_rules), cmocka_unit_test(test_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
