/* SPDX-License-Identifier: MIT */
/* Numbers, durations and times: what is accepted is in range, and what is refused says why. */
#include "found.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum usk_status parser(const char *text, size_t n, int64_t *ns, struct usk_err *err);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static parser *const parsers[] = { usk_parse_int, usk_parse_duration, usk_parse_time,
					   usk_parse_rfc3339 };
	const char *text = (const char *)data;
	for (size_t i = 0; i < COUNT(parsers); i++) {
		struct usk_err err = { 0 };
		int64_t ns = 0;
		if (parsers[i](text, size, &ns, &err)) {
			if (!err.msg[0]) {
				abort();
			}
		} else if (parsers[i] != usk_parse_int &&
			   (ns > USK_TIME_MAX || ns < -USK_TIME_MAX)) {
			abort();
		}
		fuzz_found(err.msg[0] ? 1 : (uint64_t)ns);
	}
	for (unsigned shift = 0; shift <= 12; shift++) {
		int64_t value = 0;
		fuzz_found(usk_parse_decimal(text, size, shift, &value, NULL, NULL) == USK_OK);
		fuzz_found((uint64_t)value);
	}
	return 0;
}
