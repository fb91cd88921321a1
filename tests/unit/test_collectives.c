/* SPDX-License-Identifier: MIT */
/*
 * Collectives: what readers make of kinds and rows, and what a collective says of clocks: nothing
 * but what follows from it, and of every clock in it. Bands are tests/sim/collectives.py's.
 */
#include "../part.h"
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

#define HEAD "collective,kind,clock,enter_ns,exit_ns,rank,root\n"

/* rows: kind clock rank enter exit root. */
static const struct {
	const char *text, *rows, *damage;
} tables[] = {
	{ HEAD "1,allreduce,a,1,5,,\n1,barrier,b,2,3,7,\n",
	  "allreduce a a 1 5 0\nbarrier b 7 2 3 0\n", NULL },
	{ HEAD "1,bcast,a,1,5,0,0\n1,bcast,a,1,5,1,0\n",
	  "broadcast a 0 1 5 1\nbroadcast a 1 1 5 0\n", NULL },
	{ "kind,collective,exit_s,enter_s,clock\nreducescatter,x,2,1.5,a\n",
	  "reducescatter a a 1500000000 2000000000 0\n", NULL },
	{ "{\"collective\":\"1\",\"kind\":\"barrier\",\"clock\":\"a\",\"enter_ns\":1,\"exit_ns\":2}"
	  "\n",
	  "barrier a a 1 2 0\n", NULL },
	{ HEAD "1,scan,a,1,5,,\n", "", "line 2: its kind is \"scan\", none of allreduce" },
	{ HEAD "1,reduce,a,1,5,,\n", "", "line 2: it is a reduce and names no root" },
	{ HEAD "1,barrier,a,5,1,,\n", "", "line 2: its exit is before its enter" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct usk_trace *t;
		struct usk_err err = { 0 };
		struct usk_collective x[8];
		size_t n;
		char rows[512] = "";
		assert_int_equal(usk_trace_open_memory(tables[i].text, strlen(tables[i].text), "t",
						       &t, &err),
				 USK_OK);
		assert_string_equal(usk_trace_kind(t), "collectives");
		assert_int_equal(usk_trace_collectives(t, x, COUNT(x), &n, &err), USK_OK);
		for (size_t k = 0; k < n; k++) {
			snprintf(rows + strlen(rows), sizeof rows - strlen(rows),
				 "%s %s %s %lld %lld %d\n",
				 usk_collective_name((enum usk_collective_kind)x[k].kind),
				 usk_trace_clock_name(t, x[k].clock),
				 usk_trace_processes(t)->text[x[k].rank], (long long)x[k].enter_ns,
				 (long long)x[k].exit_ns, x[k].root);
		}
		assert_string_equal(rows, tables[i].rows);
		const char *damage = usk_trace_damage(t);
		assert_int_equal(damage != NULL, tables[i].damage != NULL);
		assert_true(!damage || strstr(damage, tables[i].damage));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_ambiguous),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
