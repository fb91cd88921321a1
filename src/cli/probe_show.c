/* SPDX-License-Identifier: MIT */
/* Rounds and totals of `unskew probe`, for people and as JSON: a line for each round. */
#include "json.h"
#include "probe.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

static const char *state_of(const struct probe_line *line, const struct usk_probe_round *round)
{
	return !round->known		       ? "no answer"
	       : line->news == USK_PROBE_SET   ? "a clock was set"
	       : !round->spaced		       ? "rough"
	       : line->news == USK_PROBE_WORSE ? "kept"
					       : "new";
}

static void round_json(FILE *out, const struct probe_line *line,
		       const struct usk_probe_round *round)
{
	bool known = line->known;
	json_t *j = json_pack("{s:I,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I}", "round",
			      (json_int_t)line->number, "state", state_of(line, round), "there_ns",
			      json_ns(known ? line->there_ns : USK_NONE), "here_ns",
			      json_ns(known ? line->here_ns : USK_NONE), "offset_ns",
			      json_ns(known ? line->here_ns - line->there_ns : USK_NONE),
			      "precision_ns", json_ns(known ? line->precision_ns : USK_NONE),
			      "drift_ppm", json_number(line->drift_ppm), "drift_error_ppm",
			      json_number(line->drift_error_ppm), "age_ns",
			      json_ns(known ? line->age_ns : USK_NONE), "round_trip_ns",
			      json_ns(round->trip_ns), "attempts", (json_int_t)round->attempts,
			      "answered", (json_int_t)round->answered, "lost",
			      (json_int_t)round->lost, "kept", (json_int_t)round->n_kept);
	json_print(out, j, JSON_COMPACT);
}

static void round_text(FILE *out, const struct probe_line *line,
		       const struct usk_probe_round *round)
{
	struct text offset = { "-" }, drift = { "-" };
	if (line->known) {
		int64_t o = line->here_ns - line->there_ns, p = line->precision_ns;
		offset = unit_between(o, usk_saturate((usk_i128)o - p),
				      usk_saturate((usk_i128)o + p));
		drift = unit_drift(line->drift_ppm, line->drift_ppm - line->drift_error_ppm,
				   line->drift_ppm + line->drift_error_ppm);
	}
	fprintf(out, "%llu: offset %s, drift %s ppm, round trip %s",
		(unsigned long long)line->number, offset.s, drift.s, unit_span(round->trip_ns).s);
	const char *state = state_of(line, round);
	if (strcmp(state, "new") && strcmp(state, "kept")) {
		fprintf(out, " (%s)", state);
	}
	if (line->known && line->age_ns > 0) {
		fprintf(out, "; from an exchange %s ago", unit_span(line->age_ns).s);
	}
	fputc('\n', out);
}

void probe_show_round(FILE *out, bool json, const struct probe_line *line,
		      const struct usk_probe_round *round)
{
	(json ? round_json : round_text)(out, line, round);
	fflush(out);
}

/* ---- totals -------------------------------------------------------------------------- */

/* Rounds may go on for years, and what is kept of them is bounded. */
static void add_precision(struct probe_total *t, int64_t ns)
{
	t->best_ns = t->seen && t->best_ns < ns ? t->best_ns : ns;
	t->worst_ns = t->seen && t->worst_ns > ns ? t->worst_ns : ns;
	t->stride = t->stride ? t->stride : 1;
	if (t->seen++ % t->stride) {
		return;
	}
	if (t->n == PROBE_KEPT) {
		for (size_t i = 0; i < PROBE_KEPT / 2; i++) {
			t->precision_ns[i] = t->precision_ns[2 * i];
		}
		t->n = PROBE_KEPT / 2;
		t->stride *= 2;
	}
	t->precision_ns[t->n++] = ns;
}

void probe_total_add(struct probe_total *t, const struct probe_line *line,
		     const struct usk_probe_round *round)
{
	t->rounds++;
	t->answered += round->known;
	t->spaced += round->spaced;
	t->attempts += round->attempts;
	t->sent += round->sent;
	t->lost += round->lost;
	t->exchanges += round->answered;
	t->kept += round->n_kept;
	t->set += line->news == USK_PROBE_SET;
	for (int side = 0; side < 2; side++) {
		for (int k = 0; k <= USK_PROBE_CARD; k++) {
			t->kind[side][k] += round->kind[side][k];
		}
	}
	if (line->known) {
		add_precision(t, line->precision_ns);
	}
}

static json_t *kinds_json(const uint64_t kind[USK_PROBE_CARD + 1])
{
	json_t *j = json_object();
	for (int k = 0; k <= USK_PROBE_CARD; k++) {
		json_object_set_new(j, usk_probe_kind_name((enum usk_probe_kind)k),
				    json_integer((json_int_t)kind[k]));
	}
	return j;
}

static void total_json(FILE *out, const struct probe_total *t, int64_t median)
{
	json_t *j = json_pack("{s:i,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:{s:o,s:o},s:{"
			      "s:I,s:I,s:I,s:I},s:{s:o,s:o,s:o}}",
			      "unskew_probe", 1, "here", json_shown(t->here), "there",
			      json_shown(t->there), "table", json_shown(t->table), "rounds",
			      (json_int_t)t->rounds, "answered", (json_int_t)t->answered, "spaced",
			      (json_int_t)t->spaced, "attempts", (json_int_t)t->attempts, "sent",
			      (json_int_t)t->sent, "lost", (json_int_t)t->lost, "exchanges",
			      (json_int_t)t->exchanges, "kept", (json_int_t)t->kept, "set",
			      (json_int_t)t->set, "stamps", "here", kinds_json(t->kind[0]), "there",
			      kinds_json(t->kind[1]), "refused", "malformed",
			      (json_int_t)t->count[USK_PROBE_NOT_OURS], "forged",
			      (json_int_t)t->count[USK_PROBE_NOT_SEALED], "not_asked",
			      (json_int_t)t->count[USK_PROBE_NOT_ASKED], "impossible",
			      (json_int_t)t->count[USK_PROBE_NOT_POSSIBLE], "precision_ns", "best",
			      json_ns(t->n ? t->best_ns : USK_NONE), "median", json_ns(median),
			      "worst", json_ns(t->n ? t->worst_ns : USK_NONE));
	json_print(out, j, JSON_COMPACT);
}

/* "kernel 12, process 3" */
static void print_kinds(FILE *out, const uint64_t kind[USK_PROBE_CARD + 1])
{
	const char *comma = "";
	for (int k = USK_PROBE_CARD; k >= 0; k--) {
		if (kind[k]) {
			fprintf(out, "%s%s %s", comma, unit_count(kind[k]).s,
				usk_probe_kind_name((enum usk_probe_kind)k));
			comma = ", ";
		}
	}
	fputs(*comma ? "" : "none", out);
}

static void total_text(FILE *out, const struct probe_total *t, int64_t median_ns)
{
	fprintf(out, "\nRounds: %s, %s answered, %s with a pair that kept its spacing.\n",
		unit_count(t->rounds).s, unit_count(t->answered).s, unit_count(t->spaced).s);
	fprintf(out,
		"Exchanges: %s, %s lost, %s kept%s%s.\nStamps here: ", unit_count(t->exchanges).s,
		unit_count(t->lost).s, unit_count(t->kept).s, t->table ? " in " : "",
		t->table ? t->table : "");
	print_kinds(out, t->kind[0]);
	fputs("; there: ", out);
	print_kinds(out, t->kind[1]);
	fprintf(out, ".\nPrecision at the rounds: %s at best, median %s, %s at worst.\n",
		unit_bound(t->n ? t->best_ns : USK_NONE).s, unit_bound(median_ns).s,
		unit_bound(t->n ? t->worst_ns : USK_NONE).s);
	if (t->set) {
		fprintf(out,
			"A clock was stepped, or its rate changed by more than --allowance-ppm: %s "
			"times.\n",
			unit_count(t->set).s);
	}
	const uint64_t *n = t->count;
	if (n[USK_PROBE_NOT_OURS] + n[USK_PROBE_NOT_SEALED] + n[USK_PROBE_NOT_ASKED] +
	    n[USK_PROBE_NOT_POSSIBLE]) {
		fprintf(out,
			"Refused: %s malformed, %s forged, %s not asked for (late, twice or "
			"replayed), %s impossible.\n",
			unit_count(n[USK_PROBE_NOT_OURS]).s, unit_count(n[USK_PROBE_NOT_SEALED]).s,
			unit_count(n[USK_PROBE_NOT_ASKED]).s,
			unit_count(n[USK_PROBE_NOT_POSSIBLE]).s);
	}
}

void probe_show_total(FILE *out, bool json, struct probe_total *t)
{
	if (t->n) {
		qsort(t->precision_ns, t->n, sizeof *t->precision_ns, usk_by_int64);
	}
	(json ? total_json : total_text)(out, t, t->n ? t->precision_ns[(t->n - 1) / 2] : USK_NONE);
}

void probe_show_served(FILE *out, bool json, const struct usk_probe_counts *c)
{
	static const char *const name[] = { "answered", "welcomed", "malformed",
					    "forged",	"replayed", "limited" };
	if (json) {
		json_t *j = json_pack("{s:i}", "unskew_probe_served", 1);
		for (int i = 0; i < USK_PROBE_VERDICTS; i++) {
			json_object_set_new(j, name[i], json_integer((json_int_t)c->verdict[i]));
		}
		json_object_set_new(j, "unsent", json_integer((json_int_t)c->unsent));
		json_object_set_new(j, "arrivals", kinds_json(c->kind[0]));
		json_object_set_new(j, "departures", kinds_json(c->kind[1]));
		json_print(out, j, JSON_COMPACT);
		return;
	}
	for (int i = 0; i < USK_PROBE_VERDICTS; i++) {
		fprintf(out, "%s%s %s", i ? ", " : "", unit_count(c->verdict[i]).s, name[i]);
	}
	fprintf(out, ", %s unsent.\nStamps of arrivals: ", unit_count(c->unsent).s);
	print_kinds(out, c->kind[0]);
	fputs("; of departures: ", out);
	print_kinds(out, c->kind[1]);
	fputs(".\n", out);
}
