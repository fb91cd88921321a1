/* SPDX-License-Identifier: MIT */
/* gather.h - traces of all ranks, at rank 0 */
#ifndef USK_MPI_GATHER_H
#define USK_MPI_GATHER_H

#include "mpi/files.h"

/**
 * Each rank makes parts of what it reads; rank 0 gets all of them, as traces [files->n] in their order,
 * others NULL. All ranks call it; where one cannot read a trace, the job ends.
 */
struct usk_trace **gather_parts(const struct args *args, const struct files *files);

/** The bytes of rank 0's file path, at all ranks: the name of a copy that is gone when they end. */
const char *gather_copy(const char *path);

#endif
