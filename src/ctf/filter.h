/* SPDX-License-Identifier: MIT */
/*
 * filter.h - inside of the filter component class sync: every event on the common clock
 *
 *     ir.c        traces and their classes once more, with another clock
 *     ir_class.c  classes of fields once more
 *     sync.c      the component, and which clock stamped a trace
 *     merge.c     its message iterator: ports, and which of what waits is next
 *     message.c   one message, corrected
 *     write.c     a trace through the filter into another folder
 *     retime.c    `apply`: another clock in the metadata where that will do, else write.c
 *
 * In    messages of any number of traces on any number of ports, each port in order
 * Out   all of them in the order of corrected time, on one clock of 1 ns from 1970
 * Why   any pipeline of babeltrace2 then shows, cuts or writes what happened in which order
 * Not   estimating: clocks.json says how the clocks ran
 */
#ifndef USK_FILTER_H
#define USK_FILTER_H

#include "base/tick.h"
#include "ctf/ctf.h"
#include "write/write.h"

/* ---- ir.c ------------------------------------------------------------------------------------ */

/*
 * An event's time is a value of its stream class's clock; so another time on another clock needs
 * other classes, down to the last field. Copies are made once, and live as long as the table; they
 * are equal in all but the clock, which counts ns. NULL or false: memory is exhausted.
 */
struct ir;

/** zero_s: the second from 1970 at which the copies' clock shows 0. */
struct ir *usk_ir_new(bt_self_component *self, int64_t zero_s);
void usk_ir_free(struct ir *ir);

bt_trace *usk_ir_trace(struct ir *ir, const bt_trace *from);
/** Of a trace's, or stream's, copy. */
bt_stream_class *usk_ir_stream_class(struct ir *ir, bt_trace *trace, const bt_stream_class *from);
bt_event_class *usk_ir_event_class(struct ir *ir, bt_stream *stream, const bt_event_class *from);
/** The value of a field, which is of the copy of its class. */
bool usk_ir_field(const bt_field *from, bt_field *to);

enum {
	CONTEXT = BT_FIELD_PATH_SCOPE_PACKET_CONTEXT,
	COMMON = BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT,
	SPECIFIC = BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT,
	PAYLOAD = BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD,
	SCOPES
};

/* Where the classes of fields lie that others refer to by their path. */
struct field_scopes {
	const bt_field_class *scope[SCOPES];
	struct usk_index *copies; /* of all classes so far */
	bt_trace_class *trace_class;
};
/** NULL: it was not copied yet. */
void *usk_ir_copy(struct usk_index *copies, const void *of);
bt_field_class *usk_ir_field_class(struct field_scopes *s, const bt_field_class *from);

/* ---- sync.c ---------------------------------------------------------------------------------- */

/* For a component that is made without params: the only clock there is. */
struct sync_setup {
	const struct usk_clocks *clocks;
	uint32_t clock; /* USK_NO_CLOCK: as recorded */
};

struct sync {
	const struct usk_clocks *clocks;
	struct usk_clocks *own; /* the same, if they were read; NULL: only */
	uint32_t only;
	const bt_value *names; /* a map from host names or names of traces to clocks, or NULL */
	struct known {
		char uuid[37]; /* as text */
		uint32_t clock;
	} * known;
	size_t n_known, cap_known;
	uint64_t n_ports;
	bool allow_unbounded;
	int64_t zero_s; /* where the common clock shows 0 */
};

/** The clock that stamped a trace; USK_NO_CLOCK: nobody knows. */
uint32_t usk_sync_clock(const struct sync *w, const bt_trace *t);

/* The methods, as BT_PLUGIN_... and bt_component_class_filter_... want them. */
bt_component_class_initialize_method_status
usk_sync_init(bt_self_component_filter *self, bt_self_component_filter_configuration *configuration,
	      const bt_value *params, void *data);
void usk_sync_finalize(bt_self_component_filter *self);
bt_component_class_port_connected_method_status
usk_sync_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
		   const bt_port_output *other);

/* ---- merge.c --------------------------------------------------------------------------------- */

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

struct merge {
	bt_self_message_iterator *self;
	struct sync *sync;
	struct ir *ir;
	struct port *port;
	size_t n_ports;
	struct stream *stream;
	size_t n_streams, cap_streams, last; /* last: where the last one was found */
	struct waiting {
		int64_t ns;
		uint64_t number; /* in the order in which they came */
		const bt_message *message;
	} * heap;
	size_t n, cap;
	uint64_t number;
};

/** A copy that waits for its turn, which is ours. */
void usk_merge_put(struct merge *m, int64_t ns, const bt_message *message);

bt_message_iterator_class_initialize_method_status
usk_merge_init(bt_self_message_iterator *self,
	       bt_self_message_iterator_configuration *configuration,
	       bt_self_component_port_output *port);
void usk_merge_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status usk_merge_next(bt_self_message_iterator *self,
							    bt_message_array_const messages,
							    uint64_t capacity, uint64_t *count);

/* ---- message.c ------------------------------------------------------------------------------- */

/** A message of the port: its copy, corrected, is put. false: the error of the thread says why. */
bool usk_message_take_in(struct merge *m, struct port *p, const bt_message *message);
void usk_stream_free(struct stream *s);

/* ---- write.c --------------------------------------------------------------------------------- */

/**
 * The trace in folder `from` into folder `to`, which is there and empty: each event with the stamp
 * that the clock's correction gives it, or as recorded (USK_NO_CLOCK).
 */
enum usk_status usk_bt_write(const char *from, const char *to, const struct usk_clocks *c,
			     uint32_t clock, struct usk_err *err);
/** Does babeltrace2 by itself show this trace, all of it in order? */
bool usk_bt_orders(const char *folder);

#endif
