/* SPDX-License-Identifier: MIT */
/*
 * exchange.c - interrupt, ready, go, done: three stamps over a few pins
 *
 * In    a line
 * Out   one exchange, or what was missing
 * Why   a pin is seen within a microsecond or two, so little is unknown of when the other stamped
 * Not   what follows from exchanges (tie.c)
 *
 * Source  Loeser 2003, section 3.1, figure 3 and table 1
 *
 * Every poll has a timeout. A process can be held up for any time between any two steps, so what
 * it does next may fall into a later exchange. Hence the number: the one that asks sends it after
 * its last stamp, and accepts a stamp only together with it; doc/live.md shows why that
 * is enough.
 */
#include "line/line.h"

#include <stdatomic.h>
#include <time.h>

enum { BOTH = LINE_D1 | LINE_D3, NUMBER_BITS = 32, STAMP_BITS = 64 };

/* One more than there are: with the odd number the last sign, that all was read, leaves the pins
 * of the one that asked down, and those of the other up until it has seen that. */
enum { CHECK_BITS = 33 };

/* A processor may read its counter ahead of a load that comes before. */
static inline void loads_are_done(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("dmb ishld; isb" ::: "memory");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static int64_t stamp(struct line *l)
{
	loads_are_done();
	return l->counter.read(l->counter.ctx);
}

/* Until those of the other's pins are as wanted. What comes too late counts for nothing. */
static bool see(struct line *l, unsigned mask, unsigned want, int64_t until_ns, unsigned *seen)
{
	for (;;) {
		unsigned pins = l->pins(l);
		if (l->time_ns(l) > until_ns || l->error) {
			return false;
		}
		if ((pins & mask) == want) {
			*seen = pins;
			return true;
		}
	}
}

/* Until the other's D1 is up, and at once the stamp: nothing between them that takes time. */
static bool see_and_stamp(struct line *l, int64_t until_ns, int64_t *out)
{
	while (!(l->pins(l) & LINE_D1)) {
		if (l->time_ns(l) > until_ns || l->error) {
			return false;
		}
	}
	*out = stamp(l);
	return true;
}

/* ---- words, bit by bit ------------------------------------------------------------------ */

/*
 * Data on D1; a change of D3 says that it is there, and a change of the other's that it was
 * read. Nobody changes D3 twice before the other has shown that it saw the first.
 */
struct talk {
	struct line *l;
	unsigned ours, theirs; /* D3 of each as last seen */
	int64_t until_ns;
};

static bool changed(struct talk *t, unsigned *seen)
{
	t->theirs ^= LINE_D3;
	return see(t->l, LINE_D3, t->theirs, t->until_ns, seen);
}

static bool send_word(struct talk *t, uint64_t word, unsigned bits)
{
	unsigned seen;
	for (unsigned i = bits; i--;) {
		unsigned data = word >> i & 1 ? LINE_D1 : 0;
		t->l->set(t->l, data | t->ours); /* pins need not change at one moment */
		t->ours ^= LINE_D3;
		t->l->set(t->l, data | t->ours);
		if (!changed(t, &seen)) {
			return false;
		}
	}
	return true;
}

static bool receive_word(struct talk *t, uint64_t *word, unsigned bits)
{
	unsigned seen;
	*word = 0;
	for (unsigned i = 0; i < bits; i++) {
		if (!changed(t, &seen)) {
			return false;
		}
		*word = *word << 1 | (seen & LINE_D1 ? 1 : 0);
		t->ours ^= LINE_D3;
		t->l->set(t->l, t->ours);
	}
	return true;
}

/* The one that sent will receive. */
static void give_turn(struct talk *t)
{
	t->ours ^= LINE_D3;
	t->l->set(t->l, t->ours);
}

/* The usual CRC (ITU-T V.42) of both, lowest bits first: every burst of up to 32 bits that are
 * wrong is noticed. */
static uint32_t check_of(uint32_t number, uint64_t stamp_bits)
{
	uint32_t crc = UINT32_MAX;
	for (unsigned i = 0; i < NUMBER_BITS + STAMP_BITS; i++) {
		uint64_t next = i < NUMBER_BITS ? number >> i : stamp_bits >> (i - NUMBER_BITS);
		crc = crc >> 1 ^ ((crc ^ next) & 1 ? 0xedb88320U : 0);
	}
	return ~crc;
}

/* ---- the one that asks: his B ----------------------------------------------------------- */

static enum line_outcome ask_for_stamp(struct line *l, const struct line_limits *limits,
				       uint32_t number, int64_t *remote)
{
	struct talk t = { .l = l, .until_ns = l->time_ns(l) + limits->wake_ns };
	uint64_t same, bits, check;
	unsigned seen;
	if (!see(l, BOTH, 0, t.until_ns, &seen) || !send_word(&t, number, NUMBER_BITS)) {
		return LINE_NO_STAMP;
	}
	give_turn(&t);
	if (!receive_word(&t, &same, NUMBER_BITS) || !receive_word(&t, &bits, STAMP_BITS) ||
	    !receive_word(&t, &check, CHECK_BITS) || same != number ||
	    check != check_of(number, bits)) {
		return LINE_NO_STAMP;
	}
	*remote = (int64_t)bits;
	return LINE_DONE;
}

static enum line_outcome ask(struct line *l, const struct line_limits *limits, uint32_t number,
			     struct usk_three_stamps *out)
{
	unsigned seen;
	if (!see(l, BOTH, 0, l->time_ns(l) + limits->wake_ns, &seen)) {
		return LINE_BUSY;
	}
	l->set(l, LINE_D3); /* start: an interrupt there */
	/* D1 must be down, so that done is seen to rise. */
	if (!see(l, BOTH, LINE_D3, l->time_ns(l) + limits->wake_ns, &seen)) {
		return LINE_NO_READY;
	}
	int64_t until = l->time_ns(l) + limits->stamp_ns;
	out->before = stamp(l);
	l->set(l, LINE_D1 | LINE_D3); /* go */
	if (!see_and_stamp(l, until, &out->after)) {
		return LINE_NO_DONE;
	}
	l->set(l, 0);
	return ask_for_stamp(l, limits, number, &out->remote);
}

enum line_outcome line_ask(struct line *l, const struct line_limits *limits, uint32_t number,
			   struct usk_three_stamps *out)
{
	int64_t rest = l->rests_until - l->time_ns(l);
	if (rest > 0) {
		l->pause(l, rest);
	}
	enum line_outcome outcome = ask(l, limits, number, out);
	l->set(l, 0);
	if (l->error) {
		outcome = LINE_BROKEN;
	}
	if (outcome != LINE_DONE) {
		l->rests_until = l->time_ns(l) + LINE_REST_NS;
	}
	return outcome;
}

/* ---- the one that answers: his A -------------------------------------------------------- */

/* First nobody asks, then somebody does. */
static bool asked(struct line *l, int64_t patience_ns)
{
	const int64_t slice_ns = 10000;
	int64_t until = l->time_ns(l) + patience_ns;
	while (!l->was_idle && l->pins(l)) {
		if (l->time_ns(l) > until || l->error) {
			return false;
		}
		l->pause(l, slice_ns);
	}
	l->was_idle = true;
	while (!(l->pins(l) & LINE_D3)) {
		int64_t left = until - l->time_ns(l);
		if (left < 0 || l->error) {
			return false;
		}
		l->wait(l, left);
	}
	return true;
}

static enum line_outcome answer(struct line *l, const struct line_limits *limits,
				int64_t patience_ns)
{
	int64_t remote;
	uint64_t number;
	unsigned seen;
	if (!asked(l, patience_ns)) {
		return LINE_IDLE;
	}
	l->was_idle = false;
	int64_t ready_ns = l->time_ns(l), until = ready_ns + LINE_EXCHANGE_NS;
	l->set(l, LINE_D3); /* ready, D1 := 0 */
	if (!see_and_stamp(l, ready_ns + limits->stamp_ns, &remote)) {
		return LINE_NO_GO;
	}
	l->set(l, LINE_D1); /* done, D3 := 0 */
	if (!see(l, BOTH, 0, until, &seen)) {
		return LINE_NO_DONE;
	}
	l->set(l, 0);
	struct talk t = { .l = l, .until_ns = until };
	if (!receive_word(&t, &number, NUMBER_BITS) || !changed(&t, &seen)) {
		return LINE_NO_STAMP;
	}
	uint64_t bits = (uint64_t)remote;
	uint64_t check = check_of((uint32_t)number, bits);
	if (!send_word(&t, number, NUMBER_BITS) || !send_word(&t, bits, STAMP_BITS) ||
	    !send_word(&t, check, CHECK_BITS)) {
		return LINE_NO_STAMP;
	}
	/* Its last sign left its pins down: it may ask again before we look. */
	l->was_idle = true;
	return LINE_DONE;
}

enum line_outcome line_answer(struct line *l, const struct line_limits *limits, int64_t patience_ns)
{
	l->set(l, 0);
	enum line_outcome outcome = answer(l, limits, patience_ns);
	l->set(l, 0);
	return l->error ? LINE_BROKEN : outcome;
}

/* ---- the line's own delay --------------------------------------------------------------- */

bool line_loop_back(struct line *l, const struct line_limits *limits, size_t n, int64_t *ticks)
{
	bool good = true;
	l->set(l, 0);
	unsigned seen;
	for (size_t i = 0; i < n && good; i++) {
		int64_t until = l->time_ns(l) + limits->wake_ns, end = 0;
		good = see(l, LINE_D1, 0, until, &seen);
		int64_t start = stamp(l);
		l->set(l, LINE_D1);
		good = good && see_and_stamp(l, until, &end);
		l->set(l, 0);
		ticks[i] = end - start;
	}
	return good && !l->error;
}

/* ---- what all lines share ------------------------------------------------------------------ */

const char *line_outcome_text(enum line_outcome o)
{
	static const char *const text[] = {
		[LINE_DONE] = "done",
		[LINE_IDLE] = "nobody asked",
		[LINE_BUSY] = "the other side is not ready to answer",
		[LINE_NO_READY] = "no answer",
		[LINE_NO_GO] = "the other side gave up before it stamped",
		[LINE_NO_DONE] = "no stamp in time",
		[LINE_NO_STAMP] = "the stamp did not arrive",
		[LINE_BROKEN] = "the device failed",
	};
	return text[o];
}

int64_t line_boot_time_ns(struct line *l)
{
	(void)l;
	return usk_clock_ns(CLOCK_BOOTTIME);
}

void line_sleep(struct line *l, int64_t ns)
{
	(void)l;
	usk_sleep_ns(ns);
}

void line_close(struct line *l)
{
	if (l) {
		l->close(l);
	}
}
