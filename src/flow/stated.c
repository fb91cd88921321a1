/* SPDX-License-Identifier: MIT */
/*
 * stated.c - what a person states of two clocks, as constraints
 *
 * In    rows of names, recorded stamps and an uncertainty; each of a kind
 * Out   rows T_from(from_ns) <= T_to(to_ns) by numbers of parties, on unwrapped time
 * Why   whoever knows something of clocks that no message shows can say it
 * Not   reading text (cli/task.c); which statement contradicts what (graph/solve.c)
 */
#include "flow/stated.h"
#include "flow/clock_log.h"
#include "flow/flow.h"

#include <string.h>

/* ---- the kinds --------------------------------------------------------------------------- */

static size_t usk_state_anchor(const struct usk_graph_anchor *x, struct usk_stated *row)
{
	usk_stated_anchor(x, 0, row);
	return 2;
}

static const struct usk_statement_kind kinds[] = {
#define KIND(name, option, form, within, help) { option, form, within, usk_state_##name },
	USK_STATEMENTS(KIND)
};

/* ---- what is the same for all ------------------------------------------------------------ */

const struct usk_statement_kind *usk_statement_kind(size_t i)
{
	return i < COUNT(kinds) ? &kinds[i] : NULL;
}

static const struct usk_statement_kind *kind_of(const struct usk_anchor *x)
{
	size_t i = 0;
	while (x->kind && i < COUNT(kinds) && strcmp(kinds[i].option, x->kind)) {
		i++;
	}
	return usk_statement_kind(i);
}

/* To the raw clocks, as exact as their logs are. */
static void carry(const struct parties *p, struct usk_graph_anchor *y)
{
	int64_t *stamp[] = { &y->a_ns, &y->b_ns };
	const uint32_t clock[] = { y->a, y->b };
	for (int k = 0; k < 2; k++) {
		const struct party *of = &p->party[clock[k]];
		if (of->carry) {
			struct usk_raw r = usk_carry_raw(of->carry, *stamp[k]);
			*stamp[k] = usk_carried_to(of, *stamp[k]);
			y->within_ns = usk_saturate((usk_i128)y->within_ns + r.hi_ns - r.lo_ns + 1);
		}
	}
}

/* On unwrapped time of the raw clocks; otherwise what is wrong with it. */
static const char *place(const struct parties *p, struct usk_graph_anchor *y, bool *far)
{
	*far = false;
	if (y->a == y->b) {
		return "names one clock twice";
	}
	if (y->within_ns < 0) {
		return "the uncertainty after ± is negative";
	}
	if (!usk_is_time(y->a_ns) || !usk_is_time(y->b_ns) || !usk_is_time(y->within_ns)) {
		*far = true;
		return "is over 146 years";
	}
	if (p->party[y->a].unordered || p->party[y->b].unordered) {
		return "names a clock that messages show to have been stepped backward, and "
		       "nothing tells in which order its traces were recorded; join them in that "
		       "order";
	}
	if (!usk_party_unwrap(&p->party[y->a], &y->a_ns) ||
	    !usk_party_unwrap(&p->party[y->b], &y->b_ns)) {
		return "one of the clocks was stepped backward and may have shown that time twice; "
		       "state a time that it showed once";
	}
	carry(p, y);
	return NULL;
}

enum usk_status usk_stated_open(struct parties *p, struct usk_err *err)
{
	const struct usk_sync_options *o = p->opt;
	p->stated = usk_alloc(USK_STATED_ROWS * o->n_anchors + 1, sizeof *p->stated);
	for (size_t i = 0; i < o->n_anchors; i++) {
		const struct usk_anchor *x = &o->anchor[i];
		const struct usk_statement_kind *kind = kind_of(x);
		if (!kind) {
			return usk_fail(err, USK_EUSAGE, 0,
					"\"%s\": nothing of that kind can be stated of clocks",
					x->kind);
		}
		uint32_t a = usk_party_find(p, x->a), b = usk_party_find(p, x->b);
		if (a == USK_NO_CLOCK || b == USK_NO_CLOCK) {
			return usk_fail(
				err, USK_EUSAGE, 0,
				"--%s %s@...=%s@...: there is no clock \"%s\"; \"%s\" is one",
				kind->option, x->a, x->b, a == USK_NO_CLOCK ? x->a : x->b,
				p->n ? p->party[0].name : "");
		}
		struct usk_graph_anchor y = { a, b, x->a_ns, x->b_ns, x->within_ns };
		bool far;
		const char *wrong = place(p, &y, &far);
		if (wrong) {
			return usk_fail(err, far ? USK_ERANGE : USK_EUSAGE, 0,
					"--%s %s@...=%s@...: %s", kind->option, x->a, x->b, wrong);
		}
		struct usk_stated *row = &p->stated[p->n_stated];
		for (size_t n = kind->rows(&y, row); n; n--, row++) {
			row->number = (uint32_t)i;
			row->noun = kind->option;
			p->n_stated++;
		}
	}
	return USK_OK;
}
