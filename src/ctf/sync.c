/* SPDX-License-Identifier: MIT */
#include "ctf/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* ---- which clock stamped a trace ------------------------------------------------------------- */

static bool find_uuid(const char *folder, char *out)
{
	char *text;
	if (usk_ctf_metadata(folder, &text, NULL)) {
		return false;
	}
	const char *p = strstr(text, "uuid");
	p = p ? strchr(p, '"') : NULL;
	bool found = p && sscanf(p, "\"%36[0-9a-fA-F-]", out) == 1;
	free(text);
	return found;
}

static void learn(struct sync *w, const char *path, uint32_t clock)
{
	struct ctf_traces t;
	usk_ctf_find(path, &t, NULL);
	for (size_t i = 0; i < t.n; i++) {
		struct known k = { .clock = clock };
		if (find_uuid(t.folder[i], k.uuid)) {
			*USK_ADD(w->known, w->n_known, w->cap_known) = k;
		}
	}
	usk_ctf_traces_free(&t);
}

/* Which traces are of which clock; those of the file are there, or beside it. */
static void learn_all(struct sync *w, const char *file)
{
	const struct usk_clocks *c = w->clocks;
	const char *slash = strrchr(file, '/');
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		if (t->clock == USK_NO_CLOCK || strcmp(t->kind, "ctf") != 0) {
			continue;
		}
		size_t before = w->n_known;
		learn(w, t->path, t->clock);
		if (w->n_known == before && slash && t->path[0] != '/') {
			char *beside = usk_format("%.*s/%s", (int)(slash - file), file, t->path);
			learn(w, beside, t->clock);
			free(beside);
		}
	}
}

/* By the map of names, else by the clock's own. */
static uint32_t by_name(const struct sync *w, const char *name)
{
	const bt_value *v = w->names ? bt_value_map_borrow_entry_value_const(w->names, name) : NULL;
	return usk_clocks_find(
		w->clocks, v && bt_value_is_string(v) ? bt_value_string_get(v) : name, NULL, NULL);
}

uint32_t usk_sync_clock(const struct sync *w, const bt_trace *t)
{
	const bt_value *host = bt_trace_borrow_environment_entry_value_by_name_const(t, "hostname");
	const char *names[] = { host && bt_value_is_string(host) ? bt_value_string_get(host) : NULL,
				bt_trace_get_name(t) };
	if (!w->own) {
		return w->only;
	}
	bt_uuid id = bt_trace_get_uuid(t);
	char uuid[37] = "";
	uint32_t clock = USK_NO_CLOCK;
	/* What the user says comes first. */
	for (size_t i = 0; i < COUNT(names) && clock == USK_NO_CLOCK && w->names; i++) {
		if (names[i] && bt_value_map_has_entry(w->names, names[i])) {
			clock = by_name(w, names[i]);
		}
	}
	for (size_t i = 0, n = 0; i < 16 && id; i++) {
		bool dash = i == 4 || i == 6 || i == 8 || i == 10;
		n += (size_t)snprintf(uuid + n, sizeof uuid - n, dash ? "-%02x" : "%02x", id[i]);
	}
	for (size_t i = 0; i < w->n_known && id && clock == USK_NO_CLOCK; i++) {
		if (!strcasecmp(w->known[i].uuid, uuid)) {
			clock = w->known[i].clock;
		}
	}
	for (size_t i = 0; i < COUNT(names) && clock == USK_NO_CLOCK; i++) {
		clock = names[i] ? by_name(w, names[i]) : USK_NO_CLOCK;
	}
	return clock;
}

/* ---- the component --------------------------------------------------------------------------- */

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
	s->names = names;
	bt_value_get_ref(names);
	learn_all(s, bt_value_string_get(path));
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
		bt_value_put_ref(s->names);
		free(s->known);
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
