/* SPDX-License-Identifier: MIT */
/* heard.h - rows of a message table -> broadcasts that both clocks of a pair received */
#ifndef USK_MATCH_HEARD_H
#define USK_MATCH_HEARD_H

#include "base/base.h"

/* Rows of one broadcast stand within so many rows of third parties. */
enum { USK_HEARD = 4096 };

struct usk_heard {
	uint32_t a, b;
	uint64_t n; /* rows so far */
	struct heard_row {
		int64_t sent_ns, received_ns;
		uint32_t from, to;
		uint64_t older; /* row of the same bucket, number + 1; 0: none */
		bool taken;
	} * row;	  /* [USK_HEARD], a ring */
	uint64_t *newest; /* [USK_HEARD], per bucket, number + 1 */
};

void usk_heard_init(struct usk_heard *h, uint32_t a, uint32_t b);
void usk_heard_free(struct usk_heard *h);
/** Does this row complete a broadcast? Rows that are not from a third clock to one of the two are
 * left alone. Only ever O(1) where a stamp is not used again and again. */
bool usk_heard_add(struct usk_heard *h, const struct usk_msg *m, struct usk_reception *out);

#endif
