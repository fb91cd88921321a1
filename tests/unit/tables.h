/* SPDX-License-Identifier: MIT */
/*
 * tables.h - message tables in the making, a simulated pair of clocks, and the way to clocks
 *
 * Why   truth is known, and a wrong row can be put in anywhere
 */
#ifndef TABLES_H
#define TABLES_H

#include "making.h"

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define START  (1700000000 * SECOND)
#define HEAD   "sender,receiver,sent_ns,received_ns\n"

/* Options that leave everything to the library. */
extern const struct usk_sync_options defaults;

void row(struct bytes *b, const char *from, const char *to, int64_t sent, int64_t received);

/* Up to eight traces in memory. */
struct traces {
	struct usk_trace *t[8];
	size_t n;
};
void add(struct traces *t, const struct bytes *b, const char *name);
void close_all(struct traces *t);

/** The clocks of one table; fails the test if there are none. */
struct usk_clocks *sync_table(const struct bytes *b, const struct usk_sync_options *o);
const struct usk_clock *clock_named(const struct usk_clocks *c, const char *name);

/* b's clock against a's, which is true time. */
struct clockwork {
	int64_t offset_ns, drift_ppb;
};
enum { CLOCKWORKS = 4 };
extern const struct clockwork clockworks[CLOCKWORKS];

/** b's stamp at a true time. */
int64_t on_b(const struct clockwork *k, int64_t t);
/** Messages both ways, one every 10 ms and direction, 50 us + Exp(50 us) under way. */
void exchange(struct bytes *b, const struct clockwork *k, struct usk_rng *r, int64_t n);
/** Is the true offset in the band at many moments within the trace and beyond, and known at all within but the last? */
void assert_holds(const struct usk_clocks *c, const struct clockwork *k, int64_t lasts);
/** The same, known only before until_ns. */
void assert_holds_known(const struct usk_clocks *c, const struct clockwork *k, int64_t lasts,
			int64_t until_ns);

#endif
