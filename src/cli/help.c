/* SPDX-License-Identifier: MIT */
/* help.c - help and manual pages, all from the tables of commands and options. */
#include "units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 79, HELP_COLUMN = 26 };

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (!strcmp((*c)->name, name)) {
			return *c;
		}
	}
	return NULL;
}

/* Edits that turn a into b; what is longer than a name of ours counts as far away. */
static size_t distance(const char *a, const char *b)
{
	enum { LONGEST = 40 };
	size_t n = strlen(b), row[LONGEST + 1];
	if (n > LONGEST || strlen(a) > LONGEST) {
		return SIZE_MAX;
	}
	for (size_t j = 0; j <= n; j++) {
		row[j] = j;
	}
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[n];
}

const char *nearest_name(const char *wrong, const char *const *name, size_t n)
{
	size_t length = strlen(wrong), least = length / 3 + 2;
	const char *best = NULL;
	for (size_t i = 0; i < n; i++) {
		/* The beginning of a name is nearer than any misspelling. */
		bool begun = length >= 2 && !strncmp(wrong, name[i], length);
		size_t d = begun ? 0 : distance(wrong, name[i]);
		if (d < least && d < strlen(name[i])) {
			least = d;
			best = name[i];
		}
	}
	return best;
}

/* Words of text, folded, continuing a line that is at the column of the indent. */
static void fold(FILE *out, const char *text, int indent)
{
	int at = indent;
	while (*text) {
		int word = (int)strcspn(text, " \n");
		if (at > indent && at + word > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		}
		fprintf(out, "%.*s", word, text);
		at += word;
		text += word;
		if (*text == '\n') {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			text++;
		}
		if (*text == ' ') {
			text++;
			if (at + 1 + (int)strcspn(text, " \n") <= WIDTH && *text) {
				fputc(' ', out);
				at++;
			} else if (*text) {
				fprintf(out, "\n%*s", indent, "");
				at = indent;
			}
		}
	}
	fputc('\n', out);
}

/* "one, two or three" of the choices, the default, the limits: what follows an option's help. */
static const char *facts(const struct option_row *row)
{
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	bool told = row->choice && (!row->list || row->repeated);
	for (size_t i = 0; told && row->choice(i); i++) {
		fprintf(out, "%s%s", i ? ", " : " (", row->choice(i));
	}
	fputs(told ? ")" : "", out);
	if (row->initial) {
		fprintf(out, " [%s]", row->initial);
	}
	return kept(usk_stream_end(&s));
}

static void help_program(FILE *out)
{
	const struct program *p = program();
	fprintf(out, "%s - %s\n\nusage: %s COMMAND [options] ...\n\n", p->name, p->purpose,
		p->typed);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "  %-10s", (*c)->name);
		fold(out, (*c)->help, 12);
	}
	fprintf(out,
		"  %-10sthis, or a command's own help: %s help sync\n"
		"  %-10sthree tasks of each command, and what to type\n\n"
		"%s --version says what is built in.\n"
		"Exit status: 0 done; 1 could not do it; 2 wrong usage; 3 done, but some clock "
		"has\n"
		"no bound on one side or both, or a file was skipped.\n",
		"help", p->name, "examples", p->name);
}

static void option_line(FILE *out, const struct option_row *row)
{
	int at = row->letter ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "      ");
	bool flag = row->type == OPTION_FLAG;
	const char *before = !row->value ? "" : flag ? "[=" : " ";
	at += fprintf(out, "--%s%s%s%s", row->name, before, row->value ? row->value : "",
		      flag && row->value ? "]" : "");
	if (at + 2 > HELP_COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - at, "");
	fold(out,
	     kept(usk_format("%s%s%s", row->help, row->repeated ? "; may be repeated" : "",
			     facts(row))),
	     HELP_COLUMN);
}

static void command_examples(FILE *out, const struct command *command)
{
	for (size_t i = 0; i < COUNT(command->example); i++) {
		fputs("  ", out);
		fold(out, command->example[i].task, 2);
		fprintf(out, "      %s %s\n", program()->typed, command->example[i].line);
	}
}

void help_examples(FILE *out, const struct command *command)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (!command || command == *c) {
			fprintf(out, "%s%s: %s\n", command || c == commands ? "" : "\n", (*c)->name,
				(*c)->help);
			command_examples(out, *c);
		}
	}
}

static void command_head(FILE *out, const struct command *command)
{
	fprintf(out, "%s %s - %s\n\nusage: %s %s [options]%s%s\n", program()->name, command->name,
		command->help, program()->typed, command->name, *command->operands ? " " : "",
		command->operands);
	fputs("\nExamples:\n", out);
	command_examples(out, command);
}

static const struct option_row *row_named(const struct command *command, const char *name)
{
	const struct option_row *row;
	for (size_t i = 0; (row = command_row(command, i)) && strcmp(row->name, name) != 0; i++) {
	}
	return row;
}

static size_t count_rows(const struct command *command)
{
	size_t n = 0;
	while (command_row(command, n)) {
		n++;
	}
	return n;
}

void help_short(FILE *out, const struct command *command)
{
	if (!command->brief[0]) {
		help_command(out, command);
		return;
	}
	command_head(out, command);
	fputs("\nOptions that are used most:\n", out);
	for (const char *const *name = command->brief; *name; name++) {
		option_line(out, row_named(command, *name));
	}
	fprintf(out, "\n`%s help %s` has all %zu options, and what is printed.\n", program()->name,
		command->name, count_rows(command));
}

static const char *manual(const struct command *command)
{
	const char *more = command->more ? command->more : command->help;
	return command->formats ? kept(usk_format("%s %s", command->formats(), more)) : more;
}

void help_command(FILE *out, const struct command *command)
{
	if (!command) {
		help_program(out);
		return;
	}
	command_head(out, command);
	if (command->more) {
		fputc('\n', out);
		fold(out, manual(command), 0);
	}
	for (const struct option_group *const *g = command->group; *g; g++) {
		fprintf(out, "\n%s:\n", (*g)->title);
		for (const struct option_row *row = (*g)->row; row->name; row++) {
			option_line(out, row);
		}
	}
}

/* troff: a backslash, a dash, and a dot or quote that begins a line mean something to it. */
static void troff(FILE *out, const char *text)
{
	bool begins = true;
	for (; *text; text++) {
		if (begins && (*text == '.' || *text == '\'')) {
			fputs("\\&", out);
		}
		begins = *text == '\n';
		if (*text == '\\') {
			fputs("\\e", out);
		} else if (*text == '-') {
			fputs("\\-", out);
		} else if (*text == '\n' && text[1] == '\n') {
			fputs("\n.PP", out);
		} else {
			fputc(*text, out);
		}
	}
}

static void man_options(FILE *out, const struct command *c)
{
	for (const struct option_group *const *g = c->group; *g; g++) {
		fprintf(out, ".SS %s\n", (*g)->title);
		for (const struct option_row *row = (*g)->row; row->name; row++) {
			fputs(".TP\n.B ", out);
			if (row->letter) {
				fprintf(out, "\\-%c\\fR, \\fB", row->letter);
			}
			fputs("\\-\\-", out);
			troff(out, row->name);
			if (row->value) {
				fputs(row->type == OPTION_FLAG ? "\\fR[=\\fI" : " \\fI", out);
				troff(out, row->value);
				fputs(row->type == OPTION_FLAG ? "\\fR]" : "\\fR", out);
			}
			fputc('\n', out);
			troff(out, row->help);
			fputs(row->repeated ? "; may be repeated" : "", out);
			troff(out, facts(row));
			if (row->min && row->max) {
				fputs("; from ", out);
				troff(out, row->min);
				fputs(" to ", out);
				troff(out, row->max);
			}
			fputs(".\n", out);
		}
	}
}

static void man_examples(FILE *out, const struct command *c)
{
	fputs("\n.SH EXAMPLES\n", out);
	for (size_t i = 0; i < COUNT(c->example); i++) {
		fputs(".TP\n", out);
		troff(out, c->example[i].task);
		fputs("\n.nf\n.B ", out);
		troff(out, program()->typed);
		fputc(' ', out);
		troff(out, c->example[i].line);
		fputs("\n.fi\n", out);
	}
}

/* "UNSKEW\-SYNC" */
static void man_title(FILE *out, const struct command *command)
{
	char *name = command ? usk_format("%s-%s", program()->name, command->name)
			     : usk_strdup(program()->name);
	for (char *p = name; *p; p++) {
		*p = (char)toupper((unsigned char)*p);
	}
	troff(out, name);
	free(name);
}

static void man_command(FILE *out, const struct command *command)
{
	troff(out, "-");
	fprintf(out, "%s \\- ", command->name);
	troff(out, command->help);
	fputs("\n.SH SYNOPSIS\n.B ", out);
	troff(out, program()->typed);
	fprintf(out, " %s\n[\\fIoptions\\fR] ", command->name);
	troff(out, command->operands);
	man_examples(out, command);
	fputs(".SH DESCRIPTION\n", out);
	troff(out, manual(command));
	fputs("\n.SH OPTIONS\n", out);
	man_options(out, command);
}

static void man_program(FILE *out)
{
	fprintf(out, " \\- %s\n.SH SYNOPSIS\n.B ", program()->purpose);
	troff(out, program()->typed);
	fputs("\n\\fICOMMAND\\fR [\\fIoptions\\fR] ...\n.SH COMMANDS\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		fputs(".TP\n.BR ", out);
		troff(out, program()->name);
		fprintf(out, "\\-%s (1)\n", (*c)->name);
		troff(out, (*c)->help);
		fputs(".\n", out);
	}
}

void help_man(FILE *out, const struct command *command)
{
	/* No date, so that two builds give the same bytes. */
	fputs(".TH ", out);
	man_title(out, command);
	fprintf(out, " 1 \"\" \"unskew %s\" \"User Commands\"\n.SH NAME\n", usk_version());
	troff(out, program()->name);
	if (command) {
		man_command(out, command);
	} else {
		man_program(out);
	}
	fputs(".SH EXIT STATUS\n"
	      "0 done; 1 could not do it, one sentence says why; 2 wrong usage; 3 done, but some "
	      "clock has no bound on one side or both, or a file was skipped.\n"
	      ".SH DAMAGE\n"
	      "Blocks of a capture that are zeroed, overwritten, missing or doubled are skipped, "
	      "and a note says how many bytes. If three files or more are given, one that cannot "
	      "be read is reported and skipped, with status 3; apply fails instead.\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\n"
	      ".B NO_COLOR\n"
	      "turns colour off.\n"
	      ".TP\n"
	      ".B TMPDIR\n"
	      "is the folder for temporary copies of input that cannot be read twice.\n",
	      out);
}
