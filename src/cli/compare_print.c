/* SPDX-License-Identifier: MIT */
/*
 * compare_print.c - a comparison of estimators for people: a table per pair, one over all
 *
 * In    the comparison, errors where a truth is known
 * Out   what was recorded in the first row, what each line makes of it below
 */
#include "compare.h"
#include "print.h"

static void add_recorded(struct table *t, const struct usk_compared_pair *p)
{
	table_add(t, "(as recorded)\t-\t-\t%s\t-\t%s\t%s", unit_count(p->recorded_inversions).s,
		  unit_span(p->recorded_a_to_b.median_ns).s,
		  unit_span(p->recorded_b_to_a.median_ns).s);
	if (p->heard_recorded.n) {
		table_add(t, "%s", unit_span(p->heard_recorded.mean_ns).s);
	}
}

static void add_score(struct table *t, const struct usk_compared_pair *p,
		      const struct usk_method_score *s, const struct truth_errors *e)
{
	/* reference - local, to 1 ns, as us */
	usk_i128 offset = (usk_i128)p->a_ns * 1000 - ((usk_i128)s->b_ns * 1000 + s->b_ps);
	table_add(t, "%s\t%.6f\t%s\t%.3f\t%s\t%s", milli_text(usk_floor_div(offset + 500, 1000)).s,
		  1e6 * s->beta_minus_one, unit_count(s->corrected_inversions).s,
		  s->too_fast.percent, unit_span(s->a_to_b.median_ns).s,
		  unit_span(s->b_to_a.median_ns).s);
	if (p->heard_recorded.n) {
		table_add(t, "%s", unit_span(s->heard.mean_ns).s);
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
				     "%%\t>delay there\t>back%s%s",
				     p->heard_recorded.n ? "\t>broadcasts" : "",
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

static void print_pair(FILE *out, const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	bool unknown = false;
	const char *a = printable(c->clock[p->a]), *b = printable(c->clock[p->b]);
	fprintf(out, "%s%s against %s: %s messages", which ? "\n" : "", b, a,
		unit_count(p->a_to_b + p->b_to_a).s);
	if (p->heard_recorded.n) {
		fprintf(out, ", %s broadcasts that both heard", unit_count(p->heard_recorded.n).s);
	}
	if (p->half_best_ns != USK_NONE) {
		fputs(", ", out);
		print_widths(out, p->half_best_ns, p->half_worst_ns, p->half_mean_ns);
	}
	fputs(".\n", out);
	print_scores(out, x, which);
	for (size_t k = 0; k < c->n_methods; k++) {
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
			    c->heard_recorded.n ? "\t>broadcasts" : "");
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
		if (c->heard_recorded.n) {
			table_add(&t, "%s", unit_span(m->heard.mean_ns).s);
		}
	}
	table_print(out, &t);
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
	      "they were sent, by that line; too fast: in\nless than their minimum delay. Delays: "
	      "medians, there is from the reference.",
	      out);
	fputs(x->c->heard_recorded.n
		      ? " Broadcasts: the clock's\nstamp less the reference's, on average. Lines "
			"are judged as drawn; sync settles them into the band.\n"
		      : " Lines are judged as drawn;\nsync settles them into the band.\n",
	      out);
	print_counts(out, &x->c->counts);
	print_notes(out, x->c->note, x->c->n_notes);
}
