/* SPDX-License-Identifier: MIT */
/*
 * rows.h - inside of the readers of tables: what they have in common
 *
 * A reader of tables has a struct rows as its state, and turns the cells of one row into what
 * it hands out. A row that cannot be read is left out, and the damage tells how many and of the
 * first why.
 */
#ifndef USK_ROWS_H
#define USK_ROWS_H

#include "read/read.h"

struct rows {
	struct usk_table table;
	struct usk_msg waiting; /* found with one that was handed out, where there was no room */
	bool waits;
};

enum usk_status usk_rows_start(struct usk_trace *t, struct usk_err *err);
void usk_rows_stop(struct usk_trace *t);

/** A row's cells -> out. USK_EINPUT with a sentence, without file and line: it is left out. */
typedef enum usk_status usk_rows_take(struct usk_trace *t, const struct usk_cell *c, void *out,
				      struct usk_err *why);

/** The next row that take() makes something of; *more is false at the end. */
enum usk_status usk_rows_next(struct usk_trace *t, usk_rows_take *take, void *out, bool *more,
			      struct usk_err *err);
/** The next cap rows at most, of so many bytes each. */
enum usk_status usk_rows_batch(struct usk_trace *t, usk_rows_take *take, void *out, size_t size,
			       size_t cap, size_t *n, struct usk_err *err);

#endif
