/* SPDX-License-Identifier: MIT */
/* gather.h - parts of traces, and those of all ranks at rank 0 */
#ifndef USK_MPI_GATHER_H
#define USK_MPI_GATHER_H

#include "mpi/files.h"
#include "mpi/scratch.h"

/** The i-th operand; called: its name, or NULL. It is what is at work from now on. */
struct usk_trace *gather_open(const struct args *args, size_t i, const char *called);
/** Its part, behind what is in the file; how many bytes. */
uint64_t gather_part(const struct args *args, size_t i, struct usk_trace *t, struct scratch *to);

/**
 * Each rank makes parts of what it reads; rank 0 gets all of them, as traces [files->n] in their order,
 * others NULL. trace[files->n]: those that are open already, which are closed, or NULL. All ranks call
 * it; where one cannot read a trace, the job ends.
 */
struct usk_trace **gather_parts(const struct args *args, const struct files *files,
				struct usk_trace **trace);

/** The bytes of rank 0's file path, at all ranks: the name of a copy that is gone when they end. */
const char *gather_copy(const char *path);

#endif
