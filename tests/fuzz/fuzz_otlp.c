/* SPDX-License-Identifier: MIT */
/* OTLP as protobuf: any bytes, bare or behind a length, and behind a span that shows what they are. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

/* A TracesData of one span: ids, start and end. */
static const uint8_t span[] = "\x0a\x32\x12\x30\x12\x2e\x0a\x10\1\2\3\4\5\6\7\x08\1\2\3\4\5\6\7\x08"
			      "\x12\x08\1\2\3\4\5\6\7\x08\x39\0\0\0\0\0\0\0\1\x41\0\0\0\0\0\0\1\1";
enum { SPAN = sizeof span - 1, HEAD = 4 };

static void put_length(uint8_t *d, size_t n)
{
	for (size_t i = 0; i < HEAD; i++) {
		d[i] = (uint8_t)(n >> 8 * (HEAD - 1 - i));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace(data, size, "otlp");
	uint8_t *all = malloc(HEAD + SPAN + HEAD + size);
	if (!all) {
		return 0;
	}
	put_length(all, SPAN);
	memcpy(all + HEAD, span, SPAN);
	put_length(all + HEAD + SPAN, size);
	memcpy(all + HEAD + SPAN + HEAD, data, size);
	fuzz_trace(all, HEAD + SPAN + HEAD + size, "otlp");
	memmove(all, all + HEAD, SPAN);
	memcpy(all + SPAN, data, size);
	fuzz_trace(all, SPAN + size, "otlp");
	free(all);
	return 0;
}
