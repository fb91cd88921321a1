/* SPDX-License-Identifier: MIT */
#include "band.h"

#define E12 INT64_C(1000000000000)

/* The first knot of an epoch, or of a later one. */
static size_t first_of(const struct usk_clock *clock, uint32_t epoch)
{
	size_t low = 0, high = clock->n_knots;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (clock->knot[middle].epoch < epoch) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

struct band band_of(const struct usk_clock *clock, uint32_t epoch, int64_t max_skew_e12)
{
	const struct usk_slopes limit = { -max_skew_e12, max_skew_e12 };
	size_t n = clock->n_knots, from = first_of(clock, epoch), to = first_of(clock, epoch + 1);
	return (struct band){ clock->knot + from, to - from, from ? limit : clock->before,
			      to < n ? limit : clock->after };
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
	bool open = (before > 0 && b->before.most_e12 >= E12) ||
		    (after > 0 && b->after.most_e12 >= E12);
	if (open && side != BAND_OFFSET) {
		return USK_NONE;
	}
	if (before > 0 && side != BAND_OFFSET) {
		usk_i128 rise = side == BAND_HI ? usk_ceil_div(-before * b->before.least_e12, E12)
						: usk_floor_div(-before * b->before.most_e12, E12);
		return usk_saturate(y0 + rise);
	}
	if (after > 0 && side != BAND_OFFSET) {
		usk_i128 rise = side == BAND_HI ? usk_ceil_div(after * b->after.most_e12, E12)
						: usk_floor_div(after * b->after.least_e12, E12);
		return usk_saturate(y1 + rise);
	}
	if (before > 0 || after > 0) {
		struct usk_slopes s = before > 0 ? b->before : b->after;
		usk_i128 slope = ((usk_i128)y1 - y0) * E12,
			 length = (usk_i128)k[1].local_ns - k->local_ns;
		bool slow = slope<s.least_e12 * length, fast = slope> s.most_e12 * length;
		usk_i128 away = before > 0 ? -before : after;
		if (slow || fast) {
			usk_i128 rise =
				usk_floor_div(away * (slow ? s.least_e12 : s.most_e12), E12);
			return usk_saturate((before > 0 ? y0 : y1) + rise);
		}
	}
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 product = ((usk_i128)y1 - y0) * ((usk_i128)local_ns - k->local_ns);
	usk_i128 rise = side == BAND_HI ? usk_ceil_div(product, run) : usk_floor_div(product, run);
	return usk_saturate(y0 + rise);
}
