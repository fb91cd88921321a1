/* SPDX-License-Identifier: MIT */
/*
 * edn_json.c - values of one notation in the other
 *
 * In    a form of EDN, or JSON
 * Out   the same in the other
 * Why   tables have values as JSON, Jepsen has EDN, and each checker wants its own
 * Not   a way back for all: JSON has no keywords, sets, symbols, exact fractions
 */
#include "history/edn.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void put(struct usk_edn_text *to, const char *text)
{
	usk_edn_put(to, text, strlen(text));
}

/* ---- JSON to EDN ------------------------------------------------------------------------ */

static void put_form(struct usk_edn_text *to, const json_t *v);

static void put_map(struct usk_edn_text *to, const json_t *v)
{
	const char *key, *between = "";
	json_t *value;
	put(to, "{");
	json_object_foreach((json_t *)v, key, value)
	{
		put(to, between);
		usk_edn_put_string(to, key, strlen(key));
		put(to, " ");
		put_form(to, value);
		between = ", ";
	}
	put(to, "}");
}

static void put_form(struct usk_edn_text *to, const json_t *v)
{
	if (json_is_object(v)) {
		put_map(to, v);
	} else if (json_is_array(v)) {
		put(to, "[");
		for (size_t i = 0; i < json_array_size(v); i++) {
			put(to, i ? " " : "");
			put_form(to, json_array_get(v, i));
		}
		put(to, "]");
	} else if (json_is_string(v)) {
		usk_edn_put_string(to, json_string_value(v), json_string_length(v));
	} else if (json_is_null(v)) {
		put(to, "nil");
	} else {
		char *text = json_dumps(v, JSON_ENCODE_ANY);
		put(to, text);
		free(text);
	}
}

bool usk_edn_from_json(struct usk_edn_text *to, const char *text, size_t n)
{
	json_error_t e = { 0 };
	json_t *v = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (!v) {
		return false;
	}
	put_form(to, v);
	json_decref(v);
	return true;
}

/* ---- EDN to JSON ------------------------------------------------------------------------ */

/* The length of a character of UTF-8, 0 if it is none. */
static size_t utf8_length(const char *s, size_t n)
{
	json_t *v;
	for (size_t k = 1; k <= 4 && k <= n; k++) {
		v = json_stringn(s, k);
		if (v) {
			json_decref(v);
			return k;
		}
	}
	return 0;
}

/* A string of JSON. Bytes that are no UTF-8 are question marks. */
static void put_quoted(struct usk_edn_text *to, const char *text, size_t n)
{
	char escape[8];
	put(to, "\"");
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)text[i];
		size_t k = c < 0x80 ? 1 : utf8_length(text + i, n - i);
		if (c == '"' || c == '\\') {
			usk_edn_put(to, (char[]){ '\\', (char)c }, 2);
		} else if (c < ' ') {
			snprintf(escape, sizeof escape, "\\u%04x", c);
			put(to, escape);
		} else {
			usk_edn_put(to, k ? text + i : "?", k ? k : 1);
		}
		i += k ? k : 1;
	}
	put(to, "\"");
}

/* What stands for another character behind a backslash. */
static char unescaped(char c)
{
	static const char names[] = "ntrbf", characters[] = "\n\t\r\b\f";
	const char *at = c ? strchr(names, c) : NULL;
	return at ? characters[at - names] : c;
}

/* A string of EDN: its escapes are JSON's, and \uXXXX stays as it is where it is one there. */
static void put_string(struct usk_edn_text *to, const struct usk_edn *form)
{
	json_error_t e = { 0 };
	json_t *v = json_loadb(form->text, form->n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (v) {
		put_quoted(to, json_string_value(v), json_string_length(v));
		json_decref(v);
		return;
	}
	struct usk_edn_text plain = { NULL, 0, 0 };
	for (size_t i = 1; i + 1 < form->n; i++) {
		/* What a backslash precedes does not end it. */
		bool escaped = form->text[i] == '\\';
		char c = escaped ? unescaped(form->text[++i]) : form->text[i];
		usk_edn_put(&plain, &c, 1);
	}
	put_quoted(to, plain.s, plain.n);
	free(plain.s);
}

/* nil, true, false, and numbers that are JSON's too. */
static bool put_word(struct usk_edn_text *to, const struct usk_edn *form)
{
	const char *s = form->text;
	if (usk_edn_is(form, "nil")) {
		put(to, "null");
		return true;
	}
	size_t minus = form->n && *s == '-', digits = minus;
	while (digits < form->n && s[digits] >= '0' && s[digits] <= '9') {
		digits++;
	}
	bool integer =
		digits == form->n && digits > minus && (s[minus] != '0' || digits == minus + 1);
	json_error_t e = { 0 };
	json_t *v = integer ? NULL : json_loadb(s, form->n, JSON_DECODE_ANY, &e);
	if (integer || json_is_real(v) || json_is_boolean(v)) {
		usk_edn_put(to, s, form->n);
		json_decref(v);
		return true;
	}
	json_decref(v);
	return false;
}

/* A map's key: what is no string is one of what it would be. */
static void put_key(struct usk_edn_text *to, const struct usk_edn *key)
{
	if (key->kind == USK_EDN_STRING || key->kind == USK_EDN_KEYWORD) {
		usk_edn_to_json(to, key);
	} else {
		put_quoted(to, key->text, key->n);
	}
}

static void put_members(struct usk_edn_text *to, const struct usk_edn *form)
{
	const char *p = usk_edn_inside(form), *between = "";
	bool map = form->kind == USK_EDN_MAP;
	struct usk_edn x;
	put(to, map ? "{" : "[");
	for (; usk_edn_each(&p, form, &x); between = ",") {
		put(to, between);
		if (map) {
			put_key(to, &x);
			put(to, ":");
			usk_edn_each(&p, form, &x);
		}
		usk_edn_to_json(to, &x);
	}
	put(to, map ? "}" : "]");
}

void usk_edn_to_json(struct usk_edn_text *to, const struct usk_edn *form)
{
	struct usk_edn inner;
	switch (form->kind) {
	case USK_EDN_MAP:
	case USK_EDN_VECTOR:
	case USK_EDN_LIST:
	case USK_EDN_SET:
		put_members(to, form);
		break;
	case USK_EDN_STRING:
		put_string(to, form);
		break;
	case USK_EDN_KEYWORD:
		put_quoted(to, form->text + 1, form->n - 1);
		break;
	case USK_EDN_TAGGED:
		inner = usk_edn_tagged(form);
		usk_edn_to_json(to, &inner);
		break;
	default:
		if (form->kind != USK_EDN_WORD || !put_word(to, form)) {
			put_quoted(to, form->text, form->n);
		}
	}
}
