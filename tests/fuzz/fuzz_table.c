/* SPDX-License-Identifier: MIT */
/* Tables of messages: any bytes are read whole, in part, or refused with a sentence. */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace(data, size, "messages");
	return 0;
}
