/* SPDX-License-Identifier: MIT */
/*
 * sums.c - facts of clocks of constant rates, by linear programs
 *
 * In    nodes and edges, facts of each clock's first and last node
 * Out   facts at knots: messages, each taken so often
 * Why   chords and cones go from clock to clock; what several clocks say together, each at a rate of
 *       its own that nobody knows, only a program of all of them finds
 * Not   trusting it: what its prices were rounded to is summed here in integers, and what rounding
 *       leaves of an offset is bounded by the facts at the ends of its clock
 *
 * Upper bounds: with a message m taken k_m times, and theta on a line for each clock,
 *
 *     scale theta(x) <= sum of k_m gap_m + sum over clocks of (A theta(y) + B theta(z)),
 *
 * where A and B are whatever the left sides of all messages leave of a clock at its ends y and z. A
 * program's optimum leaves next to nothing.
 */
#include "graph/program.h"
#include "graph/proof.h"

#include <math.h>
#include <stdlib.h>

/* Multipliers are parts of so many; offsets and gaps less their clocks' are under the limit, and
 * clocks are seen for under 13 days, so that sums keep within 128 bits. */
#define SCALE	      (INT64_C(1) << 36)
#define LARGEST	      ((usk_i128)1 << 76)
#define LONGEST	      (INT64_C(1) << 50)
#define LARGEST_PRICE 100
#define LP_CLOCKS     64

/* An edge as the program has it: clocks by their numbers there, received its minimum delay ago. */
struct tie {
	uint32_t from, to;
	int64_t sent, received;
	uint32_t edge;
};

/* The clocks of one reference as a program asks for them. */
struct island {
	struct usk_prove *x;
	struct usk_work w;
	uint32_t *clock;       /* by number in it */
	uint32_t *number;      /* [clocks] USK_NO_CLOCK: not in it */
	uint32_t (*end)[2][2]; /* by number: facts of its first and last node, by side */
	struct tie *tie;       /* sorted */
	size_t n_ties;
};

static uint32_t first_node(const struct usk_prove *x, uint32_t k)
{
	return x->first[k];
}

static uint32_t last_node(const struct usk_prove *x, uint32_t k)
{
	return x->first[k + 1] - 1;
}

static bool is_bounded(const struct usk_prove *x, uint32_t k)
{
	bool is = x->first[k] + 1 < x->first[k + 1] &&
		  x->node[last_node(x, k)].x - x->node[first_node(x, k)].x < LONGEST;
	for (int side = 0; side < 2 && is; side++) {
		is = usk_prove_known(x, first_node(x, k), side) &&
		     usk_prove_known(x, last_node(x, k), side);
	}
	for (uint32_t e = x->first[k]; e + 1 < x->first[k + 1] && is; e++) {
		is = x->node[e].calm;
	}
	return is && !x->c->clock[k].wander.used_e12;
}

/* ---- the program -------------------------------------------------------------------------------
 */

static void put_event(struct usk_work *w, uint32_t k, uint32_t at, int64_t x)
{
	w->x[at] = x;
	w->owner[at] = k;
	w->peer[at] = USK_NO_EVENT;
}

static void put_end(struct island *s, uint32_t k, uint32_t at, bool last)
{
	const struct usk_prove *x = s->x;
	uint32_t node = last ? last_node(x, s->clock[k]) : first_node(x, s->clock[k]);
	put_event(&s->w, k, at, x->node[node].x);
	s->w.lo[at] = usk_e12(x->node[node].x) - usk_prove_best(x, node, 0);
	s->w.hi[at] = usk_e12(x->node[node].x) + usk_prove_best(x, node, 1);
	for (int side = 0; side < 2; side++) {
		s->end[k][last][side] = x->node[node].best[side];
	}
}

static const struct usk_key by_ends[] = {
	BY(tie, from), BY(tie, to), BY(tie, sent), BY(tie, received), { .kind = KEYS_END }
};

static void put_ties(struct island *s)
{
	const struct usk_prove *x = s->x;
	s->tie = usk_alloc(x->n_edges + 1, sizeof *s->tie);
	for (size_t i = 0; i < x->n_edges; i++) {
		const struct usk_node *from = &x->node[x->edge[i].from];
		const struct usk_node *to = &x->node[x->edge[i].to];
		uint32_t a = s->number[from->clock], b = s->number[to->clock];
		if (a != USK_NO_CLOCK && b != USK_NO_CLOCK) {
			s->tie[s->n_ties++] =
				(struct tie){ a, b, from->x, to->x - x->edge[i].least_ns,
					      (uint32_t)i };
		}
	}
	usk_sort(s->tie, s->n_ties, sizeof *s->tie, by_ends);
}

/* Events of each clock: its first node, ends of edges, its last node. */
static void put_events(struct island *s)
{
	struct usk_work *w = &s->w;
	uint32_t *at = usk_alloc(w->n_clocks + 1, sizeof *at);
	for (size_t i = 0; i < s->n_ties; i++) {
		w->first[s->tie[i].from + 1]++;
		w->first[s->tie[i].to + 1]++;
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		w->first[k + 1] += w->first[k] + 2;
		at[k] = w->first[k] + 1;
	}
	w->n = w->first[w->n_clocks];
	w->x = usk_alloc(w->n, sizeof *w->x);
	w->owner = usk_alloc(w->n, sizeof *w->owner);
	w->peer = usk_alloc(w->n, sizeof *w->peer);
	w->sent = usk_alloc(w->n, sizeof *w->sent);
	w->lo = usk_alloc(w->n, sizeof *w->lo);
	w->hi = usk_alloc(w->n, sizeof *w->hi);
	w->run_of = usk_alloc(w->n, sizeof *w->run_of);
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		put_end(s, k, w->first[k], false);
		put_end(s, k, w->first[k + 1] - 1, true);
	}
	for (size_t i = 0; i < s->n_ties; i++) {
		const struct tie *t = &s->tie[i];
		uint32_t p = at[t->from]++, q = at[t->to]++;
		put_event(w, t->from, p, t->sent);
		put_event(w, t->to, q, t->received);
		w->peer[p] = q;
		w->peer[q] = p;
		w->sent[p] = true;
	}
	free(at);
}

/* Rates are as free as they can be: bounds at both ends say all that facts do. */
static void island_begin(struct island *s, struct usk_prove *x, uint32_t reference)
{
	size_t clocks = x->c->n_clocks;
	*s = (struct island){ .x = x };
	s->w.c = (struct usk_clocks *)x->c;
	s->w.p = x->p;
	s->clock = usk_alloc(clocks, sizeof *s->clock);
	s->number = usk_alloc(clocks, sizeof *s->number);
	for (uint32_t k = 0; k < clocks; k++) {
		bool in = x->c->clock[k].reference == reference && usk_provable(x, k) &&
			  is_bounded(x, k);
		s->number[k] = in ? (uint32_t)s->w.n_clocks : USK_NO_CLOCK;
		if (in) {
			s->clock[s->w.n_clocks++] = k;
		}
	}
	s->w.reference = s->number[reference];
	s->end = usk_alloc(s->w.n_clocks + 1, sizeof *s->end);
	s->w.first = usk_alloc(clocks + 2, sizeof *s->w.first);
	s->w.run = usk_alloc(1, sizeof *s->w.run);
	s->w.run->least_e12 = s->w.run->slow_e12 = -(int64_t)USK_E12;
	s->w.run->most_e12 = s->w.run->fast_e12 = (int64_t)USK_E12;
	put_ties(s);
	put_events(s);
}

static void island_free(struct island *s)
{
	struct usk_work *w = &s->w;
	USK_FREE(s->clock, s->number, s->end, s->tie, w->first, w->run, w->x, w->owner, w->peer,
		 w->sent, w->lo, w->hi, w->run_of);
}

/* ---- sums --------------------------------------------------------------------------------------
 */

/* What is left of a clock's offset: its weight, and its moment about the first node. */
struct left {
	usk_i128 weight, moment;
	usk_i128 base; /* offsets are less this, which keeps them small */
};

struct summing {
	struct island *s;
	struct left *left; /* by number */
	struct usk_sum sum;
	usk_i128 total;
	bool large;
};

static usk_i128 bounded(struct summing *m, usk_i128 v)
{
	m->large = m->large || v > LARGEST || v < -LARGEST;
	return m->large ? 0 : v;
}

/* often theta(at) more is left of a clock. */
static void leave(struct summing *m, uint32_t k, int64_t at, int64_t often)
{
	int64_t begin = m->s->x->node[first_node(m->s->x, m->s->clock[k])].x;
	m->left[k].weight += often;
	m->left[k].moment += (usk_i128)often * (at - begin);
}

static void take_tie(struct summing *m, const struct tie *t, int64_t often)
{
	const struct usk_prove *x = m->s->x;
	const struct usk_proof_edge *e = &x->edge[t->edge];
	usk_i128 gap = (usk_i128)x->node[e->to].x - x->node[e->from].x - e->least_ns;
	gap = gap * USK_E12 + m->left[t->to].base - m->left[t->from].base;
	m->total += bounded(m, gap) * often;
	leave(m, t->from, t->sent, -often);
	leave(m, t->to, x->node[e->to].x, often);
	m->sum.edge[m->sum.n] = t->edge;
	m->sum.often[m->sum.n++] = often;
}

/* What is left of clock k is bounded at its ends. */
static void take_ends(struct summing *m, uint32_t k)
{
	const struct usk_prove *x = m->s->x;
	const struct left *left = &m->left[k];
	uint32_t clock = m->s->clock[k];
	usk_i128 d = (usk_i128)x->node[last_node(x, clock)].x - x->node[first_node(x, clock)].x;
	usk_i128 late = left->moment, early = left->weight * d - late;
	if ((!late && !early) || k == m->s->w.reference) {
		return;
	}
	uint32_t fact[2] = { m->s->end[k][0][early >= 0], m->s->end[k][1][late >= 0] };
	usk_i128 at[2];
	for (int end = 0; end < 2; end++) {
		const struct usk_fact *f = &x->fact[fact[end]];
		at[end] = bounded(m, (f->side ? f->at : -f->at) - left->base);
		m->sum.bound[m->sum.n_bounds++] = fact[end];
	}
	usk_i128 whole = usk_floor_div(late, d), rise = bounded(m, at[1] - at[0]);
	m->total += left->weight * at[0] + whole * rise + usk_ceil_share(rise, late - whole * d, d);
}

/* The messages of the program's last answer, with its prices rounded. */
static void take_messages(struct summing *m, const struct usk_asker *a)
{
	const double *price = usk_lp_x(a->lp);
	for (size_t g = 0; g < a->n_known; g++) {
		const struct usk_lp_column *c = &a->program->column[a->known[g]];
		int64_t often = price[g] < LARGEST_PRICE ? llrint(price[g] * SCALE) : INT64_MAX;
		struct tie key = { .from = c->from, .to = c->to, c->sent_ns, c->received_ns };
		if (c->from == c->to || often <= 0) {
			continue;
		}
		const struct tie *t = usk_find(&key, m->s->tie, m->s->n_ties, sizeof key, by_ends);
		m->large = m->large || !t || often == INT64_MAX;
		if (!m->large) {
			take_tie(m, t, often);
		}
	}
}

/* The fact that a program's last answer is, of node e. */
static void put_sum(struct island *s, const struct usk_asker *a, uint32_t k, uint32_t e, int side)
{
	struct usk_prove *x = s->x;
	struct summing m = { .s = s, .left = usk_alloc(s->w.n_clocks, sizeof *m.left) };
	m.sum.edge = usk_alloc(a->n_known + 1, sizeof *m.sum.edge);
	m.sum.often = usk_alloc(a->n_known + 1, sizeof *m.sum.often);
	m.sum.bound = usk_alloc(2 * s->w.n_clocks, sizeof *m.sum.bound);
	for (uint32_t i = 0; i < s->w.n_clocks; i++) {
		usk_i128 hi = x->fact[s->end[i][0][1]].at;
		m.left[i].base = usk_floor_div(hi, USK_E12) * USK_E12;
	}
	leave(&m, k, x->node[e].x, side ? SCALE : -SCALE);
	take_messages(&m, a);
	for (uint32_t i = 0; i < s->w.n_clocks && !m.large; i++) {
		take_ends(&m, i);
	}
	usk_i128 base = m.left[k].base;
	if (!m.large) {
		m.sum.scale = SCALE;
		*USK_ADD(x->sum, x->n_sums, x->cap_sums) = m.sum;
		usk_derived(x, (struct usk_fact){ .at = usk_ceil_div(m.total, SCALE) +
							(side ? base : -base),
						  .node = e,
						  .why = (uint32_t)(x->n_sums - 1),
						  .rule = USK_BY_SUM,
						  .side = (uint8_t)side });
	} else {
		usk_sum_free(&m.sum);
	}
	free(m.left);
}

void usk_sum_free(struct usk_sum *s)
{
	USK_FREE(s->edge, s->often, s->bound);
}

/* ---- what is asked -----------------------------------------------------------------------------
 */

/* Is less known of a knot than the answer says? */
static bool is_open(const struct usk_prove *x, uint32_t k, uint32_t e, int side)
{
	const struct usk_clock *c = &x->c->clock[k];
	bool open = false;
	for (size_t i = 0; i < c->n_knots && x->node[e].knot; i++) {
		int64_t bound = side ? c->knot[i].hi_ns : c->knot[i].lo_ns;
		usk_i128 at = side ? bound : -(usk_i128)bound;
		open = open || (c->knot[i].local_ns == x->node[e].x && bound != USK_NONE &&
				usk_prove_best(x, e, side) > at * USK_E12);
	}
	return open;
}

static void ask_clock(struct island *s, struct usk_asker *a, int i)
{
	const struct usk_lp_line *l = &a->program->line[i];
	const struct usk_prove *x = s->x;
	uint32_t k = s->clock[l->clock];
	for (uint32_t e = x->first[k]; e < x->first[k + 1]; e++) {
		double late = (double)(x->node[e].x - l->e0) / (double)(l->e1 - l->e0);
		for (int side = 0; side < 2; side++) {
			double sign = side ? 1 : -1;
			double weight[2] = { sign * (1 - late), sign * late };
			if (is_open(x, k, e, side) && !isinf(usk_ask(a, i, weight))) {
				put_sum(s, a, l->clock, e, side);
			}
		}
	}
}

static void sum_island(struct usk_prove *x, uint32_t reference)
{
	struct island s;
	struct usk_program program;
	struct usk_asker a;
	island_begin(&s, x, reference);
	if (s.w.n_clocks > 2 && s.w.n_clocks <= LP_CLOCKS && s.w.reference != USK_NO_CLOCK) {
		usk_program_of(&s.w, &program);
		if (program.n_rows) {
			bool good = usk_asker_new(&a, &program, NULL) == USK_LP_OPTIMAL;
			for (size_t i = 0; i < program.n_lines && good; i++) {
				if (program.line[i].row >= 0) {
					ask_clock(&s, &a, (int)i);
				}
			}
			usk_asker_free(&a);
		}
		usk_program_free(&program);
	}
	island_free(&s);
}

void usk_prove_sums(struct usk_prove *x)
{
	bool asks = x->p->model.kind == USK_LINEAR && usk_lp_solver() && !x->failed;
	for (uint32_t k = 0; k < x->c->n_clocks && asks; k++) {
		if (x->c->clock[k].reference == k) {
			sum_island(x, k);
		}
	}
}
