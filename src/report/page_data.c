/* SPDX-License-Identifier: MIT */
/*
 * page_data.c - what the page draws, as JSON inside its HTML
 *
 * In    the answer, the messages' summary
 * Out   one script element of JSON, no byte of which can end it
 * Why   written as it goes: a page of every message needs no copy of them in memory
 * Not   the drawing (page/)
 *
 * doc/page-data.md says what each member means.
 * Stamps are written as differences, from origins that are text: readers of JSON have doubles.
 */
#include "base/pack.h"
#include "base/text.h"
#include "report/page.h"
#include "write/write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ----------------------------------------------------------------------------- */

/* Where the JSON goes: into the page, or packed first, three bytes as four characters. */
struct sink {
	struct usk_output *page;
	struct usk_pack *pack; /* NULL: as it is */
	uint8_t left[3];
	size_t n_left;
};

static void put_base64(struct sink *out, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = out->left;
	uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
	char text[4];
	for (size_t i = 0; i < 4; i++) {
		text[i] = i <= n ? digit[bits >> (18 - 6 * i) & 63] : '=';
	}
	usk_output_write(out->page, text, sizeof text);
	memset(out->left, 0, sizeof out->left);
	out->n_left = 0;
}

static void packed(void *ctx, const void *data, size_t n)
{
	struct sink *out = ctx;
	const uint8_t *p = data;
	for (size_t i = 0; i < n; i++) {
		out->left[out->n_left++] = p[i];
		if (out->n_left == sizeof out->left) {
			put_base64(out, sizeof out->left);
		}
	}
}

static void put(struct sink *out, const void *data, size_t n)
{
	if (!out->pack) {
		usk_output_write(out->page, data, n);
	} else if (n) {
		usk_pack(out->pack, data, n, false, packed, out);
	}
}

static void end_packed(struct sink *out)
{
	if (out->pack) {
		usk_pack(out->pack, "", 0, true, packed, out);
		if (out->n_left) {
			put_base64(out, out->n_left);
		}
		usk_pack_free(out->pack);
	}
}

static void put_format(struct sink *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put_format(struct sink *out, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = usk_vformat(fmt, args);
	va_end(args);
	put(out, text, strlen(text));
	free(text);
}

/* A page has some 100,000 of them: printf() would take more time than all else that is written. */
static void put_number(struct sink *out, int64_t value)
{
	char text[24], *end = text + sizeof text, *begin = usk_digits(value, end);
	put(out, begin, (size_t)(end - begin));
}

/* ---- values ---------------------------------------------------------------------------- */

/*
 * JSON without the spaces between its tokens, and without '<': inside strings \u003c is the same,
 * and elsewhere there is none.
 */
static void put_json(struct sink *out, const char *text)
{
	bool inside = false;
	const char *from = text, *p = text;
	for (; *p; p++) {
		bool space = !inside && (*p == ' ' || *p == '\n' || *p == '\t');
		if (inside && *p == '\\' && p[1]) {
			p++;
		} else if (*p == '"') {
			inside = !inside;
		} else if (space || *p == '<') {
			put(out, from, (size_t)(p - from));
			put(out, "\\u003c", space ? 0 : 6);
			from = p + 1;
		}
	}
	put(out, from, (size_t)(p - from));
}

static void put_string(struct sink *out, const char *text)
{
	char *shown = usk_shown(text);
	put(out, "\"", 1);
	for (const char *p = shown; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c < ' ' || c == '<' || c == 127) {
			put_format(out, "\\u%04x", c);
		} else {
			if (c == '"' || c == '\\') {
				put(out, "\\", 1);
			}
			put(out, p, 1);
		}
	}
	put(out, "\"", 1);
	free(shown);
}

static void put_strings(struct sink *out, const char *key, const char *const *text, size_t n)
{
	put_format(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		put(out, ",", i > 0);
		put_string(out, text[i]);
	}
	put_format(out, "],\n");
}

/* ---- messages -------------------------------------------------------------------------- */

/* A direction's messages in the order of b's stamps: those held, the hull's, and outliers. */
struct place {
	struct usk_thin_row row;
	bool hull, out;
};

struct rows {
	struct place *row;
	size_t n;
	uint64_t total;
	bool whole; /* every message is a row */
};

KEYS_CALLED(by_time, BY(place, row.point.local_epoch), BY(place, row.point.local_ns),
	    BY(place, row.point.other_ns), BY(place, out));

/* Which epoch an outlier's stamp is of, the answer does not say. */
static uint32_t epoch_unknown(const struct usk_clock *c)
{
	return c->n_knots && c->knot[c->n_knots - 1].epoch ? UINT32_MAX : 0;
}

static struct place outlier(const struct usk_clocks *c, const struct usk_pair *p,
			    const struct usk_msg *m)
{
	bool back = m->from != p->a;
	return (struct place){
		.row.point = { .local_ns = back ? m->sent_ns : m->received_ns,
			       .other_ns = back ? m->received_ns : m->sent_ns,
			       .local_epoch = epoch_unknown(&c->clock[p->b]),
			       .other_epoch = epoch_unknown(&c->clock[p->a]) },
		.out = true,
	};
}

static size_t add_outliers(const struct usk_clocks *c, const struct usk_pair *p, bool back,
			   size_t *left, struct rows *r)
{
	size_t all = 0;
	for (size_t i = 0; i < p->n_outliers; i++) {
		const struct usk_msg *m = &p->outlier[i].msg;
		if ((m->from != p->a) == back) {
			all++;
			if (*left) {
				--*left;
				r->row[r->n++] = outlier(c, p, m);
			} else {
				r->whole = false;
			}
		}
	}
	return all;
}

/* Vertices of the hull: most are held anyway, as they are extreme where a bucket is short. */
static void add_hull(const struct usk_point *hull, size_t n, struct rows *r)
{
	size_t held = r->n;
	for (size_t i = 0; i < n; i++) {
		const struct place key = { .row.point = { .local_ns = hull[i].local_ns,
							  .other_ns = hull[i].local_ns +
								      hull[i].offset_ns },
					   .hull = true };
		struct place *found = usk_find(&key, r->row, held, sizeof key, by_time);
		if (found) {
			found->hull = true;
		} else {
			r->row[r->n++] = key;
		}
	}
}

/* The first ones are in order, the others are few. */
static void sort_in(struct rows *r, size_t sorted)
{
	size_t n = r->n - sorted;
	struct place *add = usk_alloc(n + 1, sizeof *add);
	memcpy(add, r->row + sorted, n * sizeof *add);
	usk_sort(add, n, sizeof *add, by_time);
	for (size_t i = sorted; n;) {
		bool last = !i || usk_order_by(&r->row[i - 1], &add[n - 1], by_time) <= 0;
		r->row[i + n - 1] = last ? add[n - 1] : r->row[i - 1];
		i -= !last;
		n -= last;
	}
	free(add);
}

static struct rows rows_of(const struct usk_clocks *c, const struct usk_pair *p,
			   const struct usk_summary_pair *s, bool back, size_t *outliers_left)
{
	struct usk_thin_row *held = NULL;
	size_t n = s->thin ? usk_thin_rows(s->thin, back, &held) : 0, n_hull;
	const struct usk_point *hull = usk_summary_hull(s, back, &n_hull);
	struct rows r = { .total = s->thin ? usk_thin_total(s->thin, back) : 0 };
	r.row = usk_alloc(n + n_hull + p->n_outliers + 1, sizeof *r.row);
	for (; r.n < n; r.n++) {
		r.row[r.n].row = held[r.n];
	}
	r.whole = n == r.total;
	add_hull(hull, n_hull, &r);
	r.total += add_outliers(c, p, back, outliers_left, &r);
	sort_in(&r, n);
	free(held);
	return r;
}

enum column { STANDS_FOR, LOCAL, OTHER, LOCAL_EPOCH, OTHER_EPOCH, HULL, OUT, COLUMNS };

/* Stamps as differences from the one before; of the hull's messages, and of outliers, indices. */
static void put_column(struct sink *out, enum column which, const struct rows *r, int64_t before)
{
	put(out, "[", 1);
	for (size_t i = 0, n = 0; i < r->n; i++) {
		const struct place *x = &r->row[i];
		const struct usk_thin_point *p = &x->row.point;
		int64_t stamp = which == LOCAL ? p->local_ns : p->other_ns;
		uint32_t epoch = which == LOCAL_EPOCH ? p->local_epoch : p->other_epoch;
		int64_t value = (int64_t)i;
		if ((which == HULL && !x->hull) || (which == OUT && !x->out)) {
			continue;
		}
		if (which == STANDS_FOR) {
			value = (int64_t)x->row.stands_for;
		} else if (which == LOCAL || which == OTHER) {
			value = usk_saturate((usk_i128)stamp - before);
			before = stamp;
		} else if (which == LOCAL_EPOCH || which == OTHER_EPOCH) {
			value = epoch == UINT32_MAX ? -1 : (int64_t)epoch;
		}
		put(out, ",", n++ > 0);
		put_number(out, value);
	}
	put(out, "]", 1);
}

static void put_direction(struct sink *out, const struct usk_clocks *c, const struct usk_pair *p,
			  const struct rows *r, bool back, const int64_t origin[2])
{
	const struct {
		const char *key;
		bool known;
		int64_t origin;
	} column[COLUMNS] = {
		[STANDS_FOR] = { "stands_for", !r->whole, 0 },
		[LOCAL] = { back ? "sent" : "received", true, origin[1] },
		[OTHER] = { back ? "received" : "sent", true, origin[0] },
		[LOCAL_EPOCH] = { back ? "sent_epoch" : "received_epoch",
				  epoch_unknown(&c->clock[p->b]), 0 },
		[OTHER_EPOCH] = { back ? "received_epoch" : "sent_epoch",
				  epoch_unknown(&c->clock[p->a]), 0 },
		[HULL] = { "hull", true, 0 },
		[OUT] = { "out", true, 0 },
	};
	put_format(out, "{\"from\":\"%s\",\"total\":%" PRIu64 ",\"held\":%zu,", back ? "b" : "a",
		   r->total, r->n);
	for (enum column i = 0; i < COLUMNS; i++) {
		put_format(out, "\"%s\":%s", column[i].key, column[i].known ? "" : "null");
		if (column[i].known) {
			put_column(out, i, r, column[i].origin);
		}
		put_format(out, "%s", i < HULL ? ",\n" : i == HULL ? "," : "}");
	}
}

/* ---- delays ---------------------------------------------------------------------------- */

static void put_histogram(struct sink *out, const char *key, const struct usk_bins *b)
{
	struct usk_bins_shown s = { .n = 0 };
	if (b) {
		usk_bins_show(b, &s);
	}
	put_format(out, "\"%s\":", key);
	if (!s.n) {
		put_format(out, "null");
		return;
	}
	put_format(out,
		   "{\"count\":%" PRIu64 ",\"min_ns\":\"%" PRId64 "\",\"median_ns\":\"%" PRId64
		   "\",\"p99_ns\":\"%" PRId64 "\",\"max_ns\":\"%" PRId64 "\",\"low_ns\":\"%" PRId64
		   "\",\"bin_ns\":\"%" PRId64 "\",\"fine_ns\":\"%" PRId64 "\",\"above\":%" PRIu64
		   ",\"bins\":[",
		   s.n, s.min_ns, s.median_ns, s.p99_ns, s.max_ns, s.low_ns, s.bin_ns, s.fine_ns,
		   s.above);
	for (size_t i = 0; i < s.n_bins; i++) {
		put_format(out, "%s%" PRIu64, i ? "," : "", s.bin[i]);
	}
	put_format(out, "]}");
}

/* ---- pairs ----------------------------------------------------------------------------- */

/* Where numbers count from: b at the beginning of its first bucket, a at its smallest stamp. */
static void origins(const struct rows r[2], int64_t bucket_ns, int64_t origin[2])
{
	bool any = false;
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < r[k].n; i++) {
			const struct usk_thin_point *p = &r[k].row[i].row.point;
			origin[0] = any && origin[0] < p->other_ns ? origin[0] : p->other_ns;
			origin[1] = any && origin[1] < p->local_ns ? origin[1] : p->local_ns;
			any = true;
		}
	}
	origin[0] = any ? origin[0] : 0;
	origin[1] = any ? origin[1] & ~(bucket_ns - 1) : 0;
}

static void put_pair(struct sink *out, const struct usk_clocks *c, const struct usk_pair *p,
		     const struct usk_summary_pair *s, size_t *outliers_left)
{
	int64_t origin[2], bucket_ns = s->thin ? usk_thin_bucket_ns(s->thin) : 1;
	struct rows r[2];
	for (int k = 0; k < 2; k++) {
		r[k] = rows_of(c, p, s, k, outliers_left);
	}
	origins(r, bucket_ns, origin);
	put_format(out, "{\"a\":");
	put_string(out, c->clock[p->a].name);
	put_format(out, ",\"b\":");
	put_string(out, c->clock[p->b].name);
	put_format(out,
		   ",\"a_origin_ns\":\"%" PRId64 "\",\"b_origin_ns\":\"%" PRId64
		   "\",\"bucket_ns\":\"%" PRId64 "\",\"level\":\"%s\",\"level_rate_e12\":\"%" PRId64
		   "\",\n\"directions\":[",
		   origin[0], origin[1], bucket_ns, s->corrected ? "corrected" : "recorded",
		   s->rate_e12);
	for (int k = 0; k < 2; k++) {
		put(out, ",\n", k ? 2 : 0);
		put_direction(out, c, p, &r[k], k, origin);
		free(r[k].row);
	}
	put_format(out, "],\n\"delays\":[");
	for (int k = 0; k < 2; k++) {
		put_format(out, "%s{\"from\":\"%s\",", k ? ",\n" : "", k ? "b" : "a");
		put_histogram(out, "recorded", s->recorded[k]);
		put(out, ",", 1);
		put_histogram(out, "corrected", s->delay[k]);
		put(out, "}", 1);
	}
	put_format(out, "]}");
}

/* ---- all of it ------------------------------------------------------------------------- */

/* clocks.json of the pairs that are shown; without the corridors where messages stand for them. */
static void put_clocks(struct sink *out, const struct usk_page *page)
{
	struct usk_clocks c = *page->clocks;
	const struct usk_summary *s = page->summary;
	c.pair = usk_alloc(c.n_pairs + 1, sizeof *c.pair);
	c.n_pairs = 0;
	for (size_t i = 0; i < s->n_pairs; i++) {
		struct usk_pair *p = &c.pair[c.n_pairs];
		*p = page->clocks->pair[i];
		if (s->of_messages) {
			p->n_floor = p->n_ceiling = 0;
		}
		c.n_pairs += s->pair[i].shown;
	}
	char *json = usk_clocks_to_json(&c);
	put_json(out, json);
	free(json);
	free(c.pair);
}

/* Browsers unpack as much in no time, and such a page is a third of its size. */
enum { PLAIN_PAIRS = 64 };

void usk_page_data(struct usk_output *page_file, const struct usk_page *page)
{
	const struct usk_summary *s = page->summary;
	size_t outliers_left = USK_PAGE_OUTLIERS, shown = 0;
	for (size_t i = 0; i < s->n_pairs; i++) {
		shown += s->pair[i].shown;
	}
	bool pack = shown > PLAIN_PAIRS;
	struct sink sink = { .page = page_file, .pack = pack ? usk_pack_new(USK_GZIP) : NULL },
		    *out = &sink;
	usk_output_format(page_file, "<script type=\"%s\" id=\"unskew-data\">\n",
			  pack ? "text/plain" : "application/json");
	put_format(out, "{\"unskew_page\":1,\n\"version\":\"%s\",\n", usk_version());
	put_strings(out, "command", page->command, page->n_command);
	put_format(out, "\"source\":\"%s\",\n\"full\":%s,\n", s->of_messages ? "traces" : "clocks",
		   s->full ? "true" : "false");
	put_strings(out, "notes", (const char *const *)page->note, page->n_notes);
	put_format(out, "\"clocks\":");
	put_clocks(out, page);
	put_format(out, ",\n\"pairs\":[");
	for (size_t i = 0, n = 0; s->of_messages && i < s->n_pairs; i++) {
		if (s->pair[i].shown) {
			put(out, ",\n", n++ ? 2 : 0);
			put_pair(out, page->clocks, &page->clocks->pair[i], &s->pair[i],
				 &outliers_left);
		}
	}
	put_format(out, "],\n\"compare\":");
	put_json(out, page->compare ? page->compare : "null");
	put_format(out, "}\n");
	end_packed(out);
	usk_output_format(page_file, "</script>");
}
