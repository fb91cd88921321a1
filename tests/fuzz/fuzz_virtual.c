/* SPDX-License-Identifier: MIT */
/*
 * Events of hosts and guests as damaged traces have them: no side is of a time that no event had, none is
 * later than the event that made it, and what a side says goes one way.
 */
#include "tracecmd/tracecmd.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool good)
{
	if (!good) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { BYTES = 5 };
	struct virtual_cpus x = { 0 };
	int64_t now = 0, first = USK_NONE;
	for (size_t at = 0; at + BYTES <= size; at += BYTES) {
		const uint8_t *d = data + at;
		/* Mostly forward; many values and CPUs are alike. */
		now += d[4] < 250 ? d[4] : -(int64_t)d[3];
		const struct virtual_event e = {
			.time_ns = now,
			.value = d[1] % 16,
			.cpu = d[2] == 255 ? UINT32_MAX : d[2] % 4,
			.kind = d[0] % 3,
			.irqs_off = d[0] & 64,
			.nmi = d[0] & 128,
		};
		struct usk_event side[2];
		const size_t n = usk_virtual_take(&x, &e, side);
		first = first == USK_NONE || now < first ? now : first;
		demand(n <= 2 && (!n || (e.value && e.kind >= VIRTUAL_HOST)));
		demand(n < 2 || (side[0].side != side[1].side &&
				 memcmp(&side[0].id, &side[1].id, sizeof side[0].id)));
		for (size_t i = 0; i < n; i++) {
			demand(side[i].time_ns <= e.time_ns && side[i].time_ns >= first);
		}
	}
	free(x.last_ns);
	return 0;
}
