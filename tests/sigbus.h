/* SPDX-License-Identifier: MIT */
/*
 * sigbus.h - does SIGBUS say where it was?
 *
 * Why   emulators get its address wrong where the byte order is not their own (QEMU 7.2, s390x); whoever
 *       catches the signal of a page of his own needs it
 */
#ifndef USK_TESTS_SIGBUS_H
#define USK_TESTS_SIGBUS_H

#include <stdbool.h>

/** Found out the first time, by a page of its own. */
bool sigbus_says_where(void);

#endif
