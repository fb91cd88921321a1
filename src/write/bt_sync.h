/* SPDX-License-Identifier: MIT */
/*
 * bt_sync.h - the filter component class sync: every event on the common clock
 *
 * In    messages of any number of traces on any number of ports, each port in order
 * Out   all of them in the order of corrected time, on one clock of 1 ns from 1970
 * Why   any pipeline of babeltrace2 then shows, cuts or writes what happened in which order
 * Not   estimating: clocks.json says how the clocks ran
 *
 * bt_sync.c is the component, bt_merge.c its message iterator.
 */
#ifndef USK_SYNC_H
#define USK_SYNC_H

#include "write/bt_ir.h"
#include "write/bt_whose.h"

/* For a component that is made without params: the only clock there is. */
struct sync_setup {
	const struct usk_clocks *clocks;
	uint32_t clock; /* USK_NO_CLOCK: as recorded */
};

struct sync {
	const struct usk_clocks *clocks;
	struct usk_clocks *own; /* the same, if they were read */
	struct whose *whose;	/* NULL: only */
	uint32_t only;
	uint64_t n_ports;
	bool allow_unbounded;
	int64_t zero_s; /* where the common clock shows 0 */
};

/* The methods, as BT_PLUGIN_... and bt_component_class_filter_... want them. */
bt_component_class_initialize_method_status
usk_sync_init(bt_self_component_filter *self, bt_self_component_filter_configuration *configuration,
	      const bt_value *params, void *data);
void usk_sync_finalize(bt_self_component_filter *self);
bt_component_class_port_connected_method_status
usk_sync_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
		   const bt_port_output *other);

bt_message_iterator_class_initialize_method_status
usk_merge_init(bt_self_message_iterator *self,
	       bt_self_message_iterator_configuration *configuration,
	       bt_self_component_port_output *port);
void usk_merge_finalize(bt_self_message_iterator *self);
bt_message_iterator_class_next_method_status usk_merge_next(bt_self_message_iterator *self,
							    bt_message_array_const messages,
							    uint64_t capacity, uint64_t *count);

#endif
