/* SPDX-License-Identifier: MIT */
/* A whole clocks.json into memory: the door of apply, convert and what else takes CLOCKS. */
#include "cmd.h"
#include "base/io.h"
#include "base/stamp.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool clocks_file(const char *path)
{
	static const char mark[] = "\"unskew_clocks\"";
	struct usk_input in;
	struct stat st;
	/* A pipe can be read once only. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || usk_input_open(&in, path, NULL)) {
		return false;
	}
	/* Nothing but spaces before an object, as most traces have, and the mark in its beginning.
	 */
	bool found = !usk_input_need(&in, 0, 1 << 16, NULL);
	size_t i = 0;
	while (found && i < in.have && strchr(" \t\r\n", in.data[i])) {
		i++;
	}
	found = found && i < in.have && in.data[i] == '{' &&
		memmem(in.data, in.have, mark, sizeof mark - 1);
	usk_input_close(&in);
	return found;
}

int clocks_read(const char *path, struct usk_clocks **out)
{
	struct usk_err err = { 0 };
	return usk_clocks_read(path, out, &err) ? say_error(&err) : EXIT_DONE;
}

int clocks_status(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		enum usk_quality q = c->clock[i].quality;
		if (q != USK_REFERENCE && q != USK_BOUNDED) {
			return EXIT_PARTIAL;
		}
	}
	return EXIT_DONE;
}

int tick_rates(const struct args *args, const struct usk_clocks *c, struct usk_read_options *out)
{
	struct usk_err err;
	memset(out, 0, sizeof *out);
	out->tick_rate = args_list(args, "tick-rate", &out->n_tick_rate);
	if (usk_read_options_check(out, &err)) {
		return say_error(&err);
	}
	for (size_t i = 0; i < out->n_tick_rate; i++) {
		const char *row = out->tick_rate[i];
		char *name = usk_format("%.*s", (int)(strchr(row, '=') - row), row);
		uint32_t clock = usk_clocks_find(c, name, NULL, NULL);
		free(name);
		if (clock == USK_NO_CLOCK) {
			return say_usage("--tick-rate %s: the table has no clock of that name",
					 row);
		}
	}
	return EXIT_DONE;
}
