/* SPDX-License-Identifier: MIT */
/*
 * carried.c - clocks that were logged: the answer by their stamps
 *
 * In    the answer on raw clocks, what logs say
 * Out   knots, jumps and stretches on unwrapped stamps, as far as logs and messages reach
 * Why   where a log goes on without messages it knows all the same what was done to a clock: a band
 *       that went straight on there would be false
 * Not   what a log says (clock_log.c, carry.c), messages (carried_in.c), epochs (epochs.c)
 *
 * A stamp u was shown between raw moments z0 and z1, and T rises: so the bounds at u are lo(z0) and
 * hi(z1). All of it is straight between corners: lines of logs, and where a knot's raw moment was
 * shown. Of the corners those are left out that the others stand for, but for a small share of the
 * band's width, which is added to it.
 */
#include "flow/reading.h"
#include "flow/clock_log.h"
#include "fit/fit.h"

#include <stdlib.h>

/* ---- a clock's T ------------------------------------------------------------------------------
 */

/* A clock's T at some of its stamps. */
struct course {
	const struct party *own, *reference;
	const struct usk_map *map;
	int64_t first_ns, last_ns; /* stamps of which something is known */
	int64_t *u;		   /* sorted */
	size_t n, cap;
};

struct at {
	int64_t lo, mid, hi; /* USK_NONE: unknown */
};

static struct at on_raw(const struct course *c, int64_t u)
{
	struct usk_raw z =
		c->own->carry ? usk_carry_raw(c->own->carry, u) : (struct usk_raw){ u, u };
	struct usk_stamp lo, mid, hi;
	struct at out = { USK_NONE, USK_NONE, USK_NONE };
	if (!usk_map_at(c->map, z.lo_ns, &lo, NULL) && !usk_map_at(c->map, z.hi_ns, &hi, NULL) &&
	    !usk_map_at(c->map, usk_raw_middle(z), &mid, NULL)) {
		out = (struct at){ lo.lo_ns, mid.reference_ns, hi.hi_ns };
	}
	return out;
}

/* Is T past a moment, for certain, so far from a stamp? */
static bool past_at(const struct course *c, int64_t from, int64_t d, int64_t moment, bool after)
{
	const struct at t = on_raw(c, usk_saturate((usk_i128)from + d));
	return after ? t.lo == USK_NONE || t.lo >= moment : t.hi == USK_NONE || t.hi <= moment;
}

/* What the reference showed at a moment of its raw clock, which is known so well: it may have been
 * set back meanwhile. */
static struct at by_stamps(const struct party *r, struct at t)
{
	struct at out = t;
	if (r->carry) {
		const struct usk_clock_log *l = &r->carry->log;
		const int64_t first = l->line[0].before_ns, last = l->line[l->n - 1].after_ns;
		const int64_t lo = t.lo == USK_NONE ? first : t.lo;
		const int64_t hi = t.hi == USK_NONE ? last : t.hi;
		const struct usk_raw all = usk_carry_shows_between(r->carry, lo, hi);
		out.lo = t.lo == USK_NONE ? t.lo : all.lo_ns;
		out.hi = t.hi == USK_NONE ? t.hi : all.hi_ns;
		if (t.mid != USK_NONE) {
			const int64_t mid = usk_carry_shown(r->carry, t.mid);
			out.mid = mid < all.lo_ns ? all.lo_ns : mid > all.hi_ns ? all.hi_ns : mid;
		}
	}
	return out;
}

/* Unwrapped time between two epochs was never shown: all that is told of it is of neither. */
static bool between_epochs(const struct usk_epochs *e, int64_t u)
{
	size_t i = usk_epoch_of(e, u);
	return (i && u < usk_epoch_gap(e, i - 1).after_ns) ||
	       (i < e->n && u > usk_epoch_gap(e, i).before_ns);
}

static void add(struct course *c, usk_i128 u)
{
	if (u >= c->first_ns && u <= c->last_ns &&
	    !between_epochs(&c->own->survey.epochs, (int64_t)u)) {
		*USK_ADD(c->u, c->n, c->cap) = (int64_t)u;
	}
}

static void add_shown(void *ctx, struct usk_raw shown)
{
	add(ctx, shown.lo_ns);
	add(ctx, shown.hi_ns);
}

/* Unwrapped stamps of a clock that its log and its own trace cover. */
static struct usk_raw covered(const struct party *y)
{
	struct usk_raw all = { y->first_ns, y->last_ns };
	if (y->carry) {
		const struct usk_raw log = usk_carry_covers(y->carry);
		all.lo_ns = log.lo_ns < all.lo_ns ? log.lo_ns : all.lo_ns;
		all.hi_ns = log.hi_ns > all.hi_ns ? log.hi_ns : all.hi_ns;
	}
	return all;
}

/* Before, or after, a stamp: where T, at the least and at the most, is past a moment. */
static int64_t reaches(const struct course *c, int64_t from, int64_t moment, bool after)
{
	const struct at t = on_raw(c, from);
	const int64_t at = after ? t.lo : t.hi;
	const usk_i128 d = after ? (usk_i128)moment - at : (usk_i128)at - moment;
	if (at == USK_NONE || d <= 0) {
		return from;
	}
	/* A clock runs no less than half as fast as any other. */
	int64_t n, most = usk_saturate(2 * d + 2);
	USK_FIRST(n, 0, most, past_at(c, from, after ? n : -n, moment, after));
	return usk_saturate((usk_i128)from + (after ? n : -n));
}

/* As far as its log goes, and that of the reference. */
static void set_ends(struct course *c)
{
	const struct usk_raw own = covered(c->own);
	c->first_ns = own.lo_ns;
	c->last_ns = own.hi_ns;
	if (c->reference->carry) {
		const struct usk_clock_log *l = &c->reference->carry->log;
		c->first_ns = reaches(c, own.lo_ns, l->line[0].before_ns, false);
		c->last_ns = reaches(c, own.hi_ns, l->line[l->n - 1].after_ns, true);
	}
}

/* Lines of its own log, and where the raw moments of its knots were shown. */
static void own_corners(struct course *c, const struct usk_clock *k)
{
	const struct usk_carry *y = c->own->carry;
	add(c, c->own->first_ns);
	add(c, c->own->last_ns);
	add(c, c->first_ns);
	add(c, c->last_ns);
	for (size_t i = 0; i < k->n_knots; i++) {
		int64_t z = k->knot[i].local_ns;
		if (y) {
			usk_carry_each_shown(y, z, add_shown, c);
		} else {
			add(c, z);
		}
	}
	if (y) {
		int64_t *more;
		size_t n = usk_carry_corners(y, c->first_ns, c->last_ns, &more);
		for (size_t i = 0; i < n; i++) {
			/* At a line bounds are those of either side, between two they are straight: so
			 * they can be said to pass a moment of the reference. */
			const int beside = c->reference->carry ? 1 : 0;
			for (int x = -beside; x <= beside; x++) {
				add(c, (usk_i128)more[i] + x);
			}
		}
		free(more);
	}
	c->n = usk_sort_distinct(c->u, c->n);
}

static int64_t part_of(const struct at *t, int which)
{
	return which == 0 ? t->lo : which == 1 ? t->mid : t->hi;
}

/* Is a part of T past a moment at u? */
static bool past(const struct course *c, int64_t u, int which, int64_t moment, bool up)
{
	const struct at t = on_raw(c, u);
	const int64_t at = part_of(&t, which);
	return up ? at > moment : at < moment;
}

/* A part of T, from one corner to the next. */
struct stretch {
	size_t corner; /* the first */
	int which;
	int64_t from, to;
};

/* The first stamp of a stretch at which it is past a moment; it is at a guess, or not far. */
static int64_t first_past(const struct course *c, const struct stretch *s, int64_t moment,
			  int64_t guess)
{
	const bool up = s->from < s->to;
	int64_t from = c->u[s->corner], to = c->u[s->corner + 1], u;
	const bool before = past(c, guess, s->which, moment, up);
	for (int64_t step = 4; before && guess - step > from; step *= 8) {
		if (!past(c, guess - step, s->which, moment, up)) {
			from = guess - step;
			break;
		}
		to = guess - step;
	}
	for (int64_t step = 4; !before && guess + step < to; step *= 8) {
		if (past(c, guess + step, s->which, moment, up)) {
			to = guess + step;
			break;
		}
		from = guess + step;
	}
	USK_FIRST(u, from, to, past(c, u, s->which, moment, up));
	return u;
}

/* Where it passes moments at which what the reference showed may jump: on either side of each, and
 * `beside` more. On the line between both corners it is there but for what all is rounded by. */
static void add_crossings(struct course *c, const struct stretch *s, const int64_t *moment,
			  size_t n, int beside)
{
	const bool up = s->from < s->to;
	size_t k;
	USK_FIRST(k, 0, n, moment[k] >= (up ? s->from : s->to));
	for (; k < n && moment[k] <= (up ? s->to : s->from); k++) {
		const int64_t first = c->u[s->corner], last = c->u[s->corner + 1];
		const usk_i128 d = (usk_i128)last - first, rise = (usk_i128)s->to - s->from;
		const int64_t m = moment[k];
		const int64_t guess =
			first +
			(rise ? (int64_t)usk_floor_div(d * ((usk_i128)m - s->from), rise) : 0);
		const int64_t u = first_past(c, s, m, guess);
		for (int x = -1 - beside; x <= beside; x++) {
			add(c, (usk_i128)u + x);
		}
	}
}

/* Where T or a bound of it meets lines of the reference's log, which may have been set before it
 * recorded anything. */
static void reference_corners(struct course *c)
{
	const size_t own = c->n;
	struct at *t = usk_alloc(own + 1, sizeof *t);
	struct usk_moments m;
	usk_carry_moments(c->reference->carry, &m);
	for (size_t i = 0; i < own; i++) {
		t[i] = on_raw(c, c->u[i]);
	}
	for (size_t i = 0; i + 1 < own; i++) {
		for (int which = 0; which < 3; which++) {
			const struct stretch s = { i, which, part_of(&t[i], which),
						   part_of(&t[i + 1], which) };
			if (s.from == USK_NONE || s.to == USK_NONE) {
				continue;
			}
			if (which == 1) {
				add_crossings(c, &s, m.at[USK_MIDDLE], m.n[USK_MIDDLE], 0);
			} else {
				add_crossings(c, &s, m.at[USK_AT_JUMPS], m.n[USK_AT_JUMPS], 1);
				add_crossings(c, &s, m.at[USK_AT_LINES], m.n[USK_AT_LINES], 0);
			}
		}
	}
	USK_FREE(t, m.at[0], m.at[1], m.at[2]);
	c->n = usk_sort_distinct(c->u, c->n);
}

/* ---- a clock ----------------------------------------------------------------------------------
 */

static int64_t over(int64_t t, int64_t u, int64_t more)
{
	return t == USK_NONE ? t : usk_saturate((usk_i128)t - u + more);
}

/* T rises in what is published, also where the reference was set back unseen, so that it showed some
 * stamps twice: bounds give way to that. The estimate is never under an earlier one, nor over a later
 * upper bound. */
static void let_rise(struct at *t, size_t n)
{
	int64_t risen = INT64_MIN, *cap = usk_alloc(n + 1, sizeof *cap);
	for (size_t i = 0; i < n; i++) {
		cap[i] = t[i].hi == USK_NONE ? INT64_MAX : t[i].hi;
	}
	usk_least_behind(cap, n);
	for (size_t i = 0; i < n; i++) {
		t[i].lo = t[i].lo < cap[i] ? t[i].lo : cap[i];
		if (t[i].mid != USK_NONE) {
			risen = t[i].mid > risen ? t[i].mid : risen;
			t[i].mid = risen < cap[i] ? risen : cap[i];
		}
	}
	free(cap);
}

static void write_knots(struct course *c, struct usk_clock *k)
{
	struct usk_knot *knot = usk_alloc(c->n + 1, sizeof *knot);
	struct at *at = usk_alloc(c->n + 1, sizeof *at);
	bool all = true;
	for (size_t i = 0; i < c->n; i++) {
		at[i] = by_stamps(c->reference, on_raw(c, c->u[i]));
	}
	let_rise(at, c->n);
	for (size_t i = 0; i < c->n; i++) {
		const struct at *t = &at[i];
		knot[i] = (struct usk_knot){ .local_ns = c->u[i],
					     .offset_ns = over(t->mid, c->u[i], 0),
					     .lo_ns = over(t->lo, c->u[i], -1),
					     .hi_ns = over(t->hi, c->u[i], 1) };
		all = all && t->lo != USK_NONE && t->mid != USK_NONE && t->hi != USK_NONE;
	}
	free(at);
	size_t n = all ? usk_knots_thin_out(knot, c->n) : c->n;
	if (n >= 2) {
		free(k->knot);
		k->knot = knot;
		k->n_knots = n;
	} else {
		free(knot);
	}
}

static struct usk_slopes slopes_at(const struct party *y, int64_t ns)
{
	return y->carry ? usk_carry_slopes(y->carry, ns) : (struct usk_slopes){ 0, 0 };
}

/* Of a stamp, by the raw clock, what all of T rises by, and what the reference shows of that. */
static int64_t slope_of(int64_t own, int64_t rise, int64_t reference, bool up)
{
	const usk_i128 one = 1000000000000;
	usk_i128 over = (one + own) * (one + rise), under = one + reference;
	usk_i128 all = up ? usk_ceil_div(over, under) : usk_floor_div(over, under);
	return (int64_t)usk_clamp(all - one, -one, one);
}

/* Beyond the ends both logs' clocks go on as there. */
static void write_slopes(const struct course *c, struct usk_clock *k)
{
	for (int end = 0; end < 2; end++) {
		struct usk_slopes *s = end ? &k->after : &k->before;
		const struct usk_knot *x = &k->knot[end ? k->n_knots - 1 : 0];
		const struct usk_slopes own = slopes_at(c->own, x->local_ns);
		const bool drawn = x->offset_ns != USK_NONE;
		const struct usk_slopes ref =
			slopes_at(c->reference, drawn ? x->local_ns + x->offset_ns : x->local_ns);
		s->least_e12 = slope_of(own.least_e12, s->least_e12, ref.most_e12, false);
		s->most_e12 = slope_of(own.most_e12, s->most_e12, ref.least_e12, true);
	}
}

static void carry_clock(struct parties *p, struct usk_clocks *c, uint32_t i)
{
	struct usk_clock *k = &c->clock[i];
	struct course x = { .own = &p->party[i], .reference = &p->party[k->reference] };
	if (k->quality == USK_REFERENCE && x.own->carry) {
		free(k->knot);
		k->knot = NULL;
		k->n_knots = 0;
		const struct usk_raw all = covered(x.own);
		usk_clock_reference(k, all.lo_ns, all.hi_ns);
		usk_carried_steps(k, i, x.own);
		return;
	}
	if (!x.own->carry && !x.reference->carry) {
		return;
	}
	k->n_beyond = 0; /* logs say nothing there */
	struct usk_map *map = usk_map_new(k, c->max_skew_e12);
	x.map = map;
	if (map) {
		set_ends(&x);
		own_corners(&x, k);
		if (x.reference->carry) {
			reference_corners(&x);
		}
		write_knots(&x, k);
		write_slopes(&x, k);
	}
	if (x.own->carry) {
		usk_carried_events(k, x.own);
		usk_carried_steps(k, i, x.own);
	}
	/* By knots, which are of the stamps as recorded already. */
	if (map && x.reference->carry && k->quality == USK_BOUNDED) {
		usk_carried_reference_steps(k, x.reference);
	}
	usk_map_free(map);
	free(x.u);
}

static void carry_points(const struct party *a, const struct party *b, struct usk_point *x,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t on_a = usk_saturate((usk_i128)x[i].local_ns + x[i].offset_ns);
		x[i].local_ns = usk_carried_from(b, x[i].local_ns);
		x[i].offset_ns = usk_saturate((usk_i128)usk_carried_from(a, on_a) - x[i].local_ns);
	}
}

void usk_carried_answer(struct usk_clocks *c, struct parties *p)
{
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		carry_clock(p, c, i);
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		struct usk_pair *x = &c->pair[i];
		const struct party *a = &p->party[x->a], *b = &p->party[x->b];
		if (usk_carried_pair(p, x->a, x->b)) {
			carry_points(a, b, x->floor, x->n_floor);
			carry_points(a, b, x->ceiling, x->n_ceiling);
			x->half_width_at_ns = usk_carried_from(b, x->half_width_at_ns);
		}
	}
}
