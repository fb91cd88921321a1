/* SPDX-License-Identifier: MIT */
/*
 * counter.c - one value out of a counter whose words are read one after the other
 *
 * Source  Kong, Spector and Siewiorek 1986, section 3.2
 *
 * Between two reads the low word may flip, and then the two words belong to different values. The
 * hardened forms differ from the printed ones in one comparison each: a high word that changed may
 * have become smaller, two low words may be equal after a flip, and two calls may see one value.
 */
#include "clock/counter.h"

const char *routine_name(enum counter_routine r)
{
	static const char *const name[] = { "varying-read", "4-read", "1-read" };
	return name[r];
}

static uint64_t joined(const struct counter *c, uint64_t high, uint64_t low)
{
	return (high << c->bits) + low;
}

static uint64_t varying_read(struct counter *c)
{
	uint64_t high = c->word(c->ctx, true), low = c->word(c->ctx, false);
	uint64_t again = c->word(c->ctx, true);
	bool flipped = c->form == HARDENED ? again != high : again > high;
	return flipped ? joined(c, again, c->word(c->ctx, false)) : joined(c, high, low);
}

static uint64_t four_read(struct counter *c)
{
	uint64_t high[2], low[2];
	for (int i = 0; i < 2; i++) {
		high[i] = c->word(c->ctx, true);
		low[i] = c->word(c->ctx, false);
	}
	bool hard = c->form == HARDENED;
	bool flipped = hard ? high[1] != high[0] : high[1] > high[0];
	bool before = hard ? low[1] >= low[0] : low[1] > low[0];
	return joined(c, flipped && before ? high[1] : high[0], low[0]);
}

static uint64_t one_read(struct counter *c)
{
	uint64_t low = c->word(c->ctx, false);
	c->high += c->form == HARDENED ? c->old_low > low : c->old_low >= low;
	c->old_low = low;
	return joined(c, c->high, low);
}

void counter_start(struct counter *c)
{
	struct counter now = *c;
	now.form = HARDENED;
	uint64_t value = four_read(&now);
	c->high = value >> c->bits;
	c->old_low = value & ((UINT64_C(1) << c->bits) - 1);
}

uint64_t counter_read(struct counter *c)
{
	switch (c->routine) {
	case VARYING_READ:
		return varying_read(c);
	case FOUR_READ:
		return four_read(c);
	case ONE_READ:
	case ROUTINES:
		break;
	}
	return one_read(c);
}
