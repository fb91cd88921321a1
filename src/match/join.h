/* SPDX-License-Identifier: MIT */
/*
 * join.h - sides of messages -> messages, by their ids
 *
 * In    events of any number of clocks and traces, in any order
 * Out   messages, of each sender nearly by time; how many events have no partner
 * Why   an id that is sent once and received is a message, whoever recorded the two sides, and
 *       however their clocks lie to each other; received by several it is a broadcast, which is a
 *       message to each. Two sends of one id are ambiguous: dropped and counted, never guessed
 * Not   ids that are used again (a tag of MPI): readers make them distinct where order does
 *
 * Events are dealt out to lanes by their ids, a lane is sorted and joined alone, and its messages
 * are dealt out again by time. So memory holds a fraction of all; the disk holds the rest.
 */
#ifndef USK_JOIN_H
#define USK_JOIN_H

#include "base/base.h"

struct usk_join;

struct usk_join *usk_join_new(void);
void usk_join_free(struct usk_join *j);
/** clock: the numbers that messages shall have. */
enum usk_status usk_join_add(struct usk_join *j, const struct usk_event *e, size_t n,
			     struct usk_err *err);
/** All are there: join them. counts: unmatched and ambiguous are added to. */
enum usk_status usk_join_run(struct usk_join *j, struct usk_counts *counts, struct usk_err *err);
/** The next messages into out[cap]: *n of them, 0 at the end. */
enum usk_status usk_join_messages(struct usk_join *j, struct usk_msg *out, size_t cap, size_t *n,
				  struct usk_err *err);
/** Start again. */
void usk_join_rewind(struct usk_join *j);
/** Bytes of messages, and how many were handed out, for progress. */
uint64_t usk_join_size(const struct usk_join *j);
uint64_t usk_join_pos(const struct usk_join *j);

#endif
