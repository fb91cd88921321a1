/* SPDX-License-Identifier: MIT */
#include "messages.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool start(void *ctx)
{
	struct messages *m = ctx;
	/* A failed flush is remembered by the stream; fseeko() flushes before it moves. */
	return !fseeko(m->spool, m->kept, SEEK_SET) && !ftruncate(fileno(m->spool), m->kept);
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct messages *m = ctx;
	return fwrite(msg, sizeof *msg, n, m->spool) == n;
}

static void keep(void *ctx)
{
	struct messages *m = ctx;
	m->kept = ftello(m->spool);
}

enum usk_status messages_open(struct messages *m, const char *path, bool force, struct usk_err *err)
{
	memset(m, 0, sizeof *m);
	m->out.fd = -1;
	m->spool = tmpfile();
	if (!m->spool) {
		return usk_fail(err, USK_EIO, 0, "no temporary file for the messages: %s",
				strerror(errno));
	}
	m->sink = (struct usk_sink){ .ctx = m, .start = start, .put = put, .keep = keep };
	return path ? usk_output_open(&m->out, path, force, err) : USK_OK;
}

enum usk_status messages_again(struct messages *m, const char *what, struct usk_err *err)
{
	/* rewind() alone would flush too, and forget that it failed. */
	bool spooled = !fflush(m->spool) && !ferror(m->spool);
	rewind(m->spool);
	return spooled ? USK_OK
		       : usk_fail(err, USK_EIO, 0,
				  "%s: not written: the temporary file for the messages failed; is "
				  "its disk full?",
				  what);
}

size_t messages_next(void *ctx, struct usk_msg *out, size_t cap)
{
	struct messages *m = ctx;
	return fread(out, sizeof *out, cap, m->spool);
}

const char *csv_text(const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		return text;
	}
	char *quoted = kept(usk_alloc(2 * strlen(text) + 3, 1)), *to = quoted;
	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"') {
			*to++ = '"';
		}
		*to++ = *text;
	}
	*to++ = '"';
	return quoted;
}

enum usk_status messages_commit(struct messages *m, const struct usk_clocks *clocks,
				struct usk_err *err)
{
	const char **name = usk_alloc(clocks->n_clocks, sizeof *name);
	for (size_t i = 0; i < clocks->n_clocks; i++) {
		name[i] = csv_text(clocks->clock[i].name);
	}
	usk_output_format(&m->out, "sender,receiver,sent_ns,received_ns,bytes\n");
	enum usk_status status = messages_again(m, m->out.path, err);
	struct usk_msg msg[1024];
	for (size_t n; !status && (n = messages_next(m, msg, COUNT(msg))) > 0;) {
		for (size_t i = 0; i < n; i++) {
			usk_output_format(&m->out, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRIu32 "\n",
					  name[msg[i].from], name[msg[i].to], msg[i].sent_ns,
					  msg[i].received_ns, msg[i].bytes);
		}
	}
	free(name);
	if (!status && ferror(m->spool)) {
		status = usk_fail(
			err, USK_EIO, 0,
			"%s: not written: the temporary file for the messages cannot be read again",
			m->out.path);
	}
	return status ? status : usk_output_commit(&m->out, err);
}

void messages_close(struct messages *m)
{
	if (m->spool) {
		fclose(m->spool);
	}
	if (m->out.path) {
		usk_output_close(&m->out);
	}
	memset(m, 0, sizeof *m);
}
