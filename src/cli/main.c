/* SPDX-License-Identifier: MIT */
/*
 * main.c - the front door: a command is looked up in a table and run
 *
 * To add a command see cmd.h.
 */
#include "cmd.h"

#include <stdlib.h>

#define COMMAND(name) &cmd_##name,
const struct command *const commands[] = { COMMANDS NULL };

int main(int argc, char **argv)
{
	front_start();
	leave(front_run(argc, argv));
}

void leave(int status)
{
	exit(front_end(status));
}
