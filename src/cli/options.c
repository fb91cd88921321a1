/* SPDX-License-Identifier: MIT */
/* The groups of options that several commands share; a command's own rows are in its file. */
#include "cmd.h"
#include "fit/estimator.h"
#include "flow/stated.h"

const struct option_group options_common = {
	"Common",
	{
		{ "quiet", "print nothing but errors and data", FLAG, .letter = 'q' },
		{ "help", "print short help, or all of it", FLAG, .value = "all", .letter = 'h' },
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
		{ "recv",
		  "the same for a receive; a send and a receive with equal ids are one message",
		  TEXTS("RULE") },
		{ "know",
		  "NAME=EVENT{FIELD}: in rules NAME stands for the value of that field in the "
		  "thread's latest such event",
		  TEXTS("RULE") },
	},
};

const struct option_group options_match = {
	"Matching",
	{
		{ "reference",
		  "the clock on whose time all others are put; otherwise, of two clocks, the first "
		  "one, of more the one nearest to all others",
		  TEXT("NAME"), .letter = 'r' },
		{ "local",
		  "an IP address of the machine that recorded NAME, for captures that do not show "
		  "who sent a packet",
		  TEXTS("NAME=ADDR") },
		{ "clock-of",
		  "this interface of the capture NAME, given by its name or number, has a clock of "
		  "its own, called CLOCK",
		  TEXTS("NAME/IFACE=CLOCK") },
		{ "readings",
		  "use the timestamps inside packets, too, of servers that nobody recorded: LIST "
		  "of ntp, ptp, rtcp, http, krb5, smb2, wlan, or all; their clocks get names such "
		  "as ntp:192.0.2.1",
		  TEXT("LIST") },
		{ "resolution",
		  "the resolution of NAME's stamps, to which they are rounded down, if coarser "
		  "than the file says",
		  TEXTS("NAME=DURATION") },
		{ "from", "ignore events before TIME by the reference clock", TIME },
		{ "to", "ignore events after TIME by the reference clock", TIME },
	},
};

const char *method_name(size_t i)
{
	const struct usk_estimator *e = usk_estimators()[i];
	return e ? e->name : NULL;
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
		  "the estimator of the offset between the bounds; its result is cut to the "
		  "bounds; +δ may be written for +delta",
		  CHOICE("NAME"), .initial = "middle", .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
	},
};

const struct option_group options_model = {
	"Model",
	{
		{ "model",
		  "what to assume of the clocks; wander[=PPM]: each clock's rate is constant "
		  "within PPM, otherwise 5, but for disturbed stretches around steps and slews; "
		  "linear: each clock has one constant rate; segments[=DURATION|auto]: one rate "
		  "for each DURATION, otherwise 30min, or with auto for as long as one fits",
		  TEXT("MODEL"), .letter = 'm', .initial = "wander" },
		{ "max-skew-ppm", "the rates of two clocks never differ by more than this",
		  PPM("500", "0.001", "100000") },
		{ "max-outliers",
		  "how many messages may be ignored as outliers, because they contradict the "
		  "others; otherwise 10, or 0.01 % if that is more",
		  INTEGER("N", NULL, "0", "1000000000") },
	},
};

const struct option_group options_solve = {
	"Many clocks",
	{
		{ "solve",
		  "for more than two clocks, use all messages together (joint), or only those "
		  "along the best path to each clock (tree)",
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
		  "the network takes at least this long: BASE[+FIRST][+PER_BYTE/B], such as 50us "
		  "or 520us+14us+1.032us/B, FIRST for the first byte of payload and PER_BYTE for "
		  "each further one; or @FILE, a CSV sender,receiver,model",
		  TEXT("MODEL"), .initial = "0" },
	},
};

const struct option_group options_anchor = {
	"Anchors",
	{
#define STATEMENT(name, option, form, within, help) { option, help, TEXTS(form) },
		USK_STATEMENTS(STATEMENT) },
};

const struct option_group options_log = {
	"Logs of clocks",
	{
		{ "clock-log",
		  "the log of clock NAME that `unskew record` wrote: steps and slews that it shows "
		  "are corrected and do not widen the error bounds",
		  TEXTS("NAME=FILE") },
	},
};
