/* SPDX-License-Identifier: MIT */
/* Files of minimum delays, and their models: refused with a sentence, or in range and found. */
#include "found.h"
#include "flow/flow.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct usk_delay_model *m)
{
	for (uint32_t n = 0; n < 2; n++) {
		int64_t some = usk_delay_model_ns(m, n * 1400),
			most = usk_delay_model_ns(m, UINT32_MAX);
		fuzz_found((uint64_t)some ^ (uint64_t)most << 1);
		if (some < 0 || some > most || most >= USK_TIME_MAX) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_err err = { 0 };
	struct usk_delay_model m;
	struct usk_input in;
	struct delays d;
	if (!usk_delay_model_parse((const char *)data, size, &m, &err)) {
		check(&m);
	} else if (!err.msg[0]) {
		abort();
	}
	err.msg[0] = 0;
	usk_input_memory(&in, data, size);
	if (usk_delays_read(&in, &d, &err) && !err.msg[0]) {
		abort();
	}
	if (in.lost && d.n) {
		abort();
	}
	for (size_t i = 0; i < d.n; i++) {
		check(&d.row[i].model);
		if (usk_delays_find(&d, d.row[i].sender, d.row[i].receiver) != &d.row[i].model) {
			abort();
		}
	}
	usk_delays_free(&d);
	usk_input_close(&in);
	return 0;
}
