/* SPDX-License-Identifier: MIT */
/* delays.h - minimum delays: one model for all pairs, or a file with one for each */
#ifndef USK_FLOW_DELAYS_H
#define USK_FLOW_DELAYS_H

#include "base/io.h"

struct delay_row {
	char *sender, *receiver;
	struct usk_delay_model model;
	uint64_t line;
};

struct delays {
	bool any; /* same for all pairs */
	struct usk_delay_model model;
	struct delay_row *row; /* else these, sorted by names */
	size_t n;
};

/** usk_sync_options.min_delay. A model that is none is USK_EUSAGE; others are of the file. */
enum usk_status usk_delays_of(const char *text, struct delays *out, struct usk_err *err);
/** The rows of a CSV with the columns sender, receiver, model. */
enum usk_status usk_delays_read(struct usk_input *in, struct delays *out, struct usk_err *err);
void usk_delays_free(struct delays *d);
/** NULL is 0. */
const struct usk_delay_model *usk_delays_find(const struct delays *d, const char *sender,
					      const char *receiver);

#endif
