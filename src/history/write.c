/* SPDX-License-Identifier: MIT */
/*
 * write.c - histories as checkers read them: a table of forms
 *
 * In    operations and their intervals
 * Out   Porcupine's operations as JSON; Jepsen's as EDN, for Knossos and Elle
 * Why   each has its own way to say that two operations overlap: Porcupine takes calls before returns
 *       at one time, Knossos and Elle take the order of lines
 */
#include "history/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What all forms need of a history. */
struct writing {
	const struct usk_history *h;
	const struct usk_interval *x;
	struct usk_output *out;
	uint32_t *process;	   /* [n] */
	int64_t first_ns, last_ns; /* what is open begins at the one and ends at the other */
	struct usk_edn_text text;  /* room */
};

static bool is_over(const struct writing *w, size_t i)
{
	return w->h->op[i].end < USK_OP_INFO;
}

static void begin(struct writing *w, const struct usk_history *h, const struct usk_interval *x,
		  struct usk_output *out)
{
	*w = (struct writing){ .h = h, .x = x, .out = out };
	w->process = usk_alloc(h->n + 1, sizeof *w->process);
	usk_history_processes(h, x, w->process);
	int64_t least = INT64_MAX, most = INT64_MIN;
	for (size_t i = 0; i < h->n; i++) {
		const int64_t end[] = { x[i].from_ns, x[i].to_ns };
		for (size_t k = 0; k < COUNT(end); k++) {
			bool known = end[k] != USK_OPEN && end[k] != -USK_OPEN;
			least = known && end[k] < least ? end[k] : least;
			most = known && end[k] > most ? end[k] : most;
		}
	}
	w->first_ns = least == INT64_MAX ? 0 : least - 1;
	w->last_ns = most == INT64_MIN ? 1 : most + 1;
}

static void end(struct writing *w)
{
	USK_FREE(w->process, w->text.s);
}

/* Open ends are apart from all others. */
static int64_t shown_ns(const struct writing *w, int64_t ns)
{
	return ns == -USK_OPEN ? w->first_ns : ns == USK_OPEN ? w->last_ns : ns;
}

static int64_t from_ns(const struct writing *w, size_t i)
{
	return shown_ns(w, w->x[i].from_ns);
}

static int64_t to_ns(const struct writing *w, size_t i)
{
	return shown_ns(w, is_over(w, i) ? w->x[i].to_ns : USK_OPEN);
}

static void put(struct writing *w, const char *text)
{
	usk_output_write(w->out, text, strlen(text));
}

static void put_part(struct writing *w, struct usk_part part)
{
	usk_output_write(w->out, usk_history_text(w->h, part), part.n);
}

/* ---- Porcupine ------------------------------------------------------------------------------- */

static void add(struct writing *w, const char *text)
{
	usk_edn_put(&w->text, text, strlen(text));
}

/* ":key part" into the room; without a part it is nil. */
static void add_member(struct writing *w, const char *key, struct usk_part part)
{
	add(w, key);
	if (part.n) {
		usk_edn_put(&w->text, usk_history_text(w->h, part), part.n);
	} else {
		add(w, "nil");
	}
}

static void add_name(struct writing *w, const struct usk_client *client)
{
	const char *name = w->h->clock.text[client->clock];
	usk_edn_put_string(&w->text, name, strlen(name));
}

/* The map in the room, closed by what comes with it, as JSON. */
static void put_json(struct writing *w, struct usk_part more)
{
	struct usk_edn map;
	struct usk_edn_text json = { NULL, 0, 0 };
	usk_edn_put(&w->text, usk_history_text(w->h, more), more.n);
	add(w, "}");
	if (usk_edn_whole(w->text.s, w->text.n, &map)) {
		usk_edn_to_json(&json, &map);
	}
	usk_output_write(w->out, json.s, json.n);
	free(json.s);
	w->text.n = 0;
}

static void put_operation(struct writing *w, size_t i)
{
	static const char *const ends[] = { ":ok", ":fail", ":info", "nil" };
	const struct usk_op *op = &w->h->op[i];
	const struct usk_client *client = &w->h->client[op->client];
	usk_output_format(w->out, "{\"ClientId\": %" PRIu32 ", \"Input\": ", w->process[i]);
	add_member(w, "{:f ", op->f);
	if (op->key.n) {
		add_member(w, ", :key ", op->key);
	}
	add_member(w, ", :value ", op->input);
	put_json(w, op->more_in);
	usk_output_format(w->out, ", \"Call\": %" PRId64 ", \"Output\": ", from_ns(w, i));
	add(w, "{:type ");
	add(w, ends[op->end]);
	add_member(w, ", :value ", op->output);
	put_json(w, op->more_out);
	usk_output_format(w->out, ", \"Return\": %" PRId64 ", \"Metadata\": ", to_ns(w, i));
	add_member(w, "{:client ", client->process);
	add(w, ", :clock ");
	add_name(w, client);
	put_json(w, (struct usk_part){ 0, 0 });
	put(w, "}");
}

static enum usk_status write_porcupine(const struct usk_history *h, const struct usk_interval *x,
				       struct usk_output *out, struct usk_err *err)
{
	struct writing w;
	(void)err;
	begin(&w, h, x, out);
	for (size_t i = 0; i < h->n; i++) {
		put(&w, i ? ",\n " : "[");
		put_operation(&w, i);
	}
	put(&w, h->n ? "]\n" : "[]\n");
	end(&w);
	return USK_OK;
}

/* ---- Jepsen ---------------------------------------------------------------------------------- */

/* A line: an invocation, or what came of it. */
struct event {
	int64_t at_ns;
	bool end;
	uint32_t op;
};

static struct event *events_of(const struct writing *w, size_t *n)
{
	struct event *e = usk_alloc(2 * w->h->n + 1, sizeof *e);
	*n = 0;
	for (size_t i = 0; i < w->h->n; i++) {
		e[(*n)++] = (struct event){ from_ns(w, i), false, (uint32_t)i };
		if (w->h->op[i].end != USK_OP_NONE) {
			e[(*n)++] = (struct event){ to_ns(w, i), true, (uint32_t)i };
		}
	}
	usk_sort(e, *n, sizeof *e, KEYS(BY(event, at_ns), BY(event, end), BY(event, op)));
	return e;
}

/* How a checker wants f, key and value. */
typedef enum usk_status put_function(struct writing *w, const struct usk_op *op, bool end,
				     struct usk_err *err);

/* Of a failed one both values have to be the same. */
static struct usk_part value_of(const struct usk_op *op, bool end)
{
	return end && op->end == USK_OP_OK && op->output.n ? op->output
	       : end && op->end == USK_OP_FAIL		   ? op->input
	       : end && op->output.n			   ? op->output
							   : op->input;
}

static enum usk_status put_plain(struct writing *w, const struct usk_op *op, bool end,
				 struct usk_err *err)
{
	struct usk_part value = value_of(op, end);
	(void)err;
	if (op->f.n) {
		put(w, ", :f ");
		put_part(w, op->f);
	}
	if (op->key.n) {
		put(w, ", :key ");
		put_part(w, op->key);
	}
	put(w, ", :value ");
	if (value.n) {
		put_part(w, value);
	} else {
		put(w, "nil");
	}
	return USK_OK;
}

static bool part_is(const struct writing *w, struct usk_part part, const char *text)
{
	return part.n == strlen(text) && !memcmp(usk_history_text(w->h, part), text, part.n);
}

/* What Elle calls it in a transaction. */
static const char *micro_operation(const struct writing *w, struct usk_part f)
{
	static const struct {
		const char *f, *micro;
	} names[] = {
		{ ":read", ":r" }, { ":get", ":r" }, { ":r", ":r" },	       { ":write", ":w" },
		{ ":put", ":w" },  { ":w", ":w" },   { ":append", ":append" },
	};
	for (size_t i = 0; i < COUNT(names); i++) {
		if (part_is(w, f, names[i].f)) {
			return names[i].micro;
		}
	}
	return NULL;
}

/* Transactions as they are; one operation on one key is a transaction of it alone. */
static enum usk_status put_transaction(struct writing *w, const struct usk_op *op, bool end,
				       struct usk_err *err)
{
	const char *micro = micro_operation(w, op->f);
	struct usk_part value = value_of(op, end);
	if (part_is(w, op->f, ":txn") || !op->f.n) {
		return put_plain(w, op, end, err);
	}
	if (!micro || !op->key.n) {
		return usk_fail(
			err, USK_EINPUT, (uint64_t)(op - w->h->op),
			"Elle has no form for it: it is no transaction (:f :txn), and not a read, "
			"write or append with a key");
	}
	value = strcmp(micro, ":r") ? op->input : value;
	usk_output_format(w->out, ", :f :txn, :value [[%s ", micro);
	put_part(w, op->key);
	put(w, " ");
	if (value.n && (end || strcmp(micro, ":r"))) {
		put_part(w, value);
	} else {
		put(w, "nil");
	}
	put(w, "]]");
	return USK_OK;
}

static enum usk_status put_line(struct writing *w, const struct event *e, size_t index,
				put_function *function, struct usk_err *err)
{
	static const char *const ends[] = { ":ok", ":fail", ":info" };
	const struct usk_op *op = &w->h->op[e->op];
	const struct usk_client *client = &w->h->client[op->client];
	usk_output_format(w->out, "{:index %zu, :type %s, :process %" PRIu32, index,
			  e->end ? ends[op->end] : ":invoke", w->process[e->op]);
	enum usk_status status = function(w, op, e->end, err);
	usk_output_format(w->out, ", :time %" PRId64 ", :client ", e->at_ns);
	put_part(w, client->process);
	put(w, ", :clock ");
	add_name(w, client);
	usk_output_write(w->out, w->text.s, w->text.n);
	w->text.n = 0;
	put_part(w, e->end ? op->more_out : op->more_in);
	put(w, "}\n");
	return status;
}

static enum usk_status write_lines(const struct usk_history *h, const struct usk_interval *x,
				   struct usk_output *out, put_function *function,
				   struct usk_err *err)
{
	struct writing w;
	size_t n;
	enum usk_status status = USK_OK;
	begin(&w, h, x, out);
	struct event *e = events_of(&w, &n);
	for (size_t i = 0; i < n && !status; i++) {
		status = put_line(&w, &e[i], i, function, err);
	}
	free(e);
	end(&w);
	return status;
}

static enum usk_status write_knossos(const struct usk_history *h, const struct usk_interval *x,
				     struct usk_output *out, struct usk_err *err)
{
	return write_lines(h, x, out, put_plain, err);
}

static enum usk_status write_elle(const struct usk_history *h, const struct usk_interval *x,
				  struct usk_output *out, struct usk_err *err)
{
	return write_lines(h, x, out, put_transaction, err);
}

const struct usk_history_form usk_history_forms[] = {
	{ "knossos", "EDN, a line for each invocation and its end, in order", write_knossos },
	{ "elle", "the same, and what is no transaction becomes one", write_elle },
	{ "porcupine", "a JSON array of porcupine.Operation", write_porcupine },
	{ NULL, NULL, NULL },
};
