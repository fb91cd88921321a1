/* SPDX-License-Identifier: MIT */
/*
 * summary.c - messages while they stream by, made into what a page can hold
 *
 * In    the answer, then every message with its corrected stamps
 * Out   per pair the extreme messages of each bucket of time, delays in bins before and after
 * Why   drawing code gets points that are true messages, and knows how many are not there
 * Not   outliers, which never come here: the answer lists them
 *
 * A floor lies at -(corrected delay) from the estimate, a ceiling at +(corrected delay): so the
 * extremes of a corridor drawn around the estimate are those of the corrected delays. Where a
 * clock has no estimate, delays as recorded are taken, less the corridor's own slope.
 */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

/* Fine bins of a histogram, and of all of them together. */
enum { MOST_CELLS = 16384, LEAST_CELLS = 128, ALL_CELLS = 1 << 18 };

/*
 * With p points, at most p / 4 buckets of a direction pair are in use before they are doubled; of
 * 2^k ns each, half of them did not fit: 4 (2 L / 2^k + 2) > p, so 2^k < 8 L / (p - 8).
 */
enum { HUNDREDTH = 808, FEWEST = 16 };

/* Pairs whose hulls are found: a corridor is kept for each meanwhile. */
enum { MOST_HULLS = 256 };

/* ---- which pair ------------------------------------------------------------------------ */

/* Its number + 1; 0: there is no such pair. */
static uint64_t number_of(const struct usk_summary *s, uint32_t a, uint32_t b)
{
	return usk_index_find(&s->numbers, a < b ? a : b, a < b ? b : a);
}

static struct usk_summary_pair *pair_of(struct usk_summary *s, const struct usk_msg *m)
{
	struct usk_summary_pair *p = s->last < s->n_pairs ? &s->pair[s->last] : NULL;
	if (p && ((p->a == m->from && p->b == m->to) || (p->a == m->to && p->b == m->from))) {
		return p;
	}
	size_t i = number_of(s, m->from, m->to);
	if (!i) {
		return NULL;
	}
	s->last = i - 1;
	return &s->pair[s->last];
}

/* ---- how much of each ------------------------------------------------------------------ */

static uint64_t shared(const uint64_t *want, const bool *first, size_t n, uint64_t least,
		       uint64_t level)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t up_to = first[i] && level < least ? least : level;
		sum += want[i] < up_to ? want[i] : up_to;
	}
	return sum;
}

void usk_summary_share(const uint64_t *want, const bool *first, size_t n, size_t most,
		       size_t *share)
{
	uint64_t least = HUNDREDTH;
	while (least > FEWEST && shared(want, first, n, least, FEWEST) > most) {
		least--;
	}
	/* The highest level that all can be served to. */
	uint64_t low = FEWEST, high = most < FEWEST ? FEWEST : most;
	while (low < high) {
		uint64_t middle = high - (high - low) / 2;
		if (shared(want, first, n, least, middle) <= most) {
			low = middle;
		} else {
			high = middle - 1;
		}
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t up_to = first[i] && low < least ? least : low;
		share[i] = (size_t)(want[i] < FEWEST ? FEWEST : want[i] < up_to ? want[i] : up_to);
	}
}

/* Pairs that a clock is tied to its reference through. */
static void on_paths(const struct usk_summary *s, const struct usk_clocks *c, bool *first)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t n = 1; n < k->n_path; n++) {
			uint64_t at = number_of(s, k->path[n - 1], k->path[n]);
			if (at) {
				first[at - 1] = true;
			}
		}
	}
}

/* Of too many pairs those on paths stay, then the first ones. */
static void choose_pairs(struct usk_summary *s, const bool *first)
{
	size_t n = 0;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < s->n_pairs && n < USK_PAGE_PAIRS; i++) {
			if (first[i] == !round) {
				s->pair[i].shown = true;
				n++;
			}
		}
	}
	s->n_shown = n;
}

/* ---- the answer ------------------------------------------------------------------------ */

static bool known(const struct usk_clocks *c, uint32_t clock)
{
	enum usk_quality q = c->clock[clock].quality;
	return q == USK_REFERENCE || q == USK_BOUNDED;
}

/* The slope of a delay from a to b as recorded: it falls as b's offset rises. */
static int64_t slope_of(const struct usk_pair *p)
{
	const struct usk_point *x = p->n_floor > 1 ? p->floor : p->ceiling;
	size_t n = p->n_floor > 1 ? p->n_floor : p->n_ceiling;
	if (n < 2 || x[n - 1].local_ns == x[0].local_ns) {
		return 0;
	}
	usk_i128 rise = (usk_i128)x[n - 1].offset_ns - x[0].offset_ns;
	usk_i128 run = (usk_i128)x[n - 1].local_ns - x[0].local_ns;
	return usk_saturate(-rise * 1000000000000 / run);
}

/* For the hulls alone, so a narrow cone will do. */
static struct usk_corridor *begin_hulls(const struct usk_pair *p)
{
	const struct usk_point *first = p->n_floor ? p->floor : p->n_ceiling ? p->ceiling : NULL;
	const struct usk_frame frame = { .local_ns = first ? first->local_ns : 0,
					 .offset_ns = first ? first->offset_ns : 0,
					 .rate_e12 = -slope_of(p),
					 .kappa_e12 = 400000 };
	return first ? usk_corridor_new(&frame) : NULL;
}

static void begin_pair(struct usk_summary_pair *out, const struct usk_clocks *c, size_t i,
		       size_t most, size_t cells)
{
	const struct usk_pair *p = &c->pair[i];
	out->corrected = known(c, p->a) && known(c, p->b);
	if (!out->corrected) {
		out->rate_e12 = slope_of(p);
		out->origin_ns = p->n_floor	? p->floor[0].local_ns
				 : p->n_ceiling ? p->ceiling[0].local_ns
						: 0;
	}
	/* More than there are values are not needed. */
	uint64_t messages = p->a_to_b + p->b_to_a;
	cells = messages < cells ? (size_t)messages : cells;
	out->thin = usk_thin_new(most);
	for (int k = 0; k < 2; k++) {
		out->recorded[k] = usk_bins_new(cells);
		out->delay[k] = usk_bins_new(cells);
	}
}

/* The table of pairs, empty ones still; *first: those on paths. */
static bool *list_pairs(struct usk_summary *s, const struct usk_clocks *c)
{
	s->n_pairs = c->n_pairs;
	s->pair = usk_alloc(s->n_pairs + 1, sizeof *s->pair);
	for (size_t i = 0; i < s->n_pairs; i++) {
		uint32_t x = s->pair[i].a = c->pair[i].a, y = s->pair[i].b = c->pair[i].b;
		*usk_index_value(&s->numbers, x < y ? x : y, x < y ? y : x) = i + 1;
	}
	bool *first = usk_alloc(s->n_pairs + 1, sizeof *first);
	on_paths(s, c, first);
	choose_pairs(s, first);
	return first;
}

void usk_summary_free(struct usk_summary *s)
{
	for (size_t i = 0; i < s->n_pairs; i++) {
		usk_thin_free(s->pair[i].thin);
		usk_corridor_free(s->pair[i].corridor);
		for (int k = 0; k < 2; k++) {
			free(s->pair[i].hull[k]);
			usk_bins_free(s->pair[i].recorded[k]);
			usk_bins_free(s->pair[i].delay[k]);
		}
	}
	free(s->pair);
	usk_index_free(&s->numbers);
	s->pair = NULL;
	s->n_pairs = s->last = 0;
}

static void answer(void *ctx, const struct usk_clocks *c)
{
	struct usk_summary *s = ctx;
	/* Of messages that were put before, if there were any: they will be put again. */
	usk_summary_free(s);
	s->of_messages = true;
	bool *first = list_pairs(s, c);
	size_t n = s->n_pairs, outliers = 0;
	size_t cells = ALL_CELLS / 4 / (s->n_shown ? s->n_shown : 1);
	uint64_t *want = usk_alloc(n + 1, sizeof *want);
	size_t *share = usk_alloc(n + 1, sizeof *share);
	cells = cells > MOST_CELLS ? MOST_CELLS : cells < LEAST_CELLS ? LEAST_CELLS : cells;
	for (size_t i = 0; i < n; i++) {
		want[i] = s->pair[i].shown ? c->pair[i].a_to_b + c->pair[i].b_to_a : 0;
		outliers += c->pair[i].n_outliers;
	}
	outliers = outliers < USK_PAGE_OUTLIERS ? outliers : USK_PAGE_OUTLIERS;
	usk_summary_share(want, first, n, USK_PAGE_POINTS - outliers, share);
	for (size_t i = 0; i < n; i++) {
		if (want[i]) {
			begin_pair(&s->pair[i], c, i, s->full ? SIZE_MAX : share[i], cells);
			s->pair[i].corridor = n <= MOST_HULLS ? begin_hulls(&c->pair[i]) : NULL;
		}
	}
	USK_FREE(want, first, share);
}

static void hull(void *ctx, size_t pair, bool ceiling, const struct usk_point *p, size_t n)
{
	struct usk_summary_pair *out = &((struct usk_summary *)ctx)->pair[pair];
	usk_corridor_free(out->corridor);
	out->corridor = NULL;
	if (out->thin) {
		out->hull[ceiling] = usk_grow(out->hull[ceiling], n + 1, sizeof *p);
		memcpy(out->hull[ceiling], p, n * sizeof *p);
		out->n_hull[ceiling] = n;
	}
}

const struct usk_point *usk_summary_hull(const struct usk_summary_pair *p, bool ceiling, size_t *n)
{
	*n = p->n_hull[ceiling];
	return p->corridor ? usk_corridor_hull(p->corridor, ceiling, n) : p->hull[ceiling];
}

/* ---- messages -------------------------------------------------------------------------- */

static void corrected(void *ctx, const struct usk_corrected *at, size_t n)
{
	struct usk_summary *s = ctx;
	(void)n;
	s->at = at;
}

static int64_t difference(int64_t a, int64_t b)
{
	return usk_saturate((usk_i128)a - b);
}

/* Delays of some messages of a pair, for its bins, which take many faster than one. */
enum { BATCH = 512 };

struct delays {
	int64_t recorded[2][BATCH], corrected[2][BATCH];
	size_t n_recorded[2], n_corrected[2];
};

static void add(struct usk_summary_pair *p, const struct usk_msg *m, const struct usk_corrected *at,
		struct delays *d)
{
	bool back = m->from != p->a;
	int64_t recorded = difference(m->received_ns, m->sent_ns);
	struct usk_thin_point x = {
		.level = recorded,
		.local_ns = back ? m->sent_ns : m->received_ns,
		.other_ns = back ? m->received_ns : m->sent_ns,
		.local_epoch = back ? at->sent_epoch : at->received_epoch,
		.other_epoch = back ? at->received_epoch : at->sent_epoch,
	};
	d->recorded[back][d->n_recorded[back]++] = recorded;
	if (at->sent_ns != USK_NONE && at->received_ns != USK_NONE) {
		x.level = difference(at->received_ns, at->sent_ns);
		d->corrected[back][d->n_corrected[back]++] = x.level;
	} else if (p->rate_e12) {
		usk_i128 rise = (usk_i128)p->rate_e12 * difference(x.local_ns, p->origin_ns) /
				1000000000000;
		x.level = usk_saturate(recorded + (back ? rise : -rise));
	}
	usk_thin_add(p->thin, back, &x);
}

/* n messages of a pair, BATCH at most. */
static void add_some(struct usk_summary_pair *p, const struct usk_msg *msg,
		     const struct usk_corrected *at, size_t n)
{
	struct delays d;
	d.n_recorded[0] = d.n_recorded[1] = d.n_corrected[0] = d.n_corrected[1] = 0;
	for (size_t i = 0; i < n; i++) {
		add(p, &msg[i], &at[i], &d);
	}
	for (int back = 0; back < 2; back++) {
		usk_bins_add(p->recorded[back], d.recorded[back], d.n_recorded[back]);
		usk_bins_add(p->delay[back], d.corrected[back], d.n_corrected[back]);
	}
}

/* Stamps that repeat have no hull. */
static void add_to_hulls(struct usk_summary_pair *p, const struct usk_msg *msg,
			 const struct usk_corrected *at, size_t n)
{
	bool repeat = false;
	for (size_t i = 0; i < n; i++) {
		repeat |= at[i].sent_epoch || at[i].received_epoch;
	}
	if (repeat || usk_corridor_add(p->corridor, p->a, p->b, msg, n, NULL)) {
		usk_corridor_free(p->corridor);
		p->corridor = NULL;
	}
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct usk_summary *s = ctx;
	for (size_t i = 0, end; i < n; i = end) {
		struct usk_summary_pair *p = pair_of(s, &msg[i]);
		for (end = i; end < n && end < i + BATCH && pair_of(s, &msg[end]) == p; end++) {
		}
		if (p && p->thin) {
			add_some(p, &msg[i], &s->at[i], end - i);
		}
		if (p && p->corridor) {
			add_to_hulls(p, &msg[i], &s->at[i], end - i);
		}
	}
	return true;
}

void usk_summary_new(struct usk_summary *s, bool full)
{
	*s = (struct usk_summary){ .full = full };
	s->sink = (struct usk_sink){ .ctx = s,
				     .any_order = true,
				     .answer = answer,
				     .hull = hull,
				     .most_hulls = MOST_HULLS,
				     .corrected = corrected,
				     .put = put };
}

void usk_summary_alone(struct usk_summary *s, const struct usk_clocks *c)
{
	usk_summary_new(s, false);
	free(list_pairs(s, c));
}
