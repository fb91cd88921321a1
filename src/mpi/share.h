/* SPDX-License-Identifier: MIT */
/* share.h - one flow by all ranks (flow/share.h), on MPI */
#ifndef USK_MPI_SHARE_H
#define USK_MPI_SHARE_H

#include "mpi/files.h"

/**
 * Traces for sync_of() at each rank: captures to be shared out, or, where they are of another kind or
 * options want all in one place, parts of all of them at rank 0; then the others do not come back. All
 * ranks call it.
 */
void share_open(struct task *t, const struct files *files);
/** progress_show(), at rank 0 alone. */
void share_show(void *ctx, double done, const char *what);

#endif
