/* SPDX-License-Identifier: MIT */
/*
 * compare_data.c - a comparison of estimators for programs: JSON and CSV
 *
 * In    the comparison, errors where a truth is known
 * Out   every number as it is; times as integers in ns
 */
#include "compare.h"
#include "json.h"
#include "messages.h"

#include <inttypes.h>

enum usk_status compare_measure(const struct truth *truth, struct compared *x, struct usk_err *err)
{
	const struct usk_comparison *c = x->c;
	enum usk_status status = USK_OK;
	x->with_truth = truth;
	x->errors = usk_alloc(c->n_pairs * c->n_methods + 1, sizeof *x->errors);
	for (size_t i = 0; i < c->n_pairs * c->n_methods && !status; i++) {
		const struct usk_compared_pair *p = &c->pair[i / c->n_methods];
		const struct usk_method_score *s = &p->score[i % c->n_methods];
		x->errors[i] = TRUTH_UNKNOWN;
		if (truth && !s->failed) {
			struct usk_map *map = usk_map_of_line(s->line, s->n_knots);
			status = truth_errors(truth, c->clock[p->a], c->clock[p->b], map,
					      &x->errors[i], err);
			usk_map_free(map);
		}
	}
	return status;
}

struct text milli_text(usk_i128 thousandths)
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
		json_difference(&s->heard), "half_width_ns",
		three_json(p->half_best_ns, p->half_worst_ns, p->half_mean_ns));
	if (e) {
		json_object_set_new(o, "error_ns", errors_json(e));
	}
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
	return json_pack("{s:o,s:o,s:{s:I,s:{s:o,s:o},s:o},s:o}", "a", json_shown(c->clock[p->a]),
			 "b", json_shown(c->clock[p->b]), "recorded", "inversions",
			 (json_int_t)p->recorded_inversions, "delay_ns", "a_to_b",
			 delays_json(&p->recorded_a_to_b), "b_to_a",
			 delays_json(&p->recorded_b_to_a), "broadcasts",
			 json_difference(&p->heard_recorded), "methods", methods);
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
						"broadcasts", json_difference(&t->heard)));
	}
	return json_pack("{s:o,s:o,s:o,s:o}", "methods", methods, "recorded_broadcasts",
			 json_difference(&c->heard_recorded), "half_width_ns",
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

static void print_csv_score(FILE *out, const struct usk_compared_pair *p,
			    const struct usk_method_score *s, const struct truth_errors *e)
{
	enum { COLUMNS = 31 }; /* between the method and `failed` */
	if (s->failed) {
		fprintf(out, "%.*s,%s\n", COLUMNS, ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
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
	const int64_t heard[] = { s->heard.min_ns, s->heard.max_ns, s->heard.mean_ns,
				  s->heard.sd_ns };
	print_times(out, &p->a_ns, 1);
	fprintf(out, ",%s,%.17g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g",
		milli_text(b_in_ps(s)).s, s->beta_minus_one, s->corrected_inversions,
		s->too_fast.count, p->recorded_inversions, s->too_fast.percent);
	print_times(out, ns, COUNT(ns));
	fprintf(out, ",%" PRIu64, s->heard.n);
	print_times(out, heard, COUNT(heard));
	print_times(out, e->ns, ERRORS);
	fputs(",\n", out);
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
	      "failed\n",
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
