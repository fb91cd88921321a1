/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare.c - every estimator side by side, through the same messages
 *
 * In    traces of machines that exchanged messages; the truth, where a simulation knows it
 * Out   per pair and method: offset, rate, violations, error; as a table, JSON or CSV
 * Why   tells which method suits a network, and what a published one would have said
 * Not   a correction: lines are judged as drawn, not settled into the band (sync does that)
 */
#include "cmd.h"
#include "messages.h"
#include "print.h"
#include "units.h"
#include "write/write.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A comparison, and beside each score its errors; not known without a truth. */
struct compared {
	const struct usk_comparison *c;
	struct truth_errors *errors; /* n_pairs x n_methods */
	bool with_truth;
};

static const struct truth_errors *errors_of(const struct compared *x, size_t pair, size_t method)
{
	return &x->errors[pair * x->c->n_methods + method];
}

static enum usk_status measure(const struct truth *truth, struct compared *x, struct usk_err *err)
{
	const struct usk_comparison *c = x->c;
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		for (size_t k = 0; k < c->n_methods && !status; k++) {
			if (p->score[k].failed) {
				continue;
			}
			struct usk_map *map =
				usk_map_of_line(p->score[k].line, p->score[k].n_knots);
			status = truth_errors(truth, c->clock[p->a], c->clock[p->b], map,
					      &x->errors[i * c->n_methods + k], err);
			usk_map_free(map);
		}
	}
	return status;
}

/* ---- numbers as text ---------------------------------------------------------- */

enum { NUMBER_TEXT = 48 };

static char *ns_text(int64_t ns, char out[NUMBER_TEXT])
{
	out[0] = 0;
	if (ns != USK_NONE) {
		snprintf(out, NUMBER_TEXT, "%" PRId64, ns);
	}
	return out;
}

/* A number of thousandths as a decimal with three digits. */
static char *milli_text(usk_i128 thousandths, char out[NUMBER_TEXT])
{
	usk_u128 size = (usk_u128)(thousandths < 0 ? -thousandths : thousandths);
	snprintf(out, NUMBER_TEXT, "%s%" PRIu64 ".%03d", thousandths < 0 ? "-" : "",
		 (uint64_t)(size / 1000), (int)(size % 1000));
	return out;
}

static usk_i128 b_in_ps(const struct usk_method_score *s)
{
	return (usk_i128)s->b_ns * 1000 + s->b_ps;
}

/* ---- for people ---------------------------------------------------------------- */

static void add_score(struct table *t, const struct usk_compared_pair *p,
		      const struct usk_method_score *s, const struct truth_errors *e)
{
	char text[UNIT_TEXT], number[NUMBER_TEXT];
	table_cell(t, s->method->name);
	if (s->failed) {
		for (size_t i = 1; i < t->columns; i++) {
			table_cell(t, "-");
		}
		return;
	}
	/* reference - local, to 1 ns, as us */
	usk_i128 offset = (usk_i128)p->a_ns * 1000 - b_in_ps(s);
	table_cell(t, milli_text(usk_floor_div(offset + 500, 1000), number));
	snprintf(text, sizeof text, "%.6f", 1e6 * s->beta_minus_one);
	table_cell(t, text);
	unit_count(s->corrected_inversions, text);
	table_cell(t, text);
	snprintf(text, sizeof text, "%.3f", s->too_fast.percent);
	table_cell(t, text);
	if (t->columns > 5) {
		const int64_t error[] = { e->start_ns, e->middle_ns, e->end_ns, e->rms_ns };
		for (size_t i = 0; i < COUNT(error); i++) {
			unit_span(e->known ? error[i] : USK_NONE, text);
			table_cell(t, text);
		}
	}
}

static void print_pair(FILE *out, const struct compared *x, size_t which)
{
	static const char *const heading[] = { "method",     "offset, us",  "rate - 1, ppm",
					       "inversions", "too fast, %", "error: start",
					       "middle",     "end",	    "rms" };
	static const bool right[] = { false, true, true, true, true, true, true, true, true };
	const struct usk_comparison *c = x->c;
	const struct usk_compared_pair *p = &c->pair[which];
	struct table t = { .columns = x->with_truth ? 9 : 5, .right = right };
	char *a = printable(c->clock[p->a]), *b = printable(c->clock[p->b]);
	char text[UNIT_TEXT], worst[UNIT_TEXT];
	unit_count(p->a_to_b + p->b_to_a, text);
	fprintf(out, "%s%s against %s: %s messages, ", which ? "\n" : "", b, a, text);
	unit_count(p->recorded_inversions, text);
	fprintf(out, "%s received before sent as recorded", text);
	if (p->half_best_ns != USK_NONE) {
		unit_bound(p->half_best_ns, text);
		unit_bound(p->half_worst_ns, worst);
		fprintf(out, ", half widths %s to %s", text, worst);
	}
	fputs(".\n", out);
	for (size_t i = 0; i < t.columns; i++) {
		table_cell(&t, heading[i]);
	}
	bool unknown = false;
	for (size_t k = 0; k < c->n_methods; k++) {
		add_score(&t, p, &p->score[k], errors_of(x, which, k));
		unknown |= !p->score[k].failed && !errors_of(x, which, k)->known;
	}
	table_print(out, &t);
	for (size_t k = 0; k < c->n_methods; k++) {
		if (p->score[k].failed) {
			fprintf(out, "%s has no answer: %s.\n", p->score[k].method->name,
				p->score[k].failed);
		}
	}
	if (x->with_truth && unknown) {
		fprintf(out, "Truth: nothing to compare: it does not know %s or %s.\n", a, b);
	}
	free(a);
	free(b);
}

static void print_table(FILE *out, const struct compared *x)
{
	for (size_t i = 0; i < x->c->n_pairs; i++) {
		print_pair(out, x, i);
	}
	fputs("\nOffset: reference - local at the middle of the trace; add it to a local stamp. "
	      "Rate: of the clock\nagainst the reference. Inversions: messages received before "
	      "they were sent, by that line; too fast: in\nless than their minimum delay. Lines "
	      "are judged as drawn; sync settles them into the band.\n",
	      out);
	print_counts(out, &x->c->counts);
	for (size_t i = 0; i < x->c->n_notes; i++) {
		fprintf(out, "%sNote:%s %s\n", colour(out, "yellow"), colour(out, "off"),
			x->c->note[i]);
	}
}

/* ---- for programs ---------------------------------------------------------------- */

static json_t *ns_json(int64_t ns)
{
	char text[NUMBER_TEXT];
	return ns == USK_NONE ? json_null() : json_string(ns_text(ns, text));
}

static json_t *shown_json(const char *text)
{
	char *shown = usk_shown(text);
	json_t *string = json_string(shown);
	free(shown);
	return string;
}

static json_t *score_json(const struct usk_compared_pair *p, const struct usk_method_score *s,
			  const struct truth_errors *e)
{
	char number[NUMBER_TEXT];
	if (s->failed) {
		return json_pack("{s:s,s:o}", "name", s->method->name, "failed",
				 shown_json(s->failed));
	}
	json_t *o =
		json_pack("{s:s,s:o,s:s,s:f,s:{s:I,s:I},s:{s:I,s:f,s:o,s:o},s:{s:o,s:o,s:o}}",
			  "name", s->method->name, "a_ns", ns_json(p->a_ns), "b_ns",
			  milli_text(b_in_ps(s), number), "beta_minus_one", s->beta_minus_one,
			  "inversions", "recorded", (json_int_t)p->recorded_inversions, "corrected",
			  (json_int_t)s->corrected_inversions, "too_fast", "count",
			  (json_int_t)s->too_fast.count, "percent", s->too_fast.percent, "max_ns",
			  ns_json(s->too_fast.max_ns), "mean_ns", ns_json(s->too_fast.mean_ns),
			  "half_width_ns", "best", ns_json(p->half_best_ns), "worst",
			  ns_json(p->half_worst_ns), "mean", ns_json(p->half_mean_ns));
	if (e) {
		json_object_set_new(o, "error_ns",
				    json_pack("{s:o,s:o,s:o,s:o}", "start",
					      ns_json(e->known ? e->start_ns : USK_NONE), "middle",
					      ns_json(e->known ? e->middle_ns : USK_NONE), "end",
					      ns_json(e->known ? e->end_ns : USK_NONE), "rms",
					      ns_json(e->known ? e->rms_ns : USK_NONE)));
	}
	json_object_set_new(o, "seconds", json_real(s->seconds));
	return o;
}

static void print_json(FILE *out, const struct compared *x)
{
	const struct usk_comparison *c = x->c;
	json_t *pairs = json_array();
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		json_t *methods = json_array();
		for (size_t k = 0; k < c->n_methods; k++) {
			json_array_append_new(
				methods, score_json(p, &p->score[k],
						    x->with_truth ? errors_of(x, i, k) : NULL));
		}
		json_array_append_new(
			pairs, json_pack("{s:o,s:o,s:o}", "a", shown_json(c->clock[p->a]), "b",
					 shown_json(c->clock[p->b]), "methods", methods));
	}
	json_t *root = json_pack("{s:o}", "pairs", pairs);
	json_dumpf(root, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(root);
}

static void print_csv_score(FILE *out, const struct usk_compared_pair *p,
			    const struct usk_method_score *s, const struct truth_errors *e)
{
	char number[NUMBER_TEXT];
	if (s->failed) {
		char *why = csv_text(s->failed);
		fprintf(out, ",,,,,,,,,,,,,,,,%s\n", why);
		free(why);
		return;
	}
	fprintf(out, "%s", ns_text(p->a_ns, number));
	fprintf(out, ",%s,%.17g", milli_text(b_in_ps(s), number), s->beta_minus_one);
	fprintf(out, ",%" PRIu64 ",%" PRIu64, p->recorded_inversions, s->corrected_inversions);
	fprintf(out, ",%" PRIu64 ",%.17g", s->too_fast.count, s->too_fast.percent);
	const int64_t ns[] = { s->too_fast.max_ns,
			       s->too_fast.mean_ns,
			       p->half_best_ns,
			       p->half_worst_ns,
			       p->half_mean_ns,
			       e->known ? e->start_ns : USK_NONE,
			       e->known ? e->middle_ns : USK_NONE,
			       e->known ? e->end_ns : USK_NONE,
			       e->known ? e->rms_ns : USK_NONE };
	for (size_t i = 0; i < COUNT(ns); i++) {
		fprintf(out, ",%s", ns_text(ns[i], number));
	}
	fputs(",\n", out);
}

static void print_csv(FILE *out, const struct compared *x)
{
	const struct usk_comparison *c = x->c;
	fputs("a,b,method,a_ns,b_ns,beta_minus_one,inversions_recorded,inversions_corrected,"
	      "too_fast_count,too_fast_percent,too_fast_max_ns,too_fast_mean_ns,half_best_ns,"
	      "half_worst_ns,half_mean_ns,error_start_ns,error_middle_ns,error_end_ns,"
	      "error_rms_ns,failed\n",
	      out);
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		char *a = csv_text(c->clock[p->a]), *b = csv_text(c->clock[p->b]);
		for (size_t k = 0; k < c->n_methods; k++) {
			fprintf(out, "%s,%s,%s,", a, b, p->score[k].method->name);
			print_csv_score(out, p, &p->score[k], errors_of(x, i, k));
		}
		free(a);
		free(b);
	}
}

/* ---- the command ------------------------------------------------------------------ */

static bool named(const char *const *list, size_t n, const struct usk_estimator *e)
{
	for (size_t i = 0; i < n; i++) {
		for (const char *p = list[i]; *p; p += *p == ',') {
			size_t length = strcspn(p, ",");
			char *word = usk_format("%.*s", (int)length, p);
			bool found = usk_estimator_find(word) == e;
			free(word);
			if (found) {
				return true;
			}
			p += length;
		}
	}
	return false;
}

/* The rows that --method names, in the order of the table; all where it names none. */
static const struct usk_estimator **methods_of(const struct args *args, size_t *n)
{
	size_t given, all = 0;
	const char *const *list = args_list(args, "method", &given);
	const struct usk_estimator *e = usk_estimators();
	while (e[all].name) {
		all++;
	}
	const struct usk_estimator **method = usk_alloc(all, sizeof *method);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (!given || named(list, given, &e[i])) {
			method[(*n)++] = &e[i];
		}
	}
	return method;
}

static int tell(const struct args *args, const struct usk_comparison *c, const struct truth *truth)
{
	struct usk_err err = { 0 };
	struct compared x = { .c = c, .with_truth = truth };
	int status = EXIT_DONE;
	x.errors = usk_alloc(c->n_pairs * c->n_methods, sizeof *x.errors);
	if (truth && measure(truth, &x, &err)) {
		usk_fail_in(&err, "%s", args_string(args, "truth"));
		free(x.errors);
		return say_error(&err);
	}
	bool data = args_flag(args, "json") || args_flag(args, "csv");
	if (args_flag(args, "json")) {
		print_json(stdout, &x);
	} else if (args_flag(args, "csv")) {
		print_csv(stdout, &x);
	} else {
		print_table(stdout, &x);
	}
	for (size_t i = 0; i < c->n_notes && data; i++) {
		say(args, "unskew: note: %s", c->note[i]);
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		status = c->pair[i].quality == USK_BOUNDED ? status : EXIT_PARTIAL;
	}
	free(x.errors);
	return status;
}

static int compare_run(const struct args *args)
{
	struct usk_trace **trace = NULL;
	struct usk_comparison *c = NULL;
	struct truth *truth = NULL;
	struct usk_err err = { 0 };
	struct usk_sync_options options;
	size_t n = 0, n_methods;
	if (args_flag(args, "json") && args_flag(args, "csv")) {
		return say_usage("--json and --csv both want standard output: choose one");
	}
	int status = sync_options(args, true, &options);
	if (!status) {
		status = traces_open(args, 0, &trace, &n);
	}
	if (!status) {
		status = traces_tell(trace, n);
	}
	if (!status && args_given(args, "truth") &&
	    truth_open(args_string(args, "truth"), &truth, &err)) {
		status = say_error(&err);
	}
	if (!status) {
		struct progress progress = progress_start(args);
		const struct usk_estimator **method = methods_of(args, &n_methods);
		options.progress = progress_show;
		options.progress_ctx = &progress;
		enum usk_status done = usk_compare(trace, n, &options, method, n_methods, &c, &err);
		progress_end(&progress);
		status = done ? say_error(&err) : tell(args, c, truth);
		free(method);
	}
	usk_comparison_free(c);
	truth_free(truth);
	traces_close(trace, n);
	return status;
}

static const struct option_group compare_output = {
	"Output",
	(const struct option_row[]){
		{ .name = "json", .help = "print JSON instead of the table" },
		{ .name = "csv", .help = "print CSV, a row per pair and method" },
		{ .name = "truth",
		  .type = OPTION_FILE,
		  .value = "FILE",
		  .help = "add each line's errors against the truth.json of `unskew simulate`" },
		{ 0 },
	},
};

static const struct option_group compare_method = {
	"Estimators",
	(const struct option_row[]){
		{ .name = "method",
		  .type = OPTION_CHOICE,
		  .repeated = true,
		  .value = "NAME,...",
		  .choice = method_name,
		  .spelt = method_spelt,
		  .help = "only these; otherwise all; +δ may be written for +delta" },
		{ 0 },
	},
};

const struct command cmd_compare = {
	.name = "compare",
	.run = compare_run,
	.operands = "[NAME=]TRACE...",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.help = "every estimator side by side: offset, rate, and what each leaves wrong",
	.more = "All draw their lines through the same messages, and each line is judged as it is "
		"drawn, not settled into the band as sync does: so it may have messages received "
		"before they were sent. Half widths are of the model's band, the same for all.\n\n"
		"Rate is that of the clock against the reference, less 1. Errors are estimate - "
		"truth at the truth's first, middle and last moment, and the root of the mean "
		"square over its moments. A method that has no answer says why. In JSON, seconds "
		"are what the estimator took once messages were sorted, exchanges found and hulls "
		"made.",
	.group = { &compare_output, &compare_method, &options_model, &options_delay, &options_match,
		   &options_common },
};
