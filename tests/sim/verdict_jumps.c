/* SPDX-License-Identifier: MIT */
/*
 * verdict_jumps.c - is what an answer tells of jumps true?
 *
 * A jump that is reported was one: of that clock, in that bracket, and, if all are found, of that
 * size.
 */
#include "verdict.h"
#include "true_clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t trial_host_of(const struct trial *t, uint32_t clock)
{
	return (uint32_t)strtoul(t->answer->clock[clock].name + strlen("host"), NULL, 10);
}

/*
 * Whether a clock was put back in a pause longer than that, so that none of its stamps repeats:
 * then its offset rises, and that is what the design calls a jump of the other clock. By the
 * messages of the answer: each has a stamp of another clock, which tells when it was.
 */
static bool look_unseen(const struct trial *t, uint32_t host, const struct sim_jump *x)
{
	int64_t latest = INT64_MIN, earliest = INT64_MAX;
	if (x->still_ns || x->size_ns >= 0) {
		return false;
	}
	for (size_t i = 0; i < t->n_kept; i++) {
		const struct usk_msg *m = &t->used[i];
		uint32_t from = trial_host_of(t, m->from), to = trial_host_of(t, m->to);
		if (from != host && to != host) {
			continue;
		}
		int64_t mine = from == host ? m->sent_ns : m->received_ns;
		int64_t other = from == host ? m->received_ns : m->sent_ns;
		int64_t then = sim_clock_read(&t->clock[from == host ? to : from], x->true_ns);
		if (other < then && other > then + 2 * x->size_ns) {
			latest = mine > latest ? mine : latest;
		} else if (other >= then && other < then - 2 * x->size_ns) {
			earliest = mine < earliest ? mine : earliest;
		}
	}
	return latest < earliest;
}

static bool unseen(const struct trial *t, uint32_t host, const struct sim_jump *x)
{
	signed char *known = &t->unseen[host][x - t->clock[host].jump];
	if (*known < 0) {
		*known = look_unseen(t, host, x);
	}
	return *known;
}

/* The epoch of a moment, of those that stamps show. */
uint32_t trial_seen_epoch(const struct trial *t, uint32_t host, int64_t true_ns)
{
	const struct sim_clock *c = &t->clock[host];
	uint32_t epoch = true_epoch(c, true_ns);
	for (size_t i = 0; i < c->n_jumps && epoch && c->jump[i].true_ns <= true_ns; i++) {
		epoch -= unseen(t, host, &c->jump[i]);
	}
	return epoch;
}

/* Whether it may be meant by the bracket, in a clock's own time; a sleep, if any of it is inside.
 */
static bool inside(const struct sim_clock *local, const struct usk_jump *j,
		   const struct sim_jump *x)
{
	int64_t began = x->true_ns - (x->still_ns ? x->still_ns : 1);
	int64_t before = sim_clock_read(local, began), after = sim_clock_read(local, x->true_ns);
	if (x->still_ns) {
		return after >= j->after_local_ns && before <= j->before_local_ns;
	}
	return before >= j->after_local_ns && (after <= j->before_local_ns || after < before);
}

/* By how much the offset of a clock rose meanwhile, as both clocks read. */
static int64_t rise_of(const struct sim_clock *local, const struct sim_clock *reference,
		       const struct sim_jump *x)
{
	int64_t began = x->true_ns - (x->still_ns ? x->still_ns : 1);
	int64_t before = sim_clock_read(reference, began) - sim_clock_read(local, began);
	return sim_clock_read(reference, x->true_ns) - sim_clock_read(local, x->true_ns) - before;
}

/* What the true jumps that may be meant by one that is reported come to. */
struct meant {
	size_t n;
	int64_t rise_ns; /* of the offset */
	bool elsewhere;	 /* a third clock slept: whether that looks like a rise or a fall depends on
			    what was under way */
};

/*
 * A clock that stood still and another that was put forward are the same but for other clocks, so a
 * sleep of anybody will do.
 */
static struct meant jumps_meant(const struct trial *t, const struct usk_jump *j, uint32_t local,
				uint32_t reference)
{
	uint32_t of = trial_host_of(t, j->of);
	struct meant m = { .n = 0 };
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		for (size_t i = 0; i < t->clock[h].n_jumps; i++) {
			const struct sim_jump *x = &t->clock[h].jump[i];
			bool then = trial_seen_epoch(t, local, x->true_ns - 1) == j->epoch;
			bool any =
				x->still_ns || ((h == local || h == reference) && unseen(t, h, x));
			if ((h != of && !any) || !then || !inside(&t->clock[local], j, x)) {
				continue;
			}
			if (h == local || h == reference) {
				m.rise_ns += rise_of(&t->clock[local], &t->clock[reference], x);
			} else {
				m.rise_ns += x->size_ns;
				m.elsewhere = true;
			}
			m.n++;
		}
	}
	return m;
}

static void check_size(struct trial *t, const struct usk_clock *c, const struct usk_jump *j,
		       struct meant m)
{
	bool lo = j->size_lo_ns != USK_NONE, hi = j->size_hi_ns != USK_NONE;
	bool rose = lo && j->size_lo_ns > 0, fell = hi && j->size_hi_ns < 0;
	bool turned = m.elsewhere && ((rose && m.rise_ns < 0) || (fell && m.rise_ns > 0));
	int64_t rise_ns = turned ? -m.rise_ns : m.rise_ns;
	if ((lo && rise_ns < j->size_lo_ns - 1) || (hi && rise_ns > j->size_hi_ns + 1)) {
		char least[32] = "anything", most[32] = "anything";
		if (lo) {
			snprintf(least, sizeof least, "%lld", (long long)j->size_lo_ns);
		}
		if (hi) {
			snprintf(most, sizeof most, "%lld", (long long)j->size_hi_ns);
		}
		trial_fail(t, "%s: the offset rose by %lld after %lld, not by %s to %s", c->name,
			   (long long)rise_ns, (long long)j->after_local_ns, least, most);
	}
}

/* How many that are reported may mean a true jump of a host. */
static size_t reports_of(const struct trial *t, const struct usk_clock *c, uint32_t host,
			 const struct sim_jump *x)
{
	uint32_t local = (uint32_t)strtoul(c->name + strlen("host"), NULL, 10);
	size_t n = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct usk_jump *j = &c->jump[i];
		bool then = trial_seen_epoch(t, local, x->true_ns - 1) == j->epoch;
		bool any = x->still_ns || trial_host_of(t, j->of) == host || unseen(t, host, x);
		n += any && then && inside(&t->clock[local], j, x);
	}
	return n;
}

/* A jump that is reported was one, of that clock. Returns whether all are found, each once; then
 * their sizes are right too, which one that hides among the delays would spoil. */
bool trial_check_jumps(struct trial *t, const struct usk_clock *c)
{
	uint32_t local = (uint32_t)strtoul(c->name + strlen("host"), NULL, 10);
	uint32_t reference = trial_host_of(t, c->reference);
	bool found = true;
	size_t all = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct usk_jump *j = &c->jump[i];
		size_t n = jumps_meant(t, j, local, reference).n;
		found = found && n == 1;
		if (!n && j->kind == USK_JUMP) {
			trial_fail(t, "%s has a jump after %lld that is none of %s", c->name,
				   (long long)j->after_local_ns, t->answer->clock[j->of].name);
		}
	}
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		for (size_t i = 0; i < t->clock[h].n_jumps && (h == local || h == reference); i++) {
			found = found && reports_of(t, c, h, &t->clock[h].jump[i]) == 1;
			all++;
		}
	}
	if (!found || c->n_jumps != all) {
		return false;
	}
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct usk_jump *j = &c->jump[i];
		check_size(t, c, j, jumps_meant(t, j, local, reference));
	}
	return true;
}

/* An answer tells the jumps of its clocks, not those that other pairs on the way saw of them: so
 * whether these found all is known of clocks alone whose stamps show that they were put back. */
bool trial_may_hide(const struct trial *t, const struct usk_clock *c)
{
	for (uint32_t h = 0; h < t->s->o.hosts; h++) {
		bool shown = true, on_the_way = c->n_routes > 0;
		for (size_t i = 0; i < t->clock[h].n_jumps; i++) {
			const struct sim_jump *x = &t->clock[h].jump[i];
			shown = shown && !x->still_ns && x->size_ns < 0 && !unseen(t, h, x);
		}
		for (size_t i = 1; i + 1 < c->n_path; i++) {
			on_the_way = on_the_way || trial_host_of(t, c->path[i]) == h;
		}
		if (!shown && on_the_way) {
			return true;
		}
	}
	return false;
}

/* Does a fall look like one of late records that come in batches, for another that lies so near? */
static bool repeats(int64_t size, int64_t other, usk_i128 apart)
{
	usk_i128 soon = (usk_i128)4 * size > 1000000000 ? (usk_i128)4 * size : 1000000000;
	return size <= INT64_C(10000000000) && other >= size / 8 && apart <= soon;
}

/* Was the clock of a capture put back twice within 4 S of its time, or 1 s; or by less than 1 s so
 * late that it does not show the time again from where it fell? Late batches of records do that,
 * too, and the order of records does not tell one from the other (src/match/epochs.c). Rows of
 * tables have no such batches. */
bool trial_crowded(const struct trial *t, const struct sim_clock *c)
{
	int64_t end_ns = t->s->o.start_ns + t->s->o.duration_ns;
	const struct sim_jump *last = NULL;
	for (size_t i = 0; i < c->n_jumps && t->s->o.format != SIM_TABLE; i++) {
		const struct sim_jump *x = &c->jump[i];
		if (x->still_ns || x->size_ns >= 0) {
			continue;
		}
		int64_t from = sim_clock_read(c, x->true_ns - 1);
		if (-x->size_ns < 1000000000 && sim_clock_read(c, end_ns) <= from) {
			return true;
		}
		usk_i128 apart = last ? (usk_i128)from - sim_clock_read(c, last->true_ns - 1) : 0;
		if (last && (repeats(-x->size_ns, -last->size_ns, apart) ||
			     repeats(-last->size_ns, -x->size_ns, apart))) {
			return true;
		}
		last = x;
	}
	return false;
}
