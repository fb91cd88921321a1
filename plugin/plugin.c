/* SPDX-License-Identifier: MIT */
/* The plugin unskew of babeltrace2: `babeltrace2 help filter.unskew.sync`. */
#include "ctf/filter.h"

BT_PLUGIN_MODULE()
BT_PLUGIN(unskew);
BT_PLUGIN_DESCRIPTION("Put the traces of many machines on one clock");
BT_PLUGIN_AUTHOR("the unskew developers");
BT_PLUGIN_LICENSE("MIT");

BT_PLUGIN_FILTER_COMPONENT_CLASS(sync, usk_merge_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(
	sync, "Give every event its time on the common clock, as `unskew sync` computed it.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(
	sync,
	"clocks=\"FILE\"           what `unskew sync -o FILE` wrote\n"
	"names={HOST=\"CLOCK\"}    whose clock stamped the trace of HOST, if neither its path in\n"
	"                        FILE nor its host name tell\n"
	"allow-unbounded=yes     pass on traces whose clock has no bounds, as recorded\n\n"
	"Events come out in the order of corrected time, whatever the order in which they come "
	"in.\n"
	"If all traces come through one port, the filter buffers events for as long as the clocks\n"
	"differ; connect each source to the filter itself to keep that buffer small.");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(sync, usk_sync_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(sync, usk_sync_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(sync, usk_sync_connected);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(sync, usk_merge_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(sync, usk_merge_finalize);
