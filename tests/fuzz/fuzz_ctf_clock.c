/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ctf_clock - the clock in the metadata of a CTF trace, replaced
 *
 * In    which correction (a byte), metadata
 * Out   the trace with another clock, or a sentence; once more without a correction, it is the same
 *
 * Where libbabeltrace2 would write the data anew, that is a failure here.
 */
#include "base/io.h"
#include "found.h"
#include "memory.h"
#include "ctf/ctf.h"
#include "ctf/filter.h"
#include "write/retime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

/* ---- in place of what asks libbabeltrace2 -------------------------------------------------------
 */

bool usk_ctf_is_readable(const char *folder)
{
	(void)folder;
	return true;
}

bool usk_bt_orders(const char *folder)
{
	(void)folder;
	return true;
}

enum usk_status usk_bt_write(const char *from, const char *to, const struct usk_clocks *c,
			     uint32_t clock, struct usk_err *err)
{
	(void)to, (void)c, (void)clock;
	return usk_fail(err, USK_EINPUT, 0, "%s: would be written anew", from);
}

/* ---- corrections --------------------------------------------------------------------------------
 */

#define DAY INT64_C(1700000000000000000)
#define KNOT(t, by)                                                                                \
	{                                                                                          \
		.local_ns = (t), .offset_ns = (by), .lo_ns = (by)-50, .hi_ns = (by) + 50           \
	}

static struct usk_knot none[] = { KNOT(DAY, 0), KNOT(DAY + 1000000000, 0) };
static struct usk_knot constant[] = { KNOT(DAY, 12345), KNOT(DAY + 1000000000, 12345) };
static struct usk_knot drift[] = { KNOT(DAY, -5000000), KNOT(DAY + 60000000000, -5001200) };
static struct usk_knot bend[] = { KNOT(DAY, 0), KNOT(DAY + 5, 3), KNOT(DAY + 1000000000, 90000) };
static struct usk_knot far[] = { KNOT(-USK_TIME_MAX + 100, 0), KNOT(USK_TIME_MAX - 100, -7) };
static struct usk_knot leap[] = { KNOT(0, 0), KNOT(10, USK_TIME_MAX - 100) };
static struct usk_knot halt[] = { KNOT(0, 0), KNOT(USK_TIME_MAX - 100, 101 - USK_TIME_MAX) };

#define CLOCK(knots)                                                                               \
	{                                                                                          \
		.name = (char *)(uintptr_t) #knots, .quality = USK_BOUNDED, .knot = (knots),       \
		.n_knots = COUNT(knots)                                                            \
	}

static struct usk_clock clock_of[] = { CLOCK(none), CLOCK(constant), CLOCK(drift), CLOCK(bend),
				       CLOCK(far),  CLOCK(leap),     CLOCK(halt) };

/* ---- folders ------------------------------------------------------------------------------------
 */

static char *below(const char *name)
{
	return usk_format("%s/%s", memory_folder(), name);
}

static void write_input(const uint8_t *data, size_t size)
{
	static bool made;
	char *path = below("in");
	need(made || !mkdir(path, 0700));
	made = true;
	free(path);
	path = below("in/metadata");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0 && usk_write_all(fd, data, size) && !close(fd));
	free(path);
}

static enum usk_status retime(const char *from, const char *to, uint32_t clock, struct usk_err *err)
{
	static const struct usk_write_options opt = { .force = true, .residual_ns = 1000 };
	static const struct usk_clocks clocks = { .clock = clock_of,
						  .n_clocks = COUNT(clock_of),
						  .max_skew_e12 = 500000000 };
	struct usk_notes notes = { 0 };
	char *in = below(from), *out = below(to);
	struct retime r = {
		.path = in, .clocks = &clocks, .opt = &opt, .notes = &notes, .err = err
	};
	enum usk_status status = usk_retime_ctf(&r, clock, out);
	usk_replay_free(r.map);
	usk_notes_free(&notes);
	free(in);
	free(out);
	return status;
}

static char *metadata_of(const char *name)
{
	char *folder = below(name), *text = NULL;
	need(!usk_ctf_metadata(folder, &text, NULL));
	free(folder);
	return text;
}

/* What retiming writes at the end of the clock's block; anything else may stand around it. */
static void read_clock(const char *text, long long number[3])
{
	int found = 0;
	for (const char *at = text; found < 3 && (at = strstr(at, "\tfreq = ")) != NULL; at++) {
		found = sscanf(at, "\tfreq = %lld;\n\toffset_s = %lld;\n\toffset = %lld;\n}",
			       &number[0], &number[1], &number[2]);
	}
	need(found == 3 && number[0] > 0 && number[2] >= 0 && number[2] < number[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usk_err err = { 0 };
	long long number[2][3];
	if (!size) {
		return -1;
	}
	write_input(data + 1, size - 1);
	if (retime("in", "out", data[0] % COUNT(clock_of), &err)) {
		need(err.msg[0] && !strchr(err.msg, '\n'));
		return 0;
	}
	char *once = metadata_of("out");
	read_clock(once, number[0]);
	fuzz_found_text(once);
	free(once);
	/* Who calls metadata what is none has to bear what comes of it, but numbers stay numbers.
	 */
	if (!retime("out", "again", 0, &err)) {
		char *twice = metadata_of("again");
		read_clock(twice, number[1]);
		need(!memcmp(number[0], number[1], sizeof number[0]));
		free(twice);
	}
	return 0;
}
