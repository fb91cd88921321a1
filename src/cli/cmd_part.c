/* SPDX-License-Identifier: MIT */
/*
 * cmd_part.c - what matching needs of each trace, into files of their own
 *
 * In    traces
 * Out   a part of each in a folder, for `unskew join`
 * Why   traces may be on many machines, or too many for one: each part is made where its trace is,
 *       by whatever runs many programs
 * Not   matching: only all traces together tell what belongs together
 */
#include "cmd.h"
#include "units.h"
#include "base/io.h"
#include "read/part.h"

#include <string.h>

static void put(void *ctx, const void *data, size_t n)
{
	usk_output_write(ctx, data, n);
}

/* Traces of one name lie in many folders: their paths tell them apart. */
static const char *file_of(const char *folder, const struct usk_trace *t)
{
	const char *path = usk_trace_path(t);
	struct usk_event_id id = usk_event_id(path, strlen(path));
	return kept(usk_format("%s/%s-%016llx.part.zst", folder, path_tail(path, 1),
			       (unsigned long long)usk_fold(id.word[0], id.word[1])));
}

static int part_run(const struct args *args)
{
	const struct usk_read_options opt = read_options(args);
	const char *folder = args_string(args, "output");
	if (!folder) {
		say_usage("part: -o FOLDER says where the parts shall be");
	}
	if (!usk_folder_make(folder)) {
		say_failed("%s: is no folder and cannot be made one", folder);
	}
	for (size_t i = 0; i < args_operands(args); i++) {
		static struct usk_output out;
		struct usk_trace *t;
		const char *name, *path = args_split_name(args_operand(args, i), &name);
		must(usk_trace_open_with(path, name, &opt, &t, &why));
		const char *file = file_of(folder, t);
		must(usk_output_open(&out, file, args_flag(args, "force"), &why));
		const struct usk_part_sink sink = { put, &out };
		must(usk_part_write(t, name != NULL, &sink, &why));
		must(usk_output_commit(&out, &why));
		usk_trace_close(t);
		say(args, "Wrote %s.", file);
	}
	return EXIT_DONE;
}

static const struct option_group part_output = {
	"Output",
	{
		{ "output", "the folder that the parts go to; it is made if it is not there",
		  PATH("FOLDER"), .letter = 'o' },
	},
};

const struct command cmd_part = {
	.name = "part",
	.run = part_run,
	TRACES("[NAME=]TRACE...", 1, 1),
	.example = {
		{ "on each machine: what is needed of its captures", "part web-*.pcap -o parts" },
		{ "two traces, each under the name of its host", "part web=a.pcap db=b.pcap -o parts" },
		{ "then, where all parts are", "join parts -o clocks.json" },
	},
	.help = "write what `unskew join` needs of each trace into a small file of its own",
	.more = "A part is made from one trace alone, where it is, by any number of processes at "
		"once: `unskew join` computes from all parts what `unskew sync` computes from the "
		"traces, to the byte. It holds no payload but the first 48 bytes of packets that "
		"are not TCP, and can neither be corrected nor merged: `unskew apply` does that "
		"with the traces. Parts of captures, tables, events and CTF traces can be made, "
		"not of spans.",
	.group = { &part_output, &options_read, &options_force, &options_common },
};
