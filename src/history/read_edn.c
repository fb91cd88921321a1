/* SPDX-License-Identifier: MIT */
/*
 * read_edn.c - histories as Jepsen writes them: a map for each invocation, and one for its end
 *
 * In    {:process 0, :type :invoke, :f :read, :value nil, :time 123}, one behind the other or in a
 *       vector or list, on lines as they like
 * Out   operations: an end belongs to the invocation of its process that has none yet
 * Why   Knossos and Elle read that, and so do those who wrote recorders for them
 * Not   histories without :time, whose order is that of one machine already
 */
#include "history/history.h"
#include "base/text.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

/* What a map says. */
struct line {
	struct usk_edn process, type, f, value, time, clock, node;
	struct usk_edn_text more; /* ", :error :timeout" */
};

struct reading {
	struct usk_input *in;
	struct usk_history *h;
	const struct usk_history_options *opt;
	uint32_t file;
	uint64_t line;
	struct usk_index open; /* by client: number of its invocation, from 1 */
	struct line now;
	struct usk_err *err;
};

static enum usk_status wrong(struct reading *r, const char *what)
{
	return usk_fail(r->err, USK_EINPUT, r->line, "line %llu: %s", (unsigned long long)r->line,
			what);
}

/* ---- a map ----------------------------------------------------------------------------------- */

/* Members that have a place of their own, and those that are made anew. */
static struct usk_edn *place_of(struct line *l, const struct usk_edn *key, bool *drop)
{
	const struct {
		const char *key;
		struct usk_edn *place;
	} places[] = {
		{ ":process", &l->process }, { ":type", &l->type }, { ":f", &l->f },
		{ ":value", &l->value },     { ":time", &l->time }, { ":clock", &l->clock },
	};
	for (size_t i = 0; i < COUNT(places); i++) {
		if (usk_edn_is(key, places[i].key)) {
			return places[i].place;
		}
	}
	*drop = usk_edn_is(key, ":index") || usk_edn_is(key, ":client");
	return usk_edn_is(key, ":node") ? &l->node : NULL;
}

static void take_map(struct line *l, const struct usk_edn *map)
{
	struct usk_edn_text more = l->more;
	const char *p = usk_edn_inside(map);
	struct usk_edn key, value;
	more.n = 0;
	*l = (struct line){ .more = more };
	while (usk_edn_each(&p, map, &key) && usk_edn_each(&p, map, &value)) {
		bool drop = false;
		struct usk_edn *place = place_of(l, &key, &drop);
		if (place) {
			*place = value;
		}
		if ((!place || place == &l->node) && !drop) {
			usk_edn_put(&l->more, ", ", 2);
			usk_edn_put(&l->more, key.text, key.n);
			usk_edn_put(&l->more, " ", 1);
			usk_edn_put(&l->more, value.text, value.n);
		}
	}
}

/* The name of its clock: as a string or a keyword, or a symbol. */
static struct usk_csv_field name_of(const struct usk_edn *form)
{
	size_t mark = form->kind == USK_EDN_STRING || form->kind == USK_EDN_KEYWORD;
	return (struct usk_csv_field){ form->text + mark,
				       form->n - mark - (form->kind == USK_EDN_STRING) };
}

static bool find_clock(struct reading *r, struct usk_csv_field *name)
{
	const struct line *l = &r->now;
	if (r->opt->clock) {
		*name = (struct usk_csv_field){ r->opt->clock, strlen(r->opt->clock) };
		return true;
	}
	if (usk_history_clock_of(r->opt, l->process.text, l->process.n, true, name)) {
		return true;
	}
	if (l->clock.n || l->node.n) {
		*name = name_of(l->clock.n ? &l->clock : &l->node);
		return name->n && !memchr(name->text, 0, name->n);
	}
	return usk_history_clock_of(r->opt, l->process.text, l->process.n, false, name);
}

static struct usk_part part_of(struct reading *r, const struct usk_edn *form)
{
	return form->n ? usk_history_part(r->h, form->text, form->n) : (struct usk_part){ 0, 0 };
}

static enum usk_status invoke(struct reading *r, uint32_t client, int64_t at_ns)
{
	uint64_t *open = usk_index_value(&r->open, client, 1);
	if (*open && r->h->op[*open - 1].end == USK_OP_NONE) {
		return wrong(r, "its process is called again before the call before has ended");
	}
	struct usk_op *op = usk_history_add(r->h);
	*open = r->h->n;
	op->client = client;
	op->file = r->file;
	op->line = r->line;
	op->call_ns = at_ns;
	op->f = part_of(r, &r->now.f);
	op->input = part_of(r, &r->now.value);
	op->more_in = usk_history_part(r->h, r->now.more.s, r->now.more.n);
	return USK_OK;
}

static enum usk_status complete(struct reading *r, uint32_t client, int64_t at_ns,
				enum usk_op_end end)
{
	uint64_t open = usk_index_find(&r->open, client, 1);
	struct usk_op *op = open ? &r->h->op[open - 1] : NULL;
	if (!op || op->end != USK_OP_NONE) {
		return wrong(r, "ends a call that its process did not make");
	}
	op->end = end;
	op->return_ns = end == USK_OP_INFO ? USK_NONE : at_ns;
	op->output = part_of(r, &r->now.value);
	op->more_out = usk_history_part(r->h, r->now.more.s, r->now.more.n);
	return USK_OK;
}

static enum usk_status take(struct reading *r, const struct usk_edn *map)
{
	static const char *const types[] = { ":ok", ":fail", ":info" };
	struct line *l = &r->now;
	struct usk_csv_field name;
	int64_t at_ns;
	take_map(l, map);
	if (!l->process.n || !l->type.n || !l->time.n) {
		return wrong(r, !l->process.n ? "has no :process"
				: !l->type.n
					? "has no :type"
					: "has no :time, the stamp by its client's clock in ns");
	}
	if (usk_edn_is(&l->process, ":nemesis")) {
		r->h->left_out++;
		return USK_OK;
	}
	if (usk_parse_int(l->time.text, l->time.n, &at_ns, NULL) || at_ns > USK_TIME_MAX ||
	    at_ns < -USK_TIME_MAX) {
		return wrong(r, ":time is not a whole number of ns, or is over 146 years");
	}
	if (!find_clock(r, &name)) {
		return wrong(r, "says not which clock its time is of: give the file as CLOCK=FILE, "
				"or --clock-of, or --nodes, or a :node in each line");
	}
	uint32_t clock = usk_history_clock(r->h, name.text, name.n);
	uint32_t client = usk_history_client(r->h, clock, l->process.text, l->process.n);
	if (usk_edn_is(&l->type, ":invoke")) {
		return invoke(r, client, at_ns);
	}
	for (size_t i = 0; i < COUNT(types); i++) {
		if (usk_edn_is(&l->type, types[i])) {
			return complete(r, client, at_ns, (enum usk_op_end)(USK_OP_OK + i));
		}
	}
	return wrong(r, ":type is none of :invoke, :ok, :fail and :info");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void count_lines(struct reading *r, const char *from, const char *to)
{
	while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
		from++;
		r->line++;
	}
}

/* The next form from *used on; *used moves behind it. What is longer than LONGEST is refused. */
static enum usk_status next(struct reading *r, size_t *used, struct usk_edn *out,
			    enum usk_edn_found *found)
{
	struct usk_input *in = r->in;
	*found = USK_EDN_CUT;
	for (size_t want = 1 << 16; *found == USK_EDN_CUT; want *= 4) {
		enum usk_status status = usk_input_need(in, *used, want, r->err);
		if (status) {
			return status;
		}
		*used = 0;
		const char *from = (const char *)in->data, *p = from;
		*found = usk_edn_next(&p, from + in->have, in->end, out);
		if (*found == USK_EDN_CUT && (in->end || want >= LONGEST)) {
			return wrong(r,
				     in->end ? "the file ends within what begins here: a history "
					       "that lacks operations proves nothing"
					     : "what begins here is longer than 1 MiB");
		}
		if (*found != USK_EDN_CUT) {
			count_lines(r, from, out->text);
			*used = (size_t)(*found == USK_EDN_WRONG ? out->text + 1 - from : p - from);
		}
	}
	return USK_OK;
}

/* The bracket around all of it, if there is one: ']' or ')', else 0. */
static char unwrap(struct reading *r, size_t *used)
{
	const struct usk_input *in = r->in;
	const char *from = (const char *)in->data, *end = from + in->have;
	size_t bom = in->have >= 3 && !memcmp(from, "\xef\xbb\xbf", 3) ? 3 : 0;
	const char *p = usk_edn_begin(from + bom, end);
	char open = (char)(p < end ? *p : 0);
	bool wrapped = open == '[' || open == '(';
	*used = wrapped ? (size_t)(p + 1 - from) : bom;
	count_lines(r, from, wrapped ? p : from);
	return (char)(open == '[' ? ']' : open == '(' ? ')' : 0);
}

static enum usk_status take_form(struct reading *r, const struct usk_edn *form)
{
	struct usk_edn map = form->kind == USK_EDN_TAGGED ? usk_edn_tagged(form) : *form;
	enum usk_status status =
		map.kind == USK_EDN_MAP
			? take(r, &map)
			: wrong(r, "is no map, as {:process 0, :type :invoke, ...}");
	count_lines(r, form->text, form->text + form->n);
	return status;
}

static enum usk_status read_all(struct reading *r)
{
	struct usk_edn form;
	enum usk_edn_found found;
	size_t used;
	char close = unwrap(r, &used);
	for (bool closed = !close;;) {
		enum usk_status status = next(r, &used, &form, &found);
		if (status) {
			return status;
		}
		if (found == USK_EDN_NONE) {
			return closed ? USK_OK
				      : wrong(r,
					      "the bracket around the history is not closed: the "
					      "file is cut short");
		}
		if (found == USK_EDN_WRONG && !closed && *form.text == close) {
			closed = true;
			continue;
		}
		if (found == USK_EDN_WRONG || (close && closed)) {
			return wrong(
				r, found == USK_EDN_WRONG
					   ? "is no EDN, or is nested deeper than 100"
					   : "something stands behind the bracket that closes the "
					     "history");
		}
		status = take_form(r, &form);
		if (status) {
			return status;
		}
	}
}

enum usk_status usk_history_read_edn(struct usk_input *in, uint32_t file,
				     const struct usk_history_options *opt, struct usk_history *h,
				     struct usk_err *err)
{
	struct reading r = { .in = in, .h = h, .opt = opt, .file = file, .line = 1, .err = err };
	enum usk_status status = read_all(&r);
	usk_index_free(&r.open);
	free(r.now.more.s);
	return status;
}
