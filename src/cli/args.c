/* SPDX-License-Identifier: MIT */
/*
 * args.c - argv against the tables of options
 *
 * In    a command's groups of rows, and what the user wrote
 * Out   values that are of their type and within their limits, or one sentence and status 2
 * Not   what options mean together: that is the command's
 */
#include "units.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 96 };

struct value {
	const struct option_row *row;
	bool given;
	int64_t integer; /* INT, DURATION, TIME; PPM in parts per 10^12; CHOICE: its index */
	double number;
	int64_t *list; /* the integers of a list */
	size_t n_list, cap_list;
	const char **text; /* as given: one, or all of a repeated option's */
	size_t n_text, cap_text;
};

struct args {
	const struct command *command;
	struct value value[MAX_ROWS];
	size_t n_values;
	const char **operand;
	size_t n_operands, cap_operands;
	const char *const *typed;
	size_t n_typed;
};

static enum usk_status parse_number(const char *text, bool percent, double *out,
				    struct usk_err *err)
{
	char *end;
	errno = 0;
	*out = strtod(text, &end);
	if (end != text && percent && !strcmp(end, "%")) {
		*out /= 100;
		end++;
	}
	if (end == text || *end || errno || !isfinite(*out)) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%s\" is not a number", text);
	}
	return USK_OK;
}

/* Options of ppb have names that say so. */
static enum usk_status parse_ppm(const struct option_row *row, const char *text,
				 int64_t *millionths, struct usk_err *err)
{
	size_t n = strlen(text), length = strlen(row->name);
	const char *unit = length > 3 && !strcmp(row->name + length - 3, "ppb") ? "ppb" : "ppm";
	if (n > 3 && !strcmp(text + n - 3, unit)) {
		n -= 3;
	}
	bool exact;
	if (usk_parse_decimal(text, n, 6, millionths, &exact, err)) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%s\" is not a number of %s", text, unit);
	}
	if (!exact) {
		return usk_fail(err, USK_EUSAGE, 0, "%s %s is finer than 0.000001 %s", text, unit,
				unit);
	}
	return USK_OK;
}

size_t option_words(const struct option_row *row, const char *out[MAX_WORDS])
{
	size_t n = 0;
	char *rest = row->choice ? NULL : kept(usk_strdup(row->value));
	while (n < MAX_WORDS && (out[n] = row->choice ? row->choice(n) : strsep(&rest, "|"))) {
		n++;
	}
	return n;
}

static enum usk_status parse_choice(const struct option_row *row, const char *text, int64_t *out,
				    struct usk_err *err)
{
	/* A sentence has 512 bytes: what comes after is in the help. */
	char list[360] = "";
	const char *word[MAX_WORDS], *meant = row->spelt ? row->spelt(text) : NULL;
	size_t used = 0, n = option_words(row, word);
	bool all = true;
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(word[i], meant ? meant : text)) {
			*out = (int64_t)i;
			return USK_OK;
		}
		size_t more = strlen(word[i]) + (i ? 2 : 0);
		all = all && more < sizeof list - used;
		used += all ? (size_t)sprintf(list + used, "%s%s", i ? ", " : "", word[i]) : 0;
	}
	const char *near = nearest_name(text, word, n);
	if (near) {
		return usk_fail(err, USK_EUSAGE, 0, "\"%s\" is not known; did you mean %s?", text,
				near);
	}
	return usk_fail(err, USK_EUSAGE, 0, "\"%s\" is not known; choose from: %s%s", text, list,
			all ? "" : ", or what --help lists");
}

/* The value of one text; integer and number both, so that limits compare whichever counts. */
static enum usk_status parse_one(const struct option_row *row, const char *text, struct value *out,
				 struct usk_err *err)
{
	enum usk_status status = USK_OK;
	switch (row->type) {
	case OPTION_FLAG:
	case OPTION_STRING:
		return *text ? USK_OK : usk_fail(err, USK_EUSAGE, 0, "its value is empty");
	case OPTION_INT:
		status = usk_parse_int(text, strlen(text), &out->integer, err);
		break;
	case OPTION_DURATION:
		status = usk_parse_duration(text, strlen(text), &out->integer, err);
		break;
	case OPTION_TIME:
		status = usk_parse_time(text, strlen(text), &out->integer, err);
		break;
	case OPTION_PPM:
		status = parse_ppm(row, text, &out->integer, err);
		out->number = (double)out->integer / 1e6;
		return status;
	case OPTION_NUMBER:
	case OPTION_PROBABILITY:
		return parse_number(text, row->type == OPTION_PROBABILITY, &out->number, err);
	case OPTION_CHOICE:
		return parse_choice(row, text, &out->integer, err);
	}
	out->number = (double)out->integer;
	return status;
}

/* "one,two" of a list. */
static enum usk_status parse_value(const struct option_row *row, const char *text,
				   struct value *out, struct usk_err *err)
{
	out->n_list = row->repeated && out->given ? out->n_list : 0;
	for (const char *p = text; row->list; p++) {
		size_t n = strcspn(p, ",");
		const char *one = kept(usk_format("%.*s", (int)n, p));
		enum usk_status status = parse_one(row, one, out, err);
		*USK_ADD(out->list, out->n_list, out->cap_list) = out->integer;
		p += n;
		if (status || !*p) {
			return status;
		}
	}
	return parse_one(row, text, out, err);
}

static bool real(enum option_type type)
{
	return type == OPTION_NUMBER || type == OPTION_PROBABILITY;
}

static enum usk_status check_limit(const struct value *v, const char *limit, bool upper,
				   const char *text, struct usk_err *err)
{
	struct value l = { .row = v->row };
	if (v->row->type == OPTION_PROBABILITY && !limit) {
		limit = upper ? "1" : "0";
	}
	if (!limit || parse_value(v->row, limit, &l, NULL)) {
		return USK_OK;
	}
	bool more = real(v->row->type) ? v->number > l.number : v->integer > l.integer;
	bool less = real(v->row->type) ? v->number < l.number : v->integer < l.integer;
	return (upper ? more : less) ? usk_fail(err, USK_EUSAGE, 0, "%s is %s %s", text,
						upper ? "more than" : "less than", limit)
				     : USK_OK;
}

static void set_value(struct value *v, const char *text)
{
	struct usk_err err = { 0 };
	enum usk_status status = parse_value(v->row, text, v, &err);
	status = status ? status : check_limit(v, v->row->min, false, text, &err);
	status = status ? status : check_limit(v, v->row->max, true, text, &err);
	if (status) {
		say_usage("--%s: %s", v->row->name, err.msg);
	}
	if (!v->row->repeated) {
		v->n_text = 0;
	}
	*USK_ADD(v->text, v->n_text, v->cap_text) = text;
	v->given = true;
}

const struct option_row *command_row(const struct command *c, size_t i)
{
	for (const struct option_group *const *g = c->group; *g; g++) {
		for (const struct option_row *row = (*g)->row; row->name; row++) {
			if (!i--) {
				return row;
			}
		}
	}
	return NULL;
}

static void collect_rows(struct args *args)
{
	const struct option_row *row;
	for (size_t i = 0; (row = command_row(args->command, i)); i++) {
		assert(args->n_values < MAX_ROWS);
		struct value *v = &args->value[args->n_values++];
		v->row = row;
		if (row->initial) {
			struct usk_err err = { 0 };
			enum usk_status status = parse_value(row, row->initial, v, &err);
			assert(!status);
			(void)status;
		}
	}
}

/* By the n bytes of its name, or by its letter. */
static struct value *find(const struct args *args, const char *name, size_t n, char letter)
{
	for (size_t i = 0; i < args->n_values; i++) {
		const struct option_row *row = args->value[i].row;
		if (name ? strlen(row->name) == n && !memcmp(row->name, name, n)
			 : row->letter == letter) {
			return (struct value *)&args->value[i];
		}
	}
	return NULL;
}

static _Noreturn void unknown_option(const struct args *args, const char *shown, const char *name)
{
	const char *names[MAX_ROWS];
	for (size_t i = 0; i < args->n_values; i++) {
		names[i] = args->value[i].row->name;
	}
	const char *near = nearest_name(name, names, args->n_values);
	if (near) {
		say_usage("%s: no such option; did you mean --%s?", shown, near);
	}
	say_usage("%s: no such option; see `%s help %s`", shown, program()->name,
		  args->command->name);
}

/* "--help" behind "-o" is a value that was forgotten, no folder. */
static bool is_option(const struct args *args, const char *word)
{
	return word[0] == '-' && word[1] == '-' &&
	       find(args, word + 2, strcspn(word + 2, "="), 0) != NULL;
}

/* The value of the option that is at *i: in the same word, or the next one, which *i moves to. */
static void take_value(const struct args *args, struct value *v, const char *shown,
		       const char *text, int n, char *const *argv, int *i)
{
	if (!text && *i + 1 >= n) {
		say_usage("%s needs a value: %s %s", shown, shown, v->row->value);
	}
	if (!text && is_option(args, argv[*i + 1])) {
		say_usage("%s needs a value: %s %s; %s is an option; if it is the value, write "
			  "--%s=%s",
			  shown, shown, v->row->value, argv[*i + 1], v->row->name, argv[*i + 1]);
	}
	set_value(v, text ? text : argv[++*i]);
}

/* "--name", "--name=value", "--name value". */
static void parse_long(struct args *args, int n, char *const *argv, int *i)
{
	size_t len = strcspn(argv[*i], "=");
	const char *text = argv[*i][len] ? argv[*i] + len + 1 : NULL;
	const char *shown = kept(usk_format("%.*s", (int)len, argv[*i])), *name = shown + 2;
	struct value *v = find(args, name, len - 2, 0);
	if (!v) {
		unknown_option(args, shown, name);
	}
	if (v->row->type != OPTION_FLAG) {
		take_value(args, v, shown, text, n, argv, i);
	} else if (text && (!v->row->value || strcmp(text, v->row->value) != 0)) {
		say_usage("%s takes no value%s%s", shown, v->row->value ? " but " : "",
			  v->row->value ? v->row->value : "");
	} else {
		v->integer = text != NULL;
	}
	v->given = true;
}

/* "-q", "-qf", "-oFILE", "-o FILE". */
static void parse_short(struct args *args, int n, char *const *argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const char shown[3] = { '-', *p, 0 };
		struct value *v = find(args, NULL, 0, *p);
		if (!v) {
			/* A long option with one dash is the usual slip. */
			unknown_option(args, p == argv[*i] + 1 ? argv[*i] : shown, argv[*i] + 1);
		}
		if (v->row->type != OPTION_FLAG) {
			take_value(args, v, shown, p[1] ? p + 1 : NULL, n, argv, i);
			return;
		}
		v->given = true;
	}
}

static void add_operand(struct args *args, const char *text)
{
	*USK_ADD(args->operand, args->n_operands, args->cap_operands) = text;
}

struct args *args_parse(const struct command *command, int n, char *const *argv)
{
	struct args *args = kept(usk_alloc(1, sizeof *args));
	bool only_operands = false;
	args->command = command;
	args->typed = (const char *const *)argv;
	args->n_typed = (size_t)n;
	collect_rows(args);
	for (int i = 0; i < n; i++) {
		const char *a = argv[i];
		/* A number with a minus is an operand: stamps before 1970 are stamps. */
		bool number = a[0] == '-' && a[1] >= '0' && a[1] <= '9';
		if (only_operands || a[0] != '-' || !a[1] || number) {
			add_operand(args, a);
		} else if (!strcmp(a, "--")) {
			only_operands = true;
		} else {
			(a[1] == '-' ? parse_long : parse_short)(args, n, argv, &i);
		}
	}
	bool helped = args_flag(args, "help");
	if (!helped && args->n_operands < command->min_operands) {
		say_usage("%s needs %s; see `%s help %s`", command->name, command->operands,
			  program()->name, command->name);
	}
	if (!helped && args->n_operands > command->max_operands) {
		say_usage("%s: too many arguments; see `%s help %s`",
			  args->operand[command->max_operands], program()->name, command->name);
	}
	return args;
}

const struct command *args_command(const struct args *args)
{
	return args->command;
}

const char *const *args_typed(const struct args *args, size_t *n)
{
	*n = args->n_typed;
	return args->typed;
}

size_t args_operands(const struct args *args)
{
	return args->n_operands;
}

void args_replace_operands(struct args *args, size_t first, const char *const *text, size_t n)
{
	args->n_operands = first;
	for (size_t i = 0; i < n; i++) {
		add_operand(args, text[i]);
	}
}

const char *args_operand(const struct args *args, size_t i)
{
	assert(i < args->n_operands);
	return args->operand[i];
}

static const struct value *value_of(const struct args *args, const char *name)
{
	const struct value *v = find(args, name, strlen(name), 0);
	assert(v);
	return v;
}

bool args_help_all(const struct args *args)
{
	return value_of(args, "help")->integer != 0;
}

bool args_has(const struct args *args, const char *name)
{
	return find(args, name, strlen(name), 0) != NULL;
}

bool args_given(const struct args *args, const char *name)
{
	return value_of(args, name)->given;
}

bool args_flag(const struct args *args, const char *name)
{
	const struct value *v = value_of(args, name);
	assert(v->row->type == OPTION_FLAG);
	return v->given;
}

const char *args_string(const struct args *args, const char *name)
{
	const struct value *v = value_of(args, name);
	assert(!v->row->repeated && v->row->type != OPTION_FLAG);
	return v->n_text ? v->text[0] : v->row->initial;
}

int64_t args_int(const struct args *args, const char *name)
{
	const struct value *v = value_of(args, name);
	assert(v->row->type > OPTION_STRING && !real(v->row->type));
	return v->integer;
}

const int64_t *args_ints(const struct args *args, const char *name, size_t *n)
{
	const struct value *v = value_of(args, name);
	assert(v->row->list);
	*n = v->n_list;
	return v->list;
}

double args_number(const struct args *args, const char *name)
{
	const struct value *v = value_of(args, name);
	assert(real(v->row->type) || v->row->type == OPTION_PPM);
	return v->number;
}

const char *const *args_list(const struct args *args, const char *name, size_t *n)
{
	const struct value *v = value_of(args, name);
	assert(v->row->repeated);
	*n = v->n_text;
	return (const char *const *)v->text;
}

const char *args_split_name(const char *operand, const char **name)
{
	const char *eq = strchr(operand, '=');
	const char *slash = strchr(operand, '/');
	*name = NULL;
	/* "./a=b.pcap" and a file that is there under the whole name are paths. */
	if (!eq || eq == operand || (slash && slash < eq) ||
	    (access(operand, F_OK) == 0 && access(eq + 1, F_OK) != 0)) {
		return operand;
	}
	*name = kept(usk_format("%.*s", (int)(eq - operand), operand));
	return eq + 1;
}
