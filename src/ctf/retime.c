/* SPDX-License-Identifier: MIT */
/*
 * retime.c - CTF traces again, on the common clock
 *
 * In    a folder of traces of one machine, the correction of its clock
 * Out   a folder of the same traces. Where another offset and an integer frequency say it well
 *       enough, only the clock in the metadata is another and the data are the same bytes;
 *       otherwise they are written anew, every event with its corrected stamp in ns; so are
 *       traces that babeltrace2 does not put in order, as old ones whose packets overlap
 * Why   readers of CTF know clocks with an offset and a frequency, no more; a correction has
 *       corners
 * Not   order within a stream, which stays; streams that are damaged, beyond what is whole of them
 *
 * What is exact: ns = floor((value + offset) 1e9 / hz). A constant correction is as exact as that
 * if it is a whole number of cycles.
 */
#include "base/io.h"
#include "ctf/filter.h"
#include "write/retime.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A clock as metadata describes it. */
struct described {
	char *text; /* up to the brace that ends the clock's block, without freq and offsets */
	const char *rest;
	uint64_t hz;
	usk_i128 offset; /* in cycles, offset_s included */
};

struct trace {
	const struct usk_clock *clock;
	int64_t max_skew_e12;
	int64_t first_ns, last_ns;
};

/* Products with times and offsets are far below 2^127. */
#define MOST_HZ (INT64_C(1) << 40)

/* ---- metadata ------------------------------------------------------------------------------ */

/* Takes `key = number;` out of a block; false if it is not there, or no plain number. */
static bool take_number(char *block, const char *key, usk_i128 *out)
{
	char *pattern = usk_format("[ \t\n;{]%s[ \t]*=[ \t]*(-?[0-9]{1,24})[ \t\n]*;", key);
	regmatch_t at[2];
	regex_t re;
	bool found = !regcomp(&re, pattern, REG_EXTENDED) && !regexec(&re, block, 2, at, 0);
	if (found) {
		char *begin = block + at[0].rm_so + 1, *digits = block + at[1].rm_so;
		bool minus = *digits == '-';
		for (*out = 0, digits += minus; *digits >= '0' && *digits <= '9'; digits++) {
			*out = *out * 10 + (*digits - '0');
		}
		*out = minus ? -*out : *out;
		while (!strchr(";\n{", begin[-1])) {
			begin--;
		}
		const char *behind = block + at[0].rm_eo;
		memmove(begin, behind, strlen(behind) + 1);
	}
	regfree(&re);
	free(pattern);
	return found;
}

/* Does no string of the clock's block go on behind its end? There the brace is a part of it. */
static bool quotes_end(const char *block)
{
	bool inside = false;
	for (const char *p = block; *p; p++) {
		p += inside && *p == '\\' && p[1];
		inside ^= *p == '"';
	}
	return !inside;
}

/* As metadata can have it. */
static bool is_whole(usk_i128 x)
{
	return x >= INT64_MIN && x <= INT64_MAX;
}

/* The only clock of a trace; false if it has none, several, or one that is described oddly. */
static bool describe(const char *folder, struct described *d)
{
	memset(d, 0, sizeof *d);
	if (usk_ctf_metadata(folder, &d->text, NULL)) {
		return false;
	}
	usk_i128 hz = 1000000000, offset = 0, seconds = 0, twice;
	char *clock = strstr(d->text, "\nclock");
	char *block = clock ? clock + 6 + strspn(clock + 6, " \t\n") : NULL;
	char *end = block && *block == '{' ? strchr(block, '}') : NULL;
	if (!end || strstr(clock + 6, "\nclock")) {
		return false;
	}
	*end = 0;
	d->rest = end + 1;
	if (strchr(block + 1, '{') || !quotes_end(block) ||
	    (!take_number(block, "freq", &hz) && strstr(block, "freq"))) {
		return false;
	}
	take_number(block, "offset", &offset);
	take_number(block, "offset_s", &seconds);
	bool again = take_number(block, "freq", &twice) || take_number(block, "offset", &twice) ||
		     take_number(block, "offset_s", &twice);
	if (again || hz <= 0 || hz >= MOST_HZ || !is_whole(offset) || !is_whole(seconds)) {
		return false;
	}
	d->hz = (uint64_t)hz;
	d->offset = offset + seconds * hz;
	return true;
}

/* ---- how well a line says it ---------------------------------------------------------------- */

/* ns that the described clock shows, of a value that shows `was` now. */
static usk_i128 shown(const struct described *d, uint64_t hz, usk_i128 offset, int64_t was)
{
	/* The value that is `was` or just after: stamps between two cycles do not exist. */
	usk_i128 value = usk_ceil_div((usk_i128)was * (int64_t)d->hz, 1000000000) - d->offset;
	return usk_floor_div((value + offset) * 1000000000, (int64_t)hz);
}

/* The most that the line is off at the ends and corners of the correction. */
static bool worst(const struct trace *t, const struct described *d, const struct usk_map *map,
		  uint64_t hz, usk_i128 offset, usk_i128 *least, usk_i128 *most)
{
	bool good = true;
	*least = INT64_MAX;
	*most = INT64_MIN;
	for (size_t i = 0; good && i < t->clock->n_knots; i++) {
		int64_t x = t->clock->knot[i].local_ns, now;
		good = !usk_map_many(map, &x, 1, &now, NULL);
		usk_i128 off = good ? shown(d, hz, offset, x) - now : 0;
		*least = off < *least ? off : *least;
		*most = off > *most ? off : *most;
	}
	return good;
}

/* Another clock that shows corrected time; how far it is off at most. INT64_MAX: there is none. */
static int64_t best_line(const struct trace *t, const struct described *d,
			 const struct usk_map *map, uint64_t *hz, usk_i128 *offset)
{
	const struct usk_clock *c = t->clock;
	int64_t x[2] = { t->first_ns, t->last_ns }, y[2];
	if (!map || usk_map_many(map, x, 2, y, NULL) || c->knot[c->n_knots - 1].epoch) {
		return INT64_MAX;
	}
	bool constant = true;
	for (size_t i = 1; i < c->n_knots; i++) {
		constant = constant && c->knot[i].offset_ns == c->knot[0].offset_ns;
	}
	usk_i128 by = (usk_i128)c->knot[0].offset_ns * (int64_t)d->hz;
	*hz = d->hz;
	if (constant && by % 1000000000 == 0) {
		*offset = d->offset + by / 1000000000;
		return 0;
	}
	usk_i128 local = (usk_i128)x[1] - x[0], common = (usk_i128)y[1] - y[0], least, most;
	if (local > 0 && common > 0) {
		/* Rounded to the nearest integer. */
		usk_i128 nearest = (2 * (usk_i128)(int64_t)d->hz * local + common) / (2 * common);
		*hz = nearest < MOST_HZ ? (uint64_t)nearest : 0;
	}
	if (!*hz) { /* a clock of some Hz that was stepped by more than it ran */
		return INT64_MAX;
	}
	/* At the first stamp it is right; then as much too early as too late, to half a cycle. */
	usk_i128 value = usk_ceil_div((usk_i128)x[0] * (int64_t)d->hz, 1000000000) - d->offset;
	*offset = usk_ceil_div((usk_i128)y[0] * (int64_t)*hz, 1000000000) - value;
	if (!worst(t, d, map, *hz, *offset, &least, &most)) {
		return INT64_MAX;
	}
	*offset -= usk_floor_div((least + most) * (int64_t)*hz + 1000000000, 2000000000);
	if (!worst(t, d, map, *hz, *offset, &least, &most)) {
		return INT64_MAX;
	}
	least = least < 0 ? -least : least;
	most = most < 0 ? -most : most;
	/* Between its corners the line is off by no more than 2 ns beyond: both are rounded. */
	return usk_saturate((least > most ? least : most) + 2);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* All files of a trace and its index, the metadata if they stay as they are. */
static enum usk_status copy_files(const char *from, const char *to, bool metadata,
				  struct usk_err *err)
{
	static const char *const below[] = { "", "/index" };
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < COUNT(below) && !status; i++) {
		char *source = usk_format("%s%s", from, below[i]);
		char *target = usk_format("%s%s", to, below[i]);
		DIR *d = opendir(source);
		if (!d && !i) {
			status = usk_fail(err, USK_EIO, 0, "%s: %s", source, strerror(errno));
		}
		for (const struct dirent *e; d && !status && (e = readdir(d)) != NULL;) {
			struct stat st;
			if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) ||
			    !S_ISREG(st.st_mode) || (!metadata && !strcmp(e->d_name, "metadata"))) {
				continue;
			}
			char *file = usk_format("%s/%s", source, e->d_name);
			char *copy = usk_format("%s/%s", target, e->d_name);
			status = usk_folder_make(target)
					 ? usk_copy_file(file, copy, UINT64_MAX, err)
					 : usk_fail(err, USK_EIO, 0, "%s: %s", target,
						    strerror(errno));
			free(file);
			free(copy);
		}
		if (d) {
			closedir(d);
		}
		free(source);
		free(target);
	}
	return status;
}

/* The same data under another metadata. */
static enum usk_status write_metadata(const char *from, const char *to, const struct described *d,
				      uint64_t hz, usk_i128 offset, struct usk_err *err)
{
	static const char signature[] = "/* CTF 1.8";
	enum usk_status status = copy_files(from, to, false, err);
	char *path = usk_format("%s/metadata", to);
	struct usk_output out;
	status = status ? status : usk_output_open(&out, path, true, err);
	if (!status) {
		usk_i128 seconds = usk_floor_div(offset, (int64_t)hz);
		if (strncmp(d->text, signature, sizeof signature - 1) != 0) {
			usk_output_format(&out, "%s */\n", signature);
		}
		usk_output_write(&out, d->text, strlen(d->text));
		usk_output_format(&out, "\tfreq = %llu;\n\toffset_s = %lld;\n\toffset = %lld;\n}",
				  (unsigned long long)hz, (long long)seconds,
				  (long long)(offset - seconds * (int64_t)hz));
		usk_output_write(&out, d->rest, strlen(d->rest));
		status = usk_output_commit(&out, err);
		usk_output_close(&out);
	}
	free(path);
	return status;
}

struct outcome {
	int64_t residual_ns; /* of metadata alone, the worst of all traces */
	bool rewritten, disordered;
};

/* One trace of those at the path. */
static enum usk_status one(struct retime *t, const char *from, const char *to,
			   const struct trace *trace, uint32_t clock, struct outcome *outcome)
{
	struct described d;
	uint64_t hz = 0;
	usk_i128 offset = 0;
	bool plain = describe(from, &d);
	struct usk_map *map = usk_map_new(trace->clock, trace->max_skew_e12);
	int64_t off = plain ? best_line(trace, &d, map, &hz, &offset) : INT64_MAX;
	off = hz && is_whole(usk_floor_div(offset, (int64_t)hz)) ? off : INT64_MAX;
	int64_t allowed = t->opt ? t->opt->residual_ns : 0;
	enum usk_status status;
	if (off <= allowed && usk_bt_orders(from)) {
		status = write_metadata(from, to, &d, hz, offset, t->err);
	} else {
		outcome->rewritten = true;
		outcome->disordered |= off <= allowed;
		status = usk_bt_write(from, to, t->clocks, clock, t->err);
	}
	outcome->residual_ns = off > outcome->residual_ns ? off : outcome->residual_ns;
	free(d.text);
	usk_map_free(map);
	return status;
}

static void say_outcome(const struct retime *t, const struct outcome *o)
{
	if (!o->rewritten) {
		usk_note(t->notes,
			 "%s: only the clock in the metadata is another, the data are the same "
			 "bytes; off by at most %lld ns",
			 t->path, (long long)o->residual_ns);
	} else if (o->disordered) {
		usk_note(t->notes,
			 "%s: the data were written anew, as babeltrace2 cannot put the recorded "
			 "data in order",
			 t->path);
	} else if (o->residual_ns < INT64_MAX) {
		usk_note(
			t->notes,
			"%s: the data were written anew; another clock in the metadata alone would "
			"have been off by up to %lld ns (--residual)",
			t->path, (long long)o->residual_ns);
	}
}

/* The traces of a folder, each at the same place in another. */
static enum usk_status all(struct retime *t, const struct ctf_traces *in, const char *root,
			   const char *to, uint32_t clock)
{
	const struct usk_clock *c = &t->clocks->clock[clock];
	struct trace trace = { .clock = c, .max_skew_e12 = t->clocks->max_skew_e12 };
	enum usk_status status = USK_OK;
	struct outcome outcome = { 0 };
	if (t->map) {
		trace.first_ns = c->knot[0].local_ns;
		trace.last_ns = c->knot[c->n_knots - 1].local_ns;
	}
	for (size_t i = 0; i < in->n && !status; i++) {
		char *out = usk_format("%s%s", to, in->folder[i] + strlen(root));
		if (!usk_folder_make(out)) {
			status = usk_fail(t->err, USK_EIO, 0, "%s: %s", out, strerror(errno));
		} else if (in->mended) {
			status = usk_bt_write(in->mended[i], out, t->clocks,
					      t->map ? clock : USK_NO_CLOCK, t->err);
		} else {
			status = t->map ? one(t, in->folder[i], out, &trace, clock, &outcome)
					: copy_files(in->folder[i], out, true, t->err);
		}
		free(out);
		if (t->opt && t->opt->progress) {
			t->opt->progress(t->opt->progress_ctx, (double)(i + 1) / (double)in->n,
					 "re-timing");
		}
	}
	if (!status && in->said) {
		usk_note(t->notes, "%s: %s", t->path, in->said);
	} else if (!status && t->map && !in->mended) {
		say_outcome(t, &outcome);
	}
	return status;
}

/* A path without the slashes at its end. */
static char *bare(const char *path)
{
	char *p = usk_strdup(path);
	for (size_t end = strlen(p); end > 1 && p[end - 1] == '/'; end--) {
		p[end - 1] = 0;
	}
	return p;
}

enum usk_status usk_retime_ctf(struct retime *t, uint32_t clock, const char *out)
{
	struct ctf_traces in, there;
	struct usk_folder to = { 0 };
	bool force = t->opt && t->opt->force;
	char *path = bare(t->path), *target = bare(out);
	enum usk_status status = usk_ctf_find(path, &in, t->err);
	if (!status) {
		status = usk_write_map(t->clocks, clock, path, t->opt, &t->map, t->notes, t->err);
	}
	/* Only what is nothing but traces itself is replaced by them. */
	if (!status && force) {
		struct stat st;
		usk_ctf_find(target, &there, NULL);
		if (!there.only && !stat(out, &st) && S_ISDIR(st.st_mode)) {
			status = usk_fail(t->err, USK_EIO, 0,
					  "%s: holds more than CTF traces, so it is not replaced; "
					  "name another folder",
					  target);
		}
		usk_ctf_traces_free(&there);
	}
	status = status ? status : usk_folder_open(&to, target, force, t->err);
	status = status ? status : usk_ctf_mend(&in, t->err);
	status = status ? status : all(t, &in, path, to.temporary, clock);
	status = status ? status : usk_folder_commit(&to, t->err);
	usk_folder_close(&to);
	usk_ctf_traces_free(&in);
	free(path);
	free(target);
	return status;
}
