/* SPDX-License-Identifier: MIT */
/*
 * late.c - of a collective on one clock: who came last for sure, what is surely waiting
 *
 * In    a collective's parts; bounds of each clock
 * Out   the member that came last and by how much at least, or that bounds cannot tell; how much of
 *       each member's time is surely waiting for others, or surely is not
 * Why   by raw stamps, or best estimates, somebody is always last
 * Not   why it was late; members that nobody recorded
 *
 * All is by bounds of differences of two moments. Of two clocks it is what is between the bands; of
 * one clock its own difference, less what its stamps are rounded by and its rate is wrong by. A member
 * waits until the last of those that it waits for has come: at least so long as to the largest lower
 * bound of these, and the rest begins no later than the largest upper bound. Where the member's clock
 * may have been stepped meanwhile, or may have shown its stamps twice, nothing is known of it.
 */
#include "judge/late.h"

#include <stdlib.h>

#define INF ((usk_i128)1 << 100) /* no bound */
#define E12 INT64_C(1000000000000)

struct late_member {
	usk_i128 lo, hi, exit_lo; /* of its coming, and its going */
	uint32_t clock;		  /* its place among the clocks of this collective */
	bool unsure;		  /* its stamps are in the bracket of a step */
};

/* The largest of some, and the largest of those that are of another owner. */
struct two {
	usk_i128 most, next;
	size_t owner;
};

/* Of one clock: when its members came, by its own stamps, at the earliest and at the latest. */
struct late_clock {
	struct two early, late;
};

static void two_add(struct two *x, usk_i128 value, size_t owner, bool first)
{
	if (first) {
		*x = (struct two){ value, -INF, owner };
	} else if (value > x->most) {
		x->next = owner == x->owner ? x->next : x->most;
		x->most = value;
		x->owner = owner;
	} else if (owner != x->owner && value > x->next) {
		x->next = value;
	}
}

static usk_i128 two_but(const struct two *x, size_t owner)
{
	return x->owner == owner ? x->next : x->most;
}

static usk_i128 least(usk_i128 a, usk_i128 b)
{
	return a < b ? a : b;
}

static usk_i128 most(usk_i128 a, usk_i128 b)
{
	return a > b ? a : b;
}

/* A difference on a clock's own stamps, by the reference: at least. */
static usk_i128 own(usk_i128 d, int64_t max_skew_e12)
{
	usk_i128 size = d < 0 ? -d : d;
	return size > INT64_MAX ? d : d - usk_ceil_div(size * max_skew_e12, E12);
}

/* May a step lie between a member's stamps, or have repeated one? Set back by S at most after it showed
 * A, and before it showed B, a clock has shown nothing under A - S behind that, nor over B + S before. */
static bool is_unsure(const struct usk_late_clock *clock, const struct usk_collective *x)
{
	const struct usk_clock *k = clock->clock;
	for (size_t i = 0; k && i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		usk_i128 back = j->size_hi_ns == USK_NONE ? INF : j->size_hi_ns;
		back = back > 0 ? back + k->resolution_ns : 0;
		if (j->kind == USK_JUMP && x->exit_ns > j->after_local_ns - back &&
		    x->enter_ns < j->before_local_ns + back) {
			return true;
		}
	}
	return false;
}

static enum usk_status bounds(const struct usk_collective *x, const struct usk_late_clock *clock,
			      struct late_member *m, usk_i128 *middle, struct usk_err *err)
{
	struct usk_stamp early, late, gone;
	int64_t q = clock->resolution_ns > 1 ? clock->resolution_ns - 1 : 0;
	m->lo = -INF;
	m->hi = INF;
	m->exit_lo = -INF;
	*middle = -INF;
	if (!clock->map || m->unsure) {
		return USK_OK;
	}
	enum usk_status status = usk_map_at(clock->map, x->enter_ns, &early, err);
	status =
		status ? status : usk_map_at(clock->map, x->enter_ns + x->slack_ns + q, &late, err);
	status = status ? status : usk_map_at(clock->map, x->exit_ns - x->slack_ns, &gone, err);
	if (status) {
		return status;
	}
	m->lo = early.lo_ns == USK_NONE ? -INF : early.lo_ns;
	m->hi = late.hi_ns == USK_NONE ? INF : late.hi_ns;
	m->exit_lo = gone.lo_ns == USK_NONE ? -INF : gone.lo_ns;
	*middle = early.reference_ns == USK_NONE ? -INF : early.reference_ns;
	return USK_OK;
}

/* What is known of those that are waited for: by clocks, over all and within each. */
struct coming {
	struct two lo, hi; /* owners: clocks */
	usk_i128 middle;
	size_t n_clocks, waited_for;
};

static bool is_waited_for(const struct usk_gathering *g, size_t i)
{
	return usk_collective_shape(g->kind) != USK_FROM_ROOT || &g->part[i] == g->root;
}

static bool waits(const struct usk_gathering *g, size_t i)
{
	return usk_collective_shape(g->kind) != USK_TO_ROOT || &g->part[i] == g->root;
}

static int64_t tick(const struct usk_late_clock *clock, const struct usk_collective *x)
{
	int64_t q = clock[x->clock].resolution_ns;
	return q > 1 ? q - 1 : 0;
}

static enum usk_status look(const struct usk_gathering *g, const struct usk_late_clock *clock,
			    struct usk_late_room *room, struct coming *c, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	*c = (struct coming){ .middle = -INF };
	for (size_t i = 0; i < g->n && !status; i++) {
		const struct usk_collective *x = &g->part[i];
		struct late_member *m = &room->member[i];
		usk_i128 middle;
		bool first = !i || x->clock != x[-1].clock;
		c->n_clocks += first;
		m->clock = (uint32_t)c->n_clocks - 1;
		struct late_clock *k = &room->clock[m->clock];
		m->unsure = is_unsure(&clock[x->clock], x);
		status = bounds(x, &clock[x->clock], m, &middle, err);
		if (first) {
			two_add(&k->early, -INF, SIZE_MAX, true);
			two_add(&k->late, -INF, SIZE_MAX, true);
		}
		if (!is_waited_for(g, i)) {
			continue;
		}
		two_add(&c->lo, m->lo, m->clock, !c->waited_for);
		two_add(&c->hi, m->hi, m->clock, !c->waited_for);
		two_add(&k->early, m->unsure ? -INF : x->enter_ns, i, false);
		two_add(&k->late,
			m->unsure ? INF : (usk_i128)x->enter_ns + x->slack_ns + tick(clock, x), i,
			false);
		c->middle = most(c->middle, middle);
		c->waited_for++;
	}
	return status;
}

/* Where the i-th member's time went: by those of other clocks, and others of its own. */
static struct usk_spent spent_by(const struct usk_gathering *g, size_t i,
				 const struct usk_late_clock *clock, int64_t max_skew_e12,
				 const struct usk_late_room *room, const struct coming *c)
{
	const struct usk_collective *x = &g->part[i];
	const struct late_member *m = &room->member[i];
	const struct late_clock *k = &room->clock[m->clock];
	usk_i128 total = (usk_i128)x->exit_ns - x->enter_ns, waited = 0;
	/* What its stamps are rounded by may be no time at all. */
	usk_i128 sure = most(total - 2 * (usk_i128)x->slack_ns - tick(clock, x), 0);
	sure = m->unsure ? 0 : sure;
	usk_i128 rest = sure;
	if (waits(g, i)) {
		usk_i128 from = (usk_i128)x->enter_ns + x->slack_ns + tick(clock, x);
		usk_i128 early = two_but(&k->early, i), late = two_but(&k->late, i);
		waited = two_but(&c->lo, m->clock) - m->hi;
		if (early > -INF) {
			waited = most(waited, own(early - from, max_skew_e12));
		}
		usk_i128 others = two_but(&c->hi, m->clock);
		rest = others == -INF ? rest : least(rest, m->exit_lo - others);
		if (late > -INF) {
			rest = least(rest,
				     own((usk_i128)x->exit_ns - x->slack_ns - late, max_skew_e12));
		}
		waited = least(most(waited, 0), sure);
		rest = least(most(rest, 0), sure - waited);
	}
	return (struct usk_spent){ usk_saturate(waited), usk_saturate(rest),
				   usk_saturate(total - waited - rest) };
}

/* By how much the i-th came after all others at least. */
static usk_i128 lead(const struct usk_gathering *g, size_t i, int64_t max_skew_e12,
		     const struct usk_late_room *room, const struct coming *c)
{
	const struct late_member *m = &room->member[i];
	usk_i128 late = two_but(&room->clock[m->clock].late, i), by = INF;
	if (c->n_clocks > 1) {
		by = m->lo - two_but(&c->hi, m->clock);
	}
	if (late > -INF) {
		by = least(by, own((usk_i128)g->part[i].enter_ns - late, max_skew_e12));
	}
	return m->unsure ? 0 : by;
}

static void make_room(struct usk_late_room *room, size_t n)
{
	if (n > room->cap) {
		room->cap = n + n / 2;
		room->member = usk_grow(room->member, room->cap, sizeof *room->member);
		room->clock = usk_grow(room->clock, room->cap, sizeof *room->clock);
	}
}

enum usk_status usk_late(const struct usk_gathering *g, const struct usk_late_clock *clock,
			 int64_t max_skew_e12, struct usk_late_room *room, struct usk_lateness *out,
			 struct usk_spent *spent, struct usk_err *err)
{
	struct coming c;
	make_room(room, g->n);
	enum usk_collective_shape shape = usk_collective_shape(g->kind);
	enum usk_status status = look(g, clock, room, &c, err);
	*out = (struct usk_lateness){ .kind = g->kind, .id = g->part->id, .n = g->n };
	out->asked = shape == USK_FROM_ALL_TO_ALL || (shape == USK_TO_ROOT && g->root);
	out->at_ns = status || c.middle == -INF ? USK_NONE : usk_saturate(c.middle);
	for (size_t i = 0; i < g->n && !status; i++) {
		spent[i] = c.waited_for
				   ? spent_by(g, i, clock, max_skew_e12, room, &c)
				   : (struct usk_spent){ 0, 0,
							 g->part[i].exit_ns - g->part[i].enter_ns };
		out->spent.waited_ns += spent[i].waited_ns;
		out->spent.transfer_ns += spent[i].transfer_ns;
		out->spent.untold_ns += spent[i].untold_ns;
		usk_i128 by = out->asked ? lead(g, i, max_skew_e12, room, &c) : 0;
		if (by > 0) {
			out->known = true;
			out->rank = g->part[i].rank;
			out->by_ns = usk_saturate(by);
		}
	}
	return status;
}

void usk_late_room_free(struct usk_late_room *room)
{
	USK_FREE(room->member, room->clock);
	*room = (struct usk_late_room){ 0 };
}
