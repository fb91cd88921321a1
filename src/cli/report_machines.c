/* SPDX-License-Identifier: MIT */
/*
 * report_machines.c - how good the machines' own clocks are, in the report
 *
 * In    what `unskew clock --json` printed on each of them
 * Out   a section of the page: the tables and drawings of `unskew clock -o`, machine by machine
 * Why   a correction is never better than the stamps
 */
#include "clock_show.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* "x/client.json": "client" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return usk_format("%.*s", (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base)),
			  base);
}

static int read_machine(const char *path, struct clock_report *out)
{
	struct usk_err err = { 0 };
	struct usk_input in;
	if (usk_input_open(&in, path, &err)) {
		return say_error(&err);
	}
	enum usk_status status = usk_input_all(&in, &err);
	if (!status) {
		status = clock_from_json((const char *)in.data, in.have, out, &err);
	}
	if (status) {
		usk_fail_in(&err, "%s", path);
	}
	usk_input_close(&in);
	return status ? say_error(&err) : EXIT_DONE;
}

static int put_machines(FILE *out, const char *const *path, char *const *name, size_t n)
{
	int status = EXIT_DONE;
	struct clock_report *r = usk_alloc(1, sizeof *r);
	fputs("<section id=\"unskew-machines\">\n<h2>The machines' own clocks</h2>\n", out);
	for (size_t i = 0; i < n && !status; i++) {
		status = read_machine(path[i], r);
		if (!status) {
			char *html = usk_html_text(name[i]);
			fprintf(out, "<h3><bdi>%s</bdi></h3>\n", html);
			free(html);
			clock_put_section(out, r, name[i], 4);
		}
	}
	fputs("</section>\n", out);
	free(r);
	return status;
}

/* Each machine a name of its own, and no file that the page would replace. */
static int check(const char *const *path, char *const *name, size_t n, const char *output)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(name[i], name[k])) {
				return say_usage("--clock: %s and %s would both be called %s; "
						 "give NAME=FILE",
						 path[k], path[i], name[i]);
			}
		}
	}
	return files_apart(path, n, &output, 1);
}

int report_machines(const struct args *args, const char *output, char **html)
{
	size_t n;
	const char *const *given = args_list(args, "clock", &n);
	if (!n) {
		*html = usk_strdup("");
		return EXIT_DONE;
	}
	const char **path = usk_alloc(n, sizeof *path);
	char **name = usk_alloc(n, sizeof *name);
	for (size_t i = 0; i < n; i++) {
		path[i] = args_split_name(given[i], &name[i]);
		name[i] = name[i] ? name[i] : name_of(path[i]);
	}
	int status = check(path, name, n, output);
	if (!status) {
		struct stream s;
		status = put_machines(stream_begin(&s), path, name, n);
		*html = stream_end(&s);
	}
	for (size_t i = 0; i < n; i++) {
		free(name[i]);
	}
	free(name);
	free(path);
	return status;
}
