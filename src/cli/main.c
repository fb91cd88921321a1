/* SPDX-License-Identifier: MIT */
/*
 * main.c - the front door: a command is looked up in a table and run
 *
 * To add a command see cmd.h.
 */
#include "cmd.h"
#include "base/io.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

const struct command *const commands[] = {
	&cmd_sync,  &cmd_compare, &cmd_apply,	  &cmd_convert,	 &cmd_before,
	&cmd_audit, &cmd_check,	  &cmd_calibrate, &cmd_report,	 &cmd_clock,
	&cmd_late,  &cmd_history, &cmd_plan,	  &cmd_part,	 &cmd_join,
	&cmd_line,  &cmd_probe,	  &cmd_record,	  &cmd_simulate, NULL,
};

static void out_of_memory(size_t bytes)
{
	/* No allocation here, and no stdio buffers that might want one. */
	static const char sentence[] = "unskew: out of memory; close other programs, or divide the "
				       "trace with --from and --to\n";
	(void)bytes;
	usk_output_abandon_all();
	ssize_t ignored = write(STDERR_FILENO, sentence, sizeof sentence - 1);
	(void)ignored;
	_exit(EXIT_FAILED);
}

/* What jansson cannot allocate it leaves out, or calls bad JSON. */
static void *json_room(size_t bytes)
{
	return usk_grow(NULL, bytes, 1);
}

/* Leave nothing half-written behind, then die of the signal as anybody would. Whoever sends it to a
 * process and its group sends it twice, and another thread may get the second one. */
static void on_signal(int number)
{
	static atomic_flag dying = ATOMIC_FLAG_INIT;
	while (atomic_flag_test_and_set(&dying)) {
		pause();
	}
	usk_output_abandon_all();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct sigaction action = { .sa_handler = on_signal }, was;
		sigfillset(&action.sa_mask);
		/* What our parent has us ignore (nohup, a job in the background) stays ignored. */
		if (!sigaction(numbers[i], NULL, &was) && was.sa_handler != SIG_IGN) {
			sigaction(numbers[i], &action, NULL);
		}
	}
	/* A file that grows past its limit is a failed write with a sentence, not a death. */
	signal(SIGXFSZ, SIG_IGN);
}

int end_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct sigaction was;
		if (!sigaction(numbers[i], NULL, &was) && was.sa_handler != SIG_IGN) {
			sigaddset(&set, numbers[i]);
		}
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static _Noreturn void unknown_command(const char *name)
{
	const char *names[COUNT(commands)];
	size_t n = 0;
	for (; commands[n]; n++) {
		names[n] = commands[n]->name;
	}
	const char *near = nearest_name(name, names, n);
	if (near) {
		say_usage("%s: no such command; did you mean %s?", name, near);
	}
	say_usage("%s: no such command; see `unskew help`", name);
}

static int run_command(const struct command *command, int n, char **argv)
{
	struct args *args = args_parse(command, n, argv);
	if (args_flag(args, "help")) {
		(args_help_all(args) ? help_command : help_short)(stdout, command);
		return EXIT_DONE;
	}
	if (command->traces && !(command->sets && args_flag(args, command->sets))) {
		operands_expand(args, command->traces - 1);
	}
	return command->run(args);
}

/* `unskew help [COMMAND]`, and `unskew --man [COMMAND]` for the build. */
static int run_help(int n, char **argv, void (*page)(FILE *, const struct command *))
{
	const struct command *command = n ? command_find(argv[0]) : NULL;
	if (n && !command) {
		unknown_command(argv[0]);
	}
	page(stdout, command);
	return EXIT_DONE;
}

/* `unskew --completion [SHELL]`, for the build. */
static int run_completion(int n, char **argv)
{
	if (!completion(stdout, n ? argv[0] : "bash")) {
		say_usage("\"%s\" is none of bash, zsh, fish", argv[0]);
	}
	return EXIT_DONE;
}

/* `unskew --schema [page]`. */
static int run_schema(int n, char **argv)
{
	if (!schema(stdout, n ? argv[0] : "json")) {
		say_usage("\"%s\" is none of json, page", argv[0]);
	}
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";
	const struct command *command = command_find(verb);
	if (command) {
		return run_command(command, argc - 2, argv + 2);
	}
	if (!strcmp(verb, "help") || !strcmp(verb, "--help") || !strcmp(verb, "-h")) {
		return run_help(argc - 2, argv + 2, help_command);
	}
	if (!strcmp(verb, "examples")) {
		return run_help(argc - 2, argv + 2, help_examples);
	}
	if (!strcmp(verb, "--man")) {
		return run_help(argc - 2, argv + 2, help_man);
	}
	if (!strcmp(verb, "--completion")) {
		return run_completion(argc - 2, argv + 2);
	}
	if (!strcmp(verb, "--schema")) {
		return run_schema(argc - 2, argv + 2);
	}
	if (!strcmp(verb, "--version") || !strcmp(verb, "-V")) {
		printf("unskew %s\nbuilt with %s\n", usk_version(), usk_features());
		return EXIT_DONE;
	}
	if (argc < 2) {
		help_command(stderr, NULL);
		return EXIT_USAGE;
	}
	if (verb[0] == '-') {
		say_usage("%s: a command comes first; see `unskew help`", verb);
	}
	unknown_command(verb);
}

/* A trace is an open file: as many as the system lets this process have. */
static void allow_many_files(void)
{
	struct rlimit files;
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

int main(int argc, char **argv)
{
	allow_many_files();
	usk_on_out_of_memory(out_of_memory);
	json_set_alloc_funcs(json_room, free);
	usk_give_back_arrays();
	catch_signals();
	leave(run(argc, argv));
}

void leave(int status)
{
	progress_end();
	usk_output_abandon_all();
	/* A full disk is a failed command; a reader that went away is nobody's business. */
	bool failed = ferror(stdout) != 0;
	if ((fclose(stdout) || failed) && errno != EPIPE) {
		fprintf(stderr, "unskew: standard output: %s\n",
			errno ? strerror(errno) : "not written");
		status = status == EXIT_USAGE ? status : EXIT_FAILED;
	}
	exit(status);
}
