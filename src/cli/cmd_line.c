/* SPDX-License-Identifier: MIT */
/*
 * cmd_line.c - tie two clocks over a cable of a few pins, or over memory that two processes share
 *
 * In    a parallel port, or a page; a clock of this machine
 * Out   a line per round: offset and precision; a table of exchanges; a live map
 * Why   over a network the delay hides some tens of microseconds; over a pin, one or two
 * Not   the procedure (src/line); machines on a network (probe)
 */
#include "clock_show.h"
#include "line/line.h"
#include "messages.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct line_command {
	const struct args *args;
	struct source source[SOURCES_MAX];
	size_t n_sources, clock;
	struct line *line;
	struct line_limits limits;
	const char *path;
	/* A table that was asked for is written whole when somebody ends the command, so it has to
	 * end by itself. */
	int stop_fd;
	/* tie */
	struct usk_output table;
	struct usk_live *live;
	const char *here, *there; /* as in the table */
};

static int64_t read_source(void *ctx)
{
	const struct source *s = ctx;
	return s->read(s);
}

/* Stamps are in ns, and precision counts one for the step of a clock: coarse ones step by ms. */
static bool shows_ns(const struct source *s)
{
	struct timespec step;
	return s->ns_per_tick > 0 && !clock_getres(s->id, &step) && !step.tv_sec &&
	       step.tv_nsec <= 1;
}

static struct line *held;

/* However the command ends, its pins are let go. */
static void let_go(void)
{
	line_close(held);
}

static void open_line(struct line_command *c, enum line_side side)
{
	const char *port = args_string(c->args, "port"), *page = args_string(c->args, "page");
	if (!port == !page) {
		say_usage("give either --port or --page: the line to use");
	}
	c->path = port ? port : page;
	struct line_counter counter = { read_source, &c->source[c->clock] };
	must(port ? line_port_open(port, counter, &c->line, &why)
		  : line_page_open(page, side, counter, &c->line, &why));
	held = c->line;
	atexit(let_go);
}

/* Within so long. */
static bool stopped(const struct line_command *c, int64_t ns)
{
	struct pollfd fd = { .fd = c->stop_fd, .events = POLLIN };
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };
	return ppoll(&fd, 1, &t, NULL) > 0;
}

static _Noreturn void broken(const struct line_command *c)
{
	say_failed("%s: the device failed: %s", c->path, strerror(c->line->error));
}

/* ---- serve ------------------------------------------------------------------------------ */

static void serve(struct line_command *c)
{
	const int64_t patience_ns = 200000000; /* until somebody's signal is noticed */
	uint64_t answered = 0, failed = 0;
	int64_t most = args_int(c->args, "rounds");
	while (!stopped(c, 0) && (!most || answered < (uint64_t)most)) {
		enum line_outcome o = line_answer(c->line, &c->limits, patience_ns);
		if (o == LINE_BROKEN) {
			broken(c);
		}
		answered += o == LINE_DONE;
		failed += o != LINE_DONE && o != LINE_IDLE;
	}
	say(c->args, "answered %" PRIu64 ", gave up %" PRIu64, answered, failed);
}

/* ---- delay: the line alone ----------------------------------------------------------------- */

static void delay(struct line_command *c)
{
	size_t n = args_given(c->args, "rounds") ? (size_t)args_int(c->args, "rounds") : 1000;
	n = n ? n : 1000;
	int64_t *ticks = kept(usk_alloc(n, sizeof *ticks));
	struct samples s = { .n = 0 };
	if (!line_loop_back(c->line, &c->limits, n, ticks)) {
		if (c->line->error) {
			broken(c);
		}
		say_failed("%s: setting D1 does not show at SELECT; is D1 wired to SELECT of the "
			   "same port?",
			   c->path);
	}
	for (size_t i = 0; i < n; i++) {
		samples_add(&s, (double)ticks[i]);
	}
	struct figures f = samples_figures(&s);
	printf("a pin is seen after %s (median), %s to %s; 99 %%: %s\n",
	       unit_span(llround(f.median)).s, unit_span(llround(f.min)).s,
	       unit_span(llround(f.max)).s, unit_span(llround(f.p99)).s);
}

/* ---- tie --------------------------------------------------------------------------------- */

static struct line_tie tie_of(const struct line_command *c)
{
	struct line_tie t = line_tie_of(c->line);
	t.limits = c->limits;
	t.attempts = (unsigned)args_int(c->args, "attempts");
	t.good_ticks = args_int(c->args, "good");
	t.allowance_e12 = args_int(c->args, "allowance-ppm");
	return t;
}

static void open_outputs(struct line_command *c)
{
	const char *path = args_string(c->args, "output"), *live = args_string(c->args, "live");
	c->here = csv_text(args_string(c->args, "here"));
	c->there = csv_text(args_string(c->args, "there"));
	if (!strcmp(c->here, c->there)) {
		say_usage("--here and --there: two clocks need two names");
	}
	if (path) {
		must(usk_output_open(&c->table, path, args_flag(c->args, "force"), &why));
		usk_output_format(&c->table, "a,b,t1_ns,t2_ns,t3_ns,t4_ns\n");
	}
	if (live) {
		must(usk_live_create(live, &c->live, &why));
	}
}

static const char *why_dropped(const struct line_round *r)
{
	return r->outcome == LINE_DONE ? "it took too long" : line_outcome_text(r->outcome);
}

static void print_round(const struct line_tie *t, const struct line_round *r)
{
	printf("%" PRIu64 "  ", t->rounds);
	if (!r->good) {
		printf("dropped: %s\n", why_dropped(r));
	} else {
		printf("offset %s",
		       unit_between(r->offset, usk_saturate((usk_i128)r->offset - r->precision),
				    usk_saturate((usk_i128)r->offset + r->precision))
			       .s);
		if (r->mapped) {
			printf("  drift %.3f ppm", r->drift_ppm);
		}
		puts(r->jumped ? "  a clock was stepped, or its rate changed" : "");
	}
	fflush(stdout);
}

static void print_json(const struct line_tie *t, const struct line_round *r)
{
	printf("{\"round\": %" PRIu64 ", \"good\": %s, ", t->rounds, r->good ? "true" : "false");
	if (!r->good) {
		printf("\"why\": \"%s\"}\n", why_dropped(r));
	} else {
		printf("\"before_ns\": \"%" PRId64 "\", \"remote_ns\": \"%" PRId64
		       "\", \"after_ns\": \"%" PRId64 "\", \"offset_ns\": \"%" PRId64
		       "\", \"precision_ns\": \"%" PRId64 "\", \"jumped\": %s, \"drift_ppm\": ",
		       r->s.before, r->s.remote, r->s.after, r->offset, r->precision,
		       r->jumped ? "true" : "false");
		if (r->mapped) {
			printf("%.6f}\n", r->drift_ppm);
		} else {
			puts("null}");
		}
	}
	fflush(stdout);
}

static void keep_round(struct line_command *c, const struct line_tie *t, const struct line_round *r)
{
	if (c->table.path && r->good) {
		/* The other stamped once: it sent the answer when it received the question. */
		usk_output_format(
			&c->table, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
			c->here, c->there, r->s.before, r->s.remote, r->s.remote, r->s.after);
	}
	/* After a jump the map before is wrong, and there is no other yet. */
	if (c->live && (r->mapped || r->jumped)) {
		must(usk_live_publish(c->live, r->mapped ? &t->map : NULL, &why));
	}
}

static void end_tie(struct line_command *c, const struct line_tie *t)
{
	struct usk_stream reasons;
	FILE *out = usk_stream_begin(&reasons);
	for (int i = 0; i < LINE_OUTCOMES; i++) {
		if (t->why[i] && i != LINE_DONE) {
			fprintf(out, "; %s: %" PRIu64, line_outcome_text((enum line_outcome)i),
				t->why[i]);
		}
	}
	say(c->args,
	    "%" PRIu64 " rounds, %" PRIu64 " dropped; attempts that took too long: %" PRIu64 "%s",
	    t->rounds, t->dropped, t->bad, (char *)kept(usk_stream_end(&reasons)));
	if (t->rounds == t->dropped) {
		say_failed("%s: no exchange succeeded; does the other side run `unskew line "
			   "serve`?",
			   c->path);
	}
	if (c->table.path) {
		must(usk_output_commit(&c->table, &why));
	}
}

static void tie(struct line_command *c)
{
	struct line_tie t = tie_of(c);
	uint64_t most = (uint64_t)args_int(c->args, "rounds");
	bool json = args_flag(c->args, "json");
	struct line_round r;
	open_outputs(c);
	do {
		line_tie_round(&t, &r);
		if (r.outcome == LINE_BROKEN) {
			broken(c);
		}
		(json ? print_json : print_round)(&t, &r);
		keep_round(c, &t, &r);
	} while (t.rounds != most && !stopped(c, args_int(c->args, r.good ? "period" : "retry")));
	end_tie(c, &t);
}

static int line_run(const struct args *args)
{
	static const struct {
		const char *name;
		enum line_side side;
		void (*run)(struct line_command *c);
	} verbs[] = {
		{ "serve", LINE_ANSWERS, serve },
		{ "tie", LINE_ASKS, tie },
		{ "delay", LINE_LOOP_BACK, delay },
	};
	static struct line_command c;
	size_t verb = 0;
	c.args = args;
	c.limits = (struct line_limits){ args_int(args, "timeout"), args_int(args, "wake") };
	while (verb < COUNT(verbs) && strcmp(args_operand(args, 0), verbs[verb].name)) {
		verb++;
	}
	if (verb == COUNT(verbs)) {
		say_usage("%s: line does serve, tie or delay", args_operand(args, 0));
	}
	c.n_sources = sources_open(c.source);
	c.clock = find_source(args, "clock", c.source, c.n_sources, shows_ns);
	open_line(&c, verbs[verb].side);
	c.stop_fd = end_signals();
	verbs[verb].run(&c);
	return EXIT_DONE;
}

static const struct option_group line_both_options = {
	"The line",
	{
		{ "port",
		  "a parallel port, /dev/parport0: D1 and D3 of each wired to SELECT and NACK of "
		  "the other",
		  PATH("DEVICE") },
		{ "page",
		  "instead, memory that two processes of one machine share: a file in /dev/shm",
		  PATH("FILE") },
		{ "clock", "the clock of this side, as `unskew clock` names it", TEXT("CLOCK"),
		  .initial = "realtime" },
		{ "timeout", "longest time allowed between the stamps",
		  DURATION("20us", "1us", "10ms") },
		{ "wake", "longest time for the other side to wake up, and to send its stamp",
		  DURATION("10ms", "100us", "40ms") },
		{ "rounds", "stop after so many; 0: when interrupted (delay: 1000)",
		  INTEGER("N", "0", "0", NULL) },
	},
};

static const struct option_group line_tie_options = {
	"Tying",
	{
		{ "period", "time from a good round to the next", DURATION("2s", "0", NULL) },
		{ "retry", "time from a dropped round to the next", DURATION("1s", "0", NULL) },
		{ "attempts", "exchanges to try in a round until one is good",
		  INTEGER("N", "3", "1", "1000") },
		{ "good",
		  "an exchange is good if half the time between the two stamps of this side is no "
		  "more",
		  DURATION("5us", "1ns", NULL) },
		{ "allowance-ppm", "how much the rates may change after an exchange",
		  PPM("1", "0", "1000") },
	},
};

static const struct option_group line_table_options = {
	"Output",
	{
		{ "output", "write the exchanges at the end, as a table that sync reads",
		  PATH("FILE"), .letter = 'o' },
		{ "here", "name of this side's clock in the table", TEXT("NAME"),
		  .initial = "here" },
		{ "there", "name of the other side's clock", TEXT("NAME"), .initial = "there" },
		{ "live",
		  "keep the other's clock in this file for usk_live_convert(), best in /dev/shm",
		  PATH("FILE") },
		{ "json", "print a JSON object per round", FLAG },
	},
};

const struct command cmd_line = {
	.name = "line",
	.run = line_run,
	OPERANDS("serve|tie|delay", 1, 1),
	.example = {
		{ "one side of a parallel cable answers", "line serve --port /dev/parport0" },
		{ "the other one reads its clock, and writes a table for sync", "line tie --port /dev/parport0 --rounds 100 -o exchanges.csv" },
		{ "two processes over shared memory, the other's clock kept in a file that a program maps", "line tie --page /dev/shm/line --live /dev/shm/other" },
	},
	.brief = { "output", "live", "clock", "period", "rounds", "json", "force" },
	.help = "read another machine's clock over a parallel cable, or another process's over "
		"shared memory",
	.more = "One side serves, the other (tie) asks: it raises an interrupt, waits for the "
		"ready signal, stamps, gives the go signal, and stamps again when it sees that the "
		"other, which stamps in between, is done; the other's stamp then comes over the "
		"same pins. Add the offset to the other side's stamps; its error is at most the "
		"precision stated, as long as the rates of the two clocks stay within "
		"--allowance-ppm of what they were between the last two exchanges. A round that "
		"times out, or took too long to be good, is dropped (Loeser 2003).\n\n"
		"A row of the table is an exchange of three stamps: t1_ns and t4_ns are this "
		"side's, t2_ns and t3_ns are both the other's only one. `unskew sync` reads it "
		"like any table of exchanges.\n\n"
		"delay measures the line alone, with D1 wired to SELECT of the same port: how long "
		"until a pin that was set is seen.",
	.group = { &line_both_options, &line_tie_options, &line_table_options, &options_force,
		   &options_common },
};
