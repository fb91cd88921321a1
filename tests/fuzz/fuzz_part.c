/* SPDX-License-Identifier: MIT */
/* Parts: any bytes are read whole, or refused with a sentence; sums are made to fit, so that more
 * than the first block is looked at. */
#include "found.h"
#include "trace.h"

#include "read/part_code.h"

#include <stdlib.h>

static void mend_sums(uint8_t *d, size_t size)
{
	for (size_t at = PART_MAGIC; at + PART_HEADER <= size;) {
		uint32_t kind = usk_le32(d + at), n = usk_le32(d + at + 4);
		if (n > size - at - PART_HEADER) {
			return;
		}
		uint64_t sum = part_sum(d + at + PART_HEADER, n, kind);
		for (size_t i = 0; i < 8; i++) {
			d[at + 8 + i] = (uint8_t)(sum >> 8 * i);
		}
		at += PART_HEADER + (size_t)n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_trace *t;
	struct usk_err err = { 0 };
	uint8_t *sound = usk_alloc(size + 1, 1);
	memcpy(sound, data, size);
	mend_sums(sound, size);
	if (!usk_part_open_memory(sound, size, NULL, &t, &err)) {
		fuzz_opened(t, 0);
		usk_trace_close(t);
	} else if (!err.msg[0]) {
		abort();
	} else {
		fuzz_found(err.at);
	}
	free(sound);
	return 0;
}
