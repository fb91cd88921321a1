/* SPDX-License-Identifier: MIT */
/*
 * recorded.c - the links of a recording
 *
 * In    traces
 * Out   the answer for them; per link and direction how often messages were sent, and how long they
 *       took by the corrected stamps
 * Why   on the common timeline delays are the network's own, and no clock was stepped
 * Not   messages of clocks that have no estimate: how long they took is not known
 */
#include "plan/network.h"

#include <string.h>

struct recording {
	struct usk_network *to;
	const struct usk_corrected *at;
	int64_t first_ns, last_ns;
};

static void answer(void *ctx, const struct usk_clocks *c)
{
	struct recording *r = ctx;
	struct usk_network *n = r->to;
	usk_network_free(n);
	r->first_ns = INT64_MAX;
	r->last_ns = INT64_MIN;
	for (size_t i = 0; i < c->n_clocks; i++) {
		usk_network_clock(n, c->clock[i].name, strlen(c->clock[i].name));
	}
}

static void corrected(void *ctx, const struct usk_corrected *at, size_t n)
{
	struct recording *r = ctx;
	(void)n;
	r->at = at;
}

static void add(struct recording *r, const struct usk_msg *m, const struct usk_corrected *at)
{
	struct usk_plan_direction *w =
		&usk_network_link(r->to, m->from, m->to)->way[m->from > m->to];
	if (w->n++) {
		int64_t gap = usk_saturate((usk_i128)at->sent_ns - w->last_ns);
		usk_reservoir_add(&w->gap_ns, gap < 0 ? 0 : gap);
	}
	w->last_ns = at->sent_ns;
	int64_t delay = usk_saturate((usk_i128)at->received_ns - at->sent_ns);
	usk_reservoir_add(&w->delay_ns, delay < 0 ? 0 : delay);
	r->first_ns = at->sent_ns < r->first_ns ? at->sent_ns : r->first_ns;
	r->last_ns = at->sent_ns > r->last_ns ? at->sent_ns : r->last_ns;
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct recording *r = ctx;
	for (size_t i = 0; i < n; i++) {
		const struct usk_corrected *at = &r->at[i];
		if (msg[i].from != msg[i].to && at->sent_ns != USK_NONE &&
		    at->received_ns != USK_NONE) {
			add(r, &msg[i], at);
		}
	}
	return true;
}

/* Messages may come in any order, and then gaps say nothing but how many there are. */
static void settle(struct usk_plan_direction *w, int64_t span_ns)
{
	usk_i128 sum = 0;
	struct usk_reservoir *gap = &w->gap_ns;
	for (size_t i = 0; i < gap->n; i++) {
		sum += gap->value[i];
	}
	usk_i128 mean = (usk_i128)span_ns / (w->n ? (int64_t)w->n : 1);
	for (size_t i = 0; i < gap->n && sum; i++) {
		gap->value[i] =
			usk_saturate((usk_i128)gap->value[i] * mean * (int64_t)gap->n / sum);
	}
	usk_sort_numbers(gap->value, gap->n);
	usk_sort_numbers(w->delay_ns.value, w->delay_ns.n);
}

static enum usk_status finish(struct recording *r, const struct usk_clocks *c, struct usk_err *err)
{
	struct usk_network *n = r->to;
	bool any = false;
	n->span_ns =
		r->last_ns > r->first_ns ? usk_saturate((usk_i128)r->last_ns - r->first_ns) : 0;
	for (size_t i = 0; i < n->n_links; i++) {
		settle(&n->link[i].way[0], n->span_ns);
		settle(&n->link[i].way[1], n->span_ns);
		any = any || usk_link_known(&n->link[i]);
	}
	for (size_t i = 0; i < n->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		n->clock[i].resolution_ns = k->resolution_ns;
		if (c->model.kind == USK_WANDER && k->wander.used_e12 > n->wander_e12) {
			n->wander_e12 = k->wander.used_e12;
		}
	}
	size_t most = 0;
	for (size_t i = 0; i < c->n_islands; i++) {
		if (c->island[i].n_clocks > most) {
			most = c->island[i].n_clocks;
			n->reference = n->clock[c->island[i].reference].name;
		}
	}
	if (!any || n->span_ns <= 0) {
		return usk_fail(err, USK_EINPUT, 0,
				"no two clocks have messages in both directions, so how long "
				"further ones would take is not known");
	}
	return USK_OK;
}

enum usk_status usk_network_read(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, struct usk_network *out,
				 struct usk_clocks **c, struct usk_err *err)
{
	struct recording r = { .to = out, .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	struct usk_sink sink = { .ctx = &r, .answer = answer, .corrected = corrected, .put = put };
	struct usk_sync_options with = *opt;
	with.messages = &sink;
	enum usk_status status = usk_sync(trace, n, &with, c, err);
	if (!status) {
		out->model = opt->model;
		out->min_delay = opt->min_delay;
		out->max_skew_e12 = opt->max_skew_e12;
		status = finish(&r, *c, err);
		if (status) {
			usk_clocks_free(*c);
			*c = NULL;
		}
	}
	if (status) {
		usk_network_free(out);
	}
	return status;
}
