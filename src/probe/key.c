/* SPDX-License-Identifier: MIT */
/*
 * key.c - who knows the key: tags of packets, by keyed BLAKE2b of libsodium
 *
 * In    a file of a secret that both sides have
 * Out   tags of 128 bits, and whether one is right
 * Why   an answer that anybody could have made says nothing about a clock
 * Not   secrecy: stamps are sent in the clear
 */
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef USK_HAVE_SODIUM
#include <sodium.h>

enum usk_status usk_probe_ready(struct usk_err *err)
{
	if (sodium_init() < 0) {
		return usk_fail(err, USK_EIO, 0, "libsodium could not be initialised");
	}
	return USK_OK;
}

bool usk_probe_equal(const void *a, const void *b, size_t n)
{
	return !sodium_memcmp(a, b, n);
}

static void blake2b(const uint8_t *key, size_t n_key, const void *data, size_t n, uint8_t *out,
		    size_t n_out)
{
	crypto_generichash(out, n_out, data, n, key, n_key);
}
#else
enum usk_status usk_probe_ready(struct usk_err *err)
{
	return usk_fail(err, USK_EIO, 0,
			"this unskew was built without libsodium, which probes need; install "
			"libsodium-dev and build it again");
}

/* Never called: usk_probe_ready() refused. */
bool usk_probe_equal(const void *a, const void *b, size_t n)
{
	return !memcmp(a, b, n);
}

static void blake2b(const uint8_t *key, size_t n_key, const void *data, size_t n, uint8_t *out,
		    size_t n_out)
{
	(void)key, (void)n_key, (void)data, (void)n;
	memset(out, 0, n_out);
}
#endif

void usk_probe_hash(const uint8_t key[32], const void *data, size_t n, uint8_t out[16])
{
	blake2b(key, 32, data, n, out, 16);
}

void usk_probe_random(void *out, size_t n)
{
	uint8_t *p = out;
	while (n) {
		ssize_t got = getrandom(p, n, 0);
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		} else if (errno != EINTR) {
			abort(); /* no random numbers, no secrets: nothing may go on */
		}
	}
}

/* ---- key files --------------------------------------------------------------------- */

enum { KEY_MIN = 16, KEY_MIN_HEX = 32, KEY_MIN_DISTINCT = 8, KEY_MAX = 4096 };

static enum usk_status judge_key(const char *path, const uint8_t *key, size_t n,
				 struct usk_err *err)
{
	bool seen[256] = { false }, hex = true;
	int distinct = 0;
	for (size_t i = 0; i < n; i++) {
		distinct += !seen[key[i]];
		seen[key[i]] = true;
		hex = hex && key[i] && strchr("0123456789abcdefABCDEF", key[i]);
	}
	if (n < KEY_MIN || (hex && n < KEY_MIN_HEX)) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: a key of %zu %s can be guessed; it takes %d at least: `unskew "
				"probe key -o FILE` makes one",
				path, n, hex && n ? "hexadecimal digits" : "bytes",
				hex && n ? KEY_MIN_HEX : KEY_MIN);
	}
	if (distinct < KEY_MIN_DISTINCT) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: a key of %d different characters can be guessed; `unskew "
				"probe key -o FILE` makes a better one",
				path, distinct);
	}
	return USK_OK;
}

static enum usk_status judge_file(const char *path, const struct stat *s, struct usk_err *err)
{
	if (!S_ISREG(s->st_mode)) {
		return usk_fail(err, USK_EIO, 0, "%s: is not a file, so it holds no key", path);
	}
	if (s->st_uid != geteuid() && s->st_uid) {
		return usk_fail(err, USK_EIO, 0,
				"%s: belongs to another user, who could change the key", path);
	}
	if (s->st_mode & 077) {
		return usk_fail(err, USK_EIO, 0,
				"%s: others can read or change this key (mode %03o); chmod 600 it "
				"and, if they might have, make a new one",
				path, (unsigned)s->st_mode & 0777);
	}
	return USK_OK;
}

/* The purpose is in the hash with the secret, so that no key tells another. */
static void derive(const uint8_t *secret, size_t n, const char *what, uint8_t out[32])
{
	uint8_t all[KEY_MAX + 32];
	size_t n_what = strlen(what) + 1;
	memcpy(all, what, n_what);
	memcpy(all + n_what, secret, n);
	blake2b(NULL, 0, all, n_what + n, out, 32);
	explicit_bzero(all, sizeof all);
}

enum usk_status usk_probe_key_read(const char *path, struct usk_probe_key *out, struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	uint8_t key[KEY_MAX + 1];
	struct stat s;
	/* O_NONBLOCK: a pipe that nobody writes must not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &s)) {
		enum usk_status status = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
		if (fd >= 0) {
			close(fd);
		}
		return status;
	}
	enum usk_status status = judge_file(path, &s, err);
	ssize_t n = status ? 0 : read(fd, key, sizeof key);
	int error = errno;
	close(fd);
	if (status) {
		return status;
	}
	if (n < 0 || n > KEY_MAX) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path,
				n < 0 ? strerror(error)
				      : "is over 4096 bytes: too large for a key");
	}
	/* What an editor adds at the end is no part of it. */
	while (n && strchr(" \t\r\n", key[n - 1]) && key[n - 1]) {
		n--;
	}
	status = judge_key(path, key, (size_t)n, err);
	if (!status) {
		out->set = true;
		derive(key, (size_t)n, "unskew probe: ask", out->ask);
		derive(key, (size_t)n, "unskew probe: answer", out->answer);
	}
	explicit_bzero(key, sizeof key);
	return status;
}

enum usk_status usk_probe_key_make(const char *path, struct usk_err *err)
{
	uint8_t secret[32];
	char text[2 * sizeof secret + 2];
	usk_probe_random(secret, sizeof secret);
	for (size_t i = 0; i < sizeof secret; i++) {
		snprintf(text + 2 * i, 3, "%02x", secret[i]);
	}
	text[sizeof text - 2] = '\n';
	/* Never over another: machines that have that one would be locked out. */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path,
				errno == EEXIST ? "exists already; a key is never replaced"
						: strerror(errno));
	}
	ssize_t n = write(fd, text, sizeof text - 1);
	bool written = n == (ssize_t)sizeof text - 1 && !fsync(fd);
	int error = n >= 0 && n < (ssize_t)sizeof text - 1 ? ENOSPC : errno;
	if (close(fd) && written) {
		written = false;
		error = errno;
	}
	explicit_bzero(secret, sizeof secret);
	explicit_bzero(text, sizeof text);
	if (!written) {
		unlink(path);
		return usk_fail(err, USK_EIO, 0, "%s: not written: %s", path, strerror(error));
	}
	return USK_OK;
}

/* ---- tags ------------------------------------------------------------------------------ */

static void tag_of(const struct usk_probe_key *key, const uint8_t *packet, uint8_t tag[16])
{
	enum { TYPE_AT = 5 };
	bool ask = packet[TYPE_AT] == USK_PROBE_HELLO || packet[TYPE_AT] == USK_PROBE_ASK;
	memset(tag, 0, USK_PROBE_TAG);
	if (key->set) {
		usk_probe_hash(ask ? key->ask : key->answer, packet,
			       USK_PROBE_BYTES - USK_PROBE_TAG, tag);
	}
}

void usk_probe_seal(const struct usk_probe_key *key, uint8_t packet[USK_PROBE_BYTES])
{
	tag_of(key, packet, packet + USK_PROBE_BYTES - USK_PROBE_TAG);
}

bool usk_probe_sealed(const struct usk_probe_key *key, const uint8_t packet[USK_PROBE_BYTES])
{
	uint8_t tag[USK_PROBE_TAG];
	tag_of(key, packet, tag);
	return usk_probe_equal(tag, packet + USK_PROBE_BYTES - USK_PROBE_TAG, sizeof tag);
}
