/* SPDX-License-Identifier: MIT */
/*
 * compare_repeat.c - estimators over several sets of traces of the same clocks
 *
 * In    the comparison of each set
 * Out   per pair and method the mean of the rates and how far they spread
 * Why   Ashton 1995, section 6.1: what was recorded again within a short time has the same rates,
 *       so the method whose rates lie together more tightly is likely to be the better one
 */
#include "compare.h"
#include "json.h"
#include "messages.h"
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct repeated *row_of(struct repeats *r, const char *a, const char *b,
			       const struct usk_estimator *method)
{
	/* A set names its pairs once, and most sets in the same order: so the next one it is. */
	for (size_t k = 0; k < r->n && r->sets > 1; k++) {
		size_t i = (r->next + k) % r->n;
		struct repeated *x = &r->row[i];
		if (x->method == method && !strcmp(x->a, a) && !strcmp(x->b, b)) {
			r->next = i + 1;
			return x;
		}
	}
	r->row = usk_room(r->row, r->n, &r->cap, sizeof *r->row);
	r->row[r->n] =
		(struct repeated){ kept(usk_strdup(a)), kept(usk_strdup(b)), .method = method };
	return &r->row[r->n++];
}

void repeats_add(struct repeats *r, const struct compared *x)
{
	const struct usk_comparison *c = x->c;
	r->sets++;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		for (size_t k = 0; k < c->n_methods; k++) {
			const struct usk_method_score *s = &p->score[k];
			struct repeated *row = row_of(r, c->clock[p->a], c->clock[p->b], s->method);
			if (s->failed) {
				row->failures++;
				continue;
			}
			/* Welford: no difference of large sums. */
			double from = s->beta_minus_one - row->mean;
			row->answers++;
			row->mean += from / (double)row->answers;
			row->square += from * (s->beta_minus_one - row->mean);
			row->messages += p->a_to_b + p->b_to_a;
			row->recorded_inversions += p->recorded_inversions;
			row->corrected_inversions += s->corrected_inversions;
			row->too_fast += s->too_fast.count;
			if (errors_of(x, i, k)->known) {
				row->known++;
				row->rms_ns += ((double)errors_of(x, i, k)->ns[RMS] - row->rms_ns) /
					       (double)row->known;
			}
		}
	}
	r->with_truth |= x->with_truth;
}

void repeats_free(struct repeats *r)
{
	free(r->row);
}

/* Of a sample; NAN under two. */
static double deviation(const struct repeated *x)
{
	return x->answers > 1 ? sqrt(x->square / (double)(x->answers - 1)) : NAN;
}

static double percent(const struct repeated *x)
{
	return x->messages ? 100.0 * (double)x->too_fast / (double)x->messages : 0;
}

static void print_row(struct table *t, const struct repeated *x, bool with_truth)
{
	table_add(t, "%s\t%zu", x->method->name, x->answers);
	if (x->answers) {
		struct text spread =
			x->answers > 1 ? text_of("%.6f", 1e6 * deviation(x)) : (struct text){ "-" };
		table_add(t, "%.6f\t%s\t%s\t%.3f", 1e6 * x->mean, spread.s,
			  unit_count(x->corrected_inversions).s, percent(x));
	} else {
		table_add(t, "-\t-\t-\t-");
	}
	if (with_truth) {
		table_add(t, "%s", unit_span(x->known ? (int64_t)llround(x->rms_ns) : USK_NONE).s);
	}
}

void repeats_print(FILE *out, const struct repeats *r)
{
	bool *told = usk_alloc(r->n + 1, sizeof *told);
	/* Rows of one pair need not stand together: a later set may have another method first. */
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *first = &r->row[i];
		if (told[i]) {
			continue;
		}
		struct table t = table_begin("method\t>answers\t>rate - 1, ppm\t>deviation, "
					     "ppm\t>inversions\t>too fast, %%%s",
					     r->with_truth ? "\t>error rms" : "");
		fprintf(out, "%s%s against %s, %zu sets:\n", i ? "\n" : "", printable(first->b),
			printable(first->a), r->sets);
		for (size_t k = i; k < r->n; k++) {
			if (!strcmp(r->row[k].a, first->a) && !strcmp(r->row[k].b, first->b)) {
				print_row(&t, &r->row[k], r->with_truth);
				told[k] = true;
			}
		}
		table_print(out, &t);
	}
	free(told);
	fputs("\nRate, deviation: mean and standard deviation of the clock's rate against the "
	      "reference, over the sets\nthat a method has an answer for. Inversions, too fast: "
	      "over all messages of these sets.\n",
	      out);
}

void repeats_print_json(FILE *out, const struct repeats *r)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *x = &r->row[i];
		json_t *o = json_pack(
			"{s:o,s:o,s:s,s:I,s:I,s:{s:o,s:o},s:I,s:{s:I,s:I},s:{s:I,s:f}}", "a",
			json_shown(x->a), "b", json_shown(x->b), "method", x->method->name,
			"answers", (json_int_t)x->answers, "failures", (json_int_t)x->failures,
			"beta_minus_one", "mean", json_number(x->answers ? x->mean : NAN), "sd",
			json_number(deviation(x)), "messages", (json_int_t)x->messages,
			"inversions", "recorded", (json_int_t)x->recorded_inversions, "corrected",
			(json_int_t)x->corrected_inversions, "too_fast", "count",
			(json_int_t)x->too_fast, "percent", percent(x));
		if (r->with_truth) {
			json_object_set_new(o, "error_rms_ns",
					    json_number(x->known ? x->rms_ns : NAN));
		}
		json_array_append_new(rows, o);
	}
	json_t *root = json_pack("{s:I,s:o}", "sets", (json_int_t)r->sets, "repeated", rows);
	json_print(out, root, JSON_INDENT(2));
}

void repeats_print_csv(FILE *out, const struct repeats *r)
{
	fputs("a,b,method,answers,failures,beta_minus_one_mean,beta_minus_one_sd,messages,"
	      "inversions,too_fast,inversions_recorded,too_fast_percent,error_rms_ns\n",
	      out);
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *x = &r->row[i];
		fprintf(out, "%s,%s,%s,%zu,%zu,", csv_text(x->a), csv_text(x->b), x->method->name,
			x->answers, x->failures);
		if (x->answers) {
			fprintf(out, "%.17g", x->mean);
		}
		fputc(',', out);
		if (x->answers > 1) {
			fprintf(out, "%.17g", deviation(x));
		}
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g,", x->messages,
			x->corrected_inversions, x->too_fast, x->recorded_inversions, percent(x));
		if (x->known) {
			fprintf(out, "%.17g", x->rms_ns);
		}
		fputc('\n', out);
	}
}
