/* SPDX-License-Identifier: MIT */
/* clock_print.c - this machine's clocks, for people: tables, and how values are spread, as bars */
#include "clock_show.h"

#include <math.h>
#include <stdlib.h>

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

/* A distribution, and what it is called above its bars. */
struct column {
	struct text name;
	const struct figures *f;
};

static void heading(FILE *out, const char *what, const struct column *c, size_t n)
{
	fprintf(out, "%-22s", what);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, i + 1 < n ? "  %-*s" : "  %.*s", WIDTH + 8, c[i].name.s);
	}
	fputc('\n', out);
}

/* A line per octave that one of them has something in. */
static void octaves(FILE *out, const struct column *c, size_t n)
{
	for (int i = 0; i < OCTAVES; i++) {
		uint64_t some = 0;
		for (size_t k = 0; k < n; k++) {
			some += c[k].f->octave[i];
		}
		if (!some) {
			continue;
		}
		int wide = fprintf(out, "%s to %s", clock_ns_text(i ? exp2(i) : 0).s,
				   clock_ns_text(exp2(i + 1)).s);
		fprintf(out, "%*s", wide < 22 ? 22 - wide : 0, "");
		for (size_t k = 0; k < n; k++) {
			bar(out, c[k].f->octave[i], c[k].f->n, 1, k + 1 == n);
		}
		fputc('\n', out);
	}
}

static void print_columns(FILE *out, const char *what, const struct column *c, size_t n)
{
	for (size_t m; n; c += m, n -= m) {
		m = n < SIDE_BY_SIDE ? n : SIDE_BY_SIDE;
		heading(out, what, c, m);
		octaves(out, c, m);
	}
}

/* Two distributions of nothing on one scale, as measured and compensated (figures 12 to 15). */
static void print_zero(FILE *out, const struct under *u)
{
	enum { ROWS = 16 };
	const struct column c[2] = {
		{ { "as measured" }, &u->zero.row[RAW].net },
		{ text_of("%s", compensation_name(u->zero.best)), &u->zero.row[u->zero.best].net },
	};
	double from = fmin(c[0].f->bins_from, c[1].f->bins_from), to = from;
	for (int k = 0; k < 2; k++) {
		to = fmax(to, c[k].f->bins_from + BINS * c[k].f->bin_width);
	}
	/* All of them alike: one row. */
	int rows = to > from ? ROWS : 1;
	double width = to > from ? (to - from) / ROWS : 1, most = 0, share[2][ROWS] = { { 0 } };
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < BINS; i++) {
			double at = c[k].f->bins_from + (i + 0.5) * c[k].f->bin_width;
			int row = (int)((at - from) / width);
			row = row < 0 ? 0 : row < rows ? row : rows - 1;
			share[k][row] += (double)c[k].f->bin[i];
			most = fmax(most, share[k][row] / (double)c[k].f->n);
		}
	}
	heading(out, text_of("Zero, load of %u", u->load).s, c, 2);
	for (int row = 0; row < rows; row++) {
		fprintf(out, "from %-17s", clock_ns_text(from + row * width).s);
		for (int k = 0; k < 2; k++) {
			bar(out, (uint64_t)share[k][row], c[k].f->n, most > 0 ? most : 1, k == 1);
		}
		fputc('\n', out);
	}
}

static void print_histograms(FILE *out, const struct clock_report *r)
{
	struct column late[LOADS_MAX], step[SOURCES_MAX];
	for (size_t i = 0; i < r->n_under; i++) {
		const struct under *u = &r->under[i];
		late[i].f = &u->wakeup;
		late[i].name =
			u->load ? text_of("under load of %u", u->load) : (struct text){ "idle" };
	}
	print_columns(out, "Timers wake late by", late, r->n_under);
	if (!r->histograms) {
		return;
	}
	for (size_t i = 0; i < r->n_under; i++) {
		fputc('\n', out);
		print_zero(out, &r->under[i]);
	}
	fputc('\n', out);
	for (size_t i = 0; i < r->n_sources; i++) {
		step[i] = (struct column){ text_of("%s", r->source[i].name), &r->figures[i].step };
	}
	print_columns(out, "From read to read", step, r->n_sources);
}

const size_t clock_sizes[SIZES] = { 1, 1024, 16384 };

/* Three significant digits; sub-nanosecond figures are worth showing here. */
struct text clock_ns_text(double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	size_t u = 0;
	if (!isfinite(ns)) {
		return (struct text){ "-" };
	}
	double v = ns;
	while (fabs(v) >= 999.5 && u + 1 < COUNT(unit)) {
		v /= 1000;
		u++;
	}
	int digits = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
	return text_of("%.*f %s", digits, v, unit[u]);
}

static void cell_number(struct table *t, double v, int digits)
{
	if (isfinite(v)) {
		table_add(t, "%.*f", digits, v);
	} else {
		table_add(t, "-");
	}
}

/* No digit that the error does not allow. */
static void cell_drift(struct table *t, const struct source_figures *f)
{
	double e = f->drift_error_ppm;
	int digits = e < 0.1 ? 3 : e < 1 ? 2 : e < 10 ? 1 : 0;
	double drift = fabs(f->drift_ppm) < 0.5 * pow(10, -digits) ? 0 : f->drift_ppm;
	if (f->hz > 0) {
		table_add(t, "%.6f MHz", f->hz / 1e6);
	} else if (isfinite(f->drift_ppm)) {
		table_add(t, "%.*f +- %.*f", digits, drift, digits, e);
	} else {
		table_add(t, "reference");
	}
}

struct table clock_sources_table(const struct clock_report *r)
{
	struct table t = table_begin(
		"clock\t>a read\t>smallest step\t>repeats, %%\t>back\t>between cores\t>drift, ppm");
	for (size_t i = 0; i < r->n_sources; i++) {
		const struct source_figures *f = &r->figures[i];
		table_cell(&t, r->source[i].name);
		table_add(&t, "%s\t%s", clock_ns_text(f->cost_ns).s,
			  clock_ns_text(f->resolution_ns).s);
		cell_number(&t, 100 * f->repeats, 1);
		table_add(&t, "%s\t%s", unit_count(f->backwards).s,
			  f->turns ? unit_count(f->turns_backwards).s : "-");
		cell_drift(&t, f);
	}
	return t;
}

char *clock_steered_text(const struct clock_report *r)
{
	const struct discipline *d = &r->discipline;
	if (!d->known) {
		return usk_strdup("How the kernel steers realtime is not to be learnt here.");
	}
	return usk_format("realtime is %s: steered by %+.3f ppm, estimated error %s, at most %s; "
			  "TAI - UTC %d s.",
			  d->synchronised ? "synchronised" : "not synchronised", d->frequency_ppm,
			  clock_ns_text(d->error_ns).s, clock_ns_text(d->max_error_ns).s, d->tai_s);
}

char *clock_cores_text(const struct clock_report *r)
{
	double fast = INFINITY, slow = 0;
	for (size_t i = 0; i < r->n_cores; i++) {
		fast = fmin(fast, r->core[i].work_ns);
		slow = fmax(slow, r->core[i].work_ns);
	}
	return usk_format("Same work on each of %zu cores: the slowest takes %.1f %% longer than "
			  "the fastest.",
			  r->n_cores, 100 * (slow / fast - 1));
}

static double percent(uint64_t kept, uint64_t runs)
{
	return runs ? 100 * (double)kept / (double)runs : NAN;
}

struct table clock_zero_table(const struct clock_report *r)
{
	struct table t = table_begin("zero, measured\t>load\t>kept, %%\t>mean\t>trimmed\t>deviation"
				     "\t>k\t>k trimmed\t>k'\t>predicted");
	for (size_t i = 0; i < r->n_under; i++) {
		for (int c = 0; c < COMPENSATIONS; c++) {
			const struct zero_row *z = &r->under[i].zero.row[c];
			table_add(&t, "%s\t%u", compensation_name((enum compensation)c),
				  r->under[i].load);
			cell_number(&t, percent(z->kept, z->runs), 1);
			table_add(&t, "%s\t%s\t%s", clock_ns_text(z->net.mean).s,
				  clock_ns_text(z->net.trimmed).s,
				  clock_ns_text(z->net.deviation).s);
			cell_number(&t, z->k, 2);
			cell_number(&t, z->k_calm, 2);
			cell_number(&t, z->k1, 2);
			cell_number(&t, z->predicted, 2);
		}
	}
	return t;
}

static void row_of_messages(struct table *t, const struct under *u, enum channel c, size_t k)
{
	const struct exchange_figures *e = &u->exchange[c][k];
	if (!e->known) {
		return;
	}
	const struct zero_row *z = &e->zero.row[e->how];
	table_add(t, "%s\t%s\t%s", channel_name(c), unit_count(clock_sizes[k]).s,
		  unit_count(u->load).s);
	cell_number(t, percent(e->rpc_kept, e->runs), 1);
	table_add(t, "%s\t%s\t%s\t%s\t%s\t%s", clock_ns_text(e->rpc.median).s,
		  clock_ns_text(e->rpc.p99).s, clock_ns_text(e->latency.median).s,
		  clock_ns_text(e->latency.p99).s, compensation_name(e->how),
		  clock_ns_text(z->net.trimmed).s);
	cell_number(t, z->k_calm, 2);
}

struct table clock_messages_table(const struct clock_report *r)
{
	struct table t = table_begin(
		"messages\t>bytes\t>load\t>kept, %%\t>round trip\t>p99\t>one way\t>p99\tnet "
		"by\t>zero\t>k");
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			for (size_t i = 0; i < r->n_under; i++) {
				row_of_messages(&t, &r->under[i], (enum channel)c, k);
			}
		}
	}
	return t;
}

double clock_uncertainty(const struct under *u)
{
	const struct zero_row *z = &u->zero.row[METHOD_1];
	return sqrt(z->k1) * z->net.deviation;
}

/* How long a counter of so many bits runs at a tick of so many ns. */
static void cell_range(struct table *t, double tick_ns, int bits)
{
	table_cell(t, clock_ns_text(exp2(bits) * tick_ns).s);
}

struct table clock_ticks_table(const struct clock_report *r)
{
	struct table t = table_begin(
		"tick\t>load\t>two reads vary by\t>tick that suits\t>16 bits last\t>32 bits last");
	for (size_t i = 0; i < r->n_under; i++) {
		double uncertain = clock_uncertainty(&r->under[i]), tick = tick_for(uncertain);
		table_add(&t, "%s\t%u\t%s\t%s", r->source[r->which].name, r->under[i].load,
			  clock_ns_text(uncertain).s,
			  tick > 0 ? clock_ns_text(tick).s : "under 1 ns");
		cell_range(&t, tick > 0 ? tick : NAN, 16);
		cell_range(&t, tick > 0 ? tick : NAN, 32);
	}
	return t;
}

/* Are they what his analysis takes for granted? Of n runs without any correlation one is within
 * 3 / sqrt(n) of 0, nearly always. */
static const char *non_negative(const struct zero_row *z)
{
	double least = fmin(fmin(z->rho[0], z->rho[1]), fmin(z->rho[2], z->rho_next));
	bool known = isfinite(z->rho[0]) && isfinite(z->rho[1]) && isfinite(z->rho[2]) &&
		     isfinite(z->rho_next);
	return !known				     ? "-"
	       : least >= 0			     ? "yes"
	       : least >= -3 / sqrt((double)z->kept) ? "within noise"
						     : "no";
}

struct table clock_correlations_table(const struct clock_report *r)
{
	struct table t = table_begin("correlations\t>load\t>T_1 and T_m\t>T_m and T_4\t>T_1 and "
				     "T_4\t>T_1 and the next\tnon-negative");
	for (size_t i = 0; i < r->n_under; i++) {
		for (int c = METHOD_1; c < COMPENSATIONS; c++) {
			const struct zero_row *z = &r->under[i].zero.row[c];
			table_add(&t, "%s\t%u", compensation_name((enum compensation)c),
				  r->under[i].load);
			for (int k = 0; k < 3; k++) {
				cell_number(&t, z->rho[k], 2);
			}
			cell_number(&t, z->rho_next, 2);
			table_cell(&t, non_negative(z));
		}
	}
	return t;
}

struct table clock_routines_table(const struct clock_report *r)
{
	struct table t =
		table_begin("two words\t>load\t>words\t>mean\t>trimmed\t>deviation\t>wrong, "
			    "as printed\t>hardened");
	for (int k = 0; k < ROUTINES; k++) {
		for (size_t i = 0; i < r->n_under; i++) {
			const struct routine_figures *f = &r->under[i].routine[k];
			if (!r->under[i].has_routines) {
				continue;
			}
			table_add(&t, "%s\t%u", routine_name((enum counter_routine)k),
				  r->under[i].load);
			cell_number(&t, f->words, 2);
			table_add(&t, "%s\t%s\t%s\t%s\t%s", clock_ns_text(f->took.mean).s,
				  clock_ns_text(f->took.trimmed).s,
				  clock_ns_text(f->took.deviation).s,
				  unit_count(f->wrong[AS_PRINTED]).s,
				  unit_count(f->wrong[HARDENED]).s);
		}
	}
	return t;
}

double clock_per_word(const struct under *u, enum channel c, bool one_way)
{
	enum { WORD = 8 };
	double words[SIZES], ns[SIZES];
	for (size_t k = 0; k < SIZES; k++) {
		const struct exchange_figures *e = &u->exchange[c][k];
		words[k] = (double)clock_sizes[k] / WORD;
		ns[k] = !e->known ? NAN : one_way ? e->latency.median : e->rpc.median;
	}
	return samples_slope(words, ns, SIZES);
}

struct table clock_words_table(const struct clock_report *r)
{
	struct table t = table_begin("a word more\t>load\t>round trip\t>one way");
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t i = 0; i < r->n_under; i++) {
			const struct under *u = &r->under[i];
			table_add(&t, "%s\t%u\t%s\t%s", channel_name((enum channel)c), u->load,
				  clock_ns_text(clock_per_word(u, (enum channel)c, false)).s,
				  clock_ns_text(clock_per_word(u, (enum channel)c, true)).s);
		}
	}
	return t;
}

static void print_zero_tables(FILE *out, const struct clock_report *r)
{
	struct table zero = clock_zero_table(r), rho = clock_correlations_table(r);
	struct table ticks = clock_ticks_table(r), routines = clock_routines_table(r);
	table_print(out, &zero);
	fprintf(out,
		"\nZero elapsed time by %s. Kept: runs whose reads nothing split, and with "
		"method-2 those with a\npair of reads nearby; \"-\" where they are too few. "
		"Trimmed: without 1 %% at either end. k: variance raw\nover variance net; k "
		"trimmed: without runs of which one read is in the longest 1 %%; k': variance of "
		"a\nread over variance net; predicted: k and k', by the reads' correlations.\n\n",
		r->source[r->which].name);
	table_print(out, &rho);
	fputs("\nT_1 and T_4: what two reads took before and after T_m, which is zero elapsed "
	      "time; the next: of the\nnext run. Compensation takes for granted that none is "
	      "negative; within noise: under 3 / sqrt(kept).\n\n",
	      out);
	table_print(out, &ticks);
	fputs("\nA tick that suits is commensurate with the uncertainty: a longer one loses "
	      "accuracy, a shorter one range.\n\n",
	      out);
	table_print(out, &routines);
	fputs("\nThe clock's lowest 32 bits, read by words of 16: how long a value takes, and in "
	      "how many pairs of values\none was never shown by the clock, by the routines as "
	      "printed and as hardened.\n\n",
	      out);
}

void clock_print(FILE *out, const struct clock_report *r)
{
	struct table clocks = clock_sources_table(r), messages = clock_messages_table(r);
	struct table words = clock_words_table(r);
	const char *steered = kept(clock_steered_text(r)), *cores = kept(clock_cores_text(r));
	table_print(out, &clocks);
	fprintf(out,
		"\nBack: reads that show less than the read before on one core; between cores: "
		"less than what\nanother core had read before. Drift against monotonic_raw, over "
		"%g s.\n%s\n%s\n\n",
		r->seconds, steered, cores);
	print_zero_tables(out, r);
	table_print(out, &messages);
	fputs("\nLoad: as many pairs more that do the same. Kept: of round trips. Zero: what the "
	      "same run measured of\nno time at all, and k, both trimmed.\n\n",
	      out);
	table_print(out, &words);
	fputs("\nBy how much 8 bytes more lengthen it: the slope of the medians over the size.\n\n",
	      out);
	print_histograms(out, r);
}
