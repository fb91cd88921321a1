/* SPDX-License-Identifier: MIT */
/*
 * tunnel.c - into IP in IP, GRE, GTP-U and VXLAN
 *
 * In    a packet behind its IP header
 * Out   the packet inside
 * Why   the host at the tunnel's other end sees only what is inside
 */
#include "read/ip.h"
#include "read/link.h"

/* GTP-U: a packet of a user, behind options and extension headers. */
static const uint8_t *strip_gtp(const uint8_t *d, size_t n, size_t *left)
{
	if (d[0] >> 4 != 3 || d[1] != 0xff) {
		return NULL;
	}
	size_t at = d[0] & 7 ? 12 : 8;
	for (unsigned next = d[0] & 4 && n >= 12 ? d[11] : 0; next;) {
		if (n <= at || !d[at] || n < at + d[at] * 4u) {
			return NULL;
		}
		at += d[at] * 4u;
		next = d[at - 1];
	}
	*left = n > at ? n - at : 0;
	return *left && (d[at] >> 4 == 4 || d[at] >> 4 == 6) ? d + at : NULL;
}

const uint8_t *usk_strip_tunnel(const struct usk_ip *ip, size_t *left)
{
	const uint8_t *d = ip->payload;
	size_t n = ip->left;
	if (ip->proto == PROTO_IPIP || ip->proto == PROTO_IPV6) {
		*left = n;
		return d;
	}
	if (ip->proto == PROTO_GRE && n >= 4 && !(d[1] & 7) && !(d[0] & 0x40)) {
		size_t at = 4 + (d[0] & 0x80 ? 4u : 0) + (d[0] & 0x20 ? 4u : 0) +
			    (d[0] & 0x10 ? 4u : 0);
		unsigned type = usk_be16(d + 2);
		if (n < at) {
			return NULL;
		}
		if (type == ETHER_IPV4 || type == ETHER_IPV6) {
			*left = n - at;
			return d + at;
		}
		return type == 0x6558 ? usk_link_strip_ethernet(d + at, n - at, left) : NULL;
	}
	if (ip->proto == PROTO_UDP && n >= 16 && usk_be16(d + 2) == 2152) {
		return strip_gtp(d + 8, n - 8, left);
	}
	/* VXLAN: the flag that says that its network number is valid, all reserved bits zero. */
	if (ip->proto == PROTO_UDP && n >= 16 && usk_be16(d + 2) == 4789 &&
	    usk_be32(d + 8) == 0x08000000 && !d[15]) {
		return usk_link_strip_ethernet(d + 16, n - 16, left);
	}
	return NULL;
}
