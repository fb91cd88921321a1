/* SPDX-License-Identifier: MIT */
/*
 * ctf_mend.c - what is whole of a trace that libbabeltrace2 refuses
 *
 * In    folders of traces, of which a stream is cut short or damaged
 * Out   folders that it takes: the same metadata and streams, by links; of a damaged stream a copy
 *       of the packets before the first bad one
 * Why   one stream that was cut when the disk was full, or the machine died, costs the library the
 *       whole trace
 * Not   what is whole within the bad packet; metadata, without which nothing can be read
 *
 * A packet begins as the first one does: with the magic number and the trace's UUID. How many of
 * them can be read is found by halving.
 */
#include "read/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MARK = 20 }; /* magic and UUID */

struct mend {
	const char *from; /* the trace's folder */
	char *to, *trial; /* folders that are being made: the mended one, one for a single stream */
	char *said;
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
	free(target);
	free(real);
	free(path);
	return linked;
}

static void say(struct mend *m, char *sentence)
{
	if (m->said) {
		free(sentence);
	} else {
		m->said = sentence;
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
	if (usk_input_open(&in, path, err)) {
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
			at = usk_room(at, *n, &cap, sizeof *at);
			at[(*n)++] = in.at + (uint64_t)(p - in.data);
		}
		used = end;
	}
	usk_input_close(&in);
	return at;
}

/* The first n bytes of a file. */
static bool copy_part(const char *from, const char *to, uint64_t n)
{
	struct usk_input in;
	struct usk_output out;
	if (usk_input_open(&in, from, NULL)) {
		return false;
	}
	bool good = !usk_output_open(&out, to, true, NULL);
	if (good) {
		for (size_t used = 0; n && good; n -= used) {
			good = !usk_input_need(&in, used, 1, NULL) && in.have;
			used = good && in.have > n ? (size_t)n : in.have;
			usk_output_write(&out, in.data, good ? used : 0);
		}
		good = good && !usk_output_commit(&out, NULL);
		usk_output_close(&out);
	}
	usk_input_close(&in);
	return good;
}

/* Can the trial folder be read with the first n bytes of this stream? */
static bool try_part(struct mend *m, const char *name, uint64_t n)
{
	char *from = usk_format("%s/%s", m->from, name), *to = usk_format("%s/%s", m->trial, name);
	unlink(to);
	bool good = copy_part(from, to, n) && usk_ctf_is_readable(m->trial);
	free(from);
	free(to);
	return good;
}

static void mend_stream(struct mend *m, const char *name)
{
	char *path = usk_format("%s/%s", m->from, name);
	char *trial = usk_format("%s/%s", m->trial, name);
	struct stat st;
	size_t n = 0;
	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		goto out;
	}
	if (link_to(m->from, m->trial, name) && usk_ctf_is_readable(m->trial)) {
		m->good += link_to(m->from, m->to, name);
		goto out;
	}
	uint64_t *at = find_packets(path, &n, NULL);
	/* Packets before low can be read, those from high on cannot. */
	size_t low = 0, high = n;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;
		if (try_part(m, name, at[middle])) {
			low = middle;
		} else {
			high = middle;
		}
	}
	if (low && try_part(m, name, at[low])) {
		char *to = usk_format("%s/%s", m->to, name);
		m->good += !rename(trial, to);
		free(to);
		say(m,
		    usk_format("stream %s is cut short or damaged in the packet at byte %llu: its "
			       "last %llu bytes are left out",
			       name, (unsigned long long)at[low],
			       (unsigned long long)((uint64_t)st.st_size - at[low])));
	} else {
		say(m, usk_format("stream %s is left out: its first packet cannot be read", name));
	}
	free(at);
out:
	unlink(trial);
	free(trial);
	free(path);
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

void usk_ctf_mended_free(char *root, char **folder, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dirent **entry = NULL;
		int entries = folder[i] ? scandir(folder[i], &entry, NULL, NULL) : 0;
		for (int k = 0; k < entries; k++) {
			char *path = usk_format("%s/%s", folder[i], entry[k]->d_name);
			unlink(path);
			free(path);
			free(entry[k]);
		}
		free(entry);
		if (folder[i]) {
			rmdir(folder[i]);
		}
		free(folder[i]);
	}
	if (root) {
		rmdir(root);
	}
	free(root);
	free(folder);
}

enum usk_status usk_ctf_mend(char *const *folder, size_t n, char **root, char ***mended,
			     char **said, struct usk_err *err)
{
	const char *dir = getenv("TMPDIR");
	char *made = usk_format("%s/unskew-XXXXXX", dir && *dir ? dir : "/tmp");
	if (!mkdtemp(made)) {
		enum usk_status status = usk_fail(err, USK_EIO, 0, "no temporary folder %s: %s",
						  made, strerror(errno));
		free(made);
		return status;
	}
	char **to = usk_alloc(n, sizeof *to);
	char *sentence = NULL;
	size_t good = 0;
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		struct mend m = { .from = folder[i] };
		m.to = to[i] = usk_format("%s/%zu", made, i);
		m.trial = usk_format("%s/trial", made);
		status = mend_folder(&m, err);
		good += m.good;
		if (!sentence) {
			sentence = m.said;
		} else {
			free(m.said);
		}
		free(m.trial);
	}
	if (!status && !good) {
		status = usk_fail(err, USK_EINPUT, 0, "%s: none of its streams can be read: %s",
				  folder[0], sentence ? sentence : "there is none");
	}
	if (status) {
		free(sentence);
		usk_ctf_mended_free(made, to, n);
		return status;
	}
	*root = made;
	*mended = to;
	*said = sentence;
	return USK_OK;
}
