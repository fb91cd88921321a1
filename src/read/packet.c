/* SPDX-License-Identifier: MIT */
/*
 * packet.c - from the bytes of a record to what the matcher needs
 *
 * In    a record, its link type, the depth to which two captures agree
 * Out   addresses, ports, sequence numbers, lengths, and a key of what routers and NAT leave alone
 * Why   one pass of bounds-checked loads; every length comes from the packet, every limit from
 *       the bytes that are there
 * Not   reassembly: fragments are counted and left out
 *
 * The key of a TCP packet: sequence and acknowledgement numbers, time stamps, kind. Not ports or
 * addresses (NAT), not the length or PSH (offload cuts and merges segments, but the first one
 * keeps these numbers). The key of others: protocol, length, first bytes of the payload.
 */
#include "read/read.h"

#include <arpa/inet.h>
#include <string.h>

enum {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_BSD = 12,
	LINK_RAW_OPENBSD = 14,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_COOKED = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_COOKED2 = 276,

	ETHER_IPV4 = 0x0800,
	ETHER_IPV6 = 0x86dd,
	ETHER_VLAN = 0x8100,
	ETHER_QINQ = 0x88a8,
	ETHER_QINQ_OLD = 0x9100,

	PROTO_ICMP = 1,
	PROTO_IPIP = 4,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_IPV6 = 41,
	PROTO_GRE = 47,
	PROTO_ICMPV6 = 58,

	KEY_PAYLOAD = 16, /* payload bytes in the key of packets without sequence numbers */
	MAX_TUNNELS = 4,
};

#define V4_MAPPED UINT64_C(0xffff00000000)

/* The packet cooked captures call outgoing; 0 is to us, 1 to 2 to everyone, 3 to others. */
static enum usk_side cooked_side(unsigned type)
{
	return type == 4 ? USK_SIDE_SENT : type <= 2 ? USK_SIDE_RECEIVED : USK_SIDE_UNKNOWN;
}

/* Where the IP packet starts, or NULL. */
static const uint8_t *strip_link(const uint8_t *d, size_t n, uint16_t link, size_t *left,
				 enum usk_side *side)
{
	size_t at;
	unsigned type;
	switch (link) {
	case LINK_ETHERNET:
		if (n < 14) {
			return NULL;
		}
		type = be16(d + 12);
		at = 14;
		break;
	case LINK_COOKED:
		if (n < 16) {
			return NULL;
		}
		*side = cooked_side(be16(d));
		type = be16(d + 14);
		at = 16;
		break;
	case LINK_COOKED2:
		if (n < 20) {
			return NULL;
		}
		*side = cooked_side(d[10]);
		type = be16(d);
		at = 20;
		break;
	case LINK_NULL:
	case LINK_LOOP:
		/* Four bytes of address family in somebody's byte order: the version nibble of the
		 * IP header says the same without guessing. */
		if (n < 4) {
			return NULL;
		}
		*left = n - 4;
		return d + 4;
	case LINK_RAW:
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_IPV4:
	case LINK_IPV6:
		*left = n;
		return d;
	default:
		return NULL;
	}
	while (type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD) {
		if (n < at + 4) {
			return NULL;
		}
		type = be16(d + at + 2);
		at += 4;
	}
	if (type != ETHER_IPV4 && type != ETHER_IPV6) {
		return NULL;
	}
	*left = n - at;
	return d + at;
}

struct ip {
	const uint8_t *payload; /* the transport header */
	size_t left;		/* captured bytes from there */
	uint32_t bytes;		/* bytes from there on the wire */
	uint32_t header;	/* bytes of IP header before it */
	uint8_t proto;
	bool fragment;
};

static bool ipv4(const uint8_t *d, size_t n, uint32_t wire, struct usk_packet *p, struct ip *ip)
{
	if (n < 20) {
		return false;
	}
	uint32_t header = (d[0] & 15u) * 4u, total = be16(d + 2);
	if (header < 20 || n < header) {
		return false;
	}
	/* Segmentation offload may leave 0 here; the frame's own length then tells. */
	if (!total) {
		total = wire;
	}
	if (total < header) {
		return false;
	}
	p->src = (struct usk_addr){ 0, V4_MAPPED | be32(d + 12) };
	p->dst = (struct usk_addr){ 0, V4_MAPPED | be32(d + 16) };
	p->ttl = d[8];
	p->ip_id = be16(d + 4);
	p->has |= USK_HAS_IP_ID;
	ip->fragment = (be16(d + 6) & 0x3fff) != 0;
	ip->proto = d[9];
	ip->payload = d + header;
	ip->left = n - header;
	ip->header = header;
	ip->bytes = total - header;
	return true;
}

static bool ipv6(const uint8_t *d, size_t n, uint32_t wire, struct usk_packet *p, struct ip *ip)
{
	if (n < 40) {
		return false;
	}
	uint32_t total = be16(d + 4) + 40u, at = 40;
	if (total == 40 && wire > 40) {
		total = wire; /* jumbo or offload */
	}
	p->src = (struct usk_addr){ be64(d + 8), be64(d + 16) };
	p->dst = (struct usk_addr){ be64(d + 24), be64(d + 32) };
	p->ttl = d[7];
	uint8_t next = d[6];
	ip->fragment = false;
	/* Extension headers: hop-by-hop 0, routing 43, fragment 44, AH 51, destination 60,
	 * mobility 135, HIP 139, shim6 140. */
	for (;;) {
		uint32_t size;
		if (next == 44) {
			if (n < at + 8) {
				return false;
			}
			ip->fragment |= (be16(d + at + 2) & 0xfff9) != 0;
			size = 8;
		} else if (next == 0 || next == 43 || next == 51 || next == 60 || next == 135 ||
			   next == 139 || next == 140) {
			if (n < at + 2) {
				return false;
			}
			size = next == 51 ? (d[at + 1] + 2u) * 4u : (d[at + 1] + 1u) * 8u;
		} else {
			break;
		}
		next = d[at];
		at += size;
		if (n < at) {
			return false;
		}
	}
	if (total < at) {
		return false;
	}
	ip->proto = next;
	ip->payload = d + at;
	ip->left = n - at;
	ip->header = at;
	ip->bytes = total - at;
	return true;
}

/* The value of the time stamp option, if the capture kept it whole. */
static void tcp_timestamps(const uint8_t *d, size_t n, struct usk_packet *p)
{
	/* What nearly every stack sends: NOP NOP TIMESTAMP. */
	if (n >= 12 && be32(d) == 0x0101080a) {
		p->tsval = be32(d + 4);
		p->tsecr = be32(d + 8);
		p->has |= USK_HAS_TIMESTAMPS;
		return;
	}
	while (n >= 2) {
		unsigned kind = d[0], size = kind <= 1 ? 1 : d[1];
		if (kind == 0 || size > n || (kind > 1 && size < 2)) {
			return;
		}
		if (kind == 8 && size == 10) {
			p->tsval = be32(d + 2);
			p->tsecr = be32(d + 6);
			p->has |= USK_HAS_TIMESTAMPS;
			return;
		}
		d += size;
		n -= size;
	}
}

static uint64_t fold(uint64_t h, uint64_t x)
{
	return usk_mix(h ^ x) + UINT64_C(0x9e3779b97f4a7c15);
}

static bool tcp(const struct ip *ip, uint32_t depth, struct usk_packet *p)
{
	const uint8_t *d = ip->payload;
	/* Ports, sequence numbers, length of the header and flags are what matching needs. */
	if (ip->left < 14) {
		return false;
	}
	uint32_t header = (d[12] >> 4) * 4u;
	if (header < 20 || header > ip->bytes) {
		return false;
	}
	p->sport = be16(d);
	p->dport = be16(d + 2);
	p->seq = be32(d + 4);
	p->ack = be32(d + 8);
	p->flags = d[13];
	p->bytes = ip->bytes - header;
	if (ip->left >= 16) {
		p->window = be16(d + 14);
		p->has |= USK_HAS_WINDOW;
	}
	if (ip->left >= header) {
		tcp_timestamps(d + 20, header - 20, p);
	}
	/* SYN, RST, and FIN where no payload hides it (only the last segment of an offloaded one
	 * carries FIN). */
	uint64_t kind = (p->flags & 6u) | (p->bytes ? 8u : p->flags & 1u);
	uint64_t h = usk_mix((uint64_t)p->seq << 32 | p->ack) + kind;
	if (ip->header + header <= depth && p->has & USK_HAS_TIMESTAMPS) {
		h ^= (uint64_t)p->tsval << 32 | p->tsecr;
	}
	if (!p->bytes && ip->header + 16 <= depth) {
		h += (uint64_t)p->window << 16;
	}
	p->key = usk_mix(h) | 1;
	return true;
}

/* What is not TCP: protocol, length and the first bytes behind the header. */
static bool datagram(const struct ip *ip, uint32_t depth, struct usk_packet *p)
{
	const uint8_t *d = ip->payload;
	size_t skip = 0;
	uint64_t h = fold(ip->proto, ip->bytes);
	switch (ip->proto) {
	case PROTO_UDP:
		if (ip->left < 8) {
			return false;
		}
		p->sport = be16(d);
		p->dport = be16(d + 2);
		skip = 8;
		break;
	case PROTO_ICMP:
	case PROTO_ICMPV6:
		if (ip->left < 8) {
			return false;
		}
		/* Type, code and sequence number; NAT rewrites the identifier and the checksum. */
		h = fold(h, (uint64_t)d[0] << 24 | (uint64_t)d[1] << 16 | be16(d + 6));
		skip = 8;
		break;
	default:
		break;
	}
	if (ip->bytes < skip) {
		return false;
	}
	p->bytes = ip->bytes - (uint32_t)skip;
	size_t take = p->bytes < KEY_PAYLOAD ? p->bytes : KEY_PAYLOAD;
	size_t room = depth > ip->header + skip ? depth - ip->header - skip : 0;
	take = take < room ? take : room;
	if (skip + take > ip->left) {
		take = ip->left > skip ? ip->left - skip : 0;
	}
	uint8_t bytes[KEY_PAYLOAD] = { 0 };
	memcpy(bytes, d + skip, take);
	h = fold(h, get64(bytes, false));
	h = fold(h, get64(bytes + 8, false));
	p->key = h | 1;
	return true;
}

static bool is_loopback(struct usk_addr a)
{
	return a.hi == 0 && (a.lo == 1 || a.lo >> 24 == (V4_MAPPED | 0x7f000000u) >> 24);
}

static bool is_unspecified(struct usk_addr a)
{
	return a.hi == 0 && (a.lo == 0 || a.lo == V4_MAPPED);
}

/* Into GRE and VXLAN: the host at the tunnel's other end sees only what is inside. */
static const uint8_t *strip_tunnel(const struct ip *ip, size_t *left)
{
	const uint8_t *d = ip->payload;
	size_t n = ip->left;
	enum usk_side none;
	if (ip->proto == PROTO_IPIP || ip->proto == PROTO_IPV6) {
		*left = n;
		return d;
	}
	if (ip->proto == PROTO_GRE && n >= 4 && !(d[1] & 7) && !(d[0] & 0x40)) {
		size_t at = 4 + (d[0] & 0x80 ? 4u : 0) + (d[0] & 0x20 ? 4u : 0) +
			    (d[0] & 0x10 ? 4u : 0);
		unsigned type = be16(d + 2);
		if (n < at) {
			return NULL;
		}
		if (type == ETHER_IPV4 || type == ETHER_IPV6) {
			*left = n - at;
			return d + at;
		}
		return type == 0x6558 ? strip_link(d + at, n - at, LINK_ETHERNET, left, &none)
				      : NULL;
	}
	/* VXLAN: the flag that says that its network number is valid, all reserved bits zero. */
	if (ip->proto == PROTO_UDP && n >= 16 && be16(d + 2) == 4789 && be32(d + 8) == 0x08000000 &&
	    !d[15]) {
		return strip_link(d + 16, n - 16, LINK_ETHERNET, left, &none);
	}
	return NULL;
}

bool usk_packet_decode(const struct usk_record *r, uint16_t link_type, uint32_t depth,
		       struct usk_packet *out, struct usk_counts *left_out)
{
	if (!left_out) {
		struct usk_counts nobody = { 0 };
		return usk_packet_decode(r, link_type, depth, out, &nobody);
	}
	struct usk_counts *c = left_out;
	enum usk_side side = USK_SIDE_UNKNOWN;
	size_t left;
	const uint8_t *d = strip_link(r->data, r->captured, link_type, &left, &side);
	if (!d || !left) {
		c->not_ip++;
		return false;
	}
	uint32_t before = (uint32_t)(d - r->data);
	uint32_t wire = r->length > before ? r->length - before : 0;
	uint32_t tunnels = 0; /* bytes of outer headers */
	struct ip ip;
	for (int level = 0;; level++) {
		out->has = 0;
		bool good;
		if (d[0] >> 4 == 4) {
			good = ipv4(d, left, wire, out, &ip);
		} else if (d[0] >> 4 == 6) {
			good = ipv6(d, left, wire, out, &ip);
		} else {
			c->not_ip++;
			return false;
		}
		if (!good) {
			c->cut_short++;
			return false;
		}
		if (ip.fragment) {
			c->fragments++;
			return false;
		}
		size_t inner_left;
		const uint8_t *inner = level < MAX_TUNNELS ? strip_tunnel(&ip, &inner_left) : NULL;
		if (!inner || !inner_left) {
			break;
		}
		tunnels += (uint32_t)(inner - d);
		wire = wire > (uint32_t)(inner - d) ? wire - (uint32_t)(inner - d) : 0;
		d = inner;
		left = inner_left;
	}
	/* Inside of a tunnel less of the packet lies within the snap length. */
	depth = depth > tunnels ? depth - tunnels : 0;
	if (is_loopback(out->src) || is_loopback(out->dst)) {
		c->loopback++;
		return false;
	}
	if (is_unspecified(out->src)) {
		c->not_ip++; /* a host without an address yet: they all say the same */
		return false;
	}
	out->time_ns = r->time_ns;
	out->proto = ip.proto;
	out->side = (uint8_t)(r->side != USK_SIDE_UNKNOWN ? r->side : side);
	out->sport = out->dport = 0;
	out->flags = 0;
	out->seq = out->ack = out->tsval = out->tsecr = 0;
	out->window = 0;
	if (!(ip.proto == PROTO_TCP ? tcp(&ip, depth, out) : datagram(&ip, depth, out))) {
		c->cut_short++;
		return false;
	}
	return true;
}

void usk_addr_text(struct usk_addr a, char out[46])
{
	uint8_t b[16];
	for (int i = 0; i < 8; i++) {
		b[i] = (uint8_t)(a.hi >> (56 - 8 * i));
		b[8 + i] = (uint8_t)(a.lo >> (56 - 8 * i));
	}
	bool v4 = a.hi == 0 && a.lo >> 32 == 0xffff;
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? b + 12 : b, out, 46);
}

bool usk_addr_parse(const char *text, struct usk_addr *out)
{
	uint8_t b[16];
	if (inet_pton(AF_INET, text, b) == 1) {
		*out = (struct usk_addr){ 0, V4_MAPPED | be32(b) };
		return true;
	}
	if (inet_pton(AF_INET6, text, b) == 1) {
		*out = (struct usk_addr){ be64(b), be64(b + 8) };
		return true;
	}
	return false;
}
