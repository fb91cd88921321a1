/* SPDX-License-Identifier: MIT */
/* The groups of options that several commands share; a command's own rows are in its file. */
#include "cmd.h"

const struct option_group options_common = {
	"Common",
	(const struct option_row[]){
		{ "quiet", "print nothing but errors and data", FLAG, .letter = 'q' },
		{ "help", "print this help", FLAG, .letter = 'h' },
		{ 0 },
	},
};

const struct option_group options_force = {
	"Writing",
	(const struct option_row[]){
		{ "force", "replace files that exist", FLAG, .letter = 'f' },
		{ 0 },
	},
};

const struct option_group options_read = {
	"Reading",
	(const struct option_row[]){
		{ "tick-rate",
		  "the integer stamps of clock NAME in tables are ticks of a counter, HZ a second",
		  TEXTS("NAME=HZ") },
		{ "send",
		  "EVENT{FIELD,...}: this event of a CTF trace is a send, and the fields are its "
		  "id",
		  TEXTS("RULE") },
		{ "recv", "the same of a receive; equal ids are one message", TEXTS("RULE") },
		{ "know",
		  "NAME=EVENT{FIELD}: NAME is what that field was in a thread's last such event",
		  TEXTS("RULE") },
		{ 0 },
	},
};

const struct option_group options_match = {
	"Matching",
	(const struct option_row[]){
		{ "reference",
		  "the clock that is the common timeline; otherwise, of two clocks, the first one, "
		  "of more the one nearest to all others",
		  TEXT("NAME"), .letter = 'r' },
		{ "local",
		  "an address of the machine that recorded NAME, where the captures do not show "
		  "who sent what",
		  TEXTS("NAME=ADDR") },
		{ "clock-of",
		  "an interface of the capture NAME, by its name or number, that has a clock of "
		  "its own",
		  TEXTS("NAME/IFACE=CLOCK") },
		{ "resolution",
		  "what NAME's stamps are rounded down to, if coarser than the file says",
		  TEXTS("NAME=DURATION") },
		{ "from", "leave out what the reference stamped before", TIME },
		{ "to", "leave out what the reference stamped after", TIME },
		{ 0 },
	},
};
