/* SPDX-License-Identifier: MIT */
/*
 * explain.c - a bound in words: the messages and stretches that imply it
 *
 * In    a proof (doc/proof.md), the answer, the traces
 * Out   numbered sentences, each from earlier ones, with the numbers that records have in their
 *       files, which are those that Wireshark shows
 * Not   proofs of others: the text is the one that this process made
 */
#include "explain.h"
#include "located.h"

#include "fit/cone.h"
#include "print.h"
#include "stamps.h"

#include <stdlib.h>
#include <string.h>

#define NO_STEP UINT32_MAX

enum rule { REFERENCE, MESSAGE, CONE, CHORD, PAIR };

static const char *const rules[] = { "reference", "message", "cone", "chord", "pair" };

struct step {
	enum rule rule;
	bool upper, slope;
	uint32_t clock;
	int64_t x;
	usk_i128 at;
	uint32_t message, a, b; /* a, b: steps; b of a cone: a slope, or NO_STEP, the skew limit */
	uint32_t said;		/* its number, 0: it is not needed */
};

struct message {
	uint32_t clock[2];
	int64_t x[2];
};

struct explaining {
	const struct usk_clocks *c;
	struct usk_trace **trace;
	struct located located;
	struct step *step;
	size_t n_steps, cap_steps;
	struct message *message;
	size_t n_messages, cap_messages;
};

/* ---- the proof ---------------------------------------------------------------------------------
 */

static usk_i128 number(const char *text)
{
	bool minus = *text == '-';
	usk_i128 v = 0;
	for (text += minus; *text >= '0' && *text <= '9'; text++) {
		v = 10 * v + (*text - '0');
	}
	return minus ? -v : v;
}

static void take_step(struct explaining *e, const char *line)
{
	char what[8], at[48], rule[16], last[16] = "";
	struct step s = { .a = NO_STEP, .b = NO_STEP, .message = NO_STEP };
	unsigned first = NO_STEP;
	bool slope = *line == 's' || *line == 'f';
	long long x = 0;
	if (slope) {
		sscanf(line, "%7s %u %47s %15s %u %15s", what, &s.clock, at, rule, &first, last);
	} else {
		sscanf(line, "%7s %u %lld %47s %15s %u %15s", what, &s.clock, &x, at, rule, &first,
		       last);
	}
	s.x = x;
	s.slope = slope;
	s.upper = *what == 'h' || *what == 'f';
	s.at = number(at);
	while (strcmp(rules[s.rule], rule) != 0 && s.rule < PAIR) {
		s.rule++;
	}
	*(s.rule == MESSAGE ? &s.message : &s.a) = first;
	*(s.rule == MESSAGE ? &s.a : &s.b) =
		*last >= '0' && *last <= '9' ? (uint32_t)number(last) : NO_STEP;
	e->step = usk_room(e->step, e->n_steps, &e->cap_steps, sizeof *e->step);
	e->step[e->n_steps++] = s;
}

static void take_message(struct explaining *e, const char *line)
{
	struct message m;
	long long sent = 0, received = 0;
	sscanf(line, "message %u %lld %u %lld", &m.clock[0], &sent, &m.clock[1], &received);
	m.x[0] = sent;
	m.x[1] = received;
	e->message = usk_room(e->message, e->n_messages, &e->cap_messages, sizeof *e->message);
	e->message[e->n_messages++] = m;
}

/* The steps of a band around a stamp; false: none are on this line. */
static bool take_band(const struct explaining *e, const char *line, bool upper, uint32_t clock,
		      int64_t x, uint32_t step[2])
{
	const char *at = line + strlen("band lo");
	bool found = false;
	step[0] = NO_STEP;
	while (*at == ' ' && !found && (line[5] == 'h') == upper) {
		uint32_t next = (uint32_t)strtoul(at, (char **)&at, 10);
		bool here = e->step[next].clock == clock;
		found = here && step[0] != NO_STEP && e->step[step[0]].x <= x &&
			x <= e->step[next].x;
		step[found] = next;
	}
	if (found && e->step[step[0]].x == x) {
		step[1] = step[0];
	} else if (found && e->step[step[1]].x == x) {
		step[0] = step[1];
	}
	return found;
}

static bool read_proof(struct explaining *e, const char *text, bool upper, uint32_t clock,
		       int64_t x, uint32_t step[2])
{
	bool found = false;
	for (const char *line = text; line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "band", 4)) {
			found = take_band(e, line, upper, clock, x, step);
		}
	}
	return found;
}

static void read_steps(struct explaining *e, const char *text)
{
	for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line, '\n')) {
		line++;
		if (!strncmp(line, "message", 7)) {
			take_message(e, line);
		} else if (strncmp(line, "band", 4) != 0) {
			take_step(e, line);
		}
	}
}

/* ---- in words ----------------------------------------------------------------------------------
 */

/* Seconds with nine digits. */
static struct text seconds(usk_i128 ns)
{
	usk_i128 s = usk_floor_div(ns, 1000000000);
	return text_of("%lld.%09d", (long long)s, (int)(ns - s * 1000000000));
}

/* When a clock showed x its reference showed this, rounded outwards. */
static struct text shown(const struct step *s)
{
	return seconds(s->x +
		       (s->upper ? usk_ceil_div(s->at, USK_E12) : usk_floor_div(s->at, USK_E12)));
}

static const char *side_of(const struct step *s)
{
	return s->upper ? "at the latest" : "at the earliest";
}

static const char *name_of(const struct explaining *e, uint32_t clock)
{
	return printable(e->c->clock[clock].name);
}

static const char *reference_of(const struct explaining *e, uint32_t clock)
{
	return name_of(e, e->c->clock[clock].reference);
}

static struct usk_msg msg_of(const struct message *m)
{
	return (struct usk_msg){
		.from = m->clock[0], .to = m->clock[1], .sent_ns = m->x[0], .received_ns = m->x[1]
	};
}

static void put_place(const struct explaining *e, const struct message *m, int end, FILE *out)
{
	const struct usk_msg msg = msg_of(m);
	fputs(located_at(&e->located, &msg, end), out);
}

static void say_message(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct message *m = &e->message[s->message];
	const struct step *other = &e->step[s->a];
	fprintf(out, "%s sent at %s", name_of(e, m->clock[0]), seconds(m->x[0]).s);
	put_place(e, m, 0, out);
	fprintf(out, "\n    what %s received at %s", name_of(e, m->clock[1]), seconds(m->x[1]).s);
	put_place(e, m, 1, out);
	if (other->rule != REFERENCE) {
		fprintf(out, ",\n    so (%u) bounds this end, too", other->said);
	}
}

static double ppm(usk_i128 e18)
{
	return (double)e18 * 1e-12;
}

static int64_t distance(const struct step *a, const struct step *b)
{
	usk_i128 d = (usk_i128)a->x - b->x;
	return usk_saturate(d < 0 ? -d : d);
}

static void say_cone(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct step *a = &e->step[s->a];
	usk_i128 more = s->at - a->at;
	more = s->upper ? usk_ceil_div(more, USK_E12) : usk_floor_div(more, USK_E12);
	fprintf(out, "%s (%u), in the %s to %s, %s %s at most %s on %s",
		s->x > a->x ? "from" : "back from", a->said, unit_span(distance(s, a)).s,
		seconds(s->x).s, reference_of(e, s->clock), more < 0 ? "loses" : "gains",
		unit_bound(usk_saturate(more < 0 ? -more : more)).s, name_of(e, s->clock));
	if (s->b == NO_STEP) {
		fprintf(out, ",\n    by --max-skew-ppm");
	} else {
		fprintf(out, ",\n    by its rate (%u)", e->step[s->b].said);
	}
}

static void say_chord(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct step *a = &e->step[s->a], *b = &e->step[s->b];
	int64_t wander = e->c->clock[s->clock].wander.used_e12;
	fprintf(out, "between (%u), %s before, and (%u), %s behind, whatever %s's rate%s", a->said,
		unit_span(distance(s, a)).s, b->said, unit_span(distance(s, b)).s,
		name_of(e, s->clock), wander ? "," : " is");
	if (wander) {
		fprintf(out, "\n    constant within %g ppm", (double)wander * 1e-6);
	}
}

static void say_pair(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct step *a = &e->step[s->a], *b = &e->step[s->b];
	fprintf(out,
		"between (%u) and (%u) lie %s, so %s gains %s %.6g ppm on %s\n    wherever nothing "
		"disturbed it.\n",
		b->said, a->said, unit_span(distance(a, b)).s, reference_of(e, s->clock),
		s->upper ? "at most" : "at least", ppm(s->at), name_of(e, s->clock));
}

static void say_step(const struct explaining *e, const struct step *s, FILE *out)
{
	fprintf(out, "(%u) ", s->said);
	if (s->rule == PAIR) {
		say_pair(e, s, out);
		return;
	}
	if (s->rule == MESSAGE) {
		say_message(e, s, out);
	} else if (s->rule == CONE) {
		say_cone(e, s, out);
	} else {
		say_chord(e, s, out);
	}
	fprintf(out, ":\n    when %s showed %s, %s showed %s %s.\n", name_of(e, s->clock),
		seconds(s->x).s, reference_of(e, s->clock), shown(s).s, side_of(s));
}

/* What the steps rest on, each once, in their order. */
static void need(struct explaining *e, const uint32_t step[2])
{
	uint32_t said = 0;
	for (size_t i = 0; i < e->n_steps; i++) {
		e->step[i].said = i == step[0] || i == step[1];
	}
	for (size_t i = e->n_steps; i-- > 0;) {
		struct step *s = &e->step[i];
		if (s->said && s->a != NO_STEP) {
			e->step[s->a].said = 1;
		}
		if (s->said && s->b != NO_STEP) {
			e->step[s->b].said = 1;
		}
	}
	for (size_t i = 0; i < e->n_steps; i++) {
		e->step[i].said = e->step[i].said && e->step[i].rule != REFERENCE ? ++said : 0;
	}
}

static void want_messages(struct explaining *e)
{
	e->located.n = 0;
	for (size_t i = 0; i < e->n_steps; i++) {
		if (e->step[i].said && e->step[i].message != NO_STEP) {
			const struct usk_msg msg = msg_of(&e->message[e->step[i].message]);
			located_want(&e->located, &msg);
		}
	}
}

static bool disturbed(const struct usk_clock *k, int64_t from, int64_t to)
{
	bool any = false;
	for (size_t i = 0; i < k->n_stretches; i++) {
		any = any || (k->stretch[i].from_ns < to && from < k->stretch[i].to_ns);
	}
	for (size_t i = 0; i < k->n_jumps; i++) {
		any = any || (k->jump[i].after_local_ns < to && from < k->jump[i].before_local_ns);
	}
	return any;
}

/* Bounds as upper ones, as in the proof. */
static usk_i128 chord(const struct usk_clock *k, const struct step *a, const struct step *b,
		      int64_t x)
{
	usk_i128 before = (usk_i128)x - a->x, behind = (usk_i128)b->x - x;
	usk_i128 u = a->upper ? a->at : -a->at, v = b->upper ? b->at : -b->at;
	return u + usk_ceil_share(v - u + 2 * k->wander.used_e12 * behind, before, before + behind);
}

/* The steps say so of stamps around x; maybe one chord of what they rest on says it of x itself. */
static void shorten(struct explaining *e, int64_t x, int64_t bound, uint32_t step[2])
{
	const struct step like = e->step[step[0]];
	const struct usk_clock *k = &e->c->clock[like.clock];
	usk_i128 most = ((usk_i128)bound - x) * USK_E12;
	struct step best = { .rule = CHORD, .upper = like.upper, .clock = like.clock, .x = x };
	best.at = most;
	best.a = NO_STEP;
	for (uint32_t i = 0; i < e->n_steps; i++) {
		const struct step *a = &e->step[i];
		bool left = a->said && !a->slope && a->upper == like.upper &&
			    a->clock == like.clock && a->x < x;
		for (uint32_t j = 0; j < e->n_steps && left; j++) {
			const struct step *b = &e->step[j];
			if (!b->said || b->slope || b->upper != like.upper ||
			    b->clock != like.clock || b->x <= x || disturbed(k, a->x, b->x)) {
				continue;
			}
			usk_i128 at = chord(k, a, b, x);
			if (at <= (like.upper ? best.at : -best.at)) {
				best.at = like.upper ? at : -at;
				best.a = i;
				best.b = j;
			}
		}
	}
	if (best.a != NO_STEP) {
		best.message = NO_STEP;
		e->step = usk_room(e->step, e->n_steps, &e->cap_steps, sizeof *e->step);
		e->step[e->n_steps] = best;
		step[0] = step[1] = (uint32_t)e->n_steps++;
	}
}

static enum usk_status say_bound(struct explaining *e, const char *proof, size_t n_traces,
				 uint32_t clock, int64_t x, int64_t bound, bool upper, FILE *out,
				 struct usk_err *err)
{
	uint32_t step[2];
	enum usk_status status = USK_OK;
	const char *side = upper ? "at the latest" : "at the earliest";
	const char *reference = reference_of(e, clock);
	if (bound == USK_NONE) {
		fprintf(out, "Nothing bounds what %s showed %s when %s showed %s.\n", reference,
			side, name_of(e, clock), seconds(x).s);
		return status;
	}
	fprintf(out, "When %s showed %s, %s showed %s %s", name_of(e, clock), seconds(x).s,
		reference, seconds(bound).s, side);
	if (!read_proof(e, proof, upper, clock, x, step)) {
		fputs("; the rules of doc/proof.md do not prove it.\n", out);
		return status;
	}
	fputs(":\n", out);
	need(e, step);
	if (step[0] != step[1]) {
		shorten(e, x, bound, step);
		need(e, step);
	}
	want_messages(e);
	status = located_find(&e->located, e->c, e->trace, n_traces, err);
	for (size_t i = 0; i < e->n_steps && !status; i++) {
		if (e->step[i].said) {
			say_step(e, &e->step[i], out);
		}
	}
	if (!status && step[0] != step[1]) {
		fprintf(out,
			"Between (%u) and (%u), %s apart, the band is no narrower than that.\n",
			e->step[step[0]].said, e->step[step[1]].said,
			unit_span(distance(&e->step[step[0]], &e->step[step[1]])).s);
	}
	return status;
}

enum usk_status explain(const struct usk_clocks *c, struct usk_trace **trace, size_t n_traces,
			const char *proof, uint32_t clock, int64_t x, const struct usk_stamp *at,
			FILE *out, struct usk_err *err)
{
	struct explaining e = { .c = c, .trace = trace };
	if (c->clock[clock].reference == clock) {
		fprintf(out, "%s is the reference: its own time is right.\n", name_of(&e, clock));
		return USK_OK;
	}
	read_steps(&e, proof);
	enum usk_status status =
		say_bound(&e, proof, n_traces, clock, x, at->lo_ns, false, out, err);
	status = status ? status
			: say_bound(&e, proof, n_traces, clock, x, at->hi_ns, true, out, err);
	free(e.step);
	free(e.message);
	free(e.located.end);
	return status;
}
