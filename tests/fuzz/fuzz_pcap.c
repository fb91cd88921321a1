/* SPDX-License-Identifier: MIT */
/* Classic captures: any bytes are read whole, in part, or refused with a sentence. */
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Other vendors' variants go to libpcap. */
	return fuzz_trace(data, size, "pcap") || fuzz_trace(data, size, "libpcap") ? 0 : -1;
}
