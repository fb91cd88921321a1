/* SPDX-License-Identifier: MIT */
/*
 * cmd_simulate.c - captures and message tables whose truth is known
 *
 * In    options: clocks, network, stacks, captures, a seed
 * Out   DIR with a capture per host, messages.csv and truth.json
 * Not   the simulation itself: sim/
 */
#include "cmd.h"
#include "sim.h"
#include "units.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* Whatever is wrong with it, it came from the command line. */
static void of_option(enum usk_status status, const char *option)
{
	if (status) {
		say_usage("--%s: %s", option, why.msg);
	}
}

/* ---- what happens to one host --------------------------------------------------------- */

/* "host3" or "3", up to one of the characters of `end`; *text is moved behind that. */
static uint32_t parse_host(const char **text, char end, const char *option)
{
	const char *stop = strchr(*text, end), *number = *text;
	int64_t n = -1;
	number += strncmp(number, "host", 4) ? 0 : 4;
	if (!stop || stop <= number || *number < '0' || *number > '9' ||
	    usk_parse_int(number, (size_t)(stop - number), &n, NULL) || n > 999) {
		say_usage("--%s: \"%s\" does not begin with a host: host1%c", option, *text, end);
	}
	*text = stop + 1;
	return (uint32_t)n;
}

/* "host1@30s:-1ms" */
static void parse_step(const char *text, const char *option, struct sim_step *s)
{
	s->host = parse_host(&text, '@', option);
	const char *colon = strchr(text, ':');
	if (!colon) {
		say_usage("--%s: \"%s\" lacks a colon and what follows", option, text);
	}
	of_option(usk_parse_duration(text, (size_t)(colon - text), &s->after_ns, &why), option);
	of_option(usk_parse_duration(colon + 1, strlen(colon + 1), &s->size_ns, &why), option);
}

static void parse_steps(const struct args *args, struct sim_options *o)
{
	static const char *const option[] = { "step", "suspend" };
	size_t n[2];
	const char *const *text[2] = { args_list(args, option[0], &n[0]),
				       args_list(args, option[1], &n[1]) };
	struct sim_step *step = kept(usk_alloc(n[0] + n[1] + 1, sizeof *step));
	o->step = step;
	for (int sleep = 0; sleep < 2; sleep++) {
		for (size_t i = 0; i < n[sleep]; i++) {
			step[o->n_steps].sleep = sleep;
			parse_step(text[sleep][i], option[sleep], &step[o->n_steps++]);
		}
	}
}

static void read_series(const struct args *args, struct sim_options *o)
{
	const char *const *text = args_list(args, "clock-error", &o->n_series);
	struct sim_series *series = kept(usk_alloc(o->n_series + 1, sizeof *series));
	o->series = series;
	for (size_t i = 0; i < o->n_series; i++) {
		const char *path = text[i];
		uint32_t host = parse_host(&path, '=', "clock-error");
		must(sim_series_read(path, host, &series[i], &why));
	}
}

/* ---- options ----------------------------------------------------------------------------- */

/* The rows of --link, and of their places the types. */
static const char *const link_names[] = { "ethernet", "sll", "sll2", "raw", "null", NULL };
static const int64_t link_types[] = { SIM_ETHERNET, SIM_SLL, SIM_SLL2, SIM_RAW, SIM_NULL };

static const char *link_name(size_t i)
{
	return link_names[i];
}

static struct sim_list take_list(const struct args *args, const char *option)
{
	struct sim_list list;
	list.v = args_ints(args, option, &list.n);
	return list;
}

static void take_lists(const struct args *args, struct sim_options *o)
{
	const char *dmin = args_string(args, "dmin");
	const struct sim_list sizes = take_list(args, "step-sizes"), link = take_list(args, "link");
	o->offset_ns = take_list(args, "offset");
	o->drift_e12 = take_list(args, "drift-ppm");
	o->wander_e15 = take_list(args, "wander-ppb");
	o->flicker_e15 = take_list(args, "flicker-ppb");
	o->ageing_e15 = take_list(args, "ageing-ppb");
	o->temperature_e12 = take_list(args, "temperature-ppm");
	o->poll_ns = take_list(args, "poll");
	o->steps = take_list(args, "steps");
	o->straggle_ns = take_list(args, "straggle");
	o->load_ns = take_list(args, "load");
	o->load_least_ns = take_list(args, "load-least");
	o->vlan = take_list(args, "vlan");
	int64_t *type = kept(usk_alloc(link.n, sizeof *type));
	for (size_t i = 0; i < link.n; i++) {
		type[i] = link_types[link.v[i]];
	}
	o->link = (struct sim_list){ type, link.n };
	if (sizes.n != 2) {
		say_usage("--step-sizes takes two, MIN,MAX");
	}
	o->step_min_ns = sizes.v[0];
	o->step_max_ns = sizes.v[1];
	of_option(usk_delay_model_parse(dmin, strlen(dmin), &o->dmin, &why), "dmin");
	parse_steps(args, o);
	read_series(args, o);
}

static void take_values(const struct args *args, struct sim_options *o)
{
	o->seed = (uint64_t)args_int(args, "seed");
	o->hosts = (uint32_t)args_int(args, "hosts");
	o->topology = (enum sim_topology)args_int(args, "topology");
	o->duration_ns = (int64_t)llround(args_number(args, "seconds") * 1e9);
	o->start_ns = args_int(args, "start");
	o->format = (enum sim_format)args_int(args, "format");
	o->traffic = (enum sim_traffic)args_int(args, "proto");
	o->rate = args_number(args, "rate");
	o->collectives = (enum sim_collectives)args_int(args, "collectives");
	o->format = o->collectives ? SIM_TABLE : o->format;
	o->compute_ns = args_int(args, "compute");
	o->compute_spread_ns = args_int(args, "compute-spread");
	o->islands = (uint32_t)args_int(args, "islands");
	o->neighbours = (uint32_t)args_int(args, "neighbours");
	o->period_ns = args_int(args, "period");
	o->answer_ns = args_int(args, "answer");
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
	o->temperature_ns = args_int(args, "temperature-period");
	o->poll_error_ns = args_int(args, "poll-error");
	o->slew_e12 = args_int(args, "slew-ppm");
	o->chatter = args_number(args, "chatter");
	o->tail_ns = args_int(args, "tail");
	o->tail_stages = (uint32_t)args_int(args, "tail-stages");
	o->asym_ns = args_int(args, "asym");
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
	o->clock_logs = args_flag(args, "clock-logs");
	o->late_ns = args_int(args, "late");
	o->capture_loss = args_number(args, "capture-loss");
}

static void simulate(const struct args *args, struct sim_options *o, const char *dir)
{
	struct sim_result made;
	progress_start(args);
	o->progress = progress_show;
	must(sim_run(o, dir, args_flag(args, "force"), &made, &why));
	progress_end();
	struct text messages = unit_count(made.messages);
	if (o->collectives) {
		say(args,
		    "%s: %s parts of collectives in collectives.csv, who came last in late.csv, "
		    "clocks in truth.json",
		    dir, messages.s);
	} else if (o->format == SIM_TABLE) {
		say(args, "%s: %s messages in messages.csv, clocks in truth.json", dir, messages.s);
	} else {
		say(args,
		    "%s: %s packets in captures of %u hosts, %s messages in messages.csv, clocks "
		    "in truth.json",
		    dir, unit_count(made.packets).s, o->hosts, messages.s);
	}
}

static int simulate_command(const struct args *args)
{
	static struct sim_options o;
	const char *dir = args_string(args, "output");
	if (!dir) {
		say_usage("simulate needs -o DIR; see `unskew help simulate`");
	}
	sim_options_init(&o);
	take_values(args, &o);
	take_lists(args, &o);
	simulate(args, &o, dir);
	return EXIT_DONE;
}

static const struct option_group simulate_run = {
	"Run",
	{
		{ "output", "where to write; made if missing", PATH("DIR"), .letter = 'o' },
		{ "seed", "same options and seed, same bytes", INTEGER("N", "1", "0", NULL) },
		{ "hosts", "hosts, named host0, host1 and so on", INTEGER("N", "2", "2", "1000") },
		{ "topology",
		  "who talks to whom: all pairs, neighbours, all with host0, a circle, two "
		  "children each, separate meshes, a few random neighbours each, three quarters of "
		  "all pairs",
		  CHOICE("mesh|chain|star|ring|tree|islands|sparse|dense"), .initial = "mesh" },
		{ "islands", "meshes of --topology islands", INTEGER("N", "2", "1", "500") },
		{ "neighbours", "of each host of --topology sparse",
		  INTEGER("N", "4", "1", "999") },
		{ "seconds", "how long, in true time",
		  NUMBER("S", "60", "0.000001", "4000000000") },
		{ "start", "true time at the start", TIME, .initial = "1700000000s" },
		{ "format",
		  "captures, or only the message table: clocks, delays and loss, no packets",
		  CHOICE("pcap|pcapng|table"), .initial = "pcap" },
	},
};

static const struct option_group simulate_clocks = {
	"Clocks",
	{
		{ "offset",
		  "how far clocks are ahead of true time at the start: one duration for all but "
		  "host0, which keeps true time, or one per host from host0 on, the last for all "
		  "further ones",
		  LIST(DURATION, "1s") },
		{ "drift-ppm", "how much they gain, a list as for --offset", LIST(PPM, "20") },
		{ "wander-ppb",
		  "random walk of their rates, ppb per root second, a list as for --offset",
		  LIST(PPM, NULL) },
		{ "flicker-ppb", "flicker of their rates: the floor of the Allan deviation, a list",
		  LIST(PPM, NULL) },
		{ "ageing-ppb", "by how much their rates grow in a day, a list", LIST(PPM, NULL) },
		{ "temperature-ppm", "their rates go up and down by so much, a list",
		  LIST(PPM, NULL) },
		{ "temperature-period", "up and down again", DURATION("15min", "1ms", NULL) },
		{ "clock-error",
		  "a measured clock error, how far the clock is ahead, added to the rest: CSV with "
		  "the columns seconds, offset_seconds; two rows of one time are a step",
		  TEXTS("HOST=FILE") },
	},
};

static const struct option_group simulate_settings = {
	"Clocks that are set",
	{
		{ "poll",
		  "a time daemon measures its clock's error so often and slews it away until the "
		  "next time; it knows the drift at the start; a list as for --offset, 0: none",
		  LIST(DURATION, NULL) },
		{ "poll-error", "error of that measurement, standard deviation",
		  DURATION("50us", "0", "1s") },
		{ "slew-ppm", "fastest slew", PPM("200", "0", "10000") },
		{ "step",
		  "step a clock forward, or backward with a minus: host1@30s:-1ms is 30 s after "
		  "the start",
		  TEXTS("HOST@TIME:SIZE") },
		{ "steps", "so many steps at random moments, a list as for --offset",
		  LIST(INT, NULL) },
		{ "step-sizes",
		  "their sizes, forward or backward, small ones as likely as large ones",
		  .type = OPTION_DURATION, .value = "MIN,MAX", .initial = "200us,1s",
		  .list = true },
		{ "suspend", "a host sleeps: its clock stands still, it neither sends nor receives",
		  TEXTS("HOST@TIME:DURATION") },
	},
};

static const struct option_group simulate_traffic = {
	"Traffic",
	{
		{ "proto", "what carries the messages; mix is 80 % TCP", CHOICE("tcp|udp|icmp|mix"),
		  .initial = "tcp" },
		{ "rate", "messages a second and direction, of each pair that talks",
		  NUMBER("N", "100", "0.000000001", "100000000") },
		{ "period",
		  "instead of --rate: a message every so often in each direction, not at random",
		  DURATION(NULL, "1ns", "1000d") },
		{ "answer",
		  "mean time until a message is answered; in tables the lower host then begins, "
		  "and the other one only answers (default: 20 to 100 us in captures, no answers "
		  "in tables)",
		  DURATION(NULL, "1ns", "1000d") },
		{ "one-way",
		  "messages from the lower to the higher host only, in a ring all in one "
		  "direction; tables and UDP",
		  FLAG },
		{ "broadcast", "broadcasts a second of each host, to all that it talks to",
		  NUMBER("N", "0", "0", "100000000") },
		{ "packets", "instead of --rate: about so many packets in each capture",
		  INTEGER("N", NULL, "1", NULL) },
		{ "connections",
		  "connections of a pair at a time; the first lasts, the others come and go",
		  INTEGER("N", "2", "1", "1000") },
		{ "bytes", "of the largest message (default 1400, 65000 with --tso)",
		  INTEGER("N", NULL, "16", "16777216") },
		{ "chatter", "unrelated packets a second at each host",
		  NUMBER("N", "0", "0", "100000000") },
	},
};

static const struct option_group simulate_cluster = {
	"Clusters",
	{
		{ "collectives",
		  "instead of messages: all hosts compute and then wait for all in a collective, "
		  "allreduce only or a mix of kinds; --dmin and --tail are what a transfer takes",
		  CHOICE("none|allreduce|mix"), .initial = "none" },
		{ "compute", "how long each computes before a collective, at least",
		  DURATION("5ms", "1ns", "1000s") },
		{ "compute-spread", "mean of what is added to it at random",
		  DURATION("100us", "0", "1s") },
		{ "straggle",
		  "so much longer do hosts compute, a list as for --offset: 0,0,0,2ms,0 for host3",
		  LIST(DURATION, NULL) },
	},
};

static const struct option_group simulate_network = {
	"Network",
	{
		{ "dmin", "smallest delay: BASE[+FIRST][+PER_BYTE/B], as 520us+14us+1.032us/B",
		  TEXT("MODEL"), .initial = "50us" },
		{ "tail", "mean of what is added to it, exponential", DURATION("50us", "0", "1s") },
		{ "tail-stages",
		  "it is the sum of so many waits of one mean (Erlang): the more, the fewer "
		  "packets come near the smallest delay",
		  INTEGER("N", "1", "1", "100") },
		{ "heavy", "share of packets that wait far longer (Pareto, shape 1.5)",
		  PROBABILITY("P", "0") },
		{ "asym", "the path from a lower to a higher host takes so much longer",
		  DURATION("0", "0", "1s") },
		{ "load",
		  "mean of what a busy host adds to each message it sends or receives, "
		  "exponential; a list as for --offset",
		  LIST(DURATION, NULL) },
		{ "load-least", "the least that it adds, a list", LIST(DURATION, NULL) },
		{ "load-heavy", "share of its messages that wait far longer",
		  PROBABILITY("P", "0") },
		{ "load-receivers",
		  "a busy host delays only what it receives, so that the two directions differ",
		  FLAG },
		{ "loss", "share of packets that are lost", PROBABILITY("P", "0") },
		{ "dup", "share that the network delivers twice", PROBABILITY("P", "0") },
		{ "reorder", "share that is overtaken", PROBABILITY("P", "0") },
		{ "ttl-hops", "routers on the way", INTEGER("N", "1", "0", "60") },
		{ "nat", "clients' addresses and ports differ between the two captures", FLAG },
		{ "mtu", "largest packet", INTEGER("N", "1500", "576", "9216") },
	},
};

static const struct option_group simulate_stacks = {
	"Stacks",
	{
		{ "retrans", "share of TCP segments sent again for no reason",
		  PROBABILITY("P", "0") },
		{ "tso", "senders hand down segments of up to 64 KiB, which the card cuts", FLAG },
		{ "gro", "receivers merge segments that arrive together", FLAG },
		{ "ipv6", "IPv6 instead of IPv4", FLAG },
		{ "timestamps", "TCP timestamps", CHOICE("on|off"), .initial = "on" },
		{ "sack", "TCP selective acknowledgements", CHOICE("on|off"), .initial = "on" },
		{ "ip-id", "IPv4 identifications that count packets, or are 0", CHOICE("on|off"),
		  .initial = "on" },
	},
};

static const struct option_group simulate_captures = {
	"Captures",
	{
		{ "snaplen", "bytes kept of each packet", INTEGER("N", "96", "48", "262144") },
		{ "resolution", "of stamps", CHOICE("ns|us"), .initial = "ns" },
		{ "link",
		  "link type per host, the last for all further ones: ethernet, sll, sll2, raw, "
		  "null",
		  LIST(CHOICE, "ethernet"), .choice = link_name },
		{ "vlan", "VLAN tags per host, the last for all further ones: 0, 1, 2",
		  LIST(INT, "0") },
		{ "clock-logs",
		  "also write HOST.clock.csv: each clock against its own oscillator, a line a "
		  "second, as unskew record writes it and sync --clock-log reads it",
		  FLAG },
		{ "late", "all captures but host0's start so much later",
		  DURATION("0", "0", NULL) },
		{ "capture-loss", "share of packets that a capture misses", PROBABILITY("P", "0"),
		  .max = "0.99" },
	},
};

const struct command cmd_simulate = {
	.name = "simulate",
	.run = simulate_command,
	.operands = "",
	.example = {
		{ "two captures whose true clocks are known", "simulate -o demo --offset 957ms --drift-ppm 21" },
		{ "ten hosts that NTP steers, one of which is stepped", "simulate -o ten --hosts 10 --poll 64s --step host3@30s:-5ms" },
		{ "a lossy network behind NAT", "simulate -o lossy --loss 1% --nat --tso --gro" },
	},
	.brief = { "output", "hosts", "topology", "seconds", "format", "offset", "drift-ppm", "step", "seed", "rate", "force" },
	.help = "make captures or message tables with known true clocks",
	.more = "DIR gets host0.pcap, host1.pcap and so on, messages.csv and truth.json. "
		"messages.csv is the true message table, in stamps as recorded; its column "
		"`unambiguous` is 1 where the captures tell which send a receive belongs to. "
		"truth.json holds what every clock read at 1,001 moments of true time, where its "
		"rate changes and on both sides of every step: between them it is straight to "
		"off_ns; broadcasts.csv, who received each broadcast when. With "
		"--collectives, collectives.csv has who came to each and went when, late.csv who "
		"truly came last.",
	.group = { &simulate_run, &simulate_clocks, &simulate_settings, &simulate_traffic, &simulate_cluster,
		   &simulate_network, &simulate_stacks, &simulate_captures, &options_force,
		   &options_common },
};
