/* SPDX-License-Identifier: MIT */
/*
 * clock_log.c - the lines of a clock's log, and what it did between them
 *
 * Between two lines a clock ran at rates that the kernel's state at both and the means of this
 * interval and its neighbours enclose, but for what it was slewed by one way meanwhile: so it was
 * nowhere further from the straight line than that hull allows. A clock that was set, or a mean that
 * no slew has, ends a piece: before it went on as before, then as behind.
 */
#include "flow/clock_log.h"
#include "base/csv.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define E12 INT64_C(1000000000000)
/* No kernel slews by more. */
#define MOST_E12 INT64_C(100000000000)
/* Lines are a second apart; a busy machine is late now and then. */
#define HOLE_NS	 INT64_C(3500000000)
#define SHORT_NS INT64_C(100000000)
/* A reading that took longer tells nothing. */
#define WIDEST_NS INT64_C(1000000000)

enum { CLOCK, BEFORE, TIME, AFTER, RATE, EVENT, COLUMNS };
static const char *const names[COLUMNS] = { "clock",	"before_ns", "time_ns",
					    "after_ns", "rate_e12",  "event" };

/* ---- lines ------------------------------------------------------------------------------------
 */

static size_t fields_of(const struct usk_csv_line *line, char *scratch,
			struct usk_csv_field field[16])
{
	const char *p = line->text, *end = p + line->n;
	size_t n = 0;
	while (p && n < 16 && usk_csv_next_field(&p, end, &scratch, &field[n])) {
		n++;
	}
	return n;
}

static bool header_of(const struct usk_csv_field *field, size_t n, size_t column[COLUMNS])
{
	size_t found = 0;
	for (int k = 0; k < COLUMNS; k++) {
		for (size_t i = 0; i < n; i++) {
			if (usk_csv_is(field[i], names[k])) {
				column[k] = i;
				found++;
				break;
			}
		}
	}
	return found == COLUMNS;
}

static bool line_of(const struct usk_csv_field *field, size_t n, const size_t column[COLUMNS],
		    struct usk_log_line *out)
{
	int64_t *const to[] = { &out->before_ns, &out->time_ns, &out->after_ns, &out->rate_e12 };
	for (int k = 0; k < COLUMNS; k++) {
		if (column[k] >= n) {
			return false;
		}
	}
	for (int k = BEFORE; k <= RATE; k++) {
		struct usk_csv_field f = field[column[k]];
		*to[k - BEFORE] = USK_NONE;
		if ((k != RATE || f.n) && usk_csv_time(f, USK_CSV_NS, to[k - BEFORE], NULL)) {
			return false;
		}
	}
	if (out->rate_e12 > MOST_E12 || out->rate_e12 < -MOST_E12) {
		out->rate_e12 = USK_NONE;
	}
	out->set = usk_csv_is(field[column[EVENT]], "set");
	return out->after_ns >= out->before_ns && out->after_ns - out->before_ns < WIDEST_NS;
}

/* The raw clock only rises: else the machine was started anew, or lines are of two logs. Both
 * clocks by the first line are what all is counted from: no difference is over 2^62 ns. */
static bool goes_on(const struct usk_clock_log *l, const struct usk_log_line *x)
{
	if (!l->n) {
		return true;
	}
	usk_i128 raw = (usk_i128)x->after_ns - l->line[0].before_ns;
	return x->before_ns > l->line[l->n - 1].after_ns && raw <= USK_TIME_MAX &&
	       raw + l->line[0].time_ns <= USK_TIME_MAX;
}

/* "# ... of boot ID, ..."; false: another one than before. */
static bool read_boot(struct usk_clock_log *l, const struct usk_csv_line *line)
{
	static const char word[] = "of boot ";
	const char *at = line->n ? memmem(line->text, line->n, word, sizeof word - 1) : NULL;
	char boot[sizeof l->boot] = "";
	if (!at) {
		return true;
	}
	at += sizeof word - 1;
	size_t left = line->n - (size_t)(at - line->text);
	const char *end = memchr(at, ',', left);
	size_t n = end ? (size_t)(end - at) : left;
	memcpy(boot, at, n < sizeof boot ? n : sizeof boot - 1);
	bool same = !*l->boot || !strcmp(l->boot, boot);
	if (same && strcmp(boot, "unknown") != 0) {
		memcpy(l->boot, boot, sizeof boot);
	}
	return same;
}

static enum usk_status read_lines(struct usk_input *in, struct usk_clock_log *l,
				  struct usk_csv_bad *bad, bool *again, struct usk_err *err)
{
	size_t used = 0, cap = 0, column[COLUMNS];
	bool header = false;
	for (uint64_t number = 1;; number++) {
		struct usk_csv_line line;
		struct usk_csv_field field[16];
		struct usk_log_line x;
		enum usk_status status = usk_csv_next_line(in, &used, &line, err);
		if (status || (!line.n && !line.n_end)) {
			return status;
		}
		if (!line.n || *line.text == '#') {
			if (!read_boot(l, &line)) {
				*again = true;
				return USK_OK;
			}
			continue;
		}
		char *scratch = usk_alloc(line.n + 1, 1);
		size_t n = fields_of(&line, scratch, field);
		bool head = header_of(field, n, column);
		bool ours =
			header && column[CLOCK] < n && usk_csv_is(field[column[CLOCK]], "realtime");
		bool whole = ours && line.n_end && line_of(field, n, column, &x);
		free(scratch);
		if (!head && !header) {
			return usk_fail(
				err, USK_EINPUT, number,
				"is not a log of a clock, as `unskew record` writes it: it lacks "
				"the line clock,before_ns,time_ns,after_ns,rate_e12,status,event");
		}
		header = true;
		if (whole && !goes_on(l, &x)) {
			*again = true;
			return USK_OK;
		}
		if (whole) {
			*USK_ADD(l->line, l->n, cap) = x;
		} else if (ours) {
			usk_csv_bad_add(bad, number, "is not whole");
		}
	}
}

/* ---- between lines ----------------------------------------------------------------------------
 */

struct slopes {
	int64_t least, most;
};

static int64_t clamp(usk_i128 e12)
{
	return (int64_t)usk_clamp(e12, -E12, E12);
}

/* Raw less recorded for each unit recorded; time passed between both lines. */
static struct slopes mean_of(const struct usk_log_line *x)
{
	usk_i128 d = (usk_i128)x[1].time_ns - x[0].time_ns;
	usk_i128 least = (usk_i128)x[1].before_ns - x[0].after_ns - 1;
	usk_i128 most = (usk_i128)x[1].after_ns - x[0].before_ns + 1;
	return (struct slopes){ clamp(usk_floor_div((least - d) * E12, d)),
				clamp(usk_ceil_div((most - d) * E12, d)) };
}

static struct slopes hull(struct slopes a, struct slopes b)
{
	return (struct slopes){ a.least < b.least ? a.least : b.least,
				a.most > b.most ? a.most : b.most };
}

/* Of a clock that gains so much. */
static struct slopes told(int64_t rate_e12)
{
	usk_i128 n = -(usk_i128)rate_e12 * E12, d = (usk_i128)E12 + rate_e12;
	return (struct slopes){ (int64_t)usk_floor_div(n, d), (int64_t)usk_ceil_div(n, d) };
}

static void look_at(struct usk_clock_log *l, size_t k)
{
	const struct usk_log_line *x = &l->line[k];
	struct usk_log_cell *c = &l->cell[k];
	usk_i128 d = (usk_i128)x[1].time_ns - x[0].time_ns;
	c->hole = (usk_i128)x[1].before_ns - x[0].after_ns > HOLE_NS;
	c->jump = x[1].set || d <= 0;
	if (!c->jump) {
		struct slopes m = mean_of(x);
		/* What is not seen may be more than a slew. */
		int64_t most = c->hole ? MOST_E12 / 100 : MOST_E12;
		c->slow_e12 = m.least;
		c->fast_e12 = m.most;
		/* And a bracket that is half as wide as the time tells nothing. */
		c->jump =
			m.least > most || m.most < -most || m.least < -E12 / 2 || m.most > E12 / 2;
	}
	l->holes += c->hole;
}

static bool usable(const struct usk_clock_log *l, size_t k)
{
	return k + 1 < l->n && !l->cell[k].jump;
}

/* How far off the straight lines between two lines' brackets it was: it ran within the hull but for
 * what it was slewed by one way, early or late. A slew that the brackets hide is one, too. */
static int64_t off_straight(const struct usk_log_line *x, struct slopes all)
{
	usk_i128 d = (usk_i128)x[1].time_ns - x[0].time_ns;
	usk_i128 rise[] = { (usk_i128)x[1].before_ns - x[0].before_ns - d,
			    (usk_i128)x[1].after_ns - x[0].after_ns - d };
	usk_i128 most = 0;
	for (int i = 0; i < 2; i++) {
		usk_i128 up = usk_ceil_div(d * all.most, E12) - rise[i];
		usk_i128 down = rise[i] - usk_floor_div(d * all.least, E12);
		most = up > most ? up : most;
		most = down > most ? down : most;
	}
	return usk_saturate(most);
}

/* mean: of every cell, as the hulls are written over them. */
static void enclose(struct usk_clock_log *l, const struct slopes *mean, size_t k)
{
	const struct usk_log_line *x = &l->line[k];
	struct usk_log_cell *c = &l->cell[k];
	struct slopes all = mean[k];
	for (int side = -1; side <= 1; side += 2) {
		size_t n = side < 0 ? k - 1 : k + 1;
		/* Over less than this the brackets tell nothing of a rate. */
		if ((side < 0 && !k) || !usable(l, n) || l->cell[n].hole ||
		    (usk_i128)l->line[n + 1].time_ns - l->line[n].time_ns < SHORT_NS) {
			continue;
		}
		all = hull(all, mean[n]);
	}
	bool same = x[0].rate_e12 == x[1].rate_e12;
	for (int i = 0; i < 2 && !same; i++) {
		all = x[i].rate_e12 == USK_NONE ? all : hull(all, told(x[i].rate_e12));
	}
	c->slow_e12 = all.least;
	c->fast_e12 = all.most;
	c->pad_ns = c->hole ? 0 : off_straight(x, all);
}

static int64_t mean_of_all(const struct usk_clock_log *l)
{
	usk_i128 raw = 0, recorded = 0;
	for (size_t k = 0; k + 1 < l->n; k++) {
		const struct usk_log_line *x = &l->line[k];
		if (!l->cell[k].jump) {
			raw += (usk_i128)x[1].before_ns - x[0].before_ns;
			recorded += (usk_i128)x[1].time_ns - x[0].time_ns;
		}
	}
	return recorded > 0 ? clamp(usk_floor_div((raw - recorded) * E12, recorded)) : 0;
}

static void cut_into_pieces(struct usk_clock_log *l)
{
	size_t cap = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (i && !l->cell[i - 1].jump) {
			l->piece[l->n_pieces - 1].last = i;
			continue;
		}
		const struct usk_log_line *x = &l->line[i];
		bool fell = i && (usk_i128)x->time_ns - x[-1].time_ns <
					 (usk_i128)x->after_ns - x[-1].before_ns;
		*USK_ADD(l->piece, l->n_pieces, cap) = (struct usk_log_piece){ i, i, fell };
	}
}

enum usk_status usk_clock_log_read(struct usk_input *in, struct usk_clock_log *out,
				   struct usk_err *err)
{
	struct usk_csv_bad bad = { 0 };
	bool again = false;
	memset(out, 0, sizeof *out);
	enum usk_status status = read_lines(in, out, &bad, &again, err);
	if (!status && out->n < 2) {
		status = usk_fail(err, USK_EINPUT, 0, "holds %s of the clock",
				  out->n ? "one line only" : "no line");
	}
	out->damage = again ? usk_format("the raw clock restarts after %zu lines, as the machine "
					 "was booted again: the rest is ignored",
					 out->n)
		      : in->lost ? usk_strdup(in->lost)
				 : usk_csv_bad_text(&bad);
	usk_csv_bad_clear(&bad);
	if (status) {
		usk_clock_log_free(out);
		return status;
	}
	/* Near its stamps. */
	usk_i128 less = (usk_i128)out->line[0].before_ns - out->line[0].time_ns;
	for (size_t i = 0; i < out->n; i++) {
		out->line[i].before_ns = usk_saturate(out->line[i].before_ns - less);
		out->line[i].after_ns = usk_saturate(out->line[i].after_ns - less);
	}
	struct slopes *mean = usk_alloc(out->n, sizeof *mean);
	out->cell = usk_alloc(out->n, sizeof *out->cell);
	for (size_t k = 0; k + 1 < out->n; k++) {
		look_at(out, k);
		mean[k] = (struct slopes){ out->cell[k].slow_e12, out->cell[k].fast_e12 };
	}
	for (size_t k = 0; k + 1 < out->n; k++) {
		if (!out->cell[k].jump) {
			enclose(out, mean, k);
		}
	}
	free(mean);
	/* It goes on as it was told to: by its mean where that is not known. */
	for (int end = 0; end < 2; end++) {
		int64_t rate = out->line[end ? out->n - 1 : 0].rate_e12;
		out->beyond_e12[end] = rate == USK_NONE ? mean_of_all(out) : told(rate).least;
	}
	cut_into_pieces(out);
	return USK_OK;
}

void usk_clock_log_free(struct usk_clock_log *l)
{
	USK_FREE(l->line, l->cell, l->piece, l->damage);
	memset(l, 0, sizeof *l);
}
