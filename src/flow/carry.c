/* SPDX-License-Identifier: MIT */
/*
 * carry.c - stamps of a clock that was logged, on its raw clock and back
 *
 * In    a log, the epochs of the stamps, stamps on unwrapped time
 * Out   between which two moments of the raw clock each was shown
 * Why   a stamp of a send counts from the earlier one, of a receipt from the later one: so nothing
 *       is promised that the log's brackets do not hold
 * Not   reading the log (clock_log.c), from the raw clock back to stamps (carry_back.c), the answer
 *       (carried.c)
 *
 * Around a jump a stamp may have been shown before it and behind it. Before the first line and
 * behind the last one the clock is taken to run as the kernel was told there, or as it did in the
 * mean: what it does then counts as its own, as of a clock that is not logged.
 */
#include "flow/clock_log.h"

#include <stdlib.h>

#define E12 INT64_C(1000000000000)

static int64_t scaled(int64_t d, int64_t slope_e12, bool up)
{
	usk_i128 more = (usk_i128)d * slope_e12;
	return usk_saturate((usk_i128)d +
			    (up ? usk_ceil_div(more, E12) : usk_floor_div(more, E12)));
}

/* Over less the brackets tell nothing of a rate. */
#define LEAST_NS INT64_C(100000000)

/* The cell nearest to a piece's end, inside it, that is long enough; NULL: there is none. */
static const struct usk_log_cell *inside(const struct usk_clock_log *l, size_t p, bool end)
{
	const struct usk_log_piece *x = &l->piece[p];
	for (size_t i = 0; i < x->last - x->first; i++) {
		size_t k = end ? x->last - 1 - i : x->first + i;
		if ((usk_i128)l->line[k + 1].time_ns - l->line[k].time_ns >= LEAST_NS) {
			return &l->cell[k];
		}
	}
	return NULL;
}

static struct usk_log_cell rates_at(const struct usk_clock_log *l, size_t p, bool end)
{
	const struct usk_log_cell *c = inside(l, p, end);
	if (c) {
		return *c;
	}
	/* As before and behind, or what the kernel allows. */
	const struct usk_log_cell *a = p ? inside(l, p - 1, true) : NULL;
	const struct usk_log_cell *b = p + 1 < l->n_pieces ? inside(l, p + 1, false) : NULL;
	struct usk_log_cell both = { .slow_e12 = -E12 / 1000, .fast_e12 = E12 / 1000 };
	if (a || b) {
		a = a ? a : b;
		b = b ? b : a;
		both.slow_e12 = a->slow_e12 < b->slow_e12 ? a->slow_e12 : b->slow_e12;
		both.fast_e12 = a->fast_e12 > b->fast_e12 ? a->fast_e12 : b->fast_e12;
	}
	return both;
}

/* Between the lines that a jump lies between, the one before `piece`: as on either side of it. The
 * rate may have changed before the jump or with it. */
struct usk_log_cell usk_carry_rates(const struct usk_clock_log *l, size_t piece)
{
	const struct usk_log_cell a = rates_at(l, piece - 1, true), b = rates_at(l, piece, false);
	return (struct usk_log_cell){
		.slow_e12 = a.slow_e12 < b.slow_e12 ? a.slow_e12 : b.slow_e12,
		.fast_e12 = a.fast_e12 > b.fast_e12 ? a.fast_e12 : b.fast_e12,
	};
}

/* How far beyond its end, by the clock, a piece may reach: to the next line. Where it was set
 * forward the stamps between, which it hardly showed, are of both pieces. */
static int64_t reach(const struct usk_clock_log *l, size_t p, bool end)
{
	const struct usk_log_piece *x = &l->piece[p];
	const struct usk_log_line *near = &l->line[end ? x->last : x->first - 1];
	usk_i128 raw = (usk_i128)near[1].after_ns - near[0].before_ns;
	int64_t slow = usk_carry_rates(l, end ? p + 1 : p).slow_e12;
	usk_i128 shown = (usk_i128)near[1].time_ns - near[0].time_ns;
	usk_i128 most = raw * E12 / (E12 + slow) + 1;
	return usk_saturate(most > shown ? most : shown);
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

/* May this fall of the stamps be the one before a piece? */
static bool is_fall(const struct usk_clock_log *l, size_t p, const struct usk_epoch *e)
{
	const struct usk_log_piece *x = &l->piece[p];
	return x->fell &&
	       (usk_i128)e->before_ns <=
		       (usk_i128)l->line[x->first - 1].time_ns + reach(l, p - 1, true) &&
	       (usk_i128)e->after_ns >= (usk_i128)l->line[x->first].time_ns - reach(l, p, false);
}

/* False: the stamps fell where the clock did not. */
static bool match_epochs(struct usk_carry *c)
{
	const struct usk_epochs *e = c->epochs;
	const struct usk_clock_log *l = &c->log;
	size_t at = 0;
	bool begun = false, ended = false;
	c->epoch = usk_alloc(e->n + 1, sizeof *c->epoch);
	for (size_t i = 0; i <= e->n; i++) {
		struct usk_log_epoch *x = &c->epoch[i];
		size_t next = at + 1;
		*x = (struct usk_log_epoch){ at, l->n_pieces - 1, i ? e->epoch[i - 1].shift_ns : 0,
					     false, ended };
		if (i == e->n || ended) {
			continue;
		}
		while (next < l->n_pieces && !is_fall(l, next, &e->epoch[i])) {
			next++;
		}
		if (next < l->n_pieces) {
			x->last = next - 1;
			at = next;
			begun = true;
		} else if (e->epoch[i].before_ns >= l->line[l->n - 1].time_ns) {
			ended = true;
		} else if (!begun && e->epoch[i].after_ns <= l->line[0].time_ns) {
			x->before = true;
			x->last = 0;
		} else {
			return false;
		}
	}
	return true;
}

struct usk_raw usk_carry_covers(const struct usk_carry *c)
{
	const struct usk_clock_log *l = &c->log;
	size_t begin = 0, end = c->epochs->n;
	while (c->epoch[begin].before) {
		begin++;
	}
	while (c->epoch[end].behind) {
		end--;
	}
	return (struct usk_raw){
		usk_saturate((usk_i128)l->line[0].time_ns + c->epoch[begin].shift_ns),
		usk_saturate((usk_i128)l->line[l->n - 1].time_ns + c->epoch[end].shift_ns)
	};
}

char *usk_carry_of(struct usk_clock_log *log, const struct usk_epochs *epochs, int64_t first_ns,
		   int64_t last_ns, struct usk_carry **out)
{
	struct usk_carry *c = usk_alloc(1, sizeof *c);
	char *why = NULL;
	c->log = *log;
	c->epochs = epochs;
	*log = (struct usk_clock_log){ 0 };
	const struct usk_clock_log *l = &c->log;
	if (!match_epochs(c)) {
		why = usk_strdup("the clock's stamps show a step backward, the log does not: it is "
				 "of another clock");
	} else {
		const struct usk_raw all = usk_carry_covers(c);
		if (all.lo_ns > last_ns || all.hi_ns < first_ns) {
			why = usk_strdup("it covers none of the clock's stamps: it is of another "
					 "clock, or of another time");
		}
		c->whole = all.lo_ns <= first_ns && all.hi_ns >= last_ns && !l->holes;
	}
	if (why) {
		usk_carry_free(c);
		c = NULL;
	}
	*out = c;
	return why;
}

void usk_carry_free(struct usk_carry *c)
{
	if (c) {
		usk_clock_log_free(&c->log);
		free(c->epoch);
		free(c);
	}
}

/* ---- to the raw clock -------------------------------------------------------------------------
 */

/* What is not logged: the nearest line, and the rate that holds there. */
static struct usk_raw beyond(const struct usk_clock_log *l, bool end, usk_i128 d)
{
	const struct usk_log_line *x = &l->line[end ? l->n - 1 : 0];
	d += usk_floor_div(d * l->beyond_e12[end], E12);
	return (struct usk_raw){ usk_saturate(x->before_ns + d), usk_saturate(x->after_ns + d) };
}

static void unite(struct usk_raw *all, bool *any, struct usk_raw x)
{
	all->lo_ns = *any && all->lo_ns < x.lo_ns ? all->lo_ns : x.lo_ns;
	all->hi_ns = *any && all->hi_ns > x.hi_ns ? all->hi_ns : x.hi_ns;
	*any = true;
}

/* The line of a piece at y, or the last one before. */
static size_t line_at(const struct usk_clock_log *l, const struct usk_log_piece *p, int64_t y)
{
	size_t i;
	USK_FIRST(i, p->first + 1, p->last + 1, l->line[i].time_ns > y);
	return i - 1;
}

static int64_t between(int64_t a, int64_t b, usk_i128 part, usk_i128 whole, bool up)
{
	usk_i128 rise = ((usk_i128)b - a) * part;
	return (int64_t)(a + (up ? usk_ceil_div(rise, whole) : usk_floor_div(rise, whole)));
}

static struct usk_raw within(const struct usk_clock_log *l, const struct usk_log_piece *p,
			     int64_t y)
{
	size_t k = line_at(l, p, y);
	const struct usk_log_line *x = &l->line[k];
	int64_t pad = k < p->last ? l->cell[k].pad_ns : 0;
	if (x->time_ns == y || k == p->last) {
		/* The wider of both cells, so that all between two lines is within straight ones.
		 */
		pad = k > p->first && l->cell[k - 1].pad_ns > pad ? l->cell[k - 1].pad_ns : pad;
		return (struct usk_raw){ usk_saturate((usk_i128)x->before_ns - pad),
					 usk_saturate((usk_i128)x->after_ns + pad) };
	}
	usk_i128 d = (usk_i128)x[1].time_ns - x->time_ns, part = (usk_i128)y - x->time_ns;
	usk_i128 lo = between(x->before_ns, x[1].before_ns, part, d, false);
	usk_i128 hi = between(x->after_ns, x[1].after_ns, part, d, true);
	return (struct usk_raw){ usk_saturate(lo - pad), usk_saturate(hi + pad) };
}

/* False: it was not shown there. */
static bool in_piece(const struct usk_carry *c, size_t p, int64_t y, struct usk_raw *out)
{
	const struct usk_clock_log *l = &c->log;
	const struct usk_log_piece *x = &l->piece[p];
	const struct usk_log_line *first = &l->line[x->first], *last = &l->line[x->last];
	if (y >= first->time_ns && y <= last->time_ns) {
		*out = within(l, x, y);
		return true;
	}
	bool end = y > last->time_ns;
	usk_i128 d = end ? (usk_i128)y - last->time_ns : (usk_i128)first->time_ns - y;
	if (p == (end ? l->n_pieces - 1 : 0)) {
		*out = beyond(l, end, end ? d : -d);
		return true;
	}
	if (d > reach(l, p, end) || d > USK_TIME_MAX) {
		return false;
	}
	const struct usk_log_cell r = usk_carry_rates(l, end ? p + 1 : p);
	int64_t slow = scaled((int64_t)d, r.slow_e12, false);
	int64_t fast = scaled((int64_t)d, r.fast_e12, true);
	usk_i128 lo = end ? (usk_i128)last->before_ns + slow : (usk_i128)first->before_ns - fast;
	usk_i128 hi = end ? (usk_i128)last->after_ns + fast : (usk_i128)first->after_ns - slow;
	*out = (struct usk_raw){ usk_saturate(lo), usk_saturate(hi) };
	return true;
}

struct usk_raw usk_carry_raw(const struct usk_carry *c, int64_t ns)
{
	const struct usk_clock_log *l = &c->log;
	size_t i = usk_epoch_of(c->epochs, ns);
	const struct usk_log_epoch *e = &c->epoch[i];
	int64_t y = usk_saturate((usk_i128)ns - e->shift_ns);
	struct usk_raw all = { 0, 0 };
	bool any = false;
	if (e->before || e->behind) {
		/* From the line next to it, by unwrapped time. */
		size_t next = i;
		while (e->before ? c->epoch[next].before : c->epoch[next].behind) {
			next = e->before ? next + 1 : next - 1;
		}
		int64_t at = l->line[e->before ? 0 : l->n - 1].time_ns;
		return beyond(l, e->behind, (usk_i128)ns - c->epoch[next].shift_ns - at);
	}
	for (size_t p = e->first; p <= e->last; p++) {
		struct usk_raw x;
		if (in_piece(c, p, y, &x)) {
			unite(&all, &any, x);
		}
	}
	/* Never shown, as far as the log goes: anywhere between the pieces around it. */
	for (size_t p = e->first; p <= e->last && !any; p++) {
		const struct usk_log_piece *x = &l->piece[p];
		bool next = p == e->last || l->line[l->piece[p + 1].first].time_ns > y;
		if (next) {
			size_t k = x->last + (x->last + 1 < l->n);
			unite(&all, &any,
			      (struct usk_raw){ l->line[x->last].before_ns, l->line[k].after_ns });
		}
	}
	/* Stamps are rounded down to 1 ns, and so were those of the lines. */
	return (struct usk_raw){ usk_saturate((usk_i128)all.lo_ns - 1),
				 usk_saturate((usk_i128)all.hi_ns + 2) };
}

struct usk_slopes usk_carry_slopes(const struct usk_carry *c, int64_t ns)
{
	const struct usk_clock_log *l = &c->log;
	const int64_t raw = usk_raw_middle(usk_carry_raw(c, ns));
	const bool behind = raw > usk_log_middle(&l->line[l->n - 1]);
	if (behind || raw < usk_log_middle(&l->line[0])) {
		return (struct usk_slopes){ l->beyond_e12[behind], l->beyond_e12[behind] };
	}
	const size_t line = usk_log_behind(l, raw) - 1, k = line - (line + 1 == l->n);
	struct usk_log_cell cell = l->cell[k];
	if (cell.jump) {
		size_t p;
		USK_FIRST(p, 0, l->n_pieces, l->piece[p].first > k);
		cell = usk_carry_rates(l, p);
	}
	return (struct usk_slopes){ cell.slow_e12, cell.fast_e12 };
}

/* ---- corners ----------------------------------------------------------------------------------
 */

struct corners {
	int64_t *v, first, last;
	size_t n, cap;
};

static void corner(struct corners *out, usk_i128 at)
{
	if (at >= out->first && at <= out->last) {
		*USK_ADD(out->v, out->n, out->cap) = (int64_t)at;
	}
}

size_t usk_carry_corners(const struct usk_carry *c, int64_t first_ns, int64_t last_ns,
			 int64_t **out)
{
	const struct usk_clock_log *l = &c->log;
	struct corners x = { .first = first_ns, .last = last_ns };
	corner(&x, first_ns);
	corner(&x, last_ns);
	for (size_t i = 0; i <= c->epochs->n; i++) {
		const struct usk_log_epoch *e = &c->epoch[i];
		int64_t shift = e->shift_ns;
		if (i < c->epochs->n) {
			const struct usk_epoch *y = &c->epochs->epoch[i];
			corner(&x, (usk_i128)y->before_ns + shift);
			corner(&x, (usk_i128)y->after_ns + y->shift_ns);
		}
		for (size_t p = e->first; p <= e->last && !e->before && !e->behind; p++) {
			const struct usk_log_piece *q = &l->piece[p];
			for (size_t k = q->first; k <= q->last; k++) {
				corner(&x, (usk_i128)l->line[k].time_ns + shift);
			}
			for (int end = 0; end < 2; end++) {
				usk_i128 at = l->line[end ? q->last : q->first].time_ns;
				if (p == (end ? l->n_pieces - 1 : 0)) {
					continue;
				}
				at += end ? reach(l, p, true) : -(usk_i128)reach(l, p, false);
				corner(&x, at + shift);
				corner(&x, at + shift + (end ? 1 : -1));
			}
		}
	}
	*out = x.v;
	return usk_sort_distinct(x.v, x.n);
}
