/* SPDX-License-Identifier: MIT */
/*
 * bench_walk - the least that reading can cost: step over the records of mapped captures
 *
 * In    classic captures in this machine's byte order
 * Out   one line: records and their bytes, so that nothing is optimised away
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int walk(const char *path, uint64_t *records, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || st.st_size < 24) {
		perror(path);
		return 1;
	}
	size_t size = (size_t)st.st_size;
	const uint8_t *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		perror(path);
		return 1;
	}
	for (size_t at = 24; at + 16 <= size;) {
		uint32_t captured;
		memcpy(&captured, data + at + 8, sizeof captured);
		++*records;
		*bytes += captured;
		at += 16 + (size_t)captured;
	}
	munmap((void *)(uintptr_t)data, size);
	return close(fd);
}

int main(int argc, char **argv)
{
	uint64_t records = 0, bytes = 0;
	for (int i = 1; i < argc; i++) {
		if (walk(argv[i], &records, &bytes)) {
			return 1;
		}
	}
	printf("%" PRIu64 " records, %" PRIu64 " bytes\n", records, bytes);
	return 0;
}
