/* SPDX-License-Identifier: MIT */
/* log.h - whole logs on the reference's clock, one by one or merged */
#ifndef LOG_H
#define LOG_H

#include "log_place.h"
#include "stamps.h"

struct log_options {
	struct stamps *stamps; /* open; its clock is that of files without a name */
	struct log_place place;
	int64_t zone_s; /* of dates that say none */
	bool merge, names;
};

/**
 * Print [NAME=]FILE..., or standard input if there are none, with their stamps on the reference's
 * clock. Returns the exit status; what failed was said.
 */
int logs_convert(const struct log_options *o, const char *const *file, size_t n);

#endif
