/* SPDX-License-Identifier: MIT */
/*
 * cmd_sync.c - the main job: traces in, one clock for all of them out
 *
 * In    traces of machines that exchanged messages
 * Out   the table of clocks on stdout; clocks.json, messages and a merged capture where asked for
 * Why   files are refused before the work and appear after it, whole or not at all
 * Not   any estimating: usk_sync() does that
 */
#include "explain.h"
#include "print.h"
#include "messages.h"
#include "rows.h"
#include "stamps.h"
#include "flow/share.h"
#include "read/trace.h"

#include <string.h>
#include <unistd.h>

/* What is to be written, in this order, and what has been: where a clock cannot be corrected, the
 * first ones stand already. */
enum { CLOCKS, PROOF, MESSAGES, MERGE, TIMELINE, OUTPUTS };

struct sync {
	struct task task;
	struct usk_clocks *c;
	const char *path[OUTPUTS];
	bool written[OUTPUTS];
	struct usk_output out[MERGE]; /* of those before */
	char *proof;
	struct messages messages;
};

static const char *const output_option[OUTPUTS] = { "output", "proof", "messages", "merge",
						    "timeline" };

static const char *output_path(const struct args *args, int i)
{
	return args_has(args, output_option[i]) ? args_string(args, output_option[i]) : NULL;
}

static void output_try(const struct args *args, const char *path)
{
	struct usk_output trial = { 0 };
	must(usk_output_open(&trial, path, args_flag(args, "force"), &why));
	usk_output_close(&trial);
}

void sync_outputs_try(const struct args *args)
{
	operands_apart(args);
	for (int i = 0; i < OUTPUTS; i++) {
		if (output_path(args, i)) {
			output_try(args, output_path(args, i));
		}
	}
}

static void outputs_open(struct sync *s)
{
	const struct args *args = s->task.args;
	for (int i = 0; i < OUTPUTS; i++) {
		const char *path = s->path[i] = output_path(args, i);
		if (path && i < MERGE) {
			must(usk_output_open(&s->out[i], path, args_flag(args, "force"), &why));
		} else if (path) {
			/* These are opened much later: ask now, so that no work is lost. */
			output_try(args, path);
		}
	}
	messages_open(&s->messages, s->path[MESSAGES]);
}

static enum usk_status write_together(struct sync *s, const uint32_t *clock, int which,
				      struct usk_notes *notes)
{
	struct task *t = &s->task;
	const struct usk_write_options options = {
		.force = args_flag(t->args, "force"),
		.allow_unbounded = args_flag(t->args, "allow-unbounded"),
		.comments = comments_option(t->args),
		.progress = progress_show,
	};
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < t->n && !status; i++) {
		status = usk_trace_rewind(t->trace[i], &why);
	}
	return status ? status
		      : (which == MERGE ? usk_merge : timeline_match_and_draw)(
				t->trace, clock, t->n, s->c, s->path[which], &options, notes, &why);
}

static enum usk_status write_all(struct sync *s, const char *json)
{
	struct task *t = &s->task;
	static struct usk_notes notes;
	enum usk_status status = USK_OK;
	uint32_t *clock = kept(usk_alloc(t->n, sizeof *clock));
	for (size_t i = 0; i < t->n; i++) {
		clock[i] = i < s->c->n_traces ? s->c->trace[i].clock : USK_NO_CLOCK;
	}
	for (int i = 0; i < OUTPUTS && !status; i++) {
		if (s->path[i] && i == CLOCKS) {
			usk_output_write(&s->out[i], json, strlen(json));
			status = usk_output_commit(&s->out[i], &why);
		} else if (s->path[i] && i == PROOF) {
			usk_output_write(&s->out[i], s->proof, strlen(s->proof));
			status = usk_output_commit(&s->out[i], &why);
		} else if (s->path[i] && i == MESSAGES) {
			status = messages_commit(&s->messages, s->c, &s->out[i]);
		} else if (s->path[i]) {
			status = write_together(s, clock, i, &notes);
		}
		s->written[i] = s->path[i] && !status;
	}
	progress_end();
	say_notes(t->args, notes.note, notes.n);
	return status;
}

static void say_written(const struct sync *s)
{
	const char *all = NULL;
	for (int i = 0; i < OUTPUTS; i++) {
		if (s->written[i]) {
			all = all ? kept(usk_format("%s, %s", all, s->path[i])) : s->path[i];
		}
	}
	if (all) {
		say(s->task.args, "Wrote %s.", all);
	}
}

/* The clock whose corridor is drawn, USK_NO_CLOCK for none; on a terminal, or where asked for. */
static uint32_t choose_plot(const struct args *args, const struct usk_clocks *c)
{
	const char *name = args_string(args, "plot");
	uint32_t clock = USK_NO_CLOCK;
	if (name) {
		clock = usk_clocks_find(c, name, NULL, NULL);
		if (clock == USK_NO_CLOCK) {
			say_usage("--plot %s: there is no such clock; \"%s\" is one", name,
				  c->clock[0].name);
		}
	} else if (is_terminal(STDOUT_FILENO) && !args_flag(args, "no-plot")) {
		clock = plot_choose(c);
	}
	return clock;
}

static void draw(const struct args *args, const struct usk_clocks *c, uint32_t clock)
{
	const char *none = plot_clock(stdout, c, clock, plot_columns(stdout), plot_unicode());
	if (none && args_given(args, "plot")) {
		say(args, "unskew: note: --plot %s draws nothing: %s", args_string(args, "plot"),
		    none);
	}
}

static bool wants(const struct args *args, const char *option)
{
	return args_has(args, option) && args_given(args, option);
}

static bool wants_rows(const struct args *args)
{
	return args_has(args, "rows") && (args_given(args, "rows") || args_given(args, "format"));
}

/* Records are looked for in traces that other ranks have, too. */
static void bring_traces(struct task *t)
{
	for (size_t i = 0; i < t->n && t->share; i++) {
		t->trace[i] = usk_share_trace(t->share, i);
	}
}

/* Write, then say: a reader of standard output that goes away takes no file with it. */
static int tell(struct sync *s)
{
	const struct args *args = s->task.args;
	const struct usk_clocks *c = s->c;
	bool rows = wants_rows(args), json_out = args_flag(args, "json"), data = json_out || rows;
	bool table = !data && !args_flag(args, "quiet");
	uint32_t drawn = choose_plot(args, c);
	char *json = data || s->path[CLOCKS] ? kept(usk_clocks_to_json(c)) : NULL;
	static struct located where;
	struct truth_score *score;
	enum usk_status status = task_scores(&s->task, c, &score);
	status = status ? status : write_all(s, json);
	if (table) {
		print_wants(c, &where);
		if (where.n) {
			bring_traces(&s->task);
		}
		must(located_find(&where, c, s->task.trace, s->task.n, &why));
		print_clocks(stdout, c, &where);
	}
	if (table && drawn != USK_NO_CLOCK) {
		draw(args, c, drawn);
	}
	if (rows) {
		rows_print(stdout, json, (size_t)args_int(args, "rows"),
			   (size_t)args_int(args, "format"));
	} else if (json_out) {
		fputs(json, stdout);
	}
	if (data) {
		say_notes(args, c->note, c->n_notes);
	}
	task_print_scores(data ? stderr : stdout, c, score);
	if (!status && wants(args, "explain")) {
		size_t n;
		const char *const *stamp = args_list(args, "explain", &n);
		status = explain_stamps(s->c, s->task.trace, s->task.n, s->proof, stamp, n, false,
					data ? stderr : stdout);
	}
	say_written(s);
	must(status);
	return clocks_status(c);
}

/* Only captures can be merged; of spans and collectives no record is a message that the verifier could find. */
static void check_traces(const struct task *t)
{
	for (size_t i = 0; i < t->n; i++) {
		enum usk_trace_class class = usk_trace_class(t->trace[i]);
		const char *path = usk_trace_path(t->trace[i]);
		if (class != USK_TRACE_CAPTURE && wants(t->args, "merge")) {
			say_usage("--merge: %s is no capture; only captures can be merged", path);
		}
		if ((class == USK_TRACE_SPANS || class == USK_TRACE_COLLECTIVES) &&
		    wants(t->args, "proof")) {
			say_usage("--proof: no record in %s is a message; proofs are of captures, "
				  "and of tables of messages, events and exchanges",
				  path);
		}
	}
}

static void check_forms(const struct args *args)
{
	if (args_flag(args, "json") && wants_rows(args)) {
		say_usage(
			"--json prints all of clocks.json, --rows a part of it as a table: choose "
			"one");
	}
}

int sync_of(const struct args *args, void (*open)(struct task *t))
{
	static struct sync s;
	struct task *t = &s.task;
	task_begin(t, args);
	open(t);
	check_forms(args);
	check_traces(t);
	if (!t->share || !t->share->rank) {
		outputs_open(&s);
	}
	t->options.method = args_string(args, "method");
	t->options.messages = s.path[MESSAGES] ? &s.messages.sink : NULL;
	t->options.proof = s.path[PROOF] || wants(args, "explain") ? &s.proof : NULL;
	must(usk_sync_shared(t->trace, t->n, &t->options, t->share, &s.c, &why));
	progress_end();
	if (!s.c) { /* another rank has it */
		return EXIT_DONE;
	}
	return task_end(t, tell(&s));
}

static int sync_run(const struct args *args)
{
	return sync_of(args, task_open_operands);
}

const struct option_group options_answer = {
	"Output",
	{
		{ "output", "write the corrections: clocks.json, which apply and convert read",
		  PATH("FILE"), .letter = 'o' },
		{ "json", "print clocks.json instead of the table", FLAG },
		{ "rows", "print these instead of the table, one a line, for scripts",
		  CHOICE("clocks|pairs|knots|jumps|outliers"), .initial = "clocks" },
		{ "format", "how --rows are written; stated alone, rows of clocks",
		  CHOICE("csv|tsv|json"), .initial = "csv" },
		{ "plot",
		  "draw the corridor of CLOCK below the table; on a terminal that of the clock "
		  "with the largest error bound is drawn anyway",
		  TEXT("CLOCK") },
		{ "no-plot", "do not draw", FLAG },
		{ "messages", "write every message that was used, as CSV", PATH("FILE") },
	},
};

static const struct option_group sync_output = {
	"Output that needs the traces",
	{
		{ "proof",
		  "write which messages imply the bounds, and how, for unskew-verify to check "
		  "against the traces and --output",
		  PATH("FILE") },
		{ "explain",
		  "say which packets bound this stamp of a clock on the reference's clock, and "
		  "how; the numbers are those that Wireshark shows. In the bracket of a step: how "
		  "it shows. Given twice: which was first, too",
		  TEXTS("CLOCK:STAMP") },
		{ "merge", "write one pcapng of all captures in corrected order", PATH("FILE") },
		{ "comments",
		  "which packets of --merge get their recorded stamp in a comment: all, those "
		  "whose stamp changed, or none; needed: those whose stamp does not follow from "
		  "the corrected one, by what each interface says and --output",
		  CHOICE("all|changed|needed|none"), .initial = "needed" },
		{ "timeline",
		  "all events as Chrome trace JSON, for Perfetto or chrome://tracing: a process "
		  "per clock, messages as arrows",
		  PATH("FILE") },
		{ "allow-unbounded",
		  "for --merge and --timeline: keep packets of clocks without bounds, as recorded",
		  FLAG },
		{ "truth", "compare with the truth.json of `unskew simulate`", PATH("FILE") },
	},
};

static const char *formats(void)
{
	const char *all = kept(usk_formats(USK_FORMATS_READ));
	return kept(usk_format(
		"Traces are %s, packed or not; the format is found from their content.", all));
}

const struct command cmd_sync = {
	.name = "sync",
	.run = sync_run,
	TRACES("[NAME=]TRACE...", 1, 1),
	.example = {
		{ "two captures of the same traffic: how far the clocks were off, and a table for all other commands", "sync client.pcap server.pcap -o clocks.json" },
		{ "rotated files of one host, and one capture of all in true order for Wireshark", "sync web='web-*.pcap' db=db.pcap --merge merged.pcapng" },
		{ "clocks that nobody steers, by a reference of your choice, over the ten minutes that matter", "sync traces/ -r db -m wander=0.1 --from 2026-11-22T10:00:00Z --to 2026-11-22T10:10:00Z" },
	},
	.brief = { "output", "merge", "reference", "model", "from", "to", "min-delay", "messages", "json", "force" },
	.help = "compute every clock's offset and drift from the traces, with guaranteed error "
		"bounds",
	.formats = formats,
	.more = "NAME= names the clock that stamped a trace; otherwise its "
		"file's name does. Tables name their clocks themselves. Captures with the same "
		"name have the same clock: those of a host's interfaces, or files that were "
		"rotated, in any order: NAME=a.pcap NAME=b.pcap, NAME=FOLDER, or a pattern in "
		"quotes, NAME='a-*.pcap'. If interfaces have clocks of their own, separate them "
		"with --clock-of.\n\n"
		"In CTF traces, the kernel's network events with headers are packets; MPI, older "
		"TCP add-ons and ROS 2 are known; --send and --recv name any other event. In OTF2 "
		"traces each process is a clock, NAME/PROCESS.\n\n"
		"Messages between any two clocks are used: a clock need not talk to the reference, "
		"a chain of others is enough.\n\n"
		"An offset is reference - local: add it to a local stamp. A positive drift is a "
		"clock that runs fast. The table has the offset in the middle of the trace; for a "
		"clock that was stepped, in the middle of the stretch between steps with the most "
		"messages. The true offset lies within \xc2\xb1 of it if the clocks kept to the "
		"model, which the last lines state; this is no standard deviation. clocks.json has "
		"exact values for every moment.\n\n"
		"The quality of a clock is reference; bounded, from both sides; one-sided, as "
		"messages went in one direction only; absent, as no message connects it with "
		"another clock; or contradicted, as messages contradict each other under the "
		"model.",
	.group = { &options_answer, &sync_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_read, &options_match, &options_force,
		   &options_common },
};
