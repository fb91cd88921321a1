/* SPDX-License-Identifier: MIT */
/*
 * sync.c - the whole way: traces in, one clock for all of them out
 *
 * In    opened traces, options
 * Out   the table of clocks
 * Why   run() is the program's one sentence; every stage it calls can be called alone
 * Not   files written, things printed
 */
#include "flow/reading.h"
#include "flow/share.h"
#include "write/write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void say_begin(struct usk_trace_info *t, uint32_t clock, size_t epoch, uint64_t record)
{
	*USK_APPEND(t->begin, t->n_begins) =
		(struct usk_trace_begin){ clock, (uint32_t)epoch, record };
}

/* The epochs that begin in one of a clock's captures. */
static void say_begins(const struct party *y, size_t part, uint32_t clock, struct usk_trace_info *t)
{
	const struct usk_survey *s = &y->survey;
	const struct usk_survey_part *x = s->n_parts ? &s->part[part] : NULL;
	for (size_t i = 0; x && i < x->n_begins; i++) {
		say_begin(t, clock, x->begin[i].epoch, x->begin[i].record);
	}
	for (size_t i = 0; !x && i <= s->epochs.n; i++) {
		say_begin(t, clock, i, i ? s->epochs.epoch[i - 1].record : 0);
	}
}

/* Where one has but one trace nothing is said: it begins in epoch 0. */
static void say_begins_of_several(struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_traces; i++) {
		struct usk_trace_info *t = &c->trace[i];
		size_t n = 0;
		for (size_t k = 0; k < t->n_begins; k++) {
			if (usk_in_several(c, t->begin[k].clock)) {
				t->begin[n++] = t->begin[k];
			}
		}
		t->n_begins = n;
	}
}

/* What is this clock's of a trace; the trace is its own if it has the trace's name. */
static void describe_clock(const struct parties *p, size_t trace, size_t clock,
			   struct usk_trace_info *t)
{
	const struct party *y = &p->party[clock];
	size_t part = 0;
	while (part < y->n_parts && y->part[part] != trace) {
		part++;
	}
	if (part == y->n_parts) {
		return;
	}
	if (y->survey.epochs.n) {
		say_begins(y, part, (uint32_t)clock, t);
	}
	if (!strcmp(y->name, usk_trace_name(p->trace[trace]))) {
		t->clock = (uint32_t)clock;
	}
	/* What tells who sent: addresses that another one does not share. */
	struct usk_addr found[2];
	const struct usk_addr *own = y->stated;
	size_t n = y->n_stated, other = 0;
	while (!n && other < p->n && (other == clock || !p->party[other].capture)) {
		other++;
	}
	if (!n && other < p->n) {
		const struct usk_survey *theirs = &p->party[other].survey;
		bool guess, passing = y->survey.passing.several || theirs->passing.several;
		n = passing ? 0 : usk_survey_own(&y->survey, theirs, found, &guess);
		own = found;
	}
	t->local = usk_grow(t->local, t->n_local + n + 1, sizeof *t->local);
	for (size_t m = 0; m < n; m++) {
		char text[46];
		usk_addr_text(own[m], text);
		t->local[t->n_local++] = usk_strdup(text);
	}
}

static void describe_traces(struct usk_clocks *c, const struct parties *p)
{
	c->trace = usk_alloc(p->n_traces, sizeof *c->trace);
	c->n_traces = p->n_traces;
	for (size_t i = 0; i < p->n_traces; i++) {
		struct usk_trace_info *t = &c->trace[i];
		const struct usk_trace *trace = p->trace[i];
		t->path = usk_strdup(usk_trace_path(trace));
		t->kind = usk_trace_kind(trace);
		t->events = p->events[i];
		t->truncated = usk_trace_damage(trace) != NULL;
		t->clock = USK_NO_CLOCK; /* tables have many */
		for (size_t k = 0; k < p->n; k++) {
			describe_clock(p, i, k, t);
		}
		for (size_t k = 0; k < p->begins[i].n; k++) {
			*USK_APPEND(t->begin, t->n_begins) = p->begins[i].of[k];
		}
		if (usk_trace_class(trace) == USK_TRACE_CAPTURE) {
			usk_captures_describe(p, i, t);
		}
		if (usk_trace_class(trace) == USK_TRACE_EVENTS && p->n_clocks[i] == 1) {
			t->clock = p->clock[i][0];
		}
	}
	say_begins_of_several(c);
}

static struct usk_clocks *clocks_of(const struct parties *p)
{
	const struct usk_sync_options *o = p->opt;
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->model = p->model;
	c->method = usk_strdup(p->method->name);
	c->min_delay = usk_strdup(o->min_delay ? o->min_delay : "0");
	usk_delays_state(p, c);
	c->max_skew_e12 = p->max_skew_e12;
	c->counts = p->left_out;
	c->clock = usk_alloc(p->n, sizeof *c->clock);
	c->n_clocks = p->n;
	for (size_t i = 0; i < p->n; i++) {
		struct usk_clock *k = &c->clock[i];
		k->name = usk_strdup(p->party[i].name);
		k->quality = USK_ABSENT;
		k->readings = p->party[i].readings;
		k->quantum_ns = p->party[i].quantum_ns;
		k->reference = (uint32_t)i;
		k->resolution_ns = p->party[i].resolution_ns ? p->party[i].resolution_ns : 1;
		k->drift_ppm = k->drift_min_ppm = k->drift_max_ppm = NAN;
	}
	c->pair = usk_alloc(p->n_pairs + 1, sizeof *c->pair);
	c->n_pairs = p->n_pairs;
	c->evaluation.broadcasts_recorded = c->evaluation.broadcasts_corrected = usk_no_difference;
	c->evaluation.half_best_ns = c->evaluation.half_worst_ns = c->evaluation.half_mean_ns =
		USK_NONE;
	describe_traces(c, p);
	usk_flow_damage(p, &c->note, &c->n_notes);
	usk_flow_note(&c->note, &c->n_notes, usk_parties_delay_note(p));
	usk_inside_notes(p, &c->note, &c->n_notes);
	for (size_t i = 0; i < p->n_log_notes; i++) {
		usk_flow_note(&c->note, &c->n_notes, usk_strdup(p->log_note[i]));
	}
	return c;
}

/* ---- arguments ----------------------------------------------------------------------- */

static enum usk_status check_arguments(struct usk_trace *const *trace, size_t n,
				       const struct usk_sync_options *o, struct usk_err *err)
{
	struct usk_model model;
	enum usk_status status = usk_model_parse(o->model, &model, err);
	if (status) {
		return status;
	}
	if (o->method && !usk_estimator_find(o->method)) {
		return usk_fail(err, USK_EUSAGE, 0, "there is no method \"%s\"; \"middle\" is one",
				o->method);
	}
	if (o->solve && strcmp(o->solve, "joint") != 0 && strcmp(o->solve, "tree") != 0) {
		return usk_fail(err, USK_EUSAGE, 0,
				"--solve: \"%s\" is not known; choose joint or tree", o->solve);
	}
	bool residual = o->weights && !strcmp(o->weights, "residual");
	if (o->weights && !residual && strcmp(o->weights, "half-width") != 0) {
		return usk_fail(err, USK_EUSAGE, 0,
				"there are no weights \"%s\"; \"half-width\" and \"residual\" are "
				"two",
				o->weights);
	}
	if (residual && !(o->method && usk_estimator_find(o->method)->z > 0)) {
		return usk_fail(err, USK_EUSAGE, 0,
				"weights by residual need a method through round trips, such as "
				"round-trip-90");
	}
	if (!n) {
		return usk_fail(err, USK_EUSAGE, 0, "no trace is given");
	}
	if (n == 1 && !o->n_clock_of && !o->readings &&
	    usk_trace_class(trace[0]) == USK_TRACE_CAPTURE) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: one capture alone shows only one clock; give the capture of a "
				"second machine with it",
				usk_trace_path(trace[0]));
	}
	return USK_OK;
}

const struct usk_sync_options usk_sync_defaults = { .max_outliers = -1,
						    .from_ns = USK_NONE,
						    .to_ns = USK_NONE };

enum usk_status usk_flow_too_few(const struct parties *p, struct usk_err *err)
{
	const char *damage = usk_trace_damage(p->trace[0]);
	if (!damage && p->n == 1 && p->opt->readings) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: none of its packets holds a timestamp for --readings %s",
				usk_trace_path(p->trace[0]), p->opt->readings);
	}
	return damage ? usk_fail(err, USK_EINPUT, 0, "%s", damage)
	       : p->n ? usk_fail(err, USK_EINPUT, 0, "%s: holds one clock only, %s; two are needed",
				 usk_trace_path(p->trace[0]), p->party[0].name)
		      : usk_fail(err, USK_EINPUT, 0, "%s: holds no message",
				 usk_trace_path(p->trace[0]));
}

/* Why nothing proves an answer of these; NULL: it can be proved. */
static const char *unproved_of(const struct parties *p)
{
	if (p->opt->readings || p->opt->n_clock_log || p->n_stated) {
		return "proofs are without readings, clock logs and anchors";
	}
	return usk_delays_sized(&p->delays) ? "proofs are without minimum delays that depend on "
					      "sizes; state the one of the smallest message"
					    : NULL;
}

enum usk_status usk_flow_open(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt, const struct usk_share *share,
			      struct parties *out, struct usk_err *err)
{
	enum usk_status status = check_arguments(trace, n, opt, err);
	if (!status) {
		status = usk_parties_open(trace, n, opt, share, out, err);
	}
	if (!status && out->n < 2 && n > 1 && out->n) {
		status =
			usk_fail(err, USK_EINPUT, 0,
				 "all %zu traces are of one clock, \"%s\"; give the trace of "
				 "another machine too, or give them different names with NAME=PATH",
				 n, out->party[0].name);
		usk_parties_free(out);
	}
	if (!status && out->n < 2) {
		status = usk_flow_too_few(out, err);
		usk_parties_free(out);
	}
	const char *unproved = !status && opt->proof ? unproved_of(out) : NULL;
	if (unproved) {
		status = usk_fail(err, USK_EUSAGE, 0, "%s", unproved);
		usk_parties_free(out);
	}
	if (!status) {
		out->doing = "matching";
		out->work_all =
			out->work_done + usk_readings_size(out, out->all_pairs, out->n_pairs);
	}
	return status;
}

/* ---- all pairs ----------------------------------------------------------------------- */

struct sync {
	struct parties *p;
	struct usk_clocks *c;
	struct fitted *fitted;
	struct usk_err *err;
	bool no_line; /* the model is linear, no line fits, and the method draws one all the same */
	bool served;  /* it is another rank that has the answer */
};

/*
 * Of many captures each packet is looked for in all others, and is not in most of them: what is
 * left of a capture is what none of its pairs has a use for.
 */
static void count_left(const struct parties *p, struct usk_counts *n)
{
	uint64_t packets = 0, captures = 0;
	for (size_t i = 0; i < p->n; i++) {
		captures += p->party[i].capture != NULL;
		packets += p->party[i].survey.packets;
	}
	if (captures > 2) {
		uint64_t used = 0;
		for (size_t i = 0; i < p->n_pairs; i++) {
			used += p->pair[i].in_tables;
		}
		used = 2 * (n->matched - (used < n->matched ? used : n->matched) +
			    n->direction_unknown);
		n->unmatched = packets > used ? packets - used : 0;
		n->expired = 0;
	}
}

static enum usk_status fit_pair(void *ctx, size_t pair, struct gathered *g, struct usk_err *err)
{
	struct sync *x = ctx;
	return usk_pair_fit(&x->p->pair[pair], g, &x->c->pair[pair], &x->fitted[pair], err);
}

static enum usk_status gather(struct sync *x)
{
	struct parties *p = x->p;
	const struct usk_sink *sink = p->opt->messages;
	p->kept = sink && sink->any_order ? usk_kept_new(p->n_pairs) : NULL;
	enum usk_status status =
		usk_gather(p, (p->method->needs_messages ? GATHER_KEEP : GATHER) | GATHER_PARALLEL,
			   x->c->pair, fit_pair, x, x->err);
	if (p->share) {
		x->served = usk_share_fits(p, x->c->pair, x->fitted, status, x->err);
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		usk_counts_add(&x->c->counts, &x->fitted[i].found);
		x->c->evaluation.recorded_inversions += usk_pair_inversions(&x->c->pair[i]);
	}
	count_left(p, &x->c->counts);
	if (p->kept && !usk_kept_all(p->kept)) {
		usk_kept_free(p->kept);
		p->kept = NULL;
	}
	return status;
}

/* It takes as long as reading so many bytes. */
static uint64_t solve_work(const struct parties *p)
{
	return p->n > 2 ? (uint64_t)p->n_pairs * 100000 : 0;
}

static void solving(void *ctx, double done, const char *what)
{
	struct parties *p = ctx;
	p->doing = what;
	usk_parties_progress(p, (uint64_t)(done * (double)solve_work(p)));
}

/* All that ties clocks, and solved by it; judged, too. */
static enum usk_status solve(struct sync *x)
{
	struct parties *p = x->p;
	struct usk_graph_span *span = usk_alloc(p->n, sizeof *span);
	struct usk_graph_back *back = usk_alloc(p->n, sizeof *back);
	bool *told = usk_alloc(p->n, sizeof *told);
	struct usk_graph_pair *pair = usk_alloc(p->n_pairs + 1, sizeof *pair);
	struct usk_graph_problem problem = {
		.model = p->model,
		.max_skew_e12 = p->max_skew_e12,
		/* Of two that are as good the first is the reference. */
		.reference = p->reference_named || p->n == 2 || !p->n_pairs ? p->reference
									    : USK_NO_CLOCK,
		.by_residual = p->method->z > 0 &&
			       !(p->opt->weights && !strcmp(p->opt->weights, "half-width")),
		.tree = p->opt->solve && !strcmp(p->opt->solve, "tree"),
		.pair = pair,
		.n_pairs = p->n_pairs,
		.stated = p->stated,
		.n_stated = p->n_stated,
		.span = span,
		.back = back,
		.told = told,
		.progress = p->opt->progress ? solving : NULL,
		.progress_ctx = p,
	};
	for (size_t i = 0; i < p->n; i++) {
		const struct party *y = &p->party[i];
		span[i] = (struct usk_graph_span){ usk_carried_to(y, y->first_ns),
						   usk_carried_to(y, y->last_ns) };
		told[i] = p->opt->proof && usk_party_told(p, y);
		back[i] = (struct usk_graph_back){ y->back, y->n_back };
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct usk_pair *k = &x->c->pair[i];
		pair[i] = (struct usk_graph_pair){
			.a = k->a,
			.b = k->b,
			.part = &x->fitted[i].part,
			.messages = { k->a_to_b, k->b_to_a },
			.least_ns = { usk_delay_model_ns(usk_parties_delay(p, k->a, k->b), 0),
				      usk_delay_model_ns(usk_parties_delay(p, k->b, k->a), 0) },
			.line = x->fitted[i].line,
			.n_line = x->fitted[i].n_line,
			.residual_ns = k->residual_ns,
			.too_many = x->fitted[i].too_many,
			.astray = x->fitted[i].astray > 0,
		};
	}
	p->doing = "solving";
	enum usk_status status = usk_judge_corrected(p, x->fitted, &problem, x->c, x->err);
	if (!status && p->opt->proof) {
		free(*p->opt->proof);
		*p->opt->proof = usk_graph_prove(x->c, &problem);
	}
	USK_FREE(told, span, back, pair);
	return status;
}

/* Over all clocks but references. */
static void measure_widths(struct usk_clocks *c)
{
	usk_i128 sum = 0;
	int64_t n = 0;
	struct usk_evaluation *e = &c->evaluation;
	for (size_t i = 0; i < c->n_clocks; i++) {
		struct usk_widths w = usk_band_widths(&c->clock[i]);
		if (c->clock[i].quality != USK_BOUNDED || w.best_ns == USK_NONE) {
			continue;
		}
		e->half_best_ns = !n || w.best_ns < e->half_best_ns ? w.best_ns : e->half_best_ns;
		e->half_worst_ns =
			!n || w.worst_ns > e->half_worst_ns ? w.worst_ns : e->half_worst_ns;
		sum += w.mean_ns;
		n++;
	}
	if (n) {
		e->half_mean_ns = (int64_t)(sum / n);
	}
}

/* Lines have no band where none fits. The method's line then needs that of another model. */
static bool draws_where_none_fits(const struct sync *x)
{
	bool any = false;
	for (size_t i = 0; i < x->p->n_pairs; i++) {
		any = any || (x->c->pair[i].quality == USK_CONTRADICTED && x->fitted[i].line);
	}
	return any && x->p->model.kind == USK_LINEAR && x->p->method->violates;
}

static enum usk_status sync(struct sync *x)
{
	x->fitted = usk_alloc(x->p->n_pairs + 1, sizeof *x->fitted);
	x->p->work_all += solve_work(x->p);
	enum usk_status status = x->p->method->together ? usk_flow_group(x->p, x->err) : USK_OK;
	status = status ? status : gather(x);
	usk_give_back(); /* corridors of all pairs */
	x->no_line = !status && !x->served && draws_where_none_fits(x);
	const bool stays = !status && !x->no_line && !x->served;
	status = stays ? solve(x) : status;
	if (!status && stays) {
		usk_flow_explain(x->c, x->p, x->fitted);
		measure_widths(x->c);
		usk_flow_recorded(x->c, x->p);
	}
	for (size_t i = 0; i < x->p->n_pairs; i++) {
		usk_fitted_free(&x->fitted[i]);
	}
	free(x->fitted);
	usk_give_back();
	return status;
}

/* ---- as recorded --------------------------------------------------------------------- */

static void begin_check(void *ctx, size_t pair, struct reading *r)
{
	struct sync *x = ctx;
	r->judge.with_delays = r->watch = true;
	r->also = x->p->opt->messages;
	usk_pair_blank(&x->c->pair[pair], &x->p->pair[pair]);
}

static enum usk_status end_check(void *ctx, size_t pair, struct reading *r, struct usk_err *err)
{
	struct sync *x = ctx;
	struct usk_pair *out = &x->c->pair[pair];
	struct usk_evaluation *e = &x->c->evaluation;
	(void)err;
	usk_reading_recorded(r, out);
	usk_counts_add(&x->c->counts, &r->counts);
	e->recorded_inversions += usk_pair_inversions(out);
	usk_violations_add(&e->too_fast, r->judge.too_fast[0] + r->judge.too_fast[1],
			   r->judge.violation_sum, r->judge.violation_max);
	usk_delay_samples_pair(&r->samples, false, NULL, NULL, out);
	e->broadcasts_recorded =
		usk_differences_add(e->broadcasts_recorded, out->broadcasts_recorded);
	return USK_OK;
}

/* Nothing is corrected: each clock is an island of its own. */
static void leave_as_recorded(const struct parties *p, struct usk_clocks *c)
{
	const struct party *y = &p->party[p->reference];
	c->island = usk_alloc(p->n, sizeof *c->island);
	c->n_islands = p->n;
	for (uint32_t i = 0; i < p->n; i++) {
		c->island[i].reference = i;
		c->island[i].n_clocks = 1;
		c->island[i].clock = usk_alloc(1, sizeof *c->island[i].clock);
		c->island[i].clock[0] = i;
	}
	usk_clock_reference(&c->clock[p->reference], y->first_ns, y->last_ns);
	c->clock[p->reference].path = usk_alloc(1, sizeof(uint32_t));
	c->clock[p->reference].path[0] = p->reference;
	c->clock[p->reference].n_path = 1;
	c->solve = usk_strdup("none");
	c->how = usk_strdup("none");
}

static enum usk_status check(struct sync *x)
{
	struct parties *p = x->p;
	const struct reading_plan plan = { x, begin_check, end_check, false };
	const struct usk_sink *sink = p->opt->messages;
	bool go = !sink || !sink->start || sink->start(sink->ctx);
	enum usk_status status =
		go ? usk_readings(p, p->all_pairs, p->n_pairs, &plan, x->err) : USK_OK;
	if (go && !status && sink && sink->keep) {
		sink->keep(sink->ctx);
	}
	uint64_t messages = 0;
	for (size_t i = 0; i < p->n_pairs; i++) {
		messages += x->c->pair[i].a_to_b + x->c->pair[i].b_to_a;
	}
	struct usk_violations *v = &x->c->evaluation.too_fast;
	v->percent = v->count ? 100.0 * (double)v->count / (double)messages : 0;
	count_left(p, &x->c->counts);
	leave_as_recorded(p, x->c);
	return status;
}

/* ---- the way ------------------------------------------------------------------------- */

static enum usk_status run(struct usk_trace *const *trace, size_t n,
			   const struct usk_sync_options *opt, const struct usk_share *share,
			   enum usk_status (*rest)(struct sync *x), struct usk_clocks **out,
			   struct usk_err *err)
{
	struct parties p;
	enum usk_status status =
		usk_flow_open(trace, n, opt ? opt : &usk_sync_defaults, share, &p, err);
	if (status) {
		return status;
	}
	struct sync x = { .p = &p, .c = clocks_of(&p), .err = err };
	const char *method = p.method->name;
	status = rest(&x);
	const bool whole = !status && !x.no_line && !x.served;
	status = whole ? usk_clocks_sound(x.c, err) : status;
	if (status || x.no_line || x.served) {
		usk_clocks_free(x.c);
	} else {
		*out = x.c;
	}
	usk_parties_free(&p);
	if (!status && x.no_line) {
		struct usk_sync_options bent = *opt;
		bent.model = "wander";
		status = run(trace, n, &bent, share, rest, out, err);
		if (!status) {
			usk_flow_note(&(*out)->note, &(*out)->n_notes,
				      usk_format("no clocks of one rate each fit these messages: "
						 "the line that %s draws is put into the band of "
						 "--model wander",
						 method));
		}
	}
	return status;
}

enum usk_status usk_sync(struct usk_trace *const *trace, size_t n,
			 const struct usk_sync_options *opt, struct usk_clocks **out,
			 struct usk_err *err)
{
	return run(trace, n, opt, NULL, sync, out, err);
}

enum usk_status usk_sync_shared(struct usk_trace *const *trace, size_t n,
				const struct usk_sync_options *opt, const struct usk_share *share,
				struct usk_clocks **out, struct usk_err *err)
{
	*out = NULL;
	return run(trace, n, opt, share, sync, out, err);
}

enum usk_status usk_check(struct usk_trace *const *trace, size_t n,
			  const struct usk_sync_options *opt, struct usk_clocks **out,
			  struct usk_err *err)
{
	return run(trace, n, opt, NULL, check, out, err);
}
