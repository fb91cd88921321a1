/* SPDX-License-Identifier: MIT */
/*
 * cmd_sync.c - the main job: traces in, one clock for all of them out
 *
 * In    traces of machines that exchanged messages
 * Out   the table of clocks on stdout; clocks.json, messages and a merged capture where asked for
 * Why   files are refused before the work and appear after it, whole or not at all
 * Not   any estimating: usk_sync() does that
 */
#include "cmd.h"
#include "messages.h"
#include "plot.h"
#include "print.h"
#include "timeline.h"
#include "truth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is to be written, and what has been. */
struct outputs {
	struct usk_output clocks;
	struct messages messages;
	const char *clocks_path, *messages_path, *merge_path, *timeline_path;
	bool force;
	const char *written[4];
	size_t n_written;
};

static enum usk_status outputs_open(struct outputs *o, const struct args *args, struct usk_err *err)
{
	memset(o, 0, sizeof *o);
	o->clocks.fd = -1;
	o->clocks_path = args_string(args, "output");
	o->messages_path = args_string(args, "messages");
	o->merge_path = args_string(args, "merge");
	o->timeline_path = args_string(args, "timeline");
	o->force = args_flag(args, "force");
	enum usk_status status = USK_OK;
	if (o->clocks_path) {
		status = usk_output_open(&o->clocks, o->clocks_path, o->force, err);
	}
	if (!status && o->messages_path) {
		status = messages_open(&o->messages, o->messages_path, o->force, err);
	}
	/* Those are opened much later: ask now, so that no work is lost. */
	const char *const later[] = { o->merge_path, o->timeline_path };
	for (size_t i = 0; i < COUNT(later) && !status; i++) {
		struct usk_output trial;
		status = later[i] ? usk_output_open(&trial, later[i], o->force, err) : USK_OK;
		if (!status && later[i]) {
			usk_output_close(&trial);
		}
	}
	return status;
}

static void outputs_close(struct outputs *o)
{
	if (o->clocks.path) {
		usk_output_close(&o->clocks);
	}
	messages_close(&o->messages);
}

static enum usk_status write_together(struct outputs *o, struct usk_trace **trace, size_t n,
				      const struct usk_clocks *c, struct progress *progress,
				      const struct args *args, struct usk_err *err)
{
	struct usk_notes notes = { 0 };
	struct usk_write_options options = {
		.force = o->force,
		.allow_unbounded = args_flag(args, "allow-unbounded"),
		.progress = progress_show,
		.progress_ctx = progress,
	};
	uint32_t *clock = usk_alloc(n, sizeof *clock);
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		clock[i] = i < c->n_traces ? c->trace[i].clock : USK_NO_CLOCK;
		status = usk_trace_rewind(trace[i], err);
	}
	if (!status && o->merge_path) {
		status = usk_merge(trace, clock, n, c, o->merge_path, &options, &notes, err);
		o->written[o->n_written] = o->merge_path;
		o->n_written += !status;
	}
	if (!status && o->timeline_path) {
		status = timeline_match_and_draw(trace, clock, n, c, o->timeline_path, &options,
						 &notes, err);
		o->written[o->n_written] = o->timeline_path;
		o->n_written += !status;
	}
	progress_end(progress);
	for (size_t i = 0; i < notes.n; i++) {
		say(args, "unskew: note: %s", notes.note[i]);
	}
	usk_notes_free(&notes);
	free(clock);
	return status;
}

/* The merged capture and the timeline come last: where a clock cannot be corrected, the rest stands
 * already. */
static enum usk_status write_all(struct outputs *o, struct usk_trace **trace, size_t n,
				 const struct usk_clocks *c, const char *json,
				 struct progress *progress, const struct args *args,
				 struct usk_err *err)
{
	enum usk_status status = USK_OK;
	if (o->clocks_path) {
		usk_output_write(&o->clocks, json, strlen(json));
		status = usk_output_commit(&o->clocks, err);
		o->written[o->n_written] = o->clocks_path;
		o->n_written += !status;
	}
	if (!status && o->messages_path) {
		status = messages_commit(&o->messages, c, err);
		o->written[o->n_written] = o->messages_path;
		o->n_written += !status;
	}
	if (!status && (o->merge_path || o->timeline_path)) {
		status = write_together(o, trace, n, c, progress, args, err);
	}
	return status;
}

/* Scores of clocks from 0 on; *n: how many there are before the first that failed. */
static int compare_with_truth(const struct truth *truth, const char *path,
			      const struct usk_clocks *c, struct truth_score *score, size_t *n)
{
	struct usk_err err;
	for (*n = 0; *n < c->n_clocks; ++*n) {
		if (c->clock[*n].quality != USK_REFERENCE &&
		    truth_compare(truth, c, *n, &score[*n], &err)) {
			usk_fail_in(&err, "%s", path);
			return say_error(&err);
		}
	}
	return EXIT_DONE;
}

static void print_written(const struct outputs *o)
{
	for (size_t i = 0; i < o->n_written; i++) {
		printf("%s%s%s", i ? ", " : "Wrote ", o->written[i],
		       i + 1 == o->n_written ? ".\n" : "");
	}
}

/* The clock whose corridor is drawn, USK_NO_CLOCK for none; on a terminal, or where asked for. */
static int choose_plot(const struct args *args, const struct usk_clocks *c, uint32_t *clock)
{
	const char *name = args_string(args, "plot");
	*clock = USK_NO_CLOCK;
	if (name) {
		*clock = usk_clocks_find(c, name, NULL, NULL);
		if (*clock == USK_NO_CLOCK) {
			return say_usage("--plot %s: there is no such clock; \"%s\" is one", name,
					 c->clock[0].name);
		}
	} else if (isatty(STDOUT_FILENO) && !args_flag(args, "no-plot")) {
		*clock = plot_choose(c);
	}
	return EXIT_DONE;
}

static void draw(const struct args *args, const struct usk_clocks *c, uint32_t clock)
{
	const char *why = plot_clock(stdout, c, clock, plot_columns(stdout), plot_unicode());
	if (why && args_given(args, "plot")) {
		say(args, "unskew: note: --plot %s draws nothing: %s", args_string(args, "plot"),
		    why);
	}
}

/* Write, then say: a reader of standard output that goes away takes no file with it. */
static int tell(const struct args *args, struct outputs *o, struct usk_trace **trace, size_t n,
		const struct usk_clocks *c, const struct truth *truth, struct progress *progress)
{
	struct usk_err err = { 0 };
	bool json_out = args_flag(args, "json");
	bool table = !json_out && !args_flag(args, "quiet");
	uint32_t drawn;
	int wrong = choose_plot(args, c, &drawn);
	if (wrong) {
		return wrong;
	}
	char *json = usk_clocks_to_json(c);
	struct truth_score *score = usk_alloc(c->n_clocks, sizeof *score);
	size_t scored = 0;
	int compared =
		truth ? compare_with_truth(truth, args_string(args, "truth"), c, score, &scored)
		      : EXIT_DONE;
	int status = compared ? compared : clocks_status(c);
	bool failed = !compared && write_all(o, trace, n, c, json, progress, args, &err);
	if (table) {
		print_clocks(stdout, c);
	}
	if (table && drawn != USK_NO_CLOCK) {
		draw(args, c, drawn);
	}
	if (json_out) {
		fputs(json, stdout);
		for (size_t i = 0; i < c->n_notes; i++) {
			say(args, "unskew: note: %s", c->note[i]);
		}
	}
	for (size_t i = 0; i < scored; i++) {
		if (c->clock[i].quality != USK_REFERENCE) {
			print_score(json_out ? stderr : stdout, &c->clock[i], &score[i]);
		}
	}
	if (table) {
		print_written(o);
	}
	fflush(stdout);
	if (failed) {
		status = say_error(&err);
	}
	free(score);
	free(json);
	return status;
}

static int sync_run(const struct args *args)
{
	struct usk_trace **trace = NULL;
	struct usk_clocks *clocks = NULL;
	struct truth *truth = NULL;
	struct usk_err err = { 0 };
	struct outputs outputs = { .clocks = { .fd = -1 } };
	struct usk_sync_options options = { 0 };
	size_t n = 0;
	const char *const out[] = { args_string(args, "output"), args_string(args, "messages"),
				    args_string(args, "merge"), args_string(args, "timeline") };
	int status = sync_options(args, true, &options);
	if (!status) {
		status = anchors_parse(args, &options);
	}
	if (!status) {
		status = operands_apart(args, out, COUNT(out));
	}
	if (!status) {
		status = traces_open(args, 0, &trace, &n);
	}
	if (!status) {
		status = traces_tell(trace, n);
	}
	for (size_t i = 0; i < n && !status && args_given(args, "merge"); i++) {
		if (usk_trace_class(trace[i]) != USK_TRACE_CAPTURE) {
			status = say_usage("--merge: %s is a table of messages; only captures can "
					   "be merged",
					   usk_trace_path(trace[i]));
		}
	}
	if (!status && args_given(args, "truth") &&
	    truth_open(args_string(args, "truth"), &truth, &err)) {
		status = say_error(&err);
	}
	if (!status && outputs_open(&outputs, args, &err)) {
		status = say_error(&err);
	}
	if (!status) {
		struct progress progress = progress_start(args);
		options.method = args_string(args, "method");
		options.messages = outputs.messages_path ? &outputs.messages.sink : NULL;
		options.progress = progress_show;
		options.progress_ctx = &progress;
		enum usk_status done = usk_sync(trace, n, &options, &clocks, &err);
		progress_end(&progress);
		if (outputs.messages.spool && ferror(outputs.messages.spool)) {
			status = say_failed("%s: not written: the temporary file for the messages "
					    "failed; is its disk full?",
					    outputs.messages_path);
		} else if (done) {
			status = say_error(&err);
		} else {
			status = tell(args, &outputs, trace, n, clocks, truth, &progress);
		}
	}
	outputs_close(&outputs);
	anchors_free(&options);
	truth_free(truth);
	usk_clocks_free(clocks);
	traces_close(trace, n);
	return status;
}

static const struct option_group sync_output = {
	"Output",
	(const struct option_row[]){
		{ "output", "write the corrections: clocks.json, which apply and convert read",
		  PATH("FILE"), .letter = 'o' },
		{ "json", "print clocks.json instead of the table", FLAG },
		{ "plot",
		  "draw the corridor of CLOCK below the table; on a terminal the one with the "
		  "widest band is drawn anyway",
		  TEXT("CLOCK") },
		{ "no-plot", "draw none", FLAG },
		{ "merge", "write one pcapng of all captures in corrected order", PATH("FILE") },
		{ "timeline",
		  "all that happened as Chrome trace JSON, for Perfetto or chrome://tracing: a "
		  "process per clock, messages as arrows",
		  PATH("FILE") },
		{ "allow-unbounded",
		  "merge or draw packets of clocks that are not bounded too, as recorded", FLAG },
		{ "messages", "write every message that was used, as CSV", PATH("FILE") },
		{ "truth", "compare with the truth.json of `unskew simulate`", PATH("FILE") },
		{ 0 },
	},
};

const struct command cmd_sync = {
	.name = "sync",
	.run = sync_run,
	.operands = "[NAME=]TRACE...",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.help = "find out how the clocks ran: match, fit, solve; print the table of clocks",
	.more = "Traces are captures (pcap, pcapng), CTF traces (folders), or tables of messages, "
		"of events or of exchanges (CSV or JSON lines), packed or not; which, is found "
		"from their content. NAME= names the clock that stamped a trace; otherwise its "
		"file's name does. Tables name their clocks themselves. Captures of one name are "
		"of one clock: those of a host's interfaces, or files that were rotated, "
		"NAME=a.pcap NAME=b.pcap. Where interfaces have clocks of their own, --clock-of "
		"tells them apart.\n\n"
		"Of CTF traces, the kernel's network events with headers are packets; MPI, older "
		"TCP add-ons and ROS 2 are known; --send and --recv name any other event.\n\n"
		"All pairs that share messages count: a clock need not talk to the reference, "
		"only to someone who is tied to it.\n\n"
		"An offset is reference - local: add it to a local stamp. The table "
		"has that in the middle of the trace; of a clock that was stepped, in the middle "
		"of "
		"the stretch between steps that has most messages. A positive drift is a "
		"clock that runs fast. The band around an offset is guaranteed to hold the truth "
		"if the clocks did what the model says; exact values for every moment are in "
		"clocks.json.",
	.group = { &sync_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_read, &options_match, &options_force,
		   &options_common },
};
