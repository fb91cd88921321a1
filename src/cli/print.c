/* SPDX-License-Identifier: MIT */
/*
 * print.c - an answer for people: the table of clocks, steps, what was left out, how good it is
 *
 * In    the answer
 * Out   tables and sentences
 */
#include "print.h"
#include "base/text.h"

#include <string.h>

struct text stretch_offset(const struct usk_headline *h)
{
	struct text out = { "-" };
	if (h->offset_ns != USK_NONE && h->lo_ns != USK_NONE && h->hi_ns != USK_NONE) {
		out = unit_between(h->offset_ns, h->lo_ns, h->hi_ns);
	} else if (h->lo_ns != USK_NONE) {
		out = text_of("at least %s", unit_offset_at_least(h->lo_ns).s);
	} else if (h->hi_ns != USK_NONE) {
		out = text_of("at most %s", unit_offset_at_most(h->hi_ns).s);
	}
	return out;
}

struct text headline_offset(const struct usk_clocks *c, const struct usk_clock *clock)
{
	if (clock->quality == USK_REFERENCE) {
		return (struct text){ "0" };
	}
	struct usk_headline h = usk_headline_of(c, clock);
	return stretch_offset(&h);
}

struct text clock_drift(const struct usk_clock *k)
{
	return k->quality == USK_REFERENCE
		       ? (struct text){ "0" }
		       : unit_drift(k->drift_ppm, k->drift_min_ppm, k->drift_max_ppm);
}

struct traffic *clock_messages(const struct usk_clocks *c)
{
	struct traffic *of = kept(usk_alloc(c->n_clocks, sizeof *of));
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		of[p->a].sent += p->a_to_b;
		of[p->b].received += p->a_to_b;
		of[p->b].sent += p->b_to_a;
		of[p->a].received += p->b_to_a;
	}
	return of;
}

size_t clocks_that_are(const struct usk_clocks *c, enum usk_quality quality)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		n += c->clock[i].quality == quality;
	}
	return n;
}

static void print_table(FILE *out, const struct usk_clocks *c)
{
	bool several = false;
	for (size_t i = 0; i < c->n_clocks; i++) {
		several |= usk_headline_of(c, &c->clock[i]).n_stretches > 1;
	}
	struct table t =
		table_begin("clock\tquality\toffset %s (± bound)\tdrift, ppm\t>sent\t>received",
			    several ? "between steps" : "mid-trace");
	struct traffic *messages = clock_messages(c);
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		table_add(&t, "%s\t%s\t%s\t%s\t%s\t%s", printable(k->name),
			  usk_quality_name(k->quality), headline_offset(c, k).s, clock_drift(k).s,
			  unit_count(messages[i].sent).s, unit_count(messages[i].received).s);
	}
	table_print(out, &t);
	if (several) {
		fputs("Clocks were stepped: an offset is that in the middle of the stretch between "
		      "steps with the most messages.\n",
		      out);
	}
}

/* Clement's Er, along the path to each clock. */
static void print_residuals(FILE *out, const struct usk_clocks *c)
{
	enum { MOST = 8 };
	size_t n = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		if (k->residual_ns && n++ < MOST) {
			fprintf(out, "%s%s %s",
				n == 1 ? "Residual deviation Er along paths: " : ", ",
				printable(k->name), unit_span(k->residual_ns).s);
			if (k->n_path > 2) {
				fprintf(out, " (%zu jumps)", k->n_path - 1);
			}
		}
	}
	if (n > MOST) {
		fprintf(out, ", and of %zu more clocks, which clocks.json lists", n - MOST);
	}
	fputs(n ? ".\n" : "", out);
}

void print_counts(FILE *out, const struct usk_counts *n)
{
	const struct {
		uint64_t n;
		const char *what;
	} rows[] = {
		{ n->unmatched + n->expired, "without a partner" },
		{ n->ambiguous, "ambiguous" },
		{ n->direction_unknown, "of unknown direction" },
		{ n->outliers, "as outliers" },
		{ n->fragments, "fragments" },
		{ n->not_ip, "not IP" },
		{ n->loopback, "loopback" },
		{ n->cut_short, "cut too short by the snap length" },
		{ n->passed, "more sightings of matched packets" },
		{ n->alike, "indistinguishable" },
	};
	fprintf(out, "Matched %s message%s", unit_count(n->matched).s, n->matched == 1 ? "" : "s");
	const char *before = "; not used: ";
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].n) {
			fprintf(out, "%s%s %s", before, unit_count(rows[i].n).s, rows[i].what);
			before = ", ";
		}
	}
	fputs(".\n", out);
}

void print_notes(FILE *out, char *const *note, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%sNote:%s %s\n", colour(out, "yellow"), colour(out, "off"),
			printable(note[i]));
	}
}

void print_seconds(FILE *out, int64_t ns)
{
	char text[24] = "";
	usk_seconds_text(ns, text);
	fprintf(out, "%s s", text);
}

void print_utc(FILE *out, int64_t ns)
{
	const int64_t year_1980 = INT64_C(315532800000000000),
		      year_2100 = INT64_C(4102444800000000000);
	char text[64];
	if (ns < year_1980 || ns > year_2100) {
		print_seconds(out, ns);
		return;
	}
	usk_time_text(ns, text);
	fprintf(out, "%.10s %.18s UTC", text, text + 11);
}

/* Linux slews a clock by a tenth of the time that passes at most: a step by more than that was none. */
static const char *moved(bool forward, const struct usk_jump *j, int64_t least_ns)
{
	const usk_i128 took = (usk_i128)j->before_local_ns - j->after_local_ns;
	const bool slow = j->epoch == j->end_epoch && (usk_i128)10 * least_ns <= took;
	return forward ? (slow ? "stepped or slewed forward" : "stepped forward")
		       : (slow ? "stepped or slewed backward" : "stepped backward");
}

/* Of a fall whose size messages do not tell records alone say that the clock was set back. */
static bool may_be_late(const struct usk_clock *k, const struct usk_jump *j)
{
	const struct usk_set_back *s = j->epoch < k->n_set_backs ? &k->set_back[j->epoch] : NULL;
	return s && s->from_ns - s->to_ns <= USK_LATEST_NS;
}

/*
 * "a was stepped forward by 1.000 ms +- 90 us". The offset brings a clock to its reference: it
 * falls where that clock is stepped forward, and rises where the reference is.
 */
static void print_what(FILE *out, const struct usk_clocks *c, const struct usk_clock *clock,
		       const struct usk_jump *j)
{
	const struct usk_clock *who = &c->clock[j->of];
	const struct usk_clock *other = who == clock ? &c->clock[clock->reference] : clock;
	const bool either = j->or_of < c->n_clocks && j->or_of != j->of;
	other = either ? &c->clock[j->or_of] : other;
	const char *name = printable(who->name), *second = printable(other->name);
	int64_t lo = j->size_lo_ns, hi = j->size_hi_ns;
	bool rose = lo != USK_NONE && lo > 0, fell = hi != USK_NONE && hi < 0;
	bool open = lo == USK_NONE || hi == USK_NONE, forward = rose == (who != clock);
	int64_t least = rose ? lo : fell ? -hi : 0, most = open ? 0 : rose ? hi : -lo;
	struct text by = !rose && !fell ? (struct text){ "" }
			 : open		? unit_at_least(least)
					: unit_between(least + (most - least) / 2, least, most);
	if (either) {
		fprintf(out,
			j->likely ? "Step, most likely of %s, else of %s"
				  : "Step of %s or %s (messages cannot tell which)",
			name, second);
	}
	if (either && (rose || fell)) {
		fprintf(out, ": %s was %s, or %s %s, by %s%s", name, moved(forward, j, least),
			second, moved(!forward, j, least), by.s, open ? " or more" : "");
	} else if (either) {
		fprintf(out, "%s%s", open ? "" : ", by ",
			open ? "" : text_of("%s at most", unit_at_most(hi > -lo ? hi : -lo).s).s);
	} else if (j->end_epoch != j->epoch && (who == other || (!rose && !fell))) {
		/* The reference, against itself; or without a message on both sides. */
		fprintf(out, "Step: %s was stepped backward%s", name,
			may_be_late(clock, j) ? ", or its records are late" : "");
	} else if (!rose && !fell) {
		fprintf(out, "Step: %s was stepped forward or backward", name);
		if (!open) {
			fprintf(out, " by %s at most", unit_at_most(hi > -lo ? hi : -lo).s);
		}
	} else if (open) {
		fprintf(out, "Step: %s was %s by %s or more", name, moved(forward, j, least), by.s);
	} else {
		fprintf(out, "Step: %s was %s", name, moved(forward, j, least));
		if (!forward && j->end_epoch == j->epoch) {
			fputs(", or stood still (suspended),", out);
		}
		fprintf(out, " by %s", by.s);
	}
}

static void print_jump(FILE *out, const struct usk_clocks *c, const struct usk_clock *clock,
		       const struct usk_jump *j, void (*time)(FILE *out, int64_t ns))
{
	bool repeats = j->end_epoch != j->epoch;
	/* What is known of it may begin behind the step, or end before it. */
	bool fell = repeats && j->before_local_ns < j->after_local_ns;
	print_what(out, c, clock, j);
	fputs(fell ? ",\n  from " : ",\n  between ", out);
	time(out, j->after_local_ns);
	fputs(fell ? " to " : " and ", out);
	time(out, j->before_local_ns);
	if (!fell) {
		fprintf(out, " on the clock of %s", printable(clock->name));
	}
	if (repeats) {
		fprintf(out, "; its stamps repeat, so those after the step are called its epoch %u",
			j->epoch + 1);
	}
	fputs(".\n", out);
}

/* Is one the other the other way round? What is not known is so either way. */
static bool mirrored(int64_t a, int64_t b)
{
	return a == USK_NONE || b == USK_NONE ? a == b : a == -b;
}

/* A jump of the reference in its own entry that another clock's entry has, too. */
static bool told_elsewhere(const struct usk_clocks *c, uint32_t reference, const struct usk_jump *j)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t n = 0; n < k->n_jumps && k->reference == reference && i != reference;
		     n++) {
			const struct usk_jump *x = &k->jump[n];
			if (x->kind == USK_JUMP && x->of == reference &&
			    x->size_lo_ns != USK_NONE && mirrored(x->size_lo_ns, j->size_hi_ns) &&
			    mirrored(x->size_hi_ns, j->size_lo_ns)) {
				return true;
			}
		}
	}
	return false;
}

void print_jumps(FILE *out, const struct usk_clocks *c, void (*time)(FILE *out, int64_t ns))
{
	enum { MOST = 8 }; /* not every bend: there may be hundreds, and clocks.json lists them */
	size_t jumps = 0, bends = 0;
	const struct usk_clock *told = NULL; /* whose entry tells of the reference's jumps */
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t n = 0; n < k->n_jumps; n++) {
			const struct usk_jump *j = &k->jump[n];
			bool itself = j->of == i;
			told = told || itself ? told : k;
			bends += j->kind == USK_BEND;
			/* Every clock's offset shows what the reference did. */
			if (j->kind != USK_JUMP ||
			    (itself ? k->quality == USK_REFERENCE &&
					      told_elsewhere(c, (uint32_t)i, j)
				    : told != k)) {
				continue;
			}
			if (jumps++ < MOST) {
				print_jump(out, c, k, j, time);
			}
		}
	}
	if (jumps > MOST) {
		fprintf(out, "  and %zu more steps, listed in clocks.json.\n", jumps - MOST);
	}
	if (bends) {
		fprintf(out, "Rate changes without a step: %zu, listed in clocks.json.\n", bends);
	}
}

static void print_islands(FILE *out, const struct usk_clocks *c)
{
	/* Of two clocks a note says it already. */
	if (c->n_islands < 2 || c->n_clocks < 3) {
		return;
	}
	fputs("Groups of clocks that no message in use connects:", out);
	for (size_t i = 0; i < c->n_islands; i++) {
		const struct usk_island *island = &c->island[i];
		fputs(i ? "; " : " ", out);
		for (size_t k = 0; k < island->n_clocks; k++) {
			fprintf(out, "%s%s", k ? ", " : "",
				printable(c->clock[island->clock[k]].name));
		}
	}
	fputs(".\n", out);
}

static void print_direction(FILE *out, const struct usk_delays *before,
			    const struct usk_delays *after)
{
	fprintf(out, "%s as recorded, %s (%s) corrected", unit_span(before->median_ns).s,
		unit_span(after->median_ns).s, unit_span(after->p99_ns).s);
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
		fprintf(out, "One-way delays, median (99 %%): %s -> %s ",
			printable(c->clock[p->a].name), printable(c->clock[p->b].name));
		print_direction(out, &p->recorded_a_to_b, &p->corrected_a_to_b);
		fputs(";\n  back ", out);
		print_direction(out, &p->recorded_b_to_a, &p->corrected_b_to_a);
		fputs(".\n", out);
	}
}

void print_broadcasts(FILE *out, const struct usk_difference *before,
		      const struct usk_difference *after)
{
	if (!before->n) {
		return;
	}
	fprintf(out,
		"Common-view broadcasts (one packet received by both clocks): %s; the two receipts "
		"differ by %s as recorded on average",
		unit_count(before->n).s, unit_span(before->mean_ns).s);
	if (after && after->n) {
		fprintf(out, ",\n  %s (%s to %s) corrected", unit_span(after->mean_ns).s,
			unit_at_least(after->min_ns).s, unit_at_most(after->max_ns).s);
	}
	fputs(".\n", out);
}

/* A stamp that was rounded down may be of a later moment: it is that one which is in order. */
static void print_rounded_stamps(FILE *out, const struct usk_clocks *c)
{
	int64_t least = 0;
	uint32_t whose = 0;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		const int64_t delay[] = { p->min_delay_a_to_b_ns, p->min_delay_b_to_a_ns };
		const uint32_t to[] = { p->b, p->a };
		for (int k = 0; k < 2; k++) {
			if (delay[k] != USK_NONE && delay[k] < least &&
			    -delay[k] <= c->clock[to[k]].resolution_ns) {
				least = delay[k];
				whose = to[k];
			}
		}
	}
	if (least < -1) {
		fprintf(out,
			"Stamps of %s have a resolution of %s: corrected messages to it may still "
			"violate\n"
			"causality, by %s at most.\n",
			printable(c->clock[whose].name), unit_span(c->clock[whose].resolution_ns).s,
			unit_bound(-least).s);
	}
}

/* For how long bands of clocks that have any are open. */
static void print_open(FILE *out, const struct usk_clocks *c)
{
	double span = 0, open = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		struct usk_widths w = usk_band_widths(&c->clock[i]);
		if (c->clock[i].quality == USK_BOUNDED && w.best_ns != USK_NONE) {
			span += (double)w.span_ns;
			open += (double)w.open_ns;
		}
	}
	if (open > 0) {
		fprintf(out, "\nFor %.2g %% of the time a side has no bound, which is not in that.",
			100 * open / span);
	}
}

static void print_evaluation(FILE *out, const struct usk_clocks *c)
{
	const struct usk_evaluation *e = &c->evaluation;
	fprintf(out, "Causality violations (received before sent): %s before correction, %s after",
		unit_count(e->recorded_inversions).s, unit_count(e->corrected_inversions).s);
	if (e->outlier_inversions) {
		fprintf(out, ", and %s among the outliers", unit_count(e->outlier_inversions).s);
	}
	fputc('.', out);
	if (e->half_best_ns != USK_NONE && e->half_worst_ns != USK_NONE) {
		fprintf(out,
			"\nUncertainty over the trace: \xc2\xb1%s to \xc2\xb1%s, \xc2\xb1%s on "
			"average.",
			unit_bound(e->half_best_ns).s, unit_bound(e->half_worst_ns).s,
			unit_bound(e->half_mean_ns).s);
		print_open(out, c);
	}
	if (e->too_fast.count && c->min_delay && strcmp(c->min_delay, "0")) {
		fprintf(out, "\nFaster than their minimum delay: %s (%.3f %%).",
			unit_count(e->too_fast.count).s, e->too_fast.percent);
	}
	fputc('\n', out);
	print_rounded_stamps(out, c);
	print_delays(out, c);
	print_broadcasts(out, &e->broadcasts_recorded, &e->broadcasts_corrected);
}

void print_clocks(FILE *out, const struct usk_clocks *c, const struct located *where)
{
	bool bounded = clocks_that_are(c, USK_BOUNDED) > 0;
	print_table(out, c);
	fputc('\n', out);
	print_residuals(out, c);
	print_counts(out, &c->counts);
	if (bounded) {
		print_evaluation(out, c);
	}
	print_jumps(out, c, print_seconds);
	print_disturbed(out, c);
	print_islands(out, c);
	print_outliers(out, c, where);
	print_notes(out, c->note, c->n_notes);
	if (bounded || clocks_that_are(c, USK_ONE_SIDED)) {
		print_model(out, c);
	}
}
