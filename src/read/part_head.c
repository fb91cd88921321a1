/* SPDX-License-Identifier: MIT */
/*
 * part_head.c - the little of a packet that matching can ever look at
 *
 * In    a record
 * Out   its first bytes, with zeros where nobody looks
 * Why   a part is small, and yet decodes to the same packet, whatever depth the captures that it is
 *       matched with turn out to agree to
 * Not   what is written of it (part_write.c)
 *
 * Of plain packets it is known where the last byte stands that counts. Of all others it is asked:
 * they are decoded as they are and as they would be kept, and where that differs more is kept.
 */
#include "read/link.h"
#include "read/part.h"

#include <string.h>

enum {
	MAC = 12, /* bytes of both addresses; all that counts is whether the first is a group's */
	IP_TOS = 1,
	IP_SUM = 10,
	TCP_SUM = 16,	 /* and the urgent pointer */
	FIRST_TRY = 160, /* bytes of what is neither TCP nor UDP */
	UDP_PAYLOAD = 48,
	TCP = 6,
};

/* What decoding tells of a record. */
struct told {
	bool taken, sound;
	struct usk_packet p;
	struct usk_counts left_out;
	uint32_t link_bytes, device;
};

static struct told ask(const struct usk_record *r, uint16_t link)
{
	struct told x;
	memset(&x, 0, sizeof x);
	x.taken = usk_packet_decode(r, link, USK_DEPTH_ALL, &x.p, &x.left_out);
	if (!x.taken) {
		memset(&x.p, 0, sizeof x.p);
	}
	x.sound = usk_packet_is_sound(r, link);
	x.link_bytes = usk_packet_link_bytes(r, link);
	x.device = usk_link_device(r, link);
	return x;
}

static bool packets_same(const struct usk_packet *a, const struct usk_packet *b)
{
	return a->time_ns == b->time_ns && a->key == b->key && usk_addr_same(a->src, b->src) &&
	       usk_addr_same(a->dst, b->dst) && a->sport == b->sport && a->dport == b->dport &&
	       a->proto == b->proto && a->flags == b->flags && a->ttl == b->ttl &&
	       a->side == b->side && a->seq == b->seq && a->ack == b->ack && a->tsval == b->tsval &&
	       a->tsecr == b->tsecr && a->bytes == b->bytes && a->ip_id == b->ip_id &&
	       a->window == b->window && a->has == b->has;
}

static bool same(const struct told *a, const struct told *b)
{
	const struct usk_counts *m = &a->left_out, *n = &b->left_out;
	return a->taken == b->taken && a->sound == b->sound && a->link_bytes == b->link_bytes &&
	       a->device == b->device && packets_same(&a->p, &b->p) &&
	       m->fragments == n->fragments && m->not_ip == n->not_ip &&
	       m->loopback == n->loopback && m->cut_short == n->cut_short && m->alike == n->alike;
}

static void forget_addresses(uint8_t *d)
{
	d[0] &= 1;
	memset(d + 1, 0, MAC - 1);
}

/* A sum that is right is as good as one that was left to hardware. */
static void forget_sum(uint8_t *ip, bool sound)
{
	if (sound) {
		ip[IP_TOS] = 0;
		memset(ip + IP_SUM, 0, 2);
	}
}

static size_t plain(const struct usk_record *r, uint16_t link, uint8_t *out)
{
	const uint8_t *d = r->data;
	enum { IP = 14, TRANSPORT = 34 };
	size_t n = TRANSPORT + (d[TRANSPORT + 12] >> 4) * 4u;
	n = n < r->captured ? n : r->captured;
	memcpy(out, d, n);
	forget_addresses(out);
	forget_sum(out + IP, usk_packet_is_sound(r, link));
	memset(out + TRANSPORT + TCP_SUM, 0, 4);
	return n;
}

/* Without what hardly anybody looks at: whether nobody does is asked afterwards. */
static void forget(const struct usk_record *r, uint16_t link, size_t n, bool sound, uint8_t *out)
{
	uint32_t ip = usk_packet_link_bytes(r, link);
	memcpy(out, r->data, n);
	if (link == LINK_ETHERNET && n >= MAC) {
		forget_addresses(out);
	}
	if (ip != UINT32_MAX && ip + 20 <= n && out[ip] >> 4 == 4) {
		forget_sum(out + ip, sound);
	}
}

size_t usk_part_head(const struct usk_record *r, uint16_t link, uint8_t *out, uint32_t *flow)
{
	struct usk_glance g;
	if (usk_packet_glance(r, link, &g)) {
		*flow = (uint32_t)usk_fold(g.src << 32 | (uint32_t)g.dst, usk_be32(r->data + 34));
		return plain(r, link, out);
	}
	const struct told is = ask(r, link);
	size_t left, n = FIRST_TRY;
	struct usk_packet p;
	const uint8_t *payload = usk_packet_payload(r, link, &p, &left);
	if (payload) {
		n = (size_t)(payload - r->data);
		n += p.proto == TCP ? 0 : UDP_PAYLOAD;
	}
	*flow = is.taken ? (uint32_t)usk_fold(usk_fold(is.p.src.lo, is.p.dst.lo),
					      (uint32_t)is.p.sport << 16 | is.p.dport)
			 : 0;
	for (;; n *= 2) {
		n = n < r->captured ? n : r->captured;
		forget(r, link, n, is.sound, out);
		struct usk_record kept = *r;
		kept.data = out;
		kept.captured = (uint32_t)n;
		struct told would = ask(&kept, link);
		if (same(&is, &would)) {
			return n;
		}
		if (n == r->captured) {
			memcpy(out, r->data, n);
			return n;
		}
	}
}
