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
#include "explain.h"
#include "report/page.h"
#include "write/write.h"

#include <string.h>

struct report {
	struct task task;
	const char *path;
	struct usk_output out;
	struct usk_clocks *clocks;
	struct usk_summary summary;
	char *compare;		   /* JSON, or NULL */
	char *machines;		   /* HTML: how good their own clocks are */
	char *explained;	   /* HTML: why a bound holds */
	struct truth_score *score; /* NULL: nobody knows */
	struct usk_notes notes;
};

/* "x/client.json": "client" */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot && dot > base ? kept(usk_format("%.*s", (int)(dot - base), base)) : base;
}

static void read_machine(const char *path, struct clock_report *out)
{
	static struct usk_input in;
	must(usk_input_open(&in, path, usk_sniff_json, &why));
	enum usk_status status = usk_input_all(&in, &why);
	must_in(status ? status : clock_from_json((const char *)in.data, in.have, out, &why), path);
	usk_input_close(&in);
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
static char *report_machines(const struct args *args, const char *output)
{
	size_t n;
	const char *const *given = args_list(args, "clock", &n);
	const char **path = kept(usk_alloc(n + 1, sizeof *path));
	const char **name = kept(usk_alloc(n + 1, sizeof *name));
	struct clock_report *r = kept(usk_alloc(1, sizeof *r));
	static struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	for (size_t i = 0; i < n; i++) {
		path[i] = args_split_name(given[i], &name[i]);
		name[i] = name[i] ? name[i] : name_of(path[i]);
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(name[i], name[k])) {
				say_usage("--clock: %s and %s would both be called %s; give "
					  "NAME=FILE",
					  path[k], path[i], name[i]);
			}
		}
	}
	files_apart(path, n, &output, 1);
	fputs(n ? "<section id=\"unskew-machines\">\n<h2>The machines' own clocks</h2>\n" : "",
	      out);
	for (size_t i = 0; i < n; i++) {
		read_machine(path[i], r);
		put_machine(out, r, name[i]);
	}
	fputs(n ? "</section>\n" : "", out);
	return usk_stream_end(&s);
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
		usk_note(&r->notes, "The page has tables and no drawings, as this unskew was built "
				    "without npm, which drawings need.");
	}
	if (!s->of_messages) {
		usk_note(&r->notes,
			 "The page was made from clocks.json alone, so it draws no messages and no "
			 "delays; run `unskew report` on the traces for these.");
	}
	if (s->n_shown < s->n_pairs) {
		usk_note(&r->notes,
			 "Of %s pairs of clocks the page shows %s: those on the clocks' paths to "
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
			 "The page holds %s of %s messages: of every stretch of %s or less those "
			 "with the smallest and the largest delay in each direction, so no extreme "
			 "is missing. --full holds them all.",
			 unit_count(held).s, unit_count(total).s, unit_bound(widest).s);
	}
}

/* ---- the work -------------------------------------------------------------------------- */

/* What is asked of traces has no place beside a clocks.json, which has its answer. */
static void no_options_of_traces(const struct args *args, const char *path)
{
	const struct option_group *const *g = args_command(args)->group;
	for (g++; *g && *g != &options_force; g++) {
		for (const struct option_row *row = (*g)->row; row->name; row++) {
			if (args_given(args, row->name)) {
				say_usage("--%s is for traces; %s has its answer already",
					  row->name, path);
			}
		}
	}
	static const char *const needs[] = { "full", "compare", "explain" };
	for (size_t i = 0; i < COUNT(needs); i++) {
		if (args_given(args, needs[i])) {
			say_usage("--%s needs the traces, not %s", needs[i], path);
		}
	}
}

static void compare_all(struct report *r)
{
	struct task *t = &r->task;
	static struct compared x;
	static struct usk_comparison *c;
	static struct usk_stream text;
	must(usk_compare(t->trace, t->n, &t->options, NULL, 0, &c, &why));
	must(compare_measure(c, t->truth, &x));
	compare_print_json(usk_stream_begin(&text), &x);
	r->compare = usk_stream_end(&text);
}

/* The section "Why this bound holds", malloc'ed. */
static char *explain_all(const struct report *r, const char *proof)
{
	const struct task *t = &r->task;
	static struct usk_stream s;
	size_t n;
	const char *const *stamp = args_list(t->args, "explain", &n);
	FILE *out = usk_stream_begin(&s);
	fputs("<section id=\"unskew-explained\">\n<h2>Why these bounds hold</h2>\n<p>Each line "
	      "down is a clock, with its stamps in order of time, not to scale. An arrow is a "
	      "message: it was received after it was sent. Along a thick line the clock's rate "
	      "carries a bound from one stamp to another.</p>\n",
	      out);
	must(explain_stamps(r->clocks, t->trace, t->n, proof, stamp, n, true, out));
	fputs("</section>\n", out);
	return usk_stream_end(&s);
}

static void open_page(struct report *r)
{
	must(usk_output_open(&r->out, r->path, args_flag(r->task.args, "force"), &why));
}

static void answer_traces(struct report *r)
{
	struct task *t = &r->task;
	task_open(t, NULL);
	open_page(r);
	usk_summary_new(&r->summary, args_flag(t->args, "full"));
	t->options.method = args_string(t->args, "method");
	t->options.messages = &r->summary.sink;
	bool why_so = args_given(t->args, "explain");
	char *proof = NULL;
	t->options.proof = why_so ? &proof : NULL;
	must(usk_sync(t->trace, t->n, &t->options, &r->clocks, &why));
	t->options.messages = NULL;
	t->options.proof = NULL;
	r->explained = why_so ? explain_all(r, kept(proof)) : NULL;
	if (args_flag(t->args, "compare")) {
		compare_all(r);
	}
	progress_end();
}

static void answer_clocks(struct report *r, const char *path)
{
	r->clocks = clocks_read(path);
	usk_summary_alone(&r->summary, r->clocks);
	open_page(r);
}

/* ---- the page -------------------------------------------------------------------------- */

static void write_page(struct report *r)
{
	size_t n;
	const char *const *typed = args_typed(r->task.args, &n);
	const char **command = kept(usk_alloc(n + 2, sizeof *command));
	command[0] = "unskew";
	command[1] = "report";
	memcpy(command + 2, typed, n * sizeof *command);
	const char *names = kept(report_names(r->clocks));
	const char *tables = kept(report_answer(r->clocks, r->score, r->notes.note, r->notes.n));
	const struct usk_page page = {
		.command = command,
		.n_command = n + 2,
		.clocks = r->clocks,
		.summary = &r->summary,
		.compare = r->compare,
		.note = r->notes.note,
		.n_notes = r->notes.n,
		.title = kept(usk_format("unskew: %s", names)),
		.answer = kept(usk_format("%s%s%s", tables, r->explained ? r->explained : "",
					  r->machines)),
	};
	usk_page_write(&r->out, &page);
	must(usk_output_commit(&r->out, &why));
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
	must(task_scores(&r->task, r->clocks, &r->score));
	note_what_is_left_out(r);
	write_page(r);
	uint64_t bytes = r->out.written;
	if (args_flag(r->task.args, "json")) {
		print_json(r, bytes);
	} else if (!args_flag(r->task.args, "quiet")) {
		printf("%s\n", printable(kept(report_sentence(r->clocks))));
		print_notes(stdout, r->clocks->note, r->clocks->n_notes);
		print_notes(stdout, r->notes.note, r->notes.n);
		task_print_scores(stdout, r->clocks, r->score);
	}
	say(r->task.args, "Wrote %s.", r->path);
	return clocks_status(r->clocks);
}

static int report_run(const struct args *args)
{
	static struct report r;
	bool clocks = false;
	r.path = args_string(args, "output");
	if (!r.path) {
		say_usage("-o FILE is missing: the page to write, as report.html");
	}
	operands_apart(args);
	for (size_t i = 0; i < args_operands(args); i++) {
		clocks = clocks_file(args_operand(args, i));
		if (clocks && args_operands(args) > 1) {
			say_usage("%s holds clocks, it is no trace: give it alone, or give traces "
				  "only",
				  args_operand(args, i));
		}
	}
	r.machines = report_machines(args, r.path);
	if (clocks) {
		no_options_of_traces(args, args_operand(args, 0));
	}
	task_begin(&r.task, args);
	task_truth(&r.task, NULL);
	if (clocks) {
		answer_clocks(&r, args_operand(args, 0));
	} else {
		answer_traces(&r);
	}
	return task_end(&r.task, tell(&r));
}

static const struct option_group report_output = {
	"Output",
	{
		{ "output", "the page to write", PATH("FILE"), .letter = 'o' },
		{ "compare", "add every estimator side by side, as compare does", FLAG },
		{ "full",
		  "keep every message in the page, at 0.15 KB of memory each; otherwise 100,000 at "
		  "most, all extremes among them",
		  FLAG },
		{ "explain",
		  "draw which packets bound this stamp of a clock on the reference's clock, and "
		  "how",
		  TEXTS("CLOCK:STAMP") },
		{ "truth", "compare with the truth.json of `unskew simulate`", PATH("FILE") },
		{ "clock",
		  "also show the tables and histograms of this file, which `unskew clock --json` "
		  "printed on one of the machines",
		  PATH("[NAME=]FILE"), .repeated = true },
		{ "json", "print a summary as JSON", FLAG },
	},
};

const struct command cmd_report = {
	.name = "report",
	.run = report_run,
	TRACES("CLOCKS|[NAME=]TRACE... -o FILE", 1, 1),
	.example = {
		{ "a page for a colleague who has only a browser", "report client.pcap server.pcap -o page.html" },
		{ "with all methods side by side", "report client.pcap server.pcap --compare -o page.html" },
		{ "with every message, by the clock of the database", "report traces/ -r db --full -o page.html" },
	},
	.brief = { "output", "compare", "full", "reference", "model", "from", "to", "force" },
	.help = "one HTML page to send to colleagues: corridors, delays, and what they mean",
	.more = "Given traces, it does what sync does, and draws their messages. Given a "
		"clocks.json, which sync -o wrote, it draws the clocks and corridors in it.\n\n"
		"The page is one file that needs no network. Of very many messages it keeps up to "
		"100,000: of each stretch of time (at most a hundredth of the trace, for pairs on "
		"the path to a reference) those with the smallest and the largest delay in each "
		"direction. So a corridor looks neither wider nor narrower than it is. Histograms "
		"of delays count all messages.\n\n"
		"The page contains the names of clocks, the paths of traces, and the command line; "
		"nothing else of this machine but what --clock adds.",
	.group = { &report_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_log, &options_read, &options_match, &options_force,
		   &options_common },
};
