/* SPDX-License-Identifier: MIT */
#include "memory.h"
#include "base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	bool made;
	int fd;
	char path[MEMORY_PATH];
} file[MEMORY_FILES];

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

int memory_descriptor(unsigned which)
{
	need(which < MEMORY_FILES);
	if (!file[which].made) {
		file[which].fd = memfd_create("input", MFD_CLOEXEC);
		need(file[which].fd >= 0);
		file[which].made = true;
		snprintf(file[which].path, MEMORY_PATH, "/proc/self/fd/%d", file[which].fd);
	}
	return file[which].fd;
}

const char *memory_file(unsigned which, const void *data, size_t size)
{
	int fd = memory_descriptor(which);
	need(!ftruncate(fd, 0) && !fchmod(fd, 0600));
	need(!size || pwrite(fd, data, size, 0) == (ssize_t)size);
	return file[which].path;
}

static char folder[64];

static void remove_folder(void)
{
	usk_folder_remove(folder);
}

const char *memory_folder(void)
{
	if (!*folder) {
		const char *above = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
		snprintf(folder, sizeof folder, "%s/unskew-fuzz-XXXXXX", above);
		need(mkdtemp(folder) != NULL);
		atexit(remove_folder);
	}
	return folder;
}
