/* SPDX-License-Identifier: MIT */
/*
 * anchors.c - what is known of two clocks besides their messages
 *
 * In    --anchor A@TIME=B@TIME±D
 * Out   rows of struct usk_anchor
 * Why   names may hold = and @, times : and +: what can be read in one way only is what was meant
 * Not   whether there are such clocks: that shows when the traces are read
 */
#include "cmd.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

const struct option_group options_anchor = {
	"Anchors",
	{
		{ "anchor",
		  "when clock A showed TIME, clock B showed TIME, give or take D: "
		  "a@1700000000.5s=b@1700000003s+-20ms; ± may be written +-",
		  TEXTS("A@TIME=B@TIME±D") },
	},
};

/* NAME@TIME at its last @; *name is malloc'ed. */
static enum usk_status parse_side(const char *s, size_t n, char **name, int64_t *ns,
				  struct usk_err *err)
{
	const char *at = memrchr(s, '@', n);
	if (!at || at == s) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%.*s\" should be CLOCK@TIME",
				n > 60 ? 60 : (int)n, s);
	}
	size_t length = (size_t)(at - s);
	enum usk_status status = usk_parse_time(at + 1, n - length - 1, ns, err);
	*name = status ? NULL : usk_format("%.*s", (int)length, s);
	return status;
}

/* Where ±D or +-D begins, the last one; NULL: there is none. */
static const char *find_within(const char *text, const char **duration)
{
	const char *found = NULL;
	for (const char *p = text; *p; p++) {
		bool sign = !strncmp(p, "\xc2\xb1", 2);
		if (sign || !strncmp(p, "+-", 2)) {
			found = p;
			*duration = p + 2;
		}
	}
	return found;
}

static enum usk_status parse(const char *text, struct usk_anchor *out, struct usk_err *err)
{
	const char *duration, *end = find_within(text, &duration);
	const size_t n = end ? (size_t)(end - text) : 0;
	enum usk_status status = USK_EUSAGE;
	if (!end || !memchr(text, '=', n)) {
		return usk_fail(err, USK_EUSAGE, 0, "should be A@TIME=B@TIME±D");
	}
	if (usk_parse_duration(duration, strlen(duration), &out->within_ns, err)) {
		return USK_EUSAGE;
	}
	if (out->within_ns < 0) {
		return usk_fail(err, USK_EUSAGE, 0, "%s is less than nothing", duration);
	}
	for (const char *eq = text; status && (eq = memchr(eq, '=', n - (size_t)(eq - text)));
	     eq++) {
		char *a = NULL, *b = NULL;
		status = parse_side(text, (size_t)(eq - text), &a, &out->a_ns, err);
		if (!status) {
			status = parse_side(eq + 1, (size_t)(end - eq) - 1, &b, &out->b_ns, err);
		}
		if (status) {
			free(a);
			continue;
		}
		out->a = a;
		out->b = b;
	}
	return status;
}

int anchors_parse(const struct args *args, struct usk_sync_options *out)
{
	size_t n;
	const char *const *row = args_list(args, "anchor", &n);
	struct usk_anchor *anchor = usk_alloc(n + 1, sizeof *anchor);
	out->anchor = anchor;
	out->n_anchors = n;
	for (size_t i = 0; i < n; i++) {
		struct usk_err err = { 0 };
		if (parse(row[i], &anchor[i], &err)) {
			return say_usage("--anchor %s: %s", row[i], err.msg);
		}
	}
	return EXIT_DONE;
}

void anchors_free(struct usk_sync_options *o)
{
	for (size_t i = 0; i < o->n_anchors; i++) {
		free((char *)o->anchor[i].a);
		free((char *)o->anchor[i].b);
	}
	free((struct usk_anchor *)o->anchor);
	o->anchor = NULL;
	o->n_anchors = 0;
}
