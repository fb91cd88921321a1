/* SPDX-License-Identifier: MIT */
/* port_none.c - a system that lets no program at its parallel ports */
#include "line/line.h"

enum usk_status line_port_open(const char *path, struct line_counter counter, struct line **out,
			       struct usk_err *err)
{
	(void)counter;
	(void)out;
	return usk_fail(err, USK_EIO, 0,
			"%s: this unskew was built where programs cannot use parallel ports", path);
}
