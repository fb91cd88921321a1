/* SPDX-License-Identifier: MIT */
#include "part.h"

#include <stdlib.h>

uint64_t case_count(uint64_t usual)
{
	const char *s = getenv("USK_CASES");
	if (s && *s == '/') {
		uint64_t n = strtoull(s + 1, NULL, 10);
		return n && usual > n ? usual / n : 1;
	}
	return s && *s ? strtoull(s, NULL, 10) : usual;
}

size_t case_step(void)
{
	const char *s = getenv("USK_CASES");
	size_t n = s && *s == '/' ? strtoull(s + 1, NULL, 10) : 1;
	return n ? n : 1;
}

bool cases_are_few(void)
{
	return case_count(64) < 8;
}

uint64_t case_count_at_most(uint64_t usual)
{
	uint64_t n = case_count(usual);
	return n < usual ? n : usual;
}

uint64_t case_first(uint64_t usual)
{
	const char *s = getenv("USK_CASES");
	char *more = NULL;
	if (s && *s == '/') {
		strtoull(s + 1, &more, 10);
	}
	return 1 + (more && *more == '+' ? usual * strtoull(more + 1, NULL, 10) : 0);
}

uint64_t case_end(uint64_t usual)
{
	return case_first(usual) + case_count(usual);
}
