/* SPDX-License-Identifier: MIT */
#include "ctf_any.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4, HEADER_NAMES = 28 };

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
const char *const any_names[ANY_NAMES] = {
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
/* The input, byte by byte; zeros behind its end. */
static const uint8_t *input;
static size_t left;

void any_input(const uint8_t *data, size_t size)
{
	input = data;
	left = size;
}

size_t any_left(void)
{
	return left;
}

uint64_t any_byte(void)
{
	uint64_t b = left ? *input : 0;
	input += left != 0;
	left -= left != 0;
	return b;
}

uint64_t any_number(void)
{
	uint64_t v = any_byte();
	if (v >= 0xf0) {
		size_t n = v & 7;
		for (size_t i = 0; i <= n; i++) {
			v = v << 8 | any_byte();
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
			bt_field_class *f = shape(t, rng, any_names[i], depth);
			if (bt_field_class_structure_append_member(s, any_names[i], f)) {
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

void any_classes(bt_trace_class *t, bt_stream_class *c, struct usk_rng *rng, bt_event_class **class,
		 size_t n)
{
	bt_field_class *common = structure(t, rng, ANY_NAMES - 2, ANY_NAMES - 1, 0);
	if (bt_stream_class_set_event_common_context_field_class(c, common)) {
		abort();
	}
	bt_field_class_put_ref(common);
	for (size_t i = 0; i < n; i++) {
		bt_field_class *payload = structure(t, rng, HEADER_NAMES - 2, ANY_NAMES, 0);
		class[i] = bt_event_class_create(c);
		if (bt_event_class_set_name(class[i], event_names[i % COUNT(event_names)]) ||
		    bt_event_class_set_payload_field_class(class[i], payload)) {
			abort();
		}
		bt_field_class_put_ref(payload);
		bt_event_class_put_ref(class[i]); /* c has it */
	}
}

/* ---- values, from the input ------------------------------------------------------------------ */

void any_fill(bt_field *f)
{
	bt_field_class_type type = bt_field_get_class_type(f);
	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		const bt_field_class *c = bt_field_borrow_class_const(f);
		for (uint64_t i = 0; i < bt_field_class_structure_get_member_count(c); i++) {
			any_fill(bt_field_structure_borrow_member_field_by_index(f, i));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		if (type != BT_FIELD_CLASS_TYPE_STATIC_ARRAY &&
		    bt_field_array_dynamic_set_length(f, any_byte() % 70)) {
			abort();
		}
		for (uint64_t i = 0; i < bt_field_array_get_length(f); i++) {
			any_fill(bt_field_array_borrow_element_field_by_index(f, i));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		bool has = any_byte() & 1;
		bt_field_option_set_has_field(f, has);
		if (has) {
			any_fill(bt_field_option_borrow_field(f));
		}
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		if (bt_field_variant_select_option_by_index(f, any_byte() & 1)) {
			abort();
		}
		any_fill(bt_field_variant_borrow_selected_option_field(f));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		bt_field_integer_unsigned_set_value(f, any_number());
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		bt_field_integer_signed_set_value(f, (int64_t)any_number());
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(f, any_byte() & 1);
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(f, any_number());
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		char text[64];
		size_t n = any_byte() % sizeof text;
		for (size_t i = 0; i < n; i++) {
			text[i] = (char)(1 + any_byte() % 255);
		}
		text[n] = 0;
		if (bt_field_string_set_value(f, text)) {
			abort();
		}
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(f, (double)any_number() / 7);
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		bt_field_real_single_precision_set_value(f, (float)any_number() / 7);
	}
}

void any_fill_event(bt_message *event)
{
	bt_event *e = bt_message_event_borrow_event(event);
	any_fill(bt_event_borrow_payload_field(e));
	any_fill(bt_event_borrow_common_context_field(e));
}
