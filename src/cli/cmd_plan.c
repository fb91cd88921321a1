/* SPDX-License-Identifier: MIT */
/*
 * cmd_plan.c - which further messages would narrow the bands, and how many
 *
 * In    a first recording, or a topology
 * Out   what round trips on each link would give, and how often they would have to be
 * Why   most links that could be probed do not help the clock that needs it
 * Not   the probes themselves: `unskew probe` sends them
 */
#include "json.h"
#include "print.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct plan_command {
	struct task task;
	struct usk_network network;
	struct usk_clocks *clocks; /* NULL: nothing was recorded */
	struct usk_plan plan;
	int64_t *period_ns;
	size_t n_periods;
	int64_t want_ns;
};

/* ---- what there is ------------------------------------------------------------------------------
 */

/* Messages that take less than the least would all be contradictions. */
static void check_delays(const struct plan_command *x, const char *path)
{
	const struct usk_network *n = &x->network;
	const char *text = x->task.options.min_delay;
	struct usk_delay_model least;
	if (*text == '@') {
		return;
	}
	must(usk_delay_model_parse(text, strlen(text), &least, &why));
	for (size_t i = 0; i < n->n_links; i++) {
		const struct usk_plan_link *l = &n->link[i];
		const struct usk_reservoir *d = &l->way[0].delay_ns;
		bool told = d->n && !l->way[0].n && !l->way[1].n;
		if (told && d->value[0] < usk_delay_model_ns(&least, 0)) {
			say_failed("%s: a message of %s - %s takes %s at least, less than "
				   "--min-delay %s",
				   path, printable(n->clock[l->a].name),
				   printable(n->clock[l->b].name), unit_span(d->value[0]).s, text);
		}
	}
}

static void take_topology(struct plan_command *x, const char *path)
{
	struct usk_input in;
	must_in(usk_input_open(&in, path, usk_sniff_text, &why), path);
	must_in(usk_network_add(&in, &x->network, &why), path);
	usk_input_close(&in);
	check_delays(x, path);
}

/* Without a recording: what that would have told. */
static void assume(struct plan_command *x)
{
	const struct usk_sync_options *o = &x->task.options;
	struct usk_network *n = &x->network;
	struct usk_model model;
	must(usk_model_parse(o->model, &model, &why));
	n->model = o->model;
	n->wander_e12 = model.wander_e12;
	n->max_skew_e12 = o->max_skew_e12;
	n->min_delay = o->min_delay;
	n->span_ns = INT64_C(3600000000000);
	n->reference = o->reference ? o->reference : n->n_clocks ? n->clock[0].name : NULL;
	if (!n->n_links) {
		say_failed("the topology has no link");
	}
	if (!usk_network_find(n, n->reference)) {
		say_usage("--reference: there is no clock %s", printable(n->reference));
	}
}

static void take_network(struct plan_command *x)
{
	const struct args *args = x->task.args;
	const char *topology = args_string(args, "topology");
	if (!topology && !args_operands(args)) {
		say_usage("plan needs traces, or --topology FILE");
	}
	if (args_operands(args)) {
		task_open(&x->task, NULL);
		must(usk_network_read(x->task.trace, x->task.n, &x->task.options, &x->network,
				      &x->clocks, &why));
	}
	if (topology) {
		take_topology(x, topology);
	}
	if (!x->clocks) {
		assume(x);
	}
	if (args_given(args, "span")) {
		x->network.span_ns = args_int(args, "span");
	}
}

static int longest_first(const void *a, const void *b)
{
	return usk_by_int64(b, a);
}

static void take_periods(struct plan_command *x)
{
	const int64_t *given = args_ints(x->task.args, "periods", &x->n_periods);
	x->period_ns = kept(usk_alloc(x->n_periods, sizeof *x->period_ns));
	memcpy(x->period_ns, given, x->n_periods * sizeof *given);
	qsort(x->period_ns, x->n_periods, sizeof *x->period_ns, longest_first);
}

/* ---- for people -------------------------------------------------------------------------------
 */

static const char *name_of(const struct plan_command *x, uint32_t clock)
{
	return printable(x->network.clock[clock].name);
}

static struct text width_of(int64_t half_ns)
{
	return half_ns == USK_NONE ? text_of("open") : text_of("±%s", unit_span(half_ns).s);
}

static struct text rate_of(int64_t period_ns)
{
	double rate = 1e9 / (double)period_ns;
	return rate < 1000 ? text_of("%.3g", rate) : unit_count((uint64_t)(rate + 0.5));
}

/* What the recording itself has, beside the forecast of its messages. */
static int64_t recorded_half(const struct plan_command *x, uint32_t clock)
{
	return x->clocks && clock < x->clocks->n_clocks
		       ? usk_band_widths(&x->clocks->clock[clock]).mean_ns
		       : USK_NONE;
}

static void print_now(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	int64_t recorded = recorded_half(x, p->worst);
	if (p->now_ns[p->worst] == USK_NONE && recorded != USK_NONE) {
		printf("%s has %s as recorded, but no band as forecast for as many messages as "
		       "there are.\n\n",
		       name_of(x, p->worst), width_of(recorded).s);
		return;
	}
	if (p->now_ns[p->worst] == USK_NONE) {
		printf("%s has no band: no messages bound it from both sides.\n\n",
		       name_of(x, p->worst));
		return;
	}
	printf("The widest band is that of %s: %s as forecast for %s", name_of(x, p->worst),
	       width_of(p->now_ns[p->worst]).s,
	       x->clocks ? "as many messages as there are" : "this topology");
	if (recorded != USK_NONE) {
		printf(", %s as recorded", width_of(recorded).s);
	}
	printf(".\n\n");
}

static void print_links(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	size_t most = (size_t)args_int(x->task.args, "top"), n = p->n_links;
	struct table t = table_begin("%s more round trips a second\t>%s then\t>widest then\t",
				     rate_of(p->link[0].period_ns).s, name_of(x, p->worst));
	for (size_t i = 0; i < n && i < most; i++) {
		const struct usk_plan_row *r = &p->link[i];
		const struct usk_plan_link *l = &x->network.link[r->link];
		table_add(&t, "%s - %s\t%s\t%s\t%s", name_of(x, l->a), name_of(x, l->b),
			  width_of(r->half_ns).s, width_of(r->worst_ns).s, name_of(x, r->worst));
	}
	table_print(stdout, &t);
	if (n > most) {
		printf("%s more links: --top shows them.\n", unit_count(n - most).s);
	}
}

static void print_periods(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	const struct usk_plan_link *l = &x->network.link[p->link[0].link];
	struct table t = table_begin("%s - %s, every\t>a second\t>%s then\t>widest then\t",
				     name_of(x, l->a), name_of(x, l->b), name_of(x, p->worst));
	for (size_t i = 0; i < p->n_periods; i++) {
		const struct usk_plan_row *r = &p->period[i];
		table_add(&t, "%s\t%s\t%s\t%s\t%s", unit_span(r->period_ns).s,
			  rate_of(r->period_ns).s, width_of(r->half_ns).s, width_of(r->worst_ns).s,
			  name_of(x, r->worst));
	}
	putchar('\n');
	table_print(stdout, &t);
}

static void print_too_wide(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	bool floors = !strcmp(x->network.min_delay, "0");
	printf("\nNot even a round trip every %s on each link of their routes gives every clock "
	       "%s:\n",
	       unit_span(x->period_ns[x->n_periods - 1]).s, width_of(x->want_ns).s);
	for (uint32_t i = 0; i < x->network.n_clocks; i++) {
		int64_t floor_ns = p->floor_ns[i];
		bool wide = p->then_ns[i] == USK_NONE || p->then_ns[i] > x->want_ns;
		if (floor_ns == USK_NONE || !wide) {
			continue;
		}
		printf("%s has %s then", name_of(x, i), width_of(p->then_ns[i]).s);
		if (floors && floor_ns > x->want_ns) {
			printf("; no messages can give it less than %s, half of the fastest round "
			       "trip along its route, without --min-delay",
			       width_of(floor_ns).s);
		}
		printf(".\n");
	}
}

static void print_wanted(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	double all = 0;
	if (!p->reached) {
		print_too_wide(x);
		return;
	}
	struct table t =
		table_begin("for %s of every clock, every\t>a second\t", width_of(x->want_ns).s);
	for (size_t i = 0; i < x->network.n_links; i++) {
		const struct usk_plan_link *l = &x->network.link[i];
		if (p->period_ns[i]) {
			table_add(&t, "%s\t%s\t%s - %s", unit_span(p->period_ns[i]).s,
				  rate_of(p->period_ns[i]).s, name_of(x, l->a), name_of(x, l->b));
			all += 1e9 / (double)p->period_ns[i];
		}
	}
	if (all > 0) {
		putchar('\n');
		table_print(stdout, &t);
		printf("%s round trips a second in all.\n", rate_of((int64_t)(1e9 / all)).s);
	} else {
		table_free(&t);
		printf("\nEvery clock has %s without more messages.\n", width_of(x->want_ns).s);
	}
}

static void print_unreached(const struct plan_command *x)
{
	for (uint32_t i = 0; i < x->network.n_clocks; i++) {
		if (x->plan.floor_ns[i] == USK_NONE) {
			printf("Not planned for: %s, which no links with known delays in both "
			       "directions tie to %s.\n",
			       name_of(x, i), printable(x->network.reference));
		}
	}
}

static void print_plan(const struct plan_command *x)
{
	print_now(x);
	print_links(x);
	print_periods(x);
	if (x->want_ns) {
		print_wanted(x);
	}
	putchar('\n');
	print_unreached(x);
	printf("Widths are means over time of ± half a band. This is a forecast, not a bound: "
	       "delays are drawn from\nthose that were %s, each by itself",
	       x->clocks ? "recorded" : "described");
	if (x->network.wander_e12) {
		printf("; rates wander by %.3g ppm%s", (double)x->network.wander_e12 / 1e6,
		       x->clocks ? ", as those of the clock that wandered most" : "");
	}
	printf(".\n");
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *row_json(const struct plan_command *x, const struct usk_plan_row *r)
{
	const struct usk_plan_link *l = &x->network.link[r->link];
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "a", json_shown(x->network.clock[l->a].name),
			 "b", json_shown(x->network.clock[l->b].name), "period_ns",
			 json_ns(r->period_ns), "half_width_ns", json_ns(r->half_ns), "widest",
			 json_shown(x->network.clock[r->worst].name), "widest_half_width_ns",
			 json_ns(r->worst_ns));
}

static json_t *rows_json(const struct plan_command *x, const struct usk_plan_row *row, size_t n)
{
	json_t *out = json_array();
	for (size_t i = 0; i < n; i++) {
		json_array_append_new(out, row_json(x, &row[i]));
	}
	return out;
}

static json_t *clocks_json(const struct plan_command *x)
{
	json_t *out = json_array();
	for (uint32_t i = 0; i < x->network.n_clocks; i++) {
		json_t *j =
			json_pack("{s:o,s:o,s:o,s:o}", "name", json_shown(x->network.clock[i].name),
				  "recorded_half_width_ns", json_ns(recorded_half(x, i)),
				  "half_width_ns", json_ns(x->plan.now_ns[i]),
				  "least_half_width_ns", json_ns(x->plan.floor_ns[i]));
		json_array_append_new(out, j);
	}
	return out;
}

static json_t *wanted_json(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	if (!x->want_ns) {
		return json_null();
	}
	json_t *links = json_array(), *widths = json_array();
	for (size_t i = 0; i < x->network.n_links; i++) {
		const struct usk_plan_link *l = &x->network.link[i];
		if (p->period_ns[i]) {
			json_array_append_new(
				links, json_pack("{s:o,s:o,s:o}", "a",
						 json_shown(x->network.clock[l->a].name), "b",
						 json_shown(x->network.clock[l->b].name),
						 "period_ns", json_ns(p->period_ns[i])));
		}
	}
	for (size_t i = 0; i < x->network.n_clocks; i++) {
		json_array_append_new(widths, json_ns(p->then_ns[i]));
	}
	return json_pack("{s:o,s:b,s:o,s:o}", "half_width_ns", json_ns(x->want_ns), "reached",
			 p->reached, "links", links, "clock_half_width_ns", widths);
}

static void print_json(const struct plan_command *x)
{
	const struct usk_plan *p = &x->plan;
	json_t *root =
		json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "unskew_plan", 1, "clocks", clocks_json(x),
			  "widest", json_shown(x->network.clock[p->worst].name), "links",
			  rows_json(x, p->link, p->n_links), "periods",
			  rows_json(x, p->period, p->n_periods), "wanted", wanted_json(x));
	json_print(stdout, root, JSON_INDENT(2));
}

static int plan_run(const struct args *args)
{
	static struct plan_command x;
	task_begin(&x.task, args);
	take_network(&x);
	take_periods(&x);
	x.want_ns = args_given(args, "want") ? args_int(args, "want") : 0;
	const struct usk_plan_options opt = { .period_ns = x.period_ns,
					      .n_periods = x.n_periods,
					      .want_ns = x.want_ns,
					      .progress = progress_show };
	must(usk_plan_make(&x.network, &opt, &x.plan, &why));
	progress_end();
	if (x.clocks) {
		say_notes(args, x.clocks->note, x.clocks->n_notes);
	}
	if (args_flag(args, "json")) {
		print_json(&x);
	} else {
		print_plan(&x);
	}
	return task_end(&x.task, x.want_ns && !x.plan.reached ? EXIT_PARTIAL : EXIT_DONE);
}

static const struct option_group plan_options = {
	"Planning",
	{
		{ "want",
		  "find the fewest round trips with which no band is wider than ±DURATION on the "
		  "mean; status 3 if none of --periods is enough",
		  DURATION(NULL, "1ns", "1h") },
		{ "periods",
		  "from one added round trip to the next, to try; the middle one ranks links",
		  LIST(DURATION, "10s,1s,100ms,10ms,1ms") },
		{ "topology",
		  "links that nobody recorded, CSV: a, b, min_ns, median_ns[, per_second]",
		  PATH("FILE") },
		{ "span",
		  "how long messages are to be exchanged; otherwise as long as recorded, or 1 h",
		  DURATION(NULL, "1ms", "100000h") },
		{ "top", "how many links the table has, those first that help most",
		  INTEGER("N", "10", "1", NULL) },
		{ "json", "print JSON, with all links, instead of tables", FLAG },
	},
};

const struct command cmd_plan = {
	.name = "plan",
	.run = plan_run,
	TRACES("[NAME=]TRACE...", 0, 1),
	.example = {
		{ "where probes would help most", "plan a.pcap b.pcap c.pcap" },
		{ "what ±10 us of every clock would take", "plan *.pcap --want 10us" },
		{ "before anything is recorded", "plan --topology links.csv --want 5us" },
	},
	.brief = { "want", "periods", "topology", "reference", "model", "json" },
	.help = "forecast which further messages would narrow the bands most, and how many it takes",
	.more = "A first recording tells how often machines send each other messages, and how long "
		"these take. From that, messages are drawn, with more round trips on one link or "
		"another, and solved as `unskew sync` does; so the forecast has all that limits "
		"bands: delays, how the clocks wander, the way over several clocks, coarse stamps. "
		"The first line has what it makes of the recorded messages themselves beside what "
		"the recording has: how far to trust it.\n\n"
		"A round trip is a message in each direction, as `unskew probe` sends them, but any "
		"that is recorded will do. Delays are drawn each by itself: where they rise and "
		"fall together for longer than a band looks back, bands will be wider than "
		"forecast. Without --min-delay no band is narrower than half of the fastest round "
		"trip.\n\n"
		"With --want all links of the routes of clocks whose bands are too wide get the "
		"same period first, the longest that is enough; then each, one after the other, "
		"the longest that it can do with. A route is the one with the shortest round trips "
		"to the reference.\n\n"
		"A topology has a row for each link: its two clocks, the least and the median time "
		"of a message in either direction, in ns, and round trips a second that are "
		"exchanged, 0 if it is not told. With traces it adds links that they do not have.",
	.group = { &plan_options, &options_method, &options_model, &options_solve, &options_delay,
		   &options_read, &options_match, &options_common },
};
