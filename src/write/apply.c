/* SPDX-License-Identifier: MIT */
/*
 * apply.c - one trace, re-timed into the same format
 *
 * In    a trace, the table of clocks, which of them stamped it
 * Out   the trace with corrected stamps, whole or not at all
 * Why   each tool goes on with its own format
 * Not   merging (merge.c), formats of other capture libraries
 */
#include "base/io.h"
#include "read/read.h"
#include "write/block.h"
#include "write/retime.h"

#include <stdlib.h>

enum usk_status usk_retime_by(struct retime *t, uint32_t clock)
{
	struct corrected *of = clock < t->clocks->n_clocks ? &t->of[clock] : NULL;
	enum usk_status status = USK_OK;
	t->map = of ? of->map : NULL;
	if (!of || !of->asked) {
		status =
			usk_write_map(t->clocks, clock, t->path, t->opt, &t->map, t->notes, t->err);
	}
	if (!status) {
		*of = (struct corrected){ true, t->map };
	}
	return status;
}

enum usk_status usk_retime_stamps(struct retime *t, const int64_t *local_ns, size_t n, int64_t *out,
				  bool *repeats)
{
	enum usk_status status = usk_replay_undoable(t->map, local_ns, n, out, repeats, t->err);
	return usk_fail_in(status, t->err, "%s", t->path);
}

enum usk_status usk_retime_unfit(struct retime *t, uint64_t at, int64_t time_ns, const char *why)
{
	char text[USK_RECORDED_MAX];
	usk_seconds_text(time_ns, text);
	return usk_fail(t->err, USK_ERANGE, at,
			"%s: the packet at byte %llu would be stamped %s s, %s, which its format "
			"cannot hold; another reference may help",
			t->path, (unsigned long long)at, text, why);
}

void usk_retime_again(const struct retime *t, const char *clock)
{
	usk_note(t->notes,
		 "%s: unskew corrected stamps%s%s in it before, and moves them once more: right "
		 "only if the corrections were found from this very file",
		 t->path, clock ? " of " : "", clock ? clock : "");
}

void usk_retime_progress(const struct retime *t, uint64_t pos)
{
	uint64_t size = usk_input_bytes(&t->in);
	if (t->opt && t->opt->progress && size) {
		t->opt->progress(t->opt->progress_ctx, (double)pos / (double)size, "re-timing");
	}
}

enum usk_status usk_retime_rest(struct retime *t)
{
	while (t->in.have && !t->out.failed) {
		usk_output_write(&t->out, t->in.data, t->in.have);
		enum usk_status status = usk_input_need(&t->in, t->in.have, 1, t->err);
		if (status) {
			return status;
		}
	}
	return USK_OK;
}

static enum usk_status run(struct retime *t, uint32_t clock)
{
	enum usk_status status = USK_OK;
	if (!t->in.have) {
		return usk_fail(t->err, USK_EINPUT, 0, "%s: %s", t->path,
				t->in.lost ? t->in.lost : "is empty");
	}
	const struct reader *by = usk_reader_of(t->in.data, t->in.have);
	if (by && by->table) {
		return usk_retime_table(t);
	}
	t->clock = clock;
	if (by && by->form) {
		return usk_retime_spans(t);
	}
	if (by != &usk_reader_pcap && by != &usk_reader_pcapng) {
		char *known = usk_formats(USK_FORMATS_WRITTEN);
		status = usk_fail(t->err, USK_EINPUT, 0,
				  "%s: unknown format: only %s can be re-timed", t->path, known);
		free(known);
		return status;
	}
	t->info = usk_clocks_trace(t->clocks, t->path, clock);
	bool faces = t->info && t->info->n_ifaces, several = by == &usk_reader_pcapng && faces;
	if (!several) { /* else each interface has its own, which the format itself looks at */
		clock = faces ? usk_trace_iface_clock(t->info, 0, NULL, clock) : clock;
		status = usk_retime_by(t, clock);
		if (!status && !t->map) {
			return usk_retime_rest(t); /* it may go along uncorrected */
		}
	}
	status = status ? status : usk_trace_of(&t->in, t->path, &t->trace, t->err);
	if (status) {
		return status;
	}
	status = by == &usk_reader_pcap ? usk_retime_pcap(t) : usk_retime_pcapng(t);
	if (!status && usk_trace_damage(t->trace)) {
		usk_note(t->notes, "%s", usk_trace_damage(t->trace));
	}
	usk_trace_close(t->trace);
	return status;
}

static enum usk_status apply_folder(struct retime *t, uint32_t clock, const char *out)
{
#ifdef USK_HAVE_BABELTRACE2
	enum usk_status status = usk_retime_ctf(t, clock, out);
	usk_replay_free(t->map);
	return status;
#else
	(void)clock;
	(void)out;
	return usk_fail(
		t->err, USK_EINPUT, 0,
		"%s: is a folder; CTF traces are folders, but this unskew was built without "
		"libbabeltrace2",
		t->path);
#endif
}

static enum usk_status apply_otf2(struct retime *t, const char *out)
{
#ifdef USK_HAVE_OTF2
	return usk_retime_otf2(t, out);
#else
	(void)out;
	return usk_fail(t->err, USK_EINPUT, 0,
			"%s: is an OTF2 trace, but this unskew was built without libotf2", t->path);
#endif
}

enum usk_status usk_apply(const char *in, uint32_t clock, const struct usk_clocks *c,
			  const char *out, const struct usk_write_options *opt,
			  struct usk_notes *notes, struct usk_err *err)
{
	struct retime t = { .path = in, .clocks = c, .opt = opt, .notes = notes, .err = err };
	if (usk_is_folder(in)) {
		return apply_folder(&t, clock, out);
	}
	enum usk_status status = usk_input_open(&t.in, in, usk_sniff_trace, err);
	if (status) {
		return status;
	}
	status = usk_input_need(&t.in, 0, 4096, err);
	usk_fail_in(status, err, "%s", in);
	if (!status && usk_is_otf2(t.in.data, t.in.have)) {
		status = apply_otf2(&t, out);
		usk_input_close(&t.in);
		return status;
	}
	t.of = usk_alloc(c->n_clocks, sizeof *t.of);
	status = status ? status : usk_output_open(&t.out, out, opt && opt->force, err);
	if (!status) {
		status = run(&t, clock);
		for (size_t i = 0; i < c->n_clocks && !status; i++) {
			status = usk_replay_end(t.of[i].map, err);
			usk_fail_in(status, err, "%s", in);
		}
		if (!status && t.in.lost && !t.trace) { /* else its damage told that */
			usk_note(notes, "%s: %s", in, t.in.lost);
		}
		status = status ? status : usk_output_commit(&t.out, err);
		usk_output_close(&t.out);
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		usk_replay_free(t.of[i].map);
	}
	free(t.of);
	usk_input_close(&t.in);
	return status;
}
