/* SPDX-License-Identifier: MIT */
/* The groups of options that several commands share; a command's own rows are in its file. */
#include "cmd.h"
#include "fit/estimator.h"

const struct option_group options_common = {
	"Common",
	{
		{ "quiet", "print nothing but errors and data", FLAG, .letter = 'q' },
		{ "help", "print this help", FLAG, .letter = 'h' },
	},
};

const struct option_group options_force = {
	"Writing", { { "force", "replace files that exist", FLAG, .letter = 'f' } }
};

const struct option_group options_read = {
	"Reading",
	{
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
	},
};

const struct option_group options_match = {
	"Matching",
	{
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
		{ "readings",
		  "what packets of captures say of clocks that nobody recorded: LIST of ntp, ptp, "
		  "rtcp, http, krb5, smb2, wlan, or all; these clocks get names such as "
		  "ntp:192.0.2.1",
		  TEXT("LIST") },
		{ "resolution",
		  "what NAME's stamps are rounded down to, if coarser than the file says",
		  TEXTS("NAME=DURATION") },
		{ "from", "leave out what the reference stamped before", TIME },
		{ "to", "leave out what the reference stamped after", TIME },
	},
};

const char *method_name(size_t i)
{
	return usk_estimators()[i].name;
}

const char *method_spelt(const char *text)
{
	const struct usk_estimator *e = usk_estimator_find(text);
	return e ? e->name : NULL;
}

const struct option_group options_method = {
	"Estimator",
	{
		{ "method",
		  "the estimator that draws the correction into the band; +δ may be written for "
		  "+delta",
		  CHOICE("NAME"), .initial = "middle", .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
	},
};

const struct option_group options_model = {
	"Model",
	{
		{ "model",
		  "what the clocks may do; wander[=PPM]: the rate of each clock is constant within "
		  "PPM, 5 unless told, outside of disturbed stretches; linear: every clock keeps "
		  "one rate; segments[=DURATION|auto]: one rate for DURATION, 30min unless told, "
		  "or for as long as one fits",
		  TEXT("MODEL"), .letter = 'm', .initial = "wander" },
		{ "max-skew-ppm", "no two clocks run further apart than this",
		  PPM("500", "0.001", "100000") },
		{ "max-outliers",
		  "messages that may be left out where they contradict the others; otherwise 10, "
		  "or 0.01 % if that is more",
		  INTEGER("N", NULL, "0", "1000000000") },
	},
};

const struct option_group options_solve = {
	"Many clocks",
	{
		{ "solve",
		  "more than two clocks: by all messages together, or by those along the shortest "
		  "path to each",
		  CHOICE("joint|tree"), .initial = "joint" },
		{ "weights",
		  "what is short: pairs whose band is narrow, or, of methods through round trips, "
		  "whose exchanges lie close to their line (Er); otherwise the latter with these",
		  CHOICE("half-width|residual") },
	}
};

const struct option_group options_delay = {
	"Delay",
	{
		{ "min-delay",
		  "no message takes less: BASE[+FIRST][+PER_BYTE/B], such as 50us or "
		  "520us+14us+1.032us/B, FIRST for the first byte of payload and PER_BYTE for each "
		  "further one; or @FILE, a CSV sender,receiver,model",
		  TEXT("MODEL"), .initial = "0" },
	},
};

const struct option_group options_anchor = {
	"Anchors",
	{
		{ "anchor",
		  "when clock A showed TIME, clock B showed TIME, give or take D: "
		  "a@1700000000.5s=b@1700000003s+-20ms; ± may be written +-",
		  TEXTS("A@TIME=B@TIME±D") },
	},
};

const struct option_group options_log = {
	"Logs of clocks",
	{
		{ "clock-log",
		  "what a time daemon did to the clock NAME, as `unskew record` wrote it down: "
		  "what "
		  "is known of it is no wander",
		  TEXTS("NAME=FILE") },
	},
};
