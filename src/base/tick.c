/* SPDX-License-Identifier: MIT */
#include "base/tick.h"

struct usk_tick usk_tick(uint8_t resolution)
{
	struct usk_tick t = { .multiply = 1, .divide = 1 };
	if (resolution & 0x80) {
		t.multiply = 1000000000;
		t.shift = resolution & 0x7f;
		return t;
	}
	/* A tick of 10^-29 s and less: no number of them makes a ns. */
	t.multiply = resolution < 29;
	for (unsigned k = resolution; k < 9; k++) {
		t.multiply *= 10;
	}
	for (unsigned k = 9; k < resolution && k < 28; k++) {
		t.divide *= 10;
	}
	return t;
}

int64_t usk_tick_ns(const struct usk_tick *t)
{
	if (t->shift) {
		/* Rounded up: a stamp of 2^-20 s may be 953.7 ns late. */
		uint64_t ticks = UINT64_C(1) << t->shift % 64;
		return t->shift < 30 ? (int64_t)((1000000000 + ticks - 1) / ticks) : 0;
	}
	return t->multiply > 1 ? (int64_t)t->multiply : 0;
}

bool usk_tick_is_ns(const struct usk_tick *t)
{
	return t->multiply == 1 && t->divide == 1 && !t->shift && !t->offset_s;
}

bool usk_tick_time(const struct usk_tick *t, uint64_t ticks, int64_t *ns)
{
	usk_u128 product = (usk_u128)ticks * t->multiply;
	usk_i128 time = (usk_i128)(t->shift ? product >> t->shift : product / t->divide);
	time += (usk_i128)t->offset_s * 1000000000;
	if (time > USK_TIME_MAX || time < -USK_TIME_MAX) {
		return false;
	}
	*ns = (int64_t)time;
	return true;
}

bool usk_cycles_time(const struct usk_cycles *c, uint64_t cycles, int64_t *ns)
{
	usk_u128 sum = (usk_u128)cycles + c->offset_cycles;
	usk_i128 time = (usk_i128)c->offset_s * 1000000000 +
			(usk_i128)(c->hz == 1000000000 ? sum : sum * 1000000000 / c->hz);
	if (time > USK_TIME_MAX || time < -USK_TIME_MAX) {
		return false;
	}
	*ns = (int64_t)time;
	return true;
}
