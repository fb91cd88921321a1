/* SPDX-License-Identifier: MIT */
/*
 * corrected.c - are all messages in order after the correction, and by how much?
 *
 * In    every clock's map, what is kept of each pair's messages
 * Out   inversions, too fast messages, smallest delays, of all pairs
 * Why   a correction is checked against every message, not believed; but what a corridor dropped
 *       is in order if what it kept is (thinned.c), and need not be read again
 * Not   what the estimate is worth (compare)
 */
#include "flow/reading.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 256 };

/* ns that cover what knots and maps are rounded by. */
enum { ROUNDING = 6 };
/* A clock's stamps are this much longer than the common timeline's, at most. */
#define SPARE 1.002L

/* A message out of order that became a constraint before. */
struct stuck {
	struct usk_msg msg;
	size_t pair;
};

struct judging {
	struct parties *p;
	struct usk_clocks *c;
	struct usk_msg *inverted;		   /* of all rounds so far */
	size_t n_inverted, cap_inverted, n_before; /* before: when it was solved */
	struct usk_likely *likely;		   /* the same of messages that likely were so */
	size_t n_likely, cap_likely, n_likely_before;
	struct stuck *stuck; /* of this one: no constraint helps these any more */
	size_t n_stuck, cap_stuck;
	struct usk_map **map; /* by clock; NULL: the reference's, whose stamps stay, or not known */
	struct usk_map **one_sided; /* of clocks that are bounded on one side */
	const struct usk_graph_problem *problem;
	uint64_t judged; /* messages of pairs whose clocks are both known */
	bool logged;	 /* clocks have logs: it is solved on raw clocks, and published by stamps */
	bool published;	 /* maps are what is published */
	struct usk_err *err;
};

static int64_t gap(int64_t sent, int64_t received)
{
	return usk_saturate((usk_i128)received - sent);
}

static enum usk_status correct(const struct usk_map *m, int64_t *t, size_t n)
{
	return m ? usk_map_many(m, t, n, t, NULL) : USK_OK;
}

/* A side of a pair's points. */
struct side {
	int64_t least; /* corrected delay; USK_NONE: none, or not to be told */
	bool stands;   /* no message that was dropped is out of order */
};

/*
 * t: what dropped messages may have less than their points. No such delay is to be under the
 * smallest one, either: that is what is written.
 */
static struct side look(const struct usk_part *part, bool ceiling, const struct usk_map *a,
			const struct usk_map *b, struct usk_thinned *t)
{
	const struct usk_frame *f = &part->frame;
	struct side out = { USK_NONE, true };
	long double left = HUGE_VALL;
	for (size_t i = 0; i < part->n[ceiling];) {
		int64_t on_a[BLOCK], on_b[BLOCK], u[BLOCK], x[BLOCK];
		size_t n = 0;
		for (; n < BLOCK && i < part->n[ceiling]; n++, i++) {
			struct usk_xy q = part->point[ceiling][i];
			/* Less the weakening: as it was recorded. */
			usk_i128 y = (usk_i128)q.y + part->q_ns[ceiling];
			x[n] = q.x - (ceiling ? 0 : part->q_ns[ceiling]);
			u[n] = usk_saturate(x[n] + (ceiling ? -y : y));
			on_b[n] = f->local_ns + x[n];
			on_a[n] =
				usk_saturate(on_b[n] + (usk_i128)f->offset_ns + (ceiling ? -y : y));
		}
		if (correct(a, on_a, n) || correct(b, on_b, n)) {
			return (struct side){ USK_NONE, false };
		}
		for (size_t k = 0; k < n; k++) {
			int64_t d = ceiling ? gap(on_b[k], on_a[k]) : gap(on_a[k], on_b[k]);
			long double lacks = usk_thinned_lacks(t, x[k], u[k]);
			out.least = out.least == USK_NONE || d < out.least ? d : out.least;
			out.stands = out.stands &&
				     (long double)d >= ROUNDING + SPARE * fmaxl(lacks - 1, 0);
			left = lacks > 2 ? fminl(left, (long double)d - lacks) : left;
		}
	}
	out.stands = out.stands && left >= (long double)out.least;
	return out;
}

/* Is there an estimate? */
static bool known(const struct judging *x, uint32_t clock)
{
	return x->map[clock] || x->c->clock[clock].quality == USK_REFERENCE;
}

/* Are both on one reference's time? A pair that contradicts itself does not tie its clocks. */
static bool comparable(const struct judging *x, const struct pair_source *s)
{
	const struct usk_clock *a = &x->c->clock[s->a], *b = &x->c->clock[s->b];
	return known(x, s->a) && known(x, s->b) && a->reference == b->reference;
}

/* The map that a clock's bounds are of. */
static const struct usk_map *bounds_of(const struct judging *x, uint32_t clock)
{
	return x->map[clock] ? x->map[clock] : x->one_sided[clock];
}

/* Is a bound known that a message's sender needs to be excluded by (its receiver, upper)? */
static bool has_bound(const struct judging *x, uint32_t clock, bool upper)
{
	const struct usk_knot *k = x->c->clock[clock].knot;
	return known(x, clock) ||
	       (x->one_sided[clock] && (upper ? k->hi_ns : k->lo_ns) != USK_NONE);
}

/*
 * May bounds exclude messages of a pair that has no estimate for both its clocks? What bounds the
 * sender from below bounds the receiver, and the other way round; but not over what happened to a
 * clock between a message that was dropped and the one it was dropped for. Messages that contradict
 * each other nothing takes in.
 */
static bool may_exclude(const struct judging *x, size_t pair)
{
	const struct pair_source *s = &x->p->pair[pair];
	return !comparable(x, s) && x->c->pair[pair].quality != USK_CONTRADICTED &&
	       x->c->clock[s->a].reference == x->c->clock[s->b].reference &&
	       ((has_bound(x, s->a, false) && has_bound(x, s->b, true)) ||
		(has_bound(x, s->b, false) && has_bound(x, s->a, true)));
}

/* A message, on the clocks that the maps are of. */
static struct usk_msg on_maps(const struct judging *x, const struct usk_msg *m)
{
	return x->published ? *m : usk_carried_msg(x->p, m);
}

static struct usk_msg *outliers_of(const struct judging *x, const struct usk_pair *pair)
{
	struct usk_msg *out = usk_alloc(pair->n_outliers + 1, sizeof *out);
	for (size_t i = 0; i < pair->n_outliers; i++) {
		out[i] = on_maps(x, &pair->outlier[i].msg);
	}
	qsort(out, pair->n_outliers, sizeof *out, usk_msg_order);
	return out;
}

/* Who gets the messages while they are judged: by the maps that are published. */
static const struct usk_sink *sink_of(const struct judging *x)
{
	return x->p->kept || x->logged != x->published ? NULL : x->p->opt->messages;
}

static void begin(void *ctx, size_t pair, struct reading *r)
{
	struct judging *x = ctx;
	struct pair_source *s = &x->p->pair[pair];
	if (comparable(x, s)) {
		r->judge.map_a = x->map[s->a];
		r->judge.map_b = x->map[s->b];
		r->judge.with_delays = r->placed = true;
		r->judge.keep_inverted = !x->published;
		/* Who is wrong is not judged. */
		r->judge.left_out = outliers_of(x, &x->c->pair[pair]);
		r->judge.n_left_out = x->c->pair[pair].n_outliers;
	} else if (!x->published && may_exclude(x, pair)) {
		r->judge.map_a = bounds_of(x, s->a);
		r->judge.map_b = bounds_of(x, s->b);
		r->judge.by_bounds = true;
		r->judge.left_out = outliers_of(x, &x->c->pair[pair]);
		r->judge.n_left_out = x->c->pair[pair].n_outliers;
	}
	r->published = x->published;
	r->also = sink_of(x);
}

static void begin_kept(void *ctx, size_t pair, struct reading *r)
{
	struct judging *x = ctx;
	begin(ctx, pair, r);
	r->also = x->p->opt->messages;
}

static void tell_answer(const struct judging *x, const struct fitted *fitted)
{
	const struct usk_sink *sink = x->p->opt->messages;
	if (sink->answer) {
		sink->answer(sink->ctx, x->c);
	}
	for (size_t i = 0; i < x->p->n_pairs && sink->hull; i++) {
		for (int side = 0; side < 2 && fitted[i].hull[side]; side++) {
			sink->hull(sink->ctx, i, side, fitted[i].hull[side],
				   fitted[i].n_hull[side]);
		}
	}
}

/* All messages to who wants them, from what was kept of them. */
static enum usk_status hand_over(struct judging *x, const struct fitted *fitted)
{
	const struct usk_sink *sink = x->p->opt->messages;
	const struct reading_plan plan = { .ctx = x, .begin = begin_kept };
	tell_answer(x, fitted);
	bool wanted = !sink->start || sink->start(sink->ctx);
	return wanted ? usk_readings_kept(x->p, &plan, x->err) : USK_OK;
}

/* Who is out of order. */
static void collect(struct judging *x, const struct usk_judge *j, size_t pair)
{
	for (size_t i = 0; i < j->n_inverted; i++) {
		const struct usk_msg *m = &j->inverted[i];
		if (x->n_before && bsearch(m, x->inverted, x->n_before, sizeof *m, usk_msg_order)) {
			*USK_ADD(x->stuck, x->n_stuck, x->cap_stuck) = (struct stuck){ *m, pair };
		} else {
			*USK_ADD(x->inverted, x->n_inverted, x->cap_inverted) = *m;
		}
	}
}

static enum usk_status finish(void *ctx, size_t pair, struct reading *r, struct usk_err *err)
{
	struct judging *x = ctx;
	const struct pair_source *s = &x->p->pair[pair];
	const struct usk_judge *j = &r->judge;
	struct usk_pair *out = &x->c->pair[pair];
	(void)err;
	if (comparable(x, s)) {
		x->c->evaluation.corrected_inversions += j->inversions[0] + j->inversions[1];
		usk_violations_add(&x->c->evaluation.too_fast, j->too_fast[0] + j->too_fast[1],
				   j->violation_sum, j->violation_max);
		out->min_delay_a_to_b_ns = usk_judge_delays(j, false).min_ns;
		out->min_delay_b_to_a_ns = usk_judge_delays(j, true).min_ns;
	}
	collect(x, j, pair);
	return USK_OK;
}

/* Is it certain that no message of the pair is received before it was sent? */
static bool proved(const struct judging *x, size_t pair, const struct fitted *f)
{
	const struct pair_source *s = &x->p->pair[pair];
	const struct usk_map *a = x->map[s->a], *b = x->map[s->b];
	struct usk_pair *out = &x->c->pair[pair];
	if (!comparable(x, s)) {
		return !may_exclude(x, pair);
	}
	/* With minimum delays points are not where messages are. */
	if (usk_pair_has_min_delay(s)) {
		return false;
	}
	struct usk_thinned *t =
		usk_thinned_new(&f->part.frame, &x->c->clock[s->a], &x->c->clock[s->b]);
	struct side forth = look(&f->part, false, a, b, t), back = look(&f->part, true, a, b, t);
	usk_thinned_free(t);
	out->min_delay_a_to_b_ns = forth.least;
	out->min_delay_b_to_a_ns = back.least;
	return forth.stands && back.stands;
}

struct proving {
	const struct judging *x;
	const struct fitted *fitted;
	bool *proved; /* by pair */
};

static void prove_some(void *ctx, size_t from, size_t to)
{
	struct proving *v = ctx;
	for (size_t i = from; i < to; i++) {
		v->proved[i] = proved(v->x, i, &v->fitted[i]);
	}
}

static void maps_new(struct judging *x)
{
	for (size_t i = 0; i < x->p->n; i++) {
		const struct usk_clock *k = &x->c->clock[i];
		x->map[i] = k->quality == USK_BOUNDED ? usk_map_new(k, x->c->max_skew_e12) : NULL;
		x->one_sided[i] = k->quality == USK_ONE_SIDED && k->n_knots
					  ? usk_map_new(k, x->c->max_skew_e12)
					  : NULL;
	}
}

static void maps_free(struct judging *x)
{
	for (size_t i = 0; i < x->p->n; i++) {
		usk_map_free(x->map[i]);
		usk_map_free(x->one_sided[i]);
		x->map[i] = x->one_sided[i] = NULL;
	}
}

enum { PAIRS = 16 }; /* for a thread at a time */

/* One look at all pairs: at what is kept of them, and at messages where that proves nothing. */
static enum usk_status judge(struct judging *x, const struct fitted *fitted)
{
	struct parties *p = x->p;
	uint32_t *again = usk_alloc(p->n_pairs + 1, sizeof *again);
	const struct usk_sink *sink = sink_of(x);
	enum usk_status status = USK_OK;
	size_t n = 0;
	x->judged = 0;
	x->n_stuck = 0;
	x->c->evaluation.corrected_inversions = 0;
	x->c->evaluation.too_fast = (struct usk_violations){ .count = 0 };
	struct proving v = { x, fitted, usk_alloc(p->n_pairs + 1, sizeof *v.proved) };
	usk_parallel(x->published ? 0 : p->n_pairs, PAIRS, 0, prove_some, &v);
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct usk_pair *k = &x->c->pair[i];
		x->judged += comparable(x, &p->pair[i]) ? k->a_to_b + k->b_to_a : 0;
		if (!v.proved[i] || sink || x->published) {
			again[n++] = (uint32_t)i;
		}
	}
	free(v.proved);
	if (sink) {
		tell_answer(x, fitted);
	}
	if (n && (!sink || !sink->start || sink->start(sink->ctx))) {
		const struct reading_plan plan = { x, begin, finish, false };
		p->doing = "judging";
		p->work_all = p->work_done + usk_readings_size(p, again, n);
		status = usk_readings(p, again, n, &plan, x->err);
	}
	free(again);
	return status;
}

/* By how much a message is out of order, or where there are no estimates excluded. */
static int64_t lacks(const struct judging *x, const struct usk_msg *m)
{
	int64_t sent = m->sent_ns, received = m->received_ns;
	if (!known(x, m->from) || !known(x, m->to)) {
		int64_t q = x->c->clock[m->to].resolution_ns;
		return usk_judge_excluded(bounds_of(x, m->from), bounds_of(x, m->to), m,
					  q > 1 ? q : 0);
	}
	(void)correct(x->map[m->from], &sent, 1);
	(void)correct(x->map[m->to], &received, 1);
	return gap(received, sent);
}

/* No more than asked: it is out of order only if its stamps are of the epochs that are likely. */
static void collect_likely(void *ctx, const struct usk_likely *l)
{
	struct judging *x = ctx;
	const struct usk_clock *from = &x->c->clock[l->msg.from], *to = &x->c->clock[l->msg.to];
	/* As much of the receiver's or sender's time may be less of the reference's. */
	usk_i128 length = l->early_ns < 0 ? -(usk_i128)l->early_ns : l->early_ns;
	usk_i128 less = usk_ceil_div(length * x->c->max_skew_e12, USK_E12);
	const struct usk_likely k = { usk_carried_msg(x->p, &l->msg),
				      usk_saturate(l->early_ns - less) };
	int64_t q = to->resolution_ns;
	if (known(x, l->msg.from) && known(x, l->msg.to) && from->reference == to->reference &&
	    lacks(x, &k.msg) > usk_saturate((usk_i128)k.early_ns + (q > 1 ? q : 0)) &&
	    !(x->n_likely_before &&
	      bsearch(&k, x->likely, x->n_likely_before, sizeof k, usk_msg_order))) {
		*USK_ADD(x->likely, x->n_likely, x->cap_likely) = k;
	}
}

/* What no map puts in order is wrong: a map has one time for a stamp, and time does not fall. */
static void set_aside(struct judging *x)
{
	for (size_t i = 0; i < x->n_stuck; i++) {
		const struct stuck *k = &x->stuck[i];
		struct usk_pair *out = &x->c->pair[k->pair];
		*USK_APPEND(out->outlier, out->n_outliers) =
			(struct usk_outlier){ k->msg, lacks(x, &k->msg) };
		x->c->counts.outliers++;
	}
}

/* Is anyone who was left out written out of order all the same? */
static bool outlier_lacks(const struct judging *x, size_t pair)
{
	const struct usk_pair *out = &x->c->pair[pair];
	bool found = false;
	for (size_t k = 0; k < out->n_outliers && !found && comparable(x, &x->p->pair[pair]); k++) {
		struct usk_msg m = on_maps(x, &out->outlier[k].msg);
		int64_t q = x->c->clock[m.to].resolution_ns;
		found = lacks(x, &m) > (q > 1 ? q : 0);
	}
	return found;
}

static void begin_outliers(void *ctx, size_t pair, struct reading *r)
{
	begin(ctx, pair, r);
	r->judge.with_delays = r->judge.keep_inverted = false;
	r->also = NULL;
}

static enum usk_status finish_outliers(void *ctx, size_t pair, struct reading *r,
				       struct usk_err *err)
{
	struct judging *x = ctx;
	(void)pair;
	(void)err;
	x->c->evaluation.outlier_inversions += r->judge.left_out_inversions;
	return USK_OK;
}

/* How many are, is for the messages to say: an outlier stands for all that are alike, and a pair's
 * own were not among those that were judged. */
static enum usk_status count_outliers(struct judging *x)
{
	struct parties *p = x->p;
	uint32_t *lacking = usk_alloc(p->n_pairs + 1, sizeof *lacking);
	size_t *n_exclude = usk_alloc(p->n_pairs + 1, sizeof *n_exclude);
	enum usk_status status = USK_OK;
	size_t n = 0;
	for (size_t i = 0; i < p->n_pairs; i++) {
		n_exclude[i] = p->pair[i].n_exclude;
		if (outlier_lacks(x, i)) {
			lacking[n++] = (uint32_t)i;
			p->pair[i].n_exclude = 0;
		}
	}
	if (n) {
		const struct reading_plan plan = { x, begin_outliers, finish_outliers, false };
		p->work_all = p->work_done + usk_readings_size(p, lacking, n);
		status = usk_readings(p, lacking, n, &plan, x->err);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		p->pair[i].n_exclude = n_exclude[i];
	}
	free(n_exclude);
	free(lacking);
	return status;
}

/* Outliers of the graph, the last ones of a pair, as they were recorded. */
static enum usk_status name_outliers(struct judging *x)
{
	struct suspects s = { .n = 0 };
	for (size_t i = 0; i < x->p->n_pairs; i++) {
		const struct usk_pair *pair = &x->c->pair[i];
		size_t k = pair->n_outliers - x->problem->pair[i].n_outliers;
		for (; k < pair->n_outliers; k++) {
			usk_suspect(&s, i, &pair->outlier[k].msg);
		}
	}
	return usk_readings_name(x->p, &s, x->err);
}

/* So often are messages put in order that points did not stand for; a few times was enough for all
 * that was seen. */
enum { ROUNDS = 100 };

static enum usk_status solve_and_judge(struct judging *x, const struct fitted *fitted,
				       struct usk_graph_problem *problem)
{
	enum usk_status status = USK_OK;
	for (int round = 0; round < ROUNDS && !status; round++) {
		if (x->n_inverted) {
			qsort(x->inverted, x->n_inverted, sizeof *x->inverted, usk_msg_order);
		}
		if (x->n_likely) {
			qsort(x->likely, x->n_likely, sizeof *x->likely, usk_msg_order);
		}
		problem->more = x->inverted;
		problem->n_more = x->n_before = x->n_inverted;
		problem->likely = x->likely;
		problem->n_likely = x->n_likely_before = x->n_likely;
		usk_graph_solve(x->c, problem);
		maps_free(x);
		maps_new(x);
		status = name_outliers(x);
		status = status ? status : judge(x, fitted);
		status = status ? status : usk_rows_likely(x->p, x, collect_likely, x->err);
		if (x->n_inverted == x->n_before && x->n_likely == x->n_likely_before) {
			break;
		}
	}
	/* By raw clocks only: the stamps of such a message may be in order, or tell that they are
	 * not. */
	if (!status && x->n_stuck && !x->logged) {
		set_aside(x);
		status = judge(x, fitted);
	}
	return status;
}

static void measure_some(void *ctx, size_t from, size_t to)
{
	const struct proving *v = ctx;
	const struct judging *x = v->x;
	for (size_t i = from; i < to; i++) {
		uint32_t a = x->p->pair[i].a, b = x->p->pair[i].b;
		usk_delay_samples_pair(&v->fitted[i].samples, known(x, a) && known(x, b), x->map[a],
				       x->map[b], &x->c->pair[i]);
	}
}

static void measure_delays(const struct judging *x, const struct fitted *fitted)
{
	struct usk_evaluation *e = &x->c->evaluation;
	struct proving v = { x, fitted, NULL };
	usk_parallel(x->p->n_pairs, PAIRS, 0, measure_some, &v);
	for (size_t i = 0; i < x->p->n_pairs; i++) {
		const struct usk_pair *out = &x->c->pair[i];
		e->broadcasts_recorded =
			usk_differences_add(e->broadcasts_recorded, out->broadcasts_recorded);
		e->broadcasts_corrected =
			usk_differences_add(e->broadcasts_corrected, out->broadcasts_corrected);
	}
}

/* The answer by stamps as recorded, judged as it is published: a log's lines are as wide as their
 * brackets, and around a step no estimate knows when it was. */
static enum usk_status publish(struct judging *x, const struct fitted *fitted)
{
	x->published = true;
	usk_carried_answer(x->c, x->p);
	maps_free(x);
	maps_new(x);
	enum usk_status status = judge(x, fitted);
	const uint64_t n = x->c->evaluation.corrected_inversions;
	if (!status && n) {
		usk_flow_note(&x->c->note, &x->c->n_notes,
			      usk_format("%llu message%s received before %s sent after the "
					 "correction, too: when exactly between two of its lines "
					 "a logged clock was stepped or slewed is not known; the "
					 "error bounds hold there",
					 (unsigned long long)n, n == 1 ? " is" : "s are",
					 n == 1 ? "it was" : "they were"));
	}
	return status;
}

enum usk_status usk_judge_corrected(struct parties *p, const struct fitted *fitted,
				    struct usk_graph_problem *problem, struct usk_clocks *c,
				    struct usk_err *err)
{
	struct judging x = { .p = p, .c = c, .problem = problem, .err = err };
	const struct usk_sink *sink = p->opt->messages;
	x.map = usk_alloc(p->n, sizeof(struct usk_map *));
	x.one_sided = usk_alloc(p->n, sizeof(struct usk_map *));
	for (size_t i = 0; i < p->n; i++) {
		x.logged = x.logged || p->party[i].carry;
	}
	problem->drawn = usk_alloc(2 * p->n, sizeof *problem->drawn);
	enum usk_status status = solve_and_judge(&x, fitted, problem);
	free(problem->drawn);
	problem->drawn = NULL;
	if (!status) {
		measure_delays(&x, fitted);
	}
	status = !status && x.logged ? publish(&x, fitted) : status;
	status = status ? status : count_outliers(&x);
	if (!status && p->kept) {
		status = hand_over(&x, fitted);
	}
	if (!status && sink && sink->keep && p->n_pairs) {
		sink->keep(sink->ctx);
	}
	/* Nothing had to be read for it, maybe: that is all, too. */
	if (!status) {
		p->work_done = p->work_all;
		usk_parties_progress(p, 0);
	}
	struct usk_violations *v = &c->evaluation.too_fast;
	v->percent = v->count ? 100.0 * (double)v->count / (double)x.judged : 0;
	maps_free(&x);
	USK_FREE(x.map, x.one_sided, x.inverted, x.likely, x.stuck);
	return status;
}
