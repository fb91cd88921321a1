/* SPDX-License-Identifier: MIT */
/* Histories: intervals against all pairs one by one, readers cut at every byte, forms read back. */
#include "../fence.h"
#include "../part.h"
#include "history/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 24, RUNS = 20000 };

/* ---- intervals ------------------------------------------------------------------------------- */

static bool is_certain(const struct usk_interval *a, const struct usk_interval *b)
{
	return a->back.bound_ns < b->call.bound_ns ||
	       (a->back.group != USK_NO_GROUP && a->back.group == b->call.group &&
		a->back.local_ns < b->call.local_ns);
}

/* Clocks whose readings are known within a band of their own; a few ends are open, and of a few it is
 * not known which epoch they are of. */
static size_t draw(struct usk_rng *r, struct usk_interval *x)
{
	size_t n = 1 + usk_rng_below(r, MOST), clocks = 1 + usk_rng_below(r, 4);
	uint64_t span = 1 + usk_rng_below(r, 200), wide = 1 + usk_rng_below(r, 60);
	for (size_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t)usk_rng_below(r, clocks);
		int64_t band = (int64_t)(usk_rng_below(r, wide) * k), offset = 1000 * k;
		int64_t call = (int64_t)usk_rng_below(r, span);
		int64_t back = call + (int64_t)usk_rng_below(r, 30);
		x[i].call = (struct usk_end){ k, call + offset, call - band };
		x[i].back = (struct usk_end){ k, back + offset, back + band };
		struct usk_end *some = usk_rng_below(r, 2) ? &x[i].call : &x[i].back;
		if (!usk_rng_below(r, 10)) {
			some->bound_ns = some == &x[i].call ? -USK_OPEN : USK_OPEN;
			some->group = usk_rng_below(r, 2) ? k : USK_NO_GROUP;
		}
	}
	return n;
}

static void check_pairs(const struct usk_interval *x, size_t n)
{
	struct usk_ordered o, all = { .pairs = n * (n - 1) / 2 };
	for (size_t a = 0; a < n; a++) {
		assert_true(x[a].from_ns <= x[a].to_ns);
		for (size_t b = 0; b < n; b++) {
			bool kept = x[a].to_ns < x[b].from_ns, sure = is_certain(&x[a], &x[b]);
			bool bounds = x[a].back.bound_ns < x[b].call.bound_ns;
			assert_true(sure || !kept);
			assert_true(kept || !bounds);
			all.certain += sure;
			all.kept += kept;
			all.bounds += bounds;
		}
	}
	usk_intervals_count(x, n, &o);
	assert_memory_equal(&o, &all, sizeof o);
}

/* No end can be earlier, and no beginning later. */
static void check_tight(const struct usk_interval *x, size_t n)
{
	for (size_t a = 0; a < n; a++) {
		int64_t to = -USK_OPEN, from = USK_OPEN;
		for (size_t b = 0; b < n; b++) {
			if (!is_certain(&x[a], &x[b]) && x[b].from_ns > to) {
				to = x[b].from_ns;
			}
			if (!is_certain(&x[b], &x[a]) && x[b].to_ns < from) {
				from = x[b].to_ns;
			}
		}
		assert_int_equal(from, x[a].from_ns);
		assert_true(to <= x[a].to_ns);
		for (size_t b = 0; b < n;
		     b++) { /* nothing would come behind it that does not now */
			assert_true(x[b].from_ns <= to || x[b].from_ns > x[a].to_ns);
		}
	}
}

static void test_intervals(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_interval x[MOST];
	uint64_t kept = 0, bounds = 0;
	usk_rng_seed(&r, 19);
	for (size_t i = 0; i < case_count(RUNS); i++) {
		struct usk_ordered o;
		size_t n = draw(&r, x);
		usk_intervals_widen(x, n);
		usk_intervals_count(x, n, &o);
		assert_int_equal(o.kept, o.bounds);
		usk_intervals_tighten(x, n);
		check_pairs(x, n);
		check_tight(x, n);
		usk_intervals_count(x, n, &o);
		kept += o.kept;
		bounds += o.bounds;
	}
	assert_true(kept > bounds + bounds / 20);
	usk_intervals_tighten(x, 0);
}

/* Two clocks whose order nobody knows, two operations on each, one behind the other: no intervals
 * have both orders and no other. */
static void test_two_and_two(void **state)
{
	(void)state;
	struct usk_interval x[4];
	struct usk_ordered o;
	for (size_t i = 0; i < 4; i++) {
		uint32_t k = i < 2 ? 0 : 1;
		int64_t t = 10 * (int64_t)(i % 2);
		x[i].call = (struct usk_end){ k, t, t - 100 * k };
		x[i].back = (struct usk_end){ k, t + 5, t + 5 + 100 * k };
	}
	usk_intervals_tighten(x, 4);
	usk_intervals_count(x, 4, &o);
	assert_int_equal(o.certain, 2);
	assert_int_equal(o.kept, 1);
	assert_int_equal(o.bounds, 1);
}

/* ---- EDN ------------------------------------------------------------------------------------- */

static void test_forms(void **state)
{
	(void)state;
	static const struct {
		const char *edn, *json; /* NULL: is no form */
	} cases[] = {
		{ "nil", "null" },
		{ " -17 ", "-17" },
		{ "1.5e3", "1.5e3" },
		{ "007", "\"007\"" },
		{ "12N", "\"12N\"" },
		{ "1/3", "\"1/3\"" },
		{ "sym", "\"sym\"" },
		{ ":a/b", "\"a/b\"" },
		{ "\\newline", "\"\\\\newline\"" },
		{ "\\(", "\"\\\\(\"" },
		{ "\"a\\\"\\n\\u00e4 b\"", "\"a\\\"\\u000a\xc3\xa4 b\"" },
		{ "\"two\nlines\\d\"", "\"two\\u000alinesd\"" },
		{ "\"\xff\"", "\"?\"" },
		{ "[1 ; one\n, 2 #_ 3 #_ #_ 4 5]", "[1,2]" },
		{ "(:a [] #{1})", "[\"a\",[],[1]]" },
		{ "{:a 1, \"b\" {2 nil}}", "{\"a\":1,\"b\":{\"2\":null}}" },
		{ "#inst \"2026\"", "\"2026\"" },
		{ "#a #b [true]", "[true]" },
		{ "{:a}", NULL },
		{ "[1", NULL },
		{ "[1)", NULL },
		{ "\"", NULL },
		{ "\"\\", NULL },
		{ "\\", NULL },
		{ "#", NULL },
		{ "#a", NULL },
		{ "##", NULL },
		{ "#_ 1", NULL },
		{ "1 2", NULL },
		{ "]", NULL },
		{ "", NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_edn form;
		struct usk_edn_text json = { NULL, 0, 0 };
		bool is = usk_edn_whole(cases[i].edn, strlen(cases[i].edn), &form);
		assert_int_equal(is, cases[i].json != NULL);
		if (is) {
			usk_edn_to_json(&json, &form);
			assert_int_equal(json.n, strlen(cases[i].json));
			assert_memory_equal(json.s, cases[i].json, json.n);
		}
		free(json.s);
	}
}

static void test_from_json(void **state)
{
	(void)state;
	static const char json[] = "{\"a\\n\": [1, 2.5, null, true, \"x\\\"y\"], \"b\": {}}";
	static const char edn[] = "{\"a\\n\" [1 2.5 nil true \"x\\\"y\"], \"b\" {}}";
	struct usk_edn_text to = { NULL, 0, 0 };
	assert_true(usk_edn_from_json(&to, json, strlen(json)));
	assert_int_equal(to.n, strlen(edn));
	assert_memory_equal(to.s, edn, to.n);
	assert_false(usk_edn_from_json(&to, "{", 1));
	free(to.s);
}

static void test_deep(void **state)
{
	(void)state;
	enum { DEEP = 100000 };
	static const char *const opens[] = { "[", "(", "{", "#{", "#_", "#a ", "{1 " };
	struct usk_edn form;
	for (size_t i = 0; i < COUNT(opens); i++) {
		struct usk_edn_text t = { NULL, 0, 0 };
		const char *p;
		for (size_t k = 0; k < DEEP; k++) {
			usk_edn_put(&t, opens[i], strlen(opens[i]));
		}
		p = t.s;
		assert_int_equal(usk_edn_next(&p, t.s + t.n, true, &form), USK_EDN_WRONG);
		free(t.s);
	}
}

/* ---- readers --------------------------------------------------------------------------------- */

static enum usk_status read_text(const char *text, size_t n, const struct usk_history_options *opt,
				 struct usk_history *h, struct usk_err *err)
{
	struct usk_input in;
	*h = (struct usk_history){ .n = 0 };
	*err = (struct usk_err){ .msg = "" };
	usk_input_memory(&in, text, n);
	enum usk_status status = usk_history_read(&in, 0, opt, h, err);
	usk_input_close(&in);
	return status;
}

static void read_whole(const char *text, const struct usk_history_options *opt,
		       struct usk_history *h)
{
	struct usk_err err;
	assert_int_equal(read_text(text, strlen(text), opt, h, &err), USK_OK);
}

static void refuse(const char *text, const struct usk_history_options *opt, const char *says)
{
	struct usk_history h;
	struct usk_err err;
	assert_int_equal(read_text(text, strlen(text), opt, &h, &err), USK_EINPUT);
	if (!strstr(err.msg, says)) {
		fail_msg("\"%s\" instead of \"%s\"", err.msg, says);
	}
	usk_history_free(&h);
}

#define CALL(p, t) "{:process " #p ", :type :invoke, :f :read, :value nil, :time " #t "}"
#define RETURN(p, t)                                                                               \
	"{:process " #p ", :type :ok, :f :read, :value [1 \"x\"], :time " #t ", :k \\a}"

static const struct usk_history_options on_n1 = { .clock = "n1" };

static const char jepsen[] =
	"; two clients\n[" CALL(0, 5) "\n" CALL(1, 6) "\n" RETURN(1, 7) "#jepsen.history.Op" RETURN(
		0,
		8) ",\n{:process :nemesis, :type :info, :time 8}" CALL(0,
								       9) "{:process 0, :type "
									  ":info, :time 10, :error "
									  "[:timeout]}\n]\n";

static void test_edn(void **state)
{
	(void)state;
	struct usk_history h;
	read_whole(jepsen, &on_n1, &h);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.left_out, 1);
	assert_int_equal(h.n_clients, 2);
	assert_int_equal(h.op[0].call_ns, 5);
	assert_int_equal(h.op[0].return_ns, 8);
	assert_int_equal(h.op[1].end, USK_OP_OK);
	assert_int_equal(h.op[1].line, 3);
	assert_int_equal(h.op[2].end, USK_OP_INFO);
	assert_int_equal(h.op[2].return_ns, USK_NONE);
	assert_int_equal(h.op[2].line, 5);
	assert_int_equal(h.op[0].output.n, 7);
	assert_memory_equal(usk_history_text(&h, h.op[0].output), "[1 \"x\"]", 7);
	assert_memory_equal(usk_history_text(&h, h.op[0].more_out), ", :k \\a", 7);
	usk_history_free(&h);
}

/* Its first so many bytes, in a block of their own; *left: what was not taken. */
static enum usk_edn_found edn(const char *text, size_t n, bool last, size_t *left)
{
	char *copy = fence_new(text, n);
	struct usk_edn form;
	const char *p = copy;
	enum usk_edn_found found = usk_edn_next(&p, copy + n, last, &form);
	*left = n - (size_t)(p - copy);
	fence_free(copy, n);
	return found;
}

/* One form each, of which no part is one: only words may end where the text does, if no more comes. */
static void test_edn_cut(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool word;
	} forms[] = {
		{ "\"ab\\\"c\\\\\"", false },
		{ "\"\"", false },
		{ "\\newline", true },
		{ "\\(", true },
		{ ":key/word", true },
		{ "-12.5e3", true },
		{ "#{1 \"]\" #_ 5 \\} (:a)}", false },
		{ "{:a \"x\\\"\" :b \\{ #_#_ 1 2 :c #inst \"2020\" , :d [(1) {}]}", false },
		{ "#tag [1 ; ]\n 2]", false },
		{ "#_ {:a 1} (3)", false },
	};
	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *text = forms[i].text;
		size_t whole = strlen(text), left;
		for (int last = 0; last < 2; last++) {
			for (size_t n = 1; n <= whole; n++) {
				enum usk_edn_found found = edn(text, n, last, &left);
				bool ends = n == whole && (!forms[i].word || last);
				bool part = forms[i].word && last && (n > 1 || *text != '\\');
				/* Nothing is left but what is discarded. */
				bool none = found == USK_EDN_NONE && text[0] == '#';
				if (!part && !none && (found == USK_EDN_FORM) != ends) {
					fail_msg("%.*s: %d", (int)n, text, (int)found);
				}
				assert_int_equal(left, found == USK_EDN_FORM || none ? 0 : n);
			}
		}
	}
}

/* In a bracket no part is taken for the whole; without one, parts that end between two lines are. */
static void test_cut(void **state)
{
	(void)state;
	struct usk_history h;
	struct usk_err err;
	size_t whole = strlen(jepsen) - 1, from = (size_t)(strchr(jepsen, '[') - jepsen);
	for (size_t n = 0; n < whole; n++) {
		assert_int_equal(read_text(jepsen, n, &on_n1, &h, &err), USK_EINPUT);
		assert_true(err.msg[0]);
		usk_history_free(&h);
	}
	for (size_t n = 0; n + from + 2 < whole; n++) {
		enum usk_status status = read_text(jepsen + from + 1, n, &on_n1, &h, &err);
		size_t last = from + n;
		while (strchr("\n,", jepsen[last])) {
			last--;
		}
		assert_int_equal(status, jepsen[last] == '}' ? USK_OK : USK_EINPUT);
		usk_history_free(&h);
	}
}

static void test_refused(void **state)
{
	(void)state;
	static const struct usk_history_options none = { .clock = NULL };
	refuse(CALL(0, 5) CALL(0, 6), &on_n1, "called again");
	refuse("\n\n" RETURN(0, 5), &on_n1, "line 3: ends a call");
	refuse(CALL(0, 5), &none, "says not which clock");
	refuse("{:process 0 :type :invoke}", &on_n1, "no :time");
	refuse("{:process 0 :type :oops :time 1}", &on_n1, ":type is none");
	refuse("{:process 0 :type :invoke :time 1.5}", &on_n1, "whole number");
	refuse("[1]", &on_n1, "no map");
	refuse("[" CALL(0, 5) "] 1", &on_n1, "behind the bracket");
	refuse("[" CALL(0, 5) ")", &on_n1, "no EDN");
	refuse("[]", &on_n1, "no operation");
	refuse("", &on_n1, "header");
	refuse("process,op,call_ns\n0,read,5", &none, "line 2: says not which clock");
	refuse("clock,process,op,call_ns\na,0,read,x", &none, "line 2: call");
	refuse("clock,process,op,call_ns,status\na,0,read,5,maybe", &none, "none of ok");
	refuse("clock,process,op,call_ns,return_ns\na,0,read,5", &none, "line 2: has 4 columns");
	refuse("clock,process,op,call_ns\na,0,\"read,5", &none, "quote");
	refuse("{\"clock\": \"a\", \"process\": 0, \"op\": \"read\", \"call_ns\": 5}\n{\"clo",
	       &none, "line 2");
}

static void assert_part(const struct usk_history *h, struct usk_part part, const char *text)
{
	assert_int_equal(part.n, strlen(text));
	assert_memory_equal(usk_history_text(h, part), text, part.n);
}

static void test_tables(void **state)
{
	(void)state;
	static const struct usk_history_options none = { .clock = NULL };
	struct usk_history h;
	read_whole("op,return_ns,process,clock,call_ns,status,input,output,key\n"
		   "read,7,0,a,5,,,\"{\"\"k\"\": [1]}\",x y\nmy op,,w 1,b,6,info,[1 2],sym,:k\n"
		   "\ncas,9,0,a,8,fail,null,1/2,\n",
		   &none, &h);
	assert_int_equal(h.n, 3);
	assert_part(&h, h.op[0].f, ":read");
	assert_part(&h, h.op[0].output, "{\"k\" [1]}");
	assert_part(&h, h.op[0].key, "\"x y\"");
	assert_int_equal(h.op[0].end, USK_OP_OK);
	assert_part(&h, h.op[1].f, "\"my op\"");
	assert_part(&h, h.op[1].input, "[1 2]");
	assert_part(&h, h.op[1].output, "\"sym\"");
	assert_part(&h, h.op[1].key, ":k");
	assert_int_equal(h.op[1].end, USK_OP_INFO);
	assert_part(&h, h.op[2].input, "nil");
	assert_part(&h, h.op[2].output, "1/2");
	assert_int_equal(h.op[2].client, h.op[0].client);
	assert_part(&h, h.client[h.op[1].client].process, "\"w 1\"");
	usk_history_free(&h);
	read_whole("{\"clock\": \"a\", \"process\": 3, \"op\": \"txn\", \"call_ns\": 5, "
		   "\"return_ns\": 6, "
		   "\"input\": [[\"r\", \"x\", null]], \"output\": \"5\", \"key\": null}\n",
		   &none, &h);
	assert_part(&h, h.op[0].input, "[[\"r\" \"x\" nil]]");
	assert_part(&h, h.op[0].output, "\"5\"");
	assert_int_equal(h.op[0].key.n, 0);
	assert_part(&h, h.client[0].process, "3");
	usk_history_free(&h);
}

static void test_clocks(void **state)
{
	(void)state;
	static const char *const rows[] = { "2-3=m", "worker=w" };
	static const struct usk_history_options opt = { .clock_of = rows,
							.n_clock_of = 2,
							.nodes = "n1,n2" };
	static const struct {
		const char *process, *more, *clock;
	} cases[] = {
		{ "0", "", "n1" },	   { "1", "", "n2" },
		{ "12", "", "n1" },	   { "2", ":node \"x\"", "m" },
		{ "3", "", "m" },	   { "4", ":node \"x\"", "x" },
		{ "4", ":node :y", "y" },  { ":worker", "", "w" },
		{ "\"worker\"", "", "w" }, { "5", ":clock z :node y", "z" },
	};
	static const char *const bad[] = { "x", "=x", "0-4=" };
	struct usk_err err;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_history h;
		char *text = usk_format("{:process %s :type :invoke :time 1 %s}", cases[i].process,
					cases[i].more);
		read_whole(text, &opt, &h);
		assert_string_equal(h.clock.text[0], cases[i].clock);
		usk_history_free(&h);
		free(text);
	}
	assert_int_equal(usk_history_check(&opt, &err), USK_OK);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct usk_history_options o = { .clock_of = &bad[i], .n_clock_of = 1 };
		assert_int_equal(usk_history_check(&o, &err), USK_EUSAGE);
	}
	struct usk_history_options o = { .nodes = "a,,b" };
	assert_int_equal(usk_history_check(&o, &err), USK_EUSAGE);
}

/* ---- writing --------------------------------------------------------------------------------- */

static char *written(const struct usk_history *h, const struct usk_interval *x, size_t form)
{
	struct usk_output out;
	struct usk_err err;
	char path[] = "/tmp/unskew-history-XXXXXX", *text = usk_alloc(1 << 16, 1);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(usk_output_open(&out, path, true, &err), USK_OK);
	assert_int_equal(usk_history_forms[form].write(h, x, &out, &err), USK_OK);
	assert_int_equal(usk_output_commit(&out, &err), USK_OK);
	FILE *in = fopen(path, "r");
	size_t n = fread(text, 1, (1 << 16) - 1, in);
	text[n] = 0;
	fclose(in);
	close(fd);
	remove(path);
	return text;
}

/* A client whose operations overlap, and one of unknown end: read back, no process calls twice, and
 * of equal times calls are first. */
static void test_written(void **state)
{
	(void)state;
	struct usk_history h, again;
	struct usk_interval x[4] = {
		{ .from_ns = 10, .to_ns = 20 },
		{ .from_ns = 20, .to_ns = 30 },
		{ .from_ns = 21, .to_ns = 40 },
		{ .from_ns = -USK_OPEN, .to_ns = USK_OPEN },
	};
	uint32_t process[4];
	read_whole("clock,process,op,call_ns,return_ns,key,input\n"
		   "a,7,write,1,2,x,1\na,7,write,3,4,x,2\na,7,write,5,6,x,3\na,8,read,1,,x,\n",
		   &(struct usk_history_options){ .clock = NULL }, &h);
	assert_int_equal(usk_history_processes(&h, x, process), 3);
	assert_int_equal(process[0], process[2]);
	assert_int_not_equal(process[0], process[1]);
	char *text = written(&h, x, 0);
	assert_non_null(strstr(text, "{:index 0, :type :invoke, :process 2, :f :read, :key \"x\", "
				     ":value nil, :time 9, :client 8, :clock \"a\"}"));
	assert_non_null(strstr(text, "{:index 3, :type :ok, :process 0"));
	read_whole(text, &on_n1, &again);
	assert_int_equal(again.n, 4);
	usk_history_free(&again);
	free(text);
	text = written(&h, x, 1);
	assert_non_null(strstr(text, ":f :txn, :value [[:w \"x\" 1]], :time 10"));
	free(text);
	text = written(&h, x, 2);
	assert_non_null(strstr(text, "[{\"ClientId\": 0, \"Input\": {\"f\":\"write\",\"key\":\"x\","
				     "\"value\":1}, \"Call\": 10, \"Output\": {\"type\":\"ok\","));
	assert_non_null(strstr(text, "\"Return\": 41, \"Metadata\": {\"client\":8,"));
	free(text);
	usk_history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_two_and_two),
		cmocka_unit_test(test_forms),	  cmocka_unit_test(test_from_json),
		cmocka_unit_test(test_deep),	  cmocka_unit_test(test_edn),
		cmocka_unit_test(test_edn_cut),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_tables),
		cmocka_unit_test(test_clocks),	  cmocka_unit_test(test_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
