/* SPDX-License-Identifier: MIT */
/* The groups of options that several commands share; a command's own rows are in its file. */
#include "cmd.h"

const struct option_group options_common = {
	"Common",
	(const struct option_row[]){
		{ .name = "quiet", .letter = 'q', .help = "print nothing but errors and data" },
		{ .name = "help", .letter = 'h', .help = "print this help" },
		{ 0 },
	},
};

const struct option_group options_force = {
	"Writing",
	(const struct option_row[]){
		{ .name = "force", .letter = 'f', .help = "replace files that exist" },
		{ 0 },
	},
};

const struct option_group options_read = {
	"Reading",
	(const struct option_row[]){
		{ .name = "tick-rate",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "NAME=HZ",
		  .help = "the integer stamps of clock NAME in tables are ticks of a counter, HZ a "
			  "second" },
		{ .name = "send",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "RULE",
		  .help = "EVENT{FIELD,...}: this event of a CTF trace is a send, and the fields "
			  "are its id" },
		{ .name = "recv",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "RULE",
		  .help = "the same of a receive; equal ids are one message" },
		{ .name = "know",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "RULE",
		  .help = "NAME=EVENT{FIELD}: NAME is what that field was in a thread's last such "
			  "event" },
		{ 0 },
	},
};

const struct option_group options_match = {
	"Matching",
	(const struct option_row[]){
		{ .name = "reference",
		  .letter = 'r',
		  .type = OPTION_STRING,
		  .value = "NAME",
		  .help = "the clock that is the common timeline; otherwise, of two clocks, the "
			  "first one, of more the one nearest to all others" },
		{ .name = "local",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "NAME=ADDR",
		  .help = "an address of the machine that recorded NAME, where the captures do not "
			  "show who sent what" },
		{ .name = "clock-of",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "NAME/IFACE=CLOCK",
		  .help = "an interface of the capture NAME, by its name or number, that has a "
			  "clock of its own" },
		{ .name = "resolution",
		  .type = OPTION_STRING,
		  .repeated = true,
		  .value = "NAME=DURATION",
		  .help = "what NAME's stamps are rounded down to, if coarser than the file says" },
		{ .name = "from",
		  .type = OPTION_TIME,
		  .value = "TIME",
		  .help = "leave out what the reference stamped before" },
		{ .name = "to",
		  .type = OPTION_TIME,
		  .value = "TIME",
		  .help = "leave out what the reference stamped after" },
		{ 0 },
	},
};
