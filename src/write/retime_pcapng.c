/* SPDX-License-Identifier: MIT */
/*
 * retime_pcapng.c - a pcapng capture again, with corrected stamps
 *
 * In    a pcapng capture: any sections, byte orders, units of time
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
	struct block block;    /* being built; its swap is the section's */
	struct usk_tick *tick; /* of the section's interfaces */
	size_t n_ticks, cap_ticks;
	uint32_t *clock; /* of each of them, */
	size_t cap_clocks;
	uint32_t n_faces; /* of all sections so far */
	size_t n_passed;  /* of the holes */
};

/* Ticks of interface i as recorded ns and as corrected ns. */
static enum usk_status correct(struct ng *g, size_t iface, uint64_t ticks, int64_t *was,
			       int64_t *is)
{
	struct retime *t = g->t;
	enum usk_status status = usk_retime_by(t, g->clock[iface]);
	if (status) {
		return status;
	}
	if (!usk_tick_time(&g->tick[iface], ticks, was)) {
		return usk_fail(t->err, USK_ERANGE, t->in.at,
				"%s: the stamp at byte %llu is more than 2^62 ns (146 years) from "
				"1970",
				t->path, (unsigned long long)t->in.at);
	}
	*is = *was;
	status = t->map ? usk_retime_stamps(t, was, 1, is) : USK_OK;
	if (!status && *is < 0) {
		status = usk_retime_unfit(t, t->in.at, *is, "before 1970");
	}
	return status;
}

static void copy(struct ng *g, const uint8_t *d, size_t size)
{
	usk_output_write(&g->t->out, d, size);
}

static void section(struct ng *g, const uint8_t *d, size_t size)
{
	static const uint8_t not_stated[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	g->n_ticks = 0;
	copy(g, d, 16);
	copy(g, not_stated, sizeof not_stated);
	copy(g, d + 24, size - 24);
}

static void interface(struct ng *g, const uint8_t *d, size_t size)
{
	const bool swap = g->block.swap;
	struct usk_tick tick = usk_tick(USK_TICK_DEFAULT);
	bool has_resolution = false;
	char *name = NULL;
	struct usk_ng_option o;
	size_t step, end = size - 4;
	for (size_t pos = 16; (step = usk_ng_option(d + pos, end - pos, swap, &o)); pos += step) {
		usk_ng_tick(&o, swap, &tick);
		has_resolution |= o.code == NG_IF_RESOLUTION && o.size >= 1;
		if (o.code == NG_IF_NAME && !name) {
			name = usk_format("%.*s", (int)o.size, (const char *)o.value);
		}
	}
	g->clock = usk_room(g->clock, g->n_ticks, &g->cap_clocks, sizeof *g->clock);
	g->clock[g->n_ticks] = usk_trace_iface_clock(g->t->info, g->n_faces++, name, g->t->clock);
	free(name);
	g->tick = usk_room(g->tick, g->n_ticks, &g->cap_ticks, sizeof *g->tick);
	g->tick[g->n_ticks++] = tick;
	if (usk_tick_is_ns(&tick)) {
		copy(g, d, size);
		return;
	}
	static const uint8_t nanoseconds = 9;
	struct block *b = &g->block;
	usk_block_begin(b, NG_INTERFACE);
	usk_block_bytes(b, d + 8, 8);
	for (size_t pos = 16; (step = usk_ng_option(d + pos, end - pos, swap, &o)); pos += step) {
		if (o.code == NG_IF_RESOLUTION && o.size >= 1) {
			usk_block_option(b, NG_IF_RESOLUTION, &nanoseconds, 1);
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
static enum usk_status packet(struct ng *g, uint32_t type, const uint8_t *d, size_t size,
			      bool *damaged)
{
	const bool swap = g->block.swap;
	size_t iface = type == NG_PACKET ? usk_load32(d + 8, swap) : usk_load16(d + 8, swap);
	uint32_t captured = usk_load32(d + 20, swap);
	*damaged = iface >= g->n_ticks || captured > size - 32;
	if (*damaged) {
		return USK_OK;
	}
	uint64_t ticks = (uint64_t)usk_load32(d + 12, swap) << 32 | usk_load32(d + 16, swap);
	int64_t was, is;
	enum usk_status status = correct(g, iface, ticks, &was, &is);
	if (status) {
		return status;
	}
	struct block *b = &g->block;
	char comment[USK_RECORDED_MAX];
	size_t n = usk_recorded_text(was, comment);
	size_t padded = ((size_t)captured + 3) & ~(size_t)3, options = 28 + padded;
	options = options > size - 4 ? size - 4 : options;
	usk_block_begin(b, type);
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
static enum usk_status correct_at(struct ng *g, size_t iface, uint8_t *p)
{
	const bool swap = g->block.swap;
	uint64_t ticks = (uint64_t)usk_load32(p, swap) << 32 | usk_load32(p + 4, swap);
	int64_t was, is = 0;
	enum usk_status status = ticks ? correct(g, iface, ticks, &was, &is) : USK_OK;
	uint32_t half[2] = { usk_swap32_if((uint32_t)((uint64_t)is >> 32), swap),
			     usk_swap32_if((uint32_t)is, swap) };
	memcpy(p, half, sizeof half);
	return status;
}

static enum usk_status statistics(struct ng *g, const uint8_t *d, size_t size, bool *damaged)
{
	const bool swap = g->block.swap;
	*damaged = usk_load32(d + 8, swap) >= g->n_ticks;
	if (*damaged) {
		return USK_OK;
	}
	size_t iface = usk_load32(d + 8, swap);
	uint8_t *own = memcpy(usk_alloc(size, 1), d, size);
	enum usk_status status = correct_at(g, iface, own + 12);
	struct usk_ng_option o;
	size_t step;
	for (size_t pos = 20;
	     !status && (step = usk_ng_option(own + pos, size - 4 - pos, swap, &o)); pos += step) {
		if ((o.code == NG_STATISTICS_START || o.code == NG_STATISTICS_END) && o.size >= 8) {
			status = correct_at(g, iface, own + pos + 4);
		}
	}
	copy(g, own, size);
	free(own);
	return status;
}

static enum usk_status one_block(struct ng *g, uint32_t type, const uint8_t *d, size_t size,
				 bool *damaged)
{
	static const uint8_t bytes[] = {
		[NG_INTERFACE] = 20, [NG_OLD_PACKET] = 32, [NG_STATISTICS] = 24, [NG_PACKET] = 32
	};
	const size_t least = type == NG_SECTION ? 28 : type < COUNT(bytes) ? bytes[type] : 0;
	*damaged = size < least;
	if (*damaged) {
		return USK_OK;
	}
	switch (type) {
	case NG_SECTION:
		section(g, d, size);
		return USK_OK;
	case NG_INTERFACE:
		interface(g, d, size);
		return USK_OK;
	case NG_PACKET:
	case NG_OLD_PACKET:
		return packet(g, type, d, size, damaged);
	case NG_STATISTICS:
		return statistics(g, d, size, damaged);
	default:
		copy(g, d, size);
		return USK_OK;
	}
}

/* Reads the trace to its end, for what is damaged in it. */
static enum usk_status find_holes(struct retime *t)
{
	struct usk_record r[64];
	size_t n = 1;
	enum usk_status status = USK_OK;
	while (!status && n) {
		status = usk_trace_records(t->trace, r, COUNT(r), &n, t->err);
	}
	return status;
}

/* The next block at the front of the window; *size 0 at the end. */
static enum usk_status next_block(struct ng *g, size_t used, uint32_t *type, size_t *size)
{
	struct usk_input *in = &g->t->in;
	const struct usk_trace *trace = g->t->trace;
	enum usk_status status = usk_input_need(in, used, 12, g->t->err);
	while (!status && g->n_passed < trace->n_holes && in->at >= trace->hole[g->n_passed].at) {
		const struct usk_hole *hole = &trace->hole[g->n_passed++];
		for (uint64_t left = hole->bytes; !status && left && in->have;) {
			size_t n = left < in->have ? (size_t)left : in->have;
			status = usk_input_need(in, n, 12, g->t->err);
			left -= n;
		}
	}
	const char *why = NULL;
	*size = 0;
	if (status || in->have < 12) {
		return status;
	}
	size_t n = usk_ng_block(in->data, &g->block.swap, type, &why);
	status = usk_input_need(in, 0, n, g->t->err);
	/* Else the file has changed since its holes were found. */
	*size = in->have >= n ? n : 0;
	return status;
}

enum usk_status usk_retime_pcapng(struct retime *t)
{
	struct ng g = { .t = t };
	enum usk_status status = find_holes(t);
	size_t used = 0;
	if (!status && t->trace->n_holes && !t->trace->hole[0].at) {
		status = usk_fail(t->err, USK_EINPUT, 0,
				  "%s: its first block is damaged: nothing is left to re-time",
				  t->path);
	}
	for (uint64_t turn = 1; !status && !t->out.failed; turn++) {
		uint32_t type = 0;
		size_t size;
		status = next_block(&g, used, &type, &size);
		if (status || !size) {
			break;
		}
		bool damaged;
		uint64_t at = t->in.at;
		status = one_block(&g, type, t->in.data, size, &damaged);
		if (!status && damaged) {
			usk_note(t->notes,
				 "%s: the block at byte %llu contradicts itself and is left out",
				 t->path, (unsigned long long)at);
		}
		used = size;
		if (turn % 65536 == 0) {
			usk_retime_progress(t, usk_input_pos(&t->in, 0));
		}
	}
	usk_block_free(&g.block);
	free(g.tick);
	free(g.clock);
	return status;
}
