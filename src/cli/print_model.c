/* SPDX-License-Identifier: MIT */
/*
 * print_model.c - what the bands rest on
 *
 * In    the model, and what of it was used for each clock
 * Out   a sentence or two over lines
 * Why   a bound is as good as its assumptions: those that were used, not those that were asked for
 */
#include "print.h"

#include <stdlib.h>
#include <string.h>

/* 500000000 parts per 10^12 as "500". */
static void ppm_text(int64_t e12, char out[UNIT_TEXT])
{
	snprintf(out, UNIT_TEXT, "%lld.%06lld", (long long)(e12 / 1000000),
		 (long long)(e12 % 1000000));
	size_t n = strlen(out);
	while (out[n - 1] == '0') {
		out[--n] = 0;
	}
	if (out[n - 1] == '.') {
		out[n - 1] = 0;
	}
}

/* The same of what was found: three digits, and never more than it is. */
static void found_text(int64_t e12, char out[UNIT_TEXT])
{
	int64_t step = 1;
	while (e12 / step >= 1000) {
		step *= 10;
	}
	ppm_text(e12 / step * step, out);
}

/* Who used how much: the clocks, or, of answers that do not say it of clocks, the pairs. */
struct users {
	const struct usk_clocks *c;
	bool of_pairs;
	size_t n;
};

static struct users users_of(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (c->clock[i].wander.used_e12) {
			return (struct users){ c, false, c->n_clocks };
		}
	}
	return (struct users){ c, true, c->n_pairs };
}

/* NULL: it is no user, as it has no band against another. */
static const struct usk_wander *used(const struct users *u, size_t i)
{
	enum usk_quality q = u->of_pairs ? u->c->pair[i].quality : u->c->clock[i].quality;
	const struct usk_wander *w = u->of_pairs ? &u->c->pair[i].wander : &u->c->clock[i].wander;
	return (q == USK_BOUNDED || q == USK_ONE_SIDED) && w->used_e12 ? w : NULL;
}

static char *name_of(const struct users *u, size_t i)
{
	const struct usk_clock *k = u->c->clock;
	if (!u->of_pairs) {
		return printable(k[i].name);
	}
	char *a = printable(k[u->c->pair[i].a].name), *b = printable(k[u->c->pair[i].b].name);
	char *both = usk_format("%s and %s", a, b);
	free(a);
	free(b);
	return both;
}

/* "49.1 ppm (0.1 assumed, 24.5 needed)" */
static void print_used(FILE *out, const struct usk_wander *w)
{
	char text[3][UNIT_TEXT];
	found_text(w->used_e12, text[0]);
	ppm_text(w->assumed_e12, text[1]);
	found_text(w->needed_e12, text[2]);
	fprintf(out, "%s ppm (%s assumed, %s needed)", text[0], text[1], text[2]);
}

/* "0.1 ppm", or what was used instead of it. Returns whether that took a line of its own. */
static bool print_wander(FILE *out, const struct usk_clocks *c)
{
	struct users u = users_of(c);
	const struct usk_wander *worst = NULL;
	size_t n = 0, more = 0, which = 0;
	bool same = true;
	char assumed[UNIT_TEXT];
	for (size_t i = 0; i < u.n; i++) {
		const struct usk_wander *w = used(&u, i);
		if (!w) {
			continue;
		}
		n++;
		more += w->used_e12 > w->assumed_e12;
		same = same && (!worst || w->used_e12 == worst->used_e12);
		if (!worst || w->used_e12 > worst->used_e12) {
			worst = w;
			which = i;
		}
	}
	ppm_text(c->model.wander_e12, assumed);
	if (!more) {
		fprintf(out, "%s ppm", assumed);
		return false;
	}
	if (same) {
		print_used(out, worst);
		return false;
	}
	char *name = name_of(&u, which);
	fprintf(out, "%s ppm,\nof %s within ", assumed, name);
	print_used(out, worst);
	if (more > 1) {
		char count[UNIT_TEXT];
		fprintf(out, ", of %s %s%s within less than that", unit_count(more - 1, count),
			u.of_pairs ? "more pair" : "more clock", more > 2 ? "s" : "");
	}
	free(name);
	return true;
}

static bool any_disturbed(const struct usk_clocks *c)
{
	size_t i = 0;
	while (i < c->n_clocks && !c->clock[i].n_stretches) {
		i++;
	}
	return i < c->n_clocks;
}

void print_model(FILE *out, const struct usk_clocks *c)
{
	char skew[UNIT_TEXT], segment[UNIT_TEXT];
	const char *delay = !c->min_delay || !strcmp(c->min_delay, "0") ? "0 ns" : c->min_delay;
	bool own_line;
	ppm_text(c->max_skew_e12, skew);
	unit_span(c->model.segment_ns, segment);
	switch (c->model.kind) {
	case USK_LINEAR:
		fprintf(out,
			"Model linear: every clock keeps one rate, no two differ by more than %s "
			"ppm, no message takes\nless",
			skew);
		break;
	case USK_WANDER:
		fprintf(out, "Model wander: the rate of each %s is constant within ",
			users_of(c).of_pairs ? "pair" : "clock");
		own_line = print_wander(out, c);
		fprintf(out,
			"%s,%sno two clocks differ by more than%s%s ppm, no message takes less",
			any_disturbed(c) ? "\noutside of disturbed stretches" : "",
			own_line ? "\n" : " ", own_line ? " " : "\n", skew);
		break;
	case USK_SEGMENTS:
		fprintf(out,
			"Model segments: every clock keeps one rate for %s, no two differ by more "
			"than %s ppm,\nno message takes less",
			c->model.segment_ns ? segment : "as long as one fits", skew);
		break;
	}
	fprintf(out,
		" than its minimum delay (%s).\nThe bounds are valid while these assumptions "
		"hold.\n",
		delay);
}

void print_disturbed(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 8 };
	size_t disturbed = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		usk_i128 all = 0, in = 0;
		for (size_t n = 1; n < k->n_knots; n++) {
			bool same = k->knot[n].epoch == k->knot[n - 1].epoch;
			all += same ? (usk_i128)k->knot[n].local_ns - k->knot[n - 1].local_ns : 0;
		}
		for (size_t n = 0; n < k->n_stretches; n++) {
			in += (usk_i128)k->stretch[n].to_ns - k->stretch[n].from_ns;
		}
		if (!k->n_stretches || disturbed++ >= MOST) {
			continue;
		}
		char *name = printable(k->name), span[UNIT_TEXT], count[UNIT_TEXT];
		fprintf(out, "Disturbed: %s in %s stretch%s, %s in all", name,
			unit_count(k->n_stretches, count), k->n_stretches == 1 ? "" : "es",
			unit_span(usk_saturate(in), span));
		if (all > 0 && in <= all) {
			fprintf(out, " (%.3g %% of the time)", 100 * (double)in / (double)all);
		}
		fputs(": there only the skew limit bounds its rate.\n", out);
		free(name);
	}
	if (disturbed > MOST) {
		fprintf(out, "  and %zu more clocks, whose stretches clocks.json lists.\n",
			disturbed - MOST);
	}
}
