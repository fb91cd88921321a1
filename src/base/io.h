/* SPDX-License-Identifier: MIT */
/*
 * io.h - one door for input (file, pipe or memory) and one for output (whole or not at all)
 */
#ifndef USK_IO_H
#define USK_IO_H

#include "base/base.h"

/* So much is read, or written, at once. */
#define USK_IO_BLOCK ((size_t)1 << 18)

/*
 * A window that slides over the input. data[0..have) is what is there now; usk_input_need()
 * slides and refills. read(2) in 256 KiB blocks costs 0.067 s for 1 GB where a mapped walk costs
 * 0.057 s; it bounds resident memory by itself, and a file that another process cuts short is
 * an end of input instead of a SIGBUS.
 *
 * What is packed with gzip or zstd is unpacked into the window as it slides: offsets are those of
 * the unpacked bytes.
 */
struct usk_input {
	const uint8_t *data; /* the window */
	size_t have;	     /* bytes in it */
	uint64_t at;	     /* offset of data[0] in the input */
	uint64_t size;	     /* of the whole input; packed: UINT64_MAX until its end was seen */
	bool end;	     /* the window reaches the end of the input */
	char *lost;	     /* packed bytes are cut short or damaged: a clause; NULL if not */
	/* private */
	struct usk_packed *packed;
	uint8_t *buffer;
	size_t capacity;
	const uint8_t *memory;
	int fd;
};

/** May what begins with d[0..n) be what is wanted? */
typedef bool usk_sniff(const uint8_t *d, size_t n);
bool usk_sniff_json(const uint8_t *d, size_t n);
bool usk_sniff_text(const uint8_t *d, size_t n);

/**
 * Regular files are read in place; anything else is spooled to an unlinked temporary file: of what
 * sniff refuses, unless it is packed, only the beginning. sniff NULL: it takes anything.
 */
enum usk_status usk_input_open(struct usk_input *in, const char *path, usk_sniff *sniff,
			       struct usk_err *err);
void usk_input_memory(struct usk_input *in, const void *data, size_t size);
/** The same input once more, with a window of its own. */
enum usk_status usk_input_again(struct usk_input *in, const struct usk_input *from,
				struct usk_err *err);
void usk_input_close(struct usk_input *in);
void usk_input_rewind(struct usk_input *in);
/** Bytes of the file, and how many of them were read to fill the window, for progress. */
uint64_t usk_input_bytes(const struct usk_input *in);
uint64_t usk_input_pos(const struct usk_input *in, size_t used);
/** "the last 1016 bytes were": those from there on; of packed bytes that is known at their end. */
const char *usk_input_rest(const struct usk_input *in, uint64_t from, char out[48]);

/** All of the input into the window; what unpacks to more than 256 MiB, or is packed and cut short
 * or damaged, is USK_EINPUT. */
enum usk_status usk_input_all(struct usk_input *in, struct usk_err *err);

/**
 * Drop the first `used` bytes of the window and make at least `want` bytes available if the
 * input has them; in->have < want only at its end. Bytes move only when a refill is needed.
 */
enum usk_status usk_input_need(struct usk_input *in, size_t used, size_t want, struct usk_err *err);

/*
 * A file that appears complete or not at all: written to a temporary file in the same folder,
 * given its name by usk_output_commit(). usk_output_close() without commit leaves nothing. A name
 * that ends in .gz or .zst is packed so, by a thread of its own.
 */
struct usk_output {
	int fd;
	char *path, *temporary;
	uint8_t *buffer;
	size_t used;
	uint64_t written;
	bool failed, direct; /* direct: not a regular file (a pipe, /dev/null), written in place */
	bool replace;
	int error;
	struct usk_packer *pack;
};

/** force: an existing file may be replaced; otherwise it is USK_EIO with a sentence. */
enum usk_status usk_output_open(struct usk_output *out, const char *path, bool force,
				struct usk_err *err);
/** Buffered; a failed write is remembered and reported by commit. */
void usk_output_write(struct usk_output *out, const void *data, size_t n);
void usk_output_format(struct usk_output *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** Without force a file that appeared since open stays, and it is USK_EIO. */
enum usk_status usk_output_commit(struct usk_output *out, struct usk_err *err);
void usk_output_close(struct usk_output *out);
/** All bytes, however many each call takes. False: not all went. */
bool usk_write_all(int fd, const void *data, size_t n);
/** As many bytes as there are of n from there on, at < 0: where it stands; -1: errno says why. */
ssize_t usk_read_most(int fd, int64_t at, void *out, size_t n);
/** A file in TMPDIR that goes when it is closed. USK_EIO: "why NAME: ...". */
enum usk_status usk_scratch_file(int *fd, const char *why, struct usk_err *err);
/**
 * A new name beside path, for make() to make what may not be there yet: *temporary, remembered, for
 * the caller to forget and free. What make() returns; below 0: errno says why.
 */
int usk_make_beside(const char *path, int (*make)(const char *name), char **temporary);
/** Between these no signal ends the process: for what is made and then remembered, or unlinked. */
void usk_output_hold(void);
void usk_output_release(void);
/** A temporary file or folder that usk_output_abandon_all() is to remove, until it is forgotten. */
void usk_output_remember(char *name);
void usk_output_forget(const char *name);
/** Remove the temporary files of all outputs that are open, as the process is about to end: safe in
 * a signal handler, and whoever begins another one waits for that end. */
void usk_output_abandon_all(void);

/* ---- folder.c: a folder that appears complete or not at all, like usk_output for files ---- */

struct usk_folder {
	char *path;
	char *temporary; /* write into this one */
	bool replace;
};

/**
 * A new folder beside path, which gets its name by commit. replace: what is at path goes then.
 * USK_EIO: it cannot be made, or path is there and not to be replaced.
 */
enum usk_status usk_folder_open(struct usk_folder *f, const char *path, bool replace,
				struct usk_err *err);
enum usk_status usk_folder_commit(struct usk_folder *f, struct usk_err *err);
/** Without commit nothing is left. */
void usk_folder_close(struct usk_folder *f);

/** Remove a folder and all that is in it, links themselves; safe in a signal handler. */
void usk_folder_remove(const char *path);

bool usk_is_folder(const char *path);

/** The folder of that path and those above it, as far as they are not there. */
bool usk_folder_make(const char *path);

/** The first n bytes of a file, or all that there are: as they lie, whatever they are packed with.
 */
enum usk_status usk_copy_file(const char *from, const char *to, uint64_t n, struct usk_err *err);

/*
 * spool.c: many items of one size, each for one of a number of lanes, put down now and read again
 * later, in the order in which they came. Up to a limit in memory; beyond, one unlinked temporary
 * file holds all lanes, so what can only be sorted when all of it is there need not fit.
 */

struct usk_spool;

struct usk_spool *usk_spool_new(size_t item_size, size_t lanes);
void usk_spool_free(struct usk_spool *s);
/** How many bytes may stay in memory before the file takes what is full; 64 MiB if never called. */
void usk_spool_limit(struct usk_spool *s, size_t bytes);
/** USK_EIO: no temporary file can be made, or written. */
enum usk_status usk_spool_put(struct usk_spool *s, size_t lane, const void *item,
			      struct usk_err *err);
/** Forget the items of a lane from the `items`-th on. */
enum usk_status usk_spool_cut(struct usk_spool *s, size_t lane, uint64_t items,
			      struct usk_err *err);
uint64_t usk_spool_count(const struct usk_spool *s, size_t lane);
/** n items of a lane from the first-th on, which must be there. */
enum usk_status usk_spool_get(struct usk_spool *s, size_t lane, uint64_t first, void *out, size_t n,
			      struct usk_err *err);

#endif
