/* SPDX-License-Identifier: MIT */
#include "read/rows.h"

#include <stdlib.h>

enum usk_status usk_rows_start(struct usk_trace *t, struct usk_err *err)
{
	struct rows *r = t->state ? t->state : (t->state = usk_alloc(1, sizeof *r));
	enum usk_status status =
		usk_table_start(&r->table, t->reader->table, &t->in, &t->used, err);
	r->waits = false;
	if (status) {
		usk_fail_in(err, "%s", t->path);
	}
	return status;
}

void usk_rows_stop(struct usk_trace *t)
{
	struct rows *r = t->state;
	if (r) {
		usk_table_free(&r->table);
	}
	free(r);
	t->state = NULL;
}

static void say_damage(struct usk_trace *t)
{
	struct rows *r = t->state;
	char *damage = usk_csv_bad_text(&r->table.bad);
	if (damage) {
		usk_trace_damaged(t, "%s", damage);
	}
	free(damage);
	t->done = true;
}

enum usk_status usk_rows_next(struct usk_trace *t, usk_rows_take *take, void *out, bool *more,
			      struct usk_err *err)
{
	struct usk_table *b = &((struct rows *)t->state)->table;
	struct usk_err why;
	for (;;) {
		enum usk_status status = usk_table_next(b, &t->in, &t->used, more, &why);
		if (!status && !*more) {
			say_damage(t);
			return USK_OK;
		}
		if (!status && b->blank) {
			continue;
		}
		if (!status) {
			status = take(t, b->cell, out, &why);
		}
		if (!status) {
			return USK_OK;
		}
		if (status == USK_ERANGE) {
			return usk_fail(err, status, b->number, "%s: line %llu: %s", t->path,
					(unsigned long long)b->number, why.msg);
		}
		if (status == USK_EIO) {
			return usk_fail(err, status, b->number, "%s: %s", t->path, why.msg);
		}
		usk_table_left_out(b, why.msg);
	}
}

enum usk_status usk_rows_batch(struct usk_trace *t, usk_rows_take *take, void *out, size_t size,
			       size_t cap, size_t *n, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	bool more = true;
	*n = 0;
	while (*n < cap && more && !status) {
		status = usk_rows_next(t, take, (uint8_t *)out + *n * size, &more, err);
		*n += more && !status;
	}
	return status;
}
