/* SPDX-License-Identifier: MIT */
/*
 * print_model.c - what the bands rest on
 *
 * In    the model, and what of it was used for each clock
 * Out   a sentence or two over lines
 * Why   a bound is as good as its assumptions: those that were used, not those that were asked for
 */
#include "print.h"

#include <string.h>

/* 500000000 parts per 10^12 as "500". */
static struct text ppm_text(int64_t e12)
{
	struct text out;
	size_t n = (size_t)snprintf(out.s, sizeof out.s, "%lld.%06lld", (long long)(e12 / 1000000),
				    (long long)(e12 % 1000000));
	while (out.s[n - 1] == '0') {
		out.s[--n] = 0;
	}
	if (out.s[n - 1] == '.') {
		out.s[n - 1] = 0;
	}
	return out;
}

/* The same of what was found: three digits, and never more than it is. */
static struct text found_text(int64_t e12)
{
	int64_t step = 1;
	while (e12 / step >= 1000) {
		step *= 10;
	}
	return ppm_text(e12 / step * step);
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

static void print_users(FILE *out, const struct users *u, size_t i)
{
	const struct usk_clock *k = u->c->clock;
	const struct usk_pair *p = &u->c->pair[i];
	fputs(printable(k[u->of_pairs ? p->a : i].name), out);
	if (u->of_pairs) {
		fprintf(out, " and %s", printable(k[p->b].name));
	}
}

/* "49.1 ppm (0.1 assumed, 24.5 needed)" */
static void print_used(FILE *out, const struct usk_wander *w)
{
	fprintf(out, "%s ppm (%s assumed, %s needed)", found_text(w->used_e12).s,
		ppm_text(w->assumed_e12).s, found_text(w->needed_e12).s);
}

/* "0.1 ppm", or what was used instead of it. Returns whether that took a line of its own. */
static bool print_wander(FILE *out, const struct usk_clocks *c)
{
	struct users u = users_of(c);
	const struct usk_wander *worst = NULL;
	size_t n = 0, more = 0, which = 0;
	bool same = true;
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
	if (!more) {
		fprintf(out, "%s ppm", ppm_text(c->model.wander_e12).s);
		return false;
	}
	if (same) {
		print_used(out, worst);
		return false;
	}
	fprintf(out, "%s ppm,\nof ", ppm_text(c->model.wander_e12).s);
	print_users(out, &u, which);
	fputs(" within ", out);
	print_used(out, worst);
	if (more > 1) {
		fprintf(out, ", of %s %s%s within less than that", unit_count(more - 1).s,
			u.of_pairs ? "more pair" : "more clock", more > 2 ? "s" : "");
	}
	return true;
}

size_t steps_of(const struct usk_clock *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->n_jumps; i++) {
		n += k->jump[i].kind == USK_JUMP;
	}
	return n;
}

void print_model(FILE *out, const struct usk_clocks *c)
{
	const char *delay = !c->min_delay || !strcmp(c->min_delay, "0") ? "0 ns" : c->min_delay;
	struct text skew = ppm_text(c->max_skew_e12);
	bool own_line, disturbed = false, stepped = false;
	for (size_t i = 0; i < c->n_clocks; i++) {
		disturbed |= c->clock[i].n_stretches > 0;
		stepped |= steps_of(&c->clock[i]) > 0;
	}
	switch (c->model.kind) {
	case USK_LINEAR:
		fprintf(out,
			"Model linear: every clock has one constant rate, no two rates differ by "
			"more than %s ppm,\n"
			"no message takes less",
			skew.s);
		break;
	case USK_WANDER:
		fprintf(out, "Model wander: the rate of each %s is constant within ",
			users_of(c).of_pairs ? "pair" : "clock");
		own_line = print_wander(out, c);
		fprintf(out, "%s,%sno two rates differ by more than%s%s ppm, no message takes less",
			disturbed ? "\noutside of disturbed stretches" : "", own_line ? "\n" : " ",
			own_line ? " " : "\n", skew.s);
		break;
	case USK_SEGMENTS:
		fprintf(out,
			"Model segments: every clock keeps one rate for %s, no two rates differ by "
			"more than\n"
			"%s ppm, no message takes less",
			c->model.segment_ns ? unit_span(c->model.segment_ns).s
					    : "as long as one fits",
			skew.s);
		break;
	}
	fprintf(out,
		" than its minimum delay (%s).\n%sThe bounds are valid while these assumptions "
		"hold.\n",
		delay,
		stepped ? "Between the two times given for a step only clocks that are named for "
			  "it are stepped,\nand their offsets, also to each other, move in one "
			  "direction only.\n"
			: "");
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
		fprintf(out,
			"Disturbed: %s may have been stepped or slewed in %s stretch%s, %s in all",
			printable(k->name), unit_count(k->n_stretches).s,
			k->n_stretches == 1 ? "" : "es", unit_span(usk_saturate(in)).s);
		if (all > 0 && in <= all) {
			fprintf(out, " (%.3g %% of the time)", 100 * (double)in / (double)all);
		}
		fprintf(out,
			";\n  there only the skew limit (%s ppm) bounds its rate, so the "
			"uncertainty is larger.\n",
			ppm_text(c->max_skew_e12).s);
	}
	if (disturbed > MOST) {
		fprintf(out, "  and %zu more clocks, whose stretches are listed in clocks.json.\n",
			disturbed - MOST);
	}
}
