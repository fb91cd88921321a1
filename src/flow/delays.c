/* SPDX-License-Identifier: MIT */
/*
 * delays.c - minimum delays: one model for all pairs, or a file with one for each
 *
 * In    the text of --min-delay, the file that it names
 * Out   per sender and receiver a model, or none
 * Why   a delay taken for longer than it is makes bands wrong: a row that cannot be read, or two
 *       of one pair, are an error and not left out
 * Not   what models say (base/delay.c)
 */
#include "flow/flow.h"

#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

enum column { SENDER, RECEIVER, MODEL, COLUMNS };

KEYS_CALLED(by_names, BY(delay_row, sender), BY(delay_row, receiver));

/* The fields of a line that are wanted: column[i] says which. *missing: the first that is not. */
static enum usk_status fields_of(const struct usk_csv_line *line, const size_t column[COLUMNS],
				 char *scratch, struct usk_csv_field out[COLUMNS],
				 struct usk_err *err)
{
	const char *p = line->text, *end = line->text + line->n;
	bool have[COLUMNS] = { false };
	for (size_t i = 0; p; i++) {
		struct usk_csv_field f;
		if (!usk_csv_next_field(&p, end, &scratch, &f)) {
			return usk_fail(err, USK_EINPUT, 0, "a quote is not closed");
		}
		for (int k = 0; k < COLUMNS; k++) {
			if (column[k] == i) {
				out[k] = f;
				have[k] = true;
			}
		}
	}
	if (!have[SENDER] || !have[RECEIVER] || !have[MODEL]) {
		return usk_fail(err, USK_EINPUT, 0, "the row is too short");
	}
	return USK_OK;
}

static enum usk_status header_of(const struct usk_csv_line *line, char *scratch,
				 size_t column[COLUMNS], struct usk_err *err)
{
	static const char *const names[COLUMNS] = { "sender", "receiver", "model" };
	const char *p = line->text, *end = line->text + line->n;
	for (int k = 0; k < COLUMNS; k++) {
		column[k] = SIZE_MAX;
	}
	for (size_t i = 0; p; i++) {
		struct usk_csv_field f;
		if (!usk_csv_next_field(&p, end, &scratch, &f)) {
			break;
		}
		for (int k = 0; k < COLUMNS; k++) {
			column[k] = usk_csv_is(f, names[k]) ? i : column[k];
		}
	}
	for (int k = 0; k < COLUMNS; k++) {
		if (column[k] == SIZE_MAX) {
			return usk_fail(err, USK_EINPUT, 0,
					"has no column \"%s\"; it begins with the line "
					"sender,receiver,model",
					names[k]);
		}
	}
	return USK_OK;
}

static char *text_of(struct usk_csv_field f)
{
	return usk_format("%.*s", (int)f.n, f.text);
}

static enum usk_status add_row(struct delays *d, size_t *cap,
			       const struct usk_csv_field field[COLUMNS], uint64_t line,
			       struct usk_err *err)
{
	struct delay_row row = { .line = line };
	for (int k = SENDER; k <= RECEIVER; k++) {
		if (memchr(field[k].text, 0, field[k].n)) {
			return usk_fail(err, USK_EINPUT, 0, "a clock's name has a zero byte");
		}
	}
	enum usk_status status =
		usk_delay_model_parse(field[MODEL].text, field[MODEL].n, &row.model, err);
	if (!status) {
		row.sender = text_of(field[SENDER]);
		row.receiver = text_of(field[RECEIVER]);
		*USK_ADD(d->row, d->n, *cap) = row;
	}
	return status;
}

enum usk_status usk_delays_read(struct usk_input *in, struct delays *out, struct usk_err *err)
{
	size_t used = 0, cap = 0, column[COLUMNS];
	bool header = false;
	enum usk_status status = USK_OK;
	memset(out, 0, sizeof *out);
	for (uint64_t n = 1; !status; n++) {
		struct usk_csv_line line;
		status = usk_csv_next_line(in, &used, &line, err);
		if (!status && !line.n && !line.n_end) {
			break;
		}
		if (!status && line.n) {
			struct usk_csv_field field[COLUMNS];
			char *scratch = usk_alloc(line.n + 1, 1);
			if (!header) {
				status = header_of(&line, scratch, column, err);
				header = true;
			} else {
				status = fields_of(&line, column, scratch, field, err);
				status = status ? status : add_row(out, &cap, field, n, err);
			}
			free(scratch);
		}
		usk_fail_in(status, err, "line %llu", (unsigned long long)n);
	}
	if (!status && in->lost) {
		status = usk_fail(err, USK_EINPUT, 0, "%s", in->lost);
	}
	if (!status && !header) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "is empty; it begins with the line sender,receiver,model");
	}
	usk_sort(out->row, out->n, sizeof *out->row, by_names);
	for (size_t i = 1; i < out->n && !status; i++) {
		const struct delay_row *a = &out->row[i - 1], *b = &out->row[i];
		if (!usk_order_by(a, b, by_names)) {
			status = usk_fail(err, USK_EINPUT, 0,
					  "lines %llu and %llu are of the same sender and receiver",
					  (unsigned long long)(a->line < b->line ? a : b)->line,
					  (unsigned long long)(a->line < b->line ? b : a)->line);
		}
	}
	if (status) {
		usk_delays_free(out);
	}
	return status;
}

enum usk_status usk_delays_of(const char *text, struct delays *out, struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	if (!text) {
		return USK_OK;
	}
	enum usk_status status;
	if (*text == '@') {
		struct usk_input in;
		status = usk_input_open(&in, text + 1, usk_sniff_text, err);
		if (!status) {
			status = usk_delays_read(&in, out, err);
			usk_input_close(&in);
			usk_fail_in(status, err, "%s", text + 1);
		}
		return status;
	}
	status = usk_delay_model_parse(text, strlen(text), &out->model, err);
	if (status) {
		usk_fail_in(status, err, "--min-delay %s", text);
		if (err) {
			err->code = USK_EUSAGE;
		}
		return USK_EUSAGE;
	}
	out->any = out->model.base_ps || out->model.first_ps || out->model.per_byte_ps;
	return USK_OK;
}

void usk_delays_free(struct delays *d)
{
	for (size_t i = 0; i < d->n; i++) {
		USK_FREE(d->row[i].sender, d->row[i].receiver);
	}
	free(d->row);
	memset(d, 0, sizeof *d);
}

const struct usk_delay_model *usk_delays_find(const struct delays *d, const char *sender,
					      const char *receiver)
{
	if (d->any || !d->n) {
		return d->any ? &d->model : NULL;
	}
	struct delay_row key = { .sender = (char *)sender, .receiver = (char *)receiver };
	const struct delay_row *row = usk_find(&key, d->row, d->n, sizeof key, by_names);
	return row ? &row->model : NULL;
}

bool usk_delays_sized(const struct delays *d)
{
	bool any = d->any && (d->model.first_ps || d->model.per_byte_ps);
	for (size_t i = 0; i < d->n; i++) {
		any = any || d->row[i].model.first_ps || d->row[i].model.per_byte_ps;
	}
	return any;
}

static void state_delay(const struct parties *p, uint32_t from, uint32_t to, struct usk_clocks *c)
{
	int64_t ns = usk_delay_model_ns(usk_parties_delay(p, from, to), 0);
	if (ns) {
		c->stated_delay[c->n_stated_delays++] = (struct usk_stated_delay){ from, to, ns };
	}
}

void usk_delays_state(const struct parties *p, struct usk_clocks *c)
{
	c->stated_delay = usk_alloc(2 * p->n_pairs + 1, sizeof *c->stated_delay);
	for (size_t i = 0; i < p->n_pairs; i++) {
		state_delay(p, p->pair[i].a, p->pair[i].b, c);
		state_delay(p, p->pair[i].b, p->pair[i].a, c);
	}
}
