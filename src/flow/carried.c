/* SPDX-License-Identifier: MIT */
/*
 * carried.c - clocks that were logged: messages on their raw clocks, the answer by their stamps
 *
 * In    --clock-log, what is known of the clocks' stamps
 * Out   messages as the raw clocks saw them; knots, jumps and stretches on unwrapped stamps
 * Why   between both no stage has to know that a clock was steered
 * Not   what a log says (clock_log.c, carry.c), epochs (epochs.c)
 *
 * A stamp u was shown between raw moments z0 and z1, and T rises: so the bounds at u are lo(z0) and
 * hi(z1). All of it is straight between corners: lines of logs, and where a knot's raw moment was
 * shown. Of the corners those are left out that the others stand for, but for a small share of the
 * band's width, which is added to it.
 */
#include "flow/reading.h"
#include "flow/clock_log.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

/* Quartz by itself, for as long as logs tell that nothing else was done (doc/guarantees.md). */
#define RAW_WANDER_E12 INT64_C(100000)

/* ---- logs -------------------------------------------------------------------------------------
 */

/* Where the log goes on the raw clock was never set back; where it does not, by its time. */
static void keep_breaks(struct party *y)
{
	size_t n = 0;
	for (size_t i = 0; i < y->n_back && y->carry; i++) {
		const struct usk_log_epoch *e = &y->carry->epoch[i];
		if (e[0].before || e[1].behind) {
			y->back[n++] = (struct usk_gap){ usk_carried_to(y, y->back[i].before_ns),
							 usk_carried_to(y, y->back[i].after_ns) };
		}
	}
	y->n_back = y->carry ? n : y->n_back;
}

static enum usk_status open_log(struct parties *p, const char *row, struct usk_err *err)
{
	struct usk_clock_log log;
	struct usk_input in;
	uint32_t which;
	const char *path;
	enum usk_status status = usk_party_named(p, row, "--clock-log", &which, &path, err);
	status = status ? status : usk_input_open(&in, path, usk_sniff_text, err);
	if (status) {
		return status;
	}
	struct party *y = &p->party[which];
	status = usk_clock_log_read(&in, &log, err);
	usk_input_close(&in);
	if (status) {
		usk_fail_in(err, "%s", path);
		return status;
	}
	if (y->carry) {
		usk_clock_log_free(&log);
		return usk_fail(err, USK_EUSAGE, 0, "--clock-log %s: %s has a log already", row,
				y->name);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_carry *c = p->party[i].carry;
		if (c && *log.boot && !strcmp(log.boot, c->log.boot)) {
			usk_clock_log_free(&log);
			return usk_fail(
				err, USK_EUSAGE, 0,
				"--clock-log %s: this log is of the same machine as the log of %s",
				row, p->party[i].name);
		}
	}
	if (log.damage) {
		usk_flow_note_log(p, usk_format("%s: %s", path, log.damage));
	}
	char *why = usk_carry_of(&log, &y->survey.epochs, y->first_ns, y->last_ns, &y->carry);
	if (why) {
		usk_flow_note_log(p, usk_format("%s: not used, %s", path, why));
	} else if (!y->carry->whole) {
		usk_flow_note_log(
			p, usk_format("%s: %s; there %s counts as a clock without a log", path,
				      y->carry->log.holes
					      ? "lines are missing"
					      : "it does not cover all of the clock's stamps",
				      y->name));
	}
	free(why);
	keep_breaks(y);
	return USK_OK;
}

enum usk_status usk_carried_open(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	enum usk_status status = USK_OK;
	size_t whole = 0;
	for (size_t i = 0; i < o->n_clock_log && !status; i++) {
		status = open_log(p, o->clock_log[i], err);
	}
	for (size_t i = 0; i < p->n; i++) {
		whole += p->party[i].carry && p->party[i].carry->whole;
	}
	/* One that is not known to keep its rate counts against all others. */
	bool stated = o->model && strchr(o->model, '=');
	if (whole == p->n && p->model.kind == USK_WANDER && !stated) {
		p->model.wander_e12 = RAW_WANDER_E12;
	}
	return status;
}

/* ---- stamps -----------------------------------------------------------------------------------
 */

bool usk_carried_pair(const struct parties *p, uint32_t a, uint32_t b)
{
	return p->party[a].carry || p->party[b].carry;
}

struct usk_msg usk_carried_msg(const struct parties *p, const struct usk_msg *m)
{
	const struct usk_carry *from = p->party[m->from].carry, *to = p->party[m->to].carry;
	struct usk_msg out = *m;
	out.sent_ns = from ? usk_carry_raw(from, m->sent_ns).lo_ns : m->sent_ns;
	out.received_ns = to ? usk_carry_raw(to, m->received_ns).hi_ns : m->received_ns;
	return out;
}

int64_t usk_carried_to(const struct party *y, int64_t ns)
{
	if (!y->carry) {
		return ns;
	}
	return usk_raw_middle(usk_carry_raw(y->carry, ns));
}

int64_t usk_carried_from(const struct party *y, int64_t raw_ns)
{
	return y->carry && raw_ns != USK_NONE ? usk_carry_shown(y->carry, raw_ns, false) : raw_ns;
}

void usk_carried_frame(const struct parties *p, uint32_t a, uint32_t b, const struct usk_coarse *c,
		       struct usk_frame *f)
{
	if (!c->n_knots || !usk_carried_pair(p, a, b)) {
		return;
	}
	const struct usk_coarse_knot *k[] = { c->knot, &c->knot[c->n_knots - 1] };
	int64_t x[2], y[2];
	for (int i = 0; i < 2; i++) {
		int64_t on_a = usk_saturate((usk_i128)k[i]->q_ns + k[i]->p_minus_q_ns);
		x[i] = usk_carried_to(&p->party[b], k[i]->q_ns);
		y[i] = usk_saturate((usk_i128)usk_carried_to(&p->party[a], on_a) - x[i]);
	}
	f->local_ns = x[0];
	f->offset_ns = y[0];
	if (x[1] > x[0]) {
		usk_i128 rate = ((usk_i128)y[1] - y[0]) * 1000000000000 / ((usk_i128)x[1] - x[0]);
		int64_t limit = p->max_skew_e12;
		f->rate_e12 = (int64_t)(rate > limit ? limit : rate < -limit ? -limit : rate);
	}
}

/* ---- the answer -------------------------------------------------------------------------------
 */

/* A clock's T at some of its stamps. */
struct course {
	const struct party *own, *reference;
	const struct usk_map *map;
	int64_t *u; /* sorted */
	size_t n, cap;
};

struct at {
	int64_t lo, mid, hi; /* USK_NONE: unknown */
};

static struct at on_raw(const struct course *c, int64_t u)
{
	struct usk_raw z =
		c->own->carry ? usk_carry_raw(c->own->carry, u) : (struct usk_raw){ u, u };
	struct usk_stamp lo, mid, hi;
	struct at out = { USK_NONE, USK_NONE, USK_NONE };
	if (!usk_map_at(c->map, z.lo_ns, &lo, NULL) && !usk_map_at(c->map, z.hi_ns, &hi, NULL) &&
	    !usk_map_at(c->map, usk_raw_middle(z), &mid, NULL)) {
		out = (struct at){ lo.lo_ns, mid.reference_ns, hi.hi_ns };
	}
	return out;
}

/* The slope of a log is within the skew limit of 1, so what its bracket is off by is nearly the
 * same by both clocks. */
static int64_t grown(int64_t d)
{
	return d < 0 ? 0 : d + d / 100 + 2;
}

/* What the reference showed at a moment of its raw clock. */
static struct at by_stamps(const struct party *r, struct at t)
{
	if (!r->carry) {
		return t;
	}
	struct at out = { USK_NONE, USK_NONE, USK_NONE };
	if (t.mid != USK_NONE) {
		out.mid = usk_carry_shown(r->carry, t.mid, false);
	}
	if (t.lo != USK_NONE) {
		int64_t u = usk_carry_shown(r->carry, t.lo, false);
		out.lo = u - grown(usk_carry_raw(r->carry, u).hi_ns - t.lo);
	}
	if (t.hi != USK_NONE) {
		int64_t u = usk_carry_shown(r->carry, t.hi, true);
		out.hi = u + grown(t.hi - usk_carry_raw(r->carry, u).lo_ns);
	}
	return out;
}

/* Unwrapped time between two epochs was never shown: all that is told of it is of neither. */
static bool between_epochs(const struct usk_epochs *e, int64_t u)
{
	size_t i = usk_epoch_of(e, u);
	return (i && u < usk_epoch_gap(e, i - 1).after_ns) ||
	       (i < e->n && u > usk_epoch_gap(e, i).before_ns);
}

static void add(struct course *c, usk_i128 u)
{
	if (u >= c->own->first_ns && u <= c->own->last_ns &&
	    !between_epochs(&c->own->survey.epochs, (int64_t)u)) {
		*USK_ADD(c->u, c->n, c->cap) = (int64_t)u;
	}
}

static void settle(struct course *c)
{
	size_t n = 0;
	usk_sort_numbers(c->u, c->n);
	for (size_t i = 0; i < c->n; i++) {
		if (!n || c->u[i] != c->u[n - 1]) {
			c->u[n++] = c->u[i];
		}
	}
	c->n = n;
}

/* Lines of its own log, and where the raw moments of its knots were shown. */
static void own_corners(struct course *c, const struct usk_clock *k)
{
	const struct usk_carry *y = c->own->carry;
	add(c, c->own->first_ns);
	add(c, c->own->last_ns);
	for (size_t i = 0; i < k->n_knots; i++) {
		int64_t z = k->knot[i].local_ns;
		if (!y) {
			add(c, z);
			continue;
		}
		for (int last = 0; last < 2; last++) {
			int64_t u = usk_carry_shown(y, z, last);
			struct usk_raw at = usk_carry_raw(y, u);
			add(c, u);
			add(c, (usk_i128)u + z - at.lo_ns);
			add(c, (usk_i128)u + z - at.hi_ns);
		}
	}
	if (y) {
		int64_t *more;
		size_t n = usk_carry_corners(y, c->own->first_ns, c->own->last_ns, &more);
		for (size_t i = 0; i < n; i++) {
			add(c, more[i]);
		}
		free(more);
	}
	settle(c);
}

static int64_t part_of(const struct at *t, int which)
{
	return which == 0 ? t->lo : which == 1 ? t->mid : t->hi;
}

/* Where T or a bound of it meets lines of the reference's log. */
static void reference_corners(struct course *c)
{
	const struct party *r = c->reference;
	const size_t own = c->n;
	int64_t *line, first = r->first_ns, last = r->last_ns;
	struct at *t = usk_alloc(own + 1, sizeof *t);
	for (size_t i = 0; i < own; i++) {
		struct at shown = by_stamps(r, t[i] = on_raw(c, c->u[i]));
		first = shown.lo != USK_NONE && shown.lo < first ? shown.lo : first;
		last = shown.hi != USK_NONE && shown.hi > last ? shown.hi : last;
	}
	/* It had recorded nothing yet, maybe, when it was set. */
	size_t n = usk_carry_corners(r->carry, first, last, &line);
	/* What the reference showed jumps where its log does, and where in the brackets of its lines
	 * it did is not known: so either side of each of them is a corner. */
	for (int m = 0; m < 9; m++) {
		const int which = m / 3;
		for (size_t k = 0, i = 0; k < n; k++) {
			struct usk_raw at = usk_carry_raw(r->carry, line[k]);
			int64_t z = m % 3 == 0	 ? at.hi_ns
				    : m % 3 == 1 ? usk_carried_to(r, line[k])
						 : at.lo_ns;
			while (i + 1 < own && part_of(&t[i + 1], which) <= z) {
				i++;
			}
			int64_t a = part_of(&t[i], which);
			int64_t b = i + 1 < own ? part_of(&t[i + 1], which) : USK_NONE;
			if (a != USK_NONE && b > a && a <= z) {
				usk_i128 d = (usk_i128)c->u[i + 1] - c->u[i];
				usk_i128 u = c->u[i] +
					     usk_floor_div(d * ((usk_i128)z - a), (usk_i128)b - a);
				add(c, u);
				add(c, u + 1);
			}
		}
	}
	free(t);
	free(line);
	settle(c);
}

/* ---- a clock ----------------------------------------------------------------------------------
 */

static int64_t over(int64_t t, int64_t u, int64_t more)
{
	return t == USK_NONE ? t : usk_saturate((usk_i128)t - u + more);
}

/* T rises, and so does its estimate where bands are as wide as a jump: never under an earlier one,
 * nor over a later upper bound. */
static void let_rise(struct at *t, size_t n)
{
	int64_t most = INT64_MAX, risen = INT64_MIN;
	int64_t *cap = usk_alloc(n + 1, sizeof *cap);
	for (size_t i = n; i-- > 0;) {
		most = t[i].hi != USK_NONE && t[i].hi < most ? t[i].hi : most;
		cap[i] = most;
	}
	for (size_t i = 0; i < n; i++) {
		if (t[i].mid != USK_NONE) {
			risen = t[i].mid > risen ? t[i].mid : risen;
			t[i].mid = risen < cap[i] ? risen : cap[i];
		}
	}
	free(cap);
}

static void write_knots(struct course *c, struct usk_clock *k)
{
	struct usk_knot *knot = usk_alloc(c->n + 1, sizeof *knot);
	struct at *at = usk_alloc(c->n + 1, sizeof *at);
	bool all = true;
	for (size_t i = 0; i < c->n; i++) {
		at[i] = by_stamps(c->reference, on_raw(c, c->u[i]));
	}
	let_rise(at, c->n);
	for (size_t i = 0; i < c->n; i++) {
		const struct at *t = &at[i];
		knot[i] = (struct usk_knot){ .local_ns = c->u[i],
					     .offset_ns = over(t->mid, c->u[i], 0),
					     .lo_ns = over(t->lo, c->u[i], -1),
					     .hi_ns = over(t->hi, c->u[i], 1) };
		all = all && t->lo != USK_NONE && t->mid != USK_NONE && t->hi != USK_NONE;
	}
	free(at);
	size_t n = all ? usk_knots_thin_out(knot, c->n) : c->n;
	if (n >= 2) {
		free(k->knot);
		k->knot = knot;
		k->n_knots = n;
	} else {
		free(knot);
	}
}

static struct usk_slopes slopes_at(const struct party *y, int64_t ns)
{
	return y->carry ? usk_carry_slopes(y->carry, ns) : (struct usk_slopes){ 0, 0 };
}

/* Of a stamp, by the raw clock, what all of T rises by, and what the reference shows of that. */
static int64_t slope_of(int64_t own, int64_t rise, int64_t reference, bool up)
{
	const usk_i128 one = 1000000000000;
	usk_i128 over = (one + own) * (one + rise), under = one + reference;
	usk_i128 all = up ? usk_ceil_div(over, under) : usk_floor_div(over, under);
	return (int64_t)usk_clamp(all - one, -one, one);
}

/* Beyond the ends both logs' clocks go on as there. */
static void write_slopes(const struct course *c, struct usk_clock *k)
{
	for (int end = 0; end < 2; end++) {
		struct usk_slopes *s = end ? &k->after : &k->before;
		const struct usk_knot *x = &k->knot[end ? k->n_knots - 1 : 0];
		const struct usk_slopes own = slopes_at(c->own, x->local_ns);
		const bool drawn = x->offset_ns != USK_NONE;
		const struct usk_slopes ref =
			slopes_at(c->reference, drawn ? x->local_ns + x->offset_ns : x->local_ns);
		s->least_e12 = slope_of(own.least_e12, s->least_e12, ref.most_e12, false);
		s->most_e12 = slope_of(own.most_e12, s->most_e12, ref.least_e12, true);
	}
}

/* Stretches that stamps of both sides of a step are in may meet. */
static size_t join_stretches(struct usk_disturbed *s, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (kept && s[i].from_ns <= s[kept - 1].to_ns) {
			s[kept - 1].to_ns =
				s[i].to_ns > s[kept - 1].to_ns ? s[i].to_ns : s[kept - 1].to_ns;
		} else {
			s[kept++] = s[i];
		}
	}
	return kept;
}

/* Stamps of a clock's own in the answer. */
static void write_events(struct usk_clock *k, const struct party *y)
{
	for (size_t i = 0; i < k->n_jumps; i++) {
		struct usk_jump *j = &k->jump[i];
		struct usk_raw at =
			usk_carry_shown_between(y->carry, j->after_local_ns, j->before_local_ns);
		j->after_local_ns = at.lo_ns;
		j->before_local_ns = at.hi_ns;
	}
	for (size_t i = 0; i < k->n_stretches; i++) {
		struct usk_disturbed *s = &k->stretch[i];
		struct usk_raw at = usk_carry_shown_between(y->carry, s->from_ns, s->to_ns);
		*s = (struct usk_disturbed){ .from_ns = at.lo_ns, .to_ns = at.hi_ns };
	}
	k->n_stretches = join_stretches(k->stretch, k->n_stretches);
}

/* One that its brackets do not show is none. */
static bool shows(struct usk_raw by)
{
	return by.lo_ns > 0 || by.hi_ns < 0;
}

static void add_step(struct usk_clock *k, uint32_t of, struct usk_gap at, struct usk_raw size)
{
	*USK_APPEND(k->jump, k->n_jumps) = (struct usk_jump){ .kind = USK_JUMP,
							      .of = of,
							      .or_of = USK_NO_CLOCK,
							      .after_local_ns = at.before_ns,
							      .before_local_ns = at.after_ns,
							      .size_lo_ns = size.lo_ns,
							      .size_hi_ns = size.hi_ns };
}

/* Steps that the log knows, and by how much, with brackets of lines. */
static void add_steps(struct usk_clock *k, uint32_t clock, const struct party *y)
{
	for (size_t i = 1; i < y->carry->log.n_pieces; i++) {
		const struct usk_set s = usk_carry_set(y->carry, i);
		if (shows(s.by) && s.from_ns >= y->first_ns && s.to_ns <= y->last_ns) {
			add_step(k, clock, (struct usk_gap){ s.from_ns, s.to_ns },
				 (struct usk_raw){
					 usk_saturate(-(usk_i128)s.shifted_ns - s.by.hi_ns),
					 usk_saturate(-(usk_i128)s.shifted_ns - s.by.lo_ns) });
		}
	}
}

/* The first of n that is over x, or is x, where they rise. */
static size_t first_from(const int64_t *rising, size_t n, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, n, rising[i] >= x);
	return i;
}

/* Steps of the reference, by another clock's stamps: where T can have been there. */
static void add_reference_steps(struct usk_clock *k, const struct party *r)
{
	const size_t n = k->n_knots;
	int64_t *most = usk_alloc(n + 1, sizeof *most), *least = usk_alloc(n + 1, sizeof *least);
	for (size_t i = 0; i < n; i++) {
		int64_t t = usk_saturate((usk_i128)k->knot[i].local_ns + k->knot[i].hi_ns);
		most[i] = i && most[i - 1] > t ? most[i - 1] : t;
	}
	for (size_t i = n; i-- > 0;) {
		int64_t t = usk_saturate((usk_i128)k->knot[i].local_ns + k->knot[i].lo_ns);
		least[i] = i + 1 < n && least[i + 1] < t ? least[i + 1] : t;
	}
	for (size_t i = 1; i < r->carry->log.n_pieces; i++) {
		const struct usk_set s = usk_carry_set(r->carry, i);
		size_t a = first_from(most, n, s.from_ns), b = first_from(least, n, s.to_ns + 1);
		if (shows(s.by) && a && b < n) {
			add_step(k, k->reference,
				 (struct usk_gap){ k->knot[a - 1].local_ns, k->knot[b].local_ns },
				 (struct usk_raw){
					 usk_saturate((usk_i128)s.shifted_ns + s.by.lo_ns),
					 usk_saturate((usk_i128)s.shifted_ns + s.by.hi_ns) });
		}
	}
	free(most);
	free(least);
}

static void carry_clock(struct parties *p, struct usk_clocks *c, uint32_t i)
{
	struct usk_clock *k = &c->clock[i];
	struct course x = { .own = &p->party[i], .reference = &p->party[k->reference] };
	if (k->quality == USK_REFERENCE && x.own->carry) {
		free(k->knot);
		k->knot = NULL;
		k->n_knots = 0;
		usk_clock_reference(k, x.own->first_ns, x.own->last_ns);
		return;
	}
	if (!x.own->carry && !x.reference->carry) {
		return;
	}
	k->n_beyond = 0; /* logs say nothing there */
	struct usk_map *map = usk_map_new(k, c->max_skew_e12);
	x.map = map;
	if (map) {
		own_corners(&x, k);
		if (x.reference->carry) {
			reference_corners(&x);
		}
		write_knots(&x, k);
		write_slopes(&x, k);
	}
	if (x.own->carry) {
		write_events(k, x.own);
		add_steps(k, i, x.own);
	}
	/* By knots, which are of the stamps as recorded already. */
	if (map && x.reference->carry && k->quality == USK_BOUNDED) {
		add_reference_steps(k, x.reference);
	}
	usk_map_free(map);
	free(x.u);
}

static void carry_points(const struct party *a, const struct party *b, struct usk_point *x,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t on_a = usk_saturate((usk_i128)x[i].local_ns + x[i].offset_ns);
		x[i].local_ns = usk_carried_from(b, x[i].local_ns);
		x[i].offset_ns = usk_saturate((usk_i128)usk_carried_from(a, on_a) - x[i].local_ns);
	}
}

void usk_carried_answer(struct usk_clocks *c, struct parties *p)
{
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		carry_clock(p, c, i);
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		struct usk_pair *x = &c->pair[i];
		const struct party *a = &p->party[x->a], *b = &p->party[x->b];
		if (usk_carried_pair(p, x->a, x->b)) {
			carry_points(a, b, x->floor, x->n_floor);
			carry_points(a, b, x->ceiling, x->n_ceiling);
			x->half_width_at_ns = usk_carried_from(b, x->half_width_at_ns);
		}
	}
}
