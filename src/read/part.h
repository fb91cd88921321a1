/* SPDX-License-Identifier: MIT */
/*
 * part.h - what matching needs of a trace, in a file of its own
 *
 * A part holds the rows of one trace in their order: of a packet its
 * headers and as much of its payload as two captures of it can be told by, of tables, events and
 * spans all that is read of them. Whoever reads it through trace.h gets what the trace itself
 * would give, so that whatever is computed from parts is what is computed from traces.
 *
 * The file: eight bytes, of which the last is the version; then blocks, each of kind, size, check
 * sum (32, 32 and 64 bits) and payload. Numbers are little-endian, or 7 bits a byte, lowest first.
 * The first block says what it is about, the last one that it is whole.
 */
#ifndef USK_PART_H
#define USK_PART_H

#include "read/trace.h"

/* Takes a part as it is made. */
struct usk_part_sink {
	void (*put)(void *ctx, const void *data, size_t n);
	void *ctx;
};

/** Read t from its start to its end and hand out its part. named: the user named its clock. */
enum usk_status usk_part_write(struct usk_trace *t, bool named, const struct usk_part_sink *sink,
			       struct usk_err *err);

/** The same without rows: it says what is known of t by now, where t itself is not. */
void usk_part_write_head(const struct usk_trace *t, bool named, const struct usk_part_sink *sink);

/** What a head says of interfaces, damage and events: t, which is the head of an earlier moment, knows it
 * from now on. USK_EINPUT: it is none. */
enum usk_status usk_part_take_head(struct usk_trace *t, const void *head, size_t size,
				   struct usk_err *err);

/** Is what begins so a part? */
bool usk_part_sniff(const uint8_t *data, size_t n);

/**
 * The trace that a part is of: its path, its name unless one is given, its rows. USK_EINPUT: it is
 * no part, damaged, cut short, or of another version; the last two may show as it is read.
 */
enum usk_status usk_part_open(const char *file, const char *name, struct usk_trace **out,
			      struct usk_err *err);
/** The same from memory, which is borrowed until usk_trace_close(). */
enum usk_status usk_part_open_memory(const void *data, size_t size, const char *name,
				     struct usk_trace **out, struct usk_err *err);
bool usk_trace_is_part(const struct usk_trace *t);
/** The same part once more: usk_trace_again(). */
enum usk_status usk_part_again(const struct usk_trace *from, struct usk_trace **out,
			       struct usk_err *err);
/** Did the user name the clock, as the part was made? */
bool usk_part_named(const struct usk_trace *t);

/**
 * What matching can ever look at of a record: its first bytes, less what does not show in it, into
 * out[r->captured]. Returns how many: decoded to any depth they are the same packet. *flow: equal
 * for packets of one conversation, mostly.
 */
size_t usk_part_head(const struct usk_record *r, uint16_t link_type, uint8_t *out, uint32_t *flow);

#endif
