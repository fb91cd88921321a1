/* SPDX-License-Identifier: MIT */
/*
 * trace.c - open a trace, find out what it is, hand its rows to the stages
 *
 * In    a path or bytes
 * Out   an opened trace: records of a capture, or messages of a table
 * Why   the table readers[] is the only place that knows which formats exist
 * Not   what packets mean (packet.c)
 */
#include "read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct reader *const readers[] = {
	&usk_reader_pcapng,
	&usk_reader_pcap,
#ifdef USK_HAVE_LIBPCAP
	&usk_reader_libpcap,
#endif
	&usk_reader_messages,
};

const struct usk_reader_info *usk_reader(size_t i)
{
	return i < COUNT(readers) ? &readers[i]->info : NULL;
}

/* "dir/client.pcap" -> "client"; only suffixes that say what a file is are taken off. */
static char *base_name(const char *path)
{
	static const char *const suffixes[] = {
		".pcap", ".pcapng", ".cap", ".ntar", ".dmp", ".csv"
	};
	const char *slash = strrchr(path, '/');
	char *name = usk_strdup(slash && slash[1] ? slash + 1 : path);
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

static enum usk_status begin(struct usk_trace *t, const char *name, struct usk_trace **out,
			     struct usk_err *err)
{
	t->name = name ? usk_strdup(name) : base_name(t->path);
	enum usk_status status = usk_input_need(&t->in, 0, 4096, err);
	if (status) {
		usk_fail_in(err, "%s", t->path);
		goto fail;
	}
	if (!t->in.have) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: is empty", t->path);
		goto fail;
	}
	for (size_t i = 0; i < COUNT(readers) && !t->reader; i++) {
		if (readers[i]->sniff(t->in.data, t->in.have)) {
			t->reader = readers[i];
		}
	}
	if (!t->reader) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "%s: not a trace that unskew reads: neither a capture (pcap, "
				  "pcapng) nor a CSV message table with the columns "
				  "sender,receiver,sent_ns,received_ns",
				  t->path);
		goto fail;
	}
	status = t->reader->start(t, err);
	if (!status) {
		*out = t;
		return USK_OK;
	}
fail:
	usk_trace_close(t);
	return status;
}

enum usk_status usk_trace_open(const char *path, const char *name, struct usk_trace **out,
			       struct usk_err *err)
{
	struct usk_input in;
	enum usk_status status = usk_input_open(&in, path, err);
	if (status) {
		return status;
	}
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	t->in = in;
	t->path = usk_strdup(path);
	return begin(t, name, out, err);
}

enum usk_status usk_trace_open_memory(const void *data, size_t size, const char *name,
				      struct usk_trace **out, struct usk_err *err)
{
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	usk_input_memory(&t->in, data, size);
	t->path = usk_strdup(name ? name : "memory");
	return begin(t, name, out, err);
}

enum usk_status usk_trace_again(const struct usk_trace *from, struct usk_trace **out,
				struct usk_err *err)
{
#ifdef USK_HAVE_LIBPCAP
	if (from->reader == &usk_reader_libpcap) {
		return usk_fail(err, USK_EUSAGE, 0, "%s: libpcap cannot read it twice at a time",
				from->path);
	}
#endif
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	enum usk_status status = usk_input_again(&t->in, &from->in, err);
	if (status) {
		usk_fail_in(err, "%s", from->path);
		free(t);
		return status;
	}
	t->path = usk_strdup(from->path);
	return begin(t, from->name, out, err);
}

static void forget_ifaces(struct usk_trace *t)
{
	for (size_t i = 0; i < t->n_ifaces; i++) {
		free(t->iface[i].name);
		free(t->iface[i].addr);
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
	forget_ifaces(t);
	free(t->iface);
	for (size_t i = 0; i < t->n_clocks; i++) {
		free(t->clock_name[i]);
	}
	free(t->clock_name);
	free(t->damage);
	free(t->path);
	free(t->name);
	free(t);
}

enum usk_status usk_trace_rewind(struct usk_trace *t, struct usk_err *err)
{
	enum usk_status status = usk_input_seek(&t->in, 0, err);
	if (status) {
		return status;
	}
	free(t->damage);
	t->damage = NULL;
	t->done = false;
	t->used = 0;
	t->handed = 0;
	return t->reader->start(t, err);
}

enum usk_status usk_trace_records(struct usk_trace *t, struct usk_record *out, size_t cap,
				  size_t *n, struct usk_err *err)
{
	*n = 0;
	if (!t->reader->records) {
		return usk_fail(err, USK_EUSAGE, 0, "%s: is a table, not a capture", t->path);
	}
	if (t->done) {
		return USK_OK;
	}
	enum usk_status status = t->reader->records(t, out, cap, n, err);
	t->handed += *n;
	return status;
}

enum usk_status usk_trace_messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				   struct usk_err *err)
{
	*n = 0;
	if (!t->reader->messages) {
		return usk_fail(err, USK_EUSAGE, 0, "%s: is a capture, not a table", t->path);
	}
	if (t->done) {
		return USK_OK;
	}
	enum usk_status status = t->reader->messages(t, out, cap, n, err);
	t->handed += *n;
	return status;
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
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	free(t->damage);
	t->damage = usk_format("%s: %s", t->path, text);
	t->done = true;
}

enum usk_status usk_trace_stamp_range(const struct usk_trace *t, uint64_t at, struct usk_err *err)
{
	return usk_fail(err, USK_ERANGE, at,
			"%s: the stamp at %llu is more than 2^62 ns (146 years) from zero: not a "
			"time that unskew can correct",
			t->path, (unsigned long long)at);
}

enum usk_status usk_trace_depth(struct usk_trace *t, uint32_t *depth, struct usk_err *err)
{
	/* Tags differ from network to network, hardly within one: the first packets tell. */
	enum { PEEK = 256 };
	struct usk_record record[PEEK];
	size_t n = 0;
	*depth = UINT32_MAX;
	enum usk_status status = usk_trace_records(t, record, PEEK, &n, err);
	for (size_t i = 0; i < n; i++) {
		const struct usk_iface *f = &t->iface[record[i].iface];
		uint32_t head = usk_packet_link_bytes(&record[i], f->link_type);
		uint32_t kept = f->snap_length > head ? f->snap_length - head : 0;
		*depth = head != UINT32_MAX && kept < *depth ? kept : *depth;
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
	return t->reader->info.name;
}

enum usk_trace_class usk_trace_class(const struct usk_trace *t)
{
	return t->reader->info.class_;
}

uint64_t usk_trace_size(const struct usk_trace *t)
{
	return t->in.size;
}

uint64_t usk_trace_pos(const struct usk_trace *t)
{
	return t->in.at + t->used;
}

uint64_t usk_trace_events(const struct usk_trace *t)
{
	return t->handed;
}

const struct usk_iface *usk_trace_ifaces(const struct usk_trace *t, size_t *n)
{
	*n = t->n_ifaces;
	return t->iface;
}

size_t usk_trace_clocks(const struct usk_trace *t)
{
	return t->n_clocks;
}

const char *usk_trace_clock_name(const struct usk_trace *t, size_t i)
{
	return t->clock_name[i];
}

const char *usk_trace_damage(const struct usk_trace *t)
{
	return t->damage;
}
