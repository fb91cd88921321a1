/* SPDX-License-Identifier: MIT */
/*
 * pcapng.c - read pcapng capture files
 *
 * In    blocks: section header, interface descriptions, packets; others are passed over
 * Out   records with ns stamps, each with its interface
 * Why   a walk of our own, because libpcap hands out neither the interface of a packet nor an
 *       interface's name and addresses nor the direction flags, refuses files whose interfaces
 *       have different link types, and is the bottleneck (make bench)
 *       A block that was lost on a disk is stepped over, to where blocks follow one another again;
 *       interfaces described before it stay
 * Not   simple packet blocks: they carry no stamp, so they tell nothing about a clock
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_INTERFACES = 65536,
	CHAIN = 3,	 /* sound blocks in a row that are no chance, near the last stamp */
	LONG_CHAIN = 8,	 /* and far from it */
	BEHIND = 1 << 16 /* bytes behind a packet that falls, which tell whether it came before */
};

struct state {
	bool swap;
	size_t section; /* first interface of the current section */
	/* By interface, since each may have a clock of its own. */
	struct face {
		struct usk_tick tick;
		int64_t last_ns, high_ns; /* its last and highest stamp; USK_NONE: none yet */
	} * face;
	size_t cap_faces;
	struct usk_recent recent;
	uint64_t simple; /* packets without a stamp */
};

static bool sniff(const uint8_t *d, size_t n)
{
	return n >= 4 && usk_load32(d, false) == NG_SECTION;
}

static void add_addr(struct usk_iface *i, struct usk_addr a)
{
	*USK_APPEND(i->addr, i->n_addrs) = a;
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
	if (t->n_ifaces > s->cap_faces) {
		s->cap_faces = t->cap_ifaces;
		s->face = usk_grow(s->face, s->cap_faces, sizeof *s->face);
	}
	struct face *face = &s->face[t->n_ifaces - 1];
	*face = (struct face){ usk_tick(USK_TICK_DEFAULT), USK_NONE, USK_NONE };
	struct usk_tick *tick = &face->tick;
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

static bool is_packet(uint32_t type)
{
	return type == NG_PACKET || type == NG_OLD_PACKET;
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
	*in_range = usk_tick_time(&s->face[iface].tick, ticks, &r->time_ns);
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

/* A block at pos that is whole and contradicts nothing. */
struct found {
	size_t size; /* 0: there is none */
	bool beyond; /* it may be one that ends behind what is seen */
	uint32_t type;
	struct usk_record r; /* of a packet */
	bool in_range;
};

static bool is_known(uint32_t type)
{
	/* Names, journals, secrets, and custom blocks that may and may not be copied. */
	return (type && type <= NG_PACKET) || type == NG_SECTION || type == 9 || type == 10 ||
	       (type & 0xbfffffff) == 0xbad;
}

static struct found block_at(const struct usk_trace *t, size_t pos, size_t end)
{
	const struct state *s = t->state;
	struct found f = { .in_range = true }, none = f;
	const uint8_t *d = t->in.data + pos;
	size_t left = end - pos;
	bool swap = s->swap;
	const char *why = NULL;
	size_t n = left >= 12 ? usk_ng_block(d, &swap, &f.type, &why) : 12;
	bool known = left < 12 || is_known(f.type);
	none.beyond = n > left && known;
	if (!n || n > left || usk_load32(d + n - 4, swap) != n || !known) {
		return none;
	}
	bool good = !(f.type == NG_SECTION && n < 28) && !(f.type == NG_INTERFACE && n < 20);
	if (is_packet(f.type)) {
		good = packet(t, f.type, d + 8, n - 12, &f.r, &f.in_range) && f.r.captured &&
		       f.r.captured <= f.r.length;
	}
	f.size = good ? n : 0;
	return f;
}

static int64_t last_of(const struct usk_trace *t, const struct usk_record *r)
{
	const struct state *s = t->state;
	return s->face[r->iface].last_ns;
}

/* Do sound blocks follow one another from here on, to the end or far enough? */
static bool is_chain(const struct usk_trace *t, size_t pos, size_t end)
{
	int depth = CHAIN;
	for (int k = 0; k < depth; k++) {
		if (k && pos == t->in.have) {
			return true;
		}
		struct found f = block_at(t, pos, end);
		if (!f.size) {
			return k >= CHAIN - 1 && f.beyond && end < t->in.have;
		}
		if (f.type == NG_SECTION || f.type == NG_INTERFACE) {
			return true; /* what stands behind it may need it */
		}
		if (is_packet(f.type) && last_of(t, &f.r) != USK_NONE &&
		    !usk_near(f.r.time_ns, last_of(t, &f.r))) {
			depth = LONG_CHAIN;
		}
		pos += f.size;
	}
	return true;
}

static bool begins(const struct usk_trace *t, size_t pos, size_t end, size_t *unsure)
{
	*unsure = 0;
	return is_chain(t, pos, end);
}

static size_t step(const struct usk_trace *t, size_t pos, size_t end, bool *fresh)
{
	struct found f = block_at(t, pos, end);
	*fresh = f.size && (f.type == NG_SECTION || f.type == NG_INTERFACE ||
			    (is_packet(f.type) &&
			     (last_of(t, &f.r) == USK_NONE || f.r.time_ns > last_of(t, &f.r))));
	return f.size;
}

/* At the front of the window is a block that cannot be, or is not wholly there. */
static enum usk_status mend(struct usk_trace *t, const char *why, struct usk_err *err)
{
	char room[48];
	bool found;
	uint64_t from = t->in.at;
	size_t have = t->in.have;
	enum usk_status status = usk_trace_resume(t, 12, begins, step, &found, err);
	if (status || found) {
		return status;
	}
	t->done = true;
	if (why) {
		usk_trace_damaged(t, "the block at byte %llu %s: %s skipped",
				  (unsigned long long)from, why,
				  usk_input_rest(&t->in, from, room));
	} else {
		usk_trace_damaged(
			t, "cut short: the incomplete block at byte %llu, %zu bytes, was skipped",
			(unsigned long long)from, have);
	}
	return USK_OK;
}

/* Do options fill n bytes? */
static bool are_options(const uint8_t *d, size_t n, bool swap)
{
	struct usk_ng_option o;
	size_t at = 0;
	for (size_t step; (step = usk_ng_option(d + at, n - at, swap, &o)); at += step) {
	}
	return at == n || (n - at == 4 && !usk_load32(d + at, swap));
}

/* Of a packet whose stamp is far from the one before it, or that holds nothing. */
static bool is_far(const struct usk_trace *t, const struct found *f)
{
	return !f->in_range || !f->r.length || !usk_near(f->r.time_ns, last_of(t, &f->r));
}

/* Is it alone with that? The next of its interface, if it stands near enough, says so. */
static bool is_astray(const struct usk_trace *t, size_t pos, const struct found *f)
{
	const struct state *s = t->state;
	const int64_t last_ns = last_of(t, &f->r);
	if (!f->r.length && !are_options(t->in.data + pos + 28, f->size - 32, s->swap)) {
		return true;
	}
	struct found g;
	const size_t end = usk_trace_sight(t, pos, f->size + USK_SIGHT);
	for (pos += f->size; (g = block_at(t, pos, end)).size; pos += g.size) {
		if (g.type == NG_SECTION || g.type == NG_INTERFACE) {
			break;
		}
		if (is_packet(g.type) && g.r.iface == f->r.iface && g.in_range) {
			bool near = f->in_range && usk_near(f->r.time_ns, g.r.time_ns);
			return last_ns == USK_NONE ? !near && is_chain(t, pos, end)
						   : !usk_near(f->r.time_ns, last_ns) &&
							     usk_near(last_ns, g.r.time_ns);
		}
	}
	return false;
}

static bool is_again(const struct usk_trace *t, size_t pos, const struct found *f)
{
	struct state *s = t->state;
	const struct face *face = &s->face[f->r.iface];
	bool falls = f->r.time_ns < face->last_ns;
	struct found g = { .size = 0 };
	if (falls) {
		g = block_at(t, pos + f->size, usk_trace_sight(t, pos, f->size + BEHIND));
	}
	bool there = g.size && is_packet(g.type) && g.r.iface == f->r.iface;
	return usk_recent_again(&s->recent, &f->r, there ? &g.r : NULL, face->last_ns,
				face->high_ns);
}

const struct usk_tick *usk_pcapng_tick(const struct usk_trace *t, size_t iface)
{
	const struct state *s = t->state;
	return &s->face[iface].tick;
}

static enum usk_status hand_on(const struct usk_trace *t, size_t pos, const struct found *f)
{
	const struct state *s = t->state;
	const struct usk_ng b = { .at = t->in.at + pos,
				  .type = f->type,
				  .swap = s->swap,
				  .data = t->in.data + pos,
				  .size = f->size,
				  .section = s->section,
				  .packet = is_packet(f->type) ? &f->r : NULL };
	return t->take_block ? t->take_block(t->block_ctx, &b) : USK_OK;
}

/* What the block at pos, whole and framed, says of the file. */
static bool describe(struct usk_trace *t, size_t pos, const struct found *f)
{
	struct state *s = t->state;
	if (f->type == NG_SECTION) {
		s->section = t->n_ifaces;
		s->recent.n = 0;
	} else if (f->type == NG_INTERFACE) {
		return add_interface(t, t->in.data + pos + 8, f->size - 12);
	} else if (f->type == NG_SIMPLE_PACKET) {
		s->simple++;
	}
	return true;
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
		size_t left = t->in.have - pos, want;
		struct found f = { .in_range = true };
		const char *why = NULL;
		bool swap = s->swap;
		f.size = want = left >= 12 ? usk_ng_block(d, &swap, &f.type, &why) : 12;
		bool whole = !why && left >= f.size, good = whole;
		if (whole) {
			good = usk_load32(d + f.size - 4, swap) == f.size;
			s->swap = good ? swap : s->swap;
			why = "contradicts itself";
		}
		if (good && is_packet(f.type)) {
			if (first) {
				break;
			}
			good = packet(t, f.type, d + 8, f.size - 12, &f.r, &f.in_range);
			if (good && is_far(t, &f)) {
				want += USK_SIGHT + 1;
			} else if (good && f.r.time_ns < last_of(t, &f.r)) {
				want += BEHIND + 1;
			}
		} else if (good) {
			good = describe(t, pos, &f);
		}
		bool more = left < want && !t->in.end;
		if ((more || !good) && *n) {
			break; /* hand out what is whole; refill in the next call */
		}
		if (more || !good) {
			enum usk_status status = usk_input_need(&t->in, pos, want, err);
			pos = 0;
			if (!status && !more && t->in.have) {
				status = mend(t, why, err);
			}
			if (status) {
				return status;
			}
			t->done |= !t->in.have;
			continue;
		}
		if (is_packet(f.type)) {
			f.r.at = t->in.at + pos;
			struct face *face = &s->face[f.r.iface];
			bool far = is_far(t, &f), astray = far && is_astray(t, pos, &f);
			astray |= f.r.time_ns <= face->high_ns && is_again(t, pos, &f);
			if (far && !astray && !f.in_range) {
				t->done = true;
				return usk_trace_stamp_range(t, f.r.at, err);
			}
			if (astray) {
				usk_trace_lost(t, f.r.at, f.size);
				pos += f.size;
				continue;
			}
			face->last_ns = f.r.time_ns;
			face->high_ns = f.r.time_ns > face->high_ns ? f.r.time_ns : face->high_ns;
			usk_recent_note(&s->recent, &f.r);
			out[(*n)++] = f.r;
		}
		enum usk_status status = hand_on(t, pos, &f);
		if (status) {
			return status;
		}
		pos += f.size;
	}
	t->used = pos;
	return USK_OK;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct state *s = t->state ? t->state : (t->state = usk_alloc(1, sizeof *s));
	/* Nothing of an earlier reading: a section that would say so may be lost. */
	*s = (struct state){ .face = s->face, .cap_faces = s->cap_faces };
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
	if (t->done && s->simple && !t->damage && !t->take_block) {
		usk_trace_damaged(t, "%llu simple packet blocks carry no stamp and were skipped",
				  (unsigned long long)s->simple);
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		free(s->face);
	}
	free(s);
	t->state = NULL;
}

const struct reader usk_reader_pcapng = {
	.info = { "pcapng", "pcapng", "captures", USK_TRACE_CAPTURE },
	.sniff = sniff,
	.start = start,
	.records = records,
	.stop = stop,
	.written = true,
};
