/* SPDX-License-Identifier: MIT */
/* table_kinds.c - the columns of each kind of table */
#include "base/table.h"

const struct usk_table_kind usk_table_messages = {
	"the message table",
	5,
	{
		[USK_SENDER] = { "sender", true, false, 0 },
		[USK_RECEIVER] = { "receiver", true, false, 0 },
		[USK_SENT] = { "sent", true, true, USK_SENDER },
		[USK_RECEIVED] = { "received", true, true, USK_RECEIVER },
		[USK_MESSAGE_BYTES] = { "bytes", false, false, 0 },
	},
};

const struct usk_table_kind usk_table_events = {
	"the event table",
	5,
	{
		[USK_CLOCK] = { "clock", true, false, 0 },
		[USK_TIME] = { "time", true, true, USK_CLOCK },
		[USK_KIND] = { "kind", true, false, 0 },
		[USK_ID] = { "id", true, false, 0 },
		[USK_EVENT_BYTES] = { "bytes", false, false, 0 },
	},
};

const struct usk_table_kind usk_table_exchanges = {
	"the table of exchanges",
	7,
	{
		[USK_A] = { "a", true, false, 0 },
		[USK_B] = { "b", true, false, 0 },
		[USK_T1] = { "t1", true, true, USK_A },
		[USK_T2] = { "t2", true, true, USK_B },
		[USK_T3] = { "t3", true, true, USK_B },
		[USK_T4] = { "t4", true, true, USK_A },
		[USK_EXCHANGE_BYTES] = { "bytes", false, false, 0 },
	},
};

const struct usk_table_kind usk_table_spans = {
	"the table of spans",
	8,
	{
		[USK_TRACE] = { "trace", true, false, 0 },
		[USK_SPAN] = { "span", true, false, 0 },
		[USK_PARENT] = { "parent", false, false, 0 },
		[USK_SPAN_CLOCK] = { "clock", true, false, 0 },
		[USK_START] = { "start", true, true, USK_SPAN_CLOCK },
		[USK_END] = { "end", true, true, USK_SPAN_CLOCK },
		[USK_SPAN_OF] = { "kind", false, false, 0 },
		[USK_NAME] = { "name", false, false, 0 },
	},
};

const struct usk_table_kind usk_table_collectives = {
	"the table of collectives",
	7,
	{
		[USK_COLLECTIVE] = { "collective", true, false, 0 },
		[USK_COLLECTIVE_KIND] = { "kind", true, false, 0 },
		[USK_MEMBER_CLOCK] = { "clock", true, false, 0 },
		[USK_ENTER] = { "enter", true, true, USK_MEMBER_CLOCK },
		[USK_EXIT] = { "exit", true, true, USK_MEMBER_CLOCK },
		[USK_RANK] = { "rank", false, false, 0 },
		[USK_ROOT] = { "root", false, false, 0 },
	},
};

const struct usk_table_kind *const usk_table_kinds[USK_TABLE_KINDS] = {
	&usk_table_messages, &usk_table_events,	     &usk_table_exchanges,
	&usk_table_spans,    &usk_table_collectives,
};

int usk_table_column_of(const struct usk_table_kind *k, struct usk_csv_field name,
			enum usk_csv_unit *unit)
{
	for (size_t c = 0; c < k->n; c++) {
		const struct usk_table_column *column = &k->column[c];
		if (column->time ? usk_csv_is_time(name, column->name, unit)
				 : usk_csv_is(name, column->name)) {
			return (int)c;
		}
	}
	return -1;
}
