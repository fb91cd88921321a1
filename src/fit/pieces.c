/* SPDX-License-Identifier: MIT */
/*
 * pieces.c - a pair's points cut where no clock of the model can have made them all
 *
 * In    the points that a corridor remembers, how far a rate may wander, where stamps went back
 * Out   the fewest cuts, each with its bracket, its kind and its size
 * Why   what fits goes on fitting with fewer points, so cutting as late as possible is cutting as
 *       seldom as possible; as early as possible is the same from the other end. Between the two
 *       lies every border that so few pieces can have
 * Not   which messages are wrong (suspects), band and estimate of a piece, the map across a cut
 *       (join.c)
 *
 * Points fit if and only if (doc/guarantees.md)
 *
 *     s_lo <= S,  -s_hi <= S,  s_lo - s_hi <= 2 wander,  no floor over a ceiling at one instant,
 *
 * s_lo the largest slope from a ceiling up to a later floor, s_hi the smallest from a floor to a
 * later ceiling (wander.h). So a piece grows in O(log n) a point.
 */
#include "fit/pieces.h"
#include "fit/wander.h"
#include "num/cone.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Brackets of bends that are longer need not be kept apart: the way from one side to the other is
 * hardly steeper than the sides. */
#define LONGEST_APART (10 * USK_SECOND)

enum { FEW = 64 };

/* ---- does it fit? ------------------------------------------------------------------------ */

/* Walks the points of both sides in the order of time, or against it with time negated. */
struct walk {
	const struct usk_part *part;
	size_t i[2];
	bool back;
	struct usk_xy now[2];
	const struct usk_xy *at[2];
};

static const struct usk_xy *front(const struct walk *w, int side)
{
	const struct usk_part *p = w->part;
	return w->i[side] == p->n[side] ? NULL
	       : w->back		? &p->point[side][p->n[side] - 1 - w->i[side]]
					: &p->point[side][w->i[side]];
}

static bool step(struct walk *w)
{
	const struct usk_xy *p[2] = { front(w, 0), front(w, 1) };
	if (!p[0] && !p[1]) {
		return false;
	}
	int64_t x[2];
	for (int side = 0; side < 2; side++) {
		x[side] = !p[side] ? INT64_MAX : w->back ? -p[side]->x : p[side]->x;
	}
	int64_t now = x[0] < x[1] ? x[0] : x[1];
	for (int side = 0; side < 2; side++) {
		w->at[side] = NULL;
		if (p[side] && x[side] == now) {
			w->now[side] = (struct usk_xy){ now, p[side]->y };
			w->at[side] = &w->now[side];
			w->i[side]++;
		}
	}
	return true;
}

static int64_t now(const struct walk *w)
{
	return w->at[0] ? w->at[0]->x : w->at[1]->x;
}

/* What is asked of a piece. */
struct asked {
	int64_t wander, skew; /* parts per 10^12 */
	int64_t bends;	      /* the wander that jumps are told from bends by */
	struct usk_needing so_far;
};

/* Add the points of a moment; do all so far fit? */
static bool add(struct asked *a, const struct walk *w)
{
	for (int side = 0; side < 2; side++) {
		if (w->at[side]) {
			usk_needing_push(&a->so_far, side, *w->at[side]);
		}
	}
	return usk_need_within(&a->so_far.need, a->skew) <= a->wander;
}

/* The first points that no longer fit those before them. false: some moment fits nothing. */
static bool greedy(const struct usk_part *p, struct asked *a, bool back, int64_t **out, size_t *n)
{
	struct walk w = { .part = p, .back = back };
	size_t cap = 0;
	*out = NULL;
	*n = 0;
	usk_needing_clear(&a->so_far);
	while (step(&w)) {
		if (!add(a, &w)) {
			usk_needing_clear(&a->so_far);
			if (!add(a, &w)) {
				return false;
			}
			*out = usk_room(*out, *n, &cap, sizeof **out);
			(*out)[(*n)++] = back ? -now(&w) : now(&w);
		}
	}
	return true;
}

/* ---- what it was ----------------------------------------------------------------------------- */

static void wander_bounds(const struct usk_part *p, const struct asked *a, int64_t x,
			  struct usk_bounds *out)
{
	struct usk_need need;
	struct usk_band band;
	usk_need_of(p, &need);
	/* Cones alone are a little wider, and all that many pieces have the time for. */
	bool sharp = a->wander || p->n[0] + p->n[1] <= FEW;
	(sharp ? usk_band_of : usk_band_cones)(p, &need, a->bends, a->skew, &band);
	out->has_lo = usk_band_lo(&band, x, &out->lo);
	out->has_hi = usk_band_hi(&band, x, &out->hi);
	usk_band_free(&band);
}

struct usk_bounds usk_bounds_of(const struct usk_lines *l, int64_t x)
{
	bool known = l->quality == USK_BOUNDED || l->quality == USK_ONE_SIDED;
	struct usk_bounds b = { .has_lo = known && l->half[0].n, .has_hi = known && l->half[1].n };
	b.lo = b.has_lo ? usk_lines_half_floor(l, false, x) : 0;
	b.hi = b.has_hi ? -usk_lines_half_floor(l, true, x) : 0;
	return b;
}

static void line_bounds(const struct usk_part *p, int64_t skew, int64_t x, struct usk_bounds *out)
{
	struct usk_xy *hull[2];
	size_t n[2];
	for (int side = 0; side < 2; side++) {
		hull[side] = usk_alloc(p->n[side] + 1, sizeof *hull[side]);
		n[side] = usk_hull_of_sorted(p->point[side], p->n[side], hull[side]);
	}
	struct usk_lines *l = usk_lines_of(
		&p->frame, (const struct usk_xy *const[2]){ hull[0], hull[1] }, n, p->q_ns, skew);
	*out = usk_bounds_of(l, x);
	usk_lines_free(l);
	free(hull[0]);
	free(hull[1]);
}

static struct usk_bounds bounds_at(const struct usk_part *p, const struct asked *a, int64_t x)
{
	struct usk_bounds b;
	if (a->bends) {
		wander_bounds(p, a, x, &b);
	} else {
		line_bounds(p, a->skew, x, &b);
	}
	return b;
}

/* ---- all of it ------------------------------------------------------------------------------- */

struct usk_part usk_pieces_part(const struct usk_part *p, const struct usk_pieces *s, size_t i)
{
	return usk_part_between(p, i ? s->cut[i - 1].to : -USK_TIME_MAX,
				i < s->n ? s->cut[i].from : USK_TIME_MAX);
}

static void add_cut(struct usk_pieces *s, size_t *cap, struct usk_cut c)
{
	s->cut = usk_room(s->cut, s->n, cap, sizeof *s->cut);
	s->cut[s->n++] = c;
}

/* T at a point, relative. */
static usk_i128 time_of(struct usk_xy q, bool ceiling)
{
	return (usk_i128)q.x + (ceiling ? -(usk_i128)q.y : q.y);
}

/* Can corrected time run on? Not if a floor is over a ceiling that comes later, or at once. */
static bool runs_on(const struct usk_part *p, struct usk_pieces *out)
{
	struct walk w = { .part = p };
	struct usk_xy highest = { 0, 0 };
	bool any = false;
	while (step(&w)) {
		if (w.at[0] && (!any || time_of(*w.at[0], false) > time_of(highest, false))) {
			highest = *w.at[0];
			any = true;
		}
		if (any && w.at[1] && time_of(highest, false) > time_of(*w.at[1], true)) {
			out->floor = highest;
			out->ceiling = *w.at[1];
			return false;
		}
	}
	return true;
}

/* The cuts between two moments that the clock was put back. */
static bool cut_run(const struct usk_part *p, struct asked *a, struct usk_pieces *out, size_t *cap)
{
	int64_t *to, *from;
	size_t n, m = 0;
	if (!runs_on(p, out)) {
		return false;
	}
	bool good = greedy(p, a, false, &to, &n);
	from = NULL;
	if (good) {
		good = greedy(p, a, true, &from, &m);
		assert(!good || m == n); /* both are the fewest */
	}
	for (size_t i = 0; i < n && good; i++) {
		add_cut(out, cap,
			(struct usk_cut){ from[n - 1 - i], to[i], from[n - 1 - i], to[i], USK_BEND,
					  false, 0, 0 });
	}
	free(to);
	free(from);
	return good;
}

/* The floor of the highest, the ceiling of the lowest T. */
static void accuse(const struct usk_part *before, const struct usk_part *behind,
		   struct usk_pieces *out)
{
	out->never = true;
	out->floor = before->point[0][0];
	out->ceiling = behind->point[1][0];
	for (size_t i = 1; i < before->n[0]; i++) {
		struct usk_xy q = before->point[0][i];
		out->floor = time_of(q, false) > time_of(out->floor, false) ? q : out->floor;
	}
	for (size_t i = 1; i < behind->n[1]; i++) {
		struct usk_xy q = behind->point[1][i];
		out->ceiling = time_of(q, true) < time_of(out->ceiling, true) ? q : out->ceiling;
	}
}

/* The y of the point of a side at x, if there is one. */
static bool point_at(const struct usk_part *p, bool ceiling, int64_t x, int64_t *y)
{
	size_t i = usk_xy_find(p->point[ceiling], p->n[ceiling], x);
	bool found = i < p->n[ceiling] && p->point[ceiling][i].x == x;
	if (found) {
		*y = p->point[ceiling][i].y;
	}
	return found;
}

/* As far as a delay can be, by the local clock. */
static int64_t flight(usk_i128 delay, int64_t skew)
{
	return delay <= 0 ? 0 : usk_cut(delay + usk_ceil_div(delay * skew, USK_E12) + 1);
}

/* A wider bracket leaves both pieces a message: one without any says nothing of its time. Returns
 * whether it is wider. */
static bool keep_pieces(const struct usk_part *p, struct usk_pieces *s, size_t i,
			struct usk_cut old)
{
	struct usk_cut *c = &s->cut[i];
	struct usk_part before = usk_pieces_part(p, s, i), behind = usk_pieces_part(p, s, i + 1);
	c->from = before.n[0] || before.n[1] ? c->from : old.from;
	c->to = behind.n[0] || behind.n[1] ? c->to : old.to;
	return c->from != old.from || c->to != old.to;
}

/* If the offset rose by little the local clock may have been put back: then it may have shown later
 * times before, and earlier ones behind. */
static bool repeat(const struct usk_part *p, struct usk_pieces *s, size_t i)
{
	struct usk_cut *c = &s->cut[i], old = *c;
	int64_t first = i ? c[-1].to : -USK_TIME_MAX;
	int64_t last = i + 1 < s->n ? c[1].from : USK_TIME_MAX;
	if (c->size_lo > 0 && c->size_hi != USK_NONE && c->size_hi <= USK_UNSEEN_NS) {
		c->from = c->from - c->size_hi < first ? first : c->from - c->size_hi;
		c->to = c->to + c->size_hi > last ? last : c->to + c->size_hi;
	}
	return keep_pieces(p, s, i, old);
}

/*
 * A message stands for the moment when the other clock stamped it, and that was earlier for a
 * floor, later for a ceiling, by its delay. For time that runs on both are true of the moment where
 * they stand as well. But if the offset fell because the other clock was put back, they are not: it
 * may have happened while they were under way.
 */
static bool widen(const struct usk_part *p, struct usk_pieces *s, size_t i, struct usk_bounds left,
		  struct usk_bounds right, int64_t skew)
{
	struct usk_cut *c = &s->cut[i], old = *c;
	int64_t y, first = i ? c[-1].to : -USK_TIME_MAX;
	int64_t last = i + 1 < s->n ? c[1].from : USK_TIME_MAX;
	if (left.has_hi && point_at(p, false, c->from, &y)) {
		usk_i128 from = (usk_i128)c->from - flight(left.hi - y, skew);
		c->from = from < first ? first : (int64_t)from;
	}
	if (right.has_lo && point_at(p, true, c->to, &y)) {
		usk_i128 to = (usk_i128)c->to + flight(-y - right.lo, skew);
		c->to = to > last ? last : (int64_t)to;
	}
	return keep_pieces(p, s, i, old);
}

/* The bounds that a piece will be fitted with; wide: those that jumps are told by. */
static struct usk_bounds fitted_at(const struct usk_part *p, const struct asked *a, int64_t x,
				   const struct usk_bounds *wide)
{
	struct usk_bounds b = *wide;
	if (a->bends && !a->wander) {
		line_bounds(p, a->skew, x, &b);
	}
	return b;
}

/*
 * Half the range of the rates that pieces need. A line that fits a short piece is no proof that the
 * clock kept it: where rates change from piece to piece they do within pieces, too, and bands of
 * lines would be apart where nothing jumped.
 */
static int64_t bends(const struct usk_part *p, const struct usk_pieces *s, int64_t skew)
{
	usk_i128 least = skew, most = -(usk_i128)skew;
	for (size_t i = 0; i <= s->n; i++) {
		struct usk_part part = usk_pieces_part(p, s, i);
		struct usk_need need;
		usk_need_of(&part, &need);
		if (need.has_lo) { /* at least that fast */
			usk_i128 e12 = usk_ceil_div(need.s_lo.num * USK_E12, need.s_lo.den);
			most = e12 > most ? e12 : most;
		}
		if (need.has_hi) {
			usk_i128 e12 = usk_floor_div(need.s_hi.num * USK_E12, need.s_hi.den);
			least = e12 < least ? e12 : least;
		}
	}
	/* A slope of either side alone is cut off at the limit. */
	usk_i128 half = usk_ceil_div(most - least, 2);
	return half <= 0 ? 0 : half > skew ? skew : (int64_t)half;
}

/* Kinds and sizes; and the same question as in runs_on() for what the pieces' bands say. */
static void classify(const struct usk_part *p, const struct asked *a, struct usk_pieces *s)
{
	struct usk_part highest = { .n = { 0 } };
	usk_i128 high = 0;
	for (size_t i = 0; i < s->n && !s->never; i++) {
		struct usk_cut *c = &s->cut[i];
		struct usk_part before = usk_pieces_part(p, s, i);
		struct usk_part behind = usk_pieces_part(p, s, i + 1);
		struct usk_bounds left = bounds_at(&before, a, c->from);
		struct usk_bounds right = bounds_at(&behind, a, c->to);
		usk_cut_judge(c, left, right, a->skew);
		struct usk_bounds low = fitted_at(&before, a, c->from, &left);
		struct usk_bounds top = fitted_at(&behind, a, c->to, &right);
		highest.n[0] = i && c[-1].back ? 0 : highest.n[0];
		if (low.has_lo && (!highest.n[0] || c->from + low.lo > high)) {
			highest = before;
			high = c->from + low.lo;
		}
		if (highest.n[0] && top.has_hi && !c->back && high > c->to + top.hi) {
			accuse(&highest, &behind, s);
		}
		bool falls = c->size_hi != USK_NONE && c->size_hi < 0;
		if (!c->back && (falls ? widen(p, s, i, left, right, a->skew) : repeat(p, s, i))) {
			before = usk_pieces_part(p, s, i);
			behind = usk_pieces_part(p, s, i + 1);
			usk_cut_judge(c, bounds_at(&before, a, c->from),
				      bounds_at(&behind, a, c->to), a->skew);
		}
	}
}

void usk_pieces_of(const struct usk_fit *fit, const struct usk_part *p, int64_t wander_e12,
		   struct usk_pieces *out)
{
	struct asked a = { .wander = wander_e12, .skew = fit->max_skew_e12 };
	size_t cap = 0;
	memset(out, 0, sizeof *out);
	int64_t begin = -USK_TIME_MAX;
	for (size_t i = 0; i <= fit->n_back && !out->never; i++) {
		struct usk_cut c = usk_cut_back(fit, p, i);
		struct usk_part run = usk_part_between(p, begin, c.from);
		out->never = !cut_run(&run, &a, out, &cap);
		if (i < fit->n_back) {
			add_cut(out, &cap, c);
			begin = c.to;
		}
	}
	usk_needing_free(&a.so_far);
	if (!out->never) {
		a.bends = wander_e12 ? wander_e12 : bends(p, out, a.skew);
		classify(p, &a, out);
	}
	out->n = out->never ? 0 : out->n;
}

void usk_pieces_free(struct usk_pieces *s)
{
	free(s->cut);
	memset(s, 0, sizeof *s);
}

/* ---- jumps alone ----------------------------------------------------------------------------- */

static void keep_jumps(struct usk_pieces *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->cut[i].kind == USK_JUMP) {
			s->cut[n++] = s->cut[i];
		}
	}
	s->n = n;
}

/* The most that any stretch needs. */
static int64_t needed(const struct usk_part *p, const struct usk_pieces *s)
{
	int64_t most = 0;
	for (size_t i = 0; i <= s->n; i++) {
		struct usk_part piece = usk_pieces_part(p, s, i);
		struct usk_need need;
		usk_need_of(&piece, &need);
		int64_t n = usk_need_wander(&need);
		most = n > most ? n : most;
	}
	return most;
}

void usk_pieces_jumps(const struct usk_fit *fit, const struct usk_part *p, struct usk_wander *w,
		      struct usk_pieces *out)
{
	for (w->used_e12 = w->assumed_e12;;) {
		usk_pieces_of(fit, p, w->used_e12, out);
		keep_jumps(out);
		w->needed_e12 = out->never ? USK_NO_WANDER : needed(p, out);
		/* What looked like a jump among bends may go once the wander is known that bends
		 * need; more wander means fewer cuts, so this ends. */
		if (out->never || w->needed_e12 <= w->assumed_e12 ||
		    w->needed_e12 <= w->used_e12 / 2 || w->needed_e12 > USK_E12) {
			break;
		}
		w->used_e12 = 2 * w->needed_e12;
		usk_pieces_free(out);
	}
}

void usk_pieces_apart(const struct usk_pieces *s, struct usk_verdict *v)
{
	v->apart = usk_alloc(s->n + 1, sizeof *v->apart);
	for (size_t i = 0; i < s->n; i++) {
		const struct usk_cut *c = &s->cut[i];
		bool together = v->n_apart && v->apart[v->n_apart - 1].to + 1 >= c->from;
		if (c->kind == USK_BEND && (usk_i128)c->to - c->from > LONGEST_APART) {
			continue;
		}
		if (together) {
			v->apart[v->n_apart - 1].to = c->to;
		} else {
			v->apart[v->n_apart++] = (struct usk_apart){ c->from, c->to };
		}
	}
}
