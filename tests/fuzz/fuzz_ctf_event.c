/* SPDX-License-Identifier: MIT */
/*
 * Events of many shapes with fields of any values, without files: what becomes of them is the same
 * twice, has room, and as a packet can be decoded.
 *
 * Why   one graph lives as long as the process: a hundred times as many events as in fuzz_ctf,
 * which goes on to messages
 */
#include "ctf_any.h"
#include "found.h"
#include "ctf/ctf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLASSES = 96, EVENTS = 8 };

static struct {
	bt_graph *graph;
	bt_stream *stream;
	bt_packet *packet;
	bt_event_class *class[CLASSES];
	bt_message_iterator *in;
	bool begun;
	struct ctf_places places;
	struct ctf_keys *keys[2];
	uint64_t inputs;
} all;

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *self, bt_self_component_source_configuration *configuration,
	    const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	bt_trace_class *t = bt_trace_class_create(component);
	bt_stream_class *c = bt_stream_class_create(t);
	bt_clock_class *clock = bt_clock_class_create(component);
	struct usk_rng rng;
	(void)configuration;
	(void)params;
	(void)data;
	usk_rng_seed(&rng, 1);
	if (bt_stream_class_set_default_clock_class(c, clock)) {
		abort();
	}
	bt_stream_class_set_supports_packets(c, BT_TRUE, BT_FALSE, BT_FALSE);
	any_classes(t, c, &rng, all.class, CLASSES);
	bt_trace *trace = bt_trace_create(t);
	all.stream = bt_stream_create(c, trace);
	all.packet = bt_packet_create(all.stream);
	bt_clock_class_put_ref(clock);
	bt_stream_class_put_ref(c);
	bt_trace_class_put_ref(t);
	bt_trace_put_ref(trace);
	return bt_self_component_source_add_output_port(self, "out", NULL, NULL)
		       ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR
		       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_next_method_status source_next(bt_self_message_iterator *self,
								bt_message_array_const messages,
								uint64_t capacity, uint64_t *count)
{
	*count = 0;
	if (!all.begun) {
		messages[(*count)++] = bt_message_stream_beginning_create(self, all.stream);
		messages[(*count)++] = bt_message_packet_beginning_create(self, all.packet);
		all.begun = true;
	}
	while (any_left() && *count < EVENTS && *count < capacity) {
		bt_message *m = bt_message_event_create_with_packet_and_default_clock_snapshot(
			self, all.class[any_byte() % CLASSES], all.packet, 1);
		any_fill_event(m);
		messages[(*count)++] = m;
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

/* ---- what is ours ---------------------------------------------------------------------------- */

static void found_item(bool taken, const struct ctf_item *item)
{
	fuzz_found(taken);
	if (taken) {
		fuzz_found(item->key ^ (uint64_t)item->length << 32 ^ item->rule);
		fuzz_found_bytes(item->bytes, item->n);
	}
}

static void check_packet(const bt_event *e, enum ctf_kind kind)
{
	struct ctf_item item[2] = { { .kind = (uint8_t)kind }, { .kind = (uint8_t)kind } };
	bool taken = usk_ctf_net_take(&all.places, e, &item[0]);
	if (taken != usk_ctf_net_take(&all.places, e, &item[1]) ||
	    (taken && memcmp(&item[0], &item[1], sizeof item[0])) || item[0].n > 104) {
		abort();
	}
	found_item(taken, &item[0]);
	if (taken && (kind == CTF_QUEUED || kind == CTF_RECEIVED)) {
		struct usk_record r = { .data = item[0].bytes,
					.captured = item[0].n,
					.length = item[0].length };
		struct usk_packet p;
		if (item[0].n < 28) {
			abort();
		}
		usk_packet_decode(&r, 101, (struct usk_depth){ 40, 0 }, &p, NULL);
	}
}

static void check_side(struct ctf_keys *k, const bt_event *e, struct ctf_role role)
{
	struct ctf_item item = { .kind = role.kind, .rule = role.rule };
	struct usk_event out;
	bool taken = usk_ctf_keys_take(k, &all.places, e, &item);
	found_item(taken, &item);
	if (taken) {
		if (item.n > sizeof item.bytes) {
			abort();
		}
		if (usk_ctf_keys_settle(k, &item, &out)) {
			fuzz_found(out.id.word[0] ^ out.id.word[1] << 1);
			fuzz_found((uint64_t)out.bytes << 8 | out.side);
		}
	}
}

static void check(const bt_event *e)
{
	const bt_event_class *class = bt_event_borrow_class_const(e);
	enum ctf_kind kind = usk_ctf_net_kind(class);
	if (kind != CTF_IGNORED) {
		check_packet(e, kind);
	}
	for (size_t i = 0; i < COUNT(all.keys); i++) {
		struct ctf_role role = usk_ctf_keys_classify(all.keys[i], class);
		if (role.kind != CTF_IGNORED) {
			check_side(all.keys[i], e, role);
		}
	}
	for (size_t i = 0; i < ANY_NAMES; i++) {
		uint8_t text[26], bytes[16] = { 0 };
		const bt_field *f = usk_ctf_field(&all.places, e, any_names[i]);
		size_t room = 16 + i % 11, n;
		if (usk_ctf_text(f, text, room, &n)) {
			if (n > room) {
				abort();
			}
			fuzz_found_bytes(text, n);
		}
		fuzz_found(usk_ctf_bytes(f, bytes, i % 3 ? 16 : 4));
		fuzz_found(bytes[0] ^ (uint64_t)bytes[3] << 8 ^ (uint64_t)bytes[15] << 16);
	}
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	bt_message_array_const messages;
	uint64_t n = 0;
	(void)self;
	if (bt_message_iterator_next(all.in, &messages, &n) == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
		for (uint64_t i = 0; i < n; i++) {
			if (bt_message_get_type(messages[i]) == BT_MESSAGE_TYPE_EVENT) {
				check(bt_message_event_borrow_event_const(messages[i]));
			}
			bt_message_put_ref(messages[i]);
		}
	}
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
sink_init(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	  const bt_value *params, void *data)
{
	(void)configuration;
	(void)params;
	(void)data;
	return bt_self_component_sink_add_input_port(self, "in", NULL, NULL)
		       ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR
		       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	return bt_message_iterator_create_from_sink_component(
		       self, bt_self_component_sink_borrow_input_port_by_index(self, 0), &all.in)
		       ? BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR
		       : BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* They remember what they saw: now and then anew, and where their fields' names were found. */
static void make_keys(void)
{
	static const char *const send[] = { "msg:send{channel,text,name,network_header}",
					    "net_dev_queue{name,#}" };
	static const char *const receive[] = { "msg:recv{channel,me,#,transport_header.seq}",
					       "net_if_rx{len,network_header.saddr}" };
	static const char *const know[] = { "me=msg:whoami{name}" };
	static const struct usk_read_options known = { 0 }, stated = { .send = send,
								       .n_send = 2,
								       .receive = receive,
								       .n_receive = 2,
								       .know = know,
								       .n_know = 1 };
	memset(&all.places, 0, sizeof all.places);
	for (size_t i = 0; i < COUNT(all.keys); i++) {
		usk_ctf_keys_free(all.keys[i]);
		if (usk_ctf_keys_new(i ? &stated : &known, &all.keys[i], NULL)) {
			abort();
		}
	}
}

static void make_graph(void)
{
	const bt_component_source *source;
	const bt_component_sink *sink;
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(source_next);
	bt_component_class_source *from = bt_component_class_source_create("any", iterator);
	bt_component_class_sink *to = bt_component_class_sink_create("ours", sink_consume);
	bt_component_class_source_set_initialize_method(from, source_init);
	bt_component_class_sink_set_initialize_method(to, sink_init);
	bt_component_class_sink_set_graph_is_configured_method(to, sink_configured);
	all.graph = bt_graph_create(0);
	if (bt_graph_add_source_component(all.graph, from, "any", NULL, BT_LOGGING_LEVEL_NONE,
					  &source) ||
	    bt_graph_add_sink_component(all.graph, to, "ours", NULL, BT_LOGGING_LEVEL_NONE,
					&sink) ||
	    bt_graph_connect_ports(
		    all.graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
		    bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL)) {
		abort();
	}
	bt_message_iterator_class_put_ref(iterator);
	bt_component_class_source_put_ref(from);
	bt_component_class_sink_put_ref(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!all.graph) {
		make_graph();
	}
	if (all.inputs++ % 1000 == 0) {
		make_keys();
	}
	any_input(data, size < 4096 ? size : 4096);
	while (any_left()) {
		if (bt_graph_run_once(all.graph) != BT_GRAPH_RUN_ONCE_STATUS_OK) {
			abort();
		}
	}
	return 0;
}
