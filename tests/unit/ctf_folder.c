/* SPDX-License-Identifier: MIT */
#include "ctf_folder.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/unskew-test-ctf-XXXXXX";

char *ctf_folder(const char *name)
{
	return usk_format("%s/%s", base, name);
}

struct usk_trace *ctf_open(const char *path, const struct usk_read_options *opt)
{
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_with(path, NULL, opt, &t, &err)) {
		fail_msg("%s: %s", path, err.msg);
	}
	return t;
}

int ctf_folders_make(void **state)
{
	(void)state;
	return !mkdtemp(base);
}

int ctf_folders_remove(void **state)
{
	(void)state;
	return rmdir(base); /* fails if something was left */
}
