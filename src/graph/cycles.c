/* SPDX-License-Identifier: MIT */
/*
 * cycles.c - bounds that cross: a negative cycle, and what is taken back for it
 *
 * In    an event whose lo is over its hi, or a message in its likeliest sense that bounds exclude
 * Out   breaks of clocks, more wander, messages left out
 * Not   what a pair shows by itself, and whose it was (conflict.c, blame.c)
 *
 * Where lo(e) is over hi(e) the two paths that say so are a negative cycle: its messages and
 * stretches cannot all be true, and nothing says which. So its stretches are broken, as a step may
 * lie in any of them, but those of clocks that were not set by as much; all clocks are, where it may
 * have been the reference's; and its clocks may wander by twice what the cycle needs, as it may have
 * been that, and shows the least of it.
 * Messages with no stretch between them are wrong by themselves.
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* A stretch of a clock that a path goes through, and by which of its rates. */
struct passed {
	uint32_t clock;
	int64_t from_ns, to_ns;
	bool most;
};

struct cycle {
	struct passed *row;
	size_t n, cap;
	uint32_t *message; /* the event that a message was left by */
	size_t n_messages, cap_messages;
	usk_i128 calm_ns; /* length of its calm stretches */
	int64_t at_ns[2]; /* of the reference, where paths come from; USK_NONE: not from there */
};

static void pass_cell(const struct usk_work *w, struct cycle *c, uint32_t i, bool most)
{
	struct passed *last = c->n ? &c->row[c->n - 1] : NULL;
	uint32_t k = w->owner[i];
	unsigned pace = most ? w->cell[i].upper : w->cell[i].lower;
	c->calm_ns += pace == USK_CALM ? (usk_i128)w->x[i + 1] - w->x[i] : 0;
	if (last && last->clock == k && last->most == most &&
	    (last->from_ns == w->x[i + 1] || last->to_ns == w->x[i])) {
		last->from_ns = w->x[i] < last->from_ns ? w->x[i] : last->from_ns;
		last->to_ns = w->x[i + 1] > last->to_ns ? w->x[i + 1] : last->to_ns;
		return;
	}
	*USK_ADD(c->row, c->n, c->cap) = (struct passed){ k, w->x[i], w->x[i + 1], most };
}

static const struct usk_fold *fold_at(const struct usk_work *w, uint32_t i)
{
	for (size_t k = 0; k < w->n_folds; k++) {
		if (w->fold[k].first <= i && i <= w->fold[k].last) {
			return &w->fold[k];
		}
	}
	return NULL;
}

/* What an event's bound may have come from: a message, its neighbours, the ends of its fold. */
struct step {
	uint32_t from, to;
	enum { MESSAGE, RIGHT, LEFT, FOLD } by;
};

/* Over cells with slack, of which those between two events have no more in all than any of them: from which event on that
 * side an event's bound comes so, and what it is then. *best: its bound, mirrored if upper; no event gives more. As spend()
 * has it in sweep.c: what stamps that were shown twice fall by counts in the last cell, unless the bound comes from where
 * stamps are in order with its event's. O(cells with slack). */
static uint32_t spent(const struct usk_work *w, uint32_t i, bool upper, bool left, usk_i128 *best)
{
	const struct usk_in_order *o = &w->in_order;
	const usk_i128 *bound = upper ? w->hi : w->lo, want = *best;
	const bool rises = upper == left;
	const uint32_t first = w->first[w->owner[i]], last = w->first[w->owner[i] + 1] - 1;
	const uint32_t near = rises || !o->rise ? USK_NO_EVENT : left ? o->before[i] : o->behind[i];
	usk_i128 all = 0, own = 0, twice = 0, beyond = -USK_INF, rise;
	uint32_t found = i;
	*best = -USK_INF;
	for (uint32_t e = i; found == i && (left ? e > first : e < last);) {
		const uint32_t cell = left ? e - 1 : e;
		const usk_i128 d = (usk_i128)w->x[cell + 1] - w->x[cell];
		if (!w->cell[cell].slack ||
		    !(rises ? usk_cell_most_going : usk_cell_least_going)(w, cell, d, &rise)) {
			break;
		}
		const struct usk_slack s = usk_slack_of(w, cell);
		const usk_i128 ended = usk_slack_ended(&s, rises);
		const usk_i128 began = usk_slack_began(&s, rises);
		if (e == i) {
			own = left ? began : ended;
			twice = rises ? 0 : usk_e12(usk_slack_twice(&s, (uint64_t)d));
		}
		all += rises ? -rise : rise;
		e = left ? e - 1 : e + 1;
		if (e ==
		    near) { /* from there on less what was counted between, at the least rate of all */
			beyond = (left ? o->rise[i] - o->rise[e] : o->rise[e] - o->rise[i]) - all;
		}
		const usk_i128 t = upper ? -bound[e] : bound[e];
		const usk_i128 by = beyond > -twice ? beyond : -twice;
		const usk_i128 v = t + all + (left ? ended - own : own - began) + by;
		if (t > -USK_INF && v > *best) {
			*best = v;
			found = v >= want ? e : i;
		}
	}
	return found;
}

/* The one that gives the best bound, among those that the trace was not at yet. false: it was at
 * one that gives a better one. Mirrored for lo, so that the least is the best of both. */
static bool step_back(const struct usk_work *w, uint32_t i, bool upper, const bool *been,
		      struct step *out)
{
	const usk_i128 *bound = upper ? w->hi : w->lo;
	usk_i128 d, rise, best = USK_INF;
	bool open = false;
#define OFFER(event, value, path)                                                                  \
	do {                                                                                       \
		usk_i128 v = upper ? (value) : -(value);                                           \
		if (v < best || (v == best && !open && !been[event])) {                            \
			best = v;                                                                  \
			open = !been[event];                                                       \
			*out = (struct step){ i, (event), (path) };                                \
		}                                                                                  \
	} while (0)
	uint32_t p = w->peer[i];
	if (p != USK_NO_EVENT && w->sent[i] == upper) {
		OFFER(p, bound[p], MESSAGE);
	}
	const struct usk_weak *weak = w->sent[i] == upper ? usk_weak_of(w, i) : NULL;
	if (weak) {
		p = upper ? weak->received : weak->sent;
		OFFER(p, bound[p] + (upper ? usk_e12(weak->by_ns) : -usk_e12(weak->by_ns)),
		      MESSAGE);
	}
	if (i + 1 < w->first[w->owner[i] + 1]) {
		d = (usk_i128)w->x[i + 1] - w->x[i];
		if (upper ? usk_cell_least(w, i, d, &rise) : usk_cell_most(w, i, d, &rise)) {
			OFFER(i + 1, bound[i + 1] - rise, RIGHT);
		}
	}
	if (i > w->first[w->owner[i]]) {
		d = (usk_i128)w->x[i] - w->x[i - 1];
		if (upper ? usk_cell_most(w, i - 1, d, &rise)
			  : usk_cell_least(w, i - 1, d, &rise)) {
			OFFER(i - 1, bound[i - 1] + rise, LEFT);
		}
	}
	for (int left = 0; left < 2; left++) {
		usk_i128 far = upper ? -bound[i] : bound[i];
		const uint32_t e = spent(w, i, upper, left, &far);
		if (e != i) {
			OFFER(e, upper ? -far : far, left ? LEFT : RIGHT);
		}
	}
	const struct usk_fold *f = w->n_folds ? fold_at(w, i) : NULL;
	uint32_t near = f && upper ? f->first : f ? f->last : 0;
	uint32_t far = f && upper ? f->last : f ? f->first : 0;
	const uint32_t end = f && i == near ? f->last : far;
	for (uint32_t e = f && i == near ? f->first : far; f && e <= end; e++) {
		const uint32_t low = e < i ? e : i, high = e < i ? i : e;
		if (e != i && ((low == f->first && usk_fold_from_first(w, f, w->x[high], &rise)) ||
			       (high == f->last && usk_fold_to_last(w, f, w->x[low], &rise)))) {
			OFFER(e, bound[e] + (upper ? -rise : rise), FOLD);
		}
	}
#undef OFFER
	return open;
}

static void pass(const struct usk_work *w, const struct step *s, bool upper, struct cycle *c)
{
	if (s->by == FOLD) {
		const struct usk_fold *f = fold_at(w, s->from);
		*USK_ADD(c->row, c->n, c->cap) =
			(struct passed){ w->owner[s->from], w->x[f->first], w->x[f->last], false };
	} else if (s->by == MESSAGE) {
		*USK_ADD(c->message, c->n_messages, c->cap_messages) = s->from;
	} else {
		const uint32_t end = s->by == RIGHT ? s->to : s->from;
		for (uint32_t i = s->by == RIGHT ? s->from : s->to; i < end; i++) {
			pass_cell(w, c, i, upper == (s->by == LEFT));
		}
	}
}

/* The path that a bound came along, back to the reference; if no way leads there, round a circle.
 * Stamps may be equal, and then some ways lead back to where they came from. upper: of hi. */
static void trace(const struct usk_work *w, uint32_t i, bool upper, struct cycle *c)
{
	bool *been = usk_alloc(w->n + 1, sizeof *been);
	struct step *path = NULL, *circle = NULL, s;
	size_t n = 0, cap = 0, n_circle = 0;
	been[i] = true;
	while (w->owner[i] != w->reference) {
		if (step_back(w, i, upper, been, &s)) {
			*USK_ADD(path, n, cap) = s;
			i = s.to;
			been[i] = true;
			continue;
		}
		if (n > n_circle) {
			circle = usk_grow(circle, n, sizeof *circle);
			memcpy(circle, path, n * sizeof *circle);
			n_circle = n;
		}
		if (!n) {
			break;
		}
		i = path[--n].from;
	}
	bool found = w->owner[i] == w->reference;
	for (size_t k = 0; k < (found ? n : n_circle); k++) {
		pass(w, found ? &path[k] : &circle[k], upper, c);
	}
	c->at_ns[upper] = found ? w->x[i] : USK_NONE;
	USK_FREE(path, circle, been);
}

/* The paths of one event's upper bound and of another one's lower. */
static struct cycle cycle_of(const struct usk_work *w, uint32_t upper, uint32_t lower)
{
	struct cycle c = { .at_ns = { USK_NONE, USK_NONE } };
	trace(w, upper, true, &c);
	trace(w, lower, false, &c);
	return c;
}

bool usk_cycle_leave_out(struct usk_work *w, uint32_t i)
{
	uint32_t p = w->peer[i];
	struct usk_weak *weak = usk_weak_of(w, i);
	if (weak) {
		weak->by_ns = USK_NONE;
	}
	if (p == USK_NO_EVENT) {
		return weak;
	}
	w->peer[i] = w->peer[p] = USK_NO_EVENT;
	*USK_ADD(w->left_out, w->n_left_out, w->cap_left_out) =
		(struct usk_left_out){ w->sent[i] ? i : p, w->sent[i] ? p : i };
	return true;
}

/* Both paths come from the reference, which may have been set between the two moments: all other
 * clocks jump against it then. Order alone says where, as bounds cross. It was another clock if the reference was set back by less
 * than the cycle lacks for certain, and forward by less where that would explain the cycle, too: where the lower bound comes from
 * the later moment. anyone: it may have been the reference nevertheless. */
static void doubt_reference(struct usk_work *w, const struct cycle *c, int64_t certain_ns,
			    bool anyone)
{
	const int64_t a = c->at_ns[0], b = c->at_ns[1];
	if (a == USK_NONE || b == USK_NONE || a == b) {
		return;
	}
	const int64_t from = a < b ? a : b, to = a < b ? b : a,
		      most = anyone ? USK_NONE : usk_set_back_most(w, w->reference, from, to);
	const bool known = most != USK_NONE;
	const int64_t forward = known && a > b ? usk_set_forward_most(w, from, to) : 0;
	if (known && most < certain_ns && forward != USK_NONE && forward < certain_ns) {
		return;
	}
	w->broken[w->reference] = true;
	const int64_t far = known ? most : usk_saturate((usk_i128)to - from);
	const struct usk_break own = {
		.up = true, .down = true, .falls = true, .far_ns = far, .bracket = UINT32_MAX
	};
	/* If it was set back it showed up to that much more before, and less behind. */
	const struct usk_fell_back back = { .far_ns = far,
					    .from = usk_e12(from) - usk_e12(far),
					    .own = { from, to },
					    .other = USK_NO_CLOCK,
					    .bracket = UINT32_MAX,
					    .first_break = w->n_breaks };
	/* Where nothing tells how much it was messages would say nothing for as long as the cycle lasts. */
	struct usk_under_way *u = known ? usk_under_way_begin(w) : NULL;
	usk_break_everyone(w, USK_NO_CLOCK, back.from, usk_e12(to) + usk_e12(far), far, own);
	if (u) {
		usk_under_way_note(w, &back, u);
	}
	usk_under_way_end(w, u);
}

/* If T rose in it by more than it may its clock was set back, and showed as much twice; if by less it was set forward, or
 * back by more than the stretch is long. Where nothing tells by how much, all of its stamps may have been shown twice. */
static void break_stretch(struct usk_work *w, const struct passed *s, int64_t most)
{
	const struct usk_graph_span *seen = &w->p->span[s->clock];
	const bool back = most == USK_NONE || s->most || most >= (usk_i128)s->to_ns - s->from_ns;
	struct usk_break b = {
		.clock = s->clock,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.up = s->most,
		.down = !s->most,
		.falls = true,
		.vague = back,
		.bracket = UINT32_MAX,
	};
	if (back) {
		b.fold_ns = most != USK_NONE
				    ? most
				    : usk_saturate((usk_i128)seen->last_ns - seen->first_ns);
	}
	w->broken[s->clock] = true;
	usk_break_add(w, b);
}

/* What a cycle lacks whatever rates within the skew limit its clocks had. */
static int64_t lacks_for_certain(const struct usk_work *w, const struct cycle *c, usk_i128 lacks)
{
	const usk_i128 by_rates = c->calm_ns * 2 * w->p->max_skew_e12;
	return lacks > by_rates ? usk_saturate((lacks - by_rates) / USK_E12) : 0;
}

/* One of its stretches did something, or its clocks wander by more, or it was the reference. lacks: by how much its bounds cross; 0
 * if only its rates do. One clock did all of it, so no clock did that was set back by less, unless no stretch is left then.
 * false: it has no stretch. */
static bool break_cycle(struct usk_work *w, const struct cycle *c, usk_i128 lacks)
{
	const int64_t certain_ns = lacks_for_certain(w, c, lacks);
	const usk_i128 more = c->calm_ns > 0 && lacks > 0 ? lacks / c->calm_ns + 1 : 0;
	const size_t clocks = w->c->n_clocks * sizeof *w->wander_e12;
	int64_t *was = memcpy(usk_alloc(1, clocks), w->wander_e12, clocks);
	int64_t *most = usk_alloc(c->n + 1, sizeof *most);
	size_t n = 0, n_broken = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct passed *s = &c->row[i];
		if (s->from_ns == s->to_ns) { /* a stamp has one time, whatever happened */
			continue;
		}
		if (!n++) {
			usk_order_alone(w);
		}
		most[i] = usk_set_back_most(w, s->clock, s->from_ns, s->to_ns);
		usk_i128 need = was[s->clock] + more, limit = w->p->max_skew_e12;
		if (w->p->model.kind == USK_WANDER && more && need < limit) {
			w->wander_e12[s->clock] = (int64_t)(2 * need < limit ? 2 * need : limit);
		}
	}
	for (int anyone = 0; anyone < 2 && n && !n_broken; anyone++) {
		doubt_reference(w, c, certain_ns, anyone);
		for (size_t i = 0; i < c->n; i++) {
			const struct passed *s = &c->row[i];
			const bool excluded =
				s->most && most[i] != USK_NONE && most[i] < certain_ns;
			if (s->from_ns < s->to_ns && (anyone || !excluded)) {
				break_stretch(w, s, anyone ? USK_NONE : most[i]);
				n_broken++;
			}
		}
	}
	USK_FREE(was, most);
	return n;
}

static void cycle_free(struct cycle *c)
{
	USK_FREE(c->row, c->message);
}

/* Each of two chords is a cycle that leaves its run a side of its rates, and together they leave none: it had another
 * rate from somewhere among them on, or what either rests on is wrong. */
static bool mend_segment(struct usk_work *w)
{
	struct usk_chord chord[2];
	struct cycle c[2];
	usk_rates_torn(w, chord);
	const uint32_t k = w->torn->clock;
	uint32_t first = UINT32_MAX, last = 0;
	for (int most = 0; most < 2; most++) {
		const struct usk_chord x = chord[most];
		c[most] = cycle_of(w, most ? x.to : x.from, most ? x.from : x.to);
		*USK_ADD(c[most].row, c[most].n, c[most].cap) =
			(struct passed){ k, w->x[x.from], w->x[x.to], !most };
		first = x.from < first ? x.from : first;
		last = x.to > last ? x.to : last;
	}
	/* Both are traced by then: what is asked of the reference leaves bounds by order alone. */
	for (int most = 0; most < 2; most++) {
		break_cycle(w, &c[most], 0);
		cycle_free(&c[most]);
	}
	usk_break_add(w, (struct usk_break){ .clock = k,
					     .from_ns = w->x[first],
					     .to_ns = w->x[last],
					     .bracket = UINT32_MAX });
	return true;
}

/* Its rates need more wander than was assumed, wherever that is; or another rate, wherever that
 * began, if there is one for each stretch. */
static bool mend_rates(struct usk_work *w)
{
	const uint32_t k = w->torn->clock;
	const int64_t lacks = (w->torn->least_e12 - w->torn->most_e12) / 2 + 1;
	w->crossed = w->first[k];
	if (w->p->model.kind == USK_SEGMENTS) {
		return mend_segment(w);
	}
	bool can = w->p->model.kind == USK_WANDER && w->wander_e12[k] < w->p->max_skew_e12;
	w->wander_e12[k] = can ? 2 * (w->wander_e12[k] + lacks) : w->wander_e12[k];
	return can;
}

bool usk_cycle_doubt(struct usk_work *w)
{
	bool any = false;
	for (size_t i = 0; i < w->n_wishes && !any && w->p->model.kind != USK_LINEAR; i++) {
		const struct usk_wish *x = &w->wish[i];
		usk_i128 lo = w->lo[x->sent], hi = w->hi[x->received];
		usk_i128 lacks = lo - hi - usk_e12(x->early_ns);
		if (!x->doubts || lo <= -USK_INF || hi >= USK_INF || lacks <= 0) {
			continue;
		}
		struct cycle c = cycle_of(w, x->received, x->sent);
		any = break_cycle(w, &c, lacks);
		cycle_free(&c);
	}
	return any;
}

bool usk_cycle_repair(struct usk_work *w)
{
	memset(w->suspect, 0, w->c->n_clocks * sizeof *w->suspect);
	if (w->torn) {
		w->suspect[w->torn->clock] = true;
		return mend_rates(w);
	}
	w->suspect[w->owner[w->crossed]] = true;
	usk_i128 lacks = w->lo[w->crossed] - w->hi[w->crossed];
	size_t out = w->n_left_out;
	struct cycle c = cycle_of(w, w->crossed, w->crossed);
	for (size_t i = 0; i < c.n_messages; i++) {
		uint32_t m = c.message[i];
		/* Who states a tie may be wrong; messages are not doubted for it. */
		if (w->peer[m] != USK_NO_EVENT && usk_is_stated(w, w->pair_of[m])) {
			usk_cycle_leave_out(w, m);
		}
	}
	for (size_t i = 0; i < c.n; i++) {
		w->suspect[c.row[i].clock] = true;
	}
	/* A line is the same before and behind whatever happened. */
	bool repairs = w->p->model.kind != USK_LINEAR && w->n_left_out == out;
	bool broke = repairs && break_cycle(w, &c, lacks);
	/* No stretch: messages contradict each other by themselves. */
	bool left = w->n_left_out > out;
	for (size_t i = 0; i < c.n_messages && repairs && !broke; i++) {
		left = usk_cycle_leave_out(w, c.message[i]) || left;
	}
	cycle_free(&c);
	return broke || left;
}
