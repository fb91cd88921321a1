/* SPDX-License-Identifier: MIT */
/*
 * cmd_history.c - operations of many machines on one clock, for checkers of consistency
 *
 * In    clocks.json; files of operations, stamped by their clients' clocks
 * Out   the history in a checker's form; how much of the order of operations is certain
 * Why   a verdict that rests on the order of two machines' stamps is worth what their clocks are worth
 * Not   the verdict
 */
#include "history/history.h"
#include "json.h"
#include "print.h"
#include "twice.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

struct making {
	const struct args *args;
	struct stamps stamps;
	struct usk_history h;
	uint32_t *clock;  /* of h.clock: number in the table of clocks */
	int64_t *step_ns; /* by clock of the table: what stamps of operations are rounded down to */
	uint32_t *group;  /* by clock of the table: of its epoch 0 */
	struct twice twice; /* stamps that do not tell the order */
	uint32_t reference; /* of the island that most operations are of */
	struct usk_interval *x;
	int64_t widest_ns;	   /* USK_NONE: no stamp has both bounds */
	uint32_t widest, coarsest; /* clocks: of that, and of the coarsest stamps */
	uint64_t apart;		   /* operations of other islands */
	uint64_t open_calls, open_returns;
	struct usk_ordered ordered;
	struct usk_output out;
};

/* ---- reading ------------------------------------------------------------------------------- */

static void read_file(struct making *m, uint32_t file, struct usk_history_options *opt)
{
	struct usk_input in;
	const char *path = args_split_name(args_operand(m->args, file), &opt->clock);
	must_in(usk_input_open(&in, path, usk_sniff_text, &why), path);
	must_in(usk_history_read(&in, file, opt, &m->h, &why), path);
	usk_input_close(&in);
}

static void read_files(struct making *m)
{
	struct usk_history_options opt = { .nodes = args_string(m->args, "nodes"),
					   .read = &m->stamps.read };
	opt.clock_of = args_list(m->args, "clock-of", &opt.n_clock_of);
	must(usk_history_check(&opt, &why));
	for (uint32_t i = 1; i < args_operands(m->args); i++) {
		read_file(m, i, &opt);
	}
}

/* "ops.edn, line 17" */
static const char *where(const struct making *m, const struct usk_op *op)
{
	const char *name;
	return kept(usk_format("%s, line %llu",
			       args_split_name(args_operand(m->args, op->file), &name),
			       (unsigned long long)op->line));
}

/* ---- clocks --------------------------------------------------------------------------------- */

static void find_clocks(struct making *m)
{
	const struct usk_clocks *c = m->stamps.clocks;
	m->clock = kept(usk_alloc(m->h.clock.n + 1, sizeof *m->clock));
	m->group = kept(usk_alloc(c->n_clocks + 1, sizeof *m->group));
	for (size_t i = 0; i < m->h.clock.n; i++) {
		m->clock[i] = usk_clocks_find(c, m->h.clock.text[i], NULL, NULL);
		if (m->clock[i] == USK_NO_CLOCK) {
			say_failed("operations are of %s, and %s has no clock of that name",
				   printable(m->h.clock.text[i]), args_operand(m->args, 0));
		}
	}
	for (size_t k = 0; k < c->n_clocks; k++) {
		m->group[k + 1] = m->group[k] + (uint32_t)c->clock[k].n_set_backs + 1;
	}
}

static const struct usk_clock *clock_of(const struct making *m, const struct usk_op *op)
{
	return &m->stamps.clocks->clock[m->clock[m->h.client[op->client].clock]];
}

/* Unless it is said, the coarsest that they may have been rounded down to: never too fine. */
static void find_steps(struct making *m)
{
	size_t n = m->stamps.clocks->n_clocks;
	struct usk_grid *grid = usk_alloc(n, sizeof *grid);
	for (size_t i = 0; i < m->h.n; i++) {
		const struct usk_op *op = &m->h.op[i];
		struct usk_grid *g = &grid[clock_of(m, op) - m->stamps.clocks->clock];
		const int64_t stamp[] = { op->call_ns, op->return_ns };
		for (size_t k = 0; k < COUNT(stamp); k++) {
			if (stamp[k] != USK_NONE) {
				usk_grid_add(g, stamp[k]);
			}
		}
	}
	m->step_ns = kept(usk_alloc(n + 1, sizeof *m->step_ns));
	for (size_t k = 0; k < n; k++) {
		int64_t step_ns = usk_grid_ns(&grid[k]);
		step_ns = step_ns < SECOND ? step_ns : SECOND;
		m->step_ns[k] = args_given(m->args, "resolution") ? args_int(m->args, "resolution")
								  : step_ns;
		m->coarsest = m->step_ns[k] > m->step_ns[m->coarsest] ? (uint32_t)k : m->coarsest;
	}
	free(grid);
}

/* Clocks that no chain of messages connects have nothing in common: those that most operations are
 * of make the time line. */
static void choose_island(struct making *m)
{
	const struct usk_clocks *c = m->stamps.clocks;
	uint64_t *operations = usk_alloc(c->n_clocks + 1, sizeof *operations);
	for (size_t i = 0; i < m->h.n; i++) {
		operations[clock_of(m, &m->h.op[i])->reference]++;
	}
	for (uint32_t k = 0; k < c->n_clocks; k++) {
		m->reference = operations[k] > operations[m->reference] ? k : m->reference;
	}
	m->apart = m->h.n - operations[m->reference];
	free(operations);
}

/* ---- intervals ------------------------------------------------------------------------------- */

static void note_width(struct making *m, uint32_t clock, const struct usk_stamp *at)
{
	if (at->lo_ns != USK_NONE && at->hi_ns != USK_NONE &&
	    at->hi_ns - at->lo_ns > m->widest_ns) {
		m->widest_ns = at->hi_ns - at->lo_ns;
		m->widest = clock;
	}
}

/* When it was at the earliest, of a call, and at the latest, of a return. */
static struct usk_end end_of(struct making *m, const struct usk_op *op, int64_t local_ns, bool back)
{
	const struct usk_clock *k = clock_of(m, op);
	uint32_t clock = (uint32_t)(k - m->stamps.clocks->clock);
	struct usk_end out = { USK_NO_GROUP, 0, back ? USK_OPEN : -USK_OPEN };
	struct stamps_answer a, edge;
	int64_t epoch = m->stamps.epoch, widest_ns = local_ns;
	if (local_ns == USK_NONE) {
		return out;
	}
	must_in(stamps_at(&m->stamps, clock, local_ns, &a, &why), where(m, op));
	stamps_tell(&m->stamps, clock, local_ns, &a);
	if (a.epoch >= 0 && !twice_in(&m->twice, clock, local_ns)) {
		out.group = m->group[clock] + (uint32_t)a.epoch;
		out.local_ns = local_ns;
	}
	if (a.epoch < 0 || k->reference != m->reference) {
		return out;
	}
	if (twice_beside(&m->twice, clock, back, &widest_ns)) {
		/* Rounded down: it was up to so much later. */
		widest_ns += back ? m->step_ns[clock] - 1 : 0;
		m->stamps.epoch = a.epoch;
		must_in(stamps_at(&m->stamps, clock, widest_ns, &edge, &why), where(m, op));
		m->stamps.epoch = epoch;
		note_width(m, clock, &a.at);
		int64_t bound_ns = twice_bound(&m->twice, m->reference, back,
					       back ? edge.at.hi_ns : edge.at.lo_ns);
		out.bound_ns = bound_ns == USK_NONE ? out.bound_ns : bound_ns;
	}
	return out;
}

static void place(struct making *m, size_t i)
{
	const struct usk_op *op = &m->h.op[i];
	struct usk_interval *x = &m->x[i];
	x->call = end_of(m, op, op->call_ns, false);
	x->back = end_of(m, op, op->return_ns, true);
	bool back = x->call.group == x->back.group && x->call.group != USK_NO_GROUP &&
		    x->back.local_ns < x->call.local_ns && !args_flag(m->args, "bounds");
	if (back || x->back.bound_ns < x->call.bound_ns) {
		say_failed(
			"%s: the operation returns before it was called, by the clock of %s: its "
			"stamps are not of that clock, or it was set back unseen%s",
			where(m, op), clock_of(m, op)->name,
			back ? "; --bounds does without the order of its stamps" : "");
	}
	m->open_calls += x->call.bound_ns == -USK_OPEN;
	m->open_returns += x->back.bound_ns == USK_OPEN && op->end < USK_OP_INFO;
}

static void place_all(struct making *m)
{
	m->x = kept(usk_alloc(m->h.n + 1, sizeof *m->x));
	m->widest_ns = USK_NONE;
	for (size_t i = 0; i < m->h.n; i++) {
		place(m, i);
	}
	(args_flag(m->args, "bounds") ? usk_intervals_widen : usk_intervals_tighten)(m->x, m->h.n);
	usk_intervals_count(m->x, m->h.n, &m->ordered);
}

/* ---- what came out ----------------------------------------------------------------------------- */

static void write_history(struct making *m)
{
	const char *name = args_string(m->args, "form");
	const struct usk_history_form *f = usk_history_forms;
	while (strcmp(f->name, name) != 0) {
		f++;
	}
	enum usk_status status = f->write(&m->h, m->x, &m->out, &why);
	must_in(status, status ? where(m, &m->h.op[why.at]) : NULL);
	must(usk_output_commit(&m->out, &why));
	say(m->args, "Wrote %s.", args_string(m->args, "output"));
}

static uint64_t ended(const struct making *m, enum usk_op_end end)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->h.n; i++) {
		n += m->h.op[i].end == end;
	}
	return n;
}

static size_t processes(const struct making *m)
{
	uint32_t *process = usk_alloc(m->h.n + 1, sizeof *process);
	size_t n = usk_history_processes(&m->h, m->x, process);
	free(process);
	return n;
}

static void tell_open(const struct making *m)
{
	if (m->apart) {
		say(m->args,
		    "unskew: note: no chain of messages connects the clocks of %s operations with "
		    "%s: they are taken to overlap with all of other clocks",
		    unit_count(m->apart).s, m->stamps.clocks->clock[m->reference].name);
	}
	if (m->open_calls || m->open_returns) {
		say(m->args,
		    "unskew: note: the time has no bound on that side of %s calls and %s returns: "
		    "they are taken to overlap with all that other clocks have there",
		    unit_count(m->open_calls).s, unit_count(m->open_returns).s);
	}
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 100.0;
}

static void print_summary(const struct making *m)
{
	const struct usk_ordered *o = &m->ordered;
	uint64_t ok = ended(m, USK_OP_OK), fail = ended(m, USK_OP_FAIL);
	printf("Operations: %s; clients: %s; clocks: %s. Ended ok: %s, failed: %s, not known: "
	       "%s.\n",
	       unit_count(m->h.n).s, unit_count(m->h.n_clients).s, unit_count(m->h.clock.n).s,
	       unit_count(ok).s, unit_count(fail).s, unit_count(m->h.n - ok - fail).s);
	printf("Pairs whose order is certain: %s of %s (%.1f %%). The intervals keep %s of them "
	       "(%.1f %%); bounds as they are keep %s.\n",
	       unit_count(o->certain).s, unit_count(o->pairs).s, percent(o->certain, o->pairs),
	       unit_count(o->kept).s, percent(o->kept, o->certain), unit_count(o->bounds).s);
	if (m->widest_ns != USK_NONE) {
		printf("Widest band of a stamp: %s, of %s.\n", unit_bound(m->widest_ns).s,
		       printable(m->stamps.clocks->clock[m->widest].name));
	}
	if (m->step_ns[m->coarsest] > 1) {
		printf("Coarsest stamps: %s in steps of %s; a return may be as much later.\n",
		       printable(m->stamps.clocks->clock[m->coarsest].name),
		       unit_span(m->step_ns[m->coarsest]).s);
	}
	if (m->h.left_out) {
		printf("Left out, as nobody's operations: lines of the nemesis, %s.\n",
		       unit_count(m->h.left_out).s);
	}
}

static void print_json(const struct making *m)
{
	const struct usk_ordered *o = &m->ordered;
	json_t *root = json_pack(
		"{s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}",
		"unskew_history", 1, "operations", (json_int_t)m->h.n, "clients",
		(json_int_t)m->h.n_clients, "clocks", (json_int_t)m->h.clock.n, "processes",
		(json_int_t)processes(m), "ok", (json_int_t)ended(m, USK_OP_OK), "failed",
		(json_int_t)ended(m, USK_OP_FAIL), "left_out", (json_int_t)m->h.left_out, "apart",
		(json_int_t)m->apart, "open_calls", (json_int_t)m->open_calls, "open_returns",
		(json_int_t)m->open_returns, "pairs", (json_int_t)o->pairs, "certain",
		(json_int_t)o->certain, "kept", (json_int_t)o->kept, "by_bounds",
		(json_int_t)o->bounds, "widest_ns", json_ns(m->widest_ns), "widest_clock",
		json_shown(m->widest_ns == USK_NONE ? NULL
						    : m->stamps.clocks->clock[m->widest].name));
	json_print(stdout, root, JSON_INDENT(2));
}

static int history_run(const struct args *args)
{
	static struct making m;
	const char *path = args_string(args, "output");
	m.args = args;
	operands_apart(args);
	if (path) {
		must(usk_output_open(&m.out, path, args_flag(args, "force"), &why));
	}
	stamps_open(&m.stamps, args);
	read_files(&m);
	find_clocks(&m);
	choose_island(&m);
	find_steps(&m);
	twice_find(&m.twice, &m.stamps);
	place_all(&m);
	tell_open(&m);
	if (path) {
		write_history(&m);
	}
	if (args_flag(args, "json")) {
		print_json(&m);
	} else {
		print_summary(&m);
	}
	return m.open_calls || m.open_returns ? EXIT_PARTIAL : EXIT_DONE;
}

static const char *form_name(size_t i)
{
	return usk_history_forms[i].name;
}

static const struct option_group history_input = {
	"Input",
	{
		{ "clock-of",
		  "operations of this process, or of processes 0 to 4 (0-4), are stamped by CLOCK; "
		  "otherwise rows name their clock: a column clock, :clock or :node",
		  TEXTS("PROCESS=CLOCK"), .letter = 'c' },
		{ "nodes",
		  "processes that nothing else says a clock of: process p is of the node whose "
		  "number is p modulo their count, as Jepsen assigns them",
		  TEXT("NODE,NODE,...") },
		{ "resolution",
		  "stamps of operations are rounded down to multiples of this; otherwise it is "
		  "taken from the stamps, as the coarsest that it may be",
		  DURATION(NULL, "1ns", NULL) },
		TICK_ROW,
		EPOCH_ROW,
	},
};

static const struct option_group history_output = {
	"Output",
	{
		{ "output", "the history with all operations as intervals on one clock",
		  PATH("FILE"), .letter = 'o' },
		{ "form", "the checker that is to read it: its own input form",
		  .type = OPTION_CHOICE, .value = "FORM", .initial = "knossos",
		  .choice = form_name },
		{ "bounds",
		  "intervals are the bounds of call and return as they are, so that each holds "
		  "what truly was, though fewer pairs are in order",
		  FLAG },
		{ "json", "print JSON instead of sentences", FLAG },
	},
};

const struct command cmd_history = {
	.name = "history",
	.run = history_run,
	OPERANDS("CLOCKS [CLOCK=]OPERATIONS...", 2, SIZE_MAX),
	.example = {
		{ "what clients on two machines did, for Knossos", "history clocks.json n1=n1.edn n2=n2.edn -o history.edn" },
		{ "a table of operations, for Porcupine", "history clocks.json operations.csv --form porcupine -o history.json" },
		{ "Jepsen's processes, by the nodes they talk to, for Elle", "history clocks.json history.edn --nodes n1,n2,n3 --form elle -o elle.edn" },
	},
	.brief = { "output", "form", "clock-of", "nodes", "bounds", "json", "force" },
	.help = "put operations of many machines on one clock, for checkers of consistency",
	.more = "OPERATIONS is a table (CSV, or JSON lines) with a row for each operation: clock, "
		"process, op, call_ns, and if they are known return_ns, status (ok, fail or info), "
		"key, input, output; or EDN as Jepsen writes it, a map for each invocation and one "
		"for its end, with :time by its client's clock.\n\n"
		"Each operation becomes an interval. One ends before another begins only if the "
		"operation truly returned before the other was called, wherever the true clocks lie "
		"within their bounds; so a verdict that no order explains the history is right, "
		"whatever the clocks did. A fault that shows only in the order of operations that "
		"may have overlapped is not found. An operation that never returned stays open to "
		"the end.\n\n"
		"Knossos and Elle refuse a process that calls again before it returned, so clients whose intervals "
		"overlap become several processes; :client is what it was. Nothing is left out: a "
		"line that cannot be understood ends the command. The status is 3 if a call or "
		"return has no bound. doc/history.md has formats, and what is promised.",
	.group = { &history_input, &history_output, &options_force, &options_common },
};
