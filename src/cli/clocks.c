/* SPDX-License-Identifier: MIT */
/* A whole clocks.json into memory: the door of apply, convert and what else takes CLOCKS. */
#include "cmd.h"
#include "base/io.h"

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
