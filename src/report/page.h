/* SPDX-License-Identifier: MIT */
/* page.h - an answer as one HTML file that needs no network */
#ifndef USK_PAGE_H
#define USK_PAGE_H

#include "base/io.h"
#include "report/summary.h"

/* The page as it was built (page/), or a plain one; has the three markers. */
extern const unsigned char usk_page_built[];
extern const size_t usk_page_built_size; /* 0: unskew was built without it */

struct usk_page {
	const char *const *command; /* as typed */
	size_t n_command;
	const struct usk_clocks *clocks;
	const struct usk_summary *summary; /* of the messages, or of the answer alone */
	const char *compare;		   /* a JSON object, or NULL */
	char **note;			   /* what this page leaves out */
	size_t n_notes;
	const char *title, *answer; /* text; HTML that says the same without a script */
};

/** The page into out, which the caller commits. */
void usk_page_write(struct usk_output *out, const struct usk_page *page);

/** Text as HTML shows it: markup as text, control characters as ?, not UTF-8 as \xff. malloc'ed. */
char *usk_html_text(const char *text);

/** The data element alone, as usk_page_write() puts it into the page. */
void usk_page_data(struct usk_output *out, const struct usk_page *page);

#endif
