/* SPDX-License-Identifier: MIT */
/*
 * link.c - from a frame of any link to the IP packet in it
 *
 * In    a frame, its link type
 * Out   where the IP packet begins, who sent it if the link says so
 * Why   a row for each link type; numbers and headers are those of tcpdump.org/linktypes.html
 * Not   frames that are encrypted, aggregated or of a bad check sum: they hold no packet that
 * another capture could hold as well
 */
#include "read/link.h"

#ifdef USK_HAVE_LIBPCAP
#include <pcap/pcap.h>
#endif
#include <string.h>

enum {
	LINK_COOKED = 113,
	LINK_COOKED2 = 276,
	LINK_WIFI = 105,

	ETHER_VLAN = 0x8100,
	ETHER_QINQ = 0x88a8,
	ETHER_QINQ_OLD = 0x9100,
	ETHER_PPPOE = 0x8864,
	LONGEST_802_3 = 1500, /* what is more is a type */

	MAX_NESTED = 2, /* headers that name the link type of what they hold */
};

struct frame {
	const uint8_t *d;
	size_t n;
	uint8_t side;
	int nested;
};

/* The frame from byte `at` on; false: it ends before. */
static bool pass(struct frame *f, size_t at)
{
	if (f->n < at) {
		return false;
	}
	f->d += at;
	f->n -= at;
	return true;
}

static bool is_ip(struct frame *f)
{
	return f->n > 0;
}

/* Address and control may be left out, as may the first byte of the protocol. */
static bool ppp(struct frame *f)
{
	size_t at = f->n >= 2 && usk_be16(f->d) == 0xff03 ? 2 : 0;
	at += f->n > at && !f->d[at];
	return f->n > at + 1 && (f->d[at] == 0x21 || f->d[at] == 0x57) && pass(f, at + 1);
}

static bool pppoe(struct frame *f)
{
	/* Version and type 1, code 0: a session. */
	return f->n > 6 && usk_be16(f->d) == 0x1100 && pass(f, 6) && ppp(f);
}

/* LLC with a SNAP header: RFC 1042. The type that it says; 0: it is none. */
static unsigned snap_type(const struct frame *f)
{
	static const uint8_t begin[] = { 0xaa, 0xaa, 3, 0, 0, 0 };
	return f->n >= 8 && !memcmp(f->d, begin, sizeof begin) ? usk_be16(f->d + 6) : 0;
}

/* Past VLAN tags to the IP packet; in the place of a type IEEE 802.3 may have the frame's length. */
static bool ether_type(struct frame *f, size_t at, unsigned type)
{
	while (type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD) {
		if (f->n < at + 4) {
			return false;
		}
		type = usk_be16(f->d + at + 2);
		at += 4;
	}
	if (!pass(f, at)) {
		return false;
	}
	if (type <= LONGEST_802_3) {
		type = snap_type(f);
		return pass(f, 8) && (type == ETHER_IPV4 || type == ETHER_IPV6);
	}
	return type == ETHER_IPV4 || type == ETHER_IPV6 || (type == ETHER_PPPOE && pppoe(f));
}

static bool ethernet(struct frame *f)
{
	return f->n >= 14 && ether_type(f, 14, usk_be16(f->d + 12));
}

static bool snap(struct frame *f)
{
	unsigned type = snap_type(f);
	return type && ether_type(f, 8, type);
}

/* A source route stands behind the addresses if the sender's first bit says so. */
static bool token_ring(struct frame *f)
{
	return f->n >= 15 && pass(f, 14 + (f->d[8] & 0x80 ? f->d[14] & 0x1fu : 0)) && snap(f);
}

static bool cisco_hdlc(struct frame *f)
{
	return f->n >= 4 && (f->d[0] == 0x0f || f->d[0] == 0x8f) &&
	       ether_type(f, 4, usk_be16(f->d + 2));
}

static bool ppp_serial(struct frame *f)
{
	return f->n >= 4 && f->d[0] != 0xff ? cisco_hdlc(f) : ppp(f);
}

static bool ppp_with_direction(struct frame *f)
{
	f->side = f->n && f->d[0] ? USK_SIDE_SENT : USK_SIDE_RECEIVED;
	return pass(f, 1) && ppp(f);
}

/* Who sent it stands in the place of the address. */
static bool pppd(struct frame *f)
{
	f->side = f->n && f->d[0] ? USK_SIDE_SENT : USK_SIDE_RECEIVED;
	return pass(f, 2) && ppp(f);
}

/* The packet cooked captures call outgoing; 0 is to us, 1 to 2 to everyone, 3 to others. */
static uint8_t cooked_side(unsigned type)
{
	return type == 4 ? USK_SIDE_SENT : type <= 2 ? USK_SIDE_RECEIVED : USK_SIDE_UNKNOWN;
}

static bool cooked(struct frame *f)
{
	if (f->n < 16) {
		return false;
	}
	f->side = cooked_side(usk_be16(f->d));
	return ether_type(f, 16, usk_be16(f->d + 14));
}

static bool cooked2(struct frame *f)
{
	if (f->n < 20) {
		return false;
	}
	f->side = cooked_side(f->d[10]);
	return ether_type(f, 20, usk_be16(f->d));
}

/* What precedes the packet is in nobody's byte order, or of no use: the version nibble of the IP
 * header says the same without guessing. */
static bool passed(struct frame *f)
{
	return f->d != NULL;
}

/* Its length is that without padding. */
static bool pflog(struct frame *f)
{
	return f->n && f->d[0] >= 45 && pass(f, (f->d[0] + 3u) & ~3u);
}

/* Attributes, each of a length and a type in the recording host's byte order, up to the packet. */
static bool nflog(struct frame *f)
{
	enum { PAYLOAD = 9 };
	bool begun = pass(f, 4);
	while (begun && f->n >= 4) {
		/* The low byte of a type is never 0, and its high byte is. */
		bool swap = (!f->d[2]) == USK_SWAP_NETWORK;
		size_t n = usk_load16(f->d, swap);
		if (n < 4 || n > f->n) {
			/* What is cut short is the packet, which is the last of them. */
			return usk_load16(f->d + 2, swap) == PAYLOAD && n >= 4 && pass(f, 4);
		}
		if (usk_load16(f->d + 2, swap) == PAYLOAD) {
			f->n = n;
			return pass(f, 4);
		}
		begun = pass(f, (n + 3) & ~(size_t)3);
	}
	return false;
}

/* Bytes between the header and what it heads are for the recording card's comfort. */
static bool wifi_padded(struct frame *f, size_t align)
{
	enum { DATA = 0x08, EMPTY = 0x40, QOS = 0x80, BOTH = 3, PROTECTED = 0x40, ORDER = 0x80 };
	if (f->n < 24 || (f->d[0] & 0x0f) != DATA || f->d[0] & EMPTY || f->d[1] & PROTECTED) {
		return false;
	}
	size_t at = (f->d[1] & BOTH) == BOTH ? 30 : 24;
	if (f->d[0] & QOS) {
		if (f->n < at + 2 || f->d[at] & 0x80) { /* several packets in one */
			return false;
		}
		at += f->d[1] & ORDER ? 6 : 2;
	}
	return pass(f, (at + align - 1) & ~(align - 1)) && snap(f);
}

static bool wifi(struct frame *f)
{
	return wifi_padded(f, 1);
}

static bool radiotap(struct frame *f)
{
	enum { TSFT = 1, FLAGS = 2, PADDED = 0x20, BAD = 0x40 };
	if (f->n < 8 || f->d[0]) {
		return false;
	}
	size_t n = usk_le16(f->d + 2), at = 8;
	uint32_t has = usk_le32(f->d + 4), more = has;
	if (n < 8 || n > f->n) {
		return false;
	}
	for (; more >> 31 && at + 4 <= n; at += 4) {
		more = usk_le32(f->d + at);
	}
	at = has & TSFT ? ((at + 7) & ~(size_t)7) + 8 : at;
	unsigned flags = has & FLAGS && at < n ? f->d[at] : 0;
	return !(flags & BAD) && pass(f, n) && wifi_padded(f, flags & PADDED ? 4 : 1);
}

static bool avs(struct frame *f)
{
	return f->n >= 8 && pass(f, usk_be32(f->d + 4)) && wifi(f);
}

/* Some drivers call AVS headers so, too. */
static bool prism(struct frame *f)
{
	return f->n >= 8 && usk_be32(f->d) >> 12 == 0x80211 ? avs(f) : pass(f, 144) && wifi(f);
}

static bool by_type(struct frame *f, uint32_t link);

static bool ppi(struct frame *f)
{
	if (f->n < 8) {
		return false;
	}
	size_t n = usk_le16(f->d + 2);
	uint32_t link = usk_le32(f->d + 4);
	return n >= 8 && pass(f, n) && by_type(f, link);
}

/* What tcpdump of macOS writes of several interfaces. */
static bool pktap(struct frame *f)
{
	if (f->n < 40) {
		return false;
	}
	size_t n = usk_le32(f->d);
	uint32_t link = usk_le32(f->d + 8), flags = usk_le32(f->d + 36) & 3;
	if (n < 40 || !pass(f, n) || !by_type(f, link)) {
		return false;
	}
	f->side = flags == 1 ? USK_SIDE_RECEIVED : flags == 2 ? USK_SIDE_SENT : f->side;
	return true;
}

static const struct {
	uint16_t link;
	uint16_t bytes; /* before what the function strips */
	bool (*strip)(struct frame *f);
} links[] = {
	{ LINK_ETHERNET, 0, ethernet },
	{ LINK_COOKED, 0, cooked },
	{ LINK_COOKED2, 0, cooked2 },
	{ 0, 4, passed },		/* of BSD: loopback */
	{ 108, 4, passed },		/* of OpenBSD */
	{ 101, 0, is_ip },		/* raw */
	{ 12, 0, is_ip },		/* as BSD numbers it */
	{ 14, 0, is_ip },		/* and OpenBSD */
	{ 228, 0, is_ip },		/* IPv4 */
	{ 229, 0, is_ip },		/* IPv6 */
	{ 9, 0, ppp },			/* PPP */
	{ 50, 0, ppp_serial },		/* PPP in HDLC, or Cisco's */
	{ 51, 0, pppoe },		/* PPPoE without its Ethernet header */
	{ 166, 0, pppd },		/* of pppd */
	{ 204, 0, ppp_with_direction }, /* PPP, and who sent it */
	{ LINK_WIFI, 0, wifi },		/* IEEE 802.11 */
	{ 119, 0, prism },		/* behind a header of Prism cards */
	{ 127, 0, radiotap },		/* behind radiotap */
	{ 163, 0, avs },		/* behind AVS */
	{ 192, 0, ppi },		/* behind Per-Packet Information */
	{ 6, 0, token_ring },		/* IEEE 802.5 */
	{ 10, 13, snap },		/* FDDI */
	{ 11, 0, snap },		/* ATM with LLC */
	{ 122, 16, snap },		/* IP over Fibre Channel */
	{ 104, 0, cisco_hdlc },		/* Cisco HDLC */
	{ 109, 12, passed },		/* behind IPsec of OpenBSD */
	{ 117, 0, pflog },		/* pf's log */
	{ 239, 0, nflog },		/* netfilter's log */
	{ 258, 0, pktap },		/* several of macOS */
};

static bool by_type(struct frame *f, uint32_t link)
{
	for (size_t i = 0; i < COUNT(links) && f->nested < MAX_NESTED; i++) {
		if (links[i].link == link) {
			f->nested++;
			return pass(f, links[i].bytes) && links[i].strip(f);
		}
	}
	return false;
}

const uint8_t *usk_link_strip(const uint8_t *d, size_t n, uint16_t link, size_t *left,
			      uint8_t *side)
{
	struct frame f = { d, n, *side, 0 };
	bool found = by_type(&f, link);
	*side = f.side;
	*left = f.n;
	return found ? f.d : NULL;
}

const uint8_t *usk_link_strip_ethernet(const uint8_t *d, size_t n, size_t *left)
{
	uint8_t side = USK_SIDE_UNKNOWN;
	return usk_link_strip(d, n, LINK_ETHERNET, left, &side);
}

bool usk_link_to_group(const uint8_t *d, size_t n, uint16_t link)
{
	switch (link) {
	case LINK_ETHERNET:
		return n && d[0] & 1;
	case LINK_COOKED:
		return n >= 2 && (usk_be16(d) == 1 || usk_be16(d) == 2);
	case LINK_COOKED2:
		return n >= 11 && (d[10] == 1 || d[10] == 2);
	case LINK_WIFI: /* the third address is the receiver's on the way to an access point */
		return n >= 24 && (d[1] & 1 ? d[16] : d[4]) & 1;
	default:
		return false;
	}
}

bool usk_link_tells_device(uint16_t link)
{
	return link == LINK_COOKED2;
}

uint32_t usk_link_device(const struct usk_record *r, uint16_t link)
{
	return usk_link_tells_device(link) && r->captured >= 8 ? usk_be32(r->data + 4) : 0;
}

bool usk_link_is_known(uint16_t link)
{
	for (size_t i = 0; i < COUNT(links); i++) {
		if (links[i].link == link) {
			return true;
		}
	}
	return false;
}

const char *usk_link_name(uint16_t link)
{
#ifdef USK_HAVE_LIBPCAP
	return pcap_datalink_val_to_name(link);
#else
	(void)link;
	return NULL;
#endif
}
