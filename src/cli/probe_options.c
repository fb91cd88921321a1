/* SPDX-License-Identifier: MIT */
/* The rows of `unskew probe`; which of its ways they are for is in cmd_probe.c. */
#include "probe.h"

const struct option_group probe_ask_options = {
	"Asking HOST",
	(const struct option_row[]){
		{ "output",
		  "table of exchanges, a CSV file that `unskew sync` reads and that is whole after "
		  "every round; the key, of `probe key`",
		  PATH("FILE"), .letter = 'o' },
		{ "append", "add to that file if it exists", FLAG },
		{ "live", "keep the map for usk_live_convert() there; in memory: /dev/shm/NAME",
		  PATH("FILE") },
		{ "period", "from round to round; half of it after one that failed",
		  DURATION("2s", "10ms", "1h") },
		{ "count", "rounds; otherwise until interrupted", INTEGER("N", NULL, "1", NULL) },
		{ "burst", "probes that are sent back to back", INTEGER("N", "2", "1", "16") },
		{ "spacing", "by how much the spacing of two may change on the way",
		  DURATION("10us", "0", "1s") },
		{ "attempts", "bursts in a round at most", INTEGER("N", "3", "1", "100") },
		{ "timeout", "what has not come by then is lost",
		  DURATION("500ms", "1ms", "1min") },
		{ "allowance-ppm", "by how much the rate between the two clocks may change",
		  PPM("1", "0", "500000") },
		{ "max-skew-ppm", "by how much the clocks' rates may differ",
		  PPM("500", "0", "500000") },
		{ "max-age", "exchanges older than that say nothing any more",
		  DURATION("100s", "1s", "1000h") },
		{ "here", "name of this machine's clock in the table; otherwise the machine's",
		  TEXT("NAME") },
		{ "there", "name of the other one; otherwise HOST", TEXT("NAME") },
		{ 0 },
	},
};

const struct option_group probe_serve_options = {
	"Serving",
	(const struct option_row[]){
		{ "bind",
		  "listen there only; otherwise everywhere, or on this machine itself without a "
		  "key",
		  TEXT("ADDR") },
		{ "rate", "answers a second to one address at most",
		  NUMBER("LIMIT", "100", "0.001", "1000000") },
		{ "rate-all", "answers a second to all of them",
		  NUMBER("LIMIT", "10000", "0.001", "10000000") },
		{ 0 },
	},
};

const struct option_group probe_both_options = {
	"Both sides",
	(const struct option_row[]){
		{ "port", "UDP port", INTEGER("N", "4719", "1", "65535") },
		{ "key", "what both sides know; packets that do not prove it are dropped",
		  PATH("FILE") },
		{ "open",
		  "without a key with other machines, too: anybody between can lie about the clock",
		  FLAG },
		{ "card",
		  "stamps by the clock of this network card, which starts to stamp everything",
		  TEXT("INTERFACE") },
		{ "duration", "end after so long", DURATION(NULL, "0", "1000000h") },
		{ "drift-ppm", "for trial: this side's clock gains so much",
		  PPM("0", "-100000", "100000") },
		{ "offset", "for trial: and is ahead by so much", DURATION("0", NULL, NULL) },
		{ "since", "for trial: at this time; otherwise when it starts", TIME },
		{ "json", "print JSON: a line each round, and one at the end", FLAG },
		{ 0 },
	},
};
