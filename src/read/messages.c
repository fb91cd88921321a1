/* SPDX-License-Identifier: MIT */
/*
 * messages.c - read message tables: CSV with sender, receiver, sent_ns, received_ns[, bytes]
 *
 * In    a header line with the columns in any order (others are passed over), then a row a
 *       message; a time column is NAME_ns (integer), NAME_s (decimal) or NAME (RFC 3339)
 * Out   messages whose clocks are numbered in order of appearance
 * Why   everyone can write one, and it needs no matching
 *       A row that cannot be read is left out, and the damage tells how many and of the first why
 * Not   other separators, events or exchanges
 */
#include "read/read.h"
#include "base/csv.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum column { SENDER, RECEIVER, SENT, RECEIVED, BYTES, N_COLUMNS };

struct state {
	size_t where[N_COLUMNS]; /* index of the column in the line, SIZE_MAX if absent */
	enum usk_csv_unit unit[N_COLUMNS];
	size_t width; /* columns up to the last one needed */
	uint64_t line;
	struct usk_csv_bad bad;
	uint32_t *slot; /* hash of names: index + 1 */
	size_t n_slots;
	char *scratch; /* unquoted fields of a line that has quotes */
	size_t scratch_cap;
};

static bool sniff(const uint8_t *d, size_t n)
{
	const char *text = (const char *)d;
	const uint8_t *nl = memchr(d, '\n', n);
	struct usk_csv_field f;
	bool sender = false, receiver = false;
	if (n >= 3 && !memcmp(d, "\xef\xbb\xbf", 3)) {
		text += 3;
	}
	const char *end = nl ? (const char *)nl : (const char *)d + n;
	if (memchr(d, 0, (size_t)(end - (const char *)d))) {
		return false;
	}
	for (const char *p = text; p && p <= end;) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		f = (struct usk_csv_field){ .text = p, .n = (size_t)((comma ? comma : end) - p) };
		f.n -= f.n && p[f.n - 1] == '\r';
		if (f.n >= 2 && f.text[0] == '"' && f.text[f.n - 1] == '"') {
			f.text++;
			f.n -= 2;
		}
		sender |= usk_csv_is(f, "sender");
		receiver |= usk_csv_is(f, "receiver");
		p = comma ? comma + 1 : NULL;
	}
	return sender && receiver;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const char *const names[] = { "sender", "receiver", "sent", "received", "bytes" };
	struct state *s = t->state ? t->state : (t->state = usk_alloc(1, sizeof *s));
	struct usk_csv_line line;
	struct usk_csv_field f;
	usk_csv_bad_clear(&s->bad);
	enum usk_status status = usk_csv_next_line(&t->in, &t->used, &line, err);
	if (status) {
		usk_fail_in(err, "%s", t->path);
		return status;
	}
	if (!line.n && !line.n_end) {
		return usk_fail(err, USK_EINPUT, 1, "%s: has no header line", t->path);
	}
	if (line.n >= 3 && !memcmp(line.text, "\xef\xbb\xbf", 3)) {
		line.text += 3;
		line.n -= 3;
	}
	for (int c = 0; c < N_COLUMNS; c++) {
		s->where[c] = SIZE_MAX;
	}
	if (s->scratch_cap < line.n) {
		s->scratch_cap = line.n;
		s->scratch = usk_grow(s->scratch, s->scratch_cap, 1);
	}
	char *scratch = s->scratch;
	const char *p = line.text;
	s->width = 0;
	for (size_t i = 0; p; i++) {
		if (!usk_csv_next_field(&p, line.text + line.n, &scratch, &f)) {
			return usk_fail(err, USK_EINPUT, 1,
					"%s: line 1: a quote is not closed in the header", t->path);
		}
		for (int c = 0; c < N_COLUMNS; c++) {
			enum usk_csv_unit unit = USK_CSV_NS;
			bool time = c == SENT || c == RECEIVED;
			if (s->where[c] == SIZE_MAX && (time ? usk_csv_is_time(f, names[c], &unit)
							     : usk_csv_is(f, names[c]))) {
				s->where[c] = i;
				s->unit[c] = unit;
				s->width = i + 1;
			}
		}
	}
	for (int c = 0; c < BYTES; c++) {
		if (s->where[c] == SIZE_MAX) {
			bool time = c == SENT || c == RECEIVED;
			return usk_fail(err, USK_EINPUT, 1,
					"%s: line 1: the message table has no column %s%s", t->path,
					names[c], time ? "_ns" : "");
		}
	}
	s->line = 1;
	return USK_OK;
}

static uint64_t hash_name(struct usk_csv_field f)
{
	uint64_t h = f.n;
	for (size_t i = 0; i < f.n; i++) {
		h = (h ^ (uint8_t)f.text[i]) * UINT64_C(0x100000001b3);
	}
	return usk_mix(h);
}

static uint32_t intern(struct usk_trace *t, struct usk_csv_field f)
{
	struct state *s = t->state;
	if ((t->n_clocks + 1) * 2 > s->n_slots) {
		s->n_slots = s->n_slots ? s->n_slots * 2 : 64;
		free(s->slot);
		s->slot = usk_alloc(s->n_slots, sizeof *s->slot);
		for (size_t i = 0; i < t->n_clocks; i++) {
			struct usk_csv_field g = { .text = t->clock_name[i],
						   .n = strlen(t->clock_name[i]) };
			size_t k = hash_name(g) & (s->n_slots - 1);
			while (s->slot[k]) {
				k = (k + 1) & (s->n_slots - 1);
			}
			s->slot[k] = (uint32_t)i + 1;
		}
	}
	size_t k = hash_name(f) & (s->n_slots - 1);
	for (; s->slot[k]; k = (k + 1) & (s->n_slots - 1)) {
		const char *name = t->clock_name[s->slot[k] - 1];
		if (!strncmp(name, f.text, f.n) && !name[f.n]) {
			return s->slot[k] - 1;
		}
	}
	t->clock_name = usk_room(t->clock_name, t->n_clocks, &t->cap_clocks, sizeof *t->clock_name);
	char *name = usk_alloc(f.n + 1, 1);
	memcpy(name, f.text, f.n);
	t->clock_name[t->n_clocks++] = name;
	s->slot[k] = (uint32_t)t->n_clocks;
	return (uint32_t)t->n_clocks - 1;
}

/* One row; USK_EINPUT leaves a sentence without file and line. */
static enum usk_status parse_row(struct usk_trace *t, struct usk_csv_line line, struct usk_msg *m,
				 struct usk_err *err)
{
	struct state *s = t->state;
	struct usk_csv_field column[N_COLUMNS] = { { 0 } };
	const char *p = line.text, *end = line.text + line.n;
	if (s->scratch_cap < line.n) {
		s->scratch_cap = line.n;
		s->scratch = usk_grow(s->scratch, s->scratch_cap, 1);
	}
	char *scratch = s->scratch;
	if (s->bad.open && usk_csv_is_rest(&s->bad, p, end)) {
		return usk_fail(err, USK_EINPUT, 0, "is the rest of the row before it");
	}
	for (size_t i = 0; i < s->width; i++) {
		struct usk_csv_field f;
		if (!p) {
			return usk_fail(err, USK_EINPUT, 0, "has %zu %s where %zu are needed", i,
					i == 1 ? "column" : "columns", s->width);
		}
		if (!usk_csv_next_field(&p, end, &scratch, &f)) {
			s->bad.open = true;
			return usk_fail(err, USK_EINPUT, 0, "has a quote that is not closed");
		}
		for (int c = 0; c < N_COLUMNS; c++) {
			if (s->where[c] == i) {
				column[c] = f;
			}
		}
	}
	if (!column[SENDER].n || !column[RECEIVER].n) {
		return usk_fail(err, USK_EINPUT, 0, "has no %s",
				column[SENDER].n ? "receiver" : "sender");
	}
	if (memchr(column[SENDER].text, 0, column[SENDER].n) ||
	    memchr(column[RECEIVER].text, 0, column[RECEIVER].n)) {
		return usk_fail(err, USK_EINPUT, 0, "has a NUL byte in a name");
	}
	enum usk_status status = usk_csv_time(column[SENT], s->unit[SENT], &m->sent_ns, err);
	if (!status) {
		status = usk_csv_time(column[RECEIVED], s->unit[RECEIVED], &m->received_ns, err);
	}
	if (status) {
		return status;
	}
	m->bytes = 0;
	if (column[BYTES].n) {
		int64_t bytes;
		status = usk_parse_int(column[BYTES].text, column[BYTES].n, &bytes, err);
		if (status == USK_EINPUT) {
			return status;
		}
		if (status || bytes < 0 || bytes > UINT32_MAX) {
			return usk_fail(err, USK_EINPUT, 0, "has an impossible number of bytes");
		}
		m->bytes = (uint32_t)bytes;
	}
	m->from = intern(t, column[SENDER]);
	m->to = intern(t, column[RECEIVER]);
	return USK_OK;
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	struct state *s = t->state;
	struct usk_err why;
	*n = 0;
	while (*n < cap) {
		struct usk_csv_line line = { 0 };
		enum usk_status status = usk_csv_next_line(&t->in, &t->used, &line, &why);
		if (!status && !line.n && !line.n_end) {
			char *damage = usk_csv_bad_text(&s->bad);
			if (damage) {
				usk_trace_damaged(t, "%s", damage);
			}
			free(damage);
			t->done = true;
			break;
		}
		s->line++;
		if (!status && !line.n) {
			continue; /* empty lines at the end are common */
		}
		if (!status) {
			status = parse_row(t, line, &out[*n], &why);
		}
		if (status == USK_ERANGE) {
			return usk_fail(err, status, s->line, "%s: line %llu: %s", t->path,
					(unsigned long long)s->line, why.msg);
		}
		if (status == USK_EIO) {
			return usk_fail(err, status, s->line, "%s: %s", t->path, why.msg);
		}
		if (status) {
			usk_csv_bad_add(&s->bad, s->line, why.msg);
		}
		*n += !status;
	}
	return USK_OK;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
		usk_csv_bad_clear(&s->bad);
		free(s->slot);
		free(s->scratch);
	}
	free(s);
	t->state = NULL;
}

const struct reader usk_reader_messages = {
	.info = { "messages",
		  "CSV message tables: sender,receiver,sent_ns,received_ns[,bytes][,id]",
		  USK_TRACE_TABLE },
	.sniff = sniff,
	.start = start,
	.messages = messages,
	.stop = stop,
};
