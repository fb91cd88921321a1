/* SPDX-License-Identifier: MIT */
/*
 * gather.c - what the messages of pairs allow, without those that are wrong
 *
 * In    pairs whose messages can be read as often as needed
 * Out   corridors and feasible lines; outliers
 * Why   a wrong pairing is poison for a hull: what no line can take in is left out, and the
 *       messages are read again, because what hid behind it is gone from the hull
 * Not   estimates (pair.c, compare.c)
 *
 * A round reads all pairs that are not settled at once. Most are settled by the first.
 */
#include "flow/reading.h"

#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 10 };

/* Messages that are kept at once, 32 bytes each, if estimators need them. */
#define MOST_KEPT ((uint64_t)1 << 23)

/* A pair on its way. */
struct way {
	struct gathered g;
	int round;
	bool again;	  /* not settled yet */
	bool sharp;	  /* the cone is that of the skew limit */
	bool all_again;	  /* without leaving any out: they were too many */
	bool stepped;	  /* those at an end are right, as they are too many */
	size_t n_unknown; /* so many of its last outliers are known by their points only */
	struct usk_set_in
		*set; /* where one of the clocks was set, and points are thinned by less */
	size_t n_set;
};

struct gather {
	struct parties *p;
	struct way *way; /* by number of the pair */
	unsigned how;	 /* enum gather_how */
	struct usk_pair *out;
	usk_gathered_take *take;
	void *ctx;
	struct usk_err *err; /* of readings */
};

/* ---- wrong messages -------------------------------------------------------------------------- */

/* How many more may be left out, of so many messages. */
static size_t allowed(const struct usk_sync_options *o, uint64_t messages, size_t out)
{
	uint64_t most = messages / 10000 > 10 ? messages / 10000 : 10;
	most = o->max_outliers >= 0 ? (uint64_t)o->max_outliers : most;
	return most > out ? most - out : 0;
}

/* These points' messages are wanted. */
static void want(struct way *w, struct pair_source *s, const struct usk_calm *c,
		 struct usk_pair *pair)
{
	size_t n = c->n_outliers;
	s->left_out = usk_grow(s->left_out, s->n_left_out + n + 1, sizeof *s->left_out);
	memcpy(s->left_out + s->n_left_out, c->outlier, n * sizeof *s->left_out);
	s->n_left_out += n;
	w->n_unknown = n;
	pair->outlier = usk_grow(pair->outlier, pair->n_outliers + n + 1, sizeof *pair->outlier);
	for (size_t i = 0; i < n; i++) {
		pair->outlier[pair->n_outliers++] =
			(struct usk_outlier){ usk_point_message(s->a, s->b, c->outlier[i].point,
								c->outlier[i].ceiling),
					      c->outlier[i].excess_ns };
	}
}

/* Its outliers stay out of the next reading. */
static void exclude(struct pair_source *s, const struct usk_pair *pair)
{
	s->n_exclude = pair->n_outliers;
	s->exclude = usk_grow(s->exclude, s->n_exclude + 1, sizeof *s->exclude);
	for (size_t i = 0; i < s->n_exclude; i++) {
		s->exclude[i] = pair->outlier[i].msg;
	}
	qsort(s->exclude, s->n_exclude, sizeof *s->exclude, usk_msg_order);
}

/* Nobody was wrong. */
static void take_back(struct pair_source *s, struct usk_pair *pair)
{
	free(pair->outlier);
	pair->outlier = NULL;
	pair->n_outliers = 0;
	s->n_exclude = s->n_left_out = 0;
}

/* Those that brackets explain are right: they are read again, and not left out any more. */
static void acquit(struct pair_source *s, const struct usk_calm *c, struct usk_pair *pair)
{
	size_t n = 0, at = 0;
	for (size_t i = 0, k = 0; i < s->n_left_out; i++) {
		if (s->left_out[i].right) {
			continue;
		}
		s->left_out[i].right = k < c->n_explained && c->explained[k] == i;
		k += s->left_out[i].right;
		if (!s->left_out[i].right) {
			pair->outlier[n++] = pair->outlier[at];
		}
		at++;
	}
	pair->n_outliers = n;
	exclude(s, pair);
}

/*
 * Messages of points back to those that were read. With a minimum delay it is not to be seen in the
 * point how long a message is: then they are looked for.
 */
static enum usk_status identify(struct gather *x, const uint32_t *pair, size_t n)
{
	struct suspects s = { .n = 0 };
	for (size_t i = 0; i < n; i++) {
		const struct way *w = &x->way[pair[i]];
		const struct usk_pair *out = &x->out[pair[i]];
		for (size_t k = out->n_outliers - w->n_unknown; k < out->n_outliers; k++) {
			usk_suspect(&s, pair[i], &out->outlier[k].msg);
		}
		for (size_t k = 0; k < out->n_contradiction; k++) {
			usk_suspect(&s, pair[i], &out->contradiction[k]);
		}
	}
	enum usk_status status = usk_readings_name(x->p, &s, x->err);
	for (size_t i = 0; i < n; i++) {
		if (x->way[pair[i]].n_unknown) {
			exclude(&x->p->pair[pair[i]], &x->out[pair[i]]);
			x->way[pair[i]].n_unknown = 0;
		}
	}
	return status;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* So many stretches of thinning a pair's trace has at most. */
#define MOST_WINDOWS (INT64_C(1) << 18)

/*
 * The cone to begin with. Over a short time delays leave much of the rate open: what they leave is
 * guessed, so that most pairs need not be read again for it. A trace of days is thinned in longer
 * stretches, by cones that are narrower by as much: what is kept of it is bounded, and what is
 * dropped could have said no more than rates change meanwhile.
 */
static struct usk_frame first_frame(const struct pair_source *s)
{
	const struct parties *p = s->parties;
	const struct party *b = &p->party[s->b];
	struct usk_frame f = s->frame;
	int64_t kappa = usk_model_kappa(&p->model), limit = p->max_skew_e12;
	usk_i128 span = b->stamped ? (usk_i128)b->last_ns - b->first_ns : 0;
	usk_i128 open = span > 0 ? (usk_i128)s->coarse.spread_ns * 2000000000000 / span : 0;
	open = open < limit ? open : limit;
	f.window_ns = USK_SECOND;
	while (f.window_ns < span / MOST_WINDOWS) {
		f.window_ns *= 2;
		kappa /= 2;
	}
	f.kappa_e12 = open > kappa ? (int64_t)open : kappa;
	return f;
}

/*
 * The cone, used from both sides, that drops no message that may show a step: of two messages that
 * no clock within the skew limit explains neither is dropped for one further away that says the
 * same of a calm clock, nor for one from behind another step that says more.
 */
static int64_t widest_kappa(const struct pair_source *s)
{
	int64_t rate = s->frame.rate_e12;
	return s->parties->max_skew_e12 + (rate < 0 ? -rate : rate);
}

/* Records tell that something happened, whatever messages show. */
static bool was_set_back(const struct pair_source *s)
{
	const struct parties *p = s->parties;
	return p->model.kind != USK_LINEAR && (p->party[s->a].n_back || p->party[s->b].n_back);
}

static void begin_round(void *ctx, size_t pair, struct reading *r)
{
	struct gather *x = ctx;
	struct way *w = &x->way[pair];
	struct gathered *g = &w->g;
	g->frame = first_frame(&x->p->pair[pair]);
	w->sharp = w->sharp || was_set_back(&x->p->pair[pair]);
	if (w->sharp) {
		g->frame.kappa_e12 = widest_kappa(&x->p->pair[pair]);
		g->frame.steps = true;
	}
	r->corridor = g->corridor = usk_corridor_new(&g->frame);
	usk_corridor_refine(g->corridor, w->set, w->n_set);
	if (r->judge.least[0] || r->judge.least[1]) {
		r->plain = g->plain_corridor = usk_corridor_new(&g->frame);
		usk_corridor_refine(g->plain_corridor, w->set, w->n_set);
	}
	r->judge.with_delays = true;
	r->keep = x->how & GATHER_KEEP;
	r->kept = x->p->kept;
	if (r->kept) {
		usk_kept_begin(r->kept, pair);
	}
	r->watch = true;
	r->samples.most = usk_delay_samples_share(x->p->n_pairs);
}

/* Two stamps within the range may differ by more than it: then no offset says by how much. */
static enum usk_status offsets_in_range(const struct pair_source *s, struct usk_corridor *c,
					struct usk_err *err)
{
	const struct party *y = s->parties->party;
	for (int side = 0; side < 2; side++) {
		size_t n;
		const struct usk_point *p = usk_corridor_hull(c, side, &n);
		for (size_t i = 0; i < n; i++) {
			if (p[i].offset_ns > USK_TIME_MAX || p[i].offset_ns < -USK_TIME_MAX) {
				return usk_fail(err, USK_ERANGE, 0,
						"%s and %s are more than 2^62 ns (146 years) apart",
						y[s->a].name, y[s->b].name);
			}
		}
	}
	return USK_OK;
}

/* Two points that no clock within the skew limit explains, by as much as any two; false: there are
 * none. */
static bool worst_two(const struct usk_part *p, int64_t skew_e12, struct usk_point point[2])
{
	usk_i128 most = 0;
	for (size_t i = 0, j = 0; i < p->n[0]; i++) {
		const struct usk_xy *f = &p->point[0][i];
		while (j < p->n[1] && p->point[1][j].x < f->x) {
			j++;
		}
		for (size_t k = j ? j - 1 : 0; k < p->n[1] && k <= j; k++) {
			const struct usk_xy *c = &p->point[1][k];
			usk_i128 d = (usk_i128)c->x - f->x;
			usk_i128 over = ((usk_i128)f->y + c->y) * 1000000000000 -
					(d < 0 ? -d : d) * skew_e12;
			if (over > most) {
				most = over;
				point[0] = usk_part_recorded(p, *f, false);
				point[1] = usk_part_recorded(p, *c, true);
			}
		}
	}
	return most > 0;
}

/* Its messages cannot all be true: the fewest that say so are wanted. */
static void contradict(const struct pair_source *s, const struct gathered *g,
		       const struct usk_part *part, const struct usk_calm *calm,
		       struct usk_pair *pair)
{
	struct usk_point point[3];
	bool ceiling[3] = { false, true, false };
	size_t n = 0;
	if (s->parties->model.kind == USK_LINEAR &&
	    usk_lines_quality(g->lines) == USK_CONTRADICTED) {
		n = usk_lines_contradiction(g->lines, point, ceiling);
	} else if (worst_two(part, s->parties->max_skew_e12, point)) {
		n = 2;
	} else if (calm->n_brackets) {
		for (; n < 2; n++) {
			point[n] = calm->point[n];
			ceiling[n] = calm->ceiling[n];
		}
	}
	pair->n_contradiction = n;
	pair->contradiction = usk_alloc(n + 1, sizeof *pair->contradiction);
	for (size_t i = 0; i < n; i++) {
		pair->contradiction[i] = usk_point_message(s->a, s->b, point[i], ceiling[i]);
	}
}

/* How many of a pair's clocks may wander against the reference; both, if that is not known yet. */
static int may_wander(const struct pair_source *s)
{
	const struct parties *p = s->parties;
	bool known = p->reference_named || p->n == 2;
	return known && (s->a == p->reference || s->b == p->reference) ? 1 : 2;
}

/* Where a clock was set once it may have been set twice, of which thinning by the second leaves no
 * trace: all is read again, and thinned by less there. */
static bool look_closer(struct way *w, const struct usk_calm *c)
{
	size_t before = w->n_set;
	w->set = usk_grow(w->set, before + c->n_brackets + 1, sizeof *w->set);
	for (size_t i = 0; i < c->n_brackets; i++) {
		const struct usk_bracket *b = &c->bracket[i];
		struct usk_set_in set = { b->b0_ns, b->b1_ns };
		if (b->step && !usk_corridor_refined(w->g.corridor, set)) {
			w->set[w->n_set++] = set;
		}
	}
	usk_sort(w->set, w->n_set, sizeof *w->set, KEYS(BY(usk_set_in, from_ns)));
	return w->n_set > before && w->round++ < MAX_ROUNDS;
}

/* Who is wrong by itself has to go, unless they are too many. */
static void decide(struct way *w, struct pair_source *s, struct gathered *g, struct usk_pair *pair)
{
	const struct parties *p = s->parties;
	const struct usk_graph_back a = { p->party[s->a].back, p->party[s->a].n_back };
	const struct usk_graph_back b = { p->party[s->b].back, p->party[s->b].n_back };
	struct usk_part part;
	struct usk_calm calm;
	usk_part_of(g->corridor, g->lines->q_ns, &part);
	part.left_out = s->left_out;
	part.n_left_out = s->n_left_out;
	pair->quality = !part.n[0] && !part.n[1] ? USK_ABSENT
			: part.n[0] && part.n[1] ? USK_BOUNDED
						 : USK_ONE_SIDED;
	const uint64_t messages = pair->a_to_b + pair->b_to_a + s->n_exclude;
	const struct usk_calm_model m = {
		.wander_e12 = p->model.wander_e12,
		.clocks = may_wander(s),
		.max_skew_e12 = p->max_skew_e12,
		.own_rates = p->model.kind == USK_SEGMENTS,
		.at_ends = w->all_again || w->stepped ? 0 : allowed(p->opt, messages, s->n_exclude)
	};
	usk_calm_of(&part, &m, &a, &b, &calm);
	const size_t wrong = calm.n_outliers - calm.n_known[0];
	const size_t known = calm.n_known[1] < s->n_exclude ? calm.n_known[1] : s->n_exclude;
	const size_t may_go = allowed(p->opt, messages, s->n_exclude - known);
	if (!w->sharp && p->model.kind != USK_LINEAR &&
	    (calm.n_brackets || calm.n_outliers ||
	     calm.needed_e12 > m.clocks * (int64_t)p->model.wander_e12)) {
		w->sharp = w->again = true;
		goto out;
	}
	if (w->sharp && !calm.contradicted && look_closer(w, &calm)) {
		w->again = true;
		goto out;
	}
	if (calm.stepped_at_end && s->n_exclude) {
		take_back(s, pair);
		w->stepped = w->again = true;
		goto out;
	}
	if (calm.n_explained && !calm.n_outliers && p->model.kind != USK_LINEAR) {
		acquit(s, &calm, pair);
		w->again = true;
		goto out;
	}
	/* Nobody is to blame for what no line fits without him either. */
	bool in_vain = p->model.kind == USK_LINEAR && calm.n_brackets;
	/* What brackets excused they do not any more, without those that went meanwhile. */
	const bool over = !calm.n_outliers && s->n_exclude - known > allowed(p->opt, messages, 0);
	w->again = (calm.n_outliers || over || (in_vain && s->n_exclude)) && !w->all_again &&
		   w->round++ < MAX_ROUNDS;
	if (w->again && !in_vain && !over && wrong <= may_go) {
		want(w, s, &calm, pair);
	} else if (w->again) {
		/* Too many to be outliers: none is left out, so all are read again. */
		w->all_again = true;
		w->again = s->n_exclude > 0;
		take_back(s, pair);
	}
	g->too_many = w->all_again ? 1 : may_go + 1;
	bool linear = p->model.kind == USK_LINEAR;
	if (!w->again &&
	    (calm.contradicted || over || wrong >= g->too_many ||
	     (linear && (calm.n_brackets || usk_lines_quality(g->lines) == USK_CONTRADICTED)))) {
		pair->quality = USK_CONTRADICTED;
		contradict(s, g, &part, &calm, pair);
	}
	g->bounded = pair->quality == USK_BOUNDED;
out:
	usk_calm_free(&calm);
	usk_part_free(&part);
}

static enum usk_status end_round(void *ctx, size_t pair, struct reading *r, struct usk_err *err)
{
	struct gather *x = ctx;
	struct way *w = &x->way[pair];
	struct gathered *g = &w->g;
	struct pair_source *s = &x->p->pair[pair];
	struct usk_pair *out = &x->out[pair];
	int64_t limit = x->p->max_skew_e12;
	usk_reading_recorded(r, out);
	g->found = r->counts;
	g->lines = usk_lines_new(g->corridor, r->judge.q_a_ns, r->judge.q_b_ns, limit);
	if (g->plain_corridor) {
		g->plain =
			usk_lines_new(g->plain_corridor, r->judge.q_a_ns, r->judge.q_b_ns, limit);
	}
	g->moved_ns = r->moved_ns;
	g->msg = r->msg;
	g->n_msgs = r->n_msgs;
	g->samples = r->samples;
	r->msg = NULL;
	r->samples = (struct usk_delay_samples){ 0 };
	enum usk_status status = offsets_in_range(s, g->corridor, err);
	if (!status) {
		decide(w, s, g, out);
	}
	if (!status && !w->again) {
		g->found.outliers = out->n_outliers;
		usk_msg_sort(g->msg, g->n_msgs, s->b);
		status = x->take(x->ctx, pair, g, err);
	}
	usk_gathered_free(g);
	return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum usk_status gather_together(struct gather *x, const uint32_t *pair, size_t n)
{
	struct parties *p = x->p;
	const struct reading_plan plan = { x, begin_round, end_round, x->how & GATHER_PARALLEL };
	uint32_t *left = usk_alloc(n + 1, sizeof *left);
	size_t m = n;
	enum usk_status status = USK_OK;
	memcpy(left, pair, n * sizeof *left);
	while (m && !status) {
		status = usk_readings(p, left, m, &plan, x->err);
		status = status ? status : identify(x, left, m);
		size_t more = 0;
		for (size_t i = 0; i < m && !status; i++) {
			if (x->way[left[i]].again) {
				left[more++] = left[i];
			}
		}
		m = more;
		p->work_all += usk_readings_size(p, left, m);
	}
	free(left);
	return status;
}

void usk_gathered_wrong_free(struct usk_pair *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(out[i].outlier);
		free(out[i].contradiction);
	}
}

enum usk_status usk_gather(struct parties *p, unsigned how, struct usk_pair *out,
			   usk_gathered_take *take, void *ctx, struct usk_err *err)
{
	struct usk_pair *own = out ? NULL : usk_alloc(p->n_pairs + 1, sizeof *own);
	struct gather x = { p, NULL, how, out ? out : own, take, ctx, err };
	enum usk_status status = USK_OK;
	x.way = usk_alloc(p->n_pairs + 1, sizeof *x.way);
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_pair_blank(&x.out[i], &p->pair[i]);
	}
	for (size_t i = 0, end; i < p->n_own_pairs && !status; i = end) {
		uint64_t kept = 0;
		for (end = i;
		     end < p->n_own_pairs && (end == i || !(how & GATHER_KEEP) || kept < MOST_KEPT);
		     end++) {
			kept += p->pair[p->own_pairs[end]].in_tables;
		}
		/* The tables once more for each further lot. */
		p->work_all += i ? usk_tables_size(p) : 0;
		status = gather_together(&x, p->own_pairs + i, end - i);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_gathered_free(&x.way[i].g);
		free(x.way[i].set);
	}
	free(x.way);
	usk_gathered_wrong_free(own, own ? p->n_pairs : 0);
	free(own);
	return status;
}

void usk_gathered_free(struct gathered *g)
{
	free(g->msg);
	usk_lines_free(g->lines);
	usk_lines_free(g->plain);
	usk_corridor_free(g->corridor);
	usk_corridor_free(g->plain_corridor);
	usk_delay_samples_free(&g->samples);
	memset(g, 0, sizeof *g);
}

struct usk_fit usk_gathered_fit(const struct gathered *g, const struct pair_source *s)
{
	const struct party *a = &s->parties->party[s->a], *b = &s->parties->party[s->b];
	return (struct usk_fit){
		.model = s->parties->model,
		.max_skew_e12 = s->parties->max_skew_e12,
		.window_ns = s->parties->opt->window_ns,
		.back = b->back,
		.n_back = b->n_back,
		.other_back = a->back,
		.n_other_back = a->n_back,
		.corridor = g->corridor,
		.lines = g->lines,
		.plain = g->plain ? g->plain : g->lines,
		.least = { usk_parties_delay(s->parties, s->a, s->b),
			   usk_parties_delay(s->parties, s->b, s->a) },
		.left_out = s->left_out,
		.n_left_out = s->n_left_out,
		.moved_ns = g->moved_ns,
		.first_local_ns = b->first_ns,
		.last_local_ns = b->last_ns,
		.msg = g->msg,
		.n_msgs = g->n_msgs,
		.broadcasts = g->samples.broadcasts,
		.n_broadcasts = g->samples.n_broadcasts,
		.group = s->parties->group,
		.group_failed = s->parties->group_failed,
		.a = s->a,
		.b = s->b,
	};
}
