/* SPDX-License-Identifier: MIT */
/*
 * task.c - what commands on traces begin with, and give back at the end
 *
 * In    the options of matching and of the model, the traces
 * Out   opened traces and what the library takes, or one sentence and the exit status
 */
#include "cmd.h"
#include "units.h"
#include "base/text.h"

#include <string.h>
#include <stdlib.h>

/* Rows are NAME=VALUE; whether there is such a clock is known when the traces are. */
static int check_rows(const char *option, const char *const *row, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++) {
		const char *eq = strchr(row[i], '=');
		struct usk_err err;
		int64_t ns;
		if (!eq || eq == row[i] || !eq[1]) {
			return say_usage("--%s: \"%s\" should be NAME=%s", option, row[i], value);
		}
		if (*value == 'D' && usk_parse_duration(eq + 1, strlen(eq + 1), &ns, &err)) {
			return say_usage("--%s %s: %s", option, row[i], err.msg);
		}
	}
	return EXIT_DONE;
}

static int take_options(const struct args *args, struct usk_sync_options *out)
{
	const bool model = args_has(args, "model");
	out->reference = args_string(args, "reference");
	out->resolution = args_list(args, "resolution", &out->n_resolution);
	out->local = args_list(args, "local", &out->n_local);
	out->clock_of = args_list(args, "clock-of", &out->n_clock_of);
	if (args_has(args, "clock-log")) {
		out->clock_log = args_list(args, "clock-log", &out->n_clock_log);
	}
	out->readings = args_string(args, "readings");
	out->from_ns = args_given(args, "from") ? args_int(args, "from") : USK_NONE;
	out->to_ns = args_given(args, "to") ? args_int(args, "to") : USK_NONE;
	out->min_delay = args_has(args, "min-delay") ? args_string(args, "min-delay") : "0";
	out->window_ns = args_has(args, "window") ? args_int(args, "window") : 0;
	out->max_outliers = -1;
	if (model) {
		out->model = args_string(args, "model");
		out->max_skew_e12 = args_int(args, "max-skew-ppm");
		out->solve = args_has(args, "solve") ? args_string(args, "solve") : NULL;
		if (args_given(args, "max-outliers")) {
			out->max_outliers = args_int(args, "max-outliers");
		}
	}
	if (out->from_ns != USK_NONE && out->to_ns != USK_NONE && out->from_ns > out->to_ns) {
		return say_usage("--from lies after --to: nothing is left between them");
	}
	struct usk_delay_model delay;
	struct usk_model parsed;
	struct usk_err err;
	if (model && usk_model_parse(out->model, &parsed, &err)) {
		return say_usage("--model: %s", err.msg);
	}
	if (*out->min_delay != '@' &&
	    usk_delay_model_parse(out->min_delay, strlen(out->min_delay), &delay, &err)) {
		return say_usage("--min-delay %s: %s", out->min_delay, err.msg);
	}
	int status = check_rows("resolution", out->resolution, out->n_resolution, "DURATION");
	status = status ? status : check_rows("local", out->local, out->n_local, "ADDR");
	return status ? status : check_rows("clock-log", out->clock_log, out->n_clock_log, "FILE");
}

/* NAME@TIME at its last @; *name is malloc'ed. */
static enum usk_status parse_side(const char *s, size_t n, char **name, int64_t *ns,
				  struct usk_err *err)
{
	const char *at = memrchr(s, '@', n);
	if (!at || at == s) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" should be CLOCK@TIME",
				n > 60 ? 60 : (int)n, s);
	}
	size_t length = (size_t)(at - s);
	enum usk_status status = usk_parse_time(at + 1, n - length - 1, ns, err);
	*name = status ? NULL : usk_format("%.*s", (int)length, s);
	return status;
}

/* Where ±D or +-D begins, the last one; NULL: there is none. */
static const char *find_within(const char *text, const char **duration)
{
	const char *found = NULL;
	for (const char *p = text; *p; p++) {
		bool sign = !strncmp(p, "\xc2\xb1", 2);
		if (sign || !strncmp(p, "+-", 2)) {
			found = p;
			*duration = p + 2;
		}
	}
	return found;
}

static enum usk_status parse(const char *text, struct usk_anchor *out, struct usk_err *err)
{
	const char *duration, *end = find_within(text, &duration);
	const size_t n = end ? (size_t)(end - text) : 0;
	enum usk_status status = USK_EUSAGE;
	if (!end || !memchr(text, '=', n)) {
		return usk_fail(err, USK_EUSAGE, 0, "should be A@TIME=B@TIME±D");
	}
	if (usk_parse_duration(duration, strlen(duration), &out->within_ns, err)) {
		return USK_EUSAGE;
	}
	if (out->within_ns < 0) {
		return usk_fail(err, USK_EUSAGE, 0, "%s is less than nothing", duration);
	}
	for (const char *eq = text; status && (eq = memchr(eq, '=', n - (size_t)(eq - text)));
	     eq++) {
		char *a = NULL, *b = NULL;
		status = parse_side(text, (size_t)(eq - text), &a, &out->a_ns, err);
		if (!status) {
			status = parse_side(eq + 1, (size_t)(end - eq) - 1, &b, &out->b_ns, err);
		}
		if (status) {
			free(a);
			continue;
		}
		out->a = a;
		out->b = b;
	}
	return status;
}

/*
 * --anchor A@TIME=B@TIME±D: names may hold = and @, times : and +, so what can be read in one way
 * only is what was meant.
 */
static int take_anchors(const struct args *args, struct usk_sync_options *out)
{
	size_t n;
	const char *const *row = args_list(args, "anchor", &n);
	struct usk_anchor *anchor = usk_alloc(n + 1, sizeof *anchor);
	out->anchor = anchor;
	out->n_anchors = n;
	for (size_t i = 0; i < n; i++) {
		struct usk_err err = { 0 };
		if (parse(row[i], &anchor[i], &err)) {
			return say_usage("--anchor %s: %s", row[i], err.msg);
		}
	}
	return EXIT_DONE;
}

int task_begin(struct task *t, const struct args *args)
{
	*t = (struct task){ .args = args, .progress = progress_start(args) };
	t->options.progress = progress_show;
	t->options.progress_ctx = &t->progress;
	int status = take_options(args, &t->options);
	return status || !args_has(args, "anchor") ? status : take_anchors(args, &t->options);
}

int task_truth(struct task *t, const char *set)
{
	const char *path = args_string(t->args, "truth");
	int status = EXIT_DONE;
	path = path && set ? kept(usk_format("%s/%s", set, path)) : path;
	if (path && truth_open(path, &t->truth, &t->err)) {
		if (set) {
			usk_fail_in(&t->err, "%s", set);
		}
		status = say_error(&t->err);
	}
	return status;
}

int task_open(struct task *t, const char *set)
{
	int status = set ? EXIT_DONE : operands_apart(t->args);
	status = status ? status
		 : set	? traces_open_set(t->args, set, &t->trace, &t->n)
			: traces_open(t->args, 0, &t->trace, &t->n, &t->skipped);
	status = status ? status : traces_tell(t->trace, t->n);
	return status || t->truth || !args_has(t->args, "truth") ? status : task_truth(t, set);
}

int task_done(struct task *t, enum usk_status done)
{
	progress_end(&t->progress);
	return done ? say_error(&t->err) : EXIT_DONE;
}

static void print_score(FILE *out, const char *name, const struct truth_score *score)
{
	if (!score->known) {
		fprintf(out,
			"Truth: nothing to compare for %s: it has no correction, or the truth "
			"knows it by another name.\n",
			name);
		return;
	}
	fprintf(out, "Truth: %s's estimate is off by at most %s; its band ", name,
		unit_at_most(score->worst_ns).s);
	if (score->outside_ns) {
		fprintf(out, "MISSES the truth by up to %s.\n", unit_at_most(score->outside_ns).s);
	} else {
		fputs("holds the truth throughout.\n", out);
	}
}

int task_scores(struct task *t, const struct usk_clocks *c, FILE *out)
{
	struct truth_score score;
	for (size_t i = 0; i < c->n_clocks && t->truth; i++) {
		if (c->clock[i].quality == USK_REFERENCE) {
			continue;
		}
		if (truth_compare(t->truth, c, i, &score, &t->err)) {
			usk_fail_in(&t->err, "%s", args_string(t->args, "truth"));
			return say_error(&t->err);
		}
		print_score(out, printable(c->clock[i].name), &score);
	}
	return EXIT_DONE;
}

void task_close(struct task *t)
{
	truth_free(t->truth);
	traces_close(t->trace, t->n);
	t->truth = NULL;
	t->trace = NULL;
	t->n = 0;
}

int task_end(struct task *t, int status)
{
	progress_end(&t->progress);
	task_close(t);
	for (size_t i = 0; i < t->options.n_anchors; i++) {
		free((char *)t->options.anchor[i].a);
		free((char *)t->options.anchor[i].b);
	}
	free((struct usk_anchor *)t->options.anchor);
	return status == EXIT_DONE && t->skipped ? EXIT_PARTIAL : status;
}
