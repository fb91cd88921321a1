/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - who shares messages with whom, and these messages, pair by pair
 *
 * In    clocks, what the first reading of their traces told
 * Out   all pairs, each with the origin and rate that its corridor needs, and its messages as
 *       often as needed
 * Why   captures and tables differ only here: beyond, a pair is a stream of messages
 * Not   what the messages say (reading.c)
 */
#include "flow/flow.h"
#include "flow/share.h"

#include <stdlib.h>
#include <string.h>

/* Joins that are kept for all pairs together: 50 MB. Others are found again when needed. */
enum { MOST_JOINS = 1 << 21 };

/* ---- numbers ------------------------------------------------------------------------- */

static uint64_t key_of(uint32_t x, uint32_t y)
{
	return x < y ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x;
}

/* The pairs that there are now, by the numbers that their clocks have now. */
static void renumber(struct parties *p)
{
	usk_index_free(&p->pairs);
	for (size_t i = 0; i < p->n_pairs; i++) {
		*usk_index_value(&p->pairs, key_of(p->pair[i].a, p->pair[i].b), 0) = i + 1;
	}
}

uint32_t usk_pair_find(const struct parties *p, uint32_t x, uint32_t y)
{
	return x == y ? UINT32_MAX : (uint32_t)usk_index_find(&p->pairs, key_of(x, y), 0) - 1;
}

uint32_t usk_pair_number(struct parties *p, uint32_t x, uint32_t y)
{
	uint32_t found = usk_pair_find(p, x, y);
	if (found != UINT32_MAX) {
		return found;
	}
	*USK_ADD(p->pair, p->n_pairs, p->cap_pairs) = (struct pair_source){
		.parties = p,
		.a = x < y ? x : y,
		.b = x < y ? y : x,
		.from_ns = USK_NONE,
		.to_ns = USK_NONE,
	};
	*usk_index_value(&p->pairs, key_of(x, y), 0) = p->n_pairs;
	return (uint32_t)p->n_pairs - 1;
}

/* ---- captures that saw the same packets ---------------------------------------------- */

/* One capture's sightings of one key. */
static void note_passing(struct parties *p, const struct usk_sighted *s, size_t n)
{
	enum { ENOUGH = 8 };
	uint32_t sample[ENOUGH];
	if (n == 1) {
		p->party[usk_sighted_party(s)].survey.passing.once++;
		return;
	}
	for (size_t i = 0; i < n && i < ENOUGH; i++) {
		sample[i] = (uint32_t)s[i].sample;
	}
	usk_survey_passing(&p->party[usk_sighted_party(s)].survey, sample, n < ENOUGH ? n : ENOUGH);
}

/* Pairs that have a sample in common. whole: these are all samples of their captures. */
static void tie(struct parties *p, const struct usk_sighted *s, size_t n, bool whole)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = usk_sighted_run(s, n, i, false);
		for (size_t x = i, x_end; x < end; x = x_end) {
			x_end = usk_sighted_run(s, n, x, true);
			if (whole) {
				note_passing(p, s + x, x_end - x);
			}
			for (size_t y = x_end; y < end; y = usk_sighted_run(s, n, y, true)) {
				uint32_t k = usk_pair_number(p, usk_sighted_party(&s[x]),
							     usk_sighted_party(&s[y]));
				p->pair[k].in_captures = true;
			}
		}
	}
}

static void find_shared(struct parties *p)
{
	size_t n;
	struct usk_sighted *s = usk_sighted_all(p, 0, &n);
	tie(p, s, n, true);
	if (p->share && p->share->ranks > 1) {
		struct usk_sighted *some = usk_share_sighted(p, s, &n);
		tie(p, some, n, false);
		free(some);
	}
	free(s);
}

/* ---- how the two lie to each other --------------------------------------------------- */

/*
 * Two copies of one file fit perfectly and mean nothing: every packet that both hold has one stamp
 * and one TTL, to the coarser unit. One of them may be cut short.
 */
static bool same_capture(const struct usk_coarse *c, int64_t unit_ns)
{
	enum { ENOUGH = 8 };
	bool same = c->joins >= ENOUGH;
	unit_ns = unit_ns > 1 ? unit_ns : 1;
	for (size_t i = 0; i < c->joins && same; i++) {
		const struct usk_sighting *s = &c->seen[i];
		same = s->p_ns / unit_ns == s->q_ns / unit_ns && s->ttl_p == s->ttl_q;
	}
	return same;
}

static enum usk_status join(struct pair_source *s, struct usk_err *err)
{
	const struct parties *p = s->parties;
	const struct party *a = &p->party[s->a], *b = &p->party[s->b];
	usk_coarse_join(&a->survey, &b->survey, &s->coarse);
	if (same_capture(&s->coarse, a->resolution_ns > b->resolution_ns ? a->resolution_ns
									 : b->resolution_ns)) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s and %s are the same capture: two are needed, one from each "
				"machine",
				usk_trace_path(p->trace[a->trace]),
				usk_trace_path(p->trace[b->trace]));
	}
	return USK_OK;
}

static struct usk_frame frame_of(const struct parties *p, const struct usk_coarse *c)
{
	double rate = c->rate * 1e12, limit = (double)p->max_skew_e12;
	struct usk_frame f = { .rate_e12 = 0 };
	f.rate_e12 = (int64_t)(rate > limit ? limit : rate < -limit ? -limit : rate);
	if (c->n_knots) {
		f.local_ns = c->knot[0].q_ns;
		f.offset_ns = c->knot[0].p_minus_q_ns;
	}
	return f;
}

static bool put_back(const struct parties *p, uint32_t clock)
{
	return p->party[clock].survey.epochs.n > 0;
}

/*
 * Which of the two the other is held against: the reference, if it is known or there are but two.
 * Else names decide, so that the order of traces shows nowhere.
 */
static bool must_swap(const struct parties *p, const struct pair_source *s)
{
	if ((p->reference_named || p->n == 2) && (s->a == p->reference || s->b == p->reference)) {
		return s->b == p->reference;
	}
	return strcmp(p->party[s->a].name, p->party[s->b].name) > 0;
}

static int by_numbers(const void *pa, const void *pb)
{
	const struct pair_source *x = pa, *y = pb;
	int order = usk_order(x->a < x->b ? x->a : x->b, y->a < y->b ? y->a : y->b);
	return order ? order : usk_order(x->a < x->b ? x->b : x->a, y->a < y->b ? y->b : y->a);
}

static void sort(struct parties *p)
{
	if (p->n_pairs) {
		qsort(p->pair, p->n_pairs, sizeof *p->pair, by_numbers);
	}
	renumber(p);
}

/* ---- --from and --to ----------------------------------------------------------------- */

static int64_t to_b(const struct usk_coarse *c, int64_t a_ns)
{
	int64_t b = a_ns;
	size_t hint = 0;
	/* The offset changes slowly: each round is nearer by three digits at least. */
	for (int round = 0; round < 8 && c->n_knots; round++) {
		usk_i128 off = (usk_i128)usk_coarse_to_p(c, b, &hint) - a_ns;
		b = usk_saturate(b - off);
	}
	return b;
}

static int64_t to_a(const struct usk_coarse *c, int64_t b_ns)
{
	size_t hint = 0;
	return c->n_knots ? usk_coarse_to_p(c, b_ns, &hint) : b_ns;
}

/* What the reference showed at both ends, by each clock's own stamps; as exact as the coarse maps
 * are, but exact for those that exchange messages with the reference itself. */
static void set_ranges(struct parties *p)
{
	struct range {
		int64_t ns[2];
		uint32_t steps; /* from the reference, + 1 */
	} *range = usk_alloc(p->n, sizeof *range);
	range[p->reference] = (struct range){ { p->opt->from_ns, p->opt->to_ns }, 1 };
	bool found = true;
	for (uint32_t steps = 1; found; steps++) {
		found = false;
		for (size_t i = 0; i < p->n_pairs; i++) {
			const struct pair_source *s = &p->pair[i];
			const struct range *from = &range[s->a];
			struct range *to = &range[s->b];
			bool forth = from->steps == steps && !to->steps;
			if (!forth && !(to->steps == steps && !from->steps)) {
				continue;
			}
			from = &range[forth ? s->a : s->b];
			to = &range[forth ? s->b : s->a];
			to->steps = steps + 1;
			for (int k = 0; k < 2; k++) {
				int64_t t = from->ns[k];
				to->ns[k] = t == USK_NONE ? t
					    : forth	  ? to_b(&s->coarse, t)
							  : to_a(&s->coarse, t);
			}
			found = true;
		}
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		struct pair_source *s = &p->pair[i];
		if (range[s->a].steps) {
			s->from_ns = range[s->a].ns[0];
			s->to_ns = range[s->a].ns[1];
		}
	}
	free(range);
}

/* ---- all pairs ----------------------------------------------------------------------- */

/* Origin, rate, and how captures lie. */
static enum usk_status settle(struct pair_source *s, struct usk_err *err)
{
	struct parties *p = s->parties;
	enum usk_status status = USK_OK;
	bool swapped = must_swap(p, s);
	if (swapped) {
		uint32_t a = s->a;
		s->a = s->b;
		s->b = a;
	}
	if (s->in_captures && usk_share_matches(s)) {
		status = join(s, err);
	}
	if (!s->coarse.joins && s->in_tables) {
		usk_coarse_free(&s->coarse);
		usk_table_sample_fit(s, swapped);
		s->coarse.joins = 0; /* nothing to walk along */
	}
	s->frame = frame_of(p, &s->coarse);
	usk_carried_frame(p, s->a, s->b, &s->coarse, &s->frame);
	free(s->sample.s);
	s->sample.s = NULL;
	return status;
}

enum usk_status usk_pairs_settle(struct parties *p, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	size_t n = 0, joins = 0, captures = 0;
	for (size_t i = 0; i < p->n; i++) {
		captures += p->party[i].trace != SIZE_MAX;
	}
	renumber(p);
	if (p->n == 2) {
		/* What runs on says more than what was set back. */
		p->reference =
			!p->reference_named && put_back(p, 0) && !put_back(p, 1) ? 1 : p->reference;
		/* These two are asked for, whatever they share. */
		usk_pair_number(p, 0, 1);
	}
	if (captures > 1) {
		find_shared(p);
	}
	if (p->share) {
		usk_share_pairs(p);
		sort(p);
		usk_share_deal(p);
	}
	size_t all = p->n_pairs;
	for (size_t i = 0; i < all && !status; i++) {
		struct pair_source *s = &p->pair[i];
		status = settle(s, err);
		joins += s->coarse.joins;
		if (joins > MOST_JOINS) {
			free(s->coarse.seen);
			s->coarse.seen = NULL;
		}
	}
	usk_share_joins(p, status, err);
	for (size_t i = 0; i < all && !status; i++) {
		if (p->pair[i].coarse.joins || p->pair[i].in_tables || p->n == 2) {
			p->pair[n++] = p->pair[i];
		} else {
			usk_coarse_free(&p->pair[i].coarse);
		}
	}
	if (status) {
		return status;
	}
	p->n_pairs = n;
	sort(p);
	if (p->opt->from_ns != USK_NONE || p->opt->to_ns != USK_NONE) {
		set_ranges(p);
	}
	p->all_pairs = usk_alloc(n + 1, sizeof *p->all_pairs);
	p->own_pairs = usk_alloc(n + 1, sizeof *p->own_pairs);
	for (size_t i = 0; i < n; i++) {
		struct usk_coarse *c = &p->pair[i].coarse;
		p->all_pairs[i] = (uint32_t)i;
		if (usk_share_matches(&p->pair[i])) {
			p->own_pairs[p->n_own_pairs++] = (uint32_t)i;
		}
		if (!c->joins) { /* thousands of them; the spread stays */
			free(c->knot);
			c->knot = NULL;
			c->n_knots = 0;
		}
	}
	return USK_OK;
}

void usk_pairs_free(struct parties *p)
{
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_coarse_free(&p->pair[i].coarse);
		USK_FREE(p->pair[i].sample.s, p->pair[i].exclude, p->pair[i].left_out);
	}
	USK_FREE(p->pair, p->all_pairs, p->own_pairs);
	usk_index_free(&p->pairs);
}

void usk_counts_add(struct usk_counts *to, const struct usk_counts *found)
{
	to->matched += found->matched;
	to->unmatched += found->unmatched;
	to->ambiguous += found->ambiguous;
	to->expired += found->expired;
	to->unsure += found->unsure;
	to->direction_unknown += found->direction_unknown;
	to->passed += found->passed;
	to->alike += found->alike;
	to->outliers += found->outliers;
}

/* ---- messages ------------------------------------------------------------------------ */

bool usk_pair_has_min_delay(const struct pair_source *s)
{
	return usk_parties_delay(s->parties, s->a, s->b) ||
	       usk_parties_delay(s->parties, s->b, s->a) ||
	       usk_carried_pair(s->parties, s->a, s->b);
}

bool usk_pair_walks(const struct pair_source *s)
{
	return s->coarse.joins > 0;
}

uint64_t usk_pair_walk_size(const struct pair_source *s)
{
	const struct parties *p = s->parties;
	return usk_pair_walks(s) ? usk_trace_size(p->party[s->a].capture) +
					   usk_trace_size(p->party[s->b].capture)
				 : 0;
}

enum usk_status usk_pair_walk(struct pair_source *s, const struct usk_sink *sink,
			      struct usk_counts *counts, struct usk_evidence *evidence,
			      struct usk_err *err)
{
	struct parties *p = s->parties;
	const struct party *y[] = { &p->party[s->a], &p->party[s->b] };
	struct usk_walker of[2];
	struct usk_coarse again = { 0 };
	struct usk_walk_options o = {
		.depth = p->depth,
		.exclude = s->exclude,
		.n_exclude = s->n_exclude,
		.progress = usk_parties_progress,
		.progress_ctx = p,
	};
	for (int k = 0; k < 2; k++) {
		of[k] = (struct usk_walker){ .trace = y[k]->capture,
					     .survey = &y[k]->survey,
					     .clock = k ? s->b : s->a,
					     .local = y[k]->stated,
					     .n_local = y[k]->n_stated };
	}
	if (!s->coarse.seen) {
		usk_coarse_join(of[0].survey, of[1].survey, &again);
	}
	enum usk_status status =
		usk_walk(of, s->coarse.seen ? &s->coarse : &again, &o, sink, counts, evidence, err);
	usk_coarse_free(&again);
	return status;
}
