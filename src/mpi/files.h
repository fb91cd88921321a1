/* SPDX-License-Identifier: MIT */
/* files.h - which rank reads which trace */
#ifndef USK_MPI_FILES_H
#define USK_MPI_FILES_H

#include "cli/cmd.h"

struct files {
	size_t n;	    /* args' operands from the first-th on, in their order */
	const int *reader;  /* [n], a rank each */
	const int *machine; /* of each rank, the first rank there */
};

/**
 * Folders and patterns among args' operands from the first-th on become their files, on whatever
 * machines these are, and each gets a reader. The same at all ranks; all call it.
 */
struct files files_share(struct args *args, size_t first);

#endif
