/* SPDX-License-Identifier: MIT */
/*
 * exchanges.c - a message and the next one back: what round trips are made of
 *
 * In    every message of a pair
 * Out   the exchanges that one of its clocks began, in the order in which it did
 * Why   a message alone tells offset and delay together; with one back, half the round trip bounds
 *       the error of the offset
 * Not   which of them are good (est_*.c)
 *
 * Source  Cristian 1989; Ashton 1995, 4.1.1 and 4.1.2; Clement 2009
 *
 * The message back is the first that leaves the other clock when the message there has come, by
 * that clock alone: nothing about the offset has to be known. Several messages there may share one
 * back, when they were sent without waiting.
 */
#include "fit/fit.h"

#include <stdlib.h>

/* Sorted by two stamps; the place in the list of messages makes the order one. */
struct step {
	int64_t first_ns, second_ns;
	const struct usk_msg *there, *back;
};

static int by_stamps(const void *pa, const void *pb, void *ctx)
{
	const struct step *a = pa, *b = pb;
	int order = usk_order(a->first_ns, b->first_ns);
	(void)ctx;
	order = order ? order : usk_order(a->second_ns, b->second_ns);
	return order ? order : (a->there > b->there) - (a->there < b->there);
}

static void sort(struct step *s, size_t n)
{
	usk_sort_nearly(s, n, sizeof *s, by_stamps, NULL);
}

struct usk_exchange *usk_exchanges(const struct usk_fit *fit, uint32_t asker, size_t *n)
{
	uint32_t other = asker == fit->a ? fit->b : fit->a;
	struct step *there = usk_alloc(fit->n_msgs + 1, sizeof *there);
	struct step *back = usk_alloc(fit->n_msgs + 1, sizeof *back);
	size_t n_there = 0, n_back = 0;
	for (size_t i = 0; i < fit->n_msgs; i++) {
		const struct usk_msg *m = &fit->msg[i];
		if (m->from == asker && m->to == other) {
			there[n_there++] = (struct step){ m->received_ns, m->sent_ns, m, NULL };
		} else if (m->from == other && m->to == asker) {
			back[n_back++] = (struct step){ m->sent_ns, m->received_ns, m, NULL };
		}
	}
	sort(there, n_there);
	sort(back, n_back);

	size_t answered = 0;
	for (size_t j = 0; answered < n_there; answered++) {
		struct step *s = &there[answered];
		while (j < n_back && back[j].first_ns < s->first_ns) {
			j++;
		}
		if (j == n_back) {
			break; /* nor are the later ones answered */
		}
		*s = (struct step){ s->there->sent_ns, s->there->received_ns, s->there,
				    back[j].there };
	}
	sort(there, answered);

	struct usk_exchange *out = usk_alloc(answered + 1, sizeof *out);
	for (size_t i = 0; i < answered; i++) {
		out[i] = (struct usk_exchange){ there[i].there, there[i].back };
	}
	free(there);
	free(back);
	*n = answered;
	return out;
}
