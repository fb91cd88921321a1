/* SPDX-License-Identifier: MIT */
/*
 * completion.c - completion for bash, zsh and fish
 *
 * In    the tables of commands and options
 * Out   a script for the shell: commands, options, and values that are of a few words, or files
 * Why   made from the rows that parse them, it cannot lag behind
 * Not   names of clocks, which are in files
 */
#include "units.h"

#include <string.h>

static void put_commands(FILE *out, const char *format)
{
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, format, (*c)->name);
	}
}

/* The words that a value is one of, with blanks between; NULL: it is none of a few. */
static const char *words_of(const struct option_row *row)
{
	const char *word[MAX_WORDS];
	size_t n = row->choice || row->type == OPTION_CHOICE ? option_words(row, word) : 0;
	struct usk_stream s;
	FILE *out = usk_stream_begin(&s);
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s%s", i ? " " : "", word[i]);
	}
	const char *words = kept(usk_stream_end(&s));
	return n ? words : NULL;
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_value(FILE *out, const struct command *c, const struct option_row *row)
{
	const char *words = words_of(row);
	fprintf(out, "\t\t\"%s --%s\"", c->name, row->name);
	if (row->letter) {
		fprintf(out, " | \"%s -%c\"", c->name, row->letter);
	}
	if (words) {
		fprintf(out, ") words=\"%s\" ;;\n", words);
	} else {
		fprintf(out, ") files=%d ;;\n", row->path);
	}
}

static void bash(FILE *out)
{
	const struct option_row *row;
	fputs("# bash completion for unskew, made from its tables of options\n"
	      "_unskew()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]}\n"
	      "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]} words= files=\n"
	      /* bash takes "=" for a word. */
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur=\n"
	      "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords=\"help examples --version",
	      out);
	put_commands(out, " %s");
	fputs("\"\n\telse\n\t\tcase \"$cmd $prev\" in\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		for (size_t i = 0; (row = command_row(*c, i)); i++) {
			if (row->type != OPTION_FLAG) {
				bash_value(out, *c, row);
			}
		}
	}
	fputs("\t\tesac\n\tfi\n\tif [ -z \"$words$files\" ] && [ \"$COMP_CWORD\" -gt 1 ]; then\n"
	      "\t\tcase $cmd in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "\t\t%s) words=\"", (*c)->name);
		for (size_t i = 0; (row = command_row(*c, i)); i++) {
			fprintf(out, "%s--%s", i ? " " : "", row->name);
		}
		fputs("\" ;;\n", out);
	}
	fputs("\t\thelp | examples) words=\"", out);
	put_commands(out, "%s ");
	fputs("\" ;;\n\t\tesac\n\t\t[ \"${cur#-}\" != \"$cur\" ] || [ \"$cmd\" = help ] || "
	      "[ \"$cmd\" = examples ] || { words=; files=1; }\n\tfi\n"
	      "\tCOMPREPLY=()\n"
	      "\t[ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t[ \"$files\" != 1 ] || { compopt -o filenames 2>/dev/null; "
	      "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); }\n}\n"
	      "complete -F _unskew unskew\n",
	      out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Inside '...' and [...]. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
		} else {
			fprintf(out, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
		}
	}
}

static void zsh_option(FILE *out, const struct option_row *row)
{
	const char *words = words_of(row), *many = row->repeated ? "*" : "";
	bool flag = row->type == OPTION_FLAG;
	for (int letter = 0; letter < (row->letter ? 2 : 1); letter++) {
		fprintf(out, " \\\n\t\t\t'%s", many);
		fprintf(out, letter ? "-%c" : "--", row->letter);
		fprintf(out, "%s%s[", letter ? "" : row->name, flag ? "" : letter ? "+" : "=");
		zsh_text(out, row->help);
		fputc(']', out);
		if (!flag) {
			fputc(':', out);
			zsh_text(out, row->value);
			fprintf(out, ":%s%s%s",
				words	    ? "("
				: row->path ? "_files"
					    : " ",
				words ? words : "", words ? ")" : "");
		}
		fputc('\'', out);
	}
}

static void zsh(FILE *out)
{
	const struct option_row *row;
	fputs("#compdef unskew\n# zsh completion for unskew, made from its tables of options\n\n"
	      "_unskew() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a all=(",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, " \\\n\t\t\t'%s:", (*c)->name);
		zsh_text(out, (*c)->help);
		fputc('\'', out);
	}
	fputs(" \\\n\t\t\t'help:a command and its options' 'examples:three tasks of each "
	      "command')\n"
	      "\t\t_describe command all\n\t\treturn\n\tfi\n"
	      "\tlocal cmd=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $cmd in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "\t%s)\n\t\t_arguments -s", (*c)->name);
		for (size_t i = 0; (row = command_row(*c, i)); i++) {
			zsh_option(out, row);
		}
		fputs(" \\\n\t\t\t'*:file:_files'\n\t\t;;\n", out);
	}
	fputs("\thelp | examples) _values command", out);
	put_commands(out, " %s");
	fputs(" ;;\n\tesac\n}\n\n_unskew \"$@\"\n", out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_text(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		fprintf(out, "%s%c", strchr("'\\", *text) ? "\\" : "", *text);
	}
	fputc('\'', out);
}

static void fish_option(FILE *out, const char *command, const struct option_row *row)
{
	const char *words = words_of(row);
	fprintf(out, "complete -c unskew -n '__fish_seen_subcommand_from %s' -l %s", command,
		row->name);
	if (row->letter) {
		fprintf(out, " -s %c", row->letter);
	}
	if (row->type != OPTION_FLAG) {
		fputs(row->path ? " -rF" : " -x", out);
	}
	if (words) {
		fprintf(out, " -a '%s'", words);
	}
	fputs(" -d ", out);
	fish_text(out, row->help);
	fputc('\n', out);
}

static void fish(FILE *out)
{
	const struct option_row *row;
	fputs("# fish completion for unskew, made from its tables of options\n"
	      "complete -c unskew -n __fish_use_subcommand -f\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "complete -c unskew -n __fish_use_subcommand -a %s -d ", (*c)->name);
		fish_text(out, (*c)->help);
		fputc('\n', out);
	}
	fputs("complete -c unskew -n '__fish_seen_subcommand_from help examples' -f -a '", out);
	put_commands(out, "%s ");
	fputs("'\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		for (size_t i = 0; (row = command_row(*c, i)); i++) {
			fish_option(out, (*c)->name, row);
		}
	}
}

bool completion(FILE *out, const char *shell)
{
	static const struct {
		const char *name;
		void (*write)(FILE *out);
	} known[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
	for (size_t i = 0; i < COUNT(known); i++) {
		if (!strcmp(known[i].name, shell)) {
			known[i].write(out);
			return true;
		}
	}
	return false;
}
