/* SPDX-License-Identifier: MIT */
/*
 * main.c - unskew-mpi: the commands that many ranks of MPI can share
 *
 * In    mpirun -n N unskew-mpi COMMAND ...
 * Out   what `unskew COMMAND ...` gives, for any N
 * Why   a program of its own, so that `unskew` needs no MPI
 * Not   computing: all of it is the library's
 */
#include "mpi/commands.h"

#include "base/base.h"
#include "mpi/guard.h"
#include "mpi/team.h"

#include <stdlib.h>

const struct command *const commands[] = { &mpi_sync, &mpi_apply, &mpi_check, NULL };

static bool ranks; /* has MPI begun? */

static void no_memory(size_t bytes)
{
	(void)bytes;
	guard_out_of_memory();
}

void commands_begin(FILE *lines)
{
	static struct program p = {
		.mpirun = true,
		.name = "unskew-mpi",
		.typed = "mpirun -n 4 unskew-mpi",
		.purpose = "put the traces of many machines on one clock, by many ranks of MPI",
	};
	p.lines = lines;
	p.failed = ranks ? team_failed : NULL;
	program_is(&p);
}

/* Help is for one who has no mpirun at hand, too. */
static bool is_command(int argc, char **argv)
{
	return argc > 1 && argv[1][0] != '-' && command_find(argv[1]);
}

int main(int argc, char **argv)
{
	front_start();
	commands_begin(NULL);
	if (is_command(argc, argv)) {
		guard_begin();
		usk_on_out_of_memory(no_memory);
		team_begin();
		ranks = true;
		commands_begin(NULL);
	}
	leave(front_run(argc, argv));
}

void leave(int status)
{
	if (ranks) {
		team_end(status);
	}
	exit(front_end(status));
}
