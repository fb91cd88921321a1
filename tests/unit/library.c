/* SPDX-License-Identifier: MIT */
/*
 * library.c - a program that knows what is installed alone: unskew.h and the shared library
 *
 * Messages in memory both ways between two clocks that are OFFSET apart, one of which loses 1 us a
 * second: the band holds the truth, what was misused is refused with a sentence, and the program's own
 * descriptors stay open.
 */
#include <unskew.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSET INT64_C(5000000000)
#define START  INT64_C(1700000000000000000)

enum { N = 200 };

static int64_t recorded_by_server(int64_t t)
{
	return t - OFFSET - (t - START) / 1000000;
}

static int fail(const char *what, const struct usk_err *err)
{
	fprintf(stderr, "%s: %s\n", what, err->msg);
	return 1;
}

/* One message each that is wrong in one way, or at the limit. */
static int limits(const char *const name[2])
{
	const int64_t most = USK_TIME_MAX;
	const struct {
		struct usk_msg msg;
		enum usk_status status;
	} cases[] = {
		{ { .sent_ns = most, .received_ns = -most, .from = 1, .to = 0 }, USK_OK },
		{ { .sent_ns = -most, .received_ns = most, .from = 0, .to = 1 }, USK_OK },
		{ { .sent_ns = most + 1, .from = 0, .to = 1 }, USK_ERANGE },
		{ { .sent_ns = -most - 1, .from = 0, .to = 1 }, USK_ERANGE },
		{ { .received_ns = most + 1, .from = 0, .to = 1 }, USK_ERANGE },
		{ { .received_ns = -most - 1, .from = 0, .to = 1 }, USK_ERANGE },
		{ { .from = 2, .to = 1 }, USK_EUSAGE },
		{ { .from = 1, .to = 2 }, USK_EUSAGE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		if (usk_trace_of_messages(name, 2, &cases[i].msg, 1, &t, &err) != cases[i].status ||
		    (cases[i].status == USK_EUSAGE && !strstr(err.msg, "clock 2"))) {
			fprintf(stderr, "message %zu: ", i);
			return fail("not as it should be", &err);
		}
		usk_trace_close(cases[i].status ? NULL : t);
	}
	return 0;
}

int main(void)
{
	static const char *const name[] = { "client", "server" };
	static const char *const same[] = { "client", "client" };
	const int was = fcntl(STDIN_FILENO, F_GETFD);
	struct usk_msg msg[N];
	struct usk_trace *trace;
	struct usk_clocks *clocks;
	struct usk_err err = { 0 };
	for (int i = 0; i < N; i++) {
		int64_t t = START + i * INT64_C(10000000), u = t + 100000 + i % 7 * 1000;
		bool back = i % 2;
		msg[i] = (struct usk_msg){ .sent_ns = back ? recorded_by_server(t) : t,
					   .received_ns = back ? u : recorded_by_server(u),
					   .from = back,
					   .to = !back };
	}
	if (usk_trace_of_messages(same, 2, msg, N, &trace, &err) != USK_EUSAGE ||
	    !strstr(err.msg, "'client'")) {
		return fail("two clocks of one name", &err);
	}
	if (usk_trace_of_messages(name, 1, msg, N, &trace, &err) != USK_EUSAGE ||
	    !strstr(err.msg, "clock 1")) {
		return fail("a clock without a name", &err);
	}
	if (usk_trace_of_messages(name, 2, msg, N, &trace, &err) ||
	    usk_sync(&trace, 1,
		     &(struct usk_sync_options){ .reference = "client",
						 .max_outliers = -1,
						 .from_ns = USK_NONE,
						 .to_ns = USK_NONE },
		     &clocks, &err)) {
		return fail("sync", &err);
	}
	const struct usk_clock *server = &clocks->clock[1];
	struct usk_map *map = usk_map_new(server, clocks->max_skew_e12);
	int wrong = strcmp(server->name, "server") || server->quality != USK_BOUNDED ||
		    clocks->counts.matched != N || !map;
	for (int64_t t = START; !wrong && t < START + N * INT64_C(10000000); t += 77777777) {
		struct usk_stamp at;
		/* A stamp is rounded down: it stands for 1 ns. */
		wrong = usk_map_at(map, recorded_by_server(t), &at, &err) || at.lo_ns > t ||
			at.hi_ns < t - 1 || at.hi_ns - at.lo_ns > 300000;
	}
	char *json = usk_clocks_to_json(clocks);
	wrong = wrong || !json || !strstr(json, "\"server\"");
	free(json);
	usk_map_free(map);
	usk_clocks_free(clocks);
	usk_trace_close(trace);
	wrong = wrong || limits(name) || fcntl(STDIN_FILENO, F_GETFD) != was;
	printf("%s %s\n", usk_version(), wrong ? "is wrong" : "is right");
	return wrong;
}
