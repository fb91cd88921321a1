/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - is what an answer promises true?
 *
 * Promised, if the relative rate of every pair stays within what its model takes for granted:
 *
 *     the band of every bounded clock holds the true offset at the stamps of all its messages, and
 *     at 1,001 moments from the first to the last of the simulation (to 1 ns, stamps being whole)
 *     no clock is contradicted, and no pair needs more wander than its clocks had
 *
 * A jump that is reported was one: of that clock, in that bracket, and, if all are found, of that
 * size.
 *
 * Whatever the clocks do:
 *
 *     knots are in order, their estimate in their band, and time never falls within an epoch
 *     no corrected message is received before it was sent, by integer stamps
 *     no band excludes what a message of its own clock and the reference says
 */
#include "verdict.h"
#include "band.h"
#include "true_clocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 1000
#define E6	1000000

void trial_fail(struct trial *t, const char *fmt, ...)
{
	if (!t->out->failed) {
		va_list args;
		va_start(args, fmt);
		vsnprintf(t->out->why, sizeof t->out->why, fmt, args);
		va_end(args);
		t->out->failed = true;
	}
}

/* ---- what is promised ------------------------------------------------------------------------ */

static int64_t skew_limit(const struct trial *t)
{
	return t->answer->max_skew_e12;
}

/* What the answer takes for granted of a pair's rate: half its range, parts per 10^18. */
static usk_i128 may_wander(const struct trial *t, const struct usk_pair *p)
{
	int64_t asked = t->answer->model.wander_e12, used = p->wander.used_e12;
	if (t->answer->model.kind != USK_WANDER) {
		return 1; /* one rate, rounded outwards */
	}
	return (usk_i128)(used > asked ? used : asked) * E6;
}

/* Whether the pair keeps to its model, and to the skew limit. Slopes are of either offset. */
static bool keeps(struct trial *t, const struct usk_pair *p)
{
	const struct sim_options *o = &t->s->o;
	const struct sim_clock *a = &t->clock[trial_host_of(t, p->a)],
			       *b = &t->clock[trial_host_of(t, p->b)];
	int64_t end = o->start_ns + o->duration_ns;
	struct sim_slopes x = sim_clocks_slopes(a, b, o->start_ns, end);
	struct sim_slopes y = sim_clocks_slopes(b, a, o->start_ns, end);
	usk_i128 limit = (usk_i128)skew_limit(t) * E6;
	int64_t half = sim_clocks_wander_e18(a, b, o->start_ns, end);
	bool slow = x.max_e18 <= limit && -x.min_e18 <= limit && y.max_e18 <= limit &&
		    -y.min_e18 <= limit;
	/* The needed is the least there is, so the true clocks need no less. */
	if (t->answer->model.kind == USK_WANDER && !t->out->stepped && slow &&
	    p->quality == USK_BOUNDED && (usk_i128)(p->wander.needed_e12 - 1) * E6 > half) {
		trial_fail(t,
			   "host%u and host%u are said to need %lld e-12 of wander, they had %lld "
			   "e-18",
			   trial_host_of(t, p->a), trial_host_of(t, p->b),
			   (long long)p->wander.needed_e12, (long long)half);
	}
	return slow && half <= may_wander(t, p);
}

static void find_promise(struct trial *t)
{
	bool all = true;
	for (size_t i = 0; i < t->answer->n_pairs; i++) {
		all = keeps(t, &t->answer->pair[i]) && all;
	}
	for (size_t i = 0; i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		/* Clocks that drift apart by more than the limit jump, for all that can be known.
		 */
		bool each = c->n_knots && (all || t->out->stepped) ? trial_check_jumps(t, c) : true;
		each = each && !(c->n_knots && trial_may_hide(t, c));
		all = all && (each || !t->out->stepped);
	}
	/* Where each true jump is found, the pieces between them are what the model is about. */
	all = all && (!t->out->stepped ||
		      (t->answer->model.kind == USK_SEGMENTS && !t->answer->model.segment_ns));
	t->out->promised = all;
	for (size_t i = 0; i < t->answer->n_clocks && all; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		if (c->quality == USK_CONTRADICTED &&
		    !trial_crowded(t, &t->clock[trial_host_of(t, (uint32_t)i)])) {
			trial_fail(t, "%s is contradicted", c->name);
		}
	}
}

/* ---- moments ----------------------------------------------------------------------------- */

static struct band band_then(const struct trial *t, const struct usk_clock *c, uint32_t epoch)
{
	return band_of(c, epoch, skew_limit(t));
}

/* What the reference's clock shows, on the timeline: that of one that was put back runs on. */
static int64_t reference_time(const struct trial *t, uint32_t reference, int64_t true_ns)
{
	int64_t shown = sim_clock_read(&t->clock[reference], true_ns);
	uint32_t epoch = trial_seen_epoch(t, reference, true_ns);
	struct band b = { 0 };
	if (epoch) {
		b = band_then(t, t->of[reference], epoch);
	}
	return b.n < 2 ? shown : shown + band_at(&b, shown, BAND_OFFSET);
}

static void check_moment(struct trial *t, uint32_t host, int64_t true_ns)
{
	const struct usk_clock *c = t->of[host];
	uint32_t reference = trial_host_of(t, c->reference);
	if (sim_clock_asleep(&t->clock[host], true_ns) ||
	    sim_clock_asleep(&t->clock[reference], true_ns)) {
		return; /* one stamp, many moments */
	}
	int64_t y = sim_clock_read(&t->clock[host], true_ns);
	int64_t truth = reference_time(t, reference, true_ns) - y;
	struct band b = band_then(t, c, trial_seen_epoch(t, host, true_ns));
	if (b.n < 2) {
		trial_fail(t, "%s: no two knots for its epoch", c->name);
		return;
	}
	int64_t lo = band_at(&b, y, BAND_LO), hi = band_at(&b, y, BAND_HI);
	t->out->moments++;
	if ((lo != USK_NONE && truth < lo - 1) || (hi != USK_NONE && truth > hi + 1)) {
		trial_fail(t,
			   "%s at local %lld: the true offset %lld is %lld ns outside [%lld, %lld]",
			   c->name, (long long)y, (long long)truth,
			   (long long)(lo != USK_NONE && truth < lo ? lo - truth : truth - hi),
			   (long long)lo, (long long)hi);
	}
	if (lo != USK_NONE && hi != USK_NONE && hi > lo) {
		double half = ((double)hi - (double)lo) / 2;
		double left = (double)(truth - lo < hi - truth ? truth - lo : hi - truth);
		t->out->nearest = left / half < t->out->nearest ? left / half : t->out->nearest;
		t->out->width += half;
	}
}

/* Around every jump of any clock, ever closer: the brackets that it may be in, of all clocks. */
static void check_around_jumps(struct trial *t, uint32_t host)
{
	const struct sim_options *o = &t->s->o;
	for (uint32_t h = 0; h < o->hosts; h++) {
		for (size_t i = 0; i < t->clock[h].n_jumps; i++) {
			int64_t at = t->clock[h].jump[i].true_ns;
			int64_t left = at - o->start_ns, right = o->start_ns + o->duration_ns - at;
			for (int64_t off = 1; off <= left || off <= right; off *= 2) {
				if (off <= left) {
					check_moment(t, host, at - off);
				}
				if (off <= right) {
					check_moment(t, host, at + off);
				}
			}
			check_moment(t, host, at);
		}
	}
}

static void check_moments(struct trial *t)
{
	const struct sim_options *o = &t->s->o;
	for (uint32_t h = 0; h < o->hosts; h++) {
		const struct usk_clock *c = t->of[h];
		if (!c || !c->n_knots || c->quality == USK_REFERENCE) {
			continue;
		}
		for (int64_t i = 0; i <= MOMENTS; i++) {
			check_moment(t, h,
				     o->start_ns +
					     (int64_t)((usk_i128)o->duration_ns * i / MOMENTS));
		}
		check_around_jumps(t, h);
		for (size_t i = 0; i < t->n && o->format == SIM_TABLE; i++) {
			if (t->m[i].from == h) {
				check_moment(t, h, t->m[i].left_ns);
			}
			if (t->m[i].to == h) {
				check_moment(t, h, t->m[i].arrived_ns);
			}
		}
	}
}

/* ---- messages ---------------------------------------------------------------------------- */

static void check_knots(struct trial *t, const struct usk_clock *c)
{
	for (size_t i = 0; i < c->n_knots; i++) {
		const struct usk_knot *k = &c->knot[i], *before = k - 1;
		bool one_sided = c->quality == USK_ONE_SIDED;
		if (!one_sided && (k->lo_ns > k->offset_ns || k->offset_ns > k->hi_ns)) {
			trial_fail(t, "%s: knot %zu: %lld is not within [%lld, %lld]", c->name, i,
				   (long long)k->offset_ns, (long long)k->lo_ns,
				   (long long)k->hi_ns);
		}
		if (!i || k->epoch != before->epoch) {
			continue;
		}
		if (k->local_ns <= before->local_ns) {
			trial_fail(t, "%s: knot %zu is not after the one before", c->name, i);
		}
		if (!one_sided &&
		    k->local_ns + k->offset_ns < before->local_ns + before->offset_ns) {
			trial_fail(t, "%s: time falls at knot %zu", c->name, i);
		}
	}
}

static bool corrected(const struct usk_clock *c)
{
	return c && (c->quality == USK_REFERENCE || c->quality == USK_BOUNDED);
}

/* What a stamp is on the timeline, by one side of its clock; the reference has its own. */
static int64_t on_timeline(const struct trial *t, const struct usk_clock *c, int64_t local_ns,
			   enum band_side side)
{
	if (c->quality == USK_REFERENCE) {
		return local_ns;
	}
	struct band b = band_then(t, c, 0);
	return local_ns + band_at(&b, local_ns, side);
}

/*
 * Of those that the answer is made of: in order by integer stamps, to the receiver's resolution.
 * And the receiver may have been late enough, the sender early enough, for the message to be
 * possible: its stamps may be anything up to their resolution more.
 */
static void check_message(struct trial *t, const struct usk_msg *m)
{
	const struct usk_clock *from = &t->answer->clock[m->from], *to = &t->answer->clock[m->to];
	if (!corrected(from) || !corrected(to) || from->reference != to->reference) {
		return;
	}
	int64_t q = to->resolution_ns > 1 ? to->resolution_ns : 0;
	int64_t sent = on_timeline(t, from, m->sent_ns, BAND_OFFSET);
	int64_t received = on_timeline(t, to, m->received_ns, BAND_OFFSET);
	t->out->messages++;
	if (received < sent - q) {
		trial_fail(t, "%s,%s,%lld,%lld is received %lld ns before it is sent", from->name,
			   to->name, (long long)m->sent_ns, (long long)m->received_ns,
			   (long long)(sent - received));
	}
	int64_t early = on_timeline(t, from, m->sent_ns, BAND_LO);
	int64_t late = on_timeline(t, to, m->received_ns, BAND_HI);
	if (late + q + q / 1000 + 2 < early) {
		trial_fail(t, "the bands exclude %s,%s,%lld,%lld by %lld ns", from->name, to->name,
			   (long long)m->sent_ns, (long long)m->received_ns,
			   (long long)(early - late));
	}
}

static bool put_back(const struct trial *t)
{
	for (size_t i = 0; i < t->s->o.n_steps; i++) {
		if (t->s->step[i].size_ns < 0) {
			return true;
		}
	}
	return false;
}

void trial_verdict(struct trial *t)
{
	find_promise(t);
	if (t->out->promised && t->answer->counts.outliers) {
		trial_fail(t, "%llu messages are taken for wrong",
			   (unsigned long long)t->answer->counts.outliers);
	}
	for (size_t i = 0; i < t->answer->n_clocks; i++) {
		check_knots(t, &t->answer->clock[i]);
	}
	if (t->out->promised && !t->out->failed) {
		check_moments(t);
	}
	for (size_t i = 0; i < t->n_kept && !put_back(t); i++) {
		check_message(t, &t->used[i]);
	}
	if (t->answer->evaluation.corrected_inversions) {
		trial_fail(t, "%llu inversions are counted after correction",
			   (unsigned long long)t->answer->evaluation.corrected_inversions);
	}
}
