/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whole pages for n bytes, one at least. */
static size_t room_for(size_t n, size_t page)
{
	return n ? (n + page - 1) / page * page : page;
}

void *fence_new(const void *data, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = room_for(n, page);
	uint8_t *p =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE)) {
		perror("fence");
		abort();
	}
	p += room - n;
	if (data && n) {
		memcpy(p, data, n);
	}
	return p;
}

void fence_free(void *p, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = room_for(n, page);
	if (p) {
		munmap((uint8_t *)p + n - room, room + page);
	}
}
