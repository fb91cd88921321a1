/* SPDX-License-Identifier: MIT */
/*
 * chain_cuts.c - where lines of given length do not go on
 *
 * In    a pair's points, where borders are
 * Out   cuts: at borders, where no line of the next segment begins where a chain so far can end;
 * and within segments that no line fits, if those are jumps Why   Clement's segments alone would
 * call every step a contradiction Not   the chains between (chain.c)
 *
 * A segment that no line fits is cut as `auto` cuts. If all of its cuts are jumps the clock was
 * stepped, unless they lead back; else its rate changed within the segment, and the model is wrong.
 */
#include "fit/chain.h"
#include "num/cone.h"

#include <stdlib.h>
#include <string.h>

struct scan {
	const struct usk_fit *fit;
	const struct usk_part *part;
	const struct usk_grid *grid;
	struct usk_pieces *out;
	size_t cap, max_outliers;
	const struct usk_piece_ask *ask;
	struct usk_verdict *v;
	/* The chain so far: its last lines and point, the gate at its end. */
	bool any;
	struct usk_lines *line;
	int64_t last, at;
	struct usk_gate gate;
};

static const struct usk_gate open_gate = { { false, false }, { 0, 0 } };

static struct usk_lines *through(const struct scan *s, const struct usk_part *p, int64_t x0,
				 int64_t x1, const struct usk_gate *g0)
{
	return usk_chain_lines(p, x0, g0, x1, &open_gate, s->fit->max_skew_e12);
}

/* First and last point of a part that has any. */
static void ends(const struct usk_part *p, int64_t *first, int64_t *last)
{
	*first = INT64_MAX;
	*last = INT64_MIN;
	for (int side = 0; side < 2; side++) {
		if (p->n[side]) {
			int64_t a = p->point[side][0].x, z = p->point[side][p->n[side] - 1].x;
			*first = a < *first ? a : *first;
			*last = z > *last ? z : *last;
		}
	}
}

static void add_cut(struct scan *s, struct usk_cut c)
{
	s->out->cut = usk_room(s->out->cut, s->out->n, &s->cap, sizeof *s->out->cut);
	s->out->cut[s->out->n++] = c;
}

/* The chain ends at its last point, and the next begins with the lines right. */
static void cut_before(struct scan *s, int64_t first, const struct usk_lines *right)
{
	struct usk_cut c = { .from = s->last, .to = first, .last = s->last, .next = first };
	usk_cut_judge(&c, usk_bounds_of(s->line, s->last), usk_bounds_of(right, first),
		      s->fit->max_skew_e12);
	add_cut(s, c);
}

/* Points from x0 to x1 that one line fits; it need not meet the chain. */
static void take(struct scan *s, const struct usk_part *p, int64_t x0, int64_t x1)
{
	int64_t first, last;
	ends(p, &first, &last);
	struct usk_lines *l = through(s, p, x0, x1, s->any ? &s->gate : &open_gate);
	if (!l) {
		l = through(s, p, x0, x1, &open_gate);
		cut_before(s, first, l);
	}
	usk_lines_free(s->line);
	s->line = l;
	s->gate = usk_chain_gate(l, x1);
	s->at = x1;
	s->last = last;
	s->any = true;
}

static void contradict(struct scan *s, const struct usk_lines *l)
{
	s->v->quality = USK_CONTRADICTED;
	s->v->n_points = usk_lines_contradiction(l, s->v->point, s->v->ceiling);
	s->out->never = true;
}

/* Messages without which a line fits, if they are few. */
static bool accuse(struct scan *s, const struct usk_fit *sub)
{
	size_t n, left = s->max_outliers - s->v->n_suspects;
	struct usk_suspect *suspect;
	bool few = usk_corridor_suspects(sub->corridor, sub->lines, left, &suspect, &n) <= left;
	if (few && n) {
		s->v->suspect = usk_grow(s->v->suspect, s->v->n_suspects + n, sizeof *suspect);
		memcpy(s->v->suspect + s->v->n_suspects, suspect, n * sizeof *suspect);
		s->v->n_suspects += n;
	}
	free(suspect);
	return few && n;
}

/* No line fits a segment: jumps within it, wrong messages, or a contradiction. */
static void cut_within(struct scan *s, const struct usk_part *p, int64_t x0, int64_t x1)
{
	struct usk_fit sub =
		usk_fit_part(s->fit, p, s->fit->first_local_ns, s->fit->last_local_ns, true, true);
	struct usk_pieces in;
	usk_pieces_of(&sub, p, 0, &in);
	bool jumps = !in.never;
	for (size_t i = 0; i < in.n; i++) {
		jumps = jumps && in.cut[i].kind == USK_JUMP;
	}
	if (jumps) {
		usk_pieces_suspects(&sub, p, &in, s->ask, s->max_outliers, s->v);
	} else if (!accuse(s, &sub)) {
		contradict(s, sub.lines);
		/* With all points around them these may turn out to be jumps. */
		for (size_t i = 0; i < in.n; i++) {
			add_cut(s, in.cut[i]);
		}
	}
	for (size_t i = 0; i <= in.n && jumps; i++) {
		struct usk_part piece = usk_pieces_part(p, &in, i);
		int64_t from = i ? in.cut[i - 1].to : x0, to = i < in.n ? in.cut[i].from : x1;
		if (!piece.n[0] && !piece.n[1]) {
			continue;
		}
		if (i) {
			add_cut(s, in.cut[i - 1]);
			s->any = false;
		}
		take(s, &piece, from, to);
	}
	usk_pieces_free(&in);
	usk_fit_part_free(&sub);
}

/* Up to a border further on: one line through empty segments reaches as far as lines through each.
 */
static void reach(struct scan *s, int64_t x)
{
	const struct usk_part none = { .frame = s->part->frame };
	if (s->any && x > s->at) {
		struct usk_lines *l = through(s, &none, s->at, x, &s->gate);
		s->gate = usk_chain_gate(l, x);
		s->at = x;
		usk_lines_free(l);
	}
}

/* The segments of a run of points; there are some. */
static void scan_run(struct scan *s, const struct usk_part *p)
{
	int64_t x, last;
	ends(p, &x, &last);
	s->any = false;
	for (bool more = true; more && !s->out->never;) {
		usk_i128 end = usk_grid_next(s->grid, (usk_i128)x - 1);
		int64_t start = s->any ? usk_cut(end - s->grid->length) : x;
		int64_t border = end > last ? last : (int64_t)end;
		struct usk_part segment = usk_part_between(p, x, border);
		reach(s, start);
		struct usk_lines *l = through(s, &segment, start, border, &open_gate);
		if (l) {
			take(s, &segment, start, border);
		} else {
			cut_within(s, &segment, start, border);
		}
		usk_lines_free(l);
		x = border;
		more = usk_part_next(p, &x);
	}
}

void usk_chain_cuts(const struct usk_fit *fit, const struct usk_part *p, const struct usk_grid *g,
		    const struct usk_piece_ask *ask, size_t max_outliers, struct usk_pieces *out,
		    struct usk_verdict *v)
{
	struct scan s = { .fit = fit,
			  .part = p,
			  .grid = g,
			  .out = out,
			  .max_outliers = max_outliers,
			  .ask = ask,
			  .v = v };
	int64_t begin = -USK_TIME_MAX;
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i <= fit->n_back && !out->never; i++) {
		struct usk_cut c = usk_cut_back(fit, p, i);
		struct usk_part run = usk_part_between(p, begin, c.from);
		if (run.n[0] || run.n[1]) {
			scan_run(&s, &run);
		}
		if (i < fit->n_back) {
			add_cut(&s, c);
			begin = c.to;
		}
		s.any = false;
	}
	usk_lines_free(s.line);
}
