/* SPDX-License-Identifier: MIT */
/* scratch.h - files without names, in TMPDIR of their machine */
#ifndef USK_MPI_SCRATCH_H
#define USK_MPI_SCRATCH_H

#include "base/base.h"

/* With a buffer before it. */
struct scratch {
	int fd;
	uint64_t size;
	int error; /* of the first write or read that failed */
	size_t used;
	uint8_t buffer[1 << 18];
};

struct scratch *scratch_new(void);
/** Past the buffer; an error is kept. */
void scratch_at(struct scratch *s, uint64_t at, const void *data, size_t n);
/** Behind all that was added before. */
void scratch_add(struct scratch *s, const void *data, size_t n);
void scratch_flush(struct scratch *s);

/* What ranks send, each its own from some place on. */
struct arriving {
	struct scratch *to;
	uint64_t *at; /* of each rank where its next bytes go */
};
/** For team_collect() and team_exchange(); ctx is the arriving. */
void scratch_arrive(void *ctx, int rank, const void *data, size_t n);

/** Where an error was kept it is said, and the rank leaves. */
void scratch_must(const struct scratch *s);
/** For struct team_bytes. */
void scratch_read(void *ctx, uint64_t at, void *out, size_t n);
/** Its first bytes, to the end of the program, whatever becomes of s. */
const uint8_t *scratch_look(const struct scratch *s, uint64_t size);
void scratch_free(struct scratch *s);

#endif
