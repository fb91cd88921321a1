/* SPDX-License-Identifier: MIT */
/*
 * mend.c - what is whole of a trace that libbabeltrace2 refuses
 *
 * In    folders of traces, of which a stream is cut short or damaged
 * Out   folders that it takes: the same metadata and streams, by links; of a damaged stream a copy
 *       of the packets before the first bad one, and of the last one what is there if it was cut
 * Why   one stream that was cut when the disk was full, or the machine died, costs the library the
 *       whole trace
 * Not   what is whole within a bad packet, or within the only one of a stream; metadata, without
 * which nothing can be read
 *
 * A packet begins as the first one does: with the magic number and the trace's UUID. How many of
 * them can be read is found by halving.
 */
#include "base/bytes.h"
#include "base/io.h"
#include "ctf/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK = 20 }; /* magic and UUID */

struct mend {
	const char *from; /* the trace's folder */
	char *to, *trial; /* folders that are being made: the mended one, one for a single stream */
	char **said;	  /* the first of all */
	char *stream, *copy; /* of the one it is about: where it is, and what is tried */
	size_t good;
};

static int is_stream(const struct dirent *e)
{
	return e->d_name[0] != '.' && strcmp(e->d_name, "metadata") != 0;
}

static bool link_to(const char *from, const char *folder, const char *name)
{
	char *target = usk_format("%s/%s", from, name), *real = realpath(target, NULL);
	char *path = usk_format("%s/%s", folder, name);
	bool linked = real && !symlink(real, path);
	USK_FREE(target, real, path);
	return linked;
}

static void say(struct mend *m, char *sentence)
{
	if (*m->said) {
		free(sentence);
	} else {
		*m->said = sentence;
	}
}

/* The places where packets begin; they belong to the caller. */
static uint64_t *find_packets(const char *path, size_t *n, struct usk_err *err)
{
	struct usk_input in;
	uint8_t mark[MARK];
	uint64_t *at = NULL;
	size_t cap = 0, used = 0;
	*n = 0;
	if (usk_input_open(&in, path, NULL, err)) {
		return NULL;
	}
	for (bool first = true; !usk_input_need(&in, used, 1 << 16, err) && in.have >= MARK;
	     first = false) {
		if (first) {
			memcpy(mark, in.data, MARK);
		}
		/* All but the last bytes, in which a mark may be cut off. */
		size_t end = in.have - MARK + 1;
		for (const uint8_t *p = in.data;
		     (p = memmem(p, in.have - (size_t)(p - in.data), mark, MARK)) != NULL; p++) {
			*USK_ADD(at, *n, cap) = in.at + (uint64_t)(p - in.data);
		}
		used = end;
	}
	usk_input_close(&in);
	return at;
}

/* Can the trial folder be read with the first n bytes of the stream? */
static bool try_part(const struct mend *m, uint64_t n)
{
	unlink(m->copy);
	return !usk_copy_file(m->stream, m->copy, n, NULL) && usk_ctf_is_readable(m->trial);
}

/* A size in a packet's header, in bits: as two sizes, of content and packet, follow each other. */
struct sizes {
	size_t at; /* of the first; 0: not found */
	bool swap;
};

static bool are_sizes(const uint8_t *p, bool swap, uint64_t packet)
{
	uint64_t content = usk_load64(p, swap);
	return usk_load64(p + 8, swap) == packet * 8 && content && content <= packet * 8;
}

/* Where the header tells of sizes, by packets whose size is known. */
static struct sizes find_sizes(int fd, const uint64_t *at, size_t n)
{
	enum { KNOWN = 8, HEAD = 256 };
	uint8_t head[KNOWN][HEAD];
	struct sizes s = { 0, false };
	size_t known = n < KNOWN ? n : KNOWN;
	for (size_t i = 0; i < known; i++) {
		if (pread(fd, head[i], HEAD, (off_t)at[i]) != HEAD) {
			return s;
		}
	}
	for (int swap = 0; swap < 2 && known; swap++) {
		for (size_t o = MARK; o + 16 <= HEAD; o++) {
			size_t agree = 0;
			while (agree < known &&
			       are_sizes(head[agree] + o, swap, at[agree + 1] - at[agree])) {
				agree++;
			}
			if (agree == known) {
				return (struct sizes){ o, swap };
			}
		}
	}
	return s;
}

/*
 * Of the last packet whose beginning is there, at[n]: where it should end. If it was cut, it is
 * said to be as long as what is there of it, and its events can be read up to the one that is cut;
 * if it is whole, what follows it goes, as too short for anything. 0: not known.
 */
static uint64_t shorten(const char *path, const uint64_t *at, size_t n, uint64_t size)
{
	uint64_t left = size - at[n], claimed = 0;
	uint8_t both[16];
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		return 0;
	}
	struct sizes s = find_sizes(fd, at, n);
	off_t place = (off_t)(at[n] + s.at);
	if (s.at && pread(fd, both, sizeof both, place) == sizeof both) {
		claimed = usk_load64(both + 8, s.swap) / 8;
		uint64_t content = usk_load64(both, s.swap) / 8;
		content = usk_swap64_if((content < left ? content : left) * 8, s.swap);
		uint64_t packet = usk_swap64_if(left * 8, s.swap);
		memcpy(both, &content, 8);
		memcpy(both + 8, &packet, 8);
		bool good = claimed > left ? pwrite(fd, both, sizeof both, place) == sizeof both
					   : !ftruncate(fd, (off_t)(at[n] + claimed));
		claimed = good ? claimed : 0;
	}
	close(fd);
	return claimed > UINT64_MAX - at[n] ? 0 : at[n] + claimed;
}

/* A copy of the stream in the trial folder, which ends in or just behind the packet at[n]. */
static bool try_cut(struct mend *m, const char *name, const uint64_t *at, size_t n, uint64_t size)
{
	unlink(m->copy);
	uint64_t end = usk_copy_file(m->stream, m->copy, UINT64_MAX, NULL)
			       ? 0
			       : shorten(m->copy, at, n, size);
	bool good = end > at[n] && usk_ctf_is_readable(m->trial);
	if (good && end > size) {
		say(m,
		    usk_format("stream %s is cut short: of its last packet, at byte %llu, the "
			       "last %llu bytes are missing",
			       name, (unsigned long long)at[n], (unsigned long long)(end - size)));
	} else if (good) {
		say(m, usk_format("stream %s is cut short at byte %llu: its last %llu bytes, which "
				  "are no whole packet, were skipped",
				  name, (unsigned long long)end, (unsigned long long)(size - end)));
	}
	return good;
}

/* A copy of what can be read of the stream, in the trial folder. */
static bool cut_stream(struct mend *m, const char *name, uint64_t size)
{
	size_t n = 0;
	uint64_t *at = find_packets(m->stream, &n, NULL);
	/* Packets before low can be read, those from high on cannot. */
	size_t low;
	USK_FIRST(low, 1, n, !try_part(m, at[low]));
	low--;
	bool good = low && low + 1 == n && try_cut(m, name, at, low, size);
	if (!good && low && try_part(m, at[low])) {
		good = true;
		say(m, usk_format("stream %s is cut short or damaged in the packet at byte %llu: "
				  "its last %llu bytes were skipped",
				  name, (unsigned long long)at[low],
				  (unsigned long long)(size - at[low])));
	} else if (!good) {
		say(m, usk_format("stream %s was skipped: its first packet cannot be read", name));
	}
	free(at);
	return good;
}

static void mend_stream(struct mend *m, const char *name)
{
	char *to = usk_format("%s/%s", m->to, name);
	struct stat st;
	m->stream = usk_format("%s/%s", m->from, name);
	m->copy = usk_format("%s/%s", m->trial, name);
	if (!stat(m->stream, &st) && S_ISREG(st.st_mode)) {
		if (link_to(m->from, m->trial, name) && usk_ctf_is_readable(m->trial)) {
			m->good += link_to(m->from, m->to, name);
		} else if (cut_stream(m, name, (uint64_t)st.st_size)) {
			m->good += !rename(m->copy, to);
		}
	}
	unlink(m->copy);
	USK_FREE(m->stream, m->copy, to);
}

static enum usk_status mend_folder(struct mend *m, struct usk_err *err)
{
	char *metadata = usk_format("%s/metadata", m->trial);
	struct dirent **entry = NULL;
	enum usk_status status = USK_OK;
	if (mkdir(m->to, 0700) || mkdir(m->trial, 0700) || !link_to(m->from, m->to, "metadata") ||
	    !link_to(m->from, m->trial, "metadata")) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", m->to, strerror(errno));
	} else if (usk_ctf_metadata(m->from, NULL, err)) {
		status = USK_EINPUT;
	} else if (!usk_ctf_is_readable(m->trial)) {
		status = usk_fail(
			err, USK_EINPUT, 0,
			"%s: libbabeltrace2 cannot read its metadata, without which nothing "
			"else can be read",
			m->from);
	}
	int n = status ? 0 : scandir(m->from, &entry, is_stream, alphasort);
	for (int i = 0; i < n; i++) {
		mend_stream(m, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	unlink(metadata);
	rmdir(m->trial);
	free(metadata);
	return status;
}

void usk_ctf_traces_free(struct ctf_traces *t)
{
	if (t->root) {
		usk_folder_remove(t->root);
		usk_output_forget(t->root);
	}
	for (size_t i = 0; i < t->n; i++) {
		USK_FREE(t->folder[i], t->mended ? t->mended[i] : NULL);
	}
	USK_FREE(t->folder, t->mended, t->root, t->said);
	memset(t, 0, sizeof *t);
}

enum usk_status usk_ctf_mend(struct ctf_traces *t, struct usk_err *err)
{
	const char *dir = getenv("TMPDIR");
	size_t whole = 0;
	while (whole < t->n && usk_ctf_is_readable(t->folder[whole])) {
		whole++;
	}
	if (whole == t->n) {
		return USK_OK;
	}
	t->root = usk_format("%s/unskew-XXXXXX", dir && *dir ? dir : "/tmp");
	usk_output_hold();
	bool made = mkdtemp(t->root);
	int error = errno;
	if (made) {
		usk_output_remember(t->root);
	}
	usk_output_release();
	if (!made) {
		enum usk_status status = usk_fail(err, USK_EIO, 0, "no temporary folder %s: %s",
						  t->root, strerror(error));
		free(t->root);
		t->root = NULL;
		return status;
	}
	t->mended = usk_alloc(t->n, sizeof *t->mended);
	struct mend m = { .said = &t->said, .trial = usk_format("%s/trial", t->root) };
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < t->n && !status; i++) {
		m.from = t->folder[i];
		m.to = t->mended[i] = usk_format("%s/%zu", t->root, i);
		status = mend_folder(&m, err);
	}
	free(m.trial);
	if (!status && !m.good) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: none of its streams can be read: %s",
				  t->folder[0], t->said ? t->said : "there is none");
	}
	return status;
}
