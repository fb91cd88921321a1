/* SPDX-License-Identifier: MIT */
/* Packed traces: cut, damaged, packed twice; read in windows of any size, the same comes out. */
#include "base/io.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>

static uint64_t read_all(struct usk_input *in, size_t step)
{
	uint64_t sum = 0, n = 0;
	for (size_t used = 0; n < 1 << 22; n += used) {
		if (usk_input_need(in, used, step, NULL)) {
			return 1; /* not built in */
		}
		used = in->have < step ? in->have : step;
		if (!used) {
			break;
		}
		for (size_t i = 0; i < used; i++) {
			sum = usk_mix(sum ^ in->data[i]) + 1;
		}
	}
	/* The window is as large as what was asked for, however much comes out. */
	if (in->capacity > ((size_t)1 << 19)) {
		abort();
	}
	return n < 1 << 22 ? usk_mix(sum ^ (in->lost != NULL)) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t steps[] = { 1, 4096, 1 << 18 };
	struct usk_input in;
	uint64_t first = 0;
	usk_input_memory(&in, data, size);
	if (!in.packed) {
		usk_input_close(&in);
		return 0;
	}
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint64_t sum = read_all(&in, steps[i]);
		/* Where the limit cuts in depends on the step. */
		if (i && sum && first && sum != first) {
			abort();
		}
		first = i ? first : sum;
		usk_input_rewind(&in);
	}
	usk_input_close(&in);
	fuzz_trace(data, size, NULL);
	return 0;
}
