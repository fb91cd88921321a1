/* SPDX-License-Identifier: MIT */
#include "held.h"
#include "band.h"

#include <stdlib.h>
#include <string.h>

#define E12 INT64_C(1000000000000)

/* ---- moments --------------------------------------------------------------------------------- */

void held_moment(struct held_moments *m, int64_t true_ns)
{
	m->true_ns = usk_room(m->true_ns, m->n, &m->cap, sizeof *m->true_ns);
	m->true_ns[m->n++] = true_ns;
}

void held_stamp(struct held_moments *m, struct held_stamp stamp)
{
	m->stamp = usk_room(m->stamp, m->n_stamps, &m->cap_stamps, sizeof *m->stamp);
	m->stamp[m->n_stamps++] = stamp;
}

void held_grid(struct held_moments *m, int64_t from_ns, int64_t to_ns, int64_t n)
{
	for (int64_t i = 0; i <= n; i++) {
		held_moment(m, from_ns + (int64_t)(((usk_i128)to_ns - from_ns) * i / n));
	}
}

void held_around(struct held_moments *m, const struct sim_clock *c, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < c->n_jumps; i++) {
		int64_t at = c->jump[i].true_ns, left = at - from_ns, right = to_ns - at;
		for (int64_t off = 1; off <= left || off <= right; off *= 2) {
			if (off <= left) {
				held_moment(m, at - off);
			}
			if (off <= right) {
				held_moment(m, at + off);
			}
		}
		held_moment(m, at);
	}
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static bool is_set_back(const struct sim_jump *x)
{
	return !x->still_ns && x->size_ns < 0;
}

static uint32_t epoch_at(const struct sim_clock *c, uint32_t seen, int64_t true_ns)
{
	uint32_t epoch = 0, k = 0;
	for (size_t i = 0; i < c->n_jumps && c->jump[i].true_ns <= true_ns; i++) {
		if (is_set_back(&c->jump[i])) {
			epoch += seen >> k & 1;
			k += k < 31;
		}
	}
	return epoch;
}

struct held_place held_place(const struct sim_clock *c, uint32_t seen, int64_t true_ns)
{
	return (struct held_place){ epoch_at(c, seen, true_ns), sim_clock_read(c, true_ns) };
}

static uint32_t count_set_backs(const struct sim_clock *c)
{
	uint32_t n = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		n += is_set_back(&c->jump[i]);
	}
	return n < 31 ? n : 31;
}

/* The next way to choose which set-backs begin an epoch, from 0 on; false: there is no more. */
static bool next_way(const struct usk_clock *c, const struct sim_clock *truth, uint32_t *seen,
		     bool first)
{
	uint32_t n = count_set_backs(truth), all = (UINT32_C(1) << n) - 1;
	uint32_t wanted = c->n_set_backs < n ? (uint32_t)c->n_set_backs : n;
	for (uint32_t way = first ? 0 : *seen + 1; way <= all; way++) {
		if ((uint32_t)__builtin_popcount(way) == wanted) {
			*seen = way;
			return true;
		}
	}
	return false;
}

/* Is what a clock shows then shown again in the same epoch, because it was set back? */
static bool shown_twice(const struct sim_clock *c, uint32_t seen, int64_t true_ns, int64_t shown)
{
	uint32_t k = 0, epoch = epoch_at(c, seen, true_ns), then = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct sim_jump *x = &c->jump[i];
		if (!is_set_back(x)) {
			continue;
		}
		bool begins = seen >> k & 1;
		k += k < 31;
		then += begins;
		if (begins || then != epoch) {
			continue;
		}
		if (x->true_ns > true_ns ? shown >= sim_clock_read(c, x->true_ns)
					 : shown <= sim_clock_read(c, x->true_ns - 1)) {
			return true;
		}
	}
	return false;
}

bool held_shows(const struct sim_clock *c, uint32_t seen, struct held_place stamp,
		int64_t resolution_ns)
{
	int64_t least = INT64_MIN / 2; /* shown since the last set-back */
	uint32_t k = 0, epoch = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct sim_jump *x = &c->jump[i];
		if (!is_set_back(x)) {
			continue;
		}
		if (epoch == stamp.epoch && stamp.local_ns > least - resolution_ns &&
		    stamp.local_ns <= sim_clock_read(c, x->true_ns - 1)) {
			return true;
		}
		least = sim_clock_read(c, x->true_ns);
		epoch += seen >> k & 1;
		k += k < 31;
	}
	return epoch == stamp.epoch && stamp.local_ns > least - resolution_ns;
}

bool held_stands_for_two(const struct sim_clock *c, uint32_t seen, int64_t stamp,
			 int64_t resolution_ns)
{
	uint32_t k = 0;
	bool two = false;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct sim_jump *x = &c->jump[i];
		if (is_set_back(x)) {
			two = two ||
			      (!(seen >> k & 1) && stamp <= sim_clock_read(c, x->true_ns - 1) &&
			       stamp + resolution_ns > sim_clock_read(c, x->true_ns));
			k += k < 31;
		}
	}
	return two;
}

/* ---- bands ----------------------------------------------------------------------------------- */

static int compare(struct held_place a, struct held_place b)
{
	return a.epoch != b.epoch ? (a.epoch > b.epoch) - (a.epoch < b.epoch)
				  : (a.local_ns > b.local_ns) - (a.local_ns < b.local_ns);
}

/* How two places lie to a bracket: 1 strictly inside, 0 inside, its ends included, -1 else. */
static int within(const struct usk_jump *j, struct held_place from, struct held_place to)
{
	struct held_place after = { j->epoch, j->after_local_ns };
	struct held_place before = { j->end_epoch, j->before_local_ns };
	int low = compare(from, after), high = compare(before, to);
	return j->kind != USK_JUMP || low < 0 || high < 0 ? -1 : low > 0 && high > 0;
}

/* As stamps show it, cut to the clock's resolution: brackets are stamps. */
static struct held_place stamped(const struct usk_clock *c, struct held_place at)
{
	int64_t q = c->resolution_ns > 1 ? c->resolution_ns : 1;
	at.local_ns -= (at.local_ns % q + q) % q;
	return at;
}

bool held_in_jump(const struct usk_clock *c, const struct usk_jump *j, struct held_place from,
		  struct held_place to)
{
	from = stamped(c, from);
	to = stamped(c, to);
	return within(j, from, to) >= 0;
}

/* Is that what the answer says of where the k-th epoch ends: does the clock show before it what
 * records show last, or more, and behind it what they show next, or less? */
static bool ends_epoch(const struct usk_clock *c, uint32_t k, const struct sim_clock *truth,
		       const struct sim_jump *x)
{
	struct held_place before = { 0, sim_clock_read(truth, x->true_ns - 1) };
	struct held_place behind = { 0, sim_clock_read(truth, x->true_ns) };
	const struct usk_set_back *told = &c->set_back[k];
	return told->from_ns <= stamped(c, before).local_ns &&
	       told->to_ns >= stamped(c, behind).local_ns;
}

/* How many set-backs that are taken to begin an epoch are none that the answer tells of. */
static uint32_t count_stray(const struct usk_clock *c, const struct sim_clock *truth, uint32_t seen)
{
	uint32_t stray = 0, k = 0, epoch = 0;
	for (size_t i = 0; i < truth->n_jumps; i++) {
		const struct sim_jump *x = &truth->jump[i];
		if (!is_set_back(x)) {
			continue;
		}
		if (seen >> k & 1) {
			stray += !ends_epoch(c, epoch++, truth, x);
		}
		k += k < 31;
	}
	return stray;
}

/* Strictly, or at its ends too. */
static bool in_bracket(const struct usk_clock *c, struct held_place at, bool ends)
{
	for (size_t i = 0; i < c->n_jumps; i++) {
		if (within(&c->jump[i], at, at) >= !ends) {
			return true;
		}
	}
	return false;
}

/* What the reference shows, on the timeline: that of one that was set back is unwrapped. */
static int64_t timeline(const struct usk_clocks *a, const struct usk_clock *reference,
			const struct sim_clock *truth, uint32_t seen, int64_t true_ns)
{
	int64_t shown = sim_clock_read(truth, true_ns);
	uint32_t epoch = epoch_at(truth, seen, true_ns);
	if (!epoch) {
		return shown;
	}
	struct band b = band_of(reference, epoch, a->max_skew_e12);
	return b.n < 2 ? shown : shown + band_at(&b, shown, BAND_OFFSET);
}

static void judge(struct held *h, const struct band *b, int64_t true_ns, int64_t local_ns,
		  int64_t truth)
{
	int64_t lo = band_at(b, local_ns, BAND_LO), hi = band_at(b, local_ns, BAND_HI);
	int64_t by = lo != USK_NONE && truth < lo - 1	? lo - truth
		     : hi != USK_NONE && truth > hi + 1 ? truth - hi
							: 0;
	h->moments++;
	h->outside += by > 0;
	if (by > h->by_ns) {
		h->by_ns = by;
		h->true_ns = true_ns;
		h->local_ns = local_ns;
		h->truth_ns = truth;
		h->lo_ns = lo;
		h->hi_ns = hi;
	}
	if (lo != USK_NONE && hi != USK_NONE && hi > lo) {
		double half = ((double)hi - (double)lo) / 2;
		double left = (double)(truth - lo < hi - truth ? truth - lo : hi - truth);
		h->nearest = left / half < h->nearest ? left / half : h->nearest;
		h->half_ns += half;
		h->halves++;
	}
}

/* Is a stamp that messages used have of an epoch, or could it be? */
static bool is_of(const struct held_stamp *s, const struct held_moments *m,
		  const struct sim_clock *c, uint32_t seen, uint32_t epoch, struct held_place end)
{
	if (s->true_ns != USK_NONE) {
		return epoch_at(c, seen, s->true_ns) == epoch;
	}
	return (epoch != end.epoch || s->ns <= end.local_ns) &&
	       held_shows(c, seen, (struct held_place){ epoch, s->ns }, m->resolution_ns);
}

/* No message that was used stands in the epoch from there on, or all of the epoch's went one way: then nothing bounds it
 * on both sides. */
static bool is_silent(const struct held_moments *m, const struct sim_clock *c, uint32_t seen,
		      struct held_place from)
{
	bool any = !m->stamp, way[2] = { any, any };
	int64_t end_ns = m->n ? m->true_ns[0] : 0;
	for (size_t i = 0; i < m->n; i++) {
		end_ns = m->true_ns[i] > end_ns ? m->true_ns[i] : end_ns;
	}
	const struct held_place end = held_place(c, seen, end_ns);
	for (size_t i = 0; i < m->n_stamps && !(any && way[0] && way[1]); i++) {
		const struct held_stamp *s = &m->stamp[i];
		const bool in = is_of(s, m, c, seen, from.epoch, end);
		any = any || (in && s->ns >= from.local_ns);
		way[s->sent] = way[s->sent] || in;
	}
	return !(any && way[0] && way[1]);
}

static struct held check_way(const struct usk_clocks *a, uint32_t clock,
			     const struct sim_clock *const *truth, const struct held_moments *m,
			     uint32_t reference_seen, uint32_t seen)
{
	const struct usk_clock *c = &a->clock[clock], *reference = &a->clock[c->reference];
	const struct sim_clock *mine = truth[clock], *its = truth[c->reference];
	struct held h = { .nearest = 1, .seen = seen };
	struct band b = { 0 };
	uint32_t of = UINT32_MAX;
	for (size_t i = 0; i < m->n; i++) {
		int64_t then = m->true_ns[i];
		if (sim_clock_asleep(mine, then) || sim_clock_asleep(its, then)) {
			continue;
		}
		struct held_place at = held_place(mine, seen, then);
		int64_t y = at.local_ns;
		if (in_bracket(c, at, false) || shown_twice(mine, seen, then, y)) {
			continue;
		}
		if (at.epoch != of) {
			b = band_of(c, at.epoch, a->max_skew_e12);
			of = at.epoch;
		}
		bool beyond = m->last_ns && (then < m->first_ns || then > m->last_ns);
		bool open = !b.n && c->quality == USK_ONE_SIDED; /* this epoch on both sides */
		/* An epoch that is in a bracket as a whole ends with it. */
		if (b.n < 2 &&
		    (beyond || open || in_bracket(c, at, true) || is_silent(m, mine, seen, at))) {
			continue;
		}
		if (b.n < 2) { /* nothing is said of a time that the trace holds */
			h.outside++;
			h.moments++;
			continue;
		}
		judge(&h, &b, then, y, timeline(a, reference, its, reference_seen, then) - y);
	}
	return h;
}

static struct held check_clock(const struct usk_clocks *a, uint32_t clock,
			       const struct sim_clock *const *truth, const struct held_moments *m,
			       uint32_t reference_seen)
{
	struct held best = { 0 };
	uint32_t seen = 0, best_stray = UINT32_MAX;
	for (bool first = true; next_way(&a->clock[clock], truth[clock], &seen, first);
	     first = false) {
		uint32_t stray = count_stray(&a->clock[clock], truth[clock], seen);
		if (stray > best_stray) {
			continue;
		}
		struct held h = check_way(a, clock, truth, m, reference_seen, seen);
		if (stray < best_stray || h.outside < best.outside) {
			best = h;
			best_stray = stray;
		}
	}
	return best;
}

/* An island whose reference is that clock. */
static void check_island(const struct usk_clocks *a, uint32_t reference,
			 const struct sim_clock *const *truth, const struct held_moments *moments,
			 struct held *out)
{
	struct held *way = usk_alloc(a->n_clocks, sizeof *way);
	uint64_t best = UINT64_MAX;
	uint32_t seen = 0, best_stray = UINT32_MAX;
	for (bool first = true; next_way(&a->clock[reference], truth[reference], &seen, first);
	     first = false) {
		uint64_t outside = 0;
		uint32_t stray = count_stray(&a->clock[reference], truth[reference], seen);
		if (stray > best_stray) {
			continue;
		}
		for (uint32_t i = 0; i < a->n_clocks; i++) {
			const struct usk_clock *c = &a->clock[i];
			way[i] = (struct held){ .nearest = 1, .seen = i == reference ? seen : 0 };
			if (i != reference && c->reference == reference && c->n_knots) {
				way[i] = check_clock(a, i, truth, &moments[i], seen);
			}
			outside += way[i].outside;
		}
		bool better = stray < best_stray || outside < best;
		for (uint32_t i = 0; i < a->n_clocks && better; i++) {
			if (a->clock[i].reference == reference || i == reference) {
				out[i] = way[i];
			}
		}
		best = better ? outside : best;
		best_stray = stray;
	}
	free(way);
}

void held_check(const struct usk_clocks *a, const struct sim_clock *const *truth,
		const struct held_moments *moments, struct held *out)
{
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		out[i] = (struct held){ .nearest = 1 };
	}
	for (uint32_t i = 0; i < a->n_clocks; i++) {
		if (a->clock[i].quality == USK_REFERENCE) {
			check_island(a, i, truth, moments, out);
		}
	}
}

/* ---- steps beyond doubt ---------------------------------------------------------------------- */

/* The stretch around a jump in which two clocks have no other. */
static void alone(const struct sim_clock *c, const struct sim_jump *x, int64_t *from, int64_t *to)
{
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct sim_jump *o = &c->jump[i];
		if (o == x) {
			continue;
		}
		if (o->true_ns <= x->true_ns) {
			*from = o->true_ns > *from ? o->true_ns : *from;
		}
		if (o->true_ns >= x->true_ns) {
			int64_t began = o->true_ns - o->still_ns;
			*to = began < *to ? began : *to;
		}
	}
}

/*
 * A message from p to h caps h - p from above by received - sent, one from h to p from below. The
 * cap of one side of the jump, carried at the skew limit by p's time to the other side, must not
 * pass the bound there: for an h that was stepped forward a cap before and a bound behind, else a
 * bound before and a cap behind.
 */
bool held_beyond_doubt(const struct sim_clock *clock, uint32_t hosts, uint32_t host,
		       const struct sim_jump *x, const struct sim_message *m, size_t n,
		       int64_t max_skew_e12, int64_t slack_ns)
{
	usk_i128 none = (usk_i128)1 << 120;
	int64_t began = x->true_ns - x->still_ns, sign = x->size_ns > 0 ? 1 : -1;
	for (uint32_t p = 0; p < hosts; p++) {
		int64_t from = INT64_MIN, to = INT64_MAX;
		alone(&clock[host], x, &from, &to);
		alone(&clock[p], x, &from, &to);
		usk_i128 before = none, behind = none; /* least room, in 10^-12 ns */
		for (size_t i = 0; i < n && p != host; i++) {
			bool sends = m[i].from == host && m[i].to == p;
			if ((!sends && (m[i].from != p || m[i].to != host)) ||
			    m[i].left_ns < from || m[i].arrived_ns >= to) {
				continue;
			}
			usk_i128 mine = sends ? m[i].sent_ns : m[i].received_ns;
			usk_i128 other = sends ? m[i].received_ns : m[i].sent_ns;
			usk_i128 above = (mine - other) * sign * E12, by = other * max_skew_e12;
			bool cap = sends != (sign > 0);
			if (m[i].arrived_ns < began && cap) {
				before = above - by < before ? above - by : before;
			} else if (m[i].left_ns >= x->true_ns && !cap) {
				behind = by - above < behind ? by - above : behind;
			}
		}
		if (before < none && behind < none &&
		    before + behind + (usk_i128)2 * slack_ns * E12 < 0) {
			return true;
		}
	}
	return false;
}
