/* SPDX-License-Identifier: MIT */
/* The options that choose the clock model and the estimator, and those of matching, taken. */
#include "cmd.h"
#include "base/text.h"

#include <string.h>

const char *method_name(size_t i)
{
	return usk_estimators()[i].name;
}

const char *method_spelt(const char *text)
{
	const struct usk_estimator *e = usk_estimator_find(text);
	return e ? e->name : NULL;
}

const struct option_group options_method = {
	"Estimator",
	(const struct option_row[]){
		{ "method",
		  "the estimator that draws the correction into the band; +δ may be written for "
		  "+delta",
		  CHOICE("NAME"), .initial = "middle", .choice = method_name,
		  .spelt = method_spelt },
		WINDOW_ROW,
		{ 0 },
	},
};

const struct option_group options_model = {
	"Model",
	(const struct option_row[]){
		{ "model",
		  "what the clocks may do; wander[=PPM]: the rate of each clock is constant within "
		  "PPM, 5 unless told, outside of disturbed stretches; linear: every clock keeps "
		  "one rate; segments[=DURATION|auto]: one rate for DURATION, 30min unless told, "
		  "or for as long as one fits",
		  TEXT("MODEL"), .letter = 'm', .initial = "wander" },
		{ "max-skew-ppm", "no two clocks run further apart than this",
		  PPM("500", "0.001", "100000") },
		{ "max-outliers",
		  "messages that may be left out where they contradict the others; otherwise 10, "
		  "or 0.01 % if that is more",
		  INTEGER("N", NULL, "0", "1000000000") },
		{ 0 },
	},
};

const struct option_group options_solve = {
	"Many clocks",
	(const struct option_row[]){
		{ "solve",
		  "more than two clocks: by all messages together, or by those along the shortest "
		  "path to each",
		  CHOICE("joint|tree"), .initial = "joint" },
		{ 0 },
	},
};

const struct option_group options_delay = {
	"Delay",
	(const struct option_row[]){
		{ "min-delay",
		  "no message takes less: BASE[+FIRST][+PER_BYTE/B], such as 50us or "
		  "520us+14us+1.032us/B, FIRST for the first byte of payload and PER_BYTE for each "
		  "further one; or @FILE, a CSV sender,receiver,model",
		  TEXT("MODEL"), .initial = "0" },
		{ 0 },
	},
};

/* Rows are NAME=VALUE; whether there is such a clock is known when the traces are. */
static int check_rows(const char *option, const char *const *row, size_t n, bool duration)
{
	for (size_t i = 0; i < n; i++) {
		const char *eq = strchr(row[i], '=');
		struct usk_err err;
		int64_t ns;
		if (!eq || eq == row[i] || !eq[1]) {
			return say_usage("--%s: \"%s\" should be NAME=%s", option, row[i],
					 duration ? "DURATION" : "ADDR");
		}
		if (duration && usk_parse_duration(eq + 1, strlen(eq + 1), &ns, &err)) {
			return say_usage("--%s %s: %s", option, row[i], err.msg);
		}
	}
	return EXIT_DONE;
}

/* Take the values of options_match and options_model; lists stay args' own. */
int sync_options(const struct args *args, bool model, struct usk_sync_options *out)
{
	memset(out, 0, sizeof *out);
	out->reference = args_string(args, "reference");
	out->resolution = args_list(args, "resolution", &out->n_resolution);
	out->local = args_list(args, "local", &out->n_local);
	out->clock_of = args_list(args, "clock-of", &out->n_clock_of);
	out->from_ns = args_given(args, "from") ? args_ns(args, "from") : USK_NONE;
	out->to_ns = args_given(args, "to") ? args_ns(args, "to") : USK_NONE;
	out->min_delay = args_has(args, "min-delay") ? args_string(args, "min-delay") : "0";
	out->window_ns = args_has(args, "window") ? args_ns(args, "window") : 0;
	out->max_outliers = -1;
	if (model) {
		out->model = args_string(args, "model");
		out->max_skew_e12 = args_e12(args, "max-skew-ppm");
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
	int status = check_rows("resolution", out->resolution, out->n_resolution, true);
	return status ? status : check_rows("local", out->local, out->n_local, false);
}
