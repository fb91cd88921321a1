/* SPDX-License-Identifier: MIT */
/*
 * stamp.h - stamps in tables: ns, seconds, RFC 3339, or ticks of a counter whose rate is known
 */
#ifndef USK_STAMP_H
#define USK_STAMP_H

#include "base/table.h"

/** Are the rows of opt as they should be? NULL is. */
enum usk_status usk_read_options_check(const struct usk_read_options *opt, struct usk_err *err);

/** 10^-6 Hz that integer stamps of the clock of this name count, 0 for ns. opt may be NULL. */
int64_t usk_tick_rate(const struct usk_read_options *opt, const char *name, size_t n);

/** Ticks, a whole number, as ns, rounded down. USK_EINPUT, USK_ERANGE as usk_cell_time(). */
enum usk_status usk_ticks_ns(int64_t hz_e6, struct usk_csv_field f, int64_t *ns,
			     struct usk_err *err);

/**
 * A cell's time on that clock, ticks rounded down. *ticks (may be NULL): it was in ticks.
 * USK_EINPUT: it is no time; USK_ERANGE: over USK_TIME_MAX.
 */
enum usk_status usk_cell_time(const struct usk_read_options *opt, struct usk_csv_field clock,
			      const struct usk_cell *cell, int64_t *ns, bool *ticks,
			      struct usk_err *err);

/** A cell's number of bytes, 0 if it has none. */
enum usk_status usk_cell_bytes(const struct usk_cell *cell, uint32_t *bytes, struct usk_err *err);

#endif
