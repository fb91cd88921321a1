/* SPDX-License-Identifier: MIT */
/*
 * scene.h - two captures of one scene, told packet by packet, and what the matcher makes of them
 *
 * In    who saw which packet when, on a clock that both share; which pairs are messages
 * Out   messages found, wrong and missing ones
 * Not   random traffic: the simulator's (tests/sim)
 */
#ifndef SCENE_H
#define SCENE_H

#include "making.h"
#include "match/match.h"

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define START  (1700000000 * SECOND)

/* Hosts: the two that capture, and others. */
#define HOST_P UINT32_C(0x0a000001)
#define HOST_Q UINT32_C(0x0a000002)
#define HOST_R UINT32_C(0x0a000003)

struct sight {
	int64_t ns;
	size_t at, order;
	uint32_t n, wire;
};

struct eye {
	struct bytes data;
	struct sight *sight;
	size_t n, cap;
	uint16_t link;	   /* LINK_ETHERNET unless set */
	uint32_t address;  /* capture in pcapng whose interface has this address; 0 = pcap */
	const char *local; /* stated by the user */
};

struct scene {
	struct eye eye[2];
	int64_t offset_ns; /* what q's clock is ahead */
	uint32_t snap;	   /* 0 = 262144 */
	uint64_t most;	   /* packets that are remembered; 0: as many as usual */
	bool no_ids;	   /* IP-ID is 0 in every packet */
	bool no_ticks;	   /* no TCP time stamps */
	bool v6;
	uint8_t hops;		       /* routers on the way */
	void (*nat)(struct packet *p); /* what q sees differs so from what p sees */
	uint16_t id[2];
	struct usk_msg *want;
	size_t n_want, cap_want;
	struct usk_msg *may;
	size_t n_may, cap_may;
	/* After scene_run() */
	struct usk_msg *got;
	size_t n_got, cap_got;
	struct usk_reception *broadcasts;
	size_t n_broadcasts, cap_broadcasts;
	struct usk_counts counts;
	struct usk_evidence evidence;
};

/* Bytes a segment carries when nothing is offloaded. */
enum { SCENE_MSS = 1448 };

/* What tells copies apart: nothing, IP-ID, time stamps, both. */
enum { SCENE_FLAVOURS = 4 };

/** A scene where both users said who is who. */
struct scene scene_begin(bool ids, bool ticks);
/** The same of a flavour; pings tie the clocks. */
struct scene scene_flavoured(int flavour);
/** Its name behind what the scene is; until the next call. */
const char *scene_flavour(int flavour, const char *what);

/** Sent by p (0) or q (1), TCP, ports 40000 and 80, to the other; time stamps if there are any. */
struct packet scene_tcp(const struct scene *s, int from, int64_t ns, uint32_t seq, uint32_t ack,
			uint32_t bytes);
/** A datagram whose content is that number. */
struct packet scene_udp(const struct scene *s, int from, uint64_t content);
/** One capture sees it. An IP-ID of 0 is replaced by the sender's next one unless no_ids. */
void scene_see(struct scene *s, int who, int64_t ns, struct packet *p);
/** A message that must be found; stamps on the common clock. */
void scene_expect(struct scene *s, int from, int64_t sent_ns, int64_t received_ns);
/** A true message that may be found: what is known when it is decided depends on other traffic. */
void scene_allow(struct scene *s, int from, int64_t sent_ns, int64_t received_ns);
/** Sent and received, seen by both, and to be found. */
void scene_pass(struct scene *s, int from, int64_t sent_ns, int64_t delay_ns, struct packet p);
/** Pings in both directions, each with a content of its own. */
void scene_pings(struct scene *s, int64_t from_ns, int64_t to_ns, int64_t every_ns);

/** Match. */
void scene_run(struct scene *s);
/** The same, and exactly the expected messages must come out. */
void scene_check(struct scene *s, const char *what);
/** The same, and the scene is freed. */
void scene_done(struct scene *s, const char *what);
void scene_free(struct scene *s);

#endif
