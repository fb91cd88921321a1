/* SPDX-License-Identifier: MIT */
/*
 * survey.c - pass 1: what one reading of a capture tells before matching begins
 *
 * In    a capture
 * Out   a sample of its packets, its first and last stamp, the grid of its stamps, the addresses
 *       that are its own
 * Why   the walk needs to know how the two clocks lie to each other; two captures keep the same
 *       packets because the rule looks only at what both saw: key hash = 0 mod 2^k
 * Not   pairs (coarse.c, walk.c)
 */
#include "base/index.h"
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

struct sampler {
	struct usk_survey *out;
	struct usk_sampler kept;
	size_t cap_ways;
	struct usk_index ways; /* index + 1 */
};

static uint32_t way_of(struct sampler *s, const struct usk_packet *p)
{
	struct usk_survey *o = s->out;
	uint64_t from = usk_fold(p->src.hi, p->src.lo), to = usk_fold(p->dst.hi, p->dst.lo);
	uint64_t hash = usk_fold(from, usk_mix(to)), *number;
	for (uint64_t i = 0; *(number = usk_index_value(&s->ways, hash, i)); i++) {
		const struct usk_ends *way = &o->way[*number - 1];
		if (usk_addr_same(way->src, p->src) && usk_addr_same(way->dst, p->dst)) {
			return (uint32_t)*number - 1;
		}
	}
	*USK_ADD(o->way, o->n_ways, s->cap_ways) =
		(struct usk_ends){ p->src, p->dst, usk_is_group(p) };
	*number = o->n_ways;
	return (uint32_t)*number - 1;
}

uint8_t usk_device(const struct usk_record *r, const struct usk_iface *iface, size_t n_ifaces)
{
	uint32_t device = usk_link_device(r, iface[r->iface].link_type);
	bool known = device || n_ifaces > 1;
	return known ? (uint8_t)(1 + (usk_fold(r->iface, device) >> 58)) : 0;
}

struct usk_sample *usk_survey_sample(struct usk_survey *o, struct usk_sampler *s, uint64_t pick)
{
	while (o->n_samples == USK_SAMPLES && s->mask != UINT64_MAX) {
		s->mask = s->mask * 2 + 1;
		size_t kept = 0;
		for (size_t i = 0; i < o->n_samples; i++) {
			if (!(o->sample[i].pick & s->mask)) {
				o->sample[kept++] = o->sample[i];
			}
		}
		o->n_samples = kept;
	}
	if (pick & s->mask || o->n_samples == USK_SAMPLES) {
		return NULL;
	}
	struct usk_sample *x = USK_ADD(o->sample, o->n_samples, s->cap);
	o->n_sampled = o->n_samples;
	return x;
}

static void keep(struct sampler *s, const struct usk_packet *p, uint64_t record, size_t part,
		 uint8_t device)
{
	uint64_t pick = usk_packet_pick(p);
	struct usk_sample *x = usk_survey_sample(s->out, &s->kept, pick);
	if (!x) {
		return;
	}
	/* Bits are read before they are written, and fresh memory that is read first costs two faults a
	 * page. */
	memset(x, 0, sizeof *x);
	*x = (struct usk_sample){ .key = p->key,
				  .pick = pick,
				  .record = record & (UINT64_MAX >> 24),
				  .part = (uint16_t)(part < USK_MOST_PARTS ? part : USK_MOST_PARTS),
				  .device = device,
				  .time_ns = p->time_ns,
				  .way = way_of(s, p) & 0x3fffffff,
				  .ip_id = p->ip_id,
				  .has = p->has,
				  .ttl = p->ttl,
				  .side = (uint32_t)p->side & 3 };
}

/* Multicast, broadcast, unspecified and link-local traffic says nothing about who one is. */
bool usk_addr_is_unicast(struct usk_addr a)
{
	if (usk_addr_is_v4(a)) {
		uint32_t v4 = (uint32_t)a.lo;
		return v4 != 0 && v4 >> 28 < 14 && v4 >> 16 != 0xa9fe;
	}
	return a.hi >> 56 != 0xff && a.hi >> 54 != 0xfe80 >> 6 && (a.hi || a.lo);
}

/* The addresses that every packet so far had at one of its ends. Half a packet behind damage has
 * anybody's. */
static inline void narrow(struct usk_common *e, const struct usk_packet *p,
			  const struct usk_record *r, uint16_t link)
{
	if (!e->begun) {
		if (usk_addr_is_unicast(p->src) && usk_addr_is_unicast(p->dst) &&
		    usk_packet_is_sound(r, link)) {
			e->begun = true;
			e->addr[0] = p->src;
			e->addr[1] = p->dst;
			e->n = 2;
		}
		return;
	}
	bool left[2];
	size_t stay = 0;
	for (size_t i = 0; i < e->n; i++) {
		left[i] = usk_addr_same(e->addr[i], p->src) || usk_addr_same(e->addr[i], p->dst);
		stay += left[i];
	}
	if (stay == e->n || !usk_addr_is_unicast(p->src) || !usk_addr_is_unicast(p->dst) ||
	    !usk_packet_is_sound(r, link)) {
		return;
	}
	size_t n = 0;
	for (size_t i = 0; i < e->n; i++) {
		if (left[i]) {
			e->addr[n++] = e->addr[i];
		}
	}
	e->n = n;
}

/* Does a packet between these two leave the candidates as they are? */
static inline bool stays(const struct usk_common *e, uint64_t src, uint64_t dst)
{
	bool all = e->begun;
	for (size_t i = 0; i < e->n; i++) {
		all = all && (e->addr[i].lo == src || e->addr[i].lo == dst);
	}
	return all;
}

/* The clock was set back: from here on its unwrapped time goes on. Samples are in the order of
 * records; sign -1: back to what was recorded. */
static void run_on(struct usk_survey *s, int sign)
{
	const struct usk_epochs *e = &s->epochs;
	size_t at = 0;
	for (size_t i = 0; i < s->n_samples && e->n; i++) {
		s->sample[i].time_ns += sign * usk_epoch_shift(e, s->sample[i].record, &at);
	}
	if (e->n) {
		s->last_ns += sign * e->epoch[e->n - 1].shift_ns;
	}
}

void usk_survey_epochs(struct usk_survey *s, const struct usk_epochs *e)
{
	run_on(s, -1);
	usk_epochs_free(&s->epochs);
	usk_epochs_copy(e, &s->epochs);
	run_on(s, 1);
}

/* The order of each file's own records. */
struct part_watches {
	struct usk_epoch_watch *of;
	size_t n;
};

static struct part_watches watch_parts(const struct usk_trace *t, const struct usk_told *told,
				       struct usk_survey *out)
{
	out->n_parts = usk_trace_parts(t);
	out->part = out->n_parts ? usk_alloc(out->n_parts, sizeof *out->part) : NULL;
	struct part_watches w = { usk_alloc(out->n_parts + 1, sizeof *w.of), out->n_parts };
	for (size_t i = 0; i < w.n && told; i++) {
		w.of[i].told = told[1 + i];
	}
	return w;
}

static size_t note_part(struct part_watches *w, const struct usk_trace *t,
			const struct usk_record *r, uint64_t record, struct usk_survey *out)
{
	if (!w->n) {
		return 0;
	}
	size_t part = usk_trace_part(t, r->iface);
	struct usk_survey_part *x = &out->part[part];
	if (!x->records++) {
		x->first = record;
		x->first_ns = r->time_ns;
	}
	w->of[part].at = record;
	usk_epoch_note(&w->of[part], r->time_ns);
	return part;
}

static void finish_parts(struct part_watches *w, struct usk_survey *out)
{
	for (size_t i = 0; i < w->n; i++) {
		usk_epoch_finish(&w->of[i], &out->part[i].epochs, &out->part[i].drops);
	}
	free(w->of);
}

enum usk_status usk_survey_capture(struct usk_trace *t, struct usk_depth depth,
				   const struct usk_told *told,
				   void (*progress)(void *ctx, uint64_t bytes), void *ctx,
				   struct usk_survey *out, struct usk_err *err)
{
	struct usk_record record[BATCH];
	struct sampler sampler = { .out = out };
	struct usk_packet p;
	uint64_t reported = 0;
	struct usk_epoch_watch watch = { .told = told ? *told : (struct usk_told){ 0 } };
	memset(out, 0, sizeof *out);
	enum usk_status status = usk_trace_rewind(t, err);
	struct part_watches parts = watch_parts(t, told, out);
	for (size_t n = 1; !status && n;) {
		status = usk_trace_records(t, record, BATCH, &n, err);
		size_t n_ifaces;
		const struct usk_iface *iface = usk_trace_ifaces(t, &n_ifaces);
		if (n && !out->records) {
			out->first_ns = out->last_ns = record[0].time_ns;
		}
		for (size_t i = 0; i < n; i++) {
			int64_t at = record[i].time_ns;
			out->first_ns = at < out->first_ns ? at : out->first_ns;
			out->last_ns = at > out->last_ns ? at : out->last_ns;
			usk_grid_add(&out->grid, at);
			watch.at = out->records + i;
			usk_epoch_note(&watch, at);
			size_t part = note_part(&parts, t, &record[i], out->records + i, out);
			/* Most packets are not taken into the sample, and a look is enough. */
			struct usk_glance g;
			uint16_t link = iface[record[i].iface].link_type;
			if (sampler.kept.mask && usk_packet_glance(&record[i], link, &g) &&
			    g.pick & sampler.kept.mask && stays(&out->common[1], g.src, g.dst)) {
				out->packets++;
				continue;
			}
			if (usk_packet_decode(&record[i], link, depth, &p, &out->left_out)) {
				out->packets++;
				keep(&sampler, &p, out->records + i, part,
				     usk_device(&record[i], iface, n_ifaces));
				if (!(p.has & USK_HAS_GROUP)) {
					narrow(&out->common[usk_addr_is_v4(p.src)], &p, &record[i],
					       link);
				}
			} else if (!usk_link_is_known(link)) {
				out->foreign = out->n_foreign++ ? out->foreign : link;
			}
		}
		out->records += n;
		uint64_t pos = usk_trace_pos(t);
		if (progress && pos - reported > 1 << 24) {
			progress(ctx, pos);
			reported = pos;
		}
	}
	usk_index_free(&sampler.ways);
	usk_epoch_finish(&watch, &out->epochs, &out->drops);
	finish_parts(&parts, out);
	if (status) {
		usk_survey_free(out);
		return status;
	}
	if (out->epochs.n) {
		out->first_ns = out->epochs.epoch[0].lowest_ns;
		out->last_ns = watch.highest;
		run_on(out, 1);
	}
	return USK_OK;
}

enum usk_status usk_survey_begins(struct usk_trace *t, struct usk_survey *s, struct usk_err *err)
{
	struct usk_record record[BATCH];
	uint64_t *seen = usk_alloc(s->n_parts + 1, sizeof *seen), all = 0;
	size_t epoch = 0;
	for (size_t i = 0; i < s->n_parts; i++) {
		s->part[i].n_begins = 0;
	}
	enum usk_status status = usk_trace_rewind(t, err);
	/* To its end, where it tells how much it has. */
	for (size_t n = 1; !status && n;) {
		status = usk_trace_records(t, record, BATCH, &n, err);
		for (size_t i = 0; i < n; i++, all++) {
			const size_t k = usk_trace_part(t, record[i].iface);
			struct usk_survey_part *x = &s->part[k];
			usk_epoch_shift(&s->epochs, all, &epoch);
			if (!x->n_begins || x->begin[x->n_begins - 1].epoch != epoch) {
				*USK_ADD(x->begin, x->n_begins, x->cap_begins) =
					(struct usk_survey_begin){ epoch, seen[k] };
			}
			seen[k]++;
		}
	}
	free(seen);
	return status;
}

size_t usk_survey_own(const struct usk_survey *mine, const struct usk_survey *other,
		      struct usk_addr own[2], bool *guess)
{
	size_t n = 0;
	*guess = false;
	for (int f = 0; f < 2; f++) {
		const struct usk_common *a = &mine->common[f], *b = &other->common[f];
		size_t left = 0, which = 0;
		for (size_t i = 0; i < a->n; i++) {
			bool shared = false;
			for (size_t k = 0; k < b->n; k++) {
				shared |= usk_addr_same(a->addr[i], b->addr[k]);
			}
			if (!shared) {
				left++;
				which = i;
			}
		}
		if (left == 1 && !(a->n == 2 && b->n == 2)) {
			own[n++] = a->addr[which];
			*guess |= a->n == 2 || !b->n;
		}
	}
	return n;
}

/* An answer that says the same, as an echo does, is no packet that passes. */
static bool is_answer(const struct usk_ends *a, const struct usk_ends *b)
{
	return usk_addr_same(a->src, b->dst) && usk_addr_same(a->dst, b->src);
}

/* What two sightings of one packet tell. A copy that was sent anew has an IP-ID of its own, or is
 * on the device that had the first. */
static bool note_passing(struct usk_survey *s, const struct usk_sample *a,
			 const struct usk_sample *b)
{
	struct usk_passing *out = &s->passing;
	bool same = a->ttl == b->ttl && a->side == b->side;
	usk_i128 apart = (usk_i128)a->time_ns - b->time_ns;
	if (a->ip_id != b->ip_id || apart > USK_FORWARDED_NS || -apart > USK_FORWARDED_NS ||
	    is_answer(&s->way[a->way], &s->way[b->way])) {
		return false;
	}
	out->several |= !same;
	out->bridged |=
		a->ttl == b->ttl && (a->side == USK_SIDE_SENT) != (b->side == USK_SIDE_SENT);
	return same && (a->ip_id || (a->device && b->device && a->device != b->device));
}

void usk_survey_passing(struct usk_survey *s, const uint32_t *sample, size_t n)
{
	/* A bridge has them on its ports, and on itself: the two that are alike are not neighbours.
	 */
	enum { LAST = 4 };
	bool again = false;
	for (size_t i = 1; i < n; i++) {
		for (size_t k = i < LAST ? 0 : i - LAST; k < i; k++) {
			again |= note_passing(s, &s->sample[sample[k]], &s->sample[sample[i]]);
		}
	}
	s->passing.again += again;
}

void usk_survey_free(struct usk_survey *s)
{
	for (size_t i = 0; i < s->n_parts; i++) {
		usk_epochs_free(&s->part[i].epochs);
		USK_FREE(s->part[i].drops.drop, s->part[i].begin);
	}
	USK_FREE(s->sample, s->way, s->part, s->drops.drop);
	usk_epochs_free(&s->epochs);
	memset(s, 0, sizeof *s);
}
