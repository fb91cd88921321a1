/* SPDX-License-Identifier: MIT */
/*
 * stamps.c - stamps as people write them, and what they are on the reference's clock
 *
 * In    text; a table of clocks
 * Out   clocks, times, epochs
 * Why   convert and before understand the same
 */
#include "stamps.h"
#include "units.h"
#include "base/table.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a clock did up to a jump back, or since one. */
struct epoch {
	uint32_t number;
	int64_t first_ns, last_ns;     /* of its knots */
	int64_t lowest_ns, highest_ns; /* no stamp of it lies outside */
	struct usk_map *map;	       /* NULL: no knots enough */
};

struct stamps_clock {
	bool ready;
	struct epoch *epoch;
	size_t n;
};

/* --tick-rate, of clocks of the table. */
static void tick_rates(struct stamps *s)
{
	s->read.tick_rate = args_list(s->args, "tick-rate", &s->read.n_tick_rate);
	must(usk_read_options_check(&s->read, &why));
	for (size_t i = 0; i < s->read.n_tick_rate; i++) {
		const char *row = s->read.tick_rate[i];
		const char *name = kept(usk_format("%.*s", (int)(strchr(row, '=') - row), row));
		if (usk_clocks_find(s->clocks, name, NULL, NULL) == USK_NO_CLOCK) {
			say_usage("--tick-rate %s: the table has no clock of that name", row);
		}
	}
}

void stamps_of(struct stamps *s, struct usk_clocks *c)
{
	*s = (struct stamps){ .clocks = c, .clock = USK_NO_CLOCK, .epoch = -1 };
	s->of = usk_alloc(c->n_clocks, sizeof *s->of);
}

void stamps_open(struct stamps *s, const struct args *args)
{
	stamps_of(s, clocks_read(args_operand(args, 0)));
	s->args = args;
	s->epoch = args_given(args, "epoch") ? args_int(args, "epoch") : -1;
	tick_rates(s);
}

void stamps_free(struct stamps *s)
{
	for (size_t i = 0; i < s->clocks->n_clocks; i++) {
		for (size_t k = 0; k < s->of[i].n; k++) {
			usk_map_free(s->of[i].epoch[k].map);
		}
		free(s->of[i].epoch);
	}
	free(s->of);
	usk_clocks_free(s->clocks);
}

/* A time of a clock whose integers may be ticks. */
static enum usk_status time_of(const struct stamps *v, uint32_t clock, const char *s, size_t n,
			       int64_t *out, struct usk_err *err)
{
	const char *name = v->clocks->clock[clock].name;
	int64_t hz_e6 = v->read.n_tick_rate ? usk_tick_rate(&v->read, name, strlen(name)) : 0;
	int64_t ticks;
	if (hz_e6 && !usk_parse_int(s, n, &ticks, NULL)) {
		return usk_ticks_ns(hz_e6, (struct usk_csv_field){ s, n }, out, err);
	}
	if (n && n <= 19) { /* ns as they are: nearly every line */
		uint64_t value = 0;
		size_t i = 0;
		for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
			value = value * 10 + (uint64_t)(s[i] - '0');
		}
		if (i == n && value <= (uint64_t)USK_TIME_MAX) {
			*out = (int64_t)value;
			return USK_OK;
		}
	}
	return usk_parse_time(s, n, out, err);
}

enum usk_status stamps_parse(const struct stamps *v, const char *s, size_t n, uint32_t *clock,
			     int64_t *local_ns, struct usk_err *err)
{
	bool any = false;
	*clock = v->clock;
	if (*clock != USK_NO_CLOCK) {
		return time_of(v, *clock, s, n, local_ns, err);
	}
	for (size_t i = n; i-- > 0;) {
		if (s[i] != ':' || memchr(s, 0, i)) {
			continue;
		}
		char *name = usk_format("%.*s", (int)i, s);
		*clock = usk_clocks_find(v->clocks, name, NULL, NULL);
		free(name);
		if (*clock != USK_NO_CLOCK) {
			any = true;
			if (!time_of(v, *clock, s + i + 1, n - i - 1, local_ns, err)) {
				return USK_OK;
			}
		}
	}
	const char *colon = memrchr(s, ':', n);
	if (any) {
		return err ? err->code : USK_EINPUT;
	}
	if (!colon) {
		return usk_fail(err, USK_EINPUT, 0,
				"\"%.*s\" names no clock: write CLOCK:T or give --clock",
				n > 60 ? 60 : (int)n, s);
	}
	return usk_fail(err, USK_EINPUT, 0, "\"%.*s\" is not a clock of the table",
			colon - s > 60 ? 60 : (int)(colon - s), s);
}

/* ---- epochs ------------------------------------------------------------------------- */

/* A clock that shows A or more, then B or less, and falls by at most S in between fell from B + S
 * at most, to A - S at least; with the grid of its stamps, B is up to q more. */
static void limit_epoch(const struct usk_clock *k, struct epoch *e)
{
	e->lowest_ns = INT64_MIN;
	e->highest_ns = INT64_MAX;
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		if (j->epoch == j->end_epoch || j->size_hi_ns == USK_NONE) {
			continue;
		}
		usk_i128 fall = (usk_i128)j->size_hi_ns + 1;
		if (j->end_epoch == e->number) {
			e->lowest_ns = usk_saturate(j->after_local_ns - fall);
		}
		if (j->epoch == e->number) {
			e->highest_ns = usk_saturate(j->before_local_ns + fall + k->resolution_ns);
		}
	}
}

/* An epoch that nothing ties to the others has no knots. */
static void make_epochs(struct stamps *s, uint32_t clock)
{
	const struct usk_clock *k = &s->clocks->clock[clock];
	struct stamps_clock *c = &s->of[clock];
	c->ready = true;
	c->epoch = usk_alloc(k->n_set_backs + 1, sizeof *c->epoch);
	for (size_t from = 0, to = 0; c->n <= k->n_set_backs; from = to) {
		struct epoch *e = &c->epoch[c->n];
		while (to < k->n_knots && k->knot[to].epoch == c->n) {
			to++;
		}
		e->number = (uint32_t)c->n++;
		if (to > from) {
			e->first_ns = k->knot[from].local_ns;
			e->last_ns = k->knot[to - 1].local_ns;
			e->map = usk_map_of_epoch(k, e->number, s->clocks->max_skew_e12);
		}
		limit_epoch(k, e);
	}
}

/* How far a stamp is from what lies between two; 0 within. */
static uint64_t away(int64_t first_ns, int64_t last_ns, int64_t t)
{
	return t < first_ns  ? (uint64_t)first_ns - (uint64_t)t
	       : t > last_ns ? (uint64_t)t - (uint64_t)last_ns
			     : 0;
}

/* The epoch that a stamp is of; *n: of so many it may be, the first two of them in out. What it is
 * near to tells nothing: between its last message and its jump a clock showed much else. */
static const struct epoch *epoch_of(const struct stamps_clock *c, int64_t t, size_t *n,
				    struct stamps_answer *out)
{
	const struct epoch *found = NULL;
	*n = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct epoch *e = &c->epoch[i];
		uint64_t d = away(e->lowest_ns, e->highest_ns, t);
		if (!d && *n < 2) {
			out->epochs[(*n)++] = e->number;
		}
		found = !found || d < away(found->lowest_ns, found->highest_ns, t) ? e : found;
	}
	return found;
}

static const struct epoch *epoch_named(const struct stamps_clock *c, int64_t number)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->epoch[i].number == number) {
			return &c->epoch[i];
		}
	}
	return NULL;
}

static enum usk_status refuse_strange(const struct usk_clock *k, const struct epoch *e,
				      int64_t local_ns, struct usk_err *err)
{
	static const struct {
		int64_t ns;
		const char *unit;
	} other[] = { { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" } };
	for (size_t i = 0; i < COUNT(other); i++) {
		int64_t t = usk_saturate((usk_i128)local_ns * other[i].ns);
		if (away(e->first_ns, e->last_ns, t) <= (uint64_t)STAMPS_STRANGE_NS) {
			return usk_fail(err, USK_EINPUT, 0,
					"stamp %lld cannot be in ns: that is years away from the "
					"recording of %s; if it is in %s, write %lld%s",
					(long long)local_ns, k->name, other[i].unit,
					(long long)local_ns, other[i].unit);
		}
	}
	return usk_fail(err, USK_EINPUT, 0,
			"stamp %lld ns is years away from the recording of %s, so it is not of "
			"that clock",
			(long long)local_ns, k->name);
}

enum usk_status stamps_at(struct stamps *s, uint32_t clock, int64_t local_ns,
			  struct stamps_answer *out, struct usk_err *err)
{
	struct stamps_clock *c = &s->of[clock];
	*out = (struct stamps_answer){ .at = { USK_NONE, USK_NONE, USK_NONE } };
	if (!c->ready) {
		make_epochs(s, clock);
	}
	size_t within = 0;
	const struct epoch *found = s->epoch >= 0 && c->n > 1 ? epoch_named(c, s->epoch)
							      : epoch_of(c, local_ns, &within, out);
	if (!found) {
		return usk_fail(err, USK_EUSAGE, 0, "clock %s has no epoch %lld",
				s->clocks->clock[clock].name, (long long)s->epoch);
	}
	if (within > 1) {
		out->epoch = -1;
		return USK_OK;
	}
	out->epoch = found->number;
	if (!found->map) {
		return USK_OK;
	}
	out->span_ns = (uint64_t)found->last_ns - (uint64_t)found->first_ns;
	out->beyond_ns = away(found->first_ns, found->last_ns, local_ns);
	if (out->beyond_ns > (uint64_t)STAMPS_STRANGE_NS && out->beyond_ns > out->span_ns) {
		return refuse_strange(&s->clocks->clock[clock], found, local_ns, err);
	}
	if (out->beyond_ns <= out->span_ns || s->clocks->clock[clock].quality == USK_REFERENCE) {
		out->beyond_ns = 0;
	}
	return usk_map_at(found->map, local_ns, &out->at, err);
}

void stamps_tell(struct stamps *s, uint32_t clock, int64_t local_ns, const struct stamps_answer *a)
{
	const char *name = s->clocks->clock[clock].name;
	if (a->epoch < 0 && !s->repeats) {
		s->repeats = true;
		say(s->args,
		    "unskew: note: stamp %lld of %s may belong to epoch %lld or %lld, as the clock "
		    "was stepped backward while it recorded: choose with --epoch",
		    (long long)local_ns, name, (long long)a->epochs[0], (long long)a->epochs[1]);
	}
	if (a->beyond_ns && !s->beyond) {
		s->beyond = true;
		say(s->args,
		    "unskew: note: stamp %lld of %s lies %s outside the recording, which spans %s: "
		    "its time is extrapolated (holdover), and the error bounds are valid if the "
		    "clock's rate stayed within the same limits until then",
		    (long long)local_ns, name,
		    unit_at_least(usk_saturate((usk_i128)a->beyond_ns)).s,
		    unit_span(usk_saturate((usk_i128)a->span_ns)).s);
	}
}

/* ---- lines ------------------------------------------------------------------------------ */

enum { LONGEST = 1 << 18 };

/* What is done is flushed before waiting for more. */
static ssize_t read_more(void *done, char *to, size_t n)
{
	ssize_t got;
	fflush(done);
	do {
		got = read(STDIN_FILENO, to, n);
	} while (got < 0 && errno == EINTR);
	return got;
}

int stamps_lines(enum usk_status (*take)(void *ctx, const char *s, size_t n, uint64_t line,
					 struct usk_err *err),
		 void *ctx)
{
	static char buffer[LONGEST];
	FILE *in = fopencookie(stdout, "r", (cookie_io_functions_t){ .read = read_more });
	size_t room = in ? LONGEST + 2 : SIZE_MAX;
	char *s = usk_alloc(room, 1);
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	uint64_t line = 1;
	setvbuf(in, buffer, _IOFBF, sizeof buffer);
	for (ssize_t got; !status && (got = getline(&s, &room, in)) > 0; line += !status) {
		size_t n = (size_t)got - (s[got - 1] == '\n');
		n -= n && s[n - 1] == '\r';
		status = n < LONGEST ? take(ctx, s, n, line, &err)
				     : usk_fail(&err, USK_EINPUT, line, "is too long");
	}
	const char *broken = status || feof(in) ? NULL : strerror(errno);
	fclose(in);
	free(s);
	if (status == USK_EUSAGE) {
		return say_error(&err);
	}
	if (status) {
		say_sentence("line %llu: %s", (unsigned long long)line, err.msg);
	} else if (broken) {
		say_sentence("standard input: %s", broken);
	}
	return status || broken ? EXIT_FAILED : EXIT_DONE;
}
