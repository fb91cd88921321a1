/* SPDX-License-Identifier: MIT */
/*
 * settle.c - round an estimate into the corridor, in order
 *
 * In    knots with their band, the corridor's hulls, a line that an estimator drew
 * Out   an integer offset for each knot
 * Why   an estimator need not know of rounding, order or ties; the map is right whatever it says
 * Not   the band, where knots are (linear.c)
 *
 * At every knot the walls give T = x + offset an interval. From left to right T takes the value in
 * it that is nearest to the line, is not under the last T, and is not over any wall that is still
 * to come: so each interval is met and T never falls. doc/guarantees.md proves that there is always
 * such a value.
 */
#include "fit/fit.h"

#include <assert.h>
#include <stdlib.h>

enum { OFF_WALLS, IN_WALLS, MUST, TIERS = USK_ROOM_TIERS };

static const usk_i128 FAR = (usk_i128)1 << 100;

static usk_i128 larger(usk_i128 a, usk_i128 b)
{
	return a > b ? a : b;
}

static usk_i128 smaller(usk_i128 a, usk_i128 b)
{
	return a < b ? a : b;
}

static void narrow(struct usk_room *r, int tier, usk_i128 from, usk_i128 to)
{
	r->from[tier] = larger(r->from[tier], from);
	r->to[tier] = smaller(r->to[tier], to);
}

struct usk_room usk_room_of(const struct usk_knot *k)
{
	struct usk_room r;
	for (int t = 0; t < TIERS; t++) {
		r.from[t] = k->lo_ns == USK_NONE ? -FAR : (usk_i128)k->local_ns + k->lo_ns;
		r.to[t] = k->hi_ns == USK_NONE ? FAR : (usk_i128)k->local_ns + k->hi_ns;
	}
	return r;
}

void usk_room_between(struct usk_room *r, const struct usk_lines *l, bool strict, int64_t local_ns)
{
	usk_i128 rel = (usk_i128)local_ns - l->frame.local_ns;
	usk_i128 base = (usk_i128)local_ns + l->frame.offset_ns;
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		if (!h->n || rel < h->hull[0].x || rel > h->hull[h->n - 1].x) {
			continue;
		}
		usk_i128 weak = usk_hull_ceil(h->hull, h->n, (int64_t)rel);
		for (int t = 0; t < TIERS; t++) {
			usk_i128 wall = weak + (t == MUST && !strict ? 0 : l->q_ns[side]) +
					(t == OFF_WALLS);
			if (side == USK_FLOOR) {
				narrow(r, t, base + wall, FAR);
			} else {
				narrow(r, t, -FAR, base - wall);
			}
		}
	}
}

static struct usk_room room_at(const struct usk_lines *l, bool strict, const struct usk_knot *k)
{
	struct usk_room r = usk_room_of(k);
	usk_room_between(&r, l, strict, k->local_ns);
	return r;
}

bool usk_knot_has_room(const struct usk_lines *l, const struct usk_knot *k)
{
	struct usk_room r = room_at(l, true, k);
	return r.from[OFF_WALLS] <= r.to[OFF_WALLS];
}

int64_t usk_line_at(const struct usk_knot *line, size_t n, size_t *i, usk_i128 x)
{
	while (*i + 2 < n && line[*i + 1].local_ns < x) {
		++*i;
	}
	const struct usk_knot *a = &line[*i], *b = a + 1;
	usk_i128 rise = (usk_i128)b->offset_ns - a->offset_ns;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return usk_cut(a->offset_ns + usk_floor_div(rise * (x - a->local_ns) + run / 2, run));
}

bool usk_rooms_settle(struct usk_room *room, struct usk_knot *knot, size_t n)
{
	usk_i128 ahead[TIERS] = { FAR, FAR, FAR };
	for (size_t i = n; i-- > 0;) {
		for (int t = 0; t < TIERS; t++) {
			if (room[i].from[t] <= room[i].to[t]) {
				ahead[t] = smaller(ahead[t], room[i].to[t]);
			}
			room[i].ahead[t] = ahead[t];
		}
	}
	usk_i128 last = -FAR;
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		const struct usk_room *r = &room[i];
		usk_i128 from = larger(r->from[MUST], last), to = r->ahead[MUST];
		good = from <= to;
		for (int t = OFF_WALLS; t < MUST; t++) {
			usk_i128 f = larger(from, r->from[t]);
			/* with regard to what comes, or at least to what is here */
			usk_i128 e = smaller(to, r->ahead[t]);
			e = f <= e ? e : smaller(to, r->to[t]);
			if (f <= e) {
				from = f;
				to = e;
				break;
			}
		}
		usk_i128 want = (usk_i128)knot[i].local_ns + knot[i].offset_ns;
		last = want < from ? from : want > to ? to : want;
		knot[i].offset_ns = (int64_t)(last - knot[i].local_ns);
	}
	return good;
}

void usk_knots_settle(const struct usk_lines *l, bool strict, const struct usk_knot *line,
		      size_t n_line, struct usk_knot *knot, size_t n)
{
	struct usk_room *room = usk_alloc(n, sizeof *room);
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		room[i] = room_at(l, strict, &knot[i]);
		knot[i].offset_ns = usk_line_at(line, n_line, &at, knot[i].local_ns);
	}
	bool good = usk_rooms_settle(room, knot, n);
	assert(good);
	(void)good;
	free(room);
}
