/* SPDX-License-Identifier: MIT */
/*
 * message.c - a message of a stream once more, with corrected stamps
 *
 * In    messages of libbabeltrace2 as recorded
 * Out   the same of the copied stream, put where they wait for their turn
 * Why   packets of old tracers overlap, and some say that they end after the next one begins; so
 *       only events have stamps of their own, packets begin and end where events of theirs do
 */
#include "ctf/filter.h"

#define FAILED(merge, ...)                                                                         \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((merge)->self, __VA_ARGS__),   \
	 false)

/* ---- time ----------------------------------------------------------------------------------- */

static struct stream *find_stream(struct merge *m, const bt_stream *from)
{
	/* What came last comes again, nearly always. */
	if (m->last >= m->n_streams || m->stream[m->last].from != from) {
		m->last = 0;
		while (m->last < m->n_streams && m->stream[m->last].from != from) {
			m->last++;
		}
	}
	return m->last < m->n_streams ? &m->stream[m->last] : NULL;
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
	usk_merge_put(m, ns, copy);
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
	uint32_t which = usk_sync_clock(m->sync, trace);
	struct stream s = { .from = from, .last_ns = INT64_MIN };
	if (!clock) {
		return FAILED(m, "trace %s: its events have no time", name);
	}
	if (which == USK_NO_CLOCK && !m->sync->allow_unbounded) {
		return FAILED(
			m,
			"trace %s: it is unknown which clock stamped it; say so with "
			"names={%s=\"CLOCK\"}, or pass it on as recorded with allow-unbounded=yes",
			name, name);
	}
	if (which != USK_NO_CLOCK) {
		const struct usk_clock *c = &m->sync->clocks->clock[which];
		if (c->quality == USK_REFERENCE || c->quality == USK_BOUNDED) {
			s.replay = usk_replay_new(m->sync->clocks, which, NULL);
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
	bt_stream_class *to_class = to ? usk_ir_stream_class(m->ir, to, class) : NULL;
	s.to = to_class ? bt_stream_create_with_id(to_class, to, bt_stream_get_id(from)) : NULL;
	const char *stream_name = bt_stream_get_name(from);
	bt_message *copy = s.to ? bt_message_stream_beginning_create(m->self, s.to) : NULL;
	if (!copy || (stream_name && bt_stream_set_name(s.to, stream_name))) {
		return FAILED(m, "trace %s: its stream cannot be copied", name);
	}
	bt_stream_get_ref(from);
	*USK_ADD(m->stream, m->n_streams, m->cap_streams) = s;
	usk_merge_put(m, INT64_MIN, copy);
	return true;
}

void usk_stream_free(struct stream *s)
{
	bt_packet_put_ref(s->packet);
	bt_stream_put_ref(s->to);
	bt_stream_put_ref(s->from);
	usk_replay_free(s->replay);
}

static bool stream_ends(struct merge *m, const bt_message *message)
{
	struct stream *s = find_stream(m, bt_message_stream_end_borrow_stream_const(message));
	struct usk_err err = { 0 };
	if (usk_replay_end(s->replay, &err)) {
		return FAILED(m, "%s", err.msg);
	}
	if (!keep(m, s->last_ns, bt_message_stream_end_create(m->self, s->to))) {
		return false;
	}
	usk_stream_free(s);
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
	bt_event_class *class = usk_ir_event_class(m->ir, s->to, bt_event_borrow_class_const(from));
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

bool usk_message_take_in(struct merge *m, struct port *p, const bt_message *message)
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
