/* SPDX-License-Identifier: MIT */
/* Spans as OTLP, Jaeger and Zipkin JSON and as tables: any bytes are read whole, in part, or
 * refused with a sentence. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = {
		"{\"resourceSpans\":", "{\"data\":[{\"traceID\":\"1\",\"spans\":",
		"[{\"traceId\":\"1\",", "trace,span,parent,clock,start_ns,end_ns,kind\n"
	};
	static const char *const kinds[] = { "otlp", "jaeger", "zipkin", "spans" };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (fuzz_trace(data, size, kinds[i])) {
			return 0;
		}
	}
	/* What has no beginning gets one. */
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
