/* SPDX-License-Identifier: MIT */
/*
 * replay.h - a clock's correction for records in the order they were recorded
 *
 * A clock that was set back shows stamps twice: which epoch one is of, its place among the others
 * tells.
 */
#ifndef USK_REPLAY_H
#define USK_REPLAY_H

#include "base/base.h"

struct usk_replay;

/** NULL if the clock has no two knots in its first epoch that has any. The clock may go before it.
 */
struct usk_replay *usk_replay_new(const struct usk_clock *clock, int64_t max_skew_e12);
void usk_replay_free(struct usk_replay *r);

/** How many epochs there are, at least 1. */
size_t usk_replay_epochs(const struct usk_replay *r);
/** The correction of an epoch; NULL: nothing ties it, or there is no such epoch. Borrowed. */
const struct usk_map *usk_replay_map(const struct usk_replay *r, size_t epoch);

/**
 * The next n stamps of a trace, as usk_map_many(). USK_EINPUT too: they are of an epoch that no
 * message ties to the reference.
 */
enum usk_status usk_replay_many(struct usk_replay *r, const int64_t *local_ns, size_t n,
				int64_t *out, struct usk_err *err);

#endif
