/* SPDX-License-Identifier: MIT */
/*
 * clock_drift.c - by how much rates change, over hours: `unskew clock --drift` and --drift-of
 *
 * In    this machine's clocks for so long, with and without load by turns; or a table of exchanges
 *       between two machines
 * Out   a row a clock: least and largest rate, their difference, what of it is certain; JSON with
 *       the rate of every period
 * Why   line, probe and convert --exchange take for granted that a rate changes by 1 ppm at most
 * Not   rates and their errors (src/clock/drift.c)
 *
 * Source  Loeser 2003, section 3.2.3
 */
#include "clock_show.h"
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct drifts {
	const char *against;
	size_t n;
	struct drifting {
		const char *name;
		const struct source *source; /* NULL: of a table */
		struct drift drift;
	} clock[SOURCES_MAX];
};

/* ---- this machine's --------------------------------------------------------------------- */

/* Coarse ones step by ms, which is a thousand times what a rate changes by in a period. */
static bool fine(const struct source *s)
{
	struct timespec step;
	const bool counter = !(s->ns_per_tick > 0);
	return counter || (!clock_getres(s->id, &step) && !step.tv_sec && step.tv_nsec <= 1000);
}

static void add_moment(struct drifts *d, const struct source *raw, unsigned load)
{
	enum { TRIES = 100 };
	for (size_t i = 0; i < d->n; i++) {
		struct bracket b = source_bracket(d->clock[i].source, raw, TRIES);
		drift_add(&d->clock[i].drift, &b, load);
	}
}

/* Every second period under load, as the rate of a quartz depends on how warm it is. */
static void watch(const struct args *args, struct drifts *d, const struct source *raw,
		  unsigned load)
{
	int64_t total_ns = args_int(args, "drift"), period_ns = args_int(args, "period");
	struct pollfd stop = { .fd = end_signals(), .events = POLLIN };
	const struct timespec period = { period_ns / 1000000000, period_ns % 1000000000 };
	int64_t start = usk_clock_ns(CLOCK_MONOTONIC);
	bool stopped = false;
	add_moment(d, raw, 0);
	progress_start(args);
	for (int64_t gone = 0, k = 0; !stopped && gone + period_ns <= total_ns; k++) {
		const struct load_plan plan = { .n = k & 1 ? load : 0, .source = raw };
		struct load *others = load_start(&plan);
		progress_show(NULL, (double)gone / (double)total_ns, "rates");
		stopped = ppoll(&stop, 1, &period, NULL) > 0;
		load_stop(others);
		add_moment(d, raw, plan.n);
		gone = usk_clock_ns(CLOCK_MONOTONIC) - start;
	}
	progress_end();
}

/* ---- a table of exchanges ----------------------------------------------------------------- */

#define EXCHANGES_HEAD "a,b,t1_ns,t2_ns,t3_ns,t4_ns"

/* One row; the clocks' names in name[2]. */
static bool read_row(char *line, const char *name[2], struct bracket *b)
{
	int64_t third;
	char *rest = line;
	name[0] = strsep(&rest, ",");
	name[1] = strsep(&rest, ",");
	return rest && sscanf(rest, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &b->before,
			      &b->time, &third, &b->after) == 4;
}

static void read_exchanges(const char *path, int64_t period_ns, struct drifts *d)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	struct drifting *c = d->clock;
	if (!in) {
		say_failed("%s: cannot be opened: %s", path, strerror(errno));
	}
	if (getline(&line, &size, in) < 0 ||
	    strncmp(line, EXCHANGES_HEAD, strlen(EXCHANGES_HEAD)) != 0) {
		say_failed("%s: is no table of exchanges: it does not begin with " EXCHANGES_HEAD,
			   path);
	}
	for (uint64_t row = 2; getline(&line, &size, in) > 0; row++) {
		const char *name[2];
		struct bracket b;
		if (!read_row(line, name, &b)) {
			say_failed("%s: line %" PRIu64 ": is no exchange", path, row);
		}
		if (!d->n++) {
			d->against = kept(usk_strdup(name[0]));
			c->name = kept(usk_strdup(name[1]));
			c->drift.ns_per_tick = 1;
		}
		if (strcmp(d->against, name[0]) != 0 || strcmp(c->name, name[1]) != 0) {
			say_failed("%s: line %" PRIu64 ": is of other clocks than the first", path,
				   row);
		}
		if (!c->drift.n_moments || b.before - c->drift.last.before >= period_ns) {
			drift_add(&c->drift, &b, 0);
		}
	}
	free(line);
	fclose(in);
	if (!c->drift.n) {
		say_failed("%s: no two of its exchanges lie %s apart, which is --period", path,
			   unit_span(period_ns).s);
	}
	d->n = 1;
}

/* ---- what was seen -------------------------------------------------------------------------- */

/* A rate changes by no more than is taken for granted. */
static const char *within(const struct drift *d, const struct drift_figures *f,
			  double allowance_ppm)
{
	double most = f->change_ppm + f->least.error_ppm + f->most.error_ppm;
	return d->n < 2				? "unknown"
	       : f->certain_ppm > allowance_ppm ? "no"
	       : most <= allowance_ppm		? "yes"
						: "unknown";
}

static void ppm_cell(struct table *t, double ppm)
{
	if (isfinite(ppm)) {
		table_add(t, "%.4f", ppm);
	} else {
		table_add(t, "-");
	}
}

static void print_table(const struct drifts *d, double allowance_ppm)
{
	struct table t = table_begin("clock\t>periods\t>mean, ppm\t>least\t>largest\t>change\t>"
				     "certain\twithin %g ppm",
				     allowance_ppm);
	double seconds = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct drift *drift = &d->clock[i].drift;
		struct drift_figures f = drift_figures(drift);
		table_add(&t, "%s\t%zu", d->clock[i].name, drift->n);
		ppm_cell(&t, f.mean_ppm);
		ppm_cell(&t, f.least.ppm);
		ppm_cell(&t, f.most.ppm);
		ppm_cell(&t, f.change_ppm);
		ppm_cell(&t, f.certain_ppm);
		table_cell(&t, within(drift, &f, allowance_ppm));
		seconds = drift->n ? drift->rate[drift->n - 1].at_s : 0;
	}
	table_print(stdout, &t);
	printf("\nRates against %s over %.0f s, in parts per million: positive runs fast. Change: "
	       "the largest less the\nleast; certain: without what their errors may account for.\n",
	       d->against, seconds);
}

static void print_json(const struct drifts *d, double allowance_ppm)
{
	json_t *clocks = json_array();
	for (size_t i = 0; i < d->n; i++) {
		const struct drift *drift = &d->clock[i].drift;
		struct drift_figures f = drift_figures(drift);
		json_t *rates = json_array();
		for (size_t k = 0; k < drift->n; k++) {
			const struct rate *r = &drift->rate[k];
			json_array_append_new(rates, json_pack("{s:f,s:i,s:f,s:f}", "at_s", r->at_s,
							       "load", (int)r->load, "ppm", r->ppm,
							       "error_ppm", r->error_ppm));
		}
		json_array_append_new(clocks,
				      json_pack("{s:o,s:o,s:o,s:o,s:s,s:o}", "name",
						json_shown(d->clock[i].name), "mean_ppm",
						json_number(f.mean_ppm), "change_ppm",
						json_number(f.change_ppm), "certain_ppm",
						json_number(f.certain_ppm), "within_allowance",
						within(drift, &f, allowance_ppm), "rates", rates));
	}
	json_print(stdout,
		   json_pack("{s:i,s:o,s:f,s:o}", "unskew_drift", 1, "against",
			     json_shown(d->against), "allowance_ppm", allowance_ppm, "clocks",
			     clocks),
		   JSON_INDENT(2));
}

int clock_watch_drift(const struct args *args, unsigned load)
{
	static struct source source[SOURCES_MAX];
	static struct drifts d;
	const char *table = args_string(args, "drift-of");
	double allowance = (double)args_int(args, "allowance-ppm") / 1e6;
	if (table) {
		read_exchanges(table, args_int(args, "period"), &d);
	} else {
		size_t n = sources_open(source);
		d.against = source[0].name;
		for (size_t i = 1; i < n; i++) {
			if (fine(&source[i])) {
				d.clock[d.n++] = (struct drifting){
					source[i].name,
					&source[i],
					{ .ns_per_tick = source[i].ns_per_tick },
				};
			}
		}
		watch(args, &d, &source[0], load);
	}
	(args_flag(args, "json") ? print_json : print_table)(&d, allowance);
	for (size_t i = 0; i < d.n; i++) {
		drift_free(&d.clock[i].drift);
	}
	return EXIT_DONE;
}
