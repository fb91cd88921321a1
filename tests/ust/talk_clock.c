/* SPDX-License-Identifier: MIT */
/*
 * talk_clock.c - another clock for LTTng-UST: CLOCK_MONOTONIC, put wrong by a known amount
 *
 * In    TALK_CLOCK="BASE OFFSET PPB": at monotonic time t it shows
 *       t + OFFSET + floor((t - BASE) PPB / 10^9), ns; absent: t
 * Out   what LTTNG_UST_CLOCK_PLUGIN names
 */
#include <inttypes.h>
#include <lttng/ust-clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__extension__ typedef __int128 i128;

void lttng_ust_clock_plugin_init(void);

static int64_t base_ns, offset_ns, ppb;

static uint64_t read64(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	int64_t t = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	i128 gained = (i128)(t - base_ns) * ppb, billion = 1000000000;
	gained = gained / billion - (gained % billion < 0);
	return (uint64_t)(t + offset_ns + (int64_t)gained);
}

static uint64_t frequency(void)
{
	return 1000000000;
}

/* Of its own for each offset: readers must not take two of them for one. */
static int uuid(char *out)
{
	snprintf(out, LTTNG_UST_UUID_STR_LEN, "7a1c0c10-0000-4000-8000-%012" PRIx64,
		 (uint64_t)(offset_ns ^ ppb << 20) & 0xffffffffffff);
	return 0;
}

static const char *name(void)
{
	return "talk_clock";
}

static const char *description(void)
{
	return "monotonic, put wrong by a known amount";
}

void lttng_ust_clock_plugin_init(void)
{
	const char *text = getenv("TALK_CLOCK");
	if (text &&
	    sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &base_ns, &offset_ns, &ppb) != 3) {
		fprintf(stderr, "talk_clock: \"%s\" is no clock\n", text);
		exit(1);
	}
	if (lttng_ust_trace_clock_set_read64_cb(read64) ||
	    lttng_ust_trace_clock_set_freq_cb(frequency) ||
	    lttng_ust_trace_clock_set_uuid_cb(uuid) || lttng_ust_trace_clock_set_name_cb(name) ||
	    lttng_ust_trace_clock_set_description_cb(description) ||
	    lttng_ust_enable_trace_clock_override()) {
		fprintf(stderr, "talk_clock: LTTng-UST did not take it\n");
		exit(1);
	}
}
