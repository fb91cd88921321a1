/* SPDX-License-Identifier: MIT */
#include "history/history.h"
#include "base/text.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>

struct usk_part usk_history_part(struct usk_history *h, const char *text, size_t n)
{
	struct usk_part part = { h->text.n, n };
	usk_edn_put(&h->text, text, n);
	return part;
}

const char *usk_history_text(const struct usk_history *h, struct usk_part part)
{
	return h->text.s + part.at;
}

uint32_t usk_history_clock(struct usk_history *h, const char *name, size_t n)
{
	struct usk_event_id id = usk_event_id(name, n);
	return usk_texts_number(&h->clock, id.word[0], id.word[1], name, n);
}

int64_t usk_history_number(const char *process, size_t n)
{
	int64_t number;
	bool is = !usk_parse_int(process, n, &number, NULL) && number >= 0 && number <= INT32_MAX;
	return is ? number : -1;
}

uint32_t usk_history_client(struct usk_history *h, uint32_t clock, const char *process, size_t n)
{
	struct usk_event_id id = usk_event_id(process, n);
	uint64_t *number = usk_index_value(&h->by_process,
					   id.word[0] ^ usk_mix(clock + UINT64_C(1)), id.word[1]);
	if (!*number) {
		*USK_ADD(h->client, h->n_clients, h->cap_clients) =
			(struct usk_client){ clock, usk_history_part(h, process, n) };
		*number = h->n_clients;
	}
	return (uint32_t)(*number - 1);
}

struct usk_op *usk_history_add(struct usk_history *h)
{
	h->op = usk_room(h->op, h->n, &h->cap, sizeof *h->op);
	struct usk_op *op = &h->op[h->n++];
	*op = (struct usk_op){ .end = USK_OP_NONE, .call_ns = USK_NONE, .return_ns = USK_NONE };
	return op;
}

/* ---- clocks of processes ----------------------------------------------------------------- */

/* "7" or "0-4". */
static bool parse_range(const char *s, size_t n, int64_t *from, int64_t *to)
{
	const char *dash = n ? memchr(s + 1, '-', n - 1) : NULL;
	*from = usk_history_number(s, dash ? (size_t)(dash - s) : n);
	*to = dash ? usk_history_number(dash + 1, n - (size_t)(dash + 1 - s)) : *from;
	return *from >= 0 && *to >= *from;
}

/* As a user types it: without a colon or quotes. */
static struct usk_csv_field plain(const char *s, size_t n)
{
	size_t mark = n && (*s == ':' || *s == '"');
	return (struct usk_csv_field){ s + mark, n - mark - (mark && *s == '"') };
}

static bool meets(const char *row, size_t n, const char *process, size_t n_process)
{
	struct usk_csv_field p = plain(process, n_process);
	int64_t from, to, number = usk_history_number(process, n_process);
	if (p.n == n && !memcmp(p.text, row, n)) {
		return true;
	}
	return number >= 0 && parse_range(row, n, &from, &to) && number >= from && number <= to;
}

bool usk_history_clock_of(const struct usk_history_options *opt, const char *process, size_t n,
			  bool listed, struct usk_csv_field *name)
{
	for (size_t i = 0; i < opt->n_clock_of && listed; i++) {
		const char *row = opt->clock_of[i], *equals = strchr(row, '=');
		if (meets(row, (size_t)(equals - row), process, n)) {
			*name = (struct usk_csv_field){ equals + 1, strlen(equals + 1) };
			return true;
		}
	}
	int64_t number = usk_history_number(process, n);
	if (listed || !opt->nodes || number < 0) {
		return false;
	}
	int64_t nodes = 1;
	for (const char *s = opt->nodes; *s; s++) {
		nodes += *s == ',';
	}
	const char *s = opt->nodes;
	for (number %= nodes; number; number--) {
		s += strcspn(s, ",") + 1;
	}
	*name = (struct usk_csv_field){ s, strcspn(s, ",") };
	return true;
}

enum usk_status usk_history_check(const struct usk_history_options *opt, struct usk_err *err)
{
	for (size_t i = 0; i < opt->n_clock_of; i++) {
		const char *row = opt->clock_of[i], *equals = strchr(row, '=');
		if (!equals || equals == row || !equals[1]) {
			return usk_fail(err, USK_EUSAGE, 0,
					"--clock-of %s: is not PROCESS=CLOCK, as 0-4=n1", row);
		}
	}
	for (const char *s = opt->nodes; s; s = strchr(s, ',')) {
		s += s != opt->nodes;
		if (!strcspn(s, ",")) {
			return usk_fail(err, USK_EUSAGE, 0, "--nodes %s: has an empty name",
					opt->nodes);
		}
	}
	return USK_OK;
}

/* ---- forms --------------------------------------------------------------------------------- */

/* JSON's objects begin with a string, maps of EDN with a keyword; a header of CSV with neither. */
static bool is_edn(const uint8_t *d, size_t n)
{
	const char *p = (const char *)d, *end = p + n;
	p = usk_edn_begin(p + (n >= 3 && !memcmp(d, "\xef\xbb\xbf", 3) ? 3 : 0), end);
	if (p == end || !memchr("{[(#", *p, 4)) {
		return false;
	}
	bool map = *p == '{';
	p = map ? usk_edn_begin(p + 1, end) : p;
	return !map || p == end || *p != '"';
}

enum usk_status usk_history_read(struct usk_input *in, uint32_t file,
				 const struct usk_history_options *opt, struct usk_history *h,
				 struct usk_err *err)
{
	enum usk_status status = usk_input_need(in, 0, 4096, err);
	if (status) {
		return status;
	}
	size_t before = h->n;
	uint64_t left_out = h->left_out;
	status = is_edn(in->data, in->have) ? usk_history_read_edn(in, file, opt, h, err)
					    : usk_history_read_table(in, file, opt, h, err);
	if (!status && in->lost) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: a history that lacks operations proves nothing", in->lost);
	}
	if (!status && h->n == before && h->left_out == left_out) {
		return usk_fail(err, USK_EINPUT, 0, "it has no operation");
	}
	return status;
}

void usk_history_free(struct usk_history *h)
{
	usk_texts_free(&h->clock);
	usk_index_free(&h->by_process);
	USK_FREE(h->op, h->client, h->text.s);
	*h = (struct usk_history){ .n = 0 };
}
