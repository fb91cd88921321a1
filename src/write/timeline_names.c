/* SPDX-License-Identifier: MIT */
/*
 * timeline_names.c - what a packet is called on a timeline
 *
 * In    a decoded packet
 * Out   "received TCP SYN ACK 443 > 50312": its side, what it is, its flow
 */
#include "write/timeline.h"

#include <stdio.h>

enum { TCP = 6, FIN = 1, SYN = 2, RST = 4, ACK = 16 };

/* An acknowledgement that comes with data says nothing. */
static void flags_of(const struct usk_packet *k, char *out, size_t size)
{
	bool ack = k->flags & ACK && (k->flags & SYN || !k->bytes);
	bool tcp = k->proto == TCP;
	snprintf(out, size, "%s%s%s%s", tcp && k->flags & SYN ? " SYN" : "",
		 tcp && k->flags & FIN ? " FIN" : "", tcp && k->flags & RST ? " RST" : "",
		 tcp && ack ? " ACK" : "");
}

void usk_drawing_packet_name(const struct usk_packet *k, enum usk_side side, char *out, size_t size)
{
	static const char *const sides[] = {
		[USK_SIDE_SENT] = "sent ", [USK_SIDE_RECEIVED] = "received "
	};
	static const char *const protocols[] = {
		[1] = "ICMP", [TCP] = "TCP",   [17] = "UDP",  [47] = "GRE",
		[50] = "ESP", [58] = "ICMPv6", [132] = "SCTP"
	};
	char flags[24], ports[24] = "", what[24];
	const char *known = k->proto < COUNT(protocols) ? protocols[k->proto] : NULL;
	snprintf(what, sizeof what, "IP protocol %u", k->proto);
	flags_of(k, flags, sizeof flags);
	if (k->sport || k->dport) {
		snprintf(ports, sizeof ports, " %u > %u", k->sport, k->dport);
	}
	snprintf(out, size, "%s%s%s%s", sides[side] ? sides[side] : "", known ? known : what, flags,
		 ports);
}
