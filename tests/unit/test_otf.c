/* SPDX-License-Identifier: MIT */
/*
 * OTF2, behind the library: which send is of which receive, which calls are of one collective, and what
 * is left out, as it cannot be told. Whole traces and the truth are tests/sim/otf2.py's.
 */
#include "otf/otf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of events: a word, then what belongs to it in this order. */
static const struct {
	const char *word;
	enum otf2_kind kind;
	const char *fields; /* t value, r request, c comm, w who, g tag, o op, f flag */
} words[] = {
	{ "read", ITEM_READ, "t" },	     { "over", ITEM_OVER, "t" },
	{ "send", ITEM_SEND, "twcg" },	     { "recv", ITEM_RECEIVE, "twcg" },
	{ "post", ITEM_POST, "tr" },	     { "done", ITEM_COMPLETE, "twcgr" },
	{ "cancel", ITEM_CANCEL, "tr" },     { "begin", ITEM_BEGIN, "t" },
	{ "end", ITEM_FINISH, "tocwf" },     { "request", ITEM_REQUEST, "tr" },
	{ "fulfil", ITEM_FULFIL, "tocwfr" }, { "off", ITEM_OFF, "t" },
};

enum { MOST = 64 };

struct taken {
	struct otf2_row row[MOST];
	size_t n;
};

static enum usk_status keep(void *ctx, const struct otf2_row *row, struct usk_err *err)
{
	struct taken *y = ctx;
	(void)err;
	assert_true(y->n < MOST);
	y->row[y->n++] = *row;
	return USK_OK;
}

static void set_field(struct otf2_item *item, char field, uint64_t x)
{
	switch (field) {
	case 't':
		item->value = x;
		break;
	case 'r':
		item->request = x;
		break;
	case 'c':
		item->comm = (uint32_t)x;
		break;
	case 'w':
		item->who = (uint32_t)x;
		break;
	case 'g':
		item->tag = (uint32_t)x;
		break;
	case 'o':
		item->op = (uint8_t)x;
		break;
	default:
		item->flag = (uint8_t)x;
	}
}

/* The next "word number number ...;" */
static bool next(const char **at, struct otf2_item *item)
{
	char word[16];
	int n;
	if (sscanf(*at, " %15[a-z]%n", word, &n) != 1) {
		return false;
	}
	*at += n;
	for (size_t i = 0; i < COUNT(words); i++) {
		if (!strcmp(words[i].word, word)) {
			*item = (struct otf2_item){ .kind = (uint8_t)words[i].kind };
			for (const char *f = words[i].fields; *f; f++) {
				unsigned long long x;
				assert_int_equal(sscanf(*at, "%llu%n", &x, &n), 1);
				*at += n;
				set_field(item, *f, x);
			}
			if (**at == '!') { /* the file is cut short there */
				memcpy(item->text, "ends early", 10);
				item->n = 10;
				++*at;
			}
			*at += **at == ';';
			return true;
		}
	}
	fail_msg("no word: %s", word);
	return false;
}

/* Processes 0 to 3, each a thread 0 to 3, and 0 one more, 9; communicators 0 of all, 1 of processes 1
 * and 3, 2 between these and 0, 3 of oneself. */
static void define_all(struct otf2_world *w)
{
	usk_otf2_define(w, &(struct otf2_item){ .kind = ITEM_CLOCK, .value = 1000000000 });
	for (uint64_t i = 0; i < 4; i++) {
		usk_otf2_define(w, &(struct otf2_item){
					   .kind = ITEM_PROCESS, .value = i, .n = 1, .text = "p" });
		usk_otf2_define(
			w, &(struct otf2_item){ .kind = ITEM_LOCATION, .value = i, .request = i });
	}
	const struct otf2_item rest[] = {
		{ .kind = ITEM_LOCATION, .value = 9 },
		{ .kind = ITEM_GROUP,
		  .op = OTF2_WORLD,
		  .value = 1,
		  .n = 32,
		  .member = { 0, 1, 2, 3 } },
		{ .kind = ITEM_GROUP, .op = OTF2_PART, .value = 2, .n = 16, .member = { 0, 1 } },
		{ .kind = ITEM_GROUP,
		  .op = OTF2_PART,
		  .value = 2,
		  .n = 16,
		  .member = { 2, 3 },
		  .flag = OTF2_MORE },
		/* a second definition counts for nothing */
		{ .kind = ITEM_GROUP, .op = OTF2_PART, .value = 1, .n = 16, .member = { 3, 2 } },
		{ .kind = ITEM_GROUP, .op = OTF2_PART, .value = 3, .n = 16, .member = { 1, 3 } },
		{ .kind = ITEM_GROUP, .op = OTF2_PART, .value = 4, .n = 8, .member = { 0 } },
		{ .kind = ITEM_GROUP, .op = OTF2_SELF, .value = 5 },
		{ .kind = ITEM_COMM, .value = 0, .who = 2, .tag = OTF2_NOWHERE },
		{ .kind = ITEM_COMM, .value = 1, .who = 3, .tag = OTF2_NOWHERE },
		{ .kind = ITEM_COMM, .value = 2, .who = 4, .tag = 3 },
		{ .kind = ITEM_COMM, .value = 3, .who = 5, .tag = OTF2_NOWHERE },
		{ .kind = ITEM_READY },
	};
	for (size_t i = 0; i < COUNT(rest); i++) {
		usk_otf2_define(w, &rest[i]);
	}
}

/* Rows of one id together: "0@5>1@9 " is a message, "barrier 0@1-4 1@2-5 " a collective. */
static void show(const struct otf2_numbers *x, struct taken *y, char *out)
{
	for (size_t i = 0; i < y->n; i++) {
		struct usk_collective *a = &y->row[i].x;
		if (!usk_otf2_holds(x, &y->row[i]) || a->kind == USK_NO_COLLECTIVE) {
			continue;
		}
		bool message = a->kind == USK_MESSAGE;
		const struct usk_event_id id = a->id;
		if (!message) {
			out += sprintf(out, "%s ", usk_collective_name(a->kind));
		}
		for (int root = 1; root >= 0; root--) {
			for (size_t k = i; k < y->n; k++) {
				struct usk_collective *b = &y->row[k].x;
				if (memcmp(&b->id, &id, sizeof id) != 0 || b->root != root ||
				    b->kind == USK_NO_COLLECTIVE) {
					continue;
				}
				out += sprintf(out, "%s%u@%lld", message && !root ? ">" : "",
					       b->clock, (long long)b->enter_ns);
				out += message ? 0
					       : sprintf(out, "-%lld%s ", (long long)b->exit_ns,
							 root ? "*" : "");
				b->kind = USK_NO_COLLECTIVE;
			}
		}
		out += sprintf(out, message ? " " : "");
	}
	out[-1] = 0;
}

static const struct {
	const char *name, *events, *rows, *said;
} cases[] = {
	{ "in order, by tag",
	  "read 0; send 5 1 0 7; send 6 1 0 8; send 7 1 0 7; over 0; "
	  "read 1; recv 9 0 0 8; recv 10 0 0 7; recv 12 0 0 7; over 1;",
	  "0@5>1@10 0@6>1@9 0@7>1@12", NULL },
	{ "receives match as they were posted, not as they were done",
	  "read 0; send 5 1 0 7; send 6 1 0 7; over 0; "
	  "read 1; post 1 11; post 2 12; done 8 0 0 7 12; done 9 0 0 7 11; over 1;",
	  "0@5>1@9 0@6>1@8", NULL },
	{ "a receive that was given up takes no message",
	  "read 0; send 5 1 0 7; over 0; "
	  "read 1; post 1 11; post 2 12; cancel 3 11; done 8 0 0 7 12; over 1;",
	  "0@5>1@8", NULL },
	{ "one that never ended may have: the next bounds less, but nothing false",
	  "read 0; send 5 1 0 7; send 6 1 0 7; over 0; "
	  "read 1; post 1 11; post 2 12; done 8 0 0 7 12; over 1;",
	  "0@5>1@8 0@6", NULL },
	{ "a request's number comes again",
	  "read 0; send 5 1 0 7; send 6 1 0 7; over 0; "
	  "read 1; post 1 11; done 8 0 0 7 11; post 8 11; done 9 0 0 7 11; over 1;",
	  "0@5>1@8 0@6>1@9", NULL },
	{ "of communicators apart, and between two",
	  "read 1; send 5 1 1 7; send 6 0 2 7; send 7 0 3 7; over 1; "
	  "read 3; recv 9 0 1 7; over 3; read 0; recv 8 0 2 7; send 9 1 2 7; over 0; "
	  "read 3; recv 12 0 2 7; over 3;",
	  "1@5>3@9 1@6>0@8 0@9>3@12", NULL },
	{ "more receives than sends: some send was not recorded",
	  "read 0; send 5 1 0 7; over 0; read 9; over 9; read 1; recv 9 0 0 7; recv 10 0 0 7; over "
	  "1;",
	  "",
	  "calls not used: 3 whose counterparts are fewer than they are, though all files are "
	  "whole" },
	{ "but not where the sender's file is cut short",
	  "read 0; send 5 1 0 7; over 0!; read 9; over 9; "
	  "read 1; recv 9 0 0 7; recv 10 0 0 7; over 1;",
	  "0@5>1@9 >1@10", "\"p\" ends early" },
	{ "nothing after recording was switched off",
	  "read 0; send 5 1 0 7; off 6; send 7 1 0 7; over 0; read 9; over 9; "
	  "read 1; recv 9 0 0 7; recv 10 0 0 7; over 1;",
	  "0@5>1@9 >1@10",
	  "calls not used: 1 after recording was switched off, as only their order tells "
	  "which is which" },
	{ "threads that send alike",
	  "read 0; send 5 1 0 7; over 0; read 9; send 6 1 0 7; send 6 1 0 8; over 9; "
	  "read 1; recv 9 0 0 7; recv 10 0 0 8; over 1;",
	  "0@6>1@10",
	  "calls not used: 3 of several threads of a process, whose order is not known" },
	{ "stamps that fall",
	  "read 0; send 5 1 0 7; send 4 1 0 7; over 0; read 1; recv 9 0 0 7; over 1;", ">1@9",
	  "\"p\" has stamps that fall, so nothing of it is used" },
	{ "what is not defined",
	  "read 0; send 5 4 0 7; send 5 0 8 7; over 0; read 77; send 5 1 0 7; over 77;", "",
	  "calls not used: 2 of communicators or ranks that are not defined" },
	{ "collectives by communicator and kind",
	  "read 0; begin 1; end 4 0 0 0 0; begin 5; end 6 1 0 2 1; over 0; "
	  "read 1; begin 2; end 4 0 0 0 0; begin 6; end 6 0 1 0 0; begin 6; end 8 1 0 2 2; over 1; "
	  "read 2; begin 7; end 9 1 0 2 1; over 2; read 3; begin 1; end 7 0 1 0 0; over 3;",
	  "barrier 0@1-4 1@2-4 broadcast 2@7-9* 0@5-6 1@6-8 barrier 1@6-6 3@1-7", NULL },
	{ "those that nobody waits for yet, as they were called",
	  "read 1; request 1 11; request 2 12; fulfil 5 0 1 0 0 12; fulfil 6 0 1 0 0 11; over 1; "
	  "read 3; request 3 21; fulfil 4 0 1 0 0 21; begin 5; end 7 0 1 0 0; over 3;",
	  "barrier 1@1-6 3@3-4 barrier 1@2-5 3@5-7", NULL },
	{ "behind one that never ends nobody knows which is which",
	  "read 1; request 1 11; begin 2; end 3 0 1 0 0; over 1; "
	  "read 3; begin 2; end 4 0 1 0 0; over 3;",
	  "barrier 3@2-4", "calls not used: 2 whose beginning or end was not recorded in time" },
	{ "members that called it differently often",
	  "read 1; begin 1; end 2 0 1 0 0; begin 3; end 4 0 1 0 0; over 1; "
	  "read 3; begin 3; end 5 0 1 0 0; over 3;",
	  "",
	  "calls not used: 3 whose counterparts are fewer than they are, though all files are "
	  "whole" },
	{ "no bytes, own shares, and kinds that say nothing",
	  "read 1; begin 1; end 2 11 1 0 0; begin 3; end 4 7 1 0 3; begin 5; end 6 9 1 0 3; "
	  "begin 7; end 8 17 1 0 3; begin 8; end 9 200 1 0 3; over 1; "
	  "read 3; begin 1; end 2 11 1 0 0; begin 3; end 4 7 1 0 2; over 3;",
	  "allgather 1@3-4",
	  "calls not used: 3 of collectives in which nobody waits, as no bytes are moved, 1 of "
	  "alltoallv, in which members need not wait, 1 of an operation that is not known, in "
	  "which members need not wait" },
	{ "a scan: each waits for lower ranks",
	  "read 0; begin 1; end 5 14 0 0 3; over 0; read 1; begin 2; end 6 14 0 0 3; over 1; "
	  "read 2; begin 3; end 7 14 0 0 3; over 2; read 3; begin 4; end 8 14 0 0 3; over 3;",
	  "0@1>1@6>2@7>3@8 1@2>2@7 2@3>3@8", NULL },
	{ "between two groups", "read 1; begin 1; end 2 0 2 0 0; over 1;", "",
	  "calls not used: 1 of collectives between two groups" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct otf2_world w = { 0 };
		struct taken y = { .n = 0 };
		struct otf2_numbers x = {
			.world = &w, .put = keep, .ctx = &y, .process = OTF2_NOWHERE
		};
		struct otf2_item item;
		char rows[1024] = " ", *at = rows + 1;
		define_all(&w);
		for (const char *p = cases[i].events; next(&p, &item);) {
			assert_int_equal(usk_otf2_take(&x, &item, NULL), USK_OK);
		}
		usk_otf2_judge(&x);
		show(&x, &y, at);
		char *damage = usk_otf2_damage(&x);
		char *said = damage ? damage : usk_otf2_remark(&x);
		if (strcmp(at, cases[i].rows) != 0 ||
		    strcmp(said ? said : "", cases[i].said ? cases[i].said : "") != 0) {
			fail_msg("%s:\n%s\n%s", cases[i].name, at, said ? said : "");
		}
		free(said);
		usk_otf2_numbers_free(&x);
		usk_otf2_world_free(&w);
	}
}

/* A receive that is open all the time holds up no more than a queue's length. */
static void test_long_open(void **state)
{
	enum { MANY = 200000 };
	struct otf2_queue q = { 0 };
	uint64_t settled = 0;
	(void)state;
	usk_otf2_push(&q, (struct otf2_post){ .request = 1, .state = OTF2_OPEN });
	for (uint64_t i = 2; i < MANY; i++) {
		usk_otf2_push(&q, (struct otf2_post){ .request = i, .state = OTF2_OPEN });
		struct otf2_post *p = usk_otf2_open(&q, i);
		assert_non_null(p);
		p->state = OTF2_DONE;
		for (; usk_otf2_front(&q); usk_otf2_pop(&q)) {
			settled++;
		}
		assert_true(q.n < 1 << 17 && q.open.n < 1 << 19);
	}
	assert_null(usk_otf2_open(&q, 1));
	assert_int_equal(settled, MANY - 1);
	usk_otf2_empty(&q);
}

static const struct {
	uint64_t hz, ticks;
	int64_t ns;
} times[] = {
	{ 1000000000, 1700000000123456789, 1700000000123456789 },
	{ 2095197216, 7397467382760060, 3530678318140749 },
	{ 1000000, 1700000000123456, 1700000000123456000 },
	{ 3, 1, 333333333 },
	{ 1, 4611686018, 4611686018000000000 },
};

static void test_times(void **state)
{
	int64_t ns;
	(void)state;
	for (size_t i = 0; i < COUNT(times); i++) {
		struct otf2_world w = { .hz = times[i].hz };
		assert_true(usk_otf2_time(&w, times[i].ticks, &ns));
		assert_int_equal(ns, times[i].ns);
	}
	assert_false(usk_otf2_time(&(struct otf2_world){ .hz = 1 }, 4611686019, &ns));
	assert_false(usk_otf2_time(&(struct otf2_world){ .hz = 1 }, UINT64_MAX, &ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_long_open),
		cmocka_unit_test(test_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
