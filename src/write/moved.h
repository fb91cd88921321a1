/* SPDX-License-Identifier: MIT */
/*
 * moved.h - what a capture with corrected stamps says of them, in its own options
 *
 * Out   the comment of an interface: whose clock stamped, on whose its packets are now, by how much
 *       they moved, where the recorded stamps are; the comment of a packet
 * Why   who opens such a file must see that it is not as recorded, and be able to go back; said once
 *       for an interface it costs nothing, where a comment on each packet makes a file a third larger
 */
#ifndef USK_MOVED_H
#define USK_MOVED_H

#include "base/base.h"

/**
 * What an interface's description ends with, if its stamps were corrected: "stamps of db put on the
 * clock of web by unskew: +0.070000000 s at 1700000000.123456789". Clock, reference, and its first
 * knot, by which wireshark/unskew.lua tells whether it was given the same answer. NULL: they are as
 * recorded. free() it.
 */
char *usk_moved_mark(const struct usk_clocks *c, uint32_t clock);

/** Does a description say so of stamps already? */
bool usk_moved_before(const void *text, size_t n);

/**
 * The comment of an interface. moved: what usk_moved_mark() said was not NULL. path: what holds
 * the stamps as recorded. comments: which packets have one. free() it.
 */
char *usk_moved_text(const struct usk_clocks *c, uint32_t clock, bool moved, const char *path,
		     enum usk_comments comments);

/** Does a packet get a comment with its recorded stamp? repeats: as usk_replay_undoable() says. */
static inline bool usk_moved_comments(enum usk_comments comments, int64_t recorded_ns,
				      int64_t corrected_ns, bool repeats)
{
	return comments == USK_COMMENTS_ALL || (comments == USK_COMMENTS_NEEDED && repeats) ||
	       (comments == USK_COMMENTS_CHANGED && recorded_ns != corrected_ns);
}

#endif
