/* SPDX-License-Identifier: MIT */
/*
 * manifest.c - how Perfetto is to put traces of several machines on one time
 *
 * In    names of trace files and the clocks that stamped them
 * Out   perfetto_manifest, version 1: a machine and an offset per file
 * Why   traces that unskew cannot rewrite (Perfetto's own, systrace, Chrome JSON) need not be: an
 *       archive of them and this opens in Perfetto as one
 * Not   drift: the format has one offset for each file. How far that is off is told, and written
 *       beside it
 */
#include "write/fields.h"
#include "write/write.h"
#include "write/viewers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The one offset that is off by least, and by how much. */
struct constant {
	usk_i128 offset_ns, residual_ns;
};

static bool bounded(const struct usk_clock *k)
{
	return (k->quality == USK_REFERENCE || k->quality == USK_BOUNDED) && k->n_knots;
}

static struct constant constant_of(const struct usk_clock *k)
{
	usk_i128 least = k->knot[0].offset_ns, most = least;
	for (size_t i = 1; i < k->n_knots; i++) {
		int64_t o = k->knot[i].offset_ns;
		least = o < least ? o : least;
		most = o > most ? o : most;
	}
	usk_i128 middle = usk_floor_div(least + most, 2);
	return (struct constant){ middle, most - middle };
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Where the file's time counts from: of those of its island, the reference's, else the first. */
static size_t anchor_of(const struct usk_clocks *c, const struct usk_manifest_file *file, size_t n,
			uint32_t clock)
{
	size_t first = n;
	uint32_t reference = c->clock[clock].reference;
	for (size_t i = 0; i < n; i++) {
		if (file[i].clock == reference) {
			return i;
		}
		if (first == n && c->clock[file[i].clock].reference == reference) {
			first = i;
		}
	}
	return first;
}

static enum usk_status check(const struct usk_clocks *c, const struct usk_manifest_file *file,
			     size_t n, struct usk_err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (file[i].clock >= c->n_clocks) {
			return usk_fail(
				err, USK_EINPUT, 0,
				"%s: it is unknown which clock stamped it; say so with NAME=%s",
				file[i].path, file[i].path);
		}
		const struct usk_clock *k = &c->clock[file[i].clock];
		if (!bounded(k)) {
			return usk_fail(err, USK_EINPUT, 0,
					"%s: clock %s is %s, so it has no offset", file[i].path,
					k->name, usk_quality_name(k->quality));
		}
		if (k->knot[k->n_knots - 1].epoch) {
			return usk_fail(err, USK_EINPUT, 0,
					"%s: clock %s was stepped backward while it recorded, so "
					"one offset cannot correct it; use --timeline",
					file[i].path, k->name);
		}
		for (size_t j = 0; j < i; j++) {
			if (!strcmp(base(file[i].path), base(file[j].path))) {
				return usk_fail(err, USK_EUSAGE, 0,
						"%s and %s would have one name in an archive; "
						"rename one",
						file[j].path, file[i].path);
			}
		}
	}
	return USK_OK;
}

/* "clocks" of a file, or NULL: it is where time counts from, or nothing ties it to others. */
static json_t *clocks_of(const struct usk_clocks *c, const struct usk_manifest_file *file, size_t n,
			 size_t i, const struct usk_manifest_options *o, int64_t *residual_ns)
{
	size_t anchor = anchor_of(c, file, n, file[i].clock);
	*residual_ns = 0;
	if (anchor == i) {
		return NULL;
	}
	struct constant own = constant_of(&c->clock[file[i].clock]);
	struct constant other = constant_of(&c->clock[file[anchor].clock]);
	*residual_ns = usk_saturate(own.residual_ns + other.residual_ns);
	return json_pack("{s:s*, s:{s:o, s:s*}, s:I}", "clock", o->clock, "sync_to", "file",
			 usk_json_text(base(file[anchor].path)), "clock", o->clock, "offset_ns",
			 (json_int_t)usk_saturate(own.offset_ns - other.offset_ns));
}

static enum usk_status add_files(const struct usk_clocks *c, const struct usk_manifest_file *file,
				 size_t n, const struct usk_manifest_options *o, json_t *files,
				 json_t *attributes, struct usk_notes *notes, struct usk_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = c->clock[file[i].clock].name;
		int64_t residual_ns;
		json_t *clocks = clocks_of(c, file, n, i, o, &residual_ns);
		json_array_append_new(files,
				      json_pack("{s:o, s:{s:o}, s:O*}", "path",
						usk_json_text(base(file[i].path)), "machine",
						"name", usk_json_text(name), "clocks", clocks));
		json_decref(clocks);
		if (clocks) {
			char *shown = usk_shown(name);
			char *key = usk_format("unskew.residual_ns.%s", shown);
			json_object_set_new(attributes, key, json_integer(residual_ns));
			free(key);
			free(shown);
		} else if (c->clock[file[i].clock].reference != c->clock[file[0].clock].reference) {
			usk_note(notes,
				 "%s: no chain of messages connects clock %s with that of %s: they "
				 "cannot be put on one time",
				 file[i].path, name, file[0].path);
		}
		if (residual_ns > o->residual_ns) {
			return usk_fail(err, USK_EINPUT, 0,
					"%s: one offset for clock %s is off by up to %" PRId64
					" ns, more than --residual; --timeline is exact",
					file[i].path, name, residual_ns);
		}
		if (residual_ns) {
			usk_note(notes,
				 "%s: one offset for the whole trace is wrong by up to %" PRId64
				 " ns, in addition to the error bound",
				 file[i].path, residual_ns);
		}
	}
	return USK_OK;
}

enum usk_status usk_perfetto_manifest(const struct usk_manifest_file *file, size_t n,
				      const struct usk_clocks *c, const char *path,
				      const struct usk_manifest_options *o, struct usk_notes *notes,
				      struct usk_err *err)
{
	static const struct usk_manifest_options defaults = { "REALTIME", INT64_MAX, false };
	enum usk_status status = check(c, file, n, err);
	if (status) {
		return status;
	}
	o = o ? o : &defaults;
	json_t *files = json_array(),
	       *attributes = json_pack("{s:s}", "unskew.version", USK_VERSION);
	json_t *time = NULL;
	if (o->clock && n) {
		size_t anchor = anchor_of(c, file, n, file[0].clock);
		time = json_pack("{s:s, s:o}", "clock", o->clock, "file",
				 usk_json_text(base(file[anchor].path)));
	}
	json_t *root = json_pack("{s:{s:i, s:o*, s:o, s:o}}", "perfetto_manifest", "version", 1,
				 "trace_time", time, "files", files, "attributes", attributes);
	status = add_files(c, file, n, o, files, attributes, notes, err);
	struct usk_output out;
	if (!status && !(status = usk_output_open(&out, path, o->force, err))) {
		/* Perfetto knows it by its first bytes, {"perfetto_manifest". */
		char *json = json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		usk_json_had(json ? root : NULL);
		usk_output_write(&out, json, strlen(json));
		usk_output_write(&out, "\n", 1);
		status = usk_output_commit(&out, err);
		usk_output_close(&out);
		free(json);
	}
	json_decref(root);
	return status;
}
