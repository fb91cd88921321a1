/* SPDX-License-Identifier: MIT */
/*
 * explain_words.c - why a bound holds, in words
 *
 * In    the steps that imply it, the numbers that records have in their files
 * Out   numbered sentences, each from earlier ones
 */
#include "explain_steps.h"

/* When a clock showed x its reference showed this, rounded outwards. */
static struct text shown(const struct step *s)
{
	return unit_seconds(
		s->x + (s->upper ? usk_ceil_div(s->at, USK_E12) : usk_floor_div(s->at, USK_E12)));
}

static const char *side_of(const struct step *s)
{
	return s->upper ? "at most" : "at least";
}

const char *explain_name(const struct explaining *e, uint32_t clock)
{
	return printable(e->c->clock[clock].name);
}

const char *explain_reference(const struct explaining *e, uint32_t clock)
{
	return explain_name(e, e->c->clock[clock].reference);
}

struct usk_msg explain_msg(const struct message *m)
{
	return (struct usk_msg){
		.from = m->clock[0], .to = m->clock[1], .sent_ns = m->x[0], .received_ns = m->x[1]
	};
}

static void put_place(const struct explaining *e, const struct message *m, int end, FILE *out)
{
	const struct usk_msg msg = explain_msg(m);
	fputs(located_at(&e->located, &msg, end), out);
}

static void say_ends(const struct explaining *e, const struct message *m, FILE *out)
{
	fprintf(out, "%s sent a message at %s", explain_name(e, m->clock[0]),
		unit_seconds(m->x[0]).s);
	put_place(e, m, 0, out);
	fprintf(out, "\n    that %s received at %s", explain_name(e, m->clock[1]),
		unit_seconds(m->x[1]).s);
	put_place(e, m, 1, out);
	for (size_t i = 0; i < e->c->n_stated_delays; i++) {
		const struct usk_stated_delay *d = &e->c->stated_delay[i];
		if (d->from == m->clock[0] && d->to == m->clock[1]) {
			fprintf(out, ",\n    %s later or more", unit_span(d->ns).s);
		}
	}
}

static void say_message(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct step *other = &e->step[s->a];
	say_ends(e, &e->message[s->message], out);
	if (other->rule != REFERENCE) {
		fprintf(out, ",\n    so (%u) bounds this end, too", other->said);
	}
}

static double ppm(usk_i128 e18)
{
	return (double)e18 * 1e-12;
}

int64_t explain_distance(const struct step *a, const struct step *b)
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
		s->x > a->x ? "from" : "back from", a->said, unit_span(explain_distance(s, a)).s,
		unit_seconds(s->x).s, explain_reference(e, s->clock), more < 0 ? "loses" : "gains",
		unit_bound(usk_saturate(more < 0 ? -more : more)).s, explain_name(e, s->clock));
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
	fprintf(out, "by (%u), %s before, and (%u), %s after,\n    as %s's rate is constant",
		a->said, unit_span(explain_distance(s, a)).s, b->said,
		unit_span(explain_distance(s, b)).s, explain_name(e, s->clock));
	if (wander) {
		fprintf(out, " within %g ppm", (double)wander * 1e-6);
	}
	fputs(", whatever it is", out);
}

static void say_pair(const struct explaining *e, const struct step *s, FILE *out)
{
	const struct step *a = &e->step[s->a], *b = &e->step[s->b];
	fprintf(out,
		"between (%u) and (%u) lie %s, so %s gains %s %.6g ppm on %s\n    wherever nothing "
		"disturbed it.\n",
		b->said, a->said, unit_span(explain_distance(a, b)).s,
		explain_reference(e, s->clock), s->upper ? "at most" : "at least", ppm(s->at),
		explain_name(e, s->clock));
}

static void say_sum(const struct explaining *e, const struct step *s, FILE *out)
{
	fputs("by all of these together, whatever the rates of their clocks are", out);
	for (uint32_t i = 0; i < s->n_terms; i++) {
		const struct term *t = &e->term[s->term + i];
		fprintf(out, "%s\n    %.3g times: ", i ? ";" : ":", t->often);
		say_ends(e, &e->message[t->message], out);
	}
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
	} else if (s->rule == SUM) {
		say_sum(e, s, out);
	} else {
		say_chord(e, s, out);
	}
	fprintf(out, ":\n    when %s showed %s, %s showed %s %s.\n", explain_name(e, s->clock),
		unit_seconds(s->x).s, explain_reference(e, s->clock), side_of(s), shown(s).s);
}

void explain_in_words(FILE *out, const struct explaining *e, const struct explained *b)
{
	for (size_t i = 0; i < e->n_steps; i++) {
		if (e->step[i].said) {
			say_step(e, &e->step[i], out);
		}
	}
	const struct step *from = &e->step[b->step[0]], *to = &e->step[b->step[1]];
	if (from != to) {
		fprintf(out,
			"Between (%u) and (%u), %s apart, the band is no narrower than that.\n",
			from->said, to->said, unit_span(explain_distance(from, to)).s);
	}
}
