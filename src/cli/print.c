/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "units.h"
#include "write/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a clock that was put back: beyond an epoch's ends its line says nothing. */
static size_t longest_epoch(const struct usk_clock *clock, int64_t *middle_ns)
{
	uint64_t longest = 0;
	uint32_t epoch = clock->knot[0].epoch;
	*middle_ns = clock->knot[0].local_ns;
	for (size_t i = 0, j; i < clock->n_knots; i = j) {
		for (j = i + 1;
		     j < clock->n_knots && clock->knot[j].epoch == clock->knot[i].epoch;) {
			j++;
		}
		int64_t first = clock->knot[i].local_ns, last = clock->knot[j - 1].local_ns;
		uint64_t span = (uint64_t)last - (uint64_t)first;
		if (span > longest) {
			longest = span;
			epoch = clock->knot[i].epoch;
			*middle_ns = first + (int64_t)(span / 2);
		}
	}
	return epoch;
}

void offset_at_middle(const struct usk_clocks *c, const struct usk_clock *clock,
		      char out[UNIT_TEXT])
{
	strcpy(out, clock->quality == USK_REFERENCE ? "0" : "-");
	if (clock->quality == USK_REFERENCE || clock->n_knots < 2) {
		return;
	}
	int64_t middle;
	size_t epoch = longest_epoch(clock, &middle);
	struct usk_replay *maps = usk_replay_new(clock, c->max_skew_e12);
	const struct usk_map *map = maps ? usk_replay_map(maps, epoch) : NULL;
	struct usk_stamp s;
	char side[UNIT_TEXT];
	if (!map || usk_map_at(map, middle, &s, NULL)) {
		usk_replay_free(maps);
		return;
	}
	if (s.reference_ns != USK_NONE && s.lo_ns != USK_NONE && s.hi_ns != USK_NONE) {
		unit_between(s.reference_ns - middle, s.lo_ns - middle, s.hi_ns - middle, out);
	} else if (s.lo_ns != USK_NONE) {
		unit_span(s.lo_ns - middle, side);
		snprintf(out, UNIT_TEXT, "at least %.40s", side);
	} else if (s.hi_ns != USK_NONE) {
		unit_span(s.hi_ns - middle, side);
		snprintf(out, UNIT_TEXT, "at most %.40s", side);
	}
	usk_replay_free(maps);
}

void clock_messages(const struct usk_clocks *c, uint64_t *sent, uint64_t *received)
{
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		sent[p->a] += p->a_to_b;
		received[p->b] += p->a_to_b;
		sent[p->b] += p->b_to_a;
		received[p->a] += p->b_to_a;
	}
}

static void print_table(FILE *out, const struct usk_clocks *c)
{
	static const char *const heading[] = { "clock",	     "quality", "offset at the middle",
					       "drift, ppm", "sent",	"received" };
	static const bool right[] = { false, false, false, false, true, true };
	struct table t = { .columns = COUNT(heading), .right = right };
	uint64_t *sent = usk_alloc(c->n_clocks, sizeof *sent);
	uint64_t *received = usk_alloc(c->n_clocks, sizeof *received);
	clock_messages(c, sent, received);
	for (size_t i = 0; i < COUNT(heading); i++) {
		table_cell(&t, heading[i]);
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *clock = &c->clock[i];
		char text[UNIT_TEXT];
		char *name = printable(clock->name);
		table_cell(&t, name);
		free(name);
		table_cell(&t, usk_quality_name(clock->quality));
		offset_at_middle(c, clock, text);
		table_cell(&t, text);
		if (clock->quality == USK_REFERENCE) {
			strcpy(text, "0");
		} else {
			unit_drift(clock->drift_ppm, clock->drift_min_ppm, clock->drift_max_ppm,
				   text);
		}
		table_cell(&t, text);
		unit_count(sent[i], text);
		table_cell(&t, text);
		unit_count(received[i], text);
		table_cell(&t, text);
	}
	free(sent);
	free(received);
	table_print(out, &t);
}

void print_counts(FILE *out, const struct usk_counts *n)
{
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ n->unmatched, "unmatched" },	   { n->ambiguous, "ambiguous" },
		{ n->expired, "expired" },	   { n->direction_unknown, "of unknown direction" },
		{ n->outliers, "as outliers" },	   { n->fragments, "fragments" },
		{ n->not_ip, "not IP" },	   { n->loopback, "loopback" },
		{ n->cut_short, "cut too short" },
	};
	char text[UNIT_TEXT];
	unit_count(n->matched, text);
	fprintf(out, "Matched %s message%s", text, n->matched == 1 ? "" : "s");
	const char *before = "; left out: ";
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].n) {
			unit_count(rows[i].n, text);
			fprintf(out, "%s%s %s", before, text, rows[i].what);
			before = ", ";
		}
	}
	fputs(".\n", out);
}

void print_notes(FILE *out, const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_notes; i++) {
		char *text = printable(c->note[i]);
		fprintf(out, "%sNote:%s %s\n", colour(out, "yellow"), colour(out, "off"), text);
		free(text);
	}
}

static void print_message(FILE *out, const struct usk_clocks *c, const struct usk_msg *m)
{
	char *from = printable(c->clock[m->from].name), *to = printable(c->clock[m->to].name);
	fprintf(out, "  %s -> %s, sent %lld, received %lld", from, to, (long long)m->sent_ns,
		(long long)m->received_ns);
	free(from);
	free(to);
}

/* Messages that no clock of the model explains: those left out, those that forbid an answer. */
static void print_guilty(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 5 };
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		char text[UNIT_TEXT];
		char *a = printable(c->clock[p->a].name), *b = printable(c->clock[p->b].name);
		if (p->n_contradiction) {
			fprintf(out,
				"No clock of this model fits %s and %s; these messages "
				"contradict each other:\n",
				a, b);
		}
		for (size_t k = 0; k < p->n_contradiction; k++) {
			print_message(out, c, &p->contradiction[k]);
			fputc('\n', out);
		}
		if (p->n_outliers) {
			fprintf(out, "Left out between %s and %s, against all others:\n", a, b);
		}
		for (size_t k = 0; k < p->n_outliers && k < MOST; k++) {
			print_message(out, c, &p->outlier[k].msg);
			unit_span(p->outlier[k].excess_ns, text);
			fprintf(out, ", by %s\n", text);
		}
		if (p->n_outliers > MOST) {
			unit_count(p->n_outliers - MOST, text);
			fprintf(out, "  and %s more, which clocks.json lists\n", text);
		}
		free(a);
		free(b);
	}
}

static void print_islands(FILE *out, const struct usk_clocks *c)
{
	/* Of two clocks a note says it already. */
	if (c->n_islands < 2 || c->n_clocks < 3) {
		return;
	}
	fprintf(out, "Tied by messages with the reference, or alone (chains are not followed; "
		     "--reference names another):");
	for (size_t i = 0; i < c->n_islands; i++) {
		const struct usk_island *island = &c->island[i];
		fputs(i ? "; " : " ", out);
		for (size_t k = 0; k < island->n_clocks; k++) {
			char *name = printable(c->clock[island->clock[k]].name);
			fprintf(out, "%s%s", k ? ", " : "", name);
			free(name);
		}
	}
	fputs(".\n", out);
}

static void print_direction(FILE *out, const struct usk_delays *before,
			    const struct usk_delays *after)
{
	char text[3][UNIT_TEXT];
	unit_span(before->median_ns, text[0]);
	unit_span(after->median_ns, text[1]);
	unit_span(after->p99_ns, text[2]);
	fprintf(out, "%s as recorded, %s (%s) corrected", text[0], text[1], text[2]);
}

/* One-way delays before and after, of so many pairs as one wants to read. */
static void print_delays(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 4 };
	for (size_t i = 0; i < c->n_pairs && c->n_pairs <= MOST; i++) {
		const struct usk_pair *p = &c->pair[i];
		if (!p->corrected_a_to_b.n || !p->corrected_b_to_a.n) {
			continue;
		}
		char *a = printable(c->clock[p->a].name), *b = printable(c->clock[p->b].name);
		fprintf(out, "Delays, median (99 %%): %s -> %s ", a, b);
		print_direction(out, &p->recorded_a_to_b, &p->corrected_a_to_b);
		fputs(";\n  back ", out);
		print_direction(out, &p->recorded_b_to_a, &p->corrected_b_to_a);
		fputs(".\n", out);
		free(a);
		free(b);
	}
}

void print_heard(FILE *out, const struct usk_difference *before, const struct usk_difference *after)
{
	char text[3][UNIT_TEXT];
	if (!before->n) {
		return;
	}
	unit_count(before->n, text[0]);
	unit_span(before->mean_ns, text[1]);
	fprintf(out, "Broadcasts that two clocks heard: %s, apart by %s as recorded on average",
		text[0], text[1]);
	if (after && after->n) {
		unit_span(after->mean_ns, text[0]);
		unit_span(after->min_ns, text[1]);
		unit_span(after->max_ns, text[2]);
		fprintf(out, ",\n  %s (%s to %s) corrected", text[0], text[1], text[2]);
	}
	fputs(".\n", out);
}

static void print_evaluation(FILE *out, const struct usk_clocks *c)
{
	const struct usk_evaluation *e = &c->evaluation;
	char recorded[UNIT_TEXT], corrected[UNIT_TEXT], best[UNIT_TEXT], worst[UNIT_TEXT];
	unit_count(e->recorded_inversions, recorded);
	unit_count(e->corrected_inversions, corrected);
	fprintf(out, "Received before sent: %s as recorded, %s corrected.", recorded, corrected);
	if (e->half_best_ns != USK_NONE && e->half_worst_ns != USK_NONE) {
		unit_bound(e->half_best_ns, best);
		unit_bound(e->half_worst_ns, worst);
		fprintf(out, " Half widths: %s to %s.", best, worst);
	}
	if (e->too_fast.count && c->min_delay && strcmp(c->min_delay, "0")) {
		unit_count(e->too_fast.count, recorded);
		fprintf(out, "\nFaster than their minimum delay: %s (%.3f %%).", recorded,
			e->too_fast.percent);
	}
	fputc('\n', out);
	print_delays(out, c);
	print_heard(out, &e->heard_recorded, &e->heard_corrected);
}

/* 500000000 parts per 10^12 as "500". */
static void ppm_text(int64_t e12, char out[UNIT_TEXT])
{
	snprintf(out, UNIT_TEXT, "%lld.%06lld", (long long)(e12 / 1000000),
		 (long long)(e12 % 1000000));
	size_t n = strlen(out);
	while (out[n - 1] == '0') {
		out[--n] = 0;
	}
	if (out[n - 1] == '.') {
		out[n - 1] = 0;
	}
}

/* What the bands rest on. */
void print_model(FILE *out, const struct usk_clocks *c)
{
	char skew[UNIT_TEXT], wander[UNIT_TEXT], segment[UNIT_TEXT];
	const char *delay = !c->min_delay || !strcmp(c->min_delay, "0") ? "0 ns" : c->min_delay;
	ppm_text(c->max_skew_e12, skew);
	ppm_text(c->model.wander_e12, wander);
	unit_span(c->model.segment_ns, segment);
	switch (c->model.kind) {
	case USK_LINEAR:
		fprintf(out,
			"Model linear: every clock keeps one rate, no two differ by more than %s "
			"ppm, no message takes\nless",
			skew);
		break;
	case USK_WANDER:
		fprintf(out,
			"Model wander: the rate of each pair is constant within %s ppm, no two "
			"clocks differ by more than\n%s ppm, no message takes less",
			wander, skew);
		break;
	case USK_SEGMENTS:
		fprintf(out,
			"Model segments: every clock keeps one rate for %s, no two differ by more "
			"than %s ppm,\nno message takes less",
			c->model.segment_ns ? segment : "as long as one fits", skew);
		break;
	}
	fprintf(out, " than its minimum delay (%s). The bands hold if that does.\n", delay);
}

void print_clocks(FILE *out, const struct usk_clocks *c)
{
	bool bounded = false, banded = false;
	for (size_t i = 0; i < c->n_clocks; i++) {
		bounded |= c->clock[i].quality == USK_BOUNDED;
		banded |=
			c->clock[i].quality == USK_BOUNDED || c->clock[i].quality == USK_ONE_SIDED;
	}
	print_table(out, c);
	fputc('\n', out);
	print_counts(out, &c->counts);
	if (bounded) {
		print_evaluation(out, c);
	}
	print_jumps(out, c);
	print_islands(out, c);
	print_guilty(out, c);
	print_notes(out, c);
	if (!banded) {
		return;
	}
	print_model(out, c);
}

void print_score(FILE *out, const struct usk_clock *clock, const struct truth_score *score)
{
	char *name = printable(clock->name);
	char worst[UNIT_TEXT], outside[UNIT_TEXT];
	if (!score->known) {
		fprintf(out,
			"Truth: nothing to compare for %s: it has no correction, or the truth "
			"knows it by another name.\n",
			name);
	} else {
		unit_span(score->worst_ns, worst);
		unit_span(score->outside_ns, outside);
		fprintf(out, "Truth: %s's estimate is off by at most %s; its band ", name, worst);
		if (score->outside_ns) {
			fprintf(out, "MISSES the truth by up to %s.\n", outside);
		} else {
			fprintf(out, "holds the truth throughout.\n");
		}
	}
	free(name);
}
