/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - Chrome trace events, one after the other
 *
 * In    what happened when, by which clock
 * Out   {"traceEvents":[...],"displayTimeUnit":"ns","otherData":{...}}
 * Why   Perfetto and chrome://tracing read it; events need no order, so nothing is held
 * Not   what is to be drawn (timeline.c)
 *
 * A clock is a process, what it sent, received and recorded its three threads. Times are
 * microseconds with three digits since an origin, a whole second: viewers take them as doubles,
 * which keep nanoseconds for 104 days from there.
 */
#ifndef USK_TIMELINE_H
#define USK_TIMELINE_H

#include "write/write.h"

enum lane { LANE_SENT = 1, LANE_RECEIVED, LANE_EVENTS };

struct drawing {
	struct usk_output out;
	const struct usk_clocks *clocks;
	int64_t *origin_ns; /* by clock */
	char **name;	    /* by clock, as JSON */
	uint64_t events, messages;
	uint64_t early; /* before their origin */
};

/** Opens path. Origins are filled in by the caller before the first event. */
enum usk_status usk_drawing_open(struct drawing *d, const struct usk_clocks *c, const char *path,
				 bool force, struct usk_err *err);
/** Names of processes and threads. */
void usk_drawing_names(struct drawing *d, uint32_t clock, bool corrected);
/** The numbers that a clock's band has at a time. */
void usk_drawing_band(struct drawing *d, uint32_t clock, int64_t time_ns, int64_t half_width_ns,
		      int64_t since_ns);
/** A message as two slices and the arrow between them; times as corrected. */
void usk_drawing_message(struct drawing *d, const struct usk_msg *m, int64_t sent_ns,
			 int64_t received_ns);
/** Something that a clock recorded; args is the inside of a JSON object, without the stamp. */
void usk_drawing_event(struct drawing *d, uint32_t clock, int64_t time_ns, int64_t recorded_ns,
		       const char *name, const char *args);
enum usk_status usk_drawing_commit(struct drawing *d, struct usk_err *err);
void usk_drawing_close(struct drawing *d);

#endif
