/* SPDX-License-Identifier: MIT */
/*
 * log.h - CLOCK_REALTIME held against CLOCK_MONOTONIC_RAW, a line a second, while others record
 *
 * In    this machine's clocks; nothing is ever set or slewed
 * Out   a CSV whose lines stand as soon as they are written, as a machine may lose its power:
 *       clock,before_ns,time_ns,after_ns,rate_e12,status,event
 * Why   who knows what a steered clock did against its own quartz need not learn it from messages
 * Not   reading it (flow/clock_log.c)
 *
 * A line says that the clock showed time_ns between two readings of the raw clock. rate_e12 is by
 * how much the kernel is told to let CLOCK_REALTIME gain, parts per 10^12, from frequency and tick;
 * status is that of adjtimex(). event `set`: the clock was set since the line before.
 */
#ifndef USK_CLOCK_LOG_H
#define USK_CLOCK_LOG_H

#include "clock/clock.h"

struct clock_log {
	int fd, timer; /* the file; wakes when CLOCK_REALTIME is set */
	char *path;
	int64_t next_ns; /* CLOCK_MONOTONIC of the next line */
	struct source source[SOURCES_MAX];
	size_t n_sources;
	uint64_t lines;
};

/** force: an existing file may be replaced. Writes the first lines. USK_EIO otherwise. */
enum usk_status clock_log_open(struct clock_log *l, const char *path, bool force,
			       struct usk_err *err);
/**
 * Write what is due: after a second, or at once when the clock was set, until `also` can be read
 * (-1: nothing), which is *readable then, or for most_ns at most (< 0: for ever).
 */
enum usk_status clock_log_wait(struct clock_log *l, int also, int64_t most_ns, bool *readable,
			       struct usk_err *err);
/** Writes the last lines. */
enum usk_status clock_log_close(struct clock_log *l, struct usk_err *err);

#endif
