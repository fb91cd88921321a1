/* SPDX-License-Identifier: MIT */
/*
 * This machine's clocks, whatever they are; and zero elapsed time by them (Kong 1986, section 4.4):
 * the compensated mean is near zero.
 *
 * A machine that does other things at the same time can spoil a measurement, so the best of some
 * counts: what is wrong is wrong each time.
 */
#include "clock/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Clocks that run, a raw one first, which does not step back on one core. */
static bool clocks_run(struct source *s, size_t n)
{
	struct source_figures f[SOURCES_MAX];
	sources_measure(s, n, 0.01, f);
	bool good = n >= 3 && !strcmp(s[0].name, "monotonic_raw") && !f[0].backwards &&
		    isnan(f[0].drift_ppm);
	for (size_t i = 0; i < n; i++) {
		good = good && f[i].cost_ns > 0 && f[i].step.n && f[i].repeats <= 1 &&
		       (f[i].hz > 0) == (s[i].read != s[0].read);
	}
	return good;
}

int main(void)
{
	enum { TRIES = 10 };
	const double near_ns = 20;
	struct source s[SOURCES_MAX];
	size_t n = sources_open(s);
	double best[COMPENSATIONS];
	if (!clocks_run(s, n)) {
		puts("the clocks of this machine are not what clocks are");
		return 1;
	}
	for (int c = 0; c < COMPENSATIONS; c++) {
		best[c] = INFINITY;
	}
	for (int i = 0; i < TRIES && !(best[METHOD_1] < near_ns && best[LONG_TERM] < near_ns);
	     i++) {
		struct zero z;
		zero_measure(&s[0], 20000, &z);
		for (int c = 0; c < COMPENSATIONS; c++) {
			printf("%-9s mean %.2f ns, trimmed %.2f ns, deviation %.2f ns, k %.2f, k' "
			       "%.2f\n",
			       compensation_name((enum compensation)c), z.net[c].mean,
			       z.net[c].trimmed, z.net[c].deviation, z.k[c], z.k1[c]);
			best[c] = fmin(best[c], fabs(z.net[c].trimmed));
		}
	}
	sources_close(s, n);
	return !(best[METHOD_1] < near_ns && best[LONG_TERM] < near_ns);
}
