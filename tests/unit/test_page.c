/* SPDX-License-Identifier: MIT */
/* The page of a report: text that stays text, data that is whole, nothing half-written. */
#include "report/page.h"
#include "tables.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const hostile[] = {
	"</script><script>alert(1)</script>",	 "\"quotes\" 'and' `ticks` \\ back\\u003c",
	"<!-- @@unskew-data@@ -->&amp;&lt;",	 "bytes \xff\xc3( and \xe2\x80\xae turned",
	"tab\tbell\a escape\033[31m delete\177",
};

/* A pair of clocks with these names, every message in the page. */
static struct usk_clocks *answer(const char *a, const char *b, struct usk_summary *s, bool full)
{
	struct usk_rng r;
	struct bytes table = { 0 };
	usk_rng_seed(&r, 7);
	put_text(&table, HEAD);
	exchange(&table, &clockworks[1], &r, 200);
	struct usk_sync_options o = defaults;
	usk_summary_new(s, full);
	o.messages = &s->sink;
	struct usk_clocks *c = sync_table(&table, &o);
	for (size_t i = 0; i < c->n_clocks; i++) {
		free(c->clock[i].name);
		c->clock[i].name = usk_strdup(i ? b : a);
	}
	bytes_free(&table);
	return c;
}

/* The file's text; *size without the 0 behind it. */
static char *written(const struct usk_page *page, size_t *size)
{
	char path[] = "/tmp/unskew-page-XXXXXX";
	int fd = mkstemp(path);
	struct usk_output out;
	struct usk_err err;
	assert_true(fd >= 0);
	assert_int_equal(usk_output_open(&out, path, true, &err), USK_OK);
	usk_page_write(&out, page);
	assert_int_equal(usk_output_commit(&out, &err), USK_OK);
	usk_output_close(&out);
	close(fd);
	FILE *in = fopen(path, "rb");
	char *text = NULL;
	size_t cap = 0;
	assert_non_null(in);
	assert_true(getdelim(&text, &cap, 0, in) > 0);
	*size = strlen(text);
	fclose(in);
	unlink(path);
	return text;
}

static json_t *data_of(char *text)
{
	static const char begin[] = "id=\"unskew-data\">";
	char *from = strstr(text, begin), *end = from ? strstr(from, "</script>") : NULL;
	json_error_t why;
	assert_non_null(end);
	assert_null(strstr(end + 1, begin));
	from += sizeof begin - 1;
	json_t *data = json_loadb(from, (size_t)(end - from), 0, &why);
	if (!data) {
		fail_msg("line %d: %s", why.line, why.text);
	}
	/* A browser ends the element at the first thing that looks like its end. */
	assert_null(memchr(from, '<', (size_t)(end - from)));
	return data;
}

static void test_hostile_names(void **state)
{
	(void)state;
	char *long_name = usk_alloc(4097, 1);
	memset(long_name, '<', 4096);
	for (size_t i = 0; i <= COUNT(hostile); i++) {
		const char *name = i < COUNT(hostile) ? hostile[i] : long_name;
		struct usk_summary s;
		struct usk_clocks *c = answer(name, "b", &s, false);
		const char *const command[] = { "unskew", "report", name };
		char *note[] = { (char *)name };
		char *html = usk_html_text(name);
		assert_null(strpbrk(html, "<>\"'\a\033\177"));
		const struct usk_page page = { .command = command,
					       .n_command = 3,
					       .clocks = c,
					       .summary = &s,
					       .compare = "{\"a\":\"<\"}",
					       .note = note,
					       .n_notes = 1,
					       .title = name,
					       .answer = html };
		size_t size;
		char *text = written(&page, &size);
		json_t *data = data_of(text);
		const char *back =
			json_string_value(json_array_get(json_object_get(data, "command"), 2));
		const char *pair = json_string_value(
			json_object_get(json_array_get(json_object_get(data, "pairs"), 0), "a"));
		assert_string_equal(back, pair);
		if (i != 3) { /* what is no UTF-8 is shown as \xff */
			assert_string_equal(back, name);
		}
		json_decref(data);
		free(text);
		free(html);
		usk_summary_free(&s);
		usk_clocks_free(c);
	}
	free(long_name);
}

static int64_t sum_of(const json_t *list)
{
	int64_t sum = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		sum += json_integer_value(json_array_get(list, i));
	}
	return sum;
}

static int64_t ns_of(const json_t *object, const char *key)
{
	return strtoll(json_string_value(json_object_get(object, key)), NULL, 10);
}

/* What the page draws is what the answer says: counts, delays, least corrected delays. */
static void test_data(void **state)
{
	(void)state;
	struct usk_summary s;
	struct usk_clocks *c = answer("a", "b", &s, true);
	const struct usk_page page = {
		.clocks = c, .summary = &s, .title = "", .answer = "<p>plain</p>"
	};
	size_t size;
	char *text = written(&page, &size);
	assert_non_null(strstr(text, "<p>plain</p>"));
	json_t *data = data_of(text);
	const json_t *pair = json_array_get(json_object_get(data, "pairs"), 0);
	const struct usk_pair *p = &c->pair[0];
	const int64_t least[] = { p->min_delay_a_to_b_ns, p->min_delay_b_to_a_ns };
	const uint64_t count[] = { p->a_to_b, p->b_to_a };
	const struct usk_delays *recorded[] = { &p->recorded_a_to_b, &p->recorded_b_to_a };
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(data, "clocks"), "corridors")), 1);
	for (size_t k = 0; k < 2; k++) {
		const json_t *d = json_array_get(json_object_get(pair, "directions"), k);
		const json_t *h = json_array_get(json_object_get(pair, "delays"), k);
		const json_t *before = json_object_get(h, "recorded");
		const json_t *after = json_object_get(h, "corrected");
		assert_int_equal(json_integer_value(json_object_get(d, "total")), count[k]);
		assert_int_equal(json_integer_value(json_object_get(d, "held")), count[k]);
		assert_int_equal(json_array_size(json_object_get(d, "sent")), count[k]);
		assert_true(json_is_null(json_object_get(d, "stands_for")));
		assert_int_equal(ns_of(before, "min_ns"), recorded[k]->min_ns);
		assert_int_equal(ns_of(before, "max_ns"), recorded[k]->max_ns);
		assert_int_equal(ns_of(after, "min_ns"), least[k]);
		assert_int_equal(sum_of(json_object_get(after, "bins")) +
					 json_integer_value(json_object_get(after, "above")),
				 count[k]);
		/* The last message: origin and all differences. */
		int64_t origin[2] = { ns_of(pair, "a_origin_ns"), ns_of(pair, "b_origin_ns") };
		int64_t sent = origin[k] + sum_of(json_object_get(d, "sent"));
		int64_t received = origin[!k] + sum_of(json_object_get(d, "received"));
		struct usk_thin_row *row;
		size_t n = usk_thin_rows(s.pair[0].thin, k, &row);
		const struct usk_thin_point *last = &row[n - 1].point;
		assert_int_equal(k ? received : sent, last->other_ns);
		assert_int_equal(k ? sent : received, last->local_ns);
		free(row);
	}
	json_decref(data);
	free(text);
	usk_summary_free(&s);
	usk_clocks_free(c);
}

/* A wrong message is held, marked, and no extreme: it is told apart from those that were used. */
static void test_outlier(void **state)
{
	(void)state;
	struct usk_rng r;
	struct bytes table = { 0 };
	struct usk_summary s;
	usk_rng_seed(&r, 7);
	put_text(&table, HEAD);
	exchange(&table, &clockworks[1], &r, 2000);
	/* Received 3 ms before it was sent. */
	int64_t on = on_b(&clockworks[1], START + 10 * SECOND);
	row(&table, "a", "b", START + 10 * SECOND + 3 * MS, on);
	struct usk_sync_options o = defaults;
	usk_summary_new(&s, false);
	o.messages = &s.sink;
	struct usk_clocks *c = sync_table(&table, &o);
	const struct usk_pair *p = &c->pair[0];
	const struct usk_page page = { .clocks = c, .summary = &s, .title = "", .answer = "" };
	size_t size;
	assert_int_equal(p->n_outliers, 1);
	bool back = p->outlier[0].msg.from != p->a;
	char *text = written(&page, &size);
	json_t *data = data_of(text);
	const json_t *pair = json_array_get(json_object_get(data, "pairs"), 0);
	const json_t *d = json_array_get(json_object_get(pair, "directions"), back);
	const json_t *out = json_object_get(d, "out"), *sent = json_object_get(d, "sent");
	assert_int_equal(json_array_size(out), 1);
	uint64_t used = back ? p->b_to_a : p->a_to_b;
	assert_int_equal(json_integer_value(json_object_get(d, "total")), used + 1);
	assert_int_equal(json_array_size(sent), used + 1);
	int64_t stamp = ns_of(pair, back ? "b_origin_ns" : "a_origin_ns");
	for (json_int_t i = 0; i <= json_integer_value(json_array_get(out, 0)); i++) {
		stamp += json_integer_value(json_array_get(sent, (size_t)i));
	}
	assert_int_equal(stamp, p->outlier[0].msg.sent_ns);
	json_decref(data);
	free(text);
	usk_summary_free(&s);
	usk_clocks_free(c);
	bytes_free(&table);
}

/* A level is the delay that the answer's own map gives a message. */
static void test_levels(void **state)
{
	(void)state;
	struct usk_summary s;
	struct usk_clocks *c = answer("a", "b", &s, false);
	struct usk_map *map[2];
	for (int i = 0; i < 2; i++) {
		map[i] = usk_map_new(&c->clock[i ? c->pair[0].b : c->pair[0].a], c->max_skew_e12);
	}
	for (int back = 0; back < 2; back++) {
		struct usk_thin_row *row;
		size_t n = usk_thin_rows(s.pair[0].thin, back, &row);
		assert_true(n > 100);
		for (size_t i = 0; i < n; i++) {
			const struct usk_thin_point *x = &row[i].point;
			struct usk_stamp a, b;
			assert_int_equal(usk_map_at(map[0], x->other_ns, &a, NULL), USK_OK);
			assert_int_equal(usk_map_at(map[1], x->local_ns, &b, NULL), USK_OK);
			int64_t d = b.reference_ns - a.reference_ns;
			assert_int_equal(x->level, back ? -d : d);
		}
		free(row);
	}
	usk_map_free(map[0]);
	usk_map_free(map[1]);
	usk_summary_free(&s);
	usk_clocks_free(c);
}

/* No message is beyond a chord of the hull that the page marks. */
static void test_hull(void **state)
{
	(void)state;
	struct usk_summary s;
	struct usk_clocks *c = answer("a", "b", &s, false);
	const struct usk_page page = { .clocks = c, .summary = &s, .title = "", .answer = "" };
	size_t size;
	char *text = written(&page, &size);
	json_t *data = data_of(text);
	const json_t *pair = json_array_get(json_object_get(data, "pairs"), 0);
	for (size_t back = 0; back < 2; back++) {
		const json_t *d = json_array_get(json_object_get(pair, "directions"), back);
		const json_t *hull = json_object_get(d, "hull");
		struct usk_thin_row *row;
		size_t n = usk_thin_rows(s.pair[0].thin, back, &row);
		size_t n_hull = json_array_size(hull);
		assert_true(n_hull > 2);
		for (size_t k = 0; k + 1 < n_hull; k++) {
			size_t u = (size_t)json_integer_value(json_array_get(hull, k));
			size_t v = (size_t)json_integer_value(json_array_get(hull, k + 1));
			assert_true(u < v && v < n && (k || u == 0));
			assert_true(k + 2 < n_hull || v == n - 1);
			const struct usk_thin_point *p = &row[u].point, *q = &row[v].point;
			int64_t x = q->local_ns - p->local_ns;
			int64_t y = q->other_ns - q->local_ns - p->other_ns + p->local_ns;
			for (size_t i = 0; i < n; i++) {
				const struct usk_thin_point *m = &row[i].point;
				usk_i128 over = (usk_i128)(m->other_ns - m->local_ns - p->other_ns +
							   p->local_ns) *
							x -
						(usk_i128)y * (m->local_ns - p->local_ns);
				assert_true(back ? over >= 0 : over <= 0);
			}
		}
		free(row);
	}
	json_decref(data);
	free(text);
	usk_summary_free(&s);
	usk_clocks_free(c);
}

/* An answer that comes again takes back what was put for the one before. */
static void test_again(void **state)
{
	(void)state;
	struct usk_summary s;
	struct usk_clocks *c = answer("a", "b", &s, false);
	assert_true(usk_thin_total(s.pair[0].thin, false) > 0);
	s.sink.answer(s.sink.ctx, c);
	assert_int_equal(usk_thin_total(s.pair[0].thin, false), 0);
	const struct usk_msg m = { .sent_ns = START, .received_ns = START, .from = 0, .to = 1 };
	const struct usk_corrected at = { .sent_ns = START, .received_ns = START };
	const struct usk_msg strange = { .from = 0, .to = 0 };
	s.sink.corrected(s.sink.ctx, &at, 1);
	assert_true(s.sink.put(s.sink.ctx, &m, 1));
	assert_true(s.sink.put(s.sink.ctx, &strange, 1));
	assert_int_equal(
		usk_thin_total(s.pair[0].thin, false) + usk_thin_total(s.pair[0].thin, true), 1);
	usk_summary_free(&s);
	usk_clocks_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_names), cmocka_unit_test(test_data),
		cmocka_unit_test(test_levels),	      cmocka_unit_test(test_hull),
		cmocka_unit_test(test_again),	      cmocka_unit_test(test_outlier),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
