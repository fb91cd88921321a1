/* SPDX-License-Identifier: MIT */
/*
 * cmd_before.c - did one event happen before another?
 *
 * In    clocks.json; two stamps as operands, or two a line on standard input
 * Out   yes, no or undecidable, and the margin in ns; "-" where nothing bounds it
 * Why   the one question that corrected stamps alone cannot answer: they may be in order by chance
 */
#include "twice.h"

#include <string.h>

struct asking {
	struct stamps stamps;
	struct twice twice;
	bool undecidable, apart, unbounded; /* the last two: a sentence said so */
};

struct event {
	uint32_t clock;
	int64_t local_ns;
	int64_t epoch; /* -1: cannot be told */
	struct usk_stamp at;
};

/* When it happened, at the earliest and at the latest. */
static enum usk_status place(struct asking *q, struct event *e, struct usk_err *err)
{
	struct stamps_answer a;
	enum usk_status status = twice_at(&q->twice, &q->stamps, e->clock, e->local_ns, &a, err);
	if (!status) {
		e->at = a.at;
		e->epoch = a.epoch;
		stamps_tell(&q->stamps, e->clock, e->local_ns, &a);
	}
	return status;
}

/* Of one clock, and no step back that no record shows may have changed their order? */
static bool in_order(const struct asking *q, const struct event e[2])
{
	const struct twice_zone *z = twice_in(&q->twice, e[0].clock, e[0].local_ns);
	return e[0].clock == e[1].clock && e[0].epoch == e[1].epoch && e[0].epoch >= 0 &&
	       (!z || z != twice_in(&q->twice, e[1].clock, e[1].local_ns));
}

static enum usk_status ask(struct asking *q, struct event e[2], struct usk_err *err)
{
	const struct usk_clocks *c = q->stamps.clocks;
	const struct usk_stamp nowhere = { USK_NONE, USK_NONE, USK_NONE };
	enum usk_status status = place(q, &e[0], err);
	status = status ? status : place(q, &e[1], err);
	if (status) {
		return status;
	}
	uint32_t home[2] = { c->clock[e[0].clock].reference, c->clock[e[1].clock].reference };
	if (in_order(q, e)) {
		for (int i = 0; i < 2; i++) {
			e[i].at.lo_ns = e[i].at.hi_ns = e[i].local_ns;
		}
	} else if (home[0] != home[1]) {
		if (!q->apart) {
			say(q->stamps.args,
			    "unskew: note: no chain of messages connects %s with %s: their times "
			    "cannot be compared",
			    c->clock[e[0].clock].name, c->clock[e[1].clock].name);
		}
		q->apart = true;
		e[0].at = e[1].at = nowhere;
	}
	int64_t margin;
	enum usk_order order = usk_before(&e[0].at, &e[1].at, &margin);
	q->undecidable = q->undecidable || order == USK_UNDECIDABLE;
	if (margin == USK_NONE) {
		if (!q->unbounded) {
			say(q->stamps.args, "unskew: note: \"-\": one of the two clocks has no "
					    "bounds at that time, so there is no margin");
		}
		q->unbounded = true;
		printf("%s -\n", usk_order_name(order));
	} else {
		printf("%s %lld\n", usk_order_name(order), (long long)margin);
	}
	return USK_OK;
}

static enum usk_status parse(struct asking *q, const char *s, size_t n, struct event *e,
			     struct usk_err *err)
{
	return stamps_parse(&q->stamps, s, n, &e->clock, &e->local_ns, err);
}

/* "A:T B:T", tabs or blanks between. */
static enum usk_status ask_line(void *ctx, const char *s, size_t n, uint64_t line,
				struct usk_err *err)
{
	(void)line;
	const char *gap = memchr(s, '\t', n);
	gap = gap ? gap : memchr(s, ' ', n);
	if (!n) {
		return USK_OK;
	}
	if (!gap) {
		return usk_fail(err, USK_EINPUT, 0, "\"%.*s\" is not two stamps: write A:T B:T",
				n > 60 ? 60 : (int)n, s);
	}
	const char *second = gap, *end = s + n;
	while (second < end && (*second == ' ' || *second == '\t')) {
		second++;
	}
	struct event e[2];
	enum usk_status status = parse(ctx, s, (size_t)(gap - s), &e[0], err);
	status = status ? status : parse(ctx, second, (size_t)(end - second), &e[1], err);
	return status ? status : ask(ctx, e, err);
}

static int ask_operands(struct asking *q)
{
	struct event e[2];
	for (size_t i = 0; i < 2; i++) {
		const char *s = args_operand(q->stamps.args, i + 1);
		if (parse(q, s, strlen(s), &e[i], &why)) {
			say_usage("%s", why.msg);
		}
	}
	must(ask(q, e, &why));
	return EXIT_DONE;
}

static int before_run(const struct args *args)
{
	static struct asking q;
	if (args_operands(args) == 2) {
		say_usage("before needs two stamps: unskew before CLOCKS A:T B:T");
	}
	stamps_open(&q.stamps, args);
	twice_find(&q.twice, &q.stamps);
	int status = args_operands(args) > 1 ? ask_operands(&q) : stamps_lines(ask_line, &q);
	return status ? status : q.undecidable ? EXIT_PARTIAL : EXIT_DONE;
}

static const struct option_group before_input = {
	"Input",
	{
		TICK_ROW,
		EPOCH_ROW,
	},
};

const struct command cmd_before = {
	.name = "before",
	.run = before_run,
	OPERANDS("CLOCKS [A:T B:T]", 1, 3),
	.example = {
		{ "was the write done before the read began?", "before clocks.json db:2026-11-22T10:00:00.5Z web:2026-11-22T10:00:00.7Z" },
		{ "stamps in ns", "before clocks.json a:1700000000000000000 b:1700000000957000000" },
		{ "pairs from a file, one a line", "before clocks.json <pairs.txt" },
	},
	.help = "say which of two events came first, as far as their error bounds tell",
	.more = "Prints `yes` if the event at T of clock A happened before that of B, `no` if it "
		"happened after it, `undecidable` if their error bounds overlap (then the status "
		"is 3), and a margin in ns: the gap between the bounds or, of undecidable events, "
		"what lacks to one. Two stamps of one clock are compared as they are, but where a "
		"step back may have repeated them. Without stamps, two are read from each line of standard input.",
	.group = { &before_input, &options_common },
};
