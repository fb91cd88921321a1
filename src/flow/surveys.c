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
			x->status = usk_survey_capture(y->capture, s->p->depth, y->told, progress,
						       x, &y->survey, &x->err);
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

static enum usk_status survey_again(struct parties *p, const bool *those, struct usk_err *err)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		any = any || those[i];
		p->work_all +=
			those[i] && !p->party[i].far ? usk_trace_size(p->party[i].capture) : 0;
	}
	return any ? survey(p, those, err) : USK_OK;
}

/* Files that clocks were set back in, or between. Of what is shared out each clock has one. */
static enum usk_status arrange(struct parties *p, struct usk_err *err)
{
	bool *those = usk_alloc(p->n + 1, sizeof *those);
	enum usk_status status = USK_OK;
	if (usk_falls_open(p, true, those) && usk_falls_tell(p, true, those)) {
		status = survey_again(p, those, err);
	}
	bool several = false;
	for (size_t i = 0; i < p->n; i++) {
		those[i] = p->party[i].survey.n_parts > 1;
		several = several || those[i];
	}
	if (several && !status) {
		usk_files_arrange(p, those);
		status = survey_again(p, those, err);
	}
	for (size_t i = 0; i < p->n && several; i++) {
		p->party[i].arranged = those[i];
	}
	free(those);
	return status;
}

/* Which record of each file epochs begin with. */
static enum usk_status find_begins(struct parties *p, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n && !status; i++) {
		struct party *y = &p->party[i];
		if (y->survey.n_parts > 1 && y->survey.epochs.n) {
			p->work_all += usk_trace_size(y->capture);
			status = usk_survey_begins(y->capture, &y->survey, err);
			p->work_done += usk_trace_size(y->capture);
		}
	}
	return status;
}

enum usk_status usk_captures_falls(struct parties *p, struct usk_err *err)
{
	bool *those = usk_alloc(p->n + 1, sizeof *those);
	enum usk_status status = USK_OK;
	if (usk_falls_open(p, false, those)) {
		usk_share_samples(p);
		bool any = usk_falls_tell(p, false, those);
		usk_share_forget(p);
		status = any ? survey_again(p, those, err) : USK_OK;
		if (any) {
			usk_share_surveys(p, status, err);
		}
	}
	free(those);
	if (!status) {
		usk_files_check(p);
	}
	return status ? status : find_begins(p, err);
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
