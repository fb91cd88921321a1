/* SPDX-License-Identifier: MIT */
/* Classic captures: any bytes are read whole, in part, or refused with a sentence. */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_trace(data, size, "pcap") ? 0 : -1;
}
