/* SPDX-License-Identifier: MIT */
/*
 * retime.h - inside of usk_apply(): one input, one output, one clock; a function per format
 *
 * To add a format: write a file with usk_retime_FORMAT() and call it in run() of apply.c.
 */
#ifndef USK_RETIME_H
#define USK_RETIME_H

#include "write/write.h"

struct retime {
	const char *path; /* of the input */
	struct usk_input in;
	struct usk_trace *trace; /* of captures: what the reader leaves out is not written */
	struct usk_output out;
	const struct usk_clocks *clocks;
	uint32_t clock;			   /* of captures and profiles */
	const struct usk_trace_info *info; /* what the clocks say of this trace; or NULL */
	struct usk_replay *map;		   /* in use; NULL: stamps stay as recorded */
	struct corrected {
		bool asked;
		struct usk_replay *map;
	} * of; /* by clock */
	const struct usk_write_options *opt;
	struct usk_notes *notes;
	struct usk_err *err;
};

/** From here on t->map is that of this clock. */
enum usk_status usk_retime_by(struct retime *t, uint32_t clock);
/** Corrected stamps; a failure names the file. repeats: as usk_replay_undoable() says, or NULL. */
enum usk_status usk_retime_stamps(struct retime *t, const int64_t *local_ns, size_t n, int64_t *out,
				  bool *repeats);
/** A corrected stamp that the format cannot hold: the sentence, USK_ERANGE. */
enum usk_status usk_retime_unfit(struct retime *t, uint64_t at, int64_t time_ns, const char *why);
/** A note: the file says that its stamps, or those of one clock in it, were corrected before. */
void usk_retime_again(const struct retime *t, const char *clock);
/** Progress, now and then: so much of the file is done. */
void usk_retime_progress(const struct retime *t, uint64_t pos);

/** All that is left of the input, from the window's start on, as it is. */
enum usk_status usk_retime_rest(struct retime *t);

enum usk_status usk_retime_pcap(struct retime *t);
enum usk_status usk_retime_pcapng(struct retime *t);
enum usk_status usk_retime_table(struct retime *t);
/** Spans, and JSON of Chrome. */
struct reader;
enum usk_status usk_retime_spans(struct retime *t);
/** The anchor of an OTF2 trace, into the folder out. */
enum usk_status usk_retime_otf2(struct retime *t, const char *out);
/** A folder of CTF traces, into the folder out. */
enum usk_status usk_retime_ctf(struct retime *t, uint32_t clock, const char *out);

#endif
