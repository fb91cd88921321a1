/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare.c - every estimator side by side, through the same messages
 *
 * In    traces of machines that exchanged messages; the truth, where a simulation knows it
 * Out   per pair and method: offset, rate, violations, error; as a table, JSON or CSV
 *       several sets: the mean of the rates, and how far they spread
 * Why   tells which method suits a network, and what a published one would have said
 * Not   a correction: lines are judged as drawn, not settled into the band (sync does that)
 */
#include "json.h"
#include "messages.h"
#include "print.h"

#include <stdlib.h>
#include <string.h>
#include <inttypes.h>
#include <math.h>

/* ---- several sets ------------------------------------------------------------------- */

/*
 * One method on one pair of clocks, over several sets of traces. What was recorded again within a
 * short time has the same rates, so the method whose rates lie together more tightly is likely to
 * be the better one (Ashton 1995, section 6.1). His measure is their range, which never falls as
 * sets are added; the deviation does not depend on how many there are.
 */
struct repeated {
	const char *a, *b; /* names of reference and clock */
	const struct usk_estimator *method;
	size_t answers, failures;
	double mean, square; /* of beta - 1: mean, sum of squared deviations from it, */
	double least, most;  /* and its ends */
	uint64_t messages, recorded_inversions, corrected_inversions, too_fast;
	double rms_ns; /* mean of the errors' root mean squares, over `known` of the answers */
	size_t known;
};

struct repeats {
	size_t sets;
	struct repeated *row; /* pairs as they turn up, methods in their order */
	size_t n, cap;
	size_t next; /* the row that is looked for first */
	bool with_truth;
};

static struct repeated *row_of(struct repeats *r, const char *a, const char *b,
			       const struct usk_estimator *method)
{
	/* A set names its pairs once, and most sets in the same order: so the next one it is. */
	for (size_t k = 0; k < r->n && r->sets > 1; k++) {
		size_t i = (r->next + k) % r->n;
		struct repeated *x = &r->row[i];
		if (x->method == method && !strcmp(x->a, a) && !strcmp(x->b, b)) {
			r->next = i + 1;
			return x;
		}
	}
	r->row = usk_room(r->row, r->n, &r->cap, sizeof *r->row);
	r->row[r->n] = (struct repeated){ kept(usk_strdup(a)), kept(usk_strdup(b)),
					  .method = method, .least = INFINITY, .most = -INFINITY };
	return &r->row[r->n++];
}

static void repeats_add(struct repeats *r, const struct compared *x)
{
	const struct usk_comparison *c = x->c;
	r->sets++;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		for (size_t k = 0; k < c->n_methods; k++) {
			const struct usk_method_score *s = &p->score[k];
			struct repeated *row = row_of(r, c->clock[p->a], c->clock[p->b], s->method);
			if (s->failed) {
				row->failures++;
				continue;
			}
			/* Welford: no difference of large sums. */
			double from = s->beta_minus_one - row->mean;
			row->answers++;
			row->mean += from / (double)row->answers;
			row->square += from * (s->beta_minus_one - row->mean);
			row->least = fmin(s->beta_minus_one, row->least);
			row->most = fmax(s->beta_minus_one, row->most);
			row->messages += p->a_to_b + p->b_to_a;
			row->recorded_inversions += p->recorded_inversions;
			row->corrected_inversions += s->corrected_inversions;
			row->too_fast += s->too_fast.count;
			if (errors_of(x, i, k)->known) {
				row->known++;
				row->rms_ns += ((double)errors_of(x, i, k)->ns[RMS] - row->rms_ns) /
					       (double)row->known;
			}
		}
	}
	r->with_truth |= x->with_truth;
}

/* Of a sample; NAN under two. */
static double deviation(const struct repeated *x)
{
	return x->answers > 1 ? sqrt(x->square / (double)(x->answers - 1)) : NAN;
}

/* Ashton's range of drift; NAN under two. */
static double range(const struct repeated *x)
{
	return x->answers > 1 ? x->most - x->least : NAN;
}

static double percent(const struct repeated *x)
{
	return x->messages ? 100.0 * (double)x->too_fast / (double)x->messages : 0;
}

static void print_row(struct table *t, const struct repeated *x, bool with_truth)
{
	table_add(t, "%s\t%zu", x->method->name, x->answers);
	if (x->answers) {
		struct text spread = { "-\t-" };
		if (x->answers > 1) {
			spread = text_of("%.6f\t%.6f", 1e6 * deviation(x), 1e6 * range(x));
		}
		table_add(t, "%.6f\t%s\t%s\t%.3f", 1e6 * x->mean, spread.s,
			  unit_count(x->corrected_inversions).s, percent(x));
	} else {
		table_add(t, "-\t-\t-\t-\t-");
	}
	if (with_truth) {
		table_add(t, "%s", unit_span(x->known ? (int64_t)llround(x->rms_ns) : USK_NONE).s);
	}
}

static void repeats_print(FILE *out, const struct repeats *r)
{
	bool *told = kept(usk_alloc(r->n + 1, sizeof *told));
	/* Rows of one pair need not stand together: a later set may have another method first. */
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *first = &r->row[i];
		if (told[i]) {
			continue;
		}
		struct table t = table_begin("method\t>answers\t>rate - 1, ppm\t>deviation, "
					     "ppm\t>range, ppm\t>inversions\t>too fast, %%%s",
					     r->with_truth ? "\t>error rms" : "");
		fprintf(out, "%s%s against %s, %zu sets:\n", i ? "\n" : "", printable(first->b),
			printable(first->a), r->sets);
		for (size_t k = i; k < r->n; k++) {
			if (!strcmp(r->row[k].a, first->a) && !strcmp(r->row[k].b, first->b)) {
				print_row(&t, &r->row[k], r->with_truth);
				told[k] = true;
			}
		}
		table_print(out, &t);
	}
	fputs("\nRate, deviation, range: mean and standard deviation of the clock's rate against "
	      "the reference, and its\nlargest less its smallest, over the sets that a method has "
	      "an answer for. Inversions, too fast: over all\nmessages of these sets.\n",
	      out);
}

static void repeats_print_json(FILE *out, const struct repeats *r)
{
	json_t *rows = json_array();
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *x = &r->row[i];
		json_t *o = json_pack(
			"{s:o,s:o,s:s,s:I,s:I,s:{s:o,s:o,s:o},s:I,s:{s:I,s:I},s:{s:I,s:f}}", "a",
			json_shown(x->a), "b", json_shown(x->b), "method", x->method->name,
			"answers", (json_int_t)x->answers, "failures", (json_int_t)x->failures,
			"beta_minus_one", "mean", json_number(x->answers ? x->mean : NAN), "sd",
			json_number(deviation(x)), "range", json_number(range(x)), "messages",
			(json_int_t)x->messages, "inversions", "recorded",
			(json_int_t)x->recorded_inversions, "corrected",
			(json_int_t)x->corrected_inversions, "too_fast", "count",
			(json_int_t)x->too_fast, "percent", percent(x));
		if (r->with_truth) {
			json_object_set_new(o, "error_rms_ns",
					    json_number(x->known ? x->rms_ns : NAN));
		}
		json_array_append_new(rows, o);
	}
	json_t *root = json_pack("{s:I,s:o}", "sets", (json_int_t)r->sets, "repeated", rows);
	json_print(out, root, JSON_INDENT(2));
}

static void repeats_print_csv(FILE *out, const struct repeats *r)
{
	fputs("a,b,method,answers,failures,beta_minus_one_mean,beta_minus_one_sd,messages,"
	      "inversions,too_fast,inversions_recorded,too_fast_percent,error_rms_ns,"
	      "beta_minus_one_range\n",
	      out);
	for (size_t i = 0; i < r->n; i++) {
		const struct repeated *x = &r->row[i];
		fprintf(out, "%s,%s,%s,%zu,%zu,", csv_text(x->a), csv_text(x->b), x->method->name,
			x->answers, x->failures);
		if (x->answers) {
			fprintf(out, "%.17g", x->mean);
		}
		fputc(',', out);
		if (x->answers > 1) {
			fprintf(out, "%.17g", deviation(x));
		}
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g,", x->messages,
			x->corrected_inversions, x->too_fast, x->recorded_inversions, percent(x));
		if (x->known) {
			fprintf(out, "%.17g", x->rms_ns);
		}
		fputc(',', out);
		if (x->answers > 1) {
			fprintf(out, "%.17g", range(x));
		}
		fputc('\n', out);
	}
}

/* ---- the command -------------------------------------------------------------------- */

/* The rows that --method names, in the order of the table; all where it names none. */
static const struct usk_estimator **methods_of(const struct args *args, size_t *n)
{
	size_t given, all = 0;
	const int64_t *which = args_ints(args, "method", &given);
	const struct usk_estimator *const *e = usk_estimators();
	while (e[all]) {
		all++;
	}
	const struct usk_estimator **method = kept(usk_alloc(all, sizeof *method));
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		bool wanted = !given;
		for (size_t k = 0; k < given; k++) {
			wanted |= which[k] == (int64_t)i;
		}
		if (wanted) {
			method[(*n)++] = e[i];
		}
	}
	return method;
}

static int status_of(const struct usk_comparison *c)
{
	int status = EXIT_DONE;
	for (size_t i = 0; i < c->n_pairs; i++) {
		status = c->pair[i].quality == USK_BOUNDED ? status : EXIT_PARTIAL;
	}
	return status;
}

static void tell(const struct args *args, const struct compared *x)
{
	bool json = args_flag(args, "json"), csv = args_flag(args, "csv");
	(json ? compare_print_json : csv ? compare_print_csv : compare_print)(stdout, x);
	if (json || csv) {
		say_notes(args, x->c->note, x->c->n_notes);
	}
}

/* One set of traces: added to others, or told alone where `to` is NULL. */
static int compare_set(struct task *t, const char *set, struct repeats *to)
{
	const struct args *args = t->args;
	static struct usk_comparison *c;
	static struct compared x;
	size_t n;
	const struct usk_estimator **method = methods_of(args, &n);
	must_in(usk_compare(t->trace, t->n, &t->options, method, n, &c, &why), set);
	must_in(compare_measure(c, t->truth, &x), set ? set : args_string(args, "truth"));
	progress_end();
	if (to) {
		for (size_t i = 0; i < c->n_notes; i++) {
			say(args, "unskew: note: %s: %s", set, c->note[i]);
		}
		repeats_add(to, &x);
	} else {
		tell(args, &x);
	}
	int status = status_of(c);
	free(x.errors);
	usk_comparison_free(c);
	return status;
}

/* What cannot be compared in one set ends the whole, a pair that is not bounded does not. */
static int compare_repeated(struct task *t)
{
	static struct repeats r;
	const struct args *args = t->args;
	int status = EXIT_DONE;
	/* A bar of its own for every set would only flicker. */
	t->options.progress = NULL;
	for (size_t i = 0; i < args_operands(args); i++) {
		const char *set = args_operand(args, i);
		progress_show(NULL, (double)i / (double)args_operands(args), "comparing");
		task_open(t, set);
		int one = compare_set(t, set, &r);
		task_close(t);
		status = one ? one : status;
	}
	(args_flag(args, "json")  ? repeats_print_json
	 : args_flag(args, "csv") ? repeats_print_csv
				  : repeats_print)(stdout, &r);
	return status;
}

static int compare_run(const struct args *args)
{
	static struct task t;
	if (args_flag(args, "json") && args_flag(args, "csv")) {
		say_usage("--json and --csv both want standard output: choose one");
	}
	task_begin(&t, args);
	if (args_flag(args, "repeat")) {
		return task_end(&t, compare_repeated(&t));
	}
	task_open(&t, NULL);
	return task_end(&t, compare_set(&t, NULL, NULL));
}

static const struct option_group compare_output = {
	"Output",
	{
		{ "json", "print JSON instead of the table", FLAG },
		{ "csv", "print CSV, a row per pair and method", FLAG },
		{ "truth",
		  "add each line's errors against the truth.json of `unskew simulate`; with "
		  "--repeat, its name inside each set",
		  PATH("FILE") },
		{ "repeat",
		  "each operand is a set of traces of the same clocks, a folder or a table: how "
		  "far the rates spread over the sets",
		  FLAG },
	},
};

static const struct option_group compare_method = {
	"Estimators",
	{
		{ "method", "only these; otherwise all; +δ may be written for +delta",
		  CHOICE("NAME,..."), .repeated = true, .list = true, .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
	},
};

const struct command cmd_compare = {
	.name = "compare",
	.run = compare_run,
	TRACES("[NAME=]TRACE...|--repeat SET...", 1, 1),
	.sets = "repeat",
	.example = {
		{ "which method of the literature leaves how many violations", "compare client.pcap server.pcap" },
		{ "three of them, as CSV for a script", "compare messages.csv --method middle,hull,regress --csv" },
		{ "how far each is off where the truth is known", "compare demo/host0.pcap demo/host1.pcap --truth demo/truth.json" },
	},
	.brief = { "method", "truth", "repeat", "json", "csv", "reference", "from", "to" },
	.help = "every estimator side by side: offset, rate, and violations that remain",
	.more = "All draw their lines through the same messages, and each line is judged as it is "
		"drawn, not settled into the band as sync does: so it may have messages received "
		"before they were sent. Half widths are of the model's band, the same for all.\n\n"
		"Rate is that of the clock against the reference, less 1. Errors are estimate - "
		"truth at the truth's first, middle and last moment, and the root of the mean "
		"square over its moments. A method that has no answer says why. In JSON, seconds "
		"are what the estimator took once messages were sorted, exchanges found and hulls "
		"made; accuracy is the full width of the band (Poirier 2010), twice the half "
		"width. Points on hulls are the messages that no line may pass: they alone decide "
		"the band (his table 6).\n\n"
		"Of lines through exchanges, E is the mean margin of those that were kept, half of "
		"what both messages took, and Er their standard deviation about the line, from "
		"which the errors of rate and of offset at the first exchange follow (Clement "
		"2009, equations 6 to 8). round-trip-segments has one line for each segment of "
		"--model segments=DURATION, 30min unless told, and straight ones from where one "
		"ends to where the next begins; Er is over all of them.\n\n"
		"With --repeat each operand is a set that is compared for itself: a folder, of "
		"which all captures are taken or, if it has none, all tables, or a table alone. "
		"Clocks are the same in two sets if their names are. What was recorded again "
		"within a short time has the same rates, so a method whose rates lie together more "
		"tightly is likely to be nearer to them (Ashton 1995, section 6.1). Their range is "
		"what Ashton compares; it grows with the number of sets, which the deviation does "
		"not.\n\n"
		"two-point+delta is Ashton's c.2, in which minimum delays count for the errors of "
		"exchanges only. two-point+moved, which is unskew's own, moves stamps by them as "
		"well, as Ashton does for regress and hull. hull-or-two-point takes whichever of "
		"the two does better on the pair (section 7.4), and says which.",
	.group = { &compare_output, &compare_method, &options_model, &options_delay, &options_read,
		   &options_match, &options_common },
};
