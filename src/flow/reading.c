/* SPDX-License-Identifier: MIT */
/*
 * reading.c - the messages of pairs, read once
 *
 * In    the messages of two clocks each, readable as often as needed
 * Out   corridors, delays as recorded; the messages themselves where asked for
 * Why   tables hold all pairs' messages, captures those of two: both are read no more often than
 *       they must
 * Not   who is wrong among them (gather.c), estimates (pair.c, compare.c)
 */
#include "flow/reading.h"

#include "match/match.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
	const struct suspected *a = pa, *b = pb;
	int order = usk_order(a->pair, b->pair);
	return order ? order : usk_msg_order(&a->leaned, &b->leaned);
}

static void recognise(struct reading *r, const struct usk_msg *m, const struct usk_msg *raw)
{
	struct suspected key = { .pair = (uint32_t)(r->source - r->source->parties->pair),
				 .leaned = lean(r, raw) };
	struct suspected *x =
		bsearch(&key, r->suspects->row, r->suspects->n, sizeof key, by_leaned);
	if (x && !x->found) {
		x->found = true;
		*x->msg = *m;
	}
}

/* A clock of the pair was set back: its stamps as they were recorded, and which epochs have any. */
static void as_recorded(struct reading *r, struct usk_msg *msg, size_t n)
{
	struct party *party = r->source->parties->party;
	for (size_t i = 0; i < n; i++) {
		const uint32_t clock[] = { msg[i].from, msg[i].to };
		int64_t *const stamp[] = { &msg[i].sent_ns, &msg[i].received_ns };
		for (int k = 0; k < 2; k++) {
			struct party *y = &party[clock[k]];
			if (y->in_epoch) {
				y->in_epoch[usk_epoch_of(&y->survey.epochs, *stamp[k])] = true;
				*stamp[k] = usk_party_recorded(y, *stamp[k]);
			}
		}
	}
}

static bool put_back(const struct reading *r)
{
	const struct parties *p = r->source->parties;
	return p->party[r->source->a].in_epoch || p->party[r->source->b].in_epoch;
}

/* Messages handed over at a time. */
enum { SHOWN = 512 };

/* Corrected stamps of messages whose clocks both have an estimate; n <= SHOWN. */
static void correct(const struct reading *r, const struct usk_msg *msg, size_t n,
		    struct usk_corrected *at)
{
	int64_t stamp[2][SHOWN];
	for (size_t i = 0; i < n; i++) {
		bool back = msg[i].from != r->source->a;
		stamp[back][i] = msg[i].sent_ns;
		stamp[!back][i] = msg[i].received_ns;
	}
	uint64_t lost = usk_judge_correct(r->judge.map_a, stamp[0], n, stamp[0]) +
			usk_judge_correct(r->judge.map_b, stamp[1], n, stamp[1]);
	if (lost && n > 1) { /* which? */
		for (size_t i = 0; i < n; i++) {
			correct(r, &msg[i], 1, &at[i]);
		}
	}
	for (size_t i = 0; i < n && !lost; i++) {
		bool back = msg[i].from != r->source->a;
		at[i].sent_ns = stamp[back][i];
		at[i].received_ns = stamp[!back][i];
	}
}

static uint32_t epoch_of(const struct party *y, int64_t running_ns)
{
	return y->in_epoch ? (uint32_t)usk_epoch_of(&y->survey.epochs, running_ns) : 0;
}

/* Where messages stand on the common timeline; n <= SHOWN. */
static void place(const struct reading *r, const struct usk_msg *msg, const struct usk_msg *on,
		  size_t n, struct usk_corrected *at)
{
	const struct party *party = r->source->parties->party;
	for (size_t i = 0; i < n; i++) {
		at[i] = (struct usk_corrected){
			.sent_ns = USK_NONE,
			.received_ns = USK_NONE,
			.sent_epoch = epoch_of(&party[msg[i].from], msg[i].sent_ns),
			.received_epoch = epoch_of(&party[msg[i].to], msg[i].received_ns),
		};
	}
	if (r->placed) {
		const struct party *reference = &party[r->reference];
		correct(r, on, n, at);
		for (size_t i = 0; i < n && reference->carry; i++) {
			at[i].sent_ns = usk_carried_from(reference, at[i].sent_ns);
			at[i].received_ns = usk_carried_from(reference, at[i].received_ns);
		}
	}
}

/* To the caller: msg[n] on times that run on, on[n] on the clocks that are corrected, raw[n] as
 * recorded. */
static bool hand_over(struct reading *r, const struct usk_msg *msg, const struct usk_msg *on,
		      const struct usk_msg *raw, size_t n)
{
	struct usk_corrected at[SHOWN];
	bool more = true;
	for (size_t m; n && more; msg += m, on += m, raw += m, n -= m) {
		m = n < SHOWN ? n : SHOWN;
		if (r->also->corrected) {
			place(r, msg, on, m, at);
			r->also->corrected(r->also->ctx, at, m);
		}
		more = r->also->put(r->also->ctx, raw, m);
	}
	return more;
}

/* Judged as recorded, and handed to the caller. */
static bool show(struct reading *r, const struct usk_msg *msg, const struct usk_msg *on, size_t n)
{
	bool more = true, corrected = r->judge.map_a || r->judge.map_b;
	if (!put_back(r)) {
		usk_judge_add(&r->judge, corrected ? on : msg, n);
		return !r->also || hand_over(r, msg, on, msg, n);
	}
	if (corrected) {
		usk_judge_add(&r->judge, on, n);
	}
	struct usk_msg raw[512];
	for (size_t m; n && more; msg += m, on += m, n -= m) {
		m = n < COUNT(raw) ? n : COUNT(raw);
		memcpy(raw, msg, m * sizeof *raw);
		as_recorded(r, raw, m);
		if (!corrected) {
			usk_judge_add(&r->judge, raw, m);
		}
		more = !r->also || hand_over(r, msg, on, raw, m);
	}
	return more;
}

/* on[n]: msg[n] on the clocks that are corrected. */
static bool take_in(struct reading *r, const struct usk_msg *msg, const struct usk_msg *on,
		    size_t n)
{
	bool more = show(r, msg, on, n);
	if (r->watch) {
		usk_witness_msgs(&r->witness, on, n);
	}
	for (size_t i = 0; r->keep && i < n; i++) {
		r->msg = usk_room(r->msg, r->n_msgs, &r->cap_msgs, sizeof *r->msg);
		r->msg[r->n_msgs++] = on[i];
	}
	if (r->corridor) {
		r->status = add(r, on, n);
	}
	for (size_t i = 0; r->suspects && i < n; i++) {
		recognise(r, &msg[i], &on[i]);
	}
	return !r->status && more;
}

static bool take(struct reading *r, const struct usk_msg *msg, size_t n)
{
	const struct pair_source *s = r->source;
	struct usk_msg on[512];
	bool more = true;
	if (!usk_carried_pair(s->parties, s->a, s->b)) {
		return take_in(r, msg, msg, n);
	}
	for (size_t m; n && more; msg += m, n -= m) {
		m = n < COUNT(on) ? n : COUNT(on);
		for (size_t i = 0; i < m; i++) {
			on[i] = usk_carried_msg(s->parties, &msg[i]);
		}
		more = take_in(r, msg, on, m);
	}
	return more;
}

/* --from and --to, by a's stamps. */
static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct reading *r = ctx;
	const struct pair_source *s = r->source;
	if (s->from_ns == USK_NONE && s->to_ns == USK_NONE) {
		return take(r, msg, n);
	}
	struct usk_msg kept[512];
	size_t m = 0;
	bool more = true;
	for (size_t i = 0; i < n && more; i++) {
		int64_t t = msg[i].from == s->a ? msg[i].sent_ns : msg[i].received_ns;
		if ((s->from_ns == USK_NONE || t >= s->from_ns) &&
		    (s->to_ns == USK_NONE || t <= s->to_ns)) {
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
	const struct pair_source *s = r->source;
	for (size_t i = 0; i < n && r->watch; i++) {
		if ((s->from_ns == USK_NONE || heard[i].a_ns >= s->from_ns) &&
		    (s->to_ns == USK_NONE || heard[i].a_ns <= s->to_ns)) {
			const struct party *y = s->parties->party;
			struct usk_reception on = { usk_carried_to(&y[s->a], heard[i].a_ns),
						    usk_carried_to(&y[s->b], heard[i].b_ns) };
			usk_witness_heard(&r->witness, &on, 1);
		}
	}
}

/* ---- many pairs ---------------------------------------------------------------------- */

/* What is made of a pair's messages takes as long as reading so many bytes. */
enum { PAIR_WORK = 50000 };

struct table_readings {
	struct parties *p;
	struct reading **of; /* by number of the pair */
	struct usk_heard heard;
};

static bool put_table(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	struct reading *r = ((struct table_readings *)ctx)->of[pair];
	r->counts.matched += n;
	return put(r, msg, n);
}

static void put_heard(void *ctx, uint32_t x, int64_t x_ns, uint32_t y, int64_t y_ns)
{
	struct table_readings *t = ctx;
	uint32_t pair = usk_pair_find(t->p, x, y);
	if (pair != UINT32_MAX && t->of[pair]) {
		bool first = t->p->pair[pair].a == x;
		struct usk_reception both = { first ? x_ns : y_ns, first ? y_ns : x_ns };
		heard(t->of[pair], &both, 1);
	}
}

static void hear(void *ctx, const struct usk_msg *msg)
{
	usk_heard_add(&((struct table_readings *)ctx)->heard, msg);
}

static void begin_table(void *ctx)
{
	usk_heard_free(&((struct table_readings *)ctx)->heard);
}

static enum usk_status walk(struct reading *r)
{
	struct usk_sink sink = { .ctx = r, .heard = heard, .put = put };
	return usk_pair_walk(r->source, &sink, &r->counts, &r->evidence, r->err);
}

uint64_t usk_readings_size(const struct parties *p, const uint32_t *pair, size_t n)
{
	uint64_t size = 0;
	bool tables = false;
	for (size_t i = 0; i < n; i++) {
		size += usk_pair_walk_size(&p->pair[pair[i]]);
		tables |= p->pair[pair[i]].in_tables > 0;
	}
	return size + (tables ? usk_tables_size(p) : 0) + n * PAIR_WORK;
}

static void reading_free(struct reading *r)
{
	usk_judge_free(&r->judge);
	usk_witness_free(&r->witness);
	free(r->judge.left_out);
	free(r->msg);
	r->judge.left_out = r->msg = NULL;
}

static enum usk_status finish(const struct reading_plan *plan, size_t pair, struct reading *r,
			      struct usk_err *err)
{
	enum usk_status status = plan->finish ? plan->finish(plan->ctx, pair, r, err) : USK_OK;
	reading_free(r);
	return status;
}

/* Pairs that tables say all of. */
struct finishing {
	const struct reading_plan *plan;
	const uint32_t *pair;
	struct table_readings *t;
	pthread_t caller;
	pthread_mutex_t lock;
	size_t done;
	size_t failed; /* the first that did, whatever the order */
	enum usk_status status;
	struct usk_err err;
};

static void finish_some(void *ctx, size_t from, size_t to)
{
	struct finishing *f = ctx;
	for (size_t i = from; i < to; i++) {
		size_t k = f->pair[i];
		struct usk_err err = { 0 };
		if (!f->t->of[k] || usk_pair_walks(&f->t->p->pair[k])) {
			continue;
		}
		enum usk_status status = finish(f->plan, k, f->t->of[k], &err);
		pthread_mutex_lock(&f->lock);
		size_t done = ++f->done;
		if (status && i < f->failed) {
			f->failed = i;
			f->status = status;
			f->err = err;
		}
		pthread_mutex_unlock(&f->lock);
		if (pthread_equal(pthread_self(), f->caller)) {
			usk_parties_progress(f->t->p, done * PAIR_WORK);
		}
	}
}

static enum usk_status finish_read(struct table_readings *t, const uint32_t *pair, size_t n,
				   const struct reading_plan *plan, struct usk_err *err)
{
	struct finishing f = {
		.plan = plan, .pair = pair, .t = t, .caller = pthread_self(), .failed = SIZE_MAX
	};
	pthread_mutex_init(&f.lock, NULL);
	usk_parallel(n, 16, plan->parallel ? 0 : 1, finish_some, &f);
	pthread_mutex_destroy(&f.lock);
	t->p->work_done += f.done * PAIR_WORK;
	if (f.status && err) {
		*err = f.err;
	}
	return f.status;
}

enum usk_status usk_readings(struct parties *p, const uint32_t *pair, size_t n,
			     const struct reading_plan *plan, struct usk_err *err)
{
	struct table_readings t = { .p = p, .heard = { .put = put_heard } };
	bool *wanted = usk_alloc(p->n_pairs, sizeof *wanted), tables = false, hears = false;
	struct reading *reading = usk_alloc(n + 1, sizeof *reading);
	enum usk_status status = USK_OK;
	t.heard.ctx = &t;
	t.of = usk_alloc(p->n_pairs, sizeof(struct reading *));
	for (size_t i = 0; i < n; i++) {
		size_t k = pair[i];
		reading[i] = usk_reading_of(&p->pair[k], err);
		if (p->pair[k].in_tables) {
			t.of[k] = &reading[i];
			plan->begin(plan->ctx, k, &reading[i]);
			tables = wanted[k] = true;
			hears |= reading[i].watch;
		}
	}
	if (tables) {
		const struct table_sink sink = { .ctx = &t,
						 .wanted = wanted,
						 .put = put_table,
						 .row = hears ? hear : NULL,
						 .begin = begin_table };
		status = usk_tables_read(p, &sink, err);
		usk_heard_free(&t.heard);
	}
	/* One that failed stopped the reading of all. */
	for (size_t i = 0; i < n && !status; i++) {
		status = reading[i].status;
	}
	status = status ? status : finish_read(&t, pair, n, plan, err);
	for (size_t i = 0; i < n && !status; i++) {
		size_t k = pair[i];
		bool walks = usk_pair_walks(&p->pair[k]);
		if (t.of[k] && !walks) {
			continue;
		}
		if (!t.of[k]) {
			plan->begin(plan->ctx, k, &reading[i]);
		}
		if (walks) {
			status = walk(&reading[i]);
			p->work_done += usk_pair_walk_size(&p->pair[k]);
		}
		status = status ? status : reading[i].status;
		status = status ? status : finish(plan, k, &reading[i], err);
		p->work_done += PAIR_WORK;
	}
	for (size_t i = 0; i < n; i++) {
		reading_free(&reading[i]);
	}
	free(reading);
	free(wanted);
	free(t.of);
	return status;
}

/* ---- by their points ----------------------------------------------------------------- */

void usk_suspect(struct suspects *s, size_t pair, struct usk_msg *msg)
{
	s->row = usk_room(s->row, s->n, &s->cap, sizeof *s->row);
	s->row[s->n++] = (struct suspected){ (uint32_t)pair, *msg, msg, false };
}

static void begin_naming(void *ctx, size_t pair, struct reading *r)
{
	(void)pair;
	r->suspects = ctx;
}

enum usk_status usk_readings_name(struct parties *p, struct suspects *s, struct usk_err *err)
{
	const struct reading_plan plan = { .ctx = s, .begin = begin_naming };
	uint32_t *list = usk_alloc(s->n + 1, sizeof *list);
	enum usk_status status = USK_OK;
	size_t n = 0;
	if (s->n) {
		qsort(s->row, s->n, sizeof *s->row, by_leaned);
	}
	for (size_t i = 0; i < s->n; i++) {
		uint32_t pair = s->row[i].pair;
		if (usk_pair_leans(&p->pair[pair]) && (!n || list[n - 1] != pair)) {
			list[n++] = pair;
		}
	}
	if (n) {
		p->work_all += usk_readings_size(p, list, n);
		status = usk_readings(p, list, n, &plan, err);
	}
	free(list);
	free(s->row);
	return status;
}

/* ---- one pair ------------------------------------------------------------------------ */

struct reading usk_reading_of(struct pair_source *s, struct usk_err *err)
{
	const struct parties *p = s->parties;
	struct reading r = {
		.source = s,
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

void usk_reading_recorded(const struct reading *r, struct usk_pair *pair)
{
	pair->a_to_b = r->judge.count[0];
	pair->b_to_a = r->judge.count[1];
	pair->recorded_a_to_b = usk_judge_delays(&r->judge, false);
	pair->recorded_b_to_a = usk_judge_delays(&r->judge, true);
	pair->evidence = r->evidence;
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
