/* SPDX-License-Identifier: MIT */
/*
 * frame.h - a packet as the simulator moves it, and its bytes as a capture would show them
 */
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include "sim.h"

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMP6 = 58 };
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

/* Stream offsets count from the SYN, which is byte 0, so that they never wrap. */
struct sim_packet {
	uint64_t id;	     /* number of the send event */
	uint64_t offset;     /* TCP: stream offset of its first byte */
	uint64_t ack_offset; /* TCP: the next byte wanted from the other side */
	uint64_t nonce[2];   /* datagrams: the first 16 bytes of the payload */
	int64_t sent_ns;     /* the sender's capture's stamp, if sent_recorded */
	uint32_t seq, ack, tsval, tsecr;
	uint32_t len; /* payload */
	uint32_t flow, generation;
	uint32_t sack[6];
	uint16_t client, server; /* hosts */
	uint16_t client_port, nat_port, server_port;
	uint16_t ip_id, window, mss;
	uint8_t proto, flags, n_sack, hops;
	bool v6, nat, timestamps, sack_ok, with_ip_id;
	bool from_client, sent_recorded;
	bool doubled;	/* the network made a second copy */
	bool copy;	/* it is that copy */
	bool unrelated; /* chatter: remote is an address outside */
	bool broadcast; /* to all that hear the client; the server is one of them */
	uint32_t remote;
};

/* Who looks at it, and how. */
struct sim_view {
	enum sim_link link;
	unsigned vlan;	/* tags */
	bool at_client; /* else at the server's side of any NAT */
	bool received;
	bool partial_sum; /* the checksum is left to hardware, or was folded in by it */
};

#define SIM_HEAD_MAX  256
#define SIM_BODY_STEP 1024

/* A frame: head[n_head], then n_body bytes that repeat body[SIM_BODY_STEP], then zeros. */
struct sim_frame {
	uint8_t head[SIM_HEAD_MAX];
	uint32_t n_head;
	const uint8_t *body; /* payload less what is in head */
	uint32_t n_body, n_pad;
};

/** Cost: the headers only; payload is a periodic text whose sum is known. */
void sim_frame_build(struct sim_frame *f, const struct sim_packet *p, const struct sim_view *v);

/** Payload bytes of a datagram that a capture of this snap length shows. */
uint32_t sim_visible(const struct sim_packet *p, enum sim_link link, unsigned vlan,
		     uint32_t snaplen);

/* Bytes of sequence space it takes. */
static inline uint32_t sim_span(const struct sim_packet *p)
{
	return p->len + (p->flags & TCP_SYN ? 1 : 0) + (p->flags & TCP_FIN ? 1 : 0);
}

#endif
