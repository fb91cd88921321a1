/* SPDX-License-Identifier: MIT */
/*
 * islands.c - all islands: clocks that messages or anchors tie, one problem after the other
 *
 * In    pairs and other ties
 * Out   one clock per machine
 * Why   an island is a problem of its own, with numbers of its own: what one costs does not grow
 *       with the others
 */
#include "fit/fit.h"
#include "graph/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t root(uint32_t *up, uint32_t i)
{
	while (up[i] != i) {
		up[i] = up[up[i]];
		i = up[i];
	}
	return i;
}

static void unite(uint32_t *up, uint32_t a, uint32_t b)
{
	a = root(up, a);
	b = root(up, b);
	up[a > b ? a : b] = a < b ? a : b;
}

/* By clock: the number of its island, in the order of their first clocks. cut: by clock, nothing
 * ties it. */
static uint32_t *islands_of(const struct usk_clocks *c, const struct usk_graph_problem *p,
			    const bool *tied, const bool *cut, size_t *n)
{
	uint32_t *up = usk_alloc(c->n_clocks + 1, sizeof *up);
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		up[i] = i;
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		if (tied[i]) {
			unite(up, p->pair[i].a, p->pair[i].b);
		}
	}
	for (size_t i = 0; i < p->n_stated; i++) {
		const struct usk_stated *s = &p->stated[i];
		if (!cut[s->from] && !cut[s->to]) {
			unite(up, s->from, s->to);
		}
	}
	uint32_t *of = usk_alloc(c->n_clocks + 1, sizeof *of);
	*n = 0;
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		uint32_t first = root(up, i);
		of[i] = first == i ? (uint32_t)(*n)++ : of[first];
	}
	free(up);
	return of;
}

/* ---- what belongs to which ---------------------------------------------------------------------
 */

/* Items of one kind: item[first[i]] to item[first[i + 1]] are island i's, in their order. */
struct group {
	uint32_t *item;
	size_t *first;
};

/* of: by item, UINT32_MAX for those of none. */
static struct group group_by(const uint32_t *of, size_t n, size_t islands)
{
	struct group g = { usk_alloc(n + 1, sizeof *g.item),
			   usk_alloc(islands + 2, sizeof *g.first) };
	for (size_t i = 0; i < n; i++) {
		g.first[of[i] == UINT32_MAX ? 0 : of[i] + 2] += of[i] != UINT32_MAX;
	}
	for (size_t i = 0; i < islands; i++) {
		g.first[i + 2] += g.first[i + 1];
	}
	for (size_t i = 0; i < n; i++) {
		if (of[i] != UINT32_MAX) {
			g.item[g.first[of[i] + 1]++] = (uint32_t)i;
		}
	}
	return g;
}

static void group_free(struct group *g)
{
	USK_FREE(g->item, g->first);
}

struct islands {
	struct usk_clocks *c;
	struct usk_graph_problem *p;
	struct usk_calm *calm; /* by pair */
	bool *wrong;	       /* by clock: a pair of it contradicts itself */
	bool *cut;	       /* by clock: nothing that is said of it counts */
	uint32_t *of, *number; /* by clock: its island, its number there */
	size_t n;
	struct group clock, pair;
	unsigned threads; /* for each */
	struct solved {	  /* by island */
		uint32_t reference;
		char **note;
		size_t n_notes, outliers;
		bool some;
	} * solved;
};

static void group_all(struct islands *x, const bool *tied)
{
	const struct usk_graph_problem *p = x->p;
	uint32_t *of = usk_alloc(p->n_pairs + 1, sizeof *of);
	for (size_t i = 0; i < p->n_pairs; i++) {
		of[i] = tied[i] ? x->of[p->pair[i].a] : UINT32_MAX;
	}
	x->clock = group_by(x->of, x->c->n_clocks, x->n);
	x->pair = group_by(of, p->n_pairs, x->n);
	free(of);
}

/* ---- one of them -------------------------------------------------------------------------------
 */

/* The island as a problem of its own. */
struct alone {
	struct usk_clocks c;
	struct usk_graph_problem p;
	struct usk_work w;
	const uint32_t *clock, *pair; /* their numbers among all */
};

static void take_clocks(const struct islands *x, struct alone *a)
{
	size_t n = a->c.n_clocks;
	struct usk_graph_span *span = usk_alloc(n, sizeof *span);
	struct usk_graph_back *back = usk_alloc(n, sizeof *back);
	a->c.clock = usk_alloc(n, sizeof *a->c.clock);
	a->w.wander_e12 = usk_alloc(n, sizeof *a->w.wander_e12);
	a->w.broken = usk_alloc(n, sizeof *a->w.broken);
	a->w.drawn = usk_alloc(2 * n, sizeof *a->w.drawn);
	for (uint32_t i = 0; i < n; i++) {
		a->c.clock[i] = x->c->clock[a->clock[i]];
		a->c.clock[i].reference = i;
		span[i] = x->p->span[a->clock[i]];
		back[i] = x->p->back[a->clock[i]];
		memcpy(&a->w.drawn[2 * i], &x->p->drawn[2 * a->clock[i]], 2 * sizeof *a->w.drawn);
		a->p.reference = a->clock[i] == x->p->reference ? i : a->p.reference;
	}
	a->p.span = span;
	a->p.back = back;
}

/* Both clocks by their numbers on an island; false: they are not on it. */
static bool on_island(const struct islands *x, size_t island, uint32_t *a, uint32_t *b)
{
	bool is = x->of[*a] == island && x->of[*b] == island;
	*a = is ? x->number[*a] : *a;
	*b = is ? x->number[*b] : *b;
	return is;
}

static void take_pairs(const struct islands *x, struct alone *a)
{
	size_t n = a->p.n_pairs;
	a->p.pair = usk_alloc(n + 1, sizeof *a->p.pair);
	a->c.pair = usk_alloc(n + 1, sizeof *a->c.pair);
	a->w.calm = usk_alloc(n + 1, sizeof *a->w.calm);
	a->w.tied = usk_alloc(n + 1, sizeof *a->w.tied);
	for (size_t i = 0; i < n; i++) {
		struct usk_graph_pair *p = &a->p.pair[i];
		*p = x->p->pair[a->pair[i]];
		p->a = x->number[p->a];
		p->b = x->number[p->b];
		a->c.pair[i] = x->c->pair[a->pair[i]];
		a->w.calm[i] = x->calm[a->pair[i]];
		a->w.tied[i] = true;
	}
}

/* What else ties its clocks: there is little of it. */
static void take_ties(const struct islands *x, size_t island, struct alone *a)
{
	const struct usk_graph_problem *p = x->p;
	struct usk_stated *stated = usk_alloc(p->n_stated + 1, sizeof *stated);
	struct usk_msg *msg = usk_alloc(p->n_more + 1, sizeof *msg);
	struct usk_likely *likely = usk_alloc(p->n_likely + 1, sizeof *likely);
	a->p.n_stated = a->p.n_more = a->p.n_likely = 0;
	for (size_t i = 0; i < p->n_stated; i++) {
		struct usk_stated *s = &stated[a->p.n_stated];
		*s = p->stated[i];
		a->p.n_stated += on_island(x, island, &s->from, &s->to);
	}
	for (size_t i = 0; i < p->n_more; i++) {
		struct usk_msg *m = &msg[a->p.n_more];
		*m = p->more[i];
		a->p.n_more += on_island(x, island, &m->from, &m->to);
	}
	for (size_t i = 0; i < p->n_likely; i++) {
		struct usk_likely *l = &likely[a->p.n_likely];
		*l = p->likely[i];
		a->p.n_likely += on_island(x, island, &l->msg.from, &l->msg.to);
	}
	a->p.stated = stated;
	a->p.more = msg;
	a->p.likely = likely;
}

static uint32_t among_all(const struct alone *a, uint32_t k)
{
	return k == USK_NO_CLOCK ? k : a->clock[k];
}

static void give_clocks(struct islands *x, const struct alone *a)
{
	for (size_t i = 0; i < a->c.n_clocks; i++) {
		struct usk_clock *k = &x->c->clock[a->clock[i]];
		*k = a->c.clock[i];
		k->reference = among_all(a, k->reference);
		memcpy(&x->p->drawn[2 * a->clock[i]], &a->w.drawn[2 * i], 2 * sizeof *a->w.drawn);
		for (size_t n = 0; n < k->n_path; n++) {
			k->path[n] = among_all(a, k->path[n]);
		}
		for (size_t n = 0; n < k->n_jumps; n++) {
			k->jump[n].of = among_all(a, k->jump[n].of);
			k->jump[n].or_of = among_all(a, k->jump[n].or_of);
		}
	}
}

static void give_pairs(struct islands *x, const struct alone *a)
{
	for (size_t i = 0; i < a->p.n_pairs; i++) {
		struct usk_pair *p = &x->c->pair[a->pair[i]];
		size_t n = a->p.pair[i].n_outliers;
		*p = a->c.pair[i];
		for (size_t k = p->n_outliers - n; k < p->n_outliers; k++) {
			struct usk_msg *m = &p->outlier[k].msg;
			m->from = among_all(a, m->from);
			m->to = among_all(a, m->to);
		}
		x->p->pair[a->pair[i]].n_outliers = n;
		x->calm[a->pair[i]] = a->w.calm[i];
	}
}

static size_t of_island(const struct group *g, size_t island)
{
	return g->first[island + 1] - g->first[island];
}

static void solve_alone(struct islands *x, size_t island)
{
	struct solved *out = &x->solved[island];
	struct alone a = { .p = *x->p,
			   .clock = &x->clock.item[x->clock.first[island]],
			   .pair = &x->pair.item[x->pair.first[island]] };
	a.c.n_clocks = of_island(&x->clock, island);
	a.p.n_pairs = a.c.n_pairs = of_island(&x->pair, island);
	a.p.reference = USK_NO_CLOCK;
	a.p.threads = x->threads;
	take_clocks(x, &a);
	take_pairs(x, &a);
	take_ties(x, island, &a);
	a.w.c = &a.c;
	a.w.p = &a.p;
	a.w.n_clocks = a.c.n_clocks;
	a.w.share = x->c->n_clocks / a.c.n_clocks;
	a.w.some = &out->some;
	usk_solve_island(&a.w);
	give_clocks(x, &a);
	give_pairs(x, &a);
	*out = (struct solved){ among_all(&a, a.w.reference), a.c.note, a.c.n_notes,
				a.c.counts.outliers, out->some };
	usk_build_free(&a.w);
	USK_FREE(a.c.clock, a.c.pair, a.w.wander_e12, a.w.broken, a.w.drawn, a.w.calm, a.w.tied,
		 a.p.pair, (void *)a.p.span, (void *)a.p.back, (void *)a.p.stated, (void *)a.p.more,
		 (void *)a.p.likely);
}

/* A clock that nothing ties to another. */
static void leave_alone(struct islands *x, uint32_t k)
{
	struct usk_clock *clock = &x->c->clock[k];
	clock->reference = k;
	clock->path = usk_alloc(1, sizeof *clock->path);
	clock->path[0] = k;
	clock->n_path = 1;
	if (k == x->p->reference) {
		usk_clock_reference(clock, x->p->span[k].first_ns, x->p->span[k].last_ns);
	} else if (x->wrong[k]) {
		clock->quality = USK_CONTRADICTED;
	}
}

static void solve_some(void *ctx, size_t from, size_t to)
{
	struct islands *x = ctx;
	for (size_t i = from; i < to; i++) {
		if (of_island(&x->clock, i) > 1) {
			solve_alone(x, i);
		} else {
			x->solved[i].reference = x->clock.item[x->clock.first[i]];
			leave_alone(x, x->solved[i].reference);
		}
	}
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static void write_pair(const struct usk_graph_problem *p, size_t i, const struct usk_calm *calm,
		       bool contradicted, struct usk_pair *out)
{
	const struct usk_graph_pair *pair = &p->pair[i];
	/* Both of its clocks may wander. */
	int64_t one = p->model.wander_e12, used = calm->wander_e12;
	out->wander.assumed_e12 = one;
	out->wander.needed_e12 = calm->needed_e12 == USK_NO_WANDER ? 0 : calm->needed_e12;
	out->wander.used_e12 = used > 2 * one ? used : one;
	if (contradicted) {
		out->quality = USK_CONTRADICTED;
	}
	if (contradicted && !out->n_contradiction) {
		struct usk_point point[3] = { calm->point[0], calm->point[1] };
		bool ceiling[3] = { calm->ceiling[0], calm->ceiling[1] };
		size_t n = 0;
		if (p->model.kind == USK_LINEAR) { /* the fewest that no line fits */
			struct usk_lines *l = usk_straight_pair(pair->part, p->max_skew_e12);
			n = usk_lines_contradiction(l, point, ceiling);
			usk_lines_free(l);
		}
		n = n ? n : calm->n_brackets ? 2 : 0;
		out->n_contradiction = n;
		out->contradiction = n ? usk_alloc(n, sizeof *out->contradiction) : NULL;
		for (size_t k = 0; k < n; k++) {
			out->contradiction[k] =
				usk_point_message(pair->a, pair->b, point[k], ceiling[k]);
		}
	}
}

static void forget(struct usk_clocks *c, struct usk_graph_problem *p)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		struct usk_clock *k = &c->clock[i];
		USK_FREE(k->path, k->knot, k->jump, k->stretch, k->set_back, k->beyond);
		*k = (struct usk_clock){ .name = k->name,
					 .resolution_ns = k->resolution_ns,
					 .readings = k->readings,
					 .quantum_ns = k->quantum_ns,
					 .reference = (uint32_t)i,
					 .quality = USK_ABSENT,
					 .drift_ppm = NAN,
					 .drift_min_ppm = NAN,
					 .drift_max_ppm = NAN };
	}
	for (size_t i = 0; i < c->n_islands; i++) {
		free(c->island[i].clock);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		c->pair[i].n_outliers -= p->pair[i].n_outliers;
		c->counts.outliers -= p->pair[i].n_outliers;
		p->pair[i].n_outliers = 0;
	}
	for (; p->n_notes; p->n_notes--) {
		free(c->note[--c->n_notes]);
	}
	USK_FREE(c->island, c->solve, c->how);
	c->n_islands = 0;
}

/* false: not all points became events. */
static bool tell_all(struct islands *x)
{
	struct usk_clocks *c = x->c;
	bool some = false;
	c->island = usk_alloc(x->n, sizeof *c->island);
	c->n_islands = x->n;
	for (size_t i = 0; i < x->n; i++) {
		struct solved *s = &x->solved[i];
		struct usk_island *out = &c->island[i];
		out->reference = s->reference;
		out->n_clocks = of_island(&x->clock, i);
		out->clock = usk_alloc(out->n_clocks, sizeof *out->clock);
		memcpy(out->clock, &x->clock.item[x->clock.first[i]],
		       out->n_clocks * sizeof *out->clock);
		c->note = usk_grow(c->note, c->n_notes + s->n_notes + 1, sizeof *c->note);
		for (size_t k = 0; k < s->n_notes; k++) {
			c->note[c->n_notes++] = s->note[k];
		}
		c->counts.outliers += s->outliers;
		some = some || s->some;
		free(s->note);
	}
	return !some;
}

/*
 * If messages of two clocks contradict that both have one rate, one of them has not, and nothing says
 * which. What it tells other clocks is wrong then, though their messages may not show it.
 */
static void cut_off(struct islands *x, bool *tied)
{
	const struct usk_graph_problem *p = x->p;
	bool *had = usk_alloc(x->c->n_clocks + 1, sizeof *had);
	bool *has = usk_alloc(x->c->n_clocks + 1, sizeof *has);
	memcpy(x->cut, x->wrong, x->c->n_clocks * sizeof *x->cut);
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct usk_graph_pair *pair = &p->pair[i];
		had[pair->a] |= tied[i];
		had[pair->b] |= tied[i];
		bool cut = x->cut[pair->a] || x->cut[pair->b];
		if (cut) { /* they contradict what does not hold */
			x->c->counts.outliers -= x->c->pair[i].n_outliers;
			x->c->pair[i].n_outliers = 0;
		}
		tied[i] = tied[i] && !cut;
		has[pair->a] |= tied[i];
		has[pair->b] |= tied[i];
	}
	for (size_t i = 0; i < x->c->n_clocks; i++) {
		x->wrong[i] |= had[i] && !has[i];
	}
	free(had);
	free(has);
}

/* Few are solved one by one, by all threads; of many each by one. */
enum { MANY = 16 };

static bool solve_once(struct usk_clocks *c, struct usk_graph_problem *p)
{
	forget(c, p);
	size_t notes = c->n_notes;
	struct islands x = { .c = c, .p = p };
	bool *tied = usk_alloc(p->n_pairs + 1, sizeof *tied);
	x.calm = usk_alloc(p->n_pairs + 1, sizeof *x.calm);
	x.wrong = usk_alloc(c->n_clocks + 1, sizeof *x.wrong);
	for (size_t i = 0; i < p->n_pairs; i++) {
		tied[i] = p->pair[i].part->n[0] || p->pair[i].part->n[1];
	}
	struct usk_work look = { .c = c, .p = p, .calm = x.calm, .tied = tied };
	usk_conflict_look(&look);
	for (size_t i = 0; i < p->n_pairs; i++) {
		bool wrong = usk_conflict_contradicted(&look, i);
		tied[i] = tied[i] && !wrong;
		write_pair(p, i, &x.calm[i], wrong, &c->pair[i]);
		x.wrong[p->pair[i].a] |= wrong;
		x.wrong[p->pair[i].b] |= wrong;
	}
	x.cut = usk_alloc(c->n_clocks + 1, sizeof *x.cut);
	if (p->model.kind == USK_LINEAR) {
		cut_off(&x, tied);
	}
	x.of = islands_of(c, p, tied, x.cut, &x.n);
	x.number = usk_alloc(c->n_clocks + 1, sizeof *x.number);
	group_all(&x, tied);
	for (size_t i = 0; i < x.n; i++) {
		for (size_t k = 0; k < of_island(&x.clock, i); k++) {
			x.number[x.clock.item[x.clock.first[i] + k]] = (uint32_t)k;
		}
	}
	bool many = x.n > MANY;
	x.threads = many ? 1 : p->threads;
	x.solved = usk_alloc(x.n + 1, sizeof *x.solved);
	usk_parallel(x.n, 1, many ? p->threads : 1, solve_some, &x);
	bool all = tell_all(&x);
	p->n_notes = c->n_notes - notes;
	c->solve = usk_strdup(p->tree ? "tree" : "joint");
	c->how = usk_strdup("graph");
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_calm_free(&x.calm[i]);
	}
	group_free(&x.clock);
	group_free(&x.pair);
	USK_FREE(x.calm, x.wrong, x.cut, x.of, x.number, x.solved, tied);
	return all;
}

/* So often; the caller sees what is left. */
enum { ROUNDS = 4 };

void usk_graph_solve(struct usk_clocks *c, struct usk_graph_problem *p)
{
	struct usk_more more = { .n = p->n_more, .cap = p->n_more };
	const struct usk_msg *asked = p->more;
	size_t n_asked = p->n_more;
	struct usk_drawn *own = p->drawn ? NULL : usk_alloc(2 * c->n_clocks, sizeof *own);
	p->drawn = own ? own : p->drawn;
	more.msg = usk_grow(NULL, more.n + 1, sizeof *more.msg);
	if (more.n) {
		memcpy(more.msg, asked, more.n * sizeof *more.msg);
	}
	for (int round = 0; !solve_once(c, p) && round < ROUNDS; round++) {
		if (!usk_written_points(c, p, &more)) {
			break;
		}
		p->more = more.msg;
		p->n_more = more.n;
	}
	p->more = asked;
	p->n_more = n_asked;
	p->drawn = own ? NULL : p->drawn;
	free(own);
	free(more.msg);
}
