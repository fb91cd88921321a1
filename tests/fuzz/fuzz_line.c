/* SPDX-License-Identifier: MIT */
/*
 * The other end of a line says anything: both sides come to an end in bounded time with their pins
 * down. The corpus has a whole exchange as each side sees it.
 */
#include "line/line.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scripted {
	struct line line;
	const uint8_t *data;
	size_t n, at; /* in pairs of bits, as the other's pins come */
	int64_t now_ns;
	unsigned ours;
};

static void set(struct line *l, unsigned pins)
{
	struct scripted *s = (struct scripted *)l;
	if (pins & ~3U) {
		abort();
	}
	s->ours = pins;
	s->now_ns += 100;
}

static unsigned pins(struct line *l)
{
	struct scripted *s = (struct scripted *)l;
	s->now_ns += 100;
	if (s->at >= 4 * s->n) {
		s->now_ns += 50000; /* nothing comes any more: no use in waiting for it at length */
		return 0;
	}
	unsigned p = s->data[s->at / 4] >> (2 * (s->at % 4)) & 3;
	s->at++;
	return p;
}

static void pass(struct line *l, int64_t ns)
{
	((struct scripted *)l)->now_ns += ns > 0 ? ns : 1;
}

static int64_t time_ns(struct line *l)
{
	return ((struct scripted *)l)->now_ns += 100;
}

static void close_nothing(struct line *l)
{
	(void)l;
}

static int64_t read_time(void *ctx)
{
	return ((struct scripted *)ctx)->now_ns;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 10000000 };
	for (int side = 0; side < 2; side++) {
		struct scripted s = { .data = data, .n = size };
		s.line = (struct line){ .set = set,
					.pins = pins,
					.wait = pass,
					.pause = pass,
					.time_ns = time_ns,
					.close = close_nothing,
					.counter = { read_time, &s } };
		struct usk_three_stamps t;
		if (side) {
			line_answer(&s.line, &limits, 10000000);
		} else if (line_ask(&s.line, &limits, 0x12345678, &t) == LINE_DONE &&
			   t.after < t.before) {
			abort();
		}
		/* Rest included. */
		if (s.ours || s.now_ns > 3 * limits.wake_ns + LINE_REST_NS) {
			abort();
		}
	}
	return 0;
}
