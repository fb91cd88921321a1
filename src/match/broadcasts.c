/* SPDX-License-Identifier: MIT */
/*
 * broadcasts.c - rows of a message table -> broadcasts that two clocks received
 *
 * In    rows in the order of the table
 * Out   the two receive stamps of what one clock sent once, by its stamp
 * Why   what both received at almost the same time tells their clocks apart without any delay between
 *       them (Scheuermann et al.; Poirier 2010, sections 2.3 and 4.1)
 * Not   what the sender is to each of them: those are messages and nothing else
 *
 * Rows of one broadcast stand near each other, so a ring of recent ones is enough, however long
 * the table is.
 */
#include "match/match.h"

#include <stdlib.h>

enum { MAX_STEPS = 64 };

void usk_broadcasts_free(struct usk_broadcasts *h)
{
	USK_FREE(h->row, h->newest);
	h->row = NULL;
	h->newest = NULL;
	h->n = 0;
}

void usk_broadcasts_add(struct usk_broadcasts *h, const struct usk_msg *m)
{
	if (m->from == m->to) {
		return;
	}
	if (!h->row) {
		h->row = usk_alloc(USK_HEARD, sizeof *h->row);
		h->newest = usk_alloc(USK_HEARD, sizeof *h->newest);
	}
	uint64_t *newest = &h->newest[usk_fold((uint64_t)m->sent_ns, m->from) % USK_HEARD];
	/* Two copies to one clock are no broadcast: the first counts. So look, and then put. */
	bool any = true;
	for (int put = 0; put < 2 && any; put++) {
		uint64_t at = *newest;
		any = false;
		for (int i = 0; i < MAX_STEPS && at && h->n - (at - 1) <= USK_HEARD; i++) {
			const struct heard_row *r = &h->row[(at - 1) % USK_HEARD];
			bool same = r->sent_ns == m->sent_ns && r->from == m->from;
			any = any || same;
			if (same && put) {
				h->put(h->ctx, r->to, r->received_ns, m->to, m->received_ns);
			} else if (same && r->to == m->to) {
				return;
			}
			at = r->older;
		}
	}
	h->row[h->n % USK_HEARD] =
		(struct heard_row){ m->sent_ns, m->received_ns, m->from, m->to, *newest };
	*newest = ++h->n;
}
