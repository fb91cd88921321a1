/* SPDX-License-Identifier: MIT */
/*
 * compare_print.c - a comparison of estimators: JSON and CSV, and for people a table per pair
 *
 * In    the comparison, errors where a truth is known
 * Out   for programs every number as it is, times as integers in ns; in tables what was recorded
 *       in the first row, what each line makes of it below
 */
#include "json.h"
#include "messages.h"
#include "print.h"
#include "write/write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum usk_status compare_measure(const struct usk_comparison *c, const struct truth *truth,
				struct compared *out)
{
	enum usk_status status = USK_OK;
	out->c = c;
	out->with_truth = truth;
	out->errors = usk_alloc(c->n_pairs * c->n_methods + 1, sizeof *out->errors);
	for (size_t i = 0; i < c->n_pairs * c->n_methods && !status; i++) {
		const struct usk_compared_pair *p = &c->pair[i / c->n_methods];
		const struct usk_method_score *s = &p->score[i % c->n_methods];
		out->errors[i] = TRUTH_UNKNOWN;
		if (truth && !s->failed) {
			struct usk_map *map = usk_map_of_line(s->line, s->n_knots);
			status = truth_errors(truth, c->clock[p->a], c->clock[p->b], map,
					      &out->errors[i], &why);
			usk_map_free(map);
		}
	}
	return status;
}

/* A number of thousandths as a decimal with three digits. */
static struct text milli_text(usk_i128 thousandths)
{
	usk_u128 size = (usk_u128)(thousandths < 0 ? -thousandths : thousandths);
	return text_of("%s%" PRIu64 ".%03d", thousandths < 0 ? "-" : "", (uint64_t)(size / 1000),
		       (int)(size % 1000));
}

static usk_i128 b_in_ps(const struct usk_method_score *s)
{
	return (usk_i128)s->b_ns * 1000 + s->b_ps;
}

/* ---- for programs ---------------------------------------------------------------- */

static json_t *delays_json(const struct usk_delays *d)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "min", json_ns(d->min_ns), "median",
			 json_ns(d->median_ns), "p99", json_ns(d->p99_ns), "max",
			 json_ns(d->max_ns));
}

static json_t *three_json(int64_t best, int64_t worst, int64_t mean)
{
	return json_pack("{s:o,s:o,s:o}", "best", json_ns(best), "worst", json_ns(worst), "mean",
			 json_ns(mean));
}

static json_t *errors_json(const struct truth_errors *e)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "start", json_ns(e->ns[AT_START]), "middle",
			 json_ns(e->ns[AT_MIDDLE]), "end", json_ns(e->ns[AT_END]), "rms",
			 json_ns(e->ns[RMS]));
}

/* Er, standard errors and how many exchanges were kept (Clement 2009, equations 6 to 8). */
static json_t *trips_json(const struct usk_round_trips *r)
{
	return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:b}", "all", (json_int_t)r->exchanges,
			 "kept", (json_int_t)r->kept, "margin_ns", json_number(r->kept_margin_ns),
			 "residual_ns", json_number(r->residual_ns), "slope",
			 json_number((double)r->slope), "slope_error", json_number(r->s_slope),
			 "intercept_error_ns", json_number(r->s_intercept_ns), "by_b",
			 (int)r->by_local);
}

/* Margins over time (his figure 2): T1, E, and the level at which it is kept, %. */
static json_t *margins_json(const struct usk_compared_pair *p)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < p->n_margins; i++) {
		const struct usk_margin *m = &p->margin[i];
		int level = m->z <= USK_Z_90   ? 90
			    : m->z <= USK_Z_95 ? 95
			    : m->z <= USK_Z_99 ? 99
					       : 100;
		json_array_append_new(rows, json_pack("[o,o,i]", json_ns(m->t1_ns),
						      json_number(m->margin_ns), level));
	}
	return json_pack("{s:I,s:s,s:o}", "all", (json_int_t)p->exchanges, "began",
			 p->margins_by_b ? "b" : "a", "margins", rows);
}

static json_t *score_json(const struct usk_compared_pair *p, const struct usk_method_score *s,
			  const struct truth_errors *e)
{
	if (s->failed) {
		return json_pack("{s:s,s:o}", "name", s->method->name, "failed",
				 json_shown(s->failed));
	}
	json_t *fast = json_violations(&s->too_fast);
	json_object_set_new(fast, "a_to_b", json_integer((json_int_t)s->too_fast_a_to_b));
	json_object_set_new(fast, "b_to_a", json_integer((json_int_t)s->too_fast_b_to_a));
	json_t *o = json_pack(
		"{s:s,s:o,s:s,s:f,s:{s:I,s:I},s:o,s:{s:o,s:o},s:o,s:o}", "name", s->method->name,
		"a_ns", json_ns(p->a_ns), "b_ns", milli_text(b_in_ps(s)).s, "beta_minus_one",
		s->beta_minus_one, "inversions", "recorded", (json_int_t)p->recorded_inversions,
		"corrected", (json_int_t)s->corrected_inversions, "too_fast", fast, "delay_ns",
		"a_to_b", delays_json(&s->a_to_b), "b_to_a", delays_json(&s->b_to_a), "broadcasts",
		json_difference(&s->broadcasts), "half_width_ns",
		three_json(p->half_best_ns, p->half_worst_ns, p->half_mean_ns));
	if (s->by_exchanges) {
		json_object_set_new(o, "exchanges", trips_json(&s->trips));
	}
	if (e) {
		json_object_set_new(o, "error_ns", errors_json(e));
	}
	json_object_set_new(o, "drawn_by", s->drawn_by ? json_string(s->drawn_by) : json_null());
	json_object_set_new(o, "seconds", json_real(s->seconds));
	return o;
}

static json_t *pair_json(const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	json_t *methods = json_array();
	for (size_t k = 0; k < c->n_methods; k++) {
		json_array_append_new(
			methods,
			score_json(p, &p->score[k], x->with_truth ? errors_of(x, which, k) : NULL));
	}
	json_t *o = json_pack(
		"{s:o,s:o,s:{s:I,s:I},s:{s:I,s:{s:o,s:o},s:o},s:{s:I,s:I}}", "a",
		json_shown(c->clock[p->a]), "b", json_shown(c->clock[p->b]), "messages", "a_to_b",
		(json_int_t)p->a_to_b, "b_to_a", (json_int_t)p->b_to_a, "recorded", "inversions",
		(json_int_t)p->recorded_inversions, "delay_ns", "a_to_b",
		delays_json(&p->recorded_a_to_b), "b_to_a", delays_json(&p->recorded_b_to_a),
		"broadcasts", json_difference(&p->broadcasts_recorded), "hull_points", "a_to_b",
		(json_int_t)p->hull_a_to_b, "b_to_a", (json_int_t)p->hull_b_to_a);
	if (p->exchanges) {
		json_object_set_new(o, "exchanges", margins_json(p));
	}
	json_object_set_new(o, "methods", methods);
	return o;
}

static int64_t twice(int64_t ns)
{
	return ns == USK_NONE ? USK_NONE : usk_saturate(2 * (usk_i128)ns);
}

static json_t *total_json(const struct usk_comparison *c)
{
	json_t *methods = json_array();
	for (size_t k = 0; k < c->n_methods; k++) {
		const struct usk_method_total *t = &c->total[k];
		json_array_append_new(methods,
				      json_pack("{s:s,s:I,s:I,s:{s:I,s:I},s:o,s:o}", "name",
						t->method->name, "answers", (json_int_t)t->answers,
						"messages", (json_int_t)t->messages, "inversions",
						"recorded", (json_int_t)t->recorded_inversions,
						"corrected", (json_int_t)t->corrected_inversions,
						"too_fast", json_violations(&t->too_fast),
						"broadcasts", json_difference(&t->broadcasts)));
	}
	return json_pack("{s:o,s:o,s:o,s:o}", "methods", methods, "recorded_broadcasts",
			 json_difference(&c->broadcasts_recorded), "half_width_ns",
			 three_json(c->half_best_ns, c->half_worst_ns, c->half_mean_ns),
			 "accuracy_ns",
			 three_json(twice(c->half_best_ns), twice(c->half_worst_ns),
				    twice(c->half_mean_ns)));
}

void compare_print_json(FILE *out, const struct compared *x)
{
	json_t *pairs = json_array();
	for (size_t i = 0; i < x->c->n_pairs; i++) {
		json_array_append_new(pairs, pair_json(x, i));
	}
	/* Pairs without messages have no totals. */
	json_t *root = json_pack("{s:o,s:o}", "pairs", pairs, "all", total_json(x->c));
	json_print(out, root, JSON_INDENT(2));
}

/* ---- CSV --------------------------------------------------------------------------- */

/* Nothing where there is none. */
static void print_times(FILE *out, const int64_t *ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputs(",", out);
		if (ns[i] != USK_NONE) {
			fprintf(out, "%" PRId64, ns[i]);
		}
	}
}

static void print_csv_trips(FILE *out, const struct usk_method_score *s)
{
	const struct usk_round_trips *r = &s->trips;
	const double number[] = { r->kept_margin_ns, r->residual_ns, r->s_slope,
				  r->s_intercept_ns };
	if (s->by_exchanges) {
		fprintf(out, ",%" PRIu64 ",%" PRIu64, r->exchanges, r->kept);
	} else {
		fputs(",,", out);
	}
	for (size_t i = 0; i < COUNT(number); i++) {
		fputc(',', out);
		if (s->by_exchanges && isfinite(number[i])) {
			fprintf(out, "%.17g", number[i]);
		}
	}
}

static void print_csv_score(FILE *out, const struct usk_compared_pair *p,
			    const struct usk_method_score *s, const struct truth_errors *e)
{
	enum { COLUMNS = 41 }; /* between the method and `failed` */
	if (s->failed) {
		fprintf(out, "%.*s,%s,\n", COLUMNS, ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
			csv_text(s->failed));
		return;
	}
	const int64_t ns[] = { s->too_fast.max_ns,
			       s->too_fast.mean_ns,
			       p->half_best_ns,
			       p->half_worst_ns,
			       p->half_mean_ns,
			       p->recorded_a_to_b.min_ns,
			       p->recorded_a_to_b.median_ns,
			       p->recorded_b_to_a.min_ns,
			       p->recorded_b_to_a.median_ns,
			       s->a_to_b.min_ns,
			       s->a_to_b.median_ns,
			       s->a_to_b.p99_ns,
			       s->b_to_a.min_ns,
			       s->b_to_a.median_ns,
			       s->b_to_a.p99_ns };
	const int64_t broadcasts[] = { s->broadcasts.min_ns, s->broadcasts.max_ns,
				       s->broadcasts.mean_ns, s->broadcasts.sd_ns };
	print_times(out, &p->a_ns, 1);
	fprintf(out, ",%s,%.17g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g",
		milli_text(b_in_ps(s)).s, s->beta_minus_one, s->corrected_inversions,
		s->too_fast.count, p->recorded_inversions, s->too_fast.percent);
	print_times(out, ns, COUNT(ns));
	fprintf(out, ",%" PRIu64, s->broadcasts.n);
	print_times(out, broadcasts, COUNT(broadcasts));
	print_times(out, e->ns, ERRORS);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, s->too_fast_a_to_b,
		s->too_fast_b_to_a, p->hull_a_to_b, p->hull_b_to_a);
	print_csv_trips(out, s);
	fprintf(out, ",,%s\n", s->drawn_by ? s->drawn_by : "");
}

void compare_print_csv(FILE *out, const struct compared *x)
{
	const struct usk_comparison *c = x->c;
	fputs("a,b,method,a_ns,b_ns,beta_minus_one,inversions,too_fast,inversions_recorded,too_"
	      "fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,half_worst_ns,half_mean_"
	      "ns,recorded_a_to_b_min_ns,recorded_a_to_b_median_ns,recorded_b_to_a_min_ns,recorded_"
	      "b_to_a_median_ns,a_to_b_min_ns,a_to_b_median_ns,a_to_b_p99_ns,b_to_a_min_ns,b_to_a_"
	      "median_ns,b_to_a_p99_ns,broadcasts,broadcast_min_ns,broadcast_max_ns,broadcast_mean_"
	      "ns,broadcast_sd_ns,error_start_ns,error_middle_ns,error_end_ns,error_rms_ns,"
	      "too_fast_a_to_b,too_fast_b_to_a,hull_points_a_to_b,hull_points_b_to_a,exchanges,"
	      "exchanges_kept,margin_ns,residual_ns,slope_error,intercept_error_ns,failed,drawn_"
	      "by\n",
	      out);
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		const char *a = csv_text(c->clock[p->a]), *b = csv_text(c->clock[p->b]);
		for (size_t k = 0; k < c->n_methods; k++) {
			fprintf(out, "%s,%s,%s", a, b, p->score[k].method->name);
			print_csv_score(out, p, &p->score[k], errors_of(x, i, k));
		}
	}
}

/* ---- for people -------------------------------------------------------------------- */

static void add_recorded(struct table *t, const struct usk_compared_pair *p)
{
	table_add(t, "(as recorded)\t-\t-\t%s\t-\t-\t-\t%s\t%s",
		  unit_count(p->recorded_inversions).s, unit_span(p->recorded_a_to_b.median_ns).s,
		  unit_span(p->recorded_b_to_a.median_ns).s);
	if (p->broadcasts_recorded.n) {
		table_add(t, "%s", unit_span(p->broadcasts_recorded.mean_ns).s);
	}
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void add_score(struct table *t, const struct usk_compared_pair *p,
		      const struct usk_method_score *s, const struct truth_errors *e)
{
	/* reference - local, to 1 ns, as us */
	usk_i128 offset = (usk_i128)p->a_ns * 1000 - ((usk_i128)s->b_ns * 1000 + s->b_ps);
	table_add(t, "%s\t%.6f\t%s\t%.3f\t%.3f\t%.3f\t%s\t%s",
		  milli_text(usk_floor_div(offset + 500, 1000)).s, 1e6 * s->beta_minus_one,
		  unit_count(s->corrected_inversions).s, s->too_fast.percent,
		  share(s->too_fast_a_to_b, p->a_to_b), share(s->too_fast_b_to_a, p->b_to_a),
		  unit_span(s->a_to_b.median_ns).s, unit_span(s->b_to_a.median_ns).s);
	if (p->broadcasts_recorded.n) {
		table_add(t, "%s", unit_span(s->broadcasts.mean_ns).s);
	}
	for (size_t i = 0; i < ERRORS && e; i++) {
		table_add(t, "%s", unit_span(e->ns[i]).s);
	}
}

/* What a row has nothing to say in. */
static void fill_row(struct table *t)
{
	while (t->n % t->columns) {
		table_add(t, "-");
	}
}

static void print_widths(FILE *out, int64_t best, int64_t worst, int64_t mean)
{
	fprintf(out, "half widths %s to %s, %s on average", unit_bound(best).s, unit_bound(worst).s,
		unit_bound(mean).s);
}

static void print_scores(FILE *out, const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	struct table t = table_begin("method\t>offset, us\t>rate - 1, ppm\t>inversions\t>too fast, "
				     "%%\t>there\t>back\t>delay there\t>back%s%s",
				     p->broadcasts_recorded.n ? "\t>broadcasts" : "",
				     x->with_truth ? "\t>error: start\t>middle\t>end\t>rms" : "");
	add_recorded(&t, p);
	fill_row(&t);
	for (size_t k = 0; k < c->n_methods; k++) {
		table_add(&t, "%s", p->score[k].method->name);
		if (!p->score[k].failed) {
			add_score(&t, p, &p->score[k],
				  x->with_truth ? errors_of(x, which, k) : NULL);
		}
		fill_row(&t);
	}
	table_print(out, &t);
}

/* "20.1 ns" of a number that may be none. */
static struct text span_of(double ns)
{
	return unit_span(isfinite(ns) ? (int64_t)llround(ns) : USK_NONE);
}

/* What the fits through exchanges say of themselves. */
static void print_trips(FILE *out, const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	struct table t = table_begin("through exchanges\t>exchanges\t>kept\t>margin E\t>residual "
				     "Er\t>error of rate, ppm\t>of offset");
	size_t n = 0;
	for (size_t k = 0; k < c->n_methods; k++) {
		const struct usk_method_score *s = &p->score[k];
		const struct usk_round_trips *r = &s->trips;
		if (!s->by_exchanges || s->failed) {
			continue;
		}
		n++;
		table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s\t%s", s->method->name,
			  unit_count(r->exchanges).s, unit_count(r->kept).s,
			  span_of(r->kept_margin_ns).s, span_of(r->residual_ns).s,
			  isfinite(r->s_slope) ? text_of("%.6f", 1e6 * r->s_slope).s : "-",
			  span_of(r->s_intercept_ns).s);
	}
	if (n) {
		table_print(out, &t);
	} else {
		table_free(&t);
	}
}

static void print_pair(FILE *out, const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	bool unknown = false;
	const char *a = printable(c->clock[p->a]), *b = printable(c->clock[p->b]);
	fprintf(out, "%s%s against %s: %s messages, %s on their hulls", which ? "\n" : "", b, a,
		unit_count(p->a_to_b + p->b_to_a).s, unit_count(p->hull_a_to_b + p->hull_b_to_a).s);
	if (p->broadcasts_recorded.n) {
		fprintf(out, ", %s common-view broadcasts", unit_count(p->broadcasts_recorded.n).s);
	}
	if (p->half_best_ns != USK_NONE) {
		fputs(", ", out);
		print_widths(out, p->half_best_ns, p->half_worst_ns, p->half_mean_ns);
	}
	fputs(".\n", out);
	print_scores(out, x, which);
	print_trips(out, x, which);
	for (size_t k = 0; k < c->n_methods; k++) {
		const char *method = p->score[k].method->name, *by = p->score[k].drawn_by;
		if (by && strcmp(by, "least-violation")) {
			fprintf(out, "%s chose %s.\n", method, by);
		} else if (by) {
			fprintf(out, "%s: no line fits; this is the one of least violation.\n",
				method);
		}
		unknown |= !p->score[k].failed && !errors_of(x, which, k)->known;
		if (p->score[k].failed) {
			fprintf(out, "%s has no answer: %s.\n", p->score[k].method->name,
				p->score[k].failed);
		}
	}
	if (x->with_truth && unknown) {
		fprintf(out, "Truth: nothing to compare: it does not know %s or %s.\n", a, b);
	}
}

/* Over all pairs, where there are several. */
static void print_totals(FILE *out, const struct usk_comparison *c)
{
	struct table t =
		table_begin("method\t>pairs\t>messages\t>inversions\t>too fast, %%\t>by at most%s",
			    c->broadcasts_recorded.n ? "\t>broadcasts" : "");
	fputs("\nAll pairs: ", out);
	if (c->half_best_ns != USK_NONE) {
		print_widths(out, c->half_best_ns, c->half_worst_ns, c->half_mean_ns);
	} else {
		fputs("no band has two sides", out);
	}
	fputs(".\n", out);
	for (size_t k = 0; k < c->n_methods; k++) {
		const struct usk_method_total *m = &c->total[k];
		table_add(&t, "%s\t%s\t%s\t%s\t%.3f\t%s", m->method->name, unit_count(m->answers).s,
			  unit_count(m->messages).s, unit_count(m->corrected_inversions).s,
			  m->too_fast.percent, unit_at_most(m->too_fast.max_ns).s);
		if (c->broadcasts_recorded.n) {
			table_add(&t, "%s", unit_span(m->broadcasts.mean_ns).s);
		}
	}
	table_print(out, &t);
}

static bool with_trips(const struct usk_comparison *c)
{
	for (size_t i = 0; i < c->n_pairs * c->n_methods; i++) {
		if (c->pair[i / c->n_methods].score[i % c->n_methods].by_exchanges) {
			return true;
		}
	}
	return false;
}

void compare_print(FILE *out, const struct compared *x)
{
	for (size_t i = 0; i < x->c->n_pairs; i++) {
		print_pair(out, x, i);
	}
	if (x->c->n_pairs > 1) {
		print_totals(out, x->c);
	}
	fputs("\nOffset: reference - local at the middle of the trace; add it to a local stamp. "
	      "Rate: of the clock\nagainst the reference. Inversions: messages received before "
	      "they were sent, by that line; too fast: in\nless than their minimum delay; there is "
	      "from the reference. Delays: medians.",
	      out);
	if (with_trips(x->c)) {
		fputs("\nExchanges: E is the mean margin of those kept, half of what both messages "
		      "took; Er their standard\ndeviation about the line.",
		      out);
	}
	fputs(x->c->broadcasts_recorded.n
		      ? "\nBroadcasts: the clock's stamp less the reference's, on average."
		      : "",
	      out);
	fputs("\nLines are judged as drawn; sync settles them into the band.\n", out);
	print_counts(out, &x->c->counts);
	print_notes(out, x->c->note, x->c->n_notes);
}
