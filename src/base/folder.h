/* SPDX-License-Identifier: MIT */
/*
 * folder.h - a folder that appears complete or not at all, like usk_output for files
 */
#ifndef USK_FOLDER_H
#define USK_FOLDER_H

#include "base/base.h"

struct usk_folder {
	char *path;
	char *temporary; /* write into this one */
	bool replace;
};

/**
 * A new folder beside path, which gets its name by commit. replace: what is at path goes then.
 * USK_EIO: it cannot be made, or path is there and not to be replaced.
 */
enum usk_status usk_folder_open(struct usk_folder *f, const char *path, bool replace,
				struct usk_err *err);
enum usk_status usk_folder_commit(struct usk_folder *f, struct usk_err *err);
/** Without commit nothing is left. */
void usk_folder_close(struct usk_folder *f);

/** Remove a folder and all that is in it, links themselves; safe in a signal handler. */
void usk_folder_remove(const char *path);

bool usk_is_folder(const char *path);

/** The folder of that path and those above it, as far as they are not there. */
bool usk_folder_make(const char *path);

/** The first n bytes of a file, or all that there are: as they lie, whatever they are packed with.
 */
enum usk_status usk_copy_file(const char *from, const char *to, uint64_t n, struct usk_err *err);

#endif
