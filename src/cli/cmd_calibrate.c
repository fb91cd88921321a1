/* SPDX-License-Identifier: MIT */
/*
 * cmd_calibrate.c - what messages need at least, from the round trips of these traces
 *
 * In    traces of machines that exchanged messages
 * Out   the smallest round trips, and the models made of them: tables, JSON, or the file that
 *       sync --min-delay takes
 * Why   a band is as wide as both minima together; what is known of them makes it narrower
 * Not   a proof: that both ways are alike is an assumption, and is said to be one
 */
#include "json.h"
#include "messages.h"
#include "print.h"
#include "base/io.h"
#include "flow/calibrate.h"

#include <inttypes.h>

static struct text protocol_text(uint8_t proto)
{
	switch (proto) {
	case 0:
		return (struct text){ "any" };
	case 1:
	case 58:
		return (struct text){ "ICMP" };
	case 6:
		return (struct text){ "TCP" };
	case 17:
		return (struct text){ "UDP" };
	default:
		return text_of("IP %u", proto);
	}
}

/* ---- for people --------------------------------------------------------------------------- */

static void print_ways(FILE *out, const struct usk_calibration *c)
{
	struct table t = table_begin(
		"asked by\tanswered by\tprotocol\t>round trips\t>smallest\t>half\t>payload");
	for (size_t i = 0; i < c->n_pairs; i++) {
		for (size_t k = 0; k < c->pair[i].n_ways; k++) {
			const struct usk_smallest *w = &c->pair[i].way[k];
			const char *here = w->asker_iface, *there = w->other_iface;
			table_add(&t, "%s%s%s\t%s%s%s\t%s\t%s\t%s\t%s\t%" PRIu32 ", %" PRIu32,
				  printable(c->clock[w->asker]), here ? " " : "",
				  here ? printable(here) : "", printable(c->clock[w->other]),
				  there ? " " : "", there ? printable(there) : "",
				  protocol_text(w->proto).s, unit_count(w->n).s,
				  unit_span(w->smallest_ns).s, unit_span(w->smallest_ns / 2).s,
				  w->there_bytes, w->back_bytes);
		}
	}
	table_print(out, &t);
}

static void print_models(FILE *out, const struct usk_calibration *c)
{
	struct table t = table_begin(
		"between\tminimum delay, each direction\t>payload\t>smallest\t>margin\t>slack");
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_calibrated *p = &c->pair[i];
		const char *model = p->why ? "-" : kept(usk_delay_model_text(&p->model));
		table_add(&t, "%s, %s\t%s", printable(c->clock[p->a]), printable(c->clock[p->b]),
			  model);
		if (p->used) {
			table_add(&t, "%" PRIu32 " to %" PRIu32, p->from_bytes, p->to_bytes);
		} else {
			table_add(&t, "-");
		}
		if (p->why) {
			table_add(&t, "-\t-\t-");
		} else {
			table_add(&t, "%s\t%s\t%s", unit_span(p->smallest_ns / 2).s,
				  unit_span(p->margin_ns / 2).s,
				  unit_at_least(p->judged ? p->room_ns : USK_NONE).s);
		}
	}
	table_print(out, &t);
}

static void print_remarks(FILE *out, const struct usk_calibration *c, size_t which)
{
	const struct usk_calibrated *p = &c->pair[which];
	const char *a = printable(c->clock[p->a]), *b = printable(c->clock[p->b]);
	if (p->why) {
		fprintf(out, "No model: %s.\n", p->why);
	}
	if (p->over) {
		fprintf(out,
			"%s, %s: %s round trips were shorter than their two minima, by up to %s; "
			"half of that was subtracted.\n",
			a, b, unit_count(p->over).s, unit_at_most(p->over_ns).s);
	}
	if (p->halves_over) {
		fprintf(out,
			"%s, %s: %s round trips of one half were shorter than the model of the "
			"other half says, whatever the margin: the network paths changed "
			"meanwhile.\n",
			a, b, unit_count(p->halves_over).s);
	}
	if (p->shortened_ns) {
		fprintf(out,
			"%s, %s: %s was subtracted, as all messages together allow a little less "
			"than the round trips do.\n",
			a, b, unit_span(p->shortened_ns).s);
	}
	if (!p->why && p->judged && p->room_ns < 0) {
		fprintf(out,
			"%s, %s: all messages together allow %s less, which the round trips do not "
			"confirm: the clocks vary more than their model says; try --model wander "
			"with a larger PPM.\n",
			a, b, unit_span(-p->room_ns).s);
	}
	if (!p->why && p->straight) {
		fprintf(out,
			"%s, %s: one message of each round trip was empty, so the cost of the "
			"first byte is unknown; it is taken to be that of any other byte.\n",
			a, b);
	}
	if (!p->why && !p->judged) {
		fprintf(out,
			"%s, %s: the model cannot explain these messages, so the minimum delay was "
			"not checked against them.\n",
			a, b);
	}
}

static void print_table(FILE *out, const struct usk_calibration *c, int64_t asymmetry_ns)
{
	print_ways(out, c);
	fputs("\nMeasured: the time that a message and one back needed together, by the asker's "
	      "clock, less what the\nother took to answer; payload of the two messages.\n\n",
	      out);
	print_models(out, c);
	fputs("\nMinimum delay: of each direction, as sync --min-delay takes it, ", out);
	if (asymmetry_ns) {
		fprintf(out, "if the minima of the two directions differ by %s at the most:\n",
			unit_span(asymmetry_ns).s);
	} else {
		fputs("if the fastest path there is as fast as that\nback: ", out);
	}
	fputs("no round trip can show that. Smallest, margin: half of the smallest round trip of "
	      "the shortest\n"
	      "messages, and what was subtracted, as the smallest that was measured is not quite "
	      "the smallest possible.\n"
	      "Slack: how much longer all minima could be before messages contradict each other.\n",
	      out);
	for (size_t i = 0; i < c->n_pairs; i++) {
		print_remarks(out, c, i);
	}
	print_counts(out, &c->counts);
	print_notes(out, c->note, c->n_notes);
}

/* ---- for programs ------------------------------------------------------------------------- */

static json_t *smallest_json(const struct usk_calibration *c, const struct usk_smallest *s,
			     bool way)
{
	json_t *o = json_pack("{s:o,s:o}", "asker", json_shown(c->clock[s->asker]), "other",
			      json_shown(c->clock[s->other]));
	if (way) {
		json_object_update_new(o, json_pack("{s:s,s:o,s:o}", "protocol",
						    protocol_text(s->proto).s, "asker_interface",
						    json_shown(s->asker_iface), "other_interface",
						    json_shown(s->other_iface)));
	}
	json_object_update_new(
		o, json_pack("{s:I,s:I,s:I,s:o}", "there_bytes", (json_int_t)s->there_bytes,
			     "back_bytes", (json_int_t)s->back_bytes, "round_trips",
			     (json_int_t)s->n, "smallest_ns", json_ns(s->smallest_ns)));
	return o;
}

static json_t *list_json(const struct usk_calibration *c, const struct usk_smallest *s, size_t n,
			 bool way)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(list, smallest_json(c, &s[i], way));
	}
	return list;
}

static json_t *pair_json(const struct usk_calibration *c, const struct usk_calibrated *p)
{
	const char *model = kept(usk_delay_model_text(&p->model));
	json_t *o = json_pack(
		"{s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:b,s:o,s:o,s:{s:i,s:I,s:i},s:{s:I,s:o},s:o,s:o,"
		"s:o,s:o}",
		"a", json_shown(c->clock[p->a]), "b", json_shown(c->clock[p->b]), "min_delay",
		p->why ? json_null() : json_string(model), "failed", json_shown(p->why),
		"round_trips", (json_int_t)p->round_trips, "used", (json_int_t)p->used,
		"from_bytes", (json_int_t)p->from_bytes, "to_bytes", (json_int_t)p->to_bytes,
		"first_byte_known", !p->straight, "smallest_ns", json_ns(p->smallest_ns),
		"margin_ns", json_ns(p->margin_ns), "halves", "asked", (int)p->halves, "shorter",
		(json_int_t)p->halves_over, "widened", (int)p->widened, "shorter", "count",
		(json_int_t)p->over, "max_ns", json_ns(p->over_ns), "shortened_ns",
		json_ns(p->shortened_ns), "slack_ns", p->judged ? json_ns(p->room_ns) : json_null(),
		"directions", list_json(c, p->way, p->n_ways, true), "lengths",
		list_json(c, p->length, p->n_lengths, false));
	return o;
}

static void print_json(FILE *out, const struct usk_calibration *c,
		       const struct usk_calibrate_options *how)
{
	json_t *pairs = json_array();
	for (size_t i = 0; i < c->n_pairs; i++) {
		json_array_append_new(pairs, pair_json(c, &c->pair[i]));
	}
	json_t *root = json_pack("{s:i,s:o,s:o,s:o,s:o}", "unskew_calibration", 1, "asymmetry_ns",
				 json_ns(how->asymmetry_ns), "margin",
				 how->margin < 0 ? json_null() : json_real(how->margin), "pairs",
				 pairs, "notes", json_list(c->note, c->n_notes));
	json_print(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
}

/* The file that --min-delay @FILE reads. */
static enum usk_status write_file(struct usk_output *o, const struct usk_calibration *c,
				  struct usk_err *err)
{
	usk_output_format(o, "sender,receiver,model\n");
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_calibrated *p = &c->pair[i];
		const char *model = kept(usk_delay_model_text(&p->model));
		const char *a = csv_text(c->clock[p->a]), *b = csv_text(c->clock[p->b]);
		if (!p->why) {
			usk_output_format(o, "%s,%s,%s\n%s,%s,%s\n", a, b, model, b, a, model);
		}
	}
	return usk_output_commit(o, err);
}

/* ---- the command -------------------------------------------------------------------------- */

static int tell(const struct args *args, const struct usk_calibration *c,
		const struct usk_calibrate_options *how, struct usk_output *output)
{
	size_t known = 0;
	for (size_t i = 0; i < c->n_pairs; i++) {
		known += !c->pair[i].why;
	}
	if (!c->n_pairs) {
		say_failed("these traces share no message: check that they saw the same traffic");
	}
	enum usk_status done = known && output->path ? write_file(output, c, &why) : USK_OK;
	if (args_flag(args, "json")) {
		print_json(stdout, c, how);
	} else if (known && !args_flag(args, "quiet")) {
		print_table(stdout, c, how->asymmetry_ns);
	}
	if (known && output->path && !done) {
		say(args, "Wrote %s.", args_string(args, "output"));
	}
	must(done);
	if (!known) {
		say_failed("%s", c->pair[0].why);
	}
	return known == c->n_pairs ? EXIT_DONE : EXIT_PARTIAL;
}

static int calibrate_run(const struct args *args)
{
	static struct task t;
	static struct usk_calibration *c;
	static struct usk_output output;
	const struct usk_calibrate_options how = {
		.margin = args_given(args, "margin") ? args_number(args, "margin") : -1,
		.asymmetry_ns = args_int(args, "asymmetry"),
	};
	task_begin(&t, args);
	task_open(&t, NULL);
	if (args_string(args, "output")) {
		must(usk_output_open(&output, args_string(args, "output"), args_flag(args, "force"),
				     &why));
	}
	must(usk_calibrate(t.trace, t.n, &t.options, &how, &c, &why));
	progress_end();
	return task_end(&t, tell(args, c, &how, &output));
}

static const struct option_group calibrate_output = {
	"Output",
	{
		{ "output", "write the models of all pairs, as sync --min-delay @FILE takes them",
		  PATH("FILE"), .letter = 'o' },
		{ "json", "print JSON instead of the tables", FLAG },
	},
};

static const struct option_group calibrate_how = {
	"Calibration",
	{
		{ "margin",
		  "subtract this share of the smallest round trips; otherwise what the 64 smallest "
		  "of similar length differ by",
		  PROBABILITY("SHARE", NULL) },
		{ "asymmetry",
		  "how much the minima of the two directions may differ: half of it is subtracted",
		  DURATION("0", "0", "1h") },
	},
};

const struct command cmd_calibrate = {
	.name = "calibrate",
	.run = calibrate_run,
	TRACES("[NAME=]TRACE...", 1, 1),
	.example = {
		{ "minimum delays of the network, for a narrower answer of sync", "calibrate client.pcap server.pcap -o delays.csv" },
		{ "where the two directions may differ by 20 us", "calibrate client.pcap server.pcap --asymmetry 20us -o delays.csv" },
		{ "half of what round trips allow, to be safe", "calibrate exchanges.csv --margin 50%" },
	},
	.brief = { "output", "margin", "asymmetry", "json", "reference", "from", "to", "force" },
	.help = "estimate minimum network delays, for sync --min-delay",
	.more = "The round trip of a message and its answer, less the time that the other machine "
		"took to answer, is the sum of two delays, whatever the clocks' offset. Pings, "
		"requests with their answers, data with their acknowledgements all count, if the "
		"answer was sent soon, within 50 ms at most.\n\n"
		"The smallest round trip that was measured is longer than the smallest possible "
		"one. So a margin is subtracted: what the 64 smallest of similar length differ by. "
		"The model is half of the rest; the cost of the first byte and of each further one "
		"is bounded in the same way. It is checked against models of halves of the round "
		"trips, against every round trip, and against all messages together; if a check "
		"fails the model is shortened, and a line says so. If it would have to be "
		"shortened much, not the delays are at fault but the clocks' model, and a line "
		"says that.\n\n"
		"If the fastest path in one direction is slower than in the other, half a round "
		"trip is too long for the faster one, and error bounds that rest on it may be "
		"wrong. No message can show that: if the directions may differ, state by how much "
		"with --asymmetry.",
	.group = { &calibrate_output, &calibrate_how, &options_model, &options_read, &options_match,
		   &options_force, &options_common },
};
