/* SPDX-License-Identifier: MIT */
/*
 * notes.c - what a user should know about the answer, in sentences
 *
 * In    clocks and pairs as they came out
 * Out   why something is not bounded, and what would help
 * Why   of a thousand clocks some always lack something: sentences of one kind are counted, not
 *       repeated without end
 * Not   damage of files (read/), messages that cycles of pairs contradict (graph/)
 */
#include "flow/reading.h"

#include <stdlib.h>
#include <string.h>

/* Sentences of one kind. */
enum { MOST_NOTES = 8, MOST_NAMES = 5 };

void usk_flow_note(char ***note, size_t *n, char *text)
{
	if (text) {
		*USK_APPEND(*note, *n) = text;
	}
}

void usk_flow_note_log(struct parties *p, char *text)
{
	usk_flow_note(&p->log_note, &p->n_log_notes, text);
}

/* Captures of links that cannot be read. */
static void note_foreign(const struct parties *p, char ***note, size_t *n)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_survey *s = &p->party[i].survey;
		const char *called = s->n_foreign ? usk_link_name(s->foreign) : NULL;
		if (s->n_foreign) {
			usk_flow_note(note, n,
				      usk_format("%s: %llu packet%s of link type %u%s%s%s, which "
						 "unskew cannot read, %s skipped",
						 p->party[i].name, (unsigned long long)s->n_foreign,
						 s->n_foreign == 1 ? "" : "s", s->foreign,
						 called ? " (" : "", called ? called : "",
						 called ? ")" : "",
						 s->n_foreign == 1 ? "was" : "were"));
		}
	}
}

void usk_flow_damage(const struct parties *p, char ***note, size_t *n)
{
	for (size_t i = 0; i < p->n_traces; i++) {
		const char *damage = usk_trace_damage(p->trace[i]);
		const char *remark = usk_trace_remark(p->trace[i]);
		usk_flow_note(note, n, damage ? usk_strdup(damage) : NULL);
		usk_flow_note(note, n, remark ? usk_strdup(remark) : NULL);
	}
	note_foreign(p, note, n);
}

char **usk_flow_names(const struct parties *p, char ***note, size_t *n)
{
	char **name = usk_alloc(p->n, sizeof *name);
	for (size_t i = 0; i < p->n; i++) {
		name[i] = usk_strdup(p->party[i].name);
	}
	usk_flow_note(note, n, usk_parties_delay_note(p));
	usk_inside_notes(p, note, n);
	usk_flow_damage(p, note, n);
	return name;
}

void usk_flow_texts_free(char **text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(text[i]);
	}
	free(text);
}

static void note(struct usk_clocks *c, char *text)
{
	usk_flow_note(&c->note, &c->n_notes, text);
}

/* What sentences are made of. */
struct answer {
	struct usk_clocks *c;
	const struct parties *p;
	const struct fitted *fitted;
};

/* A sentence on the i-th of a kind, malloc'ed; NULL: there is nothing to say. */
typedef char *sentence(const struct answer *x, size_t i);

/* Of n the first ones are told, the others counted. */
static void explain_each(const struct answer *x, size_t n, sentence *of, const char *what)
{
	size_t told = 0;
	for (size_t i = 0; i < n; i++) {
		char *text = of(x, i);
		if (text && told++ < MOST_NOTES) {
			note(x->c, text);
		} else {
			free(text);
		}
	}
	if (told > MOST_NOTES) {
		note(x->c, usk_format("the same holds for %zu more %s", told - MOST_NOTES, what));
	}
}

/* What the messages of a pair cannot all be true with, and what to try. */
static char *explain_contradiction(const struct usk_pair *p, const struct parties *parties)
{
	const char *a = parties->party[p->a].name, *b = parties->party[p->b].name;
	bool linear = parties->model.kind == USK_LINEAR;
	bool delays =
		usk_parties_delay(parties, p->a, p->b) || usk_parties_delay(parties, p->b, p->a);
	char *rates =
		usk_format(linear ? "both clocks have constant rates that differ by at most %g ppm"
				  : "the clocks' rates never differ by more than %g ppm",
			   (double)parties->max_skew_e12 * 1e-6);
	/* With other models a step is no contradiction, but for one that messages cannot tell. */
	bool captures = parties->party[p->a].capture && parties->party[p->b].capture;
	const char *why =
		!linear ? captures ? "a clock was set by as much as these messages last, or more "
				     "often than they tell, its records are in another order than "
				     "that of time, two machines go by one name, or one machine by "
				     "two: captures of one machine need one name, as in "
				     "HOST=eth0.pcap HOST=any.pcap"
				   : "a clock was set by as much as these messages last, or more "
				     "often than they tell, its records are in another order than "
				     "that of time, or two machines go by one name"
		: parties->n > 2 ? "a clock was stepped or slewed, and as nothing says which, "
				   "neither has an answer"
				 : "a clock was stepped or slewed";
	char *text =
		delays ? usk_format(
				 "%zu messages between %s and %s contradict each other if %s and "
				 "none is faster than --min-delay %s: that delay is too long, or a "
				 "clock was stepped or slewed; try a smaller --min-delay%s",
				 p->n_contradiction, a, b, rates, parties->opt->min_delay,
				 linear ? ", or --model wander" : "")
		       : usk_format("%zu messages between %s and %s contradict each other if %s: "
				    "%s; try %sa part of the trace with --from and --to, or a "
				    "larger --max-skew-ppm",
				    p->n_contradiction, a, b, rates, why,
				    linear ? "--model wander, " : "");
	free(rates);
	return text;
}

/* What would help captures that share no message, behind a sentence that says so. */
static const char *why_none(const struct usk_counts *counts)
{
	return counts->direction_unknown
		       ? ": check that both captures saw the same traffic, or state the address of "
			 "each machine with --local NAME=ADDRESS"
	       : counts->ambiguous && !counts->matched
		       ? ": all that might be messages are ambiguous, as an id or a packet occurs "
			 "more than once; in tables of events give each message its own id, "
			 "request and reply too"
	       : counts->cut_short && !counts->matched
		       ? ": packets were captured too short to tell them apart; record with a "
			 "snap length of 96 bytes or more (tcpdump -s 96)"
	       : counts->alike ? " that can be told from others: datagrams are identical, and "
				 "neither IP-IDs nor hop counts show which are one packet; record "
				 "traffic that varies, such as TCP or ping"
			       : ": check that both captures saw the same traffic";
}

/* Where that may come from. */
static const char *other_way(const struct parties *p)
{
	size_t i = 0;
	while (i < p->n_traces && usk_trace_class(p->trace[i]) == USK_TRACE_SPANS) {
		i++;
	}
	return i && i == p->n_traces
		       ? "give spans of calls in the other direction, too, or such whose kinds, "
			 "client and server, say that callers wait"
		       : "record traffic in the other direction, too";
}

char *usk_pair_explain(const struct usk_pair *p, const struct parties *parties,
		       const struct usk_counts *counts)
{
	const char *a = parties->party[p->a].name, *b = parties->party[p->b].name;
	switch (p->quality) {
	case USK_ABSENT:
		return usk_format("%s and %s share no message%s", a, b, why_none(counts));
	case USK_ONE_SIDED:
		return usk_format("all messages go from %s to %s, so the offset is bounded on one "
				  "side only; %s",
				  p->a_to_b ? a : b, p->a_to_b ? b : a, other_way(parties));
	case USK_CONTRADICTED:
		return explain_contradiction(p, parties);
	case USK_REFERENCE:
	case USK_BOUNDED:
		break;
	}
	return NULL;
}

/* Of a clock that is of two times at once no stamp tells which. */
static char *explain_astray(const struct answer *x, size_t i)
{
	const char *a = x->p->party[x->c->pair[i].a].name, *b = x->p->party[x->c->pair[i].b].name;
	return usk_format(
		"%zu packets of %s and %s stand between others that say more than 1 s else of "
		"these clocks: one was stepped, and its records are not in the order in "
		"which they were made, as if they were sorted by stamps. Give them in "
		"that order, or those from before and from after the step by themselves",
		x->fitted[i].astray, a, b);
}

/* One pair, which the user gave or which contradicts itself. */
static char *explain_pair(const struct answer *x, size_t i)
{
	const struct usk_pair *pair = &x->c->pair[i];
	if (x->fitted[i].astray) {
		return explain_astray(x, i);
	}
	/* What messages lack an anchor may say. */
	bool asked = x->p->n == 2 && !x->p->n_stated;
	return asked || pair->quality == USK_CONTRADICTED
		       ? usk_pair_explain(pair, x->p, &x->c->counts)
		       : NULL;
}

static char *explain_failed(const struct answer *x, size_t i)
{
	const struct usk_pair *pair = &x->c->pair[i];
	return x->fitted[i].failed ? usk_format("%s and %s: %s; --method middle is used instead",
						x->p->party[pair->a].name,
						x->p->party[pair->b].name, x->fitted[i].failed)
				   : NULL;
}

/* Another method drew it: hull where no line fits, or a choice of two. */
static char *explain_drawn_by(const struct answer *x, size_t i)
{
	const struct usk_pair *pair = &x->c->pair[i];
	const char *by = x->fitted[i].drawn_by, *a = x->p->party[pair->a].name;
	const char *b = x->p->party[pair->b].name;
	if (!by) {
		return NULL;
	}
	return strcmp(by, "least-violation")
		       ? usk_format("%s and %s: %s chose %s", a, b, x->p->method->name, by)
		       : usk_format("%s and %s: no line fits all messages; %s drew the one of "
				    "least violation",
				    a, b, x->p->method->name);
}

/* Both captures have packets that might be messages. A few that nobody sent to one alone are in every
 * capture: one in twenty is worth a sentence. */
static char *explain_undirected(const struct answer *x, size_t i)
{
	const struct usk_pair *pair = &x->c->pair[i];
	const struct usk_counts *n = &x->fitted[i].found;
	const struct party *a = &x->p->party[pair->a], *b = &x->p->party[pair->b];
	uint64_t left_out = n->direction_unknown, all = n->matched + left_out;
	bool stated = a->n_stated && b->n_stated;
	if (!left_out || pair->quality == USK_ABSENT || stated || left_out < (all + 19) / 20) {
		return NULL;
	}
	return usk_format("%s and %s: nothing shows which machine sent %llu of the %llu packets "
			  "that both captures hold, so they are left out; state the address of "
			  "each machine with --local NAME=ADDRESS",
			  a->name, b->name, (unsigned long long)left_out, (unsigned long long)all);
}

/* In ppm, three digits, and never more than it is. */
static double found_ppm(int64_t e12)
{
	int64_t step = 1;
	while (e12 / step >= 1000) {
		step *= 10;
	}
	return (double)(e12 / step * step) * 1e-6;
}

/* More wander by less than this, 1 ns a second, is what rounding of stamps needs: no news. */
#define WANDERS_E12 INT64_C(1000)

/* A clock's band allows for more wander than was assumed. */
static char *explain_wander(const struct answer *x, size_t i)
{
	const struct usk_clock *k = &x->c->clock[i];
	const struct usk_wander *w = &k->wander;
	if (w->used_e12 < w->assumed_e12 + WANDERS_E12) {
		return NULL;
	}
	char *where = k->n_stretches ? usk_format(" outside of %zu disturbed stretch%s",
						  k->n_stretches, k->n_stretches == 1 ? "" : "es")
				     : usk_strdup("");
	char *text = usk_format("the rate of %s against %s varies more than assumed: %g ppm are "
				"used (%g assumed, %g needed)%s; probably one of the two clocks "
				"was steered (NTP, PTP), or its temperature changed",
				k->name, x->c->clock[k->reference].name, found_ppm(w->used_e12),
				(double)w->assumed_e12 * 1e-6, found_ppm(w->needed_e12), where);
	free(where);
	return text;
}

/* "c, d, e and 7 more". */
static char *names_of(const struct usk_clocks *c, const uint32_t *clock, size_t n)
{
	char *text = usk_strdup("");
	for (size_t i = 0; i < n && i < MOST_NAMES; i++) {
		char *longer = usk_format("%s%s%s", text,
					  !i				  ? ""
					  : i + 1 == n && n <= MOST_NAMES ? " and "
									  : ", ",
					  c->clock[clock[i]].name);
		free(text);
		text = longer;
	}
	if (n > MOST_NAMES) {
		char *longer = usk_format("%s and %zu more", text, n - MOST_NAMES);
		free(text);
		text = longer;
	}
	return text;
}

static void explain_alone(const struct answer *x, bool captures)
{
	struct usk_clocks *c = x->c;
	uint32_t *alone = usk_alloc(c->n_islands + 1, sizeof *alone);
	size_t n = 0;
	for (size_t i = 0; i < c->n_islands && c->n_islands > 1; i++) {
		const uint32_t k = c->island[i].clock[0];
		if (c->island[i].n_clocks == 1 && c->clock[k].quality != USK_CONTRADICTED &&
		    (x->p->party[k].trace != SIZE_MAX) == captures) {
			alone[n++] = k;
		}
	}
	if (n) {
		char *names = names_of(c, alone, n);
		note(c, usk_format("%s share%s no message with any other clock%s", names,
				   n > 1 ? "" : "s", captures ? why_none(&c->counts) : ""));
		free(names);
	}
	free(alone);
}

/* All but the largest, the first of those that are as large. */
static char *explain_island(const struct answer *x, size_t i)
{
	const struct usk_clocks *c = x->c;
	const struct usk_island *y = &c->island[i], *main = c->island;
	for (size_t k = 0; k < c->n_islands; k++) {
		main = c->island[k].n_clocks > main->n_clocks ? &c->island[k] : main;
	}
	if (y == main || y->n_clocks < 2) {
		return NULL;
	}
	char *names = names_of(c, y->clock, y->n_clocks);
	char *text = usk_format("%s share no message with the other clocks: they are put on the "
				"time of %s, which cannot be compared with that of %s",
				names, c->clock[y->reference].name, c->clock[main->reference].name);
	free(names);
	return text;
}

static bool is_bounded_pair(const struct answer *x, uint32_t a, uint32_t b)
{
	bool any = false;
	for (size_t n = 0; n < x->c->n_pairs && !any; n++) {
		const struct usk_pair *p = &x->c->pair[n];
		any = ((p->a == a && p->b == b) || (p->a == b && p->b == a)) &&
		      p->quality == USK_BOUNDED && !x->fitted[n].astray;
	}
	return any;
}

/* Did messages go both ways, by each pair alone, all along the path from its reference? */
static bool went_both_ways(const struct answer *x, const struct usk_clock *k)
{
	bool all = k->n_path > 1;
	for (size_t i = 1; i < k->n_path && all; i++) {
		all = is_bounded_pair(x, k->path[i - 1], k->path[i]);
	}
	return all;
}

/* Why a clock has no bound on a side. */
enum open { NOT_OPEN, SET_ON_ONE, SET_ON_BOTH, ONE_WAY };

static enum open why_open(const struct answer *x, const struct usk_clock *k)
{
	const bool one = k->quality == USK_ONE_SIDED;
	if ((one || k->quality == USK_ABSENT) && went_both_ways(x, k)) {
		return one ? SET_ON_ONE : SET_ON_BOTH;
	}
	/* Of a pair alone its own sentence says so. */
	return one && x->p->n > 2 ? ONE_WAY : NOT_OPEN;
}

static char *explain_open(const struct answer *x, enum open why, const uint32_t *clock, size_t n)
{
	char *names = names_of(x->c, clock, n);
	char *text =
		why == ONE_WAY
			? usk_format("%s %s bounded on one side only: messages connect %s with %s "
				     "in one direction only; %s",
				     names, n > 1 ? "are" : "is", n > 1 ? "each of them" : "it",
				     x->c->clock[x->c->clock[clock[0]].reference].name,
				     other_way(x->p))
			: usk_format("%s %s bounded on %s, though messages went both ways: a clock "
				     "may have been set by as much as they last, so that none is "
				     "sure to bound %s; record for longer, or give what was "
				     "recorded before and after the step by itself, with --from "
				     "and --to",
				     names, n > 1 ? "are" : "is",
				     why == SET_ON_ONE ? "one side only" : "neither side",
				     n > 1 ? "them" : "it");
	free(names);
	return text;
}

/* Clocks that are so for one reason, against one reference, have one sentence. */
static void explain_all_open(const struct answer *x)
{
	const size_t n = x->c->n_clocks;
	enum open *why = usk_alloc(n + 1, sizeof *why);
	uint32_t *alike = usk_alloc(n + 1, sizeof *alike);
	size_t told = 0, more = 0;
	for (size_t i = 0; i < n; i++) {
		why[i] = why_open(x, &x->c->clock[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const enum open of = why[i];
		size_t m = 0;
		for (size_t k = i; k < n && of != NOT_OPEN && told < MOST_NOTES; k++) {
			if (why[k] == of && x->c->clock[k].reference == x->c->clock[i].reference) {
				alike[m++] = (uint32_t)k;
				why[k] = NOT_OPEN;
			}
		}
		if (m) {
			note(x->c, explain_open(x, of, alike, m));
			told++;
		} else {
			more += of != NOT_OPEN;
		}
	}
	if (more) {
		note(x->c, usk_format("the same holds for %zu more clocks", more));
	}
	USK_FREE(why, alike);
}

/* One file, of a clock of its own? */
static bool is_file(const struct party *y)
{
	return y->capture && y->n_parts == 1 && y->survey.records;
}

/* The same name but for numbers, as rotated files have them, or one has none. */
static bool differ_by_numbers(const char *a, const char *b)
{
	static const char digits[] = "0123456789";
	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b || !*a) {
			return *a == *b;
		}
	}
}

static bool rotated(const struct parties *p, uint32_t i, uint32_t j)
{
	const struct party *a = &p->party[i], *b = &p->party[j];
	return is_file(a) && is_file(b) &&
	       (a->survey.last_ns < b->survey.first_ns || b->survey.last_ns < a->survey.first_ns) &&
	       differ_by_numbers(usk_trace_path(a->capture), usk_trace_path(b->capture));
}

/* Files of one host, each taken for a clock of its own, share nothing with each other. */
static char *explain_rotated(const struct answer *x, size_t i)
{
	const struct parties *p = x->p;
	uint32_t before = 0, more = 0, last = (uint32_t)i;
	for (uint32_t j = 0; j < p->n; j++) {
		bool same = j != i && rotated(p, (uint32_t)i, j);
		before += same && j < i;
		more += same && j > i;
		last = same ? j : last;
	}
	return !before && more
		       ? usk_format("%s to %s, %u files, have names that differ by numbers alone "
				    "and times that do not overlap: if one host wrote them, give "
				    "them one name, NAME=FILE NAME=FILE or NAME='PATTERN'",
				    usk_trace_path(p->party[i].capture),
				    usk_trace_path(p->party[last].capture), more + 1)
		       : NULL;
}

static char *explain_shown_twice(const struct answer *x, size_t i)
{
	const struct party *y = &x->p->party[i];
	const uint64_t n = y->rows_shown_twice + y->shown_twice;
	return n && !y->unordered
		       ? usk_format("%s was stepped backward: %llu messages of tables, events or "
				    "spans have stamps that it may have shown twice, in no order "
				    "that tells which it was: they are left out",
				    y->name, (unsigned long long)n)
		       : NULL;
}

static char *explain_vague(const struct answer *x, size_t i)
{
	const struct party *y = &x->p->party[i];
	return y->vague ? usk_format("%s was stepped backward: of %llu stamps in rows of tables "
				     "nothing tells for certain whether they are from before or "
				     "after that. Bounds and the delays shown count them as "
				     "received as late, and as sent as early, as possible; apply "
				     "takes the likeliest",
				     y->name, (unsigned long long)y->vague)
			: NULL;
}

void usk_flow_explain(struct usk_clocks *c, const struct parties *p, const struct fitted *fitted)
{
	const struct answer x = { c, p, fitted };
	for (uint32_t i = 0; i < p->n; i++) {
		const struct party *y = &p->party[i];
		note(c, usk_flow_apart(p, fitted, i));
		if (y->unordered && y->in_no_order) {
			note(c, usk_format("%s is left out: messages contradict the order of its "
					   "stamps or of another clock's, so one was stepped "
					   "backward, or a name is of several clocks; the order of "
					   "spans and collectives does not tell where. Give those "
					   "from before that, or from after that, alone",
					   y->name));
		} else if (y->unordered) {
			note(c,
			     usk_format(
				     "%s is left out: messages show its traces in another "
				     "order than its stamps do, so it was stepped backward, "
				     "or they are of several clocks, or stamps are wrong. Join "
				     "them in the order in which they were recorded, or give the "
				     "clock of each a name of its own",
				     y->name));
		}
	}
	explain_each(&x, p->n, explain_rotated, "sets of files");
	explain_each(&x, p->n, explain_shown_twice, "clocks");
	explain_each(&x, p->n, explain_vague, "clocks");
	explain_each(&x, c->n_pairs, explain_pair, "pairs with such a contradiction");
	explain_each(&x, c->n_pairs, explain_failed, "pairs");
	explain_each(&x, c->n_pairs, explain_drawn_by, "pairs");
	explain_each(&x, c->n_pairs, explain_undirected, "pairs");
	explain_each(&x, c->n_clocks, explain_wander, "clocks that wander more than was assumed");
	if (p->n > 2) {
		explain_alone(&x, true);
		explain_alone(&x, false);
		explain_each(&x, c->n_islands, explain_island, "islands");
	}
	explain_all_open(&x);
	if (c->counts.unsure) {
		note(c,
		     usk_format("%llu messages may be paired with the wrong copy of a segment that "
				"was sent twice, as the sender's capture lacks packets and no "
				"IP-ID distinguishes copies: the error bounds are valid if none is",
				(unsigned long long)c->counts.unsure));
	}
}
