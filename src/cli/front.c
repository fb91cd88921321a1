/* SPDX-License-Identifier: MIT */
/*
 * front.c - what every program of ours begins and ends with
 *
 * In    argv, a table of commands
 * Out   the command's exit status; help, manual pages, completion from the table
 * Why   unskew and unskew-mpi are two tables behind one door
 * Not   how a failure ends a program: leave() is each program's own
 */
#include "units.h"
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
	size_t n = 0;
	while (commands[n]) {
		n++;
	}
	const char **names = kept(usk_alloc(n, sizeof *names));
	for (size_t i = 0; i < n; i++) {
		names[i] = commands[i]->name;
	}
	const char *near = nearest_name(name, names, n);
	if (near) {
		say_usage("%s: no such command; did you mean %s?", name, near);
	}
	say_usage("%s: no such command; see `%s help`", name, program()->name);
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

int front_run(int argc, char **argv)
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
		printf("%s %s\nbuilt with %s\n", program()->name, usk_version(), usk_features());
		return EXIT_DONE;
	}
	if (argc < 2) {
		help_command(stderr, NULL);
		return EXIT_USAGE;
	}
	if (verb[0] == '-') {
		say_usage("%s: a command comes first; see `%s help`", verb, program()->name);
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

void front_start(void)
{
	allow_many_files();
	usk_on_out_of_memory(out_of_memory);
	json_set_alloc_funcs(json_room, free);
	usk_give_back_arrays();
	catch_signals();
}

int front_end(int status)
{
	progress_end();
	usk_output_abandon_all();
	/* A full disk is a failed command; a reader that went away is nobody's business. */
	bool failed = ferror(stdout) != 0;
	if ((fclose(stdout) || failed) && errno != EPIPE) {
		fprintf(stderr, "%s: standard output: %s\n", program()->name,
			errno ? strerror(errno) : "not written");
		return status == EXIT_USAGE ? status : EXIT_FAILED;
	}
	return status;
}
