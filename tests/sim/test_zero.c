/* SPDX-License-Identifier: MIT */
/*
 * This machine's clocks, whatever they are; and zero elapsed time by them (Kong 1986, sections 4.4
 * and 4.5): the compensated mean is within 20 % of what a read costs, with and without load.
 *
 * A machine that does other things at the same time can spoil a measurement, so the best of some
 * counts: what is wrong is wrong each time.
 */
#include "clock/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Clocks that run, a raw one first, which does not step back on one core. */
static bool clocks_run(struct source *s, size_t n, double *cost_ns)
{
	struct source_figures f[SOURCES_MAX];
	sources_measure(s, n, 0.01, f);
	*cost_ns = f[0].cost_ns;
	bool good = n >= 3 && !strcmp(s[0].name, "monotonic_raw") && !f[0].backwards &&
		    isnan(f[0].drift_ppm);
	for (size_t i = 0; i < n; i++) {
		good = good && f[i].cost_ns > 0 && f[i].step.n && f[i].repeats <= 1 &&
		       (f[i].hz > 0) == (s[i].read != s[0].read);
	}
	return good;
}

/* All compensations of nothing, with and without others that read the same clock. */
static void measure(const struct source *s, unsigned readers, double best[COMPENSATIONS])
{
	const struct load_plan others = { .work = WORK_READ, .n = readers, .source = s };
	struct load *load = load_start(&others);
	struct zero z;
	zero_measure(s, 5000, &z);
	load_stop(load);
	for (int c = 0; c < COMPENSATIONS; c++) {
		const struct zero_row *row = &z.row[c];
		printf("load %u, %-9s kept %5.1f %%, mean %.2f ns, trimmed %.2f ns, deviation "
		       "%.2f ns, k %.2f, k' %.2f\n",
		       readers, compensation_name((enum compensation)c),
		       100 * (double)row->kept / (double)row->runs, row->net.mean, row->net.trimmed,
		       row->net.deviation, row->k, row->k1);
		best[c] = fmin(best[c], fabs(row->net.trimmed));
	}
}

/* Of a read's cost at most, so far off is nothing; method II needs a second processor. */
static bool near_zero(const struct source *s, unsigned readers, double cost_ns)
{
	enum { TRIES = 10 };
	int cpu[CPUS_MAX];
	int last = cpus_usable(cpu) > 1 ? METHOD_2 : METHOD_1;
	double best[COMPENSATIONS] = { INFINITY, INFINITY, INFINITY, INFINITY };
	bool good = false;
	for (int i = 0; i < TRIES && !good; i++) {
		measure(s, readers, best);
		good = true;
		for (int c = LONG_TERM; c <= last; c++) {
			good = good && best[c] < 0.2 * cost_ns;
		}
	}
	return good;
}

int main(void)
{
	struct source s[SOURCES_MAX];
	size_t n = sources_open(s);
	double cost_ns = 0;
	bool good = clocks_run(s, n, &cost_ns);
	if (!good) {
		puts("the clocks of this machine are not what clocks are");
	}
	good = good && near_zero(s, 0, cost_ns) && near_zero(s, 2, cost_ns);
	sources_close(s, n);
	return !good;
}
