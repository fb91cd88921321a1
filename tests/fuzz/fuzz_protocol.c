/* SPDX-License-Identifier: MIT */
/*
 * fuzz_protocol.c - packets of a capture, listened to for clocks
 *
 * The first byte chooses the link type; then packets, each behind two bytes of length, the upper
 * bit of which tells that it is ours. Whatever they hold, readings are times, and on the safe side.
 */
#include "found.h"
#include "protocol/protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct usk_reading *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool time = r[i].clock_ns >= -USK_TIME_MAX && r[i].clock_ns <= USK_TIME_MAX;
		if (!time || r[i].quantum_ns < 0 || !memchr(r[i].of, 0, sizeof r[i].of)) {
			abort();
		}
		fuzz_found_text(r[i].of);
		fuzz_found((uint64_t)r[i].clock_ns);
		fuzz_found((uint64_t)r[i].our_ns ^ (uint64_t)r[i].quantum_ns << 1);
		fuzz_found(r[i].told);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > 1 << 16) {
		return 0;
	}
	static const uint16_t links[] = { 101, 1, 113, 276, 105, 127 };
	uint16_t link = links[data[0] % COUNT(links)];
	struct usk_listener *l = usk_listener_new(UINT32_MAX);
	struct usk_record r = { .time_ns = INT64_C(1700000000000000000) };
	for (size_t at = 1; at + 2 <= size;) {
		size_t n = (data[at] & 0x7fu) << 8 | data[at + 1], row, found;
		r.side = data[at] & 0x80 ? USK_SIDE_SENT : USK_SIDE_UNKNOWN;
		at += 2;
		n = n < size - at ? n : size - at;
		uint8_t *copy = malloc(n ? n : 1);
		if (!copy) {
			break;
		}
		memcpy(copy, data + at, n);
		at += n;
		r.data = copy;
		r.captured = r.length = (uint32_t)n;
		r.time_ns += 1000;
		const struct usk_reading *found_at = usk_listen(l, &r, link, &row, &found);
		fuzz_found(found ? row : USK_NO_CLOCK);
		check(found_at, found);
		free(copy);
	}
	usk_listener_free(l);
	return 0;
}
