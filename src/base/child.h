/* SPDX-License-Identifier: MIT */
/*
 * child.h - work that may die, in a process of its own
 *
 * Why   libbabeltrace2 aborts where it finds what it did not expect, and a damaged input is no
 *       reason for us to die
 */
#ifndef USK_CHILD_H
#define USK_CHILD_H

#include "base/base.h"

/** In a child, first of all: its parent's handlers, standard files and core dumps are not its own.
 */
void usk_child_begin(void);

/**
 * work(ctx, err) in a child, of which only files and its status come back. what: for the sentence
 * if it dies, USK_EINPUT.
 */
enum usk_status usk_child_run(enum usk_status (*work)(void *ctx, struct usk_err *err), void *ctx,
			      const char *what, struct usk_err *err);

#endif
