/* SPDX-License-Identifier: MIT */
/*
 * apart.c - traces, or interfaces of one, that were given as one clock's and are not
 *
 * In    clocks of several captures or interfaces, pairs that need more wander than is usual
 * Out   a sentence, where each of two of them goes with a third clock and both together do not
 * Why   two network cards of one host may have a clock each; that shows only in what is left over,
 *       and nothing is changed unasked
 * Not   traces one after the other: a clock that was set in between looks the same; and clocks that were
 *       set back, as their records show
 */
#include "flow/reading.h"
#include "flow/share.h"

#include <stdlib.h>
#include <string.h>

/* Together they need so many times what each of them does. */
enum { TIMES = 4 };

/* Traces and interfaces of one clock that are asked about at most. */
enum { MOST_UNITS = 8 };

/* A trace, or an interface of one, against the third clock, which is the pair's a. */
struct unit {
	size_t trace;
	char *iface; /* NULL: the trace has but one */
	int64_t first_ns, last_ns;
	struct usk_part part;
};

struct asking {
	const struct parties *p;
	const struct party *other;
	struct parties *sub;
	struct unit unit[MOST_UNITS];
	size_t n, trace;
};

static int64_t needed(const struct usk_part *part, int64_t max_skew_e12)
{
	struct usk_need need;
	usk_need_of(part, &need);
	return usk_need_within(&need, max_skew_e12);
}

/* Points of both, by the first one's frame. */
static struct usk_part unite(const struct usk_part *p, const struct usk_part *q)
{
	struct usk_part out = { .frame = p->frame };
	int64_t dx = q->frame.local_ns - p->frame.local_ns;
	int64_t dy = q->frame.offset_ns - p->frame.offset_ns;
	for (int side = 0; side < 2; side++) {
		size_t i = 0, k = 0, n = 0;
		out.point[side] = usk_alloc(p->n[side] + q->n[side] + 1, sizeof *out.point[side]);
		while (i < p->n[side] || k < q->n[side]) {
			struct usk_xy x = { 0 }, y = { 0 };
			if (i < p->n[side]) {
				x = p->point[side][i];
			}
			if (k < q->n[side]) {
				y = q->point[side][k];
				y.x += dx;
				y.y += side ? -dy : dy;
			}
			bool first = k == q->n[side] || (i < p->n[side] && x.x <= y.x);
			out.point[side][n++] = first ? x : y;
			i += first;
			k += !first;
		}
		out.n[side] = n;
	}
	return out;
}

static enum usk_status take(void *ctx, size_t pair, struct gathered *g, struct usk_err *err)
{
	struct asking *x = ctx;
	const struct pair_source *s = &x->sub->pair[pair];
	const struct party *mine = &x->sub->party[s->b];
	(void)err;
	if (!strcmp(x->sub->party[s->a].name, x->other->name) && x->n < MOST_UNITS) {
		struct unit *u = &x->unit[x->n++];
		bool whole = !strcmp(mine->name, usk_trace_name(x->p->trace[x->trace]));
		*u = (struct unit){
			.trace = x->trace,
			.iface = whole ? NULL : usk_strdup(mine->name),
			.first_ns = mine->first_ns,
			.last_ns = mine->last_ns,
		};
		usk_part_of(g->corridor, g->lines->q_ns, &u->part);
	}
	return USK_OK;
}

/* One trace, each of its interfaces by itself, with all of the other clock's, as if there were no
 * more. */
static void ask(struct asking *x, size_t which)
{
	const struct parties *p = x->p;
	size_t n = 0, faces, n_rules = 0;
	const struct usk_iface *face = usk_trace_ifaces(p->trace[which], &faces);
	struct usk_trace **trace = usk_alloc(x->other->n_parts + 1, sizeof(struct usk_trace *));
	char *rule[MOST_UNITS];
	struct usk_sync_options o = *p->opt;
	struct parties sub;
	trace[n++] = usk_share_capture(p, which);
	for (size_t i = 0; i < x->other->n_parts; i++) {
		trace[n++] = usk_share_capture(p, x->other->part[i]);
	}
	for (; faces > 1 && n_rules < faces && n_rules < MOST_UNITS; n_rules++) {
		const char *name = face[n_rules].name;
		rule[n_rules] = usk_format(
			"%s/%zu=interface %zu%s%s of %s", usk_trace_name(trace[0]), n_rules,
			n_rules, name ? ", " : "", name ? name : "", usk_trace_path(trace[0]));
	}
	o.reference = x->other->name;
	o.n_resolution = o.n_local = 0; /* may be of clocks that are not there */
	o.from_ns = o.to_ns = USK_NONE;
	o.clock_of = (const char *const *)rule;
	o.n_clock_of = n_rules;
	o.messages = NULL;
	o.min_delay = NULL;
	o.progress = NULL;
	if (!usk_parties_open(trace, n, &o, NULL, &sub, NULL)) {
		x->sub = &sub;
		x->trace = which;
		usk_gather(&sub, GATHER, NULL, take, x, NULL);
		usk_parties_free(&sub);
	}
	for (size_t i = 0; i < n_rules; i++) {
		free(rule[i]);
	}
	free(trace);
}

/* Does each go with the third clock, and not both together? */
static bool differ(const struct unit *u, const struct unit *v, int64_t usual_e12,
		   int64_t max_skew_e12)
{
	if (u->first_ns >= v->last_ns || v->first_ns >= u->last_ns) {
		return false;
	}
	struct usk_part both = unite(&u->part, &v->part);
	int64_t together = needed(&both, max_skew_e12);
	int64_t one = needed(&u->part, max_skew_e12), other = needed(&v->part, max_skew_e12);
	usk_part_free(&both);
	return together > usual_e12 && (one > other ? one : other) < together / TIMES;
}

static char *compare(const struct asking *x, const struct party *y, int64_t usual_e12)
{
	for (size_t i = 0; i < x->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct unit *u = &x->unit[k], *v = &x->unit[i];
			if (differ(u, v, usual_e12, x->p->max_skew_e12)) {
				return usk_format(
					"%s and %s are taken for one clock, %s, but their messages "
					"with %s agree only if these are two clocks: give them two "
					"names, with NAME=PATH, or --clock-of %s/INTERFACE=CLOCK "
					"for an interface of a capture",
					u->iface ? u->iface : usk_trace_path(x->p->trace[u->trace]),
					v->iface ? v->iface : usk_trace_path(x->p->trace[v->trace]),
					y->name, x->other->name, y->name);
			}
		}
	}
	return NULL;
}

char *usk_flow_apart(const struct parties *p, const struct fitted *fitted, uint32_t clock)
{
	const struct party *y = &p->party[clock];
	struct asking x = { .p = p };
	/* Four times the cone, sixteen times the wander: what many a healthy clock needs is less.
	 */
	int64_t usual = usk_model_kappa(&p->model) * 4, together = 0;
	size_t faces = 0;
	char *text = NULL;
	if (!y->n_parts || p->n_rules || y->survey.epochs.n) {
		return NULL;
	}
	usk_trace_ifaces(y->capture, &faces);
	if (faces < 2) {
		return NULL;
	}
	/* Where most is left over. */
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		if ((s->a == clock || s->b == clock) && usk_pair_walks(s)) {
			int64_t need = needed(&fitted[i].part, p->max_skew_e12);
			if (need > usual && need > together) {
				together = need;
				x.other = &p->party[s->a == clock ? s->b : s->a];
			}
		}
	}
	if (x.other) {
		usk_share_need(p, y);
		usk_share_need(p, x.other);
	}
	for (size_t i = 0; i < y->n_parts && x.other; i++) {
		ask(&x, y->part[i]);
	}
	text = x.other ? compare(&x, y, usual) : NULL;
	for (size_t i = 0; i < x.n; i++) {
		free(x.unit[i].iface);
		usk_part_free(&x.unit[i].part);
	}
	return text;
}
