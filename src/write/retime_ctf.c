/* SPDX-License-Identifier: MIT */
/*
 * retime_ctf.c - CTF traces again, on the common clock
 *
 * In    a folder of traces of one machine, the correction of its clock
 * Out   a folder of the same traces. Where another offset and an integer frequency say it well
 *       enough, only the clock in the metadata is another and the data are the same bytes;
 *       otherwise they are written anew, every event with its corrected stamp in ns; so are
 *       traces that babeltrace2 does not put in order, as old ones whose packets overlap
 * Why   readers of CTF know clocks with an offset and a frequency, no more; a correction has
 * corners Not   order within a stream, which stays; streams that are damaged, beyond what is whole
 * of them
 *
 * What is exact: ns = floor((value + offset) 1e9 / hz). A constant correction is as exact as that
 * if it is a whole number of cycles.
 */
#include "base/folder.h"
#include "write/bt.h"
#include "write/retime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A clock as metadata describes it, and where. */
struct described {
	char *text;
	uint64_t hz;
	usk_i128 offset;  /* in cycles, offset_s included */
	char *body, *end; /* between its braces */
};

struct trace {
	const struct usk_clock *clock;
	int64_t max_skew_e12;
	int64_t first_ns, last_ns;
};

/* ---- metadata ------------------------------------------------------------------------------ */

/* The number behind `key =` between two places; false if it is not there, or no plain number. */
static bool number(const char *from, const char *to, const char *key, usk_i128 *out, char **begin,
		   char **end)
{
	size_t n = strlen(key);
	for (const char *p = from; (p = memmem(p, (size_t)(to - p), key, n)) != NULL; p += n) {
		const char *q = p + n;
		bool word = p == from || strchr(" \t\n;{", p[-1]);
		q += strspn(q, " \t");
		if (!word || *q != '=') {
			continue;
		}
		q++;
		q += strspn(q, " \t");
		const char *digits = q;
		bool minus = *q == '-';
		usk_i128 v = 0;
		for (q += minus; *q >= '0' && *q <= '9' && q - digits < 25; q++) {
			v = v * 10 + (*q - '0');
		}
		*out = minus ? -v : v;
		*begin = (char *)(uintptr_t)digits;
		*end = (char *)(uintptr_t)q;
		return q > digits + minus && *(q + strspn(q, " \t\n")) == ';';
	}
	return false;
}

/* Does no string of the clock's block go on behind its end? There the brace is a part of it. */
static bool quotes_end(const struct described *d)
{
	bool inside = false;
	for (const char *p = d->body; p < d->end; p++) {
		p += inside && *p == '\\' && p + 1 < d->end;
		inside ^= *p == '"';
	}
	return !inside;
}

/* The only clock of a trace; false if it has none, several, or one that is described oddly. */
static bool describe(const char *folder, struct described *d)
{
	memset(d, 0, sizeof *d);
	if (usk_ctf_metadata(folder, &d->text, NULL)) {
		return false;
	}
	char *p = strstr(d->text, "\nclock"), *b, *e;
	usk_i128 hz = 1000000000, offset = 0, seconds = 0;
	if (!p || p[6 + strspn(p + 6, " \t\n")] != '{' || strstr(p + 6, "\nclock")) {
		return false;
	}
	d->body = strchr(p, '{') + 1;
	d->end = strchr(d->body, '}');
	if (!d->end || memchr(d->body, '{', (size_t)(d->end - d->body)) || !quotes_end(d)) {
		return false;
	}
	if (memmem(d->body, (size_t)(d->end - d->body), "freq", 4) &&
	    !number(d->body, d->end, "freq", &hz, &b, &e)) {
		return false;
	}
	number(d->body, d->end, "offset", &offset, &b, &e);
	number(d->body, d->end, "offset_s", &seconds, &b, &e);
	d->hz = (uint64_t)hz;
	d->offset = offset + seconds * hz;
	return hz > 0 && hz < INT64_C(1) << 40;
}

/* ---- how well a line says it ---------------------------------------------------------------- */

/* ns that the described clock shows, of a value that shows `was` now. */
static usk_i128 shown(const struct described *d, uint64_t hz, usk_i128 offset, int64_t was)
{
	/* The value that is `was` or just after: stamps between two cycles do not exist. */
	usk_i128 value = usk_ceil_div((usk_i128)was * (int64_t)d->hz, 1000000000) - d->offset;
	return usk_floor_div((value + offset) * 1000000000, (int64_t)hz);
}

/* The most that the line is off at the ends and corners of the correction, and about where. */
static bool worst(const struct trace *t, const struct described *d, uint64_t hz, usk_i128 offset,
		  usk_i128 *least, usk_i128 *most)
{
	struct usk_map *map = usk_map_new(t->clock, t->max_skew_e12);
	bool good = map != NULL;
	*least = INT64_MAX;
	*most = INT64_MIN;
	for (size_t i = 0; good && i < t->clock->n_knots + 2; i++) {
		int64_t x = i < t->clock->n_knots    ? t->clock->knot[i].local_ns
			    : i == t->clock->n_knots ? t->first_ns
						     : t->last_ns;
		int64_t now;
		x = x < t->first_ns ? t->first_ns : x > t->last_ns ? t->last_ns : x;
		good = !usk_map_many(map, &x, 1, &now, NULL);
		usk_i128 off = good ? shown(d, hz, offset, x) - now : 0;
		*least = off < *least ? off : *least;
		*most = off > *most ? off : *most;
	}
	usk_map_free(map);
	return good;
}

/* Another clock that shows corrected time; how far it is off at most. INT64_MAX: there is none. */
static int64_t best_line(const struct trace *t, const struct described *d, uint64_t *hz,
			 usk_i128 *offset)
{
	const struct usk_clock *c = t->clock;
	struct usk_map *map = usk_map_new(c, t->max_skew_e12);
	int64_t x[2] = { t->first_ns, t->last_ns }, y[2];
	if (!map || usk_map_many(map, x, 2, y, NULL) || c->knot[c->n_knots - 1].epoch) {
		usk_map_free(map);
		return INT64_MAX;
	}
	usk_map_free(map);
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
		*hz = (uint64_t)((2 * (usk_i128)(int64_t)d->hz * local + common) / (2 * common));
	}
	if (!*hz) { /* a clock of some Hz that was stepped forward by more than it ran */
		return INT64_MAX;
	}
	/* At the first stamp it is right; then as much too early as too late. */
	usk_i128 value = usk_ceil_div((usk_i128)x[0] * (int64_t)d->hz, 1000000000) - d->offset;
	*offset = usk_ceil_div((usk_i128)y[0] * (int64_t)*hz, 1000000000) - value;
	if (!worst(t, d, *hz, *offset, &least, &most)) {
		return INT64_MAX;
	}
	*offset -= usk_floor_div((least + most) * (int64_t)*hz, 2000000000);
	if (!worst(t, d, *hz, *offset, &least, &most)) {
		return INT64_MAX;
	}
	least = least < 0 ? -least : least;
	most = most < 0 ? -most : most;
	/* Between its corners the line is off by no more than 2 ns beyond: both are rounded. */
	return usk_saturate((least > most ? least : most) + 2);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* The text of the clock's block: its lines but for freq and offsets, and these anew. */
static void write_clock(struct usk_output *out, const struct described *d, uint64_t hz,
			usk_i128 offset)
{
	static const char *const keys[] = { "freq", "offset", "offset_s" };
	char *gone[COUNT(keys)][2] = { { NULL, NULL } };
	usk_i128 v;
	usk_output_write(out, d->text, (size_t)(d->body - d->text));
	for (size_t i = 0; i < COUNT(keys); i++) {
		char *begin, *end;
		if (number(d->body, d->end, keys[i], &v, &begin, &end)) {
			/* From the key to its semicolon. */
			char *key = begin;
			while (key > d->body && key[-1] != ';' && key[-1] != '\n') {
				key--;
			}
			gone[i][0] = key;
			gone[i][1] = strchr(end, ';') + 1;
		}
	}
	for (const char *p = d->body; p < d->end; p++) {
		for (size_t i = 0; i < COUNT(keys);) { /* one may follow another, in any order */
			bool here = p == gone[i][0];
			p = here ? gone[i][1] : p;
			i = here ? 0 : i + 1;
		}
		if (p < d->end) {
			usk_output_write(out, p, 1);
		}
	}
	usk_i128 seconds = usk_floor_div(offset, (int64_t)hz);
	usk_output_format(out, "\tfreq = %llu;\n\toffset_s = %lld;\n\toffset = %lld;\n",
			  (unsigned long long)hz, (long long)seconds,
			  (long long)(offset - seconds * (int64_t)hz));
	usk_output_write(out, d->end, strlen(d->end));
}

/* All files of a trace, the metadata if they stay as they are. */
static enum usk_status copy_files(const char *from, const char *to, bool metadata,
				  struct usk_err *err)
{
	char **name = NULL;
	size_t n = 0;
	enum usk_status status = usk_ctf_files(from, &name, &n, err);
	for (size_t i = 0; i < n; i++) {
		char *source = usk_format("%s/%s", from, name[i]);
		char *target = usk_format("%s/%s", to, name[i]);
		char *slash = strrchr(target, '/');
		*slash = 0;
		if (!status && !usk_folder_make(target)) {
			status = usk_fail(err, USK_EIO, 0, "%s: %s", target, strerror(errno));
		}
		*slash = '/';
		if (!status && (metadata || strcmp(name[i], "metadata") != 0)) {
			status = usk_copy_file(source, target, UINT64_MAX, err);
		}
		free(source);
		free(target);
		free(name[i]);
	}
	free(name);
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
	if (!status) {
		status = usk_output_open(&out, path, true, err);
		if (!status) {
			if (strncmp(d->text, signature, sizeof signature - 1) != 0) {
				usk_output_format(&out, "%s */\n", signature);
			}
			write_clock(&out, d, hz, offset);
			status = usk_output_commit(&out, err);
			usk_output_close(&out);
		}
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
	int64_t off = plain ? best_line(trace, &d, &hz, &offset) : INT64_MAX;
	int64_t allowed = t->opt ? t->opt->residual_ns : 0;
	enum usk_status status;
	if (!usk_folder_make(to)) {
		status = usk_fail(t->err, USK_EIO, 0, "%s: %s", to, strerror(errno));
	} else if (off <= allowed && usk_bt_orders(from)) {
		status = write_metadata(from, to, &d, hz, offset, t->err);
	} else {
		outcome->rewritten = true;
		outcome->disordered |= off <= allowed;
		status = usk_bt_write(from, to, t->clocks, clock, t->err);
	}
	outcome->residual_ns = off > outcome->residual_ns ? off : outcome->residual_ns;
	free(d.text);
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
		usk_note(
			t->notes,
			"%s: the data were written anew, as babeltrace2 does not put them in order "
			"the way they are",
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
static enum usk_status all(struct retime *t, char *const *folder, size_t n, const char *root,
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
	for (size_t i = 0; i < n && !status; i++) {
		char *out = usk_format("%s%s", to, folder[i] + strlen(root));
		status = t->map ? one(t, folder[i], out, &trace, clock, &outcome)
				: copy_files(folder[i], out, true, t->err);
		free(out);
		if (t->opt && t->opt->progress) {
			t->opt->progress(t->opt->progress_ctx, (double)(i + 1) / (double)n,
					 "re-timing");
		}
	}
	if (!status && t->map) {
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
	char **folder = NULL, **mended = NULL, *root = NULL, *said = NULL;
	size_t n = 0;
	struct usk_folder to = { 0 };
	bool force = t->opt && t->opt->force, whole = true;
	char *path = bare(t->path), *target = bare(out);
	enum usk_status status = usk_ctf_find(path, &folder, &n, t->err);
	if (!status) {
		status = usk_write_map(t->clocks, clock, path, t->opt, &t->map, t->notes, t->err);
	}
	struct stat st;
	/* Only what is nothing but traces itself is replaced by them. */
	if (!status && force && !stat(out, &st) && S_ISDIR(st.st_mode) && !usk_ctf_only(target)) {
		status = usk_fail(t->err, USK_EIO, 0,
				  "%s: holds more than CTF traces, so it is not replaced; name "
				  "another folder",
				  target);
	}
	status = status ? status : usk_folder_open(&to, target, force, t->err);
	for (size_t i = 0; i < n && !status && whole; i++) {
		whole = usk_ctf_is_readable(folder[i]);
	}
	if (!status && !whole) {
		status = usk_ctf_mend(folder, n, &root, &mended, &said, t->err);
	}
	for (size_t i = 0; i < n && mended && !status; i++) {
		char *below = usk_format("%s%s", to.temporary, folder[i] + strlen(path));
		status = usk_folder_make(below)
				 ? usk_bt_write(mended[i], below, t->clocks,
						t->map ? clock : USK_NO_CLOCK, t->err)
				 : usk_fail(t->err, USK_EIO, 0, "%s: %s", below, strerror(errno));
		free(below);
	}
	if (!status && !mended) {
		status = all(t, folder, n, path, to.temporary, clock);
	}
	if (!status && said) {
		usk_note(t->notes, "%s: %s", t->path, said);
	}
	status = status || !to.temporary ? status : usk_folder_commit(&to, t->err);
	usk_folder_close(&to);
	usk_ctf_mended_free(root, mended, mended ? n : 0);
	for (size_t i = 0; i < n; i++) {
		free(folder[i]);
	}
	free(folder);
	free(said);
	free(path);
	free(target);
	return status;
}
