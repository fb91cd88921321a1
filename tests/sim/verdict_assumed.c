/* SPDX-License-Identifier: MIT */
/*
 * verdict_assumed.c - do the true clocks keep to what an answer says that it assumes?
 *
 * Assumed of each clock, against its reference:
 *
 *     outside its disturbed stretches and the brackets of its jumps its rate lies within its wander
 *     of one constant, and within the skew limit everywhere
 *     its time jumps, or its reference's does, in brackets only that name it, and in each of these its
 *     offset only rises, or only falls, as does that between two clocks that are named for it
 *     no message arrives before it is sent by the reference's clock: that is not set back meanwhile
 *
 * A band mixes what is assumed of all clocks of its island, so all of them have to.
 */
#include "verdict.h"

#define E6 1000000

static bool is_of(const struct trial *t, uint32_t clock, uint32_t reference)
{
	const struct usk_clock *c = &t->answer->clock[clock];
	return c->quality != USK_ABSENT && (clock == reference || c->reference == reference);
}

static int64_t start_ns(const struct trial *t)
{
	return t->s->o.start_ns;
}

static int64_t end_ns(const struct trial *t)
{
	return t->s->o.start_ns + t->s->o.duration_ns;
}

static bool slopes_within(struct sim_slopes x, usk_i128 limit)
{
	return x.max_e18 <= limit && -x.min_e18 <= limit;
}

bool trial_within_limit(const struct trial *t, uint32_t reference)
{
	usk_i128 limit = (usk_i128)t->answer->max_skew_e12 * E6;
	for (uint32_t a = 0; a < t->answer->n_clocks; a++) {
		for (uint32_t b = 0; b < t->answer->n_clocks; b++) {
			if (a != b && is_of(t, a, reference) && is_of(t, b, reference) &&
			    !slopes_within(sim_clocks_slopes(t->truth[a], t->truth[b], start_ns(t),
							     end_ns(t)),
					   limit)) {
				return false;
			}
		}
	}
	return true;
}

int64_t trial_wander_e18(const struct trial *t, uint32_t a, uint32_t b)
{
	return sim_clocks_wander_e18(t->truth[a], t->truth[b], start_ns(t), end_ns(t));
}

/* ---- rates ------------------------------------------------------------------------------- */

/* Is all between two true moments in a bracket or a disturbed stretch of the clock? */
static bool is_free(const struct trial *t, uint32_t clock, int64_t from_ns, int64_t to_ns)
{
	const struct usk_clock *c = &t->answer->clock[clock];
	struct held_place from = held_place(t->truth[clock], t->held[clock].seen, from_ns);
	struct held_place to = held_place(t->truth[clock], t->held[clock].seen, to_ns);
	for (size_t i = 0; i < c->n_jumps; i++) {
		if (held_in_jump(c, &c->jump[i], from, to)) {
			return true;
		}
	}
	for (size_t i = 0; i < c->n_stretches; i++) {
		const struct usk_disturbed *d = &c->stretch[i];
		if (from.epoch == d->epoch && to.epoch == d->epoch && from.local_ns >= d->from_ns &&
		    to.local_ns <= d->to_ns) {
			return true;
		}
	}
	return false;
}

static void add_slopes(struct sim_slopes *all, struct sim_slopes s)
{
	if (s.any) {
		all->min_e18 = !all->any || s.min_e18 < all->min_e18 ? s.min_e18 : all->min_e18;
		all->max_e18 = !all->any || s.max_e18 > all->max_e18 ? s.max_e18 : all->max_e18;
		all->any = true;
	}
}

/* Half the range of a clock's rate where it is assumed to be quiet, as either of the two sees it.
 */
static usk_i128 quiet_wander(const struct trial *t, uint32_t clock)
{
	const struct sim_clock *mine = t->truth[clock],
			       *its = t->truth[t->answer->clock[clock].reference];
	struct sim_slopes x = { 0 }, y = { 0 };
	size_t i = 0, j = 0;
	for (int64_t at = start_ns(t), next; at < end_ns(t); at = next) {
		while (i < mine->n && mine->piece[i].true_ns <= at) {
			i++;
		}
		while (j < its->n && its->piece[j].true_ns <= at) {
			j++;
		}
		next = end_ns(t);
		next = i < mine->n && mine->piece[i].true_ns < next ? mine->piece[i].true_ns : next;
		next = j < its->n && its->piece[j].true_ns < next ? its->piece[j].true_ns : next;
		if (!is_free(t, clock, at, next - 1)) {
			add_slopes(&x, sim_clocks_slopes(its, mine, at, next));
			add_slopes(&y, sim_clocks_slopes(mine, its, at, next));
		}
	}
	usk_i128 a = (usk_i128)x.max_e18 - x.min_e18, b = (usk_i128)y.max_e18 - y.min_e18;
	return ((a > b ? a : b) + 1) / 2;
}

bool trial_rates_kept(const struct trial *t, uint32_t reference)
{
	bool wanders = t->answer->model.kind == USK_WANDER;
	if (!trial_within_limit(t, reference)) {
		return false;
	}
	for (uint32_t i = 0; i < t->answer->n_clocks; i++) {
		const struct usk_clock *c = &t->answer->clock[i];
		/* One rate: rounded outwards. */
		usk_i128 most = wanders ? (usk_i128)c->wander.used_e12 * E6 : 1;
		if (i != reference && is_of(t, i, reference) && c->n_knots &&
		    quiet_wander(t, i) > most) {
			return false;
		}
	}
	return true;
}

/* ---- delays ------------------------------------------------------------------------------ */

bool trial_delays_kept(const struct trial *t, uint32_t reference)
{
	for (size_t i = 0; i < t->n; i++) {
		if (sim_clock_read(t->truth[reference], t->m[i].arrived_ns) <
		    sim_clock_read(t->truth[reference], t->m[i].left_ns)) {
			return false;
		}
	}
	return true;
}

/* ---- jumps ------------------------------------------------------------------------------- */

/* By clock's brackets: as one that clock `of` did, or may have done. */
static bool is_reported(const struct trial *t, uint32_t clock, uint32_t of,
			const struct sim_jump *x)
{
	const struct usk_clock *c = &t->answer->clock[clock];
	struct held_place from = trial_before(t, clock, x), to = trial_after(t, clock, x);
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct usk_jump *j = &c->jump[i];
		if ((j->of == of || j->or_of == of) && held_in_jump(c, j, from, to)) {
			return true;
		}
	}
	return false;
}

struct trial_missed trial_missed_jumps(const struct trial *t, uint32_t reference)
{
	struct trial_missed missed = { 0 };
	for (uint32_t k = 0; k < t->answer->n_clocks; k++) {
		for (size_t i = 0; i < t->truth[k]->n_jumps && is_of(t, k, reference); i++) {
			const struct sim_jump *x = &t->truth[k]->jump[i];
			bool found = true;
			for (uint32_t c = 0; c < t->answer->n_clocks; c++) {
				bool concerns = c == k || (k == reference && is_of(t, c, k));
				if (concerns && c != reference && t->answer->clock[c].n_knots) {
					found = found && is_reported(t, c, k, x);
				}
			}
			bool certain = !found && held_beyond_doubt(t->clock, t->s->o.hosts,
								   trial_host_of(t, k), x, t->m,
								   t->n, t->answer->max_skew_e12,
								   t->s->o.resolution_ns);
			missed.beyond_doubt += !found && certain;
			missed.doubtful += !found && !certain;
		}
	}
	return missed;
}
