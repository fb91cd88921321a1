/* SPDX-License-Identifier: MIT */
/* clock_print.c - this machine's clocks, for people */
#include "clock_show.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>

const size_t clock_sizes[SIZES] = { 1, 1024, 16384 };

/* Three significant digits; sub-nanosecond figures are worth showing here. */
char *clock_ns_text(double ns)
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
	table_own(t, clock_ns_text(ns));
}

static void cell_number(struct table *t, double v, int digits)
{
	table_own(t, isfinite(v) ? usk_format("%.*f", digits, v) : usk_strdup("-"));
}

/* No digit that the error does not allow. */
static char *drift_text(const struct source_figures *f)
{
	double e = f->drift_error_ppm;
	int digits = e < 0.1 ? 3 : e < 1 ? 2 : e < 10 ? 1 : 0;
	double drift = fabs(f->drift_ppm) < 0.5 * pow(10, -digits) ? 0 : f->drift_ppm;
	return usk_format("%.*f +- %.*f", digits, drift, digits, e);
}

struct table clock_sources_table(const struct clock_report *r)
{
	static const char *const heading[] = { "clock",	     "a read", "smallest step",
					       "repeats, %", "back",   "between cores",
					       "drift, ppm" };
	static const bool right[] = { false, true, true, true, true, true, true };
	struct table t = table_begin(heading, right, COUNT(heading));
	for (size_t i = 0; i < r->n_sources; i++) {
		const struct source_figures *f = &r->figures[i];
		char text[UNIT_TEXT];
		table_cell(&t, r->source[i].name);
		cell_ns(&t, f->cost_ns);
		cell_ns(&t, f->resolution_ns);
		cell_number(&t, 100 * f->repeats, 1);
		table_count(&t, f->backwards);
		table_cell(&t, f->turns ? unit_count(f->turns_backwards, text) : "-");
		table_own(&t, f->hz > 0		       ? usk_format("%.6f MHz", f->hz / 1e6)
			      : isfinite(f->drift_ppm) ? drift_text(f)
						       : usk_strdup("reference"));
	}
	return t;
}

char *clock_steered_text(const struct clock_report *r)
{
	const struct discipline *d = &r->discipline;
	if (!d->known) {
		return usk_strdup("How the kernel steers realtime is not to be learnt here.");
	}
	char *error = clock_ns_text(d->error_ns), *most = clock_ns_text(d->max_error_ns);
	char *out =
		usk_format("realtime is %s: steered by %+.3f ppm, estimated error %s, at most %s; "
			   "TAI - UTC %d s.",
			   d->synchronised ? "synchronised" : "not synchronised", d->frequency_ppm,
			   error, most, d->tai_s);
	free(error);
	free(most);
	return out;
}

char *clock_cores_text(const struct clock_report *r)
{
	double fast = INFINITY, slow = 0;
	for (size_t i = 0; i < r->n_cores; i++) {
		fast = fmin(fast, r->core[i].work_ns);
		slow = fmax(slow, r->core[i].work_ns);
	}
	return usk_format(
		"Same work on each of %zu cores: the slowest takes %.1f %% longer than the "
		"fastest.",
		r->n_cores, 100 * (slow / fast - 1));
}

static void print_sources(FILE *out, const struct clock_report *r)
{
	struct table t = clock_sources_table(r);
	table_print(out, &t);
	fprintf(out,
		"\nBack: reads that show less than the read before on one core; between cores: "
		"less than what\nanother core had read before. Drift against monotonic_raw, over "
		"%g s.\n",
		r->seconds);
	char *steered = clock_steered_text(r), *cores = clock_cores_text(r);
	fprintf(out, "%s\n%s\n", steered, cores);
	free(steered);
	free(cores);
}

struct table clock_zero_table(const struct clock_report *r)
{
	static const char *const heading[] = { "zero, measured", "load",      "mean",
					       "trimmed",	 "deviation", "k",
					       "k trimmed",	 "k'",	      "predicted" };
	static const bool right[] = { false, true, true, true, true, true, true, true, true };
	struct table t = table_begin(heading, right, COUNT(heading));
	for (size_t i = 0; i < r->n_under; i++) {
		const struct zero *z = &r->under[i].zero;
		for (int c = 0; c < COMPENSATIONS; c++) {
			table_cell(&t, compensation_name((enum compensation)c));
			table_own(&t, usk_format("%u", r->under[i].load));
			cell_ns(&t, z->net[c].mean);
			cell_ns(&t, z->net[c].trimmed);
			cell_ns(&t, z->net[c].deviation);
			cell_number(&t, z->k[c], 2);
			cell_number(&t, z->k_calm[c], 2);
			cell_number(&t, z->k1[c], 2);
			cell_number(&t, z->predicted[c], 2);
		}
	}
	return t;
}

static void print_zero(FILE *out, const struct clock_report *r)
{
	struct table t = clock_zero_table(r);
	table_print(out, &t);
	fprintf(out,
		"\nZero elapsed time by %s; trimmed: without 1 %% at either end. k: variance raw "
		"over variance\nnet; k trimmed: without runs of which one read is in the longest 1 "
		"%%; k': variance of a read over\nvariance net; predicted: k and k', by the reads' "
		"correlations.\n",
		r->source[r->which].name);
}

static void row_of_messages(struct table *t, const struct under *u, enum channel c, size_t k)
{
	const struct exchange_figures *e = &u->exchange[c][k];
	if (!e->known) {
		return;
	}
	table_cell(t, channel_name(c));
	table_count(t, clock_sizes[k]);
	table_count(t, u->load);
	cell_ns(t, e->rpc.median);
	cell_ns(t, e->rpc.p99);
	cell_ns(t, e->latency.median);
	cell_ns(t, e->latency.p99);
	table_cell(t, compensation_name(e->how));
	cell_ns(t, e->zero.net[e->how].trimmed);
	cell_number(t, e->zero.k_calm[e->how], 2);
}

struct table clock_messages_table(const struct clock_report *r)
{
	static const char *const heading[] = { "messages", "bytes", "load",   "round trip", "p99",
					       "one way",  "p99",   "net by", "zero",	    "k" };
	static const bool right[] = {
		false, true, true, true, true, true, true, false, true, true
	};
	struct table t = table_begin(heading, right, COUNT(heading));
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			for (size_t i = 0; i < r->n_under; i++) {
				row_of_messages(&t, &r->under[i], (enum channel)c, k);
			}
		}
	}
	return t;
}

static void print_messages(FILE *out, const struct clock_report *r)
{
	struct table t = clock_messages_table(r);
	table_print(out, &t);
	fputs("\nLoad: as many pairs more that do the same. Zero: what the same run measured of "
	      "no time at all,\nand k, both trimmed.\n",
	      out);
}

void clock_print(FILE *out, const struct clock_report *r)
{
	print_sources(out, r);
	fputc('\n', out);
	print_zero(out, r);
	fputc('\n', out);
	print_messages(out, r);
	fputc('\n', out);
	clock_print_histograms(out, r);
}
