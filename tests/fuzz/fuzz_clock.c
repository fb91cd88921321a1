/* SPDX-License-Identifier: MIT */
/*
 * fuzz_clock - any bytes as the JSON of `unskew clock`: a sentence, or figures that are written and
 * read again to the same, and drawn with numbers only
 */
#include "cli/clock_show.h"
#include "found.h"

#include <stdlib.h>
#include <string.h>

/* The tables can be printed in colour, too, which takes the whole program. */
const char *colour(FILE *to, const char *what)
{
	(void)to, (void)what;
	return "";
}

/* No "nan" nor "inf" in what a browser is to draw; names cannot look like markup. */
static void draw(const struct clock_report *r)
{
	char *html = NULL;
	size_t size;
	FILE *out = open_memstream(&html, &size);
	if (!out) {
		abort();
	}
	clock_put_section(out, r, "<a \"name\">", 4);
	fclose(out);
	static const char mark[] = " d=\"";
	for (const char *p = html; (p = strstr(p, mark)); p++) {
		const char *d = p + sizeof mark - 1;
		if (d[strspn(d, "MHVZ -.0123456789")] != '"') {
			abort();
		}
	}
	free(html);
}

static char *written(const struct clock_report *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out) {
		abort();
	}
	clock_print_json(out, r);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clock_report *r = usk_alloc(1, sizeof *r);
	struct usk_err err = { 0 };
	if (!clock_from_json((const char *)data, size, r, &err)) {
		char *once = written(r);
		draw(r);
		if (clock_from_json(once, strlen(once), r, &err)) {
			abort();
		}
		char *twice = written(r);
		fuzz_found_text(once);
		if (strcmp(once, twice) != 0) {
			abort();
		}
		free(once);
		free(twice);
	} else if (!err.msg[0] || strchr(err.msg, '\n')) {
		abort();
	}
	free(r);
	return 0;
}
