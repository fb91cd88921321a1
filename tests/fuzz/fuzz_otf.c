/* SPDX-License-Identifier: MIT */
/*
 * Definitions and events of OTF2 as damaged files have them, without files and libotf2: what becomes of
 * them is the same twice, of processes that there are, and no side of a message comes twice.
 */
#include "found.h"
#include "otf/otf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 4096 };

static struct {
	struct otf2_row row[ROWS];
	size_t n;
	uint64_t sum;
} all;

static void demand(bool good)
{
	if (!good) {
		abort();
	}
}

static enum usk_status keep(void *ctx, const struct otf2_row *row, struct usk_err *err)
{
	const struct otf2_numbers *x = ctx;
	(void)err;
	demand(row->x.clock < x->world->n_processes && row->x.rank == row->x.clock);
	demand(row->x.kind < USK_NO_COLLECTIVE && row->key < x->n_keys);
	demand(row->x.enter_ns <= row->x.exit_ns && row->x.enter_ns >= 0);
	demand(row->x.exit_ns <= USK_TIME_MAX);
	if (all.n < ROWS) {
		all.row[all.n++] = *row;
	}
	return USK_OK;
}

/* An item is nine bytes, of a group as many members more as its flag says. */
static size_t next(const uint8_t *d, size_t n, struct otf2_item *item, uint64_t *now)
{
	enum { HEAD = 9 };
	if (n < HEAD) {
		return 0;
	}
	/* Stamps go on, numbers are small: else nothing would ever meet. */
	*now += d[1] < 250 ? d[1] : (uint64_t)d[1] << (d[2] % 64);
	*item = (struct otf2_item){ .kind = d[0] % (ITEM_KINDS + 1),
				    .value = d[2] % 8,
				    .request = d[3] % 16,
				    .comm = d[4] % 8,
				    .who = d[5] % 8,
				    .tag = d[6] == 255 ? OTF2_NOWHERE : d[6] % 4,
				    .op = d[7] % 32,
				    .flag = d[8] % 4 };
	size_t members = d[8] / 4 % 8, at = HEAD;
	if (item->kind == ITEM_CLOCK) {
		item->value = (uint64_t)d[2] << (d[3] % 64);
	} else if (item->kind > ITEM_READ && item->kind < ITEM_OVER) {
		item->value = *now;
	} else if (item->kind == ITEM_GROUP) {
		item->op %= 3;
		for (; item->n < members * sizeof *item->member && at < n; at++) {
			item->member[item->n / sizeof *item->member] = d[at] % 8;
			item->n = (uint8_t)(item->n + sizeof *item->member);
		}
	} else if (item->kind == ITEM_OVER || item->kind == ITEM_PROCESS) {
		item->n = (uint8_t)members;
		memset(item->text, 'x', members);
	}
	return at;
}

static int by_id(const void *pa, const void *pb)
{
	const struct otf2_row *a = pa, *b = pb;
	int order = memcmp(&a->x.id, &b->x.id, sizeof a->x.id);
	order = order ? order : usk_order(a->x.root, b->x.root);
	return order ? order : usk_order(a->x.clock, b->x.clock);
}

static uint64_t run(const uint8_t *data, size_t size)
{
	struct otf2_world w = { 0 };
	struct otf2_numbers x = { .world = &w, .put = keep, .process = OTF2_NOWHERE };
	struct otf2_item item;
	uint64_t now = 0;
	x.ctx = &x;
	all.n = 0;
	for (size_t at = 0, n; (n = next(data + at, size - at, &item, &now)); at += n) {
		if (w.settled) {
			demand(!usk_otf2_take(&x, &item, NULL));
		} else {
			usk_otf2_define(&w, &item);
		}
	}
	usk_otf2_judge(&x);
	char *damage = usk_otf2_damage(&x), *remark = usk_otf2_remark(&x);
	demand((!damage || *damage) && (!remark || *remark));
	uint64_t sum = (damage ? strlen(damage) : 0) + (remark ? strlen(remark) : 0);
	if (all.n) {
		qsort(all.row, all.n, sizeof *all.row, by_id);
	}
	for (size_t i = 0; i < all.n; i++) {
		demand(!i || by_id(&all.row[i - 1], &all.row[i]));
		sum = usk_mix(sum + all.row[i].x.id.word[0]) ^ (uint64_t)all.row[i].x.exit_ns;
		sum += usk_otf2_holds(&x, &all.row[i]);
	}
	free(damage);
	free(remark);
	usk_otf2_numbers_free(&x);
	usk_otf2_world_free(&w);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t found = run(data, size);
	demand(found == run(data, size));
	fuzz_found(found);
	return 0;
}
