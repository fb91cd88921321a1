/* SPDX-License-Identifier: MIT */
/*
 * edn.h - forms of EDN, the data notation of Clojure, in which Jepsen writes histories
 *
 * In    text[n]
 * Out   where each form begins and ends, and of which kind it is; the same as JSON, and back
 * Why   of a history's values nobody here needs more: they are handed on as they are
 * Not   what tags mean, and whether a set has an element twice
 */
#ifndef USK_EDN_H
#define USK_EDN_H

#include "base/io.h"

enum { USK_EDN_DEEP = 100 };

enum usk_edn_found {
	USK_EDN_FORM,
	USK_EDN_NONE,  /* nothing but blanks and comments up to the end */
	USK_EDN_CUT,   /* the text ends within a form, or it may go on behind the end */
	USK_EDN_WRONG, /* no EDN, or forms within forms deeper than USK_EDN_DEEP */
};

enum usk_edn_kind {
	USK_EDN_MAP,
	USK_EDN_VECTOR,
	USK_EDN_LIST,
	USK_EDN_SET,
	USK_EDN_STRING,
	USK_EDN_KEYWORD,
	USK_EDN_CHARACTER,
	USK_EDN_TAGGED,
	USK_EDN_WORD, /* numbers, symbols, nil, true, false */
};

struct usk_edn {
	enum usk_edn_kind kind;
	const char *text; /* borrowed from what was read; a word, string or keyword with its mark */
	size_t n;
};

/**
 * The form at *p, which moves behind it. A form that ends with the text and that one more letter
 * would make longer is USK_EDN_CUT unless `last`: nothing comes behind the text.
 */
enum usk_edn_found usk_edn_next(const char **p, const char *end, bool last, struct usk_edn *out);

/** Past blanks and comments. */
const char *usk_edn_begin(const char *p, const char *end);

/** The forms in a collection one by one: *p begins at usk_edn_inside(), and false is its end. */
const char *usk_edn_inside(const struct usk_edn *form);
bool usk_edn_each(const char **p, const struct usk_edn *in, struct usk_edn *out);
/** What a tag stands before. */
struct usk_edn usk_edn_tagged(const struct usk_edn *form);

bool usk_edn_is(const struct usk_edn *form, const char *text);
/** Is text[n] one form, and nothing else? */
bool usk_edn_whole(const char *text, size_t n, struct usk_edn *out);

/* Text that grows. */
struct usk_edn_text {
	char *s;
	size_t n, cap;
};
void usk_edn_put(struct usk_edn_text *to, const char *text, size_t n);
/** A string of EDN, in quotes. */
void usk_edn_put_string(struct usk_edn_text *to, const char *text, size_t n);

/** JSON as EDN: null is nil. False: text[n] is no JSON. */
bool usk_edn_from_json(struct usk_edn_text *to, const char *text, size_t n);
/**
 * EDN as JSON: nil is null; keywords are strings without their colon, and so are keys of maps; lists
 * and sets are arrays; a tag is left out. What JSON has no form for is a string of its EDN.
 */
void usk_edn_to_json(struct usk_edn_text *to, const struct usk_edn *form);

#endif
