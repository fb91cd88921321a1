/* SPDX-License-Identifier: MIT */
/* commands.h - the rows of unskew-mpi's table of commands */
#ifndef USK_MPI_COMMANDS_H
#define USK_MPI_COMMANDS_H

#include "cli/cmd.h"

extern const struct command mpi_sync, mpi_check, mpi_apply;

/** What runs is unskew-mpi, and its lines go to where; NULL: stderr. */
void commands_begin(FILE *lines);

#endif
