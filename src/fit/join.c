/* SPDX-License-Identifier: MIT */
/*
 * join.c - the pieces of a clock fitted one by one, and joined into one map
 *
 * In    a pair's points and their cuts, what fits a piece, the widest gaps of both clocks' traces
 * Out   knots and jumps of one clock
 * Why   each piece is a clock of its own; what is left is where exactly time jumps, who did it, and
 *       that corrected time never falls
 * Not   where the cuts are (pieces.c), the way across one (cross.c), how a piece is fitted, epochs
 *       (all stamps run on here)
 */
#include "fit/cross.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>

/* ---- one piece ---------------------------------------------------------------------------- */

/* The messages from one local stamp to another: they are sorted. */
static size_t message_at(const struct usk_fit *fit, usk_i128 local_ns)
{
	size_t lo = 0, hi = fit->n_msgs;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (usk_msg_local(fit, &fit->msg[mid]) < local_ns) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

struct piece {
	struct usk_part part;
	struct usk_clock clock;
};

struct usk_fit usk_fit_part(const struct usk_fit *fit, const struct usk_part *p, int64_t first_ns,
			    int64_t last_ns, bool from_start, bool to_end)
{
	struct usk_fit f = *fit;
	f.gaps = NULL;
	f.back = NULL;
	f.n_back = 0;
	f.n_other_back = 0;
	f.first_local_ns = first_ns;
	f.last_local_ns = last_ns;
	f.corridor = usk_part_corridor(p);
	f.lines = usk_lines_new(f.corridor, p->q_ns[1], p->q_ns[0], fit->max_skew_e12);
	f.plain = f.lines;
	f.recall = NULL;
	if (fit->msg) {
		size_t from = from_start ? 0 : message_at(fit, first_ns);
		size_t to = to_end ? fit->n_msgs : message_at(fit, (usk_i128)last_ns + 1);
		f.msg = fit->msg + from;
		f.n_msgs = to > from ? to - from : 0;
	}
	return f;
}

void usk_fit_part_free(struct usk_fit *f)
{
	usk_lines_free((struct usk_lines *)(uintptr_t)f->lines);
	usk_corridor_free(f->corridor);
}

static enum usk_status fit_piece(const struct usk_fit *fit, const struct usk_pieces *s, size_t i,
				 const struct usk_piece_fit *one,
				 const struct usk_estimator *method, struct piece *out,
				 struct usk_err *err)
{
	const struct usk_part *p = &out->part;
	int64_t origin = p->frame.local_ns;
	struct usk_fit f = usk_fit_part(fit, p, i ? origin + s->cut[i - 1].to : fit->first_local_ns,
					i < s->n ? origin + s->cut[i].from : fit->last_local_ns, !i,
					i == s->n);
	enum usk_status status = one->fit(one->ctx, &f, p, method, &out->clock, err);
	usk_fit_part_free(&f);
	return status;
}

/* A piece of few messages may be too little for a method that the others are enough for. */
static enum usk_status fit_all(const struct usk_fit *fit, const struct usk_pieces *s,
			       const struct usk_piece_fit *one, const struct usk_estimator *method,
			       struct piece *piece, struct usk_err *err)
{
	const struct usk_estimator *middle = usk_estimator_find("middle");
	enum usk_status first = USK_OK;
	bool any = false;
	for (size_t i = 0; i <= s->n; i++) {
		if (!piece[i].part.n[0] && !piece[i].part.n[1]) {
			continue;
		}
		enum usk_status status =
			fit_piece(fit, s, i, one, method, &piece[i], first ? NULL : err);
		if (!status) {
			any = any || piece[i].clock.quality == USK_BOUNDED;
		} else if (status == USK_EINPUT && method != middle) {
			first = first ? first : status;
			status = fit_piece(fit, s, i, one, middle, &piece[i], NULL);
		}
		if (status) {
			return status;
		}
	}
	return any ? USK_OK : first;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* How fast the offset of a piece changes, e12: over all of it, if it is long enough to tell. */
static int64_t rate_of(const struct usk_clock *c, int64_t otherwise)
{
	const struct usk_knot *a = c->knot, *b = c->knot + c->n_knots - 1;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return run < USK_SECOND
		       ? otherwise
		       : (int64_t)(((usk_i128)b->offset_ns - a->offset_ns) * USK_E12 / run);
}

/* So far out that it says nothing, yet in range. */
#define OPEN_NS (INT64_C(1) << 60)

/* One side of a piece may lack messages, and then it has no estimate and no bound there: a clock
 * that is bounded elsewhere has all three everywhere. */
static void complete(struct usk_clock *c)
{
	for (size_t i = 0; i < c->n_knots; i++) {
		struct usk_knot *k = &c->knot[i];
		usk_i128 at = k->lo_ns != USK_NONE ? k->lo_ns : k->hi_ns;
		k->offset_ns = k->offset_ns == USK_NONE ? (int64_t)at : k->offset_ns;
		k->lo_ns = k->lo_ns == USK_NONE ? usk_cut(at - OPEN_NS) : k->lo_ns;
		k->hi_ns = k->hi_ns == USK_NONE ? usk_cut(at + OPEN_NS) : k->hi_ns;
	}
}

/* Of pieces that are each bounded on one side, some from below, others from above, the side that
 * more points tell is the clock's; together they bound nothing. */
static void keep_side(const struct usk_part *p, struct usk_clock *clock)
{
	bool upper = p->n[1] > p->n[0];
	for (size_t i = 0; i < clock->n_knots && clock->quality == USK_ONE_SIDED; i++) {
		*(upper ? &clock->knot[i].lo_ns : &clock->knot[i].hi_ns) = USK_NONE;
		clock->knot[i].offset_ns = USK_NONE;
	}
}

/* The smallest T of any ceiling or upper bound from a piece on, as it is and kept 1 ns off. */
static void look_ahead(const struct usk_part *p, const struct usk_pieces *s,
		       const struct piece *piece, usk_i128 (*behind)[2])
{
	usk_i128 wall = USK_FAR, band = USK_FAR;
	size_t at = p->n[1];
	for (size_t i = s->n + 1; i-- > 0;) {
		const struct usk_clock *c = &piece[i].clock;
		int64_t from = i ? s->cut[i - 1].to : -USK_TIME_MAX;
		for (; at && p->point[1][at - 1].x >= from; at--) {
			struct usk_xy q = p->point[1][at - 1];
			wall = usk_smaller(wall, (usk_i128)p->frame.local_ns + q.x +
							 p->frame.offset_ns - q.y);
		}
		if (c->n_knots) {
			band = usk_smaller(band, usk_knot_upper(&c->knot[0]));
		}
		behind[i][0] = usk_smaller(wall, band);
		behind[i][1] = usk_smaller(wall - 1, band);
	}
}

/*
 * The drift of all pieces together, what jumped left out. Under wander one constant holds for all:
 * its range is what the pieces have in common. Else each piece has a rate of its own.
 */
static void sum_up(const struct usk_fit *fit, const struct piece *piece, size_t n,
		   struct usk_clock *clock)
{
	usk_i128 rise = 0, run = 0;
	double least = NAN, most = NAN, low = NAN, high = NAN; /* in common; of any */
	for (size_t i = 0; i < n; i++) {
		const struct usk_clock *c = &piece[i].clock;
		if (c->quality != USK_BOUNDED) {
			continue;
		}
		const struct usk_knot *a = c->knot, *b = c->knot + c->n_knots - 1;
		rise += (usk_i128)b->offset_ns - a->offset_ns;
		run += (usk_i128)b->local_ns - a->local_ns;
		least = fmax(least, c->drift_min_ppm);
		most = fmin(most, c->drift_max_ppm);
		low = fmin(low, c->drift_min_ppm);
		high = fmax(high, c->drift_max_ppm);
	}
	bool common = fit->model.kind == USK_WANDER && least <= most;
	clock->quality = isnan(low) ? USK_ONE_SIDED : USK_BOUNDED;
	clock->resolution_ns = fit->lines->q_ns[USK_FLOOR];
	clock->drift_ppm = run ? 0 - 1e6 * (double)rise / (double)run : NAN;
	clock->drift_min_ppm = common ? least : low;
	clock->drift_max_ppm = common ? most : high;
}

/* The cuts as the user knows them, until it is known who did it. */
static void tell(const struct usk_fit *fit, const struct usk_part *p, const struct usk_pieces *s,
		 struct usk_clock *clock)
{
	clock->n_jumps = s->n;
	clock->jump = usk_alloc(s->n, sizeof *clock->jump);
	for (size_t i = 0; i < s->n; i++) {
		const struct usk_cut *c = &s->cut[i];
		clock->jump[i] = (struct usk_jump){ .kind = c->kind,
						    .of = fit->b,
						    .or_of = USK_NO_CLOCK,
						    .after_local_ns = p->frame.local_ns + c->from,
						    .before_local_ns = p->frame.local_ns + c->to,
						    .size_lo_ns = c->size_lo,
						    .size_hi_ns = c->size_hi };
	}
}

static struct usk_bounds bounds_of(const struct usk_knot *k)
{
	return (struct usk_bounds){ k->lo_ns > (usk_i128)k->offset_ns - OPEN_NS / 2,
				    k->hi_ns < (usk_i128)k->offset_ns + OPEN_NS / 2, k->lo_ns,
				    k->hi_ns };
}

/*
 * The ways from each piece that has messages to the next, bracket[i] leads to piece i. A piece
 * without any lies between two moments that the clock was put back. Who jumped is asked for all at
 * once.
 */
static void find_brackets(const struct usk_fit *fit, const struct usk_part *p,
			  const struct usk_pieces *s, const struct piece *piece,
			  struct usk_cut *cut, struct usk_bracket *bracket, struct usk_clock *clock)
{
	struct usk_gap_query *query = usk_alloc(s->n + 1, sizeof *query);
	size_t *from = usk_alloc(s->n + 1, sizeof *from), last = SIZE_MAX, n = 0;
	for (size_t i = 0; i <= s->n; i++) {
		const struct usk_clock *c = &piece[i].clock;
		if (c->n_knots && last != SIZE_MAX) {
			const struct usk_clock *old = &piece[last].clock;
			struct usk_bracket *b = &bracket[i];
			cut[i] = s->cut[last];
			cut[i].to = s->cut[i - 1].to;
			*b = (struct usk_bracket){ .cut = &cut[i],
						   .left = old->knot[old->n_knots - 1],
						   .right = c->knot[0],
						   .skew = fit->max_skew_e12 };
			b->left_rate = rate_of(old, p->frame.rate_e12);
			b->right_rate = rate_of(c, b->left_rate);
			from[i] = last;
			if (cut[i].back) {
				usk_cut_judge(&cut[i], bounds_of(&b->left), bounds_of(&b->right),
					      fit->max_skew_e12);
			} else {
				query[n++] = usk_bracket_asks(fit, b);
			}
		}
		last = c->n_knots ? i : last;
	}
	if (fit->gaps && n) {
		fit->gaps(fit->gaps_ctx, query, n);
	}
	n = 0;
	for (size_t i = 0; i <= s->n; i++) {
		if (bracket[i].cut) {
			struct usk_gap none = { USK_NONE, USK_NONE };
			struct usk_gap gap = cut[i].back ? none : query[n++].gap;
			struct usk_jump *j = &clock->jump[from[i]];
			usk_bracket_blame(fit, &bracket[i], gap);
			if (usk_bracket_forward(&bracket[i])) {
				usk_cut_forward(&cut[i], fit->max_skew_e12);
			}
			if (cut[i].kind == USK_JUMP && !cut[i].back && cut[i].size_lo > 0 &&
			    (bracket[i].of == fit->b || cut[i].size_hi <= USK_UNSEEN_NS)) {
				usk_cut_unseen(&cut[i], fit->max_skew_e12);
			}
			j->of = bracket[i].of;
			j->size_lo_ns = cut[i].size_lo;
			j->size_hi_ns = cut[i].size_hi;
		}
	}
	free(query);
	free(from);
}

/* The line so far, and what bounds T before its end. */
struct joined {
	struct usk_timeline line;
	size_t floor;	    /* floors seen */
	usk_i128 before[2]; /* as in struct usk_bracket */
	int64_t *run;	    /* stamps */
	size_t n_runs;
};

static void look_back(struct joined *j, const struct usk_part *p, int64_t end)
{
	for (; j->floor < p->n[0] && p->point[0][j->floor].x <= end; j->floor++) {
		struct usk_xy q = p->point[0][j->floor];
		usk_i128 t = (usk_i128)p->frame.local_ns + q.x + p->frame.offset_ns + q.y;
		j->before[0] = usk_larger(j->before[0], t);
		j->before[1] = usk_larger(j->before[1], t + 1);
	}
	for (int off = 0; off < 2; off++) {
		const struct usk_knot *k = &j->line.knot[j->line.n - 1];
		j->before[off] = usk_larger(j->before[off], usk_knot_lower(k));
	}
}

/* The next piece goes on where the line ends. */
static bool go_on(const struct usk_part *p, struct usk_bracket *b, const struct usk_clock *next,
		  const usk_i128 behind[2], struct joined *j)
{
	look_back(j, p, b->cut->from);
	b->left = j->line.knot[j->line.n - 1];
	for (int off = 0; off < 2; off++) {
		b->before[off] = j->before[off];
		b->behind[off] = behind[off];
	}
	if (b->cut->back) {
		j->run[j->n_runs++] = b->right.local_ns;
	}
	return usk_bracket_cross(b, &j->line, next);
}

static enum usk_status join(const struct usk_fit *fit, const struct usk_part *p,
			    const struct usk_pieces *s, const struct piece *piece,
			    struct usk_clock *clock, struct usk_err *err)
{
	struct joined j = { .line = { .part = p }, .before = { -USK_FAR, -USK_FAR } };
	usk_i128(*behind)[2] = usk_alloc(s->n + 1, sizeof *behind);
	struct usk_bracket *bracket = usk_alloc(s->n + 1, sizeof *bracket);
	struct usk_cut *cut = usk_alloc(s->n + 1, sizeof *cut);
	j.run = usk_alloc(s->n + 1, sizeof *j.run);
	bool good = true, bounded = false; /* else there is no estimate that could be wrong */
	int64_t at = fit->first_local_ns;
	for (size_t i = 0; i <= s->n; i++) {
		bounded = bounded || piece[i].clock.quality == USK_BOUNDED;
	}
	look_ahead(p, s, piece, behind);
	tell(fit, p, s, clock);
	find_brackets(fit, p, s, piece, cut, bracket, clock);
	for (size_t i = 0; i <= s->n && good; i++) {
		const struct usk_clock *c = &piece[i].clock;
		if (bracket[i].cut) {
			at = c->knot[0].local_ns;
			good = go_on(p, &bracket[i], c, behind[i], &j) || !bounded;
		} else if (c->n_knots) {
			usk_timeline_add(&j.line, c->knot, c->n_knots);
		}
	}
	good = good && (!bounded || usk_timeline_check(&j.line, j.run, j.n_runs, &at));
	free(behind);
	free(bracket);
	free(cut);
	free(j.run);
	clock->knot = j.line.knot;
	clock->n_knots = j.line.n;
	sum_up(fit, piece, s->n + 1, clock);
	return good ? USK_OK
		    : usk_fail(err, USK_EINPUT, 0,
			       "the correction failed its own check at %lld ns: please report this",
			       (long long)at);
}

enum usk_status usk_pieces_fit(const struct usk_fit *fit, const struct usk_part *p,
			       const struct usk_pieces *s, const struct usk_piece_fit *one,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err)
{
	struct piece *piece = usk_alloc(s->n + 1, sizeof *piece);
	for (size_t i = 0; i <= s->n; i++) {
		piece[i].part = usk_pieces_part(p, s, i);
	}
	enum usk_status status = fit_all(fit, s, one, method, piece, err);
	clock->before = clock->after = usk_skew_slopes(fit->max_skew_e12);
	clock->knot = NULL;
	clock->n_knots = 0;
	clock->jump = NULL;
	clock->n_jumps = 0;
	if (!status) {
		for (size_t i = 0; i <= s->n; i++) {
			complete(&piece[i].clock);
		}
		status = join(fit, p, s, piece, clock, err);
		keep_side(p, clock);
	}
	for (size_t i = 0; i <= s->n; i++) {
		free(piece[i].clock.knot);
		free(piece[i].clock.jump);
	}
	free(piece);
	if (status) {
		free(clock->knot);
		free(clock->jump);
		clock->knot = NULL;
		clock->jump = NULL;
		clock->n_knots = clock->n_jumps = 0;
	}
	return status;
}
