/* SPDX-License-Identifier: MIT */
/*
 * wlan.c - 802.11: the counter of an access point in its beacons
 *
 * In    beacons and answers to probes, as monitors record them, with radiotap or without
 * Out   the access point's counter (TSF) showed its value before we saw that
 * Why   ten times a second, in us, and the card puts it in while it sends
 * Not   what would bound the counter from the other side: no beacon answers anybody. Frames that
 * were damaged on the air, or that the monitor itself sent
 */
#include "protocol/protocol.h"
#include "base/bytes.h"

#include <stdio.h>

enum { LINK_80211 = 105, LINK_RADIOTAP = 127 };
enum { PROBE_RESPONSE = 0x50, BEACON = 0x80, BSSID = 16, TSF = 24, STAMPED = 32 };
enum { HAS_TSFT = 1, HAS_FLAGS = 2, HAS_TX = 1 << 15, BAD_FCS = 0x40 };

/* Bytes of the radiotap header; 0: it is none, or one of a frame that does not count. */
static size_t radiotap(const uint8_t *d, size_t n)
{
	size_t length = n < 8 ? 0 : usk_le16(d + 2), at = 8;
	if (length < 8 || length > n || d[0]) {
		return 0;
	}
	uint32_t has = usk_le32(d + 4), more = has;
	while (more >> 31 && at + 4 <= length) {
		more = usk_le32(d + at);
		at += 4;
	}
	/* Eight bytes lie at a multiple of eight. */
	at = has & HAS_TSFT ? (at + 7) / 8 * 8 + 8 : at;
	bool bad = has & HAS_FLAGS && at < length && d[at] & BAD_FCS;
	return bad || has & HAS_TX ? 0 : length;
}

static const uint8_t *in_frame(const struct usk_record *r, uint16_t link_type, size_t *n,
			       uint8_t *side)
{
	size_t skip = link_type == LINK_RADIOTAP ? radiotap(r->data, r->captured) : 0;
	if (link_type != LINK_80211 && !skip) {
		return NULL;
	}
	*side = (uint8_t)r->side;
	*n = r->captured - skip;
	return r->data + skip;
}

static void take(struct usk_listener *l, const struct usk_heard_packet *p)
{
	const uint8_t *d = p->data;
	/* Bits of the second byte say that it is encrypted, or a piece. */
	if (p->n < STAMPED || (d[0] != BEACON && d[0] != PROBE_RESPONSE) || d[1] & 0x44 ||
	    p->ip->side == USK_SIDE_SENT) {
		return;
	}
	uint64_t us = usk_le64(d + TSF);
	const uint8_t *b = d + BSSID;
	char name[32];
	snprintf(name, sizeof name, "%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4],
		 b[5]);
	if (us <= (uint64_t)USK_TIME_MAX / 1000) {
		usk_tell_named(l, name, true, (int64_t)us * 1000, 0, p->ip->time_ns);
	}
}

const struct usk_protocol usk_protocol_wlan = {
	.name = "wlan",
	.help = "beacons of 802.11",
	.in_frame = in_frame,
	.take = take,
};
