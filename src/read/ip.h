/* SPDX-License-Identifier: MIT */
/*
 * ip.h - a packet behind its IP header: what packet.c and tunnel.c share
 */
#ifndef USK_IP_H
#define USK_IP_H

#include "read/trace.h"

#define USK_V4_MAPPED UINT64_C(0xffff00000000)

enum {
	PROTO_ICMP = 1,
	PROTO_IPIP = 4,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_IPV6 = 41,
	PROTO_GRE = 47,
	PROTO_ICMPV6 = 58,
	PROTO_SCTP = 132,
};

struct usk_ip {
	const uint8_t *payload; /* the transport header */
	size_t left;		/* captured bytes from there */
	uint32_t bytes;		/* bytes from there on the wire */
	uint32_t header;	/* bytes of IP header before it */
	uint32_t tunnels;	/* bytes of all tunnels' headers before that */
	uint8_t proto;
	bool fragment;
	bool loopback;	  /* from or to the host itself */
	bool unspecified; /* from a host without an address yet */
};

/** What is inside of a tunnel, and how many bytes; NULL: it is none, or cut short. */
const uint8_t *usk_strip_tunnel(const struct usk_ip *ip, size_t *left);

#endif
