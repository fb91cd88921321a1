/* SPDX-License-Identifier: MIT */
/*
 * trace.c - open a trace, find out what it is, hand its rows to the stages
 *
 * In    a path or bytes
 * Out   an opened trace: records of a capture, or messages of a table
 * Not   which formats there are (readers.c), what packets mean (packet.c)
 */
#include "read/part.h"
#include "read/read.h"
#include "base/io.h"
#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

/* "dir/client.pcap" -> "client"; only suffixes that say what a file is are taken off. */
static char *base_name(const char *path)
{
	static const char *const suffixes[] = { ".pcap", ".pcapng", ".cap",   ".ntar",
						".dmp",	 ".csv",    ".jsonl", ".ndjson",
						".json", ".otf2",   ".dat" };
	char *whole = usk_strdup(path);
	for (size_t end = strlen(whole); end > 1 && whole[end - 1] == '/'; end--) {
		whole[end - 1] = 0; /* of a folder */
	}
	const char *slash = strrchr(whole, '/');
	char *name = usk_strdup(slash && slash[1] ? slash + 1 : whole);
	free(whole);
	name[usk_packing_stem(name)] = 0;
	size_t n = strlen(name);
	for (size_t i = 0; i < COUNT(suffixes); i++) {
		size_t m = strlen(suffixes[i]);
		if (n > m && !strcmp(name + n - m, suffixes[i])) {
			name[n - m] = 0;
			break;
		}
	}
	return name;
}

/* Metadata, packed or as text, or a stream. */
static bool is_part_of_ctf(const uint8_t *d, size_t n)
{
	static const char text[] = "/* CTF 1.";
	if (n >= 4) {
		uint32_t magic = usk_load32(d, false), swapped = usk_load32(d, true);
		return magic == 0xc1fc1fc1 || swapped == 0xc1fc1fc1 || magic == 0x75d11d57 ||
		       swapped == 0x75d11d57 || !memcmp(d, text, n < 9 ? n : 9);
	}
	return false;
}

bool usk_is_otf2(const uint8_t *d, size_t n)
{
	return n >= 7 && d[0] == 3 && !memcmp(d + 2, "OTF2", 5);
}

bool usk_is_tracecmd(const uint8_t *d, size_t n)
{
	static const char magic[] = "\x17\x08\x44tracing";
	return n >= sizeof magic - 1 && !memcmp(d, magic, sizeof magic - 1);
}

bool usk_has_text(const uint8_t *d, size_t n, const char *text)
{
	return memmem(d, n, text, strlen(text)) != NULL;
}

/* Lines of NCCL's Inspector plugin: doc/collectives.md says what they lack. */
static bool is_inspector(const uint8_t *d, size_t n)
{
	return n && *d == '{' && usk_has_text(d, n, "\"inspector_output_format_version\"");
}

/* Endpoints stand at its annotations, v2's at the span. */
bool usk_zipkin_v1_sniff(const uint8_t *d, size_t n)
{
	return n && (*d == '[' || *d == '{') && usk_has_text(d, n, "\"traceId\"") &&
	       usk_has_text(d, n, "\"annotations\"") && usk_has_text(d, n, "\"endpoint\"") &&
	       !usk_has_text(d, n, "\"localEndpoint\"");
}

/* What is known and no reader takes. */
static const struct {
	bool (*sniff)(const uint8_t *d, size_t n);
	const char *why;
} unread[] = {
	{ usk_part_sniff, "is a part that unskew part made: give it to unskew join" },
	{ is_part_of_ctf, "is a file of a CTF trace: give the folder that contains it" },
	{ usk_is_otf2, "is an OTF2 trace, but this unskew was built without libotf2" },
	{ usk_is_tracecmd, "is a trace.dat, but this unskew was built without libtracecmd" },
	{ usk_zipkin_v1_sniff, "has spans of Zipkin's API v1, which are not read: a Zipkin server "
			       "that is sent them (POST "
			       "/api/v1/spans) gives them as v2 (GET /api/v2/traces)" },
	{ is_inspector,
	  "is of NCCL's Inspector, whose lines are not read: they have durations, and with "
	  "NCCL_INSPECTOR_DUMP_VERBOSE=1 when a thread of the host saw a kernel begin, which may "
	  "be "
	  "after others' have ended; a profile of PyTorch (Kineto) has the kernels' own stamps" },
};

static const char *why_not_read(const uint8_t *d, size_t n)
{
	size_t i = 0;
	while (i < COUNT(unread) && !unread[i].sniff(d, n)) {
		i++;
	}
	return i < COUNT(unread) ? unread[i].why : NULL;
}

/* Of a table, or what may be one, it says what is needed. A sentence has room for one of the lists. */
static enum usk_status unknown(const struct usk_trace *t, struct usk_err *err)
{
	char *found = usk_table_found(t->in.data, t->in.have);
	const bool table = *found;
	char *known = usk_formats(table ? USK_FORMATS_OF_TABLES : USK_FORMATS_READ);
	enum usk_status status =
		usk_fail(err, USK_EINPUT, 0, "%s: unknown format%s: unskew reads %s%s", t->path,
			 found, known,
			 table ? "; `unskew help sync` has other formats"
			       : "; `editcap -F pcapng OLD NEW` converts captures of other forms");
	free(found);
	free(known);
	return status;
}

static enum usk_status begin(struct usk_trace *t, const char *name, struct usk_trace **out,
			     struct usk_err *err)
{
	t->name = name ? usk_strdup(name) : base_name(t->path);
	enum usk_status status = t->reader ? USK_OK : usk_input_need(&t->in, 0, 4096, err);
	if (status) {
		usk_fail_in(status, err, "%s", t->path);
		goto fail;
	}
	if (!t->reader && !t->in.have) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: %s", t->path,
				  t->in.lost ? t->in.lost : "is empty");
		goto fail;
	}
	t->reader = t->reader ? t->reader : usk_reader_of(t->in.data, t->in.have);
	const char *known = t->reader ? NULL : why_not_read(t->in.data, t->in.have);
	if (known) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: %s", t->path, known);
		goto fail;
	}
	if (!t->reader) {
		status = unknown(t, err);
		goto fail;
	}
	t->class_ = t->reader->info.class_;
	status = t->reader->start(t, err);
	if (!status) {
		*out = t;
		return USK_OK;
	}
	if (status == USK_EINPUT && t->in.lost) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: %s", t->path, t->in.lost);
	}
fail:
	usk_trace_close(t);
	return status;
}

enum usk_status usk_trace_open_with(const char *path, const char *name,
				    const struct usk_read_options *opt, struct usk_trace **out,
				    struct usk_err *err)
{
	struct usk_input in = { .fd = -1 };
	bool folder = usk_is_folder(path);
	enum usk_status status = usk_read_options_check(opt, err);
	if (!status && folder && !usk_reader_of_folders()) {
		status = usk_fail(
			err, USK_EINPUT, 0,
			"%s: is a folder; CTF traces are folders, but this unskew was built "
			"without libbabeltrace2",
			path);
	}
	if (!status && !folder) {
		status = usk_input_open(&in, path, usk_sniff_trace, err);
	}
	if (status) {
		return status;
	}
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	t->opt = opt ? *opt : (struct usk_read_options){ 0 };
	t->in = in;
	t->reader = folder ? usk_reader_of_folders() : NULL;
	t->path = usk_strdup(path);
	return begin(t, name, out, err);
}

enum usk_status usk_trace_open(const char *path, const char *name, struct usk_trace **out,
			       struct usk_err *err)
{
	return usk_trace_open_with(path, name, NULL, out, err);
}

enum usk_status usk_trace_open_memory_with(const void *data, size_t size, const char *name,
					   const struct usk_read_options *opt,
					   struct usk_trace **out, struct usk_err *err)
{
	enum usk_status status = usk_read_options_check(opt, err);
	if (status) {
		return status;
	}
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	t->opt = opt ? *opt : (struct usk_read_options){ 0 };
	usk_input_memory(&t->in, data, size);
	t->path = usk_strdup(name ? name : "memory");
	return begin(t, name, out, err);
}

enum usk_status usk_trace_open_memory(const void *data, size_t size, const char *name,
				      struct usk_trace **out, struct usk_err *err)
{
	return usk_trace_open_memory_with(data, size, name, NULL, out, err);
}

static enum usk_status of_input(const struct usk_input *in, const char *path, const char *name,
				const struct usk_read_options *opt, struct usk_trace **out,
				struct usk_err *err)
{
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	t->opt = opt ? *opt : (struct usk_read_options){ 0 };
	enum usk_status status = usk_input_again(&t->in, in, err);
	if (status) {
		usk_fail_in(status, err, "%s", path);
		free(t);
		return status;
	}
	t->path = usk_strdup(path);
	return begin(t, name, out, err);
}

enum usk_status usk_trace_again(const struct usk_trace *from, struct usk_trace **out,
				struct usk_err *err)
{
	if (usk_trace_is_part(from)) {
		return usk_part_again(from, out, err);
	}
	if (from->reader->folder) {
		return usk_trace_open_with(from->path, from->name, &from->opt, out, err);
	}
	return of_input(&from->in, from->path, from->name, &from->opt, out, err);
}

enum usk_status usk_trace_of(const struct usk_input *in, const char *path, struct usk_trace **out,
			     struct usk_err *err)
{
	return of_input(in, path, NULL, NULL, out, err);
}

void usk_trace_forget_ifaces(struct usk_trace *t)
{
	for (size_t i = 0; i < t->n_ifaces; i++) {
		USK_FREE(t->iface[i].name, t->iface[i].addr);
	}
	t->n_ifaces = 0;
}

void usk_trace_close(struct usk_trace *t)
{
	if (!t) {
		return;
	}
	if (t->reader && t->reader->stop) {
		t->reader->stop(t);
	}
	usk_input_close(&t->in);
	usk_trace_forget_ifaces(t);
	free(t->iface);
	for (size_t i = 0; i < t->n_clocks; i++) {
		free(t->clock[i].name);
	}
	free(t->clock);
	usk_index_free(&t->numbers);
	usk_texts_free(&t->process);
	usk_texts_free(&t->operation);
	USK_FREE(t->damage, t->remark, t->path, t->name, t);
}

enum usk_status usk_trace_rewind(struct usk_trace *t, struct usk_err *err)
{
	usk_input_rewind(&t->in);
	USK_FREE(t->damage, t->remark);
	t->damage = t->remark = NULL;
	t->lost_bytes = t->lost_places = 0;
	t->done = false;
	t->used = 0;
	t->handed = 0;
	return t->reader->start(t, err);
}

void usk_trace_call(struct usk_trace *t, const char *name)
{
	free(t->name);
	t->name = usk_strdup(name);
}

/* Is the trace of that class? */
static enum usk_status expect(const struct usk_trace *t, enum usk_trace_class class,
			      const char *or_else, size_t *n, struct usk_err *err)
{
	*n = 0;
	return t->class_ == class ? USK_OK
				  : usk_fail(err, USK_EUSAGE, 0, "%s: %s", t->path, or_else);
}

/* At the end: where packed bytes broke off, that is the cause of what else was lost. */
static enum usk_status handed(struct usk_trace *t, const size_t *n, enum usk_status status)
{
	t->handed += *n;
	if (t->done && t->in.lost) {
		usk_trace_damaged(t, "%s", t->in.lost);
	}
	return status;
}

enum usk_status usk_trace_records(struct usk_trace *t, struct usk_record *out, size_t cap,
				  size_t *n, struct usk_err *err)
{
	enum usk_status status = expect(t, USK_TRACE_CAPTURE, "is a table, not a capture", n, err);
	return status || t->done ? status : handed(t, n, t->reader->records(t, out, cap, n, err));
}

enum usk_status usk_trace_messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				   struct usk_err *err)
{
	enum usk_status status = expect(t, USK_TRACE_TABLE, "is not a table of messages", n, err);
	return status || t->done ? status : handed(t, n, t->reader->messages(t, out, cap, n, err));
}

enum usk_status usk_trace_sides(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	enum usk_status status = expect(t, USK_TRACE_EVENTS, "is not a trace of events", n, err);
	return status || t->done ? status : handed(t, n, t->reader->events(t, out, cap, n, err));
}

enum usk_status usk_trace_spans(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	enum usk_status status = expect(t, USK_TRACE_SPANS, "is not a trace of spans", n, err);
	return status || t->done ? status : handed(t, n, t->reader->spans(t, out, cap, n, err));
}

enum usk_status usk_trace_collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				      size_t *n, struct usk_err *err)
{
	enum usk_status status =
		expect(t, USK_TRACE_COLLECTIVES, "is not a trace of collectives", n, err);
	return status || t->done ? status
				 : handed(t, n, t->reader->collectives(t, out, cap, n, err));
}

struct usk_iface *usk_trace_add_iface(struct usk_trace *t)
{
	t->iface = usk_room(t->iface, t->n_ifaces, &t->cap_ifaces, sizeof *t->iface);
	struct usk_iface *i = &t->iface[t->n_ifaces++];
	memset(i, 0, sizeof *i);
	return i;
}

void usk_trace_damaged(struct usk_trace *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = usk_vformat(fmt, ap);
	va_end(ap);
	char *before = t->lost_places ? t->damage : NULL;
	if (!before) {
		free(t->damage);
	}
	t->damage =
		before ? usk_format("%s; %s", before, text) : usk_format("%s: %s", t->path, text);
	free(before);
	free(text);
	t->done = true;
}

void usk_trace_remarked(struct usk_trace *t, const char *text)
{
	free(t->remark);
	t->remark = usk_format("%s: %s", t->path, text);
}

void usk_trace_finished(struct usk_trace *t, const char *damage, const char *remark)
{
	t->done = true;
	if (damage) {
		usk_trace_damaged(t, "%s", damage);
	}
	if (remark) {
		usk_trace_remarked(t, remark);
	}
}

static bool was_read(struct usk_recent *x, const struct usk_record *r, int64_t last_ns)
{
	enum { ENOUGH = 8 };
	/* Stamps alone say nothing of one that is equal to the last: clocks are coarse. */
	if (r->time_ns == last_ns && !x->again) {
		return false;
	}
	const uint64_t what = usk_recent_what(r), n = COUNT(x->seen);
	int older = 0;
	x->again = false;
	/* Records are nearly in order, and most that fall do so by a few places. */
	for (uint64_t k = 0; k < n && k < x->n && older < ENOUGH && !x->again; k++) {
		int64_t time_ns = x->seen[(x->n - 1 - k) % n].time_ns;
		older += time_ns < r->time_ns;
		x->again = time_ns == r->time_ns && x->seen[(x->n - 1 - k) % n].what == what;
	}
	return x->again;
}

bool usk_recent_again(struct usk_recent *x, const struct usk_record *r,
		      const struct usk_record *next, int64_t last_ns, int64_t high_ns)
{
	return was_read(x, r, last_ns) ||
	       (next && next->time_ns <= high_ns && was_read(x, next, last_ns));
}

void usk_trace_lost(struct usk_trace *t, uint64_t at, uint64_t bytes)
{
	t->lost_at = t->lost_places ? t->lost_at : at;
	t->lost_bytes += bytes;
	t->lost_places += !t->lost_places || at != t->lost_end;
	t->lost_end = at + bytes;
	free(t->damage);
	t->damage = usk_format(
		"%s: damaged: %llu bytes in %llu place%s, the first at byte %llu, were skipped",
		t->path, (unsigned long long)t->lost_bytes, (unsigned long long)t->lost_places,
		t->lost_places == 1 ? "" : "s", (unsigned long long)t->lost_at);
}

enum usk_status usk_trace_stamp_range(const struct usk_trace *t, uint64_t at, struct usk_err *err)
{
	return usk_fail(err, USK_ERANGE, at,
			"%s: the stamp at %llu is more than 2^62 ns (146 years) from zero: not a "
			"time that unskew can correct",
			t->path, (unsigned long long)at);
}

enum usk_status usk_trace_depth(struct usk_trace *t, struct usk_depth *depth, struct usk_err *err)
{
	/* Tags differ from network to network, hardly within one: the first packets tell. */
	enum { PEEK = 256 };
	struct usk_record record[PEEK];
	size_t n = 0;
	enum usk_status status = usk_trace_records(t, record, PEEK, &n, err);
	for (size_t i = 0; i < n; i++) {
		const struct usk_iface *f = &t->iface[record[i].iface];
		usk_packet_depth(&record[i], f->link_type, f->snap_length, depth);
	}
	return status ? status : usk_trace_rewind(t, err);
}

const char *usk_trace_path(const struct usk_trace *t)
{
	return t->path;
}

const char *usk_trace_name(const struct usk_trace *t)
{
	return t->name;
}

const char *usk_trace_kind(const struct usk_trace *t)
{
	return t->kind ? t->kind : t->reader->info.name;
}

enum usk_trace_class usk_trace_class(const struct usk_trace *t)
{
	return t->class_;
}

const struct usk_read_options *usk_trace_options(const struct usk_trace *t)
{
	return &t->opt;
}

uint64_t usk_trace_size(const struct usk_trace *t)
{
	uint64_t size = usk_input_bytes(&t->in), pos;
	if (t->reader->place) {
		t->reader->place(t, &size, &pos);
	}
	return size;
}

uint64_t usk_trace_pos(const struct usk_trace *t)
{
	uint64_t size, pos = usk_input_pos(&t->in, t->used);
	if (t->reader->place) {
		t->reader->place(t, &size, &pos);
	}
	return pos;
}

const struct usk_extent *usk_trace_extent(const struct usk_trace *t)
{
	return t->extent.events ? &t->extent : NULL;
}

uint64_t usk_trace_events(const struct usk_trace *t)
{
	return t->extent.events ? t->extent.events : t->handed;
}

const struct usk_iface *usk_trace_ifaces(const struct usk_trace *t, size_t *n)
{
	*n = t->n_ifaces;
	return t->iface;
}

const char *usk_trace_damage(const struct usk_trace *t)
{
	return t->damage;
}

const char *usk_trace_remark(const struct usk_trace *t)
{
	return t->remark;
}
