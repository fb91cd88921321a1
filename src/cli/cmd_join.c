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

static const struct option_group join_output = {
	"Output",
	{
		{ "output", "write the corrections: clocks.json, which apply and convert read",
		  PATH("FILE"), .letter = 'o' },
		{ "json", "print clocks.json instead of the table", FLAG },
		{ "plot",
		  "draw the corridor of CLOCK below the table; on a terminal that of the clock "
		  "with the largest error bound is drawn anyway",
		  TEXT("CLOCK") },
		{ "no-plot", "do not draw", FLAG },
		{ "messages", "write every message that was used, as CSV", PATH("FILE") },
	},
};

const struct command cmd_join = {
	.name = "join",
	.run = sync_run,
	.operands = "FOLDER|PART...",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
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
	.group = { &join_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_match, &options_force,
		   &options_common },
};
