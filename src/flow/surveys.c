/* SPDX-License-Identifier: MIT */
/*
 * surveys.c - read each capture once, some at a time
 *
 * In    captures by clock
 * Out   the survey of each (match/survey.c)
 * Why   captures have nothing to do with each other until they are joined: each processor reads one
 * Not   what parties make of them (parties.c)
 */
#include "flow/flow.h"
#include "flow/share.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct surveys {
	struct parties *p;
	const bool *again; /* only these; NULL: all */
	pthread_t caller;
	atomic_uint_fast64_t bytes; /* read of all */
	atomic_bool failed;
	struct survey {
		struct surveys *of;
		enum usk_status status;
		struct usk_err err;
		uint64_t bytes;
	} * survey;
};

/* Only the caller's thread tells how far all are. */
static void progress(void *ctx, uint64_t bytes)
{
	struct survey *x = ctx;
	struct surveys *s = x->of;
	uint64_t all = atomic_fetch_add(&s->bytes, bytes - x->bytes) + bytes - x->bytes;
	x->bytes = bytes;
	if (pthread_equal(pthread_self(), s->caller)) {
		usk_parties_progress(s->p, all);
	}
}

static void survey_some(void *ctx, size_t from, size_t to)
{
	struct surveys *s = ctx;
	for (size_t i = from; i < to && !atomic_load(&s->failed); i++) {
		struct party *y = &s->p->party[i];
		struct survey *x = &s->survey[i];
		x->of = s;
		if (s->again && !s->again[i]) {
			continue;
		}
		if (!y->far) {
			usk_survey_free(&y->survey);
			x->status = usk_survey_capture(y->capture, s->p->depth, progress, x,
						       &y->survey, &x->err);
		}
		if (x->status) {
			atomic_store(&s->failed, true);
		} else {
			progress(x, usk_trace_size(y->capture));
		}
	}
}

static enum usk_status survey(struct parties *p, const bool *again, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	struct surveys s = { .p = p, .again = again, .caller = pthread_self() };
	s.survey = usk_alloc(p->n + 1, sizeof *s.survey);
	usk_parallel(p->n, 1, 0, survey_some, &s);
	for (size_t i = 0; i < p->n && !status; i++) {
		status = s.survey[i].status;
		if (status && err) {
			*err = s.survey[i].err;
		}
	}
	p->work_done += s.bytes;
	free(s.survey);
	return status;
}

/* Files that clocks were set back in, or between. Of what is shared out each clock has one. */
static enum usk_status arrange(struct parties *p, struct usk_err *err)
{
	bool *again = usk_alloc(p->n + 1, sizeof *again), any = false, several = false;
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n; i++) {
		again[i] = p->party[i].survey.n_parts > 1;
		several = several || again[i];
	}
	if (several) {
		usk_files_arrange(p, again);
	}
	for (size_t i = 0; i < p->n; i++) {
		any = any || again[i];
		p->work_all += again[i] ? usk_trace_size(p->party[i].capture) : 0;
	}
	if (any) {
		status = survey(p, again, err);
	}
	if (any && !status) {
		usk_files_check(p, again);
	}
	free(again);
	return status;
}

enum usk_status usk_captures_survey(struct parties *p, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n && !status; i++) {
		status = usk_capture_open(p, &p->party[i], err);
		p->party[i].far = !usk_share_reads(p, p->party[i].trace);
	}
	status = status ? status : survey(p, NULL, err);
	return status ? status : arrange(p, err);
}
