/* SPDX-License-Identifier: MIT */
/*
 * retime_pcapng.c - a pcapng capture again, with corrected stamps
 *
 * In    a pcapng capture: any sections, byte orders, units of time; its blocks as the reader passes
 *       them
 * Out   the same blocks and options in the same order; stamps of packets and of interface
 *       statistics corrected, in ns; the recorded stamp in a comment of its packet, if it is
 *       another; what was done in a comment of its interface and at the end of its description
 * Why   what other tools have put into the file (names, secrets, comments) survives
 * Not   simple packet blocks: they have no stamp and stay as they are; what is damaged, where
 *       other tools would stop
 *
 * Interfaces are described anew: if_tsresol 9, no if_tsoffset.
 * The section's length becomes "not stated", since comments make it longer.
 */
#include "read/read.h"
#include "write/block.h"
#include "write/moved.h"
#include "write/retime.h"

#include <stdlib.h>
#include <string.h>

struct ng {
	struct retime *t;
	enum usk_comments comments;
	struct block block; /* being built */
	uint32_t *clock;    /* of the interfaces of all sections so far */
	size_t cap_clocks;
	bool begun;
};

/* A stamp of interface i, corrected; *repeats as usk_replay_undoable() says. */
static enum usk_status correct(struct ng *g, uint64_t at, size_t iface, int64_t was, int64_t *is,
			       bool *repeats)
{
	struct retime *t = g->t;
	enum usk_status status = usk_retime_by(t, g->clock[iface]);
	*is = was;
	*repeats = false;
	if (!status && t->map) {
		status = usk_retime_stamps(t, &was, 1, is, repeats);
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

/* What was done to stamps: a comment, and the description with the mark at its end. */
static void say_moved(struct ng *g, uint32_t clock, const char *mark,
		      const struct usk_ng_option *was)
{
	struct block *b = &g->block;
	char *comment = usk_moved_text(g->t->clocks, clock, true, g->t->path, g->comments);
	if (usk_moved_before(was->value, was->size)) {
		usk_retime_again(g->t, g->t->clocks->clock[clock].name);
	}
	char *text = usk_format("%.*s%s%s", (int)was->size, (const char *)was->value,
				was->size ? "; " : "", mark);
	usk_block_option(b, NG_COMMENT, comment, strlen(comment));
	usk_block_option(b, NG_IF_DESCRIPTION, text, strlen(text));
	free(comment);
	free(text);
}

/* With stamps in ns from 1970, and said to be moved. */
static void describe(struct ng *g, const struct usk_ng *from, uint32_t clock, const char *mark)
{
	static const uint8_t nanoseconds = 9;
	struct block *b = &g->block;
	struct usk_ng_option o, description = { 0 };
	const size_t end = from->size - 4;
	size_t step;
	usk_block_begin(b, NG_INTERFACE);
	usk_block_bytes(b, from->data + 8, 8);
	usk_block_option(b, NG_IF_RESOLUTION, &nanoseconds, 1);
	for (size_t pos = 16; (step = usk_ng_option(from->data + pos, end - pos, b->swap, &o));
	     pos += step) {
		if (mark && o.code == NG_IF_DESCRIPTION) {
			description = o;
		} else if (o.code != NG_IF_OFFSET && o.code != NG_IF_RESOLUTION) {
			usk_block_bytes(b, from->data + pos, step);
		}
	}
	if (mark) {
		say_moved(g, clock, mark, &description);
	}
	usk_block_option(b, NG_END_OF_OPTIONS, NULL, 0);
	usk_block_end(b, &g->t->out);
}

static void interface(struct ng *g, const struct usk_ng *from)
{
	const struct usk_trace *trace = g->t->trace;
	const struct usk_clocks *c = g->t->clocks;
	const size_t i = trace->n_ifaces - 1;
	uint32_t clock =
		usk_trace_iface_clock(g->t->info, (uint32_t)i, trace->iface[i].name, g->t->clock);
	g->clock = usk_room(g->clock, i, &g->cap_clocks, sizeof *g->clock);
	g->clock[i] = clock;
	char *mark = clock < c->n_clocks ? usk_moved_mark(c, clock) : NULL;
	if (!mark && usk_tick_is_ns(usk_pcapng_tick(trace, i))) {
		copy(g, from->data, from->size);
	} else {
		describe(g, from, clock, mark);
	}
	free(mark);
}

/* Enhanced and obsolete packet blocks differ only in how they name the interface. */
static enum usk_status packet(struct ng *g, const struct usk_ng *from)
{
	const uint8_t *d = from->data;
	const struct usk_record *r = from->packet;
	const size_t size = from->size;
	int64_t is;
	bool repeats;
	enum usk_status status = correct(g, from->at, r->iface, r->time_ns, &is, &repeats);
	if (status) {
		return status;
	}
	struct block *b = &g->block;
	const bool comment = usk_moved_comments(g->comments, r->time_ns, is, repeats);
	size_t padded = ((size_t)r->captured + 3) & ~(size_t)3, options = 28 + padded;
	options = options > size - 4 ? size - 4 : options;
	usk_block_begin(b, from->type);
	usk_block_bytes(b, d + 8, 4);
	usk_block_stamp(b, (uint64_t)is);
	usk_block_bytes(b, d + 20, options - 20);
	usk_block_pad(b);
	if (comment) {
		char text[USK_RECORDED_MAX];
		usk_block_option(b, NG_COMMENT, text, usk_recorded_text(r->time_ns, text));
	}
	if (options < size - 4) {
		usk_block_bytes(b, d + options, size - 4 - options);
	} else if (comment) {
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
	bool repeats;
	if (!ticks) {
		return USK_OK;
	}
	enum usk_status status =
		usk_tick_time(usk_pcapng_tick(t->trace, iface), ticks, &was)
			? correct(g, at, iface, was, &is, &repeats)
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
	const enum usk_comments asked = t->opt ? t->opt->comments : USK_COMMENTS_USUAL;
	struct ng g = { .t = t, .comments = asked ? asked : USK_COMMENTS_CHANGED };
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
