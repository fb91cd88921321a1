/* SPDX-License-Identifier: MIT */
/*
 * carry_back.c - moments of a raw clock, on the stamps of the clock that was logged
 *
 * In    a log, the epochs of the stamps, moments of the raw clock
 * Out   between which stamps it showed something then, where it was set and by how much
 * Why   the answer is by stamps, and a reference's time is what it showed: all that carry.c says of a
 *       stamp is said the other way round, so that neither promises what the other does not
 * Not   from stamps to the raw clock (carry.c)
 *
 * Where it was set back it shows most just before, and least just after: so of a time within which
 * that may have been, the ends do not tell the extremes.
 */
#include "flow/clock_log.h"
#include "flow/flow.h"

#include <stdlib.h>

#define E12 INT64_C(1000000000000)

static int64_t shift_of(const struct usk_carry *c, size_t line)
{
	size_t i = 0;
	while (i < c->epochs->n &&
	       (c->epoch[i].before || line > c->log.piece[c->epoch[i].last].last)) {
		i++;
	}
	return c->epoch[i].shift_ns;
}

int64_t usk_carry_shown(const struct usk_carry *c, int64_t raw_ns)
{
	const struct usk_clock_log *l = &c->log;
	const size_t behind = usk_log_behind(l, raw_ns), lo = behind - (behind > 0);
	const struct usk_log_line *x = &l->line[lo];
	usk_i128 d = (usk_i128)raw_ns - usk_log_middle(x);
	if (d < 0 || lo + 1 == l->n || l->cell[lo].jump) {
		const bool jump = d >= 0 && lo + 1 < l->n;
		const int64_t rate = jump ? 0 : l->beyond_e12[d >= 0];
		return usk_saturate(x->time_ns + usk_floor_div(d * E12, E12 + rate) +
				    shift_of(c, lo));
	}
	usk_i128 whole = (usk_i128)usk_log_middle(&x[1]) - usk_log_middle(x);
	return usk_saturate(x->time_ns +
			    usk_floor_div(d * ((usk_i128)x[1].time_ns - x->time_ns), whole) +
			    shift_of(c, lo));
}

/* ---- outwards -----------------------------------------------------------------------
 */

/* A line's clock was shown between these, off the straight lines of either side. */
static struct usk_raw at_line(const struct usk_clock_log *l, size_t k)
{
	const struct usk_log_line *x = &l->line[k];
	int64_t pad = k ? l->cell[k - 1].pad_ns : 0;
	pad = k + 1 < l->n && l->cell[k].pad_ns > pad ? l->cell[k].pad_ns : pad;
	return (struct usk_raw){ usk_saturate((usk_i128)x->before_ns - pad - 1),
				 usk_saturate((usk_i128)x->after_ns + pad + 2) };
}

/* a + (b - a) part/whole, outwards. */
static int64_t on_line(int64_t from, usk_i128 part, usk_i128 rise, usk_i128 whole, bool up)
{
	return usk_saturate(
		from + (up ? usk_ceil_div(part * rise, whole) : usk_floor_div(part * rise, whole)));
}

/* Between two lines, or on from the first of them (rates slow to fast), or back from the second. */
static struct usk_raw by_rates(const struct usk_log_line *x, int64_t raw_ns, bool back,
			       struct usk_log_cell r)
{
	/* Later for the least, earlier for the most: a stamp is rounded down, and so was a line's. */
	usk_i128 least = (usk_i128)raw_ns - 2 - x->after_ns;
	usk_i128 most = (usk_i128)raw_ns + 1 - x->before_ns;
	return (struct usk_raw){
		on_line(x->time_ns, least, E12, E12 + (back ? r.slow_e12 : r.fast_e12), false),
		on_line(x->time_ns, most, E12, E12 + (back ? r.fast_e12 : r.slow_e12), true)
	};
}

static struct usk_raw on_chords(const struct usk_log_line *x, int64_t raw_ns, int64_t pad_ns)
{
	usk_i128 d = (usk_i128)x[1].time_ns - x->time_ns;
	usk_i128 least = (usk_i128)raw_ns - 2 - pad_ns - x->after_ns;
	usk_i128 most = (usk_i128)raw_ns + 1 + pad_ns - x->before_ns;
	return (struct usk_raw){
		on_line(x->time_ns, least, d, (usk_i128)x[1].after_ns - x->after_ns, false),
		on_line(x->time_ns, most, d, (usk_i128)x[1].before_ns - x->before_ns, true)
	};
}

static struct usk_raw shifted(struct usk_raw at, int64_t by)
{
	return (struct usk_raw){ usk_saturate((usk_i128)at.lo_ns + by),
				 usk_saturate((usk_i128)at.hi_ns + by) };
}

/* From line k to the next; from the last one on; k == n: before the first. */
static void shown_in(const struct usk_carry *c, size_t k, int64_t raw_ns, usk_shown_fn *take,
		     void *ctx)
{
	const struct usk_clock_log *l = &c->log;
	const bool before = k == l->n, jump = k + 1 < l->n && l->cell[k].jump;
	const size_t from = before ? 0 : k;
	const struct usk_log_line *x = &l->line[from];
	const int64_t shift = shift_of(c, from);
	if (before || k + 1 == l->n) {
		const int64_t rate = l->beyond_e12[!before];
		take(ctx,
		     shifted(by_rates(x, raw_ns, before,
				      (struct usk_log_cell){ .slow_e12 = rate, .fast_e12 = rate }),
			     shift));
	} else if (!jump) {
		take(ctx, shifted(on_chords(x, raw_ns, l->cell[k].pad_ns), shift));
	} else {
		size_t p;
		USK_FIRST(p, 0, l->n_pieces, l->piece[p].first > k);
		const struct usk_log_cell r = usk_carry_rates(l, p);
		take(ctx, shifted(by_rates(x, raw_ns, false, r), shift));
		take(ctx, shifted(by_rates(x + 1, raw_ns, true, r), shift_of(c, k + 1)));
	}
}

void usk_carry_each_shown(const struct usk_carry *c, int64_t raw_ns, usk_shown_fn *take, void *ctx)
{
	const struct usk_clock_log *l = &c->log;
	size_t from, to = usk_log_behind(l, raw_ns);
	/* Lines about as far away may lie on the other side. */
	for (from = to; from && at_line(l, from - 1).hi_ns >= raw_ns;) {
		from--;
	}
	while (to < l->n && at_line(l, to).lo_ns <= raw_ns) {
		to++;
	}
	for (size_t k = from; k <= to; k++) {
		shown_in(c, k ? k - 1 : l->n, raw_ns, take, ctx);
	}
}

static void unite_shown(void *ctx, struct usk_raw shown)
{
	struct usk_raw *all = ctx;
	all->lo_ns = shown.lo_ns < all->lo_ns ? shown.lo_ns : all->lo_ns;
	all->hi_ns = shown.hi_ns > all->hi_ns ? shown.hi_ns : all->hi_ns;
}

struct usk_raw usk_carry_shows(const struct usk_carry *c, int64_t raw_ns)
{
	struct usk_raw all = { INT64_MAX, INT64_MIN };
	usk_carry_each_shown(c, raw_ns, unite_shown, &all);
	return all;
}

struct usk_raw usk_carry_shows_between(const struct usk_carry *c, int64_t from_ns, int64_t to_ns)
{
	const struct usk_clock_log *l = &c->log;
	struct usk_raw all = usk_carry_shows(c, from_ns);
	unite_shown(&all, usk_carry_shows(c, to_ns));
	size_t p;
	USK_FIRST(p, 1, l->n_pieces, l->line[l->piece[p].first].after_ns >= from_ns);
	p -= p > 1; /* its line may be later than it says */
	/* Set back it showed most at last, and least at first. */
	for (; p < l->n_pieces; p++) {
		const size_t k = l->piece[p].first;
		const int64_t first = at_line(l, k - 1).lo_ns, last = at_line(l, k).hi_ns;
		if (first > to_ns) {
			break;
		}
		if (last >= from_ns && last <= to_ns) {
			unite_shown(&all, usk_carry_shows(c, last));
		}
		if (first >= from_ns) {
			unite_shown(&all, usk_carry_shows(c, first));
		}
	}
	return all;
}

void usk_carry_moments(const struct usk_carry *c, struct usk_moments *out)
{
	const struct usk_clock_log *l = &c->log;
	*out = (struct usk_moments){ .n = { 0 } };
	for (int i = 0; i < USK_MOMENTS; i++) {
		out->at[i] = usk_grow(NULL, 2 * l->n + 1, sizeof *out->at[i]);
	}
	for (size_t k = 0; k < l->n; k++) {
		const bool jump = (k && l->cell[k - 1].jump) || (k + 1 < l->n && l->cell[k].jump);
		const int kind = jump ? USK_AT_JUMPS : USK_AT_LINES;
		const struct usk_raw at = at_line(l, k);
		out->at[kind][out->n[kind]++] = at.lo_ns;
		out->at[kind][out->n[kind]++] = at.hi_ns;
		out->at[USK_MIDDLE][out->n[USK_MIDDLE]++] = usk_log_middle(&l->line[k]);
	}
	usk_sort_numbers(out->at[USK_AT_JUMPS], out->n[USK_AT_JUMPS]);
	usk_sort_numbers(out->at[USK_AT_LINES], out->n[USK_AT_LINES]);
}

/* By how much the clock was set forward before a piece: between these. */
static struct usk_raw step_before(const struct usk_carry *c, size_t piece)
{
	const struct usk_clock_log *l = &c->log;
	const struct usk_log_line *x = &l->line[l->piece[piece].first - 1];
	const struct usk_log_cell r = usk_carry_rates(l, piece);
	usk_i128 d = (usk_i128)x[1].time_ns - x[0].time_ns;
	usk_i128 least = (usk_i128)x[1].before_ns - x[0].after_ns - 1;
	usk_i128 most = (usk_i128)x[1].after_ns - x[0].before_ns + 1;
	return (struct usk_raw){ usk_saturate(d - usk_ceil_div(most * E12, E12 + r.slow_e12)),
				 usk_saturate(d - usk_floor_div(least * E12, E12 + r.fast_e12)) };
}

struct usk_set usk_carry_set(const struct usk_carry *c, size_t piece)
{
	const struct usk_log_line *x = &c->log.line[c->log.piece[piece].first - 1];
	const size_t line = (size_t)(x - c->log.line);
	const struct usk_raw by = step_before(c, piece);
	const int64_t shift = shift_of(c, line), shift_behind = shift_of(c, line + 1);
	usk_i128 before = (usk_i128)x->time_ns + shift;
	usk_i128 behind = (usk_i128)x[1].time_ns + shift_behind;
	struct usk_set out = { .by = by, .shifted_ns = shift_behind - shift };
	/* Set back without an epoch: what it showed then it had shown, or showed again. */
	usk_i128 back = behind < before && by.lo_ns < 0 ? -(usk_i128)by.lo_ns : 0;
	out.from_ns = usk_saturate(before < behind ? before : behind - back);
	out.to_ns = usk_saturate(before < behind ? behind : before + back);
	/* An epoch's stamps end before it, and begin behind it. */
	for (size_t i = 0; i < c->epochs->n && shift != shift_behind; i++) {
		if (c->epochs->epoch[i].shift_ns == shift_behind) {
			const struct usk_gap gap = usk_epoch_gap(c->epochs, i);
			out.from_ns = gap.before_ns < before ? gap.before_ns : (int64_t)before;
			out.to_ns = gap.after_ns > behind ? gap.after_ns : usk_saturate(behind);
		}
	}
	return out;
}
