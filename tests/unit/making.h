/* SPDX-License-Identifier: MIT */
/*
 * making.h - captures in the making: bytes of either order, file formats, packets
 *
 * In    what a packet or a block says
 * Out   its bytes
 * Why   independent of the readers and of the simulator, so that it can speak against both
 * Not   checksums: nothing in unskew looks at them
 */
#ifndef MAKING_H
#define MAKING_H

#include "base/ng.h"
#include "base/base.h"

struct bytes {
	uint8_t *data;
	size_t n, cap;
	bool big; /* byte order of put16() and wider */
};

void put(struct bytes *b, const void *data, size_t n);
void put8(struct bytes *b, unsigned v);
void put16(struct bytes *b, unsigned v);
void put32(struct bytes *b, uint32_t v);
void put64(struct bytes *b, uint64_t v);
void put_zeros(struct bytes *b, size_t n);
void put_text(struct bytes *b, const char *text);
void patch32(struct bytes *b, size_t at, uint32_t v);
void bytes_free(struct bytes *b);

/* ---- classic captures ---- */

#define MAGIC_US UINT32_C(0xa1b2c3d4)
#define MAGIC_NS UINT32_C(0xa1b23c4d)

void pcap_begin(struct bytes *b, uint32_t magic, uint32_t snap, uint32_t link);
void pcap_record(struct bytes *b, uint32_t s, uint32_t fraction, const void *data,
		 uint32_t captured, uint32_t length);
/* ns stamp of a capture with MAGIC_NS */
void pcap_record_ns(struct bytes *b, int64_t ns, const void *data, uint32_t captured,
		    uint32_t length);

/* ---- pcapng ---- */

size_t ng_begin(struct bytes *b, uint32_t type);
void ng_option(struct bytes *b, unsigned code, const void *data, size_t n);
void ng_end(struct bytes *b, size_t begun);
void ng_section(struct bytes *b);
/* An interface without options but its resolution; tsresol 6 is the default and is left out. */
void ng_interface(struct bytes *b, unsigned link, uint32_t snap, unsigned tsresol);
void ng_packet(struct bytes *b, uint32_t iface, uint64_t ticks, const void *data, uint32_t captured,
	       uint32_t length);

/* ---- packets ---- */

enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_SLL = 113,
	LINK_SLL2 = 276,
};
enum { ICMP = 1, IPIP = 4, TCP = 6, UDP = 17, SIXIN4 = 41, GRE = 47, ICMPV6 = 58, VXLAN = 200 };
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

/* Hosts are numbers: 10.0.0.N, or fd00::N. */
struct packet {
	uint16_t link;
	unsigned tags;	    /* VLAN */
	unsigned cooked;    /* packet type of cooked captures */
	uint32_t device;    /* its number in version 2 of these */
	uint8_t tunnel;	    /* 0, IPIP, SIXIN4, GRE or VXLAN around it, v4 outside */
	bool v6, multicast; /* to a group instead of dst */
	uint32_t src, dst;  /* IPv4 addresses; the low word of IPv6 ones */
	uint8_t ttl, proto; /* 0: 64, TCP */
	uint16_t ip_id;
	uint16_t fragment;   /* flags and offset, as in the header */
	unsigned ip_options; /* words */
	const uint8_t
		*extension; /* v6: chain of extension headers, each starting with its number */
	size_t n_extension;
	uint16_t sport, dport;
	uint32_t seq, ack;
	uint8_t flags;
	uint16_t window;
	bool timestamps;
	uint32_t tsval, tsecr;
	uint32_t payload; /* bytes on the wire */
	uint64_t content; /* what the payload is made of, for other than TCP */
};

/* The bytes of a packet, payload up to a few hundred bytes; returns its length on the wire. */
uint32_t packet_bytes(const struct packet *p, struct bytes *out);

#endif
