/* SPDX-License-Identifier: MIT */
/*
 * clocks.c - the table of clocks as an owned whole: reading it, freeing it, finding a trace's clock
 * in it
 */
#include "write/fields.h"
#include "write/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const qualities[] = {
	[USK_REFERENCE] = "reference",	     [USK_BOUNDED] = "bounded",
	[USK_ONE_SIDED] = "one-sided",	     [USK_ABSENT] = "absent",
	[USK_CONTRADICTED] = "contradicted",
};

const char *usk_quality_name(enum usk_quality q)
{
	return (size_t)q < COUNT(qualities) ? qualities[q] : "absent";
}

enum usk_status usk_clocks_read(const char *path, struct usk_clocks **out, struct usk_err *err)
{
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, path, usk_sniff_json, err);
	if (status) {
		return status;
	}
	status = usk_input_all(&in, err);
	if (!status) {
		status = usk_clocks_from_json((const char *)in.data, in.have, out, err);
	}
	usk_fail_in(status, err, "%s", path);
	usk_input_close(&in);
	return status;
}

void usk_clocks_free(struct usk_clocks *c)
{
	if (!c) {
		return;
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		usk_fields_free(usk_clock_fields, &c->clock[i]);
	}
	for (size_t i = 0; i < c->n_pairs; i++) {
		usk_fields_free(usk_pair_fields, &c->pair[i]);
		usk_fields_free(usk_corridor_fields, &c->pair[i]);
	}
	usk_fields_free(usk_clocks_head, c);
	usk_fields_free(usk_clocks_tail, c);
	USK_FREE(c->clock, c->pair, c);
}

/* Length of the UTF-8 sequence at s, 0 if it is none: overlong, a surrogate, over U+10FFFF. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80	 ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		   (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
	return n && !bad ? n : 0;
}

char *usk_shown(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	char *out = usk_alloc(strlen(text) + 1, 4), *to = out;
	while (*s) {
		size_t n = utf8_length(s);
		if (n) {
			memcpy(to, s, n);
			to += n;
			s += n;
		} else {
			to += sprintf(to, "\\x%02x", *s++);
		}
	}
	*to = 0;
	return out;
}

/* Controls of both sets, and marks that turn text round, part lines or take no room; 0 if it is
 * none of them. Of UTF-8 that is sound. */
static unsigned hidden(const unsigned char *s, size_t *n)
{
	unsigned c = s[0] < 0x80   ? s[0]
		     : s[0] < 0xe0 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
		     : s[0] < 0xf0 ? (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu)
				   : 'a';
	*n = utf8_length(s);
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
			       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x2069) ||
			       c == 0xfeff
		       ? c
		       : 0;
}

char *usk_visible(const char *text, bool lines)
{
	char *shown = usk_shown(text);
	char *out = usk_alloc(strlen(shown) + 1, 6), *to = out;
	size_t n;
	for (const unsigned char *s = (const unsigned char *)shown; *s; s += n) {
		unsigned c = hidden(s, &n);
		if (c && !(lines && c == '\n')) {
			to += sprintf(to, "\\u%04x", c);
		} else {
			memcpy(to, s, n);
			to += n;
		}
	}
	free(shown);
	return out;
}

static bool same(const char *stored, const char *shown)
{
	char *s = usk_shown(stored);
	bool equal = !strcmp(s, shown);
	free(s);
	return equal;
}

static uint32_t find_name(const struct usk_clocks *c, const char *name)
{
	char *shown = usk_shown(name);
	uint32_t found = USK_NO_CLOCK;
	for (size_t i = 0; i < c->n_clocks && found == USK_NO_CLOCK; i++) {
		if (same(c->clock[i].name, shown)) {
			found = (uint32_t)i;
		}
	}
	free(shown);
	return found;
}

uint32_t usk_clocks_find(const struct usk_clocks *c, const char *name, const char *path,
			 const char *other_name)
{
	if (name) {
		return find_name(c, name);
	}
	uint32_t found = USK_NO_CLOCK;
	if (path) {
		char *shown = usk_shown(path);
		for (size_t i = 0; i < c->n_traces && found == USK_NO_CLOCK; i++) {
			if (same(c->trace[i].path, shown)) {
				found = c->trace[i].clock;
			}
		}
		free(shown);
	}
	return found == USK_NO_CLOCK && other_name ? find_name(c, other_name) : found;
}

const struct usk_trace_info *usk_clocks_trace(const struct usk_clocks *c, const char *path,
					      uint32_t clock)
{
	const struct usk_trace_info *found = NULL;
	char *shown = usk_shown(path);
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		bool here = t->path && same(t->path, shown);
		if (here || (!found && clock != USK_NO_CLOCK && t->clock == clock && t->n_ifaces)) {
			found = t;
		}
		if (here) {
			break;
		}
	}
	free(shown);
	return found;
}

uint32_t usk_trace_iface_clock(const struct usk_trace_info *t, uint32_t number, const char *name,
			       uint32_t clock)
{
	char digits[12];
	snprintf(digits, sizeof digits, "%u", (unsigned)number);
	for (size_t i = 0; t && i < t->n_ifaces; i++) {
		if (!strcmp(t->iface[i].iface, digits) ||
		    (name && !strcmp(t->iface[i].iface, name))) {
			return t->iface[i].clock;
		}
	}
	return clock;
}

void usk_note(struct usk_notes *notes, const char *fmt, ...)
{
	if (!notes) {
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	char *s = usk_vformat(fmt, ap);
	va_end(ap);
	*USK_APPEND(notes->note, notes->n) = s;
}

void usk_notes_free(struct usk_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		free(notes->note[i]);
	}
	free(notes->note);
	memset(notes, 0, sizeof *notes);
}

enum usk_status usk_write_map(const struct usk_clocks *c, uint32_t i, const char *what,
			      const struct usk_write_options *opt, struct usk_replay **map,
			      struct usk_notes *notes, struct usk_err *err)
{
	*map = NULL;
	if (i >= c->n_clocks) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: it is unknown which clock stamped it; say so with NAME=%s",
				what, what);
	}
	const struct usk_clock *clock = &c->clock[i];
	if (clock->quality == USK_REFERENCE || clock->quality == USK_BOUNDED) {
		*map = usk_replay_new(c, i, what);
		if (*map) {
			return USK_OK;
		}
	}
	const char *quality = usk_quality_name(clock->quality);
	if (!opt || !opt->allow_unbounded) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: clock %s is %s, so its stamps cannot be corrected; "
				"--allow-unbounded leaves them as recorded",
				what, clock->name, quality);
	}
	usk_note(notes, "%s: clock %s is %s: its stamps are left as recorded", what, clock->name,
		 quality);
	return USK_OK;
}

size_t usk_seconds_text(int64_t ns, char *out)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char digits[20];
	size_t n = 0, at = 0;
	for (; size || n < 10; size /= 10) {
		digits[n++] = (char)('0' + size % 10);
	}
	if (ns < 0) {
		out[at++] = '-';
	}
	while (n) {
		if (n == 9) {
			out[at++] = '.';
		}
		out[at++] = digits[--n];
	}
	out[at] = 0;
	return at;
}

size_t usk_recorded_text(int64_t ns, char out[USK_RECORDED_MAX])
{
	static const char word[] = "recorded ";
	memcpy(out, word, sizeof word - 1);
	return sizeof word - 1 + usk_seconds_text(ns, out + sizeof word - 1);
}
