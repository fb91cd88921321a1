/* SPDX-License-Identifier: MIT */
/*
 * Events of CTF traces that rules name: what a key is, of fields and arrays, and whose event it is.
 */
#include "ctf_folder.h"
#include "ctf_making.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START INT64_C(1700000000000000000)

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
	} keys[] = { { "names", EVENTS }, { "reals", EVENTS }, { "singles", EVENTS },
		     { "pairs", EVENTS }, { "inner", 0 },      { "boxes", 0 } };
	char *path = ctf_folder("arrays");
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
		struct usk_trace *t = ctf_open(path, &o);
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
	char *path = ctf_folder("keys");
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
		struct usk_trace *t = ctf_open(path, &o);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array_keys),
		cmocka_unit_test(test_keys),
	};
	return cmocka_run_group_tests(tests, ctf_folders_make, ctf_folders_remove);
}
