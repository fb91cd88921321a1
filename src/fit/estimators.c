/* SPDX-License-Identifier: MIT */
/*
 * estimators.c - the table of estimators, and what they share
 *
 * In    the corridor and the feasible lines of a pair
 * Out   a line or polyline, not yet rounded into the band
 * Why   papers differ in the point of the band that they pick; everything else is common
 * Not   the band, order and rounding (graph/)
 *
 * To add an estimator: write est_foo.c with its row usk_est_foo, naming its source, and add its name
 * to meson.build, which makes estimators.h. Help, man page and completion are made from the rows.
 */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ESTIMATOR(name) &usk_est_##name,
static const struct usk_estimator *const estimators[] = { ESTIMATORS NULL };

const struct usk_estimator *const *usk_estimators(void)
{
	return estimators;
}

const struct usk_estimator *usk_estimator_find(const char *name)
{
	static const char greek[] = "+\xce\xb4", latin[] = "+delta"; /* U+03B4 */
	size_t n = strlen(name), end = sizeof greek - 1;
	bool is_greek = n >= end && !strcmp(name + n - end, greek);
	n = is_greek ? n - end : n;
	const struct usk_estimator *const *e = estimators;
	while (*e && (is_greek ? strncmp((*e)->name, name, n) || strcmp((*e)->name + n, latin)
			       : strcmp((*e)->name, name) != 0)) {
		e++;
	}
	return *e;
}

enum usk_status usk_estimator_run(const struct usk_estimator *e, const struct usk_fit *fit,
				  struct usk_knot **out, size_t *n, struct usk_err *err)
{
	struct usk_fit own = *fit;
	own.by = e;
	*out = NULL;
	*n = 0;
	enum usk_status status = e->estimate(&own, out, n, err);
	if (status) {
		free(*out);
		*out = NULL;
		*n = 0;
	}
	return status;
}

int64_t usk_line_at(const struct usk_knot *line, size_t n, size_t *i, usk_i128 x)
{
	while (*i + 2 < n && line[*i + 1].local_ns < x) {
		++*i;
	}
	const struct usk_knot *a = &line[*i], *b = a + 1;
	usk_i128 rise = (usk_i128)b->offset_ns - a->offset_ns;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return usk_cut(a->offset_ns + usk_floor_div(rise * (x - a->local_ns) + run / 2, run));
}

void usk_sort_nearly(void *base, size_t n, size_t size, usk_comparing *compare, void *ctx)
{
	unsigned char *p = base, moved[64];
	size_t budget = 8 * n;
	for (size_t i = 1; i < n; i++) {
		size_t j = i;
		while (j && compare(p + i * size, p + (j - 1) * size, ctx) < 0) {
			j--;
		}
		if (i - j > budget) {
			qsort_r(base, n, size, compare, ctx);
			return;
		}
		if (j < i) {
			memcpy(moved, p + i * size, size);
			memmove(p + (j + 1) * size, p + j * size, (i - j) * size);
			memcpy(p + j * size, moved, size);
		}
		budget -= i - j;
	}
}

/* Local and other stamp first, then what is left to tell rows apart. */
static int by_local(const void *pa, const void *pb, void *local)
{
	const struct usk_msg *a = pa, *b = pb;
	bool a_sent = a->from == *(uint32_t *)local, b_sent = b->from == *(uint32_t *)local;
	int order = usk_order(a_sent ? a->sent_ns : a->received_ns,
			      b_sent ? b->sent_ns : b->received_ns);
	order = order ? order
		      : usk_order(a_sent ? a->received_ns : a->sent_ns,
				  b_sent ? b->received_ns : b->sent_ns);
	order = order ? order : usk_order(a->from, b->from);
	return order ? order : usk_order(a->bytes, b->bytes);
}

void usk_msg_sort(struct usk_msg *msg, size_t n, uint32_t local)
{
	usk_sort_nearly(msg, n, sizeof *msg, by_local, &local);
}

void usk_fit_span(const struct usk_fit *fit, usk_i128 *x0, usk_i128 *x1)
{
	int64_t first = fit->first_local_ns, last = fit->last_local_ns;
	const struct usk_lines *l = fit->lines;
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		if (h->n) {
			int64_t a = l->frame.local_ns + h->hull[0].x;
			int64_t b = l->frame.local_ns + h->hull[h->n - 1].x;
			first = a < first ? a : first;
			last = b > last ? b : last;
		}
	}
	if (first >= last) { /* one instant: any line needs two */
		last = first < USK_TIME_MAX ? first + 1 : first;
		first = last - 1;
	}
	*x0 = (usk_i128)first - l->frame.local_ns;
	*x1 = (usk_i128)last - l->frame.local_ns;
}

enum usk_status usk_fit_straight(const struct usk_fit *fit, usk_i128 y0, usk_i128 y1,
				 struct usk_knot **out, size_t *n)
{
	const struct usk_frame *f = &fit->lines->frame;
	usk_i128 x0, x1;
	usk_fit_span(fit, &x0, &x1);
	struct usk_knot *k = usk_alloc(2, sizeof *k);
	k[0].local_ns = (int64_t)(f->local_ns + x0);
	k[1].local_ns = (int64_t)(f->local_ns + x1);
	k[0].offset_ns = usk_cut(f->offset_ns + y0);
	k[1].offset_ns = usk_cut(f->offset_ns + y1);
	*out = k;
	*n = 2;
	return USK_OK;
}

enum usk_status usk_fit_through(const struct usk_fit *fit, struct usk_point p, long double dx,
				long double dy, long double slope, struct usk_knot **out, size_t *n)
{
	const struct usk_frame *f = &fit->lines->frame;
	const long double far = 0x1p80L; /* cut at 2^62 in the end */
	usk_i128 x[2], y[2];
	usk_fit_span(fit, &x[0], &x[1]);
	for (int i = 0; i < 2; i++) {
		usk_i128 run = f->local_ns + x[i] - p.local_ns;
		long double rise = floorl(dy + slope * (usk_real(run) - dx) + 0.5L);
		rise = rise < -far ? -far : rise > far ? far : rise;
		y[i] = (usk_i128)p.offset_ns - f->offset_ns + (usk_i128)rise;
	}
	return usk_fit_straight(fit, y[0], y[1], out, n);
}
