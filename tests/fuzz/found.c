/* SPDX-License-Identifier: MIT */
#include "found.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum;

void fuzz_found(uint64_t value)
{
	sum = usk_mix(sum ^ value) + 1;
}

void fuzz_found_bytes(const void *data, size_t n)
{
	const uint8_t *d = data;
	fuzz_found(n);
	for (size_t i = 0; i < n; i++) {
		fuzz_found(d[i]);
	}
}

void fuzz_found_text(const char *text)
{
	fuzz_found(text != NULL);
	if (text) {
		fuzz_found_bytes(text, strlen(text));
	}
}

void fuzz_found_numbers(const char *sentence)
{
	fuzz_found(sentence != NULL);
	for (const char *p = sentence; p && *p; p++) {
		/* Not those within names of files. */
		if (*p >= '0' && *p <= '9' && (p == sentence || p[-1] == ' ')) {
			fuzz_found(strtoull(p, NULL, 10));
		}
	}
}

uint64_t fuzz_found_sum(void)
{
	return sum;
}
