/* SPDX-License-Identifier: MIT */
/*
 * tie.c - rounds of exchanges, and the other's clock by the last two that are good
 *
 * In    a line
 * Out   a round at a time: the exchange, offset and precision; the map that holds from now on
 * Why   the precision is stated with every round, so that whoever uses it need believe nothing
 *
 * Source  Loeser 2003, sections 3.2 and 4.3
 */
#include "line/line.h"

#include <math.h>

struct line_tie line_tie_of(struct line *l)
{
	return (struct line_tie){
		.line = l,
		.limits = { .stamp_ns = 20000, .wake_ns = 10000000 },
		.attempts = 3,
		.good_ticks = 5000,
		.allowance_e12 = USK_DRIFT_ALLOWANCE_E12,
		.span_ns = 100000000,
		.max_age_ns = INT64_C(100000000000),
		/* One who asked before us had others. */
		.number = (uint32_t)usk_mix((uint64_t)l->time_ns(l)),
	};
}

static bool try_exchange(struct line_tie *t, struct line_round *r)
{
	t->number += 0x9e3779b9; /* odd: 2^32 different ones */
	r->outcome = line_ask(t->line, &t->limits, t->number, &r->s);
	if (r->outcome != LINE_DONE) {
		t->why[r->outcome]++;
		return false;
	}
	if (r->s.after < r->s.before ||
	    ((usk_i128)r->s.after - r->s.before) > 2 * (usk_i128)t->good_ticks) {
		t->bad++;
		return false;
	}
	t->why[LINE_DONE]++;
	return true;
}

/* Does what was foretold leave the exchange a place? */
static bool contradicts(const struct usk_live_time *f, const struct usk_three_stamps *s)
{
	return (usk_i128)f->local - f->precision > s->after ||
	       (usk_i128)f->local + f->precision < s->before;
}

static void take(struct line_tie *t, struct line_round *r)
{
	struct line_moment now = { r->s, t->line->time_ns(t->line) };
	if (t->mapped) {
		r->foretold = usk_live_map_at(&t->map, r->s.remote, &r->before) == USK_LIVE;
		r->jumped = r->foretold && contradicts(&r->before, &r->s);
	}
	if (r->jumped) { /* what was before says nothing of now */
		t->jumps++;
		t->have = 0;
		t->mapped = false;
	}
	if (t->have == 2 && now.at_ns - t->next.at_ns >= t->span_ns) {
		t->base = t->next;
		t->next = now;
	}
	if (t->have < 2) {
		*(t->have ? &t->next : &t->base) = now;
		t->have++;
	}
	int64_t gone = now.at_ns - t->base.at_ns;
	if (gone < t->span_ns) {
		return;
	}
	/* The greatest age is in the other's ticks, whose length those between the two tell. */
	double theirs = (double)((usk_i128)r->s.remote - t->base.s.remote);
	double age = theirs / (double)gone * (double)t->max_age_ns;
	if (usk_live_map_of(&t->base.s, &r->s, t->allowance_e12,
			    age > 1 && age < 1e18 ? (int64_t)age : 1, &t->map, NULL)) {
		/* One of the two was set back, or is far from running. */
		t->jumps++;
		r->jumped = true;
		t->base = now;
		t->have = 1;
		t->mapped = false;
		return;
	}
	t->mapped = true;
}

void line_tie_round(struct line_tie *t, struct line_round *out)
{
	*out = (struct line_round){ .drift_ppm = NAN };
	t->rounds++;
	for (unsigned i = 0; i < t->attempts && !out->good && out->outcome != LINE_BROKEN; i++) {
		out->good = try_exchange(t, out);
	}
	if (!out->good) {
		t->dropped++;
		return;
	}
	take(t, out);
	struct usk_live_time y = { 0 };
	out->mapped = t->mapped && usk_live_map_at(&t->map, out->s.remote, &y) == USK_LIVE;
	if (!out->mapped) {
		/* By this exchange alone: half of its width, the middle rounded up; a tick of
		 * each side. */
		usk_i128 sum = (usk_i128)out->s.before + out->s.after;
		y.local = (int64_t)usk_floor_div(sum + 1, 2);
		y.precision = (int64_t)((out->s.after - out->s.before + 1) / 2 + 2);
	} else {
		out->drift_ppm = (ldexp(1, 56) / (double)t->map.conv - 1) * 1e6;
	}
	out->offset = usk_saturate((usk_i128)y.local - out->s.remote);
	out->precision = y.precision;
}
