/* SPDX-License-Identifier: MIT */
/*
 * bt_whose.h - which clock of clocks.json stamped a trace that libbabeltrace2 shows
 *
 * In    clocks.json with the paths of traces; a trace's UUID, host name and name
 * Out   the number of its clock
 * Why   libbabeltrace2 does not say from which path a trace comes, so those of clocks.json are
 *       looked at for their UUIDs
 */
#ifndef USK_WHOSE_H
#define USK_WHOSE_H

#include "base/base.h"

#include <babeltrace2/babeltrace.h>

struct whose;

/** c is borrowed; file: where it was read from, since paths may be relative to it. names: a map
 * from host names or names of traces to clocks, or NULL. */
struct whose *usk_whose_new(const struct usk_clocks *c, const char *file, const bt_value *names);
void usk_whose_free(struct whose *w);
/** USK_NO_CLOCK: nobody knows. */
uint32_t usk_whose(const struct whose *w, const bt_trace *t);

#endif
