/* SPDX-License-Identifier: MIT */
/*
 * Events of many shapes with fields of any values, without files: what becomes of them is the same
 * twice, has room, and as a packet can be decoded.
 *
 * Why   fuzz_ctf goes through the whole of libbabeltrace2, in processes of its own, some inputs a
 *       second; here only what is ours runs, in one graph that lives as long as the process
 */
#include "read/ctf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLASSES = 96, DEPTH = 4, EVENTS = 8 };

static const char *const event_names[] = {
	"net_dev_queue",
	"net_if_receive_skb",
	"net_if_rx",
	"net_napi_gro_receive_entry",
	"inet_sock_local_out",
	"inet_sock_local_in",
	"msg:send",
	"msg:recv",
	"mpi:mpi_send_entry",
	"mpi:mpi_recv_exit",
	"msg:whoami",
	"lttng_statedump_network_interface",
	"mpi:mpi_init_exit",
	"ros2:rmw_publish",
	"ros2:rmw_take",
};

/* What events may have as members; those of headers first. */
static const char *const names[] = {
	"version",
	"ihl",
	"tos",
	"tot_len",
	"id",
	"frag_off",
	"ttl",
	"protocol",
	"saddr",
	"daddr",
	"payload_len",
	"nexthdr",
	"hop_limit",
	"source_port",
	"dest_port",
	"seq",
	"ack_seq",
	"data_offset",
	"flags",
	"window_size",
	"source",
	"dest",
	"window",
	"type",
	"code",
	"gateway",
	"len",
	"transport_header",
	"skbaddr",
	"name",
	"network_header",
	"address_ipv4",
	"channel",
	"text",
	"bytes",
	"rank",
	"tg",
	"res",
	"timestamp",
	"source_timestamp",
	"vtid",
	"x",
};
enum { HEADER_NAMES = 28 };

/* The input, byte by byte; zeros behind its end. */
static const uint8_t *input;
static size_t left;

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

static uint64_t byte(void)
{
	uint64_t b = left ? *input : 0;
	input += left != 0;
	left -= left != 0;
	return b;
}

/* Small ones come often: they are versions, protocols, lengths. */
static uint64_t number(void)
{
	uint64_t v = byte();
	if (v >= 0xf0) {
		size_t n = v & 7;
		for (size_t i = 0; i <= n; i++) {
			v = v << 8 | byte();
		}
	}
	return v;
}

/* ---- shapes, drawn once ---------------------------------------------------------------------- */

static bt_field_class *shape(bt_trace_class *t, struct usk_rng *rng, const char *name, int depth);

static bt_field_class *structure(bt_trace_class *t, struct usk_rng *rng, size_t first, size_t end,
				 int depth)
{
	bt_field_class *s = bt_field_class_structure_create(t);
	for (size_t i = first; i < end; i++) {
		if (usk_rng_below(rng, 16)) {
			bt_field_class *f = shape(t, rng, names[i], depth);
			if (bt_field_class_structure_append_member(s, names[i], f)) {
				abort();
			}
			bt_field_class_put_ref(f);
		}
	}
	return s;
}

static bt_field_class *number_class(bt_trace_class *t, struct usk_rng *rng)
{
	switch (usk_rng_below(rng, 12)) {
	case 0:
		return bt_field_class_integer_signed_create(t);
	case 1:
		return bt_field_class_bool_create(t);
	case 2:
		return bt_field_class_bit_array_create(t, 1 + usk_rng_below(rng, 64));
	case 3:
		return bt_field_class_enumeration_unsigned_create(t);
	default:
		return bt_field_class_integer_unsigned_create(t);
	}
}

/* An array, a variant, an option: whatever holds others. */
static bt_field_class *holder(bt_trace_class *t, struct usk_rng *rng, int depth)
{
	bt_field_class *inner = shape(t, rng, "x", depth), *f, *g;
	switch (usk_rng_below(rng, 4)) {
	case 0:
		f = bt_field_class_array_static_create(t, inner, usk_rng_below(rng, 20));
		break;
	case 1:
		f = bt_field_class_array_dynamic_create(t, inner, NULL);
		break;
	case 2:
		f = bt_field_class_option_without_selector_create(t, inner);
		break;
	default:
		f = bt_field_class_variant_create(t, NULL);
		g = structure(t, rng, 0, HEADER_NAMES, depth);
		if (bt_field_class_variant_without_selector_append_option(f, "a", inner) ||
		    bt_field_class_variant_without_selector_append_option(f, "b", g)) {
			abort();
		}
		bt_field_class_put_ref(g);
	}
	bt_field_class_put_ref(inner);
	return f;
}

/* What a field of this name is, mostly; sometimes anything. */
static bt_field_class *shape(bt_trace_class *t, struct usk_rng *rng, const char *name, int depth)
{
	bool odd = usk_rng_below(rng, 12) == 0;
	if (depth >= DEPTH) {
		return number_class(t, rng);
	}
	if (odd && usk_rng_below(rng, 2)) {
		return holder(t, rng, depth + 1);
	}
	if (!odd && strstr(name, "_header")) {
		return structure(t, rng, 0, HEADER_NAMES, depth + 1);
	}
	if (!odd && strstr(name, "addr") == name + 1) {
		bool v6 = usk_rng_below(rng, 2);
		bt_field_class *byte_class = bt_field_class_integer_unsigned_create(t);
		bt_field_class *f = bt_field_class_array_static_create(t, byte_class, v6 ? 8 : 4);
		bt_field_class_put_ref(byte_class);
		return f;
	}
	if (odd || !strcmp(name, "name") || !strcmp(name, "text")) {
		switch (odd ? usk_rng_below(rng, 3) : 0) {
		case 0:
			return bt_field_class_string_create(t);
		case 1:
			return bt_field_class_real_double_precision_create(t);
		default:
			return bt_field_class_real_single_precision_create(t);
		}
	}
	return number_class(t, rng);
}

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
	bt_field_class *common = structure(t, &rng, COUNT(names) - 2, COUNT(names) - 1, 0);
	if (bt_stream_class_set_default_clock_class(c, clock) ||
	    bt_stream_class_set_event_common_context_field_class(c, common)) {
		abort();
	}
	bt_stream_class_set_supports_packets(c, BT_TRUE, BT_FALSE, BT_FALSE);
	for (size_t i = 0; i < CLASSES; i++) {
		bt_field_class *payload = structure(t, &rng, HEADER_NAMES - 2, COUNT(names), 0);
		all.class[i] = bt_event_class_create(c);
		if (bt_event_class_set_name(all.class[i], event_names[i % COUNT(event_names)]) ||
		    bt_event_class_set_payload_field_class(all.class[i], payload)) {
			abort();
		}
		bt_field_class_put_ref(payload);
	}
	bt_trace *trace = bt_trace_create(t);
	all.stream = bt_stream_create(c, trace);
	all.packet = bt_packet_create(all.stream);
	bt_field_class_put_ref(common);
	bt_clock_class_put_ref(clock);
	bt_stream_class_put_ref(c);
	bt_trace_class_put_ref(t);
	bt_trace_put_ref(trace);
	return bt_self_component_source_add_output_port(self, "out", NULL, NULL)
		       ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR
		       : BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* ---- values, from the input ------------------------------------------------------------------ */

static void fill(bt_field *f)
{
	bt_field_class_type type = bt_field_get_class_type(f);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		const bt_field_class *c = bt_field_borrow_class_const(f);
		for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(c); i++) {
			fill(bt_field_structure_borrow_member_field_by_index(f, i));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		if (type != BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
		    bt_field_array_dynamic_set_length(f, byte() % 70)) {
			abort();
		}
		for (uint64_t i = 0; i < bt_field_array_get_length(f); i++) {
			fill(bt_field_array_borrow_element_field_by_index(f, i));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		bool has = byte() & 1;
		bt_field_option_set_has_field(f, has);
		if (has) {
			fill(bt_field_option_borrow_field(f));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		if (bt_field_variant_select_option_by_index(f, byte() & 1)) {
			abort();
		}
		fill(bt_field_variant_borrow_selected_option_field(f));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		bt_field_integer_unsigned_set_value(f, number());
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		bt_field_integer_signed_set_value(f, (int64_t)number());
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(f, byte() & 1);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(f, number());
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		char text[64];
		size_t n = byte() % sizeof text;
		for (size_t i = 0; i < n; i++) {
			text[i] = (char)(1 + byte() % 255);
		}
		text[n] = 0;
		if (bt_field_string_set_value(f, text)) {
			abort();
		}
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(f, (double)number() / 7);
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		bt_field_real_single_precision_set_value(f, (float)number() / 7);
	}
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
	while (left && *count < EVENTS && *count < capacity) {
		bt_message *m = bt_message_event_create_with_packet_and_default_clock_snapshot(
			self, all.class[byte() % CLASSES], all.packet, 1);
		bt_event *e = bt_message_event_borrow_event(m);
		fill(bt_event_borrow_payload_field(e));
		fill(bt_event_borrow_common_context_field(e));
		messages[(*count)++] = m;
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
}

/* ---- what is ours ---------------------------------------------------------------------------- */

static void check_packet(const bt_event *e, enum ctf_kind kind)
{
	struct ctf_item item[2] = { { .kind = (uint8_t)kind }, { .kind = (uint8_t)kind } };
	bool taken = usk_ctf_net_take(&all.places, e, &item[0]);
	if (taken != usk_ctf_net_take(&all.places, e, &item[1]) ||
	    (taken && memcmp(&item[0], &item[1], sizeof item[0])) || item[0].n > 104) {
		abort();
	}
	if (taken && (kind == CTF_QUEUED || kind == CTF_RECEIVED)) {
		struct usk_record r = { .data = item[0].bytes,
					.captured = item[0].n,
					.length = item[0].length };
		struct usk_packet p;
		if (item[0].n < 28) {
			abort();
		}
		usk_packet_decode(&r, 101, 40, &p, NULL);
	}
}

static void check_side(struct ctf_keys *k, const bt_event *e, struct ctf_role role)
{
	struct ctf_item item = { .kind = role.kind, .rule = role.rule };
	struct usk_event out;
	if (usk_ctf_keys_take(k, &all.places, e, &item)) {
		if (item.n > sizeof item.bytes) {
			abort();
		}
		usk_ctf_keys_settle(k, &item, &out);
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
	for (size_t i = 0; i < COUNT(names); i++) {
		uint8_t text[26], bytes[16];
		const bt_field *f = usk_ctf_field(&all.places, e, names[i]);
		size_t room = 16 + i % 11, n;
		if (usk_ctf_text(f, text, room, &n) && n > room) {
			abort();
		}
		usk_ctf_bytes(f, bytes, i % 3 ? 16 : 4);
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
	input = data;
	left = size < 4096 ? size : 4096;
	while (left) {
		if (bt_graph_run_once(all.graph) != BT_GRAPH_RUN_ONCE_STATUS_OK) {
			abort();
		}
	}
	return 0;
}
