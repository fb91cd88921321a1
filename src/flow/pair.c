/* SPDX-License-Identifier: MIT */
/*
 * pair.c - one pair of clocks from its messages to its correction
 *
 * In    the messages of two clocks, readable as often as needed
 * Out   the local clock's knots and quality, the pair's figures
 * Why   a wrong pairing is poison for a hull: what no line can take in is left out, and the
 *       messages are read again, because what hid behind it is gone from the hull
 * Not   more than two clocks (sync.c)
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 10, DRAWN_POINTS = 4000 };

/* 0.4 ppm: the cone of the per-second points, see design of the corridor. */
#define KAPPA_E12 INT64_C(400000)

/* One reading of the pair's messages. */
struct reading {
	struct pair_source *source;
	struct usk_corridor *corridor;
	struct usk_judge judge;
	const struct usk_sink *also; /* the caller's */
	int64_t from_ns, to_ns;	     /* stamps of the reference */
	enum usk_status status;
	struct usk_err *err;
};

static bool take(struct reading *r, const struct usk_msg *msg, size_t n)
{
	usk_judge_add(&r->judge, msg, n);
	if (r->corridor) {
		r->status =
			usk_corridor_add(r->corridor, r->source->a, r->source->b, msg, n, r->err);
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

static enum usk_status read_once(struct pair_source *s, struct reading *r,
				 struct usk_counts *counts, struct usk_evidence *evidence)
{
	struct usk_sink sink = { .ctx = r, .put = put };
	if (r->also && r->also->start && !r->also->start(r->also->ctx)) {
		return USK_OK;
	}
	enum usk_status status = usk_pair_read(s, &sink, counts, evidence, r->err);
	return status ? status : r->status;
}

static struct reading reading_of(struct pair_source *s, struct usk_err *err)
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
	r.judge.q_b_ns = p->party[s->b].resolution_ns;
	return r;
}

static int64_t limit_e12(const struct usk_sync_options *o)
{
	return o->max_skew_e12 ? o->max_skew_e12 : INT64_C(500000000);
}

static struct usk_frame frame_of(const struct pair_source *s)
{
	const struct usk_coarse *c = &s->coarse;
	double rate = c->rate * 1e12, limit = (double)limit_e12(s->parties->opt);
	struct usk_frame f = { .kappa_e12 = KAPPA_E12 };
	f.rate_e12 = (int64_t)(rate > limit ? limit : rate < -limit ? -limit : rate);
	if (c->n_knots) {
		f.local_ns = c->knot[0].q_ns;
		f.offset_ns = c->knot[0].p_minus_q_ns;
	}
	return f;
}

static void recorded(const struct reading *r, struct usk_pair *pair)
{
	pair->a_to_b = r->judge.count[0];
	pair->b_to_a = r->judge.count[1];
	pair->recorded_a_to_b = usk_judge_delays(&r->judge, false);
	pair->recorded_b_to_a = usk_judge_delays(&r->judge, true);
}

static uint64_t inversions(const struct usk_pair *pair)
{
	return pair->recorded_a_to_b.inversions + pair->recorded_b_to_a.inversions;
}

static void blank(struct usk_pair *pair, const struct pair_source *s)
{
	pair->a = s->a;
	pair->b = s->b;
	pair->quality = USK_ABSENT;
	pair->half_width_ns = pair->half_width_at_ns = USK_NONE;
	pair->min_delay_a_to_b_ns = pair->min_delay_b_to_a_ns = USK_NONE;
	struct usk_judge none = { 0 };
	pair->recorded_a_to_b = pair->recorded_b_to_a = usk_judge_delays(&none, false);
}

enum usk_status usk_pair_check(struct pair_source *s, struct usk_pair *pair,
			       struct usk_counts *counts, struct usk_evaluation *evaluation,
			       struct usk_err *err)
{
	struct reading r = reading_of(s, err);
	blank(pair, s);
	r.judge.with_delays = true;
	enum usk_status status = read_once(s, &r, counts, &pair->evidence);
	recorded(&r, pair);
	evaluation->recorded_inversions += inversions(pair);
	usk_judge_free(&r.judge);
	return status;
}

/* ---- what can be drawn ----------------------------------------------------------------- */

/* The extreme point of each bucket, relative to the coarse slope, so that drift does not favour
 * one end of it. */
static struct usk_point *thin_out(const struct usk_point *p, size_t n, const struct usk_frame *f,
				  int64_t first, int64_t bucket, bool ceiling, size_t *n_out)
{
	struct usk_point *out = usk_alloc(n < DRAWN_POINTS ? n : DRAWN_POINTS, sizeof *out);
	size_t m = 0;
	usk_i128 best = 0;
	int64_t current = -1;
	for (size_t i = 0; i < n; i++) {
		int64_t b = (p[i].local_ns - first) / bucket;
		usk_i128 level = (usk_i128)(p[i].offset_ns - f->offset_ns) * 1000000000000 -
				 (usk_i128)f->rate_e12 * (p[i].local_ns - f->local_ns);
		level = ceiling ? -level : level;
		if (b != current) {
			current = b;
			out[m++] = p[i];
			best = level;
		} else if (level > best) {
			out[m - 1] = p[i];
			best = level;
		}
	}
	*n_out = m;
	return out;
}

static void draw(struct usk_corridor *c, const struct usk_frame *f, struct usk_pair *pair)
{
	size_t n[2];
	const struct usk_point *p[2];
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (int side = 0; side < 2; side++) {
		p[side] = usk_corridor_kept(c, side, &n[side]);
		if (n[side]) {
			first = p[side][0].local_ns < first ? p[side][0].local_ns : first;
			last = p[side][n[side] - 1].local_ns > last ? p[side][n[side] - 1].local_ns
								    : last;
		}
	}
	if (first > last) {
		return;
	}
	pair->bucket_ns = (last - first) / DRAWN_POINTS + 1;
	pair->floor = thin_out(p[0], n[0], f, first, pair->bucket_ns, false, &pair->n_floor);
	pair->ceiling = thin_out(p[1], n[1], f, first, pair->bucket_ns, true, &pair->n_ceiling);
}

/* ---- wrong messages --------------------------------------------------------------------- */

/* The message that made a point: it says all there is about it. */
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

static size_t allowed(const struct usk_sync_options *o, uint64_t messages)
{
	if (o->max_outliers >= 0) {
		return (size_t)o->max_outliers;
	}
	return messages / 10000 > 10 ? messages / 10000 : 10;
}

static void leave_out(struct pair_source *s, struct usk_pair *pair, const struct usk_suspect *x)
{
	struct usk_msg m = message_of(s, x->point, x->ceiling);
	s->exclude = usk_grow(s->exclude, s->n_exclude + 1, sizeof *s->exclude);
	s->exclude[s->n_exclude++] = m;
	pair->outlier = usk_grow(pair->outlier, pair->n_outliers + 1, sizeof *pair->outlier);
	pair->outlier[pair->n_outliers++] = (struct usk_outlier){ m, x->excess_ns };
}

static void contradiction(struct pair_source *s, struct usk_pair *pair, const struct usk_lines *l)
{
	struct usk_point point[3];
	bool side[3];
	size_t n = usk_lines_contradiction(l, point, side);
	pair->contradiction = usk_alloc(n, sizeof *pair->contradiction);
	for (size_t i = 0; i < n; i++) {
		pair->contradiction[i] = message_of(s, point[i], side[i]);
	}
	pair->n_contradiction = n;
}

/* ---- after the fit ------------------------------------------------------------------------ */

/*
 * Violations after correction. Where the vertices of both hulls are in order every message is
 * (doc/guarantees.md), and none needs to be looked at again.
 */
static enum usk_status corrected(struct pair_source *s, struct usk_corridor *c,
				 const struct usk_clock *clock, struct usk_pair *pair,
				 struct usk_evaluation *e, struct usk_err *err)
{
	struct usk_map *map = usk_map_new(clock, limit_e12(s->parties->opt));
	enum usk_status status = USK_OK;
	if (!map) {
		return USK_OK;
	}
	usk_min_delays(clock, c, &pair->min_delay_a_to_b_ns, &pair->min_delay_b_to_a_ns);
	bool wrong = (pair->min_delay_a_to_b_ns != USK_NONE && pair->min_delay_a_to_b_ns < 0) ||
		     (pair->min_delay_b_to_a_ns != USK_NONE && pair->min_delay_b_to_a_ns < 0);
	if (wrong) {
		struct reading r = reading_of(s, err);
		r.judge.map_b = map;
		status = read_once(s, &r, NULL, NULL);
		e->corrected_inversions += r.judge.inversions[0] + r.judge.inversions[1];
		e->too_fast = usk_judge_violations(&r.judge);
	}
	usk_map_free(map);
	return status;
}

enum usk_status usk_pair_fit(struct pair_source *s, struct usk_pair *pair, struct usk_clock *clock,
			     struct usk_counts *counts, struct usk_evaluation *evaluation,
			     struct usk_err *err)
{
	struct parties *p = s->parties;
	const struct usk_sync_options *o = p->opt;
	const struct party *a = &p->party[s->a], *b = &p->party[s->b];
	/* A floor stands at b's stamp, up to q_b before its moment, and the offset may fall until
	 * then (doc/guarantees.md). Under 1 ns unless stamps are coarser than 2 us. */
	int64_t slip = (int64_t)((usk_i128)b->resolution_ns * limit_e12(o) / 1000000000000);
	struct usk_frame frame = frame_of(s);
	struct usk_lines *lines = NULL;
	struct usk_corridor *corridor = NULL;
	struct usk_counts found;
	enum usk_status status;
	bool hopeless = false;
	blank(pair, s);
	for (int round = 0;; round++) {
		struct reading r = reading_of(s, err);
		usk_corridor_free(corridor);
		r.corridor = corridor = usk_corridor_new(&frame);
		r.also = o->messages;
		r.judge.with_delays = true;
		memset(&found, 0, sizeof found);
		memset(&pair->evidence, 0, sizeof pair->evidence);
		status = read_once(s, &r, &found, &pair->evidence);
		if (!status) {
			recorded(&r, pair);
		}
		usk_judge_free(&r.judge);
		if (status) {
			goto out;
		}
		usk_lines_free(lines);
		lines = usk_lines_new(corridor, a->resolution_ns, b->resolution_ns + slip,
				      limit_e12(o));
		pair->quality = usk_lines_quality(lines);
		if (pair->quality != USK_CONTRADICTED || hopeless) {
			break;
		}
		struct usk_suspect *suspect = NULL;
		size_t n, left = allowed(o, pair->a_to_b + pair->b_to_a + s->n_exclude);
		left = left > s->n_exclude ? left - s->n_exclude : 0;
		bool few = round < MAX_ROUNDS &&
			   usk_corridor_suspects(corridor, lines, left, &suspect, &n) <= left && n;
		for (size_t i = 0; few && i < n; i++) {
			leave_out(s, pair, &suspect[i]);
		}
		free(suspect);
		if (!few && !s->n_exclude) {
			break;
		}
		if (!few) {
			/* Too many to be outliers: none is left out, so all are read again. */
			hopeless = true;
			s->n_exclude = 0;
		}
		p->work_all += usk_trace_size(p->trace[0]) * 2;
	}
	if (o->messages && o->messages->keep) {
		o->messages->keep(o->messages->ctx);
	}
	evaluation->recorded_inversions += inversions(pair);
	if (pair->quality == USK_CONTRADICTED) {
		contradiction(s, pair, lines);
		free(pair->outlier);
		pair->outlier = NULL;
		pair->n_outliers = 0;
	}
	found.outliers = pair->n_outliers;
	counts->matched += found.matched;
	counts->unmatched += found.unmatched;
	counts->ambiguous += found.ambiguous;
	counts->expired += found.expired;
	counts->unsure += found.unsure;
	counts->direction_unknown += found.direction_unknown;
	counts->outliers += found.outliers;
	struct usk_fit fit = { corridor, lines, b->first_ns, b->last_ns };
	status = usk_fit_linear(&fit, usk_estimator_find(o->method ? o->method : "middle"), clock,
				err);
	if (status) {
		goto out;
	}
	clock->resolution_ns = b->resolution_ns ? b->resolution_ns : 1;
	size_t n;
	usk_corridor_hull(corridor, false, &n);
	pair->hull_floor = n;
	usk_corridor_hull(corridor, true, &n);
	pair->hull_ceiling = n;
	draw(corridor, &frame, pair);
	status = corrected(s, corridor, clock, pair, evaluation, err);
out:
	usk_lines_free(lines);
	usk_corridor_free(corridor);
	return status;
}
