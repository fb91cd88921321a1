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
#include "flow/share.h"

#include "match/match.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Do its records show that it was set back between these? Its unwrapped time is none that passed. */
static bool set_back(const struct party *y, int64_t from, int64_t to)
{
	size_t i;
	USK_FIRST(i, 0, y->n_back, y->back[i].after_ns > from);
	return i < y->n_back && y->back[i].before_ns < to;
}

/*
 * A minimum delay as a message without one: as the reference's stamp would be, had it sent so much
 * later, or received so much earlier. Then x - y + delta and x - y - delta are its points. Where
 * the reference was set back meanwhile it is the other clock's stamp that is moved.
 */
static struct usk_msg add_min_delay(const struct reading *r, const struct usk_msg *m)
{
	const struct party *party = r->source->parties->party;
	bool forth = m->from == r->source->a;
	int64_t by = usk_delay_model_ns(r->judge.least[!forth], m->bytes);
	bool later = !set_back(&party[m->from], m->sent_ns, m->sent_ns + by);
	bool earlier = !set_back(&party[m->to], m->received_ns - by, m->received_ns);
	struct usk_msg moved_msg = *m;
	if (later && (forth || !earlier)) {
		moved_msg.sent_ns += by;
	} else if (earlier) {
		moved_msg.received_ns -= by;
	}
	return moved_msg;
}

/* Messages are looked at so many at a time. */
enum { BLOCK = 512 };

/* The same messages on times that run on, on the clocks that are corrected, and as recorded: mostly
 * all three are one. */
struct block {
	const struct usk_msg *msg, *on, *raw;
	size_t n;
};

static enum usk_status add(struct reading *r, const struct block *b)
{
	const struct pair_source *s = r->source;
	struct usk_msg moved_msg[BLOCK];
	if (!r->judge.least[0] && !r->judge.least[1]) {
		return usk_corridor_add(r->corridor, s->a, s->b, b->on, b->n, r->err);
	}
	for (size_t i = 0; i < b->n; i++) {
		moved_msg[i] = add_min_delay(r, &b->on[i]);
		int64_t moved = moved_msg[i].sent_ns - b->on[i].sent_ns + b->on[i].received_ns -
				moved_msg[i].received_ns;
		r->moved_ns = moved > r->moved_ns ? moved : r->moved_ns;
	}
	enum usk_status status = usk_corridor_add(r->corridor, s->a, s->b, moved_msg, b->n, r->err);
	if (!status && r->plain) {
		status = usk_corridor_add(r->plain, s->a, s->b, b->on, b->n, r->err);
	}
	return status;
}

KEYS_CALLED(by_moved_msg, BY(suspected, pair), BY(suspected, moved_msg.sent_ns),
	    BY(suspected, moved_msg.received_ns), BY(suspected, moved_msg.from));

static void recognise(struct reading *r, const struct usk_msg *m, const struct usk_msg *raw)
{
	struct suspected key = { .pair = (uint32_t)(r->source - r->source->parties->pair),
				 .moved_msg = add_min_delay(r, raw) };
	struct suspected *x =
		usk_find(&key, r->suspects->row, r->suspects->n, sizeof key, by_moved_msg);
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

/* Corrected stamps of messages whose clocks both have an estimate; 0 < n <= BLOCK. */
static void correct(const struct reading *r, const struct usk_msg *msg, size_t n,
		    struct usk_corrected *at)
{
	int64_t a[BLOCK], b[BLOCK], on_a[BLOCK], on_b[BLOCK];
	size_t filled = 0;
	do {
		a[filled] = usk_msg_stamp(&msg[filled], r->source->a);
		b[filled] = usk_msg_stamp(&msg[filled], r->source->b);
	} while (++filled < n);
	uint64_t lost = usk_judge_correct(r->judge.map_a, a, n, on_a) +
			usk_judge_correct(r->judge.map_b, b, n, on_b);
	if (lost && n > 1) { /* which? */
		for (size_t i = 0; i < n; i++) {
			correct(r, &msg[i], 1, &at[i]);
		}
	}
	for (size_t i = 0; i < n && !lost; i++) {
		bool back = msg[i].from != r->source->a;
		at[i].sent_ns = back ? on_b[i] : on_a[i];
		at[i].received_ns = back ? on_a[i] : on_b[i];
	}
}

static uint32_t epoch_of(const struct party *y, int64_t running_ns)
{
	return y->in_epoch ? (uint32_t)usk_epoch_of(&y->survey.epochs, running_ns) : 0;
}

/* Where messages stand on the common timeline. */
static void place(const struct reading *r, const struct block *b, struct usk_corrected *at)
{
	const struct party *party = r->source->parties->party;
	for (size_t i = 0; i < b->n; i++) {
		const struct usk_msg *m = &b->msg[i];
		at[i] = (struct usk_corrected){
			.sent_ns = USK_NONE,
			.received_ns = USK_NONE,
			.sent_epoch = epoch_of(&party[m->from], m->sent_ns),
			.received_epoch = epoch_of(&party[m->to], m->received_ns),
		};
	}
	if (r->placed) {
		correct(r, b->on, b->n, at);
	}
}

/* To the caller. */
static bool hand_over(const struct reading *r, const struct block *b)
{
	struct usk_corrected at[BLOCK];
	if (r->also->corrected) {
		place(r, b, at);
		r->also->corrected(r->also->ctx, at, b->n);
	}
	return r->also->put(r->also->ctx, b->raw, b->n);
}

static bool take(struct reading *r, const struct block *b)
{
	bool corrected = r->judge.map_a || r->judge.map_b;
	bool more = !r->also || hand_over(r, b);
	if (r->judged) {
		return more;
	}
	usk_judge_add(&r->judge, corrected ? b->on : b->raw, b->n);
	if (r->kept) {
		usk_kept_add(r->kept, (size_t)(r->source - r->source->parties->pair), r->source->a,
			     b->msg, b->n);
	}
	if (r->watch) {
		usk_delay_samples_msgs(&r->samples, b->on, b->n);
	}
	for (size_t i = 0; r->keep && i < b->n; i++) {
		*USK_ADD(r->msg, r->n_msgs, r->cap_msgs) = b->on[i];
	}
	if (r->corridor) {
		r->status = add(r, b);
	}
	for (size_t i = 0; r->suspects && i < b->n; i++) {
		recognise(r, &b->msg[i], &b->on[i]);
	}
	return !r->status && more;
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct reading *r = ctx;
	const struct pair_source *s = r->source;
	const struct party *a = &s->parties->party[s->a], *b = &s->parties->party[s->b];
	const bool cut = s->from_ns != USK_NONE || s->to_ns != USK_NONE;
	struct usk_msg kept[BLOCK], on[BLOCK], raw[BLOCK];
	bool more = true;
	for (size_t m; n && more; msg += m, n -= m) {
		m = n < BLOCK ? n : BLOCK;
		struct block x = { msg, msg, msg, m };
		if (cut) {
			x = (struct block){ kept, kept, kept, 0 };
		}
		for (size_t i = 0; i < m && cut; i++) {
			if (usk_pair_counts(s, usk_msg_stamp(&msg[i], s->a))) {
				kept[x.n++] = msg[i];
			}
		}
		if (!r->published && (a->carry || b->carry)) {
			for (size_t i = 0; i < x.n; i++) {
				on[i] = usk_carried_msg(s->parties, &x.msg[i]);
			}
			x.on = on;
		}
		if (a->in_epoch || b->in_epoch) {
			memcpy(raw, x.msg, x.n * sizeof *raw);
			as_recorded(r, raw, x.n);
			x.raw = raw;
		}
		more = !x.n || take(r, &x);
	}
	return more;
}

static void put_broadcasts(void *ctx, const struct usk_reception *broadcasts, size_t n)
{
	struct reading *r = ctx;
	const struct pair_source *s = r->source;
	for (size_t i = 0; i < n && r->watch; i++) {
		if (usk_pair_counts(s, broadcasts[i].a_ns)) {
			const struct party *y = s->parties->party;
			struct usk_reception on = { usk_carried_to(&y[s->a], broadcasts[i].a_ns),
						    usk_carried_to(&y[s->b], broadcasts[i].b_ns) };
			usk_delay_samples_broadcasts(&r->samples, &on, 1);
		}
	}
}

/* ---- many pairs ---------------------------------------------------------------------- */

/* What is made of a pair's messages takes as long as reading so many bytes. */
enum { PAIR_WORK = 50000 };

struct table_readings {
	struct parties *p;
	struct reading **of; /* by number of the pair */
	struct usk_broadcasts broadcasts;
	bool deaf;
};

static bool put_table(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	struct reading *r = ((struct table_readings *)ctx)->of[pair];
	r->counts.matched += n;
	return put(r, msg, n);
}

static void put_broadcast(void *ctx, uint32_t x, int64_t x_ns, uint32_t y, int64_t y_ns)
{
	struct table_readings *t = ctx;
	uint32_t pair = usk_pair_find(t->p, x, y);
	if (pair != UINT32_MAX && t->of[pair]) {
		bool first = t->p->pair[pair].a == x;
		struct usk_reception both = { first ? x_ns : y_ns, first ? y_ns : x_ns };
		put_broadcasts(t->of[pair], &both, 1);
	}
}

static void hear(void *ctx, const struct usk_msg *msg)
{
	struct table_readings *t = ctx;
	if (!t->deaf) {
		usk_broadcasts_add(&t->broadcasts, msg);
	}
}

/* One enter to many exits is no broadcast: nobody says that they heard it at about one time. */
static void begin_table(void *ctx, size_t which)
{
	struct table_readings *t = ctx;
	usk_broadcasts_free(&t->broadcasts);
	t->deaf = which == t->p->n_traces && t->p->gathered;
}

static enum usk_status walk(struct reading *r)
{
	struct usk_sink sink = {
		.ctx = r, .broadcasts = put_broadcasts, .beside = !r->also, .put = put
	};
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
	usk_delay_samples_free(&r->samples);
	USK_FREE(r->judge.left_out, r->msg);
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

/* Do its messages go to nothing that is another pair's, too? */
static bool touches_its_own(const struct reading *r)
{
	const struct pair_source *s = r->source;
	const struct party *party = s->parties->party;
	return !r->also && !r->kept && !r->suspects && !party[s->a].in_epoch &&
	       !party[s->b].in_epoch;
}

enum usk_status usk_readings(struct parties *p, const uint32_t *pair, size_t n,
			     const struct reading_plan *plan, struct usk_err *err)
{
	struct table_readings t = { .p = p, .broadcasts = { .put = put_broadcast } };
	bool *wanted = usk_alloc(p->n_pairs, sizeof *wanted), tables = false, hears = false;
	bool apart = true;
	struct usk_err upper = { 0 };
	struct reading *reading = usk_alloc(n + 1, sizeof *reading);
	enum usk_status status = USK_OK;
	t.broadcasts.ctx = &t;
	t.of = usk_alloc(p->n_pairs, sizeof(struct reading *));
	for (size_t i = 0; i < n; i++) {
		size_t k = pair[i];
		reading[i] = usk_reading_of(&p->pair[k], err);
		if (p->pair[k].in_tables) {
			t.of[k] = &reading[i];
			plan->begin(plan->ctx, k, &reading[i]);
			tables = wanted[k] = true;
			hears |= reading[i].watch;
			apart = apart && touches_its_own(&reading[i]);
		}
	}
	const uint32_t half = apart ? (uint32_t)(p->n_pairs / 2) : 0;
	for (size_t i = 0; i < n && half; i++) {
		reading[i].err = pair[i] < half ? err : &upper;
	}
	if (tables) {
		const struct table_sink sink = { .ctx = &t,
						 .wanted = wanted,
						 .put = put_table,
						 .half = half,
						 .row = hears ? hear : NULL,
						 .begin = begin_table };
		status = usk_tables_read(p, &sink, err);
		usk_broadcasts_free(&t.broadcasts);
	}
	/* One that failed stopped the reading of all. */
	for (size_t i = 0; i < n && !status; i++) {
		status = reading[i].status;
		if (status && err && reading[i].err == &upper) {
			*err = upper;
		}
	}
	for (size_t i = 0; i < n; i++) {
		reading[i].err = err;
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
			usk_share_need(p, &p->party[p->pair[k].a]);
			usk_share_need(p, &p->party[p->pair[k].b]);
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
	USK_FREE(reading, wanted, t.of);
	return status;
}

/* ---- kept ones ----------------------------------------------------------------------- */

static bool put_kept(void *ctx, size_t pair, const struct usk_msg *msg, size_t n)
{
	return put((struct reading *)ctx + pair, msg, n);
}

enum usk_status usk_readings_kept(struct parties *p, const struct reading_plan *plan,
				  struct usk_err *err)
{
	struct reading *reading = usk_alloc(p->n_pairs + 1, sizeof *reading);
	struct usk_kept_pair *of = usk_alloc(p->n_pairs + 1, sizeof *of);
	for (size_t i = 0; i < p->n_pairs; i++) {
		of[i] = (struct usk_kept_pair){ p->pair[i].a, p->pair[i].b };
		reading[i] = usk_reading_of(&p->pair[i], err);
		reading[i].judged = true;
		plan->begin(plan->ctx, i, &reading[i]);
	}
	enum usk_status status = usk_kept_read(p->kept, of, put_kept, reading, err);
	for (size_t i = 0; i < p->n_pairs; i++) {
		reading_free(&reading[i]);
	}
	free(of);
	free(reading);
	return status;
}

/* ---- by their points ----------------------------------------------------------------- */

void usk_suspect(struct suspects *s, size_t pair, struct usk_msg *msg)
{
	*USK_ADD(s->row, s->n, s->cap) = (struct suspected){ (uint32_t)pair, *msg, msg, false };
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
	usk_sort(s->row, s->n, sizeof *s->row, by_moved_msg);
	for (size_t i = 0; i < s->n; i++) {
		uint32_t pair = s->row[i].pair;
		if (usk_pair_has_min_delay(&p->pair[pair]) && (!n || list[n - 1] != pair)) {
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
	r.judge.q_b_ns = q_b + (int64_t)((usk_i128)q_b * p->max_skew_e12 / 1000000000000);
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
	pair->broadcasts_recorded = pair->broadcasts_corrected = usk_no_difference;
}
