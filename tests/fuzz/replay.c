/* SPDX-License-Identifier: MIT */
/*
 * replay.c - run a fuzz target over files instead of under a fuzzer
 *
 * In    files and folders of inputs, which are read in the order of their names; found.txt, and which of its
 *       rows is theirs
 * Out   status 0 if none of them crashed and the same was found as before; how many there were
 * Why   inputs that once crashed a parser are tried with every compiler in every check
 *
 *     replay [--found FILE NAME] INPUT...
 *
 * Behind each input stands the sum so far: with that of another build the first input that differs is found.
 */
#include "../fence.h"
#include "found.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct stat st;
	if (!in || fstat(fileno(in), &st)) {
		perror(path);
		exit(1);
	}
	size_t size = (size_t)st.st_size;
	uint8_t *data = fence_new(NULL, size);
	if (fread(data, 1, size, in) != size) {
		perror(path);
		exit(1);
	}
	fclose(in);
	fprintf(stderr, "%s", path); /* the last name seen is the culprit */
	LLVMFuzzerTestOneInput(data, size);
	fprintf(stderr, "\t%016" PRIx64 "\n", fuzz_found_sum());
	fence_free(data, size);
	return 1;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_all(const char *path)
{
	struct stat st;
	if (stat(path, &st)) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		return replay(path);
	}
	struct dirent **entry;
	int n = scandir(path, &entry, visible, alphasort), done = 0;
	for (int i = 0; i < n; i++) {
		size_t size = strlen(path) + strlen(entry[i]->d_name) + 2;
		char *name = malloc(size);
		if (!name) {
			abort();
		}
		snprintf(name, size, "%s/%s", path, entry[i]->d_name);
		done += replay_all(name);
		free(name);
		free(entry[i]);
	}
	free(entry);
	return done;
}

/* The sum in the row of that name; false: it has none. */
static bool row_of(const char *path, const char *name, uint64_t *sum)
{
	FILE *in = fopen(path, "r");
	char word[32];
	bool found = false;
	if (!in) {
		perror(path);
		exit(1);
	}
	while (!found && fscanf(in, "%31s %" SCNx64, word, sum) == 2) {
		found = !strcmp(word, name);
	}
	fclose(in);
	return found;
}

int main(int argc, char **argv)
{
	bool held = argc > 3 && !strcmp(argv[1], "--found"), same = true;
	int n = 0;
	for (int i = held ? 4 : 1; i < argc; i++) {
		n += replay_all(argv[i]);
	}
	uint64_t was, now = fuzz_found_sum();
	printf("%d inputs, found in them: %016" PRIx64 "\n", n, now);
	if (held && !(row_of(argv[2], argv[3], &was) && was == now)) {
		same = false;
		puts("which is not what was found before: doc/HACKING.md says what to do about "
		     "answers");
	}
	return n && same ? 0 : 1;
}
