/* SPDX-License-Identifier: MIT */
/*
 * net.c - network events of the kernel, as LTTng records them, as packets
 *
 * In    net_dev_queue, net_if_receive_skb, net_if_rx with the IP and transport headers as fields:
 *       the one within the other, or, as lttng-modules wrote them at first, side by side and with
 *       other names; events of the receive path that come before these
 * Out   the first bytes of the packet, as a capture would hold them
 * Why   one matcher for captures and kernel traces
 * Not   headers without IP (rule.c), options of TCP, payloads: the events have none. So UDP counts
 *       only where an IP-ID tells packets apart
 */
#include "ctf/ctf.h"

#include <string.h>

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, ETHERNET_HEADER = 14 };

static const struct {
	const char *name;
	enum ctf_kind kind;
} events[] = {
	{ "net_dev_queue", CTF_QUEUED },
	{ "net_if_receive_skb", CTF_RECEIVED },
	{ "netif_receive_skb", CTF_RECEIVED },
	{ "net_if_rx", CTF_RECEIVED },
	{ "netif_rx", CTF_RECEIVED },
	{ "net_napi_gro_receive_entry", CTF_EARLY },
	{ "net_napi_gro_frags_entry", CTF_EARLY },
	{ "napi_gro_receive_entry", CTF_EARLY },
	{ "napi_gro_frags_entry", CTF_EARLY },
	{ "net_if_receive_skb_entry", CTF_EARLY },
	{ "netif_receive_skb_entry", CTF_EARLY },
	{ "net_if_receive_skb_list_entry", CTF_EARLY },
	{ "netif_receive_skb_list_entry", CTF_EARLY },
	{ "net_if_rx_entry", CTF_EARLY },
	{ "netif_rx_entry", CTF_EARLY },
	{ "net_if_rx_ni_entry", CTF_EARLY },
	{ "netif_rx_ni_entry", CTF_EARLY },
	{ "lttng_statedump_network_interface", CTF_INTERFACE },
};

enum ctf_kind usk_ctf_net_kind(const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(class);
	for (size_t i = 0; name && payload && i < COUNT(events); i++) {
		if (strcmp(name, events[i].name) != 0) {
			continue;
		}
		bool headers = events[i].kind == CTF_QUEUED || events[i].kind == CTF_RECEIVED;
		const char *needed = headers			   ? "network_header"
				     : events[i].kind == CTF_EARLY ? "skbaddr"
								   : "address_ipv4";
		return bt_field_class_structure_borrow_member_by_name_const(payload, needed)
			       ? events[i].kind
			       : CTF_IGNORED;
	}
	return CTF_IGNORED;
}

/* Where in a header the number of that name lies, and of how many bytes it is. */
struct part {
	const char *name;
	uint8_t at, size;
};

static const struct part tcp[] = {
	{ "source_port", 0, 2 },  { "dest_port", 2, 2 },    { "seq", 4, 4 },
	{ "ack_seq", 8, 4 },	  { "data_offset", 12, 1 }, { "flags", 13, 1 },
	{ "window_size", 14, 2 }, { NULL, 0, 0 },
};

/* As it was at first: the offset of the data and the flags are one number. */
static const struct part old_tcp[] = {
	{ "source", 0, 2 }, { "dest", 2, 2 },	 { "seq", 4, 4 }, { "ack_seq", 8, 4 },
	{ "flags", 12, 2 }, { "window", 14, 2 }, { NULL, 0, 0 },
};

static const struct part icmp[] = {
	{ "type", 0, 1 }, { "code", 1, 1 }, { "gateway", 4, 4 }, { NULL, 0, 0 }
};

static const struct part udp[] = {
	{ "source_port", 0, 2 }, { "dest_port", 2, 2 }, { "len", 4, 2 }, { NULL, 0, 0 }
};

static const struct part ipv4[] = {
	{ "tos", 1, 1 }, { "tot_len", 2, 2 },  { "id", 4, 2 }, { "frag_off", 6, 2 },
	{ "ttl", 8, 1 }, { "protocol", 9, 1 }, { NULL, 0, 0 },
};

static const struct part ipv6[] = {
	{ "payload_len", 4, 2 }, { "nexthdr", 6, 1 }, { "hop_limit", 7, 1 }, { NULL, 0, 0 }
};

/* A header of n bytes; what the event does not have of it is 0. */
static size_t put(struct ctf_places *places, const bt_field *header, const struct part *part,
		  uint8_t *d, size_t n)
{
	memset(d, 0, n);
	for (; part->name; part++) {
		uint64_t v = usk_ctf_number(places, header, part->name);
		for (size_t i = 0; i < part->size; i++) {
			d[part->at + i] = (uint8_t)(v >> 8 * (part->size - 1 - i));
		}
	}
	return n;
}

/* What follows an IP header with this protocol; 0: nothing of use. */
static size_t put_transport(struct ctf_places *places, const bt_field *payload, const bt_field *ip,
			    unsigned protocol, bool has_id, uint8_t *d)
{
	const bt_field *t = usk_ctf_member(places, ip, "transport_header");
	if (!t) {
		t = usk_ctf_member(places, payload, "transport_header");
		return protocol == PROTO_TCP && usk_ctf_member(places, t, "ack_seq")
			       ? put(places, t, old_tcp, d, 20)
			       : 0;
	}
	if (protocol == PROTO_TCP && usk_ctf_member(places, t, "data_offset")) {
		put(places, t, tcp, d, 20);
		d[12] = (uint8_t)(d[12] << 4);
		return 20;
	}
	if (protocol == PROTO_ICMP && usk_ctf_member(places, t, "type")) {
		return put(places, t, icmp, d, 8);
	}
	if (protocol == PROTO_UDP && has_id && usk_ctf_member(places, t, "source_port")) {
		return put(places, t, udp, d, 8);
	}
	return 0;
}

static size_t put_ipv4(struct ctf_places *places, const bt_field *payload, const bt_field *ip,
		       uint8_t *d, uint32_t *length)
{
	size_t header = (size_t)(usk_ctf_number(places, ip, "ihl") & 15) * 4;
	if (header < 20) {
		return 0;
	}
	put(places, ip, ipv4, d, header);
	d[0] = (uint8_t)(4 << 4 | header / 4);
	if (!usk_ctf_bytes(usk_ctf_member(places, ip, "saddr"), d + 12, 4) ||
	    !usk_ctf_bytes(usk_ctf_member(places, ip, "daddr"), d + 16, 4)) {
		return 0;
	}
	/* Segmentation offload beyond 64 KiB leaves 0 here: then the buffer's length counts. */
	uint32_t total = usk_be16(d + 2);
	*length = total ? total : *length;
	size_t n = put_transport(places, payload, ip, d[9], usk_be16(d + 4) != 0, d + header);
	return n ? header + n : 0;
}

static size_t put_ipv6(struct ctf_places *places, const bt_field *payload, const bt_field *ip,
		       uint8_t *d, uint32_t *length)
{
	put(places, ip, ipv6, d, 40);
	d[0] = 6 << 4;
	if (!usk_ctf_bytes(usk_ctf_member(places, ip, "saddr"), d + 8, 16) ||
	    !usk_ctf_bytes(usk_ctf_member(places, ip, "daddr"), d + 24, 16)) {
		return 0;
	}
	uint32_t follows = usk_be16(d + 4);
	*length = follows ? follows + 40 : *length;
	size_t n = put_transport(places, payload, ip, d[6], false, d + 40);
	return n ? 40 + n : 0;
}

bool usk_ctf_net_take(struct ctf_places *places, const bt_event *event, struct ctf_item *item)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	if (item->kind == CTF_INTERFACE) {
		item->n = 4;
		return usk_ctf_bytes(usk_ctf_member(places, payload, "address_ipv4"), item->bytes,
				     4) &&
		       item->bytes[0] && item->bytes[0] != 127;
	}
	item->n = 0;
	item->key = usk_ctf_number(places, payload, "skbaddr");
	if (item->kind == CTF_EARLY) {
		return true;
	}
	const bt_field *device = usk_ctf_member(places, payload, "name");
	if (device && bt_field_get_class_type(device) == BT_FIELD_CLASS_TYPE_STRING &&
	    !strcmp(bt_field_string_get_value(device), "lo")) {
		return false;
	}
	uint64_t len = usk_ctf_number(places, payload, "len");
	len -= item->kind == CTF_QUEUED && len >= ETHERNET_HEADER ? ETHERNET_HEADER : 0;
	item->length = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
	const bt_field *ip = usk_ctf_member(places, payload, "network_header");
	uint64_t version = usk_ctf_number(places, ip, "version");
	size_t n = version == 4	  ? put_ipv4(places, payload, ip, item->bytes, &item->length)
		   : version == 6 ? put_ipv6(places, payload, ip, item->bytes, &item->length)
				  : 0;
	item->n = (uint16_t)n;
	return n > 0;
}
