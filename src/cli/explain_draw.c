/* SPDX-License-Identifier: MIT */
/*
 * explain_draw.c - why a bound holds, as a picture
 *
 * In    the steps that imply it, the numbers that records have in their files
 * Out   SVG: a line down for each clock, its stamps in order of time, messages as arrows, and the
 *       stretches over which a clock's rate carries a bound
 * Not   to scale: a message takes microseconds, and stretches last for seconds
 */
#include "explain_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between two lines stand arrows, between three labels too. */
enum { MARGIN = 215, TWO = 230, MORE = 280, ROW = 46, HEAD = 40, MOST = 60, NEAR = 12 };

/* A clock's stamp. */
struct event {
	uint32_t clock, said; /* said: the step's number; 0: what the reference's own clock shows */
	int64_t x;
	usk_i128 t; /* of the reference, 10^-12 ns */
	bool sent;
	const char *place;
	size_t row;
};

struct picture {
	const struct explaining *e;
	const struct explained *b;
	struct event event[MOST];
	size_t n;
	uint32_t of_step[MOST][2]; /* step, event; of steps that are no rates */
	size_t n_steps;
	uint32_t column[MOST]; /* clocks from left to right */
	size_t n_columns;
};

/* ---- what is in it ----------------------------------------------------------------------------
 */

static void take_column(struct picture *p, uint32_t clock)
{
	size_t i = 0;
	while (i < p->n_columns && p->column[i] != clock) {
		i++;
	}
	if (i == p->n_columns) {
		p->column[p->n_columns++] = clock;
	}
}

static usk_i128 time_of(const struct step *s)
{
	return (usk_i128)s->x * USK_E12 + s->at;
}

/* The event of a step, which is there already if another one rests on it. */
static uint32_t event_of(struct picture *p, uint32_t step)
{
	const struct step *s = &p->e->step[step];
	for (size_t i = 0; i < p->n_steps; i++) {
		if (p->of_step[i][0] == step) {
			return p->of_step[i][1];
		}
	}
	p->event[p->n] = (struct event){
		.clock = s->clock, .said = s->said, .x = s->x, .t = time_of(s), .place = ""
	};
	p->of_step[p->n_steps][0] = step;
	p->of_step[p->n_steps++][1] = (uint32_t)p->n;
	take_column(p, s->clock);
	return (uint32_t)p->n++;
}

/* Both ends of a message: the one that it bounds, and the one that was bounded before. */
static void take_message(struct picture *p, uint32_t step)
{
	const struct step *s = &p->e->step[step];
	const struct message *m = &p->e->message[s->message];
	const struct usk_msg msg = explain_msg(m);
	bool received = s->clock == m->clock[1];
	struct event *from = &p->event[event_of(p, s->a)], *to = &p->event[event_of(p, step)];
	from->sent = received;
	to->sent = !received;
	from->place = located_at(&p->e->located, &msg, !received);
	to->place = located_at(&p->e->located, &msg, received);
	from->x = m->x[!received];
}

static bool take_steps(struct picture *p)
{
	take_column(p, p->e->c->clock[p->b->clock].reference);
	for (uint32_t i = 0; i < p->e->n_steps; i++) {
		const struct step *s = &p->e->step[i];
		if (!s->said || s->slope) {
			continue;
		}
		if (p->n + 2 > MOST || p->n_columns + 2 > MOST) {
			return false;
		}
		if (s->rule == MESSAGE) {
			take_message(p, i);
		} else {
			event_of(p, i);
		}
	}
	return true;
}

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = *(struct event *const *)pa, *b = *(struct event *const *)pb;
	int order = (a->t > b->t) - (a->t < b->t);
	order = order ? order : b->sent - a->sent;
	return order ? order : (a > b) - (a < b);
}

static void give_rows(struct picture *p)
{
	struct event *sorted[MOST];
	for (size_t i = 0; i < p->n; i++) {
		sorted[i] = &p->event[i];
	}
	qsort(sorted, p->n, sizeof *sorted, by_time);
	for (size_t i = 0; i < p->n; i++) {
		sorted[i]->row = i;
	}
}

/* ---- drawing ----------------------------------------------------------------------------------
 */

static int apart(const struct picture *p)
{
	return p->n_columns > 2 ? MORE : TWO;
}

static int x_of(const struct picture *p, uint32_t clock)
{
	int i = 0;
	while (p->column[i] != clock) {
		i++;
	}
	return MARGIN + i * apart(p);
}

static int y_of(const struct event *v)
{
	return HEAD + ROW / 2 + (int)v->row * ROW;
}

/* Beside the line of a clock, outwards where there is room. */
static void put_label(FILE *out, const struct picture *p, uint32_t clock, int y, const char *class,
		      bool inwards, const char *text)
{
	bool left = (clock == p->column[0]) != inwards;
	fprintf(out,
		"<text class=\"%s\" x=\"%d\" y=\"%d\"%s paint-order=\"stroke\" stroke-width=\"4\">",
		class, x_of(p, clock) + (left ? -NEAR : NEAR), y,
		left ? " text-anchor=\"end\"" : "");
	put_html(out, text);
	fputs("</text>\n", out);
}

static void draw_clock(FILE *out, const struct picture *p, uint32_t clock)
{
	int x = x_of(p, clock);
	fprintf(out, "<path class=\"rule\" stroke=\"#999\" d=\"M%d %dV%d\"/>\n", x, HEAD,
		HEAD + (int)p->n * ROW);
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" paint-order=\"stroke\">", x,
		HEAD / 2);
	put_html(out, explain_name(p->e, clock));
	fputs("</text>\n", out);
}

/* A rate over it carries a bound; dashed: it bounds a rate. */
static void draw_stretch(FILE *out, const struct picture *p, uint32_t from, uint32_t to, bool rate,
			 const char *more)
{
	const struct event *a = &p->event[from], *b = &p->event[to];
	const struct step like = { .x = a->x }, other = { .x = b->x };
	int y = y_of(a), z = y_of(b);
	fprintf(out,
		"<path class=\"stretch\" stroke=\"#009e73\" stroke-width=\"5\"%s d=\"M%d "
		"%dV%d\"/>\n",
		rate ? " stroke-dasharray=\"2 5\"" : "", x_of(p, a->clock), y, z);
	struct text label = text_of("%s%s", unit_span(explain_distance(&like, &other)).s, more);
	put_label(out, p, a->clock, (y + z) / 2 + 4, "quiet", true, label.s);
}

static void draw_message(FILE *out, const struct picture *p, uint32_t one, uint32_t other)
{
	const struct event *a = &p->event[one], *b = &p->event[other];
	const struct event *from = a->sent ? a : b, *to = a->sent ? b : a;
	double x = x_of(p, to->clock), y = y_of(to), dx = x - x_of(p, from->clock);
	double dy = y - y_of(from), length = hypot(dx, dy), ux = dx / length, uy = dy / length;
	/* The point of the arrow stops at the dot. */
	x -= 6 * ux;
	y -= 6 * uy;
	fprintf(out,
		"<path class=\"%s arrow\" fill=\"none\" stroke=\"currentColor\" d=\"M%d %dL%.1f "
		"%.1fm%.1f %.1fL%.1f %.1fl%.1f %.1f\"/>\n",
		from->clock == p->column[0] ? "floor" : "ceiling", x_of(p, from->clock), y_of(from),
		x, y, -9 * ux - 4 * uy, -9 * uy + 4 * ux, x, y, -9 * ux + 4 * uy, -9 * uy - 4 * ux);
}

static void draw_step(FILE *out, struct picture *p, uint32_t i)
{
	const struct step *s = &p->e->step[i];
	if (s->rule == PAIR) {
		struct text rate = text_of(", (%u) a rate", s->said);
		draw_stretch(out, p, event_of(p, s->b), event_of(p, s->a), true, rate.s);
	} else if (s->rule == MESSAGE) {
		draw_message(out, p, event_of(p, s->a), event_of(p, i));
	} else if (s->rule == CONE) {
		struct text rate = s->b == NO_STEP
					   ? text_of(", skew limit")
					   : text_of(", by rate (%u)", p->e->step[s->b].said);
		draw_stretch(out, p, event_of(p, s->a), event_of(p, i), false, rate.s);
	} else if (s->rule == CHORD) {
		draw_stretch(out, p, event_of(p, s->a), event_of(p, i), false, "");
		draw_stretch(out, p, event_of(p, i), event_of(p, s->b), false, "");
	}
}

static void draw_event(FILE *out, const struct picture *p, const struct event *v)
{
	const struct step *s = p->e->step;
	const uint32_t *asked = p->b->step;
	bool is = v->said && (v->said == s[asked[0]].said || v->said == s[asked[1]].said);
	int x = x_of(p, v->clock), y = y_of(v);
	struct text stamp =
		v->said ? text_of("(%u) %s", v->said, unit_seconds(v->x).s) : unit_seconds(v->x);
	fprintf(out, "<circle class=\"dot\" fill=\"currentColor\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n",
		x, y, is ? 6 : 4);
	put_label(out, p, v->clock, y + (*v->place ? -2 : 4), is ? "asked" : "", false, stamp.s);
	if (*v->place) {
		/* " (packet #812 of a.pcap)": of which file the words say. */
		size_t n = strcspn(v->place, "#") + strcspn(strchr(v->place, '#'), " ") - 2;
		char *place = kept(usk_format("%.*s", (int)n, v->place + 2));
		put_label(out, p, v->clock, y + 13, "quiet", false, place);
	}
}

bool explain_as_picture(FILE *out, const struct explaining *e, const struct explained *b)
{
	struct picture p = { .e = e, .b = b };
	if (!take_steps(&p)) {
		return false;
	}
	give_rows(&p);
	int width = 2 * MARGIN + ((int)p.n_columns - 1) * apart(&p), height = HEAD + (int)p.n * ROW;
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n<svg "
		"class=\"explained\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"aria-label=\"The steps below, from top to bottom in order of time\">\n",
		b->upper ? "Latest" : "Earliest", width, height, width, height);
	for (size_t i = 0; i < p.n_columns; i++) {
		draw_clock(out, &p, p.column[i]);
	}
	for (uint32_t i = 0; i < e->n_steps; i++) {
		if (e->step[i].said) {
			draw_step(out, &p, i);
		}
	}
	for (size_t i = 0; i < p.n; i++) {
		draw_event(out, &p, &p.event[i]);
	}
	fputs("</svg></div>\n", out);
	return true;
}
