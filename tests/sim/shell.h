/* SPDX-License-Identifier: MIT */
/*
 * shell.h - paths in commands of a shell
 */
#ifndef SHELL_H
#define SHELL_H

#include "base/base.h"

#include <string.h>

/** Arguments from the first on become words of a shell, whatever is in them. */
static inline void shell_words(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *from = argv[i];
		char *to = argv[i] = usk_alloc(1, 4 * strlen(from) + 3);
		*to++ = '\'';
		for (; *from; from++) {
			to = *from == '\'' ? stpcpy(to, "'\\''") : stpncpy(to, from, 1);
		}
		*to = '\'';
	}
}

#endif
