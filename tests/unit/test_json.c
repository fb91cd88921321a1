/* SPDX-License-Identifier: MIT */
/* clocks.json: there and back byte for byte, every key there, hostile texts answered in words. */
#include "../part.h"
#include "base/base.h"
#include "write/write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const int64_t epoch_ns = INT64_C(1700000000000000000);

static uint32_t *indices(size_t n)
{
	uint32_t *p = usk_alloc(n, sizeof *p);
	for (size_t i = 0; i < n; i++) {
		p[i] = (uint32_t)i;
	}
	return p;
}

static void add_clock(struct usk_clocks *c, const char *name, enum usk_quality quality,
		      size_t n_knots)
{
	c->clock = usk_grow(c->clock, c->n_clocks + 1, sizeof *c->clock);
	struct usk_clock *k = &c->clock[c->n_clocks++];
	memset(k, 0, sizeof *k);
	k->name = usk_strdup(name);
	k->quality = quality;
	k->resolution_ns = 1;
	k->drift_ppm = quality == USK_BOUNDED ? 21.0123456789 : NAN;
	k->drift_min_ppm = quality == USK_BOUNDED ? 1e-7 / 3 : NAN;
	k->drift_max_ppm = quality == USK_BOUNDED ? -0.1 : NAN;
	k->n_knots = n_knots;
	k->knot = usk_alloc(n_knots, sizeof *k->knot);
	for (size_t i = 0; i < n_knots; i++) {
		int64_t offset = quality == USK_REFERENCE ? 0 : -957333333 - 21 * (int64_t)i;
		k->knot[i] = (struct usk_knot){ epoch_ns + (int64_t)i * 1000000, offset,
						offset - 40, offset + 40, 0 };
		if (quality == USK_ONE_SIDED) {
			k->knot[i].offset_ns = k->knot[i].hi_ns = USK_NONE;
		}
	}
	if (quality != USK_ABSENT) {
		k->path = indices(1);
		k->n_path = 1;
	}
	if (quality == USK_BOUNDED) {
		k->wander = (struct usk_wander){ 100000, 24500000, 49000001 };
		k->before = (struct usk_slopes){ -1000000000000, -999999999999 };
		k->after = (struct usk_slopes){ 21000001, 123456789012 };
		k->stretch = usk_alloc(3, sizeof *k->stretch);
		k->n_stretches = 3;
		k->stretch[0] = (struct usk_disturbed){ -USK_TIME_MAX, 5, 0 };
		k->stretch[1] = (struct usk_disturbed){ 6, USK_TIME_MAX, 0 };
		k->stretch[2] = (struct usk_disturbed){ 3, 3, 1 };
		k->jump = usk_alloc(2, sizeof *k->jump);
		k->n_jumps = 2;
		k->jump[0] = (struct usk_jump){ USK_JUMP, 1, 0, 5, 6, USK_NONE, 77, 0, 0, false };
		k->jump[1] =
			(struct usk_jump){ USK_BEND, 1, USK_NO_CLOCK, 50, 40, -7, 77, 0, 1, true };
		k->set_back = usk_alloc(1, sizeof *k->set_back);
		k->n_set_backs = 1;
		k->set_back[0] = (struct usk_set_back){ 60, 30 };
	}
}

/* A table with something everywhere. */
static const struct usk_difference unheard = { 0, USK_NONE, USK_NONE, USK_NONE, USK_NONE };

static struct usk_clocks *everything(void)
{
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->method = usk_strdup("middle");
	c->solve = usk_strdup("joint");
	c->how = usk_strdup("lp");
	c->min_delay = usk_strdup("0");
	c->max_skew_e12 = 123456789012;
	add_clock(c, "client", USK_REFERENCE, 2);
	add_clock(c, "server \"q\" \\ \xc3\xbc \xe2\x82\xac \xf0\x9f\x95\xb0", USK_BOUNDED, 5);
	add_clock(c, "caf\xe9 \xed\xa0\x80 \xc0\xaf \xf5", USK_ONE_SIDED, 2); /* not UTF-8 */
	add_clock(c, "far", USK_ABSENT, 0);
	add_clock(c, "torn", USK_CONTRADICTED, 0);
	c->clock[1].knot[4].epoch = c->clock[1].knot[3].epoch = 1;
	c->clock[1].knot[3].local_ns = epoch_ns;
	c->trace = usk_alloc(2, sizeof *c->trace);
	c->n_traces = 2;
	c->trace[0] = (struct usk_trace_info){ .clock = 1,
					       .path = usk_strdup("a\xff/b.pcap"),
					       .kind = "pcap",
					       .events = 6112,
					       .truncated = true };
	c->trace[0].local = usk_alloc(1, sizeof(char *));
	c->trace[0].local[0] = usk_strdup("10.0.0.1");
	c->trace[0].n_local = 1;
	c->trace[0].iface = usk_alloc(1, sizeof *c->trace[0].iface);
	c->trace[0].iface[0] = (struct usk_iface_clock){ usk_strdup("eth1"), 2 };
	c->trace[0].n_ifaces = 1;
	c->trace[1] = (struct usk_trace_info){ .clock = UINT32_MAX,
					       .path = usk_strdup("m.csv"),
					       .kind = "pcapng" };
	c->counts = (struct usk_counts){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
	c->island = usk_alloc(1, sizeof *c->island);
	c->n_islands = 1;
	c->island[0] = (struct usk_island){ 0, indices(4), 4 };
	c->pair = usk_alloc(2, sizeof *c->pair);
	c->n_pairs = 2;
	for (uint32_t i = 0; i < 2; i++) {
		struct usk_pair *p = &c->pair[i];
		struct usk_delays none = { 0, 0, USK_NONE, USK_NONE, USK_NONE, USK_NONE };
		*p = (struct usk_pair){ .a = 0,
					.b = i + 1,
					.a_to_b = 3056,
					.b_to_a = i,
					.quality = i ? USK_ABSENT : USK_BOUNDED,
					.half_width_ns = i ? USK_NONE : 39400,
					.half_width_at_ns = i ? USK_NONE : epoch_ns,
					.evidence = { 1, 2, 3, 4, 5, 6 },
					.bucket_ns = 1000,
					.hull_floor = 7,
					.hull_ceiling = 8,
					.recorded_a_to_b = { 9, 1, INT64_MIN + 1, -1, 5,
							     INT64_MAX },
					.recorded_b_to_a = none,
					.min_delay_a_to_b_ns = 12,
					.min_delay_b_to_a_ns = USK_NONE,
					.corrected_a_to_b = { 3, 0, 12, 20, 30, 31 },
					.corrected_b_to_a = none,
					.broadcasts_recorded = { 4, -7, 9, 1, 3 },
					.broadcasts_corrected = unheard };
	}
	struct usk_msg m = { -5, USK_TIME_MAX, 0, 1, 1448 };
	c->pair[0].outlier = usk_alloc(1, sizeof *c->pair[0].outlier);
	c->pair[0].outlier[0] = (struct usk_outlier){ m, 77 };
	c->pair[0].n_outliers = 1;
	c->pair[0].contradiction = usk_alloc(2, sizeof m);
	c->pair[0].contradiction[0] = c->pair[0].contradiction[1] = m;
	c->pair[0].n_contradiction = 2;
	c->pair[0].floor = usk_alloc(3, sizeof(struct usk_point));
	c->pair[0].n_floor = 3;
	c->pair[0].floor[2] = (struct usk_point){ epoch_ns, -957333333 };
	c->evaluation = (struct usk_evaluation){ .recorded_inversions = 3056,
						 .corrected_inversions = 1,
						 .too_fast = { 2, 0.1 / 3, 7, 3 },
						 .broadcasts_recorded = unheard,
						 .broadcasts_corrected = { 5, -9, 12, 2, 7 },
						 .half_best_ns = 38100,
						 .half_worst_ns = 41200,
						 .half_mean_ns = 39400 };
	c->note = usk_alloc(1, sizeof *c->note);
	c->note[0] = usk_strdup("client.pcap: cut short\tat byte 7 \x01");
	c->n_notes = 1;
	return c;
}

static enum usk_status parse(const char *text, struct usk_clocks **out, struct usk_err *err)
{
	return usk_clocks_from_json(text, strlen(text), out, err);
}

static void test_round_trip(void **state)
{
	(void)state;
	struct usk_clocks *c = everything(), *d = NULL;
	struct usk_err err = { 0 };
	char *text = usk_clocks_to_json(c);
	if (parse(text, &d, &err)) {
		fail_msg("%s\n%s", err.msg, text);
	}
	char *again = usk_clocks_to_json(d);
	assert_string_equal(text, again);

	/* And the values, not only the text. */
	assert_int_equal(d->max_skew_e12, c->max_skew_e12);
	assert_int_equal(d->n_clocks, c->n_clocks);
	assert_string_equal(d->clock[1].name, c->clock[1].name);
	assert_string_equal(d->clock[2].name, "caf\\xe9 \\xed\\xa0\\x80 \\xc0\\xaf \\xf5");
	for (size_t i = 0; i < c->n_clocks; i++) {
		assert_int_equal(d->clock[i].quality, c->clock[i].quality);
		assert_int_equal(d->clock[i].n_knots, c->clock[i].n_knots);
		for (size_t k = 0; k < c->clock[i].n_knots; k++) {
			const struct usk_knot *x = &c->clock[i].knot[k], *y = &d->clock[i].knot[k];
			assert_true(y->local_ns == x->local_ns && y->offset_ns == x->offset_ns &&
				    y->lo_ns == x->lo_ns && y->hi_ns == x->hi_ns &&
				    y->epoch == x->epoch);
		}
	}
	const struct usk_clock *a = &c->clock[1], *b = &d->clock[1];
	assert_memory_equal(&b->wander, &a->wander, sizeof a->wander);
	assert_memory_equal(&b->before, &a->before, sizeof a->before);
	assert_memory_equal(&b->after, &a->after, sizeof a->after);
	assert_int_equal(b->n_stretches, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(b->stretch[i].from_ns == a->stretch[i].from_ns &&
			    b->stretch[i].to_ns == a->stretch[i].to_ns &&
			    b->stretch[i].epoch == a->stretch[i].epoch);
	}
	assert_true(b->n_jumps == 2 && b->jump[0].or_of == 0 && b->jump[1].or_of == USK_NO_CLOCK);
	assert_true(b->n_set_backs == 1 && b->set_back[0].from_ns == 60 &&
		    b->set_back[0].to_ns == 30);
	assert_true(isnan(d->clock[3].drift_ppm));
	assert_true(fabs(d->clock[1].drift_ppm - 21.0123456789) < 1e-7);
	assert_memory_equal(&d->counts, &c->counts, sizeof c->counts);
	assert_memory_equal(&d->pair[0].outlier[0], &c->pair[0].outlier[0],
			    sizeof *c->pair[0].outlier);
	assert_memory_equal(&d->pair[0].evidence, &c->pair[0].evidence, sizeof c->pair[0].evidence);
	assert_memory_equal(&d->pair[0].recorded_a_to_b, &c->pair[0].recorded_a_to_b,
			    sizeof c->pair[0].recorded_a_to_b);
	assert_memory_equal(&d->pair[0].corrected_a_to_b, &c->pair[0].corrected_a_to_b,
			    sizeof c->pair[0].corrected_a_to_b);
	assert_memory_equal(&d->pair[0].broadcasts_recorded, &c->pair[0].broadcasts_recorded,
			    sizeof c->pair[0].broadcasts_recorded);
	assert_memory_equal(&d->evaluation.broadcasts_corrected,
			    &c->evaluation.broadcasts_corrected,
			    sizeof c->evaluation.broadcasts_corrected);
	assert_int_equal(d->evaluation.broadcasts_recorded.n, 0);
	assert_memory_equal(d->pair[0].floor, c->pair[0].floor, 3 * sizeof(struct usk_point));
	assert_string_equal(d->trace[0].kind, "pcap");
	assert_true(d->trace[1].clock == USK_NO_CLOCK);
	assert_true(d->trace[0].n_ifaces == 1 && d->trace[1].n_ifaces == 0);
	assert_string_equal(d->trace[0].iface[0].iface, "eth1");
	assert_int_equal(d->trace[0].iface[0].clock, 2);
	free(text);
	free(again);
	usk_clocks_free(c);
	usk_clocks_free(d);
	usk_clocks_free(NULL);
}

/* Nothing in the table is nothing in the text, but every key is there. */
/* Two knots, bounds beyond: read back, and a band that is straight from one to the next. */
static void test_beyond(void **state)
{
	static const struct {
		struct usk_beyond at[2];
		bool good;
	} cases[] = {
		{ { { -500, -200, 300 }, { 2500, -150, 400 } }, true },
		{ { { -500, -200, 300 }, { -600, -150, 400 } }, false },
		{ { { -500, -200, 300 }, { 1000, -150, 400 } }, false },
		{ { { 0, -200, 300 }, { 2500, -150, 400 } }, false },
		{ { { -500, -200, 300 }, { 2500, 401, 400 } }, false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct usk_clocks *c = usk_alloc(1, sizeof *c), *d = NULL;
		struct usk_err err;
		c->method = usk_strdup("middle");
		c->solve = usk_strdup("joint");
		c->how = usk_strdup("lp");
		c->min_delay = usk_strdup("0");
		c->max_skew_e12 = 500000000;
		add_clock(c, "a", USK_REFERENCE, 2);
		add_clock(c, "b", USK_ABSENT, 0);
		struct usk_clock *k = &c->clock[1];
		k->quality = USK_BOUNDED;
		k->path = indices(2);
		k->n_path = 2;
		k->knot = usk_grow(k->knot, 2, sizeof *k->knot);
		k->n_knots = 2;
		k->knot[0] = (struct usk_knot){ 0, 10, 0, 20, 0 };
		k->knot[1] = (struct usk_knot){ 1000, 10, 0, 20, 0 };
		k->before = k->after = (struct usk_slopes){ -200000000, 200000000 };
		k->beyond = usk_alloc(2, sizeof *k->beyond);
		k->n_beyond = 2;
		memcpy(k->beyond, cases[i].at, sizeof cases[i].at);
		char *text = usk_clocks_to_json(c);
		assert_int_equal(!parse(text, &d, &err), cases[i].good);
		if (cases[i].good) {
			/* Half way to a bound, at it, and 500,000 ns further: 100 ns more. */
			static const int64_t expect[][3] = { { -250, -100, 160 },
							     { 1750, -75, 210 },
							     { 2500, -150, 400 },
							     { -500500, -300, 400 },
							     { 502500, -250, 500 } };
			struct usk_map *map = usk_map_new(&d->clock[1], d->max_skew_e12);
			for (size_t n = 0; n < sizeof expect / sizeof *expect; n++) {
				struct usk_stamp t;
				assert_int_equal(usk_map_at(map, expect[n][0], &t, &err), USK_OK);
				assert_int_equal(t.lo_ns - expect[n][0], expect[n][1]);
				assert_int_equal(t.hi_ns - expect[n][0], expect[n][2]);
				assert_int_equal(t.reference_ns - expect[n][0], 10);
			}
			usk_map_free(map);
		}
		free(text);
		usk_clocks_free(d);
		usk_clocks_free(c);
	}
}

static void test_empty(void **state)
{
	(void)state;
	struct usk_clocks none = { 0 }, *d = NULL;
	struct usk_err err = { 0 };
	char *text = usk_clocks_to_json(&none);
	json_t *o = json_loads(text, 0, NULL);
	assert_non_null(o);
	static const char *const keys[] = { "unskew_clocks", "model",	  "method",	"solve",
					    "traces",	     "messages",  "islands",	"clocks",
					    "pairs",	     "corridors", "evaluation", "notes" };
	assert_int_equal(json_object_size(o), COUNT(keys));
	for (size_t i = 0; i < COUNT(keys); i++) {
		assert_non_null(json_object_get(o, keys[i]));
	}
	json_decref(o);
	if (parse(text, &d, &err)) {
		fail_msg("%s", err.msg);
	}
	char *again = usk_clocks_to_json(d);
	assert_string_equal(text, again);
	usk_clocks_free(d);
	free(again);
	free(text);
}

/* As another program would write it, with what unskew adds left out and keys of its own. */
static const char foreign[] =
	"{ \"unskew_clocks\": 1, \"ours\": [1, {}],"
	"\"model\": {\"name\": \"wander\", \"ppm\": 0.1, \"max_skew_ppm\": 500, \"min_delay\": "
	"\"0\"},"
	"\"method\": \"middle\", \"solve\": {\"name\": \"joint\", \"how\": \"lp\"},"
	"\"traces\": [{\"clock\": \"server\", \"path\": \"s.pcap\", \"kind\": \"pcap\", "
	"\"events\": 6112, \"truncated\": false}],"
	"\"messages\": {\"matched\": 6112, \"unmatched\": 0, \"ambiguous\": 0, \"expired\": 0, "
	"\"direction_unknown\": 0, \"outliers\": 0},"
	"\"islands\": [{\"reference\": \"client\", \"clocks\": [\"client\", \"server\"]}],"
	"\"clocks\": [{\"name\": \"client\", \"reference\": \"client\", \"quality\": \"reference\","
	"\"path\": [\"client\"], \"resolution_ns\": \"1\", \"drift_ppm\": 0, \"drift_min_ppm\": 0,"
	"\"drift_max_ppm\": 0.0, \"knots\": ["
	"{\"local_ns\": \"0\", \"offset_ns\": \"0\", \"lo_ns\": \"0\", \"hi_ns\": \"0\"},"
	"{\"local_ns\": \"9\", \"offset_ns\": \"0\", \"lo_ns\": \"0\", \"hi_ns\": \"0\"}], "
	"\"jumps\": []},"
	"{\"name\": \"server\", \"reference\": \"client\", \"quality\": \"bounded\","
	"\"path\": [\"client\", \"server\"], \"resolution_ns\": \"1000\", \"drift_ppm\": 21.01,"
	"\"drift_min_ppm\": null, \"drift_max_ppm\": null, \"knots\": ["
	"{\"local_ns\": \"1700000000000000000\", \"offset_ns\": \"-957333333\", "
	"\"lo_ns\": \"-957373333\", \"hi_ns\": \"-957293333\", \"epoch\": 0},"
	"{\"local_ns\": \"1700000000000000001\", \"offset_ns\": \"-957333334\", "
	"\"lo_ns\": \"-957373333\", \"hi_ns\": \"-957293333\"}], \"jumps\": []}],"
	"\"pairs\": [{\"a\": \"client\", \"b\": \"server\", \"a_to_b\": 3056, \"b_to_a\": 3056,"
	"\"quality\": \"bounded\", \"half_width_ns\": \"39400\", \"half_width_at_ns\": null,"
	"\"wander\": {\"assumed_ppm\": 0.1, \"needed_ppm\": 0.0, \"used_ppm\": 0.1},"
	"\"sender_evidence\": {\"ttl\": 0, \"exchange\": 1, \"option\": 0}, \"outliers\": [],"
	"\"contradiction\": []}],"
	"\"corridors\": [],"
	"\"evaluation\": {\"recorded\": {\"inversions\": 3056}, \"corrected\": {\"inversions\": 0, "
	"\"too_fast\": {\"count\": 0, \"percent\": 0, \"max_ns\": \"0\", \"mean_ns\": \"0\"}},"
	"\"half_width_ns\": {\"best\": \"38100\", \"worst\": \"41200\", \"mean\": \"39400\"}} }";

static void test_foreign(void **state)
{
	(void)state;
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	if (parse(foreign, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(c->max_skew_e12, 500000000);
	assert_int_equal(c->clock[1].resolution_ns, 1000);
	assert_true(!c->clock[0].before.least_e12 && !c->clock[0].after.most_e12);
	assert_true(c->clock[1].before.least_e12 == -500000000 &&
		    c->clock[1].after.most_e12 == 500000000);
	assert_int_equal(usk_clocks_find(c, NULL, "s.pcap", "client"), 1);
	assert_int_equal(usk_clocks_find(c, NULL, "other.pcap", "client"), 0);
	assert_int_equal(usk_clocks_find(c, "client", "s.pcap", "server"), 0);
	assert_true(usk_clocks_find(c, "nobody", "s.pcap", "server") == USK_NO_CLOCK);
	assert_true(usk_clocks_find(c, NULL, "t.pcap", "t") == USK_NO_CLOCK);
	usk_clocks_free(c);
}

/* One key of the contract, taken out or given another type, is named in the sentence. */
static void take_out(json_t *root, json_t *v, const char *key)
{
	static const char *const may_go[] = { "ours", "epoch", "ppm", "ttl", "exchange", "option" };
	static const char *const odd[] = { NULL, "true", "[[[]]]" };
	bool free_to_go = false;
	for (size_t i = 0; i < COUNT(may_go); i++) {
		free_to_go = free_to_go || !strcmp(key, may_go[i]);
	}
	json_t *member = json_incref(json_object_get(v, key));
	for (size_t kind = 0; kind < COUNT(odd); kind++) {
		bool same_type = (kind == 1 && !strcmp(key, "truncated")) ||
				 (kind == 2 && !strcmp(key, "jumps"));
		struct usk_clocks *c = NULL;
		struct usk_err err = { 0 };
		if (kind == 0) {
			json_object_del(v, key);
		} else {
			json_object_set_new(v, key, json_loads(odd[kind], JSON_DECODE_ANY, NULL));
		}
		char *text = json_dumps(root, 0);
		enum usk_status status = parse(text, &c, &err);
		usk_clocks_free(c);
		free(text);
		if (!same_type && !free_to_go && (!status || !strstr(err.msg, key))) {
			fail_msg("%s, change %zu: \"%s\"", key, kind, err.msg);
		}
	}
	json_object_set_new(v, key, member);
}

static void take_out_all(json_t *root, json_t *v)
{
	char *key[32];
	size_t n = 0;
	const char *name;
	json_t *member;
	/* The keys first: putting one back moves it to the end of its object. */
	json_object_foreach(v, name, member)
	{
		key[n++] = usk_strdup(name);
	}
	for (size_t i = 0; i < n; i++) {
		take_out(root, v, key[i]);
		take_out_all(root, json_object_get(v, key[i]));
		free(key[i]);
	}
	for (size_t i = 0; i < json_array_size(v); i++) {
		take_out_all(root, json_array_get(v, i));
	}
}

static void test_missing(void **state)
{
	(void)state;
	json_t *root = json_loads(foreign, 0, NULL);
	assert_non_null(root);
	take_out_all(root, root);
	json_decref(root);
}

#define BEYOND(local, hi) "{\"local_ns\": \"" local "\", \"lo_ns\": \"0\", \"hi_ns\": \"" hi "\"}"

/* Knots that no clock has, and texts that are no table of clocks. */
static const struct {
	const char *from, *to, *says;
} edits[] = {
	{ "\"unskew_clocks\": 1", "\"unskew_clocks\": 2", "is not 1" },
	{ "\"unskew_clocks\": 1", "\"truth\": 1", "is not a clocks.json" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"0\"",
	  "clocks[0].knots[1].local_ns: does not rise" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"4611686018427387905\"", "2^62" },
	{ "\"local_ns\": \"9\", \"offset_ns\": \"0\", \"lo_ns\": \"0\", \"hi_ns\": \"0\"",
	  "\"local_ns\": \"4611686018427387904\", \"offset_ns\": \"1\", \"lo_ns\": \"0\", "
	  "\"hi_ns\": \"1\"",
	  "clocks[0].knots[1]: its corrected time" },
	{ "\"local_ns\": \"0\", \"offset_ns\": \"0\", \"lo_ns\": \"0\"",
	  "\"local_ns\": \"-4611686018427387904\", \"offset_ns\": \"-1\", \"lo_ns\": \"-1\"",
	  "clocks[0].knots[0]: its corrected time" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"99999999999999999999\"", "whole number" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": 9", "in a string" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"\"", "whole number" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"9\", \"epoch\": -1", "is not a count" },
	{ "\"local_ns\": \"9\"", "\"local_ns\": \"9\", \"epoch\": 1", "single knot" },
	{ "\"-957333334\"", "\"-957333335\"", "clocks[1].knots[1].offset_ns: falls faster" },
	{ "\"-957333334\"", "\"-957373334\"", "lo_ns <= offset_ns <= hi_ns" },
	{ "\"-957333334\"", "null", "needs offset_ns" },
	{ "\"quality\": \"bounded\"", "\"quality\": \"good\"", "none of reference" },
	{ "\"quality\": \"bounded\"", "\"quality\": \"absent\"", "yet the clock is absent" },
	{ "\"quality\": \"bounded\"", "\"quality\": \"one-sided\"", "yet the clock is one-sided" },
	{ "\"name\": \"server\"", "\"name\": \"client\"", "two clocks are called" },
	{ "\"name\": \"server\"", "\"name\": \"\"", "is empty" },
	{ "\"a\": \"client\"", "\"a\": \"\\u001b[31m\"", "pairs[0].a: names the clock \"?[31m\"" },
	{ "\"max_skew_ppm\": 500", "\"max_skew_ppm\": -1", "max_skew_ppm" },
	{ "\"resolution_ns\": \"1000\"", "\"resolution_ns\": \"-1\"", "is negative" },
	{ "\"jumps\": []", "\"jumps\": [], \"before\": {\"least_ppm\": 2, \"most_ppm\": 1}",
	  "clocks[0].before: least_ppm <= most_ppm" },
	{ "\"jumps\": []", "\"jumps\": [], \"after\": {\"least_ppm\": -1000001, \"most_ppm\": 1}",
	  "clocks[0].after.least_ppm: is not between -1,000,000" },
	{ "\"jumps\": []", "\"jumps\": [], \"after\": {\"least_ppm\": 0}",
	  "clocks[0].after.most_ppm: is missing" },
	{ "\"jumps\": []", "\"jumps\": [], \"after\": 1", "after: is not an object" },
	{ "\"jumps\": []", "\"jumps\": [], \"wander\": {\"assumed_ppm\": -1}",
	  "clocks[0].wander.assumed_ppm: is not between 0" },
	{ "\"jumps\": []", "\"jumps\": [], \"disturbed\": [{\"from_ns\": \"7\", \"to_ns\": \"6\"}]",
	  "clocks[0].disturbed[0]: from_ns <= to_ns" },
	{ "\"jumps\": []",
	  "\"jumps\": [], \"disturbed\": [{\"from_ns\": \"1\", \"to_ns\": \"6\"}, "
	  "{\"from_ns\": \"6\", \"to_ns\": \"6\"}]",
	  "clocks[0].disturbed[1]: is not after the one before it" },
	{ "\"jumps\": []", "\"jumps\": [], \"disturbed\": {}", "disturbed: is not an array" },
	{ "\"jumps\": []", "\"jumps\": [], \"beyond\": [" BEYOND("10", "1") "]",
	  "clocks[0].beyond: is of a clock without one bounded epoch" },
	{ "\"jumps\": []}]",
	  "\"jumps\": [], \"beyond\": [" BEYOND("1700000000000000000", "1") "]}]",
	  "clocks[1].beyond[0].local_ns: is not beyond the knots" },
	{ "\"jumps\": []}]",
	  "\"jumps\": [], \"beyond\": [" BEYOND("1700000000000000001", "1") "]}]",
	  "clocks[1].beyond[0].local_ns: is not beyond the knots" },
	{ "\"jumps\": []}]",
	  "\"jumps\": [], \"beyond\": [" BEYOND("7", "1") ", " BEYOND("7", "1") "]}]",
	  "clocks[1].beyond[1].local_ns: does not rise from the one before" },
	{ "\"jumps\": []}]", "\"jumps\": [], \"beyond\": [" BEYOND("7", "-1") "]}]",
	  "clocks[1].beyond[0]: lo_ns <= hi_ns" },
	{ "\"jumps\": []",
	  "\"jumps\": [{\"kind\": \"jump\", \"of\": \"client\", \"or\": \"nobody\"}]",
	  "clocks[0].jumps[0].or: names the clock \"nobody\"" },
	{ "\"corridors\": []", "\"corridors\": [{\"a\": \"server\", \"b\": \"server\"}]",
	  "none of the pairs" },
	{ "\"corridors\": []", "\"corridors\": [{},{}]", "more rows than pairs" },
	{ "\"method\": \"middle\"", "\"method\": \"middle\", \"method\": \"hull\"", "duplicate" },
	{ "{ \"unskew", "\"unskew", "not JSON" },
};

static void test_edits(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(edits); i++) {
		const char *at = strstr(foreign, edits[i].from);
		assert_non_null(at);
		char *text = usk_format("%.*s%s%s", (int)(at - foreign), foreign, edits[i].to,
					at + strlen(edits[i].from));
		struct usk_clocks *c = NULL;
		struct usk_err err = { 0 };
		enum usk_status status = parse(text, &c, &err);
		if (status != USK_EINPUT || !strstr(err.msg, edits[i].says)) {
			fail_msg("case %zu (%s): \"%s\"", i, edits[i].to, err.msg);
		}
		assert_null(c);
		assert_int_equal(parse(text, &c, NULL), USK_EINPUT);
		free(text);
	}
	static const char *const not_clocks[] = {
		"", "[]", "null", "7", "{", "{}", "\"x\"", "\xff"
	};
	for (size_t i = 0; i < COUNT(not_clocks); i++) {
		struct usk_clocks *c = NULL;
		struct usk_err err = { 0 };
		assert_int_equal(parse(not_clocks[i], &c, &err), USK_EINPUT);
		assert_true(strlen(err.msg) > 10);
	}
}

/* Damaged anywhere: an answer or a sentence, and what was read can be written again. */
static void test_damage(void **state)
{
	(void)state;
	struct usk_clocks *whole = everything();
	char *text = usk_clocks_to_json(whole);
	size_t n = strlen(text);
	static const char pieces[] = "0123456789-.\",:[]{}enull";
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		char *copy = usk_strdup(text);
		size_t size = seed % 8 ? n : (size_t)usk_rng_below(&r, n);
		for (uint64_t k = 1 + usk_rng_below(&r, 3); k; k--) {
			copy[usk_rng_below(&r, n)] =
				usk_rng_below(&r, 4) ? pieces[usk_rng_below(&r, sizeof pieces - 1)]
						     : (char)usk_rng_next(&r);
		}
		struct usk_clocks *c = NULL, *d = NULL;
		struct usk_err err = { 0 };
		if (usk_clocks_from_json(copy, size, &c, &err)) {
			if (!err.msg[0]) {
				fail_msg("seed %llu: no sentence", (unsigned long long)seed);
			}
		} else {
			char *once = usk_clocks_to_json(c);
			if (parse(once, &d, &err)) {
				fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
			}
			char *twice = usk_clocks_to_json(d);
			assert_string_equal(once, twice);
			free(once);
			free(twice);
		}
		usk_clocks_free(c);
		usk_clocks_free(d);
		free(copy);
	}
	free(text);
	usk_clocks_free(whole);
}

/* What is never to be written: one defect each. */
static void spoil(struct usk_clocks *c, int which)
{
	struct usk_clock *k = &c->clock[1];
	switch (which) {
	case 0:
		k->knot[1].offset_ns = k->knot[1].lo_ns = k->knot[0].offset_ns - 1000001;
		break;
	case 1:
		k->knot[1].offset_ns = k->knot[1].hi_ns + 1;
		break;
	case 2:
		k->knot[2].local_ns = k->knot[1].local_ns;
		break;
	case 3:
		k->knot[1].epoch = 1;
		break;
	case 4:
		k->stretch[0].to_ns = 6;
		break;
	case 5:
		k->n_knots = 1;
		break;
	case 6:
		k->before.most_e12 = k->before.least_e12 - 1;
		break;
	default: /* all else makes an epoch of it */
		k->jump[1].end_epoch = 0;
	}
}

/* An answer is sound where what is written of it is read as it was. */
static void test_sound(void **state)
{
	(void)state;
	for (int which = -1; which < 8; which++) {
		struct usk_clocks *c = everything(), *read = NULL;
		struct usk_err err = { .msg = "" };
		if (which >= 0) {
			spoil(c, which);
		}
		char *text = usk_clocks_to_json(c), *again = NULL;
		if (!parse(text, &read, &err)) {
			again = usk_clocks_to_json(read);
		}
		const bool same = again && !strcmp(text, again);
		assert_int_equal(same, which < 0);
		err.msg[0] = 0;
		assert_int_equal(!usk_clocks_sound(c, &err), same);
		assert_int_equal(strstr(err.msg, "failed its own check") != NULL, !same);
		USK_FREE(text, again);
		usk_clocks_free(c);
		usk_clocks_free(read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_beyond),
		cmocka_unit_test(test_empty),	   cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_missing),	   cmocka_unit_test(test_edits),
		cmocka_unit_test(test_damage),	   cmocka_unit_test(test_sound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
