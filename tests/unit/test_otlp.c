/* SPDX-License-Identifier: MIT */
/*
 * OTLP as protobuf: what is read of it, cut anywhere and damaged in every way, by an encoder of the
 * test's own; and that the same spans as JSON are the same answer.
 */
#include "../fence.h"
#include "../part.h"
#include "otlp_making.h"
#include "span_rows.h"
#include "base/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BEGIN INT64_C(1700000000000123457)

/* ---- fields -------------------------------------------------------------------------------- */

static const struct {
	const char *name, *bytes;
	size_t n;
	enum usk_wire_found found;
	uint32_t number;
	enum usk_wire wire;
	uint64_t value;
} fields[] = {
	{ "nothing", "", 0, USK_WIRE_SHORT, 0, 0, 0 },
	{ "a tag alone", "\x08", 1, USK_WIRE_SHORT, 0, 0, 0 },
	{ "1", "\x08\x01", 2, USK_WIRE_FIELD, 1, USK_WIRE_VARINT, 1 },
	{ "300", "\x08\xac\x02", 3, USK_WIRE_FIELD, 1, USK_WIRE_VARINT, 300 },
	{ "0 in 3 bytes", "\x08\x80\x80\x00", 4, USK_WIRE_FIELD, 1, USK_WIRE_VARINT, 0 },
	{ "-1", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, USK_WIRE_FIELD, 1,
	  USK_WIRE_VARINT, UINT64_MAX },
	{ "65 bits", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, USK_WIRE_BAD, 0, 0, 0 },
	{ "11 bytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, USK_WIRE_BAD, 0, 0,
	  0 },
	{ "10 bytes, cut", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80", 10, USK_WIRE_SHORT, 0, 0,
	  0 },
	{ "8 bytes", "\x39\1\0\0\0\0\0\0\x80", 9, USK_WIRE_FIELD, 7, USK_WIRE_FIXED64,
	  UINT64_C(0x8000000000000001) },
	{ "7 bytes of 8", "\x39\1\0\0\0\0\0\0", 8, USK_WIRE_SHORT, 0, 0, 0 },
	{ "4 bytes", "\x85\x01\1\2\0\0", 6, USK_WIRE_FIELD, 16, USK_WIRE_FIXED32, 513 },
	{ "bytes that are to come", "\x0a\x7f", 2, USK_WIRE_FIELD, 1, USK_WIRE_BYTES, 127 },
	{ "a group", "\x0b", 1, USK_WIRE_FIELD, 1, USK_WIRE_GROUP, 0 },
	{ "its end", "\x0c", 1, USK_WIRE_FIELD, 1, USK_WIRE_GROUP_END, 0 },
	{ "type 6", "\x0e", 1, USK_WIRE_BAD, 0, 0, 0 },
	{ "type 7", "\x0f", 1, USK_WIRE_BAD, 0, 0, 0 },
	{ "number 0", "\x02\x01", 2, USK_WIRE_BAD, 0, 0, 0 },
	{ "the highest number", "\xf8\xff\xff\xff\x0f\x05", 6, USK_WIRE_FIELD, 536870911,
	  USK_WIRE_VARINT, 5 },
	{ "a higher one", "\xf8\xff\xff\xff\x1f\x05", 6, USK_WIRE_BAD, 0, 0, 0 },
	{ "a tag of 6 bytes", "\x88\x80\x80\x80\x80\x00\x05", 7, USK_WIRE_BAD, 0, 0, 0 },
};

static void one_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fields); i++) {
		struct usk_wire_field f;
		enum usk_wire_found found =
			usk_wire_next((const uint8_t *)fields[i].bytes, fields[i].n, &f);
		bool as_it_is = found != USK_WIRE_FIELD ||
				(f.number == fields[i].number && f.wire == fields[i].wire &&
				 f.value == fields[i].value && f.size == fields[i].n);
		if (found != fields[i].found || !as_it_is) {
			fail_msg("%s: %d %u %d %llu in %zu bytes", fields[i].name, found, f.number,
				 f.wire, (unsigned long long)f.value, f.size);
		}
	}
}

/* ---- what is read -------------------------------------------------------------------------- */

/* The rows of d[n], which stand in a block of their own; NULL: refused. *damage is to be freed. */
static char *rows_of(const uint8_t *d, size_t n, char **damage)
{
	static const size_t batches[] = { 64, 1, 3 };
	uint8_t *copy = fence_new(d, n);
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	char *rows = NULL;
	*damage = NULL;
	if (usk_trace_open_memory(copy, n, "m", &t, &err)) {
		*damage = usk_strdup(err.msg);
	}
	for (size_t k = 0; t && k < COUNT(batches); k++) {
		char *again = span_rows(t, batches[k]);
		if (rows && strcmp(rows, again) != 0) {
			fail_msg("%sand read again:\n%s", rows, again);
		}
		free(rows);
		rows = again;
		free(*damage);
		*damage = usk_trace_damage(t) ? usk_strdup(usk_trace_damage(t)) : NULL;
		assert_int_equal(usk_trace_rewind(t, &err), USK_OK);
	}
	usk_trace_close(t);
	fence_free(copy, n);
	return rows;
}

static bool says(const char *text, const char *what)
{
	return what ? text && strstr(text, what) : !text;
}

static void check_rows(const char *name, struct bytes *b, const char *rows, const char *damage)
{
	char *why, *found = rows_of(b->data, b->n, &why);
	if (!found || strcmp(found, rows) != 0 || !says(why, damage)) {
		fail_msg("%s: %s%s", name, found ? found : "", why ? why : "");
	}
	free(found);
	free(why);
	bytes_free(b);
}

/* The second of three spans is of any bytes. */
static void three(struct bytes *b, struct bytes *second)
{
	struct otlp_span s = { 7, 0xa1, 0, 0, "get", 3, 0, 1000, 2000 };
	struct bytes in = { 0 }, scope = { 0 }, batch = { 0 };
	otlp_span(&in, &s);
	wire_message(&scope, 2, &in);
	wire_message(&scope, 2, second);
	s.id = 0xa3;
	otlp_span(&in, &s);
	wire_message(&scope, 2, &in);
	wire_message(&batch, 2, &scope);
	wire_message(b, 1, &batch);
}

#define ROW(id) id " 0 1000 2000 3 0 unnamed service unnamed service get\n"
#define OTHERS	ROW("a1") ROW("a3")
#define ALL	ROW("a1") ROW("a2") ROW("a3")
#define LOST	"in 1 place, the first at byte"

static void groups(struct bytes *b, uint32_t deep)
{
	for (uint32_t i = 0; i < deep; i++) {
		wire_tag(b, 100 + i, 3);
	}
	for (uint32_t i = deep; i-- > 0;) {
		wire_tag(b, 100 + i, 4);
	}
}

/* What is put behind a span that is good. */
static void unknown(struct bytes *b)
{
	wire_unknown(b, 100);
	wire_unknown(b, 536870910);
	groups(b, 20);
}

static void eleven(struct bytes *b)
{
	put(b, "\x50\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12);
}

static void number_0(struct bytes *b)
{
	put(b, "\x02\x00", 2);
}

static void type_7(struct bytes *b)
{
	put8(b, 0x57);
}

static void too_long(struct bytes *b)
{
	put(b, "\x4a\x01", 2);
}

static void far_too_long(struct bytes *b)
{
	put(b, "\x4a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}

static void open_group(struct bytes *b)
{
	wire_tag(b, 100, 3);
}

static void other_group(struct bytes *b)
{
	wire_tag(b, 100, 3);
	wire_tag(b, 101, 4);
}

static void no_group(struct bytes *b)
{
	wire_tag(b, 100, 4);
}

static void deep(struct bytes *b)
{
	groups(b, 100000);
}

static void other_types(struct bytes *b)
{
	wire_number(b, 7, 5);
	wire_number(b, 1, 5);
	wire_text(b, 6, "5");
	wire_fixed64(b, 5, 5);
}

static void trace_id(struct bytes *b)
{
	wire_bytes(b, 1, "123456789012345", 15);
}

static void span_id(struct bytes *b)
{
	wire_bytes(b, 2, "1234567890123456", 16);
}

static void huge_id(struct bytes *b)
{
	char text[3000] = "";
	wire_bytes(b, 2, text, sizeof text);
}

static void link_id(struct bytes *b)
{
	struct bytes link = { 0 };
	wire_bytes(&link, 2, "123", 3);
	wire_message(b, 13, &link);
}

static void no_id(struct bytes *b)
{
	wire_bytes(b, 2, "\0\0\0\0\0\0\0", 8);
}

static void far_start(struct bytes *b)
{
	wire_fixed64(b, 7, UINT64_MAX);
}

static void early_end(struct bytes *b)
{
	wire_fixed64(b, 8, 999);
}

static const struct {
	const char *name;
	void (*put)(struct bytes *b);
	const char *rows, *damage;
} second[] = {
	{ "unknown fields of every type", unknown, ALL, NULL },
	{ "known numbers of other types", other_types, ALL, NULL },
	{ "a number of 11 bytes", eleven, OTHERS, LOST },
	{ "field 0", number_0, OTHERS, LOST },
	{ "type 7", type_7, OTHERS, LOST },
	{ "longer than its span", too_long, OTHERS, LOST },
	{ "longer than all memory", far_too_long, OTHERS, LOST },
	{ "a group without end", open_group, OTHERS, LOST },
	{ "a group with another's end", other_group, OTHERS, LOST },
	{ "an end without group", no_group, OTHERS, LOST },
	{ "100,000 groups deep", deep, OTHERS, LOST },
	{ "a trace id of 15 bytes", trace_id, OTHERS,
	  "1 span was left out, the first before byte 173: an id of a trace has not 16 bytes" },
	{ "a span id of 16 bytes", span_id, OTHERS, "an id of a span has not 8 bytes" },
	{ "a span id of 3000 bytes", huge_id, OTHERS, "an id of a span has not 8 bytes" },
	{ "a link to 3 bytes", link_id, OTHERS, "an id of a span has not 8 bytes" },
	{ "an id of zeros", no_id, OTHERS, "it has no id" },
	{ "a start of the far future", far_start, OTHERS, "its start is no time in ns" },
	{ "an end before the start", early_end, OTHERS, "or before its start" },
};

static void damaged_spans(void **state)
{
	static const struct otlp_span good = { 7, 0xa2, 0, 0, "get", 3, 0, 1000, 2000 };
	(void)state;
	for (size_t i = 0; i < COUNT(second); i++) {
		for (int framed = 0; framed < 2; framed++) {
			struct bytes span = { 0 }, all = { 0 }, file = { 0 };
			char name[80];
			snprintf(name, sizeof name, "%s, %s", second[i].name,
				 framed ? "framed" : "bare");
			otlp_span(&span, &good);
			second[i].put(&span);
			three(framed ? &all : &file, &span);
			if (framed) {
				otlp_framed(&file, &all);
			}
			/* With a length in front all is 4 bytes further back. */
			bool place = second[i].damage && strstr(second[i].damage, "173");
			check_rows(name, &file, second[i].rows,
				   place && framed ? "before byte 177" : second[i].damage);
		}
	}
}

/* ---- several messages ---------------------------------------------------------------------- */

/* A message of one span on a host of that name. */
static void one(struct bytes *b, uint64_t id, const char *host)
{
	const struct otlp_span s = { 7, id, 0, 0, "get", 3, 0, 1000, 2000 };
	otlp_traces(b, host, 1, &s, 1);
}

static void framed_one(struct bytes *b, uint64_t id, const char *host)
{
	struct bytes m = { 0 };
	one(&m, id, host);
	otlp_framed(b, &m);
}

#define OF(id, host) id " 0 1000 2000 3 0 " host " shop get\n"

/* A metric and a log record nest as spans do, with fields of other types. */
static void others(struct bytes *b)
{
	struct bytes metric = { 0 }, log = { 0 }, scope = { 0 }, batch = { 0 }, all = { 0 };
	wire_text(&metric, 1, "http.server.rate");
	wire_text(&metric, 2, "requests");
	wire_text(&metric, 7, "\x0a\x01");
	wire_message(&scope, 2, &metric);
	wire_fixed64(&log, 1, (uint64_t)BEGIN);
	wire_number(&log, 2, 9);
	wire_text(&log, 5, "\x0a\x01x");
	wire_text(&log, 6, "\x0a\x01x");
	wire_tag(&log, 8, 5);
	put32(&log, 1);
	wire_text(&log, 9, "1234567890123456");
	wire_fixed64(&log, 11, (uint64_t)BEGIN);
	wire_message(&scope, 2, &log);
	wire_message(&batch, 2, &scope);
	wire_message(&all, 1, &batch);
	otlp_framed(b, &all);
}

static void among_others(void **state)
{
	struct bytes b = { 0 }, empty = { 0 };
	(void)state;
	others(&b);
	framed_one(&b, 0xb1, "a");
	otlp_framed(&b, &empty);
	others(&b);
	framed_one(&b, 0xb2, "b");
	otlp_framed(&b, &empty);
	/* The metric's name and description are as long as ids. */
	check_rows("metrics and logs between", &b, OF("b1", "a") OF("b2", "b"),
		   "2 spans were left out");
}

/* The length of the first or second message is wrong, or bytes stand between that are none. */
static void wrong_lengths(void **state)
{
	static const int by[] = { -100, -30, -3, -1, 1, 2, 7, 40, 300, 1 << 20, 1 << 30 };
	(void)state;
	for (size_t i = 0; i < COUNT(by); i++) {
		struct bytes b = { 0 };
		framed_one(&b, 0xb1, "a");
		size_t at = b.n;
		framed_one(&b, 0xb2, "b");
		uint32_t right = (uint32_t)(b.n - at - 4);
		framed_one(&b, 0xb3, "c");
		framed_one(&b, 0xb4, "d");
		b.big = true;
		patch32(&b, at, right + (uint32_t)by[i]);
		char *damage, *rows = rows_of(b.data, b.n, &damage);
		/* What is behind is found again, whatever the length says. */
		if (!rows || !strstr(rows, OF("b1", "a")) || !strstr(rows, OF("b4", "d")) ||
		    !strstr(rows, OF("b3", "c")) || !says(damage, "damaged: ")) {
			fail_msg("by %d: %s%s", by[i], rows ? rows : "", damage ? damage : "");
		}
		free(rows);
		free(damage);
		bytes_free(&b);
	}
}

static void between(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	framed_one(&b, 0xb1, "a");
	for (unsigned i = 0; i < 300000; i++) {
		put8(&b, (i * 2654435761u) >> 13 & 255);
	}
	framed_one(&b, 0xb2, "b");
	check_rows("noise between", &b, OF("b1", "a") OF("b2", "b"),
		   "damaged: 299996 bytes in 1 place, the first at byte 201");
	framed_one(&b, 0xb1, "a");
	put_text(&b, "tail");
	check_rows("noise behind", &b, OF("b1", "a"), "ends at byte 201 within a message");
	one(&b, 0xb1, "a");
	put8(&b, 0);
	one(&b, 0xb2, "b");
	check_rows("noise between bare ones", &b, OF("b1", "a"),
		   "is no protobuf at byte 193, so nothing after it was read");
}

/* A resource that is damaged would name another clock: none of its spans is used. */
static void resources(void **state)
{
	struct bytes b = { 0 }, batch = { 0 }, in = { 0 }, scope = { 0 };
	const struct otlp_span s = { 7, 0xb2, 0, 0, "get", 3, 0, 1000, 2000 };
	(void)state;
	one(&b, 0xb1, "a");
	wire_text(&in, 1, "not an attribute");
	wire_message(&batch, 1, &in);
	otlp_span(&in, &s);
	wire_message(&scope, 2, &in);
	wire_message(&batch, 2, &scope);
	wire_message(&b, 1, &batch);
	one(&b, 0xb3, "c");
	check_rows("a damaged resource", &b, OF("b1", "a") OF("b3", "c"),
		   "in 1 place, the first at byte 195");
	/* Behind its spans; the second one is damaged, and they wait for it. */
	for (int broken = 0; broken < 2; broken++) {
		one(&b, 0xb1, "a");
		otlp_span(&in, &s);
		wire_message(&scope, 2, &in);
		wire_message(&batch, 2, &scope);
		if (broken) {
			put8(&batch, 7);
		} else {
			wire_bytes(&batch, 1, "", 0);
		}
		wire_message(&b, 1, &batch);
		check_rows("behind its spans", &b, broken ? OF("b1", "a") : OF("b1", "a") ROW("b2"),
			   broken ? "whose it is was lost" : NULL);
	}
}

/* ---- cut anywhere ---------------------------------------------------------------------------- */

enum { MESSAGES = 3, SPANS = 4 };

static struct otlp_span any_span(struct usk_rng *rng, uint64_t id)
{
	static const char *const name[] = { "", "get", "a name that is longer than a few bytes" };
	struct otlp_span s = { .trace = 1 + usk_rng_below(rng, 3),
			       .id = id,
			       .parent = usk_rng_below(rng, 2) ? id - 1 : 0,
			       .link = usk_rng_below(rng, 4) ? 0 : id - 1,
			       .name = name[usk_rng_below(rng, COUNT(name))],
			       .kind = (int)usk_rng_below(rng, 7),
			       .status = (int)usk_rng_below(rng, 3),
			       .start_ns = BEGIN + (int64_t)usk_rng_below(rng, 1000) };
	s.end_ns = s.start_ns + (int64_t)usk_rng_below(rng, 1000);
	return s;
}

/* How many spans are whole in d[n]: each ends with its flags. */
static size_t whole_spans(const uint8_t *d, size_t n)
{
	static const char flags[] = "\x85\x01\x01\x01\0\0";
	const uint8_t *end = d + n;
	size_t spans = 0;
	while ((d = memmem(d, (size_t)(end - d), flags, sizeof flags - 1))) {
		d += sizeof flags - 1;
		spans++;
	}
	return spans;
}

/* Links are rows, too. */
static size_t rows_with_id(const char *rows)
{
	size_t n = 0;
	for (; rows && *rows; rows = strchr(rows, '\n') + 1) {
		n += strncmp(rows, "0 ", 2) != 0;
	}
	return n;
}

static void check_cut(const struct bytes *b, size_t n, bool boundary, const char *whole)
{
	char *damage, *rows = rows_of(b->data, n, &damage), place[64];
	size_t spans = whole_spans(b->data, n);
	snprintf(place, sizeof place, "m: ends at byte %zu within a message", n);
	bool good = rows ? rows_with_id(rows) == spans && !strncmp(whole, rows, strlen(rows)) &&
				    says(damage, boundary ? NULL : place)
			 : !spans && damage && strlen(damage) > 10;
	if (!good) {
		fail_msg("cut at %zu: %zu whole spans, %s%s", n, spans, rows ? rows : "refused, ",
			 damage ? damage : "");
	}
	free(rows);
	free(damage);
}

static void cut(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20); seed < case_end(20); seed++) {
		struct bytes b = { 0 };
		struct usk_rng rng;
		size_t end[MESSAGES] = { 0 };
		bool framed = seed & 1;
		usk_rng_seed(&rng, seed);
		for (size_t i = 0; i < MESSAGES; i++) {
			struct bytes m = { 0 };
			struct otlp_span s[SPANS];
			for (size_t k = 0; k < SPANS; k++) {
				s[k] = any_span(&rng, 16 * i + k + 2);
			}
			otlp_traces(framed ? &m : &b, i & 1 ? "web" : "db", (int)i, s,
				    1 + usk_rng_below(&rng, SPANS));
			if (framed) {
				otlp_framed(&b, &m);
			}
			end[i] = b.n;
		}
		char *damage, *whole = rows_of(b.data, b.n, &damage);
		assert_true(whole && !damage);
		size_t k = 0;
		for (size_t n = 0; n <= b.n; n++) {
			k += n > end[k];
			check_cut(&b, n, n == end[k] || (k && n == end[k - 1]), whole);
		}
		free(whole);
		bytes_free(&b);
	}
}

/* Any byte is any other: rows or a sentence, and whatever is read again is the same. */
static void flipped(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	for (uint64_t i = 0; i < MESSAGES; i++) {
		framed_one(&b, 0xb1 + i, "web");
	}
	for (size_t i = 0; i < b.n; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[i] ^= (uint8_t)(1u << bit);
			char *damage, *rows = rows_of(b.data, b.n, &damage);
			size_t n = rows_with_id(rows);
			if (n > MESSAGES || (n < MESSAGES - 1 && !damage) || !(rows || damage)) {
				fail_msg("byte %zu, bit %u: %s%s", i, bit, rows ? rows : "",
					 damage ? damage : "");
			}
			free(rows);
			free(damage);
			b.data[i] ^= (uint8_t)(1u << bit);
		}
	}
	bytes_free(&b);
}

/* ---- the same as JSON ------------------------------------------------------------------------ */

#ifdef USK_HAVE_YAJL
enum { CALLS = 60, FORMS = 3 };

static char *answer(const struct bytes *b)
{
	struct usk_trace *t;
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_memory(b->data, b->n, "m", &t, &err) ||
	    usk_sync(&t, 1, NULL, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_null(usk_trace_damage(t));
	char *text = usk_clocks_to_json(c);
	usk_clocks_free(c);
	usk_trace_close(t);
	return text;
}

static void put_forms(struct bytes form[FORMS], const char *host, const struct otlp_span *s)
{
	struct bytes m = { 0 };
	otlp_traces_json(&form[0], host, 1, s, CALLS);
	otlp_traces(&m, host, 1, s, CALLS);
	otlp_framed(&form[1], &m);
	otlp_traces(&form[2], host, 1, s, CALLS);
}

/* Calls of one machine, whose clock is so far ahead, by another. */
static void same_as_json(void **state)
{
	static struct otlp_span client[CALLS], server[CALLS];
	(void)state;
	for (uint64_t seed = case_first(10); seed < case_end(10); seed++) {
		struct usk_rng rng;
		struct bytes form[FORMS] = { { 0 } };
		usk_rng_seed(&rng, seed);
		const int64_t ahead = (int64_t)usk_rng_below(&rng, 10000000);
		for (size_t i = 0; i < CALLS; i++) {
			struct otlp_span *c = &client[i], *s = &server[i];
			*c = any_span(&rng, 2 * i + 2);
			*s = any_span(&rng, 2 * i + 3);
			s->trace = c->trace;
			s->parent = c->id;
			c->kind = 3;
			s->kind = 2;
			c->start_ns += (int64_t)i * 1000000;
			s->start_ns = c->start_ns + 20000 + (int64_t)usk_rng_below(&rng, 9000);
			s->end_ns = s->start_ns + 5000;
			c->end_ns = s->end_ns + 20000 + (int64_t)usk_rng_below(&rng, 9000);
			s->start_ns += ahead;
			s->end_ns += ahead;
		}
		put_forms(form, "web", client);
		put_forms(form, "db", server);
		char *json = answer(&form[0]);
		for (size_t i = 1; i < FORMS; i++) {
			char *proto = answer(&form[i]);
			assert_string_equal(json, proto);
			free(proto);
		}
		free(json);
		for (size_t i = 0; i < FORMS; i++) {
			bytes_free(&form[i]);
		}
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_field),	cmocka_unit_test(damaged_spans),
		cmocka_unit_test(among_others), cmocka_unit_test(wrong_lengths),
		cmocka_unit_test(between),	cmocka_unit_test(resources),
		cmocka_unit_test(cut),		cmocka_unit_test(flipped),
#ifdef USK_HAVE_YAJL
		cmocka_unit_test(same_as_json),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
