/* SPDX-License-Identifier: MIT */
/*
 * messages.c - read message tables: CSV with sender, receiver, sent_ns, received_ns[, bytes]
 *
 * In    a header line with the columns in any order (others are passed over), then a row a
 *       message; a time column is NAME_ns (integer), NAME_s (decimal) or NAME (RFC 3339)
 * Out   messages whose clocks are numbered in order of appearance
 * Why   everyone can write one, and it needs no matching
 * Not   other separators, events or exchanges
 */
#include "read/read.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LINE ((size_t)1 << 20)

enum column { SENDER, RECEIVER, SENT, RECEIVED, BYTES, N_COLUMNS };

enum unit { UNIT_NS, UNIT_S, UNIT_RFC3339 };

struct field {
	const char *text;
	size_t n;
};

struct state {
	size_t where[N_COLUMNS]; /* index of the column in the line, SIZE_MAX if absent */
	enum unit unit[N_COLUMNS];
	size_t width; /* columns up to the last one needed */
	uint64_t line;
	uint32_t *slot; /* hash of names: index + 1 */
	size_t n_slots;
	char *scratch; /* unquoted fields of a line that has quotes */
	size_t scratch_cap;
};

static bool is_column(struct field f, const char *name, enum unit *unit)
{
	size_t n = strlen(name);
	if (f.n < n || memcmp(f.text, name, n)) {
		return false;
	}
	f.text += n;
	f.n -= n;
	if (!f.n) {
		*unit = UNIT_RFC3339;
		return true;
	}
	*unit = f.n == 3 && !memcmp(f.text, "_ns", 3) ? UNIT_NS : UNIT_S;
	return *unit == UNIT_NS || (f.n == 2 && !memcmp(f.text, "_s", 2));
}

/*
 * The next field of a line and where the one after it starts. Quoted as RFC 4180 says; its
 * text is then unquoted into scratch. False: a quote is never closed.
 */
static bool next_field(const char **p, const char *end, char **scratch, struct field *out)
{
	const char *s = *p;
	if (s < end && *s == '"') {
		char *to = *scratch;
		out->text = to;
		for (s++;; s++) {
			if (s == end) {
				return false;
			}
			if (*s == '"') {
				if (s + 1 < end && s[1] == '"') {
					s++;
				} else {
					break;
				}
			}
			*to++ = *s;
		}
		out->n = (size_t)(to - out->text);
		*scratch = to;
		s++;
		if (s < end && *s != ',') {
			return false;
		}
	} else {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		out->text = s;
		s = comma ? comma : end;
		out->n = (size_t)(s - out->text);
	}
	*p = s < end ? s + 1 : NULL;
	return true;
}

/* The next whole line of the window without its line end. had: bytes to drop before it. */
static enum usk_status next_line(struct usk_trace *t, struct field *out, bool *there,
				 struct usk_err *err)
{
	struct usk_input *in = &t->in;
	for (size_t want = 0;;) {
		const char *d = (const char *)in->data + t->used;
		size_t left = in->have - t->used;
		const char *nl = memchr(d, '\n', left);
		size_t n = nl ? (size_t)(nl - d) : left;
		if (n > MAX_LINE) {
			return usk_fail(err, USK_EINPUT, 0, "a line is longer than 1 MiB");
		}
		if (nl || (in->end && left)) {
			t->used += n + (nl != NULL);
			out->text = d;
			out->n = n && d[n - 1] == '\r' ? n - 1 : n;
			*there = true;
			return USK_OK;
		}
		*there = false;
		if (in->end) {
			return USK_OK;
		}
		want = left + 1 > want * 2 ? left + 1 : want * 2;
		enum usk_status status = usk_input_need(in, t->used, want, err);
		t->used = 0;
		if (status) {
			return status;
		}
	}
}

static bool sniff(const uint8_t *d, size_t n)
{
	const char *text = (const char *)d;
	const uint8_t *nl = memchr(d, '\n', n);
	struct field f;
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
		f = (struct field){ p, (size_t)((comma ? comma : end) - p) };
		f.n -= f.n && p[f.n - 1] == '\r';
		if (f.n >= 2 && f.text[0] == '"' && f.text[f.n - 1] == '"') {
			f.text++;
			f.n -= 2;
		}
		sender |= f.n == 6 && !memcmp(f.text, "sender", 6);
		receiver |= f.n == 8 && !memcmp(f.text, "receiver", 8);
		p = comma ? comma + 1 : NULL;
	}
	return sender && receiver;
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const char *const names[] = { "sender", "receiver", "sent", "received", "bytes" };
	struct state *s = t->state ? t->state : (t->state = usk_alloc(1, sizeof *s));
	struct field line, f;
	bool there;
	enum usk_status status = next_line(t, &line, &there, err);
	if (status) {
		usk_fail_in(err, "%s", t->path);
		return status;
	}
	if (!there) {
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
		if (!next_field(&p, line.text + line.n, &scratch, &f)) {
			return usk_fail(err, USK_EINPUT, 1,
					"%s: line 1: a quote is not closed in the header", t->path);
		}
		for (int c = 0; c < N_COLUMNS; c++) {
			enum unit unit = UNIT_NS;
			bool plain = f.n == strlen(names[c]) && !memcmp(f.text, names[c], f.n);
			bool time = c == SENT || c == RECEIVED;
			if (s->where[c] == SIZE_MAX &&
			    (time ? is_column(f, names[c], &unit) : plain)) {
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

static uint64_t hash_name(struct field f)
{
	uint64_t h = f.n;
	for (size_t i = 0; i < f.n; i++) {
		h = (h ^ (uint8_t)f.text[i]) * UINT64_C(0x100000001b3);
	}
	return usk_mix(h);
}

static uint32_t intern(struct usk_trace *t, struct field f)
{
	struct state *s = t->state;
	if ((t->n_clocks + 1) * 2 > s->n_slots) {
		s->n_slots = s->n_slots ? s->n_slots * 2 : 64;
		free(s->slot);
		s->slot = usk_alloc(s->n_slots, sizeof *s->slot);
		for (size_t i = 0; i < t->n_clocks; i++) {
			struct field g = { t->clock_name[i], strlen(t->clock_name[i]) };
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

static enum usk_status parse_time(struct field f, enum unit unit, int64_t *out, struct usk_err *err)
{
	bool minus = f.n && f.text[0] == '-';
	if (unit == UNIT_NS && f.n - minus > 0 && f.n - minus <= 18) {
		/* Up to 18 digits cannot overflow: the case of nearly every row. */
		int64_t x = 0;
		size_t i = minus;
		for (; i < f.n && (unsigned char)(f.text[i] - '0') < 10; i++) {
			x = x * 10 + (f.text[i] - '0');
		}
		if (i == f.n) {
			*out = minus ? -x : x;
			return USK_OK;
		}
	}
	enum usk_status status = unit == UNIT_NS ? usk_parse_int(f.text, f.n, out, err)
				 : unit == UNIT_S
					 ? usk_parse_decimal(f.text, f.n, 9, out, NULL, err)
					 : usk_parse_rfc3339(f.text, f.n, out, err);
	if (!status && (*out > USK_TIME_MAX || *out < -USK_TIME_MAX)) {
		status = usk_fail(err, USK_ERANGE, 0, "a stamp is over 2^62 ns (146 years)");
	}
	return status;
}

/* One row; USK_EINPUT leaves a sentence without file and line. */
static enum usk_status parse_row(struct usk_trace *t, struct field line, struct usk_msg *m,
				 struct usk_err *err)
{
	struct state *s = t->state;
	struct field column[N_COLUMNS] = { { 0 } };
	const char *p = line.text, *end = line.text + line.n;
	if (s->scratch_cap < line.n) {
		s->scratch_cap = line.n;
		s->scratch = usk_grow(s->scratch, s->scratch_cap, 1);
	}
	char *scratch = s->scratch;
	for (size_t i = 0; i < s->width; i++) {
		struct field f;
		if (!p) {
			return usk_fail(err, USK_EINPUT, 0, "has %zu columns where %zu are needed",
					i, s->width);
		}
		if (!next_field(&p, end, &scratch, &f)) {
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
	enum usk_status status = parse_time(column[SENT], s->unit[SENT], &m->sent_ns, err);
	if (!status) {
		status = parse_time(column[RECEIVED], s->unit[RECEIVED], &m->received_ns, err);
	}
	if (status) {
		return status;
	}
	m->bytes = 0;
	if (column[BYTES].n) {
		int64_t bytes;
		status = usk_parse_int(column[BYTES].text, column[BYTES].n, &bytes, err);
		if (status) {
			return status;
		}
		if (bytes < 0 || bytes > UINT32_MAX) {
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
		struct field line = { 0 };
		bool there;
		enum usk_status status = next_line(t, &line, &there, &why);
		if (!status && !there) {
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
			usk_trace_damaged(t, "line %llu: %s: it and what follows are left out",
					  (unsigned long long)s->line, why.msg);
			break;
		}
		(*n)++;
	}
	return USK_OK;
}

static void stop(struct usk_trace *t)
{
	struct state *s = t->state;
	if (s) {
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
