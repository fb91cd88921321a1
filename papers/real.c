/* SPDX-License-Identifier: MIT */
/*
 * real.c - Kong's experiments of sections 4.3, 4.5 and 5 with real processes, as CSV for kong.py
 *
 * In    which, and its numbers; this machine
 * Out   rows, which differ from run to run
 * Not   zero elapsed time, which `unskew clock --json` has; the simulated bus (clocks.c)
 */
#include "clock/clock.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the same work on every core (figure 11) --------------------------------------------- */

static int cores(char *const *arg)
{
	static struct core core[CPUS_MAX];
	puts("cpu,work_ns");
	for (int i = 0; i < atoi(arg[0]); i++) {
		size_t n = cores_measure(core);
		for (size_t k = 0; k < n; k++) {
			printf("%d,%.0f\n", core[k].cpu, core[k].work_ns);
		}
	}
	return 0;
}

/* ---- client and server (section 5) --------------------------------------------------------- */

enum { WORDS_MAX = 1 << 16 };

/* What both processes of a pair see. */
struct shared {
	volatile uint64_t request[WORDS_MAX], result[WORDS_MAX];
	int64_t there[2]; /* by the server: two reads when the request was there */
};

struct pair {
	struct shared *shared;
	int ask[2], answer[2]; /* pipes */
	size_t words;	       /* that each of the two accesses */
	pid_t server;
	const struct source *source;
};

/* His loop: temp = .ResultPage[.k], one access to shared memory in each round. */
static uint64_t access_words(const volatile uint64_t *word, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += word[i];
	}
	return sum;
}

static _Noreturn void serve(const struct pair *p)
{
	char byte;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(p->ask[0], &byte, 1) == 1) {
		two_reads(p->source, p->shared->there);
		p->shared->result[0] = access_words(p->shared->request, p->words);
		if (write(p->answer[1], &byte, 1) != 1) {
			break;
		}
	}
	_exit(0);
}

static bool open_pair(struct pair *p)
{
	p->shared = mmap(NULL, sizeof *p->shared, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED || pipe(p->ask) || pipe(p->answer)) {
		return false;
	}
	memset(p->shared, 1, sizeof *p->shared);
	p->server = fork();
	if (!p->server) {
		close(p->ask[1]);
		serve(p);
	}
	return p->server > 0;
}

static bool call(const struct pair *p)
{
	char byte = 0;
	bool good = write(p->ask[1], &byte, 1) == 1 && read(p->answer[0], &byte, 1) == 1;
	access_words(p->shared->result, p->words);
	return good;
}

/* A pair more, which does the same for ever (section 4.1). */
static pid_t start_other(const struct pair *like)
{
	pid_t other = fork();
	if (!other) {
		struct pair p = { .words = like->words, .source = like->source };
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (open_pair(&p)) {
			while (call(&p)) {
				continue;
			}
		}
		_exit(1);
	}
	return other;
}

static void print_net(const struct runs *r, const struct runs *ways)
{
	for (int k = 0; k < 2; k++) {
		for (int how = METHOD_1; how <= METHOD_2; how++) {
			struct samples net = { .n = 0 };
			runs_net(k ? ways : r, (enum compensation)how, &net);
			for (size_t i = 0; i < net.n; i++) {
				printf("%s,%s,%.1f\n", k ? "latency" : "rpc",
				       compensation_name((enum compensation)how), net.v[i]);
			}
			samples_free(&net);
		}
	}
}

/* WORDS PAIRS REPETITIONS: of the pairs one is measured. */
static int rpc(char *const *arg)
{
	static struct source source[SOURCES_MAX];
	sources_open(source);
	struct pair p = { .words = (size_t)atol(arg[0]) / 2, .source = source };
	int others = atoi(arg[1]) - 1, repetitions = atoi(arg[2]);
	pid_t other[16];
	if (p.words > WORDS_MAX || others < 0 || others > 16 || !open_pair(&p)) {
		return 1;
	}
	for (int i = 0; i < others; i++) {
		other[i] = start_other(&p);
	}
	struct sampler *sampler = sampler_start(source);
	struct runs trips, ways;
	runs_begin(&trips, source, sampler);
	runs_begin(&ways, source, sampler);
	usk_sleep_ns(50000000);
	for (int i = 0; i < repetitions; i++) {
		int64_t *t = runs_before(&trips);
		two_reads(source, t);
		if (!call(&p)) {
			return 1;
		}
		two_reads(source, t + 2);
		runs_after(&trips);
		runs_add(&ways, &(struct usk_four_stamps){
					{ t[0], t[1], p.shared->there[0], p.shared->there[1] } });
		usk_sleep_ns(
			1000000); /* injected at intervals; and the server is blocked by then */
	}
	sampler_stop(sampler);
	for (int i = 0; i < others; i++) {
		kill(other[i], SIGKILL);
		waitpid(other[i], NULL, 0);
	}
	kill(p.server, SIGKILL);
	waitpid(p.server, NULL, 0);
	puts("what,method,ns");
	print_net(&trips, &ways);
	return 0;
}

/* ---- method II, one run (figure 10) ---------------------------------------------------------- */

static int beside(char *const *arg)
{
	static struct source source[SOURCES_MAX];
	(void)arg;
	sources_open(source);
	struct sampler *sampler = sampler_start(source);
	struct runs r;
	runs_begin(&r, source, sampler);
	for (int i = 0; i < 100; i++) {
		int64_t *t = runs_before(&r);
		two_reads(source, t);
		for (volatile int k = 0; k < 300; k++) {
			continue; /* what is measured: about a us */
		}
		two_reads(source, t + 2);
		runs_after(&r);
	}
	sampler_stop(sampler);
	puts("t0,t1,t2,t3,a_at,a_took,b_at,b_took");
	for (size_t i = 0; i < r.n; i++) {
		const struct run *run = &r.run[i];
		const int64_t *t = run->s.t_ns;
		const struct beside *b = run->beside;
		printf("0,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
		       ",%" PRId64 "\n",
		       t[1] - t[0], t[2] - t[0], t[3] - t[0], b[0].at - t[0], b[0].took,
		       b[1].at - t[0], b[1].took);
	}
	runs_free(&r);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char *const *arg);
		const char *usage;
	} rows[] = {
		{ "cores", 1, cores, "TIMES" },
		{ "rpc", 3, rpc, "WORDS PAIRS REPETITIONS" },
		{ "beside", 0, beside, "" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (argc > 1 && !strcmp(argv[1], rows[i].name) && argc - 2 == rows[i].args) {
			return rows[i].run(argv + 2);
		}
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		fprintf(stderr, "%s %s %s\n", argv[0], rows[i].name, rows[i].usage);
	}
	return 2;
}
