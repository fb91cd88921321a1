/* SPDX-License-Identifier: MIT */
/*
 * compare.c - every estimator side by side: the same messages, each line judged as it is drawn
 *
 * In    opened traces, options, rows of the table of estimators
 * Out   per pair and method: offset, rate, inversions and too fast messages that it leaves
 * Why   Ashton 6.1 and Poirier 4.1 compare methods so; settled into the band all would be alike
 * Not   the truth, which only a simulation knows; printing
 */
#include "flow/reading.h"
#include "flow/compare.h"
#include "write/write.h"

#include <stdlib.h>
#include <time.h>

static usk_i128 time_at(const struct usk_knot *k)
{
	return (usk_i128)k->local_ns + k->offset_ns;
}

/*
 * B's stamp when A shows a: the line the other way round, x = x0 + (a - T0) d/(T1 - T0), to 1 ps.
 * Where a line folds back, its first crossing.
 */
static enum usk_status invert(const struct usk_knot *k, size_t n, int64_t a, int64_t *ns,
			      int32_t *ps, struct usk_err *err)
{
	size_t i = 0;
	while (i + 2 < n && time_at(&k[i + 1]) < a) {
		i++;
	}
	usk_i128 d = (usk_i128)k[i + 1].local_ns - k[i].local_ns;
	usk_i128 climb = time_at(&k[i + 1]) - time_at(&k[i]);
	if (climb <= 0) {
		return usk_fail(err, USK_EINPUT, 0,
				"at the middle of the trace its clock stands still or runs "
				"backwards");
	}
	/* |a - T0| < 2^63.6 and d <= 2^63: the product fits. */
	usk_i128 run = (a - time_at(&k[i])) * d;
	usk_i128 whole = usk_floor_div(run, climb);
	usk_i128 rest = (2000 * (run - whole * climb) + climb) / (2 * climb);
	whole += k[i].local_ns + rest / 1000;
	if (whole < -USK_TIME_MAX || whole > USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "its line leads further than 146 years from 0");
	}
	*ns = (int64_t)whole;
	*ps = (int32_t)(rest % 1000);
	return USK_OK;
}

/* Quantiles by some of the messages, as all of them for every method would take longer than the
 * methods do. */
static void line_delays(const struct usk_judge *j, const struct usk_delay_samples *w, uint32_t a,
			struct usk_method_score *out)
{
	struct usk_delays d[2];
	usk_delay_samples_delays(w, a, NULL, j->map_b, d);
	for (int i = 0; i < 2; i++) {
		d[i].n = j->count[i];
		d[i].inversions = j->inversions[i];
		d[i].min_ns = j->count[i] ? j->fastest[i] : USK_NONE;
		d[i].max_ns = j->count[i] ? j->slowest[i] : USK_NONE;
	}
	out->a_to_b = d[0];
	out->b_to_a = d[1];
}

static enum usk_status judge_line(struct pair_source *s, const struct gathered *g, int64_t a_ns,
				  struct usk_method_score *out, struct usk_err *err)
{
	const struct usk_knot *first = out->line, *last = first + out->n_knots - 1;
	usk_i128 climb = time_at(last) - time_at(first);
	if (climb <= 0) {
		return usk_fail(err, USK_EINPUT, 0, "its clock stands still or runs backwards");
	}
	out->beta_minus_one =
		(double)(first->offset_ns - (usk_i128)last->offset_ns) / (double)climb;
	enum usk_status status = invert(out->line, out->n_knots, a_ns, &out->b_ns, &out->b_ps, err);
	if (status) {
		return status;
	}
	struct usk_map *map = usk_map_of_line(out->line, out->n_knots);
	struct reading r = usk_reading_of(s, err);
	r.judge.map_b = map;
	usk_judge_add(&r.judge, g->msg, g->n_msgs);
	out->broadcasts = usk_delay_samples_difference(&g->samples, NULL, map);
	line_delays(&r.judge, &g->samples, s->a, out);
	usk_map_free(map);
	if (r.judge.uncorrected) {
		return usk_fail(err, USK_ERANGE, 0, "its line leads further than 146 years from 0");
	}
	out->corrected_inversions = r.judge.inversions[0] + r.judge.inversions[1];
	out->too_fast = usk_judge_violations(&r.judge);
	out->too_fast_a_to_b = r.judge.too_fast[0];
	out->too_fast_b_to_a = r.judge.too_fast[1];
	return USK_OK;
}

/* What Clement says of a line, once more: the line itself is all that an estimator hands over. */
static void measure_exchanges(const struct usk_fit *fit, struct usk_method_score *out)
{
	out->by_exchanges =
		out->method->z > 0 && !usk_fit_round_trips(out->method, fit, &out->trips);
}

static void score(struct pair_source *s, const struct gathered *g, const struct usk_fit *fit,
		  const struct usk_compared_pair *pair, struct usk_method_score *out)
{
	struct usk_err err = { 0 };
	enum usk_status status;
	if (!g->n_msgs) {
		out->failed = usk_strdup("there is no message");
		return;
	}
	struct usk_fit own = *fit;
	own.drawn_by = &out->drawn_by;
	int64_t start = usk_clock_ns(CLOCK_MONOTONIC);
	status = usk_estimator_run(out->method, &own, &out->line, &out->n_knots, &err);
	out->seconds = 1e-9 * (double)(usk_clock_ns(CLOCK_MONOTONIC) - start);
	for (size_t i = 0; !status && i < out->n_knots; i++) {
		out->line[i].lo_ns = out->line[i].hi_ns = USK_NONE;
	}
	status = status ? status : judge_line(s, g, pair->a_ns, out, &err);
	if (status) {
		free(out->line);
		*out = (struct usk_method_score){ .method = out->method,
						  .failed = usk_strdup(err.msg) };
	} else {
		measure_exchanges(fit, out);
	}
}

/* Of so many exchanges in a row the ones of the least and of the largest margin: nothing that a
 * filter takes out is lost. */
static size_t thin_margins(struct usk_margin *m, size_t n, size_t most)
{
	size_t kept = 0, row = n > most ? (n + most / 2 - 1) / (most / 2) : 1;
	for (size_t i = 0; i < n && row > 1; i += row) {
		size_t end = i + row < n ? i + row : n, least = i, largest = i;
		for (size_t k = i; k < end; k++) {
			least = m[k].margin_ns < m[least].margin_ns ? k : least;
			largest = m[k].margin_ns > m[largest].margin_ns ? k : largest;
		}
		struct usk_margin first = m[least < largest ? least : largest];
		struct usk_margin second = m[least < largest ? largest : least];
		m[kept++] = first;
		if (least != largest) {
			m[kept++] = second;
		}
	}
	return row > 1 ? kept : n;
}

/* Where a method asks for exchanges. */
static void measure_margins(const struct usk_fit *fit, const struct usk_comparison *c,
			    struct usk_compared_pair *out)
{
	enum { ALL = 20000, MOST = 2000, LEAST = 16 };
	size_t most = ALL / c->n_pairs > MOST ? MOST : ALL / c->n_pairs;
	bool asked = false;
	for (size_t i = 0; i < c->n_methods; i++) {
		asked |= out->score[i].method->z > 0;
	}
	if (asked && fit->n_msgs) {
		out->margin = usk_margins_of(fit, &out->margins_by_b, &out->exchanges);
		out->n_margins =
			thin_margins(out->margin, out->exchanges, most > LEAST ? most : LEAST);
	}
}

static int64_t middle_of_a(const struct gathered *g, uint32_t a)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < g->n_msgs; i++) {
		int64_t t = usk_msg_stamp(&g->msg[i], a);
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	return g->n_msgs ? (int64_t)usk_floor_div((usk_i128)first + last, 2) : USK_NONE;
}

/* The band is the model's: every method would have the same one. */
static void measure_band(const struct usk_fit *fit, struct usk_compared_pair *out)
{
	struct usk_clock clock;
	usk_graph_alone(fit, &clock);
	struct usk_widths w = usk_band_widths(&clock);
	out->half_best_ns = w.best_ns;
	out->half_worst_ns = w.worst_ns;
	out->half_mean_ns = w.mean_ns;
	USK_FREE(clock.knot, clock.jump, clock.stretch);
	out->hull_a_to_b = fit->lines->half[USK_FLOOR].n;
	out->hull_b_to_a = fit->lines->half[USK_CEILING].n;
}

struct comparing {
	struct parties *p;
	struct usk_comparison *c;
	struct usk_pair *pair;
	uint64_t work; /* for the methods, as much as all of the reading took */
};

static enum usk_status compare_pair(void *ctx, size_t which, struct gathered *g,
				    struct usk_err *err)
{
	struct comparing *x = ctx;
	struct parties *p = x->p;
	struct pair_source *s = &p->pair[which];
	struct usk_comparison *c = x->c;
	const struct usk_pair *pair = &x->pair[which];
	struct usk_compared_pair *out = &c->pair[which];
	uint64_t work = x->work / p->n_pairs;
	struct usk_fit fit = usk_gathered_fit(g, s);
	(void)err;
	measure_band(&fit, out);
	out->a_to_b = pair->a_to_b;
	out->b_to_a = pair->b_to_a;
	out->quality = pair->quality;
	out->recorded_inversions = usk_pair_inversions(pair);
	out->recorded_a_to_b = pair->recorded_a_to_b;
	out->recorded_b_to_a = pair->recorded_b_to_a;
	out->broadcasts_recorded = usk_delay_samples_difference(&g->samples, NULL, NULL);
	out->a_ns = middle_of_a(g, s->a);
	usk_counts_add(&c->counts, &g->found);
	measure_margins(&fit, c, out);
	p->doing = "comparing";
	for (size_t i = 0; i < c->n_methods; i++) {
		score(s, g, &fit, out, &out->score[i]);
		usk_parties_progress(p, work * (i + 1) / c->n_methods);
	}
	p->work_done += work;
	p->doing = "matching";
	return USK_OK;
}

static struct usk_comparison *
comparison_of(const struct parties *p, const struct usk_estimator *const *method, size_t n_methods)
{
	struct usk_comparison *c = usk_alloc(1, sizeof *c);
	c->model = p->model;
	c->max_skew_e12 = p->max_skew_e12;
	c->counts = p->left_out;
	c->n_clocks = p->n;
	c->clock = usk_flow_names(p, &c->note, &c->n_notes);
	c->n_methods = n_methods;
	while (!n_methods && usk_estimators()[c->n_methods]) {
		c->n_methods++;
	}
	method = n_methods ? method : usk_estimators();
	c->total = usk_alloc(c->n_methods, sizeof *c->total);
	for (size_t k = 0; k < c->n_methods; k++) {
		c->total[k].method = method[k];
		c->total[k].broadcasts = usk_no_difference;
	}
	c->pair = usk_alloc(p->n_pairs + 1, sizeof *c->pair);
	for (size_t i = 0; i < p->n_pairs; i++) {
		struct usk_compared_pair *pair = &c->pair[c->n_pairs++];
		pair->a = p->pair[i].a;
		pair->b = p->pair[i].b;
		pair->quality = USK_ABSENT;
		pair->score = usk_alloc(c->n_methods, sizeof *pair->score);
		for (size_t k = 0; k < c->n_methods; k++) {
			pair->score[k].method = method[k];
		}
	}
	return c;
}

static void add_method(struct usk_method_total *t, const struct usk_compared_pair *p,
		       const struct usk_method_score *s)
{
	struct usk_violations *all = &t->too_fast;
	t->answers++;
	t->messages += p->a_to_b + p->b_to_a;
	t->recorded_inversions += p->recorded_inversions;
	t->corrected_inversions += s->corrected_inversions;
	t->broadcasts = usk_differences_add(t->broadcasts, s->broadcasts);
	usk_violations_add(all, s->too_fast.count,
			   (usk_i128)s->too_fast.mean_ns * s->too_fast.count, s->too_fast.max_ns);
	all->percent = t->messages ? 100.0 * (double)all->count / (double)t->messages : 0;
}

/* Over all pairs; the mean of half widths is that of pairs. */
static void add_up(struct usk_comparison *c)
{
	usk_i128 sum = 0, n = 0;
	c->broadcasts_recorded = usk_no_difference;
	c->half_best_ns = c->half_worst_ns = c->half_mean_ns = USK_NONE;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_compared_pair *p = &c->pair[i];
		for (size_t k = 0; k < c->n_methods; k++) {
			if (!p->score[k].failed) {
				add_method(&c->total[k], p, &p->score[k]);
			}
		}
		c->broadcasts_recorded =
			usk_differences_add(c->broadcasts_recorded, p->broadcasts_recorded);
		if (p->half_best_ns != USK_NONE) {
			bool better = !n || p->half_best_ns < c->half_best_ns;
			c->half_best_ns = better ? p->half_best_ns : c->half_best_ns;
			c->half_worst_ns = p->half_worst_ns > c->half_worst_ns ? p->half_worst_ns
									       : c->half_worst_ns;
			sum += p->half_mean_ns;
			n++;
		}
	}
	c->half_mean_ns = n ? (int64_t)(sum / n) : USK_NONE;
}

enum usk_status usk_compare(struct usk_trace *const *trace, size_t n,
			    const struct usk_sync_options *opt,
			    const struct usk_estimator *const *method, size_t n_methods,
			    struct usk_comparison **out, struct usk_err *err)
{
	struct parties p;
	enum usk_status status =
		usk_flow_open(trace, n, opt ? opt : &usk_sync_defaults, NULL, &p, err);
	if (status) {
		return status;
	}
	struct usk_comparison *c = comparison_of(&p, method, n_methods);
	struct usk_pair *pair = usk_alloc(p.n_pairs + 1, sizeof *pair);
	bool together = false;
	for (size_t i = 0; i < c->n_methods; i++) {
		together |= c->total[i].method->together;
	}
	struct comparing x = { &p, c, pair, usk_readings_size(&p, p.all_pairs, p.n_pairs) };
	p.work_all += x.work;
	status = together && p.n_pairs ? usk_flow_group(&p, err) : USK_OK;
	status = status ? status : usk_gather(&p, GATHER_KEEP, pair, compare_pair, &x, err);
	add_up(c);
	for (size_t i = 0; i < p.n_pairs && !status; i++) {
		usk_flow_note(&c->note, &c->n_notes, usk_pair_explain(&pair[i], &p, &c->counts));
	}
	usk_gathered_wrong_free(pair, p.n_pairs);
	free(pair);
	usk_parties_free(&p);
	if (status) {
		usk_comparison_free(c);
		return status;
	}
	*out = c;
	return USK_OK;
}

void usk_comparison_free(struct usk_comparison *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		for (size_t k = 0; k < c->n_methods; k++) {
			USK_FREE(c->pair[i].score[k].failed, c->pair[i].score[k].line);
		}
		USK_FREE(c->pair[i].score, c->pair[i].margin);
	}
	usk_flow_texts_free(c->clock, c->n_clocks);
	usk_flow_texts_free(c->note, c->n_notes);
	USK_FREE(c->pair, c->total, c);
}
