/* SPDX-License-Identifier: MIT */
/*
 * clocks_json.c - the table of clocks as clocks.json, and back
 *
 * In    struct usk_clocks; or a text that anyone may have written, edited or damaged
 * Out   one JSON text: fixed key order, every key present, a row a line; or struct usk_clocks whose
 *       knots are known to be sound, or a sentence naming the key
 * Not   what its keys are (clocks_fields.c); those that are not known are passed over
 */
#include "write/fields.h"

#include <stdlib.h>
#include <string.h>

#define ROWS(list, n, row)                                                                         \
	.kind = FIELD_LIST, .at = offsetof(struct usk_clocks, list),                               \
	.n_at = offsetof(struct usk_clocks, n), .size = sizeof *((struct usk_clocks *)NULL)->list, \
	.each = FIELD_OBJECT, .fields = (row)

/* What of pairs can be drawn comes after all of them: most who read the file want none of it. */
enum { PAIRS = 1 };
static const struct usk_field rows[] = {
	{ "clocks", ROWS(clock, n_clocks, usk_clock_fields), .help = "A row a clock." },
	[PAIRS] = { "pairs", ROWS(pair, n_pairs, usk_pair_fields),
		    .help = "A row for every two clocks that share messages." },
	{ "corridors", ROWS(pair, n_pairs, usk_corridor_fields),
	  .help = "What of a pair's messages can be drawn." },
	{ .key = NULL },
};

const struct usk_field *usk_clocks_key(size_t i)
{
	const struct usk_field *const part[] = { usk_clocks_head, rows, usk_clocks_tail };
	for (size_t k = 0; k < COUNT(part); k++) {
		for (const struct usk_field *f = part[k]; f->key; f++) {
			if (!i--) {
				return f;
			}
		}
	}
	return NULL;
}

static void put_all(struct usk_json_out *o, const void *ctx)
{
	const struct usk_clocks *c = ctx;
	usk_json_member(o, "unskew_clocks");
	usk_json_put_integer(o, 1);
	const struct usk_field *f;
	for (size_t i = 0; (f = usk_clocks_key(i)); i++) {
		usk_json_member(o, f->key);
		usk_field_put(o, c, f, c);
	}
}

char *usk_clocks_to_json(const struct usk_clocks *c)
{
	struct usk_json_out o = { .n = 0 };
	usk_json_put_object(&o, (struct usk_json_inner){ put_all, c });
	usk_json_end(&o);
	return o.text;
}

/* ---- and back -------------------------------------------------------------------- */

/* Names first, since everything else refers to clocks by them. */
static void read_names(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "clocks");
	const struct place list[] = { { NULL, "clocks", 0 } };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { list, NULL, i };
		c->clock = usk_room(c->clock, i, &cap, sizeof *c->clock);
		struct usk_clock *k = memset(&c->clock[c->n_clocks++], 0, sizeof *c->clock);
		k->before.least_e12 = k->after.least_e12 = USK_NONE; /* not written */
		k->name = usk_json_string(r, &at, json_array_get(a, i), "name");
		if (!k->name[0]) {
			usk_json_wrong(r, &at, "name", "is empty");
		}
	}
	if (c->n_clocks >= USK_NO_CLOCK) {
		usk_json_wrong(r, list, NULL, "holds too many clocks");
	}
	if (r->status || !c->n_clocks) {
		return;
	}
	r->name = usk_alloc(c->n_clocks, sizeof *r->name);
	for (size_t i = 0; i < c->n_clocks; i++) {
		r->name[i] = (struct clock_name){ c->clock[i].name, (uint32_t)i };
	}
	qsort(r->name, c->n_clocks, sizeof *r->name, usk_by_string);
	for (size_t i = 1; i < c->n_clocks; i++) {
		if (!strcmp(r->name[i - 1].name, r->name[i].name)) {
			usk_json_wrong(r, list, NULL, "two clocks are called \"%.60s\"",
				       r->name[i].name);
		}
	}
}

static void read_clocks(struct reader *r, const json_t *root)
{
	const json_t *a = json_object_get(root, "clocks");
	struct place list = { NULL, "clocks", 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		/* Its name is there already. */
		usk_fields_get(r, &at, json_array_get(a, i), usk_clock_fields + 1, &r->c->clock[i]);
		if (!r->status) {
			usk_clock_check(r, &at, &r->c->clock[i]);
		}
	}
}

static void read_pairs(struct reader *r, const json_t *root)
{
	usk_field_get(r, NULL, root, &rows[PAIRS], r->c);
}

/* A corridor belongs to the pair of the same place, or, where some are left out, to a later. */
static void read_corridors(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "corridors");
	struct place list = { NULL, "corridors", 0 };
	size_t next = 0;
	if (json_array_size(a) > c->n_pairs) {
		usk_json_wrong(r, NULL, "corridors", "holds more rows than pairs");
	}
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *o = json_array_get(a, i);
		struct usk_pair of = { .a = 0 };
		usk_field_get(r, &at, o, &usk_corridor_fields[0], &of);
		usk_field_get(r, &at, o, &usk_corridor_fields[1], &of);
		while (next < c->n_pairs && (c->pair[next].a != of.a || c->pair[next].b != of.b)) {
			next++;
		}
		if (next == c->n_pairs) {
			usk_json_wrong(r, &at, NULL, "belongs to none of the pairs that remain");
			return;
		}
		usk_fields_get(r, &at, o, usk_corridor_fields, &c->pair[next++]);
	}
}

enum usk_status usk_clocks_from_json(const char *text, size_t size, struct usk_clocks **out,
				     struct usk_err *err)
{
	json_t *root = usk_json_load(text, size, err);
	if (!root) {
		return USK_EINPUT;
	}
	struct reader r = { .c = usk_alloc(1, sizeof *r.c), .err = err };
	const json_t *version = json_object_get(root, "unskew_clocks");
	if (!version) {
		usk_json_wrong(&r, NULL, "unskew_clocks", "is missing: this is not a clocks.json");
	} else if (!json_is_integer(version) || json_integer_value(version) != 1) {
		usk_json_wrong(&r, NULL, "unskew_clocks",
			       "is not 1, the version that this unskew reads");
	}
	if (!r.status) {
		read_names(&r, root);
		usk_fields_get(&r, NULL, root, usk_clocks_head, r.c);
		read_clocks(&r, root);
		read_pairs(&r, root);
		read_corridors(&r, root);
		usk_fields_get(&r, NULL, root, usk_clocks_tail, r.c);
	}
	json_decref(root);
	free(r.name);
	if (r.status) {
		usk_clocks_free(r.c);
		return r.status;
	}
	*out = r.c;
	return USK_OK;
}
