/* SPDX-License-Identifier: MIT */
/*
 * forecast.c - how wide bands would be
 *
 * In    links, and how often round trips are added to each
 * Out   half widths of all clocks
 * Why   messages that are drawn go through the same engine as recorded ones: whatever it makes of
 *       several links, of wander or of coarse stamps, the forecast has, too
 * Not   delays that go up and down together, as those of a busy hour do: each is drawn by itself
 *
 * Messages are drawn on the common timeline, so all clocks are the same but for what the model has
 * them wander. As bands narrow over a time T after which wander, w T, is as much as what the best of
 * the T / gap messages within T lost on its way, tail gap / T, a stretch of 200 T is as good as all.
 * Of too many messages, the fastest of each k stands for them.
 */
#include "plan/plan.h"
#include "read/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Messages that are drawn: of links as they are, all together; of added ones, each direction. */
enum { DRAWN = 60000, ADDED = 20000, FEWEST = 64, STRETCHES = 200 };

struct drawing {
	const struct usk_network *n;
	const int64_t *period_ns;
	int64_t span_ns;
	uint64_t seed;
	struct usk_msg *msg;
	size_t n_msgs, cap;
};

/* 0 to 1, neither of them. */
static double uniform(struct drawing *d)
{
	return ((double)(usk_mix(d->seed += UINT64_C(0x9e3779b97f4a7c15)) >> 11) + 0.5) * 0x1p-53;
}

/* The least of k values of a sample, which is sorted. */
static int64_t least_of(struct drawing *d, const struct usk_reservoir *s, double k)
{
	double u = -expm1(log1p(-uniform(d)) / k);
	size_t i = (size_t)(u * (double)s->n);
	return s->value[i < s->n ? i : s->n - 1];
}

static int64_t middle(const struct usk_reservoir *s)
{
	return s->value[s->n / 2];
}

static double mean(const struct usk_reservoir *s)
{
	double sum = 0;
	for (size_t i = 0; i < s->n; i++) {
		sum += (double)s->value[i];
	}
	return s->n ? sum / (double)s->n : 0;
}

static int64_t period_of(const struct drawing *d, size_t link)
{
	return d->period_ns ? d->period_ns[link] : 0;
}

/* From one message to the next in the direction that has fewer; 0: there are none. */
static double gap_of(const struct drawing *d, size_t link)
{
	const struct usk_plan_link *l = &d->n->link[link];
	double there = mean(&l->way[0].gap_ns), back = mean(&l->way[1].gap_ns);
	double gap = there > 0 && back > 0 ? fmax(there, back) : 0;
	double added = (double)period_of(d, link);
	return gap > 0 && added > 0 ? fmin(gap, added) : fmax(gap, added);
}

static int64_t span_of(const struct drawing *d)
{
	const struct usk_network *n = d->n;
	double span = 0;
	for (size_t i = 0; i < n->n_links && n->wander_e12; i++) {
		const struct usk_plan_link *l = &n->link[i];
		double gap = gap_of(d, i);
		if (gap > 0 && usk_link_known(l)) {
			const struct usk_reservoir *x = &l->way[0].delay_ns,
						   *y = &l->way[1].delay_ns;
			double tail = (double)(middle(x) - x->value[0] + middle(y) - y->value[0]);
			double t = sqrt(tail * gap * 1e12 / (double)n->wander_e12);
			span = fmax(span, STRETCHES * fmax(gap, t));
		}
	}
	return span > 0 && span < (double)n->span_ns ? (int64_t)span : n->span_ns;
}

static void send(struct drawing *d, size_t link, bool back, int64_t at, int64_t delay)
{
	const struct usk_plan_link *l = &d->n->link[link];
	uint32_t from = back ? l->b : l->a, to = back ? l->a : l->b;
	int64_t q = d->n->clock[from].resolution_ns, p = d->n->clock[to].resolution_ns;
	*USK_ADD(d->msg, d->n_msgs, d->cap) =
		(struct usk_msg){ .from = from,
				  .to = to,
				  .sent_ns = at - at % q,
				  .received_ns = at + delay - (at + delay) % p };
}

static double together(double n, double most)
{
	return n > most ? ceil(n / most) : 1;
}

static void draw_way(struct drawing *d, size_t link, bool back)
{
	const struct usk_plan_direction *w = &d->n->link[link].way[back];
	double gap = mean(&w->gap_ns), most = fmax(FEWEST, DRAWN / (2.0 * (double)d->n->n_links));
	if (gap <= 0 || !w->delay_ns.n) {
		return;
	}
	double k = together((double)d->span_ns / gap, most), at = -uniform(d) * gap * k;
	for (;;) {
		const struct usk_reservoir *g = &w->gap_ns;
		size_t i = (size_t)(uniform(d) * (double)g->n);
		/* Many gaps together are as long as so many of the mean. */
		at += k > 1 ? k * gap : (double)g->value[i < g->n ? i : g->n - 1];
		if (at >= (double)d->span_ns) {
			return;
		}
		if (at >= 0) {
			send(d, link, back, (int64_t)at, least_of(d, &w->delay_ns, k));
		}
	}
}

static void draw_added(struct drawing *d, size_t link)
{
	const struct usk_plan_link *l = &d->n->link[link];
	double period = (double)period_of(d, link);
	if (period <= 0) {
		return;
	}
	double k = together((double)d->span_ns / period, ADDED);
	for (double at = uniform(d) * period * k; at < (double)d->span_ns; at += k * period) {
		int64_t there = least_of(d, &l->way[0].delay_ns, k);
		send(d, link, false, (int64_t)at, there);
		send(d, link, true, (int64_t)at + there, least_of(d, &l->way[1].delay_ns, k));
	}
}

static void draw(struct drawing *d)
{
	for (size_t i = 0; i < d->n->n_links; i++) {
		draw_way(d, i, false);
		draw_way(d, i, true);
	}
	for (size_t i = 0; i < d->n->n_links; i++) {
		draw_added(d, i);
	}
	usk_sort(d->msg, d->n_msgs, sizeof *d->msg,
		 KEYS(BY(usk_msg, sent_ns), BY(usk_msg, from), BY(usk_msg, to),
		      BY(usk_msg, received_ns)));
}

static void take_widths(const struct usk_network *n, const struct usk_clocks *c, int64_t *half_ns)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		uint64_t number = usk_network_find(n, k->name);
		/* A clock that no message ties to the reference is its own. */
		if (number && !strcmp(c->clock[k->reference].name, n->reference)) {
			half_ns[number - 1] =
				k->quality == USK_REFERENCE ? 0 : usk_band_widths(k).mean_ns;
		}
	}
}

static enum usk_status solve(struct drawing *d, int64_t *half_ns, struct usk_err *err)
{
	const struct usk_network *n = d->n;
	struct usk_trace *t = NULL;
	struct usk_clocks *c = NULL;
	const char **name = usk_alloc(n->n_clocks + 1, sizeof *name);
	char *model = n->wander_e12 ? usk_format("wander=%lld.%06lld",
						 (long long)(n->wander_e12 / 1000000),
						 (long long)(n->wander_e12 % 1000000))
				    : NULL;
	for (size_t i = 0; i < n->n_clocks; i++) {
		name[i] = n->clock[i].name;
	}
	struct usk_sync_options opt = { .model = model ? model : n->model,
					.min_delay = n->min_delay,
					.reference = n->reference,
					.max_skew_e12 = n->max_skew_e12,
					.max_outliers = -1,
					.from_ns = USK_NONE,
					.to_ns = USK_NONE };
	enum usk_status status =
		usk_trace_of_messages(name, n->n_clocks, d->msg, d->n_msgs, &t, err);
	for (size_t i = 0; i < n->n_clocks && !status; i++) {
		usk_trace_clock_resolve(t, i, n->clock[i].resolution_ns);
	}
	status = status ? status : usk_sync(&t, 1, &opt, &c, err);
	if (!status) {
		take_widths(n, c, half_ns);
	}
	usk_clocks_free(c);
	usk_trace_close(t);
	USK_FREE(name, model);
	return status;
}

enum usk_status usk_forecast(const struct usk_network *n, const int64_t *period_ns,
			     int64_t *half_ns, struct usk_err *err)
{
	struct drawing d = { .n = n, .period_ns = period_ns, .seed = 1 };
	d.span_ns = span_of(&d);
	draw(&d);
	for (size_t i = 0; i < n->n_clocks; i++) {
		half_ns[i] = USK_NONE;
	}
	enum usk_status status = d.n_msgs ? solve(&d, half_ns, err) : USK_OK;
	free(d.msg);
	return status;
}
