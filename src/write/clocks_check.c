/* SPDX-License-Identifier: MIT */
/*
 * clocks_check.c - what has to hold of a clock that was read
 *
 * In    a clock out of clocks.json, each of its keys of the right kind; an answer of our own
 * Out   a sentence if it is not sound; what others need not write is filled in
 * Why   apply and convert trust the knots: what is wrong is found here and nowhere later
 */
#include "write/fields.h"
#include "write/write.h"

/* What usk_map_new() relies on. before: the knot to the left in the same epoch, or NULL. */
static void check_knot(struct reader *r, const struct place *at, const struct usk_clock *k,
		       const struct usk_knot *before, const struct usk_knot *x)
{
	bool drawn = x->offset_ns != USK_NONE;
	bool over = x->hi_ns != USK_NONE && x->offset_ns > x->hi_ns;
	usk_i128 corrected = (usk_i128)x->local_ns + (drawn ? x->offset_ns : 0);
	if (k->quality == USK_ONE_SIDED && drawn) {
		usk_json_wrong(r, at, "offset_ns", "is not null, yet the clock is one-sided");
	} else if (k->quality != USK_ONE_SIDED && !drawn) {
		usk_json_wrong(r, at, NULL, "a clock that is %s needs offset_ns in each knot",
			       usk_quality_name(k->quality));
	} else if (drawn && (x->lo_ns > x->offset_ns || over)) { /* null is under all offsets */
		usk_json_wrong(r, at, NULL, "lo_ns <= offset_ns <= hi_ns does not hold");
	} else if (corrected > USK_TIME_MAX || corrected < -USK_TIME_MAX) {
		usk_json_wrong(r, at, NULL,
			       "its corrected time is more than 2^62 ns (146 years) from 1970");
	} else if (before && x->local_ns <= before->local_ns) {
		usk_json_wrong(r, at, "local_ns", "does not rise from the knot before");
	} else if (before && drawn &&
		   (usk_i128)x->offset_ns - before->offset_ns <
			   -((usk_i128)x->local_ns - before->local_ns)) {
		usk_json_wrong(r, at, "offset_ns",
			       "falls faster than the clock runs: time would go back");
	}
}

static void check_knots(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "knots", 0 };
	size_t in_epoch = 0;
	for (size_t i = 0; i < k->n_knots && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_knot *x = &k->knot[i];
		bool same = i && x->epoch == x[-1].epoch;
		if (i && x->epoch < x[-1].epoch) {
			usk_json_wrong(r, &at, "epoch", "is not in order");
		}
		if (i && !same && in_epoch < 2) {
			usk_json_wrong(r, &at, NULL,
				       "begins an epoch, yet the one before has a single knot");
		}
		in_epoch = same ? in_epoch + 1 : 1;
		check_knot(r, &at, k, same ? x - 1 : NULL, x);
	}
	bool none = k->quality == USK_ABSENT || k->quality == USK_CONTRADICTED;
	bool allowed = none || k->quality == USK_ONE_SIDED;
	if (none && k->n_knots) {
		usk_json_wrong(r, up, "knots", "is not empty, yet the clock is %s",
			       usk_quality_name(k->quality));
	} else if (k->n_knots ? in_epoch < 2 : !allowed) {
		usk_json_wrong(r, up, "knots", "holds fewer than two knots");
	}
}

static void check_set_backs(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "set_back", 0 };
	for (size_t i = 0; i < k->n_set_backs; i++) {
		struct place at = { &list, NULL, i };
		if (k->set_back[i].from_ns <= k->set_back[i].to_ns) {
			usk_json_wrong(r, &at, NULL, "from_ns > to_ns does not hold");
		}
	}
}

static void check_disturbed(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "disturbed", 0 };
	for (size_t i = 0; i < k->n_stretches; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_disturbed *x = &k->stretch[i];
		if (x->from_ns > x->to_ns) {
			usk_json_wrong(r, &at, NULL, "from_ns <= to_ns does not hold");
		} else if (i && (x->epoch < x[-1].epoch ||
				 (x->epoch == x[-1].epoch && x->from_ns <= x[-1].to_ns))) {
			usk_json_wrong(r, &at, NULL, "is not after the one before it");
		}
	}
}

static void check_slopes(struct reader *r, const struct place *up, const char *key,
			 const struct usk_slopes *s)
{
	const struct place at = { up, key, 0 };
	if (s->least_e12 > s->most_e12) {
		usk_json_wrong(r, &at, NULL, "least_ppm <= most_ppm does not hold");
	}
}

/* In order, none among the knots, of a clock with one epoch that is bounded. */
static void check_beyond(struct reader *r, const struct place *up, const struct usk_clock *k)
{
	struct place list = { up, "beyond", 0 };
	const struct usk_knot *end = k->n_knots ? &k->knot[k->n_knots - 1] : NULL;
	if (k->n_beyond && (k->quality != USK_BOUNDED || !end || end->epoch != k->knot->epoch)) {
		usk_json_wrong(r, up, "beyond", "is of a clock without one bounded epoch");
	}
	for (size_t i = 0; i < k->n_beyond && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const struct usk_beyond *x = &k->beyond[i];
		if (i && x->local_ns <= x[-1].local_ns) {
			usk_json_wrong(r, &at, "local_ns", "does not rise from the one before");
		} else if (x->local_ns >= k->knot->local_ns && x->local_ns <= end->local_ns) {
			usk_json_wrong(r, &at, "local_ns", "is not beyond the knots");
		} else if (x->lo_ns > x->hi_ns) {
			usk_json_wrong(r, &at, NULL, "lo_ns <= hi_ns does not hold");
		}
	}
}

static bool falls(struct usk_set_back b)
{
	return b.from_ns > b.to_ns;
}

static bool jump_falls(const struct usk_jump *j)
{
	return j->after_local_ns > j->before_local_ns;
}

/* Others need not say where epochs begin: between the ends of the jumps that lead to them, or at
 * their knots. */
static struct usk_set_back set_back_to(const struct usk_clock *k, uint32_t epoch)
{
	struct usk_set_back found = { 0, 0 };
	for (size_t i = 1; i < k->n_knots && !falls(found); i++) {
		if (k->knot[i].epoch == epoch && k->knot[i - 1].epoch + 1 == epoch) {
			found = (struct usk_set_back){ k->knot[i - 1].local_ns,
						       k->knot[i].local_ns };
		}
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		struct usk_set_back b = { j->after_local_ns, j->before_local_ns };
		if (j->epoch + 1 == epoch && j->end_epoch == epoch && falls(b)) {
			found = b;
			break;
		}
	}
	return found;
}

static void find_set_backs(struct usk_clock *k)
{
	bool said = k->n_set_backs > 0;
	for (struct usk_set_back b; !said; k->n_set_backs++) {
		b = set_back_to(k, (uint32_t)k->n_set_backs + 1);
		if (!falls(b)) {
			break;
		}
		k->set_back = usk_grow(k->set_back, k->n_set_backs + 1, sizeof *k->set_back);
		k->set_back[k->n_set_backs] = b;
	}
}

/* What others need not write: all that the skew limit allows; of jumps whose, and where they end. */
static void complete(const struct usk_clocks *c, struct usk_clock *k)
{
	const int64_t limit = k->quality == USK_REFERENCE ? 0 : c->max_skew_e12;
	struct usk_slopes *const slopes[] = { &k->before, &k->after };
	for (size_t i = 0; i < COUNT(slopes); i++) {
		if (slopes[i]->least_e12 == USK_NONE) {
			*slopes[i] = (struct usk_slopes){ -limit, limit };
		}
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		struct usk_jump *j = &k->jump[i];
		j->of = j->of == USK_NO_CLOCK ? (uint32_t)(k - c->clock) : j->of;
		if (j->end_epoch < j->epoch + jump_falls(j)) {
			j->end_epoch = j->epoch + jump_falls(j);
		}
	}
	find_set_backs(k);
}

static void check(struct reader *r, const struct place *at, const struct usk_clock *k)
{
	if (k->resolution_ns < 0) {
		usk_json_wrong(r, at, "resolution_ns", "is negative");
	}
	check_slopes(r, at, "before", &k->before);
	check_slopes(r, at, "after", &k->after);
	check_knots(r, at, k);
	check_beyond(r, at, k);
	check_disturbed(r, at, k);
	check_set_backs(r, at, k);
	if (k->n_knots && k->knot[k->n_knots - 1].epoch > k->n_set_backs) {
		usk_json_wrong(
			r, at, "knots",
			"are of epoch %u, yet neither set_back nor jumps say where it begins",
			k->knot[k->n_knots - 1].epoch);
	}
}

void usk_clock_check(struct reader *r, const struct place *at, void *clock)
{
	complete(r->c, clock);
	check(r, at, clock);
}

enum usk_status usk_clocks_sound(const struct usk_clocks *c, struct usk_err *err)
{
	struct usk_err why = { 0 };
	struct reader r = { .err = &why };
	const struct place list = { NULL, "clocks", 0 };
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct place at = { &list, NULL, i };
		const struct usk_clock *k = &c->clock[i];
		check(&r, &at, k);
		for (size_t n = 0; n < k->n_jumps; n++) { /* reading would make an epoch of it */
			const struct usk_jump *j = &k->jump[n];
			if (jump_falls(j) && (!k->n_set_backs || j->end_epoch == j->epoch)) {
				usk_json_wrong(&r, &at, "jumps", "fall where no epoch begins");
			}
		}
	}
	return r.status ? usk_fail(err, r.status, 0,
				   "the answer failed its own check, so nothing is written: %s; "
				   "this is a defect of unskew: please report it",
				   why.msg)
			: USK_OK;
}
