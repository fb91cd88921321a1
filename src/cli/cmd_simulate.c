/* SPDX-License-Identifier: MIT */
/*
 * cmd_simulate.c - captures and message tables whose truth is known
 *
 * In    options: clocks, network, stacks, captures, a seed
 * Out   DIR with a capture per host, messages.csv and truth.json
 * Not   the simulation itself: sim/
 */
#include "simulate.h"
#include "units.h"

#include <math.h>

static void take_values(const struct args *args, struct sim_options *o)
{
	o->seed = (uint64_t)args_int(args, "seed");
	o->hosts = (uint32_t)args_int(args, "hosts");
	o->topology = (enum sim_topology)args_int(args, "topology");
	o->duration_ns = (int64_t)llround(args_number(args, "seconds") * 1e9);
	o->start_ns = args_ns(args, "start");
	o->format = (enum sim_format)args_int(args, "format");
	o->traffic = (enum sim_traffic)args_int(args, "proto");
	o->rate = args_number(args, "rate");
	o->islands = (uint32_t)args_int(args, "islands");
	o->neighbours = (uint32_t)args_int(args, "neighbours");
	o->period_ns = args_ns(args, "period");
	o->answer_ns = args_ns(args, "answer");
	o->one_way = args_flag(args, "one-way");
	o->broadcast = args_number(args, "broadcast");
	o->load_heavy = args_number(args, "load-heavy");
	o->load_receivers = args_flag(args, "load-receivers");
	o->packets = (uint64_t)args_int(args, "packets");
	o->connections = (uint32_t)args_int(args, "connections");
	o->tso = args_flag(args, "tso");
	o->bytes = args_given(args, "bytes") ? (uint32_t)args_int(args, "bytes")
		   : o->tso		     ? 65000
					     : 1400;
	o->temperature_ns = args_ns(args, "temperature-period");
	o->poll_error_ns = args_ns(args, "poll-error");
	o->slew_e12 = args_e12(args, "slew-ppm");
	o->chatter = args_number(args, "chatter");
	o->tail_ns = args_ns(args, "tail");
	o->tail_stages = (uint32_t)args_int(args, "tail-stages");
	o->asym_ns = args_ns(args, "asym");
	o->heavy = args_number(args, "heavy");
	o->loss = args_number(args, "loss");
	o->dup = args_number(args, "dup");
	o->reorder = args_number(args, "reorder");
	o->retrans = args_number(args, "retrans");
	o->hops = (uint32_t)args_int(args, "ttl-hops");
	o->nat = args_flag(args, "nat");
	o->mtu = (uint32_t)args_int(args, "mtu");
	o->gro = args_flag(args, "gro");
	o->ipv6 = args_flag(args, "ipv6");
	o->timestamps = args_int(args, "timestamps") == 0;
	o->sack = args_int(args, "sack") == 0;
	o->ip_id = args_int(args, "ip-id") == 0;
	o->snaplen = (uint32_t)args_int(args, "snaplen");
	o->resolution_ns = args_int(args, "resolution") ? 1000 : 1;
	o->late_ns = args_ns(args, "late");
	o->capture_loss = args_number(args, "capture-loss");
}

static int simulate(const struct args *args, struct sim_options *o, const char *dir)
{
	struct sim_result made;
	struct usk_err err = { 0 };
	struct progress progress = progress_start(args);
	o->progress = progress_show;
	o->progress_ctx = &progress;
	enum usk_status status = sim_run(o, dir, args_flag(args, "force"), &made, &err);
	progress_end(&progress);
	if (status) {
		return say_error(&err);
	}
	struct text messages = unit_count(made.messages);
	if (o->format == SIM_TABLE) {
		say(args, "%s: %s messages in messages.csv, clocks in truth.json", dir, messages.s);
	} else {
		say(args,
		    "%s: %s packets in captures of %u hosts, %s messages in messages.csv, clocks "
		    "in truth.json",
		    dir, unit_count(made.packets).s, o->hosts, messages.s);
	}
	return EXIT_DONE;
}

static int simulate_command(const struct args *args)
{
	const char *dir = args_string(args, "output");
	if (!dir) {
		return say_usage("simulate needs -o DIR; see `unskew help simulate`");
	}
	struct sim_options o;
	struct usk_err err = { 0 };
	sim_options_init(&o);
	take_values(args, &o);
	enum usk_status status = simulate_lists(args, &o, &err);
	int result = status ? say_error(&err) : simulate(args, &o, dir);
	simulate_lists_free(&o);
	return result;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.run = simulate_command,
	.operands = "",
	.min_operands = 0,
	.max_operands = 0,
	.help = "make captures or message tables whose truth is known",
	.more = "DIR gets host0.pcap, host1.pcap and so on, messages.csv and truth.json. "
		"messages.csv is the true message table, in stamps as recorded; its column "
		"`unambiguous` is 1 where the captures tell which send a receive belongs to. "
		"truth.json holds what every clock read at 1,001 moments of true time and on both "
		"sides of every jump; broadcasts.csv, who received each broadcast when.",
	.group = { &simulate_run, &simulate_clocks, &simulate_settings, &simulate_traffic,
		   &simulate_network, &simulate_stacks, &simulate_captures, &options_force,
		   &options_common },
};
