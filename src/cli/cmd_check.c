/* SPDX-License-Identifier: MIT */
/*
 * cmd_check.c - score traces as they were recorded: no clock is corrected
 *
 * In    traces of machines that exchanged messages
 * Out   per direction: messages, those received before they were sent, one-way delays
 * Why   tells whether traces need correction at all, and whether a correction helped
 * Not   a verdict: the status is 0 whatever it counts
 */
#include "json.h"
#include "print.h"

#include <stdlib.h>
#include <string.h>

static void add_row(struct table *t, const struct usk_clocks *c, uint32_t from, uint32_t to,
		    const struct usk_delays *d)
{
	table_add(t, "%s -> %s\t%s\t%s", printable(c->clock[from].name),
		  printable(c->clock[to].name), unit_count(d->n).s, unit_count(d->inversions).s);
	const int64_t delays[] = { d->min_ns, d->median_ns, d->p99_ns, d->max_ns };
	/* Clocks an hour apart have delays of an hour: what differs must be seen all the same. */
	int64_t spread = d->n ? d->p99_ns - d->min_ns : 0;
	for (size_t i = 0; i < COUNT(delays); i++) {
		table_add(t, "%s", unit_span_among(d->n ? delays[i] : USK_NONE, spread).s);
	}
}

static void print_table(FILE *out, const struct usk_clocks *c)
{
	struct table t =
		table_begin("direction\t>messages\t>inversions\t>min delay\t>median\t>p99\t>max");
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		add_row(&t, c, p->a, p->b, &p->recorded_a_to_b);
		add_row(&t, c, p->b, p->a, &p->recorded_b_to_a);
	}
	table_print(out, &t);
	fputc('\n', out);
	print_counts(out, &c->counts);
	fputs("An inversion is a causality violation: a message received before it was sent, by "
	      "the recorded stamps.\n",
	      out);
	if (strcmp(c->min_delay, "0")) {
		const struct usk_violations *v = &c->evaluation.too_fast;
		fprintf(out,
			"Faster than their minimum delay: %s (%.3f %%), by up to %s, %s on "
			"average.\n",
			unit_count(v->count).s, v->percent, unit_at_most(v->max_ns).s,
			unit_span(v->mean_ns).s);
	}
	print_broadcasts(out, &c->evaluation.broadcasts_recorded, NULL);
	print_notes(out, c->note, c->n_notes);
}

static json_t *delays_json(const struct usk_delays *d)
{
	return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o}", "messages", (json_int_t)d->n, "inversions",
			 (json_int_t)d->inversions, "min_ns", json_ns(d->n ? d->min_ns : USK_NONE),
			 "median_ns", json_ns(d->n ? d->median_ns : USK_NONE), "p99_ns",
			 json_ns(d->n ? d->p99_ns : USK_NONE), "max_ns",
			 json_ns(d->n ? d->max_ns : USK_NONE));
}

static void print_json(FILE *out, const struct usk_clocks *c)
{
	const struct usk_counts *n = &c->counts;
	json_t *pairs = json_array();
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		json_array_append_new(pairs, json_pack("{s:o,s:o,s:o,s:o}", "a",
						       json_shown(c->clock[p->a].name), "b",
						       json_shown(c->clock[p->b].name), "a_to_b",
						       delays_json(&p->recorded_a_to_b), "b_to_a",
						       delays_json(&p->recorded_b_to_a)));
	}
	json_t *root = json_pack(
		"{s:i,s:{s:I,s:I,s:I,s:I,s:I},s:o,s:o,s:o,s:o,s:o}", "unskew_check", 1, "messages",
		"matched", (json_int_t)n->matched, "unmatched", (json_int_t)n->unmatched,
		"ambiguous", (json_int_t)n->ambiguous, "expired", (json_int_t)n->expired,
		"direction_unknown", (json_int_t)n->direction_unknown, "min_delay",
		json_shown(c->min_delay), "too_fast", json_violations(&c->evaluation.too_fast),
		"broadcasts", json_difference(&c->evaluation.broadcasts_recorded), "pairs", pairs,
		"notes", json_list(c->note, c->n_notes));
	json_print(out, root, JSON_INDENT(2));
}

int check_of(const struct args *args, void (*open)(struct task *t))
{
	static struct task t;
	static struct usk_clocks *clocks;
	task_begin(&t, args);
	open(&t);
	must(usk_check(t.trace, t.n, &t.options, &clocks, &why));
	progress_end();
	(args_flag(args, "json") ? print_json : print_table)(stdout, clocks);
	return task_end(&t, EXIT_DONE);
}

static int check_run(const struct args *args)
{
	return check_of(args, task_open_operands);
}

const struct option_group options_score = {
	"Output", { { "json", "print JSON instead of the table", FLAG } }
};

const struct command cmd_check = {
	.name = "check",
	.run = check_run,
	TRACES("[NAME=]TRACE...", 1, 1),
	.example = {
		{ "how bad is it, before anything is corrected?", "check client.pcap server.pcap" },
		{ "and after it was", "check client-corrected.pcap server-corrected.pcap" },
		{ "which messages were faster than the network can be, as JSON", "check messages.csv --min-delay 50us --json" },
	},
	.brief = { "json", "min-delay", "reference", "local", "from", "to" },
	.help = "score traces as recorded: causality violations and one-way delays",
	.more = "Nothing is corrected. A message that was received before it was sent, by the "
		"stamps as recorded, violates causality (an inversion). A one-way delay is "
		"received - sent, each by its own clock, so it includes the offset between the "
		"clocks. Run it on traces before and after `unskew apply`.",
	.group = { &options_score, &options_delay, &options_read, &options_match, &options_common },
};
