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
#include <stdlib.h>
#include <string.h>

static const struct option_group simulate_run = {
	"Run",
	(const struct option_row[]){
		{ .name = "output",
		  .letter = 'o',
		  .type = OPTION_FILE,
		  .value = "DIR",
		  .help = "where to write; made if missing" },
		{ .name = "seed",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "1",
		  .min = "0",
		  .help = "same options and seed, same bytes" },
		{ .name = "hosts",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "2",
		  .min = "2",
		  .max = "1000",
		  .help = "hosts, named host0, host1 and so on" },
		{ .name = "topology",
		  .type = OPTION_CHOICE,
		  .value = "mesh|chain|star|ring",
		  .initial = "mesh",
		  .help = "who talks to whom: all pairs, neighbours, all with host0, a circle" },
		{ .name = "seconds",
		  .type = OPTION_NUMBER,
		  .value = "S",
		  .initial = "60",
		  .min = "0.000001",
		  .max = "4000000000",
		  .help = "how long, in true time" },
		{ .name = "start",
		  .type = OPTION_TIME,
		  .value = "TIME",
		  .initial = "1700000000s",
		  .help = "true time at the start" },
		{ .name = "format",
		  .type = OPTION_CHOICE,
		  .value = "pcap|pcapng|table",
		  .initial = "pcap",
		  .help = "captures, or only the message table: clocks, delays and loss, no "
			  "packets" },
		{ 0 },
	},
};

static const struct option_group simulate_clocks = {
	"Clocks",
	(const struct option_row[]){
		{ .name = "offset",
		  .type = OPTION_STRING,
		  .value = "LIST",
		  .initial = "1s",
		  .help = "how far clocks are ahead of true time at the start: one duration for "
			  "all "
			  "but host0, which keeps true time, or one per host from host0 on, the "
			  "last for all further ones" },
		{ .name = "drift-ppm",
		  .type = OPTION_STRING,
		  .value = "LIST",
		  .initial = "20",
		  .help = "how much they gain, a list as for --offset" },
		{ 0 },
	},
};

static const struct option_group simulate_traffic = {
	"Traffic",
	(const struct option_row[]){
		{ .name = "proto",
		  .type = OPTION_CHOICE,
		  .value = "tcp|udp|icmp|mix",
		  .initial = "tcp",
		  .help = "what carries the messages; mix is 80 % TCP" },
		{ .name = "rate",
		  .type = OPTION_NUMBER,
		  .value = "N",
		  .initial = "100",
		  .min = "0.000000001",
		  .max = "100000000",
		  .help = "messages a second and direction, of each pair that talks" },
		{ .name = "packets",
		  .type = OPTION_INT,
		  .value = "N",
		  .min = "1",
		  .help = "instead of --rate: about so many packets in each capture" },
		{ .name = "connections",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "2",
		  .min = "1",
		  .max = "1000",
		  .help = "connections of a pair at a time; the first lasts, the others come and "
			  "go" },
		{ .name = "bytes",
		  .type = OPTION_INT,
		  .value = "N",
		  .min = "16",
		  .max = "16777216",
		  .help = "of the largest message (default 1400, 65000 with --tso)" },
		{ .name = "chatter",
		  .type = OPTION_NUMBER,
		  .value = "N",
		  .initial = "0",
		  .min = "0",
		  .max = "100000000",
		  .help = "unrelated packets a second at each host" },
		{ 0 },
	},
};

static const struct option_group simulate_network = {
	"Network",
	(const struct option_row[]){
		{ .name = "dmin",
		  .type = OPTION_DURATION,
		  .value = "DURATION",
		  .initial = "50us",
		  .min = "0",
		  .max = "1s",
		  .help = "smallest delay" },
		{ .name = "tail",
		  .type = OPTION_DURATION,
		  .value = "DURATION",
		  .initial = "50us",
		  .min = "0",
		  .max = "1s",
		  .help = "mean of what is added to it, exponential" },
		{ .name = "heavy",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .help = "share of packets that wait far longer (Pareto, shape 1.5)" },
		{ .name = "asym",
		  .type = OPTION_DURATION,
		  .value = "DURATION",
		  .initial = "0",
		  .min = "0",
		  .max = "1s",
		  .help = "the way from a lower to a higher host takes so much longer" },
		{ .name = "loss",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .help = "share of packets that are lost" },
		{ .name = "dup",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .help = "share that the network delivers twice" },
		{ .name = "reorder",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .help = "share that is overtaken" },
		{ .name = "ttl-hops",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "1",
		  .min = "0",
		  .max = "60",
		  .help = "routers on the way" },
		{ .name = "nat",
		  .help = "clients' addresses and ports differ between the two captures" },
		{ .name = "mtu",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "1500",
		  .min = "576",
		  .max = "9216",
		  .help = "largest packet" },
		{ 0 },
	},
};

static const struct option_group simulate_stacks = {
	"Stacks",
	(const struct option_row[]){
		{ .name = "retrans",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .help = "share of TCP segments sent again for no reason" },
		{ .name = "tso",
		  .help = "senders hand down segments of up to 64 KiB, which the card cuts" },
		{ .name = "gro", .help = "receivers merge segments that arrive together" },
		{ .name = "ipv6", .help = "IPv6 instead of IPv4" },
		{ .name = "timestamps",
		  .type = OPTION_CHOICE,
		  .value = "on|off",
		  .initial = "on",
		  .help = "TCP timestamps" },
		{ .name = "sack",
		  .type = OPTION_CHOICE,
		  .value = "on|off",
		  .initial = "on",
		  .help = "TCP selective acknowledgements" },
		{ .name = "ip-id",
		  .type = OPTION_CHOICE,
		  .value = "on|off",
		  .initial = "on",
		  .help = "IPv4 identifications that count packets, or are 0" },
		{ 0 },
	},
};

static const struct option_group simulate_captures = {
	"Captures",
	(const struct option_row[]){
		{ .name = "snaplen",
		  .type = OPTION_INT,
		  .value = "N",
		  .initial = "96",
		  .min = "48",
		  .max = "262144",
		  .help = "bytes kept of each packet" },
		{ .name = "resolution",
		  .type = OPTION_CHOICE,
		  .value = "ns|us",
		  .initial = "ns",
		  .help = "of stamps" },
		{ .name = "link",
		  .type = OPTION_STRING,
		  .value = "LIST",
		  .initial = "ethernet",
		  .help = "link type per host, the last for all further ones: ethernet, sll, sll2, "
			  "raw, null" },
		{ .name = "vlan",
		  .type = OPTION_STRING,
		  .value = "LIST",
		  .initial = "0",
		  .help = "VLAN tags per host, the last for all further ones: 0, 1, 2" },
		{ .name = "late",
		  .type = OPTION_DURATION,
		  .value = "DURATION",
		  .initial = "0",
		  .min = "0",
		  .help = "all captures but host0's start so much later" },
		{ .name = "capture-loss",
		  .type = OPTION_PROBABILITY,
		  .value = "P",
		  .initial = "0",
		  .max = "0.99",
		  .help = "share of packets that a capture misses" },
		{ 0 },
	},
};

/* ---- lists ------------------------------------------------------------------------ */

typedef enum usk_status item_parser(const char *text, size_t n, int64_t *out, struct usk_err *err);

static enum usk_status parse_rate(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	bool exact;
	enum usk_status status = usk_parse_decimal(text, n, 6, out, &exact, err);
	if (!status && !exact) {
		status = usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" is finer than 0.000001 ppm", (int)n,
				  text);
	}
	return status;
}

static enum usk_status parse_link(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	static const struct {
		const char *name;
		enum sim_link link;
	} rows[] = {
		{ "ethernet", SIM_ETHERNET }, { "sll", SIM_SLL },   { "sll2", SIM_SLL2 },
		{ "raw", SIM_RAW },	      { "null", SIM_NULL },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (strlen(rows[i].name) == n && !memcmp(rows[i].name, text, n)) {
			*out = rows[i].link;
			return USK_OK;
		}
	}
	return usk_fail(err, USK_EUSAGE, 0,
			"\"%.*s\" is no link type; choose from: ethernet, sll, sll2, raw, null",
			(int)n, text);
}

/* "1s,2s": the values of an option, malloc'ed. */
static enum usk_status parse_list(const struct args *args, const char *option, item_parser *parse,
				  struct sim_list *out, struct usk_err *err)
{
	const char *text = args_string(args, option);
	int64_t *v = NULL;
	size_t n = 0, cap = 0;
	for (;;) {
		size_t len = strcspn(text, ",");
		v = usk_room(v, n, &cap, sizeof *v);
		enum usk_status status = parse(text, len, &v[n++], err);
		if (status) {
			free(v);
			usk_fail_in(err, "--%s", option);
			err->code = USK_EUSAGE; /* whatever it is, it came from the command line */
			return USK_EUSAGE;
		}
		if (!text[len]) {
			break;
		}
		text += len + 1;
	}
	out->v = v;
	out->n = n;
	return USK_OK;
}

/* ---- run ---------------------------------------------------------------------------- */

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
	o->packets = (uint64_t)args_int(args, "packets");
	o->connections = (uint32_t)args_int(args, "connections");
	o->tso = args_flag(args, "tso");
	o->bytes = args_given(args, "bytes") ? (uint32_t)args_int(args, "bytes")
		   : o->tso		     ? 65000
					     : 1400;
	o->chatter = args_number(args, "chatter");
	o->dmin_ns = args_ns(args, "dmin");
	o->tail_ns = args_ns(args, "tail");
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

static int simulate(const struct args *args, const struct sim_options *o, const char *dir)
{
	struct sim_result made;
	struct usk_err err = { 0 };
	if (sim_run(o, dir, args_flag(args, "force"), &made, &err)) {
		return say_error(&err);
	}
	char messages[UNIT_TEXT], packets[UNIT_TEXT];
	unit_count(made.messages, messages);
	unit_count(made.packets, packets);
	if (o->format == SIM_TABLE) {
		say(args, "%s: %s messages in messages.csv, clocks in truth.json", dir, messages);
	} else {
		say(args,
		    "%s: %s packets in captures of %u hosts, %s messages in messages.csv, clocks "
		    "in truth.json",
		    dir, packets, o->hosts, messages);
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
	struct sim_list offset = { 0 }, drift = { 0 }, link = { 0 }, vlan = { 0 };
	struct usk_err err = { 0 };
	sim_options_init(&o);
	take_values(args, &o);
	enum usk_status status = parse_list(args, "offset", usk_parse_duration, &offset, &err);
	if (!status) {
		status = parse_list(args, "drift-ppm", parse_rate, &drift, &err);
	}
	if (!status) {
		status = parse_list(args, "link", parse_link, &link, &err);
	}
	if (!status) {
		status = parse_list(args, "vlan", usk_parse_int, &vlan, &err);
	}
	int result;
	if (status) {
		result = say_error(&err);
	} else {
		o.offset_ns = offset;
		o.drift_e12 = drift;
		o.link = link;
		o.vlan = vlan;
		result = simulate(args, &o, dir);
	}
	free((void *)(uintptr_t)offset.v);
	free((void *)(uintptr_t)drift.v);
	free((void *)(uintptr_t)link.v);
	free((void *)(uintptr_t)vlan.v);
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
		"truth.json holds what every clock read at 1,001 moments of true time.",
	.group = { &simulate_run, &simulate_clocks, &simulate_traffic, &simulate_network,
		   &simulate_stacks, &simulate_captures, &options_force, &options_common },
};
