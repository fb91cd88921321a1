/* SPDX-License-Identifier: MIT */
/*
 * fuzz_apply - any bytes as a trace that is re-timed and merged with itself: a sentence or a
 * file, never a crash
 */
#include "base/io.h"
#include "found.h"
#include "memory.h"
#include "read/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct usk_knot knot[] = {
	{ .local_ns = 0, .offset_ns = 500 },
	{ .local_ns = INT64_C(1700000000000000000), .offset_ns = -957333333 },
	{ .local_ns = INT64_C(1700000001000000000), .offset_ns = -957354333 },
};

static struct usk_clock clock[] = {
	{ .name = "client", .quality = USK_BOUNDED, .knot = knot, .n_knots = COUNT(knot) },
	{ .name = "server", .quality = USK_BOUNDED, .knot = knot + 1, .n_knots = 2 },
	{ .name = "far", .quality = USK_ABSENT },
};

static const struct usk_clocks clocks = { .clock = clock, .n_clocks = COUNT(clock) };

static void check(enum usk_status status, const struct usk_err *err)
{
	if (status && !err->msg[0]) {
		abort();
	}
}

/* Any of them, as long as the bytes are the same. */
static struct usk_write_options comments_by(size_t size)
{
	return (struct usk_write_options){
		.comments = (enum usk_comments)(size % (USK_COMMENTS_NONE + 1)),
	};
}

/* What was written there, which goes. */
static void found_file(const char *path)
{
	struct usk_input in;
	if (usk_input_open(&in, path, NULL, NULL)) {
		fuzz_found(0);
		return;
	}
	if (!usk_input_all(&in, NULL)) {
		fuzz_found_bytes(in.data, in.have);
	}
	usk_input_close(&in);
	unlink(path);
}

static void merge_twice(const uint8_t *data, size_t size, const char *out)
{
	struct usk_err err = { 0 };
	struct usk_trace *t[2] = { NULL, NULL };
	struct usk_notes notes = { 0 };
	static const uint32_t own[] = { 0, 1 };
	const struct usk_write_options opt = comments_by(size);
	if (!usk_trace_open_memory(data, size, "client", &t[0], &err) &&
	    !usk_trace_open_memory(data, size, "server", &t[1], &err)) {
		check(usk_merge(t, own, 2, &clocks, out, &opt, &notes, &err), &err);
	}
	found_file(out);
	usk_notes_free(&notes);
	usk_trace_close(t[0]);
	usk_trace_close(t[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct usk_notes notes = { 0 };
	struct usk_err err = { 0 };
	const struct usk_write_options opt = comments_by(size);
	char *out = usk_format("%s/out", memory_folder());
	check(usk_apply(path, 0, &clocks, out, &opt, &notes, &err), &err);
	found_file(out);
	usk_notes_free(&notes);
	close(fd);
	merge_twice(data, size, out);
	free(out);
	return 0;
}
