/* SPDX-License-Identifier: MIT */
/* Tables of events and of exchanges, as CSV and as JSON lines; ticks; events joined by their ids.
 */
#include "../fence.h"
#include "match/match.h"
#include "read/read.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EVENTS	  "clock,time_ns,kind,id\n"
#define EXCHANGES "a,b,t1_ns,t2_ns,t3_ns,t4_ns\n"

static const char *const tick_rate[] = { "tick=1000000", "slow=3", "odd=14318180.5" };
static const struct usk_read_options ticking = { .tick_rate = tick_rate, .n_tick_rate = 3 };

/* rows: what is read, one line each. damage: words of the sentence, NULL if there is none. */
static const struct {
	const char *name, *text, *rows, *damage;
} tables[] = {
	{ "no events", EVENTS, "", NULL },
	{ "events", EVENTS "a,1,send,x\nb,-2,recv,x\n", "a 1 send x 0\nb -2 recv x 0\n", NULL },
	{ "columns in any order, others too",
	  "bytes,id,kind,note,time_s,clock\n7,x,send,hi,1.5,a\n", "a 1500000000 send x 7\n", NULL },
	{ "RFC 3339", "clock,time,kind,id\na,2023-11-14T22:13:20.5Z,recv,y\n",
	  "a 1700000000500000000 recv y 0\n", NULL },
	{ "quoted", EVENTS "\"a,b\",1,send,\"say \"\"x\"\"\"\n", "a,b 1 send say \"x\" 0\n", NULL },
	{ "what is left out", EVENTS "a,1,sent,x\n,1,send,x\na,,send,x\na,1,send,\na,2,recv,z\n",
	  "a 2 recv z 0\n", "line 2: its kind is \"sent\", neither send nor recv; 4 rows" },
	{ "ticks", "clock,time_ticks,kind,id\ntick,-1,send,x\nslow,1,recv,x\nslow,-1,recv,y\n",
	  "tick -1000 send x 0\nslow 333333333 recv x 0\nslow -333333334 recv y 0\n", NULL },
	{ "ticks in a column of ns", EVENTS "tick,5,send,x\na,5,recv,x\n",
	  "tick 5000 send x 0\na 5 recv x 0\n", NULL },
	{ "ticks of a fraction", EVENTS "odd,28636361,send,x\n", "odd 2000000000 send x 0\n",
	  NULL },
	{ "seconds of a clock with ticks", "clock,time_s,kind,id\ntick,5,send,x\n",
	  "tick 5000000000 send x 0\n", NULL },
	{ "ticks of no known rate", "clock,time_ticks,kind,id\na,1,send,x\n", "",
	  "--tick-rate a=HZ" },

	{ "an object a line",
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":\"x\"}\n"
	  "{ \"id\" : 7 , \"bytes\" : 3, \"kind\" : \"recv\", \"time_s\" : 1.5 , \"clock\":\"b\" "
	  "}\r\n"
	  "\n"
	  "{\"clock\":\"c\",\"time\":\"1970-01-01T00:00:01Z\",\"kind\":\"send\",\"id\":\"x\"}",
	  "a 1 send x 0\nb 1500000000 recv 7 3\nc 1000000000 send x 0\n", NULL },
	{ "escapes and what else an object has",
	  "{\"x\":{\"a\":[1,\"}]\\\"\"]},\"clock\":\"\\u00e4\\ud83d\\ude00\\n\",\"time_ns\":\"-5\","
	  "\"kind\":\"se\\u006ed\",\"id\":\"\\/\\\\\",\"bytes\":null,\"y\":true}\n",
	  "\xc3\xa4\xf0\x9f\x98\x80\n -5 send /\\ 0\n", NULL },
	{ "the first of a name counts",
	  "{\"clock\":\"a\",\"clock\":\"b\",\"time_ns\":1,\"time_s\":9,\"kind\":\"send\",\"id\":1}"
	  "\n",
	  "a 1 send 1 0\n", NULL },
	{ "objects that are none",
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":1}\n"
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":2\n"
	  "{\"clock\":\"a\",\"time_ns\":1 \"kind\":\"send\",\"id\":2}\n"
	  "{\"clock\":\"a\",\"time_ns\":,\"kind\":\"send\",\"id\":2}\n"
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":\"2}\n"
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":\"\\x\"}\n"
	  "{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":2}}\n"
	  "[1]\n{}\n{\"clock\":[1],\"time_ns\":1,\"kind\":\"send\",\"id\":2}\n"
	  "{\"clock\":\"a\",\"kind\":\"send\",\"id\":2}\n"
	  "{\"clock\":\"a\",\"time_ns\":1e3,\"kind\":\"send\",\"id\":2}\n",
	  "a 1 send 1 0\n", "line 2: is not a JSON object; 11 rows" },
	{ "a NUL in a name", "{\"clock\":\"a\\u0000\",\"time_ns\":1,\"kind\":\"send\",\"id\":2}\n",
	  "", "NUL" },
	{ "BOM", "\xef\xbb\xbf{\"clock\":\"a\",\"time_ns\":1,\"kind\":\"send\",\"id\":\"x\"}\n",
	  "a 1 send x 0\n", NULL },
	{ "messages as objects",
	  "{\"sender\":\"a\",\"receiver\":\"b\",\"sent_ns\":1,\"received_s\":2}\n",
	  "a b 1 2000000000 0\n", NULL },

	{ "exchanges", EXCHANGES "a,b,1,2,3,4\na,c,5,6,7,8\n",
	  "a b 1 2 0\nb a 3 4 0\na c 5 6 0\nc a 7 8 0\n", NULL },
	{ "exchanges in many units",
	  "t4_ticks,t3_s,t2,t1_ticks,b,a,bytes\n20,1.5,1970-01-01T00:00:01Z,10,s,tick,48\n",
	  "tick s 10000 1000000000 48\ns tick 1500000000 20000 48\n", NULL },
	{ "an exchange that lacks a stamp", EXCHANGES "a,b,1,2,,4\na,b,1,2,3,4\n",
	  "a b 1 2 0\nb a 3 4 0\n", "line 2" },
	{ "exchanges as objects",
	  "{\"a\":\"p\",\"b\":\"q\",\"t1_ns\":1,\"t2_ns\":2,\"t3_ns\":3,\"t4_ns\":4}\n",
	  "p q 1 2 0\nq p 3 4 0\n", NULL },
};

static void append(char **text, char *more)
{
	char *all = usk_format("%s%s", *text, more);
	free(*text);
	free(more);
	*text = all;
}

static char *message_text(const struct usk_trace *t, const struct usk_msg *m)
{
	return usk_format("%s %s %lld %lld %u\n", usk_trace_clock_name(t, m->from),
			  usk_trace_clock_name(t, m->to), (long long)m->sent_ns,
			  (long long)m->received_ns, m->bytes);
}

/* Ids of up to 15 bytes can be read again. */
static char *event_text(const struct usk_trace *t, const struct usk_event *e)
{
	char id[16];
	memcpy(id, &e->id, sizeof id);
	return usk_format("%s %lld %s %.*s %u\n", usk_trace_clock_name(t, e->clock),
			  (long long)e->time_ns, e->side == USK_SIDE_SENT ? "send" : "recv", id[15],
			  id, e->bytes);
}

static char *rows_of(struct usk_trace *t, size_t batch, struct usk_err *err)
{
	char *text = usk_strdup("");
	for (size_t n = 1; n;) {
		struct usk_event e[16];
		struct usk_msg m[16];
		bool events = usk_trace_class(t) == USK_TRACE_EVENTS;
		enum usk_status status = events ? usk_trace_sides(t, e, batch, &n, err)
						: usk_trace_messages(t, m, batch, &n, err);
		if (status) {
			fail_msg("%s", err->msg);
		}
		for (size_t i = 0; i < n; i++) {
			append(&text, events ? event_text(t, &e[i]) : message_text(t, &m[i]));
		}
	}
	return text;
}

static void test_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct usk_err err = { 0 };
		struct usk_trace *t;
		if (usk_trace_open_memory_with(tables[i].text, strlen(tables[i].text), "t",
					       &ticking, &t, &err)) {
			fail_msg("%s: %s", tables[i].name, err.msg);
		}
		for (size_t batch = 1; batch < 17; batch += 5) {
			char *rows = rows_of(t, batch, &err);
			if (strcmp(rows, tables[i].rows) != 0) {
				fail_msg("%s: %s", tables[i].name, rows);
			}
			const char *damage = usk_trace_damage(t);
			if (!damage != !tables[i].damage ||
			    (damage && !strstr(damage, tables[i].damage))) {
				fail_msg("%s: damage: %s", tables[i].name,
					 damage ? damage : "none");
			}
			free(rows);
			assert_int_equal(usk_trace_rewind(t, &err), USK_OK);
		}
		usk_trace_close(t);
	}
}

static const struct {
	const char *text, *says;
} refused[] = {
	{ "clock,kind,id\na,send,1\n", "needs time_ns, time_s, time or time_ticks; found clock," },
	{ "clock,time_ms,kind,id\n", "needs time_ns, time_s, time or time_ticks; found clock," },
	{ "clock,time_ns,id\n", "line 1: the event table needs kind; found clock,time_ns,id" },
	{ "time_ns,kind,id\n", "needs clock" },
	{ "clock,time_ns,kind\n", "needs id" },
	{ "a,b,t1_ns,t2_ns,t3_ns\n", "the table of exchanges needs t4_ns, " },
	{ "b,t1_ns,t2_ns,t3_ns,t4_ns\n", "needs a;" },
	{ "clock,time_ns,kind,\"id\n", "quote" },
	{ "a,b,c,d\n", "unknown format (a table with the columns a, b, c, d): " },
	{ "{\"a\":1,\"b\":2}\n", "unknown format (JSON with the keys a, b): " },
	{ "{\"clock\":1}\n", "unknown format" },
	{ "snoop\0\0\0", "`editcap -F pcapng OLD NEW` converts" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct usk_err err = { 0 };
		struct usk_trace *t = NULL;
		enum usk_status status = usk_trace_open_memory(
			refused[i].text, strlen(refused[i].text), "t", &t, &err);
		if (status != USK_EINPUT || !strstr(err.msg, refused[i].says)) {
			fail_msg("%s: %s", refused[i].text, err.msg);
		}
	}
	static const char *const far[] = {
		EVENTS "a,4611686018427387905,send,x\n",
		EVENTS "slow,-9223372036854775807,send,x\n",
		EVENTS "tick,99999999999999999999,send,x\n",
		EXCHANGES "a,b,1,2,3,4611686018427387905\n",
	};
	for (size_t i = 0; i < COUNT(far); i++) {
		struct usk_err err = { 0 };
		struct usk_trace *t;
		struct usk_event e;
		struct usk_msg m;
		size_t n;
		assert_int_equal(
			usk_trace_open_memory_with(far[i], strlen(far[i]), "t", &ticking, &t, &err),
			USK_OK);
		enum usk_status status = usk_trace_class(t) == USK_TRACE_EVENTS
						 ? usk_trace_sides(t, &e, 1, &n, &err)
						 : usk_trace_messages(t, &m, 1, &n, &err);
		if (status != USK_ERANGE || err.at != 2 || !strstr(err.msg, "t: line 2: ")) {
			fail_msg("%s: %s", far[i], err.msg);
		}
		usk_trace_close(t);
	}
	static const char *const rates[] = { "a",    "=5",    "a=",	     "a=0",
					     "a=-1", "a=1e6", "a=0.0000001", "a=5hz" };
	for (size_t i = 0; i < COUNT(rates); i++) {
		struct usk_err err = { 0 };
		struct usk_trace *t;
		struct usk_read_options o = { .tick_rate = &rates[i], .n_tick_rate = 1 };
		assert_int_equal(
			usk_trace_open_memory_with(EVENTS, strlen(EVENTS), "t", &o, &t, &err),
			USK_EUSAGE);
		assert_non_null(strstr(err.msg, rates[i]));
	}
}

/* What else there is to give is said of whatever is none of it, and never cut short. */
static void test_formats_said(void **state)
{
	(void)state;
	enum { ROOM = 100 }; /* for a path and for what was found */
	static const char *const text[] = { "just some text\n", "a,b,c,d\n" };
	for (int table = 0; table < 2; table++) {
		struct usk_err err = { 0 };
		struct usk_trace *t;
		const struct usk_reader_info *r;
		assert_int_equal(
			usk_trace_open_memory(text[table], strlen(text[table]), "t", &t, &err),
			USK_EINPUT);
		assert_true(strlen(err.msg) < sizeof err.msg - ROOM);
		for (size_t i = 0; (r = usk_reader(i)); i++) {
			bool columns = strchr(r->said, ',') && strchr(r->said, '_');
			const char *said = columns && !table ? r->name : r->said;
			assert_true((table && !columns) || strstr(err.msg, said));
		}
	}
}

/* What a tick lasts is what stamps are rounded down to. */
static void test_resolution(void **state)
{
	(void)state;
	static const char text[] = EVENTS "tick,1,send,x\na,5,recv,x\nodd,1,recv,x\n";
	struct usk_trace *t;
	struct usk_err err;
	assert_int_equal(usk_trace_open_memory_with(text, strlen(text), "t", &ticking, &t, &err),
			 USK_OK);
	free(rows_of(t, 8, &err));
	assert_int_equal(usk_trace_clock_resolution(t, 0), 1000);
	assert_int_equal(usk_trace_clock_resolution(t, 1), 0);
	assert_int_equal(usk_trace_clock_resolution(t, 2), 70);
	usk_trace_close(t);
}

/* Ids: equal where the text is, different where it is not, short or long. */
static void test_ids(void **state)
{
	(void)state;
	enum { N = 300 };
	struct usk_event_id id[N];
	char text[N];
	memset(text, 'x', sizeof text);
	for (size_t n = 0; n < N; n++) {
		id[n] = usk_event_id(text, n);
		char *copy = fence_new(text, n);
		struct usk_event_id again = usk_event_id(copy, n);
		assert_memory_equal(&again, &id[n], sizeof again);
		for (size_t i = 0; i < n; i++) {
			copy[i] ^= 1;
			again = usk_event_id(copy, n);
			assert_memory_not_equal(&again, &id[n], sizeof again);
			copy[i] ^= 1;
		}
		fence_free(copy, n);
		for (size_t m = 0; m < n; m++) {
			assert_memory_not_equal(&id[m], &id[n], sizeof again);
		}
	}
}

/* ---- joined ------------------------------------------------------------------------------- */

struct list {
	struct usk_msg *msg;
	size_t n, cap;
};

static void keep(struct list *l, const struct usk_msg *msg, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		l->msg = usk_room(l->msg, l->n, &l->cap, sizeof *l->msg);
		l->msg[l->n++] = msg[i];
	}
}

/* The rule, word by word: quadratic. */
static void join_plainly(const struct usk_event *e, size_t n, struct list *out,
			 struct usk_counts *counts)
{
	for (size_t i = 0; i < n; i++) {
		size_t sends = 0, receives = 0, sent = 0;
		for (size_t k = 0; k < n; k++) {
			if (memcmp(&e[k].id, &e[i].id, sizeof e->id) == 0) {
				sends += e[k].side == USK_SIDE_SENT;
				receives += e[k].side == USK_SIDE_RECEIVED;
				sent = e[k].side == USK_SIDE_SENT ? k : sent;
			}
		}
		if (!sends || !receives) {
			counts->unmatched++;
		} else if (sends > 1) {
			counts->ambiguous += e[i].side == USK_SIDE_RECEIVED;
		} else if (e[i].side == USK_SIDE_RECEIVED && e[i].clock != e[sent].clock) {
			bool first = true;
			for (size_t k = 0; k < n; k++) {
				first = first &&
					!(memcmp(&e[k].id, &e[i].id, sizeof e->id) == 0 &&
					  e[k].side == e[i].side && e[k].clock == e[i].clock &&
					  (e[k].time_ns < e[i].time_ns ||
					   (e[k].time_ns == e[i].time_ns && k < i)));
			}
			struct usk_msg m = { e[sent].time_ns, e[i].time_ns, e[sent].clock,
					     e[i].clock, e[sent].bytes };
			if (first) {
				keep(out, &m, 1);
			}
		}
	}
}

static int whole_order(const void *a, const void *b)
{
	const struct usk_msg *x = a, *y = b;
	int order = usk_msg_order(a, b);
	return order ? order : (x->to > y->to) - (x->to < y->to);
}

static void test_join(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 99);
	for (int round = 0; round < 60; round++) {
		struct usk_event e[200];
		size_t n = (size_t)usk_rng_below(&r, COUNT(e)) + 1;
		uint64_t ids = usk_rng_below(&r, 150) + 1, clocks = usk_rng_below(&r, 4) + 1;
		struct usk_join *j = usk_join_new();
		for (size_t i = 0; i < n; i++) {
			char *id = usk_format("%s%d", round % 2 ? "an identifier of 20 " : "",
					      (int)usk_rng_below(&r, ids));
			e[i] = (struct usk_event){
				.time_ns = (int64_t)usk_rng_below(&r, 1000) - 500,
				.id = usk_event_id(id, strlen(id)),
				.clock = (uint32_t)usk_rng_below(&r, clocks),
				.bytes = 7,
				.side = usk_rng_below(&r, 2) ? USK_SIDE_SENT : USK_SIDE_RECEIVED,
			};
			free(id);
			assert_int_equal(usk_join_add(j, &e[i], 1, NULL), USK_OK);
		}
		struct list ours = { 0 }, theirs = { 0 };
		struct usk_counts counts = { 0 }, expected = { 0 };
		assert_int_equal(usk_join_run(j, &counts, NULL), USK_OK);
		for (int again = 0; again < 2; again++) {
			struct usk_msg m[7];
			ours.n = 0;
			for (size_t k = 1; k; keep(&ours, m, k)) {
				assert_int_equal(usk_join_messages(j, m, 7, &k, NULL), USK_OK);
			}
			usk_join_rewind(j);
		}
		join_plainly(e, n, &theirs, &expected);
		assert_int_equal(ours.n, theirs.n);
		assert_int_equal(counts.unmatched, expected.unmatched);
		assert_int_equal(counts.ambiguous, expected.ambiguous);
		if (ours.n) {
			qsort(ours.msg, ours.n, sizeof *ours.msg, whole_order);
			qsort(theirs.msg, theirs.n, sizeof *theirs.msg, whole_order);
			for (size_t i = 0; i < ours.n; i++) {
				assert_int_equal(whole_order(&ours.msg[i], &theirs.msg[i]), 0);
				assert_int_equal(ours.msg[i].bytes, 7);
			}
		}
		free(ours.msg);
		free(theirs.msg);
		usk_join_free(j);
	}
}

/* Each machine's own table of events says what the one table of messages says. */
static void test_sync(void **state)
{
	(void)state;
	struct bytes table = { 0 }, side[2] = { { 0 }, { 0 } };
	struct usk_rng r;
	usk_rng_seed(&r, 4);
	put_text(&table, HEAD);
	exchange(&table, &clockworks[1], &r, 200);
	struct usk_trace *t;
	struct usk_err err;
	assert_int_equal(usk_trace_open_memory(table.data, table.n, "m", &t, &err), USK_OK);
	put_text(&side[0], "clock,kind,id,time_ns\n");
	struct usk_msg m[64];
	for (size_t n = 1, id = 0; n;) {
		assert_int_equal(usk_trace_messages(t, m, COUNT(m), &n, &err), USK_OK);
		for (size_t i = 0; i < n; i++, id++) {
			for (int got = 0; got < 2; got++) {
				uint32_t clock = got ? m[i].to : m[i].from;
				int64_t ns = got ? m[i].received_ns : m[i].sent_ns;
				const char *name = usk_trace_clock_name(t, clock);
				const char *kind = got ? "recv" : "send";
				char *line =
					clock ? usk_format(
							"{\"clock\":\"%s\",\"kind\":\"%s\",\"id\":"
							"\"%zu\",\"time_ns\":%lld}\n",
							name, kind, id, (long long)ns)
					      : usk_format("%s,%s,%zu,%lld\n", name, kind, id,
							   (long long)ns);
				put_text(&side[clock], line);
				free(line);
			}
		}
	}
	usk_trace_close(t);
	struct traces both = { .n = 0 };
	add(&both, &side[0], "a");
	add(&both, &side[1], "b");
	struct usk_clocks *c;
	if (usk_sync(both.t, both.n, &defaults, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	struct usk_clocks *expected = sync_table(&table, &defaults);
	assert_int_equal(c->counts.matched, expected->counts.matched);
	const struct usk_clock *x = clock_named(c, "b"), *y = clock_named(expected, "b");
	assert_int_equal(x->n_knots, y->n_knots);
	for (size_t i = 0; i < x->n_knots; i++) {
		assert_int_equal(x->knot[i].local_ns, y->knot[i].local_ns);
		assert_int_equal(x->knot[i].offset_ns, y->knot[i].offset_ns);
		assert_int_equal(x->knot[i].lo_ns, y->knot[i].lo_ns);
		assert_int_equal(x->knot[i].hi_ns, y->knot[i].hi_ns);
	}
	usk_clocks_free(c);
	usk_clocks_free(expected);
	close_all(&both);
	bytes_free(&table);
	bytes_free(&side[0]);
	bytes_free(&side[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),	     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_formats_said), cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_ids),	     cmocka_unit_test(test_join),
		cmocka_unit_test(test_sync),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
