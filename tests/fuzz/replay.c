/* SPDX-License-Identifier: MIT */
/*
 * replay.c - run a fuzz target over files instead of under a fuzzer
 *
 * In    files and folders of inputs; folders are read in the order of their names
 * Out   status 0 if none of them crashed, and how many there were
 * Why   inputs that once crashed a parser are tried with every compiler in every check
 */
#include <dirent.h>
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
	/* Exactly as large as the input, so that ASan sees a read past its end. */
	size_t size = (size_t)st.st_size;
	uint8_t *data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, in) != size) {
		perror(path);
		exit(1);
	}
	fclose(in);
	fprintf(stderr, "%s\n", path); /* the last name seen is the culprit */
	LLVMFuzzerTestOneInput(data, size);
	free(data);
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

int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 1; i < argc; i++) {
		n += replay_all(argv[i]);
	}
	printf("%d inputs\n", n);
	return n ? 0 : 1;
}
