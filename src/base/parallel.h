/* SPDX-License-Identifier: MIT */
/*
 * parallel.h - the same done to many things, by several threads
 */
#ifndef USK_BASE_PARALLEL_H
#define USK_BASE_PARALLEL_H

#include <stddef.h>

/** As many as the system has processors for this process, 1 at least. */
unsigned usk_processors(void);

/**
 * Calls work(ctx, from, to) for stretches of 0..n of `step` each, in any order and at the same
 * time; returns when all are done. What a stretch does must not depend on others, so that the
 * number of threads shows nowhere. threads 0: usk_processors(); the caller's is one of them.
 */
void usk_parallel(size_t n, size_t step, unsigned threads,
		  void (*work)(void *ctx, size_t from, size_t to), void *ctx);

#endif
