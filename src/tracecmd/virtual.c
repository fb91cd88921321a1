/* SPDX-License-Identifier: MIT */
/*
 * virtual.c - a guest's deadline writes against the host's records of them
 *
 * In    events of a CPU in order: any; kvm_msr of a host; write_msr of a guest
 * Out   sides of messages, both ways
 * Why   a guest that sets its timer writes a count of its TSC, a number that does not come again, into
 *       a register, and leaves to the host for it: both record it, on their own clocks
 * Not   entries and exits, kvm_exit for the write among them: they carry nothing of their own, and where the
 *       recorder lost one, the one before would be taken for it
 *
 * What a guest recorded before the write is before the host's record of it, and that is before the
 * guest's, which is made when it runs again. The guest writes with interrupts off, so only an NMI can come
 * between the write and its record; where they are on, what stands before may have come between.
 */
#include "tracecmd/tracecmd.h"

#include <stdlib.h>

enum { TO_GUEST = 'h', TO_HOST = 'g', MOST_CPUS = 1 << 16 };

static int64_t *last_of(struct virtual_cpus *x, uint32_t cpu)
{
	if (cpu >= x->n) {
		x->last_ns = usk_grow(x->last_ns, (size_t)cpu + 1, sizeof *x->last_ns);
		while (x->n <= cpu) {
			x->last_ns[x->n++] = USK_NONE;
		}
	}
	return &x->last_ns[cpu];
}

static struct usk_event side(int64_t time_ns, uint64_t value, char way, bool sent)
{
	char text[9] = { way };
	memcpy(text + 1, &value, sizeof value);
	return (struct usk_event){ .time_ns = time_ns,
				   .id = usk_event_id(text, sizeof text),
				   .side = sent ? USK_SIDE_SENT : USK_SIDE_RECEIVED };
}

size_t usk_virtual_take(struct virtual_cpus *x, const struct virtual_event *e,
			struct usk_event *out)
{
	size_t n = 0;
	if (e->cpu >= MOST_CPUS) {
		return 0;
	}
	int64_t *last_ns = last_of(x, e->cpu);
	if (e->kind == VIRTUAL_HOST && e->value) {
		out[n++] = side(e->time_ns, e->value, TO_HOST, false);
		out[n++] = side(e->time_ns, e->value, TO_GUEST, true);
	} else if (e->kind == VIRTUAL_GUEST && e->value) {
		if (e->irqs_off && *last_ns != USK_NONE && *last_ns <= e->time_ns) {
			out[n++] = side(*last_ns, e->value, TO_HOST, true);
		}
		out[n++] = side(e->time_ns, e->value, TO_GUEST, false);
	}
	*last_ns = e->nmi ? *last_ns : e->time_ns;
	return n;
}
