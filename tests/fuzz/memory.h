/* SPDX-License-Identifier: MIT */
/* memory.h - an input as a file that is only in memory, for what takes paths */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { MEMORY_FILES = 4, MEMORY_PATH = 32 };

/**
 * The path of file number which, below MEMORY_FILES, with these bytes and mode 0600. The one that
 * it was before is written over.
 */
const char *memory_file(unsigned which, const void *data, size_t size);
/** Its descriptor, the file's own. */
int memory_descriptor(unsigned which);

/** A folder of this process, in memory if there is room for it, that goes with it. */
const char *memory_folder(void);

#endif
