/* SPDX-License-Identifier: MIT */
/* Key rules: what is taken is written again to the same; what is refused has a sentence. */
#include "found.h"
#include "ctf/rule.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = usk_alloc(size + 1, 1);
	memcpy(text, data, size);
	for (int knowledge = 0; knowledge < 2; knowledge++) {
		struct rule r;
		struct usk_err err = { 0 };
		if (usk_rule_parse(text, knowledge, &r, &err)) {
			if (!err.msg[0] || r.event || r.n) {
				abort();
			}
			fuzz_found(err.at);
			continue;
		}
		char *again =
			usk_format("%s%s%s{", r.name ? r.name : "", r.name ? "=" : "", r.event);
		for (size_t i = 0; i < r.n; i++) {
			char *more = usk_format("%s%s%s", again, i ? "," : "", r.field[i]);
			free(again);
			again = more;
		}
		char *whole = usk_format("%s}", again);
		if (strcmp(whole, text) != 0 || !r.n || r.n > RULE_FIELDS) {
			abort();
		}
		fuzz_found(r.n);
		free(whole);
		free(again);
		usk_rule_free(&r);
	}
	free(text);
	return 0;
}
