/* SPDX-License-Identifier: MIT */
/*
 * guard_none.c - ranks that nobody watches
 *
 * Why   in a simulation (SimGrid) all ranks are one process, which cannot fork
 */
#include "mpi/guard.h"

#include <stdlib.h>

void guard_begin(void)
{
}

void guard_rank(int rank)
{
	(void)rank;
}

void guard_file(const char *path)
{
	(void)path;
}

void guard_out_of_memory(void)
{
	abort();
}

void guard_done(void)
{
}
