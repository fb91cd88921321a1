/* SPDX-License-Identifier: MIT */
/*
 * pcapng.c - read pcapng capture files
 *
 * In    blocks: section header, interface descriptions, packets; others are passed over
 * Out   records with ns stamps, each with its interface
 * Why   a walk of our own, because libpcap hands out neither the interface of a packet nor an
 *       interface's name and addresses nor the direction flags, refuses files whose interfaces
 *       have different link types, and is the bottleneck (make bench)
 * Not   simple packet blocks: they carry no stamp, so they tell nothing about a clock
 */
#include "base/tick.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_OLD_PACKET = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_PACKET = 6,
	ORDER_MAGIC = 0x1a2b3c4d,
	OPTION_END = 0,
	OPTION_IF_NAME = 2,
	OPTION_IF_IPV4 = 4,
	OPTION_IF_IPV6 = 5,
	OPTION_IF_RESOLUTION = 9,
	OPTION_IF_OFFSET = 14,
	OPTION_PACKET_FLAGS = 2,
	MAX_INTERFACES = 65536,
};

struct state {
	bool swap;
	size_t section;	       /* first interface of the current section */
	struct usk_tick *tick; /* by interface */
	size_t cap_ticks;
	uint64_t simple; /* packets without a stamp */
};

static bool sniff(const uint8_t *d, size_t n)
{
	return n >= 4 && usk_load32(d, false) == BLOCK_SECTION;
}

/* Calls back for each option of a list; stops where it no longer fits. */
static void options(const uint8_t *d, size_t n, bool swap,
		    void (*take)(void *ctx, unsigned code, const uint8_t *value, size_t size),
		    void *ctx)
{
	while (n >= 4) {
		unsigned code = usk_load16(d, swap);
		size_t size = usk_load16(d + 2, swap), padded = (size + 3) & ~(size_t)3;
		if (code == OPTION_END || padded > n - 4) {
			return;
		}
		take(ctx, code, d + 4, size);
		d += 4 + padded;
		n -= 4 + padded;
	}
}

struct iface_options {
	struct usk_iface *iface;
	struct usk_tick *tick;
	bool swap;
};

static void add_addr(struct usk_iface *i, struct usk_addr a)
{
	i->addr = usk_grow(i->addr, i->n_addrs + 1, sizeof *i->addr);
	i->addr[i->n_addrs++] = a;
}

static void take_iface_option(void *ctx, unsigned code, const uint8_t *v, size_t n)
{
	struct iface_options *o = ctx;
	struct usk_iface *i = o->iface;
	switch (code) {
	case OPTION_IF_NAME:
		if (!i->name) {
			i->name = usk_alloc(n + 1, 1);
			memcpy(i->name, v, n);
		}
		break;
	case OPTION_IF_IPV4:
		if (n >= 4) {
			add_addr(i, (struct usk_addr){ 0, UINT64_C(0xffff00000000) | usk_be32(v) });
		}
		break;
	case OPTION_IF_IPV6:
		if (n >= 16) {
			add_addr(i, (struct usk_addr){ usk_be64(v), usk_be64(v + 8) });
		}
		break;
	case OPTION_IF_RESOLUTION:
		if (n >= 1) {
			int64_t offset_s = o->tick->offset_s;
			*o->tick = usk_tick(v[0]);
			o->tick->offset_s = offset_s;
		}
		break;
	case OPTION_IF_OFFSET:
		if (n >= 8) {
			o->tick->offset_s = (int64_t)usk_load64(v, o->swap);
		}
		break;
	default:
		break;
	}
}

static bool add_interface(struct usk_trace *t, const uint8_t *body, size_t n)
{
	struct state *s = t->state;
	if (n < 8 || t->n_ifaces >= MAX_INTERFACES) {
		return false;
	}
	struct usk_iface *i = usk_trace_add_iface(t);
	if (t->n_ifaces > s->cap_ticks) {
		s->cap_ticks = t->cap_ifaces;
		s->tick = usk_grow(s->tick, s->cap_ticks, sizeof *s->tick);
	}
	struct usk_tick *tick = &s->tick[t->n_ifaces - 1];
	*tick = usk_tick(USK_TICK_DEFAULT);
	i->link_type = usk_load16(body, s->swap);
	uint32_t snap = usk_load32(body + 4, s->swap);
	i->snap_length = snap && snap < USK_RECORD_MAX ? snap : 262144;
	struct iface_options o = { i, tick, s->swap };
	options(body + 8, n - 8, s->swap, take_iface_option, &o);
	i->resolution_ns = usk_tick_ns(tick);
	return true;
}

struct packet_options {
	enum usk_side side;
	bool swap;
};

static void take_packet_option(void *ctx, unsigned code, const uint8_t *v, size_t n)
{
	static const enum usk_side sides[] = { USK_SIDE_UNKNOWN, USK_SIDE_RECEIVED, USK_SIDE_SENT,
					       USK_SIDE_UNKNOWN };
	struct packet_options *o = ctx;
	if (code == OPTION_PACKET_FLAGS && n >= 4) {
		o->side = sides[usk_load32(v, o->swap) & 3];
	}
}

/* One enhanced or obsolete packet block; false if it contradicts itself. */
static bool packet(const struct usk_trace *t, uint32_t type, const uint8_t *body, size_t n,
		   struct usk_record *r, bool *in_range)
{
	const struct state *s = t->state;
	*in_range = true;
	if (n < 20) {
		return false;
	}
	size_t iface = type == BLOCK_PACKET ? usk_load32(body, s->swap) : usk_load16(body, s->swap);
	uint32_t captured = usk_load32(body + 12, s->swap);
	if (iface >= t->n_ifaces - s->section || captured > n - 20) {
		return false;
	}
	iface += s->section;
	uint64_t ticks =
		(uint64_t)usk_load32(body + 4, s->swap) << 32 | usk_load32(body + 8, s->swap);
	*in_range = usk_tick_time(&s->tick[iface], ticks, &r->time_ns);
	r->data = body + 20;
	r->captured = captured;
	r->length = usk_load32(body + 16, s->swap);
	r->iface = (uint32_t)iface;
	struct packet_options o = { USK_SIDE_UNKNOWN, s->swap };
	size_t padded = ((size_t)captured + 3) & ~(size_t)3;
	if (n - 20 > padded) {
		options(body + 20 + padded, n - 20 - padded, s->swap, take_packet_option, &o);
	}
	r->side = o.side;
	return true;
}

/* What is whole before the block is handed out first; the next call finds it again. */
static enum usk_status damaged_at(struct usk_trace *t, size_t pos, size_t n, const char *what)
{
	char rest[48];
	t->used = pos;
	if (n) {
		return USK_OK;
	}
	usk_input_need(&t->in, pos, 0, NULL);
	t->used = 0;
	usk_trace_damaged(t, "the block at byte %llu %s: %s left out", (unsigned long long)t->in.at,
			  what, usk_input_rest(&t->in, rest));
	return USK_OK;
}

static enum usk_status section(struct usk_trace *t, const uint8_t *d, size_t left)
{
	struct state *s = t->state;
	if (left < 12) {
		return USK_EINPUT;
	}
	uint32_t order = usk_load32(d + 8, false);
	if (order != ORDER_MAGIC && order != __builtin_bswap32(ORDER_MAGIC)) {
		return USK_EINPUT;
	}
	s->swap = order != ORDER_MAGIC;
	s->section = t->n_ifaces;
	return USK_OK;
}

/*
 * Walk the blocks at the front of the window. Stops after cap packets, before a block that is
 * not wholly there, and, if `first`, before the first packet.
 */
static enum usk_status walk(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			    bool first, struct usk_err *err)
{
	struct state *s = t->state;
	size_t pos = 0;
	*n = 0;
	while (*n < cap && !t->done) {
		const uint8_t *d = t->in.data + pos;
		size_t left = t->in.have - pos;
		uint32_t type = left >= 4 ? usk_load32(d, s->swap) : 0;
		bool whole = left >= 12;
		size_t size = 0;
		if (whole && type == BLOCK_SECTION && section(t, d, left)) {
			return damaged_at(t, pos, *n, "has no byte order");
		}
		if (whole) {
			size = usk_load32(d + 4, s->swap);
			if (size < 12 || size % 4 || size > USK_RECORD_MAX + 65536) {
				return damaged_at(t, pos, *n, "claims an impossible length");
			}
			whole = left >= size;
		}
		if (!whole) {
			if (*n) {
				break; /* hand out what is whole; refill in the next call */
			}
			enum usk_status status = usk_input_need(&t->in, pos, size ? size : 12, err);
			pos = 0;
			if (status) {
				return status;
			}
			if (t->in.have < (size ? size : 12)) {
				if (t->in.have) {
					usk_trace_damaged(t,
							  "cut short in the block at byte %llu: "
							  "%zu bytes of it are left out",
							  (unsigned long long)t->in.at, t->in.have);
				}
				t->done = true;
			}
			continue;
		}
		const uint8_t *body = d + 8;
		bool good = usk_load32(d + size - 4, s->swap) == size, in_range = true;
		if (good && type == BLOCK_INTERFACE) {
			good = add_interface(t, body, size - 12);
		} else if (good && (type == BLOCK_PACKET || type == BLOCK_OLD_PACKET)) {
			if (first) {
				break;
			}
			struct usk_record *r = &out[*n];
			r->at = t->in.at + pos;
			good = packet(t, type, body, size - 12, r, &in_range);
			*n += good;
		} else if (good && type == BLOCK_SIMPLE_PACKET) {
			s->simple++;
		}
		if (!in_range) {
			return usk_trace_stamp_range(t, t->in.at + pos, err);
		}
		if (!good) {
			return damaged_at(t, pos, *n, "contradicts itself");
		}
		pos += size;
	}
	t->used = pos;
	return USK_OK;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state ? t->state : (t->state = usk_alloc(1, sizeof *s));
	s->swap = false;
	s->section = 0;
	s->simple = 0;
	usk_trace_forget_ifaces(t);
	/* The interfaces are known before the first packet is asked for. */
	size_t n;
	enum usk_status status = usk_input_need(&t->in, 0, 12, err);
	return status ? status : walk(t, NULL, 1, &n, true, err);
}

static enum usk_status records(struct usk_trace *t, struct usk_record *out, size_t cap, size_t *n,
			       struct usk_err *err)
{
	enum usk_status status = usk_input_need(&t->in, t->used, 12, err);
	t->used = 0;
	if (status) {
		return status;
	}
	status = walk(t, out, cap, n, false, err);
	const struct state *s = t->state;
	if (t->done && s->simple && !t->damage) {
		usk_trace_damaged(t, "%llu simple packet blocks carry no stamp and are left out",
				  (unsigned long long)s->simple);
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		free(s->tick);
	}
	free(s);
	t->state = NULL;
}

const struct reader usk_reader_pcapng = {
	.info = { "pcapng",
		  "pcapng capture files (dumpcap, Wireshark), several interfaces, any unit",
		  USK_TRACE_CAPTURE },
	.sniff = sniff,
	.start = start,
	.records = records,
	.stop = stop,
};
