/* SPDX-License-Identifier: MIT */
/*
 * source.c - the plugin of libbabeltrace2 that reads CTF
 *
 * In    a trace's folder
 * Out   its source in a graph
 * Why   all that is behind it can be had from another source, too
 */
#include "ctf/ctf.h"

const bt_plugin *usk_ctf_plugin(void)
{
	static const bt_plugin *plugin;
	if (!plugin) {
		bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin);
	}
	return plugin;
}

const bt_component_source *usk_ctf_source(bt_graph *graph, const char *name, const char *folder)
{
	const bt_plugin *plugin = usk_ctf_plugin();
	const bt_component_class_source *class =
		plugin ? bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs") : NULL;
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	if (class && params && !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, folder)) {
		bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_NONE,
					      &source);
	}
	bt_value_put_ref(params);
	return source;
}
