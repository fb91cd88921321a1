/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - `unskew probe` between two network namespaces, held against the known truth
 *
 * Both namespaces have the kernel's one clock; one side reads it through a made-up one that is an
 * hour ahead and gains 80 ppm, so the truth is a formula.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include "base/base.h"

#include <jansson.h>
#include <sys/types.h>

#define HOUR_NS	  INT64_C(3600000000000)
#define GAINS_E12 INT64_C(80000000)

extern char hosts_dir[];	      /* what the processes print */
extern char hosts_a[32], hosts_b[32]; /* the namespaces: 192.0.2.1, and .2 with the other clock */
extern int64_t hosts_since_ns;	      /* the other clock ran ahead from then on */
extern size_t hosts_failed;

/** CLOCK_REALTIME. */
int64_t hosts_now_ns(void);
/** What the other clock reads when this one reads `here`. */
int64_t hosts_there_at(int64_t here);
/** The last ns of this clock at which the other does not read more than `there`. */
int64_t hosts_here_at(int64_t there);

/** A shell's command, its status; frees it. */
int hosts_run(char *command);
/** In a namespace; `timeout` ends it whatever happens to us. Prints into the file `out`, and .err
 * beside it. Frees the command. */
pid_t hosts_start(const char *space, int seconds, const char *out, char *command);
/** Waits; its status. */
int hosts_finish(pid_t pid);
/** The server with the other clock: over both namespaces' network, in the second. */
pid_t hosts_serve(const char *unskew, int seconds);
/** Both, with what they need. 0, or 77 with the reason printed: they cannot be made here, or
 * there is no libsodium. */
int hosts_make(const char *unskew);
/** Ends both. The status of the test. */
int hosts_end(void);

struct watched {
	size_t rounds, answered, known, wrong, close;
	int64_t worst_error, worst_bound;
	json_t *total;
	int64_t first_there, last_there, last_here, last_bound;
	int64_t grown_ns; /* by how much the bound grew in rounds without an answer */
	size_t shrunk;	  /* such rounds in which it did not */
};

/** What a client printed: --json. A bound that does not hold is printed. */
struct watched hosts_read_rounds(const char *name);
/** Prints figures; nothing is wrong, and something known. */
void hosts_judge(const char *name, const struct watched *w);
/** Else prints what, and the test fails. */
void hosts_expect(bool good, const char *what);

#endif
