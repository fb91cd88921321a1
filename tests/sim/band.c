/* SPDX-License-Identifier: MIT */
#include "band.h"

#define E12 INT64_C(1000000000000)

struct band band_of(const struct usk_knot *knot, size_t n, uint32_t epoch, int64_t max_skew_e12)
{
	size_t from = 0, to;
	while (from < n && knot[from].epoch < epoch) {
		from++;
	}
	for (to = from; to < n && knot[to].epoch == epoch; to++) {
	}
	return (struct band){ knot + from, to - from, max_skew_e12 };
}

static int64_t value(const struct usk_knot *k, enum band_side side)
{
	return side == BAND_LO ? k->lo_ns : side == BAND_HI ? k->hi_ns : k->offset_ns;
}

int64_t band_at(const struct band *b, int64_t local_ns, enum band_side side)
{
	/* The segment x0 < x <= x1; the outermost ones go on. */
	size_t low = 0, high = b->n - 2;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->knot[middle + 1].local_ns < local_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	const struct usk_knot *k = &b->knot[low], *last = &b->knot[b->n - 1];
	int64_t y0 = value(k, side), y1 = value(k + 1, side);
	if (y0 == USK_NONE || y1 == USK_NONE) {
		return USK_NONE;
	}
	usk_i128 before = (usk_i128)b->knot->local_ns - local_ns;
	usk_i128 after = (usk_i128)local_ns - last->local_ns;
	usk_i128 beyond = before > 0 ? before : after > 0 ? after : 0;
	if (beyond && side != BAND_OFFSET) {
		usk_i128 slack = usk_ceil_div(beyond * b->max_skew_e12, E12);
		usk_i128 y = before > 0 ? y0 : y1;
		return usk_saturate(side == BAND_HI ? y + slack : y - slack);
	}
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 product = ((usk_i128)y1 - y0) * ((usk_i128)local_ns - k->local_ns);
	usk_i128 rise = side == BAND_HI ? usk_ceil_div(product, run) : usk_floor_div(product, run);
	return usk_saturate(y0 + rise);
}
