/* SPDX-License-Identifier: MIT */
/*
 * bt_merge.h - inside of the filter's message iterator
 *
 *     bt_merge.c     ports, and which of what waits is next
 *     bt_message.c   one message, corrected
 */
#ifndef USK_BT_MERGE_H
#define USK_BT_MERGE_H

#include "base/tick.h"
#include "write/bt_sync.h"
#include "write/replay.h"

/* One stream, from its beginning to its end. */
struct stream {
	const bt_stream *from;
	bt_stream *to;
	bt_packet *packet;
	struct usk_cycles cycles;
	struct usk_replay *replay; /* NULL: as recorded */
	int64_t last_ns;	   /* corrected, of what was handed on last; INT64_MIN: nothing */
	size_t side;		   /* its port's clock */
};

/* What a port knows of a clock on it. */
struct side {
	uint32_t clock; /* USK_NO_CLOCK: as recorded */
	struct usk_map *map;
	bool put_back; /* its map alone does not tell */
	int64_t last_ns;
};

struct port {
	bt_message_iterator *iterator;
	struct side *side;
	size_t n_sides;
	int64_t reached_ns; /* as recorded; INT64_MIN: no stamp came yet */
	int64_t bound_ns;   /* nothing that comes will be earlier, corrected */
	bool ended;
};

struct waiting {
	int64_t ns;
	uint64_t number; /* in the order in which they came */
	const bt_message *message;
};

struct merge {
	bt_self_message_iterator *self;
	struct sync *sync;
	struct ir *ir;
	struct port *port;
	size_t n_ports;
	struct stream *stream;
	size_t n_streams, cap_streams, last; /* last: where the last one was found */
	struct waiting *heap;
	size_t n, cap;
	uint64_t number;
};

/** A copy that waits for its turn, which is ours. */
void usk_merge_put(struct merge *m, int64_t ns, const bt_message *message);

/** A message of the port: its copy, corrected, is put. false: the error of the thread says why. */
bool usk_message_take_in(struct merge *m, struct port *p, const bt_message *message);
void usk_stream_free(struct stream *s);

#endif
