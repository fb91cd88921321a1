/* SPDX-License-Identifier: MIT */
/* clock_print.c - this machine's clocks, for people */
#include "clock_show.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>

const size_t clock_sizes[SIZES] = { 1, 1024, 16384 };

/* Three significant digits; sub-nanosecond figures are worth showing here. */
static char *ns_text(double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	size_t u = 0;
	if (!isfinite(ns)) {
		return usk_strdup("-");
	}
	double v = ns;
	while (fabs(v) >= 999.5 && u + 1 < COUNT(unit)) {
		v /= 1000;
		u++;
	}
	int digits = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
	return usk_format("%.*f %s", digits, v, unit[u]);
}

static void cell_ns(struct table *t, double ns)
{
	char *text = ns_text(ns);
	table_cell(t, text);
	free(text);
}

static void cell_number(struct table *t, double v, int digits)
{
	char *text = isfinite(v) ? usk_format("%.*f", digits, v) : usk_strdup("-");
	table_cell(t, text);
	free(text);
}

static struct table begin(const char *const *heading, const bool *right, size_t n)
{
	struct table t = { .columns = n, .right = right };
	for (size_t i = 0; i < n; i++) {
		table_cell(&t, heading[i]);
	}
	return t;
}

/* No digit that the error does not allow. */
static char *drift_text(const struct source_figures *f)
{
	double e = f->drift_error_ppm;
	int digits = e < 0.1 ? 3 : e < 1 ? 2 : e < 10 ? 1 : 0;
	return usk_format("%.*f +- %.*f", digits, f->drift_ppm, digits, e);
}

static void print_sources(FILE *out, const struct clock_report *r)
{
	static const char *const heading[] = { "clock",	     "a read", "smallest step",
					       "repeats, %", "back",   "between cores",
					       "drift, ppm" };
	static const bool right[] = { false, true, true, true, true, true, true };
	struct table t = begin(heading, right, COUNT(heading));
	for (size_t i = 0; i < r->n_sources; i++) {
		const struct source_figures *f = &r->figures[i];
		char text[UNIT_TEXT];
		table_cell(&t, r->source[i].name);
		cell_ns(&t, f->cost_ns);
		cell_ns(&t, f->resolution_ns);
		cell_number(&t, 100 * f->repeats, 1);
		unit_count(f->backwards, text);
		table_cell(&t, text);
		unit_count(f->turns_backwards, text);
		table_cell(&t, f->turns ? text : "-");
		char *drift = f->hz		       ? usk_format("%.6f MHz", f->hz / 1e6)
			      : isfinite(f->drift_ppm) ? drift_text(f)
						       : usk_strdup("reference");
		table_cell(&t, drift);
		free(drift);
	}
	table_print(out, &t);
	fprintf(out,
		"\nBack: reads that show less than the read before on one core; between cores: "
		"less than what\nanother core had read before. Drift against monotonic_raw, over "
		"%g s.\n",
		r->seconds);
	const struct discipline *d = &r->discipline;
	if (!d->known) {
		fputs("How the kernel steers realtime is not to be learnt here.\n", out);
		return;
	}
	char *error = ns_text(d->error_ns), *most = ns_text(d->max_error_ns);
	fprintf(out,
		"realtime is %s: steered by %+.3f ppm, estimated error %s, at most %s; TAI - UTC "
		"%d s.\n",
		d->synchronised ? "synchronised" : "not synchronised", d->frequency_ppm, error,
		most, d->tai_s);
	free(error);
	free(most);
}

static void print_cores(FILE *out, const struct clock_report *r)
{
	double fast = INFINITY, slow = 0;
	for (size_t i = 0; i < r->n_cores; i++) {
		fast = fmin(fast, r->core[i].work_ns);
		slow = fmax(slow, r->core[i].work_ns);
	}
	fprintf(out,
		"Same work on each of %zu cores: the slowest takes %.1f %% longer than the "
		"fastest.\n",
		r->n_cores, 100 * (slow / fast - 1));
}

static void print_zero(FILE *out, const struct clock_report *r)
{
	static const char *const heading[] = { "zero, measured", "load", "mean", "trimmed",
					       "deviation",	 "k",	 "k'",	 "predicted" };
	static const bool right[] = { false, true, true, true, true, true, true, true };
	struct table t = begin(heading, right, COUNT(heading));
	for (int loaded = 0; loaded < 2; loaded++) {
		const struct zero *z = &r->under[loaded].zero;
		for (int c = 0; c < COMPENSATIONS; c++) {
			char *load = usk_format("%u", loaded ? r->load : 0);
			table_cell(&t, compensation_name((enum compensation)c));
			table_cell(&t, load);
			free(load);
			cell_ns(&t, z->net[c].mean);
			cell_ns(&t, z->net[c].trimmed);
			cell_ns(&t, z->net[c].deviation);
			cell_number(&t, z->k[c], 2);
			cell_number(&t, z->k1[c], 2);
			cell_number(&t, z->predicted[c], 2);
		}
	}
	table_print(out, &t);
	fprintf(out,
		"\nZero elapsed time by %s; trimmed: without 1 %% at either end. k: variance raw "
		"over variance\nnet; k': variance of a read over variance net; predicted: both, by "
		"the reads' correlations.\n",
		r->source[r->which].name);
}

static void print_messages(FILE *out, const struct clock_report *r)
{
	static const char *const heading[] = { "messages", "bytes",   "load", "round trip",
					       "p99",	   "one way", "p99",  "net by" };
	static const bool right[] = { false, true, true, true, true, true, true, false };
	struct table t = begin(heading, right, COUNT(heading));
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			for (int loaded = 0; loaded < 2; loaded++) {
				const struct under *u = &r->under[loaded];
				const struct exchange_figures *e = &u->exchange[c][k];
				if (!e->known) {
					continue;
				}
				char text[UNIT_TEXT];
				table_cell(&t, channel_name((enum channel)c));
				unit_count(clock_sizes[k], text);
				table_cell(&t, text);
				unit_count(loaded ? r->load : 0, text);
				table_cell(&t, text);
				cell_ns(&t, e->rpc.median);
				cell_ns(&t, e->rpc.p99);
				cell_ns(&t, e->latency.median);
				cell_ns(&t, e->latency.p99);
				table_cell(&t, compensation_name(u->used));
			}
		}
	}
	table_print(out, &t);
}

/* A line per octave that has something, as a bar. */
static void print_wakeups(FILE *out, const struct clock_report *r)
{
	enum { WIDTH = 24 };
	const struct figures *f[2] = { &r->under[0].wakeup, &r->under[1].wakeup };
	int first = OCTAVES, last = 0;
	for (int i = 0; i < OCTAVES; i++) {
		if (f[0]->octave[i] || f[1]->octave[i]) {
			first = i < first ? i : first;
			last = i;
		}
	}
	fprintf(out, "Timers wake late by     %-*s  under load of %u\n", WIDTH + 6, "idle",
		r->load);
	for (int i = first; i <= last; i++) {
		char *from = ns_text(exp2(i)), *to = ns_text(exp2(i + 1));
		char *range = usk_format("%s to %s", from, to);
		fprintf(out, "%-20s", range);
		for (int k = 0; k < 2; k++) {
			double share = (double)f[k]->octave[i] / (double)f[k]->n;
			int width = (int)lround(share * WIDTH);
			fprintf(out, "  %5.1f %% %.*s%*s", 100 * share, width,
				"########################", k ? 0 : WIDTH - width, "");
		}
		fputc('\n', out);
		free(range);
		free(from);
		free(to);
	}
}

void clock_print(FILE *out, const struct clock_report *r)
{
	print_sources(out, r);
	print_cores(out, r);
	fputc('\n', out);
	print_zero(out, r);
	fputc('\n', out);
	print_messages(out, r);
	fputc('\n', out);
	print_wakeups(out, r);
}
