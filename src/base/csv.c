/* SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)1 << 20)

enum usk_status usk_csv_next_line(struct usk_input *in, size_t *used, struct usk_csv_line *out,
				  struct usk_err *err)
{
	bool over = false;
	for (size_t want = 0;;) {
		const char *d = (const char *)in->data + *used;
		size_t left = in->have - *used;
		const char *nl = left ? memchr(d, '\n', left) : NULL;
		size_t n = nl ? (size_t)(nl - d) : left;
		over = over || n > MAX_LINE;
		if (nl || in->end) {
			*used += n + (nl != NULL);
			if (over) {
				return usk_fail(err, USK_EINPUT, 0, "a line is longer than 1 MiB");
			}
			out->text = d;
			out->n = n && d[n - 1] == '\r' ? n - 1 : n;
			out->n_end = n - out->n + (nl != NULL);
			return USK_OK;
		}
		/* Of what is too long nothing is held. */
		want = left + 1 > want * 2 ? left + 1 : want * 2;
		enum usk_status status =
			usk_input_need(in, over ? in->have : *used, over ? 1 : want, err);
		*used = 0;
		if (status) {
			return status;
		}
	}
}

bool usk_csv_is(struct usk_csv_field f, const char *text)
{
	return f.n == strlen(text) && !memcmp(f.text, text, f.n);
}

bool usk_csv_is_time(struct usk_csv_field f, const char *name, enum usk_csv_unit *unit)
{
	static const char *const endings[] = { "_ns", "_s", "",
					       "_ticks" }; /* as enum usk_csv_unit */
	size_t n = strlen(name);
	if (f.n < n || memcmp(f.text, name, n)) {
		return false;
	}
	f.text += n;
	f.n -= n;
	for (size_t i = 0; i < COUNT(endings); i++) {
		if (usk_csv_is(f, endings[i])) {
			*unit = (enum usk_csv_unit)i;
			return true;
		}
	}
	return false;
}

enum usk_status usk_csv_any_time(struct usk_csv_field f, enum usk_csv_unit unit, int64_t *ns,
				 struct usk_err *err)
{
	enum usk_status status =
		unit == USK_CSV_NS || unit == USK_CSV_TICKS ? usk_parse_int(f.text, f.n, ns, err)
		: unit == USK_CSV_S ? usk_parse_decimal(f.text, f.n, 9, ns, NULL, err)
				    : usk_parse_rfc3339(f.text, f.n, ns, err);
	if (!status && (*ns > USK_TIME_MAX || *ns < -USK_TIME_MAX)) {
		status = usk_fail(err, USK_ERANGE, 0, "a stamp is over 2^62 ns (146 years)");
	}
	return status;
}

bool usk_csv_is_rest(struct usk_csv_bad *bad, const char *s, const char *end)
{
	bool odd = false, open = bad->open;
	bad->open = false;
	while (open && s < end) {
		odd ^= *s++ == '"';
	}
	return odd;
}

void usk_csv_bad_add(struct usk_csv_bad *bad, uint64_t line, const char *why)
{
	if (!bad->n++) {
		bad->line = line;
		bad->why = usk_strdup(why);
	}
}

char *usk_csv_bad_text(const struct usk_csv_bad *bad)
{
	if (!bad->n) {
		return NULL;
	}
	return usk_format("line %llu: %s; %llu %s skipped%s", (unsigned long long)bad->line,
			  bad->why, (unsigned long long)bad->n, bad->n == 1 ? "row" : "rows",
			  bad->n == 1 ? "" : ", this is the first");
}

void usk_csv_bad_clear(struct usk_csv_bad *bad)
{
	free(bad->why);
	*bad = (struct usk_csv_bad){ 0 };
}
