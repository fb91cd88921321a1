/* SPDX-License-Identifier: MIT */
/*
 * child.h - work that may die, in a process of its own
 *
 * Why   libbabeltrace2 and libotf2 abort where they find what they did not expect, and a damaged input
 *       is no reason for us to die
 */
#ifndef USK_CHILD_H
#define USK_CHILD_H

#include "base/base.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

struct usk_child {
	pid_t pid; /* 0: it was waited for */
	FILE *in;  /* what it says; NULL: nothing more */
};

/**
 * work(ctx, out) in a child, without its parent's handlers, standard files and core dumps; what it
 * writes to out can be read. USK_EIO: there is none, and nothing is to be ended.
 */
enum usk_status usk_child_start(struct usk_child *c, void (*work)(void *ctx, FILE *out), void *ctx,
				struct usk_err *err);
/** In the child: no more than so much of a processor's time, and of memory beyond what it has now;
 * RLIM_INFINITY: as much as it wants. Beyond, it dies. */
void usk_child_limit(rlim_t cpu_s, rlim_t more_bytes);
/** The next n bytes it says; false: there are not so many. */
bool usk_child_read(struct usk_child *c, void *out, size_t n);
/** Waits for its end; of what it died, if it did. */
const char *usk_child_end(struct usk_child *c);
/** The same at once: it may be in the middle of something, and has nothing to lose. */
void usk_child_kill(struct usk_child *c);

/**
 * work(ctx, err) in a child, of which only files and its status come back. what: for the sentence
 * if it dies, USK_EINPUT.
 */
enum usk_status usk_child_run(enum usk_status (*work)(void *ctx, struct usk_err *err), void *ctx,
			      const char *what, struct usk_err *err);

#endif
