/* SPDX-License-Identifier: MIT */
/*
 * guard.c - a parent for each rank, who says how it died
 *
 * In    what the rank writes into memory that both share: its number, the trace it works on
 * Out   one sentence if the rank is killed or crashes, and status 1; else the rank's own status
 * Why   MPI tells others of a death by ending them, and knows of no traces; who died cannot say it
 * Not   failures that a rank survives (team.c)
 *
 * A rank that is told to end is ended by mpirun, as another one failed: of that nothing is said.
 * MPICH's kills this process and all of its group; the rank is of another group, and is told by
 * this death, so that it leaves nothing half-written.
 */
#include "mpi/guard.h"

#include "base/io.h"
#include "write/write.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	atomic_int rank; /* -1: not known yet */
	atomic_bool out_of_memory, done;
	char file[4096];
} alone = { .rank = -1 }, *shared = &alone;

static volatile sig_atomic_t worker;

static void pass_on(int number)
{
	kill((pid_t)worker, number);
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static bool was_told_to_end(int status)
{
	for (size_t i = 0; i < COUNT(ends); i++) {
		if (WIFSIGNALED(status) && WTERMSIG(status) == ends[i]) {
			return true;
		}
	}
	return false;
}

static void say_death(int status)
{
	char who[32] = "a rank", how[64] = "out of memory";
	shared->file[sizeof shared->file - 1] = 0;
	if (shared->rank >= 0) {
		snprintf(who, sizeof who, "rank %d", shared->rank);
	}
	if (!shared->out_of_memory && WIFSIGNALED(status)) {
		snprintf(how, sizeof how, "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	} else if (!shared->out_of_memory) {
		snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
	}
	char *file = usk_visible(shared->file, false);
	fprintf(stderr, "unskew-mpi: %s: %s%s%s\n", who, how, *file ? ", at work on " : "", file);
	free(file);
}

static _Noreturn void watch(void)
{
	int status = 0;
	while (waitpid((pid_t)worker, &status, 0) < 0) {
	}
	if (was_told_to_end(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	if (!shared->done) {
		say_death(status);
		_exit(1);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* mpirun ends this process, be it by a signal that cannot be caught: the rank goes with it. */
static void go_with_parent(pid_t parent)
{
	/* What a terminal stops it has to stop whole. */
	if (tcgetpgrp(STDIN_FILENO) != getpgrp()) {
		setpgid(0, 0);
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) {
		raise(SIGTERM);
	}
}

void guard_begin(void)
{
	sigset_t all, before;
	struct sigaction was[COUNT(ends)];
	void *room = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	if (room == MAP_FAILED) {
		return; /* unwatched, it works as well */
	}
	shared = room;
	shared->rank = -1;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid_t parent = getpid(), child = fork();
	worker = child;
	for (size_t i = 0; i < COUNT(ends) && child > 0; i++) {
		sigaction(ends[i], NULL, &was[i]);
		if (was[i].sa_handler != SIG_IGN) {
			signal(ends[i], pass_on);
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child > 0) {
		watch();
	} else if (child == 0) {
		go_with_parent(parent);
	}
}

void guard_rank(int rank)
{
	shared->rank = rank;
}

void guard_file(const char *path)
{
	shared->file[0] = 0;
	strncat(shared->file, path, sizeof shared->file - 1);
}

void guard_out_of_memory(void)
{
	usk_output_abandon_all();
	shared->out_of_memory = true;
	_exit(1);
}

void guard_done(void)
{
	shared->done = true;
}
