/* SPDX-License-Identifier: MIT */
/*
 * path.h - hosts, routers, NAT and bridges in a row, and two captures of what passes there
 *
 * In    a seed
 * Out   two captures; of each of their records which packets it shows, and when that was in truth
 * Why   what a matcher takes for one transmission is held against what was one
 * Not   the simulator of traces (sim/): there each packet is captured once at each end
 */
#ifndef PATH_H
#define PATH_H

#include "../unit/making.h"

/* How a node is captured. */
enum watching {
	WATCH_NIC,     /* one interface, Ethernet */
	WATCH_ARM,     /* all that passes, on one interface: a router with one arm */
	WATCH_BOTH,    /* all interfaces, each with its number */
	WATCH_COOKED,  /* -i any */
	WATCH_COOKED2, /* the same with version 2 of its header */
	WATCH_TAPS,    /* of a third party, on the links to both sides */
	WATCH_KINDS,
};

/* A record: packets first to first + n - 1, n > 1 where offload merged segments. */
struct shown {
	int64_t stamp_ns, true_ns;
	uint64_t first;
	uint32_t n;
	uint32_t iface, at, captured, wire;
	bool group; /* without an IP-ID, alike on a VLAN and beside it */
	size_t order;
};

struct watch {
	uint32_t node;
	enum watching how;
	bool right;    /* WATCH_NIC: which of a node's two interfaces */
	bool bonded;   /* each packet twice, or by WATCH_NIC of a VLAN its own device */
	uint32_t only; /* addresses that are captured; 0: all */
	double loss;
	int64_t from_ns; /* it begins to record */
	int64_t offset_ns, rate_e9;
	struct shown *shown;
	size_t n, cap;
	struct bytes data;
};

enum { NODES = 5 };
enum node { HOST, ROUTER, NAT, BRIDGE };

struct path {
	struct usk_rng r;
	uint32_t n; /* nodes; the first and the last are hosts */
	uint8_t node[NODES];
	uint64_t packets; /* sent so far */
	uint16_t id[2];
	double loss, doubling;
	int64_t from_ns; /* traffic begins */
	bool v6, no_ids, ids_anew, ticks, offload;
	bool vlan; /* what goes over a link is tagged, and on two devices where it is seen twice */
	struct watch watch[2];
};

/** Draw a path with its captures and let traffic pass. */
void path_make(struct path *p, uint64_t seed);
/** What was captured, as a file. */
struct bytes path_file(struct path *p, int which);
void path_free(struct path *p);

#endif
