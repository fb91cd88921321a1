/* SPDX-License-Identifier: MIT */
/*
 * compare_print.c - a comparison of estimators for people: a table per pair, one over all
 *
 * In    the comparison, errors where a truth is known
 * Out   what was recorded in the first row, what each line makes of it below
 */
#include "compare.h"
#include "print.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* The columns of a pair's table; some are there only where there is something to say. */
struct columns {
	bool right[16];
	bool broadcasts, errors;
};

static void blank(struct table *t, size_t from)
{
	for (size_t i = from; i < t->columns; i++) {
		table_cell(t, "-");
	}
}

static void add_recorded(struct table *t, const struct columns *x,
			 const struct usk_compared_pair *p)
{
	table_cell(t, "(as recorded)");
	table_cell(t, "-");
	table_cell(t, "-");
	table_count(t, p->recorded_inversions);
	table_cell(t, "-");
	table_span(t, p->recorded_a_to_b.median_ns);
	table_span(t, p->recorded_b_to_a.median_ns);
	if (x->broadcasts) {
		table_span(t, p->heard_recorded.mean_ns);
	}
	blank(t, 7 + x->broadcasts);
}

static void add_score(struct table *t, const struct columns *x, const struct usk_compared_pair *p,
		      const struct usk_method_score *s, const struct truth_errors *e)
{
	char number[NUMBER_TEXT];
	table_cell(t, s->method->name);
	if (s->failed) {
		blank(t, 1);
		return;
	}
	/* reference - local, to 1 ns, as us */
	usk_i128 offset = (usk_i128)p->a_ns * 1000 - ((usk_i128)s->b_ns * 1000 + s->b_ps);
	table_cell(t, milli_text(usk_floor_div(offset + 500, 1000), number));
	table_own(t, usk_format("%.6f", 1e6 * s->beta_minus_one));
	table_count(t, s->corrected_inversions);
	table_own(t, usk_format("%.3f", s->too_fast.percent));
	table_span(t, s->a_to_b.median_ns);
	table_span(t, s->b_to_a.median_ns);
	if (x->broadcasts) {
		table_span(t, s->heard.mean_ns);
	}
	if (x->errors) {
		table_span(t, e->known ? e->start_ns : USK_NONE);
		table_span(t, e->known ? e->middle_ns : USK_NONE);
		table_span(t, e->known ? e->end_ns : USK_NONE);
		table_span(t, e->known ? e->rms_ns : USK_NONE);
	}
}

static struct columns columns_of(struct table *t, bool broadcasts, bool errors)
{
	struct columns x = { .broadcasts = broadcasts, .errors = errors };
	memset(x.right, true, sizeof x.right);
	x.right[0] = false;
	t->columns = 7 + (size_t)broadcasts + (errors ? 4u : 0u);
	const char *const heading[] = { "method",     "offset, us",  "rate - 1, ppm",
					"inversions", "too fast, %", "delay there",
					"back",	      "broadcasts",  "error: start",
					"middle",     "end",	     "rms" };
	for (size_t i = 0; i < COUNT(heading); i++) {
		if (i < 7 || (i == 7 ? broadcasts : errors)) {
			table_cell(t, heading[i]);
		}
	}
	return x;
}

static void print_widths(FILE *out, int64_t best, int64_t worst, int64_t mean)
{
	char text[3][UNIT_TEXT];
	fprintf(out, "half widths %s to %s, %s on average", unit_bound(best, text[0]),
		unit_bound(worst, text[1]), unit_bound(mean, text[2]));
}

static void print_pair(FILE *out, const struct compared *x, size_t which)
{
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	struct table t = { .columns = 0 };
	struct columns columns = columns_of(&t, p->heard_recorded.n, x->with_truth);
	char *a = printable(c->clock[p->a]), *b = printable(c->clock[p->b]);
	char text[UNIT_TEXT];
	t.right = columns.right;
	fprintf(out, "%s%s against %s: %s messages", which ? "\n" : "", b, a,
		unit_count(p->a_to_b + p->b_to_a, text));
	if (p->heard_recorded.n) {
		fprintf(out, ", %s broadcasts that both heard",
			unit_count(p->heard_recorded.n, text));
	}
	if (p->half_best_ns != USK_NONE) {
		fputs(", ", out);
		print_widths(out, p->half_best_ns, p->half_worst_ns, p->half_mean_ns);
	}
	fputs(".\n", out);
	add_recorded(&t, &columns, p);
	bool unknown = false;
	for (size_t k = 0; k < c->n_methods; k++) {
		add_score(&t, &columns, p, &p->score[k], errors_of(x, which, k));
		unknown |= !p->score[k].failed && !errors_of(x, which, k)->known;
	}
	table_print(out, &t);
	for (size_t k = 0; k < c->n_methods; k++) {
		if (p->score[k].failed) {
			fprintf(out, "%s has no answer: %s.\n", p->score[k].method->name,
				p->score[k].failed);
		}
	}
	if (x->with_truth && unknown) {
		fprintf(out, "Truth: nothing to compare: it does not know %s or %s.\n", a, b);
	}
	free(a);
	free(b);
}

/* Over all pairs, where there are several. */
static void print_totals(FILE *out, const struct usk_comparison *c)
{
	static const char *const heading[] = { "method",     "pairs",	    "messages",
					       "inversions", "too fast, %", "by at most",
					       "broadcasts" };
	static const bool right[] = { false, true, true, true, true, true, true };
	struct table t = table_begin(heading, right, c->heard_recorded.n ? 7 : 6);
	char text[UNIT_TEXT];
	fputs("\nAll pairs: ", out);
	if (c->half_best_ns != USK_NONE) {
		print_widths(out, c->half_best_ns, c->half_worst_ns, c->half_mean_ns);
	} else {
		fputs("no band has two sides", out);
	}
	fputs(".\n", out);
	for (size_t k = 0; k < c->n_methods; k++) {
		const struct usk_method_total *m = &c->total[k];
		table_cell(&t, m->method->name);
		table_count(&t, m->answers);
		table_count(&t, m->messages);
		table_count(&t, m->corrected_inversions);
		table_own(&t, usk_format("%.3f", m->too_fast.percent));
		table_cell(&t, unit_at_most(m->too_fast.max_ns, text));
		if (c->heard_recorded.n) {
			table_span(&t, m->heard.mean_ns);
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
	fputs(x->c->heard_recorded.n ? " Broadcasts: the clock's\nstamp less the reference's, on "
				       "average. Lines are judged as drawn; sync settles them "
				       "into the band.\n"
				     : " Lines are judged as drawn;\nsync settles them into the "
				       "band.\n",
	      out);
	print_counts(out, &x->c->counts);
	for (size_t i = 0; i < x->c->n_notes; i++) {
		fprintf(out, "%sNote:%s %s\n", colour(out, "yellow"), colour(out, "off"),
			x->c->note[i]);
	}
}
