/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ctf_mend - what is whole of a damaged CTF trace
 *
 * In    the length of the metadata (2 bytes), they, one stream
 * Out   the metadata's text, or a sentence; of the stream what can be read, and nothing if nothing
 *       had to go
 *
 * Whether a trace can be read is told here by its packets alone, in place of src/ctf/child.c: whole
 * ones, each as long as its header says, from the first byte to the last.
 */
#include "base/bytes.h"
#include "base/io.h"
#include "memory.h"
#include "ctf/ctf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Magic number, UUID, and two sizes in bits. */
enum { MARK = 20, CONTENT = 24, PACKET = 32, HEADER = 40, MOST = 8192 };

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

/* ---- in place of src/ctf/child.c
 * --------------------------------------------------------------------
 */

static bool is_stream(const uint8_t *d, size_t n)
{
	size_t packet;
	for (size_t at = 0; at < n; at += packet) {
		if (n - at < HEADER || memcmp(d, d + at, MARK) != 0) {
			return false;
		}
		uint64_t content = usk_le64(d + at + CONTENT);
		uint64_t bits = usk_le64(d + at + PACKET);
		packet = (size_t)(bits / 8);
		if (bits % 8 || packet < HEADER || packet > n - at || content > bits) {
			return false;
		}
	}
	return true;
}

static bool is_whole(const char *folder, const char *name)
{
	char *path = usk_format("%s/%s", folder, name);
	struct usk_input in;
	bool good = !usk_input_open(&in, path, NULL, NULL);
	if (good) {
		good = !usk_input_all(&in, NULL) && is_stream(in.data, in.have);
		usk_input_close(&in);
	}
	free(path);
	return good;
}

bool usk_ctf_is_readable(const char *folder)
{
	DIR *d = opendir(folder);
	bool good = d && !usk_ctf_metadata(folder, NULL, NULL);
	for (const struct dirent *e; good && (e = readdir(d)) != NULL;) {
		good = e->d_name[0] == '.' || !strcmp(e->d_name, "metadata") ||
		       is_whole(folder, e->d_name);
	}
	if (d) {
		closedir(d);
	}
	return good;
}

/* ---- a trace ------------------------------------------------------------------------------------
 */

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "%s/in/%s", memory_folder(), name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0 && usk_write_all(fd, data, size) && !close(fd));
}

static void make_folder(void)
{
	char path[128];
	snprintf(path, sizeof path, "%s/in", memory_folder());
	need(!mkdir(path, 0700) && !setenv("TMPDIR", memory_folder(), 1));
}

static void check_metadata(const char *folder, size_t size)
{
	struct usk_err err = { 0 };
	char *text = NULL;
	if (usk_ctf_metadata(folder, &text, &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n') && !text);
	} else {
		need(strlen(text) <= size);
	}
	free(text);
}

/* Of one folder with one stream. */
static void check_mended(const struct ctf_traces *t, bool readable, size_t size)
{
	if (!t->mended) {
		need(readable && !t->said);
		return;
	}
	struct stat st;
	char *path = usk_format("%s/stream", t->mended[0]);
	need(!readable && t->said && !strchr(t->said, '\n'));
	need(usk_ctf_is_readable(t->mended[0]));
	need(!stat(path, &st) && st.st_size > 0 && (size_t)st.st_size <= size);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > MOST) {
		return -1;
	}
	static bool made;
	if (!made) {
		make_folder();
		made = true;
	}
	size_t first = (size_t)(data[0] | data[1] << 8);
	data += 2;
	size -= 2;
	first = first < size ? first : size;
	write_file("metadata", data, first);
	write_file("stream", data + first, size - first);
	struct ctf_traces t;
	struct usk_err err = { 0 };
	char path[128];
	snprintf(path, sizeof path, "%s/in", memory_folder());
	check_metadata(path, first);
	need(!usk_ctf_find(path, &t, &err) && t.n == 1 && t.only);
	bool readable = usk_ctf_is_readable(path);
	if (usk_ctf_mend(&t, &err)) {
		need(!readable && err.msg[0]);
	} else {
		check_mended(&t, readable, size - first);
	}
	usk_ctf_traces_free(&t);
	return 0;
}
