/* SPDX-License-Identifier: MIT */
/*
 * cmd_probe.c - two machines that watch each other's clocks
 *
 * In    another machine that runs `unskew probe serve`
 * Out   exchanges; how its clock runs against this one, now
 * Why   machines that never talk otherwise can be tied, too
 * Not   packets and clocks (src/probe)
 */
#include "probe.h"
#include "units.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ASK = 1, SERVE = 2, MAKE_KEY = 4 };

static const struct option_group probe_ask_options = {
	"Asking HOST",
	{
		{ "output",
		  "write a table of exchanges, a CSV file that `unskew sync` reads and that is "
		  "whole after every round; for `probe key` the key",
		  PATH("FILE"), .letter = 'o' },
		{ "append", "append to that file if it exists", FLAG },
		{ "live",
		  "keep the other's clock in this file for usk_live_convert(), best in /dev/shm",
		  PATH("FILE") },
		{ "period", "time from round to round; half of it after one that failed",
		  DURATION("2s", "10ms", "1h") },
		{ "count", "number of rounds; otherwise until interrupted",
		  INTEGER("N", NULL, "1", NULL) },
		{ "burst", "probes to send back to back", INTEGER("N", "2", "1", "16") },
		{ "spacing", "how much the spacing of two probes may change in the network",
		  DURATION("10us", "0", "1s") },
		{ "attempts", "bursts in a round at most", INTEGER("N", "3", "1", "100") },
		{ "timeout", "an answer that takes longer counts as lost",
		  DURATION("500ms", "1ms", "1min") },
		{ "allowance-ppm", "how much the rate between the two clocks may change",
		  PPM("1", "0", "500000") },
		{ "max-skew-ppm", "how much the clocks' rates may differ",
		  PPM("500", "0", "500000") },
		{ "max-age", "ignore exchanges older than this", DURATION("100s", "1s", "1000h") },
		{ "here", "name of this machine's clock in the table; otherwise the machine's",
		  TEXT("NAME") },
		{ "there", "name of the other one; otherwise HOST", TEXT("NAME") },
	},
};

static const struct option_group probe_serve_options = {
	"Serving",
	{
		{ "bind",
		  "address to listen on; otherwise all, or without a key only this machine itself",
		  TEXT("ADDR") },
		{ "rate", "most answers a second to one address, and to its first packets as many",
		  NUMBER("LIMIT", "100", "0.001", "1000000") },
		{ "rate-all",
		  "most answers a second to all addresses, and to first packets as many",
		  NUMBER("LIMIT", "10000", "0.001", "10000000") },
	},
};

static const struct option_group probe_both_options = {
	"Both sides",
	{
		{ "port", "UDP port", INTEGER("N", "4719", "1", "65535") },
		{ "key", "the secret of both sides; packets that do not prove it are dropped",
		  PATH("FILE") },
		{ "open",
		  "work without a key with other machines, too: anybody between can forge the "
		  "clock",
		  FLAG },
		{ "card", "use the clock of this network card, which then stamps all packets",
		  TEXT("INTERFACE") },
		{ "duration", "stop after this time", DURATION(NULL, "0", "1000000h") },
		{ "drift-ppm", "for tests: pretend that this side's clock gains so much",
		  PPM("0", "-100000", "100000") },
		{ "offset", "for tests: and is ahead by so much", DURATION("0", NULL, NULL) },
		{ "since", "for tests: at this time; otherwise at the start", TIME },
		{ "json", "print JSON: a line each round, and one at the end", FLAG },
	},
};

/* Each option is for some of the three. */
static void check_mode(const struct args *args, int mode)
{
	static const struct {
		const struct option_group *group;
		int modes;
	} rows[] = {
		{ &probe_ask_options, ASK },
		{ &probe_serve_options, SERVE },
		{ &probe_both_options, ASK | SERVE },
		{ &options_force, ASK },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (const struct option_row *r = rows[i].group->row; r->name; r++) {
			bool key = mode == MAKE_KEY && !strcmp(r->name, "output");
			if (args_given(args, r->name) && !(rows[i].modes & mode) && !key) {
				say_usage("--%s means nothing to `unskew probe %s`", r->name,
					  mode == ASK	  ? "HOST"
					  : mode == SERVE ? "serve"
							  : "key");
			}
		}
	}
}

/* ---- both sides ----------------------------------------------------------------------- */

static struct probe_side side_of(const struct args *args)
{
	const char *key = args_string(args, "key");
	struct probe_side side = {
		.port = (uint16_t)args_int(args, "port"),
		.card = args_string(args, "card"),
		.open = args_flag(args, "open"),
		.distortion = { .offset_ns = args_int(args, "offset"),
				.drift_e12 = args_int(args, "drift-ppm"),
				.since_ns = args_given(args, "since")
						    ? args_int(args, "since")
						    : usk_clock_ns(CLOCK_REALTIME) },
		.end_ns = args_given(args, "duration")
				  ? usk_probe_mono_ns() + args_int(args, "duration")
				  : INT64_MAX,
	};
	if (key) {
		must(usk_probe_key_read(key, &side.key, &why));
	}
	return side;
}

/* ---- serving --------------------------------------------------------------------------- */

static size_t listen_on(const struct args *args, const struct probe_side *side,
			struct usk_probe_socket *s)
{
	const char *where = args_string(args, "bind");
	bool local = !side->key.set && !side->open;
	size_t n = 0;
	if (where && local && !usk_probe_is_loopback(where)) {
		say_usage("--bind %s: without --key FILE only this machine itself is served; "
			  "--open serves everybody",
			  where);
	}
	if (where || !local) {
		must(usk_probe_listen(where, side->port, side->card, s, &n, &why));
		return n;
	}
	/* Of two ways to this machine itself, one may not be there. */
	static const char *const ways[] = { "127.0.0.1", "::1" };
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < COUNT(ways); i++) {
		size_t more;
		status = usk_probe_listen(ways[i], side->port, side->card, s + n, &more, &why);
		n += status ? 0 : more;
	}
	must(n ? USK_OK : status);
	return n;
}

static void serve(const struct args *args, struct probe_side *side)
{
	/* Twice as many as one name may have: room behind those that are open. */
	struct usk_probe_socket s[2 * USK_PROBE_SOCKETS];
	struct usk_probe_counts counts = { 0 };
	size_t n = listen_on(args, side, s);
	side->stop_fd = end_signals();
	for (size_t i = 0; i < n; i++) {
		s[i].distortion = &side->distortion;
	}
	n = n < USK_PROBE_SOCKETS ? n : USK_PROBE_SOCKETS;
	say(args, "serving %s on port %u%s",
	    side->key.set ? "whoever has the key"
	    : side->open  ? "everybody"
			  : "this machine itself",
	    side->port, side->card ? ", by the network card's clock" : "");
	struct usk_probe_server *server = usk_probe_server_new(
		&side->key, args_number(args, "rate"), args_number(args, "rate-all"));
	usk_probe_answer(server, s, n, side->stop_fd, side->end_ns, &counts);
	usk_probe_server_free(server);
	probe_show_served(stdout, args_flag(args, "json"), &counts);
}

static void make_key(const struct args *args)
{
	const char *path = args_string(args, "output");
	if (!path) {
		say_usage("probe key needs -o FILE");
	}
	must(usk_probe_key_make(path, &why));
	say(args, "%s: a new key; copy it to the other machine over a secure connection", path);
}

static int probe_run(const struct args *args)
{
	const char *what = args_operand(args, 0);
	int mode = !strcmp(what, "serve") ? SERVE : !strcmp(what, "key") ? MAKE_KEY : ASK;
	static struct probe_side side;
	check_mode(args, mode);
	must(usk_probe_ready(&why));
	if (mode == MAKE_KEY) {
		make_key(args);
		return EXIT_DONE;
	}
	side = side_of(args);
	if (mode == SERVE) {
		serve(args, &side);
	} else {
		probe_watch(args, what, &side);
	}
	return EXIT_DONE;
}

const struct command cmd_probe = {
	.name = "probe",
	.run = probe_run,
	OPERANDS("HOST|serve|key", 1, 1),
	.example = {
		{ "make the secret, and copy it to both machines", "probe key --key probe.key" },
		{ "the machine whose clock is asked for", "probe serve --key probe.key" },
		{ "ask it once a second for a minute, and keep the exchanges for sync", "probe server.example --key probe.key --period 1s --count 60 -o exchanges.csv" },
	},
	.brief = { "output", "live", "period", "duration", "key", "json", "force" },
	.help = "measure another machine's clock now, by probes over the network",
	.more = "`unskew probe serve` answers on one machine, `unskew probe HOST` asks on another; "
		"`unskew probe key -o FILE` makes the key that both need, unless both are this "
		"machine itself. Each round is a burst of probes back to back. If the network "
		"changed the spacing of all of them the burst is repeated, and once more half a "
		"period later. A line each round has the offset of the other clock: add it to a "
		"stamp of HOST. Its error is at most the bound after the \xc2\xb1, if the rate "
		"between the two clocks stays within --allowance-ppm of what it was (Loeser 2003), "
		"and no probe arrived before it left. While rounds fail the bound grows. -o gets "
		"the exchanges that kept their spacing, or the quickest of a round in which none "
		"did, for `unskew sync`.\n\n"
		"Stamps are the kernel's, of CLOCK_REALTIME; where it gives none, this process "
		"reads the clock before it sends and after it received, which is safe and less "
		"precise. With --card they are those of a network card, which has a clock of its "
		"own. A time daemon changes a clock's rate by more than quartz does: state by how "
		"much with --allowance-ppm.\n\n"
		"--json prints an object a line: for each round its number, its state (new; kept: "
		"the bound from before is tighter; rough: no pair kept its spacing; no answer; a "
		"clock was set), there_ns and here_ns, the readings of the two clocks at one "
		"moment, offset_ns, precision_ns (the error bound), drift_ppm of HOST's clock and "
		"its error, age_ns since the exchange that the bound rests on; at the end an "
		"object of counts.",
	.group = { &probe_ask_options, &probe_serve_options, &probe_both_options, &options_force,
		   &options_common },
};
