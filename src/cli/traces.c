/* SPDX-License-Identifier: MIT */
/*
 * traces.c - the files of a command
 *
 * In    operands [NAME=]PATH, CLOCKS, what is to be written
 * Out   traces, each under a name that tells it apart; a clocks.json; or a sentence where an output
 *       would replace what is read, or another output
 */
#include "units.h"
#include "base/io.h"
#include "write/write.h"
#include "read/part.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file is its device and inode, whatever it is called and however many names it has; one that is
 * not there yet is its folder and the last part of its path.
 */
struct identity {
	const char *path;
	bool known;
	mode_t mode; /* 0: it is not there */
	dev_t device;
	ino_t inode;
	const char *base; /* in that folder; "": the file is there */
};

static struct identity identify(const char *path, bool input)
{
	struct identity id = { .path = path, .base = "" };
	struct stat st;
	if (input && !strcmp(path, "-") ? !fstat(STDIN_FILENO, &st) : !stat(path, &st)) {
		id.known = true;
		id.mode = st.st_mode;
	} else {
		const char *slash = strrchr(path, '/');
		id.known = !stat(slash ? kept(usk_format("%.*s/", (int)(slash - path), path)) : ".",
				 &st);
		id.base = slash ? slash + 1 : path;
	}
	if (id.known) {
		id.device = st.st_dev;
		id.inode = st.st_ino;
	}
	return id;
}

static bool same(const struct identity *a, const struct identity *b)
{
	if (!a->known || !b->known) { /* in a folder that is made later */
		return a->path && b->path && !strcmp(a->path, b->path);
	}
	return a->device == b->device && a->inode == b->inode && !strcmp(a->base, b->base);
}

const char *path_tail(const char *path, size_t n)
{
	const char *p = path + strlen(path);
	while (p > path + 1 && p[-1] == '/') {
		p--; /* of a folder */
	}
	while (p > path && n) {
		p--;
		n -= *p == '/';
	}
	return *p == '/' ? p + 1 : p;
}

/* "x/run/a.pcap", "a": "run/a"; the same name if there is no folder more to tell. */
static const char *with_folder(const char *path, const char *name)
{
	size_t parts = 1;
	for (const char *p = name; *p; p++) {
		parts += *p == '/';
	}
	const char *longer = path_tail(path, parts + 1);
	return longer == path_tail(path, parts)
		       ? name
		       : kept(usk_format("%.*s/%s", (int)strcspn(longer, "/"), longer, name));
}

struct opened {
	const char *path, *name;
	bool named;
	struct identity file;
};

/* A pipe may be given twice. */
static bool lasts(const struct opened *o)
{
	return S_ISREG(o->file.mode) || S_ISDIR(o->file.mode);
}

struct called {
	const char *name;
	size_t operand;
};

/* Whose name was not chosen, and is that of another one, too. */
static bool *find_clashes(const struct opened *o, size_t n)
{
	struct called *c = usk_alloc(n, sizeof *c);
	bool *clash = usk_alloc(n, sizeof *clash);
	size_t names = 0;
	for (size_t i = 0; i < n; i++) {
		if (o[i].name) {
			c[names++] = (struct called){ o[i].name, i };
		}
	}
	usk_sort(c, names, sizeof *c, KEYS(BY(called, name)));
	for (size_t i = 1; i < names; i++) {
		if (!strcmp(c[i - 1].name, c[i].name)) {
			clash[c[i - 1].operand] = !o[c[i - 1].operand].named;
			clash[c[i].operand] = !o[c[i].operand].named;
		}
	}
	free(c);
	return clash;
}

/* Names by the file's base name that clash take one more parent folder, until none does. */
static void tell_apart(struct opened *o, size_t n)
{
	for (int round = 0; round < 16; round++) {
		bool *clash = find_clashes(o, n), any = false;
		for (size_t i = 0; i < n; i++) {
			if (clash[i]) {
				const char *longer = with_folder(o[i].path, o[i].name);
				any |= longer != o[i].name;
				o[i].name = longer;
			}
		}
		free(clash);
		if (!any) {
			return;
		}
	}
}

/* Without another one nothing is left to compare with. */
enum { LEAST_TRACES = 2 };

struct lasting {
	uint64_t device, inode;
	size_t operand;
};

static void check_files(const struct opened *o, size_t n)
{
	struct lasting *file = kept(usk_alloc(n, sizeof *file));
	size_t files = 0;
	for (size_t i = 0; i < n; i++) {
		if (lasts(&o[i])) {
			file[files++] = (struct lasting){ o[i].file.device, o[i].file.inode, i };
		}
	}
	usk_sort(file, files, sizeof *file,
		 KEYS(BY(lasting, device), BY(lasting, inode), BY(lasting, operand)));
	for (size_t i = 1; i < files; i++) {
		const struct opened *a = &o[file[i - 1].operand], *b = &o[file[i].operand];
		if (same(&a->file, &b->file)) {
			say_failed("%s and %s are the same file; give the trace of another machine",
				   a->path, b->path);
		}
	}
}

void operands_differ(const struct args *args, size_t first)
{
	size_t n = args_operands(args) - first;
	struct opened *o = kept(usk_alloc(n, sizeof *o));
	for (size_t i = 0; i < n; i++) {
		o[i].path = args_split_name(args_operand(args, first + i), &o[i].name);
		o[i].file = identify(o[i].path, false);
	}
	check_files(o, n);
}

struct usk_read_options read_options(const struct args *args)
{
	struct usk_read_options o;
	o.tick_rate = args_list(args, "tick-rate", &o.n_tick_rate);
	o.send = args_list(args, "send", &o.n_send);
	o.receive = args_list(args, "recv", &o.n_receive);
	o.know = args_list(args, "know", &o.n_know);
	return o;
}

enum usk_comments comments_option(const struct args *args)
{
	static const enum usk_comments word[] = { USK_COMMENTS_ALL, USK_COMMENTS_CHANGED,
						  USK_COMMENTS_NEEDED, USK_COMMENTS_NONE };
	return args_given(args, "comments") ? word[args_int(args, "comments")] : USK_COMMENTS_USUAL;
}

/* Tables of any kind name the clocks of their rows. */
static bool has_one_clock(const struct usk_trace *t)
{
	return usk_trace_class(t) == USK_TRACE_CAPTURE || !strcmp(usk_trace_kind(t), "ctf");
}

/* Those of OTF2 and profiles are called by their file, which has one name for each rank's run. */
static bool names_by_file(const struct usk_trace *t)
{
	return has_one_clock(t) || !strcmp(usk_trace_kind(t), "trace.dat") ||
	       (usk_trace_class(t) == USK_TRACE_COLLECTIVES &&
		strcmp(usk_trace_kind(t), "collectives") != 0);
}

/* Can this be none of the user's slips, and do enough others remain without it? */
static bool may_skip(const struct opened *o, const struct usk_err *err, size_t left)
{
	return lasts(o) && err->code != USK_EUSAGE && left > LEAST_TRACES;
}

/*
 * Opens what can be opened, and moves it to the front; *count is how many. A file among many that
 * is there and cannot be read is told and counted in *skipped; NULL: it is the end.
 */
static void open_each(const struct args *args, struct opened *o, const struct usk_read_options *opt,
		      struct usk_trace **trace, size_t *count, size_t *skipped)
{
	size_t all = *count, bad = 0;
	*count = 0;
	for (size_t i = 0; i < all; i++) {
		size_t to = *count;
		enum usk_status status =
			usk_trace_open_with(o[i].path, o[i].name, opt, &trace[to], &why);
		if (status && skipped && may_skip(&o[i], &why, all - bad)) {
			say(args, "unskew: note: %s; the file is skipped", why.msg);
			bad++;
			continue;
		}
		must(status);
		o[to] = o[i];
		if (!o[to].name && names_by_file(trace[to])) {
			o[to].name = kept(usk_strdup(usk_trace_name(trace[to])));
		}
		++*count;
	}
	if (skipped) {
		*skipped += bad;
	}
}

static struct usk_trace **open_all(const struct args *args, const char *const *operand,
				   size_t count, size_t *n, size_t *skipped)
{
	const struct usk_read_options opt = read_options(args);
	struct opened *o = kept(usk_alloc(count, sizeof *o));
	struct usk_trace **trace = kept(usk_alloc(count, sizeof(struct usk_trace *)));
	for (size_t i = 0; i < count; i++) {
		o[i].path = args_split_name(operand[i], &o[i].name);
		o[i].named = o[i].name != NULL;
		o[i].file = identify(o[i].path, false);
	}
	check_files(o, count);
	open_each(args, o, &opt, trace, &count, skipped);
	tell_apart(o, count);
	for (size_t i = 0; i < count; i++) {
		if (o[i].name && strcmp(o[i].name, usk_trace_name(trace[i]))) {
			usk_trace_close(trace[i]);
			must(usk_trace_open_with(o[i].path, o[i].name, &opt, &trace[i], &why));
		}
	}
	*n = count;
	return trace;
}

struct usk_trace **traces_open(const struct args *args, size_t first, size_t *n, size_t *skipped)
{
	size_t count = args_operands(args) - first;
	const char **operand = kept(usk_alloc(count, sizeof *operand));
	for (size_t i = 0; i < count; i++) {
		operand[i] = args_operand(args, first + i);
	}
	return open_all(args, operand, count, n, skipped);
}

struct usk_trace **traces_open_set(const struct args *args, const char *path, size_t *n)
{
	struct stat st;
	size_t found = 1;
	const char **in = !stat(path, &st) && S_ISDIR(st.st_mode) ? traces_in(path, &found) : &path;
	return open_all(args, in, found, n, NULL);
}

/* Two traces of one size, by the first byte that differs; 0: there is none. */
static int order_of_bytes(const char *a, const char *b)
{
	struct usk_input x, y;
	must(usk_input_open(&x, a, NULL, &why));
	must(usk_input_open(&y, b, NULL, &why));
	int order = (x.size > y.size) - (x.size < y.size);
	for (size_t n = 0; !order;) {
		enum { STEP = 1 << 16 };
		must(usk_input_need(&x, n, STEP, &why));
		must(usk_input_need(&y, n, STEP, &why));
		n = x.have < y.have ? x.have : y.have;
		if (n == 0) {
			break;
		}
		order = memcmp(x.data, y.data, n);
	}
	usk_input_close(&x);
	usk_input_close(&y);
	return order;
}

/* Captures of a host that was quiet until the next file began are alike, and tell nothing. */
static bool is_hollow(struct usk_trace *t)
{
	struct usk_record record;
	size_t n = 1;
	if (usk_trace_class(t) != USK_TRACE_CAPTURE) {
		return false;
	}
	bool hollow = !usk_trace_records(t, &record, 1, &n, NULL) && !n;
	must(usk_trace_rewind(t, &why));
	return hollow;
}

bool is_regular(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

struct content {
	const char *path;
	uint64_t size;
	size_t operand;
};

static int by_content(const void *a, const void *b)
{
	const struct content *x = a, *y = b;
	int order = x->size == y->size	? order_of_bytes(x->path, y->path)
		    : x->size < y->size ? -1
					: 1;
	return order ? order : x->operand < y->operand ? -1 : x->operand > y->operand;
}

void traces_tell(struct usk_trace *const *trace, size_t n)
{
	struct content *file = kept(usk_alloc(n, sizeof *file));
	size_t files = 0, kept_files = 0;
	for (size_t i = 0; i < n; i++) {
		const char *path = usk_trace_path(trace[i]);
		/* A pipe was read away already; only files can be looked at again. */
		if (is_regular(path)) {
			file[files++] = (struct content){ path, usk_trace_size(trace[i]), i };
		}
	}
	usk_sort(file, files, sizeof *file, KEYS(BY(content, size), BY(content, operand)));
	for (size_t i = 0; i < files; i++) {
		bool alone = (!i || file[i - 1].size != file[i].size) &&
			     (i + 1 == files || file[i + 1].size != file[i].size);
		if (!alone && !is_hollow(trace[file[i].operand])) {
			file[kept_files++] = file[i];
		}
	}
	qsort(file, kept_files, sizeof *file, by_content);
	for (size_t i = 1; i < kept_files; i++) {
		const struct content *a = &file[i - 1], *b = &file[i];
		if (a->size == b->size && !order_of_bytes(a->path, b->path)) {
			say_failed(
				"%s and %s hold the same bytes; give the trace of another machine",
				a->path, b->path);
		}
	}
}

bool clocks_file(const char *path)
{
	static const char mark[] = "\"unskew_clocks\"";
	struct usk_input in;
	/* A pipe can be read once only. */
	if (!is_regular(path) || usk_input_open(&in, path, NULL, NULL)) {
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

struct usk_clocks *clocks_read(const char *path)
{
	struct usk_clocks *c;
	must(usk_clocks_read(path, &c, &why));
	return c;
}

/* Of how many of its epochs are there knots? */
static size_t epochs_corrected(const struct usk_clock *k)
{
	size_t n = k->n_knots > 0;
	for (size_t i = 1; i < k->n_knots; i++) {
		n += k->knot[i].epoch != k->knot[i - 1].epoch;
	}
	return n;
}

int clocks_status(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		enum usk_quality q = k->quality;
		if ((q != USK_REFERENCE && q != USK_BOUNDED) ||
		    (k->n_set_backs && epochs_corrected(k) <= k->n_set_backs)) {
			return EXIT_PARTIAL;
		}
	}
	return EXIT_DONE;
}

/* Of an output, by what it shares the file with. */
static void refuse(const char *path, const char *other, bool read)
{
	if (read && strcmp(path, other)) {
		say_usage("%s is the same file as %s, which is an input; write to another", path,
			  other);
	} else if (read) {
		say_usage("%s: is an input, so it cannot be an output too; write to another", path);
	} else if (strcmp(path, other)) {
		say_usage("%s and %s are the same file: two outputs cannot share it", other, path);
	}
	say_usage("%s: two outputs cannot share it", path);
}

void files_apart(const char *const *in, size_t n_in, const char *const *out, size_t n_out)
{
	for (size_t i = 0; i < n_out; i++) {
		if (out[i] && (!*out[i] || !strcmp(out[i], "-"))) {
			say_usage("\"%s\" is not the name of a file; for standard output write "
				  "/dev/stdout",
				  out[i]);
		}
	}
	struct identity *id = kept(usk_alloc(n_in + n_out, sizeof *id));
	for (size_t i = 0; i < n_in + n_out; i++) {
		const char *path = i < n_in ? in[i] : out[i - n_in];
		if (path) {
			id[i] = identify(path, i < n_in);
		}
		for (size_t j = 0; i >= n_in && j < i; j++) {
			bool read = j < n_in;
			if (same(&id[i], &id[j]) && (!read || S_ISREG(id[i].mode))) {
				refuse(path, id[j].path, read);
			}
		}
	}
}

void operands_apart(const struct args *args)
{
	static const char *const written[] = { "output", "messages", "merge", "timeline" };
	const char *out[COUNT(written)];
	size_t n = args_operands(args);
	const char **in = kept(usk_alloc(n + 1, sizeof *in));
	for (size_t i = 0; i < n; i++) {
		const char *name;
		in[i] = args_split_name(args_operand(args, i), &name);
	}
	in[n] = args_has(args, "truth") ? args_string(args, "truth") : NULL;
	for (size_t i = 0; i < COUNT(written); i++) {
		out[i] = args_has(args, written[i]) ? args_string(args, written[i]) : NULL;
	}
	files_apart(in, n + 1, out, COUNT(out));
}

/* ---- parts --------------------------------------------------------------------------- */

void parts_tell_apart(struct usk_trace **trace, size_t n,
		      struct usk_trace *(*open)(void *ctx, size_t i, const char *name), void *ctx)
{
	struct opened *o = kept(usk_alloc(n, sizeof *o));
	for (size_t i = 0; i < n; i++) {
		o[i].path = kept(usk_strdup(usk_trace_path(trace[i])));
		o[i].named = usk_part_named(trace[i]);
		o[i].name = has_one_clock(trace[i]) || o[i].named
				    ? kept(usk_strdup(usk_trace_name(trace[i])))
				    : NULL;
	}
	tell_apart(o, n);
	for (size_t i = 0; i < n; i++) {
		if (o[i].name && strcmp(o[i].name, usk_trace_name(trace[i]))) {
			usk_trace_close(trace[i]);
			trace[i] = open(ctx, i, o[i].name);
		}
	}
}
