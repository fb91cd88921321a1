/* SPDX-License-Identifier: MIT */
/*
 * reading.c - the messages of a pair, without those that are wrong
 *
 * In    the messages of two clocks, readable as often as needed
 * Out   corridor, feasible lines, delays as recorded; the messages themselves where asked for
 * Why   a wrong pairing is poison for a hull: what no line can take in is left out, and the
 *       messages are read again, because what hid behind it is gone from the hull
 * Not   estimates (pair.c, compare.c)
 */
#include "flow/reading.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 10 };

/*
 * A minimum delay as a message without one: as the reference's stamp would be, had it sent so much
 * later, or received so much earlier. Then x - y + delta and x - y - delta are its points.
 */
static struct usk_msg lean(const struct reading *r, const struct usk_msg *m)
{
	struct usk_msg leaned = *m;
	if (m->from == r->source->a) {
		leaned.sent_ns += usk_delay_model_ns(r->judge.least[0], m->bytes);
	} else {
		leaned.received_ns -= usk_delay_model_ns(r->judge.least[1], m->bytes);
	}
	return leaned;
}

static enum usk_status add(struct reading *r, const struct usk_msg *msg, size_t n)
{
	const struct pair_source *s = r->source;
	struct usk_msg leaned[512];
	enum usk_status status = USK_OK;
	if (!r->judge.least[0] && !r->judge.least[1]) {
		return usk_corridor_add(r->corridor, s->a, s->b, msg, n, r->err);
	}
	for (size_t m; n && !status; msg += m, n -= m) {
		m = n < COUNT(leaned) ? n : COUNT(leaned);
		for (size_t i = 0; i < m; i++) {
			leaned[i] = lean(r, &msg[i]);
		}
		status = usk_corridor_add(r->corridor, s->a, s->b, leaned, m, r->err);
		if (!status && r->plain) {
			status = usk_corridor_add(r->plain, s->a, s->b, msg, m, r->err);
		}
	}
	return status;
}

static int by_leaned(const void *pa, const void *pb)
{
	return usk_msg_order(&((const struct suspected *)pa)->leaned,
			     &((const struct suspected *)pb)->leaned);
}

static void recognise(struct reading *r, const struct usk_msg *m)
{
	struct suspected key = { .leaned = lean(r, m) };
	struct suspected *x = bsearch(&key, r->suspected, r->n_suspected, sizeof key, by_leaned);
	if (x && !x->found) {
		x->found = true;
		*x->msg = *m;
	}
}

static bool take(struct reading *r, const struct usk_msg *msg, size_t n)
{
	usk_judge_add(&r->judge, msg, n);
	if (r->witness) {
		usk_witness_msgs(r->witness, msg, n);
	}
	for (size_t i = 0; r->keep && i < n; i++) {
		r->msg = usk_room(r->msg, r->n_msgs, &r->cap_msgs, sizeof *r->msg);
		r->msg[r->n_msgs++] = msg[i];
	}
	if (r->corridor) {
		r->status = add(r, msg, n);
	}
	for (size_t i = 0; r->n_suspected && i < n; i++) {
		recognise(r, &msg[i]);
	}
	return !r->status && (!r->also || r->also->put(r->also->ctx, msg, n));
}

/* --from and --to, by the reference's stamps. */
static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct reading *r = ctx;
	if (r->from_ns == USK_NONE && r->to_ns == USK_NONE) {
		return take(r, msg, n);
	}
	struct usk_msg kept[512];
	size_t m = 0;
	bool more = true;
	for (size_t i = 0; i < n && more; i++) {
		int64_t t = msg[i].from == r->source->a ? msg[i].sent_ns : msg[i].received_ns;
		if ((r->from_ns == USK_NONE || t >= r->from_ns) &&
		    (r->to_ns == USK_NONE || t <= r->to_ns)) {
			kept[m++] = msg[i];
		}
		if (m == COUNT(kept) || i + 1 == n) {
			more = take(r, kept, m);
			m = 0;
		}
	}
	return more;
}

static void heard(void *ctx, const struct usk_reception *heard, size_t n)
{
	struct reading *r = ctx;
	for (size_t i = 0; i < n && r->witness; i++) {
		if ((r->from_ns == USK_NONE || heard[i].a_ns >= r->from_ns) &&
		    (r->to_ns == USK_NONE || heard[i].a_ns <= r->to_ns)) {
			usk_witness_heard(r->witness, &heard[i], 1);
		}
	}
}

enum usk_status usk_reading_once(struct reading *r, struct usk_counts *counts,
				 struct usk_evidence *evidence)
{
	struct usk_sink sink = { .ctx = r, .heard = heard, .put = put };
	if (r->also && r->also->start && !r->also->start(r->also->ctx)) {
		return USK_OK;
	}
	enum usk_status status = usk_pair_read(r->source, &sink, counts, evidence, r->err);
	return status ? status : r->status;
}

struct reading usk_reading_of(struct pair_source *s, struct usk_err *err)
{
	const struct parties *p = s->parties;
	struct reading r = {
		.source = s,
		.from_ns = p->opt->from_ns,
		.to_ns = p->opt->to_ns,
		.err = err,
	};
	r.judge.a = s->a;
	r.judge.b = s->b;
	r.judge.q_a_ns = p->party[s->a].resolution_ns;
	/* A floor stands at b's stamp, up to q_b before its moment, and the offset may fall until
	 * then (doc/guarantees.md). Under 1 ns unless stamps are coarser than 2 us. */
	int64_t q_b = p->party[s->b].resolution_ns;
	r.judge.q_b_ns = q_b + (int64_t)((usk_i128)q_b * usk_limit_e12(p->opt) / 1000000000000);
	r.judge.least[0] = usk_parties_delay(p, s->a, s->b);
	r.judge.least[1] = usk_parties_delay(p, s->b, s->a);
	return r;
}

int64_t usk_limit_e12(const struct usk_sync_options *o)
{
	return o->max_skew_e12 ? o->max_skew_e12 : INT64_C(500000000);
}

static struct usk_frame frame_of(const struct pair_source *s)
{
	const struct usk_coarse *c = &s->coarse;
	double rate = c->rate * 1e12, limit = (double)usk_limit_e12(s->parties->opt);
	struct usk_frame f = { .rate_e12 = 0 };
	f.rate_e12 = (int64_t)(rate > limit ? limit : rate < -limit ? -limit : rate);
	if (c->n_knots) {
		f.local_ns = c->knot[0].q_ns;
		f.offset_ns = c->knot[0].p_minus_q_ns;
	}
	return f;
}

void usk_reading_recorded(const struct reading *r, struct usk_pair *pair)
{
	pair->a_to_b = r->judge.count[0];
	pair->b_to_a = r->judge.count[1];
	pair->recorded_a_to_b = usk_judge_delays(&r->judge, false);
	pair->recorded_b_to_a = usk_judge_delays(&r->judge, true);
}

uint64_t usk_pair_inversions(const struct usk_pair *pair)
{
	return pair->recorded_a_to_b.inversions + pair->recorded_b_to_a.inversions;
}

void usk_pair_blank(struct usk_pair *pair, const struct pair_source *s)
{
	pair->a = s->a;
	pair->b = s->b;
	pair->quality = USK_ABSENT;
	pair->half_width_ns = pair->half_width_at_ns = USK_NONE;
	pair->min_delay_a_to_b_ns = pair->min_delay_b_to_a_ns = USK_NONE;
	struct usk_judge none = { 0 };
	pair->recorded_a_to_b = pair->recorded_b_to_a = usk_judge_delays(&none, false);
	pair->corrected_a_to_b = pair->corrected_b_to_a = pair->recorded_a_to_b;
	pair->heard_recorded = pair->heard_corrected = usk_no_difference;
}

/* ---- wrong messages --------------------------------------------------------------------- */

/* The message that made a point: it says all there is about it, but for a minimum delay. */
static struct usk_msg message_of(const struct pair_source *s, struct usk_point p, bool ceiling)
{
	int64_t on_a = p.local_ns + p.offset_ns;
	return (struct usk_msg){
		.sent_ns = ceiling ? p.local_ns : on_a,
		.received_ns = ceiling ? on_a : p.local_ns,
		.from = ceiling ? s->b : s->a,
		.to = ceiling ? s->a : s->b,
	};
}

/*
 * Messages of points back to those that were read. How long a message is, and so its minimum delay,
 * is not to be seen in its point: it is looked for.
 */
static enum usk_status identify(struct pair_source *s, struct usk_msg *msg, size_t n,
				struct usk_err *err)
{
	struct reading r = usk_reading_of(s, err);
	if (!n || (!r.judge.least[0] && !r.judge.least[1])) {
		return USK_OK;
	}
	r.suspected = usk_alloc(n, sizeof *r.suspected);
	r.n_suspected = n;
	for (size_t i = 0; i < n; i++) {
		r.suspected[i] = (struct suspected){ .leaned = msg[i], .msg = &msg[i] };
	}
	qsort(r.suspected, n, sizeof *r.suspected, by_leaned);
	enum usk_status status = usk_reading_once(&r, NULL, NULL);
	usk_judge_free(&r.judge);
	free(r.suspected);
	return status;
}

/* How many more may be left out. */
static size_t allowed(const struct usk_sync_options *o, uint64_t messages, size_t out)
{
	uint64_t most = (messages + out) / 10000 > 10 ? (messages + out) / 10000 : 10;
	most = o->max_outliers >= 0 ? (uint64_t)o->max_outliers : most;
	return most > out ? most - out : 0;
}

static enum usk_status contradiction(struct pair_source *s, struct usk_pair *pair,
				     const struct usk_verdict *v, struct usk_err *err)
{
	size_t n = v->n_points;
	pair->contradiction = usk_alloc(n, sizeof *pair->contradiction);
	for (size_t i = 0; i < n; i++) {
		pair->contradiction[i] = message_of(s, v->point[i], v->ceiling[i]);
	}
	pair->n_contradiction = n;
	return identify(s, pair->contradiction, n, err);
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* Two stamps within the range may differ by more than it: then no offset says by how much. */
static enum usk_status offsets_in_range(const struct pair_source *s, struct usk_corridor *c,
					struct usk_err *err)
{
	const struct party *y = s->parties->party;
	for (int side = 0; side < 2; side++) {
		size_t n;
		const struct usk_point *p = usk_corridor_hull(c, side, &n);
		for (size_t i = 0; i < n; i++) {
			if (p[i].offset_ns > USK_TIME_MAX || p[i].offset_ns < -USK_TIME_MAX) {
				return usk_fail(err, USK_ERANGE, 0,
						"%s and %s are more than 2^62 ns (146 years) apart",
						y[s->a].name, y[s->b].name);
			}
		}
	}
	return USK_OK;
}

static enum usk_status read_round(struct pair_source *s, bool keep, int64_t kappa_e12,
				  struct usk_pair *pair, struct gathered *g, struct usk_err *err)
{
	const struct parties *p = s->parties;
	struct reading r = usk_reading_of(s, err);
	usk_gathered_free(g);
	g->frame = frame_of(s);
	g->frame.kappa_e12 = kappa_e12;
	r.corridor = g->corridor = usk_corridor_new(&g->frame);
	if (r.judge.least[0] || r.judge.least[1]) {
		r.plain = g->plain_corridor = usk_corridor_new(&g->frame);
	}
	r.also = p->opt->messages;
	r.judge.with_delays = true;
	r.keep = keep;
	r.witness = &g->witness;
	memset(&pair->evidence, 0, sizeof pair->evidence);
	enum usk_status status = usk_reading_once(&r, &g->found, &pair->evidence);
	if (!status) {
		usk_reading_recorded(&r, pair);
		g->lines = usk_lines_new(g->corridor, r.judge.q_a_ns, r.judge.q_b_ns,
					 usk_limit_e12(p->opt));
		if (g->plain_corridor) {
			g->plain = usk_lines_new(g->plain_corridor, r.judge.q_a_ns, r.judge.q_b_ns,
						 usk_limit_e12(p->opt));
		}
		status = offsets_in_range(s, g->corridor, err);
	}
	usk_judge_free(&r.judge);
	g->msg = r.msg;
	g->n_msgs = r.n_msgs;
	if (!status) {
		struct usk_fit fit = usk_gathered_fit(g, s);
		usk_model_row(fit.model.kind)
			->ask(&fit, allowed(p->opt, pair->a_to_b + pair->b_to_a, s->n_exclude),
			      &g->verdict);
		pair->quality = g->verdict.quality;
		pair->wander = g->verdict.wander;
	}
	return status;
}

/* The suspects go, too. */
static enum usk_status leave_out(struct pair_source *s, struct usk_pair *pair,
				 const struct usk_verdict *v, struct usk_err *err)
{
	size_t n = v->n_suspects;
	struct usk_msg *msg = usk_alloc(n + 1, sizeof *msg);
	for (size_t i = 0; i < n; i++) {
		msg[i] = message_of(s, v->suspect[i].point, v->suspect[i].ceiling);
	}
	enum usk_status status = identify(s, msg, n, err);
	s->exclude = usk_grow(s->exclude, s->n_exclude + n + 1, sizeof *s->exclude);
	pair->outlier = usk_grow(pair->outlier, pair->n_outliers + n + 1, sizeof *pair->outlier);
	for (size_t i = 0; i < n; i++) {
		s->exclude[s->n_exclude++] = msg[i];
		pair->outlier[pair->n_outliers++] =
			(struct usk_outlier){ msg[i], v->suspect[i].excess_ns };
	}
	free(msg);
	return status;
}

enum usk_status usk_pair_gather(struct pair_source *s, bool keep, struct usk_pair *pair,
				struct gathered *g, struct usk_err *err)
{
	struct parties *p = s->parties;
	enum usk_status status;
	int64_t kappa = usk_model_kappa(&p->model);
	bool again = true;
	memset(g, 0, sizeof *g);
	usk_pair_blank(pair, s);
	for (int round = 0; again; round++) {
		status = read_round(s, keep, kappa, pair, g, err);
		const struct usk_verdict *v = &g->verdict;
		bool wrong = v->n_suspects && !v->too_many, narrow = v->kappa_e12 > kappa;
		again = !status && (wrong || narrow) && round < MAX_ROUNDS;
		if (again && wrong) {
			status = leave_out(s, pair, v, err);
		}
		if (again && narrow) {
			kappa = v->kappa_e12;
		}
		again = again && !status;
		if (again) {
			p->work_all += usk_trace_size(p->trace[0]) * 2;
		}
	}
	if (!status && pair->quality == USK_CONTRADICTED) {
		/* Too many to be outliers: none is left out, so all are read again. */
		free(pair->outlier);
		pair->outlier = NULL;
		pair->n_outliers = 0;
		if (s->n_exclude) {
			s->n_exclude = 0;
			status = read_round(s, keep, kappa, pair, g, err);
		}
		if (!status) {
			status = contradiction(s, pair, &g->verdict, err);
		}
	}
	if (!status && p->opt->messages && p->opt->messages->keep) {
		p->opt->messages->keep(p->opt->messages->ctx);
	}
	g->found.outliers = pair->n_outliers;
	usk_msg_sort(g->msg, g->n_msgs, s->b);
	return status;
}

void usk_gathered_free(struct gathered *g)
{
	free(g->msg);
	usk_lines_free(g->lines);
	usk_lines_free(g->plain);
	usk_corridor_free(g->corridor);
	usk_corridor_free(g->plain_corridor);
	usk_verdict_free(&g->verdict);
	usk_witness_free(&g->witness);
	memset(g, 0, sizeof *g);
}

struct usk_fit usk_gathered_fit(const struct gathered *g, const struct pair_source *s)
{
	const struct party *b = &s->parties->party[s->b];
	return (struct usk_fit){
		.model = s->parties->model,
		.max_skew_e12 = usk_limit_e12(s->parties->opt),
		.corridor = g->corridor,
		.lines = g->lines,
		.plain = g->plain ? g->plain : g->lines,
		.least = { usk_parties_delay(s->parties, s->a, s->b),
			   usk_parties_delay(s->parties, s->b, s->a) },
		.first_local_ns = b->first_ns,
		.last_local_ns = b->last_ns,
		.msg = g->msg,
		.n_msgs = g->n_msgs,
		.heard = g->witness.heard,
		.n_heard = g->witness.n_heard,
		.a = s->a,
		.b = s->b,
	};
}
