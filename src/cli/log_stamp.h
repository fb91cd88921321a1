/* SPDX-License-Identifier: MIT */
/* log_stamp.h - stamps in lines of text, in the forms that logs have, found and written again */
#ifndef LOG_STAMP_H
#define LOG_STAMP_H

#include "log_forms.h"

struct log_stamp {
	size_t at, n;	 /* where it stands in the line */
	int64_t ns;	 /* since 1970, UTC */
	int64_t unit_ns; /* what its last digit counts */
	int64_t zone_s;	 /* its wall clock - UTC */
	uint8_t form;
};

/* What is known of a file: its first stamp says which form it has, and whether it begins lines. */
struct log_scan {
	int64_t least_ns, most_ns; /* a number beyond is no stamp; the year of a date that has none
				      puts it near to their middle */
	int64_t zone_s;		   /* of dates without one */
	char separator;		   /* is no comma of a fraction; 0: there is none */
	bool learned, starts;
	uint8_t form;
	/* The day that was asked for last, either way; 0 is day 0. */
	int date;
	int64_t midnight_s, day;
	struct log_parts of_day;
};

void log_scan_begin(struct log_scan *c, int64_t least_ns, int64_t most_ns, int64_t zone_s);

/** The first stamp of s[n], a line; what follows a learned form at the line's start is text. */
bool log_find(struct log_scan *c, const char *s, size_t n, struct log_stamp *out);
/** The stamp that s[from] begins with, quotes and brackets left out. */
bool log_find_at(struct log_scan *c, const char *s, size_t from, size_t n, struct log_stamp *out);
/**
 * Write ns over the stamp in s, in its form and zone and with as many digits, rounded to the
 * nearest. False: that form cannot say it, and s is as it was.
 */
bool log_write(struct log_scan *c, const struct log_stamp *stamp, int64_t ns, char *s);

#endif
