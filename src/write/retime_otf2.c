/* SPDX-License-Identifier: MIT */
/*
 * retime_otf2.c - an OTF2 trace again, with offsets of its clocks
 *
 * In    the anchor file of a trace, beside it its definitions and its folder
 * Out   a folder with all three; files of events are the same bytes, and local definitions say what is to be
 *       added to stamps, which the format's library does
 * Why   events are 99 % of a trace, and the format has a record for just this
 * Not   clocks that were set back: two offsets for one stamp. Recorded offsets stay in N.def.recorded
 */
#include "base/child.h"
#include "otf/offsets.h"
#include "write/retime.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char suffix[] = ".otf2";

struct job {
	struct retime *t;
	struct otf2_offsets to;
	const char *name; /* of the trace */
};

/* What the child has to say. */
struct report {
	enum usk_status status;
	struct usk_err err;
	uint64_t corrected, left; /* processes */
	char first_left[96];
};

static struct report said; /* the child's own */

/* ---- in the child ---------------------------------------------------------------------------- */

/* As the reader calls it: two of one name are told apart by number. */
static uint32_t find_clock(const struct job *j, const char *process, size_t number, size_t alike)
{
	const char *own = *process ? process : "process";
	char *plain = usk_format("%s/%s", j->name, own);
	char *numbered = usk_format("%s (%lu)", plain, (unsigned long)number);
	uint32_t found = alike ? usk_clocks_find(j->t->clocks, numbered, NULL, NULL) : USK_NO_CLOCK;
	found = found == USK_NO_CLOCK ? usk_clocks_find(j->t->clocks, plain, NULL, NULL) : found;
	free(plain);
	free(numbered);
	return found;
}

static usk_i128 scaled(usk_i128 x, uint64_t by, uint64_t down)
{
	return usk_floor_div(x * by + down / 2, down);
}

/* In ticks, at a knot. */
static enum usk_status offset_at(const struct usk_map *map, const struct usk_knot *k, uint64_t hz,
				 struct otf2_offset *out, struct usk_err *err)
{
	const uint64_t second = 1000000000;
	struct usk_stamp at;
	usk_i128 tick = usk_floor_div((usk_i128)k->local_ns * hz, second);
	tick = tick < 0 ? 0 : tick;
	const int64_t local_ns = (int64_t)usk_floor_div(tick * second, hz);
	enum usk_status status = usk_map_at(map, local_ns, &at, err);
	/* What is added in ns, not the sum: where it is 0, it is 0 in ticks of any length. */
	const usk_i128 add = status ? 0 : scaled((usk_i128)at.reference_ns - local_ns, hz, second);
	if (!status && tick + add < 0) {
		status = usk_fail(err, USK_ERANGE, 0,
				  "stamps would be before the reference's zero, which its format "
				  "cannot hold; another reference may help");
	}
	out->time = (uint64_t)tick;
	out->offset = (int64_t)add;
	out->deviation = !status && at.lo_ns != USK_NONE && at.hi_ns != USK_NONE
				 ? ((double)at.hi_ns - (double)at.lo_ns) / 2 * (double)hz / 1e9
				 : 0;
	return status;
}

static enum usk_status offsets_of(const struct job *j, const struct usk_clock *k, uint64_t hz,
				  struct otf2_offset **out, size_t *n, struct usk_err *err)
{
	struct usk_map *map = usk_map_new(k, j->t->clocks->max_skew_e12);
	enum usk_status status = USK_OK;
	*out = usk_alloc(k->n_knots, sizeof **out);
	for (size_t i = 0; i < k->n_knots && !status; i++) {
		struct otf2_offset o;
		status = offset_at(map, &k->knot[i], hz, &o, err);
		*n -= *n && (*out)[*n - 1].time == o.time;
		(*out)[(*n)++] = o;
	}
	usk_map_free(map);
	return status;
}

static enum usk_status of(void *ctx, const char *process, size_t number, size_t alike, uint64_t hz,
			  struct otf2_offset **out, size_t *n, struct usk_err *err)
{
	const struct job *j = ctx;
	const struct usk_clocks *c = j->t->clocks;
	const uint32_t clock = find_clock(j, process, number, alike);
	const struct usk_clock *k = clock == USK_NO_CLOCK ? NULL : &c->clock[clock];
	bool known =
		k && (k->quality == USK_BOUNDED || k->quality == USK_REFERENCE) && k->n_knots > 1;
	*n = 0;
	if (known && k->n_set_backs) {
		return usk_fail(err, USK_EINPUT, 0,
				"clock %s was set back, so one stamp has two offsets, which the "
				"format cannot say",
				k->name);
	}
	if (!known) {
		said.left++;
		if (said.left == 1) {
			snprintf(said.first_left, sizeof said.first_left, "%s/%s", j->name,
				 process);
		}
		return USK_OK;
	}
	said.corrected++;
	return offsets_of(j, k, hz, out, n, err);
}

static void work(void *ctx, FILE *out)
{
	enum { MOST_S = 60, MOST_BYTES = 256 << 20 };
	struct job *j = ctx;
	usk_child_limit(MOST_S, MOST_BYTES);
	said.status = usk_otf2_offsets(&j->to, j, &said.err);
	fwrite(&said, sizeof said, 1, out);
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum usk_status make(const char *folder, struct usk_err *err)
{
	return mkdir(folder, 0777) ? usk_fail(err, USK_EIO, 0, "%s: %s", folder, strerror(errno))
				   : USK_OK;
}

static enum usk_status copy(const char *from, const char *to, struct usk_err *err)
{
	struct stat st;
	if (stat(from, &st) || !S_ISREG(st.st_mode)) {
		return usk_fail(err, USK_EINPUT, 0, "%s: is missing, or no file", from);
	}
	return usk_copy_file(from, to, (uint64_t)st.st_size, err);
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);
	return n >= m && !strcmp(text + n - m, end);
}

/* All files of a folder, hidden ones passed over. */
static enum usk_status each_file(const char *from, const char *to,
				 enum usk_status (*put)(const char *in, const char *to,
							const char *name, struct usk_err *err),
				 struct usk_err *err)
{
	DIR *d = opendir(from);
	enum usk_status status =
		d ? USK_OK : usk_fail(err, USK_EIO, 0, "%s: %s", from, strerror(errno));
	for (const struct dirent *e; !status && (e = readdir(d)) != NULL;) {
		char *in = usk_format("%s/%s", from, e->d_name);
		status = e->d_name[0] == '.' ? USK_OK : put(in, to, e->d_name, err);
		free(in);
	}
	if (d) {
		closedir(d);
	}
	return status;
}

/* Local definitions by another name: others come in their place. */
static enum usk_status copy_into(const char *in, const char *to, const char *name,
				 struct usk_err *err)
{
	char *out = usk_format("%s/%s%s", to, name, ends_with(name, ".def") ? ".recorded" : "");
	enum usk_status status = copy(in, out, err);
	free(out);
	return status;
}

static enum usk_status move_definitions(const char *in, const char *to, const char *name,
					struct usk_err *err)
{
	char *out = usk_format("%s/%s", to, name);
	enum usk_status status = USK_OK;
	if (ends_with(name, ".def") && rename(in, out)) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", out, strerror(errno));
	}
	free(out);
	return status;
}

static enum usk_status write_offsets(struct job *j, const char *to)
{
	struct retime *t = j->t;
	struct usk_child child;
	struct report r;
	enum usk_status status = make(j->to.folder, t->err);
	status = status ? status : usk_child_start(&child, work, j, t->err);
	if (status) {
		return status;
	}
	bool whole = usk_child_read(&child, &r, sizeof r);
	const char *how = usk_child_end(&child);
	if (!whole) {
		return usk_fail(t->err, USK_EINPUT, 0, "libotf2 died of it (%s)", how);
	}
	if (r.status) {
		*t->err = r.err;
		return r.status;
	}
	if (!r.corrected) {
		return usk_fail(t->err, USK_EINPUT, 0,
				"the table of clocks corrects none of its processes: is it of this "
				"trace? The first is clock %s",
				r.first_left);
	}
	if (r.left && t->notes) {
		usk_note(t->notes,
			 "%s: %llu of %llu processes stay as recorded, as the table of clocks "
			 "has no estimate of them, the first being %s",
			 t->path, (unsigned long long)r.left,
			 (unsigned long long)(r.left + r.corrected), r.first_left);
		t->notes->partial = true;
	}
	char *made = usk_format("%s/new", j->to.folder);
	status = each_file(made, to, move_definitions, t->err);
	usk_folder_remove(j->to.folder);
	free(made);
	return status;
}

/* stem: the anchor's path without its suffix. */
static enum usk_status fill(struct job *j, const char *stem, const char *folder)
{
	struct usk_err *err = j->t->err;
	char *base = usk_format("%s/%s", folder, j->name), *scratch = usk_format("%s/new", folder);
	char *anchor = usk_format("%s%s", base, suffix), *definitions = usk_format("%s.def", base);
	char *recorded = usk_format("%s.def", stem);
	j->to = (struct otf2_offsets){ j->t->path, scratch, of };
	enum usk_status status = copy(j->t->path, anchor, err);
	status = status ? status : copy(recorded, definitions, err);
	status = status ? status : make(base, err);
	status = status ? status : each_file(stem, base, copy_into, err);
	status = status ? status : write_offsets(j, base);
	USK_FREE(base, scratch, anchor, definitions, recorded);
	return status;
}

enum usk_status usk_retime_otf2(struct retime *t, const char *out)
{
	if (!ends_with(t->path, suffix) || t->in.packed) {
		return usk_fail(
			t->err, USK_EINPUT, 0,
			"%s: is the anchor of an OTF2 trace, which needs the folder and the "
			"definitions beside it: give the path of NAME.otf2",
			t->path);
	}
	char *stem = usk_format("%.*s", (int)(strlen(t->path) - strlen(suffix)), t->path);
	const char *slash = strrchr(stem, '/');
	struct job j = { .t = t, .name = slash ? slash + 1 : stem };
	struct usk_folder f;
	enum usk_status status = usk_folder_open(&f, out, t->opt && t->opt->force, t->err);
	if (!status) {
		status = fill(&j, stem, f.temporary);
		usk_fail_in(status, t->err, "%s", t->path);
		status = status ? status : usk_folder_commit(&f, t->err);
		usk_folder_close(&f);
	}
	free(stem);
	return status;
}
