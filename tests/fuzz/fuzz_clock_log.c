/* SPDX-License-Identifier: MIT */
/* Logs of clocks: refused with a sentence, or every stamp lies somewhere on the raw clock. */
#include "found.h"
#include "flow/clock_log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct usk_carry *c, int64_t first, int64_t last)
{
	int64_t *corner;
	size_t n = usk_carry_corners(c, first, last, &corner);
	for (size_t i = 0; i < n; i++) {
		struct usk_raw r = usk_carry_raw(c, corner[i]);
		if (r.lo_ns > r.hi_ns || (i && corner[i] <= corner[i - 1])) {
			abort();
		}
		struct usk_raw shown = usk_carry_shows_between(c, r.lo_ns, r.hi_ns);
		struct usk_slopes slopes = usk_carry_slopes(c, corner[i]);
		struct usk_raw least = usk_carry_shows(c, r.lo_ns),
			       most = usk_carry_shows(c, r.hi_ns);
		/* There and back, a stamp is among those that may have been shown. */
		const int64_t found[] = { corner[i],	    r.lo_ns,	    r.hi_ns,
					  shown.lo_ns,	    shown.hi_ns,    least.lo_ns,
					  least.hi_ns,	    most.lo_ns,	    most.hi_ns,
					  slopes.least_e12, slopes.most_e12 };
		for (size_t k = 0; k < COUNT(found); k++) {
			fuzz_found((uint64_t)found[k]);
		}
		if (least.lo_ns > corner[i] || most.hi_ns < corner[i] ||
		    shown.lo_ns > shown.hi_ns || slopes.least_e12 > slopes.most_e12) {
			abort();
		}
	}
	free(corner);
	for (size_t p = 1; p < c->log.n_pieces; p++) {
		struct usk_set s = usk_carry_set(c, p);
		fuzz_found((uint64_t)s.by.lo_ns ^ (uint64_t)s.by.hi_ns << 1);
		fuzz_found((uint64_t)s.from_ns ^ (uint64_t)s.to_ns << 1);
		if (s.by.lo_ns > s.by.hi_ns || s.from_ns > s.to_ns) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_err err = { 0 };
	struct usk_clock_log log;
	struct usk_epochs none = { 0 };
	struct usk_carry *c;
	struct usk_input in;
	usk_input_memory(&in, data, size);
	if (usk_clock_log_read(&in, &log, &err)) {
		if (!err.msg[0] || log.line) {
			abort();
		}
		fuzz_found(err.at);
	} else {
		if (in.lost && !log.damage) {
			abort();
		}
		fuzz_found_numbers(log.damage);
		int64_t first = log.line[0].time_ns, last = log.line[log.n - 1].time_ns;
		if (first > last) {
			int64_t swapped = first;
			first = last;
			last = swapped;
		}
		free(usk_carry_of(&log, &none, first, last, &c));
		if (c) {
			check(c, first - 5, last + 5);
		}
		usk_carry_free(c);
	}
	usk_input_close(&in);
	return 0;
}
