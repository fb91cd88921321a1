/* SPDX-License-Identifier: MIT */
/* offsets.h - offsets of clocks into an OTF2 trace's local definitions */
#ifndef USK_OTF_OFFSETS_H
#define USK_OTF_OFFSETS_H

#include "base/index.h"

/* At this stamp so much is to be added to it, in ticks; between two of them, in proportion. */
struct otf2_offset {
	uint64_t time;
	int64_t offset;
	double deviation;
};

struct otf2_offsets {
	const char *path, *folder; /* the anchor; where the folder "new" is to be */
	/* Of the process of that name, the number-th of the trace, whose name `alike` others have,
	 * hz ticks a second: n of them. They are not freed. */
	enum usk_status (*of)(void *ctx, const char *process, size_t number, size_t alike,
			      uint64_t hz, struct otf2_offset **out, size_t *n,
			      struct usk_err *err);
};

/** FOLDER/new/N.def for each thread. Only in a process that may die. */
enum usk_status usk_otf2_offsets(const struct otf2_offsets *to, void *ctx, struct usk_err *err);

#endif
