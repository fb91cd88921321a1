/* SPDX-License-Identifier: MIT */
/*
 * spans.c - traces of spans, read and joined
 *
 * In    spans of all traces
 * Out   parties, with what their stamps are worth; messages, to what is joined of events
 * Why   one request leaves spans in many files, and only all spans of a process tell what is known
 *       of it
 * Not   what a parent and a child say of each other (match/calls.c)
 */
#include "flow/flow.h"
#include "match/calls.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512, MOST_NOTES = 8 };

/* Over all traces. */
struct spans {
	struct usk_calls *calls;
	struct usk_texts clock, service, operation;
	struct process {
		uint32_t service;
		uint32_t party;
	} * process;
	size_t n_processes, cap_processes;
	/* Of the trace that is read: its numbers -> ours. */
	uint32_t *of_clock, *of_process, *of_operation;
	size_t n_of_clock, n_of_process, n_of_operation;
};

static uint32_t number_of(struct usk_texts *x, const char *text)
{
	struct usk_event_id id = usk_event_id(text, strlen(text));
	return usk_texts_number(x, id.word[0], id.word[1], text, strlen(text));
}

static uint32_t *longer(uint32_t *of, size_t n)
{
	return usk_grow(of, n + 1, sizeof *of);
}

/* Names that the trace told since. */
static void take_names(struct spans *x, const struct usk_trace *t)
{
	const struct usk_texts *process = usk_trace_processes(t),
			       *operation = usk_trace_operations(t);
	size_t clocks = usk_trace_clocks(t);
	x->of_clock = longer(x->of_clock, clocks);
	for (; x->n_of_clock < clocks; x->n_of_clock++) {
		x->of_clock[x->n_of_clock] =
			number_of(&x->clock, usk_trace_clock_name(t, x->n_of_clock));
	}
	x->of_process = longer(x->of_process, process->n);
	for (; x->n_of_process < process->n; x->n_of_process++) {
		x->process =
			usk_room(x->process, x->n_processes, &x->cap_processes, sizeof *x->process);
		x->process[x->n_processes].service =
			number_of(&x->service, process->text[x->n_of_process]);
		x->of_process[x->n_of_process] = (uint32_t)x->n_processes++;
	}
	x->of_operation = longer(x->of_operation, operation->n);
	for (; x->n_of_operation < operation->n; x->n_of_operation++) {
		x->of_operation[x->n_of_operation] =
			number_of(&x->operation, operation->text[x->n_of_operation]);
	}
}

enum usk_status usk_spans_scan(struct parties *p, size_t which, struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	struct spans *x = p->spans = p->spans ? p->spans : usk_alloc(1, sizeof *x);
	struct usk_span s[BATCH];
	uint32_t service[BATCH];
	x->calls = x->calls ? x->calls : usk_calls_new();
	x->n_of_clock = x->n_of_process = x->n_of_operation = 0;
	enum usk_status status = usk_trace_rewind(t, err);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_spans(t, s, COUNT(s), &n, err);
		take_names(x, t);
		for (size_t i = 0; i < n; i++) {
			s[i].clock = x->of_clock[s[i].clock];
			s[i].process = x->of_process[s[i].process];
			s[i].operation = x->of_operation[s[i].operation];
			service[i] = x->process[s[i].process].service;
		}
		status = status ? status : usk_calls_add(x->calls, s, n, service, err);
		usk_parties_progress(p, usk_trace_pos(t));
	}
	p->events[which] = usk_trace_events(t);
	return status;
}

/* ---- parties ------------------------------------------------------------------------------- */

static void make_parties(struct parties *p)
{
	struct spans *x = p->spans;
	size_t n, n_clocks;
	const struct usk_call_process *process = usk_calls_processes(x->calls, &n);
	const struct usk_call_clock *clock = usk_calls_clocks(x->calls, &n_clocks);
	for (size_t i = 0; i < n; i++) {
		const struct usk_call_process *y = &process[i];
		if (!y->stamped) {
			continue;
		}
		const char *name = x->clock.text[y->clock];
		char *own = clock[y->clock].split ? usk_format("%s/%s/%zu", name,
							       x->service.text[y->service], i + 1)
						  : usk_strdup(name);
		x->process[i].party = usk_party_of(p, own);
		struct party *party = &p->party[x->process[i].party];
		party->in_no_order = true;
		if (!party->unordered) {
			usk_party_span(party, y->first_ns, y->last_ns);
		}
		party->resolution_ns = y->resolution_ns > party->resolution_ns
					       ? y->resolution_ns
					       : party->resolution_ns;
		free(own);
	}
}

/* ---- messages ------------------------------------------------------------------------------ */

struct emitting {
	struct parties *p;
	uint64_t number;
};

/* No text is this id. */
static struct usk_event_id next_id(uint64_t number)
{
	struct usk_event_id id = { { number, 0 } };
	memset(&id.word[1], 0xfd, sizeof id.word[1]);
	return id;
}

static enum usk_status put(void *ctx, const struct usk_msg *m, struct usk_err *err)
{
	struct emitting *x = ctx;
	const struct process *process = x->p->spans->process;
	uint32_t from = process[m->from].party, to = process[m->to].party;
	struct usk_event_id id = next_id(++x->number);
	struct usk_event e[] = {
		{ m->sent_ns, id, from, 0, USK_SIDE_SENT },
		{ m->received_ns, id, to, 0, USK_SIDE_RECEIVED },
	};
	bool once = usk_party_side(&x->p->party[from], &e[0].time_ns) &&
		    usk_party_side(&x->p->party[to], &e[1].time_ns);
	return once ? usk_join_add(x->p->join, e, COUNT(e), err) : USK_OK;
}

/* ---- what a user should know --------------------------------------------------------------- */

/* A sentence on a process, malloc'ed; NULL: there is nothing to say. */
typedef char *sentence(const struct parties *p, size_t i, const struct usk_call_process *y);

/* The first ones are told, the others counted. */
static void note_each(struct parties *p, sentence *of)
{
	size_t n, told = 0;
	const struct usk_call_process *y = usk_calls_processes(p->spans->calls, &n);
	for (size_t i = 0; i < n; i++) {
		char *text = of(p, i, &y[i]);
		if (text && told++ < MOST_NOTES) {
			usk_flow_note_log(p, text);
		} else {
			free(text);
		}
	}
	if (told > MOST_NOTES) {
		usk_flow_note_log(
			p, usk_format("the same holds for %zu more processes", told - MOST_NOTES));
	}
}

static char *anchored(const struct parties *p, size_t i, const struct usk_call_process *y)
{
	const struct spans *x = p->spans;
	return y->anchored ? usk_format("%s counts each trace from a whole ms (%llu of %llu of its "
					"entry spans begin with one): its stamps may be up to 1 ms "
					"too early, which the bounds of %s allow for",
					x->service.text[y->service], (unsigned long long)y->at_ms,
					(unsigned long long)y->entries,
					p->party[x->process[i].party].name)
			   : NULL;
}

static char *coarse(const struct parties *p, size_t i, const struct usk_call_process *y)
{
	(void)i;
	return y->coarse ? usk_format("%llu span%s of %s %s in whole ms, others are finer: "
				      "their stamps may be up to 1 ms too early, which the "
				      "bounds allow for",
				      (unsigned long long)y->coarse, y->coarse == 1 ? "" : "s",
				      p->spans->service.text[y->service],
				      y->coarse == 1 ? "is" : "are")
			 : NULL;
}

static char *class_name(const struct spans *x, const struct usk_call_class *k)
{
	const char *operation = x->operation.text[k->operation];
	return usk_format("%s to %s%s%s%s", x->service.text[k->from], x->service.text[k->to],
			  *operation ? " (" : "", operation, *operation ? ")" : "");
}

static void note_async(struct parties *p)
{
	const struct spans *x = p->spans;
	size_t n, told = 0;
	uint64_t guessed = 0, used = 0;
	const struct usk_call_class *k = usk_calls_classes(x->calls, &n);
	for (size_t i = 0; i < n; i++) {
		guessed += k[i].waits && !k[i].told ? k[i].n : 0;
		used += k[i].waits && k[i].told ? k[i].n - k[i].late : 0;
		if (k[i].late && told++ < MOST_NOTES) {
			char *name = class_name(x, &k[i]);
			usk_flow_note_log(
				p, usk_format("%s: %llu of %llu calls end after their callers: %s",
					      name, (unsigned long long)k[i].late,
					      (unsigned long long)k[i].n,
					      k[i].waits ? "their ends were not used"
							 : "callers do not wait for these, so only "
							   "beginnings were used"));
			free(name);
		}
	}
	if (told > MOST_NOTES) {
		usk_flow_note_log(p, usk_format("the same holds for %zu more kinds of calls",
						told - MOST_NOTES));
	}
	if (guessed) {
		usk_flow_note_log(
			p,
			usk_format(
				"%llu calls do not tell whether their callers wait for them: they "
				"are taken for synchronous, as no call of their kinds ends after "
				"its caller; the bounds are valid if they are",
				(unsigned long long)guessed));
	}
	if (used) {
		usk_flow_note_log(
			p,
			usk_format(
				"the bounds are valid if the callee's span ended before the "
				"caller's in %llu call%s: some SDKs end it after the answer "
				"was sent, which shows only where other spans leave no room for it",
				(unsigned long long)used, used == 1 ? "" : "s"));
	}
}

static void note_split(struct parties *p)
{
	const struct spans *x = p->spans;
	size_t n;
	const struct usk_call_clock *y = usk_calls_clocks(x->calls, &n);
	for (size_t i = 0; i < n; i++) {
		if (y[i].split) {
			usk_flow_note_log(
				p,
				usk_format(
					"%s: %llu of %llu spans begin before their parents in "
					"other processes of it: these do not share one clock, so "
					"each is taken for a clock of its own",
					x->clock.text[i], (unsigned long long)y[i].early,
					(unsigned long long)y[i].n));
		}
	}
}

enum usk_status usk_spans_join(struct parties *p, struct usk_err *err)
{
	if (!p->spans) {
		return USK_OK;
	}
	struct emitting x = { .p = p };
	p->join = p->join ? p->join : usk_join_new();
	enum usk_status status = usk_calls_run(p->spans->calls, &p->left_out, err);
	if (!status) {
		make_parties(p);
		status = usk_calls_messages(p->spans->calls, put, &x, err);
	}
	if (!status) {
		note_each(p, anchored);
		note_each(p, coarse);
		note_split(p);
		note_async(p);
	}
	usk_spans_free(p);
	return status;
}

void usk_spans_free(struct parties *p)
{
	struct spans *x = p->spans;
	if (x) {
		usk_calls_free(x->calls);
		usk_texts_free(&x->clock);
		usk_texts_free(&x->service);
		usk_texts_free(&x->operation);
		USK_FREE(x->process, x->of_clock, x->of_process, x->of_operation);
	}
	free(x);
	p->spans = NULL;
}
