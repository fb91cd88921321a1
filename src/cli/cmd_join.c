/* SPDX-License-Identifier: MIT */
/*
 * cmd_join.c - parts in, one clock for all of them out
 *
 * In    parts that `unskew part` made of traces
 * Out   what `unskew sync` of these traces gives, in the order of their paths
 * Why   how parts were spread over folders and processes must not show in the answer
 * Not   what needs the traces themselves: merging, timelines, timestamps inside packets
 */
#include "print.h"

void refuse_readings(const struct args *args)
{
	if (args_given(args, "readings")) {
		say_usage("--readings: parts have no timestamps inside packets; give the traces to "
			  "unskew sync");
	}
}

static void open_parts(struct task *t)
{
	refuse_readings(t->args);
	operands_apart(t->args);
	t->trace = parts_open(t->args, &t->n);
}

static int join_run(const struct args *args)
{
	return sync_of(args, open_parts);
}

const struct command cmd_join = {
	.name = "join",
	.run = join_run,
	OPERANDS("FOLDER|PART...", 1, SIZE_MAX),
	.example = {
		{ "all parts of a folder", "join parts -o clocks.json" },
		{ "parts that several machines made, by a reference of your choice", "join parts-1 parts-2 -r db -o clocks.json" },
		{ "then, on each machine, its own traces", "apply clocks.json web-1.pcap -o corrected/" },
	},
	.brief = { "output", "reference", "model", "min-delay", "messages", "json", "force" },
	.help = "compute from parts what sync computes from the traces they were made of",
	.more = "Parts are taken in the order of the paths of their traces, however they are spread "
		"over folders: clocks.json is that of `unskew sync` of these traces in this order, to "
		"the byte. Of two clocks the first one is the reference, unless -r names one. A part "
		"that is cut short or damaged fails; make it again with `unskew part --force`. "
		"--readings needs the traces themselves.",
	.group = { &options_answer, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_match, &options_force,
		   &options_common },
};
