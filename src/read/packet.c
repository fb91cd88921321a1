/* SPDX-License-Identifier: MIT */
/*
 * packet.c - from the bytes of a record to what the matcher needs
 *
 * In    a record, its link type, the depth to which two captures agree
 * Out   addresses, ports, sequence numbers, lengths, and a key of what routers and NAT leave alone
 * Why   one pass of bounds-checked loads; every length comes from the packet, every limit from
 *       the bytes that are there
 * Not   links (link.c), tunnels (tunnel.c); reassembly: fragments are counted and left out
 *
 * The key of a TCP packet: sequence and acknowledgement numbers, time stamps, kind. Not ports or
 * addresses (NAT), not the length or PSH (offload cuts and merges segments, but the first one
 * keeps these numbers). Of SCTP: tag and chunks, not the checksum, which a sender may leave to
 * hardware. Of ICMP errors: what NAT leaves of the packet in them. The key of others: protocol,
 * length, first bytes of the payload, which hold the counters of RTP, QUIC, ESP, WireGuard and
 * OpenVPN.
 */
#include "read/ip.h"
#include "read/link.h"

#include <string.h>

enum {
	/* Payload bytes in the key of packets without sequence numbers: QUIC's count its packets
	 * behind up to 21 bytes that stay. */
	KEY_PAYLOAD = 48,
	MAX_TUNNELS = 4,
};

/* No packet has the key 0. */
#define KEY_IN_USE (UINT64_C(1) << 63)

uint32_t usk_packet_link_bytes(const struct usk_record *r, uint16_t link_type)
{
	uint8_t side = USK_SIDE_UNKNOWN;
	size_t left;
	const uint8_t *d = usk_link_strip(r->data, r->captured, link_type, &left, &side);
	return d ? (uint32_t)(d - r->data) : UINT32_MAX;
}

static inline void ipv4_fields(const uint8_t *d, struct usk_packet *p)
{
	p->src = (struct usk_addr){ 0, USK_V4_MAPPED | usk_be32(d + 12) };
	p->dst = (struct usk_addr){ 0, USK_V4_MAPPED | usk_be32(d + 16) };
	p->ttl = d[8];
	p->ip_id = usk_be16(d + 4);
	p->has = USK_HAS_IP_ID;
}

static inline bool ipv4(const uint8_t *d, size_t n, uint32_t wire, struct usk_packet *p,
			struct usk_ip *ip)
{
	if (n < 20) {
		return false;
	}
	uint32_t header = (d[0] & 15u) * 4u, total = usk_be16(d + 2);
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
	ipv4_fields(d, p);
	ip->loopback = (d[12] == 127) | (d[16] == 127);
	ip->unspecified = usk_be32(d + 12) == 0;
	ip->fragment = (usk_be16(d + 6) & 0x3fff) != 0;
	ip->proto = d[9];
	ip->payload = d + header;
	ip->left = n - header;
	ip->header = header;
	ip->bytes = total - header;
	return true;
}

static bool is_loopback(struct usk_addr a)
{
	return a.hi == 0 && (a.lo == 1 || a.lo >> 24 == (USK_V4_MAPPED | 0x7f000000u) >> 24);
}

static bool ipv6(const uint8_t *d, size_t n, uint32_t wire, struct usk_packet *p, struct usk_ip *ip)
{
	if (n < 40) {
		return false;
	}
	uint32_t total = usk_be16(d + 4) + 40u, at = 40;
	if (total == 40 && wire > 40) {
		total = wire; /* jumbo or offload */
	}
	p->src = (struct usk_addr){ usk_be64(d + 8), usk_be64(d + 16) };
	p->dst = (struct usk_addr){ usk_be64(d + 24), usk_be64(d + 32) };
	p->ttl = d[7];
	p->ip_id = 0;
	p->has = 0;
	ip->loopback = is_loopback(p->src) || is_loopback(p->dst);
	ip->unspecified = p->src.hi == 0 && p->src.lo == 0;
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
			ip->fragment |= (usk_be16(d + at + 2) & 0xfff9) != 0;
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

/*
 * The time stamp option, if the capture kept it; what stands behind it may be cut. Returns how
 * far into the options it reaches, 0 if there is none.
 */
static inline size_t tcp_timestamps(const uint8_t *d, size_t n, struct usk_packet *p)
{
	/* What nearly every stack sends: NOP NOP TIMESTAMP. */
	bool usual = n >= 12 && usk_be32(d) == 0x0101080a;
	size_t at = usual ? 2 : 0;
	while (!usual && at + 10 <= n && d[at] != 8) {
		unsigned kind = d[at], size = kind <= 1 ? 1 : d[at + 1];
		if (kind == 0 || (kind > 1 && size < 2)) {
			return 0;
		}
		at += size;
	}
	if (at + 10 > n || d[at + 1] != 10) {
		return 0;
	}
	p->tsval = usk_be32(d + at + 2);
	p->tsecr = usk_be32(d + at + 6);
	p->has |= USK_HAS_TIMESTAMPS;
	return at + 10;
}

static inline bool tcp(const struct usk_ip *ip, uint32_t depth, struct usk_packet *p)
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
	p->sport = usk_be16(d);
	p->dport = usk_be16(d + 2);
	p->seq = usk_be32(d + 4);
	p->ack = usk_be32(d + 8);
	p->window = 0;
	p->tsval = p->tsecr = 0;
	p->flags = d[13];
	p->bytes = ip->bytes - header;
	if (ip->left >= 16) {
		p->window = usk_be16(d + 14);
		p->has |= USK_HAS_WINDOW;
	}
	size_t stamped = 0;
	if (header > 20 && ip->left > 20) {
		size_t kept = ip->left < header ? ip->left : header;
		stamped = tcp_timestamps(d + 20, kept - 20, p);
	}
	/* SYN, RST, and FIN where no payload hides it (only the last segment of an offloaded one
	 * carries FIN). */
	uint64_t kind = (p->flags & 6u) | (p->bytes ? 8u : p->flags & 1u);
	uint64_t ends = (uint64_t)p->seq << 32 | p->ack, rest = kind << 60;
	if (stamped && ip->header + 20 + stamped <= depth) {
		p->has |= USK_HAS_SHARED_TIMESTAMPS;
		rest ^= (uint64_t)p->tsval << 32 | p->tsecr;
	}
	if (!p->bytes && ip->header + 16 <= depth) {
		rest += (uint64_t)p->window << 16;
	}
	p->key = usk_fold(ends, rest) | KEY_IN_USE;
	return true;
}

/* Do all of these say the same? */
static bool is_constant(const uint8_t *d, size_t n)
{
	size_t i = 1;
	while (i < n && d[i] == d[0]) {
		i++;
	}
	return i >= n;
}

/* Of a packet inside of an ICMP error: neither addresses, ports nor sums, which NAT rewrites, nor
 * hops. */
static uint64_t inside_error(const uint8_t *d, size_t n)
{
	if (n < 28 || d[0] >> 4 != 4) {
		return n < 48 ? 0 : usk_fold(usk_be32(d + 4), usk_be32(d + 44));
	}
	size_t header = (d[0] & 15u) * 4u;
	uint64_t what = (uint64_t)usk_be32(d + 2) << 8 | d[9];
	if (header < 20 || n < header + 8) {
		return what;
	}
	/* Sequence numbers; of UDP only the length, of an echo only the count. */
	uint32_t rest = usk_be32(d + header + 4);
	rest = d[9] == PROTO_UDP ? rest >> 16 : d[9] == PROTO_ICMP ? rest & 0xffff : rest;
	return usk_fold(what, rest);
}

static bool is_error(uint8_t proto, uint8_t type)
{
	return proto == PROTO_ICMP ? type == 3 || type == 4 || type == 5 || type == 11 || type == 12
				   : proto == PROTO_ICMPV6 && type < 128;
}

/* What is not TCP: protocol, length and the first bytes behind the header. */
static bool datagram(const struct usk_ip *ip, uint32_t depth, struct usk_packet *p,
		     struct usk_counts *c)
{
	const uint8_t *d = ip->payload;
	size_t skip = 0, room = depth > ip->header ? depth - ip->header : 0;
	room = room < ip->left ? room : ip->left;
	p->sport = p->dport = p->window = 0;
	p->flags = 0;
	p->seq = p->ack = p->tsval = p->tsecr = 0;
	uint64_t h = usk_fold(ip->proto, ip->bytes);
	switch (ip->proto) {
	case PROTO_UDP:
		if (ip->left < 8) {
			c->cut_short++;
			return false;
		}
		p->sport = usk_be16(d);
		p->dport = usk_be16(d + 2);
		skip = 8;
		break;
	case PROTO_ICMP:
	case PROTO_ICMPV6:
		if (ip->left < 8) {
			c->cut_short++;
			return false;
		}
		/* Type, code and sequence number; NAT rewrites the identifier and the checksum. */
		h = usk_fold(h, (uint64_t)d[0] << 24 | (uint64_t)d[1] << 16 | usk_be16(d + 6));
		skip = 8;
		if (is_error(ip->proto, d[0])) {
			p->bytes = ip->bytes - (ip->bytes < 8 ? ip->bytes : 8);
			p->key = usk_fold(h, room > 8 ? inside_error(d + 8, room - 8) : 0) |
				 KEY_IN_USE;
			return true;
		}
		break;
	case PROTO_SCTP:
		if (ip->left < 12) {
			c->cut_short++;
			return false;
		}
		p->sport = usk_be16(d);
		p->dport = usk_be16(d + 2);
		h = usk_fold(h, room >= 8 ? usk_be32(d + 4) : 0);
		skip = 12;
		break;
	default:
		break;
	}
	if (ip->bytes < skip) {
		c->cut_short++;
		return false;
	}
	p->bytes = ip->bytes - (uint32_t)skip;
	size_t take = p->bytes < KEY_PAYLOAD ? p->bytes : KEY_PAYLOAD;
	take = skip + take > ip->left ? ip->left - skip : take;
	if (ip->proto == PROTO_UDP && !p->ip_id && is_constant(d + skip, take)) {
		c->alike++;
		return false;
	}
	room = room > skip ? room - skip : 0;
	take = take < room ? take : room;
	uint8_t bytes[KEY_PAYLOAD] = { 0 };
	memcpy(bytes, d + skip, take);
	for (size_t i = 0; i < KEY_PAYLOAD; i += 16) {
		h = usk_fold(h + usk_le64(bytes + i), usk_le64(bytes + i + 8));
	}
	p->key = h | KEY_IN_USE;
	return true;
}

/* So many bytes of a packet behind the headers of tunnels. */
static inline uint32_t depth_of(struct usk_depth depth, uint32_t tunnels)
{
	uint32_t less = tunnels > depth.tunnel ? tunnels : depth.tunnel;
	return depth.bytes > less ? depth.bytes - less : 0;
}

/*
 * What most packets are: TCP over IPv4 without options on untagged Ethernet. Only the questions
 * that remain open are asked; false says nothing.
 */
static inline bool is_plain(const struct usk_record *r, uint16_t link_type)
{
	const uint8_t *d = r->data;
	return link_type == LINK_ETHERNET && r->captured >= 54 &&
	       usk_be32(d + 12) >> 8 == (ETHER_IPV4 << 8 | 0x45) && d[23] == PROTO_TCP &&
	       !(usk_be16(d + 20) & 0x3fff) && usk_be16(d + 16) >= 40 && usk_be32(d + 26) &&
	       d[26] != 127 && d[30] != 127 && d[46] >> 4 >= 5;
}

bool usk_packet_glance(const struct usk_record *r, uint16_t link_type, struct usk_glance *out)
{
	if (!is_plain(r, link_type)) {
		return false;
	}
	const uint8_t *d = r->data;
	out->src = USK_V4_MAPPED | usk_be32(d + 26);
	out->dst = USK_V4_MAPPED | usk_be32(d + 30);
	out->pick = usk_fold(usk_be64(d + 38), 0);
	/* Only the header's length, against the packet's, is left to ask. */
	return (d[46] >> 4) * 4u <= usk_be16(d + 16) - 20u;
}

static inline bool plain(const struct usk_record *r, uint32_t depth, struct usk_packet *out)
{
	const uint8_t *d = r->data + 14;
	struct usk_ip ip = { .payload = d + 20,
			     .left = r->captured - 34,
			     .bytes = usk_be16(d + 2) - 20u,
			     .header = 20 };
	ipv4_fields(d, out);
	out->time_ns = r->time_ns;
	out->proto = PROTO_TCP;
	out->side = (uint8_t)r->side;
	return tcp(&ip, depth, out);
}

/* Everything else, step by step. */
static __attribute__((noinline)) bool decode_any(const struct usk_record *r, uint16_t link_type,
						 struct usk_depth depth, struct usk_packet *out,
						 struct usk_ip *at, struct usk_counts *c)
{
	uint8_t side = USK_SIDE_UNKNOWN;
	size_t left;
	const uint8_t *d = usk_link_strip(r->data, r->captured, link_type, &left, &side);
	if (!d || !left) {
		c->not_ip += usk_link_is_known(link_type);
		return false;
	}
	const uint8_t *outer = d;
	struct usk_ip ip = { 0 };
	for (int level = 0;; level++) {
		uint32_t before = (uint32_t)(d - r->data);
		uint32_t wire = r->length > before ? r->length - before : 0;
		bool good = false;
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
		if (ip.proto == PROTO_TCP || level == MAX_TUNNELS) {
			break;
		}
		size_t inner_left;
		const uint8_t *inner = usk_strip_tunnel(&ip, &inner_left);
		if (!inner || !inner_left) {
			break;
		}
		d = inner;
		left = inner_left;
	}
	if (ip.loopback) {
		c->loopback++;
		return false;
	}
	if (ip.unspecified) {
		c->not_ip++; /* all hosts without an address say the same */
		return false;
	}
	ip.tunnels = (uint32_t)(d - outer);
	uint32_t within = depth_of(depth, ip.tunnels);
	out->time_ns = r->time_ns;
	out->proto = ip.proto;
	out->side = r->side != USK_SIDE_UNKNOWN ? (uint8_t)r->side : side;
	if (ip.proto == PROTO_TCP && !tcp(&ip, within, out)) {
		c->cut_short++;
		return false;
	}
	if (ip.proto != PROTO_TCP && !datagram(&ip, within, out, c)) {
		return false;
	}
	if (usk_link_to_group(r->data, r->captured, link_type)) {
		out->has |= USK_HAS_GROUP;
	}
	*at = ip;
	return true;
}

bool usk_packet_is_sound(const struct usk_record *r, uint16_t link_type)
{
	enum { CHECKSUM = 10 };
	uint8_t side;
	size_t left;
	const uint8_t *d = usk_link_strip(r->data, r->captured, link_type, &left, &side);
	size_t n = d && left >= 20 && d[0] >> 4 == 4 ? (d[0] & 15u) * 4 : 0;
	uint32_t sum = 0;
	if (n < 20 || n > left || !usk_be16(d + CHECKSUM)) {
		return true;
	}
	for (size_t i = 0; i < n; i += 2) {
		sum += usk_be16(d + i);
	}
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

void usk_packet_depth(const struct usk_record *r, uint16_t link_type, uint32_t snap_length,
		      struct usk_depth *depth)
{
	uint32_t link = usk_packet_link_bytes(r, link_type);
	uint32_t kept = snap_length > link ? snap_length - link : 0;
	struct usk_counts nobody = { 0 };
	struct usk_packet p;
	struct usk_ip ip;
	if (link != UINT32_MAX && kept < depth->bytes) {
		depth->bytes = kept;
	}
	if (decode_any(r, link_type, USK_DEPTH_ALL, &p, &ip, &nobody) &&
	    ip.tunnels > depth->tunnel) {
		depth->tunnel = ip.tunnels;
	}
}

bool usk_packet_decode(const struct usk_record *r, uint16_t link_type, struct usk_depth depth,
		       struct usk_packet *out, struct usk_counts *left_out)
{
	if (is_plain(r, link_type) && plain(r, depth_of(depth, 0), out)) {
		return true;
	}
	struct usk_counts nobody = { 0 };
	struct usk_ip ip;
	return decode_any(r, link_type, depth, out, &ip, left_out ? left_out : &nobody);
}

const uint8_t *usk_packet_payload(const struct usk_record *r, uint16_t link_type,
				  struct usk_packet *out, size_t *n)
{
	struct usk_counts nobody = { 0 };
	struct usk_ip ip;
	*n = 0;
	if (!decode_any(r, link_type, USK_DEPTH_ALL, out, &ip, &nobody)) {
		return NULL;
	}
	size_t header = ip.proto == PROTO_TCP ? (ip.payload[12] >> 4) * 4u : 8;
	if ((ip.proto != PROTO_TCP && ip.proto != PROTO_UDP) || ip.left < header) {
		return NULL;
	}
	/* Not what pads a short frame. */
	*n = ip.left - header < out->bytes ? ip.left - header : out->bytes;
	return ip.payload + header;
}

uint64_t usk_packet_pick(const struct usk_packet *p)
{
	return p->proto == PROTO_TCP ? usk_fold((uint64_t)p->seq << 32 | p->ack, 0) : p->key;
}
