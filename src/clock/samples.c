/* SPDX-License-Identifier: MIT */
/* samples.c - means, deviations, quantiles, correlations and slopes of measured times */
#include "clock/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void samples_add(struct samples *s, double v)
{
	*USK_ADD(s->v, s->n, s->cap) = v;
}

void samples_free(struct samples *s)
{
	free(s->v);
	memset(s, 0, sizeof *s);
}

/* v[n] ascends; cut of them are left out at either end. */
static void fill_bins(const double *v, size_t n, size_t cut, struct figures *f)
{
	double last = v[n - 1 - cut];
	f->bins_from = v[cut];
	f->bin_width = (last - f->bins_from) / BINS;
	for (size_t i = 0; i < n; i++) {
		double at = (v[i] - f->bins_from) / (f->bin_width > 0 ? f->bin_width : 1);
		if (v[i] >= f->bins_from && v[i] <= last) {
			f->bin[at < BINS ? (size_t)at : BINS - 1]++;
		}
	}
}

struct figures samples_figures(struct samples *s)
{
	struct figures f = { .n = s->n };
	if (!s->n) {
		f.mean = f.deviation = f.trimmed = f.min = f.median = f.p99 = f.max = NAN;
		return f;
	}
	double *v = s->v, sum = 0, square = 0, inner = 0;
	qsort(v, s->n, sizeof *v, usk_by_double);
	size_t cut = s->n / 100;
	double middle = v[s->n / 2];
	for (size_t i = 0; i < s->n; i++) {
		sum += v[i] - middle;
		square += (v[i] - middle) * (v[i] - middle);
		inner += i >= cut && i < s->n - cut ? v[i] - middle : 0;
		int octave = v[i] < 1 ? 0 : ilogb(v[i]);
		f.octave[octave < OCTAVES ? octave : OCTAVES - 1]++;
	}
	double n = (double)s->n, off = sum / n, variance = square / n - off * off;
	f.mean = middle + off;
	f.deviation = sqrt(variance > 0 ? variance : 0);
	f.trimmed = middle + inner / (double)(s->n - 2 * cut);
	f.min = v[0];
	f.median = middle;
	f.p99 = v[(s->n - 1) * 99 / 100];
	f.max = v[s->n - 1];
	fill_bins(v, s->n, cut, &f);
	samples_free(s);
	return f;
}

double samples_slope(const double *x, const double *y, size_t n)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
	for (size_t i = 0; i < n; i++) {
		mean_x += x[i] / (double)n;
		mean_y += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
	}
	return xx > 0 ? xy / xx : NAN;
}

double samples_correlation(const double *a, const double *b, size_t n)
{
	double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
	for (size_t i = 0; i < n; i++) {
		mean_a += a[i] / (double)n;
		mean_b += b[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double da = a[i] - mean_a, db = b[i] - mean_b;
		aa += da * da;
		bb += db * db;
		ab += da * db;
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
