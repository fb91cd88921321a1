/* SPDX-License-Identifier: MIT */
/*
 * test_others.c - traces that others recorded, where they are at hand
 *
 * In    the folder of recorded data, as the first argument
 * Out   identity lies in the band, brackets and message counts as measured independently
 * Why   simulated traffic is as regular as its author; real traffic is not
 *
 * All four pairs were recorded on one machine, so the true offset is 0. The bracket of the true
 * offset is [-smallest delay b to a, smallest delay a to b].
 */
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *data;

static const struct recorded {
	const char *a, *b;
	const char *table; /* messages matched by other means, or NULL */
	uint64_t a_to_b, b_to_a;
	int64_t min_a_to_b_ns, min_b_to_a_ns;
} recorded[] = {
	/* Ours find 5 + 5 router solicitations more than the table, TCP only, has: multicasts that
	 * one host sent and the other received. One of them was 5.2 ms faster than any segment. */
	{ "mininet-mptcp/client_1_tcp_only.pcapng", "mininet-mptcp/server_1_tcp_only.pcapng",
	  "mininet-mptcp/pair1-messages.csv", 1400 + 5, 1364 + 5, 50008551, 44834944 },
	/* 2 + 5 more, the same. */
	{ "mininet-mptcp/client_2.pcapng", "mininet-mptcp/server_2.pcapng",
	  "mininet-mptcp/pair2-messages.csv", 1372 + 2, 1447 + 5, 2634, 1942 },
	{ "container-proxy/client.pcap", "container-proxy/server.pcap", NULL, 50, 50, 132000,
	  120000 },
	{ "container-proxy/proxy_eth1.pcap", "container-proxy/server.pcap", NULL, 50, 50, 2000,
	  1000 },
};

struct list {
	struct usk_msg *msg;
	size_t n;
};

static bool keep(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct list *l = ctx;
	l->msg = realloc(l->msg, (l->n + n) * sizeof *msg);
	assert_non_null(l->msg);
	memcpy(l->msg + l->n, msg, n * sizeof *msg);
	l->n += n;
	return true;
}

static int by_stamps(const void *a, const void *b)
{
	const struct usk_msg *x = a, *y = b;
	if (x->sent_ns != y->sent_ns) {
		return x->sent_ns < y->sent_ns ? -1 : 1;
	}
	return (x->received_ns > y->received_ns) - (x->received_ns < y->received_ns);
}

static struct usk_trace *open_trace(const char *name)
{
	char path[4096];
	struct usk_trace *t;
	struct usk_err err;
	snprintf(path, sizeof path, "%s/%s", data, name);
	if (usk_trace_open(path, NULL, &t, &err)) {
		fail_msg("%s", err.msg);
	}
	return t;
}

/* Every message of the table is among ours. */
static void includes(struct list *ours, const char *table)
{
	struct usk_trace *t = open_trace(table);
	struct usk_msg msg[256];
	qsort(ours->msg, ours->n, sizeof *ours->msg, by_stamps);
	for (size_t n = 1; n;) {
		assert_int_equal(usk_trace_messages(t, msg, 256, &n, NULL), USK_OK);
		for (size_t i = 0; i < n; i++) {
			const struct usk_msg *m =
				bsearch(&msg[i], ours->msg, ours->n, sizeof *ours->msg, by_stamps);
			assert_non_null(m);
			bool from_client = !strcmp(usk_trace_clock_name(t, msg[i].from), "client");
			assert_int_equal(m->from, from_client ? 0 : 1);
		}
	}
	usk_trace_close(t);
}

static void test_recorded(void **state)
{
	const struct recorded *r = *state;
	struct usk_trace *trace[2] = { open_trace(r->a), open_trace(r->b) };
	struct list list = { NULL, 0 };
	struct usk_sink sink = { .ctx = &list, .put = keep };
	struct usk_sync_options options = {
		.max_outliers = 0, .from_ns = USK_NONE, .to_ns = USK_NONE, .messages = &sink
	};
	struct usk_clocks *c;
	struct usk_err err;
	if (usk_sync(trace, 2, &options, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	const struct usk_pair *p = &c->pair[0];
	assert_int_equal(p->quality, USK_BOUNDED);
	assert_int_equal(p->a_to_b, r->a_to_b);
	assert_int_equal(p->b_to_a, r->b_to_a);
	assert_int_equal(p->recorded_a_to_b.min_ns, r->min_a_to_b_ns);
	assert_int_equal(p->recorded_b_to_a.min_ns, r->min_b_to_a_ns);
	assert_int_equal(c->evaluation.corrected_inversions, 0);
	const struct usk_clock *clock = &c->clock[1];
	assert_true(clock->n_knots >= 2);
	for (size_t i = 0; i < clock->n_knots; i++) {
		assert_true(clock->knot[i].lo_ns <= 0 && clock->knot[i].hi_ns >= 0);
	}
	if (r->table) {
		includes(&list, r->table);
	}
	free(list.msg);
	usk_clocks_free(c);
	usk_trace_close(trace[0]);
	usk_trace_close(trace[1]);
}

int main(int argc, char **argv)
{
	data = argc > 1 ? argv[1] : "";
	if (access(data, R_OK)) {
		printf("skipped: no recorded data in \"%s\" (meson option recorded_data)\n", data);
		return 77;
	}
	struct CMUnitTest tests[sizeof recorded / sizeof recorded[0]];
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
		tests[i] = (struct CMUnitTest){ recorded[i].a, test_recorded, NULL, NULL,
						(void *)(uintptr_t)&recorded[i] };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
