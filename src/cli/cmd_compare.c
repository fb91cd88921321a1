/* SPDX-License-Identifier: MIT */
/*
 * cmd_compare.c - every estimator side by side, through the same messages
 *
 * In    traces of machines that exchanged messages; the truth, where a simulation knows it
 * Out   per pair and method: offset, rate, violations, error; as a table, JSON or CSV
 * Why   tells which method suits a network, and what a published one would have said
 * Not   a correction: lines are judged as drawn, not settled into the band (sync does that)
 */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

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

static enum usk_status compare(struct usk_trace *const *trace, size_t n, const struct args *args,
			       const struct usk_sync_options *options, struct usk_comparison **out,
			       struct usk_err *err)
{
	size_t n_methods;
	const struct usk_estimator **method = methods_of(args, &n_methods);
	enum usk_status status = usk_compare(trace, n, options, method, n_methods, out, err);
	free(method);
	return status;
}

static int status_of(const struct usk_comparison *c)
{
	int status = EXIT_DONE;
	for (size_t i = 0; i < c->n_pairs; i++) {
		status = c->pair[i].quality == USK_BOUNDED ? status : EXIT_PARTIAL;
	}
	return status;
}

static int tell(const struct args *args, const struct usk_comparison *c, const struct truth *truth)
{
	struct usk_err err = { 0 };
	struct compared x = { .c = c };
	if (compare_measure(truth, &x, &err)) {
		usk_fail_in(&err, "%s", args_string(args, "truth"));
		free(x.errors);
		return say_error(&err);
	}
	bool data = args_flag(args, "json") || args_flag(args, "csv");
	if (args_flag(args, "json")) {
		compare_print_json(stdout, &x);
	} else if (args_flag(args, "csv")) {
		compare_print_csv(stdout, &x);
	} else {
		compare_print(stdout, &x);
	}
	for (size_t i = 0; i < c->n_notes && data; i++) {
		say(args, "unskew: note: %s", c->note[i]);
	}
	free(x.errors);
	return status_of(c);
}

static int compare_one(const struct args *args, struct usk_sync_options *options,
		       struct progress *progress)
{
	struct usk_trace **trace = NULL;
	struct usk_comparison *c = NULL;
	struct truth *truth = NULL;
	struct usk_err err = { 0 };
	size_t n = 0;
	int status = traces_open(args, 0, &trace, &n);
	status = status ? status : traces_tell(trace, n);
	if (!status && args_given(args, "truth") &&
	    truth_open(args_string(args, "truth"), &truth, &err)) {
		status = say_error(&err);
	}
	if (!status) {
		enum usk_status done = compare(trace, n, args, options, &c, &err);
		progress_end(progress);
		status = done ? say_error(&err) : tell(args, c, truth);
	}
	usk_comparison_free(c);
	truth_free(truth);
	traces_close(trace, n);
	return status;
}

/* One more set: what cannot be compared in it ends the whole, a pair that is not bounded does not.
 */
static int add_set(const struct args *args, const char *set, const struct usk_sync_options *options,
		   struct repeats *to)
{
	struct usk_trace **trace = NULL;
	struct usk_comparison *c = NULL;
	struct truth *truth = NULL;
	struct compared x = { .c = NULL };
	struct usk_err err = { 0 };
	size_t n = 0;
	int status = traces_open_set(args, set, &trace, &n);
	status = status ? status : traces_tell(trace, n);
	enum usk_status done = USK_OK;
	if (!status && args_given(args, "truth")) {
		char *path = usk_format("%s/%s", set, args_string(args, "truth"));
		done = truth_open(path, &truth, &err);
		free(path);
	}
	if (!status && !done) {
		done = compare(trace, n, args, options, &c, &err);
	}
	if (!status && !done) {
		x.c = c;
		done = compare_measure(truth, &x, &err);
	}
	if (!status && !done) {
		for (size_t i = 0; i < c->n_notes; i++) {
			say(args, "unskew: note: %s: %s", set, c->note[i]);
		}
		repeats_add(to, &x);
		status = status_of(c);
	}
	if (done) {
		usk_fail_in(&err, "%s", set);
		status = say_error(&err);
	}
	free(x.errors);
	usk_comparison_free(c);
	truth_free(truth);
	traces_close(trace, n);
	return status;
}

static int compare_repeated(const struct args *args, struct usk_sync_options *options,
			    struct progress *progress)
{
	struct repeats r = { .sets = 0 };
	int status = EXIT_DONE;
	bool good = true;
	/* A bar of its own for every set would only flicker. */
	options->progress = NULL;
	for (size_t i = 0; i < args_operands(args) && good; i++) {
		progress_show(progress, (double)i / (double)args_operands(args), "comparing");
		int set = add_set(args, args_operand(args, i), options, &r);
		good = set == EXIT_DONE || set == EXIT_PARTIAL;
		status = set ? set : status;
	}
	progress_end(progress);
	if (good && args_flag(args, "json")) {
		repeats_print_json(stdout, &r);
	} else if (good && args_flag(args, "csv")) {
		repeats_print_csv(stdout, &r);
	} else if (good) {
		repeats_print(stdout, &r);
	}
	repeats_free(&r);
	return status;
}

static int compare_run(const struct args *args)
{
	struct usk_sync_options options;
	if (args_flag(args, "json") && args_flag(args, "csv")) {
		return say_usage("--json and --csv both want standard output: choose one");
	}
	int status = sync_options(args, true, &options);
	if (status) {
		return status;
	}
	struct progress progress = progress_start(args);
	options.progress = progress_show;
	options.progress_ctx = &progress;
	return args_flag(args, "repeat") ? compare_repeated(args, &options, &progress)
					 : compare_one(args, &options, &progress);
}

static const struct option_group compare_output = {
	"Output",
	(const struct option_row[]){
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
		{ 0 },
	},
};

static const struct option_group compare_method = {
	"Estimators",
	(const struct option_row[]){
		{ "method", "only these; otherwise all; +δ may be written for +delta",
		  CHOICE("NAME,..."), .repeated = true, .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
		{ 0 },
	},
};

const struct command cmd_compare = {
	.name = "compare",
	.run = compare_run,
	.operands = "[NAME=]TRACE...|--repeat SET...",
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
		"made; accuracy is the full width of the band (Poirier 2010), twice the half "
		"width.\n\n"
		"With --repeat each operand is a set that is compared for itself: a folder, of "
		"which all captures are taken or, if it has none, all tables, or a table alone. "
		"Clocks are the same in two sets if their names are. What was recorded again "
		"within a short time has the same rates, so a method whose rates lie together more "
		"tightly is likely to be nearer to them (Ashton 1995, section 6.1).",
	.group = { &compare_output, &compare_method, &options_model, &options_delay, &options_read,
		   &options_match, &options_common },
};
