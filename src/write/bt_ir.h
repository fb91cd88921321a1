/* SPDX-License-Identifier: MIT */
/*
 * bt_ir.h - traces of libbabeltrace2 once more, with another clock
 *
 * In    classes and objects of traces
 * Out   the same, equal in all but that each stream class has the clock of the copy: ns from 1970
 * Why   an event's time is a value of its stream class's clock; so another time on another clock
 *       needs other classes, down to the last field
 *
 * Copies of classes are made once and live as long as the table. Functions return NULL or false
 * where memory is exhausted.
 */
#ifndef USK_IR_H
#define USK_IR_H

#include "base/base.h"

#include <babeltrace2/babeltrace.h>

struct ir;

/** zero_s: the second from 1970 at which the copies' clock shows 0. */
struct ir *usk_ir_new(bt_self_component *self, int64_t zero_s);
void usk_ir_free(struct ir *ir);

bt_trace *usk_ir_trace(struct ir *ir, const bt_trace *from);
bt_stream_class *usk_ir_stream_class(struct ir *ir, const bt_stream_class *from);
bt_event_class *usk_ir_event_class(struct ir *ir, const bt_event_class *from);

/** The value of a field, which is of the copy of its class. */
bool usk_ir_field(const bt_field *from, bt_field *to);

/* ---- inside: bt_ir_class.c makes the classes of fields, bt_ir.c all else ---- */

/* From one thing to another. */
struct pointers {
	const void **key;
	void **value;
	size_t n, slots;
};
void *usk_pointers_get(const struct pointers *p, const void *key);
void usk_pointers_put(struct pointers *p, const void *key, void *value);
void usk_pointers_free(struct pointers *p);

/* Where the classes of fields lie that others refer to by their path. */
struct field_scopes {
	const bt_field_class *scope[4]; /* packet context, common and specific context, payload */
	struct pointers copies;		/* of all fields so far */
	const struct pointers *outer;	/* those of the stream class, for an event's; NULL */
	bt_trace_class *trace_class;
};
bt_field_class *usk_ir_field_class(struct field_scopes *s, const bt_field_class *from);

#endif
