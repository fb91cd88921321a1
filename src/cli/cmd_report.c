/* SPDX-License-Identifier: MIT */
/*
 * cmd_report.c - the answer as a page: one HTML file that needs no network
 *
 * In    traces, or a clocks.json made of them before
 * Out   the page: tables, and what its drawings need of the messages
 * Why   what one mails to others must tell them how far the answer can be trusted, and why
 * Not   estimating (usk_sync()), what a page holds (src/report), drawing (page/)
 */
#include "json.h"
#include "print.h"
#include "clock_show.h"
#include "report/page.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

struct report {
	struct task task;
	const char *path;
	struct usk_output out;
	struct usk_clocks *clocks;
	struct usk_summary summary;
	char *compare;	/* JSON, or NULL */
	char *machines; /* HTML: how good their own clocks are */
	struct usk_notes notes;
};

/* "x/client.json": "client" */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot && dot > base ? kept(usk_format("%.*s", (int)(dot - base), base)) : base;
}

static int read_machine(const char *path, struct clock_report *out)
{
	struct usk_err err = { 0 };
	struct usk_input in;
	if (usk_input_open(&in, path, usk_sniff_json, &err)) {
		return say_error(&err);
	}
	enum usk_status status = usk_input_all(&in, &err);
	if (!status) {
		status = clock_from_json((const char *)in.data, in.have, out, &err);
	}
	if (status) {
		usk_fail_in(&err, "%s", path);
	}
	usk_input_close(&in);
	return status ? say_error(&err) : EXIT_DONE;
}

static void put_machine(FILE *out, const struct clock_report *r, const char *name)
{
	fputs("<h3><bdi>", out);
	put_html(out, name);
	fputs("</bdi></h3>\n", out);
	clock_put_section(out, r, name, 4);
}

/*
 * The section "The machines' own clocks" of the files that --clock names, malloc'ed; "" without
 * any. Each machine needs a name of its own, and no file may be one that the page would replace.
 */
static int report_machines(const struct args *args, const char *output, char **html)
{
	size_t n;
	const char *const *given = args_list(args, "clock", &n);
	const char **path = usk_alloc(n + 1, sizeof *path), **name = usk_alloc(n + 1, sizeof *name);
	struct clock_report *r = usk_alloc(1, sizeof *r);
	int status = EXIT_DONE;
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	for (size_t i = 0; i < n; i++) {
		path[i] = args_split_name(given[i], &name[i]);
		name[i] = name[i] ? name[i] : name_of(path[i]);
		for (size_t k = 0; k < i && !status; k++) {
			status = strcmp(name[i], name[k])
					 ? EXIT_DONE
					 : say_usage("--clock: %s and %s would both be called %s; "
						     "give NAME=FILE",
						     path[k], path[i], name[i]);
		}
	}
	status = status ? status : files_apart(path, n, &output, 1);
	fputs(n ? "<section id=\"unskew-machines\">\n<h2>The machines' own clocks</h2>\n" : "",
	      out);
	for (size_t i = 0; i < n && !status; i++) {
		status = read_machine(path[i], r);
		if (!status) {
			put_machine(out, r, name[i]);
		}
	}
	fputs(n ? "</section>\n" : "", out);
	*html = usk_stream_end(&s);
	free(r);
	free(name);
	free(path);
	return status;
}

/* ---- what this page leaves out --------------------------------------------------------- */

static void count_messages(const struct report *r, uint64_t *total, uint64_t *held)
{
	*total = *held = 0;
	for (size_t i = 0; i < r->summary.n_pairs; i++) {
		const struct usk_summary_pair *p = &r->summary.pair[i];
		for (int back = 0; back < 2 && p->thin; back++) {
			*total += usk_thin_total(p->thin, back);
			*held += usk_thin_held(p->thin, back);
		}
	}
}

static void note_what_is_left_out(struct report *r)
{
	uint64_t total, held;
	const struct usk_summary *s = &r->summary;
	if (!usk_page_built_size) {
		usk_note(&r->notes, "The page has tables and no drawings: this unskew was built "
				    "without npm, which these need. One that was built with it "
				    "draws them from the same traces.");
	}
	if (!s->of_messages) {
		usk_note(&r->notes, "The page was made from clocks.json alone: it draws the "
				    "corridors that stand there, no messages and no delays; "
				    "`unskew report` on the traces has these.");
	}
	if (s->n_shown < s->n_pairs) {
		usk_note(&r->notes,
			 "Of %s pairs of clocks the page has %s: those on the clocks' paths to "
			 "their reference, then the first ones.",
			 unit_count(s->n_pairs).s, unit_count(s->n_shown).s);
	}
	count_messages(r, &total, &held);
	if (held < total) {
		int64_t widest = 0;
		for (size_t i = 0; i < s->n_pairs; i++) {
			int64_t b = s->pair[i].thin ? usk_thin_bucket_ns(s->pair[i].thin) : 0;
			widest = b > widest ? b : widest;
		}
		usk_note(&r->notes,
			 "The page holds %s of %s messages: in every stretch of %s or less those "
			 "of the smallest and of the largest delay each way, so no extreme is "
			 "missing. --full holds them all.",
			 unit_count(held).s, unit_count(total).s, unit_bound(widest).s);
	}
}

/* How far each clock was from the truth, where a simulation knows it. */
static int note_truth(struct report *r)
{
	struct usk_stream s;
	int status = task_scores(&r->task, r->clocks, usk_stream_begin(&s));
	char *text = usk_stream_end(&s);
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;) {
		usk_note(&r->notes, "%s", line);
	}
	free(text);
	return status;
}

/* ---- the work -------------------------------------------------------------------------- */

/* What is asked of traces has no place beside a clocks.json, which has its answer. */
static int no_options_of_traces(const struct args *args, const char *path)
{
	const struct option_group *const *g = args_command(args)->group;
	for (g++; *g && *g != &options_force; g++) {
		for (const struct option_row *row = (*g)->row; row->name; row++) {
			if (args_given(args, row->name)) {
				return say_usage("--%s is for traces; %s has its answer already",
						 row->name, path);
			}
		}
	}
	if (args_flag(args, "compare") || args_flag(args, "full")) {
		return say_usage("--%s needs the traces, not %s",
				 args_flag(args, "full") ? "full" : "compare", path);
	}
	return EXIT_DONE;
}

static enum usk_status compare_all(struct report *r)
{
	struct task *t = &r->task;
	struct usk_comparison *c = NULL;
	struct compared x = { 0 };
	enum usk_status status = usk_compare(t->trace, t->n, &t->options, NULL, 0, &c, &t->err);
	x.c = c;
	status = status ? status : compare_measure(t->truth, &x, &t->err);
	if (!status) {
		struct usk_stream text;
		compare_print_json(usk_stream_begin(&text), &x);
		r->compare = usk_stream_end(&text);
	}
	free(x.errors);
	usk_comparison_free(c);
	return status;
}

static int open_page(struct report *r)
{
	struct task *t = &r->task;
	return usk_output_open(&r->out, r->path, args_flag(t->args, "force"), &t->err)
		       ? say_error(&t->err)
		       : EXIT_DONE;
}

static int answer_traces(struct report *r)
{
	struct task *t = &r->task;
	int status = task_open(t, NULL);
	status = status ? status : open_page(r);
	if (status) {
		return status;
	}
	usk_summary_new(&r->summary, args_flag(t->args, "full"));
	t->options.method = args_string(t->args, "method");
	t->options.messages = &r->summary.sink;
	enum usk_status done = usk_sync(t->trace, t->n, &t->options, &r->clocks, &t->err);
	t->options.messages = NULL;
	return task_done(t, done || !args_flag(t->args, "compare") ? done : compare_all(r));
}

static int answer_clocks(struct report *r, const char *path)
{
	int status = clocks_read(path, &r->clocks);
	if (status) {
		return status;
	}
	usk_summary_alone(&r->summary, r->clocks);
	return open_page(r);
}

/* ---- the page -------------------------------------------------------------------------- */

static enum usk_status write_page(struct report *r, struct usk_err *err)
{
	size_t n;
	const char *const *typed = args_typed(r->task.args, &n);
	const char **command = usk_alloc(n + 2, sizeof *command);
	command[0] = "unskew";
	command[1] = "report";
	for (size_t i = 0; i < n; i++) {
		command[i + 2] = typed[i];
	}
	char *tables = kept(report_answer(r->clocks, r->notes.note, r->notes.n));
	const struct usk_page page = {
		.command = command,
		.n_command = n + 2,
		.clocks = r->clocks,
		.summary = &r->summary,
		.compare = r->compare,
		.note = r->notes.note,
		.n_notes = r->notes.n,
		.title = kept(usk_format("unskew: %s", kept(report_names(r->clocks)))),
		.answer = kept(usk_format("%s%s", tables, r->machines)),
	};
	usk_page_write(&r->out, &page);
	free(command);
	return usk_output_commit(&r->out, err);
}

static void print_json(const struct report *r, uint64_t bytes)
{
	uint64_t total, held;
	count_messages(r, &total, &held);
	json_t *clocks = json_array();
	for (size_t i = 0; i < r->clocks->n_clocks; i++) {
		const struct usk_clock *k = &r->clocks->clock[i];
		json_array_append_new(clocks, json_pack("{s:o,s:s}", "name", json_shown(k->name),
							"quality", usk_quality_name(k->quality)));
	}
	json_t *root = json_pack("{s:i,s:o,s:I,s:s,s:b,s:{s:I,s:I},s:o,s:o,s:o}", "unskew_report",
				 1, "path", json_shown(r->path), "bytes", (json_int_t)bytes,
				 "source", r->summary.of_messages ? "traces" : "clocks", "drawings",
				 usk_page_built_size > 0, "messages", "used", (json_int_t)total,
				 "held", (json_int_t)held, "clocks", clocks, "notes",
				 json_list(r->clocks->note, r->clocks->n_notes), "page_notes",
				 json_list(r->notes.note, r->notes.n));
	json_print(stdout, root, JSON_INDENT(2));
}

static int tell(struct report *r)
{
	struct usk_err err = { 0 };
	int status = note_truth(r);
	if (status) {
		return status;
	}
	note_what_is_left_out(r);
	if (write_page(r, &err)) {
		return say_error(&err);
	}
	uint64_t bytes = r->out.written;
	if (args_flag(r->task.args, "json")) {
		print_json(r, bytes);
	} else if (!args_flag(r->task.args, "quiet")) {
		printf("%s\n", printable(kept(report_sentence(r->clocks))));
		print_notes(stdout, r->clocks->note, r->clocks->n_notes);
		print_notes(stdout, r->notes.note, r->notes.n);
		printf("Wrote %s.\n", r->path);
	}
	return clocks_status(r->clocks);
}

static int report_run(const struct args *args)
{
	struct report r = { .path = args_string(args, "output") };
	bool clocks = false;
	if (!r.path) {
		return say_usage("-o FILE is missing: the page to write, as report.html");
	}
	int status = operands_apart(args);
	for (size_t i = 0; i < args_operands(args) && !status; i++) {
		clocks = clocks_file(args_operand(args, i));
		if (clocks && args_operands(args) > 1) {
			status = say_usage("give %s alone, it is a clocks.json, or traces alone",
					   args_operand(args, i));
		}
	}
	status = status ? status : report_machines(args, r.path, &r.machines);
	if (!status && clocks) {
		status = no_options_of_traces(args, args_operand(args, 0));
	}
	status = status ? status : task_begin(&r.task, args);
	status = status ? status : task_truth(&r.task, NULL);
	if (!status) {
		status = clocks ? answer_clocks(&r, args_operand(args, 0)) : answer_traces(&r);
	}
	status = status ? status : tell(&r);
	usk_output_close(&r.out);
	usk_summary_free(&r.summary);
	usk_clocks_free(r.clocks);
	usk_notes_free(&r.notes);
	free(r.compare);
	free(r.machines);
	return task_end(&r.task, status);
}

static const struct option_group report_output = {
	"Output",
	{
		{ "output", "the page to write", PATH("FILE"), .letter = 'o' },
		{ "compare", "add every estimator side by side, as compare does", FLAG },
		{ "full",
		  "the page holds every message, which takes 0.15 KB of memory each; otherwise "
		  "100,000 at most, no extreme left out",
		  FLAG },
		{ "truth", "compare with the truth.json of `unskew simulate`", PATH("FILE") },
		{ "clock",
		  "what `unskew clock --json` printed on one of the machines: the page has its "
		  "tables and histograms, too",
		  PATH("[NAME=]FILE"), .repeated = true },
		{ "json", "print what was done as JSON", FLAG },
	},
};

const struct command cmd_report = {
	.name = "report",
	.run = report_run,
	.operands = "CLOCKS|[NAME=]TRACE... -o FILE",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.traces = 1,
	.help = "the answer as a page: one HTML file with corridors, delays, and what they mean",
	.more = "Given traces, it does what sync does, and the page holds what its drawings need "
		"of the messages. Given a clocks.json, which sync -o wrote, the page has the "
		"clocks and the corridors that stand there.\n\n"
		"The page is one file that needs no network. Of very many messages it holds up to "
		"100,000: of each stretch of time, a hundredth of the trace at most for the pairs "
		"that tie clocks to their reference, those of the smallest and of the largest "
		"delay each way. So a corridor looks neither wider nor narrower than it is. Counts "
		"of delays are of all messages.\n\n"
		"The page tells names of clocks, paths of traces, and the command line; nothing "
		"else of the machine but what --clock gives.",
	.group = { &report_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_read, &options_match, &options_force,
		   &options_common },
};
