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
#include "flow/stated.h"

#include <stdlib.h>
#include <string.h>

/* Rows are NAME=VALUE; whether there is such a clock is known when the traces are. */
static void check_rows(const char *option, const char *const *row, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++) {
		const char *eq = strchr(row[i], '=');
		int64_t ns;
		if (!eq || eq == row[i] || !eq[1]) {
			say_usage("--%s: \"%s\" should be NAME=%s", option, row[i], value);
		}
		if (*value == 'D' && usk_parse_duration(eq + 1, strlen(eq + 1), &ns, &why)) {
			say_usage("--%s %s: %s", option, row[i], why.msg);
		}
	}
}

static void take_options(const struct args *args, struct usk_sync_options *out)
{
	struct usk_delay_model delay;
	struct usk_model parsed;
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
	if (args_has(args, "model")) {
		out->model = args_string(args, "model");
		out->max_skew_e12 = args_int(args, "max-skew-ppm");
		out->weights = args_has(args, "weights") ? args_string(args, "weights") : NULL;
		out->solve = args_has(args, "solve") ? args_string(args, "solve") : NULL;
		if (args_given(args, "max-outliers")) {
			out->max_outliers = args_int(args, "max-outliers");
		}
	}
	if (out->from_ns != USK_NONE && out->to_ns != USK_NONE && out->from_ns > out->to_ns) {
		say_usage("--from lies after --to: no events are left between them");
	}
	if (out->model && usk_model_parse(out->model, &parsed, &why)) {
		say_usage("--model: %s", why.msg);
	}
	if (*out->min_delay != '@' &&
	    usk_delay_model_parse(out->min_delay, strlen(out->min_delay), &delay, &why)) {
		say_usage("--min-delay %s: %s", out->min_delay, why.msg);
	}
	check_rows("resolution", out->resolution, out->n_resolution, "DURATION");
	check_rows("local", out->local, out->n_local, "ADDR");
	check_rows("clock-log", out->clock_log, out->n_clock_log, "FILE");
}

/* NAME@TIME at its last @. */
static enum usk_status parse_side(const char *s, size_t n, const char **name, int64_t *ns,
				  struct usk_err *err)
{
	const char *at = memrchr(s, '@', n);
	if (!at || at == s) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" should be CLOCK@TIME",
				n > 60 ? 60 : (int)n, s);
	}
	size_t length = (size_t)(at - s);
	*name = kept(usk_format("%.*s", (int)length, s));
	return usk_parse_time(at + 1, n - length - 1, ns, err);
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

/*
 * "A@TIME=B@TIME±D": names may hold = and @, times : and +, so what can be read in one way only is
 * what was meant.
 */
static enum usk_status parse(const struct usk_statement_kind *kind, const char *text,
			     struct usk_anchor *out, struct usk_err *err)
{
	const char *duration = "0s", *end = text + strlen(text);
	end = kind->within ? find_within(text, &duration) : end;
	const size_t n = end ? (size_t)(end - text) : 0;
	enum usk_status status = USK_EUSAGE;
	if (!end || !memchr(text, '=', n)) {
		return usk_fail(err, USK_EUSAGE, 0, "should be %s", kind->form);
	}
	*out = (struct usk_anchor){ .kind = kind->option };
	if (usk_parse_duration(duration, strlen(duration), &out->within_ns, err)) {
		return USK_EUSAGE;
	}
	if (out->within_ns < 0) {
		return usk_fail(err, USK_EUSAGE, 0, "%s is negative", duration);
	}
	for (const char *eq = text; status && (eq = memchr(eq, '=', n - (size_t)(eq - text)));
	     eq++) {
		status = parse_side(text, (size_t)(eq - text), &out->a, &out->a_ns, err);
		status = status ? status
				: parse_side(eq + 1, (size_t)(end - eq) - 1, &out->b, &out->b_ns,
					     err);
	}
	return status;
}

/* What is stated of clocks, kind by kind. */
static void take_statements(const struct args *args, struct usk_sync_options *out)
{
	static struct usk_anchor *all;
	static size_t cap;
	const struct usk_statement_kind *kind;
	for (size_t k = 0; (kind = usk_statement_kind(k)); k++) {
		size_t n;
		const char *const *row = args_list(args, kind->option, &n);
		for (size_t i = 0; i < n; i++) {
			all = usk_room(all, out->n_anchors, &cap, sizeof *all);
			if (parse(kind, row[i], &all[out->n_anchors++], &why)) {
				say_usage("--%s %s: %s", kind->option, row[i], why.msg);
			}
		}
	}
	out->anchor = all;
}

void task_begin(struct task *t, const struct args *args)
{
	t->args = args;
	t->options.progress = progress_show;
	progress_start(args);
	take_options(args, &t->options);
	if (args_has(args, usk_statement_kind(0)->option)) {
		take_statements(args, &t->options);
	}
}

void task_truth(struct task *t, const char *set)
{
	const char *path = args_string(t->args, "truth");
	path = path && set ? kept(usk_format("%s/%s", set, path)) : path;
	if (path) {
		must_in(truth_open(path, &t->truth, &why), set);
	}
}

void task_open(struct task *t, const char *set)
{
	if (set) {
		t->trace = traces_open_set(t->args, set, &t->n);
	} else {
		operands_apart(t->args);
		t->trace = traces_open(t->args, 0, &t->n, &t->skipped);
	}
	traces_tell(t->trace, t->n);
	if (!t->truth && args_has(t->args, "truth")) {
		task_truth(t, set);
	}
}

void task_open_operands(struct task *t)
{
	task_open(t, NULL);
}

static void print_score(FILE *out, const char *name, const struct truth_score *score)
{
	if (!score->known) {
		fprintf(out,
			"Truth: nothing to compare for %s: it has no correction, or truth.json has "
			"another name for it.\n",
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

enum usk_status task_scores(const struct task *t, const struct usk_clocks *c,
			    struct truth_score **out)
{
	enum usk_status status = USK_OK;
	struct truth_score *score =
		t->truth ? kept(usk_alloc(c->n_clocks + 1, sizeof *score)) : NULL;
	for (size_t i = 0; i < c->n_clocks && score && !status; i++) {
		if (c->clock[i].quality != USK_REFERENCE) {
			status = truth_compare(t->truth, c, i, &score[i], &why);
		}
		usk_fail_in(status, &why, "%s", args_string(t->args, "truth"));
	}
	*out = status ? NULL : score;
	return status;
}

void task_print_scores(FILE *out, const struct usk_clocks *c, const struct truth_score *score)
{
	for (size_t i = 0; i < c->n_clocks && score; i++) {
		if (c->clock[i].quality != USK_REFERENCE) {
			print_score(out, printable(c->clock[i].name), &score[i]);
		}
	}
}

void task_close(struct task *t)
{
	truth_free(t->truth);
	for (size_t i = 0; i < t->n; i++) {
		usk_trace_close(t->trace[i]);
	}
	t->truth = NULL;
	t->n = 0;
}

int task_end(const struct task *t, int status)
{
	return status == EXIT_DONE && t->skipped ? EXIT_PARTIAL : status;
}
