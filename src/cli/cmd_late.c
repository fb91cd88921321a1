/* SPDX-License-Identifier: MIT */
/*
 * cmd_late.c - in collectives: who came last for sure, and what that cost the others
 *
 * In    traces of collectives
 * Out   a ranking of ranks; a row for each collective; where the time in collectives went, with what
 *       bounds cannot tell told apart
 * Why   clocks differ by more than ranks do: by raw stamps somebody is always last
 * Not   why it was late
 */
#include "json.h"
#include "print.h"
#include "flow/late.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct late {
	struct task task;
	struct usk_clocks *clocks;
	struct usk_late_answer answer;
	const struct usk_late_rank **ranked;
	struct usk_output out;
};

static int by_lateness(const void *pa, const void *pb)
{
	const struct usk_late_rank *a = *(const struct usk_late_rank *const *)pa;
	const struct usk_late_rank *b = *(const struct usk_late_rank *const *)pb;
	int order = usk_order(b->by_sum_ns, a->by_sum_ns);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : usk_order(a->clock, b->clock);
}

static void rank_all(struct late *x)
{
	const struct usk_late_answer *a = &x->answer;
	x->ranked = kept(usk_alloc(a->n_ranks, sizeof *x->ranked));
	for (size_t i = 0; i < a->n_ranks; i++) {
		x->ranked[i] = &a->rank[i];
	}
	qsort(x->ranked, a->n_ranks, sizeof *x->ranked, by_lateness);
}

/* With its clock, if that has another name. */
static const char *shown_rank(const struct usk_clocks *c, const struct usk_late_rank *r)
{
	const char *clock = r->clock < c->n_clocks ? c->clock[r->clock].name : r->name;
	char *both = strcmp(clock, r->name) ? usk_format("%s (%s)", r->name, clock)
					    : usk_strdup(r->name);
	return printable(kept(both));
}

static double share(int64_t part, const struct usk_spent *s)
{
	double all = (double)s->waited_ns + (double)s->transfer_ns + (double)s->untold_ns;
	return all > 0 ? 100 * (double)part / all : 0;
}

/* ---- for people ----------------------------------------------------------------------------- */

static void print_ranks(FILE *out, const struct late *x)
{
	const struct usk_late_answer *a = &x->answer;
	size_t most = (size_t)args_int(x->task.args, "top"), rest = 0;
	struct table t = table_begin("rank\t>last for sure\t>by at least, all\t>largest\t>waited "
				     "at least\t>transfer at least\t>untold");
	for (size_t i = 0; i < a->n_ranks; i++) {
		const struct usk_late_rank *r = x->ranked[i];
		if (i >= most) {
			rest++;
			continue;
		}
		table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s\t%s", shown_rank(x->clocks, r),
			  unit_count(r->last).s, unit_span(r->by_sum_ns).s,
			  unit_span(r->by_most_ns).s, unit_span(r->spent.waited_ns).s,
			  unit_span(r->spent.transfer_ns).s, unit_span(r->spent.untold_ns).s);
	}
	table_print(out, &t);
	if (rest) {
		fprintf(out, "%s more ranks: --top shows them.\n", unit_count(rest).s);
	}
}

static void print_late(const struct late *x)
{
	const struct usk_late_answer *a = &x->answer;
	const struct usk_spent *s = &a->spent;
	print_ranks(stdout, x);
	printf("\nCollectives: %s. Who came last is certain in %s of %s (%.1f %%) that have a last "
	       "one, undecidable in %s.\n",
	       unit_count(a->n_collectives).s, unit_count(a->known).s, unit_count(a->asked).s,
	       a->asked ? 100.0 * (double)a->known / (double)a->asked : 0.0,
	       unit_count(a->asked - a->known).s);
	printf("Time in collectives: %.1f %% is waiting for others, %.1f %% is transfer, %.1f %% "
	       "may be either.\n",
	       share(s->waited_ns, s), share(s->transfer_ns, s), share(s->untold_ns, s));
	if (a->counts.unmatched || a->counts.ambiguous) {
		printf("Left out: %s parts of collectives that nobody else recorded, %s that "
		       "cannot be of one.\n",
		       unit_count(a->counts.unmatched).s, unit_count(a->counts.ambiguous).s);
	}
	print_notes(stdout, x->clocks->note, x->clocks->n_notes);
	print_model(stdout, x->clocks);
}

/* ---- JSON, CSV ------------------------------------------------------------------------------ */

static json_t *spent_json(const struct usk_spent *s)
{
	return json_pack("{s:I,s:I,s:I}", "waited_ns", (json_int_t)s->waited_ns, "transfer_ns",
			 (json_int_t)s->transfer_ns, "untold_ns", (json_int_t)s->untold_ns);
}

static json_t *rank_json(const struct late *x, const struct usk_late_rank *r)
{
	const struct usk_clocks *c = x->clocks;
	return json_pack("{s:o,s:o,s:I,s:I,s:I,s:I,s:o}", "rank", json_shown(r->name), "clock",
			 json_shown(r->clock < c->n_clocks ? c->clock[r->clock].name : ""),
			 "collectives", (json_int_t)r->parts, "last", (json_int_t)r->last,
			 "by_sum_ns", (json_int_t)r->by_sum_ns, "by_most_ns",
			 (json_int_t)r->by_most_ns, "spent", spent_json(&r->spent));
}

static void print_json(const struct late *x)
{
	const struct usk_late_answer *a = &x->answer;
	json_t *ranks = json_array();
	for (size_t i = 0; i < a->n_ranks; i++) {
		json_array_append_new(ranks, rank_json(x, x->ranked[i]));
	}
	json_t *root = json_pack(
		"{s:i,s:I,s:I,s:I,s:o,s:I,s:I,s:o,s:o}", "unskew_late", 1, "collectives",
		(json_int_t)a->n_collectives, "asked", (json_int_t)a->asked, "decided",
		(json_int_t)a->known, "spent", spent_json(&a->spent), "unmatched",
		(json_int_t)a->counts.unmatched, "ambiguous", (json_int_t)a->counts.ambiguous,
		"ranks", ranks, "notes", json_list(x->clocks->note, x->clocks->n_notes));
	json_print(stdout, root, JSON_INDENT(2));
}

/* An id that is no longer than that is kept as it is, behind it its length. */
static void write_id(struct usk_output *out, const struct usk_event_id *id)
{
	char bytes[sizeof *id];
	memcpy(bytes, id, sizeof bytes);
	size_t n = (uint8_t)bytes[sizeof bytes - 1];
	bool plain = n < sizeof bytes;
	for (size_t i = 0; plain && i < n; i++) {
		plain = bytes[i] > ' ' && bytes[i] < 127 && bytes[i] != ',' && bytes[i] != '"';
	}
	if (plain) {
		usk_output_format(out, "%.*s", (int)n, bytes);
	} else {
		usk_output_format(out, "#%016" PRIx64 "%016" PRIx64, id->word[0], id->word[1]);
	}
}

static void write_each(struct late *x)
{
	const struct usk_late_answer *a = &x->answer;
	struct usk_output *out = &x->out;
	usk_output_format(out,
			  "collective,kind,ranks,last,by_ns,waited_ns,transfer_ns,untold_ns,at_ns"
			  "\n");
	for (size_t i = 0; i < a->n_collectives; i++) {
		const struct usk_lateness *l = &a->collective[i];
		write_id(out, &l->id);
		usk_output_format(out, ",%s,%zu,", usk_collective_name(l->kind), l->n);
		if (l->known) {
			usk_output_format(out, "%s,%lld", printable(a->rank[l->rank].name),
					  (long long)l->by_ns);
		} else {
			usk_output_format(out, "%s,", l->asked ? "undecidable" : "");
		}
		usk_output_format(out, ",%lld,%lld,%lld,", (long long)l->spent.waited_ns,
				  (long long)l->spent.transfer_ns, (long long)l->spent.untold_ns);
		if (l->at_ns != USK_NONE) {
			usk_output_format(out, "%lld", (long long)l->at_ns);
		}
		usk_output_format(out, "\n");
	}
	must(usk_output_commit(out, &why));
	say(x->task.args, "Wrote %s.", args_string(x->task.args, "output"));
}

static int late_run(const struct args *args)
{
	static struct late x;
	const char *path = args_string(args, "output");
	task_begin(&x.task, args);
	operands_apart(args);
	if (path) {
		must(usk_output_open(&x.out, path, args_flag(args, "force"), &why));
	}
	task_open(&x.task, NULL);
	must(usk_sync(x.task.trace, x.task.n, &x.task.options, &x.clocks, &why));
	must(usk_late_read(x.task.trace, x.task.n, x.clocks, &x.answer, &why));
	progress_end();
	rank_all(&x);
	if (path) {
		write_each(&x);
	}
	if (args_flag(args, "json")) {
		print_json(&x);
	} else {
		print_late(&x);
	}
	return task_end(&x.task, clocks_status(x.clocks));
}

static const struct option_group late_output = {
	"Output",
	{
		{ "output",
		  "a row for each collective, CSV: who came last, by how much at least, where the "
		  "time of all its members went",
		  PATH("FILE"), .letter = 'o' },
		{ "top", "how many ranks the table has, those first that were latest in all",
		  INTEGER("N", "20", "1", NULL) },
		{ "json", "print JSON, with all ranks, instead of the table", FLAG },
	},
};

const struct command cmd_late = {
	.name = "late",
	.run = late_run,
	TRACES("[NAME=]TRACE...", 1, 1),
	.example = {
		{ "which rank holds up the others, by profiles of all ranks", "late rank*.json.gz" },
		{ "who came last in each collective", "late collectives.csv -o late.csv" },
		{ "all ranks for a script", "late collectives.csv --json" },
	},
	.brief = { "output", "top", "json", "reference", "model", "force" },
	.help = "say which rank came last in collectives, and what waiting that surely caused",
	.more = "Traces hold collectives: tables (collective, kind, clock, enter_ns, exit_ns[, rank]"
		"[, root]) or profiles of PyTorch, as doc/collectives.md has it. Clocks are "
		"corrected as by `unskew sync`, and a collective is judged by their bounds: a rank "
		"came last if it did whatever the true clocks are, by at least the time that is "
		"printed, else who came last is undecidable. Members that "
		"nobody recorded are not known of. Of broadcasts and scatters only the root is "
		"waited for, so none is last.\n\n"
		"A member's time in a collective is waiting for others until the last of those that "
		"it needs has come, and transfer from then on. What bounds prove of either is told, "
		"and the rest is untold: it may be the one or the other. The three add up to all of "
		"it.",
	.group = { &late_output, &options_method, &options_model, &options_solve, &options_delay,
		   &options_anchor, &options_read, &options_match, &options_force,
		   &options_common },
};
