/* SPDX-License-Identifier: MIT */
/*
 * viewers.h - traces for programs that draw them
 */
#ifndef USK_VIEWERS_H
#define USK_VIEWERS_H

#include "base/base.h"

/* Messages to be drawn, whose clocks are numbers of the table of clocks. */
struct usk_message_source {
	void *ctx;
	/* The next ones into out[cap]; *n is how many, 0 at the end. */
	enum usk_status (*next)(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err);
};

/**
 * All that happened as Chrome trace JSON, which Perfetto and chrome://tracing open: a process per
 * clock, messages as arrows, packets and events as instants, the band as a counter. Times are
 * microseconds with three digits since an origin, a whole second, that `otherData` tells for each
 * island; stamps as recorded are kept as strings.
 *
 * trace[n]  of any kind, read from their start;  clock[n]  as in usk_merge(), USK_NO_CLOCK for
 *           tables, which name their own
 * messages  NULL: none are drawn
 * Refusals, notes and opt as in usk_merge(). Nothing is held: memory does not grow with the traces.
 */
enum usk_status usk_timeline(struct usk_trace *const *trace, const uint32_t *clock, size_t n,
			     const struct usk_clocks *c, const struct usk_message_source *messages,
			     const char *path, const struct usk_write_options *opt,
			     struct usk_notes *notes, struct usk_err *err);

/* A trace file of any format and the clock that stamped it. */
struct usk_manifest_file {
	const char *path;
	uint32_t clock;
};

struct usk_manifest_options {
	const char *clock;   /* whose stamps they are: "REALTIME", "BOOTTIME"...; NULL: the files'
				own, as in Chrome JSON */
	int64_t residual_ns; /* refuse an offset that is off by more */
	bool force;
};

/**
 * perfetto_manifest, version 1: what Perfetto needs to open an archive of traces of several
 * machines as one. It knows one offset for each file: the one that is off by least is written, and
 * by how much, as an attribute and as a note. An archive names its files by the last parts of
 * their paths. o NULL: REALTIME, any residual.
 *
 * USK_EINPUT: a clock that is not bounded, was set back, or is off by more. USK_EUSAGE: two files
 * of one name.
 */
enum usk_status usk_perfetto_manifest(const struct usk_manifest_file *file, size_t n,
				      const struct usk_clocks *c, const char *path,
				      const struct usk_manifest_options *o, struct usk_notes *notes,
				      struct usk_err *err);

#endif
