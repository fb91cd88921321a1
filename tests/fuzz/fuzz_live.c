/* SPDX-License-Identifier: MIT */
/*
 * A live map is a file that another process writes: the input is such a file, then moments to ask
 * about, 8 bytes each. Whatever is in it, an answer is what its words say; what it was made of is
 * cut short under its reader, and that is seen; and a writer goes on with it, or refuses it.
 */
#include "../sigbus.h"
#include "memory.h"
#include "unskew_clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Magic number, sequence, and the words of a map. */
enum { WORDS = 6, FILE_BYTES = 8 * (2 + WORDS), MOMENTS = 16 };

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

/* A writer follows no link, as a file that is only open would be named by. */
static struct {
	int fd;
	char path[80];
} file = { -1, "" };

static void fill_file(const uint8_t *data, size_t size)
{
	if (file.fd < 0) {
		snprintf(file.path, sizeof file.path, "%s/live", memory_folder());
		file.fd = open(file.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	need(file.fd >= 0 && !ftruncate(file.fd, 0));
	need(pwrite(file.fd, data, size, 0) == (ssize_t)size);
}

static uint64_t word(const uint8_t *data, size_t i)
{
	uint64_t x;
	memcpy(&x, data + 8 * i, 8);
	return x;
}

static struct usk_live_map map_in(const uint8_t *data)
{
	return (struct usk_live_map){ (int64_t)word(data, 2), (int64_t)word(data, 3),
				      (int64_t)word(data, 4), word(data, 5),
				      word(data, 6),	      (int64_t)word(data, 7) };
}

static bool same(enum usk_live_state a, const struct usk_live_time *x, enum usk_live_state b,
		 const struct usk_live_time *y)
{
	return a == b && (a != USK_LIVE || (x->local == y->local && x->precision == y->precision));
}

static void check_at(const struct usk_live *l, const uint8_t *data, int64_t remote)
{
	struct usk_live_map m = map_in(data);
	struct usk_live_time t, expected;
	enum usk_live_state state = usk_live_convert(l, remote, &t);
	if (!word(data, 1)) {
		need(state == (m.max_age ? USK_LIVE_NONE : USK_LIVE_CUT));
		return;
	}
	enum usk_live_state by_map =
		m.max_age ? usk_live_map_at(&m, remote, &expected) : USK_LIVE_CUT;
	need(same(state, &t, by_map, &expected));
	need(state != USK_LIVE || (t.precision >= 0 && t.precision <= USK_TICKS_MAX &&
				   t.local <= USK_TICKS_MAX && t.local >= -USK_TICKS_MAX));
}

/* False where nobody can see that. */
static bool cut_short(const struct usk_live *l)
{
	struct usk_live_time t;
	if (!sigbus_says_where()) {
		return false;
	}
	need(!ftruncate(file.fd, 0));
	need(usk_live_convert(l, 0, &t) == USK_LIVE_CUT);
	need(usk_live_convert(l, 1, &t) == USK_LIVE_CUT);
	return true;
}

static void read_it(const uint8_t *data, size_t size)
{
	struct usk_live *l = NULL;
	struct usk_err err = { 0 };
	if (usk_live_open(file.path, &l, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n') && !l);
		return;
	}
	/* Who waits for a write that never ends waits for a million readings. */
	for (size_t at = FILE_BYTES; at + 8 <= size && !(word(data, 1) & 1); at += 8) {
		check_at(l, data, (int64_t)word(data + at, 0));
	}
	cut_short(l);
	usk_live_close(l);
}

static void go_on(const uint8_t *data)
{
	struct usk_live *writer = NULL, *reader = NULL;
	struct usk_err err = { 0 };
	struct usk_live_map m = map_in(data);
	struct usk_live_time t, expected;
	if (usk_live_create(file.path, &writer, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n') && !writer);
		return;
	}
	need(!usk_live_open(file.path, &reader, NULL));
	need(usk_live_convert(reader, 0, &t) != USK_LIVE || !(word(data, 1) & 1));
	m.max_age = m.max_age ? m.max_age : 1;
	need(!usk_live_publish(writer, &m, &err));
	enum usk_live_state state = usk_live_convert(reader, m.remote, &t);
	need(same(state, &t, usk_live_map_at(&m, m.remote, &expected), &expected));
	need(!usk_live_publish(writer, NULL, &err));
	need(usk_live_convert(reader, m.remote, &t) == USK_LIVE_STALE);
	need(!cut_short(reader) || (usk_live_publish(writer, &m, &err) && err.msg[0]));
	usk_live_close(reader);
	usk_live_close(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > FILE_BYTES + 8 * MOMENTS) {
		return -1;
	}
	size_t n = size > FILE_BYTES ? FILE_BYTES : size;
	fill_file(data, n);
	read_it(data, size);
	/* A sequence that comes round to 0 takes 2^63 maps. */
	if (n == FILE_BYTES && word(data, 1) < UINT64_MAX / 2) {
		fill_file(data, n);
		go_on(data);
	}
	return 0;
}
