/* SPDX-License-Identifier: MIT */
/*
 * cmd_apply.c - re-time traces by a table of clocks that an earlier sync wrote
 *
 * In    clocks.json, traces
 * Out   each trace in its own format with corrected stamps, all captures merged into one, a
 *       timeline to look at
 * Why   the table can be kept, sent and applied again; estimating it needs all traces, applying
 *       it one at a time
 * Not   clocks that are not bounded, unless asked for: they stay as recorded, with status 3; of
 *       spans, whose files have many clocks, without being asked
 */
#include "cmd.h"
#include "messages.h"
#include "units.h"
#include "read/trace.h"
#include "write/viewers.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct job {
	const char *path, *out;
	const char *name; /* of NAME=, or NULL */
	uint32_t clock;	  /* USK_NO_CLOCK: not found, or a table with clocks of its own */
};

/* By NAME=, by path, else "folder/base", "base" and both without the suffix. */
static uint32_t find_clock(const struct usk_clocks *c, const struct job *j)
{
	uint32_t found = usk_clocks_find(c, j->name, j->path, NULL);
	for (size_t n = 2; n > 0 && found == USK_NO_CLOCK && !j->name; n--) {
		char *name = kept(usk_strdup(path_tail(j->path, n)));
		found = usk_clocks_find(c, NULL, NULL, name);
		/* "a.pcap.gz" has two. */
		for (int suffix = 0; suffix < 2 && found == USK_NO_CLOCK; suffix++) {
			char *dot = strrchr(name, '.');
			if (dot && !strchr(dot, '/')) {
				*dot = 0;
				found = usk_clocks_find(c, NULL, NULL, name);
			}
		}
	}
	return found;
}

static bool bounded(const struct usk_clocks *c, uint32_t clock)
{
	enum usk_quality q = clock < c->n_clocks ? c->clock[clock].quality : USK_BOUNDED;
	return q == USK_BOUNDED || q == USK_REFERENCE;
}

/* Of a table, which may name any clock, all are asked. */
static bool all_bounded(const struct usk_clocks *c, const struct job *j)
{
	bool all = bounded(c, j->clock);
	for (uint32_t i = 0; j->clock == USK_NO_CLOCK && i < c->n_clocks; i++) {
		all = all && bounded(c, i);
	}
	return all;
}

/* Names in the folder: the file's own, with as many parents as tell the traces apart. */
static void name_outputs(struct job *job, size_t n, const char *folder)
{
	size_t length = strlen(folder);
	while (length > 1 && folder[length - 1] == '/') {
		length--;
	}
	for (size_t i = 0; i < n; i++) {
		size_t parts = 1;
		for (size_t k = 0; k < n; k++) {
			while (k != i && parts < 9 &&
			       !strcmp(path_tail(job[i].path, parts),
				       path_tail(job[k].path, parts))) {
				parts++;
			}
		}
		const char *name = path_tail(job[i].path, parts);
		if (parts == 9 || strstr(name, "..") || !*name) {
			say_usage("%s: gives no file name to use in the folder %s; apply it alone "
				  "with -o FILE",
				  job[i].path, folder);
		}
		job[i].out = kept(usk_format("%.*s/%s", (int)length, folder, name));
	}
}

/* Makes the folders of a path; returns the first that was not there, or NULL. */
static enum usk_status make_folders(const char *path, char **made)
{
	char *p = kept(usk_strdup(path));
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (!mkdir(p, 0777)) {
			*made = *made ? *made : kept(usk_strdup(p));
		} else if (errno != EEXIST) {
			return usk_fail(&why, USK_EIO, 0, "%s: %s", p, strerror(errno));
		}
		*slash = '/';
	}
	return USK_OK;
}

/* A trace in OTF2 is three things, which a folder holds; it is called as the anchor would be. */
static void name_folders(struct job *job, size_t n)
{
	static const char suffix[] = ".otf2";
	for (size_t i = 0; i < n; i++) {
		const char *out = job[i].out;
		const size_t length = out ? strlen(out) : 0;
		if (length > sizeof suffix && !strcmp(out + length - (sizeof suffix - 1), suffix)) {
			job[i].out =
				kept(usk_format("%.*s", (int)(length - (sizeof suffix - 1)), out));
		}
	}
}

static void plan(const struct args *args, const struct usk_clocks *c, struct job *job, size_t n)
{
	const char *out = args_string(args, "output");
	struct stat st;
	bool folder = out && (n > 1 || out[strlen(out) - 1] == '/' ||
			      (!stat(out, &st) && S_ISDIR(st.st_mode)));
	for (size_t i = 0; i < n; i++) {
		job[i].path = args_split_name(args_operand(args, i + 1), &job[i].name);
		job[i].clock = find_clock(c, &job[i]);
		if (job[i].name && job[i].clock == USK_NO_CLOCK) {
			say_failed("%s: the table has no clock of that name", job[i].name);
		}
		if (!bounded(c, job[i].clock) && !args_flag(args, "allow-unbounded")) {
			const struct usk_clock *k = &c->clock[job[i].clock];
			say_failed("%s: clock %s is %s, so its stamps cannot be corrected; "
				   "--allow-unbounded leaves them as recorded",
				   job[i].path, k->name, usk_quality_name(k->quality));
		}
		job[i].out = folder ? NULL : out;
	}
	if (folder) {
		name_outputs(job, n, out);
	}
	name_folders(job, n);
}

/* Of an output; NULL: none is asked for. */
static const char *path_of(const struct args *args, const char *option)
{
	return args_has(args, option) ? args_string(args, option) : NULL;
}

static void outputs_apart(const struct args *args, const struct job *job, size_t n)
{
	const char **in = kept(usk_alloc(n + 1, sizeof *in));
	const char **out = kept(usk_alloc(n + 3, sizeof *out));
	for (size_t i = 0; i < n; i++) {
		in[i] = job[i].path;
		out[i] = job[i].out;
	}
	in[n] = args_operand(args, 0);
	out[n] = path_of(args, "merge");
	out[n + 1] = path_of(args, "timeline");
	out[n + 2] = path_of(args, "perfetto-manifest");
	files_apart(in, n + 1, out, n + 3);
}

/* These three stop at why they cannot go on. */

static enum usk_status retime_all(const struct args *args, const struct usk_clocks *c,
				  const struct job *job, size_t n, const struct share *share,
				  const struct usk_write_options *opt, struct usk_notes *notes)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		char *made = NULL;
		if (share->mine && !share->mine[i]) {
			continue;
		}
		if (share->begins) {
			share->begins(job[i].path);
		}
		if (n > 1 || strcmp(job[i].out, args_string(args, "output")) != 0) {
			status = make_folders(job[i].out, &made);
		}
		status = status ? status
				: usk_apply(job[i].path, job[i].clock, c, job[i].out, opt, notes,
					    &why);
		if (status && made) {
			rmdir(made);
		} else if (!status) {
			say(args, "Wrote %s.", job[i].out);
		}
	}
	return status;
}

/* What takes all traces at once: one capture, a timeline. */
static enum usk_status write_together(const struct args *args, const struct usk_clocks *c,
				      const struct job *job, size_t n,
				      const struct usk_write_options *opt, struct usk_notes *notes)
{
	static const char *const option[] = { "merge", "timeline" };
	enum usk_status status = USK_OK;
	struct usk_trace **trace = traces_open(args, 1, &n, NULL);
	uint32_t *clock = kept(usk_alloc(n, sizeof *clock));
	for (size_t i = 0; i < n; i++) {
		clock[i] = job[i].clock;
	}
	for (size_t i = 0; i < COUNT(option) && !status; i++) {
		const char *path = args_string(args, option[i]);
		if (path) {
			status = (i ? timeline_match_and_draw : usk_merge)(trace, clock, n, c, path,
									   opt, notes, &why);
		}
		if (path && !status) {
			say(args, "Wrote %s.", path);
		}
	}
	return status;
}

/* "file": stamps of the files' own, which have no clock's name. */
static const char *const perfetto_clocks[] = { "REALTIME",	"REALTIME_COARSE",
					       "MONOTONIC",	"MONOTONIC_COARSE",
					       "MONOTONIC_RAW", "BOOTTIME",
					       "file",		NULL };

static const char *perfetto_clock(size_t i)
{
	return perfetto_clocks[i];
}

static enum usk_status write_manifest(const struct args *args, const struct usk_clocks *c,
				      const struct job *job, size_t n, struct usk_notes *notes)
{
	const char *path = args_string(args, "perfetto-manifest");
	const char *clock = perfetto_clocks[args_int(args, "perfetto-clock")];
	const struct usk_manifest_options o = {
		.clock = strcmp(clock, "file") ? clock : NULL,
		.residual_ns =
			args_given(args, "residual") ? args_int(args, "residual") : INT64_MAX,
		.force = args_flag(args, "force"),
	};
	struct usk_manifest_file *file = kept(usk_alloc(n, sizeof *file));
	for (size_t i = 0; i < n; i++) {
		file[i] = (struct usk_manifest_file){ job[i].path, job[i].clock };
		if (access(job[i].path, F_OK)) {
			return usk_fail(&why, USK_EIO, 0, "%s: %s", job[i].path, strerror(errno));
		}
	}
	enum usk_status status = usk_perfetto_manifest(file, n, c, path, &o, notes, &why);
	if (!status) {
		say(args, "Wrote %s.", path);
	}
	return status;
}

/* Is there an output, and can each appear whole? */
static void outputs_named(const struct args *args)
{
	static const char *const outputs[] = { "output", "merge", "timeline", "perfetto-manifest" };
	size_t n = 0;
	for (size_t i = 0; i < COUNT(outputs); i++) {
		const char *path = path_of(args, outputs[i]);
		n += path != NULL;
		if (path && (!*path || !strcmp(path, "-"))) {
			say_usage("apply needs the name of a file: its output appears whole or not "
				  "at all");
		}
	}
	if (!n && !args_has(args, "merge")) {
		say_usage("apply needs an output: -o FILE or -o FOLDER");
	}
	if (!n) {
		say_usage("apply needs an output: -o FILE, -o FOLDER, --merge FILE, --timeline "
			  "FILE or --perfetto-manifest FILE");
	}
}

static bool wants(const struct args *args, const char *option)
{
	return path_of(args, option) != NULL;
}

int apply_of(const struct args *args, const struct share *share)
{
	static struct usk_notes notes;
	static struct usk_clocks *c;
	outputs_named(args);
	c = clocks_read(share->clocks);
	size_t n = args_operands(args) - 1;
	struct job *job = kept(usk_alloc(n, sizeof *job));
	const struct usk_read_options read = read_options(args);
	const struct usk_write_options opt = { .force = args_flag(args, "force"),
					       .allow_unbounded =
						       args_flag(args, "allow-unbounded"),
					       .read = &read,
					       .residual_ns = args_int(args, "residual"),
					       .comments = comments_option(args),
					       .progress = share->progress };
	progress_start(args);
	plan(args, c, job, n);
	outputs_apart(args, job, n);
	enum usk_status done = USK_OK;
	if (wants(args, "output")) {
		done = retime_all(args, c, job, n, share, &opt, &notes);
	}
	if (!done && (wants(args, "merge") || wants(args, "timeline"))) {
		done = write_together(args, c, job, n, &opt, &notes);
	}
	if (!done && wants(args, "perfetto-manifest")) {
		done = write_manifest(args, c, job, n, &notes);
	}
	progress_end();
	int status = done ? say_error(&why) : EXIT_DONE;
	say_notes(args, notes.note, notes.n);
	for (size_t i = 0; i < n; i++) {
		status = status || all_bounded(c, &job[i]) ? status : EXIT_PARTIAL;
	}
	status = status || !notes.partial ? status : EXIT_PARTIAL;
	return status;
}

static int apply_run(const struct args *args)
{
	const struct share all = { .clocks = args_operand(args, 0), .progress = progress_show };
	return apply_of(args, &all);
}

const struct option_group options_retimed = {
	"Output",
	{
		{ "output", "the re-timed trace; for several traces a folder, made if missing",
		  PATH("OUT"), .letter = 'o' },
		{ "comments",
		  "which packets of a pcapng get their recorded stamp in a comment: all, those "
		  "whose stamp changed, or none; needed: those whose stamp does not follow from "
		  "the corrected one and CLOCKS; otherwise changed in OUT, needed in --merge",
		  CHOICE("all|changed|needed|none") },
		{ "residual",
		  "CTF: if another clock in the metadata gives every stamp to within this, change "
		  "only the metadata and keep the data as they are",
		  DURATION("0", "0", NULL) },
		{ "allow-unbounded",
		  "also write traces of clocks without bounds; their stamps stay as recorded",
		  FLAG },
	},
};

static const struct option_group apply_output = {
	"Output of all traces together",
	{
		{ "merge", "all captures as one pcapng in corrected order, an interface per clock",
		  PATH("FILE") },
		{ "timeline",
		  "all events as Chrome trace JSON, for Perfetto or chrome://tracing: a process "
		  "per clock, messages as arrows",
		  PATH("FILE") },
		{ "perfetto-manifest",
		  "the manifest with which Perfetto opens an archive of these traces as one, each "
		  "as a machine with its offset; TRACE may be in any format that Perfetto reads",
		  PATH("FILE") },
		{ "perfetto-clock",
		  "the clock in these files that CLOCKS corrects; \"file\" if their format names "
		  "none",
		  CHOICE("CLOCK"), .choice = perfetto_clock, .initial = "REALTIME" },
	},
};

static const char *formats(void)
{
	const char *all = kept(usk_formats(USK_FORMATS_WRITTEN));
	return kept(usk_format("These can be re-timed: %s.", all));
}

const struct command cmd_apply = {
	.name = "apply",
	.run = apply_run,
	TRACES("CLOCKS [NAME=]TRACE...", 2, 2),
	.example = {
		{ "one trace on the reference's clock, in its own format", "apply clocks.json server.pcap -o server-corrected.pcap" },
		{ "several, into a folder", "apply clocks.json server.pcap app.csv spans.jsonl -o corrected/" },
		{ "hosts and messages on one timeline, for ui.perfetto.dev", "apply clocks.json client.pcap server.pcap --timeline timeline.json.gz" },
	},
	.brief = { "output", "merge", "timeline", "allow-unbounded", "force" },
	.help = "re-time traces by clocks.json, each in its own format, or merge them",
	.formats = formats,
	.more = "A trace's clock is found by NAME=, else by the paths in CLOCKS, else by the "
		"file's name. pcap is written as pcap with ns stamps. pcapng keeps its other "
		"blocks and options; a packet whose stamp changed gets the recorded one in a comment, "
		"and the description and a comment of its interface say by how much stamps were "
		"moved. pcap has room for neither, so keep what was recorded. A "
		"table gets the recorded stamps in new columns, sent_raw_ns beside sent_ns. Spans "
		"get them, and their bounds, as attributes; each is corrected by its own clock, and those of clocks without bounds stay as recorded, "
		"with a note. Events of profiles in Chrome's JSON (PyTorch's Kineto, Perfetto) get "
		"them as arguments: ts and dur as they stood there, bounds in ns; "
		"baseTimeNanoseconds, displayTimeUnit and all else stay as they are. A trace in "
		"OTF2 becomes a folder with its events as they were and clock offset records, by "
		"which readers of the format correct them. Of a pcapng, a table or spans that say so themselves a note tells "
		"that they were corrected before, and are once more. "
		"Records stay in the order of their file; --merge sorts them, and gives "
		"few packets a comment, so that the file is no larger: with CLOCKS, a recorded stamp "
		"is in the comment, or is the first that becomes the one that is there. A name that ends in "
		".gz or .zst has the output compressed. A CTF trace keeps its data and gets "
		"another clock in its metadata if that is exact to within --residual; otherwise it "
		"is written anew in ns.\n\n"
		"A timeline has a process per clock with the messages that it sent and received "
		"and its other events, an arrow for every message between the traces given, all "
		"events of CTF traces by name, and as counters the error bound and how much the "
		"offset has changed since the start. Its zero is in otherData; each event keeps "
		"its recorded stamp.\n\n"
		"Traces that Perfetto reads and unskew does not stay as they are: the manifest "
		"gives one offset for each, which corrects no drift. A note says how large the "
		"remaining error is; if it exceeds a --residual that is given, that is an error. "
		"Put manifest and traces into one archive: tar cf all.tar perfetto_manifest.json "
		"host1.pftrace host2.pftrace.",
	.group = { &options_retimed, &apply_output, &options_read, &options_force, &options_common },
};
