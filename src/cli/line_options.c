/* SPDX-License-Identifier: MIT */
/* The rows of `unskew line`. */
#include "line_options.h"

const struct option_group line_both_options = {
	"The line",
	(const struct option_row[]){
		{ "port",
		  "a parallel port, /dev/parport0: D1 and D3 of each wired to SELECT and NACK of "
		  "the other",
		  PATH("DEVICE") },
		{ "page",
		  "instead, memory that two processes of one machine share: a file in /dev/shm",
		  PATH("FILE") },
		{ "clock", "the clock of this side, as `unskew clock` names it", TEXT("CLOCK"),
		  .initial = "realtime" },
		{ "timeout", "what lies between the stamps may take so long",
		  DURATION("20us", "1us", "10ms") },
		{ "wake", "the other side may take so long to wake up, and to send its stamp",
		  DURATION("10ms", "100us", "40ms") },
		{ "rounds", "end after so many; 0: when interrupted (delay: 1000)",
		  INTEGER("N", "0", "0", NULL) },
		{ 0 },
	},
};

const struct option_group line_tie_options = {
	"Tying",
	(const struct option_row[]){
		{ "period", "from a round that was good to the next", DURATION("2s", "0", NULL) },
		{ "retry", "from one that was dropped to the next", DURATION("1s", "0", NULL) },
		{ "attempts", "exchanges tried in a round until one is good",
		  INTEGER("N", "3", "1", "1000") },
		{ "good", "half the time between the two stamps of this side is no more",
		  DURATION("5us", "1ns", NULL) },
		{ "allowance-ppm", "by how much the rates may change after an exchange",
		  PPM("1", "0", "1000") },
		{ 0 },
	},
};

const struct option_group line_table_options = {
	"Output",
	(const struct option_row[]){
		{ "output", "the exchanges as a table that sync reads, written at the end",
		  PATH("FILE"), .letter = 'o' },
		{ "here", "what the table calls the clock of this side", TEXT("NAME"),
		  .initial = "here" },
		{ "there", "and that of the other", TEXT("NAME"), .initial = "there" },
		{ "live", "keep the other's clock there for usk_live_convert(): a file in /dev/shm",
		  PATH("FILE") },
		{ "json", "a JSON object per round", FLAG },
		{ 0 },
	},
};
