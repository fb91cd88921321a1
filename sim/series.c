/* SPDX-License-Identifier: MIT */
/*
 * series.c - a recorded clock: how far it was ahead of a better one, over time
 *
 * In    a CSV, seconds,offset_seconds: decimals, with exponents or without
 * Out   points since the first row, sorted; two rows of one moment are a jump
 * Not   what the clock does between points, and after them (oscillator.c)
 */
#include "sim.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Added to a start of up to 2^62 it is a time yet. */
#define FARTHEST (USK_TIME_MAX / 2)

/* Seconds as ns. Decimals are exact; those with an exponent are what a double makes of them. */
static bool read_seconds(const char *text, size_t n, int64_t *ns)
{
	char copy[64];
	if (!usk_parse_decimal(text, n, 9, ns, NULL, NULL)) {
		return true;
	}
	if (!n || n >= sizeof copy) {
		return false;
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	/* strtod() knows hexadecimals, infinity and more. */
	if (strspn(copy, "+-.0123456789eE") != n) {
		return false;
	}
	char *end;
	double x = strtod(copy, &end) * 1e9;
	if (*end || !(fabs(x) < 4e18)) {
		return false;
	}
	*ns = llround(x);
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '"' || c == '\r';
}

/* The next field of a line, blanks and quotes around it left out. */
static const char *field(const char **at, const char *end, size_t *n)
{
	const char *start = *at, *stop = memchr(start, ',', (size_t)(end - start));
	stop = stop ? stop : end;
	*at = stop < end ? stop + 1 : end;
	while (start < stop && is_blank(*start)) {
		start++;
	}
	while (start < stop && is_blank(stop[-1])) {
		stop--;
	}
	*n = (size_t)(stop - start);
	return start;
}

/* Which columns hold the two; false if the line is no header. */
static bool read_header(const char *line, const char *end, size_t column[2])
{
	static const char *const name[] = { "seconds", "offset_seconds" };
	bool found[2] = { false, false };
	for (size_t i = 0; line < end; i++) {
		size_t n;
		const char *f = field(&line, end, &n);
		for (int k = 0; k < 2; k++) {
			if (strlen(name[k]) == n && !memcmp(name[k], f, n)) {
				column[k] = i;
				found[k] = true;
			}
		}
	}
	return found[0] && found[1];
}

static bool read_point(const char *line, const char *end, const size_t column[2],
		       struct sim_error_point *p)
{
	unsigned found = 0;
	for (size_t i = 0; line < end; i++) {
		size_t n;
		const char *f = field(&line, end, &n);
		if (i == column[0] || i == column[1]) {
			found += read_seconds(f, n, i == column[0] ? &p->after_ns : &p->ahead_ns);
		}
	}
	return found == 2;
}

/* In order, and no faster than a clock may be here. */
static enum usk_status check_point(const struct sim_series *s, const struct sim_error_point *p,
				   uint64_t line, struct usk_err *err)
{
	if (!s->n) {
		return USK_OK;
	}
	const struct sim_error_point *before = &s->point[s->n - 1];
	if (p->after_ns < before->after_ns) {
		return usk_fail(err, USK_EINPUT, line, "%s: line %llu: an earlier time than before",
				s->path, (unsigned long long)line);
	}
	usk_i128 run = p->after_ns - before->after_ns;
	usk_i128 rise = (usk_i128)p->ahead_ns - before->ahead_ns;
	if (run > 0 && (rise > run / 100 || rise < -run / 100)) {
		return usk_fail(err, USK_EINPUT, line,
				"%s: line %llu: the offset changes by over 1 %% of the time "
				"between; a jump is two rows of one time",
				s->path, (unsigned long long)line);
	}
	return USK_OK;
}

static enum usk_status read_lines(const char *text, const char *end, struct sim_series *s,
				  struct usk_err *err)
{
	size_t column[2] = { 0, 1 }, cap = 0;
	uint64_t number = 0;
	int64_t origin = 0;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *line = text;
		stop = stop ? stop : end;
		text = stop < end ? stop + 1 : end;
		struct sim_error_point p = { 0, 0 };
		number++;
		if (line == stop || *line == '#' || *line == '\r' ||
		    (!s->n && read_header(line, stop, column))) {
			continue;
		}
		if (!read_point(line, stop, column, &p)) {
			return usk_fail(err, USK_EINPUT, number,
					"%s: line %llu: not seconds,offset_seconds", s->path,
					(unsigned long long)number);
		}
		origin = s->n ? origin : p.after_ns;
		if ((usk_i128)p.after_ns - origin > FARTHEST) {
			return usk_fail(err, USK_EINPUT, number,
					"%s: line %llu: over 73 years after the first row", s->path,
					(unsigned long long)number);
		}
		p.after_ns -= origin;
		enum usk_status status = check_point(s, &p, number, err);
		if (status) {
			return status;
		}
		s->point = usk_room(s->point, s->n, &cap, sizeof *s->point);
		s->point[s->n++] = p;
	}
	return s->n > 1 ? USK_OK : usk_fail(err, USK_EINPUT, 0, "%s: fewer than two rows", s->path);
}

enum usk_status sim_series_read(const char *path, uint32_t host, struct sim_series *out,
				struct usk_err *err)
{
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, path, usk_sniff_text, err);
	*out = (struct sim_series){ .host = host, .path = usk_strdup(path) };
	if (status) {
		sim_series_free(out);
		return status;
	}
	status = usk_input_all(&in, err);
	if (status) {
		usk_fail_in(status, err, "%s", path);
	} else {
		const char *text = (const char *)in.data;
		status = read_lines(text, text + in.have, out, err);
	}
	usk_input_close(&in);
	if (status) {
		sim_series_free(out);
	}
	return status;
}

void sim_series_free(struct sim_series *s)
{
	free(s->path);
	free(s->point);
	*s = (struct sim_series){ 0 };
}
