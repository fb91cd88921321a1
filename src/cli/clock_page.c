/* SPDX-License-Identifier: MIT */
/*
 * clock_page.c - this machine's clocks as one HTML file: tables, and drawings of how it is spread
 *
 * In    what was measured
 * Out   HTML with SVG in it: no script, nothing to load
 * Why   the shape of a distribution tells an interrupt from a load, which no mean does
 *
 * Figures 12 to 15 and 16 to 17 of Kong, Spector and Siewiorek 1986, and figure 3 of Clement 2009,
 * of this machine.
 */
#include "clock_show.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 170, FOOT = 36, SERIES = 6 };

static const char *const head =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Clocks of this machine</title>\n<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; "
	"padding: 1rem; }\n"
	"table { border-collapse: collapse; font-size: 0.9rem; }\n"
	"th, td { padding: 0.15rem 0.7rem; border-bottom: 1px solid #8886; text-align: left; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	".scroll { overflow-x: auto; }\n"
	"figure { display: inline-block; margin: 0.5rem 1rem 0.5rem 0; width: 100%; "
	"max-width: 40rem; }\n"
	"svg { width: 100%; height: auto; }\n"
	"svg text { font-size: 12px; fill: currentColor; }\n"
	".rule { stroke: currentColor; stroke-opacity: 0.5; }\n"
	".s0 { --c: #0072b2; } .s1 { --c: #d55e00; } .s2 { --c: #009e73; } .s3 { --c: #e69f00; }\n"
	".s4 { --c: #56b4e9; } .s5 { --c: #cc79a7; }\n"
	"path { fill: var(--c); fill-opacity: 0.35; stroke: var(--c); }\n"
	".key { fill: var(--c); font-weight: 600; }\n"
	"</style>\n</head>\n<body>\n<main>\n<h1>Clocks of this machine</h1>\n";

static void text(struct usk_output *out, const char *s)
{
	char *html = usk_html_text(s);
	usk_output_write(out, html, strlen(html));
	free(html);
}

/* Frees the cells. */
static void write_table(struct usk_output *out, struct table *t)
{
	usk_output_format(out, "<div class=\"scroll\"><table>\n");
	for (size_t i = 0; i < t->n; i++) {
		size_t column = i % t->columns;
		const char *tag = i < t->columns ? "th" : "td";
		usk_output_format(out, "%s<%s%s>", column ? "" : "<tr>", tag,
				  t->right[column] ? " class=\"n\"" : "");
		text(out, t->cell[i]);
		usk_output_format(out, "</%s>%s", tag, column + 1 == t->columns ? "</tr>\n" : "");
		free(t->cell[i]);
	}
	free(t->cell);
	usk_output_format(out, "</table></div>\n");
}

/* ---- drawings ----------------------------------------------------------------------------- */

/* What one drawing shows: bars over one axis. */
struct drawing {
	const char *title;
	double from, to; /* of the axis */
	bool octaves;	 /* the axis is a logarithm to base 2 */
	size_t n;
	struct series {
		const char *name;
		double x[OCTAVES + BINS], y[OCTAVES + BINS], width;
		size_t n;
	} series[SERIES];
};

static double x_of(const struct drawing *d, double x)
{
	double v = (x - d->from) / (d->to - d->from);
	return WIDTH * fmin(1, fmax(0, v));
}

static void axis(struct usk_output *out, const struct drawing *d)
{
	enum { TICKS = 5 };
	usk_output_format(out, "<path class=\"rule\" d=\"M0 %dH%d\"/>", HEIGHT, WIDTH);
	for (int i = 0; i < TICKS; i++) {
		double v = d->from + (d->to - d->from) * i / (TICKS - 1);
		char *label = clock_ns_text(d->octaves ? exp2(v) : v);
		usk_output_format(out, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"%s\">%s</text>",
				  x_of(d, v), HEIGHT + 16,
				  i == 0	   ? "start"
				  : i == TICKS - 1 ? "end"
						   : "middle",
				  label);
		free(label);
	}
	for (size_t k = 0; k < d->n; k++) {
		usk_output_format(out, "<text class=\"key s%zu\" x=\"%d\" y=\"%d\">", k,
				  (int)k * (WIDTH / (d->n > 4 ? (int)d->n : 4)), HEIGHT + 32);
		text(out, d->series[k].name);
		usk_output_format(out, "</text>");
	}
}

static void draw(struct usk_output *out, const struct drawing *d)
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
	usk_output_format(out, "<figure><figcaption>");
	text(out, d->title);
	usk_output_format(out,
			  "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
			  WIDTH, HEIGHT + FOOT);
	text(out, d->title);
	usk_output_format(out, "\">\n");
	for (size_t k = 0; k < d->n; k++) {
		const struct series *s = &d->series[k];
		usk_output_format(out, "<path class=\"s%zu\" d=\"", k);
		for (size_t i = 0; i < s->n; i++) {
			double y = HEIGHT - s->y[i] / most * (HEIGHT - 8);
			usk_output_format(out, "M%.1f %dV%.1fH%.1fV%dZ", x_of(d, s->x[i]), HEIGHT,
					  y, x_of(d, s->x[i] + s->width), HEIGHT);
		}
		usk_output_format(out, "\"/>\n");
	}
	axis(out, d);
	usk_output_format(out, "</svg></figure>\n");
}

/* Shares of a distribution; the axis grows so that it is all there. */
static void add_bins(struct drawing *d, const char *name, const struct figures *f)
{
	double width = f->bin_width > 0 ? f->bin_width : 1;
	struct series *s = &d->series[d->n];
	if (!f->n || d->n == SERIES) {
		return;
	}
	*s = (struct series){ .name = name, .width = width };
	for (int i = 0; i < BINS; i++) {
		if (f->bin[i]) {
			s->x[s->n] = f->bins_from + i * width;
			s->y[s->n++] = (double)f->bin[i] / (double)f->n / width;
		}
	}
	double from = f->bins_from, to = from + (f->bin_width > 0 ? BINS : 1) * width;
	d->from = d->n ? fmin(d->from, from) : from;
	d->to = d->n ? fmax(d->to, to) : to;
	d->n++;
}

static void add_octaves(struct drawing *d, const char *name, const struct figures *f)
{
	struct series *s = &d->series[d->n];
	if (!f->n || d->n == SERIES) {
		return;
	}
	*s = (struct series){ .name = name, .width = 1 };
	d->octaves = true;
	for (int i = 0; i < OCTAVES; i++) {
		if (f->octave[i]) {
			d->from = d->n || s->n ? fmin(d->from, i) : i;
			d->to = d->n || s->n ? fmax(d->to, i + 1) : i + 1;
			s->x[s->n] = i;
			s->y[s->n++] = (double)f->octave[i] / (double)f->n;
		}
	}
	d->n++;
}

/* ---- sections ------------------------------------------------------------------------------ */

static char *load_name(const struct under *u)
{
	return u->load ? usk_format("load %u", u->load) : usk_strdup("idle");
}

static void draw_steps(struct usk_output *out, const struct clock_report *r)
{
	enum { TOGETHER = 4 };
	for (size_t i = 0; i < r->n_sources; i += TOGETHER) {
		struct drawing d = { .title = "From one read of a clock to the next" };
		for (size_t k = i; k < r->n_sources && k < i + TOGETHER; k++) {
			add_octaves(&d, r->source[k].name, &r->figures[k].step);
		}
		draw(out, &d);
	}
}

static void draw_zero(struct usk_output *out, const struct under *u)
{
	char *title =
		usk_format("Zero elapsed time, load %u: as measured, and compensated", u->load);
	struct drawing d = { .title = title };
	for (int c = 0; c < COMPENSATIONS; c++) {
		add_bins(&d, compensation_name((enum compensation)c), &u->zero.net[c]);
	}
	draw(out, &d);
	free(title);
}

static void draw_wakeups(struct usk_output *out, const struct clock_report *r)
{
	char *name[SERIES];
	struct drawing d = { .title = "How late a timer of 1 ms wakes" };
	size_t n = r->n_under < SERIES ? r->n_under : SERIES;
	for (size_t i = 0; i < n; i++) {
		name[i] = load_name(&r->under[i]);
		add_octaves(&d, name[i], &r->under[i].wakeup);
	}
	draw(out, &d);
	while (n) {
		free(name[--n]);
	}
}

/* Round trips of a channel and size, by load. */
static void draw_messages(struct usk_output *out, const struct clock_report *r, enum channel c,
			  size_t size)
{
	char *name[SERIES], *title = usk_format("Round trips over a %s, %zu bytes, by load",
						channel_name(c), clock_sizes[size]);
	struct drawing d = { .title = title };
	size_t n = r->n_under < SERIES ? r->n_under : SERIES;
	for (size_t i = 0; i < n; i++) {
		name[i] = load_name(&r->under[i]);
		if (r->under[i].exchange[c][size].known) {
			add_octaves(&d, name[i], &r->under[i].exchange[c][size].rpc);
		}
	}
	draw(out, &d);
	while (n) {
		free(name[--n]);
	}
	free(title);
}

void clock_print_page(struct usk_output *out, const struct clock_report *r)
{
	usk_output_write(out, head, strlen(head));
	struct table t = clock_sources_table(r);
	write_table(out, &t);
	char *steered = clock_steered_text(r), *cores = clock_cores_text(r);
	usk_output_format(out, "<p>");
	text(out, steered);
	usk_output_format(out, "</p>\n<p>");
	text(out, cores);
	usk_output_format(out, "</p>\n");
	free(steered);
	free(cores);
	draw_steps(out, r);
	usk_output_format(out, "<h2>Zero elapsed time</h2>\n");
	t = clock_zero_table(r);
	write_table(out, &t);
	for (size_t i = 0; i < r->n_under; i++) {
		draw_zero(out, &r->under[i]);
	}
	usk_output_format(out, "<h2>Timers</h2>\n");
	draw_wakeups(out, r);
	usk_output_format(out, "<h2>Messages</h2>\n");
	t = clock_messages_table(r);
	write_table(out, &t);
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			draw_messages(out, r, (enum channel)c, k);
		}
	}
	usk_output_format(out, "</main>\n</body>\n</html>\n");
}
