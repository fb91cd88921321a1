/* SPDX-License-Identifier: MIT */
/*
 * report_answer.c - what a page says without a script: the answer, tables, notes
 *
 * In    the answer
 * Out   HTML; names and paths, which anybody may have made up, are text in it
 * Why   a page that a mail program shows without scripts, or a screen reader reads, has it all
 * Not   drawings (page/)
 */
#include "print.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

char *report_names(const struct usk_clocks *c)
{
	enum { ALL = 3 };
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	size_t shown = c->n_clocks > ALL ? 1 : c->n_clocks;
	for (size_t i = 0; i < shown; i++) {
		fprintf(out, "%s%s", i ? ", " : "", c->clock[i].name);
	}
	if (shown < c->n_clocks) {
		fprintf(out, " and %zu others", c->n_clocks - shown);
	}
	return usk_stream_end(&s);
}

/* The only bounded clock beside its reference. */
static void say_two(FILE *out, const struct usk_clocks *c, const struct usk_clock *k)
{
	size_t steps = steps_of(k);
	fprintf(out,
		"Add %s to a stamp of %s in the middle%s of its trace to get the time of %s; its "
		"drift is %s ppm",
		headline_offset(c, k).s, k->name,
		usk_headline_of(c, k).n_stretches > 1
			? " of the stretch between steps with most messages"
			: "",
		c->clock[k->reference].name,
		unit_drift(k->drift_ppm, k->drift_min_ppm, k->drift_max_ppm).s);
	if (steps) {
		fprintf(out, ", and there %s %zu step%s", steps == 1 ? "is" : "are", steps,
			steps == 1 ? "" : "s");
	}
	fputc('.', out);
}

static void say_many(FILE *out, const struct usk_clocks *c)
{
	const struct usk_evaluation *e = &c->evaluation;
	size_t groups = 0, clocks;
	const struct usk_island *first = NULL;
	for (size_t i = 0; i < c->n_islands; i++) {
		if (c->island[i].n_clocks > 1) {
			first = first ? first : &c->island[i];
			groups++;
		}
	}
	clocks = clocks_that_are(c, USK_BOUNDED) + groups;
	if (groups == 1) {
		fprintf(out, "%zu of %zu clocks are on the time of %s", clocks, c->n_clocks,
			c->clock[first->reference].name);
	} else {
		fprintf(out,
			"%zu of %zu clocks are on the time of a reference, in %zu groups that "
			"share no message",
			clocks, c->n_clocks, groups);
	}
	if (e->half_best_ns != USK_NONE && e->half_worst_ns != USK_NONE) {
		fprintf(out, "; their error bounds are \xc2\xb1 %s to \xc2\xb1 %s",
			unit_bound(e->half_best_ns).s, unit_bound(e->half_worst_ns).s);
	}
	fputc('.', out);
}

static void say_inversions(FILE *out, const struct usk_clocks *c, bool corrected)
{
	const struct usk_evaluation *e = &c->evaluation;
	fprintf(out, " Of %s message%s %s %s received before sent as recorded",
		unit_count(c->counts.matched).s, c->counts.matched == 1 ? "" : "s",
		unit_count(e->recorded_inversions).s, e->recorded_inversions == 1 ? "was" : "were");
	if (corrected) {
		fprintf(out, ", %s after correction", unit_count(e->corrected_inversions).s);
	}
	fputc('.', out);
}

/* Beside the title, as a row of a long table may not be seen. */
static void say_contradicted(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 3 };
	size_t n = clocks_that_are(c, USK_CONTRADICTED), said = 0;
	for (size_t i = 0; i < c->n_clocks && said < MOST; i++) {
		if (c->clock[i].quality == USK_CONTRADICTED) {
			fprintf(out, "%s%s", said ? ", " : " The messages of ", c->clock[i].name);
			said++;
		}
	}
	if (n > said) {
		fprintf(out, " and %zu more", n - said);
	}
	fputs(n ? " contradict the model." : "", out);
}

char *report_sentence(const struct usk_clocks *c)
{
	struct usk_stream s;
	size_t bounded = clocks_that_are(c, USK_BOUNDED);
	FILE *out = usk_stream_begin(&s);
	if (!bounded) {
		fprintf(out, "No clock could be put on the time of another%s.",
			clocks_that_are(c, USK_CONTRADICTED)
				? ""
				: ": messages bound none from both sides");
	} else if (c->n_clocks == 2) {
		say_two(out, c, &c->clock[c->clock[0].quality != USK_BOUNDED]);
	} else {
		say_many(out, c);
	}
	if (c->counts.matched) {
		say_inversions(out, c, bounded > 0);
	}
	say_contradicted(out, c);
	return usk_stream_end(&s);
}

/* ---- HTML ------------------------------------------------------------------------------ */

static void put_in(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	put_html(out, text);
	fputs(after, out);
}

/* Marks that turn the direction of writing stay within the name. */
static void put_names(FILE *out, const struct usk_clocks *c, uint32_t a, uint32_t b)
{
	put_in(out, "<tr><td><bdi>", c->clock[a].name, "</bdi></td><td><bdi>");
	put_in(out, "", c->clock[b].name, "</bdi></td>");
}

/* Cells with tabs between, '>' before a number. */
__attribute__((format(printf, 2, 3))) static void put_cells(FILE *out, const char *fmt, ...)
{
	char *cells;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&cells, fmt, ap) < 0) {
		usk_alloc(SIZE_MAX, 1);
	}
	va_end(ap);
	for (char *rest = cells, *cell; (cell = strsep(&rest, "\t"));) {
		bool number = *cell == '>';
		put_in(out, number ? "<td class=\"n\">" : "<td>", cell + number, "</td>");
	}
	free(cells);
}

static void begin_table(FILE *out, const char *id, const char *label, const char *headings,
			const char *caption)
{
	struct table t = table_begin("%s", headings);
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
		"<table id=\"%s\">\n<caption><span>%s</span></caption>\n<thead><tr>",
		label, id, caption);
	for (size_t i = 0; i < t.n; i++) {
		fprintf(out, "<th scope=\"col\"%s>%s</th>", t.right[i] ? " class=\"n\"" : "",
			t.cell[i]);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	table_free(&t);
}

static void end_table(FILE *out)
{
	fputs("</tbody>\n</table>\n</div>\n", out);
}

/* Pairs that a table has rows for, as nobody reads more: 0.3 MB. */
static size_t shown_pairs(const struct usk_clocks *c)
{
	enum { MOST = 400 };
	return c->n_pairs < MOST ? c->n_pairs : MOST;
}

static void end_pairs(FILE *out, const struct usk_clocks *c)
{
	end_table(out);
	if (shown_pairs(c) < c->n_pairs) {
		fprintf(out, "<p class=\"more\">And %zu more, which clocks.json lists.</p>\n",
			c->n_pairs - shown_pairs(c));
	}
}

static void put_path(FILE *out, const struct usk_clocks *c, const struct usk_clock *k)
{
	fputs("<td>", out);
	for (size_t i = 0; i < k->n_path; i++) {
		put_in(out, i ? " \xe2\x86\x92 <bdi>" : "<bdi>", c->clock[k->path[i]].name,
		       "</bdi>");
	}
	fputs(k->n_path ? "</td>" : "-</td>", out);
}

/* How far the estimate is off, and by how much the band. */
static void put_score(FILE *out, const struct truth_score *s)
{
	if (!s->known) {
		put_cells(out, ">-");
	} else if (s->outside_ns) {
		put_cells(out, ">%s; bounds by %s", unit_span(s->worst_ns).s,
			  unit_at_most(s->outside_ns).s);
	} else {
		put_cells(out, ">%s", unit_span(s->worst_ns).s);
	}
}

static void put_clock(FILE *out, const struct usk_clocks *c, size_t i,
		      const struct traffic *messages, const struct truth_score *score)
{
	const struct usk_clock *k = &c->clock[i];
	bool reference = k->quality == USK_REFERENCE;
	struct usk_widths w = usk_band_widths(k);
	fprintf(out, "<tr data-clock=\"%zu\"><th scope=\"row\">", i);
	put_in(out, "<bdi>", k->name, "</bdi></th>");
	put_cells(out, "%s\t>%s\t>%s", usk_quality_name(k->quality), headline_offset(c, k).s,
		  clock_drift(k).s);
	if (!reference && w.best_ns != USK_NONE) {
		put_cells(out, ">%s to %s", unit_bound(w.best_ns).s, unit_bound(w.worst_ns).s);
	} else {
		put_cells(out, ">%s", reference ? "0" : "-");
	}
	if (score) {
		put_score(out, score);
	}
	put_cells(out, ">%s\t>%s", unit_count(messages->sent).s, unit_count(messages->received).s);
	put_path(out, c, k);
	fputs("</tr>\n", out);
}

/* host2 before host10. */
static int by_name(const void *pa, const void *pb)
{
	const struct usk_clock *const *a = pa, *const *b = pb;
	return strverscmp((*a)->name, (*b)->name);
}

static void put_clocks(FILE *out, const struct usk_clocks *c, const struct truth_score *score)
{
	struct traffic *messages = clock_messages(c);
	const struct usk_clock **order = kept(usk_alloc(c->n_clocks + 1, sizeof *order));
	const char *headings =
		kept(usk_format("clock\tquality\t>offset mid-trace (± bound)\t>drift, "
				"ppm\t>error bound%s\t>sent\t>received\tpath",
				score ? "\t>off the truth by" : ""));
	begin_table(out, "unskew-clocks", "Clocks", headings,
		    "Clocks. An offset is reference \xe2\x88\x92 local: add it to a stamp of the "
		    "clock. It is given for the middle of the trace, or of the stretch between "
		    "steps with the most messages. The true offset lies within \xc2\xb1 of it, "
		    "under the model stated below. A positive drift is a clock that runs fast.");
	for (size_t i = 0; i < c->n_clocks; i++) {
		order[i] = &c->clock[i];
	}
	qsort(order, c->n_clocks, sizeof *order, by_name);
	for (size_t i = 0; i < c->n_clocks; i++) {
		size_t at = (size_t)(order[i] - c->clock);
		put_clock(out, c, at, &messages[at], score ? &score[at] : NULL);
	}
	end_table(out);
}

/* Its bounds in a stretch alone. */
static struct usk_widths widths_in(const struct usk_clock *k, const struct usk_headline *h)
{
	size_t n = 0;
	struct usk_knot *knot = kept(usk_alloc(k->n_knots + 1, sizeof *knot));
	for (size_t i = 0; i < k->n_knots; i++) {
		const struct usk_knot *x = &k->knot[i];
		if (x->epoch == h->epoch && x->local_ns >= h->from_ns && x->local_ns <= h->to_ns) {
			knot[n++] = *x;
		}
	}
	const struct usk_clock alone = { .knot = knot, .n_knots = n };
	return usk_band_widths(&alone);
}

static void put_stretch(FILE *out, const struct usk_clock *k, const struct usk_headline *h)
{
	struct usk_widths w = widths_in(k, h);
	struct usk_stream from, to;
	print_utc(usk_stream_begin(&from), h->from_ns);
	print_utc(usk_stream_begin(&to), h->to_ns);
	put_in(out, "<tr><th scope=\"row\"><bdi>", k->name, "</bdi></th>");
	const char *begin = kept(usk_stream_end(&from)), *end = kept(usk_stream_end(&to));
	put_cells(out, "%s\t%s\t>%s", begin, end, stretch_offset(h).s);
	if (w.best_ns == USK_NONE) {
		put_cells(out, ">-");
	} else {
		put_cells(out, ">%s to %s", unit_bound(w.best_ns).s, unit_bound(w.worst_ns).s);
	}
	fputs("</tr>\n", out);
}

/* Of clocks that were stepped. */
static void put_stretches(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 400 };
	size_t n = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		struct usk_headline *h;
		size_t of = usk_stretches_of(c, &c->clock[i], &h);
		for (size_t k = 0; k < of && of > 1; k++, n++) {
			if (!n) {
				fputs("<h2>Between steps</h2>\n", out);
				begin_table(
					out, "unskew-stretches", "Between steps",
					"clock\tfrom, on it\tto\t>offset in the middle (± "
					"bound)\t>error bound",
					"Each stretch of a clock between its steps, the offset in "
					"its middle, and the smallest and the largest error bound "
					"in it.");
			}
			if (n < MOST) {
				put_stretch(out, &c->clock[i], &h[k]);
			}
		}
		free(h);
	}
	if (n) {
		end_table(out);
	}
	if (n > MOST) {
		fprintf(out, "<p class=\"more\">And %zu more; clocks.json lists the steps.</p>\n",
			n - MOST);
	}
}

static void put_pairs(FILE *out, const struct usk_clocks *c)
{
	begin_table(out, "unskew-pairs", "Pairs",
		    "a\tb\tquality\t>a to b\t>b to a\t>best error bound\t>outliers\t>wander, ppm",
		    "Pairs: messages in each direction, the error bound (\xc2\xb1) where it is "
		    "smallest, messages ignored as outliers, and the wander of the rate that the "
		    "messages show.");
	for (size_t i = 0; i < shown_pairs(c); i++) {
		const struct usk_pair *p = &c->pair[i];
		put_names(out, c, p->a, p->b);
		put_cells(out, "%s\t>%s\t>%s\t>%s\t>%s\t>%.3g", usk_quality_name(p->quality),
			  unit_count(p->a_to_b).s, unit_count(p->b_to_a).s,
			  unit_bound(p->half_width_ns).s, unit_count(p->n_outliers).s,
			  (double)p->wander.needed_e12 / 1e6);
		fputs("</tr>\n", out);
	}
	end_pairs(out, c);
}

static void put_delay(FILE *out, const struct usk_clocks *c, uint32_t from, uint32_t to,
		      const struct usk_delays *recorded, const struct usk_delays *corrected)
{
	const struct usk_delays *d[] = { recorded, corrected };
	put_names(out, c, from, to);
	for (size_t i = 0; i < COUNT(d); i++) {
		bool any = d[i]->n;
		put_cells(out, ">%s\t>%s\t>%s", unit_span(any ? d[i]->min_ns : USK_NONE).s,
			  unit_span(any ? d[i]->median_ns : USK_NONE).s,
			  unit_span(any ? d[i]->p99_ns : USK_NONE).s);
	}
	fputs("</tr>\n", out);
}

static void put_delays(FILE *out, const struct usk_clocks *c)
{
	begin_table(out, "unskew-delays", "Delays",
		    "from\tto\t>recorded min\t>median\t>99 %\t>corrected min\t>median\t>99 %",
		    "One-way delays: received \xe2\x88\x92 sent, as recorded, each by its own "
		    "clock, and as corrected, on the common time.");
	for (size_t i = 0; i < shown_pairs(c); i++) {
		const struct usk_pair *p = &c->pair[i];
		put_delay(out, c, p->a, p->b, &p->recorded_a_to_b, &p->corrected_a_to_b);
		put_delay(out, c, p->b, p->a, &p->recorded_b_to_a, &p->corrected_b_to_a);
	}
	end_pairs(out, c);
}

/* What a printing function said, as a paragraph. */
static void put_paragraph(FILE *out, const char *id, struct usk_stream *said)
{
	char *text = usk_stream_end(said);
	fprintf(out, "<p id=\"%s\">", id);
	put_in(out, "", text, "</p>\n");
	free(text);
}

/* What was left out, and what the bands rest on, in the words of the terminal's answer. */
static void put_basis(FILE *out, const struct usk_clocks *c)
{
	struct usk_stream said;
	print_counts(usk_stream_begin(&said), &c->counts);
	put_paragraph(out, "unskew-counts", &said);
	print_model(usk_stream_begin(&said), c);
	put_paragraph(out, "unskew-model", &said);
}

/* Jumps and disturbed stretches in the words of the terminal's answer, then notes. */
static void put_notes(FILE *out, const struct usk_clocks *c, char *const *note, size_t n)
{
	struct usk_stream steps;
	print_jumps(usk_stream_begin(&steps), c, print_utc);
	print_disturbed(steps.out, c);
	char *text = usk_stream_end(&steps);
	bool any = *text || c->n_notes || n;
	fputs(any ? "<h2>Notes</h2>\n<ul id=\"unskew-notes\">\n" : "", out);
	for (char *p = text, *end; *p; p = end) {
		/* A sentence is a line and those below it that are indented. */
		end = strchrnul(p, '\n');
		while (*end && end[1] == ' ') {
			end = strchrnul(end + 1, '\n');
		}
		bool more = *end;
		*end = 0;
		put_in(out, "<li>", p, "</li>\n");
		end += more;
	}
	free(text);
	for (size_t i = 0; i < c->n_notes + n; i++) {
		put_in(out, "<li>", i < c->n_notes ? c->note[i] : note[i - c->n_notes], "</li>\n");
	}
	fputs(any ? "</ul>\n" : "", out);
}

char *report_answer(const struct usk_clocks *c, const struct truth_score *score, char *const *note,
		    size_t n_notes)
{
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	put_in(out, "<section id=\"unskew-answer\">\n<h1>", kept(report_names(c)), "");
	fprintf(out, ": %s time</h1>\n<p class=\"answer\">",
		clocks_that_are(c, USK_BOUNDED) ? "one" : "no common");
	put_in(out, "", kept(report_sentence(c)), "</p>\n");
	put_clocks(out, c, score);
	put_basis(out, c);
	put_stretches(out, c);
	put_notes(out, c, note, n_notes);
	if (c->n_pairs) {
		fputs("<h2>Pairs</h2>\n", out);
		put_pairs(out, c);
		fputs("<h2>Delays</h2>\n", out);
		put_delays(out, c);
	}
	fputs("</section>", out);
	return usk_stream_end(&s);
}
