/* SPDX-License-Identifier: MIT */
/*
 * report_answer.c - what a page says without a script: the answer, tables, notes
 *
 * In    the answer
 * Out   HTML; names and paths, which anybody may have made up, are text in it
 * Why   a page that a mail program shows without scripts, or a screen reader reads, has it all
 * Not   drawings (page/)
 */
#include "report.h"
#include "print.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* ---- HTML ------------------------------------------------------------------------------ */

static void put_text(FILE *out, const char *text)
{
	char *html = usk_html_text(text);
	fputs(html, out);
	free(html);
}

/* Marks that turn the direction of writing stay within the name. */
static void put_name(FILE *out, const char *name)
{
	fputs("<bdi>", out);
	put_text(out, name);
	fputs("</bdi>", out);
}

static void cell(FILE *out, bool number, const char *text)
{
	fputs(number ? "<td class=\"n\">" : "<td>", out);
	put_text(out, text);
	fputs("</td>", out);
}

static void cell_count(FILE *out, uint64_t n)
{
	char text[UNIT_TEXT];
	cell(out, true, unit_count(n, text));
}

static void cell_span(FILE *out, int64_t ns)
{
	char text[UNIT_TEXT];
	cell(out, true, unit_span(ns, text));
}

static void begin_table(FILE *out, const char *id, const char *label, const char *caption,
			const char *const *heading, const bool *number, size_t n)
{
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
		"<table id=\"%s\">\n<caption>%s</caption>\n<thead><tr>",
		label, id, caption);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "<th scope=\"col\"%s>%s</th>", number[i] ? " class=\"n\"" : "",
			heading[i]);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
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
		fputs(i ? " \xe2\x86\x92 " : "", out);
		put_name(out, c->clock[k->path[i]].name);
	}
	fputs(k->n_path ? "</td>" : "-</td>", out);
}

static void put_clock(FILE *out, const struct usk_clocks *c, size_t i, uint64_t sent,
		      uint64_t received)
{
	const struct usk_clock *k = &c->clock[i];
	bool reference = k->quality == USK_REFERENCE;
	char text[UNIT_TEXT], best[UNIT_TEXT], worst[UNIT_TEXT];
	fprintf(out, "<tr data-clock=\"%zu\"><th scope=\"row\">", i);
	put_name(out, k->name);
	fputs("</th>", out);
	cell(out, false, usk_quality_name(k->quality));
	headline_offset(c, k, text);
	cell(out, true, text);
	strcpy(text, "0");
	if (!reference) {
		unit_drift(k->drift_ppm, k->drift_min_ppm, k->drift_max_ppm, text);
	}
	cell(out, true, text);
	struct usk_widths w = usk_band_widths(k);
	strcpy(text, reference ? "0" : "-");
	if (!reference && w.best_ns != USK_NONE) {
		snprintf(text, sizeof text, "%.24s to %.24s", unit_bound(w.best_ns, best),
			 unit_bound(w.worst_ns, worst));
	}
	cell(out, true, text);
	cell_count(out, sent);
	cell_count(out, received);
	put_path(out, c, k);
	fputs("</tr>\n", out);
}

static void put_clocks(FILE *out, const struct usk_clocks *c)
{
	static const char *const heading[] = {
		"clock",      "quality",    "offset at the middle (± there)",
		"drift, ppm", "half width", "sent",
		"received",   "path"
	};
	static const bool number[] = { false, false, true, true, true, true, true, false };
	uint64_t *sent = usk_alloc(c->n_clocks, sizeof *sent);
	uint64_t *received = usk_alloc(c->n_clocks, sizeof *received);
	clock_messages(c, sent, received);
	begin_table(out, "unskew-clocks", "Clocks",
		    "Clocks. An offset is reference \xe2\x88\x92 local: add it to a stamp of the "
		    "clock. It is of the middle of the trace, or of the stretch between "
		    "steps with most messages. A positive drift is a clock that runs fast.",
		    heading, number, COUNT(heading));
	for (size_t i = 0; i < c->n_clocks; i++) {
		put_clock(out, c, i, sent[i], received[i]);
	}
	end_table(out);
	free(sent);
	free(received);
}

static void put_pairs(FILE *out, const struct usk_clocks *c)
{
	static const char *const heading[] = { "a",	 "b",	       "quality",  "a to b",
					       "b to a", "half width", "left out", "wander, ppm" };
	static const bool number[] = { false, false, false, true, true, true, true, true };
	begin_table(
		out, "unskew-pairs", "Pairs",
		"Pairs: messages each way, half the band's width where it is smallest, messages "
		"left out as outliers, wander that the messages need.",
		heading, number, COUNT(heading));
	for (size_t i = 0; i < shown_pairs(c); i++) {
		const struct usk_pair *p = &c->pair[i];
		char text[UNIT_TEXT];
		fputs("<tr><td>", out);
		put_name(out, c->clock[p->a].name);
		fputs("</td><td>", out);
		put_name(out, c->clock[p->b].name);
		fputs("</td>", out);
		cell(out, false, usk_quality_name(p->quality));
		cell_count(out, p->a_to_b);
		cell_count(out, p->b_to_a);
		cell(out, true, unit_bound(p->half_width_ns, text));
		cell_count(out, p->n_outliers);
		snprintf(text, sizeof text, "%.3g", (double)p->wander.needed_e12 / 1e6);
		cell(out, true, text);
		fputs("</tr>\n", out);
	}
	end_pairs(out, c);
}

static void put_delay(FILE *out, const struct usk_clocks *c, uint32_t from, uint32_t to,
		      const struct usk_delays *recorded, const struct usk_delays *corrected)
{
	const struct usk_delays *d[] = { recorded, corrected };
	fputs("<tr><td>", out);
	put_name(out, c->clock[from].name);
	fputs("</td><td>", out);
	put_name(out, c->clock[to].name);
	fputs("</td>", out);
	for (size_t i = 0; i < COUNT(d); i++) {
		cell_span(out, d[i]->n ? d[i]->min_ns : USK_NONE);
		cell_span(out, d[i]->n ? d[i]->median_ns : USK_NONE);
		cell_span(out, d[i]->n ? d[i]->p99_ns : USK_NONE);
	}
	fputs("</tr>\n", out);
}

static void put_delays(FILE *out, const struct usk_clocks *c)
{
	static const char *const heading[] = { "from",	 "to",	 "recorded min",
					       "median", "99 %", "corrected min",
					       "median", "99 %" };
	static const bool number[] = { false, false, true, true, true, true, true, true };
	begin_table(
		out, "unskew-delays", "Delays",
		"One-way delays: received \xe2\x88\x92 sent, each by its own clock as recorded, "
		"and on the common time.",
		heading, number, COUNT(heading));
	for (size_t i = 0; i < shown_pairs(c); i++) {
		const struct usk_pair *p = &c->pair[i];
		put_delay(out, c, p->a, p->b, &p->recorded_a_to_b, &p->corrected_a_to_b);
		put_delay(out, c, p->b, p->a, &p->recorded_b_to_a, &p->corrected_b_to_a);
	}
	end_pairs(out, c);
}

/* What a printing function says, as a paragraph. */
static void put_paragraph(FILE *out, const char *id, char *text)
{
	fprintf(out, "<p id=\"%s\">", id);
	put_text(out, text);
	fputs("</p>\n", out);
	free(text);
}

/* What was left out, and what the bands rest on, in the words of the terminal's answer. */
static void put_basis(FILE *out, const struct usk_clocks *c)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);
	if (lines) {
		print_counts(lines, &c->counts);
	}
	put_paragraph(out, "unskew-counts", stream_text(lines, &text));
	lines = open_memstream(&text, &size);
	if (lines) {
		print_model(lines, c);
	}
	put_paragraph(out, "unskew-model", stream_text(lines, &text));
}

/* Jumps and messages left out in the words of the terminal's answer. */
static void put_steps(FILE *out, const struct usk_clocks *c)
{
	char *text = NULL;
	size_t size;
	FILE *steps = open_memstream(&text, &size);
	if (steps) {
		print_jumps(steps, c);
		print_disturbed(steps, c);
	}
	text = stream_text(steps, &text);
	for (char *p = text, *end; *p; p = end) {
		/* A sentence is a line and those below it that are indented. */
		end = strchrnul(p, '\n');
		while (*end && end[1] == ' ') {
			end = strchrnul(end + 1, '\n');
		}
		char *line = usk_format("%.*s", (int)(end - p), p);
		fputs("<li>", out);
		put_text(out, line);
		fputs("</li>\n", out);
		free(line);
		end += *end == '\n';
	}
	free(text);
}

static bool has_steps(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (c->clock[i].n_jumps || c->clock[i].n_stretches) {
			return true;
		}
	}
	return false;
}

static void put_notes(FILE *out, const struct usk_clocks *c, char *const *note, size_t n)
{
	if (!c->n_notes && !n && !has_steps(c)) {
		return;
	}
	fputs("<h2>Notes</h2>\n<ul id=\"unskew-notes\">\n", out);
	put_steps(out, c);
	for (size_t i = 0; i < c->n_notes + n; i++) {
		fputs("<li>", out);
		put_text(out, i < c->n_notes ? c->note[i] : note[i - c->n_notes]);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static bool any_bounded(const struct usk_clocks *c)
{
	size_t i = 0;
	while (i < c->n_clocks && c->clock[i].quality != USK_BOUNDED) {
		i++;
	}
	return i < c->n_clocks;
}

char *report_answer(const struct usk_clocks *c, char *const *note, size_t n_notes)
{
	char *text = NULL, *sentence = report_sentence(c), *names = report_names(c);
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out) {
		fputs("<section id=\"unskew-answer\">\n<h1>", out);
		put_text(out, names);
		fprintf(out, ": %s time</h1>\n<p class=\"answer\">",
			any_bounded(c) ? "one" : "no common");
		put_text(out, sentence);
		fputs("</p>\n", out);
		put_clocks(out, c);
		put_basis(out, c);
		put_notes(out, c, note, n_notes);
		if (c->n_pairs) {
			fputs("<h2>Pairs</h2>\n", out);
			put_pairs(out, c);
			fputs("<h2>Delays</h2>\n", out);
			put_delays(out, c);
		}
		fputs("</section>", out);
	}
	free(sentence);
	free(names);
	return stream_text(out, &text);
}
