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
#include "print.h"
#include "truth.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is to be written, and what has been. */
struct outputs {
	struct usk_output clocks;
	struct messages messages;
	const char *clocks_path, *messages_path, *merge_path;
	bool force;
};

static enum usk_status outputs_open(struct outputs *o, const struct args *args, struct usk_err *err)
{
	memset(o, 0, sizeof *o);
	o->clocks.fd = -1;
	o->clocks_path = args_string(args, "output");
	o->messages_path = args_string(args, "messages");
	o->force = args_flag(args, "force");
	enum usk_status status = USK_OK;
	if (o->clocks_path) {
		status = usk_output_open(&o->clocks, o->clocks_path, o->force, err);
	}
	if (!status && o->messages_path) {
		status = messages_open(&o->messages, o->messages_path, o->force, err);
	}
	if (!status && o->merge_path) {
		/* usk_merge() opens it much later: ask now, so that no work is lost. */
		struct usk_output trial;
		status = usk_output_open(&trial, o->merge_path, o->force, err);
		if (!status) {
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

static enum usk_status write_all(struct outputs *o, struct usk_trace **trace, size_t n,
				 const struct usk_clocks *c, const char *json,
				 struct progress *progress, const struct args *args,
				 struct usk_err *err)
{
	enum usk_status status = USK_OK;
	(void)trace, (void)n, (void)progress, (void)args;
	if (!status && o->messages_path) {
		status = messages_commit(&o->messages, c, err);
	}
	if (!status && o->clocks_path) {
		usk_output_write(&o->clocks, json, strlen(json));
		status = usk_output_commit(&o->clocks, err);
	}
	return status;
}

static int compare_with_truth(const char *path, const struct usk_clocks *c, FILE *out)
{
	struct usk_err err;
	struct truth *truth;
	if (truth_open(path, &truth, &err)) {
		return say_error(&err);
	}
	int status = EXIT_DONE;
	for (size_t i = 0; i < c->n_clocks && !status; i++) {
		struct truth_score score;
		if (c->clock[i].quality == USK_REFERENCE) {
			continue;
		}
		if (truth_compare(truth, c, i, &score, &err)) {
			status = say_error(&err);
		} else {
			print_score(out, &c->clock[i], &score);
		}
	}
	truth_free(truth);
	return status;
}

static void print_written(const struct outputs *o)
{
	const char *path[] = { o->clocks_path, o->messages_path, o->merge_path };
	const char *word = "Wrote";
	for (size_t i = 0; i < COUNT(path); i++) {
		if (path[i]) {
			printf("%s %s", word, path[i]);
			word = ",";
		}
	}
	if (*word == ',') {
		printf(".\n");
	}
}

/* Say, write, say what was written. */
static int tell(const struct args *args, struct outputs *o, struct usk_trace **trace, size_t n,
		const struct usk_clocks *c, struct progress *progress)
{
	struct usk_err err = { 0 };
	bool json_out = args_flag(args, "json");
	bool table = !json_out && !args_flag(args, "quiet");
	const char *truth = args_string(args, "truth");
	char *json = usk_clocks_to_json(c);
	int status = clocks_status(c);
	if (table) {
		print_clocks(stdout, c);
	}
	if (json_out) {
		fputs(json, stdout);
		for (size_t i = 0; i < c->n_notes; i++) {
			say(args, "unskew: note: %s", c->note[i]);
		}
	}
	if (truth) {
		int failed = compare_with_truth(truth, c, json_out ? stderr : stdout);
		status = failed ? failed : status;
	}
	fflush(stdout);
	if (status != EXIT_FAILED && write_all(o, trace, n, c, json, progress, args, &err)) {
		status = say_error(&err);
	} else if (table && status != EXIT_FAILED) {
		print_written(o);
	}
	free(json);
	return status;
}

static int sync_run(const struct args *args)
{
	struct usk_trace **trace = NULL;
	struct usk_clocks *clocks = NULL;
	struct usk_err err = { 0 };
	struct outputs outputs = { .clocks = { .fd = -1 } };
	struct usk_sync_options options;
	size_t n = 0;
	int status = sync_options(args, true, &options);
	if (!status) {
		status = traces_open(args, 0, &trace, &n);
	}
	if (!status) {
		status = traces_tell(trace, n);
	}
	if (!status && outputs_open(&outputs, args, &err)) {
		status = say_error(&err);
	}
	if (!status) {
		struct progress progress = progress_start(args);
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
			status = tell(args, &outputs, trace, n, clocks, &progress);
		}
	}
	outputs_close(&outputs);
	usk_clocks_free(clocks);
	traces_close(trace, n);
	return status;
}

static const struct option_group sync_output = {
	"Output",
	(const struct option_row[]){
		{ .name = "output",
		  .letter = 'o',
		  .type = OPTION_FILE,
		  .value = "FILE",
		  .help = "write the corrections: clocks.json, which apply and convert read" },
		{ .name = "json", .help = "print clocks.json instead of the table" },
		{ .name = "messages",
		  .type = OPTION_FILE,
		  .value = "FILE",
		  .help = "write every message that was used, as CSV" },
		{ .name = "truth",
		  .type = OPTION_FILE,
		  .value = "FILE",
		  .help = "compare with the truth.json of `unskew simulate`" },
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
	.more = "Traces are captures (pcap, pcapng) or tables of messages (CSV); which, is found "
		"from their content. NAME= names the clock that stamped a trace; otherwise its "
		"file's name does.\n\n"
		"An offset is reference - local: add it to a local stamp. A positive drift is a "
		"clock that runs fast. The band around an offset is guaranteed to hold the truth "
		"if the clocks did what the model says; exact values for every moment are in "
		"clocks.json.",
	.group = { &sync_output, &options_model, &options_match, &options_force, &options_common },
};
