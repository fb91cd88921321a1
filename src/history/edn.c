/* SPDX-License-Identifier: MIT */
#include "history/edn.h"

#include <stdlib.h>
#include <string.h>

/* Where a scan is, and why it ended. */
struct scan {
	const char *p, *end;
	bool last;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '\f';
}

static bool ends_word(char c)
{
	return is_blank(c) || (c && strchr("\"()[]{};", c));
}

/* Past blanks and comments. A comment that the text's end cuts may go on. */
static bool skip_blanks(struct scan *s)
{
	while (s->p < s->end && (is_blank(*s->p) || *s->p == ';')) {
		if (*s->p == ';') {
			const char *nl = memchr(s->p, '\n', (size_t)(s->end - s->p));
			if (!nl) {
				s->p = s->last ? s->end : s->p;
				return s->last;
			}
			s->p = nl;
		}
		s->p++;
	}
	return true;
}

static enum usk_edn_found word(struct scan *s)
{
	while (s->p < s->end && !ends_word(*s->p)) {
		s->p++;
	}
	return s->p < s->end || s->last ? USK_EDN_FORM : USK_EDN_CUT;
}

static enum usk_edn_found string(struct scan *s)
{
	for (s->p++; s->p < s->end && *s->p != '"'; s->p++) {
		s->p += *s->p == '\\';
	}
	if (s->p >= s->end) {
		s->p = s->end;
		return USK_EDN_CUT;
	}
	s->p++;
	return USK_EDN_FORM;
}

/* The first one behind the backslash may be anything: \( is a character, too. */
static enum usk_edn_found character(struct scan *s)
{
	if (s->end - s->p < 2) {
		return USK_EDN_CUT;
	}
	s->p += 2;
	return word(s);
}

static enum usk_edn_found skip(struct scan *s, size_t depth, struct usk_edn *out);

/* Up to the bracket that closes it, *s->p behind the one that opened it. */
static enum usk_edn_found collection(struct scan *s, size_t depth, char close, bool map)
{
	struct usk_edn member;
	for (size_t n = 0;; n++) {
		enum usk_edn_found found = skip(s, depth + 1, &member);
		if (found == USK_EDN_WRONG && s->p < s->end && *s->p == close) {
			s->p++;
			return map && n % 2 ? USK_EDN_WRONG : USK_EDN_FORM;
		}
		if (found != USK_EDN_FORM) {
			return found == USK_EDN_NONE ? USK_EDN_CUT : found;
		}
	}
}

/* #{set}, #tag form. */
static enum usk_edn_found dispatch(struct scan *s, size_t depth, enum usk_edn_kind *kind)
{
	struct usk_edn inner;
	if (s->end - s->p < 2) {
		return USK_EDN_CUT;
	}
	if (s->p[1] == '{') {
		s->p += 2;
		*kind = USK_EDN_SET;
		return collection(s, depth, '}', false);
	}
	*kind = USK_EDN_TAGGED;
	if (s->p[1] == '#' || ends_word(s->p[1])) {
		return USK_EDN_WRONG;
	}
	if (word(s) == USK_EDN_CUT) {
		return USK_EDN_CUT;
	}
	enum usk_edn_found found = skip(s, depth + 1, &inner);
	return found == USK_EDN_NONE ? USK_EDN_CUT : found;
}

/* Past one form that begins here. */
static enum usk_edn_found form(struct scan *s, size_t depth, enum usk_edn_kind *kind)
{
	static const struct {
		char open, close;
		enum usk_edn_kind kind;
	} brackets[] = { { '{', '}', USK_EDN_MAP },
			 { '[', ']', USK_EDN_VECTOR },
			 { '(', ')', USK_EDN_LIST } };
	char c = *s->p;
	for (size_t i = 0; i < COUNT(brackets); i++) {
		if (c == brackets[i].open) {
			s->p++;
			*kind = brackets[i].kind;
			return collection(s, depth, brackets[i].close, c == '{');
		}
	}
	*kind = c == '"'    ? USK_EDN_STRING
		: c == ':'  ? USK_EDN_KEYWORD
		: c == '\\' ? USK_EDN_CHARACTER
			    : USK_EDN_WORD;
	return c == '#'	      ? dispatch(s, depth, kind)
	       : c == '"'     ? string(s)
	       : c == '\\'    ? character(s)
	       : ends_word(c) ? USK_EDN_WRONG
			      : word(s);
}

/* Past the next form, and what is discarded before it. */
static enum usk_edn_found skip(struct scan *s, size_t depth, struct usk_edn *out)
{
	for (;;) {
		if (!skip_blanks(s)) {
			return USK_EDN_CUT;
		}
		out->text = s->p;
		if (s->p == s->end) {
			return USK_EDN_NONE;
		}
		if (depth > USK_EDN_DEEP) {
			return USK_EDN_WRONG;
		}
		bool discarded = s->end - s->p > 1 && s->p[0] == '#' && s->p[1] == '_';
		s->p += discarded ? 2 : 0;
		enum usk_edn_found found =
			discarded ? skip(s, depth + 1, out) : form(s, depth, &out->kind);
		if (discarded && found == USK_EDN_NONE) {
			return USK_EDN_CUT;
		}
		if (found != USK_EDN_FORM || !discarded) {
			out->n = (size_t)(s->p - out->text);
			return found;
		}
	}
}

enum usk_edn_found usk_edn_next(const char **p, const char *end, bool last, struct usk_edn *out)
{
	struct scan s = { *p, end, last };
	enum usk_edn_found found = skip(&s, 0, out);
	*p = found == USK_EDN_FORM || found == USK_EDN_NONE ? s.p : *p;
	return found;
}

const char *usk_edn_begin(const char *p, const char *end)
{
	struct scan s = { p, end, true };
	skip_blanks(&s);
	return s.p;
}

const char *usk_edn_inside(const struct usk_edn *form)
{
	return form->text + (form->kind == USK_EDN_SET ? 2 : 1);
}

bool usk_edn_each(const char **p, const struct usk_edn *in, struct usk_edn *out)
{
	return usk_edn_next(p, in->text + in->n - 1, true, out) == USK_EDN_FORM;
}

struct usk_edn usk_edn_tagged(const struct usk_edn *form)
{
	struct usk_edn out = { USK_EDN_WORD, form->text, 0 };
	struct scan s = { form->text, form->text + form->n, true };
	word(&s);
	usk_edn_next(&s.p, s.end, true, &out);
	return out;
}

bool usk_edn_is(const struct usk_edn *form, const char *text)
{
	return form->n == strlen(text) && !memcmp(form->text, text, form->n);
}

bool usk_edn_whole(const char *text, size_t n, struct usk_edn *out)
{
	const char *p = text, *end = text + n;
	struct usk_edn more;
	return usk_edn_next(&p, end, true, out) == USK_EDN_FORM &&
	       usk_edn_next(&p, end, true, &more) == USK_EDN_NONE;
}

void usk_edn_put(struct usk_edn_text *to, const char *text, size_t n)
{
	while (to->cap - to->n < n) {
		to->cap = to->cap ? 2 * to->cap : 256;
		to->s = usk_grow(to->s, to->cap, 1);
	}
	if (n) {
		memcpy(to->s + to->n, text, n);
	}
	to->n += n;
}

void usk_edn_put_string(struct usk_edn_text *to, const char *text, size_t n)
{
	usk_edn_put(to, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		static const char characters[] = "\"\\\n\t\r", names[] = "\"\\ntr";
		const char *at = text[i] ? strchr(characters, text[i]) : NULL;
		if (at) {
			usk_edn_put(to, "\\", 1);
		}
		usk_edn_put(to, at ? names + (at - characters) : text + i, 1);
	}
	usk_edn_put(to, "\"", 1);
}
