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
		json_t *o = object(), *local = array(), *ifaces = array();
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
		for (size_t k = 0; k < t->n_ifaces; k++) {
			json_t *face = object();
			put(face, "interface", text(t->iface[k].iface));
			put(face, "clock", text(name_of(c, t->iface[k].clock)));
			add(ifaces, face);
		}
		put(o, "interfaces", ifaces);
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
		if (j->or_of != USK_NO_CLOCK) {
			put(o, "or", text(name_of(c, j->or_of)));
		}
		put(o, "after_local_ns", ns(j->after_local_ns));
		put(o, "before_local_ns", ns(j->before_local_ns));
		put(o, "size_lo_ns", ns(j->size_lo_ns));
		put(o, "size_hi_ns", ns(j->size_hi_ns));
		put(o, "epoch", count(j->epoch));
		add(a, o);
	}
	return a;
}

static json_t *widths(const struct usk_clock *k)
{
	struct usk_widths w = usk_band_widths(k);
	json_t *o = object();
	put(o, "best", ns(w.best_ns));
	put(o, "worst", ns(w.worst_ns));
	put(o, "mean", ns(w.mean_ns));
	return o;
}

static json_t *wander(const struct usk_wander *w)
{
	json_t *o = object();
	put(o, "assumed_ppm", ppm_e12(w->assumed_e12));
	put(o, "needed_ppm", ppm_e12(w->needed_e12));
	put(o, "used_ppm", ppm_e12(w->used_e12));
	return o;
}

static json_t *disturbed(const struct usk_clock *k)
{
	json_t *a = array();
	for (size_t i = 0; i < k->n_stretches; i++) {
		json_t *o = object();
		put(o, "from_ns", ns(k->stretch[i].from_ns));
		put(o, "to_ns", ns(k->stretch[i].to_ns));
		if (k->stretch[i].epoch) {
			put(o, "epoch", count(k->stretch[i].epoch));
		}
		add(a, o);
	}
	return a;
}

static json_t *slopes(const struct usk_slopes *s)
{
	json_t *o = object();
	put(o, "least_ppm", ppm_e12(s->least_e12));
	put(o, "most_ppm", ppm_e12(s->most_e12));
	return o;
}

static json_t *clock(const struct usk_clocks *c, size_t i)
{
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
	put(o, "wander", wander(&k->wander));
	put(o, "half_width_ns", widths(k));
	put(o, "knots", knots(k));
	put(o, "before", slopes(&k->before));
	put(o, "after", slopes(&k->after));
	put(o, "jumps", jumps(c, k));
	put(o, "disturbed", disturbed(k));
	return o;
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

static json_t *pair(const struct usk_clocks *c, size_t i)
{
	const struct usk_pair *p = &c->pair[i];
	json_t *o = object(), *evidence = object();
	json_t *outliers = array(), *contradiction = array();
	put(o, "a", text(name_of(c, p->a)));
	put(o, "b", text(name_of(c, p->b)));
	put(o, "a_to_b", count(p->a_to_b));
	put(o, "b_to_a", count(p->b_to_a));
	put(o, "quality", text(usk_quality_name(p->quality)));
	put(o, "half_width_ns", ns(p->half_width_ns));
	put(o, "half_width_at_ns", ns(p->half_width_at_ns));
	put(o, "wander", wander(&p->wander));
	put(evidence, "option", count(p->evidence.option));
	put(evidence, "link", count(p->evidence.link));
	put(evidence, "interface", count(p->evidence.interface));
	put(evidence, "address", count(p->evidence.address));
	put(evidence, "ttl", count(p->evidence.ttl));
	put(evidence, "exchange", count(p->evidence.exchange));
	put(o, "sender_evidence", evidence);
	for (size_t k = 0; k < p->n_outliers; k++) {
		json_t *m = message(c, &p->outlier[k].msg);
		put(m, "excess_ns", ns(p->outlier[k].excess_ns));
		add(outliers, m);
	}
	put(o, "outliers", outliers);
	for (size_t k = 0; k < p->n_contradiction; k++) {
		add(contradiction, message(c, &p->contradiction[k]));
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

static json_t *corridor(const struct usk_clocks *c, size_t i)
{
	const struct usk_pair *p = &c->pair[i];
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

/* Text that ends where it does not fit on the line any more. */
struct row {
	char text[LINE];
	size_t n, room;
	bool over;
};

static int put_row(const char *text, size_t n, void *ctx)
{
	struct row *r = ctx;
	/* jansson goes on where a key did not fit. */
	r->over = r->over || n > r->room - r->n;
	if (r->over) {
		return -1;
	}
	memcpy(r->text + r->n, text, n);
	r->n += n;
	return 0;
}

static int put_page(const char *text, size_t n, void *ctx)
{
	print(ctx, text, n);
	return 0;
}

static void begin_member(struct page *p, const char *key, size_t indent, bool first)
{
	print(p, ",", first ? 0 : 1);
	line_break(p, indent);
	print(p, "\"", 1);
	print(p, key, strlen(key));
	print(p, "\": ", 3);
}

static void lay_out(struct page *p, const json_t *v, size_t indent, size_t taken)
{
	struct row row = { .room = indent + taken < LINE ? LINE - indent - taken : 0 };
	if (!json_is_array(v) && !json_is_object(v)) {
		json_dump_callback(v, put_page, p, flags);
		return;
	}
	if (!json_dump_callback(v, put_row, &row, flags)) {
		print(p, row.text, row.n);
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
			begin_member(p, key, indent + 2, first);
			first = false;
			lay_out(p, member, indent + 2, strlen(key) + 5);
		}
	}
	line_break(p, indent);
	print(p, list ? "]" : "}", 1);
}

/* ---- all of it ----------------------------------------------------------------- */

static void member(struct page *p, const char *key, json_t *v)
{
	begin_member(p, key, 2, p->text[p->n - 1] == '{');
	lay_out(p, had(v), 2, strlen(key) + 5);
	json_decref(v);
}

/* Items that are too long for a line, one at a time: all of them together may be a hundred MB. */
static void member_list(struct page *p, const char *key, const struct usk_clocks *c, size_t n,
			json_t *(*item)(const struct usk_clocks *c, size_t i))
{
	begin_member(p, key, 2, false);
	print(p, "[", 1);
	for (size_t i = 0; i < n; i++) {
		json_t *v = item(c, i);
		print(p, ",", i ? 1 : 0);
		line_break(p, 4);
		lay_out(p, v, 4, 1);
		json_decref(v);
	}
	if (n) {
		line_break(p, 2);
	}
	print(p, "]", 1);
}

static json_t *solve(const struct usk_clocks *c)
{
	json_t *o = object();
	put(o, "name", text(c->solve));
	put(o, "how", text(c->how));
	return o;
}

static json_t *notes(const struct usk_clocks *c)
{
	json_t *a = array();
	for (size_t i = 0; i < c->n_notes; i++) {
		add(a, text(c->note[i]));
	}
	return a;
}

char *usk_clocks_to_json(const struct usk_clocks *c)
{
	struct page p = { 0 };
	print(&p, "{", 1);
	member(&p, "unskew_clocks", count(1));
	member(&p, "model", model(c));
	member(&p, "method", text(c->method));
	member(&p, "solve", solve(c));
	member(&p, "traces", traces(c));
	member(&p, "messages", messages(&c->counts));
	member(&p, "islands", islands(c));
	member_list(&p, "clocks", c, c->n_clocks, clock);
	member_list(&p, "pairs", c, c->n_pairs, pair);
	member_list(&p, "corridors", c, c->n_pairs, corridor);
	member(&p, "evaluation", evaluation(&c->evaluation));
	member(&p, "notes", notes(c));
	line_break(&p, 0);
	print(&p, "}\n", 2);
	return p.text;
}
