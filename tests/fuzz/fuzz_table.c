/* SPDX-License-Identifier: MIT */
/* Tables of messages: any bytes are read whole, in part, or refused with a sentence. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = { "sender,receiver,sent_ns,received_ns,bytes\n",
					     "sent_s,receiver,received,x,sender\n" };
	if (fuzz_trace(data, size, "messages")) {
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
		fuzz_trace(all, n + size, "messages");
		free(all);
	}
	return 0;
}
