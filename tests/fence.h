/* SPDX-License-Identifier: MIT */
/*
 * fence.h - bytes behind which there is no memory
 *
 * Why   who reads on behind the end of an input is noticed at once, by sanitizers and without
 */
#ifndef USK_TESTS_FENCE_H
#define USK_TESTS_FENCE_H

#include <stddef.h>

/** A copy of data[n], which may be empty, or room for it if data is NULL; fence_free() it. */
void *fence_new(const void *data, size_t n);
void fence_free(void *p, size_t n);

#endif
