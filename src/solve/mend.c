/* SPDX-License-Identifier: MIT */
/*
 * mend.c - estimates of all clocks moved so that every message is in order
 *
 * In    every clock's estimate and band, points of ties, messages
 * Out   estimates that are in order with all of them
 * Why   whatever drew the estimates, a path of pairs, all pairs together, an estimator that knows
 *       of neither order nor jumps: what is left out of order is few messages, which few others
 *       stand near to
 * Not   times for them (sequence.c), smooth estimates (order.c)
 *
 * What is out of order, and the knots of its clocks, get times by usk_sequence(); with knots there
 * all is looked at again, and what is out of order now is asked for too. All else stays.
 */
#include "solve/mend.h"
#include "base/parallel.h"
#include "fit/fit.h"
#include "solve/joint.h"
#include "solve/sequence.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, TIES_AT_ONCE = 16 };

/* T of one clock at a time is not over that of another at another. */
struct demand {
	uint32_t from, to;
	int64_t sent_ns, received_ns;
};

struct mend {
	struct usk_mending *m;
	struct usk_link *was;  /* by clock: before anything was moved */
	bool *possible;	       /* by number in m->more */
	struct demand *demand; /* sorted, each once */
	size_t n, cap;
	/* Of the last look: */
	bool *changed;	/* by clock: since then */
	size_t *missed; /* by tie: points that ask for more than they have; */
	size_t *wrong;	/* that are out of order */
};

static bool known(const struct usk_mending *m, uint32_t i)
{
	return m->is_reference[i] || m->link[i].n;
}

static int64_t time_at(const struct usk_mending *m, uint32_t i, int64_t local, usk_hint *at)
{
	return m->is_reference[i] ? local : usk_link_at(&m->link[i], USK_MIDDLE, local, at);
}

/* ---- what is out of order ---------------------------------------------------------------------
 */

static int compare_demands(const void *pa, const void *pb)
{
	const struct demand *a = pa, *b = pb;
	if (a->from != b->from || a->to != b->to) {
		return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
					  : (a->to > b->to) - (a->to < b->to);
	}
	return a->sent_ns != b->sent_ns
		       ? (a->sent_ns > b->sent_ns) - (a->sent_ns < b->sent_ns)
		       : (a->received_ns > b->received_ns) - (a->received_ns < b->received_ns);
}

/* A tie's point as it was recorded, without its weakening. */
static struct demand demand_of(const struct usk_tie *t, bool ceiling, struct usk_xy q)
{
	q.y += t->part->q_ns[ceiling];
	struct usk_point p = usk_part_point(t->part, ceiling, q);
	int64_t on_a = usk_cut((usk_i128)p.local_ns + p.offset_ns);
	return ceiling ? (struct demand){ t->b, t->a, p.local_ns, on_a }
		       : (struct demand){ t->a, t->b, on_a, p.local_ns };
}

static usk_i128 slack(const struct usk_mending *m, const struct demand *d, usk_hint at[2])
{
	return (usk_i128)time_at(m, d->to, d->received_ns, &at[1]) -
	       time_at(m, d->from, d->sent_ns, &at[0]);
}

static usk_i128 widest(const struct usk_link *l)
{
	usk_i128 most = 0;
	for (size_t i = 0; i < l->n; i++) {
		usk_i128 width = (usk_i128)l->knot[i].hi_ns - l->knot[i].lo_ns;
		most = width > most ? width : most;
	}
	return most;
}

/* Do bands leave a message possible, or exclude it by no more than they are wide elsewhere? */
static bool is_possible(const struct usk_mending *m, const struct usk_msg *g)
{
	const struct usk_link *from = &m->link[g->from], *to = &m->link[g->to];
	usk_hint at = 0;
	int64_t sent = g->sent_ns, received = g->received_ns;
	if (!known(m, g->from) || !known(m, g->to)) {
		return false;
	}
	if (!m->is_reference[g->from]) {
		sent = usk_link_at(from, USK_LOWER, sent, &at);
	}
	if (!m->is_reference[g->to]) {
		received = usk_link_at(to, USK_UPPER, received, &at);
	}
	return sent <= received || (usk_i128)sent - received <= widest(from) + widest(to);
}

/* Stamps that are coarse leave more wishes open than can be fulfilled. */
static bool misses(const struct usk_mending *m, const struct demand *d, usk_i128 s)
{
	return s < (m->q_ns[d->to] ? 0 : 1);
}

static bool is_wrong(const struct usk_mending *m, const struct demand *d, usk_i128 s)
{
	return s < -(usk_i128)m->q_ns[d->to];
}

static bool speaks(const struct usk_mending *m, const struct usk_tie *t)
{
	enum usk_quality q = t->fitted->quality;
	return (q == USK_BOUNDED || q == USK_ONE_SIDED) && known(m, t->a) && known(m, t->b);
}

static void look(void *ctx, size_t from, size_t to)
{
	struct mend *x = ctx;
	for (size_t i = from; i < to; i++) {
		const struct usk_tie *t = &x->m->tie[i];
		if (!speaks(x->m, t) || (!x->changed[t->a] && !x->changed[t->b])) {
			continue;
		}
		x->missed[i] = x->wrong[i] = 0;
		for (int side = 0; side < 2; side++) {
			usk_hint at[2] = { 0 };
			for (size_t k = 0; k < t->part->n[side]; k++) {
				struct demand d = demand_of(t, side, t->part->point[side][k]);
				usk_i128 s = slack(x->m, &d, at);
				x->missed[i] += misses(x->m, &d, s);
				x->wrong[i] += is_wrong(x->m, &d, s);
			}
		}
	}
}

static void ask(struct mend *x, const struct demand *d)
{
	x->demand = usk_room(x->demand, x->n, &x->cap, sizeof *x->demand);
	x->demand[x->n++] = *d;
}

/* Adds to demands what is out of order; returns how much of it is wrong. grown: some is new. */
static size_t look_at_all(struct mend *x, bool *grown)
{
	const struct usk_mending *m = x->m;
	size_t wrong = 0, before = x->n;
	usk_parallel(m->n_ties, TIES_AT_ONCE, m->threads, look, x);
	for (size_t i = 0; i < m->n_ties; i++) {
		const struct usk_tie *t = &m->tie[i];
		wrong += x->wrong[i];
		for (int side = 0; side < 2 && x->missed[i]; side++) {
			usk_hint at[2] = { 0 };
			for (size_t k = 0; k < t->part->n[side]; k++) {
				struct demand d = demand_of(t, side, t->part->point[side][k]);
				if (misses(m, &d, slack(m, &d, at))) {
					ask(x, &d);
				}
			}
		}
	}
	usk_hint at[2] = { 0 };
	for (size_t i = 0; i < m->n_more; i++) {
		const struct usk_msg *g = &m->more[i];
		struct demand d = { g->from, g->to, g->sent_ns, g->received_ns };
		if (x->possible[i]) {
			usk_i128 s = slack(m, &d, at);
			wrong += is_wrong(m, &d, s);
			if (misses(m, &d, s)) {
				ask(x, &d);
			}
		}
	}
	if (x->n > before) {
		qsort(x->demand, x->n, sizeof *x->demand, compare_demands);
	}
	size_t n = x->n != 0;
	for (size_t i = 1; i < x->n; i++) {
		if (compare_demands(&x->demand[i], &x->demand[n - 1])) {
			x->demand[n++] = x->demand[i];
		}
	}
	x->n = n;
	*grown = n > before;
	return wrong;
}

/* ---- events -----------------------------------------------------------------------------------
 */

struct plan {
	struct usk_event_time *event; /* sorted by clock and time, each once */
	bool *keep;		      /* by event: gets a knot */
	size_t n;
	struct usk_sequel *sequel; /* by demand */
};

static int compare_events(const void *pa, const void *pb)
{
	const struct usk_event_time *a = pa, *b = pb;
	return a->clock != b->clock ? (a->clock > b->clock) - (a->clock < b->clock)
				    : (a->local_ns > b->local_ns) - (a->local_ns < b->local_ns);
}

static uint32_t find(const struct plan *p, uint32_t clock, int64_t local)
{
	struct usk_event_time key = { .clock = clock, .local_ns = local };
	return (uint32_t)((const struct usk_event_time *)bsearch(&key, p->event, p->n, sizeof key,
								 compare_events) -
			  p->event);
}

/* What is known of an event by its clock as it was. */
static void describe(const struct mend *x, struct usk_event_time *e, usk_hint at[3])
{
	const struct usk_link *l = &x->was[e->clock];
	e->rank = x->m->is_reference[e->clock] ? USK_RANK_FIXED
		  : x->m->odd[e->clock]	       ? USK_RANK_ODD
					       : USK_RANK_SOUND;
	if (e->rank == USK_RANK_FIXED) {
		e->wish = e->low = e->high = e->local_ns;
	} else {
		e->low = usk_link_at(l, USK_LOWER, e->local_ns, &at[USK_LOWER]);
		e->wish = usk_link_at(l, USK_MIDDLE, e->local_ns, &at[USK_MIDDLE]);
		e->high = usk_link_at(l, USK_UPPER, e->local_ns, &at[USK_UPPER]);
	}
}

static void find_events(const struct mend *x, struct plan *p)
{
	const struct usk_mending *m = x->m;
	bool *asked = usk_alloc(m->n_clocks + 1, sizeof *asked);
	size_t n = 2 * x->n;
	for (size_t i = 0; i < x->n; i++) {
		uint32_t end[2] = { x->demand[i].from, x->demand[i].to };
		for (int k = 0; k < 2; k++) {
			n += asked[end[k]] ? 0 : x->was[end[k]].n;
			asked[end[k]] = true;
		}
	}
	p->event = usk_alloc(n + 1, sizeof *p->event);
	for (size_t i = 0; i < x->n; i++) {
		const struct demand *d = &x->demand[i];
		p->event[p->n++] =
			(struct usk_event_time){ .clock = d->from, .local_ns = d->sent_ns };
		p->event[p->n++] =
			(struct usk_event_time){ .clock = d->to, .local_ns = d->received_ns };
	}
	for (uint32_t c = 0; c < m->n_clocks; c++) {
		for (size_t i = 0; asked[c] && i < x->was[c].n; i++) {
			p->event[p->n++] =
				(struct usk_event_time){ .clock = c,
							 .local_ns = x->was[c].knot[i].local_ns };
		}
	}
	free(asked);
	qsort(p->event, p->n, sizeof *p->event, compare_events);
	usk_hint at[3] = { 0 };
	n = 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!i || compare_events(&p->event[i], &p->event[n - 1])) {
			p->event[n] = p->event[i];
			describe(x, &p->event[n++], at);
		}
	}
	p->n = n;
	p->keep = usk_alloc(n + 1, sizeof *p->keep);
	p->sequel = usk_alloc(x->n + 1, sizeof *p->sequel);
	for (size_t i = 0; i < x->n; i++) {
		const struct demand *d = &x->demand[i];
		p->sequel[i] =
			(struct usk_sequel){ find(p, d->from, d->sent_ns),
					     find(p, d->to, d->received_ns), m->q_ns[d->to] };
	}
}

/* ---- knots ------------------------------------------------------------------------------------
 */

/* Knots stay, and where M is moved it bends, as beside that. */
static void choose_knots(const struct mend *x, struct plan *p)
{
	size_t knot = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_event_time *e = &p->event[i];
		const struct usk_link *l = &x->was[e->clock];
		bool first = !i || e[-1].clock != e->clock;
		bool last = i + 1 == p->n || e[1].clock != e->clock;
		knot = first ? 0 : knot;
		bool old = knot < l->n && l->knot[knot].local_ns == e->local_ns;
		knot += old;
		p->keep[i] = old || e->time_ns != e->wish ||
			     (!first && e[-1].time_ns != e[-1].wish) ||
			     (!last && e[1].time_ns != e[1].wish);
	}
}

/* A clock's link through its events from first to last. */
static struct usk_link draw(const struct mend *x, const struct plan *p, size_t first, size_t last)
{
	const struct usk_link *was = &x->was[p->event[first].clock];
	struct usk_link l = { .skew_e12 = was->skew_e12, .has = { true, true, true } };
	l.knot = usk_alloc(last - first + 1, sizeof *l.knot);
	for (size_t i = first; i <= last; i++) {
		const struct usk_event_time *e = &p->event[i];
		int64_t low = e->time_ns < e->low ? e->time_ns : e->low;
		int64_t high = e->time_ns > e->high ? e->time_ns : e->high;
		if (p->keep[i]) {
			l.knot[l.n++] = (struct usk_knot){
				e->local_ns, usk_cut((usk_i128)e->time_ns - e->local_ns),
				usk_cut((usk_i128)low - e->local_ns),
				usk_cut((usk_i128)high - e->local_ns), was->knot[0].epoch
			};
		}
	}
	return l;
}

static bool same_knots(const struct usk_link *a, const struct usk_link *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; i < a->n && same; i++) {
		const struct usk_knot *k = &a->knot[i], *l = &b->knot[i];
		same = k->local_ns == l->local_ns && k->offset_ns == l->offset_ns &&
		       k->lo_ns == l->lo_ns && k->hi_ns == l->hi_ns;
	}
	return same;
}

static void draw_all(struct mend *x, const struct plan *p)
{
	for (size_t first = 0, last; first < p->n; first = last + 1) {
		uint32_t c = p->event[first].clock;
		for (last = first; last + 1 < p->n && p->event[last + 1].clock == c; last++) {
		}
		if (x->m->is_reference[c]) {
			continue;
		}
		struct usk_link l = draw(x, p, first, last);
		x->changed[c] = x->changed[c] || !same_knots(&l, &x->m->link[c]);
		usk_link_free(&x->m->link[c]);
		x->m->link[c] = l;
	}
}

/* Where a chord that leaves events out rounds a demand away: knots at these. false: nowhere. */
static bool keep_more(const struct mend *x, struct plan *p)
{
	bool more = false;
	usk_hint at[2] = { 0 };
	for (size_t i = 0; i < x->n; i++) {
		size_t end[2] = { p->sequel[i].before, p->sequel[i].behind };
		const struct usk_event_time *a = &p->event[end[0]], *b = &p->event[end[1]];
		usk_i128 got = (usk_i128)b->time_ns - a->time_ns;
		if (slack(x->m, &x->demand[i], at) >= (got < 1 ? got : 1)) {
			continue;
		}
		for (int k = 0; k < 2; k++) {
			more = more || !p->keep[end[k]];
			p->keep[end[k]] = true;
		}
	}
	return more;
}

static void redraw(struct mend *x)
{
	struct plan p = { .n = 0 };
	find_events(x, &p);
	usk_sequence(p.event, p.n, p.sequel, x->n);
	choose_knots(x, &p);
	do {
		draw_all(x, &p);
	} while (keep_more(x, &p));
	free(p.event);
	free(p.keep);
	free(p.sequel);
}

size_t usk_mend(struct usk_mending *m)
{
	struct mend x = { .m = m };
	bool grown;
	x.was = usk_alloc(m->n_clocks + 1, sizeof *x.was);
	x.changed = usk_alloc(m->n_clocks + 1, sizeof *x.changed);
	x.missed = usk_alloc(m->n_ties + 1, sizeof *x.missed);
	x.wrong = usk_alloc(m->n_ties + 1, sizeof *x.wrong);
	x.possible = usk_alloc(m->n_more + 1, sizeof *x.possible);
	memset(x.changed, true, m->n_clocks * sizeof *x.changed);
	for (size_t i = 0; i < m->n_more; i++) {
		x.possible[i] = is_possible(m, &m->more[i]);
	}
	size_t wrong = look_at_all(&x, &grown);
	for (size_t i = 0; i < m->n_clocks && grown; i++) {
		const struct usk_link *l = &m->link[i];
		if (l->n) {
			x.was[i] = *l;
			x.was[i].knot = usk_alloc(l->n, sizeof *l->knot);
			memcpy(x.was[i].knot, l->knot, l->n * sizeof *l->knot);
		}
	}
	for (int round = 0; round < ROUNDS && grown; round++) {
		memset(x.changed, false, m->n_clocks * sizeof *x.changed);
		redraw(&x);
		wrong = look_at_all(&x, &grown);
	}
	for (size_t i = 0; i < m->n_clocks; i++) {
		m->moved[i] = x.was[i].n && !same_knots(&x.was[i], &m->link[i]);
		usk_link_free(&x.was[i]);
	}
	free(x.was);
	free(x.possible);
	free(x.demand);
	free(x.changed);
	free(x.missed);
	free(x.wrong);
	return wrong;
}

bool usk_mend_clocks(struct usk_clocks *c, const struct usk_tie *tie, size_t n_ties,
		     const struct usk_msg *more, size_t n_more, unsigned threads)
{
	size_t n = c->n_clocks;
	bool *is_reference = usk_alloc(n + 1, sizeof *is_reference), any = false;
	bool *odd = usk_alloc(n + 1, sizeof *odd);
	struct usk_mending m = { .link = usk_alloc(n + 1, sizeof *m.link),
				 .is_reference = is_reference,
				 .odd = odd,
				 .n_clocks = n,
				 .tie = tie,
				 .n_ties = n_ties,
				 .more = more,
				 .n_more = n_more,
				 .threads = threads,
				 .moved = usk_alloc(n + 1, sizeof *m.moved) };
	int64_t *q_ns = usk_alloc(n + 1, sizeof *q_ns);
	m.q_ns = q_ns;
	for (size_t i = 0; i < n_ties; i++) {
		odd[tie[i].a] |= tie[i].odd[0];
		odd[tie[i].b] |= tie[i].odd[1];
	}
	for (size_t i = 0; i < n; i++) {
		const struct usk_clock *k = &c->clock[i];
		is_reference[i] = k->quality == USK_REFERENCE;
		q_ns[i] = k->resolution_ns > 1 ? k->resolution_ns : 0;
		if (k->quality == USK_BOUNDED) {
			m.link[i] = (struct usk_link){ .knot = k->knot,
						       .n = k->n_knots,
						       .has = { true, true, true },
						       .skew_e12 = c->max_skew_e12 };
		}
	}
	usk_mend(&m);
	for (size_t i = 0; i < n; i++) {
		struct usk_clock *k = &c->clock[i];
		k->knot = m.link[i].n ? m.link[i].knot : k->knot;
		k->n_knots = m.link[i].n ? m.link[i].n : k->n_knots;
		any = any || m.moved[i];
	}
	free(m.link);
	free(is_reference);
	free(odd);
	free(m.moved);
	free(q_ns);
	return any;
}
