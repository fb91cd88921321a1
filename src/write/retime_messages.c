/* SPDX-License-Identifier: MIT */
/*
 * retime_messages.c - a message table again, with corrected stamps
 *
 * In    CSV with sender, receiver, and their times as NAME_ns, NAME_s or NAME (RFC 3339)
 * Out   the same rows; the times corrected in their own notation, the recorded ones in new
 *       columns sent_raw_ns and received_raw_ns beside them; other fields byte for byte. A row
 *       that cannot be read is left out, and a note tells how many and of the first why
 * Why   the new columns stand beside the old, not at the end, so that rows with fewer or more
 *       fields than the header stay aligned
 * Not   a table that has such columns already keeps what they say: it was corrected before
 */
#include "base/csv.h"
#include "base/text.h"
#include "write/retime.h"

#include <stdlib.h>
#include <string.h>

enum column { SENDER, RECEIVER, SENT, RECEIVED, N_COLUMNS };

/* A field, and the same as it stands in the line, quotes included. */
struct piece {
	struct usk_csv_field f;
	const char *raw;
	size_t n_raw;
};

struct named {
	char *shown;
	uint32_t clock;
};

struct table {
	struct retime *t;
	size_t where[N_COLUMNS];
	enum usk_csv_unit unit[N_COLUMNS];
	bool keep_raw[N_COLUMNS]; /* the table has recorded stamps of its own */
	struct piece *field;
	size_t n, cap;
	char *scratch;
	size_t cap_scratch;
	uint64_t line;
	struct usk_csv_bad bad;
	struct named *name;	 /* sorted */
	struct usk_replay **map; /* by clock */
	bool *asked;
};

/* False if a quote is not closed. */
static bool split(struct table *b, const char *s, const char *end)
{
	if (b->cap_scratch < (size_t)(end - s)) {
		b->cap_scratch = (size_t)(end - s);
		b->scratch = usk_grow(b->scratch, b->cap_scratch, 1);
	}
	char *scratch = b->scratch;
	b->n = 0;
	while (s) {
		struct piece f = { .raw = s };
		if (!usk_csv_next_field(&s, end, &scratch, &f.f)) {
			return false;
		}
		f.n_raw = (size_t)((s ? s - 1 : end) - f.raw);
		b->field = usk_room(b->field, b->n, &b->cap, sizeof *b->field);
		b->field[b->n++] = f;
	}
	return true;
}

static enum usk_status read_header(struct table *b)
{
	static const char *const names[N_COLUMNS] = { "sender", "receiver", "sent", "received" };
	static const char *const raw[N_COLUMNS] = { "", "", "sent_raw_ns", "received_raw_ns" };
	for (int c = 0; c < N_COLUMNS; c++) {
		b->where[c] = SIZE_MAX;
		for (size_t i = 0; i < b->n; i++) {
			struct usk_csv_field f = b->field[i].f;
			b->keep_raw[c] = b->keep_raw[c] || (c >= SENT && usk_csv_is(f, raw[c]));
			if (b->where[c] == SIZE_MAX &&
			    (c < SENT ? usk_csv_is(f, names[c])
				      : usk_csv_is_time(f, names[c], &b->unit[c]))) {
				b->where[c] = i;
			}
		}
		if (b->where[c] == SIZE_MAX) {
			return usk_fail(b->t->err, USK_EINPUT, 1,
					"%s: the message table has no column %s%s", b->t->path,
					names[c], c >= SENT ? "_ns" : "");
		}
	}
	return USK_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->shown, ((const struct named *)b)->shown);
}

static enum usk_status find_clock(struct table *b, struct usk_csv_field f, struct usk_replay **map,
				  struct usk_err *err)
{
	struct retime *t = b->t;
	const struct usk_clocks *c = t->clocks;
	char *name = usk_alloc(f.n + 1, 1);
	memcpy(name, f.text, f.n);
	struct named key = { usk_shown(name), 0 };
	const struct named *found =
		c->n_clocks ? bsearch(&key, b->name, c->n_clocks, sizeof key, by_name) : NULL;
	enum usk_status status = USK_OK;
	if (!found || strlen(name) != f.n) {
		status = usk_fail(err, USK_EINPUT, b->line,
				  "%s: line %llu: clock %.60s is not in the table of clocks",
				  t->path, (unsigned long long)b->line, key.shown);
	} else if (!b->asked[found->clock]) {
		b->asked[found->clock] = true;
		status = usk_write_map(c, found->clock, t->path, t->opt, &b->map[found->clock],
				       t->notes, err);
	}
	*map = status ? NULL : b->map[found->clock];
	free(name);
	free(key.shown);
	return status;
}

static void write_time(struct usk_output *out, enum usk_csv_unit unit, int64_t ns)
{
	char text[64];
	if (unit == USK_CSV_NS) {
		usk_output_format(out, "%lld", (long long)ns);
		return;
	}
	if (unit == USK_CSV_S) {
		usk_seconds_text(ns, text);
	} else {
		usk_time_text(ns, text);
	}
	usk_output_format(out, "%s", text);
}

/*
 * One row. A stamp or shape that cannot be read is damage: *why is set, nothing is written. A
 * clock that cannot be applied is an error.
 */
static enum usk_status row(struct table *b, const char *s, const char *end, bool *damaged,
			   struct usk_err *why)
{
	struct retime *t = b->t;
	size_t last = 0;
	for (int c = 0; c < N_COLUMNS; c++) {
		last = b->where[c] > last ? b->where[c] : last;
	}
	*damaged = true;
	if (usk_csv_is_rest(&b->bad, s, end)) {
		usk_fail(why, USK_EINPUT, 0, "is the rest of the row before it");
		return USK_OK;
	}
	if (!split(b, s, end)) {
		b->bad.open = true;
		usk_fail(why, USK_EINPUT, 0, "has a quote that is not closed");
		return USK_OK;
	}
	if (b->n <= last) {
		usk_fail(why, USK_EINPUT, 0, "has %zu %s where %zu are needed", b->n,
			 b->n == 1 ? "column" : "columns", last + 1);
		return USK_OK;
	}
	for (int c = SENDER; c < SENT; c++) {
		struct usk_csv_field f = b->field[b->where[c]].f;
		if (!f.n) {
			usk_fail(why, USK_EINPUT, 0, "has no %s",
				 c == SENDER ? "sender" : "receiver");
			return USK_OK;
		}
		if (memchr(f.text, 0, f.n)) {
			usk_fail(why, USK_EINPUT, 0, "has a NUL byte in a name");
			return USK_OK;
		}
	}
	int64_t was[N_COLUMNS] = { 0 }, now[N_COLUMNS] = { 0 };
	for (int c = SENT; c < N_COLUMNS; c++) {
		enum usk_status status =
			usk_csv_time(b->field[b->where[c]].f, b->unit[c], &was[c], why);
		if (status == USK_ERANGE) {
			return usk_fail(t->err, status, b->line, "%s: line %llu: %s", t->path,
					(unsigned long long)b->line, why->msg);
		}
		if (status) {
			return USK_OK;
		}
	}
	*damaged = false;
	for (int c = SENT; c < N_COLUMNS; c++) {
		struct usk_replay *map;
		enum usk_status status =
			find_clock(b, b->field[b->where[c - SENT + SENDER]].f, &map, t->err);
		now[c] = was[c];
		if (!status && map) {
			status = usk_replay_many(map, &was[c], 1, &now[c], t->err);
			if (status) {
				usk_fail_in(t->err, "%s: line %llu", t->path,
					    (unsigned long long)b->line);
			}
		}
		if (status) {
			return status;
		}
	}
	for (size_t i = 0; i < b->n; i++) {
		struct usk_output *out = &t->out;
		int c = i == b->where[SENT] ? SENT : i == b->where[RECEIVED] ? RECEIVED : SENDER;
		usk_output_write(out, ",", i ? 1 : 0);
		if (c == SENDER) {
			usk_output_write(out, b->field[i].raw, b->field[i].n_raw);
			continue;
		}
		write_time(out, b->unit[c], now[c]);
		if (!b->keep_raw[c]) {
			usk_output_format(out, ",%lld", (long long)was[c]);
		}
	}
	return USK_OK;
}

static void header(struct table *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct usk_output *out = &b->t->out;
		usk_output_write(out, ",", i ? 1 : 0);
		usk_output_write(out, b->field[i].raw, b->field[i].n_raw);
		if (i == b->where[SENT] && !b->keep_raw[SENT]) {
			usk_output_format(out, ",sent_raw_ns");
		}
		if (i == b->where[RECEIVED] && !b->keep_raw[RECEIVED]) {
			usk_output_format(out, ",received_raw_ns");
		}
	}
}

static enum usk_status header_row(struct table *b, const char *s, const char *end)
{
	static const char bom[] = "\xef\xbb\xbf";
	if (end - s >= 3 && !memcmp(s, bom, 3)) {
		usk_output_write(&b->t->out, bom, 3);
		s += 3;
	}
	if (!split(b, s, end)) {
		return usk_fail(b->t->err, USK_EINPUT, 1,
				"%s: line 1: a quote is not closed in the header", b->t->path);
	}
	enum usk_status status = read_header(b);
	if (!status) {
		header(b);
	}
	return status;
}

static enum usk_status rows(struct table *b)
{
	struct retime *t = b->t;
	size_t used = 0;
	for (b->line = 1; !t->out.failed; b->line++) {
		struct usk_csv_line line = { 0 };
		struct usk_err why = { 0 };
		enum usk_status status = usk_csv_next_line(&t->in, &used, &line, &why);
		bool damaged = status == USK_EINPUT && b->line > 1;
		if (status && !damaged) {
			return usk_fail(t->err, status, why.at, "%s: %s", t->path, why.msg);
		}
		if (!status && !line.n && !line.n_end) {
			break;
		}
		const char *end = line.text + line.n;
		status = USK_OK;
		if (b->line == 1) {
			status = header_row(b, line.text, end);
		} else if (line.n) {
			status = row(b, line.text, end, &damaged, &why);
		}
		if (status) {
			return status;
		}
		if (damaged) {
			usk_csv_bad_add(&b->bad, b->line, why.msg);
		} else {
			usk_output_write(&t->out, end, line.n_end);
		}
		if (b->line % 65536 == 0) {
			usk_retime_progress(t);
		}
	}
	char *damage = usk_csv_bad_text(&b->bad);
	if (damage) {
		usk_note(t->notes, "%s: %s", t->path, damage);
	}
	free(damage);
	return USK_OK;
}

enum usk_status usk_retime_messages(struct retime *t)
{
	const struct usk_clocks *c = t->clocks;
	struct table b = { .t = t };
	b.name = usk_alloc(c->n_clocks, sizeof *b.name);
	b.map = usk_alloc(c->n_clocks, sizeof *b.map);
	b.asked = usk_alloc(c->n_clocks, sizeof *b.asked);
	for (size_t i = 0; i < c->n_clocks; i++) {
		b.name[i] = (struct named){ usk_shown(c->clock[i].name), (uint32_t)i };
	}
	qsort(b.name, c->n_clocks, sizeof *b.name, by_name);
	enum usk_status status = rows(&b);
	for (size_t i = 0; i < c->n_clocks; i++) {
		free(b.name[i].shown);
		usk_replay_free(b.map[i]);
	}
	usk_csv_bad_clear(&b.bad);
	free(b.name);
	free(b.map);
	free(b.asked);
	free(b.field);
	free(b.scratch);
	return status;
}
