/* SPDX-License-Identifier: MIT */
/* A whole clocks.json into memory: the door of apply, convert and what else takes CLOCKS. */
#include "cmd.h"
#include "base/io.h"

#include <string.h>

bool clocks_file(const char *path)
{
	static const char mark[] = "\"unskew_clocks\"";
	struct usk_input in;
	if (usk_input_open(&in, path, NULL)) {
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
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, path, &err);
	if (status) {
		return say_error(&err);
	}
	status = usk_input_all(&in, &err);
	if (!status) {
		status = usk_clocks_from_json((const char *)in.data, in.have, out, &err);
	}
	if (status) {
		usk_fail_in(&err, "%s", path);
	}
	usk_input_close(&in);
	return status ? say_error(&err) : EXIT_DONE;
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
