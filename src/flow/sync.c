/* SPDX-License-Identifier: MIT */
/*
 * sync.c - the whole way: traces in, one clock for all of them out
 *
 * In    opened traces, options
 * Out   the table of clocks
 * Why   this function is the program's one sentence; every stage it calls can be called alone
 * Not   files written, things printed
 *
 * Each clock is tied to the reference by the messages the two exchange. Clocks that exchange
 * none with the reference are absent, and a note says so.
 */
#include "flow/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void note(struct usk_clocks *c, char *text)
{
	c->note = usk_grow(c->note, c->n_notes + 1, sizeof *c->note);
	c->note[c->n_notes++] = text;
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
		if (t->truncated) {
			note(c, usk_strdup(usk_trace_damage(trace)));
		}
		for (size_t k = 0; k < p->n; k++) {
			const struct party *y = &p->party[k];
			if (y->trace != i) {
				continue;
			}
			t->clock = (uint32_t)k;
			/* What tells who sent: an address that the reference does not share. */
			struct usk_addr found[2];
			const struct party *other =
				&p->party[k != p->reference ? p->reference : !k];
			const struct usk_addr *own = y->n_stated ? y->stated : found;
			size_t n = y->n_stated ? y->n_stated
				   : p->n < 2  ? 0
					       : usk_survey_own(&y->survey, &other->survey, found);
			t->local = usk_alloc(n, sizeof *t->local);
			for (size_t m = 0; m < n; m++) {
				char text[46];
				usk_addr_text(own[m], text);
				t->local[t->n_local++] = usk_strdup(text);
			}
		}
	}
}

static struct usk_clocks *clocks_of(const struct parties *p)
{
	const struct usk_sync_options *o = p->opt;
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->model = p->model;
	c->method = usk_strdup(usk_estimator_find(o->method ? o->method : "middle")->name);
	c->solve = usk_strdup("tree");
	c->how = usk_strdup("pairs");
	c->min_delay = usk_strdup(o->min_delay ? o->min_delay : "0");
	c->max_skew_e12 = usk_limit_e12(o);
	c->counts = p->left_out;
	c->clock = usk_alloc(p->n, sizeof *c->clock);
	c->n_clocks = p->n;
	for (size_t i = 0; i < p->n; i++) {
		struct usk_clock *k = &c->clock[i];
		k->name = usk_strdup(p->party[i].name);
		k->quality = USK_ABSENT;
		k->reference = (uint32_t)i;
		k->resolution_ns = p->party[i].resolution_ns ? p->party[i].resolution_ns : 1;
		k->drift_ppm = k->drift_min_ppm = k->drift_max_ppm = NAN;
	}
	c->pair = usk_alloc(p->n, sizeof *c->pair);
	c->evaluation.heard_recorded = c->evaluation.heard_corrected = usk_no_difference;
	c->evaluation.half_best_ns = c->evaluation.half_worst_ns = c->evaluation.half_mean_ns =
		USK_NONE;
	describe_traces(c, p);
	char *unknown = usk_parties_delay_note(p);
	if (unknown) {
		note(c, unknown);
	}
	return c;
}

/* The reference with all that are tied to it; each other clock is an island of its own. */
static void find_islands(struct usk_clocks *c, uint32_t reference)
{
	c->island = usk_alloc(c->n_clocks, sizeof *c->island);
	c->n_islands = 1;
	struct usk_island *home = &c->island[0];
	home->reference = reference;
	home->clock = usk_alloc(c->n_clocks, sizeof *home->clock);
	home->clock[home->n_clocks++] = reference;
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		struct usk_clock *k = &c->clock[i];
		if (i == reference) {
			continue;
		}
		if (k->quality != USK_ABSENT) {
			k->reference = reference;
			k->path = usk_alloc(2, sizeof *k->path);
			k->path[0] = reference;
			k->path[1] = i;
			k->n_path = 2;
			home->clock[home->n_clocks++] = i;
		} else {
			struct usk_island *alone = &c->island[c->n_islands++];
			alone->reference = i;
			alone->clock = usk_alloc(1, sizeof *alone->clock);
			alone->clock[alone->n_clocks++] = i;
		}
	}
}

char *usk_pair_explain(const struct usk_pair *p, const struct parties *parties,
		       const struct usk_counts *counts)
{
	const char *a = parties->party[p->a].name, *b = parties->party[p->b].name;
	switch (p->quality) {
	case USK_ABSENT:
		return usk_format("%s and %s share no message: check that both captures saw the "
				  "same traffic%s",
				  a, b,
				  counts->direction_unknown
					  ? ", or state who is who with --local NAME=ADDRESS"
					  : "");
	case USK_ONE_SIDED:
		return usk_format("all messages go from %s to %s: the offset is bounded on one "
				  "side only; traffic in the other direction would close it",
				  p->a_to_b ? a : b, p->a_to_b ? b : a);
	case USK_CONTRADICTED:
		if (usk_parties_delay(parties, p->a, p->b) ||
		    usk_parties_delay(parties, p->b, p->a)) {
			return usk_format("%zu messages between %s and %s cannot all be true if "
					  "both clocks run at one rate within %g ppm and none is "
					  "faster than --min-delay %s says: that is too long, or a "
					  "clock was stepped or slewed",
					  p->n_contradiction, a, b,
					  (double)usk_limit_e12(parties->opt) * 1e-6,
					  parties->opt->min_delay);
		}
		return usk_format("%zu messages between %s and %s cannot all be true if both "
				  "clocks run at one rate within %g ppm: a clock was stepped "
				  "or slewed (try a part of the trace with --from and --to, or "
				  "a larger --max-skew-ppm)",
				  p->n_contradiction, a, b,
				  (double)usk_limit_e12(parties->opt) * 1e-6);
	case USK_REFERENCE:
	case USK_BOUNDED:
		break;
	}
	return NULL;
}

static void explain(struct usk_clocks *c, const struct parties *p)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		char *why = usk_pair_explain(&c->pair[i], p, &c->counts);
		if (why) {
			note(c, why);
		}
	}
	if (c->counts.unsure) {
		note(c,
		     usk_format(
			     "%llu messages were matched although the sender's capture lacks "
			     "packets and no IP-ID tells copies of a segment apart: the bands hold "
			     "if none of them was taken for a copy",
			     (unsigned long long)c->counts.unsure));
	}
}

static void measure_widths(struct usk_clocks *c)
{
	usk_i128 sum = 0;
	int64_t n = 0;
	struct usk_evaluation *e = &c->evaluation;
	for (size_t i = 0; i < c->n_pairs; i++) {
		struct usk_pair *p = &c->pair[i];
		struct usk_widths w = usk_band_widths(&c->clock[p->b]);
		if (p->quality != USK_BOUNDED || w.best_ns == USK_NONE) {
			continue;
		}
		p->half_width_ns = w.best_ns;
		p->half_width_at_ns = w.best_at_ns;
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

/* The share of all messages that are judged. */
static void count_too_fast(struct usk_clocks *c)
{
	uint64_t all = 0;
	for (size_t i = 0; i < c->n_pairs; i++) {
		all += c->pair[i].a_to_b + c->pair[i].b_to_a;
	}
	struct usk_violations *v = &c->evaluation.too_fast;
	v->percent = v->count ? 100.0 * (double)v->count / (double)all : 0;
}

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
	if (!n) {
		return usk_fail(err, USK_EUSAGE, 0, "no trace is given");
	}
	if (n == 1 && usk_trace_class(trace[0]) == USK_TRACE_CAPTURE) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: one capture alone ties no clocks together; give the capture "
				"of the other machine too",
				usk_trace_path(trace[0]));
	}
	return USK_OK;
}

const struct usk_sync_options usk_sync_defaults = { .max_outliers = -1,
						    .from_ns = USK_NONE,
						    .to_ns = USK_NONE };

enum usk_status usk_flow_open(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt, struct parties *out,
			      struct usk_err *err)
{
	enum usk_status status = check_arguments(trace, n, opt, err);
	if (!status) {
		status = usk_parties_open(trace, n, opt, out, err);
	}
	if (!status && out->n < 2) {
		const char *damage = usk_trace_damage(trace[0]);
		status =
			damage ? usk_fail(err, USK_EINPUT, 0, "%s", damage)
			       : usk_fail(err, USK_EINPUT, 0, "%s: holds %s",
					  usk_trace_path(trace[0]),
					  out->n ? "one clock only; two are needed" : "no message");
		usk_parties_free(out);
	}
	return status;
}

static enum usk_status run(struct usk_trace *const *trace, size_t n,
			   const struct usk_sync_options *opt, bool correct,
			   struct usk_clocks **out, struct usk_err *err)
{
	struct parties p;
	enum usk_status status = usk_flow_open(trace, n, opt ? opt : &usk_sync_defaults, &p, err);
	if (status) {
		return status;
	}
	struct usk_clocks *c = clocks_of(&p);
	p.doing = "matching";
	for (uint32_t i = 0; i < p.n && !status; i++) {
		if (i == p.reference) {
			continue;
		}
		struct pair_source source;
		struct usk_pair *pair = &c->pair[c->n_pairs];
		status = usk_pair_open(&p, p.reference, i, &source, err);
		if (!status) {
			c->n_pairs++;
			status = correct ? usk_pair_fit(&source, pair, &c->clock[i], &c->counts,
							&c->evaluation, err)
					 : usk_pair_check(&source, pair, &c->counts, &c->evaluation,
							  err);
			usk_pair_close(&source);
		}
	}
	if (!status) {
		const struct party *y = &p.party[p.reference];
		usk_clock_reference(&c->clock[p.reference], y->first_ns, y->last_ns);
		c->clock[p.reference].reference = p.reference;
		c->clock[p.reference].path = usk_alloc(1, sizeof(uint32_t));
		c->clock[p.reference].path[0] = p.reference;
		c->clock[p.reference].n_path = 1;
		find_islands(c, p.reference);
		count_too_fast(c);
		if (correct) {
			explain(c, &p);
			measure_widths(c);
		}
		*out = c;
	} else {
		usk_clocks_free(c);
	}
	usk_parties_free(&p);
	return status;
}

enum usk_status usk_sync(struct usk_trace *const *trace, size_t n,
			 const struct usk_sync_options *opt, struct usk_clocks **out,
			 struct usk_err *err)
{
	return run(trace, n, opt, true, out, err);
}

enum usk_status usk_check(struct usk_trace *const *trace, size_t n,
			  const struct usk_sync_options *opt, struct usk_clocks **out,
			  struct usk_err *err)
{
	return run(trace, n, opt, false, out, err);
}
