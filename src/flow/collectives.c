/* SPDX-License-Identifier: MIT */
/*
 * collectives.c - traces of collectives, read and gathered
 *
 * In    parts of collectives of all traces
 * Out   parties; messages, to what is joined of events
 * Why   each rank records its own part, in a file of its own or in one with others
 * Not   what a collective says of clocks (match/collectives.c)
 */
#include "flow/flow.h"
#include "match/collectives.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

/* Over all traces. */
struct collecting {
	struct usk_collectives *all;
	struct usk_texts rank; /* by name and party */
	uint32_t *of_rank;     /* of the trace that is read: its numbers -> ours + 1; 0: not yet */
	size_t n_of_rank;
};

static uint32_t rank_of(struct collecting *x, const struct usk_trace *t, uint32_t rank,
			uint32_t party)
{
	const struct usk_texts *name = usk_trace_processes(t);
	if (x->n_of_rank < name->n) {
		x->of_rank = usk_grow(x->of_rank, name->n, sizeof *x->of_rank);
		memset(x->of_rank + x->n_of_rank, 0, (name->n - x->n_of_rank) * sizeof *x->of_rank);
		x->n_of_rank = name->n;
	}
	if (!x->of_rank[rank]) {
		const char *text = name->text[rank];
		struct usk_event_id id = usk_event_id(text, strlen(text));
		x->of_rank[rank] =
			1 + usk_texts_number(&x->rank, id.word[0] ^ usk_mix(party + UINT64_C(1)),
					     id.word[1], text, strlen(text));
	}
	return x->of_rank[rank] - 1;
}

static enum usk_status take(struct parties *p, size_t which, struct usk_collective *y, size_t n,
			    struct usk_err *err)
{
	usk_table_names(p, which);
	for (size_t i = 0; i < n; i++) {
		y[i].clock = p->clock[which][y[i].clock];
		y[i].rank = rank_of(p->collecting, p->trace[which], y[i].rank, y[i].clock);
		struct party *party = &p->party[y[i].clock];
		party->in_no_order = true;
		if (!party->unordered) {
			usk_party_stamp(party, y[i].enter_ns);
			usk_party_stamp(party, y[i].exit_ns);
		}
	}
	return usk_collectives_add(p->collecting->all, y, n, err);
}

enum usk_status usk_collectives_scan(struct parties *p, size_t which, struct usk_err *err)
{
	struct usk_trace *t = p->trace[which];
	struct usk_collective y[BATCH];
	struct collecting *x = p->collecting =
		p->collecting ? p->collecting : usk_alloc(1, sizeof *x);
	x->all = x->all ? x->all : usk_collectives_new();
	x->n_of_rank = 0;
	enum usk_status status = usk_trace_rewind(t, err);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_collectives(t, y, COUNT(y), &n, err);
		status = status ? status : take(p, which, y, n, err);
		usk_parties_progress(p, usk_trace_pos(t));
	}
	p->events[which] = usk_trace_events(t);
	return status;
}

struct emitting {
	struct parties *p;
	uint32_t middle;
};

static enum usk_status put(void *ctx, const struct usk_msg *m, struct usk_err *err)
{
	struct emitting *x = ctx;
	struct usk_msg on = *m;
	bool once = usk_party_side(&x->p->party[m->from], &on.sent_ns) &&
		    usk_party_side(&x->p->party[m->to], &on.received_ns);
	return once ? usk_join_put(x->p->join, &on, err) : USK_OK;
}

static enum usk_status gathered(void *ctx, const struct usk_gathering *g, struct usk_err *err)
{
	struct emitting *x = ctx;
	return usk_gathering_messages(x->p->collecting->all, g, x->middle, put, x, err);
}

enum usk_status usk_collectives_join(struct parties *p, struct usk_err *err)
{
	if (!p->collecting) {
		return USK_OK;
	}
	struct usk_collectives *all = p->collecting->all;
	const char *reference = p->opt->reference;
	struct emitting x = { p, reference ? usk_party_find(p, reference) : USK_NO_CLOCK };
	p->gathered = true;
	p->join = p->join ? p->join : usk_join_new();
	for (uint32_t i = 0; i < usk_collectives_clocks(all); i++) {
		int64_t first_ns, last_ns;
		if (usk_collectives_enters(all, i, &first_ns, &last_ns)) {
			usk_join_expect(p->join, i, first_ns, last_ns);
		}
	}
	enum usk_status status = usk_collectives_run(all, gathered, &x, &p->left_out, err);
	usk_collecting_free(p);
	return status;
}

void usk_collecting_free(struct parties *p)
{
	struct collecting *x = p->collecting;
	if (x) {
		usk_collectives_free(x->all);
		usk_texts_free(&x->rank);
		free(x->of_rank);
	}
	free(x);
	p->collecting = NULL;
}
