/* SPDX-License-Identifier: MIT */
#include "ctf/filter.h"

#include <stdlib.h>

struct ir {
	bt_self_component *self;
	bt_clock_class *clock;
	/* Held, since all classes live as long as their trace, and its place is not reused. */
	struct held {
		const bt_trace *from;
		bt_trace *to;
	} * held;
	size_t n;
	struct usk_index classes; /* from those of all kinds to their copies */
};

struct ir *usk_ir_new(bt_self_component *self, int64_t zero_s)
{
	struct ir *ir = usk_alloc(1, sizeof *ir);
	ir->self = self;
	ir->clock = bt_clock_class_create(self);
	if (!ir->clock || bt_clock_class_set_name(ir->clock, "unskew") ||
	    bt_clock_class_set_description(ir->clock, "the common timeline, in ns")) {
		usk_ir_free(ir);
		return NULL;
	}
	bt_clock_class_set_frequency(ir->clock, 1000000000);
	bt_clock_class_set_offset(ir->clock, zero_s, 0);
	bt_clock_class_set_origin_is_unix_epoch(ir->clock, BT_TRUE);
	return ir;
}

void usk_ir_free(struct ir *ir)
{
	if (ir) {
		for (size_t i = 0; i < ir->n; i++) {
			bt_trace_put_ref(ir->held[i].from);
			bt_trace_put_ref(ir->held[i].to);
		}
		bt_clock_class_put_ref(ir->clock);
		usk_index_free(&ir->classes);
		free(ir->held);
	}
	free(ir);
}

void *usk_ir_copy(struct usk_index *copies, const void *of)
{
	return (void *)(uintptr_t)usk_index_find(copies, (uintptr_t)of, 0);
}

/* ---- traces ------------------------------------------------------------------------------- */

static bool copy_environment(const bt_trace *from, bt_trace *to)
{
	bool good = true;
	for (uint64_t i = 0; i < bt_trace_get_environment_entry_count(from) && good; i++) {
		const char *name;
		const bt_value *v;
		bt_trace_borrow_environment_entry_by_index_const(from, i, &name, &v);
		good = bt_value_is_string(v) ? !bt_trace_set_environment_entry_string(
						       to, name, bt_value_string_get(v))
					     : !bt_trace_set_environment_entry_integer(
						       to, name, bt_value_integer_signed_get(v));
	}
	return good;
}

/* Of a class that another trace has, too, or of a new one. */
static bt_trace *new_trace(struct ir *ir, const bt_trace_class *from)
{
	bt_trace_class *class = usk_ir_copy(&ir->classes, from);
	if (class) {
		return bt_trace_create(class);
	}
	class = bt_trace_class_create(ir->self);
	if (!class) {
		return NULL;
	}
	bt_trace_class_set_assigns_automatic_stream_class_id(class, BT_FALSE);
	bt_trace_class_set_user_attributes(class,
					   bt_trace_class_borrow_user_attributes_const(from));
	bt_trace *t = bt_trace_create(class);
	bt_trace_class_put_ref(class);
	return t;
}

bt_trace *usk_ir_trace(struct ir *ir, const bt_trace *from)
{
	for (size_t i = 0; i < ir->n; i++) {
		if (ir->held[i].from == from) {
			return ir->held[i].to;
		}
	}
	const char *name = bt_trace_get_name(from);
	bt_uuid uuid = bt_trace_get_uuid(from);
	const bt_trace_class *class = bt_trace_borrow_class_const(from);
	bt_trace *t = new_trace(ir, class);
	if (!t || !copy_environment(from, t) || (name && bt_trace_set_name(t, name))) {
		bt_trace_put_ref(t);
		return NULL;
	}
	if (uuid) {
		bt_trace_set_uuid(t, uuid);
	}
	bt_trace_set_user_attributes(t, bt_trace_borrow_user_attributes_const(from));
	bt_trace_get_ref(from);
	*USK_APPEND(ir->held, ir->n) = (struct held){ from, t };
	*usk_index_value(&ir->classes, (uintptr_t) class, 0) = (uintptr_t)bt_trace_borrow_class(t);
	return t;
}

/* ---- classes ------------------------------------------------------------------------------ */

/* A field class of the copy, if there is one to be copied. */
static bool give(struct field_scopes *s, const bt_field_class *from, bt_field_class **to)
{
	*to = from ? usk_ir_field_class(s, from) : NULL;
	return !from || *to;
}

/* What a stream class says of its packets and of what was discarded, on the copy's clock. */
static void copy_support(const bt_stream_class *from, bt_stream_class *to)
{
	bt_bool packets = bt_stream_class_supports_packets(from);
	bt_bool events = bt_stream_class_supports_discarded_events(from);
	bt_bool lost = bt_stream_class_supports_discarded_packets(from);
	bt_stream_class_set_assigns_automatic_event_class_id(to, BT_FALSE);
	bt_stream_class_set_assigns_automatic_stream_id(to, BT_FALSE);
	bt_stream_class_set_supports_packets(
		to, packets,
		packets && bt_stream_class_packets_have_beginning_default_clock_snapshot(from),
		packets && bt_stream_class_packets_have_end_default_clock_snapshot(from));
	bt_stream_class_set_supports_discarded_events(
		to, events,
		events && bt_stream_class_discarded_events_have_default_clock_snapshots(from));
	bt_stream_class_set_supports_discarded_packets(
		to, lost,
		lost && bt_stream_class_discarded_packets_have_default_clock_snapshots(from));
}

bt_stream_class *usk_ir_stream_class(struct ir *ir, bt_trace *trace, const bt_stream_class *from)
{
	bt_stream_class *c = usk_ir_copy(&ir->classes, from);
	if (c) {
		return c;
	}
	bt_trace_class *in = bt_trace_borrow_class(trace);
	struct field_scopes s = {
		.scope = { [CONTEXT] =
				   bt_stream_class_borrow_packet_context_field_class_const(from),
			   [COMMON] = bt_stream_class_borrow_event_common_context_field_class_const(
				   from) },
		.copies = &ir->classes,
		.trace_class = in,
	};
	bt_field_class *context = NULL, *common = NULL;
	const char *name = bt_stream_class_get_name(from);
	c = bt_stream_class_create_with_id(in, bt_stream_class_get_id(from));
	bool good = c && !bt_stream_class_set_default_clock_class(c, ir->clock) &&
		    (!name || !bt_stream_class_set_name(c, name));
	if (good) {
		bt_stream_class_set_user_attributes(
			c, bt_stream_class_borrow_user_attributes_const(from));
		copy_support(from, c);
		good = give(&s, s.scope[CONTEXT], &context) && give(&s, s.scope[COMMON], &common) &&
		       (!context || !bt_stream_class_set_packet_context_field_class(c, context)) &&
		       (!common ||
			!bt_stream_class_set_event_common_context_field_class(c, common));
	}
	bt_field_class_put_ref(context);
	bt_field_class_put_ref(common);
	/* Its trace class has it. */
	bt_stream_class_put_ref(c);
	if (!good) {
		return NULL;
	}
	*usk_index_value(&ir->classes, (uintptr_t)from, 0) = (uintptr_t)c;
	return c;
}

static bool copy_properties(const bt_event_class *from, bt_event_class *to)
{
	const char *name = bt_event_class_get_name(from);
	const char *uri = bt_event_class_get_emf_uri(from);
	bt_event_class_log_level level;
	if (bt_event_class_get_log_level(from, &level) == BT_PROPERTY_AVAILABILITY_AVAILABLE) {
		bt_event_class_set_log_level(to, level);
	}
	bt_event_class_set_user_attributes(to, bt_event_class_borrow_user_attributes_const(from));
	return (!name || !bt_event_class_set_name(to, name)) &&
	       (!uri || !bt_event_class_set_emf_uri(to, uri));
}

bt_event_class *usk_ir_event_class(struct ir *ir, bt_stream *stream, const bt_event_class *from)
{
	bt_event_class *e = usk_ir_copy(&ir->classes, from);
	if (e) {
		return e;
	}
	const bt_stream_class *around = bt_event_class_borrow_stream_class_const(from);
	bt_stream_class *c = bt_stream_borrow_class(stream);
	struct field_scopes s = {
		.scope = { [CONTEXT] =
				   bt_stream_class_borrow_packet_context_field_class_const(around),
			   [COMMON] = bt_stream_class_borrow_event_common_context_field_class_const(
				   around),
			   [SPECIFIC] =
				   bt_event_class_borrow_specific_context_field_class_const(from),
			   [PAYLOAD] = bt_event_class_borrow_payload_field_class_const(from) },
		.copies = &ir->classes,
		.trace_class = bt_stream_class_borrow_trace_class(c),
	};
	bt_field_class *context = NULL, *payload = NULL;
	e = bt_event_class_create_with_id(c, bt_event_class_get_id(from));
	bool good = e && copy_properties(from, e) && give(&s, s.scope[SPECIFIC], &context) &&
		    give(&s, s.scope[PAYLOAD], &payload) &&
		    (!context || !bt_event_class_set_specific_context_field_class(e, context)) &&
		    (!payload || !bt_event_class_set_payload_field_class(e, payload));
	bt_field_class_put_ref(context);
	bt_field_class_put_ref(payload);
	/* Its stream class has it. */
	bt_event_class_put_ref(e);
	if (!good) {
		return NULL;
	}
	*usk_index_value(&ir->classes, (uintptr_t)from, 0) = (uintptr_t)e;
	return e;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool copy_members(const bt_field *from, bt_field *to)
{
	uint64_t n = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(from));
	bool good = true;
	for (uint64_t i = 0; i < n && good; i++) {
		good = usk_ir_field(bt_field_structure_borrow_member_field_by_index_const(from, i),
				    bt_field_structure_borrow_member_field_by_index(to, i));
	}
	return good;
}

static bool copy_elements(const bt_field *from, bt_field *to)
{
	uint64_t n = bt_field_array_get_length(from);
	bool good = bt_field_get_class_type(from) == BT_FIELD_CLASS_TYPE_STATIC_ARRAY ||
		    !bt_field_array_dynamic_set_length(to, n);
	for (uint64_t i = 0; i < n && good; i++) {
		good = usk_ir_field(bt_field_array_borrow_element_field_by_index_const(from, i),
				    bt_field_array_borrow_element_field_by_index(to, i));
	}
	return good;
}

bool usk_ir_field(const bt_field *from, bt_field *to)
{
	bt_field_class_type type = bt_field_get_class_type(from);
	const bt_field *content;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		bt_field_integer_unsigned_set_value(to, bt_field_integer_unsigned_get_value(from));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
		bt_field_integer_signed_set_value(to, bt_field_integer_signed_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		return copy_members(from, to);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
		return copy_elements(from, to);
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION)) {
		content = bt_field_option_borrow_field_const(from);
		bt_field_option_set_has_field(to, content ? BT_TRUE : BT_FALSE);
		return !content || usk_ir_field(content, bt_field_option_borrow_field(to));
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT)) {
		return !bt_field_variant_select_option_by_index(
			       to, bt_field_variant_get_selected_option_index(from)) &&
		       usk_ir_field(bt_field_variant_borrow_selected_option_field_const(from),
				    bt_field_variant_borrow_selected_option_field(to));
	} else if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(to, bt_field_bool_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(
			to, bt_field_bit_array_get_value_as_integer(from));
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		return !bt_field_string_set_value(to, bt_field_string_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		bt_field_real_single_precision_set_value(
			to, bt_field_real_single_precision_get_value(from));
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		bt_field_real_double_precision_set_value(
			to, bt_field_real_double_precision_get_value(from));
	}
	return true;
}
