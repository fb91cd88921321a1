/* SPDX-License-Identifier: MIT */
/*
 * ctf_folder.h - folders of CTF traces that tests make, read and remove
 *
 * In    a name
 * Out   its path in a folder that only this program has; an open trace
 * Not   what is in them: ctf_making.h
 */
#ifndef USK_TESTS_CTF_FOLDER_H
#define USK_TESTS_CTF_FOLDER_H

#include "read/trace.h"

/** The path of a folder that is not there yet; the caller frees it. */
char *ctf_folder(const char *name);
/** A trace that must open. */
struct usk_trace *ctf_open(const char *path, const struct usk_read_options *opt);

/** For cmocka: the folder around them all; it fails if something is left in it. */
int ctf_folders_make(void **state);
int ctf_folders_remove(void **state);

#endif
