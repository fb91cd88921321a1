/* SPDX-License-Identifier: MIT */
/*
 * retime_pcapng.c - a pcapng capture again, with corrected stamps
 *
 * In    a pcapng capture: any sections, byte orders, units of time; its blocks as the reader passes
 *       them
 * Out   the same blocks and options in the same order; stamps of packets and of interface
 *       statistics corrected, in ns; the recorded stamp in a comment of its packet
 * Why   what other tools have put into the file (names, secrets, comments) survives
 * Not   simple packet blocks: they have no stamp and stay as they are; what is damaged, where
 *       other tools would stop
 *
 * Interfaces that do not count ns from 1970 are described anew: if_tsresol 9, no if_tsoffset.
 * The section's length becomes "not stated", since comments make it longer.
 */
#include "read/read.h"
#include "write/block.h"
#include "write/retime.h"

#include <stdlib.h>
#include <string.h>

struct ng {
	struct retime *t;
	struct block block; /* being built */
	uint32_t *clock;    /* of the interfaces of all sections so far */
	size_t cap_clocks;
	bool begun;
};

/* A stamp of interface i, corrected. */
static enum usk_status correct(struct ng *g, uint64_t at, size_t iface, int64_t was, int64_t *is)
{
	struct retime *t = g->t;
	enum usk_status status = usk_retime_by(t, g->clock[iface]);
	*is = was;
	if (!status && t->map) {
		status = usk_retime_stamps(t, &was, 1, is);
	}
	if (!status && *is < 0) {
		status = usk_retime_unfit(t, at, *is, "before 1970");
	}
	return status;
}

static void copy(struct ng *g, const uint8_t *d, size_t size)
{
	usk_output_write(&g->t->out, d, size);
}

static void section(struct ng *g, const struct usk_ng *from)
{
	static const uint8_t not_stated[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	copy(g, from->data, 16);
	copy(g, not_stated, sizeof not_stated);
	copy(g, from->data + 24, from->size - 24);
}

static void interface(struct ng *g, const struct usk_ng *from)
{
	static const uint8_t nanoseconds = 9;
	const struct usk_trace *trace = g->t->trace;
	const size_t i = trace->n_ifaces - 1, end = from->size - 4;
	const uint8_t *d = from->data;
	g->clock = usk_room(g->clock, i, &g->cap_clocks, sizeof *g->clock);
	g->clock[i] =
		usk_trace_iface_clock(g->t->info, (uint32_t)i, trace->iface[i].name, g->t->clock);
	if (usk_tick_is_ns(usk_pcapng_tick(trace, i))) {
		copy(g, d, from->size);
		return;
	}
	struct block *b = &g->block;
	bool has_resolution = false;
	struct usk_ng_option o;
	size_t step;
	usk_block_begin(b, NG_INTERFACE);
	usk_block_bytes(b, d + 8, 8);
	for (size_t pos = 16; (step = usk_ng_option(d + pos, end - pos, b->swap, &o));
	     pos += step) {
		if (o.code == NG_IF_RESOLUTION && o.size >= 1) {
			usk_block_option(b, NG_IF_RESOLUTION, &nanoseconds, 1);
			has_resolution = true;
		} else if (o.code != NG_IF_OFFSET) {
			usk_block_bytes(b, d + pos, step);
		}
	}
	if (!has_resolution) {
		usk_block_option(b, NG_IF_RESOLUTION, &nanoseconds, 1);
	}
	usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	usk_block_end(b, &g->t->out);
}

/* Enhanced and obsolete packet blocks differ only in how they name the interface. */
static enum usk_status packet(struct ng *g, const struct usk_ng *from)
{
	const uint8_t *d = from->data;
	const struct usk_record *r = from->packet;
	const size_t size = from->size;
	int64_t is;
	enum usk_status status = correct(g, from->at, r->iface, r->time_ns, &is);
	if (status) {
		return status;
	}
	struct block *b = &g->block;
	char comment[USK_RECORDED_MAX];
	size_t n = usk_recorded_text(r->time_ns, comment);
	size_t padded = ((size_t)r->captured + 3) & ~(size_t)3, options = 28 + padded;
	options = options > size - 4 ? size - 4 : options;
	usk_block_begin(b, from->type);
	usk_block_bytes(b, d + 8, 4);
	usk_block_stamp(b, (uint64_t)is);
	usk_block_bytes(b, d + 20, options - 20);
	usk_block_pad(b);
	usk_block_option(b, NG_COMMENT, comment, n);
	if (options < size - 4) {
		usk_block_bytes(b, d + options, size - 4 - options);
	} else {
		usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	}
	usk_block_end(b, &g->t->out);
	return USK_OK;
}

/* Halves of a stamp at p, corrected in place. Zero is what tools write where they know none. */
static enum usk_status correct_at(struct ng *g, uint64_t at, size_t iface, uint8_t *p)
{
	const bool swap = g->block.swap;
	struct retime *t = g->t;
	uint64_t ticks = (uint64_t)usk_load32(p, swap) << 32 | usk_load32(p + 4, swap);
	int64_t was, is = 0;
	if (!ticks) {
		return USK_OK;
	}
	enum usk_status status =
		usk_tick_time(usk_pcapng_tick(t->trace, iface), ticks, &was)
			? correct(g, at, iface, was, &is)
			: usk_fail(t->err, USK_ERANGE, at,
				   "%s: the stamp at byte %llu is more than 2^62 ns (146 years) "
				   "from 1970",
				   t->path, (unsigned long long)at);
	uint32_t half[2] = { usk_swap32_if((uint32_t)((uint64_t)is >> 32), swap),
			     usk_swap32_if((uint32_t)is, swap) };
	memcpy(p, half, sizeof half);
	return status;
}

static enum usk_status statistics(struct ng *g, const struct usk_ng *from, size_t iface)
{
	const size_t size = from->size;
	uint8_t *own = memcpy(usk_alloc(size, 1), from->data, size);
	enum usk_status status = correct_at(g, from->at, iface, own + 12);
	struct usk_ng_option o;
	size_t step;
	for (size_t pos = 20;
	     !status && (step = usk_ng_option(own + pos, size - 4 - pos, from->swap, &o));
	     pos += step) {
		if ((o.code == NG_STATISTICS_START || o.code == NG_STATISTICS_END) && o.size >= 8) {
			status = correct_at(g, from->at, iface, own + pos + 4);
		}
	}
	copy(g, own, size);
	free(own);
	return status;
}

static enum usk_status take_block(void *ctx, const struct usk_ng *b)
{
	struct ng *g = ctx;
	struct retime *t = g->t;
	const bool counts = b->type == NG_STATISTICS;
	if (!g->begun && b->at) {
		return USK_EINPUT;
	}
	g->begun = true;
	g->block.swap = b->swap;
	size_t iface =
		counts && b->size >= 24 ? b->section + usk_load32(b->data + 8, b->swap) : SIZE_MAX;
	if ((b->type == NG_SECTION && b->size < 28) || (counts && iface >= t->trace->n_ifaces)) {
		usk_note(t->notes, "%s: the block at byte %llu contradicts itself and was skipped",
			 t->path, (unsigned long long)b->at);
	} else if (b->type == NG_SECTION) {
		section(g, b);
	} else if (b->type == NG_INTERFACE) {
		interface(g, b);
	} else if (b->packet) {
		return packet(g, b);
	} else if (counts) {
		return statistics(g, b, iface);
	} else {
		copy(g, b->data, b->size);
	}
	return USK_OK;
}

enum usk_status usk_retime_pcapng(struct retime *t)
{
	struct ng g = { .t = t };
	struct usk_record r[256];
	size_t n = 1;
	t->trace->take_block = take_block;
	t->trace->block_ctx = &g;
	enum usk_status status = usk_trace_rewind(t->trace, t->err);
	for (uint64_t turn = 1; !status && n && !t->out.failed; turn++) {
		status = usk_trace_records(t->trace, r, COUNT(r), &n, t->err);
		if (turn % 256 == 0) {
			usk_retime_progress(t, usk_trace_pos(t->trace));
		}
	}
	if (!g.begun && (!status || status == USK_EINPUT)) {
		status = usk_fail(t->err, USK_EINPUT, 0,
				  "%s: its first block is damaged: nothing is left to re-time",
				  t->path);
	}
	usk_block_free(&g.block);
	free(g.clock);
	return status;
}
