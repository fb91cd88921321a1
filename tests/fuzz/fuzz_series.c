/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recorded clock of the simulator: refused with a sentence, or points in order of
 * which a clock can be made that passes through them.
 */
#include "base/io.h"
#include "memory.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

static void check_points(const struct sim_series *s)
{
	need(s->n >= 2 && !s->point[0].after_ns);
	for (size_t i = 1; i < s->n; i++) {
		const struct sim_error_point *p = &s->point[i];
		usk_i128 run = (usk_i128)p->after_ns - p[-1].after_ns;
		usk_i128 rise = (usk_i128)p->ahead_ns - p[-1].ahead_ns;
		need(run >= 0 && p->after_ns <= USK_TIME_MAX / 2);
		need(!run || (100 * rise <= run && -100 * rise <= run));
	}
}

/* A clock's rate is a whole number of 10^-12, and its reading is rounded down. */
static void check_clock(const struct sim_series *s)
{
	static const int64_t none[] = { 0 };
	struct sim_options o;
	struct sim_clock c;
	sim_options_init(&o);
	o.format = SIM_TABLE;
	o.start_ns = 0;
	o.duration_ns = s->point[s->n - 1].after_ns + 1000000000;
	o.offset_ns = o.drift_e12 = (struct sim_list){ none, 1 };
	o.series = s;
	o.n_series = 1;
	if (sim_options_check(&o, NULL)) {
		return;
	}
	sim_options_clock(&o, s->host, &c);
	for (size_t i = 0; i < s->n; i++) {
		const struct sim_error_point *p = &s->point[i];
		bool last_there = i + 1 == s->n || p[1].after_ns > p->after_ns;
		int64_t off = sim_clock_read(&c, p->after_ns) - p->after_ns - p->ahead_ns;
		int64_t most = 2 + (int64_t)i + p->after_ns / 1000000000000;
		need(!last_there || (off <= most && off >= -most));
	}
	sim_clock_free(&c);
}

/* Half a recording is none. */
static bool is_whole(const uint8_t *data, size_t size)
{
	struct usk_input in;
	usk_input_memory(&in, data, size);
	bool whole = !usk_input_need(&in, 0, (size_t)1 << 24, NULL) && !in.lost;
	usk_input_close(&in);
	return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_series s;
	struct usk_err err = { 0 };
	if (sim_series_read(memory_file(0, data, size), 1, &s, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n') && !s.point && !s.path);
		return 0;
	}
	need(is_whole(data, size));
	check_points(&s);
	check_clock(&s);
	sim_series_free(&s);
	return 0;
}
