/* SPDX-License-Identifier: MIT */
/* clock_histograms.c - how what was measured is spread, as bars */
#include "clock_show.h"

#include <math.h>

enum { SIDE_BY_SIDE = 3, WIDTH = 20 };

static void bar(FILE *out, uint64_t count, uint64_t n, double full, bool last)
{
	double share = n ? (double)count / (double)n : 0;
	int width = (int)lround(fmin(1, share / full) * WIDTH);
	if (count && share < 0.0005) {
		fputs("  <0.1 %", out);
	} else {
		fprintf(out, " %6.1f %%", 100 * share);
	}
	if (width || !last) {
		fprintf(out, " %.*s%*s", width, "####################", last ? 0 : WIDTH - width,
			"");
	}
}

static void heading(FILE *out, const char *what, const char *const *name, size_t n)
{
	fprintf(out, "%-22s", what);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, i + 1 < n ? "  %-*s" : "  %.*s", WIDTH + 8, name[i]);
	}
	fputc('\n', out);
}

/* A line per octave that one of them has something in. */
static void octaves(FILE *out, const struct figures *const *f, size_t n)
{
	for (int i = 0; i < OCTAVES; i++) {
		uint64_t some = 0;
		for (size_t k = 0; k < n; k++) {
			some += f[k]->octave[i];
		}
		if (!some) {
			continue;
		}
		int wide = fprintf(out, "%s to %s", clock_ns_text(i ? exp2(i) : 0).s,
				   clock_ns_text(exp2(i + 1)).s);
		fprintf(out, "%*s", wide < 22 ? 22 - wide : 0, "");
		for (size_t k = 0; k < n; k++) {
			bar(out, f[k]->octave[i], f[k]->n, 1, k + 1 == n);
		}
		fputc('\n', out);
	}
}

static void print_wakeups(FILE *out, const struct clock_report *r)
{
	for (size_t i = 0; i < r->n_under; i += SIDE_BY_SIDE) {
		const struct figures *f[SIDE_BY_SIDE];
		struct text load[SIDE_BY_SIDE];
		const char *name[SIDE_BY_SIDE];
		size_t n = 0;
		for (; n < SIDE_BY_SIDE && i + n < r->n_under; n++) {
			const struct under *u = &r->under[i + n];
			f[n] = &u->wakeup;
			load[n] = u->load ? text_of("under load of %u", u->load)
					  : (struct text){ "idle" };
			name[n] = load[n].s;
		}
		heading(out, "Timers wake late by", name, n);
		octaves(out, f, n);
	}
}

/* Two distributions of nothing on one scale, as measured and compensated (figures 12 to 15). */
static void print_zero(FILE *out, const struct under *u)
{
	enum { ROWS = 16 };
	const struct figures *f[2] = { &u->zero.net[RAW], &u->zero.net[u->zero.best] };
	double from = fmin(f[0]->bins_from, f[1]->bins_from), to = from;
	for (int k = 0; k < 2; k++) {
		to = fmax(to, f[k]->bins_from + BINS * f[k]->bin_width);
	}
	/* All of them alike: one row. */
	int rows = to > from ? ROWS : 1;
	double width = to > from ? (to - from) / ROWS : 1, most = 0, share[2][ROWS] = { { 0 } };
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < BINS; i++) {
			double at = f[k]->bins_from + (i + 0.5) * f[k]->bin_width;
			int row = (int)((at - from) / width);
			row = row < 0 ? 0 : row < rows ? row : rows - 1;
			share[k][row] += (double)f[k]->bin[i];
			most = fmax(most, share[k][row] / (double)f[k]->n);
		}
	}
	heading(out, text_of("Zero, load of %u", u->load).s,
		(const char *[]){ "as measured", compensation_name(u->zero.best) }, 2);
	for (int row = 0; row < rows; row++) {
		fprintf(out, "from %-17s", clock_ns_text(from + row * width).s);
		for (int k = 0; k < 2; k++) {
			bar(out, (uint64_t)share[k][row], f[k]->n, most > 0 ? most : 1, k == 1);
		}
		fputc('\n', out);
	}
}

static void print_steps(FILE *out, const struct clock_report *r)
{
	for (size_t i = 0; i < r->n_sources; i += SIDE_BY_SIDE) {
		const struct figures *f[SIDE_BY_SIDE];
		const char *name[SIDE_BY_SIDE];
		size_t n = 0;
		for (; n < SIDE_BY_SIDE && i + n < r->n_sources; n++) {
			f[n] = &r->figures[i + n].step;
			name[n] = r->source[i + n].name;
		}
		heading(out, "From read to read", name, n);
		octaves(out, f, n);
	}
}

void clock_print_histograms(FILE *out, const struct clock_report *r)
{
	print_wakeups(out, r);
	if (!r->histograms) {
		return;
	}
	for (size_t i = 0; i < r->n_under; i++) {
		fputc('\n', out);
		print_zero(out, &r->under[i]);
	}
	fputc('\n', out);
	print_steps(out, r);
}
