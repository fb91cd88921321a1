/* SPDX-License-Identifier: MIT */
/*
 * write.c - a CTF trace written anew by libbabeltrace2, with corrected stamps
 *
 * In    a folder with a trace
 * Out   another one
 * Why   source.ctf.fs, our filter and sink.ctf.fs in a row are all there is to do; they do it in a
 *       process of their own, since the library aborts on some traces
 */
#include "base/child.h"
#include "base/io.h"
#include "ctf/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* The sink does not pass on what the system told it. */
static bool no_room(const char *from, const char *to)
{
	struct statvfs st;
	char *folder = (char *)(uintptr_t)from;
	return !statvfs(to, &st) &&
	       (usk_i128)st.f_bavail * (int64_t)st.f_frsize < (usk_i128)usk_ctf_size(&folder, 1);
}

static enum usk_status fail(struct usk_err *err, const char *from, const char *to)
{
	if (to && no_room(from, to)) {
		return usk_fail(err, USK_EIO, 0, "%s: not written anew: %s", from,
				strerror(ENOSPC));
	}
	char *why = usk_ctf_cause();
	usk_fail(err, USK_EINPUT, 0, "%s: libbabeltrace2 cannot write it anew: %.300s", from, why);
	free(why);
	return USK_EINPUT;
}

static const bt_component_class_filter *filter_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(usk_merge_next);
	if (!iterator) {
		return NULL;
	}
	bt_message_iterator_class_set_initialize_method(iterator, usk_merge_init);
	bt_message_iterator_class_set_finalize_method(iterator, usk_merge_finalize);
	bt_component_class_filter *filter = bt_component_class_filter_create("sync", iterator);
	if (filter) {
		bt_component_class_filter_set_initialize_method(filter, usk_sync_init);
		bt_component_class_filter_set_finalize_method(filter, usk_sync_finalize);
		bt_component_class_filter_set_input_port_connected_method(filter,
									  usk_sync_connected);
	}
	bt_message_iterator_class_put_ref(iterator);
	return filter;
}

static const bt_component_sink *add_sink(bt_graph *graph, const char *to)
{
	const bt_component_class_sink *class =
		bt_plugin_borrow_sink_component_class_by_name_const(usk_ctf_plugin(), "fs");
	const bt_component_sink *sink = NULL;
	bt_value *params = bt_value_map_create();
	if (class && params && !bt_value_map_insert_string_entry(params, "path", to) &&
	    !bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE) &&
	    !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE)) {
		bt_graph_add_sink_component(graph, class, "sink", params, BT_LOGGING_LEVEL_NONE,
					    &sink);
	}
	bt_value_put_ref(params);
	return sink;
}

/* All of the source through the filter into the sink. */
static bool run_through(bt_graph *graph, const bt_component_source *source,
			const bt_component_filter *filter, const bt_component_sink *sink)
{
	bool good = true;
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source) && good; i++) {
		good = !bt_graph_connect_ports(
			graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			bt_component_filter_borrow_input_port_by_index_const(filter, i), NULL);
	}
	return good &&
	       !bt_graph_connect_ports(
		       graph, bt_component_filter_borrow_output_port_by_index_const(filter, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) &&
	       bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
}

struct job {
	const char *from, *to;
	struct sync_setup setup;
};

static enum usk_status write_anew(void *ctx, struct usk_err *err)
{
	struct job *job = ctx;
	bt_graph *graph = bt_graph_create(0);
	const bt_component_class_filter *class = filter_class();
	const bt_component_filter *filter = NULL;
	const bt_component_source *source =
		graph && class ? usk_ctf_source(graph, "source", job->from) : NULL;
	const bt_component_sink *sink = source ? add_sink(graph, job->to) : NULL;
	if (!sink ||
	    bt_graph_add_filter_component_with_initialize_method_data(
		    graph, class, "sync", NULL, &job->setup, BT_LOGGING_LEVEL_NONE, &filter)) {
		return fail(err, job->from, NULL);
	}
	if (!run_through(graph, source, filter, sink)) {
		return fail(err, job->from, job->to);
	}
	/* The sink writes the last of it when it goes. */
	bt_graph_put_ref(graph);
	return USK_OK;
}

/* As `babeltrace2 FOLDER` reads it: through its muxer. */
static enum usk_status read_through(void *ctx, struct usk_err *err)
{
	const char *from = ctx;
	bt_graph *graph = bt_graph_create(0);
	const bt_plugin *utils = NULL;
	const bt_component_filter *muxer = NULL;
	const bt_component_sink *dummy = NULL;
	bt_plugin_find("utils", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &utils);
	const bt_component_source *source = graph ? usk_ctf_source(graph, "source", from) : NULL;
	if (!source || !utils ||
	    bt_graph_add_filter_component(
		    graph, bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer"),
		    "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer) ||
	    bt_graph_add_sink_component(
		    graph, bt_plugin_borrow_sink_component_class_by_name_const(utils, "dummy"),
		    "dummy", NULL, BT_LOGGING_LEVEL_NONE, &dummy)) {
		return usk_fail(err, USK_EINPUT, 0, "not read");
	}
	return run_through(graph, source, muxer, dummy)
		       ? USK_OK
		       : usk_fail(err, USK_EINPUT, 0, "not in order");
}

bool usk_bt_orders(const char *folder)
{
	return !usk_child_run(read_through, (void *)(uintptr_t)folder, folder, NULL);
}

enum usk_status usk_bt_write(const char *from, const char *to, const struct usk_clocks *c,
			     uint32_t clock, struct usk_err *err)
{
	/* The sink wants to make its folder itself. */
	char *fresh = usk_format("%s.new", to);
	struct job job = { from, fresh, { c, clock } };
	usk_output_remember(fresh);
	enum usk_status status = usk_child_run(write_anew, &job, from, err);
	if (!status && rename(fresh, to)) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", to, strerror(errno));
	}
	if (status) {
		usk_folder_remove(fresh);
	}
	usk_output_forget(fresh);
	free(fresh);
	return status;
}
