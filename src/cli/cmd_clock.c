/* SPDX-License-Identifier: MIT */
/*
 * cmd_clock.c - how good this machine's own clocks are
 *
 * In    the machine as it is, and a load
 * Out   each clock: cost, resolution, repeats, steps back, drift; what compensating for the cost of
 *       reads brings; cores, timers and messages by load
 * Why   a correction is never better than the stamps
 * Not   measuring (src/clock); other machines
 */
#include "clock_show.h"
#include "base/text.h"
#include "clock/log.h"

#include <string.h>
#include <unistd.h>

size_t find_source(const struct args *args, const char *option, const struct source *s, size_t n,
		   bool (*fits)(const struct source *s))
{
	const char *name = args_string(args, option), *comma = "";
	struct usk_stream names;
	FILE *out = usk_stream_begin(&names);
	size_t which = n;
	for (size_t i = 0; i < n; i++) {
		if (!fits || fits(&s[i])) {
			which = strcmp(s[i].name, name) ? which : i;
			fprintf(out, "%s%s", comma, s[i].name);
			comma = ", ";
		}
	}
	const char *all = kept(usk_stream_end(&names));
	if (which == n) {
		say_usage("--%s: this machine has no clock \"%s\"%s; it has %s", option, name,
			  fits ? " that shows ns" : "", all);
	}
	return which;
}

/* "1,4": after none, which always comes first. */
static void loads_of(const struct args *args, struct clock_report *r)
{
	const char *text = args_string(args, "load");
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	r->n_under = 1;
	if (!text) {
		r->under[r->n_under++].load = cpus > 0 ? (unsigned)cpus : 1;
	}
	while (text) {
		size_t n = strcspn(text, ",");
		int64_t load;
		if (usk_parse_int(text, n, &load, NULL) || load < 1 || load > 1000) {
			say_usage("--load: \"%.*s\" is no number from 1 to 1000", (int)n, text);
		}
		if (r->n_under == LOADS_MAX) {
			say_usage("--load: no more than %d of them", LOADS_MAX - 1);
		}
		r->under[r->n_under++].load = (unsigned)load;
		text = text[n] ? text + n + 1 : NULL;
	}
}

static void measure_under(const struct clock_report *r, struct under *u, size_t samples)
{
	const struct source *s = &r->source[r->which];
	const struct load_plan others = {
		.work = r->work, .n = u->load, .source = s, .channel = CHANNEL_UNIX, .bytes = 1
	};
	struct load *load = load_start(&others);
	zero_measure(s, samples, &u->zero);
	routines_measure(s, samples, u->routine);
	u->has_routines = true;
	u->wakeup = wakeups_measure(200);
	load_stop(load);
	for (int c = 0; c < CHANNELS; c++) {
		for (size_t k = 0; k < SIZES; k++) {
			const struct exchange_plan plan = { .channel = (enum channel)c,
							    .bytes = clock_sizes[k],
							    .n = 300,
							    .load = u->load,
							    .source = s,
							    .how = r->how,
							    .best = r->best };
			exchange_measure(&plan, &u->exchange[c][k]);
		}
	}
}

/* For --seconds, else until somebody stops it: the last lines belong to the log, too. */
static int log_run(const struct args *args, const char *path)
{
	double seconds = args_given(args, "seconds") ? args_number(args, "seconds") : -1e-9;
	static struct clock_log log;
	bool stopped;
	int signals = end_signals();
	must(clock_log_open(&log, path, args_flag(args, "force"), &why));
	enum usk_status status =
		clock_log_wait(&log, signals, (int64_t)(seconds * 1e9), &stopped, &why);
	enum usk_status closed = clock_log_close(&log, status ? NULL : &why);
	must(status ? status : closed);
	return EXIT_DONE;
}

static void measure(const struct args *args, struct clock_report *r)
{
	r->seconds = args_number(args, "seconds");
	r->best = args_flag(args, "best");
	r->histograms = args_flag(args, "histograms");
	r->work = (enum work)args_int(args, "work");
	r->how = (enum compensation)args_int(args, "compensate");
	progress_start(args);
	progress_show(NULL, 0.1, "clocks");
	sources_measure(r->source, r->n_sources, r->seconds, r->figures);
	r->discipline = discipline_now();
	progress_show(NULL, 0.4, "cores");
	r->n_cores = cores_measure(r->core);
	for (size_t i = 0; i < r->n_under; i++) {
		progress_show(NULL, 0.5 + 0.5 * (double)i / (double)r->n_under,
			      i ? "under load" : "without load");
		measure_under(r, &r->under[i], (size_t)args_int(args, "samples"));
	}
	progress_end();
}

static int clock_run(const struct args *args)
{
	static struct clock_report r;
	static struct usk_output out;
	const char *path = args_string(args, "output");
	if (args_given(args, "log")) {
		return log_run(args, args_string(args, "log"));
	}
	if (args_given(args, "drift") || args_given(args, "drift-of")) {
		loads_of(args, &r);
		return clock_watch_drift(args, args_given(args, "load") ? r.under[1].load : 0);
	}
	r.n_sources = sources_open(r.source);
	r.which = find_source(args, "source", r.source, r.n_sources, NULL);
	loads_of(args, &r);
	if (path) {
		must(usk_output_open(&out, path, args_flag(args, "force"), &why));
	}
	measure(args, &r);
	(args_flag(args, "json") ? clock_print_json : clock_print)(stdout, &r);
	if (path) {
		clock_print_page(&out, &r);
		must(usk_output_commit(&out, &why));
	}
	return EXIT_DONE;
}

static const char *compensation_choice(size_t i)
{
	return i < COMPENSATIONS ? compensation_name((enum compensation)i) : NULL;
}

static const struct option_group clock_options = {
	"Measuring",
	{
		{ "seconds", "how long drift is watched; the rest takes some seconds more",
		  NUMBER("S", "1", "0.01", "100000") },
		{ "source", "the clock that the experiments read", TEXT("CLOCK"),
		  .initial = "monotonic_raw" },
		{ "load",
		  "threads (messages: pairs of threads) that load the machine, one after another; "
		  "otherwise as many as it has processors",
		  TEXT("N[,N...]") },
		{ "work",
		  "what they do while zero and timers are measured: read the clock, or send each "
		  "other messages",
		  CHOICE("read|message"), .initial = "read" },
		{ "samples", "how often zero elapsed time is measured",
		  INTEGER("N", "20000", "100", "10000000") },
		{ "compensate", "how round trips are freed from the cost of reading the clock",
		  CHOICE("NAME"), .initial = "method-1", .choice = compensation_choice },
		{ "best", "instead by the one that measures zero best in the same run", FLAG },
	},
};

static const struct option_group clock_drift_options = {
	"Drift over hours",
	{
		{ "drift",
		  "watch for so long by how much the rates of the clocks change, and nothing else; "
		  "with --load N under that load every second period; a signal ends it earlier",
		  DURATION(NULL, "1ms", NULL) },
		{ "drift-of",
		  "instead of the clocks of this machine, those of a table of exchanges that "
		  "`unskew line` or `unskew probe` wrote",
		  PATH("TABLE") },
		{ "period", "a rate is measured over so long", DURATION("10s", "1ms", NULL) },
		{ "allowance-ppm", "is the change within this?", PPM("1", "0", "1000") },
	},
};

static const struct option_group clock_output = {
	"Output",
	{
		{ "output", "also a page, HTML, with all tables and histograms drawn", PATH("FILE"),
		  .letter = 'o' },
		{ "histograms", "also how zero elapsed time and the steps of each clock are spread",
		  FLAG },
		{ "json", "print JSON with all figures and histograms, which report --clock takes",
		  FLAG },
		{ "log",
		  "measure nothing, but write a line a second on what a time daemon does to "
		  "CLOCK_REALTIME, which sync --clock-log takes; for --seconds, or until stopped",
		  PATH("FILE") },
	},
};

const struct command cmd_clock = {
	.name = "clock",
	.run = clock_run,
	.operands = "",
	.example = {
		{ "what reading this machine's clocks costs, and how good they are", "clock -o clocks.html" },
		{ "how much their rates change over hours", "clock --drift 4h --period 10s" },
		{ "how two machines' rates changed, by a table of line or probe", "clock --drift-of exchanges.csv" },
	},
	.brief = { "output", "seconds", "load", "drift", "json" },
	.help = "how good this machine's own clocks are",
	.more = "An interval that is measured by reading a clock twice is too long by about one "
		"read, whose cost depends on the load. Zero elapsed time shows by how much, and "
		"what compensation brings: long-term subtracts the mean cost of a read; method-1 "
		"that of two reads before and two after; method-2 that of a thread on another "
		"processor, which is signalled before each run and reads twice, again and again, "
		"until it is over: the pairs nearest to the run's own reads count. A pair that "
		"something else split, having the processor in between, tells nothing: its run is "
		"left out of what that method says, and so is a run without a pair nearby. Kept is "
		"the share of runs that remain; where that is too few (under half of them, unless "
		"it is 30 and a tenth), there is no answer: \"-\". k is the variance as measured "
		"over the variance after compensation: "
		"over 1 is better, and 0.5 to 0.67 is what to expect where neighbouring reads have "
		"nothing to do with each other (Kong, Spector and Siewiorek 1986). Messages are "
		"measured under a load of their like, and zero once more in each of those runs: "
		"what it is off by is what that run's round trips may be off by.",
	.group = { &clock_options, &clock_drift_options, &clock_output, &options_force,
		   &options_common },
};
