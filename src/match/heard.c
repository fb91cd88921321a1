/* SPDX-License-Identifier: MIT */
/*
 * heard.c - rows of a message table -> broadcasts that both clocks of a pair received
 *
 * In    rows in the order of the table
 * Out   the two receive stamps of what one clock sent once, by its stamp
 * Why   what both heard at almost the same time tells their clocks apart without any delay between
 *       them (Scheuermann et al.; Poirier 2010, sections 2.3 and 4.1)
 * Not   broadcasts that one of the two sent: those are messages and nothing else
 *
 * Rows of one broadcast stand near each other, so a ring of recent ones is enough, however long
 * the table is.
 */
#include "match/heard.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 64 };

void usk_heard_init(struct usk_heard *h, uint32_t a, uint32_t b)
{
	*h = (struct usk_heard){ .a = a, .b = b };
}

void usk_heard_free(struct usk_heard *h)
{
	free(h->row);
	free(h->newest);
}

bool usk_heard_add(struct usk_heard *h, const struct usk_msg *m, struct usk_reception *out)
{
	if ((m->to != h->a && m->to != h->b) || m->from == h->a || m->from == h->b) {
		return false;
	}
	if (!h->row) {
		h->row = usk_alloc(USK_HEARD, sizeof *h->row);
		h->newest = usk_alloc(USK_HEARD, sizeof *h->newest);
	}
	uint64_t *newest = &h->newest[usk_fold((uint64_t)m->sent_ns, m->from) % USK_HEARD];
	uint64_t at = *newest;
	for (int i = 0; i < MAX_STEPS && at && h->n - (at - 1) <= USK_HEARD; i++) {
		struct heard_row *r = &h->row[(at - 1) % USK_HEARD];
		if (r->sent_ns == m->sent_ns && r->from == m->from && r->to != m->to && !r->taken) {
			bool by_a = m->to == h->a;
			*out = (struct usk_reception){ by_a ? m->received_ns : r->received_ns,
						       by_a ? r->received_ns : m->received_ns };
			r->taken = true;
			return true;
		}
		at = r->older;
	}
	h->row[h->n % USK_HEARD] =
		(struct heard_row){ m->sent_ns, m->received_ns, m->from, m->to, *newest, false };
	*newest = ++h->n;
	return false;
}
