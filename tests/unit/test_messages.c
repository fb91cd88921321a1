/* SPDX-License-Identifier: MIT */
/* Message tables: columns, units, quotes, names; and rows that are damaged. */
#include "../fence.h"
#include "making.h"
#include "read/read.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD "sender,receiver,sent_ns,received_ns\n"

/* rows: what is read, one line each. damage: words of the sentence, NULL if there is none. */
static const struct {
	const char *name, *text, *rows, *damage;
} tables[] = {
	{ "no rows", HEAD, "", NULL },
	{ "header without an end", "sender,receiver,sent_ns,received_ns", "", NULL },
	{ "one", HEAD "a,b,1,2\n", "a b 1 2 0\n", NULL },
	{ "no end", HEAD "a,b,1,2", "a b 1 2 0\n", NULL },
	{ "both ways", HEAD "a,b,1,2\nb,a,-3,-2\n", "a b 1 2 0\nb a -3 -2 0\n", NULL },
	{ "columns in any order, others too",
	  "id,received_ns,bytes,sent_ns,note,receiver,sender\n7,20,99,10,hello,b,a\n",
	  "a b 10 20 99\n", NULL },
	{ "more columns than the header says", HEAD "a,b,1,2,3,4,,,\n", "a b 1 2 0\n", NULL },
	{ "bytes are optional",
	  "sender,receiver,sent_ns,received_ns,bytes\na,b,1,2,\na,b,1,2,4294967295\n",
	  "a b 1 2 0\na b 1 2 4294967295\n", NULL },
	{ "seconds",
	  "sender,receiver,sent_s,received_s\na,b,1.5,-0.000000001\na,b,0.0000000019,3\n",
	  "a b 1500000000 -1 0\na b 1 3000000000 0\n", NULL },
	{ "RFC 3339",
	  "sender,receiver,sent,received\na,b,2023-11-14T22:13:20.5Z,2023-11-14 23:13:21+01:00\n",
	  "a b 1700000000500000000 1700000001000000000 0\n", NULL },
	{ "units mixed", "sender,receiver,sent_ns,received_s\na,b,5,6\n", "a b 5 6000000000 0\n",
	  NULL },
	{ "the first column of a name counts",
	  "sender,receiver,sent_ns,received_ns,sent_ns,sender\na,b,1,2,3,c\n", "a b 1 2 0\n",
	  NULL },
	{ "CR LF", "sender,receiver,sent_ns,received_ns\r\na,b,1,2\r\n\r\n", "a b 1 2 0\n", NULL },
	{ "BOM", "\xef\xbb\xbf" HEAD "a,b,1,2\n", "a b 1 2 0\n", NULL },
	{ "BOM and quotes", "\xef\xbb\xbf\"sender\",receiver,sent_ns,received_ns\na,b,1,2\n",
	  "a b 1 2 0\n", NULL },
	{ "quoted", "\"sender\",\"receiver\",\"sent_ns\",\"received_ns\"\n\"a\",b,\"1\",2\n",
	  "a b 1 2 0\n", NULL },
	{ "commas and quotes in names", HEAD "\"a,b\",\"say \"\"c\"\"\",1,2\n\"\"\"\",b,3,4\n",
	  "a,b say \"c\" 1 2 0\n\" b 3 4 0\n", NULL },
	{ "blanks belong to names", HEAD " a,b ,1,2\n", " a b  1 2 0\n", NULL },
	{ "not ASCII", HEAD "K\xc3\xb6ln,\xe6\x9d\xb1\xe4\xba\xac,1,2\n",
	  "K\xc3\xb6ln \xe6\x9d\xb1\xe4\xba\xac 1 2 0\n", NULL },
	{ "empty lines", HEAD "\n\na,b,1,2\n\na,b,3,4\n\n", "a b 1 2 0\na b 3 4 0\n", NULL },
	{ "to itself", HEAD "a,a,1,2\n", "a a 1 2 0\n", NULL },
	{ "as far as it goes", HEAD "a,b,4611686018427387904,-4611686018427387904\n",
	  "a b 4611686018427387904 -4611686018427387904 0\n", NULL },
	{ "signs and zeros", HEAD "a,b,+1,-0\na,b,0000000000000000000000000000005,2\n",
	  "a b 1 0 0\na b 5 2 0\n", NULL },

	{ "cut after a column", HEAD "a,b,1,2\na,b,1", "a b 1 2 0\n", "line 3" },
	{ "cut after a comma", HEAD "a,b,1,2\na,b,1,", "a b 1 2 0\n", "line 3" },
	{ "cut in a quote", HEAD "a,b,1,2\n\"a", "a b 1 2 0\n", "quote" },
	{ "a quote that goes on", HEAD "a,b,1,2\n\"a\"x,b,1,2\na,b,5,6\n", "a b 1 2 0\na b 5 6 0\n",
	  "line 3" },
	{ "a quote within a name", HEAD "a\"b,c,1,2\n", "a\"b c 1 2 0\n", NULL },
	{ "a line end within quotes", HEAD "\"a\nb\",c,1,2\na,c,3,4\n", "a c 3 4 0\n",
	  "line 2: has a quote that is not closed; 2 rows" },
	{ "no number", HEAD "a,b,1,2\na,b,x,2\na,b,3,4\n", "a b 1 2 0\na b 3 4 0\n",
	  "t: line 3: \"x\" is not a whole number; 1 row skipped" },
	{ "several", HEAD "a\na,b,1,2\na,b,x,2\na,b,3,4\n,b,3,4\n", "a b 1 2 0\na b 3 4 0\n",
	  "t: line 2: has 1 column where 4 are needed; 3 rows skipped, this is the first" },
	{ "a fraction of a ns", HEAD "a,b,1.5,2\n", "", "line 2" },
	{ "an exponent", HEAD "a,b,1e9,2\n", "", "line 2" },
	{ "a blank before a number", HEAD "a,b, 1,2\n", "", "line 2" },
	{ "only a sign", HEAD "a,b,-,2\n", "", "line 2" },
	{ "no stamp", HEAD "a,b,,2\n", "", "line 2" },
	{ "no sender", HEAD ",b,1,2\n", "", "no sender" },
	{ "no receiver", HEAD "a,\"\",1,2\n", "", "no receiver" },
	{ "bytes below zero", "sender,receiver,sent_ns,received_ns,bytes\na,b,1,2,-1\n", "",
	  "bytes" },
	{ "bytes beyond 4 GiB", "sender,receiver,sent_ns,received_ns,bytes\na,b,1,2,4294967296\n",
	  "", "bytes" },
	{ "bytes beyond all",
	  "sender,receiver,sent_ns,received_ns,bytes\na,b,1,2,1"
	  "0000000000000000000\n",
	  "", "bytes" },
	{ "text behind", HEAD "a,b,1,2\nand so on\n", "a b 1 2 0\n", "line 3" },
};

static struct usk_trace *open_bytes(const void *data, size_t n, struct usk_err *err)
{
	struct usk_trace *t = NULL;
	usk_trace_open_memory(data, n, "t", &t, err);
	return t;
}

/* All messages as text, so many at a time. */
static char *rows_of(struct usk_trace *t, size_t batch, enum usk_status *status,
		     struct usk_err *err)
{
	struct usk_msg m[16];
	char *text = usk_strdup("");
	size_t n = 1;
	*status = USK_OK;
	while (!*status && n) {
		*status = usk_trace_messages(t, m, batch, &n, err);
		for (size_t i = 0; i < n; i++) {
			assert_true(m[i].from < usk_trace_clocks(t));
			assert_true(m[i].to < usk_trace_clocks(t));
			char *more = usk_format(
				"%s%s %s %lld %lld %u\n", text, usk_trace_clock_name(t, m[i].from),
				usk_trace_clock_name(t, m[i].to), (long long)m[i].sent_ns,
				(long long)m[i].received_ns, m[i].bytes);
			free(text);
			text = more;
		}
	}
	return text;
}

static void test_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tables); i++) {
		size_t size = strlen(tables[i].text);
		char *copy = fence_new(tables[i].text, size);
		struct usk_err err = { 0 };
		struct usk_trace *t = open_bytes(copy, size, &err);
		if (!t) {
			fail_msg("%s: %s", tables[i].name, err.msg);
		}
		assert_string_equal(usk_trace_kind(t), "messages");
		assert_string_equal(usk_trace_name(t), "t");
		for (size_t batch = 1; batch < 17; batch += 5) {
			enum usk_status status;
			char *rows = rows_of(t, batch, &status, &err);
			if (status || strcmp(rows, tables[i].rows) != 0) {
				fail_msg("%s: %s: %s", tables[i].name, rows, status ? err.msg : "");
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
		fence_free(copy, size);
	}
}

/* Not a table: a sentence that says what is missing. */
static const struct {
	const char *name, *text, *says;
} refused[] = {
	{ "no sent", "sender,receiver,received_ns\na,b,1\n",
	  "needs sent_ns, sent_s, sent or sent_ticks; found" },
	{ "no received", "sender,receiver,sent_ns\na,b,1\n", "needs received_ns, received_s" },
	{ "other units", "sender,receiver,sent_ms,received_ms\na,b,1,2\n",
	  "needs sent_ns, sent_s, sent or sent_ticks; found" },
	{ "other words", "from,to,sent_ns,received_ns\na,b,1,2\n", "needs sender; found from,to" },
	{ "other separators", "sender;receiver;sent_ns;received_ns\na;b;1;2\n", "unknown format" },
	{ "blanks", "sender, receiver, sent_ns, received_ns\n", "unknown format" },
	{ "an open quote", "sender,receiver,sent_ns,\"received_ns\n", "quote" },
	{ "no header", "a,b,1,2\n", "unknown format" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct usk_err err = { 0 };
		struct usk_trace *t = open_bytes(refused[i].text, strlen(refused[i].text), &err);
		if (t || err.code != USK_EINPUT || !strstr(err.msg, refused[i].says)) {
			fail_msg("%s: %s", refused[i].name, err.msg);
		}
	}
	static const char nul[] = "sender,receiver,sent_ns,\0,received_ns\n";
	struct usk_err err = { 0 };
	assert_null(open_bytes(nul, sizeof nul - 1, &err));
	assert_true(strlen(err.msg) > 20);
}

/* NUL bytes in names and numbers. */
static void test_nul(void **state)
{
	static const char name[] = HEAD "a,b,1,2\na\0,b,3,4\n";
	static const char number[] = HEAD "a,b,1,2\na,b,3\0,4\n";
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct usk_err err = { 0 };
		enum usk_status status;
		struct usk_trace *t = open_bytes(i ? name : number,
						 i ? sizeof name - 1 : sizeof number - 1, &err);
		assert_non_null(t);
		char *rows = rows_of(t, 8, &status, &err);
		assert_string_equal(rows, "a b 1 2 0\n");
		assert_non_null(strstr(usk_trace_damage(t), "line 3"));
		free(rows);
		usk_trace_close(t);
	}
}

/* A stamp that is a time, but no time that can be corrected: not damage but the end. */
static void test_out_of_range(void **state)
{
	static const char *const rows[] = {
		HEAD "a,b,4611686018427387905,2\n",
		HEAD "a,b,1,-4611686018427387905\n",
		HEAD "a,b,9223372036854775808,2\n",
		HEAD "a,b,1,99999999999999999999999999\n",
		"sender,receiver,sent_s,received_s\na,b,1,4611686018.427387905\n",
		"sender,receiver,sent,received\na,b,1970-01-01T00:00:00Z,2262-01-01T00:00:00Z\n",
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct usk_err err = { 0 };
		enum usk_status status;
		struct usk_trace *t = open_bytes(rows[i], strlen(rows[i]), &err);
		assert_non_null(t);
		free(rows_of(t, 8, &status, &err));
		if (status != USK_ERANGE || err.at != 2 || !strstr(err.msg, "line 2")) {
			fail_msg("%s: %d %s", rows[i], status, err.msg);
		}
		usk_trace_close(t);
	}
}

/* From a file whose lines straddle every block of input, and a line too long for anyone. */
static void test_long(void **state)
{
	struct bytes b = { 0 };
	char path[] = "/tmp/unskew-test-messages-XXXXXX";
	int64_t sum = 0;
	(void)state;
	put_text(&b, HEAD);
	for (int i = 0; i < 60000; i++) {
		char *row = usk_format("host%d,%.*s,%d,%d\n", i % 700, i % 50,
				       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
				       i, i + 1);
		if (i % 50) {
			put_text(&b, row);
			sum += i;
		}
		free(row);
	}
	size_t before = b.n;
	for (int i = 0; i < 2 << 20; i++) {
		put8(&b, i == 1000000 ? ',' : 'x');
	}
	put_text(&b, "\na,b,1,2\n");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b.data, b.n), b.n);
	close(fd);
	for (int file = 0; file < 2; file++) {
		struct usk_trace *t = NULL;
		struct usk_err err = { 0 };
		assert_int_equal(file ? usk_trace_open(path, NULL, &t, &err)
				      : usk_trace_open_memory(b.data, b.n, NULL, &t, &err),
				 USK_OK);
		for (int round = 0; round < 2; round++) {
			struct usk_msg m[100];
			int64_t got = 0, rows = 0;
			size_t n = 1;
			while (n) {
				assert_int_equal(usk_trace_messages(t, m, 100, &n, &err), USK_OK);
				for (size_t i = 0; i < n; i++) {
					assert_true(m[i].received_ns == m[i].sent_ns + 1);
					got += m[i].sent_ns;
					rows++;
				}
			}
			/* One more comes after the long line. */
			assert_int_equal(rows, 60000 / 50 * 49 + 1);
			assert_int_equal(got, sum + 1);
			assert_non_null(strstr(usk_trace_damage(t), "longer than 1 MiB; 1 row"));
			assert_int_equal(usk_trace_clocks(t), 700 - 14 + 49 + 1);
			assert_true(usk_trace_pos(t) >= before);
			assert_int_equal(usk_trace_rewind(t, &err), USK_OK);
		}
		assert_true(t->in.capacity <= 4 << 20);
		struct usk_record r;
		size_t n;
		assert_int_equal(usk_trace_records(t, &r, 1, &n, &err), USK_EUSAGE);
		assert_true(strlen(err.msg) > 20);
		usk_trace_close(t);
	}
	/* As a header. */
	memcpy(b.data, "sender,receiver,", 16);
	memset(b.data + 16, 'y', before);
	struct usk_err err = { 0 };
	int again = open(path, O_WRONLY | O_TRUNC);
	assert_true(again >= 0);
	assert_int_equal(write(again, b.data, b.n), b.n);
	close(again);
	struct usk_trace *t = NULL;
	assert_int_equal(usk_trace_open(path, NULL, &t, &err), USK_EINPUT);
	assert_true(strlen(err.msg) > 20);
	unlink(path);
	bytes_free(&b);
}

/* Cut anywhere: rows of the whole table, and at most one, the last, that is another. */
static void test_cut_anywhere(void **state)
{
	static const char text[] = HEAD "a,b,1700000000000000001,1700000000000000002\n"
					"\"a\",b,1700000000000000003,1700000000000000004\n"
					"b,a,-5,6\n";
	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		char *copy = fence_new(text, n);
		struct usk_err err = { 0 };
		enum usk_status status = USK_OK;
		struct usk_trace *t = open_bytes(copy, n, &err);
		if (t) {
			free(rows_of(t, 3, &status, &err));
			assert_int_equal(status, USK_OK);
			usk_trace_close(t);
		} else {
			assert_true(strlen(err.msg) > 10 && n < strlen(HEAD));
		}
		fence_free(copy, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nul),    cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_long),   cmocka_unit_test(test_cut_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
