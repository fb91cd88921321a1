/* SPDX-License-Identifier: MIT */
/*
 * retime_table.c - a table again, with corrected stamps
 *
 * In    a table of messages, events or exchanges, as CSV or JSON lines
 * Out   the same rows; the times corrected in their own notation, the recorded ones in new columns
 *       NAME_raw_ns beside them; stamps in NAME_ticks stay, and NAME_ns comes beside them; all
 *       else byte for byte. A row that cannot be read is left out, and a note tells how many and
 *       of the first why
 * Why   the new columns stand beside the old, not at the end, so that rows with fewer or more
 *       fields than the header stay aligned
 * Not   a table that has such columns already keeps what they say: it was corrected before
 */
#include "base/table.h"
#include "base/text.h"
#include "match/match.h"
#include "write/retime.h"

#include <stdlib.h>
#include <string.h>

struct named {
	char *shown;
	uint32_t clock;
};

struct retimed {
	struct retime *t;
	struct usk_table table;
	bool keep_raw[USK_TABLE_COLUMNS]; /* the table has recorded stamps of its own */
	bool again;			  /* and so was corrected before */
	struct named *name;		  /* sorted */
	uint64_t rows;			  /* written */
	/* Where the order of rows says that clocks were set back, as it said to sync. */
	bool noting; /* rows are only looked at, for that */
	void (*note)(struct usk_rows *r, const struct usk_msg *m); /* NULL: they are placed */
	struct usk_rows order;
	struct usk_row_place *place;
	/* By clock, else: where stamps themselves tell; NULL: it was never set back. */
	struct usk_alone **alone;
	bool *in_no_order; /* by clock: the order of rows told sync where it was set back, but not of these */
};

/* The clock of this name. */
static enum usk_status clock_of(struct retimed *b, struct usk_csv_field f, uint32_t *clock)
{
	struct retime *t = b->t;
	char *name = usk_format("%.*s", (int)f.n, f.text);
	struct named key = { usk_shown(name), 0 };
	const struct named *found =
		bsearch(&key, b->name, t->clocks->n_clocks, sizeof key, usk_by_string);
	enum usk_status status =
		found ? USK_OK
		      : usk_fail(t->err, USK_EINPUT, b->table.number,
				 "%s: line %llu: clock %.60s is not in the table of clocks",
				 t->path, (unsigned long long)b->table.number, key.shown);
	*clock = found ? found->clock : 0;
	free(name);
	free(key.shown);
	return status;
}

static void write_time(struct usk_output *out, enum usk_csv_unit unit, int64_t ns)
{
	char text[64];
	if (unit == USK_CSV_NS || unit == USK_CSV_TICKS) {
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

struct stamp {
	const struct usk_cell *cell; /* NULL: the row has none */
	int64_t was_ns, now_ns;
	bool ticks; /* recorded as such */
	uint32_t clock;
	size_t epoch, certain;
};

/* The cell again, corrected, and the stamp as recorded beside it. */
static void write_stamp(struct retimed *b, size_t column, const struct stamp *s)
{
	struct usk_output *out = &b->t->out;
	const struct usk_cell *c = s->cell;
	const char *name = b->table.kind->column[column].name;
	bool json = b->table.json, ticks = c->unit == USK_CSV_TICKS;
	bool quoted = json && c->n_raw && *c->raw == '"';
	if (ticks) {
		usk_output_write(out, c->raw, c->n_raw);
		usk_output_format(out, json ? ",\"%s_ns\":" : ",", name);
	}
	usk_output_write(out, "\"", quoted && !ticks);
	write_time(out, c->unit, s->now_ns);
	usk_output_write(out, "\"", quoted && !ticks);
	b->again = b->again || (b->keep_raw[column] && !ticks && b->t->map);
	if (ticks || b->keep_raw[column]) {
		return;
	}
	usk_output_format(out, json ? ",\"%s_raw_ns\":" : ",", name);
	if (s->ticks) {
		usk_output_write(out, c->raw, c->n_raw);
	} else {
		usk_output_format(out, "%lld", (long long)s->was_ns);
	}
}

static void write_row(struct retimed *b, const struct stamp *stamp)
{
	const struct usk_csv_line *line = &b->table.line;
	const char *at = line->text, *end = line->text + line->n;
	for (;;) {
		size_t next = SIZE_MAX;
		for (size_t c = 0; c < b->table.kind->n; c++) {
			if (stamp[c].cell && stamp[c].cell->raw >= at &&
			    (next == SIZE_MAX || stamp[c].cell->raw < stamp[next].cell->raw)) {
				next = c;
			}
		}
		if (next == SIZE_MAX) {
			break;
		}
		usk_output_write(&b->t->out, at, (size_t)(stamp[next].cell->raw - at));
		write_stamp(b, next, &stamp[next]);
		at = stamp[next].cell->raw + stamp[next].cell->n_raw;
	}
	usk_output_write(&b->t->out, at, (size_t)(end - at) + line->n_end);
}

/* Stamps of a row's messages stand in pairs, sent and received; an event's stands alone. The next
 * pair from column *c on; false: there is none. */
static bool next_message(const struct retimed *b, struct stamp *stamp, size_t *c,
			 struct stamp **sent, struct stamp **received)
{
	*sent = NULL;
	for (; *c < b->table.kind->n; ++*c) {
		struct stamp *s = &stamp[*c];
		if (!b->table.kind->column[*c].time) {
			continue;
		}
		if (*sent && (*sent)->cell && s->cell && (*sent)->clock != s->clock) {
			*received = s;
			++*c;
			return true;
		}
		*sent = *sent ? NULL : s;
	}
	return false;
}

/* Does the order of rows tell the clock's epochs? */
static bool in_order(const struct retimed *b, uint32_t clock)
{
	return clock < b->order.n && b->order.clock[clock].epochs.n;
}

static void row_messages(struct retimed *b, struct stamp *stamp)
{
	struct stamp *sent, *s;
	for (size_t c = 0; next_message(b, stamp, &c, &sent, &s);) {
		const struct usk_msg m = { .from = sent->clock,
					   .to = s->clock,
					   .sent_ns = sent->was_ns,
					   .received_ns = s->was_ns };
		size_t certain[2] = { 0, 0 }, likely[2] = { 0, 0 };
		if (b->note) {
			b->note(&b->order, &m);
		} else {
			usk_rows_place(&b->order, b->place, &m, certain, likely);
		}
		if (in_order(b, sent->clock)) {
			sent->epoch = likely[0];
			sent->certain = certain[0];
		}
		if (in_order(b, s->clock)) {
			s->epoch = likely[1];
			s->certain = certain[1];
		}
	}
}

/* Epochs as sync has them: of rows by their order where that tells, else of stamps that one epoch
 * alone can have shown. SIZE_MAX: neither; but for spans and collectives, the order in which a clock
 * showed stamps may tell. */
static void find_epochs(struct retimed *b, struct stamp *stamp)
{
	for (size_t c = 0; c < b->table.kind->n; c++) {
		const struct usk_alone *alone = b->alone ? b->alone[stamp[c].clock] : NULL;
		if (stamp[c].cell && alone) {
			stamp[c].epoch = stamp[c].certain = usk_alone_epoch(alone, stamp[c].was_ns);
		}
	}
	if (b->noting || b->alone) {
		row_messages(b, stamp);
	}
}

/* Spans and collectives are never asked for the order of their rows. */
static bool has_order(const struct retimed *b)
{
	return b->table.kind != &usk_table_spans && b->table.kind != &usk_table_collectives;
}

/* A clock was set back, and neither its stamp nor the order of rows tells whether this is from before that. */
static bool is_unsure(const struct retimed *b, const struct stamp *s)
{
	if (s->epoch != SIZE_MAX || !b->alone) {
		return false;
	}
	return has_order(b) ? b->in_no_order[s->clock] : b->alone[s->clock] != NULL;
}

static enum usk_status correct(struct retimed *b, struct stamp *s)
{
	struct retime *t = b->t;
	enum usk_status status = usk_retime_by(t, s->clock);
	s->now_ns = s->was_ns;
	if (!status && t->map && is_unsure(b, s)) {
		return usk_fail(t->err, USK_EINPUT, b->table.number,
				"%s: line %llu: clock %s was stepped backward, and nothing tells "
				"whether this stamp is from before or after that, as rows are in "
				"no order that does%s",
				t->path, (unsigned long long)b->table.number,
				t->clocks->clock[s->clock].name,
				has_order(b) ? "; apply all tables as one, joined in the order in "
					       "which they were recorded"
					     : "");
	}
	if (!status && t->map) {
		status =
			s->epoch != SIZE_MAX
				? usk_replay_in(t->map, s->epoch, &s->was_ns, 1, &s->now_ns, t->err)
				: usk_replay_many(t->map, &s->was_ns, 1, &s->now_ns, t->err);
		usk_fail_in(status, t->err, "%s: line %llu", t->path,
			    (unsigned long long)b->table.number);
	}
	return status;
}

/* Where a message would be received before it was sent by the epochs that are likely, it is put in
 * order by those that bounds are for. */
static enum usk_status correct_row(struct retimed *b, struct stamp *stamp)
{
	struct stamp *sent, *s;
	enum usk_status status = USK_OK;
	for (size_t c = 0; c < b->table.kind->n && !status; c++) {
		status = stamp[c].cell ? correct(b, &stamp[c]) : USK_OK;
	}
	for (size_t c = 0; !status && next_message(b, stamp, &c, &sent, &s);) {
		bool vague = sent->epoch != sent->certain || s->epoch != s->certain;
		if (vague && s->now_ns < sent->now_ns) {
			sent->epoch = sent->certain;
			s->epoch = s->certain;
			status = correct(b, sent);
			status = status ? status : correct(b, s);
		}
	}
	return status;
}

/*
 * One row. A stamp that cannot be read is damage: USK_EINPUT with why. A clock that cannot be
 * applied, and a time that cannot be, are errors of the whole, in t->err.
 */
static enum usk_status row(struct retimed *b, bool *damaged, struct usk_err *why)
{
	struct retime *t = b->t;
	const struct usk_table *table = &b->table;
	const struct usk_read_options *read = t->opt ? t->opt->read : NULL;
	struct stamp stamp[USK_TABLE_COLUMNS] = { { 0 } };
	for (size_t c = 0; c < table->kind->n; c++) {
		const struct usk_cell *cell = &table->cell[c];
		if (!table->kind->column[c].time || !cell->f.text) {
			continue;
		}
		struct usk_csv_field name = table->cell[table->kind->column[c].clock].f;
		enum usk_status status =
			usk_cell_time(read, name, cell, &stamp[c].was_ns, &stamp[c].ticks, why);
		if (status == USK_ERANGE) {
			return usk_fail(t->err, status, table->number, "%s: line %llu: %s", t->path,
					(unsigned long long)table->number, why->msg);
		}
		if (status) {
			*damaged = true;
			return USK_OK;
		}
		stamp[c].cell = cell;
	}
	for (size_t c = 0; c < table->kind->n; c++) {
		struct usk_csv_field name = table->cell[table->kind->column[c].clock].f;
		enum usk_status status =
			stamp[c].cell ? clock_of(b, name, &stamp[c].clock) : USK_OK;
		if (status) {
			return status;
		}
	}
	find_epochs(b, stamp);
	if (b->noting) {
		return USK_OK;
	}
	enum usk_status status = correct_row(b, stamp);
	if (!status) {
		write_row(b, stamp);
	}
	return status;
}

/* The columns of times get their neighbours, unless the table has them. */
static void header(struct retimed *b)
{
	struct usk_output *out = &b->t->out;
	const struct usk_csv_line *line = &b->table.line;
	const char *p = line->text, *end = p + line->n;
	char *scratch = usk_alloc(line->n + 1, 1), *to = scratch;
	struct usk_csv_field f;
	while (p && usk_csv_next_field(&p, end, &to, &f)) {
		for (size_t c = 0; c < b->table.kind->n; c++) {
			char *raw = usk_format("%s_raw_ns", b->table.kind->column[c].name);
			b->keep_raw[c] = b->keep_raw[c] || usk_csv_is(f, raw);
			free(raw);
		}
	}
	if (b->table.bom) {
		usk_output_write(out, "\xef\xbb\xbf", 3);
	}
	size_t i = 0;
	to = scratch;
	for (p = line->text; p; i++) {
		const char *raw = p;
		usk_csv_next_field(&p, end, &to, &f);
		usk_output_write(out, ",", i > 0);
		usk_output_write(out, raw, (size_t)((p ? p - 1 : end) - raw));
		int c = i < b->table.width ? b->table.column[i] : -1;
		if (c >= 0 && b->table.kind->column[c].time) {
			const char *name = b->table.kind->column[c].name;
			if (b->table.cell[c].unit == USK_CSV_TICKS) {
				usk_output_format(out, ",%s_ns", name);
			} else if (!b->keep_raw[c]) {
				usk_output_format(out, ",%s_raw_ns", name);
			}
		}
	}
	usk_output_write(out, end, line->n_end);
	free(scratch);
}

/* Does this object keep recorded stamps of its own? */
static void look_for_raw(struct retimed *b)
{
	for (size_t c = 0; c < b->table.kind->n; c++) {
		char *raw = usk_format("\"%s_raw_ns\"", b->table.kind->column[c].name);
		b->keep_raw[c] = b->table.kind->column[c].time &&
				 memmem(b->table.line.text, b->table.line.n, raw, strlen(raw));
		free(raw);
	}
}

static enum usk_status rows(struct retimed *b)
{
	struct retime *t = b->t;
	struct usk_table *table = &b->table;
	size_t used = 0;
	bool more = true;
	const struct usk_table_kind *kind = usk_table_sniff(t->in.data, t->in.have);
	enum usk_status status = usk_table_start(table, kind, &t->in, &used, t->err);
	if (status) {
		return usk_fail_in(status, t->err, "%s", t->path);
	}
	if (!table->json && !b->noting) {
		header(b);
	}
	while (!t->out.failed) {
		struct usk_err why = { 0 };
		status = usk_table_next(table, &t->in, &used, &more, &why);
		if (status && status != USK_EINPUT) {
			return usk_fail(t->err, status, why.at, "%s: %s", t->path, why.msg);
		}
		if (!status && !more) {
			break;
		}
		bool damaged = status != USK_OK;
		if (table->blank) {
			usk_output_write(&t->out, table->line.text,
					 b->noting ? 0 : table->line.n_end);
		} else if (!damaged) {
			if (table->json) {
				look_for_raw(b);
			}
			status = row(b, &damaged, &why);
			if (status) {
				return status;
			}
			b->rows += !damaged;
		}
		if (damaged) {
			usk_table_left_out(table, why.msg);
		}
		if (table->number % 65536 == 0) {
			usk_retime_progress(t, usk_input_pos(&t->in, 0));
		}
	}
	char *damage = usk_csv_bad_text(&table->bad);
	status = USK_OK;
	if (damage && !b->rows) {
		status = usk_fail(t->err, USK_EINPUT, table->bad.line, "%s: %s", t->path, damage);
	} else if (damage && !b->noting) {
		usk_note(t->notes, "%s: %s", t->path, damage);
	}
	free(damage);
	if (!status && b->again) {
		usk_retime_again(t, NULL);
	}
	return status;
}

static bool was_set_back(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (c->clock[i].n_set_backs) {
			return true;
		}
	}
	return false;
}

/* All rows, to look at them alone; then the table is at its start again. */
static enum usk_status look_at_rows(struct retimed *b)
{
	struct retime *t = b->t;
	b->noting = true;
	enum usk_status status = rows(b);
	b->noting = false;
	b->rows = 0;
	usk_table_free(&b->table);
	b->table = (struct usk_table){ 0 };
	usk_input_rewind(&t->in);
	return status ? status : usk_input_need(&t->in, 0, 4096, t->err);
}

/* Where the clock was set back, as sync has it. */
static void tell_epochs(struct retimed *b, uint32_t clock)
{
	const struct usk_clock *k = &b->t->clocks->clock[clock];
	struct usk_epochs e = { usk_alloc(k->n_set_backs + 1, sizeof *e.epoch), k->n_set_backs };
	for (size_t i = 0; i < e.n; i++) {
		e.epoch[i] = (struct usk_epoch){ .before_ns = k->set_back[i].from_ns,
						 .after_ns = k->set_back[i].to_ns };
	}
	usk_rows_told(&b->order, clock, &e);
	b->alone[clock] = e.n ? usk_alone_new(&e) : NULL;
	usk_epochs_free(&e);
}

/* The order of rows told sync where these were set back in other tables, and not in this one. */
static void find_unordered(struct retimed *b)
{
	const struct usk_clocks *c = b->t->clocks;
	const struct usk_trace_info *own = usk_clocks_trace(c, b->t->path, USK_NO_CLOCK);
	b->in_no_order = usk_alloc(c->n_clocks, sizeof *b->in_no_order);
	for (size_t i = 0; i < c->n_traces && own; i++) {
		const struct usk_trace_info *other = &c->trace[i];
		for (size_t k = 0; k < other->n_begins && other->kind == own->kind; k++) {
			b->in_no_order[other->begin[k].clock] = true;
		}
	}
	for (size_t k = 0; own && k < own->n_begins; k++) {
		b->in_no_order[own->begin[k].clock] = false;
	}
	for (size_t i = 0; i < c->n_clocks && i < b->order.n; i++) {
		if (b->in_no_order[i]) {
			usk_epochs_free(&b->order.clock[i].epochs);
		}
	}
}

static enum usk_status note_order(struct retimed *b)
{
	struct retime *t = b->t;
	size_t n = t->clocks->n_clocks;
	b->note = usk_rows_note;
	enum usk_status status = look_at_rows(b);
	b->alone = usk_alloc(n, sizeof(struct usk_alone *));
	for (size_t i = 0; i < n; i++) {
		tell_epochs(b, (uint32_t)i);
	}
	bool any = !status && usk_rows_found(&b->order);
	find_unordered(b);
	b->note = usk_rows_own;
	status = any ? look_at_rows(b) : status;
	b->note = NULL;
	b->place = usk_alloc(n, sizeof *b->place);
	if (any && !status) {
		status = look_at_rows(b);
		usk_rows_lags(&b->order, b->place);
		memset(b->place, 0, n * sizeof *b->place);
	}
	return status;
}

enum usk_status usk_retime_table(struct retime *t)
{
	const struct usk_clocks *c = t->clocks;
	struct retimed b = { .t = t };
	b.name = usk_alloc(c->n_clocks, sizeof *b.name);
	for (size_t i = 0; i < c->n_clocks; i++) {
		b.name[i] = (struct named){ usk_shown(c->clock[i].name), (uint32_t)i };
	}
	qsort(b.name, c->n_clocks, sizeof *b.name, usk_by_string);
	enum usk_status status = was_set_back(c) ? note_order(&b) : USK_OK;
	status = status ? status : rows(&b);
	for (size_t i = 0; i < c->n_clocks; i++) {
		free(b.name[i].shown);
	}
	usk_table_free(&b.table);
	usk_rows_free(&b.order);
	free(b.place);
	for (size_t i = 0; i < c->n_clocks && b.alone; i++) {
		usk_alone_free(b.alone[i]);
	}
	USK_FREE(b.alone, b.in_no_order, b.name);
	return status;
}
