/* SPDX-License-Identifier: MIT */
/*
 * Collectives: what readers make of kinds and rows, and what a collective says of clocks: nothing
 * but what follows from it, and of every clock in it. Who was late, against each two compared by
 * themselves. Bands and the truth are tests/sim/collectives.py's.
 */
#include "../part.h"
#include "judge/late.h"
#include "match/collectives.h"
#include "read/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- kinds, rows --------------------------------------------------------------------------- */

static const struct {
	const char *text;
	enum usk_collective_kind kind;
} kinds[] = {
	{ "allreduce", USK_ALLREDUCE },
	{ "AllReduce", USK_ALLREDUCE },
	{ "nccl:all_reduce", USK_ALLREDUCE },
	{ "allreduce_coalesced", USK_ALLREDUCE },
	{ "_allgather_base", USK_ALLGATHER },
	{ "allgather_into_tensor_coalesced", USK_ALLGATHER },
	{ "reduce_scatter_tensor_coalesced", USK_REDUCESCATTER },
	{ "MPI_Reduce_scatter_block", USK_REDUCESCATTER },
	{ "all_to_all_single", USK_ALLTOALL },
	{ "c10d::barrier", USK_BARRIER },
	{ "MPI_Bcast", USK_BROADCAST },
	{ "Reduce", USK_REDUCE },
	{ "gather", USK_GATHER },
	{ "scatter", USK_SCATTER },
	/* Who gets nothing waits for nobody; who only begins does not wait yet. */
	{ "MPI_Alltoallv", USK_NO_COLLECTIVE },
	{ "MPI_Ibarrier", USK_NO_COLLECTIVE },
	{ "MPI_Scan", USK_NO_COLLECTIVE },
	{ "", USK_NO_COLLECTIVE },
	{ "0123456789012345678901234567890123456789012345678901234567890123456789allreduce",
	  USK_ALLREDUCE },
	{ "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
	  USK_NO_COLLECTIVE },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		enum usk_collective_kind k =
			usk_collective_kind(kinds[i].text, strlen(kinds[i].text));
		if (k != kinds[i].kind) {
			fail_msg("%s: %d", kinds[i].text, (int)k);
		}
	}
}

#define KINETO "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3},\"traceEvents\":["
#define KERNEL(group, seq, ts, dur)                                                                \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":" ts ",\"dur\":" dur                              \
	",\"args\":{\"Collective name\":"                                                          \
	"\"allreduce\",\"Process Group Name\":\"" group "\",\"Seq\":" seq "}}"
#define BASE "],\"baseTimeNanoseconds\":1000000000}"
#define HEAD "collective,kind,clock,enter_ns,exit_ns,rank,root\n"

/* rows: kind clock rank enter exit root. */
static const struct {
	const char *name, *text, *rows, *damage;
} tables[] = {
	{ "a table", HEAD "1,allreduce,a,1,5,,\n1,barrier,b,2,3,7,\n",
	  "allreduce a a 1 5 0\nbarrier b 7 2 3 0\n", NULL },
	{ "a table", HEAD "1,bcast,a,1,5,0,0\n1,bcast,a,1,5,1,0\n",
	  "broadcast a 0 1 5 1\nbroadcast a 1 1 5 0\n", NULL },
	{ "columns in another order",
	  "kind,collective,exit_s,enter_s,clock\nreducescatter,x,2,1.5,a\n",
	  "reducescatter a a 1500000000 2000000000 0\n", NULL },
	{ "JSON lines",
	  "{\"collective\":\"1\",\"kind\":\"barrier\",\"clock\":\"a\",\"enter_ns\":1,\"exit_ns\":2}"
	  "\n",
	  "barrier a a 1 2 0\n", NULL },
#ifdef USK_HAVE_YAJL
	{ "Kineto",
	  KINETO KERNEL("a", "1", "100.5", "10.25") "," KERNEL("b", "1", "7.000", "1.001") BASE,
	  "allreduce t 3 1000100500 1000110750 0\nallreduce t 3 1000007000 1000008001 0\n", NULL },
	{ "the base before, whole us",
	  "{\"schemaVersion\":1,\"baseTimeNanoseconds\": 1000,\"traceEvents\":[" KERNEL(
		  "a", "1", "5", "68.0") "]}",
	  "allreduce t t 6000 75998 0\n", NULL },
	{ "doubles", KINETO KERNEL("a", "1", "1682725898236567.2", "1.5") "]}",
	  "allreduce t 3 1682725898236567072 1682725898236568828 0\n", NULL },
	{ "no Seq",
	  KINETO "{\"ph\":\"X\",\"cat\":\"kernel\",\"args\":{\"Collective name\":\"allreduce\","
		 "\"Process Group Name\":\"0\"}}]}",
	  "", "it has no \"Seq\"" },
	{ "calls and other kinds",
	  KINETO
	  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"args\":{\"Collective name\":"
	  "\"allreduce\"}},{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"args\":{\"Collective name\":"
	  "\"send\"}},{\"ph\":\"s\",\"id\":1,\"pid\":1,\"ts\":1}]}",
	  "", NULL },
	{ "an array of flows, cut short",
	  "[{\"ph\":\"s\",\"id\":1,\"pid\":1,\"ts\":1.25,\"cat\":\"x\"},{\"ph\":\"f\",\"id\":\"1\","
	  "\"pid\":\"b\",\"ts\":2.5,\"cat\":\"x\"},",
	  "message t/1 t/1 1250 1250 1\nmessage t/b t/b 2500 2500 0\n", NULL },
	{ "cut short", KINETO KERNEL("a", "1", "1.5", "1.5") ",{\"ph\":",
	  "allreduce t 3 1500 3000 0\n", "ends at byte" },
	{ "no JSON", KINETO "oops", "", "is no JSON at byte" },
	{ "no time", KINETO KERNEL("a", "1", "1e3", "1") "]}", "", "it has no ts in us" },
#endif
	{ "a table", HEAD "1,scan,a,1,5,,\n", "",
	  "line 2: its kind is \"scan\", none of allreduce" },
	{ "a table", HEAD "1,reduce,a,1,5,,\n", "", "line 2: it is a reduce and names no root" },
	{ "a table", HEAD "1,barrier,a,5,1,,\n", "", "line 2: its exit is before its enter" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct usk_trace *t;
		struct usk_err err = { 0 };
		struct usk_collective x[8];
		size_t n = 0;
		char rows[512] = "";
		assert_int_equal(usk_trace_open_memory(tables[i].text, strlen(tables[i].text), "t",
						       &t, &err),
				 USK_OK);
		const char *kind = usk_trace_kind(t);
		assert_true(!strcmp(kind, "collectives") || !strcmp(kind, "chrome"));
		size_t more;
		do {
			assert_int_equal(usk_trace_collectives(t, x + n, COUNT(x) - n, &more, &err),
					 USK_OK);
			n += more;
		} while (more);
		for (size_t k = 0; k < n; k++) {
			snprintf(rows + strlen(rows), sizeof rows - strlen(rows),
				 "%s %s %s %lld %lld %d\n",
				 usk_collective_name((enum usk_collective_kind)x[k].kind),
				 usk_trace_clock_name(t, x[k].clock),
				 usk_trace_processes(t)->text[x[k].rank], (long long)x[k].enter_ns,
				 (long long)x[k].exit_ns, x[k].root);
		}
		const char *damage = usk_trace_damage(t);
		if (strcmp(rows, tables[i].rows) || !damage != !tables[i].damage ||
		    (damage && !strstr(damage, tables[i].damage))) {
			fail_msg("%s:\n%s%s", tables[i].name, rows, damage ? damage : "");
		}
		usk_trace_close(t);
	}
}

/* ---- what it says -------------------------------------------------------------------------- */

struct said {
	const struct usk_collectives *all;
	const struct usk_collective *part;
	size_t n, collectives, messages;
	uint32_t middle;
	bool tied[16];
};

/* Is there an enter that this one is sent at, and an exit, of parts which say so? */
static enum usk_status check_message(void *ctx, const struct usk_msg *m, struct usk_err *err)
{
	struct said *x = ctx;
	bool sent = false, received = false;
	(void)err;
	for (size_t i = 0; i < x->n; i++) {
		const struct usk_collective *p = &x->part[i];
		enum usk_collective_shape shape =
			usk_collective_shape((enum usk_collective_kind)p->kind);
		sent |= p->clock == m->from && p->enter_ns == m->sent_ns &&
			(shape != USK_FROM_ROOT || p->root);
		received |= p->clock == m->to && p->exit_ns == m->received_ns &&
			    (shape != USK_TO_ROOT || p->root);
	}
	assert_true(sent && received && m->from != m->to);
	x->tied[m->from] = x->tied[m->to] = true;
	x->messages++;
	return USK_OK;
}

static enum usk_status check_gathering(void *ctx, const struct usk_gathering *g,
				       struct usk_err *err)
{
	struct said *x = ctx;
	size_t clocks = 0, before = x->messages;
	x->part = g->part;
	x->n = g->n;
	memset(x->tied, 0, sizeof x->tied);
	for (size_t i = 0; i < g->n; i++) {
		clocks += !i || g->part[i].clock != g->part[i - 1].clock;
	}
	assert_int_equal(usk_gathering_messages(x->all, g, x->middle, check_message, x, err),
			 USK_OK);
	bool all = usk_collective_shape(g->kind) == USK_FROM_ALL_TO_ALL;
	size_t wanted = all ? 2 * (clocks - 1) : g->root ? clocks - 1 : 0;
	assert_int_equal(x->messages - before, wanted);
	for (size_t i = 0; i < g->n && wanted; i++) {
		assert_true(x->tied[g->part[i].clock]);
	}
	x->collectives++;
	return USK_OK;
}

/* Several ranks of a clock, of which the last enter and the first exit count; some are missing. */
static void test_said(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		struct usk_rng r;
		struct usk_err err = { 0 };
		struct usk_counts counts = { 0 };
		struct usk_collectives *c = usk_collectives_new();
		usk_rng_seed(&r, seed);
		uint32_t ranks = 2 + (uint32_t)usk_rng_below(&r, 20),
			 a_clock = 1 + (uint32_t)(seed % 3);
		size_t sound = 0;
		for (uint32_t k = 0; k < 20; k++) {
			uint32_t kind = (uint32_t)usk_rng_below(&r, USK_NO_COLLECTIVE);
			uint32_t root = (uint32_t)usk_rng_below(&r, ranks), there = 0;
			for (uint32_t i = 0; i < ranks; i++) {
				int64_t enter = (int64_t)usk_rng_below(&r, 1000);
				struct usk_collective x = {
					.id = { { k, 0 } },
					.enter_ns = enter,
					.exit_ns = enter + (int64_t)usk_rng_below(&r, 1000),
					.clock = i / a_clock % 16,
					.rank = i,
					.kind = (uint8_t)kind,
					.root = i == root,
				};
				if (usk_rng_below(&r, 8)) {
					usk_collectives_add(c, &x, 1, &err);
					there++;
				}
			}
			sound += there > 1;
		}
		struct said x = { .all = c, .middle = (uint32_t)usk_rng_below(&r, 20) };
		assert_int_equal(usk_collectives_run(c, check_gathering, &x, &counts, &err),
				 USK_OK);
		assert_int_equal(x.collectives, sound);
		usk_collectives_free(c);
	}
}

static enum usk_status nothing(void *ctx, const struct usk_gathering *g, struct usk_err *err)
{
	(void)ctx;
	(void)g;
	(void)err;
	fail_msg("a collective that cannot be was handed out");
	return USK_OK;
}

/* What cannot be of one collective is left out whole. */
static void test_ambiguous(void **state)
{
	(void)state;
	static const struct usk_collective cases[][2] = {
		{ { .clock = 0, .rank = 0 }, { .clock = 0, .rank = 0 } },
		{ { .clock = 0, .rank = 0, .kind = USK_ALLREDUCE },
		  { .clock = 1, .rank = 1, .kind = USK_BARRIER } },
		{ { .clock = 0, .rank = 0, .kind = USK_REDUCE, .root = true },
		  { .clock = 1, .rank = 1, .kind = USK_REDUCE, .root = true } },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_collectives *c = usk_collectives_new();
		struct usk_counts counts = { 0 };
		struct usk_err err = { 0 };
		usk_collectives_add(c, cases[i], 2, &err);
		assert_int_equal(usk_collectives_run(c, nothing, NULL, &counts, &err), USK_OK);
		assert_int_equal(counts.ambiguous, 2);
		usk_collectives_free(c);
	}
}

/* ---- who was late -------------------------------------------------------------------------- */

enum { CLOCKS = 4, MOST = 12, SKEW = 500000000 };

struct judged {
	struct usk_collective part[MOST];
	size_t n;
	struct usk_late_clock clock[CLOCKS];
	int64_t lo[CLOCKS], hi[CLOCKS]; /* offsets; USK_NONE: no bounds */
	struct usk_gathering g;
};

/* By how much one moment of b is behind one of a at least, each by its own stamps. */
static int64_t behind(const struct judged *x, size_t a, int64_t a_ns, size_t b, int64_t b_ns)
{
	uint32_t p = x->part[a].clock, q = x->part[b].clock;
	if (p == q) {
		int64_t d = b_ns - a_ns, size = d < 0 ? -d : d;
		return d - (size * SKEW + 999999999999) / 1000000000000;
	}
	return x->hi[p] == USK_NONE || x->lo[q] == USK_NONE ? INT64_MIN / 2
							    : b_ns + x->lo[q] - (a_ns + x->hi[p]);
}

static int64_t latest(const struct judged *x, size_t i)
{
	int64_t q = x->clock[x->part[i].clock].resolution_ns;
	return x->part[i].enter_ns + x->part[i].slack_ns + (q > 1 ? q - 1 : 0);
}

static bool asks(const struct judged *x, size_t i, bool waiting)
{
	enum usk_collective_shape s = usk_collective_shape(x->g.kind);
	return s == USK_FROM_ALL_TO_ALL || (s == USK_TO_ROOT) != waiting ||
	       &x->part[i] == x->g.root;
}

static struct usk_spent spent_oracle(const struct judged *x, size_t i)
{
	const struct usk_collective *y = &x->part[i];
	int64_t total = y->exit_ns - y->enter_ns, waited = 0;
	int64_t sure = y->exit_ns - y->slack_ns - (latest(x, i));
	sure = sure < 0 ? 0 : sure;
	int64_t rest = sure;
	for (size_t j = 0; j < x->n && asks(x, i, true); j++) {
		if (j != i && asks(x, j, false)) {
			int64_t d = behind(x, i, latest(x, i), j, x->part[j].enter_ns);
			int64_t r = behind(x, j, latest(x, j), i, y->exit_ns - y->slack_ns);
			waited = d > waited ? d : waited;
			rest = r < rest ? r : rest;
		}
	}
	waited = waited < sure ? waited : sure;
	rest = rest < 0 ? 0 : rest < sure - waited ? rest : sure - waited;
	return (struct usk_spent){ waited, rest, total - waited - rest };
}

static void make_late(struct judged *x, struct usk_rng *r)
{
	x->n = 2 + usk_rng_below(r, MOST - 1);
	x->g = (struct usk_gathering){ .part = x->part, .n = x->n };
	x->g.kind = (enum usk_collective_kind)usk_rng_below(r, USK_NO_COLLECTIVE);
	for (size_t k = 0; k < CLOCKS; k++) {
		int64_t w = (int64_t)usk_rng_below(r, 200);
		bool none = !usk_rng_below(r, 8);
		x->lo[k] = none ? USK_NONE : -w;
		x->hi[k] = none ? USK_NONE : w / 2;
		struct usk_knot knot[] = { { -1000000, 0, x->lo[k], x->hi[k], 0 },
					   { 1000000, 0, x->lo[k], x->hi[k], 0 } };
		const struct usk_clock clock = { .knot = knot, .n_knots = 2 };
		x->clock[k] = (struct usk_late_clock){ none ? NULL : usk_map_new(&clock, SKEW),
						       1 + (int64_t)usk_rng_below(r, 3), NULL };
	}
	for (size_t i = 0; i < x->n; i++) {
		x->part[i] = (struct usk_collective){
			.clock = (uint32_t)(i * CLOCKS / x->n),
			.rank = (uint32_t)i,
			.enter_ns = (int64_t)usk_rng_below(r, 1000) * (1 + (i == 1)),
			.kind = (uint8_t)x->g.kind,
			.slack_ns = (uint16_t)usk_rng_below(r, 3),
		};
		x->part[i].exit_ns = x->part[i].enter_ns + (int64_t)usk_rng_below(r, 2000);
	}
	x->g.root = usk_rng_below(r, 4) ? &x->part[usk_rng_below(r, x->n)] : NULL;
}

static void check_late(const struct judged *x, const struct usk_lateness *l)
{
	size_t last = SIZE_MAX;
	int64_t by = 0;
	for (size_t i = 0; i < x->n && l->asked; i++) {
		int64_t least = INT64_MAX;
		for (size_t j = 0; j < x->n; j++) {
			int64_t d = behind(x, j, latest(x, j), i, x->part[i].enter_ns);
			least = j != i && d < least ? d : least;
		}
		if (least > 0) {
			assert_int_equal(last, SIZE_MAX);
			last = i;
			by = least;
		}
	}
	assert_int_equal(l->known, last != SIZE_MAX);
	if (l->known) {
		assert_int_equal(l->rank, last);
		assert_int_equal(l->by_ns, by);
	}
}

static void test_late(void **state)
{
	(void)state;
	struct usk_late_room room = { 0 };
	size_t known = 0;
	for (uint64_t seed = case_first(5000); seed < case_end(5000); seed++) {
		struct judged x;
		struct usk_rng r;
		struct usk_lateness l;
		struct usk_spent spent[MOST];
		struct usk_err err = { 0 };
		usk_rng_seed(&r, seed);
		make_late(&x, &r);
		assert_int_equal(usk_late(&x.g, x.clock, SKEW, &room, &l, spent, &err), USK_OK);
		check_late(&x, &l);
		known += l.known;
		bool rootless = usk_collective_shape(x.g.kind) == USK_FROM_ROOT && !x.g.root;
		for (size_t i = 0; i < x.n && !rootless; i++) {
			struct usk_spent s = spent_oracle(&x, i);
			assert_int_equal(spent[i].waited_ns, s.waited_ns);
			assert_int_equal(spent[i].transfer_ns, s.transfer_ns);
			assert_int_equal(spent[i].untold_ns, s.untold_ns);
		}
		for (size_t k = 0; k < CLOCKS; k++) {
			usk_map_free(x.clock[k].map);
		}
	}
	assert_true(known * 20 > case_end(5000) - case_first(5000));
	usk_late_room_free(&room);
}

/* Of a member whose clock may have been stepped between its stamps, by much or 1 ns, nothing is known, nor
 * whether it was the last. */
static void test_late_stepped(void **state)
{
	(void)state;
	struct usk_late_room room = { 0 };
	struct usk_knot knot[] = { { -1000000, 0, 0, 0, 0 }, { 1000000, 0, 0, 0, 0 } };
	struct usk_jump jump = { .kind = USK_JUMP, .of = 1, .size_lo_ns = 1 };
	const struct usk_clock plain = { .knot = knot, .n_knots = 2 };
	struct usk_clock stepped = plain;
	struct usk_late_clock clock[] = { { usk_map_new(&plain, 0), 1, &plain },
					  { usk_map_new(&plain, 0), 1, &stepped } };
	struct usk_collective part[] = {
		{ .clock = 0, .enter_ns = 0, .exit_ns = 900 },
		{ .clock = 1, .rank = 1, .enter_ns = 500, .exit_ns = 800 }
	};
	const struct usk_gathering g = { .part = part, .n = 2, .kind = USK_ALLREDUCE };
	stepped.jump = &jump;
	stepped.n_jumps = 1;
	for (int64_t i = 0; i < 280; i++) {
		const int64_t at = i / 2 * 10, back = i % 2 ? 1 : 60;
		struct usk_lateness l;
		struct usk_spent spent[2];
		struct usk_err err = { 0 };
		const bool sure = at + 70 + back <= 500 || at - back >= 800;
		jump.after_local_ns = at;
		jump.before_local_ns = at + 70;
		jump.size_hi_ns = back;
		assert_int_equal(usk_late(&g, clock, 0, &room, &l, spent, &err), USK_OK);
		assert_int_equal(l.known, sure);
		assert_int_equal(spent[0].waited_ns, sure ? 500 : 0);
		assert_int_equal(spent[1].transfer_ns, sure ? 300 : 0);
		assert_int_equal(spent[1].untold_ns, sure ? 0 : 300);
	}
	usk_map_free(clock[0].map);
	usk_map_free(clock[1].map);
	usk_late_room_free(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_said),  cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_late),  cmocka_unit_test(test_late_stepped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
