/* SPDX-License-Identifier: MIT */
/* json_parser.h - a parser of JSON that calls back */
#ifndef USK_JSON_PARSER_H
#define USK_JSON_PARSER_H

#include <yajl/yajl_parse.h>

/**
 * One that calls back with ctx, in the place of `old`, which is freed; NULL: there is none. It takes
 * several values in a row, strings in any encoding, and memory as all of us do. yajl_free() it.
 */
yajl_handle usk_json_parser_new(const yajl_callbacks *callbacks, void *ctx, yajl_handle old);

#endif
