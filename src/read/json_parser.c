/* SPDX-License-Identifier: MIT */
/*
 * json_parser.c - a parser of JSON that calls back
 *
 * In    what it is to call
 * Out   the parser, set up as every format in JSON needs it
 * Why   one memory and one tolerance for all of them
 * Not   what values mean (chrome_json.c, span_json.c)
 */
#include "read/json_parser.h"

#include "base/base.h"

#include <stdlib.h>

static void *grow(void *ctx, void *p, size_t n)
{
	(void)ctx;
	return usk_grow(p, n, 1);
}

static void *make(void *ctx, size_t n)
{
	return grow(ctx, NULL, n);
}

static void give(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

yajl_handle usk_json_parser_new(const yajl_callbacks *callbacks, void *ctx, yajl_handle old)
{
	static const yajl_alloc_funcs memory = { make, grow, give, NULL };
	if (old) {
		yajl_free(old);
	}
	yajl_handle json = yajl_alloc(callbacks, (yajl_alloc_funcs *)&memory, ctx);
	yajl_config(json, yajl_allow_multiple_values, 1);
	yajl_config(json, yajl_dont_validate_strings, 1);
	return json;
}
