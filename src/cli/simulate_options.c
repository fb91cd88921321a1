/* SPDX-License-Identifier: MIT */
/* The options of `unskew simulate`; what they mean is in sim/sim.h. */
#include "simulate.h"

const struct option_group simulate_run = {
	"Run",
	(const struct option_row[]){
		{ "output", "where to write; made if missing", PATH("DIR"), .letter = 'o' },
		{ "seed", "same options and seed, same bytes", INTEGER("N", "1", "0", NULL) },
		{ "hosts", "hosts, named host0, host1 and so on", INTEGER("N", "2", "2", "1000") },
		{ "topology",
		  "who talks to whom: all pairs, neighbours, all with host0, a circle, two "
		  "children each, meshes apart, a few random neighbours each, three quarters of "
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
		{ 0 },
	},
};

const struct option_group simulate_clocks = {
	"Clocks",
	(const struct option_row[]){
		{ "offset",
		  "how far clocks are ahead of true time at the start: one duration for all but "
		  "host0, which keeps true time, or one per host from host0 on, the last for all "
		  "further ones",
		  TEXT("LIST"), .initial = "1s" },
		{ "drift-ppm", "how much they gain, a list as for --offset", TEXT("LIST"),
		  .initial = "20" },
		{ "wander-ppb",
		  "random walk of their rates, ppb per root second, a list as for --offset",
		  TEXT("LIST") },
		{ "flicker-ppb", "flicker of their rates: the floor of the Allan deviation, a list",
		  TEXT("LIST") },
		{ "ageing-ppb", "by how much their rates grow in a day, a list", TEXT("LIST") },
		{ "temperature-ppm", "their rates go up and down by so much, a list",
		  TEXT("LIST") },
		{ "temperature-period", "up and down again", DURATION("15min", "1ms", NULL) },
		{ "clock-error",
		  "what a clock was found to be ahead, added to the rest: CSV with the columns "
		  "seconds, offset_seconds; two rows of one time are a jump",
		  TEXTS("HOST=FILE") },
		{ 0 },
	},
};

const struct option_group simulate_settings = {
	"Clocks that are set",
	(const struct option_row[]){
		{ "poll",
		  "a time daemon measures its clock's error so often and slews it away until the "
		  "next time; it knows the drift at the start; a list as for --offset, 0: none",
		  TEXT("LIST") },
		{ "poll-error", "by how much it measures wrong, standard deviation",
		  DURATION("50us", "0", "1s") },
		{ "slew-ppm", "the most it slews", PPM("200", "0", "10000") },
		{ "step",
		  "put a clock forward, or back with a minus: host1@30s:-1ms is 30 s after the "
		  "start",
		  TEXTS("HOST@TIME:SIZE") },
		{ "steps", "so many steps at random moments, a list as for --offset",
		  TEXT("LIST") },
		{ "step-sizes", "their sizes, forward or back, small ones as likely as large ones",
		  TEXT("MIN,MAX"), .initial = "200us,1s" },
		{ "suspend", "a host sleeps: its clock stands still, it neither sends nor receives",
		  TEXTS("HOST@TIME:DURATION") },
		{ 0 },
	},
};

const struct option_group simulate_traffic = {
	"Traffic",
	(const struct option_row[]){
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
		  "messages from the lower to the higher host only, in a ring all one way round; "
		  "tables and UDP",
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
		{ 0 },
	},
};

const struct option_group simulate_network = {
	"Network",
	(const struct option_row[]){
		{ "dmin", "smallest delay: BASE[+FIRST][+PER_BYTE/B], as 520us+14us+1.032us/B",
		  TEXT("MODEL"), .initial = "50us" },
		{ "tail", "mean of what is added to it, exponential", DURATION("50us", "0", "1s") },
		{ "tail-stages",
		  "it is the sum of so many waits of one mean (Erlang): the more, the fewer "
		  "packets come near the smallest delay",
		  INTEGER("N", "1", "1", "100") },
		{ "heavy", "share of packets that wait far longer (Pareto, shape 1.5)",
		  PROBABILITY("P", "0") },
		{ "asym", "the way from a lower to a higher host takes so much longer",
		  DURATION("0", "0", "1s") },
		{ "load",
		  "mean of what a busy host adds to each message it sends or receives, "
		  "exponential; a list as for --offset",
		  TEXT("LIST") },
		{ "load-least", "the least that it adds, a list", TEXT("LIST") },
		{ "load-heavy", "share of its messages that wait far longer",
		  PROBABILITY("P", "0") },
		{ "load-receivers",
		  "a busy host holds up only what it receives, so that the two ways differ", FLAG },
		{ "loss", "share of packets that are lost", PROBABILITY("P", "0") },
		{ "dup", "share that the network delivers twice", PROBABILITY("P", "0") },
		{ "reorder", "share that is overtaken", PROBABILITY("P", "0") },
		{ "ttl-hops", "routers on the way", INTEGER("N", "1", "0", "60") },
		{ "nat", "clients' addresses and ports differ between the two captures", FLAG },
		{ "mtu", "largest packet", INTEGER("N", "1500", "576", "9216") },
		{ 0 },
	},
};

const struct option_group simulate_stacks = {
	"Stacks",
	(const struct option_row[]){
		{ "retrans", "share of TCP segments sent again for no reason",
		  PROBABILITY("P", "0") },
		{ "tso", "senders hand down segments of up to 64 KiB, which the card cuts", FLAG },
		{ "gro", "receivers merge segments that arrive together", FLAG },
		{ "ipv6", "IPv6 instead of IPv4", FLAG },
		{ "timestamps", "TCP timestamps", CHOICE("on|off"), .initial = "on" },
		{ "sack", "TCP selective acknowledgements", CHOICE("on|off"), .initial = "on" },
		{ "ip-id", "IPv4 identifications that count packets, or are 0", CHOICE("on|off"),
		  .initial = "on" },
		{ 0 },
	},
};

const struct option_group simulate_captures = {
	"Captures",
	(const struct option_row[]){
		{ "snaplen", "bytes kept of each packet", INTEGER("N", "96", "48", "262144") },
		{ "resolution", "of stamps", CHOICE("ns|us"), .initial = "ns" },
		{ "link",
		  "link type per host, the last for all further ones: ethernet, sll, sll2, raw, "
		  "null",
		  TEXT("LIST"), .initial = "ethernet" },
		{ "vlan", "VLAN tags per host, the last for all further ones: 0, 1, 2",
		  TEXT("LIST"), .initial = "0" },
		{ "late", "all captures but host0's start so much later",
		  DURATION("0", "0", NULL) },
		{ "capture-loss", "share of packets that a capture misses", PROBABILITY("P", "0"),
		  .max = "0.99" },
		{ 0 },
	},
};
