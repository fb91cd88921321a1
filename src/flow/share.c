/* SPDX-License-Identifier: MIT */
/*
 * share.c - which rank does what of one flow, and what they tell each other
 *
 * In    captures, each read at one rank
 * Out   at rank 0 what all pairs allow, as if it had matched them itself
 * Why   reading, joining and matching is nearly all of the work, and is of one capture or one pair each
 * Not   what is done to a capture or a pair (parties.c, pairs.c, gather.c); how bytes travel (src/mpi)
 *
 * A pair is matched by one of the two ranks that read its captures, so that at most one capture has to
 * come from elsewhere for it: dealt by how many records there are, the largest pair first. As nothing
 * that is made of a pair depends on where, the answer is the same for any number of ranks.
 */
#include "flow/share.h"

#include "flow/met.h"

#include "read/part.h"

#include <stdlib.h>
#include <string.h>

/* Here; the others learn of it as soon as they look for what comes from here. */
static void must(const struct parties *p, enum usk_status status, const struct usk_err *err)
{
	if (status) {
		p->share->failed(p->share->ctx, status, err);
	}
}

/* Of bytes that another rank sent: they are no failure of the traces. */
static void must_be(const struct parties *p, bool good)
{
	struct usk_err err = { 0 };
	must(p,
	     good ? USK_OK
		  : usk_fail(&err, USK_EINPUT, 0,
			     "another rank sent what cannot be read: is it another unskew?"),
	     &err);
}

static struct usk_bytes *new_bytes(size_t n)
{
	return usk_alloc(n, sizeof(struct usk_bytes));
}

/* What each rank tells all; the caller's. */
static struct usk_bytes *tell_all(const struct usk_share *x, struct usk_bytes *mine)
{
	struct usk_bytes *from = new_bytes(x->ranks);
	x->exchange(x->ctx, mine, true, from);
	free(mine->data);
	*mine = (struct usk_bytes){ 0 };
	return from;
}

bool usk_share_reads(const struct parties *p, size_t trace)
{
	return !p->share || p->share->reader[trace] == (int)p->share->rank;
}

bool usk_share_matches(const struct pair_source *s)
{
	return !s->parties->share || s->matcher == s->parties->share->rank;
}

/* ---- captures ---------------------------------------------------------------------------------- */

void usk_share_depth(struct parties *p, enum usk_status status, const struct usk_err *err)
{
	const struct usk_share *x = p->share;
	struct usk_bytes mine = { 0 };
	bool good = true;
	if (!x) {
		return;
	}
	must(p, status, err);
	usk_bytes_put(&mine, &p->depth, sizeof p->depth);
	struct usk_bytes *from = tell_all(x, &mine);
	for (unsigned r = 0; r < x->ranks && good; r++) {
		struct usk_depth d;
		good = usk_bytes_get(&from[r], &d, sizeof d);
		if (good) {
			p->depth.bytes = d.bytes < p->depth.bytes ? d.bytes : p->depth.bytes;
			p->depth.tunnel = d.tunnel > p->depth.tunnel ? d.tunnel : p->depth.tunnel;
		}
	}
	usk_bytes_free(from, x->ranks);
	must_be(p, good);
}

static void put_head(void *ctx, const void *data, size_t n)
{
	usk_bytes_put(ctx, data, n);
}

/* A trace as it is now, which is at its end. */
static void tell_trace(struct usk_bytes *b, const struct usk_trace *t)
{
	struct usk_bytes head = { 0 };
	const struct usk_part_sink sink = { put_head, &head };
	usk_part_write_head(t, true, &sink);
	usk_bytes_put(b, &head.n, sizeof head.n);
	usk_bytes_put(b, head.data, head.n);
	free(head.data);
}

/* Its interfaces, its damage, and whatever else a trace tells at its end. */
static bool hear_trace(struct usk_bytes *b, struct usk_trace *t)
{
	size_t n;
	bool good = usk_bytes_get(b, &n, sizeof n) && n <= b->n - b->at &&
		    !usk_part_take_head(t, b->data + b->at, n, NULL);
	b->at += good ? n : 0;
	return good;
}

static bool hear_surveys(struct parties *p, struct usk_bytes *from)
{
	bool good = true;
	for (size_t i = 0; i < p->n && good; i++) {
		struct party *y = &p->party[i];
		struct usk_bytes *b = &from[p->share->reader[y->trace]];
		if (y->far) {
			usk_survey_free(&y->survey);
			good = usk_bytes_get(b, &p->events[y->trace], sizeof *p->events) &&
			       usk_bytes_get_survey(b, &y->survey, false) &&
			       hear_trace(b, p->trace[y->trace]);
		}
	}
	return good;
}

void usk_share_surveys(struct parties *p, enum usk_status status, const struct usk_err *err)
{
	const struct usk_share *x = p->share;
	struct usk_bytes mine = { 0 };
	if (!x) {
		return;
	}
	must(p, status, err);
	for (size_t i = 0; i < p->n; i++) {
		const struct party *y = &p->party[i];
		uint64_t events = usk_trace_events(p->trace[y->trace]);
		if (!y->far) {
			usk_bytes_put(&mine, &events, sizeof events);
			usk_bytes_put_survey(&mine, &y->survey, false);
			tell_trace(&mine, p->trace[y->trace]);
		}
	}
	struct usk_bytes *from = tell_all(x, &mine);
	bool good = hear_surveys(p, from);
	usk_bytes_free(from, x->ranks);
	must_be(p, good);
}

/* Those of some contents, and the ways of all. */
static void tell_samples(struct usk_bytes *b, const struct usk_survey *s, uint64_t mask)
{
	struct usk_survey some = *s;
	some.sample = usk_alloc(s->n_samples + 1, sizeof *some.sample);
	some.n_samples = 0;
	for (size_t i = 0; i < s->n_samples; i++) {
		if (usk_sighted_is(&s->sample[i], mask)) {
			some.sample[some.n_samples++] = s->sample[i];
		}
	}
	usk_bytes_put_survey(b, &some, true);
	free(some.sample);
}

void usk_share_samples(struct parties *p)
{
	const struct usk_share *x = p->share;
	struct usk_bytes mine = { 0 };
	bool good = true;
	if (!x) {
		return;
	}
	const uint64_t mask = usk_met_mask(p);
	for (size_t i = 0; i < p->n; i++) {
		if (!p->party[i].far) {
			tell_samples(&mine, &p->party[i].survey, mask);
		}
	}
	struct usk_bytes *from = tell_all(x, &mine);
	for (size_t i = 0; i < p->n && good; i++) {
		struct party *y = &p->party[i];
		if (y->far) {
			usk_survey_free(&y->survey);
			good = usk_bytes_get_survey(&from[x->reader[y->trace]], &y->survey, true);
		}
	}
	usk_bytes_free(from, x->ranks);
	must_be(p, good);
}

void usk_share_forget(struct parties *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct usk_survey *s = &p->party[i].survey;
		s->n_samples = p->party[i].far ? 0 : s->n_samples;
	}
}

/* ---- who shares packets with whom ---------------------------------------------------------------- */

struct usk_sighted *usk_share_sighted(const struct parties *p, const struct usk_sighted *s,
				      size_t *n)
{
	const struct usk_share *x = p->share;
	struct usk_bytes *to = new_bytes(x->ranks), *from = new_bytes(x->ranks);
	for (size_t i = 0; i < *n; i++) {
		/* One of each capture does. */
		bool again =
			i && s[i - 1].key == s[i].key && s[i - 1].sample >> 32 == s[i].sample >> 32;
		if (!again) {
			usk_bytes_put(&to[usk_mix(s[i].key) % x->ranks], &s[i], sizeof s[i]);
		}
	}
	x->exchange(x->ctx, to, false, from);
	size_t all = 0;
	for (unsigned r = 0; r < x->ranks; r++) {
		all += from[r].n / sizeof *s;
	}
	struct usk_sighted *out = usk_alloc(all + 1, sizeof *out);
	*n = 0;
	for (unsigned r = 0; r < x->ranks; r++) {
		size_t m = from[r].n / sizeof *s;
		usk_bytes_get(&from[r], out + *n, m * sizeof *out);
		*n += m;
	}
	usk_bytes_free(to, x->ranks);
	usk_bytes_free(from, x->ranks);
	/* Runs are of one key, and within it of one party. */
	usk_sort_rows(&out->key, *n, sizeof *out / sizeof out->key);
	return out;
}

static bool hear_pairs(struct parties *p, struct usk_bytes *from)
{
	bool good = true;
	for (size_t i = 0; i < p->n && good; i++) {
		struct party *y = &p->party[i];
		struct usk_passing passing;
		good = usk_bytes_get(&from[p->share->reader[y->trace]], &passing, sizeof passing);
		y->survey.passing = good ? passing : y->survey.passing;
	}
	for (unsigned r = 0; r < p->share->ranks && good; r++) {
		uint32_t pair[2];
		while (good && from[r].at < from[r].n) {
			good = usk_bytes_get(&from[r], pair, sizeof pair) && pair[0] < p->n &&
			       pair[1] < p->n && pair[0] != pair[1];
			if (good) {
				uint32_t k = usk_pair_number(p, pair[0], pair[1]);
				p->pair[k].in_captures = true;
			}
		}
	}
	return good;
}

void usk_share_pairs(struct parties *p)
{
	struct usk_bytes mine = { 0 };
	for (size_t i = 0; i < p->n; i++) {
		const struct party *y = &p->party[i];
		if (!y->far) {
			usk_bytes_put(&mine, &y->survey.passing, sizeof y->survey.passing);
		}
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		if (s->in_captures) {
			usk_bytes_put(&mine, (uint32_t[]){ s->a, s->b }, 2 * sizeof(uint32_t));
		}
	}
	struct usk_bytes *from = tell_all(p->share, &mine);
	bool good = hear_pairs(p, from);
	usk_bytes_free(from, p->share->ranks);
	must_be(p, good);
}

/* ---- captures where they are walked ---------------------------------------------------------------- */

struct dealt {
	uint64_t records;
	uint32_t pair;
};

static void deal(struct parties *p)
{
	struct dealt *order = usk_alloc(p->n_pairs + 1, sizeof *order);
	uint64_t *load = usk_alloc(p->share->ranks, sizeof *load);
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct party *a = &p->party[p->pair[i].a], *b = &p->party[p->pair[i].b];
		order[i] = (struct dealt){ a->survey.records + b->survey.records, (uint32_t)i };
	}
	usk_sort(order, p->n_pairs, sizeof *order, KEYS(FALLING(dealt, records), BY(dealt, pair)));
	for (size_t i = 0; i < p->n_pairs; i++) {
		struct pair_source *s = &p->pair[order[i].pair];
		unsigned a = (unsigned)p->share->reader[p->party[s->a].trace],
			 b = (unsigned)p->share->reader[p->party[s->b].trace];
		s->matcher = load[b] < load[a] || (load[b] == load[a] && b < a) ? b : a;
		load[s->matcher] += order[i].records + 1;
	}
	free(load);
	free(order);
}

KEYS_CALLED(by_want, BY(usk_want, trace), BY(usk_want, rank));

/* Each capture that a rank matches pairs of, and does not read, once. */
static struct usk_want *wants_of(const struct parties *p, size_t *n)
{
	struct usk_want *w = usk_alloc(p->n_pairs + 1, sizeof *w);
	size_t all = 0;
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		const size_t trace[] = { p->party[s->a].trace, p->party[s->b].trace };
		for (int k = 0; k < 2; k++) {
			if (p->share->reader[trace[k]] != (int)s->matcher) {
				w[all++] = (struct usk_want){ s->matcher, (uint32_t)trace[k] };
			}
		}
	}
	usk_sort(w, all, sizeof *w, by_want);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (!i || usk_order_by(&w[i - 1], &w[i], by_want)) {
			w[(*n)++] = w[i];
		}
	}
	return w;
}

/* A capture and its samples are here. */
static bool take_samples(const struct parties *p, struct party *y, struct usk_bytes *from)
{
	struct usk_survey s;
	bool good = usk_bytes_get_survey(from, &s, true);
	USK_FREE(y->survey.sample, y->survey.way);
	y->survey.sample = s.sample;
	y->survey.n_samples = s.n_samples;
	y->survey.way = s.way;
	y->survey.n_ways = s.n_ways;
	usk_epochs_free(&s.epochs);
	free(s.drops.drop);
	y->capture = usk_share_capture(p, y->trace);
	y->far = false;
	return good;
}

/* The samples of what is wanted, from who drew them. Each capture is a clock, in their order. */
static void bring_samples(const struct parties *p, const struct usk_want *w, size_t n)
{
	const struct usk_share *x = p->share;
	struct usk_bytes *to = new_bytes(x->ranks), *from = new_bytes(x->ranks);
	bool good = true;
	for (size_t k = 0; k < n; k++) {
		if (usk_share_reads(p, w[k].trace)) {
			usk_bytes_put_survey(&to[w[k].rank], &p->party[w[k].trace].survey, true);
		}
	}
	x->exchange(x->ctx, to, false, from);
	for (size_t k = 0; k < n && good; k++) {
		if (w[k].rank == x->rank) {
			good = take_samples(p, &p->party[w[k].trace], &from[x->reader[w[k].trace]]);
		}
	}
	usk_bytes_free(to, x->ranks);
	usk_bytes_free(from, x->ranks);
	must_be(p, good);
}

void usk_share_deal(struct parties *p)
{
	size_t n;
	deal(p);
	struct usk_want *w = wants_of(p, &n);
	p->share->bring(p->share->ctx, w, n);
	bring_samples(p, w, n);
	free(w);
}

/* ---- pairs ----------------------------------------------------------------------------------------- */

void usk_share_joins(struct parties *p, enum usk_status status, const struct usk_err *err)
{
	struct usk_bytes mine = { 0 };
	bool good = true;
	if (!p->share) {
		return;
	}
	must(p, status, err);
	for (size_t i = 0; i < p->n_pairs; i++) {
		if (usk_share_matches(&p->pair[i])) {
			usk_bytes_put(&mine, &p->pair[i].coarse.joins, sizeof(size_t));
		}
	}
	struct usk_bytes *from = tell_all(p->share, &mine);
	for (size_t i = 0; i < p->n_pairs && good; i++) {
		struct pair_source *s = &p->pair[i];
		good = usk_bytes_get(&from[s->matcher], &s->coarse.joins, sizeof(size_t));
	}
	usk_bytes_free(from, p->share->ranks);
	must_be(p, good);
}

/* Rank 0 says what it wants: a trace, and with its samples? */
struct asked {
	uint32_t trace;
	bool samples;
};

static struct asked hear_asked(const struct usk_share *x, struct asked a)
{
	struct usk_bytes mine = { 0 };
	if (!x->rank) {
		usk_bytes_put(&mine, &a, sizeof a);
	}
	struct usk_bytes *from = tell_all(x, &mine);
	if (!usk_bytes_get(&from[0], &a, sizeof a)) {
		a = (struct asked){ 0 };
	}
	usk_bytes_free(from, x->ranks);
	const struct usk_want w = { 0, a.trace };
	x->bring(x->ctx, &w, 1);
	return a;
}

struct usk_trace *usk_share_trace(const struct usk_share *x, size_t trace)
{
	if (x->reader[trace] && x->ask(x->ctx)) {
		hear_asked(x, (struct asked){ (uint32_t)trace, false });
	}
	return x->capture(x->ctx, trace);
}

struct usk_trace *usk_share_capture(const struct parties *p, size_t trace)
{
	return p->share ? p->share->capture(p->share->ctx, trace) : p->trace[trace];
}

/* What rank 0 wants more, as long as it does. */
static void serve(const struct parties *p)
{
	while (p->share->ask(p->share->ctx)) {
		struct asked a = hear_asked(p->share, (struct asked){ 0 });
		if (a.samples) {
			bring_samples(p, &(struct usk_want){ 0, a.trace }, 1);
		}
	}
}

void usk_share_need(const struct parties *p, const struct party *y)
{
	const struct usk_share *x = p->share;
	if (!x) {
		return;
	}
	x->at_work(x->ctx, y->trace);
	if (y->far && x->ask(x->ctx)) {
		hear_asked(x, (struct asked){ (uint32_t)y->trace, true });
		bring_samples(p, &(struct usk_want){ 0, (uint32_t)y->trace }, 1);
	}
}

bool usk_share_fits(struct parties *p, struct usk_pair *pair, struct fitted *fitted,
		    enum usk_status status, const struct usk_err *err)
{
	const struct usk_share *x = p->share;
	struct usk_bytes *to = new_bytes(x->ranks), *from = new_bytes(x->ranks);
	bool good = true;
	must(p, status, err);
	for (size_t i = 0; i < p->n_own_pairs && x->rank; i++) {
		size_t k = p->own_pairs[i];
		usk_bytes_put_fit(&to[0], &p->pair[k], &pair[k], &fitted[k]);
	}
	x->exchange(x->ctx, to, false, from);
	for (size_t k = 0; k < p->n_pairs && good && !x->rank; k++) {
		struct pair_source *s = &p->pair[k];
		good = !s->matcher || usk_bytes_get_fit(&from[s->matcher], s, &pair[k], &fitted[k]);
	}
	usk_bytes_free(to, x->ranks);
	usk_bytes_free(from, x->ranks);
	must_be(p, good);
	if (x->rank) {
		serve(p);
	} else {
		x->alone(x->ctx);
	}
	return x->rank > 0;
}
