/* SPDX-License-Identifier: MIT */
#include "sigbus.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile uintptr_t where;

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	where = (uintptr_t)info->si_addr;
	siglongjmp(back, 1);
}

static bool found_out(void)
{
	struct sigaction before, ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	FILE *f = tmpfile();
	/* Of a file without a byte, so that there is nothing to read. */
	volatile char *p = f ? mmap(NULL, 1, PROT_READ, MAP_SHARED, fileno(f), 0) : MAP_FAILED;
	bool there = p != MAP_FAILED;
	if (there) {
		sigaction(SIGBUS, &ours, &before);
		if (!sigsetjmp(back, 1)) {
			(void)*p;
		}
		sigaction(SIGBUS, &before, NULL);
		munmap((void *)p, 1);
	}
	if (f) {
		fclose(f);
	}
	return there && where == (uintptr_t)p;
}

bool sigbus_says_where(void)
{
	static int says = -1;
	if (says < 0) {
		says = found_out();
		if (!says) {
			printf("skipped: files that are cut short: here SIGBUS does not say where "
			       "it was\n");
		}
	}
	return says;
}
