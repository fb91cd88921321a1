/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the key of a probe: refused with a sentence, or two secrets that nothing but its
 * own bytes decides, less what an editor adds at the end.
 */
#include "memory.h"
#include "probe/probe.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LEAST = 16, MOST = 4096, DISTINCT = 8 };

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

static bool same(const struct usk_probe_key *a, const struct usk_probe_key *b)
{
	return a->set == b->set && !memcmp(a->ask, b->ask, sizeof a->ask) &&
	       !memcmp(a->answer, b->answer, sizeof a->answer);
}

/* Bytes that count, and how many different ones are among them. */
static size_t measure(const uint8_t *data, size_t n, size_t *distinct)
{
	bool seen[256] = { false };
	while (n && data[n - 1] && strchr(" \t\r\n", data[n - 1])) {
		n--;
	}
	*distinct = 0;
	for (size_t i = 0; i < n; i++) {
		*distinct += !seen[data[i]];
		seen[data[i]] = true;
	}
	return n;
}

/* The key of these bytes and of others that differ in the one at `at`. */
static void check_other(const uint8_t *data, size_t n, size_t at, const struct usk_probe_key *key)
{
	struct usk_probe_key other;
	uint8_t *copy = malloc(n);
	need(copy != NULL);
	memcpy(copy, data, n);
	copy[at] ^= 1;
	if (!usk_probe_key_read(memory_file(0, copy, n), &other, NULL)) {
		need(!same(key, &other));
	}
	free(copy);
}

static void check(const uint8_t *data, size_t size, const struct usk_probe_key *key)
{
	struct usk_probe_key again;
	size_t distinct, n = measure(data, size, &distinct);
	need(key->set && n >= LEAST && size <= MOST && distinct >= DISTINCT);
	need(memcmp(key->ask, key->answer, sizeof key->ask) != 0);
	need(!usk_probe_key_read(memory_file(0, data, n), &again, NULL) && same(key, &again));
	check_other(data, n, 0, key);
	check_other(data, n, n - 1, key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct usk_probe_key no_key;
	struct usk_probe_key key;
	struct usk_err err = { 0 };
	if (usk_probe_ready(&err)) {
		return 0;
	}
	const char *path = memory_file(0, data, size);
	enum usk_status status = usk_probe_key_read(path, &key, &err);
	if (status) {
		need(err.msg[0] && !strchr(err.msg, '\n') && same(&key, &no_key));
	}
	/* Nobody else may know it. */
	struct usk_probe_key shown;
	need(!fchmod(memory_descriptor(0), 0644));
	need(usk_probe_key_read(path, &shown, NULL) && same(&shown, &no_key));
	if (!status) {
		check(data, size, &key);
	}
	return 0;
}
