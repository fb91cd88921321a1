/* SPDX-License-Identifier: MIT */
/*
 * frame.c - the bytes of a packet: link, VLAN, IP, TCP, UDP, ICMP, checksums
 *
 * In    what a packet says, and the vantage point that looks at it
 * Out   the frame as a capture there would hold it
 * Why   valid to the last checksum, so that any decoder can be held against it
 * Not   fragments, RST
 *
 * TCP payload is a text of period 64 that is a function of the stream offset: what is sent
 * again has the same bytes, and its checksum costs nothing. A datagram's payload begins with
 * 16 random bytes, then the text.
 */
#include "frame.h"

#include <string.h>

#define PERIOD 64
#define TEXT   "unskew simulated this payload; its only purpose is its length. \n"
#define TEXT4  TEXT TEXT TEXT TEXT
#define TEXT16 TEXT4 TEXT4 TEXT4 TEXT4

static const char text[] = TEXT16 TEXT;

_Static_assert(sizeof TEXT == PERIOD + 1, "the text is one period");
_Static_assert(sizeof text > SIM_BODY_STEP + PERIOD, "every phase has a whole step");

static uint8_t *put16(uint8_t *p, uint32_t x)
{
	p[0] = (uint8_t)(x >> 8);
	p[1] = (uint8_t)x;
	return p + 2;
}

static uint8_t *put32(uint8_t *p, uint32_t x)
{
	return put16(put16(p, x >> 16), x & 0xffff);
}

static uint8_t *put64(uint8_t *p, uint64_t x)
{
	return put32(put32(p, (uint32_t)(x >> 32)), (uint32_t)x);
}

static uint64_t sum_bytes(const uint8_t *p, size_t n)
{
	uint64_t sum = 0;
	for (; n > 1; p += 2, n -= 2) {
		sum += (uint32_t)p[0] << 8 | p[1];
	}
	return n ? sum + ((uint32_t)p[0] << 8) : sum;
}

static uint64_t sum_text(uint32_t phase, uint32_t n)
{
	const uint8_t *p = (const uint8_t *)text + phase;
	return (uint64_t)(n / PERIOD) * sum_bytes(p, PERIOD) + sum_bytes(p, n % PERIOD);
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16) {
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)sum;
}

static uint32_t host_ip4(uint32_t host)
{
	return UINT32_C(0x0a000000) | (host / 250) << 8 | (host % 250 + 1);
}

/* What others see of a host behind its NAT: 198.18.0.0/15, kept for tests. */
static uint32_t nat_ip4(uint32_t host)
{
	return UINT32_C(0xc6120000) | (host / 250) << 8 | (host % 250 + 1);
}

/* An address as the vantage point sees it; v6 embeds the same number. */
static uint32_t address(const struct sim_packet *p, bool client, bool at_client)
{
	if (p->unrelated && !client) {
		return p->remote;
	}
	if (p->broadcast && !client) {
		return p->v6 ? 1 : UINT32_C(0x0affffff); /* ff02::1, 10.255.255.255 */
	}
	uint32_t host = client ? p->client : p->server;
	return client && p->nat && !at_client ? nat_ip4(host) : host_ip4(host);
}

#define GATEWAY UINT32_C(0xfffe)
#define ALL	UINT32_MAX
#define ALL_V6	(UINT32_MAX - 1)

static uint8_t *put_mac(uint8_t *p, uint32_t host)
{
	if (host == ALL) {
		return put32(put16(p, 0xffff), ALL);
	}
	return host == ALL_V6 ? put32(put16(p, 0x3333), 1) : put32(put16(p, 0x0200), host);
}

static uint8_t *put_link(uint8_t *p, const struct sim_packet *k, const struct sim_view *v)
{
	uint16_t type = k->v6 ? 0x86dd : 0x0800;
	uint16_t first = v->vlan == 2 ? 0x88a8 : v->vlan == 1 ? 0x8100 : type;
	uint32_t sender = k->from_client ? k->client : k->server;
	uint32_t receiver = k->from_client ? k->server : k->client;
	if (k->hops || k->unrelated) {
		sender = v->received ? GATEWAY : sender;
		receiver = v->received ? receiver : GATEWAY;
	}
	/* Packet type of cooked captures: to us, broadcast, multicast, outgoing. */
	uint8_t kind = !v->received ? 4 : !k->broadcast ? 0 : k->v6 ? 2 : 1;
	if (k->broadcast) {
		receiver = k->v6 ? ALL_V6 : ALL;
	}
	switch (v->link) {
	case SIM_ETHERNET:
		p = put16(put_mac(put_mac(p, receiver), sender), first);
		break;
	case SIM_SLL:
		p = put16(put16(put16(p, kind), 1), 6);
		p = put16(put16(put_mac(p, sender), 0), first);
		break;
	case SIM_SLL2:
		p = put16(put32(put16(put16(p, first), 0), 2), 1);
		*p++ = kind;
		*p++ = 6;
		p = put16(put_mac(p, sender), 0);
		break;
	case SIM_NULL: { /* in the order of the machine that captured */
		uint32_t family = k->v6 ? 30 : 2;
		memcpy(p, &family, 4);
		return p + 4;
	}
	case SIM_RAW:
		return p;
	}
	if (v->vlan == 2) {
		p = put16(put16(p, 200), 0x8100);
	}
	if (v->vlan) {
		p = put16(put16(p, 42), type);
	}
	return p;
}

static uint32_t link_size(enum sim_link link, unsigned vlan)
{
	switch (link) {
	case SIM_ETHERNET:
		return 14 + 4 * vlan;
	case SIM_SLL:
		return 16 + 4 * vlan;
	case SIM_SLL2:
		return 20 + 4 * vlan;
	case SIM_NULL:
		return 4;
	case SIM_RAW:
		break;
	}
	return 0;
}

uint32_t sim_visible(const struct sim_packet *p, enum sim_link link, unsigned vlan,
		     uint32_t snaplen)
{
	uint32_t before = link_size(link, vlan) + (p->v6 ? 40 : 20) + 8;
	uint32_t room = snaplen > before ? snaplen - before : 0;
	return room < p->len ? room : p->len;
}

static uint8_t *put_timestamps(uint8_t *p, const struct sim_packet *k)
{
	*p++ = 8;
	*p++ = 10;
	return put32(put32(p, k->tsval), k->tsecr);
}

static uint8_t *put_tcp_options(uint8_t *p, const struct sim_packet *k)
{
	if (k->flags & TCP_SYN) {
		p = put16(put16(p, 0x0204), k->mss);
		if (k->sack_ok) {
			if (!k->timestamps) {
				p = put16(p, 0x0101);
			}
			p = put16(p, 0x0402);
		} else if (k->timestamps) {
			p = put16(p, 0x0101);
		}
		if (k->timestamps) {
			p = put_timestamps(p, k);
		}
		return put32(p, 0x01030307); /* NOP, window scale 7 */
	}
	if (k->timestamps) {
		p = put_timestamps(put16(p, 0x0101), k);
	}
	if (k->n_sack) {
		p = put16(p, 0x0101);
		*p++ = 5;
		*p++ = (uint8_t)(2 + 8 * k->n_sack);
		for (unsigned i = 0; i < 2u * k->n_sack; i++) {
			p = put32(p, k->sack[i]);
		}
	}
	return p;
}

/* Transport header at p; returns its end, *check where its checksum goes. */
static uint8_t *put_transport(uint8_t *p, const struct sim_packet *k, bool at_client,
			      uint8_t **check)
{
	uint8_t *start = p;
	uint16_t mine = at_client || !k->nat ? k->client_port : k->nat_port;
	uint16_t sport = k->from_client ? mine : k->server_port;
	uint16_t dport = k->from_client ? k->server_port : mine;
	switch (k->proto) {
	case PROTO_TCP:
		p = put32(put32(put16(put16(p, sport), dport), k->seq), k->ack);
		p = put16(put16(p, k->flags), k->window);
		*check = p;
		p = put_tcp_options(put32(p, 0), k);
		start[12] = (uint8_t)((p - start) / 4 << 4);
		return p;
	case PROTO_UDP:
		p = put16(put16(put16(p, sport), dport), k->len + 8);
		*check = p;
		return put16(p, 0);
	default: /* echo request and reply */
		*p++ = k->from_client ? (k->v6 ? 128 : 8) : (k->v6 ? 129 : 0);
		*p++ = 0;
		*check = p;
		p = put16(p, 0);
		return put16(put16(p, k->client_port), k->seq & 0xffff);
	}
}

static uint8_t *put_address(uint8_t *p, uint32_t a, bool v6)
{
	/* fd00::/8 for inside, 2001:db8::/32 for what NAT or the world shows, ff02::1 for all. */
	if (v6) {
		p = put32(p, a >> 24 == 10 ? 0xfd000000 : a == 1 ? 0xff020000 : 0x20010db8);
		p = put64(p, 0);
	}
	return put32(p, a);
}

static uint8_t *put_ip(uint8_t *p, const struct sim_packet *k, const struct sim_view *v,
		       uint32_t payload)
{
	uint32_t src = address(k, k->from_client, v->at_client);
	uint32_t dst = address(k, !k->from_client, v->at_client);
	uint8_t ttl = (uint8_t)(64 - (v->received ? k->hops : 0));
	if (k->v6) {
		p = put16(put32(p, 0x60000000), payload);
		*p++ = k->proto == PROTO_ICMP ? PROTO_ICMP6 : k->proto;
		*p++ = ttl;
		return put_address(put_address(p, src, true), dst, true);
	}
	uint8_t *start = p;
	p = put16(put16(p, 0x4500), payload + 20);
	p = put16(put16(p, k->ip_id), 0x4000); /* don't fragment */
	*p++ = ttl;
	*p++ = k->proto;
	uint8_t *check = p;
	p = put_address(put_address(put16(p, 0), src, false), dst, false);
	put16(check, (uint16_t)~fold(sum_bytes(start, 20)));
	return p;
}

static uint64_t pseudo_header(const uint8_t *ip, const struct sim_packet *k, uint32_t payload)
{
	uint8_t proto = k->v6 && k->proto == PROTO_ICMP ? PROTO_ICMP6 : k->proto;
	uint64_t addresses = k->v6 ? sum_bytes(ip + 8, 32) : sum_bytes(ip + 12, 8);
	return addresses + proto + payload;
}

void sim_frame_build(struct sim_frame *f, const struct sim_packet *k, const struct sim_view *v)
{
	uint8_t *check = NULL;
	uint8_t *ip = put_link(f->head, k, v);
	/* The IP header needs the length of the transport header: that one first. */
	uint8_t *transport = ip + (k->v6 ? 40 : 20);
	uint8_t *p = put_transport(transport, k, v->at_client, &check);
	uint32_t header = (uint32_t)(p - transport);
	put_ip(ip, k, v, header + k->len);

	uint32_t phase = (uint32_t)(k->offset % PERIOD), inside = 0;
	if (k->proto != PROTO_TCP) {
		uint8_t nonce[16];
		put64(put64(nonce, k->nonce[0]), k->nonce[1]);
		inside = k->len < 16 ? k->len : 16;
		memcpy(p, nonce, inside);
		phase = 0;
	}
	uint64_t sum = 0;
	if (k->proto != PROTO_ICMP || k->v6) {
		sum = pseudo_header(ip, k, header + k->len);
	}
	if (v->partial_sum && k->proto != PROTO_ICMP) {
		put16(check, fold(sum));
	} else {
		sum += sum_bytes(transport, header + inside) + sum_text(phase, k->len - inside);
		uint16_t c = (uint16_t)~fold(sum);
		put16(check, c || k->proto != PROTO_UDP ? c : 0xffff);
	}
	f->n_head = (uint32_t)(p - f->head) + inside;
	f->body = (const uint8_t *)text + phase;
	f->n_body = k->len - inside;
	uint32_t all = f->n_head + f->n_body;
	/* Short frames arrive padded; on the way out the padding comes after the capture. */
	f->n_pad = v->link == SIM_ETHERNET && v->received && all < 60 ? 60 - all : 0;
}
