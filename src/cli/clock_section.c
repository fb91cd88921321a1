/* SPDX-License-Identifier: MIT */
/*
 * clock_section.c - a machine's clocks as HTML: tables, and drawings of how it is spread
 *
 * In    what was measured, here or elsewhere
 * Out   a section with SVG in it: no script, nothing to load; a page of its own around it
 * Why   the shape of a distribution tells an interrupt from a load, which no mean does
 *
 * Figures 12 to 15 and 16 to 17 of Kong, Spector and Siewiorek 1986, and figure 3 of Clement 2009,
 * of one machine.
 */
#include "clock_show.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 170, FOOT = 36, SERIES = 6 };

/* "Timers of client", "Timers": what screen readers call a part, which has to tell machines apart.
 */
static void label(FILE *out, const char *what, const char *machine)
{
	fprintf(out, " aria-label=\"%s", what);
	if (machine) {
		fputs(" of ", out);
		put_html(out, machine);
	}
	fputs("\"", out);
}

static void write_table(FILE *out, const char *what, const char *machine, struct table t)
{
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\"", out);
	label(out, what, machine);
	fputs("><table>\n<thead>\n", out);
	for (size_t i = 0; i < t.n; i++) {
		size_t column = i % t.columns;
		const char *tag = i < t.columns ? "th" : "td";
		fputs(i == t.columns ? "</thead>\n<tbody>\n" : "", out);
		fprintf(out, "%s<%s%s%s>", column ? "" : "<tr>", tag,
			i < t.columns ? " scope=\"col\"" : "",
			t.right[column] ? " class=\"n\"" : "");
		put_html(out, t.cell[i]);
		fprintf(out, "</%s>%s", tag, column + 1 == t.columns ? "</tr>\n" : "");
	}
	fprintf(out, "</%s>\n</table></div>\n", t.n > t.columns ? "tbody" : "thead");
	table_free(&t);
}

/* ---- drawings ----------------------------------------------------------------------------- */

/* Okabe and Ito's colours, which all eyes tell apart, light enough for both themes. */
static const char *const colours[SERIES] = { "#0072b2", "#d55e00", "#009e73",
					     "#e69f00", "#56b4e9", "#cc79a7" };

/* What one drawing shows: bars over one axis. */
struct drawing {
	char title[80];
	double from, to; /* of the axis */
	bool octaves;	 /* the axis is a logarithm to base 2 */
	size_t n;
	struct series {
		struct text name;
		double x[OCTAVES + BINS], y[OCTAVES + BINS], width;
		size_t n;
	} series[SERIES];
};

static double x_of(const struct drawing *d, double x)
{
	double v = (x - d->from) / (d->to - d->from);
	return WIDTH * fmin(1, fmax(0, v));
}

static void axis(FILE *out, const struct drawing *d)
{
	enum { TICKS = 5 };
	fprintf(out, "<path class=\"rule\" stroke=\"currentColor\" d=\"M0 %dH%d\"/>", HEIGHT,
		WIDTH);
	for (int i = 0; i < TICKS; i++) {
		double v = d->from + (d->to - d->from) * i / (TICKS - 1);
		fprintf(out, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"%s\">%s</text>", x_of(d, v),
			HEIGHT + 16,
			i == 0		 ? "start"
			: i == TICKS - 1 ? "end"
					 : "middle",
			clock_ns_text(d->octaves ? exp2(v) : v).s);
	}
	for (size_t k = 0; k < d->n; k++) {
		int x = (int)k * (WIDTH / (d->n > 4 ? (int)d->n : 4));
		fprintf(out,
			"<rect fill=\"%s\" x=\"%d\" y=\"%d\" width=\"10\" height=\"10\"/><text "
			"x=\"%d\" y=\"%d\">",
			colours[k], x, HEIGHT + 24, x + 15, HEIGHT + 33);
		put_html(out, d->series[k].name.s);
		fputs("</text>", out);
	}
}

static void draw(FILE *out, const struct drawing *d)
{
	double most = 0;
	for (size_t k = 0; k < d->n; k++) {
		for (size_t i = 0; i < d->series[k].n; i++) {
			most = fmax(most, d->series[k].y[i]);
		}
	}
	if (!(d->to > d->from) || !(most > 0)) {
		return;
	}
	fprintf(out, "<figure><figcaption>");
	put_html(out, d->title);
	fprintf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
		HEIGHT + FOOT);
	put_html(out, d->title);
	fprintf(out, "\">\n");
	for (size_t k = 0; k < d->n; k++) {
		const struct series *s = &d->series[k];
		fprintf(out, "<path fill=\"%s\" fill-opacity=\"0.35\" stroke=\"%s\" d=\"",
			colours[k], colours[k]);
		for (size_t i = 0; i < s->n; i++) {
			double y = HEIGHT - s->y[i] / most * (HEIGHT - 8);
			fprintf(out, "M%.1f %dV%.1fH%.1fV%dZ", x_of(d, s->x[i]), HEIGHT, y,
				x_of(d, s->x[i] + s->width), HEIGHT);
		}
		fprintf(out, "\"/>\n");
	}
	axis(out, d);
	fprintf(out, "</svg></figure>\n");
}

/* Shares of a distribution; the axis grows so that it is all there. */
static void add_series(struct drawing *d, const char *name, const struct figures *f)
{
	const uint64_t *count = d->octaves ? f->octave : f->bin;
	const bool wide = !d->octaves && f->bin_width > 0;
	double width = wide ? f->bin_width : 1, from = d->octaves ? 0 : f->bins_from;
	double to = from + (wide ? BINS : 1) * width;
	struct series *s = &d->series[d->n];
	if (!f->n || d->n == SERIES) {
		return;
	}
	*s = (struct series){ .name = text_of("%s", name), .width = width };
	for (int i = 0; i < (d->octaves ? OCTAVES : BINS); i++) {
		if (count[i]) {
			s->x[s->n] = from + i * width;
			s->y[s->n++] = (double)count[i] / (double)f->n / width;
		}
	}
	if (d->octaves && s->n) {
		from = s->x[0];
		to = s->x[s->n - 1] + 1;
	}
	d->from = d->n ? fmin(d->from, from) : from;
	d->to = d->n ? fmax(d->to, to) : to;
	d->n++;
}

/* ---- sections ------------------------------------------------------------------------------ */

static void draw_steps(FILE *out, const struct clock_report *r)
{
	enum { TOGETHER = 4 };
	for (size_t i = 0; i < r->n_sources; i += TOGETHER) {
		struct drawing d = { .title = "From one read of a clock to the next",
				     .octaves = true };
		for (size_t k = i; k < r->n_sources && k < i + TOGETHER; k++) {
			add_series(&d, r->source[k].name, &r->figures[k].step);
		}
		draw(out, &d);
	}
}

static void draw_zero(FILE *out, const struct under *u)
{
	struct drawing d = { 0 };
	snprintf(d.title, sizeof d.title,
		 "Zero elapsed time, load %u: as measured, and compensated", u->load);
	for (int c = 0; c < COMPENSATIONS; c++) {
		add_series(&d, compensation_name((enum compensation)c), &u->zero.row[c].net);
	}
	draw(out, &d);
}

static void add_load(struct drawing *d, const struct under *u, const struct figures *f)
{
	add_series(d, u->load ? text_of("load %u", u->load).s : "idle", f);
}

static void draw_wakeups(FILE *out, const struct clock_report *r)
{
	struct drawing d = { .title = "How late a timer of 1 ms wakes", .octaves = true };
	for (size_t i = 0; i < r->n_under && i < SERIES; i++) {
		add_load(&d, &r->under[i], &r->under[i].wakeup);
	}
	draw(out, &d);
}

/* Round trips of a channel and size, by load. */
static void draw_messages(FILE *out, const struct clock_report *r, enum channel c, size_t size)
{
	struct drawing d = { .octaves = true };
	snprintf(d.title, sizeof d.title, "Round trips over a %s, %zu bytes, by load",
		 channel_name(c), clock_sizes[size]);
	for (size_t i = 0; i < r->n_under && i < SERIES; i++) {
		if (r->under[i].exchange[c][size].known) {
			add_load(&d, &r->under[i], &r->under[i].exchange[c][size].rpc);
		}
	}
	draw(out, &d);
}

static void heading(FILE *out, int level, const char *what)
{
	fprintf(out, "<h%d>%s</h%d>\n", level, what, level);
}

static void paragraph(FILE *out, char *sentence)
{
	fputs("<p>", out);
	put_html(out, sentence);
	fputs("</p>\n", out);
	free(sentence);
}

void clock_put_section(FILE *out, const struct clock_report *r, const char *machine, int level)
{
	write_table(out, "Clocks", machine, clock_sources_table(r));
	paragraph(out, clock_steered_text(r));
	paragraph(out, clock_cores_text(r));
	fputs("<div class=\"two\">\n", out);
	draw_steps(out, r);
	fputs("</div>\n", out);
	heading(out, level, "Zero elapsed time");
	write_table(out, "Zero elapsed time", machine, clock_zero_table(r));
	fputs("<div class=\"two\">\n", out);
	for (size_t i = 0; i < r->n_under; i++) {
		draw_zero(out, &r->under[i]);
	}
	fputs("</div>\n", out);
	write_table(out, "Correlations", machine, clock_correlations_table(r));
	write_table(out, "Ticks", machine, clock_ticks_table(r));
	heading(out, level, "A clock of two words");
	write_table(out, "Clock of two words", machine, clock_routines_table(r));
	heading(out, level, "Timers");
	fputs("<div class=\"two\">\n", out);
	draw_wakeups(out, r);
	fputs("</div>\n", out);
	heading(out, level, "Messages");
	write_table(out, "Messages", machine, clock_messages_table(r));
	write_table(out, "A word more", machine, clock_words_table(r));
	fputs("<div class=\"two\">\n", out);
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			draw_messages(out, r, (enum channel)c, k);
		}
	}
	fputs("</div>\n", out);
}

static const char *const head =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Clocks of this machine</title>\n<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: "
	"1rem; }\n"
	"table { border-collapse: collapse; font-size: 0.9rem; }\n"
	"th, td { padding: 0.15rem 0.7rem; border-bottom: 1px solid #8886; text-align: left; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	".scroll { overflow-x: auto; }\n"
	".two { display: grid; gap: 1.5rem 2.5rem; grid-template-columns: repeat(auto-fit, "
	"minmax(min(100%, 22rem), 1fr)); }\n"
	"figure { margin: 0; min-width: 0; }\n"
	"svg { width: 100%; height: auto; }\n"
	"svg text { font-size: 12px; fill: currentColor; }\n"
	".rule { stroke-opacity: 0.5; }\n"
	"</style>\n</head>\n<body>\n<main>\n<h1>Clocks of this machine</h1>\n";

void clock_print_page(struct usk_output *out, const struct clock_report *r)
{
	struct usk_stream section;
	clock_put_section(usk_stream_begin(&section), r, NULL, 2);
	char *html = usk_stream_end(&section);
	usk_output_format(out, "%s%s</main>\n</body>\n</html>\n", head, html);
	free(html);
}
