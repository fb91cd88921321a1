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
			if (usk_estimator_find(kept(usk_format("%.*s", (int)length, p))) == e) {
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
	struct usk_comparison *c = NULL;
	struct compared x = { 0 };
	size_t n_methods;
	const struct usk_estimator **method = methods_of(args, &n_methods);
	enum usk_status done =
		usk_compare(t->trace, t->n, &t->options, method, n_methods, &c, &t->err);
	bool compared = !done;
	x.c = c;
	done = done ? done : compare_measure(t->truth, &x, &t->err);
	if (done && (set || compared)) {
		usk_fail_in(&t->err, "%s", set ? set : args_string(args, "truth"));
	}
	int status = task_done(t, done);
	if (!status && to) {
		for (size_t i = 0; i < c->n_notes; i++) {
			say(args, "unskew: note: %s: %s", set, c->note[i]);
		}
		repeats_add(to, &x);
	} else if (!status) {
		tell(args, &x);
	}
	status = status ? status : status_of(c);
	free(method);
	free(x.errors);
	usk_comparison_free(c);
	return status;
}

/* What cannot be compared in one set ends the whole, a pair that is not bounded does not. */
static int compare_repeated(struct task *t)
{
	struct repeats r = { .sets = 0 };
	const struct args *args = t->args;
	struct progress all = t->progress;
	int status = EXIT_DONE;
	bool good = true;
	/* A bar of its own for every set would only flicker. */
	t->options.progress = NULL;
	for (size_t i = 0; i < args_operands(args) && good; i++) {
		const char *set = args_operand(args, i);
		progress_show(&all, (double)i / (double)args_operands(args), "comparing");
		int one = task_open(t, set);
		one = one ? one : compare_set(t, set, &r);
		task_close(t);
		good = one == EXIT_DONE || one == EXIT_PARTIAL;
		status = one ? one : status;
	}
	progress_end(&all);
	if (good) {
		(args_flag(args, "json")  ? repeats_print_json
		 : args_flag(args, "csv") ? repeats_print_csv
					  : repeats_print)(stdout, &r);
	}
	repeats_free(&r);
	return status;
}

static int compare_run(const struct args *args)
{
	struct task t;
	if (args_flag(args, "json") && args_flag(args, "csv")) {
		return say_usage("--json and --csv both want standard output: choose one");
	}
	int status = task_begin(&t, args);
	if (!status && args_flag(args, "repeat")) {
		status = compare_repeated(&t);
	} else if (!status) {
		status = task_open(&t, NULL);
		status = status ? status : compare_set(&t, NULL, NULL);
	}
	task_end(&t);
	return status;
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
		  CHOICE("NAME,..."), .repeated = true, .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
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
