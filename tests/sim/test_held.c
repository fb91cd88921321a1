/* SPDX-License-Identifier: MIT */
/* test_held.c - the judge of bands on answers made by hand: does it see what is wrong, and no more?
 */
#include "band.h"
#include "held.h"

#include <stdio.h>
#include <stdlib.h>

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static unsigned failures;

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("%s:%d: ", __FILE__, __LINE__);                                     \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* A clock that keeps true time, but for one jump at 10 s, and maybe one at 5 s. */
static struct sim_clock jumping(int64_t size_ns, int64_t earlier_ns)
{
	struct sim_clock c;
	size_t cap = 0;
	const struct sim_jump jump[] = { { 5 * SECOND, earlier_ns, 0 },
					 { 10 * SECOND, size_ns, 0 } };
	sim_clock_init(&c, 0, 0, 0);
	c.jump = usk_alloc(COUNT(jump), sizeof *c.jump);
	for (size_t i = 0; i < COUNT(jump); i++) {
		if (jump[i].size_ns) {
			sim_clock_turn(&c, &cap, jump[i].true_ns, jump[i].size_ns, 0);
			c.jump[c.n_jumps++] = jump[i];
		}
	}
	return c;
}

/* The reference keeps true time; times of knots in ms, offsets and bounds in ns. */
struct answer_case {
	const char *name;
	int64_t jump_ns;
	struct usk_knot knot[4];
	size_t n_knots;
	struct usk_jump jump;
	size_t n_jumps;
	struct usk_slopes after;
	bool outside; /* of moments from 0 to 20 s, and around the jump */
	uint32_t seen;
	int64_t earlier_ns;
	struct usk_set_back back; /* none: as the bracket is */
};

#define FLAT(ms, lo, hi, epoch)                                                                    \
	{                                                                                          \
		(ms) * MS, (lo) + ((hi) - (lo)) / 2, lo, hi, epoch                                 \
	}
#define BRACKET(after_ms, before_ms)                                                               \
	{                                                                                          \
		.kind = USK_JUMP, .of = 1, .or_of = USK_NO_CLOCK, .after_local_ns = (after_ms)*MS, \
		.before_local_ns = (before_ms)*MS, .end_epoch = (before_ms) < (after_ms)           \
	}

static const struct answer_case answers[] = {
	{ "a band that holds",
	  0,
	  { FLAT(0, -5, 5, 0), FLAT(20000, -5, 5, 0) },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  false,
	  0,
	  0,
	  { 0 } },
	{ "a band that does not",
	  0,
	  { FLAT(0, 2, 5, 0), FLAT(20000, -5, 5, 0) },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  true,
	  0,
	  0,
	  { 0 } },
	{ "one side is wrong",
	  0,
	  { { 0, USK_NONE, USK_NONE, -2, 0 }, { 20 * SECOND, USK_NONE, USK_NONE, 9, 0 } },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  true,
	  0,
	  0,
	  { 0 } },
	{ "one side is right",
	  0,
	  { { 0, USK_NONE, USK_NONE, 2, 0 }, { 20 * SECOND, USK_NONE, USK_NONE, 9, 0 } },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  false,
	  0,
	  0,
	  { 0 } },
	{ "the skew limit beyond the knots",
	  0,
	  { FLAT(0, -5, 5, 0), FLAT(1000, -5, 5, 0) },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  false,
	  0,
	  0,
	  { 0 } },
	{ "slopes beyond the knots that leave the truth",
	  0,
	  { FLAT(0, -5, 5, 0), FLAT(1000, -5, 5, 0) },
	  2,
	  { 0 },
	  0,
	  { 1000, 2000 },
	  true,
	  0,
	  0,
	  { 0 } },
	{ "a jump that is not told",
	  3 * MS,
	  { FLAT(0, -5, 5, 0), FLAT(20000, -5, 5, 0) },
	  2,
	  { 0 },
	  0,
	  { 0 },
	  true,
	  0,
	  0,
	  { 0 } },
	{ "a jump in its bracket",
	  3 * MS,
	  { FLAT(0, -5, 5, 0), FLAT(9900, -5, 5, 0), FLAT(10100, -3000005, -2999995, 0),
	    FLAT(20003, -3000005, -2999995, 0) },
	  4,
	  BRACKET(9900, 10100),
	  1,
	  { 0 },
	  false,
	  0,
	  0,
	  { 0 } },
	{ "a bracket that is too late",
	  3 * MS,
	  { FLAT(0, -5, 5, 0), FLAT(10050, -5, 5, 0), FLAT(10100, -3000005, -2999995, 0),
	    FLAT(20003, -3000005, -2999995, 0) },
	  4,
	  BRACKET(10050, 10100),
	  1,
	  { 0 },
	  true,
	  0,
	  0,
	  { 0 } },
	{ "set back, with an epoch",
	  -2 * SECOND,
	  { FLAT(0, -5, 5, 0), FLAT(9990, -5, 5, 0), FLAT(8010, 1999999995, 2000000005, 1),
	    FLAT(18000, 1999999995, 2000000005, 1) },
	  4,
	  BRACKET(9990, 8010),
	  1,
	  { 0 },
	  false,
	  1,
	  0,
	  { 0 } },
	{ "set back, with an epoch that is off",
	  -2 * SECOND,
	  { FLAT(0, -5, 5, 0), FLAT(9990, -5, 5, 0), FLAT(8010, 1999999990, 1999999995, 1),
	    FLAT(18000, 1999999990, 1999999995, 1) },
	  4,
	  BRACKET(9990, 8010),
	  1,
	  { 0 },
	  true,
	  1,
	  0,
	  { 0 } },
	{ "set back in a pause",
	  -50 * MS,
	  { FLAT(0, -5, 5, 0), FLAT(9900, -5, 5, 0), FLAT(9970, 49999995, 50000005, 0),
	    FLAT(19950, 49999995, 50000005, 0) },
	  4,
	  BRACKET(9900, 9970),
	  1,
	  { 0 },
	  false,
	  0,
	  0,
	  { 0 } },
	{ "set back in a pause, then with an epoch, a bracket around both",
	  -2 * SECOND,
	  { FLAT(0, -5, 5, 0), FLAT(9960, -5, 5, 0), FLAT(7960, 2049999995, 2050000005, 1),
	    FLAT(17950, 2049999995, 2050000005, 1) },
	  4,
	  BRACKET(4900, 7960),
	  1,
	  { 0 },
	  false,
	  2,
	  -50 * MS,
	  { 9940 * MS, 7960 * MS } },
};

static void check_answer(const struct answer_case *x)
{
	struct usk_knot still[2] = { FLAT(0, 0, 0, 0), FLAT(20000, 0, 0, 0) };
	struct usk_knot knot[4];
	struct usk_jump jump = x->jump;
	struct usk_set_back back = { jump.after_local_ns, jump.before_local_ns };
	if (x->back.from_ns) {
		back = x->back;
		jump.end_epoch = 1;
	}
	struct usk_slopes before =
		x->after.most_e12 ? (struct usk_slopes){ -1000, 1000 } : (struct usk_slopes){ 0 };
	for (size_t i = 0; i < COUNT(knot); i++) {
		knot[i] = x->knot[i];
	}
	struct usk_clock clock[2] = {
		{ .quality = USK_REFERENCE, .knot = still, .n_knots = 2 },
		{ .quality = USK_BOUNDED,
		  .knot = knot,
		  .n_knots = x->n_knots,
		  .set_back = &back,
		  .n_set_backs = x->knot[x->n_knots - 1].epoch,
		  .jump = &jump,
		  .n_jumps = x->n_jumps,
		  .before = before,
		  .after = x->after },
	};
	struct usk_clocks a = { .clock = clock, .n_clocks = 2, .max_skew_e12 = 500 * 1000000 };
	struct sim_clock reference = jumping(0, 0), mine = jumping(x->jump_ns, x->earlier_ns);
	const struct sim_clock *truth[2] = { &reference, &mine };
	struct held_moments moments[2] = { { 0 } };
	struct held held[2];
	held_grid(&moments[1], 0, 20 * SECOND, 100);
	held_around(&moments[1], &mine, 0, 20 * SECOND);
	held_check(&a, truth, moments, held);
	CHECK(held[1].moments > 50, "%s: %llu moments", x->name,
	      (unsigned long long)held[1].moments);
	CHECK((held[1].outside > 0) == x->outside, "%s: %llu outside", x->name,
	      (unsigned long long)held[1].outside);
	CHECK(held[1].seen == x->seen, "%s: epochs %x", x->name, held[1].seen);
	free(moments[1].true_ns);
	sim_clock_free(&reference);
	sim_clock_free(&mine);
}

/* Host 1 jumps at 10 s. A message of 1 ms each way, so many ms before and after; the limit is 500
 * ppm. Either way of the two may be the one before. */
static const struct doubt_case {
	const char *name;
	int64_t jump_ns, before_ms, after_ms;
	bool out_first, certain; /* host 1 sends the one before */
} doubts[] = {
	{ "forward by more than both delays", 2100000, 50, 50, false, true },
	{ "forward by less", 2040000, 50, 50, false, false },
	{ "forward, by messages of the wrong way", 100 * MS, 50, 50, true, false },
	{ "back by more", -2100000, 50, 50, true, true },
	{ "back, by messages of the wrong way", -100 * MS, 50, 50, false, false },
	{ "the limit does as much", 2100000, 500, 500, false, false },
	{ "more than the limit does", 3100000, 500, 500, false, true },
};

static void check_doubt(const struct doubt_case *x)
{
	struct sim_clock clock[2] = { jumping(0, 0), jumping(x->jump_ns, 0) };
	struct sim_message m[2] = { { .from = x->out_first, .to = !x->out_first },
				    { .from = !x->out_first, .to = x->out_first } };
	m[0].arrived_ns = 10 * SECOND - x->before_ms * MS;
	m[0].left_ns = m[0].arrived_ns - MS;
	m[1].left_ns = 10 * SECOND + x->after_ms * MS;
	m[1].arrived_ns = m[1].left_ns + MS;
	for (size_t i = 0; i < 2; i++) {
		m[i].sent_ns = sim_clock_read(&clock[m[i].from], m[i].left_ns);
		m[i].received_ns = sim_clock_read(&clock[m[i].to], m[i].arrived_ns);
	}
	bool certain = held_beyond_doubt(clock, 2, 1, clock[1].jump, m, 2, 500 * 1000000, 1);
	CHECK(certain == x->certain, "%s: %d", x->name, certain);
	sim_clock_free(&clock[0]);
	sim_clock_free(&clock[1]);
}

int main(void)
{
	for (size_t i = 0; i < COUNT(answers); i++) {
		check_answer(&answers[i]);
	}
	for (size_t i = 0; i < COUNT(doubts); i++) {
		check_doubt(&doubts[i]);
	}
	return failures > 0;
}
