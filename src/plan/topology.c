/* SPDX-License-Identifier: MIT */
/*
 * topology.c - links that somebody describes
 *
 * In    a CSV: a, b, min_ns, median_ns[, per_second]
 * Out   links, whose delays are min_ns and an exponential tail
 * Why   before anything was recorded, or of links that nobody has used yet
 */
#include "plan/network.h"
#include "base/csv.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, LEAST, MEDIAN, RATE, COLUMNS, FIELDS = 64, QUANTILES = 1024 };

static const char *const columns[COLUMNS] = { "a", "b", "min_ns", "median_ns", "per_second" };

struct topology {
	struct usk_network *to;
	size_t column[COLUMNS]; /* FIELDS: there is none */
	struct usk_csv_field field[FIELDS];
	size_t n;
	char *scratch;
};

static enum usk_status split(struct topology *t, const struct usk_csv_line *line,
			     struct usk_err *err)
{
	const char *p = line->text, *end = p + line->n;
	t->scratch = usk_grow(t->scratch, line->n + 1, 1);
	char *scratch = t->scratch;
	for (t->n = 0; p && t->n < FIELDS; t->n++) {
		if (!usk_csv_next_field(&p, end, &scratch, &t->field[t->n])) {
			return usk_fail(err, USK_EINPUT, 0, "a quote is not closed");
		}
	}
	return USK_OK;
}

static enum usk_status take_header(struct topology *t, struct usk_err *err)
{
	for (size_t k = 0; k < COLUMNS; k++) {
		t->column[k] = FIELDS;
		for (size_t i = 0; i < t->n; i++) {
			t->column[k] = usk_csv_is(t->field[i], columns[k]) ? i : t->column[k];
		}
		if (t->column[k] == FIELDS && k != RATE) {
			return usk_fail(err, USK_EINPUT, 0,
					"a topology has the columns a, b, min_ns, median_ns, and "
					"may have per_second; there is no %s",
					columns[k]);
		}
	}
	return USK_OK;
}

static struct usk_csv_field field_of(const struct topology *t, size_t column)
{
	size_t i = t->column[column];
	return i < t->n ? t->field[i] : (struct usk_csv_field){ "", 0 };
}

/* From one round trip to the next, or 0; per_second is a decimal. */
static enum usk_status take_period(const struct topology *t, int64_t *period_ns,
				   struct usk_err *err)
{
	struct usk_csv_field f = field_of(t, RATE);
	int64_t rate_e9 = 0;
	*period_ns = 0;
	if (!f.n) {
		return USK_OK;
	}
	if (usk_parse_decimal(f.text, f.n, 9, &rate_e9, NULL, err) || rate_e9 < 0 ||
	    rate_e9 > INT64_C(1000000000000000000)) {
		return usk_fail(err, USK_EINPUT, 0, "per_second is no number from 0 to 10^9");
	}
	*period_ns = rate_e9 ? INT64_C(1000000000000000000) / rate_e9 : 0;
	return USK_OK;
}

static enum usk_status take_delays(const struct topology *t, int64_t *least, int64_t *median,
				   struct usk_err *err)
{
	struct usk_csv_field f = field_of(t, LEAST), g = field_of(t, MEDIAN);
	if (usk_csv_time(f, USK_CSV_NS, least, err) || usk_csv_time(g, USK_CSV_NS, median, err) ||
	    *least < 0 || *median < *least || *median > INT64_C(1000000000000000)) {
		return usk_fail(err, USK_EINPUT, 0,
				"min_ns and median_ns are no times of a message, the median over "
				"the least");
	}
	return USK_OK;
}

/* Quantiles of least + an exponential tail of that median. */
static void fill(struct usk_plan_direction *w, int64_t least, int64_t median, int64_t period_ns)
{
	for (size_t i = 0; i < QUANTILES; i++) {
		double u = (double)i / QUANTILES;
		double tail = (double)(median - least) * -log1p(-u) / log(2);
		usk_reservoir_add(&w->delay_ns, least + (int64_t)tail);
	}
	if (period_ns) {
		usk_reservoir_add(&w->gap_ns, period_ns);
	}
}

static enum usk_status take_row(struct topology *t, struct usk_err *err)
{
	struct usk_csv_field a = field_of(t, A), b = field_of(t, B);
	int64_t least, median, period_ns;
	if (!a.n || !b.n) {
		return usk_fail(err, USK_EINPUT, 0, "a link is of two clocks, a and b");
	}
	if (memchr(a.text, 0, a.n) || memchr(b.text, 0, b.n)) {
		return usk_fail(err, USK_EINPUT, 0, "a clock's name has a zero byte");
	}
	uint32_t x = usk_network_clock(t->to, a.text, a.n);
	uint32_t y = usk_network_clock(t->to, b.text, b.n);
	if (x == y) {
		return usk_fail(err, USK_EINPUT, 0, "a link is of two clocks, not of one");
	}
	enum usk_status status = take_delays(t, &least, &median, err);
	status = status ? status : take_period(t, &period_ns, err);
	struct usk_plan_link *l = usk_network_link(t->to, x, y);
	if (!status && (l->way[0].delay_ns.n || l->way[1].delay_ns.n)) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "there are messages, or a row, of these two already");
	}
	if (!status) {
		fill(&l->way[0], least, median, period_ns);
		fill(&l->way[1], least, median, period_ns);
	}
	return status;
}

static enum usk_status read_lines(struct usk_input *in, struct topology *t, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	size_t used = 0;
	bool header = false;
	for (uint64_t number = 1; !status; number++) {
		struct usk_csv_line line;
		status = usk_csv_next_line(in, &used, &line, err);
		if (status || (!line.n && !line.n_end)) {
			break;
		}
		if (!line.n || *line.text == '#') {
			continue;
		}
		status = split(t, &line, err);
		status = status ? status : header ? take_row(t, err) : take_header(t, err);
		header = true;
		if (status) {
			err->at = number;
			usk_fail_in(status, err, "line %llu", (unsigned long long)number);
		}
	}
	if (!status && !header) {
		status = usk_fail(err, USK_EINPUT, 0, "it is empty");
	}
	return status;
}

enum usk_status usk_network_add(struct usk_input *in, struct usk_network *out, struct usk_err *err)
{
	struct topology t = { .to = out };
	enum usk_status status = read_lines(in, &t, err);
	free(t.scratch);
	return status;
}
