/* SPDX-License-Identifier: MIT */
/* table_kinds.c - the columns of each kind of table */
#include "base/table.h"

const struct usk_table_kind usk_table_messages = {
	"the message table",
	5,
	{
		[USK_SENDER] = { "sender", .required = true },
		[USK_RECEIVER] = { "receiver", .required = true },
		[USK_SENT] = { "sent", true, true, .clock = USK_SENDER },
		[USK_RECEIVED] = { "received", true, true, .clock = USK_RECEIVER },
		[USK_MESSAGE_BYTES] = { .name = "bytes" },
	},
};

const struct usk_table_kind usk_table_events = {
	"the event table",
	5,
	{
		[USK_CLOCK] = { "clock", .required = true },
		[USK_TIME] = { "time", true, true, .clock = USK_CLOCK },
		[USK_KIND] = { "kind", .required = true },
		[USK_ID] = { "id", .required = true },
		[USK_EVENT_BYTES] = { .name = "bytes" },
	},
};

const struct usk_table_kind usk_table_exchanges = {
	"the table of exchanges",
	7,
	{
		[USK_A] = { "a", .required = true },
		[USK_B] = { "b", .required = true },
		[USK_T1] = { "t1", true, true, .clock = USK_A },
		[USK_T2] = { "t2", true, true, .clock = USK_B },
		[USK_T3] = { "t3", true, true, .clock = USK_B },
		[USK_T4] = { "t4", true, true, .clock = USK_A },
		[USK_EXCHANGE_BYTES] = { .name = "bytes" },
	},
};

const struct usk_table_kind usk_table_spans = {
	"the table of spans",
	8,
	{
		[USK_TRACE] = { "trace", .required = true },
		[USK_SPAN] = { "span", .required = true },
		[USK_PARENT] = { .name = "parent" },
		[USK_SPAN_CLOCK] = { "clock", .required = true },
		[USK_START] = { "start", true, true, .clock = USK_SPAN_CLOCK },
		[USK_END] = { "end", true, true, .clock = USK_SPAN_CLOCK },
		[USK_SPAN_OF] = { .name = "kind" },
		[USK_NAME] = { .name = "name" },
	},
};

const struct usk_table_kind usk_table_collectives = {
	"the table of collectives",
	7,
	{
		[USK_COLLECTIVE] = { "collective", .required = true },
		[USK_COLLECTIVE_KIND] = { "kind", .required = true },
		[USK_MEMBER_CLOCK] = { "clock", .required = true },
		[USK_ENTER] = { "enter", true, true, .clock = USK_MEMBER_CLOCK },
		[USK_EXIT] = { "exit", true, true, .clock = USK_MEMBER_CLOCK },
		[USK_RANK] = { .name = "rank" },
		[USK_ROOT] = { .name = "root" },
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
