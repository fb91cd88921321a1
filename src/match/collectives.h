/* SPDX-License-Identifier: MIT */
/*
 * collectives.h - parts of collectives -> messages, and one collective after the other
 */
#ifndef USK_COLLECTIVES_H
#define USK_COLLECTIVES_H

#include "base/io.h"
#include "read/trace.h"

struct usk_collectives;

/* A collective: all its parts that were recorded, by clock and rank, n of them. */
struct usk_gathering {
	enum usk_collective_kind kind;
	const struct usk_collective *part;
	size_t n;
	const struct usk_collective *root; /* one of them; NULL: it has none, or was not recorded */
};

struct usk_collectives *usk_collectives_new(void);
void usk_collectives_free(struct usk_collectives *c);
/** clock and rank of parts: the caller's numbers. */
enum usk_status usk_collectives_add(struct usk_collectives *c, const struct usk_collective *x,
				    size_t n, struct usk_err *err);
/** Once all are there: clocks up to which there are stamps, and the first and last enter of one;
 * false: it has none. */
size_t usk_collectives_clocks(const struct usk_collectives *c);
bool usk_collectives_enters(const struct usk_collectives *c, uint32_t clock, int64_t *first_ns,
			    int64_t *last_ns);

/**
 * Each collective goes to put(), in an order that depends on ids alone. What cannot be: one rank
 * twice, two kinds, two roots: is left out whole, and its parts are counted as ambiguous; those that
 * nobody else has a part of as unmatched. USK_EIO, or what put() returns.
 */
enum usk_status usk_collectives_run(struct usk_collectives *c,
				    enum usk_status (*put)(void *ctx, const struct usk_gathering *g,
							   struct usk_err *err),
				    void *ctx, struct usk_counts *counts, struct usk_err *err);

/**
 * What a collective says of clocks, as messages sent at an enter and received at an exit: a root's
 * to or from each other clock; of what has no root those between one clock and each other.
 * middle: that one, if it takes part; USK_NO_CLOCK or else: the one of its clocks that waits least
 * in all collectives.
 */
enum usk_status usk_gathering_messages(const struct usk_collectives *c,
				       const struct usk_gathering *g, uint32_t middle,
				       enum usk_status (*put)(void *ctx, const struct usk_msg *m,
							      struct usk_err *err),
				       void *ctx, struct usk_err *err);

#endif
