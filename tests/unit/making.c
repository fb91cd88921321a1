/* SPDX-License-Identifier: MIT */
#include "making.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_PAYLOAD = 256 };

/* n bytes more, not written yet. */
static uint8_t *room(struct bytes *b, size_t n)
{
	while (b->n + n > b->cap) {
		b->cap = b->cap ? b->cap * 2 : 256;
		b->data = usk_grow(b->data, b->cap, 1);
	}
	b->n += n;
	return b->data + b->n - n;
}

void put(struct bytes *b, const void *data, size_t n)
{
	if (n) {
		memcpy(room(b, n), data, n);
	}
}

static void put_number(struct bytes *b, uint64_t v, unsigned size)
{
	uint8_t d[8];
	for (unsigned i = 0; i < size; i++) {
		d[b->big ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
	}
	put(b, d, size);
}

void put8(struct bytes *b, unsigned v)
{
	put_number(b, v, 1);
}

void put16(struct bytes *b, unsigned v)
{
	put_number(b, v, 2);
}

void put32(struct bytes *b, uint32_t v)
{
	put_number(b, v, 4);
}

void put64(struct bytes *b, uint64_t v)
{
	put_number(b, v, 8);
}

void put_zeros(struct bytes *b, size_t n)
{
	if (n) {
		memset(room(b, n), 0, n);
	}
}

void put_text(struct bytes *b, const char *text)
{
	put(b, text, strlen(text));
}

void patch32(struct bytes *b, size_t at, uint32_t v)
{
	size_t n = b->n;
	b->n = at;
	put32(b, v);
	b->n = n;
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ .big = b->big };
}

/* ---- classic captures ----------------------------------------------------------- */

void pcap_begin(struct bytes *b, uint32_t magic, uint32_t snap, uint32_t link)
{
	put32(b, magic);
	put16(b, 2);
	put16(b, 4);
	put64(b, 0);
	put32(b, snap);
	put32(b, link);
}

void pcap_record(struct bytes *b, uint32_t s, uint32_t fraction, const void *data,
		 uint32_t captured, uint32_t length)
{
	put32(b, s);
	put32(b, fraction);
	put32(b, captured);
	put32(b, length);
	put(b, data, captured);
}

void pcap_record_ns(struct bytes *b, int64_t ns, const void *data, uint32_t captured,
		    uint32_t length)
{
	pcap_record(b, (uint32_t)(ns / 1000000000), (uint32_t)(ns % 1000000000), data, captured,
		    length);
}

/* ---- pcapng --------------------------------------------------------------------- */

size_t ng_begin(struct bytes *b, uint32_t type)
{
	size_t at = b->n;
	put32(b, type);
	put32(b, 0);
	return at;
}

void ng_option(struct bytes *b, unsigned code, const void *data, size_t n)
{
	put16(b, code);
	put16(b, (unsigned)n);
	put(b, data, n);
	put_zeros(b, (4 - n % 4) % 4);
}

void ng_end(struct bytes *b, size_t begun)
{
	uint32_t size = (uint32_t)(b->n - begun + 4);
	put32(b, size);
	patch32(b, begun + 4, size);
}

void ng_section(struct bytes *b)
{
	size_t at = ng_begin(b, 0x0a0d0d0a);
	put32(b, 0x1a2b3c4d);
	put16(b, 1);
	put16(b, 0);
	put64(b, UINT64_MAX);
	ng_end(b, at);
}

void ng_interface(struct bytes *b, unsigned link, uint32_t snap, unsigned tsresol)
{
	uint8_t resolution = (uint8_t)tsresol;
	size_t at = ng_begin(b, NG_INTERFACE);
	put16(b, link);
	put16(b, 0);
	put32(b, snap);
	if (tsresol != 6) {
		ng_option(b, 9, &resolution, 1);
		ng_option(b, 0, NULL, 0);
	}
	ng_end(b, at);
}

void ng_packet(struct bytes *b, uint32_t iface, uint64_t ticks, const void *data, uint32_t captured,
	       uint32_t length)
{
	size_t at = ng_begin(b, NG_PACKET);
	put32(b, iface);
	put32(b, (uint32_t)(ticks >> 32));
	put32(b, (uint32_t)ticks);
	put32(b, captured);
	put32(b, length);
	put(b, data, captured);
	put_zeros(b, (4 - captured % 4) % 4);
	ng_end(b, at);
}

/* ---- packets -------------------------------------------------------------------- */

static void link_header(const struct packet *p, struct bytes *b, unsigned ether_type)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	switch (p->link) {
	case LINK_ETHERNET:
		put(b, macs, sizeof macs);
		break;
	case LINK_SLL:
		put16(b, p->cooked);
		put16(b, 1);
		put16(b, 6);
		put(b, macs, 8);
		break;
	case LINK_SLL2:
		break;
	case LINK_NULL:
		put32(b, p->v6 ? 24 : 2);
		return;
	case LINK_LOOP:
		put32(b, p->v6 ? 30 : 2);
		return;
	default:
		return;
	}
	unsigned tag = p->tags == 2 ? 0x88a8 : 0x8100;
	put16(b, p->tags ? tag : ether_type);
	if (p->link == LINK_SLL2) {
		put_zeros(b, 2);
		put16(b, p->device >> 16);
		put16(b, p->device & 0xffff);
		put16(b, 1);
		put8(b, p->cooked);
		put8(b, 6);
		put(b, macs, 8);
	}
	for (unsigned i = p->tags; i; i--) {
		put16(b, 100 + i);
		put16(b, i > 1 ? 0x8100 : ether_type);
	}
}

static void addr6(struct bytes *b, uint32_t host)
{
	put64(b, UINT64_C(0xfd00000000000000));
	put64(b, host);
}

static uint8_t next_header(const struct packet *p)
{
	return p->proto ? p->proto : TCP;
}

/* On the wire: its length is in units that depend on what it is. */
static size_t extension_size(const uint8_t *x)
{
	return x[0] == 51 ? (x[2] + 2u) * 4u : x[0] == 44 ? 8 : (x[2] + 1u) * 8u;
}

static uint32_t extensions_size(const struct packet *p)
{
	size_t sum = 0;
	for (size_t at = 0; at < p->n_extension; at += extension_size(p->extension + at) + 1) {
		sum += extension_size(p->extension + at);
	}
	return (uint32_t)sum;
}

/* bytes: of what follows the IP header */
static void ip_header(const struct packet *p, struct bytes *b, uint32_t bytes)
{
	uint8_t ttl = p->ttl ? p->ttl : 64;
	if (p->v6) {
		uint32_t length = bytes + extensions_size(p);
		put32(b, UINT32_C(6) << 28);
		put16(b, length > 65535 ? 0 : length);
		put8(b, p->n_extension ? p->extension[0] : next_header(p));
		put8(b, ttl);
		addr6(b, p->src);
		if (p->multicast) {
			put64(b, UINT64_C(0xff02000000000000));
			put64(b, 0xfb);
		} else {
			addr6(b, p->dst);
		}
		/* The number of each stands before it; on the wire it stands in the one before. */
		for (size_t at = 0; at < p->n_extension;) {
			const uint8_t *x = p->extension + at;
			size_t size = extension_size(x);
			at += size + 1;
			put8(b, at < p->n_extension ? p->extension[at] : next_header(p));
			put(b, x + 2, size - 1);
		}
		return;
	}
	uint32_t header = 20 + 4 * p->ip_options, total = header + bytes;
	put8(b, 0x40 | (5 + p->ip_options));
	put8(b, 0);
	put16(b, total > 65535 ? 0 : total);
	put16(b, p->ip_id);
	put16(b, p->fragment ? p->fragment : 0x4000);
	put8(b, ttl);
	put8(b, next_header(p));
	put16(b, 0);
	put32(b, p->src);
	put32(b, p->multicast ? UINT32_C(0xe00000fb) : p->dst);
	for (unsigned i = 0; i < p->ip_options; i++) {
		put32(b, 0x01010101);
	}
}

static uint32_t transport_header(const struct packet *p)
{
	switch (next_header(p)) {
	case TCP:
		return p->timestamps ? 32 : 20;
	default:
		return 8;
	}
}

static void transport(const struct packet *p, struct bytes *b)
{
	switch (next_header(p)) {
	case TCP:
		put16(b, p->sport);
		put16(b, p->dport);
		put32(b, p->seq);
		put32(b, p->ack);
		put8(b, p->timestamps ? 0x80 : 0x50);
		put8(b, p->flags ? p->flags : ACK);
		put16(b, p->window);
		put32(b, 0x12340000);
		if (p->timestamps) {
			put32(b, 0x0101080a);
			put32(b, p->tsval);
			put32(b, p->tsecr);
		}
		break;
	case UDP:
		put16(b, p->sport);
		put16(b, p->dport);
		put16(b, p->payload + 8);
		put16(b, 0x4321);
		break;
	default: /* an echo request with identifier and number */
		put8(b, p->flags ? p->flags : 8);
		put8(b, 0);
		put16(b, 0x5555);
		put16(b, p->sport);
		put16(b, p->dport);
		break;
	}
	uint32_t kept = p->payload < KEPT_PAYLOAD ? p->payload : KEPT_PAYLOAD;
	for (uint32_t i = 0; i < kept; i++) {
		put8(b, (unsigned)(usk_mix(p->content + 1) >> 8 * (i % 8)) & 255);
	}
}

static void outside(const struct packet *p, struct bytes *b, uint32_t inside)
{
	struct packet o = { .src = UINT32_C(0xc0000201), .dst = UINT32_C(0xc0000202) };
	o.proto = p->tunnel == VXLAN ? UDP : p->tunnel;
	o.ip_id = 0x7777;
	switch (p->tunnel) {
	case GRE:
		ip_header(&o, b, inside + 8);
		put16(b, 0x2000); /* with a key */
		put16(b, p->v6 ? 0x86dd : 0x0800);
		put32(b, 99);
		break;
	case VXLAN:
		ip_header(&o, b, inside + 8 + 8 + 14);
		put16(b, 50000);
		put16(b, 4789);
		put16(b, inside + 8 + 8 + 14);
		put16(b, 0);
		put32(b, 0x08000000);
		put32(b, 42 << 8);
		link_header(&(struct packet){ .link = LINK_ETHERNET }, b, p->v6 ? 0x86dd : 0x0800);
		break;
	default:
		ip_header(&o, b, inside);
		break;
	}
}

uint32_t packet_bytes(const struct packet *p, struct bytes *out)
{
	struct bytes b = { .big = true };
	uint32_t bytes = transport_header(p) + p->payload;
	bool outer_v4 = p->tunnel || !p->v6;
	link_header(p, &b, outer_v4 ? 0x0800 : 0x86dd);
	if (p->tunnel) {
		uint32_t header = p->v6 ? 40 + extensions_size(p) : 20 + 4 * p->ip_options;
		outside(p, &b, header + bytes);
	}
	ip_header(p, &b, bytes);
	transport(p, &b);
	uint32_t kept = p->payload < KEPT_PAYLOAD ? p->payload : KEPT_PAYLOAD;
	put(out, b.data, b.n);
	uint32_t wire = (uint32_t)b.n + p->payload - kept;
	bytes_free(&b);
	return wire;
}
