/* SPDX-License-Identifier: MIT */
/*
 * conflict.c - what pairs and records show that no calm clock does, and whose it was
 *
 * In    brackets that pairs show, breaks known from records
 * Out   breaks of clocks, more wander; whose brackets were
 * Why   one place for all of it. Bands need no blame: a break is put into every clock that may
 *       have done it, and costs next to nothing where messages stand on both sides. Blame is for
 *       the report, and to spare clocks that other messages clear
 * Not   bounds that cross, which only cycles of pairs show (cycles.c)
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- breaks ------------------------------------------------------------------------------------
 */

void usk_break_add(struct usk_work *w, struct usk_break b)
{
	if (b.clock != w->reference) {
		w->brk = usk_room(w->brk, w->n_breaks, &w->cap_breaks, sizeof *w->brk);
		w->brk[w->n_breaks++] = b;
	}
}

static int64_t size_or_length(const struct usk_bracket *b, int64_t size)
{
	if (size == USK_NONE) {
		return usk_saturate((usk_i128)b->b1_ns - b->b0_ns);
	}
	return size < 0 ? -size : size;
}

/* By so much stamps of a clock may repeat that was set back in a bracket. */
static int64_t fold_of(const struct usk_bracket *b)
{
	return size_or_length(b, b->rises ? b->most_ns : b->least_ns);
}

/* By so much a clock may have been set in it, either way. */
int64_t usk_bracket_farthest(const struct usk_bracket *b)
{
	int64_t least = size_or_length(b, b->least_ns), most = size_or_length(b, b->most_ns);
	return least > most ? least : most;
}

/* By how much T of a clock may rise, fall in a bracket more than usual: open in size for a step, of
 * which it may hold several, or if nobody knows; else by what was seen, slewed or at once. */
struct usk_break usk_break_of(const struct usk_bracket *x, bool rises, uint32_t number)
{
	struct usk_break b = { .bracket = number };
	int64_t most = x->rises ? x->most_ns : x->least_ns; /* either is of the offset */
	bool known = !x->step && !x->doubted && most != USK_NONE;
	int64_t far = !known ? 0 : most < 0 ? -most : most;
	b.up = !known && (rises || x->both);
	b.down = !known && (!rises || x->both);
	b.rise_ns = rises ? far : 0;
	b.fall_ns = rises ? 0 : far;
	return b;
}

/* The offset is a's stamp less b's: it rises where b is set back or a forward. */
static void break_pair(struct usk_work *w, uint32_t number)
{
	const struct usk_seen *s = &w->seen[number];
	const struct usk_bracket *x = &s->at;
	struct usk_break b = usk_break_of(x, x->rises, number),
			 a = usk_break_of(x, !x->rises, number);
	b.clock = s->b;
	b.from_ns = x->b0_ns;
	b.to_ns = x->b1_ns;
	b.falls = s->a == w->reference;
	b.vague = x->most_ns == USK_NONE;
	b.fold_ns = b.up ? fold_of(x) : 0;
	a.clock = s->a;
	a.from_ns = x->a0_ns;
	a.to_ns = x->a1_ns;
	a.falls = s->b == w->reference;
	a.vague = x->least_ns == USK_NONE;
	a.fold_ns = a.up ? fold_of(x) : 0;
	usk_break_add(w, b);
	usk_break_add(w, a);
}

/* How many of a pair's clocks may wander against the reference. */
static int may_wander(const struct usk_work *w, const struct usk_graph_pair *p)
{
	bool known = w->reference != USK_NO_CLOCK;
	return known && (p->a == w->reference || p->b == w->reference) ? 1 : 2;
}

static bool too_many(const struct usk_graph_pair *p, const struct usk_calm *c)
{
	return p->too_many && c->n_outliers >= p->too_many;
}

static void look_at_pairs(void *ctx, size_t from, size_t to)
{
	struct usk_work *w = ctx;
	const struct usk_graph_problem *p = w->p;
	for (size_t i = from; i < to; i++) {
		const struct usk_graph_pair *pair = &p->pair[i];
		struct usk_calm *c = &w->calm[i];
		struct usk_calm now;
		const struct usk_calm_model m = { .wander_e12 = p->model.wander_e12,
						  .clocks = may_wander(w, pair),
						  .max_skew_e12 = p->max_skew_e12,
						  .own_rates = p->model.kind == USK_SEGMENTS };
		if (!w->tied[i]) {
			continue;
		}
		if (w->reference != USK_NO_CLOCK && !c->n_brackets &&
		    usk_calm_holds(&m, c->needed_e12)) {
			c->wander_e12 = m.clocks * m.wander_e12;
			continue;
		}
		usk_calm_of(pair->part, &m, &p->back[pair->a], &p->back[pair->b], &now);
		/* Less wander is no reason to leave out more than may be. */
		if (w->reference != USK_NO_CLOCK && too_many(pair, &now)) {
			usk_calm_free(&now);
			continue;
		}
		usk_calm_free(c);
		*c = now;
	}
}

/* Of a pair that exceeds what its clocks may together each gets its share. */
static void share_wander(struct usk_work *w, const struct usk_graph_pair *p, int64_t used)
{
	bool one = p->a == w->reference || p->b == w->reference;
	int64_t share = one ? used : used / 2 + used % 2;
	uint32_t both[] = { p->a, p->b };
	int64_t sum = 0;
	for (int k = 0; k < 2; k++) {
		sum += both[k] == w->reference ? 0 : w->wander_e12[both[k]];
	}
	for (int k = 0; k < 2 && sum < used; k++) {
		int64_t *mine = &w->wander_e12[both[k]];
		*mine = *mine < share ? share : *mine;
	}
}

bool usk_conflict_contradicted(const struct usk_work *w, size_t pair)
{
	/* With lines there is nothing between: those that might be left out were, before. */
	const struct usk_calm *c = &w->calm[pair];
	return c->contradicted || too_many(&w->p->pair[pair], c) ||
	       (w->p->model.kind == USK_LINEAR && (c->n_brackets || c->n_outliers));
}

void usk_conflict_look(struct usk_work *w)
{
	w->reference = USK_NO_CLOCK;
	usk_parallel(w->p->n_pairs, 4, w->p->threads, look_at_pairs, w);
}

void usk_conflict_begin(struct usk_work *w)
{
	const struct usk_graph_problem *p = w->p;
	w->reference = usk_paths_reference(w);
	usk_parallel(p->n_pairs, 4, p->threads, look_at_pairs, w);
	for (size_t i = 0; i < w->n_clocks; i++) {
		w->wander_e12[i] = p->model.wander_e12;
	}
	for (int both = 0; both < 2; both++) {
		for (size_t i = 0; i < p->n_pairs; i++) {
			const struct usk_graph_pair *x = &p->pair[i];
			bool known = x->a == w->reference || x->b == w->reference;
			if (w->tied[i] && known == !both && p->model.kind != USK_LINEAR) {
				share_wander(w, x, w->calm[i].wander_e12);
			}
		}
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct usk_calm *c = &w->calm[i];
		for (size_t k = 0; k < c->n_brackets + c->n_doubts && w->tied[i]; k++) {
			w->seen = usk_grow(w->seen, w->n_seen + 1, sizeof *w->seen);
			w->seen[w->n_seen] =
				(struct usk_seen){ .pair = (uint32_t)i,
						   .a = p->pair[i].a,
						   .b = p->pair[i].b,
						   .at = k < c->n_brackets
								 ? c->bracket[k]
								 : c->doubt[k - c->n_brackets],
						   .may_be = { true, true } };
			break_pair(w, (uint32_t)w->n_seen++);
		}
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		const struct usk_graph_back *b = &p->back[i];
		for (size_t k = 0; k < b->n; k++) {
			usk_break_add(w, (struct usk_break){ .clock = i,
							     .from_ns = b->gap[k].before_ns,
							     .to_ns = b->gap[k].after_ns,
							     .up = true,
							     .down = true,
							     .back = true,
							     .bracket = UINT32_MAX });
		}
	}
}

/* ---- whose it was ------------------------------------------------------------------------------
 */

/* When a clock showed a stamp of its own, at the earliest or at the latest. */
static usk_i128 time_of(const struct usk_work *w, uint32_t k, int64_t ns, bool latest)
{
	uint32_t i = usk_event_behind(w, k, (usk_i128)ns - 1);
	i -= i == w->first[k + 1];
	return k == w->reference ? usk_e12(ns) : latest ? w->hi[i] : w->lo[i];
}

/* Did a clock's T rise in it, if it was that clock's? */
bool usk_seen_rises_for(const struct usk_seen *s, uint32_t k)
{
	return s->at.rises == (s->b == k);
}

bool usk_seen_has(const struct usk_seen *s, uint32_t k)
{
	return s->a == k || s->b == k;
}

/* Was the reference set back in it, if it was the reference? */
bool usk_seen_sets_back(const struct usk_work *w, const struct usk_seen *s)
{
	return usk_seen_has(s, w->reference) && usk_seen_rises_for(s, w->reference);
}

/* Between which times of the reference it lay: of both clocks one may be known better. If it is the
 * reference that was set back it showed less behind it than before, by as much. */
static void place(const struct usk_work *w, struct usk_seen *s)
{
	usk_i128 from = time_of(w, s->a, s->at.a0_ns, false);
	usk_i128 to = time_of(w, s->a, s->at.a1_ns, true);
	s->from = time_of(w, s->b, s->at.b0_ns, false);
	s->to = time_of(w, s->b, s->at.b1_ns, true);
	s->from = from > s->from ? from : s->from;
	s->to = to < s->to ? to : s->to;
	if (usk_seen_sets_back(w, s)) {
		s->from -= usk_e12(usk_bracket_farthest(&s->at));
		s->to += usk_e12(usk_bracket_farthest(&s->at));
	}
}

static bool overlap(const struct usk_seen *s, const struct usk_seen *t)
{
	return !s->at.doubted && !t->at.doubted && s->from <= t->to && t->from <= s->to;
}

/* By how much a clock jumped that was set in a bracket, another pair may say otherwise: time that
 * it skips, or shows twice, passes by its own stamps, at no rate that it ever had. */
static usk_i128 told_apart(const struct usk_work *w, const struct usk_seen *s)
{
	usk_i128 rate = 2 * (usk_i128)w->p->max_skew_e12;
	return usk_ceil_div(usk_bracket_farthest(&s->at) * rate, USK_E12);
}

/* By how much rates of a pair's clocks may change where it is asked what did not happen to them. A
 * pair that needs more than is assumed does show something, which may have been just that: then no
 * more is known of rates than the limit. */
static int64_t known_wander(const struct usk_work *w, size_t i)
{
	const struct usk_graph_problem *p = w->p;
	int64_t used = w->calm[i].wander_e12 > 1 ? w->calm[i].wander_e12 : 1;
	int64_t assumed = may_wander(w, &p->pair[i]) * p->model.wander_e12;
	return p->model.kind == USK_WANDER && used > assumed ? p->max_skew_e12 : used;
}

/* What pair i, another one of clock k, says of the clock's time in a bracket; and by how much it
 * rose there if it was this clock's. */
static struct usk_rise other_says(const struct usk_work *w, const struct usk_seen *s, uint32_t k,
				  size_t i, int64_t size[2])
{
	const struct usk_graph_pair *p = &w->p->pair[i];
	bool of_b = s->b == k;
	/* Of the clock as this pair has it: the other way round if it is the other side. */
	bool same = (p->b == k) == of_b;
	struct usk_rise rise;
	usk_calm_jump(p->part, known_wander(w, i), w->p->max_skew_e12, p->b == k,
		      of_b ? s->at.b0_ns : s->at.a0_ns, of_b ? s->at.b1_ns : s->at.a1_ns, &rise);
	usk_i128 more = told_apart(w, s);
	size[0] = usk_saturate((same ? s->at.least_ns : -(usk_i128)s->at.most_ns) - more);
	size[1] = usk_saturate((same ? s->at.most_ns : -(usk_i128)s->at.least_ns) + more);
	return rise;
}

static bool is_other(const struct usk_work *w, const struct usk_seen *s, uint32_t k, size_t i)
{
	const struct usk_graph_pair *p = &w->p->pair[i];
	return w->tied[i] && i != s->pair && (p->a == k || p->b == k);
}

static bool sized(const struct usk_seen *s)
{
	return s->at.least_ns != USK_NONE && s->at.most_ns != USK_NONE;
}

/* Would another pair of the clock have shown it, and does not? */
static bool cleared(const struct usk_work *w, const struct usk_seen *s, uint32_t k)
{
	for (size_t i = 0; i < w->p->n_pairs && sized(s); i++) {
		int64_t size[2];
		if (!is_other(w, s, k, i)) {
			continue;
		}
		struct usk_rise r = other_says(w, s, k, i, size);
		if ((r.most_ns != USK_NONE && size[0] > r.most_ns) ||
		    (r.least_ns != USK_NONE && size[1] < r.least_ns)) {
			bool shown = false;
			for (size_t j = 0; j < w->n_seen; j++) {
				shown = shown || (w->seen[j].pair == i && overlap(&w->seen[j], s));
			}
			if (!shown) {
				return true;
			}
		}
	}
	return false;
}

/*
 * How many more other pairs of the clock say that it was this one's than that it was not, by their
 * fastest messages of both directions: nearer to what was seen or to nothing. Where one direction
 * says this and the other one that they do not tell: by the mean of both a single message that was
 * slow would.
 */
static int likely(const struct usk_work *w, const struct usk_seen *s, uint32_t k)
{
	int votes = 0;
	for (size_t i = 0; i < w->p->n_pairs && sized(s); i++) {
		int64_t size[2];
		if (!is_other(w, s, k, i)) {
			continue;
		}
		struct usk_rise r = other_says(w, s, k, i, size);
		bool up = size[0] > 0;
		usk_i128 least = up ? size[0] : -(usk_i128)size[1];
		usk_i128 a = r.likely_ns[0], b = r.likely_ns[1];
		bool seen[] = { 2 * (up ? a : -a) > least, 2 * (up ? b : -b) > least };
		if (least > 0 && r.likely_ns[0] != USK_NONE && r.likely_ns[1] != USK_NONE &&
		    seen[0] == seen[1]) {
			votes += seen[0] ? 1 : -1;
		}
	}
	return votes;
}

static bool placed(const struct usk_seen *s)
{
	return s->from > -USK_INF && s->to < USK_INF;
}

/* Do two brackets of a clock say that it was set by as much at one time? What is unknown of either
 * says nothing. */
static bool alike(const struct usk_work *w, const struct usk_seen *s, const struct usk_seen *t,
		  uint32_t k)
{
	usk_i128 more = told_apart(w, s);
	bool same = (s->b == k) == (t->b == k);
	usk_i128 least = same ? t->at.least_ns : -(usk_i128)t->at.most_ns;
	usk_i128 most = same ? t->at.most_ns : -(usk_i128)t->at.least_ns;
	return placed(s) && placed(t) && overlap(s, t) && sized(s) && sized(t) &&
	       least <= s->at.most_ns + more && s->at.least_ns - more <= most;
}

/* Whether other pairs of a bracket's clocks show the same, of a, of b. */
struct shared {
	bool by[2];
};

/* Does another pair of clock k show the same at the same time? With `theirs` it does not count if
 * one of the other clock of that pair does, too. */
static bool supported(const struct usk_work *w, size_t i, uint32_t k, const struct shared *theirs)
{
	const struct usk_seen *s = &w->seen[i];
	bool any = false;
	for (size_t j = 0; j < w->n_seen && !any; j++) {
		const struct usk_seen *t = &w->seen[j];
		any = j != i && usk_seen_has(t, k) && !usk_seen_has(t, s->a == k ? s->b : s->a) &&
		      alike(w, s, t, k) && !(theirs && theirs[j].by[t->a == k]);
	}
	return any;
}

/*
 * That another pair of a clock would have shown it is certain. Two pairs of a clock that say the
 * same make it likely that it was this one, unless one of them has as good a reason to be of its
 * other clock.
 */
static void blame(struct usk_work *w)
{
	struct shared *shared = usk_alloc(w->n_seen + 1, sizeof *shared);
	for (size_t i = 0; i < w->n_seen; i++) {
		place(w, &w->seen[i]);
	}
	for (size_t i = 0; i < w->n_seen; i++) {
		shared[i].by[0] = supported(w, i, w->seen[i].a, NULL);
		shared[i].by[1] = supported(w, i, w->seen[i].b, NULL);
	}
	for (size_t i = 0; i < w->n_seen; i++) {
		struct usk_seen *s = &w->seen[i];
		if (s->at.doubted) { /* if it was anything */
			continue;
		}
		bool support[2] = { supported(w, i, s->a, shared), supported(w, i, s->b, shared) };
		bool clear[2] = { cleared(w, s, s->a), cleared(w, s, s->b) };
		bool known = clear[0] != clear[1], any = support[0] || support[1];
		int more = known || any ? 0 : likely(w, s, s->a) - likely(w, s, s->b);
		s->sure = known || any;
		for (int k = 0; k < 2; k++) {
			s->excluded[k] = clear[k] && !clear[!k];
			s->may_be[k] = known ? !clear[k]
				       : any ? support[k]
				       : k   ? more <= 0
					     : more >= 0;
		}
	}
	free(shared);
}

void usk_bound_by_order(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		bool falls = w->cell[i].lower == USK_UNBOUNDED;
		w->cell[i].lower = falls ? USK_UNBOUNDED : USK_MONOTONE;
		w->cell[i].upper = USK_UNBOUNDED;
	}
	for (size_t k = 0; k < w->n_folds; k++) {
		bool falls = w->fold[k].lower == USK_UNBOUNDED;
		w->fold[k].lower = falls ? USK_UNBOUNDED : USK_MONOTONE;
	}
	usk_bounds_reset(w);
	usk_propagate(w);
}

/*
 * What lies before and behind what is told by order alone, as no rate is known yet that holds: no
 * message is received before it is sent, and no clock's time falls.
 */
void usk_conflict_blame(struct usk_work *w)
{
	if (!w->n_seen && !w->p->back[w->reference].n) {
		return;
	}
	usk_bound_by_order(w);
	blame(w);
	usk_break_by_reference(w);
	usk_build_cells(w);
}
