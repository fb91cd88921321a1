/* SPDX-License-Identifier: MIT */
/*
 * cmd.h - commands and options as tables; what a command needs to talk to people
 *
 * Parsing, range checks, help, man pages and completion are all made from the tables.
 * To add a command: write cmd_foo.c with its rows of options and a `const struct command
 * cmd_foo`, and add its name to src/cli/meson.build, which makes commands.h.
 */
#ifndef CMD_H
#define CMD_H

#include "base/base.h"
#include "cli/commands.h" /* COMMANDS: COMMAND(sync) COMMAND(compare) ... */

#include <stdio.h>

/* Exit status, as users and scripts rely on it. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,  /* could not do it; one sentence said why */
	EXIT_USAGE = 2,	  /* wrong usage */
	EXIT_PARTIAL = 3, /* done, but some clock is not bounded, or a file left out */
};

enum option_type {
	OPTION_FLAG,
	OPTION_STRING,
	OPTION_INT,	    /* args_int() */
	OPTION_DURATION,    /* "30min": args_int(), in ns, as times */
	OPTION_TIME,	    /* ns, "1700000000.5s", RFC 3339 */
	OPTION_PPM,	    /* decimal; args_int() is in parts per 10^12: args_number() too */
	OPTION_NUMBER,	    /* args_number() */
	OPTION_PROBABILITY, /* 0 to 1, or "5%": args_number() */
	OPTION_CHOICE,	    /* one of value's words "a|b|c", or of choice() */
};

/* One row: everything there is to know about an option. */
struct option_row {
	const char *name;		 /* without its dashes */
	const char *help;		 /* lower case, no full stop */
	enum option_type type;		 /* it and all below: by the words that follow */
	const char *value;		 /* what help calls the value, "FILE"; choices "a|b" */
	const char *initial;		 /* the default as a user would write it; NULL: none */
	const char *min, *max;		 /* as a user would write them; NULL: no limit */
	char letter;			 /* 0: no short form */
	bool repeated;			 /* may be given several times: args_list() */
	bool list;			 /* "a,b": args_ints() */
	bool path;			 /* a file or a folder, which completion offers */
	const char *(*choice)(size_t i); /* choices that live in a table; NULL at its end */
	/* The choice that is meant by another spelling of it, NULL if none; may be NULL. */
	const char *(*spelt)(const char *text);
};

/*
 * A row is { "name", "help", what it takes }: one of these, and any further field by name,
 * as in { "output", "where to write", PATH("FILE"), .letter = 'o' }. A default or a limit that
 * there is not is NULL.
 */
#define FLAG			     .type = OPTION_FLAG /* with .value: --name=VALUE, too */
#define TIME			     .type = OPTION_TIME, .value = "TIME"
#define TEXT(shown)		     .type = OPTION_STRING, .value = shown
#define TEXTS(shown)		     TEXT(shown), .repeated = true
#define PATH(shown)		     TEXT(shown), .path = true
#define CHOICE(shown)		     .type = OPTION_CHOICE, .value = shown
#define PROBABILITY(shown, standard) .type = OPTION_PROBABILITY, .value = shown, .initial = standard
#define RANGE(standard, least, most) .initial = standard, .min = least, .max = most
#define INTEGER(shown, standard, least, most)                                                      \
	.type = OPTION_INT, .value = shown, RANGE(standard, least, most)
#define NUMBER(shown, standard, least, most)                                                       \
	.type = OPTION_NUMBER, .value = shown, RANGE(standard, least, most)
#define DURATION(standard, least, most)                                                            \
	.type = OPTION_DURATION, .value = "DURATION", RANGE(standard, least, most)
#define LIST(of, standard)	   .type = OPTION_##of, .value = "LIST", .initial = standard, .list = true
#define PPM(standard, least, most) .type = OPTION_PPM, .value = "PPM", RANGE(standard, least, most)

/* Rows that belong together under one heading; behind the last one is one without a name. */
struct option_group {
	const char *title;
	struct option_row row[24];
};

struct args;

struct command {
	const char *name;
	int (*run)(const struct args *args); /* returns the exit status */
	const char *operands;		     /* "TRACE..." */
	size_t min_operands, max_operands;   /* SIZE_MAX: any number */
	size_t traces; /* from this one on, counted from 1, they are traces: folders and patterns of
			  files too; 0: none are */
	const char *sets; /* the flag with which folders stay what they are; NULL: there is none */
	const char *help; /* one line, lower case, no full stop */
	struct {
		const char *task, *line; /* a task of a user's, and what is typed behind "unskew" */
	} example[3];
	const char *brief[12]; /* options that short help has, to NULL; none: it has all of help */
	const char *(*formats)(void);	      /* the manual begins with these traces; may be NULL */
	const char *more;		      /* paragraphs for the manual; may be NULL */
	const struct option_group *group[16]; /* ends with NULL */
};

/* What a command takes: how many at least, and at most; any number, which from one on are traces. */
#define OPERANDS(shown, least, most) .operands = shown, .min_operands = least, .max_operands = most
#define TRACES(shown, least, first)  OPERANDS(shown, least, SIZE_MAX), .traces = first

/** The i-th row of all its groups; NULL: there is none. */
const struct option_row *command_row(const struct command *c, size_t i);

/* What an option may be, if it is one of a few words; returns how many. */
enum { MAX_WORDS = 64 };
size_t option_words(const struct option_row *row, const char *out[MAX_WORDS]);

/* Groups that several commands share. */
extern const struct option_group options_common;  /* --quiet --help: every command has it */
extern const struct option_group options_force;	  /* --force */
extern const struct option_group options_read;	  /* --tick-rate --send --recv --know */
extern const struct option_group options_match;	  /* --reference --resolution --local --from --to */
extern const struct option_group options_model;	  /* --model --max-skew-ppm --max-outliers */
extern const struct option_group options_solve;	  /* --solve */
extern const struct option_group options_method;  /* --method, one */
extern const struct option_group options_delay;	  /* --min-delay */
extern const struct option_group options_anchor;  /* --anchor */
extern const struct option_group options_log;	  /* --clock-log */
extern const struct option_group options_answer;  /* -o --json --rows --plot --messages */
extern const struct option_group options_score;	  /* --json */
extern const struct option_group options_retimed; /* -o --residual --allow-unbounded */

/* A row of the groups that choose estimators. */
#define WINDOW_ROW                                                                                 \
	{                                                                                          \
		"window", "length of a window, for methods that take the best exchange of each",   \
			DURATION("3min", "1us", NULL)                                              \
	}

/* A row of commands that take stamps. */
#define EPOCH_ROW                                                                                  \
	{                                                                                          \
		"epoch",                                                                           \
			"for a clock that was stepped backward while it recorded: take stamps as " \
			"of its epoch N, which the N-th such step began; otherwise a stamp that "  \
			"may be of two epochs has no answer",                                      \
			INTEGER("N", NULL, "0", NULL)                                              \
	}

/** The names of the table of estimators, NULL at its end: choices of --method. */
const char *method_name(size_t i);
/** The name that is meant by it or another spelling of it, or NULL. */
const char *method_spelt(const char *text);

#define TICK_ROW                                                                                   \
	{                                                                                          \
		"tick-rate", "integer stamps of clock NAME are ticks of a counter, HZ a second",   \
			TEXTS("NAME=HZ")                                                           \
	}

/* ---- parsed arguments ------------------------------------------------------- */

/** argv[n] are those after the command. What is wrong with them is said, and the command ends. */
struct args *args_parse(const struct command *command, int n, char *const *argv);

const struct command *args_command(const struct args *args);
/** As they were typed behind the command; borrowed. */
const char *const *args_typed(const struct args *args, size_t *n);
size_t args_operands(const struct args *args);
const char *args_operand(const struct args *args, size_t i);
/** These in place of all operands from the first-th on; texts are borrowed. */
void args_replace_operands(struct args *args, size_t first, const char *const *text, size_t n);

/*
 * Values by option name, its dashes left out. Asking for an option that the command does not
 * have, or by the wrong type, is a bug and asserts. Without a value and a default: NULL, 0.
 */
bool args_has(const struct args *args, const char *name);   /* does the command have it? */
bool args_given(const struct args *args, const char *name); /* by the user */
bool args_flag(const struct args *args, const char *name);
bool args_help_all(const struct args *args); /* --help=all */
const char *args_string(const struct args *args, const char *name);
int64_t args_int(const struct args *args, const char *name);
const int64_t *args_ints(const struct args *args, const char *name, size_t *n);
double args_number(const struct args *args, const char *name);
const char *const *args_list(const struct args *args, const char *name, size_t *n);

/** "NAME=PATH" or "PATH": *name is kept, or NULL; returns the path inside operand. */
const char *args_split_name(const char *operand, const char **name);

/* ---- talking to people: data on stdout, everything else on stderr ------------ */

/**
 * The end of the command. Memory and files go with the process, so nobody gives back what a command
 * holds: it is static, kept(), or within reach of these. Files that are not whole are removed.
 */
_Noreturn void leave(int status);

/* ---- front.c: the door of each program, which has leave() and its table of commands itself ---- */

/* What sentences and help say of the program that runs. */
struct program {
	const char *name, *typed; /* "unskew"; what stands before a command on the line */
	const char *purpose;
	bool mpirun; /* stands between us and any terminal: progress is a line now and then */
	FILE *lines; /* where lines go that are no failure; NULL: stderr */
	void (*failed)(const char *sentence); /* takes a failure's sentence; NULL: it is printed */
};
const struct program *program(void);
/** Another one than unskew: borrowed to the end. */
void program_is(const struct program *p);
/** Does somebody look at what is written there? */
bool is_terminal(int fd);

/** Memory, signals, files: before anything else. */
void front_start(void);
/** Look up argv[1] and run it; the exit status. */
int front_run(int argc, char **argv);
/** Remove what is not whole, close stdout; the exit status, now that it is known what was printed. */
int front_end(int status);

/** Print "unskew: sentence". */
void say_sentence(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** The same of a failure; returns EXIT_FAILED, or EXIT_USAGE for USK_EUSAGE. */
int say_error(const struct usk_err *err);
/** The same of one of the command's own, which ends it. */
#define say_failed(...) (say_sentence(__VA_ARGS__), leave(EXIT_FAILED))
#define say_usage(...)	(say_sentence(__VA_ARGS__), leave(EXIT_USAGE))

/* Of the library's last failure. */
extern struct usk_err why;
/** It was done; or why is said, and the command ends. */
void must(enum usk_status status);
/** With "context: " before the sentence, unless it is NULL. */
void must_in(enum usk_status status, const char *context);

/**
 * Signals that end a program, but for those that our parent has us ignore, wait from now on to be
 * read from what comes back: what is being written is finished first. close() it.
 */
int end_signals(void);
/** A line on stderr, unless --quiet. */
void say(const struct args *args, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** "unskew: note: " and the note, each. */
void say_notes(const struct args *args, char *const *note, size_t n);

/** Escape sequence on a terminal that takes colour, else "". what: "bold", "red", "dim", "off". */
const char *colour(FILE *to, const char *what);

/*
 * Progress bar on stderr, when that is a terminal and the work lasts over half a second.
 * progress_show fits usk_sync_options.progress; its context does not matter.
 */
void progress_start(const struct args *args);
void progress_show(void *ctx, double done, const char *what);
void progress_end(void);

/** The values of options_read; the rows stay args' own. */
struct usk_read_options read_options(const struct args *args);
/** Of --comments, a choice of "all|changed|needed|none"; not given, what is usual for the output. */
enum usk_comments comments_option(const struct args *args);

/* Where files are not as they should be, these say so and leave(). */

/** All captures in a folder, or, if it has none, all tables, by name. */
const char **traces_in(const char *folder, size_t *n);
/**
 * Folders of captures and patterns that no shell expanded, among the operands from the first-th on,
 * become their files.
 */
void operands_expand(struct args *args, size_t first);
/** The files of one operand alone, each as an operand; kept. */
enum usk_status operand_files(const char *operand, const char ***out, size_t *n,
			      struct usk_err *err);
/** No file may be among the operands from the first-th on under two names. */
void operands_differ(const struct args *args, size_t first);
/**
 * Open [NAME=]PATH operands from the first-th on. Clocks without NAME= that would share a name
 * take their parent folders' names. Of three or more, those that are there and cannot be read are
 * told and counted; skipped NULL: they are a failure.
 */
struct usk_trace **traces_open(const struct args *args, size_t first, size_t *n, size_t *skipped);
/**
 * The traces of a set: all captures in a folder, or, if it has none, all tables; a file alone is
 * one. Their names are their own, so that they are the same in the next set.
 */
struct usk_trace **traces_open_set(const struct args *args, const char *path, size_t *n);

/**
 * No output may be the same file (device and inode) as an input or another output: --force is for
 * files that nobody reads just now. NULL is no file.
 */
void files_apart(const char *const *in, size_t n_in, const char *const *out, size_t n_out);
/** The same of all operands, [NAME=]PATH, --truth, and what is to be written. */
void operands_apart(const struct args *args);

bool is_regular(const char *path); /* a file that is there and lasts */
/** The last n parts of a path. */
const char *path_tail(const char *path, size_t n);

/** The traces of all operands, parts and folders of them, in the order of the traces' paths. */
struct usk_trace **parts_open(const struct args *args, size_t *n);
/**
 * Clocks of n parts without a name of their own that would share one take their parent folders'
 * names. open() is asked once more for a part that is to have another name.
 */
void parts_tell_apart(struct usk_trace **trace, size_t n,
		      struct usk_trace *(*open)(void *ctx, size_t i, const char *name), void *ctx);

/** There may be no two copies of one trace. */
void traces_tell(struct usk_trace *const *trace, size_t n);

/* ---- an answer against the truth that a simulation wrote beside its traces -------- */

struct truth;

/** Read truth.json: moments, and what every clock showed at them; straight lines between. */
enum usk_status truth_open(const char *path, struct truth **out, struct usk_err *err);
void truth_free(struct truth *t);

struct truth_score {
	int64_t worst_ns;    /* largest |estimate - truth| between the outer knots; USK_NONE */
	int64_t worst_at_ns; /* where, on the clock itself */
	int64_t outside_ns;  /* by how much the band missed the truth at most, beyond 1 ns; 0: never
			      */
	bool known;	     /* the truth has this clock and its reference */
};

/**
 * Compare one clock at all corners of both lines: between corners both are straight, so that
 * nothing larger lies there but the stamps' own rounding of 1 ns.
 */
enum usk_status truth_compare(const struct truth *t, const struct usk_clocks *c, size_t clock,
			      struct truth_score *out, struct usk_err *err);

/* Estimate - truth at the truth's first, middle and last moment, and over all of them. */
enum { AT_START, AT_MIDDLE, AT_END, RMS, ERRORS };
struct truth_errors {
	int64_t ns[ERRORS]; /* USK_NONE where it is not known */
	/* The truth has both clocks, neither was set back, and the line has a time at every moment.
	 */
	bool known;
};
#define TRUTH_UNKNOWN                                                                              \
	(struct truth_errors)                                                                      \
	{                                                                                          \
		{ USK_NONE, USK_NONE, USK_NONE, USK_NONE }, false                                  \
	}

enum usk_status truth_errors(const struct truth *t, const char *reference, const char *clock,
			     const struct usk_map *map, struct truth_errors *out,
			     struct usk_err *err);

/* What a command on traces works with; opened and closed for each set. */
struct task {
	const struct args *args;
	struct usk_sync_options options; /* those that the command has */
	struct usk_trace **trace;
	size_t n;
	size_t skipped; /* files that could not be read */
	const struct usk_share
		*share;	     /* many ranks work on them (flow/share.h); NULL: this program alone */
	struct truth *truth; /* --truth, or NULL */
};

/** Take the options. */
void task_begin(struct task *t, const struct args *args);
/** Open all operands, or, where set is not NULL, the traces and the truth in it. */
void task_open(struct task *t, const char *set);
/** Those of all operands. */
void task_open_operands(struct task *t);
void task_truth(struct task *t, const char *set);
void task_close(struct task *t);
/** Where there is a truth, how far each clock is from it, not known for references; otherwise *out is
 * NULL. kept(). */
enum usk_status task_scores(const struct task *t, const struct usk_clocks *c,
			    struct truth_score **out);
/** A line for each clock: how far the estimate was from the truth, and whether the band held it. */
void task_print_scores(FILE *out, const struct usk_clocks *c, const struct truth_score *score);
/** Of that status; EXIT_PARTIAL instead of EXIT_DONE if a file was left out. */
int task_end(const struct task *t, int status);

/** EXIT_PARTIAL if some clock, or an epoch of one, is neither the reference nor bounded. */
int clocks_status(const struct usk_clocks *c);

/** Is it a file that looks like a clocks.json? */
bool clocks_file(const char *path);
/** Read a whole clocks.json. */
struct usk_clocks *clocks_read(const char *path);

/* ---- help, made from the tables ---------------------------------------------- */

extern const struct command *const commands[]; /* ends with NULL */
const struct command *command_find(const char *name);
/** The nearest of the names, or NULL if none is near. */
const char *nearest_name(const char *wrong, const char *const *name, size_t n);

/* command NULL: of the program. */
void help_command(FILE *out, const struct command *command);
void help_man(FILE *out, const struct command *command);
/* The examples of all commands, or of one. */
void help_examples(FILE *out, const struct command *command);
/* On one screen: what is used most. */
void help_short(FILE *out, const struct command *command);
/* Completion for bash, zsh or fish; false: for none of them. */
bool completion(FILE *out, const char *shell);

/* schema.c: what clocks.json holds, as `json`, a JSON Schema, or as a `page`; false: neither. */
bool schema(FILE *out, const char *form);

/*
 * What sync, check and apply do, for whoever opens traces in another way: join, and unskew-mpi.
 * open() fills in trace and n.
 */
int sync_of(const struct args *args, void (*open)(struct task *t));
int check_of(const struct args *args, void (*open)(struct task *t));
/** May the outputs of sync be written? Otherwise it is said, and the command ends. */
void sync_outputs_try(const struct args *args);
/** Of parts there are no --readings. */
void refuse_readings(const struct args *args);

struct share {
	const char *clocks; /* the file that CLOCKS is read from */
	const bool
		*mine; /* of the traces in their order, which are to be re-timed here; NULL: all */
	void (*progress)(void *ctx, double done, const char *what);
	void (*begins)(const char *path); /* with a trace; may be NULL */
};
int apply_of(const struct args *args, const struct share *share);

/* ---- the commands -------------------------------------------------------------- */

#define COMMAND(name) extern const struct command cmd_##name;
COMMANDS
#undef COMMAND

#endif
