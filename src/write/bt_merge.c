/* SPDX-License-Identifier: MIT */
/*
 * bt_merge.c - messages of all ports, corrected and put in order
 *
 * A message is handed out once no port can have an earlier one: what comes on a port is not earlier
 * than what came last, on its own clock, and corrections do not change the order of one clock. So
 * what waits is what the clocks are apart, if several come through one port, and a batch per port
 * if each has its own.
 */
#include "write/bt_sync.h"
#include "base/tick.h"
#include "write/replay.h"

#include <stdlib.h>
#include <string.h>

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
	size_t n_streams, cap_streams;
	struct waiting *heap;
	size_t n, cap;
	uint64_t number;
};

#define FAILED(merge, ...)                                                                         \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((merge)->self, __VA_ARGS__),   \
	 false)

/* ---- what waits ---------------------------------------------------------------------------- */

static bool before(const struct waiting *a, const struct waiting *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->number < b->number;
}

static void put(struct merge *m, int64_t ns, const bt_message *message)
{
	struct waiting w = { ns, m->number++, message };
	m->heap = usk_room(m->heap, m->n, &m->cap, sizeof *m->heap);
	size_t i = m->n++;
	for (; i && before(&w, &m->heap[(i - 1) / 2]); i = (i - 1) / 2) {
		m->heap[i] = m->heap[(i - 1) / 2];
	}
	m->heap[i] = w;
}

static const bt_message *take(struct merge *m)
{
	const bt_message *first = m->heap[0].message;
	struct waiting last = m->heap[--m->n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
		child += child + 1 < m->n && before(&m->heap[child + 1], &m->heap[child]);
		if (!before(&m->heap[child], &last)) {
			break;
		}
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = last;
	return first;
}

/* ---- time ----------------------------------------------------------------------------------- */

static struct stream *find_stream(struct merge *m, const bt_stream *from)
{
	/* What came last comes again, nearly always. */
	for (size_t i = 0; i < m->n_streams; i++) {
		if (m->stream[i].from == from) {
			return &m->stream[i];
		}
	}
	return NULL;
}

/* A stamp of the stream, as recorded and on the common clock. */
static bool correct(struct merge *m, struct stream *s, const bt_clock_snapshot *cs, int64_t *local,
		    int64_t *ns)
{
	struct usk_err err = { 0 };
	if (!usk_cycles_time(&s->cycles, bt_clock_snapshot_get_value(cs), local)) {
		return FAILED(m, "a stamp is more than 2^62 ns (146 years) from zero: not a time "
				 "that can be corrected");
	}
	*ns = *local;
	if (s->replay && usk_replay_many(s->replay, local, 1, ns, &err)) {
		return FAILED(m, "%s", err.msg);
	}
	return true;
}

/* What follows on this port is not before it. */
static void reach(struct port *p, const struct stream *s, int64_t local, int64_t ns)
{
	struct side *side = &p->side[s->side];
	p->reached_ns = local > p->reached_ns ? local : p->reached_ns;
	side->last_ns = ns > side->last_ns ? ns : side->last_ns;
}

/* The count of the common clock. */
static bool to_value(struct merge *m, int64_t ns, uint64_t *value)
{
	usk_i128 v = (usk_i128)ns - (usk_i128)m->sync->zero_s * 1000000000;
	*value = (uint64_t)v;
	return v >= 0 || FAILED(m, "a corrected stamp lies before 1970");
}

/* Nothing that comes on this port will be earlier. */
static int64_t bound(const struct port *p)
{
	int64_t least = INT64_MAX;
	if (p->ended) {
		return INT64_MAX;
	}
	if (p->reached_ns == INT64_MIN) {
		return INT64_MIN;
	}
	for (size_t i = 0; i < p->n_sides; i++) {
		const struct side *s = &p->side[i];
		int64_t ns = p->reached_ns;
		if (s->put_back) {
			ns = s->last_ns;
		} else if (s->map && usk_map_many(s->map, &p->reached_ns, 1, &ns, NULL)) {
			ns = s->last_ns;
		}
		least = ns < least ? ns : least;
	}
	return least;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* The port's own account of a clock. */
static size_t side_of(struct merge *m, struct port *p, uint32_t clock)
{
	for (size_t i = 0; i < p->n_sides; i++) {
		if (p->side[i].clock == clock) {
			return i;
		}
	}
	p->side = usk_grow(p->side, p->n_sides + 1, sizeof *p->side);
	struct side *s = &p->side[p->n_sides];
	*s = (struct side){ .clock = clock, .last_ns = INT64_MIN };
	if (clock != USK_NO_CLOCK) {
		const struct usk_clock *c = &m->sync->clocks->clock[clock];
		s->map = usk_map_new(c, m->sync->clocks->max_skew_e12);
		s->put_back = c->n_knots && c->knot[c->n_knots - 1].epoch;
	}
	return p->n_sides++;
}

static bool keep(struct merge *m, int64_t ns, const bt_message *copy)
{
	if (!copy) {
		return FAILED(m, "no memory");
	}
	put(m, ns, copy);
	return true;
}

static bool stream_begins(struct merge *m, struct port *p, const bt_message *message)
{
	const bt_stream *from = bt_message_stream_beginning_borrow_stream_const(message);
	const bt_trace *trace = bt_stream_borrow_trace_const(from);
	const bt_stream_class *class = bt_stream_borrow_class_const(from);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	const char *name = bt_trace_get_name(trace);
	name = name ? name : "without a name";
	uint32_t which = m->sync->whose ? usk_whose(m->sync->whose, trace) : m->sync->only;
	struct stream s = { .from = from, .last_ns = INT64_MIN };
	if (!clock) {
		return FAILED(m, "trace %s: its events have no time", name);
	}
	if (which == USK_NO_CLOCK && !m->sync->allow_unbounded) {
		return FAILED(m,
			      "trace %s: none of the clocks is known to have stamped it; say which "
			      "with names={%s=\"CLOCK\"}, or let it go along as recorded with "
			      "allow-unbounded=yes",
			      name, name);
	}
	if (which != USK_NO_CLOCK) {
		const struct usk_clock *c = &m->sync->clocks->clock[which];
		if (c->quality == USK_REFERENCE || c->quality == USK_BOUNDED) {
			s.replay = usk_replay_new(c, m->sync->clocks->max_skew_e12);
		}
		if (!s.replay && !m->sync->allow_unbounded) {
			return FAILED(
				m,
				"trace %s: clock %s is %s, so its stamps cannot be corrected; "
				"allow-unbounded=yes leaves them as recorded",
				name, c->name, usk_quality_name(c->quality));
		}
	}
	s.side = side_of(m, p, s.replay ? which : USK_NO_CLOCK);
	s.cycles.hz = bt_clock_class_get_frequency(clock);
	bt_clock_class_get_offset(clock, &s.cycles.offset_s, &s.cycles.offset_cycles);
	bt_trace *to = usk_ir_trace(m->ir, trace);
	bt_stream_class *to_class = to ? usk_ir_stream_class(m->ir, class) : NULL;
	s.to = to_class ? bt_stream_create_with_id(to_class, to, bt_stream_get_id(from)) : NULL;
	const char *stream_name = bt_stream_get_name(from);
	bt_message *copy = s.to ? bt_message_stream_beginning_create(m->self, s.to) : NULL;
	if (!copy || (stream_name && bt_stream_set_name(s.to, stream_name))) {
		return FAILED(m, "trace %s: its stream cannot be copied", name);
	}
	bt_stream_get_ref(from);
	m->stream = usk_room(m->stream, m->n_streams, &m->cap_streams, sizeof *m->stream);
	m->stream[m->n_streams++] = s;
	put(m, INT64_MIN, copy);
	return true;
}

static void free_stream(struct stream *s)
{
	bt_packet_put_ref(s->packet);
	bt_stream_put_ref(s->to);
	bt_stream_put_ref(s->from);
	usk_replay_free(s->replay);
}

static bool stream_ends(struct merge *m, const bt_message *message)
{
	struct stream *s = find_stream(m, bt_message_stream_end_borrow_stream_const(message));
	if (!keep(m, s->last_ns, bt_message_stream_end_create(m->self, s->to))) {
		return false;
	}
	free_stream(s);
	*s = m->stream[--m->n_streams];
	return true;
}

/* Tracers of old let packets begin before the last one ended: then where its last event was. */
static bool packet_begins(struct merge *m, const bt_message *message)
{
	const bt_packet *from = bt_message_packet_beginning_borrow_packet_const(message);
	struct stream *s = find_stream(m, bt_packet_borrow_stream_const(from));
	const bt_stream_class *class = bt_stream_borrow_class_const(s->from);
	const bt_field *context = bt_packet_borrow_context_field_const(from);
	int64_t local, ns = s->last_ns;
	uint64_t value = 0;
	bool timed = bt_stream_class_packets_have_beginning_default_clock_snapshot(class);
	if (timed &&
	    !correct(m, s, bt_message_packet_beginning_borrow_default_clock_snapshot_const(message),
		     &local, &ns)) {
		return false;
	}
	s->last_ns = ns > s->last_ns ? ns : s->last_ns;
	bt_packet_put_ref(s->packet);
	s->packet = bt_packet_create(s->to);
	if (!s->packet ||
	    (context && !usk_ir_field(context, bt_packet_borrow_context_field(s->packet)))) {
		return FAILED(m, "a packet cannot be copied");
	}
	if (timed && !to_value(m, s->last_ns, &value)) {
		return false;
	}
	bt_message *copy = timed ? bt_message_packet_beginning_create_with_default_clock_snapshot(
					   m->self, s->packet, value)
				 : bt_message_packet_beginning_create(m->self, s->packet);
	return keep(m, s->last_ns, copy);
}

/*
 * A packet ends with its last event. What it says itself of its end is no event: the next one may
 * begin before.
 */
static bool packet_ends(struct merge *m, const bt_message *message)
{
	const bt_packet *from = bt_message_packet_end_borrow_packet_const(message);
	struct stream *s = find_stream(m, bt_packet_borrow_stream_const(from));
	const bt_stream_class *class = bt_stream_borrow_class_const(s->from);
	int64_t local;
	uint64_t value = 0;
	bool timed = bt_stream_class_packets_have_end_default_clock_snapshot(class);
	if (timed && s->last_ns == INT64_MIN &&
	    !correct(m, s, bt_message_packet_end_borrow_default_clock_snapshot_const(message),
		     &local, &s->last_ns)) {
		return false;
	}
	if (timed && !to_value(m, s->last_ns, &value)) {
		return false;
	}
	return keep(m, s->last_ns,
		    timed ? bt_message_packet_end_create_with_default_clock_snapshot(
				    m->self, s->packet, value)
			  : bt_message_packet_end_create(m->self, s->packet));
}

static bool copy_fields(const bt_event *from, bt_event *to)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(from);
	const bt_field *specific = bt_event_borrow_specific_context_field_const(from);
	const bt_field *common = bt_event_borrow_common_context_field_const(from);
	return (!payload || usk_ir_field(payload, bt_event_borrow_payload_field(to))) &&
	       (!specific || usk_ir_field(specific, bt_event_borrow_specific_context_field(to))) &&
	       (!common || usk_ir_field(common, bt_event_borrow_common_context_field(to)));
}

static bool event(struct merge *m, struct port *p, const bt_message *message)
{
	const bt_event *from = bt_message_event_borrow_event_const(message);
	struct stream *s = find_stream(m, bt_event_borrow_stream_const(from));
	bt_event_class *class = usk_ir_event_class(m->ir, bt_event_borrow_class_const(from));
	int64_t local, ns;
	uint64_t value;
	if (!class) {
		return FAILED(m, "an event's class cannot be copied");
	}
	if (!correct(m, s, bt_message_event_borrow_default_clock_snapshot_const(message), &local,
		     &ns) ||
	    !to_value(m, ns, &value)) {
		return false;
	}
	reach(p, s, local, ns);
	bt_message *copy = bt_event_borrow_packet_const(from)
				   ? bt_message_event_create_with_packet_and_default_clock_snapshot(
					     m->self, class, s->packet, value)
				   : bt_message_event_create_with_default_clock_snapshot(
					     m->self, class, s->to, value);
	if (!copy || !copy_fields(from, bt_message_event_borrow_event(copy))) {
		return FAILED(m, "an event cannot be copied");
	}
	/* What is of one stream stays in its order. */
	s->last_ns = ns > s->last_ns ? ns : s->last_ns;
	return keep(m, s->last_ns, copy);
}

/* Events or packets that the tracer had no room for, between two times. */
static bool discarded(struct merge *m, const bt_message *message, bool packets)
{
	const bt_stream *from = packets ? bt_message_discarded_packets_borrow_stream_const(message)
					: bt_message_discarded_events_borrow_stream_const(message);
	struct stream *s = find_stream(m, from);
	const bt_stream_class *class = bt_stream_borrow_class_const(s->from);
	bool timed = packets ? bt_stream_class_discarded_packets_have_default_clock_snapshots(class)
			     : bt_stream_class_discarded_events_have_default_clock_snapshots(class);
	int64_t local, ns[2] = { s->last_ns, s->last_ns };
	uint64_t value[2] = { 0, 0 }, count;
	bt_message *copy;
	if (timed) {
		const bt_clock_snapshot *cs[2] = {
			packets ? bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
					  message)
				: bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
					  message),
			packets ? bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
					  message)
				: bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
					  message),
		};
		/* As packets: from the last event on. */
		for (int i = s->last_ns != INT64_MIN; i < 2; i++) {
			if (!correct(m, s, cs[i], &local, &ns[i])) {
				return false;
			}
		}
		ns[1] = ns[1] > ns[0] ? ns[1] : ns[0];
		s->last_ns = ns[0];
		if (!to_value(m, ns[0], &value[0]) || !to_value(m, ns[1], &value[1])) {
			return false;
		}
	}
	if (packets) {
		copy = timed ? bt_message_discarded_packets_create_with_default_clock_snapshots(
				       m->self, s->to, value[0], value[1])
			     : bt_message_discarded_packets_create(m->self, s->to);
		if (copy && bt_message_discarded_packets_get_count(message, &count) ==
				    BT_PROPERTY_AVAILABILITY_AVAILABLE) {
			bt_message_discarded_packets_set_count(copy, count);
		}
	} else {
		copy = timed ? bt_message_discarded_events_create_with_default_clock_snapshots(
				       m->self, s->to, value[0], value[1])
			     : bt_message_discarded_events_create(m->self, s->to);
		if (copy && bt_message_discarded_events_get_count(message, &count) ==
				    BT_PROPERTY_AVAILABILITY_AVAILABLE) {
			bt_message_discarded_events_set_count(copy, count);
		}
	}
	return keep(m, ns[0], copy);
}

static bool take_in(struct merge *m, struct port *p, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return stream_begins(m, p, message);
	case BT_MESSAGE_TYPE_STREAM_END:
		return stream_ends(m, message);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return packet_begins(m, message);
	case BT_MESSAGE_TYPE_PACKET_END:
		return packet_ends(m, message);
	case BT_MESSAGE_TYPE_EVENT:
		return event(m, p, message);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return discarded(m, message, false);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return discarded(m, message, true);
	default:
		return true; /* that nothing happened is of the clocks as recorded */
	}
}

/* ---- the iterator ---------------------------------------------------------------------------- */

bt_message_iterator_class_initialize_method_status
usk_merge_init(bt_self_message_iterator *self,
	       bt_self_message_iterator_configuration *configuration,
	       bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	bt_self_component_filter *filter = (bt_self_component_filter *)component;
	struct sync *sync = bt_self_component_get_data(component);
	struct merge *m = usk_alloc(1, sizeof *m);
	(void)configuration;
	(void)port;
	m->self = self;
	m->sync = sync;
	m->ir = usk_ir_new(component, sync->zero_s);
	m->port = usk_alloc(sync->n_ports, sizeof *m->port);
	bt_self_message_iterator_set_data(self, m);
	bool good = m->ir != NULL;
	for (uint64_t i = 0; i < sync->n_ports && good; i++) {
		bt_self_component_port_input *in =
			bt_self_component_filter_borrow_input_port_by_index(filter, i);
		if (!bt_port_is_connected(bt_port_input_as_port_const(
			    bt_self_component_port_input_as_port_input(in)))) {
			continue;
		}
		struct port *p = &m->port[m->n_ports++];
		p->reached_ns = INT64_MIN;
		good = !bt_message_iterator_create_from_message_iterator(self, in, &p->iterator);
	}
	if (!good) {
		usk_merge_finalize(self);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void usk_merge_finalize(bt_self_message_iterator *self)
{
	struct merge *m = bt_self_message_iterator_get_data(self);
	if (!m) {
		return;
	}
	while (m->n) {
		bt_message_put_ref(take(m));
	}
	for (size_t i = 0; i < m->n_streams; i++) {
		free_stream(&m->stream[i]);
	}
	for (size_t i = 0; i < m->n_ports; i++) {
		bt_message_iterator_put_ref(m->port[i].iterator);
		for (size_t k = 0; k < m->port[i].n_sides; k++) {
			usk_map_free(m->port[i].side[k].map);
		}
		free(m->port[i].side);
	}
	usk_ir_free(m->ir);
	free(m->stream);
	free(m->heap);
	free(m->port);
	free(m);
	bt_self_message_iterator_set_data(self, NULL);
}

/* The next batch of a port. */
static bt_message_iterator_class_next_method_status pull(struct merge *m, struct port *p)
{
	bt_message_array_const message;
	uint64_t n = 0;
	bool good = true;
	switch (bt_message_iterator_next(p->iterator, &message, &n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		p->ended = true;
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	default:
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < n; i++) {
		good = good && take_in(m, p, message[i]);
		bt_message_put_ref(message[i]);
	}
	return good ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		    : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_next_method_status usk_merge_next(bt_self_message_iterator *self,
							    bt_message_array_const messages,
							    uint64_t capacity, uint64_t *count)
{
	struct merge *m = bt_self_message_iterator_get_data(self);
	*count = 0;
	while (*count < capacity) {
		struct port *behind = NULL;
		int64_t least = INT64_MAX;
		for (size_t i = 0; i < m->n_ports; i++) {
			int64_t ns = bound(&m->port[i]);
			if (!m->port[i].ended && (!behind || ns < least)) {
				behind = &m->port[i];
				least = ns;
			}
		}
		if (m->n && (!behind || m->heap[0].ns <= least)) {
			messages[(*count)++] = take(m);
			continue;
		}
		if (!behind) {
			break;
		}
		bt_message_iterator_class_next_method_status status = pull(m, behind);
		if (status != BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK) {
			if (*count &&
			    status == BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN) {
				break;
			}
			while (*count) {
				bt_message_put_ref(messages[--*count]);
			}
			return status;
		}
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}
