/* SPDX-License-Identifier: MIT */
/*
 * claims.c - what clocks claimed, from the logs that claim it: a table of formats
 *
 * In    lines of text
 * Out   claims, and the names of who made them
 * Why   numbers of logs are rounded: claims are read as the widest that they may have been
 * Not   logs that state standard deviations alone: these are no bounds (doc/audit.md)
 */
#include "audit/audit.h"
#include "base/csv.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

enum { FIELDS = 24 };

struct reading {
	struct usk_claims *c;
	uint32_t clock; /* of NAME=; USK_NO_CLOCK */
	uint32_t file;
	size_t column[5]; /* of a CSV, in the order of its format's names */
	const char *wrong;
};

struct fields {
	struct usk_csv_field f[FIELDS];
	size_t n;
	char *scratch;
};

/* What a row is: a claim, none, or not to be understood (r->wrong says why). */
enum row { CLAIM, NOTHING, BAD };

struct format {
	const char *what;
	bool csv, named, headed; /* commas between; rows name their clocks; the first row is none */
	bool (*is)(const struct fields *f, struct reading *r); /* its header, or its first row */
	enum row (*row)(const struct fields *f, struct reading *r, struct usk_claim *out);
};

static enum row bad(struct reading *r, const char *why)
{
	r->wrong = why;
	return BAD;
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* "-8.621e-06" s in ns, rounded up or down, and by one of its last digit further: it was rounded,
 * too. */
static bool scientific_ns(struct usk_csv_field f, bool up, usk_i128 *ns)
{
	bool minus = f.n && *f.text == '-';
	size_t i = minus, digits = 0;
	int64_t mantissa = 0, power = 0;
	int shift = 9;
	for (bool point = false; i < f.n && f.text[i] != 'e'; i++) {
		if (f.text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (f.text[i] < '0' || f.text[i] > '9' || ++digits > 17) {
			return false;
		}
		mantissa = 10 * mantissa + (f.text[i] - '0');
		shift -= point;
	}
	if (!digits || (i < f.n && (usk_parse_int(f.text + i + 1, f.n - i - 1, &power, NULL) ||
				    power > 99 || power < -99))) {
		return false;
	}
	usk_i128 v = (minus ? -mantissa : mantissa) + (up ? 1 : -1);
	for (shift += (int)power; shift > 0; shift--) {
		v *= 10;
		if (v > USK_TIME_MAX || v < -USK_TIME_MAX) {
			return false;
		}
	}
	for (; shift < 0; shift++) {
		v = up ? usk_ceil_div(v, 10) : usk_floor_div(v, 10);
	}
	*ns = v;
	return v <= USK_TIME_MAX && v >= -USK_TIME_MAX;
}

/* "2017-08-22" and "13:22:36", UTC. */
static bool date_ns(const struct fields *f, int64_t *ns)
{
	char text[24];
	if (f->n < 2 || f->f[0].n != 10 || f->f[1].n != 8) {
		return false;
	}
	memcpy(text, f->f[0].text, 10);
	text[10] = 'T';
	memcpy(text + 11, f->f[1].text, 8);
	text[19] = 'Z';
	return !usk_parse_rfc3339(text, 20, ns, NULL);
}

static bool settle(struct usk_claim *out, usk_i128 lo, usk_i128 hi)
{
	out->lo_ns = usk_saturate(lo);
	out->hi_ns = usk_saturate(hi);
	return lo >= -USK_TIME_MAX && hi <= USK_TIME_MAX;
}

/* ---- formats ----------------------------------------------------------------------------------
 */

static const char *const interval_columns[] = { "clock", "time_ns", "earliest_ns", "latest_ns" };
static const char *const error_columns[] = { "clock", "time_ns", "offset_ns", "error_ns" };

static bool has_columns(const struct fields *f, struct reading *r, const char *const *name)
{
	size_t found = 0;
	for (size_t k = 0; k < 4; k++) {
		for (size_t i = 0; i < f->n && found == k; i++) {
			if (usk_csv_is(f->f[i], name[k])) {
				r->column[k] = i;
				found++;
			}
		}
	}
	return found == 4;
}

static bool is_interval(const struct fields *f, struct reading *r)
{
	return has_columns(f, r, interval_columns);
}

static bool is_error(const struct fields *f, struct reading *r)
{
	return has_columns(f, r, error_columns);
}

static enum row take_csv(const struct fields *f, struct reading *r, struct usk_claim *out,
			 int64_t value[2])
{
	int64_t *const to[] = { NULL, &out->at_ns, &value[0], &value[1] };
	for (size_t k = 0; k < 4; k++) {
		if (r->column[k] >= f->n || !f->f[r->column[k]].n) {
			return bad(r, "a column is empty");
		}
		if (k && usk_csv_time(f->f[r->column[k]], USK_CSV_NS, to[k], NULL)) {
			return bad(r, "a time is not a whole number of ns, or is over 146 years");
		}
	}
	const struct usk_csv_field *name = &f->f[r->column[0]];
	if (memchr(name->text, 0, name->n)) {
		return bad(r, "the clock's name has a zero byte");
	}
	out->clock = out->by = usk_claims_name(r->c, name->text, name->n);
	return CLAIM;
}

static enum row interval_row(const struct fields *f, struct reading *r, struct usk_claim *out)
{
	int64_t v[2];
	enum row row = take_csv(f, r, out, v);
	if (row == CLAIM && v[0] > v[1]) {
		return bad(r, "earliest_ns is over latest_ns");
	}
	return row != CLAIM ? row
	       : settle(out, (usk_i128)v[0] - out->at_ns, (usk_i128)v[1] - out->at_ns)
		       ? CLAIM
		       : bad(r, "the claim is over 146 years away");
}

static enum row error_row(const struct fields *f, struct reading *r, struct usk_claim *out)
{
	int64_t v[2];
	enum row row = take_csv(f, r, out, v);
	if (row == CLAIM && v[1] < 0) {
		return bad(r, "error_ns is negative");
	}
	return row != CLAIM ? row
	       : settle(out, (usk_i128)v[0] - v[1], (usk_i128)v[0] + v[1])
		       ? CLAIM
		       : bad(r, "the claim is over 146 years away");
}

static bool is_leap(const struct fields *f, size_t i)
{
	return i < f->n && f->f[i].n == 1 && memchr("N+-?", *f->f[i].text, 4);
}

static bool is_tracking(const struct fields *f, struct reading *r)
{
	int64_t ns;
	(void)r;
	return f->n >= 11 && date_ns(f, &ns) && is_leap(f, 7);
}

static bool is_measurements(const struct fields *f, struct reading *r)
{
	int64_t ns;
	(void)r;
	return f->n >= 16 && date_ns(f, &ns) && is_leap(f, 3);
}

/* Column 14, from chrony 2.2 on: the largest error of the system clock since the row before. */
static enum row tracking_row(const struct fields *f, struct reading *r, struct usk_claim *out)
{
	usk_i128 most;
	if (f->n < 14 || !date_ns(f, &out->at_ns) || !is_leap(f, 7)) {
		return bad(r, "it does not have the 14 columns of a tracking log");
	}
	if (*f->f[7].text == '?') {
		return NOTHING;
	}
	if (!scientific_ns(f->f[13], true, &most) || most < 0) {
		return bad(r, "the largest error is not a number of s");
	}
	out->by = r->clock;
	out->blur_ns = SECOND;
	return settle(out, -most, most) ? CLAIM : bad(r, "the claim is over 146 years away");
}

/* Columns 12 to 16: offset, delay and dispersion of the source, and its own from UTC. */
static enum row measurements_row(const struct fields *f, struct reading *r, struct usk_claim *out)
{
	usk_i128 lo, hi, v, root = 0;
	if (f->n < 16 || !date_ns(f, &out->at_ns) || !is_leap(f, 3)) {
		return bad(r, "it does not have the columns of a measurements log");
	}
	if (*f->f[3].text == '?' || memchr(f->f[5].text, '0', f->f[5].n) ||
	    memchr(f->f[6].text, '0', f->f[6].n)) {
		return NOTHING;
	}
	for (size_t i = 12; i < 16; i++) {
		if (!scientific_ns(f->f[i], true, &v) || v < 0) {
			return bad(r, "a delay or dispersion is not a number of s");
		}
		root += i % 2 ? 2 * v : v; /* delays count half, dispersions whole: twice that */
	}
	if (!scientific_ns(f->f[11], false, &lo) || !scientific_ns(f->f[11], true, &hi)) {
		return bad(r, "the offset is not a number of s");
	}
	out->by = usk_claims_name(r->c, f->f[2].text, f->f[2].n);
	out->blur_ns = SECOND;
	root = usk_ceil_div(root, 2);
	return settle(out, lo - root, hi + root) ? CLAIM
						 : bad(r, "the claim is over 146 years away");
}

/* A stamp in s, then what `chronyc -c tracking` prints: 14 columns, the first a number in hex. */
static bool is_samples(const struct fields *f, struct reading *r)
{
	int64_t ns;
	(void)r;
	return f->n == 15 && !usk_csv_time(f->f[0], USK_CSV_S, &ns, NULL) && f->f[1].n == 8 &&
	       strspn(f->f[1].text, "0123456789ABCDEF") >= 8;
}

/* Columns 6, 12 and 13: what the system clock still lacks, delay and dispersion up to the root. */
static enum row samples_row(const struct fields *f, struct reading *r, struct usk_claim *out)
{
	usk_i128 lacks, least, delay, dispersion;
	if (f->n != 15 || usk_csv_time(f->f[0], USK_CSV_S, &out->at_ns, NULL)) {
		return bad(r, "it is not a stamp in s and the 14 columns of chronyc -c tracking");
	}
	if (usk_csv_is(f->f[14], "Not synchronised")) {
		return NOTHING;
	}
	if (!scientific_ns(f->f[5], true, &lacks) || !scientific_ns(f->f[5], false, &least) ||
	    !scientific_ns(f->f[11], true, &delay) || !scientific_ns(f->f[12], true, &dispersion) ||
	    delay < 0 || dispersion < 0) {
		return bad(r, "an offset, delay or dispersion is not a number of s");
	}
	usk_i128 most = (lacks > -least ? lacks : -least) + usk_ceil_div(delay, 2) + dispersion;
	out->by = r->clock;
	out->blur_ns = SECOND;
	return settle(out, -most, most) ? CLAIM : bad(r, "the claim is over 146 years away");
}

static const struct format formats[] = {
	{ "CSV of intervals", true, true, true, is_interval, interval_row },
	{ "CSV of offsets", true, true, true, is_error, error_row },
	{ "chrony's tracking log", false, false, false, is_tracking, tracking_row },
	{ "chrony's measurements log", false, false, false, is_measurements, measurements_row },
	{ "stamped output of chronyc -c tracking", true, false, false, is_samples, samples_row },
};

/* ---- lines ------------------------------------------------------------------------------------
 */

uint32_t usk_claims_name(struct usk_claims *c, const char *text, size_t n)
{
	uint32_t last = c->n ? c->row[c->n - 1].by : 0;
	for (size_t k = 0; k <= c->n_names; k++) {
		size_t i = k ? k - 1 : last;
		if (i < c->n_names && strlen(c->name[i]) == n && !memcmp(c->name[i], text, n)) {
			return (uint32_t)i;
		}
	}
	c->name = usk_room(c->name, c->n_names, &c->cap_names, sizeof *c->name);
	char *copy = c->name[c->n_names] = usk_alloc(n + 1, 1);
	memcpy(copy, text, n);
	return (uint32_t)c->n_names++;
}

static bool split(const struct usk_csv_line *line, bool csv, struct fields *out)
{
	const char *p = line->text, *end = p + line->n;
	char *scratch = out->scratch = usk_grow(out->scratch, line->n + 1, 1);
	out->n = 0;
	while (csv && p && out->n < FIELDS) {
		if (!usk_csv_next_field(&p, end, &scratch, &out->f[out->n++])) {
			return false;
		}
	}
	while (!csv && out->n < FIELDS) {
		while (p < end && (*p == ' ' || *p == '\t')) {
			p++;
		}
		const char *from = p;
		while (p < end && *p != ' ' && *p != '\t') {
			p++;
		}
		if (p == from) {
			break;
		}
		out->f[out->n++] = (struct usk_csv_field){ from, (size_t)(p - from) };
	}
	return true;
}

static const struct format *format_of(const struct usk_csv_line *line, struct fields *f,
				      struct reading *r)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		if (split(line, formats[i].csv, f) && formats[i].is(f, r)) {
			return &formats[i];
		}
	}
	return NULL;
}

/* Comments, and banners of logs; a clock's name may begin as these do. */
static bool says_nothing(const struct format *is, const struct usk_csv_line *line)
{
	bool csv = is && is->csv;
	return !line->n || *line->text == '#' ||
	       (!csv && (*line->text == '=' || *line->text == ' '));
}

static enum usk_status unknown(const struct reading *r, const struct format *is,
			       struct usk_err *err)
{
	if (is && is->named && r->clock != USK_NO_CLOCK) {
		return usk_fail(err, USK_EINPUT, 0,
				"its rows name their clocks: give it without NAME=");
	}
	if (is) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s does not name its clock: give it as NAME=FILE", is->what);
	}
	return usk_fail(
		err, USK_EINPUT, 0,
		"it is no file of claims: neither a CSV with clock, time_ns, earliest_ns, "
		"latest_ns or clock, time_ns, offset_ns, error_ns, nor chrony's tracking or "
		"measurements log, nor stamped output of chronyc -c tracking");
}

static void take_line(const struct format *is, const struct usk_csv_line *line, uint64_t number,
		      struct fields *f, struct reading *r, struct usk_csv_bad *damage)
{
	struct usk_claim x = { .clock = r->clock, .file = r->file, .line = number };
	enum row row =
		split(line, is->csv, f) ? is->row(f, r, &x) : bad(r, "a quote is not closed");
	if (row == BAD) {
		usk_csv_bad_add(damage, number, r->wrong);
	} else if (row == NOTHING) {
		r->c->none++;
	} else {
		*USK_ADD(r->c->row, r->c->n, r->c->cap) = x;
	}
}

static enum usk_status read_lines(struct usk_input *in, struct reading *r, struct fields *f,
				  const struct format **is, struct usk_csv_bad *damage,
				  struct usk_err *err)
{
	size_t used = 0;
	for (uint64_t number = 1;; number++) {
		struct usk_csv_line line;
		enum usk_status status = usk_csv_next_line(in, &used, &line, err);
		if (status || (!line.n && !line.n_end)) {
			return status;
		}
		if (says_nothing(*is, &line)) {
			continue;
		}
		bool first = !*is;
		*is = first ? format_of(&line, f, r) : *is;
		if (!*is || (*is)->named != (r->clock == USK_NO_CLOCK)) {
			return unknown(r, *is, err);
		}
		if (!first || !(*is)->headed) {
			take_line(*is, &line, number, f, r, damage);
		}
		if (r->c->n_names > USK_CLAIMANTS) {
			return usk_fail(err, USK_EINPUT, 0, "more than %d clocks are named",
					USK_CLAIMANTS);
		}
	}
}

enum usk_status usk_claims_read(struct usk_input *in, const char *name, uint32_t file,
				struct usk_claims *c, const char **what, char **damage,
				struct usk_err *err)
{
	struct reading r = { .c = c, .clock = USK_NO_CLOCK, .file = file };
	struct fields f = { .n = 0 };
	struct usk_csv_bad left_out = { .n = 0 };
	const struct format *is = NULL;
	const size_t before = c->n;
	const uint64_t none = c->none;
	*damage = NULL;
	*what = NULL;
	if (name) {
		r.clock = usk_claims_name(c, name, strlen(name));
	}
	enum usk_status status = read_lines(in, &r, &f, &is, &left_out, err);
	*damage = usk_csv_bad_text(&left_out);
	if (!status && c->n == before && c->none == none) {
		status = usk_fail(err, USK_EINPUT, 0, "it has no claim%s%s", *damage ? ": " : "",
				  *damage ? *damage : "");
	}
	*what = is ? is->what : NULL;
	usk_csv_bad_clear(&left_out);
	free(f.scratch);
	return status;
}

void usk_claims_free(struct usk_claims *c)
{
	for (size_t i = 0; i < c->n_names; i++) {
		free(c->name[i]);
	}
	USK_FREE(c->name, c->row);
	*c = (struct usk_claims){ .n = 0 };
}
