/* SPDX-License-Identifier: MIT */
/*
 * epochs.c - clocks that were set back: from unwrapped time back to stamps as recorded
 *
 * In    answers on times that run on, the epochs of each clock
 * Out   the same by recorded stamps: knots and jumps with their epochs, messages
 * Why   between the first reading and here no stage has to know that stamps repeat
 * Not   where a clock was set back (match/epochs.c), by how much in truth: the messages told
 *
 * An epoch without any message is tied to nothing, and has no knots.
 */
#include "fit/fit.h"
#include "flow/reading.h"

#include <stdlib.h>

static const struct usk_epochs *epochs_of(const struct parties *p, uint32_t clock)
{
	return &p->party[clock].survey.epochs;
}

int64_t usk_party_recorded(const struct party *y, int64_t t)
{
	return y->survey.epochs.n ? usk_epoch_recorded(&y->survey.epochs, t) : t;
}

bool usk_party_told(const struct parties *p, const struct party *y)
{
	bool told = y->n_parts == 1 && !y->carry;
	for (size_t i = 0; i < p->n_traces; i++) {
		told = told && usk_trace_class(p->trace[i]) == USK_TRACE_CAPTURE;
	}
	return told;
}

void usk_party_breaks(struct party *y)
{
	const struct usk_epochs *e = &y->survey.epochs;
	USK_FREE(y->in_epoch, y->back);
	usk_alone_free(y->alone);
	y->alone = usk_alone_new(e);
	y->in_epoch = usk_alloc(e->n + 1, sizeof *y->in_epoch);
	y->n_back = e->n;
	y->back = usk_alloc(e->n + 1, sizeof *y->back);
	for (size_t i = 0; i < e->n; i++) {
		y->back[i] = usk_epoch_gap(e, i);
	}
}

/* ---- knots ---------------------------------------------------------------------------------- */

/* The map and its band at unwrapped time, as a knot; hint: the knot there, if there is one. */
static struct usk_knot knot_at(const struct usk_map *map, int64_t t)
{
	struct usk_stamp at = { USK_NONE, USK_NONE, USK_NONE };
	struct usk_knot k = {
		.local_ns = t, .offset_ns = USK_NONE, .lo_ns = USK_NONE, .hi_ns = USK_NONE
	};
	if (!usk_map_at(map, t, &at, NULL)) {
		k.offset_ns = at.reference_ns == USK_NONE ? USK_NONE : at.reference_ns - t;
		k.lo_ns = at.lo_ns == USK_NONE ? USK_NONE : at.lo_ns - t;
		k.hi_ns = at.hi_ns == USK_NONE ? USK_NONE : at.hi_ns - t;
	}
	return k;
}

/* Is no band left there? */
static bool is_blank(const struct usk_knot *k)
{
	return k->lo_ns == USK_NONE && k->hi_ns == USK_NONE;
}

static int64_t less(int64_t v, int64_t by)
{
	return v == USK_NONE ? USK_NONE : usk_cut((usk_i128)v - by);
}

struct knots {
	struct usk_knot *knot;
	size_t n, cap;
};

static void put_knot(struct knots *out, struct usk_knot k, size_t epoch, int64_t shift)
{
	k.epoch = (uint32_t)epoch;
	k.local_ns -= shift;
	k.offset_ns = less(k.offset_ns, -shift);
	k.lo_ns = less(k.lo_ns, -shift);
	k.hi_ns = less(k.hi_ns, -shift);
	if (is_blank(&k) && k.offset_ns == USK_NONE) {
		return;
	}
	*USK_ADD(out->knot, out->n, out->cap) = k;
}

/* Does nothing bound the clock at any of these? An estimate alone is no answer for an epoch. */
static bool all_blank(const struct knots *k, size_t from)
{
	while (from < k->n && is_blank(&k->knot[from])) {
		from++;
	}
	return from == k->n;
}

/* Knots at both ends of every epoch, and those between. */
static void translate_knots(const struct usk_epochs *e, const bool *tied, const struct usk_map *map,
			    struct usk_clock *k)
{
	struct knots out = { .n = 0 };
	for (size_t i = 0, at = 0; i <= e->n; i++) {
		int64_t shift = usk_epoch_offset(e, i);
		int64_t from = i ? usk_epoch_gap(e, i - 1).after_ns : INT64_MIN;
		int64_t to = i < e->n ? usk_epoch_gap(e, i).before_ns : INT64_MAX;
		size_t before = out.n;
		while (at < k->n_knots && k->knot[at].local_ns < from) {
			at++;
		}
		if (!tied[i]) {
			continue;
		}
		if (i && (at == k->n_knots || k->knot[at].local_ns > from)) {
			put_knot(&out, knot_at(map, from), i, shift);
		}
		for (; at < k->n_knots && k->knot[at].local_ns <= to; at++) {
			put_knot(&out, k->knot[at], i, shift);
		}
		if (i < e->n && (out.n == before || out.knot[out.n - 1].local_ns < to - shift)) {
			put_knot(&out, knot_at(map, to), i, shift);
		}
		if (out.n - before == 1) { /* a single stamp */
			put_knot(&out, knot_at(map, out.knot[before].local_ns + shift + 1), i,
				 shift);
		}
		out.n = out.n - before < 2 || all_blank(&out, before) ? before : out.n;
	}
	free(k->knot);
	k->knot = out.knot;
	k->n_knots = out.n;
}

/* Epochs whose messages, if there are any, bound them from one side at most. */
static void note_untied(const struct usk_epochs *e, const struct usk_clock *k, struct usk_clocks *c)
{
	bool answers = k->quality == USK_REFERENCE || k->quality == USK_BOUNDED;
	for (size_t i = 0, at = 0; i <= e->n && answers; i++) {
		size_t begin = at;
		while (at < k->n_knots && k->knot[at].epoch == i) {
			at++;
		}
		if (at == begin) {
			usk_flow_note(
				&c->note, &c->n_notes,
				usk_format("no chain of messages bounds epoch %zu of %s from both "
					   "sides: its stamps there have no correction",
					   i, k->name));
		}
	}
}

/* ---- jumps ---------------------------------------------------------------------------------- */

static void grow(struct usk_jump *j, int64_t by)
{
	j->size_lo_ns = less(j->size_lo_ns, -by);
	j->size_hi_ns = less(j->size_hi_ns, -by);
}

/* Does nothing bound that side? Then it is missing, or so far out that it says nothing. */
static bool is_open(int64_t bound, const struct usk_knot *k)
{
	usk_i128 off = (usk_i128)bound - k->offset_ns;
	return bound == USK_NONE || (off < 0 ? -off : off) > INT64_C(1) << 58;
}

/* By how much the reference's stamps fell between two moments of its unwrapped time. */
static int64_t fell_between(const struct usk_epochs *e, usk_i128 from, usk_i128 to)
{
	int64_t fell = 0;
	for (size_t i = 0; i < e->n; i++) {
		const struct usk_gap x = usk_epoch_gap(e, i);
		if (x.before_ns <= to && x.after_ns >= from) {
			fell += e->epoch[i].shift_ns - usk_epoch_offset(e, i);
		}
	}
	return fell;
}

static struct usk_jump jump_at(const struct usk_epochs *e, size_t i, uint32_t clock)
{
	const struct usk_gap at = usk_epoch_gap(e, i);
	return (struct usk_jump){ .kind = USK_JUMP,
				  .of = clock,
				  .or_of = USK_NO_CLOCK,
				  .after_local_ns = at.before_ns,
				  .before_local_ns = at.after_ns,
				  .size_lo_ns = USK_NONE,
				  .size_hi_ns = USK_NONE };
}

/* A bend beside a jump stays one: nobody assumed that it might have been part of the jump. */
static bool overlap(const struct usk_jump *x, const struct usk_jump *j)
{
	return x->kind == USK_JUMP && x->of == j->of && x->before_local_ns >= j->after_local_ns &&
	       x->after_local_ns <= j->before_local_ns;
}

/* What a pair tells of the same jump by its other clock: its bracket is that clock's time turned
 * round, and so never quite this one's. What else is not known around it lasts as long, within the
 * two epochs. n: so many jumps are known otherwise. */
static void take_in(const struct usk_epochs *e, size_t i, const struct usk_clock *k, size_t n,
		    struct usk_jump *j)
{
	const int64_t first = i ? usk_epoch_gap(e, i - 1).after_ns : INT64_MIN;
	const int64_t last = i + 1 < e->n ? usk_epoch_gap(e, i + 1).before_ns : INT64_MAX;
	const struct usk_jump own = *j;
	for (size_t m = 0; m < n; m++) {
		const struct usk_jump *x = &k->jump[m];
		if (overlap(x, &own)) {
			int64_t from = x->after_local_ns > first ? x->after_local_ns : first;
			int64_t to = x->before_local_ns < last ? x->before_local_ns : last;
			j->after_local_ns = from < j->after_local_ns ? from : j->after_local_ns;
			j->before_local_ns = to > j->before_local_ns ? to : j->before_local_ns;
		}
	}
}

/* Those that jumps of breaks, from n on, took in. */
static void forget_taken(const struct usk_epochs *e, uint32_t clock, size_t n, struct usk_clock *k)
{
	size_t kept = 0;
	for (size_t m = 0; m < k->n_jumps; m++) {
		bool taken = false;
		for (size_t i = 0; i < e->n && m < n; i++) {
			struct usk_jump back = jump_at(e, i, clock);
			taken = taken || overlap(&k->jump[m], &back);
		}
		if (!taken) {
			k->jump[kept++] = k->jump[m];
		}
	}
	k->n_jumps = kept;
}

static bool is_blank_at(const struct usk_map *map, int64_t t)
{
	struct usk_knot k = knot_at(map, t);
	return is_blank(&k);
}

/* That it was set back is known from its stamps; by how much if both epochs are tied to another
 * clock. */
static void add_back(const struct usk_map *map, const struct party *y, size_t i, const bool *tied,
		     uint32_t clock, int64_t skew, size_t n, struct usk_clock *k)
{
	const struct usk_epochs *e = &y->survey.epochs;
	bool sized = false;
	struct usk_jump j = jump_at(e, i, clock);
	for (size_t m = 0; m < n; m++) {
		const struct usk_jump *x = &k->jump[m];
		if (x->of == clock && x->after_local_ns == j.after_local_ns &&
		    x->before_local_ns == j.before_local_ns) {
			j = *x;
			sized = true;
		}
	}
	take_in(e, i, k, n, &j);
	if (map && i == 0 && is_blank_at(map, j.after_local_ns)) {
		j.after_local_ns = y->first_ns;
	}
	if (map && i + 1 == e->n && is_blank_at(map, j.before_local_ns)) {
		j.before_local_ns = y->last_ns;
	}
	if (!sized && map && tied[i] && tied[i + 1] && k->quality == USK_BOUNDED) {
		struct usk_knot a = knot_at(map, j.after_local_ns);
		struct usk_knot b = knot_at(map, j.before_local_ns);
		usk_i128 d = (usk_i128)b.local_ns - a.local_ns;
		usk_i128 drift = usk_ceil_div(d * skew, 1000000000000);
		if (!is_open(b.lo_ns, &b) && !is_open(a.hi_ns, &a)) {
			j.size_lo_ns = usk_saturate((usk_i128)b.lo_ns - a.hi_ns - drift);
		}
		if (!is_open(b.hi_ns, &b) && !is_open(a.lo_ns, &a)) {
			j.size_hi_ns = usk_saturate((usk_i128)b.hi_ns - a.lo_ns + drift);
		}
	}
	*USK_APPEND(k->jump, k->n_jumps) = j;
}

static void translate_jumps(const struct parties *p, uint32_t clock, const struct usk_map *map,
			    const bool *tied, int64_t skew, struct usk_clock *k)
{
	const struct usk_epochs *e = epochs_of(p, clock), *other = epochs_of(p, k->reference);
	size_t n = k->n_jumps;
	for (size_t i = 0; i < e->n; i++) {
		add_back(map, &p->party[clock], i, tied, clock, skew, n, k);
	}
	forget_taken(e, clock, n, k);
	for (size_t i = 0; i < k->n_jumps; i++) {
		struct usk_jump *j = &k->jump[i];
		if (j->of == k->reference && j->of != clock && map) {
			/* By its recorded stamps; corrected time never falls. */
			struct usk_knot a = knot_at(map, j->after_local_ns);
			struct usk_knot b = knot_at(map, j->before_local_ns);
			int64_t lo = is_open(a.lo_ns, &a) ? a.offset_ns : a.lo_ns;
			int64_t hi = is_open(b.hi_ns, &b) ? b.offset_ns : b.hi_ns;
			grow(j, -fell_between(other, (usk_i128)a.local_ns + lo,
					      (usk_i128)b.local_ns + hi));
		}
		size_t from = usk_epoch_of(e, j->after_local_ns);
		size_t to = usk_epoch_of(e, j->before_local_ns);
		/* What a log says of the reference is of no other clock. */
		if (j->of == clock || j->of >= p->n || !p->party[j->of].carry) {
			grow(j, usk_epoch_offset(e, to) - usk_epoch_offset(e, from));
		}
		j->epoch = (uint32_t)from;
		j->end_epoch = (uint32_t)to;
		j->after_local_ns -= usk_epoch_offset(e, from);
		j->before_local_ns -= usk_epoch_offset(e, to);
	}
	usk_sort(k->jump, k->n_jumps, sizeof *k->jump,
		 KEYS(BY(usk_jump, epoch), BY(usk_jump, after_local_ns)));
}

/* As the order of records has it, or else that of rows. */
static void tell_set_backs(const struct parties *p, uint32_t clock, struct usk_clock *k)
{
	const struct usk_epochs *e = epochs_of(p, clock);
	for (size_t i = 0; i < p->n_rows; i++) {
		const struct usk_rows *r = &p->rows[i];
		const struct usk_row_clock *row = clock < r->n ? &r->clock[clock] : NULL;
		e = row && row->told ? &row->known : row && row->epochs.n ? &row->epochs : e;
	}
	k->set_back = usk_alloc(e->n + 1, sizeof *k->set_back);
	for (k->n_set_backs = 0; k->n_set_backs < e->n; k->n_set_backs++) {
		const struct usk_epoch *x = &e->epoch[k->n_set_backs];
		k->set_back[k->n_set_backs] = (struct usk_set_back){ x->before_ns, x->after_ns };
	}
}

/* Disturbed stretches, those that go over a break in two. What is left of one that is a break alone
 * is no stretch of any epoch. */
static void translate_stretches(const struct usk_epochs *e, struct usk_clock *k)
{
	struct usk_disturbed *out = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < k->n_stretches; i++) {
		struct usk_disturbed s = k->stretch[i];
		for (size_t epoch = usk_epoch_of(e, s.from_ns); s.from_ns <= s.to_ns; epoch++) {
			int64_t shift = usk_epoch_offset(e, epoch), to = s.to_ns;
			if (epoch < e->n && usk_epoch_gap(e, epoch).before_ns < to) {
				to = usk_epoch_gap(e, epoch).before_ns;
			}
			if (to > s.from_ns) {
				*USK_ADD(out, n, cap) =
					(struct usk_disturbed){ s.from_ns - shift, to - shift,
								(uint32_t)epoch };
			}
			if (epoch == e->n || to == s.to_ns) {
				break;
			}
			s.from_ns = usk_epoch_gap(e, epoch).after_ns;
		}
	}
	free(k->stretch);
	k->stretch = out;
	k->n_stretches = n;
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

static void translate_msg(const struct parties *p, struct usk_msg *m)
{
	m->sent_ns = usk_party_recorded(&p->party[m->from], m->sent_ns);
	m->received_ns = usk_party_recorded(&p->party[m->to], m->received_ns);
}

static void translate_points(const struct usk_epochs *e, struct usk_point *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t shift = usk_epoch_offset(e, usk_epoch_of(e, x[i].local_ns));
		x[i].local_ns -= shift;
		x[i].offset_ns = usk_cut((usk_i128)x[i].offset_ns + shift);
	}
	usk_sort(x, e->n ? n : 0, sizeof *x,
		 KEYS(BY(usk_point, local_ns), BY(usk_point, offset_ns)));
}

static void translate_pair(const struct parties *p, struct usk_pair *x)
{
	const struct usk_epochs *e = epochs_of(p, x->b);
	for (size_t i = 0; i < x->n_outliers; i++) {
		translate_msg(p, &x->outlier[i].msg);
	}
	for (size_t i = 0; i < x->n_contradiction; i++) {
		translate_msg(p, &x->contradiction[i]);
	}
	if (x->half_width_at_ns != USK_NONE) {
		x->half_width_at_ns = usk_party_recorded(&p->party[x->b], x->half_width_at_ns);
	}
	translate_points(e, x->floor, x->n_floor);
	translate_points(e, x->ceiling, x->n_ceiling);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

void usk_flow_recorded(struct usk_clocks *c, const struct parties *p)
{
	struct usk_map **map = usk_alloc(c->n_clocks, sizeof(struct usk_map *));
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		map[i] = usk_map_new(&c->clock[i], c->max_skew_e12);
	}
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		const struct party *y = &p->party[i];
		struct usk_clock *k = &c->clock[i];
		const struct usk_epochs *e = epochs_of(p, i);
		bool *tied = usk_alloc(e->n + 1, sizeof *tied);
		for (size_t n = 0; n <= e->n; n++) {
			tied[n] = k->quality == USK_REFERENCE || !e->n || y->in_epoch[n];
		}
		translate_jumps(p, i, map[i], tied, c->max_skew_e12, k);
		tell_set_backs(p, i, k);
		if (e->n && map[i]) {
			translate_knots(e, tied, map[i], k);
			translate_stretches(e, k);
			note_untied(e, k, c);
		}
		free(tied);
	}
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		usk_map_free(map[i]);
	}
	free(map);
	for (size_t i = 0; i < c->n_pairs; i++) {
		translate_pair(p, &c->pair[i]);
	}
}
