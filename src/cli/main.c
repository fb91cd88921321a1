/* SPDX-License-Identifier: MIT */
/*
 * main.c - the front door: a command is looked up in a table and run
 *
 * To add a command see cmd.h.
 */
#include "cmd.h"

#include <stdlib.h>

const struct command *const commands[] = {
	&cmd_sync,  &cmd_compare, &cmd_apply,	  &cmd_convert,	 &cmd_before,
	&cmd_audit, &cmd_check,	  &cmd_calibrate, &cmd_report,	 &cmd_clock,
	&cmd_late,  &cmd_history, &cmd_plan,	  &cmd_part,	 &cmd_join,
	&cmd_line,  &cmd_probe,	  &cmd_record,	  &cmd_simulate, NULL,
};

int main(int argc, char **argv)
{
	front_start();
	leave(front_run(argc, argv));
}

void leave(int status)
{
	exit(front_end(status));
}
