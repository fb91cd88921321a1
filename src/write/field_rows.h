/* SPDX-License-Identifier: MIT */
/*
 * field_rows.h - rows of keys of clocks.json, short: what clocks_fields.c and pair_fields.c share
 */
#ifndef USK_FIELD_ROWS_H
#define USK_FIELD_ROWS_H

#include "write/fields.h"

/** usk_quality_name() of what was read. */
const char *usk_quality_text(unsigned q);

#define AT(type, member) .at = offsetof(struct type, member)
#define LIST(type, list, n)                                                                        \
	.kind = FIELD_LIST, AT(type, list), .n_at = offsetof(struct type, n),                      \
	.size = sizeof *((struct type *)NULL)->list
#define ROWS(type, list, n, row) LIST(type, list, n), .each = FIELD_OBJECT, .fields = (row)

#define QUALITY(type, text)                                                                        \
	{                                                                                          \
		"quality", FIELD_NAME, AT(type, quality),                                          \
			.name = usk_quality_text, .last = USK_CONTRADICTED,                        \
			.otherwise = "\"%.40s\" is none of reference, bounded, one-sided, "        \
				     "absent, contradicted",                                       \
			.help = text                                                               \
	}

#endif
