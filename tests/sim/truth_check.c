/* SPDX-License-Identifier: MIT */
#include "truth_check.h"
#include "band.h"

#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 1000

static int64_t text_ns(const json_t *j)
{
	return json_is_string(j) ? strtoll(json_string_value(j), NULL, 10) : USK_NONE;
}

/* ---- the band ------------------------------------------------------------------------ */

static struct usk_knot *knots_read(const json_t *clock, size_t *n, char why[512])
{
	json_t *list = json_object_get(clock, "knots");
	*n = json_array_size(list);
	struct usk_knot *knots = usk_alloc(*n + 1, sizeof *knots);
	for (size_t i = 0; i < *n; i++) {
		json_t *knot = json_array_get(list, i);
		struct usk_knot *k = &knots[i];
		*k = (struct usk_knot){
			.local_ns = text_ns(json_object_get(knot, "local_ns")),
			.lo_ns = text_ns(json_object_get(knot, "lo_ns")),
			.offset_ns = text_ns(json_object_get(knot, "offset_ns")),
			.hi_ns = text_ns(json_object_get(knot, "hi_ns")),
			.epoch = (uint32_t)json_integer_value(json_object_get(knot, "epoch")),
		};
		bool in_order = !i || (k->epoch == k[-1].epoch ? k->local_ns > k[-1].local_ns
							       : k->epoch > k[-1].epoch);
		if (!in_order || k->local_ns == USK_NONE || k->lo_ns == USK_NONE ||
		    k->hi_ns == USK_NONE || k->offset_ns < k->lo_ns || k->offset_ns > k->hi_ns) {
			snprintf(why, 512, "knot %zu is not in order or not in its band", i);
		}
	}
	if (*n < 2) {
		snprintf(why, 512, "%zu knots", *n);
	}
	return knots;
}

static struct usk_slopes slopes_read(json_t *clock, const char *key)
{
	json_t *o = json_object_get(clock, key);
	return (struct usk_slopes){
		llround(json_number_value(json_object_get(o, "least_ppm")) * 1e6),
		llround(json_number_value(json_object_get(o, "most_ppm")) * 1e6)
	};
}

struct answer {
	const struct usk_clock *clock;
	int64_t max_skew_e12;
	bool swapped; /* the clock is host0 */
};

static bool check_moments(const struct answer *a, const struct true_clocks *t, uint64_t seed,
			  bool strict, double *width_ns, char why[512])
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	const struct sim_clock *reference = &t->clock[a->swapped], *clock = &t->clock[!a->swapped];
	int64_t allowed = t->resolution_ns;
	double width = 0;
	for (int i = 0; i < MOMENTS; i++) {
		uint64_t span = (uint64_t)(t->end_ns - t->start_ns) + 1;
		int64_t at = t->start_ns + (int64_t)usk_rng_below(&r, span);
		int64_t y = sim_clock_read(clock, at);
		int64_t truth = sim_clock_read(reference, at) - y;
		struct band b = band_of(a->clock, true_epoch(clock, at), a->max_skew_e12);
		if (b.n < 2) {
			snprintf(why, 512, "no knots for epoch %u", true_epoch(clock, at));
			return false;
		}
		int64_t lo = band_at(&b, y, BAND_LO), hi = band_at(&b, y, BAND_HI);
		if (truth < lo - allowed || truth > hi + allowed) {
			snprintf(why, 512,
				 "at local %lld the true offset %lld is %lld ns outside [%lld, "
				 "%lld]",
				 (long long)y, (long long)truth,
				 (long long)(truth < lo ? lo - truth : truth - hi), (long long)lo,
				 (long long)hi);
			return false;
		}
		int64_t error = llabs(band_at(&b, y, BAND_OFFSET) - truth);
		bool inside = y >= b.knot[0].local_ns && y <= b.knot[b.n - 1].local_ns;
		if (strict && inside && 4 * error > hi - lo) {
			snprintf(
				why, 512,
				"at local %lld the estimate is wrong by %lld ns, the half width is "
				"%lld ns",
				(long long)y, (long long)error, (long long)(hi - lo) / 2);
			return false;
		}
		width += ((double)hi - (double)lo) / 2;
	}
	*width_ns = width / MOMENTS;
	return true;
}

bool check_band(const char *json_path, const struct true_clocks *t, uint64_t seed, bool strict,
		double *width_ns, char why[512])
{
	json_error_t error;
	json_t *j = json_load_file(json_path, 0, &error);
	if (!j) {
		snprintf(why, 512, "clocks.json: line %d: %s", error.line, error.text);
		return false;
	}
	json_t *skew = json_object_get(json_object_get(j, "model"), "max_skew_ppm"), *clock;
	int64_t max_skew_e12 = (int64_t)(json_number_value(skew) * 1e6 + 0.5);
	size_t i;
	bool good = true, seen = false;
	json_array_foreach(json_object_get(j, "clocks"), i, clock)
	{
		const char *quality = json_string_value(json_object_get(clock, "quality"));
		const char *name = json_string_value(json_object_get(clock, "name"));
		if (good && !strcmp(quality, "bounded")) {
			seen = true;
			struct usk_clock k = { .before = slopes_read(clock, "before"),
					       .after = slopes_read(clock, "after") };
			k.knot = knots_read(clock, &k.n_knots, why);
			struct answer a = { &k, max_skew_e12, !strcmp(name, t->name[0]) };
			good = !*why && check_moments(&a, t, seed, strict, width_ns, why);
			free(k.knot);
		} else if (good && strcmp(quality, "reference") != 0) {
			good = false;
			snprintf(why, 512, "%s is %s", name, quality);
		}
	}
	if (good && !seen) {
		good = false;
		snprintf(why, 512, "no clock is bounded");
	}
	json_t *corrected = json_object_get(json_object_get(j, "evaluation"), "corrected");
	json_t *inversions = json_object_get(corrected, "inversions");
	if (good && (!json_is_integer(inversions) || json_integer_value(inversions))) {
		good = false;
		snprintf(why, 512, "%lld inversions after correction",
			 (long long)json_integer_value(inversions));
	}
	json_decref(j);
	return good;
}

/* ---- the messages ------------------------------------------------------------------------ */

struct row {
	int64_t sent_ns, received_ns;
	int from, to;
	bool unambiguous;
};

static int by_message(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->sent_ns != y->sent_ns) {
		return x->sent_ns < y->sent_ns ? -1 : 1;
	}
	if (x->received_ns != y->received_ns) {
		return x->received_ns < y->received_ns ? -1 : 1;
	}
	if (x->from != y->from) {
		return x->from - y->from;
	}
	return x->to - y->to;
}

static struct row *rows_read(const char *path, size_t *n, char why[512])
{
	FILE *f = fopen(path, "r");
	struct row *row = NULL;
	size_t cap = 0;
	char line[512];
	*n = 0;
	if (!f || !fgets(line, sizeof line, f)) {
		snprintf(why, 512, "%s: cannot be read", path);
	}
	while (f && fgets(line, sizeof line, f)) {
		long long sent, received;
		int from, to, unambiguous = 1;
		if (sscanf(line, "host%d,host%d,%lld,%lld,%*u,%*u,%d", &from, &to, &sent, &received,
			   &unambiguous) < 4) {
			snprintf(why, 512, "%s: not a message: %.200s", path, line);
			break;
		}
		row = usk_room(row, *n, &cap, sizeof *row);
		row[(*n)++] = (struct row){ sent, received, from, to, unambiguous != 0 };
	}
	if (f) {
		fclose(f);
	}
	if (row) {
		qsort(row, *n, sizeof *row, by_message);
	}
	return row;
}

bool check_messages(const char *true_path, const char *matched_path, struct match_counts *counts,
		    char why[512])
{
	size_t n, m, wrong = 0;
	struct row *truth = rows_read(true_path, &n, why);
	struct row *matched = rows_read(matched_path, &m, why), first = { 0 };
	*counts = (struct match_counts){ .matched = m };
	size_t j = 0;
	for (size_t i = 0; i < n; i++) {
		while (j < m && by_message(&matched[j], &truth[i]) < 0) {
			first = wrong++ ? first : matched[j];
			j++;
		}
		bool found = j < m && !by_message(&matched[j], &truth[i]);
		j += found;
		counts->expected += truth[i].unambiguous;
		counts->found += truth[i].unambiguous && found;
	}
	for (; j < m; j++) {
		first = wrong++ ? first : matched[j];
	}
	free(truth);
	free(matched);
	if (*why) {
		return false;
	}
	if (wrong) {
		snprintf(why, 512, "%zu wrong matches, first host%d,host%d,%lld,%lld", wrong,
			 first.from, first.to, (long long)first.sent_ns,
			 (long long)first.received_ns);
		return false;
	}
	if ((double)counts->found < 0.999 * (double)counts->expected) {
		snprintf(why, 512, "only %zu of %zu unambiguous messages are matched",
			 counts->found, counts->expected);
		return false;
	}
	return true;
}

/* ---- a scenario ----------------------------------------------------------------------------- */

bool check_scenario(const struct job *job, const struct scenario *s)
{
	static const char *const hosts[] = { "host0", "host1" };
	char why[512] = "";
	const char *d = job->dir;
	bool table = strstr(s->simulate, "--format table") != NULL;
	const char *ending = strstr(s->simulate, "--format pcapng") ? "pcapng" : "pcap";
	char *traces = table ? usk_format("%s/messages.csv", d)
			     : usk_format("%s/host0.%s %s/host1.%s", d, ending, d, ending);
	char *simulate = usk_format("%s simulate -q -f %s --seed %llu -o %s", job->unskew,
				    s->simulate, (unsigned long long)job->seed, d);
	char *sync =
		usk_format("%s sync -q --json %s --force %s --messages %s/M.csv %s", job->unskew,
			   strstr(s->sync, "--model") ? "" : "--model linear", s->sync, d, traces);
	char *to_file = usk_format("%s > %s/clocks.json", sync, d);
	char *json = usk_format("%s/clocks.json", d), *truth = usk_format("%s/truth.json", d);
	char *rows = usk_format("%s/messages.csv", d), *matched = usk_format("%s/M.csv", d);
	struct true_clocks clocks = { 0 };
	struct match_counts counts = { 0 };
	double width = 0;
	bool good = false;
	int status = system(simulate);
	if (status) {
		snprintf(why, sizeof why, "simulate ended with %d", status >> 8);
	} else if ((status = system(to_file)) != 0) {
		snprintf(why, sizeof why, "sync ended with %d", status >> 8);
	} else if (true_clocks_read(truth, hosts, &clocks, why)) {
		/* Both are said, so that one failure does not hide the other. */
		char also[512] = "";
		bool band = check_band(json, &clocks, job->seed, false, &width, why);
		bool messages = check_messages(rows, matched, &counts, also);
		good = band && messages;
		if (band && s->most_ns > 0 && width > s->most_ns) {
			snprintf(why, sizeof why, "the mean half width is over %.0f ns",
				 s->most_ns);
			good = false;
		}
		if (*also) {
			size_t used = strlen(why);
			snprintf(why + used, sizeof why - used, "%s%.200s", used ? "; " : "", also);
		}
	}
	true_clocks_free(&clocks);
	printf("%s %-34s %7zu matched, %zu of %zu unambiguous, half width %.1f us\n",
	       good ? "holds " : "FAILS ", s->name, counts.matched, counts.found, counts.expected,
	       width / 1e3);
	if (!good) {
		printf("    %s\n    %s\n    %s\n", why, simulate, sync);
	}
	fflush(stdout);
	char *all[] = { traces, simulate, sync, to_file, json, truth, rows, matched };
	for (size_t i = 0; i < COUNT(all); i++) {
		free(all[i]);
	}
	return good;
}
