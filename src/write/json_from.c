/* SPDX-License-Identifier: MIT */
/*
 * json_from.c - clocks.json back into the table of clocks
 *
 * In    a text that anyone may have written, edited or damaged
 * Out   struct usk_clocks whose knots are known to be sound, or a sentence naming the key
 * Why   apply and convert trust the knots: what is wrong is found here and nowhere later
 * Not   keys that it does not know: they are passed over
 */
#include "write/json_get.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- clocks ------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names first, since everything else refers to clocks by them. */
static void read_names(struct reader *r, const struct place *list, const json_t *a)
{
	struct usk_clocks *c = r->c;
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { list, NULL, i };
		struct usk_clock *k = NEW_ROW(c->clock, c->n_clocks, cap);
		k->name = usk_json_string(r, &at, json_array_get(a, i), "name");
		if (!k->name[0]) {
			usk_json_wrong(r, &at, "name", "is empty");
		}
	}
	if (c->n_clocks >= USK_NO_CLOCK) {
		usk_json_wrong(r, list, NULL, "holds too many clocks");
	}
	if (r->status || !c->n_clocks) {
		return;
	}
	/* Sort (name, index) by name: bsearch() needs the names in a row. */
	struct named {
		const char *name;
		uint32_t index;
	} *named = usk_alloc(c->n_clocks, sizeof *named);
	for (size_t i = 0; i < c->n_clocks; i++) {
		named[i] = (struct named){ c->clock[i].name, (uint32_t)i };
	}
	qsort(named, c->n_clocks, sizeof *named, by_name);
	r->name = usk_alloc(c->n_clocks, sizeof *r->name);
	r->index = usk_alloc(c->n_clocks, sizeof *r->index);
	for (size_t i = 0; i < c->n_clocks; i++) {
		r->name[i] = named[i].name;
		r->index[i] = named[i].index;
		if (i && !strcmp(r->name[i - 1], r->name[i])) {
			usk_json_wrong(r, list, NULL, "two clocks are called \"%.60s\"",
				       r->name[i]);
		}
	}
	free(named);
}

/* What usk_map_new() relies on. before: the knot to the left in the same epoch, or NULL. */
static void check_knot(struct reader *r, const struct place *at, const struct usk_clock *k,
		       const struct usk_knot *before, const struct usk_knot *x)
{
	bool full = x->offset_ns != USK_NONE && x->lo_ns != USK_NONE && x->hi_ns != USK_NONE;
	usk_i128 corrected = (usk_i128)x->local_ns + (full ? x->offset_ns : 0);
	if (k->quality == USK_ONE_SIDED && x->offset_ns != USK_NONE) {
		usk_json_wrong(r, at, "offset_ns", "is not null, yet the clock is one-sided");
	} else if (k->quality != USK_ONE_SIDED && !full) {
		usk_json_wrong(r, at, NULL,
			       "a clock that is %s needs offset_ns, lo_ns and hi_ns in each knot",
			       usk_quality_name(k->quality));
	} else if (full && (x->lo_ns > x->offset_ns || x->offset_ns > x->hi_ns)) {
		usk_json_wrong(r, at, NULL, "lo_ns <= offset_ns <= hi_ns does not hold");
	} else if (corrected > USK_TIME_MAX || corrected < -USK_TIME_MAX) {
		usk_json_wrong(r, at, NULL,
			       "its corrected time is more than 2^62 ns (146 years) from 1970");
	} else if (before && x->local_ns <= before->local_ns) {
		usk_json_wrong(r, at, "local_ns", "does not rise from the knot before");
	} else if (before && full &&
		   (usk_i128)x->offset_ns - before->offset_ns <
			   -((usk_i128)x->local_ns - before->local_ns)) {
		usk_json_wrong(r, at, "offset_ns",
			       "falls faster than the clock runs: time would go back");
	}
}

static void read_knots(struct reader *r, const struct place *up, const json_t *o,
		       struct usk_clock *k)
{
	const json_t *a = usk_json_array(r, up, o, "knots");
	struct place list = { up, "knots", 0 };
	size_t cap = 0, in_epoch = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *v = json_array_get(a, i);
		struct usk_knot *x = NEW_ROW(k->knot, k->n_knots, cap);
		x->local_ns = usk_json_ns(r, &at, v, "local_ns");
		x->offset_ns = usk_json_ns_or_null(r, &at, v, "offset_ns");
		x->lo_ns = usk_json_ns_or_null(r, &at, v, "lo_ns");
		x->hi_ns = usk_json_ns_or_null(r, &at, v, "hi_ns");
		uint64_t epoch = usk_json_count_if(r, &at, v, "epoch");
		x->epoch = (uint32_t)epoch;
		bool same = i && epoch == x[-1].epoch;
		if (epoch > UINT32_MAX || (i && epoch < x[-1].epoch)) {
			usk_json_wrong(r, &at, "epoch", "is not in order");
		}
		if (i && !same && in_epoch < 2) {
			usk_json_wrong(r, &at, NULL,
				       "begins an epoch, yet the one before has a single knot");
		}
		in_epoch = same ? in_epoch + 1 : 1;
		check_knot(r, &at, k, same ? x - 1 : NULL, x);
	}
	bool none = k->quality == USK_ABSENT || k->quality == USK_CONTRADICTED;
	bool allowed = none || k->quality == USK_ONE_SIDED;
	if (none && k->n_knots) {
		usk_json_wrong(r, up, "knots", "is not empty, yet the clock is %s",
			       usk_quality_name(k->quality));
	} else if (k->n_knots ? in_epoch < 2 : !allowed) {
		usk_json_wrong(r, up, "knots", "holds fewer than two knots");
	}
}

static void read_jumps(struct reader *r, const struct place *up, const json_t *o,
		       struct usk_clock *k)
{
	const json_t *a = usk_json_array(r, up, o, "jumps");
	struct place list = { up, "jumps", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *row = json_array_get(a, i);
		struct usk_jump *j = NEW_ROW(k->jump, k->n_jumps, cap);
		char *kind = usk_json_string(r, &at, row, "kind");
		if (strcmp(kind, "jump") && strcmp(kind, "bend")) {
			usk_json_wrong(r, &at, "kind", "is neither \"jump\" nor \"bend\"");
		}
		j->kind = strcmp(kind, "bend") ? USK_JUMP : USK_BEND;
		free(kind);
		/* An addition of unskew's. */
		j->of = json_object_get(row, "of") ? usk_json_clock(r, &at, row, "of")
						   : (uint32_t)(k - r->c->clock);
		j->or_of = json_object_get(row, "or") ? usk_json_clock(r, &at, row, "or")
						      : USK_NO_CLOCK;
		j->after_local_ns = usk_json_ns(r, &at, row, "after_local_ns");
		j->before_local_ns = usk_json_ns(r, &at, row, "before_local_ns");
		j->size_lo_ns = usk_json_span_or_null(r, &at, row, "size_lo_ns");
		j->size_hi_ns = usk_json_span_or_null(r, &at, row, "size_hi_ns");
		uint64_t epoch = usk_json_count_if(r, &at, row, "epoch");
		j->epoch = (uint32_t)epoch;
		if (epoch > UINT32_MAX) {
			usk_json_wrong(r, &at, "epoch", "is more than a clock has");
		}
	}
}

/* A rate of up to 10^6 ppm, in parts per 10^12. */
static int64_t read_rate(struct reader *r, const struct place *at, const json_t *o, const char *key,
			 bool negative)
{
	double ppm = usk_json_number(r, at, o, key, false);
	if (!(ppm >= (negative ? -1e6 : 0) && ppm <= 1e6)) {
		usk_json_wrong(r, at, key, "is not between %s and 1,000,000",
			       negative ? "-1,000,000" : "0");
		return 0;
	}
	return (int64_t)llround(ppm * 1e6);
}

static void read_wander(struct reader *r, const struct place *up, const json_t *o,
			struct usk_wander *w)
{
	struct place at = { up, "wander", 0 };
	const json_t *v = usk_json_object(r, up, o, "wander");
	w->assumed_e12 = read_rate(r, &at, v, "assumed_ppm", false);
	w->needed_e12 = read_rate(r, &at, v, "needed_ppm", false);
	w->used_e12 = read_rate(r, &at, v, "used_ppm", false);
}

/* Others need not write them: all that the skew limit allows. */
static struct usk_slopes read_slopes(struct reader *r, const struct place *up, const json_t *o,
				     const char *key, bool reference)
{
	const int64_t limit = reference ? 0 : r->c->max_skew_e12;
	struct usk_slopes s = { -limit, limit };
	struct place at = { up, key, 0 };
	if (json_object_get(o, key)) {
		const json_t *v = usk_json_object(r, up, o, key);
		s.least_e12 = read_rate(r, &at, v, "least_ppm", true);
		s.most_e12 = read_rate(r, &at, v, "most_ppm", true);
		if (s.least_e12 > s.most_e12) {
			usk_json_wrong(r, &at, NULL, "least_ppm <= most_ppm does not hold");
		}
	}
	return s;
}

/* An addition of unskew's. */
static void read_disturbed(struct reader *r, const struct place *up, const json_t *o,
			   struct usk_clock *k)
{
	if (!json_object_get(o, "disturbed")) {
		return;
	}
	const json_t *a = usk_json_array(r, up, o, "disturbed");
	struct place list = { up, "disturbed", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *row = json_array_get(a, i);
		struct usk_disturbed *x = NEW_ROW(k->stretch, k->n_stretches, cap);
		x->from_ns = usk_json_ns(r, &at, row, "from_ns");
		x->to_ns = usk_json_ns(r, &at, row, "to_ns");
		uint64_t epoch = usk_json_count_if(r, &at, row, "epoch");
		x->epoch = (uint32_t)epoch;
		bool same = i && epoch == x[-1].epoch;
		if (x->from_ns > x->to_ns) {
			usk_json_wrong(r, &at, NULL, "from_ns <= to_ns does not hold");
		} else if (epoch > UINT32_MAX || (i && epoch < x[-1].epoch) ||
			   (same && x->from_ns <= x[-1].to_ns)) {
			usk_json_wrong(r, &at, NULL, "is not in order, behind the one before");
		}
	}
}

static void read_clocks(struct reader *r, const json_t *root)
{
	const json_t *a = usk_json_array(r, NULL, root, "clocks");
	struct place list = { NULL, "clocks", 0 };
	read_names(r, &list, a);
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *o = json_array_get(a, i);
		struct usk_clock *k = &r->c->clock[i];
		k->reference = usk_json_clock(r, &at, o, "reference");
		k->quality = usk_json_quality(r, &at, o);
		k->path = usk_json_clocks(r, &at, o, "path", &k->n_path);
		k->resolution_ns = usk_json_ns(r, &at, o, "resolution_ns");
		if (k->resolution_ns < 0) {
			usk_json_wrong(r, &at, "resolution_ns", "is negative");
		}
		k->drift_ppm = usk_json_number(r, &at, o, "drift_ppm", true);
		k->drift_min_ppm = usk_json_number(r, &at, o, "drift_min_ppm", true);
		k->drift_max_ppm = usk_json_number(r, &at, o, "drift_max_ppm", true);
		if (json_object_get(o, "wander")) {
			read_wander(r, &at, o, &k->wander);
		}
		read_knots(r, &at, o, k);
		k->before = read_slopes(r, &at, o, "before", k->quality == USK_REFERENCE);
		k->after = read_slopes(r, &at, o, "after", k->quality == USK_REFERENCE);
		read_jumps(r, &at, o, k);
		read_disturbed(r, &at, o, k);
	}
}

/* ---- pairs and corridors ------------------------------------------------------- */

static void read_message(struct reader *r, const struct place *at, const json_t *o,
			 struct usk_msg *m)
{
	m->from = usk_json_clock(r, at, o, "sender");
	m->to = usk_json_clock(r, at, o, "receiver");
	m->sent_ns = usk_json_ns(r, at, o, "sent_ns");
	m->received_ns = usk_json_ns(r, at, o, "received_ns");
	uint64_t bytes = usk_json_count_if(r, at, o, "bytes");
	m->bytes = (uint32_t)bytes;
	if (bytes > UINT32_MAX) {
		usk_json_wrong(r, at, "bytes", "is more than a message holds");
	}
}

static void read_messages_of_pair(struct reader *r, const struct place *at, const json_t *o,
				  struct usk_pair *p)
{
	size_t cap = 0;
	const json_t *a = usk_json_array(r, at, o, "outliers");
	struct place outliers = { at, "outliers", 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place here = { &outliers, NULL, i };
		struct usk_outlier *x = NEW_ROW(p->outlier, p->n_outliers, cap);
		read_message(r, &here, json_array_get(a, i), &x->msg);
		x->excess_ns = usk_json_span_or_null(r, &here, json_array_get(a, i), "excess_ns");
	}
	cap = 0;
	a = usk_json_array(r, at, o, "contradiction");
	struct place contradiction = { at, "contradiction", 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place here = { &contradiction, NULL, i };
		read_message(r, &here, json_array_get(a, i),
			     NEW_ROW(p->contradiction, p->n_contradiction, cap));
	}
}

static void read_pair(struct reader *r, const struct place *at, const json_t *o, struct usk_pair *p)
{
	p->a = usk_json_clock(r, at, o, "a");
	p->b = usk_json_clock(r, at, o, "b");
	p->a_to_b = usk_json_count(r, at, o, "a_to_b");
	p->b_to_a = usk_json_count(r, at, o, "b_to_a");
	p->quality = usk_json_quality(r, at, o);
	p->half_width_ns = usk_json_span_or_null(r, at, o, "half_width_ns");
	p->half_width_at_ns = usk_json_ns_or_null(r, at, o, "half_width_at_ns");
	struct place evidence = { at, "sender_evidence", 0 };
	struct place recorded = { at, "recorded_delay_ns", 0 },
		     corrected = { at, "min_delay_ns", 0 };
	read_wander(r, at, o, &p->wander);
	const json_t *v = usk_json_object(r, at, o, "sender_evidence");
	p->evidence.option = usk_json_count_if(r, &evidence, v, "option");
	p->evidence.link = usk_json_count_if(r, &evidence, v, "link");
	p->evidence.interface = usk_json_count_if(r, &evidence, v, "interface");
	p->evidence.address = usk_json_count_if(r, &evidence, v, "address");
	p->evidence.ttl = usk_json_count_if(r, &evidence, v, "ttl");
	p->evidence.exchange = usk_json_count_if(r, &evidence, v, "exchange");
	read_messages_of_pair(r, at, o, p);
	v = json_object_get(o, "recorded_delay_ns");
	usk_json_delays(r, &recorded, v, "a_to_b", &p->recorded_a_to_b);
	usk_json_delays(r, &recorded, v, "b_to_a", &p->recorded_b_to_a);
	v = json_object_get(o, "min_delay_ns");
	p->min_delay_a_to_b_ns = v ? usk_json_span_or_null(r, &corrected, v, "a_to_b") : USK_NONE;
	p->min_delay_b_to_a_ns = v ? usk_json_span_or_null(r, &corrected, v, "b_to_a") : USK_NONE;
	struct place after = { at, "corrected_delay_ns", 0 };
	v = json_object_get(o, "corrected_delay_ns");
	usk_json_delays(r, &after, v, "a_to_b", &p->corrected_a_to_b);
	usk_json_delays(r, &after, v, "b_to_a", &p->corrected_b_to_a);
	usk_json_difference(r, at, o, "recorded_broadcasts", &p->heard_recorded);
	usk_json_difference(r, at, o, "corrected_broadcasts", &p->heard_corrected);
}

static struct usk_point *read_points(struct reader *r, const struct place *up, const json_t *o,
				     const char *key, size_t *n)
{
	const json_t *a = usk_json_array(r, up, o, key);
	struct place list = { up, key, 0 };
	struct usk_point *out = NULL;
	size_t cap = 0;
	*n = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *row = json_array_get(a, i);
		if (json_array_size(row) != 2) {
			usk_json_wrong(r, &at, NULL, "is not a pair of local time and offset");
			break;
		}
		struct usk_point *p = NEW_ROW(out, *n, cap);
		p->local_ns = usk_json_ns_value(r, &at, NULL, json_array_get(row, 0), USK_TIME_MAX,
						false);
		p->offset_ns = usk_json_ns_value(r, &at, NULL, json_array_get(row, 1), USK_TIME_MAX,
						 false);
	}
	return out;
}

static void read_pairs(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "pairs");
	struct place pairs = { NULL, "pairs", 0 }, corridors = { NULL, "corridors", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &pairs, NULL, i };
		read_pair(r, &at, json_array_get(a, i), NEW_ROW(c->pair, c->n_pairs, cap));
	}
	a = usk_json_array(r, NULL, root, "corridors");
	if (json_array_size(a) > c->n_pairs) {
		usk_json_wrong(r, NULL, "corridors", "holds more rows than pairs");
	}
	/* A corridor belongs to the pair of the same place, or, where some are left out, to a
	 * later. */
	size_t next = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &corridors, NULL, i }, hull = { &at, "hull_vertices", 0 };
		const json_t *o = json_array_get(a, i);
		uint32_t one = usk_json_clock(r, &at, o, "a"),
			 other = usk_json_clock(r, &at, o, "b");
		while (next < c->n_pairs && (c->pair[next].a != one || c->pair[next].b != other)) {
			next++;
		}
		if (next == c->n_pairs) {
			usk_json_wrong(r, &at, NULL, "belongs to none of the pairs that remain");
			return;
		}
		struct usk_pair *p = &c->pair[next++];
		p->bucket_ns = usk_json_ns(r, &at, o, "bucket_ns");
		p->floor = read_points(r, &at, o, "floor", &p->n_floor);
		p->ceiling = read_points(r, &at, o, "ceiling", &p->n_ceiling);
		const json_t *v = json_object_get(o, "hull_vertices");
		p->hull_floor = usk_json_count_if(r, &hull, v, "floor");
		p->hull_ceiling = usk_json_count_if(r, &hull, v, "ceiling");
	}
}

/* ---- the rest -------------------------------------------------------------------- */

static void read_model(struct reader *r, const struct place *at, const json_t *o)
{
	struct usk_model *m = &r->c->model;
	char *name = usk_json_string(r, at, o, "name");
	while (m->kind < USK_SEGMENTS && strcmp(name, usk_model_name(m->kind))) {
		m->kind++;
	}
	if (strcmp(name, usk_model_name(m->kind))) {
		usk_json_wrong(r, at, "name", "is \"%.40s\", which this version does not know",
			       name);
	}
	free(name);
	if (m->kind == USK_WANDER) {
		m->wander_e12 = read_rate(r, at, o, "ppm", false);
	}
	const json_t *length = json_object_get(o, "duration_ns");
	const char *word = json_string_value(length);
	if (m->kind == USK_SEGMENTS && length && !(word && !strcmp(word, "auto"))) {
		m->segment_ns = usk_json_ns(r, at, o, "duration_ns");
		if (m->segment_ns < 0) {
			usk_json_wrong(r, at, "duration_ns", "is negative");
		}
	}
}

static void read_settings(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	struct place at = { NULL, "model", 0 }, solve = { NULL, "solve", 0 };
	const json_t *o = usk_json_object(r, NULL, root, "model");
	read_model(r, &at, o);
	c->max_skew_e12 = read_rate(r, &at, o, "max_skew_ppm", false);
	c->min_delay = usk_json_string(r, &at, o, "min_delay");
	c->method = usk_json_string(r, NULL, root, "method");
	o = usk_json_object(r, NULL, root, "solve");
	c->solve = usk_json_string(r, &solve, o, "name");
	c->how = usk_json_string(r, &solve, o, "how");
}

static const char *kind(const char *name)
{
	const struct usk_reader_info *info;
	for (size_t i = 0; (info = usk_reader(i)); i++) {
		if (!strcmp(info->name, name)) {
			return info->name;
		}
	}
	return "unknown"; /* of another build; nothing depends on it */
}

static void read_interfaces(struct reader *r, const struct place *up, const json_t *a,
			    struct usk_trace_info *t)
{
	struct place list = { up, "interfaces", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *o = json_array_get(a, i);
		struct usk_iface_clock *f = NEW_ROW(t->iface, t->n_ifaces, cap);
		f->iface = usk_json_string(r, &at, o, "interface");
		f->clock = usk_json_clock(r, &at, o, "clock");
	}
}

static void read_traces(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "traces");
	struct place list = { NULL, "traces", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i }, local = { &at, "local", 0 };
		const json_t *o = json_array_get(a, i), *v = usk_json_get(r, &at, o, "clock");
		struct usk_trace_info *t = NEW_ROW(c->trace, c->n_traces, cap);
		t->clock =
			json_is_null(v) ? USK_NO_CLOCK : usk_json_clock_value(r, &at, "clock", v);
		t->path = usk_json_string(r, &at, o, "path");
		char *name = usk_json_string(r, &at, o, "kind");
		t->kind = kind(name);
		free(name);
		t->events = usk_json_count(r, &at, o, "events");
		v = usk_json_get(r, &at, o, "truncated");
		if (v && !json_is_boolean(v)) {
			usk_json_wrong(r, &at, "truncated", "is neither true nor false");
		}
		t->truncated = json_is_true(v);
		v = json_object_get(o, "local");
		size_t room = 0;
		for (size_t k = 0; k < json_array_size(v) && !r->status; k++) {
			struct place here = { &local, NULL, k };
			const char *s = json_string_value(json_array_get(v, k));
			if (!s) {
				usk_json_wrong(r, &here, NULL, "is not a string");
				break;
			}
			t->local = usk_room(t->local, t->n_local, &room, sizeof *t->local);
			t->local[t->n_local++] = usk_strdup(s);
		}
		read_interfaces(r, &at, json_object_get(o, "interfaces"), t);
	}
}

static void read_counts(struct reader *r, const json_t *root)
{
	struct usk_counts *n = &r->c->counts;
	struct place at = { NULL, "messages", 0 };
	const json_t *o = usk_json_object(r, NULL, root, "messages");
	n->matched = usk_json_count(r, &at, o, "matched");
	n->unmatched = usk_json_count(r, &at, o, "unmatched");
	n->ambiguous = usk_json_count(r, &at, o, "ambiguous");
	n->expired = usk_json_count(r, &at, o, "expired");
	n->direction_unknown = usk_json_count(r, &at, o, "direction_unknown");
	n->outliers = usk_json_count(r, &at, o, "outliers");
	n->fragments = usk_json_count_if(r, &at, o, "fragments");
	n->not_ip = usk_json_count_if(r, &at, o, "not_ip");
	n->loopback = usk_json_count_if(r, &at, o, "loopback");
	n->cut_short = usk_json_count_if(r, &at, o, "cut_short");
	n->unsure = usk_json_count_if(r, &at, o, "unsure");
}

static void read_islands(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "islands");
	struct place list = { NULL, "islands", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		struct usk_island *x = NEW_ROW(c->island, c->n_islands, cap);
		x->reference = usk_json_clock(r, &at, json_array_get(a, i), "reference");
		x->clock = usk_json_clocks(r, &at, json_array_get(a, i), "clocks", &x->n_clocks);
	}
}

static void read_evaluation(struct reader *r, const json_t *root)
{
	struct usk_evaluation *e = &r->c->evaluation;
	struct place at = { NULL, "evaluation", 0 }, recorded = { &at, "recorded", 0 };
	struct place corrected = { &at, "corrected", 0 }, fast = { &corrected, "too_fast", 0 };
	struct place half = { &at, "half_width_ns", 0 };
	const json_t *o = usk_json_object(r, NULL, root, "evaluation");
	const json_t *v = usk_json_object(r, &at, o, "recorded");
	e->recorded_inversions = usk_json_count(r, &recorded, v, "inversions");
	usk_json_difference(r, &recorded, v, "broadcasts", &e->heard_recorded);
	v = usk_json_object(r, &at, o, "corrected");
	usk_json_difference(r, &corrected, v, "broadcasts", &e->heard_corrected);
	e->corrected_inversions = usk_json_count(r, &corrected, v, "inversions");
	v = usk_json_object(r, &corrected, v, "too_fast");
	e->too_fast.count = usk_json_count(r, &fast, v, "count");
	e->too_fast.percent = usk_json_number(r, &fast, v, "percent", true);
	e->too_fast.max_ns = usk_json_span_or_null(r, &fast, v, "max_ns");
	e->too_fast.mean_ns = usk_json_span_or_null(r, &fast, v, "mean_ns");
	v = usk_json_object(r, &at, o, "half_width_ns");
	e->half_best_ns = usk_json_span_or_null(r, &half, v, "best");
	e->half_worst_ns = usk_json_span_or_null(r, &half, v, "worst");
	e->half_mean_ns = usk_json_span_or_null(r, &half, v, "mean");
}

static void read_notes(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = json_object_get(root, "notes");
	struct place list = { NULL, "notes", 0 };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const char *s = json_string_value(json_array_get(a, i));
		if (!s) {
			usk_json_wrong(r, &at, NULL, "is not a string");
			break;
		}
		c->note = usk_room(c->note, c->n_notes, &cap, sizeof *c->note);
		c->note[c->n_notes++] = usk_strdup(s);
	}
}

enum usk_status usk_clocks_from_json(const char *text, size_t size, struct usk_clocks **out,
				     struct usk_err *err)
{
	json_t *root = usk_json_load(text, size, err);
	if (!root) {
		return USK_EINPUT;
	}
	struct reader r = { .c = usk_alloc(1, sizeof *r.c), .err = err };
	const json_t *version = json_object_get(root, "unskew_clocks");
	if (!version) {
		usk_json_wrong(&r, NULL, "unskew_clocks", "is missing: this is not a clocks.json");
	} else if (!json_is_integer(version) || json_integer_value(version) != 1) {
		usk_json_wrong(&r, NULL, "unskew_clocks",
			       "is not 1, the version that this unskew reads");
	}
	if (!r.status) {
		read_settings(&r, root);
		read_clocks(&r, root);
		read_traces(&r, root);
		read_counts(&r, root);
		read_islands(&r, root);
		read_pairs(&r, root);
		read_evaluation(&r, root);
		read_notes(&r, root);
	}
	json_decref(root);
	free(r.name);
	free(r.index);
	if (r.status) {
		usk_clocks_free(r.c);
		return r.status;
	}
	*out = r.c;
	return USK_OK;
}
