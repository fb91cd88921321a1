/* SPDX-License-Identifier: MIT */
/*
 * messages.h - every message that was used, as a CSV table: --messages FILE
 *
 * Names of clocks are settled only when the work is done, and a pair's round may begin
 * anew. So rows are kept in binary, beyond 64 MB in an unlinked temporary file, cut back to the
 * last pair's end when a round begins, and written as text at the end: pair by pair, or, if a clock
 * was set back, in order of sending, as the order of rows alone says so when they are read back.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "base/io.h"

struct messages {
	const char *what; /* is to be written */
	struct usk_spool *spool;
	uint64_t kept, at; /* messages of finished pairs; the next one to be read again */
	const struct usk_corrected *where; /* of the next ones that come */
	bool set_back;			   /* a clock: stamps of two epochs came */
	struct usk_sink sink;		   /* give this to usk_sync() */
};

void messages_open(struct messages *m, const char *what);
enum usk_status messages_commit(struct messages *m, const struct usk_clocks *clocks,
				struct usk_output *out);

/** RFC 4180: text with a comma, quote or line break is quoted, its quotes doubled. Kept, or text.
 */
const char *csv_text(const char *text);

/* ---- timeline.c: --timeline FILE --------------------------------------------- */

/**
 * Match the traces as they are, then draw them by the clocks of c.
 * clock[n]  the trace's clock in c; USK_NO_CLOCK for tables
 */
enum usk_status timeline_match_and_draw(struct usk_trace *const *trace, const uint32_t *clock,
					size_t n, const struct usk_clocks *c, const char *path,
					const struct usk_write_options *opt,
					struct usk_notes *notes, struct usk_err *err);

#endif
