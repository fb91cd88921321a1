/* SPDX-License-Identifier: MIT */
/*
 * page.c - the built page with its title, the answer in plain HTML, and the data put in
 *
 * In    a template with three markers, what is to stand there
 * Out   one HTML file
 * Why   the drawing code is made once, by its own tools; the data is written as it is produced
 * Not   what the data says (page_data.c)
 */
#include "report/page.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

/* What stands in where unskew was built without the page: tables, no script. */
static const char plain[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>@@unskew-title@@</title>\n<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; "
	"padding: 1rem; overflow-wrap: anywhere; }\n"
	"table { border-collapse: collapse; }\n"
	"th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid; text-align: left; "
	"vertical-align: top; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	".scroll { overflow-x: auto; }\n"
	"figure { margin: 1rem 0; max-width: 40rem; }\nsvg { width: 100%; height: auto; }\n"
	"svg text { font-size: 12px; fill: currentColor; }\n"
	"</style>\n</head>\n<body>\n<main>\n@@unskew-answer@@\n"
	"</main>\n@@unskew-data@@\n</body>\n</html>\n";

char *usk_html_text(const char *text)
{
	static const struct {
		char c;
		const char *as;
	} rows[] = { { '&', "&amp;" },
		     { '<', "&lt;" },
		     { '>', "&gt;" },
		     { '"', "&quot;" },
		     { '\'', "&#39;" } };
	char *shown = usk_visible(text, true);
	char *out = usk_alloc(strlen(shown) + 1, 6), *to = out;
	for (const char *p = shown; *p; p++) {
		size_t i = 0;
		while (i < COUNT(rows) && rows[i].c != *p) {
			i++;
		}
		unsigned char c = (unsigned char)*p;
		if (i < COUNT(rows)) {
			to = stpcpy(to, rows[i].as);
		} else {
			*to++ = (c < ' ' && c != '\n' && c != '\t') || c == 127 ? '?' : *p;
		}
	}
	*to = 0;
	free(shown);
	return out;
}

void usk_page_write(struct usk_output *out, const struct usk_page *page)
{
	static const char mark[] = "@@unskew-"; /* and title, answer or data, and @@ */
	bool built = usk_page_built_size > 0;
	const char *text = built ? (const char *)usk_page_built : plain;
	const char *end = text + (built ? usk_page_built_size : sizeof plain - 1), *at;
	char *title = usk_html_text(page->title);
	while ((at = memmem(text, (size_t)(end - text), mark, sizeof mark - 1))) {
		usk_output_write(out, text, (size_t)(at - text));
		at += sizeof mark - 1;
		if (*at == 'd') {
			usk_page_data(out, page);
		} else {
			const char *part = *at == 't' ? title : page->answer;
			usk_output_write(out, part, strlen(part));
		}
		text = (const char *)memchr(at, '@', (size_t)(end - at)) + 2;
	}
	usk_output_write(out, text, (size_t)(end - text));
	free(title);
}
