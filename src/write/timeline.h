/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - Chrome trace events, one after the other
 *
 * In    what happened when, by which clock
 * Out   {"traceEvents":[...],"displayTimeUnit":"ns","otherData":{...}}
 * Why   Perfetto and chrome://tracing read it; events need no order, so nothing is held
 * Not   what is to be drawn (timeline.c)
 *
 * A clock is a process, what it sent, received and recorded its three threads; of a kernel trace
 * each of the kernel's threads is one more. Times are
 * microseconds with three digits since an origin, a whole second: viewers take them as doubles,
 * which keep nanoseconds for 104 days from there.
 */
#ifndef USK_TIMELINE_H
#define USK_TIMELINE_H

#include "base/index.h"
#include "read/trace.h"
#include "write/write.h"

enum lane { LANE_SENT = 1, LANE_RECEIVED, LANE_EVENTS };

struct drawing {
	struct usk_output out;
	const struct usk_clocks *clocks;
	int64_t *origin_ns; /* by clock */
	char **name;	    /* by clock, as JSON */
	uint64_t events, messages;
	uint64_t early;	  /* before their origin */
	uint32_t threads; /* of kernels, so far */
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
/** "received TCP SYN ACK 443 > 50312". */
void usk_drawing_packet_name(const struct usk_packet *k, enum usk_side side, char *out,
			     size_t size);
/** Something that a clock recorded; args is the inside of a JSON object, without the stamp. */
void usk_drawing_event(struct drawing *d, uint32_t clock, int64_t time_ns, int64_t recorded_ns,
		       const char *name, const char *args);
/** A thread of a kernel: the number of its row. */
uint32_t usk_drawing_thread(struct drawing *d, uint32_t clock, const char *name);
/** What it did from one time to a later one; cpu: -1, none. */
void usk_drawing_state(struct drawing *d, uint32_t clock, uint32_t row, int64_t from_ns,
		       int64_t to_ns, int64_t recorded_ns, const char *name, int64_t cpu);

/* ---- timeline_states.c: the threads of one machine ---- */

struct usk_states {
	uint32_t clock;
	struct usk_index threads; /* the kernel's number -> number + 1 */
	struct thread *thread;
	size_t n, cap;
};

/* When an event was, corrected and as recorded, and on which processor; -1: unknown. */
struct usk_moment {
	int64_t time_ns, recorded_ns, cpu;
};

/** A processor goes from a thread to another; from_state is the kernel's, 0 for one that is still
 * ready to run. Names may be NULL. Times do not fall. */
void usk_states_switch(struct drawing *d, struct usk_states *s, const struct usk_moment *m,
		       int64_t from, uint64_t from_state, const char *from_name, int64_t to,
		       const char *to_name);
/** A thread may run again. */
void usk_states_wake(struct drawing *d, struct usk_states *s, const struct usk_moment *m,
		     int64_t tid, const char *name);
/** Events are missing here: what threads do is unknown until they are seen again. */
void usk_states_lost(struct usk_states *s);
void usk_states_free(struct usk_states *s);

enum usk_status usk_drawing_commit(struct drawing *d, struct usk_err *err);
void usk_drawing_close(struct drawing *d);

#endif
