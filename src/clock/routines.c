/* SPDX-License-Identifier: MIT */
/*
 * routines.c - this machine's clock, as if it had to be read by words of 16 bits
 *
 * In    a clock, three routines that join two words of it
 * Out   what each costs, how many words it reads, how often it says what the clock did not show
 * Why   where a counter is wider than what reads it, the low word can flip between two words; what
 *       that does under load is known here, as the whole value can be read, too
 * Not   the routines (counter.c)
 *
 * Source  Kong, Spector and Siewiorek 1986, section 3.2
 */
#include "clock/clock.h"

struct words {
	const struct source *source;
	uint64_t reads;
};

static uint64_t word(void *ctx, bool high)
{
	struct words *w = ctx;
	uint64_t value = (uint64_t)w->source->read(w->source);
	w->reads++;
	return (high ? value >> WORD_BITS : value) & ((1u << WORD_BITS) - 1);
}

/* Both, by a clock that wraps at 2^32, between what it showed before and after. */
static bool shown(int64_t before, const uint64_t value[2], int64_t after)
{
	uint32_t gone = (uint32_t)((uint64_t)after - (uint64_t)before);
	uint32_t first = (uint32_t)(value[0] - (uint64_t)before);
	uint32_t second = (uint32_t)(value[1] - (uint64_t)before);
	return first <= second && second <= gone;
}

/* Pairs of calls, one after the other; a 1-Read that lost its count begins anew. */
static void measure(const struct source *s, size_t n, enum counter_routine routine,
		    enum counter_form form, struct routine_figures *f)
{
	struct words w = { .source = s };
	struct counter c = {
		.word = word, .ctx = &w, .bits = WORD_BITS, .routine = routine, .form = form
	};
	struct samples took = { .n = 0 };
	counter_start(&c);
	w.reads = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t before = s->read(s);
		uint64_t value[2];
		value[0] = counter_read(&c);
		value[1] = counter_read(&c);
		int64_t after = s->read(s);
		if (shown(before, value, after)) {
			samples_add(&took,
				    (double)(uint32_t)(value[1] - value[0]) * s->ns_per_tick);
			continue;
		}
		uint64_t reads = w.reads;
		f->wrong[form]++;
		counter_start(&c);
		w.reads = reads;
	}
	f->pairs = n;
	f->words = (double)w.reads / (double)(2 * n);
	f->took = samples_figures(&took);
}

void routines_measure(const struct source *s, size_t n, struct routine_figures out[ROUTINES])
{
	for (int r = 0; r < ROUTINES; r++) {
		out[r] = (struct routine_figures){ .pairs = 0 };
		measure(s, n, (enum counter_routine)r, HARDENED, &out[r]);
		measure(s, n, (enum counter_routine)r, AS_PRINTED, &out[r]);
	}
}
