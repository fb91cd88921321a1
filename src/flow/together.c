/* SPDX-License-Identifier: MIT */
/*
 * together.c - the common-view broadcasts of all pairs, for estimators that ask of all clocks at once
 *
 * In    the pairs' messages, to be read
 * Out   lines of all clocks that broadcasts tie, or a sentence why there are none
 * Why   pairs are fitted one by one, and the broadcasts of one of them are a part of the whole
 * Not   the lines (fit/group.c)
 */
#include "flow/reading.h"

#include "fit/group.h"

#include <stdlib.h>

static void begin(void *ctx, size_t pair, struct reading *r)
{
	(void)ctx;
	(void)pair;
	r->watch = true;
}

static enum usk_status take(void *ctx, size_t pair, struct reading *r, struct usk_err *err)
{
	struct usk_delay_samples *w = ctx;
	(void)err;
	w[pair] = r->samples;
	r->samples = (struct usk_delay_samples){ 0 };
	return USK_OK;
}

enum usk_status usk_flow_group(struct parties *p, struct usk_err *err)
{
	if (p->n_pairs < 2) {
		return USK_OK;
	}
	struct usk_delay_samples *w = usk_alloc(p->n_pairs, sizeof *w);
	struct usk_group_pair *pair = usk_alloc(p->n_pairs, sizeof *pair);
	const struct reading_plan plan = { w, begin, take, false };
	struct usk_err why = { 0 };
	p->work_all += usk_readings_size(p, p->all_pairs, p->n_pairs);
	enum usk_status status = usk_readings(p, p->all_pairs, p->n_pairs, &plan, err);
	for (size_t i = 0; i < p->n_pairs; i++) {
		pair[i] = (struct usk_group_pair){ p->pair[i].a, p->pair[i].b, w[i].broadcasts,
						   w[i].n_broadcasts };
	}
	if (!status && usk_group_of(pair, p->n_pairs, p->n, p->reference, &p->group, &why)) {
		p->group_failed = usk_strdup(why.msg);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_delay_samples_free(&w[i]);
	}
	free(w);
	free(pair);
	return status;
}
