/* SPDX-License-Identifier: MIT */
/* heard.h - rows of a message table -> broadcasts that two clocks received */
#ifndef USK_MATCH_HEARD_H
#define USK_MATCH_HEARD_H

#include "base/base.h"

/* Rows of one broadcast stand within so many rows. */
enum { USK_HEARD = 4096 };

struct usk_heard {
	uint64_t n; /* rows so far */
	struct heard_row {
		int64_t sent_ns, received_ns;
		uint32_t from, to;
		uint64_t older; /* row of the same bucket, number + 1; 0: none */
	} * row;		/* [USK_HEARD], a ring */
	uint64_t *newest;	/* [USK_HEARD], per bucket, number + 1 */
	/* Takes what two clocks received of one broadcast: x's stamp and y's. */
	void *ctx;
	void (*put)(void *ctx, uint32_t x, int64_t x_ns, uint32_t y, int64_t y_ns);
};

/** ctx and put are the caller's; all else is zero before the first row and after. */
void usk_heard_free(struct usk_heard *h);
/** The next row of the table; O(1) where one stamp of a sender is not used again and again. */
void usk_heard_add(struct usk_heard *h, const struct usk_msg *m);

#endif
