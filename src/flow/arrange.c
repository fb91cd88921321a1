/* SPDX-License-Identifier: MIT */
/*
 * arrange.c - which of a clock's files was recorded first
 *
 * In    surveys of clocks that have several files each: captures, traces of events
 * Out   their records in the order in which they were recorded; clocks of which nothing tells that are
 *       left out
 * Why   files are joined by their stamps. Those of a clock that was set back repeat: joined by them, what
 *       was recorded before the step stands between what came after it
 * Not   reading them in that order (read/join.c, event_order.c), finding steps in it (match/epochs.c)
 *
 * The order of one file's records is known. So packets that several files of a clock share with one
 * file of another machine tell which of these came first, whatever any clock shows. Where they show
 * that the clock was set back from one file to another (match/seen.c), and where a file's own records
 * do, files that the packets part come one after the other, and those that they mix come together, on
 * unwrapped time, if each of these shows the same steps. Packets have to agree with the new order.
 *
 * Where both clocks' files were rotated just when one was set back no file tells. Then the order of
 * one's stamps contradicts that of the other's, and the one that goes on without a gap was not set.
 */
#include "flow/met.h"

#include <stdlib.h>
#include <string.h>

enum { TRIM = 8 };

/* A clock's files while they are put in order. */
struct files {
	struct party *y;
	struct met *met;
	size_t n_met;
	size_t *with;	/* files that come together have the same root here */
	bool *known;	/* it shares packets */
	uint64_t *edge; /* before << 32 | after */
	size_t n_edges, cap_edges;
	bool suspect; /* stamps do not tell the order of its files */
	bool arranged;
};

/* All clocks; files have y only if there are several. */
struct arranging {
	struct parties *p;
	struct met *met;
	struct files *of;
};

/* ---- the order that they tell ----------------------------------------------------------------- */

static size_t root_of(const struct files *f, size_t part)
{
	while (f->with[part] != part) {
		part = f->with[part];
	}
	return part;
}

/* Where most of a file's packets stand among those of all. */
struct place {
	uint32_t part;
	size_t at, to;
};

/* In the order in which they begin; returns how many files there are. */
static size_t places_of(const struct usk_seen *m, size_t n, struct place *out)
{
	size_t n_out = 0;
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct place){ m[i].part, i, 0 };
	}
	usk_sort(out, n, sizeof *out, KEYS(BY(place, part), BY(place, at)));
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && out[k].part == out[i].part; k++) {
		}
		size_t few = (k - i) / TRIM; /* on their ways packets overtake others */
		out[n_out++] = (struct place){ out[i].part, out[i + few].at, out[k - 1 - few].at };
	}
	usk_sort(out, n_out, sizeof *out, KEYS(BY(place, at)));
	return n_out;
}

/* Files that the packets of one other file mix come together, all others one after the other. */
static void take_order(struct files *f, const struct usk_seen *m, size_t n)
{
	struct place *x = usk_alloc(n + 1, sizeof *x);
	size_t n_places = places_of(m, n, x), to = 0, before = SIZE_MAX;
	for (size_t i = 0; i < n_places; i++) {
		size_t mine = root_of(f, x[i].part);
		f->known[x[i].part] = true;
		if (i && x[i].at < to) {
			f->with[mine] = root_of(f, x[i - 1].part);
		} else if (i) {
			before = x[i - 1].part;
		}
		if (before != SIZE_MAX) {
			*USK_ADD(f->edge, f->n_edges, f->cap_edges) =
				(uint64_t)before << 32 | x[i].part;
		}
		to = x[i].to > to ? x[i].to : to;
	}
	free(x);
}

/* Does one of its files show by itself that the clock was set back? */
static bool any_falls(const struct usk_survey *s)
{
	for (size_t i = 0; i < s->n_parts; i++) {
		if (s->part[i].epochs.n) {
			return true;
		}
	}
	return false;
}

/* What of the other clock's files the order of its stamps tells: that of one file, and of all if it is
 * no suspect itself, nor has logs that fall and that are not in order yet. */
static bool is_trusted(const struct arranging *x, const struct met *m, bool whole)
{
	const struct party *y = &x->p->party[m->other >> 16];
	const bool falls = y->order && !usk_event_order_counts(y) && any_falls(&y->survey);
	return !whole || !(x->of[m->other >> 16].suspect || falls);
}

/* All that others tell of the order. */
static void take_all(const struct arranging *x, struct files *f)
{
	struct usk_seen *seen = usk_alloc(f->n_met + 1, sizeof *seen);
	int64_t ways;
	for (int whole = 0; whole < 2; whole++) {
		for (size_t i = 0, n; i < f->n_met; i += n) {
			n = usk_met_group(f->met + i, f->n_met - i, whole);
			if (is_trusted(x, &f->met[i], whole)) {
				take_order(f, seen,
					   usk_met_order(f->met + i, n, whole, seen, &ways));
			}
		}
	}
	free(seen);
}

/* Do packets contradict the order in which the clock's records are? */
static bool contradicted(const struct arranging *x, const struct files *f, bool whole)
{
	struct usk_seen *seen = usk_alloc(f->n_met + 1, sizeof *seen);
	bool found = false;
	for (size_t i = 0, n; i < f->n_met && !found; i += n) {
		int64_t ways;
		n = usk_met_group(f->met + i, f->n_met - i, whole);
		if (is_trusted(x, &f->met[i], whole)) {
			size_t left = usk_met_order(f->met + i, n, whole, seen, &ways);
			found = usk_seen_fall(seen, left) != SIZE_MAX;
		}
	}
	free(seen);
	return found;
}

static void files_free(struct files *f)
{
	USK_FREE(f->with, f->known, f->edge);
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Nothing before it is left: the one whose stamps begin earliest. SIZE_MAX: they go round. */
static size_t next_of(const struct files *f, const bool *done, const size_t *waits)
{
	const struct usk_survey_part *part = f->y->survey.part;
	size_t next = SIZE_MAX;
	for (size_t i = 0; i < f->y->survey.n_parts; i++) {
		bool may = f->with[i] == i && !done[i] && !waits[i];
		if (may && (next == SIZE_MAX || part[i].first_ns < part[next].first_ns)) {
			next = i;
		}
	}
	return next;
}

/* turn[] of each file; false: their order goes round. */
static bool turns_of(const struct files *f, size_t *turn)
{
	const size_t n = f->y->survey.n_parts;
	size_t *waits = usk_alloc(n, sizeof *waits), roots = 0, done_n = 0;
	bool *done = usk_alloc(n, sizeof *done);
	for (size_t i = 0; i < n; i++) {
		roots += f->with[i] == i;
	}
	for (size_t i = 0; i < f->n_edges; i++) {
		size_t from = root_of(f, f->edge[i] >> 32),
		       to = root_of(f, f->edge[i] & UINT32_MAX);
		waits[to] += from != to;
	}
	for (; done_n < roots; done_n++) {
		size_t next = next_of(f, done, waits);
		if (next == SIZE_MAX) {
			break;
		}
		done[next] = true;
		for (size_t i = 0; i < n; i++) {
			turn[i] = root_of(f, i) == next ? done_n : turn[i];
		}
		for (size_t i = 0; i < f->n_edges; i++) {
			size_t from = root_of(f, f->edge[i] >> 32);
			size_t to = root_of(f, f->edge[i] & UINT32_MAX);
			waits[to] -= from == next && from != to;
		}
	}
	USK_FREE(waits, done);
	return done_n == roots;
}

/* The steps of all files of a turn as one; false: they do not show the same ones. */
static bool steps_of(const struct files *f, size_t root, struct usk_epochs *out)
{
	const struct usk_survey *s = &f->y->survey;
	bool agree = true;
	usk_epochs_copy(&s->part[root].epochs, out);
	for (size_t i = 0; i < s->n_parts && agree; i++) {
		const struct usk_epochs *e = &s->part[i].epochs;
		if (root_of(f, i) != root || i == root) {
			continue;
		}
		agree = usk_epochs_agree(e, &s->part[root].epochs);
		for (size_t k = 0; k < out->n && agree; k++) {
			struct usk_epoch *x = &out->epoch[k];
			const struct usk_epoch *y = &e->epoch[k];
			x->before_ns = y->before_ns > x->before_ns ? y->before_ns : x->before_ns;
			x->after_ns = y->after_ns < x->after_ns ? y->after_ns : x->after_ns;
		}
	}
	usk_i128 all = 0;
	for (size_t k = 0; k < out->n; k++) {
		all += (usk_i128)out->epoch[k].before_ns - out->epoch[k].after_ns +
		       USK_EPOCH_GAP_NS;
		out->epoch[k].shift_ns = usk_saturate(all);
	}
	return agree;
}

static void arrange_part(const struct usk_survey_part *x, const struct usk_epochs *steps,
			 struct usk_trace_turn *out)
{
	uint64_t *record = usk_alloc(steps->n + 1, sizeof *record);
	int64_t *shift = usk_alloc(steps->n + 1, sizeof *shift);
	for (size_t k = 0; k < steps->n; k++) {
		record[k] = x->epochs.epoch[k].record;
		shift[k] = steps->epoch[k].shift_ns;
	}
	out->record = record;
	out->shift_ns = shift;
	out->n = steps->n;
}

/* False: nothing tells their order. */
static bool arrange(const struct files *f)
{
	const struct usk_survey *s = &f->y->survey;
	struct usk_trace_turn *turn = usk_alloc(s->n_parts, sizeof *turn);
	size_t *number = usk_alloc(s->n_parts, sizeof *number);
	bool good = turns_of(f, number);
	for (size_t i = 0; i < s->n_parts && good; i++) {
		struct usk_epochs steps = { 0 };
		good = (f->known[i] || s->n_parts == 1 || !s->part[i].records) &&
		       steps_of(f, root_of(f, i), &steps);
		turn[i].turn = number[i];
		if (good) {
			arrange_part(&s->part[i], &steps, &turn[i]);
		}
		usk_epochs_free(&steps);
	}
	if (good && f->y->capture) {
		usk_trace_arrange(f->y->capture, turn);
	} else if (good) {
		usk_event_order_take(f->y, turn);
	}
	for (size_t i = 0; i < s->n_parts; i++) {
		free((void *)turn[i].record);
		free((void *)turn[i].shift_ns);
	}
	USK_FREE(turn, number);
	return good;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Do packets of the file that fell come behind all of the one that it fell below, here too, but for those
 * that overtook others? */
static bool apart_at(const struct usk_seen *seen, size_t n, size_t at, int64_t ways)
{
	size_t high = SIZE_MAX, first = at, last = 0;
	for (size_t i = 0; i < at; i++) {
		bool other = seen[i].part != seen[at].part;
		high = other && (high == SIZE_MAX || seen[i].p_ns > seen[high].p_ns) ? i : high;
	}
	for (size_t i = 0; i < n; i++) {
		first = seen[i].part == seen[at].part && i < first ? i : first;
		last = seen[i].part == seen[high].part ? i : last;
	}
	return (usk_i128)seen[last].q_ns - seen[first].q_ns <= ways;
}

enum { NO_GAP = -1 };

/* m[n] are what it shares with another clock. Where it would have been set back if the other one was not:
 * for how long the other one then had none of the packets. USK_TIME_MAX: it cannot have been that;
 * NO_GAP: nothing was. */
static int64_t gap_of(const struct met *m, size_t n)
{
	int64_t ways, gap = NO_GAP;
	struct usk_seen *seen = usk_alloc(n + 1, sizeof *seen);
	size_t left = usk_met_order(m, n, true, seen, &ways), at = usk_seen_fall(seen, left);
	if (at != SIZE_MAX) {
		size_t first = at;
		while (first > 1 && seen[first - 1].part == seen[at].part) {
			first--;
		}
		gap = apart_at(seen, left, at, ways)
			      ? usk_saturate((usk_i128)seen[first].q_ns - seen[first - 1].q_ns)
			      : USK_TIME_MAX;
	}
	free(seen);
	return gap;
}

static int64_t gap_with(const struct files *f, uint64_t other)
{
	for (size_t i = 0, n; i < f->n_met; i += n) {
		n = usk_met_group(f->met + i, f->n_met - i, true);
		if (f->met[i].other >> 16 == other) {
			int64_t gap = gap_of(f->met + i, n);
			return gap == NO_GAP ? USK_TIME_MAX : gap;
		}
	}
	return USK_TIME_MAX;
}

/* Clocks of several files of which neither one file of another clock nor their own tell anything: of two
 * that contradict each other the one that goes on better was not set. */
static void suspect_by_gaps(struct arranging *x)
{
	bool *guilty = usk_alloc(x->p->n + 1, sizeof *guilty);
	for (size_t i = 0; i < x->p->n; i++) {
		const struct files *f = &x->of[i];
		for (size_t k = 0, n; k < f->n_met && !f->suspect; k += n) {
			const struct met *m = f->met + k;
			const struct files *g = &x->of[m->other >> 16];
			n = usk_met_group(m, f->n_met - k, true);
			int64_t mine = g->y && !g->suspect ? gap_of(m, n) : NO_GAP;
			guilty[i] = guilty[i] || (mine != NO_GAP && mine <= gap_with(g, i));
		}
	}
	for (size_t i = 0; i < x->p->n; i++) {
		x->of[i].suspect = x->of[i].suspect || guilty[i];
	}
	free(guilty);
}

static void open_files(struct files *f)
{
	const size_t n = f->y->survey.n_parts;
	f->with = usk_alloc(n, sizeof *f->with);
	f->known = usk_alloc(n, sizeof *f->known);
	for (size_t i = 0; i < n; i++) {
		f->with[i] = i;
	}
}

static struct arranging open_all(struct parties *p, const bool *those, bool run_on)
{
	size_t n, from = 0, to;
	struct arranging x = { .p = p, .met = usk_met_all(p, those, run_on, &n) };
	x.of = usk_alloc(p->n + 1, sizeof *x.of);
	for (size_t i = 0; i < p->n; i++, from = to) {
		for (to = from; to < n && x.met[to].clock == i; to++) {
		}
		if (those[i]) {
			x.of[i] = (struct files){ .y = &p->party[i],
						  .met = to > from ? x.met + from : NULL,
						  .n_met = to - from };
			open_files(&x.of[i]);
		}
	}
	return x;
}

static void close_all(struct arranging *x)
{
	for (size_t i = 0; i < x->p->n; i++) {
		files_free(&x->of[i]);
	}
	USK_FREE(x->of, x->met);
}

static void leave_out(struct party *y)
{
	usk_survey_free(&y->survey);
	y->unordered = true;
}

void usk_files_arrange(struct parties *p, bool *those)
{
	struct arranging x = open_all(p, those, false);
	for (size_t i = 0; i < p->n; i++) {
		struct files *f = &x.of[i];
		f->suspect = f->y && (any_falls(&f->y->survey) || contradicted(&x, f, false));
	}
	suspect_by_gaps(&x);
	for (size_t i = 0; i < p->n; i++) {
		if (x.of[i].suspect) {
			take_all(&x, &x.of[i]);
			x.of[i].arranged = arrange(&x.of[i]);
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		if (x.of[i].suspect && !x.of[i].arranged) {
			leave_out(x.of[i].y);
		}
		those[i] = x.of[i].arranged;
	}
	close_all(&x);
}

void usk_files_check(struct parties *p)
{
	bool *arranged = usk_alloc(p->n + 1, sizeof *arranged), any = false;
	for (size_t i = 0; i < p->n; i++) {
		arranged[i] = p->party[i].arranged;
		any = any || arranged[i];
	}
	if (any) {
		struct arranging x = open_all(p, arranged, true);
		for (size_t i = 0; i < p->n; i++) {
			if (x.of[i].y && contradicted(&x, &x.of[i], true)) {
				leave_out(x.of[i].y);
			}
		}
		close_all(&x);
	}
	free(arranged);
}
