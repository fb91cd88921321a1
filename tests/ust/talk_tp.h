/* SPDX-License-Identifier: MIT */
/*
 * talk_tp.h - tracepoints of talk.c: one where a message is sent, one where it was received
 *
 * Not guarded as usual: LTTng-UST reads it several times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER talk

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./talk_tp.h"

#if !defined(TALK_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TALK_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT_CLASS(talk, message,
	LTTNG_UST_TP_ARGS(uint32_t, from, uint32_t, number, uint32_t, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, from, from)
		lttng_ust_field_integer(uint32_t, number, number)
		lttng_ust_field_integer(uint32_t, bytes, bytes)))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(talk, message, talk, send,
	LTTNG_UST_TP_ARGS(uint32_t, from, uint32_t, number, uint32_t, bytes))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(talk, message, talk, recv,
	LTTNG_UST_TP_ARGS(uint32_t, from, uint32_t, number, uint32_t, bytes))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
