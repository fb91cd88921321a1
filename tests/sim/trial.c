/* SPDX-License-Identifier: MIT */
/*
 * trial.c - run a scenario
 *
 * In    a scenario
 * Out   its true clocks and messages, the answer, and the verdict on that (verdict.c)
 *
 * Tables are made and read in memory; captures go through files.
 */
#include "verdict.h"
#include "read/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------------------ */

static void take(void *ctx, const struct sim_message *m)
{
	struct trial *t = ctx;
	t->m = usk_room(t->m, t->n, &t->cap, sizeof *t->m);
	t->m[t->n++] = *m;
	if (t->room - t->size < 200) {
		t->room = 2 * t->room + 4096;
		t->text = usk_grow(t->text, t->room, 1);
	}
	t->size +=
		(size_t)snprintf(t->text + t->size, 200, "host%u,host%u,%lld,%lld,%u\n", m->from,
				 m->to, (long long)m->sent_ns, (long long)m->received_ns, m->bytes);
}

static bool begin_round(void *ctx)
{
	struct trial *t = ctx;
	t->n_used = t->n_kept;
	return true;
}

static void note_epochs(void *ctx, const struct usk_corrected *at, size_t n)
{
	struct trial *t = ctx;
	t->at = n ? at : NULL;
}

static bool put_used(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct trial *t = ctx;
	for (size_t i = 0; i < n; i++) {
		t->used = usk_room(t->used, t->n_used, &t->cap_used, sizeof *t->used);
		struct trial_epochs at = { 0 };
		if (t->at) {
			at = (struct trial_epochs){ t->at[i].sent_epoch, t->at[i].received_epoch };
		}
		t->used[t->n_used++] = (struct trial_used){ msg[i], at, at };
	}
	t->at = NULL;
	return true;
}

static void keep_used(void *ctx)
{
	struct trial *t = ctx;
	t->n_kept = t->n_used;
}

static size_t open_table(struct trial *t, struct usk_trace **trace)
{
	struct usk_err err = { 0 };
	t->text = usk_strdup("sender,receiver,sent_ns,received_ns,bytes\n");
	t->size = t->room = strlen(t->text);
	sim_messages(&t->s->o, t->clock, take, t);
	if (t->n && usk_trace_open_memory(t->text, t->size, NULL, trace, &err)) {
		trial_fail(t, TRIAL_REST, "the table is not read: %s", err.msg);
		return 0;
	}
	return t->n > 0;
}

static size_t open_captures(struct trial *t, const char *dir, struct usk_trace **trace)
{
	struct usk_err err = { 0 };
	if (sim_run(&t->s->o, dir, true, NULL, &err)) {
		trial_fail(t, TRIAL_REST, "not simulated: %s", err.msg);
		return 0;
	}
	size_t n = 0;
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		char *path = usk_format("%s/host%u.%s", dir, h,
					t->s->o.format == SIM_PCAP ? "pcap" : "pcapng");
		/* A host that nothing was sent to has an empty capture. */
		n += !usk_trace_open(path, NULL, &trace[n], &err);
		free(path);
	}
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		t->s->named[h] = true;
	}
	return n > 1 ? n : 0;
}

static void synchronise(struct trial *t, const char *dir)
{
	const struct scenario *s = t->s;
	struct usk_trace *trace[SCENARIO_HOSTS] = { NULL };
	bool table = s->o.format == SIM_TABLE;
	size_t n = table ? open_table(t, trace) : open_captures(t, dir, trace);
	char *row[SCENARIO_HOSTS];
	size_t n_rows = 0;
	for (size_t i = 0; i < t->n; i++) {
		t->s->named[t->m[i].from] = t->s->named[t->m[i].to] = true;
	}
	for (uint32_t h = 0; h < s->o.hosts && s->resolution; h++) {
		if (s->named[h]) {
			row[n_rows++] = usk_format("host%u=1us", h);
		}
	}
	struct usk_sink sink = {
		.ctx = t,
		.start = begin_round,
		.corrected = note_epochs,
		.put = put_used,
		.keep = keep_used,
	};
	struct usk_sync_options o = {
		.messages = &sink,
		.resolution = (const char *const *)row,
		.n_resolution = n_rows,
		.model = s->model,
		.method = s->method,
		.solve = s->solve,
		.reference = s->reference,
		.max_skew_e12 = s->max_skew_e12,
		.max_outliers = -1,
		.from_ns = USK_NONE,
		.to_ns = USK_NONE,
		.min_delay = s->min_delay,
	};
	struct usk_err err = { 0 };
	if (n && usk_sync(trace, n, &o, &t->answer, &err)) {
		/* A host that has no message is no clock of a table. */
		bool lone = s->reference && !s->named[s->reference[strlen("host")] - '0'];
		/* An estimator may need what there is not; the default always has an answer. */
		lone = lone || (s->method && (strstr(err.msg, "needs messages") ||
					      strstr(err.msg, "need messages")));
		if (!lone) {
			trial_fail(t, TRIAL_REST, "no answer: %s", err.msg);
		}
	}
	for (size_t i = 0; i < n_rows; i++) {
		free(row[i]);
	}
	for (size_t i = 0; i < SCENARIO_HOSTS; i++) {
		usk_trace_close(trace[i]);
	}
	for (size_t i = 0; t->answer && i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		t->out->bounded = t->out->bounded || c->quality == USK_BOUNDED;
		t->out->contradicted = t->out->contradicted || c->quality == USK_CONTRADICTED;
	}
}

void trial_run(struct scenario *s, const char *dir, struct trial_result *out)
{
	struct trial t = { .s = s, .out = out };
	struct usk_err err = { 0 };
	memset(out, 0, sizeof *out);
	out->nearest = 1;
	out->stepped = s->o.n_steps > 0;
	if (sim_options_check(&s->o, &err)) {
		trial_fail(&t, TRIAL_REST, "the scenario is wrong: %s", err.msg);
		return;
	}
	for (uint32_t h = 0; h < s->o.hosts; h++) {
		sim_options_clock(&s->o, h, &t.clock[h]);
	}
	synchronise(&t, dir);
	if (t.answer) {
		trial_verdict(&t);
	}
	out->width /= out->moments ? (double)out->moments : 1;
	usk_clocks_free(t.answer);
	for (uint32_t h = 0; h < s->o.hosts; h++) {
		sim_clock_free(&t.clock[h]);
	}
	free(t.m);
	free(t.used);
	free(t.text);
}
