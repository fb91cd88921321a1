/* SPDX-License-Identifier: MIT */
/* rows.h - an answer as rows for scripts */
#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>
#include <stdio.h>

/** Rows number `rows` of a clocks.json, in form number `form`. */
void rows_print(FILE *out, const char *json, size_t rows, size_t form);

#endif
