/* SPDX-License-Identifier: MIT */
/* clock_page.c - this machine's clocks as one HTML file */
#include "clock_show.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char *const head =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>Clocks of this machine</title>\n<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; "
	"padding: 1rem; }\n"
	"table { border-collapse: collapse; font-size: 0.9rem; }\n"
	"th, td { padding: 0.15rem 0.7rem; border-bottom: 1px solid #8886; text-align: left; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums; }\n"
	".scroll { overflow-x: auto; }\n"
	".two { display: grid; gap: 1.5rem 2.5rem; "
	"grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }\n"
	"figure { margin: 0; min-width: 0; }\n"
	"svg { width: 100%; height: auto; }\n"
	"svg text { font-size: 12px; fill: currentColor; }\n"
	".rule { stroke-opacity: 0.5; }\n"
	"</style>\n</head>\n<body>\n<main>\n<h1>Clocks of this machine</h1>\n";

void clock_print_page(struct usk_output *out, const struct clock_report *r)
{
	char *html = NULL;
	size_t size;
	FILE *section = open_memstream(&html, &size);
	if (section) {
		clock_put_section(section, r, NULL, 2);
	}
	html = stream_text(section, &html);
	usk_output_write(out, head, strlen(head));
	usk_output_write(out, html, strlen(html));
	usk_output_format(out, "</main>\n</body>\n</html>\n");
	free(html);
}
