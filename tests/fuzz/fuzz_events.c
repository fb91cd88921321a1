/* SPDX-License-Identifier: MIT */
/* Tables of events and of exchanges, CSV and JSON lines: any bytes are read whole, in part, or
 * refused with a sentence. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = { "clock,time_ns,kind,id,bytes\n",
					     "kind,id,time,clock\n",
					     "a,b,t1_ns,t2_s,t3_ticks,t4\n" };
	if (fuzz_trace(data, size, "events") || fuzz_trace(data, size, "exchanges")) {
		return 0;
	}
	/* Rows without a header get one. */
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t n = strlen(heads[i]);
		uint8_t *all = malloc(n + size);
		if (!all) {
			return 0;
		}
		memcpy(all, heads[i], n);
		memcpy(all + n, data, size);
		fuzz_trace(all, n + size, NULL);
		free(all);
	}
	return 0;
}
