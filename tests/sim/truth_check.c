/* SPDX-License-Identifier: MIT */
#include "truth_check.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOMENTS 1000

static int64_t text_ns(const json_t *j)
{
	return json_is_string(j) ? strtoll(json_string_value(j), NULL, 10) : USK_NONE;
}

/* ---- the band ------------------------------------------------------------------------ */

struct knots {
	int64_t *local, *lo, *hi, *offset, *epoch;
	size_t n;
	int64_t max_skew_e12;
};

static void knots_free(struct knots *k)
{
	free(k->local);
	free(k->lo);
	free(k->hi);
	free(k->offset);
	free(k->epoch);
}

static bool knots_read(const json_t *clock, struct knots *k, char why[512])
{
	json_t *list = json_object_get(clock, "knots");
	k->n = json_array_size(list);
	k->local = usk_alloc(k->n, sizeof *k->local);
	k->lo = usk_alloc(k->n, sizeof *k->lo);
	k->hi = usk_alloc(k->n, sizeof *k->hi);
	k->offset = usk_alloc(k->n, sizeof *k->offset);
	k->epoch = usk_alloc(k->n, sizeof *k->epoch);
	for (size_t i = 0; i < k->n; i++) {
		json_t *knot = json_array_get(list, i);
		k->local[i] = text_ns(json_object_get(knot, "local_ns"));
		k->offset[i] = text_ns(json_object_get(knot, "offset_ns"));
		k->lo[i] = text_ns(json_object_get(knot, "lo_ns"));
		k->hi[i] = text_ns(json_object_get(knot, "hi_ns"));
		k->epoch[i] = json_integer_value(json_object_get(knot, "epoch"));
		bool in_order =
			!i || (k->epoch[i] == k->epoch[i - 1] ? k->local[i] > k->local[i - 1]
							      : k->epoch[i] > k->epoch[i - 1]);
		if (!in_order || k->local[i] == USK_NONE || k->lo[i] == USK_NONE ||
		    k->hi[i] == USK_NONE || k->offset[i] < k->lo[i] || k->offset[i] > k->hi[i]) {
			snprintf(why, 512, "knot %zu is not in order or not in its band", i);
			return false;
		}
	}
	if (k->n < 2) {
		snprintf(why, 512, "%zu knots", k->n);
		return false;
	}
	return true;
}

/* The knots [*from, *to) of an epoch; false if it has no two. */
static bool epoch_knots(const struct knots *k, int64_t epoch, size_t *from, size_t *to)
{
	for (*from = 0; *from < k->n && k->epoch[*from] < epoch; ++*from) {
	}
	for (*to = *from; *to < k->n && k->epoch[*to] == epoch; ++*to) {
	}
	return *to - *from >= 2;
}

/* A side of the band as the contract says: lines between knots, the outer slopes and beyond. */
static int64_t side_at(const struct knots *k, size_t from, size_t to, const int64_t *value,
		       int64_t x, bool upper)
{
	size_t i = from;
	while (i + 2 < to && k->local[i + 1] < x) {
		i++;
	}
	usk_i128 run = k->local[i + 1] - k->local[i], rise = (usk_i128)value[i + 1] - value[i];
	usk_i128 product = rise * (x - k->local[i]);
	usk_i128 y = value[i] + (upper ? usk_ceil_div(product, run) : usk_floor_div(product, run));
	int64_t first = k->local[from], last = k->local[to - 1];
	usk_i128 beyond = x < first ? (usk_i128)first - x : x > last ? (usk_i128)x - last : 0;
	usk_i128 slack = usk_ceil_div(beyond * k->max_skew_e12, INT64_C(1000000000000));
	return (int64_t)(upper ? y + slack : y - slack);
}

static bool check_moments(const struct knots *k, const struct true_clocks *t, bool swapped,
			  uint64_t seed, bool strict, double *width_ns, char why[512])
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	const struct sim_clock *reference = &t->clock[swapped], *clock = &t->clock[!swapped];
	int64_t allowed = t->resolution_ns;
	double width = 0;
	for (int i = 0; i < MOMENTS; i++) {
		uint64_t span = (uint64_t)(t->end_ns - t->start_ns) + 1;
		int64_t at = t->start_ns + (int64_t)usk_rng_below(&r, span);
		int64_t y = sim_clock_read(clock, at);
		int64_t truth = sim_clock_read(reference, at) - y;
		size_t from, to;
		if (!epoch_knots(k, true_epoch(clock, at), &from, &to)) {
			snprintf(why, 512, "no knots for epoch %u", true_epoch(clock, at));
			return false;
		}
		int64_t lo = side_at(k, from, to, k->lo, y, false);
		int64_t hi = side_at(k, from, to, k->hi, y, true);
		if (truth < lo - allowed || truth > hi + allowed) {
			snprintf(why, 512,
				 "at local %lld the true offset %lld is %lld ns outside [%lld, "
				 "%lld]",
				 (long long)y, (long long)truth,
				 (long long)(truth < lo ? lo - truth : truth - hi), (long long)lo,
				 (long long)hi);
			return false;
		}
		int64_t error = llabs(side_at(k, from, to, k->offset, y, false) - truth);
		bool inside = y >= k->local[from] && y <= k->local[to - 1];
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
	struct knots k = { 0 };
	json_t *skew = json_object_get(json_object_get(j, "model"), "max_skew_ppm"), *clock;
	k.max_skew_e12 = (int64_t)(json_number_value(skew) * 1e6 + 0.5);
	size_t i;
	bool good = true, seen = false;
	json_array_foreach(json_object_get(j, "clocks"), i, clock)
	{
		const char *quality = json_string_value(json_object_get(clock, "quality"));
		const char *name = json_string_value(json_object_get(clock, "name"));
		if (good && !strcmp(quality, "bounded")) {
			seen = true;
			good = knots_read(clock, &k, why) &&
			       check_moments(&k, t, !strcmp(name, t->name[0]), seed, strict,
					     width_ns, why);
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
	knots_free(&k);
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
		usk_format("%s sync -q --json --model linear --force %s --messages %s/M.csv %s",
			   job->unskew, s->sync, d, traces);
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
