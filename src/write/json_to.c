/* SPDX-License-Identifier: MIT */
/*
 * json_to.c - the table of clocks as clocks.json
 *
 * In    struct usk_clocks
 * Out   one JSON text: fixed key order, every key present, a row a line
 * Why   times as decimal strings, since most readers of JSON take numbers as doubles and those
 *       step by 256 ns at today's epoch
 * Not   reading it back (json_from.c)
 */
#include "write/write.h"

#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 100 };

/* jansson reports exhaustion as NULL; ours does not return. */
static json_t *had(json_t *v)
{
	if (!v) {
		usk_alloc(SIZE_MAX, 1);
	}
	return v;
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, had(value))) {
		had(NULL);
	}
}

static void add(json_t *array, json_t *value)
{
	if (json_array_append_new(array, had(value))) {
		had(NULL);
	}
}

static json_t *object(void)
{
	return had(json_object());
}

static json_t *array(void)
{
	return had(json_array());
}

static json_t *text(const char *s)
{
	char *shown = usk_shown(s ? s : "");
	json_t *v = had(json_string(shown));
	free(shown);
	return v;
}

static json_t *ns(int64_t t)
{
	if (t == USK_NONE) {
		return json_null();
	}
	char digits[24];
	snprintf(digits, sizeof digits, "%lld", (long long)t);
	return had(json_string(digits));
}

static json_t *count(uint64_t n)
{
	return had(json_integer((json_int_t)n));
}

/* Whole numbers without a point; others to so many digits that noise stays out. */
static json_t *number(double v, int digits)
{
	if (!isfinite(v)) {
		return json_null();
	}
	char s[40];
	snprintf(s, sizeof s, "%.*g", digits, v);
	v = strtod(s, NULL);
	if (v == rint(v) && fabs(v) < 1e15) {
		return had(json_integer((json_int_t)v));
	}
	return had(json_real(v));
}

static json_t *ppm(double v)
{
	return number(v, 9);
}

/* Exact: an integer below 2^53 over 10^6 has at most 15 digits. */
static json_t *ppm_e12(int64_t v)
{
	return number((double)v / 1e6, 15);
}

static const char *name_of(const struct usk_clocks *c, uint32_t i)
{
	return i < c->n_clocks ? c->clock[i].name : "";
}

static json_t *model(const struct usk_clocks *c)
{
	json_t *o = object();
	put(o, "name", text(usk_model_name(c->model.kind)));
	put(o, "ppm", ppm_e12(c->model.wander_e12));
	put(o, "duration_ns",
	    c->model.kind != USK_SEGMENTS ? json_null()
	    : c->model.segment_ns	  ? ns(c->model.segment_ns)
					  : text("auto"));
	put(o, "max_skew_ppm", ppm_e12(c->max_skew_e12));
	put(o, "min_delay", text(c->min_delay));
	return o;
}

static json_t *traces(const struct usk_clocks *c)
{
	json_t *a = array();
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		json_t *o = object(), *local = array();
		/* A table is stamped by all the clocks that it names. */
		put(o, "clock", t->clock < c->n_clocks ? text(name_of(c, t->clock)) : json_null());
		put(o, "path", text(t->path));
		put(o, "kind", text(t->kind));
		put(o, "events", count(t->events));
		put(o, "truncated", json_boolean(t->truncated));
		for (size_t k = 0; k < t->n_local; k++) {
			add(local, text(t->local[k]));
		}
		put(o, "local", local);
		add(a, o);
	}
	return a;
}

static json_t *messages(const struct usk_counts *n)
{
	json_t *o = object();
	put(o, "matched", count(n->matched));
	put(o, "unmatched", count(n->unmatched));
	put(o, "ambiguous", count(n->ambiguous));
	put(o, "expired", count(n->expired));
	put(o, "direction_unknown", count(n->direction_unknown));
	put(o, "outliers", count(n->outliers));
	put(o, "fragments", count(n->fragments));
	put(o, "not_ip", count(n->not_ip));
	put(o, "loopback", count(n->loopback));
	put(o, "cut_short", count(n->cut_short));
	put(o, "unsure", count(n->unsure));
	return o;
}

static json_t *names(const struct usk_clocks *c, const uint32_t *clock, size_t n)
{
	json_t *a = array();
	for (size_t i = 0; i < n; i++) {
		add(a, text(name_of(c, clock[i])));
	}
	return a;
}

static json_t *islands(const struct usk_clocks *c)
{
	json_t *a = array();
	for (size_t i = 0; i < c->n_islands; i++) {
		json_t *o = object();
		put(o, "reference", text(name_of(c, c->island[i].reference)));
		put(o, "clocks", names(c, c->island[i].clock, c->island[i].n_clocks));
		add(a, o);
	}
	return a;
}

static json_t *knots(const struct usk_clock *k)
{
	json_t *a = array();
	for (size_t i = 0; i < k->n_knots; i++) {
		json_t *o = object();
		put(o, "local_ns", ns(k->knot[i].local_ns));
		put(o, "offset_ns", ns(k->knot[i].offset_ns));
		put(o, "lo_ns", ns(k->knot[i].lo_ns));
		put(o, "hi_ns", ns(k->knot[i].hi_ns));
		if (k->knot[i].epoch) {
			put(o, "epoch", count(k->knot[i].epoch));
		}
		add(a, o);
	}
	return a;
}

static json_t *jumps(const struct usk_clocks *c, const struct usk_clock *k)
{
	json_t *a = array();
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		json_t *o = object();
		put(o, "kind", text(j->kind == USK_JUMP ? "jump" : "bend"));
		put(o, "of", text(name_of(c, j->of)));
		put(o, "after_local_ns", ns(j->after_local_ns));
		put(o, "before_local_ns", ns(j->before_local_ns));
		put(o, "size_lo_ns", ns(j->size_lo_ns));
		put(o, "size_hi_ns", ns(j->size_hi_ns));
		put(o, "epoch", count(j->epoch));
		add(a, o);
	}
	return a;
}

static json_t *clocks(const struct usk_clocks *c)
{
	json_t *a = array();
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		json_t *o = object();
		put(o, "name", text(k->name));
		put(o, "reference", text(name_of(c, k->reference)));
		put(o, "quality", text(usk_quality_name(k->quality)));
		put(o, "path", names(c, k->path, k->n_path));
		put(o, "resolution_ns", ns(k->resolution_ns));
		put(o, "drift_ppm", ppm(k->drift_ppm));
		put(o, "drift_min_ppm", ppm(k->drift_min_ppm));
		put(o, "drift_max_ppm", ppm(k->drift_max_ppm));
		put(o, "knots", knots(k));
		put(o, "jumps", jumps(c, k));
		add(a, o);
	}
	return a;
}

static json_t *message(const struct usk_clocks *c, const struct usk_msg *m)
{
	json_t *o = object();
	put(o, "sender", text(name_of(c, m->from)));
	put(o, "receiver", text(name_of(c, m->to)));
	put(o, "sent_ns", ns(m->sent_ns));
	put(o, "received_ns", ns(m->received_ns));
	put(o, "bytes", count(m->bytes));
	return o;
}

static json_t *delays(const struct usk_delays *d)
{
	json_t *o = object();
	put(o, "count", count(d->n));
	put(o, "inversions", count(d->inversions));
	put(o, "min", ns(d->min_ns));
	put(o, "median", ns(d->median_ns));
	put(o, "p99", ns(d->p99_ns));
	put(o, "max", ns(d->max_ns));
	return o;
}

static json_t *difference(const struct usk_difference *d)
{
	json_t *o = object();
	put(o, "count", count(d->n));
	put(o, "min_ns", ns(d->min_ns));
	put(o, "max_ns", ns(d->max_ns));
	put(o, "mean_ns", ns(d->mean_ns));
	put(o, "sd_ns", ns(d->sd_ns));
	return o;
}

/* A value for each direction of a pair. */
static json_t *both(json_t *a_to_b, json_t *b_to_a)
{
	json_t *o = object();
	put(o, "a_to_b", a_to_b);
	put(o, "b_to_a", b_to_a);
	return o;
}

static json_t *pair(const struct usk_clocks *c, const struct usk_pair *p)
{
	json_t *o = object(), *wander = object(), *evidence = object();
	json_t *outliers = array(), *contradiction = array();
	put(o, "a", text(name_of(c, p->a)));
	put(o, "b", text(name_of(c, p->b)));
	put(o, "a_to_b", count(p->a_to_b));
	put(o, "b_to_a", count(p->b_to_a));
	put(o, "quality", text(usk_quality_name(p->quality)));
	put(o, "half_width_ns", ns(p->half_width_ns));
	put(o, "half_width_at_ns", ns(p->half_width_at_ns));
	put(wander, "assumed_ppm", ppm_e12(p->wander.assumed_e12));
	put(wander, "needed_ppm", ppm_e12(p->wander.needed_e12));
	put(wander, "used_ppm", ppm_e12(p->wander.used_e12));
	put(o, "wander", wander);
	put(evidence, "option", count(p->evidence.option));
	put(evidence, "link", count(p->evidence.link));
	put(evidence, "interface", count(p->evidence.interface));
	put(evidence, "address", count(p->evidence.address));
	put(evidence, "ttl", count(p->evidence.ttl));
	put(evidence, "exchange", count(p->evidence.exchange));
	put(o, "sender_evidence", evidence);
	for (size_t i = 0; i < p->n_outliers; i++) {
		json_t *m = message(c, &p->outlier[i].msg);
		put(m, "excess_ns", ns(p->outlier[i].excess_ns));
		add(outliers, m);
	}
	put(o, "outliers", outliers);
	for (size_t i = 0; i < p->n_contradiction; i++) {
		add(contradiction, message(c, &p->contradiction[i]));
	}
	put(o, "contradiction", contradiction);
	put(o, "recorded_delay_ns", both(delays(&p->recorded_a_to_b), delays(&p->recorded_b_to_a)));
	put(o, "min_delay_ns", both(ns(p->min_delay_a_to_b_ns), ns(p->min_delay_b_to_a_ns)));
	put(o, "corrected_delay_ns",
	    both(delays(&p->corrected_a_to_b), delays(&p->corrected_b_to_a)));
	put(o, "recorded_broadcasts", difference(&p->heard_recorded));
	put(o, "corrected_broadcasts", difference(&p->heard_corrected));
	return o;
}

static json_t *points(const struct usk_point *p, size_t n)
{
	json_t *a = array();
	for (size_t i = 0; i < n; i++) {
		json_t *row = array();
		add(row, ns(p[i].local_ns));
		add(row, ns(p[i].offset_ns));
		add(a, row);
	}
	return a;
}

static json_t *corridor(const struct usk_clocks *c, const struct usk_pair *p)
{
	json_t *o = object(), *hull = object();
	put(o, "a", text(name_of(c, p->a)));
	put(o, "b", text(name_of(c, p->b)));
	put(o, "bucket_ns", ns(p->bucket_ns));
	put(hull, "floor", count(p->hull_floor));
	put(hull, "ceiling", count(p->hull_ceiling));
	put(o, "hull_vertices", hull);
	put(o, "floor", points(p->floor, p->n_floor));
	put(o, "ceiling", points(p->ceiling, p->n_ceiling));
	return o;
}

static json_t *evaluation(const struct usk_evaluation *e)
{
	json_t *o = object(), *recorded = object(), *corrected = object(), *fast = object();
	json_t *half = object();
	put(recorded, "inversions", count(e->recorded_inversions));
	put(recorded, "broadcasts", difference(&e->heard_recorded));
	put(o, "recorded", recorded);
	put(corrected, "inversions", count(e->corrected_inversions));
	put(fast, "count", count(e->too_fast.count));
	put(fast, "percent", ppm(e->too_fast.percent));
	put(fast, "max_ns", ns(e->too_fast.max_ns));
	put(fast, "mean_ns", ns(e->too_fast.mean_ns));
	put(corrected, "too_fast", fast);
	put(corrected, "broadcasts", difference(&e->heard_corrected));
	put(o, "corrected", corrected);
	put(half, "best", ns(e->half_best_ns));
	put(half, "worst", ns(e->half_worst_ns));
	put(half, "mean", ns(e->half_mean_ns));
	put(o, "half_width_ns", half);
	return o;
}

static json_t *whole(const struct usk_clocks *c)
{
	json_t *o = object(), *solve = object(), *pairs = array(), *corridors = array();
	json_t *notes = array();
	put(o, "unskew_clocks", count(1));
	put(o, "model", model(c));
	put(o, "method", text(c->method));
	put(solve, "name", text(c->solve));
	put(solve, "how", text(c->how));
	put(o, "solve", solve);
	put(o, "traces", traces(c));
	put(o, "messages", messages(&c->counts));
	put(o, "islands", islands(c));
	put(o, "clocks", clocks(c));
	for (size_t i = 0; i < c->n_pairs; i++) {
		add(pairs, pair(c, &c->pair[i]));
		add(corridors, corridor(c, &c->pair[i]));
	}
	put(o, "pairs", pairs);
	put(o, "corridors", corridors);
	put(o, "evaluation", evaluation(&c->evaluation));
	for (size_t i = 0; i < c->n_notes; i++) {
		add(notes, text(c->note[i]));
	}
	put(o, "notes", notes);
	return o;
}

/* ---- layout ------------------------------------------------------------------ */

/* A value on one line if it fits there, else a member a line: a knot or a message is a row. */

struct page {
	char *text;
	size_t n, capacity;
};

static char *space(struct page *p, size_t more)
{
	while (p->capacity - p->n < more + 1) {
		p->capacity = p->capacity ? 2 * p->capacity : 4096;
		p->text = usk_grow(p->text, p->capacity, 1);
	}
	return p->text + p->n;
}

static void print(struct page *p, const char *s, size_t n)
{
	memcpy(space(p, n), s, n);
	p->n += n;
	p->text[p->n] = 0;
}

static const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);

static void line_break(struct page *p, size_t indent)
{
	memset(space(p, indent + 1), ' ', indent + 1);
	p->text[p->n] = '\n';
	p->n += indent + 1;
	p->text[p->n] = 0;
}

static void lay_out(struct page *p, const json_t *v, size_t indent, size_t taken)
{
	char row[LINE];
	size_t room = indent + taken < LINE ? LINE - indent - taken : 0;
	bool scalar = !json_is_array(v) && !json_is_object(v);
	size_t n = scalar ? 0 : json_dumpb(v, row, room, flags);
	if (!scalar && n && n <= room) {
		print(p, row, n);
		return;
	}
	if (scalar) {
		n = json_dumpb(v, NULL, 0, flags);
		p->n += json_dumpb(v, space(p, n), n, flags);
		p->text[p->n] = 0;
		return;
	}
	bool list = json_is_array(v);
	bool first = true;
	print(p, list ? "[" : "{", 1);
	if (list) {
		for (size_t i = 0; i < json_array_size(v); i++) {
			print(p, ",", first ? 0 : 1);
			first = false;
			line_break(p, indent + 2);
			lay_out(p, json_array_get(v, i), indent + 2, 1);
		}
	} else {
		const char *key;
		json_t *member;
		json_object_foreach((json_t *)(uintptr_t)v, key, member)
		{
			print(p, ",", first ? 0 : 1);
			first = false;
			line_break(p, indent + 2);
			print(p, "\"", 1);
			print(p, key, strlen(key));
			print(p, "\": ", 3);
			lay_out(p, member, indent + 2, strlen(key) + 5);
		}
	}
	line_break(p, indent);
	print(p, list ? "]" : "}", 1);
}

char *usk_clocks_to_json(const struct usk_clocks *c)
{
	struct page p = { 0 };
	json_t *o = whole(c);
	lay_out(&p, o, 0, 0);
	print(&p, "\n", 1);
	json_decref(o);
	return p.text;
}
