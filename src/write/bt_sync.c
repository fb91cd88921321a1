/* SPDX-License-Identifier: MIT */
#include "write/bt.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

/*
 * Stamps on the common clock are counts from its zero: 1970, unless one is before it. Then as long
 * before as stamps can be.
 */
static int64_t zero_of(const struct usk_clocks *c)
{
	const int64_t day_ns = INT64_C(86400000000000), none_s = -USK_TIME_MAX / 1000000000 - 1;
	for (size_t i = 0; i < c->n_clocks; i++) {
		for (size_t k = 0; k < c->clock[i].n_knots; k++) {
			const struct usk_knot *x = &c->clock[i].knot[k];
			int64_t offset = x->offset_ns == USK_NONE ? 0 : x->offset_ns;
			if ((usk_i128)x->local_ns + offset < 30 * day_ns) {
				return none_s;
			}
		}
	}
	return 0;
}

static bool flag(const bt_value *params, const char *name)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(params, name);
	return v && bt_value_is_bool(v) && bt_value_bool_get(v);
}

/* clocks.json and what else the user says. */
static bool take_params(struct sync *s, const bt_value *params, bt_self_component *component)
{
	const bt_value *path = bt_value_map_borrow_entry_value_const(params, "clocks");
	const bt_value *names = bt_value_map_borrow_entry_value_const(params, "names");
	struct usk_err err = { 0 };
	if (!path || !bt_value_is_string(path) || (names && !bt_value_is_map(names))) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			component,
			"filter.unskew.sync needs --params='clocks=\"clocks.json\"', the file that "
			"`unskew sync -o` wrote; names={HOST=\"CLOCK\"} may say whose clock is "
			"whose");
		return false;
	}
	if (usk_clocks_read(bt_value_string_get(path), &s->own, &err)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(component, "%s", err.msg);
		return false;
	}
	s->clocks = s->own;
	s->whose = usk_whose_new(s->own, bt_value_string_get(path), names);
	s->allow_unbounded = flag(params, "allow-unbounded");
	return true;
}

bt_component_class_initialize_method_status
usk_sync_init(bt_self_component_filter *self, bt_self_component_filter_configuration *configuration,
	      const bt_value *params, void *data)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	const struct sync_setup *setup = data;
	struct sync *s = usk_alloc(1, sizeof *s);
	(void)configuration;
	if (setup) {
		s->clocks = setup->clocks;
		s->only = setup->clock;
		s->allow_unbounded = true;
	} else if (!take_params(s, params, component)) {
		free(s);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	s->zero_s = zero_of(s->clocks);
	bt_self_component_set_data(component, s);
	if (bt_self_component_filter_add_input_port(self, "in0", NULL, NULL) ||
	    bt_self_component_filter_add_output_port(self, "out", NULL, NULL)) {
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	s->n_ports = 1;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void usk_sync_finalize(bt_self_component_filter *self)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	struct sync *s = bt_self_component_get_data(component);
	if (s) {
		usk_whose_free(s->whose);
		usk_clocks_free(s->own);
	}
	free(s);
}

/* There is always one port that is free. */
bt_component_class_port_connected_method_status
usk_sync_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
		   const bt_port_output *other)
{
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	struct sync *s = bt_self_component_get_data(component);
	char *name = usk_format("in%llu", (unsigned long long)s->n_ports++);
	bt_self_component_add_port_status status =
		bt_self_component_filter_add_input_port(self, name, NULL, NULL);
	(void)port;
	(void)other;
	free(name);
	return status ? BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_MEMORY_ERROR
		      : BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK;
}
