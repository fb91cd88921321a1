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
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INTERFACES = 65536 };

struct state {
	bool swap;
	size_t section;	       /* first interface of the current section */
	struct usk_tick *tick; /* by interface */
	size_t cap_ticks;
	uint64_t simple; /* packets without a stamp */
};

static bool sniff(const uint8_t *d, size_t n)
{
	return n >= 4 && usk_load32(d, false) == NG_SECTION;
}

static void add_addr(struct usk_iface *i, struct usk_addr a)
{
	i->addr = usk_grow(i->addr, i->n_addrs + 1, sizeof *i->addr);
	i->addr[i->n_addrs++] = a;
}

static void take_option(struct usk_iface *i, const struct usk_ng_option *o)
{
	const uint8_t *v = o->value;
	if (o->code == NG_IF_NAME && !i->name) {
		i->name = usk_alloc(o->size + 1, 1);
		memcpy(i->name, v, o->size);
	} else if (o->code == NG_IF_IPV4 && o->size >= 4) {
		add_addr(i, (struct usk_addr){ 0, UINT64_C(0xffff00000000) | usk_be32(v) });
	} else if (o->code == NG_IF_IPV6 && o->size >= 16) {
		add_addr(i, (struct usk_addr){ usk_be64(v), usk_be64(v + 8) });
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
	struct usk_ng_option o;
	for (size_t at = 8, step; (step = usk_ng_option(body + at, n - at, s->swap, &o));
	     at += step) {
		usk_ng_tick(&o, s->swap, tick);
		take_option(i, &o);
	}
	i->resolution_ns = usk_tick_ns(tick);
	return true;
}

/* One enhanced or obsolete packet block; false if it contradicts itself. */
static bool packet(const struct usk_trace *t, uint32_t type, const uint8_t *body, size_t n,
		   struct usk_record *r, bool *in_range)
{
	const struct state *s = t->state;
	static const enum usk_side sides[] = { USK_SIDE_UNKNOWN, USK_SIDE_RECEIVED, USK_SIDE_SENT,
					       USK_SIDE_UNKNOWN };
	*in_range = true;
	if (n < 20) {
		return false;
	}
	size_t iface = type == NG_PACKET ? usk_load32(body, s->swap) : usk_load16(body, s->swap);
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
	r->side = USK_SIDE_UNKNOWN;
	struct usk_ng_option o;
	size_t at = 20 + (((size_t)captured + 3) & ~(size_t)3);
	for (size_t step; at < n && (step = usk_ng_option(body + at, n - at, s->swap, &o));
	     at += step) {
		if (o.code == NG_PACKET_FLAGS && o.size >= 4) {
			r->side = sides[usk_load32(o.value, s->swap) & 3];
		}
	}
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
		uint32_t type = 0;
		const char *why = NULL;
		size_t size = left >= 12 ? usk_ng_block(d, &s->swap, &type, &why) : 12;
		if (why) {
			return damaged_at(t, pos, *n, why);
		}
		if (left < size) {
			if (*n) {
				break; /* hand out what is whole; refill in the next call */
			}
			enum usk_status status = usk_input_need(&t->in, pos, size, err);
			pos = 0;
			if (status) {
				return status;
			}
			if (t->in.have < size) {
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
		if (good && type == NG_SECTION) {
			s->section = t->n_ifaces;
		} else if (good && type == NG_INTERFACE) {
			good = add_interface(t, body, size - 12);
		} else if (good && (type == NG_PACKET || type == NG_OLD_PACKET)) {
			if (first) {
				break;
			}
			struct usk_record *r = &out[*n];
			r->at = t->in.at + pos;
			good = packet(t, type, body, size - 12, r, &in_range);
			*n += good;
		} else if (good && type == NG_SIMPLE_PACKET) {
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
