/* SPDX-License-Identifier: MIT */
#include "print.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	bool several = false;
	for (size_t i = 0; i < c->n_clocks; i++) {
		several |= headline_of(c, &c->clock[i]).n_stretches > 1;
	}
	const char *const heading[] = { "clock",
					"quality",
					several ? "offset in a stretch (± there)"
						: "offset at the middle (± there)",
					"drift, ppm",
					"sent",
					"received" };
	static const bool right[] = { false, false, false, false, true, true };
	struct table t = table_begin(heading, right, COUNT(heading));
	uint64_t *sent = usk_alloc(c->n_clocks, sizeof *sent);
	uint64_t *received = usk_alloc(c->n_clocks, sizeof *received);
	clock_messages(c, sent, received);
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *clock = &c->clock[i];
		char text[UNIT_TEXT];
		table_own(&t, printable(clock->name));
		table_cell(&t, usk_quality_name(clock->quality));
		headline_offset(c, clock, text);
		table_cell(&t, text);
		table_cell(&t, clock->quality == USK_REFERENCE
				       ? "0"
				       : unit_drift(clock->drift_ppm, clock->drift_min_ppm,
						    clock->drift_max_ppm, text));
		table_count(&t, sent[i]);
		table_count(&t, received[i]);
	}
	free(sent);
	free(received);
	table_print(out, &t);
	if (several) {
		fputs("Offsets are those at the middle of the stretch between steps that has most "
		      "messages.\n",
		      out);
	}
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
	fprintf(out, "Matched %s message%s", unit_count(n->matched, text),
		n->matched == 1 ? "" : "s");
	const char *before = "; left out: ";
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].n) {
			fprintf(out, "%s%s %s", before, unit_count(rows[i].n, text), rows[i].what);
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
			fprintf(out, ", by %s\n", unit_span(p->outlier[k].excess_ns, text));
		}
		if (p->n_outliers > MOST) {
			fprintf(out, "  and %s more, which clocks.json lists\n",
				unit_count(p->n_outliers - MOST, text));
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
	fprintf(out, "%s as recorded, %s (%s) corrected", unit_span(before->median_ns, text[0]),
		unit_span(after->median_ns, text[1]), unit_span(after->p99_ns, text[2]));
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
	fprintf(out, "Broadcasts that two clocks heard: %s, apart by %s as recorded on average",
		unit_count(before->n, text[0]), unit_span(before->mean_ns, text[1]));
	if (after && after->n) {
		fprintf(out, ",\n  %s (%s to %s) corrected", unit_span(after->mean_ns, text[0]),
			unit_at_least(after->min_ns, text[1]),
			unit_at_most(after->max_ns, text[2]));
	}
	fputs(".\n", out);
}

static void print_evaluation(FILE *out, const struct usk_clocks *c)
{
	const struct usk_evaluation *e = &c->evaluation;
	char recorded[UNIT_TEXT], corrected[UNIT_TEXT], best[UNIT_TEXT], worst[UNIT_TEXT];
	fprintf(out, "Received before sent: %s as recorded, %s corrected.",
		unit_count(e->recorded_inversions, recorded),
		unit_count(e->corrected_inversions, corrected));
	if (e->half_best_ns != USK_NONE && e->half_worst_ns != USK_NONE) {
		fprintf(out, " Half widths: %s to %s.", unit_bound(e->half_best_ns, best),
			unit_bound(e->half_worst_ns, worst));
	}
	if (e->too_fast.count && c->min_delay && strcmp(c->min_delay, "0")) {
		fprintf(out, "\nFaster than their minimum delay: %s (%.3f %%).",
			unit_count(e->too_fast.count, recorded), e->too_fast.percent);
	}
	fputc('\n', out);
	print_delays(out, c);
	print_heard(out, &e->heard_recorded, &e->heard_corrected);
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
	print_disturbed(out, c);
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
		unit_at_most(score->outside_ns, outside);
		fprintf(out, "Truth: %s's estimate is off by at most %s; its band ", name,
			unit_at_most(score->worst_ns, worst));
		if (score->outside_ns) {
			fprintf(out, "MISSES the truth by up to %s.\n", outside);
		} else {
			fprintf(out, "holds the truth throughout.\n");
		}
	}
	free(name);
}
