/* SPDX-License-Identifier: MIT */
/* Collectives: any bytes are read whole, in part, or refused with a sentence. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "collective,kind,clock,enter_ns,exit_ns,rank,root\n";
	const size_t n = sizeof head - 1;
	if (fuzz_trace(data, size, NULL)) {
		return 0;
	}
	/* Rows without a header get one. */
	uint8_t *all = malloc(n + size);
	if (all) {
		memcpy(all, head, n);
		memcpy(all + n, data, size);
		fuzz_trace(all, n + size, "collectives");
	}
	free(all);
	return 0;
}
