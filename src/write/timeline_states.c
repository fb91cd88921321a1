/* SPDX-License-Identifier: MIT */
/*
 * timeline_states.c - who ran when: a row for each thread of a kernel trace
 *
 * In    switches from one thread to another, and wakings, in the order of time
 * Out   slices: running, on which processor; ready, for one; blocked, until it is woken
 * Why   what a machine did while a message was on its way shows in its threads (Poirier 2010,
 *       figure 4)
 * Not   what they did while they ran: that are events of their own
 *
 * A thread is first seen when it is switched, so before that nothing is known of it, and how it
 * goes on behind the last event neither.
 */
#include "write/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_UNKNOWN, STATE_RUNNING, STATE_READY, STATE_BLOCKED };

struct thread {
	int64_t tid; /* the kernel's */
	uint32_t row;
	enum state state;
	int64_t since_ns, recorded_ns, cpu;
	char name[17];
};

/* The kernel's bits of what a thread that leaves a processor is: asleep, stopped; else gone; else
 * it would rather stay. Higher ones differ between kernels. */
#define STATE_ASLEEP 0x0fu
#define STATE_GONE   0xf0u

static struct thread *thread_of(struct usk_states *s, int64_t tid)
{
	uint64_t *number = usk_index_value(&s->threads, (uint64_t)tid, 1);
	if (!*number) {
		s->thread = usk_room(s->thread, s->n, &s->cap, sizeof *s->thread);
		s->thread[s->n] = (struct thread){ .tid = tid };
		*number = ++s->n;
	}
	return &s->thread[*number - 1];
}

/* Its row is named when there is something in it. */
static void draw(struct drawing *d, struct usk_states *s, struct thread *t, int64_t time_ns)
{
	static const char *const name[] = { [STATE_RUNNING] = "running",
					    [STATE_READY] = "waits for a processor",
					    [STATE_BLOCKED] = "blocked" };
	if (t->state == STATE_UNKNOWN || time_ns <= t->since_ns) {
		return;
	}
	if (!t->row) {
		char label[48];
		snprintf(label, sizeof label, "%s %lld", t->name, (long long)t->tid);
		t->row = usk_drawing_thread(d, s->clock, label);
	}
	usk_drawing_state(d, s->clock, t->row, t->since_ns, time_ns, t->recorded_ns, name[t->state],
			  t->state == STATE_RUNNING ? t->cpu : -1);
}

static void turn(struct drawing *d, struct usk_states *s, int64_t tid, enum state to,
		 const struct usk_moment *m, const char *name)
{
	if (!tid) {
		return; /* the idle thread, of every processor */
	}
	struct thread *t = thread_of(s, tid);
	if (t->state == to && to != STATE_RUNNING) {
		return;
	}
	if (name && !t->row) {
		size_t n = strnlen(name, sizeof t->name - 1);
		memcpy(t->name, name, n);
		t->name[n] = 0;
	}
	draw(d, s, t, m->time_ns);
	t->state = to;
	t->since_ns = m->time_ns;
	t->recorded_ns = m->recorded_ns;
	t->cpu = m->cpu;
}

void usk_states_switch(struct drawing *d, struct usk_states *s, const struct usk_moment *m,
		       int64_t from, uint64_t from_state, const char *from_name, int64_t to,
		       const char *to_name)
{
	enum state left = from_state & STATE_ASLEEP ? STATE_BLOCKED
			  : from_state & STATE_GONE ? STATE_UNKNOWN
						    : STATE_READY;
	turn(d, s, from, left, m, from_name);
	turn(d, s, to, STATE_RUNNING, m, to_name);
}

void usk_states_wake(struct drawing *d, struct usk_states *s, const struct usk_moment *m,
		     int64_t tid, const char *name)
{
	uint64_t *number = usk_index_value(&s->threads, (uint64_t)tid, 1);
	/* One that runs is not woken, whatever raced. */
	if (!*number || s->thread[*number - 1].state != STATE_RUNNING) {
		turn(d, s, tid, STATE_READY, m, name);
	}
}

void usk_states_lost(struct usk_states *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->thread[i].state = STATE_UNKNOWN;
	}
}

void usk_states_free(struct usk_states *s)
{
	free(s->thread);
	usk_index_free(&s->threads);
}
