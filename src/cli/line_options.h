/* SPDX-License-Identifier: MIT */
/* line_options.h - option groups of `unskew line`; a file of their own, as they are long */
#ifndef LINE_OPTIONS_H
#define LINE_OPTIONS_H

#include "cmd.h"

extern const struct option_group line_both_options, line_tie_options, line_table_options;

#endif
